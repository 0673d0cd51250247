# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine: one run's requests to a judge, each asked once, repeated where it helps, kept and accounted for."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from haystack import logging
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from haystack_eval_ext.judged._account import Budget, Usage
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._cache import CachedReply, OfflineError, ReplyCache
from haystack_eval_ext.judged._failures import JudgeError, PassingError, ReplyError, classify, refuses_response_format
from haystack_eval_ext.judged._generator import Generator, early_end, explain, reply_message
from haystack_eval_ext.judged._limits import Limit, call_within, limit_of
from haystack_eval_ext.judged._reply import read_reply
from haystack_eval_ext.judged._request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from haystack_eval_ext.judged._account import Reserved
    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._policy import JudgePolicy
    from haystack_eval_ext.judged._prompts import Prompt

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

# A wait that the service asks for is stretched by up to this share, so that not all come back at the same moment.
_JITTER = 0.1


class Judge:
    """One run of one evaluator. It lives on the judges' loop, inside ``with``."""

    def __init__(self, generator: Any, policy: JudgePolicy, budget: Budget) -> None:
        """
        Prepare a run.

        :param generator: The user's ChatGenerator.
        :param policy: How to ask.
        :param budget: What may be spent.
        """
        self.policy = policy
        self._generator = Generator(generator)
        self._budget = budget
        self._formats = self._generator.formats(policy.structured_output)
        #: Which of the formats the server took first: all requests take it from then on.
        self._format: int | None = None
        self._identity = self._generator.identity()
        self._answers: dict[str, asyncio.Task[Any]] = {}
        self._ready: asyncio.Task[None] | None = None
        self._stack = ExitStack()
        self._cache: ReplyCache | None = None
        self._limit = Limit()
        #: Why no call can succeed, once that is known.
        self.stopped: str | None = None
        #: What the generator said when it was to be prepared.
        self.broken: Exception | None = None

    def __enter__(self) -> Judge:
        """
        Open the cache and take part in the service's limit.

        :returns: The judge.
        :raises ValueError: If the cache cannot be opened, or is needed and cannot be used.
        """
        self._cache = self._open_cache()
        self._limit = self._stack.enter_context(limit_of(self._generator.limit_key(), self.policy.max_concurrency))
        self._generator.warn_of_own_retries()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the cache; give up what is still in flight."""
        for task in self._answers.values():
            task.cancel()
        self._stack.close()
        if self._cache is not None:
            self._cache.close()

    def request(self, prompt: Prompt, data: Mapping[str, Any], form: Form[Any], vote: int) -> Request:
        """
        Write a request.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: The request.
        """
        return Request(prompt, data, form, vote, self._identity)

    def cached(self, request: Request) -> tuple[Any, CachedReply] | None:
        """
        Look a request up in the cache.

        :param request: The request.
        :returns: What its reply says and the reply itself; None if there is none that can still be read.
        """
        found = None if self._cache is None else self._cache.get(request.key)
        if found is None:
            return None
        try:
            return read_reply(found.text, request.form.read), found
        except ReplyError:
            return None

    async def answer(self, request: Request, row: RowAsk) -> Any:
        """
        Answer a request: by an identical one, from the cache, or by the generator.

        :param request: The request.
        :param row: The row that asks, and pays.
        :returns: What the reply says.
        :raises JudgeError: If there is none.
        """
        task = self._answers.get(request.key)
        if task is None:
            task = asyncio.ensure_future(self._answer(request, row))
            # Whoever asked may be gone when it fails; asyncio would complain about an exception that nobody reads.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            self._answers[request.key] = task
        else:
            row.usage.cache_hits += 1
        # A row that is cancelled must not take the answer away from another one.
        reading, row.meta = await asyncio.shield(task)
        return reading

    async def _answer(self, request: Request, row: RowAsk) -> tuple[Any, dict[str, Any]]:
        cached = self.cached(request)
        if cached is not None:
            row.usage.cache_hits += 1
            return cached[0], cached[1].meta
        if self.policy.offline:
            raise OfflineError
        call = _Call(self, request, row)
        retrying = AsyncRetrying(
            retry=retry_if_exception_type((PassingError, ReplyError)), stop=call.is_over, wait=call.wait, reraise=True
        )
        try:
            return await retrying(call.attempt)
        except ReplyError as error:
            msg = f"unreadable reply in {call.sent} attempts: {error.reason}"
            raise JudgeError(msg, error.reply) from None
        except PassingError as error:
            msg = f"{error.reason} in {call.sent} attempts"
            raise JudgeError(msg) from None
        finally:
            call.give_back()

    def reserve(self, request: Request) -> Reserved:
        """
        Ask for a call.

        :param request: What is to be sent.
        :returns: What the budget reserves for it.
        :raises JudgeError: If no call can succeed any more, or the budget is spent.
        """
        if self.stopped is not None:
            raise JudgeError(self.stopped)
        return self._budget.reserve(request.estimated_tokens(), self._generator.model)

    def _open_cache(self) -> ReplyCache | None:
        path = self.policy.cache_path
        if path is None:
            return None
        if self._identity is not None:
            return ReplyCache(path, must_exist=self.policy.offline)
        why = (
            "the chat generator cannot be serialized, so that nothing tells which replies are its own. Give its key as "
            "Secret.from_env_var(...), and functions that can be imported by name"
        )
        if self.policy.offline:
            msg = f"offline answers from the cache alone, but {why}."
            raise ValueError(msg)
        logger.warning("cache_path is not used: {why}.", why=why)
        return None

    async def _prepare(self) -> None:
        if self._ready is None:
            self._ready = asyncio.ensure_future(self._generator.warm_up())
        try:
            await asyncio.shield(self._ready)
        except Exception as error:
            self.broken = error
            self.stopped = f"the chat generator could not be prepared ({type(error).__name__})"
            raise JudgeError(self.stopped) from error


class _Call:
    """The attempts at one request."""

    def __init__(self, judge: Judge, request: Request, row: RowAsk) -> None:
        self._judge = judge
        self._request = request
        self._row = row
        self._fault: str | None = None
        self._level = 0
        self._begun: float | None = None
        self._served_at_last_limit = 0
        self._holds_slot = False
        # Whether the next attempt takes the slot over.
        self._goes_on = False
        self._tries = 0
        #: Attempts made.
        self.sent = 0
        #: Attempts that count against the policy's limit.
        self.counted = 0

    async def attempt(self) -> tuple[Any, dict[str, Any]]:
        await self._judge._prepare()
        if not self._holds_slot:
            await self._slot()
            self._holds_slot = True
        self._goes_on = False
        try:
            return await self._ask()
        finally:
            if not self._goes_on:
                self.give_back()

    async def _ask(self) -> tuple[Any, dict[str, Any]]:
        judge, row = self._judge, self._row
        limit = judge._limit
        reserved = judge.reserve(self._request)
        row.usage.calls += 1
        row.usage.retries += self.sent > 0
        self.sent += 1
        if self._begun is None:
            self._begun = time.monotonic()
            self._served_at_last_limit = limit.served
        meta: Mapping[str, Any] | None = None
        try:
            output = await self._send(limit)
            limit.served += 1
            message = reply_message(output)
            meta = message.meta if isinstance(message.meta, dict) else {}
        except ReplyError as fault:
            self._note(fault)
            raise
        finally:
            judge._budget.settle(reserved, meta)
        row.usage.add_reply(meta, judge.policy.prices, judge._generator.model)
        row.meta = own = dict(meta)
        text = message.text
        try:
            reading = read_reply(text, self._request.form.read)
        except ReplyError as fault:
            self._note(fault)
            raise explain(fault, meta, text) from None
        if judge._cache is not None and text is not None:
            judge._cache.put(self._request.key, CachedReply(text, own))
        return reading, own

    async def _send(self, limit: Limit) -> Any:
        judge = self._judge
        formats = judge._formats
        level = max(self._level, judge._format or 0)
        seconds = min(judge.policy.timeout, self._left())
        messages = self._request.messages(self._fault)
        try:
            call = judge._generator.call(messages, self._request.form, formats[level], self._request.vote)
            output = await call_within(call, seconds, self._abandon, cancels=judge._generator.is_async)
        except Exception as error:
            output = early_end(error)
            if output is None:
                self._explain_failure(error, level, limit)
        if judge._format is None:
            judge._format = level
        return output

    def _explain_failure(self, error: Exception, level: int, limit: Limit) -> NoReturn:
        judge = self._judge
        simpler = level + 1 < len(judge._formats) and (judge._format is None or level < judge._format)
        if simpler and refuses_response_format(error):
            # Perhaps the server knows no JSON schema. If a simpler way serves, all take it from then on.
            self._level = level + 1
            self._goes_on = True
            msg = "the server refused the response format"
            raise PassingError(msg, free=True) from None
        failure = classify(error, served_before=limit.served > 0)
        self._tries += 1
        if failure.kind == "passing":
            if not (failure.limited and self._others_were_served(limit)):
                self.counted += 1
            # Told to slow down: the slot stays taken during the wait, so that no other call fills it at once.
            self._goes_on = failure.limited
            raise PassingError(failure.reason, retry_after=failure.retry_after) from error
        if failure.kind == "stop":
            judge.stopped = f"{failure.reason}: no further call was made. Check the key and the account"
            raise JudgeError(judge.stopped) from error
        raise JudgeError(failure.reason) from error

    async def _slot(self) -> None:
        """Wait for a slot. Calls that hang and cannot be cancelled may hold all of them for good."""
        limit = self._judge._limit
        while True:
            released = limit.released
            try:
                async with asyncio.timeout(self._left()):
                    return await limit.acquire(again=self.sent > 0)
            except TimeoutError:
                if self.sent or limit.released == released:
                    msg = "no call in flight ended before the deadline"
                    raise JudgeError(msg) from None

    def _abandon(self) -> Callable[[], None]:
        self._holds_slot = False
        return self._judge._limit.release

    def give_back(self) -> None:
        if self._holds_slot:
            self._holds_slot = False
            self._judge._limit.release()

    def _note(self, fault: ReplyError) -> None:
        self._fault = fault.reason
        self.counted += 1

    def _others_were_served(self, limit: Limit) -> bool:
        """Whether the service answered somebody since it last told this request to slow down: then it is no outage."""
        moved = limit.served != self._served_at_last_limit
        self._served_at_last_limit = limit.served
        return moved

    def _left(self) -> float:
        spent = 0.0 if self._begun is None else time.monotonic() - self._begun
        return max(0.0, self._judge.policy.deadline - spent)

    def wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if not isinstance(error, PassingError) or error.free:
            return 0.0
        policy = self._judge.policy
        if error.retry_after:
            return error.retry_after * (1 + _JITTER * random.random())  # noqa: S311 - no secret depends on it
        longest: float = min(policy.max_wait, policy.min_wait * 2.0 ** max(0, self._tries - 1))
        return longest * (1 + random.random()) / 2  # noqa: S311

    def is_over(self, state: RetryCallState) -> bool:
        return self.counted >= self._judge.policy.max_attempts or state.upcoming_sleep >= self._left()


class RowAsk(Ask):
    """The judge as one row sees it, with the row's account."""

    def __init__(self, judge: Judge) -> None:
        """
        Create the row's view.

        :param judge: The run's judge.
        """
        super().__init__(votes=judge.policy.votes, rounds=judge.policy.max_attempts)
        self._judge = judge
        self.usage = Usage()
        #: What the generator said about the row's last reply.
        self.meta: dict[str, Any] = {}

    async def read(self, prompt: Prompt, data: Mapping[str, Any], form: Form[_T], vote: int = 0) -> _T:
        """
        Ask for one reply.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: What the reply says.
        :raises JudgeError: If there is none.
        """
        reading: _T = await self._judge.answer(self._judge.request(prompt, data, form, vote), self)
        return reading
