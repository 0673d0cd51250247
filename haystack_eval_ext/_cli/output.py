# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Where results go: checked before any work is done, written as strict JSON after it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs._versions import versions
from haystack_eval_ext.runs.evaluation import MetricScores

__all__ = ["RESULTS_NAME", "check_file", "metrics_json", "run_folder", "versions"]

RESULTS_NAME = "results.json"


def run_folder(folder: Path, *, force: bool, going_on: bool = False) -> Path:
    """
    Check where a run goes, before any work is done.

    :param folder: The folder.
    :param force: Whether a run that is there may be replaced.
    :param going_on: Whether the answers of an unfinished run that is there are gone on with.
    :returns: The folder.
    :raises UserError: If no folder is named.
    :raises RunFileError: If it is a file, or holds a run, or something else.
    """
    if folder.is_symlink() and not folder.exists():
        msg = (
            f"--out: {folder} is a link to {folder.readlink()}, which is not there; make that folder, or name another."
        )
        raise UserError(msg)
    if not str(folder) or folder == Path():
        msg = "--out names no folder (an empty shell variable?); name one, or leave --out away."
        raise UserError(msg)
    return check_folder(folder, replace=force, going_on=going_on)


def check_file(file: Path, *inputs: Path, force: bool) -> Path:
    """
    Check that a file can be written.

    :param file: The file.
    :param inputs: Files that are read, which it must not replace.
    :param force: Whether it may be there already.
    :returns: The file.
    :raises UserError: If it is a folder, is there and `force` is not given, or its folder is missing.
    """
    if file == Path():
        msg = "--out names no file (an empty shell variable?); name one, or leave --out away."
        raise UserError(msg)
    if any(file.exists() and file.samefile(source) for source in inputs if source.exists()):
        msg = f"--out: {file} is an input of this command; name another file."
        raise UserError(msg)
    if file.is_dir():
        msg = f"--out: {file} is a folder; name a file, such as {file / RESULTS_NAME}."
        raise UserError(msg)
    if file.exists() and not force:
        msg = f"--out: {file} is there already; name a new file, or replace it with --force."
        raise UserError(msg)
    if not file.parent.is_dir():
        msg = f"--out: there is no folder {file.parent}; make it first, or name another."
        raise UserError(msg)
    return file


def metrics_json(ids: Sequence[str], metrics: Iterable[MetricScores]) -> dict[str, Any]:
    """
    Bring scores into the form of the results file.

    :param ids: The row ids, in the order of the scores.
    :param metrics: The metrics.
    :returns: By metric its score and counts, and by row id the individual scores and statuses.
    """
    return {
        metric.name: {
            "score": metric.score,
            "rows": metric.rows,
            "undefined": metric.undefined,
            "failed": metric.failed,
            "left_out": metric.left_out,
            "individual_scores": dict(zip(ids, metric.individual_scores, strict=True)),
            "statuses": dict(zip(ids, metric.statuses, strict=True)),
        }
        for metric in metrics
    }
