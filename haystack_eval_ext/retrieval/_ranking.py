# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a measure sees of a batch: flat arrays of the judged documents that were retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    import numpy.typing as npt

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float64]
    BoolArray = npt.NDArray[np.bool_]
    Depth = int | IntArray | None

# How much larger than its content a padded array may be.
_PADDING = 4


class Hits(NamedTuple):
    """Retrieved documents that carry a label, ordered by query and rank; one entry per document."""

    query: IntArray
    rank: IntArray  # from 1
    grade: FloatArray

    def where(self, mask: BoolArray) -> Hits:
        """The hits at which the mask is true."""
        index = np.flatnonzero(mask)
        return Hits(self.query[index], self.rank[index], self.grade[index])


class Parts(NamedTuple):
    """What of each label was found, where labels are spans of characters."""

    label: IntArray  # per found part
    covered: IntArray  # characters, per found part
    length: IntArray  # per label


class Found(NamedTuple):
    """Labels at the first rank that satisfies them, by query and rank; one entry per label, or per part of one."""

    query: IntArray
    rank: IntArray
    grade: FloatArray
    # Labels that one document satisfies together take successive positions, so that a gain is never discounted less
    # than in the ideal ranking. Equal to rank wherever a document satisfies one label.
    position: IntArray
    parts: Parts | None = None  # None: every label is found whole

    def where(self, mask: BoolArray) -> Found:
        """The found labels at which the mask is true."""
        index = np.flatnonzero(mask)
        parts = self.parts and self.parts._replace(label=self.parts.label[index], covered=self.parts.covered[index])
        return Found(self.query[index], self.rank[index], self.grade[index], self.position[index], parts)


class Labels(NamedTuple):
    """The distinct judged documents of each query, retrieved or not, ordered by query."""

    query: IntArray
    grade: FloatArray
    sizes: IntArray  # labels per query

    def places(self, query: IntArray, number: IntArray) -> IntArray:
        """The place of labels in these arrays, from their query and their number within it."""
        return (np.cumsum(self.sizes) - self.sizes)[query] + number


class Matches(NamedTuple):
    """What one way of matching finds in a batch; the fields are those of :class:`JudgedRanking`."""

    labels: Labels
    hits: Hits
    found: Found
    judged: Hits
    without_key: int  # retrieved documents that lack the compared field
    shares: Found | None = None
    out_of_reach: int = 0  # labels longer than all that was retrieved for their question could cover
    untrusted: Mapping[int, str] = {}  # queries whose labels cannot be placed, with the reason


@dataclass(eq=False)
class JudgedRanking:
    """
    A batch of rankings with their labels.

    :param n_queries: Number of rows.
    :param retrieved: Number of documents retrieved, per query.
    :param labels: All labels.
    :param hits: The retrieved documents that satisfy a label which no earlier document satisfied; with
        ``duplicates="each"`` all that satisfy one.
    :param found: The labels that were found.
    :param judged: The retrieved documents that carry a label, later copies of a document included.
    :param words: Words of each retrieved document, flat; only there when a measure has a text budget.
    :param names: Names of the queries, for messages; None: they are rows.
    :param shares: What of each label was found, where that is told apart from the labels that were found; recall counts
        these shares. None: recall counts ``found``.
    :param out_of_reach: Labels with more tokens than all that was retrieved for their question could cover.
    :param untrusted: By query why its labels cannot be placed in their documents: it is not to be scored.
    """

    n_queries: int
    retrieved: IntArray
    labels: Labels
    hits: Hits
    found: Found
    judged: Hits
    words: IntArray | None = None
    names: list[str] | None = None
    shares: Found | None = None
    out_of_reach: int = 0
    untrusted: Mapping[int, str] = field(default_factory=dict)
    # Several measures at several cut-offs share these, so that each is computed once per batch.
    _levels: dict[float | None, Relevance] = field(default_factory=dict, repr=False)
    _gains: dict[bool, tuple[FloatArray, FloatArray]] = field(default_factory=dict, repr=False)

    def relevance(self, level: float | None) -> Relevance:
        """
        The binary view of the batch.

        :param level: Lowest relevant grade, or None for every grade above 0.
        :returns: The relevant hits and labels.
        """
        if level not in self._levels:
            self._levels[level] = Relevance(self, level)
        return self._levels[level]

    @cached_property
    def ideal(self) -> Hits:
        """The best possible ranking of the labels above 0: highest grade first, no rank left out."""
        positive = self.labels.grade > 0
        query, grade = self.labels.query[positive], self.labels.grade[positive]
        rank = number_within(query) + 1
        if len(grade) and grade.min() != grade.max():
            grade = _sort_within(query, rank, grade, self.n_queries)
        return Hits(query, rank, grade)

    def gains(self, *, exponential: bool) -> tuple[FloatArray, FloatArray]:
        """
        Discounted gains.

        :param exponential: Whether the gain is 2^grade - 1 instead of the grade.
        :returns: Gain / log2(rank + 1) of each found label above 0, and of each document of the ideal ranking.
        """
        if exponential not in self._gains:
            found, ideal = self.relevance(None).found, self.ideal
            gain, best = (np.exp2(x.grade) - 1 if exponential else x.grade for x in (found, ideal))
            deepest = max(found.position.max(initial=1), ideal.rank.max(initial=1))
            discount = np.log2(np.arange(deepest + 1) + 1.0)
            self._gains[exponential] = gain / discount[found.position], best / discount[ideal.rank]
        return self._gains[exponential]

    def depth_within(self, words: int) -> IntArray:
        """
        How many of the first documents fit into a text budget.

        :param words: The budget: documents count while the sum of their words stays within it.
        :returns: A depth per query.
        """
        if self.words is None:
            msg = "The ranking was built without word counts."
            raise InvalidValueError(msg)
        row = np.repeat(np.arange(self.n_queries), self.retrieved)
        spent = np.concatenate(([0], np.cumsum(self.words)))
        before = spent[np.cumsum(self.retrieved) - self.retrieved]
        return np.bincount(row[spent[1:] - before[row] <= words], minlength=self.n_queries)

    def judged_only(self) -> JudgedRanking:
        """The same batch without the documents that nobody judged (no label, or a negative grade): trec_eval's -J."""
        judged = self.judged.where(self.judged.grade >= 0)
        rank = number_within(judged.query) + 1
        # Copies of a document keep their rank here as well, but are no hits.
        stride = int(judged.rank.max(initial=0)) + 1
        hit = np.isin(judged.query * stride + judged.rank, self.hits.query * stride + self.hits.rank)
        judged = judged._replace(rank=rank)
        hits = judged.where(hit)
        found = Found(hits.query, hits.rank, hits.grade, hits.rank)
        retrieved = np.bincount(judged.query, minlength=self.n_queries)
        return JudgedRanking(self.n_queries, retrieved, self.labels, hits, found, judged)


class Relevance:
    """The hits and labels of a batch that are relevant at one level, with what several measures need of them."""

    def __init__(self, ranking: JudgedRanking, level: float | None) -> None:
        """
        Filter a batch.

        :param ranking: The batch.
        :param level: Lowest relevant grade, or None for every grade above 0.
        """
        self._ranking = ranking
        self._level = level
        self._counts: dict[int, IntArray] = {}
        relevant_label = self.at_level(ranking.labels.grade)
        #: Relevant labels per query.
        self.total = np.bincount(ranking.labels.query[relevant_label], minlength=ranking.n_queries)
        relevant_hit = self.at_level(ranking.hits.grade)
        #: Relevant retrieved documents.
        self.hits = ranking.hits if relevant_hit.all() else ranking.hits.where(relevant_hit)

    def at_level(self, grade: FloatArray) -> BoolArray:
        """
        Tell which grades are relevant.

        :param grade: Grades.
        :returns: True where a grade reaches the level.
        """
        reached: BoolArray = reaches(grade, self._level)
        return reached

    @cached_property
    def found(self) -> Found:
        """The relevant labels that were found."""
        hits, found = self._ranking.hits, self._ranking.found
        if found.query is hits.query:
            return Found(self.hits.query, self.hits.rank, self.hits.grade, self.hits.rank)
        return found.where(self.at_level(found.grade))

    @cached_property
    def first(self) -> Hits:
        """The first relevant document of each query that has one; where labels are covered in parts, that finds one."""
        if self._ranking.shares is None:
            return self.hits.where(number_within(self.hits.query) == 0)
        found = self.found
        return Hits(found.query, found.rank, found.grade).where(number_within(found.query) == 0)

    @cached_property
    def precision_at_found(self) -> FloatArray:
        """For each found label, the precision at the rank where it was found."""
        hits, found = self.hits, self.found
        if len(hits.query) == len(found.query) and self._ranking.shares is None:
            return (number_within(hits.query) + 1) / hits.rank
        # A document satisfied several labels, or several documents the same one: count the documents up to that rank.
        stride = int(max(hits.rank.max(initial=0), found.rank.max(initial=0))) + 1
        upto = np.searchsorted(hits.query * stride + hits.rank, found.query * stride + found.rank, side="right")
        return (upto - np.searchsorted(hits.query, found.query)) / found.rank

    def count(self, depth: Depth) -> IntArray:
        """
        Count the relevant documents among the first.

        :param depth: How many documents count: a number, one per query, or None for all.
        :returns: A count per query.
        """
        if not isinstance(depth, int):
            return np.bincount(self.hits.query[cut(self.hits, depth)], minlength=self._ranking.n_queries)
        if depth not in self._counts:
            near = cut(self.hits, depth)
            self._counts[depth] = np.bincount(self.hits.query[near], minlength=self._ranking.n_queries)
        return self._counts[depth]

    def found_count(self, depth: Depth) -> IntArray | FloatArray:
        """
        Count the relevant labels found by the first documents; a label found in parts counts with its share.

        :param depth: How many documents count: a number, one per query, or None for all.
        :returns: A count per query.
        """
        ranking = self._ranking
        found = self.found if ranking.shares is None else ranking.shares.where(self.at_level(ranking.shares.grade))
        if found.parts is None:
            if found.query is self.hits.query:
                return self.count(depth)
            return np.bincount(found.query[cut(found, depth)], minlength=ranking.n_queries)
        near, parts = cut(found, depth), found.parts
        # Characters are summed before they are divided, so that a label which is covered whole counts exactly 1.
        covered = np.bincount(parts.label[near], parts.covered[near], len(parts.length))
        return np.bincount(ranking.labels.query, covered / parts.length, ranking.n_queries)


def reaches(grade: Any, level: float | None) -> Any:
    """
    Tell which grades are relevant.

    :param grade: A grade, or an array of grades.
    :param level: Lowest relevant grade, or None for every grade above 0.
    :returns: True, or an array with True, where a grade reaches the level.
    """
    return grade > 0 if level is None else grade >= level


def cut(ranked: Hits | Found, depth: Depth) -> IntArray | slice:
    """
    Select what stands among the first documents.

    :param ranked: Hits or found labels.
    :param depth: How many documents count: a number, one per query, or None for all.
    :returns: An index into their arrays.
    """
    if depth is None:
        return slice(None)
    # Indices: numpy selects by them several times faster than by a mask.
    return np.flatnonzero(ranked.rank <= (depth if isinstance(depth, int) else depth[ranked.query]))


def discounted_gains(ranking: JudgedRanking, depth: Depth, *, exponential: bool) -> tuple[FloatArray, FloatArray]:
    """
    The discounted cumulative gain of each query.

    :param ranking: The batch.
    :param depth: How many documents count.
    :param exponential: Whether the gain is 2^grade - 1 instead of the grade.
    :returns: That of the ranking, and that of the ideal one.
    """
    actual, ideal = ranking.gains(exponential=exponential)
    found, best = ranking.relevance(None).found, ranking.ideal
    if isinstance(depth, int):
        # By position: labels that a document satisfies beyond the first fill places of the ideal ranking as well.
        near, near_best = cut(found._replace(rank=found.position), depth), cut(best, depth)
    else:
        # A text budget does not cut the ideal: what fits into it depends on the chunks of the ranking.
        near, near_best = cut(found, depth), cut(best, None)
    gain = np.bincount(found.query[near], actual[near], ranking.n_queries)
    highest = np.bincount(best.query[near_best], ideal[near_best], ranking.n_queries)
    # To numpy's types a sum with weights is whole numbers.
    return gain.astype(np.float64, copy=False), highest.astype(np.float64, copy=False)


def _sort_within(query: IntArray, rank: IntArray, grade: FloatArray, n_queries: int) -> FloatArray:
    """The grades of each query, highest first."""
    width = int(rank.max())
    if n_queries * width > _PADDING * len(grade):
        return grade[np.lexsort((-grade, query))]
    # A row per query, filled up behind its grades, is sorted several times faster than one long array by two keys.
    padded = np.full((n_queries, width), np.inf)
    padded[query, rank - 1] = -grade
    padded.sort(axis=1)
    return -padded[query, rank - 1]


def number_within(query: IntArray) -> IntArray:
    """
    Number the entries of each query.

    :param query: Query of each entry, ascending.
    :returns: 0 for the first entry of a query, 1 for its second, and so on.
    """
    index = np.arange(len(query))
    starts = np.zeros_like(index)
    starts[1:] = np.where(query[1:] != query[:-1], index[1:], 0)
    return index - np.maximum.accumulate(starts)
