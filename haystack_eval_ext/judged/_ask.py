# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a metric asks: a reply of a form, or an entry for each of several items. Judging and planning answer it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from haystack_eval_ext.judged._failures import JudgeError, TruncatedReplyError
from haystack_eval_ext.judged._forms import JUDGED_WORDS, YES_NO, Choice, Form, verdicts_form
from haystack_eval_ext.judged._prompts import Prompt

_T = TypeVar("_T")


class Verdicts(NamedTuple):
    """
    A verdict for each item.

    :param labels: The verdict by id, for every id that was asked about.
    :param agreement: The mean share of votes for the verdict that won; None with one vote.
    """

    labels: dict[str, Choice]
    agreement: float | None


class Ask(ABC):
    """The judge as the metric of one row sees it."""

    def __init__(self, *, votes: int, rounds: int) -> None:
        """
        Create the row's view.

        :param votes: How often each verdict is asked for.
        :param rounds: How often missing verdicts are asked for.
        """
        self._votes = votes
        self._rounds = rounds

    @abstractmethod
    async def read(self, prompt: Prompt, data: Mapping[str, Any], form: Form[_T], vote: int = 0) -> _T:
        """
        Ask for one reply.

        :param prompt: The task.
        :param data: The row's data, as JSON values.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :returns: What the reply says.
        :raises JudgeError: If there is none.
        """

    async def together(self, *questions: Coroutine[Any, Any, _T]) -> list[_T]:
        """
        Ask several things at once; all of them are finished before one that failed is reported.

        :param questions: Coroutines of this object's methods.
        :returns: Their results.
        :raises JudgeError: The first failure.
        """
        results = await self.settled(*questions)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if not isinstance(result, BaseException)]

    async def settled(self, *questions: Coroutine[Any, Any, _T]) -> list[_T | BaseException]:
        """
        Ask several things at once, of which some may fail.

        :param questions: Coroutines of this object's methods.
        :returns: The result of each, or its failure.
        """
        return await asyncio.gather(*questions, return_exceptions=True)

    async def votes(self, prompt: Prompt, data: Mapping[str, Any], form: Form[_T]) -> list[_T]:
        """
        Ask the same as often as the policy has votes.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :returns: What each reply says.
        :raises JudgeError: If one failed.
        """
        return await self.together(*(self.read(prompt, data, form, vote) for vote in range(self._votes)))

    async def verdicts(
        self,
        prompt: Prompt,
        data: Mapping[str, Any],
        key: str,
        items: Mapping[str, Any],
        choices: Sequence[Choice] = YES_NO,
        translate: Callable[[Any, Mapping[str, Any], bool], Any] | None = None,
    ) -> Verdicts:
        """
        Ask for a verdict on each item. What a reply leaves out is asked for again, alone.

        :param prompt: The task.
        :param data: The row's other data.
        :param key: Where the items stand in the data.
        :param items: What is judged, by id.
        :param choices: The possible verdicts.
        :param translate: As for :func:`verdicts_form`, with the items that were asked about, and whether these are all
            of them: if not, nothing but its own words says which of them a reply without ids is about.
        :returns: A verdict for every item: the majority of the votes; of verdicts that tie the last-named choice,
            which is the lower one.
        :raises JudgeError: If one is missing at the end.
        """

        def form_of(part: Mapping[str, Any]) -> Form[dict[str, Choice]]:
            words = JUDGED_WORDS.get(key) if set(choices) == {0, 1} else None
            if translate is None:
                return verdicts_form(list(part), choices, words=words)
            whole = len(part) == len(items)
            return verdicts_form(list(part), choices, lambda value: translate(value, part, whole), words)

        votes = await self.together(
            *(self.cover(prompt, data, key, items, form_of, vote) for vote in range(self._votes))
        )
        if len(votes) == 1:
            return Verdicts(votes[0], None)
        labels: dict[str, Choice] = {}
        shares = []
        for name in items:
            counts = Counter(vote[name] for vote in votes)
            most = max(counts.values())
            labels[name] = next(choice for choice in reversed(choices) if counts[choice] == most)
            shares.append(most / len(votes))
        return Verdicts(labels, sum(shares) / len(shares) if shares else None)

    async def cover(
        self,
        prompt: Prompt,
        data: Mapping[str, Any],
        key: str,
        items: Mapping[str, Any] | Sequence[str],
        form_of: Callable[[Any], Form[dict[str, _T]]],
        vote: int = 0,
    ) -> dict[str, _T]:
        """
        Ask until a reply says something of each item. What it leaves out or cuts off is asked for again, alone.

        :param prompt: The task.
        :param data: The row's other data.
        :param key: Where the items stand in the data.
        :param items: What is asked about, by id; or the ids alone.
        :param form_of: The form of a reply about some of the items, which reads at least one of them.
        :param vote: Number of the vote.
        :returns: What was said of each item, in their order.
        :raises JudgeError: If one is missing at the end.
        """
        found: dict[str, _T] = {}
        missing = items
        for _ in range(self._rounds):
            try:
                reply = await self.read(prompt, {**data, key: missing}, form_of(missing), vote)
            except TruncatedReplyError:
                if len(missing) == 1:
                    raise
                names = list(missing)
                for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                    found |= await self.cover(prompt, data, key, _part(items, half), form_of, vote)
            else:
                found |= reply
            missing = _part(items, [name for name in items if name not in found])
            if not missing:
                return {name: found[name] for name in items}
        rounds = "1 round" if self._rounds == 1 else f"{self._rounds} rounds"
        msg = f"the judge passed over {len(missing)} of {len(items)} {key} in {rounds}"
        raise JudgeError(msg)


def _part(items: Mapping[str, Any] | Sequence[str], names: Sequence[str]) -> Mapping[str, Any] | Sequence[str]:
    return {name: items[name] for name in names} if isinstance(items, Mapping) else names
