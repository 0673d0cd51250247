# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON to records: one object a line, a list of objects, and the objects of columns that other tools write."""

from collections.abc import Sequence
from typing import Any

from haystack_eval_ext.runs._lines import Problems, Record, decoded, kind_of, numbered_lines, parse_json

_FORMS = (
    'a JSON list of objects, one a row, or columns: {"question": [...], "answer": [...]} (or name the file .jsonl if '
    "each line is an object)"
)


def jsonl_records(text: str, problems: Problems) -> list[Record]:
    """
    Read one JSON object a line.

    :param text: The text of a file.
    :param problems: Takes bad lines.
    :returns: The objects of the good lines.
    """
    records: list[Record] = []
    for number, line in numbered_lines(text, problems):
        try:
            value = parse_json(line)
        except ValueError as error:
            problems.add(f"{error}, expected one JSON object on the line", number)
            continue
        _append_object(records, number, value, problems)
    return records


def json_records(text: str, problems: Problems) -> list[Record]:
    """
    Read a JSON list of objects, or one object that holds rows in another way: by column, by split, as SQuAD does.

    :param text: The text of a file.
    :param problems: Takes bad entries; its places are entries, from 1.
    :returns: The objects. Reading ends at a syntax error, since nothing tells where the next entry starts.
    """
    problems.unit = "entry"
    if text.startswith("{", _skip(text, 0)):
        return _from_object(text, problems)
    return _from_list(text, problems)


def _from_list(text: str, problems: Problems) -> list[Record]:
    records: list[Record] = []
    position = _skip(text, 0)
    line = 1 + text.count("\n", 0, position)
    if not text.startswith("[", position):
        problems.add(f"neither a list nor an object, expected {_FORMS}", line, unit="line")
        return records
    position, separator, entry = position + 1, "[", 0
    while separator != "]":
        start = _skip(text, position)
        line += text.count("\n", position, start)
        if separator == "[" and text.startswith("]", start):
            problems.add("the list is empty, expected at least one row", line, unit="line")
            position = start + 1
            break
        entry += 1
        try:
            value, end = decoded(text, start)
        except ValueError as error:
            problems.add(f"{error}, expected a JSON list of objects; nothing behind it was read", line, unit="line")
            return records
        _append_object(records, entry, value, problems)
        position = _skip(text, end)
        line += text.count("\n", start, position)
        separator = text[position : position + 1]
        if separator not in (",", "]"):
            what = "the list goes on without a comma or ends without ], expected a JSON list of objects"
            problems.add(what, line, unit="line")
            return records
        position += 1
    if _skip(text, position) != len(text):
        problems.add("text behind the list, expected one JSON list of objects", line, unit="line")
    return records


def _from_object(text: str, problems: Problems) -> list[Record]:
    try:
        value = parse_json(text)
    except ValueError as error:
        problems.add(f"{error}, expected {_FORMS}")
        return []
    rows = _rows_of(value, problems)
    if not rows and not problems.texts():
        problems.add(f"no rows, expected {_FORMS}")
    records: list[Record] = []
    for entry, row in enumerate(rows, start=1):
        _append_object(records, entry, row, problems)
    return records


def _rows_of(value: dict[str, Any], problems: Problems) -> list[Any]:
    lists = [entry for entry in value.values() if isinstance(entry, list)]
    if len(value) > 1 and len(lists) == len(value) and "columns" not in value:
        return _turned(value, lists, problems)
    data = value.get("data")
    if isinstance(data, list):
        if all(isinstance(entry, dict) and isinstance(entry.get("paragraphs"), list) for entry in data):
            return _squad_rows(data)
        if all(isinstance(entry, dict) for entry in data):
            return data
        columns = value.get("columns")
        if isinstance(columns, list) and all(isinstance(entry, list) and len(entry) == len(columns) for entry in data):
            return [dict(zip(map(str, columns), entry, strict=True)) for entry in data]  # pandas, orient="split"
    rows = value.get("rows")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        return rows  # an exported run
    columns_of = list(value.values())
    if lists and len(lists) == len(value):
        return _turned(value, lists, problems)
    if value and all(isinstance(column, dict) for column in columns_of):
        keys = list(columns_of[0])
        if all(list(column) == keys for column in columns_of):  # pandas, to_json() as it is
            return _turned(value, [list(column.values()) for column in columns_of], problems)
    odd = [f"{name!r} is {kind_of(column)}" for name, column in value.items() if not isinstance(column, list)][:3]
    problems.add(f"an object whose entries are no columns ({', '.join(odd) or 'it is empty'}), expected {_FORMS}")
    return []


def _turned(names: Sequence[str] | dict[str, Any], columns: list[list[Any]], problems: Problems) -> list[Any]:
    lengths = {name: len(column) for name, column in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name!r} has {length}" for name, length in list(lengths.items())[:5])
        problems.add(f"columns of different lengths ({found}), expected one entry a row in each")
        return []
    if not columns[0]:
        problems.add("the columns are empty, expected at least one row")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _squad_rows(articles: list[dict[str, Any]]) -> list[Any]:
    rows: list[Any] = []
    for article in articles:
        title = {"title": article["title"]} if "title" in article else {}
        for paragraph in article["paragraphs"]:
            if not isinstance(paragraph, dict) or not isinstance(paragraph.get("qas"), list):
                rows.append(paragraph)
                continue
            context = {"context": paragraph.get("context")}
            rows += [
                question if not isinstance(question, dict) else title | context | question
                for question in paragraph["qas"]
            ]
    return rows


def _append_object(records: list[Record], line: int, value: Any, problems: Problems) -> None:
    if isinstance(value, dict):
        records.append(Record(line, value))
    else:
        problems.add(f"{kind_of(value)}, expected a JSON object with the columns of one row", line)


def _skip(text: str, position: int) -> int:
    while text[position : position + 1] in _JSON_SPACE:
        position += 1
    return position


_JSON_SPACE = frozenset(" \t\r\n")
