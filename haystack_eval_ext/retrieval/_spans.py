# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Matching by place: which characters of a labelled span the chunks of its document cover.

A place counts characters of the text that the splitter saw. Splitters count in different ways, and cleaning or another
version of the text shifts places. So they are trusted only as long as nothing contradicts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import note
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval._keys import Keys, has_key
from haystack_eval_ext.retrieval._passages import Pair, assemble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from haystack import Document

    from haystack_eval_ext.retrieval._keys import Key
    from haystack_eval_ext.retrieval._labels import LabelReader
    from haystack_eval_ext.retrieval._ranking import Matches

_SPAN_FIELDS = ("start", "end")
_PARENT, _LEVEL = "__parent_id", "__level"
# What MarkdownHeaderSplitter writes.
_SECTION = "parent_headers"
# A shorter text stands in a document more than once by chance.
_TELLING = 10
_ADVICE = "use a splitter that counts from the start of the page, such as DocumentSplitter, or matching='overlap'"
_CONTRADICTING = f"two chunks of its document claim the same characters with different text; {_ADVICE}"
_ANOTHER_TEXT = f"a covered passage differs from the text of its label; label the text that was split, or {_ADVICE}"
_ELSEWHERE = f"the text of its label stands in a chunk that does not cover it by its offsets; {_ADVICE}"
_IN_A_SECTION = f"a chunk was cut within a section of MarkdownHeaderSplitter, where its offsets count from; {_ADVICE}"
_WITHOUT_PARENTS = (
    "its chunks are blocks of HierarchicalDocumentSplitter, whose offsets count from the block above, which is not "
    "among the documents; retrieve the parents as well, or use matching='overlap'"
)


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


def page_key(key: Callable[[Document], Key]) -> Callable[[Document], Key]:
    """
    Read the key of the page also off the page itself, which HierarchicalDocumentSplitter gives as the top block.

    :param key: Reads the key of the document that a chunk was cut from.
    :returns: The same, and the id of a top block without such a key.
    """

    def of(document: Document) -> Key:
        name = key(document)
        return document.id if document.meta.get(_LEVEL) == 0 and not has_key(name) else name

    return of


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
            raise InvalidValueError(msg)
    if not 0 <= start < end:
        msg = f"{place}: a span must have 0 <= start < end, but start is {start} and end is {end}."
        raise InvalidValueError(msg)


class _Place(NamedTuple):
    """Where a chunk stands: the key of its document, and its first character there; or why that cannot be known."""

    #: None: of a document that is not known.
    key: Key
    start: int = 0
    doubt: str | None = None


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
    :returns: The hits and labels of the batch; a label can be found in parts. Questions whose places cannot be trusted
        are named with the reason.
    :raises ValueError: If a chunk of a labelled document has no ``meta["split_idx_start"]``.
    """
    pairs: list[Pair] = []
    lengths: list[int] = []
    without_key = unknown = 0
    labelled = {name for truth in truths for label in truth if has_key(name := key(label))}
    blocks = _blocks(truths, retrieved)
    pages = _Pages()
    untrusted: dict[int, str] = {}
    of_query: list[set[Key]] = []
    for query, (numbers, truth, documents) in enumerate(zip(reader.read(truths), truths, retrieved, strict=True)):
        spans_of: dict[Key, list[_Span]] = {}
        texts = {(key(label), *_label_offsets(label)): label.content for label in truth}
        for label_place, number in numbers.items():
            label_name, begin, stop = cast("tuple[Key, int, int]", label_place)
            lengths.append(stop - begin)
            spans_of.setdefault(label_name, []).append(_Span(number, begin, stop, texts[label_name, begin, stop]))
        of_query.append(set(spans_of))
        for rank, document in enumerate(documents, start=1):
            without_key += not has_key(key(document))
            place = _place(document, key, blocks, labelled, f"retrieved_documents[{query}][{rank - 1}]")
            if place is None:
                continue
            if place.doubt is not None:
                if place.key in spans_of or (place.key is None and spans_of):
                    untrusted.setdefault(query, place.doubt)
                continue
            text = document.content or ""
            pages.add(place, text)
            for span in spans_of.get(place.key, ()):
                covered = span.cover(place.start, text)
                if covered:
                    pairs.append(Pair(query, rank, span.number, covered))
        for span in (span for found in spans_of.values() for span in found):
            unknown += span.unknown
            if span.doubt is not None:
                untrusted.setdefault(query, span.doubt)
    torn = pages.contradicting()
    for query, names in enumerate(of_query if torn else ()):
        if not torn.isdisjoint(names):
            untrusted.setdefault(query, _CONTRADICTING)
    if unknown:
        note(
            f"{unknown} covered passages could not be checked against the source text, since their labels have no "
            "content of the length of the span. meta['split_idx_start'] can be wrong after cleaning."
        )
    found = assemble(reader.labels(truths), pairs, without_key, lengths=lengths)
    return found._replace(untrusted=untrusted)


def _blocks(truths: Sequence[Sequence[Document]], retrieved: Sequence[Sequence[Document]]) -> dict[str, Document]:
    """All documents by id, where some are blocks within others."""
    if not any(_PARENT in document.meta for row in retrieved for document in row):
        return {}
    return {document.id: document for rows in (truths, retrieved) for row in rows for document in row}


def _place(
    document: Document,
    key: Callable[[Document], Key],
    blocks: dict[str, Document],
    labelled: set[Key],
    where: str,
) -> _Place | None:
    """Where a chunk stands; None if its document has no label."""
    start, block = 0, document
    while above := block.meta.get(_PARENT):
        start += _chunk_start(block, where)
        name = key(block)
        # Offsets count from the block above; on the first level that is the page, whatever the key calls it.
        from_page = block.meta.get(_LEVEL) == 1
        if name in labelled and (name == above or from_page):
            return _Place(name, start)
        if above not in blocks:
            if from_page or (name != above and name not in labelled):
                return None
            return _Place(name if name in labelled else None, doubt=_WITHOUT_PARENTS)
        block = blocks[above]
    name = key(block)
    if name not in labelled:
        return None
    if block is document:
        start = _chunk_start(document, where)
    return _Place(name, doubt=_IN_A_SECTION) if _SECTION in document.meta else _Place(name, start)


def _chunk_start(document: Document, place: str) -> int:
    start = 0 if document.meta.get(_LEVEL) == 0 else document.meta.get("split_idx_start")
    if not isinstance(start, int) or isinstance(start, bool) or start < 0:
        came = start if isinstance(start, int) else describe(start)
        msg = (
            f"{place}: matching='span' needs the place of a chunk in its document as a whole number in "
            f"meta['split_idx_start'], but it is {came}. DocumentSplitter, DocumentPreprocessor and "
            "RecursiveDocumentSplitter write it; for chunks of other splitters use matching='overlap'."
        )
        raise InvalidValueError(msg)
    return start


class _Span:
    """A labelled span, what of it no chunk has covered yet, and what speaks against its place."""

    def __init__(self, number: int, start: int, end: int, text: str | None) -> None:
        self.number = number
        self.start = start
        self.end = end
        self._uncovered = [(start, end)]
        self._whole = text is not None and len(text) == end - start
        self._text = text or ""
        self._covered = self._elsewhere = self._different = False
        #: Covered passages that could not be compared with the label.
        self.unknown = 0

    def cover(self, start: int, text: str) -> int:
        """Mark the characters that a chunk covers and count those that were not covered before."""
        end = start + len(text)
        begin, stop = max(self.start, start), min(self.end, end)
        if begin >= stop:
            self._elsewhere |= len(self._text.strip()) >= _TELLING and self._text in text
            return 0
        self._covered = True
        if not self._whole:
            self.unknown += 1
        elif text[begin - start : stop - start] != self._text[begin - self.start : stop - self.start]:
            self._different = True
        before = sum(stop - begin for begin, stop in self._uncovered)
        self._uncovered = [
            (left, right)
            for begin, stop in self._uncovered
            for left, right in ((begin, min(stop, start)), (max(begin, end), stop))
            if left < right
        ]
        return before - sum(stop - begin for begin, stop in self._uncovered)

    @property
    def doubt(self) -> str | None:
        """Why its place cannot be right; None if nothing says so."""
        if self._different:
            return _ANOTHER_TEXT
        return _ELSEWHERE if self._elsewhere and not self._covered else None


class _Pages:
    """The documents of a run, put together from their chunks."""

    def __init__(self) -> None:
        self._chunks: dict[Key, set[tuple[int, str]]] = {}

    def add(self, place: _Place, text: str) -> None:
        """Take a chunk."""
        self._chunks.setdefault(place.key, set()).add((place.start, text))

    def contradicting(self) -> set[Key]:
        """The documents of which two chunks claim the same characters with different text."""
        return {key for key, chunks in self._chunks.items() if _contradict(sorted(chunks))}


def _contradict(chunks: Iterable[tuple[int, str]]) -> bool:
    text, begin = "", 0
    for start, chunk in chunks:
        end = begin + len(text)
        if start >= end:
            text, begin = chunk, start
            continue
        shared = min(end - start, len(chunk))
        if text[start - begin : start - begin + shared] != chunk[:shared]:
            return True
        # Only what lies behind can meet a later chunk: they come in order of their starts.
        text, begin = text[start - begin :] + chunk[shared:], start
    return False
