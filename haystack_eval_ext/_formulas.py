# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Formulas that two families or several metrics need: numbers in, one number out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def share(verdicts: Sequence[int]) -> float:
    """
    The share of ones.

    :param verdicts: Ones and zeros, at least one.
    :returns: From 0 to 1.
    """
    return sum(verdicts) / len(verdicts)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """
    The weighted harmonic mean of precision and recall (van Rijsbergen, Information Retrieval, 1979).

    :param precision: From 0 to 1.
    :param recall: From 0 to 1.
    :param beta: How many times as much recall weighs as precision, above 0.
    :returns: From 0 to 1; 0 if both are 0.
    """
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


def average_precision(verdicts: Sequence[int]) -> float:
    """
    The mean of the precision at each relevant rank, over the relevant ones that were ranked.

    :param verdicts: 1 (relevant) or 0 for each rank, best first.
    :returns: From 0 to 1; exactly 1 if no irrelevant one stands before a relevant one; 0 if none is relevant.
    """
    hits = 0
    total = 0.0
    for rank, verdict in enumerate(verdicts, start=1):
        if verdict:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def cosine(one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]) -> float:
    """
    The cosine of the angle between two vectors.

    :param one: A vector.
    :param other: A vector of the same length.
    :returns: From -1 to 1, exactly 1 for equal vectors; NaN if one of them is all zeros.
    """
    left, right = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if not left.any() or not right.any():
        return math.nan
    if np.array_equal(left, right):
        return 1.0
    # By the largest component first, so that no square overflows or vanishes.
    left, right = (vector / np.abs(vector).max() for vector in (left, right))
    return max(-1.0, min(1.0, float(left @ right) / math.sqrt(float(left @ left) * float(right @ right))))
