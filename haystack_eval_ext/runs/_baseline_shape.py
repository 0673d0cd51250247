# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a baseline, which lies in a repository where people edit and merge it: checked once, when it is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.runs._lines import kind_of
from haystack_eval_ext.runs._scored import NO_NUMBER, OF_FAILED, STATUSES
from haystack_eval_ext.runs._spread import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def wrong_in_baseline(head: Mapping[str, Any], rows: Any) -> str | None:
    """
    Find what is wrong with a baseline.

    :param head: Everything but the rows.
    :param rows: The rows.
    :returns: The first fault, which names the row or the metric; None if there is none.
    """
    return next(_faults(head, rows), None)


def _faults(head: Mapping[str, Any], rows: Any) -> Iterator[str]:
    yield from _unlike(head, _HEAD, "")
    metrics = head["metrics"]
    if not metrics:
        yield "'metrics' is empty, expected at least one"
    for name, made in metrics.items():
        of = f" of metric '{name}'"
        if not isinstance(made, dict):
            yield f"metric '{name}' is {_kind(made)}, expected an object"
        yield from _unlike(made, _METRIC, of)
        if made["judge"] is not None:
            yield from _unlike(made["judge"], _JUDGE, f"{of}, of its judge")
    if not isinstance(rows, list) or not rows:
        yield f"'rows' is {'empty' if rows == [] else _kind(rows)}, expected a list with one row for each question"
    known: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        yield from _row_faults(row, f" of row {number}", metrics, known, number)


def _row_faults(row: Any, of: str, metrics: Mapping[str, Any], known: dict[str, int], number: int) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"row {number} is {_kind(row)}, expected an object"
    yield from _unlike(row, _ROW, of)
    first = known.setdefault(row["id"], number)
    if first != number:
        yield f"row {number} has the id of row {first}"
    if "repeat" in row:
        yield f"row {number} has a 'repeat', but a baseline has one row for each question"
    scores, statuses, failed = row["scores"], row.get("statuses") or {}, row.get(OF_FAILED) or {}
    missing = [name for name in metrics if name not in scores]
    if missing:
        yield f"'scores'{of} lacks metric '{missing[0]}'"
    for what, found in (("scores", scores), ("statuses", statuses), (OF_FAILED, failed)):
        unknown = [name for name in found if name not in metrics]
        if unknown:
            yield f"'{what}'{of} holds '{unknown[0]}', which is none of the metrics above"
    for name, score in scores.items():
        status = statuses.get(name, "scored")
        if score is not None and not _number(score):
            yield f"the score of '{name}'{of} is {_kind(score)}, expected a number or null"
        if status not in STATUSES:
            yield f"the status of '{name}'{of} is none of {', '.join(STATUSES)}"
        if status == "scored" and score is None:
            yield f"the score of '{name}'{of} is null, but its status says that there is one"
        if status in NO_NUMBER and score is not None:
            yield f"the score of '{name}'{of} is a number, but its status is '{status}'"
    for name, share in failed.items():
        # All of them: one that was to be scored and was not reached. Where all failed, the status says so.
        most = 1.0 if statuses.get(name) == "not_run" else math.nextafter(1.0, 0.0)
        if not (_number(share) and 0 <= share <= most):
            yield f"'{OF_FAILED}' of '{name}'{of} is no share from 0 to 1"


class _Expected:
    """What an entry must be."""

    def __init__(self, what: str, fits: Callable[[Any], bool], *, needed: bool = True) -> None:
        self.what, self.fits, self.needed = what, fits, needed

    def optional(self) -> _Expected:
        return _Expected(f"{self.what} or nothing", lambda value: value is None or self.fits(value), needed=False)


def _unlike(found: Mapping[str, Any], expected: Mapping[str, _Expected], of: str) -> Iterator[str]:
    for name, entry in expected.items():
        if name not in found:
            if entry.needed:
                yield f"'{name}'{of} is missing, expected {entry.what}"
        elif not entry.fits(found[name]):
            kind = _kind(found[name])
            came = "holds something else" if kind == entry.what.partition(" of ")[0] else f"is {kind}"
            yield f"'{name}'{of} {came}, expected {entry.what}"


def _kind(value: Any) -> str:
    return "a number out of range" if _any_number(value) and not _number(value) else kind_of(value)


def _any_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return _any_number(value) and -LARGEST <= value <= LARGEST and not math.isnan(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


_TEXT = _Expected("a text", _text)
_TEXTS = _Expected("a list of texts", _texts)
_OBJECT = _Expected("an object", lambda value: isinstance(value, dict))
_OF_TEXTS = _Expected("an object of texts", lambda value: isinstance(value, dict) and all(map(_text, value.values())))
_FLAG = _Expected("true or false", lambda value: isinstance(value, bool))
_HEAD = {
    "format": _Expected("a number", _number),
    "name": _TEXT,
    "created": _TEXT.optional(),
    "data": _Expected(
        "an object whose file and fingerprints are texts",
        lambda value: (
            isinstance(value, dict)
            and all(
                each is None or _text(each)
                for each in map(value.get, ("file", "question_fingerprint", "label_fingerprint"))
            )
        ),
    ),
    "settings": _OBJECT,
    "versions": _OF_TEXTS.optional(),
    "metrics": _OBJECT,
    "setup": _Expected(
        "an object of objects",
        lambda value: (
            isinstance(value, dict) and all(each is None or isinstance(each, dict) for each in value.values())
        ),
    ).optional(),
}
_METRIC = {
    "component": _TEXT,
    "type": _TEXT,
    "parameters": _OBJECT,
    "lower_is_better": _FLAG,
    "judge": _Expected("an object or null", lambda value: value is None or isinstance(value, dict)),
    "prompts": _OF_TEXTS,
    "rule": _Expected("a number", _number).optional(),
}
_JUDGE = {"generator": _TEXT, "model": _Expected("a text or null", lambda v: v is None or _text(v)), "models": _TEXTS}
_ROW = {
    "id": _TEXT,
    "fingerprint": _TEXT,
    "cluster": _Expected("a text", lambda value: _text(value) or _number(value)).optional(),
    "tags": _TEXTS.optional(),
    "scores": _OBJECT,
    "statuses": _OF_TEXTS.optional(),
    OF_FAILED: _OBJECT.optional(),
}
