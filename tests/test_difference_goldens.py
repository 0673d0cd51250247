# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Single numbers of comparisons with their arithmetic."""

from typing import Any

import numpy as np
import pytest

from haystack_eval_ext.runs import _significance
from haystack_eval_ext.runs.gate import check_run
from haystack_eval_ext.runs.statistics import paired_difference, unpaired_difference
from scored_runs import ERROR, clusters_of, run


def test_clusters_of_which_few_changed() -> None:
    # One of six clusters of two rows changes by 2; two more, of 2 and -2: sums 2, five times 0, 2, -2 over 16 rows,
    # mean .125, deviations 1.75, five times -.25, 1.75, -2.25: squares 11.5; SE = sqrt(11.5)/16 · sqrt(8/7) = .226582;
    # t of 5 degrees of freedom 2.570582: half .582447
    base, new = [0.0] * 12, [1.0, 1.0] + [0.0] * 10
    difference = paired_difference(base, new, clusters=clusters_of(12, 2))
    assert difference.interval is not None
    assert difference.interval[:2] == pytest.approx((0.125 - 0.582447, 0.125 + 0.582447), abs=1e-6)
    assert difference.interval.method == "Bonett-Price"


@pytest.mark.parametrize(("changes", "method"), [([0.1, 0, 0, 0], "Bonett-Price"), ([0.1, 0.2, 0.3, 0], "t")])
def test_rows_without_a_change_are_most(changes: list[float], method: str) -> None:
    interval = paired_difference([0.5] * 4, [0.5 + change for change in changes]).interval
    assert interval is not None
    assert interval.method == method


def test_unpaired_rows_add_the_variance_of_both_runs() -> None:
    # s² of 0 1 1 1 is .25, that of 0 0 1 1 is 1/3; each row of four adds its s².
    difference = unpaired_difference([0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0])
    assert difference.row_variance == pytest.approx(0.25 + 1 / 3)


def test_unpaired_runs_have_the_clusters_of_the_one_with_fewer() -> None:
    base, new = [0.0, 0.5, 1.0, 0.5], [0.5, 0.5, 0.0, 1.0]
    found = [
        unpaired_difference(base, new, base_clusters=one, new_clusters=two).clusters
        for one, two in ((list("aabc"), list("aabb")), (list("aabb"), None), (None, None))
    ]
    assert found == [2, 2, None]


def test_failed_rows_are_tolerated_as_a_share_of_all_rows() -> None:
    # 10 of 110 are 9.1 %; of the 100 scored they would be 10 %.
    scores = [1.0] * 90 + [0.0] * 10 + [ERROR] * 10
    outcomes = [check_run(run(scores), ["m < 0.951"], tolerate_failed=share)[0].outcome for share in (0.09, 0.095)]
    assert outcomes == ["inconclusive", "fail"]


def test_a_sampled_p_value_is_never_0() -> None:
    # All 40 changes are up: random signs come as far in 2 of 2^40 choices, so none of 999 does: (1 + 0)/(1 + 999)
    new = [0.3 + 0.01 * row for row in range(40)]
    assert paired_difference([0.1] * 40, new, resamples=999).randomisation_p == 0.001


def test_many_rows_take_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    sums = np.random.default_rng(1).normal(0.05, 1, 800)

    class Counting:
        def __init__(self, seed: int) -> None:
            self.chance = np.random.Generator(np.random.PCG64(seed))

        def integers(self, low: int, high: int, shape: tuple[int, int], dtype: Any) -> Any:
            drawn.append(shape[0] * shape[1])
            return self.chance.integers(low, high, shape, dtype=dtype)

    whole = _significance.randomisation_p(sums, seed=3, resamples=2000)
    monkeypatch.setattr(_significance, "_DRAWN_AT_ONCE", 1000)
    monkeypatch.setattr(np.random, "default_rng", Counting)
    assert _significance.randomisation_p(sums, seed=3, resamples=2000) == pytest.approx(whole, abs=0.05)
    # 800 rows are 100 eights.
    assert (max(drawn), sum(drawn)) == (1000, 2000 * 100)
