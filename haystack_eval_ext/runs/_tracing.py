# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A tracer of Haystack that records what the harness asks for and forwards everything to the tracer in force.

Haystack has one tracer for the whole process. Which question a span belongs to is found by context variables, so that
questions in several threads do not mix, and what runs beside the harness is passed on untouched.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from haystack.core.errors import PipelineRuntimeError
from haystack.tracing.tracer import Span, Tracer, enable_tracing, tracer

from haystack_eval_ext.runs._recording import OPERATIONS, Call, Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORDER: ContextVar[Recorder | None] = ContextVar("haystack_eval_ext_recorder", default=None)
_SPAN: ContextVar[RecordingSpan | None] = ContextVar("haystack_eval_ext_span", default=None)


class RecordingSpan(Span):
    """
    A span that keeps contents for its recorder, whatever the global content flag says, and forwards all tags.

    :param inner: The span of the tracer in force, which decides by itself what it does with contents.
    :param recorder: Where its question is recorded.
    :param call: What is recorded of it.
    """

    def __init__(self, inner: Span, recorder: Recorder, call: Call) -> None:
        self.inner = inner
        self.recorder = recorder
        self.call = call

    def set_tag(self, key: str, value: Any) -> None:
        """
        Forward a tag.

        :param key: Its name.
        :param value: Its value.
        """
        self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """
        Keep a content and forward it.

        :param key: Its name.
        :param value: Its value.
        """
        self.call.take(key, value)
        self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        """
        Give the span of the tracing backend.

        :returns: What the tracer in force gives.
        """
        return self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """
        Give what belongs into logs.

        :returns: What the tracer in force gives.
        """
        return self.inner.get_correlation_data_for_logs()


class RecordingTracer(Tracer):
    """
    Records the spans of questions that are being recorded.

    :param inner: The tracer in force.
    """

    def __init__(self, inner: Tracer) -> None:
        self.inner = inner

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Iterator[Span]:
        """
        Open a span.

        :param operation_name: What is traced.
        :param tags: Its tags.
        :param parent_span: The span around it; without it that of the context.
        :returns: The span.
        """
        # A thread that a component starts has no context, but Haystack hands the parent over.
        parent = parent_span if isinstance(parent_span, RecordingSpan) else _SPAN.get()
        recorder = _RECORDER.get() if parent is None else parent.recorder
        forwarded = parent_span.inner if isinstance(parent_span, RecordingSpan) else parent_span
        with self.inner.trace(operation_name, tags=tags, parent_span=forwarded) as inner:
            if recorder is None:
                yield inner
                return
            call = Call(OPERATIONS.get(operation_name), tags or {}, None if parent is None else parent.call)
            span = RecordingSpan(inner, recorder, call)
            token = _SPAN.set(span)
            start = time.perf_counter()
            try:
                yield span
            except BaseException as error:
                # Haystack wraps what a component raises.
                cause = error.__cause__ if isinstance(error, PipelineRuntimeError) else None
                call.error = type(cause or error).__name__
                raise
            finally:
                call.seconds = time.perf_counter() - start
                with suppress(ValueError):  # an abandoned async generator is closed in another context
                    _SPAN.reset(token)
                recorder.add(call)

    def current_span(self) -> Span | None:
        """
        Give the innermost span.

        :returns: Ours where a question is recorded, else that of the tracer in force.
        """
        return _SPAN.get() or self.inner.current_span()


class _Installation:
    """The one tracer of ours, shared by all harnesses that run at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._tracer: RecordingTracer | None = None

    @property
    def tracer(self) -> RecordingTracer | None:
        """The tracer of ours; None if somebody else's is in force."""
        return self._tracer if tracer.actual_tracer is self._tracer else None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            self._put_in_force()

    def restore(self) -> RecordingTracer | None:
        """Come back into force where somebody has set another tracer meanwhile; None if nobody records."""
        with self._lock:
            return self._put_in_force() if self._users else None

    def _put_in_force(self) -> RecordingTracer:
        # Some connectors set the global tracer when they are made: then theirs is the one to forward to.
        if self._tracer is None or self.tracer is None:
            self._tracer = RecordingTracer(tracer.actual_tracer)
            enable_tracing(self._tracer)
        return self._tracer

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            # Somebody else's tracer that came meanwhile stays.
            if self._users == 0 and self._tracer is not None and tracer.actual_tracer is self._tracer:
                enable_tracing(self._tracer.inner)
            if self._users == 0:
                self._tracer = None


_INSTALLATION = _Installation()


@contextmanager
def recording_tracer() -> Iterator[None]:
    """
    Record while a block runs: the tracer is in force, and afterwards the one before it again.

    :returns: A context manager.
    """
    _INSTALLATION.enter()
    try:
        yield
    finally:
        _INSTALLATION.leave()


@contextmanager
def recorded() -> Iterator[Recorder]:
    """
    Record one question: all spans opened within the block, in its thread or from its context.

    :returns: A context manager that gives the recorder.
    """
    ours = _INSTALLATION.restore()
    recorder = Recorder(lambda: ours is None or _INSTALLATION.tracer is ours)
    token = _RECORDER.set(recorder)
    # A question asked inside a traced component of somebody else's run is a question of its own.
    place = _SPAN.set(None)
    try:
        yield recorder
    finally:
        _SPAN.reset(place)
        _RECORDER.reset(token)
