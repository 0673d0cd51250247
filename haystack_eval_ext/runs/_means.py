# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""The mean of a run's scores and its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._spread import (
    LARGEST,
    ROUNDING,
    Interval,
    Units,
    as_units,
    as_values,
    check_confidence,
    check_length,
    normal_quantile,
    rows_of,
    t_quantile,
    wider,
    wilson,
)
from haystack_eval_ext.runs._ties import (
    Reach,
    alike_interval,
    all_alike,
    cautious_interval,
    clipped,
    common_value,
    tied_interval,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from haystack_eval_ext.runs._spread import Scores

_UNIT = Reach(0.0, 1.0)


@dataclass(frozen=True)
class MeanEstimate:
    """
    The mean of a metric over the rows of one run.

    :param mean: The mean; None without rows.
    :param standard_error: Its standard error, clusters included; None for fewer than two rows or clusters.
    :param interval: Its confidence interval; None where nothing tells the spread: no row, one cluster, one row of a
        score other than 0 and 1.
    :param rows: The rows with a score.
    :param left_out: The rows without one (NaN).
    :param clusters: The number of clusters; None if each row stands for itself.
    :param bounded: True if every score is from 0 to 1, and these are the ends.
    """

    mean: float | None
    standard_error: float | None
    interval: Interval | None
    rows: int
    left_out: int
    clusters: int | None
    bounded: bool


def wilson_interval(successes: int, rows: int, *, confidence: float = 0.95) -> Interval | None:
    """
    Give Wilson's interval of a share.

    ```python
    from haystack_eval_ext.runs.statistics import wilson_interval

    interval = wilson_interval(18, 20)
    print(round(interval.low, 3), round(interval.high, 3))
    # 0.699 0.972
    ```

    :param successes: Rows with a 1.
    :param rows: All rows.
    :param confidence: 0.95 for a 95 % interval.
    :returns: The interval; None for no rows.
    :raises ValueError: If there are more successes than rows, or the confidence is no share.
    """
    check_confidence(confidence)
    if not 0 <= successes <= rows:
        msg = f"successes must be from 0 to rows ({rows}), but is {successes}."
        raise InvalidValueError(msg)
    return Interval(*wilson(successes / rows, rows, normal_quantile(confidence)), "Wilson") if rows else None


def mean_interval(
    scores: Scores,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    method: Literal["auto", "t"] = "auto",
    score_range: tuple[float, float] | None = None,
) -> MeanEstimate:
    """
    Estimate the mean score of questions like these.

    ```python
    from haystack_eval_ext.runs.statistics import mean_interval

    estimate = mean_interval([1.0] * 10)
    print(estimate.mean, round(estimate.interval.low, 3), estimate.interval.high)
    # 1.0 0.722 1.0
    ```

    :param scores: One a row; NaN rows are left out and counted.
    :param clusters: The cluster of each row, such as the document that a question is about; None in a row is a cluster
        of its own.
    :param confidence: 0.95 for a 95 % interval.
    :param method: "auto" chooses as the module's table says; "t" is the t interval whatever the scores.
    :param score_range: The lowest and the highest score that there can be, such as (1, 5); None if nobody says: 0 and 1
        where all scores lie between them, else the scores have no ends.
    :returns: The estimate.
    :raises ValueError: If a score is infinite or outside the range, columns differ in length, or a parameter is out of
        its range.
    """
    check_confidence(confidence)
    if method not in ("auto", "t"):
        msg = f"method must be 'auto' or 't', but is {method!r}."
        raise InvalidValueError(msg)
    return read_scores(scores, clusters=clusters, score_range=score_range).estimate(confidence, method)


@dataclass(frozen=True)
class ReadScores:
    """
    Scores of one run, checked and gathered, for estimates at several levels of confidence.

    :param values: The scores that there are.
    :param left_out: The rows without one.
    :param units: The scores by row or cluster.
    :param ends: The lowest and the highest score that there can be; None if nobody says and not all are from 0 to 1.
    """

    values: NDArray[np.float64]
    left_out: int
    units: Units
    ends: Reach | None

    @property
    def zero_one(self) -> bool:
        """True if all scores lie at the two ends, and each row stands for itself."""
        ends = self.ends
        return ends is not None and not self.units.clustered and zero_one(shares_of(self.values, ends))

    def estimate(self, confidence: float, method: Literal["auto", "t"] = "auto") -> MeanEstimate:
        """Estimate the mean; parameters as of `mean_interval`."""
        values, units = self.values, self.units
        interval = None
        if len(values) and method == "t":
            interval = t_interval(units, confidence)
        elif len(values) and self.ends is None:
            interval = _interval_without_ends(values, units, confidence)
        elif len(values) and self.ends is not None:
            interval = _interval_between(self.ends, values, units, confidence)
        return MeanEstimate(
            mean=units.mean if len(values) else None,
            standard_error=units.standard_error,
            interval=interval,
            rows=len(values),
            left_out=self.left_out,
            clusters=len(units.sums) if units.clustered else None,
            bounded=self.ends == _UNIT,
        )


def read_scores(
    scores: Scores,
    *,
    clusters: Sequence[Hashable] | None = None,
    score_range: tuple[float, float] | None = None,
) -> ReadScores:
    """
    Check the scores of one run, and gather them by cluster.

    :param scores: One a row; NaN rows are left out and counted.
    :param clusters: The cluster of each row.
    :param score_range: The lowest and the highest score that there can be.
    :returns: What estimates are made of.
    :raises ValueError: If a score is infinite or outside the range, or columns differ in length.
    """
    values = as_values("scores", scores)
    if clusters is not None:
        check_length("clusters", len(clusters), "scores", len(values))
    ends = check_range("scores", values, score_range)
    kept = ~np.isnan(values)
    values = values[kept]
    if ends is not None:
        values = np.clip(values, *ends)
    elif within_unit(values):
        ends = _UNIT
    return ReadScores(values, int(np.count_nonzero(~kept)), as_units(values, rows_of(clusters, kept)), ends)


def check_range(name: str, values: NDArray[np.float64], score_range: tuple[float, float] | None) -> Reach | None:
    """
    Refuse scores outside their range.

    :param name: What to call them in an error.
    :param values: One a row; NaN where there is none.
    :param score_range: The lowest and the highest that there can be; None if nobody says.
    :returns: The two; None if nobody says.
    :raises ValueError: If a score lies outside by more than rounding, or the range is none.
    """
    if score_range is None:
        return None
    ends = Reach(*map(float, score_range))
    if not -LARGEST <= ends.low < ends.high <= LARGEST:
        msg = f"score_range must be the lowest and the highest score, such as (1, 5), but is {score_range!r}."
        raise InvalidValueError(msg)
    rounding = ROUNDING * max(abs(ends.low), abs(ends.high))
    outside = np.flatnonzero((values < ends.low - rounding) | (values > ends.high + rounding))
    if len(outside):
        row = int(outside[0])
        msg = f"{name} must lie from {ends.low:g} to {ends.high:g}, but row {row} is {values[row]:g}."
        raise InvalidValueError(msg)
    return ends


def is_within(score: float, score_range: tuple[float, float]) -> bool:
    """Tell whether a score lies in a range, but for rounding."""
    low, high = score_range
    rounding = ROUNDING * max(abs(low), abs(high))
    return low - rounding <= score <= high + rounding


def within_unit(values: NDArray[np.float64]) -> bool:
    """Tell whether every value is from 0 to 1."""
    return bool(((values >= 0) & (values <= 1)).all())


def shares_of(values: NDArray[np.float64], ends: Reach) -> NDArray[np.float64]:
    """Give each value as a share of the way from the low end to the high one."""
    return (np.clip(values, *ends) - ends.low) / (ends.high - ends.low)


def zero_one(values: NDArray[np.float64]) -> bool:
    """Tell whether every value is 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def t_interval(units: Units, confidence: float) -> Interval | None:
    """Give the t interval of a mean; None without a spread."""
    error = units.standard_error
    if not error:
        return None
    half = t_quantile(confidence, len(units.sums) - 1) * error
    return Interval(units.mean - half, units.mean + half, "t")


def cr2_interval(units: Units, confidence: float) -> Interval | None:
    """Give the CR2 interval of a mean over clusters; None without a spread."""
    if units.cr2 is None or not units.cr2[0]:
        return None
    error, freedom = units.cr2
    half = t_quantile(confidence, freedom) * error
    return Interval(units.mean - half, units.mean + half, "CR2")


def _interval_between(ends: Reach, values: NDArray[np.float64], units: Units, confidence: float) -> Interval | None:
    """The interval of a mean of scores between two ends."""
    width = ends.high - ends.low
    found = _interval_of_shares(shares_of(values, ends), units.shares_of(ends.low, width), confidence)
    return found and Interval(ends.low + width * found.low, ends.low + width * found.high, found.method)


def _interval_of_shares(values: NDArray[np.float64], units: Units, confidence: float) -> Interval | None:
    """The interval of a mean of scores from 0 to 1."""
    mean, error, count = units.mean, units.standard_error, len(units.sums)
    binary = zero_one(values)
    if binary and not units.clustered:
        return Interval(*wilson(mean, count, normal_quantile(confidence)), "Wilson")
    if error is None:
        return None
    if mean in (0.0, 1.0):
        # Nothing tells how alike the rows of a cluster are: as if each cluster were one row.
        return Interval(*wilson(mean, count, normal_quantile(confidence)), "Wilson, effective rows")
    scale = float(values.max())
    centre = common_value(units, scale)
    if not error or (centre is not None and all_alike(units, centre, scale)):
        return alike_interval(units, mean, _UNIT, confidence)
    # Wilson's interval knows what lies at the ends, but not that few rows differ from a value in between.
    if centre is not None and not _at_end(centre):
        found = clipped(tied_interval(units, centre, scale, confidence)[0], _UNIT)
    else:
        effective = mean * (1 - mean) / error**2
        limits = wilson(mean, effective, t_quantile(confidence, count - 1))
        found = Interval(*limits, "Wilson, effective rows")
    return found if binary else wider(found, cautious_interval(units, _UNIT, confidence))


def _interval_without_ends(values: NDArray[np.float64], units: Units, confidence: float) -> Interval | None:
    """The interval of a mean of scores that could be any number."""
    mean, error = units.mean, units.standard_error
    if error is None:
        return None
    scale = float(np.abs(values).max())
    centre = common_value(units, scale)
    if not error or (centre is not None and all_alike(units, centre, scale)):
        # As in the test of signs: a row could be as far off as its own negative.
        return alike_interval(units, mean, Reach(mean - 2 * abs(mean), mean + 2 * abs(mean)), confidence)
    if centre is not None:
        return tied_interval(units, centre, scale, confidence)[0]
    return t_interval(units, confidence)


def _at_end(value: float) -> bool:
    return value <= ROUNDING or value >= 1 - ROUNDING
