# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""One metric in two runs: both means, the difference, what the failed rows leave open, the rows that changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haystack_eval_ext.runs._differences import Difference, paired_difference
from haystack_eval_ext.runs._gate_power import rows_to_decide
from haystack_eval_ext.runs._means import MeanEstimate, mean_interval, zero_one
from haystack_eval_ext.runs._power import detectable
from haystack_eval_ext.runs._scored import Bounds, common_range, failed_shares, has_number, limits_of, mean_bounds
from haystack_eval_ext.runs._spread import ROUNDING
from haystack_eval_ext.runs._unpaired import PERMUTATIONS, unpaired_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from haystack_eval_ext.runs._scored import MetricRows, ScoredRun


# Of a field that is no value to export.
_NO_VALUE = {"exported": False}


@dataclass(frozen=True)
class RowChange:
    """
    A row whose score changed.

    :param id: The row's id.
    :param base: Its score in the base run.
    :param new: Its score in the new run.
    """

    id: str
    base: float
    new: float

    @property
    def change(self) -> float:
        """New score minus base score."""
        return self.new - self.base


@dataclass(frozen=True)
class MetricSide:
    """
    One metric in one run.

    :param estimate: Mean and interval; in a paired comparison over the rows that have a score on both sides.
    :param rows: All rows that take part.
    :param undefined: Rows that the definition gives no number for; they count as 0 or have no score.
    :param failed: Rows that could not be judged; of rows with several answers also those where some could not.
    :param not_run: Rows that were not to be scored, or were not reached.
    :param bounds: Where the mean would lie if the rows that failed or were not reached had been judged; None without a
        score.
    :param only_here_undefined: Rows that are undefined in this run and have a score in the other one.
    :param again: The estimate at another confidence.
    """

    estimate: MeanEstimate
    rows: int
    undefined: int
    failed: int
    not_run: int
    bounds: Bounds | None
    only_here_undefined: int = 0
    again: Callable[..., MeanEstimate] | None = field(default=None, repr=False, compare=False, metadata=_NO_VALUE)


@dataclass(frozen=True)
class MetricComparison:
    """
    One metric in two runs.

    :param name: The metric.
    :param lower_is_better: True if a higher score is worse.
    :param base: The base run.
    :param new: The new run.
    :param new_alone: The new run over all the rows that take part and have a score there, as if there were no base run.
    :param difference: New minus base, with its interval and tests.
    :param p_adjusted: The p-value after Holm's correction over all metrics (in slices: over all slices and metrics).
    :param minimal_detectable: The smallest true difference that these rows would most likely have shown.
    :param margin: The difference that matters, if one was given.
    :param rows_needed: The rows at which a gate with that margin would most likely decide.
    :param bounds: Where the difference would lie if the failed rows had been judged, and those had a score that are
        undefined in one run alone; None without a score.
    :param improved: The rows that became better most.
    :param worsened: The rows that became worse most.
    :param again: The difference at another confidence, without the randomisation test.
    :param binary: True if all scores of the pairs are 0 or 1.
    """

    name: str
    lower_is_better: bool
    base: MetricSide
    new: MetricSide
    new_alone: MetricSide
    difference: Difference
    p_adjusted: float | None
    minimal_detectable: float | None
    margin: float | None
    rows_needed: int | None
    bounds: Bounds | None
    improved: list[RowChange]
    worsened: list[RowChange]
    again: Callable[..., Difference] | None = field(default=None, repr=False, compare=False, metadata=_NO_VALUE)
    binary: bool = False

    @property
    def wins(self) -> int | None:
        """Rows that became better; None for unpaired runs."""
        return self.difference.losses if self.lower_is_better else self.difference.wins

    @property
    def losses(self) -> int | None:
        """Rows that became worse; None for unpaired runs."""
        return self.difference.wins if self.lower_is_better else self.difference.losses


@dataclass(frozen=True)
class JoinedRows:
    """
    The rows that take part.

    :param base: Row numbers in the base run.
    :param new: Row numbers in the new run; in a paired comparison as many, pair by pair.
    :param clusters: The cluster of each pair.
    """

    base: Sequence[int]
    new: Sequence[int]
    clusters: list[Hashable] | None = None


@dataclass(frozen=True)
class Settings:
    """How metrics are compared; the parameters of `compare`."""

    unpaired: bool
    seed: int
    confidence: float
    power: float
    margins: Mapping[str, float]
    lower_is_better: Collection[str]
    changed: int
    resamples: int


def compare_metric(
    name: str, base: ScoredRun, new: ScoredRun, rows: JoinedRows, settings: Settings
) -> MetricComparison:
    """
    Compare one metric over some rows.

    :param name: The metric.
    :param base: The base run.
    :param new: The new run.
    :param rows: The rows that take part.
    :param settings: How.
    :returns: The comparison, without the adjusted p-value, which takes all metrics.
    """
    measured = (_unpaired if settings.unpaired else _paired)(base, new, name, rows, settings)
    difference, changes = measured.difference, measured.changes
    better = -1 if name in settings.lower_is_better else 1
    # By id where changes are equal: the order of rows must not matter.
    changes.sort(key=lambda row: (-abs(row.change), row.id))
    margin = settings.margins.get(name)
    confidence, power = settings.confidence, settings.power
    return MetricComparison(
        name=name,
        lower_is_better=better < 0,
        base=measured.base,
        new=measured.new,
        new_alone=measured.new_alone,
        difference=difference,
        p_adjusted=None,
        minimal_detectable=detectable(difference, confidence=confidence, power=power),
        margin=margin,
        rows_needed=None if margin is None else rows_to_decide(difference, margin, confidence=confidence, power=power),
        bounds=measured.bounds,
        improved=[row for row in changes if better * row.change > 0][: settings.changed],
        worsened=[row for row in changes if better * row.change < 0][: settings.changed],
        again=measured.again,
        binary=measured.binary,
    )


class _Measured(NamedTuple):
    base: MetricSide
    new: MetricSide
    new_alone: MetricSide
    difference: Difference
    again: Callable[..., Difference]
    bounds: Bounds | None
    changes: list[RowChange]
    binary: bool = False


class _Column(NamedTuple):
    """A metric's values, statuses, shares that failed, and clusters in the rows that take part; its declared range."""

    values: NDArray[np.float64]
    statuses: list[str]
    failed: NDArray[np.float64]
    clusters: list[Hashable] | None
    declared: tuple[float, float] | None


def _column(run: ScoredRun, name: str, rows: Sequence[int], declared: tuple[float, float] | None) -> _Column:
    metric, clusters = run.metrics[name], run.clusters
    values = np.array([metric.scores[row] for row in rows], dtype=np.float64)
    return _Column(
        values,
        [metric.statuses[row] for row in rows],
        failed_shares(metric)[np.array(rows, dtype=np.intp)],
        None if clusters is None else [clusters[row] for row in rows],
        declared,
    )


def _columns(base: ScoredRun, new: ScoredRun, name: str, rows: JoinedRows) -> tuple[_Column, _Column]:
    declared = common_range(base.metrics[name], new.metrics[name])
    return _column(base, name, rows.base, declared), _column(new, name, rows.new, declared)


def _paired(base: ScoredRun, new: ScoredRun, name: str, rows: JoinedRows, settings: Settings) -> _Measured:
    one, two = _columns(base, new, name, rows)
    again = partial(
        paired_difference, one.values, two.values, clusters=rows.clusters, resamples=0, score_range=one.declared
    )
    difference = again(confidence=settings.confidence, seed=settings.seed, resamples=settings.resamples)
    both = ~(np.isnan(one.values) | np.isnan(two.values))
    sides = [
        _side(column, np.where(both, column.values, np.nan), rows.clusters, settings.confidence, lost)
        for column, lost in zip((one, two), _only_here_undefined(one, two), strict=True)
    ]
    changes = [
        RowChange(base.ids[row], before, after)
        for row, before, after in zip(rows.base, one.values.tolist(), two.values.tolist(), strict=True)
        if has_number(before) and has_number(after) and not math.isclose(before, after, rel_tol=ROUNDING)
    ]
    alone = _side(two, two.values, rows.clusters, settings.confidence)
    binary = bool(both.any()) and all(zero_one(column.values[both]) for column in (one, two))
    binary = binary and one.declared in (None, (0.0, 1.0))
    bounds = _paired_bounds(one, two, difference)
    return _Measured(sides[0], sides[1], alone, difference, again, bounds, changes, binary)


def _unpaired(base: ScoredRun, new: ScoredRun, name: str, rows: JoinedRows, settings: Settings) -> _Measured:
    one, two = _columns(base, new, name, rows)
    again = partial(
        unpaired_difference,
        one.values,
        two.values,
        base_clusters=one.clusters,
        new_clusters=two.clusters,
        seed=settings.seed,
        resamples=min(settings.resamples, PERMUTATIONS),
        score_range=one.declared,
    )
    difference = again(confidence=settings.confidence)
    sides = [_side(column, column.values, column.clusters, settings.confidence) for column in (one, two)]
    return _Measured(sides[0], sides[1], sides[1], difference, again, _unpaired_bounds(*sides), [])


def metric_side(
    metric: MetricRows, *, clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> MetricSide:
    """
    Estimate one metric of one run.

    :param metric: The metric.
    :param clusters: The cluster of each row.
    :param confidence: 0.95 for a 95 % interval.
    :returns: Mean, interval and counts.
    """
    values = np.array(metric.scores, dtype=np.float64)
    column = _Column(values, list(metric.statuses), failed_shares(metric), None, metric.score_range)
    return _side(column, values, clusters, confidence)


def _side(
    column: _Column,
    scored: NDArray[np.float64],
    clusters: Sequence[Hashable] | None,
    confidence: float,
    only_here_undefined: int = 0,
) -> MetricSide:
    """Estimate a column by those of its scores that count; the others are NaN."""
    undefined, not_run = (column.statuses.count(status) for status in ("undefined", "not_run"))
    again = partial(mean_interval, scored, clusters=clusters, score_range=column.declared)
    estimate = again(confidence=confidence)
    # Rows that were not reached count among those not run, though they leave as much open.
    failed = sum(
        share > 0 and status != "not_run" for share, status in zip(column.failed, column.statuses, strict=True)
    )
    bounds = mean_bounds(scored, column.failed, column.declared)
    return MetricSide(estimate, len(scored), undefined, failed, not_run, bounds, only_here_undefined, again)


def _paired_bounds(base: _Column, new: _Column, difference: Difference) -> Bounds | None:
    limits = limits_of(base.declared, base.values, new.values)
    if limits is None or difference.mean is None:
        return None
    lowest = highest = unknown = 0.0
    rows = failed = partly = undefined = 0
    for before, after in zip(_cells(base), _cells(new), strict=True):
        paired = has_number(before.score) and has_number(after.score)
        share = max(before.failed, after.failed) if paired else 1.0
        if not paired:
            if _could_have_paired(before, after):
                failed += 1
            elif _undefined_alone(before, after) or _undefined_alone(after, before):
                undefined += 1
            else:
                continue
        elif share:
            failed, partly = failed + 1, partly + 1
        rows += 1
        unknown += share
        (low_before, high_before), (low_after, high_after) = before.within(limits), after.within(limits)
        lowest += low_after - high_before
        highest += high_after - low_before
    return Bounds(failed, lowest / rows, highest / rows, partly, undefined, unknown)


class _Cell(NamedTuple):
    """One row of a column."""

    score: float
    status: str
    failed: float

    def within(self, limits: tuple[float, float]) -> tuple[float, float]:
        """The least and the most that the row could have scored."""
        if not has_number(self.score):
            return limits
        if not self.failed:
            return self.score, self.score
        known = self.score * (1 - self.failed)
        return known + self.failed * limits[0], known + self.failed * limits[1]


def _cells(column: _Column) -> Iterator[_Cell]:
    return map(_Cell, column.values.tolist(), column.statuses, column.failed.tolist())


def _could_have_paired(before: _Cell, after: _Cell) -> bool:
    """Whether two rows are no pair only because of a failure."""
    cells = [cell for cell in (before, after) if not has_number(cell.score)]
    # An undefined row has no partner, whatever the judge had said of it.
    if any(cell.status == "undefined" for cell in cells):
        return False
    # A row that was judged in one run and not run in the other is as unknown as one that failed.
    return any(cell.failed for cell in cells) or [before.status, after.status].count("not_run") == 1


def _undefined_alone(one: _Cell, other: _Cell) -> bool:
    """Whether a row lacks a score where the other run has one: what changed there is as unknown as after a failure."""
    return one.status == "undefined" and not has_number(one.score) and has_number(other.score)


def _only_here_undefined(base: _Column, new: _Column) -> tuple[int, int]:
    pairs = list(zip(_cells(base), _cells(new), strict=True))
    return sum(_undefined_alone(*pair) for pair in pairs), sum(_undefined_alone(*pair[::-1]) for pair in pairs)


def _unpaired_bounds(base: MetricSide, new: MetricSide) -> Bounds | None:
    one, two = base.bounds, new.bounds
    if one is None or two is None:
        return None
    return Bounds(
        one.failed + two.failed,
        two.lowest - one.highest,
        two.highest - one.lowest,
        one.partly + two.partly,
        0,
        one.unknown + two.unknown,
    )
