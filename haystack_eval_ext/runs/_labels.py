# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Entries of a document column to Documents: keys, {key: grade}, spans, and Documents as JSON."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from haystack import Document

from haystack_eval_ext._batches import as_list
from haystack_eval_ext._rows import JSON_DOCUMENT_FIELDS, document_from_json
from haystack_eval_ext.errors import InvalidValueError, parameter
from haystack_eval_ext.retrieval._keys import Key, has_key, make_keys
from haystack_eval_ext.retrieval._spans import checked_span_keys
from haystack_eval_ext.runs._lines import kind_of

ENTRY_FORMS = 'a key, {key: grade}, {"key", "start", "end"} or a Document as JSON'
_DOCUMENT_MARKS = frozenset(JSON_DOCUMENT_FIELDS)
_SPAN_NAMES = frozenset(("key", "document", "start", "end", "grade"))
# Keys that nobody means in {key: grade, ...}: the object is one document or one span, and misses its list.
_NO_KEYS = _DOCUMENT_MARKS | {"start", "end"}


class BadCellError(InvalidValueError):
    """A cell holds something else than its column's kind; the text goes into the file's report."""


def check_label_field(label_field: str) -> None:
    """
    Check where keys go.

    :param label_field: The parameter of `read_dataset`.
    :raises ValueError: If it is not "id", "content" or "meta.<key>".
    """
    try:
        if isinstance(label_field, str):
            make_keys(label_field)
            return
    except ValueError:
        pass
    msg = f"{parameter('label_field')} must be 'id', 'content' or 'meta.<key>', but is {label_field!r}."
    raise InvalidValueError(msg)


def list_cell(value: Any, expected: str) -> list[Any]:
    """
    Read a cell that must hold a list.

    :param value: The cell.
    :param expected: What it must hold, for the message.
    :returns: The list.
    :raises BadCellError: If it is none.
    """
    found = as_list(value)
    if not isinstance(found, list):
        msg = f"{kind_of(found)}, expected {expected}"
        raise BadCellError(msg)
    return found


def parse_labels(value: Any, label_field: str) -> list[Document]:
    """
    Read labelled documents: one object {key: grade, ...} or a list of entries.

    :param value: The cell.
    :param label_field: Where a key goes.
    :returns: One Document a label, its grade in `score`.
    :raises BadCellError: If the cell is something else, or one label has two grades.
    """
    if isinstance(value, dict):
        if not _NO_KEYS.isdisjoint(value):
            names = ", ".join(sorted(_NO_KEYS & set(value)))
            msg = f"one object with {names}, expected {{key: grade, ...}}, or a list around a Document or a span"
            raise BadCellError(msg)
        return [_keyed(_key(key), label_field, score=_grade(grade)) for key, grade in value.items()]
    documents = parse_documents(value, label_field)
    _refuse_two_grades(documents, label_field)
    return documents


def same_labels(documents: Sequence[Document], label_field: str) -> list[int]:
    """
    Find labels that are given several times.

    :param documents: The labels.
    :param label_field: Where their keys are.
    :returns: For each label the place of the first one that is the same; labels without a key are each their own.
    """
    key_of = make_keys(label_field).of
    first: dict[Key, int] = {}
    return [
        first.setdefault(_label_key(document, key_of), place) if has_key(key_of(document)) else place
        for place, document in enumerate(documents)
    ]


def _refuse_two_grades(documents: Sequence[Document], label_field: str) -> None:
    key_of = make_keys(label_field).of
    if len(set(map(key_of, documents))) == len(documents):
        return
    for place, before in enumerate(same_labels(documents, label_field)):
        if documents[place].score != documents[before].score:
            msg = (
                f"entries {before + 1} and {place + 1} are the same label with two grades, expected one grade for each "
                "label"
            )
            raise BadCellError(msg)


def _label_key(document: Document, key_of: Callable[[Document], Key]) -> Key:
    """The key, with start and end where the label is a span: spans of one document may differ in grade."""
    try:
        return checked_span_keys([[document]], key_of).of(document)
    except ValueError:
        return key_of(document)


def parse_documents(value: Any, label_field: str) -> list[Document]:
    """
    Read a list of documents; its order is the ranking.

    :param value: The cell.
    :param label_field: Where a key goes.
    :returns: One Document an entry, a grade or score in `score`.
    :raises BadCellError: If the cell is no list of such entries.
    """
    documents = []
    for number, entry in enumerate(list_cell(value, f"a list whose entries are {ENTRY_FORMS}"), start=1):
        try:
            documents.append(_document(entry, label_field))
        except ValueError as error:
            msg = f"entry {number}: {error}"
            raise BadCellError(msg) from error
    return documents


def _document(entry: Any, label_field: str) -> Document:
    if isinstance(entry, Document):
        return entry
    if not isinstance(entry, dict):
        return _keyed(_key(entry), label_field)
    if not _DOCUMENT_MARKS.isdisjoint(entry):
        document = document_from_json(entry, "it")
        return document if document.score is None else replace(document, score=_grade(document.score))
    # {"key": 7} alone may be a span without its ends or a grade for a key named "key": refused, not guessed.
    if not _SPAN_NAMES.isdisjoint(entry):
        return _span(entry, label_field)
    if len(entry) != 1:
        msg = f"an object with {len(entry)} entries, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    ((key, grade),) = entry.items()
    return _keyed(_key(key), label_field, score=_grade(grade))


def _span(entry: dict[str, Any], label_field: str) -> Document:
    names = set(entry)
    if names - {"grade"} not in ({"key", "start", "end"}, {"document", "start", "end"}):
        given = ", ".join(sorted(names & _SPAN_NAMES))
        msg = f'a span with {given}, expected "key" (or "document"), "start", "end" and perhaps "grade"'
        raise BadCellError(msg)
    score = _grade(entry["grade"]) if "grade" in entry else None
    key = _key(entry["key"] if "key" in entry else entry["document"])
    document = _keyed(key, label_field, score=score, span={"start": entry["start"], "end": entry["end"]})
    try:
        checked_span_keys([[document]], make_keys(label_field).of)
    except ValueError as error:
        # It starts with the place in an evaluator's input, which is none of this file.
        raise BadCellError(str(error).partition(": ")[2]) from None
    return document


def _keyed(
    key: str | int, label_field: str, *, score: float | None = None, span: dict[str, Any] | None = None
) -> Document:
    meta: dict[str, Any] = dict(span or {})
    if label_field == "id":
        return Document(id=str(key), meta=meta, score=score)
    if label_field == "content":
        return Document(content=str(key), meta=meta, score=score)
    # A whole number stays one, as in the meta of a Document that is given as JSON: 7 and "7" are not equal.
    return Document(meta={label_field.removeprefix("meta."): key, **meta}, score=score)


def _key(value: Any) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        msg = f"{kind_of(value)} as key, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    if not str(value).strip():
        msg = f"an empty key, expected {ENTRY_FORMS}"
        raise BadCellError(msg)
    return value


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
