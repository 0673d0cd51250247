# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The retrieval measures, each a pure function over a whole batch.

A measure takes a :class:`JudgedRanking`, a depth (a number of documents, one number per query, or None for all) and a
level (the lowest relevant grade, None for every grade above 0), and returns one value per query. Where a query has no
relevant document, every measure except ``Judged`` is undefined; :func:`evaluate` makes those values NaN in one place.
Conventions are trec_eval's, names are ir_measures'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval._ranking import cut, discounted_gains

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack_eval_ext.retrieval._ranking import Depth, FloatArray, IntArray, JudgedRanking

Value = bool | int | float | str | None

# 2^grade stays a finite number.
_HIGHEST_GRADE = 1000
_HIGHEST_BETA = 1000


class Parameter(NamedTuple):
    """A parameter that a measure takes in parentheses, as in ``RBP(p=0.8)``."""

    default: Value
    description: str
    accepts: Callable[[Any], bool]


_JUDGED_ONLY = Parameter(
    default=False,
    description="True, which leaves out documents without a judgment before anything else (trec_eval -J), or False",
    accepts=lambda value: isinstance(value, bool),
)
_REL = Parameter(
    default=None,
    description="the lowest relevant grade, a number, in place of relevance_threshold",
    accepts=is_number,
)


class Definition(NamedTuple):
    """A measure, and what names, checks and the reference page need to know of it."""

    name: str
    summary: str
    source: str
    function: Callable[..., FloatArray]
    cutoff: Literal["optional", "required", "none"] = "optional"
    own_parameters: dict[str, Parameter] = {}  # noqa: RUF012 - only read
    aliases: tuple[str, ...] = ()
    graded: bool = False  # uses the grades themselves, so that a relevance level means nothing to it
    needs_relevant: bool = True  # undefined for a query without a relevant document
    first_hit_only: bool = False  # nothing behind the first relevant document changes it
    partial: bool = False  # defined when labels are found in parts (matching="span")
    words: bool = True  # defined for a text budget in place of a number of documents
    repeats: bool = False  # defined when every chunk of a relevant document counts (duplicates="each")

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters that the measure takes, by name."""
        shared = {"judged_only": _JUDGED_ONLY} if self.needs_relevant else {}
        return {**self.own_parameters, **shared, **({} if self.graded or not self.needs_relevant else {"rel": _REL})}


class Measure(NamedTuple):
    """
    A measure with its parameters and cut-off.

    :param name: Name in :data:`MEASURES`.
    :param parameters: Parameters that differ from their defaults, by name.
    :param cutoff: Number of documents, or of words, that count; None for all.
    :param in_words: Whether the cut-off is a text budget.
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    in_words: bool = False

    def __str__(self) -> str:
        """The name in ir_measures' form, which ``parse_measure`` reads back."""
        parameters = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}{'w' if self.in_words else ''}"
        return f"{self.name}{f'({parameters})' if parameters else ''}{cutoff}"


MEASURES: dict[str, Definition] = {}


def _measure(
    name: str, summary: str, source: str, **traits: Any
) -> Callable[[Callable[..., FloatArray]], Callable[..., FloatArray]]:
    def register(function: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
        MEASURES[name] = Definition(name, summary, source, function, **traits)
        return function

    return register


def evaluate(measure: Measure, ranking: JudgedRanking, relevance_threshold: float | None) -> FloatArray:
    """
    Compute one measure for every query of a batch.

    :param measure: The measure, parsed.
    :param ranking: The batch.
    :param relevance_threshold: Lowest relevant grade unless the measure names its own with ``rel``; None: above 0.
    :returns: One value per query, NaN where the measure is undefined.
    """
    definition = MEASURES[measure.name]
    parameters: dict[str, Any] = dict(measure.parameters)
    if parameters.pop("judged_only", False):
        ranking = ranking.judged_only()
    level = None if definition.graded else parameters.pop("rel", relevance_threshold)
    depth: Depth = measure.cutoff
    if measure.in_words and measure.cutoff is not None:
        depth = ranking.depth_within(measure.cutoff)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = definition.function(ranking, depth, level, **parameters)
    if definition.needs_relevant:
        values[ranking.relevance(level).total == 0] = np.nan
    return values


def _share(part: IntArray | FloatArray, whole: IntArray | FloatArray | int) -> FloatArray:
    """Part / whole, and 0 where there is nothing to divide by."""
    return np.where(np.equal(whole, 0), 0.0, part / whole)


@_measure(
    "P",
    "Share of the first k documents that are relevant; missing documents count as not relevant",
    "trec_eval P; van Rijsbergen, Information Retrieval, 1979",
    aliases=("Precision",),
    partial=True,
    repeats=True,
)
def precision(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """Relevant documents in the first k / k; without a cut-off / documents retrieved, in a budget / those that fit."""
    return _share(ranking.relevance(level).count(depth), ranking.retrieved if depth is None else depth)


@_measure(
    "R",
    "Share of all relevant documents that are among the first k",
    "trec_eval recall; van Rijsbergen, Information Retrieval, 1979",
    aliases=("Recall",),
    partial=True,
)
def recall(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """Relevant labels found in the first k / relevant labels."""
    relevance = ranking.relevance(level)
    return relevance.found_count(depth) / relevance.total


@_measure(
    "R_cap",
    "Recall that can reach 1 at every cut-off: at most k relevant documents are asked for",
    "BEIR R_cap@k; trec_eval relative_P",
    cutoff="required",
    words=False,
)
def capped_recall(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """Relevant labels found in the first k / min(relevant labels, k)."""
    relevance = ranking.relevance(level)
    # One document can satisfy several labels, so that more than k labels may be found.
    possible = np.minimum(relevance.total, depth)  # type: ignore[arg-type]
    return _share(np.minimum(relevance.found_count(depth), possible), possible)


@_measure("F1", "Harmonic mean of P@k and R@k", "van Rijsbergen, Information Retrieval, 1979", partial=True)
def f1(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """2 P R / (P + R), 0 when both are 0."""
    return _f_measure(precision(ranking, depth, level), recall(ranking, depth, level), 1.0)


@_measure(
    "Success",
    "1 if a relevant document is among the first k, else 0; also called hit rate",
    "trec_eval success",
    first_hit_only=True,
    partial=True,
    repeats=True,
)
def success(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """1 if the rank of the first relevant document is within k."""
    return np.asarray(reciprocal_rank(ranking, depth, level) > 0, dtype=np.float64)


@_measure(
    "RR",
    "One over the rank of the first relevant document, 0 if there is none among the first k",
    "trec_eval recip_rank; Kantor and Voorhees, TREC-5, 1996",
    aliases=("MRR",),
    first_hit_only=True,
    partial=True,
    repeats=True,
)
def reciprocal_rank(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """1 / rank of the first relevant document."""
    first = ranking.relevance(level).first
    near = cut(first, depth)
    values = np.zeros(ranking.n_queries)
    values[first.query[near]] = 1.0 / first.rank[near]
    return values


@_measure(
    "AP",
    "Mean of the precision at each relevant document; those that are not retrieved count as 0",
    "trec_eval map, map_cut; Harman, TREC-1, 1992",
    aliases=("MAP",),
)
def average_precision(ranking: JudgedRanking, depth: Depth, level: float | None) -> FloatArray:
    """Sum of the precision at the rank of each relevant label in the first k / all relevant labels."""
    relevance = ranking.relevance(level)
    near = cut(relevance.found, depth)
    precisions = relevance.precision_at_found[near]
    return np.bincount(relevance.found.query[near], precisions, ranking.n_queries) / relevance.total


@_measure(
    "nDCG",
    "Gain of the first k documents, discounted by rank, as a share of the best possible one",
    "trec_eval ndcg, ndcg_cut; Järvelin and Kekäläinen, TOIS 20(4), 2002; exp-log2: Burges et al., ICML 2005",
    aliases=("NDCG",),
    own_parameters={
        "dcg": Parameter(
            default="log2",
            description="'log2' (the gain is the grade) or 'exp-log2' (the gain is 2^grade - 1)",
            accepts=lambda value: value in ("log2", "exp-log2"),
        )
    },
    graded=True,
)
def ndcg(ranking: JudgedRanking, depth: Depth, _level: None, dcg: str = "log2") -> FloatArray:
    """Sum of gain / log2(rank + 1) over the first k / the same sum over the ideal ranking, cut at k as well."""
    if dcg == "exp-log2":
        _check_highest_grade(ranking, _HIGHEST_GRADE, "The exponential gain of nDCG", "Use the linear gain.")
    return _share(*discounted_gains(ranking, depth, exponential=dcg == "exp-log2"))


@_measure(
    "Rprec",
    "Precision at R, the number of relevant documents",
    "trec_eval Rprec; Buckley and Voorhees, SIGIR 2000",
    cutoff="none",
    aliases=("RPrec",),
)
def r_precision(ranking: JudgedRanking, _depth: None, level: float | None) -> FloatArray:
    """Relevant documents in the first R / R."""
    relevance = ranking.relevance(level)
    return relevance.count(relevance.total) / relevance.total


@_measure(
    "Bpref",
    "How rarely a document judged not relevant stands above a relevant one; unjudged documents do not matter",
    "trec_eval bpref; Buckley and Voorhees, SIGIR 2004",
    cutoff="none",
    aliases=("BPref",),
)
def bpref(ranking: JudgedRanking, _depth: None, level: float | None) -> FloatArray:
    """1/R sum over the relevant retrieved of 1 - min(judged not relevant above, R) / min(judged not relevant, R)."""
    relevance = ranking.relevance(level)
    total = relevance.total
    # Where several documents cover a label together, the one counts that finds it.
    labels, hits = ranking.labels, ranking.hits if ranking.shares is None else ranking.found
    # A negative grade marks a document that was pooled but not judged.
    nonrelevant = np.bincount(
        labels.query[(labels.grade >= 0) & ~relevance.at_level(labels.grade)], minlength=ranking.n_queries
    )
    relevant_hit = relevance.at_level(hits.grade)
    wrong = (hits.grade >= 0) & ~relevant_hit
    above: IntArray = (
        np.cumsum(wrong) - np.concatenate(([0], np.cumsum(wrong)))[np.searchsorted(hits.query, hits.query)]
    )
    query = hits.query[relevant_hit]
    bound = total[query]
    preferred = 1.0 - _share(np.minimum(above[relevant_hit], bound), np.minimum(nonrelevant[query], bound))
    return np.bincount(query, preferred, ranking.n_queries) / total


@_measure(
    "ERR",
    "Expected reciprocal rank at which a user who reads from the top is satisfied; a grade is a chance of it",
    "Chapelle et al., CIKM 2009",
    own_parameters={
        "max_grade": Parameter(
            default=1,
            description="the highest grade of the labels, above 0 and at most 1000; ir_measures fixes it at 4",
            accepts=lambda value: is_number(value) and 0 < value <= _HIGHEST_GRADE,
        )
    },
    graded=True,
)
def expected_reciprocal_rank(ranking: JudgedRanking, depth: Depth, _level: None, max_grade: float = 1) -> FloatArray:
    """Sum over the ranks of r_i / i prod over j < i of (1 - r_j), with r = (2^grade - 1) / 2^max_grade."""
    _check_highest_grade(ranking, max_grade, f"ERR(max_grade={max_grade})", "Use the highest grade of your labels.")
    hits = ranking.relevance(None).hits
    near = cut(hits, depth)
    query, rank = hits.query[near], hits.rank[near]
    satisfied = (np.exp2(hits.grade[near]) - 1) / np.exp2(max_grade)
    values = np.zeros(ranking.n_queries)
    bounds = np.searchsorted(query, np.arange(ranking.n_queries + 1))
    for row in np.flatnonzero(np.diff(bounds)).tolist():
        part = slice(bounds[row], bounds[row + 1])
        reached = np.concatenate(([1.0], np.cumprod(1.0 - satisfied[part])[:-1]))
        values[row] = np.sum(reached * satisfied[part] / rank[part])
    return values


def _check_highest_grade(ranking: JudgedRanking, bound: float, measure: str, hint: str) -> None:
    grades = ranking.labels.grade
    if grades.max(initial=0.0) > bound:
        row = int(ranking.labels.query[grades.argmax()])
        place = f"row {row}" if ranking.names is None else f"query {ranking.names[row]}"
        msg = f"{measure} allows grades up to {bound:g}, but {place} has the grade {grades.max():g}. {hint}"
        raise InvalidValueError(msg)


@_measure(
    "RBP",
    "Share of relevant documents among those that a user sees who goes on to the next with chance p",
    "Moffat and Zobel, TOIS 27(1), 2008",
    own_parameters={
        "p": Parameter(
            default=0.8,
            description="the chance of going on to the next document, a float above 0 and below 1",
            accepts=lambda value: isinstance(value, float) and 0 < value < 1,
        )
    },
)
def rank_biased_precision(ranking: JudgedRanking, depth: Depth, level: float | None, p: float = 0.8) -> FloatArray:
    """(1 - p) sum over the relevant documents in the first k of p^(rank - 1)."""
    hits = ranking.relevance(level).hits
    near = cut(hits, depth)
    seen = p ** (hits.rank[near] - 1.0)
    return np.asarray((1 - p) * np.bincount(hits.query[near], seen, ranking.n_queries), dtype=np.float64)


@_measure(
    "Judged",
    "Share of the first k documents that carry a label, relevant or not; undefined where nothing was retrieved",
    "ir_measures Judged; BEIR Hole is its complement",
    needs_relevant=False,
    repeats=True,
)
def judged(ranking: JudgedRanking, depth: Depth, _level: float | None) -> FloatArray:
    """Judged documents in the first k / min(k, documents retrieved)."""
    near = cut(ranking.judged, depth)
    seen = ranking.retrieved if depth is None else np.minimum(depth, ranking.retrieved)
    return np.bincount(ranking.judged.query[near], minlength=ranking.n_queries) / seen


@_measure("SetP", "Share of all retrieved documents that are relevant", "trec_eval set_P", cutoff="none", partial=True)
def set_precision(ranking: JudgedRanking, _depth: None, level: float | None) -> FloatArray:
    """Relevant documents retrieved / documents retrieved, 0 if there are none."""
    return precision(ranking, None, level)


@_measure(
    "SetR", "Share of all relevant documents that were retrieved", "trec_eval set_recall", cutoff="none", partial=True
)
def set_recall(ranking: JudgedRanking, _depth: None, level: float | None) -> FloatArray:
    """Relevant labels found / relevant labels."""
    return recall(ranking, None, level)


@_measure(
    "SetF",
    "F-measure of SetP and SetR; recall weighs beta times as much as precision",
    "trec_eval set_F, whose parameter is beta squared; van Rijsbergen, Information Retrieval, 1979",
    cutoff="none",
    own_parameters={
        "beta": Parameter(
            default=1.0,
            description="the weight of recall against precision, above 0 and at most 1000",
            accepts=lambda value: is_number(value) and 0 < value <= _HIGHEST_BETA,
        )
    },
    partial=True,
)
def set_f(ranking: JudgedRanking, _depth: None, level: float | None, beta: float = 1.0) -> FloatArray:
    """(1 + beta^2) P R / (beta^2 P + R), 0 when both are 0."""
    return _f_measure(precision(ranking, None, level), recall(ranking, None, level), beta)


def _f_measure(precisions: FloatArray, recalls: FloatArray, beta: float) -> FloatArray:
    weight = beta * beta
    return _share((1 + weight) * precisions * recalls, weight * precisions + recalls)
