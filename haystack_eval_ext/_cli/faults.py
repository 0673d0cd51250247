# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user sees when something is wrong: one line on stderr, exit code 2."""

import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from haystack_eval_ext._calls import causes
from haystack_eval_ext._cli.interrupts import INTERRUPTED, Kept, note_arguments
from haystack_eval_ext.errors import FileProblemsError, HaystackEvalError, InvalidValueError
from haystack_eval_ext.runs._faults import shows

EXIT_CODE = 2
# As sysexits.h names a fault of the program itself: Python's own 1 would read as a regression.
_CRASHED = 70
# Options that are not called as the parameter in Python.
_OPTIONS = {
    "columns": "--column",
    "label_field": "--key-field",
    "mapping": "--map",
    "metrics": "--metric",
    "overrides": "--set",
    "replace_run": "--force",
    "sections": "--map",
}
_PACKAGE = __name__.partition(".")[0]
_TRACEBACKS = 3
# typer carries a click of its own, or needs the public one, depending on its version; its own names lead to either.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class UserError(InvalidValueError):
    """The command cannot do what was asked for; the message says what to do instead."""


class OneLineGroup(TyperGroup):
    """Commands whose usage errors are one line as well, instead of a box."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """
        Run a command.

        :param args: As in the base class.
        :param extra: As in the base class.
        :returns: What the command returns, if `standalone_mode` is False; otherwise the process ends.
        """
        standalone = extra.get("standalone_mode", True)
        extra["standalone_mode"] = False
        note_arguments(extra.get("args") or (args[0] if args else None))
        if not standalone:
            return super().main(*args, **extra)
        try:
            code = super().main(*args, **extra)
        except _UsageError as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "haystack-eval"
            message = error.format_message() if hasattr(error, "format_message") else str(error)
            fail(f"{message.rstrip('.')}. See '{command} --help'.")
        except typer.Abort:  # before or behind a command's own work
            end_interrupted(Kept())
        sys.exit(code)


def plain(text: str) -> str:
    """
    Make a text from a file safe to print.

    :param text: Any text.
    :returns: The text with control and formatting characters, line breaks among them, escaped.
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def in_options(name: str, *values: str) -> str:
    """
    Write a parameter of the library as an option of the command.

    :param name: Its name in Python.
    :param values: What it should be set to.
    :returns: The option.
    """
    return " ".join([_OPTIONS.get(name, f"--{name.replace('_', '-')}"), *values])


def fail(*lines: str) -> NoReturn:
    """
    End the process with a message.

    :param lines: What is wrong and what to do: one line, or the problems of a file below a headline.
    """
    sys.stderr.write("Error: " + "\n  ".join(plain(" ".join(line.split())) for line in lines) + "\n")
    sys.exit(EXIT_CODE)


def end_interrupted(kept: Kept) -> NoReturn:
    """
    End the process after Ctrl-C.

    :param kept: What the command keeps.
    """
    sys.stderr.write("".join(f"{plain(line)}\n" for line in kept.told()))
    sys.exit(INTERRUPTED)


def crash() -> NoReturn:
    """End the process after a fault of ours, with the traceback of the exception that is being handled."""
    traceback.print_exc()
    sys.stderr.write("This is a fault of haystack-eval; please report it with the lines above.\n")
    sys.exit(_CRASHED)


@contextlib.contextmanager
def reported(*, debug: bool, kept: Kept | None = None) -> Iterator[None]:
    """
    Turn the faults of a user's input into one line, and Ctrl-C into two.

    :param debug: Whether to show tracebacks above it, also those of questions that failed alone.
    :param kept: What the command keeps before it is done.
    :returns: A context for the body of a command.
    """
    try:
        with _shown_failures() if debug else contextlib.nullcontext():
            yield
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        end_interrupted(kept or Kept())
    except (OSError, HaystackEvalError) as error:
        if debug:
            _write_traceback(error)
        if isinstance(error, FileProblemsError):
            fail(*error.report(in_options))
        if isinstance(error, HaystackEvalError):
            fail(error.told(in_options))
        where = "" if error.filename is None else f"{error.filename}: "
        fail(f"{where}{error.strerror or error}. Check the path and its permissions.")


def _write_traceback(error: BaseException) -> None:
    if shows("question"):
        parts = traceback.format_exception(error)
    else:  # the calls and classes alone: a message may quote a question
        chain = [[*traceback.format_tb(one.__traceback__), f"{type(one).__name__}\n"] for one in causes(error)]
        parts = [part for one in reversed(chain) for part in one]
    lines = "".join(parts).splitlines()
    sys.stderr.write("".join(f"{plain(line)}\n" for line in lines))


class _Failures(logging.Handler):
    """Shows the first tracebacks of what failed alone, and counts the others."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.left_out = 0
        self._left = _TRACEBACKS

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or record.levelno > logging.DEBUG:
            return
        if self._left == 0:
            self.left_out += 1
            return
        self._left -= 1
        sys.stderr.write(f"{plain(record.getMessage())}\n")
        _write_traceback(error)


@contextlib.contextmanager
def _shown_failures() -> Iterator[None]:
    package, handler = logging.getLogger(_PACKAGE), _Failures()
    level = package.level
    package.addHandler(handler)
    package.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        package.removeHandler(handler)
        package.setLevel(level)
        if handler.left_out:
            sys.stderr.write(f"{handler.left_out} more failed, without their tracebacks here.\n")


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.messages[record.getMessage()] = None


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """
    Keep warnings for after the result, where a reader sees them.

    :returns: A context whose list is filled at its end: each warning once.
    """
    collector, root, haystack = _Collector(), logging.getLogger(), logging.getLogger("haystack")
    root_handlers, haystack_handlers = root.handlers, haystack.handlers
    root.handlers, haystack.handlers = [collector], []
    found: list[str] = []
    try:
        yield found
    finally:
        root.handlers, haystack.handlers = root_handlers, haystack_handlers
        found.extend(collector.messages)
