# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of scores with their true means, and how often intervals hold such a truth in seeded repeats."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from haystack_eval_ext.runs.statistics import Interval

Chance = np.random.Generator
Draw = Callable[[Chance, int], Any]
STATISTICS = Path(__file__).parents[1] / "docs" / "statistics.md"


class Shape(NamedTuple):
    """How scores are spread: what draws them, their true mean, their declared range, the fewest rows promised for."""

    draw: Draw
    truth: float
    score_range: tuple[float, float] | None = None
    least: int = 20


def few(share: float, others: Draw, rest: Draw) -> Draw:
    """A share of the rows is drawn from the first, the rest from the second."""
    return lambda chance, rows: np.where(chance.random(rows) < share, others(chance, rows), rest(chance, rows))


def uniform(low: float, high: float) -> Draw:
    return lambda chance, rows: chance.uniform(low, high, rows)


def constant(value: float) -> Draw:
    return lambda _, rows: np.full(rows, value)


def levels(*shares: float) -> Draw:
    """Levels from 1 on, with the share of each."""
    return lambda chance, rows: chance.choice(np.arange(1.0, len(shares) + 1), rows, p=shares)


SHAPES = {
    "97 % uniform .95 to 1, 3 % zero": Shape(few(0.03, constant(0), uniform(0.95, 1)), 0.97 * 0.975),
    "99 % uniform .95 to 1, 1 % zero": Shape(few(0.01, constant(0), uniform(0.95, 1)), 0.99 * 0.975),
    "90 % uniform .9 to 1, 10 % zero": Shape(few(0.1, constant(0), uniform(0.9, 1)), 0.9 * 0.95),
    "95 % uniform .8 to .9, 5 % .05 to .15": Shape(few(0.05, uniform(0.05, 0.15), uniform(0.8, 0.9)), 0.8125),
    "Beta(5, .5)": Shape(lambda chance, rows: chance.beta(5, 0.5, rows), 5 / 5.5),
    "Beta(.1, 2)": Shape(lambda chance, rows: chance.beta(0.1, 2, rows), 0.1 / 2.1, least=100),
    "1 to 5, 96 % fives": Shape(levels(0.01, 0.01, 0.01, 0.01, 0.96), 4.9, (1, 5)),
    "1 to 5, 96 % fives, else ones": Shape(levels(0.04, 0, 0, 0, 0.96), 4.84, (1, 5)),
    "1 to 5, mixed": Shape(levels(0.1, 0.1, 0.2, 0.3, 0.3), 3.6, (1, 5)),
    "uniform 0 to 1": Shape(uniform(0, 1), 0.5),
}


def coverage(truth: float, interval: Callable[[Chance], Interval | None], repeats: int, seed: int = 11) -> float:
    """The share of intervals that hold the truth."""
    chance = np.random.default_rng(seed)
    intervals = [interval(chance) for _ in range(repeats)]
    return sum(found is not None and found.low <= truth <= found.high for found in intervals) / repeats


def documented(heading: str) -> dict[str, list[float | None]]:
    """The rows of the first table below a heading of docs/statistics.md: what each holds behind its name."""
    section = STATISTICS.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    table = re.search(r"(?:^\|.*\|\n)+", section, re.MULTILINE)
    assert table is not None, heading
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()]
    return {name: list(_numbers(cells)) for name, *cells in lines[2:]}


def _numbers(cells: Iterable[str]) -> Iterable[float | None]:
    for cell in cells:
        found = re.search(r"-?[\d.]+", cell)
        yield float(found[0]) if found else None
