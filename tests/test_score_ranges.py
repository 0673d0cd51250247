# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Ranges that metrics declare: kept with a run, and known to intervals, gates, comparisons and forecasts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack import component

from haystack_eval_ext.errors import ComparisonError, EvaluationError, RunFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._forecast import forecast_of_run
from haystack_eval_ext.runs._metric_comparison import metric_side
from haystack_eval_ext.runs._metric_info import MetricInfo
from haystack_eval_ext.runs.comparison import ScoredRun, compare
from haystack_eval_ext.runs.gate import check_comparison, check_run
from haystack_eval_ext.runs.run import EvaluationRun
from haystack_eval_ext.runs.statistics import Difference, mean_interval, paired_difference, unpaired_difference
from kept_runs import data, evaluators
from scored_runs import ERROR, rows

# 96 % fives
GRADES = [5.0] * 24 + [3.0]


@component
class Grades:
    """Gives answers the grades that it was made with."""

    score_range: Any = (1, 5)

    def __init__(self, given: list[float]) -> None:
        self.given = given

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, predicted_answers: list[str]) -> dict[str, Any]:
        return {"score": float(np.mean(self.given)), "individual_scores": self.given[: len(predicted_answers)]}


def graded(given: list[float], score_range: Any = (1, 5), **where: Any) -> EvaluationRun:
    grades = Grades(given)
    grades.score_range = score_range
    return api.evaluate({"grade": grades}, data(len(given)), **where)


def kept(run: EvaluationRun, folder: Path) -> dict[str, EvaluationRun]:
    """A run, the same from its folder, and from its baseline."""
    run.save(folder / "run")
    run.baseline(folder / "base.json")
    return {"run": run, "folder": api.load_run(folder / "run"), "baseline": api.load_run(folder / "base.json")}


@pytest.mark.parametrize("source", ["run", "folder", "baseline"])
def test_grades_in_a_run_and_its_gate_have_the_cautious_interval(source: str, tmp_path: Path) -> None:
    run = kept(graded(GRADES), tmp_path)[source]
    assert run.metrics["grade"].info.score_range == (1.0, 5.0)
    scored = run.scored()
    found = metric_side(scored.metrics["grade"], clusters=scored.clusters).estimate.interval
    assert found == mean_interval(GRADES, clusters=scored.clusters, score_range=(1, 5)).interval
    assert found is not None
    assert found.high <= 5
    # Mean 4.92. Two more rows, a one and a five, leave room for less than the spread of those seen.
    seen = mean_interval(GRADES, clusters=scored.clusters, method="t").interval
    assert seen is not None
    assert found.low < 4.6 < seen.low
    result = check_run(scored, ["grade < 4.7"])[0]
    assert (result.interval, result.outcome) == (found, "inconclusive")


@pytest.mark.parametrize("source", ["run", "folder", "baseline"])
def test_a_gate_on_a_drop_of_grades_passes_only_beside_its_cautious_interval(source: str, tmp_path: Path) -> None:
    base = kept(graded(GRADES), tmp_path)[source]
    comparison = api.compare(base, graded(GRADES))
    difference = comparison.metrics["grade"].difference
    assert difference.cautious is not None
    assert difference.largest_change == 4.0
    # 25 grades in 13 clusters of which none moved say little about .2 of 4.
    assert check_comparison(comparison, ["grade drops 0.2"])[0].outcome == "inconclusive"
    assert check_comparison(comparison, ["grade drops 2"])[0].outcome == "pass"


@pytest.mark.parametrize("given", [(5, 1), (1, 1), "1 to 5", (1,), 5, (1, math.nan), (0, math.inf), ("1", "5"), {}])
def test_what_is_no_range_is_refused_before_anything_is_run(given: Any) -> None:
    # Without a grade it could not be run.
    grades = Grades([])
    grades.score_range = given
    with pytest.raises(EvaluationError, match="score_range of grade must be the lowest and the highest score"):
        api.evaluate({"grade": grades}, data())


def test_a_score_outside_the_range_of_its_metric_is_a_failure() -> None:
    run = graded([5.0, 0.0, 4.0, 5 + 1e-15])
    metric = run.metrics["grade"]
    assert metric.statuses == ["scored", "error", "scored", "scored"]
    assert metric.errors[1] == "the score 0 lies outside the score_range of its metric, 1 to 5"
    assert run.scored().metrics["grade"].scores[:1] == [5.0]
    assert run.scores["grade"] == pytest.approx(14 / 3)


def test_the_range_in_a_file_counts_for_metrics_of_others_alone(tmp_path: Path) -> None:
    api.evaluate({**evaluators(), "grade": Grades([5.0] * 12)}, data(), out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert manifest["metrics"]["grade"]["score_range"] == [1, 5]
    for made in manifest["metrics"].values():
        made["score_range"] = [0, 10]
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    metrics = api.load_run(tmp_path / "run").metrics
    assert metrics["grade"].info.score_range == (0.0, 10.0)
    assert metrics["recall"].info.score_range == (0.0, 1.0)
    for wrong, told in (([0, 4], "lies outside its range, 0 to 4"), ([5, 1], "in another form"), (7, "another form")):
        manifest["metrics"]["grade"]["score_range"] = wrong
        (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        with pytest.raises(RunFileError, match=told):
            api.load_run(tmp_path / "run")


def test_other_ranges_are_other_metrics_and_none_is_that_of_an_earlier_version() -> None:
    one, other, none = graded(GRADES), graded(GRADES, (0, 5)), graded(GRADES, None)
    with pytest.raises(ComparisonError, match=r"score_range of 'grade' differs"):
        api.compare(one, other)
    for pair in ((one, none), (none, one)):
        assert api.compare(*pair).metrics["grade"].difference.largest_change == 4.0
    assert api.compare(none, none).metrics["grade"].difference.cautious is None


def test_a_range_of_one_run_alone_counts_only_if_it_holds_all_scores() -> None:
    runs = [
        ScoredRun("run", ["a", "b", "c"], {"m": rows(scores, score_range=declared)})
        for scores, declared in (([1.0, 2.0, 5.0], (1, 5)), ([7.0, 2.0, 3.0], None))
    ]
    assert compare(*runs).metrics["m"].difference.cautious is None
    with pytest.raises(ValueError, match="scores of 'm' in run 'run' must lie from 1 to 5, but row 1 is 7"):
        ScoredRun("run", ["a", "b"], {"m": rows([1.0, 7.0], score_range=(1, 5))})


def test_rows_that_failed_could_have_had_any_grade() -> None:
    side = metric_side(rows([4.0, 5.0, ERROR], score_range=(1, 5)))
    assert side.bounds is not None
    assert side.bounds[:3] == pytest.approx((1, 10 / 3, 14 / 3))


def test_the_forecast_goes_by_the_range() -> None:
    grades, shares = ([low + (5 - low) * place / 40 for place in range(41)] for low in (1, 0))
    whole = ScoredRun("run", [f"q{place}" for place in range(41)], {"m": rows(grades, score_range=(1, 5))})
    unit = ScoredRun("run", whole.ids, {"m": rows([share / 5 for share in shares])})
    (found,), (expected,) = forecast_of_run(whole), forecast_of_run(unit)
    assert found.smallest == pytest.approx(4 * (expected.smallest or 0))
    assert found.if_alike == pytest.approx(4 * (expected.if_alike or 0))


CHANCE = np.random.default_rng(8)
COLUMNS = {
    "0/1": ((CHANCE.random(40) < 0.8) * 1.0, (CHANCE.random(40) < 0.7) * 1.0),
    "graded": (CHANCE.random(40), CHANCE.random(40)),
    "few move": (np.full(40, 0.5), np.where(np.arange(40) < 5, 0.25, 0.5)),
    "none moves": (np.full(40, 0.5), np.full(40, 0.5)),
    "all move alike": (np.full(40, 0.5), np.full(40, 0.25)),
    "with gaps": (np.where(np.arange(40) % 7, 0.5, math.nan), CHANCE.random(40)),
}


def times_four(found: Difference) -> list[Any]:
    """What grows with the scale, then what does not."""
    intervals = [limit for each in (found.interval, found.cautious) for limit in (each[:2] if each else (0.0, 0.0))]
    scaled = [found.mean or 0.0, found.standard_error or 0.0, found.largest_change or 0.0, *intervals]
    return [*(4 * value for value in scaled), 16 * (found.row_variance or 0.0)]


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_difference_between_other_ends_is_one_of_shares_on_another_scale(kind: str, clustered: bool) -> None:
    base, new = COLUMNS[kind]
    clusters: Any = [row // 3 for row in range(40)] if clustered else None
    both = {"base_clusters": clusters, "new_clusters": clusters}
    for compared, options in ((paired_difference, {"clusters": clusters}), (unpaired_difference, both)):
        shares = compared(base, new, resamples=500, **options)
        grades = compared(1 + 4 * base, 1 + 4 * new, resamples=500, score_range=(1, 5), **options)
        unscaled = [value / (16 if place == 7 else 4) for place, value in enumerate(times_four(grades))]
        assert unscaled == pytest.approx(times_four(shares), abs=1e-7)
        # Clusters of equal sums lie in another order, so that others are exchanged.
        assert grades.p_value == pytest.approx(shares.p_value, abs=0.04 if clustered else 1e-9)
        for name in ("mcnemar_p", "effect_size", "design_effect", "test", "wins", "ties", "left_out"):
            assert getattr(grades, name) == pytest.approx(getattr(shares, name), abs=1e-9), name


@pytest.mark.parametrize(
    ("scores", "ends"), [([0.2, 0.9], (0.0, 1.0)), ([-0.1, 0.5, math.nan], (-0.1, 1.0)), ([math.nan], (0.0, 1.0))]
)
def test_similarities_start_at_0_or_at_the_lowest_that_was_seen(scores: list[float], ends: tuple[float, float]) -> None:
    info = MetricInfo("sas", "haystack_eval_ext.answers.sas.SASEvaluator", score_range=(-1.0, 1.0))
    assert info.ends_of(scores) == ends
    assert MetricInfo("mine", "my.Metric", score_range=(-1.0, 1.0)).ends_of(scores) == (-1.0, 1.0)
