# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""One event loop for all calls to judges, and the limits of calls in flight. All of it runs on that loop's thread."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from haystack_eval_ext._calls import EscapedError, contained

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

_T = TypeVar("_T")


class _LoopThread:
    """
    The loop that lives as long as the process.

    A client of an API binds its connections to the loop it was first used on, so that there must be one for ``run`` and
    ``run_async`` alike. A forked process gets a loop of its own, as does a process whose loop's thread has ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            alive = self._thread is not None and self._thread.is_alive()
            if self._loop is None or not alive or self._process != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._process = os.getpid()
                LIMITS.clear()
                self._thread = threading.Thread(target=self._loop.run_forever, name="haystack-eval-judge", daemon=True)
                self._thread.start()
            return self._loop


_THREAD = _LoopThread()


def submit(coroutine: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
    """
    Start a coroutine on the judges' loop.

    :param coroutine: What to run.
    :returns: Its result to come; cancelling it cancels the coroutine.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, _THREAD.loop())


def wait(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """
    Run a coroutine on the judges' loop and wait for it.

    :param coroutine: What to run.
    :returns: Its result.
    """
    future = submit(coroutine)
    try:
        return future.result()
    except BaseException:
        # Ctrl-C: what is in flight must not go on behind the user's back.
        future.cancel()
        raise


class Limit:
    """How many calls may be in flight at once: the smallest number that any of its users asks for."""

    def __init__(self) -> None:
        """Create the limit, which has no users yet."""
        self._asked: list[int] = []
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        #: Calls that the service answered.
        self.served = 0
        #: Slots that were given back.
        self.released = 0

    @contextmanager
    def user(self, at_most: int) -> Iterator[None]:
        """
        Take part.

        :param at_most: The user's own limit.
        """
        self._asked.append(at_most)
        try:
            yield
        finally:
            self._asked.remove(at_most)
            self._wake()

    @property
    def idle(self) -> bool:
        """Whether nobody uses the limit, and no call is in flight."""
        return not self._asked and not self._in_flight

    async def acquire(self, *, again: bool = False) -> None:
        """
        Wait for a slot.

        :param again: Whether to go before those who wait for their first call: a retry at the end of a run would make
            it longer.
        """
        if self.take():
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release()
            elif place in self._waiting:  # else a slot was given back since, which left this one out
                self._waiting.remove(place)
            raise

    def take(self) -> bool:
        """
        Take a slot if one is free and nobody waits for it.

        :returns: Whether it was taken.
        """
        free = not self._waiting and self._free()
        self._in_flight += free
        return free

    def release(self) -> None:
        """Give a slot back."""
        self._in_flight -= 1
        self.released += 1
        self._wake()

    @property
    def most(self) -> int:
        """How many calls can be in flight."""
        return min(self._asked, default=1)

    def _free(self) -> bool:
        return self._in_flight < self.most

    def _wake(self) -> None:
        while self._waiting and self._free():
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)


#: The limits in use, by what identifies a service.
LIMITS: dict[Any, Limit] = {}


@contextmanager
def limit_of(key: Any, at_most: int) -> Iterator[Limit]:
    """
    Take part in the limit of a service.

    :param key: What identifies it.
    :param at_most: The user's own limit.
    :returns: The limit.
    """
    limit = LIMITS.setdefault(key, Limit())
    try:
        with limit.user(at_most):
            yield limit
    finally:
        # Calls that were abandoned may still be in flight: they keep their slots.
        if limit.idle and LIMITS.get(key) is limit:
            del LIMITS[key]


async def call_within(
    call: Awaitable[_T], seconds: float, abandon: Callable[[], Callable[[], None]], *, cancels: bool
) -> _T:
    """
    Await a call for a time. An abandoned one gives its slot back only when it really ends.

    :param call: The call.
    :param seconds: How long.
    :param abandon: Told when the call is left to itself; gives the function that gives its slot back.
    :param cancels: Whether cancelling ends the call; a thread goes on.
    :returns: The call's result.
    :raises TimeoutError: If it took longer.
    :raises EscapedError: If it raised what is no Exception.
    """
    task = asyncio.ensure_future(contained(call))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if done and task.cancelled():
            # By the component itself: whoever waits was not.
            raise EscapedError(asyncio.CancelledError())
        if done:
            return task.result()
    finally:
        if not task.done():
            release = abandon()
            task.add_done_callback(lambda _: release())
            # Reading the exception of a call that nobody waits for any more keeps asyncio from complaining.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            if cancels:
                task.cancel()
    msg = "the call took longer than its time-out"
    raise TimeoutError(msg)
