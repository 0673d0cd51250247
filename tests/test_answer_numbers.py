# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts as a number, and how numbers are paired; networkx' matching is the oracle of the latter."""

import math
import random
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext import AnswerNumberMatchEvaluator
from haystack_eval_ext.answers._numbers import Readings, find_numbers
from haystack_eval_ext.answers.answer_number_match import count_matches

NARROW, THIN, HARD = "\u202f", "\u2009", "\u00a0"
# Text: its numbers; a pair is a number with two readings.
NUMBERS: dict[str, list[Any]] = {
    "": [],
    "none": [],
    "1,234.56": [1234.56],
    "1.234,56": [1234.56],
    "1 234,56": [1234.56],
    f"1{NARROW}234,56": [1234.56],
    f"1{THIN}234{THIN}567": [1234567],
    f"1{HARD}234{THIN}567": [1, 234, 567],  # blanks of two kinds group nothing
    "1'234.56": [1234.56],
    "1’234": [1234],
    "12,34,567": [1234567],
    "1,234": [(1234, 1.234)],
    "1.234": [(1.234, 1234)],
    "0.123": [0.123],
    "0,5": [0.5],
    "1.000.000": [1000000],
    "2024 300 500": [2024, 300, 500],  # a row of numbers: no group has four digits
    "555 123 4567": [555, 123, 4567],
    "1,2,3": [1, 2, 3],
    "1.5,2.5": [1.5, 2.5],
    "3.4.1": [3, 4, 1],
    "007": [7],
    ".5 kg": [0.5],
    "It ended. 5 more.": [5],
    "１，２３４．５": [1234.5],
    "共10，5个": [10, 5],  # a full-width comma after ASCII digits ends a clause
    "١٬٢٣٤٫٥": [1234.5],
    "१२३": [123],
    "๑๒": [12],
    "1万2千円": [12000],
    "1万2,000円": [(12000, 10002)],
    "3億5000万": [350000000],
    "1.5億": [150000000],
    "1,2,3万": [1, 2, 30000],
    "5万億": [5e12],
    "三百": [300],
    "千二百三十四": [1234],
    "二〇二四年": [2024],
    "一万": [10000],
    "两千": [2000],
    "万一、一番、三人、百合": [],
    "-5": [-5],
    "−5 °C": [-5],
    "–5 °C": [-5],
    "気温は-3度": [-3],
    "-$5 and $-5": [-5, -5],
    "(-5)": [-5],
    "2024-01-02": [2024, 1, 2],
    "02.01.2024": [2, 1, 2024],
    "5-10": [5, 10],
    "5–10": [5, 10],
    "1990 –1995": [1990, 1995],
    "5%-10%": [5, 10],
    "COVID-19": [19],
    "-1,2,3": [-1, 2, 3],
    "5 % and 5%": [5, 5],
    "5kg, 1st, 1990s": [5, 1, 1990],
    "CO2, H2O, m2, A4, ГОСТ7": [],
    "50 m²": [50],
    "USD100, US$5, €3, kr7": [100, 5, 3, 7],
    "1.5e3 2E-4 1e+2": [1500, 0.0002, 100],
    "1e3x": [1],
    "3 × 10^8 and 3×10⁻² m/s": [3e8, 0.03],
    "2½ cups, ¾ litre, 1 ½, -½, ↉": [2.5, 0.75, 1.5, -0.5, 0],
    "1⁄2 and 2 1⁄2, -3⁄4": [0.5, 2.5, -0.75],
    "11⁄2, ¹¹⁄₂, 2¹⁄₂, ⅟₄": [5.5, 5.5, 2.5, 0.25],
    "1/2": [1, 2],  # perhaps the first of February
    "1⁄0, 1⁄2⁄3": [1, 0, 1, 2, 3],
    "10:30": [10, 30],
    "- 5, − 5, -\n5": [5, 5, 5],  # a sign stands right before its number
    "5만, 3억, 1조": [5, 3, 1],  # Korean words of scale are left alone, as English ones
    "1.5M, 2 million, 3k, 4 lakh": [1.5, 2, 3, 4],
    "3兆": [3e12],
    "9" * 400: [math.inf],  # too large for a float
    "1e999": [math.inf],
    "1e9999 -1e12345 1E+0009": [math.inf, -math.inf, 1e9],
    "2 × 10^9999 and 3×10⁹⁹⁹⁹": [math.inf, math.inf],
    "1e-9999": [0],
    "1e" + "9" * 5000: [math.inf],
    "9" * 400 + "億": [math.inf],
    "9" * 400 + "⁄" + "9" * 400: [math.inf],
    "1⁄" + "9" * 400: [0],
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_of_a_text(text: str) -> None:
    expected = [number if isinstance(number, tuple) else (number,) for number in NUMBERS[text]]
    found = find_numbers(text)
    assert len(found) == len(expected), found
    for readings, numbers in zip(found, expected, strict=True):
        assert readings == pytest.approx(numbers, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("1,234", [1234], [1.234]),
        ("1.234", [1.234], [1234]),
        ("1,5", [1, 5], [1.5]),
        ("1.5", [1.5], [1, 5]),
        ("1 234,5", [1234, 5], [1234.5]),
        (".5", [0.5], [5]),
        ("1,234万", [12340000], [12340]),
        ("12,34,567", [1234567], [12, 34, 567]),
    ],
)
def test_named_separator(text: str, point: list[float], comma: list[float]) -> None:
    assert find_numbers(text, ".") == [(value,) for value in point]
    assert find_numbers(text, ",") == [(value,) for value in comma]


FORMATS: dict[str, Callable[[float], str]] = {
    "English": "{:,.2f}".format,
    "German": lambda value: f"{value:,.2f}".translate(str.maketrans(",.", ".,")),
    "French": lambda value: f"{value:,.2f}".translate(str.maketrans(",.", f"{NARROW},")),
    "Swiss": lambda value: f"{value:,.2f}".replace(",", "’"),
    "plain": "{:.2f}".format,
    "Arabic": lambda value: f"{value:,.2f}".translate(str.maketrans("0123456789,.", "٠١٢٣٤٥٦٧٨٩٬٫")),
    "full-width": lambda value: f"{value:,.2f}".translate(str.maketrans("0123456789,.", "０１２３４５６７８９，．")),
    "minus sign": lambda value: f"−{value:.2f}",
}


@pytest.mark.parametrize("locale", FORMATS)
@given(cents=st.integers(0, 10**14))
def test_what_a_locale_writes_is_read(locale: str, cents: int) -> None:
    value = cents / 100
    sign = -1 if locale == "minus sign" else 1
    ((read,),) = find_numbers(f"about {FORMATS[locale](value)} units")
    assert read == sign * float(f"{value:.2f}")


@given(text=st.text(st.one_of(st.sampled_from("0123456789.,' -–e万千百三½⁄¹₂×^$%"), st.characters()), max_size=40))
def test_any_text_is_read(text: str) -> None:
    for separator in ("auto", ".", ","):
        for readings in find_numbers(text, separator):
            assert 1 <= len(readings) <= 2
            assert all(type(value) is float and not math.isnan(value) for value in readings)


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3])
def test_matching_is_the_largest(tolerance: float) -> None:
    """Against networkx' maximum matching; paired one by one in order, some of these come out too small."""
    rng = random.Random(5)
    greedy_was_enough = []
    for _ in range(300):
        found, wanted = (
            [
                tuple({float(rng.randint(-3, 12)) for _ in range(rng.choice([1, 1, 2]))})
                for _ in range(rng.randint(1, 7))
            ]
            for _ in range(2)
        )
        graph = np.array([[_suits(a, b, tolerance) for a in found] for b in wanted])
        pairs = [(("wanted", int(row)), ("found", int(column))) for row, column in np.argwhere(graph)]
        expected = len(nx.max_weight_matching(nx.Graph(pairs), maxcardinality=True))
        assert count_matches(found, wanted, tolerance) == expected
        greedy_was_enough.append(_greedy(graph) == expected)
    assert not all(greedy_was_enough)


@pytest.mark.parametrize(
    ("found", "wanted", "tolerance", "matches"),
    [
        ([], [(1.0, 1000.0)], 0.0, 0),
        ([(2.0,)], [(1.0, 1000.0)], 0.0, 0),
        ([(math.inf, 1.0)], [(math.inf, 2.0)], 0.0, 0),
        ([(math.inf,), (1.0,)], [(math.inf,), (-math.inf,), (1.0,)], 0.5, 1),
        ([(1.7e308,)], [(1.7e308,)], 0.9, 1),  # the range ends beyond all floats
        ([(-3.0,), (-2.0,), (2.0,)], [(2.2,), (-2.5,), (-2.2,)], 0.2, 3),
    ],
)
def test_matching_at_the_edges(found: list[Readings], wanted: list[Readings], tolerance: float, matches: int) -> None:
    assert count_matches(found, wanted, tolerance) == matches


def _suits(found: Readings, wanted: Readings, tolerance: float) -> bool:
    return any(abs(a - b) <= (tolerance + 1e-12) * abs(b) for a in found for b in wanted)


def _greedy(graph: Any) -> int:
    taken: set[int] = set()
    for row in graph:
        taken.update([place for place in np.flatnonzero(row).tolist() if place not in taken][:1])
    return len(taken)


def in_order(found: list[Readings], wanted: list[Readings], tolerance: float) -> int:
    """The textbook's search for augmenting paths (Kuhn 1955), pair by pair."""
    suiting = [[place for place, a in enumerate(found) if _suits(a, b, tolerance)] for b in wanted]
    taken: dict[int, int] = {}

    def augment(number: int, seen: set[int]) -> bool:
        for place in suiting[number]:
            if place not in seen:
                seen.add(place)
                if place not in taken or augment(taken[place], seen):
                    taken[place] = number
                    return True
        return False

    return sum(augment(number, set()) for number in range(len(wanted)))


@pytest.mark.parametrize("readings", [[1], [1, 2]], ids=["one reading", "two readings"])
@pytest.mark.parametrize("tolerance", [0.0, 0.2])
def test_matching_of_many_numbers(readings: list[int], tolerance: float) -> None:
    rng = random.Random(11)
    found, wanted = (
        [tuple({float(rng.randint(0, highest)) for _ in range(rng.choice(readings))}) for _ in range(count)]
        for count, highest in ((250, 400), (300, 1500))
    )
    assert count_matches(found, wanted, tolerance) == in_order(found, wanted, tolerance) < 250


class Counted(float):
    """A number that counts how often any is compared."""

    compared = 0

    def __lt__(self, other: object) -> bool:
        Counted.compared += 1
        return float(self) < other  # type: ignore[operator]

    def __gt__(self, other: object) -> bool:
        Counted.compared += 1
        return float(self) > other  # type: ignore[operator]


LISTS: dict[str, Callable[[int], list[Readings]]] = {
    "one and the same": lambda count: [(Counted(1.0),)] * count,
    "all different": lambda count: [(Counted(number),) for number in range(count)],
    "two readings": lambda count: [(Counted(1000 + number), Counted(1 + number / 1000)) for number in range(count)],
}


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("spare", [1, 3], ids=["all match", "a third matches"])
def test_steps_grow_with_the_count_of_numbers_and_not_its_square(kind: str, spare: int) -> None:
    """Lines of ours that run, and comparisons of numbers."""

    def cost(count: int) -> int:
        found, wanted = LISTS[kind](count), LISTS[kind](count) * spare
        random.Random(2).shuffle(wanted)
        Counted.compared = lines = 0

        def count_lines(_frame: Any, event: str, _argument: Any) -> Any:
            nonlocal lines
            lines += event == "line"
            return count_lines

        before = sys.gettrace()
        sys.settrace(count_lines)
        try:
            matched = count_matches(found, wanted, 0.0)
        finally:
            sys.settrace(before)
        assert matched == count
        return lines + Counted.compared

    assert cost(1600) < 6 * cost(400)  # four times the numbers; sixteen times the pairs


@pytest.mark.parametrize(
    ("reference", "answer", "score"),
    [
        ("1e9999", "1", 0.0),  # was read as 1
        ("1", "1e9999", 0.0),
        ("1e9999 and 7", "7", 0.5),  # there, though it can match nothing
        ("9" * 400, "9" * 400, 0.0),
        ("9" * 400, "8" * 400, 0.0),
        ("half: ½", "1⁄2", 1.0),
        ("1,000", "1", 1.0),  # either reading
        ("5만", "50000", 0.0),
        ("5万", "50000", 1.0),
        ("-5", "- 5", 0.0),
    ],
)
def test_scores_at_the_edges(reference: str, answer: str, score: float) -> None:
    result = AnswerNumberMatchEvaluator(on_undefined="raise").run([reference], [answer])
    assert result["individual_scores"] == [score]


def test_statuses_tell_that_no_reference_has_a_number(caplog: pytest.LogCaptureFixture) -> None:
    result = AnswerNumberMatchEvaluator(on_undefined="nan").run([["none"], ["none", "7"], []], ["5", "7", "7"])
    assert result["statuses"] == ["undefined", "scored", "not_run"]
    assert result["score"] == 1.0
    assert "no reference answer holds a number" in caplog.text
