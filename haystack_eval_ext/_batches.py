# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts as a list of rows: every sequence that is no text, whatever package made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from haystack_eval_ext.errors import InvalidTypeError

_AS_THEY_ARE = (list, str, bytes, bytearray, memoryview, Mapping, Set)
# How numpy, pandas and torch, polars, and Arrow call the way to a list. By name, so that none of them is imported.
_TO_LIST = ("tolist", "to_list", "to_pylist")


def describe(value: object) -> str:
    """
    What came, in words for an error message: its type, never its text.

    :param value: Any value of a user.
    :returns: For example ``"None"``, ``"a str"``, ``"an int"``.
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def as_list(value: Any) -> Any:
    """
    Make a list of a sequence that is no text.

    ```python
    from haystack_eval_ext._batches import as_list

    print(as_list(("a", "b")), as_list("ab"))
    # ['a', 'b'] ab
    ```

    :param value: A tuple, an array, a Series, a data set's column; or anything else.
    :returns: A list, whose elements are as they were; a list, and what is no sequence, as it is.
    """
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, Sequence):
        return list(value)
    for name in _TO_LIST:
        if callable(method := getattr(value, name, None)):
            found = method()
            return found if isinstance(found, list) else value
    return value


def rows_of(name: str, value: Any, expected: str) -> list[Any]:
    """
    Take the rows of a socket.

    :param name: The socket.
    :param value: What it was given.
    :param expected: What the list holds, for the message: "with one text per question".
    :returns: The rows.
    :raises TypeError: If it is no sequence; the message says how to make one of it.
    """
    rows = as_list(value)
    if not isinstance(rows, list):
        msg = f"{name} must be a list {expected}, but is {describe(value)}.{remedy(value)}"
        raise InvalidTypeError(msg)
    return rows


def remedy(value: Any) -> str:
    """
    Say how a list is made of something that is none.

    :param value: What came.
    :returns: A sentence that starts with a blank; empty where nothing is to be said.
    """
    if isinstance(value, Mapping):
        return " Give its values as a list: list(x.values())."
    if isinstance(value, Set):
        return " A set has no order of rows: give a list."
    if isinstance(value, Iterator):
        return " It can be read only once: give list(x)."
    if hasattr(value, "columns"):
        return " Of a table, give one column."
    if isinstance(value, str):
        return " Put a single text into a list: [x]."
    return ""
