# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the scores of a run's files can be those that the run gave: inside their ranges, and not changed since."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import RunFileError
from haystack_eval_ext.runs._fingerprints import order_free_hash
from haystack_eval_ext.runs._means import is_within
from haystack_eval_ext.runs._run_folder import ROWS, SCORES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from haystack_eval_ext.runs._run_rows import Row

# Of a finished run, in its manifest file alone: whoever has read a run need not ask again.
CHECKSUM = "checksum"


def checksum_of(manifest: Mapping[str, Any], rows: Sequence[Row], cells: Sequence[Mapping[str, Any]]) -> str:
    """
    Hash what a finished run says that it scored.

    :param manifest: Its manifest, which lists the metrics.
    :param rows: Its rows.
    :param cells: By metric the score, status and error of each row.
    :returns: 64 hexadecimal digits, whatever the order of the lines and the form of their JSON.
    """
    return order_free_hash(
        [
            row["id"],
            row["repeat"],
            {
                # 1 and 1.0, 0.0 and -0.0 are one score.
                name: [None if cell["score"] is None else cell["score"] + 0.0, cell["status"], cell.get("error")]
                for name, cell in of_row.items()
                if name in manifest["metrics"]
            },
        ]
        for row, of_row in zip(rows, cells, strict=True)
    )


def check_unchanged(
    file: Path, manifest: dict[str, Any], rows: Sequence[Row], cells: Sequence[Mapping[str, Any]]
) -> None:
    """
    Refuse scores that were changed after the run was finished.

    :param file: The file of the scores.
    :param manifest: The manifest as it was read; its checksum is taken out. Earlier versions wrote none.
    :param rows: The rows.
    :param cells: By metric the score, status and error of each row.
    :raises RunFileError: If they are not those of the checksum.
    """
    written = manifest.pop(CHECKSUM, None)
    if written is not None and written != checksum_of(manifest, rows, cells):
        msg = f"{file}: the scores are not those that the run wrote (the checksum in its manifest differs)."
        raise RunFileError([f"{msg} {_remedy(file)}"])


def check_range(
    file: Path, metric: str, score_range: tuple[float, float] | None, scores: Sequence[float], rows: Sequence[Row]
) -> None:
    """
    Refuse scores that an evaluator cannot give.

    :param file: The file that they are from.
    :param metric: The metric.
    :param score_range: What its evaluator states or declares; None if it says nothing.
    :param scores: Its scores; NaN where there is none.
    :param rows: The row of each.
    :raises RunFileError: If one lies outside the range.
    """
    if score_range is None:
        return
    for row, score in zip(rows, scores, strict=True):
        if not math.isnan(score) and not is_within(score, score_range):
            low, high = score_range
            msg = f"{file}: the score of '{metric}' in row '{row['id']}' lies outside its range, {low:g} to {high:g}."
            raise RunFileError([f"{msg} {_remedy(file)}"])


def _remedy(file: Path) -> str:
    if file.name != SCORES:
        return "Take the file as it was, or write the baseline again from its run."
    again = f"haystack-eval run EVALUATION --data {file.parent / ROWS} --out NEW"
    return f"Take the file as it was, or score the answers again: {again}."
