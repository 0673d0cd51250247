# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The shipped diagnosis by a judge: it says whether an answer is right and whether it declines."""

from __future__ import annotations

import json
import math
from typing import Any

from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.judging import JudgeSettings
from scripted_judge import ScriptedJudge, words

# Question, needs, labels, retrieved, reference, answer; what is said of it. The judge of the test knows which words
# mean the same; the rule by words alone does not.
SAME = {"two": "2", "weeks": "fortnight", "a": ""}
CASES: list[tuple[str, list[str], str, str, str]] = [
    ("Who?", ["d"], "the director", "The director does it.", "passed"),
    ("How long?", ["d"], "two weeks", "2 fortnight", "passed"),  # other words
    ("When?", ["d"], "on the 5th of March", "On the 9th of March.", "generation_failure_wrong"),
    ("Where?", ["d"], "in Paris", "That is beyond me.", "generation_failure_evasive"),
    ("Luck?", ["x"], "in Paris", "It is in Paris.", "retrieval_failure_lucky"),
    ("Neither?", ["x"], "in Paris", "In Rome.", "both_failed"),
]


def plain(text: str) -> set[str]:
    return {SAME.get(word, word) for word in words(text)} - {""}


def verdict(data: dict[str, Any]) -> dict[str, Any]:
    """Right if all words of a reference are in the answer; what is beyond somebody declines."""
    if "answers" in data:
        return {"verdicts": {name: int("beyond" in words(text)) for name, text in data["answers"].items()}}
    (references,) = (value for name, value in data.items() if "reference" in name)
    given = references.values() if isinstance(references, dict) else [references]
    (answer,) = (value for name, value in data.items() if name in ("answer", "predicted_answer"))
    return {"level": int(any(plain(reference) <= plain(answer) for reference in given))}


def rows() -> list[dict[str, Any]]:
    return [
        {"id": question, "question": question, "relevant_documents": ["d"], "documents": found}
        | {"reference_answer": reference, "answer": answer}
        for question, found, reference, answer, _ in CASES
    ]


def test_a_judge_says_what_is_right_and_what_declines() -> None:
    judge = ScriptedJudge("test_diagnosis_judged:verdict")
    settings = JudgeSettings(generator=judge, progress_bar=False)
    run = api.evaluate("rag_diagnosis_judged", rows(), judge=settings)
    assert list(run.manifest["diagnoses"]["diagnosis"]["labels"].values()) == [label for *_, label in CASES]
    assert run.metrics["answer"].scores == [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    assert run.metrics["refusal"].scores == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    # Two calls a question, and the judge of the answer sees the reference.
    assert len(judge.asked) == 2 * len(CASES)
    assert sum("the director" in (messages[-1].text or "") for messages in judge.asked) == 1
    # Verdicts are 0 or 1: no threshold cuts through them.
    assert not [told for told in run.manifest["warnings"] if "threshold" in told]


def test_a_row_without_a_reference_is_unknown_and_one_that_nothing_answers_is_not() -> None:
    judge = ScriptedJudge("test_diagnosis_judged:verdict")
    settings = JudgeSettings(generator=judge, progress_bar=False)
    data = rows()
    data[0]["reference_answer"] = []
    data[3] |= {"answerable": False, "reference_answer": [], "relevant_documents": []}
    run = api.evaluate("rag_diagnosis_judged", data, judge=settings)
    labels = list(run.manifest["diagnoses"]["diagnosis"]["labels"].values())
    assert labels[0] == "unknown"
    assert labels[3] == "correct_refusal"
    assert [math.isnan(score) for score in run.metrics["answer"].scores] == [True, False, False, True, False, False]
    assert json.dumps(run.manifest["diagnoses"]["diagnosis"]["reasons"]["Who?"]).count("answer is missing") == 1
