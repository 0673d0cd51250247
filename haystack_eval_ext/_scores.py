# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From one value per row to ``individual_scores``, ``score`` and ``statuses``: the same for every metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from haystack import logging

from haystack_eval_ext._parameters import check_choice

if TYPE_CHECKING:
    import numpy.typing as npt

logger = logging.getLogger(__name__)

OnUndefined = Literal["zero", "nan", "raise"]
Status = Literal["scored", "undefined", "error", "not_run"]

# Enough rows to find the fault in the data; more would hide the message.
_LISTED_ROWS = 10


class UndefinedScore(ValueError):  # noqa: N818 - named after what happened to the score
    """The definition of a metric gives no number for a row, for example recall without relevant documents."""


class FailedRowsError(RuntimeError):
    """
    Rows could not be scored, because a model or service failed. ``result`` holds the outputs with all other rows.

    Raised after every row was tried, if a component's ``raise_on_failure`` is set.
    """

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        """
        Create the error.

        :param message: What failed, and in which rows.
        :param result: What ``run`` would have returned.
        """
        super().__init__(message)
        self.result = result


class RowScores(NamedTuple):
    """The three outputs that every component has, one entry per input row except ``score``."""

    score: float
    individual_scores: list[float]
    statuses: list[str]


def check_on_undefined(on_undefined: str) -> None:
    """
    Refuse a policy that does not exist.

    :param on_undefined: The init parameter of a component.
    :raises ValueError: If it is none of "zero", "nan", "raise".
    """
    check_choice("on_undefined", on_undefined, get_args(OnUndefined))


def list_rows(rows: npt.NDArray[np.intp] | list[int], names: list[str] | None = None) -> str:
    """
    Name rows in a message, the first ten of them.

    :param rows: Row numbers, from 0.
    :param names: Names of all rows; None: their numbers.
    :returns: For example ``"rows 3, 7, 9"``, or ``"row q3"``.
    """
    shown = ", ".join(str(row if names is None else names[row]) for row in rows[:_LISTED_ROWS])
    more = f" and {len(rows) - _LISTED_ROWS} more" if len(rows) > _LISTED_ROWS else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


def aggregate(
    values: npt.NDArray[np.float64], on_undefined: OnUndefined, failed: npt.NDArray[np.bool_] | None = None
) -> RowScores:
    """
    Apply the ``on_undefined`` policy and take the mean.

    :param values: One value per row; NaN where the metric is undefined.
    :param on_undefined: "zero" counts an undefined row as 0, "nan" leaves it out of the mean. "raise" is the business
        of :func:`report_undefined`, which must be called before.
    :param failed: True for each row whose score could not be found out: it is NaN and out of the mean, whatever the
        policy.
    :returns: The outputs of a component, as plain Python floats; the score is NaN when no row has one.
    """
    undefined = np.isnan(values)
    if failed is None or not failed.any():
        failed = None
        if not undefined.any():
            return RowScores(float(values.mean()), values.tolist(), ["scored"] * len(values))
    statuses = ["undefined" if row else "scored" for row in undefined.tolist()]
    if on_undefined == "zero":
        values = np.where(undefined, 0.0, values)
    if failed is not None:
        values = np.where(failed, np.nan, values)
        for row in np.flatnonzero(failed).tolist():
            statuses[row] = "error"
    scored = values[~np.isnan(values)]
    return RowScores(float(scored.mean()) if len(scored) else math.nan, values.tolist(), statuses)


def report_undefined(
    undefined: npt.NDArray[np.bool_],
    on_undefined: OnUndefined,
    *,
    metric: str,
    reason: str,
    names: list[str] | None = None,
) -> None:
    """
    Tell once per run how many rows have no score, or refuse them.

    :param undefined: True for each row without a score.
    :param on_undefined: The policy of the component.
    :param metric: Name of the component or measure, for the message.
    :param reason: Why a row can be undefined, for the message.
    :param names: Names of the rows, for the message; None: their numbers.
    :raises UndefinedScore: If a row is undefined and the policy is "raise".
    """
    rows = np.flatnonzero(undefined)
    if not len(rows):
        return
    found = f"{metric}: {len(rows)} of {len(undefined)} rows are undefined ({reason}): {list_rows(rows, names)}."
    if on_undefined == "raise":
        msg = f"{found} Correct these rows, or set on_undefined to 'zero' or 'nan'."
        raise UndefinedScore(msg)
    effect = "They count as 0" if on_undefined == "zero" else "They are left out of the mean"
    logger.warning("{found} {effect} (on_undefined='{policy}').", found=found, effect=effect, policy=on_undefined)


def report_failed(failed: npt.NDArray[np.bool_], *, metric: str, reason: str) -> None:
    """
    Tell once per run how many rows could not be scored.

    :param failed: True for each such row.
    :param metric: Name of the component, for the message.
    :param reason: Why, for the message; never a user's text.
    """
    rows = np.flatnonzero(failed)
    if len(rows):
        logger.warning(
            "{metric}: {count} of {total} rows failed ({reason}): {rows}. They are left out of the mean.",
            metric=metric,
            count=len(rows),
            total=len(failed),
            reason=reason,
            rows=list_rows(rows),
        )
