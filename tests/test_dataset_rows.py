# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows that are made in Python: read as those of a file are, and refused with all their faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs.dataset import Dataset, open_dataset, read_dataset

ROWS: list[dict[str, Any]] = [
    {"qid": 7, "query": "Who?", "relevant_documents": {"d1": 2}, "reference": "Ada", "tags": ["x"], "trace": 1},
    {"qid": "8", "query": "Why?", "answerable": False, "cluster": 0, "trace": None},
]


def test_rows_are_read_as_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, [{**row, "cluster": 3} for row in ROWS])), encoding="utf-8")
    rows = [{**row, "cluster": 3} for row in ROWS]
    assert open_dataset(rows).rows == read_dataset(file).rows == open_dataset(file).rows
    assert open_dataset(rows).ids == ["7", "8"]
    assert open_dataset(rows).column("cluster") == ["3", "3"]
    assert "relevant_documents" not in rows[1]


def test_reading_twice_changes_nothing() -> None:
    rows = [{**row, "cluster": "a"} for row in ROWS]
    once = open_dataset(rows)
    assert open_dataset(once) == once


def test_documents_may_be_objects() -> None:
    kept = Document(id="d1", content="Text.", score=2.0)
    (row,) = open_dataset(
        [{"id": "a", "question": "Q", "documents": [kept, "d2"], "relevant_documents": [kept], "contexts": [kept]}]
    ).rows
    assert (row["documents"][0], row["documents"][1].id, row["relevant_documents"]) == (kept, "d2", [kept])
    assert row["contexts"] == ["Text."]


def test_ids_are_made_from_questions() -> None:
    ids = open_dataset([{"question": "Q"}, {"question": "Q"}]).ids
    assert ids[1] == f"{ids[0]}#2"


BAD: dict[str, tuple[Any, str]] = {
    "an id twice": ([{"id": "q"}, {"id": "z"}, {"id": "q"}], r"rows\[2\]: column 'id': 'q' again, first in row 0"),
    "the same id as text and number": ([{"id": 1}, {"id": "1"}], r"rows\[1\]: column 'id': '1' again"),
    "neither id nor question": ([{"answer": "private"}], r"neither an id nor a question column"),
    "a cluster that is a list": ([{"id": "q", "cluster": ["private"]}], r"column 'cluster': a list, expected a text"),
    "tags that are a text": ([{"id": "q", "tags": "private"}], r"column 'tags': a text, expected a list of texts"),
    "an odd document": ([{"id": "q", "documents": [object()]}], r"entry 1: an object"),
    "a column in some rows": ([{"id": "q", "answer": "private"}, {"id": "r"}], r"missing in 1 of 2 rows \(row 1\)"),
    "two columns of one meaning": ([{"id": "q", "qid": "private"}], r"rows\[0\]: columns 'id' and 'qid' both mean"),
    "a row that is no dict": (["private"], r"rows\[0\]: a text, expected a dict of columns"),
    "no rows": ([], "there are no rows"),
    "a Dataset with whole faults": (Dataset("mine", [{"id": True}]), r"mine\[0\]: column 'id': true or false"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_without_their_texts(name: str) -> None:
    rows, message = BAD[name]
    with pytest.raises(DatasetError, match=message) as caught:
        open_dataset(rows)
    assert "private" not in str(caught.value)


@pytest.mark.parametrize("data", [None, 7, {"id": "q"}, iter([{"id": "q"}])])
def test_what_is_no_data_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="data must be a file, a list of rows, a DataFrame, or a Dataset"):
        open_dataset(data)
