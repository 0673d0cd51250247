# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A metric of a run against people's labels in a column of its data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from haystack_eval_ext.runs._agreement import Agreement, agreement
from haystack_eval_ext.runs._run_rows import OTHERS
from haystack_eval_ext.runs._scored import nearest, some
from haystack_eval_ext.runs.run import EvaluationRun, load_run

if TYPE_CHECKING:
    from haystack_eval_ext.runs._lines import FilePath

_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def agree(
    run: EvaluationRun | FilePath,
    human_column: str,
    metric: str,
    *,
    threshold: float | None = None,
    weights: Literal["linear", "quadratic"] | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """
    Compare a metric with people's labels, row by row.

    :param run: A run with its texts, or its folder.
    :param human_column: The column of the data with the labels: numbers, or yes and no; empty where nobody looked.
    :param metric: The metric.
    :param threshold: Turn both into 1 (at least this much) and 0, where scores are graded.
    :param weights: For grades such as 1 to 5: how far near misses count as agreement.
    :param confidence: 0.95 for 95 % intervals.
    :returns: Confusion, accuracy, kappa and base rates; rows without a score or a label are left out.
    :raises ValueError: If the run has no such column or metric, or they hold no classes.
    """
    found = load_run(run)
    if found.repeats > 1:
        msg = f"agree needs one answer to each question, but '{found.name}' has {found.repeats}."
        raise ValueError(msg)
    if metric not in found.metrics:
        msg = f"metric must be one of the run's, but '{metric}' is none ({nearest(metric, found.metrics)})."
        raise ValueError(msg)
    if threshold is not None and not math.isfinite(threshold):
        msg = f"threshold must be a finite number, but is {threshold!r}."
        raise ValueError(msg)
    scores = found.metrics[metric].scores
    statuses = found.metrics[metric].statuses
    # An undefined row has a 0 at most by convention; nobody judged it.
    judged = [score if status == "scored" else None for score, status in zip(scores, statuses, strict=True)]
    human = _labels(found, human_column)
    if not any(label is not None for label in human):
        msg = f"column '{human_column}' of '{found.name}' has no label in any row."
        raise ValueError(msg)
    if threshold is not None:
        if not all(label is None or isinstance(label, float) for label in human):
            msg = f"threshold needs numbers, or yes and no, but column '{human_column}' holds other words."
            raise ValueError(msg)
        human, judged = (
            [None if value is None else float(value >= threshold) for value in column] for column in (human, judged)
        )
    return agreement(human, judged, weights=weights, confidence=confidence)


def metrics_for_people(run: EvaluationRun) -> list[str]:
    """
    Name the metrics that people's labels are most likely for, where none is named.

    :param run: The run.
    :returns: Its only metric, else all that a judge gave.
    :raises ValueError: If it has several, none of which is a judge's.
    """
    names = list(run.metrics)
    judged = [name for name, metric in run.metrics.items() if metric.info.judge is not None]
    if len(names) == 1 or judged:
        return judged or names
    msg = f"'{run.name}' has several metrics, none of a judge: name the one to compare, out of {some(names, 20)}."
    raise ValueError(msg)


def _labels(run: EvaluationRun, column: str) -> list[Any]:
    """People's labels, as numbers where they are; None where there is none."""
    if not run.has_texts:
        msg = f"'{run.name}' was kept without texts, and so without people's labels. Give a run with its texts."
        raise ValueError(msg)
    values = [(row.get(OTHERS) or {}).get(column, row.get(column)) for row in run.rows]
    if all(value is None for value in values):
        known = list(dict.fromkeys(name for row in run.rows for name in row.get(OTHERS) or {}))
        msg = f"'{run.name}' has no labels in a column '{column}' ({nearest(column, known)})."
        raise ValueError(msg)
    labels = [_label(value) for value in values]
    if any(label is not None and not isinstance(label, float | str) for label in labels):
        msg = f"column '{column}' of '{run.name}' must hold numbers or words, but holds lists or objects."
        raise ValueError(msg)
    return labels


def _label(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return float(value)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else None
