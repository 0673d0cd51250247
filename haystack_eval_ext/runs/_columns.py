# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The columns of a data file: their names, and how a cell of each kind is read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from haystack_eval_ext.runs._labels import BadCellError, parse_documents, parse_labels
from haystack_eval_ext.runs._lines import kind_of, parse_json

CSV_LIST_SEPARATOR = "|"
# How a cell of texts starts that is a JSON list (or means to be one); "[1] Smith" and "[[link]]" are texts.
_LIST_OF_TEXTS = re.compile(r"""\[\s*(?:["'{]|\]$)""")
_LIST_KINDS = frozenset(("documents", "labels", "tags"))
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Column:
    """
    A column that the package understands.

    :param name: Its name here.
    :param aliases: Names under which files of other tools have it.
    :param socket: The component input it feeds, if any.
    :param kind: What its cells hold: id, text, references, texts, documents, labels, flag or tags.
    :param description: What it holds, for the table in docs/data.md.
    """

    name: str
    aliases: tuple[str, ...]
    socket: str | None
    kind: str
    description: str


COLUMNS: tuple[Column, ...] = (
    Column(
        "id",
        ("row_id", "question_id", "query_id", "qid"),
        None,
        "id",
        "a unique name of the row, text or whole number; without the column made from the question",
    ),
    Column("question", ("query", "user_input", "questions"), "questions", "text", "what is asked"),
    Column(
        "reference_answer",
        ("ground_truth_answer", "ground_truth_answers", "expected_answer", "reference", "reference_answers"),
        "ground_truth_answers",
        "references",
        "the right answer, or a list of right answers",
    ),
    Column("answer", ("predicted_answer", "response"), "predicted_answers", "text", "what the system answered"),
    Column("other_answer", ("answer_b",), "other_answers", "text", "what another system answered, for comparison"),
    Column("contexts", ("retrieved_contexts",), "contexts", "texts", "a list of texts given to the generator"),
    Column("documents", ("retrieved_documents",), "retrieved_documents", "documents", "the ranking, best first"),
    Column(
        "relevant_documents",
        ("ground_truth_documents",),
        "ground_truth_documents",
        "labels",
        "the labelled documents, with their grades",
    ),
    Column(
        "answerable",
        (),
        "answerable",
        "flag",
        "`false`: the corpus does not answer the question, the row leaves the retrieval means and is listed; "
        "without the column `true`",
    ),
    Column("tags", (), None, "tags", "a list of words to group rows by"),
    Column(
        "cluster",
        ("document_group",),
        None,
        "id",
        "what rows belong together by, such as the document that their questions were made from, text or whole number",
    ),
)
BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}


def column_name(name: str) -> str:
    """
    Give the package's name of a column.

    :param name: A column's name or alias, or any other name.
    :returns: The name in `COLUMNS`; another name as it is.
    """
    return BY_NAME[name].name if name in BY_NAME else name


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
        single = cell or None
        return single if kind == "references" else [single] if text else []
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
        msg = f"{error}, expected JSON in a cell that starts with {start}"
        raise BadCellError(msg) from error


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


def _text_list(value: Any) -> list[str]:
    if not isinstance(value, list):
        msg = f"{kind_of(value)}, expected a list of texts"
        raise BadCellError(msg)
    for number, entry in enumerate(value, start=1):
        if not isinstance(entry, str):
            msg = f"entry {number} is {kind_of(entry)}, expected a text"
            raise BadCellError(msg)
    return value


def _references(value: Any) -> str | list[str] | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        msg = f"{kind_of(value)}, expected a text or a list of texts"
        raise BadCellError(msg)
    return _text_list(value) or None  # an empty list is no reference: missing


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        msg = f"{kind_of(value)}, expected a list of texts or of Documents as JSON"
        raise BadCellError(msg)
    contexts = []
    for number, entry in enumerate(value, start=1):
        content = entry.get("content") if isinstance(entry, dict) else getattr(entry, "content", entry)
        if not isinstance(content, str):
            came = "an object without a content text" if isinstance(entry, dict) else kind_of(entry)
            msg = f"entry {number} is {came}, expected a text or a Document as JSON"
            raise BadCellError(msg)
        contexts.append(content)
    return contexts


def _flag(value: Any) -> bool:
    flag = _FLAGS.get(str(value).strip().lower()) if isinstance(value, bool | str | int) else None
    if flag is None:
        msg = f"{kind_of(value)} that is no flag, expected true or false (or yes, no, 1, 0)"
        raise BadCellError(msg)
    return flag
