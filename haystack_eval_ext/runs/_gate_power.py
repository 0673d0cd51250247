# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
What a gate finds: the chance that a drop fails it, the smallest drop that most likely does, the questions it takes.

A gate fails where the mean change lies beyond a critical value. The mean varies by `√(Var / n)` around the true drop,
so that the chance is `Φ((drop - critical) / √(Var / n))`. A rise of a metric of which lower is better is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from haystack_eval_ext.runs._power import check_power, rows_needed, rows_per_unit, rows_to_pass
from haystack_eval_ext.runs._spread import normal_quantile, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack_eval_ext.runs._differences import Difference

Rule: TypeAlias = Literal["significant", "strict"]

_STEPS = 60
# No question set has more.
_MOST_ROWS = 10**12


@dataclass(frozen=True)
class ChangeSpread:
    """
    How the changes of rows vary, as far as a plan needs it.

    :param row_variance: The variance of a row's change where the means are equal, clusters included.
    :param largest: How much a row loses at most. A drop of `d` in changes of size `s` adds `d s - d²` to the variance;
        0 plans with a drop that is the same in all rows, which adds nothing.
    :param design_effect: How many times larger clusters make the variance of the mean.
    :param cluster_rows: The rows of a cluster; None if each row stands for itself.
    :param tied: True where the interval will be Bonett and Price's: of 0/1 scores, or where most rows do not change.
    """

    row_variance: float
    largest: float = 1.0
    design_effect: float = 1.0
    cluster_rows: float | None = None
    tied: bool = False

    def variance(self, drop: float) -> float:
        """Give the variance of a row's change for a true drop."""
        return self.row_variance + max(drop * (self.largest - drop), 0.0) * self.design_effect


def spread_of(difference: Difference) -> ChangeSpread | None:
    """
    Give the spread that was measured.

    :param difference: A difference.
    :returns: Its spread; None where nothing tells it.
    """
    if difference.row_variance is None:
        return None
    method = difference.interval and difference.interval.method
    unit = rows_per_unit(difference.interval, difference.rows, difference.clusters)
    return ChangeSpread(
        # Where no score changed, the interval allows for changes, but none are to be planned with.
        0.0 if difference.ties == difference.rows else difference.row_variance,
        difference.largest_change or 0.0,
        difference.design_effect or 1.0,
        unit if difference.clusters is not None else None,
        tied=method == "Bonett-Price",
    )


def chance_to_fail(
    spread: ChangeSpread,
    rows: int,
    drop: float,
    margin: float = 0.0,
    *,
    rule: Rule = "significant",
    confidence: float = 0.95,
) -> float:
    """
    Give the chance that a gate fails for a true drop.

    :param spread: How the changes of rows vary.
    :param rows: The questions.
    :param drop: The true drop.
    :param margin: That of the condition.
    :param rule: That of the gate.
    :param confidence: That of the interval; with Holm's correction over m tests `1 - 0.05 / m`.
    :returns: A chance from 0 to 1; 0 for a single row or cluster.
    """
    from scipy.special import ndtr

    units = rows / (spread.cluster_rows or 1.0)
    if units < 2:  # noqa: PLR2004 - a spread takes two
        return 0.0
    by_normal = spread.tied and spread.cluster_rows is None
    quantile = normal_quantile(confidence) if by_normal else t_quantile(confidence, units - 1)
    # Two more units, one that lost and one that gained the most.
    more, away = (2 * (spread.cluster_rows or 1.0), 2 * spread.largest * spread.largest) if spread.tied else (0.0, 0.0)
    limit = 0.0 if rule == "significant" else margin

    def is_certain(seen: float) -> bool:
        mean = rows * seen / (rows + more)
        squares = rows * (spread.variance(seen) + seen * seen) + away * (spread.cluster_rows or 1.0) ** 2
        error = math.sqrt(max(squares / (rows + more) - mean * mean, 0.0) / (rows + more))
        return mean - quantile * error > limit

    far = 2 * max(drop, margin, spread.largest, quantile * math.sqrt(spread.row_variance))
    critical = max(_first(is_certain, far), margin)
    error = math.sqrt(spread.variance(drop) / rows)
    if not error:
        return float(drop > critical)
    return float(ndtr((drop - critical) / error))


def smallest_drop(
    spread: ChangeSpread,
    rows: int,
    margin: float = 0.0,
    *,
    most: float = 1.0,
    rule: Rule = "significant",
    confidence: float = 0.95,
    power: float = 0.9,
) -> float | None:
    """
    Give the smallest true drop that a gate most likely finds.

    :param spread: How the changes of rows vary.
    :param rows: The questions.
    :param margin: That of the condition.
    :param most: The largest drop that there can be: the mean itself where scores are from 0 on.
    :param rule: That of the gate.
    :param confidence: That of the interval.
    :param power: The chance to find it.
    :returns: The drop; None if there is none.
    :raises ValueError: If the power is out of its range.
    """
    check_power(power)

    def is_found(drop: float) -> bool:
        return chance_to_fail(spread, rows, drop, margin, rule=rule, confidence=confidence) >= power

    return _first(is_found, most) if most > 0 and is_found(most) else None


def rows_to_fail(
    spread: ChangeSpread,
    drop: float,
    margin: float,
    *,
    rule: Rule = "significant",
    confidence: float = 0.95,
    power: float = 0.9,
) -> int | None:
    """
    Give the number of questions at which a true drop most likely fails a gate.

    :param spread: How the changes of rows vary.
    :param drop: The true drop.
    :param margin: That of the condition.
    :param rule: That of the gate.
    :param confidence: That of the interval.
    :param power: The chance to fail.
    :returns: The number of rows; None if no number does: the drop does not lie beyond the margin.
    :raises ValueError: If the power is out of its range.
    """
    check_power(power)
    if not drop > margin:
        return None

    def is_enough(rows: int) -> bool:
        return chance_to_fail(spread, rows, drop, margin, rule=rule, confidence=confidence) >= power

    many = 2
    while not is_enough(many):
        many *= 2
        if many > _MOST_ROWS:
            return None
    few = many // 2
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if is_enough(middle) else (middle, many)
    return many


def _first(holds: Callable[[float], bool], most: float) -> float:
    """The smallest number from which on something holds, between 0 and one that is large enough."""
    few, many = 0.0, most
    for _ in range(_STEPS):
        middle = (few + many) / 2
        few, many = (few, middle) if holds(middle) else (middle, many)
    return many


def rows_to_decide(
    difference: Difference,
    margin: float,
    *,
    confidence: float = 0.95,
    power: float = 0.9,
    rule: Rule = "significant",
) -> int | None:
    """
    Give the number of questions at which a gate decides: no change passes, and a drop of twice the margin fails.

    Under "strict" either lies one margin from the limit, so it is `(z_{α/2} + z_β)² · Var / margin²` with the larger
    variance of the two: a drop may leave most rows alone and break a few. Under "significant" the drop lies two margins
    from 0, and the pass mostly takes more.

    :param difference: A difference that was measured.
    :param margin: The drop that matters.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to decide.
    :param rule: How the gate decides.
    :returns: The number of rows; None if the margin is 0, or there is no variance to plan with.
    :raises ValueError: If a parameter is out of its range.
    """
    spread = spread_of(difference)
    if spread is None:
        return None
    if rule == "strict":
        unit_rows = rows_per_unit(difference.interval, difference.rows, difference.clusters)
        return rows_needed(spread.variance(2 * margin), margin, confidence=confidence, power=power, unit_rows=unit_rows)
    passing = rows_to_pass(difference, margin, confidence=confidence, power=power)
    failing = rows_to_fail(spread, 2 * margin, margin, confidence=confidence, power=power)
    return None if passing is None or failing is None else max(passing, failing)
