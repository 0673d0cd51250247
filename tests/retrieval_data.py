# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Seeded rankings and labels for the retrieval tests, and the stock evaluators beside ours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import haystack.version
import pytest
from haystack import Document
from haystack.components import evaluators as stock
from packaging.version import Version

import haystack_eval_ext as ours

needs_stock = pytest.mark.skipif(
    Version(haystack.version.__version__) < Version("3.4.1"),
    reason="the stock evaluators are an oracle from haystack-ai 3.4.1 on; earlier ones give other numbers",
)

# The class, and how to make it: the five metrics that Haystack has, by the names of docs/differences.md.
EVALUATORS: dict[str, tuple[str, dict[str, str]]] = {
    "recall": ("DocumentRecallEvaluator", {}),
    "recall (multi_hit)": ("DocumentRecallEvaluator", {"mode": "multi_hit"}),
    "MRR": ("DocumentMRREvaluator", {}),
    "MAP": ("DocumentMAPEvaluator", {}),
    "NDCG": ("DocumentNDCGEvaluator", {}),
}
SIDES = {"stock": stock, "ours": ours}


def make_evaluator(side: str, name: str, **parameters: Any) -> Any:
    """Make an evaluator of :data:`EVALUATORS` from Haystack ("stock") or from this package ("ours")."""
    class_name, mode = EVALUATORS[name]
    return getattr(SIDES[side], class_name)(**{**mode, **parameters})


class Judged(NamedTuple):
    """A query with its grades by document id and its ranking, best first."""

    query: str
    labels: dict[str, int]
    ranking: list[str]

    @property
    def can_crash_trec_eval(self) -> bool:
        """Whether all grades are negative: pytrec_eval ends the process on such a query."""
        return max(self.labels.values()) < 0


def judged_queries(seed: int, number: int) -> list[Judged]:
    """
    Random queries with grades from -1 to 3; every kind of edge comes again each ten queries.

    Ids of queries are digits, since gdeval reads nothing else.
    """
    chance = random.Random(seed)
    return [_judged_query(chance, str(position), position % 10) for position in range(number)]


def _judged_query(chance: random.Random, query: str, kind: int) -> Judged:
    pool = [f"d{number}" for number in chance.sample(range(1000), 160)]
    judged = pool[: chance.randint(1, 40)]
    grades = [-1, 0, 0, 1, 2, 3]
    found = pool
    longest = 150
    if kind == 0:  # judged, but nothing is relevant
        grades = [-1, 0]
    elif kind == 1:
        grades = [-1]
    elif kind == 2:  # nothing retrieved
        longest = 0
    elif kind == 3:  # nothing that was retrieved is judged
        found = pool[len(judged) :]
    elif kind == 4:  # more relevant documents than retrieved ones
        grades, longest = [1, 2, 3], 4
    elif kind == 5:  # nothing but judged documents was retrieved
        found = judged
    elif kind == 6:  # low grades
        grades = [0, 1]
    shortest = min(1, longest)
    if kind == 7:  # everything retrieved
        shortest = longest = len(pool)
    labels = {document: chance.choice(grades) for document in judged}
    if kind == 0:
        labels[judged[0]] = 0
    length = chance.randint(shortest, min(longest, len(found)))
    ranking = chance.sample(found, length)
    better = chance.choice([0.0, 0.6, 0.9])  # how much a relevant document is preferred, as by a real retriever
    ranking.sort(key=lambda document: chance.random() - better * (labels.get(document, 0) > 0))
    return Judged(query, labels, ranking)


def falling_scores(ranking: Sequence[str]) -> dict[str, float]:
    """Scores that put documents in this order for every reader: whole numbers, so that float32 keeps them apart."""
    return {document: float(len(ranking) - place) for place, document in enumerate(ranking)}


def ranked_documents(ranking: Sequence[str]) -> list[Document]:
    """A ranking as a retriever delivers it. The scores rise, to show that the order alone counts."""
    return [Document(id=key, content="text", score=float(place)) for place, key in enumerate(ranking)]


def labelled_documents(labels: dict[str, int]) -> list[Document]:
    """Labels as ground truth."""
    return [Document(id=key, content="text", score=grade) for key, grade in labels.items()]


def _in_content(key: Any, other: str) -> Document:
    return Document(content=None if key is None else str(key), meta={"other": other})


def _in_id(key: Any, other: str) -> Document:
    return Document(id=f"without {other}" if key is None else str(key), content=other)


def _in_meta(key: Any, other: str) -> Document:
    return Document(content=other, meta={} if key is None else {"x": key})


def _in_nested_meta(key: Any, other: str) -> Document:
    return Document(content=other, meta={"x": {}} if key is None else {"x": {"y": key}})


# For each field of the drop-in tests: a document with this key there (None: without one), and a text that is no key.
FIELDS: dict[str, Callable[[Any, str], Document]] = {
    "content": _in_content,
    "id": _in_id,
    "meta.x": _in_meta,
    "meta.x.y": _in_nested_meta,
}

Batch = tuple[list[list[Document]], list[list[Document]]]


def plain_batch(seed: int, field: str) -> Batch:
    """
    Random ground truth and rankings with plain labels: in each question all have a score above 0, or none has one.

    Documents come again on both sides, some have no key, questions lack labels or hits, and keys are text, numbers and
    tuples, among them numbers that are equal (1, 1.0 and True).
    """
    chance = random.Random(seed)
    make = FIELDS[field]
    keys: list[Any] = ["a", "b", "c", "文書", "a ", 1, 2, 3, 1.0, True, 2.5, ("p", 1), "1"]

    def document(number: int) -> Document:
        return make(None if chance.random() < 0.1 else chance.choice(keys), f"text {number}")

    truths, retrieved = [], []
    for row in range(chance.randint(1, 8)):
        labels = [document(number) for number in range(chance.choice([0, 1, 2, 4, 8]))]
        ranking = [document(number) for number in range(chance.choice([0, 1, 3, 8, 20]))]
        if row == 0:  # where no document of a side has the field, ours refuses: docs/differences.md
            labels.append(make("a", "label"))
            ranking.append(make(chance.choice(keys), "hit"))
        if chance.random() < 0.5:
            labels = [replace(label, score=chance.choice([1, 2, 3, 0.5, 0.05, 7.0])) for label in labels]
        if chance.random() < 0.1:
            ranking = labels + ranking
        truths.append(labels)
        retrieved.append([replace(hit, score=chance.choice([None, -1.0, 0.0, 0.5, math.inf])) for hit in ranking])
    return truths, retrieved
