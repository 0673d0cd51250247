# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Feeding pipelines from a dataset: sockets, unanswerable rows, connected and unconnected pipelines, faults."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.evaluators import AnswerExactMatchEvaluator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import DocumentMRREvaluator, DocumentRankingEvaluator
from haystack_eval_ext.errors import EvaluationError, PipelineFileError
from haystack_eval_ext.runs._faults import texts_wanted
from haystack_eval_ext.runs._strict_json import strict_json, write_strict_json
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import WithheldFaultError, evaluate_pipeline, load_pipeline, single_evaluator


@component
class Recorder:
    """Gives 1, 2, 3 ... and keeps what it was given."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, questions: list[str], contexts: list[list[str]] | None = None, extra: Any = None) -> dict[str, Any]:
        """
        Keep the inputs.

        :param questions: Kept.
        :param contexts: Kept.
        :param extra: Kept.
        :returns: Scores.
        """
        self.given = {"questions": questions, "contexts": contexts, "extra": extra}
        scores = [float(number) for number in range(1, len(questions) + 1)]
        return {"score": sum(scores) / len(scores), "individual_scores": scores}


@component
class Labelled:
    """A retrieval metric that keeps what it was given; row r has the score of its first label."""

    def __init__(self, short: bool = False, fault: str | None = None, texts: bool = False) -> None:
        self.short = short
        self.texts = texts
        self.fault = fault
        self.given: list[list[Document]] = []

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(self, ground_truth_documents: list[list[Document]]) -> dict[str, Any]:
        """
        Keep the labels.

        :param ground_truth_documents: Kept.
        :returns: Scores.
        """
        if self.fault:
            raise KeyError(self.fault)
        self.given = ground_truth_documents
        scores = [labels[0].score or 0.0 if labels else math.nan for labels in ground_truth_documents]
        statuses = ["scored" if labels else "undefined" for labels in ground_truth_documents]
        kept: list[Any] = scores[1:] if self.short else ["question 0"] if self.texts else scores
        return {"score": float(np.nanmean(scores)), "individual_scores": kept, "statuses": statuses}


@component
class Copy:
    """Hands questions on."""

    @component.output_types(questions=list[str])
    def run(self, questions: list[str]) -> dict[str, Any]:
        """
        Hand on.

        :param questions: The questions.
        :returns: The same.
        """
        return {"questions": questions}


@component
class Undemanding:
    """Needs nothing of the data."""

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, factor: float = 1.0) -> dict[str, Any]:
        """
        Score nothing.

        :param factor: Not used.
        :returns: Scores.
        """
        return {"score": factor, "individual_scores": []}


def pipeline_of(**components: Any) -> Pipeline:
    pipeline = Pipeline()
    for name, instance in components.items():
        pipeline.add_component(name, instance)
    return pipeline


def rows(count: int = 3, **columns: list[Any]) -> Dataset:
    table = [
        {"id": f"r{number}", "question": f"question {number}"}
        | {name: values[number] for name, values in columns.items()}
        for number in range(count)
    ]
    return Dataset("data.jsonl", table)


def labels(*grades: float | None) -> list[list[Document]]:
    return [[] if grade is None else [Document(id="a", score=grade)] for grade in grades]


def test_vocabulary_sockets_are_fed_and_other_optional_ones_are_not() -> None:
    recorder = Recorder()
    evaluate_pipeline(pipeline_of(metric=recorder), rows(2, contexts=[["a"], ["b"]], extra=[1, 2]))
    assert recorder.given == {"questions": ["question 0", "question 1"], "contexts": [["a"], ["b"]], "extra": None}


@pytest.mark.parametrize(("column", "expected"), [("extra", [1, 2]), ("question", ["question 0", "question 1"])])
def test_a_map_feeds_any_socket(column: str, expected: list[Any]) -> None:
    recorder = Recorder()
    evaluate_pipeline(pipeline_of(metric=recorder), rows(2, extra=[1, 2]), {"metric.extra": column})
    assert recorder.given["extra"] == expected


def test_a_map_takes_an_alias_and_goes_before_the_vocabulary() -> None:
    recorder = Recorder()
    data = rows(2, answer=["yes", "no"])
    evaluate_pipeline(pipeline_of(metric=recorder), data, {"metric.questions": "response", "metric.extra": "query"})
    assert recorder.given["questions"] == ["yes", "no"]
    assert recorder.given["extra"] == ["question 0", "question 1"]


def test_unconnected_components_get_the_same_objects() -> None:
    first, second, data = Labelled(), Labelled(), rows(relevant_documents=labels(1, 2, 3))
    evaluate_pipeline(pipeline_of(a=first, b=second), data)
    for given in (first.given, second.given):
        assert all(one is other for one, other in zip(given, data.column("relevant_documents"), strict=True))


@pytest.mark.parametrize("connected", [False, True])
def test_unanswerable_rows_leave_retrieval_means_and_keep_their_place(*, connected: bool) -> None:
    metric, answers = Labelled(), Recorder()
    pipeline = pipeline_of(metric=metric, answers=answers)
    if connected:
        pipeline.add_component("copy", Copy())
        pipeline.connect("copy.questions", "answers.questions")
    data = rows(4, relevant_documents=labels(0.5, None, 1.0, 3.0), answerable=[True, False, True, False])
    evaluation = evaluate_pipeline(pipeline, data)
    retrieval, answer = evaluation.metrics
    assert retrieval.score == pytest.approx((0.5 + 1.0) / 2, abs=1e-15)
    assert retrieval.individual_scores == pytest.approx([0.5, math.nan, 1.0, math.nan], nan_ok=True)
    assert retrieval.statuses == ["scored", "not_run", "scored", "not_run"]
    assert (retrieval.rows, retrieval.undefined, retrieval.failed, retrieval.left_out) == (4, 0, 0, 2)
    assert answer.individual_scores == [1.0, 2.0, 3.0, 4.0]
    assert evaluation.unanswerable == ["r1", "r3"]
    assert len(metric.given) == (4 if connected else 2)


def test_without_a_retrieval_metric_no_row_is_called_unanswerable() -> None:
    evaluation = evaluate_pipeline(pipeline_of(metric=Recorder()), rows(2, answerable=[True, False]))
    assert evaluation.unanswerable == []
    assert evaluation.metrics[0].score == 1.5


def test_metric_names_statuses_and_labels_never_retrieved() -> None:
    pipeline = pipeline_of(
        many=DocumentRankingEvaluator(["RR", "P@1"], document_comparison_field="id"),
        one=DocumentRankingEvaluator(["RR"], document_comparison_field="id"),
        mrr=DocumentMRREvaluator("id"),
    )
    data = rows(
        2,
        documents=[[Document(id="a"), Document(id="b")], [Document(id="a")]],
        relevant_documents=[[Document(id="b"), Document(id="z")], []],
    )
    evaluation = evaluate_pipeline(pipeline, data)
    assert [metric.name for metric in evaluation.metrics] == ["many.RR", "many.P@1", "one.RR", "mrr"]
    assert all(metric.statuses == ["scored", "undefined"] for metric in evaluation.metrics)
    assert [metric.individual_scores for metric in evaluation.metrics] == [
        [0.5, 0.0],
        [0.0, 0.0],
        [0.5, 0.0],
        [0.5, 0.0],
    ]
    assert evaluation.never_retrieved == {"many": ["z"], "one": ["z"]}


def test_a_stock_evaluator_is_fed_and_its_rows_get_statuses() -> None:
    data = rows(2, answer=["Paris", "Rome"], reference_answer=["Paris", "Bern"])
    (metric,) = evaluate_pipeline(pipeline_of(exact=AnswerExactMatchEvaluator()), data).metrics
    assert (metric.name, metric.score, metric.statuses) == ("exact", 0.5, ["scored", "scored"])


def test_a_composite_key() -> None:
    def page(number: int) -> Document:
        return Document(meta={"file": "a.pdf", "page": number})

    data = rows(1, documents=[[page(1), page(2)]], relevant_documents=[[page(2)]])
    evaluation = evaluate_pipeline(single_evaluator(["RR"], ["meta.file", "meta.page"]), data)
    assert {metric.name: metric.score for metric in evaluation.metrics} == {"ranking.RR": 0.5}


def retriever() -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(InMemoryDocumentStore())


@component
class Searcher:
    """Takes all questions at once and searches a store."""

    def __init__(self) -> None:
        self.document_store = InMemoryDocumentStore()

    @component.output_types(documents=list[list[Document]])
    def run(self, questions: list[str]) -> dict[str, Any]:
        """
        Find nothing.

        :param questions: The questions.
        :returns: Nothing found.
        """
        return {"documents": [[] for _ in questions]}


def searching() -> Pipeline:
    pipeline = pipeline_of(search=Searcher(), mrr=DocumentMRREvaluator())
    pipeline.connect("search.documents", "mrr.retrieved_documents")
    return pipeline


def prompting() -> Pipeline:
    builder = PromptBuilder("{{ questions }}", required_variables=["questions"])
    return pipeline_of(metric=Recorder(), prompt=builder)


FAULTS: list[tuple[str, Pipeline, Dataset, dict[str, str], list[str]]] = [
    ("no metric", pipeline_of(copy=Copy()), rows(), {}, ["'individual_scores'", "Add an evaluator"]),
    ("missing column", pipeline_of(mrr=DocumentMRREvaluator()), rows(),
     {}, ["mrr.retrieved_documents (column documents)", "id, question", "Add"]),
    ("scalar query", pipeline_of(retriever=retriever(), m=Recorder()), rows(),
     {}, ["retriever.query", "batch sockets"]),
    ("empty store", searching(), rows(relevant_documents=labels(1, 1, 1)),
     {}, ["search", "without documents", "Write documents"]),
    ("nothing is fed", pipeline_of(m=Undemanding()), rows(), {}, ["No socket", "id, question", "contexts"]),
    ("prompt variables", prompting(), rows(), {}, ["prompt.questions", "only a mapping feeds"]),
    ("map to a template", prompting(), rows(), {"prompt.template": "question"}, ["prompt template", "YAML"]),
    ("map to no component", pipeline_of(m=Recorder()), rows(), {"x.extra": "question"}, ["'x'", "it has m"]),
    ("map to no socket", pipeline_of(m=Recorder()), rows(), {"m.x": "question"}, ["'x'", "questions, contexts, extra"]),
    ("map of no column", pipeline_of(m=Recorder()), rows(), {"m.extra": "x"}, ["'x'", "id, question"]),
    ("map of holes", pipeline_of(m=Recorder()), rows(extra=[1, None, 3]), {"m.extra": "extra"}, ["1 of 3 rows (r1)"]),
    ("map to one text", pipeline_of(r=retriever(), m=Recorder()), rows(), {"r.query": "question"},
     ["one text", "batch sockets"]),
    ("map to a connected socket", searching(), rows(relevant_documents=labels(1, 1, 1)),
     {"mrr.retrieved_documents": "documents"}, ["connected to search"]),
    ("all unanswerable", pipeline_of(m=Labelled()),
     rows(2, relevant_documents=labels(1, 1), answerable=[False, False]), {}, ["answerable", "m"]),
    ("a component fails", pipeline_of(m=Labelled(fault="broken")), rows(relevant_documents=labels(1, 1, 1)),
     {}, ["m (Labelled): KeyError: 'broken'. Raised at "]),
    ("scores are texts", pipeline_of(m=Labelled(texts=True)), rows(relevant_documents=labels(1, 1, 1)),
     {}, ["m must return", "list of numbers"]),
    ("too few scores", pipeline_of(m=Labelled(short=True)), rows(relevant_documents=labels(1, 1, 1)),
     {}, ["2 individual scores for 3 rows"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("pipeline", "data", "mapping", "parts"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_what_cannot_be_run_is_refused(
    pipeline: Pipeline, data: Dataset, mapping: dict[str, str], parts: list[str]
) -> None:
    with pytest.raises(EvaluationError) as caught:
        evaluate_pipeline(pipeline, data, mapping)
    message = str(caught.value)
    assert all(part in message for part in parts), message
    assert "question 0" not in message
    assert "--" not in message  # the options are the command line's


def test_a_failing_component_of_a_connected_pipeline_is_named() -> None:
    pipeline = pipeline_of(copy=Copy(), answers=Recorder(), m=Labelled(fault="broken"))
    pipeline.connect("copy.questions", "answers.questions")
    with texts_wanted(False), pytest.raises(WithheldFaultError, match=r"^m: KeyError\. Raised at [\w:]+\.$"):
        evaluate_pipeline(pipeline, rows(relevant_documents=labels(1, 1, 1)))


def test_row_numbers_in_errors_are_explained_when_rows_were_left_out() -> None:
    data = rows(
        2, documents=[[], [Document(id="a")]], relevant_documents=labels(None, math.inf), answerable=[False, True]
    )
    with pytest.raises(EvaluationError, match="leave out the unanswerable rows"):
        evaluate_pipeline(pipeline_of(mrr=DocumentMRREvaluator("id")), data)


MRR = "haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator"
YAML_FAULTS = [
    ("components: {a: {type: os.path.Thing}}", ["'os.path'", "HAYSTACK_DESERIALIZATION_ALLOWLIST=os.path"]),
    ("components: {a: {type: haystack.components.NoSuch}}", ["'haystack.components.NoSuch'", "spelling"]),
    (
        "components: {a: {type: haystack_eval_ext.DocumentMRREvaluator}}",
        ["haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator"],
    ),
    ("components: {a: {}}", ["Missing 'type'"]),
    ("components: [a]", ["not a pipeline", "'components'"]),
    ("hello", ["not a pipeline"]),
    ("# nothing", ["not a pipeline"]),
    ("a: [", ["not valid YAML"]),
    ("a: !!python/object:os.system {}", ["not valid YAML"]),
    (
        f"components: {{m: {{type: {MRR}, init_parameters: {{top_k: 0}}}}}}",
        ["'m'", "top_k must be"],
    ),
    (
        f"components: {{m: {{type: {MRR}, init_parameters: {{}}}}}}\nconnections: [{{sender: x.y, receiver: m.z}}]",
        ["x"],
    ),
]


@pytest.mark.parametrize(("text", "parts"), YAML_FAULTS)
def test_yaml_that_is_no_pipeline_is_refused(text: str, parts: list[str]) -> None:
    with pytest.raises(PipelineFileError) as caught:
        load_pipeline(text, "my.yaml")
    message = str(caught.value)
    assert message.startswith("my.yaml: ")
    assert all(part in message for part in parts), message


def test_strict_json_has_null_for_nan_and_refuses_infinity(tmp_path: Path) -> None:
    assert strict_json({"a": [math.nan, 1.5, (True, None)], 3: "é"}) == (
        '{\n  "a": [\n    null,\n    1.5,\n    [\n      true,\n      null\n    ]\n  ],\n  "3": "é"\n}\n'
    )
    assert strict_json("\ud800") == '"\\ud800"\n'
    file = tmp_path / "x.json"
    write_strict_json(file, {"score": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_strict_json(file, {"score": math.inf})
    assert file.read_text(encoding="utf-8") == '{\n  "score": 1\n}\n'
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.json"
    file.write_text("before", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_strict_json(file, {"score": 1})
    assert [found.read_text(encoding="utf-8") for found in tmp_path.iterdir()] == ["before"]
