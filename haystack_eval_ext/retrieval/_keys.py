# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which part of a Document decides whether two are the same, and which part grades a label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from operator import attrgetter
from typing import Any

from haystack import Document

from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

Key = Hashable


class Keys:
    """
    Reads the comparison key of documents. None and "" mean that a document has no key, so that it matches nothing.

    The loops over documents are the hot path of every retrieval evaluator. :class:`_IdKeys` and :class:`_ContentKeys`
    write them out once more around a bare attribute, which halves their cost.
    """

    def __init__(self, of: Callable[[Any], Key]) -> None:
        """
        Make a reader.

        :param of: Reads the key of one document.
        """
        self.of = of

    def number(self, documents: Sequence[Any]) -> dict[Key, int]:
        """
        Number the keys of documents.

        :param documents: The documents.
        :returns: The position at which each key stands; the last one, if it stands at several.
        """
        of = self.of
        return {of(document): number for number, document in enumerate(documents)}

    def unique(self, documents: Sequence[Any]) -> Collection[Key]:
        """
        Collect the keys of documents.

        :param documents: The documents.
        :returns: Each key once.
        """
        return set(map(self.of, documents))

    def collect(self, documents: Sequence[Any], labels: dict[Key, int], places: list[int], numbers: list[int]) -> None:
        """
        Look documents up among labels.

        :param documents: The documents.
        :param labels: The number of each label.
        :param places: Takes the position of each document that has one.
        :param numbers: Takes the number of its label.
        """
        of = self.of
        for place, document in enumerate(documents):
            key = of(document)
            if key in labels:
                places.append(place)
                numbers.append(labels[key])

    def first(self, documents: Sequence[Any], wanted: Collection[Key]) -> int:
        """
        Find the first document whose key is wanted, and look no further.

        :param documents: The documents, best first.
        :param wanted: The keys.
        :returns: Its rank from 1, or 0 if there is none.
        """
        of = self.of
        for place, document in enumerate(documents):
            if of(document) in wanted:
                return place + 1
        return 0


class _IdKeys(Keys):
    def number(self, documents: Sequence[Any]) -> dict[Key, int]:
        return {document.id: number for number, document in enumerate(documents)}

    def unique(self, documents: Sequence[Any]) -> Collection[Key]:
        return {document.id for document in documents}

    def collect(self, documents: Sequence[Any], labels: dict[Key, int], places: list[int], numbers: list[int]) -> None:
        for place, document in enumerate(documents):
            if document.id in labels:
                places.append(place)
                numbers.append(labels[document.id])

    def first(self, documents: Sequence[Any], wanted: Collection[Key]) -> int:
        for place, document in enumerate(documents):
            if document.id in wanted:
                return place + 1
        return 0


class _ContentKeys(Keys):
    def number(self, documents: Sequence[Any]) -> dict[Key, int]:
        return {document.content: number for number, document in enumerate(documents)}

    def unique(self, documents: Sequence[Any]) -> Collection[Key]:
        return {document.content for document in documents}

    def collect(self, documents: Sequence[Any], labels: dict[Key, int], places: list[int], numbers: list[int]) -> None:
        for place, document in enumerate(documents):
            if document.content in labels:
                places.append(place)
                numbers.append(labels[document.content])

    def first(self, documents: Sequence[Any], wanted: Collection[Key]) -> int:
        for place, document in enumerate(documents):
            if document.content in wanted:
                return place + 1
        return 0


def make_keys(document_comparison_field: str | list[str]) -> Keys:
    """
    Make the reader of comparison keys.

    :param document_comparison_field: "content", "id", "meta.<key>", or a list of these: a composite key.
    :returns: A reader of hashable keys; a composite key is missing when one of its parts is.
    :raises ValueError: If it names no such field.
    :raises TypeError: If it is neither a string nor a list of strings.
    """
    if document_comparison_field == "id":
        return _IdKeys(attrgetter("id"))
    if document_comparison_field == "content":
        return _ContentKeys(attrgetter("content"))
    if isinstance(document_comparison_field, str):
        return Keys(_single(document_comparison_field))
    if not isinstance(document_comparison_field, list) or not document_comparison_field:
        msg = (
            "document_comparison_field must be a string, or a list with at least one, "
            f"but is {document_comparison_field!r}."
        )
        raise InvalidValueError(msg) if isinstance(document_comparison_field, list) else InvalidTypeError(msg)
    parts = [_single(field) for field in document_comparison_field]

    def composite(document: Document) -> Key:
        values = tuple(part(document) for part in parts)
        return None if None in values or "" in values else values

    return Keys(composite)


def read_fields(document: Document, document_comparison_field: str | list[str]) -> Any:
    """
    Read what is compared, as it stands in the document.

    :param document: A Document.
    :param document_comparison_field: A field, or a list of fields.
    :returns: The value of the field, or a list of the values.
    """
    if isinstance(document_comparison_field, list):
        return [read_fields(document, field) for field in document_comparison_field]
    if document_comparison_field in ("content", "id"):
        return getattr(document, document_comparison_field)
    return _look_up(document.meta, document_comparison_field.removeprefix("meta."))


def field_names(document_comparison_field: str | list[str]) -> list[str]:
    """
    List what is compared.

    :param document_comparison_field: A field, or a list of fields.
    :returns: The fields.
    """
    return [document_comparison_field] if isinstance(document_comparison_field, str) else document_comparison_field


def has_key(key: Key) -> bool:
    """
    Tell whether a Document has a key at all.

    :param key: What a reader of :func:`make_keys` returned.
    :returns: False for None and "", which match nothing.
    """
    return key is not None and key != ""


def grade_getter(grade_field: str | None) -> Callable[[Document], Any]:
    """
    Make the function that reads the grade of a label.

    :param grade_field: "score", "meta.<key>", or None: all labels count alike.
    :returns: A function from a ground-truth Document to its grade, None where it has none.
    :raises ValueError: If it names no such field.
    """
    if grade_field is None:
        return lambda _: None
    if grade_field == "score":
        return attrgetter("score")
    if not isinstance(grade_field, str) or not grade_field.startswith("meta.") or grade_field == "meta.":
        msg = f"grade_field must be 'score', 'meta.<key>' or None (all labels count alike), but is {grade_field!r}."
        raise InvalidValueError(msg)
    path = grade_field.removeprefix("meta.")
    return lambda document: _look_up(document.meta, path)


def _single(field: str) -> Callable[[Document], Key]:
    if field in ("content", "id"):
        return attrgetter(field)
    if not isinstance(field, str) or not field.startswith("meta.") or field == "meta.":
        msg = (
            f"document_comparison_field must be 'content', 'id' or 'meta.<key>' (or a list of these), but is {field!r}."
        )
        raise InvalidValueError(msg) if isinstance(field, str) else InvalidTypeError(msg)
    path = field.removeprefix("meta.")

    def from_meta(document: Document) -> Key:
        value = _look_up(document.meta, path)
        return value if value.__class__ in (str, int) else _frozen_or_none(value)

    return from_meta


def _look_up(meta: dict[str, Any], path: str) -> Any:
    """A key with dots is first taken literally, then as a path into nested dicts."""
    if path in meta:
        return meta[path]
    value: Any = meta
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _frozen_or_none(value: Any) -> Key:
    """A hashable form of a meta value; None for what is empty, or not equal to itself (NaN)."""
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - the test for NaN
        return None
    if isinstance(value, list | tuple | dict | set) and not value:
        return None
    return _freeze(value)


def _freeze(value: Any) -> Key:
    if isinstance(value, dict):
        return ("dict", frozenset((key, _freeze(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(_freeze, value))
    if isinstance(value, set):
        return ("set", frozenset(map(_freeze, value)))
    try:
        hash(value)
    except TypeError:
        return (type(value).__name__, repr(value))
    return value  # type: ignore[no-any-return]
