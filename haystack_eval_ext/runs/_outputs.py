# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From the outputs of an evaluation component to one score a row, wherever the row was given."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from haystack_eval_ext._scores import RowScores, mean_of_numbers
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs._metric_info import declared_range

#: What makes a component a metric.
METRIC_OUTPUTS = frozenset(("score", "individual_scores"))
_MISSING = object()


def diagnosis_of(ids: list[str], output: dict[str, Any]) -> dict[str, Any]:
    """
    Read what a RAGFailureClassifier says.

    :param ids: The ids of the rows that it was given.
    :param output: Its output.
    :returns: Counts and stages, and by row id labels and reasons; nothing if it is another component.
    """
    labels, reasons = output.get("labels"), output.get("reasons")
    if not isinstance(labels, list) or not isinstance(reasons, list) or not len(labels) == len(reasons) == len(ids):
        return {}
    return {
        "counts": dict(output.get("counts") or {}),
        "stages": list(output.get("stages") or []),
        "labels": dict(zip(ids, map(str, labels), strict=True)),
        "reasons": dict(zip(ids, map(str, reasons), strict=True)),
    }


def errors_of(ids: list[str], output: dict[str, Any]) -> dict[str, str]:
    """
    Read why rows have no score.

    :param ids: The ids of the rows that a component was given.
    :param output: Its output.
    :returns: By row id why it failed or was not run.
    """
    errors, statuses = output.get("errors"), output.get("statuses")
    if not isinstance(errors, list) or not isinstance(statuses, list) or not len(errors) == len(statuses) == len(ids):
        return {}
    return {
        row: str(error)
        for row, error, status in zip(ids, errors, statuses, strict=True)
        if error is not None and status in ("error", "not_run")
    }


def messages_of(ids: list[str], output: dict[str, Any]) -> dict[str, str]:
    """
    Read what a judge's service, or code of a metric, said about rows that have no score.

    :param ids: The ids of the rows that a component was given.
    :param output: Its output.
    :returns: By row id the message, which may quote texts of the row.
    """
    results = output.get("results")
    if not isinstance(results, list) or len(results) != len(ids):
        return {}
    failed = errors_of(ids, output)
    return {
        row: found["message"]
        for row, found in zip(ids, results, strict=True)
        if row in failed and isinstance(found, dict) and isinstance(found.get("message"), str)
    }


def metrics_of(component: str, output: dict[str, Any]) -> dict[str, RowScores]:
    """
    Read the metrics of one component: those in `results`, where they have that shape, else its own score.

    :param component: Its name.
    :param output: Its output.
    :returns: The scores by the metrics' names.
    :raises EvaluationError: If they are no numbers.
    """
    results = output.get("results")
    if isinstance(results, dict) and results:
        parts = results.values()
        if all(isinstance(part, dict) and part.keys() >= METRIC_OUTPUTS for part in parts):
            labels = {f"{component}.{measure}": part for measure, part in results.items()}
            return {label: _row_scores(label, part) for label, part in labels.items()}
    return {component: _row_scores(component, output)}


def _row_scores(metric: str, output: dict[str, Any]) -> RowScores:
    score, rows = output.get("score", _MISSING), output.get("individual_scores")
    given = list(rows) if isinstance(rows, Iterable) else [_MISSING]
    if not all(value is None or isinstance(value, Real) for value in (score, *given)):
        msg = f"{metric} must return 'score' as a number and 'individual_scores' as a list of numbers (or None)."
        raise EvaluationError(msg)
    individual = [_number(value) for value in given]
    statuses = output.get("statuses") or ["undefined" if math.isnan(value) else "scored" for value in individual]
    errors = output.get("errors")
    if not isinstance(errors, list) or len(errors) != len(individual):
        errors = [None] * len(individual)
    return RowScores(_number(score), individual, list(statuses), errors)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def placed(scores: RowScores, given: list[int], counted: list[int], total: int) -> RowScores:
    """
    Put the scores of some rows in their places, with NaN and "not_run" elsewhere: "undefined" also names rows that
    count as 0.

    :param scores: Those of the rows that were given.
    :param given: Their numbers.
    :param counted: The numbers of those whose scores count; if fewer, the mean is formed anew.
    :param total: The number of all rows.
    :returns: The scores of all rows.
    """
    if len(counted) == total:
        return scores
    individual, statuses = [math.nan] * total, ["not_run"] * total
    errors: list[str | None] = [None] * total
    of_row = dict(zip(given, zip(*scores[1:], strict=True), strict=True))
    for row in counted:
        individual[row], statuses[row], errors[row] = of_row[row]
    mean = scores.score
    if len(counted) < len(given):
        mean = mean_of_numbers(individual)
    return RowScores(mean, individual, statuses, errors)


def check_metric(name: str, component: Any, *, shown: bool) -> None:
    """
    Refuse a component that by its parameters can give no score, or declares no sound range, before it is paid for.

    :param name: Its name.
    :param component: It; the attribute `never_scores` says why, if there is a reason, and `score_range` its range.
    :param shown: False if it may be there for other components alone.
    :raises EvaluationError: If it cannot be taken.
    """
    declared_range(name, component)
    why = getattr(component, "never_scores", None)
    if shown and isinstance(why, str):
        msg = f"{name} can never have a score: {why}. Change that, or take it out of this run."
        raise EvaluationError(msg)


def check_rows(metric: str, scores: RowScores, rows: int) -> None:
    """
    Refuse scores that are not one a row.

    :param metric: The metric.
    :param scores: Its scores.
    :param rows: How many rows there are.
    :raises EvaluationError: If they are more or fewer.
    """
    for what, values in (("individual scores", scores.individual_scores), ("statuses", scores.statuses)):
        if len(values) != rows:
            msg = (
                f"{metric} gave {len(values)} {what} for {rows} rows; expected one a row. Does something before it "
                "join or drop rows?"
            )
            raise EvaluationError(msg)
