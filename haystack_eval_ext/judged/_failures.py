# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a failed call means: worth another try, lost for this row, or the end of the run."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from haystack_eval_ext._calls import attribute, causes, name_of
from haystack_eval_ext._said import Said, hidden_cause, in_words, odd_answer, said_by
from haystack_eval_ext.errors import HaystackEvalError
from haystack_eval_ext.judged._causes import cause_of, may_be_the_format

_TOO_MANY_REQUESTS = 429
_PASSING = frozenset((408, 409, 425, _TOO_MANY_REQUESTS))
_SERVER_ERRORS = range(500, 600)
# Mistakes in the generator or its parameters: the next call would end the same way.
_MISTAKES = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, ImportError)
_NETWORK = ("Connect", "Timeout", "ReadError", "WriteError", "ProtocolError", "NetworkError", "PoolTimeout")
# The module that calls generators.
_CALLER = "haystack_eval_ext.judged._generator"
# What nobody knows the cause of: an answer that a client could not make sense of reaches it so, but so does a mistake.
_ODD_ANSWERS = (TypeError, AttributeError)


class JudgeError(HaystackEvalError):
    """A row that could not be judged. The message says why, and never quotes a text of the row or of the reply."""

    def __init__(self, reason: str, reply: str | None = None) -> None:
        """
        Create the error.

        :param reason: Why.
        :param reply: What the judge said, if anything; for the results, not for messages.
        """
        super().__init__(reason)
        self.reason = reason
        self.reply = reply


class PassingError(JudgeError):
    """A failure that another attempt may not meet."""

    def __init__(self, reason: str, *, retry_after: float | None = None, free: bool = False) -> None:
        """
        Create the error.

        :param reason: Why.
        :param retry_after: Seconds that the service asked to wait.
        :param free: Whether the next attempt is another way of asking: it neither waits nor counts.
        """
        super().__init__(reason)
        self.retry_after = retry_after
        self.free = free


class ReplyError(JudgeError):
    """A reply that cannot be used. Its reason completes "Your last reply could not be used: ..."."""


class ThoughtsOnlyError(ReplyError):
    """A reply that ended before an answer began, as those of models do that think for longer than they may write."""

    def __init__(self) -> None:
        """Create the error."""
        super().__init__("it held thoughts and no answer")


class TruncatedReplyError(JudgeError):
    """A reply cut off at the token limit, which the same request would meet again."""


class NotRunError(JudgeError):
    """A row that is not asked about: it lacks what the metric needs, or the budget is spent."""


@dataclass(frozen=True)
class Failure:
    """
    What an exception of a generator means.

    :param passing: Whether another attempt may succeed.
    :param reason: Its class, HTTP status and what the service said, in words; for good also what to do.
    :param retry_after: Seconds that the service asked to wait, if it did.
    :param limited: Whether the service only asked to slow down.
    :param odd: Whether it may as well be a mistake, which a few attempts more will show.
    :param shared: Which other requests will meet the same.
    :param may_be_the_format: Whether the service may take the same request in another format.
    """

    passing: bool
    reason: str
    retry_after: float | None = None
    limited: bool = False
    odd: bool = False
    shared: Literal["none", "longer", "most", "all"] = "none"
    may_be_the_format: bool = False


def classify(error: BaseException, *, served_before: bool) -> Failure:
    """
    Tell what an exception of a generator means, by duck typing: any provider's client may have raised it.

    A TypeError or AttributeError is a mistake if it was raised by the call itself, which a signature refuses. From
    inside the generator it may come of a strange answer of a proxy.

    :param error: The exception.
    :param served_before: Whether the service answered a call with this account before.
    :returns: The failure.
    """
    said = said_by(error)
    odd = odd_answer(error) if said.status is None else None
    if odd is not None:
        return _of_service(f"{odd.what} ({name_of(error)})", odd.said, error, served_before=served_before)
    reason = in_words(error, said)
    hidden = hidden_cause(error)
    if hidden is not None:
        names, last = hidden
        of_last = classify(last, served_before=served_before).reason
        return Failure(True, f"{reason} ({', '.join(names)} failed, the last one with {of_last})")
    # Some say what is wrong in a code alone.
    if said.status is not None or cause_of(said, served_before=served_before) is not None:
        return _of_service(reason, said, error, served_before=served_before)
    return _without_status(reason, error)


def _of_service(reason: str, said: Said, error: BaseException, *, served_before: bool) -> Failure:
    """What a service refused, or failed to do."""
    cause = cause_of(said, served_before=served_before)
    in_other_format = may_be_the_format(said)
    if cause is not None:
        return Failure(False, f"{reason}; {cause.repair}", shared=cause.shared, may_be_the_format=in_other_format)
    passing = said.status is None or said.status in _PASSING or said.status in _SERVER_ERRORS
    retry_after = next((wait for one in causes(error) if (wait := _retry_after(one)) is not None), None)
    limited = said.status == _TOO_MANY_REQUESTS
    return Failure(passing, reason, retry_after if passing else None, limited, may_be_the_format=in_other_format)


def _without_status(reason: str, error: BaseException) -> Failure:
    """What came of the network, of a mistake, or of something unknown."""
    chain = list(causes(error))
    network = any(isinstance(one, OSError | asyncio.TimeoutError | EOFError) for one in chain) or any(
        part in type(one).__name__ for one in chain for part in _NETWORK
    )
    odd = isinstance(error, _ODD_ANSWERS) and _was_inside(error)
    if isinstance(error, _MISTAKES) and not network and not odd:
        return Failure(False, mistake(reason))
    return Failure(True, reason, odd=odd)


def mistake(reason: str) -> str:
    """
    The reason of a failure that turned out to be a mistake.

    :param reason: Its class.
    :returns: The reason, and what to do.
    """
    return f"{reason}; call chat_generator.run alone to see the error"


def _was_inside(error: BaseException) -> bool:
    """Whether an exception came from below our own call of the generator."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") != _CALLER


def _retry_after(error: BaseException) -> float | None:
    headers = attribute(attribute(error, "response"), "headers") or attribute(error, "headers")
    get = attribute(headers, "get")
    if not callable(get):
        return None
    milliseconds = _number(get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = get("retry-after") or get("Retry-After")
    seconds = _number(value)
    if seconds is not None or not isinstance(value, str):
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < float("inf") else None
