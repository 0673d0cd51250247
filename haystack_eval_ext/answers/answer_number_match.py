# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Number match. Source: the scoring of numerical question answering, with the numbers of common locales."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import get_args

import numpy as np
from haystack import component

from haystack_eval_ext._parameters import check_choice, is_number, shown
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.answers._base import AnswerEvaluator
from haystack_eval_ext.answers._numbers import DecimalSeparator, Readings, find_numbers
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

# So that a tolerance of 1 % takes 0.99 for 1, and 0 takes 0.1 + 0.2 for 0.3: two roundings of a float.
_ROUNDING = 1e-15


def count_matches(found: list[Readings], wanted: list[Readings], tolerance: float) -> int:
    """
    Count the numbers that can be paired, each with one of its own.

    ```python
    from haystack_eval_ext.answers.answer_number_match import count_matches

    print(count_matches([(1.0,), (2.0,), (2.0,)], [(2.0,), (1.0, 1000.0), (3.0,)], tolerance=0.0))
    # 2
    ```

    :param found: Readings of the numbers of the answer.
    :param wanted: Readings of the numbers of the reference.
    :param tolerance: How far a number may be off, as a share of the wanted one.
    :returns: The size of the largest matching. Infinity, which stands for any number too large, suits none.
    """
    allowed = min(1.0, tolerance + _ROUNDING)
    if any(len(readings) > 1 for readings in (*found, *wanted)):
        return _matches_in_graph(found, wanted, allowed)
    numbers, others = (sorted(value for (value,) in row if math.isfinite(value)) for row in (found, wanted))
    return _matches_in_order(numbers, others, allowed)


def _matches_in_order(found: list[float], wanted: list[float], allowed: float) -> int:
    """Of sorted numbers, whose allowed ranges are in the same order: the first that suits is the right one."""
    matches = 0
    left = iter(found)
    value = next(left, math.nan)
    for number in wanted:
        low, high = _allowed_range(number, allowed)
        while value < low:
            value = next(left, math.nan)
        if value <= high:
            matches += 1
            value = next(left, math.nan)
    return matches


def _matches_in_graph(found: list[Readings], wanted: list[Readings], allowed: float) -> int:
    """Where a number has two readings, the pairs that suit are the edges of a graph (Hopcroft and Karp 1973)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    held = sorted((value, place) for place, row in enumerate(found) for value in row if math.isfinite(value))
    values, places = [value for value, _ in held], [place for _, place in held]
    columns: list[int] = []
    ends = [0]
    for readings in wanted:
        suiting: set[int] = set()
        for low, high in (_allowed_range(value, allowed) for value in readings if math.isfinite(value)):
            suiting.update(places[bisect_left(values, low) : bisect_right(values, high)])
        columns += suiting
        ends.append(len(columns))
    if not columns:
        return 0
    # scipy 1.13 takes 32-bit indices only.
    indices, starts = (np.array(numbers, dtype=np.int32) for numbers in (columns, ends))
    graph = csr_array(([True] * len(columns), indices, starts), shape=(len(wanted), len(found)))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _allowed_range(number: float, allowed: float) -> tuple[float, float]:
    return number - allowed * abs(number), number + allowed * abs(number)


@component
class AnswerNumberMatchEvaluator(AnswerEvaluator):
    """
    Scores which share of the reference's numbers is in the answer. From 0 to 1, higher is better.

    Each number of the answer serves for one of the reference; further numbers do no harm. Read are the forms of the
    common locales (1,234.56, 1.234,56, 1 234,56, 1'234.56, 12,34,567), decimal digits of every script, exponents,
    fractions (½, 1⁄2 with the slash of fractions), and Japanese and Chinese numerals (1万2千, 三百; not a single
    numeral such as 三, which is part of many words). Units, per cent signs and words of scale are left alone: 5 % is 5,
    2 km is not 2,000 m, and "1.5M", "1.5 million" and Korean "5만" are 1.5, 1.5 and 5. Digits right after a Latin,
    Greek or Cyrillic letter are part of a name or unit (CO2, m2), and 2024-01-02 is three numbers. A minus sign counts
    right before the number: "- 5" is 5. A number too large for a float (1e309) is there, but matches none.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerNumberMatchEvaluator

    evaluator = AnswerNumberMatchEvaluator()
    result = evaluator.run(
        ground_truth_answers=[["1,234.5 km in 2020"], ["12000 yen"], ["some"]],
        predicted_answers=["It was 1.234,5 km in 2021.", "1万2千円", "It is 7."],
    )
    print(result["individual_scores"], result["statuses"])
    # [0.5, 1.0, 0.0] ['scored', 'scored', 'undefined']
    ```
    """

    _undefined_reason = "no reference answer holds a number"

    def __init__(
        self,
        *,
        relative_tolerance: float = 1e-9,
        decimal_separator: DecimalSeparator = "auto",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerNumberMatchEvaluator component.

        :param relative_tolerance: How far a number may be off, as a share of the reference's: 0.01 is 1 per cent. The
            default forgives what is lost where a computed number is printed, and no more.
        :param decimal_separator: "." or ",": what separates decimals in both texts, while the other one groups digits.
            "auto": what can be read in two ways, such as 1,000, matches either, here 1000 and 1.
        :param on_undefined: What a question counts as whose references hold no number: "zero", "nan" (left out of the
            mean) or "raise". One without a reference is left out, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If the tolerance is not a number.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)
        if isinstance(relative_tolerance, bool) or not isinstance(relative_tolerance, int | float):
            msg = f"relative_tolerance must be a number from 0 to below 1, but is {describe(relative_tolerance)}."
            raise InvalidTypeError(msg)
        if not is_number(relative_tolerance) or not 0 <= relative_tolerance < 1:
            msg = f"relative_tolerance must be a number from 0 to below 1, but is {shown(relative_tolerance)}."
            raise InvalidValueError(msg)
        check_choice("decimal_separator", decimal_separator, get_args(DecimalSeparator))
        self.relative_tolerance = relative_tolerance
        self.decimal_separator: DecimalSeparator = decimal_separator

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        wanted = [numbers for text in references if (numbers := find_numbers(text, self.decimal_separator))]
        if not wanted:
            return math.nan
        found = find_numbers(prediction, self.decimal_separator)
        return max(count_matches(found, row, self.relative_tolerance) / len(row) for row in wanted)
