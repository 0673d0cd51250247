# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Delimited files to records, whatever a spreadsheet chose to put between the cells."""

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from haystack_eval_ext.runs._columns import BY_NAME
from haystack_eval_ext.runs._lines import Problems, Record
from haystack_eval_ext.runs._vocabularies import meaning_of

_DELIMITERS = (",", ";", "\t")
_MARK = "sep="  # how Excel writes the delimiter above the header
_LIMIT = threading.Lock()


def csv_records(text: str, delimiter: str, problems: Problems) -> list[Record]:
    """
    Read delimited rows below a header.

    :param text: The text of a file.
    :param delimiter: What usually stands between cells; another one where it makes more of the header.
    :param problems: Takes bad rows.
    :returns: The rows with as many cells as the header, all cells as text.
    """
    first = text.split("\n", 1)[0].rstrip("\r")
    skipped = first.lower().startswith(_MARK) and len(first) == len(_MARK) + 1
    with _cells_of_any_length(len(text)):
        delimiter = first[-1] if skipped else _delimiter(first, delimiter)
        return _rows(text, delimiter, problems, skipped=skipped)


def _delimiter(header: str, usual: str) -> str:
    """The one that gives the most names that we know, then the most cells; of equals the usual one."""

    def worth(delimiter: str) -> tuple[int, int]:
        try:
            cells = next(csv.reader([header], delimiter=delimiter), [])
        except csv.Error:  # told with its line when the row is read
            cells = []
        return sum(meaning_of(cell.strip()) in BY_NAME for cell in cells), len(cells)

    return max((usual, *_DELIMITERS), key=worth)


@contextmanager
def _cells_of_any_length(length: int) -> Iterator[None]:
    """The module's limit holds for the whole process: it is raised while a file is read, one file at a time."""
    with _LIMIT:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, length + 1))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _rows(text: str, delimiter: str, problems: Problems, *, skipped: bool) -> list[Record]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    records: list[Record] = []
    blank: list[int] = []
    start, rows = 1, 0
    if skipped:
        next(reader)
        start = 2
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problems.add(f"not a row of cells ({error}), expected quoted cells or, for long texts, JSONL", start)
            start, rows = reader.line_num + 1, rows + 1
            continue
        line, start = start, reader.line_num + 1
        if not cells:
            blank.append(line)
            continue
        for number in blank:
            problems.add("a blank line between rows, expected a row; remove the line", number)
        blank.clear()
        if header is None:
            header = [cell.strip() for cell in cells]
            _check_header(header, line, problems)
            continue
        rows += 1
        if len(cells) != len(header):
            problems.add(f"{len(cells)} cells, expected {len(header)} as in the header", line)
        else:
            records.append(Record(line, dict(zip(header, cells, strict=True))))
    if header is not None and rows == 0:
        problems.add("no row below the header, expected at least one")
    return records


def _check_header(header: list[str], line: int, problems: Problems) -> None:
    for place, name in enumerate(header, start=1):
        if not name:
            problems.add(f"cell {place} of the header is empty, expected a column name (pandas: index=False)", line)
        elif name in header[: place - 1]:
            problems.add(f"column {name!r} a second time in the header, expected each name once", line)
