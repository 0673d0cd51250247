# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a failed call means: worth another try, lost for this row, or the end of the run."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOO_MANY_REQUESTS = 429
_FORBIDDEN = 403
_NO_ACCESS = frozenset((401, 402))
_PASSING = frozenset((408, 409, 425, _TOO_MANY_REQUESTS))
_SERVER_ERRORS = range(500, 600)
# Mistakes in the generator or its parameters: the next call would end the same way.
_MISTAKES = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, ImportError)
_NETWORK = ("Connect", "Timeout", "ReadError", "WriteError", "ProtocolError", "NetworkError", "PoolTimeout")
# A chain of causes is short; a cyclic one must end.
_LONGEST_CHAIN = 20


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
    """The budget is spent: the row is left for a later run."""


@dataclass(frozen=True)
class Failure:
    """
    What an exception of a generator means.

    :param kind: "passing" is worth another try, "final" is not, "stop" ends the run, since no call can succeed.
    :param reason: Its class and HTTP status, in words.
    :param retry_after: Seconds that the service asked to wait, if it did.
    :param limited: Whether the service only asked to slow down.
    """

    kind: Literal["passing", "final", "stop"]
    reason: str
    retry_after: float | None = None
    limited: bool = False


def classify(error: BaseException, *, served_before: bool) -> Failure:
    """
    Tell what an exception of a generator means, by duck typing: any provider's client may have raised it.

    :param error: The exception.
    :param served_before: Whether the service answered a call of this run. If so, "forbidden" concerns the one text, as
        a moderation filter's 403 does, and not the account.
    :returns: The failure.
    """
    chain = list(_chain(error))
    status = next(filter(None, map(_status, chain)), None)
    reason = type(error).__name__ if status is None else f"HTTP {status} ({type(error).__name__})"
    if status is None:
        network = any(isinstance(one, OSError | asyncio.TimeoutError | EOFError) for one in chain) or any(
            part in type(one).__name__ for one in chain for part in _NETWORK
        )
        # A body that is no JSON is a broken answer of a proxy, though Python counts it as a ValueError.
        mistake = isinstance(error, _MISTAKES) and not isinstance(error, json.JSONDecodeError) and not network
        return Failure("final" if mistake else "passing", reason)
    if status in _NO_ACCESS or (status == _FORBIDDEN and not served_before) or _quota_is_used_up(chain):
        return Failure("stop", reason)
    if status in _PASSING or status in _SERVER_ERRORS:
        retry_after = next((wait for one in chain if (wait := _retry_after(one)) is not None), None)
        return Failure("passing", reason, retry_after, limited=status == _TOO_MANY_REQUESTS)
    return Failure("final", reason)


def refuses_response_format(error: BaseException) -> bool:
    """
    Whether a server may have refused the way in which the form of the reply was asked for.

    :param error: The exception.
    :returns: True for the HTTP statuses 400, 415, 422 and 501, which say that a request is malformed or unknown.
    """
    return next(filter(None, map(_status, _chain(error))), None) in (400, 415, 422, 501)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "http_status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:  # noqa: PLR2004 - HTTP's errors
                return value
    return None


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
