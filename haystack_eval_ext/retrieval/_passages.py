# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Matching beyond equality, for chunks that move when the splitter changes while the labels stay.

Both ways compare every label of a question with every chunk retrieved for it: labels x chunks comparisons per question
instead of one look-up per chunk. Each distinct text is normalised and split into tokens once per run.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from haystack import logging

from haystack_eval_ext._rows import describe
from haystack_eval_ext._text import normalize, overlap_tokens, words
from haystack_eval_ext.retrieval._keys import Keys, has_key
from haystack_eval_ext.retrieval._ranking import Found, Hits, Matches, Parts, number_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from haystack import Document

    from haystack_eval_ext.retrieval._keys import Key
    from haystack_eval_ext.retrieval._labels import LabelReader
    from haystack_eval_ext.retrieval._ranking import FloatArray, IntArray, Labels

logger = logging.getLogger(__name__)

_SPAN_FIELDS = ("start", "end")
# Shorter runs of tokens ("in the case of") stand in passages that have nothing to do with each other.
_SHORTEST_RUN = 5


class _Pair(NamedTuple):
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
    pairs: list[_Pair] = []
    parts: list[_Pair] = []
    reached: list[_Pair] = []
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
                missing = label.covered < threshold * label.length
                new = label.cover(chunk)
                if new is None:
                    continue
                pair = _Pair(query, rank, label.number, new)
                pairs.append(pair)
                if new:
                    parts.append(pair)
                if missing and label.covered >= threshold * label.length:
                    reached.append(pair)
        beyond += sum(label.length * threshold > held for label in labels) if documents else 0
    table = reader.labels(truths)
    covering = _assemble(table, pairs, without_key, each=True)
    found = _assemble(table, parts, without_key, lengths=lengths)
    return Matches(
        labels=table,
        hits=covering.hits if each else found.hits,
        found=_assemble(table, reached, without_key).found,
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
    pairs: list[_Pair] = []
    without_key = 0
    for query, (numbers, documents) in enumerate(zip(reader.read(truths), retrieved, strict=True)):
        labels = [(passages.of(str(text)), number) for text, number in numbers.items()]
        for rank, document in enumerate(documents, start=1):
            if not document.content:
                without_key += 1
                continue
            chunk = passages.of(document.content)
            pairs.extend(_Pair(query, rank, number) for label, number in labels if _satisfies(chunk, label, threshold))
    return _assemble(reader.labels(truths), pairs, without_key, each=each)


def _satisfies(chunk: _Passage, label: _Passage, threshold: float) -> bool:
    if not label.tokens:
        return False  # nothing but punctuation or white space
    if label.text in chunk.text:
        return True
    shared = sum(min(times, chunk.counts[token]) for token, times in label.counts.items())
    return shared >= threshold * len(label.tokens)


def checked_span_keys(truths: Sequence[Sequence[Document]], key: Callable[[Document], Key]) -> Keys:
    """
    Make the key of span labels: document key, start, end.

    :param truths: The ground-truth documents of each question.
    :param key: Reads the key of the document that a span lies in.
    :returns: A reader of label keys, None where the document key is missing.
    :raises ValueError: If a label has no usable offsets.
    """
    for row, truth in enumerate(truths):
        for position, document in enumerate(truth):
            _check_offsets(document, f"ground_truth_documents[{row}][{position}]")

    def span_key(document: Document) -> Key:
        name = key(document)
        return (name, *_label_offsets(document)) if has_key(name) else None

    return Keys(span_key)


def place_key(key: Callable[[Document], Key]) -> Callable[[Document], Key]:
    """
    Make the key by which chunks are copies of each other: the same characters of the same document.

    :param key: Reads the key of the document that a chunk was cut from.
    :returns: A function from a chunk to its key.
    """

    def of(chunk: Document) -> Key:
        name = key(chunk)
        return (name, chunk.meta.get("split_idx_start"), len(chunk.content or "")) if has_key(name) else None

    return of


def _label_offsets(document: Document) -> tuple[Any, Any]:
    """Start and end as the label gives them; a chunk that serves as a label has its own offset and length."""
    meta = document.meta
    if "start" in meta or "end" in meta:
        return meta.get("start"), meta.get("end")
    start = meta.get("split_idx_start")
    return start, start + len(document.content) if isinstance(start, int) and document.content else None


def _check_offsets(document: Document, place: str) -> None:
    start, end = _label_offsets(document)
    for name, offset in zip(_SPAN_FIELDS, (start, end), strict=True):
        if not isinstance(offset, int) or isinstance(offset, bool):
            msg = (
                f"{place}: matching='span' needs whole numbers in meta['start'] and meta['end'] of a label (or "
                f"meta['split_idx_start'] and a content), but its {name} is {describe(offset)}."
            )
            raise ValueError(msg)  # noqa: TRY004 - a fault of the data in meta, as the one below
    if not 0 <= start < end:
        msg = f"{place}: a span must have 0 <= start < end, but start is {start} and end is {end}."
        raise ValueError(msg)


def spans(
    truths: Sequence[Sequence[Document]],
    retrieved: Sequence[Sequence[Document]],
    reader: LabelReader,
    key: Callable[[Document], Key],
) -> Matches:
    """
    Match a chunk with each labelled span of its document by the characters that no earlier chunk covered.

    :param truths: The ground-truth documents of each question: spans.
    :param retrieved: The retrieved documents of each question, best first.
    :param reader: Reads the labels; its key is document key, start, end.
    :param key: Reads the key of the document that a chunk was cut from.
    :returns: The hits and labels of the batch; a label can be found in parts.
    :raises ValueError: If a chunk of a labelled document has no ``meta["split_idx_start"]``.
    """
    pairs: list[_Pair] = []
    lengths: list[int] = []
    without_key = 0
    offsets = _OffsetCheck()
    for query, (numbers, truth, documents) in enumerate(zip(reader.read(truths), truths, retrieved, strict=True)):
        spans_of: dict[Key, list[_Span]] = {}
        texts = {(key(label), *_label_offsets(label)): label.content for label in truth}
        for place, number in numbers.items():
            label_name, begin, stop = cast("tuple[Key, int, int]", place)
            lengths.append(stop - begin)
            spans_of.setdefault(label_name, []).append(_Span(number, begin, stop, texts[label_name, begin, stop]))
        for rank, document in enumerate(documents, start=1):
            name = key(document)
            without_key += not has_key(name)
            if name not in spans_of:
                continue
            start = _chunk_start(document, f"retrieved_documents[{query}][{rank - 1}]")
            text = document.content or ""
            for span in spans_of[name]:
                offsets.compare(span, start, text)
                covered = span.cover(start, start + len(text))
                if covered:
                    pairs.append(_Pair(query, rank, span.number, covered))
    offsets.report()
    return _assemble(reader.labels(truths), pairs, without_key, lengths=lengths)


def _chunk_start(document: Document, place: str) -> int:
    start = document.meta.get("split_idx_start")
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        came = start if isinstance(start, int) else describe(start)
        msg = (
            f"{place}: matching='span' needs the place of a chunk in its document as a whole number in "
            f"meta['split_idx_start'], which Haystack's splitters write, but it is {came}."
        )
        raise ValueError(msg)
    return start


class _Span:
    """A labelled span and what of it no chunk has covered yet."""

    def __init__(self, number: int, start: int, end: int, text: str | None) -> None:
        self.number = number
        self.start = start
        self.end = end
        self.text = text
        self._uncovered = [(start, end)]

    def cover(self, start: int, end: int) -> int:
        """Mark the characters from start to end as covered and count those that were not before."""
        before = sum(stop - begin for begin, stop in self._uncovered)
        self._uncovered = [
            (left, right)
            for begin, stop in self._uncovered
            for left, right in ((begin, min(stop, start)), (max(begin, end), stop))
            if left < right
        ]
        return before - sum(stop - begin for begin, stop in self._uncovered)


class _OffsetCheck:
    """
    Compares chunks with the texts of the labels that they cover.

    ``split_idx_start`` counts characters of the text that the splitter saw. A cleaner that ran before, or labels made
    on another version of the text, shift it, and nothing else would show that.
    """

    def __init__(self) -> None:
        self._compared = 0
        self._different = 0
        self._unknown = 0

    def compare(self, span: _Span, start: int, text: str) -> None:
        """Compare the part of a span that a chunk covers with the label's own text, if it has one of its length."""
        begin, stop = max(span.start, start), min(span.end, start + len(text))
        if begin >= stop:
            return
        if span.text is None or len(span.text) != span.end - span.start:
            self._unknown += 1
            return
        self._compared += 1
        self._different += text[begin - start : stop - start] != span.text[begin - span.start : stop - span.start]

    def report(self) -> None:
        """Warn of places that do not fit, or that could not be checked."""
        if self._different:
            logger.warning(
                "{n} of {total} covered passages differ from the text of their label: meta['split_idx_start'] does not "
                "fit the labels. Were the documents cleaned or changed after the labels were made?",
                n=self._different,
                total=self._compared,
            )
        if self._unknown:
            logger.warning(
                "{n} covered passages could not be checked against the source text, since their labels have no content "
                "of the length of the span. meta['split_idx_start'] can be wrong after cleaning.",
                n=self._unknown,
            )


def _assemble(
    labels: Labels, pairs: list[_Pair], without_key: int, *, each: bool = False, lengths: list[int] | None = None
) -> Matches:
    """
    Put pairs, ordered by query and rank, into flat arrays.

    With lengths of the labels, a pair finds the part that it covers, else the first pair of a label finds it whole.
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


def _columns(pairs: list[_Pair]) -> list[list[int]]:
    return [[pair[column] for pair in pairs] for column in range(len(_Pair._fields))]


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
