# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From a judge's text to the JSON value in it: fences, prose, thoughts and small slips are no reason to lose a row."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from haystack_eval_ext.judged._failures import ReplyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r".*</(?:think|thinking|thought|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_TOKEN = re.compile(
    r"""(?P<double>"(?:[^"\\]|\\.)*")|(?P<single>'(?:[^'\\]|\\.)*')|(?P<open>[{\[])|(?P<close>[}\]])"""
    r"""|(?P<comma>,)|(?P<word>[A-Za-z_]+)|(?P<quote>["'])|(?P<space>\s+)|(?P<other>.)""",
    re.DOTALL,
)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
# A reply is one object with some prose around it. Whoever writes hundreds is not understood by trying them all.
_MOST_VALUES = 50
_LONGEST = 2_000_000


def read_reply(text: str | None, read: Callable[[Any], _T]) -> _T:
    """
    Find the JSON value of a reply and read it.

    Of several values that can be read all must say the same: a draft and its correction are no clear answer.

    :param text: The reply's text.
    :param read: Takes a JSON value, gives what it says, and raises ReplyError if it does not have the expected form.
    :returns: What the reply says.
    :raises ReplyError: If there is no such value, or several that contradict each other.
    """
    if text is None or not text.strip():
        msg = "it was empty"
        raise ReplyError(msg)
    if len(text) > _LONGEST:
        msg = "it was far too long"
        raise ReplyError(msg)
    readings: list[_T] = []
    fault: ReplyError | None = None
    for value in _values(_without_thoughts(text)):
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


def _without_thoughts(text: str) -> str:
    text = _THOUGHT.sub(" ", text)
    # Some servers cut the opening tag off.
    text = _THOUGHT_ENDS.sub(" ", text, count=1)
    begins = _THOUGHT_BEGINS.search(text)
    if begins and "{" not in text[: begins.start()]:
        msg = "it ended before the answer began"
        raise ReplyError(msg)
    return text


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
            repaired, position = _repaired(text, start.start())
            try:
                value = _DECODER.decode(repaired)
            except (ValueError, RecursionError):
                # Brackets in prose, such as "[1]" or "{placeholder}", are no JSON: the answer may come later.
                continue
        yield value


def _repaired(text: str, start: int) -> tuple[str, int]:
    """
    The balanced part of a text from an opening bracket on, as JSON would write it, and where it ends.

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
    msg = "its JSON was cut off"
    raise ReplyError(msg)


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
