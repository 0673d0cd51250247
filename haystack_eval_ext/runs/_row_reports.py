# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run says about its rows: of all together, and of those without a score what it did with them, by id."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._scores import NO_REFERENCE, Gaps, list_rows, tell_rows
from haystack_eval_ext._thoughts import TAKEN_OFF
from haystack_eval_ext.runs._columns import THOUGHTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from haystack_eval_ext._scores import OnUndefined, RowScores

#: Why a row that went around retrieval is not run in the metrics of retrieval.
SKIPPED_RETRIEVAL = "the RAG pipeline answered without retrieval"
_UNTOLD = "no reason given"


def thought_reports(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """
    Say which answers of a RAG pipeline were kept without the thoughts before them.

    :param records: What it did, one for each question and repeat.
    :returns: One message, or none.
    """
    found = [record["id"] for record in records if record.get(THOUGHTS)]
    if not found:
        return []
    names = list(dict.fromkeys(found))
    rows = list_rows(range(len(names)), names)
    return [f"answer: {len(found)} of {len(records)} answers began with thoughts ({rows}), {TAKEN_OFF}"]


def batch_reports(outputs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """
    Say what components have to say of all rows together, such as that no label can match.

    :param outputs: Their outputs.
    :returns: One message for all components that say the same.
    """
    said: dict[str, list[str]] = {}
    for component, output in outputs.items():
        given = output.get("warnings")
        for told in given if isinstance(given, list) else []:
            said.setdefault(str(told), []).append(component)
    return _together(said)


def skipped_reports(components: Sequence[str], skipped: Collection[str], ids: Sequence[str]) -> list[str]:
    """
    Say which rows went around retrieval.

    :param components: Those that score retrieval.
    :param skipped: The ids of these rows.
    :param ids: The ids of all rows.
    :returns: One message, or none.
    """
    rows = {row: SKIPPED_RETRIEVAL for row, name in enumerate(ids) if name in skipped}
    if not rows or not components:
        return []
    return _together({tell_rows(len(ids), None, Gaps(not_run=rows), names=ids): list(components)})


def row_reports(
    found: Mapping[str, Sequence[RowScores]],
    counted: Mapping[str, Collection[int]],
    unreferenced: Mapping[str, Collection[int]],
    ids: Sequence[str],
    policies: Mapping[str, OnUndefined | None],
) -> list[str]:
    """
    Say which rows have no score of their own, why, and whether they count as 0 or are left out.

    :param found: By component the scores of each of its metrics, one entry for each row of the run.
    :param counted: By component the numbers of the rows that it was to score, and that it has reasons for.
    :param unreferenced: By component the numbers of the rows that it was not given, since they have no reference.
    :param ids: The ids of all rows.
    :param policies: By component its ``on_undefined``; None where it has none.
    :returns: One message for all components that say the same.
    """
    said: dict[str, list[str]] = {}
    for component, metrics in found.items():
        told = _told(metrics, counted[component], unreferenced[component], ids, policies[component])
        if told:
            said.setdefault(told, []).append(component)
    return _together(said)


def _together(said: Mapping[str, list[str]]) -> list[str]:
    return [f"{', '.join(components)}: {told}" for told, components in said.items()]


def _told(
    metrics: Iterable[RowScores],
    counted: Collection[int],
    unreferenced: Collection[int],
    ids: Sequence[str],
    policy: OnUndefined | None,
) -> str:
    without = ((row, "not_run", NO_REFERENCE) for row in unreferenced)
    scored = ((row, metric.statuses[row], metric.errors[row] or _UNTOLD) for metric in metrics for row in counted)
    return tell_rows(len(ids), policy, Gaps.of(chain(without, scored)), names=ids)
