# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of init parameters that every family needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_number(value: object) -> TypeGuard[int | float]:
    """
    Tell whether a value is a finite number; a bool is none.

    :param value: Any value.
    :returns: True for an int or a float that is neither NaN nor infinite.
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
