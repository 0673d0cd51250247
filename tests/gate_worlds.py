# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of score columns with a known drop, and what a gate says of them in many seeded repeats."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from haystack_eval_ext.runs._gate_evidence import evidence_of_change
from haystack_eval_ext.runs._gate_family import corrected
from haystack_eval_ext.runs._gate_outcome import How, Outcome, decide
from haystack_eval_ext.runs._gate_power import Rule
from haystack_eval_ext.runs.gate import Condition
from haystack_eval_ext.runs.statistics import paired_difference

Chance = np.random.Generator
Column = np.ndarray[Any, Any]
Clusters = list[Hashable] | None
Pair = tuple[Column, Column]


class World(NamedTuple):
    """What draws a pair of runs, from a drop and the numbers of the rows' clusters; its margin."""

    draw: Callable[[Chance, float, Column], Pair]
    margin: float = 0.05


def shared(chance: Chance, owners: Column, spread: float) -> Column:
    """One normal number for each owner, in its rows; owners of one row make rows on their own."""
    numbers: Column = chance.normal(0, spread, int(owners.max()) + 1)
    return numbers[owners]


def zero_one(noise: float, mean: float = 0.8) -> Callable[[Chance, float, Column], Pair]:
    """0/1 scores of which a share is drawn anew, whole clusters together; a drop is right answers that become wrong."""

    def draw(chance: Chance, drop: float, owners: Column) -> Pair:
        rows, groups = len(owners), int(owners.max()) + 1
        base = (chance.random(rows) < mean) * 1.0
        anew = (chance.random(groups) < noise)[owners]
        new = np.where(anew, (chance.random(rows) < mean) * 1.0, base)
        return base, np.where(chance.random(rows) < drop / mean, 0.0, new)

    return draw


def graded(chance: Chance, drop: float, owners: Column) -> Pair:
    """Scores that all change, half of it with their cluster; a drop is the same everywhere."""
    quality = chance.uniform(0.4, 0.9, len(owners))
    both = [quality + chance.normal(0, 0.08, len(owners)) + shared(chance, owners, 0.08) - less for less in (0.0, drop)]
    return both[0], both[1]


def likert(chance: Chance, drop: float, owners: Column) -> Pair:
    """Grades from 1 to 5, a third of them judged anew; a drop is grades that become lower by one."""
    quality = chance.normal(3.9, 1.0, len(owners))
    first, second = (
        np.clip(np.round(quality + chance.normal(0, 0.4, len(owners)) + shared(chance, owners, 0.3)), 1, 5)
        for _ in range(2)
    )
    new = np.where(chance.random(len(owners)) < 1 / 3, second, first)
    # Of those above 1, which nearly all are.
    loses = (chance.random(len(owners)) < drop / 0.99) & (new > 1)
    return first, new - loses


def rare_zero(chance: Chance, drop: float, owners: Column) -> Pair:
    """Scores near 1 of which a few are zero, by cluster in part; a drop is more zeros."""
    groups = int(owners.max()) + 1

    def scores(chance: Chance) -> Column:
        lost = (chance.random(len(owners)) < 0.02) | (chance.random(groups) < 0.02)[owners]
        return np.where(lost, 0.0, chance.uniform(0.95, 1, len(owners)))

    base, new = scores(chance), scores(chance)
    return base, np.where(chance.random(len(owners)) < drop / 0.94, 0.0, new)


WORLDS = {
    "0/1, 10 % noise": World(zero_one(0.1)),
    "0/1, 20 % noise": World(zero_one(0.2)),
    "0/1, 30 % noise": World(zero_one(0.3)),
    "graded": World(graded),
    "1 to 5": World(likert, 0.2),
    "rare zeros": World(rare_zero),
}


def owners_of(chance: Chance, rows: int, *, clustered: bool) -> tuple[Column, Clusters]:
    """Rows on their own, or in clusters of 1 to 9 rows."""
    if not clustered:
        return np.arange(rows), None
    owners = np.repeat(np.arange(rows), chance.integers(1, 10, rows))[:rows]
    return owners, owners.tolist()


def outcomes_of(
    pairs: Sequence[Pair], clusters: Clusters, margin: float, rules: Sequence[Rule], *, holm: bool = True
) -> list[list[Outcome]]:
    """What a gate with a condition for each pair says, by each rule; without Holm's correction each for itself."""
    again = [partial(paired_difference, *pair, clusters=clusters, resamples=0) for pair in pairs]
    differences = [make() for make in again]
    conditions = [Condition(f"m{place}", "drops", margin) for place in range(len(pairs))]
    said = []
    for rule in rules:
        how = How(0.95, 0.9, by_mean=False, tolerate_failed=0.0, rule=rule)
        evidences = [
            evidence_of_change(difference, how, again=make) for difference, make in zip(differences, again, strict=True)
        ]
        found = zip(conditions, corrected(conditions, evidences) if holm else evidences, strict=True)
        said.append([decide(condition, evidence, None).outcome for condition, evidence in found])
    return said


RULES: tuple[Rule, ...] = ("significant", "strict")


def shares(
    name: str, rows: int, margins: float, repeats: int, *, clustered: bool = False, seed: int = 17
) -> dict[Rule, dict[Outcome, float]]:
    """How often a gate of one condition fails, passes and does neither, for a drop of so many margins."""
    chance, world = np.random.default_rng(seed), WORLDS[name]
    counts: list[Counter[Outcome]] = [Counter(), Counter()]
    for _ in range(repeats):
        owners, clusters = owners_of(chance, rows, clustered=clustered)
        pair = world.draw(chance, margins * world.margin, owners)
        for count, (outcome,) in zip(counts, outcomes_of([pair], clusters, world.margin, RULES), strict=True):
            count[outcome] += 1
    return {
        rule: {outcome: count[outcome] / repeats for outcome in ("fail", "pass", "inconclusive")}
        for rule, count in zip(RULES, counts, strict=True)
    }


def false_alarms(
    name: str,
    rows: int,
    repeats: int,
    *,
    metrics: int = 1,
    common: float = 0.0,
    margin: float,
    clustered: bool = False,
    holm: bool = True,
    seed: int = 23,
) -> tuple[float, float]:
    """
    How often one condition, and any of a gate, fails though nothing changed.

    A share `common` of the rows has the same pair of scores in all metrics.
    """
    chance, world = np.random.default_rng(seed), WORLDS[name]
    each = any_of = 0
    for _ in range(repeats):
        owners, clusters = owners_of(chance, rows, clustered=clustered)
        pairs = [world.draw(chance, 0.0, owners) for _ in range(metrics)]
        same = chance.random(rows) < common
        pairs = [(np.where(same, pairs[0][0], base), np.where(same, pairs[0][1], new)) for base, new in pairs]
        (said,) = outcomes_of(pairs, clusters, margin, RULES[:1], holm=holm)
        each += said.count("fail")
        any_of += "fail" in said
    return each / repeats / metrics, any_of / repeats
