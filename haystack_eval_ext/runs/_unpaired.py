# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Two runs over different questions: the difference of their means, and whether chance alone could have made it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._differences import Difference
from haystack_eval_ext.runs._means import MeanEstimate, read_scores
from haystack_eval_ext.runs._spread import ROUNDING, Interval, Units, check_confidence, t_tails, wider, without_rounding
from haystack_eval_ext.runs._ties import Reach, clipped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from haystack_eval_ext.runs._spread import Scores

# Their number decides how near 0 a p-value can come; 0.05 then has a standard error of 0.003.
PERMUTATIONS = 5_000
# Units times permutations at once, so that many rows take no more memory, and fit into a cache.
_DRAWN_AT_ONCE = 2**18
# Shuffles are the quickest way to deal fewer units than this.
_FEW_UNITS = 1_000
# Below this share of the largest statistic two of them are equal but for rounding.
_EQUAL = 1e-9
_SMALLEST_P = 1e-12


class _Permuted(NamedTuple):
    """The studentised difference of the runs, and those of runs that chance made of the same units, largest first."""

    seen: float
    drawn: NDArray[np.float64]

    @property
    def p(self) -> float:
        reached = self.drawn >= self.seen * (1 - _EQUAL)
        return (1 + int(np.count_nonzero(reached))) / (1 + len(self.drawn))

    def half(self, difference: float, error: float, alpha: float) -> float:
        """Half the interval of the differences that this test would not reject."""
        allowed = math.ceil(alpha * (1 + len(self.drawn))) - 1
        largest = np.concatenate([[self.seen], self.drawn])
        finite = np.sort(largest[np.isfinite(largest)])[::-1]
        above = len(largest) - len(finite)
        quantile = float(finite[max(allowed - above, 0)]) if allowed - above < len(finite) and len(finite) else 0.0
        # Equal statistics count as equal whatever their rounding.
        side = abs(difference) * (1 + ROUNDING if self.p >= alpha else 1 - _EQUAL)
        return max(quantile * error, side) if self.p >= alpha else min(quantile * error, side)


def unpaired_difference(
    base: Scores,
    new: Scores,
    *,
    base_clusters: Sequence[Hashable] | None = None,
    new_clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    resamples: int = PERMUTATIONS,
    score_range: tuple[float, float] | None = None,
) -> Difference:
    """
    Compare the means of two runs over different questions; the paired comparison shows far smaller differences.

    The test asks whether both runs have one distribution of scores: their rows (or clusters) are dealt anew to two runs
    of the same sizes, and the difference of the means over its standard error is compared with theirs (Janssen 1997;
    Chung and Romano 2013). The interval is the wider of that test's and the two means' (Newcombe 1998); it excludes 0
    where p is below 1 - confidence. 0/1 scores of rows on their own have Newcombe's interval and its p-value alone.

    :param base: Scores of the base run; NaN rows are left out and counted.
    :param new: Scores of the new run.
    :param base_clusters: The cluster of each row of the base run.
    :param new_clusters: The cluster of each row of the new run.
    :param confidence: 0.95 for a 95 % interval.
    :param seed: Where the permutations start.
    :param resamples: How many of them are drawn; 0 leaves the test to the interval of the two means.
    :param score_range: The lowest and the highest score that there can be; None if nobody says.
    :returns: New mean minus base mean, with `paired=False`.
    :raises ValueError: If a score is infinite or outside the range, columns differ in length, or a parameter is out of
        its range.
    """
    if resamples < 0:
        msg = f"resamples must be at least 0, but is {resamples}."
        raise InvalidValueError(msg)
    check_confidence(confidence)
    runs = [
        read_scores(scores, clusters=clusters, score_range=score_range)
        for scores, clusters in ((base, base_clusters), (new, new_clusters))
    ]
    ends = runs[0].ends if runs[0].ends == runs[1].ends else None
    width = None if ends is None else ends.high - ends.low
    one, two = (run.estimate(confidence) for run in runs)
    mean = None
    if one.mean is not None and two.mean is not None:
        mean = without_rounding(two.mean - one.mean, max(abs(one.mean), abs(two.mean)))
    interval, p = _square_and_add(one, two), None
    error = variance = t_p = None
    if mean is not None and one.standard_error is not None and two.standard_error is not None:
        parts = one.standard_error**2, two.standard_error**2
        error = math.sqrt(sum(parts)) or None
        variance = one.rows * parts[0] + two.rows * parts[1] or None
        if error:
            # Welch's degrees of freedom, from clusters where there are some.
            freedoms = ((one.clusters or one.rows) - 1, (two.clusters or two.rows) - 1)
            shares = [part / sum(parts) for part in parts]
            freedom = 1 / sum(share**2 / degrees for share, degrees in zip(shares, freedoms, strict=True))
            t_p = t_tails(mean / error, freedom)
    if mean is not None and interval is not None:
        p = _p_of(lambda level: _square_and_add(*(run.estimate(level) for run in runs)))
        if resamples and not all(run.zero_one for run in runs):
            # Swapped runs have the same permutations.
            permuted = _permuted(*sorted(_key(run.units) for run in runs), seed, resamples)
            half, method = permuted.half(mean, error or 0.0, 1 - confidence), "square-and-add and permutation"
            tested = Interval(mean - half, mean + half, method)
            if width is not None:
                tested = clipped(tested, Reach(-width, width))
            interval, p = wider(tested, interval), max(p, permuted.p)
    return Difference(
        mean=mean,
        interval=interval,
        standard_error=error,
        row_variance=variance,
        t_p=t_p,
        rows=min(one.rows, two.rows),
        left_out=one.left_out + two.left_out,
        clusters=None
        if one.clusters is None and two.clusters is None
        else min(one.clusters or one.rows, two.clusters or two.rows),
        paired=False,
        largest_change=width,
        unpaired_p=p,
    )


def _square_and_add(one: MeanEstimate, two: MeanEstimate) -> Interval | None:
    """The interval of a difference from those of two means."""
    if one.mean is None or two.mean is None or not one.interval or not two.interval:
        return None
    below = math.hypot(two.mean - two.interval.low, one.interval.high - one.mean)
    above = math.hypot(two.interval.high - two.mean, one.mean - one.interval.low)
    return Interval(two.mean - one.mean - below, two.mean - one.mean + above, "square-and-add")


def _p_of(interval_at: Callable[[float], Interval | None]) -> float:
    """The largest level at which an interval that grows with its confidence still holds 0."""

    def holds(p: float) -> bool:
        found = interval_at(1 - p)
        return found is None or found.low <= 0 <= found.high

    low, high = math.log(_SMALLEST_P), math.log1p(-_EQUAL)
    if holds(math.exp(high)):
        return 1.0
    if not holds(math.exp(low)):
        return _SMALLEST_P
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(math.exp(middle)) else (low, middle)
    return math.exp(low)


def _key(units: Units) -> tuple[bytes, bytes]:
    # In one order, so that the order of rows does not matter.
    order = np.lexsort((units.sizes, units.sums))
    return units.sums[order].tobytes(), units.sizes[order].tobytes()


@lru_cache(maxsize=16)
def _permuted(base: tuple[bytes, bytes], new: tuple[bytes, bytes], seed: int, resamples: int) -> _Permuted:
    """The permutations of two runs; a gate asks for intervals of several levels from the same ones."""
    (one, sizes), (two, other_sizes) = ([np.frombuffer(part) for part in run] for run in (base, new))
    sizes, first = np.concatenate([sizes, other_sizes]), len(one)
    sums = np.concatenate([one, two])
    # Squares of numbers near 0 and of one size keep their digits.
    scale = float(np.abs(sums / sizes).max()) or 1.0
    sums = sums / scale
    sums = sums - sizes * (float(sums.sum()) / float(sizes.sum()))
    spread = float(np.abs(sums).max()) or 1.0
    sums = sums / spread
    columns = np.stack([sums, sizes, sums**2, sums * sizes, sizes**2], axis=1)
    seen = np.zeros((1, len(sums)), dtype=np.uint8)
    seen[:, :first] = 1
    chance = np.random.default_rng(seed)
    drawn, left = [], resamples
    while left:
        dealt = min(left, max(_DRAWN_AT_ONCE // len(sums), 1))
        drawn.append(_studentised(_dealt(chance, seen, dealt), columns, first))
        left -= dealt
    return _Permuted(float(_studentised(seen, columns, first)[0]), np.concatenate(drawn))


def _dealt(chance: np.random.Generator, seen: NDArray[np.uint8], times: int) -> NDArray[np.uint8]:
    """Deal the units to two runs of the sizes seen, every way as likely as every other."""
    units, first = seen.shape[1], int(seen.sum())
    if units < _FEW_UNITS:
        return chance.permuted(np.repeat(seen, times, axis=0), axis=1)
    # A coin for each unit; then those that are too many in one run move, at random. A shuffle takes five times as long.
    coins = chance.integers(0, 256, (times, units), dtype=np.uint8)
    dealt: NDArray[np.uint8] = (coins < round(256 * first / units)).view(np.uint8)
    for row, count in zip(dealt, np.count_nonzero(dealt, axis=1).tolist(), strict=True):
        if count != first:
            larger = int(count > first)
            moved = chance.choice(np.flatnonzero(row == larger), abs(count - first), replace=False, shuffle=False)
            row[moved] = 1 - larger
    return dealt


def _studentised(dealt: NDArray[np.uint8], columns: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """The size of the difference of the means over its standard error, for each way to deal the units to two runs."""
    one = dealt.astype(np.float64) @ columns
    total, variance = np.zeros(len(dealt)), np.zeros(len(dealt))
    for part, units, sign in ((one, first, -1), (columns.sum(axis=0) - one, len(columns) - first, 1)):
        sums, sizes, squares, crossed, size_squares = part.T
        mean = sums / sizes
        left = squares - 2 * mean * crossed + mean**2 * size_squares
        left = np.where(left <= ROUNDING * len(columns), 0.0, left)
        total = total + sign * mean
        variance = variance + left * units / max(units - 1, 1) / sizes**2
    total = np.where(np.abs(total) <= ROUNDING, 0.0, np.abs(total))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: NDArray[np.float64] = np.where(total == 0, 0.0, total / np.sqrt(variance))
    return found
