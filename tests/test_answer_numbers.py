# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What counts as a number, and how numbers are paired; scipy's matching is the oracle of the latter."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

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
    "2½ cups, ¾ litre, 1 ½": [2.5, 0.75, 1.5],
    "10:30": [10, 30],
    "9" * 400: [],  # too large for a float
    "1e999": [],
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


@given(text=st.text(st.one_of(st.sampled_from("0123456789.,' -–e万千百三½×^$%"), st.characters()), max_size=40))
def test_any_text_is_read(text: str) -> None:
    for separator in ("auto", ".", ","):
        for readings in find_numbers(text, separator):
            assert 1 <= len(readings) <= 2
            assert all(type(value) is float and abs(value) < np.inf for value in readings)


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3])
def test_matching_is_the_largest(tolerance: float) -> None:
    """Against scipy's Hopcroft-Karp; paired one by one in order, some of these come out too small."""
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
        expected = int((maximum_bipartite_matching(csr_array(graph), perm_type="column") >= 0).sum())
        assert count_matches(found, wanted, tolerance) == expected
        greedy_was_enough.append(_greedy(graph) == expected)
    assert not all(greedy_was_enough)


def _suits(found: Readings, wanted: Readings, tolerance: float) -> bool:
    return any(abs(a - b) <= (tolerance + 1e-12) * abs(b) for a in found for b in wanted)


def _greedy(graph: Any) -> int:
    taken: set[int] = set()
    for row in graph:
        taken.update([place for place in np.flatnonzero(row).tolist() if place not in taken][:1])
    return len(taken)


def test_statuses_tell_that_no_reference_has_a_number(caplog: pytest.LogCaptureFixture) -> None:
    result = AnswerNumberMatchEvaluator(on_undefined="nan").run([["none"], ["none", "7"], []], ["5", "7", "7"])
    assert result["statuses"] == ["undefined", "scored", "undefined"]
    assert result["score"] == 1.0
    assert "no reference answer holds a number" in caplog.text
