# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which labels a question needs: from files, in the score, in the diagnosis, and in a run that is read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import DocumentEvidenceEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.retrieval._needs import read_need
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._needs import needs_cell
from haystack_eval_ext.runs.dataset import Dataset, open_dataset, read_dataset
from rag_pipelines import DOCUMENTS, TEMPLATE, dataset, filled_store
from test_bad_input import refused


def documents(ids: str) -> list[Document]:
    return [Document(id=name, content=f"text of {name}") for name in ids.split()]


# What is needed, retrieved, and in the prompt (None: not said); evidence retrieved and reached.
EVIDENCE: list[tuple[Any, str, str | None, float, float]] = [
    ("all", "x a", None, 1 / 3, 1 / 3),
    ("any", "x a", None, 1.0, 1.0),
    ("any", "x y", None, 0.0, 0.0),
    (None, "a b c", None, 1.0, 1.0),
    ([[0, 1], [2]], "a x", None, 1 / 2, 1 / 2),
    ([[0, 1], [2]], "b a", None, 1.0, 1.0),
    ([[0, 1], [2]], "c x", None, 1.0, 1.0),
    ([[0], [1]], "c x", None, 0.0, 0.0),
    ([[0, 1], [0, 2]], "c b", None, 1 / 2, 1 / 2),
    # What reached the generator.
    ("all", "a b c", "a b", 1.0, 2 / 3),
    ("any", "a b x", "x", 1.0, 0.0),
    ("any", "a b x", "b x", 1.0, 1.0),
    ([[0, 1], [2]], "a b c", "a x", 1.0, 1 / 2),
    ("all", "c b a", "a b c", 1.0, 1.0),
    ("any", "a", "", 1.0, 0.0),
    ("any", "a", "z", 1.0, 1.0),  # nobody knows where it came from: what was retrieved is taken to be there
]


@pytest.mark.parametrize(("needs", "retrieved", "prompt", "found", "reached"), EVIDENCE)
def test_evidence_is_what_the_question_needs(
    needs: Any, retrieved: str, prompt: str | None, found: float, reached: float
) -> None:
    """Beside it stands a question that needs all of one label, and has it."""
    result = DocumentEvidenceEvaluator("id").run(
        ground_truth_documents=[documents("a b c"), documents("k")],
        retrieved_documents=[documents(retrieved), documents("k")],
        needs=None if needs is None else [needs, "all"],
        contexts=None if prompt is None else [[f"Text: text of {name}." for name in prompt.split()], ["text of k"]],
    )
    assert result["individual_scores"] == [found, 1.0]
    assert result["reached_scores"] == [reached, 1.0]
    assert result["score"] == (found + 1) / 2
    assert result["statuses"] == result["reached_statuses"] == ["scored", "scored"]
    assert len(result["warnings"]) == (prompt == "z")


def test_what_is_not_relevant_is_not_needed() -> None:
    labels = [[Document(id="a", score=2), Document(id="b", score=0), Document(id="c", score=1)]] * 3
    rows: dict[str, Any] = {
        "ground_truth_documents": labels,
        "retrieved_documents": [documents("b"), documents("a c"), documents("c")],
        "needs": ["any", [[0, 1]], [[0, 1], [1]]],
    }
    assert DocumentEvidenceEvaluator("id").run(**rows)["individual_scores"] == [0.0, 1.0, 0.0]
    strict = DocumentEvidenceEvaluator("id", relevance_threshold=2, on_undefined="nan")
    assert strict.run(**rows)["individual_scores"] == [0.0, 1.0, 0.0]
    none = strict.run([[Document(id="c", score=1)]], [documents("c")], needs=["any"])
    assert none["statuses"] == none["reached_statuses"] == ["undefined"]


def test_documents_as_json_and_a_cut() -> None:
    rows: dict[str, Any] = {
        "ground_truth_documents": [[{"id": "a"}, {"id": "b"}]],
        "retrieved_documents": [[{"id": "x"}, {"id": "b"}]],
    }
    assert DocumentEvidenceEvaluator("id").run(**rows, needs=["any"])["individual_scores"] == [1.0]
    assert DocumentEvidenceEvaluator("id", top_k=1).run(**rows, needs=["any"])["individual_scores"] == [0.0]


BAD_NEEDS: dict[str, tuple[Any, type[Exception], str]] = {
    "another word": (["some PRIVATE"], ValueError, r"needs\[0\] must be 'all', 'any', or groups.*another text"),
    "one too many": (["all", "any"], ValueError, "ground_truth_documents has 1, needs has 2"),
    "a text": ("any", TypeError, "needs must be a list"),
    "a number": ([1], TypeError, r"needs\[0\] must be.*an int"),
    "places without a group": ([[0, 1]], TypeError, r"needs\[0\].*a group of it is no list of places"),
    "keys": ([[["a"]]], TypeError, "no list of places"),
    "no group": ([[]], ValueError, "an empty group, or none"),
    "an empty group": ([[[0], []]], ValueError, "an empty group"),
    "a place behind the end": ([[[2]]], ValueError, r"a place that.*has 2 labels there"),
    "a negative place": ([[[-1]]], ValueError, "a place that"),
}


@pytest.mark.parametrize("word", ["any", "ANY", " Any "])
def test_a_word_is_read_alike_from_a_socket_and_a_file(word: str) -> None:
    result = DocumentEvidenceEvaluator("id").run([documents("a b")], [documents("a")], needs=[word])
    assert result["individual_scores"] == [1.0]
    assert read_need(word) == needs_cell(word) == "any"


@pytest.mark.parametrize("kind", BAD_NEEDS)
def test_needs_that_are_none(kind: str) -> None:
    needs, exception, message = BAD_NEEDS[kind]
    evaluator = DocumentEvidenceEvaluator("id")
    refused(lambda: evaluator.run([documents("a b")], [documents("a")], needs=needs), exception, message)


# Columns of a row; what is needed in the end, and the labels.
FORMS: list[tuple[dict[str, Any], Any, list[str]]] = [
    ({"relevant_documents": ["a", "b"]}, "all", ["a", "b"]),
    ({"relevant_documents": ["a", "b"], "needs": "any"}, "any", ["a", "b"]),
    ({"relevant_documents": ["a", "b"], "needs": "ANY "}, "any", ["a", "b"]),
    ({"relevant_documents": {"a": 2, "b": 1}, "needs": "all"}, "all", ["a", "b"]),
    ({"relevant_documents": [["a", "b"], ["c"]]}, [[0, 1], [2]], ["a", "b", "c"]),
    ({"relevant_documents": [["a", "b"], ["b", {"c": 2}]]}, [[0, 1], [1, 2]], ["a", "b", "c"]),
    ({"relevant_documents": [["a", "a"]]}, [[0]], ["a"]),
    ({"relevant_documents": ["a", "b"], "needs": [[1], [0]]}, [[1], [0]], ["a", "b"]),
]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "rows"])
@pytest.mark.parametrize(("columns", "needs", "labels"), FORMS)
def test_files_say_what_is_needed(
    columns: dict[str, Any], needs: Any, labels: list[str], suffix: str, tmp_path: Path
) -> None:
    """Beside it stands a row that says nothing: it needs all of its labels."""
    rows = [{"id": "q", **columns}, {"id": "r", "relevant_documents": ["d"]}]
    path = tmp_path / f"data.{suffix}"
    if suffix == "csv":
        cells = [
            [value if isinstance(value, str) else json.dumps(value) for value in (row.get(name, "") for name in names)]
            for row in rows
            for names in [("id", "relevant_documents", "needs")]
        ]
        quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
        path.write_text("\n".join(["id,relevant_documents,needs", *quoted]), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data = open_dataset(rows) if suffix == "rows" else read_dataset(path)
    said = needs != "all" or "needs" in columns or suffix == "csv"
    assert data.rows[0].get("needs", "all") == needs
    assert data.rows[1].get("needs", "all") == "all"
    assert [label.id for label in data.rows[0]["relevant_documents"]] == labels
    assert ("needs" in data.sockets()) == (said and (needs != "all" or "needs" in columns))
    # What was read is read again as it is.
    assert open_dataset(data).rows == data.rows


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "some in lists": ({"relevant_documents": [["a"], "b"]}, "1 of 2 entries are lists, expected groups"),
    "an empty group": ({"relevant_documents": [["a"], []]}, "an empty group"),
    "groups in groups": ({"relevant_documents": [[["a"]]]}, "entry 1: a list as key"),
    "groups and a word": ({"relevant_documents": [["a"], ["b"]], "needs": "any"}, "given beside groups of labels"),
    "a grade of 0 in a group": ({"relevant_documents": [["a", {"b": 0}]]}, "a grade of 0 or below"),
    "two grades": ({"relevant_documents": [[{"a": 1}], [{"a": 2}]]}, "the same label with two grades"),
    "another word": ({"relevant_documents": ["a"], "needs": "PRIVATE"}, "another text, expected any, all"),
    "a number": ({"relevant_documents": ["a"], "needs": 1}, "a number"),
    "no groups": ({"relevant_documents": ["a"], "needs": []}, "expected any, all"),
    "a place behind the end": (
        {"relevant_documents": ["a"], "needs": [[1]]},
        "a place that relevant_documents has not",
    ),
    "no labels": ({"needs": [[0]]}, "groups, but no label"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_ambiguous_is_refused(kind: str) -> None:
    columns, message = REFUSED[kind]
    with pytest.raises(DatasetError) as caught:
        open_dataset([{"id": "q", **columns}])
    assert message in str(caught.value)
    assert "PRIVATE" not in str(caught.value)


def test_other_needs_are_other_labels() -> None:
    """Order means nothing, and rows of before have the fingerprints of before."""

    def fingerprint(**columns: Any) -> str:
        return open_dataset([{"id": "q", "relevant_documents": ["a", "b"], **columns}]).label_fingerprint

    everything = fingerprint()
    assert fingerprint(needs="all") == everything
    grouped = fingerprint(relevant_documents=[["a"], ["b"]])
    assert fingerprint(relevant_documents=[["b"], ["a"]]) == grouped
    assert len({everything, fingerprint(needs="any"), grouped}) == 3


# Question, needs, labels, retrieved, prompt, reference, answer; label. The first three are an article's.
CASES: list[tuple[str, Any, list[Any], str, str, str, str]] = [
    ("経費精算の期限は？", None, ["expense"], "general travel", "翌月5日", "翌月5日", "retrieval_failure_lucky"),
    (
        "交通費の申請方法は？",
        None,
        ["travel"],
        "travel general",
        "申請フォームを使う",
        "メールで申請する",
        "generation_failure_wrong",
    ),
    ("備品購入の承認者は？", None, ["purchase"], "purchase general", "部門責任者", "部門責任者", "passed"),
    ("When is it due?", None, ["a"], "a b", "翌月5日", "翌月10日", "generation_failure_wrong"),
    (
        "One of five?",
        "any",
        ["a", "b", "c", "d", "e"],
        "x b",
        "Paris",
        "It is the city of Paris, as it says.",
        "passed",
    ),
    ("Both?", "all", ["a", "b"], "a x", "Paris", "Paris", "retrieval_failure_incomplete"),
    ("Both, and wrong?", "all", ["a", "b"], "a x", "Paris", "Rome", "both_failed"),
    ("None of two?", "all", ["a", "b"], "x y", "Paris", "Paris", "retrieval_failure_lucky"),
    ("A group?", None, [["a", "b"], ["c"]], "x c", "Paris", "Paris", "passed"),
    ("Half a group?", None, [["a", "b"], ["c"]], "x a", "Paris", "Paris", "retrieval_failure_incomplete"),
    ("At rank 3 of 3?", None, ["a"], "x y a", "Paris", "Paris", "passed"),
    ("Declines?", None, ["a"], "a", "Paris", "I don't know.", "generation_failure_evasive"),
    ("The ninth?", None, ["a"], "a", "due on the 5th of March", "due on the 9th of March", "generation_failure_wrong"),
]


@pytest.mark.parametrize("through", ["rows", "jsonl", "folder"])
def test_the_diagnosis_goes_by_what_is_needed(through: str, tmp_path: Path) -> None:
    rows = [
        {"question": question, "relevant_documents": labels, "documents": found.split()}
        | {"reference_answer": reference, "answer": answer}
        | ({} if needs is None else {"needs": needs})
        for question, needs, labels, found, reference, answer, _ in CASES
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = api.evaluate("rag_diagnosis", rows if through == "rows" else path, out=tmp_path / "run")
    if through == "folder":
        run = api.evaluate("rag_diagnosis", tmp_path / "run")
        stored = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").read_text("utf-8").splitlines()]
        assert [row["needs"] for row in stored][4:6] == ["any", "all"]
    found = run.manifest["diagnoses"]["diagnosis"]["labels"]
    assert list(found.values()) == [label for *_, label in CASES]


def texts(ids: list[str]) -> list[str]:
    return [f"text of {name}" for name in ids]


def test_evidence_that_is_not_in_the_contexts_is_behind_the_cut() -> None:
    """The contexts of a row say what reached the generator; without them it was all that was retrieved."""
    row = {"reference_answer": "Paris", "answer": "Paris", "relevant_documents": ["b"]}
    retrieved = [{"id": name, "content": f"text of {name}"} for name in "abc"]
    rows = [
        {"id": ids, **row, "documents": retrieved, "contexts": texts(list(ids))} for ids in ("abc", "cab", "ac", "b")
    ]
    run = api.evaluate("rag_diagnosis", rows)
    labels = run.manifest["diagnoses"]["diagnosis"]["labels"]
    assert labels == {"abc": "passed", "cab": "passed", "ac": "ranking_failure", "b": "passed"}
    assert run.scores["evidence"] == 1.0


def answering(pipeline: Pipeline, last: str) -> Pipeline:
    """With a prompt and a generator behind the last ranking; it answers with the topic that was asked for."""

    def reply(messages: list[ChatMessage]) -> str:
        return (messages[-1].text or "").rpartition("what is ")[2].partition(" ")[0]

    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)]))
    pipeline.add_component("llm", MockChatGenerator(response_fn=reply))
    pipeline.connect(last, "prompt.documents")
    pipeline.connect("prompt", "llm.messages")
    return pipeline


def test_an_order_made_on_purpose_is_no_ranking_failure() -> None:
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(filled_store(), top_k=5))
    pipeline.add_component("order", LostInTheMiddleRanker())
    pipeline.connect("bm25", "order.documents")
    data = dataset(6)
    # The second document of a question is the last one in that order, at rank 5 of 5.
    rows = [
        row | {"relevant_documents": [Document(id=f"d{(n + 1) % len(DOCUMENTS)}")]} for n, row in enumerate(data.rows)
    ]
    for labels in (data, Dataset("rows", rows)):
        run = api.run_rag("rag_diagnosis", labels, answering(pipeline_of(pipeline), "order"), progress=False)
        found = run.manifest["diagnoses"]["diagnosis"]
        assert found["counts"]["ranking_failure"] == 0


def pipeline_of(pipeline: Pipeline) -> Pipeline:
    """A copy, to which more can be added."""
    return Pipeline.loads(pipeline.dumps())


def routed() -> Pipeline:
    """Questions with an even number go past the retriever."""
    routes: list[Any] = [
        {
            "condition": "{{ 'topic0' in query or 'topic2' in query }}",
            "output": "{{ query }}",
            "output_name": "direct",
            "output_type": str,
        },
        {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "search", "output_type": str},
    ]
    pipeline = Pipeline()
    pipeline.add_component("router", ConditionalRouter(routes))
    pipeline.add_component("bm25", InMemoryBM25Retriever(filled_store(), top_k=5))
    pipeline.add_component("chat", ChatPromptBuilder([ChatMessage.from_user("Question: {{ query }}")]))
    pipeline.add_component(
        "rag", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)], variables=["documents", "question"])
    )
    pipeline.add_component("join", BranchJoiner(list[ChatMessage]))

    def reply(messages: list[ChatMessage]) -> str:
        text = (messages[-1].text or "").rpartition("what is ")[2].partition(" ")[0]
        return "no idea at all" if text == "topic2" else text

    pipeline.add_component("llm", MockChatGenerator(response_fn=reply))
    pipeline.connect("router.search", "bm25.query")
    pipeline.connect("router.direct", "chat.query")
    pipeline.connect("bm25", "rag.documents")
    pipeline.connect("chat", "join")
    pipeline.connect("rag", "join")
    pipeline.connect("join", "llm.messages")
    return pipeline


def test_a_question_that_went_around_retrieval_is_no_retrieval_failure(tmp_path: Path) -> None:
    data = dataset(4)  # topic0: skipped and right; topic2: skipped and wrong
    run = api.run_rag("rag_diagnosis", data, routed(), out=tmp_path / "run", progress=False)
    again = api.evaluate("rag_diagnosis", tmp_path / "run")
    for each in (run, again):
        assert [row.get("retrieval_skipped", False) for row in each.rows] == [True, False, True, False]
        for metric in ("evidence", "recall", "mrr"):
            assert each.metrics[metric].statuses == ["not_run", "scored", "not_run", "scored"]
            assert each.metrics[metric].errors[0] == "the RAG pipeline answered without retrieval"
            assert each.scores[metric] == 1.0
        assert each.metrics["answer"].statuses == ["scored"] * 4
        found = each.manifest["diagnoses"]["diagnosis"]
        assert list(found["labels"].values()) == ["passed", "passed", "routing_failure", "passed"]
        assert found["reasons"]["q0"] == "retrieval was skipped; answer 1 reaches 0.5"
        stages = {stage["stage"]: stage["failed"] for stage in found["stages"]}
        assert stages == {"routing": 1, "retrieval": 0, "ranking": 0, "generation": 0}
        told = [text for text in each.manifest["warnings"] if "without retrieval" in text]
        left_out = "rows q0, q2. They are left out of the mean."
        skipped = "2 of 4 rows were not run (the RAG pipeline answered without retrieval)"
        assert told == [f"evidence, recall, mrr: {skipped}: {left_out}"]


def test_a_retriever_that_finds_nothing_was_not_skipped() -> None:
    pipeline = Pipeline()
    pipeline.add_component(
        "bm25",
        InMemoryBM25Retriever(filled_store(), top_k=5, filters={"field": "id", "operator": "==", "value": "none"}),
    )
    run = api.run_rag("rag_diagnosis", dataset(2), answering(pipeline, "bm25"), progress=False)
    assert run.scores["recall"] == 0.0
    assert not any("retrieval_skipped" in row for row in run.rows)
    assert set(run.manifest["diagnoses"]["diagnosis"]["labels"].values()) == {"retrieval_failure_lucky"}


def test_files_may_say_that_retrieval_was_skipped() -> None:
    row = {"relevant_documents": ["a"], "documents": [], "answer": "x"}
    rows = [{"id": "q", **row, "retrieval_skipped": True}, {"id": "r", **row, "documents": ["a"]}]
    run = api.evaluate({"recall": DocumentRecallEvaluator("multi_hit", "id")}, rows)
    assert run.metrics["recall"].statuses == ["not_run", "scored"]
    assert run.scores["recall"] == 1.0
