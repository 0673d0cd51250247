# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Conditions as users write them, the three outcomes at their edges, outages, exit codes and the table."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun, compare, metric_side
from haystack_eval_ext.runs.gate import (
    Condition,
    GateResult,
    check_comparison,
    check_run,
    exit_code,
    markdown_table,
    overall_outcome,
    parse_condition,
    rule_text,
)
from haystack_eval_ext.runs.statistics import mean_interval, paired_difference, rows_to_decide, wilson_interval
from scored_runs import ERROR, NOT_RUN, UNDEFINED, UNREACHED, clusters_of, rows, run


@pytest.mark.parametrize(
    ("text", "metric", "relation", "value"),
    [
        ("faithfulness < 0.8", "faithfulness", "<", 0.8),
        ("faithfulness<.8", "faithfulness", "<", 0.8),
        ("  a <= 1 ", "a", "<=", 1.0),
        ("a >= -1e-3", "a", ">=", -0.001),
        ("a > +2.", "a", ">", 2.0),
        ("recall@10 drops 0.02", "recall@10", "drops", 0.02),
        ("ranking.R@10 rises by 0.02", "ranking.R@10", "rises", 0.02),
        ("ranking.ERR(max_grade=4)@20 drops 0", "ranking.ERR(max_grade=4)@20", "drops", 0.0),
        ("nDCG(gain='exponential', k = 5)@10 < 0.5", "nDCG(gain='exponential', k = 5)@10", "<", 0.5),
        ("share > 3 > 0.5", "share > 3", ">", 0.5),
        ("price drops 3 drops 1", "price drops 3", "drops", 1.0),
        ("正解率 < 0.5", "正解率", "<", 0.5),
    ],
)
def test_conditions_are_read(text: str, metric: str, relation: str, value: float) -> None:
    condition = parse_condition(text)
    assert condition == Condition(metric, relation, value)  # type: ignore[arg-type]
    assert parse_condition(str(condition)) == condition


@given(st.floats(0, allow_infinity=False), st.sampled_from(["<", "<=", ">", ">=", "drops", "rises"]))
def test_a_condition_is_written_as_it_is_read(value: float, relation: Any) -> None:
    condition = Condition("R@10", relation, value)
    assert parse_condition(str(condition)) == condition
    assert str(Condition("m", "<", 0.123456789)) == "m < 0.123456789"
    assert str(Condition("m", "<", 1)) == "m < 1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "faithfulness",
        "< 0.8",
        "a < b",
        "a < nan",
        "a < 1e999",
        "a == 1",
        "a drops",
        "adrops 1",
        "a < 80%",
        "a falls 1",
        "a << 2",
        "a =< 2",
        "a => 2",
        "a <> 2",
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"A condition must be 'METRIC < NUMBER' \(or <=, >, >=\)"):
        parse_condition(text)


def test_margins_below_0_and_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="margin of a change must be at least 0, but is -"):
        parse_condition("a drops -0.02")
    with pytest.raises(TypeError, match="A condition must be text"):
        parse_condition(0.8)  # type: ignore[arg-type]


def check(scores: list[Any], condition: str, **options: Any) -> GateResult:
    return check_run(run(scores, clusters=options.pop("clusters", None)), [condition], **options)[0]


def change(base: list[Any], new: list[Any], condition: str, **options: Any) -> GateResult:
    return check_comparison(compare(run(base), run(new), resamples=0), [condition], **options)[0]


# Wilson's interval of 90 in 100: .8256 to .9448
NINETY = [1.0] * 90 + [0.0] * 10


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("m < 0.82", "pass"),
        ("m < 0.83", "inconclusive"),
        ("m < 0.94", "inconclusive"),
        ("m < 0.95", "fail"),
        ("m <= 0.95", "fail"),
        ("m > 0.95", "pass"),
        ("m > 0.94", "inconclusive"),
        ("m > 0.82", "fail"),
        ("m >= 0.82", "fail"),
    ],
)
def test_one_run_is_judged_by_its_interval(condition: str, outcome: str) -> None:
    result = check(NINETY, condition)
    assert result.outcome == outcome
    assert result.reason.startswith(f"{outcome}: m is 0.9000 (95 % 0.8256 to 0.9448)")
    assert (result.rows_needed is not None) == (outcome == "inconclusive")


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [("m < 0.9", "pass"), ("m <= 0.9", "fail"), ("m > 0.9", "pass"), ("m >= 0.9", "fail"), ("m < 0.91", "fail")],
)
def test_without_an_interval_the_mean_decides(condition: str, outcome: str) -> None:
    result = check(NINETY, condition, by_mean=True)
    assert (result.outcome, result.interval) == (outcome, None)
    assert "%" not in result.reason


# 20 up and 40 down of 600: -20/602 ± 1.96 sqrt((62/602 - (20/602)²)/602) = -.0332 ± .0255
BASE, NEW = [0.0] * 20 + [1.0] * 580, [1.0] * 20 + [0.0] * 40 + [1.0] * 540


@pytest.mark.parametrize(
    ("condition", "significant", "strict"),
    [
        ("m drops 0", "fail", "fail"),
        ("m drops 0.005", "fail", "fail"),
        ("m drops 0.01", "fail", "inconclusive"),
        ("m drops 0.033", "fail", "inconclusive"),
        ("m drops 0.034", "inconclusive", "inconclusive"),
        ("m drops 0.05", "inconclusive", "inconclusive"),
        ("m drops 0.06", "pass", "pass"),
        ("m rises 0", "pass", "pass"),
        ("m rises 0.01", "pass", "pass"),
    ],
)
def test_a_change_is_judged_by_its_interval_and_its_mean(condition: str, significant: Any, strict: Any) -> None:
    turned = condition.replace("drops", "?").replace("rises", "drops").replace("?", "rises")
    for rule, outcome in (("significant", significant), ("strict", strict)):
        result = change(BASE, NEW, condition, rule=rule)
        assert (result.outcome, result.rule) == (outcome, rule)
        assert result.reason.startswith(f"{outcome}: m changed by -0.0333 (95 % -0.0587 to -0.0077)")
        assert change(NEW, BASE, turned, rule=rule).outcome == outcome
    assert change(BASE, NEW, condition).outcome == significant


def test_a_margin_of_0_needs_a_change_that_is_certain_and_no_margin_is_refused() -> None:
    # 3 up and 6 down of 40
    base, new = [0.0] * 3 + [1.0] * 37, [1.0] * 3 + [0.0] * 6 + [1.0] * 31
    for rule in ("significant", "strict"):
        assert change(base, new, "m drops 0", rule=rule).outcome == "inconclusive"
        assert change(base, base, "m drops 0", rule=rule).outcome == "inconclusive"
    with pytest.raises(ValueError, match="'m drops' has no margin: 'm drops 0' fails at any drop that is certain"):
        parse_condition("m drops")
    with pytest.raises(ValueError, match="rule must be 'significant' or 'strict', but is 'lax'"):
        change(base, new, "m drops 0", rule="lax")


def test_a_drop_that_is_certain_and_beyond_the_margin_speaks_at_forty_questions() -> None:
    # 6 of 40 lost: -6/42 ± 1.96 sqrt((8/42 - (6/42)²)/42) = -.1429 ± .1247
    base, new = [1.0] * 40, [0.0] * 6 + [1.0] * 34
    assert change(base, new, "m drops 0.05").outcome == "fail"
    assert change(base, new, "m drops 0.05", rule="strict").outcome == "inconclusive"
    assert change(base, new, "m drops 0.16").outcome == "inconclusive"


def metrics_run(columns: dict[str, list[float]]) -> ScoredRun:
    return ScoredRun("run", [f"q{row}" for row in range(40)], {name: rows(column) for name, column in columns.items()})


def changes(losses: dict[str, int], conditions: list[str], **options: Any) -> list[GateResult]:
    """A gate over 0/1 metrics that lost so many of 40."""
    base = metrics_run({name: [1.0] * 40 for name in losses})
    new = metrics_run({name: [0.0] * lost + [1.0] * (40 - lost) for name, lost in losses.items()})
    return check_comparison(compare(base, new, resamples=0), conditions, **options)


def test_several_conditions_are_one_family() -> None:
    # 5 losses of 40 exclude 0 at 95 %: -5/42 ± 1.96 .0603; of two tests each takes 97.5 %: ± 2.241 .0603 = .1351
    names, condition = ["a", "b", "c", "d"], "a drops 0.05"
    alone = changes({"a": 5}, [condition])[0]
    assert (alone.outcome, alone.tests, alone.confidence) == ("fail", 1, 0.95)
    first, second = changes({"a": 5, "b": 0}, [condition, "b drops 0.05"])
    assert (first.outcome, first.tests) == ("inconclusive", 2)
    assert first.confidence == pytest.approx(0.975)
    why = "alone it would fail, but not among the 2 tests of this gate (Holm): 97.5 % -0.2541 to +0.0160 does not lie"
    assert f"{why} beyond 0; about " in first.reason
    assert (second.outcome, second.tests, second.confidence) == ("inconclusive", 2, 0.95)
    # What is certain among all leaves fewer for the others.
    found = changes({"a": 5, "b": 20}, [condition, "b drops 0.05"])
    assert [(result.outcome, result.confidence) for result in found] == [("fail", 0.95), ("fail", pytest.approx(0.975))]
    assert "also among the 2 tests of this gate (Holm: 97.5 % -0.6" in found[1].reason
    many = changes({"a": 8, "b": 20, "c": 9, "d": 5}, [f"{name} drops 0.05" for name in names])
    assert [result.outcome for result in many] == ["fail"] * 4
    # The margins of one direction are one test, and the order of the conditions does not matter.
    assert changes({"a": 5}, [condition, "a drops 0.02", "a drops 0.3"])[0].outcome == "fail"
    assert changes({"a": 5, "b": 0}, ["b drops 0.05", condition])[1] == first
    # Means belong to the family, metrics without a score do not; "strict" and the means alone know no family.
    assert changes({"a": 5, "b": 0}, [condition, "b < 0.1"])[0].tests == 2
    for options in ({"rule": "strict"}, {"by_mean": True}):
        found = changes({"a": 5, "b": 0}, [condition, "b drops 0.05"], **options)
        assert {result.tests for result in found} == {1}
    assert changes({"a": 12, "b": 0}, [condition, "b drops 0.05"], rule="strict")[0].outcome == "fail"


def test_limits_of_means_are_one_family_too() -> None:
    run_of = metrics_run({"a": [1.0] * 34 + [0.0] * 6, "b": [1.0] * 40})
    # Wilson's interval of 34 in 40 ends at .9294 for 95 % and at .9369 for 97.5 %.
    assert check_run(run_of, ["a < 0.93"])[0].outcome == "fail"
    found = check_run(run_of, ["a < 0.93", "b < 0.5"])
    assert [result.outcome for result in found] == ["inconclusive", "pass"]
    assert "(Holm): 97.5 % " in found[0].reason
    assert "does not lie beyond 0.93; about " in found[0].reason
    assert check_run(run_of, ["a < 0.93", "b < 0.5"], rule="strict")[0].outcome == "fail"


def test_the_rule_is_named_below_the_results() -> None:
    found = changes({"a": 5, "b": 0}, ["a drops 0.05", "b drops 0.05"])
    rule = "a change fails where its interval lies on one side of 0 and its mean beyond the margin"
    text = f"Rule significant: {rule}; 2 tests, corrected by Holm; rows without a score are tolerated up to 2 %"
    assert rule_text(found) == text
    assert markdown_table(found).splitlines()[-1] == text
    strict = changes({"a": 5}, ["a drops 0.05"], rule="strict", tolerate_failed=0.0)
    assert rule_text(strict).startswith(
        "Rule strict: a change fails where its whole interval lies beyond the margin; rows"
    )
    assert rule_text(strict).endswith("up to 0 %")
    assert rule_text(changes({"a": 5}, ["a drops 0.05"], by_mean=True)).startswith("Rule mean: the means alone decide")
    assert rule_text([]) == ""


def test_few_failed_rows_are_tolerated_by_default() -> None:
    fine = [1.0] * 138
    for failed, tolerated, outcome in ((2, None, "pass"), (3, None, "inconclusive"), (2, 0.0, "inconclusive")):
        options = {} if tolerated is None else {"tolerate_failed": tolerated}
        result = change([*fine, *[1.0] * failed], [*fine, *[ERROR] * failed], "m drops 0.02", **options)
        assert (result.outcome, result.tolerate_failed) == (outcome, tolerated or 0.02 * (tolerated is None))
        assert ("2 rows could not be judged (tolerated: up to 2 %)" in result.reason) == (outcome == "pass")


def test_the_limit_itself_is_neither_pass_nor_fail() -> None:
    difference = paired_difference(BASE, NEW)
    assert difference.interval is not None
    comparison = compare(run(BASE), run(NEW), resamples=0)
    for limit in difference.interval[:2]:
        condition = Condition("m", "drops", -limit)
        assert check_comparison(comparison, [condition], rule="strict")[0].outcome == "inconclusive"
    assert difference.mean is not None
    for limit in (difference.mean, difference.interval.low):
        assert check_comparison(comparison, [Condition("m", "drops", -limit)])[0].outcome == "inconclusive"


def test_a_change_by_the_mean_ignores_rounding() -> None:
    assert 0.88 - 0.9 < -0.02
    base, new = [0.9] * 4, [0.88] * 4
    assert change(base, new, "m drops 0.02", by_mean=True).outcome == "pass"
    assert change(base, new, "m drops 0.019", by_mean=True).outcome == "fail"


def test_few_questions_are_inconclusive_and_the_reason_says_how_many_it_takes() -> None:
    base, new = [0.0] * 2 + [1.0] * 38, [1.0] * 2 + [0.0] * 2 + [1.0] * 36
    result = change(base, new, "m drops 0.02")
    assert result.outcome == "inconclusive"
    assert result.rows_needed == rows_to_decide(paired_difference(base, new), 0.02)
    # (1.959964 + 1.281552)² · 40 · (6/42)/42 / .0004 = 3573.9
    assert result.rows_needed == 3574
    plan = "without a change about 3574 would pass, with a drop of twice that about 1093 would fail"
    assert result.reason.endswith(f"40 questions are too few: {plan}")
    strict = change(base, new, "m drops 0.02", rule="strict")
    assert strict.rows_needed == rows_to_decide(paired_difference(base, new), 0.02, rule="strict")
    plan = f"without a change about 3574 would pass, with a drop of twice that about {strict.rows_needed} would fail"
    assert strict.reason.endswith(f"40 questions are too few: {plan}")
    single = check([1.0] * 34 + [0.0] * 6, "m < 0.8")
    # Wilson's null variance .8 · .2, variance .85 · .15 · 40/39, difference .05, z of .975 and .9
    expected = ((1.959964 * (0.16 * 40 / 39) ** 0.5 + 1.281552 * (0.1275 * 40 / 39) ** 0.5) / 0.05) ** 2
    assert single.rows_needed == pytest.approx(expected, abs=1)
    assert single.reason.endswith(f"40 questions are too few: about {single.rows_needed} like these would decide")


def test_unchanged_scores_pass_once_there_are_enough_of_them() -> None:
    result = change([1.0] * 40, [1.0] * 40, "m drops 0.02")
    assert result.outcome == "inconclusive"
    # z sqrt(2) / .02 = 138.6
    assert "40 questions are too few: without a change about 138 would pass" in result.reason
    assert change([1.0] * 138, [1.0] * 138, "m drops 0.02").outcome == "pass"


def test_a_change_near_the_margin_takes_more_than_the_plan() -> None:
    comparison = compare(run(BASE * 3), run(NEW * 3), resamples=0)
    result = check_comparison(comparison, ["m drops 0.035"])[0]
    assert result.outcome == "inconclusive"
    assert result.rows_needed is not None
    assert result.rows_needed > 1800
    never = check([1.0] * 8 + [0.0] * 2, "m < 0.8")
    assert (never.outcome, never.rows_needed) == ("inconclusive", None)
    assert "no number of questions like these would decide" in never.reason


@pytest.mark.parametrize(
    ("failed", "outcome"),
    # .9448 at most for 100 rows; with f rows that would all have got 1: .9448 + (90 + f)/(100 + f) - .9
    [(0, "fail"), (1, "fail"), (4, "fail"), (40, "inconclusive")],
)
def test_an_outage_is_inconclusive_where_the_failed_rows_could_turn_it(failed: int, outcome: str) -> None:
    result = check([*NINETY, *[ERROR] * failed], "m < 0.951")
    assert (result.outcome, result.failed) == (outcome, failed)
    if outcome == "inconclusive":
        assert "the scores of 40 rows that could not be judged could change that" in result.reason
        assert result.rows_needed is None
    assert check([*NINETY, *[ERROR] * failed], "m < 0.951", tolerate_failed=0.5).outcome == "fail"


def test_an_outage_does_not_pass_a_change() -> None:
    fine = [1.0, 0.0] * 300
    few, many = fine[:-2] + [ERROR] * 2, fine[:-40] + [ERROR] * 40
    assert change(fine, few, "m drops 0.02").outcome == "pass"
    result = change(fine, many, "m drops 0.02")
    assert result.outcome == "inconclusive"
    assert "the scores of 40 rows that could not be judged could change that" in result.reason
    assert change(fine, many, "m drops 0.02", tolerate_failed=0.1).outcome == "pass"
    assert change(fine, many, "m drops 0.02", by_mean=True).outcome == "inconclusive"
    # A budget that ran out on one side only is the same.
    assert change(fine, fine[:-40] + [NOT_RUN] * 40, "m drops 0.02").outcome == "inconclusive"
    assert change(fine[:-40] + [NOT_RUN] * 40, fine[:-40] + [NOT_RUN] * 40, "m drops 0.02").outcome == "pass"


def test_rows_behind_a_spent_budget_do_not_pass() -> None:
    ended, left_out = [1.0] * 20 + [UNREACHED] * 280, [1.0] * 20 + [NOT_RUN] * 280
    result = check(ended, "m < 0.8")
    assert (result.outcome, result.failed, result.rows) == ("inconclusive", 280, 20)
    assert result.reason.endswith("the scores of 280 rows that could not be judged could change that")
    assert check(ended, "m < 0.8", by_mean=True).outcome == "inconclusive"
    assert check(ended, "m < 0.8", tolerate_failed=0.94).outcome == "pass"
    # Those that were not to be scored leave nothing open.
    result = check(left_out, "m < 0.8")
    assert (result.outcome, result.failed) == ("pass", 0)
    assert result.reason.endswith("280 rows without a score were left out")
    # Of a change too, whichever run it was.
    fine, half = [1.0] * 300, [1.0] * 150 + [UNREACHED] * 150
    for base, new, turn in ((fine, half, "drops"), (half, fine, "rises"), (half, half, "drops")):
        result = change(base, new, f"m {turn} 0.02")
        assert (result.outcome, result.failed) == ("inconclusive", 150)
    side = metric_side(rows(half))
    assert (side.failed, side.not_run) == (0, 150)


def test_a_mean_in_a_comparison_is_that_of_the_new_run_alone() -> None:
    # The base run's outage hides the half that is wrong.
    base, new = [1.0] * 150 + [ERROR] * 150, [1.0] * 150 + [0.0] * 150
    result = change(base, new, "m < 0.9")
    assert result == check(new, "m < 0.9")
    assert (result.outcome, result.value, result.rows, result.failed) == ("fail", 0.5, 300, 0)
    # Rows that failed in the new run bound it, those of the base run do not.
    assert change([1.0] * 300, [1.0] * 290 + [ERROR] * 10, "m < 0.95") == check([1.0] * 290 + [ERROR] * 10, "m < 0.95")
    # Of the shared rows those that take part.
    joined = compare(run(base), run(new[100:200], ids=[f"q{row}" for row in range(100, 200)]), common=True, resamples=0)
    result = check_comparison(joined, ["m < 0.9"])[0]
    assert (result.value, result.rows) == (0.5, 100)
    # The comparison's own mean stays that of the pairs.
    assert joined.metrics["m"].new.estimate.mean == 1.0


def test_a_touched_row_does_not_pass_where_unchanged_ones_do_not() -> None:
    touched = [1.0] * 39 + [0.999]
    for new in ([1.0] * 40, touched):
        result = change([1.0] * 40, new, "m drops 0.02")
        assert result.outcome == "inconclusive"
        assert re.search("without a change about 13[78] would pass", result.reason)
    assert change([1.0] * 138, [1.0] * 99 + touched[1:], "m drops 0.02").outcome == "pass"
    # Clusters are the units here too, and both directions count.
    clusters = clusters_of(300, 30)
    new = [1.0] * 299 + [0.999]
    comparison = compare(run([1.0] * 300, clusters=clusters), run(new, clusters=clusters), resamples=0)
    results = check_comparison(comparison, ["m drops 0.1", "m rises 0.1", "m drops 0.3"])
    assert [result.outcome for result in results] == ["inconclusive", "inconclusive", "pass"]
    # By the mean alone it is the mean alone.
    assert change([1.0] * 40, touched, "m drops 0.02", by_mean=True).outcome == "pass"


def test_unchanged_scores_beyond_0_to_1_pass_once_there_are_as_many_as_the_reason_says() -> None:
    assert change([0.9] * 299 + [-0.01], [0.9] * 299 + [-0.01], "m drops 0.02").outcome == "pass"
    percent = [float(row % 101) for row in range(1400)]
    result = change(percent[:300], percent[:300], "m drops 0.2")
    assert result.outcome == "inconclusive"
    # z sqrt(2) 100 / .2 = 1385.9
    assert result.rows_needed == 1385
    assert result.reason.endswith("300 questions are too few: about 1385 like these would decide")
    assert change(percent[:1385], percent[:1385], "m drops 0.2").outcome == "pass"


@pytest.mark.parametrize(
    ("base", "new", "reason"),
    [
        ([ERROR, ERROR], [1, 1], "inconclusive: no row has a score in both runs; 2 rows could not be judged"),
        ([UNDEFINED], [1], "inconclusive: no row has a score in both runs; 1 row without a score was left out"),
        ([0.25], [0.5], "inconclusive: m changed by +0.2500; one row does not tell how far the mean can be off"),
    ],
)
def test_without_evidence_nothing_is_decided(base: list[Any], new: list[Any], reason: str) -> None:
    assert change(base, new, "m drops 0.02").reason == reason


def test_one_cluster_is_named() -> None:
    clusters = ["a"] * 20
    reason = "all rows are of one cluster, which does not tell how far the mean can be off"
    assert check([0.5, 0.7] * 10, "m < 0.1", clusters=clusters).reason.endswith(reason)
    comparison = compare(run([0.5, 0.7] * 10, clusters=clusters), run([0.1] * 20, clusters=clusters), resamples=0)
    assert check_comparison(comparison, ["m drops 0.1"])[0].reason.endswith(reason)


def test_scores_that_are_all_alike_decide_once_there_are_enough_of_them() -> None:
    # In 300 rows others have a share of 1 - .025^(1/300) = .0122 at most: .5 ± .0122 · .5
    result = check([0.5] * 300, "m < 0.8")
    assert result.reason == "fail: m is 0.5000 (95 % 0.4939 to 0.5061)"
    assert check([0.5] * 300, "m < 0.3").outcome == "pass"
    few = check([0.5] * 6, "m < 0.6")
    assert few.outcome == "inconclusive"
    # log(.025)/log(1 - .1/.5) = 16.53
    assert few.rows_needed == 17
    assert check([0.5] * 16, "m < 0.6").outcome == "inconclusive"
    assert check([0.5] * 17, "m < 0.6").outcome == "fail"
    # Beyond 0 to 1, as far as twice the value: log(.025)/log(1 - 2/10) again
    assert check([5.0] * 6, "m < 7").rows_needed == 17
    assert [check([5.0] * rows, "m < 7").outcome for rows in (16, 17)] == ["inconclusive", "fail"]


def test_a_drop_that_is_the_same_everywhere_decides_once_there_are_enough_rows() -> None:
    # log(.025)/log(1 - .15/1.2) = 27.6: 1.2 upwards of -.2 is the most that a change could be, .15 is how far -.05 is
    few = change([0.9] * 8, [0.7] * 8, "m drops 0.05")
    # log(.025)/log(1 - .2/1.2) = 20.2 keeps it off 0
    assert (few.outcome, few.rows_needed) == ("inconclusive", 21)
    assert few.reason.endswith("8 questions are too few: about 21 like these would decide")
    for rule, enough in (("significant", 21), ("strict", 28)):
        found = [change([0.9] * count, [0.7] * count, "m drops 0.05", rule=rule) for count in (8, enough - 1, enough)]
        assert found[0].rows_needed == enough
        assert [result.outcome for result in found[1:]] == ["inconclusive", "fail"]
    assert change([0.9] * 28, [0.7] * 28, "m drops 0.5").outcome == "pass"
    never = change([0.9] * 28, [0.7] * 28, "m drops 0.2")
    assert (never.outcome, never.rows_needed) == ("inconclusive", None)
    # Scores that do not change at all, whatever their range
    assert change([5.0] * 300, [5.0] * 300, "m drops 0.1").outcome == "pass"


def partly_failed(count: int, failed: int, share: float) -> ScoredRun:
    made = MetricRows([0.5] * count, ["scored"] * count, failed=[share] * failed + [0.0] * (count - failed))
    return ScoredRun("new", [f"q{row}" for row in range(count)], {"m": made})


def test_answers_that_failed_count_by_their_share() -> None:
    base = run([0.5] * 300)
    fine, worse = (
        check_comparison(compare(base, partly_failed(300, failed, 2 / 3), resamples=0), ["m drops 0.05"])[0]
        for failed in (3, 60)
    )
    assert (fine.outcome, fine.failed) == ("pass", 3)
    assert fine.reason.endswith("; 3 rows could not be judged, 3 of them in part (tolerated: up to 2 %)")
    # 60 · 2/3 of 300 rows could be worse by .5: .067 in all
    assert (worse.outcome, worse.failed) == ("inconclusive", 60)
    assert worse.reason.endswith(
        "the scores of 60 rows that could not be judged (60 of them in part) could change that"
    )
    comparison = compare(base, partly_failed(300, 60, 2 / 3), resamples=0)
    for tolerated, outcome in ((0.13, "inconclusive"), (0.14, "pass")):
        assert check_comparison(comparison, ["m drops 0.05"], tolerate_failed=tolerated)[0].outcome == outcome
    assert check_run(partly_failed(300, 60, 2 / 3), ["m < 0.48"])[0].outcome == "inconclusive"
    assert check_run(partly_failed(300, 1, 2 / 3), ["m < 0.48"])[0].outcome == "pass"


def test_rows_that_became_undefined_do_not_pass_silently() -> None:
    fine = [1.0, 0.5] * 150
    for lost, outcome in ((2, "pass"), (100, "inconclusive")):
        new = [*fine[:-lost], *[UNDEFINED] * lost]
        for result in (change(fine, new, "m drops 0.05"), change(new, fine, "m rises 0.05")):
            assert (result.outcome, result.failed) == (outcome, 0)
            assert f"{lost} rows" in result.reason
            assert "undefined in one run only" in result.reason
        assert change(fine, new, "m drops 0.05", tolerate_failed=0.4).outcome == "pass"
        assert change(new, new, "m drops 0.05").reason.endswith(f"; {lost} rows without a score were left out")
    # What fell anyhow fails, whatever they were.
    assert change(fine, [0.0] * 290 + [UNDEFINED] * 10, "m drops 0.05").outcome == "fail"


def test_clusters_count() -> None:
    scores = [1.0] * 270 + [0.0] * 30
    assert check(scores, "m < 0.85").outcome == "pass"
    clustered = check(scores, "m < 0.85", clusters=clusters_of(300, 30))
    assert clustered.outcome == "inconclusive"
    assert clustered.interval == mean_interval(scores, clusters=clusters_of(300, 30)).interval


def test_a_mean_is_checked_in_a_comparison_too() -> None:
    comparison = compare(run([1.0] * 100), run(NINETY), resamples=0)
    results = check_comparison(comparison, ["m < 0.95", "m drops 0.3"])
    assert [result.outcome for result in results] == ["fail", "pass"]
    assert results[0].interval == wilson_interval(90, 100)


def test_unpaired_runs_can_be_checked() -> None:
    new = run(NINETY, ids=[f"other-{row}" for row in range(100)])
    comparison = compare(run([1.0] * 100), new, unpaired=True)
    assert [
        result.outcome for result in check_comparison(comparison, ["m drops 0.01", "m drops 0.2", "m drops 0.1"])
    ] == [
        "fail",
        "pass",
        "inconclusive",
    ]


def test_metrics_that_are_not_there_are_named_with_the_nearest() -> None:
    scored = ScoredRun("run", ["a"], {"ranking.R@10": rows([1]), "ranking.nDCG@10": rows([1])})
    for text, near in (("R@10 < 1", "nearest: 'ranking.R@10'"), ("ranking.ndgc@10 < 1", "nearest: 'ranking.nDCG@10'")):
        with pytest.raises(ValueError, match=rf"names no metric of the run \({near}"):
            check_run(scored, [text])
        with pytest.raises(ValueError, match=rf"names no metric of the run \({near}"):
            check_comparison(compare(scored, scored), [text])
    with pytest.raises(ValueError, match=r"\(there are: 'ranking.R@10', 'ranking.nDCG@10'\)"):
        check_run(scored, ["x < 1"])
    with pytest.raises(ValueError, match="compares two runs, but here is one"):
        check_run(scored, ["ranking.R@10 drops 0.1"])
    with pytest.raises(ValueError, match="tolerate_failed must be a share from 0 to 1, but is 5"):
        check_run(scored, [], tolerate_failed=5)


@pytest.mark.parametrize(
    ("outcome", "inconclusive", "code"),
    [
        ("pass", "fail", 0),
        ("fail", "pass", 1),
        ("inconclusive", "pass", 0),
        ("inconclusive", "warn", 0),
        ("inconclusive", "fail", 3),
    ],
)
def test_exit_codes(outcome: Any, inconclusive: Any, code: int) -> None:
    assert exit_code(outcome, inconclusive) == code
    assert exit_code("inconclusive") == 0
    with pytest.raises(ValueError, match="inconclusive 'pass', 'warn' or 'fail'"):
        exit_code("pass", "block")  # type: ignore[arg-type]


def test_one_failure_fails_the_gate_and_the_table_shows_all() -> None:
    results = check_run(run(NINETY), ["m < 0.82", "m < 0.9", "m < 0.95"])
    assert [overall_outcome(results[:count]) for count in range(4)] == ["pass", "pass", "inconclusive", "fail"]
    table = markdown_table(results).splitlines()
    assert table[0] == "| fails if | outcome | value | interval | questions | reason |"
    assert table[2].startswith("| m &lt; 0.82 | ✅ pass | 0.9000 | 0.8256 to 0.9448 | 100 | pass: m is 0.9000")
    assert [line.split(" | ")[1] for line in table[3:5]] == ["⚠️ inconclusive", "❌ fail"]
    odd = check_run(run([1.0], metric="a|b"), ["a|b < 0.5"])
    assert markdown_table(odd).splitlines()[2].startswith(r"| a\|b &lt; 0.5 |")
    assert markdown_table(check_run(run([0.5]), ["m < 0.7"])).splitlines()[2].split(" | ")[3] == "–"


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60), st.floats(0, 0.5))
def test_a_larger_margin_never_makes_it_worse(pairs: list[tuple[int, int]], margin: float) -> None:
    base, new = map(list, zip(*pairs, strict=True))
    order = ["fail", "inconclusive", "pass"]
    smaller, larger = (change(base, new, f"m drops {size:.6f}").outcome for size in (margin, margin + 0.1))
    assert order.index(smaller) <= order.index(larger)


@pytest.mark.parametrize("clusters", [None, ["a"]])
def test_one_row_is_said_to_tell_nothing(clusters: Any) -> None:
    (result,) = check_run(run([1.0], clusters=clusters), ["m < 0.6"])
    assert result.outcome == "inconclusive"
    assert "one row does not tell" in result.reason
    assert "no number of questions" not in result.reason


@pytest.mark.parametrize("by_mean", [False, True])
def test_rows_that_failed_may_lie_outside_the_scores_seen(by_mean: bool) -> None:
    """Ten scores of 1 would make the mean 3.8."""
    seen = [4.0, 5.0] * 20
    result = check([*seen, *[ERROR] * 10], "m < 4.1", by_mean=by_mean)
    assert result.outcome == "inconclusive"
    assert result.reason.endswith(
        "the scores of 10 rows that could not be judged could change that, for nothing says between which ends such "
        "scores lie"
    )
    assert check(seen, "m < 4.1", by_mean=by_mean).outcome == "pass"
    assert check([*seen, *[ERROR] * 10], "m < 4.1", by_mean=by_mean, tolerate_failed=0.2).outcome == "pass"
    assert check([*seen, *[ERROR] * 10], "m < 5.5", by_mean=by_mean).outcome == "inconclusive"
    for unpaired in (False, True):
        new = run([*seen, *[ERROR] * 10], name="new")
        comparison = compare(run(seen + [4.0] * 10, name="base"), new, unpaired=unpaired)
        (found,) = check_comparison(comparison, ["m drops 0.5"], by_mean=by_mean)
        assert found.outcome == "inconclusive"
    # Undefined rows without a partner, and rows that did not fail, leave no ends open.
    assert check([*seen, UNDEFINED], "m < 4.1", by_mean=by_mean).outcome == "pass"
