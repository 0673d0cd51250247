# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What every judged evaluator does about odd rows, odd parameters and a fault of its own."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from haystack import component
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import (
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    ContextRelevanceEvaluator,
    FailedRowsError,
    FaithfulnessEvaluator,
    JudgePolicy,
    LLMEvaluator,
    PairwiseEvaluator,
    RefusalEvaluator,
    RubricEvaluator,
    UndefinedScore,
)
from haystack_eval_ext._text import blank
from judged_makers import FAST, asked, following, replying, system

VERDICTS = "scripted_judge:verdicts"
ROWS: dict[str, Any] = {
    "questions": ["q", "q"],
    "contexts": [["A b."], ["a"]],
    "predicted_answers": ["A b.", " "],
}


def test_undefined_rows_are_refused_before_a_call_is_paid() -> None:
    evaluator = following(FaithfulnessEvaluator, VERDICTS, on_undefined="raise")
    with pytest.raises(UndefinedScore, match=r"1 of 2 rows are undefined .*: row 1") as caught:
        evaluator.run(**ROWS)
    assert asked(evaluator) == []
    assert caught.value.result is None  # type: ignore[attr-defined]


UNSEEN = ("\u200b", " \u00ad\n", "\u3164", "\ufe0f", "\u2066\u2069", "\x07", "\U000e0100")


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_what_nobody_sees_is_no_text_wherever_it_stands(text: str) -> None:
    policy = {**FAST, "max_calls": 0}
    quiet: dict[str, Any] = {"policy": policy, "on_undefined": "nan"}
    for maker, row, status in (
        (FaithfulnessEvaluator, {"contexts": [text], "predicted_answers": "A b."}, "scored"),
        (FaithfulnessEvaluator, {"contexts": ["A b."], "predicted_answers": text}, "undefined"),
        (ContextRelevanceEvaluator, {"contexts": [text]}, "scored"),
        (ContextPrecisionEvaluator, {"contexts": [text], "ground_truth_answers": "a"}, "scored"),
        (ContextPrecisionEvaluator, {"contexts": ["a"], "ground_truth_answers": text}, "not_run"),
        (ContextRecallEvaluator, {"contexts": [text], "ground_truth_answers": "a"}, "scored"),
        (RefusalEvaluator, {"predicted_answers": text}, "undefined"),
        (PairwiseEvaluator, {"predicted_answers": text, "other_answers": ""}, "scored"),
    ):
        sockets = {name: [value] for name, value in row.items()}
        result = replying(maker, {}, **quiet).run(questions=["q"], **sockets)
        assert (result["statuses"], result["usage"]["calls"]) == ([status], 0), maker


@pytest.mark.parametrize("text", ["...", "\ufffd", "👍", "\u0301", "0", "\ud800"], ids=ascii)
def test_signs_are_text(text: str) -> None:
    assert not blank(text)


def test_rows_that_turn_out_undefined_keep_the_result() -> None:
    evaluator = replying(
        FaithfulnessEvaluator,
        {"statements": []},
        statements="extracted",
        on_undefined="raise",
    )
    with pytest.raises(UndefinedScore, match="1 of 1 rows are undefined") as caught:
        evaluator.run(questions=["q"], contexts=[["A b."]], predicted_answers=["Hello!"])
    result = caught.value.result  # type: ignore[attr-defined]
    assert (result["statuses"], result["usage"]["calls"]) == (["undefined"], 1)


@component
class Broken(FaithfulnessEvaluator):
    """An evaluator with a fault of its own on one row."""

    async def _judge_row(self, ask: Any, row: Any) -> Any:
        if row["questions"] == "bad":
            msg = "a private text"
            raise KeyError(msg)
        return await FaithfulnessEvaluator._judge_row(self, ask, row)


@pytest.mark.parametrize("on_undefined", ["nan", "raise"])
def test_a_fault_of_the_evaluator_costs_its_row_only(on_undefined: str) -> None:
    evaluator = following(Broken, VERDICTS, on_undefined=on_undefined)
    inputs = {"questions": ["q", "bad"], "contexts": [["A b."]] * 2, "predicted_answers": ["A b."] * 2}
    result = evaluator.run(**inputs)
    assert (result["statuses"], result["score"]) == (["scored", "error"], 1.0)
    assert math.isnan(result["individual_scores"][1])
    assert "KeyError" in result["errors"][1]
    # It is in the results, as replies are, and in no message.
    assert "private" in result["results"][1].pop("message")
    assert "private" not in str(result)
    assert evaluator.plan(**inputs).calls == 1


@pytest.mark.parametrize("votes", [1, 3])
def test_a_plan_of_two_steps_is_a_bound(votes: int) -> None:
    rule = "scripted_judge:extract"
    evaluator = following(FaithfulnessEvaluator, rule, statements="extracted", policy={**FAST, "votes": votes})
    inputs = {"questions": ["q"], "contexts": [["A b."]], "predicted_answers": ["A b. C."]}
    plan = evaluator.plan(**inputs)
    assert (plan.calls, plan.exact) == (1 + votes, False)
    assert evaluator.run(**inputs)["usage"]["calls"] == plan.calls


def test_failed_rows_and_rows_not_run_are_told_together(caplog: pytest.LogCaptureFixture) -> None:
    inputs = {"questions": ["q", "r"], "contexts": [["c"]] * 2, "predicted_answers": ["A.", "B."]}
    policy = {**FAST, "max_attempts": 1, "max_calls": 1, "max_concurrency": 1}
    evaluator = replying(FaithfulnessEvaluator, "junk", policy=policy)
    assert sorted(evaluator.run(**inputs)["statuses"]) == ["error", "not_run"]
    (record,) = [one for one in caplog.records if "rows" in one.getMessage()]
    assert "1 of 2 rows failed" in record.getMessage()
    assert "1 of 2 rows were not run" in record.getMessage()
    with pytest.raises(FailedRowsError, match=r"rows failed.* were not run"):
        replying(FaithfulnessEvaluator, "junk", policy=policy, raise_on_failure=True).run(**inputs)


def stated(**changed: Any) -> dict[str, Any]:
    inputs = {"questions": "q", "contexts": ["c"], "predicted_answers": "a"}
    return {"inputs": inputs, "outputs": {"statements": ["a"], "statement_scores": [1], **changed}}


BAD_EXAMPLES: list[tuple[Any, dict[str, Any], str]] = [
    (FaithfulnessEvaluator, stated(statement_scores=[1, 0]), "one verdict for each of its 1 entries, but has 2"),
    (FaithfulnessEvaluator, stated(statement_scores=["private"]), "statement_scores must be 1 or 0 .* a str"),
    (FaithfulnessEvaluator, stated(statement_scores=1), "statement_scores must be a list of verdicts.* an int"),
    (FaithfulnessEvaluator, stated(statements="private"), "'statements' must be a list of texts"),
    (
        RefusalEvaluator,
        {"inputs": {"questions": "q", "predicted_answers": "a"}, "outputs": {"declines": "private"}},
        "declines must be 1 or 0",
    ),
]


@pytest.mark.parametrize(("evaluator", "example", "message"), BAD_EXAMPLES)
def test_bad_examples_are_told_by_place_and_without_texts(evaluator: Any, example: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^examples\[0\]: .*{message}") as caught:
        evaluator(chat_generator=MockChatGenerator("x"), examples=[example])
    assert "private" not in str(caught.value)


def test_values_of_a_wrong_type_in_examples_are_told_without_pythons_words() -> None:
    example = {"inputs": {"questions": "q", "predicted_answers": "a", "contexts": 1}, "outputs": {"level": 1}}
    inputs: Any = ["questions", "predicted_answers", "contexts"]
    with pytest.raises(ValueError, match=r"examples\[0\] has a value of another type") as caught:
        RubricEvaluator(criteria="c", inputs=inputs, chat_generator=MockChatGenerator("x"), examples=[example])
    assert "object" not in str(caught.value)


def test_verdicts_in_examples_may_be_words() -> None:
    example = stated(statement_scores=["Yes."])
    prompt = FaithfulnessEvaluator(chat_generator=MockChatGenerator("x"), examples=[example])._prompt
    assert prompt.examples[0][1] == {"verdicts": {"s1": 1}}


@pytest.mark.parametrize("evaluator", [FaithfulnessEvaluator, ContextRelevanceEvaluator, LLMEvaluator])
@pytest.mark.parametrize(("given", "kind"), [(" ", ValueError), ("", ValueError), (3, TypeError)])
def test_instructions_are_a_text_that_is_not_blank(evaluator: Any, given: Any, kind: type[Exception]) -> None:
    more = {"inputs": [("a", list[str])], "outputs": ["o"], "examples": []} if evaluator is LLMEvaluator else {}
    with pytest.raises(kind, match="instructions must be a text that is not blank"):
        evaluator(instructions=given, chat_generator=MockChatGenerator("x"), **more)


@pytest.mark.parametrize(
    ("language", "line"), [("en", "The criteria, as a JSON object:"), ("ja", "評価の基準（JSONオブジェクト）：")]
)
def test_the_criteria_of_a_rubric_are_announced(language: str, line: str) -> None:
    evaluator = following(
        RubricEvaluator, "cases_judged_others:grade", criteria="Be kind.", instructions="Grade!", language=language
    )
    evaluator.run(questions=["q"], predicted_answers=["a b"])
    assert system(evaluator).splitlines()[:2] == ["Grade!", line]


class Plain:
    """A generator without ``to_dict``."""

    def __init__(self, model: str = "m") -> None:
        self.model = model

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
        raise AssertionError


def test_a_generator_without_to_dict_goes_by_its_parameters() -> None:
    parameters = FaithfulnessEvaluator(chat_generator=Plain("x"), policy=FAST).to_dict()["init_parameters"]
    assert parameters["chat_generator"] == {"type": f"{__name__}.Plain", "init_parameters": {"model": "x"}}
    assert json.loads(json.dumps(parameters["policy"])) == JudgePolicy(**FAST).to_dict()  # type: ignore[arg-type]
