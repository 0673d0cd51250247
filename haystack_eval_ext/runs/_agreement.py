# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
How far two raters agree beyond chance: Cohen 1960 and 1968; the interval by Fleiss, Cohen and Everitt 1969.

Ranks by Spearman and Kendall (tau-b), from scipy; the interval of Spearman's by Bonett and Wright 2000.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._spread import Interval, check_confidence, check_length, normal_quantile, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# More distinct values are graded scores, not classes.
MOST_CLASSES = 20
# The interval of a rank correlation has no width below.
_FEWEST_RANKS = 4

Weights: TypeAlias = Literal["linear", "quadratic"]


@dataclass(frozen=True)
class ClassRates:
    """
    How far a judge finds one class.

    :param value: The class.
    :param recall: Of the rows that people gave it, the share that the judge gave it; None without such rows. Of the
        classes 1 and 0 these are the true positive rate (TPR, sensitivity) and the true negative rate (TNR,
        specificity).
    :param recall_interval: Its Wilson interval.
    :param precision: Of the rows that the judge gave it, the share that people gave it; None without such rows.
    :param precision_interval: Its Wilson interval.
    """

    value: Any
    recall: float | None
    recall_interval: Interval | None
    precision: float | None
    precision_interval: Interval | None


@dataclass(frozen=True)
class RankAgreement:
    """
    How far scores and grades have the same order.

    :param rows: The rows with both.
    :param spearman: Spearman's rank correlation; None if either is the same in all rows.
    :param spearman_interval: Its interval; None for fewer than four rows, and for full correlation.
    :param kendall: Kendall's tau-b.
    """

    rows: int
    spearman: float | None
    spearman_interval: Interval | None
    kendall: float | None


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
    :param by_class: Precision and recall of each class.
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
    by_class: list[ClassRates]

    @property
    def tpr(self) -> float | None:
        """The true positive rate, of the class 1; None if there are other classes than 1 and 0, or no such rows."""
        return self._recall(1)

    @property
    def tnr(self) -> float | None:
        """The true negative rate, of the class 0; None likewise."""
        return self._recall(0)

    def _recall(self, wanted: int) -> float | None:
        if not set(self.classes) <= {0, 1}:
            return None
        return next((each.recall for each in self.by_class if each.value == wanted), None)


def agreement(
    human: Sequence[Any],
    judge: Sequence[Any],
    *,
    weights: Weights | None = None,
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
    :returns: Confusion, accuracy, kappa, base rates, and precision and recall of each class.
    :raises ValueError: If the columns differ in length or kind, or hold graded scores instead of classes.
    """
    check_confidence(confidence)
    if weights not in (None, "linear", "quadratic"):
        msg = f"weights must be None, 'linear' or 'quadratic', but is {weights!r}."
        raise InvalidValueError(msg)
    check_length("judge", len(judge), "human", len(human))
    pairs = [pair for pair in zip(human, judge, strict=True) if not any(map(missing, pair))]
    classes = _classes(pairs, graded=weights is not None)
    counts = Counter(pairs)
    confusion = [[counts[row, column] for column in classes] for row in classes]
    rows = len(pairs)
    table = np.array(confusion, dtype=np.float64).reshape(len(classes), len(classes)) / max(rows, 1)
    kappa, error = _kappa(table, _weights(classes, weights), rows)
    matching = sum(confusion[place][place] for place in range(len(classes)))
    quantile = normal_quantile(confidence)
    accuracy, accuracy_interval = _share(matching, rows, quantile)
    return Agreement(
        classes=classes,
        confusion=confusion,
        rows=rows,
        left_out=len(human) - rows,
        accuracy=accuracy,
        accuracy_interval=accuracy_interval,
        kappa=kappa,
        kappa_interval=(
            Interval(max(kappa - quantile * error, -1.0), min(kappa + quantile * error, 1.0), "Fleiss-Cohen-Everitt")
            if kappa is not None and error
            else None
        ),
        human_rates=table.sum(axis=1).tolist(),
        judge_rates=table.sum(axis=0).tolist(),
        by_class=[_rates(value, confusion, place, quantile) for place, value in enumerate(classes)],
    )


def _rates(value: Any, confusion: list[list[int]], place: int, quantile: float) -> ClassRates:
    both = confusion[place][place]
    recall = _share(both, sum(confusion[place]), quantile)
    precision = _share(both, sum(row[place] for row in confusion), quantile)
    return ClassRates(value, *recall, *precision)


def _share(count: int, rows: int, quantile: float) -> tuple[float | None, Interval | None]:
    if not rows:
        return None, None
    return count / rows, Interval(*wilson(count / rows, rows, quantile), "Wilson")


def rank_agreement(
    human: Sequence[float | None], judge: Sequence[float | None], *, confidence: float = 0.95
) -> RankAgreement:
    """
    Compare the order of a judge's scores with that of people's grades.

    :param human: The grades; None and NaN are rows without one.
    :param judge: The scores, on any scale.
    :param confidence: 0.95 for 95 % intervals.
    :returns: The rank correlations.
    :raises ValueError: If the columns differ in length, or hold words.
    """
    from scipy.stats import kendalltau, spearmanr

    check_confidence(confidence)
    check_length("judge", len(judge), "human", len(human))
    pairs = [pair for pair in zip(human, judge, strict=True) if not any(map(missing, pair))]
    if any(isinstance(value, str) for pair in pairs for value in pair):
        msg = "human and judge must hold numbers, since ranks need an order, but words were found."
        raise InvalidValueError(msg)
    if any(len(set(column)) < 2 for column in zip(*pairs, strict=True)) or not pairs:  # noqa: PLR2004 - nothing varies
        return RankAgreement(len(pairs), None, None, None)
    first, second = zip(*pairs, strict=True)
    rho, tau = float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic)
    interval = None
    if len(pairs) >= _FEWEST_RANKS and not math.isclose(abs(rho), 1.0):
        half = normal_quantile(confidence) * math.sqrt((1 + rho**2 / 2) / (len(pairs) - 3))
        low, high = (math.tanh(math.atanh(rho) + side) for side in (-half, half))
        interval = Interval(low, high, "Bonett-Wright")
    return RankAgreement(len(pairs), rho, interval, tau)


def kappa_outcome(found: Agreement, least: float) -> Literal["pass", "fail", "inconclusive"]:
    """
    Tell whether kappa is high enough for certain.

    :param found: An agreement.
    :param least: The lowest kappa that will do.
    :returns: "pass" if the whole interval is at least that, "fail" if it lies below, else "inconclusive". Where
        the interval has no width (full agreement, a judge that gives one class alone), kappa is as certain as accuracy.
    """
    if found.kappa is None or found.accuracy is None or found.accuracy_interval is None:
        return "inconclusive"
    if found.kappa_interval is not None:
        low, high = found.kappa_interval[:2]
    else:
        chance = float(np.dot(found.human_rates, found.judge_rates))
        low, high = (found.kappa + (limit - found.accuracy) / (1 - chance) for limit in found.accuracy_interval[:2])
    return "pass" if low >= least else "fail" if high < least else "inconclusive"


def missing(value: Any) -> bool:
    """Tell whether a rater gave no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _classes(pairs: list[tuple[Any, Any]], *, graded: bool) -> list[Any]:
    found = {value for pair in pairs for value in pair}
    kinds = sorted({"words" if isinstance(value, str) else "numbers" for value in found})
    if len(kinds) > 1:
        msg = "human and judge must both hold words or both numbers, but words were found beside numbers."
        raise InvalidValueError(msg)
    if graded and "words" in kinds:
        msg = "weights need numbers as classes, since they go by distance, but the classes are words."
        raise InvalidValueError(msg)
    if len(found) > MOST_CLASSES:
        msg = (
            f"human and judge must hold at most {MOST_CLASSES} classes, but hold {len(found)} distinct values: turn "
            "graded scores into classes first, by a threshold or by rounding."
        )
        raise InvalidValueError(msg)
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
