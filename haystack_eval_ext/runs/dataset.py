# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation rows from files, tables and BEIR folders, under one set of column names."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haystack import Document

from haystack_eval_ext.errors import DatasetError, InvalidValueError
from haystack_eval_ext.runs._columns import COLUMNS, IGNORED, SKIPPED, Column
from haystack_eval_ext.runs._csv_files import csv_records
from haystack_eval_ext.runs._exported import from_export
from haystack_eval_ext.runs._fingerprints import label_part, order_free_hash
from haystack_eval_ext.runs._json_files import json_records, jsonl_records
from haystack_eval_ext.runs._labels import check_label_field
from haystack_eval_ext.runs._lines import FilePath, Problems, Record, kind_of, raise_if_any, read_text
from haystack_eval_ext.runs._rows_of_data import data_rows
from haystack_eval_ext.runs._tables import parquet_rows, rows_of_object, tidy
from haystack_eval_ext.runs._vocabularies import check_columns, meanings
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

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_SPREADSHEETS = frozenset((".xls", ".xlsx", ".xlsm", ".ods"))


@dataclass(frozen=True)
class Dataset:
    """
    Evaluation rows, in the order of their file.

    :param path: Where they came from.
    :param rows: One dict a row: the columns of `COLUMNS` under their own names first, then all others as they were.
    """

    path: str
    rows: list[dict[str, Any]]

    @classmethod
    def of(
        cls, data: "Data", *, name: str = "rows", label_field: str = "id", columns: Mapping[str, str] | None = None
    ) -> "Dataset":
        """
        Make a data set of rows that are at hand: checked, and under the names of `COLUMNS`.

        ```python
        from haystack_eval_ext import Dataset

        data = Dataset.of([{"query": "Who pays?", "relevant_documents": ["d1"]}], name="payments")
        print(data.path, data.rows[0]["question"], data.rows[0]["relevant_documents"][0].id)
        # payments Who pays? d1
        ```

        :param data: Rows that are dictionaries, a table of another package, or whatever else
            :func:`open_dataset` takes.
        :param name: What reports and messages call them.
        :param label_field: As for :func:`read_dataset`.
        :param columns: As for :func:`read_dataset`.
        :returns: The data set.
        :raises ValueError: As :func:`open_dataset`.
        :raises TypeError: As :func:`open_dataset`.
        :raises DatasetError: As :func:`open_dataset`.
        """
        return cls(name, open_dataset(data, label_field=label_field, columns=columns).rows)

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
    def skipped(self) -> list[str]:
        """Ids of the rows with `retrieval_skipped` true, which leave the retrieval means as well."""
        return [row["id"] for row in self.rows if row.get(SKIPPED) is True]

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
            raise InvalidValueError(msg)
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
            # An empty list is a row without a reference.
            if column.kind == "references" and any(isinstance(value, list) and value for value in values):
                values = [value if isinstance(value, list) else [value] for value in values]
            inputs[column.socket] = values
        return inputs


def read_dataset(path: FilePath, *, label_field: str = "id", columns: Mapping[str, str] | None = None) -> Dataset:
    """
    Read evaluation rows from `.jsonl`, `.ndjson`, `.json`, `.csv`, `.tsv` (each also with `.gz`) or `.parquet`.

    Columns may have any name in `COLUMNS`, or one that other tools use and that means one thing. null and an empty CSV
    cell are a missing value. A column of `COLUMNS` is in every row or in none, except: `answerable` is true, and `tags`
    and `reference_answer` are [] where missing, and a row with `answerable` false may lack `relevant_documents` (then
    []). Without an id column a row's id is derived from its question, with "#2", "#3" for repeats.

    In CSV and TSV, a cell of `documents`, `relevant_documents` or `tags` is a list (JSON, or as Python prints it) when
    it starts with [ or {, otherwise parts separated by |. One of `contexts` or `reference_answer` is a list when it
    starts with [ and a quotation mark or brace, otherwise one text. An empty cell of a list column is [].

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack_eval_ext.runs.dataset import read_dataset

    with TemporaryDirectory() as folder:
        file = Path(folder) / "questions.csv"
        file.write_text("qid,query,relevant_documents\\nq1,Who pays for lunch?,d1|d7\\n", "utf-8")
        data = read_dataset(file)
    print(data.ids, [document.id for document in data.column("relevant_documents")[0]])
    # ['q1'] ['d1', 'd7']
    ```

    :param path: The file, UTF-8.
    :param label_field: Where the key of a document that is given by a key goes: "id", "content" or "meta.<key>". It is
        the `document_comparison_field` of the evaluators. An integer key stays one in meta, where 7 and "7" differ, and
        becomes a str in id and content; the keys of {key: grade} and of CSV parts are texts.
    :param columns: What columns mean whose names do not say it: {"reference_answer": "gold"}. "a.b" reaches into an
        object. It goes before all names.
    :returns: The rows.
    :raises ValueError: If `label_field` is none of these, or `columns` names no column of `COLUMNS`.
    :raises DatasetError: If anything in the file is wrong; every fault is listed with its line or entry.
    """
    check_label_field(label_field)
    said = check_columns(columns)
    problems = Problems(path)
    records, delimited = _read_records(path, problems)
    return _dataset(records, said, problems, delimited=delimited, label_field=label_field)


#: Rows as a user gives them: a Dataset, rows that are dictionaries, a table of another package, or their file.
Data = Dataset | Sequence[Mapping[str, Any]] | FilePath | Any


def open_dataset(data: Data, *, label_field: str = "id", columns: Mapping[str, str] | None = None) -> Dataset:
    """
    Take rows as a user gives them: checked, and under the names of `COLUMNS`.

    ```python
    from haystack_eval_ext.runs.dataset import open_dataset

    data = open_dataset([{"query": "Who pays?", "relevant_documents": ["d1"]}])
    print(data.rows[0]["question"], data.rows[0]["relevant_documents"][0].id)
    # Who pays? d1
    ```

    :param data: A file; rows, as :func:`read_dataset` takes them from JSON, whose documents may also be Documents; a
        Dataset of such rows; or a table: a DataFrame, a data set of Hugging Face, an Arrow table, a dictionary of
        columns. NaN in a table is a missing value.
    :param label_field: As for :func:`read_dataset`.
    :param columns: As for :func:`read_dataset`.
    :returns: The rows.
    :raises ValueError: If `label_field` or `columns` is not as for :func:`read_dataset`.
    :raises TypeError: If it is something else.
    :raises DatasetError: If anything in it is wrong; every fault is listed with its line or row.
    """
    if isinstance(data, str | os.PathLike):
        return read_dataset(data, label_field=label_field, columns=columns)
    check_label_field(label_field)
    said = check_columns(columns)
    path, rows = (data.path, data.rows) if isinstance(data, Dataset) else ("rows", rows_of_object(data))
    problems = Problems(path, "row")
    if not rows:
        problems.add("there are no rows")
    return _dataset(_records(rows, 0, problems), said, problems, delimited=False, label_field=label_field)


def read_records(data: Data, problems: Problems, kept: Collection[str] = ()) -> list[Record]:
    """
    Take rows as they are, whatever they hold.

    :param data: As for :func:`open_dataset`.
    :param problems: Takes what cannot be read.
    :param kept: Columns that stay, also if they look like the scores of an exported run.
    :returns: The rows. Those of an exported run are without its scores.
    """
    delimited = False
    if isinstance(data, str | os.PathLike):
        records, delimited = _read_records(data, problems)
    else:
        problems.unit = "row"
        records = _records(data.rows if isinstance(data, Dataset) else rows_of_object(data), 0, problems)
    return from_export(records, problems, delimited=delimited, kept=kept)


def _records(rows: Sequence[Any], first: int, problems: Problems) -> list[Record]:
    records = []
    for place, row in enumerate(rows, start=first):
        if isinstance(row, Mapping) and all(isinstance(name, str) for name in row):
            records.append(Record(place, {name: tidy(value) for name, value in row.items()}))
        else:
            problems.add(f"{kind_of(row)}, expected a dict of columns by name", place)
    return records


def _dataset(
    records: list[Record], said: Mapping[str, str], problems: Problems, *, delimited: bool, label_field: str
) -> Dataset:
    """All faults are reported together."""
    records = from_export(records, problems, delimited=delimited, kept=said.values())
    found = meanings(records, said, problems)
    rows = data_rows(found, problems, delimited=delimited, label_field=label_field)
    raise_if_any(DatasetError, [problems])
    return Dataset(problems.path, rows)


def _read_records(path: FilePath, problems: Problems) -> tuple[list[Record], bool]:
    """Read by suffix; the flag tells that all values are cell texts."""
    name = os.fspath(path).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    if suffix not in SUFFIXES:
        hint = ": save the sheet as CSV UTF-8" if suffix in _SPREADSHEETS else " (or these with .gz)"
        problems.add(f"the suffix is {suffix!r}, expected one of {', '.join(SUFFIXES)}{hint}")
        return [], False
    if suffix == ".parquet":
        return _parquet_records(path, problems), False
    text = read_text(path, problems)
    if not text:
        return [], False
    if suffix in (".csv", ".tsv"):
        return csv_records(text, "," if suffix == ".csv" else "\t", problems), True
    return (json_records if suffix == ".json" else jsonl_records)(text, problems), False


def _parquet_records(path: FilePath, problems: Problems) -> list[Record]:
    problems.unit = "entry"
    try:
        rows = parquet_rows(path)
    except ImportError as error:
        problems.add(str(error))
        return []
    except OSError as error:
        problems.add(f"cannot be read: {error.strerror or 'is not a whole Parquet file'}")
        return []
    except Exception as error:  # whatever pyarrow raises; its message may quote the data
        problems.add(f"is not a whole Parquet file ({type(error).__name__})")
        return []
    if not rows:
        problems.add("there are no rows")
    return _records(rows, 1, problems)


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


def beir_dataset(beir: BeirFolder, split: str, *, ignore_identical_ids: bool = False) -> Dataset:
    """
    Make the judged queries of one split evaluation rows.

    :param beir: The folder's contents.
    :param split: Such as "test".
    :param ignore_identical_ids: Leave out of every ranking the document whose id is that of its query, as BEIR does: in
        ArguAna and Quora the queries are documents themselves. Rows then have the column ignored_documents. Retrieve
        one document more than the largest cut-off.
    :returns: Rows with id, question and relevant_documents, in the order of the labels.
    :raises ValueError: If there is no such split.
    :raises DatasetError: If it has labels for queries whose text is missing.
    """
    if split not in beir.qrels:
        msg = f"{beir.path or 'The BEIR folder'} has no split {split!r}, expected one of {', '.join(beir.qrels)}."
        raise InvalidValueError(msg)
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
        | ({IGNORED: [query]} if ignore_identical_ids else {})
        for query, grades in qrels.items()
    ]
    return Dataset(beir.path, rows)
