# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The diagnosis behind other evaluators: in a pipeline, from YAML, on a retriever, and over a dataset."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import (
    AnswerExactMatchEvaluator,
    AnswerMatchEvaluator,
    AnswerTokenF1Evaluator,
    DocumentMRREvaluator,
    DocumentRecallEvaluator,
    RAGFailureClassifier,
)
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline

# What makes an evaluator, by the scores that it gives.
STAGES: dict[str, Callable[[], Any]] = {
    "retrieval": lambda: DocumentRecallEvaluator("multi_hit", "id"),
    "retrieval_at_cut": lambda: DocumentRecallEvaluator("multi_hit", "id", top_k=2),
    "ranking": lambda: DocumentMRREvaluator("id"),
    "answer": AnswerExactMatchEvaluator,
}
# Relevant, retrieved, answer ("x" is right), label.
ROWS = [
    ("a", "a b c", "x", "passed"),
    ("a", "b c d", "x", "retrieval_failure_lucky"),
    ("a b", "a c d", "y", "both_failed"),  # recall 1/2
    ("a", "b c a", "y", "ranking_failure"),  # reciprocal rank 1/3
    ("a b", "a c b", "x", "ranking_failure"),  # reciprocal rank 1, but b is the third of two
    ("a", "b a c", "y", "generation_failure_wrong"),  # reciprocal rank 1/2
    ("", "a b c", "x", "unknown"),  # no relevant document
]
LABELS = [label for *_, label in ROWS]


def documents(ids: str) -> list[Document]:
    return [Document(id=name, content=f"text of {name}") for name in ids.split()]


DATA = {
    "ground_truth_documents": [documents(row[0]) for row in ROWS],
    "retrieved_documents": [documents(row[1]) for row in ROWS],
    "ground_truth_answers": ["x"] * len(ROWS),
    "predicted_answers": [row[2] for row in ROWS],
}


def diagnosing(*, statuses: bool = True) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("diagnosis", RAGFailureClassifier(answer_threshold=1))
    for name, make in STAGES.items():
        pipeline.add_component(name, make())
        pipeline.connect(f"{name}.individual_scores", f"diagnosis.{name}_scores")
        if statuses:
            pipeline.connect(f"{name}.statuses", f"diagnosis.{name}_statuses")
    return pipeline


def test_scores_of_evaluators_are_diagnosed() -> None:
    result = diagnosing().run(DATA)["diagnosis"]
    assert result["labels"] == LABELS
    assert result["statuses"] == [*["scored"] * 6, "undefined"]
    assert result["score"] == 1 / 6
    assert [row["failed"] for row in result["stages"]] == [2, 2, 1]
    assert [row["mean_of"] for row in result["stages"]] == ["retrieval_scores", "ranking_scores", "answer_scores"]


def test_only_the_statuses_tell_an_undefined_question_from_a_failure() -> None:
    assert diagnosing(statuses=False).run(DATA)["diagnosis"]["labels"] == [*LABELS[:-1], "retrieval_failure_lucky"]


def test_the_pipeline_survives_yaml() -> None:
    pipeline = diagnosing()
    loaded = Pipeline.loads(pipeline.dumps())
    written: Any = loaded.to_dict()["components"]["diagnosis"]
    assert written == {
        "type": "haystack_eval_ext.diagnosis.rag_failure.RAGFailureClassifier",
        "init_parameters": {
            "retrieval_threshold": 1.0,
            "ranking_threshold": 0.5,
            "answer_threshold": 1,
            "faithfulness_threshold": 1.0,
            "refusal_threshold": 0.5,
        },
    }
    assert loaded.run(DATA)["diagnosis"]["labels"] == LABELS


@pytest.mark.parametrize(
    ("question", "answer", "label"),
    [
        ("Where is Rome?", "in Italy", "passed"),
        ("Where is Rome?", "in Spain", "generation_failure_wrong"),
        ("Anything else?", "in Italy", "retrieval_failure_lucky"),
        ("Anything else?", "in Spain", "both_failed"),
    ],
)
def test_a_rag_pipeline_that_diagnoses_itself(question: str, answer: str, label: str) -> None:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id="rome", content="Rome is in Italy"), Document(id="x", content="anything else")])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }}{% endfor %}")]
    pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
    pipeline.add_component("generator", MockChatGenerator(answer))
    pipeline.add_component("recall", DocumentRecallEvaluator(document_comparison_field="id"))
    pipeline.add_component("match", AnswerExactMatchEvaluator())
    pipeline.add_component("diagnosis", RAGFailureClassifier())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "generator.messages")
    pipeline.connect("retriever.documents", "recall.retrieved_documents")
    pipeline.connect("generator.replies", "match.predicted_answers")
    pipeline.connect("recall.individual_scores", "diagnosis.retrieval_scores")
    pipeline.connect("match.individual_scores", "diagnosis.answer_scores")
    data = {
        "retriever": {"query": question},
        "recall": {"ground_truth_documents": [Document(id="rome")]},
        "match": {"ground_truth_answers": ["in Italy"]},
    }
    assert pipeline.run(data)["diagnosis"]["labels"] == [label]


def test_over_a_dataset_it_is_a_metric_among_the_others() -> None:
    rows = [
        {"id": str(n), "documents": documents(row[1]), "relevant_documents": documents(row[0]), "answer": row[2]}
        for n, row in enumerate(ROWS)
    ]
    dataset = Dataset("rows", [row | {"reference_answer": ["x"]} for row in rows])
    metrics = {metric.name: metric for metric in evaluate_pipeline(diagnosing(), dataset).metrics}
    assert set(metrics) == {"diagnosis", *STAGES}
    found = metrics["diagnosis"]
    assert found.individual_scores[:-1] == [1.0, *[0.0] * 5]
    assert math.isnan(found.individual_scores[-1])
    assert (found.undefined, found.left_out, found.score) == (1, 1, 1 / 6)


def test_a_run_says_that_a_default_threshold_cuts_through_the_scores() -> None:
    pipeline = Pipeline()
    pipeline.add_component("recall", DocumentRecallEvaluator("multi_hit", "id"))
    pipeline.add_component("f1", AnswerTokenF1Evaluator())
    pipeline.add_component("diagnosis", RAGFailureClassifier())
    pipeline.connect("recall.individual_scores", "diagnosis.retrieval_scores")
    pipeline.connect("f1.individual_scores", "diagnosis.answer_scores")
    row = {"documents": documents("a"), "relevant_documents": documents("a"), "reference_answer": ["Paris"]}
    # One word of eight: F1 2/9.
    rows = [{"id": str(n), **row, "answer": "It is in Paris, as the page says."} for n in range(6)]
    warnings = evaluate_pipeline(pipeline, Dataset("rows", rows)).warnings
    (told,) = [warning for warning in warnings if "threshold" in warning]
    assert told.startswith(
        "diagnosis: 6 of 6 answer scores lie between 0.05 and 0.5, 0 from 0.5 to 0.95: choose a threshold."
    )


SENTENCE = "The museum was founded by Ada Park in the spring of 1902, and opened its doors to visitors a year later."


@pytest.mark.parametrize(
    ("references", "answer", "told"),
    [
        ([SENTENCE] * 6, "Ada Park founded it.", 6),
        ([SENTENCE] * 5 + ["Ada Park"] * 20, "She did it.", 5),
        ([SENTENCE] * 4, "Ada Park founded it.", 0),
        ([SENTENCE] * 6, SENTENCE, 0),
        ([[SENTENCE, "Ada Park"]] * 6, "She did it.", 0),
        (["Ada Park"] * 6, "She did it.", 0),
    ],
)
def test_references_that_are_sentences_are_told(references: Any, answer: str, told: int) -> None:
    result = AnswerMatchEvaluator().run(references, [answer] * len(references))
    assert len(result["warnings"]) == bool(told)
    for warning in result["warnings"]:
        assert warning.startswith(
            f"{told} of {len(references)} answers score 0 beside references of more than 12 words."
        )
        assert "rag_diagnosis_judged" in warning
        assert "museum" not in warning
