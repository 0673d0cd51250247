# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of init parameters that every family needs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeGuard

from haystack_eval_ext._rows import describe

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_number(value: object) -> TypeGuard[int | float]:
    """
    Tell whether a value is a plain finite number, which YAML can hold; a bool or a numpy scalar is none.

    :param value: Any value.
    :returns: True for an int or a float that is neither NaN nor beyond the range of floats.
    """
    return type(value) in (int, float) and -sys.float_info.max <= value <= sys.float_info.max  # type: ignore[operator]


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """
    Refuse a parameter that is none of its choices.

    :param name: Name of the parameter.
    :param value: What was given.
    :param choices: What it can be.
    :raises ValueError: If it is something else.
    """
    if value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))}, but is {value!r}."
        raise ValueError(msg)


def check_flag(name: str, value: object) -> None:
    """
    Refuse a parameter that is neither True nor False.

    :param name: Name of the parameter.
    :param value: What came.
    :raises TypeError: If it is no bool.
    """
    if not isinstance(value, bool):
        msg = f"{name} must be True or False, but is {describe(value)}."
        raise TypeError(msg)


def shown(value: float) -> str:
    """
    A number, for an error message.

    :param value: Any number.
    :returns: Its digits, but for an integer beyond the range of floats, which Python may refuse to print.
    """
    return repr(value) if isinstance(value, float) or is_number(value) else "an integer beyond the range of floats"


def check_integer(name: str, value: object, *, minimum: int, maximum: int | None = None) -> None:
    """
    Refuse a parameter that is no integer, or out of range.

    :param name: Name of the parameter.
    :param value: What came.
    :param minimum: The smallest value that makes sense.
    :param maximum: The largest one; None: any that a float can hold.
    :raises TypeError: If it is no integer.
    :raises ValueError: If it is out of range.
    """
    allowed = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{name} must be an integer {'of ' * (maximum is None)}{allowed}, but is {describe(value)}."
        raise TypeError(msg)
    if value < minimum or not is_number(value) or (maximum is not None and value > maximum):
        msg = f"{name} must be {allowed}, but is {shown(value)}."
        raise ValueError(msg)
