# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a service says in an error, by duck typing: its short identifiers, never its message, which may quote a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from haystack_eval_ext._calls import attribute, causes, http_status, name_of

# A name of a service's own. Long rows of digits are keys and numbers of accounts.
_IDENTIFIER = re.compile(r"(?!.*\d{6})[A-Za-z][A-Za-z0-9_.:/\[\]-]{0,63}")
_HTTP_ERRORS = range(400, 600)
# Keys of the code: of OpenAI, of Google's "INVALID_ARGUMENT", of Amazon.
_CODES = ("code", "status", "Code")
_INNER = ("innererror", "inner_error")
# Errors by which clients and generators trip over an answer with HTTP 200 that is no completion.
_STUMBLES = (TypeError, AttributeError, AssertionError)
# What clients and generators call the answer. A "response" may as well be the reply's text.
_ANSWERS = ("chat_completion", "completion", "raw_completion", "response")
_NEVER_TEXTS = _ANSWERS[:3]


class Said(NamedTuple):
    """
    What a service says.

    :param status: The HTTP status; of an error in an answer with HTTP 200 the status that stands in it.
    :param codes: Its codes, the general one first.
    :param param: The parameter that it names.
    :param type: The type of the error.
    """

    status: int | None = None
    codes: tuple[str, ...] = ()
    param: str | None = None
    type: str | None = None

    def __str__(self) -> str:
        """Its identifiers, each after a comma; empty if there are none."""
        parts = [f"code {' / '.join(self.codes)}"] if self.codes else []
        if self.param is not None:
            parts.append(f"parameter {self.param}")
        if self.type is not None and self.type not in self.codes:
            parts.append(f"type {self.type}")
        return "".join(f", {part}" for part in parts)


class Odd(NamedTuple):
    """
    An answer with HTTP 200 that is no completion.

    :param what: What it is instead, in words.
    :param said: What an error in it says.
    """

    what: str
    said: Said = Said()


def said_by(error: BaseException) -> Said:
    """
    Read what a service said from an exception and what it came from.

    :param error: What a generator raised.
    :returns: What it said; nothing if there is nothing to be read.
    """
    read = [_read(body) for one in causes(error) for body in _bodies(one)]
    stated = (said.status for said in read if said.status is not None)
    return _joined(read)._replace(status=http_status(error) or next(stated, None))


def odd_answer(error: BaseException) -> Odd | None:
    """
    Tell an answer with HTTP 200 over which a client or a generator stumbled, as proxies give it.

    :param error: What a generator raised.
    :returns: The answer; None if there is no sign of one, so that the fault may be the generator's own.
    """
    if isinstance(error, UnicodeDecodeError):
        return Odd("an answer that is no text in UTF-8")
    if isinstance(error, ValueError) and isinstance(body := getattr(error, "doc", None), str):
        return _text_answer(body)
    if not isinstance(error, _STUMBLES):
        return None
    for frame in _frames(error):
        for name, value in frame.f_locals.items():
            odd = None
            if name in _NEVER_TEXTS and isinstance(value, str):
                odd = _text_answer(value)
            elif name in _ANSWERS and not isinstance(value, str):
                odd = _empty_completion(value)
            if odd is not None:
                return odd
    return None


def hidden_cause(error: BaseException) -> tuple[list[str], BaseException] | None:
    """
    Find what a fallback of several generators met last, which its own error leaves out.

    :param error: What it raised when all had failed.
    :returns: The names of those that failed, and the last one's exception; None if this is no such error.
    """
    if error.__cause__ is not None or error.__context__ is not None:
        return None
    for frame in _frames(error):
        names, last = frame.f_locals.get("failed"), frame.f_locals.get("last_error")
        if isinstance(last, Exception) and last is not error and isinstance(names, list):
            return [name for name in names if isinstance(name, str) and name.isidentifier()], last
    return None


def in_words(error: BaseException, said: Said) -> str:
    """
    An exception by its class, its status and what the service said.

    :param error: The exception.
    :param said: What was said.
    :returns: Such as "HTTP 404 (NotFoundError), code model_not_found".
    """
    return f"{name_of(error) if said.status is None else f'HTTP {said.status} ({name_of(error)})'}{said}"


def _text_answer(text: str) -> Odd:
    if not text.strip():
        return Odd("an answer without content")
    if text.lstrip()[:1] == "<":
        return Odd("a web page in place of JSON, as of a proxy or at a wrong address")
    return Odd("an answer that is no JSON")


def _empty_completion(completion: Any) -> Odd | None:
    found = attribute(completion, "error")
    if isinstance(found, Mapping):
        said = _read(found)
        status = f" {said.status}" if said.status else ""
        return Odd(f"an error{status} in an answer with HTTP 200{said}", said)
    choices = getattr(completion, "choices", ())
    if choices is None or choices == []:
        return Odd("a completion without choices")
    if isinstance(choices, list) and getattr(choices[0], "message", completion) is None:
        return Odd("a completion without a message")
    return None


def _frames(error: BaseException) -> list[FrameType]:
    """Where an exception passed, from the inside on."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        found.append(trace.tb_frame)
        trace = trace.tb_next
    return found[::-1]


def _bodies(error: BaseException) -> Iterator[Mapping[str, Any]]:
    """The places where clients keep what was said: OpenAI's on the exception itself, others' in a body or response."""
    yield {name: attribute(error, name) for name in ("code", "param", "type", "status")}
    response = attribute(error, "response")
    given = [attribute(error, "body"), attribute(error, "details"), response]
    read = attribute(response, "json")
    if callable(read):
        with suppress(Exception):  # of whatever client: not read yet, no JSON
            given.append(read())
    for one in given:
        body = one[0] if isinstance(one, list) and one else one
        if isinstance(body, Mapping):
            inner = body.get("error", body.get("Error", body))
            yield inner if isinstance(inner, Mapping) else body
            about = body.get("ResponseMetadata")  # of Amazon
            if isinstance(about, Mapping):
                yield {"code": about.get("HTTPStatusCode")}


def _read(body: Mapping[str, Any]) -> Said:
    codes = [body.get(name) for name in _CODES]
    numbers = (int(code) for code in codes if isinstance(code, int | str) and str(code).isdecimal())
    status = next((number for number in numbers if number in _HTTP_ERRORS), None)
    inner: Any = next((body[name] for name in _INNER if isinstance(body.get(name), Mapping)), {})
    param, kind = body.get("param"), body.get("type")
    detail = body.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):  # of FastAPI
        place = detail[0].get("loc")
        param = place[-1] if isinstance(place, list | tuple) and place else None
        codes.append(detail[0].get("type"))
    return Said(status, _identifiers(*codes, inner.get("code")), *(_identifier(part) for part in (param, kind)))


def _joined(read: list[Said]) -> Said:
    codes = dict.fromkeys(code for said in read for code in said.codes)
    param = next((said.param for said in read if said.param), None)
    return Said(None, tuple(codes), param, next((said.type for said in read if said.type), None))


def _identifiers(*values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found for value in values if (found := _identifier(value)) is not None))


def _identifier(value: Any) -> str | None:
    # Gateways write what is absent as a word.
    named = isinstance(value, str) and value.casefold() not in ("none", "null") and _IDENTIFIER.fullmatch(value)
    return value if named else None
