# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""The difference of two runs over the same questions: its confidence interval and the tests of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._means import check_range, cr2_interval, shares_of, t_interval, within_unit, zero_one
from haystack_eval_ext.runs._significance import mcnemar_p, randomisation_p
from haystack_eval_ext.runs._spread import (
    ROUNDING,
    Interval,
    Units,
    as_units,
    as_values,
    check_confidence,
    check_length,
    normal_quantile,
    rows_of,
    t_tails,
    wider,
    without_rounding,
)
from haystack_eval_ext.runs._ties import (
    ALIKE,
    Reach,
    alike_interval,
    all_alike,
    are_most,
    cautious_interval,
    clipped,
    common_value,
    tied_interval,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from haystack_eval_ext.runs._spread import Scores

# What Smucker et al. take; a p-value of 0.05 then has a standard error of 0.0007.
RESAMPLES = 100_000
# Of scores from 0 to 1.
CHANGES = Reach(-1.0, 1.0)


@dataclass(frozen=True)
class Difference:
    """
    New mean minus base mean.

    :param mean: The difference; None without rows.
    :param interval: Its confidence interval; None where nothing tells the spread.
    :param standard_error: The standard error behind the interval; of clusters the larger one of two.
    :param row_variance: Rows times its square: what one row adds to the variance, clusters included. For unpaired runs
        the sum over both, for equally long runs.
    :param t_p: Two-sided p-value of the paired t test (Welch's for unpaired runs), cluster-robust if there are
        clusters: of paired runs the larger one of t's and CR2's. Without any spread 1 for a difference of 0, else None.
    :param rows: The pairs of scores; for unpaired runs the rows of the shorter one.
    :param left_out: The rows that lack a score on either side.
    :param clusters: The number of clusters; None if each row stands for itself.
    :param paired: False if the runs were compared by their means alone. Then all that follows is None but
        `largest_change` and `unpaired_p`.
    :param randomisation_p: p-value of the seeded randomisation test; None without rows or if no resamples were wanted.
    :param mcnemar_p: Exact p-value of McNemar's test; None unless the scores are 0 and 1 and rows independent.
    :param effect_size: d_z: the mean of the differences over their standard deviation; None if they are all equal.
    :param design_effect: How many times larger clusters make the variance of the mean; None without clusters.
    :param largest_change: From one end to the other (1 for scores from 0 to 1), else the largest change seen; None for
        other unpaired scores.
    :param cautious: What a gate passes by beside the interval: at least as wide as that of scores that did not change,
        for a row that loses everything may not have been seen yet, however little the others move. None but for paired
        scores between two ends.
    :param wins: Rows where the new score is higher.
    :param ties: Rows with equal scores.
    :param losses: Rows where the new score is lower.
    :param unpaired_p: Of unpaired runs the p-value that agrees with the interval; it tests whether both have one
        distribution of scores.
    """

    mean: float | None
    interval: Interval | None
    standard_error: float | None
    row_variance: float | None
    t_p: float | None
    rows: int
    left_out: int
    clusters: int | None
    paired: bool = True
    largest_change: float | None = None
    randomisation_p: float | None = None
    mcnemar_p: float | None = None
    effect_size: float | None = None
    design_effect: float | None = None
    cautious: Interval | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    unpaired_p: float | None = None

    @property
    def p_value(self) -> float | None:
        """The exact test where there is one, else the randomisation or the permutation test, else t."""
        tests = (self.mcnemar_p, self.randomisation_p, self.unpaired_p)
        return next((p for p in tests if p is not None), self.t_p)

    @property
    def test(self) -> str | None:
        """The name of the test that `p_value` is of."""
        if self.mcnemar_p is not None:
            return "McNemar's exact test"
        if self.randomisation_p is not None:
            return "randomisation test"
        if self.unpaired_p is not None:
            alone = self.interval is not None and self.interval.method == "square-and-add"
            return "Newcombe's interval" if alone else "studentised permutation test"
        return None if self.t_p is None else "paired t test" if self.paired else "Welch's t test"


def paired_difference(
    base: Scores,
    new: Scores,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
    score_range: tuple[float, float] | None = None,
) -> Difference:
    """
    Compare two runs question by question.

    ```python
    from haystack_eval_ext.runs.statistics import paired_difference

    difference = paired_difference([0.2, 0.5, 0.4, 0.9], [0.4, 0.6, 0.7, 0.9])
    print(round(difference.mean, 3), difference.wins, difference.ties, difference.losses, difference.randomisation_p)
    # 0.15 3 1 0 0.25
    ```

    :param base: Scores of the base run, one a row; rows with NaN on either side are left out and counted.
    :param new: Scores of the new run for the same rows.
    :param clusters: The cluster of each row; None in a row is a cluster of its own.
    :param confidence: 0.95 for a 95 % interval.
    :param seed: Where the randomisation test starts.
    :param resamples: How many signs it draws where it cannot try all; 0 leaves it out.
    :param score_range: The lowest and the highest score that there can be, such as (1, 5); None if nobody says: 0 and 1
        where all scores lie between them, else the scores have no ends.
    :returns: New minus base.
    :raises ValueError: If a score is infinite or outside the range, columns differ in length, or a parameter is out of
        its range.
    """
    check_confidence(confidence)
    if resamples < 0:
        msg = f"resamples must be at least 0, but is {resamples}."
        raise InvalidValueError(msg)
    before, after = as_values("base", base), as_values("new", new)
    check_length("new", len(after), "base", len(before))
    if clusters is not None:
        check_length("clusters", len(clusters), "base", len(before))
    ends, _ = check_range("base", before, score_range), check_range("new", after, score_range)
    kept = ~(np.isnan(before) | np.isnan(after))
    before, after = before[kept], after[kept]
    changes = after - before
    sizes = np.maximum(np.abs(before), np.abs(after))
    # 0.3 and 0.1 + 0.2 are a tie.
    changes[np.abs(changes) <= ROUNDING * sizes] = 0.0
    width = 1.0
    if ends is not None:
        # Scores on another scale are shares of the way from end to end.
        width = ends.high - ends.low
        changes, sizes, before, after = changes / width, sizes / width, shares_of(before, ends), shares_of(after, ends)
    units = as_units(changes, rows_of(clusters, kept))
    rows, left_out = len(changes), int(np.count_nonzero(~kept))
    if not rows:
        return Difference(None, None, None, None, None, 0, left_out, None, wins=0, ties=0, losses=0)
    # Changes that cancel out within a cluster leave rounding. Nothing was computed from them yet.
    units.sums[np.abs(units.sums) <= ROUNDING * np.abs(changes).max() * units.sizes] = 0.0
    bounded = within_unit(before) and within_unit(after)
    scale = float(sizes.max())
    binary = bounded and not units.clustered and zero_one(before) and zero_one(after)
    interval, error = _paired_interval(units, confidence, scale=scale, bounded=bounded, binary=binary)
    wins, losses = int(np.count_nonzero(changes > 0)), int(np.count_nonzero(changes < 0))
    single = Units(changes, np.ones(rows), clustered=False).standard_error
    found = Difference(
        mean=without_rounding(units.mean, scale),
        interval=interval,
        standard_error=error,
        row_variance=None if error is None else rows * error**2,
        t_p=_t_p(units),
        rows=rows,
        left_out=left_out,
        clusters=len(units.sums) if units.clustered else None,
        largest_change=1.0 if bounded else float(np.abs(changes).max()),
        randomisation_p=randomisation_p(units.sums, seed=seed, resamples=resamples) if resamples else None,
        mcnemar_p=mcnemar_p(wins, losses) if binary else None,
        effect_size=units.mean / (single * math.sqrt(rows)) if single else None,
        design_effect=(units.standard_error / single) ** 2
        if units.clustered and single and units.standard_error
        else None,
        cautious=_cautious(units, interval, confidence) if bounded else None,
        wins=wins,
        ties=rows - wins - losses,
        losses=losses,
    )
    return found if width == 1 else _scaled(found, width)


def _scaled(found: Difference, width: float) -> Difference:
    """A difference of shares as one of scores."""

    def times(value: float | None, factor: float = width) -> float | None:
        return None if value is None else value * factor

    def wide(interval: Interval | None) -> Interval | None:
        return interval and Interval(interval.low * width, interval.high * width, interval.method)

    return replace(
        found,
        mean=times(found.mean),
        interval=wide(found.interval),
        standard_error=times(found.standard_error),
        row_variance=times(found.row_variance, width**2),
        largest_change=times(found.largest_change),
        cautious=wide(found.cautious),
    )


def _t_p(units: Units) -> float | None:
    error = units.standard_error
    if error is None:
        return None
    if not error:
        return None if units.mean else 1.0
    tests = [(error, len(units.sums) - 1.0), *((units.cr2,) if units.clustered and units.cr2 else ())]
    return max(t_tails(units.mean / each, freedom) for each, freedom in tests)


def _cautious(units: Units, interval: Interval | None, confidence: float) -> Interval | None:
    """The interval as if a row had changed by everything either way."""
    # Rows that are all alike have an interval that allows for more than that.
    if interval is None or interval.method == ALIKE:
        return interval
    return cautious_interval(units, CHANGES, confidence)


def _paired_interval(
    units: Units, confidence: float, *, scale: float, bounded: bool, binary: bool
) -> tuple[Interval | None, float | None]:
    """The interval of a paired difference, and the standard error behind it."""
    count = len(units.sums)
    if units.clustered and count == 1:
        return None, None
    unchanged = int(np.count_nonzero(units.sums == 0))
    centre = 0.0 if binary or are_most(unchanged, count) else common_value(units, scale)
    if centre is not None and centre and all_alike(units, centre, scale):
        # Beyond 0 to 1 as the test of signs has it: a row could have changed as much the other way.
        reach = CHANGES if bounded else Reach(centre - 2 * abs(centre), centre + 2 * abs(centre))
        found = alike_interval(units, centre, reach, confidence)
        return found, (found.high - found.low) / 2 / normal_quantile(confidence)
    if centre is None:
        student, error = t_interval(units, confidence), units.standard_error
        if student is None or not error:
            return None, None
        found = student
    else:
        found, error = tied_interval(units, centre, scale, confidence, unseen=1.0 if bounded else scale)
    if units.clustered and (robust := cr2_interval(units, confidence)) and units.cr2:
        found, error = wider(found, robust), max(error, units.cr2[0])
    return (clipped(found, CHANGES) if bounded and centre is not None else found), error
