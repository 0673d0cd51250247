# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Measures against their formulas, ir_measures and scikit-learn; duplicates against values made by hand."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from functools import cache
from typing import Any

import ir_measures
import numpy as np
import pytest
from haystack import Document
from sklearn.metrics import ndcg_score

from haystack_eval_ext import DocumentNDCGEvaluator, DocumentRankingEvaluator
from retrieval_data import Judged, falling_scores, judged_queries, labelled_documents, ranked_documents

QUERIES = judged_queries(seed=7, number=500)
ANSWERED = [query for query in QUERIES if query.ranking]
GDEVAL_MAXIMUM = 4  # gdeval.pl knows one highest grade
FIVE_DECIMALS = 0.51e-5  # what gdeval prints

needs_perl = pytest.mark.skipif(
    shutil.which("perl") is None, reason="ir_measures runs gdeval.pl: perl is not installed"
)

Formula = Callable[[dict[str, int], list[str]], float]


@cache
def documents() -> tuple[list[list[Document]], list[list[Document]]]:
    return (
        [labelled_documents(query.labels) for query in QUERIES],
        [ranked_documents(query.ranking) for query in QUERIES],
    )


def ours(*measures: str, threshold: float | None = None) -> list[list[float]]:
    result = DocumentRankingEvaluator(list(measures), "id", relevance_threshold=threshold).run(*documents())
    return list(result["scores_by_row"].values())


def from_ir_measures(measures: list[str], queries: list[Judged]) -> list[list[float]]:
    parsed = [ir_measures.parse_measure(measure) for measure in measures]
    values = {
        (metric.measure, metric.query_id): float(metric.value)
        for metric in ir_measures.iter_calc(
            parsed,
            {query.query: query.labels for query in queries},
            {query.query: falling_scores(query.ranking) for query in queries},
        )
    }
    return [[values[measure, query.query] for query in queries] for measure in parsed]


def of_answered(column: list[float]) -> list[float]:
    return [value for value, query in zip(column, QUERIES, strict=True) if query.ranking]


def apart(
    got: list[float], wanted: list[float], tolerance: float, queries: list[Judged] = QUERIES
) -> list[tuple[str, float, float]]:
    """The queries at which two columns differ, with both values."""
    return [
        (query.query, one, other)
        for query, one, other in zip(queries, got, wanted, strict=True)
        if not abs(one - other) <= tolerance
    ]


# The formulas as their papers print them, a sum over ranks with nothing left out.


def err(max_grade: int, k: int | None) -> Formula:
    """Chapelle et al. 2009, equation 4 and algorithm 1."""

    def formula(labels: dict[str, int], ranking: list[str]) -> float:
        total, still_reading = 0.0, 1.0
        for rank, document in enumerate(ranking[:k], start=1):
            satisfied = (2 ** max(labels.get(document, 0), 0) - 1) / 2**max_grade
            total += still_reading * satisfied / rank
            still_reading *= 1 - satisfied
        return total

    return formula


def rbp(p: float, k: int | None, level: int = 1) -> Formula:
    """Moffat and Zobel 2008, equation 4."""

    def formula(labels: dict[str, int], ranking: list[str]) -> float:
        return (1 - p) * sum(
            p ** (rank - 1) for rank, document in enumerate(ranking[:k], start=1) if labels.get(document, 0) >= level
        )

    return formula


def exponential_ndcg(k: int | None) -> Formula:
    """Burges et al. 2005: gain 2^grade - 1, discount log2(1 + rank)."""

    def dcg(grades: list[int]) -> float:
        return sum((2.0**grade - 1) / math.log2(1 + rank) for rank, grade in enumerate(grades, start=1))

    def formula(labels: dict[str, int], ranking: list[str]) -> float:
        best = dcg(sorted((max(grade, 0) for grade in labels.values()), reverse=True)[:k])
        return dcg([max(labels.get(document, 0), 0) for document in ranking[:k]]) / best if best else 0.0

    return formula


def capped_recall(k: int, level: int = 1) -> Formula:
    """BEIR's R_cap: hits in the first k / min(R, k)."""

    def formula(labels: dict[str, int], ranking: list[str]) -> float:
        relevant = {document for document, grade in labels.items() if grade >= level}
        return len(relevant.intersection(ranking[:k])) / min(len(relevant), k) if relevant else 0.0

    return formula


def f1(k: int, level: int = 1) -> Formula:
    """Twice the hits / (k + R), the harmonic mean of P@k and R@k written as a count (Dice)."""

    def formula(labels: dict[str, int], ranking: list[str]) -> float:
        relevant = {document for document, grade in labels.items() if grade >= level}
        return 2 * len(relevant.intersection(ranking[:k])) / (k + len(relevant)) if relevant else 0.0

    return formula


FORMULAS: dict[str, tuple[Formula, float | None]] = {
    "ERR(max_grade=3)": (err(3, None), None),
    "ERR(max_grade=3)@5": (err(3, 5), None),
    "ERR(max_grade=4)@20": (err(4, 20), None),
    "RBP": (rbp(0.8, None), None),
    "RBP(p=0.5)": (rbp(0.5, None), None),
    "RBP(p=0.95)@10": (rbp(0.95, 10), None),
    "RBP(p=0.5,rel=2)@3": (rbp(0.5, 3, level=2), None),
    "RBP(p=0.9)": (rbp(0.9, None, level=3), 3),
    "nDCG(dcg='exp-log2')": (exponential_ndcg(None), None),
    "nDCG(dcg='exp-log2')@1": (exponential_ndcg(1), None),
    "nDCG(dcg='exp-log2')@10": (exponential_ndcg(10), None),
    "R_cap@1": (capped_recall(1), None),
    "R_cap@10": (capped_recall(10), None),
    "R_cap@100": (capped_recall(100, level=2), 2),
    "F1@3": (f1(3), None),
    "F1@10": (f1(10, level=2), 2),
    "F1@100": (f1(100), None),
}


@pytest.mark.parametrize("measure", FORMULAS)
def test_equal_to_the_formula_on_every_query(measure: str) -> None:
    formula, threshold = FORMULAS[measure]
    (got,) = ours(measure, threshold=threshold)
    wanted = [formula(query.labels, query.ranking) for query in QUERIES]
    assert len(set(wanted)) > 1
    differing = apart(got, wanted, 1e-9)
    assert not differing, f"{len(differing)} queries differ: {differing[:3]}"


@needs_perl
@pytest.mark.parametrize("k", [1, 5, 20, 100])
def test_err_and_exponential_ndcg_equal_to_gdeval(k: int) -> None:
    exponential = f"nDCG(dcg='exp-log2')@{k}"
    got = ours(f"ERR(max_grade={GDEVAL_MAXIMUM})@{k}", exponential)
    wanted = from_ir_measures([f"ERR@{k}", exponential], QUERIES)
    for one, other in zip(got, wanted, strict=True):
        differing = apart(one, other, FIVE_DECIMALS)
        assert not differing, f"{len(differing)} queries differ: {differing[:3]}"


@pytest.mark.parametrize("measure", ["RBP(p=0.8,rel=1)", "RBP(p=0.95,rel=2)"])
def test_rbp_equal_to_ir_measures(measure: str) -> None:
    pytest.importorskip("cwl", reason="ir_measures takes RBP from cwl-eval, which is not installed")
    (got,) = ours(measure)
    (wanted,) = from_ir_measures([measure], ANSWERED)
    differing = apart(of_answered(got), wanted, 1e-9, ANSWERED)
    assert not differing, f"{len(differing)} queries differ: {differing[:3]}"


def test_judged_equal_to_ir_measures() -> None:
    """A negative grade counts as judged in both; ir_measures divides by zero where nothing was retrieved."""
    measures = [f"Judged@{k}" for k in (1, 3, 5, 10, 100)]
    for got, wanted in zip(ours(*measures), from_ir_measures(measures, ANSWERED), strict=True):
        differing = apart(of_answered(got), wanted, 1e-9, ANSWERED)
        assert not differing, f"{len(differing)} queries differ: {differing[:3]}"


def test_judged_is_undefined_where_nothing_was_retrieved() -> None:
    result = DocumentRankingEvaluator(["Judged@10"], "id", on_undefined="nan").run(*documents())
    wanted = ["scored" if query.ranking else "undefined" for query in QUERIES]
    assert result["statuses"] == wanted
    assert wanted.count("undefined") >= 10
    assert [math.isnan(value) for value in result["individual_scores"]] == [not query.ranking for query in QUERIES]


@pytest.mark.parametrize("k", [1, 5, 100, None])
def test_ndcg_equal_to_scikit_learn(k: int | None) -> None:
    """
    scikit-learn ranks every document that it is given, and has no negative grades.

    So the queries are those that retrieved k documents, or all that are relevant: then nothing that is put behind the
    ranking counts.
    """
    (got,) = ours("nDCG" if k is None else f"nDCG@{k}")
    compared = 0
    for query, value in zip(QUERIES, got, strict=True):
        missing = [document for document in query.labels if document not in query.ranking]
        if k is None or len(query.ranking) < k:
            complete = all(query.labels[document] <= 0 for document in missing)
        else:
            complete = True
        everything = [*query.ranking, *missing]
        if not complete or len(everything) < 2:
            continue
        grades = [[max(query.labels.get(document, 0), 0) for document in everything]]
        wanted = ndcg_score(grades, [[-place for place in range(len(everything))]], k=k)
        assert value == pytest.approx(wanted, abs=1e-9), query.query
        compared += 1
    assert compared >= (20 if k is None else 100)


# Documents that come twice. trec_eval refuses them, so these values are made by hand.

LOG3, LOG4 = math.log2(3), math.log2(4)
# labels, ranking, values of each measure with duplicates="keep", "drop" and "each" (None: not defined there)
DUPLICATES: dict[str, tuple[dict[str, int], list[str], dict[str, tuple[float, float, float | None]]]] = {
    "a, a, b with a and b relevant": (
        {"a": 1, "b": 1},
        ["a", "a", "b"],
        {
            "P@1": (1.0, 1.0, 1.0),
            "P@2": (1 / 2, 1.0, 1.0),  # drop: a, b
            "P@3": (2 / 3, 2 / 3, 1.0),  # drop: two documents, still / 3
            "P": (2 / 3, 1.0, 1.0),
            "R@2": (1 / 2, 1.0, None),
            "R": (1.0, 1.0, None),
            "R_cap@1": (1.0, 1.0, None),
            "F1@3": (4 / 5, 4 / 5, None),  # 2 * 2 / (3 + 2)
            "Success@1": (1.0, 1.0, 1.0),
            "RR": (1.0, 1.0, 1.0),
            "AP": ((1 + 2 / 3) / 2, 1.0, None),
            "AP@2": (1 / 2, 1.0, None),
            "nDCG": ((1 + 1 / LOG4) / (1 + 1 / LOG3), 1.0, None),
            "nDCG@2": (1 / (1 + 1 / LOG3), 1.0, None),
            "Rprec": (1 / 2, 1.0, None),
            "Bpref": (1.0, 1.0, None),
            "ERR": (1 / 2 + 1 / 4 / 3, 1 / 2 + 1 / 4 / 2, None),
            "RBP(p=0.5)": (1 / 2 * (1 + 1 / 4), 1 / 2 * (1 + 1 / 2), None),
            "Judged@3": (1.0, 1.0, 1.0),
            "SetP": (2 / 3, 1.0, None),
            "SetR": (1.0, 1.0, None),
            "SetF": (4 / 5, 1.0, None),
        },
    ),
    "n, n, x, a, a with a relevant, n judged not relevant, x unjudged": (
        {"a": 2, "n": 0},
        ["n", "n", "x", "a", "a"],
        {
            "P@4": (1 / 4, 1 / 4, 1 / 4),  # drop: n, x, a
            "P@5": (1 / 5, 1 / 5, 2 / 5),
            "RR": (1 / 4, 1 / 3, 1 / 4),
            "RR@3": (0.0, 1 / 3, 0.0),
            "Success@3": (0.0, 1.0, 0.0),
            "AP": (1 / 4, 1 / 3, None),
            "nDCG": (1 / math.log2(5), 1 / LOG4, None),
            "Bpref": (0.0, 0.0, None),
            "ERR(max_grade=2)": (3 / 4 / 4, 3 / 4 / 3, None),
            "Judged@3": (2 / 3, 2 / 3, 2 / 3),
            "Judged@5": (4 / 5, 2 / 3, 4 / 5),
            "SetP": (1 / 5, 1 / 3, None),
        },
    ),
    "x, x, x, b: copies of an unjudged document": (
        {"b": 1},
        ["x", "x", "x", "b"],
        {
            "P@2": (0.0, 1 / 2, 0.0),
            "RR": (1 / 4, 1 / 2, 1 / 4),
            "Judged@2": (0.0, 1 / 2, 0.0),
            "Judged": (1 / 4, 1 / 2, 1 / 4),
            "nDCG@4": (1 / math.log2(5), 1 / LOG3, None),
        },
    ),
}


@pytest.mark.parametrize(("place", "duplicates"), list(enumerate(["keep", "drop", "each"])))
@pytest.mark.parametrize("case", DUPLICATES)
def test_duplicates_by_hand(case: str, place: int, duplicates: Any) -> None:
    labels, ranking, table = DUPLICATES[case]
    wanted = {measure: values[place] for measure, values in table.items() if values[place] is not None}
    result = DocumentRankingEvaluator(list(wanted), "id", duplicates=duplicates).run(
        [labelled_documents(labels)], [ranked_documents(ranking)]
    )
    assert result["scores"] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    "measure",
    sorted({name for _, _, table in DUPLICATES.values() for name, values in table.items() if values[2] is None}),
)
def test_measures_that_cannot_count_each_copy_are_refused(measure: str) -> None:
    with pytest.raises(ValueError, match="duplicates='each'"):
        DocumentRankingEvaluator([measure], duplicates="each")


@pytest.mark.parametrize(("duplicates", "rank"), [("keep", 3), ("drop", 3), ("each", 3)])
def test_documents_without_a_key_are_no_copies_of_each_other(duplicates: Any, rank: int) -> None:
    blank = [Document(content=None, meta={"n": number}) for number in range(2)]
    result = DocumentRankingEvaluator(["RR"], duplicates=duplicates).run(
        [[Document(content="a")]], [[*blank, Document(content="a")]]
    )
    assert result["individual_scores"] == [1 / rank]


def test_labels_with_one_key_are_one_label_with_the_highest_grade() -> None:
    """Grades a: 1 and 3, b: 2; retrieved b, a: (2 + 3 / log2 3) / (3 + 2 / log2 3), and 2 of 2 labels."""
    labels = [Document(id="a", score=1), Document(id="b", score=2), Document(id="a", score=3)]
    ranking = ranked_documents(["b", "a"])
    wanted = (2 + 3 / LOG3) / (3 + 2 / LOG3)
    assert DocumentNDCGEvaluator("id").run([labels], [ranking])["score"] == pytest.approx(wanted, abs=1e-12)
    assert DocumentRankingEvaluator(["R", "Rprec"], "id").run([labels], [ranking])["scores"] == {"R": 1.0, "Rprec": 1.0}


def test_a_copy_of_a_document_scores_as_an_unjudged_one_in_its_place() -> None:
    """The rule of duplicates="keep" on random data: trec_eval's values once each copy has an id of its own."""
    measures = ["P@5", "R@5", "AP", "RR", "nDCG@10", "nDCG(dcg='exp-log2')", "Rprec", "Bpref", "RBP", "SetP", "SetF"]
    random_places = np.random.default_rng(3)
    truths, with_copies, renamed = [], [], []
    for query in QUERIES:
        ranking = list(query.ranking)
        if ranking:
            for place in random_places.integers(0, len(ranking), size=5):
                ranking.insert(int(random_places.integers(0, len(ranking) + 1)), ranking[place])
        seen: set[str] = set()
        names = []
        for number, document in enumerate(ranking):
            names.append(f"copy {number}" if document in seen else document)
            seen.add(document)
        truths.append(labelled_documents(query.labels))
        with_copies.append(ranked_documents(ranking))
        renamed.append(ranked_documents(names))
    evaluator = DocumentRankingEvaluator(measures, "id")
    assert evaluator.run(truths, with_copies)["scores_by_row"] == evaluator.run(truths, renamed)["scores_by_row"]
