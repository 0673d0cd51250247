# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Which score makes a judge's yes: thresholds by their agreement with people, chosen on some rows, told on others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._agreement import Agreement, agreement, missing
from haystack_eval_ext.runs._spread import as_units, check_length

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

_FOLDS = 5
_FEWEST_FOLDS = 2
# As many thresholds as a reader looks through.
_LISTED = 20
_DECIMALS = 17


@dataclass(frozen=True)
class Threshold:
    """
    One threshold, on all rows.

    :param threshold: Scores of at least this much count as 1.
    :param accuracy: The share of rows where that is the people's class.
    :param kappa: Cohen's kappa.
    :param tpr: The true positive rate.
    :param tnr: The true negative rate.
    """

    threshold: float
    accuracy: float
    kappa: float
    tpr: float
    tnr: float


@dataclass(frozen=True)
class ThresholdSweep:
    """
    Thresholds, and how well one chosen so agrees on rows that it was not chosen by.

    :param folds: In so many parts the rows were divided.
    :param seed: What started the draw of the parts.
    :param chosen: For each part, the threshold that the other parts chose.
    :param out_of_fold: The agreement over all rows, each with the threshold that the other parts chose: what to expect
        on new rows.
    :param best: The threshold with the highest kappa on all rows: the one to use.
    :param in_sample: Its agreement on the very rows that it was chosen by, and so too good.
    :param classes: For each row its class by the threshold that the other parts chose, of rows without people's class
        by the best one; None for rows without a score.
    :param thresholds: The thresholds, at most 20 of them spread over all.
    """

    folds: int
    seed: int
    chosen: list[float]
    out_of_fold: Agreement
    best: float
    in_sample: Agreement
    classes: list[float | None]
    thresholds: list[Threshold]


def sweep_thresholds(
    human: Sequence[float | None],
    scores: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    folds: int = _FOLDS,
    seed: int = 0,
    confidence: float = 0.95,
) -> ThresholdSweep:
    """
    Choose the threshold by which scores agree best with people, and tell honestly how well.

    ```python
    from haystack_eval_ext.runs.statistics import sweep_thresholds

    people = [0, 0, 0, 1, 1] * 8
    found = sweep_thresholds(people, [0.1, 0.2, 0.6, 0.7, 0.9] * 8)
    print(found.best, found.out_of_fold.kappa)
    # 0.65 1.0
    ```

    :param human: The people's classes, 1 and 0; None and NaN are rows without one.
    :param scores: The judge's scores; None and NaN likewise.
    :param clusters: The cluster of each row, which is never divided; None in a row that stands for itself.
    :param folds: In how many parts to divide the rows; fewer if a class has fewer rows.
    :param seed: Starts the draw of the parts.
    :param confidence: 0.95 for 95 % intervals.
    :returns: The thresholds, and the agreement in and out of sample.
    :raises ValueError: If the columns differ in length, a class is neither 1 nor 0, a class has fewer than two rows (or
        clusters), or all scores are the same.
    """
    check_length("scores", len(scores), "human", len(human))
    if folds < _FEWEST_FOLDS:
        msg = f"folds must be at least {_FEWEST_FOLDS}, but is {folds!r}."
        raise InvalidValueError(msg)
    kept = [place for place, pair in enumerate(zip(human, scores, strict=True)) if not any(map(missing, pair))]
    classes = np.array([human[place] for place in kept], dtype=np.float64)
    values = np.array([scores[place] for place in kept], dtype=np.float64)
    groups = None if clusters is None else [clusters[place] for place in kept]
    if not set(classes.tolist()) <= {0.0, 1.0}:
        msg = "a sweep of thresholds needs people's labels of two classes, 1 and 0: give a threshold for the labels."
        raise InvalidValueError(msg)
    if len(set(values.tolist())) < 2:  # noqa: PLR2004 - nothing to cut
        msg = "a sweep of thresholds needs scores that differ, but all are the same."
        raise InvalidValueError(msg)
    fold, parts = _folds(classes, groups, folds, seed)
    chosen, judged = [], np.zeros(len(values))
    for part in range(parts):
        inside = fold == part
        others = values[~inside]
        # Where these hold one score only it is a yes: nothing can be chosen.
        threshold = _best(*_table(classes[~inside], others)) if np.ptp(others) else float(others[0])
        chosen.append(threshold)
        judged[inside] = values[inside] >= threshold
    cuts, rates = _table(classes, values)
    best = _best(cuts, rates)
    people = classes.tolist()
    by_row = [None if score is None or math.isnan(score) else float(score >= best) for score in scores]
    for place, value in zip(kept, judged.tolist(), strict=True):
        by_row[place] = value
    shown = np.unique(np.linspace(0, len(cuts) - 1, min(len(cuts), _LISTED)).round().astype(int))
    return ThresholdSweep(
        folds=parts,
        seed=seed,
        chosen=chosen,
        out_of_fold=agreement(people, judged.tolist(), confidence=confidence),
        best=best,
        in_sample=agreement(people, (values >= best).astype(float).tolist(), confidence=confidence),
        classes=by_row,
        thresholds=[Threshold(float(cuts[place]), *map(float, rates[:, place])) for place in shown],
    )


def _folds(
    classes: NDArray[np.float64], clusters: Sequence[Hashable] | None, folds: int, seed: int
) -> tuple[NDArray[np.intp], int]:
    """The part of each row. Rows of one class, or clusters with like shares of it, are dealt out in turn."""
    numbers: dict[Hashable, int] = {}
    keys = [
        ("row", row) if cluster is None else ("cluster", cluster)
        for row, cluster in enumerate(clusters if clusters is not None else [None] * len(classes))
    ]
    unit = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
    shares = as_units(classes, unit.tolist())
    least = min(len(np.unique(unit[classes == value])) for value in (0.0, 1.0))
    if least < _FEWEST_FOLDS:
        msg = (
            "a sweep of thresholds needs two rows of each class at least, not of one cluster, but one class has "
            f"{least}: label more rows."
        )
        raise InvalidValueError(msg)
    parts = min(folds, least)
    order = np.random.default_rng(seed).permutation(len(numbers))
    order = order[np.argsort((shares.sums / shares.sizes)[order], kind="stable")]
    dealt = np.empty(len(numbers), dtype=np.intp)
    dealt[order] = np.arange(len(numbers)) % parts
    return dealt[unit], parts


def _table(
    classes: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Thresholds about half-way between neighbouring scores; for each accuracy, kappa, TPR and TNR."""
    found, place = np.unique(values, return_inverse=True)
    yes = np.bincount(place, weights=classes, minlength=len(found))
    no = np.bincount(place, weights=1 - classes, minlength=len(found))
    below_yes, below_no = np.cumsum(yes)[:-1], np.cumsum(no)[:-1]
    positives, negatives = yes.sum(), no.sum()
    hits, rejected = positives - below_yes, below_no
    false, missed = negatives - below_no, below_yes
    chance = (hits + false) * negatives + positives * (missed + rejected)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = np.array(
            [
                (hits + rejected) / len(values),
                2 * (hits * rejected - false * missed) / chance,
                hits / positives,
                rejected / negatives,
            ]
        )
    return _between(found[:-1], found[1:]), rates


def _between(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers above the lower and at most the upper ones, near their middle, with as few decimals as that takes."""
    # Between neighbouring floats there is none.
    found, left = upper.copy(), np.ones(len(upper), dtype=bool)
    for decimals in range(_DECIMALS):
        rounded = np.round((lower + upper) / 2, decimals)
        fits = left & (lower < rounded) & (rounded <= upper)
        found[fits] = rounded[fits]
        left &= ~fits
    return found


def _best(cuts: NDArray[np.float64], rates: NDArray[np.float64]) -> float:
    """The threshold of the highest kappa; of several the middle one."""
    kappa = np.nan_to_num(rates[1], nan=-1.0)
    best = np.flatnonzero(kappa >= kappa.max() - 1e-12)
    return float(cuts[best[len(best) // 2]])
