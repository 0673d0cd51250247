# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""What a comparison and a gate need to know of a run: ids, scores and how they were made; no texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._means import check_range, is_within, within_unit
from haystack_eval_ext.runs._names import close_names
from haystack_eval_ext.runs._spread import as_values, check_length

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

STATUSES = ("scored", "undefined", "error", "not_run")
NO_NUMBER = ("error", "not_run")
# Of a baseline's row: by metric the share of the question's answers that failed or were not reached.
OF_FAILED = "failed"
NO_OUTPUT = "the RAG pipeline gave no"
# In runs without texts, which keep no reasons.
NO_REASON = "the reason was not kept"
# What the reasons say of rows that were to be scored and were not: a spent budget, an output that did not come.
_NOT_REACHED = ("the budget", NO_OUTPUT, NO_REASON)
_SHOWN = 3


@dataclass(frozen=True)
class MetricRows:
    """
    One metric of a run, row by row, and how its numbers were made.

    :param scores: One a row; NaN where there is none.
    :param statuses: One a row: "scored", "undefined", "error" or "not_run".
    :param parameters: What decides the numbers: cut-offs, thresholds, normalization.
    :param judge: The judge model as its replies name it; None for metrics without one.
    :param prompt_versions: The version of each prompt.
    :param lower_is_better: True if a higher score is worse; None if that is unknown.
    :param rule: The version of the rule by which the rows were scored.
    :param score_range: The lowest and the highest score that there can be, such as (1, 5); None if nobody says: 0 and 1
        where all scores lie between them, else the scores have no ends.
    :param failed: One a row: the share of its answers that failed, where the score is the mean of several. In a row
        "not_run" above 0 where it was to be scored and was not reached (the budget was spent), 0 where it was not to
        be. None if no row is either.
    """

    scores: Sequence[float]
    statuses: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    prompt_versions: Mapping[str, str] = field(default_factory=dict)
    lower_is_better: bool | None = None
    failed: Sequence[float] | None = None
    rule: int = 1
    score_range: tuple[float, float] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class ScoredRun:
    """
    A run, as far as it can be compared.

    :param name: What reports call it.
    :param ids: One a row, each once.
    :param metrics: The metrics by name, each with one score a row.
    :param clusters: The cluster of each row, None in a row that stands for itself; None if all rows do.
    :param tags: The tags of each row.
    :param question_fingerprint: What tells whether two runs had the same questions, in any order; None if unknown.
    :param label_fingerprint: The same of their labels.
    :param row_fingerprints: The same of each row's question and labels: what `common=True` goes by.
    :raises ValueError: If columns differ in length, an id comes twice, a score is infinite or out of its range, a
        status is unknown or "error" or "not_run" beside a number, or a share of failed answers is none.
    """

    name: str
    ids: Sequence[str]
    metrics: Mapping[str, MetricRows]
    clusters: Sequence[Hashable] | None = None
    tags: Sequence[Sequence[str]] | None = None
    question_fingerprint: str | None = None
    label_fingerprint: str | None = None
    row_fingerprints: Sequence[str] | None = None

    def __post_init__(self) -> None:
        """Check what everything after relies on."""
        rows, whose = len(self.ids), f"run '{self.name}'"
        seen: set[str] = set()
        twice = list(dict.fromkeys(row for row in self.ids if row in seen or seen.add(row)))  # type: ignore[func-returns-value]
        if twice:
            msg = f"ids of {whose} must each come once, but {some(twice)} come more often."
            raise InvalidValueError(msg)
        for name in ("clusters", "tags", "row_fingerprints"):
            column = getattr(self, name)
            if column is not None:
                check_length(name, len(column), whose, rows)
        for name, metric in self.metrics.items():
            check_length(f"scores of '{name}'", len(metric.scores), whose, rows)
            check_length(f"statuses of '{name}'", len(metric.statuses), whose, rows)
            column = f"scores of '{name}' in {whose}"
            check_range(column, as_values(column, metric.scores), metric.score_range)
            unknown = sorted(set(map(str, metric.statuses)) - set(STATUSES))
            if unknown:
                msg = f"statuses of '{name}' in {whose} must be among {sorted(STATUSES)}, but hold {some(unknown)}."
                raise InvalidValueError(msg)
            for row, (score, status) in enumerate(zip(metric.scores, metric.statuses, strict=True)):
                if status in NO_NUMBER and has_number(score):
                    msg = (
                        f"scores of '{name}' in {whose} must be NaN where the status is '{status}', but row {row} has "
                        "a number."
                    )
                    raise InvalidValueError(msg)
            if metric.failed is not None:
                check_length(f"failed of '{name}'", len(metric.failed), whose, rows)
                if not all(0 <= share <= 1 for share in metric.failed):
                    msg = f"failed of '{name}' in {whose} must be shares from 0 to 1."
                    raise InvalidValueError(msg)


class Bounds(NamedTuple):
    """
    Where a number would lie if the rows that failed had been judged.

    :param failed: How many rows failed, wholly or in part.
    :param lowest: If each had got the score that lowers the number most; infinite if they have no known ends.
    :param highest: If each had got the score that raises it most; infinite likewise.
    :param partly: How many of the failed rows have a score, from those of their answers that did not fail.
    :param undefined: How many rows have a score in one run and are undefined in the other.
    :param unknown: How many rows all that makes; of rows that failed in part that part.
    """

    failed: int
    lowest: float
    highest: float
    partly: int = 0
    undefined: int = 0
    unknown: float = 0.0


def common_range(*metrics: MetricRows) -> tuple[float, float] | None:
    """Give the range of one metric in several runs: the widest that is declared, if all scores lie in it."""
    declared = [metric.score_range for metric in metrics if metric.score_range is not None]
    if not declared:
        return None
    widest = min(low for low, _ in declared), max(high for _, high in declared)
    inside = all(is_within(score, widest) or not has_number(score) for metric in metrics for score in metric.scores)
    return widest if inside else None


def limits_of(declared: tuple[float, float] | None, *columns: NDArray[np.float64]) -> tuple[float, float] | None:
    """Give the range that is declared, else 0 to 1 where all scores are, else no ends; None without scores."""
    seen = np.concatenate(columns)
    seen = seen[~np.isnan(seen)]
    if not len(seen):
        return None
    if declared is not None:
        return declared
    return (0.0, 1.0) if within_unit(seen) else (-math.inf, math.inf)


def failed_shares(metric: MetricRows) -> NDArray[np.float64]:
    """
    Give the share of each row that failed or was not reached: all of a row without a score, else that of its answers.
    """
    given = metric.failed if metric.failed is not None else [0.0] * len(metric.scores)
    return np.array(
        [
            share if has_number(score) else float(status == "error" or (status == "not_run" and share > 0))
            for share, score, status in zip(given, metric.scores, metric.statuses, strict=True)
        ],
        dtype=np.float64,
    )


def not_reached(reason: str | None) -> bool:
    """
    Tell rows that were to be scored from those that were not.

    :param reason: Why a row was not run.
    :returns: False if it was not to be scored, or lacks what the metric needs, such as a reference: another run over
        the same rows could not score it either, so that it leaves nothing open.
    """
    return reason is not None and any(part in reason for part in _NOT_REACHED)


def failed_answers(
    name: str,
    statuses: Sequence[str],
    errors: Sequence[str | None],
    answers: Sequence[Sequence[int]],
    rows: Sequence[Mapping[str, Any]],
) -> list[float]:
    """
    Give the share of each question's answers that failed or were not reached.

    :param name: The metric.
    :param statuses: Its statuses, one for each answer.
    :param errors: Why it could not be judged, or was not reached, or what it lacks to be scored at all.
    :param answers: By question the places of its answers.
    :param rows: The first row of each question; that of a baseline, which has no single answers, holds the share.
    :returns: The shares, one for each question.
    """
    return [
        (row.get(OF_FAILED) or {}).get(name)
        or sum(
            statuses[place] == "error" or (statuses[place] == "not_run" and not_reached(errors[place]))
            for place in places
        )
        / len(places)
        for places, row in zip(answers, rows, strict=True)
    ]


def failed_in_part(run: ScoredRun, row: int) -> dict[str, dict[str, float]]:
    """
    Give what a baseline's row says of answers that failed or were not reached.

    :param run: The run.
    :param row: The number of the row.
    :returns: By metric the share of the question's answers that failed, for those where the status does not say it:
        some did not fail, or none was reached that was to be scored; else nothing.
    """
    shares = {name: metric.failed[row] for name, metric in run.metrics.items() if metric.failed is not None}
    partly = {
        name: share
        for name, share in shares.items()
        if share and (has_number(run.metrics[name].scores[row]) or run.metrics[name].statuses[row] == "not_run")
    }
    return {OF_FAILED: partly} if partly else {}


def mean_bounds(
    values: NDArray[np.float64], failed: NDArray[np.float64], declared: tuple[float, float] | None = None
) -> Bounds | None:
    """
    Bound a mean for the rows that failed.

    :param values: The scores; NaN is left out.
    :param failed: The share of each row that failed; of rows without a score those count that failed as a whole.
    :param declared: The lowest and the highest score that there can be, if somebody says.
    :returns: The bounds; None if there is no score at all.
    """
    limits = limits_of(declared, values)
    if limits is None:
        return None
    scored = ~np.isnan(values)
    whole = int(np.count_nonzero(failed[~scored] >= 1))
    shares = failed[scored]
    known = float((values[scored] * (1 - shares)).sum())
    unknown = float(shares.sum()) + whole
    partly = int(np.count_nonzero(shares))
    lowest, highest = ((known + (unknown and unknown * limit)) / (len(shares) + whole) for limit in limits)
    return Bounds(whole + partly, lowest, highest, partly, 0, unknown)


def nearest(name: str, known: Collection[str]) -> str:
    """List the names that a user may have meant, or all."""
    near = close_names(name, known)
    return f"nearest: {some(near, 5)}" if near else f"there are: {some(list(known), 20)}" if known else "there are none"


def some(names: Sequence[object], shown: int = _SHOWN) -> str:
    """Quote the first names of many."""
    rest = len(names) - shown
    return ", ".join(f"'{name}'" for name in names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def counted(count: int, noun: str) -> str:
    """Write how many there are: 1 row, 2 rows."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def has_number(score: float) -> bool:
    """Tell whether a row has a score."""
    return not math.isnan(score)
