# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of refusal, rubric, pairwise and citation, and the rules of their scripted judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage

from cases import Golden
from cases_judged import POLICY, JudgedCase, rows, sample
from haystack_eval_ext import CitationEvaluator, PairwiseEvaluator, RefusalEvaluator, RubricEvaluator
from scripted_judge import AsyncScriptedJudge, ScriptedJudge, words

#: All parameters that every judged evaluator has, none at its default.
COMMON: dict[str, Any] = {
    "progress_bar": False,
    "raise_on_failure": False,
    "instructions": "Judge with care.",
    "language": "ja",
    "policy": POLICY,
    "on_undefined": "nan",
}


def declines(data: dict[str, Any]) -> object:
    """Whoever does not know declines."""
    return {"verdicts": {name: int("not know" in text) for name, text in data["answers"].items()}}


def grade(data: dict[str, Any]) -> object:
    """One level for each word of the answer, or else of the question, from 1 to 5."""
    return {"reason": "Counted.", "level": min(5, max(1, len(words(data.get("answer", data.get("question", ""))))))}


def grade_of_two(data: dict[str, Any]) -> object:
    """On a scale from -1 to 1: whether the references, or else the contexts, have the answer's words."""
    texts = data.get("references") or data.get("contexts") or {}
    return {"level": max([len(words(data["answer"]) & words(text)) > 1 for text in texts.values()], default=0) * 2 - 1}


def longer(data: dict[str, Any]) -> object:
    """The answer of more words wins; of two that have equally many, the first if one of them says "near"."""
    return {"verdicts": {name: _longer(**pair) for name, pair in data["pairs"].items()}}


def _longer(first: str, second: str) -> str:
    lengths = len(words(first)), len(words(second))
    if lengths[0] == lengths[1]:
        return "first" if "near" in first + second else "tie"
    return "first" if lengths[0] > lengths[1] else "second"


def entailed(data: dict[str, Any]) -> object:
    """A statement is supported by sources that together have all of its words."""
    return {
        "verdicts": {
            name: int(words(item["statement"]) <= words(" ".join(item["sources"])))
            for name, item in data["statements"].items()
        }
    }


@dataclass(frozen=True)
class RefusalCase(JudgedCase):
    """Beside one row elsewhere, [] is a label that nobody knows."""

    def empty(self, socket: str) -> list[Any]:
        return [None] if socket == "answerable" else JudgedCase.empty(self, socket)


REFUSALS = rows(
    questions=["Who?", "Where?", "When?", "Why?", "What?"],
    predicted_answers=["Ada.", "I do not know.", "In 1900.", "Sorry, I do not know that.", " "],
    answerable=[True, True, False, False, True],
)
#: Answer cites none, some, all; a blank document keeps its number; ids; no sentence.
CITED = rows(
    questions=["Who?", "Where?", "When?", "Why?", "What?", "How?", "Which?"],
    contexts=[
        ["a b", "c d", "e f"],
        ["a b", "c d", "b c"],
        [Document(id="doc-7", content="a b"), Document(id="x", content=None), Document(id="doc-8", content="c")],
        ["a", "b", "c d"],
        ["a"],
        [],
        ["a"],
    ],
    predicted_answers=[
        "A b [1]. C d [1]. E f.",
        ChatMessage.from_assistant("A b c [1][2][3]. D [2, 3]."),
        "A b [doc-7]. C [3]. C [doc-9]. B [2].",
        "A b c d [1-3].",
        "A. A.",
        "A [1].",
        "[1]",
    ],
)
CITED_RECALL = [
    # The first sentence of three.
    1 / 3,
    # Both: contexts 1 to 3 have a, b, c; 2 and 3 have d.
    1.0,
    # The first two of four: doc-9 does not exist, and context 2 has no text.
    2 / 4,
    # 1 to 3 together have all.
    1.0,
    # Nothing is cited; there is no context 1; there is no sentence.
    0.0,
    0.0,
    0.0,
]
CITED_PRECISION = [
    # Of two citations the first.
    1 / 2,
    # None of the three has a, b, c alone. Without 1 there is no a, so that 1 counts; 1 and 3 have them, so that 2 does
    # not; 1 and 2 have them, so that 3 does not. D is in 2 alone: 2 counts, and 3 does not. So 2 of 5.
    2 / 5,
    # doc-7 and 3 of four.
    2 / 4,
    # None alone suffices, none can be left out: 3 of 3.
    1.0,
    # Undefined; names no context; undefined.
    0.0,
    0.0,
    0.0,
]

CASES = [
    RefusalCase(
        "refusal",
        RefusalEvaluator,
        sample("questions", "predicted_answers", "answerable"),
        {"chat_generator": ScriptedJudge("cases_judged_others:declines")},
        # The blank answer is undefined.
        golden=(Golden("who does not know declines", REFUSALS, [0.0, 1.0, 0.0, 1.0, 0.0]),),
    ),
    JudgedCase(
        "refusal-without-labels",
        RefusalEvaluator,
        sample("questions", "predicted_answers"),
        {"chat_generator": AsyncScriptedJudge("cases_judged_others:declines")},
    ),
    RefusalCase(
        "refusal-all-parameters",
        RefusalEvaluator,
        sample("questions", "predicted_answers", "answerable"),
        {
            **COMMON,
            "examples": [
                {"inputs": {"questions": "Who?", "predicted_answers": "No idea."}, "outputs": {"declines": 1}}
            ],
            "chat_generator": AsyncScriptedJudge("cases_judged_others:declines"),
            "score_by": "decision",
        },
        # Answered though answerable, declined though answerable, answered though not, declined since not; blank.
        golden=(Golden("right decisions", REFUSALS, [1.0, 0.0, 0.0, 1.0, float("nan")]),),
    ),
    JudgedCase(
        "rubric",
        RubricEvaluator,
        sample("questions", "predicted_answers"),
        {"criteria": "Is it long?", "chat_generator": ScriptedJudge("cases_judged_others:grade")},
        golden=(
            Golden(
                "words of the answer",
                rows(questions=["q"] * 4, predicted_answers=["a", "a b c", "a b c d e f", ""]),
                # (1 - 1) / 4, (3 - 1) / 4, (5 - 1) / 4; undefined.
                [0.0, 0.5, 1.0, 0.0],
            ),
        ),
    ),
    JudgedCase(
        "rubric-of-questions",
        RubricEvaluator,
        sample("questions", "contexts"),
        {
            "rubric": {"1": "One word.", "2": "Two.", "3": "Three.", "4": "Four.", "5": "More."},
            "inputs": ["questions", "contexts"],
            "chat_generator": AsyncScriptedJudge("cases_judged_others:grade"),
        },
    ),
    JudgedCase(
        "rubric-all-parameters",
        RubricEvaluator,
        sample("predicted_answers", "questions", "contexts", "ground_truth_answers"),
        {
            **COMMON,
            "examples": [
                {
                    "inputs": {
                        "predicted_answers": "In Oslo.",
                        "questions": "Where?",
                        "contexts": ["In Oslo."],
                        "ground_truth_answers": ["Oslo."],
                    },
                    "outputs": {"reason": "It is there.", "level": 1},
                }
            ],
            "chat_generator": AsyncScriptedJudge("cases_judged_others:grade_of_two"),
            "criteria": "Is it in the references?",
            "rubric": {"-1": "No.", "0": "Partly.", "1": "Yes."},
            "scale": [-1, 1],
            "inputs": ["predicted_answers", "questions", "contexts", "ground_truth_answers"],
            "reasons": True,
        },
    ),
    JudgedCase(
        "pairwise",
        PairwiseEvaluator,
        sample("questions", "predicted_answers", "other_answers"),
        {"chat_generator": ScriptedJudge("cases_judged_others:longer")},
        golden=(
            Golden(
                "the longer one",
                rows(
                    questions=["q"] * 6,
                    predicted_answers=["a b", "a", "a b", "near a", "same ", ""],
                    other_answers=["c", "c d", "c d", "b c", " same", "a"],
                ),
                # Wins, loses, ties; the first one in both orders, which is a tie; equal; nothing against something.
                [1.0, 0.0, 0.5, 0.5, 0.5, 0.0],
            ),
        ),
    ),
    JudgedCase(
        "pairwise-all-parameters",
        PairwiseEvaluator,
        sample("questions", "predicted_answers", "other_answers", "contexts", "ground_truth_answers"),
        {
            **COMMON,
            "examples": [
                {
                    "inputs": {
                        "questions": "Where?",
                        "predicted_answers": "In Oslo.",
                        "other_answers": "No idea.",
                        "contexts": ["In Oslo."],
                        "ground_truth_answers": "Oslo.",
                    },
                    "outputs": {"winner": "predicted"},
                }
            ],
            "chat_generator": AsyncScriptedJudge("cases_judged_others:longer"),
            "evidence": ["contexts", "ground_truth_answers"],
        },
    ),
    JudgedCase(
        "citation",
        CitationEvaluator,
        CITED,
        {"chat_generator": ScriptedJudge("cases_judged_others:entailed")},
        golden=(
            Golden(
                "F1",
                CITED,
                # 2 P R / (P + R) of the lists above.
                [2 * (1 / 6) / (5 / 6), 2 * 0.4 / 1.4, 0.5, 1.0, 0.0, 0.0, 0.0],
            ),
        ),
    ),
    JudgedCase(
        "citation-recall",
        CitationEvaluator,
        CITED,
        {"chat_generator": AsyncScriptedJudge("cases_judged_others:entailed"), "score_by": "recall"},
        golden=(Golden("recall", CITED, CITED_RECALL),),
    ),
    JudgedCase(
        "citation-all-parameters",
        CitationEvaluator,
        CITED,
        {
            **COMMON,
            "examples": [
                {
                    "inputs": {
                        "questions": "Where?",
                        "predicted_answers": "In Oslo [1]. By ship [2].",
                        "statements": [
                            {"statement": "In Oslo.", "sources": ["It is in Oslo."]},
                            {"statement": "By ship.", "sources": ["By train."]},
                        ],
                    },
                    "outputs": {"statement_scores": [1, 0]},
                }
            ],
            "chat_generator": AsyncScriptedJudge("cases_judged_others:entailed"),
            "score_by": "precision",
        },
        golden=(Golden("precision", CITED, [*CITED_PRECISION[:4], float("nan"), CITED_PRECISION[5], float("nan")]),),
    ),
]
