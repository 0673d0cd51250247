# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The judge engine beside the least that could do its work, in one run against one server in a process of its own.

Throughput: the same generator behind a bare semaphore, sent the same messages and response format. Faults: a plain
loop that repeats whatever fails, with the same prompts and time-outs. Seconds of both depend on the machine, since a
client's own CPU time is the limit beyond 16 to 32 calls in flight; ratios hardly do. Each ratio is the median of
alternating pairs.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ["BENCH_JUDGE_KEY"] = "nobody's key"

from haystack.components.evaluators import FaithfulnessEvaluator as StockFaithfulness
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from haystack_eval_ext import FaithfulnessEvaluator, JudgePolicy
from haystack_eval_ext.judged._forms import Form, verdicts_form
from haystack_eval_ext.judged._reply import read_reply

SERVER = Path(__file__).resolve().parent.parent / "tests" / "openai_server.py"
FAULTS = {"429": 0.10, "500": 0.05, "malformed": 0.05, "counts": 0.05, "hang": 0.02}
QUIET: dict[str, Any] = {"latency": 0.1, "tail": 0.05, "tail_latency": 1.0}
ASKED_AGAIN_AFTER = 5.0


class Server:
    """The server, seen from this process."""

    def __init__(self, url: str) -> None:
        self.url = url

    def change(self, **settings: Any) -> None:
        """Behave differently, and forget what was seen."""
        request = urllib.request.Request(f"{self.url}/reset", json.dumps(settings).encode(), method="POST")  # noqa: S310 - 127.0.0.1
        urllib.request.urlopen(request).close()  # noqa: S310

    def stats(self) -> dict[str, Any]:
        """What was seen since."""
        with urllib.request.urlopen(f"{self.url}/stats") as answer:  # noqa: S310
            stats: dict[str, Any] = json.load(answer)
        return stats


@contextmanager
def served() -> Iterator[Server]:
    """Run the server."""
    process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait()


def rows(number: int) -> dict[str, list[Any]]:
    """Rows with one to four statements each."""
    return {
        "questions": [f"What is said of the harbour, number {n}?" for n in range(number)],
        "contexts": [[f"Harbour {n} lies in the north.", f"It was opened in {1000 + n}."] for n in range(number)],
        "predicted_answers": [
            " ".join(f"Harbour {n} has part {part}." for part in range(1 + n % 4)) for n in range(number)
        ],
    }


def generator(url: str) -> OpenAIChatGenerator:
    """The generator of all contenders."""
    key = Secret.from_env_var("BENCH_JUDGE_KEY")
    return OpenAIChatGenerator(api_key=key, model="m", api_base_url=url, max_retries=0)


def ours(url: str, policy: JudgePolicy) -> FaithfulnessEvaluator:
    """Our evaluator."""
    return FaithfulnessEvaluator(
        chat_generator=generator(url), progress_bar=False, raise_on_failure=False, policy=policy
    )


class _Recorder:
    """Takes down what our evaluator sends for each row, and replies to none."""

    def __init__(self, asked: list[tuple[list[ChatMessage], dict[str, Any]]]) -> None:
        self.asked = asked

    async def run_async(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((messages, generation_kwargs))
        raise LookupError

    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


def requests_of(number: int) -> list[tuple[list[ChatMessage], dict[str, Any]]]:
    """Messages and response format of each row, exactly as our evaluator sends them."""
    asked: list[tuple[list[ChatMessage], dict[str, Any]]] = []
    policy = JudgePolicy(structured_output="json_schema", max_concurrency=1)
    FaithfulnessEvaluator(
        chat_generator=_Recorder(asked), progress_bar=False, raise_on_failure=False, policy=policy
    ).run(**rows(number))
    assert len(asked) == number
    return asked


async def behind_semaphore(
    url: str,
    requests: list[tuple[list[ChatMessage], dict[str, Any]]],
    at_once: int,
    ask: Callable[[OpenAIChatGenerator, list[ChatMessage], dict[str, Any]], Awaitable[Any]],
) -> list[Any]:
    """The bare loop: a semaphore and a gather."""
    judge, semaphore = generator(url), asyncio.Semaphore(at_once)

    async def one(messages: list[ChatMessage], kwargs: dict[str, Any]) -> Any:
        async with semaphore:
            return await ask(judge, messages, kwargs)

    results = await asyncio.gather(*(one(*request) for request in requests))
    await judge.close_async()
    return list(results)


async def once(judge: OpenAIChatGenerator, messages: list[ChatMessage], kwargs: dict[str, Any]) -> Any:
    """Ask, and take what comes."""
    return await judge.run_async(messages=messages, generation_kwargs=kwargs)


async def until_whole(
    judge: OpenAIChatGenerator, messages: list[ChatMessage], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Ask until a reply has a verdict for each statement: whatever fails is asked again, after a short wait."""
    ids = list(json.loads(messages[1].text or "")["statements"])
    form: Form[Any] = verdicts_form(ids)
    while True:
        try:
            output = await asyncio.wait_for(once(judge, messages, kwargs), ASKED_AGAIN_AFTER)
            found: dict[str, Any] = read_reply(output["replies"][0].text, form.read)
        except Exception:
            await asyncio.sleep(0.25)
            continue
        if len(found) == len(ids):
            return found


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Time of a call by the clock, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def throughput(server: Server, number: int, at_once: int, pairs: int, stock_rows: int) -> None:
    """Print rows a second of all contenders that nothing disturbs."""
    inputs, requests = rows(number), requests_of(number)
    contenders: dict[str, Callable[[], Any]] = {
        "bare semaphore": lambda: asyncio.run(behind_semaphore(server.url, requests, at_once, once)),
        "ours, run": lambda: ours(server.url, policy).run(**inputs),
        "ours, run_async": lambda: asyncio.run(ours(server.url, policy).run_async(**inputs)),
    }
    policy = JudgePolicy(max_concurrency=at_once)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    peaks: dict[str, int] = {}
    for _ in range(pairs):
        for name, contender in contenders.items():
            server.change(**QUIET, faults={})
            taken, result = seconds(contender)
            times[name].append(taken)
            stats = server.stats()
            peaks[name] = max(peaks.get(name, 0), stats["peak"])
            assert stats["calls"] == number
            if name != "bare semaphore":
                assert result["statuses"] == ["scored"] * number
    print(f"\n{number} rows at 100 ms, 5 % of them at 1 s; {at_once} in flight; median of {pairs} alternating pairs\n")
    print("| contender | rows a second | of the bare semaphore's | most in flight |")
    print("|---|---:|---:|---:|")
    for name, values in times.items():
        ratio = statistics.median(bare / own for bare, own in zip(times["bare semaphore"], values, strict=True))
        print(f"| {name} | {number / statistics.median(values):.1f} | {ratio:.2f} | {peaks[name]} |")
    if stock_rows:
        server.change(**QUIET, faults={})
        stock = StockFaithfulness(chat_generator=generator(server.url), progress_bar=False)
        taken, _ = seconds(lambda: stock.run(**rows(stock_rows)))
        ratio = stock_rows / taken / (number / statistics.median(times["bare semaphore"]))
        print(
            f"| Haystack's own, {stock_rows} rows | {stock_rows / taken:.1f} | {ratio:.2f} | {server.stats()['peak']} |"
        )


def with_faults(server: Server, number: int, at_once: int, pairs: int) -> None:
    """Print seconds and calls of our evaluator and of the plain loop on a server that misbehaves."""
    inputs, requests = rows(number), requests_of(number)
    policy = JudgePolicy(max_concurrency=at_once, timeout=ASKED_AGAIN_AFTER)
    server.change(**QUIET, faults={})
    sound = ours(server.url, replace(policy, timeout=60.0)).run(**inputs)["individual_scores"]
    lines: dict[str, list[tuple[float, int, int, bool]]] = {"plain loop": [], "ours": []}
    for seed in range(1, pairs + 1):
        for name, found in lines.items():
            server.change(**QUIET, faults=FAULTS, seed=seed, retry_after="1")
            if name == "ours":
                taken, result = seconds(lambda: ours(server.url, policy).run(**inputs))
                scores = result["individual_scores"]
            else:
                taken, verdicts = seconds(
                    lambda: asyncio.run(behind_semaphore(server.url, requests, at_once, until_whole))
                )
                scores = [sum(each.values()) / len(each) for each in verdicts]
            scored = sum(score == score for score in scores)  # noqa: PLR0124 - NaN
            found.append((taken, server.stats()["calls"], scored, scores == sound))
    print(
        f"\n{number} rows with faults: {json.dumps(FAULTS)[1:-1]}; {at_once} in flight, {ASKED_AGAIN_AFTER:g} s a try\n"
    )
    print("| contender | scored | as without faults | seconds | of the plain loop's | calls |")
    print("|---|---:|---|---:|---:|---:|")
    plain = [line[0] for line in lines["plain loop"]]
    for name, found in lines.items():
        ratio = statistics.median(line[0] / other for line, other in zip(found, plain, strict=True))
        calls = statistics.median(line[1] for line in found)
        taken = statistics.median(line[0] for line in found)
        same = "yes" if all(line[3] for line in found) else "no"
        print(f"| {name} | {min(line[2] for line in found)} | {same} | {taken:.1f} | {ratio:.2f} | {calls:.0f} |")


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400, help="of the throughput")
    parser.add_argument("--fault-rows", type=int, default=200, help="with faults; 0: leave it out")
    parser.add_argument("--stock-rows", type=int, default=80, help="of Haystack's evaluator; 0: leave it out")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    with served() as server:
        ours(server.url, JudgePolicy()).run(**rows(20))  # imports
        asyncio.run(behind_semaphore(server.url, requests_of(20), 16, once))
        for at_once in options.in_flight:
            throughput(server, options.rows, at_once, options.pairs, options.stock_rows)
        if options.fault_rows:
            with_faults(server, options.fault_rows, options.in_flight[0], options.pairs)


if __name__ == "__main__":
    main()
