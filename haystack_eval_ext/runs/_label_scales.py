# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether labels and scores can agree at all: one scale, and a threshold between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

Column: TypeAlias = "list[float | None]"

_THRESHOLD = "a threshold (--threshold 0.5) that makes both 1 (at least that) and 0"
_TWO = frozenset((0.0, 1.0))


def rescaled(column: Column, limits: tuple[float, float] | None, name: str, ids: Sequence[str]) -> Column:
    """
    Bring labels to the scale from 0 to 1.

    :param column: The labels.
    :param limits: The labels that become 0 and 1; None leaves all as they are.
    :param name: What to call the column in an error.
    :param ids: The ids of the rows.
    :returns: The labels.
    :raises ValueError: If the limits are no range, or a label lies outside.
    """
    if limits is None:
        return column
    low, high = limits
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        msg = f"label_range must be the lowest and the highest label, such as (1, 5), but is ({low:g}, {high:g})."
        raise InvalidValueError(msg)
    outside = [key for key, label in zip(ids, column, strict=True) if label is not None and not low <= label <= high]
    if outside:
        msg = (
            f"label_range (--label-range) is {low:g} to {high:g}, but a label of column '{name}' lies outside in row "
            f"'{outside[0]}' ({len(outside)} such). Name the whole range."
        )
        raise InvalidValueError(msg)
    return [None if label is None else (label - low) / (high - low) for label in column]


def on_one_scale(labels: Sequence[float | None], scores: Sequence[float | None]) -> bool:
    """
    Tell whether labels and scores may be on one scale.

    :param labels: The labels.
    :param scores: The scores.
    :returns: False if one goes beyond 1 while the other stays within 0 to 1. A column of nothing but 1 may be the
        lowest grade.
    """
    values = [{value for value in column if value is not None} for column in (labels, scores)]
    return not any(
        one and two and max(one) > 1 and min(two) >= 0 and max(two) <= 1 and two != {1.0}
        for one, two in (values, values[::-1])
    )


def check_scales(
    labels: Sequence[float | None], scores: Sequence[float | None], columns: str, metric: str, *, sweep: bool
) -> None:
    """
    Refuse scores that can never be equal to the labels, so that agreement would be 0 by the way they are written.

    :param labels: The labels of all people.
    :param scores: The scores.
    :param columns: What the labels are called.
    :param metric: What the scores are called.
    :param sweep: Whether a threshold is chosen for the scores.
    :raises ValueError: If they are classes against grades, or on two scales.
    """
    human, judge = ({value for value in column if value is not None} for column in (labels, scores))
    if human <= _TWO:
        if sweep or judge <= _TWO:
            return
        msg = (
            f"column {columns} holds two classes, but '{metric}' has graded scores. Give {_THRESHOLD}, or a sweep "
            "(--sweep)."
        )
        raise InvalidValueError(msg)
    if not on_one_scale(labels, scores):
        raise _two_scales(human, judge, columns, metric)


def classes_of(
    column: Sequence[float | None], threshold: float, every: Sequence[float | None], scores: Sequence[float | None]
) -> Column:
    """
    Turn numbers into the classes 1 and 0.

    :param column: The labels of one rater, or the scores.
    :param threshold: Where 1 begins.
    :param every: The labels of all raters, or the scores again.
    :param scores: The scores. Labels of 1 and 0 are classes already where the threshold divides only the scores.
    :returns: The classes.
    """
    given = [value for value in scores if value is not None]
    if set(every) <= {*_TWO, None} and not 0 < threshold <= 1 and min(given) < threshold <= max(given):
        return list(column)
    return [None if value is None else float(value >= threshold) for value in column]


def check_classes(
    values: tuple[Sequence[float | None], Sequence[float | None]],
    classes: tuple[Sequence[float | None], Sequence[float | None]],
    threshold: float,
    columns: str,
    metric: str,
) -> None:
    """
    Refuse a threshold that leaves nothing to agree on, or means one thing for labels and another for scores.

    :param values: The labels and the scores.
    :param classes: The classes that they became.
    :param threshold: The threshold.
    :param columns: What the labels are called.
    :param metric: What the scores are called.
    :raises ValueError: If labels and scores are on two scales, where labels are no classes yet; if all became one
        class, or the labels did that were not.
    """
    human, judge = ({value for value in column if value is not None} for column in values)
    labelled, scored = ({value for value in column if value is not None} for column in classes)
    one_class = len(labelled | scored) == 1 and len(human | judge) > 1
    if one_class or (len(human) > 1 and len(labelled) == 1):
        what = "labels and scores" if one_class else f"labels of column {columns}"
        ranges = ", ".join(
            f"{name} from {_range(each)}" for name, each in (("labels", human), ("scores", judge)) if each
        )
        msg = (
            f"threshold {threshold:g} makes one class only of the {what} ({ranges}). Choose one between them; labels "
            "on another scale are brought to that of the scores by label_range (--label-range) or label_words "
            "(--label-words)."
        )
        raise InvalidValueError(msg)
    divided = human <= _TWO and len(scored) > 1
    if not divided and not on_one_scale(*values):
        raise _two_scales(human, judge, columns, metric)


def _two_scales(human: set[float], judge: set[float], columns: str, metric: str) -> ValueError:
    return ValueError(
        f"column {columns} holds labels from {_range(human)}, but '{metric}' has scores from {_range(judge)}: two "
        "scales. Bring the labels to the scale of the scores: label_range=(1, 5) (--label-range 1:5) makes them 0 to "
        f"1, label_words (--label-words 5=1,4=0.5) gives each its number. Then, if scores are graded, "
        f"give {_THRESHOLD}."
    )


def _range(values: set[float]) -> str:
    return f"{min(values):g} to {max(values):g}"
