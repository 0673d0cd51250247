# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a failed call means: worth another try, lost for this row, or the end of the run."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from haystack_eval_ext._calls import causes, http_status, name_of

_TOO_MANY_REQUESTS = 429
_FORBIDDEN = 403
_NO_ACCESS = frozenset((401, 402))
_PASSING = frozenset((408, 409, 425, _TOO_MANY_REQUESTS))
_SERVER_ERRORS = range(500, 600)
# Mistakes in the generator or its parameters: the next call would end the same way.
_MISTAKES = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, ImportError)
_NETWORK = ("Connect", "Timeout", "ReadError", "WriteError", "ProtocolError", "NetworkError", "PoolTimeout")
# The module that calls generators.
_CALLER = "haystack_eval_ext.judged._generator"
# A proxy's page or an empty completion reaches a client as one of these: so does a mistake.
_ODD_ANSWERS = (TypeError, AttributeError)
# A body that is no JSON or no UTF-8 is a broken answer of a proxy, though Python counts these as ValueErrors.
_BROKEN_BODIES = (json.JSONDecodeError, UnicodeDecodeError)
# What to do about a failure that no other attempt mends.
_ADVICE: dict[int | str, str] = {
    400: "perhaps the request is too long for the model, or the server takes none of its parameters",
    404: "check the generator's model and address",
    413: "the request is too long for the service",
    422: "perhaps the server does not take one of the generator's parameters",
    "mistake": "call chat_generator.run alone to see the error",
}


class JudgeError(Exception):
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


class TruncatedReplyError(JudgeError):
    """A reply cut off at the token limit, which the same request would meet again."""


class NotRunError(JudgeError):
    """A row that is not asked about: it lacks what the metric needs, or the budget is spent."""


@dataclass(frozen=True)
class Failure:
    """
    What an exception of a generator means.

    :param kind: "passing" is worth another try, "final" is not, "stop" ends the run, since no call can succeed.
    :param reason: Its class and HTTP status, in words.
    :param retry_after: Seconds that the service asked to wait, if it did.
    :param limited: Whether the service only asked to slow down.
    :param odd: Whether it may as well be a mistake, which a few attempts more will show.
    """

    kind: Literal["passing", "final", "stop"]
    reason: str
    retry_after: float | None = None
    limited: bool = False
    odd: bool = False


def classify(error: BaseException, *, served_before: bool) -> Failure:
    """
    Tell what an exception of a generator means, by duck typing: any provider's client may have raised it.

    A TypeError or AttributeError is a mistake if it was raised by the call itself, which a signature refuses. From
    inside the generator it may be the work of a proxy, whose answer had no choices or was a page.

    :param error: The exception.
    :param served_before: Whether the service answered a call of this run. If so, "forbidden" concerns the one text, as
        a moderation filter's 403 does, and not the account.
    :returns: The failure.
    """
    chain = list(causes(error))
    status = http_status(error)
    reason = name_of(error) if status is None else f"HTTP {status} ({name_of(error)})"
    if status is None:
        network = any(isinstance(one, OSError | asyncio.TimeoutError | EOFError) for one in chain) or any(
            part in type(one).__name__ for one in chain for part in _NETWORK
        )
        broken = isinstance(error, _BROKEN_BODIES)
        final = isinstance(error, _MISTAKES) and not broken and not network
        odd = isinstance(error, _ODD_ANSWERS) and _was_inside(error)
        if final and not odd:
            return Failure("final", mistake(reason))
        return Failure("passing", reason, odd=odd)
    if status in _NO_ACCESS or (status == _FORBIDDEN and not served_before) or _quota_is_used_up(chain):
        return Failure("stop", reason)
    if status in _PASSING or status in _SERVER_ERRORS:
        retry_after = next((wait for one in chain if (wait := _retry_after(one)) is not None), None)
        return Failure("passing", reason, retry_after, limited=status == _TOO_MANY_REQUESTS)
    return Failure("final", f"{reason}; {_ADVICE[status]}" if status in _ADVICE else reason)


def mistake(reason: str) -> str:
    """
    The reason of a failure that turned out to be a mistake.

    :param reason: Its class.
    :returns: The reason, and what to do.
    """
    return f"{reason}; {_ADVICE['mistake']}"


def refuses_response_format(error: BaseException) -> bool:
    """
    Whether a server may have refused the way in which the form of the reply was asked for.

    :param error: The exception.
    :returns: True for the HTTP statuses 400, 415, 422 and 501, which say that a request is malformed or unknown.
    """
    return http_status(error) in (400, 415, 422, 501)


def _was_inside(error: BaseException) -> bool:
    """Whether an exception came from below our own call of the generator."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") != _CALLER


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    get = getattr(headers, "get", None)
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


def _quota_is_used_up(chain: list[BaseException]) -> bool:
    """OpenAI says "too many requests" also when there is no credit left."""
    codes = [getattr(one, "code", None) for one in chain]
    codes += [body.get("code") for one in chain if isinstance(body := getattr(one, "body", None), dict)]
    return "insufficient_quota" in codes
