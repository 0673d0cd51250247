# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How a cell of each kind of column is read, from JSON and from the text of CSV."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from haystack_eval_ext._yes_no import says_yes
from haystack_eval_ext.runs._labels import BadCellError, list_cell, parse_documents, parse_labels
from haystack_eval_ext.runs._lines import kind_of, parse_json
from haystack_eval_ext.runs._needs import needs_cell
from haystack_eval_ext.runs._python_lists import python_list

CSV_LIST_SEPARATOR = "|"
# How a cell of texts starts that is a list (or means to be one); "[1] Smith" and "[[link]]" are texts.
_LIST_OF_TEXTS = re.compile(r"""\[\s*(?:["'{]|\]$)""")
_PYTHON_LIST = re.compile(r"\[\s*'")
_SQUAD = re.compile(r"""\{['"](?:text|answer_start)['"]:""")
_LIST_KINDS = frozenset(("documents", "labels", "tags"))
_BITS = {"1": True, "0": False}


def delimited_cell(cell: str, kind: str, label_field: str) -> Any:
    """
    Read a CSV or TSV cell.

    :param cell: Its text.
    :param kind: The column's kind.
    :param label_field: Where the key of a document goes.
    :returns: A value as JSON would hold it; None for an empty cell, [] for an empty list cell.
    :raises BadCellError: If JSON in it does not parse, or a part of a list is empty.
    """
    text = cell.strip()
    if kind in ("texts", "references"):
        if _LIST_OF_TEXTS.match(text):
            return _json_cell(text, "[ and a quotation mark or brace")
        if kind == "references" and _SQUAD.match(text):
            msg = "an object of SQuAD as text, expected a text or a list of texts; write the data as JSONL"
            raise BadCellError(msg)
        single = cell or None
        return single if kind == "references" else [single] if text else []
    if kind == "needs" and text.startswith("["):
        return _json_cell(text, text[0])
    if kind not in _LIST_KINDS:
        return cell or None
    if not text:
        return []
    if text[0] in "[{":
        return _json_cell(text, text[0])
    parts = [part.strip() for part in text.split(CSV_LIST_SEPARATOR)]
    if label_field == "content" and kind != "tags" and len(parts) > 1:
        msg = f"{CSV_LIST_SEPARATOR} in a cell whose keys are contents, expected a JSON list: the texts may hold it"
        raise BadCellError(msg)
    if not all(parts):
        msg = f"an empty part, expected parts separated by {CSV_LIST_SEPARATOR}"
        raise BadCellError(msg)
    return parts


def _json_cell(text: str, start: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        fault = error
    try:
        return python_list(text)
    except ValueError as error:
        # What is neither is judged as what it looks more like.
        looks = f"{error}: not a list as Python prints it" if _PYTHON_LIST.match(text) else str(fault)
        msg = f"{looks}, expected JSON in a cell that starts with {start} (in Python json.dumps writes it)"
        raise BadCellError(msg) from None


def cell_parsers(label_field: str) -> dict[str, Callable[[Any], Any]]:
    """
    Give a parser for each kind of column.

    :param label_field: Where the key of a document goes.
    :returns: Functions of a JSON value; they raise BadCellError, and return None for what counts as missing.
    """
    return {
        "id": _id,
        "text": _text,
        "references": _references,
        "texts": _texts,
        "documents": partial(parse_documents, label_field=label_field),
        "labels": partial(parse_labels, label_field=label_field),
        "needs": needs_cell,
        "flag": _flag,
        "tags": _text_list,
    }


def _id(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        came = "an empty text" if isinstance(value, str) else kind_of(value)
        msg = f"{came}, expected a text or a whole number"
        raise BadCellError(msg)
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{kind_of(value)}, expected a text"
        raise BadCellError(msg)
    return value


def _text_list(value: Any, expected: str = "a list of texts") -> list[str]:
    texts = list_cell(value, expected)
    for number, entry in enumerate(texts, start=1):
        if not isinstance(entry, str):
            msg = f"entry {number} is {kind_of(entry)}, expected a text"
            raise BadCellError(msg)
    return texts


def _references(value: Any) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    return _text_list(value, "a text or a list of texts") or None  # an empty list is no reference: missing


def _texts(value: Any) -> list[str]:
    contexts = []
    for number, entry in enumerate(list_cell(value, "a list of texts or of Documents as JSON"), start=1):
        content = entry.get("content") if isinstance(entry, dict) else getattr(entry, "content", entry)
        if not isinstance(content, str):
            came = "an object without a content text" if isinstance(entry, dict) else kind_of(entry)
            msg = f"entry {number} is {came}, expected a text or a Document as JSON"
            raise BadCellError(msg)
        contexts.append(content)
    return contexts


def _flag(value: Any) -> bool:
    text = str(value).strip() if isinstance(value, bool | str | int) else ""
    flag = _BITS[text] if text in _BITS else says_yes(text)
    if flag is None:
        msg = f"{kind_of(value)} that is no flag, expected true or false (or yes, no, 1, 0)"
        raise BadCellError(msg)
    return flag
