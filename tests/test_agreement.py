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

from haystack_eval_ext.runs.statistics import agreement

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
