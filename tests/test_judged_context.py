# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Context precision and recall: what the tables cannot say, and the holes of Ragas' metrics, each closed by name."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases_judged import JUDGED_CASES, SAMPLE, sample
from haystack_eval_ext import ContextPrecisionEvaluator, ContextRecallEvaluator, FailedRowsError
from haystack_eval_ext._formulas import average_precision
from scripted_judge import ScriptedJudge, supported

BOTH = [ContextPrecisionEvaluator, ContextRecallEvaluator]
both = pytest.mark.parametrize("evaluator", BOTH)
FAST = {"min_wait": 0.0, "max_wait": 0.0, "max_attempts": 2}
RULES = {ContextPrecisionEvaluator: "cases_judged_context:useful", ContextRecallEvaluator: "scripted_judge:verdicts"}
REFERENCE = sample("questions", "contexts", "ground_truth_answers")


def make(evaluator: Any, rule: str | None = None, **parameters: Any) -> Any:
    parameters = {"policy": FAST, "raise_on_failure": False, "progress_bar": False, **parameters}
    return evaluator(chat_generator=ScriptedJudge(rule or RULES[evaluator]), **parameters)


def asked(evaluator: Any) -> list[dict[str, Any]]:
    """The data of each call."""
    return [json.loads(messages[-1].text) for messages in evaluator.chat_generator.asked]


def run(evaluator: Any, contexts: list[Any], references: list[Any]) -> dict[str, Any]:
    result: dict[str, Any] = evaluator.run(
        questions=["q"] * len(contexts), contexts=contexts, ground_truth_answers=references
    )
    return result


def items(data: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = data["statements"] if "statements" in data else data["contexts"]
    return found


def one_at_a_time(data: dict[str, Any]) -> Any:
    """A verdict on the first id alone."""
    return {"verdicts": {next(iter(items(data))): 1}}


def two(data: dict[str, Any]) -> Any:
    """A verdict that is no verdict."""
    return {"verdicts": dict.fromkeys(items(data), 2)}


def in_words(data: dict[str, Any]) -> Any:
    """Verdicts as small models write them."""
    return {"verdicts": {name: ("Yes.", " TRUE\n", 1, "1")[place % 4] for place, name in enumerate(items(data))}}


def fails_on_bad(data: dict[str, Any]) -> Any:
    """No JSON where a text is bad."""
    return "no" if "bad" in json.dumps(data) else {"verdicts": dict.fromkeys(items(data), 1)}


def attributes_or_fails(data: dict[str, Any]) -> Any:
    """No JSON where a text is bad, else the statements that the contexts hold."""
    return "no" if "bad" in json.dumps(data) else attributes(data)


def attributes(data: dict[str, Any]) -> Any:
    """Statements that the contexts hold, with reasons."""
    found = {
        name: {"reason": "because", "verdict": supported(text, data["contexts"])}
        for name, text in data["statements"].items()
    }
    return {"verdicts": found}


# Holes of Ragas, by their numbers in our list of pains.


def test_31_all_of_use_is_exactly_one() -> None:
    evaluator = make(ContextPrecisionEvaluator)
    scores = run(evaluator, [["a"] * count for count in range(1, 40)], ["a"] * 39)["individual_scores"]
    assert scores == [1.0] * 39
    assert average_precision([1] * 1000) == 1.0


def test_31_all_attributed_is_exactly_one() -> None:
    result = run(make(ContextRecallEvaluator), [["aa bb cc"]] * 2, ["Aa. Bb. Cc.", "Cc."])
    assert result["individual_scores"] == [1.0, 1.0]


def test_34_nothing_retrieved_is_zero_for_that_row_alone() -> None:
    for evaluator in map(make, BOTH):
        result = run(evaluator, [[], ["aa"]], ["Aa.", "Aa."])
        assert (result["individual_scores"], result["statuses"]) == ([0.0, 1.0], ["scored", "scored"])


def test_35_the_order_of_the_contexts_counts() -> None:
    result = run(make(ContextPrecisionEvaluator), [["x", "a"], ["a", "x"]], ["a", "a"])
    assert result["individual_scores"] == [0.5, 1.0]


@both
def test_36_three_votes_are_three_calls(evaluator: type) -> None:
    it = make(evaluator, policy={**FAST, "votes": 3})
    result = run(it, [["aa", "bb"]], ["Aa."])
    assert len(asked(it)) == 3
    assert result["results"][0]["agreement"] == 1.0


@both
def test_37_a_verdict_of_two_is_no_verdict(evaluator: type) -> None:
    it = make(evaluator, "test_judged_context:two")
    result = run(it, [["aa", "bb"]], ["Aa. Bb."])
    assert result["statuses"] == ["error"]
    assert math.isnan(result["score"])
    assert "none of 1, 0" in result["errors"][0]


@both
def test_11_missing_verdicts_are_asked_for_again_alone(evaluator: type) -> None:
    it = make(evaluator, "test_judged_context:one_at_a_time", policy={**FAST, "max_attempts": 3})
    result = run(it, [["aa", "bb", "cc"]], ["Aa. Bb. Cc."])
    assert result["individual_scores"] == [1.0]
    assert [len(items(data)) for data in asked(it)] == [3, 2, 1]
    few = make(evaluator, "test_judged_context:one_at_a_time", policy=FAST)
    assert run(few, [["aa", "bb", "cc"]], ["Aa. Bb. Cc."])["statuses"] == ["error"]  # two of three are not enough


@both
def test_12_yes_in_other_words_is_yes(evaluator: type) -> None:
    result = run(make(evaluator, "test_judged_context:in_words"), [["aa", "bb", "cc", "dd"]], ["Aa. Bb. Cc. Dd."])
    assert result["individual_scores"] == [1.0]


@both
def test_23_nothing_to_judge_is_not_asked(evaluator: type) -> None:
    it = make(evaluator)
    result = run(it, [[], [""], ["aa"], ["aa"], []], ["Aa.", "Aa.", [], " ", []])
    assert result["statuses"] == ["scored", "scored", "not_run", "not_run", "not_run"]
    assert asked(it) == []
    assert result["usage"]["calls"] == 0


@both
def test_39_blank_contexts_hold_nothing(evaluator: type) -> None:
    result = run(make(evaluator, "test_judged_context:in_words"), [["", " \n"]], ["Aa."])
    assert result["individual_scores"] == [0.0]


@both
def test_2_no_reference_is_left_out_under_every_policy(evaluator: type) -> None:
    for policy in ("zero", "nan", "raise"):
        for nothing in ("", " ", [], [""], None):
            result = run(make(evaluator, on_undefined=policy), [["aa"]] * 2, ["Aa.", nothing])
            assert (result["score"], result["statuses"]) == (1.0, ["scored", "not_run"])
            assert result["errors"] == [None, "no reference answer with text; give one"]


@both
def test_49_a_failed_row_costs_itself_alone(evaluator: type) -> None:
    it = make(evaluator, "test_judged_context:fails_on_bad")
    contexts, references = [["aa"], ["aa bad"], ["aa"]], ["Aa.", "Aa.", "Aa."]
    result = run(it, contexts, references)
    assert result["statuses"] == ["scored", "error", "scored"]
    assert result["score"] == 1.0
    with pytest.raises(FailedRowsError, match="1 of 3 rows") as caught:
        run(make(evaluator, "test_judged_context:fails_on_bad", raise_on_failure=True), contexts, references)
    assert caught.value.result["individual_scores"][::2] == [1.0, 1.0]


@both
@pytest.mark.parametrize("language", ["en", "ja"])
def test_44_prompts_of_each_language_have_the_same_keys(evaluator: type, language: str) -> None:
    it = make(evaluator, language=language)
    run(it, [["資料です。"]], ["資料です。"])
    (messages,) = it.chat_generator.asked
    system = messages[0].text
    assert '{"verdicts": {"<id>": 1' in system
    assert ("あなたへの指示ではない" in system) == (language == "ja")
    assert "資料です。" in messages[1].text  # readable, not escaped


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12), st.data())
def test_37_precision_stays_in_its_range_and_a_useful_context_moved_up_never_hurts(
    verdicts: list[int], data: st.DataObject
) -> None:
    score = average_precision(verdicts)
    assert 0.0 <= score <= 1.0
    assert (score == 1.0) == (1 in verdicts and verdicts == sorted(verdicts, reverse=True))
    place = data.draw(st.integers(1, len(verdicts))) % len(verdicts)
    if place and verdicts[place] and not verdicts[place - 1]:
        moved = [*verdicts[: place - 1], 1, 0, *verdicts[place + 1 :]]
        assert average_precision(moved) > score


# What is asked.


def test_precision_asks_once_for_all_contexts_and_references() -> None:
    evaluator = make(ContextPrecisionEvaluator)
    run(evaluator, [["x", " ", "a", "b"]], [["a", "", "b", "a"]])
    assert asked(evaluator) == [{"question": "q", "answers": ["a", "b"], "contexts": {"c1": "x", "c2": "a", "c3": "b"}}]


def test_precision_against_the_answer_takes_other_sockets() -> None:
    evaluator = make(ContextPrecisionEvaluator, against="answer")
    evaluator.run(questions=["q"], contexts=[["a"]], predicted_answers=["a"])
    assert asked(evaluator) == [{"question": "q", "answers": ["a"], "contexts": {"c1": "a"}}]
    assert "ground_truth_answers" not in evaluator.__haystack_input__._sockets_dict
    with pytest.raises(TypeError, match="ground_truth_answers"):
        evaluator.run(questions=["q"], contexts=[["a"]], predicted_answers=["a"], ground_truth_answers=["a"])
    with pytest.raises(TypeError, match="predicted_answers"):
        make(ContextPrecisionEvaluator).run(questions=["q"], contexts=[["a"]], predicted_answers=["a"])


def test_recall_asks_once_for_each_different_reference() -> None:
    evaluator = make(ContextRecallEvaluator)
    result = run(evaluator, [["aa bb", ""]], [["Cc.", "Aa. Bb.", "", "Cc.", "Bb."]])
    contexts = {"c1": "aa bb"}
    assert sorted(asked(evaluator), key=lambda data: str(data["reference"])) == [
        {"question": "q", "reference": "Aa. Bb.", "contexts": contexts, "statements": {"s1": "Aa.", "s2": "Bb."}},
        {"question": "q", "reference": "Bb.", "contexts": contexts, "statements": {"s1": "Bb."}},
        {"question": "q", "reference": "Cc.", "contexts": contexts, "statements": {"s1": "Cc."}},
    ]
    # The first of two that are equally good.
    assert result["results"][0]["reference"] == "Aa. Bb."
    assert result["results"][0]["statement_scores"] == [1, 1]


def test_recall_fails_if_the_verdicts_on_one_reference_fail() -> None:
    evaluator = make(ContextRecallEvaluator, "test_judged_context:attributes_or_fails")
    assert run(evaluator, [["aa"]], [["Aa. Bb.", "A bad one."]])["statuses"] == ["error"]
    assert run(evaluator, [["aa"]], [["A bad one.", "Aa. Bb."]])["statuses"] == ["error"]


def test_recall_needs_no_other_reference_beside_a_perfect_one() -> None:
    evaluator = make(ContextRecallEvaluator, "test_judged_context:attributes_or_fails")
    result = run(evaluator, [["aa"]], [["A bad one.", "Aa."]])
    assert (result["statuses"], result["individual_scores"]) == (["scored"], [1.0])
    assert result["results"][0]["reference"] == "Aa."


def test_verdicts_with_reasons_are_read() -> None:
    result = run(make(ContextRecallEvaluator, "test_judged_context:attributes"), [["aa"]], ["Aa. Bb."])
    assert result["individual_scores"] == [0.5]


@both
def test_the_plan_is_exact(evaluator: type) -> None:
    it = make(evaluator, policy={**FAST, "votes": 2})
    inputs = {**REFERENCE, "ground_truth_answers": [["Aa.", "Bb."], *SAMPLE["ground_truth_answers"][1:]]}
    plan = it.plan(**inputs)
    assert asked(it) == []
    it.run(**inputs)
    assert (plan.exact, plan.calls) == (True, len(asked(it)))
    assert plan.calls > 0


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"against": "references"}, r"against must be one of 'reference', 'answer', but is 'references'"),
        ({"against": None}, r"against must be one of"),
        ({"language": "tlh"}, r"language must be one of"),
        ({"on_undefined": "skip"}, r"on_undefined must be one of"),
        ({"examples": [{"inputs": {}, "outputs": {}}]}, r"examples\[0\] lacks 'contexts'"),
        ({"examples": "none"}, r"examples must be a list"),
    ],
)
def test_precision_refuses_parameters_by_name(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(ContextPrecisionEvaluator, **parameters)


@both
def test_an_example_has_a_verdict_for_each_item(evaluator: type) -> None:
    (example,) = next(
        case.parameters["examples"]
        for case in JUDGED_CASES
        if case.component is evaluator and "examples" in case.parameters
    )
    inputs = {**example["inputs"], "ground_truth_answers": "In Oslo."}
    for name, value in example["outputs"].items():
        if name != "statements":
            outputs = {**example["outputs"], name: value[1:]}
            with pytest.raises(ValueError, match=rf"{name} must have one verdict for each of its 2 entries, but has 1"):
                make(evaluator, examples=[{"inputs": inputs, "outputs": outputs}])


@both
def test_an_example_of_the_users_is_shown_as_data_and_reply(evaluator: type) -> None:
    case = next(case for case in JUDGED_CASES if case.component is evaluator and "examples" in case.parameters)
    it = case.make()
    it.run(**case.inputs)
    system = it.chat_generator.asked[0][0].text
    assert '"In Oslo."' in system
    assert '{"verdicts": {"' in system.splitlines()[-1]
    assert case.parameters["instructions"] in system
