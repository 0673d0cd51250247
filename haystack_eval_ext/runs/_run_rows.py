# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a run: what was asked, retrieved, answered and labelled, as plain JSON, and back to a dataset."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._rows import document_from_json
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._columns import BY_NAME, COLUMNS, OTHERS, RUN_ERROR, RUN_STATUS, SKIPPED
from haystack_eval_ext.runs._faults import told
from haystack_eval_ext.runs._fingerprints import canonical, label_part, text_hash
from haystack_eval_ext.runs._plain import plain, plain_document
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.records import dataset_of_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = dict[str, Any]
# Of a run, not of the questions; they come with each record.
_OF_RECORDS = frozenset((RUN_STATUS, RUN_ERROR))
# What a run keeps without texts.
_KEPT = ("id", "repeat", "fingerprint", "cluster", "tags", "status", "seconds", "tokens", "cost")
_OUTPUTS: Row = {"answer": None, "contexts": [], "documents": []}
# What a record says of its own; all else of a row is the data's, which may have been labelled anew since.
_OF_ANSWERS = (
    "id",
    "repeat",
    "status",
    "error",
    *_OUTPUTS,
    SKIPPED,
    "stages",
    "components",
    "seconds",
    "tokens",
    "cost",
)
_KEPT_OF_ERROR = ("class", "component", "reason")
_DOCUMENTS = frozenset(("documents", "labels"))
# Of 64: a chance of 1e-9 to miss a change in one of many rows is small enough for a file that is committed.
_DIGITS = 16


@dataclass(frozen=True)
class RunRows:
    """
    The rows of a run and what they were made of.

    :param rows: The rows, repeat by repeat.
    :param data: The data file's name, the number of questions, and the fingerprints.
    """

    rows: list[Row]
    data: dict[str, Any]


def run_rows(dataset: Dataset, records: Sequence[Mapping[str, Any]] | None) -> RunRows:
    """
    Make the rows of a run.

    :param dataset: The questions and labels.
    :param records: What the RAG pipeline did, one for each question and repeat; None if the data holds the outputs.
    :returns: Plain rows, and fingerprints of the questions that were asked.
    :raises ValueError: If a record belongs to no row of the data.
    """
    if records is not None:
        dataset = _asked(dataset, records)
    plain_rows = {row["id"]: _plain_row(row) for row in dataset.rows}
    # Fingerprints are of what a file can hold, so that stored rows have those of the rows they were made from.
    # Outputs take no part in them, and are most of the data.
    labelled = [{name: value for name, value in row.items() if name not in _OUTPUTS} for row in plain_rows.values()]
    normal = list(map(_dataset_row, labelled))
    for row in normal:
        text = canonical([row.get("question"), label_part(row)])
        plain_rows[row["id"]]["fingerprint"] = text_hash(text)[:_DIGITS]
    whole = Dataset(dataset.path, normal)
    data = {
        "file": os.path.basename(dataset.path),
        "questions": len(dataset),
        "question_fingerprint": whole.question_fingerprint,
        "label_fingerprint": whole.label_fingerprint,
    }
    if records is None:
        rows = [{"id": row["id"], "repeat": 0} | plain_rows[row["id"]] | _status(row) for row in dataset.rows]
        return RunRows(rows, data)
    rows = [
        {"id": record["id"], "repeat": 0}
        | plain_rows[record["id"]]
        | {name: plain(record[name]) for name in _OF_ANSWERS if name in record}
        for record in records
    ]
    place = {row_id: number for number, row_id in enumerate(plain_rows)}
    return RunRows(sorted(rows, key=lambda row: (row["repeat"], place[row["id"]])), data)


def without_texts(row: Row) -> Row:
    """
    Take the texts out of a row.

    :param row: The row.
    :returns: Its id, fingerprint, cluster, tags and status, and what it cost.
    """
    kept = {name: row[name] for name in _KEPT if name in row}
    error = row.get("error")
    return kept | ({"error": {name: error.get(name) for name in _KEPT_OF_ERROR}} if error else {})


def rows_dataset(rows: Sequence[Row], path: str, repeat: int) -> Dataset:
    """
    Make a dataset of stored rows, to score them again.

    :param rows: The rows of a run, with texts.
    :param path: What messages call the data.
    :param repeat: Which of several answers to each question.
    :returns: Labels and outputs; rows that failed have `run_status` "error".
    """
    chosen = [row for row in rows if row["repeat"] == repeat]
    labels = Dataset(path, [_dataset_row(row) for row in chosen])
    if not any("status" in row for row in chosen):
        return labels
    return dataset_of_records(labels, [_OUTPUTS | row for row in chosen], repeat=repeat)


def run_error(row: Mapping[str, Any], *, message: bool = True) -> str | None:
    """
    Say why a row has no outputs.

    :param row: A row of a run.
    :param message: Whether to tell what another program said, which may quote the question.
    :returns: The reason; None if it has outputs.
    """
    if row.get("status") != "error":
        return None
    fault = row.get("error") or {}
    why = told(fault if message else {**fault, "message": None})
    return "the question failed" + (f" with {why}" if fault.get("class") else f": {why}" if why else "")


def _asked(dataset: Dataset, records: Sequence[Mapping[str, Any]]) -> Dataset:
    """The rows that have records: of a sample these alone."""
    ids = {record["id"] for record in records}
    unknown = ids - set(dataset.ids)
    if unknown:
        msg = f"records has the id {min(unknown)!r}, which {dataset.path} lacks. Give the data that was run."
        raise InvalidValueError(msg)
    return Dataset(dataset.path, [row for row in dataset.rows if row["id"] in ids])


def _plain_row(row: Mapping[str, Any]) -> Row:
    result: Row = {"id": row["id"]}
    for column in COLUMNS:
        if column.name in row:
            value = row[column.name]
            result[column.name] = (
                [plain_document(document) for document in value] if column.kind in _DOCUMENTS else plain(value)
            )
    others = {name: plain(value) for name, value in row.items() if name not in result and name not in _OF_RECORDS}
    return result | ({OTHERS: others} if others else {})


def _status(row: Mapping[str, Any]) -> Row:
    """Of a row that `dataset_of_records` made: whether the question failed."""
    if RUN_STATUS not in row:
        return {}
    failed = row[RUN_STATUS] == "error"
    error = {"class": None, "component": None, "reason": None, "message": row.get(RUN_ERROR)} if failed else None
    return {"status": row[RUN_STATUS], "error": error}


def _dataset_row(row: Row) -> Row:
    result: Row = {}
    for column in COLUMNS:
        value = row.get(column.name)
        if value is None:
            continue
        if column.kind in _DOCUMENTS:
            value = [document_from_json(dict(entry), f"a document of row '{row['id']}'") for entry in value]
        result[column.name] = value
    return result | {name: value for name, value in (row.get(OTHERS) or {}).items() if name not in BY_NAME}
