# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run would ask, before any money is spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from haystack_eval_ext.judged._account import cost_of
from haystack_eval_ext.judged._ask import Ask

if TYPE_CHECKING:
    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._judge import Judge
    from haystack_eval_ext.judged._prompts import Prompt

_T = TypeVar("_T")


class Plan(NamedTuple):
    """
    What a run would ask.

    :param rows: How many rows it has.
    :param calls: Calls, none of them repeated.
    :param cached: Requests that the cache answers.
    :param prompt_tokens: Estimated tokens of the prompts.
    :param exact: Whether ``calls`` is the number; else it is the most there can be, since replies decide what follows.
    :param prompt_cost: Cost of the prompts, without the replies, where prices are given; else None.
    """

    rows: int
    calls: int
    cached: int
    prompt_tokens: int
    exact: bool
    prompt_cost: float | None


class Unknown(Exception):  # noqa: N818 - no error: the end of what can be foreseen
    """What comes next depends on a reply that nobody has yet."""


class Planner:
    """Counts the requests of a run instead of sending them."""

    def __init__(self, judge: Judge) -> None:
        """
        Start at nothing.

        :param judge: A judge inside ``with``, whose cache is read.
        """
        self.judge = judge
        self._seen: set[str] = set()
        self._calls = 0
        self._later = 0
        self._cached = 0
        self._tokens = 0

    def count(self, prompt: Prompt, data: Mapping[str, Any], form: Form[_T], vote: int) -> tuple[_T, int]:
        """
        Count a request.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: What the cache says, and the request's tokens.
        :raises Unknown: If it would have to be asked.
        """
        request = self.judge.request(prompt, data, form, vote)
        cached = self.judge.cached(request)
        new = request.key not in self._seen
        self._seen.add(request.key)
        if cached is not None:
            self._cached += new
            reading: _T = cached[0]
            return reading, 0
        tokens = request.estimated_tokens()
        if new:
            self._calls += 1
            self._tokens += tokens
        raise Unknown(tokens)

    def count_later(self, calls: int, tokens: int) -> None:
        """
        Count calls that a row may make after those that are known.

        :param calls: How many at most.
        :param tokens: Estimated tokens of each.
        """
        self._later += calls
        self._tokens += calls * tokens

    def plan(self, rows: int, model: str | None) -> Plan:
        """
        The sum.

        :param rows: How many rows the run has.
        :param model: The model that would be asked, if known.
        :returns: The plan.
        """
        cost = cost_of(model, self._tokens, 0, self.judge.policy.prices)
        return Plan(rows, self._calls + self._later, self._cached, self._tokens, not self._later, cost)


class RowPlan(Ask):
    """The judge as a row sees it while a run is planned."""

    def __init__(self, planner: Planner) -> None:
        """
        Create the row's view.

        :param planner: The run's planner.
        """
        super().__init__(votes=planner.judge.policy.votes, rounds=planner.judge.policy.max_attempts)
        self._planner = planner

    async def read(self, prompt: Prompt, data: Mapping[str, Any], form: Form[_T], vote: int = 0) -> _T:
        """
        Count a request, and answer it if the cache can.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: What the cached reply says.
        :raises Unknown: If it would have to be asked.
        """
        return self._planner.count(prompt, data, form, vote)[0]
