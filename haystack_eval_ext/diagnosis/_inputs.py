# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of scores and statuses that other components gave; every message names the socket and the row."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, get_args

from haystack_eval_ext._batches import describe, rows_of
from haystack_eval_ext._rows import answers, flags
from haystack_eval_ext._scores import Status
from haystack_eval_ext._text import blank
from haystack_eval_ext.diagnosis._refusals import declines_by_words
from haystack_eval_ext.diagnosis._rules import EMPTY, WORDS
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A number, or the status of a score that is none.
Entry = float | str

_STATUSES: tuple[str, ...] = get_args(Status)
# Single precision may lift a similarity a little beyond 1.
_LIMIT = 1 + 1e-6


def score_columns(scores: Mapping[str, Any], statuses: Mapping[str, Any]) -> dict[str, list[Entry]]:
    """
    Bring scores and statuses together.

    :param scores: The value of each socket `<name>_scores` by name, the mandatory one first; None: not connected.
    :param statuses: The value of each socket `<name>_statuses`, likewise.
    :returns: One entry per question for each name that has scores.
    :raises ValueError: If there are no rows, the sockets differ in length, a score is out of range, a status is unknown
        or has no scores beside it.
    :raises TypeError: If something is not a list, a number or a text.
    """
    lengths: dict[str, int] = {}
    columns: dict[str, list[Entry]] = {}
    for name, values in scores.items():
        told = statuses[name]
        if values is None and columns:  # only the first is mandatory
            if told is not None:
                msg = f"{name}_statuses came without {name}_scores: connect both, or neither."
                raise InvalidValueError(msg)
            continue
        numbers = [_score(value, f"{name}_scores[{row}]") for row, value in enumerate(_list(f"{name}_scores", values))]
        lengths[f"{name}_scores"] = len(numbers)
        gaps = ["scored"] * len(numbers) if told is None else _told(f"{name}_statuses", told)
        if told is not None:
            lengths[f"{name}_statuses"] = len(gaps)
        # A length that differs is refused below, with those of all sockets.
        columns[name] = [_entry(number, status) for number, status in zip(numbers, gaps, strict=False)]
    _check_lengths(lengths)
    return columns


def flag_rows(socket: str, value: Any, total: int, *, unset: bool) -> list[bool]:
    """
    Read a socket of flags.

    :param socket: Its name.
    :param value: Its value; None: not connected.
    :param total: How many questions have scores.
    :param unset: What holds where nothing is said.
    :returns: A flag for each question.
    :raises ValueError: If there are more or fewer.
    :raises TypeError: If something else is in it.
    """
    if value is None:
        return [unset] * total
    found = flags(socket, value)
    _check_lengths({"retrieval_scores": total, socket: len(found)})
    return [unset if flag is None else flag for flag in found]


def declining_rows(predicted_answers: Any, total: int) -> list[str | None]:
    """
    Tell which answers decline, as far as that can be told without a judge.

    :param predicted_answers: The value of the socket; None: not connected.
    :param total: How many questions have scores.
    :returns: For each answer what shows that it declines; None: nothing.
    :raises ValueError: If there are more or fewer, or a message is no answer.
    :raises TypeError: If something else is in it.
    """
    if predicted_answers is None:
        return [None] * total
    found = answers("predicted_answers", predicted_answers)
    _check_lengths({"retrieval_scores": total, "predicted_answers": len(found)})
    return [EMPTY if blank(answer) else WORDS if declines_by_words(answer) else None for answer in found]


def _list(socket: str, value: Any) -> list[Any]:
    return rows_of(socket, value, "with one entry per question")


def _score(value: Any, place: str) -> float:
    if value is None:  # how strict JSON writes NaN
        return math.nan
    if not isinstance(value, Real):
        msg = (
            f"{place} must be a number (NaN where there is no score), but is {describe(value)}. Connect the "
            "individual_scores of a metric."
        )
        raise InvalidTypeError(msg)
    number = float(value)
    if not math.isnan(number) and abs(number) > _LIMIT:
        msg = (
            f"{place} must be at most 1, which is the best score, and at least -1, but is {number!r}. Bring a metric "
            "with another range to 0..1 first."
        )
        raise InvalidValueError(msg)
    return number


def _told(socket: str, value: Any) -> list[str]:
    statuses = _list(socket, value)
    for row, status in enumerate(statuses):
        if not isinstance(status, str):
            msg = f"{socket}[{row}] must be a status, but is {describe(status)}. Connect the statuses of a metric."
            raise InvalidTypeError(msg)
        if status not in _STATUSES:
            # What it says is not shown: a wrong connection may have brought a user's text.
            msg = f"{socket}[{row}] must be one of {', '.join(map(repr, _STATUSES))}, but is another text."
            raise InvalidValueError(msg)
    return statuses


def _entry(number: float, status: str) -> Entry:
    if status != "scored":
        return status
    return "undefined" if math.isnan(number) else number


def _check_lengths(lengths: Mapping[str, int]) -> None:
    if not any(lengths.values()):
        verb = "hold" if len(lengths) > 1 else "holds"
        msg = f"{' and '.join(lengths)} {verb} no rows: at least one question is needed."
        raise InvalidValueError(msg)
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{socket} has {length}" for socket, length in lengths.items())
        msg = (
            f"All inputs must have the same number of rows, but {found}. Give every score of the same questions, in "
            "the same order; NaN where there is none."
        )
        raise InvalidValueError(msg)
