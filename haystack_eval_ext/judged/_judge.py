# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine: one run's requests to a judge, each asked once, repeated where it helps, kept and accounted for."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from haystack import logging

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._account import Budget, Usage
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._cache import CachedReply, ReplyCache, not_cached
from haystack_eval_ext.judged._call import Call
from haystack_eval_ext.judged._failures import JudgeError, PassingError, ReplyError
from haystack_eval_ext.judged._generator import Generator
from haystack_eval_ext.judged._limits import Limit, limit_of
from haystack_eval_ext.judged._reply import read_reply
from haystack_eval_ext.judged._request import Request, Task
from haystack_eval_ext.judged._stopping import Stop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack_eval_ext.judged._account import Reserved
    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._policy import JudgePolicy
    from haystack_eval_ext.judged._prompts import Prompt

logger = logging.getLogger(__name__)
_T = TypeVar("_T")


class Judge:
    """One run of one evaluator. It lives on the judges' loop, inside ``with``."""

    def __init__(
        self, generator: Any, policy: JudgePolicy, budget: Budget | None = None, *, plans: bool = False
    ) -> None:
        """
        Prepare a run.

        :param generator: The user's ChatGenerator.
        :param policy: How to ask, and what the run may spend.
        :param budget: What several runs may spend together.
        :param plans: Whether nothing is asked, so that the cache is only read.
        """
        self.policy = policy
        self._plans = plans
        #: The user's, and what is known of it.
        self.generator = Generator(generator)
        #: What it may spend.
        self.budget = Budget(policy.max_calls, policy.max_tokens, policy.max_cost, policy.prices, budget)
        #: The ways to ask for the form of a reply, the best one first.
        self.formats = self.generator.formats(policy.structured_output)
        #: Which of the formats the server took first: all requests take it from then on.
        self.format: int | None = None
        #: Whether a request was refused in words, too, so that refusals need not be about formats.
        self.refuses_all_formats = False
        # With each the prompt itself, whose number would go to another one if it went.
        self._tasks: dict[int, tuple[Prompt, Task]] = {}
        self._answers: dict[str, asyncio.Task[Any]] = {}
        self._getting_ready: asyncio.Task[None] | None = None
        self._ready = False
        self._stack = ExitStack()
        #: Where replies are kept, if anywhere.
        self.cache: ReplyCache | None = None
        #: The limit of calls in flight.
        self.limit = Limit()
        #: Whether calls can still succeed.
        self.stop = Stop()
        #: What the generator said when it was to be prepared.
        self.broken: Exception | None = None

    def __enter__(self) -> Judge:
        """
        Open the cache and take part in the service's limit.

        :returns: The judge.
        :raises ValueError: If the cache cannot be opened, or is needed and cannot be used; if the cost is limited and
            there is no price.
        """
        self.budget.check(self.generator.model)
        self.cache = self._open_cache()
        self.limit = self._stack.enter_context(limit_of(self.generator.limit_key(), self.policy.max_concurrency))
        self.generator.warn_of_own_retries()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the cache; give up what is still in flight."""
        for task in self._answers.values():
            task.cancel()
        self._stack.close()
        if self.cache is not None:
            self.cache.close()

    def request(self, prompt: Prompt, data: Mapping[str, Any], form: Form[Any], vote: int) -> Request:
        """
        Write a request.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: The request.
        """
        known = self._tasks.get(id(prompt))
        if known is None:
            known = self._tasks[id(prompt)] = (
                prompt,
                Task(prompt, self.generator.identity(), self.formats, former=self.generator.former_identities()),
            )
        return Request(known[1], data, form, vote)

    def cached(self, request: Request) -> tuple[Any, CachedReply] | None:
        """
        Look a request up in the cache.

        :param request: The request.
        :returns: What its reply says and the reply itself; None if there is none that can still be read.
        """
        found = None
        if self.cache is not None:
            found = self.cache.get(request.key) or self.cache.first(request.former_keys)
        if found is None:
            return None
        try:
            return read_reply(found.text, request.form.read), found
        except ReplyError:
            return None

    def kept(self, request: Request, row: RowAsk) -> tuple[Any, dict[str, Any]] | None:
        """
        Answer a request from the cache.

        :param request: The request.
        :param row: The row that asks.
        :returns: What the reply says and what the generator said about it; None if there is none.
        """
        found = self.cached(request)
        if found is None:
            return None
        row.usage.cache_hits += 1
        return found[0], found[1].meta

    def claim(self, request: Request) -> bool:
        """
        Say to all who share the cache that a request is about to be sent.

        :param request: The request.
        :returns: False if somebody else is asking it.
        """
        # Until the call has ended, and one wait after it.
        seconds = self.policy.timeout + self.policy.max_wait
        return self.cache is None or self.cache.claim(request.key, seconds)

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
        cached = self.kept(request, row)
        if cached is not None:
            return cached
        if self.policy.offline:
            raise not_cached(self.cache)
        call = Call(self, request, row)
        try:
            return await call.attempts()
        except ReplyError as error:
            msg = f"unreadable reply in {call.attempts_made}: {error.reason}"
            raise JudgeError(msg, error.reply) from None
        except PassingError as error:
            msg = f"{error.reason} in {call.attempts_made}{call.endless_wait(error)}"
            raise JudgeError(msg) from None
        except JudgeError:
            raise
        except Exception as error:
            # Nobody foresaw it: it costs this request, not the run.
            msg = f"{type(error).__name__} while its reply was read or kept"
            raise JudgeError(msg) from error
        finally:
            call.give_back()
            if self.cache is not None:
                self.cache.release(request.key)

    def reserve(self, request: Request, *, first: bool) -> Reserved:
        """
        Ask for a call.

        :param request: What is to be sent.
        :param first: Whether it was not sent before.
        :returns: What the budget reserves for it.
        :raises JudgeError: If no call can succeed any more, or the budget is spent.
        """
        tokens = request.estimated_tokens()
        why_not = self.stop.why_not(tokens, first=first)
        if why_not is not None:
            raise JudgeError(why_not)
        return self.budget.reserve(tokens, self.generator.model)

    def _open_cache(self) -> ReplyCache | None:
        path = self.policy.cache_path
        if path is None:
            return None
        if self.generator.identity() is not None:
            return ReplyCache(path, read_only=self.policy.offline or self._plans)
        why = (
            "the chat generator cannot be serialized, so that nothing tells which replies are its own. Give its key as "
            "Secret.from_env_var(...), and functions that can be imported by name"
        )
        if self.policy.offline:
            msg = f"offline answers from the cache alone, but {why}."
            raise InvalidValueError(msg)
        logger.warning("cache_path is not used: {why}.", why=why)
        return None

    async def prepare(self) -> None:
        """
        Prepare the generator, once.

        :raises JudgeError: If that failed.
        """
        if self._ready:
            return
        if self._getting_ready is None:
            self._getting_ready = asyncio.ensure_future(self.generator.warm_up(self.policy.deadline))
        try:
            await asyncio.shield(self._getting_ready)
            self._ready = True
        except Exception as error:
            self.broken = error
            reason = f"the chat generator could not be prepared ({type(error).__name__})"
            self.stop.end(reason)
            raise JudgeError(reason) from error


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
