# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Never more calls in flight than the limit, in whatever way and by how many evaluators they are made."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from haystack import component
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import FaithfulnessEvaluator
from haystack_eval_ext.judged._limits import LIMITS, Limit, call_within, limit_of, submit
from judged_rows import QUICK, evaluator, judge, rows
from openai_server import OpenAIServer


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(latency=0.002) as running:
        yield running


def run_sync(component: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = component.run(**inputs)
    return result


def run_async(component: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = asyncio.run(component.run_async(**inputs))
    return result


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("way", [run_sync, run_async])
def test_the_limit_holds_and_is_used(server: OpenAIServer, way: Any, limit: int) -> None:
    server.change(latency=0.01)
    way(evaluator(server.url, replace(QUICK, max_concurrency=limit)), rows(15))
    assert server.peak == limit


def test_the_limit_holds_under_faults(server: OpenAIServer) -> None:
    server.change(faults={"429": 0.2, "500": 0.1, "malformed": 0.1, "counts": 0.1, "drop": 0.1})
    result = evaluator(server.url, replace(QUICK, max_concurrency=3)).run(**rows(40))
    assert result["statuses"] == ["scored"] * 40
    assert server.met.total() > 10
    assert server.peak <= 3


def owner(message: str, names: list[str]) -> str:
    return next(name for name in names if f"{name}-row" in message)


@pytest.mark.parametrize("way", [run_sync, run_async])
def test_the_smallest_limit_of_three_evaluators_holds(server: OpenAIServer, way: Any) -> None:
    """Three generators of one configuration: while an evaluator has calls to make, its limit binds all."""
    limits = {"small": 2, "middle": 4, "large": 8}
    server.hold()
    results: dict[str, Any] = {}

    def work(name: str) -> None:
        judged = evaluator(server.url, replace(QUICK, max_concurrency=limits[name]))
        inputs = rows(12)
        inputs["questions"] = [f"{name}-row {row}" for row in range(12)]
        results[name] = way(judged, inputs)

    threads = []
    for waiting, name in enumerate(limits, start=1):
        threads.append(threading.Thread(target=work, args=(name,)))
        threads[-1].start()
        until(lambda waiting=waiting: sum(queued(limit) for limit in LIMITS.values()) == 12 * waiting - 2)
    server.let_go()
    for thread in threads:
        thread.join(60)
    assert all(results[name]["statuses"] == ["scored"] * 12 for name in limits)
    finished: Counter[str] = Counter()
    in_flight = 0
    seen = set()
    for kind, message in server.events:
        if kind == "out":
            in_flight -= 1
            finished[owner(message, list(limits))] += 1
            continue
        in_flight += 1
        seen.add(in_flight)
        binding = min(limit for name, limit in limits.items() if finished[name] < 12)
        assert in_flight <= binding, f"{in_flight} in flight under a limit of {binding}"
    assert max(seen) > 2, "the other evaluators' limits hold again when the smallest one's user is done"
    assert not any(isinstance(key, tuple) and server.url in key for key in LIMITS), "a limit without users goes away"


def queued(limit: Limit) -> int:
    return len(limit._waiting)


def until(condition: Any) -> None:
    """Wait for something that another thread does."""
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail("it did not happen in 30 seconds")


@pytest.mark.parametrize(
    ("changed", "shared"),
    [
        ({}, True),
        ({"model": "another"}, True),
        ({"generation_kwargs": {"temperature": 0.5}}, True),
        ({"api_base_url": "http://127.0.0.1:1/v1"}, False),
    ],
)
def test_what_shares_a_limit(changed: dict[str, Any], shared: bool) -> None:
    """The service and the account: address and the name of the key's variable."""
    from haystack_eval_ext.judged._generator import Generator

    keys = [Generator(judge(**{"url": "http://127.0.0.1:2/v1", **more})).limit_key() for more in ({}, changed)]
    assert (keys[0] == keys[1]) is shared


def test_another_key_is_another_limit() -> None:
    from haystack.utils import Secret

    from haystack_eval_ext.judged._generator import Generator

    url = "http://127.0.0.1:2/v1"
    one, other = judge(url), judge(url, api_key=Secret.from_env_var("TEST_OTHER_KEY", strict=False))
    assert Generator(one).limit_key() != Generator(other).limit_key()


def test_a_generator_without_address_has_its_own_limit() -> None:
    @component
    class Local:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant("{}")]}

    from haystack_eval_ext.judged._generator import Generator

    assert Generator(Local()).limit_key() != Generator(Local()).limit_key()


def test_one_instance_in_twenty_threads(server: OpenAIServer) -> None:
    shared = evaluator(server.url, replace(QUICK, max_concurrency=5))
    alone = [evaluator(server.url).run(**rows(3, first=n)) for n in range(20)]
    server.change()
    with ThreadPoolExecutor(20) as pool:
        came = list(pool.map(lambda n: shared.run(**rows(3, first=n)), range(20)))
    assert [one["individual_scores"] for one in came] == [one["individual_scores"] for one in alone]
    assert [one["results"] for one in came] == [one["results"] for one in alone]
    assert server.calls == 60
    assert server.peak <= 5


def test_run_and_run_async_inside_a_running_loop(server: OpenAIServer) -> None:
    component = evaluator(server.url)
    expected = component.run(**rows(6))

    async def both() -> tuple[Any, Any, Any]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        asynchronous = await component.run_async(**rows(6))
        assert ticks > 10, "the caller's loop goes on meanwhile"
        ticking.cancel()
        several = await asyncio.gather(*(component.run_async(**rows(6)) for _ in range(3)))
        return component.run(**rows(6)), asynchronous, several

    synchronous, asynchronous, several = asyncio.run(both())
    for came in (synchronous, asynchronous, *several):
        assert came == expected
    assert asyncio.run(component.run_async(**rows(6))) == expected, "again in a new loop: no connection is bound to one"


def test_identical_requests_are_asked_once(server: OpenAIServer) -> None:
    one = {socket: values * 10 for socket, values in rows(1).items()}
    server.change(latency=0.02)
    result = evaluator(server.url).run(**one)
    assert server.calls == 1
    assert len(set(result["individual_scores"])) == 1
    assert sum(row["usage"]["calls"] for row in result["results"]) == 1
    assert result["usage"]["cache_hits"] == 9
    assert all(meta == result["meta"][0] for meta in result["meta"]), "each row knows what the reply came with"


def test_identical_requests_fail_together(server: OpenAIServer) -> None:
    server.change(lost=1.0, lost_to="404")
    one = {socket: values * 10 for socket, values in rows(1).items()}
    result = evaluator(server.url, raise_on_failure=False).run(**one)
    assert server.calls == 1
    assert result["statuses"] == ["error"] * 10


def test_a_real_rate_limit_costs_no_row(server: OpenAIServer) -> None:
    """The server serves 4 at once; 16 ask. No row is lost, and most calls are served."""
    server.change(max_in_flight=4, latency=0.02, retry_after="0.02")
    result = evaluator(server.url).run(**rows(60))
    assert result["statuses"] == ["scored"] * 60
    assert server.met["429"] > 0
    assert server.calls == 60 + server.met["429"]


def test_cancelling_ends_what_is_in_flight(server: OpenAIServer) -> None:
    server.hold()

    async def cancelled() -> None:
        task = asyncio.create_task(evaluator(server.url, replace(QUICK, max_concurrency=2)).run_async(**rows(10)))
        while server.calls < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    until(lambda: all(limit.idle for key, limit in LIMITS.items() if isinstance(key, tuple) and server.url in key))
    server.let_go()
    assert evaluator(server.url).run(**rows(3))["statuses"] == ["scored"] * 3
    assert server.calls == 5


def test_a_generator_that_goes_closes_its_connections(server: OpenAIServer) -> None:
    """Collected unclosed, its sockets' numbers go to new connections, which the loop then stops reading from."""
    judged = evaluator(server.url)
    judged.run(**rows(3))
    client = judged.chat_generator.async_client
    gc.collect()
    assert not client.is_closed(), "it is kept as long as its generator"
    del judged
    gc.collect()
    until(client.is_closed)


def on_the_loop(coroutine: Any) -> Any:
    return submit(coroutine).result(20)


def test_slots_are_given_in_order_and_repeated_calls_go_first() -> None:
    async def work() -> list[str]:
        order: list[str] = []

        async def take(name: str, *, again: bool = False) -> None:
            await limit.acquire(again=again)
            order.append(name)
            limit.release()

        with limit_of("order", 1) as limit:
            await limit.acquire()
            tasks = [asyncio.ensure_future(take(name)) for name in ("first", "second", "gone")]
            await asyncio.sleep(0)
            tasks.append(asyncio.ensure_future(take("again", again=True)))
            await asyncio.sleep(0)
            tasks[2].cancel()
            limit.release()
            await asyncio.gather(*tasks, return_exceptions=True)
        return order

    assert on_the_loop(work()) == ["again", "first", "second"]


def test_a_slot_given_to_one_who_is_gone_comes_back() -> None:
    async def work() -> bool:
        with limit_of("gone", 1) as limit:
            await limit.acquire()
            waits = asyncio.ensure_future(limit.acquire())
            await asyncio.sleep(0)
            limit.release()
            waits.cancel()
            await asyncio.gather(waits, return_exceptions=True)
            await asyncio.wait_for(limit.acquire(), 5)
            limit.release()
        return limit.idle

    assert on_the_loop(work()) is True


def test_one_who_gives_up_while_a_slot_comes_free_just_goes() -> None:
    async def work() -> BaseException | None:
        with limit_of("given up", 1) as limit:
            await limit.acquire()
            waits = asyncio.ensure_future(limit.acquire())
            await asyncio.sleep(0)
            waits.cancel()
            limit.release()
            (ended,) = await asyncio.gather(waits, return_exceptions=True)
        return ended

    assert isinstance(on_the_loop(work()), asyncio.CancelledError)


@pytest.mark.parametrize("cancels", [True, False])
def test_an_abandoned_call_gives_its_slot_back_when_it_ends(cancels: bool) -> None:
    async def work() -> list[str]:
        happened: list[str] = []
        ends = asyncio.Event()

        async def call() -> None:
            try:
                await ends.wait()
            except asyncio.CancelledError:
                happened.append("cancelled")
                raise

        def abandon() -> Any:
            happened.append("abandoned")
            return lambda: happened.append("released")

        with pytest.raises(TimeoutError):
            await call_within(call(), 0.01, abandon, cancels=cancels)
        ends.set()
        for _ in range(5):
            await asyncio.sleep(0)
        return happened

    assert on_the_loop(work()) == ["abandoned", *(["cancelled"] if cancels else []), "released"]


def test_sync_generators_run_side_by_side_within_the_limit() -> None:
    together = threading.Barrier(3, timeout=20)
    lock = threading.Lock()
    flying = [0, 0]

    @component
    class Meeting:
        """Each call waits until three are in flight: fewer would never end, more would be seen."""

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            with lock:
                flying[0] += 1
                flying[1] = max(flying)
            together.wait()
            with lock:
                flying[0] -= 1
            return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1, "s2": 0, "s3": 1, "s4": 0}}')]}

    judged = FaithfulnessEvaluator(chat_generator=Meeting(), policy=replace(QUICK, max_concurrency=3))
    result = judged.run(**rows(12))
    assert not any(map(math.isnan, result["individual_scores"]))
    assert flying[1] == 3
