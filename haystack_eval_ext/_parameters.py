# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of init parameters that every family needs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeGuard

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
