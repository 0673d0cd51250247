# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes in clusters of unequal sizes, and CR2 by its definition in matrices, without the shortcuts of a mean."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from haystack_eval_ext.runs.statistics import Interval, paired_difference
from score_shapes import Chance

# What draws the scores before and after, by the cluster of each row and the number of clusters; the true change.
Draw = Callable[[Chance, Any, int], tuple[Any, Any]]


def normal(within: float) -> Draw:
    def draw(chance: Chance, clusters: Any, count: int) -> tuple[Any, Any]:
        base = chance.normal(0, 1, len(clusters))
        return base, base + chance.normal(0, within, count)[clusters] + chance.normal(0, 1, len(clusters))

    return draw


def shares(chance: Chance, clusters: Any, count: int) -> tuple[Any, Any]:
    """Questions about one document are about as hard; the new run answers four fifths of what the base run does."""
    hard = chance.beta(2, 2, count)[clusters]
    drawn = chance.random((2, len(clusters)))
    return (drawn[0] < hard) * 1.0, (drawn[1] < 0.8 * hard) * 1.0


def skewed(chance: Chance, clusters: Any, count: int) -> tuple[Any, Any]:
    """Of 15 % of the documents every question loses up to .5, the others nothing."""
    hit = (chance.random(count) < 0.15)[clusters]
    base = chance.uniform(0.5, 1, len(clusters))
    return base, np.where(hit, base - 0.5 * chance.random(len(clusters)), base)


def exponential(chance: Chance, clusters: Any, count: int) -> tuple[Any, Any]:
    change = chance.exponential(1, count)[clusters] + chance.exponential(1, len(clusters)) - 2
    return np.zeros(len(clusters)), change


CHANGES: dict[str, tuple[Draw, float]] = {
    "normal, correlation .1": (normal(0.33), 0.0),
    "normal, correlation .5": (normal(1.0), 0.0),
    "0/1": (shares, -0.1),
    "skewed: 15 % of the documents lose": (skewed, -0.0375),
    "skewed: exponential": (exponential, 0.0),
}


def interval_of(change: str, count: int) -> Callable[[Chance], Interval | None]:
    """Draw clusters of 1 to about 30 rows, 7 on average, and give the interval of the change."""

    def interval(chance: Chance) -> Interval | None:
        clusters = np.repeat(np.arange(count), chance.geometric(0.15, count))
        base, new = CHANGES[change][0](chance, clusters, count)
        return paired_difference(base, new, clusters=clusters.tolist(), resamples=0).interval

    return interval


def cr2(values: Any, clusters: Sequence[Any], confidence: float) -> tuple[float, float, tuple[float, float]]:
    """
    Give standard error, p-value and interval of a mean by CR2 (Bell and McCaffrey 2002).

    Regression on a constant, with M = I - X (X'X)^-1 X' and A_g = M_gg^(-1/2):
    V = (X'X)^-1 sum X_g' A_g e_g e_g' A_g X_g (X'X)^-1. Each summand is the square of p_g' y; the degrees are those of
    a chi-square with the first two moments of the sum for independent rows, by the eigenvalues of all p_g' p_h.
    """
    values, rows = np.asarray(values, dtype=float), len(values)
    design = np.ones((rows, 1))
    bread = np.linalg.inv(design.T @ design)
    rest = np.eye(rows) - design @ bread @ design.T
    parts = []
    for cluster in dict.fromkeys(clusters):
        inside = np.array([each == cluster for each in clusters])
        sizes, vectors = np.linalg.eigh(rest[np.ix_(inside, inside)])
        adjusted = vectors @ np.diag(sizes**-0.5) @ vectors.T
        parts.append((bread @ design[inside].T @ adjusted @ rest[inside]).ravel())
    error = float(np.sqrt(sum(float(part @ values) ** 2 for part in parts)))
    moments = np.linalg.eigvalsh(np.array([[one @ two for two in parts] for one in parts]))
    freedom = float(moments.sum() ** 2 / (moments**2).sum())
    mean, half = float(values.mean()), float(stats.t.ppf(0.5 + confidence / 2, freedom)) * error
    return error, float(2 * stats.t.sf(abs(mean) / error, freedom)), (mean - half, mean + half)
