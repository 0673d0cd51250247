# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a metric asks: a reply of a form, or a verdict on each of several items. Judging and planning answer it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from haystack_eval_ext.judged._failures import JudgeError, TruncatedReplyError
from haystack_eval_ext.judged._forms import YES_NO, Choice, Form, OwnItems, verdicts_form
from haystack_eval_ext.judged._prompts import Prompt

_T = TypeVar("_T")


class Verdicts(NamedTuple):
    """
    A verdict for each item.

    :param labels: The verdict by id, for every id that was asked about.
    :param items: What was judged, by id: what was asked about, unless the reply brought its own.
    :param agreement: The mean share of votes for the verdict that won; None with one vote.
    """

    labels: dict[str, Choice]
    items: dict[str, Any]
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
        results = await asyncio.gather(*questions, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if not isinstance(result, BaseException)]

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
        own: Callable[[Any], OwnItems | None] | None = None,
    ) -> Verdicts:
        """
        Ask for a verdict on each item. What a reply leaves out is asked for again, alone.

        :param prompt: The task.
        :param data: The row's other data.
        :param key: Where the items stand in the data.
        :param items: What is judged, by id.
        :param choices: The possible verdicts.
        :param own: Reads a reply in another form that brings its own items; None if it is not of that form.
        :returns: A verdict for every item: the majority of the votes; of verdicts that tie the last-named choice,
            which is the lower one.
        :raises JudgeError: If one is missing at the end.
        """
        votes = await self.together(
            *(self._cover(prompt, data, key, items, (choices, own), vote) for vote in range(self._votes))
        )
        judged = [vote.texts if isinstance(vote, OwnItems) else dict(items) for vote in votes]
        if any(other != judged[0] for other in judged):
            msg = "the votes are not about the same items"
            raise JudgeError(msg)
        if len(votes) == 1:
            return Verdicts(dict(votes[0]), judged[0], None)
        labels: dict[str, Choice] = {}
        shares = []
        for name in judged[0]:
            counts = Counter(vote[name] for vote in votes)
            most = max(counts.values())
            labels[name] = next(choice for choice in reversed(choices) if counts[choice] == most)
            shares.append(most / len(votes))
        return Verdicts(labels, judged[0], sum(shares) / len(shares) if shares else None)

    async def _cover(
        self,
        prompt: Prompt,
        data: Mapping[str, Any],
        key: str,
        items: Mapping[str, Any],
        form: tuple[Sequence[Choice], Callable[[Any], OwnItems | None] | None],
        vote: int,
    ) -> dict[str, Choice]:
        found: dict[str, Choice] = {}
        missing = dict(items)
        for _ in range(self._rounds):
            try:
                reply = await self.read(prompt, {**data, key: missing}, verdicts_form(list(missing), *form), vote)
            except TruncatedReplyError:
                if len(missing) == 1:
                    raise
                names = list(missing)
                halves = [
                    {name: missing[name] for name in part}
                    for part in (names[: len(names) // 2], names[len(names) // 2 :])
                ]
                for half in halves:
                    found |= await self._cover(prompt, data, key, half, form, vote)
            else:
                if isinstance(reply, OwnItems):
                    return reply
                found |= reply
            missing = {name: item for name, item in items.items() if name not in found}
            if not missing:
                return {name: found[name] for name in items}
        msg = f"the judge gave no verdict on {len(missing)} of {len(items)} items in {self._rounds} rounds"
        raise JudgeError(msg)
