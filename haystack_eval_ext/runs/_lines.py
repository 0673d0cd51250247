# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Files to records with their line numbers; every fault of a file is collected before one error is raised."""

import gzip
import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import FileProblemsError, InvalidValueError

FilePath = str | os.PathLike[str]
Unit = Literal["line", "entry", "row"]
SHOWN_PROBLEMS = 20
# What the C readers of these formats call white space; str.strip() would also eat U+3000 and U+001C inside ids.
WHITE_SPACE = " \t\r\n\f\v"


class Record(NamedTuple):
    """One row of a file and its place there."""

    line: int
    values: dict[str, Any]


class Problems:
    """Collects the faults of one file, or of rows that were never in a file."""

    def __init__(self, path: FilePath, unit: Unit = "line") -> None:
        """
        Start without any.

        :param path: The file, or what the rows are called.
        :param unit: What places are: lines of a file, from 1; entries of a list in a file, from 1; or rows that were
            made in Python, from 0.
        """
        self.path = os.fspath(path)
        self.unit: Unit = unit
        self._found: list[tuple[float, str]] = []

    def add(self, what: str, line: int | None = None, column: str | None = None, *, unit: Unit | None = None) -> None:
        """
        Note one fault.

        :param what: What came and what was expected, without the user's texts.
        :param line: The place, if the fault has one.
        :param column: The column, if the fault has one.
        :param unit: What the place is, if not what the others are.
        """
        where = {"line": f":{line}", "entry": f": entry {line}", "row": f"[{line}]"}[unit or self.unit]
        place = self.path if line is None else f"{self.path}{where}"
        named = what if column is None else f"column {column!r}: {what}"
        self._found.append((math.inf if line is None else line, f"{place}: {named}"))

    def named(self, places: Sequence[int], shown: int = 5) -> str:
        """
        Name places in a message.

        :param places: The places.
        :param shown: How many of them are named.
        :returns: Such as "lines 3, 7", "entry 401".
        """
        several = {"line": "lines", "entry": "entries", "row": "rows"}[self.unit]
        listed = ", ".join(map(str, places[:shown])) + (", ..." if len(places) > shown else "")
        return f"{several if len(places) > 1 else self.unit} {listed}"

    def texts(self) -> list[str]:
        """
        List the faults.

        :returns: All faults by line, those of the whole file last.
        """
        return [text for _, text in sorted(self._found, key=lambda found: found[0])]


def raise_if_any(error: type[FileProblemsError], problems: Iterable[Problems]) -> None:
    """
    Raise when a fault was collected.

    :param error: The class to raise.
    :param problems: The collectors, one for each file.
    :raises FileProblemsError: As `error`, with the faults of all files.
    """
    texts = [text for found in problems for text in found.texts()]
    if texts:
        raise error(texts)


def read_text(path: FilePath, problems: Problems) -> str:
    """
    Read a UTF-8 file, through gzip when its name ends in `.gz`; a byte order mark is dropped, and lines
    may end as on any system.

    :param path: The file.
    :param problems: Takes what is wrong with the bytes.
    :returns: The text; "" when the file cannot be read or holds nothing, which is then noted.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
        if file.suffix.lower() == ".gz":
            data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        problems.add("is not a whole gzip file, expected one because its name ends in .gz")
        return ""
    except OSError as error:
        problems.add(f"cannot be read: {error.strerror}")
        return ""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.add("is UTF-16; save the file as UTF-8")
        return ""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # as a Macintosh ended lines
    if not data.strip():
        problems.add("the file is empty, expected at least one row")
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                problems.add(f"byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8", number)
        # Distinct bytes stay distinct, so reading on finds the other faults and invents no duplicates.
        return data.decode("utf-8", errors="surrogateescape")


def numbered_lines(text: str, problems: Problems, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    r"""
    Split a text at `\n` or `\r\n`; blank lines may only end it.

    :param text: The text of a file.
    :param problems: Takes blank lines before the last row.
    :param blank: Whether they are skipped instead.
    :returns: Line numbers from 1 and lines without their ends.
    """
    lines = text.split("\n")
    while lines and not lines[-1].strip(WHITE_SPACE):
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if line.strip(WHITE_SPACE):
            yield number, line.removesuffix("\r")
        elif not blank:
            problems.add("a blank line between rows, expected a row; remove the line", number)


def parse_json(text: str) -> Any:
    """
    Parse strict JSON: no NaN, no infinities, no name twice in one object.

    :param text: One JSON value.
    :returns: The value.
    :raises ValueError: If the text is no such value; the message holds none of the text.
    """
    return _json_value(_DECODER.decode, text)


def kind_of(value: Any) -> str:
    """
    Name a value's kind for a message, never its content.

    :param value: A parsed JSON value, or what stands in a row made in Python.
    :returns: Such as "a list".
    """
    names = {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value)) or ("a number" if isinstance(value, int | float) else describe(value))


def decoded(text: str, start: int) -> tuple[Any, int]:
    """
    Parse one strict JSON value that other text may follow.

    :param text: The text.
    :param start: Where the value starts.
    :returns: The value, and where it ends.
    :raises ValueError: If there is no such value; the message holds none of the text.
    """
    value: tuple[Any, int] = _json_value(_DECODER.raw_decode, text, start)
    return value


def _json_value(decode: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return decode(*arguments)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if error.lineno > 1 else ""
        msg = f"not JSON ({error.msg}: {where}character {error.colno})"
        raise InvalidValueError(msg) from error
    except RecursionError as error:
        msg = "not usable JSON (nested too deeply)"
        raise InvalidValueError(msg) from error


def _refuse_constant(name: str) -> NoReturn:
    msg = f"not strict JSON ({name} is no JSON number; write null or leave the entry out)"
    raise InvalidValueError(msg)


def _finite_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        msg = "not usable JSON (a number beyond the range of a double)"
        raise InvalidValueError(msg)
    return value


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        msg = "not strict JSON (one name twice in an object)"
        raise InvalidValueError(msg)
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_unique_names)
