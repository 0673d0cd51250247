# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusal and rubric: what the tables cannot say."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.generators.chat import MockChatGenerator

from cases_judged import rows
from cases_judged_others import REFUSALS
from haystack_eval_ext import RefusalEvaluator, RubricEvaluator, UndefinedScore
from judged_makers import FAST, asked, following, replying, system

# Refusal


def test_refusals_are_counted_by_answerable_and_answered() -> None:
    result = following(RefusalEvaluator, "cases_judged_others:declines").run(**REFUSALS)
    assert result["summary"] == {
        "answered": 2,
        "declined": 2,
        "not_judged": 1,
        "answerable": {"answered": 1, "declined": 1},
        "unanswerable": {"answered": 1, "declined": 1},
        # The first and the fourth row of the four that were judged.
        "decision_accuracy": 0.5,
    }
    assert [entry["declines"] for entry in result["results"]] == [0, 1, 0, 1, None]
    assert result["statuses"] == ["scored"] * 4 + ["undefined"]


def test_the_score_is_the_accuracy_of_the_decision_if_asked_for() -> None:
    result = following(RefusalEvaluator, "cases_judged_others:declines", score_by="decision", on_undefined="nan").run(
        **REFUSALS
    )
    assert result["score"] == result["summary"]["decision_accuracy"] == 0.5


def test_without_labels_there_is_no_matrix() -> None:
    result = following(RefusalEvaluator, "cases_judged_others:declines").run(
        questions=["a", "b"], predicted_answers=["x", "not know"]
    )
    assert result["summary"] == {"answered": 1, "declined": 1, "not_judged": 0}


def test_a_label_that_nobody_knows_is_in_no_matrix() -> None:
    inputs = {"questions": ["a", "b"], "predicted_answers": ["x", "y"], "answerable": [None, False]}
    summary = following(RefusalEvaluator, "cases_judged_others:declines").run(**inputs)["summary"]
    assert summary["answered"] == 2
    assert summary["answerable"] == {"answered": 0, "declined": 0}
    assert summary["unanswerable"] == {"answered": 1, "declined": 0}
    assert summary["decision_accuracy"] == 0.0
    decision = following(RefusalEvaluator, "cases_judged_others:declines", score_by="decision")
    assert decision.run(**inputs)["statuses"] == ["undefined", "scored"]
    assert len(decision.chat_generator.asked) == 1


def test_blank_answers_cost_no_call() -> None:
    evaluator = following(RefusalEvaluator, "cases_judged_others:declines", on_undefined="nan")
    inputs = rows(questions=["a", "b"], predicted_answers=["", " \n"], answerable=[True, False])
    result = evaluator.run(**inputs)
    assert evaluator.chat_generator.asked == []
    assert math.isnan(result["score"])
    assert result["summary"]["decision_accuracy"] is None
    with pytest.raises(UndefinedScore, match="rows 0, 1"):
        following(RefusalEvaluator, "cases_judged_others:declines", on_undefined="raise").run(**inputs)


def test_a_decision_needs_its_labels() -> None:
    with pytest.raises(TypeError, match="needs answerable"):
        following(RefusalEvaluator, "cases_judged_others:declines", score_by="decision").run(
            questions=["q"], predicted_answers=["a"]
        )
    with pytest.raises(TypeError, match=r"answerable\[0\] must be True, False or None, but is an int"):
        following(RefusalEvaluator, "cases_judged_others:declines").run(
            questions=["q"], predicted_answers=["a"], answerable=[1]
        )


def test_a_refusal_is_asked_about_once_and_planned_so() -> None:
    evaluator = following(RefusalEvaluator, "cases_judged_others:declines")
    plan = evaluator.plan(**REFUSALS)
    assert (plan.calls, plan.exact) == (4, True)
    assert evaluator.run(**REFUSALS)["usage"]["calls"] == 4
    assert {"question": "Who?", "answers": {"a1": "Ada."}} in asked(evaluator)


def test_the_majority_of_votes_says_whether_it_declines() -> None:
    votes = [{"verdicts": {"a1": verdict}} for verdict in (1, 0, 1)]
    result = replying(RefusalEvaluator, *votes, policy={**FAST, "votes": 3}).run(
        questions=["q"], predicted_answers=["a"]
    )
    assert result["score"] == 1.0
    assert result["results"][0]["agreement"] == 2 / 3


def test_a_row_that_failed_is_not_counted_as_answered() -> None:
    result = replying(RefusalEvaluator, "I cannot say.").run(questions=["q"], predicted_answers=["a"])
    assert result["statuses"] == ["error"]
    assert result["summary"] == {"answered": 0, "declined": 0, "not_judged": 1}


# Rubric


@pytest.mark.parametrize(
    ("reply", "level"),
    [
        ({"level": 4}, 4),
        ({"level": 4.0}, 4),
        ({"level": "4"}, 4),
        ('Level:\n```json\n{"level": "4."}\n```', 4),
        ({"reason": "r", "level": 1}, 1),
        ({"level": 0}, None),
        ({"level": 6}, None),
        ({"level": 4.5}, None),
        ({"level": True}, None),
        ({"level": "good"}, None),
        ({"level": None}, None),
        ({"score": 4}, None),
        ([4], None),
        ("4", None),
    ],
)
def test_a_reply_is_a_level_of_the_scale_or_a_failure(reply: Any, level: int | None) -> None:
    evaluator = replying(RubricEvaluator, reply, criteria="Is it good?")
    result = evaluator.run(questions=["q"], predicted_answers=["a"])
    assert result["results"][0]["level"] == level
    assert result["statuses"] == ["error" if level is None else "scored"]
    assert result["usage"]["calls"] == (2 if level is None else 1)


def test_votes_give_their_mean_and_their_spread() -> None:
    votes = [{"reason": f"of {level}", "level": level} for level in (5, 1, 3)]
    evaluator = replying(
        RubricEvaluator, *votes, criteria="c", reasons=True, policy={**FAST, "votes": 3, "max_concurrency": 1}
    )
    result = evaluator.run(questions=["q"], predicted_answers=["a"])
    entry = result["results"][0]
    assert sorted(entry["levels"]) == [1, 3, 5]
    # (1 + 3 + 5) / 3, and (3 - 1) / 4.
    assert (entry["level"], entry["spread"], entry["reason"], result["score"]) == (3.0, 4, "of 3", 0.5)


def test_the_best_level_is_exactly_one_for_any_number_of_votes() -> None:
    for votes in (1, 3, 7):
        evaluator = replying(RubricEvaluator, {"level": 10}, criteria="c", scale=[3, 10], policy={"votes": votes})
        assert evaluator.run(questions=["q"], predicted_answers=["a"])["score"] == 1.0


def test_criteria_and_rubric_are_told_as_part_of_the_task() -> None:
    rubric = {1: "Rude.", 0: "Neither.", 2: "Kind."}
    evaluator = following(
        RubricEvaluator, "cases_judged_others:grade", criteria='Is it "kind"?', rubric=rubric, reasons=True
    )
    evaluator.run(questions=["q"], predicted_answers=["a"])
    task = {
        "scale": {"lowest": 0, "highest": 2},
        "criteria": 'Is it "kind"?',
        "rubric": {"0": "Neither.", "1": "Rude.", "2": "Kind."},
    }
    assert json.dumps(task) in system(evaluator)
    assert '{"reason": "...", "level"' in system(evaluator)
    assert asked(evaluator) == [{"question": "q", "answer": "a"}]


def test_instructions_and_examples_keep_the_criteria() -> None:
    example = {"inputs": {"questions": "Where?", "predicted_answers": "Oslo."}, "outputs": {"level": 2}}
    evaluator = following(
        RubricEvaluator, "cases_judged_others:grade", criteria="Be kind.", instructions="Grade!", examples=[example]
    )
    evaluator.run(questions=["q"], predicted_answers=["a"])
    assert system(evaluator).startswith('Grade!\nThe criteria, as a JSON object:\n{"scale"')
    assert "Be kind." in system(evaluator)
    assert '{"question": "Where?", "answer": "Oslo."}' in system(evaluator)
    assert '"reason"' not in system(evaluator)


def test_the_schema_allows_the_levels_alone_and_asks_for_the_reason_first() -> None:
    evaluator = following(RubricEvaluator, "cases_judged_others:grade", criteria="c", scale=[-1, 1], reasons=True)
    schema = evaluator._form().schema
    assert list(schema["properties"]) == schema["required"] == ["reason", "level"]
    assert schema["properties"]["level"] == {"type": "integer", "enum": [-1, 0, 1]}


def test_a_level_without_its_reason_is_still_a_level() -> None:
    evaluator = replying(RubricEvaluator, {"level": 2}, criteria="c", reasons=True)
    entry = evaluator.run(questions=["q"], predicted_answers=["a"])["results"][0]
    assert (entry["level"], entry["reason"]) == (2.0, None)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"questions": ["q"], "predicted_answers": [" "]}, "undefined"),
        ({"questions": [""], "predicted_answers": ["a"]}, "scored"),
        ({"questions": [""]}, "undefined"),
        ({"contexts": [[" "]], "ground_truth_answers": [[""]]}, "not_run"),
        ({"contexts": [[" ", "c"]], "ground_truth_answers": [[]]}, "not_run"),
        ({"contexts": [["c"]], "predicted_answers": [""]}, "undefined"),
    ],
)
def test_what_has_no_text_is_not_asked_about(given: dict[str, Any], status: str) -> None:
    evaluator = following(RubricEvaluator, "cases_judged_others:grade", criteria="c", inputs=list(given))
    assert evaluator.run(**given)["statuses"] == [status]
    assert len(evaluator.chat_generator.asked) == (1 if status == "scored" else 0)


def test_the_inputs_are_the_sockets() -> None:
    evaluator = following(
        RubricEvaluator, "cases_judged_others:grade", criteria="c", inputs=["contexts", "ground_truth_answers"]
    )
    evaluator.run(contexts=[["c", " ", "d"]], ground_truth_answers=[["r", "r", ""]])
    assert asked(evaluator) == [{"contexts": {"c1": "c", "c2": "d"}, "references": {"r1": "r"}}]
    with pytest.raises(TypeError, match="has no input predicted_answers"):
        evaluator.run(contexts=[["c"]], ground_truth_answers=["r"], predicted_answers=["a"])


def test_a_rubric_with_integers_survives_yaml() -> None:
    pipeline = Pipeline()
    pipeline.add_component("it", RubricEvaluator(rubric={1: "Bad.", 2: "Good."}, chat_generator=MockChatGenerator("x")))
    assert Pipeline.loads(pipeline.dumps()).get_component("it").rubric == {"1": "Bad.", "2": "Good."}  # type: ignore[attr-defined]


PRIVATE = "Confidential criterion"


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({}, ValueError, "criteria or rubric must be given"),
        ({"criteria": " "}, TypeError, "criteria must be a text, but is blank"),
        ({"criteria": 3}, TypeError, "criteria must be a text, but is an int"),
        ({"rubric": {}}, TypeError, "rubric must be a dictionary .* but is empty"),
        ({"rubric": [PRIVATE]}, TypeError, "rubric must be a dictionary .* but is a list"),
        ({"rubric": {1: PRIVATE, 3: PRIVATE}}, ValueError, "each level from 1 to 3 and no other, but lacks 2"),
        ({"rubric": {1: PRIVATE, 2: PRIVATE}, "scale": [1, 4]}, ValueError, "lacks 3, 4"),
        ({"rubric": {1: PRIVATE, 2: PRIVATE, 0: PRIVATE}, "scale": [1, 2]}, ValueError, "also has 0"),
        ({"rubric": {1: PRIVATE}}, ValueError, "from 1 to 1"),
        ({"rubric": {1.0: PRIVATE, 2: PRIVATE}}, TypeError, "must be integers, but one is a float"),
        ({"rubric": {True: PRIVATE, 2: PRIVATE}}, TypeError, "must be integers, but one is a bool"),
        ({"rubric": {PRIVATE: PRIVATE}}, TypeError, "must be integers, but one is a str"),
        ({"rubric": {1: PRIVATE, "1": PRIVATE, 2: PRIVATE}}, ValueError, "has 1 both as an integer and as a text"),
        ({"rubric": {1: PRIVATE, 2: "\n"}}, TypeError, r"rubric\[2\] must be the level's description, but is blank"),
        ({"rubric": {1: PRIVATE, 2: None}}, TypeError, r"rubric\[2\] must be the level's description, but is None"),
        ({"criteria": PRIVATE, "scale": [5, 1]}, ValueError, "lowest level first .* is from 5 to 1"),
        ({"criteria": PRIVATE, "scale": [1, 1]}, ValueError, "from 1 to 1"),
        ({"criteria": PRIVATE, "scale": [0, 101]}, ValueError, "from 2 to 101 levels"),
        ({"criteria": PRIVATE, "scale": [1, 2, 3]}, TypeError, "scale must be a list of two integers.* a list of 3"),
        ({"criteria": PRIVATE, "scale": [0.0, 1.0]}, TypeError, "scale must be a list of two integers"),
        ({"criteria": PRIVATE, "scale": 5}, TypeError, "scale must be a list of two integers.* an int"),
        ({"criteria": PRIVATE, "inputs": []}, TypeError, "inputs must be a list of names"),
        ({"criteria": PRIVATE, "inputs": "questions"}, TypeError, "inputs must be a list of names.* a str"),
        ({"criteria": PRIVATE, "inputs": ["answers"]}, ValueError, "Each of inputs must be one of 'questions'"),
        ({"criteria": PRIVATE, "inputs": ["questions", "questions"]}, ValueError, "one is named twice"),
        ({"criteria": PRIVATE, "reasons": 1}, TypeError, "reasons must be True or False"),
    ],
)
def test_bad_parameters_of_a_rubric_are_refused_by_name(
    parameters: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        RubricEvaluator(chat_generator=MockChatGenerator("x"), **parameters)
    assert PRIVATE not in str(caught.value)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ({"level": 6}, "level must be an integer from 1 to 5, but is 6"),
        ({"level": "4"}, "level must be an integer from 1 to 5, but is a str"),
        ({}, r"examples\[0\] lacks 'level'"),
    ],
)
def test_an_example_must_have_a_level_of_the_scale(outputs: dict[str, Any], message: str) -> None:
    example = {"inputs": {"questions": "q", "predicted_answers": "a"}, "outputs": outputs}
    with pytest.raises(ValueError, match=message):
        RubricEvaluator(criteria="c", examples=[example], chat_generator=MockChatGenerator("x"))
