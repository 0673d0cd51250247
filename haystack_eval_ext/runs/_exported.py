# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A run that was exported, as data again: its scores are no columns, and its cells mean what the run's rows held."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from haystack import logging

from haystack_eval_ext._scores import Status
from haystack_eval_ext.runs._columns import BY_NAME, OTHERS, OUTPUTS, RUN_ERROR, RUN_STATUS
from haystack_eval_ext.runs._lines import parse_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from haystack_eval_ext.runs._lines import Problems, Record

logger = logging.getLogger(__name__)

#: In front of the name of each metric, which may be that of a column.
SCORE = "score."
_STATUS, _ERROR = ".status", ".error"
_STATUSES = frozenset(get_args(Status))
_RUN_STATUSES = frozenset(("ok", "error"))
# What a run says of its answers; in the data of another run it would be out of place.
_OF_RUN = frozenset(("status", "error", "seconds", "tokens", "cost", "stages", "components", "fingerprint", "metrics"))
# What a spreadsheet runs as a formula, also where it drops white space or unifies wide characters. The quotation mark
# before it keeps it a text; one more stands where the text itself begins so.
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")


class Text(str):
    """A cell that is a text whatever it holds, also if it is empty."""

    __slots__ = ()


def defused(value: Any) -> Any:
    """
    Keep a spreadsheet from running a text as a formula.

    :param value: A cell; numbers stay.
    :returns: The text behind a quotation mark if it begins like a formula.
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _undone(value: Any) -> Any:
    return value[1:] if isinstance(value, str) and value.startswith("'") and _FORMULA.match(value) else value


def from_export(
    records: list[Record], problems: Problems, *, delimited: bool, kept: Collection[str] = ()
) -> list[Record]:
    """
    Take the scores out of an exported run, and undo what its writer did.

    :param records: Records of any file.
    :param problems: Takes an export that has several answers to each question.
    :param delimited: Whether all values are texts of CSV cells.
    :param kept: Columns that the user names, and that stay.
    :returns: The rows of the run; records that are none, as they are.
    """
    names = dict.fromkeys(name for record in records for name in record.values)
    scores = frozenset(_scores(records, names)) - frozenset(kept)
    if not scores:
        if delimited and any(_undone(value) != value for record in records for value in record.values.values()):
            logger.warning("Some cells begin with a quotation mark and a formula's sign; they are read as they are.")
        return records
    logger.warning(
        "{path} is an exported run: its columns of scores are left out ({count}).",
        path=problems.path,
        count=len(scores),
    )
    rows = [{name: value for name, value in record.values.items() if name not in scores} for record in records]
    rows = [row | (row.pop(OTHERS) if isinstance(row.get(OTHERS), dict) else {}) for row in rows]
    if delimited:
        rows = [{_undone(name): _undone(value) for name, value in row.items()} for row in rows]
        rows = _with_empty_texts(rows)
    rows = [{name.removeprefix("row."): value for name, value in row.items()} for row in rows]
    if any(str(row.get("repeat", 0)) != "0" for row in rows) and len({row.get("id") for row in rows}) < len(rows):
        problems.add("holds several answers to each question: give the folder of the run instead")
        return []
    if all(_is_one_of(_RUN_STATUSES, row.get("status")) for row in rows):
        given = [name for name in OUTPUTS if any(row.get(name) is not None for row in rows if row["status"] == "ok")]
        rows = [_with_status(row, given) for row in rows]
    return [record._replace(values=_without_run(row)) for record, row in zip(records, rows, strict=True)]


def _scores(records: list[Record], names: Iterable[str]) -> list[str]:
    """The columns of scores: behind their prefix, inside `metrics`, or as older exports have them."""
    known = frozenset(names)
    if any(name.startswith(SCORE) and name.endswith(_STATUS) for name in known):
        return [name for name in known if name.startswith(SCORE)]
    if records and all(
        isinstance(record.values.get("metrics"), dict) and "repeat" in record.values for record in records
    ):
        return ["metrics"]
    found = []
    for name in known:
        metric = name.removesuffix(_STATUS)
        if (
            metric != name
            and metric in known
            and all(_is_one_of(_STATUSES, record.values.get(name)) for record in records)
        ):
            found += [metric, name, *([f"{metric}{_ERROR}"] if f"{metric}{_ERROR}" in known else [])]
    return found


def _is_one_of(words: frozenset[str], value: Any) -> bool:
    return isinstance(value, str) and value in words


def _with_empty_texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A run writes an empty list as one: an empty cell is a missing value, or of a column of texts an empty text."""
    filled = frozenset(name for row in rows for name, value in row.items() if value != "")
    texts = frozenset(name for name in filled if name in BY_NAME and BY_NAME[name].kind == "text")
    return [
        {name: Text(value) if name in texts else value for name, value in row.items() if value != "" or name in texts}
        for row in rows
    ]


def _with_status(row: dict[str, Any], given: Iterable[str]) -> dict[str, Any]:
    failed = row["status"] == "error"
    result = {name: value for name, value in row.items() if not failed or name not in OUTPUTS}
    result[RUN_STATUS] = row["status"]
    if failed:
        result |= {name: Text() if name == "answer" else OUTPUTS[name]() for name in given}
        result[RUN_ERROR] = _reason(row.get("error"))
    return result


def _reason(error: Any) -> str:
    try:
        fault = parse_json(error) if isinstance(error, str) else error
    except ValueError:
        fault = None
    if not isinstance(fault, dict):
        return "the question failed"
    where = f" in {fault['component']}" if fault.get("component") else ""
    return f"{fault.get('class') or 'the question failed'}{where}: {fault.get('reason')}"


def _without_run(row: dict[str, Any]) -> dict[str, Any]:
    if RUN_STATUS not in row:
        return {name: value for name, value in row.items() if name not in ("fingerprint", "metrics")}
    return {name: value for name, value in row.items() if name not in _OF_RUN}
