# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""How far several raters agree: each pair by Cohen's kappa, all together by Krippendorff's alpha."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._agreement import Weights, agreement, missing
from haystack_eval_ext.runs._spread import check_length

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from haystack_eval_ext.runs._spread import Interval

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
_LEVELS = get_args(Level)


@dataclass(frozen=True)
class RaterPair:
    """
    Two raters.

    :param first: The name of one.
    :param second: The name of the other.
    :param rows: The rows that both rated.
    :param accuracy: The share of them with equal classes; None without rows.
    :param kappa: Cohen's kappa; None if both gave one and the same class only.
    :param kappa_interval: Its interval.
    """

    first: str
    second: str
    rows: int
    accuracy: float | None
    kappa: float | None
    kappa_interval: Interval | None


@dataclass(frozen=True)
class RaterAgreement:
    """
    Several people and a judge.

    :param people: Each pair of people.
    :param judge: Each of the people with the judge.
    :param people_kappa: The mean kappa of the pairs of people: as much as a judge can be asked for; None without any.
    :param judge_kappa: The mean kappa of the people with the judge.
    :param people_alpha: Krippendorff's alpha of the people, by level, of words "nominal" alone; None where it is
        undefined.
    :param judge_alpha: The same with the judge as one more rater.
    """

    people: list[RaterPair]
    judge: list[RaterPair]
    people_kappa: float | None
    judge_kappa: float | None
    people_alpha: dict[str, float | None]
    judge_alpha: dict[str, float | None]


def rater_agreement(
    people: Mapping[str, Sequence[Any]],
    judge: tuple[str, Sequence[Any]],
    *,
    weights: Weights | None = None,
    confidence: float = 0.95,
) -> RaterAgreement:
    """
    Compare people with each other and with a judge.

    :param people: The classes of each, by name; None and NaN are rows without one.
    :param judge: The judge's name and classes.
    :param weights: As in `agreement`.
    :param confidence: 0.95 for 95 % intervals.
    :returns: All pairs, and alpha; words have no order, so that theirs is of the level "nominal" alone.
    :raises ValueError: As `agreement` does.
    """

    def pair(first: tuple[str, Sequence[Any]], second: tuple[str, Sequence[Any]]) -> RaterPair:
        found = agreement(first[1], second[1], weights=weights, confidence=confidence)
        return RaterPair(first[0], second[0], found.rows, found.accuracy, found.kappa, found.kappa_interval)

    among = [pair(*both) for both in combinations(people.items(), 2)]
    against = [pair(each, judge) for each in people.items()]
    columns = list(people.values())
    words = any(isinstance(value, str) for column in (*columns, judge[1]) for value in column)
    levels = _LEVELS[:1] if words else _LEVELS
    return RaterAgreement(
        people=among,
        judge=against,
        people_kappa=_mean(among),
        judge_kappa=_mean(against),
        people_alpha={level: krippendorff_alpha(columns, level) for level in levels},
        judge_alpha={level: krippendorff_alpha([*columns, judge[1]], level) for level in levels},
    )


def krippendorff_alpha(ratings: Sequence[Sequence[Any]], level: Level = "nominal") -> float | None:
    """
    Tell how far any number of raters agree beyond chance (Krippendorff 2004, Content Analysis, chapter 11).

    ```python
    from haystack_eval_ext.runs.statistics import krippendorff_alpha

    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    print(round(krippendorff_alpha([meg, owen]), 3))
    # 0.095
    ```

    :param ratings: For each rater one value a row; None and NaN where a rater gave none. Rows with one value count
        for nothing.
    :param level: "nominal" for classes, "ordinal" for grades in an order, "interval" for grades with equal steps.
    :returns: 1 for full agreement, 0 for chance, below 0 for less; None where no row has two values, or all values are
        the same.
    :raises ValueError: If raters have different numbers of rows, the level is unknown, or it needs numbers and there
        are words.
    """
    if level not in _LEVELS:
        msg = f"level must be one of {', '.join(_LEVELS)}, but is {level!r}."
        raise InvalidValueError(msg)
    for rater in ratings[1:]:
        check_length("each rater", len(rater), "the first rater", len(ratings[0]))
    rows = [[value for value in row if not missing(value)] for row in zip(*ratings, strict=True)]
    rows = [row for row in rows if len(row) > 1]
    if level != "nominal" and any(isinstance(value, str) for row in rows for value in row):
        msg = f"level {level!r} needs numbers, but words were found; take 'nominal'."
        raise InvalidValueError(msg)
    numbers = {value: place for place, value in enumerate(_sorted({value for row in rows for value in row}))}
    # How often each pair of values stands in one row, each row with the weight of its number of values.
    together = np.zeros((len(numbers), len(numbers)))
    for row in rows:
        counts = np.bincount([numbers[value] for value in row], minlength=len(numbers)).astype(np.float64)
        together += (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
    totals = together.sum(axis=1)
    distance = _distances(list(numbers), totals, level)
    expected = float(totals @ distance @ totals)
    if expected <= 0:
        return None
    return 1 - (float(totals.sum()) - 1) * float((together * distance).sum()) / expected


def _distances(values: list[Any], totals: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
    """The squared difference of each pair of values."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    # In an order, between two values lie all ratings between them and half of their own.
    places = np.array(values, dtype=np.float64) if level == "interval" else np.cumsum(totals) - totals / 2
    return np.asarray((places[:, None] - places[None, :]) ** 2)


def _sorted(values: set[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (isinstance(value, str), value))


def _mean(pairs: list[RaterPair]) -> float | None:
    kappas = [pair.kappa for pair in pairs if pair.kappa is not None]
    return float(np.mean(kappas)) if kappas else None
