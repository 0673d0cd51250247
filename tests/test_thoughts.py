# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Thoughts before an answer are taken off in every socket of answers; answers about such tags keep their text."""

from __future__ import annotations

import logging
import math
from typing import Any

import pytest
from haystack import Pipeline
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from cases import Case, all_cases
from haystack_eval_ext import AnswerContainsEvaluator, AnswerExactMatchEvaluator, RAGFailureClassifier
from haystack_eval_ext._thoughts import KEEP_VARIABLE, without_thoughts
from haystack_eval_ext.judged._sockets import judged_rows
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import Dataset

ANSWERS = "predicted_answers"
#: One case of each component that takes answers.
CASES: dict[str, Case] = {}
for each in all_cases():
    if ANSWERS in each.inputs:
        CASES.setdefault(each.component.__name__, each)

HARMONY = "<|channel|>analysis<|message|>42 or 7?<|end|><|start|>assistant<|channel|>final<|message|>It is 7."
EXAMPLE = "Write it like this:\n\n<think>\nmy thoughts\n</think>\n\nmy answer"
FENCED = "A template:\n```\nthoughts\n</think>\n\nanswer\n```"

# By text what is left of it.
THOUGHTS = {
    "<think> it may be 42 or 7 </think> It is 7.": "It is 7.",
    "<think>Rome or Paris?</think>Paris": "Paris",
    "<think>\n\n</think>\n\nParis": "Paris",
    "\ufeff\n <THINKING >a</THINKING>\nParis\n": "Paris\n",
    "<thinking>a</thinking> Paris": "Paris",
    "<reasoning>a\nb</reasoning>Paris": "Paris",
    "<thought>a</thought>Paris": "Paris",
    "<think>a</think><think>b</think>Paris": "Paris",
    "<think>a <think>b</think> c</think>Paris": "Paris",
    "<think>It asks about the </think> tag.\n</think>\n\nIt closes.": "It closes.",
    "<think>a</think>The closing tag is </think>.": "The closing tag is </think>.",
    "<think>It was cut off": "",
    "<think>": "",
    "<think>a</think>": "",
    # The prompt ended with the opening tag.
    "Rome or Paris?</think>Paris": "Paris",
    "Okay, the user asks for a city.\nIt is Paris.\n</think>\n\nParis": "Paris",
    "so it is paris\n</think>\n\nparis": "paris",
    "it may be 42 or 7 </think> It is 7.": "It is 7.",
    "it may be 42 or 7 </think> 7": "7",
    "It is Paris</think>Paris": "Paris",
    "東京か京都か。</think>東京": "東京",
    "</think>\n\nParis": "Paris",
    "It is Paris.\n</think>": "",
    # Channels.
    HARMONY: "It is 7.",
    f"<|start|>assistant{HARMONY}<|return|>": "It is 7.",
    "<|channel|>final<|message|>Paris": "Paris",
    "<|channel|>analysis<|message|>It was cut off": "",
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}"
    "<|call|><|start|>assistant<|channel|>final<|message|>Paris": "Paris",
    "42 or 7?<|end|><|start|>assistant<|channel|>final<|message|>It is 7.": "It is 7.",
    "analysis42 or 7?assistantfinalIt is 7.": "It is 7.",
}
KEPT = [
    "",
    "Paris",
    "1 < 2 <b>so</b>",
    "Use <think> to let the model think, and </think> to end it.",
    "The closing tag is </think>.",
    "The closing tag is </think>",
    "The tag </think> ends the thoughts.",
    "Two tags matter. </think> closes the thoughts.",
    "Write your thoughts, then </think>, then the answer.",
    "End with </think> 1 or with <think> 2.",
    "Is it `</think>`? Yes.",
    'It ends with "</think>" Then comes the answer.',
    "The thoughts end with:\n</think>\n",
    "終了タグは</think>です。",
    "Between <think> and </think> the model thinks. Paris.",
    "gpt-oss writes <|channel|>final<|message|> before its answer.",
    f"The form is: {HARMONY}",
    "analysis of the data",
    "analysis: the assistant is final",
    EXAMPLE,
    FENCED,
]


@pytest.mark.parametrize("text", THOUGHTS)
def test_thoughts_are_taken_off(text: str) -> None:
    assert without_thoughts(text) == THOUGHTS[text]
    assert without_thoughts(THOUGHTS[text]) == THOUGHTS[text]


@pytest.mark.parametrize("text", KEPT)
def test_answers_about_tags_keep_their_text(text: str) -> None:
    assert without_thoughts(text) is text


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "thoughts" in record.getMessage()]


def test_every_component_with_answers_is_here() -> None:
    assert len(CASES) >= 20


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_socket_of_answers_takes_thoughts_off(
    case: Case, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def thinking(value: Any) -> Any:
        if isinstance(value, ChatMessage):
            return ChatMessage.from_assistant(thinking(value.text))
        if isinstance(value, GeneratedAnswer):
            return GeneratedAnswer(data=thinking(value.data), query="", documents=[])
        return f"<think>Perhaps {len(value)}.</think>\n{value.lstrip()}" if isinstance(value, str) else value

    given = [each.lstrip() if isinstance(each, str) else each for each in case.inputs[ANSWERS]]
    clean = {**case.inputs, ANSWERS: given}
    thought = {**clean, ANSWERS: [thinking(each) for each in given]}
    expected = case.make().run(**clean)
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        found = case.make().run(**thought)
        (message,) = told(caplog)
        assert f"{case.n_rows} of {case.n_rows} answers begin with thoughts" in message
        assert "Perhaps" not in message
        caplog.clear()
        monkeypatch.setenv(KEEP_VARIABLE, "1")
        case.make(**({"raise_on_failure": False} if "raise_on_failure" in case.parameters else {})).run(**thought)
        (message,) = told(caplog)
    assert "as if they were the answer" in message
    for output in ("individual_scores", "statuses", "errors", "labels"):
        assert str(found.get(output)) == str(expected.get(output))


def test_a_thought_is_neither_right_nor_a_statement() -> None:
    contains = AnswerContainsEvaluator().run(["42"], ["<think> it may be 42 or 7 </think> It is 7."])
    assert contains["individual_scores"] == [0.0]
    text = "<think>Maybe Paul Klee did it. Or it was Oda.</think>Ida Roth built it."
    (row,) = judged_rows((ANSWERS,), (), {ANSWERS: [text]})
    assert row == {ANSWERS: "Ida Roth built it."}


def test_answers_about_tags_are_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        result = AnswerExactMatchEvaluator().run(KEPT, list(KEPT))
    assert result["score"] == 1
    assert not told(caplog)


def test_an_answer_that_is_all_thoughts_declines() -> None:
    inputs: dict[str, Any] = {"retrieval_scores": [1.0, 1.0], "answerable": [False, False]}
    texts = ["<think>Who knows?</think>", "<think>Who knows?</think>Ada"]
    labels = RAGFailureClassifier().run(**inputs, predicted_answers=texts)["labels"]
    assert labels == RAGFailureClassifier().run(**inputs, predicted_answers=["", "Ada"])["labels"]
    assert labels[0] == "correct_refusal"


ROWS = [
    {"id": "a", "question": "How many?", "reference_answer": "It is 7.", "answer": HARMONY},
    {"id": "b", "question": "Where?", "reference_answer": "Paris", "answer": "Paris"},
]


@pytest.mark.parametrize("connected", [False, True])
def test_a_run_says_which_answers_had_thoughts(connected: bool, caplog: pytest.LogCaptureFixture) -> None:
    pipeline = Pipeline()
    for name in ("one", "two"):
        pipeline.add_component(name, AnswerExactMatchEvaluator())
    if connected:
        pipeline.add_component("diagnosis", RAGFailureClassifier())
        pipeline.connect("one.individual_scores", "diagnosis.retrieval_scores")
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        run = api.evaluate(pipeline, Dataset("rows", ROWS))
    assert run.scores["one"] == 1
    names = "one, two, diagnosis" if connected else "one, two"
    message = f"{names}: {ANSWERS}: 1 of 2 answers begin with thoughts (row a), which were taken off."
    (kept,) = [warning for warning in run.manifest["warnings"] if "thoughts" in warning]
    assert kept.startswith(message)
    assert told(caplog) == [kept]


def test_the_harness_keeps_answers_without_thoughts(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {row["question"]: row["answer"] for row in ROWS}

    def target(question: str) -> dict[str, Any]:
        return {"answer": answers[question]}

    data = [{name: value for name, value in row.items() if name != "answer"} for row in ROWS]
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        run = api.run_rag({"match": AnswerExactMatchEvaluator()}, data, target)
    assert [row["answer"] for row in run.rows] == ["It is 7.", "Paris"]
    assert run.scores["match"] == 1
    (kept,) = [warning for warning in run.manifest["warnings"] if "thoughts" in warning]
    assert kept.startswith("answer: 1 of 2 answers began with thoughts (row a), which were taken off.")
    assert told(caplog) == [kept]
    monkeypatch.setenv(KEEP_VARIABLE, "yes")
    run = api.run_rag({"match": AnswerExactMatchEvaluator()}, data, target)
    assert [row["answer"] for row in run.rows] == [HARMONY, "Paris"]
    assert math.isclose(run.scores["match"], 0.5)
    (kept,) = [warning for warning in run.manifest["warnings"] if "thoughts" in warning]
    assert "as if they were the answer" in kept
