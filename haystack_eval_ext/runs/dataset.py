# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation rows from JSONL, JSON, CSV and TSV files and BEIR folders, under one set of column names."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haystack import Document

from haystack_eval_ext._rows import describe
from haystack_eval_ext.runs._columns import BY_NAME, COLUMNS, Column, cell_parsers, delimited_cell
from haystack_eval_ext.runs._fingerprints import label_part, order_free_hash
from haystack_eval_ext.runs._labels import BadCellError, check_label_field
from haystack_eval_ext.runs._lines import (
    FilePath,
    FileProblemsError,
    Problems,
    Record,
    csv_records,
    json_records,
    jsonl_records,
    kind_of,
    raise_if_any,
    read_text,
)
from haystack_eval_ext.runs.trec import BeirFolder

__all__ = [
    "COLUMNS",
    "SUFFIXES",
    "Column",
    "Data",
    "Dataset",
    "DatasetError",
    "beir_dataset",
    "beir_documents",
    "open_dataset",
    "read_dataset",
]

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
# What stands in a row that lacks a column: such a row is not run by the metrics that need it.
_EMPTY: dict[str, Callable[[], Any]] = {"answerable": lambda: True, "tags": list, "reference_answer": list}
_SHOWN = 5


class DatasetError(FileProblemsError):
    """A data file is not what its columns promise; `problems` lists every fault."""


@dataclass(frozen=True)
class Dataset:
    """
    Evaluation rows, in the order of their file.

    :param path: Where they came from.
    :param rows: One dict a row: the columns of `COLUMNS` under their own names first, then all others as they were.
    """

    path: str
    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        """
        Count the rows.

        :returns: Their number.
        """
        return len(self.rows)

    @property
    def ids(self) -> list[str]:
        """All row ids."""
        return [row["id"] for row in self.rows]

    @property
    def unanswerable(self) -> list[str]:
        """Ids of the rows with `answerable` false, which leave the retrieval means."""
        return [row["id"] for row in self.rows if row.get("answerable") is False]

    @property
    def question_fingerprint(self) -> str:
        """A hash of ids and questions, whatever their order: equal in two datasets that ask the same."""
        return order_free_hash([row["id"], row.get("question")] for row in self.rows)

    @property
    def label_fingerprint(self) -> str:
        """A hash of ids, labels, reference answers and `answerable`, whatever the order of any of them."""
        return order_free_hash(map(label_part, self.rows))

    def has(self, name: str) -> bool:
        """
        Tell whether a column is there.

        :param name: Its name, not an alias.
        :returns: True if any row has it.
        """
        return any(name in row for row in self.rows)

    def column(self, name: str) -> list[Any]:
        """
        Take one column.

        :param name: Its name, not an alias.
        :returns: One value a row; None where a column outside `COLUMNS` is missing.
        :raises ValueError: If no row has it.
        """
        if not self.has(name):
            known = sorted({key for row in self.rows for key in row})
            msg = f"{self.path} has no column {name!r}, expected one of {', '.join(known)}."
            raise ValueError(msg)
        return [row.get(name) for row in self.rows]

    def sockets(self) -> dict[str, list[Any]]:
        """
        Give the component inputs that the columns feed.

        :returns: By socket name one value a row, for the columns that every row has. If any row has several reference
            answers, each row's are a list.
        """
        inputs = {}
        for column in COLUMNS:
            if column.socket is None or not self.rows or not all(column.name in row for row in self.rows):
                continue
            values = [row[column.name] for row in self.rows]
            if column.kind == "references" and any(isinstance(value, list) for value in values):
                values = [value if isinstance(value, list) else [value] for value in values]
            inputs[column.socket] = values
        return inputs


def read_dataset(path: FilePath, *, label_field: str = "id") -> Dataset:
    """
    Read evaluation rows from `.jsonl`, `.ndjson`, `.json` (a list of objects), `.csv` or `.tsv`, each also with `.gz`.

    Columns may have any name in `COLUMNS`. null and an empty CSV cell are a missing value. A column of `COLUMNS` is in
    every row or in none, except: where missing, `answerable` is true, `tags` is [] and `reference_answer` is [] (a
    metric that needs one does not run such a row); a row with `answerable` false may lack `relevant_documents` (then
    []). Without an id column a row's id is derived from its question, with "#2", "#3" for repeats.

    In CSV and TSV, a cell of `documents`, `relevant_documents` or `tags` is JSON when it starts with [ or {, otherwise
    parts separated by |. One of `contexts` or `reference_answer` is a JSON list when it starts with [ and a quotation
    mark or brace, otherwise one text. An empty cell of a list column is [].

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack_eval_ext.runs.dataset import read_dataset

    with TemporaryDirectory() as folder:
        file = Path(folder) / "questions.csv"
        file.write_text("qid,query,relevant_documents\\nq1,Who pays for lunch?,d1|d7\\n")
        data = read_dataset(file)
    print(data.ids, [document.id for document in data.column("relevant_documents")[0]])
    # ['q1'] ['d1', 'd7']
    ```

    :param path: The file, UTF-8.
    :param label_field: Where the key of a document that is given by a key goes: "id", "content" or "meta.<key>". It is
        the `document_comparison_field` of the evaluators. An integer key stays one in meta, where 7 and "7" differ, and
        becomes a str in id and content; the keys of {key: grade} and of CSV parts are texts.
    :returns: The rows.
    :raises ValueError: If `label_field` is none of these.
    :raises DatasetError: If anything in the file is wrong; every fault is listed with its line.
    """
    check_label_field(label_field)
    problems = Problems(path)
    records, delimited = _read_records(path, problems)
    _check_meanings(records, problems)
    return _made(records, delimited, label_field, problems)


#: Rows as a user gives them: a Dataset, rows that are dictionaries, or their file.
Data = Dataset | Sequence[Mapping[str, Any]] | FilePath


def open_dataset(data: Data, *, label_field: str = "id") -> Dataset:
    """
    Take rows as a user gives them: checked, and under the names of `COLUMNS`.

    ```python
    from haystack_eval_ext.runs.dataset import open_dataset

    data = open_dataset([{"query": "Who pays?", "relevant_documents": ["d1"]}])
    print(data.rows[0]["question"], data.rows[0]["relevant_documents"][0].id)
    # Who pays? d1
    ```

    :param data: A file; rows, as :func:`read_dataset` takes them from JSON, whose documents may also be Documents; or a
        Dataset of such rows.
    :param label_field: As for :func:`read_dataset`.
    :returns: The rows.
    :raises ValueError: If `label_field` is not as for :func:`read_dataset`.
    :raises TypeError: If it is something else.
    :raises DatasetError: If anything in it is wrong; every fault is listed with its line or row.
    """
    if isinstance(data, str | os.PathLike):
        return read_dataset(data, label_field=label_field)
    check_label_field(label_field)
    path, rows = (data.path, data.rows) if isinstance(data, Dataset) else ("rows", data)
    if not isinstance(rows, list | tuple):
        msg = f"data must be a file, a list of rows, or a Dataset, but is {describe(data)}."
        raise TypeError(msg)
    problems = Problems(path, in_file=False)
    records = []
    for number, row in enumerate(rows):
        if isinstance(row, Mapping) and all(isinstance(name, str) for name in row):
            records.append(Record(number, dict(row)))
        else:
            problems.add(f"{kind_of(row)}, expected a dict of columns by name", number)
    if not rows:
        problems.add("there are no rows")
    _check_meanings(records, problems)
    return _made(records, False, label_field, problems)


def _made(records: list[Record], delimited: bool, label_field: str, problems: Problems) -> Dataset:
    """Parse cells, fill what may be missing, and name the rows; all faults are reported together."""
    parsers = cell_parsers(label_field)
    rows: list[dict[str, Any]] = []
    for record in records:
        row: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, value in record.values.items():
            column = BY_NAME.get(name)
            if column is None:
                others[name] = None if delimited and value == "" else value
                continue
            try:
                cell = delimited_cell(value, column.kind, label_field) if delimited else value
                parsed = None if cell is None else parsers[column.kind](cell)
            except BadCellError as error:
                problems.add(str(error), record.line, name)
                parsed = _BAD
            if parsed is not None:
                row[column.name] = parsed
        rows.append(row | others)
    lines = [record.line for record in records]
    _fill(rows, lines, problems)
    _name_rows(rows, lines, problems)
    raise_if_any(DatasetError, [problems])
    return Dataset(problems.path, [_ordered(row) for row in rows])


def beir_documents(beir: BeirFolder) -> list[Document]:
    """
    Make the corpus of a BEIR folder Documents for a store.

    :param beir: The folder's contents.
    :returns: One Document a corpus line: its id, as content the title and the text with a blank between them (what
        BEIR's own retrievers index), as meta its metadata, the title if there is one, and any further fields.
    """
    documents = []
    for key, entry in beir.corpus.items():
        apart = ("text", "metadata") if entry["title"] else ("text", "metadata", "title")
        meta = entry["metadata"] | {name: value for name, value in entry.items() if name not in apart}
        documents.append(Document(id=key, content=f"{entry['title']} {entry['text']}".strip(), meta=meta))
    return documents


def beir_dataset(beir: BeirFolder, split: str) -> Dataset:
    """
    Make the judged queries of one split evaluation rows.

    :param beir: The folder's contents.
    :param split: Such as "test".
    :returns: Rows with id, question and relevant_documents, in the order of the labels.
    :raises ValueError: If there is no such split.
    :raises DatasetError: If it has labels for queries whose text is missing.
    """
    if split not in beir.qrels:
        msg = f"{beir.path or 'The BEIR folder'} has no split {split!r}, expected one of {', '.join(beir.qrels)}."
        raise ValueError(msg)
    qrels = beir.qrels[split]
    problems = Problems(beir.path or "queries.jsonl")
    for query in qrels:
        if query not in beir.queries:
            problems.add(f"query {query!r} has labels in {split!r} but no text, expected it in queries.jsonl")
    raise_if_any(DatasetError, [problems])
    rows = [
        {
            "id": query,
            "question": beir.queries[query],
            "relevant_documents": [Document(id=key, score=float(grade)) for key, grade in grades.items()],
        }
        for query, grades in qrels.items()
    ]
    return Dataset(beir.path, rows)


def _read_records(path: FilePath, problems: Problems) -> tuple[list[Record], bool]:
    """Read by suffix; the flag tells that all values are cell texts."""
    name = os.fspath(path).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    if suffix not in SUFFIXES:
        problems.add(f"the suffix is {suffix!r}, expected one of {', '.join(SUFFIXES)} (or these with .gz)")
        return [], False
    text = read_text(path, problems)
    if not text:
        return [], False
    if suffix in (".csv", ".tsv"):
        return csv_records(text, "," if suffix == ".csv" else "\t", problems), True
    return (json_records if suffix == ".json" else jsonl_records)(text, problems), False


def _check_meanings(records: list[Record], problems: Problems) -> None:
    """Two columns of one meaning in one file are a problem: taking either would be a guess."""
    names: dict[str, str] = {}
    reported: set[str] = set()
    for record in records:
        for name in record.values:
            column = BY_NAME.get(name)
            if column is None or names.setdefault(column.name, name) == name or name in reported:
                continue
            reported.add(name)
            problems.add(
                f"columns {names[column.name]!r} and {name!r} both mean {column.name!r}, expected one of them",
                record.line,
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
            shown = ", ".join(map(str, missing[:_SHOWN])) + (", ..." if len(missing) > _SHOWN else "")
            hint = ' (an empty text is "")' if column.kind == "text" else ""
            problems.add(
                f"missing in {len(missing)} of {len(rows)} rows ({problems.unit}s {shown}), "
                f"expected in every row or in none{hint}",
                column=name,
            )


def _name_rows(rows: list[dict[str, Any]], lines: list[int], problems: Problems) -> None:
    if any("id" in row for row in rows):
        first: dict[str, int] = {}
        for row, line in zip(rows, lines, strict=True):
            key = row.get("id")
            if key in first:
                problems.add(f"{key!r} again, first in {problems.unit} {first[key]}; expected each id once", line, "id")
            elif isinstance(key, str):
                first[key] = line
        return
    if rows and not any("question" in row for row in rows):
        came = ", ".join(map(repr, list(rows[0])[:_SHOWN]))
        problems.add(f"neither an id nor a question column among {came}, expected one of them to name the rows by")
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
