# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How often 95 % intervals hold the truth, in seeded simulations; docs/statistics.md has what they found."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import score_shapes
from haystack_eval_ext.runs import _means
from haystack_eval_ext.runs.statistics import Interval, mean_interval, paired_difference, unpaired_difference
from score_shapes import SHAPES, Chance, documented

pytestmark = pytest.mark.slow

REPEATS = 2000


def coverage(truth: float, interval: Callable[[Chance], Interval | None], repeats: int = REPEATS) -> float:
    return score_shapes.coverage(truth, interval, repeats)


def share(p: float) -> Callable[[Chance, int], Any]:
    return lambda chance, rows: (chance.random(rows) < p) * 1.0


def mostly(value: float, p: float) -> Callable[[Chance, int], Any]:
    """One value most of the time, else uniform from 0 to 1: skewed, as recall and faithfulness are."""
    return lambda chance, rows: np.where(chance.random(rows) < p, value, chance.random(rows))


SKEWED = {
    "mostly 1": (mostly(1, 0.9), 0.9 + 0.05),
    "nearly always 1": (mostly(1, 0.97), 0.97 + 0.015),
    "mostly 0": (mostly(0, 0.9), 0.05),
    "beta(9, 0.5)": (lambda chance, rows: chance.beta(9, 0.5, rows), 9 / 9.5),
    "beta(1, 20)": (lambda chance, rows: chance.beta(1, 20, rows), 1 / 21),
}


@pytest.mark.parametrize("p", [0.5, 0.9, 0.95])
@pytest.mark.parametrize(("rows", "low", "high"), [(30, 0.91, 0.98), (300, 0.93, 0.97)])
def test_mean_of_shares(p: float, rows: int, low: float, high: float) -> None:
    assert low <= coverage(p, lambda chance: mean_interval(share(p)(chance, rows)).interval) <= high


@pytest.mark.parametrize("kind", SKEWED)
def test_mean_of_bounded_skewed_scores(kind: str) -> None:
    draw, truth = SKEWED[kind]
    assert 0.93 <= coverage(truth, lambda chance: mean_interval(draw(chance, 300)).interval) <= 0.985


@pytest.mark.parametrize("name", SHAPES)
def test_the_table_of_means_is_what_is_measured(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, truth, score_range, least = SHAPES[name]
    *shares, wider = documented("Means")[name]
    widths: list[list[float]] = []

    def interval(rows: int, chance: Chance) -> Interval:
        found = mean_interval(draw(chance, rows), score_range=score_range).interval
        assert found is not None
        widths[-1].append(found.high - found.low)
        return found

    for rows, share in zip((20, 40, 100, 300), shares, strict=True):
        widths.append([])
        found = coverage(truth, lambda chance, rows=rows: interval(rows, chance))  # type: ignore[misc]
        assert found >= 0.93 or rows < least
        assert 100 * found == pytest.approx(share, abs=1.0), rows
    monkeypatch.setattr(_means, "wider", lambda effective, _: effective)
    widths.append([])
    coverage(truth, lambda chance: interval(300, chance))
    more = 100 * (float(np.mean(widths[-2])) / float(np.mean(widths[-1])) - 1)
    assert more == pytest.approx(wider, abs=1.0)
    assert more <= 20


def test_a_plain_t_interval_would_not_do() -> None:
    # The harness finds what is wrong: 79 % at n = 30 and p = .95.
    assert coverage(0.95, lambda chance: mean_interval(share(0.95)(chance, 30), method="t").interval) < 0.85


@pytest.mark.parametrize(("rows", "share"), [(10, 0.84), (40, 0.89), (300, 0.93)])
def test_scores_without_ends_are_the_weak_point_of_t(rows: int, share: float) -> None:
    found = coverage(math.exp(0.5), lambda chance: mean_interval(chance.lognormal(0, 1, rows)).interval)
    assert found == pytest.approx(share, abs=0.015)


def test_mean_of_clusters() -> None:
    def interval(chance: Chance, *, honest: bool) -> Interval | None:
        # 60 documents with 3 to 8 questions each; a document's questions share its difficulty.
        clusters = np.repeat(np.arange(60), chance.integers(3, 9, 60))
        scores = np.where(chance.random(len(clusters)) < chance.beta(2.7, 0.3, 60)[clusters], 1.0, 0.0)
        return mean_interval(scores, clusters=clusters.tolist() if honest else None).interval

    assert 0.93 <= coverage(0.9, lambda chance: interval(chance, honest=True)) <= 0.97
    assert coverage(0.9, lambda chance: interval(chance, honest=False)) < 0.85


@pytest.mark.parametrize(("documents", "share"), [(20, 0.8), (40, 0.82), (100, 0.91)])
def test_documents_that_rarely_fail_as_a_whole_are_the_weak_point_of_0_1_scores(documents: int, share: float) -> None:
    def interval(chance: Chance) -> Interval | None:
        clusters = np.repeat(np.arange(documents), chance.integers(1, 12, documents))
        fine = (chance.random(documents) >= 0.05)[clusters] & (chance.random(len(clusters)) < 0.98)
        return mean_interval(np.where(fine, 1.0, 0.0), clusters=clusters.tolist()).interval

    assert coverage(0.95 * 0.98, interval) == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize(
    ("up", "down", "low", "high"),
    # Where hardly a row changes, an interval can only be too wide.
    [(0.01, 0.01, 0.95, 1), (0.02, 0.06, 0.93, 0.97), (0.1, 0.2, 0.93, 0.97), (0, 0.04, 0.93, 0.98)],
)
def test_paired_shares(up: float, down: float, low: float, high: float) -> None:
    def interval(chance: Chance) -> Interval | None:
        kind, same = chance.random(300), (chance.random(300) < 0.8) * 1.0
        base = np.where(kind < up, 0, np.where(kind < up + down, 1, same))
        new = np.where(kind < up, 1, np.where(kind < up + down, 0, same))
        return paired_difference(base, new, resamples=0).interval

    assert low <= coverage(up - down, interval) <= high


@pytest.mark.parametrize(
    ("changing", "rows", "high"), [(1.0, 40, 0.97), (1.0, 300, 0.97), (0.3, 300, 0.97), (0.05, 300, 0.98)]
)
def test_paired_graded_scores(changing: float, rows: int, high: float) -> None:
    def interval(chance: Chance) -> Interval | None:
        base = chance.uniform(0.5, 1, rows)
        new = np.where(chance.random(rows) < changing, base - 0.5 * chance.random(rows), base)
        return paired_difference(base, new, resamples=0).interval

    assert 0.93 <= coverage(-0.25 * changing, interval) <= high


@pytest.mark.parametrize("others", [0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 0.97, 0.99])
@pytest.mark.parametrize("rows", [40, 300])
@pytest.mark.parametrize("size", [1, 100])
def test_rows_that_nearly_all_change_by_the_same(others: float, rows: int, size: float) -> None:
    def interval(chance: Chance) -> Interval | None:
        # The first hit falls to the second rank, but not everywhere: RR 1 to .5.
        return paired_difference(
            np.full(rows, size), np.where(chance.random(rows) < others, size, 0.5 * size), resamples=0
        ).interval

    # Where hardly a row differs, it can only be too wide; counts as small as these come in steps.
    few = min(rows * others, rows - rows * others) < 9
    assert 0.92 <= coverage(-0.5 * size * (1 - others), interval, 1000) <= (1 if few else 0.98)


@pytest.mark.parametrize(("value", "other"), [(0.5, 1.0), (0.5, 0.0), (0.9, 0.0), (0.1, 1.0), (5.0, 1.0)])
@pytest.mark.parametrize("others", [0.03, 0.01, 0.1, 0.2, 0.3, 0.4])
@pytest.mark.parametrize("rows", [40, 300])
def test_mean_of_rows_that_are_nearly_all_alike(value: float, other: float, others: float, rows: int) -> None:
    def interval(chance: Chance) -> Interval | None:
        return mean_interval(np.where(chance.random(rows) < others, other, value)).interval

    assert 0.92 <= coverage(value + others * (other - value), interval, 1000) <= (0.98 if rows * others > 9 else 1)


@pytest.mark.parametrize("others", [0.05, 0.2])
def test_clusters_that_nearly_all_change_by_the_same(others: float) -> None:
    clusters = [row // 5 for row in range(300)]

    def interval(chance: Chance) -> Interval | None:
        unlike = np.repeat(chance.random(60) < others, 5) & (chance.random(300) < 0.5)
        return paired_difference(np.ones(300), np.where(unlike, 1.0, 0.5), clusters=clusters, resamples=0).interval

    assert 0.93 <= coverage(-0.5 + 0.25 * others, interval) <= 0.98


@pytest.mark.parametrize("documents", [12, 60])
def test_paired_clusters(documents: int) -> None:
    def interval(chance: Chance) -> Interval | None:
        clusters = np.repeat(np.arange(documents), chance.integers(3, 9, documents))
        base = chance.random(len(clusters))
        new = base + chance.normal(0, 0.1, documents)[clusters] + chance.normal(0, 0.05, len(clusters))
        return paired_difference(base, new, clusters=clusters.tolist(), resamples=0).interval

    assert 0.93 <= coverage(0, interval) <= 0.97


def test_unpaired() -> None:
    def interval(chance: Chance) -> Interval | None:
        return unpaired_difference(share(0.9)(chance, 200), share(0.8)(chance, 300)).interval

    assert 0.93 <= coverage(-0.1, interval) <= 0.97
