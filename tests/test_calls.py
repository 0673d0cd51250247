# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Calls of users' components: what they raise ends them alone, and is read in one way for judges and embedders."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from haystack_eval_ext._calls import EscapedError, contained, http_status, in_thread, login_refused, name_of
from haystack_eval_ext.judged._failures import classify


class StatusError(RuntimeError):
    """What some client raises."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__()
        self.__dict__.update(attributes)


def behind(inner: BaseException) -> RuntimeError:
    """As a component wraps what its client raised."""
    outer = RuntimeError()
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize("name", ["status_code", "status", "http_status", "code"])
@pytest.mark.parametrize("status", [400, 401, 403, 429, 503, 599])
def test_a_status_by_any_name_is_one_for_judges_and_embedders(name: str, status: int) -> None:
    told = StatusError(**{name: status})
    for error in (told, StatusError(response=told), behind(told), behind(StatusError(response=told))):
        assert http_status(error) == status
        assert login_refused(error) == (status in (401, 403))
        assert classify(error, served_before=False).reason.startswith(f"HTTP {status} ")


@pytest.mark.parametrize("value", ["insufficient_quota", "401", 0, 200, 399, 600, 401.0, None])
def test_what_is_no_status(value: Any) -> None:
    assert http_status(StatusError(code=value)) is None
    assert not login_refused(StatusError(code=value))
    assert http_status(None) is None


ESCAPES = [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]


@pytest.mark.parametrize("error", ESCAPES, ids=lambda error: type(error).__name__)
def test_what_is_no_exception_becomes_one(error: BaseException) -> None:
    async def on_the_loop() -> None:
        raise error

    def in_a_thread() -> None:
        raise error

    async def work() -> list[str]:
        names = []
        for call in (contained(on_the_loop()), in_thread(in_a_thread)):
            with pytest.raises(EscapedError) as caught:
                await call
            names.append(name_of(caught.value))
        return names

    assert asyncio.run(work()) == [type(error).__name__] * 2


def test_a_thread_that_stops_an_iteration_is_not_waited_for_in_vain() -> None:
    async def work() -> None:
        with pytest.raises(EscapedError, match="StopIteration"):
            await in_thread(lambda: next(iter(())))

    asyncio.run(work())


def test_a_cancellation_from_outside_is_one() -> None:
    async def work() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await contained(asyncio.Event().wait())
        task = asyncio.create_task(contained(asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())


def test_an_exception_stays_what_it_is() -> None:
    async def failing() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(contained(failing()))
    assert name_of(KeyError("a text of the user's")) == "KeyError"
