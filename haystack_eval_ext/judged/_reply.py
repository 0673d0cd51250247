# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From a judge's text to the JSON value in it: fences, prose, thoughts and small slips are no reason to lose a row."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from haystack_eval_ext._thoughts import THOUGHT_TAG, without_channels
from haystack_eval_ext.judged._failures import ReplyError

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
    text = without_channels(text or "")
    if not text.strip():
        msg = "it was empty"
        raise ReplyError(msg)
    if len(text) > _LONGEST:
        msg = "it was far too long"
        raise ReplyError(msg)
    readings: list[_T] = []
    fault: ReplyError | None = None
    for value in _candidates(text):
        try:
            reading = read(value)
        except ReplyError as error:
            fault = fault or error
            continue
        if reading not in readings:
            readings.append(reading)
    if len(readings) > 1:
        msg = "it held several answers that contradict each other"
        raise ReplyError(msg)
    if not readings:
        raise fault or ReplyError("it held no JSON object")
    return readings[0]


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
    return _values(_without_thoughts(text))


def _without_thoughts(text: str) -> str:
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
        msg = "it ended before the answer began"
        raise ReplyError(msg)
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
    raise ValueError(msg)


# strict=False: line breaks inside strings, which small models write, are read as such.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant, strict=False)
