# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of a judge with people against statsmodels and scikit-learn, and a golden value with its arithmetic."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater, proportion

from haystack_eval_ext.runs.api import agree
from haystack_eval_ext.runs.run import EvaluationRun
from haystack_eval_ext.runs.statistics import agreement
from kept_runs import judged

CHANCE = np.random.default_rng(7)


def close(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


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
