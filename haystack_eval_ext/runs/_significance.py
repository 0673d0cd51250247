# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Whether a paired difference could be chance: randomisation, McNemar, and many tests at once (Holm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# All 2^16 signs are tried where there are no more units than that.
_EXACT_UNITS = 16
_CHUNK = 4096
# Eights of rows times resamples at once, so that many rows take no more memory.
_DRAWN_AT_ONCE = 2**20


def randomisation_p(sums: NDArray[np.float64], *, seed: int, resamples: int) -> float:
    """
    Give the two-sided p-value of Fisher's randomisation test (Smucker, Allan and Carterette, CIKM 2007).

    Were the runs alike, each difference could as well have the other sign. All signs are tried where units with a
    difference are few, else `resamples` of them: `(1 + count) / (1 + resamples)`, which is never 0.

    :param sums: The differences of the rows, or their sums by cluster: the rows of a cluster change sign together.
    :param seed: Where the random signs start.
    :param resamples: How many are drawn.
    :returns: The p-value, the same for any order of the units and for swapped runs.
    """
    sizes = np.sort(np.abs(sums[sums != 0]))
    # Equal sums that were added in another order count as equal.
    reached = abs(float(sums.sum())) - 1e-9 * float(sizes.sum())
    if len(sizes) <= _EXACT_UNITS:
        totals = np.zeros(1)
        for size in sizes:
            totals = np.concatenate([totals + size, totals - size])
        return float(np.mean(np.abs(totals) >= reached))
    # Sums of the 256 choices of each eight sizes: a random byte then adds eight signs at once.
    padded = np.pad(sizes, (0, -len(sizes) % 8)).reshape(-1, 8)
    choices = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    tables = (padded @ (2.0 * choices - 1).T).ravel()
    places = np.arange(len(padded)) * 256
    chance = np.random.default_rng(seed)
    count, left = 0, resamples
    chunk = min(_CHUNK, max(_DRAWN_AT_ONCE // len(padded), 1))
    while left:
        drawn = min(left, chunk)
        totals = tables[places + chance.integers(0, 256, (drawn, len(padded)), dtype=np.uint8)].sum(axis=1)
        count += int(np.count_nonzero(np.abs(totals) >= reached))
        left -= drawn
    return (1 + count) / (1 + resamples)


def mcnemar_p(wins: int, losses: int) -> float:
    """
    Give the exact two-sided p-value of McNemar's test: of the pairs that differ, half should go either way.

    :param wins: Pairs 0 then 1.
    :param losses: Pairs 1 then 0.
    :returns: The p-value; 1 if no pair differs.
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(float(min(wins, losses)), wins + losses, 0.5)))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """
    Adjust the p-values of a family of tests (Holm 1979): reject those at most alpha, and any false alarm is that rare.

    The i-th smallest of m becomes the running maximum of `min(1, (m - i + 1) p)`.

    ```python
    from haystack_eval_ext.runs.statistics import holm

    print(holm([0.01, 0.04, None, 0.03]))
    # [0.03, 0.06, None, 0.06]
    ```

    :param p_values: The p-values; None where a test gave none, which does not count to the family.
    :returns: The adjusted p-values in the same order.
    :raises ValueError: If one is not from 0 to 1.
    """
    tests = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(tests):
        if not 0 <= p <= 1:
            msg = f"p_values must be from 0 to 1, but number {place} is {p!r}."
            raise InvalidValueError(msg)
        highest = max(highest, min(1.0, (len(tests) - rank) * p))
        adjusted[place] = highest
    return adjusted
