# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Answer match: a verdict by words and numbers alone. Source: containment of the reference, the usual "accuracy" of
open-domain question answering by free text, with numbers by value and a rule for negation; measured in benchmarks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from haystack import component, logging

from haystack_eval_ext._normalization import make_normalizer
from haystack_eval_ext._rows import answer_rows
from haystack_eval_ext._scores import OnUndefined, in_a_run
from haystack_eval_ext._text import count_words, segment
from haystack_eval_ext.answers._base import AnswerEvaluator, Answers, References, without_reference
from haystack_eval_ext.answers._negation import affirmed
from haystack_eval_ext.answers._numbers import Readings, find_numbers
from haystack_eval_ext.answers._writing import DECADE, without_accents, without_amounts, without_signs, written_alike
from haystack_eval_ext.answers.answer_contains import AnswerContainsEvaluator
from haystack_eval_ext.answers.answer_number_match import count_matches

logger = logging.getLogger(__name__)

_ARTICLE = re.compile(r"^\W*(?:a|an|the)\s+(?=\w)", re.IGNORECASE)
_ARTICLES = frozenset(("a", "an", "the"))
# The stretch of the answer that must hold all words of the reference, in their number.
_STRETCH = 1.5
# Two ways to write a number differ in rounding at most.
_SAME = 1e-9
# References longer than this are sentences, which right answers put in other words.
_LONG = 12
_MANY, _OF_ROWS = 5, 0.2
_normal = make_normalizer("unicode")


class Units(NamedTuple):
    """The words of a text in their order; a number stands as None among them, and in `numbers`."""

    words: list[str | None]
    numbers: list[Readings]


def units(text: str) -> Units:
    """
    Take a text apart into words and numbers.

    :param text: Any text.
    :returns: Normalised words without English articles, characters in scripts without spaces; the readings of numbers.
    """
    words: list[str | None] = []
    numbers: list[Readings] = []
    for token in segment(_normal(text)):
        if token in _ARTICLES:
            continue
        found = [] if token.endswith(DECADE) else find_numbers(token)
        words.append(None if len(found) == 1 else token)
        numbers += found if len(found) == 1 else []
    return Units(words, numbers)


def holds_together(answer: Units, reference: Units, *, in_order: bool) -> bool:
    """
    Look for all words and numbers of a reference close together.

    :param answer: The answer's.
    :param reference: The reference's, at least one.
    :param in_order: Whether the words must come in the reference's order.
    :returns: True if a stretch of the answer, at most half as long again as the reference, has them all.
    """
    wanted = Counter(reference.words)
    if wanted - Counter(answer.words):
        return False
    length = int(len(reference.words) * _STRETCH)
    for start in range(max(1, len(answer.words) - length + 1)):
        stretch = answer.words[start : start + length]
        if wanted - Counter(stretch) or (in_order and not _follow(reference.words, stretch)):
            continue
        before = answer.words[:start].count(None)
        numbers = answer.numbers[before : before + stretch.count(None)]
        if count_matches(numbers, reference.numbers, _SAME) == len(reference.numbers):
            return True
    return False


def _follow(words: Sequence[str | None], text: Sequence[str | None]) -> bool:
    """Whether words occur in a text in this order, whatever stands between them."""
    left = iter(text)
    return all(any(word == found for found in left) for word in words)


def says(answer: str, reference: str) -> bool:
    """
    Tell whether an answer says what a reference says.

    ```python
    from haystack_eval_ext.answers.answer_match import says

    print(says("It is on March 5th, 2024.", "5 March 2024"), says("Not in Paris.", "Paris"))
    # True False
    ```

    :param answer: The answer.
    :param reference: The reference.
    :returns: True if the reference stands in what the answer affirms, as a run of words, or all of its words and
        numbers in a short stretch.
    """
    answer = written_alike(affirmed(answer, reference))
    bare = without_signs(reference)
    return _holds(answer, written_alike(reference)) or (
        bare is not None and _holds(without_amounts(answer), written_alike(bare))
    )


def _holds(answer: str, reference: str) -> bool:
    """Whether the words of a reference stand in an answer; accents count where both of them have some."""
    plain, wanted_plain = without_accents(answer), without_accents(reference)
    if (plain == answer) != (wanted_plain == reference):
        answer, reference = plain, wanted_plain
    if _CONTAINS._score(answer, [_ARTICLE.sub("", reference)]):
        return True
    wanted = units(reference)
    # Single characters recur in other words of their scripts: there the order counts as well.
    in_order = any(word is not None and len(word) == 1 and not word.isascii() for word in wanted.words)
    return bool(wanted.words) and holds_together(units(answer), wanted, in_order=in_order)


_CONTAINS = AnswerContainsEvaluator()


@component
class AnswerMatchEvaluator(AnswerEvaluator):
    """
    Scores whether an answer says what a reference says, by words and numbers alone: 1 or 0, higher is better.

    A verdict without a judge, for short references such as names, numbers, dates and terms. A reference is said

    - if it stands in the answer as a run of whole words, as AnswerContainsEvaluator looks for it, an English article
      before it aside; or
    - if a stretch of the answer, at most half as long again, has all of its words, in any order (in scripts without
      spaces all characters, in their order), and all of its numbers by value: "March 5th" says "5 March".

    So a missing part or another number is no match. What the answer denies, leaves out, calls wrong or leaves open does
    not count ("not Paris", "except Paris", "Paris is wrong", "Paris or Lyon", "more than 5"; not so "not only" and "not
    later than"), unless the reference has such words as well. Known are words of about 20 languages, as far as they are
    of no other use. "2.5 million" and 2,500,000, "10%" and "10 percent", "€5" and "5 euros" are the same, "$5" and
    "€5", 1990 and "1990s", C and C# are not. Numbers in words and other units are not read; docs/answers.md has all
    rules.

    Other words for the same thing do not match, nor does a short form ("Nixon" for "Richard Nixon"): right answers to
    references of whole sentences mostly score 0, and `warnings` says so. There a judge is needed:
    AnswerCorrectnessEvaluator. Words that an answer has beside the reference do no harm.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerMatchEvaluator

    evaluator = AnswerMatchEvaluator()
    result = evaluator.run(
        ground_truth_answers=["Paris", "on the 5th of March", "red, green and blue"],
        predicted_answers=["The capital is Paris.", "on the 9th of March", "red and green"],
    )
    print(result["individual_scores"])
    # [1.0, 0.0, 0.0]
    ```
    """

    # Since 3 words that only look like a negation deny nothing.
    _rule_version = 3

    def __init__(self, *, on_undefined: OnUndefined = "zero") -> None:
        """
        Create an AnswerMatchEvaluator component.

        :param on_undefined: "zero", "nan" or "raise": no score of this metric is undefined. A question without a
            reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If there is no such policy.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        return float(any(says(prediction, reference) for reference in references))

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        warnings=list[str],
    )
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts; None or an empty list for none.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the share of the answers that say what a reference says;
            - `individual_scores`: 1 or 0 for each question, in the order given;
            - `statuses`: "scored" or, without a reference, "not_run" for each question;
            - `errors`: why a question has no score, else None;
            - `warnings`: what to know of the whole batch: references too long for this rule.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        """
        self._follow()
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        values = self._values(predictions, references)
        outputs = self._finished(values, without_reference(references))
        warnings = _too_long(references, values)
        for told in warnings if not in_a_run() else ():
            logger.warning("AnswerMatchEvaluator: {told}", told=told)
        return {**outputs._asdict(), "warnings": warnings}


def _too_long(references: Sequence[Sequence[str]], values: Sequence[float]) -> list[str]:
    missed = sum(
        value == 0 and min(map(count_words, row)) > _LONG for row, value in zip(references, values, strict=True) if row
    )
    if missed < _MANY or missed < _OF_ROWS * len(values):
        return []
    told = (
        f"{missed} of {len(values)} answers score 0 beside references of more than {_LONG} words. Whether such an "
        "answer is right cannot be told by its words: give short references too, or let a judge tell, with "
        "AnswerCorrectnessEvaluator or the pipeline rag_diagnosis_judged."
    )
    return [told]
