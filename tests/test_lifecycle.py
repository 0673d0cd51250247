# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""warm_up and close of whatever asks a service, and where the generator and the embedder are when they are called."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.embedders import MockDocumentEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from cases import Case, all_cases
from haystack_eval_ext import AnswerCorrectnessEvaluator, FaithfulnessEvaluator, JudgePolicy
from haystack_eval_ext.judged._limits import submit
from openai_server import OpenAIServer

ROW = {"questions": ["Q?"], "contexts": [["Rain fell."]], "predicted_answers": ["Rain fell."]}
CALLS = ("warm_up", "close")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as started:
        yield started


class Logged:
    """Writes down which of its methods were called, and on which loop's thread."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.loops: set[Any] = set()

    def warm_up(self) -> None:
        self.log.append("warm_up")

    def close(self) -> None:
        self.log.append("close")


class LoggedAsync(Logged):
    async def warm_up_async(self) -> None:
        self.log.append("warm_up_async")
        self.loops.add(asyncio.get_running_loop())

    async def close_async(self) -> None:
        self.log.append("close_async")
        self.loops.add(asyncio.get_running_loop())


@component
class Judge(Logged):
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
        self.log.append("run")
        return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1}}')]}


@component
class AsyncJudge(LoggedAsync):
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        raise NotImplementedError

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
        self.log.append("run_async")
        self.loops.add(asyncio.get_running_loop())
        return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1}}')]}


@component
class Embedder(LoggedAsync):
    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return dict(MockDocumentEmbedder().run(documents))


def asking() -> list[Case]:
    """A case of each component that holds a generator or an embedder."""
    found: dict[Any, Case] = {}
    for case in all_cases():
        made = {"chat_generator", "embedder"} & set(case.parameters)
        if made and not case.skipped:
            found.setdefault((case.component, "embedder" in made), case)
    return list(found.values())


def called(evaluator: Any, way: str, method: str) -> None:
    if way == "run":
        getattr(evaluator, method)()
    else:
        asyncio.run(getattr(evaluator, f"{method}_async")())


@pytest.mark.parametrize("way", ["run", "run_async"])
@pytest.mark.parametrize("case", asking(), ids=lambda case: case.name)
def test_each_is_handed_on_to_generator_and_embedder(case: Case, way: str) -> None:
    held: dict[str, Any] = {"chat_generator": AsyncJudge, "embedder": Embedder}
    parts = {name: held[name]() for name in held if case.parameters.get(name) is not None}
    evaluator = case.make(**parts)
    used = [part for name, part in parts.items() if name != "embedder" or getattr(evaluator, "weights", [1])[-1]]
    for method in CALLS:
        called(evaluator, way, method)
        for part in used:
            assert [entry.removesuffix("_async") for entry in part.log][:1] == [method]
            part.log.clear()
    called(evaluator, way, "close")  # once more, harmlessly


def test_there_are_as_many_as_the_package_has() -> None:
    assert len({case.component for case in asking()}) >= 12


@pytest.mark.parametrize("judge", [Judge, AsyncJudge])
def test_a_pipeline_opens_and_closes_the_judge(judge: Callable[[], Any]) -> None:
    generator = judge()
    pipeline = Pipeline()
    pipeline.add_component("judge", FaithfulnessEvaluator(chat_generator=generator, progress_bar=False))
    pipeline.warm_up()
    assert [entry.removesuffix("_async") for entry in generator.log] == ["warm_up"]
    assert pipeline.run({"judge": ROW})["judge"]["score"] == 1.0
    pipeline.close()
    assert generator.log[-1] == "close"
    assert pipeline.run({"judge": ROW})["judge"]["score"] == 1.0, "it can be used again"
    if judge is AsyncJudge:
        assert generator.loops == {submit(_loop()).result()}, "the loop of its calls"


async def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


@pytest.mark.parametrize("way", ["run", "run_async"])
def test_the_client_of_a_real_generator_is_closed_and_opened_again(server: OpenAIServer, way: str) -> None:
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    generator = OpenAIChatGenerator(api_key=Secret.from_token("x"), api_base_url=server.url, max_retries=0)
    evaluator = FaithfulnessEvaluator(chat_generator=generator, progress_bar=False)
    called(evaluator, way, "warm_up")
    clients = []
    for _ in range(2):
        assert evaluator.run(**ROW)["statuses"] == ["scored"]
        clients.append(generator.async_client)
        called(evaluator, way, "close")
        called(evaluator, way, "close")
        assert generator.async_client is None
    assert all(client is not None and client.is_closed() for client in clients)
    assert clients[0] is not clients[1]


def test_what_has_no_such_methods_is_left_as_it_is() -> None:
    @component
    class Bare:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1}}')]}

    evaluator = FaithfulnessEvaluator(chat_generator=Bare(), progress_bar=False)
    for way in ("run", "run_async"):
        for method in CALLS:
            called(evaluator, way, method)
    assert evaluator.run(**ROW)["score"] == 1.0


def test_a_key_that_is_missing_is_found_by_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ValueError, match=r"could not be prepared: .*OPENAI_API_KEY.* Nothing was asked\."):
        FaithfulnessEvaluator().warm_up()


def test_with_a_cache_nothing_is_prepared_that_may_not_be_needed(tmp_path: Any) -> None:
    for policy in (JudgePolicy(cache_path=str(tmp_path / "cache")), JudgePolicy(offline=True, cache_path="none")):
        generator = Judge()
        FaithfulnessEvaluator(chat_generator=generator, policy=policy).warm_up()
        assert generator.log == []


def test_a_warm_up_that_hangs_ends_at_the_deadline() -> None:
    released = threading.Event()

    class Hanging(MockChatGenerator):
        def warm_up(self) -> None:
            released.wait(20)

    evaluator = FaithfulnessEvaluator(chat_generator=Hanging("{}"), policy=JudgePolicy(deadline=0.1, timeout=0.1))
    with pytest.raises(ValueError, match=r"longer than the deadline of 0\.1 seconds"):
        evaluator.warm_up()
    released.set()


def test_an_embedder_without_weight_is_not_prepared_but_closed() -> None:
    embedder = Embedder()
    evaluator = AnswerCorrectnessEvaluator(chat_generator=Judge(), embedder=embedder, weights=[1.0, 0.0])
    evaluator.warm_up()
    assert embedder.log == []
    evaluator.close()
    assert embedder.log == ["close_async", "close"]
