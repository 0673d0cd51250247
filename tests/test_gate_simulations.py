# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate does in many simulated runs, at the number of questions that it asks for itself."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gate_worlds import outcomes_of
from haystack_eval_ext.runs.comparison import compare
from haystack_eval_ext.runs.gate import Rule, check_comparison, check_run
from haystack_eval_ext.runs.statistics import paired_difference, rows_to_decide
from scored_runs import clusters_of, run

REPEATS = 200
MARGIN = 0.05
# So many of the repeats also go the whole way of a comparison, which takes ten times as long.
WHOLE = 5
Pairs = tuple[Any, Any]


def shares(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """0/1 scores of which 6 % change by chance, half of them either way."""
    kind, same = chance.random(rows), (chance.random(rows) < 0.85) * 1.0
    base = np.where(kind < 0.03 + drop, 1, np.where(kind < 0.06 + drop, 0, same))
    return base, np.where(kind < 0.03 + drop, 0, np.where(kind < 0.06 + drop, 1, same))


def steady(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """0/1 scores that change only if they drop."""
    base = chance.random(rows) < 0.9
    return base * 1.0, (base & (chance.random(rows) >= drop / 0.9)) * 1.0


def graded(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores that all change a little."""
    base = chance.uniform(0.5, 0.6, rows)
    return base, base + chance.uniform(-0.3, 0.3, rows) - drop


def sparse(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores of which 30 % change."""
    base = chance.uniform(0.6, 0.65, rows)
    return base, np.where(chance.random(rows) < 0.3, base + chance.uniform(-0.3, 0.3, rows) - drop / 0.3, base)


def clustered(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores that change together in documents of five questions."""
    base = chance.uniform(0.5, 0.6, rows)
    return base, base + np.repeat(chance.uniform(-0.2, 0.2, rows), 5)[:rows] + chance.uniform(-0.1, 0.1, rows) - drop


def broken(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores that all change a little, and some rows that lose everything in a drop."""
    base = chance.uniform(0.5, 0.6, rows)
    return base, np.where(chance.random(rows) < drop / 0.55, 0.0, base + chance.uniform(-0.1, 0.1, rows))


def uniform(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores that all drop by the same, but for 3 % that do not."""
    base = chance.uniform(0.5, 0.6, rows)
    return base, np.where(chance.random(rows) < 0.03, base, base - drop)


def lost(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Good scores that hardly move, and a few rows that lose everything in a drop."""
    base = chance.uniform(0.94, 0.98, rows)
    return base, np.where(chance.random(rows) < drop / 0.96, 0.0, base + chance.uniform(-0.02, 0.02, rows))


def touched(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Scores of 1 of which one row in twenty is touched, and a few rows that lose everything in a drop."""
    near = np.where(chance.random(rows) < 0.05, 0.999, 1.0)
    return np.ones(rows), np.where(chance.random(rows) < drop, 0.0, near)


def ranks(chance: np.random.Generator, rows: int, drop: float) -> Pairs:
    """Reciprocal ranks: the first hit falls to the second place in a share of the rows."""
    return np.ones(rows), np.where(chance.random(rows) < 2 * drop, 0.5, 1.0)


WORLDS: dict[str, Callable[[np.random.Generator, int, float], Pairs]] = {
    world.__name__: world
    for world in (shares, steady, graded, sparse, clustered, broken, uniform, lost, touched, ranks)
}


def outcomes(
    world: str, rows: int, drop: float, repeats: int = REPEATS, margin: float = MARGIN, rule: Rule = "significant"
) -> Counter[str]:
    chance = np.random.default_rng(5)
    counts: Counter[str] = Counter()
    clusters = clusters_of(rows, 5) if world == "clustered" else None
    for repeat in range(repeats):
        pair = WORLDS[world](chance, rows, drop)
        ((outcome,),) = outcomes_of([pair], clusters, margin, [rule])
        counts[outcome] += 1
        if repeat < WHOLE:
            base, new = (run(scores.tolist(), clusters=clusters) for scores in pair)
            results = check_comparison(compare(base, new, resamples=0), [f"m drops {margin}"], rule=rule)
            assert results[0].outcome == outcome
    return counts


def planned(world: str, rule: Rule) -> int:
    """The number of rows that a large pilot without a drop asks for, in whole clusters."""
    base, new = WORLDS[world](np.random.default_rng(9), 5000, 0.0)
    clusters = clusters_of(5000, 5) if world == "clustered" else None
    rows = rows_to_decide(paired_difference(base, new, clusters=clusters, resamples=0), MARGIN, rule=rule)
    assert rows is not None
    return -(-rows // 5) * 5


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["significant", "strict"])
@pytest.mark.parametrize("world", WORLDS)
def test_at_the_planned_size_the_gate_decides(world: str, rule: Rule) -> None:
    rows = planned(world, rule)
    unchanged, dropped = (outcomes(world, rows, drop, rule=rule) for drop in (0.0, 2 * MARGIN))
    assert unchanged["pass"] >= 0.8 * REPEATS
    assert unchanged["fail"] <= 0.05 * REPEATS
    assert dropped["fail"] >= 0.8 * REPEATS
    assert dropped["pass"] <= 0.05 * REPEATS


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("rows", [40, 300])
def test_unchanged_code_hardly_ever_fails(world: str, rows: int) -> None:
    assert outcomes(world, rows, 0.0, 1000)["fail"] <= 50


@pytest.mark.parametrize("world", ["shares", "steady"])
def test_forty_questions_are_too_few_for_0_1_scores(world: str) -> None:
    base, new = WORLDS[world](np.random.default_rng(1), 40, 0.0)
    result = check_comparison(compare(run(base.tolist()), run(new.tolist()), resamples=0), ["m drops 0.02"])[0]
    assert result.outcome == "inconclusive"
    assert result.rows_needed is not None
    assert result.rows_needed > 200
    assert f"about {result.rows_needed} would " in result.reason


@pytest.mark.slow
def test_a_drop_of_the_margin_itself_is_decided_wrongly_at_most_as_often_as_the_confidence_says() -> None:
    counts = outcomes("shares", 600, MARGIN, 1000, rule="strict")
    assert counts["inconclusive"] >= 900
    # By the rule "significant" half of them fail: the drop is certain, and half of those measured lie beyond it.
    assert outcomes("shares", 600, MARGIN, 1000)["fail"] == pytest.approx(500, abs=60)


@pytest.mark.slow
@pytest.mark.parametrize(("mean", "outcome"), [(0.9, "pass"), (0.7, "fail")])
def test_one_run_is_decided_at_the_size_that_a_pilot_names(mean: float, outcome: str) -> None:
    chance = np.random.default_rng(3)
    pilot = check_run(run([1.0] * round(20 * mean) + [0.0] * (20 - round(20 * mean))), ["m < 0.8"])[0]
    assert pilot.outcome == "inconclusive"
    assert pilot.rows_needed is not None
    found: Counter[str] = Counter(
        check_run(run(((chance.random(pilot.rows_needed) < mean) * 1.0).tolist()), ["m < 0.8"])[0].outcome
        for _ in range(REPEATS)
    )
    assert found[outcome] >= 0.8 * REPEATS


@pytest.mark.slow
@pytest.mark.parametrize("rows", [40, 300])
@pytest.mark.parametrize("drop", [0.25, 0.4])
def test_a_drop_that_is_the_same_nearly_everywhere_fails(rows: int, drop: float) -> None:
    assert outcomes("uniform", rows, drop)["fail"] >= 0.8 * REPEATS
    assert outcomes("uniform", rows, 0.0, 1000)["fail"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [40, 300])
def test_first_hits_that_fall_to_the_second_place_nearly_everywhere_fail(rows: int) -> None:
    # RR 1 to .5 on 97 % of the rows is a drop of .485.
    assert outcomes("ranks", rows, 0.485)["fail"] >= 0.8 * REPEATS
    assert outcomes("ranks", rows, 0.0, 1000)["fail"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("rows", "margin"), [(40, 0.02), (40, 0.08), (300, 0.01), (300, 0.02)])
def test_a_drop_of_twice_the_margin_hardly_ever_passes(world: str, rows: int, margin: float) -> None:
    # A few rows that lose everything are easily missed: at 40 rows and a margin of .02 none is among them in 19 %.
    assert outcomes(world, rows, 2 * margin, 500, margin)["pass"] <= 25


@pytest.mark.parametrize("world", ["lost", "touched"])
def test_scores_that_hardly_move_pass_where_scores_that_do_not_move_would(world: str) -> None:
    for rows, outcome in ((40, "inconclusive"), (150, "pass")):
        base, new = WORLDS[world](np.random.default_rng(1), rows, 0.0)
        result = check_comparison(compare(run(base.tolist()), run(new.tolist()), resamples=0), ["m drops 0.02"])[0]
        assert result.outcome == outcome
        assert result.interval is not None
        assert result.interval.low > -0.02
        if outcome == "inconclusive":
            found = re.search("without a change about (\\d+) would pass", result.reason)
            assert found is not None
            # z sqrt(2) / .02 = 138.6 where nothing moves; a little more where all rows do
            assert 136 <= int(found[1]) <= 150


@pytest.mark.parametrize(("rows", "drop"), [(40, 0.2), (300, 0.065)])
def test_a_drop_that_is_the_same_everywhere_fails_and_no_change_passes(rows: int, drop: float) -> None:
    # Rows that were not seen could have a share of .088 in 40 and of .012 in 300, and be better by 1.2 and 1.065:
    # -.2 + .106 and -.065 + .013 lie below -.05.
    base = [0.5 + row / 1000 for row in range(rows)]
    lower = compare(run(base), run([score - drop for score in base]), resamples=0)
    assert check_comparison(lower, [f"m drops {MARGIN}"])[0].outcome == "fail"
    same = check_comparison(compare(run(base), run(base), resamples=0), ["m drops 0.1", "m rises 0.1"])
    assert [result.outcome for result in same] == ["pass", "pass"]
