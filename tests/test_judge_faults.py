# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A judge behind a real HTTP server that misbehaves: no row is lost that can be judged, and none is invented."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from haystack import component
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import FailedRowsError, FaithfulnessEvaluator
from haystack_eval_ext.judged._account import Usage
from haystack_eval_ext.judged._causes import CAUSES
from haystack_eval_ext.judged._failures import classify
from haystack_eval_ext.judged._limits import LIMITS, _LoopThread
from judged_rows import QUICK, VALUE, evaluator, judge, rows
from openai_server import OpenAIServer

#: As the issue has it.
FAULTS = {"429": 0.10, "500": 0.05, "malformed": 0.05, "counts": 0.05, "hang": 0.02}
TOO_MANY = "HTTP 429 (RateLimitError), code rate_limit_exceeded"
UNKNOWN_MODEL = "HTTP 404 (NotFoundError), code model_not_found"
HANGS = replace(QUICK, timeout=1.0)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def check_faults_cost_nothing(server: OpenAIServer, number: int) -> None:
    """
    Scores with faults are those without.

    What a fault costs is held by the table of each kind: here a busy machine may let a client's time-out fire.
    """
    sound = evaluator(server.url).run(**rows(number))
    assert server.calls == number
    assert len(set(sound["individual_scores"])) > 3
    server.change(faults=FAULTS)
    result = evaluator(server.url, HANGS).run(**rows(number))
    assert result["statuses"] == ["scored"] * number
    assert result["individual_scores"] == sound["individual_scores"]
    assert [row["statement_scores"] for row in result["results"]] == [
        row["statement_scores"] for row in sound["results"]
    ]
    assert {"429", "500", "malformed", "counts"} <= set(server.met)
    assert server.calls > number
    assert result["usage"]["calls"] == server.calls


def test_faults_cost_no_row(server: OpenAIServer) -> None:
    check_faults_cost_nothing(server, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_faults_cost_no_row_of_many(server: OpenAIServer, seed: int) -> None:
    server.change(seed=seed)
    check_faults_cost_nothing(server, 200)
    assert server.met["hang"]


@pytest.mark.slow
def test_every_kind_of_fault_at_once(server: OpenAIServer) -> None:
    sound = evaluator(server.url).run(**rows(200))
    kinds = ("429", "429-bare", "500", "503", "malformed", "counts", "empty", "no-json", "drop", "hang")
    server.change(faults=dict.fromkeys(kinds, 0.04))
    result = evaluator(server.url, HANGS).run(**rows(200))
    assert result["individual_scores"] == sound["individual_scores"]
    assert set(server.met) == set(kinds)


@pytest.mark.parametrize(
    ("fault", "reason", "calls"),
    [
        ("429", f"{TOO_MANY} in 3 attempts", None),
        ("429-bare", f"{TOO_MANY} in 3 attempts", None),
        ("500", "HTTP 500 (InternalServerError), code server_error in 3 attempts", 3),
        ("503", "HTTP 503 (InternalServerError), code overloaded in 3 attempts", 3),
        ("404", f"{UNKNOWN_MODEL}; the service does not know this model: check the generator's model", 1),
        ("drop", "APIConnectionError in 3 attempts", 3),
        ("hang", "TimeoutError in 3 attempts", 3),
        ("malformed", "unreadable reply in 3 attempts: its JSON was cut off", 3),
        ("empty", "unreadable reply in 3 attempts: it was empty", 3),
        ("filtered", f"the service refused to reply (content filter); {CAUSES['filter'].repair}", 1),
    ],
)
def test_what_fails_for_good_fails_alone(server: OpenAIServer, fault: str, reason: str, calls: int | None) -> None:
    server.change(lost=0.2, lost_to=fault, seed=7)
    # Wide enough for a busy machine; being told to slow down is ended by the deadline alone.
    policy = replace(QUICK, max_attempts=3, timeout=2.0 if fault == "hang" else 20.0, deadline=60.0 if calls else 6.0)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(20))
    failed = [row for row, status in enumerate(result["statuses"]) if status == "error"]
    assert len(failed) == 6
    for row in range(20):
        if row not in failed:
            assert result["statuses"][row] == "scored"
            assert result["errors"][row] is None
        else:
            assert math.isnan(result["individual_scores"][row])
            assert result["results"][row]["status"] == "error"
            if calls is None:  # told to slow down while others are served: only the deadline ends that
                assert result["errors"][row].startswith(f"{TOO_MANY} in ")
            else:
                assert result["errors"][row] == reason
                assert result["results"][row]["usage"]["calls"] == calls
    scored = [score for score in result["individual_scores"] if not math.isnan(score)]
    assert result["score"] == pytest.approx(math.fsum(scored) / 14)


@pytest.mark.slow
def test_a_fifth_of_many_rows_fails_for_good(server: OpenAIServer) -> None:
    sound = evaluator(server.url).run(**rows(200))["individual_scores"]
    server.change(lost=0.2, lost_to="500", faults=FAULTS)
    result = evaluator(server.url, HANGS, raise_on_failure=False).run(**rows(200))
    failed = {row for row, status in enumerate(result["statuses"]) if status == "error"}
    assert 20 <= len(failed) <= 60
    assert {result["errors"][row] for row in failed} == {
        "HTTP 500 (InternalServerError), code server_error in 6 attempts"
    }
    assert all(result["individual_scores"][row] == sound[row] for row in range(200) if row not in failed)


def test_a_cut_off_reply_is_asked_for_in_halves(server: OpenAIServer) -> None:
    """A reply cut at the token limit is not asked for again as it is; one verdict alone that is cut off is final."""
    server.change(faults={"length": 1.0}, most_faults=1)
    result = evaluator(server.url, raise_on_failure=False).run(**rows(1, first=3))
    # 4 statements are cut off, both pairs are, all of them alone are.
    assert result["errors"] == ["the reply was cut off at the token limit; raise the generator's max_tokens"]
    server.change(faults={"length": 0.5}, seed=4)
    result = evaluator(server.url, raise_on_failure=False).run(**rows(12))
    assert server.met["length"]
    assert any(row["usage"]["calls"] > 1 for row in result["results"] if row["status"] == "evaluated")


@pytest.mark.parametrize("fault", ["401", "403", "quota"])
def test_without_access_the_run_stops_at_once(server: OpenAIServer, fault: str) -> None:
    server.change(lost=1.0, lost_to=fault)
    policy = replace(QUICK, max_concurrency=4)
    with pytest.raises(FailedRowsError, match="not asked, since no call can succeed") as caught:
        evaluator(server.url, policy).run(**rows(100))
    assert server.calls <= 4
    assert caught.value.result["statuses"] == ["error"] * 100
    assert VALUE not in str(caught.value)


def test_a_wrong_key_stops_at_once(server: OpenAIServer) -> None:
    server.change(key="another")
    result = evaluator(server.url, raise_on_failure=False).run(**rows(100))
    assert server.calls <= QUICK.max_concurrency
    assert all("HTTP 401" in error for error in result["errors"])


def test_forbidden_concerns_one_text_once_others_were_served(server: OpenAIServer) -> None:
    evaluator(server.url).run(**rows(1))
    server.change(lost=0.2, lost_to="403", seed=7)
    policy = replace(QUICK, max_concurrency=1)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(20))
    assert result["statuses"].count("error") == 6
    assert server.calls == 20


def test_the_error_carries_the_partial_result(server: OpenAIServer) -> None:
    server.change(lost=0.2, lost_to="404", seed=7)
    with pytest.raises(FailedRowsError, match=r"6 of 20 rows failed \(HTTP 404 .*\): rows ") as caught:
        evaluator(server.url).run(**rows(20))
    result = evaluator(server.url, raise_on_failure=False).run(**rows(20))
    assert caught.value.result["statuses"] == result["statuses"]
    assert [r["score"] for r in caught.value.result["results"] if r["status"] == "evaluated"] == [
        r["score"] for r in result["results"] if r["status"] == "evaluated"
    ]


def test_the_wait_that_the_service_asks_for_is_kept_to(server: OpenAIServer) -> None:
    """A wait beyond the deadline is not begun."""
    server.change(faults={"429": 1.0}, most_faults=1, retry_after="3600")
    result = evaluator(server.url, replace(QUICK, deadline=5.0), raise_on_failure=False).run(**rows(1))
    (error,) = result["errors"]
    assert error.startswith(f"{TOO_MANY} in 1 attempt; the service asked to wait 3600 s, longer than ")
    assert error.endswith("of the deadline of 5 s: raise policy.deadline")
    server.change(retry_after="0")
    assert evaluator(server.url).run(**rows(3))["statuses"] == ["scored"] * 3


def test_attempts_and_deadline_end_a_request(server: OpenAIServer) -> None:
    server.change(lost=1.0, lost_to="500")
    result = evaluator(server.url, replace(QUICK, max_attempts=4), raise_on_failure=False).run(**rows(2))
    assert server.calls == 8
    assert set(result["errors"]) == {"HTTP 500 (InternalServerError), code server_error in 4 attempts"}
    server.change()
    # The first wait, of at least 5 s, would end after the deadline: it is not begun.
    late = replace(QUICK, max_attempts=50, deadline=4.0, min_wait=10.0, max_wait=60.0)
    evaluator(server.url, late, raise_on_failure=False).run(**rows(1))
    assert server.calls == 1
    server.change(lost_to="429")
    evaluator(server.url, replace(QUICK, max_attempts=3), raise_on_failure=False).run(**rows(1))
    assert server.calls == 3  # nobody is served: an outage, which the attempts end


@pytest.mark.parametrize(
    ("refused", "came"), [(["json_schema"], "json_object"), (["json_schema", "json_object"], None)]
)
def test_a_server_without_schemas_is_asked_more_simply(
    server: OpenAIServer, refused: list[str], came: str | None
) -> None:
    server.change(refused=refused, latency=0.005, tail=0.3, tail_latency=0.05)
    result = evaluator(server.url).run(**rows(40))
    assert result["statuses"] == ["scored"] * 40
    formats = [(body.get("response_format") or {}).get("type") for body in server.bodies]
    assert formats.count(came) == 40
    # Each request that was in flight before the first one was served is refused once for each format.
    assert server.met["400"] <= QUICK.max_concurrency * len(refused) < server.calls


def test_late_refusals_of_a_format_cost_no_row(server: OpenAIServer) -> None:
    """Some learn that the format is refused after others were already served in a simpler one."""
    server.change(refused=["json_schema"], tail=0.5, tail_latency=0.2)
    assert evaluator(server.url).run(**rows(16))["statuses"] == ["scored"] * 16


def test_a_format_that_was_chosen_is_not_given_up(server: OpenAIServer) -> None:
    server.change(refused=["json_schema"])
    policy = replace(QUICK, structured_output="json_schema")
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(2))
    (error,) = set(result["errors"])
    assert error.startswith("HTTP 400 (BadRequestError), code invalid_request_error; perhaps the request is too long")
    assert server.calls == 2


def test_a_schema_that_is_refused_for_one_row_costs_that_row_one_call(server: OpenAIServer) -> None:
    """Others are served by schema before and after it."""
    policy = replace(QUICK, max_concurrency=1)
    expected = evaluator(server.url, policy).run(**rows(8))["individual_scores"]
    server.change(lost=0.4, lost_to="400-schema", seed=7)
    result = evaluator(server.url, policy).run(**rows(8))
    assert result["individual_scores"] == expected
    refused = server.met["400-schema"]
    assert 0 < refused < 8
    formats = [(body.get("response_format") or {}).get("type") for body in server.bodies]
    assert formats.count(None) == refused
    assert formats.count("json_schema") == server.calls - refused == 8
    server.change(lost_to="400")
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(8))
    assert result["statuses"].count("error") == refused
    assert server.calls == 8 + refused, "once alone"


@pytest.mark.parametrize(
    ("refused", "attempts", "calls"),
    [
        # The first row finds out, at no cost for its attempts; the others are asked in the way that serves.
        (["json_schema", "json_object"], 1, [3, 1, 1, 1]),
        (["json_schema"], 1, [2, 1, 1, 1]),
    ],
)
def test_the_way_down_to_a_format_is_free_once_a_run(
    server: OpenAIServer, refused: list[str], attempts: int, calls: list[int]
) -> None:
    server.change(refused=refused)
    policy = replace(QUICK, max_concurrency=1, max_attempts=attempts)
    result = evaluator(server.url, policy).run(**rows(4))
    assert [row["usage"]["calls"] for row in result["results"]] == calls


@pytest.mark.parametrize(
    ("fault", "attempts", "calls"),
    [
        # What is refused in words, too, is no matter of formats: from then on another way is an attempt.
        ("400", 1, [3, 1, 1]),
        ("400", 6, [3, 2, 2]),
        # A failing server counts each time.
        ("501", 1, [1, 1, 1]),
        ("501", 2, [2, 2, 2]),
    ],
)
def test_what_is_refused_in_any_format_costs_attempts(
    server: OpenAIServer, fault: str, attempts: int, calls: list[int]
) -> None:
    server.change(lost=1.0, lost_to=fault)
    policy = replace(QUICK, max_concurrency=1, max_attempts=attempts)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(3))
    assert [row["usage"]["calls"] for row in result["results"]] == calls
    assert all(error.startswith(f"HTTP {fault}") for error in result["errors"])


def test_a_first_row_that_is_refused_in_any_format_spoils_no_other(server: OpenAIServer) -> None:
    """The server takes no formats, and one row not at all."""
    server.change(refused=["json_schema", "json_object"], lost=0.4, lost_to="400", seed=7)
    policy = replace(QUICK, max_concurrency=1)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(8))
    assert 0 < result["statuses"].count("error") < 8
    assert result["statuses"].count("error") + result["statuses"].count("scored") == 8


def test_an_unreadable_reply_is_asked_again_with_its_fault(server: OpenAIServer) -> None:
    server.change(faults={"malformed": 1.0}, most_faults=1)
    evaluator(server.url).run(**rows(1))
    first, second = (body["messages"] for body in server.bodies)
    assert second[1] == first[1]
    added = second[0]["content"].removeprefix(first[0]["content"])
    assert "its JSON was cut off" in added
    assert '{"verdicts"' in added


def test_missing_verdicts_are_asked_for_alone(server: OpenAIServer) -> None:
    server.change(faults={"counts": 1.0}, most_faults=1)
    numbers = [row["usage"]["calls"] for row in evaluator(server.url).run(**rows(24))["results"]]
    assert set(numbers) > {1, 2}, "an extra id costs nothing, a missing one a call"
    asked = [json.loads(body["messages"][1]["content"])["statements"] for body in server.bodies]
    by_text = {text for statements in asked for text in statements.values()}
    assert any(next(iter(statements)) != "s1" for statements in asked), "ids stay when some are asked again"
    assert len(by_text) == sum(1 + n % 4 for n in range(24))


@component
class HangingJudge:
    """A generator without ``run_async``; some of its calls end only when they are let go."""

    def __init__(self, hangs_at: str) -> None:
        self.hangs_at = hangs_at
        self.let_go = threading.Event()
        self.calls = 0

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.calls += 1
        if self.hangs_at in (messages[-1].text or ""):
            self.let_go.wait(30)
        return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1, "s2": 1, "s3": 1, "s4": 1}}')]}


def test_a_hanging_thread_costs_its_row_and_keeps_its_slot() -> None:
    generator = HangingJudge("Question 2?")
    policy = replace(QUICK, max_concurrency=2, max_attempts=1, timeout=0.3)
    evaluator = FaithfulnessEvaluator(chat_generator=generator, policy=policy, raise_on_failure=False)
    result = evaluator.run(**rows(8))
    assert [status == "scored" for status in result["statuses"]] == [row != 2 for row in range(8)]
    assert result["errors"][2] == "TimeoutError in 1 attempt"
    (limit,) = [limit for key, limit in LIMITS.items() if key == id(generator)]
    assert not limit.idle, "the abandoned call still holds its slot"
    generator.let_go.set()
    assert evaluator.run(**rows(2))["statuses"] == ["scored"] * 2


def test_threads_that_hold_every_slot_end_the_run() -> None:
    """No slot comes free: each row fails by its deadline, and the run ends."""
    generator = HangingJudge("Question 0?")
    policy = replace(QUICK, max_concurrency=1, timeout=0.2, deadline=0.6)
    evaluator = FaithfulnessEvaluator(chat_generator=generator, policy=policy, raise_on_failure=False)
    result = evaluator.run(**rows(3))
    generator.let_go.set()
    assert set(result["errors"]) == {"no call in flight ended before the deadline"}
    assert generator.calls == 1


@pytest.mark.parametrize("kind", ["no-choices", "null-choices", "null-message", "parts", "number", "page", "no-utf8"])
@pytest.mark.parametrize("structured_output", ["json_schema", "text"])
def test_a_proxys_answer_with_200_costs_no_row(server: OpenAIServer, kind: str, structured_output: Any) -> None:
    policy = replace(QUICK, structured_output=structured_output)
    expected = evaluator(server.url, policy).run(**rows(6))["individual_scores"]
    server.change(faults={kind: 1.0}, most_faults=2)
    assert evaluator(server.url, policy).run(**rows(6))["individual_scores"] == expected
    server.change(lost=1.0, lost_to=kind)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(2))
    assert result["statuses"] == ["error"] * 2
    assert server.calls <= 2 * policy.max_attempts


@pytest.mark.parametrize(
    ("mistake", "calls"),
    [(TypeError("x"), 3), (AttributeError("x"), 3), (KeyError("x"), 1), (NotImplementedError(), 1)],
)
def test_a_mistake_in_the_generator_is_hardly_repeated(mistake: Exception, calls: int) -> None:
    """A TypeError from inside may as well be a proxy's work."""

    @component
    class Broken:
        calls = 0

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            Broken.calls += 1
            raise mistake

    result = FaithfulnessEvaluator(chat_generator=Broken(), policy=QUICK, raise_on_failure=False).run(**rows(1))
    assert result["errors"] == [f"{type(mistake).__name__}; call chat_generator.run alone to see the error"]
    assert Broken.calls == calls


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_signature_that_does_not_fit_is_final(asynchronous: bool) -> None:
    class Demanding:
        def run(self, messages: list[ChatMessage], tools: Any) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

    class Async(Demanding):
        async def run_async(self, messages: list[ChatMessage], tools: Any) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

    generator = Async() if asynchronous else Demanding()
    result = FaithfulnessEvaluator(chat_generator=generator, policy=QUICK, raise_on_failure=False).run(**rows(1))
    assert result["errors"] == ["TypeError; call chat_generator.run alone to see the error"]
    assert result["usage"]["calls"] == 1


class OwnError(BaseException):
    """Of a library that bypasses ``except Exception``."""


ESCAPES = [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), OwnError(), StopIteration()]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("error", ESCAPES, ids=lambda error: type(error).__name__)
def test_what_is_no_exception_ends_neither_loop_nor_run(error: BaseException, asynchronous: bool) -> None:
    """A judge that exits, cancels itself or stops an iteration fails its row alone."""

    class Sound:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            if "Question 1?" in (messages[-1].text or ""):
                raise error
            return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1, "s2": 1, "s3": 1, "s4": 1}}')]}

    class Async(Sound):
        async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
            return self.run(messages)

    policy = replace(QUICK, max_attempts=2)
    judged = FaithfulnessEvaluator(
        chat_generator=Async() if asynchronous else Sound(), policy=policy, raise_on_failure=False
    )
    result = in_time(lambda: judged.run(**rows(4)))
    assert [status == "scored" for status in result["statuses"]] == [row != 1 for row in range(4)]
    name = type(error).__name__
    # Python itself turns a StopIteration of a coroutine into a RuntimeError.
    assert result["errors"][1] in (f"{name} in 2 attempts", "RuntimeError in 2 attempts")


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), StopIteration()], ids=repr)
def test_a_warm_up_that_exits_is_an_error_of_its_own(error: BaseException) -> None:
    class Exiting:
        def warm_up(self) -> None:
            raise error

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

    with pytest.raises(ValueError, match=f"could not be prepared: {type(error).__name__}"):
        in_time(lambda: FaithfulnessEvaluator(chat_generator=Exiting(), policy=QUICK).run(**rows(2)))


def test_a_judge_that_cancels_its_own_task_fails_its_row_alone() -> None:
    class Cancelling:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

        async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
            task = asyncio.current_task()
            if "Question 1?" in (messages[-1].text or "") and task is not None:
                task.cancel()
                await asyncio.sleep(0)
            return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1, "s2": 1, "s3": 1, "s4": 1}}')]}

    policy = replace(QUICK, max_attempts=2)
    judged = FaithfulnessEvaluator(chat_generator=Cancelling(), policy=policy, raise_on_failure=False)
    result = in_time(lambda: judged.run(**rows(3)))
    assert result["errors"] == [None, "CancelledError in 2 attempts", None]


def test_an_asynchronous_warm_up_ends_at_the_deadline() -> None:
    class Slow:
        async def warm_up_async(self) -> None:
            await asyncio.Event().wait()

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

        async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

    late = FaithfulnessEvaluator(chat_generator=Slow(), policy=replace(QUICK, deadline=0.05))
    with pytest.raises(ValueError, match=r"its warm-up took longer than the deadline of 0\.05 seconds"):
        in_time(lambda: late.run(**rows(1)))


def in_time(function: Any) -> Any:
    """The result of what must not hang."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(60)


def test_a_loop_that_ended_is_replaced() -> None:
    old = _LoopThread()
    loop = old.loop()
    assert old.loop() is loop
    loop.call_soon_threadsafe(loop.stop)
    assert old._thread is not None
    old._thread.join(10)
    assert asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "alive"), old.loop()).result(10) == "alive"


def test_a_warm_up_blocks_nobody_and_ends_at_the_deadline() -> None:
    let_go = threading.Event()

    class Slow:
        def warm_up(self) -> None:
            let_go.wait(60)

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant('{"verdicts": {"s1": 1, "s2": 1, "s3": 1, "s4": 1}}')]}

    slow = Slow()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(FaithfulnessEvaluator(chat_generator=slow, policy=QUICK).run, **rows(1))
        quick = type("Quick", (), {"run": Slow.run})()
        assert FaithfulnessEvaluator(chat_generator=quick, policy=QUICK).run(**rows(2))["statuses"] == ["scored"] * 2
        late = FaithfulnessEvaluator(chat_generator=Slow(), policy=replace(QUICK, deadline=0.05))
        with pytest.raises(ValueError, match=r"its warm-up took longer than the deadline of 0\.05 seconds"):
            late.run(**rows(1))
        assert not waits.done()
        let_go.set()
        assert waits.result(60)["statuses"] == ["scored"]


DECLINED = "the judge declined to reply in the form: it gave the same text without JSON twice"


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        ([None] * 3, "unreadable reply in 3 attempts: it was empty"),
        ([None, "I can't help with that.", None], "unreadable reply in 3 attempts: it was empty"),
        (["I can't help with that."] * 2, DECLINED),
        (["I can't help with that.", "I really can't.", "I really can't."], DECLINED),
        (["Yes.", "No.", "Yes."], "unreadable reply in 3 attempts: it held no JSON object"),
        (['{"s1":'] * 3, "unreadable reply in 3 attempts: its JSON was cut off"),
        ([" "] * 3, "unreadable reply in 3 attempts: it was empty"),
        (["No.", "{", "No."], "unreadable reply in 3 attempts: it held no JSON object"),
        (["{ no }"] * 3, "unreadable reply in 3 attempts: it held no JSON object"),
    ],
)
def test_a_refusal_in_words_is_not_asked_on(replies: list[str | None], outcome: str) -> None:
    left = list(replies)

    class Declining:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant(left.pop(0))]}

    policy = replace(QUICK, max_attempts=3)
    result = FaithfulnessEvaluator(chat_generator=Declining(), policy=policy, raise_on_failure=False).run(**rows(1))
    assert (result["errors"], left) == ([outcome], [])


@pytest.mark.parametrize(
    ("attempts", "sizes", "error"),
    [
        (1, [4], "ConnectionError in 1 attempt"),
        (2, [4, 4, 3, 3], "the judge passed over 2 of 4 statements in 2 rounds"),
        (3, [4, 4, 3, 3, 2, 2], "the judge passed over 1 of 4 statements in 3 rounds"),
        (4, [4, 4, 3, 3, 2, 2, 1, 1], None),
    ],
)
def test_what_a_reply_leaves_out_is_a_request_of_its_own(attempts: int, sizes: list[int], error: str | None) -> None:
    """As many attempts as the first one had, and no more such requests than attempts."""
    asked: list[int] = []

    class Grudging:
        """Fails each request once, then says one thing of all that it is asked."""

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            statements = json.loads(messages[-1].text or "")["statements"]
            asked.append(len(statements))
            if asked.count(len(statements)) == 1:
                raise ConnectionError
            return {"replies": [ChatMessage.from_assistant(json.dumps({"verdicts": {next(iter(statements)): 1}}))]}

    policy = replace(QUICK, max_attempts=attempts)
    judged = FaithfulnessEvaluator(chat_generator=Grudging(), policy=policy, raise_on_failure=False)
    result = judged.run(**rows(1, first=3))
    assert asked == sizes
    assert result["errors"] == [error]


def test_each_half_of_a_reply_that_was_cut_off_is_a_question_of_its_own() -> None:
    asked: list[int] = []

    class Short:
        """Has room for one verdict, and fails each request once."""

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            names = list(json.loads(messages[-1].text or "")["statements"])
            asked.append(len(names))
            if asked.count(len(names)) % 2:
                raise ConnectionError
            meta = {"finish_reason": "length" if len(names) > 1 else "stop"}
            text = "{" if len(names) > 1 else json.dumps({"verdicts": {names[0]: 1}})
            return {"replies": [ChatMessage.from_assistant(text, meta=meta)]}

    policy = replace(QUICK, max_attempts=2)
    result = FaithfulnessEvaluator(chat_generator=Short(), policy=policy).run(**rows(1, first=3))
    assert result["statuses"] == ["scored"]
    assert asked == [4, 4, 2, 2, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1]


def test_many_waits_stay_numbers() -> None:
    """2.0 ** 1024 is beyond floats."""
    calls = []

    class Down:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            calls.append(messages)
            raise ConnectionError

    policy = replace(QUICK, max_attempts=1100, min_wait=0.0, max_wait=0.0)
    result = FaithfulnessEvaluator(chat_generator=Down(), policy=policy, raise_on_failure=False).run(**rows(1))
    assert result["errors"] == ["ConnectionError in 1100 attempts"]
    with pytest.raises(ValueError, match="min_wait must be at most max_wait"):
        replace(QUICK, min_wait=1.0, max_wait=0.5)


def test_an_unforeseen_fault_costs_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, meta: Any, *_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Usage, "add_reply", broken)

    class Sound:
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant('{"s1": 1}')]}

    result = FaithfulnessEvaluator(chat_generator=Sound(), policy=QUICK, raise_on_failure=False).run(**rows(1))
    assert result["errors"] == ["ZeroDivisionError while its reply was read or kept"]


class Response:
    """What a client's exception may hold."""

    def __init__(self, status: int, **headers: str) -> None:
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def wrapped(inner: Exception) -> Exception:
    """As providers wrap what their client raised."""
    outer = RuntimeError("the provider failed")
    outer.__cause__ = inner
    return outer


def error_with(**attributes: Any) -> Exception:
    """An exception of some client."""
    error = RuntimeError("failed")
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("error", "kind", "retry_after"),
    [
        (error_with(status_code=429), "passing", None),
        (error_with(status=503), "passing", None),
        (error_with(code=500), "passing", None),
        (error_with(code="rate_limit"), "passing", None),
        (error_with(response=Response(429, retry_after="7")), "passing", 7.0),
        (error_with(response=Response(429, retry_after_ms="250")), "passing", 0.25),
        (error_with(response=Response(429, retry_after="Thu, 01 Jan 1970 00:00:00 GMT")), "passing", 0.0),
        (error_with(response=Response(429, retry_after="soon")), "passing", None),
        (error_with(response=Response(429, retry_after="-3")), "passing", None),
        (error_with(response=Response(429, retry_after="inf")), "passing", None),
        (wrapped(error_with(response=Response(503, retry_after="2"))), "passing", 2.0),
        (error_with(status_code=429, code="insufficient_quota"), "all", None),
        (error_with(status_code=429, body={"code": "insufficient_quota"}), "all", None),
        (error_with(status_code=401), "all", None),
        (error_with(status_code=402), "all", None),
        (error_with(status_code=404), "most", None),
        (error_with(status_code=422), "longer", None),
        (ConnectionResetError(), "passing", None),
        (TimeoutError(), "passing", None),
        (wrapped(ConnectionError()), "passing", None),
        (ValueError(), "none", None),
        (RuntimeError(), "passing", None),
    ],
)
def test_exceptions_of_any_client_are_understood(error: Exception, kind: str, retry_after: float | None) -> None:
    failure = classify(error, served_before=True)
    assert ("passing" if failure.passing else failure.shared, failure.retry_after) == (kind, retry_after)


def test_a_cyclic_chain_of_causes_ends() -> None:
    one, other = RuntimeError(), RuntimeError()
    one.__cause__, other.__cause__ = other, one
    assert classify(one, served_before=False).passing


def test_a_generator_that_repeats_itself_is_named(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    repeating = FaithfulnessEvaluator(chat_generator=judge(server.url, max_retries=3), policy=QUICK)
    repeating.run(**rows(1))
    repeating.run(**rows(1))
    assert [record.message.count("max_retries=3") for record in caplog.records].count(1) == 1
    assert not any("warned" in name for name in vars(repeating.chat_generator)), "it is the user's"


def test_a_variable_of_retries_that_is_no_number_is_the_generators(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_MAX_RETRIES", "many")
    judged = FaithfulnessEvaluator(chat_generator=judge(server.url, max_retries=None), policy=QUICK)
    with pytest.raises(ValueError, match=r"could not be prepared: .*many"):
        judged.run(**rows(1))
