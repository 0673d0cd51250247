# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels that cannot match are told by every retrieval evaluator; a bad retriever's true 0 stays a score."""

from __future__ import annotations

import json
import logging
import shlex
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from typer.testing import CliRunner

from cases_retrieval import RETRIEVAL_CASES
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import EvaluationError
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
    labels = [Document(id=f"l{n}", meta={"lang": "en", "start": n}) for n in range(9)]
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


# --- the field that is compared --------------------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "id": "1",
    "question": "Q1",
    "reference_answer": "Paris",
    "relevant_documents": ["a.txt"],
    "documents": [{"content": "chunk 1", "meta": {"file_path": "a.txt"}}],
    "answer": "Paris",
}
LABELS = {
    "a bare key": ["a.txt"],
    "a grade": {"a.txt": 2},
    "a Document without an id": [{"meta": {"file_path": "a.txt"}}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(ROW | changed) + "\n", encoding="utf-8")


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line), env={"COLUMNS": "200"})
    return result.exit_code, result.stdout, result.stderr


COMMANDS = {
    "run -m R@5": "ranking.R@5",
    "run rag_diagnosis": "recall",
    "run retrieval": "recall_multi_hit",
    "run own.yaml": "mine",
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize(("command", "metric"), COMMANDS.items())
def test_the_key_field_decides_what_is_compared(command: str, metric: str, labels: Any, folder: Path) -> None:
    write(folder / "d.jsonl", relevant_documents=labels)
    own = "components: {mine: {type: haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator}}"
    (folder / "own.yaml").write_text(own, encoding="utf-8")
    code, _, stderr = call(f"{command} --data d.jsonl")
    assert code == 2
    assert "meta.file_path" in stderr
    code, _, stderr = call(f"{command} --data d.jsonl --key-field meta.file_path --out kept")
    assert code == 0, stderr
    run = api.load_run("kept")
    assert run.scores[metric] == 1.0
    # The kept run is scored again by the same field, whatever it was kept by.
    code, _, stderr = call(f"{command} --data kept --out again")
    assert code == 0, stderr
    assert api.load_run("again").scores == run.scores
    if not command.endswith("R@5"):
        name = command.partition(" ")[2]
        assert api.evaluate(name, "d.jsonl", label_field="meta.file_path").scores == run.scores


def test_a_field_that_the_pipeline_names_is_not_overruled(folder: Path) -> None:
    write(folder / "d.jsonl")
    evaluator = "{type: haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator, init_parameters: %s}"
    own = f"components: {{mine: {evaluator % '{document_comparison_field: content}'}}}"
    (folder / "own.yaml").write_text(own, encoding="utf-8")
    code, _, stderr = call("run own.yaml --data d.jsonl --key-field meta.file_path")
    assert code == 2
    assert "mine compares 'content', but --key-field is 'meta.file_path'" in stderr
    with pytest.raises(EvaluationError, match=r"mine compares 'content', but label_field is 'meta.file_path'"):
        api.evaluate("own.yaml", "d.jsonl", label_field="meta.file_path")


def test_an_id_that_nobody_wrote_is_none(folder: Path) -> None:
    write(folder / "d.jsonl", relevant_documents=LABELS["a Document without an id"])
    assert call("run -m R@5 --data d.jsonl --key-field meta.file_path --out kept")[0] == 0
    (row,) = api.load_run("kept").rows
    assert (row["relevant_documents"][0]["id"], row["documents"][0]["id"]) == ("", "")


# --- the documents that a RAG pipeline searches ----------------------------------------------------------------------


def searching(*documents: Document) -> Pipeline:
    store = InMemoryDocumentStore()
    store.write_documents(list(documents))
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=2))
    return pipeline


def questions(*labels: str) -> list[dict[str, Any]]:
    return [{"id": f"q{n}", "question": "river", "relevant_documents": [key]} for n, key in enumerate(labels)]


def stored(count: int) -> list[Document]:
    return [Document(id=f"c{n}", content=f"river {n}", meta={"file": f"f{n}.txt"}) for n in range(count)]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["f0.txt", "f1.txt"], "meta.file of the documents matches 2 of 2 labels"),
        (["x", "y"], "0 of 2 label keys exist in the store. Nothing was asked."),
    ],
)
def test_a_store_without_any_label_is_an_error_before_a_question_is_asked(labels: list[str], told: str) -> None:
    with pytest.raises(EvaluationError, match="None of 2 label keys") as caught:
        api.run_rag({"mrr": evaluator("DocumentMRREvaluator", "id")}, questions(*labels), searching(*stored(3)))
    assert told in str(caught.value)


def test_labels_that_the_store_lacks_are_told() -> None:
    evaluators = {"mrr": evaluator("DocumentMRREvaluator", "id")}
    run = api.run_rag(evaluators, questions("c0", "x", "c1"), searching(*stored(3)), progress=False)
    assert "2 of 3 label keys (id) exist in the store; missing are 'x'." in " ".join(run.manifest["warnings"])
    run = api.run_rag(evaluators, questions("c0", "c1"), searching(*stored(2)), progress=False)
    assert run.manifest["warnings"] == []


def test_stages_are_compared_by_the_key_field(folder: Path) -> None:
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, questions("f0.txt", "f1.txt"))), encoding="utf-8")
    run = api.run_rag("retrieval", "q.jsonl", searching(*stored(2)), label_field="meta.file", progress=False)
    assert run.scores["recall_multi_hit"] == 1.0
