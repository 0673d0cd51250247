# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From Documents to a JudgedRanking: when a retrieved document satisfies a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from haystack_eval_ext._parameters import check_choice, is_number
from haystack_eval_ext._scores import note
from haystack_eval_ext._text import count_words
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval import _passages, _spans
from haystack_eval_ext.retrieval._keys import Keys, grade_getter, has_key, make_keys, read_fields
from haystack_eval_ext.retrieval._labels import LabelReader
from haystack_eval_ext.retrieval._mismatch import field_advice
from haystack_eval_ext.retrieval._ranking import Found, Hits, JudgedRanking, Matches, reaches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import numpy.typing as npt
    from haystack import Document

    from haystack_eval_ext.retrieval._keys import Key
    from haystack_eval_ext.retrieval._ranking import IntArray

Matching = Literal["exact", "overlap", "overlap_by_chunk", "span"]
OVERLAPS = ("overlap", "overlap_by_chunk")
Duplicates = Literal["keep", "drop", "each"]

_NO_KEY = -1


class Reach(NamedTuple):
    """How far the measures of a run look into a ranking."""

    documents: int | None = None  # no measure looks behind this rank; None: to the end
    words: bool = False  # a measure has a text budget
    first_hit_only: bool = False  # nothing behind the first relevant document matters


@dataclass(eq=False)
class Judging:
    """
    When a retrieved document satisfies a label: the parameters that every retrieval evaluator shares.

    :param document_comparison_field: What is compared: "content", "id", "meta.<key>", or a list of these.
    :param grade_field: Where a label's grade stands: "score", "meta.<key>", or None: all labels count alike.
    :param matching: "exact", "overlap", "overlap_by_chunk" or "span".
    :param overlap_threshold: Share of a label's tokens that must be covered for "overlap".
    :param duplicates: What a later copy of a document does: "keep", "drop" or "each".
    :param silent: Whether the batch is part of one that was judged before, of which everything has been said.
    """

    document_comparison_field: str | list[str] = "content"
    grade_field: str | None = "score"
    matching: Matching = "exact"
    overlap_threshold: float = 0.65
    duplicates: Duplicates = "keep"
    silent: bool = False

    def __post_init__(self) -> None:
        """
        Refuse what cannot work before any row is looked at.

        :raises ValueError: If a parameter has no such value, or two of them contradict each other.
        :raises TypeError: If a field is not named by a string.
        """
        make_keys(self.document_comparison_field)
        grade_getter(self.grade_field)
        check_choice("matching", self.matching, get_args(Matching))
        check_choice("duplicates", self.duplicates, get_args(Duplicates))
        if not is_number(self.overlap_threshold) or not 0 < self.overlap_threshold <= 1:
            msg = f"overlap_threshold must be above 0 and at most 1, but is {self.overlap_threshold!r}."
            raise InvalidValueError(msg)
        if self.matching in OVERLAPS and self.document_comparison_field != "content":
            msg = (
                f"matching={self.matching!r} compares texts: document_comparison_field must be 'content', "
                f"but is {self.document_comparison_field!r}."
            )
            raise InvalidValueError(msg)
        if self.matching == "span" and self.document_comparison_field == "content":
            msg = (
                "matching='span' needs the key of the document that a chunk was cut from: set "
                "document_comparison_field to 'meta.source_id' for chunks of Haystack's splitters, to another field, "
                "or to a list of fields."
            )
            raise InvalidValueError(msg)
        if self.matching == "span" and self.duplicates == "each":
            msg = "matching='span' counts a covered character once: duplicates must be 'keep' or 'drop', not 'each'."
            raise InvalidValueError(msg)

    def judge(
        self,
        truths: Sequence[Sequence[Document]],
        retrieved: Sequence[Sequence[Document]],
        reach: Reach,
        level: float | None,
    ) -> JudgedRanking:
        """
        Look each retrieved document up among the labels of its question.

        :param truths: The ground-truth documents of each question.
        :param retrieved: The retrieved documents of each question, best first.
        :param reach: How far the measures look.
        :param level: Lowest relevant grade; only read when the first hit is enough.
        :returns: The batch in flat arrays.
        :raises ValueError: If a grade is not finite, or no document of a side has the compared field.
        :raises TypeError: If a grade is not a number.
        """
        keys = make_keys(self.document_comparison_field)
        if self.matching == "span":
            keys = Keys(_spans.page_key(keys.of))
        grade = grade_getter(self.grade_field)
        if self.duplicates == "drop":
            copy_key = _spans.place_key(keys.of) if self.matching == "span" else keys.of
            retrieved = [_without_copies(documents, copy_key) for documents in retrieved]
        sizes = np.fromiter(map(len, retrieved), np.int64, len(retrieved))
        near = retrieved
        if reach.documents is not None and reach.documents < sizes.max():
            near = [documents[: reach.documents] for documents in retrieved]
        each = self.duplicates == "each"
        if self.matching == "span":
            reader = LabelReader(_spans.checked_span_keys(truths, keys.of), grade, self.grade_field)
            matches = _spans.spans(truths, near, reader, keys.of)
        else:
            reader = LabelReader(keys, grade, self.grade_field)
            if self.matching in OVERLAPS:
                match = _passages.overlaps if self.matching == "overlap" else _passages.overlaps_by_chunk
                matches = match(truths, near, reader, self.overlap_threshold, each=each)
            elif reach.first_hit_only:
                matches = match_first(truths, near, reader, keys, level)
            else:
                matches = match_keys(truths, near, reader, keys, each=each)
        if not self.silent:
            reader.warn_of_odd_grades(matches.labels)
            self._check_fields(truths, near, keys.of, reader.without_key, matches)
        return JudgedRanking(
            n_queries=len(truths),
            retrieved=sizes,
            labels=matches.labels,
            hits=matches.hits,
            found=matches.found,
            judged=matches.judged,
            words=_words_of(retrieved) if reach.words else None,
            shares=matches.shares,
            out_of_reach=matches.out_of_reach,
            untrusted=matches.untrusted,
        )

    def _check_fields(
        self,
        truths: Sequence[Sequence[Document]],
        retrieved: Sequence[Sequence[Document]],
        key: Callable[[Any], Key],
        without_key: int,
        matches: Matches,
    ) -> None:
        """Refuse a field that a whole side lacks; warn of documents that lack it."""
        if not (without_key or len(matches.labels.grade)) or not any(retrieved):
            return  # a side without documents lacks nothing
        fault = f"has the field {self.document_comparison_field!r} (or it is empty in all of them): nothing can match"
        labels, documents = ([document for row in rows for document in row] for rows in (truths, retrieved))
        lacking = not len(matches.labels.grade) or matches.without_key == len(documents)
        hint = (field_advice(labels, documents, self.document_comparison_field) if lacking else "") or (
            "Set document_comparison_field to a field that the documents of both sides have."
        )
        if not len(matches.labels.grade):
            msg = f"None of the {without_key} documents in ground_truth_documents {fault}. {hint}"
            raise InvalidValueError(msg)
        if not any(has_key(key(document)) for row in retrieved for document in row):
            msg = f"None of the {sum(map(len, retrieved))} documents in retrieved_documents {fault}. {hint}"
            raise InvalidValueError(msg)
        for socket, missing, rows in (
            ("ground_truth_documents", without_key, truths),
            ("retrieved_documents", matches.without_key, retrieved),
        ):
            if missing:
                note(
                    f"{missing} of {sum(map(len, rows))} documents in {socket} do not have the field "
                    f"{self.document_comparison_field} (or it is empty there) and match nothing."
                )


def match_keys(
    truths: Sequence[Sequence[Any]],
    retrieved: Sequence[Sequence[Any]],
    reader: LabelReader,
    keys: Keys,
    *,
    each: bool = False,
) -> Matches:
    """
    Find the documents whose key is that of a label.

    :param truths: What the reader reads: the ground truth of each question.
    :param retrieved: What ``keys`` reads: the retrieved documents of each question, best first.
    :param reader: Reads the labels.
    :param keys: Reads the keys of retrieved documents.
    :param each: Whether later copies of a document count as hits.
    :returns: The hits and labels of the batch.
    """
    # Flat lists of the hits alone: relevant documents are few, and lists of lists would set off the garbage collector.
    places: list[int] = []
    numbers: list[int] = []
    ends: list[int] = []
    for labels, documents in zip(reader.read(truths), retrieved, strict=True):
        labels[None] = labels[""] = _NO_KEY
        keys.collect(documents, labels, places, numbers)
        ends.append(len(places))
    table = reader.labels(truths)
    query = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    rank, number = _as_array(places) + 1, _as_array(numbers)
    named = np.flatnonzero(number != _NO_KEY)
    without_key = len(number) - len(named)
    if without_key:
        query, rank, number = query[named], rank[named], number[named]
    label = table.places(query, number)
    judged = Hits(query, rank, table.grade[label])
    first = _first_of_each(label, len(table.grade))
    found = judged if first is None else judged.where(first)
    return Matches(
        labels=table,
        hits=judged if each else found,
        found=Found(found.query, found.rank, found.grade, found.rank),
        judged=judged,
        without_key=without_key,
    )


def match_first(
    truths: Sequence[Sequence[Any]],
    retrieved: Sequence[Sequence[Any]],
    reader: LabelReader,
    keys: Keys,
    level: float | None,
) -> Matches:
    """
    Find the first relevant document of each question and look no further.

    :param truths: What the reader reads: the ground truth of each question.
    :param retrieved: What ``keys`` reads: the retrieved documents of each question, best first.
    :param reader: Reads the labels.
    :param keys: Reads the keys of retrieved documents.
    :param level: Lowest relevant grade, or None for every grade above 0.
    :returns: The labels of the batch, and at most one hit per question. Documents without a key are not counted.
    """
    # Most data has no label that is not relevant: the first document with a label will do, until the grades are known.
    query, rank = _first_hits(reader.read_keys(truths), retrieved, keys)
    table = reader.labels(truths)
    relevant = reaches(table.grade, level)
    if not relevant.all():
        starts = np.cumsum(table.sizes) - table.sizes
        wanted = (
            {key for key, number in labels.items() if relevant[start + number]}
            for labels, start in zip(reader.again().read(truths), starts.tolist(), strict=True)
        )
        query, rank = _first_hits(wanted, retrieved, keys)
    # Which label was hit is not looked up: at this level its grade makes no difference.
    hits = Hits(query, rank, np.full(len(query), np.inf))
    return Matches(table, hits, Found(hits.query, hits.rank, hits.grade, hits.rank), hits, without_key=0)


def _first_hits(
    wanted: Iterable[Collection[Key]], retrieved: Sequence[Sequence[Any]], keys: Keys
) -> tuple[IntArray, IntArray]:
    """Query and rank of the first document of each question whose key is wanted."""
    ranks: list[int] = []
    for labels, documents in zip(wanted, retrieved, strict=True):
        ranks.append(keys.first(documents, labels))
    rank = _as_array(ranks)
    query = np.flatnonzero(rank)
    return query, rank[query]


def never_retrieved(
    truths: Sequence[Sequence[Any]],
    retrieved: Sequence[Sequence[Any]],
    ranking: JudgedRanking,
    judging: Judging,
    level: float | None,
) -> list[Any]:
    """
    Find the relevant labels that no ranking of the whole run contains: they can never be found.

    Costs one more look at each retrieved document, and nothing when every label was found by its own question.

    :param truths: The ground truth of each question.
    :param retrieved: The retrieved documents of each question.
    :param ranking: The same batch, judged.
    :param judging: How it was judged.
    :param level: Lowest relevant grade, or None for every grade above 0.
    :returns: Their compared fields, in order of appearance.
    """
    key, grade = make_keys(judging.document_comparison_field).of, grade_getter(judging.grade_field)
    relevance = ranking.relevance(level)
    incomplete = np.flatnonzero(relevance.total > relevance.found_count(None))
    missing: dict[Key, Document] = {}
    for row in incomplete.tolist():
        for document in truths[row]:
            name, value = key(document), grade(document)
            if has_key(name) and reaches(1.0 if value is None else value, level):
                missing.setdefault(name, document)
    left = set(missing)
    for documents in retrieved:
        if not left:
            break
        left.difference_update(map(key, documents))
    return [read_fields(missing[name], judging.document_comparison_field) for name in missing if name in left]


def _as_array(numbers: list[int]) -> IntArray:
    return np.fromiter(numbers, np.int64, len(numbers))


def _first_of_each(label: IntArray, n_labels: int) -> npt.NDArray[np.bool_] | None:
    """Where a label occurs for the first time; None when none occurs twice."""
    if np.bincount(label, minlength=n_labels).max(initial=0) <= 1:
        return None
    first = np.zeros(len(label), dtype=np.bool_)
    first[np.unique(label, return_index=True)[1]] = True
    return first


def _without_copies(documents: Sequence[Document], key: Callable[[Any], Key]) -> list[Document]:
    seen: set[Key] = set()
    kept = []
    for document in documents:
        name = key(document)
        if name not in seen or not has_key(name):
            kept.append(document)
        seen.add(name)
    return kept


def _words_of(retrieved: Sequence[Sequence[Document]]) -> IntArray:
    """Words of each document, flat. A text that several questions retrieved is counted once."""
    counts: dict[str, int] = {}
    words: list[int] = []
    for documents in retrieved:
        for document in documents:
            text = document.content or ""
            if text not in counts:
                counts[text] = count_words(text)
            words.append(counts[text])
    return np.array(words, dtype=np.int64)
