# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls of a user's component: none ends more than itself, and what its exception says, whosever client raised it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from haystack_eval_ext.errors import HaystackEvalError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

_T = TypeVar("_T")

_LOGIN_REFUSED = (401, 403)
# What clients call the HTTP status.
_STATUS_NAMES = ("status_code", "status", "http_status", "code")
_HTTP_ERRORS = range(400, 600)
# A chain of causes is short; a cyclic one must end.
_LONGEST_CHAIN = 20


class EscapedError(HaystackEvalError, RuntimeError):
    """In place of what would end the event loop, as SystemExit does, or the run, as CancelledError does."""

    def __init__(self, escaped: BaseException) -> None:
        """
        Create the error.

        :param escaped: What a component raised.
        """
        super().__init__(type(escaped).__name__)


async def contained(awaitable: Awaitable[_T]) -> _T:
    """
    Await what a user's component does on the loop, which an exit, an interrupt or a cancellation of its own must not
    end.

    :param awaitable: What to await.
    :returns: Its result.
    :raises EscapedError: If it raised what is no Exception. A cancellation from outside passes.
    """
    try:
        return await awaitable
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise EscapedError(error) from None


async def in_thread(function: Callable[[], _T]) -> _T:
    """
    Run a blocking function in a daemon thread, which cannot keep the process alive when it hangs.

    :param function: What to run.
    :returns: Its result.
    :raises EscapedError: If it raised what is no Exception, or what a future cannot hold.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            set_it(value)

    def work() -> None:
        try:
            outcome, value = done.set_result, function()
        except BaseException as error:
            holds = isinstance(error, Exception) and not isinstance(error, StopIteration)
            outcome, value = done.set_exception, error if holds else EscapedError(error)  # type: ignore[assignment]
        # A loop that was closed in the meantime has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome, value)

    threading.Thread(target=work, daemon=True).start()
    return await done


async def release(component: Any) -> None:
    """
    Let a component give back what it holds: what belongs to this loop by ``close_async``, the rest by ``close``.

    :param component: A generator or an embedder; one without such methods is left as it is.
    """
    if callable(getattr(component, "close_async", None)):
        await contained(component.close_async())
    if callable(getattr(component, "close", None)):
        await in_thread(component.close)


def name_of(error: BaseException) -> str:
    """
    What to call an exception in a message, which must not hold its own words: they may quote a text.

    :param error: The exception.
    :returns: The name of its class, or of what it stands for.
    """
    return str(error) if isinstance(error, EscapedError) else type(error).__name__


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """
    An exception and what it came from.

    :param error: The exception, or None.
    :returns: They, from the last one to the first.
    """
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def attribute(holder: Any, name: str) -> Any:
    """
    Look at an attribute of a user's or client's object, whatever a property of it may raise.

    :param holder: The object.
    :param name: The attribute.
    :returns: Its value; None if there is none.
    """
    with suppress(Exception):
        return getattr(holder, name, None)
    return None


def http_status(error: BaseException | None) -> int | None:
    """
    The HTTP status that a service answered with.

    :param error: What a component raised.
    :returns: The status, from 400 to 599, that it or what it came from carries; None if there is none.
    """
    for one in causes(error):
        for holder in (one, attribute(one, "response")):
            for name in _STATUS_NAMES:
                value = attribute(holder, name)
                if isinstance(value, int) and value in _HTTP_ERRORS:
                    return value
    return None


def login_refused(error: BaseException | None) -> bool:
    """
    Whether a service refused the user, so that no further request can succeed.

    :param error: What a component raised.
    :returns: True for the HTTP statuses 401 and 403.
    """
    return http_status(error) in _LOGIN_REFUSED
