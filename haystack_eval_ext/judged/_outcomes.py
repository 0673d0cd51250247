# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From what became of each row to the outputs of a run, and what it reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from haystack_eval_ext._scores import Gaps, aggregate, in_a_run, report_rows, tell_rows
from haystack_eval_ext.errors import FailedRowsError, UndefinedScore
from haystack_eval_ext.judged._account import Usage, sum_of

if TYPE_CHECKING:
    from haystack_eval_ext.judged._base import JudgedEvaluator


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
    policy = evaluator._policy_of_gaps if evaluator._has_score else "nan"
    gaps = Gaps.of(
        (row, outcome.status, outcome.error or evaluator._undefined_reason) for row, outcome in enumerate(outcomes)
    )
    missed = gaps._replace(undefined={})
    scores = aggregate(values, policy, reason=evaluator._undefined_reason, failed=gaps.failed, not_run=gaps.not_run)
    result = {
        "score": scores.score,
        "individual_scores": scores.individual_scores,
        "statuses": scores.statuses,
        "results": [
            evaluator._entry(outcome, score) for outcome, score in zip(outcomes, scores.individual_scores, strict=True)
        ],
        "errors": [outcome.error for outcome in outcomes],
        "meta": [outcome.meta for outcome in outcomes] if any(outcome.meta for outcome in outcomes) else None,
        "usage": sum_of(outcome.usage.to_dict() for outcome in outcomes),
        "summary": evaluator._summary(outcomes, rows),
    }
    if gaps.failed and evaluator.raise_on_failure and not in_a_run():
        told = tell_rows(len(outcomes), policy, missed)
        msg = (
            f"{type(evaluator).__name__}: {told} The other rows are in this error's `result`; raise_on_failure=False "
            "returns it, with NaN for the failed ones."
        )
        raise FailedRowsError(msg, result)
    try:
        report_rows(len(outcomes), policy, gaps if evaluator._has_score else missed, metric=type(evaluator).__name__)
    except UndefinedScore as error:
        raise UndefinedRowsError(str(error), result) from None
    return result
