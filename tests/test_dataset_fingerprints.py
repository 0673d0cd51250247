# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The cluster column, and the fingerprints of questions and labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs.dataset import Dataset, read_dataset

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "question": "Who?\ud800",
        "reference_answer": ["Ada", "Lovelace"],
        "relevant_documents": [Document(id="d1"), Document(id="d2", score=2.0)],
    },
    {"id": "b", "question": "Why?", "reference_answer": "so", "relevant_documents": [], "answerable": False},
]


def prints(rows: list[dict[str, Any]]) -> tuple[str, str]:
    data = Dataset("x", rows)
    return data.question_fingerprint, data.label_fingerprint


@pytest.mark.parametrize(
    "same",
    [
        [ROWS[1], ROWS[0]],
        [ROWS[0] | {"relevant_documents": ROWS[0]["relevant_documents"][::-1]}, ROWS[1]],
        [ROWS[0] | {"reference_answer": ["Lovelace", "Ada"]}, ROWS[1] | {"reference_answer": ["so"]}],
        [ROWS[0] | {"relevant_documents": [Document(id="d1", score=1.0), Document(id="d2", score=2.0)]}, ROWS[1]],
        [ROWS[0] | {"tags": ["x"], "answerable": True, "trace": 7}, ROWS[1]],
    ],
    ids=["rows", "labels", "references", "grade 1", "other columns"],
)
def test_what_makes_no_difference(same: list[dict[str, Any]]) -> None:
    assert prints(same) == prints(ROWS)


@pytest.mark.parametrize(
    ("change", "questions", "labels"),
    [
        ({"question": "Whom?"}, True, False),
        ({"id": "c"}, True, True),
        ({"reference_answer": ["Ada"]}, False, True),
        ({"relevant_documents": [Document(id="d1")]}, False, True),
        ({"relevant_documents": [Document(id="d1", score=3.0), Document(id="d2", score=2.0)]}, False, True),
        ({"answerable": False}, False, True),
    ],
)
def test_what_makes_a_difference(change: dict[str, Any], questions: bool, labels: bool) -> None:
    before, after = prints(ROWS), prints([ROWS[0] | change, ROWS[1]])
    assert (before[0] != after[0], before[1] != after[1]) == (questions, labels)


def test_texts_cannot_move_between_id_and_question() -> None:
    one = Dataset("x", [{"id": "a", "question": 'b"]\n["c'}]).question_fingerprint
    two = Dataset("x", [{"id": 'a"', "question": "b\n c"}]).question_fingerprint
    assert one != two
    assert len(one) == 64


@pytest.mark.parametrize("name", ["cluster", "document_group"])
def test_clusters_are_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"question": f"q{n}", name: group}) + "\n" for n, group in enumerate(["a", 7])))
    assert read_dataset(file).column("cluster") == ["a", "7"]
    file.write_text(json.dumps({"question": "q", name: ["a"]}))
    with pytest.raises(
        DatasetError, match=r"column '(cluster|document_group)': a list, expected a text or a whole number"
    ):
        read_dataset(file)
