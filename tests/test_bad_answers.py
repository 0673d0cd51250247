# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Bad answers are refused before any work, by a message that names the socket, the row, and what came.

Each kind meets every component that has the socket; the texts of answers never show in a traceback.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage, GeneratedAnswer, ToolCall

from cases_answers import ANSWER_CASES, AnswerCase
from haystack_eval_ext import (
    AnswerBleuEvaluator,
    AnswerChrfEvaluator,
    AnswerContainsEvaluator,
    AnswerEditSimilarityEvaluator,
    AnswerExactMatchEvaluator,
    AnswerNumberMatchEvaluator,
    AnswerTokenF1Evaluator,
)
from test_bad_input import SECRET, refused

TRUTH, PREDICTED = "ground_truth_answers", "predicted_answers"
# The first row of each component; bad rows are refused before anything that parameters decide.
FIRST = list({case.component: case for case in reversed(ANSWER_CASES)}.values())
GOOD = f"{SECRET} 7"
A_DOCUMENT = Document(content=SECRET)


def generated(data: Any) -> GeneratedAnswer:
    return GeneratedAnswer(data=data, query=SECRET, documents=[])


# Kind: value of the socket beside two good rows in the other one, exception, what the message says about it.
PREDICTIONS: dict[str, tuple[Any, type[Exception], str]] = {
    "None": (None, TypeError, r"must be a list.*is None"),
    "bytes": (SECRET.encode(), TypeError, r"must be a list.*a bytes"),
    "a dict": ({"a": SECRET}, TypeError, r"must be a list.*a dict\. Give its values as a list"),
    "a set": ({SECRET}, TypeError, r"must be a list.*a set\. A set has no order of rows"),
    "an iterator": (iter(()), TypeError, r"a tuple_iterator\. It can be read only once: give list\(x\)"),
    "an array of numbers": (np.zeros(2), TypeError, r"\[0\] must be .*a float"),
    "an array of no dimension": (np.array(SECRET), TypeError, r"must be a list.*an? ndarray"),
    "a table": (SimpleNamespace(columns=["a"]), TypeError, r"must be a list.*Of a table, give one column"),
    "an int": (2, TypeError, r"must be a list.*an int"),
    "a GeneratedAnswer alone": (generated(SECRET), TypeError, r"must be a list.*a GeneratedAnswer"),
    "a None row": ([GOOD, None], TypeError, r"\[1\] must be .*None"),
    "a None row first": ([None, GOOD], TypeError, r"\[0\] must be .*None"),
    "an int row": ([GOOD, 1], TypeError, r"\[1\] must be .*an int"),
    "a float row": ([GOOD, float("nan")], TypeError, r"\[1\] must be .*a float"),
    "a bytes row": ([GOOD, SECRET.encode()], TypeError, r"\[1\] must be .*a bytes"),
    "a list row": ([GOOD, [GOOD]], TypeError, r"\[1\] must be .*a list"),
    "a Document row": ([GOOD, A_DOCUMENT], TypeError, r"\[1\] must be .*a Document"),
    "a user's message": ([GOOD, ChatMessage.from_user(SECRET)], ValueError, r"\[1\].*of the user.*last_message"),
    "a system message": ([GOOD, ChatMessage.from_system(SECRET)], ValueError, r"\[1\].*of the system"),
    "a tool's result": (
        [GOOD, ChatMessage.from_tool(SECRET, ToolCall(SECRET, {}))],
        ValueError,
        r"\[1\].*of the tool",
    ),
    "a tool call": (
        [GOOD, ChatMessage.from_assistant(tool_calls=[ToolCall(SECRET, {"x": SECRET})])],
        ValueError,
        r"\[1\].*without text.*last_message",
    ),
    "a conversation": (
        [ChatMessage.from_user(SECRET), ChatMessage.from_assistant(SECRET)],
        ValueError,
        r"\[0\].*of the user.*last_message",
    ),
    "a GeneratedAnswer of a number": ([GOOD, generated(7)], TypeError, r"\[1\] must be .*a GeneratedAnswer"),
    "a GeneratedAnswer of nothing": ([GOOD, generated(None)], TypeError, r"\[1\] must be .*a GeneratedAnswer"),
    "an empty dict row": ([GOOD, {}], ValueError, r"\[1\] is a dict with neither 'role'.*'data'"),
    "a dict of something else": ([GOOD, {"text": SECRET}], ValueError, r"\[1\] is a dict with neither"),
    "JSON of an unknown role": ([GOOD, {"role": SECRET, "content": []}], ValueError, r"\[1\].*JSON form"),
    "JSON of a user's message": (
        [GOOD, {"role": "user", "content": [{"text": SECRET}]}],
        ValueError,
        r"\[1\].*of the user",
    ),
    "JSON of a broken message": ([GOOD, {"role": "assistant", "content": 7}], ValueError, r"\[1\].*JSON form"),
    "one row": ([GOOD], ValueError, r"same number of rows.* 1\b"),
    "three rows": ([GOOD] * 3, ValueError, r"same number of rows.* 3\b"),
    "no rows beside two": ([], ValueError, r"same number of rows.* 0\b"),
    "one text beside two rows": (GOOD, ValueError, r"same number of rows.* 1\b"),
    "one message beside two rows": (ChatMessage.from_assistant(SECRET), ValueError, r"same number of rows.* 1\b"),
}  # fmt: skip
REFERENCES: dict[str, tuple[Any, type[Exception], str]] = {
    "None": (None, TypeError, r"must be a list.*is None"),
    "a str": (GOOD, TypeError, r"must be a list.*a str"),
    "bytes": (SECRET.encode(), TypeError, r"must be a list.*a bytes"),
    "a dict": ({"a": SECRET}, TypeError, r"must be a list.*a dict\. Give its values as a list"),
    "an int": (2, TypeError, r"must be a list.*an int"),
    "a message": (ChatMessage.from_assistant(SECRET), TypeError, r"must be a list.*a ChatMessage"),
    "an int row": ([GOOD, 1], TypeError, r"\[1\] must be .*an int"),
    "a float row": ([1.5, GOOD], TypeError, r"\[0\] must be .*a float"),
    "a set row": ([GOOD, {SECRET}], TypeError, r"\[1\] must be .*a set"),
    "a message row": ([GOOD, ChatMessage.from_assistant(SECRET)], TypeError, r"\[1\] must be .*a ChatMessage"),
    "a GeneratedAnswer row": ([GOOD, generated(SECRET)], TypeError, r"\[1\] must be .*a GeneratedAnswer"),
    "a Document row": ([GOOD, A_DOCUMENT], TypeError, r"\[1\] must be .*a Document"),
    "None inside": ([GOOD, [GOOD, None]], TypeError, r"\[1\]\[1\] must be a text.*None"),
    "an int inside": ([[7], GOOD], TypeError, r"\[0\]\[0\] must be a text.*an int"),
    "a list inside": ([GOOD, [[GOOD]]], TypeError, r"\[1\]\[0\] must be a text.*a list"),
    "a message inside": ([GOOD, [ChatMessage.from_user(SECRET)]], TypeError, r"\[1\]\[0\] must be .*a ChatMessage"),
    "one row": ([[GOOD, GOOD]], ValueError, r"same number of rows.* 1\b.*list within the list"),
    "three rows": ([GOOD] * 3, ValueError, r"same number of rows.* 3\b"),
    "no rows beside two": ([], ValueError, r"same number of rows.* 0\b"),
}


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_bad_predictions(kind: str, case: AnswerCase) -> None:
    value, exception, message = PREDICTIONS[kind]
    text = refused(lambda: case.make().run(**{TRUTH: [GOOD, [GOOD]], PREDICTED: value}), exception, message)
    assert PREDICTED in text


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
@pytest.mark.parametrize("kind", REFERENCES)
def test_bad_references(kind: str, case: AnswerCase) -> None:
    value, exception, message = REFERENCES[kind]
    text = refused(lambda: case.make().run(**{TRUTH: value, PREDICTED: [GOOD, GOOD]}), exception, message)
    assert TRUTH in text


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
def test_no_rows(case: AnswerCase) -> None:
    refused(lambda: case.make().run(**{TRUTH: [], PREDICTED: []}), ValueError, f"{TRUTH}.*{PREDICTED}.*no rows")


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
def test_several_replies_to_one_question(case: AnswerCase) -> None:
    replies = [ChatMessage.from_assistant(SECRET), ChatMessage.from_assistant(SECRET)]
    refused(
        lambda: case.make().run(**{TRUTH: [[GOOD]], PREDICTED: replies}), ValueError, "same number of rows.*choose one"
    )


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
@pytest.mark.parametrize("policy", ["skip", None, ["zero"], "ZERO"])
def test_bad_policy(policy: Any, case: AnswerCase) -> None:
    refused(lambda: case.make(on_undefined=policy), (ValueError, TypeError), r"on_undefined must be one of 'zero'")


EXACT, NUMBER = AnswerExactMatchEvaluator, AnswerNumberMatchEvaluator
NORMALIZING: list[Callable[..., Any]] = [
    EXACT,
    AnswerTokenF1Evaluator,
    AnswerContainsEvaluator,
    AnswerEditSimilarityEvaluator,
]


@pytest.mark.parametrize("component", NORMALIZING)
@pytest.mark.parametrize("rule", ["fold", None, True, "", ["squad"]])
def test_bad_normalization(rule: Any, component: Callable[..., Any]) -> None:
    refused(lambda: component(normalization=rule), ValueError, r"normalization must be one of 'none'.*but is")


# Kind: what makes a component, exception, and what the message says.
PARAMETERS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "flag a number": (lambda: EXACT(ignore_case=1), TypeError, r"ignore_case.*an int"),  # type: ignore[arg-type]
    "flag None": (lambda: EXACT(ignore_punctuation=None), TypeError, r"ignore_punctuation.*None"),  # type: ignore[arg-type]
    "flag a str": (lambda: EXACT(ignore_numbers="no"), TypeError, r"ignore_numbers.*a str"),  # type: ignore[arg-type]
    "regexes a str": (lambda: EXACT(regexes_to_ignore="x"), TypeError, r"regexes_to_ignore.*list.*a str"),  # type: ignore[arg-type]
    "regexes a tuple": (lambda: EXACT(regexes_to_ignore=("x",)), TypeError, r"regexes_to_ignore.*a tuple"),  # type: ignore[arg-type]
    "regex None": (lambda: EXACT(regexes_to_ignore=["x", None]), TypeError, r"regexes_to_ignore\[1\].*None"),  # type: ignore[list-item]
    "regex open": (lambda: EXACT(regexes_to_ignore=["x", "("]), ValueError, r"regexes_to_ignore\[1\].*'\('"),
    "regex with nothing to repeat": (lambda: EXACT(regexes_to_ignore=["*"]), ValueError, r"regexes_to_ignore\[0\]"),
    "regex too large": (lambda: EXACT(regexes_to_ignore=["a{99999999999}"]), ValueError, r"regexes_to_ignore\[0\]"),
    "tolerance a str": (lambda: NUMBER(relative_tolerance="1"), TypeError, r"relative_tolerance.*a str"),  # type: ignore[arg-type]
    "tolerance None": (lambda: NUMBER(relative_tolerance=None), TypeError, r"relative_tolerance.*None"),  # type: ignore[arg-type]
    "tolerance a bool": (lambda: NUMBER(relative_tolerance=True), TypeError, r"relative_tolerance.*a bool"),
    "tolerance negative": (lambda: NUMBER(relative_tolerance=-0.1), ValueError, r"relative_tolerance.*-0\.1"),
    "tolerance of all": (lambda: NUMBER(relative_tolerance=1), ValueError, r"relative_tolerance.*below 1.*is 1"),
    "tolerance NaN": (lambda: NUMBER(relative_tolerance=float("nan")), ValueError, r"relative_tolerance.*nan"),
    "tolerance beyond floats": (lambda: NUMBER(relative_tolerance=10**400), ValueError, r"relative_tolerance.*beyond"),
    "tolerance beyond print": (lambda: NUMBER(relative_tolerance=10**5000), ValueError, r"relative_tolerance.*beyond"),
    "separator unknown": (lambda: NUMBER(decimal_separator=";"), ValueError, r"decimal_separator.*'auto'.*';'"),  # type: ignore[arg-type]
    "separator None": (lambda: NUMBER(decimal_separator=None), ValueError, r"decimal_separator.*None"),  # type: ignore[arg-type]
    "separator a list": (lambda: NUMBER(decimal_separator=["."]), ValueError, r"decimal_separator.*\['\.'\]"),  # type: ignore[arg-type]
}


ORDERS: list[tuple[Callable[..., Any], str, int]] = [
    (AnswerChrfEvaluator, "char_order", 1),
    (AnswerChrfEvaluator, "word_order", 0),
    (AnswerChrfEvaluator, "beta", 1),
    (AnswerBleuEvaluator, "max_ngram_order", 1),
]


@pytest.mark.parametrize(("component", "name", "lowest"), ORDERS)
@pytest.mark.parametrize(
    ("value", "exception", "message"),
    [
        (-1, ValueError, "-1"),
        (1001, ValueError, "1001"),
        (10**12, ValueError, "1000000000000"),  # sacrebleu would make a list of as many counts
        (10**400, ValueError, "an integer beyond the range of floats"),
        (10**5000, ValueError, "an integer beyond the range of floats"),  # Python refuses to print it
        (2.5, TypeError, "a float"),
        (math.inf, TypeError, "a float"),
        ("2", TypeError, "a str"),
        (True, TypeError, "a bool"),
        (None, TypeError, "None"),
    ],
    ids=lambda value: str(value) if not isinstance(value, int) or value < 10**20 else "huge",
)
def test_orders_out_of_range(
    component: Callable[..., Any], name: str, lowest: int, value: Any, exception: type[Exception], message: str
) -> None:
    refused(lambda: component(**{name: value}), exception, rf"{name} must be .*from {lowest} to 1000, but is {message}")


@pytest.mark.parametrize(("component", "name", "lowest"), ORDERS)
def test_orders_at_the_ends_of_their_range(component: Callable[..., Any], name: str, lowest: int) -> None:
    pytest.importorskip("sacrebleu")
    for value in (lowest, 1000):
        assert component(**{name: value}).run(["a b", "a b"], ["a b", "x y"])["individual_scores"] == [1.0, 0.0]


@pytest.mark.parametrize("kind", PARAMETERS)
def test_bad_parameters(kind: str) -> None:
    make, exception, message = PARAMETERS[kind]
    refused(make, exception, message)


def test_thirty_kinds() -> None:
    assert len(PREDICTIONS) + len(REFERENCES) + 2 >= 30 <= len(PREDICTIONS)
