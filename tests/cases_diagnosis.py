# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the diagnosis, and the two articles whose questions it must read as they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

from cases import Case, Golden
from haystack_eval_ext import RAGFailureClassifier

#: An article on telling retrieval and answer apart: recall@2 and exact match of its three cases.
RECALL_AND_MATCH: dict[str, list[Any]] = {"retrieval_scores": [0.0, 1.0, 1.0], "answer_scores": [1.0, 0.0, 1.0]}
#: An article on ragas: five questions S1 to S5 with what it reports of them, and whether it calls the answer right.
FIVE_ROWS: dict[str, list[Any]] = {
    "retrieval_scores": [1.0, 1.0, 0.0, 1.0, 1.0],  # context recall
    "ranking_scores": [0.9999999999, 0.9999999999, 0.0, 0.333, 0.9999999999],  # context precision
    "faithfulness_scores": [1.0, 0.667, 0.0, 1.0, 0.0],
    "refusal_scores": [0.0, 0.0, 0.0, 0.0, 1.0],  # noncommittal
    "answer_scores": [1.0, 1.0, 1.0, 1.0, 0.0],
}

# Labels of all stages, and every reason for having none; the first row is full of numbers other than 0.
SAMPLE: dict[str, list[Any]] = {
    "retrieval_scores": [1.0, 0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, nan],
    "retrieval_statuses": [*["scored"] * 8, "undefined", "scored", "undefined"],
    "retrieval_at_cut_scores": [1.0, 0.5, 0.0, 1.0, 0.5, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
    "retrieval_at_cut_statuses": ["scored"] * 11,
    "ranking_scores": [1.0, 0.5, 0.0, 0.3, 0.5, 0.5, 0.5, 1.0, 0.0, 1.0, 1.0],
    "ranking_statuses": [*["scored"] * 8, "undefined", "scored", "scored"],
    "answer_scores": [0.9, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.2, 1.0, 1.0, 1.0],
    "answer_statuses": ["scored"] * 11,
    "faithfulness_scores": [1.0, 1.0, 0.0, 1.0, 1.0, nan, 0.7, 1.0, 1.0, nan, nan],
    "faithfulness_statuses": [*["scored"] * 5, "undefined", "scored", "scored", "not_run", "error", "not_run"],
    "refusal_scores": [0.1, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "refusal_statuses": ["scored"] * 11,
}
SAMPLE_LABELS = [
    "passed",
    "retrieval_failure_incomplete",  # half of it, and right
    "both_failed",
    "passed",  # ranked at 0.3, but it reached the generator
    "ranking_failure",  # within the cut 0.5 < 1
    "generation_failure_evasive",
    "generation_failure_unfaithful",
    "generation_failure_wrong",
    "unknown",
    "unknown",
    "unknown",
]


@dataclass(frozen=True)
class DiagnosisCase(Case):
    """A case whose sockets take numbers and statuses."""

    inputs: Mapping[str, list[Any]] = field(default_factory=lambda: SAMPLE)
    bare_empty: bool = False  # no component emits it for one question

    def single(self, number: int) -> dict[str, Any]:
        """What a metric gives of a single question is a list of one."""
        return {socket: [values[number]] for socket, values in self.inputs.items()}


DIAGNOSIS_CASES = [
    DiagnosisCase(
        "diagnosis",
        RAGFailureClassifier,
        golden=(
            Golden("retrieval, generation, passed", RECALL_AND_MATCH, [0.0, 0.0, 1.0]),
            Golden("passed, generation, retrieval, ranking, generation", FIVE_ROWS, [1.0, 0.0, 0.0, 0.0, 0.0]),
            Golden("labels and gaps", SAMPLE, [1.0, 0.0, 0.0, 1.0, *[0.0] * 4, *[nan] * 3]),
        ),
    ),
    DiagnosisCase(
        "diagnosis-lenient",
        RAGFailureClassifier,
        parameters={
            "retrieval_threshold": 0.5,
            "ranking_threshold": 0.3,
            "answer_threshold": 0.2,
            "faithfulness_threshold": 0.7,
            "refusal_threshold": 1,
        },
        # What is not 0 reaches its threshold: left are the third row, without evidence, and the evasive one.
        golden=(Golden("lower thresholds", SAMPLE, [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, nan, nan, nan]),),
    ),
]
