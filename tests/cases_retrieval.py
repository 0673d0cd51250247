# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The table of the retrieval family: each component with its default and with other parameters, and each measure.

Golden rows of every measure, in this order:

* graded: labels a:3 b:1 c:2 n:0, ranking x a n b. R = 3 relevant, 1 judged not relevant, n = 4 retrieved, x unjudged.
  Relevant documents stand at ranks 2 (a, grade 3) and 4 (b, grade 1).
* copies: labels a b (grade 1 each), ranking a a x b: ranks 1 and 4, the copy at rank 2 gains nothing.
* nothing found: label a, ranking x y.
* nothing retrieved: label a, empty ranking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, log2
from typing import Any

import golden_matching as special
from cases import Case, Golden
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
from worlds import rows

# Graded, undefined, empty and unjudged rows; copies; labels without a grade.
SAMPLE = rows(
    ("a:2 b:1 n:0", "x a b"), ("a b", "b a a x"), ("c", ""), ("n:0", "n x"), ("p:3 q:1 m:-1", "m q x p y q"), ("", "x")
)  # fmt: skip


@dataclass(frozen=True)
class RetrievalCase(Case):
    """A case with what the laws of rankings need to know."""

    inputs: Mapping[str, list[Any]] = field(default_factory=lambda: SAMPLE)
    relevant_from: float = 1  # lowest of the grades -1, 0, 1, 2, 3 that counts as relevant
    needs_relevant: bool = True  # undefined without a relevant document; else without a retrieved one
    needs_cutoff: bool = False

    def with_cutoff(self, k: int | None) -> RetrievalCase:
        """The same with another cut-off, or with none."""
        if "measures" not in self.parameters:
            return replace(self, parameters={**self.parameters, "top_k": k})
        name, _, cutoff = self.parameters["measures"][0].partition("@")
        measure = name if k is None else f"{name}@{k}{'w' if cutoff.endswith('w') else ''}"
        return replace(self, parameters={**self.parameters, "measures": [measure]})


# Laws that do not hold, by measure, with and without a cut-off.
BEHIND_N = "a cut-off behind the end is divided by, too: missing documents count as not relevant"
OF_N = "it is divided by the number of documents retrieved"
NO_CUTOFF = "it has no cut-off"
TOO_MANY = "more documents are relevant than the cut-off lets in"
TOO_FEW = "fewer documents are relevant than the cut-off asks for"
BROKEN: dict[str, dict[str, str]] = {
    "P": {"append": OF_N, "deep_cutoff": BEHIND_N},
    "P@": {"perfect": TOO_FEW, "deep_cutoff": BEHIND_N},
    "P@1": {"deep_cutoff": BEHIND_N},  # one document is never too few
    "P@w": {"append": OF_N},
    "R@": {"perfect": TOO_MANY},
    "nDCG@w": {"perfect": TOO_MANY},
    "F1": {"append": OF_N, "deep_cutoff": BEHIND_N},
    "F1@": {"perfect": f"{TOO_FEW}, or {TOO_MANY}", "deep_cutoff": BEHIND_N},
    "AP@": {"perfect": f"{TOO_MANY}, and AP divides by all of them"},
    "Rprec": {"deep_cutoff": NO_CUTOFF},
    "Bpref": {"deep_cutoff": NO_CUTOFF},
    "ERR": {"perfect": "the highest grade is a chance below 1 of satisfaction"},
    "ERR@": {"perfect": "the highest grade is a chance below 1 of satisfaction"},
    "RBP": {"perfect": "after a finite ranking, some users are still reading"},
    "RBP@": {"perfect": "after a finite ranking, some users are still reading"},
    "Judged": {
        "nothing": "a document judged not relevant is judged",
        "append": OF_N,
        "copies": "a copy of a judged document is judged",
    },
    "Judged@": {
        "nothing": "a document judged not relevant is judged",
        "append": "it is divided by the number of documents retrieved where that is below the cut-off",
        "copies": "a copy of a judged document is judged",
    },
    "SetP": {"append": OF_N, "deep_cutoff": NO_CUTOFF},
    "SetR": {"deep_cutoff": NO_CUTOFF},
    "SetF": {"append": OF_N, "deep_cutoff": NO_CUTOFF},
}  # fmt: skip
EACH_COPY = {"copies": "duplicates='each': copies count by the user's wish"}


def golden(graded: float, copies: float, nothing: float = 0.0, empty: float = 0.0) -> tuple[Golden, ...]:
    """The four golden rows of a measure with one relevance level."""
    return (
        Golden(
            "graded, copies, nothing found, nothing retrieved",
            rows(("a:3 b:1 c:2 n:0", "x a n b"), ("a b", "a a x b"), ("a", "x y"), ("a", "")),
            [graded, copies, nothing, empty],
        ),
    )


# DCG of the graded row: a at rank 2, b at rank 4; the ideal is a c b.
NDCG = golden((3 / log2(3) + 1 / log2(5)) / (3 + 2 / log2(3) + 1 / 2), (1 + 1 / log2(5)) / (1 + 1 / log2(3)))
NDCG_EXP = golden((7 / log2(3) + 1 / log2(5)) / (7 + 3 / log2(3) + 1 / 2), (1 + 1 / log2(5)) / (1 + 1 / log2(3)))
NDCG_2 = golden((3 / log2(3)) / (3 + 2 / log2(3)), 1 / (1 + 1 / log2(3)))  # ideal: a c

# Measure: golden rows, with the arithmetic for the graded row and the row with copies.
MEASURES: dict[str, tuple[Golden, ...]] = {
    "P": golden(1 / 2, 1 / 2),  # 2/4; 2/4
    "P@1": golden(0, 1),  # x; a
    "P@3": golden(1 / 3, 1 / 3),  # x a n; a a x
    "P@10": golden(1 / 5, 1 / 5),  # 2/10, although 4 came back; 2/10
    "P@6w": golden(1 / 2, 1 / 2),  # two chunks of three words: x a; a a
    "R": golden(2 / 3, 1),  # a b of a b c; a b
    "R@2": golden(1 / 3, 1 / 2),  # x a; a a
    "R@6w": (*golden(1 / 3, 1 / 2), special.BUDGET_WHOLE),
    "R@8w": (*golden(1 / 3, 1 / 2), special.BUDGET_LESS),
    "R@9w": (*golden(1 / 3, 1 / 2), special.BUDGET_ALL),
    "R@5w": (*golden(0, 1 / 2), special.BUDGET_JAPANESE),  # one chunk of three words
    "R@3w": (*golden(0, 1 / 2), special.BUDGET_STOPS),
    "R_cap@2": golden(1 / 2, 1 / 2),  # 1 / min(3, 2); 1 / min(2, 2)
    "R_cap@4": golden(2 / 3, 1),  # 2 / min(3, 4); 2 / min(2, 4)
    "F1": golden(4 / 7, 2 / 3),  # 2 (1/2)(2/3) / (1/2 + 2/3); 2 (1/2) 1 / (1/2 + 1)
    "F1@2": golden(2 / 5, 1 / 2),  # P 1/2, R 1/3: (1/3) / (5/6); P 1/2, R 1/2
    "Success": golden(1, 1),
    "Success@1": golden(0, 1),
    "RR": golden(1 / 2, 1),
    "RR@1": golden(0, 1),
    "AP": golden(1 / 3, 3 / 4),  # (1/2 + 2/4) / 3; (1/1 + 2/4) / 2
    "AP@2": golden(1 / 6, 1 / 2),  # (1/2) / 3; (1/1) / 2
    "nDCG": NDCG,
    "nDCG@2": NDCG_2,
    # Two chunks, but the ideal a c b is whole: what fits is a matter of the chunks. Copies: a of a b.
    "nDCG@6w": golden((3 / log2(3)) / (3 + 2 / log2(3) + 1 / 2), 1 / (1 + 1 / log2(3))),
    "nDCG(dcg='exp-log2')": NDCG_EXP,  # gains 2^3 - 1 = 7, 2^1 - 1 = 1, ideal 7 3 1
    "nDCG(dcg='exp-log2')@2": golden((7 / log2(3)) / (7 + 3 / log2(3)), 1 / (1 + 1 / log2(3))),
    "Rprec": golden(1 / 3, 1 / 2),  # a in the first 3, / 3; a in the first 2, / 2
    "Bpref": golden(1 / 3, 1),  # a: none above, 1; b: n above, 1 - min(1, 3) / min(1, 3) = 0; sum / 3. None judged: 1
    # r = 7/8 at rank 2, 1/8 at rank 4: (7/8)/2 + (1/8)(1/8)/4. Copies: r = 1/8 at 1 and 4: 1/8 + (7/8)(1/8)/4
    "ERR(max_grade=3)": golden(0.44140625, 0.15234375),
    "ERR(max_grade=3)@2": golden(0.4375, 0.125),
    "RBP": golden(0.2624, 0.3024),  # .2 (.8 + .8^3); .2 (1 + .8^3)
    "RBP(p=0.5)": golden(0.3125, 0.5625),  # .5 (.5 + .125); .5 (1 + .125)
    "RBP(p=0.5)@2": golden(0.25, 0.5),  # .5 .5; .5 1
    "Judged": golden(3 / 4, 3 / 4),  # a n b of 4; a a b of 4
    "Judged@4": golden(3 / 4, 3 / 4),
    "SetP": golden(1 / 2, 1 / 2),
    "SetR": golden(2 / 3, 1),
    "SetF": golden(4 / 7, 2 / 3),  # as F1
    "SetF(beta=2)": golden(5 / 8, 5 / 6),  # 5 (1/2)(2/3) / (4 (1/2) + 2/3); 5 (1/2) 1 / (4 (1/2) + 1)
    # From grade 2 on only a and c are relevant, and nothing in the rows without grades.
    "P(rel=2)@2": golden(1 / 2, 0),  # a of 2
    "R(rel=2)": golden(1 / 2, 0),  # a of a c
    "AP(rel=2)": golden(1 / 4, 0),  # (1/2) / 2
    "Bpref(rel=2)": golden(1 / 2, 0),  # a: none above, 1; / 2
    # Without x: a n b, and a a b.
    "P(judged_only=True)@2": (*golden(1 / 2, 1 / 2), special.JUDGED_ONLY_P),
    "AP(judged_only=True)": (
        *golden(5 / 9, 5 / 6),  # (1/1 + 2/3) / 3; a a b: (1/1 + 2/3) / 2
        special.JUDGED_ONLY_AP,
        special.JUDGED_ONLY_NEGATIVE,
        special.JUDGED_ONLY_COPY,
    ),
    "RR(judged_only=True)": golden(1, 1),
}  # fmt: skip


def measure_case(measure: str, golden_rows: tuple[Golden, ...]) -> RetrievalCase:
    """A case of one measure of DocumentRankingEvaluator, with its other parameters at their defaults."""
    name = measure.partition("(")[0].partition("@")[0]
    form = name + ("@" if "@" in measure else "") + ("w" if measure.endswith("w") else "")
    return RetrievalCase(
        f"ranking-{measure}",
        DocumentRankingEvaluator,
        parameters={"measures": [measure], "document_comparison_field": "id"}
        if "w" not in form
        else {"measures": [measure]},
        golden=golden_rows,
        broken_laws=BROKEN.get(measure, BROKEN.get(form, BROKEN.get(form.removesuffix("w"), {}))),
        relevant_from=2 if "rel=2" in measure else 1,
        needs_relevant=name != "Judged",
        needs_cutoff=name == "R_cap",
    )


META_FIELDS = {"nested": "meta.nested.key", "dotted": "meta.dotted.key", "parts": "meta.parts"}
COMPOSITE: dict[str, Any] = {"document_comparison_field": ["meta.file", "meta.page"]}
SPAN: dict[str, Any] = {"matching": "span", "document_comparison_field": "meta.source_id"}
OVERLAP: dict[str, Any] = {"matching": "overlap", "overlap_threshold": 0.5}


def single(
    component: type, measure: str, name: str, *golden_rows: Golden, relevant_from: float = 1, **parameters: Any
) -> RetrievalCase:
    """A case of a component with one measure."""
    form = measure + ("@" if parameters.get("top_k") else "")
    each = EACH_COPY if parameters.get("duplicates") == "each" and measure == "P" else {}
    return RetrievalCase(
        f"{component.__name__}-{name}",
        component,
        parameters=parameters,
        golden=golden_rows,
        broken_laws={**BROKEN.get(form, {}), **each},
        relevant_from=relevant_from,
        needs_cutoff=measure == "R_cap",
    )


def common(component: type, measure: str, **own: Any) -> list[RetrievalCase]:
    """Parameter sets that every component with one measure takes; together they set each shared parameter."""
    threshold = 1 if measure == "nDCG" else 2  # NDCG works on the grades themselves
    return [
        single(component, measure, "cut", document_comparison_field="id", top_k=2, **own),
        single(component, measure, "composite-drop-nan", **COMPOSITE, duplicates="drop", on_undefined="nan", **own),
        single(
            component,
            measure,
            "threshold-nested",
            relevant_from=threshold,
            document_comparison_field=META_FIELDS["nested"],
            relevance_threshold=2,
            **own,
        ),
        single(
            component,
            measure,
            "meta-grades-dotted",
            document_comparison_field=META_FIELDS["dotted"],
            grade_field="meta.grade",
            **own,
        ),
        single(
            component,
            measure,
            "no-grades-frozen",
            relevant_from=-inf,
            document_comparison_field=META_FIELDS["parts"],
            grade_field=None,
            **own,
        ),
        single(component, measure, "overlap", **OVERLAP, **own),
    ]


MULTI: dict[str, Any] = {"mode": "multi_hit"}
PRECISION, HIT, MRR = DocumentPrecisionEvaluator, DocumentHitRateEvaluator, DocumentMRREvaluator
EVIDENCE = DocumentEvidenceEvaluator
RECALL, MAP, NDCG_CLASS = DocumentRecallEvaluator, DocumentMAPEvaluator, DocumentNDCGEvaluator

RETRIEVAL_CASES: list[RetrievalCase] = [
    single(PRECISION, "P", "default", *golden(1 / 2, 1 / 2)),
    *common(PRECISION, "P"),
    single(PRECISION, "P", "golden-cut", *golden(1 / 3, 1 / 3), top_k=3),
    single(PRECISION, "P", "each", special.EACH_P, duplicates="each"),
    single(PRECISION, "P", "each-cut", special.EACH_P_AT_2, duplicates="each", top_k=2),
    single(PRECISION, "P", "each-file", special.FILE_CHUNKS, **COMPOSITE, duplicates="each"),
    single(PRECISION, "P", "span", special.SPAN_PRECISION, **SPAN),
    single(HIT, "Success", "default", *golden(1, 1)),
    *common(HIT, "Success"),
    single(HIT, "Success", "golden-cut", *golden(0, 1), top_k=1),
    single(HIT, "Success", "each", duplicates="each"),
    single(HIT, "Success", "span", **SPAN),
    single(MRR, "RR", "default", *golden(1 / 2, 1), special.EMPTY_CONTENT),
    *common(MRR, "RR"),
    single(MRR, "RR", "golden-cut", *golden(0, 1), top_k=1),
    single(MRR, "RR", "composite", special.COMPOSITE_KEY, **COMPOSITE),
    single(
        MRR,
        "RR",
        "frozen",
        special.LIST_KEY,
        special.DICT_KEY,
        special.EMPTY_LIST_KEY,
        document_comparison_field="meta.parts",
    ),
    single(MRR, "RR", "dotted", special.LITERAL_DOTS, document_comparison_field="meta.dotted.key"),
    single(MRR, "RR", "nested", special.NESTED_KEY, document_comparison_field="meta.nested.key"),
    single(
        MRR,
        "RR",
        "overlap-default",
        special.OVERLAP_ENGLISH,
        special.OVERLAP_JAPANESE,
        special.REPEATED_WORDS,
        special.OVERLAP_RANK,
        matching="overlap",
    ),
    single(
        MRR,
        "RR",
        "by-chunk",
        special.BY_CHUNK_ENGLISH,
        special.OVERLAP_JAPANESE,
        special.REPEATED_WORDS,
        matching="overlap_by_chunk",
    ),
    single(MRR, "RR", "by-chunk-strict", special.BY_CHUNK_STRICT, matching="overlap_by_chunk", overlap_threshold=1),
    single(PRECISION, "P", "overlap-parts", special.OVERLAP_P, matching="overlap"),
    single(HIT, "Success", "by-chunk", matching="overlap_by_chunk"),
    single(MAP, "AP", "overlap-default", special.OVERLAP_MAP, special.OVERLAP_TWO_OF_ONE, matching="overlap"),
    single(MAP, "AP", "by-chunk", special.OVERLAP_TWO_OF_ONE, matching="overlap_by_chunk"),
    single(NDCG_CLASS, "nDCG", "overlap-default", special.OVERLAP_NDCG, matching="overlap"),
    single(NDCG_CLASS, "nDCG", "by-chunk", matching="overlap_by_chunk"),
    single(PRECISION, "P", "by-chunk", matching="overlap_by_chunk"),
    single(RECALL, "R", "overlap-share", special.OVERLAP_SHARE, matching="overlap", **MULTI),
    single(MRR, "RR", "overlap-strict", special.OVERLAP_STRICT, matching="overlap", overlap_threshold=1),
    single(MRR, "RR", "span", special.SPAN_RR, **SPAN),
    single(MAP, "AP", "default", *golden(1 / 3, 3 / 4), special.KEEP_AP),
    *common(MAP, "AP"),
    single(MAP, "AP", "golden-cut", *golden(1 / 6, 1 / 2), top_k=2),
    single(MAP, "AP", "drop", *golden(1 / 3, 5 / 6), special.DROP_AP, duplicates="drop"),
    single(NDCG_CLASS, "nDCG", "default", *NDCG, special.DOUBLE_LABEL),
    *common(NDCG_CLASS, "nDCG"),
    single(NDCG_CLASS, "nDCG", "golden-cut", *NDCG_2, top_k=2),
    single(NDCG_CLASS, "nDCG", "exponential", *NDCG_EXP, gain="exponential"),
    single(NDCG_CLASS, "nDCG", "meta-grades", special.META_GRADES, grade_field="meta.grade"),
    single(EVIDENCE, "R", "default", *golden(2 / 3, 1)),
    *[case for case in common(EVIDENCE, "R") if "duplicates" not in case.parameters],
    single(EVIDENCE, "R", "golden-cut", *golden(1 / 3, 1 / 2), top_k=2, on_undefined="nan"),
    single(EVIDENCE, "R", "overlap-share", special.OVERLAP_SHARE, matching="overlap"),
    single(EVIDENCE, "R", "span", **SPAN),
    single(RECALL, "Success", "default", *golden(1, 1)),
    *common(RECALL, "R", **MULTI),
    single(RECALL, "R", "multi", *golden(2 / 3, 1), special.OVERLAP_TWO_LABELS, matching="overlap", **MULTI),
    single(RECALL, "R", "by-chunk", special.OVERLAP_TWO_LABELS, matching="overlap_by_chunk", **MULTI),
    single(RECALL, "R", "no-grades", special.NO_GRADES, relevant_from=-inf, grade_field=None, **MULTI),
    single(RECALL, "R", "golden-cut", *golden(1 / 3, 1 / 2), top_k=2, **MULTI),
    single(RECALL, "R_cap", "capped", *golden(1 / 2, 1 / 2), top_k=2, capped=True, **MULTI),
    single(RECALL, "Success", "each", duplicates="each"),
    single(
        RECALL,
        "R",
        "span",
        special.SPAN_HALVES,
        special.SPAN_OVERLAP,
        special.SPAN_COPY,
        special.SPAN_AROUND,
        special.SPAN_TWO_LABELS,
        special.SPAN_GRADES,
        **SPAN,
        **MULTI,
    ),
    *(measure_case(measure, golden_rows) for measure, golden_rows in MEASURES.items()),
    # With the default highest grade of 1, r is 1/2 at each relevant rank: 1/4 at 2, (1/2)(1/2)/3 more at 3.
    RetrievalCase(
        "ranking-ERR",
        DocumentRankingEvaluator,
        parameters={"measures": ["ERR"], "grade_field": None},
        golden=(Golden("two at ranks 2 and 3", rows(("a b", "x a b")), [1 / 3]),),
        broken_laws=BROKEN["ERR"],
        relevant_from=-inf,
    ),
    RetrievalCase(
        "ranking-every-parameter",
        DocumentRankingEvaluator,
        parameters={
            "measures": ["R@2", "P@3", "nDCG(dcg='exp-log2')"],
            **COMPOSITE,
            "relevance_threshold": 2,
            "grade_field": "meta.grade",
            "duplicates": "drop",
            "on_undefined": "nan",
            "find_never_retrieved": False,
        },
        broken_laws={**BROKEN["R@"]},
        relevant_from=2,
    ),
    RetrievalCase("ranking-overlap", DocumentRankingEvaluator, parameters={"measures": ["AP"], **OVERLAP}),
    RetrievalCase(
        "ranking-span",
        DocumentRankingEvaluator,
        parameters={"measures": ["F1", "R@2"], **SPAN},
        broken_laws=BROKEN["F1"],
    ),
]
