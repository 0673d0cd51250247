# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a run's files, checked once when they are read: whoever uses a run need not ask again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Shape = Callable[[Any], bool]

_RUN_STATUSES = ("ok", "error")


def _optional(shape: Shape) -> Shape:
    return lambda value: value is None or shape(value)


def _list_of(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def _dict_of(shape: Shape) -> Shape:
    return lambda value: isinstance(value, dict) and all(map(shape, value.values()))


def _has(names: Mapping[str, Shape]) -> Shape:
    """A dict in which what is there of these has its shape."""
    return lambda value: (
        isinstance(value, dict) and all(shape(value[name]) for name, shape in names.items() if name in value)
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _dict(value: Any) -> bool:
    return isinstance(value, dict)


_REQUIRED: dict[str, Shape] = {
    "created": _text,
    "texts": _flag,
    "versions": _dict_of(_text),
    "metrics": lambda value: _dict_of(_dict)(value) and bool(value),
}
_MANIFEST: dict[str, Shape] = {
    "data": _has(
        {
            "file": _optional(_text),
            "questions": _optional(_number),
            "question_fingerprint": _optional(_text),
            "label_fingerprint": _optional(_text),
        }
    ),
    "pipelines": _dict_of(_optional(_text)),
    "usage": _dict_of(_dict),
    "rag_usage": _optional(
        _has(
            {
                "tokens": _dict_of(_dict_of(_number)),
                "cost": _optional(_number),
                "seconds": _number,
                "components": _dict_of(_has({"calls": _number, "seconds": _number})),
            }
        )
    ),
    "corpus": _dict_of(_dict),
    "setup": _dict_of(_optional(_dict)),
    "spread": _dict_of(_optional(_number)),
    "diagnoses": _dict_of(
        _has(
            {
                "counts": _dict_of(_number),
                "stages": _list_of(_dict),
                "labels": _dict_of(_text),
                "reasons": _dict_of(_text),
            }
        )
    ),
    "unanswerable": _list_of(_text),
    "answerability": _dict_of(
        _has({"questions": _number, "scores": _dict_of(_optional(_number)), "labels": _dict_of(_dict_of(_number))})
    ),
    "never_retrieved": _dict_of(lambda value: isinstance(value, list)),
    "warnings": _list_of(_text),
}
_DOCUMENT = _has({"id": _optional(_text), "content": _optional(_text), "meta": _optional(_dict)})
_ROW: dict[str, Shape] = {
    "cluster": _optional(_text),
    "tags": _optional(_list_of(_text)),
    "question": _optional(_text),
    "answer": _optional(_text),
    "other_answer": _optional(_text),
    "reference_answer": _optional(lambda value: _text(value) or _list_of(_text)(value)),
    "answerable": _optional(_flag),
    "retrieval_skipped": _optional(_flag),
    "needs": _optional(lambda value: _text(value) or _list_of(_list_of(_number))(value)),
    "contexts": _optional(_list_of(_text)),
    "documents": _optional(_list_of(_DOCUMENT)),
    "relevant_documents": _optional(_list_of(_DOCUMENT)),
    "columns": _optional(_dict),
    "status": lambda value: value in _RUN_STATUSES,
    "error": _optional(_dict_of(_optional(_text))),
    "stages": _optional(_dict_of(_list_of(_DOCUMENT))),
    "components": _optional(_list_of(_has({"name": _text, "seconds": _optional(_number)}))),
    "seconds": _optional(_number),
    "tokens": _optional(_dict_of(_has({"prompt": _number, "completion": _number}))),
    "cost": _optional(_number),
}


def wrong_in_manifest(manifest: Mapping[str, Any]) -> str:
    """
    Find what is wrong with a manifest.

    :param manifest: That of a run or a baseline.
    :returns: The name of an entry that is missing or has another form; "" if there is none.
    """
    for name, shape in _REQUIRED.items():
        if name not in manifest or not shape(manifest[name]):
            return name
    return _wrong(manifest, _MANIFEST)


def wrong_in_rows(rows: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """
    Find what is wrong with the rows of a run.

    :param rows: The rows.
    :returns: The number of a row from 0 and the name of an entry that has another form, or that only some rows have;
        None if there is none.
    """
    asked = bool(rows) and "status" in rows[0]
    for number, row in enumerate(rows):
        if ("status" in row) != asked:
            return number, "status"
        if name := _wrong(row, _ROW):
            return number, name
    return None


def _wrong(found: Mapping[str, Any], shapes: Mapping[str, Shape]) -> str:
    return next((name for name, shape in shapes.items() if name in found and not shape(found[name])), "")
