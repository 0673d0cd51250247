# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Number match. Source: the scoring of numerical question answering, with the numbers of common locales."""

import math
from bisect import bisect_left, bisect_right
from itertools import chain
from typing import Any, get_args

from haystack import component

from haystack_eval_ext._rows import answer_rows, describe
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.answers._base import AnswerEvaluator, Answers, References, score_rows
from haystack_eval_ext.answers._numbers import DecimalSeparator, Readings, find_numbers

# So that a tolerance of 1 % takes 0.99 for 1, and 0 takes 0.1 + 0.2 for 0.3: two roundings of a float.
_ROUNDING = 1e-15


def count_matches(found: list[Readings], wanted: list[Readings], tolerance: float) -> int:
    """
    Count the numbers that can be paired, each with one of its own.

    :param found: Readings of the numbers of the answer.
    :param wanted: Readings of the numbers of the reference.
    :param tolerance: How far a number may be off, as a share of the wanted one.
    :returns: The size of the largest matching (augmenting paths, Kuhn 1955).
    """
    allowed = tolerance + _ROUNDING
    held = sorted((value, place) for place, readings in enumerate(found) for value in readings)
    values, places = [value for value, _ in held], [place for _, place in held]

    def suiting(readings: Readings) -> list[int]:
        near = ((value, allowed * abs(value)) for value in readings)
        slices = (places[bisect_left(values, v - d) : bisect_right(values, v + d)] for v, d in near)
        return list(dict.fromkeys(chain.from_iterable(slices)))

    candidates = [suiting(readings) for readings in wanted]
    taken: dict[int, int] = {}  # place in found: place in wanted
    return sum(_augment(start, candidates, taken) for start in range(len(wanted)))


def _augment(start: int, candidates: list[list[int]], taken: dict[int, int]) -> bool:
    """Give a wanted number a place, by moving others where needed."""
    came_from: dict[int, int] = {}  # place: the wanted number that asks for it
    queue = [start]
    for asking in queue:
        for place in candidates[asking]:
            if place in came_from:
                continue
            came_from[place] = asking
            if place in taken:
                queue.append(taken[place])
                continue
            given = {number: held for held, number in taken.items()}
            free: int | None = place
            while free is not None:
                number = came_from[free]
                taken[free] = number
                free = given.get(number)
            return True
    return False


@component
class AnswerNumberMatchEvaluator(AnswerEvaluator):
    """
    Scores which share of the reference's numbers is in the answer. From 0 to 1, higher is better.

    Each number of the answer serves for one of the reference; further numbers do no harm. Read are the forms of the
    common locales (1,234.56, 1.234,56, 1 234,56, 1'234.56, 12,34,567), decimal digits of every script, exponents, and
    Japanese and Chinese numerals (1万2千, 三百; not a single numeral such as 三, which is part of many words). Units,
    per cent signs and words such as "million" are left alone: 5 % is 5, and 2 km is not 2,000 m. Digits right after a
    Latin, Greek or Cyrillic letter are part of a name or unit (CO2, m2), and 2024-01-02 is three numbers.

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
            "auto": what can be read in two ways, such as 1,234, matches either.
        :param on_undefined: What a question counts as whose references hold no number, or that has none: "zero", "nan"
            or "raise".
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If the tolerance is not a number.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)
        if isinstance(relative_tolerance, bool) or not isinstance(relative_tolerance, int | float):
            msg = f"relative_tolerance must be a number from 0 to below 1, but is {describe(relative_tolerance)}."
            raise TypeError(msg)
        if not 0 <= relative_tolerance < 1:
            msg = f"relative_tolerance must be a number from 0 to below 1, but is {relative_tolerance!r}."
            raise ValueError(msg)
        if decimal_separator not in get_args(DecimalSeparator):
            choices = ", ".join(map(repr, get_args(DecimalSeparator)))
            msg = f"decimal_separator must be one of {choices}, but is {decimal_separator!r}."
            raise ValueError(msg)
        self.relative_tolerance = relative_tolerance
        self.decimal_separator: DecimalSeparator = decimal_separator

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one with
            a number counts.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored", or "undefined" where no reference holds a number.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a question is undefined and ``on_undefined`` is "raise".
        """
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        values = [self._score(prediction, row) for prediction, row in zip(predictions, references, strict=True)]
        reason = "no reference answer holds a number"
        return score_rows(values, self.on_undefined, name=type(self).__name__, reason=reason)._asdict()

    def _score(self, prediction: str, references: list[str]) -> float:
        wanted = [numbers for text in references if (numbers := find_numbers(text, self.decimal_separator))]
        if not wanted:
            return math.nan
        found = find_numbers(prediction, self.decimal_separator)
        return max(count_matches(found, row, self.relative_tolerance) / len(row) for row in wanted)
