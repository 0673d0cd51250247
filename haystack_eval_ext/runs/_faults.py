# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
What is told of an error that came from elsewhere; the one place that decides it.

| phase    | what raised it                                        | shown             | stored            |
|----------|-------------------------------------------------------|-------------------|-------------------|
| set-up   | importing, making, loading, checking: no question yet | its message       | nothing to store  |
| question | a RAG pipeline or code of the user's at a question    | with texts        | with texts        |
| judge    | a judge's service                                     | never             | with texts        |

Where texts are not wanted (`texts=False`, `--no-texts`), class and place stand in for a message.
"""

from __future__ import annotations

import re
import sysconfig
import traceback
from contextlib import contextmanager
from contextvars import ContextVar
from os import sep
from typing import TYPE_CHECKING, Literal

from haystack.core.errors import PipelineRuntimeError

from haystack_eval_ext._calls import causes, http_status
from haystack_eval_ext._foreign import repeated
from haystack_eval_ext.errors import HaystackEvalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType
    from typing import Any

Phase = Literal["set-up", "question", "judge"]

_OURS = __name__.partition(".")[0]
_CORE = "haystack.core"
_LIBRARIES = tuple({sysconfig.get_path(name) + sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
# Python's own words about parameters that a call gets wrong, as one of a YAML file that a class does not have.
_CALL = re.compile(r"\(\) (got an unexpected keyword argument|missing \d+ required|takes )")
_WITH_TEXTS: ContextVar[bool] = ContextVar("with_texts", default=True)


@contextmanager
def texts_wanted(wanted: bool) -> Iterator[None]:
    """
    Say for a while whether texts may be shown and kept; threads that copy the context know it as well.

    :param wanted: What the user says; False holds also where a call within says True.
    :returns: A context.
    """
    token = _WITH_TEXTS.set(wanted and _WITH_TEXTS.get())
    try:
        yield
    finally:
        _WITH_TEXTS.reset(token)


def shows(phase: Phase) -> bool:
    """
    Tell whether messages of a phase are shown.

    :param phase: When the error was raised.
    :returns: True if its message is shown.
    """
    return phase == "set-up" or (phase == "question" and _WITH_TEXTS.get())


def stores(phase: Phase) -> bool:
    """
    Tell whether messages of a phase are kept with a run.

    :param phase: When the error was raised.
    :returns: True if its message is kept.
    """
    return phase != "set-up" and _WITH_TEXTS.get()


def describe_fault(error: BaseException, phase: Phase) -> str:
    """
    Say what went wrong.

    :param error: An error that was raised.
    :param phase: When it was raised.
    :returns: A sentence: its message where the phase shows it, else its class; and where in code of the user's it was
        raised, if it was.
    """
    first = _first_raised(error)
    if is_ours(error, phase):
        return _ours_or_core(first)
    message = message_of(error) if shows(phase) or _is_import(first) else ""
    kind = type(first).__name__
    # ValueError and TypeError say in words what is wrong with a value; a KeyError says the key alone.
    what = message if message and type(first) in (ValueError, TypeError) else f"{kind}: {message}" if message else kind
    place = raised_at(error, of_user=not (phase == "question" and not message))
    return " ".join(filter(None, (_sentence(what), place)))


def is_withheld(error: BaseException, phase: Phase) -> bool:
    """
    Tell whether the message of an error is left out.

    :param error: An error that was raised.
    :param phase: When it was raised.
    :returns: True if :func:`describe_fault` tells its class and place alone.
    """
    return not (is_ours(error, phase) or shows(phase) or _is_import(_first_raised(error)))


def record_of(error: BaseException) -> dict[str, Any]:
    """
    Write down why a question failed.

    :param error: What was raised at it.
    :returns: `class`, `component`, `reason`, which holds no text, and with texts `message`: what another program said.
    """
    component = error.component_name if isinstance(error, PipelineRuntimeError) else None
    cause = error.__cause__ if component is not None and error.__cause__ is not None else error
    found: dict[str, Any] = {"class": type(cause).__name__, "component": component}
    if is_ours(error, "question"):
        return found | {"reason": _ours_or_core(_first_raised(error)) + _status(cause)}
    message = message_of(error) if stores("question") else ""
    reason = raised_at(error) + _status(cause)
    return found | {"reason": reason} | ({"message": message} if message else {})


def told(fault: Mapping[str, Any]) -> str:
    """
    Say why a question failed.

    :param fault: The `error` of its record.
    :returns: "Class in component: message", and the reason.
    """
    where = f" in {fault['component']}" if fault.get("component") else ""
    kind = f"{fault['class']}{where}" if fault.get("class") else ""
    message = fault.get("message") if shows("question") else None
    why = " ".join(filter(None, (_sentence(message or ""), fault.get("reason"))))
    return ": ".join(filter(None, (kind, why)))


def message_of(error: BaseException) -> str:
    """
    Give the message of an error.

    :param error: An error that was raised. Where Haystack's core repeats another's message, that one.
    :returns: One line without terminal codes and known secrets, not endless; "" if it has none.
    """
    try:
        return repeated(str(_first_raised(error)))
    except Exception:  # a class of somebody else whose __str__ fails
        return ""


def is_ours(error: BaseException, phase: Phase) -> bool:
    """
    Tell whether an error is of this package or of Haystack's core, whose messages quote no text under evaluation.

    Ours keep texts out of messages; the core speaks of components and sockets. Where the core passes on what a
    component raised, that error decides. What code of the user's raised or called at a question may quote it: a
    parameter that is refused is then one of the user's making.

    :param error: An error that was raised.
    :param phase: When it was raised.
    :returns: True if its message may be told whether texts are wanted or not.
    """
    error = _first_raised(error)
    kind = type(error)
    if _raised_in(error, _CORE) and (kind is ValueError or _is_in(kind.__module__, _CORE)):
        return True
    through_user = any(_is_users(frame) for frame, _ in traceback.walk_tb(error.__traceback__))
    return isinstance(error, HaystackEvalError) and not (phase == "question" and through_user)


def is_bug(error: BaseException) -> bool:
    """
    Tell whether an error is a fault of this package, which is to be reported and not repaired by the user.

    :param error: An error that was raised.
    :returns: True if nobody raised it on purpose, and code of ours came to it: by itself, or in a library that it uses.
    """
    error = _first_raised(error)
    if isinstance(error, HaystackEvalError | OSError | ImportError) or _CALL.search(str(error)):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        module = _module(frame)
        if _is_in(module, _OURS):
            return True
        # Haystack's components and the user's own code are called by ours, and fail by themselves.
        if module.startswith("haystack") or not frame.f_code.co_filename.startswith((*_LIBRARIES, "<")):
            return False
    return False


def raised_at(error: BaseException, *, of_user: bool = False) -> str:
    """
    Say where an error was raised.

    :param error: An error that was raised.
    :param of_user: Whether nothing is said where no code of the user's took part.
    :returns: "Raised at module:line." of the innermost call in code of the user's; where there is none, in any code
        but ours.
    """
    places = [
        (frame, line)
        for each in causes(error)
        for frame, line in traceback.walk_tb(each.__traceback__)
        if not _is_in(_module(frame), _OURS)
    ]
    users = [(frame, line) for frame, line in places if _is_users(frame)]
    if of_user and not users:
        return ""
    if not places:
        return "Raised at an unknown place."
    frame, line = (users or places)[-1]
    return f"Raised at {_module(frame)}:{line}."


def _ours_or_core(error: BaseException) -> str:
    # The core may write out all parameters of a component.
    return _sentence(repeated(str(error)) if _raised_in(error, _CORE) else str(error))


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "characters)")) else f"{text}."


def _is_import(error: BaseException) -> bool:
    """Names of modules are no texts, and what to install is told in the message alone. Python names the module."""
    return isinstance(error, ImportError) and error.name is not None


def _status(error: BaseException) -> str:
    """The status that a service answered."""
    status = http_status(error)
    return "" if status is None else f" The service answered {status}."


def _is_users(frame: FrameType) -> bool:
    """Whether this is code of the user's: neither ours nor a library's."""
    return not _is_in(_module(frame), _OURS) and not frame.f_code.co_filename.startswith((*_LIBRARIES, "<"))


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
