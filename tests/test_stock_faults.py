# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of Haystack's own retrieval evaluators (3.4.1) that ours do not have; each test holds the right behaviour."""

import json
import logging
import math
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from haystack import Document
from haystack.dataclasses import ByteStream

from haystack_eval_ext import (
    DocumentHitRateEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentPrecisionEvaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
)

# The five numbers that Haystack has for a ranking.
FIVE: dict[str, Callable[..., Any]] = {
    "single_hit": lambda **parameters: DocumentRecallEvaluator("single_hit", **parameters),
    "multi_hit": lambda **parameters: DocumentRecallEvaluator("multi_hit", **parameters),
    "mrr": DocumentMRREvaluator,
    "map": DocumentMAPEvaluator,
    "ndcg": DocumentNDCGEvaluator,
}


def doc(content: str | None = None, score: float | None = None, **meta: Any) -> Document:
    return Document(content=content, score=score, meta=meta)


def five(truth: list[Document], retrieved: list[Document], **parameters: Any) -> dict[str, float]:
    """All five scores of one question."""
    return {
        name: make(**parameters).run(ground_truth_documents=[truth], retrieved_documents=[retrieved])["score"]
        for name, make in FIVE.items()
    }


def all_five(value: float) -> dict[str, float]:
    return dict.fromkeys(FIVE, value)


@pytest.mark.parametrize(
    ("truth", "retrieved"),
    [([doc("a", 3.0), doc("b", -1.0)], [doc("a")]), ([doc("a"), doc("b", -2.0)], [doc("a"), doc("b")])],
    ids=["spam not retrieved", "spam last"],
)
def test_20_negative_judgments_are_not_relevant(truth: list[Document], retrieved: list[Document]) -> None:
    assert five(truth, retrieved) == all_five(1.0)


def test_20_negative_judgment_ranked_first() -> None:
    scores = five([doc("a", -1.0), doc("b", 1.0)], [doc("a"), doc("b")])
    assert scores == pytest.approx({"single_hit": 1, "multi_hit": 1, "mrr": 0.5, "map": 0.5, "ndcg": 1 / math.log2(3)})


@pytest.mark.parametrize("grade", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
def test_20_grades_that_are_not_finite_are_refused(make: Callable[..., Any], grade: float) -> None:
    rows = {"ground_truth_documents": [[doc("x"), doc("a", grade)]], "retrieved_documents": [[doc("a")]]}
    with pytest.raises(ValueError, match=r"ground_truth_documents\[0\]\[1\].*finite"):
        make().run(**rows)


def test_21_composite_key_of_file_and_page() -> None:
    truth = [doc("x", file="a.pdf", page=2)]
    wrong, right = doc("y", file="a.pdf", page=3), doc("y", file="a.pdf", page=2)
    key = {"document_comparison_field": ["meta.file", "meta.page"]}
    assert five(truth, [right], **key) == all_five(1.0)
    assert five(truth, [wrong], **key) == all_five(0.0)


@pytest.mark.parametrize(
    ("label", "chunk"),
    [
        ("Paris is the capital", "Yes. Paris is the capital of France."),
        ("Paris", "Paris "),
        ("Paris is the capital of France", "the capital of France"),  # 4 of 6 words
        ("東京は日本の首都", "はい、東京は日本の首都です。"),
    ],
    ids=["contained", "white space", "cut", "Japanese"],
)
def test_21_moved_chunks_match_by_overlap(label: str, chunk: str) -> None:
    covered = {"multi_hit": 4 / 6} if chunk.startswith("the capital") else {}
    assert five([doc(label)], [doc(chunk)], matching="overlap") == all_five(1.0) | covered
    assert five([doc(label)], [doc(chunk)], matching="overlap_by_chunk") == all_five(1.0)
    assert five([doc(label)], [doc(chunk)]) == all_five(0.0)


def test_21_moved_chunks_match_by_span() -> None:
    label = doc("label", source_id="s", start=10, end=20)
    chunks = [Document(content="c" * 15, meta={"source_id": "s", "split_idx_start": start}) for start in (0, 15)]
    for make in (FIVE["single_hit"], FIVE["multi_hit"], FIVE["mrr"]):
        evaluator = make(matching="span", document_comparison_field="meta.source_id")
        assert evaluator.run(ground_truth_documents=[[label]], retrieved_documents=[chunks])["score"] == 1.0


def test_22_cutoffs_and_the_measures_that_were_missing() -> None:
    truth = [doc(str(number)) for number in range(100)]
    rows = {"ground_truth_documents": [truth], "retrieved_documents": [truth[:10]]}
    measures = ["nDCG@10", "R@10", "R@5", "R_cap@10", "AP@10", "P@10", "P@20", "Success@1", "F1@10"]
    came = DocumentRankingEvaluator(measures).run(**rows)["scores"]
    # F1@10: P 1, R 1/10: 2/10 / 11/10
    assert came == pytest.approx(dict(zip(measures, [1, 0.1, 0.05, 1, 0.1, 1, 0.5, 1, 2 / 11], strict=True)))
    assert DocumentNDCGEvaluator(top_k=10).run(**rows)["score"] == 1.0
    assert DocumentRecallEvaluator("multi_hit", top_k=5).run(**rows)["score"] == pytest.approx(0.05)
    assert DocumentPrecisionEvaluator(top_k=20).run(**rows)["score"] == pytest.approx(0.5)
    assert DocumentHitRateEvaluator(top_k=1).run(**rows)["score"] == 1.0


@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
def test_24_question_without_labels_is_told_apart(make: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    rows = {"ground_truth_documents": [[], [doc("a")]], "retrieved_documents": [[doc("x")], [doc("a")]]}
    with caplog.at_level(logging.WARNING, logger="haystack_eval_ext"):
        zero = make().run(**rows)
    assert (zero["score"], zero["individual_scores"], zero["statuses"]) == (0.5, [0.0, 1.0], ["undefined", "scored"])
    assert len(caplog.records) == 1
    assert "1 of 2 rows" in caplog.text
    nan = make(on_undefined="nan").run(**rows)
    assert nan["score"] == 1.0
    assert math.isnan(nan["individual_scores"][0])
    with pytest.raises(ValueError, match=r"1 of 2 rows are undefined.*row 0"):
        make(on_undefined="raise").run(**rows)


def test_24_documents_without_content_are_a_fault_of_configuration() -> None:
    image = Document(blob=ByteStream(b"img"))
    for make in FIVE.values():
        with pytest.raises(ValueError, match="'content'"):
            make().run(ground_truth_documents=[[image]], retrieved_documents=[[image]])
    assert five([image], [image], document_comparison_field="id") == all_five(1.0)


def test_25_an_empty_text_matches_nothing_in_any_evaluator() -> None:
    assert five([doc(""), doc("a")], [doc(""), doc("b")]) == all_five(0.0)
    for make in FIVE.values():
        with pytest.raises(ValueError, match="None of the 1 documents"):
            make().run(ground_truth_documents=[[doc("")]], retrieved_documents=[[doc("")]])


@pytest.mark.parametrize(
    "value",
    [["x", "y"], {"f": 1}, [{"f": [1, 2]}], {"x"}, ("x", 1), [["x"], []]],
    ids=lambda value: type(value).__name__,
)
def test_26_lists_and_dicts_in_meta_are_keys(value: Any) -> None:
    assert five([doc("a", key=value)], [doc("b", key=value)], document_comparison_field="meta.key") == all_five(1.0)
    assert five([doc("a", key=value)], [doc("b", key=["z"])], document_comparison_field="meta.key") == all_five(0.0)


@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
def test_27_a_misspelt_field_is_an_error(make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="'contents'"):
        make(document_comparison_field="contents")
    rows = {"ground_truth_documents": [[doc("a", file_id=1)]], "retrieved_documents": [[doc("a", file_id=1)]]}
    with pytest.raises(ValueError, match=r"meta\.file_ID"):
        make(document_comparison_field="meta.file_ID").run(**rows)


def test_27_a_key_with_dots_is_literal() -> None:
    truth, retrieved = [Document(content="a", meta={"file.id": 7})], [Document(content="b", meta={"file.id": 7})]
    assert five(truth, retrieved, document_comparison_field="meta.file.id") == all_five(1.0)


def test_30_documents_judged_0_are_not_relevant(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="haystack_eval_ext"):
        assert five([doc("a", 0.0), doc("b", 1.0)], [doc("a")]) == all_five(0.0)
    assert "grade_field=None" in caplog.text
    assert five([doc("a", 0.0), doc("b", 1.0)], [doc("a"), doc("b")], grade_field=None)["map"] == 1.0


@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
def test_47_a_wrong_row_is_named(make: Callable[..., Any]) -> None:
    evaluator = make()
    two: list[Any] = [[doc("a")], [doc("a")]]
    with pytest.raises(TypeError, match=r"retrieved_documents\[1\].*None"):
        evaluator.run(two, [[doc("a")], None])
    # One list of Documents is one question, as a retriever delivers it.
    assert evaluator.run([[doc("a")]], [doc("a")])["individual_scores"] == [1.0]
    with pytest.raises(ValueError, match=r"same number of rows"):
        evaluator.run(two, [doc("a"), doc("a")])


def test_49_one_rule_for_copies() -> None:
    truth, retrieved = [doc("a"), doc("b")], [doc("a"), doc("a"), doc("a"), doc("b")]
    kept = {"single_hit": 1, "multi_hit": 1, "mrr": 1, "map": 0.75}  # (1/1 + 2/4) / 2
    assert five(truth, retrieved) == pytest.approx({**kept, "ndcg": (1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3))})
    assert five(truth, retrieved, duplicates="drop") == all_five(1.0)
    each = DocumentPrecisionEvaluator(duplicates="each").run([truth], [retrieved])
    assert (each["score"], DocumentPrecisionEvaluator().run([truth], [retrieved])["score"]) == (1.0, 0.5)


@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
@pytest.mark.parametrize("policy", ["zero", "nan"])
def test_50_plain_floats(make: Callable[..., Any], policy: str) -> None:
    outputs = make(on_undefined=policy).run([[doc("a", 0.0)], [doc("a")]], [[doc("a")], [doc("a")]])
    assert type(outputs["score"]) is float
    assert [type(score) for score in outputs["individual_scores"]] == [float, float]
    assert yaml.safe_load(yaml.safe_dump(outputs))["statuses"] == ["undefined", "scored"]
    assert json.loads(json.dumps(outputs))["individual_scores"][1] == 1.0
