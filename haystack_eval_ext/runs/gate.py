# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
A verdict for CI: fail on evidence of a regression, pass on evidence of none, inconclusive in between.

| condition | fail | pass |
|---|---|---|
| `M drops 0.02` | the interval of the change lies below 0, its mean below -0.02 | the lower limit lies above -0.02 |
| `M rises 0.02` | the interval lies above 0, its mean above 0.02 | the upper limit lies below 0.02 |
| `M < 0.8`, `M <= 0.8` | the upper limit of the mean lies below 0.8 | the lower limit lies above 0.8 |
| `M > 0.1`, `M >= 0.1` | the lower limit lies above 0.1 | the upper limit lies below 0.1 |

That is the rule "significant". Under the rule "strict" a change fails only where the whole interval lies beyond the
margin, which takes many more questions.

The conditions of one gate are a family (Holm 1979, under the rule "significant"): with k tests each fails by an
interval of confidence `1 - 0.05 / k`, once one has failed the others by one of `1 - 0.05 / (k - 1)`, and so on. Each
metric counts once for each direction, its mean and its change apart, and conditions without a score not at all. To pass
takes the interval of the confidence itself: more conditions make no false pass likelier.

A change of scores from 0 to 1 passes only if there are also enough rows for scores that do not change at all.
A mean's limit on the number itself belongs to the side that the condition names: `<=` fails there, `<` passes. Rows
that failed (a judge outage) or were not reached (a spent budget) leave the outcome open if it could be another one had
they been judged, whatever their scores (any number at all where nothing tells between which ends scores lie), unless
they are as few as `tolerate_failed` says; of a row with several answers the share that failed. So do rows that have a
score in one of two runs and are undefined in the other: nothing tells what changed there. A mean is that of the new run
alone, whatever the base run lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._conditions import Condition, parse_condition
from haystack_eval_ext.runs._gate_evidence import (
    evidence_of_change,
    evidence_of_mean,
    needed_for_mean,
    plan_for_change,
)
from haystack_eval_ext.runs._gate_family import corrected
from haystack_eval_ext.runs._gate_outcome import TOLERATED, Evidence, GateResult, How, Outcome, decide
from haystack_eval_ext.runs._gate_power import Rule
from haystack_eval_ext.runs._metric_comparison import metric_side
from haystack_eval_ext.runs._run_exports import shown, shown_interval, table_line
from haystack_eval_ext.runs._scored import nearest
from haystack_eval_ext.runs._spread import check_confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from haystack_eval_ext.runs._metric_comparison import MetricComparison, MetricSide
    from haystack_eval_ext.runs._scored import ScoredRun
    from haystack_eval_ext.runs.comparison import Comparison

__all__ = [
    "TOLERATED",
    "Condition",
    "GateResult",
    "Outcome",
    "Rule",
    "check_comparison",
    "check_conditions",
    "check_run",
    "exit_code",
    "markdown_table",
    "overall_outcome",
    "parse_condition",
    "rule_text",
]

_RULES = {
    "significant": "a change fails where its interval lies on one side of 0 and its mean beyond the margin",
    "strict": "a change fails where its whole interval lies beyond the margin",
    "mean": "the means alone decide",
}
_INCONCLUSIVE_CODES = {"pass": 0, "warn": 0, "fail": 3}


def check_run(
    run: ScoredRun,
    conditions: Iterable[str | Condition],
    *,
    by_mean: bool = False,
    tolerate_failed: float = TOLERATED,
    confidence: float = 0.95,
    power: float = 0.9,
    rule: Rule = "significant",
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
    :param rule: "significant" corrects several conditions for their number (Holm), "strict" does not.
    :returns: One result a condition.
    :raises ValueError: If a condition names no metric of the run, or takes two runs, or a parameter is out of its
        range.
    """
    how = _how(confidence, power, tolerate_failed, rule, by_mean=by_mean)
    parsed, checks = _parsed(conditions), []
    for condition in parsed:
        if condition.is_change:
            msg = (
                f"'{condition}' compares two runs, but here is one: use 'METRIC < NUMBER', or compare with a base run."
            )
            raise InvalidValueError(msg)
        _check_metric(condition, run.metrics)
        side = metric_side(run.metrics[condition.metric], clusters=run.clusters, confidence=confidence)
        checks.append(_mean_check(side, how))
    return _decided(parsed, checks)


def check_comparison(
    comparison: Comparison,
    conditions: Iterable[str | Condition],
    *,
    by_mean: bool = False,
    tolerate_failed: float = TOLERATED,
    rule: Rule = "significant",
) -> list[GateResult]:
    """
    Check the changes between two runs; a condition on a mean is checked as in the new run alone: on all of
    its rows that take part, whether or not the base run has a score there.

    :param comparison: The comparison, with its confidence and power.
    :param conditions: What fails it, such as `"ranking.R@10 drops 0.02"`.
    :param by_mean: Go by the means alone, without an interval.
    :param tolerate_failed: The share of rows that failed, or are undefined in one of two runs, that is taken to be like
        the others.
    :param rule: "significant": a change fails where its interval lies on one side of 0 and its mean beyond the margin;
        "strict": where the whole interval lies beyond the margin.
    :returns: One result a condition.
    :raises ValueError: If a condition names no metric that both runs have, or a parameter is out of its range.
    """
    how = _how(comparison.confidence, comparison.power, tolerate_failed, rule, by_mean=by_mean)
    parsed, checks = _parsed(conditions), []
    for condition in parsed:
        _check_metric(condition, comparison.metrics)
        metric = comparison.metrics[condition.metric]
        checks.append(_change_check(metric, how) if condition.is_change else _mean_check(metric.new_alone, how))
    return _decided(parsed, checks)


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
    return worst_outcome(result.outcome for result in results)


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """
    Give what several outcomes come to.

    :param outcomes: The outcomes.
    :returns: "fail" if one fails, else "inconclusive" if one is, else "pass".
    """
    found = set(outcomes)
    return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"


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
        raise InvalidValueError(msg)
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
    below = f"\n{rule_text(results)}\n" if results else ""
    return "\n".join(lines) + f"\n{below}"


def rule_text(results: Sequence[GateResult]) -> str:
    """
    Say by which rule a gate decided.

    :param results: Its results.
    :returns: One line; empty without results.
    """
    if not results:
        return ""
    rule = results[0].rule
    parts = [f"Rule {rule}: {_RULES[rule]}"]
    tests = max(result.tests for result in results)
    if tests > 1:
        parts.append(f"{tests} tests, corrected by Holm")
    parts.append(f"rows without a score are tolerated up to {results[0].tolerate_failed * 100:g} %")
    return "; ".join(parts)


def _parsed(conditions: Iterable[str | Condition]) -> list[Condition]:
    if isinstance(conditions, str):
        conditions = [conditions]
    return [each if isinstance(each, Condition) else parse_condition(each) for each in conditions]


def _how(confidence: float, power: float, tolerate_failed: float, rule: Rule, *, by_mean: bool) -> How:
    check_confidence(confidence)
    if not 0 <= tolerate_failed <= 1:
        msg = f"tolerate_failed must be a share from 0 to 1, but is {tolerate_failed!r}."
        raise InvalidValueError(msg)
    if rule not in get_args(Rule):
        msg = f"rule must be 'significant' or 'strict', but is {rule!r}."
        raise InvalidValueError(msg)
    return How(confidence, power, by_mean, tolerate_failed, rule)


def _check_metric(condition: Condition, known: Collection[str]) -> None:
    if condition.metric not in known:
        msg = f"'{condition}' names no metric of the run ({nearest(condition.metric, known)})."
        raise InvalidValueError(msg)


class _Check(NamedTuple):
    """What a condition is checked against, and what makes a plan where that does not decide."""

    evidence: Evidence
    plan: Callable[[Condition, Evidence], tuple[int | None, str]]


def _mean_check(side: MetricSide, how: How) -> _Check:
    def plan(condition: Condition, evidence: Evidence) -> tuple[int | None, str]:
        return needed_for_mean(condition, side.estimate, evidence), ""

    return _Check(evidence_of_mean(side, how), plan)


def _change_check(metric: MetricComparison, how: How) -> _Check:
    failed = metric.bounds.failed if metric.bounds else max(metric.base.failed, metric.new.failed)

    def plan(condition: Condition, evidence: Evidence) -> tuple[int | None, str]:
        return plan_for_change(condition, metric.difference, evidence)

    return _Check(
        evidence_of_change(metric.difference, how, failed=failed, bounds=metric.bounds, again=metric.again), plan
    )


def _decided(conditions: list[Condition], checks: list[_Check]) -> list[GateResult]:
    evidences = corrected(conditions, [check.evidence for check in checks])
    return [
        decide(condition, evidence, *check.plan(condition, evidence))
        for condition, evidence, check in zip(conditions, evidences, checks, strict=True)
    ]
