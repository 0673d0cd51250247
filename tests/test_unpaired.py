# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs over different questions: a test of whether both have one distribution, and an interval that agrees with it."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from haystack_eval_ext.runs._spread import as_units
from haystack_eval_ext.runs._unpaired import _FEW_UNITS, _dealt, _key, _permuted
from haystack_eval_ext.runs.statistics import Difference, unpaired_difference
from score_shapes import SHAPES, Chance, Draw, documented

ALIKE: dict[str, Draw] = {
    "97 % uniform .95 to 1, 3 % zero": SHAPES["97 % uniform .95 to 1, 3 % zero"].draw,
    "99 % uniform .95 to 1, 1 % zero": SHAPES["99 % uniform .95 to 1, 1 % zero"].draw,
    "0/1, .95": lambda chance, rows: (chance.random(rows) < 0.95) * 1.0,
    "0/1, .5": lambda chance, rows: (chance.random(rows) < 0.5) * 1.0,
    "exponential": lambda chance, rows: chance.exponential(1, rows),
    "log-normal": lambda chance, rows: chance.lognormal(0, 1, rows),
    "uniform 0 to 1": lambda chance, rows: chance.random(rows),
}
SIZES = [(40, 40), (40, 200), (200, 40)]


def compared(draw: Draw, sizes: tuple[int, int], chance: Chance, resamples: int) -> Difference:
    seed = int(chance.integers(2**31))
    return unpaired_difference(draw(chance, sizes[0]), draw(chance, sizes[1]), seed=seed, resamples=resamples)


def false_alarms(name: str, sizes: tuple[int, int], repeats: int, resamples: int) -> float:
    chance = np.random.default_rng(21)
    found = [compared(ALIKE[name], sizes, chance, resamples) for _ in range(repeats)]
    assert all(agree(each) for each in found)
    return sum(each.p_value is not None and each.p_value < 0.05 for each in found) / repeats


def agree(difference: Difference, alpha: float = 0.05) -> bool:
    interval, p = difference.interval, difference.p_value
    assert interval is not None
    assert p is not None
    return abs(p - alpha) < 1e-6 or (p < alpha) == (interval.low > 0 or interval.high < 0)


@pytest.mark.parametrize("name", ["97 % uniform .95 to 1, 3 % zero", "0/1, .95", "exponential"])
def test_runs_of_one_distribution_are_rarely_told_apart(name: str) -> None:
    # Welch's test does so in 23 of 100 in the first of them.
    assert false_alarms(name, (40, 200), 100, 200) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIKE)
def test_the_table_of_unpaired_runs_is_what_is_measured(name: str) -> None:
    for sizes, share in zip(SIZES, documented("Unpaired runs")[name], strict=True):
        found = false_alarms(name, sizes, 500, 200)
        assert found <= 0.07
        assert 100 * found == pytest.approx(share, abs=1.0), sizes


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("97 % uniform .95 to 1, 3 % zero", 0.23), ("0/1, .95", 0.135)])
@pytest.mark.parametrize("sizes", SIZES[1:])
def test_welchs_test_tells_runs_of_one_distribution_apart_too_often(
    name: str, share: float, sizes: tuple[int, int]
) -> None:
    chance = np.random.default_rng(21)
    found = [compared(ALIKE[name], sizes, chance, 0).t_p for _ in range(2000)]
    assert sum(p is not None and p < 0.05 for p in found) / 2000 == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("clustered", [False, True])
def test_interval_and_p_value_agree_at_every_confidence(seed: int, clustered: bool) -> None:
    chance = np.random.default_rng(seed)
    base, new = chance.uniform(0, 1, 30), chance.uniform(0, 1, 25) ** (1 + seed % 4)
    clusters: Any = {"base_clusters": [row // 3 for row in range(30)], "new_clusters": [row % 7 for row in range(25)]}
    for confidence in (0.5, 0.8, 0.9, 0.95, 0.99):
        found = unpaired_difference(base, new, confidence=confidence, resamples=300, **(clusters if clustered else {}))
        assert agree(found, 1 - confidence), confidence


def test_the_permutation_test_is_scipys() -> None:
    chance = np.random.default_rng(3)
    base, new = chance.exponential(1, 5), chance.exponential(2.2, 6)

    def statistic(one: Any, two: Any, axis: int) -> Any:
        error = np.sqrt(one.var(axis=axis, ddof=1) / one.shape[axis] + two.var(axis=axis, ddof=1) / two.shape[axis])
        return np.abs((two.mean(axis=axis) - one.mean(axis=axis)) / error)

    exact = stats.permutation_test((base, new), statistic, n_resamples=np.inf, vectorized=True, alternative="greater")
    keys = [_key(as_units(scores, None)) for scores in (base, new)]
    found = _permuted(keys[0], keys[1], 0, 20_000)
    assert found.seen == pytest.approx(float(statistic(base, new, 0)))
    assert found.p == pytest.approx(exact.pvalue, abs=0.01)


def test_the_seed_and_nothing_else_decides_the_permutations() -> None:
    chance = np.random.default_rng(5)
    base, new = chance.uniform(0, 1, 30), chance.uniform(0.2, 1, 40)
    one, again = (unpaired_difference(base, new, resamples=200) for _ in range(2))
    assert one == again
    keys = [_key(as_units(scores, None)) for scores in (base, new)]
    assert _permuted(keys[0], keys[1], 0, 200).p != _permuted(keys[0], keys[1], 1, 200).p
    turned = unpaired_difference(new[::-1], base[::-1], resamples=200)
    assert turned.p_value == pytest.approx(one.p_value)
    assert one.interval is not None
    assert turned.interval is not None
    assert turned.interval[:2] == pytest.approx((-one.interval.high, -one.interval.low))


@pytest.mark.parametrize(
    ("base", "new", "decided"),
    [([0.9] * 40, [0.5] * 40, True), ([0.5] * 40, [0.5] * 30, False), ([0.5], [0.2, 0.3], None), ([], [0.5], None)],
)
def test_runs_without_a_spread(base: list[float], new: list[float], decided: bool | None) -> None:
    found = unpaired_difference(base, new)
    assert (found.interval is None) == (decided is None)
    assert (found.p_value is not None and found.p_value < 0.05) == (decided is True)
    assert decided is None or agree(found)


def test_bad_resamples_are_named() -> None:
    with pytest.raises(ValueError, match="resamples must be at least 0, but is -1"):
        unpaired_difference([0.1], [0.2], resamples=-1)


@pytest.mark.parametrize(
    ("units", "first"), [(_FEW_UNITS - 1, 300), (_FEW_UNITS, 300), (_FEW_UNITS, 970), (3000, 1500)]
)
def test_units_are_dealt_in_every_way_alike(units: int, first: int) -> None:
    seen = np.zeros((1, units), dtype=np.uint8)
    seen[:, :first] = 1
    dealt = _dealt(np.random.default_rng(7), seen, 2000)
    assert (dealt.sum(axis=1) == first).all()
    share = first / units
    # How often each unit, and each unit with its neighbour, is in the first run.
    assert abs(dealt.mean(axis=0) - share).max() < 5 * np.sqrt(share * (1 - share) / 2000)
    both = first * (first - 1) / (units * (units - 1))
    pairs = (dealt[:, 1:] & dealt[:, :-1]).mean(axis=0)
    assert abs(pairs - both).max() < 5 * np.sqrt(both * (1 - both) / 2000)
    assert len({row.tobytes() for row in dealt}) == 2000


def test_many_rows_have_the_p_value_of_welchs_test() -> None:
    """Of many rows both tests are one; shuffles of this size would take a quarter of a minute with 5,000 of them."""
    chance = np.random.default_rng(11)
    base, new = chance.choice([0, 0.25, 0.5, 0.75, 1], 4000), chance.choice([0, 0.25, 0.5, 0.75, 1], 6000) * 0.98
    found = unpaired_difference(base, new, resamples=2000)
    assert found.p_value == pytest.approx(found.t_p, abs=0.025)
