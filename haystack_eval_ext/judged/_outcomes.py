# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From what became of each row to the outputs of a run, and what it reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from haystack import logging

from haystack_eval_ext._scores import FailedRowsError, UndefinedScore, aggregate, list_rows, report_undefined
from haystack_eval_ext.judged._account import Usage, sum_of

if TYPE_CHECKING:
    from haystack_eval_ext.judged._base import JudgedEvaluator

logger = logging.getLogger(__name__)


class UndefinedRowsError(UndefinedScore):
    """Rows are undefined and ``on_undefined`` is "raise". ``result`` holds the outputs; None if nothing was asked."""

    def __init__(self, message: str, result: dict[str, Any] | None = None) -> None:
        """
        Create the error.

        :param message: Which rows, and why.
        :param result: What ``run`` would have returned.
        """
        super().__init__(message)
        self.result = result


class Outcome(NamedTuple):
    """
    What became of a row.

    :param score: Its score, NaN without one.
    :param details: What the score was made of.
    :param status: "scored", "undefined", "error" or "not_run".
    :param error: Why it has no score, else None.
    :param usage: Its account.
    :param meta: What the generator said about its last reply.
    """

    score: float
    details: dict[str, Any]
    status: str
    error: str | None
    usage: Usage
    meta: dict[str, Any]


def outputs_of(evaluator: JudgedEvaluator, outcomes: list[Outcome], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """
    Make the outputs of a run, and report what went wrong.

    :param evaluator: The metric.
    :param outcomes: What became of each row.
    :param rows: The rows.
    :returns: The outputs.
    :raises UndefinedScore: If a row is undefined, and that is to be an error.
    :raises FailedRowsError: If rows failed, and that is to be an error.
    """
    values = np.array([outcome.score for outcome in outcomes], dtype=np.float64)
    missing = np.array([outcome.status in ("error", "not_run") for outcome in outcomes], dtype=np.bool_)
    undefined = np.isnan(values) & ~missing
    scores = aggregate(values, evaluator.on_undefined if evaluator._has_score else "nan", missing)
    statuses = [
        outcome.status if outcome.status in ("error", "not_run") else status
        for outcome, status in zip(outcomes, scores.statuses, strict=True)
    ]
    result = {
        "score": scores.score,
        "individual_scores": scores.individual_scores,
        "statuses": statuses,
        "results": [
            evaluator._entry(outcome, score) for outcome, score in zip(outcomes, scores.individual_scores, strict=True)
        ],
        "errors": [outcome.error for outcome in outcomes],
        "meta": [outcome.meta for outcome in outcomes] if any(outcome.meta for outcome in outcomes) else None,
        "usage": sum_of(outcome.usage.to_dict() for outcome in outcomes),
        "summary": evaluator._summary(outcomes, rows),
    }
    if evaluator._has_score:
        report_undefined_rows(evaluator, undefined, result)
    _report(evaluator, outcomes, result)
    return result


def report_undefined_rows(evaluator: JudgedEvaluator, undefined: Any, result: dict[str, Any] | None) -> None:
    """
    Report undefined rows as the evaluator's ``on_undefined`` says.

    :param evaluator: The metric.
    :param undefined: Whether each row is.
    :param result: The outputs, if there are any yet.
    :raises UndefinedRowsError: If one is, and that is to be an error.
    """
    name = type(evaluator).__name__
    try:
        report_undefined(undefined, evaluator.on_undefined, metric=name, reason=evaluator._undefined_reason)
    except UndefinedScore as error:
        raise UndefinedRowsError(str(error), result) from None


def _report(evaluator: JudgedEvaluator, outcomes: list[Outcome], result: dict[str, Any]) -> None:
    """Tell once per run which rows were not judged and why, or raise the error that says so."""
    unreached, failed = (
        [row for row, outcome in enumerate(outcomes) if outcome.status == status] for status in ("not_run", "error")
    )
    found = []
    if failed:
        reasons = Counter(outcomes[row].error for row in failed)
        why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
        found.append(f"{len(failed)} of {len(outcomes)} rows could not be judged: {list_rows(failed)}. Reasons: {why}.")
    if unreached:
        found.append(
            f"{len(unreached)} of {len(outcomes)} rows were not run, since {outcomes[unreached[0]].error}: "
            f"{list_rows(unreached)}. With a cache_path a later run goes on from there."
        )
    if not found:
        return
    told = f"{type(evaluator).__name__}: {' '.join(found)}"
    if failed and evaluator.raise_on_failure:
        msg = (
            f"{told} The other rows are in this error's `result`; raise_on_failure=False returns it, with NaN for "
            "the failed ones."
        )
        raise FailedRowsError(msg, result)
    logger.warning("{told} They are left out of the mean.", told=told)
