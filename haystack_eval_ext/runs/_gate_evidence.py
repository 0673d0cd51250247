# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a condition is checked against, and how many questions would decide where these do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from haystack_eval_ext.runs._gate_outcome import Evidence, How, is_alike, needed_if_alike
from haystack_eval_ext.runs._gate_power import rows_to_decide, rows_to_fail, spread_of
from haystack_eval_ext.runs._power import rows_needed, rows_per_unit, rows_to_pass
from haystack_eval_ext.runs._spread import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack_eval_ext.runs._conditions import Condition
    from haystack_eval_ext.runs._differences import Difference
    from haystack_eval_ext.runs._means import MeanEstimate
    from haystack_eval_ext.runs._metric_comparison import MetricSide
    from haystack_eval_ext.runs._scored import Bounds
    from haystack_eval_ext.runs._spread import Interval


def evidence_of_mean(side: MetricSide, how: How) -> Evidence:
    """
    Give what a limit of a mean is checked against.

    :param side: The metric in one run.
    :param how: How conditions are decided.
    :returns: The evidence.
    """
    estimate = side.estimate

    def again(confidence: float) -> Interval | None:
        return side.again(confidence=confidence).interval if side.again else None

    return Evidence(
        estimate.mean,
        estimate.interval,
        None,
        estimate.rows,
        estimate.clusters,
        estimate.left_out,
        side.bounds.failed if side.bounds else side.failed,
        side.bounds,
        again,
        *how,
    )


def evidence_of_change(
    difference: Difference,
    how: How,
    *,
    failed: int = 0,
    bounds: Bounds | None = None,
    again: Callable[..., Difference] | None = None,
) -> Evidence:
    """
    Give what a change is checked against.

    :param difference: The change.
    :param how: How conditions are decided.
    :param failed: The rows that failed.
    :param bounds: Where the change would lie if they had not.
    :param again: The change at another confidence.
    :returns: The evidence.
    """

    def interval_again(confidence: float) -> Interval | None:
        return again(confidence=confidence).interval if again else None

    return Evidence(
        difference.mean,
        difference.interval,
        difference.cautious,
        difference.rows,
        difference.clusters,
        difference.left_out,
        failed,
        bounds,
        interval_again,
        *how,
    )


def needed_for_mean(condition: Condition, estimate: MeanEstimate, evidence: Evidence) -> int | None:
    """
    Give the questions at which a mean like this one would decide.

    :param condition: The condition.
    :param estimate: The mean.
    :param evidence: The evidence.
    :returns: Their number; None if no number does.
    """
    if is_alike(evidence):
        return needed_if_alike(condition, evidence)
    if estimate.mean is None or estimate.standard_error is None:
        return None
    variance = estimate.rows * estimate.standard_error**2
    null = None
    if estimate.bounded and 0 < condition.value < 1:
        inside = estimate.mean * (1 - estimate.mean)
        units = estimate.clusters or estimate.rows
        relative = variance / inside if inside and variance else estimate.rows / units
        null = condition.value * (1 - condition.value) * relative
    return rows_needed(
        variance,
        estimate.mean - condition.value,
        confidence=evidence.fails_at,
        power=evidence.power,
        null_variance=null,
        unit_rows=rows_per_unit(estimate.interval, estimate.rows, estimate.clusters),
    )


def plan_for_change(condition: Condition, difference: Difference, evidence: Evidence) -> tuple[int | None, str]:
    """
    Give the questions at which a change would decide.

    :param condition: The condition.
    :param difference: The change.
    :param evidence: The evidence.
    :returns: Their number, None if no number does; and what to say of it, empty if questions like these would decide.
    """
    variance, margin, rows = difference.row_variance, condition.value, difference.rows
    unit_rows = rows_per_unit(difference.interval, rows, difference.clusters)
    power, significant = evidence.power, evidence.rule == "significant"
    beyond = difference.mean is not None and condition.fails_at(difference.mean)
    # What the change has to keep off: 0 where it fails as soon as it is certain.
    limit = replace(condition, value=0.0) if significant and beyond else condition
    if is_alike(evidence):
        return needed_if_alike(limit, evidence), ""
    spread = spread_of(difference)
    if not variance or difference.mean is None or spread is None:
        return None, ""
    if evidence.stricter:
        return rows_needed(
            variance, difference.mean, confidence=evidence.fails_at, power=power, unit_rows=unit_rows
        ), ""
    confidence = evidence.confidence
    if significant:
        failing = rows_to_fail(spread, 2 * margin, margin, confidence=confidence, power=power)
    else:
        failing = rows_to_decide(difference, margin, rule="strict", confidence=confidence, power=power)
    passing = rows_to_pass(difference, margin, confidence=confidence, power=power)
    needed = max(filter(None, (failing, passing)), default=None) if significant else failing
    known = needed is not None and needed > rows
    if difference.ties == rows and not (known and difference.largest_change):
        return passing, ""
    if not known:
        # The change lies near the margin itself, which takes more to tell apart than no change at all.
        if difference.cautious and limit is condition:
            half = (difference.cautious.high - difference.cautious.low) / 2
            variance = max(variance, rows * (half / normal_quantile(confidence)) ** 2)
        distance = difference.mean - limit.limit
        return rows_needed(variance, distance, confidence=confidence, power=power, unit_rows=unit_rows), ""
    turn = condition.relation.removesuffix("s")
    parts = [] if passing is None else [f"without a change about {evidence.like(passing)} would pass"]
    if failing is not None and failing > rows:
        parts.append(f"with a {turn} of twice that about {evidence.like(failing)} would fail")
    elif failing is not None:
        parts.append(f"a {turn} of twice that would fail with these")
    return needed, ", ".join(parts)
