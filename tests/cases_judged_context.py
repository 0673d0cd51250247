# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the judged evaluators that look at contexts and references."""

from __future__ import annotations

from math import nan
from typing import Any

from cases import Golden
from cases_judged import POLICY, JudgedCase, rows, sample
from haystack_eval_ext import ContextPrecisionEvaluator, ContextRecallEvaluator
from scripted_judge import AsyncScriptedJudge, ScriptedJudge, words

REFERENCE = sample("questions", "contexts", "ground_truth_answers")
SAMPLE_ANSWER = sample("questions", "contexts", "predicted_answers")


def useful(data: dict[str, Any]) -> dict[str, Any]:
    """A context that shares a word with one of the answers gets 1."""
    found = {
        name: int(any(words(answer) & words(context) for answer in data["answers"]))
        for name, context in data["contexts"].items()
    }
    return {"verdicts": found}


RANKS = [["x", "a"], ["a", "x", "b"], ["b", "a"], ["x", "y"], ["x", "y", "b"], [], ["", " ", "a"]]
# 1/2; (1/1 + 2/3) / 2; (1/1 + 2/2) / 2; none; 1/3; nothing retrieved; blank ones left out: 1/1
PRECISIONS = [1 / 2, 5 / 6, 1.0, 0.0, 1 / 3, 0.0, 1.0]
PRECISION = Golden(
    "ranks of the useful contexts",
    rows(questions=["q"] * 7, contexts=RANKS, ground_truth_answers=["a b"] * 7),
    PRECISIONS,
)
PRECISION_REFERENCES = Golden(
    "of use for one of the references; blank ones are none",
    rows(
        questions=["q"] * 4,
        contexts=[["x", "b"], ["a", "b"], ["a"], ["a"]],
        ground_truth_answers=[["a", "b"], ["a", "", "b"], [], [" "]],
    ),
    # 1/2, since b helps to arrive at the second; both; no reference twice
    [1 / 2, 1.0, nan, nan],
)
PRECISION_ANSWERS = Golden(
    "ranks of the contexts that were of use for the answer",
    rows(questions=["q"] * 8, contexts=[*RANKS, ["a"]], predicted_answers=[*["a b"] * 7, " "]),
    [*PRECISIONS, 0.0],  # the last: no answer
)
RECALL = Golden(
    "sentences of the reference with all their words in one context",
    rows(
        questions=["q"] * 8,
        contexts=[["a b", "cc"], ["a b", "cc"], ["aa bb", "cc"], [], [""], ["a"], ["a"], ["a"]],
        ground_truth_answers=["A b. Cc. Dd.", "A cc.", ["Dd.", "Aa. Dd.", "Bb. Cc."], "A.", "A.", [], " ", ["", "A."]],
    ),
    # 2 of 3; 0 of 1; the best of 0/1, 1/2 and 2/2; nothing retrieved; nothing but blank; no reference twice; 1 of 1
    [2 / 3, 0.0, 1.0, 0.0, 0.0, nan, nan, 1.0],
)
PRECISION_EXAMPLE = {
    "inputs": {"questions": "Where?", "contexts": ["By ship.", "Oslo."], "predicted_answers": "In Oslo."},
    "outputs": {"useful_contexts": [0, 1]},
}
RECALL_EXAMPLE = {
    "inputs": {"questions": "Where?", "contexts": ["In Oslo."], "ground_truth_answers": "In Oslo. By ship."},
    "outputs": {"statements": ["In Oslo.", "By ship."], "statement_scores": [1, 0]},
}
ALL = {
    "progress_bar": False,
    "raise_on_failure": False,
    "language": "ja",
    "policy": POLICY,
    "on_undefined": "nan",
}

CASES = [
    JudgedCase(
        "context-precision",
        ContextPrecisionEvaluator,
        inputs=REFERENCE,
        parameters={"chat_generator": ScriptedJudge("cases_judged_context:useful")},
        golden=(PRECISION, PRECISION_REFERENCES),
    ),
    JudgedCase(
        "context-precision-against-the-answer",
        ContextPrecisionEvaluator,
        inputs=SAMPLE_ANSWER,
        parameters={"chat_generator": AsyncScriptedJudge("cases_judged_context:useful"), "against": "answer"},
        golden=(PRECISION_ANSWERS,),
    ),
    JudgedCase(
        "context-precision-all-parameters",
        ContextPrecisionEvaluator,
        inputs=SAMPLE_ANSWER,
        parameters={
            **ALL,
            "examples": [PRECISION_EXAMPLE],
            "chat_generator": ScriptedJudge("cases_judged_context:useful"),
            "against": "answer",
            "instructions": "Say which contexts were of use.",
        },
    ),
    JudgedCase(
        "context-recall",
        ContextRecallEvaluator,
        inputs=REFERENCE,
        parameters={"chat_generator": ScriptedJudge("scripted_judge:verdicts")},
        golden=(RECALL,),
    ),
    JudgedCase(
        "context-recall-all-parameters",
        ContextRecallEvaluator,
        inputs=REFERENCE,
        parameters={
            **ALL,
            "examples": [RECALL_EXAMPLE],
            "chat_generator": AsyncScriptedJudge("scripted_judge:verdicts"),
            "instructions": "Say which sentences the contexts hold.",
        },
    ),
]
