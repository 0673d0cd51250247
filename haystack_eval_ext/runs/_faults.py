# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What may be repeated of an error that came from elsewhere: a message can quote questions, answers or documents."""

import os
import re
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

_OURS = __name__.partition(".")[0]
_CORE = "haystack.core"
# Python's own words about a call; they hold names of parameters and nothing else.
_SIGNATURE = re.compile(
    r"[\w.<>]+\(\) (got an unexpected keyword argument '\w+'|missing \d+ required [\w', -]+|takes [\w ]+)"
    r"(\. Did you mean '\w+'\?)?"
)

#: Follows on what is said in place of a message.
WITHHELD = "Its message may quote the data: --debug shows it (in Python the traceback, or the log at level DEBUG)."
_ACCIDENT = 12
_LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def safe_message(error: BaseException) -> str | None:
    """
    Give the message of an error if its author keeps users' texts out of messages.

    Those are this package and the core of Haystack, which speaks of components and sockets. Where the core passes on
    what a component raised, that error decides.

    :param error: An error that was raised.
    :returns: The message; None if it may quote anything.
    """
    error = _first_raised(error)
    kind, message = type(error), str(error)
    if kind is TypeError and _SIGNATURE.fullmatch(message):
        return message
    # The exact classes: UnicodeDecodeError and pydantic's errors are ValueErrors too, and quote what they were given.
    kinds = (ValueError, TypeError, ImportError, ModuleNotFoundError)
    ours = _raised_in(error, _OURS) and (kind in kinds or _is_in(kind.__module__, _OURS))
    core = _raised_in(error, _CORE) and (kind is ValueError or _is_in(kind.__module__, _CORE))
    return message if ours or core else None


def describe_fault(error: BaseException) -> str:
    """
    Say what went wrong, without any user's text.

    :param error: An error that was raised.
    :returns: Its message, or its class alone where the message may quote anything.
    """
    kind = type(_first_raised(error)).__name__
    return safe_message(error) or f"{kind}. Its message may quote the data, so only the traceback has it."


def located_fault(error: BaseException) -> str:
    """
    Say what went wrong in code of the user's, without any user's text, and where.

    :param error: An error that was raised.
    :returns: Its message, or its class and place where the message may quote anything.
    """
    kind = type(_first_raised(error)).__name__
    return safe_message(error) or f"{kind}. {raised_at(error)}. {WITHHELD}"


def describe_set_up_fault(error: BaseException, parameters: Any) -> str:
    """
    Say why something could not be made of its init parameters.

    :param error: An error that was raised.
    :param parameters: Plain init parameters. A message that repeats a text of theirs is withheld; the names of
        environment variables, as `Secret` has them, may be told.
    :returns: Its message, where it is of the kinds that tell a wrong value and quotes no text; else as
        :func:`describe_fault`.
    """
    first = _first_raised(error)
    message = " ".join(str(first).split())
    if (
        type(first) in (ValueError, TypeError)
        and message
        and not any(_share(message, text) for text in _texts(parameters))
    ):
        return message if message.endswith((".", "!", "?")) else f"{message}."
    return describe_fault(error)


def raised_at(error: BaseException) -> str:
    """
    Say where an error was raised.

    :param error: An error that was raised.
    :returns: "Raised at module:line" of the innermost call in code of the user's; where there is none, in any code but
        ours.
    """
    places = [
        (frame, line)
        for each in _causes(error)
        for frame, line in traceback.walk_tb(each.__traceback__)
        if not _is_in(_module(frame), _OURS)
    ]
    of_user = [(frame, line) for frame, line in places if not frame.f_code.co_filename.startswith((*_LIBRARIES, "<"))]
    if not places:
        return "Raised at an unknown place"
    frame, line = (of_user or places)[-1]
    return f"Raised at {_module(frame)}:{line}"


def _texts(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _texts(entry, str(key))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _texts(entry, name)
    elif isinstance(value, str) and name not in ("type", "env_vars"):
        yield value


def _share(message: str, text: str) -> bool:
    """Whether a message repeats a text, or a part of it that is no accident."""
    text = " ".join(text.split())
    if len(text) <= _ACCIDENT:
        return bool(text) and text in message
    return any(message[start : start + _ACCIDENT] in text for start in range(len(message) - _ACCIDENT + 1))


def _causes(error: BaseException) -> list[BaseException]:
    """The error, that which it was raised from, and so on to the root."""
    found = [error]
    while (cause := found[-1].__cause__) is not None and cause not in found:
        found.append(cause)
    return found


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _first_raised(error: BaseException) -> BaseException:
    """The error whose message Haystack's core repeats in its own."""
    while error.__cause__ is not None and _raised_in(error, _CORE) and str(error.__cause__) in str(error):
        error = error.__cause__
    return error


def _raised_in(error: BaseException, package: str) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and _is_in(_module(frames[-1]), package)


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
