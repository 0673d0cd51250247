# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairwise: what the table cannot say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from haystack.components.generators.chat import MockChatGenerator

from cases_judged import rows
from haystack_eval_ext import PairwiseEvaluator, RefusalEvaluator
from judged_makers import FAST, asked, following, replying


def by_answers(data: dict[str, Any]) -> object:
    """The predicted answer, "x", and the other one, "y", carry the verdicts for each order: "x first tie"."""
    pair = data["pairs"]["p1"]
    _, when_first, when_second = pair["first" if pair["first"].startswith("x") else "second"].split()
    return {"verdicts": {"p1": when_first if pair["first"].startswith("x") else when_second}}


PREDICTED, OTHER, TIE = "predicted", "other", "tie"
ORDERS = {
    ("first", "second"): (PREDICTED, True),
    ("second", "first"): (OTHER, True),
    ("tie", "tie"): (TIE, True),
    ("first", "first"): (TIE, False),
    ("second", "second"): (TIE, False),
    ("first", "tie"): (TIE, False),
    ("tie", "first"): (TIE, False),
    ("second", "tie"): (TIE, False),
    ("tie", "second"): (TIE, False),
}


def pairs(*orders: tuple[str, str]) -> dict[str, list[str]]:
    """Rows whose verdicts in both orders are given."""
    return rows(
        questions=["q"] * len(orders),
        predicted_answers=[f"x {first} {second}" for first, second in orders],
        other_answers=["y"] * len(orders),
    )


@pytest.mark.parametrize(("order", "expected"), ORDERS.items())
def test_an_answer_wins_only_in_both_orders(order: tuple[str, str], expected: tuple[str, bool]) -> None:
    result = following(PairwiseEvaluator, "test_judged_pairwise:by_answers").run(**pairs(order))
    entry = result["results"][0]
    assert (entry["winner"], entry["consistent"]) == expected
    assert entry["verdicts"] == list(order)
    assert result["score"] == {PREDICTED: 1.0, TIE: 0.5, OTHER: 0.0}[expected[0]]


def test_the_summary_tells_consistency_and_the_preferred_position() -> None:
    inputs = pairs(*ORDERS, ("first", "tie"))
    for name, value in (("questions", "q"), ("predicted_answers", "same"), ("other_answers", "same")):
        inputs[name].append(value)
    assert following(PairwiseEvaluator, "test_judged_pairwise:by_answers").run(**inputs)["summary"] == {
        "wins": 1,
        # (tie, tie), the seven inconsistent ones, and the equal texts.
        "ties": 9,
        "losses": 1,
        # Three of the ten that were asked about.
        "consistency": 3 / 10,
        # First: (first, first), (first, tie) twice, (tie, first). Second: the other three. (4 - 3) / 7.
        "first_position_preference": 1 / 7,
    }


def test_equal_texts_tie_without_a_call() -> None:
    evaluator = following(PairwiseEvaluator, "cases_judged_others:longer")
    inputs = {"questions": ["q", "q"], "predicted_answers": ["a\n", ""], "other_answers": [" a", " "]}
    assert evaluator.plan(**inputs).calls == 0
    result = evaluator.run(**inputs)
    assert result["individual_scores"] == [0.5, 0.5]
    assert evaluator.chat_generator.asked == []
    assert (result["summary"]["consistency"], result["summary"]["first_position_preference"]) == (None, None)


def test_both_orders_are_asked_and_planned() -> None:
    evaluator = following(PairwiseEvaluator, "cases_judged_others:longer")
    inputs = {"questions": ["q"], "predicted_answers": ["a b"], "other_answers": ["c"]}
    plan = evaluator.plan(**inputs)
    assert (plan.calls, plan.exact) == (2, True)
    evaluator.run(**inputs)
    shown = sorted(json.dumps(data) for data in asked(evaluator))
    assert shown == [
        '{"question": "q", "pairs": {"p1": {"first": "a b", "second": "c"}}}',
        '{"question": "q", "pairs": {"p1": {"first": "c", "second": "a b"}}}',
    ]


def test_swapped_answers_swap_the_score() -> None:
    evaluator = following(PairwiseEvaluator, "cases_judged_others:longer")
    one, other = ["a b", "a", "near a", "a"], ["a", "a b", "b c", "b"]
    there = evaluator.run(questions=["q"] * 4, predicted_answers=one, other_answers=other)["individual_scores"]
    back = evaluator.run(questions=["q"] * 4, predicted_answers=other, other_answers=one)["individual_scores"]
    assert there == [1 - score for score in back] == [1.0, 0.0, 0.5, 0.5]


def test_evidence_is_shown_and_its_sockets_exist_only_then() -> None:
    inputs = {"questions": ["q"], "predicted_answers": ["a b"], "other_answers": ["c"]}
    more = {"contexts": [["k", " "]], "ground_truth_answers": [["r"]]}
    evaluator = following(
        PairwiseEvaluator, "cases_judged_others:longer", evidence=["ground_truth_answers", "contexts"]
    )
    evaluator.run(**inputs, **more)
    assert all(data["contexts"] == {"c1": "k"} and data["references"] == {"r1": "r"} for data in asked(evaluator))
    with pytest.raises(TypeError, match="needs contexts, ground_truth_answers"):
        evaluator.run(**inputs)
    with pytest.raises(TypeError, match="has no input contexts, ground_truth_answers"):
        following(PairwiseEvaluator, "cases_judged_others:longer").run(**inputs, **more)


@pytest.mark.parametrize(
    ("votes", "verdicts", "agreement"),
    # In each order two of three for the first; two of four for each.
    [(["first", "second", "first"], ["first", "first"], 2 / 3), (["first", "second"] * 2, ["tie", "tie"], 0.5)],
)
def test_votes_without_a_majority_are_a_tie_in_their_order(
    votes: list[str], verdicts: list[str], agreement: float
) -> None:
    replies = [{"verdicts": {"p1": verdict}} for verdict in votes]
    evaluator = replying(PairwiseEvaluator, *replies, policy={**FAST, "votes": len(votes), "max_concurrency": 1})
    entry = evaluator.run(questions=["q"], predicted_answers=["a"], other_answers=["b"])["results"][0]
    assert (entry["verdicts"], entry["agreement"]) == (verdicts, agreement)


@pytest.mark.parametrize(
    ("make_it", "error", "message"),
    [
        (lambda: PairwiseEvaluator(evidence="contexts"), TypeError, "evidence must be a list .* a str"),  # type: ignore[arg-type]
        (lambda: PairwiseEvaluator(evidence=["questions"]), ValueError, "evidence must be one of 'contexts'"),  # type: ignore[list-item]
        (lambda: RefusalEvaluator(score_by="f1"), ValueError, "score_by must be one of 'refusal', 'decision'"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters_are_refused_by_name(make_it: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_it()


def test_an_example_must_name_a_winner() -> None:
    example = {
        "inputs": {"questions": "q", "predicted_answers": "a", "other_answers": "b"},
        "outputs": {"winner": "first"},
    }
    with pytest.raises(ValueError, match="winner must be one of 'predicted', 'other', 'tie'"):
        PairwiseEvaluator(examples=[example], chat_generator=MockChatGenerator("x"))


@pytest.mark.parametrize("evaluator", [RefusalEvaluator, PairwiseEvaluator])
def test_the_japanese_prompt_has_the_same_form(evaluator: Any) -> None:
    prompts = [evaluator(chat_generator=MockChatGenerator("x"), language=language)._prompt for language in ("en", "ja")]
    keys = [[[sorted(part) for part in example] for example in prompt.examples] for prompt in prompts]
    assert keys[0] == keys[1] != []
