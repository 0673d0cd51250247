# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What an entry of docs/differences.md says, for the tables of all families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Difference(NamedTuple):
    """What to run on one side ("stock", "ours"), and what comes of it on both."""

    observe: Callable[[str], list[str]]
    stock: list[str]
    ours: list[str]
    columns: list[str]


def built_in(error: BaseException) -> str:
    """The class of Python's own that an error is, which is what stock's callers catch."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def shown(call: Callable[[], Any]) -> str:
    """A result as the document prints it: four decimals, or the type of the error."""
    try:
        values = call()
    except (ValueError, TypeError, AttributeError) as error:
        return built_in(error)
    return str([round(value, 4) for value in values]) if isinstance(values, list) else str(values)
