# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What every answer evaluator shares: sockets, references, and the way from texts to scores."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from haystack import component
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from haystack_eval_ext._rows import answer_rows
from haystack_eval_ext._scores import NO_REFERENCE, OnUndefined, RowScores, check_on_undefined, finish_rows
from haystack_eval_ext._serialization import Serialized

#: One answer per question; a single text or ChatMessage is one question.
Answers = list[str] | list[ChatMessage] | list[GeneratedAnswer] | ChatMessage | str
#: One reference, or several, per question.
References = list[str] | list[list[str]]


def best(function: Callable[[str, str], float], prediction: str, references: Sequence[str]) -> float:
    """
    Score an answer against the reference that suits it best.

    :param function: Takes prediction and reference, gives a score; higher is better.
    :param prediction: The answer.
    :param references: At least one reference.
    :returns: The highest score.
    """
    if len(references) == 1:
        return function(prediction, references[0])
    return max(function(prediction, reference) for reference in references)


def without_reference(references: Sequence[Sequence[str]]) -> dict[int, str]:
    """
    Find the rows that cannot be scored, since nothing is known to compare their answers with.

    :param references: The references of each row.
    :returns: By row number what it lacks.
    """
    return {} if all(references) else {row: NO_REFERENCE for row, found in enumerate(references) if not found}


class AnswerEvaluator(Serialized):
    """
    The sockets of an evaluator that scores each row by itself; a metric adds :meth:`_score`.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    # Since 2 a row without a reference is not run.
    _rule_version = 2

    #: Why a row with a reference can be undefined, for messages.
    _undefined_reason = "nothing to compare"

    def __init__(self, *, on_undefined: OnUndefined = "zero") -> None:
        """
        Create the component.

        :param on_undefined: What a question counts as whose score the definition does not give: "zero", "nan" (left
            out of the mean) or "raise". A question without a reference is left out, whatever is set here.
        :raises ValueError: If there is no such policy.
        """
        check_on_undefined(on_undefined)
        self.on_undefined: OnUndefined = on_undefined

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        """The score of one answer against at least one reference."""
        raise NotImplementedError

    def _values(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[float]:
        """The score of each answer, NaN where there is no reference; a metric that can do it faster at once may."""
        score = self._score
        return [
            score(prediction, row) if row else math.nan for prediction, row in zip(predictions, references, strict=True)
        ]

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts; None or an empty list for none.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored", "undefined" or, without a reference, "not_run" for each question;
            - `errors`: why a question has no score, else None.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If the definition gives a question no score, and ``on_undefined`` is "raise".
        """
        self._follow()
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        values = self._values(predictions, references)
        return self._finished(values, without_reference(references))._asdict()

    def _finished(self, values: list[float], not_run: dict[int, str]) -> RowScores:
        """The outputs, from a value per row and what rows lack."""
        return finish_rows(
            np.array(values, dtype=np.float64),
            self.on_undefined,
            metric=type(self).__name__,
            reason=self._undefined_reason,
            not_run=not_run,
        )


class Overlap(NamedTuple):
    """What an answer shares with one reference."""

    precision: float
    recall: float
    f1: float


def overlap_of(shared: int, of_prediction: int, of_reference: int) -> Overlap:
    """
    Make precision, recall and F1 of counts.

    :param shared: What both texts have.
    :param of_prediction: What the answer has.
    :param of_reference: What the reference has.
    :returns: The three values, all 0 where nothing is shared.
    """
    if not shared:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = shared / of_prediction, shared / of_reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


class OverlapEvaluator(AnswerEvaluator):
    """The same for a score with precision and recall, which `results` reports; a metric adds :meth:`_overlaps`."""

    #: Which of them is the score.
    measure: Literal["f1", "precision", "recall"] = "f1"

    def _overlaps(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[list[Overlap]]:
        """What each answer shares with each of its references."""
        raise NotImplementedError

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        results=list[dict[str, float | int | None]],
    )
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts; None or an empty list for none.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored", "undefined" or, without a reference, "not_run" for each question;
            - `errors`: why a question has no score, else None;
            - `results`: for each question its "precision", "recall" and "f1", and as "reference" the number of the
              reference that suits best, from 0. Without references that is None, and the values are NaN.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If the definition gives a question no score, and ``on_undefined`` is "raise".
        :raises ImportError: If a package that the metric needs is not installed.
        """
        self._follow()
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)

        def value(overlap: Overlap) -> float:
            return float(getattr(overlap, self.measure))

        # Of equals the first.
        best = [
            max(enumerate(row), key=lambda found: value(found[1]), default=None)
            for row in self._overlaps(predictions, references)
        ]
        values = [math.nan if found is None else value(found[1]) for found in best]
        outputs = self._finished(values, without_reference(references))
        results = []
        for found, score in zip(best, outputs.individual_scores, strict=True):
            number, overlap = found or (None, Overlap(score, score, score))
            results.append({**overlap._asdict(), "reference": number})
        return {**outputs._asdict(), "results": results}
