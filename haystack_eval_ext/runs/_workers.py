# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs in a bounded number of threads; a call that hangs costs its own job, and keeps its slot until it ends."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from haystack_eval_ext.errors import HaystackEvalError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


class _Ended(NamedTuple, Generic[_Result]):
    number: int
    result: _Result | None
    error: BaseException | None
    #: Set when the result was taken over.
    taken: threading.Event


class AllHangError(HaystackEvalError, RuntimeError):
    """Every slot holds a call that does not end."""


class Workers(Generic[_Job, _Result]):
    """
    Runs jobs.

    :param work: Does a job; gets the number of its slot as well, so that slots can have things of their own.
    :param slots: How many jobs run at the same time.
    :param timeout: Seconds after which a job is given up; None: never.
    """

    def __init__(self, work: Callable[[_Job, int], _Result], slots: int, timeout: float | None) -> None:
        self._work = work
        self._slots = slots
        self._timeout = timeout
        self._context = contextvars.copy_context()
        self._stopped = threading.Event()
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[_Ended[_Result]] = queue.SimpleQueue()
        self._started: dict[int, float] = {}

    def run(self, jobs: Sequence[_Job]) -> Generator[tuple[_Job, _Result | None]]:
        """
        Run jobs and give each as it ends.

        :param jobs: The jobs.
        :returns: Each job with its result; None for one that was given up.
        :raises AllHangError: If no slot came free within a further time-out.
        """
        for number in range(len(jobs)):
            self._waiting.put(number)
        for slot in range(min(self._slots, len(jobs))):
            # Daemons: a call that hangs must not keep the process from ending.
            threading.Thread(target=self._serve, args=(jobs, slot), name=f"question-{slot}", daemon=True).start()
        given_up: set[int] = set()
        open_jobs = len(jobs)
        try:
            while open_jobs:
                ended = self._next(given_up)
                if ended is None:
                    late = self._late(given_up)
                    for number in late:
                        given_up.add(number)
                        open_jobs -= 1
                        yield jobs[number], None
                    if not late:
                        self._refuse_standstill(given_up, open_jobs)
                    continue
                try:
                    if ended.number in given_up:
                        given_up.discard(ended.number)
                        continue
                    if ended.error is not None:
                        raise ended.error
                    open_jobs -= 1
                    yield jobs[ended.number], ended.result
                finally:
                    ended.taken.set()
        finally:
            self._stopped.set()
            while not self._ended.empty():
                self._ended.get().taken.set()

    def _serve(self, jobs: Sequence[_Job], slot: int) -> None:
        while not self._stopped.is_set():
            try:
                number = self._waiting.get_nowait()
            except queue.Empty:
                return
            self._started[number] = time.monotonic()
            result, error = None, None
            try:
                # As if called where run was called: the caller's open spans and settings are seen.
                result = self._context.copy().run(self._work, jobs[number], slot)
            except BaseException as raised:  # handed to the caller, who would wait for a dead thread
                error = raised
            self._started.pop(number, None)
            ended = _Ended(number, result, error, threading.Event())
            self._ended.put(ended)
            # The next job begins when this one's result is kept: a kill costs no more than what was in flight.
            if not self._stopped.is_set():
                ended.taken.wait()

    def _next(self, given_up: set[int]) -> _Ended[_Result] | None:
        """What ended next; None if nothing did before the next job is late."""
        if self._timeout is None:
            return self._ended.get()
        running = [start for number, start in list(self._started.items()) if number not in given_up]
        patience = self._timeout if not running else min(running) + self._timeout - time.monotonic()
        try:
            return self._ended.get(timeout=max(patience, 0.001))
        except queue.Empty:
            return None

    def _late(self, given_up: set[int]) -> list[int]:
        if self._timeout is None:
            return []
        limit = time.monotonic() - self._timeout
        return [number for number, start in list(self._started.items()) if start <= limit and number not in given_up]

    def _refuse_standstill(self, given_up: set[int], open_jobs: int) -> None:
        """Nothing ended and nothing became late for a whole time-out: the slots are all held by what was given up."""
        if open_jobs and len(given_up) >= self._slots:
            raise AllHangError
