# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Edges of the retrieval evaluators that a review found, each with what is right."""

import itertools
import random
from decimal import Decimal
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext import (
    DocumentMAPEvaluator,
    DocumentNDCGEvaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
)
from haystack_eval_ext.retrieval._base import evaluate_keys


def chunk(start: int, length: int, source: str = "page") -> Document:
    return Document(content="x" * length, meta={"source_id": source, "split_idx_start": start})


def span(start: int, end: int, source: str = "page") -> Document:
    return Document(content="", meta={"source_id": source, "start": start, "end": end})


def run(measures: list[str], truth: list[Document], ranking: list[Document], **parameters: Any) -> dict[str, Any]:
    evaluator = DocumentRankingEvaluator(measures, **parameters)
    result: dict[str, Any] = evaluator.run(ground_truth_documents=[truth], retrieved_documents=[ranking])
    return result


def test_documents_judged_not_relevant_are_not_missed_by_the_search() -> None:
    truth = [Document(id="a", score=1), Document(id="b", score=2), Document(id="n", score=0)]
    found = {
        threshold: run(
            ["R"],
            truth,
            [Document(id="x")],
            document_comparison_field="id",
            find_never_retrieved=True,
            relevance_threshold=threshold,
        )["never_retrieved"]
        for threshold in (None, 2)
    }
    assert found == {None: ["a", "b"], 2: ["b"]}


def test_what_was_never_retrieved_is_listed_as_it_stands_in_the_document() -> None:
    labels = [Document(content="a", meta={"file": ["f.pdf", {"part": 1}], "page": 2})]
    fields = ["meta.file", "meta.page"]
    ranking = [Document(content="x", meta={"file": ["g.pdf"], "page": 1})]
    result = run(["R"], labels, ranking, document_comparison_field=fields, find_never_retrieved=True)
    assert result["never_retrieved"] == [[["f.pdf", {"part": 1}], 2]]


def test_without_the_search_nothing_is_claimed() -> None:
    assert run(["R"], [Document(id="a")], [Document(id="x")], document_comparison_field="id")["never_retrieved"] is None


def test_only_chunks_at_the_same_place_are_copies_of_a_span() -> None:
    chunks = [chunk(0, 5), chunk(0, 5), chunk(5, 5)]
    settings = {"document_comparison_field": "meta.source_id", "matching": "span"}
    assert run(["R@2"], [span(0, 10)], chunks, **settings)["score"] == 0.5
    assert run(["R@2"], [span(0, 10)], chunks, duplicates="drop", **settings)["score"] == 1.0


def test_spans_covered_in_pieces_count_exactly_one() -> None:
    rng = random.Random(5)
    for _ in range(200):
        bounds = sorted({0, 52, *(rng.randrange(52) for _ in range(6))})
        chunks = [chunk(a, b - a) for a, b in itertools.pairwise(bounds)]
        rng.shuffle(chunks)
        result = run(["R", "SetR"], [span(0, 52)], chunks, document_comparison_field="meta.source_id", matching="span")
        assert result["scores"] == {"R": 1.0, "SetR": 1.0}


@pytest.mark.parametrize("label", ["   ", "!?", "\u3000。"])
def test_a_label_without_words_matches_nothing(label: str) -> None:
    truth = [Document(content=label), Document(content="Paris")]
    assert run(["R", "P"], truth, [Document(content="some text")], matching="overlap")["scores"] == {"R": 0.0, "P": 0.0}


@pytest.mark.parametrize(
    ("label", "text", "found"),
    [
        ("9th century", "the 19th centuryish", 0.0),
        ("9th century", "in the 9th  Century, they", 1.0),
        ("art", "a party", 0.0),
        ("京都", "私は東京都に住む", 1.0),
    ],
)
def test_words_are_contained_whole_and_characters_of_unspaced_scripts_anywhere(
    label: str, text: str, found: float
) -> None:
    ranking = [Document(content=text)]
    assert run(["R"], [Document(content=label)], ranking, matching="overlap", overlap_threshold=1.0)["score"] == found


@pytest.mark.parametrize("grade", [10**400, 1e101, -(10**400), float("inf")])
def test_grades_beyond_all_measure_are_named(grade: float) -> None:
    truth = [Document(id="a", score=1), Document(id="b", score=grade)]
    with pytest.raises(ValueError, match=r"ground_truth_documents\[0\]\[1\].*at most 1e\+100"):
        DocumentMAPEvaluator("id").run(ground_truth_documents=[truth], retrieved_documents=[[Document(id="a")]])


def test_grades_of_other_number_types_count_with_and_without_repeated_labels() -> None:
    truth: list[Any] = [Document(id="a", score=Decimal(2)), Document(id="b", score=True)]  # type: ignore[arg-type]
    for labels in (truth, [*truth, truth[0]]):
        assert run(["nDCG"], labels, truth, document_comparison_field="id")["score"] == 1.0


def test_an_exponential_gain_too_large_is_refused_and_not_undefined() -> None:
    with pytest.raises(
        ValueError, match=r"exponential gain of nDCG allows grades up to 1000, but row 0 has the grade 1100"
    ):
        run(
            ["nDCG(dcg='exp-log2')"], [Document(id="a", score=1100)], [Document(id="a")], document_comparison_field="id"
        )


def test_a_trec_query_is_named_by_its_id() -> None:
    with pytest.raises(ValueError, match=r"ERR\(max_grade=1\) allows grades up to 1, but query q7 has the grade 2"):
        evaluate_keys(["ERR"], [["a"], ["a"]], [{"a": 1}, {"a": 2}], ids=["q3", "q7"])


def test_bad_elements_behind_the_cut_are_not_read() -> None:
    ranking: list[Any] = [Document(id="a"), "no document"]
    result = DocumentRecallEvaluator("multi_hit", "id", top_k=1).run([[Document(id="a")]], [ranking])
    assert result["score"] == 1.0


@pytest.mark.parametrize("top_k", [1, 2, 3, None])
@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_a_document_with_several_labels_never_scores_above_the_ideal(top_k: int | None, gain: Any) -> None:
    labels = [Document(content=text) for text in ("red", "car", "blue")]
    ranking = [Document(content="red car"), Document(content="blue")]
    evaluator = DocumentNDCGEvaluator(matching="overlap", top_k=top_k, gain=gain)
    assert evaluator.run([labels], [ranking])["score"] == 1.0


def test_a_grade_field_that_no_label_has_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    labels = [Document(id="a", meta={"grade": 5})]
    DocumentNDCGEvaluator("id", grade_field="meta.grade").run([labels], [labels])
    assert not caplog.messages
    DocumentNDCGEvaluator("id", grade_field="meta.grdae").run([labels], [labels])
    assert "No label in ground_truth_documents has the field 'meta.grdae'" in caplog.text


def test_what_is_set_on_a_component_later_counts_and_is_serialized() -> None:
    evaluator = DocumentMAPEvaluator("id")
    evaluator.top_k = 1
    rows = ([[Document(id="a")]], [[Document(id="b"), Document(id="a")]])
    assert evaluator.run(*rows)["score"] == 0.0
    assert evaluator.to_dict()["init_parameters"]["top_k"] == 1
    measures = ["RR"]
    ranking = DocumentRankingEvaluator(measures, "id")
    measures.append("AP")
    saved = ranking.to_dict()["init_parameters"]["measures"]
    assert list(ranking.run(*rows)["scores"]) == saved == ["RR", "AP"]
    assert saved is not measures
