# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Intervals, tests and power against scipy and statsmodels, and golden values with their arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats import contingency_tables, multitest, power, proportion

from clustered_changes import cr2
from haystack_eval_ext.runs.statistics import (
    Difference,
    agreement,
    holm,
    mean_interval,
    minimal_detectable_difference,
    paired_difference,
    rows_needed,
    rows_to_decide,
    unpaired_difference,
    wilson_interval,
)

NAN = math.nan
CHANCE = np.random.default_rng(7)
GRADED = [(CHANCE.uniform(0.2, 0.6, rows), CHANCE.uniform(0.3, 0.7, rows)) for rows in (2, 3, 20, 300)]
SHARES = [(CHANCE.integers(0, 2, rows) * 1.0, CHANCE.integers(0, 2, rows) * 1.0) for rows in (2, 15, 16, 40, 300)]


def close(value: Any) -> Any:
    """Equal to 1e-9; None is equal to None alone."""
    if value is None:
        return None
    if isinstance(value, tuple) and None in value:
        return tuple(map(close, value))
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def clusters_of(rows: int) -> list[int]:
    """Clusters of 1 to 5 rows, not in order."""
    sizes = np.random.default_rng(rows).integers(1, 6, rows)
    return [
        int(cluster) for cluster in np.random.default_rng(rows).permutation(np.repeat(np.arange(rows), sizes)[:rows])
    ]


def cluster_robust(values: Any, clusters: list[int], confidence: float) -> Any:
    """The mean as a regression on a constant, with statsmodels' cluster-robust errors and t of C - 1."""
    fit = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters), "use_correction": True}, use_t=True
    )
    return fit.bse[0], fit.pvalues[0], fit.conf_int(1 - confidence)[0]


@pytest.mark.parametrize(("scores", "_"), GRADED)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_t_interval_is_scipys(scores: Any, _: Any, confidence: float) -> None:
    estimate = mean_interval(scores, confidence=confidence, method="t")
    assert estimate.interval is not None
    expected = stats.ttest_1samp(scores, 0).confidence_interval(confidence)
    assert (estimate.interval.low, estimate.interval.high) == close(tuple(expected))
    assert estimate.standard_error == close(stats.sem(scores))
    # Scores beyond 0 to 1 get it by themselves.
    wide = mean_interval(scores * 100, confidence=confidence).interval
    assert wide is not None
    assert (wide.method, wide.low) == ("t", close(100 * expected.low))


@pytest.mark.parametrize("rows", [1, 2, 10, 20, 300])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson_interval_is_statsmodels(rows: int, confidence: float) -> None:
    for successes in {0, 1, rows // 2, rows}:
        low, high = proportion.proportion_confint(successes, rows, 1 - confidence, method="wilson")
        for interval in (
            wilson_interval(successes, rows, confidence=confidence),
            mean_interval([1.0] * successes + [0.0] * (rows - successes), confidence=confidence).interval,
        ):
            assert interval is not None
            assert (interval.low, interval.high, interval.method) == (close(low), close(high), "Wilson")


@pytest.mark.parametrize(
    ("successes", "rows", "low", "high"),
    [
        # p = 1, z² = 3.8415: (1 + 1.9207/10 - 1.96 sqrt(0 + 3.8415/400)) / (1 + .38415) = (1.19207 - .19207) / 1.38415
        (10, 10, 1 / 1.384146, 1.0),
        # p = .9: centre .9 + 3.8415/40 = .996036, half 1.96 sqrt(.09/20 + 3.8415/1600) = .162832, divisor 1.192073
        (18, 20, (0.996036 - 0.162832) / 1.192073, (0.996036 + 0.162832) / 1.192073),
        (10, 10, 0.722, 1.0),
        (18, 20, 0.699, 0.972),
    ],
)
def test_wilson_golden(successes: int, rows: int, low: float, high: float) -> None:
    interval = wilson_interval(successes, rows)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-4)


def test_effective_rows_are_those_of_0_1_scores_with_the_same_error() -> None:
    scores = [0.5, 1.0, 1.0, 0.5, 1.0, 0.25, 1.0, 0.75]
    estimate = mean_interval(scores)
    assert estimate.interval is not None
    # mean 6/8 = .75, squared deviations 5·.0625 + ... : 4·.0625 + 2·.0625 + .25 + 0 = .625, SE² = .625/7/8 = .0111607,
    # effective rows .75·.25/.0111607 = 16.8, t of 7 degrees 2.364624: t²/n = .332826,
    # centre .75 + .166413 = .916413, half 2.364624 sqrt(.1875/16.8 + .332826/(4·16.8)) = .300159, divisor 1.332826:
    # .46237 to .91277
    # with two more rows, 0 and 1: mean 7/10, squares 6.125 - 10 · .49 = 1.225, SE sqrt(1.225)/10 = .110680,
    # half 1.959964 · .110680 = .216928: .48307 to .91693, less wide, but higher above
    assert estimate.standard_error == pytest.approx(math.sqrt(0.625 / 56))
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((0.46237, 0.91693), abs=1e-4)
    assert estimate.interval.method == "Wilson, effective rows"


@pytest.mark.parametrize(("base", "new"), [pair for pair in GRADED if len(pair[0]) > 3])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_clustered_errors_are_statsmodels(base: Any, new: Any, confidence: float) -> None:
    clusters = clusters_of(len(base))
    error, p, (low, high) = cluster_robust(new - base, clusters, confidence)
    difference = paired_difference(base, new, clusters=clusters, confidence=confidence, resamples=0)
    # The wider one of two; the other has no oracle but its definition.
    robust, robust_p, (lowest, highest) = cr2(new - base, clusters, confidence)
    assert difference.interval is not None
    assert (difference.standard_error, difference.t_p) == close((max(error, robust), max(p, robust_p)))
    assert difference.interval[:2] == close((min(low, lowest), max(high, highest)))
    assert difference.clusters == len(set(clusters))
    assert difference.design_effect == close((error / stats.sem(new - base)) ** 2)
    estimate = mean_interval(new, clusters=clusters, confidence=confidence, method="t")
    error, _, (low, high) = cluster_robust(new, clusters, confidence)
    assert estimate.interval is not None
    assert (estimate.standard_error, *estimate.interval[:2]) == close((error, low, high))


def test_clustered_error_golden() -> None:
    # mean 3; sums of deviations by cluster: a (1-3)+(2-3) = -3, b (3-3) = 0, c (4-3)+(5-3) = 3;
    # SE² = C/(C-1) · n⁻² · (9 + 0 + 9) = 3/2 · 18/25 = 1.08. Were rows independent: s²/n = 2.5/5 = .5
    estimate = mean_interval([1, 2, 3, 4, 5], clusters=["a", "a", "b", "c", "c"])
    assert estimate.standard_error == close(math.sqrt(1.08))
    # t of 2 degrees of freedom at .975 is 4.302653
    assert estimate.interval is not None
    assert estimate.interval.high == pytest.approx(3 + 4.302653 * math.sqrt(1.08))


@pytest.mark.parametrize(("base", "new"), GRADED)
def test_paired_t_is_scipys(base: Any, new: Any) -> None:
    difference = paired_difference(base, new, resamples=0)
    expected = stats.ttest_rel(new, base)
    assert difference.interval is not None
    assert difference.interval.method == "t"
    assert difference.t_p == close(expected.pvalue)
    assert difference.interval[:2] == close(tuple(expected.confidence_interval()))
    assert difference.effect_size == close(expected.statistic / math.sqrt(len(base)))


@pytest.mark.parametrize(("base", "new"), [*GRADED[:2], (GRADED[2][0][:13], GRADED[2][1][:13]), *SHARES[:2]])
@pytest.mark.parametrize("clustered", [False, True])
def test_exact_randomisation_is_scipys(base: Any, new: Any, clustered: bool) -> None:
    clusters = clusters_of(len(base)) if clustered else list(range(len(base)))
    sums = np.bincount(clusters, weights=new - base)
    expected = 1.0
    if len(set(clusters)) > 1:
        sums = sums[np.unique(clusters)]
        pair = (sums, np.zeros(len(sums)))
        expected = stats.permutation_test(
            pair, lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples", n_resamples=np.inf
        ).pvalue
    assert paired_difference(base, new, clusters=clusters).randomisation_p == close(expected)


def test_sampled_randomisation_comes_near_the_exact_one() -> None:
    base, new = GRADED[2][0][:17], GRADED[2][1][:17]
    expected = stats.permutation_test(
        (new, base), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    found = [paired_difference(base, new, seed=seed).randomisation_p for seed in (0, 0, 1)]
    assert found == pytest.approx([expected] * 3, abs=5 * math.sqrt(expected / 100_000))
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(("base", "new"), SHARES)
def test_mcnemar_is_statsmodels_and_the_randomisation_test_of_shares(base: Any, new: Any) -> None:
    table = [[int(((base == one) & (new == two)).sum()) for two in (0, 1)] for one in (0, 1)]
    difference = paired_difference(base, new)
    assert difference.mcnemar_p == close(contingency_tables.mcnemar(table, exact=True).pvalue)
    assert difference.randomisation_p == pytest.approx(difference.mcnemar_p, abs=0.01)
    assert (difference.wins, difference.losses) == (table[0][1], table[1][0])
    assert difference.p_value == difference.mcnemar_p


def test_paired_shares_golden() -> None:
    # 3 up, 10 down of 50 (Bonett and Price 2012): p12 = 4/52, p21 = 11/52, difference -7/52 = -.134615,
    # SE² = (15/52 - (7/52)²)/52 = .00519885, 1.959964 · .0721031 = .141319
    base, new = [0.0] * 3 + [1.0] * 10 + [1.0] * 37, [1.0] * 3 + [0.0] * 10 + [1.0] * 37
    difference = paired_difference(base, new)
    assert difference.mean == pytest.approx(-0.14)
    assert difference.interval is not None
    assert difference.interval[:2] == pytest.approx((-0.134615 - 0.141319, -0.134615 + 0.141319), abs=1e-5)
    assert difference.interval.method == "Bonett-Price"


def test_rows_without_any_change_still_leave_room_for_one() -> None:
    # 1/42 for either direction: 1.959964 sqrt(2/42)/sqrt(42) = 1.959964 · sqrt(2)/42 = .065995
    for scores in ([1.0] * 40, [0.3, 0.7] * 20):
        difference = paired_difference(scores, scores)
        assert difference.interval is not None
        assert difference.interval[:2] == pytest.approx((-0.065995, 0.065995), abs=1e-6)
        assert (difference.t_p, difference.p_value, difference.effect_size) == (1.0, 1.0, None)


def test_rows_that_all_change_by_the_same_are_evidence() -> None:
    # In 40 rows nothing was seen of what has a share of 1 - .025^(1/40) = .0881 at most; a change from 0 to 1 could be
    # another one by 1.5 above -.5 and .5 below.
    difference = paired_difference([1.0] * 40, [0.5] * 40)
    assert difference.interval is not None
    share = 1 - 0.025 ** (1 / 40)
    assert difference.interval[:2] == close((-0.5 - share * 0.5, -0.5 + share * 1.5))
    assert difference.interval.method == "Clopper-Pearson"
    # The share is scipy's bound of 0 in 40.
    assert share == close(stats.binomtest(0, 40).proportion_ci(0.95, method="exact").high)
    # In clusters of four it is a bound of 0 in 10.
    clustered = paired_difference([1.0] * 40, [0.5] * 40, clusters=[row // 4 for row in range(40)])
    assert clustered.interval is not None
    assert clustered.interval.high == close(-0.5 + 1.5 * (1 - 0.025 ** (1 / 10)))


@pytest.mark.parametrize("rows", range(2, 12))
def test_beyond_0_to_1_a_change_of_all_rows_is_one_where_the_test_of_signs_says_so(rows: int) -> None:
    difference = paired_difference([7.0] * rows, [10.0] * rows)
    assert difference.interval is not None
    assert difference.randomisation_p == close(2 * 0.5**rows)
    assert (difference.interval.low > 0) == (2 * 0.5**rows <= 0.05)


def test_where_most_rows_change_by_the_same_the_others_are_few() -> None:
    # 39 of 40 by -.5, one by 0: around -.5 that is one of 42 by .5 and one each by .5 and -.5.
    base, new = [1.0] * 40, [0.5] * 39 + [1.0]
    difference = paired_difference(base, new)
    away = [0.5, 0.5, -0.5] + [0.0] * 39
    mean = sum(away) / 42
    error = math.sqrt(sum((value - mean) ** 2 for value in away)) / 42
    assert difference.interval is not None
    assert difference.interval[:2] == close(
        (-0.5 + mean - 1.959963984540054 * error, -0.5 + mean + 1.959963984540054 * error)
    )
    assert (difference.interval.method, difference.standard_error) == ("Bonett-Price", close(error))
    # The same for changes that are equal but for rounding: .3 to .2, .9 to .8.
    rounded = paired_difference([0.3, 0.9] * 20, [0.2, 0.8] * 20).interval
    assert rounded is not None
    assert rounded.method == "Clopper-Pearson"
    # The mean of one run in between: limits of 0 to 1, not beyond.
    estimate = mean_interval([0.9] * 4 + [0.0]).interval
    assert estimate is not None
    assert (estimate.high, estimate.method) == (1.0, "Bonett-Price")


@pytest.mark.parametrize(("base", "new"), GRADED)
def test_welch_is_scipys(base: Any, new: Any) -> None:
    difference = unpaired_difference(base, new[:-1] if len(new) > 2 else new)
    assert difference.t_p == close(stats.ttest_ind(new[:-1] if len(new) > 2 else new, base, equal_var=False).pvalue)
    assert (difference.paired, difference.wins, difference.randomisation_p) == (False, None, None)


@pytest.mark.parametrize(("base", "new"), SHARES)
def test_difference_of_unpaired_shares_is_newcombes(base: Any, new: Any) -> None:
    counts = new.sum(), len(new), base.sum(), len(base)
    interval = unpaired_difference(base, new).interval
    assert interval is not None
    assert interval[:2] == close(proportion.confint_proportions_2indep(*counts, method="newcomb", compare="diff"))


@pytest.mark.parametrize("p_values", [[0.01], [0.01, 0.04, 0.03], [0.5, 0.5, 0.001, 0.02, 1.0, 0.0], [0.2] * 7])
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == close(multitest.multipletests(p_values, method="holm")[1].tolist())


def test_holm_golden() -> None:
    # Sorted .01, .03, .04: 3 · .01 = .03; 2 · .03 = .06; 1 · .04 = .04, raised to .06. None is no test.
    assert holm([0.01, 0.04, None, 0.03]) == [close(0.03), close(0.06), None, close(0.06)]


def test_power_golden() -> None:
    # (1.959964 + .841621)² · (1/9) / .03² = 7.848879 · 123.4568 = 968.997
    assert rows_needed(1 / 9, 0.03) == 969
    assert minimal_detectable_difference(math.sqrt(1 / 9 / 969)) == pytest.approx(0.03, abs=1e-6)
    # Pairs in clusters of design effect 2 take twice as many: 1937.99
    assert rows_needed(2 / 9, 0.03) == 1938
    assert rows_needed(1 / 9, 0) is rows_needed(0.0, 0.03) is None


@pytest.mark.parametrize(("variance", "null"), [(0.1, 0.1), (0.09, 0.16), (0.25, 0.2)])
@pytest.mark.parametrize("wanted", [0.8, 0.9])
def test_power_is_statsmodels(variance: float, null: float, wanted: float) -> None:
    for difference in (0.01, 0.2):
        expected = power.normal_sample_size_one_tail(difference, wanted, 0.025, math.sqrt(null), math.sqrt(variance))
        assert rows_needed(variance, difference, power=wanted, null_variance=null) == math.ceil(expected)


def test_rows_to_decide_golden() -> None:
    # 5 of 100 rows up, 5 down: Bonett-Price variance of a row 100/102 · 12/102 = .115340; a drop of 2 · .05 in changes
    # of size 1 adds .1 - .01 = .09; (1.959964 + 1.281552)² · .205340 / .0025 = 863.04
    base = [0.0] * 5 + [1.0] * 95
    new = [1.0] * 5 + [0.0] * 5 + [1.0] * 90
    assert rows_to_decide(paired_difference(base, new), 0.05, rule="strict") == 864
    # Without any change there is no variance but that of the drop: 10.507425 · .09 / .0025 = 378.27
    assert rows_to_decide(paired_difference(base, base), 0.05, rule="strict") == 379
    # "significant": no change passes with 10.507425 · .115340 / .0025 = 484.77 rows, the drop fails with fewer.
    assert rows_to_decide(paired_difference(base, new), 0.05) == 485
    # Without any change z √2 / .05 - 2 = 53.4 rows pass, and it is the drop that takes more: a share of .1 of 88 rows
    # less 1.281552 √(.09 / 88) is 5.19 rows, more than 1.959964 √(5.19 + 2 - 5.19² / 90) = 5.15.
    assert rows_to_decide(paired_difference(base, base), 0.05) == 88


UNDEFINED = [
    ([], None, None, None),
    ([NAN], None, None, None),
    ([0.4], None, 0.4, None),
    ([0.4, 0.4, 0.4], None, 0.4, "Clopper-Pearson"),
    ([3.0, 3.0], None, 3.0, "Clopper-Pearson"),
    ([0.4, 0.4, 0.4, 0.5], None, 1.7 / 4, "Bonett-Price"),
    ([3.0, 3.0, 3.0, 4.0], None, 13 / 4, "Bonett-Price"),
    ([3.0, 3.0, 4.0], None, 10 / 3, "t"),
    ([0.4, 0.5], None, 0.45, "Wilson, effective rows"),
    # The rows of each cluster differ, the clusters do not.
    ([0.2, 0.6, 0.2, 0.6], ["a", "a", "b", "b"], 0.4, "Clopper-Pearson"),
    ([0.2, 0.6], ["a", "a"], 0.4, None),
    ([1.0, 1.0], ["a", "a"], 1.0, None),
    ([1.0], None, 1.0, "Wilson"),
    ([1.0, 1.0, 1.0], ["a", "a", "b"], 1.0, "Wilson, effective rows"),
]


@pytest.mark.parametrize(("scores", "clusters", "mean", "method"), UNDEFINED)
def test_no_interval_is_invented(scores: list[float], clusters: Any, mean: float | None, method: str | None) -> None:
    estimate = mean_interval(scores, clusters=clusters)
    assert estimate.mean == (None if mean is None else close(mean))
    assert (estimate.interval.method if estimate.interval else None) == method


def test_clusters_without_a_failure_count_once_each() -> None:
    # Nothing tells how alike rows of a cluster are: 10 clusters are 10 rows.
    clusters = [row % 10 for row in range(50)]
    estimate, expected = mean_interval([1.0] * 50, clusters=clusters).interval, wilson_interval(10, 10)
    assert estimate is not None
    assert expected is not None
    assert estimate[:2] == close(expected[:2])


@pytest.mark.parametrize(
    ("base", "new", "clusters", "expected"),
    [
        ([], [], None, (None, None, None, None)),
        ([0.5], [0.7], None, (close(0.2), None, None, 1.0)),
        # All differ by the same: p of t is undefined, that of randomisation is 2 · 2^-3. Another value could have a
        # share of 1 - .025^(1/3) = .707598, and lie 2 away: 1 - 1.415196 to 1 + 1.415196
        ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], None, (1.0, pytest.approx((-0.415196, 2.415196), abs=1e-6), None, 0.25)),
        ([0.1, 0.3], [0.4, 0.5], ["a", "a"], (close(0.25), None, None, 1.0)),
        # Changes that cancel out within each cluster
        ([0.1, 0.4, 0.1, 0.4], [0.4, 0.1, 0.4, 0.1], list("aabb"), (0.0, (-1.0, 1.0), 1.0, 1.0)),
        # Beyond 0 to 1 a change could be as large as the largest score: 8 · 1.959964 · sqrt(2)/4
        ([7.0, 8.0], [7.0, 8.0], None, (0.0, pytest.approx((-5.543615, 5.543615), abs=1e-6), 1.0, 1.0)),
    ],
)
def test_no_difference_is_invented(base: Any, new: Any, clusters: Any, expected: Any) -> None:
    difference = paired_difference(base, new, clusters=clusters)
    interval = difference.interval and difference.interval[:2]
    assert (difference.mean, interval, difference.t_p, difference.randomisation_p) == expected
    assert (difference.standard_error is None) == (interval is None)


def test_rows_without_a_score_are_left_out_pairwise_and_counted() -> None:
    base, new = [0.1, NAN, 0.5, 0.9, 0.3], [0.2, 0.4, NAN, 0.7, 0.8]
    difference = paired_difference(base, new, clusters=["a", "a", "b", "c", "c"])
    assert difference.left_out == 2
    expected = paired_difference([0.1, 0.9, 0.3], [0.2, 0.7, 0.8], clusters=["a", "c", "c"])
    assert difference.__dict__ == {**expected.__dict__, "left_out": 2}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([0.1, math.inf]), "scores must be finite.*row 1"),
        (lambda: mean_interval([0.1, 1e200]), r"scores must lie within 1e\+150 of 0, but row 1 is 1e\+200"),
        (lambda: mean_interval([0.1, -(10**400)]), "scores must be numbers"),
        (lambda: mean_interval([[0.1]]), "flat list"),  # type: ignore[list-item]
        (lambda: mean_interval(["a"]), "scores must be numbers"),  # type: ignore[list-item]
        (lambda: mean_interval([0.1], confidence=95), "confidence must lie between 0 and 1, such as 0.95, but is 95"),
        (lambda: mean_interval([0.1], method="z"), "method must be 'auto' or 't', but is 'z'"),  # type: ignore[arg-type]
        (lambda: mean_interval([NAN, 5.5], score_range=(1, 5)), "scores must lie from 1 to 5, but row 1 is 5.5"),
        (lambda: mean_interval([0.1], score_range=(1, 1)), r"score_range must be the lowest and the.*is \(1, 1\)"),
        (lambda: mean_interval([0.1], clusters=[]), "clusters must have one value for each of the 1 rows.*has 0"),
        (lambda: paired_difference([0.1], []), "new must have one value for each of the 1 rows of base, but has 0"),
        (lambda: paired_difference([0.1], [0.2], resamples=-1), "resamples must be at least 0, but is -1"),
        (lambda: wilson_interval(3, 2), r"successes must be from 0 to rows \(2\), but is 3"),
        (lambda: holm([0.1, 1.5]), "p_values must be from 0 to 1, but number 1 is 1.5"),
        (lambda: rows_needed(-1, 0.1), "must be at least 0"),
        (lambda: rows_needed(1, 0.1, power=80), "power must be at least 0.5 and less than 1, such as 0.8, but is 80"),
        (lambda: minimal_detectable_difference(NAN), "standard_error must be at least 0, but is nan"),
        (lambda: agreement([1], ["a"]), "both hold words or both numbers"),
        (lambda: agreement(["a"], ["b"], weights="linear"), "weights need numbers"),
        (lambda: agreement([1], [1], weights="cubic"), "weights must be None, 'linear' or"),  # type: ignore[arg-type]
        (lambda: agreement(list(range(30)), [1] * 30), "at most 20 classes, but hold 30 distinct values"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


SCORES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0, NAN]) | st.floats(0, 1)
TABLE = st.lists(st.tuples(SCORES, SCORES, st.sampled_from("abcd")), min_size=1, max_size=30)


def compared(rows: list[tuple[float, float, str]], clustered: bool) -> Difference:
    base, new, clusters = zip(*rows, strict=True)
    return paired_difference(base, new, clusters=clusters if clustered else None, resamples=200)


@given(TABLE, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Any], clustered: bool, chance: Any) -> None:
    shuffled = chance.sample(rows, len(rows))
    one, two = compared(rows, clustered), compared(shuffled, clustered)
    for name, value in one.__dict__.items():
        other = getattr(two, name)
        both = (value[:2], other[:2]) if name in ("interval", "cautious") and value is not None else (value, other)
        assert both[1] == close(both[0]), name


@given(TABLE, st.booleans())
def test_swapped_runs_flip_the_sign(rows: list[Any], clustered: bool) -> None:
    there, back = compared(rows, clustered), compared([(new, base, c) for base, new, c in rows], clustered)
    assert (there.wins, there.losses, there.ties) == (back.losses, back.wins, back.ties)
    assert (there.t_p, there.randomisation_p, there.mcnemar_p) == close(
        (back.t_p, back.randomisation_p, back.mcnemar_p)
    )
    assert (there.mean is None) == (back.mean is None)
    if there.mean is not None and back.mean is not None:
        assert there.mean == close(-back.mean)
    assert (there.interval is None) == (back.interval is None)
    if there.interval is not None and back.interval is not None:
        assert there.interval[:2] == close((-back.interval.high, -back.interval.low))


@given(st.lists(SCORES, min_size=1, max_size=40), st.none() | st.integers(1, 5), st.sampled_from([0.8, 0.95]))
def test_an_interval_stays_in_range_and_holds_the_mean(scores: list[float], size: int | None, level: float) -> None:
    clusters = None if size is None else [row // size for row in range(len(scores))]
    estimate = mean_interval(scores, clusters=clusters, confidence=level)
    if estimate.interval is not None and estimate.mean is not None:
        assert 0 <= estimate.interval.low <= estimate.mean + 1e-12
        assert estimate.mean - 1e-12 <= estimate.interval.high <= 1


@given(TABLE)
def test_clusters_of_one_row_are_rows(rows: list[Any]) -> None:
    base, new, _ = zip(*rows, strict=True)
    for clusters in (list(range(len(rows))), [None] * len(rows)):
        assert paired_difference(base, new, clusters=clusters, resamples=50) == paired_difference(
            base, new, resamples=50
        )


@pytest.mark.parametrize("size", [1e150, 1e100, 1e-100])
def test_scores_of_any_size_are_reckoned_with_without_a_warning(size: float) -> None:
    # Warnings are errors in these tests.
    base, new = np.array([0.2, 0.5, 0.4, 0.9, 0.1]) * size, np.array([0.4, 0.6, 0.7, -0.9, 0.3]) * size
    paired, unpaired = paired_difference(base, new), unpaired_difference(base, new)
    expected, other = paired_difference(base / size, new / size), unpaired_difference(base / size, new / size)
    assert paired.interval is not None
    assert expected.interval is not None
    assert paired.interval.low / size == pytest.approx(expected.interval.low)
    assert (paired.t_p, unpaired.t_p) == pytest.approx((expected.t_p, other.t_p))
    for margin in (1e-320, 1e-300, 1e300):
        assert rows_to_decide(paired, margin) is None or margin > size * 1e-200
