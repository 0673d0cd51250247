# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""What a comparison and a gate need to know of a run: ids, scores and how they were made; no texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haystack_eval_ext.runs._means import within_unit
from haystack_eval_ext.runs._names import close_names
from haystack_eval_ext.runs._spread import as_values, check_length

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

_STATUSES = frozenset(("scored", "undefined", "error", "not_run"))
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
    """

    scores: Sequence[float]
    statuses: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    prompt_versions: Mapping[str, str] = field(default_factory=dict)


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
    :raises ValueError: If columns differ in length, an id comes twice, a score is infinite, or a status is unknown.
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
            raise ValueError(msg)
        for name in ("clusters", "tags", "row_fingerprints"):
            column = getattr(self, name)
            if column is not None:
                check_length(name, len(column), whose, rows)
        for name, metric in self.metrics.items():
            check_length(f"scores of '{name}'", len(metric.scores), whose, rows)
            check_length(f"statuses of '{name}'", len(metric.statuses), whose, rows)
            as_values(f"scores of '{name}' in {whose}", metric.scores)
            unknown = sorted(set(map(str, metric.statuses)) - _STATUSES)
            if unknown:
                msg = f"statuses of '{name}' in {whose} must be among {sorted(_STATUSES)}, but hold {some(unknown)}."
                raise ValueError(msg)


class Bounds(NamedTuple):
    """
    Where a number would lie if the rows that failed had been judged.

    :param failed: How many rows failed.
    :param lowest: If each had got the score that lowers the number most.
    :param highest: If each had got the score that raises it most.
    """

    failed: int
    lowest: float
    highest: float


def score_range(*columns: NDArray[np.float64]) -> tuple[float, float] | None:
    """Give 0 to 1 where all scores are, else the range seen; None without scores."""
    seen = np.concatenate(columns)
    seen = seen[~np.isnan(seen)]
    if not len(seen):
        return None
    return (0.0, 1.0) if within_unit(seen) else (float(seen.min()), float(seen.max()))


def mean_bounds(values: NDArray[np.float64], failed: int) -> Bounds | None:
    """
    Bound a mean for the rows that failed.

    :param values: The scores; NaN is left out.
    :param failed: How many more rows there should have been.
    :returns: The bounds; None if there is no score at all.
    """
    limits = score_range(values)
    if limits is None:
        return None
    scored = int(np.count_nonzero(~np.isnan(values)))
    total = float(np.nansum(values))
    return Bounds(failed, *((total + failed * limit) / (scored + failed) for limit in limits))


def nearest(name: str, known: Collection[str]) -> str:
    """List the names that a user may have meant, or all."""
    near = close_names(name, known)
    return f"nearest: {some(near, 5)}" if near else f"there are: {some(list(known), 20)}" if known else "there are none"


def some(names: Sequence[object], shown: int = _SHOWN) -> str:
    """Quote the first names of many."""
    rest = len(names) - shown
    return ", ".join(f"'{name}'" for name in names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def has_number(score: float) -> bool:
    """Tell whether a row has a score."""
    return not math.isnan(score)
