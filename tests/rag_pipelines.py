# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""RAG pipelines for the tests of the harness: BM25 and hybrid, in memory, with generators that need no model."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.runs.dataset import Dataset

allow_deserialization_module("rag_pipelines")

#: No message may hold it.
SECRET = "zebra-crossing"  # noqa: S105 - a word to look for
TEMPLATE = "{% for document in documents %}{{ document.content }}\n{% endfor %}Question: {{ question }}"
DOCUMENTS = [Document(id=f"d{n}", content=f"Rule {n} is about topic{n} in chapter{n % 7}.") for n in range(60)]


def dataset(count: int = 300, *, failing: tuple[int, ...] = ()) -> Dataset:
    """Questions about one document each; those that fail say so in their text."""
    rows = []
    for number in range(count):
        label = number % len(DOCUMENTS)
        bad = f" #fail {SECRET}" if number in failing else ""
        rows.append(
            {
                "id": f"q{number}",
                "question": f"Question {number}: what is topic{label} about?{bad}",
                "relevant_documents": [Document(id=f"d{label}")],
                "reference_answer": f"topic{label}",
                "tags": ["even" if number % 2 == 0 else "odd"],
            }
        )
    return Dataset("questions.jsonl", rows)


def reply(messages: list[ChatMessage]) -> str:
    """The question's line, shortened: tells that a reply belongs to its question."""
    text = (messages[-1].text or "").rpartition("Question: ")[2]
    if "#fail" in text:
        msg = f"cannot answer {text}"
        raise RuntimeError(msg)
    return f"reply to <{text}>"


@component
class Sleeper:
    """A generator that waits, and counts how many wait at the same time."""

    def __init__(self, seconds: float = 0.01) -> None:
        self.seconds = seconds
        self.calls = 0
        self.peak = 0
        self.warmed = False
        self.cold = False
        self._inside = 0
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Note it."""
        self.warmed = True

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """
        Wait.

        :param messages: The prompt.
        :returns: The reply of `reply`.
        """
        with self._lock:
            self.calls += 1
            self.cold = self.cold or not self.warmed
            self._inside += 1
            self.peak = max(self.peak, self._inside)
        try:
            time.sleep(self.seconds * (100 if "#hang" in (messages[-1].text or "") else 1))
            text = reply(messages)
            words = len((messages[-1].text or "").split())
            usage = {"prompt_tokens": words, "completion_tokens": len(text.split())}
            return {"replies": [ChatMessage.from_assistant(text, meta={"model": "sleeper", "usage": usage})]}
        finally:
            with self._lock:
                self._inside -= 1


@component
class OverlapRanker:
    """Puts the documents first that share most words with the query."""

    def __init__(self, top_k: int = 3) -> None:
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """
        Rank.

        :param query: The query.
        :param documents: What to rank.
        :returns: The best.
        """
        words = set(query.lower().replace("?", "").split())
        best = sorted(documents, key=lambda each: -len(words & set((each.content or "").lower().split())))
        return {"documents": best[: self.top_k]}


def filled_store(index: str | None = None, *, embedded: bool = False) -> InMemoryDocumentStore:
    store = InMemoryDocumentStore(index=index)
    if store.count_documents() == 0:
        store.write_documents(MockDocumentEmbedder(dimension=8).run(DOCUMENTS)["documents"] if embedded else DOCUMENTS)
    return store


def rag(generator: Any = None, store: InMemoryDocumentStore | None = None, *, builder: bool = True) -> Pipeline:
    """BM25, prompt, generator and, if wished, an AnswerBuilder."""
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store or filled_store(), top_k=5))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)]))
    pipeline.add_component("llm", generator or MockChatGenerator(response_fn=reply))
    pipeline.connect("bm25", "prompt.documents")
    pipeline.connect("prompt", "llm.messages")
    if builder:
        pipeline.add_component("answers", AnswerBuilder())
        pipeline.connect("llm.replies", "answers.replies")
        pipeline.connect("bm25", "answers.documents")
    return pipeline


def hybrid(generator: Any = None) -> Pipeline:
    """BM25 and dense retrieval, joined and ranked: four stages."""
    store = filled_store(embedded=True)
    pipeline = Pipeline()
    pipeline.add_component("embedder", MockTextEmbedder(dimension=8))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=6, return_embedding=True))
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=6))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.add_component("ranker", OverlapRanker())
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)]))
    pipeline.add_component("llm", generator or MockChatGenerator(response_fn=reply))
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    pipeline.connect("bm25", "join.documents")
    pipeline.connect("dense", "join.documents")
    pipeline.connect("join", "ranker.documents")
    pipeline.connect("ranker", "prompt.documents")
    pipeline.connect("prompt", "llm.messages")
    return pipeline


def super_component() -> Any:
    """The pipeline behind one query."""
    return SuperComponent(
        rag(builder=False),
        input_mapping={"query": ["bm25.query", "prompt.question"]},
        output_mapping={"llm.replies": "replies"},
    )


def answer_question(question: str) -> dict[str, Any]:
    """A target without Haystack."""
    if "#fail" in question:
        raise RuntimeError(question)
    return {"answer": f"reply to <{question}>", "documents": DOCUMENTS[:2], "contexts": ["one", "two"]}


def slow_target() -> Pipeline:
    """What the killed processes run; each call leaves a trace in a file, so that calls can be counted."""
    folder = os.environ["HARNESS_TEST_CALLS"]

    def counted(messages: list[ChatMessage]) -> str:
        text = reply(messages)
        with Path(folder).open("a", encoding="utf-8") as file:
            file.write(text.split()[3] + "\n")
        time.sleep(0.02)
        return text

    return rag(MockChatGenerator(response_fn=counted))


def indexing(index: str | None, *, converter: str = "converter") -> Pipeline:
    """Text files to an in-memory store."""
    from haystack.components.converters import TextFileToDocument
    from haystack.components.writers import DocumentWriter

    pipeline = Pipeline()
    pipeline.add_component(converter, TextFileToDocument())
    pipeline.add_component("writer", DocumentWriter(InMemoryDocumentStore(index=index)))
    pipeline.connect(converter, "writer")
    return pipeline
