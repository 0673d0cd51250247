# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the judged evaluators that Haystack has, too."""

from __future__ import annotations

from cases import Golden
from cases_judged import POLICY, JudgedCase, rows
from haystack_eval_ext import FaithfulnessEvaluator
from scripted_judge import AsyncScriptedJudge, ScriptedJudge

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
        parameters={"chat_generator": ScriptedJudge("cases_judged_stock:extract"), "statements": "extracted"},
    ),
]


def extract(data: dict[str, object]) -> object:
    """Break an answer at its points, or judge statements."""
    from scripted_judge import verdicts

    return verdicts(data) if "statements" in data else {"statements": str(data["answer"]).split(". ")}
