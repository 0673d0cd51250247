# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""How far the mean of some rows can be off: standard errors for independent rows and for clusters of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

Scores: TypeAlias = "Sequence[float] | NDArray[np.float64]"

# Below this share of the largest value a spread is rounding.
ROUNDING = 1e-12
# The squares of larger scores, summed over many rows, leave the range of a double.
LARGEST = 1e150


class Interval(NamedTuple):
    """
    A confidence interval.

    :param low: Its lower limit.
    :param high: Its upper limit.
    :param method: How it was made: "t", "Wilson", "Wilson, effective rows", "Bonett-Price", "Clopper-Pearson",
        "square-and-add", for kappa "Fleiss-Cohen-Everitt", for ranks "Bonett-Wright".
    """

    low: float
    high: float
    method: str


def wider(one: Interval, two: Interval) -> Interval:
    """
    Give the interval from the lower of two lower limits to the higher of two upper ones.

    :param one: An interval.
    :param two: Another one of the same number.
    :returns: The interval, under the first one's name.
    """
    return Interval(min(one.low, two.low), max(one.high, two.high), one.method)


@dataclass(frozen=True, eq=False)
class Units:
    """
    What is drawn independently: the rows, or the clusters of rows.

    :param sums: The sum of the values of each unit.
    :param sizes: The number of rows of each unit.
    :param clustered: True if the units are clusters.
    """

    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]
    clustered: bool

    @cached_property
    def rows(self) -> float:
        """The number of rows."""
        return float(self.sizes.sum())

    @cached_property
    def mean(self) -> float:
        """The mean over the rows."""
        return float(self.sums.sum()) / self.rows

    def shares_of(self, low: float, width: float) -> Units:
        """Give the same units with each row's value as a share of the way from the low end to the high one."""
        return Units((self.sums - low * self.sizes) / width, self.sizes, self.clustered)

    @cached_property
    def standard_error(self) -> float | None:
        """
        The standard error of the mean (Miller 2024, arXiv:2411.00640); None for fewer than two units.

        `SE² = C/(C-1) · n⁻² · Σ_c (Σ_{i in c} (s_i - mean))²` over C units; with single rows that is `s²/n`.
        """
        units = len(self.sums)
        if units < 2:  # noqa: PLR2004 - a spread takes two
            return None
        deviations = self.sums - self.mean * self.sizes
        return self._not_rounding(math.sqrt(units / (units - 1) * float((deviations**2).sum())) / self.rows)

    @cached_property
    def cr2(self) -> tuple[float, float] | None:
        """
        The standard error CR2 and its Satterthwaite degrees of freedom; None for fewer than two units.

        Large clusters pull the mean towards themselves: `SE² = n⁻² · Σ_c (Σ_{i in c} (s_i - mean))² / (1 - n_c/n)`
        makes up for it (Bell and McCaffrey 2002). The degrees are those of independent rows of one variance
        (Pustejovsky and Tipton 2018): `n² / (Σ n_c² + ((Σ w_c)² - Σ w_c²) / n²)` with `w_c = n_c² / (1 - n_c/n)`, which
        is C - 1 for clusters of one size, and fewer for others.
        """
        if len(self.sums) < 2:  # noqa: PLR2004 - a spread takes two
            return None
        rows = self.rows
        left = 1 - self.sizes / rows
        deviations = self.sums - self.mean * self.sizes
        error = math.sqrt(float((deviations**2 / left).sum())) / rows
        weights = self.sizes**2 / left
        crossed = (float(weights.sum()) ** 2 - float((weights**2).sum())) / rows**2
        return self._not_rounding(error), rows**2 / (float((self.sizes**2).sum()) + crossed)

    def _not_rounding(self, error: float) -> float:
        return 0.0 if error <= ROUNDING * float(np.abs(self.sums / self.sizes).max()) else error


def without_rounding(change: float, scale: float) -> float:
    """
    Take a change that is no more than rounding for none.

    :param change: The change.
    :param scale: The size of the numbers that it comes from.
    :returns: The change, or 0.
    """
    return 0.0 if abs(change) <= ROUNDING * scale else change


def as_units(values: NDArray[np.float64], clusters: Sequence[Hashable] | None) -> Units:
    """
    Gather values by cluster.

    :param values: One a row.
    :param clusters: The cluster of each row; a row with None is a cluster of its own. None if rows are independent.
    :returns: The units; clusters of one row each are rows.
    """
    if clusters is not None:
        numbers: dict[Hashable, int] = {}
        keys = [("row", row) if cluster is None else ("cluster", cluster) for row, cluster in enumerate(clusters)]
        codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        if len(numbers) < len(values):
            sums = np.bincount(codes, weights=values).astype(np.float64)
            return Units(sums, np.bincount(codes).astype(np.float64), clustered=True)
    return Units(values, np.ones(len(values)), clustered=False)


def normal_quantile(confidence: float) -> float:
    """Give the two-sided quantile of the normal distribution, 1.96 for 0.95."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def t_quantile(confidence: float, freedom: float) -> float:
    """Give the two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def t_tails(statistic: float, freedom: float) -> float:
    """Give the two-sided p-value of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(statistic)))


def wilson(share: float, rows: float, quantile: float) -> tuple[float, float]:
    """
    Give the limits of Wilson's score interval (Wilson 1927), which never leaves 0 to 1.

    :param share: The share, or any mean of values from 0 to 1.
    :param rows: The number of rows, or the number of 0/1 rows that would be as uncertain.
    :param quantile: 1.96 for 95 %.
    :returns: Lower and upper limit.
    """
    weight = quantile**2 / rows
    centre = share + weight / 2
    half = quantile * math.sqrt(max(share * (1 - share), 0.0) / rows + weight / (4 * rows))
    # The limits at shares of 0 and 1 are exact; rounding must not move them.
    low = 0.0 if share <= 0 else max((centre - half) / (1 + weight), 0.0)
    high = 1.0 if share >= 1 else min((centre + half) / (1 + weight), 1.0)
    return low, high


def check_confidence(confidence: float) -> None:
    """
    Refuse a confidence that is no share.

    :param confidence: 0.95 for 95 %.
    :raises ValueError: If it is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        msg = f"confidence must lie between 0 and 1, such as 0.95, but is {confidence!r}."
        raise InvalidValueError(msg)


def as_values(name: str, scores: Scores) -> NDArray[np.float64]:
    """
    Check scores.

    :param name: What to call them in an error.
    :param scores: One a row; NaN where there is none.
    :returns: The scores as an array.
    :raises ValueError: If one is infinite or beyond 1e150, or they are no flat list of numbers.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"{name} must be numbers, one a row and NaN where there is none."
        raise InvalidValueError(msg) from error
    if values.ndim != 1:
        msg = f"{name} must be a flat list of numbers, but has {values.ndim} dimensions."
        raise InvalidValueError(msg)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        msg = f"{name} must be finite, or NaN where there is none, but row {int(infinite[0])} is infinite."
        raise InvalidValueError(msg)
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if len(large):
        msg = f"{name} must lie within {LARGEST:g} of 0, but row {int(large[0])} is {values[large[0]]:g}."
        raise InvalidValueError(msg)
    return values


def check_length(name: str, length: int, other: str, rows: int) -> None:
    """
    Refuse columns of unequal length.

    :raises ValueError: If they differ.
    """
    if length != rows:
        msg = f"{name} must have one value for each of the {rows} rows of {other}, but has {length}."
        raise InvalidValueError(msg)


def rows_of(clusters: Sequence[Hashable] | None, kept: NDArray[np.bool_]) -> list[Hashable] | None:
    """Give the clusters of the rows that are kept."""
    return None if clusters is None else [cluster for cluster, keep in zip(clusters, kept, strict=True) if keep]
