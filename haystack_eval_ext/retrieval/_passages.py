# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Matching by text, for chunks that move when the splitter changes while the labels stay.

Both ways compare every label of a question with every chunk retrieved for it: labels x chunks comparisons per question
instead of one look-up per chunk. Each distinct text is normalised and split into tokens once per run.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haystack_eval_ext._text import normalize, overlap_tokens, words
from haystack_eval_ext.retrieval._ranking import Found, Hits, Matches, Parts, number_within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack import Document

    from haystack_eval_ext.retrieval._labels import LabelReader
    from haystack_eval_ext.retrieval._ranking import FloatArray, IntArray, Labels

# Shorter runs of tokens ("in the case of") stand in passages that have nothing to do with each other.
_SHORTEST_RUN = 5


class Pair(NamedTuple):
    """A retrieved chunk and a label that it satisfies, or of which it covers characters."""

    query: int
    rank: int
    label: int
    covered: int = 0


class _Passage:
    """A text in the forms that are compared."""

    def __init__(self, text: str) -> None:
        plain = normalize(text)
        #: Its words between blanks, so that "art" is not found in "party".
        self.text = f" {' '.join(words(plain))} "
        self.tokens = overlap_tokens(plain)
        self._runs: dict[int, dict[tuple[str, ...], list[int]]] = {}

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each token occurs."""
        return Counter(self.tokens)

    def runs(self, length: int) -> dict[tuple[str, ...], list[int]]:
        """Where each run of so many tokens begins."""
        if length not in self._runs:
            found = self._runs[length] = {}
            for place, run in enumerate(zip(*(self.tokens[start:] for start in range(length)), strict=False)):
                found.setdefault(run, []).append(place)
        return self._runs[length]


class _Passages:
    """The passages of a run, each distinct text once."""

    def __init__(self) -> None:
        self._known: dict[str, _Passage] = {}

    def of(self, text: str) -> _Passage:
        if text not in self._known:
            self._known[text] = _Passage(text)
        return self._known[text]


class _Covered:
    """A labelled passage and which of its tokens no chunk has covered yet."""

    def __init__(self, number: int, passage: _Passage) -> None:
        self.number = number
        self.passage = passage
        self.length = len(passage.tokens)
        self.covered = 0
        self._uncovered = bytearray(b"\x01" * self.length)

    def cover(self, chunk: _Passage) -> int | None:
        """Mark what a chunk covers and count what is new of it; None if it covers nothing at all."""
        if self.length and self.passage.text in chunk.text:
            new = sum(self._uncovered)
            self._uncovered = bytearray(self.length)
        else:
            length = min(_SHORTEST_RUN, self.length, len(chunk.tokens))
            runs = self.passage.runs(length) if length else {}
            common = runs.keys() & chunk.runs(length).keys() if length else set()
            if not common:
                return None
            new = 0
            for run in common:
                for start in runs[run]:
                    for place in range(start, start + length):
                        new += self._uncovered[place]
                        self._uncovered[place] = 0
        self.covered += new
        return new


def overlaps(
    truths: Sequence[Sequence[Document]],
    retrieved: Sequence[Sequence[Document]],
    reader: LabelReader,
    threshold: float,
    *,
    each: bool,
) -> Matches:
    """
    Match chunks with the labelled passages whose tokens they cover, together.

    A token of a passage is covered where it stands in a run of at least five tokens that the chunk has as well; in a
    run of all tokens, where the passage or the chunk has fewer. A passage counts as found at the rank where the covered
    share reaches the threshold.

    :param truths: The ground-truth documents of each question, compared by content.
    :param retrieved: The retrieved documents of each question, best first.
    :param reader: Reads the labels; its key is the content.
    :param threshold: Share of a passage's tokens.
    :param each: Whether a chunk that covers nothing new counts as a hit.
    :returns: The hits and labels of the batch, and what of each label was covered.
    """
    passages = _Passages()
    pairs: list[Pair] = []
    parts: list[Pair] = []
    reached: list[Pair] = []
    lengths: list[int] = []
    without_key = beyond = 0
    for query, (numbers, documents) in enumerate(zip(reader.read(truths), retrieved, strict=True)):
        labels = [_Covered(number, passages.of(str(text))) for text, number in numbers.items()]
        lengths.extend(label.length or 1 for label in labels)
        held = 0
        for rank, document in enumerate(documents, start=1):
            if not document.content:
                without_key += 1
                continue
            chunk = passages.of(document.content)
            held += len(chunk.tokens)
            for label in labels:
                missing = not _reaches(label.covered, label.length, threshold)
                new = label.cover(chunk)
                if new is None:
                    continue
                pair = Pair(query, rank, label.number, new)
                pairs.append(pair)
                if new:
                    parts.append(pair)
                if missing and _reaches(label.covered, label.length, threshold):
                    reached.append(pair)
        beyond += sum(not _reaches(held, label.length, threshold) for label in labels) if documents else 0
    table = reader.labels(truths)
    covering = assemble(table, pairs, without_key, each=True)
    found = assemble(table, parts, without_key, lengths=lengths)
    return Matches(
        labels=table,
        hits=covering.hits if each else found.hits,
        found=assemble(table, reached, without_key).found,
        judged=covering.judged,
        without_key=without_key,
        shares=found.found,
        out_of_reach=beyond,
    )


def overlaps_by_chunk(
    truths: Sequence[Sequence[Document]],
    retrieved: Sequence[Sequence[Document]],
    reader: LabelReader,
    threshold: float,
    *,
    each: bool,
) -> Matches:
    """
    Match a chunk with each labelled passage that it contains, or of whose tokens it has at least a given share.

    :param truths: The ground-truth documents of each question, compared by content.
    :param retrieved: The retrieved documents of each question, best first.
    :param reader: Reads the labels; its key is the content.
    :param threshold: Share of the passage's tokens, repeated tokens counted as often as they occur.
    :param each: Whether a chunk that satisfies only labels found before counts as a hit.
    :returns: The hits and labels of the batch.
    """
    passages = _Passages()
    pairs: list[Pair] = []
    without_key = 0
    for query, (numbers, documents) in enumerate(zip(reader.read(truths), retrieved, strict=True)):
        labels = [(passages.of(str(text)), number) for text, number in numbers.items()]
        for rank, document in enumerate(documents, start=1):
            if not document.content:
                without_key += 1
                continue
            chunk = passages.of(document.content)
            pairs.extend(Pair(query, rank, number) for label, number in labels if _satisfies(chunk, label, threshold))
    return assemble(reader.labels(truths), pairs, without_key, each=each)


def _satisfies(chunk: _Passage, label: _Passage, threshold: float) -> bool:
    if not label.tokens:
        return False  # nothing but punctuation or white space
    if label.text in chunk.text:
        return True
    shared = sum(min(times, chunk.counts[token]) for token, times in label.counts.items())
    return _reaches(shared, len(label.tokens), threshold)


def _reaches(covered: int, length: int, threshold: float) -> bool:
    # By division, which is exact to the last digit: 0.55 * 100 is a little more than 55.
    return not length or covered / length >= threshold


def assemble(
    labels: Labels, pairs: list[Pair], without_key: int, *, each: bool = False, lengths: list[int] | None = None
) -> Matches:
    """
    Put pairs, ordered by query and rank, into flat arrays.

    :param labels: All labels.
    :param pairs: Documents and the labels that they satisfy, or of which they cover something.
    :param without_key: Retrieved documents that lack the compared field.
    :param each: Whether a document that satisfies only labels found before counts as a hit.
    :param lengths: With them a pair finds the part of a label that it covers; else the first pair finds it whole.
    :returns: The hits and labels of the batch.
    """
    query, rank, number, covered = (np.array(column, dtype=np.int64) for column in _columns(pairs))
    label = labels.places(query, number)
    judged = _documents(query, rank, labels.grade[label])
    if lengths is None:
        first = np.unique(label, return_index=True)[1]
        query, rank, label, covered = query[first], rank[first], label[first], covered[first]
    # The best label of a chunk comes first, as it would in the ideal ranking.
    order = np.lexsort((-labels.grade[label], rank, query))
    query, rank, label, covered = query[order], rank[order], label[order], covered[order]
    grade = labels.grade[label]
    parts = None if lengths is None else Parts(label, covered, np.array(lengths, dtype=np.int64))
    found = Found(query, rank, grade, _positions(query, rank), parts)
    return Matches(labels, judged if each else _documents(query, rank, grade), found, judged, without_key)


def _columns(pairs: list[Pair]) -> list[list[int]]:
    return [[pair[column] for pair in pairs] for column in range(len(Pair._fields))]


def _documents(query: IntArray, rank: IntArray, grade: FloatArray) -> Hits:
    """One entry per document, with the highest grade of its labels."""
    if not len(query):
        return Hits(query, rank, grade)
    new = np.concatenate(([True], (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])))
    starts = np.flatnonzero(new)
    return Hits(query[starts], rank[starts], np.maximum.reduceat(grade, starts))


def _positions(query: IntArray, rank: IntArray) -> IntArray:
    """The rank of a label, or the next one after the label before it where one document satisfies several."""
    number = number_within(query)
    # Position - number never falls within a query; a stride above every rank starts it anew for the next query.
    stride = int(rank.max(initial=0)) + len(rank) + 1
    return np.maximum.accumulate(rank - number + query * stride) - query * stride + number
