# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""AnswerExactMatchEvaluator against the stock one: the same class, found under another import."""

from __future__ import annotations

import inspect
import random
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.evaluators import AnswerExactMatchEvaluator as Stock
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext import AnswerExactMatchEvaluator as Ours
from retrieval_data import needs_stock

WORDS = ("Paris", "paris", "Paris.", "café", "cafe\u0301", "", " ", "東京", "1")


def check_equal_to_stock(references: list[str], answers: list[str]) -> list[float]:
    wanted = Stock().run(ground_truth_answers=references, predicted_answers=answers)
    got = Ours().run(ground_truth_answers=references, predicted_answers=answers)
    assert set(wanted) <= set(got)
    assert got["individual_scores"] == wanted["individual_scores"]
    assert got["score"] == pytest.approx(wanted["score"], rel=0, abs=1e-12)
    assert {type(value) for value in (got["score"], *got["individual_scores"])} == {float}
    scores: list[float] = got["individual_scores"]
    return scores


@needs_stock
def test_equal_to_stock_on_seeded_rows() -> None:
    rng = random.Random(2)
    scores = [score for _ in range(50) for score in check_equal_to_stock(*(rng.choices(WORDS, k=12) for _ in range(2)))]
    assert min(scores.count(0.0), scores.count(1.0)) > 20


@needs_stock
@given(rows=st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), min_size=1, max_size=6))
def test_equal_to_stock_on_any_text(rows: list[tuple[str, str]]) -> None:
    check_equal_to_stock(*map(list, zip(*rows, strict=True)))
    check_equal_to_stock([row[0] for row in rows], [row[0] for row in rows])


def test_values_of_stock_3_4_1() -> None:
    """Its own docstring's rows: one of two is equal."""
    result = Ours().run(ground_truth_answers=["Berlin", "Paris"], predicted_answers=["Berlin", "Lyon"])
    assert result["individual_scores"] == [1.0, 0.0]
    assert result["score"] == 1 / 2


def test_every_call_of_stock_is_understood() -> None:
    """No init parameter without a default; the same inputs in the same order, positional or by name."""
    assert list(inspect.signature(Stock.run).parameters) == list(inspect.signature(Ours.run).parameters)
    assert all(
        parameter.default is not parameter.empty
        for name, parameter in inspect.signature(Ours.__init__).parameters.items()
        if name != "self"
    )
    assert Ours().run(["a"], ["a"])["score"] == Stock().run(["a"], ["a"])["score"]


def test_stock_yaml_loads_under_our_module() -> None:
    pipeline = Pipeline()
    pipeline.add_component("it", Stock())
    ours = pipeline.dumps().replace(Stock.__module__, Ours.__module__)
    loaded: Any = Pipeline.loads(ours).get_component("it")
    assert type(loaded) is Ours
