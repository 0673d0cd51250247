# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the judged evaluators that look at answers by verdicts and embeddings."""

from __future__ import annotations

import math
from typing import Any

from cases import Golden
from cases_judged import JudgedCase, rows, sample
from cases_judged_context import ALL
from haystack_eval_ext import AnswerCorrectnessEvaluator, AnswerRelevancyEvaluator
from letter_embedders import AsyncDocumentEmbedder, LetterDocumentEmbedder, LetterTextEmbedder
from scripted_judge import AsyncScriptedJudge, ScriptedJudge, words

ANSWERS = sample("questions", "predicted_answers")
COMPARED = sample("questions", "predicted_answers", "ground_truth_answers")


def ask_back(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of the answer between bars are the questions, in turn; "?" before one makes it noncommittal."""
    parts = data["answer"].split("|")
    given = {name: parts[place % len(parts)] for place, name in enumerate(data["ids"])}
    return {
        name: {"question": part.removeprefix("?"), "noncommittal": int(part.startswith("?"))}
        for name, part in given.items()
    }


def compare(data: dict[str, Any]) -> dict[str, Any]:
    """A sentence gets 1 if the other text has all of its words."""
    other = {"a": data["reference"], "r": data["answer"]}
    return {"verdicts": {name: int(words(text) <= words(other[name[0]])) for name, text in data["statements"].items()}}


RELEVANCY = Golden(
    "letters of the question and of three others",
    rows(
        questions=["ab", "ab", "ab", "ab", "ab", "ab", " "],
        predicted_answers=["ab", "ab|a|cc", "?ab|?ab|ab", "?ab|ab|ab", "?|ab|a", "", "ab"],
    ),
    # 1; (1 + cos(ab, a) + cos(ab, cc)) / 3; two of three noncommittal; one of three; an empty one: (0 + 1 + cos) / 3;
    # undefined twice
    [1.0, (1 + 1 / math.sqrt(2)) / 3, 0.0, 1.0, (1 + 1 / math.sqrt(2)) / 3, 0.0, 0.0],
)
RELEVANCY_TWO = Golden(
    "one of two is no majority",
    rows(questions=["ab", "ab"], predicted_answers=["?ab|ab", "?ab"]),
    [1.0, 0.0],
)
CORRECTNESS = Golden(
    "facts and letters",
    rows(
        questions=["q"] * 7,
        predicted_answers=["Ma ne.", "Ma. Ne.", "Ma. Ne.", "", "...", "Ma.", "Zu."],
        ground_truth_answers=["Ma ne.", "Ma. Lo.", ["Lo.", "Ne. Ma."], "Ma.", "Ma.", [], "Yx."],
    ),
    # equal; F of 1/2 and 1/2, cosine (1 + 1 + 2 * 2) / 8; the second reference: F 1, equal letters; no answer twice: 0;
    # no reference; F 0, the point in common: cosine 1/3
    [1.0, 0.75 / 2 + 0.25 * 6 / 8, 1.0, 0.0, 0.0, math.nan, 0.25 / 3],
)
FACTS = Golden(
    "facts alone",
    rows(
        questions=["q"] * 2,
        predicted_answers=["Ma. Ne. Lo. Ku.", "Ma."],
        ground_truth_answers=["Ma ne lo ku. Ri. Se. To.", "Ma. Ne. Lo."],
    ),
    # P 4/4, R 1/4: 2 * 1 * 1/4 / (5/4); P 1/1, R 1/3: 2 * 1/3 / (4/3)
    [0.4, 0.5],
)
RECALL_WEIGHS = Golden(
    "beta 2, and the similarity three times as heavy",
    rows(questions=["q"], predicted_answers=["Ma."], ground_truth_answers=["Ma. Ne. Lo."]),
    # P 1, R 1/3: 5 * 1/3 / (4 + 1/3) = 5/13; cosine (1 + 1 + 3) / sqrt(3 * 15); weights 1 to 3
    [(5 / 13 + 3 * 5 / math.sqrt(45)) / 4],
)
RELEVANCY_EXAMPLE = {
    "inputs": {"predicted_answers": "In Oslo."},
    "outputs": {"generated_questions": ["Where is it?", "In which town is it?"], "noncommittal": [0, 0]},
}
CORRECTNESS_EXAMPLE = {
    "inputs": {"questions": "Where?", "predicted_answers": "In Oslo.", "ground_truth_answers": "Oslo. Since May."},
    "outputs": {
        "answer_statements": ["In Oslo."],
        "answer_statement_scores": [1],
        "reference_statements": ["Oslo.", "Since May."],
        "reference_statement_scores": [1, 0],
    },
}

CASES = [
    JudgedCase(
        "answer-relevancy",
        AnswerRelevancyEvaluator,
        inputs=ANSWERS,
        parameters={
            "chat_generator": ScriptedJudge("cases_judged_answer:ask_back"),
            "embedder": LetterTextEmbedder(),
        },
        golden=(RELEVANCY,),
    ),
    JudgedCase(
        "answer-relevancy-all-parameters",
        AnswerRelevancyEvaluator,
        inputs=ANSWERS,
        parameters={
            **ALL,
            "examples": [RELEVANCY_EXAMPLE],
            "chat_generator": AsyncScriptedJudge("cases_judged_answer:ask_back"),
            "embedder": LetterDocumentEmbedder(),
            "n_questions": 2,
            "instructions": "Write questions that the answer replies to.",
        },
        golden=(RELEVANCY_TWO,),
    ),
    JudgedCase(
        "answer-correctness",
        AnswerCorrectnessEvaluator,
        inputs=COMPARED,
        parameters={
            "chat_generator": ScriptedJudge("cases_judged_answer:compare"),
            "embedder": LetterTextEmbedder(),
        },
        golden=(CORRECTNESS,),
    ),
    JudgedCase(
        "answer-correctness-facts-alone",
        AnswerCorrectnessEvaluator,
        inputs=COMPARED,
        parameters={"chat_generator": ScriptedJudge("cases_judged_answer:compare"), "weights": [1.0, 0.0]},
        golden=(FACTS,),
    ),
    JudgedCase(
        "answer-correctness-all-parameters",
        AnswerCorrectnessEvaluator,
        inputs=COMPARED,
        parameters={
            **ALL,
            "examples": [CORRECTNESS_EXAMPLE],
            "chat_generator": AsyncScriptedJudge("cases_judged_answer:compare"),
            "embedder": AsyncDocumentEmbedder(),
            "weights": [1.0, 3.0],
            "beta": 2.0,
            "instructions": "Compare the sentences of both texts.",
        },
        golden=(RECALL_WEIGHS,),
    ),
]
