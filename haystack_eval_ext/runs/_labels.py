# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Entries of a document column to Documents: keys, {key: grade}, spans, and Documents as JSON."""

import math
from typing import Any

from haystack import Document

from haystack_eval_ext.runs._lines import kind_of

ENTRY_FORMS = 'a key, {key: grade}, {"key", "start", "end"} or a Document as JSON'
_DOCUMENT_MARKS = frozenset(("content", "id", "meta"))
_SPAN_NAMES = frozenset(("key", "document", "start", "end", "grade"))


class BadCellError(ValueError):
    """A cell holds something else than its column's kind; the text goes into the file's report."""


def check_label_field(label_field: str) -> None:
    """
    Check where keys go.

    :param label_field: The parameter of `read_dataset`.
    :raises ValueError: If it is not "id", "content" or "meta.<key>".
    """
    if label_field in ("id", "content") or (label_field.startswith("meta.") and label_field != "meta."):
        return
    msg = f"label_field must be 'id', 'content' or 'meta.<key>', but is {label_field!r}."
    raise ValueError(msg)


def parse_labels(value: Any, label_field: str) -> list[Document]:
    """
    Read labelled documents: one object {key: grade, ...} or a list of entries.

    :param value: The cell.
    :param label_field: Where a key goes.
    :returns: One Document a label, its grade in `score`.
    :raises BadCellError: If the cell is something else, or one key has two grades.
    """
    if isinstance(value, dict):
        return [_keyed(_key(key), label_field, score=_grade(grade)) for key, grade in value.items()]
    documents = parse_documents(value, label_field)
    grades: dict[str, float | None] = {}
    for number, (entry, document) in enumerate(zip(value, documents, strict=True), start=1):
        key = _plain_key(entry)
        if key is not None and grades.setdefault(key, document.score) != document.score:
            msg = f"entry {number} labels key {key!r} again with another grade, expected one grade for each key"
            raise BadCellError(msg)
    return documents


def parse_documents(value: Any, label_field: str) -> list[Document]:
    """
    Read a list of documents; its order is the ranking.

    :param value: The cell.
    :param label_field: Where a key goes.
    :returns: One Document an entry, a grade or score in `score`.
    :raises BadCellError: If the cell is no list of such entries.
    """
    if not isinstance(value, list):
        msg = f"{kind_of(value)}, expected a list whose entries are {ENTRY_FORMS}"
        raise BadCellError(msg)
    documents = []
    for number, entry in enumerate(value, start=1):
        try:
            documents.append(_document(entry, label_field))
        except BadCellError as error:
            msg = f"entry {number}: {error}"
            raise BadCellError(msg) from error
    return documents


def _document(entry: Any, label_field: str) -> Document:
    if not isinstance(entry, dict):
        return _keyed(_key(entry), label_field)
    if not _DOCUMENT_MARKS.isdisjoint(entry):
        return _document_from_json(entry)
    # {"key": 7} alone may be a span without its ends or a grade for a key named "key": refused, not guessed.
    if not _SPAN_NAMES.isdisjoint(entry):
        return _span(entry, label_field)
    if len(entry) != 1:
        msg = f"an object with {len(entry)} entries, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    ((key, grade),) = entry.items()
    return _keyed(_key(key), label_field, score=_grade(grade))


def _document_from_json(entry: dict[str, Any]) -> Document:
    """Read what `Document.to_dict` writes, flat or nested; an integer id becomes a str, as keys do."""
    content, meta, score = entry.get("content"), entry.get("meta"), entry.get("score")
    if content is not None and not isinstance(content, str):
        msg = f"content of the Document is {kind_of(content)}, expected a text or null"
        raise BadCellError(msg)
    if meta is not None and not isinstance(meta, dict):
        msg = f"meta of the Document is {kind_of(meta)}, expected an object"
        raise BadCellError(msg)
    fields = dict(entry)
    if entry.get("id") is not None:
        fields["id"] = _key(entry["id"])
    if score is not None:
        fields["score"] = _grade(score)
    try:
        return Document.from_dict(fields)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        msg = f"not a Document as JSON ({type(error).__name__}), expected what Document.to_dict writes"
        raise BadCellError(msg) from error


def _span(entry: dict[str, Any], label_field: str) -> Document:
    names = set(entry)
    if names - {"grade"} not in ({"key", "start", "end"}, {"document", "start", "end"}):
        given = ", ".join(sorted(names & _SPAN_NAMES))
        msg = f'a span with {given}, expected "key" (or "document"), "start", "end" and perhaps "grade"'
        raise BadCellError(msg)
    start, end = entry["start"], entry["end"]
    for name, offset in (("start", start), ("end", end)):
        if not isinstance(offset, int) or isinstance(offset, bool):
            msg = f"{name} is {kind_of(offset)}, expected a whole number of characters"
            raise BadCellError(msg)
    if not 0 <= start < end:
        msg = f"the span goes from {start} to {end}, expected 0 <= start < end"
        raise BadCellError(msg)
    score = _grade(entry["grade"]) if "grade" in entry else None
    key = _key(entry["key"] if "key" in entry else entry["document"])
    return _keyed(key, label_field, score=score, span={"start": start, "end": end})


def _keyed(key: str, label_field: str, *, score: float | None = None, span: dict[str, int] | None = None) -> Document:
    meta: dict[str, Any] = dict(span or {})
    if label_field == "id":
        return Document(id=key, meta=meta, score=score)
    if label_field == "content":
        return Document(content=key, meta=meta, score=score)
    return Document(meta={label_field.removeprefix("meta."): key, **meta}, score=score)


def _key(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        msg = f"{kind_of(value)} as key, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    key = str(value)
    if not key.strip():
        msg = f"an empty key, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    return key


def _grade(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{kind_of(value)} as grade, expected a number"
        raise BadCellError(msg)
    try:
        grade = float(value)
    except OverflowError:
        grade = math.inf
    if not math.isfinite(grade):
        msg = "a grade that is not finite, expected a finite number"
        raise BadCellError(msg)
    return grade


def _plain_key(entry: Any) -> str | None:
    """Name the key of an entry that is a key or {key: grade}; spans of one document may differ in grade."""
    if not isinstance(entry, dict):
        return str(entry)
    if len(entry) == 1 and _DOCUMENT_MARKS.isdisjoint(entry):
        return str(next(iter(entry)))
    return None
