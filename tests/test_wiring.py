# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluators wired into real pipelines of Haystack's own components; golden values carry their arithmetic."""

import asyncio
import math
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.core.errors import PipelineConnectError
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import (
    DocumentEvidenceEvaluator,
    DocumentHitRateEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentPrecisionEvaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
)
from test_bad_input import COMPONENTS, document_sockets

LOG2_3 = math.log2(3)
TRUTH = [Document(id="d", content="boats"), Document(id="b", content="apples")]
MEASURES = ["RR", "P@2", "R@2", "nDCG", "AP"]


@pytest.fixture
def store() -> InMemoryDocumentStore:
    """'apples' finds b, a; 'river' finds c, d; 'zebra' finds nothing."""
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(
                id="a", content="apples and pears grow in the orchard", meta={"rating": 1, "source": {"file": "1"}}
            ),
            Document(id="b", content="apples are red", meta={"rating": 3, "source": {"file": "2"}}),
            Document(id="c", content="bridges cross the river", meta={"rating": 2, "source": {"file": "3"}}),
            Document(id="d", content="boats cross the river slowly", meta={"rating": 4, "source": {"file": "4"}}),
        ]
    )
    return store


def retriever(store: InMemoryDocumentStore) -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(store, top_k=2)


def evaluated(store: InMemoryDocumentStore, evaluator: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever(store))
    pipeline.add_component("evaluator", evaluator)
    pipeline.connect("retriever.documents", "evaluator.retrieved_documents")
    return pipeline


def data(query: str, truth: Any) -> dict[str, Any]:
    return {"retriever": {"query": query}, "evaluator": {"ground_truth_documents": truth}}


def ids(documents: list[Document]) -> list[str]:
    return [document.id for document in documents]


def test_retriever_to_evaluator(store: InMemoryDocumentStore) -> None:
    pipeline = evaluated(store, DocumentRankingEvaluator(MEASURES, "id"))
    result = pipeline.run(data("river", [TRUTH]), include_outputs_from={"retriever"})
    assert ids(result["retriever"]["documents"]) == ["c", "d"]
    # c is not relevant, d is, b is relevant and missing: one hit at rank 2 of 2 relevant documents.
    expected = {"RR": 1 / 2, "P@2": 1 / 2, "R@2": 1 / 2, "nDCG": (1 / LOG2_3) / (1 + 1 / LOG2_3), "AP": (1 / 2) / 2}
    assert result["evaluator"]["scores"] == pytest.approx(expected, abs=1e-12)
    assert result["evaluator"]["individual_scores"] == [result["evaluator"]["score"]] == [0.5]
    assert result["evaluator"]["statuses"] == ["scored"]


@pytest.mark.parametrize(
    ("ranker", "order", "reciprocal_rank"),
    [
        # By rating: d 4, b 3, c 2, a 1. The first relevant one, b, has rank 2.
        pytest.param(MetaFieldRanker("rating", weight=1.0), ["d", "b", "c", "a"], 1 / 2, id="MetaFieldRanker"),
        # Joined: b, a, c, d. The best go to both ends, the worst to the middle: b, c, d, a.
        pytest.param(LostInTheMiddleRanker(), ["b", "c", "d", "a"], 1.0, id="LostInTheMiddleRanker"),
    ],
)
def test_retrievers_to_joiner_to_ranker_to_evaluator(
    store: InMemoryDocumentStore, ranker: Any, order: list[str], reciprocal_rank: float
) -> None:
    pipeline = Pipeline()
    pipeline.add_component("fruit", retriever(store))
    pipeline.add_component("water", retriever(store))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="concatenate", sort_by_score=False))
    pipeline.add_component("ranker", ranker)
    pipeline.add_component("evaluator", DocumentRankingEvaluator(["RR", "nDCG"], "id"))
    pipeline.connect("fruit.documents", "joiner.documents")
    pipeline.connect("water.documents", "joiner.documents")
    pipeline.connect("joiner.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "evaluator.retrieved_documents")
    truth = [Document(id="b", content="b", score=2), Document(id="a", content="a", score=1)]
    result = pipeline.run(
        {"fruit": {"query": "apples"}, "water": {"query": "river"}, "evaluator": {"ground_truth_documents": truth}},
        include_outputs_from={"ranker"},
    )
    assert ids(result["ranker"]["documents"]) == order
    # The gain of b is 2, that of a is 1, the discount of rank r is log2(r + 1); ideal: b, a.
    gains = {"b": 2.0, "a": 1.0}
    dcg = sum(gains.get(name, 0.0) / math.log2(rank + 1) for rank, name in enumerate(order, start=1))
    expected = {"RR": reciprocal_rank, "nDCG": dcg / (2 + 1 / LOG2_3)}
    assert result["evaluator"]["scores"] == pytest.approx(expected, abs=1e-12)


def test_every_evaluator_on_one_retriever(store: InMemoryDocumentStore) -> None:
    # Ranking c, d; relevant d, b: one hit at rank 2.
    expected: dict[str, tuple[Any, float]] = {
        "recall": (DocumentRecallEvaluator(document_comparison_field="id"), 1.0),
        "multi_recall": (DocumentRecallEvaluator("multi_hit", "id"), 1 / 2),
        "mrr": (DocumentMRREvaluator("id"), 1 / 2),
        "map": (DocumentMAPEvaluator("id"), (1 / 2) / 2),
        "ndcg": (DocumentNDCGEvaluator("id"), (1 / LOG2_3) / (1 + 1 / LOG2_3)),
        "precision": (DocumentPrecisionEvaluator("id"), 1 / 2),
        "precision_at_1": (DocumentPrecisionEvaluator("id", top_k=1), 0.0),
        "evidence": (DocumentEvidenceEvaluator("id"), 1 / 2),
        "hit_rate": (DocumentHitRateEvaluator("id"), 1.0),
        "ranking": (DocumentRankingEvaluator(["R"], "id"), 1 / 2),
    }
    classes = {type(evaluator).__name__ for evaluator, _ in expected.values()}
    assert classes == {component.__name__ for component in COMPONENTS if document_sockets(component)}
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever(store))
    for name, (evaluator, _) in expected.items():
        pipeline.add_component(name, evaluator)
        pipeline.connect("retriever.documents", f"{name}.retrieved_documents")
    # A flat dict fans out by socket name to every component that has the socket.
    result = pipeline.run({"query": "river", "ground_truth_documents": [TRUTH]})
    assert set(result) == set(expected)
    for name, (_, score) in expected.items():
        assert result[name]["score"] == pytest.approx(score, abs=1e-12), name
        assert result[name]["individual_scores"] == [result[name]["score"]], name
        assert result[name]["statuses"] == ["scored"], name
        assert type(result[name]["score"]) is float, name


@pytest.mark.parametrize(
    "truth",
    [
        pytest.param([TRUTH], id="batch"),
        pytest.param(TRUTH, id="flat"),
        pytest.param([[document.to_dict(flatten=False) for document in TRUTH]], id="batch of nested JSON"),
        pytest.param([[document.to_dict(flatten=True) for document in TRUTH]], id="batch of flat JSON"),
        pytest.param([document.to_dict(flatten=False) for document in TRUTH], id="nested JSON"),
        pytest.param([document.to_dict(flatten=True) for document in TRUTH], id="flat JSON"),
        pytest.param([{"id": "d"}, {"id": "b"}], id="JSON with ids alone"),
    ],
)
def test_every_form_of_the_ground_truth(store: InMemoryDocumentStore, truth: Any) -> None:
    result = evaluated(store, DocumentMAPEvaluator("id")).run(data("river", truth))
    found = result["evaluator"]
    assert (found["score"], found["individual_scores"], found["statuses"]) == (0.25, [0.25], ["scored"])


@pytest.mark.parametrize("flatten", [True, False], ids=["flat", "nested"])
def test_json_keeps_grades_and_nested_metadata(store: InMemoryDocumentStore, flatten: bool) -> None:
    labels = [
        Document(content="x", meta={"source": {"file": name}}, score=grade) for name, grade in (("4", 1), ("3", 3))
    ]
    truth = [label.to_dict(flatten=flatten) for label in labels]
    result = evaluated(store, DocumentNDCGEvaluator("meta.source.file")).run(data("river", truth))
    # The ranking is file 3 (grade 3), file 4 (grade 1): ideal. Without the grades it would be ideal too, so reverse it.
    assert result["evaluator"]["score"] == pytest.approx(1.0, abs=1e-12)
    reverse = [{**label, "score": 4 - label["score"]} for label in truth]
    result = evaluated(store, DocumentNDCGEvaluator("meta.source.file")).run(data("river", reverse))
    assert result["evaluator"]["score"] == pytest.approx((1 + 3 / LOG2_3) / (3 + 1 / LOG2_3), abs=1e-12)


@pytest.mark.parametrize("truth", [[TRUTH], TRUTH], ids=["batch", "flat"])
def test_retriever_that_finds_nothing(store: InMemoryDocumentStore, truth: Any) -> None:
    pipeline = evaluated(store, DocumentRankingEvaluator(MEASURES, "id"))
    result = pipeline.run(data("zebra", truth), include_outputs_from={"retriever"})
    assert result["retriever"]["documents"] == []
    assert result["evaluator"]["scores"] == dict.fromkeys(MEASURES, 0.0)
    assert result["evaluator"]["individual_scores"] == [0.0]


def test_two_senders_arrive_as_one_ranking(store: InMemoryDocumentStore) -> None:
    pipeline = Pipeline()
    pipeline.add_component("fruit", retriever(store))
    pipeline.add_component("water", retriever(store))
    pipeline.add_component("evaluator", DocumentRankingEvaluator(["RR", "P", "Success@2"], "id"))
    pipeline.connect("fruit.documents", "evaluator.retrieved_documents")
    pipeline.connect("water.documents", "evaluator.retrieved_documents")
    truth = [Document(id="d", content="boats")]
    result = pipeline.run(
        {"fruit": {"query": "apples"}, "water": {"query": "river"}, "evaluator": {"ground_truth_documents": truth}}
    )
    # b, a from the first, then c, d from the second: d has rank 4.
    assert result["evaluator"]["scores"] == {"RR": 1 / 4, "P": 1 / 4, "Success@2": 0.0}
    assert len(result["evaluator"]["individual_scores"]) == 1


def test_run_async_equals_run_also_for_many_at_once(store: InMemoryDocumentStore) -> None:
    pipeline = evaluated(store, DocumentRankingEvaluator(MEASURES, "id"))
    queries = ["river", "apples", "zebra", "apples river"] * 4

    async def together() -> list[dict[str, Any]]:
        return await asyncio.gather(*(pipeline.run_async(data(query, [TRUTH])) for query in queries))

    one_by_one = [pipeline.run(data(query, [TRUTH])) for query in queries]
    assert asyncio.run(together()) == one_by_one
    assert len({result["evaluator"]["scores"]["RR"] for result in one_by_one}) > 1


def test_a_batch_outside_a_pipeline_equals_the_questions_one_by_one(store: InMemoryDocumentStore) -> None:
    queries = {"river": TRUTH, "apples": TRUTH[1:], "zebra": TRUTH[:1]}
    search = retriever(store)
    rankings = [search.run(query=query)["documents"] for query in queries]
    batch = DocumentRankingEvaluator(MEASURES, "id").run(list(queries.values()), rankings)
    pipeline = evaluated(store, DocumentRankingEvaluator(MEASURES, "id"))
    single = [pipeline.run(data(query, truth))["evaluator"]["scores"] for query, truth in queries.items()]
    for measure in MEASURES:
        assert batch["scores_by_row"][measure] == [scores[measure] for scores in single]
        assert batch["scores"][measure] == pytest.approx(math.fsum(batch["scores_by_row"][measure]) / 3, abs=1e-12)
    # river: d at 2; apples: b at 1; zebra: nothing.
    assert batch["scores_by_row"]["RR"] == [0.5, 1.0, 0.0]


@component
class _BatchRetriever:
    """Searches several questions at once, as a user's own retriever may."""

    def __init__(self, search: InMemoryBM25Retriever) -> None:
        self.search = search

    @component.output_types(documents=list[list[Document]])
    def run(self, questions: list[str]) -> dict[str, Any]:
        return {"documents": [self.search.run(query=question)["documents"] for question in questions]}


def test_a_sender_of_batches_connects(store: InMemoryDocumentStore) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", _BatchRetriever(retriever(store)))
    pipeline.add_component("evaluator", DocumentMRREvaluator("id"))
    pipeline.connect("retriever.documents", "evaluator.retrieved_documents")
    result = pipeline.run({"questions": ["river", "zebra", "apples"], "ground_truth_documents": [TRUTH] * 3})
    assert result["evaluator"]["individual_scores"] == [0.5, 0.0, 1.0]


def test_a_sender_of_something_else_is_refused() -> None:
    pipeline = Pipeline()
    pipeline.add_component("prompt", PromptBuilder("Hello"))
    pipeline.add_component("evaluator", DocumentMRREvaluator("id"))
    with pytest.raises(PipelineConnectError):
        pipeline.connect("prompt.prompt", "evaluator.retrieved_documents")


SOURCE = "one two three four five six seven eight nine ten"
PASSAGE = "four five six"


def splitting(evaluator: DocumentRankingEvaluator) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("splitter", DocumentSplitter(split_by="word", split_length=5, split_overlap=0))
    pipeline.add_component("evaluator", evaluator)
    pipeline.connect("splitter.documents", "evaluator.retrieved_documents")
    return pipeline


def test_chunks_of_the_splitter_match_spans() -> None:
    start = SOURCE.index(PASSAGE)
    place = {"source_id": "numbers", "start": start, "end": start + len(PASSAGE)}
    label = Document(content=PASSAGE, meta=place)
    pipeline = splitting(
        DocumentRankingEvaluator(["R@1", "R@2", "RR"], matching="span", document_comparison_field="meta.source_id")
    )
    source = Document(id="numbers", content=SOURCE)
    result = pipeline.run({"documents": [source], "ground_truth_documents": [label]}, include_outputs_from={"splitter"})
    chunks = [chunk.content for chunk in result["splitter"]["documents"]]
    assert chunks == ["one two three four five ", "six seven eight nine ten"]
    # "four five " is 10 of the 13 characters, "six" the other 3. RR counts a chunk that covers a part.
    scores = result["evaluator"]["scores"]
    assert scores["R@1"] == pytest.approx(10 / 13, abs=1e-12)
    assert scores["R@2"] == pytest.approx(1.0, abs=1e-12)
    assert scores["RR"] == 1.0
    other = Document(content=PASSAGE, meta={**place, "source_id": "another document"})
    missed = pipeline.run({"documents": [source], "ground_truth_documents": [other]})
    assert missed["evaluator"]["scores"] == {"R@1": 0.0, "R@2": 0.0, "RR": 0.0}


@pytest.mark.parametrize(("threshold", "first_rank"), [(0.5, 1), (0.6, 2)])
def test_chunks_of_the_splitter_match_by_overlap(threshold: float, first_rank: int) -> None:
    """Each of the two chunks covers half of the label."""
    pipeline = splitting(DocumentRankingEvaluator(["RR", "R"], matching="overlap", overlap_threshold=threshold))
    source = Document(id="numbers", content=SOURCE)
    result = pipeline.run({"documents": [source], "ground_truth_documents": [Document(content=SOURCE.upper())]})
    assert result["evaluator"]["scores"] == {"RR": 1 / first_rank, "R": 1.0}
    whole = pipeline.run({"documents": [source], "ground_truth_documents": [Document(content="Seven, eight!")]})
    assert whole["evaluator"]["scores"] == {"RR": 1 / 2, "R": 1.0}
