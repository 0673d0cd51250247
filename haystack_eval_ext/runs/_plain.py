# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Values of a running pipeline as plain JSON: whole for documents, shortened for what is only looked at."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage

SHOWN_CHARACTERS = 1000
_SHOWN_ENTRIES = 20


def plain(value: Any) -> Any:
    """
    Make a value plain.

    :param value: Anything, such as the meta of a Document.
    :returns: What strict JSON can hold. NaN and infinities become None, what JSON does not know its text.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | Set):
        return [plain(entry) for entry in value]
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:  # a number of numpy
        return plain(item())
    return str(value)


def plain_document(document: Document) -> dict[str, Any]:
    """
    Make a Document plain.

    :param document: The Document.
    :returns: Its JSON form, meta apart, without embeddings and blob, which would be most of a file of rows.
    """
    return {
        "id": document.id,
        "content": document.content,
        "meta": plain(document.meta),
        "score": plain(document.score),
    }


def json_line(value: Any) -> str:
    r"""
    Write a value on one line.

    :param value: A plain value, as :func:`plain` gives it.
    :returns: Strict JSON ending in a line break. Non-ASCII stays readable unless a text holds a lone surrogate.
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, allow_nan=False)
    return text + "\n"


def shown(value: Any) -> Any:
    """
    Shorten a value to what a reader needs to follow what went in or out.

    :param value: What a socket got or gave.
    :returns: None, a truth value or a number as it is; else a text of about `SHOWN_CHARACTERS` at most.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return plain(value)
    text = _text(value, depth=0)
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}... ({len(text):,} characters)"


def _text(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Document):
        return f"Document {value.id}"
    if isinstance(value, ChatMessage):
        calls = "".join(f" [calls {call.tool_name} {_text(call.arguments, depth + 1)}]" for call in value.tool_calls)
        return f"{value.role.value}: {value.text or ''}{calls}"
    if isinstance(value, bytes | bytearray):
        return f"{len(value):,} bytes"
    if depth > 3:  # noqa: PLR2004 - deep enough to read
        return type(value).__name__
    if isinstance(value, Mapping):
        entries = [f"{key}: {_text(entry, depth + 1)}" for key, entry in list(value.items())[:_SHOWN_ENTRIES]]
        return "{" + ", ".join(entries) + _rest(value) + "}"
    if isinstance(value, Sequence) and not isinstance(value, range):
        if len(value) > _SHOWN_ENTRIES and isinstance(value[0], float):
            return f"{len(value):,} numbers"
        return "[" + ", ".join(_text(entry, depth + 1) for entry in value[:_SHOWN_ENTRIES]) + _rest(value) + "]"
    if value is None or isinstance(value, int | float):
        return str(value)
    data = getattr(value, "data", None)  # the text of an answer
    return data if isinstance(data, str) else type(value).__name__


def _rest(value: Mapping[Any, Any] | Sequence[Any]) -> str:
    more = len(value) - _SHOWN_ENTRIES
    return f", ... ({more:,} more)" if more > 0 else ""
