# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every measure that trec_eval has, against trec_eval (through pytrec_eval), on every query of random data."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from statistics import fmean
from typing import NamedTuple

import ir_measures
import pytest
import pytrec_eval
from haystack import Document

from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext.retrieval._base import evaluate_keys
from haystack_eval_ext.runs.trec import align
from retrieval_data import Judged, falling_scores, judged_queries, labelled_documents, ranked_documents

QUERIES = judged_queries(seed=20260, number=600)
COMPARED = [query for query in QUERIES if not query.can_crash_trec_eval]
IDS = [query.query for query in COMPARED]
CUTOFFS = [1, 3, 5, 10, 100]

# Name here, name of trec_eval with a cut-off.
CUT = {
    "P": "P",
    "R": "recall",
    "Success": "success",
    "AP": "map_cut",
    "nDCG": "ndcg_cut",
    "R_cap": "relative_P",
}
# Name here, name of trec_eval without one. P and R without a cut-off are the set measures.
WHOLE = {
    "P": "set_P",
    "R": "set_recall",
    "F1": "set_F",
    "AP": "map",
    "RR": "recip_rank",
    "nDCG": "ndcg",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
}
EXPONENTIAL = "dcg='exp-log2'"
# Graded measures know no level: trec_eval -l does not change them either.
GRADED = ("nDCG",)


class Variant(NamedTuple):
    """One way to ask for a measure."""

    level: int = 1  # trec_eval -l
    threshold: float | None = None  # relevance_threshold
    parameters: str = ""  # in the measure's name
    judged_only: bool = False  # trec_eval -J


VARIANTS = {
    "default": Variant(),
    "threshold 2": Variant(level=2, threshold=2),
    "threshold 1.5": Variant(level=2, threshold=1.5),
    "rel 2": Variant(level=2, parameters="rel=2"),
    "rel 2 over threshold 3": Variant(level=2, threshold=3, parameters="rel=2"),
    "judged only": Variant(parameters="judged_only=True", judged_only=True),
    "judged only, threshold 2": Variant(level=2, threshold=2, parameters="judged_only=True", judged_only=True),
}


def spell(name: str, parameters: str, cutoff: int | None) -> str:
    return f"{name}{f'({parameters})' if parameters else ''}{'' if cutoff is None else f'@{cutoff}'}"


class Asked(NamedTuple):
    """A measure as the table of the oracle names it."""

    name: str
    cutoff: int | None
    own: str = ""  # parameters of the measure's own

    def __str__(self) -> str:
        return spell(self.name, self.own, self.cutoff)


MEASURES = [
    *(Asked(name, k) for name in (*CUT, "RR", "F1") for k in CUTOFFS),
    *(Asked("nDCG", k, EXPONENTIAL) for k in CUTOFFS),
    *(Asked(name, None) for name in (*WHOLE, "Success")),
    Asked("nDCG", None, EXPONENTIAL),
    Asked("SetF", None, "beta=2.0"),
    Asked("SetF", None, "beta=0.5"),
]


def trec_eval(
    queries: list[Judged], names: set[str], *, level: int = 1, depth: int | None = None
) -> dict[str, list[float]]:
    """The value of each measure for each query, in their order."""
    qrels = {query.query: query.labels for query in queries}
    run = {query.query: falling_scores(query.ranking[:depth]) for query in queries}
    by_query = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)
    return {name: [float(by_query[query.query][name]) for query in queries] for name in next(iter(by_query.values()))}


@cache
def oracle(level: int, judged_only: bool) -> dict[str, list[float]]:
    """trec_eval's values under the names that the measures have here."""
    queries = COMPARED
    if judged_only:
        queries = [
            query._replace(ranking=[document for document in query.ranking if query.labels.get(document, -1) >= 0])
            for query in COMPARED
        ]
    cutoffs = ",".join(map(str, CUTOFFS))
    names = {*WHOLE.values(), "num_rel_ret", *(f"{name}.{cutoffs}" for name in CUT.values())}
    values = trec_eval(queries, names, level=level)
    columns = {
        **{name: values[theirs] for name, theirs in WHOLE.items()},
        **{f"{name}@{k}": values[f"{theirs}_{k}"] for name, theirs in CUT.items() for k in CUTOFFS},
        # trec_eval has no cut-off for the reciprocal rank: only the run can be cut.
        **{f"RR@{k}": trec_eval(queries, {"recip_rank"}, depth=k, level=level)["recip_rank"] for k in CUTOFFS},
        "Success": [float(found > 0) for found in values["num_rel_ret"]],
        # The parameter of set_F is beta squared.
        "SetF(beta=2.0)": trec_eval(queries, {"set_F.4.0"}, level=level)["set_F"],
        "SetF(beta=0.5)": trec_eval(queries, {"set_F.0.25"}, level=level)["set_F"],
    }
    for k in CUTOFFS:
        pairs = zip(columns[f"P@{k}"], columns[f"R@{k}"], strict=True)
        columns[f"F1@{k}"] = [2 * p * r / (p + r) if p + r else 0.0 for p, r in pairs]
    # The exponential gain is the linear gain of other grades.
    raised = [
        query._replace(labels={document: 2 ** max(grade, 0) - 1 for document, grade in query.labels.items()})
        for query in queries
    ]
    exponential = trec_eval(raised, {"ndcg", f"ndcg_cut.{cutoffs}"})
    columns[f"nDCG({EXPONENTIAL})"] = exponential["ndcg"]
    for k in CUTOFFS:
        columns[f"nDCG({EXPONENTIAL})@{k}"] = exponential[f"ndcg_cut_{k}"]
    return columns


def spelled(asked: Asked, variant: Variant) -> str:
    return spell(asked.name, ",".join(filter(None, (asked.own, variant.parameters))), asked.cutoff)


def measures_of(variant: Variant) -> list[Asked]:
    return [asked for asked in MEASURES if not ("rel" in variant.parameters and asked.name in GRADED)]


@cache
def documents() -> tuple[list[list[Document]], list[list[Document]]]:
    return (
        [labelled_documents(query.labels) for query in QUERIES],
        [ranked_documents(query.ranking) for query in QUERIES],
    )


@cache
def from_documents(variant: Variant) -> dict[str, list[float]]:
    asked = measures_of(variant)
    evaluator = DocumentRankingEvaluator(
        [spelled(measure, variant) for measure in asked], "id", relevance_threshold=variant.threshold
    )
    result = evaluator.run(*documents())
    return {str(measure): result["scores_by_row"][spelled(measure, variant)] for measure in asked}


@cache
def from_keys(variant: Variant) -> dict[str, list[float]]:
    asked = measures_of(variant)
    scores = evaluate_keys(
        [spelled(measure, variant) for measure in asked],
        [query.ranking for query in QUERIES],
        [dict[str, float](query.labels) for query in QUERIES],
        relevance_threshold=variant.threshold,
    )
    return {str(measure): scores[spelled(measure, variant)].individual_scores for measure in asked}


PATHS = {"documents": from_documents, "keys": from_keys}


@pytest.mark.parametrize(
    ("variant", "measure"),
    [(name, str(asked)) for name, variant in VARIANTS.items() for asked in measures_of(variant)],
)
def test_equal_to_trec_eval_on_every_query(variant: str, measure: str) -> None:
    wanted = dict(zip(IDS, oracle(VARIANTS[variant].level, VARIANTS[variant].judged_only)[measure], strict=True))
    for path, evaluate in PATHS.items():
        values = zip(QUERIES, evaluate(VARIANTS[variant])[measure], strict=True)
        got = {query.query: value for query, value in values if query.query in wanted}
        apart = [(query, got[query], value) for query, value in wanted.items() if not abs(got[query] - value) <= 1e-9]
        assert not apart, f"{path}: {len(apart)} of {len(wanted)} queries differ: {apart[:3]}"


def test_values_are_not_all_alike() -> None:
    """An oracle that is 0 nearly everywhere would agree with anything."""
    for variant in VARIANTS.values():
        columns = oracle(variant.level, variant.judged_only)
        for asked in measures_of(variant):
            ((_, most),) = Counter(columns[str(asked)]).most_common(1)
            assert len(COMPARED) - most >= 30, asked


def test_data_holds_every_kind_of_query() -> None:
    assert len(COMPARED) >= 500
    kinds = {
        "all grades negative": [query.can_crash_trec_eval for query in QUERIES],
        "nothing relevant": [max(query.labels.values()) == 0 for query in QUERIES],
        "nothing relevant at level 2": [max(query.labels.values()) == 1 for query in QUERIES],
        "empty ranking": [not query.ranking for query in QUERIES],
        "nothing judged retrieved": [
            bool(query.ranking) and query.labels.keys().isdisjoint(query.ranking) for query in QUERIES
        ],
        "unjudged documents above relevant ones": [
            len(query.ranking) > 1 and query.ranking[0] not in query.labels for query in QUERIES
        ],
        "longer than 100": [len(query.ranking) > 100 for query in QUERIES],
        "more relevant than retrieved": [
            0 < len(query.ranking) < sum(grade > 0 for grade in query.labels.values()) for query in QUERIES
        ],
        "negative grade retrieved": [
            any(query.labels.get(document) == -1 for document in query.ranking) for query in QUERIES
        ],
    }
    few = {kind: sum(has) for kind, has in kinds.items() if sum(has) < 10}
    assert not few, "too few queries of a kind"


@pytest.mark.parametrize(("policy", "value"), [("zero", 0.0), ("nan", math.nan)])
def test_query_with_negative_grades_only_is_undefined(policy: str, value: float) -> None:
    """pytrec_eval crashes here; the value is the documented one, as for every query without relevant documents."""
    queries = [query for query in QUERIES if query.can_crash_trec_eval]
    result = DocumentRankingEvaluator(list(map(str, MEASURES)), "id", on_undefined=policy).run(  # type: ignore[arg-type]
        ground_truth_documents=[labelled_documents(query.labels) for query in queries],
        retrieved_documents=[ranked_documents(query.ranking) for query in queries],
    )
    for name, scores in result["results"].items():
        assert scores["individual_scores"] == pytest.approx([value] * len(queries), nan_ok=True), name
        assert scores["statuses"] == ["undefined"] * len(queries), name


def test_trec_eval_own_judged_only_flag_is_the_filter_used_here() -> None:
    queries = [query for query in COMPARED if any(query.labels.get(document, -1) >= 0 for document in query.ranking)]
    by_query = pytrec_eval.RelevanceEvaluator(
        {query.query: query.labels for query in queries}, {"map", "P.5"}, judged_docs_only_flag=True
    ).evaluate({query.query: falling_scores(query.ranking) for query in queries})
    places = {query.query: place for place, query in enumerate(COMPARED)}
    for measure, theirs in (("AP", "map"), ("P@5", "P_5")):
        wanted = [by_query[query.query][theirs] for query in queries]
        filtered = oracle(1, True)[measure]
        assert [filtered[places[query.query]] for query in queries] == pytest.approx(wanted, abs=1e-9)


# Queries that are missing from a run.

MISSING = ["AP", "nDCG@10", "P@5", "R@100", "Rprec", "Bpref", "RR"]


@pytest.fixture(scope="module")
def incomplete() -> tuple[dict[str, dict[str, int]], dict[str, list[tuple[str, float]]]]:
    """Each third query is not in the run, and the run has one query that nobody judged."""
    qrels = {query.query: query.labels for query in COMPARED}
    run = {
        query.query: list(falling_scores(query.ranking).items())
        for place, query in enumerate(COMPARED)
        if place % 3 and query.ranking
    }
    return qrels, {**run, "99999": [("d1", 1.0)]}


def means(
    qrels: dict[str, dict[str, int]], run: dict[str, list[tuple[str, float]]], queries: str
) -> tuple[dict[str, float], int]:
    ids, rankings, labels, _ = align(qrels, run, queries=queries)  # type: ignore[arg-type]
    scores = evaluate_keys(MISSING, rankings, labels)
    return {name: rows.score for name, rows in scores.items()}, len(ids)


def test_complete_is_the_mean_of_ir_measures(
    incomplete: tuple[dict[str, dict[str, int]], dict[str, list[tuple[str, float]]]],
) -> None:
    """ir_measures takes the mean over all judged queries; a missing one counts 0."""
    qrels, run = incomplete
    scores, rows = means(qrels, run, "complete")
    parsed = [ir_measures.parse_measure(name) for name in MISSING]
    wanted = ir_measures.calc_aggregate(parsed, qrels, {query: dict(ranking) for query, ranking in run.items()})
    assert rows == len(qrels)
    assert scores == pytest.approx({str(measure): value for measure, value in wanted.items()}, abs=1e-9)


def test_intersection_is_the_mean_of_pytrec_eval(
    incomplete: tuple[dict[str, dict[str, int]], dict[str, list[tuple[str, float]]]],
) -> None:
    """pytrec_eval gives values for the queries that both sides have, and nothing for the others."""
    qrels, run = incomplete
    scores, rows = means(qrels, run, "intersection")
    theirs = dict(
        zip(MISSING, ("map", "ndcg_cut_10", "P_5", "recall_100", "Rprec", "bpref", "recip_rank"), strict=True)
    )
    by_query = pytrec_eval.RelevanceEvaluator(
        qrels, {"map", "ndcg_cut.10", "P.5", "recall.100", "Rprec", "bpref", "recip_rank"}
    ).evaluate({query: dict(ranking) for query, ranking in run.items()})
    assert rows == len(by_query) < len(qrels)
    wanted = {name: fmean(values[theirs[name]] for values in by_query.values()) for name in MISSING}
    assert scores == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("queries", "score", "individual_scores"),
    [
        # q1 is answered perfectly, q2 not at all, q3 by an empty ranking; q4 is in the run and nobody judged it.
        ("complete", 1 / 3, [1.0, 0.0, 0.0]),
        ("intersection", 1 / 2, [1.0, 0.0]),
    ],
)
def test_missing_queries_by_hand(queries: str, score: float, individual_scores: list[float]) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run: dict[str, list[tuple[str, float]]] = {"q4": [("a", 1.0)], "q3": [], "q1": [("a", 2.0)]}
    _, rankings, labels, coverage = align(qrels, run, queries=queries)  # type: ignore[arg-type]
    for rows in evaluate_keys(["AP", "RR@10", "nDCG@10", "R@10", "Success@1"], rankings, labels).values():
        assert rows.individual_scores == individual_scores
        assert rows.score == pytest.approx(score)
    assert coverage.missing_from_run == ["q2"]
    assert coverage.without_labels == ["q4"]
