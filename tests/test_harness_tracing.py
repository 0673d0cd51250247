# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What the harness records through Haystack's tracing, and that it leaves the tracing of others as it was."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.agents import Agent
from haystack.components.generators import utils as generator_utils
from haystack.components.generators.chat import FallbackChatGenerator, MockChatGenerator
from haystack.components.query import QueryExpander
from haystack.components.rankers.llm_ranker import LLMRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools.tool import Tool
from haystack.tracing.tracer import Span, Tracer, enable_tracing, tracer

from haystack_eval_ext.runs._plain import SHOWN_CHARACTERS, shown
from haystack_eval_ext.runs._tracing import RecordingTracer, recorded, recording_tracer
from haystack_eval_ext.runs._usage import cost, reported_tokens
from haystack_eval_ext.runs.harness import run_target
from rag_pipelines import DOCUMENTS, SECRET, Sleeper, dataset, filled_store, hybrid, rag, reply


class SpySpan(Span):
    def __init__(self, name: str, parent: Any) -> None:
        self.name = name
        self.parent = parent
        self.tags: dict[str, Any] = {}

    def set_tag(self, key: str, value: Any) -> None:
        self.tags[key] = value


class SpyTracer(Tracer):
    """Somebody's tracing backend."""

    def __init__(self) -> None:
        self.spans: list[SpySpan] = []
        self._stack = threading.local()

    @contextlib.contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        span = SpySpan(operation_name, parent_span)
        span.set_tags(tags or {})
        self.spans.append(span)
        self._stack.top = span
        yield span

    def current_span(self) -> Span | None:
        return getattr(self._stack, "top", None)


@pytest.fixture
def spy() -> Iterator[SpyTracer]:
    before = tracer.actual_tracer
    spying = SpyTracer()
    enable_tracing(spying)
    yield spying
    enable_tracing(before)


def test_each_question_has_its_own_values_under_8_threads() -> None:
    data = dataset(80)
    pipeline = rag(Sleeper(0.005))
    for row, record in zip(data.rows, run_target(pipeline, data, concurrency=8, progress=False), strict=True):
        parts = {part["name"]: part for part in record["components"]}
        assert list(parts) == ["bm25", "prompt", "llm", "answers"]
        assert parts["bm25"]["in"]["query"] == row["question"]
        assert parts["bm25"]["documents"] == len(record["documents"])
        assert row["question"] in parts["llm"]["in"]["messages"]
        assert parts["llm"]["out"]["replies"] == f"[assistant: reply to <{row['question']}>]"
        # The sleeper's own arithmetic: words of the prompt and of the reply.
        prompt = "".join(f"{text}\n" for text in record["contexts"]) + f"Question: {row['question']}"
        expected = {"sleeper": {"prompt": len(prompt.split()), "completion": len(record["answer"].split())}}
        assert parts["llm"]["tokens"] == record["tokens"] == expected
        assert parts["llm"]["seconds"] >= 0.005
        assert record["seconds"] >= sum(part["seconds"] for part in parts.values())
        assert record["cost"] is None


def test_costs_are_tokens_times_prices() -> None:
    record = run_target(
        rag(Sleeper(0.0)), dataset(1), prices={"sleeper": {"input": 3.0, "output": 15.0}}, progress=False
    )[0]
    tokens = record["tokens"]["sleeper"]
    # Prices are for a million tokens.
    assert record["cost"] == pytest.approx((3.0 * tokens["prompt"] + 15.0 * tokens["completion"]) / 1e6, rel=1e-12)
    assert [part["cost"] for part in record["components"]] == [None, None, record["cost"], None]
    other = run_target(rag(Sleeper(0.0)), dataset(1), prices={"x": {"input": 1, "output": 1}}, progress=False)
    assert other[0]["cost"] is None


@pytest.mark.parametrize("content", [False, True])
def test_others_tracing_sees_all_and_is_put_back(
    spy: SpyTracer, content: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracer, "is_content_tracing_enabled", content)
    pipeline = rag()
    records = run_target(pipeline, dataset(3, failing=(1,)), concurrency=2, progress=False)
    assert tracer.actual_tracer is spy
    assert tracer.is_content_tracing_enabled is content
    names = [span.tags["haystack.component.name"] for span in spy.spans if span.name == "haystack.component.run"]
    assert sorted(names) == sorted(["bm25", "prompt", "llm"] * 3 + ["answers"] * 2)
    # Spans of theirs, never ours, are handed to them as parents.
    assert all(span.parent is None or isinstance(span.parent, SpySpan) for span in spy.spans)
    assert any(isinstance(span.parent, SpySpan) for span in spy.spans)
    assert any("haystack.component.input" in span.tags for span in spy.spans) is content
    assert all(part["in"] for record in records for part in record["components"])


def test_it_is_put_back_after_an_error_too(spy: SpyTracer) -> None:
    with pytest.raises(ValueError, match="max_failures"):
        run_target(rag(), dataset(3, failing=(0, 1, 2)), max_failures=0, progress=False)
    assert tracer.actual_tracer is spy


def test_a_tracer_that_comes_meanwhile_stays(spy: SpyTracer) -> None:
    later = SpyTracer()

    def answer(question: str) -> dict[str, Any]:
        enable_tracing(later)
        return {"answer": question}

    run_target(answer, dataset(2), concurrency=1, progress=False)
    assert tracer.actual_tracer is later


def test_a_tracer_that_comes_meanwhile_is_forwarded_to(spy: SpyTracer) -> None:
    later, asked = SpyTracer(), []
    pipeline = rag()

    def answer(question: str) -> dict[str, Any]:
        asked.append(question)
        if len(asked) == 1:
            enable_tracing(later)
        inputs = {"bm25": {"query": question}, "prompt": {"question": question}, "answers": {"query": question}}
        return {"answer": pipeline.run(inputs)["answers"]["answers"][0].data}

    records = run_target(answer, dataset(2), concurrency=1, progress=False)
    assert spy.spans == []
    assert [span.name for span in later.spans].count("haystack.component.run") == 8
    assert [list(record["stages"]) for record in records] == [[], ["bm25"]]
    assert tracer.actual_tracer is later


def test_runs_at_the_same_time_share_one_tracer(spy: SpyTracer) -> None:
    with recording_tracer():
        first = tracer.actual_tracer
        with recording_tracer():
            assert tracer.actual_tracer is first
        assert tracer.actual_tracer is first
        assert isinstance(first, RecordingTracer)
    assert tracer.actual_tracer is spy


def test_what_runs_beside_is_passed_on_unwrapped(spy: SpyTracer) -> None:
    with recording_tracer():
        with tracer.trace("theirs") as span:
            assert isinstance(span, SpySpan)
            assert tracer.current_span() is span
        with recorded() as recorder:
            with tracer.trace("haystack.component.run", tags={"haystack.component.name": "x"}) as span:
                assert tracer.current_span() is span
                assert span.raw_span() is spy.spans[-1]
                span.set_tag("k", 1)
            recorder.seal()
    assert spy.spans[-1].tags["k"] == 1
    assert [part["name"] for part in recorder.components(None)] == ["x"]


def test_components_that_fail_are_recorded_with_their_message_in_one_place() -> None:
    record = run_target(rag(), dataset(1, failing=(0,)), progress=False)[0]
    failed = record["components"][-1]
    assert (failed["name"], failed["out"], failed["error"]) == ("llm", None, "RuntimeError")
    assert SECRET in record["error"]["message"]
    assert SECRET not in str({**record["error"], "message": ""} | {"components": record["components"][-1]["error"]})


def search(query: str) -> dict[str, Any]:
    """Look up."""
    return {"documents": DOCUMENTS[:3] if query == "rules" else DOCUMENTS[10:11], "query": query}


def test_agents_show_their_calls_and_the_documents_of_their_tools() -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tool = Tool(name="search", description="search", parameters=schema, function=search)
    calls = [
        ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="search", arguments={"query": query})])
        for query in ("rules", "more")
    ]
    agent = Agent(chat_generator=MockChatGenerator([*calls, "the end"]), tools=[tool])
    record = run_target(agent, dataset(1), progress=False)[0]
    assert record["answer"] == "the end"
    assert [part["name"] for part in record["components"]] == [
        *["agent.llm", "agent.search"] * 2,
        "agent.llm",
        "agent",
    ]
    assert record["components"][1]["in"] == {"query": "rules"}
    assert [document["id"] for document in record["stages"]["agent.search"]] == ["d0", "d1", "d2", "d10"]
    assert record["documents"] == record["stages"]["agent.search"]
    counts = [part["tokens"]["mock-model"] for part in record["components"] if part["name"] == "agent.llm"]
    assert record["tokens"]["mock-model"] == {kind: sum(part[kind] for part in counts) for kind in counts[0]}


@component
class HandsOn:
    """Gives out the replies that it gets."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        """
        Hand on.

        :param replies: The replies.
        :returns: The same.
        """
        return {"replies": replies}


def test_replies_that_are_handed_on_are_counted_once() -> None:
    pipeline = rag(MockChatGenerator(response_fn=reply), builder=False)
    pipeline.add_component("after", HandsOn())
    pipeline.connect("llm.replies", "after.replies")
    record = run_target(pipeline, dataset(1), progress=False)[0]
    tokens = {part["name"]: part["tokens"] for part in record["components"]}
    assert tokens["llm"] == record["tokens"] != {}
    assert tokens["after"] == {}


def talking(text: str) -> MockChatGenerator:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return MockChatGenerator(ChatMessage.from_assistant(text, meta={"model": "inner", "usage": usage}))


def with_ranker() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(filled_store(), top_k=3))
    pipeline.add_component("ranker", LLMRanker(chat_generator=talking('{"documents": [{"index": 1}]}')))
    pipeline.connect("bm25.documents", "ranker.documents")
    return pipeline


def with_expander() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("expander", QueryExpander(chat_generator=talking('{"queries": ["a", "b"]}')))
    return pipeline


def down(_messages: list[ChatMessage]) -> str:
    raise ConnectionError(SECRET)


def with_fallback() -> Pipeline:
    return rag(FallbackChatGenerator([MockChatGenerator(response_fn=down), talking("x")]))


def with_fallback_in_ranker() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(filled_store(), top_k=3))
    inner = FallbackChatGenerator([talking('{"documents": [{"index": 1}]}')])
    pipeline.add_component("ranker", LLMRanker(chat_generator=inner))
    pipeline.connect("bm25.documents", "ranker.documents")
    return pipeline


def with_agent() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("agent", Agent(chat_generator=FallbackChatGenerator([talking("x")])))
    return pipeline


@pytest.mark.skipif(
    not hasattr(generator_utils, "_trace_chat_generator_run"), reason="this Haystack traces no generators inside"
)
@pytest.mark.parametrize("make", [with_ranker, with_expander, with_fallback, with_fallback_in_ranker, with_agent])
def test_tokens_of_generators_inside_of_components_are_counted_once(make: Any) -> None:
    (record,) = run_target(make(), dataset(1), prices={"inner": {"input": 1e6, "output": 1e6}}, progress=False)
    assert record["status"] == "ok", record["error"]
    assert record["tokens"] == {"inner": {"prompt": 100, "completion": 10}}
    assert record["cost"] == 110.0
    assert sum(part["cost"] or 0 for part in record["components"]) == 110.0
    if make is with_fallback:
        tried = [part for part in record["components"] if part["name"] == "llm.chat_generator"]
        assert [part["error"] for part in tried] == ["ConnectionError", None]
        assert SECRET not in str(record)


@pytest.mark.parametrize(
    ("output", "tokens"),
    [
        ({"replies": ["a"], "meta": [{"model": "m", "usage": {"prompt_tokens": 2, "completion_tokens": 3}}]}, (2, 3)),
        ({"embedding": [], "meta": {"model": "m", "usage": {"prompt_tokens": 4, "total_tokens": 4}}}, (4, 0)),
        ({"replies": [ChatMessage.from_assistant("a", meta={"model": "m", "usage": {"input_tokens": 5}})]}, (5, 0)),
        # Two replies of one request repeat its usage.
        (
            {
                "replies": [
                    ChatMessage.from_assistant(x, meta={"model": "m", "usage": {"output_tokens": 6}}) for x in "ab"
                ]
            },
            (0, 6),
        ),
        ({"replies": [ChatMessage.from_assistant("a")]}, None),
        ({"meta": {"model": "m", "usage": None}}, None),
        ("text", None),
    ],
)
def test_usage_is_read_from_all_that_haystack_has(output: Any, tokens: tuple[int, int] | None) -> None:
    expected = {} if tokens is None else {"m": {"prompt": tokens[0], "completion": tokens[1]}}
    assert reported_tokens(output, {}) == expected
    assert cost({}, {"m": {"input": 1.0, "output": 1.0}}) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (3, 3),
        (float("nan"), None),
        ([0.5] * 768, "768 numbers"),
        (DOCUMENTS[:2], "[Document d0, Document d1]"),
        (list(range(30)), "[" + ", ".join(map(str, range(20))) + ", ... (10 more)]"),
        ({"a": [{"b": {"c": {"d": 1}}}]}, "{a: [{b: {c: dict}}]}"),
        (b"abc", "3 bytes"),
        (object(), "object"),
    ],
)
def test_shown_values_are_short(value: Any, expected: Any) -> None:
    assert shown(value) == expected


def test_long_values_are_capped() -> None:
    text = shown("x" * 5000)
    assert text == "x" * SHOWN_CHARACTERS + "... (5,000 characters)"


def test_components_come_in_the_order_of_execution() -> None:
    record = run_target(hybrid(), dataset(1), progress=False)[0]
    names = [part["name"] for part in record["components"]]
    assert names.index("join") > max(names.index("bm25"), names.index("dense"))
    assert names[-4:] == ["join", "ranker", "prompt", "llm"]
