# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels of one splitter on the chunks of another, over the shipped handbook: overlap against covered characters."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext._resources import examples_path

WORDS = 60
DEPTH = 20


@cache
def pages() -> list[Document]:
    files = sorted((examples_path() / "handbook" / "en").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [Document(id=row["id"], content=row["content"]) for row in rows]


@cache
def questions() -> list[str]:
    """English ones, since the splitter cuts by words between blanks."""
    lines = (examples_path() / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [row["question"] for row in map(json.loads, lines) if row["lang"] == "en"]


@cache
def chunks(words: int) -> list[Document]:
    splitter = DocumentSplitter(split_by="word", split_length=words, split_overlap=0)
    return list(splitter.run(documents=pages())["documents"])


@cache
def rankings(words: int) -> list[list[Document]]:
    store = InMemoryDocumentStore()
    store.write_documents(chunks(words))
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=DEPTH))
    return [pipeline.run({"retriever": {"query": question}})["retriever"]["documents"] for question in questions()]


def labels(seed: int) -> list[list[Document]]:
    """For each question a chunk of the labels' splitter that was retrieved early: real text, as people mark it."""
    draw = random.Random(seed)
    return [[replace(draw.choice(ranking[:3]), score=None)] for ranking in rankings(WORDS)]


def scores(truths: Any, retrieved: Any, matching: Any) -> dict[str, float]:
    field = "meta.source_id" if matching == "span" else "content"
    evaluator = DocumentRankingEvaluator(["R@5", f"R@{DEPTH}"], field, matching=matching)
    found: dict[str, float] = evaluator.run(truths, retrieved)["scores"]
    return found


@pytest.mark.parametrize("words", [WORDS // 2, WORDS // 3])
def test_recall_by_overlap_is_near_that_of_covered_characters(words: int) -> None:
    truths, retrieved = labels(1), rankings(words)
    overlap, span = (scores(truths, retrieved, matching) for matching in ("overlap", "span"))
    for measure, expected in span.items():
        assert overlap[measure] == pytest.approx(expected, abs=0.05)
    assert span[f"R@{DEPTH}"] > 0.5
    # The rule of one chunk alone loses what no chunk can hold alone.
    assert scores(truths, retrieved, "overlap_by_chunk")[f"R@{DEPTH}"] < 0.5 * overlap[f"R@{DEPTH}"]


def test_passages_of_which_nothing_was_retrieved_are_not_covered() -> None:
    retrieved = rankings(WORDS // 3)
    truths = []
    for ranking in retrieved:
        known = {document.id for document in ranking}
        truths.append([Document(content=chunk.content) for chunk in chunks(WORDS // 3) if chunk.id not in known])
    assert min(map(len, truths)) > 5 * DEPTH
    assert scores(truths, retrieved, "overlap")[f"R@{DEPTH}"] <= 0.03
