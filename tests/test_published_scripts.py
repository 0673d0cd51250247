# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Each published script over the same 300 inputs: tests/published_scripts.json holds what it said of them.

The scripts: evaluation/triviaqa_evaluation.py of mandarjoshi90/triviaqa (ca43b58), hotpot_evaluate_v1.py of
hotpotqa/hotpot (3635853), get_metrics in allennlp_rc/eval/drop_eval.py of allenai/allennlp-reading-comprehension
(14fc0a4), has_answer with "string" in dpr/data/qa_validation.py of facebookresearch/DPR (a31212d). Each pair of answer
and reference was given to exact match and F1 of the script; the best reference counts. The inputs are ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from haystack_eval_ext import AnswerContainsEvaluator, AnswerExactMatchEvaluator, AnswerTokenF1Evaluator
from haystack_eval_ext._normalization import Normalization

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "published_scripts.json").read_text("utf-8"))
REFERENCES = [row["references"] for row in ROWS]
ANSWERS = [row["answer"] for row in ROWS]
TESTED = ("triviaqa", "hotpotqa", "drop")


def test_the_inputs_tell_the_scripts_apart() -> None:
    assert len(ROWS) == 300
    for name in TESTED:
        for other in TESTED:
            assert name == other or any(row[name] != row[other] for row in ROWS)


@pytest.mark.parametrize("name", TESTED)
def test_exact_match_is_that_of_the_script(name: str) -> None:
    evaluator = AnswerExactMatchEvaluator(normalization=cast("Normalization", name))
    scores = evaluator.run(REFERENCES, ANSWERS)["individual_scores"]
    assert scores == [row[name][0] for row in ROWS]


@pytest.mark.parametrize("name", TESTED)
def test_f1_is_that_of_the_script(name: str) -> None:
    evaluator = AnswerTokenF1Evaluator(normalization=cast("Normalization", name))
    scores = evaluator.run(REFERENCES, ANSWERS)["individual_scores"]
    assert scores == pytest.approx([row[name][1] for row in ROWS], abs=1e-15)


def test_containment_is_that_of_dpr() -> None:
    scores = AnswerContainsEvaluator(normalization="dpr").run(REFERENCES, ANSWERS)["individual_scores"]
    assert scores == [row["dpr"] for row in ROWS]
