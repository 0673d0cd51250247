# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of init parameters that several answer evaluators have."""

from typing import Any, get_args

from haystack_eval_ext._rows import describe


def check_choice(name: str, value: object, choices: Any) -> None:
    """
    Refuse a parameter that is none of the words it may be.

    :param name: Name of the parameter.
    :param value: What came.
    :param choices: A Literal.
    :raises ValueError: If it is none of the Literal's words.
    """
    if value not in get_args(choices):
        msg = f"{name} must be one of {', '.join(map(repr, get_args(choices)))}, but is {value!r}."
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


def check_integer(name: str, value: object, *, minimum: int) -> None:
    """
    Refuse a parameter that is no integer, or too small.

    :param name: Name of the parameter.
    :param value: What came.
    :param minimum: The smallest value that makes sense.
    :raises TypeError: If it is no integer.
    :raises ValueError: If it is too small.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{name} must be an integer of at least {minimum}, but is {describe(value)}."
        raise TypeError(msg)
    if value < minimum:
        msg = f"{name} must be at least {minimum}, but is {value}."
        raise ValueError(msg)
