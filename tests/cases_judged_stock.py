# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the judged evaluators that Haystack has, too."""

from __future__ import annotations

from typing import Any

from cases import Golden
from cases_judged import POLICY, JudgedCase, rows, sample
from haystack_eval_ext import ContextRelevanceEvaluator, FaithfulnessEvaluator, LLMEvaluator
from scripted_judge import AsyncScriptedJudge, ScriptedJudge, words

EXAMPLE = {
    "inputs": {"questions": "Where?", "contexts": ["In Oslo."], "predicted_answers": "In Oslo. By ship."},
    "outputs": {"statements": ["In Oslo.", "By ship."], "statement_scores": [1, 0]},
}
FAITHFULNESS = Golden(
    "words of the contexts",
    rows(
        questions=["q"] * 5,
        contexts=[["a b", "cc"], ["a b", "cc"], ["a"], [], ["a"]],
        predicted_answers=["A b. Cc. Dd.", "A cc.", "", "a", "..."],
    ),
    # 2 of 3; no context has both words: 0 of 1; undefined; nothing to support it; no statement.
    [2 / 3, 0.0, 0.0, 0.0, 0.0],
)
RELEVANCE_EXAMPLE = {
    "inputs": {"questions": "Where?", "contexts": ["In Oslo. It is cold.", "By ship."]},
    "outputs": {"relevant_statements": ["In Oslo."]},
}
RELEVANCE = rows(
    questions=["a b", "a", "z", "a", "", "a", "a"],
    contexts=[["A x. B y.", "q.\na.", "q.", "r."], ["b."], ["a."], [], ["a."], ["", "a."], ["a.", " ", "b."]],
)
ANY_RELEVANT = Golden(
    "sentences that share a word with the question",
    RELEVANCE,
    # Contexts 1 and 2 of 4; none; none; no contexts; no question; the only one with text; 1 of the 2 with text.
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
)
SHARE_RELEVANT = Golden("the same by share", RELEVANCE, [2 / 4, 0.0, 0.0, 0.0, 0.0, 1 / 1, 1 / 2])

LLM_INPUTS = [
    ["questions", "list[str]"],
    ["contexts", "list[list[haystack.dataclasses.document.Document]]"],
    ["predicted_answers", "list[str] | list[haystack.dataclasses.chat_message.ChatMessage]"],
]
LLM_EXAMPLE = {
    "inputs": {"questions": "Where?", "contexts": ["{{ questions }}"], "predicted_answers": "In Oslo."},
    "outputs": {"verdict": "long", "reason": "Three words or more."},
}
LENGTHS = Golden(
    "length of the answer",
    rows(questions=["q"] * 4, contexts=[[]] * 4, predicted_answers=["a b c d", "a b", "a", ""]),
    # Three words or more are long, 1; one or two short, .25; none gives "nothing", which has no score and counts 0.
    [1.0, 0.25, 0.25, 0.0],
)

CASES = [
    JudgedCase(
        "faithfulness",
        FaithfulnessEvaluator,
        parameters={"chat_generator": ScriptedJudge("scripted_judge:verdicts")},
        golden=(FAITHFULNESS,),
    ),
    JudgedCase(
        "faithfulness-all-parameters",
        FaithfulnessEvaluator,
        parameters={
            "examples": [EXAMPLE],
            "progress_bar": False,
            "raise_on_failure": False,
            "chat_generator": AsyncScriptedJudge("scripted_judge:verdicts"),
            "instructions": "Decide for each statement whether the contexts say it.",
            "language": "ja",
            "policy": POLICY,
            "on_undefined": "nan",
        },
    ),
    JudgedCase(
        "faithfulness-extracted",
        FaithfulnessEvaluator,
        parameters={"chat_generator": ScriptedJudge("scripted_judge:extract"), "statements": "extracted"},
    ),
    JudgedCase(
        "context-relevance",
        ContextRelevanceEvaluator,
        sample("questions", "contexts"),
        parameters={"chat_generator": ScriptedJudge("cases_judged_stock:quotes")},
        golden=(ANY_RELEVANT,),
    ),
    JudgedCase(
        "context-relevance-all-parameters",
        ContextRelevanceEvaluator,
        sample("questions", "contexts"),
        parameters={
            "examples": [RELEVANCE_EXAMPLE],
            "progress_bar": False,
            "raise_on_failure": False,
            "chat_generator": AsyncScriptedJudge("cases_judged_stock:quotes"),
            "score_by": "share",
            "instructions": "Copy the sentences that answer the question.",
            "language": "ja",
            "policy": POLICY,
            "on_undefined": "nan",
        },
    ),
    JudgedCase(
        "context-relevance-share",
        ContextRelevanceEvaluator,
        sample("questions", "contexts"),
        parameters={"chat_generator": ScriptedJudge("cases_judged_stock:quotes"), "score_by": "share"},
        golden=(SHARE_RELEVANT,),
    ),
    JudgedCase(
        "llm",
        LLMEvaluator,
        parameters={
            "instructions": "Is the answer long?",
            "inputs": LLM_INPUTS,
            "outputs": ["verdict", "reason"],
            "examples": [],
            "chat_generator": ScriptedJudge("cases_judged_stock:length"),
        },
    ),
    JudgedCase(
        "llm-all-parameters",
        LLMEvaluator,
        parameters={
            "instructions": "Is the answer {{ long }}?",
            "inputs": LLM_INPUTS,
            "outputs": ["verdict", "reason"],
            "examples": [LLM_EXAMPLE],
            "progress_bar": False,
            "raise_on_failure": False,
            "chat_generator": AsyncScriptedJudge("cases_judged_stock:length"),
            "output_values": {"verdict": ["long", "short", "nothing"], "reason": "text"},
            "score_output": "verdict",
            "score_values": {"long": 1, "short": 0.25, "nothing": None},
            "language": "ja",
            "policy": POLICY,
            "on_undefined": "nan",
        },
    ),
    JudgedCase(
        "llm-scored",
        LLMEvaluator,
        parameters={
            "instructions": "Is the answer long?",
            "inputs": LLM_INPUTS,
            "outputs": ["verdict"],
            "examples": [],
            "chat_generator": ScriptedJudge("cases_judged_stock:length"),
            "output_values": {"verdict": ["long", "short", "nothing"]},
            "score_output": "verdict",
            "score_values": {"long": 1, "short": 0.25, "nothing": None},
        },
        golden=(LENGTHS,),
    ),
]


def quotes(data: dict[str, Any]) -> object:
    """Quote each sentence that shares a word with the question."""
    asked = words(data["question"])
    return {
        "relevant_sentences": {
            name: [sentence for sentence in context.split(". ") if words(sentence) & asked]
            for name, context in data["contexts"].items()
        }
    }


def length(data: dict[str, Any]) -> object:
    """Whether an answer has three words, one, or none."""
    count = len(words(data["predicted_answers"]))
    return {"verdict": "long" if count > 2 else "short" if count else "nothing", "reason": f"{count} words"}
