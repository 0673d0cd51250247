# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
What a question set can show: the smallest difference, and the questions that a margin takes (Miller 2024).

Where intervals take the quantiles of t, plans do too, with as many degrees of freedom as there would be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._spread import check_confidence, normal_quantile, t_quantile

if TYPE_CHECKING:
    from haystack_eval_ext.runs._differences import Difference
    from haystack_eval_ext.runs._spread import Interval

# Their quantiles are the normal distribution's, unless there are clusters.
_NORMAL = frozenset(("Wilson", "Bonett-Price", "Clopper-Pearson"))
# From so many units on t is normal.
_LARGE = 1_000_000
# More questions than there are: what they would be does not matter, and they must not overflow.
_ALL = 10**15


def minimal_detectable_difference(
    standard_error: float, *, confidence: float = 0.95, power: float = 0.8, freedom: float | None = None
) -> float:
    """
    Give the smallest true difference that would most likely be seen: `(z_{α/2} + z_β) · SE`, or with t for z.

    ```python
    from haystack_eval_ext.runs.statistics import minimal_detectable_difference

    print(round(minimal_detectable_difference((1 / 9 / 969) ** 0.5), 4))
    # 0.03
    ```

    :param standard_error: Standard error of the difference, clusters included.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see such a difference.
    :param freedom: Degrees of freedom of t: the rows, or the clusters, less one; None for the normal distribution.
    :returns: The difference.
    :raises ValueError: If a parameter is out of its range.
    """
    if not standard_error >= 0:
        msg = f"standard_error must be at least 0, but is {standard_error!r}."
        raise InvalidValueError(msg)
    return sum(_quantiles(confidence, power, freedom)) * standard_error


def detectable(difference: Difference, *, confidence: float = 0.95, power: float = 0.8) -> float | None:
    """
    Give the smallest true difference that a comparison would most likely have shown.

    :param difference: The difference that was measured.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see it.
    :returns: The smallest difference; None where nothing tells the spread.
    :raises ValueError: If a parameter is out of its range.
    """
    if difference.standard_error is None:
        return None
    size = rows_per_unit(difference.interval, difference.rows, difference.clusters)
    freedom = None if size is None else max(difference.rows / size - 1, 1.0)
    return minimal_detectable_difference(difference.standard_error, confidence=confidence, power=power, freedom=freedom)


def rows_needed(
    row_variance: float,
    difference: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    null_variance: float | None = None,
    unit_rows: float | None = None,
) -> int | None:
    """
    Give the number of questions at which a true difference is most likely seen: `(z_{α/2} + z_β)² · Var / δ²`.

    ```python
    from haystack_eval_ext.runs.statistics import rows_needed

    print(rows_needed(1 / 9, 0.03))
    # 969
    ```

    :param row_variance: Variance of one row's difference; with clusters n · SE², which includes the design effect, and
        the rows are those of clusters as large as now.
    :param difference: The difference that should be seen.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see it.
    :param null_variance: The variance where there is no difference, if that is another one, as with shares:
        `((z_{α/2} √null + z_β √Var) / δ)²`.
    :param unit_rows: For the quantiles of t: the rows of a cluster, 1 for rows on their own; None for the normal
        distribution's. The number is then that of whole clusters.
    :returns: The number of rows; None if the difference is 0, or there is no variance to plan with.
    :raises ValueError: If a parameter is out of its range.
    """
    check_confidence(confidence)
    check_power(power)
    null = row_variance if null_variance is None else null_variance
    if not (row_variance >= 0 and null >= 0):
        msg = f"row_variance and null_variance must be at least 0, but are {row_variance!r} and {null!r}."
        raise InvalidValueError(msg)
    if difference == 0 or row_variance == null == 0:
        return None

    def rows(freedom: float | None) -> float:
        two_sided, one_sided = _quantiles(confidence, power, freedom)
        root = (two_sided * math.sqrt(null) + one_sided * math.sqrt(row_variance)) / difference
        return root * root  # a power of floats raises where it overflows

    needed = rows(None)
    if not math.isfinite(needed):
        return None
    if unit_rows is None or needed > _LARGE * unit_rows:
        return math.ceil(needed)
    # More units take smaller quantiles, so that one number of them is the first that is enough.
    few, enough = 1, max(math.ceil(needed / unit_rows), 2)
    while enough * unit_rows < rows(enough - 1):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if middle * unit_rows < rows(middle - 1) else (few, middle)
    return math.ceil(enough * unit_rows)


def rows_to_pass(difference: Difference, margin: float, *, confidence: float = 0.95, power: float = 0.9) -> int | None:
    """
    Give the number of questions at which no change passes.

    Scores from 0 to 1 also take as many as scores that do not move at all: of a gate's cautious interval n rows make
    `z_{α/2} √(n Var + 2) / (n + 2)`.

    :param difference: A difference that was measured.
    :param margin: The drop that matters.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to pass.
    :returns: The number of rows; None if the margin is 0, or there is no variance to plan with.
    :raises ValueError: If a parameter is out of its range.
    """
    variance, interval = difference.row_variance, difference.interval
    if variance is None:
        return None
    if margin and interval is not None and difference.ties == difference.rows:
        # As long as no score changes, the limits shrink with the rows, not with their root.
        shrunk = (difference.rows + 2) * interval.high / margin
        return int(shrunk) if math.isfinite(shrunk) else None
    size = rows_per_unit(difference.interval, difference.rows, difference.clusters)
    needed = rows_needed(variance, margin, confidence=confidence, power=power, unit_rows=size)
    if needed is None or difference.cautious is None or difference.cautious[:2] == (interval or ())[:2]:
        return needed
    if needed > _ALL:
        return needed
    cluster = difference.rows / (difference.clusters or difference.rows)

    def enough(rows: int) -> bool:
        freedom = None if difference.clusters is None else max(rows / cluster - 1, 1.0)
        two_sided, one_sided = _quantiles(confidence, power, freedom)
        root = two_sided * math.sqrt(rows * variance + 2 * cluster**2)
        return root + one_sided * math.sqrt(rows * variance) <= (rows + 2 * cluster) * margin

    few, many = needed - 1, needed
    while not enough(many):
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many


def rows_per_unit(interval: Interval | None, rows: int, clusters: int | None) -> float | None:
    """
    Give what `rows_needed` takes as `unit_rows`.

    :param interval: The interval that is to become narrower.
    :param rows: The rows behind it.
    :param clusters: Their clusters; None if each row stands for itself.
    :returns: The rows of a cluster, 1 without clusters; None if the interval goes by the normal distribution.
    """
    if clusters is not None:
        return rows / clusters
    return None if interval is not None and interval.method in _NORMAL else 1.0


def in_clusters(count: int, rows: int, clusters: int | None) -> str:
    """
    Say after a number of questions how many clusters of the present size they are.

    :param count: The number of questions.
    :param rows: How many there are now.
    :param clusters: Their clusters; None if each row stands for itself.
    :returns: Such as " in 40 clusters"; empty without clusters.
    """
    if clusters is None:
        return ""
    whole = max(math.ceil(count * clusters / rows - 1e-9), 1)
    return f" in {whole} cluster{'' if whole == 1 else 's'}"


def check_power(power: float) -> None:
    """
    Refuse a power that no plan can be made with.

    :param power: 0.8 for 80 %.
    :raises ValueError: If it is less than 0.5, or not below 1.
    """
    if not 0.5 <= power < 1:  # noqa: PLR2004 - below one half a coin is better
        msg = f"power must be at least 0.5 and less than 1, such as 0.8, but is {power!r}."
        raise InvalidValueError(msg)


def _quantiles(confidence: float, power: float, freedom: float | None) -> tuple[float, float]:
    """That of the interval, two-sided, and that of the power, one-sided."""
    check_confidence(confidence)
    check_power(power)
    levels = confidence, 2 * power - 1
    one, two = (normal_quantile(level) if freedom is None else t_quantile(level, freedom) for level in levels)
    return one, two
