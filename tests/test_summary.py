# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A comparison in one sentence: the right metric, the right direction, the right counts, and no false certainty."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun, compare
from scored_runs import ERROR, rows

Columns = dict[str, tuple[Sequence[float | str], Sequence[float | str]]]
ONES, CHANCE = [1.0] * 50, "not certain, it may be chance"

OF_TWO, OF_THREE = (f"(the clearest change of {count} metrics)" for count in ("two", "three"))


def said(columns: Columns, *, unpaired: bool = False, lower: Sequence[str] = ()) -> str:
    """The sentence on two runs with these scores by metric."""
    sides = []
    for side, name in enumerate(("base", "new")):
        metrics: dict[str, MetricRows] = {metric: rows(pair[side]) for metric, pair in columns.items()}
        count = len(next(iter(metrics.values())).scores)
        sides.append(ScoredRun(name, [f"q{row}" for row in range(count)], metrics))
    return compare(*sides, unpaired=unpaired, lower_is_better=lower, resamples=2000).summary


def lost(count: int, of: int = 50) -> list[float]:
    return [0.0] * count + [1.0] * (of - count)


UP, DOWN = [0.2 + 0.01 * row for row in range(50)], [0.1 + 0.008 * row for row in range(50)]
SENTENCES: dict[str, tuple[Columns, str]] = {
    "0/1, a few lost": (
        {"recall": (lost(1), lost(4))},
        f"recall fell from 0.98 to 0.92: three questions lost, none gained; {CHANCE}.",
    ),
    "0/1, one lost": ({"m": (ONES, lost(1))}, f"m fell from 1.00 to 0.98: one question lost, none gained; {CHANCE}."),
    "0/1, many gained": (
        {"recall": (lost(30), lost(10))},
        "recall rose from 0.40 to 0.80: 20 questions gained, none lost; certain at 95 %.",
    ),
    "0/1, both ways": (
        {"m": (lost(5), [1.0] * 5 + lost(5, 45))},
        f"m stayed at 0.90: five questions lost, five gained; {CHANCE}.",
    ),
    "graded, down": (
        {"f1": (UP, DOWN)},
        "f1 fell from 0.45 to 0.30: 50 questions worse, none better; certain at 95 %.",
    ),
    "graded, a little": (
        {"f1": ([0.5] * 40, [0.5] * 39 + [0.504])},
        f"f1 rose from 0.5000 to 0.5001: one question better, none worse; {CHANCE}.",
    ),
    "nothing moved": ({"m": (UP, UP)}, "No score changed: m is the same in every question."),
    "nothing moved in several": (
        {"m": (UP, UP), "n": (ONES, ONES)},
        "No score changed: two metrics are the same in every question.",
    ),
    "no score": ({"m": ([ERROR] * 4, [1.0] * 4)}, "No metric has a score in both runs, so nothing can be said."),
    "several: the least likely by chance": (
        {"a": (lost(1), lost(2)), "b": (lost(30), lost(10)), "c": (UP, UP)},
        f"b rose from 0.40 to 0.80 {OF_THREE}: 20 questions gained, none lost; certain at 95 %.",
    ),
    "several: the others that are certain": (
        {"a": (lost(30), lost(10)), "b": (UP, DOWN)},
        f"b fell from 0.45 to 0.30 {OF_TWO}: 50 questions worse, none better; certain at 95 %; also certain: a rose.",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence(name: str) -> None:
    columns, expected = SENTENCES[name]
    assert said(columns) == expected


def test_worse_follows_the_direction_of_the_metric() -> None:
    assert said({"refusal": (lost(30), lost(10))}, lower=["refusal"]) == (
        "refusal rose from 0.40 to 0.80, where lower is better: 20 questions lost, none gained; certain at 95 %."
    )


def test_unpaired_runs_count_no_questions() -> None:
    sentence = said({"m": (lost(30), lost(29))}, unpaired=True)
    assert sentence == f"m rose from 0.40 to 0.42 (other questions in each run: 50 and 50); {CHANCE}."


def test_unpaired_runs_with_equal_means_may_differ_in_every_question() -> None:
    columns: Columns = {"m": ([0.25, 0.75], [0.0, 1.0])}
    assert said(columns, unpaired=True) == "No mean changed: m has the same mean in both runs."
    assert said(columns | {"n": (ONES[:2], ONES[:2])}, unpaired=True) == (
        "No mean changed: two metrics have the same mean in both runs."
    )


@pytest.mark.parametrize("unpaired", [False, True])
def test_rounding_is_no_direction(unpaired: bool) -> None:
    """The means differ by 2.8e-17."""
    sentence = said({"m": ([0.7, 0.4], [0.8, 0.3])}, unpaired=unpaired)
    assert "rose" not in sentence
    assert ("No mean changed" if unpaired else "m stayed at 0.55: one question worse, one better") in sentence


def test_certain_is_what_table_and_gate_would_not_contradict() -> None:
    """Six metrics of which one moves by chance: its own p-value is small, the adjusted one is not."""
    columns: Columns = {f"m{number}": (ONES, ONES) for number in range(5)}
    columns["moved"] = (lost(0), lost(6))
    assert said({"moved": columns["moved"]}).endswith("certain at 95 %.")
    assert said(columns).endswith(f"six questions lost, none gained; {CHANCE}.")
