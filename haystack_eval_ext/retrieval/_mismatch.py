# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels and retrieved documents that mean different things: then no ranking, however good, can score above 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from haystack_eval_ext.retrieval._keys import field_names, has_key, make_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from haystack import Document

_SHOWN = 3
_LONGEST = 40
# Of the labels, so that a field is named as the one that was meant.
_MOST = 0.5


class Fitting(NamedTuple):
    """
    A field by which labels and documents do match.

    :param label_field: Where the key stands in a label.
    :param field: Where it stands in a retrieved document.
    :param matched: How many labels are found by it.
    """

    label_field: str
    field: str
    matched: int


class Mismatch(NamedTuple):
    """
    Labels of which not one occurs among the documents.

    :param labels: How many different keys the labels have.
    :param told: What to tell the user: names and keys, no texts.
    :param fitting: The field that was probably meant, if there is one.
    """

    labels: int
    told: str
    fitting: Fitting | None


def find_mismatch(
    labels: Iterable[Document], documents: Sequence[Document], field: str | list[str], where: str
) -> Mismatch | None:
    """
    Look for keys that occur on both sides.

    :param labels: All labels that could be found, of all questions.
    :param documents: All documents among which they could be.
    :param field: What is compared: a field, or a list of fields.
    :param where: What the documents are, for the message: "retrieved documents".
    :returns: What to tell if there is none; None if there is one, or a side is empty.
    """
    keys = make_keys(field)
    key = keys.of
    given = list(labels)
    wanted: dict[Any, Document] = {}
    for label in given:
        name = key(label)
        if has_key(name):
            wanted.setdefault(name, label)
    if not given or not documents or keys.first(documents, wanted):
        return None
    present = dict.fromkeys(name for name in map(key, documents) if has_key(name))
    meant = list(wanted.values()) or given
    fitting = _fitting(meant, documents, field)
    named = " + ".join(field_names(field))
    kind = f"label key{'s' if len(meant) != 1 else ''} ({named})" if wanted else f"labels, which lack {named},"
    told = (
        f"None of {len(meant)} {kind} occurs among the "
        f"{len(documents)} {where}, so that no label can be found.{_examples(wanted, present, field)} "
        f"{_advice(fitting, len(meant))}"
    )
    return Mismatch(len(meant), told, fitting)


def field_advice(labels: Iterable[Document], documents: Sequence[Document], field: str | list[str]) -> str:
    """
    Say which field labels and documents have in common, where they have nothing in common by another one.

    :param labels: The labels.
    :param documents: The documents.
    :param field: What is compared.
    :returns: A sentence; empty if there is no such field.
    """
    found = find_mismatch(labels, documents, field, "documents")
    return _advice(found.fitting, found.labels) if found is not None and found.fitting is not None else ""


def _advice(fitting: Fitting | None, labels: int) -> str:
    if fitting is None:
        return "Check that both sides mean the same by it."
    if fitting.label_field == fitting.field:
        return (
            f"{fitting.field} matches {fitting.matched} of {labels}: set document_comparison_field to it, in a command "
            f"--key-field {fitting.field}."
        )
    return (
        f"{fitting.field} of the documents matches {fitting.matched} of {labels} labels by their "
        f"{fitting.label_field}: give the key of the labels as {fitting.field} and compare that, in a command "
        f"--key-field {fitting.field}."
    )


def _examples(wanted: Collection[Any], present: Collection[Any], field: str | list[str]) -> str:
    """Keys of both sides; texts stay out of messages."""
    if "content" in field_names(field):
        return ""
    sides = (("Labels", wanted), ("Documents", present))
    return "".join(f" {side}: {', '.join(map(_shown, list(keys)[:_SHOWN]))}." for side, keys in sides if keys)


def _shown(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _fitting(labels: list[Document], documents: Sequence[Document], field: str | list[str]) -> Fitting | None:
    """
    The pair of fields that matches most labels, and at least half of them.

    A field that both sides have must name documents: a language or a source that many of them share does not.
    """
    keyed = any(map(has_key, map(make_keys(field).of, labels)))
    by_field = {name: _values(documents, name) for name in _fields(documents)}
    best: Fitting | None = None
    for label_field in _fields(labels):
        keys = _readable(labels, label_field)
        different = len(set(keys))
        for name, values in by_field.items():
            same = label_field == name
            if (same and name == field) or (same and keyed and different < max(2, _MOST * len(labels))):
                continue
            found = Fitting(label_field, name, sum(key in values for key in keys))
            if found.matched < _MOST * len(labels):
                continue
            if best is None or (found.matched, len(values)) > (best.matched, len(by_field[best.field])):
                best = found
    return best


def _fields(documents: Iterable[Document]) -> list[str]:
    names = dict.fromkeys(name for document in documents for name in document.meta if isinstance(name, str))
    return ["id", "content", *(f"meta.{name}" for name in names)]


def _readable(documents: Iterable[Document], field: str) -> list[str]:
    """The texts that a field holds: numbers, such as places and pages, are alike by chance."""
    of: Callable[[Document], Any] = make_keys(field).of
    return [key for key in map(of, documents) if isinstance(key, str) and key]


def _values(documents: Iterable[Document], field: str) -> set[str]:
    return set(_readable(documents, field))
