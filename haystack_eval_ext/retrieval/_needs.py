# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which labels of a question are needed together: all, any one, or one of several groups; and what reached a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext._batches import as_list, describe, rows_of
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack import Document

#: What a question needs: every label, any label, or all labels of one group, by their places from 0.
Need = str | list[list[int]]

ALL, ANY = "all", "any"
_FORMS = "'all', 'any', or groups of places such as [[0, 1], [2]]"


def need_rows(value: Any, sizes: Sequence[int]) -> list[Need]:
    """
    Check the socket of needs.

    :param value: What it was given; None: every question needs all of its labels.
    :param sizes: The number of labels of each question.
    :returns: One need per question.
    :raises ValueError: If the number of rows differs, a word is unknown, or a place is none of a label.
    :raises TypeError: If something else is in it.
    """
    if value is None:
        return [ALL] * len(sizes)
    rows = rows_of("needs", value, "with one entry per question")
    if len(rows) != len(sizes):
        found = f"ground_truth_documents has {len(sizes)}, needs has {len(rows)}"
        msg = f"All inputs must have the same number of rows, but {found}."
        raise InvalidValueError(msg)
    needs = [ALL if entry is None else read_need(entry, f"needs[{row}]") for row, entry in enumerate(rows)]
    for row, (need, size) in enumerate(zip(needs, sizes, strict=True)):
        if outside(need, size):
            msg = f"needs[{row}] names a place that ground_truth_documents has not: it has {size} labels there, from 0."
            raise InvalidValueError(msg)
    return needs


def read_need(value: Any, place: str = "needs") -> Need:
    """
    Read what a question needs, from a socket or a file.

    :param value: "all" or "any", in any case; or groups of places.
    :param place: What to call it in an error.
    :returns: The need, a word in lower case.
    :raises ValueError: If a word is unknown, or there is an empty group, or none.
    :raises TypeError: If it is something else.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        if word in (ALL, ANY):
            return word
        msg = f"{place} must be {_FORMS}, but is another text."
        raise InvalidValueError(msg)
    groups = as_list(value)
    if not isinstance(groups, list):
        msg = f"{place} must be {_FORMS}, but is {describe(groups)}."
        raise InvalidTypeError(msg)
    found = [as_list(group) for group in groups]
    for group in found:
        if not isinstance(group, list) or any(type(number) is not int for number in group):
            msg = f"{place} must be {_FORMS}, but a group of it is no list of places."
            raise InvalidTypeError(msg)
    if not all(found) or not found:
        msg = f"{place} has an empty group, or none: name at least one label in each."
        raise InvalidValueError(msg)
    return found


def outside(need: Any, size: int) -> bool:
    """Tell whether groups name a place that so many labels do not have."""
    return isinstance(need, list) and any(not 0 <= place < size for group in need for place in group)


def alternatives(need: Need, relevant: Sequence[bool]) -> list[list[int]]:
    """
    List the sets of labels of which one is enough.

    :param need: What the question needs.
    :param relevant: Whether each of its labels is relevant; what is not is never needed.
    :returns: The places of the relevant labels of each set; sets without any are left out.
    """
    places = [place for place, flag in enumerate(relevant) if flag]
    if need == ALL:
        return [places] if places else []
    if need == ANY:
        return [[place] for place in places]
    sets = [[place for place in group if relevant[place]] for group in need if isinstance(group, list)]
    return [each for each in sets if each]


def passed_on(documents: Sequence[Document], contexts: Sequence[str]) -> list[Document] | None:
    """
    Find the documents that reached a prompt.

    :param documents: What was retrieved.
    :param contexts: The texts of the prompt.
    :returns: The documents whose text is in one of these, or holds one of them; documents without text stay. None if
        there are texts on both sides, and none is in the other: then nobody knows.
    """
    texts = [text for text in map(_plain, contexts) if text]
    kept = [each for each in documents if not each.content or _among(_plain(each.content), texts)]
    return None if texts and documents and not kept else kept


def _plain(text: str) -> str:
    return " ".join(text.split())


def _among(text: str, texts: Sequence[str]) -> bool:
    return any(text in other or other in text for other in texts)
