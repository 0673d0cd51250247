# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which labels a question needs, as data files say it: a word, or groups of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext._batches import as_list
from haystack_eval_ext.retrieval._needs import outside, read_need
from haystack_eval_ext.runs._labels import BadCellError, same_labels
from haystack_eval_ext.runs._lines import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack import Document

NEEDS, LABELS = "needs", "relevant_documents"
_FORMS = "any, all, or lists of places in relevant_documents, from 0"


def needs_cell(value: Any) -> str | list[list[int]]:
    """
    Read what a question needs.

    :param value: The cell: "any" or "all", or groups of places of labels, as runs write them.
    :returns: The same, the word in lower case.
    :raises BadCellError: If it is something else.
    """
    try:
        return read_need(value)
    except (ValueError, TypeError):
        msg = f"{'another text' if isinstance(value, str) else kind_of(value)}, expected {_FORMS}"
        raise BadCellError(msg) from None


def ungrouped(value: Any) -> tuple[Any, list[list[int]]]:
    """
    Take groups of labels apart: [["a", "b"], ["c"]] is a and b together, or c.

    :param value: A cell of labels.
    :returns: The cell without groups, and of each group the places of its entries there; no group if there are none.
    :raises BadCellError: If only some entries are groups, or a group is empty.
    """
    entries = as_list(value)
    if not isinstance(entries, list):
        return value, []
    found = [as_list(entry) for entry in entries]
    lists = sum(isinstance(entry, list) for entry in found)
    if not lists:
        return value, []
    if lists < len(found):
        msg = (
            f"{lists} of {len(found)} entries are lists, expected groups of labels throughout, as in "
            '[["a", "b"], ["c"]]: a and b together, or c'
        )
        raise BadCellError(msg)
    if not all(found):
        msg = "an empty group, expected at least one label in each"
        raise BadCellError(msg)
    flat: list[Any] = []
    groups: list[list[int]] = []
    for group in found:
        groups.append(list(range(len(flat), len(flat) + len(group))))
        flat += group
    return flat, groups


def grouped_labels(
    documents: list[Document], groups: list[list[int]], label_field: str
) -> tuple[list[Document], list[list[int]]]:
    """
    Keep one label of those that several groups name.

    :param documents: The labels, in the order of the groups.
    :param groups: The places of each group.
    :param label_field: Where the key of a label goes.
    :returns: The labels, and the places of each group among them.
    :raises BadCellError: If a label of a group is judged not relevant, which nothing needs.
    """
    if any(document.score is not None and document.score <= 0 for document in documents):
        msg = "a label in a group has a grade of 0 or below, expected relevant documents alone"
        raise BadCellError(msg)
    first = same_labels(documents, label_field)
    kept = [place for place, same in enumerate(first) if place == same]
    place_of = {place: number for number, place in enumerate(kept)}
    return [documents[place] for place in kept], [
        list(dict.fromkeys(place_of[first[place]] for place in group)) for group in groups
    ]


def fault_of_needs(row: Mapping[str, Any], groups: list[list[int]] | None) -> str:
    """
    Find what is wrong with the needs of a row.

    :param row: The row, parsed.
    :param groups: The groups in its labels; None: none.
    :returns: What, for the report; "" if nothing is.
    """
    needs = row.get(NEEDS)
    if groups is not None and needs not in (None, groups):
        return "given beside groups of labels, expected one of them: groups in relevant_documents say what is needed"
    if not isinstance(needs, list):
        return ""
    total = len(row.get(LABELS) or [])
    if outside(needs, total):
        return (
            f"a place that relevant_documents has not, expected 0 to {total - 1}" if total else "groups, but no label"
        )
    return ""
