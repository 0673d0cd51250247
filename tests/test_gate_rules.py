# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How often the gate fails and passes, by both rules: without a change, and for drops of half to twice the margin."""

from collections import Counter

import numpy as np
import pytest

from gate_worlds import RULES, WORLDS, false_alarms, outcomes_of, shares
from haystack_eval_ext.runs.comparison import ScoredRun, compare
from haystack_eval_ext.runs.gate import check_comparison
from haystack_eval_ext.runs.statistics import paired_difference, rows_to_decide
from score_shapes import documented
from scored_runs import rows as metric_rows
from scored_runs import run

REPEATS = 2000
DROPS = {"no change": 0.0, "half the margin": 0.5, "the margin": 1.0, "twice the margin": 2.0}
TABLE = ("0/1, 20 % noise", "graded")


def test_a_drop_of_twice_the_margin_is_found_and_no_change_hardly_ever() -> None:
    chance, world = np.random.default_rng(3), WORLDS["0/1, 20 % noise"]
    found: Counter[tuple[str, float]] = Counter()
    for margins in (0.0, 2.0):
        for _ in range(50):
            base, new = world.draw(chance, margins * 0.05, np.arange(100))
            comparison = compare(run(base.tolist()), run(new.tolist()), resamples=0)
            for rule in RULES:
                outcome = check_comparison(comparison, ["m drops 0.05"], rule=rule)[0].outcome
                found[rule, margins] += outcome == "fail"
                assert (outcome,) == tuple(outcomes_of([(base, new)], None, 0.05, [rule])[0])
    assert found["significant", 2.0] >= 30
    assert found["strict", 2.0] <= 18
    assert found["significant", 0.0] <= 2


def test_six_conditions_fail_hardly_more_often_than_one() -> None:
    chance = np.random.default_rng(4)
    conditions = [f"m{place} drops 0" for place in range(6)]
    fails = 0
    for _ in range(80):
        pairs = [WORLDS["graded"].draw(chance, 0.0, np.arange(40)) for _ in conditions]
        base, new = (
            ScoredRun(
                "run",
                [f"q{row}" for row in range(40)],
                {f"m{place}": metric_rows(pair[side].tolist()) for place, pair in enumerate(pairs)},
            )
            for side in (0, 1)
        )
        results = check_comparison(compare(base, new, resamples=0), conditions)
        fails += any(result.outcome == "fail" for result in results)
    # 14 to 16 % without the correction
    assert fails <= 4


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("rows", [40, 100, 300])
@pytest.mark.parametrize("name", WORLDS)
def test_unchanged_code_fails_a_condition_in_at_most_35_of_1000(name: str, rows: int, clustered: bool) -> None:
    # A margin of 0 is the hardest: there the interval alone decides, and what fails with a margin fails without one.
    assert false_alarms(name, rows, REPEATS, clustered=clustered, margin=0.0)[0] <= 0.035


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(("rows", "common"), [(40, 0.0), (100, 0.0), (40, 0.8)])
@pytest.mark.parametrize("name", ["0/1, 30 % noise", "graded", "1 to 5", "rare zeros"])
def test_unchanged_code_fails_a_gate_of_six_in_at_most_one_of_20(
    name: str, rows: int, clustered: bool, common: float
) -> None:
    each, any_of = false_alarms(name, rows, REPEATS, metrics=6, common=common, clustered=clustered, margin=0.0)
    assert each <= 0.035
    assert any_of <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("common", "share"), [(0.0, 0.15), (0.8, 0.075)])
@pytest.mark.parametrize("rows", [40, 300])
def test_without_holms_correction_a_gate_of_six_would_fail_far_more_often(
    rows: int, common: float, share: float
) -> None:
    found = false_alarms("graded", rows, REPEATS // 2, metrics=6, common=common, margin=0.0, holm=False)
    assert found[1] == pytest.approx(share, abs=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [10, 20, 30])
@pytest.mark.parametrize(("rows", "least", "most"), [(40, 0.25, 0.40), (100, 0.61, 0.86)])
def test_a_drop_of_twice_the_margin_is_found_at_usual_sizes(noise: int, rows: int, least: float, most: float) -> None:
    found = shares(f"0/1, {noise} % noise", rows, 2.0, REPEATS)
    assert least <= found["significant"]["fail"] <= most
    assert found["strict"]["fail"] <= (0.09 if rows == 40 else 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [40, 100, 300])
@pytest.mark.parametrize("name", WORLDS)
def test_a_drop_of_twice_the_margin_hardly_ever_passes(name: str, rows: int) -> None:
    found = shares(name, rows, 2.0, 500)
    assert max(found[rule]["pass"] for rule in RULES) <= 0.02
    assert found["significant"]["fail"] >= found["strict"]["fail"]


def measured(name: str, margins: float, rows: int) -> list[float]:
    """Per cent that fail by each rule, and that pass."""
    found = shares(name, rows, margins, REPEATS)
    assert found["significant"]["pass"] == found["strict"]["pass"]
    return [100 * share for share in (*(found[rule]["fail"] for rule in RULES), found["strict"]["pass"])]


@pytest.mark.slow
@pytest.mark.parametrize("drop", DROPS)
@pytest.mark.parametrize("name", TABLE)
def test_the_table_of_the_docs_is_what_is_measured(name: str, drop: str) -> None:
    told = documented("The gate")[f"{name}: {drop}"]
    found = [share for rows in (40, 100, 300) for share in measured(name, DROPS[drop], rows)]
    assert told == pytest.approx(found, abs=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["0/1, 30 % noise", "graded"])
def test_pilots_of_forty_questions_name_the_number_within_a_factor_of_two(name: str) -> None:
    chance = np.random.default_rng(5)

    def asked(rows: int) -> int:
        found = rows_to_decide(paired_difference(*WORLDS[name].draw(chance, 0.0, np.arange(rows)), resamples=0), 0.05)
        assert found is not None
        return found

    truth = asked(20_000)
    near = [truth / 2 <= asked(40) <= 2 * truth for _ in range(400)]
    assert sum(near) >= 0.85 * len(near)
