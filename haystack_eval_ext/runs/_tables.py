# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows out of the objects of other packages, and out of Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from haystack import Document

from haystack_eval_ext._batches import as_list, describe
from haystack_eval_ext._parameters import plain
from haystack_eval_ext.errors import InvalidTypeError, MissingPackageError

_EXPECTED = "a file, a list of rows, a DataFrame, or a Dataset"
# What most cells hold, and what needs no look.
_TIDY = frozenset((str, int, bool, type(None), dict, Document))
# pandas and others have classes of their own for a missing value; most of them are not even equal to themselves.
_MISSING = frozenset(("NAType", "NaTType"))


def rows_of_object(data: Any) -> list[Any]:
    """
    Take the rows of whatever holds rows: a list or tuple, a DataFrame, a data set of Hugging Face, an Arrow table.

    :param data: The object; a dictionary of columns counts as well.
    :returns: Its rows, each most likely a dictionary.
    :raises TypeError: If it holds no rows; the message says what to give.
    """
    if isinstance(data, Mapping):
        return _turned(data)
    for name, arguments in (("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(data, "columns") and callable(method := getattr(data, name, None)):
            return list(method(*arguments))
    rows = as_list(data)
    if isinstance(rows, list):
        return rows
    once = " It can be read only once: give list(x)." if isinstance(data, Iterable) and not _is_text(data) else ""
    msg = f"data must be {_EXPECTED}, but is {describe(data)}.{once}"
    raise InvalidTypeError(msg)


def tidy(value: Any) -> Any:
    """
    Bring a cell of a table into what a row holds.

    :param value: The cell.
    :returns: None for a missing value, a list for an array, Python's number for numpy's; anything else as it is.
    """
    if type(value) in _TIDY or (type(value) is list and _TIDY.issuperset(map(type, value))):
        return value
    if type(value).__name__ in _MISSING or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN
        return None
    return plain(as_list(value)) if not isinstance(value, Mapping) else value


def parquet_rows(path: Any) -> list[dict[str, Any]]:
    """
    Read a Parquet file.

    :param path: The file.
    :returns: Its rows.
    :raises ImportError: If pyarrow is not installed; the message says how it is.
    :raises OSError: If the file cannot be read.
    :raises ValueError: If it is no Parquet file; pyarrow's own error.
    """
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        msg = 'Parquet files need pyarrow: pip install "haystack-eval-ext[parquet]"'
        raise MissingPackageError(msg) from error
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def _turned(columns: Mapping[Any, Any]) -> list[Any]:
    tables = [name for name, column in columns.items() if hasattr(column, "column_names")]
    values = {name: column if name in tables else as_list(column) for name, column in columns.items()}
    if tables or not values or not all(isinstance(value, list) for value in values.values()):
        hint = f" Give one of its splits, such as data[{tables[0]!r}]." if tables else " A single row is a list: [row]."
        msg = f"data must be {_EXPECTED}, but is {describe(columns)}.{hint}"
        raise InvalidTypeError(msg)
    lengths = {len(value) for value in values.values()}
    if len(lengths) > 1:
        msg = f"data has columns of different lengths ({', '.join(map(str, sorted(lengths)))}); give one entry a row."
        raise InvalidTypeError(msg)
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)
