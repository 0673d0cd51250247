# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every difference that docs/differences.md lists: the stock value and ours, run, and held against the document."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval
from haystack import Document, Pipeline, component

from differences import Difference, built_in, shown
from differences_answers import ANSWER_DIFFERENCES
from differences_judged import JUDGED_DIFFERENCES
from differences_sas import SAS_DIFFERENCES
from haystack_eval_ext import DocumentMRREvaluator
from models import needs_sas
from retrieval_data import EVALUATORS, make_evaluator, needs_stock

DOCUMENT = Path(__file__).parent.parent / "docs" / "differences.md"
PER_EVALUATOR = list(EVALUATORS)


def document(content: str | None, score: Any = None, /, **meta: Any) -> Document:
    return Document(content=content, score=score, meta=meta)


def scores(truths: Any, retrieved: Any, field: str = "content") -> Callable[[str], list[str]]:
    """The individual scores that each evaluator gives."""

    def observe(side: str) -> list[str]:
        def run(name: str) -> list[float]:
            evaluator = make_evaluator(side, name, document_comparison_field=field)
            return list(evaluator.run(truths, retrieved)["individual_scores"])

        return [shown(partial(run, name)) for name in EVALUATORS]

    return observe


def message(truths: Any, retrieved: Any, part: str) -> Callable[[str], list[str]]:
    """The type of error that each evaluator raises, and whether its message says this."""

    def observe(side: str) -> list[str]:
        found = set()
        for name in EVALUATORS:
            with pytest.raises((ValueError, TypeError)) as caught:
                make_evaluator(side, name).run(truths, retrieved)
            found.add((built_in(caught.value), "yes" if part in str(caught.value) else "no"))
        (one,) = found  # all five alike
        return list(one)

    return observe


def output_names(side: str) -> list[str]:
    documents = [[document("a")]]
    return [", ".join(make_evaluator(side, name).run(documents, documents)) for name in EVALUATORS]


@component
class Fixed:
    """Stands for a retriever."""

    def __init__(self, content: str) -> None:
        self.content = content

    @component.output_types(documents=list[Document])
    def run(self) -> dict[str, list[Document]]:
        return {"documents": [document(self.content)]}


def two_senders(side: str) -> list[str]:
    def run(truths: list[list[Document]]) -> list[float]:
        pipeline = Pipeline()
        pipeline.add_component("first", Fixed("x"))
        pipeline.add_component("second", Fixed("a"))
        pipeline.add_component("evaluator", make_evaluator(side, "MRR"))
        pipeline.connect("first.documents", "evaluator.retrieved_documents")
        pipeline.connect("second.documents", "evaluator.retrieved_documents")
        result = pipeline.run({"evaluator": {"ground_truth_documents": truths}})
        return list(result["evaluator"]["individual_scores"])

    def shown_run(truths: list[list[Document]]) -> str:
        try:
            return shown(lambda: run(truths))
        except Exception as error:
            return built_in(error.__cause__ or error)

    return [shown_run([[document("a")]]), shown_run([[document("a")], [document("a")]])]


A, B, X = document("a"), document("b"), document("x")
FOUND_SECOND = ["[1.0]", "[1.0]", "[0.5]", "[0.5]", "[0.6309]"]
PERFECT, NOTHING = ["[1.0]"] * 5, ["[0.0]"] * 5

DIFFERENCES: dict[str, Difference] = {
    "A label with the score 0": Difference(
        scores([[document("a", 0.0), document("b", 1.0)]], [[A]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[0.5]", "[1.0]", "[0.5]", "[0.0]"],
        ours=NOTHING,
    ),
    "A label with a negative score": Difference(
        scores([[document("a", 2.0), document("b", -2.0)]], [[B, A]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "[-1.0]"],
        ours=FOUND_SECOND,
    ),
    "A label with the score NaN": Difference(
        scores([[document("a", math.nan), document("b", 1.0)]], [[A, B]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "[0]"],
        ours=["ValueError"] * 5,
    ),
    "A label with an infinite score": Difference(
        scores([[document("a", math.inf), document("b", 1.0)]], [[A, B]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "[nan]"],
        ours=["ValueError"] * 5,
    ),
    "A label whose score is no number": Difference(
        scores([[document("a", "3")]], [[A]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "TypeError"],
        ours=["TypeError"] * 5,
    ),
    "Some labels of a question have a score, others have none": Difference(
        scores([[document("a", 2.0), document("b")]], [[B, A]]),
        columns=PER_EVALUATOR,
        stock=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "ValueError"],
        ours=["[1.0]", "[1.0]", "[1.0]", "[1.0]", "[0.8597]"],
    ),
    "Empty text as key": Difference(
        scores([[document(""), B]], [[document(""), B]]),
        columns=PER_EVALUATOR,
        stock=PERFECT,
        ours=FOUND_SECOND,
    ),
    "An empty list as key": Difference(
        scores([[document("a", x=[]), document("b", x=1)]], [[document("c", x=[]), document("d", x=1)]], "meta.x"),
        columns=PER_EVALUATOR,
        stock=["TypeError", "TypeError", "[1.0]", "[1.0]", "TypeError"],
        ours=FOUND_SECOND,
    ),
    "NaN as key": Difference(
        scores(
            [[document("a", x=math.nan), document("b", x=1)]],
            [[document("c", x=math.nan), document("d", x=1)]],
            "meta.x",
        ),
        columns=PER_EVALUATOR,
        stock=PERFECT,
        ours=FOUND_SECOND,
    ),
    "Lists and dicts as keys": Difference(
        scores([[document("a", x=["p", 1])]], [[document("b", x=["q", 1]), document("c", x=["p", 1])]], "meta.x"),
        columns=PER_EVALUATOR,
        stock=["TypeError", "TypeError", "[0.5]", "[0.5]", "TypeError"],
        ours=FOUND_SECOND,
    ),
    "A tuple and a list with the same elements": Difference(
        scores([[document("a", x=("p", 1))]], [[document("b", x=["p", 1])]], "meta.x"),
        columns=PER_EVALUATOR,
        stock=["TypeError", "TypeError", "[0.0]", "[0.0]", "TypeError"],
        ours=PERFECT,
    ),
    "A meta key with a dot in it": Difference(
        scores([[document("a", **{"file.id": 7})]], [[document("b", **{"file.id": 7})]], "meta.file.id"),
        columns=PER_EVALUATOR,
        stock=["[0.0]", "[0.0]", "[0.0]", "[0.0]", "[0]"],
        ours=PERFECT,
    ),
    "A field that no document of a side has": Difference(
        scores([[document("a", x=1)]], [[document("a", x=1)]], "meta.X"),
        columns=PER_EVALUATOR,
        stock=["[0.0]", "[0.0]", "[0.0]", "[0.0]", "[0]"],
        ours=["ValueError"] * 5,
    ),
    "A field name that does not exist": Difference(
        scores([[]], [[]], "contents"),
        columns=PER_EVALUATOR,
        stock=["[0.0]", "[0.0]", "[0.0]", "[0.0]", "[0]"],
        ours=["ValueError"] * 5,
    ),
    "A question without relevant documents": Difference(
        scores([[], [A]], [[A], [A]]),
        columns=PER_EVALUATOR,
        stock=["[0.0, 1.0]", "[0.0, 1.0]", "[0.0, 1.0]", "[0.0, 1.0]", "[0, 1.0]"],
        ours=["[0.0, 1.0]"] * 5,
    ),
    "More outputs": Difference(
        output_names,
        columns=PER_EVALUATOR,
        stock=["score, individual_scores"] * 5,
        ours=["score, individual_scores, statuses, errors, warnings"] * 5,
    ),
    "A bare empty list from a retriever": Difference(
        scores([[A]], []),
        columns=PER_EVALUATOR,
        stock=["ValueError"] * 5,
        ours=NOTHING,
    ),
    "A flat list of documents": Difference(
        scores([A], [X, A]),
        columns=PER_EVALUATOR,
        stock=["ValueError"] * 5,
        ours=FOUND_SECOND,
    ),
    "Two senders into one socket": Difference(
        two_senders,
        columns=["MRR, one row of ground truth", "MRR, two rows of ground truth"],
        stock=["ValueError", "[0.0, 1.0]"],
        ours=["[0.5]", "ValueError"],
    ),
    "Documents as JSON": Difference(
        scores([[{"content": "a"}]], [[X.to_dict(), A.to_dict()]]),
        columns=PER_EVALUATOR,
        stock=["AttributeError"] * 5,
        ours=FOUND_SECOND,
    ),
    "A row that is None": Difference(
        message([[A], [A]], [[A], None], "retrieved_documents[1]"),
        columns=["error", "message names input and row"],
        stock=["TypeError", "no"],
        ours=["TypeError", "yes"],
    ),
    "Zero rows": Difference(
        message([], [], "no rows"),
        columns=["error", "message says that there are no rows"],
        stock=["ValueError", "no"],
        ours=["ValueError", "yes"],
    ),
    **ANSWER_DIFFERENCES,
    **SAS_DIFFERENCES,
    **JUDGED_DIFFERENCES,
}


RUNNABLE = [pytest.param(name, marks=needs_sas if name in SAS_DIFFERENCES else []) for name in DIFFERENCES]


@pytest.mark.parametrize("name", RUNNABLE)
def test_our_value(name: str) -> None:
    assert DIFFERENCES[name].observe("ours") == DIFFERENCES[name].ours


@needs_stock
@pytest.mark.parametrize("name", RUNNABLE)
def test_stock_value(name: str) -> None:
    assert DIFFERENCES[name].observe("stock") == DIFFERENCES[name].stock


@pytest.mark.parametrize("name", DIFFERENCES)
def test_is_a_difference(name: str) -> None:
    assert DIFFERENCES[name].stock != DIFFERENCES[name].ours


def documented() -> dict[str, list[list[str]]]:
    """The rows of the table under each heading of the third level."""
    sections = re.split(r"^### ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    tables = {}
    for section in sections:
        heading, _, body = re.split(r"^## ", section, flags=re.MULTILINE)[0].partition("\n")
        rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("|")]
        tables[heading.strip()] = [[cell.strip().strip("`") for cell in row] for row in rows]
    return tables


def test_each_heading_has_a_test_and_each_test_a_heading() -> None:
    assert list(documented()) == list(DIFFERENCES)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_document_shows_both_values(name: str) -> None:
    difference = DIFFERENCES[name]
    header, _, stock, ours = documented()[name]
    assert header == ["", *difference.columns]
    assert stock == ["Haystack", *difference.stock]
    assert ours == ["ours", *difference.ours]


@pytest.mark.parametrize("name", DIFFERENCES)
def test_document_gives_a_reason(name: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8").split(f"### {name}\n")[1].split("\n#")[0]
    assert re.search(r"^Why: \S.{20}", text, flags=re.MULTILINE)


# What the document says about other tools, for those that the tests have.

QRELS, RUN = {"1": {"a": 1}}, {"1": {"b": 1.0, "a": 1.0, "c": 1.0}}


def test_pytrec_eval_breaks_ties_by_id_and_we_keep_the_order() -> None:
    """Tied b, a, c in this order, a relevant. By id descending that is c, b, a."""
    assert pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(RUN)["1"]["recip_rank"] == pytest.approx(
        1 / 3
    )
    ranking = [document(key) for key in RUN["1"]]
    assert DocumentMRREvaluator().run([[A]], [ranking])["score"] == 1 / 2


def test_ir_measures_ranks_ties_differently_for_rr_with_a_cut_off() -> None:
    whole, cut = (ir_measures.parse_measure(name) for name in ("RR", "RR@10"))
    assert ir_measures.calc_aggregate([whole, cut], QRELS, RUN) == {whole: pytest.approx(1 / 3), cut: 1.0}


def test_ir_measures_beta_is_trec_evals_squared_beta() -> None:
    """One of three retrieved documents is relevant, of two relevant ones. P 1/3, R 1/2; F2 5PR / (4P + R)."""
    setf = ir_measures.parse_measure("SetF(beta=2.0)")
    theirs = ir_measures.calc_aggregate([setf], {"1": {"a": 1, "z": 1}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}})[setf]
    precision, recall = 1 / 3, 1 / 2
    assert theirs == pytest.approx(3 * precision * recall / (2 * precision + recall))
    assert theirs != pytest.approx(5 * precision * recall / (4 * precision + recall))


def test_pytrec_eval_reads_scores_in_single_precision() -> None:
    run = {"1": {"a": 1 + 1e-9, "b": 1.0}}
    assert pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(run)["1"]["recip_rank"] == 1 / 2


def test_pytrec_eval_does_not_cut_the_reciprocal_rank() -> None:
    """The relevant document is at rank 11."""
    run = {"1": {**{f"x{rank}": 100.0 - rank for rank in range(10)}, "a": 1.0}}
    assert pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank_10"}).evaluate(run)["1"] == {
        "recip_rank": pytest.approx(1 / 11)
    }
    ranking = [document(key) for key in run["1"]]
    assert DocumentMRREvaluator(top_k=10).run([[A]], [ranking])["score"] == 0.0


def test_pytrec_eval_drops_a_query_without_labels_and_ir_measures_counts_it() -> None:
    qrels: dict[str, dict[str, int]] = {"1": {"a": 1}, "2": {}}
    run = {"1": {"a": 1.0}, "2": {"a": 1.0}}
    assert list(pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)) == ["1"]
    average_precision = ir_measures.parse_measure("AP")
    assert ir_measures.calc_aggregate([average_precision], qrels, run)[average_precision] == 1 / 2
    result = DocumentMRREvaluator().run([[A], []], [[A], [A]])
    assert result["statuses"] == ["scored", "undefined"]
