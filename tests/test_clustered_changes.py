# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes in clusters of unequal sizes: the wider of the usual cluster-robust interval and CR2."""

from typing import Any

import numpy as np
import pytest

from clustered_changes import CHANGES, cr2, interval_of
from haystack_eval_ext.runs._spread import as_units
from haystack_eval_ext.runs.statistics import paired_difference
from score_shapes import coverage, documented

CHANCE = np.random.default_rng(4)


@pytest.mark.parametrize("sizes", [[1, 2], [3, 1, 1], [9, 2, 2, 1], [5, 5, 5, 5], [30, 1, 2, 3, 4, 1, 7]])
def test_cr2_is_that_of_its_definition(sizes: list[int]) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes).tolist()
    changes = CHANCE.normal(0.3, 1, len(clusters))
    units = as_units(changes, clusters)
    error, p, (low, high) = cr2(changes, clusters, 0.95)
    assert units.cr2 is not None
    assert units.cr2[0] == pytest.approx(error)
    difference = paired_difference(np.zeros(len(changes)), changes, clusters=clusters, resamples=0)
    assert difference.interval is not None
    assert difference.interval.low <= low + 1e-12
    assert difference.interval.high >= high - 1e-12
    assert difference.t_p is not None
    assert difference.t_p >= p - 1e-12
    # What the interval says of 0 the test says, too.
    assert (difference.t_p < 0.05) == (difference.interval.low > 0 or difference.interval.high < 0)


def test_cr2_by_hand() -> None:
    # Clusters of 3 and 1 rows: mean (3 · 1 + 1 · 2)/4 = 1.25, sums of deviations -.75 and .75;
    # SE² = (.5625/(1 - 3/4) + .5625/(1 - 1/4))/16 = (2.25 + .75)/16 = .1875
    # w = 9/.25 = 36 and 1/.75 = 4/3: (37.333² - 36² - 1.7778)/16 = 6; degrees 16/(9 + 1 + 6) = 1
    units = as_units(np.array([1.0, 1.0, 1.0, 2.0]), ["a", "a", "a", "b"])
    assert units.cr2 == pytest.approx((0.1875**0.5, 1.0))
    # Clusters of one size: C/(C - 1) · Σ squares / n² and C - 1 degrees, as without CR2.
    even = as_units(np.arange(12.0), [row // 4 for row in range(12)])
    assert even.cr2 == pytest.approx((even.standard_error, 2.0))


@pytest.mark.parametrize(
    ("changes", "clusters"),
    [
        ([0.2] * 6, list("aaabbc")),
        ([0.3, 0.1, 0.3, 0.1, 0.2, 0.2], list("aabbcc")),
        ([0.1, 0.2, 0.3], list("aaa")),
        ([0.0] * 6, list("aaabbc")),
    ],
)
def test_without_a_spread_between_clusters_all_is_as_before(changes: list[float], clusters: list[Any]) -> None:
    found = paired_difference([0.5] * len(changes), [0.5 + change for change in changes], clusters=clusters).interval
    assert (found and found.method) in (None, "Clopper-Pearson", "Bonett-Price")
    robust = as_units(np.array(changes), clusters).cr2
    assert robust is None or robust[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("change", [name for name in CHANGES if not name.startswith("skewed")])
@pytest.mark.parametrize("clusters", [5, 10])
def test_few_unequal_clusters_hold_the_change(change: str, clusters: int) -> None:
    assert coverage(CHANGES[change][1], interval_of(change, clusters), 400) >= 0.925


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_the_table_of_clustered_changes_is_what_is_measured(change: str) -> None:
    measured = documented("Changes in clusters")[change]
    for clusters, share in zip((5, 10, 20, 40), measured, strict=True):
        found = coverage(CHANGES[change][1], interval_of(change, clusters), 2000)
        assert 100 * found == pytest.approx(share, abs=1.0), clusters
        assert change.startswith("skewed") or 0.93 <= found <= 0.98
