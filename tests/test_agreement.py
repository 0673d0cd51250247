# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of a judge with people against statsmodels and scikit-learn, and a golden value with its arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from statsmodels.stats import inter_rater, proportion

from haystack_eval_ext.runs._agreement import kappa_outcome
from haystack_eval_ext.runs.api import agree
from haystack_eval_ext.runs.run import EvaluationRun
from haystack_eval_ext.runs.statistics import (
    agreement,
    krippendorff_alpha,
    rank_agreement,
    rater_agreement,
    sweep_thresholds,
)
from kept_runs import judged

CHANCE = np.random.default_rng(7)


def close(value: Any) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_statsmodels_and_sklearns(weights: Any) -> None:
    human = CHANCE.integers(1, 6, 200)
    judge = np.clip(human + CHANCE.integers(-1, 2, 200), 1, 5)
    result = agreement(human.tolist(), judge.tolist(), weights=weights)
    expected = inter_rater.cohens_kappa(np.array(result.confusion), wt={"quadratic": "quadratic"}.get(weights, weights))
    assert result.kappa == close(expected.kappa)
    assert result.kappa == close(cohen_kappa_score(human, judge, weights=weights))
    assert result.kappa_interval is not None
    assert result.kappa_interval[:2] == close((expected.kappa_low, expected.kappa_upp))


def test_kappa_golden() -> None:
    # [[40, 5], [10, 45]]: observed .85; chance .45 · .5 + .55 · .5 = .5; (.85 - .5) / (1 - .5) = .70
    result = agreement(
        ["yes"] * 45 + ["no"] * 55 + ["yes", None],
        ["yes"] * 40 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 45 + [math.nan, "no"],
    )
    assert result.classes == ["no", "yes"]
    assert result.confusion == [[45, 10], [5, 40]]
    assert (result.kappa, result.accuracy, result.rows, result.left_out) == (close(0.7), close(0.85), 100, 2)
    assert (result.human_rates, result.judge_rates) == (close([0.55, 0.45]), close([0.5, 0.5]))
    low, high = proportion.proportion_confint(85, 100, method="wilson")
    assert result.accuracy_interval is not None
    assert result.accuracy_interval[:2] == close((low, high))


def test_undefined_kappa_is_none() -> None:
    assert agreement([], []).accuracy is None
    # One class only: chance explains everything. Full agreement: the formula has no width.
    assert agreement([1, 1], [1, 1]).kappa is None
    full = agreement([0, 1], [0, 1])
    assert (full.kappa, full.kappa_interval) == (1.0, None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_kappa_is_sklearns_on_any_table(pairs: list[tuple[int, int]]) -> None:
    human, judge = zip(*pairs, strict=True)
    result = agreement(human, judge)
    if result.kappa is None:
        assert len({*human, *judge}) == 1
    else:
        assert result.kappa == close(cohen_kappa_score(human, judge))


# --- labels as people write them ----------------------------------------------------------------------------------


def labelled(labels: list[Any], scores: list[float | None]) -> EvaluationRun:
    run = judged(scores)
    for row, label in zip(run.rows, labels, strict=True):
        row["columns"] = {"human": label}
    return run


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("yes", "no"),
        ("Y", "n"),
        (" TRUE ", "False"),
        ("pass", "FAIL"),
        ("good", "bad"),
        ("Correct", "incorrect"),
        ("はい", "いいえ"),
        ("1", "0"),
        (1, 0.0),
        (True, False),
    ],
)
def test_words_that_people_write_are_understood(yes: Any, no: Any) -> None:
    found = agree(labelled([yes, no, None, "", " ", no], [1.0, 0.0, 1.0, 1.0, 1.0, None]), "human", "polite")
    assert (found.classes, found.confusion, found.rows, found.left_out) == ([0.0, 1.0], [[1, 0], [0, 1]], 2, 4)


def test_other_labels_are_refused_by_row_and_never_shown() -> None:
    for label, what in (
        ("maybe", "a word that is not understood"),
        ([1], "a list or an object"),
        ("inf", "an infinite"),
    ):
        with pytest.raises(
            ValueError, match=rf"column 'human' of 'judged' holds {what}.* in row 'q1'\. Understood"
        ) as error:
            agree(labelled(["yes", label], [1.0, 0.0]), "human", "polite")
        assert "maybe" not in str(error.value)
        assert "pass/fail" in str(error.value)
    with pytest.raises(ValueError, match="holds an infinite number in row 'q0'"):
        agree(labelled([10**400, 1], [1.0, 0.0]), "human", "polite")


def test_columns_without_labels_are_told_apart() -> None:
    with pytest.raises(ValueError, match="column 'human' of 'judged' is empty in every row"):
        agree(labelled([None, ""], [1.0, 0.0]), "human", "polite")
    with pytest.raises(ValueError, match=r"no labels in a column 'humn' \(nearest: 'human'\)"):
        agree(labelled([None, None], [1.0, 0.0]), "humn", "polite")
    with pytest.raises(ValueError, match="no row has both a label in column 'human' and a score of 'polite'"):
        agree(labelled([1, None], [None, 0.0]), "human", "polite")


@pytest.mark.parametrize(
    ("labels", "scores", "options", "message"),
    [
        (
            ["yes", "no", "yes"],
            [0.7, 0.2, 1.0],
            {},
            "holds two classes, but 'polite' has graded scores. Give a threshold",
        ),
        ([1, 5, 3], [0.0, 1.0, 0.5], {}, "labels from 1 to 5, but 'polite' has scores from 0 to 1: two scales"),
        ([0, 1, 0.5], [1.0, 5.0, 3.0], {}, "labels from 0 to 1, but 'polite' has scores from 1 to 5: two scales"),
        ([1, 0, 1], [1.0, 0.0, 0.5], {"threshold": 5}, "threshold 5 makes one class only of the labels and scores"),
        (
            [1, 5, 3],
            [0.0, 1.0, 0.5],
            {"threshold": 0.5},
            r"one class only of the labels of column 'human' \(labels from 1",
        ),
    ],
)
def test_scales_that_cannot_agree_are_refused(
    labels: list[Any], scores: list[float | None], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        agree(labelled(labels, scores), "human", "polite", **options)


@pytest.mark.parametrize(
    ("labels", "scores", "options"),
    [
        (["yes", "no", "yes"], [0.7, 0.2, 1.0], {"threshold": 0.5}),
        ([1, 5, 3], [1.0, 4.0, 3.0], {"weights": "quadratic"}),
        ([1, 5, 3], [1.0, 1.0, 1.0], {}),  # a judge that gives the lowest grade only
        ([1, 1, 1], [1.0, 1.0, 1.0], {"threshold": 0.5}),  # people who found nothing wrong
        ([1, 0, 1], [0.7, 0.8, 0.9], {"threshold": 0.5}),  # a judge that found nothing wrong
    ],
)
def test_scales_that_can_agree_are_compared(
    labels: list[Any], scores: list[float | None], options: dict[str, Any]
) -> None:
    assert agree(labelled(labels, scores), "human", "polite", **options).rows == 3


def test_scales_are_checked_with_weights_as_well() -> None:
    run = labelled([1, 5, 3, 2], [0.0, 1.0, 0.5, 0.25])
    for weights in ("linear", "quadratic"):
        with pytest.raises(ValueError, match=r"two scales.*label_range=\(1, 5\) \(--label-range 1:5\).*label_words"):
            agree(run, "human", "polite", weights=weights)
    found = agree(run, "human", "polite", weights="quadratic", label_range=(1, 5))
    assert (found.kappa, found.mean_absolute_error) == (1.0, 0.0)
    # Words of the user's own do the same.
    words = {"1": 0, "2": 0.25, "3": 0.5, "5": 1}
    assert agree(run, "human", "polite", weights="quadratic", label_words=words).kappa == 1.0
    # A metric of 0 and 1 beside grades from 0 to 5.
    with pytest.raises(ValueError, match="two scales"):
        agree(labelled([0, 5, 3], [0.0, 1.0, 1.0]), "human", "polite", weights="linear")


@pytest.mark.parametrize(
    ("limits", "message"),
    [((1, 4), "outside in row 'q1' .1 such"), ((5, 1), "lowest and the highest"), ((0, math.inf), "lowest and the")],
)
def test_a_range_that_is_none_or_too_small_is_refused(limits: tuple[float, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agree(labelled([1, 5, 3], [0.0, 1.0, 0.5]), "human", "polite", label_range=limits)


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([0, 5, 1], [0.0, 1.0, 0.5]),  # 1 of 5 would count as right
        ([0, 1, 1], [5.0, 1.0, 2.0]),  # all scores would
        ([0.2, 1, 0.9], [5.0, 1.0, 2.0]),
    ],
)
def test_a_threshold_does_not_hide_two_scales(labels: list[Any], scores: list[float | None]) -> None:
    with pytest.raises(ValueError, match=r"two scales.*--label-range"):
        agree(labelled(labels, scores), "human", "polite", threshold=0.5)


def test_labels_of_a_metric_of_which_less_is_better_may_be_the_wrong_way_round() -> None:
    run = labelled(["yes", "no", "yes", "no"], [0.0, 1.0, 0.0, 1.0])
    assert run.metrics["polite"].info.lower_is_better
    found = agree(run, "human", "polite")
    assert (found.kappa, "--label-words yes=0,no=1" in " ".join(found.notes)) == (-1.0, True)
    assert agree(run, "human", "polite", label_words={"yes": 0, "no": 1}).notes == []


def test_words_of_two_classes_go_with_a_rubric() -> None:
    found = agree(labelled(["yes", "no", "yes"], [5.0, 1.0, 2.0]), "human", "polite", threshold=3)
    assert found.confusion == [[1, 0], [1, 1]]


# --- rates, ranks, several raters, thresholds ---------------------------------------------------------------------


def test_rates_golden() -> None:
    # People's yes: 45, of which the judge finds 40; people's no: 55, of which it finds 45.
    result = agreement([1] * 45 + [0] * 55, [1] * 40 + [0] * 5 + [1] * 10 + [0] * 45)
    assert (result.tpr, result.tnr) == (close(40 / 45), close(45 / 55))
    no, yes = result.by_class
    assert (no.value, no.precision, yes.precision) == (0, close(45 / 50), close(40 / 50))
    for interval, count, rows in (
        (yes.recall_interval, 40, 45),
        (no.recall_interval, 45, 55),
        (yes.precision_interval, 40, 50),
        (no.precision_interval, 45, 50),
    ):
        assert interval is not None
        assert interval[:2] == close(proportion.proportion_confint(count, rows, method="wilson"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_rates_of_classes_are_sklearns(pairs: list[tuple[int, int]]) -> None:
    human, judge = zip(*pairs, strict=True)
    result = agreement(human, judge)
    names = result.classes
    expected = precision_recall_fscore_support(human, judge, labels=names, zero_division=0)
    assert [each.precision or 0.0 for each in result.by_class] == close(expected[0].tolist())
    assert [each.recall or 0.0 for each in result.by_class] == close(expected[1].tolist())
    assert [each.recall is None for each in result.by_class] == [value not in human for value in names]
    assert (result.tpr is None) == (1 not in human or not set(names) <= {0, 1})


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 10)), min_size=1, max_size=40), st.randoms())
def test_neither_order_of_rows_nor_a_second_look_changes_agreement(pairs: list[tuple[int, int]], chance: Any) -> None:
    mixed = list(pairs)
    chance.shuffle(mixed)
    (one, two), (one_mixed, two_mixed) = zip(*pairs, strict=True), zip(*mixed, strict=True)
    for weights in (None, "linear", "quadratic"):
        assert agreement(one, two, weights=weights).kappa == close(
            agreement(one_mixed, two_mixed, weights=weights).kappa
        )
        assert agreement(one, one, weights=weights).kappa == (None if len(set(one)) == 1 else close(1.0))
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha([one, two, one], level)
        assert alpha == close(krippendorff_alpha([two_mixed, one_mixed, one_mixed], level))
        assert krippendorff_alpha([one, one], level) == (None if len(set(one)) == 1 else close(1.0))
    assert rank_agreement(one, two).spearman == close(rank_agreement(one_mixed, two_mixed).spearman)


def test_alpha_golden() -> None:
    # Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, examples A to C.
    # A: 14 zeros and 6 ones of n = 20; 4 of 10 rows differ, 2 * 4 = 8 unlike ordered pairs observed.
    # 1 - (20 - 1) * 8 / (2 * 14 * 6) = 0.095
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha([meg, owen]) == close(1 - 19 * 8 / 168)
    # B: a to e come 4, 6, 6, 6 and 2 times, n = 24: 24^2 - (16 + 36 + 36 + 36 + 4) = 448 unlike pairs expected; 3 of 12
    # rows differ. 1 - 23 * 6 / 448 = 0.692
    ben, gerry = list("aabbdcccedda"), list("babbbccceddd")
    assert krippendorff_alpha([ben, gerry]) == close(1 - 23 * 6 / 448)
    # C: four observers, with gaps; the last row has one value and counts for nothing.
    none = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, math.nan],
    ]
    for level, expected in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        assert krippendorff_alpha(observers, level) == pytest.approx(expected, abs=5e-4)  # type: ignore[arg-type]


def test_alpha_by_hand() -> None:
    # Rows (1, 1), (1, 3), (3, 3), (2, 2) of two raters: n = 8, values 1, 2, 3 stand 3, 2, 3 times. Observed: the pairs
    # (1, 3) and (3, 1), once each. Interval: 4 apart squared; expected 2 * (3*2*1 + 2*3*1 + 3*3*4) = 96.
    ratings = [[1, 1, 3, 2], [1, 3, 3, 2]]
    assert krippendorff_alpha(ratings, "interval") == close(1 - 7 * (2 * 4) / 96)
    # Nominal: all unlike pairs expected 2 * (6 + 6 + 9) = 42.
    assert krippendorff_alpha(ratings) == close(1 - 7 * 2 / 42)
    # Ordinal: ranks 1.5, 4, 6.5; (2.5)^2 = 6.25 and 5^2 = 25; expected 2 * (6*6.25 + 6*6.25 + 9*25) = 600.
    assert krippendorff_alpha(ratings, "ordinal") == close(1 - 7 * (2 * 25) / 600)


@pytest.mark.parametrize(
    ("ratings", "level", "message"),
    [
        ([[1], [1, 2]], "nominal", "each rater must have one value for each of the 1 rows"),
        ([["a"], ["b"]], "ordinal", "'ordinal' needs numbers"),
        ([[1], [2]], "ratio", "level must be one of nominal, ordinal, interval"),
    ],
)
def test_wrong_ratings_are_named(ratings: Any, level: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(ratings, level)


def test_alpha_without_any_pair_or_variety_is_none() -> None:
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None


def test_ranks_are_scipys_and_their_interval_covers() -> None:
    draw = np.random.default_rng(3)
    human = draw.integers(1, 6, 80)
    scores = human + draw.normal(0, 1.5, 80)
    found = rank_agreement(human.tolist(), scores.tolist())
    assert found.spearman == close(stats.spearmanr(human, scores).statistic)
    assert found.kendall == close(stats.kendalltau(human, scores).statistic)
    # Bonett and Wright 2000: atanh(r) +- 1.96 sqrt((1 + r^2 / 2) / (n - 3))
    assert found.spearman is not None
    half = stats.norm.ppf(0.975) * math.sqrt((1 + found.spearman**2 / 2) / 77)
    expected = [math.tanh(math.atanh(found.spearman) + side) for side in (-half, half)]
    assert found.spearman_interval is not None
    assert found.spearman_interval[:2] == close(expected)
    assert rank_agreement([1, 1, None], [0.1, 0.2, 0.3]).spearman is None
    assert rank_agreement([1, 2], [0.1, 0.2]).spearman_interval is None


def noisy(rows: int, seed: int, signal: float) -> tuple[list[float], list[float]]:
    draw = np.random.default_rng(seed)
    people = (draw.random(rows) < 0.5).astype(float)
    return people.tolist(), (draw.random(rows) + signal * people).tolist()


def test_the_best_threshold_is_the_best_of_all() -> None:
    people, scores = noisy(60, 1, 0.5)
    found = sweep_thresholds(people, scores)
    every = [cohen_kappa_score(people, [float(score >= cut) for score in scores]) for cut in sorted(scores)]
    assert found.in_sample.kappa == close(max(every))
    for each in found.thresholds:
        at = agreement(people, [float(score >= each.threshold) for score in scores])
        assert (each.accuracy, each.kappa, each.tpr, each.tnr) == close((at.accuracy, at.kappa, at.tpr, at.tnr))
    assert len(found.thresholds) == 20
    assert (len(found.chosen), found.folds, sweep_thresholds(people, scores)) == (5, 5, found)
    assert sweep_thresholds(people, scores, seed=1).chosen != found.chosen


def test_scores_of_chance_look_good_in_sample_alone() -> None:
    inside, outside = [], []
    for seed in range(40):
        found = sweep_thresholds(*noisy(30, seed, 0.0), seed=seed)
        inside.append(found.in_sample.kappa or 0.0)
        outside.append(found.out_of_fold.kappa or 0.0)
    assert np.mean(inside) > 0.15
    assert abs(np.mean(outside)) < 0.1


def test_no_row_is_judged_by_a_threshold_that_it_helped_to_choose() -> None:
    people, scores = noisy(40, 2, 0.6)
    clusters = [row // 2 for row in range(40)]
    found = sweep_thresholds(people, scores, clusters=clusters, folds=4)
    # A row without a label had no say in any threshold.
    more = sweep_thresholds([*people, None, None], [*scores, 0.0, None], clusters=[*clusters, None, None], folds=4)
    assert (more.chosen, more.classes[40:]) == (found.chosen, [0.0, None])
    # The rows of a cluster are judged by one threshold, chosen without them.
    assert [value is None for value in found.classes] == [False] * 40
    for first in range(0, 40, 2):
        given = [found.classes[first], found.classes[first + 1]]
        assert any(given == [float(scores[row] >= cut) for row in (first, first + 1)] for cut in found.chosen), first


@pytest.mark.parametrize(
    ("people", "scores", "options", "message"),
    [
        ([1, 2, 1, 2], [0.1, 0.2, 0.3, 0.4], {}, "two classes, 1 and 0"),
        ([1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], {}, "one class has 1: label more rows"),
        ([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], {"clusters": ["a", "a", "b", "b"]}, "not of one cluster"),
        ([1, 1, 0, 0], [0.5] * 4, {}, "all are the same"),
        ([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], {"folds": 1}, "folds must be at least 2"),
    ],
)
def test_sweeps_that_cannot_be_are_refused(people: Any, scores: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sweep_thresholds(people, scores, **options)


@pytest.mark.parametrize(
    ("human", "judge", "least", "outcome"),
    [
        ([1, 0] * 50, [1, 0] * 50, 0.8, "pass"),
        ([1, 0] * 4, [1, 0] * 4, 0.8, "inconclusive"),  # eight rows prove little, however well they agree
        ([1, 0] * 50, [1, 0] * 35 + [0, 1] * 15, 0.8, "fail"),
        ([1, 0] * 50, [1, 0] * 45 + [0, 1] * 5, 0.8, "inconclusive"),
        ([1, 1], [1, 1], 0.8, "inconclusive"),
        # A judge that says one thing has kappa 0 whatever the rows, with no spread of its own.
        ([1, 0], [1, 1], 0.6, "inconclusive"),
        ([1, 0] * 100, [1, 1] * 100, 0.6, "fail"),
    ],
)
def test_a_lowest_kappa_fails_only_on_evidence(human: Any, judge: Any, least: float, outcome: str) -> None:
    assert kappa_outcome(agreement(human, judge), least) == outcome


def test_raters_may_give_words() -> None:
    found = rater_agreement(
        {"ann": ["good", "bad", "good"], "bob": ["good", "bad", "bad"]}, ("m", ["good", "bad", "good"])
    )
    assert list(found.people_alpha) == list(found.judge_alpha) == ["nominal"]
    assert found.people_alpha["nominal"] == krippendorff_alpha([["good", "bad", "good"], ["good", "bad", "bad"]])
    assert list(rater_agreement({"ann": [1, 0]}, ("m", [1, 1])).people_alpha) == ["nominal", "ordinal", "interval"]
