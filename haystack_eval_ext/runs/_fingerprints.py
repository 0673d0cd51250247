# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Hashes that tell whether two runs asked the same questions, with the same labels, of the same system."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from haystack import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def canonical(value: Any) -> str:
    """
    Write a value so that equal values give equal texts.

    :param value: Plain values; anything else counts by its text.
    :returns: ASCII JSON with sorted names.
    """
    return json.dumps(value, sort_keys=True, default=str)


def text_hash(text: str) -> str:
    """
    Hash a text.

    :param text: Any text, also with lone surrogates, which are legal in JSON.
    :returns: 64 hexadecimal digits.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def order_free_hash(parts: Iterable[Any]) -> str:
    """
    Hash parts regardless of their order.

    :param parts: What :func:`canonical` takes; JSON holds no line break, so that joining them by one is unambiguous.
    :returns: 64 hexadecimal digits.
    """
    return text_hash("\n".join(sorted(map(canonical, parts))))


def label_part(row: Mapping[str, Any]) -> list[Any]:
    """
    Take from a row what scores are measured against.

    :param row: A row of a dataset.
    :returns: The id, the labels and reference answers in an order of their own, whether it is answerable, and which
        labels it needs if these are not all.
    """
    references = row.get("reference_answer")
    needs = row.get("needs") or "all"
    if not isinstance(needs, str):
        labels = list(map(_label, row.get("relevant_documents") or []))
        needs = sorted(sorted(labels[place] for place in group) for group in needs)
    return [
        row["id"],
        sorted(map(_label, row.get("relevant_documents") or [])),
        sorted([references] if isinstance(references, str) else references or []),
        row.get("answerable", True),
        *([] if needs == "all" else [needs]),
    ]


def _label(document: Document) -> str:
    # A label without a grade has grade 1.
    grade = 1.0 if document.score is None else document.score
    return canonical([document.id, document.content, document.meta, grade])
