# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""ContextRelevanceEvaluator: quotes and where they are found, votes, and what is asked again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import ContextRelevanceEvaluator
from haystack_eval_ext.judged._quotes import Passage
from judged_replies import QUICK, Ruled, make, marker, relevance


def first_sentences(data: dict[str, Any]) -> Any:
    return {"relevant_sentences": {name: [text.split(". ")[0]] for name, text in data["contexts"].items()}}


def relevant_by(rule: Callable[[dict[str, Any]], Any], contexts: list[str], **policy: Any) -> tuple[Any, Ruled]:
    generator = Ruled(rule)
    evaluator = ContextRelevanceEvaluator(
        chat_generator=generator, raise_on_failure=False, policy={**QUICK, "max_concurrency": 1, **policy}
    )
    return evaluator.run(questions=["q"], contexts=[contexts]), generator


def test_contexts_that_a_reply_leaves_out_are_asked_about_alone() -> None:
    def forgets(data: dict[str, Any]) -> Any:
        texts = first_sentences(data)["relevant_sentences"]
        if len(texts) == 3:
            texts = {"c1": texts["c1"], "c2": [1]}
        return {"relevant_sentences": texts}

    result, generator = relevant_by(forgets, ["One. X", "Two. Y", "Three. Z"])
    assert [list(data["contexts"]) for data in generator.asked] == [["c1", "c2", "c3"], ["c2", "c3"]]
    assert result["results"][0]["relevant_contexts"] == [1, 1, 1]
    assert result["results"][0]["relevant_statements"] == ["One", "Two", "Three"]


def test_a_reply_that_names_others_in_place_of_some_is_asked_for_anew() -> None:
    """It may number the contexts in its own way: nothing of it is taken."""

    def renumbers(data: dict[str, Any]) -> Any:
        texts = first_sentences(data)["relevant_sentences"]
        if not asked:
            texts = {"c0": [], "c1": texts["c2"], "c2": texts["c3"]}
        asked.append(data)
        return {"relevant_sentences": texts}

    asked: list[dict[str, Any]] = []
    result, generator = relevant_by(renumbers, ["One. X", "Two. Y", "Three. Z"])
    assert [list(data["contexts"]) for data in generator.asked] == [["c1", "c2", "c3"]] * 2
    assert result["results"][0]["relevant_contexts"] == [1, 1, 1]


def test_contexts_that_no_reply_names_fail_the_row() -> None:
    def only_the_first(data: dict[str, Any]) -> Any:
        name = next(iter(data["contexts"]))
        return {"relevant_sentences": {name: []}}

    result, generator = relevant_by(only_the_first, ["a", "b", "c"])
    assert result["statuses"] == ["error"]
    assert result["errors"] == ["the judge passed over 1 of 3 contexts in 2 rounds"]
    assert len(generator.asked) == 2


def test_a_reply_that_was_cut_off_is_asked_for_in_halves() -> None:
    def short(data: dict[str, Any]) -> Any:
        if len(data["contexts"]) > 1:
            return ChatMessage.from_assistant('{"relevant_sen', meta={"finish_reason": "length"})
        return first_sentences(data)

    result, generator = relevant_by(short, ["One. X", "Two. Y", "Three. Z"])
    assert result["results"][0]["relevant_contexts"] == [1, 1, 1]
    assert [list(data["contexts"]) for data in generator.asked] == [
        ["c1", "c2", "c3"],
        ["c1"],
        ["c2", "c3"],
        ["c2"],
        ["c3"],
    ]


def test_a_single_context_that_is_too_long_fails_the_row() -> None:
    def cut(_: dict[str, Any]) -> Any:
        return ChatMessage.from_assistant("{", meta={"finish_reason": "length"})

    result, _ = relevant_by(cut, ["a"])
    assert "cut off at the token limit" in result["errors"][0]


@pytest.mark.parametrize(
    "reply",
    [
        {"relevant_sentences": {"C1": ["One."], " c2. ": []}},
        {"c1": ["One."], "c2": []},
        {"relevant_sentences": {"1": ["One."], "2": []}},
        {"relevant_sentences": ["One."]},
        {"relevant_statements": ["One.", " "]},
        {"relevant_statements": {"c1": ["One."], "c2": []}},
        {"relevant_sentences": {"c1": "One.", "c2": None}},
        {"c1": "One.", "c2": ""},
        {"relevant_sentences": {"c1": ["One."], "c2": "none"}},
    ],
)
def test_other_forms_that_are_clear_are_read(reply: Any) -> None:
    contexts = [["One. X", "Two. Y"]]
    result = relevance("ours", json.dumps(reply), contexts=contexts)
    assert result["results"][0]["relevant_contexts"] == [1, 0]
    assert result["usage"]["calls"] == 1


def test_a_sentence_that_two_contexts_have_makes_both_relevant() -> None:
    reply = json.dumps({"relevant_statements": ["One."]})
    assert relevance("ours", reply, contexts=[["One. X", "y", "Zero. One."]])["results"][0]["relevant_contexts"] == [
        1,
        0,
        1,
    ]


def test_a_sentence_under_the_id_of_another_context_does_not_count() -> None:
    reply = json.dumps({"relevant_sentences": {"c1": ["Two."], "c2": []}})
    (entry,) = relevance("ours", reply, contexts=[["One.", "Two."]])["results"]
    assert (entry["relevant_contexts"], entry["not_in_context"], entry["score"]) == ([0, 0], ["Two."], 0.0)


@pytest.mark.parametrize("second", ["[]", '"none"'])
def test_an_id_with_two_different_lists_is_asked_again(second: str) -> None:
    twice = f'{{"relevant_sentences": {{"c1": ["One."], "C1": {second}}}}}'
    once = '{"relevant_sentences": {"c1": ["One."]}}'
    result = relevance("ours", (twice, once), contexts=[["One."]])
    assert (result["usage"]["calls"], result["individual_scores"]) == (2, [1.0])


def test_blank_contexts_do_not_count_and_keep_their_places() -> None:
    reply = json.dumps({"relevant_sentences": {"c1": [], "c2": ["Two."]}})
    (entry,) = relevance("ours", reply, contexts=[[" ", "One.", "", "Two."]])["results"]
    assert (entry["relevant_contexts"], entry["share"]) == ([0, 0, 0, 1], 0.5)


def test_without_a_question_nothing_is_asked() -> None:
    evaluator, generator = make("ours", "ContextRelevanceEvaluator", [], {"on_undefined": "nan"})
    result = evaluator.run(questions=[" "], contexts=[["c"]])
    assert (result["statuses"], result["errors"]) == (["undefined"], ["there is no question"])
    assert generator.asked == []


@pytest.mark.parametrize(
    ("votes", "relevant", "agreement"),
    [
        ([["One."], ["One."], []], [1, 0], (2 / 3 + 1) / 2),
        ([["One."], [], []], [0, 0], (2 / 3 + 1) / 2),
        ([["One."], []], [0, 0], (1 / 2 + 1) / 2),  # a tie is not relevant
        ([["One."], ["no such words"], ["x"]], [1, 0], (2 / 3 + 1) / 2),
    ],
)
def test_votes_on_contexts(votes: list[list[str]], relevant: list[int], agreement: float) -> None:
    replies = tuple(json.dumps({"relevant_sentences": {"c1": texts, "c2": []}}) for texts in votes)
    policy = {**QUICK, "votes": len(votes), "max_concurrency": 1}
    (entry,) = relevance("ours", replies, contexts=[["One. X", "y"]], policy=policy)["results"]
    assert entry["relevant_contexts"] == relevant
    assert entry["agreement"] == pytest.approx(agreement)


CONTEXT = (
    "He said: “Don’t panic.” The  re\u00adsult\nwas 3.5 % (see Table 2).Then THEY left. "
    "東京は日本の首都です。人口は多い。"
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ('He said: "Don\'t panic."', True),
        ("he said: 'don't panic'", True),
        ("The result was 3.5 % (see Table 2)", True),
        ("Then they left!", True),
        ("result was ３．５", True),
        ("東京は日本の首都です", True),
        ("首都です。人口", True),
        ("The result was 3.6 %", False),
        ("He did not say: Don't panic.", False),
        ("said he", False),
        ("he", False),  # a word that any text has
        ("they left", False),
        ("東京は", False),
        ("東京は日", True),
        ("hey", False),
        ("sult", False),
        ("東京は日本の都市です", False),
        ("...", False),
        ("[]", False),
        ("", False),
    ],
)
def test_where_a_quote_is_found(quote: str, found: bool) -> None:
    assert Passage(CONTEXT).has(quote) == found


@pytest.mark.parametrize(
    ("text", "quote"), [("Oslo.", "Oslo"), ("Yes. In Oslo.", "in oslo!"), ("名詞\n東京。", "東京")]
)
def test_a_short_quote_is_evidence_where_it_is_a_whole_sentence(text: str, quote: str) -> None:
    assert Passage(text).has(quote)
    assert not Passage(f"x{text[:-1]}y z").has(quote)


def test_a_document_without_content_keeps_its_place() -> None:
    evaluator, _ = make("ours", "ContextRelevanceEvaluator", ['{"relevant_sentences": {"c1": ["Two."]}}'], {})
    documents = [Document(id="a", content=None), Document(id="b", content="Two.")]
    assert evaluator.run(questions=["q"], contexts=[documents])["results"][0]["relevant_contexts"] == [0, 1]


def test_a_quote_from_what_could_not_be_sent_is_found() -> None:
    sent: list[str] = []

    def echo(data: dict[str, Any]) -> Any:
        sent.append(data["contexts"]["c1"])
        return {"relevant_sentences": {"c1": [data["contexts"]["c1"]]}}

    result, _ = relevant_by(echo, ["broken \ud800 text \x00 here"])
    assert sent == ["broken \ufffd text \ufffd here"]
    assert result["individual_scores"] == [1.0]


def test_a_bad_choice_of_the_score_is_refused() -> None:
    with pytest.raises(ValueError, match="score_by must be one of 'any', 'share', but is 'mean'"):
        make("ours", "ContextRelevanceEvaluator", [], {"score_by": "mean"})


def test_a_failed_row_has_the_keys_of_the_others() -> None:
    good, bad = relevance("ours", '{"relevant_statements": []}', "junk")["results"]
    assert set(good) - {"reply"} == set(bad) - {"reply"}
    assert math.isnan(bad["share"])
    assert marker(0) not in json.dumps(bad)


@pytest.mark.parametrize("votes", [1, 3])
def test_plans_are_exact(votes: int) -> None:
    generator = Ruled(first_sentences)
    rows = {"questions": ["a", "b", "c", ""], "contexts": [["x."], [], ["y."], ["z."]]}
    evaluator = ContextRelevanceEvaluator(chat_generator=generator, policy={**QUICK, "votes": votes})
    plan = evaluator.plan(**rows)
    assert (plan.rows, plan.calls, plan.exact) == (4, 2 * votes, True)
    assert generator.asked == []
    assert evaluator.run(**rows)["usage"]["calls"] == plan.calls
