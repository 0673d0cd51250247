# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A metric of a run against people's labels in a column of its data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from haystack_eval_ext.runs._agreement import Agreement, agreement
from haystack_eval_ext.runs._columns import OTHERS
from haystack_eval_ext.runs._scored import nearest, some
from haystack_eval_ext.runs.run import EvaluationRun, load_run

if TYPE_CHECKING:
    from haystack_eval_ext.runs._lines import FilePath

_PAIRS = (
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("pass", "fail"),
    ("good", "bad"),
    ("correct", "incorrect"),
    ("はい", "いいえ"),
)
_WORDS = {word: float(place == 0) for pair in _PAIRS for place, word in enumerate(pair)}
_UNDERSTOOD = "numbers, or in any case " + ", ".join("/".join(pair) for pair in _PAIRS)


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
    :param human_column: The column of the data with the labels: numbers, or words such as yes and no, pass and fail;
        empty where nobody looked.
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
    if all(label is None or score is None or math.isnan(score) for label, score in zip(human, judged, strict=True)):
        msg = f"no row has both a label in column '{human_column}' and a score of '{metric}': nothing to compare."
        raise ValueError(msg)
    if threshold is None:
        if weights is None:
            _check_scales(human, judged, human_column, metric)
        return agreement(human, judged, weights=weights, confidence=confidence)
    classes = [_classes(column, threshold) for column in (human, judged)]
    _check_classes(human, judged, classes, threshold, human_column)
    return agreement(*classes, weights=weights, confidence=confidence)


def _classes(column: list[float | None], threshold: float) -> list[float | None]:
    return [None if value is None else float(value >= threshold) for value in column]


def _check_scales(human: list[float | None], judged: list[float | None], column: str, metric: str) -> None:
    """Refuse scores that can never be equal to the labels, so that agreement would be 0 by the way they are written."""
    labels, scores = ({value for value in values if value is not None} for values in (human, judged))
    if not labels or not scores:
        return
    hint = "Give a threshold (--threshold 0.5) that makes both 1 (at least that) and 0"
    if labels <= {0.0, 1.0} and not scores <= {0.0, 1.0}:
        msg = f"column '{column}' holds two classes, but '{metric}' has graded scores. {hint}."
        raise ValueError(msg)
    for one, two in ((labels, scores), (scores, labels)):
        if min(one) >= 1 < max(one) and max(two) <= 1 and min(two) < 1:
            msg = (
                f"column '{column}' holds labels from {min(labels):g} to {max(labels):g}, but '{metric}' has scores "
                f"from {min(scores):g} to {max(scores):g}: two scales. Bring the labels to the scale of the scores; "
                f"then, if they are graded: {hint[0].lower()}{hint[1:]}."
            )
            raise ValueError(msg)


def _check_classes(
    human: list[float | None],
    judged: list[float | None],
    classes: list[list[float | None]],
    threshold: float,
    column: str,
) -> None:
    """Refuse a threshold that leaves nothing to agree on."""
    values = [{value for value in each if value is not None} for each in (human, judged)]
    found = [{value for value in each if value is not None} for each in classes]
    one_class = len(found[0] | found[1]) == 1 and len(values[0] | values[1]) > 1
    if one_class or (len(values[0]) > 1 and len(found[0]) == 1):
        what = "labels and scores" if one_class else f"labels of column '{column}'"
        ranges = ", ".join(
            f"{name} from {min(each):g} to {max(each):g}"
            for name, each in zip(("labels", "scores"), values, strict=True)
            if each
        )
        msg = f"threshold {threshold:g} makes one class only of the {what} ({ranges}). Choose one between them."
        raise ValueError(msg)


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


def _labels(run: EvaluationRun, column: str) -> list[float | None]:
    """People's labels as numbers; None where there is none."""
    if not run.has_texts:
        msg = f"'{run.name}' was kept without texts, and so without people's labels. Give a run with its texts."
        raise ValueError(msg)
    others = [row.get(OTHERS) or {} for row in run.rows]
    known = list(dict.fromkeys(name for each in others for name in each))
    values = [each.get(column, row.get(column)) for each, row in zip(others, run.rows, strict=True)]
    if column not in known and all(value is None for value in values):
        msg = f"'{run.name}' has no labels in a column '{column}' ({nearest(column, known)})."
        raise ValueError(msg)
    labels: list[float | None] = []
    for row, value in zip(run.rows, values, strict=True):
        label = _label(value)
        if isinstance(label, str):
            msg = (
                f"column '{column}' of '{run.name}' holds {label} in row '{row['id']}'. Understood are {_UNDERSTOOD}; "
                "leave cells empty where nobody looked."
            )
            raise ValueError(msg)  # noqa: TRY004 - what a file holds
        labels.append(label)
    if all(label is None for label in labels):
        msg = f"column '{column}' of '{run.name}' is empty in every row: it has no label to compare with."
        raise ValueError(msg)
    return labels


def _label(value: Any) -> float | str | None:
    """A label as a number, None where there is none, or what it is that is none."""
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().lower()
        if not text:
            return None
        if text in _WORDS:
            return _WORDS[text]
        try:
            number = float(text)
        except ValueError:
            return "a word that is not understood"
    elif isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    else:
        return "a list or an object"
    if math.isinf(number):
        return "an infinite number"
    return None if math.isnan(number) else number
