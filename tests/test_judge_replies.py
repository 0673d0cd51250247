# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What judges write, and what we read: a table of replies, each with its outcome."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

import pytest
from haystack import component
from haystack.dataclasses import ChatMessage
from pydantic import BaseModel

from haystack_eval_ext import FaithfulnessEvaluator
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import model_form, read_choice, verdicts_form
from haystack_eval_ext.judged._prompts import load_prompt
from haystack_eval_ext.judged._reply import read_reply
from judged_rows import QUICK

GOOD = '{"verdicts": {"s1": 1, "s2": 0}}'
BOTH = {"s1": 1, "s2": 0}
CUT = "its JSON was cut off"
THOUGHTS = "it held thoughts and no answer"
NO_JSON = "it held no JSON object"
NO_ID = "it had no verdict for any of the ids asked about"
TWICE = "it named a key twice with different values"
CONTRADICTS = "it held several answers that contradict each other"
NONE_OF = "a verdict was none of 1, 0"
DRAFTED = '<|channel|>analysis<|message|>{"verdicts": {"s1": 0, "s2": 0}}'


class Reply(NamedTuple):
    """A reply, and the verdicts that it says, or what is wrong with it."""

    name: str
    text: str | None
    outcome: dict[str, int] | str


REPLIES = [
    Reply("as asked", GOOD, BOTH),
    Reply("white space", f"\n\n  {GOOD}\n ", BOTH),
    Reply("on several lines", json.dumps(json.loads(GOOD), indent=4), BOTH),
    Reply("byte order mark", "\ufeff" + GOOD, BOTH),
    Reply("fence", f"```json\n{GOOD}\n```", BOTH),
    Reply("fence without language", f"```\n{GOOD}\n```", BOTH),
    Reply("fence that is not closed", f"```json\n{GOOD}", BOTH),
    Reply("prose before", f"Sure! Here is the JSON:\n{GOOD}", BOTH),
    Reply("prose after", f"{GOOD}\nLet me know if you need more.", BOTH),
    Reply("prose with citations", f"By [1] and [2], see {{note}}:\n{GOOD}", BOTH),
    Reply("prose with an open bracket", f"In the interval [0, 1) I say {GOOD}", BOTH),
    Reply("prose with an open brace", f"The set {{a, b is not closed. {GOOD}", BOTH),
    Reply("in brackets of prose", f"[my answer: {GOOD}]", BOTH),
    Reply("apostrophes in prose", f"It's {{the judge's}} answer, isn't it: {GOOD}", BOTH),
    Reply("think block", f"<think>Is {{s1}} so? Yes.</think>{GOOD}", BOTH),
    Reply("think block with a draft", f'<think>{{"verdicts": {{"s1": 0, "s2": 0}}}}</think>{GOOD}', BOTH),
    Reply("thinking block", f"<THINKING>\n[0, 1)\n</THINKING >\n{GOOD}", BOTH),
    Reply("think block without its opening tag", f'Draft {{"s1": 0}} no.</think>{GOOD}', BOTH),
    Reply("two think blocks", f"<think>a</think><think>b</think>{GOOD}", BOTH),
    Reply("think block after the answer", f'{GOOD}<think>{{"s1": 0}}</think>', BOTH),
    Reply("think block that is not closed", '<think>{"verdicts": {"s1": 1, "s2"', THOUGHTS),
    Reply("nothing but a thought", "<think>Well.</think>", THOUGHTS),
    Reply("tag inside a text", '{"verdicts": {"s1": 1, "s2": 0}, "why": "</think> is a tag"}', BOTH),
    Reply("tag inside a text in a fence", f'```json\n{GOOD[:-1]}, "why": "so</think>"}}\n```', BOTH),
    Reply("tag inside a text, trailing comma", f'{GOOD[:-1]}, "why": "a.</think> B",}}', BOTH),
    Reply("tag inside a text, single quotes", "{'verdicts': {'s1': 1, 's2': 0}, 'why': 'a.</think> B'}", BOTH),
    Reply("tag inside a text, byte order mark", f'\ufeff{GOOD[:-1]}, "why": "<think>"}}', BOTH),
    Reply("channels", f"{DRAFTED}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>", BOTH),
    Reply("channels without a final one", DRAFTED, THOUGHTS),
    Reply("trailing comma", '{"verdicts": {"s1": 1, "s2": 0,},}', BOTH),
    Reply("trailing comma in a text", '{"verdicts": {"s1": 1, "s2": 0}, "why": "a,}",}', BOTH),
    Reply("single quotes", "{'verdicts': {'s1': 1, 's2': 0}}", BOTH),
    Reply("single quotes with an escape", r"{'verdicts': {'s1': 1, 's2': 0}, 'why': 'it\'s \"so\"'}", BOTH),
    Reply("Python's words", '{"verdicts": {"s1": True, "s2": False}, "why": None}', BOTH),
    Reply("line break in a text", '{"verdicts": {"s1": 1, "s2": 0}, "why": "a\nb"}', BOTH),
    Reply("words for verdicts", '{"verdicts": {"s1": "Yes.", "s2": " NO\\n"}}', BOTH),
    Reply("booleans", '{"verdicts": {"s1": true, "s2": false}}', BOTH),
    Reply("decimals", '{"verdicts": {"s1": 1.0, "s2": 0.0}}', BOTH),
    Reply("texts of numbers", '{"verdicts": {"s1": "1", "s2": "0.0"}}', BOTH),
    Reply("texts of booleans", '{"verdicts": {"s1": "true", "s2": "False"}}', BOTH),
    Reply("full-width digits", '{"verdicts": {"s1": "１", "s2": "０"}}', BOTH),
    Reply("reordered", '{"verdicts": {"s2": 0, "s1": 1}}', BOTH),
    Reply("without the name", '{"s1": 1, "s2": 0}', BOTH),
    Reply("another name", '{"scores": {"s1": 1, "s2": 0}}', BOTH),
    Reply("ids in capitals", '{"verdicts": {"S1": 1, " s2 ": 0}}', BOTH),
    Reply("ids without their letter", '{"verdicts": {"1": 1, "2": 0}}', BOTH),
    Reply("full-width ids", '{"verdicts": {"ｓ１": 1, "ｓ２": 0}}', BOTH),
    Reply("list of objects", '{"verdicts": [{"id": "s1", "verdict": 1}, {"id": "s2", "verdict": 0}]}', BOTH),
    Reply("list alone", '[{"id": "s1", "score": 1}, {"id": "s2", "score": 0}]', BOTH),
    Reply("whole numbers as ids", '[{"id": 1, "label": "yes"}, {"id": 2, "label": "no"}]', BOTH),
    Reply("reasons", '{"verdicts": {"s1": {"reason": "x", "verdict": 1}, "s2": {"verdict": 0}}}', BOTH),
    Reply("extra key", '{"verdicts": {"s1": 1, "s2": 0}, "confidence": 0.9}', BOTH),
    Reply("id that nobody asked about", '{"verdicts": {"s1": 1, "s2": 0, "s3": 5}}', BOTH),
    Reply("same answer twice", f"{GOOD} I repeat: {GOOD}", BOTH),
    Reply("id twice with one verdict", '{"verdicts": {"s1": 1, "s1": 1, "s2": 0}}', BOTH),
    Reply("wrapped", f'{{"answer": {GOOD}}}', BOTH),
    Reply("wrapped beside a reason", f'{{"reasoning": "They say so.", "Result": {GOOD}}}', BOTH),
    Reply("wrapped twice", f'{{"response": {{"answer": {GOOD}}}}}', BOTH),
    Reply("in a list", f"[{GOOD}]", BOTH),
    Reply("JSON in a text", json.dumps(GOOD), BOTH),
    Reply("JSON in a text under its name", json.dumps({"verdicts": '{"s1": 1, "s2": 0}'}), BOTH),
    Reply("JSON in a text, wrapped", json.dumps({"output": GOOD}), BOTH),
    Reply("name in another case", '{"Verdicts": {"s1": 1, "s2": 0}}', BOTH),
    Reply("keys of a list in another case", '[{"ID": "s1", "Verdict": 1}, {"Id": "s2", "VERDICT": 0}]', BOTH),
    Reply("verdicts in Japanese", '{"verdicts": {"s1": "はい", "s2": "いいえ。"}}', BOTH),
    Reply("named verdicts", '{"verdicts": {"s1": "Verdict: 1", "s2": "score = no"}}', BOTH),
    Reply("wrapped under a name that means something", f'{{"wrong": {GOOD}}}', NO_ID),
    Reply("wrapped and not", f'{GOOD[:-1]}, "answer": {{"verdicts": {{"s1": 0, "s2": 0}}}}}}', CONTRADICTS),
    Reply("wrapped and not, alike", f'{GOOD[:-1]}, "answer": {GOOD}}}', BOTH),
    Reply("name in two cases", f'{GOOD[:-1]}, "Verdicts": {{"s1": 0, "s2": 0}}}}', TWICE),
    Reply("a verdict in words for two", "Verdict: 1", NO_ID),
    Reply("named twice", '{"verdicts": {"s1": 1, "s2": "Verdict: 1, Verdict: 0"}}', {"s1": 1}),
    Reply("missing", '{"verdicts": {"s1": 1}}', {"s1": 1}),
    Reply("one of them unknown", '{"verdicts": {"s1": 1, "s2": "maybe"}}', {"s1": 1}),
    Reply("one of them hedged", '{"verdicts": {"s1": 1, "s2": "yes - mostly"}}', {"s1": 1}),
    Reply("one of them null", '{"verdicts": {"s1": 1, "s2": null}}', {"s1": 1}),
    Reply("one of them two verdicts", '{"verdicts": {"s1": 1, "s2": {"score": 1, "verdict": 0}}}', {"s1": 1}),
    Reply("one of them a list", '{"verdicts": {"s1": 1, "s2": [0]}}', {"s1": 1}),
    Reply("id twice in a list", '[{"id":"s1","verdict":1},{"id":"s2","verdict":1},{"id":"s2","verdict":0}]', {"s1": 1}),
    Reply("id twice in two spellings", '{"verdicts": {"s1": 1, "s2": 1, "S2": 0}}', {"s1": 1}),
    Reply("id twice in an object", '{"verdicts": {"s1": 1, "s1": 0, "s2": 0}}', TWICE),
    Reply("five", '{"verdicts": {"s1": 5, "s2": 5}}', NONE_OF),
    Reply("below zero", '{"verdicts": {"s1": -1, "s2": -1}}', NONE_OF),
    Reply("between", '{"verdicts": {"s1": 0.5, "s2": "0.5"}}', NONE_OF),
    Reply("NaN", '{"verdicts": {"s1": NaN, "s2": 0}}', NO_JSON),
    Reply("Infinity", '{"verdicts": {"s1": 1, "s2": -Infinity}}', NO_JSON),
    Reply("beyond floats", '{"verdicts": {"s1": 1e999, "s2": 1e999}}', NONE_OF),
    Reply("beyond integers", '{"verdicts": {"s1": 1' + "0" * 5000 + "}}", NO_JSON),
    Reply("nobody's ids", '{"verdicts": {"a": 1, "b": 0}}', NO_ID),
    Reply("bare list of verdicts", "[1, 0]", NO_ID),
    Reply("list of verdicts", '{"verdicts": [1, 0]}', NO_ID),
    Reply("no verdicts", '{"verdicts": {}}', NO_ID),
    Reply("another form", '{"unexpected": true}', NO_ID),
    Reply("two answers that differ", f'{GOOD} No: {{"verdicts": {{"s1": 0, "s2": 0}}}}', CONTRADICTS),
    Reply("answer and a part of it", f'{GOOD} In short: {{"verdicts": {{"s1": 1}}}}', CONTRADICTS),
    Reply("cut off", '{"verdicts": {"s1": 1, "s2', CUT),
    Reply("cut off between", '{"verdicts": {"s1": 1, "s2": 0}', CUT),
    Reply("cut off in a fence", '```json\n{"verdicts": {"s1": 1,\n```', CUT),
    Reply("cut-off list", '[{"id": "s1", "verdict": 1}, {"id": "s2"', CUT),
    Reply("cut-off text", '{"why": "because', CUT),
    Reply("unquoted keys", "{verdicts: {s1: 1, s2: 0}}", NO_JSON),
    Reply("comment", '{"verdicts": {"s1": 1 /* sure */, "s2": 0}}', NO_JSON),
    Reply("empty", "", "it was empty"),
    Reply("blank", " \n\t", "it was empty"),
    Reply("None", None, "it was empty"),
    Reply("prose alone", "Both statements are fine.", NO_JSON),
    Reply("a verdict alone", "1", NO_ID),
    Reply("a word alone", "Yes.", NO_JSON),
    Reply("a text", '"yes"', NO_ID),
    Reply("null", "null", NO_ID),
    Reply("refusal", "I'm sorry, but I can't help with that.", NO_JSON),
    Reply("deep nesting", "[" * 100_000 + "]" * 100_000, NO_JSON),
    Reply("deep nesting, cut off", '{"a":' * 30_000, CUT),
    Reply("huge", GOOD + " " * 300_000, "it was far too long"),
    Reply("long", "x" * 150_000 + GOOD, BOTH),
    Reply("many brackets", "[" * 150_000, CUT),
    Reply("many braces of prose", "{x " * 50_000, NO_JSON),
    Reply("many thoughts", "<think>" * 20_000, THOUGHTS),
    Reply("many quotes", '{"' * 40_000, CUT),
]


def test_the_table_is_long_enough() -> None:
    assert len(REPLIES) >= 60
    assert len({reply.name for reply in REPLIES}) == len(REPLIES)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply.name)
def test_reply(reply: Reply) -> None:
    begin = time.process_time()
    try:
        outcome: Any = read_reply(reply.text, verdicts_form(["s1", "s2"]).read)
    except ReplyError as error:
        outcome = error.reason
    assert outcome == reply.outcome
    # No reply may hold up the event loop: the slowest takes a small part of this.
    assert time.process_time() - begin < 10


@component
class Replies:
    """A judge with its replies on a list; each is the text, or its choices, with how it ended."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.asked.append(messages)
        reply = self.replies.pop(0)
        return reply if isinstance(reply, dict) else {"replies": [ChatMessage.from_assistant(reply)]}


def ended(text: str, reason: str) -> dict[str, Any]:
    """An output whose reply tells how it ended."""
    return {"replies": [ChatMessage.from_assistant(text, meta={"finish_reason": reason})]}


def judged(*replies: Any) -> tuple[dict[str, Any], Replies]:
    """What comes of an answer with two sentences."""
    judge = Replies(*replies)
    evaluator = FaithfulnessEvaluator(chat_generator=judge, policy=QUICK, raise_on_failure=False)
    result = evaluator.run(questions=["q"], contexts=[["c"]], predicted_answers=["One is so. Two is not."])
    assert not judge.replies, "not all replies were asked for"
    return result, judge


@pytest.mark.parametrize("reply", [reply for reply in REPLIES if reply.outcome == BOTH], ids=lambda reply: reply.name)
def test_a_whole_reply_is_scored_at_once(reply: Reply) -> None:
    assert judged(reply.text)[0]["results"][0]["statement_scores"] == [1, 0]


@pytest.mark.parametrize("reply", [r for r in REPLIES if r.outcome == {"s1": 1}], ids=lambda reply: reply.name)
def test_what_a_reply_leaves_open_is_asked_again_alone(reply: Reply) -> None:
    result, judge = judged(reply.text, '{"verdicts": {"s2": 0}}')
    assert result["results"][0]["statement_scores"] == [1, 0]
    assert json.loads(judge.asked[1][-1].text or "")["statements"] == {"s2": "Two is not."}


@pytest.mark.parametrize(
    "reply", [reply for reply in REPLIES if isinstance(reply.outcome, str) and reply.text], ids=lambda reply: reply.name
)
def test_an_unreadable_reply_is_asked_again_with_what_was_wrong(reply: Reply) -> None:
    result, judge = judged(reply.text, GOOD)
    assert result["results"][0]["statement_scores"] == [1, 0]
    assert judge.asked[1][-1] == judge.asked[0][-1]
    assert f" used: {reply.outcome}. Reply again" in (judge.asked[1][0].text or "")


@pytest.mark.parametrize(
    ("replies", "scores", "error"),
    [
        # The first choice counts: the others are other drafts.
        ([{"replies": [ChatMessage.from_assistant(GOOD), ChatMessage.from_assistant('{"s1": 0}')]}], [1, 0], None),
        ([{"replies": []}, GOOD], [1, 0], None),
        ([{}, GOOD], [1, 0], None),
        ([{"replies": None}, GOOD], [1, 0], None),
        ([{"replies": [ChatMessage.from_assistant(None, tool_calls=[])]}, GOOD], [1, 0], None),
        ([ended(GOOD, "length")], [1, 0], None),  # it was whole
        ([ended('{"verdicts": {"s1"', "length"), '{"s1": 1}', '{"s2": 0}'], [1, 0], None),
        ([ended('{"verdicts": {"s1"', "max_tokens"), '{"s1": 1}', '{"s2": 0}'], [1, 0], None),
        ([ended("{", "length"), '{"s1": 1}', ended("{", "length")], [], "the reply was cut off at the token limit"),
        ([ended("", "content_filter")], [], "the service refused to reply (content filter)"),
        ([ended("", "SAFETY")], [], "the service refused to reply (content filter)"),
        (["no {x}"] * 6, [], "unreadable reply in 6 attempts: it held no JSON object"),
        (['{"s1": 1}', *['{"s1": 1}'] * 6], [], "unreadable reply in 6 attempts: it had no verdict for any"),
    ],
)
def test_outputs_of_generators(replies: list[Any], scores: list[int], error: str | None) -> None:
    result, _ = judged(*replies)
    assert result["results"][0]["statement_scores"] == scores
    if error is None:
        assert result["errors"] == [None]
    else:
        assert result["errors"][0].startswith(error)


def test_stock_replies_are_read_too() -> None:
    result, _ = judged('{"statements": ["It is so.", "It is not."], "statement_scores": [1, 0]}')
    # Its verdicts are on what was asked about.
    assert result["results"][0]["statements"] == ["One is so.", "Two is not."]
    assert result["results"][0]["statement_scores"] == [1, 0]
    result, judge = judged('{"statements": ["It is so."], "statement_scores": [1, 0]}', GOOD)
    assert "were not two lists of equal length" in (judge.asked[1][0].text or "")
    assert result["score"] == 0.5


@pytest.mark.parametrize("scores", [[], [1], [1, 1, 1]])
def test_a_stock_reply_about_more_or_fewer_statements_is_asked_again(scores: list[int]) -> None:
    stock = json.dumps({"statements": ["It is."] * len(scores), "statement_scores": scores})
    result, judge = judged(stock, GOOD)
    assert result["results"][0]["statement_scores"] == [1, 0]
    assert f"it had {len(scores)} verdicts, but 2 were asked for" in (judge.asked[1][0].text or "")


def stock(*pairs: tuple[str | None, Any]) -> str:
    """A reply in the stock form: statements with their verdicts."""
    return json.dumps({"statements": [text for text, _ in pairs], "statement_scores": [score for _, score in pairs]})


THREE = ("Alpha is here.", "Beta is there.", "Gamma is gone.")
ALPHA, BETA, GAMMA = THREE
NEITHER = "its statements were neither those asked about nor in their order"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (stock((ALPHA, 1), (BETA, 1), (GAMMA, 0)), [1, 1, 0]),
        (stock((GAMMA, 0), (ALPHA, 1), (BETA, 1)), [1, 1, 0]),
        (stock((" gamma  is gone", 0), ("Alpha is\nhere!", 1), ("BETA IS THERE.", 1)), [1, 1, 0]),
        (stock((BETA, 1), (GAMMA, 0)), ["s1"]),
        (stock((GAMMA, 0), (ALPHA, "maybe"), (BETA, 1)), ["s1"]),
        (stock((GAMMA, 0), (ALPHA, 1), (BETA, 1), (BETA, 0)), ["s2"]),
        (stock((GAMMA, 0), (ALPHA, 1), (BETA, 1), (BETA, 1)), [1, 1, 0]),
        (stock(("A is.", 1), ("B is.", 1), ("C was.", 0)), [1, 1, 0]),
        (stock((ALPHA, 1), ("B is.", 1), ("C was.", 0)), [1, 1, 0]),
        (stock((ALPHA, 1), (None, 1), (GAMMA, 0)), [1, 1, 0]),
        (stock((GAMMA, 0), ("A is.", 1), (BETA, 1)), NEITHER),
        (stock(("A is.", 1), (ALPHA, 1), (GAMMA, 0)), NEITHER),
        (stock((ALPHA, 1), (BETA, 1), (GAMMA, 0), ("Delta is new.", 1)), "it had 4 verdicts, but 3 were asked for"),
    ],
)
def test_statements_of_a_stock_reply_are_known_by_their_words(reply: str, outcome: list[Any] | str) -> None:
    """Not by their places, unless all of those in a place of another are in the judge's own words."""
    scored = outcome if isinstance(outcome, list) and outcome[0] in (0, 1) else None
    rest = [] if scored else ['{"s1": 1, "s2": 1, "s3": 0}']
    judge = Replies(reply, *rest)
    evaluator = FaithfulnessEvaluator(chat_generator=judge, policy=QUICK)
    result = evaluator.run(questions=["q"], contexts=[["c"]], predicted_answers=[" ".join(THREE)])
    assert result["results"][0]["statement_scores"] == [1, 1, 0]
    assert len(judge.asked) == 1 + len(rest)
    if isinstance(outcome, str):
        assert outcome in (judge.asked[1][0].text or "")
    elif rest:
        assert list(json.loads(judge.asked[1][-1].text or "")["statements"]) == outcome


@pytest.mark.parametrize(
    ("scores", "outcome"), [((1, 0, 1), [1, 0, 1]), ((0, 1), [0, 1, 0])], ids=["as often", "once for all"]
)
def test_a_statement_that_stands_in_the_answer_twice_has_its_verdicts_in_order(
    scores: tuple[int, ...], outcome: list[int]
) -> None:
    pairs = zip(("No.", "Yes.", "No."), scores, strict=False)
    evaluator = FaithfulnessEvaluator(chat_generator=Replies(stock(*pairs)), policy=QUICK)
    result = evaluator.run(questions=["q"], contexts=[["c"]], predicted_answers=["No. Yes. No."])
    assert result["results"][0]["statement_scores"] == outcome


def test_a_stock_reply_about_a_part_is_known_by_its_words() -> None:
    result, judge = judged('{"s1": 1}', stock(("One is so.", 0), ("Two is not.", 0)))
    assert result["results"][0]["statement_scores"] == [1, 0]
    assert list(json.loads(judge.asked[1][-1].text or "")["statements"]) == ["s2"]


@pytest.mark.parametrize("first", ['{"s1": 1}', ended("{", "length")])
def test_a_stock_reply_is_not_read_where_only_a_part_was_asked_about(first: Any) -> None:
    stock = '{"statements": ["It is."], "statement_scores": [0]}'
    halves = [] if isinstance(first, str) else ['{"s1": 1}']
    result, _ = judged(first, *halves, stock, '{"s2": 1}')
    assert result["results"][0]["statement_scores"] == [1, 1]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_was_wrong_stands_in_a_sentence_before_the_form(language: str) -> None:
    prompt = load_prompt("faithfulness", language)
    text = prompt.again("it held {odd} signs")
    assert "it held {odd} signs. " in text.replace("\n", " ")
    assert "{fault}" not in text
    assert text.endswith(prompt.reply.strip())


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("Yes.", 1), (" YES\n", 1), ("true", 1), (True, 1), (1, 1), (1.0, 1), ("1", 1), ("1.0", 1), ("**Yes**", 1),
        ('"yes"', 1), ("１", 1), ("ＹＥＳ", 1),
        ("да", 1), ("Nein.", 0), ("はい", 1), ("N/A", None), ("good", None),
        ("No!", 0), ("FALSE", 0), (False, 0), (0, 0), (0.0, 0), (-0.0, 0), ("0", 0), ("`no`", 0),
        ("yes - mostly", None), ("yes no", None), (5, None), (-1, None), (0.5, None), ("", None), (None, None),
        ([], None), ([1], None), ({}, None), ("01", None), ("+1", None), ("y", None), ("²", None),
        (float("nan"), None), (float("inf"), None),
    ],
)  # fmt: skip
def test_yes_or_no(given: Any, verdict: int | None) -> None:
    assert choice(given, (1, 0)) == verdict


@pytest.mark.parametrize(
    ("given", "choices", "verdict"),
    [
        (4, (1, 2, 3, 4, 5), 4), ("4", (1, 2, 3, 4, 5), 4), (4.0, (1, 2, 3, 4, 5), 4), ("4.0", (1, 2, 3, 4, 5), 4),
        ("４", (1, 2, 3, 4, 5), 4), (6, (1, 2, 3, 4, 5), None), (4.5, (1, 2, 3, 4, 5), None),
        ("4/5", (1, 2, 3, 4, 5), None),
        (True, (1, 2, 3), None), ("four", (1, 2, 3, 4), None), ("1" * 400, (1, 2), None),
        ("A", ("A", "B", "tie"), "A"), ("a.", ("A", "B", "tie"), "A"), (" TIE", ("A", "B", "tie"), "tie"),
        ("C", ("A", "B"), None),
        ("No.", ("Yes.", "No."), "No."), ("no", ("Yes.", "No."), "No."), ("U.S.", ("U.S.", "UK"), "U.S."),
        ("A", ("a", "A"), "A"),
        (1, ("1", "2"), None), ("1", ("1", "2"), "1"), (None, ("A", "B"), None), (True, ("true", "false"), None),
    ],
)  # fmt: skip
def test_other_choices(given: Any, choices: tuple[int | str, ...], verdict: int | str | None) -> None:
    assert choice(given, choices) == verdict


def choice(given: Any, choices: tuple[int | str, ...]) -> int | str | None:
    """What a verdict is read as; None if it is refused, without being quoted."""
    try:
        return read_choice(given, choices)
    except ReplyError as error:
        assert str(given) in ("", "1", "C", "6", "[]", "{}", "0.5") or f" {given} " not in error.reason
        return None


class Part(BaseModel):
    score: int
    words: list[str]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('{"score": 3, "words": ["a"]}', Part(score=3, words=["a"])),
        ('{"score": "3", "words": []}', Part(score=3, words=[])),
        ('{"score": 3}', "the key 'words' is missing"),
        ('{"score": 3.5, "words": []}', "the key 'score' must be another type (int_from_float)"),
        ('{"score": "secret", "words": []}', "the key 'score' must be another type (int_parsing)"),
        ('{"score": 3, "words": "a"}', "the key 'words' must be another type (list_type)"),
        ('{"score": 3, "words": ["a", null]}', "the key 'words' must be another type (string_type)"),
        ('["score", 3]', "it had not the keys asked for"),
        ("3", "it had not the keys asked for"),
        ('{"score": 1, "words": []} or {"score": 2, "words": []}', CONTRADICTS),
        ('{"score": 1, "words": ["<think>", "</think>"]}', Part(score=1, words=["<think>", "</think>"])),
    ],
)
def test_replies_of_a_model(text: str, outcome: Part | str) -> None:
    try:
        came: Any = read_reply(text, model_form(Part).read)
    except ReplyError as error:
        came = error.reason
    assert came == outcome


def test_schemas_are_strict() -> None:
    """As servers with strict schemas want them: every property required, no other, no title."""

    class Outer(BaseModel):
        title: str
        part: Part
        note: str | None = None

    schema = json.loads(json.dumps(model_form(Outer).schema))
    assert schema["required"] == ["title", "part", "note"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["title"] == {"type": "string"}, "a property may be called as a keyword is"
    part = schema["$defs"]["Part"]
    assert (part["required"], part["additionalProperties"]) == (["score", "words"], False)
    assert verdicts_form(["s1"]).schema == {
        "type": "object",
        "properties": {
            "verdicts": {
                "type": "object",
                "properties": {"s1": {"type": "integer", "enum": [1, 0]}},
                "required": ["s1"],
                "additionalProperties": False,
            }
        },
        "required": ["verdicts"],
        "additionalProperties": False,
    }
