# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From records to rows: cells parsed, what is missing filled in or reported, every row named."""

import hashlib
from collections.abc import Callable
from typing import Any

from haystack import logging

from haystack_eval_ext.retrieval._needs import ALL
from haystack_eval_ext.runs._cells import CSV_LIST_SEPARATOR, cell_parsers, delimited_cell
from haystack_eval_ext.runs._columns import COLUMNS, SKIPPED
from haystack_eval_ext.runs._labels import BadCellError
from haystack_eval_ext.runs._lines import Problems
from haystack_eval_ext.runs._needs import NEEDS, fault_of_needs, grouped_labels, ungrouped
from haystack_eval_ext.runs._vocabularies import Meanings, likely, rename_hint

logger = logging.getLogger(__name__)

Row = dict[str, Any]
_SHOWN = 5
# So many rows, and such a share of them, are no accident.
_FEW, _NEARLY_ALL = 2, 0.9
# What stands in a row that lacks a column: such a row is not run by the metrics that need it.
_EMPTY: dict[str, Callable[[], Any]] = {
    "answerable": lambda: True,
    SKIPPED: lambda: False,
    NEEDS: lambda: ALL,
    "tags": list,
    "reference_answer": list,
}


def data_rows(found: Meanings, problems: Problems, *, delimited: bool, label_field: str) -> list[Row]:
    """
    Parse cells, fill what may be missing, and name the rows.

    :param found: The records, and what their columns mean.
    :param problems: Takes all faults.
    :param delimited: Whether all values are texts of CSV cells.
    :param label_field: Where the key of a document goes.
    :returns: The rows, those columns first that have a meaning.
    """
    parsers = cell_parsers(label_field)
    rows: list[Row] = []
    for record in found.records:
        row: Row = {}
        others: Row = {}
        groups: list[list[int]] | None = None
        for name, value in record.values.items():
            column = found.columns.get(name)
            if column is None:
                others[name] = None if delimited and value == "" else value
                continue
            try:
                raw = delimited and type(value) is str
                cell = delimited_cell(value, column.kind, label_field) if raw else value
                places: list[list[int]] = []
                if column.kind == "labels":
                    cell, places = ungrouped(cell)
                parsed = None if cell is None else parsers[column.kind](cell)
                if parsed is not None and places:
                    parsed, groups = grouped_labels(parsed, places, label_field)
            except BadCellError as error:
                right = isinstance(value, list) and column.name == "answer"
                hint = f"; of right answers say {rename_hint('reference_answer', name)}" if right else ""
                problems.add(f"{error}{hint}", record.line, name)
                parsed = _BAD
            if parsed is not None:
                row[column.name] = parsed
        if _BAD not in (row.get(NEEDS), row.get("relevant_documents")):
            fault = fault_of_needs(row, groups)
            if fault:
                problems.add(fault, record.line, NEEDS)
            elif groups is not None:
                row[NEEDS] = groups
        rows.append(row | others)
    if delimited:
        _tell_of_pipes(rows)
    lines = [record.line for record in found.records]
    _fill(rows, lines, problems)
    _name_rows(rows, lines, problems)
    return [_ordered(row) for row in rows]


def _tell_of_pipes(rows: list[Row]) -> None:
    texts = [row["contexts"][0] for row in rows if isinstance(row.get("contexts"), list) and len(row["contexts"]) == 1]
    count = sum(CSV_LIST_SEPARATOR in text for text in texts)
    if count >= _FEW and count >= _NEARLY_ALL * len(rows):
        logger.warning(
            "The column contexts has a {mark} in {count} of {rows} rows. Each cell is read as one text: of several "
            "texts make a JSON list.",
            mark=CSV_LIST_SEPARATOR,
            count=count,
            rows=len(rows),
        )


def _fill(rows: list[dict[str, Any]], lines: list[int], problems: Problems) -> None:
    for column in COLUMNS:
        name = column.name
        lacking = [number for number, row in enumerate(rows) if name not in row]
        if len(lacking) == len(rows):
            continue
        missing = []
        for number in lacking:
            row = rows[number]
            if name in _EMPTY:
                row[name] = _EMPTY[name]()
            elif name == "relevant_documents" and row.get("answerable", True) is False:
                row[name] = []
            else:
                missing.append(lines[number])
        if missing:
            hint = ' (an empty text is "")' if column.kind == "text" else ""
            problems.add(
                f"missing in {len(missing)} of {len(rows)} rows ({problems.named(missing)}), "
                f"expected in every row or in none{hint}",
                column=name,
            )


def _name_rows(rows: list[dict[str, Any]], lines: list[int], problems: Problems) -> None:
    if any("id" in row for row in rows):
        first: dict[str, int] = {}
        for row, line in zip(rows, lines, strict=True):
            key = row.get("id")
            if key in first:
                problems.add(
                    f"{key!r} again, first in {problems.named([first[key]])}; expected each id once", line, "id"
                )
            elif isinstance(key, str):
                first[key] = line
        return
    if rows and not any("question" in row for row in rows):
        came = ", ".join(map(repr, list(rows[0])[:_SHOWN]))
        problems.add(
            f"neither an id nor a question column among {came}, expected one of them to name the rows by."
            f"{likely('question', rows[0])}"
        )
    repeats: dict[str, int] = {}
    for row in rows:
        if isinstance(question := row.get("question"), str):
            # Lone surrogates are legal in JSON strings.
            key = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            repeats[key] = repeats.get(key, 0) + 1
            row["id"] = key if repeats[key] == 1 else f"{key}#{repeats[key]}"


def _ordered(row: dict[str, Any]) -> dict[str, Any]:
    return {column.name: row[column.name] for column in COLUMNS if column.name in row} | row


_BAD = object()  # stands in a row for a value that was reported, so that it is not reported as missing too
