# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""LLMEvaluator: what its outputs may be, the scores that they stand for, votes, and what reaches the judge."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, GeneratedAnswer, ToolCall

from haystack_eval_ext import LLMEvaluator, UndefinedScore
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from judged_replies import ONE_INPUT, QUICK, RowReplies, Ruled, llm, marker

UNREADABLE = "unreadable"


def judged(values: Any, reply: Any, scores: Any = None) -> tuple[Any, Any]:
    """Value and score of an output that is the score."""
    result = llm("ours", json.dumps({"score": reply}), output_values=values, score_output="score", score_values=scores)
    entry = result["results"][0]
    if entry is None:
        assert result["statuses"] == ["error"]
        return UNREADABLE, UNREADABLE
    return entry["score"], result["individual_scores"][0]


ONE_TO_FIVE = {"score": [1, 2, 3, 4, 5]}
TO_TEN = {"score": {"minimum": 0, "maximum": 10}}
WORDS = {"score": ["Good", "so-so", "bad"]}
WORD_SCORES = {"Good": 1, "so-so": 0.4, "bad": 0}


@pytest.mark.parametrize(
    ("values", "scores", "reply", "value", "score"),
    [
        # By default a number from 0 to 1.
        (None, None, 0.3, 0.3, 0.3),
        (None, None, "1", 1, 1.0),
        (None, None, True, 1, 1.0),
        (None, None, "No.", 0, 0.0),
        (None, None, 2, UNREADABLE, UNREADABLE),
        # Places between the lowest and the highest: (4 - 1) / (5 - 1), (0 + 1) / 2.
        (ONE_TO_FIVE, None, 4, 4, 0.75),
        (ONE_TO_FIVE, None, "5", 5, 1.0),
        (ONE_TO_FIVE, None, 1, 1, 0.0),
        (ONE_TO_FIVE, None, 3.5, UNREADABLE, UNREADABLE),
        (ONE_TO_FIVE, None, 0, UNREADABLE, UNREADABLE),
        (ONE_TO_FIVE, None, True, UNREADABLE, UNREADABLE),
        ({"score": [-1, 0, 1]}, None, 0, 0, 0.5),
        ({"score": [0, 0.5, 1]}, None, "0.5", 0.5, 0.5),
        ({"score": [0, 0.5, 1]}, None, 0.4, UNREADABLE, UNREADABLE),
        ({"score": [0, 0.5, 1]}, None, 1.0, 1, 1.0),
        (TO_TEN, None, 2.5, 2.5, 0.25),
        (TO_TEN, None, " 10 ", 10, 1.0),
        (TO_TEN, None, 10.5, UNREADABLE, UNREADABLE),
        (TO_TEN, None, "8/10", UNREADABLE, UNREADABLE),
        (TO_TEN, None, True, UNREADABLE, UNREADABLE),
        ({"score": {"minimum": -5, "maximum": 5}}, None, -5, -5, 0.0),
        # Words by score_values.
        (WORDS, WORD_SCORES, "good.", "Good", 1.0),
        (WORDS, WORD_SCORES, "SO-SO", "so-so", 0.4),
        (WORDS, WORD_SCORES, "fine", UNREADABLE, UNREADABLE),
        (WORDS, WORD_SCORES, None, UNREADABLE, UNREADABLE),
        # True and False; the same in words.
        ({"score": "boolean"}, None, True, True, 1.0),
        ({"score": "boolean"}, None, "no", False, 0.0),
        ({"score": [True, False]}, {True: 0, False: 1}, "yes", True, 0.0),
        ({"score": ["yes", "no"]}, {"yes": 1, "no": 0}, True, "yes", 1.0),
        # Numbers can stand for other numbers, and for none; as keys they may be text, as in JSON.
        ({"score": [1, 2, 3]}, {1: 1, 2: 0.5, 3: 0}, 1, 1, 1.0),
        ({"score": [1, 2, 3]}, {"1": 1, "2": 0.5, "3": 0}, 3, 3, 0.0),
        ({"score": ["n/a", 1, 2]}, {"n/a": None, 1: 0, 2: 1}, 2, 2, 1.0),
    ],
)
def test_values_and_scores(values: Any, scores: Any, reply: Any, value: Any, score: Any) -> None:
    came = judged(values, reply, scores)
    assert came == (value, score)
    assert type(came[0]) is type(value)


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        ("text", "a", "a"),
        ("text", 1, UNREADABLE),
        ("text", None, UNREADABLE),
        ("texts", ["a", ""], ["a", ""]),
        ("texts", "a", UNREADABLE),
        ("texts", [1], UNREADABLE),
        ("number", -7.5, -7.5),
        ("number", "1000", 1000),
        ("number", "1" * 5000, UNREADABLE),
        ("number", "many", UNREADABLE),
        ("boolean", "TRUE", True),
        ("boolean", 2, UNREADABLE),
        (None, {"any": [1, None]}, {"any": [1, None]}),
    ],
)
def test_outputs_beside_the_score(kind: str | None, reply: Any, value: Any) -> None:
    values = None if kind is None else {"other": kind}
    result = llm("ours", json.dumps({"score": 1, "other": reply}), outputs=["score", "other"], output_values=values)
    (entry,) = result["results"]
    assert (UNREADABLE if entry is None else entry["other"]) == value


def test_a_verdict_without_a_score_is_undefined() -> None:
    values = {"output_values": {"score": ["good", "n/a"]}, "score_output": "score"}
    replies = ['{"score": "good"}', '{"score": "n/a"}']
    for policy, score in (("zero", 0.5), ("nan", 1.0)):
        result = llm("ours", *replies, **values, score_values={"good": 1, "n/a": None}, on_undefined=policy)
        assert (result["score"], result["statuses"]) == (score, ["scored", "undefined"])
        assert result["results"] == [{"score": "good"}, {"score": "n/a"}]
    with pytest.raises(UndefinedScore, match="score_values gives the verdict no number"):
        llm("ours", *replies, **values, score_values={"good": 1, "n/a": None}, on_undefined="raise")


BAD_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "values no dict": ({"output_values": ["a"]}, "output_values must be a dictionary by output name or None, but is a"),
    "values of another output": ({"output_values": {"b": "text"}}, r"output_values\['b'\] is none of the outputs"),
    "unknown type": ({"output_values": {"score": "word"}}, r"output_values\['score'\] must be .* but is 'word'"),
    "neither list nor bounds": (
        {"output_values": {"score": 1}},
        r"output_values\['score'\] .* but is an int of another",
    ),
    "one bound": ({"output_values": {"score": {"minimum": 0}}}, r"output_values\['score'\] must be a list"),
    "bounds the wrong way": (
        {"output_values": {"score": {"minimum": 1, "maximum": 0}}},
        "'minimum' must be a number below the number 'maximum', but they are 1 and 0",
    ),
    "bounds no numbers": ({"output_values": {"score": {"minimum": "a", "maximum": 1}}}, "'minimum' must be a number"),
    "bounds too far apart": (
        {"output_values": {"score": {"minimum": -1e308, "maximum": 1e308}}},
        "'minimum' must be a number",
    ),
    "no values": ({"output_values": {"score": []}}, r"output_values\['score'\] is an empty list"),
    "value no word": (
        {"output_values": {"score": ["a", None]}},
        r"output_values\['score'\]\[1\] must be a word .* None",
    ),
    "value NaN": ({"output_values": {"score": [math.nan]}}, r"output_values\['score'\]\[0\] must be .* finite"),
    "value of signs alone": ({"output_values": {"score": ["a", "."]}}, r"output_values\['score'\]\[1\] must be a word"),
    "values alike": ({"output_values": {"score": ["Yes", "yes."]}}, "differ by more than case and punctuation"),
    "word and number alike": ({"output_values": {"score": [1, "1"]}}, "differ by more than case and punctuation"),
    "flag beside a word": ({"output_values": {"score": [True, "maybe"]}}, "True stands beside False alone"),
    "unknown score": (
        {"score_output": "rank"},
        "score_output must be one of the outputs 'score' or None, but is 'rank'",
    ),
    "score no name": ({"score_output": ["score"]}, "score_output must be one of the outputs .* but is a list"),
    "score a text": ({"score_output": "score", "output_values": {"score": "text"}}, "has no numbers"),
    "score without bounds": ({"score_output": "score", "output_values": {"score": "number"}}, "has no numbers"),
    "score words": ({"score_output": "score", "output_values": {"score": ["a", "b"]}}, "name in score_values"),
    "score one number": ({"score_output": "score", "output_values": {"score": [1]}}, "has no numbers"),
    "numbers without a score": ({"score_values": {"a": 1}}, "score_output is None"),
    "numbers without values": (
        {"score_output": "score", "score_values": {"a": 1}},
        r"score_values needs a list of the possible values in output_values\['score'\]",
    ),
    "numbers no dict": (
        {"score_output": "score", "output_values": {"score": ["a"]}, "score_values": [1]},
        "score_values must be a dictionary .* but is a list",
    ),
    "number lacking": (
        {"score_output": "score", "output_values": {"score": ["a", "b"]}, "score_values": {"a": 1}},
        "score_values lacks 'b'",
    ),
    "number of another": (
        {"score_output": "score", "output_values": {"score": ["a"]}, "score_values": {"a": 1, "c": 1}},
        "score_values has a number for 'c'",
    ),
    "number twice": (
        {
            "score_output": "score",
            "output_values": {"score": "boolean"},
            "score_values": {"true": 1, True: 1, False: 0},
        },
        "score_values has two numbers for True",
    ),
    "number of a null": (
        {"score_output": "score", "output_values": {"score": ["a", "null"]}, "score_values": {"a": 1, None: 0}},
        "score_values has a number for None",
    ),
    "number out of range": (
        {"score_output": "score", "output_values": {"score": ["a"]}, "score_values": {"a": 2}},
        r"score_values\['a'\] must be a number from 0 to 1, or None",
    ),
}


@pytest.mark.parametrize(("changed", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values_are_named_at_init(changed: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        LLMEvaluator("i", [("a", list[str])], ["score"], [], chat_generator=RowReplies([]), **changed)


def test_the_judge_is_told_what_outputs_may_be() -> None:
    values = {"a": ["ja", "nein"], "b": {"minimum": 0, "maximum": 10}, "c": "text", "d": "texts", "e": "boolean"}
    names = [*"abcdef"]
    evaluator = LLMEvaluator("i", [("x", list[str])], names, [], chat_generator=RowReplies([]), output_values=values)
    told = '{"a": "ja" | "nein", "b": <number, 0 ... 10>, "c": "<text>", "d": ["<text>", ...], "e": true | false, '
    assert evaluator._prompt.system().endswith(told + '"f": <value>}')


def test_the_schema_names_every_output_in_order() -> None:
    seen: list[dict[str, Any]] = []

    @component
    class OpenAIChatLike:
        """Named like the family that takes a schema."""

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
            seen.append(generation_kwargs["response_format"]["json_schema"])
            return {"replies": [ChatMessage.from_assistant('{"why": "w", "score": 1, "more": []}')]}

    LLMEvaluator(
        "i",
        [("a", list[str])],
        ["why", "score", "more"],
        [],
        chat_generator=OpenAIChatLike(),
        output_values={"why": "text", "score": [0, 0.5, 1]},
        policy={"structured_output": "json_schema"},
    ).run(a=["x"])
    plain = [{"type": kind} for kind in ("string", "number", "boolean", "null")]
    assert seen[0]["strict"]
    assert seen[0]["schema"] == {
        "type": "object",
        "properties": {
            "why": {"type": "string"},
            "score": {"type": "number", "enum": [0, 0.5, 1]},
            "more": {"anyOf": [*plain, {"type": "array", "items": {"anyOf": plain}}]},
        },
        "required": ["why", "score", "more"],
        "additionalProperties": False,
    }


def voted(*replies: Any, **parameters: Any) -> dict[str, Any]:
    """One row, for which each vote gives another reply."""
    policy = {**QUICK, "votes": len(replies), "max_concurrency": 1}
    return llm("ours", tuple(json.dumps(reply) for reply in replies), policy=policy, **parameters)


def test_votes_decide_by_majority_with_the_reason_of_a_voter() -> None:
    replies = [{"why": why, "score": score} for why, score in (("r1", "pass"), ("r2", "fail"), ("r3", "fail"))]
    result = voted(
        *replies,
        outputs=["why", "score"],
        output_values={"why": "text", "score": ["pass", "fail"]},
        score_output="score",
        score_values={"pass": 1, "fail": 0.25},
    )
    (entry,) = result["results"]
    assert entry["score"] == "fail"
    assert entry["why"] in ("r2", "r3")
    assert result["individual_scores"] == [0.25]
    assert result["summary"]["rows"][0]["agreement"] == 2 / 3
    assert result["usage"]["calls"] == 3


@pytest.mark.parametrize(
    ("values", "scores", "votes", "value"),
    [
        # A tie goes to the lower one, or to the last-named where none is lower.
        ({"score": [0, 1]}, None, [1, 0], 0),
        ({"score": [5, 1, 3]}, None, [5, 3, 3, 5], 3),
        ({"score": ["a", "b"]}, None, ["a", "b"], "b"),
        ({"score": ["a", "b"]}, {"a": 0, "b": 1}, ["a", "b"], "a"),
        ({"score": ["a", "n/a"]}, {"a": 0, "n/a": None}, ["a", "n/a"], "n/a"),
        # Means; and the most frequent of what is free.
        ({"score": {"minimum": 0, "maximum": 10}}, None, [4, 5, 9], 6.0),
        ({"score": "number"}, None, [100, 200], 150.0),
        ({"score": {"minimum": 0, "maximum": 0.3}}, None, [0.3, 0.3, 0.3], 0.3),
        (None, None, ["x", "y", "y"], "y"),
        (None, None, [{"a": 1}, {"a": 1}, 2], {"a": 1}),
    ],
)
def test_what_votes_say_together(values: Any, scores: Any, votes: list[Any], value: Any) -> None:
    more = {} if scores is None else {"score_output": "score", "score_values": scores}
    result = voted(*({"score": vote} for vote in votes), output_values=values, **more)
    assert result["results"] == [{"score": value}]


@pytest.mark.parametrize(
    ("values", "scores", "keys", "reply", "score"),
    [
        ([True, False], {True: 0.25, False: 1}, ["true", "false"], True, 0.25),
        ("boolean", {"false": 1, "true": 0.25}, ["true", "false"], True, 0.25),
        ("boolean", {"True": 0.25, "False": None}, ["true", "false"], "yes", 0.25),
        ([1, 2, 3], {1: 0, 2: 0.75, 3: 1}, ["1", "2", "3"], 2, 0.75),
        ([3, 2, 1], {"1": 0, "2": 0.75, "3": 1}, ["3", "2", "1"], "2", 0.75),
        ([0.5, 1.5], {0.5: 0.125, 1.5: 1}, ["0.5", "1.5"], 0.5, 0.125),
        (["good", 0], {"good": 0.75, 0: 0}, ["good", "0"], "good", 0.75),
        (["true", "no"], {"true": 0.75, "no": 0}, ["true", "no"], "true", 0.75),
    ],
)
def test_scores_of_numbers_and_flags_come_back_from_yaml(
    values: Any, scores: Any, keys: list[str], reply: Any, score: float
) -> None:
    """Keys of YAML and JSON are texts."""
    generator = MockChatGenerator(json.dumps({"o": reply}))
    evaluator = LLMEvaluator(
        "i", [("a", list[str])], ["o"], [], output_values={"o": values}, score_output="o", score_values=scores,
        chat_generator=generator,
    )  # fmt: skip
    pipeline = Pipeline()
    pipeline.add_component("it", evaluator)
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("it")
    assert list(loaded.to_dict()["init_parameters"]["score_values"]) == keys
    assert loaded.score_values == evaluator.score_values
    assert loaded.to_dict() == evaluator.to_dict()
    for one in (evaluator, loaded):
        assert one.run(a=["x"])["individual_scores"] == [score]


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": [1]}, None], [["a"]]], ids=str)
def test_an_output_that_is_not_named_may_be_an_object_where_there_is_no_schema(value: Any) -> None:
    examples = [{"inputs": {"answers": "x"}, "outputs": {"score": value}}]
    assert llm("ours", json.dumps({"score": value}), examples=examples)["results"] == [{"score": value}]
    evaluator = LLMEvaluator("i", [("a", list[str])], ["o"], [], chat_generator=RowReplies([]))
    assert "object" not in json.dumps(evaluator._outputs["o"].schema)


def test_values_of_haystack_reach_the_judge_as_text() -> None:
    generator = Ruled(lambda _: {"o": 1})
    inputs = [("documents", list[Any]), ("talk", list[list[ChatMessage]]), ("answer", list[Any])]
    evaluator = LLMEvaluator("i", inputs, ["o"], [], chat_generator=generator)
    call = ToolCall(tool_name="search", arguments={"q": "x"})
    evaluator.run(
        documents=[{"best": Document(content="c"), "rest": (Document(content=None), 1.5)}],
        talk=[
            [
                ChatMessage.from_user("hello"),
                ChatMessage.from_assistant(tool_calls=[call]),
                ChatMessage.from_tool("found", origin=call),
            ]
        ],
        answer=[GeneratedAnswer(data="a", query="q", documents=[])],
    )
    assert generator.asked == [
        {
            "documents": {"best": "c", "rest": [None, 1.5]},
            "talk": [
                {"role": "user", "text": "hello"},
                {"role": "assistant", "text": None, "tool_calls": [{"name": "search", "arguments": {"q": "x"}}]},
                {"role": "tool", "text": None, "tool_results": ["found"]},
            ],
            "answer": "a",
        }
    ]


def test_a_dictionary_stays_one_where_the_type_speaks_of_no_document() -> None:
    generator = Ruled(lambda _: {"o": 1})
    value = {"content": "c", "meta": {}, "role": "user"}
    LLMEvaluator("i", [("a", list[dict[str, Any]])], ["o"], [], chat_generator=generator).run(a=[value])
    assert generator.asked == [{"a": value}]


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (list[ChatMessage], [ChatMessage.from_assistant(tool_calls=[])], "ChatMessage without text"),
        (list[ChatMessage], [{"role": "nobody", "SECRET": 1}], "not the JSON form of a ChatMessage"),
        (list[Document], [{"content": 1}], "not the JSON form of a Document"),
    ],
)
def test_what_is_no_message_is_refused_without_its_text(kind: Any, value: Any, error: str) -> None:
    evaluator = LLMEvaluator("i", [("a", kind)], ["o"], [], chat_generator=RowReplies([]))
    with pytest.raises(ValueError, match=rf"a\[0\].*{error}") as caught:
        evaluator.run(a=value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("votes", [1, 3])
def test_plans_are_exact(votes: int) -> None:
    generator = Ruled(lambda _: {"o": 1})
    policy = {**QUICK, "votes": votes}
    evaluator = LLMEvaluator("i", [("a", list[str])], ["o"], [], chat_generator=generator, policy=policy)
    plan = evaluator.plan(a=["x", "y", ""])
    assert (plan.rows, plan.calls, plan.exact) == (3, 3 * votes, True)
    assert generator.asked == []
    assert evaluator.run(a=["x", "y", ""])["usage"]["calls"] == plan.calls


@pytest.mark.parametrize(
    ("values", "scores", "more"),
    [
        ([1, 0.25, True, False, "0.5"], [1.0, 0.25, 1.0, 0.0, 0.5], {}),
        # No number: no score, and not the lowest.
        ([1, "good", None], [1.0, None, None], {}),
        ([3, 5], [0.5, 1.0], {"output_values": {"score": {"minimum": 1, "maximum": 5}}}),
        ([1, 2], [0.5, 1.0], {"output_values": {"score": [0, 1, 2]}}),
        ([1, 0], [1.0, 0.0], {"examples": [{"inputs": {"answers": "a"}, "outputs": {"score": 0.5}}]}),
    ],
)
def test_an_output_called_score_is_the_score(
    values: list[Any], scores: list[float | None], more: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """As Haystack's documentation writes it, without a further parameter."""
    result = llm("ours", *(json.dumps({"score": value}) for value in values), **more)
    known = [score for score in scores if score is not None]
    assert [None if math.isnan(score) else score for score in result["individual_scores"]] == scores
    assert result["score"] == pytest.approx(sum(known) / len(known))
    assert result["statuses"] == ["undefined" if score is None else "scored" for score in scores]
    assert [entry["score"] for entry in result["results"]] == values
    assert ("say in output_values what it may be" in caplog.text) == (None in scores)


def test_votes_on_an_output_called_score_are_averaged() -> None:
    votes = ('{"score": 1}', '{"score": 0.5}', '{"score": 0}', '{"score": 0}')
    result = llm("ours", votes, policy={**QUICK, "votes": 4, "max_concurrency": 1})
    assert result["individual_scores"] == [0.375]


NO_SCORE: dict[str, dict[str, Any]] = {
    "another name": {"outputs": ["verdict"]},
    "words": {"output_values": {"score": ["good", "bad"]}},
    "text": {"output_values": {"score": "text"}},
    "number without bounds": {"output_values": {"score": "number"}},
    "an example on another scale": {"examples": [{"inputs": {"answers": "a"}, "outputs": {"score": 4}}]},
}


@pytest.mark.parametrize("parameters", NO_SCORE.values(), ids=NO_SCORE)
@pytest.mark.parametrize("on_undefined", ["zero", "nan", "raise"])
def test_what_can_never_score_gives_results_and_says_so_first(
    parameters: dict[str, Any], on_undefined: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = parameters.get("outputs", ["score"])[0]
    kind = parameters.get("output_values", {}).get("score")
    value = kind[0] if isinstance(kind, list) else "a text" if kind == "text" else 4
    result = llm("ours", json.dumps({name: value}), "no reply", on_undefined=on_undefined, **parameters)
    assert caplog.text.count("gives results and no score: name the output") == 1
    assert math.isnan(result["score"])
    assert all(map(math.isnan, result["individual_scores"]))
    assert result["statuses"] == ["undefined", "error"]
    assert result["errors"][0] == "no score_output is named"
    assert result["results"] == [{name: value}, None]
    assert "undefined" not in caplog.text


@pytest.mark.parametrize("parameters", NO_SCORE.values(), ids=NO_SCORE)
def test_a_run_refuses_what_can_never_score_before_a_judge_is_paid(parameters: dict[str, Any]) -> None:
    judge = RowReplies(['{"score": 1}'])
    one_input = {**ONE_INPUT, "inputs": [("predicted_answers", list[str])]}
    examples = [{**one, "inputs": {"predicted_answers": "a"}} for one in parameters.get("examples", [])]
    given = {**one_input, **parameters, "examples": examples, "chat_generator": judge, "progress_bar": False}
    pipeline = Pipeline()
    pipeline.add_component("llm", LLMEvaluator(**given))
    data = Dataset("data.jsonl", [{"id": "1", "question": "q", "answer": marker(0)}])
    with pytest.raises(EvaluationError, match="llm can never have a score: no output is named"):
        evaluate_pipeline(pipeline, data)
    assert judge.asked == []
    scored = Pipeline()
    scored.add_component("llm", LLMEvaluator(**one_input, chat_generator=judge, progress_bar=False))
    assert [metric.score for metric in evaluate_pipeline(scored, data).metrics] == [1.0]


@pytest.mark.parametrize(
    ("replies", "scores"),
    [
        ([1, 5], [None, None]),
        ([1, "5", 0.5, "x"], [None] * 4),
        ([1, -1], [None, None]),
        ([1, 0.5, 0], [1.0, 0.5, 0.0]),
        # Words are yes and no as everywhere else; others are undefined alone, since they tell of no scale.
        (["yes", True, "No.", "false", "good", 1], [1.0, 1.0, 0.0, 0.0, None, 1.0]),
    ],
)
def test_a_score_of_which_nothing_is_said_is_one_scale_for_all_rows(replies: list[Any], scores: list[Any]) -> None:
    result = llm("ours", *(json.dumps({"score": reply}) for reply in replies), outputs=["score"])
    found = [None if math.isnan(score) else score for score in result["individual_scores"]]
    assert found == scores
    assert result["statuses"] == ["undefined" if score is None else "scored" for score in scores]
    assert [entry["score"] for entry in result["results"]] == replies
    if set(scores) == {None}:
        assert math.isnan(result["score"])
        assert all("outside 0 to 1" in error and "output_values" in error for error in result["errors"])


def test_one_vote_on_another_scale_is_enough() -> None:
    result = voted({"score": 1}, {"score": 1}, {"score": 4}, outputs=["score"])
    assert (result["statuses"], result["results"]) == (["undefined"], [{"score": 4}])
