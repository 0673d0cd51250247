# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Means of scores of which rows that lose everything are rare: the interval leaves room for those not seen."""

import numpy as np
import pytest

from haystack_eval_ext.runs.gate import check_run
from haystack_eval_ext.runs.statistics import Interval, mean_interval, wilson_interval
from score_shapes import SHAPES, Chance, coverage
from scored_runs import run


def interval_of(scores: object, **options: object) -> Interval:
    found = mean_interval(scores, **options).interval  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("rows", [20, 40, 100])
def test_intervals_hold_the_mean_of_every_shape(name: str, rows: int) -> None:
    draw, truth, score_range, least = SHAPES[name]
    if rows >= least:
        assert coverage(truth, lambda chance: interval_of(draw(chance, rows), score_range=score_range), 300) >= 0.92


@pytest.mark.parametrize("documents", [10, 20, 40])
def test_clusters_of_which_a_few_lose_everything(documents: int) -> None:
    # One document in twenty was not indexed. Every question about it fails.
    def interval(chance: Chance) -> Interval:
        clusters = np.repeat(np.arange(documents), chance.integers(1, 12, documents))
        indexed = (chance.random(documents) >= 0.05)[clusters]
        return interval_of(indexed * chance.uniform(0.95, 1, len(clusters)), clusters=clusters.tolist())

    assert coverage(0.95 * 0.975, interval, 300) >= 0.93


def test_scores_near_each_other_leave_room_for_rows_at_the_ends() -> None:
    # 20 scores from .95 to 1 in equal steps: sum 19.5, squares 20 · .975² + 20 · (20² - 1)/12 · (.05/19)² = 19.017105;
    # with 0 and 1 22 rows: mean 20.5/22 = .931818, squares 20.017105 - 20.5²/22 = .914833,
    # SE sqrt(.914833)/22 = .043476, half 1.959964 · .043476 = .085211
    found = interval_of(np.linspace(0.95, 1, 20))
    assert found.low == pytest.approx(0.931818 - 0.085211, abs=2e-6)
    assert (found.high, found.method) == (1.0, "Wilson, effective rows")


def test_a_gate_does_not_pass_before_a_rare_failure_can_be_ruled_out() -> None:
    scores = np.linspace(0.95, 1, 20).tolist()
    outcomes = [check_run(run(scores), [condition])[0].outcome for condition in ("m < 0.96", "m < 0.84", "m > 0.99")]
    assert outcomes == ["inconclusive", "pass", "inconclusive"]


@pytest.mark.parametrize("scores", [[1.0] * 30 + [0.0] * 3, [1.0] * 20, [0.0] * 7])
def test_shares_stay_with_wilson_alone(scores: list[float]) -> None:
    expected = wilson_interval(int(sum(scores)), len(scores))
    assert expected is not None
    assert interval_of(scores) == expected
    # So do scores at the two ends of another range.
    found = interval_of([1 + 4 * score for score in scores], score_range=(1, 5))
    assert found[:2] == pytest.approx([1 + 4 * limit for limit in expected[:2]])
    assert found.method == "Wilson"


@pytest.mark.parametrize("clusters", [None, [row // 3 for row in range(21)]])
@pytest.mark.parametrize("scores", [[5, 5, 5, 4, 5, 5, 2] * 3, [5.0] * 20 + [4.0], [4.5] * 21, [1.0, 2.0, 3.0] * 7])
def test_a_declared_range_is_one_from_0_to_1_on_another_scale(scores: list[float], clusters: list[int] | None) -> None:
    shares = mean_interval([(score - 1) / 4 for score in scores], clusters=clusters)
    found = mean_interval(scores, clusters=clusters, score_range=(1, 5))
    assert shares.interval is not None
    assert found.interval is not None
    assert found.interval[:2] == pytest.approx([1 + 4 * limit for limit in shares.interval[:2]])
    assert found.standard_error == pytest.approx(4 * (shares.standard_error or 0.0))
    assert not found.bounded


def test_scores_from_0_to_1_of_a_wider_range_are_not_taken_for_shares() -> None:
    # All answers got the lowest grade of 0 to 4: they are no 0/1 scores of which all failed.
    found = interval_of([0.0, 1.0] * 10, score_range=(0, 4))
    assert found.high > interval_of([0.0, 1.0] * 10).high
