# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Throughput of the harness beside the loop that users write and a bare loop over 8 threads, in one run.

The generator sleeps, as one that waits for a service does. Ratios count, not times.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.harness import run_target

TARGET_SERIAL = 5.0
TARGET_BARE = 0.85


@component
class SleepingGenerator:
    """Answers after a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """
        Wait and answer.

        :param messages: The prompt.
        :returns: One reply.
        """
        time.sleep(self.seconds)
        usage = {"prompt_tokens": len(messages[-1].text or ""), "completion_tokens": 1}
        return {"replies": [ChatMessage.from_assistant("yes", meta={"model": "sleeper", "usage": usage})]}


def rag_pipeline(seconds: float, documents: int) -> Pipeline:
    """
    Make a RAG pipeline.

    :param seconds: How long its generator takes.
    :param documents: How many documents its store holds.
    :returns: The pipeline: BM25, prompt, generator, answer.
    """
    store = InMemoryDocumentStore()
    store.write_documents(
        [Document(id=f"d{n}", content=f"Rule {n} is about topic{n} and nothing else.") for n in range(documents)]
    )
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=5))
    template = "{% for document in documents %}{{ document.content }}\n{% endfor %}Question: {{ question }}"
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(template)]))
    pipeline.add_component("llm", SleepingGenerator(seconds))
    pipeline.add_component("answer", AnswerBuilder())
    pipeline.connect("bm25", "prompt.documents")
    pipeline.connect("prompt", "llm.messages")
    pipeline.connect("llm.replies", "answer.replies")
    pipeline.connect("bm25", "answer.documents")
    return pipeline


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--milliseconds", type=float, default=50.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    logging.getLogger("haystack").setLevel(logging.WARNING)
    pipeline = rag_pipeline(arguments.milliseconds / 1000, arguments.documents)
    questions = [f"What is rule {n % arguments.documents} about?" for n in range(arguments.questions)]
    data = Dataset("benchmark", [{"id": f"q{n}", "question": text} for n, text in enumerate(questions)])

    def ask(question: str) -> str:
        inputs = {"bm25": {"query": question}, "prompt": {"question": question}, "answer": {"query": question}}
        text: str = pipeline.run(inputs, include_outputs_from={"bm25"})["answer"]["answers"][0].data
        return text

    def users_loop() -> list[str]:
        return [ask(question) for question in questions]

    def bare_threads() -> list[str]:
        with ThreadPoolExecutor(arguments.threads) as pool:
            return list(pool.map(ask, questions))

    def harness() -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            records = run_target(
                pipeline, data, out=Path(folder) / "run", concurrency=arguments.threads, progress=False
            )
        return [record["answer"] for record in records]

    contenders: dict[str, Callable[[], list[str]]] = {
        "the loop users write": users_loop,
        f"bare loop, {arguments.threads} threads": bare_threads,
        "harness, rows on disk": harness,
    }
    ask(questions[0])
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for repeat in range(arguments.repeats):
        for name, contender in list(contenders.items())[:: -1 if repeat % 2 else 1]:
            start = time.perf_counter()
            answers = contender()
            seconds[name].append(time.perf_counter() - start)
            assert answers == ["yes"] * len(questions)
    serial, bare, ours = seconds.values()
    print(f"{arguments.questions} questions, generator {arguments.milliseconds:g} ms, {arguments.repeats} repeats\n")
    print("| contender | questions a second | times the users' loop |\n|---|---:|---:|")
    for name, times in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(serial, times, strict=True))
        print(f"| {name} | {arguments.questions / statistics.median(times):.1f} | {ratio:.2f} |")
    to_serial = statistics.median(a / b for a, b in zip(serial, ours, strict=True))
    to_bare = statistics.median(a / b for a, b in zip(bare, ours, strict=True))
    for what, value, target in (
        ("harness / users' loop", to_serial, TARGET_SERIAL),
        ("harness / bare loop", to_bare, TARGET_BARE),
    ):
        print(f"\n{what}: {value:.2f} (target {target}{'' if value >= target else ', missed'})")


if __name__ == "__main__":
    main()
