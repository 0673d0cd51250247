# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Documents for retrieval tests, written as short texts.

``truth("a:2 b n:0")`` are labels, ``ranked("x a b")`` is a ranking. A name makes the same Document whatever is compared
(id, content, meta fields, or the span of a source text), so that one table serves every set of parameters.
"""

from __future__ import annotations

from typing import Any

from haystack import Document


def document(name: str, grade: float | None = None) -> Document:
    """The Document of a name: three words that no other Document has, and every field that a case compares."""
    content = f"{name}one {name}two {name}three"
    return Document(
        id=f"id-{name}",
        content=content,
        score=grade,
        meta={
            "grade": grade,
            "file": f"{name[0]}.pdf",  # shared by all names with this letter, so that only file and page are a key
            "page": name,
            "source_id": f"source-{name}",
            "split_idx_start": 100,
            "start": 100,
            "end": 100 + len(content),
            "nested": {"key": f"nested-{name}"},
            "dotted.key": f"dotted-{name}",
            "parts": [name, {"deep": [name]}],
        },
    )


def truth(labels: str) -> list[Document]:
    """Labels: ``"a:2 b n:0"``; a name without a grade has none."""
    parts = (label.partition(":") for label in labels.split())
    return [document(name, float(grade) if grade else None) for name, _, grade in parts]


def ranked(names: str) -> list[Document]:
    """A ranking, best first: ``"x a b"``."""
    return [document(name) for name in names.split()]


def rows(*pairs: tuple[str, str]) -> dict[str, list[Any]]:
    """Both sockets in batch form, from pairs of labels and ranking."""
    return {
        "ground_truth_documents": [truth(labels) for labels, _ in pairs],
        "retrieved_documents": [ranked(ranking) for _, ranking in pairs],
    }
