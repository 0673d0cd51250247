# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What may be repeated of an error that came from elsewhere: a message can quote questions, answers or documents."""

import re
import traceback

_OURS = __name__.partition(".")[0]
_CORE = "haystack.core"
# Python's own words about a call; they hold names of parameters and nothing else.
_SIGNATURE = re.compile(
    r"[\w.<>]+\(\) (got an unexpected keyword argument '\w+'|missing \d+ required [\w', -]+|takes [\w ]+)"
    r"(\. Did you mean '\w+'\?)?"
)


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
    ours = _raised_in(error, _OURS) and (kind in (ValueError, TypeError) or _is_in(kind.__module__, _OURS))
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


def _first_raised(error: BaseException) -> BaseException:
    """The error whose message Haystack's core repeats in its own."""
    while error.__cause__ is not None and _raised_in(error, _CORE) and str(error.__cause__) in str(error):
        error = error.__cause__
    return error


def _raised_in(error: BaseException, package: str) -> bool:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and _is_in(str(frames[-1].f_globals.get("__name__")), package)


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
