# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From one value per row to scores, statuses and the reasons of rows without a score: the same for every metric."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from statistics import fmean
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from haystack import logging

from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext.errors import UndefinedScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

logger = logging.getLogger(__name__)

OnUndefined = Literal["zero", "nan", "raise"]
Status = Literal["scored", "undefined", "error", "not_run"]

#: Why a row without a reference was not run.
NO_REFERENCE = 'no reference answer; give one, or "" where an empty answer is right'

# Enough rows to find the fault in the data; more would hide the message.
_LISTED_ROWS = 10
_LISTED_REASONS = 3
# Ids of the rows of the batch, while a run evaluates it.
_ROW_NAMES: ContextVar[Sequence[str] | None] = ContextVar("row_names", default=None)
# What its components noticed in their inputs.
_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


class RowScores(NamedTuple):
    """The outputs that every component has, one entry per input row except ``score``."""

    score: float
    individual_scores: list[float]
    statuses: list[str]
    #: Why a row has no score of its own; None where it is scored.
    errors: list[str | None]


class Gaps(NamedTuple):
    """
    Rows without a score of their own: by row number the reason, which is never a user's text.

    :param undefined: Their score is not defined.
    :param failed: Their score could not be found out.
    :param not_run: They lack what the metric needs.
    """

    undefined: Mapping[int, str] = {}
    failed: Mapping[int, str] = {}
    not_run: Mapping[int, str] = {}

    @classmethod
    def of(cls, rows: Iterable[tuple[int, str, str]]) -> Gaps:
        """
        Sort rows by their status.

        :param rows: Row number, status and reason. Scored rows may be among them; of several reasons the first counts.
        :returns: The rows without a score.
        """
        found: dict[str, dict[int, str]] = {"undefined": {}, "error": {}, "not_run": {}}
        for row, status, reason in rows:
            if status in found:
                found[status].setdefault(row, reason)
        return cls(*found.values())


def mean_of_numbers(scores: Iterable[float]) -> float:
    """
    Take the mean of the rows that have a score.

    :param scores: The scores; NaN where there is none.
    :returns: The mean; NaN if no row has one.
    """
    numbers = [score for score in scores if not math.isnan(score)]
    return fmean(numbers) if numbers else math.nan


def check_on_undefined(on_undefined: str) -> None:
    """
    Refuse a policy that does not exist.

    :param on_undefined: The init parameter of a component.
    :raises ValueError: If it is none of "zero", "nan", "raise".
    """
    check_choice("on_undefined", on_undefined, get_args(OnUndefined))


@contextmanager
def rows_of_a_run(names: Sequence[str]) -> Iterator[list[str]]:
    """
    Let messages about rows name their ids, and leave the warnings about them to the run.

    A run knows more than a component: which rows it was not given, and which of its scores count. It counts failed rows
    itself, so that components raise no :class:`FailedRowsError` in it: the other rows were scored, and maybe paid for.

    :param names: The id of each row of the batch.
    :returns: A context, in which the components run; what they :func:`note` is in its list.
    """
    token, notes = _ROW_NAMES.set(names), list[str]()
    kept = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(kept)
        _ROW_NAMES.reset(token)


def in_a_run() -> bool:
    """
    Tell whether a run collects what components have to say.

    :returns: True inside :func:`rows_of_a_run`.
    """
    return _ROW_NAMES.get() is not None


def note(message: str) -> None:
    """
    Tell what was noticed in the inputs: a run keeps it in its manifest, else it is logged.

    :param message: What, without texts of the user.
    """
    notes = _NOTES.get()
    if notes is None:
        logger.warning("{found}", found=message)
    elif message not in notes:
        notes.append(message)


def list_rows(rows: npt.NDArray[np.intp] | Sequence[int], names: Sequence[str] | None = None) -> str:
    """
    Name rows in a message, the first ten of them.

    :param rows: Row numbers, from 0.
    :param names: Names of all rows; None: their ids in a run, else their numbers.
    :returns: For example ``"rows 3, 7, 9"``, or ``"row q3"``.
    """
    known = _ROW_NAMES.get() if names is None else names
    shown = ", ".join(str(row if known is None or row >= len(known) else known[row]) for row in rows[:_LISTED_ROWS])
    more = f" and {len(rows) - _LISTED_ROWS} more" if len(rows) > _LISTED_ROWS else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


def list_reasons(reasons: Mapping[int, str]) -> str:
    """
    Say why rows have no score, the commonest reasons first.

    :param reasons: The reason by row number.
    :returns: For example ``"no reference answer"``, or ``"HTTP 500 (3); it was empty (1)"``.
    """
    counts = Counter(reasons.values()).most_common(_LISTED_REASONS)
    return "; ".join(f"{reason} ({count})" if len(counts) > 1 else reason for reason, count in counts)


def aggregate(
    values: npt.NDArray[np.float64],
    on_undefined: OnUndefined,
    *,
    reason: str,
    failed: Mapping[int, str] | None = None,
    not_run: Mapping[int, str] | None = None,
) -> RowScores:
    """
    Apply the ``on_undefined`` policy and take the mean.

    A row that failed or was not run is NaN and out of the mean, whatever the policy.

    :param values: One value per row; NaN where there is none.
    :param on_undefined: "zero" counts an undefined row as 0, "nan" leaves it out of the mean. "raise" is the business
        of :func:`report_rows`, which must be called before.
    :param reason: Why the other rows that are NaN are undefined.
    :param failed: By row number why a score could not be found out.
    :param not_run: By row number what a row lacks that the metric needs, such as a reference.
    :returns: The outputs of a component, as plain Python floats; the score is NaN when no row has one.
    """
    missing = np.isnan(values)
    statuses = ["scored"] * len(values)
    reasons: list[str | None] = [None] * len(values)
    if not failed and not not_run and not missing.any():
        return RowScores(float(values.mean()), values.tolist(), statuses, reasons)
    for row in np.flatnonzero(missing).tolist():
        statuses[row], reasons[row] = "undefined", reason
    if on_undefined == "zero":
        values = np.where(missing, 0.0, values)
    for status, rows in (("error", failed or {}), ("not_run", not_run or {})):
        for row, why in rows.items():
            statuses[row], reasons[row] = status, why
        if rows:
            values = values.copy()
            values[list(rows)] = np.nan
    scored = values[~np.isnan(values)]
    return RowScores(float(scored.mean()) if len(scored) else math.nan, values.tolist(), statuses, reasons)


def tell_rows(total: int, on_undefined: OnUndefined | None, gaps: Gaps, *, names: Sequence[str] | None = None) -> str:
    """
    Say how many rows have no score, why, and what that does to the mean.

    :param total: How many rows there are.
    :param on_undefined: What undefined rows count as; None: they are left out, and there is no policy to name.
    :param gaps: The rows without a score.
    :param names: Names of the rows; None: their ids in a run, else their numbers.
    :returns: Sentences; none if every row has a score.
    """
    as_zero = "They count as 0" if on_undefined == "zero" else "They are left out of the mean"
    policy = "" if on_undefined is None else f" (on_undefined='{on_undefined}')"
    told = [
        f"{len(rows)} of {total} rows {what} ({list_reasons(rows)}): {list_rows(sorted(rows), names)}. {effect}."
        for what, rows, effect in (
            ("are undefined", gaps.undefined, as_zero + policy),
            ("failed", gaps.failed, "They are left out of the mean"),
            ("were not run", gaps.not_run, "They are left out of the mean"),
        )
        if rows
    ]
    return " ".join(told)


def report_rows(
    total: int,
    on_undefined: OnUndefined | None,
    gaps: Gaps,
    *,
    metric: str,
    names: Sequence[str] | None = None,
) -> None:
    """
    Warn once per run of the rows that have no score, or refuse those that are undefined.

    :param total: How many rows there are.
    :param on_undefined: The policy of the component.
    :param gaps: The rows without a score.
    :param metric: Name of the component, for the message.
    :param names: As for :func:`tell_rows`.
    :raises UndefinedScore: If a row is undefined and the policy is "raise".
    """
    if gaps.undefined and on_undefined == "raise":
        msg = (
            f"{metric}: {len(gaps.undefined)} of {total} rows are undefined ({list_reasons(gaps.undefined)}): "
            f"{list_rows(sorted(gaps.undefined), names)}. Correct these rows, or set on_undefined to 'zero' or 'nan'."
        )
        raise UndefinedScore(msg)
    found = tell_rows(total, on_undefined, gaps, names=names)
    if found and not in_a_run():
        logger.warning("{metric}: {found}", metric=metric, found=found)


def finish_rows(
    values: npt.NDArray[np.float64],
    on_undefined: OnUndefined,
    *,
    metric: str,
    reason: str,
    failed: Mapping[int, str] | None = None,
    not_run: Mapping[int, str] | None = None,
) -> RowScores:
    """
    Report the rows without a score, apply the ``on_undefined`` policy and take the mean.

    :param values: One value per row; NaN where there is none.
    :param on_undefined: The policy of the component.
    :param metric: Name of the component, for the message.
    :param reason: Why a row is undefined that is NaN, did not fail and was run.
    :param failed: By row number why a score could not be found out; never a user's text.
    :param not_run: By row number what a row lacks that the metric needs.
    :returns: The outputs of a component.
    :raises UndefinedScore: If a row is undefined and the policy is "raise".
    """
    known = {**(failed or {}), **(not_run or {})}
    undefined = {row: reason for row in np.flatnonzero(np.isnan(values)).tolist() if row not in known}
    report_rows(len(values), on_undefined, Gaps(undefined, failed or {}, not_run or {}), metric=metric)
    return aggregate(values, on_undefined, reason=reason, failed=failed, not_run=not_run)
