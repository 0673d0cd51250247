# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a gate is said to find before anything is run: by simulation, from a size alone, from a first run."""

from typing import Any

import numpy as np
import pytest

from gate_worlds import RULES, Column, outcomes_of, owners_of, shares
from haystack_eval_ext.runs._conditions import parse_condition
from haystack_eval_ext.runs._forecast import Forecast, forecast_lines, forecast_of_run, forecast_of_size
from haystack_eval_ext.runs._gate_power import ChangeSpread, Rule, chance_to_fail, rows_to_fail, smallest_drop
from haystack_eval_ext.runs.comparison import ScoredRun
from scored_runs import ERROR, clusters_of, rows, run


def changed(gained: int, lost: int, same: int) -> tuple[Column, Column]:
    """0/1 scores of which so many change; of the others 80 % are 1."""
    others = (np.arange(same) < 0.8 * same) * 1.0
    base, new = np.repeat([0.0, 1.0], [gained, lost]), np.repeat([1.0, 0.0], [gained, lost])
    return np.concatenate([base, others]), np.concatenate([new, others])


def found_in(count: int, noise: float, drop: float, margin: float, rule: Rule, repeats: int) -> float:
    """How often a gate fails where a share of 0/1 scores changes, half of them either way, and a share is lost."""
    shares_of = [noise / 2, noise / 2 + drop, 1 - noise - drop]
    drawn = np.random.default_rng(29).multinomial(count, shares_of, repeats)
    # A gate on 0/1 scores goes by these numbers alone: each combination is decided once.
    fails = 0
    for numbers, times in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        ((outcome,),) = outcomes_of([changed(*numbers)], None, margin, [rule])
        fails += int(times) * (outcome == "fail")
    return fails / repeats


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("count", "noise", "margin"), [(40, 0.2, 0.05), (60, 0.1, 0.0), (100, 0.3, 0.1)])
def test_a_drop_that_is_named_fails_nine_times_in_ten(count: int, noise: float, margin: float, rule: Rule) -> None:
    drop = smallest_drop(ChangeSpread(noise, tied=True), count, margin, rule=rule)
    assert drop is not None
    assert found_in(count, noise, drop, margin, rule, 300) == pytest.approx(0.9, abs=0.07)
    # Half of it is far from certain.
    assert found_in(count, noise, drop / 2, margin, rule, 100) < 0.65


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("noise", [0.05, 0.2, 0.3])
@pytest.mark.parametrize("count", [40, 60, 100, 300])
def test_named_drops_of_shares_are_found_as_often_as_said(count: int, noise: float, margin: float, rule: Rule) -> None:
    drop = smallest_drop(ChangeSpread(noise, tied=True), count, margin, rule=rule)
    assert drop is not None
    assert 0.85 <= found_in(count, noise, drop, margin, rule, 5000) <= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [40, 100, 300])
def test_chances_of_graded_scores_are_those_of_simulated_gates(count: int, rule: Rule, clustered: bool) -> None:
    # Changes: twice .08² of a row's own, and as much of its cluster, which is alone in its row without clusters. The
    # clusters have 5 rows, Σ n² / Σ n = 5² + 6 2/3 over 5 = 6.33.
    design = (1 + 6.33) / 2 if clustered else 1.0
    spread = ChangeSpread(4 * 0.08**2 * design, 0.0, design, 5.0 if clustered else None)
    for margins in (0.5, 1.0, 2.0):
        said = chance_to_fail(spread, count, margins * 0.05, 0.05, rule=rule)
        found = shares("graded", count, margins, 1000, clustered=clustered)[rule]["fail"]
        assert said == pytest.approx(found, abs=0.08 if clustered else 0.05)


def test_chances_at_the_edges() -> None:
    graded = ChangeSpread(0.04, 0.0)
    assert chance_to_fail(graded, 1, 0.5, 0.05) == 0.0
    assert chance_to_fail(ChangeSpread(0.04, 0.0, 1.0, 10.0), 10, 0.5, 0.05) == 0.0
    # t of 99 degrees of freedom at .975: from 1.9842 · .02 = .0397 on it is certain, and half the runs lie beyond
    assert chance_to_fail(graded, 100, 0.0397, 0.0) == pytest.approx(0.5, abs=0.01)
    assert chance_to_fail(graded, 100, 0.05, 0.05) == pytest.approx(0.5)
    assert chance_to_fail(graded, 100, 0.0897, 0.05, rule="strict") == pytest.approx(0.5, abs=0.01)
    # Without any spread a drop is there or not.
    assert [chance_to_fail(ChangeSpread(0.0, 0.0), 40, drop, 0.05) for drop in (0.049, 0.051)] == [0.0, 1.0]
    # More tests take more.
    assert chance_to_fail(graded, 100, 0.06, confidence=0.99) < chance_to_fail(graded, 100, 0.06)
    # (1.9842 + 1.2816) · .02 = .0653
    assert smallest_drop(graded, 100) == pytest.approx(0.0653, abs=1e-4)
    assert smallest_drop(graded, 100, most=0.06) is None
    needed = rows_to_fail(graded, 0.1, 0.05)
    assert needed is not None
    assert [chance_to_fail(graded, count, 0.1, 0.05) >= 0.9 for count in (needed - 1, needed)] == [False, True]
    assert rows_to_fail(graded, 0.05, 0.05) is None
    with pytest.raises(ValueError, match=r"power must be at least 0\.5"):
        smallest_drop(graded, 100, power=0.3)


def test_the_size_alone_is_enough_with_what_is_assumed() -> None:
    (found,) = forecast_of_size(60)
    assert found.text == "With 60 questions a drop of 0.26 fails nine times in ten"
    line = (
        "With 60 questions a drop of 0.26 fails nine times in ten (assumed: 0/1 scores of which 20 % change by chance)."
    )
    assert forecast_lines([found]) == [line]
    assert forecast_of_size(5)[0].text == "With 5 questions no drop fails nine times in ten"
    assert forecast_of_size(1)[0].text == "With 1 question no drop fails nine times in ten"
    assert forecast_of_size(60, power=0.8)[0].text.endswith("fails four times in five")
    assert forecast_of_size(60, power=0.85)[0].text.endswith("fails with a chance of 85 %")


def test_conditions_bring_their_margin_and_their_family() -> None:
    conditions = [parse_condition(text) for text in ("recall drops 0.05", "latency rises 0.3", "faithfulness < 0.8")]
    found = forecast_of_size(100, conditions)
    assert [(each.metric, each.turn, each.margin) for each in found] == [
        ("recall", "drop", 0.05),
        ("latency", "rise", 0.3),
    ]
    three = ChangeSpread(0.2, tied=True), 100, 0.05
    assert found[0].smallest == smallest_drop(*three, confidence=1 - 0.05 / 3)
    # D = .3 + 1.281552 √((.2 + D - D²) / 100)
    assert found[1].smallest == pytest.approx(0.3847, abs=1e-4)
    assert forecast_of_size(100, conditions, rule="strict")[0].smallest == smallest_drop(*three, rule="strict")
    lines = forecast_lines(found)
    assert lines[0] == "What a gate finds in these questions (assumed: 0/1 scores of which 20 % change by chance):"
    assert lines[1].startswith("  recall: with 100 questions a drop of 0.2")
    assert lines[2].startswith("  latency: with 100 questions a rise of 0.38 fails")
    # Means alone: there is no change to find.
    assert forecast_of_size(100, [conditions[2]]) == []


def forecast_of(scores: list[Any], **options: Any) -> Forecast:
    clusters = options.pop("clusters", None)
    (found,) = forecast_of_run(run(scores, clusters=clusters), **options)
    return found


def test_a_run_brings_its_scores() -> None:
    mixed = forecast_of([1.0] * 48 + [0.0] * 12)
    assert (mixed.rows, mixed.if_alike) == (60, None)
    assert mixed.smallest == pytest.approx(forecast_of_size(60)[0].smallest)
    # Of 59 right answers in 60 no 20 % change by chance: 2 · 59 / 60² = 3.3 % differ.
    high = forecast_of([1.0] * 59 + [0.0])
    assert high.smallest == pytest.approx(smallest_drop(ChangeSpread(2 * 59 / 3600, tied=True), 60))
    assert high.text == f"m: with 60 questions a drop of {high.smallest:.2g} fails nine times in ten"
    # A drop from .1 to 0 is all there can be.
    assert forecast_of([1.0] * 2 + [0.0] * 18).text == "m: with 20 questions no drop fails nine times in ten"
    # Rows without a score are none of the questions, and metrics without any have no forecast.
    assert forecast_of([1.0] * 48 + [0.0] * 12 + [ERROR] * 5).rows == 60
    assert forecast_of_run(run([ERROR, 1.0])) == []


@pytest.mark.parametrize("scores", [[0.8] * 40, [2.0] * 40])
def test_scores_without_spread_say_nothing_of_changes_that_are_alike(scores: list[Any]) -> None:
    found = forecast_of(scores)
    assert found.if_alike is None
    assert "alike" not in found.text


def test_graded_scores_have_two_answers() -> None:
    scores = [0.5 + place / 200 for place in range(100)]
    found = forecast_of(scores)
    variance = 0.2 * 2 * float(np.var(scores)) / 0.99
    assert found.smallest == pytest.approx(smallest_drop(ChangeSpread(variance, 1.0), 100))
    assert found.if_alike == pytest.approx(smallest_drop(ChangeSpread(variance, 0.0), 100))
    assert found.text.endswith(
        f"a drop of {found.smallest:.2g} fails nine times in ten (0.03 if all scores drop alike)"
    )
    # Scores beyond 0 to 1 change within what was seen.
    percent = forecast_of([100 * score for score in scores])
    assert percent.if_alike == pytest.approx(100 * (found.if_alike or 0))
    # Clusters take more: here all rows of one are alike.
    clustered = forecast_of([scores[place // 5 * 5] for place in range(100)], clusters=clusters_of(100, 5))
    assert clustered.smallest is None or clustered.smallest > 1.5 * (found.smallest or 0)


def test_what_changes_by_chance_is_measured_where_questions_have_several_answers() -> None:
    scores = [0.5 + place / 200 for place in range(100)]
    found = forecast_of(scores, within={"m": 0.1}, answers=4)
    assert found.if_alike == pytest.approx(smallest_drop(ChangeSpread(2 * 0.01 / 4, 0.0), 100))
    assert found.assumption == "scores change by chance as between the 4 answers to a question"
    assert forecast_of(scores, within={"m": None}, answers=4).assumption == "20 % of the scores change by chance"


def test_conditions_of_a_run_are_checked_and_metrics_of_which_lower_is_better_rise() -> None:
    scored = ScoredRun(
        "run",
        [f"q{place}" for place in range(40)],
        {"fine": rows([1.0] * 30 + [0.0] * 10), "wrong": rows([0.0] * 30 + [1.0] * 10, lower_is_better=True)},
    )
    assert [(each.metric, each.turn) for each in forecast_of_run(scored)] == [("fine", "drop"), ("wrong", "rise")]
    assert forecast_of_run(scored)[0].smallest == forecast_of_run(scored)[1].smallest
    assert [each.metric for each in forecast_of_run(scored, [parse_condition("wrong rises 0.05")])] == ["wrong"]
    with pytest.raises(ValueError, match=r"'fin drops 0\.05' names no metric of the run"):
        forecast_of_run(scored, [parse_condition("fin drops 0.05")])


def test_clusters_are_drawn_with_five_rows() -> None:
    owners, clusters = owners_of(np.random.default_rng(0), 5000, clustered=True)
    assert clusters is not None
    assert 5000 / len(set(clusters)) == pytest.approx(5, abs=0.3)
    assert len(owners) == 5000
