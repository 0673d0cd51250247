# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Plans for few rows and few clusters: quantiles of t, against statsmodels and in simulated runs."""

import math
import re
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from haystack_eval_ext.runs._power import detectable
from haystack_eval_ext.runs.comparison import compare
from haystack_eval_ext.runs.gate import check_comparison, check_run
from haystack_eval_ext.runs.statistics import (
    minimal_detectable_difference,
    paired_difference,
    rows_needed,
    rows_to_decide,
)
from scored_runs import clusters_of, run


def test_few_units_take_the_quantiles_of_t() -> None:
    # t of 3 degrees of freedom at .975 and .8: 3.182446 + .978472
    assert minimal_detectable_difference(1.0, freedom=3) == pytest.approx(3.182446 + 0.978472)
    # 33 rows: (2.036933 + .853009)² / .25 = 33.41, too many; 34 rows: (2.034515 + .852669)² / .25 = 33.34
    assert rows_needed(1.0, 0.5, power=0.8, unit_rows=1) == 34
    assert rows_needed(1.0, 0.5, power=0.8) == 32
    # 7 clusters of 5: (2.446912 + .905703)² / .36 = 31.22 rows, and there are 35; 6 clusters: (2.570582 + .919544)² /
    # .36 = 33.84, and there are 30
    assert rows_needed(1.0, 0.6, power=0.8, unit_rows=5) == 35
    assert rows_needed(1.0, 1e-9, unit_rows=1) == rows_needed(1.0, 1e-9)
    assert rows_needed(1e300, 1e-100, unit_rows=1) is None


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.5, 0.8])
def test_plans_of_rows_on_their_own_come_near_statsmodels(effect: float) -> None:
    expected = TTestPower().solve_power(effect, power=0.9, alpha=0.05)
    assert rows_needed(1.0, effect, power=0.9, unit_rows=1) == pytest.approx(math.ceil(expected), abs=1)


def test_a_comparison_plans_by_what_its_interval_goes_by() -> None:
    base, new = [0.0, 0.25, 0.5, 0.75, 1.0, 0.5], [0.25, 0.5, 0.25, 1.0, 0.5, 0.75]
    graded = paired_difference(base, new)
    error = graded.standard_error
    assert error is not None
    # t of 5 degrees of freedom at .975 and .8
    assert detectable(graded) == pytest.approx((2.570582 + 0.919544) * error)
    clustered = paired_difference(base, new, clusters=list("aabbcc"))
    error = clustered.standard_error
    assert error is not None
    # of 2
    assert detectable(clustered) == pytest.approx((4.302653 + 1.060660) * error)
    shares = paired_difference([0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0])
    assert detectable(shares) == pytest.approx((1.959964 + 0.841621) * (shares.standard_error or 0))


def test_clusters_enter_the_plan_of_a_gate_with_their_design_effect() -> None:
    # Each change twice in a cluster: sum of squares over six clusters .28, SE² = .28/(5·6), row variance 12 SE² = .112;
    # design effect (2·6 - 1)/(6 - 1) = 2.2, so that a drop of .1 adds 2.2 (.1 - .01) = .198;
    # (1.963613 + 1.283015)² · .31 / .0025 = 1307.1 with t of 653 degrees of freedom
    changes = [each for change in (0.3, -0.3, 0.1, -0.1, 0.2, -0.2) for each in (change, change)]
    difference = paired_difference([0.5] * 12, [0.5 + change for change in changes], clusters=clusters_of(12, 2))
    assert difference.row_variance == pytest.approx(0.112)
    assert difference.design_effect == pytest.approx(2.2)
    assert rows_to_decide(difference, 0.05, rule="strict") == 1308
    # A drop of .1 is certain with (1.98 + 1.30)² · .31 / .01 = 333 rows; no change passes with as many clusters of the
    # cautious interval: z √(507 · .112 + 2 · 4) + z_β √(507 · .112) <= 511 · .05 with t of 252 degrees of freedom
    assert rows_to_decide(difference, 0.05) == 507


def test_the_reason_says_how_many_clusters() -> None:
    scores = [1.0, 0.5, 0.0, 0.5] * 10
    clusters = clusters_of(40, 5)
    moved = [min(score + [0.25, -0.25][place // 5 % 2], 1.0) for place, score in enumerate(scores)]
    comparison = compare(
        run(scores, clusters=clusters), run(moved, clusters=clusters), margins={"m": 0.02}, resamples=0
    )
    result = check_comparison(comparison, ["m drops 0.02"])[0]
    assert result.rows_needed is not None
    assert result.rows_needed % 5 == 0
    assert "40 questions in 8 clusters are too few: without a change about " in result.reason
    assert f"about {result.rows_needed} in {result.rows_needed // 5} clusters would pass" in result.reason
    assert re.search(r"with a drop of twice that about \d+ in \d+ clusters would fail", result.reason)
    level = check_run(run(scores, clusters=clusters), ["m < 0.45"])[0]
    assert level.rows_needed is not None
    assert f"too few: about {level.rows_needed} in {level.rows_needed // 5} clusters like these" in level.reason


@pytest.mark.parametrize("clustered", [False, True])
def test_what_is_needed_is_more_than_there_is(clustered: bool) -> None:
    chance = np.random.default_rng(2)
    clusters = clusters_of(40, 5) if clustered else None
    open_ones = 0
    for _ in range(100):
        base, new = chance.uniform(0, 1, 40).tolist(), chance.uniform(0, 1, 40).tolist()
        comparison = compare(run(base, clusters=clusters), run(new, clusters=clusters), resamples=0)
        results = check_comparison(comparison, ["m drops 0.1", "m drops 0", "m < 0.4", "m < 0.5", "m < 0.6"])
        for result in results:
            assert result.rows_needed is None or result.rows_needed > 40
            open_ones += result.rows_needed is not None
    assert open_ones > 100


def test_a_margin_of_0_is_planned_by_the_change_itself() -> None:
    base = [0.5] * 20
    new = [0.5 + 0.01 * (place % 5 - 1.9) for place in range(20)]
    comparison = compare(run(base), run(new), resamples=0)
    result = check_comparison(comparison, ["m drops 0"])[0]
    assert (result.outcome, "no number of questions" in result.reason) == ("inconclusive", False)
    assert result.rows_needed is not None
    assert result.rows_needed > 20
    # An even change is as far from 0 as can be told by no number.
    even = check_comparison(compare(run(base), run([0.4, 0.6] * 10), resamples=0), ["m drops 0"])[0]
    assert "no number of questions like these would decide" in even.reason


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [4, 8, 12, 40])
def test_few_clusters_show_what_they_are_said_to_show(clusters: int) -> None:
    chance, size, spread, noise, repeats = np.random.default_rng(clusters), 5, 1.0, 1.0, 2000
    row_variance = size * spread**2 + noise**2
    error = math.sqrt(row_variance / (clusters * size))
    effect = minimal_detectable_difference(error, power=0.8, freedom=clusters - 1)
    assert rows_needed(row_variance, effect * 1.000001, power=0.8, unit_rows=size) == clusters * size
    seen, owners = 0, clusters_of(clusters * size, size)
    for _ in range(repeats):
        shared = np.repeat(chance.normal(0, spread, clusters), size)
        new = effect + shared + chance.normal(0, noise, clusters * size)
        found: Any = paired_difference(np.zeros(len(new)), new, clusters=owners, resamples=0)
        seen += found.interval.low > 0
    # A little less for four clusters: a non-central t were exact. Planned with z it would be 48 % there.
    assert 0.76 <= seen / repeats <= 0.83
