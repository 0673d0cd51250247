# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Faithfulness by another tool, in an environment of its own: ``judge.py`` starts this there.

    python judge_peers.py ragas|deepeval URL [SECONDS A TRY]

A first line of the standard output tells the version and the ways of using the tool. Then each line of the standard
input is a run, ``{"way": ..., "rows": 100, "at_once": 16, "cap": 240}``, and gets a line of JSON: seconds, CPU seconds,
scores in order of the rows (null: none), why rows have none (by type of error), and the first error.
Each tool is used as its documentation says, retries and time-outs at their defaults unless seconds a try are given.
"""

import asyncio
import importlib.metadata
import json
import logging
import math
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from judge_rows import rows

# Neither tool reports to its makers, asks them for a newer version, or reads a file of settings.
os.environ.update(
    RAGAS_DO_NOT_TRACK="true",
    DEEPEVAL_TELEMETRY_OPT_OUT="1",
    DEEPEVAL_UPDATE_WARNING_OPT_IN="0",
    DEEPEVAL_DISABLE_DOTENV="1",
    CONFIDENT_TRACING_ENABLED="NO",
    LANGSMITH_TRACING="false",
)

#: A row's score, or why it has none.
Outcome = float | BaseException
Way = Callable[[dict[str, list[Any]], int, float], list[Outcome]]


class TooLateError(KeyboardInterrupt):
    """The cap is reached. Event loops pass on a keyboard interrupt at once, and no tool takes it for its own error."""


async def gathered(
    score: Callable[..., Awaitable[float]], inputs: dict[str, list[Any]], at_once: int, cap: float
) -> Any:
    """All rows behind a semaphore; what the cap cuts off is an ``asyncio.CancelledError``."""
    semaphore = asyncio.Semaphore(at_once)

    async def one(*row: Any) -> float:
        async with semaphore:
            return await score(*row)

    tasks = [asyncio.create_task(one(*row)) for row in zip(*inputs.values(), strict=True)]
    _, late = await asyncio.wait(tasks, timeout=cap)
    for task in late:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


def ragas(url: str, each_try: float | None) -> dict[str, Way]:
    """Ragas: its metric's ``ascore`` for each row, with OpenAI's client."""
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    async def run(inputs: dict[str, list[Any]], at_once: int, cap: float) -> list[Outcome]:
        settings: dict[str, Any] = {} if each_try is None else {"timeout": each_try}
        async with AsyncOpenAI(api_key="nobody's key", base_url=url, **settings) as client:
            metric = Faithfulness(llm=llm_factory("gpt-4o-mini", client=client))

            async def score(question: str, contexts: list[str], answer: str) -> float:
                result = await metric.ascore(user_input=question, response=answer, retrieved_contexts=contexts)
                return float(result.value)

            found: list[Outcome] = await gathered(score, inputs, at_once, cap)
            return found

    return {"ascore": lambda inputs, at_once, cap: asyncio.run(run(inputs, at_once, cap))}


def deepeval(url: str, each_try: float | None) -> dict[str, Way]:
    """DeepEval: its metric's ``a_measure`` for each row, and ``evaluate``."""
    if each_try is not None:
        # The budget of a whole row is derived from that of a try, unless it is given: here, its default.
        os.environ["DEEPEVAL_PER_ATTEMPT_TIMEOUT_SECONDS_OVERRIDE"] = str(each_try)
        os.environ["DEEPEVAL_PER_TASK_TIMEOUT_SECONDS_OVERRIDE"] = "180"
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase

    def model() -> Any:
        return OpenAIModel(model="gpt-4.1", api_key="nobody's key", base_url=url)

    def case(question: str, contexts: list[str], answer: str) -> Any:
        return LLMTestCase(input=question, actual_output=answer, retrieval_context=contexts)

    def measure(inputs: dict[str, list[Any]], at_once: int, cap: float) -> list[Outcome]:
        judge = model()

        async def score(*row: Any) -> float:
            metric = FaithfulnessMetric(model=judge)
            return float(await metric.a_measure(case(*row), _show_indicator=False))

        found: list[Outcome] = asyncio.run(gathered(score, inputs, at_once, cap))
        return found

    def evaluated(inputs: dict[str, list[Any]], at_once: int, cap: float, *, ignore_errors: bool) -> list[Outcome]:
        def too_late(*_: Any) -> None:
            raise TooLateError

        signal.signal(signal.SIGALRM, too_late)
        signal.alarm(math.ceil(cap))
        try:
            results = evaluate(
                [case(*row) for row in zip(*inputs.values(), strict=True)],
                [FaithfulnessMetric(model=model())],
                async_config=AsyncConfig(max_concurrent=at_once),
                display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
                cache_config=CacheConfig(write_cache=False),
                error_config=ErrorConfig(ignore_errors=ignore_errors),
            )
        except TooLateError:
            return [asyncio.CancelledError()] * len(inputs["questions"])
        finally:
            signal.alarm(0)
        # By the question: the results come in an order of their own.
        by_question = {result.input: (result.metrics_data or [None])[0] for result in results.test_results}
        outcomes: list[Outcome] = []
        for question in inputs["questions"]:
            data = by_question.get(question)
            score = None if data is None else data.score
            outcomes.append(RuntimeError(str(data and data.error)) if score is None else float(score))
        return outcomes

    return {
        "a_measure": measure,
        "evaluate": lambda *run: evaluated(*run, ignore_errors=False),
        "evaluate, ignore_errors": lambda *run: evaluated(*run, ignore_errors=True),
    }


def reason(outcome: Outcome) -> str:
    """Why a row has no score."""
    if isinstance(outcome, asyncio.CancelledError):
        return "cut off by the cap"
    return type(outcome).__name__ if isinstance(outcome, BaseException) else "NaN"


def run(way: Way, number: int, at_once: int, cap: float) -> dict[str, Any]:
    """One run, and what came of it."""
    start, used = time.perf_counter(), time.process_time()
    try:
        outcomes = way(rows(number), at_once, cap)
    except Exception as error:
        outcomes = [error] * number
    seconds, used = time.perf_counter() - start, time.process_time() - used
    scores = [None if isinstance(each, BaseException) or math.isnan(each) else each for each in outcomes]
    failed = Counter(reason(each) for each, score in zip(outcomes, scores, strict=True) if score is None)
    first = next((str(each) for each in outcomes if isinstance(each, Exception)), "")
    return {
        "seconds": seconds,
        "cpu": used,
        "scores": scores,
        "failed": failed,
        "first": first,
    }


def main() -> None:
    """Tell the ways, and answer until there is nothing more to do."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the tools print goes to the standard error
    name, url, *each_try = sys.argv[1:]
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # for the files that they leave
        ways = {"ragas": ragas, "deepeval": deepeval}[name](url, float(each_try[0]) if each_try else None)
        for way in ways.values():
            run(way, 4, 4, 60)  # what loads when first used
        print(json.dumps({"version": importlib.metadata.version(name), "ways": list(ways)}), file=answers, flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            result = run(ways[asked["way"]], asked["rows"], asked["at_once"], asked["cap"])
            print(json.dumps(result), file=answers, flush=True)


if __name__ == "__main__":
    main()
