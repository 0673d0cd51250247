# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of init parameters that every family needs."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from haystack_eval_ext._batches import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


def plain(value: Any) -> Any:
    """
    Bring a number of numpy, pandas or torch into Python's own types, which YAML and JSON can hold.

    :param value: Any value.
    :returns: ``3`` for ``np.int64(3)``; of a list or dictionary one with plain entries; anything else as it is.
    """
    if isinstance(value, list):
        return [plain(entry) for entry in value] if any(map(_holds_others, value)) else value
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()} if any(map(_holds_others, value.values())) else value
    return value.item() if _is_scalar(value) else value


def _is_scalar(value: Any) -> bool:
    return getattr(value, "shape", None) == () and callable(getattr(value, "item", None))


def _holds_others(value: Any) -> bool:
    return _is_scalar(value) or isinstance(value, list | dict)


class PlainParameters:
    """
    A component that is made of its init parameters, each kept as the attribute of that name.

    They may be numbers of numpy: these are made Python's before anything checks them. A parameter that is set later is
    taken over by the next run, as if the component had been made with it.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    # The parameters that the component was made with; of a subclass elsewhere those of the class of ours.
    _made_with: Mapping[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Wrap the class's own ``__init__``; ``@component`` makes the class a second time, with the wrapped one."""
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("__init__")
        if own is not None and not hasattr(own, "takes_plain"):
            cls.__init__ = _with_plain(own)  # type: ignore[method-assign]

    def _parameter(self, name: str) -> Any:
        """An init parameter as it is now."""
        return getattr(self, name)

    def _follow(self) -> None:
        """
        Take over what was set on the component since it was made.

        :raises ValueError: If a parameter has no such value, as on construction.
        :raises TypeError: If a parameter is of the wrong type, as on construction.
        """
        if self._made_with is None:
            return
        now = {name: self._parameter(name) for name in self._made_with}
        if any(now[name] is not value for name, value in self._made_with.items()):
            inits: Iterator[Any] = (vars(cls).get("__init__") for cls in type(self).__mro__)
            next(filter(_is_ours, inits))(self, **now)


def _is_ours(init: Any) -> bool:
    return getattr(init, "__module__", "").partition(".")[0] == __name__.partition(".")[0]


def _with_plain(init: Callable[..., None]) -> Callable[..., None]:
    names = [name for name in inspect.signature(init).parameters if name != "self"]

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes that one's place
        init(self, *map(plain, args), **{name: plain(value) for name, value in kwargs.items()})
        if _is_ours(init):
            # The outermost comes last.
            self._made_with = {name: self._parameter(name) for name in names}

    vars(__init__)["takes_plain"] = True
    return __init__


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
        raise InvalidValueError(msg)


def check_flag(name: str, value: object) -> None:
    """
    Refuse a parameter that is neither True nor False.

    :param name: Name of the parameter.
    :param value: What came.
    :raises TypeError: If it is no bool.
    """
    if not isinstance(value, bool):
        msg = f"{name} must be True or False, but is {describe(value)}."
        raise InvalidTypeError(msg)


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
        raise InvalidTypeError(msg)
    if value < minimum or not is_number(value) or (maximum is not None and value > maximum):
        msg = f"{name} must be {allowed}, but is {shown(value)}."
        raise InvalidValueError(msg)
