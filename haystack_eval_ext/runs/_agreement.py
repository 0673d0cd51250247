# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""How far two raters agree beyond chance: Cohen 1960 and 1968; the interval by Fleiss, Cohen and Everitt 1969."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from haystack_eval_ext.runs._spread import Interval, check_confidence, check_length, normal_quantile, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# More distinct values are graded scores, not classes.
_MOST_CLASSES = 20


@dataclass(frozen=True)
class Agreement:
    """
    A judge against people, row by row.

    :param classes: The classes, in order.
    :param confusion: Rows by class: outside the people's, inside the judge's.
    :param rows: The rows that both rated.
    :param left_out: The rows that one of them did not.
    :param accuracy: The share of rows with equal classes; None without rows.
    :param accuracy_interval: Its Wilson interval.
    :param kappa: Cohen's kappa: agreement beyond chance, 1 at most, 0 for chance; None if both gave one and the same
        class only, since then chance explains everything.
    :param kappa_interval: Its interval, asymptotic; None where the formula gives no width: for full agreement.
    :param human_rates: The share of each class among the people's ratings.
    :param judge_rates: The share of each class among the judge's.
    """

    classes: list[Any]
    confusion: list[list[int]]
    rows: int
    left_out: int
    accuracy: float | None
    accuracy_interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None
    human_rates: list[float]
    judge_rates: list[float]


def agreement(
    human: Sequence[Any],
    judge: Sequence[Any],
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    confidence: float = 0.95,
) -> Agreement:
    """
    Compare a judge's classes with people's.

    ```python
    from haystack_eval_ext.runs.statistics import agreement

    people = [1] * 45 + [0] * 55
    judge = [1] * 40 + [0] * 5 + [1] * 10 + [0] * 45
    result = agreement(people, judge)
    print(result.confusion, result.accuracy, round(result.kappa, 2))
    # [[45, 10], [5, 40]] 0.85 0.7
    ```

    :param human: The people's classes: numbers, flags or words. None and NaN are rows without one.
    :param judge: The judge's classes.
    :param weights: For grades such as 1 to 5: how far near misses count as agreement, by the distance of the numbers.
    :param confidence: 0.95 for 95 % intervals.
    :returns: Confusion, accuracy, kappa and base rates.
    :raises ValueError: If the columns differ in length or kind, or hold graded scores instead of classes.
    """
    check_confidence(confidence)
    if weights not in (None, "linear", "quadratic"):
        msg = f"weights must be None, 'linear' or 'quadratic', but is {weights!r}."
        raise ValueError(msg)
    check_length("judge", len(judge), "human", len(human))
    pairs = [pair for pair in zip(human, judge, strict=True) if not any(map(_missing, pair))]
    classes = _classes(pairs, graded=weights is not None)
    counts = Counter(pairs)
    confusion = [[counts[row, column] for column in classes] for row in classes]
    rows = len(pairs)
    table = np.array(confusion, dtype=np.float64).reshape(len(classes), len(classes)) / max(rows, 1)
    kappa, error = _kappa(table, _weights(classes, weights), rows)
    matching = sum(confusion[place][place] for place in range(len(classes)))
    quantile = normal_quantile(confidence)
    return Agreement(
        classes=classes,
        confusion=confusion,
        rows=rows,
        left_out=len(human) - rows,
        accuracy=matching / rows if rows else None,
        accuracy_interval=Interval(*wilson(matching / rows, rows, quantile), "Wilson") if rows else None,
        kappa=kappa,
        kappa_interval=(
            Interval(max(kappa - quantile * error, -1.0), min(kappa + quantile * error, 1.0), "Fleiss-Cohen-Everitt")
            if kappa is not None and error
            else None
        ),
        human_rates=table.sum(axis=1).tolist(),
        judge_rates=table.sum(axis=0).tolist(),
    )


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _classes(pairs: list[tuple[Any, Any]], *, graded: bool) -> list[Any]:
    found = {value for pair in pairs for value in pair}
    kinds = sorted({"words" if isinstance(value, str) else "numbers" for value in found})
    if len(kinds) > 1:
        msg = "human and judge must both hold words or both numbers, but words were found beside numbers."
        raise ValueError(msg)
    if graded and "words" in kinds:
        msg = "weights need numbers as classes, since they go by distance, but the classes are words."
        raise ValueError(msg)
    if len(found) > _MOST_CLASSES:
        msg = (
            f"human and judge must hold at most {_MOST_CLASSES} classes, but hold {len(found)} distinct values: turn "
            "graded scores into classes first, by a threshold or by rounding."
        )
        raise ValueError(msg)
    return sorted(found)


def _weights(classes: list[Any], weights: str | None) -> NDArray[np.float64]:
    """The agreement that each pair of classes counts as, from 0 to 1."""
    if weights is None or len(classes) < 2:  # noqa: PLR2004 - one class has no distance
        return np.eye(len(classes))
    places = np.array(classes, dtype=np.float64)
    distance = np.abs(places[:, None] - places[None, :]) / (places[-1] - places[0])
    return np.asarray(1 - (distance**2 if weights == "quadratic" else distance))


def _kappa(table: NDArray[np.float64], weight: NDArray[np.float64], rows: int) -> tuple[float | None, float]:
    """Kappa and its standard error, from shares."""
    human, judge = table.sum(axis=1), table.sum(axis=0)
    observed, chance = float((weight * table).sum()), float(human @ weight @ judge)
    if not rows or math.isclose(chance, 1.0):
        return None, 0.0
    kappa = (observed - chance) / (1 - chance)
    expected = (weight @ judge)[:, None] + (human @ weight)[None, :]
    spread = float((table * (weight - expected * (1 - kappa)) ** 2).sum()) - (kappa - chance * (1 - kappa)) ** 2
    # Rounding leaves some 1e-17 where the variance is 0.
    return kappa, math.sqrt(spread / rows) / (1 - chance) if spread > 1e-14 else 0.0  # noqa: PLR2004
