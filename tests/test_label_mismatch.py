# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels that cannot match are told by every retrieval evaluator; a bad retriever's true 0 stays a score."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from haystack import Document

from cases_retrieval import RETRIEVAL_CASES
from haystack_eval_ext.retrieval._mismatch import find_mismatch
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.evaluation import single_evaluator

EACH = {case.component.__name__: case.component for case in RETRIEVAL_CASES}


def evaluator(name: str, field: str) -> Any:
    measures = {"measures": ["R@5", "RR"]} if name == "DocumentRankingEvaluator" else {}
    return EACH[name](document_comparison_field=field, **measures)


def chunks(count: int) -> list[list[Document]]:
    return [
        [
            Document(id=f"chunk {row} {n}", content="text", meta={"file_path": f"{row}.txt", "lang": "en"})
            for n in (0, 1)
        ]
        for row in range(count)
    ]


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("count", [1, 4])
def test_labels_that_name_files_where_chunks_are_compared(
    name: str, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    labels = [[Document(id=f"{row}.txt")] for row in range(count)]
    with caplog.at_level(logging.WARNING):
        found = evaluator(name, "id").run(labels, chunks(count))
    assert found["score"] == 0
    (told,) = found["warnings"]
    assert told in caplog.text
    assert f"None of {count} label key" in told
    assert "Labels: '0.txt'" in told
    assert "Documents: 'chunk 0 0', 'chunk 0 1'" in told
    assert f"meta.file_path of the documents matches {count} of {count} labels by their id" in told
    assert "--key-field meta.file_path" in told


@pytest.mark.parametrize("name", EACH)
def test_labels_whose_ids_are_of_another_index(name: str) -> None:
    labels = [[Document(id=f"old {row}", meta={"file_path": f"{row}.txt", "lang": "en"})] for row in range(4)]
    (told,) = evaluator(name, "id").run(labels, chunks(4))["warnings"]
    assert "meta.file_path matches 4 of 4: set document_comparison_field to it" in told
    # With the field that matches nothing is to be told.
    found = evaluator(name, "meta.file_path").run(labels, chunks(4))
    assert (found["score"] > 0, found["warnings"]) == (True, [])


@pytest.mark.parametrize("name", EACH)
def test_a_true_zero_is_a_score(name: str) -> None:
    """The keys are of one kind, but this retriever never finds the right one for its own question."""
    retrieved = chunks(3)
    labels = [[row[0]] for row in (retrieved[1], retrieved[2], retrieved[0])]
    found = evaluator(name, "id").run(labels, retrieved)
    assert (found["score"], set(found["statuses"]), found["warnings"]) == (0, {"scored"}, [])
    # On few questions nobody can tell: told, and still a score.
    found = evaluator(name, "id").run([[Document(id="other")]], retrieved[:1])
    assert (found["score"], found["statuses"]) == (0, ["scored"])
    assert "None of 1 label key (id) occurs among the 2 retrieved documents" in found["warnings"][0]


def test_what_many_documents_share_is_no_key() -> None:
    documents = [Document(id=f"d{n}", meta={"lang": "en", "page": n}) for n in range(9)]
    labels = [Document(id=f"l{n}", meta={"lang": "en"}) for n in range(9)]
    found = find_mismatch(labels, documents, "id", "retrieved documents")
    assert found is not None
    assert found.fitting is None
    assert found.told.endswith("Check that both sides mean the same by it.")


def test_no_text_is_in_the_message() -> None:
    found = find_mismatch([Document(content="SECRET one")], [Document(content="SECRET two")], "content", "documents")
    assert found is not None
    assert "SECRET" not in found.told


def test_spans_of_other_documents() -> None:
    label = Document(content="five!", meta={"source_id": "page 1", "start": 0, "end": 5})
    chunk = Document(content="five! and more", meta={"source_id": "block 7", "split_idx_start": 0, "file": "page 1"})
    ranking = EACH["DocumentRankingEvaluator"](["R@5"], "meta.source_id", matching="span")
    found = ranking.run([[label]], [[chunk]])
    assert "None of 1 label key (meta.source_id) occurs" in found["warnings"][0]
    assert "meta.file of the documents matches 1 of 1" in found["warnings"][0]


def test_a_run_tells_it_once_for_all_components() -> None:
    rows = [{"id": f"q{n}", "question": "q", "relevant_documents": [Document(id=f"old{n}")]} for n in range(3)]
    data = [row | {"documents": retrieved} for row, retrieved in zip(rows, chunks(3), strict=True)]
    evaluators = {name: evaluator(name, "id") for name in ("DocumentMRREvaluator", "DocumentMAPEvaluator")}
    (told,) = api.evaluate(evaluators, data).manifest["warnings"]
    assert told.startswith("DocumentMRREvaluator, DocumentMAPEvaluator: None of 3 label keys (id) occurs among the 6")
    assert api.evaluate(single_evaluator(["R@1"], ["id"]), data).manifest["warnings"]
