# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The life of what a judged evaluator asks: its generator and its embedder are prepared and closed with it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._calls import release
from haystack_eval_ext._embedding import warm_up_async
from haystack_eval_ext._parameters import PlainParameters
from haystack_eval_ext.judged._generator import Generator, unprepared
from haystack_eval_ext.judged._limits import submit, wait

if TYPE_CHECKING:
    from haystack_eval_ext.judged._policy import JudgePolicy


class Lifecycle(PlainParameters):
    """
    ``warm_up`` and ``close``, which a Pipeline calls as well.

    Both work on the judges' event loop, where the clients of generator and embedder have their connections, whichever
    loop or thread the caller is on. A generator or embedder that lacks such a method is left as it is.
    """

    chat_generator: Any
    policy: JudgePolicy
    #: What compares texts, in the metrics that do.
    embedder: Any = None

    def warm_up(self) -> None:
        """
        Prepare the generator, and the embedder if there is one: clients are made, and missing keys found.

        With a ``cache_path`` in the policy this waits until a run needs a reply that the file lacks; with ``offline``
        nothing is ever asked.

        :raises ValueError: If that fails; the message has the component's own words.
        """
        wait(self._prepare())

    async def warm_up_async(self) -> None:
        """
        Prepare them as :meth:`warm_up` does; the event loop of the caller stays free.

        :raises ValueError: If that fails; the message has the component's own words.
        """
        await asyncio.wrap_future(submit(self._prepare()))

    def close(self) -> None:
        """Close the connections of generator and embedder. A later run opens new ones; closing twice does nothing."""
        wait(self._release())

    async def close_async(self) -> None:
        """Close them as :meth:`close` does; the event loop of the caller stays free."""
        await asyncio.wrap_future(submit(self._release()))

    def _compares_texts(self) -> bool:
        """Whether the embedder is used."""
        return self.embedder is not None

    async def _prepare(self) -> None:
        self._follow()
        if self.policy.offline or self.policy.cache_path is not None:
            return
        try:
            await Generator(self.chat_generator).warm_up(self.policy.deadline)
        except Exception as error:
            raise unprepared(error) from error
        if self._compares_texts():
            await warm_up_async(self.embedder)

    async def _release(self) -> None:
        try:
            await Generator(self.chat_generator).close()
        finally:
            if self.embedder is not None:
                await release(self.embedder)
