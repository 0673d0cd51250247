# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every shipped pipeline loads from its YAML and runs."""

from typing import Any

import pytest
from haystack import Document, Pipeline

from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext.runs import api

CORPUS = [
    Document(id="lunch", content="The canteen serves lunch from noon until two."),
    Document(id="leave", content="Annual leave is 25 days; ask two weeks ahead."),
    Document(id="leave-2", content="Leave that is left over expires in March."),
    Document(id="kyuka", content="有給休暇は二週間前までに申請してください。"),
    Document(id="shokudo", content="食堂は正午に開きます。"),
    Document(id="e2", content="経費は書式E2で申請します。"),
]


def load(name: str) -> Pipeline:
    return Pipeline.loads(pipeline_path(name).read_text(encoding="utf-8"))


def bm25_pipeline() -> Pipeline:
    pipeline = load("bm25_retrieval")
    pipeline.get_component("retriever").document_store.write_documents(CORPUS)  # type: ignore[attr-defined]
    return pipeline


def ask(pipeline: Pipeline, question: str, labels: list[Document]) -> dict[str, Any]:
    evaluators = [name for name in pipeline.graph.nodes if name != "retriever"]
    data: dict[str, Any] = {name: {"ground_truth_documents": labels} for name in evaluators}
    return pipeline.run(data | {"retriever": {"query": question}}, include_outputs_from={"retriever"})


def test_these_pipelines_ship() -> None:
    assert pipeline_names() == [
        "answers",
        "bm25_retrieval",
        "rag_answers",
        "rag_diagnosis",
        "rag_diagnosis_judged",
        "rag_quality",
        "rag_quality_with_reference",
        "retrieval",
    ]


@pytest.mark.parametrize("name", pipeline_names())
def test_a_shipped_pipeline_survives_a_round_trip(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    pipeline = load(name)
    first = pipeline.to_dict()
    again = Pipeline.loads(pipeline.dumps()).to_dict()
    for found in (first, again):
        found["connections"].sort(key=str)  # their order is not kept
    assert again == first


def test_retrieval_gives_the_values_of_its_measures() -> None:
    # Ranking b a c; a has grade 2, d grade 1 and is not found; c is judged not relevant.
    row = {
        "id": "q",
        "documents": [Document(id=key) for key in "bac"],
        "relevant_documents": [Document(id="a", score=2), Document(id="d", score=1), Document(id="c", score=0)],
    }
    found = api.evaluate("retrieval", [row]).scores
    ndcg = (2 / 1.584962500721156) / (2 + 1 / 1.584962500721156)
    assert found == pytest.approx(
        {
            "recall_single_hit": 1.0,
            "recall_multi_hit": 1 / 2,
            "mrr": 1 / 2,
            "map": (1 / 2) / 2,
            "ndcg": ndcg,
            "ranking.nDCG@3": ndcg,
            "ranking.nDCG@10": ndcg,
            "ranking.R@3": 1 / 2,
            "ranking.R@10": 1 / 2,
            "ranking.P@3": 1 / 3,
            "ranking.Success@1": 0.0,
            "ranking.Success@3": 1.0,
            "ranking.RR@10": 1 / 2,
            "ranking.Judged@10": 2 / 3,
        },
        abs=1e-12,
    )


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When does the canteen serve lunch?", "lunch"),
        ("How many days of annual leave?", "leave"),
        ("有給休暇の申請", "kyuka"),
        ("食堂", "shokudo"),
        ("書式E2", "e2"),
    ],
)
def test_bm25_retrieval_finds_words_and_japanese(question: str, first: str) -> None:
    result = ask(bm25_pipeline(), question, [Document(id=first, content="")])
    assert result["retriever"]["documents"][0].id == first
    assert result["mrr"]["score"] == result["ndcg"]["score"] == result["ranking"]["scores"]["Success@1"] == 1.0


def test_bm25_retrieval_scores_what_was_found_and_what_was_not() -> None:
    result = ask(bm25_pipeline(), "annual leave", [Document(id="leave"), Document(id="shokudo")])
    ranked = [document.id for document in result["retriever"]["documents"]]
    assert ranked[:2] == ["leave", "leave-2"]
    assert result["mrr"]["individual_scores"] == [1.0]
    expected = 1 / 2 if "shokudo" not in ranked else 1.0
    assert result["ranking"]["scores"]["R@10"] == expected


def test_bm25_retrieval_runs_again_and_shares_no_store() -> None:
    filled, empty = bm25_pipeline(), load("bm25_retrieval")
    first = ask(filled, "lunch", [Document(id="lunch")])
    assert ask(filled, "lunch", [Document(id="lunch")])["ranking"] == first["ranking"]
    assert ask(empty, "lunch", [Document(id="lunch")])["mrr"]["score"] == 0.0
