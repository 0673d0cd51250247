# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The judge engine beside the least that could do its work, in one run against one server in a process of its own.

Throughput: the same generator behind a bare semaphore, sent the same messages and response format. Faults: a plain
loop that repeats whatever fails, with the same prompts and time-outs. Seconds of both depend on the machine, since a
client's own CPU time is the limit beyond 16 to 32 calls in flight; ratios hardly do. Each ratio is the median of
alternating pairs.

``--peer ragas=PYTHON --peer deepeval=PYTHON`` lets other tools take part, each run by the Python of an environment that
it is installed in (``judge_peers.py``). They take their turn in each pair of the throughput, and once with faults.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ["BENCH_JUDGE_KEY"] = "nobody's key"

from haystack.components.evaluators import FaithfulnessEvaluator as StockFaithfulness
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from judge_rows import rows

from haystack_eval_ext import FaithfulnessEvaluator, JudgePolicy
from haystack_eval_ext.judged._forms import Form, verdicts_form
from haystack_eval_ext.judged._reply import read_reply

HERE = Path(__file__).resolve().parent
FAULTS = {"429": 0.10, "500": 0.05, "malformed": 0.05, "counts": 0.05, "hang": 0.02}
QUIET: dict[str, Any] = {"latency": 0.1, "tail": 0.05, "tail_latency": 1.0}
ASKED_AGAIN_AFTER = 5.0
#: A peer's run ends here, whatever it has by then.
CAP = 240.0
#: The ways of using a peer that differ where nothing goes wrong, and those where something does.
UNDISTURBED = ("ascore", "a_measure", "evaluate")
WITH_FAULTS = {"ragas": ["ascore"], "deepeval": ["evaluate", "evaluate, ignore_errors", "a_measure"]}


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
    process = subprocess.Popen([sys.executable, str(HERE / "judge_server.py")], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait()


class Peer:
    """Another tool, in a process of its own."""

    def __init__(self, name: str, python: str, url: str, each_try: float | None = None) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        command = [python, str(HERE / "judge_peers.py"), name, url]
        self._process = subprocess.Popen(
            command if each_try is None else [*command, str(each_try)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        ready = self._answer()
        self.version: str = ready["version"]
        self.ways: list[str] = ready["ways"]

    def run(self, way: str, number: int, at_once: int, cap: float) -> dict[str, Any]:
        """What came of one run."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"way": way, "rows": number, "at_once": at_once, "cap": cap}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            message = f"{self.name} does not run: {self._errors.read()[-2000:]}"
            raise RuntimeError(message)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # one that was cut off may still wait for replies
        self._process.communicate()
        self._errors.close()


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


def seconds(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """Time of a call by the clock, this process's CPU time, and the call's result."""
    start, used = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - start, time.process_time() - used, result


def throughput(server: Server, number: int, at_once: int, pairs: int, stock_rows: int, peers: list[Peer]) -> None:
    """Print rows a second of all contenders that nothing disturbs."""
    inputs, requests = rows(number), requests_of(number)
    contenders: dict[str, Callable[[], Any]] = {
        "bare semaphore": lambda: asyncio.run(behind_semaphore(server.url, requests, at_once, once)),
        "ours, run": lambda: ours(server.url, policy).run(**inputs),
        "ours, run_async": lambda: asyncio.run(ours(server.url, policy).run_async(**inputs)),
    }
    policy = JudgePolicy(max_concurrency=at_once)
    ways = {f"{peer.name} {way}": (peer, way) for peer in peers for way in peer.ways if way in UNDISTURBED}
    times: dict[str, list[float]] = {name: [] for name in (*contenders, *ways)}
    cpu: dict[str, list[float]] = {name: [] for name in times}
    peaks: dict[str, int] = {}
    calls: dict[str, int] = dict.fromkeys(contenders, number)
    for _ in range(pairs):
        for name, contender in contenders.items():
            server.change(**QUIET, faults={})
            taken, used, result = seconds(contender)
            times[name].append(taken)
            cpu[name].append(used)
            stats = server.stats()
            peaks[name] = max(peaks.get(name, 0), stats["peak"])
            assert stats["calls"] == number
            if name != "bare semaphore":
                assert result["statuses"] == ["scored"] * number
                sound = result["individual_scores"]
        for name, (peer, way) in ways.items():
            server.change(**QUIET, faults={})
            result = peer.run(way, number, at_once, CAP)
            assert result["scores"] == sound, f"{name}: {result['failed']}, {result['first']}"
            times[name].append(result["seconds"])
            cpu[name].append(result["cpu"])
            stats = server.stats()
            peaks[name], calls[name] = max(peaks.get(name, 0), stats["peak"]), stats["calls"]
    print(f"\n{number} rows at 100 ms, 5 % of them at 1 s; {at_once} in flight; median of {pairs} alternating pairs\n")
    print("| contender | rows a second | of the bare semaphore's | most in flight | calls | CPU ms a row |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, values in times.items():
        ratio = statistics.median(bare / own for bare, own in zip(times["bare semaphore"], values, strict=True))
        rate, used = number / statistics.median(values), statistics.median(cpu[name]) / number * 1000
        print(f"| {name} | {rate:.1f} | {ratio:.2f} | {peaks[name]} | {calls[name]} | {used:.1f} |")
    if stock_rows:
        server.change(**QUIET, faults={})
        stock = StockFaithfulness(chat_generator=generator(server.url), progress_bar=False)
        taken, used, _ = seconds(lambda: stock.run(**rows(stock_rows)))
        ratio = stock_rows / taken / (number / statistics.median(times["bare semaphore"]))
        stats = server.stats()
        print(
            f"| Haystack's own, {stock_rows} rows | {stock_rows / taken:.1f} | {ratio:.2f} | {stats['peak']} "
            f"| {stats['calls']} | {used / stock_rows * 1000:.1f} |"
        )


def with_faults(server: Server, number: int, at_once: int, pairs: int, peers: dict[str, str]) -> None:
    """Print seconds and calls of our evaluator, of the plain loop and of peers on a server that misbehaves."""
    inputs, requests = rows(number), requests_of(number)
    policy = JudgePolicy(max_concurrency=at_once, timeout=ASKED_AGAIN_AFTER)
    server.change(**QUIET, faults={})
    sound = ours(server.url, replace(policy, timeout=60.0)).run(**inputs)["individual_scores"]
    lines: dict[str, list[tuple[float, int, int, int]]] = {"plain loop": [], "ours": []}
    failures: dict[str, str] = {}

    def note(name: str, taken: float, scores: list[Any]) -> None:
        scored = [(score, right) for score, right in zip(scores, sound, strict=True) if score is not None]
        wrong = sum(score != right for score, right in scored)
        lines.setdefault(name, []).append((taken, server.stats()["calls"], len(scored), wrong))

    for seed in range(1, pairs + 1):
        faulty: dict[str, Any] = {**QUIET, "faults": FAULTS, "seed": seed, "retry_after": "1"}
        server.change(**faulty)
        taken, _, verdicts = seconds(lambda: asyncio.run(behind_semaphore(server.url, requests, at_once, until_whole)))
        note("plain loop", taken, [sum(each.values()) / len(each) for each in verdicts])
        server.change(**faulty)
        taken, _, result = seconds(lambda: ours(server.url, policy).run(**inputs))
        scores = result["individual_scores"]
        note("ours", taken, [score if score == score else None for score in scores])  # noqa: PLR0124 - NaN
        for peer_name, python in peers.items() if seed == 1 else ():
            for each_try, told in ((None, "its defaults"), (ASKED_AGAIN_AFTER, f"{ASKED_AGAIN_AFTER:g} s a try")):
                ways = WITH_FAULTS[peer_name]
                for way in ways if each_try is None else ways[-1:]:
                    # A process for each: one that was cut off may still be at work.
                    with Peer(peer_name, python, server.url, each_try) as peer:
                        name = f"{peer_name} {way}, {told}"
                        server.change(**faulty)
                        answer = peer.run(way, number, at_once, CAP)
                        note(name, answer["seconds"], answer["scores"])
                        failures[name] = ", ".join(f"{count} x {kind}" for kind, count in answer["failed"].items())
                        if answer["first"]:
                            failures[name] += f"; the first: {' '.join(answer['first'].split())[:200]}"
    print(
        f"\n{number} rows with faults: {json.dumps(FAULTS)[1:-1]}; {at_once} in flight, {ASKED_AGAIN_AFTER:g} s a try\n"
    )
    print("| contender | scored | otherwise than without faults | seconds | of the plain loop's | calls |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, found in lines.items():
        # Peers meet the first seed alone.
        ratio = statistics.median(line[0] / plain[0] for line, plain in zip(found, lines["plain loop"], strict=False))
        calls = statistics.median(line[1] for line in found)
        taken = statistics.median(line[0] for line in found)
        scored, wrong = min(line[2] for line in found), max(line[3] for line in found)
        print(f"| {name} | {scored} | {wrong} | {taken:.1f} | {ratio:.2f} | {calls:.0f} |")
    print()
    for name, why in failures.items():
        print(f"{name}: {why or 'nothing failed'}")


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400, help="of the throughput; 0: leave it out")
    parser.add_argument("--fault-rows", type=int, default=200, help="with faults; 0: leave it out")
    parser.add_argument("--stock-rows", type=int, default=80, help="of Haystack's evaluator; 0: leave it out")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help=f"another tool ({', '.join(WITH_FAULTS)}) and the Python of its environment; slow: choose fewer rows",
    )
    options = parser.parse_args()
    pythons = dict(peer.split("=", 1) for peer in options.peer)
    if not pythons.keys() <= WITH_FAULTS.keys():
        parser.error(f"--peer: choose from {', '.join(WITH_FAULTS)}, as NAME=PYTHON")
    with served() as server:
        ours(server.url, JudgePolicy()).run(**rows(20))  # imports
        asyncio.run(behind_semaphore(server.url, requests_of(20), 16, once))
        if options.rows:
            with ExitStack() as stack:
                peers = [stack.enter_context(Peer(name, python, server.url)) for name, python in pythons.items()]
                print("".join(f"{peer.name} {peer.version}\n" for peer in peers), end="")
                for at_once in options.in_flight:
                    throughput(server, options.rows, at_once, options.pairs, options.stock_rows, peers)
        if options.fault_rows:
            with_faults(server, options.fault_rows, options.in_flight[0], options.pairs, pythons)


if __name__ == "__main__":
    main()
