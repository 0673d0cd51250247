# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""One request's attempts: slots, time-outs, waits, simpler ways of asking, and when to give up."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any, NoReturn

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from haystack_eval_ext.judged._cache import CachedReply, pauses
from haystack_eval_ext.judged._failures import (
    JudgeError,
    PassingError,
    ReplyError,
    ThoughtsOnlyError,
    classify,
    mistake,
)
from haystack_eval_ext.judged._generator import early_end, explain, reply_message, reply_text
from haystack_eval_ext.judged._limits import call_within
from haystack_eval_ext.judged._reply import read_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from haystack_eval_ext.judged._judge import Judge, RowAsk
    from haystack_eval_ext.judged._limits import Limit
    from haystack_eval_ext.judged._request import Request

# A wait that the service asks for is stretched by up to this share, so that not all come back at the same moment.
_JITTER = 0.1
# Waits double until they are longer than any limit; beyond 2 ** 1023 there is no float.
_MOST_DOUBLINGS = 60
# How often a request meets what may be a proxy's page, or a mistake in the generator.
_MOST_ODD_ANSWERS = 3
_THOUGHTS_ALONE = (
    "the judge gave thoughts and no answer, twice; raise the generator's max_tokens, or switch the model's thinking off"
)


class Call:
    """The attempts at one request."""

    def __init__(self, judge: Judge, request: Request, row: RowAsk) -> None:
        """
        Begin.

        :param judge: The run's judge.
        :param request: The request.
        :param row: The row that pays.
        """
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
        self._odd = 0
        # The last reply, if nothing in it began a JSON value.
        self._prose: str | None = None
        # Whether the last reply held thoughts alone.
        self._thought = False
        self._first: PassingError | ReplyError | None = None
        #: Attempts made.
        self.sent = 0
        # Attempts that count against the policy's limit.
        self._counted = 0

    async def attempts(self) -> tuple[Any, dict[str, Any]]:
        """
        Ask until there is an answer.

        :returns: What the reply says, and what the generator said about it.
        :raises JudgeError: If there is none; of the last attempt if there might have been one.
        """
        try:
            return await self._attempt()
        except (PassingError, ReplyError) as error:
            self._first = error
        retrying = AsyncRetrying(
            retry=retry_if_exception_type((PassingError, ReplyError)), stop=self._is_over, wait=self._wait, reraise=True
        )
        return await retrying(self._again)

    async def _again(self) -> tuple[Any, dict[str, Any]]:
        """The first attempt was made without the machinery of repeating, which then begins with its failure."""
        first, self._first = self._first, None
        if first is not None:
            raise first
        return await self._attempt()

    async def _attempt(self) -> tuple[Any, dict[str, Any]]:
        await self._judge.prepare()
        looks = pauses()
        while True:
            if not self._holds_slot:
                await self._slot()
                self._holds_slot = True
            self._goes_on = False
            try:
                # Another process that shares the cache may have paid for it in the meantime, or be about to. The claim
                # comes first: what was kept before it is then seen.
                mine = self._judge.claim(self._request)
                kept = self._judge.kept(self._request, self._row)
                if kept is not None:
                    return kept
                if mine:
                    return await self._ask()
            finally:
                if not self._goes_on:
                    self.give_back()
            await asyncio.sleep(next(looks))

    async def _ask(self) -> tuple[Any, dict[str, Any]]:
        judge, row = self._judge, self._row
        limit = judge.limit
        reserved = judge.reserve(self._request, first=self.sent == 0)
        row.usage.calls += 1
        row.usage.retries += self.sent > 0
        self.sent += 1
        if self._begun is None:
            self._begun = time.monotonic()
            self._served_at_last_limit = limit.served
        meta: Mapping[str, Any] | None = None
        text: str | None = None
        try:
            output = await self._send(limit)
            limit.served += 1
            message = reply_message(output)
            meta = message.meta if isinstance(message.meta, dict) else {}
            text = reply_text(message)
        except ReplyError as fault:
            self._note(fault)
            raise
        finally:
            judge.budget.settle(reserved, meta, text)
        row.usage.add_reply(meta, judge.policy.prices, judge.generator.model)
        row.meta = own = dict(meta)
        try:
            reading = read_reply(text, self._request.form.read)
        except ReplyError as fault:
            self._note(fault)
            raise self._declined(explain(fault, message), text) from None
        if judge.cache is not None and text is not None:
            judge.cache.put(self._request.key, CachedReply(text, own))
        return reading, own

    async def _send(self, limit: Limit) -> Any:
        judge = self._judge
        formats = judge.formats
        level = max(self._level, judge.format or 0)
        seconds = min(judge.policy.timeout, self._left())
        messages = self._request.messages(self._fault)
        try:
            call = judge.generator.call(messages, self._request.form, formats[level], self._request.vote)
            output = await call_within(call, seconds, self._abandon, cancels=judge.generator.is_async)
        except Exception as error:
            output = early_end(error)
            if output is None:
                self._explain_failure(error, level, limit)
        judge.stop.served()
        if judge.format is None:
            judge.format = level
        return output

    def _explain_failure(self, error: Exception, level: int, limit: Limit) -> NoReturn:
        judge = self._judge
        failure = classify(error, served_before=limit.served > 0)
        if failure.may_be_the_format:
            self._ask_more_simply(level, counts=failure.passing)
        self._tries += 1
        self._odd += failure.odd
        if self._odd == _MOST_ODD_ANSWERS:
            raise JudgeError(mistake(failure.reason)) from error
        if failure.passing:
            if not (failure.limited and self._others_were_served(limit)):
                self._counted += 1
            # Told to slow down: the slot stays taken during the wait, so that no other call fills it at once.
            self._goes_on = failure.limited
            raise PassingError(failure.reason, retry_after=failure.retry_after) from error
        judge.stop.met(failure, self._request.estimated_tokens(), limit.most)
        raise JudgeError(failure.reason) from error

    def _ask_more_simply(self, level: int, *, counts: bool) -> None:
        """Begin an attempt in a simpler format, if there is one and attempts are left."""
        judge = self._judge
        simplest = len(judge.formats) - 1
        if level == simplest:
            judge.refuses_all_formats |= judge.format is None
            return
        # Perhaps the server knows no JSON schema. If a simpler way serves, all take it from then on, and what was sent
        # before that is free. If others were served in this way, the fault lies in this one's schema: it alone is asked
        # in words, which is an attempt like others; so where not even words help, and the fault lies elsewhere.
        alone = level == judge.format or (judge.refuses_all_formats and judge.format is None)
        if alone or counts:
            if self._counted + 1 >= judge.policy.max_attempts:
                return
            self._counted += 1
        self._level = simplest if alone else level + 1
        self._goes_on = True
        msg = "the server refused the response format"
        raise PassingError(msg, free=True)

    async def _slot(self) -> None:
        """Wait for a slot. Calls that hang and cannot be cancelled may hold all of them for good."""
        limit = self._judge.limit
        if limit.take():
            return
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
        return self._judge.limit.release

    def give_back(self) -> None:
        """Give the slot back, if one is held."""
        if self._holds_slot:
            self._holds_slot = False
            self._judge.limit.release()

    def _note(self, fault: ReplyError) -> None:
        self._fault = fault.reason
        self._counted += 1

    def _declined(self, fault: JudgeError, text: str | None) -> JudgeError:
        """A refusal says the same again, and so does a judge that thinks for longer than it may write."""
        thought, self._thought = self._thought, isinstance(fault, ThoughtsOnlyError)
        if thought and self._thought:
            return JudgeError(_THOUGHTS_ALONE, text)
        # No text at all is no refusal.
        if not isinstance(fault, ReplyError) or text is None or not text.strip() or "{" in text or "[" in text:
            self._prose = None
            return fault
        if self._prose == text:
            return JudgeError("the judge declined to reply in the form: it gave the same text without JSON twice", text)
        self._prose = text
        return fault

    def _others_were_served(self, limit: Limit) -> bool:
        """Whether the service answered somebody since it last told this request to slow down: then it is no outage."""
        moved = limit.served != self._served_at_last_limit
        self._served_at_last_limit = limit.served
        return moved

    @property
    def attempts_made(self) -> str:
        """How often the request was sent, in words."""
        return f"{self.sent} attempt{'' if self.sent == 1 else 's'}"

    def endless_wait(self, error: PassingError) -> str:
        """
        Say that the service asked to wait for longer than there is time, if it did.

        :param error: The last failure.
        :returns: What to add to its reason; empty if waiting is not what ended the attempts.
        """
        deadline = self._judge.policy.deadline
        if error.retry_after is None or error.retry_after < self._left():
            return ""
        wait = f"{error.retry_after:.0f}" if error.retry_after >= 1 else f"{error.retry_after:g}"
        return (
            f"; the service asked to wait {wait} s, longer than is left of the deadline of {deadline:g} s: raise "
            "policy.deadline"
        )

    def _left(self) -> float:
        spent = 0.0 if self._begun is None else time.monotonic() - self._begun
        return max(0.0, self._judge.policy.deadline - spent)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if not isinstance(error, PassingError) or error.free:
            return 0.0
        policy = self._judge.policy
        if error.retry_after:
            return error.retry_after * (1 + _JITTER * random.random())  # noqa: S311 - no secret depends on it
        longest: float = min(policy.max_wait, policy.min_wait * 2.0 ** min(max(0, self._tries - 1), _MOST_DOUBLINGS))
        return longest * (1 + random.random()) / 2  # noqa: S311

    def _is_over(self, state: RetryCallState) -> bool:
        return self._counted >= self._judge.policy.max_attempts or state.upcoming_sleep >= self._left()
