# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
A verdict for CI: fail on evidence of a regression, pass on evidence of none, inconclusive in between.

| condition | fail | pass |
|---|---|---|
| `M drops 0.02` | the upper limit of the difference lies below -0.02 | the lower limit lies above -0.02 |
| `M rises 0.02` | the lower limit lies above 0.02 | the upper limit lies below 0.02 |
| `M < 0.8`, `M <= 0.8` | the upper limit of the mean lies below 0.8 | the lower limit lies above 0.8 |
| `M > 0.1`, `M >= 0.1` | the lower limit lies above 0.1 | the upper limit lies below 0.1 |

A change of scores from 0 to 1 passes only if there are also enough rows for scores that do not change at all.
A mean's limit on the number itself belongs to the side that the condition names: `<=` fails there, `<` passes. Rows
that failed (a judge outage) or were not reached (a spent budget) leave the outcome open if it could be another one had
they been judged, whatever their scores; of a row with several answers the share that failed. So do rows that have a
score in one of two runs and are undefined in the other: nothing tells what changed there. A mean is that of the new run
alone, whatever the base run lacks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from haystack_eval_ext.runs._conditions import Condition, parse_condition
from haystack_eval_ext.runs._gate_outcome import Evidence, GateResult, How, Outcome, decide, is_alike, needed_if_alike
from haystack_eval_ext.runs._metric_comparison import metric_side
from haystack_eval_ext.runs._power import rows_needed, rows_per_unit, rows_to_decide, rows_to_pass
from haystack_eval_ext.runs._run_exports import shown, shown_interval, table_line
from haystack_eval_ext.runs._scored import nearest
from haystack_eval_ext.runs._spread import check_confidence, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from haystack_eval_ext.runs._metric_comparison import MetricComparison, MetricSide
    from haystack_eval_ext.runs._scored import ScoredRun
    from haystack_eval_ext.runs.comparison import Comparison

__all__ = [
    "Condition",
    "GateResult",
    "Outcome",
    "check_comparison",
    "check_conditions",
    "check_run",
    "exit_code",
    "markdown_table",
    "overall_outcome",
    "parse_condition",
]

_INCONCLUSIVE_CODES = {"pass": 0, "warn": 0, "fail": 3}


def check_run(
    run: ScoredRun,
    conditions: Iterable[str | Condition],
    *,
    by_mean: bool = False,
    tolerate_failed: float = 0.0,
    confidence: float = 0.95,
    power: float = 0.9,
) -> list[GateResult]:
    """
    Check the means of one run.

    ```python
    from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun
    from haystack_eval_ext.runs.gate import check_run

    rows = MetricRows([1.0] * 36 + [0.0] * 4, ["scored"] * 40)
    run = ScoredRun("nightly", [f"q{number}" for number in range(40)], {"faithfulness": rows})
    for result in check_run(run, ["faithfulness < 0.6", "faithfulness < 0.85"]):
        print(result.outcome, result.rows_needed)
    # pass None
    # inconclusive 483
    ```

    :param run: The run.
    :param conditions: What fails it, such as `"faithfulness < 0.8"`.
    :param by_mean: Go by the mean alone, without an interval.
    :param tolerate_failed: The share of rows that failed, or are undefined in one of two runs, that is taken to be like
        the others.
    :param confidence: That of the intervals.
    :param power: The chance to decide that `rows_needed` stands for.
    :returns: One result a condition.
    :raises ValueError: If a condition names no metric of the run, or takes two runs, or a parameter is out of its
        range.
    """
    _check(confidence, tolerate_failed)
    results = []
    for condition in _parsed(conditions):
        if condition.is_change:
            msg = (
                f"'{condition}' compares two runs, but here is one: use 'METRIC < NUMBER', or compare with a base run."
            )
            raise ValueError(msg)
        _check_metric(condition, run.metrics)
        side = metric_side(run.metrics[condition.metric], clusters=run.clusters, confidence=confidence)
        results.append(_check_level(condition, side, How(confidence, power, by_mean, tolerate_failed)))
    return results


def check_comparison(
    comparison: Comparison,
    conditions: Iterable[str | Condition],
    *,
    by_mean: bool = False,
    tolerate_failed: float = 0.0,
) -> list[GateResult]:
    """
    Check the changes between two runs; a condition on a mean is checked as in the new run alone: on all of
    its rows that take part, whether or not the base run has a score there.

    :param comparison: The comparison, with its confidence and power.
    :param conditions: What fails it, such as `"ranking.R@10 drops 0.02"`.
    :param by_mean: Go by the means alone, without an interval.
    :param tolerate_failed: The share of rows that failed, or are undefined in one of two runs, that is taken to be like
        the others.
    :returns: One result a condition.
    :raises ValueError: If a condition names no metric that both runs have, or a parameter is out of its range.
    """
    _check(comparison.confidence, tolerate_failed)
    how = How(comparison.confidence, comparison.power, by_mean, tolerate_failed)
    results = []
    for condition in _parsed(conditions):
        _check_metric(condition, comparison.metrics)
        metric = comparison.metrics[condition.metric]
        check = (
            _check_change(condition, metric, how)
            if condition.is_change
            else _check_level(condition, metric.new_alone, how)
        )
        results.append(check)
    return results


def check_conditions(conditions: Iterable[str | Condition], metrics: Collection[str]) -> None:
    """
    Check conditions before there is a comparison to check them on.

    :param conditions: What is to fail it.
    :param metrics: The metrics that it will have.
    :raises ValueError: If a condition is none, or names no metric.
    """
    for condition in _parsed(conditions):
        _check_metric(condition, metrics)


def overall_outcome(results: Sequence[GateResult]) -> Outcome:
    """
    Give the outcome of a whole gate.

    :param results: Its results.
    :returns: "fail" if one fails, else "inconclusive" if one is, else "pass".
    """
    outcomes = {result.outcome for result in results}
    return "fail" if "fail" in outcomes else "inconclusive" if "inconclusive" in outcomes else "pass"


def exit_code(outcome: Outcome, inconclusive: Literal["pass", "warn", "fail"] = "warn") -> int:
    """
    Give the exit code of a gate.

    :param outcome: Its outcome.
    :param inconclusive: What an inconclusive outcome counts as.
    :returns: 0 for pass, 1 for fail; for inconclusive 0, or 3 if that counts as a failure.
    :raises ValueError: If a parameter is something else.
    """
    if outcome not in ("pass", "fail", "inconclusive") or inconclusive not in _INCONCLUSIVE_CODES:
        msg = (
            "outcome must be 'pass', 'fail' or 'inconclusive', and inconclusive 'pass', 'warn' or 'fail', but they are "
            f"{outcome!r} and {inconclusive!r}."
        )
        raise ValueError(msg)
    return _INCONCLUSIVE_CODES[inconclusive] if outcome == "inconclusive" else int(outcome == "fail")


def markdown_table(results: Sequence[GateResult]) -> str:
    """
    Write the results as a table for a pull request.

    :param results: The results of a gate.
    :returns: Markdown.
    """
    marks = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "⚠️ inconclusive"}
    lines = ["| fails if | outcome | value | interval | questions | reason |", "|---|---|---|---|---|---|"]
    for result in results:
        change = result.condition.is_change
        cells = [
            str(result.condition),
            marks[result.outcome],
            shown(result.value, signed=change),
            shown_interval(result.interval, signed=change),
            str(result.rows),
            result.reason,
        ]
        lines.append(table_line(cells))
    return "\n".join(lines) + "\n"


def _parsed(conditions: Iterable[str | Condition]) -> list[Condition]:
    if isinstance(conditions, str):
        conditions = [conditions]
    return [each if isinstance(each, Condition) else parse_condition(each) for each in conditions]


def _check(confidence: float, tolerate_failed: float) -> None:
    check_confidence(confidence)
    if not 0 <= tolerate_failed <= 1:
        msg = f"tolerate_failed must be a share from 0 to 1, but is {tolerate_failed!r}."
        raise ValueError(msg)


def _check_metric(condition: Condition, known: Collection[str]) -> None:
    if condition.metric not in known:
        msg = f"'{condition}' names no metric of the run ({nearest(condition.metric, known)})."
        raise ValueError(msg)


def _check_level(condition: Condition, side: MetricSide, how: How) -> GateResult:
    estimate = side.estimate
    evidence = Evidence(
        estimate.mean,
        estimate.interval,
        None,
        estimate.rows,
        estimate.clusters,
        estimate.left_out,
        side.bounds.failed if side.bounds else side.failed,
        side.bounds,
        *how,
    )
    needed = None
    if is_alike(evidence):
        needed = needed_if_alike(condition, evidence)
    elif estimate.mean is not None and estimate.standard_error is not None:
        variance = estimate.rows * estimate.standard_error**2
        null = None
        if estimate.bounded and 0 < condition.value < 1:
            inside = estimate.mean * (1 - estimate.mean)
            units = estimate.clusters or estimate.rows
            relative = variance / inside if inside and variance else estimate.rows / units
            null = condition.value * (1 - condition.value) * relative
        distance = estimate.mean - condition.value
        needed = rows_needed(
            variance,
            distance,
            confidence=evidence.confidence,
            power=evidence.power,
            null_variance=null,
            unit_rows=rows_per_unit(estimate.interval, estimate.rows, estimate.clusters),
        )
    return decide(condition, evidence, needed)


def _check_change(condition: Condition, metric: MetricComparison, how: How) -> GateResult:
    difference = metric.difference
    failed = metric.bounds.failed if metric.bounds else max(metric.base.failed, metric.new.failed)
    evidence = Evidence(
        difference.mean,
        difference.interval,
        difference.cautious,
        difference.rows,
        difference.clusters,
        difference.left_out,
        failed,
        metric.bounds,
        *how,
    )
    needed, plan, variance = None, "", difference.row_variance
    if is_alike(evidence):
        needed = needed_if_alike(condition, evidence)
    elif variance and difference.mean is not None and difference.interval is not None:
        odds = {"confidence": evidence.confidence, "power": evidence.power}
        needed = rows_to_decide(difference, condition.value, **odds)
        unchanged = difference.ties == difference.rows
        passing = rows_to_pass(difference, condition.value, **odds)
        if condition.value and unchanged:
            # As long as no score changes, the limits shrink with the rows, not with their root.
            shrunk = (difference.rows + 2) * difference.interval.high / condition.value
            passing = int(shrunk) if math.isfinite(shrunk) else None
        if unchanged and (needed is None or needed <= difference.rows):
            needed = passing
        elif needed is None or needed <= difference.rows:
            # The change lies near the margin itself, which takes more to tell apart than no change at all.
            unit_rows = rows_per_unit(difference.interval, difference.rows, difference.clusters)
            if difference.cautious:
                half = (difference.cautious.high - difference.cautious.low) / 2
                variance = max(variance, difference.rows * (half / normal_quantile(evidence.confidence)) ** 2)
            needed = rows_needed(variance, difference.mean - condition.limit, unit_rows=unit_rows, **odds)
        else:
            turn = condition.relation.removesuffix("s")
            plan = f"with a {turn} of twice that about {evidence.like(needed)} would fail"
            if passing is not None:
                plan = f"without a change about {evidence.like(passing)} would pass, {plan}"
    return decide(condition, evidence, needed, plan)
