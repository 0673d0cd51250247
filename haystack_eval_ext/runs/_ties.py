# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Rows of which most have the same value: the few others say little about how many more there could have been."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haystack_eval_ext.runs._spread import ROUNDING, Interval, normal_quantile, t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from haystack_eval_ext.runs._spread import Units

# The name of the interval of rows that are all alike.
ALIKE = "Clopper-Pearson"


class Reach(NamedTuple):
    """
    What a row could have been.

    :param low: The least.
    :param high: The most.
    """

    low: float
    high: float


def common_value(units: Units, scale: float) -> float | None:
    """
    Give the value that most of the units have.

    :param units: The rows, or the clusters by their means.
    :param scale: The size of the numbers that the values were made of, for rounding.
    :returns: The value; None if there is none, or only one unit.
    """
    means = units.sums / units.sizes
    if len(means) < 2:  # noqa: PLR2004 - one row is like itself
        return None
    # What most have is the median.
    middle = float(np.sort(means)[len(means) // 2])
    alike = int(np.count_nonzero(np.abs(means - middle) <= ROUNDING * scale))
    return middle if are_most(alike, len(means)) else None


def are_most(alike: int, units: int) -> bool:
    """
    Tell whether the units that are alike are so many that the others are few: three quarters or more.

    With fewer, the t interval of values of two kinds holds the mean more often: 94 instead of 92 % in 40 rows of which
    40 % differ.
    """
    return 4 * alike >= 3 * units


def all_alike(units: Units, centre: float, scale: float) -> bool:
    """Tell whether every unit has the value."""
    return bool((np.abs(units.sums / units.sizes - centre) <= ROUNDING * scale).all())


def alike_interval(units: Units, centre: float, reach: Reach, confidence: float) -> Interval:
    """
    Give the interval of a mean where all units have the same value.

    In n units another value was not seen: its share is at most `1 - (alpha / 2)^(1/n)` (Clopper and Pearson 1934), and
    the mean at most that share of the way to the farthest value.

    :param units: The units.
    :param centre: Their value.
    :param reach: The farthest values.
    :param confidence: 0.95 for 95 %.
    :returns: The interval.
    """
    share = _unseen_share(len(units.sums), confidence)
    return Interval(centre - share * (centre - reach.low), centre + share * (reach.high - centre), ALIKE)


def units_if_alike(units: int, side: float, distance: float, confidence: float) -> int | None:
    """
    Give the number of units at which the interval of units that are all alike is narrow enough.

    :param units: How many there are.
    :param side: From their value to the limit of the interval now.
    :param distance: How far it may be.
    :param confidence: That of the interval.
    :returns: The number; None if the distance is 0.
    """
    farthest = side / _unseen_share(units, confidence)
    if distance <= 0:
        return None
    if distance >= farthest:
        return 1
    return math.ceil(math.log((1 - confidence) / 2) / math.log1p(-distance / farthest))


def tied_interval(
    units: Units, centre: float, scale: float, confidence: float, *, unseen: float = 0.0
) -> tuple[Interval, float]:
    """
    Give the interval of a mean where most units have the same value.

    Two more units, one above and one below, lie as far from that value as the farthest that was seen. For 0/1 scores of
    pairs that is Bonett and Price's interval (2012).

    :param units: The units.
    :param centre: The value of most.
    :param scale: The size of the numbers that the values were made of, for rounding.
    :param confidence: 0.95 for 95 %.
    :param unseen: How far a row could lie from the value, where none does.
    :returns: The interval, and the standard error behind it.
    """
    size = units.rows / len(units.sums)
    away = units.sums - centre * units.sizes
    away[np.abs(away) <= ROUNDING * scale * units.sizes] = 0.0
    found, error = _with_two_more(units, away, float(np.abs(away).max()) or unseen * size, confidence)
    return Interval(centre + found.low, centre + found.high, found.method), error


def cautious_interval(units: Units, reach: Reach, confidence: float) -> Interval:
    """
    Give the interval of a mean as if two more units had been seen, one at either end of what a row could be.

    However near each other all units lie, one in thirty that loses everything may not be among them.

    :param units: The units.
    :param reach: The ends.
    :param confidence: 0.95 for 95 %.
    :returns: The interval, within the ends.
    """
    middle, half = (reach.low + reach.high) / 2, (reach.high - reach.low) / 2
    size = units.rows / len(units.sums)
    found, _ = _with_two_more(units, units.sums - middle * units.sizes, half * size, confidence)
    return clipped(Interval(middle + found.low, middle + found.high, found.method), reach)


def clipped(interval: Interval, reach: Reach) -> Interval:
    """Give the part of an interval that lies within the ends."""
    return Interval(max(interval.low, reach.low), min(interval.high, reach.high), interval.method)


def _with_two_more(
    units: Units, away: NDArray[np.float64], distance: float, confidence: float
) -> tuple[Interval, float]:
    """The interval of the mean of sums, and its standard error, with one more unit at the distance on either side."""
    count, size = len(units.sums), units.rows / len(units.sums)
    sums = np.concatenate([away, [distance, -distance]])
    sizes = np.concatenate([units.sizes, [size, size]])
    rows = float(sizes.sum())
    mean = float(sums.sum()) / rows
    error = math.sqrt(float(((sums - mean * sizes) ** 2).sum())) / rows
    if units.clustered:
        error *= math.sqrt((count + 2) / (count + 1))
    half = (t_quantile(confidence, count - 1) if units.clustered else normal_quantile(confidence)) * error
    return Interval(mean - half, mean + half, "Bonett-Price"), error


def _unseen_share(units: int, confidence: float) -> float:
    """The largest share of which likely nothing was seen."""
    return -math.expm1(math.log((1 - confidence) / 2) / units)
