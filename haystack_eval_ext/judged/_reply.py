# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From a judge's text to the JSON value in it: fences, prose, thoughts and small slips are no reason to lose a row."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from haystack_eval_ext._thoughts import THOUGHT_TAG, without_channels
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._failures import ReplyError, ThoughtsOnlyError
from haystack_eval_ext.judged._forms import VERDICT_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_T = TypeVar("_T")

_AROUND = " \t\r\n\ufeff"
_FENCED = re.compile(r"\A```\w*\s+(.*?)\s*```\Z", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
# What an object or a list of objects or texts begins with; other brackets are prose, such as "[0, 1)" or "{name}".
_BEGINS_JSON = re.compile(r"""\{\s*["'}]|\[\s*[\[{"'\]]""")
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')|(?P<open>[{\[])|(?P<close>[}\]])"""
    r"""|(?P<comma>,)|(?P<word>[A-Za-z_]+)|(?P<quote>["'])|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL,
)
# A verdict in words, as the whole reply.
_STATED = re.compile(rf"[*_`]*({'|'.join(VERDICT_NAMES)})[*_`]*\s*[:：=]\s*([^\s:：=][^\n:：={{\[]*)", re.IGNORECASE)
# Under which names an answer may be wrapped, and in how many layers.
_WRAPPERS = frozenset(
    ("answer", "data", "evaluation", "final", "final_answer", "json", "judgement", "judgment", "output", "reply",
     "response", "result")
)  # fmt: skip
_MOST_LAYERS = 3
_CONTRADICTS = "it held several answers that contradict each other"
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
# A reply is one object with some prose around it. Whoever writes hundreds is not understood by trying them all.
_MOST_VALUES = 50
_LONGEST = 200_000


def read_reply(text: str | None, read: Callable[[Any], _T]) -> _T:
    """
    Find the JSON value of a reply and read it.

    Of several values that can be read all must say the same: a draft and its correction are no clear answer.

    :param text: The reply's text.
    :param read: Takes a JSON value, gives what it says, and raises ReplyError if it does not have the expected form.
    :returns: What the reply says.
    :raises ReplyError: If there is no such value, or several that contradict each other.
    """
    whole, text = text or "", without_channels(text or "")
    if not text.strip():
        if whole.strip():
            raise ThoughtsOnlyError
        msg = "it was empty"
        raise ReplyError(msg)
    if len(text) > _LONGEST:
        msg = "it was far too long"
        raise ReplyError(msg)
    readings: list[_T] = []
    fault: ReplyError | None = None
    for value in _candidates(text):
        try:
            reading = _read_inside(value, read)
        except ReplyError as error:
            fault = fault or error
            continue
        if reading not in readings:
            readings.append(reading)
    if len(readings) > 1:
        raise ReplyError(_CONTRADICTS)
    if not readings:
        raise fault or ReplyError("it held no JSON object")
    return readings[0]


def _read_inside(value: Any, read: Callable[[Any], _T]) -> _T:
    """Read a value, or if that fails what it is only the wrapping of."""
    try:
        reading = read(value)
    except ReplyError:
        for inner in _unwrapped(value):
            with suppress(ReplyError):
                return read(inner)
        raise
    inner = _wrapped(value)
    if inner is not None:
        try:
            other = read(inner)
        except ReplyError:
            return reading
        if other != reading:
            raise ReplyError(_CONTRADICTS)
    return reading


def _unwrapped(value: Any) -> Iterator[Any]:
    """What stands in a value alone, layer by layer: under a name that says nothing, in a list, as JSON in a text."""
    for _ in range(_MOST_LAYERS):
        if isinstance(value, dict):
            value = {name: _decoded(part) for name, part in value.items()}
            yield value
            value = _wrapped(value)
        elif isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        else:
            value = _decoded(value)
        if not isinstance(value, dict | list):
            return
        yield value


def _wrapped(value: Any) -> Any:
    """What an object has under a name that says nothing; None if there is no such object or list, or several."""
    parts = [
        part
        for name, part in (value.items() if isinstance(value, dict) else ())
        if isinstance(part, dict | list) and name.strip(_AROUND).casefold() in _WRAPPERS
    ]
    return parts[0] if len(parts) == 1 else None


def _decoded(value: Any) -> Any:
    """What a text holds, if that is an object or a list as JSON writes it; else the value."""
    if not isinstance(value, str) or not _BEGINS_JSON.match(value.strip(_AROUND)):
        return value
    try:
        # An empty one says nothing.
        return _DECODER.decode(value.strip(_AROUND)) or value
    except (ValueError, RecursionError):
        return value


def _candidates(text: str) -> Iterable[Any]:
    for whole in (text.strip(_AROUND), _FENCED.sub(r"\1", text.strip(_AROUND))):
        # Nothing around it: then what looks like a thought is part of a text in it.
        try:
            return [_DECODER.decode(whole)]
        except (ValueError, RecursionError):
            pass
        if _BEGINS_JSON.match(whole):
            repaired, end = _repaired(whole, 0)
            try:
                if end == len(whole):
                    return [_DECODER.decode(repaired)]
            except (ValueError, RecursionError):
                pass
    rest = _without_thoughts(text)
    if rest is not text and not rest.strip():
        raise ThoughtsOnlyError
    stated = _STATED.fullmatch(rest.strip())
    if stated is not None:
        return [{stated[1]: stated[2]}]
    return _values(rest)


def _without_thoughts(text: str) -> str:
    if THOUGHT_TAG.search(text) is None:
        return text
    kept: list[str] = []
    position = 0
    begins: int | None = None
    for tag in THOUGHT_TAG.finditer(text):
        if not tag[1]:
            if begins is None:
                kept.append(text[position : tag.start()])
                begins = tag.start()
            continue
        if begins is None:
            # Some servers cut the opening tag off.
            kept.clear()
        begins, position = None, tag.end()
    if begins is None:
        kept.append(text[position:])
    elif any("{" in part for part in kept):
        kept.append(text[begins:])
    else:
        raise ThoughtsOnlyError
    return " ".join(kept)


def _values(text: str) -> Iterator[Any]:
    """The JSON objects and lists that stand in a text side by side."""
    position = 0
    for _ in range(_MOST_VALUES):
        start = _OPENING.search(text, position)
        if start is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if not _BEGINS_JSON.match(text, start.start()):
                # The answer may come later, even inside.
                position = start.end()
                continue
            repaired, end = _repaired(text, start.start())
            try:
                value, position = _DECODER.decode(repaired), end
            except (ValueError, RecursionError):
                if end < 0:
                    msg = "its JSON was cut off"
                    raise ReplyError(msg) from None
                position = end
                continue
        yield value


def _repaired(text: str, start: int) -> tuple[str, int]:
    """
    The balanced part of a text from an opening bracket on, as JSON would write it, and where it ends (-1: cut off).

    Python's quotes and words, and commas before a closing bracket, are put right; nothing is added: what is cut off
    stays unreadable.
    """
    parts: list[str] = []
    depth = 0
    comma = -1  # place of a comma that nothing but white space followed so far
    for match in _TOKEN.finditer(text, start):
        kind, token = match.lastgroup, match[0]
        if kind == "single":
            token = json.dumps(token[1:-1].replace("\\'", "'"), ensure_ascii=False)
        elif kind == "word":
            token = _PYTHON_WORDS.get(token, token)
        elif kind == "close" and comma >= 0:
            parts[comma] = ""
        parts.append(token)
        if kind == "comma":
            comma = len(parts) - 1
        elif kind != "space":
            comma = -1
        depth += (kind == "open") - (kind == "close")
        if depth == 0:
            return "".join(parts), match.end()
    return "".join(parts), -1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            msg = "it named a key twice with different values"
            raise ReplyError(msg)
        found[name] = value
    return found


def _refuse_constant(_name: str) -> Any:
    msg = "NaN and Infinity are no JSON"
    raise InvalidValueError(msg)


# strict=False: line breaks inside strings, which small models write, are read as such.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant, strict=False)
