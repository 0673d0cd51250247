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
from haystack_eval_ext._scores import OnUndefined, RowScores, aggregate, check_on_undefined, report_undefined
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


def score_rows(
    values: list[float], on_undefined: OnUndefined, *, name: str, reason: str = "no reference answers"
) -> RowScores:
    """
    Finish the scores of a run.

    :param values: One value per row, NaN where there is no reference.
    :param on_undefined: The policy of the component.
    :param name: Name of the component, for messages.
    :param reason: Why a row can be undefined, for messages.
    :returns: The outputs.
    :raises UndefinedScore: If a row is undefined and the policy is "raise".
    """
    array = np.array(values, dtype=np.float64)
    report_undefined(np.isnan(array), on_undefined, metric=name, reason=reason)
    return aggregate(array, on_undefined)


class AnswerEvaluator(Serialized):
    """
    The sockets of an evaluator that scores each row by itself; a metric adds :meth:`_score`.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    # Since 2 a row without a reference is not run.
    _rule_version = 2

    def __init__(self, *, on_undefined: OnUndefined = "zero") -> None:
        """
        Create the component.

        :param on_undefined: What a question with an empty list of references counts as: "zero", "nan" (left out of the
            mean) or "raise".
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

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored" or "undefined" for each question.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a question has no references and ``on_undefined`` is "raise".
        """
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        values = self._values(predictions, references)
        return score_rows(values, self.on_undefined, name=type(self).__name__)._asdict()


class Overlap(NamedTuple):
    """What an answer shares with one reference."""

    precision: float
    recall: float
    f1: float


class OverlapEvaluator(AnswerEvaluator):
    """The same for a score with precision and recall, which `results` reports; a metric adds :meth:`_overlaps`."""

    #: Which of them is the score.
    measure: Literal["f1", "precision", "recall"] = "f1"

    def _overlaps(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[list[Overlap]]:
        """What each answer shares with each of its references."""
        raise NotImplementedError

    @component.output_types(
        score=float, individual_scores=list[float], statuses=list[str], results=list[dict[str, float | int | None]]
    )
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored" or "undefined" for each question;
            - `results`: for each question its "precision", "recall" and "f1", and as "reference" the number of the
              reference that suits best, from 0. Without references that is None, and the values are as the score.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a question has no references and ``on_undefined`` is "raise".
        :raises ImportError: If a package that the metric needs is not installed.
        """
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)

        def value(overlap: Overlap) -> float:
            return float(getattr(overlap, self.measure))

        # Of equals the first.
        best = [
            max(enumerate(row), key=lambda found: value(found[1]), default=None)
            for row in self._overlaps(predictions, references)
        ]
        values = [math.nan if found is None else value(found[1]) for found in best]
        outputs = score_rows(values, self.on_undefined, name=type(self).__name__)
        results = []
        for found, score in zip(best, outputs.individual_scores, strict=True):
            number, overlap = found or (None, Overlap(score, score, score))
            results.append({**overlap._asdict(), "reference": number})
        return {**outputs._asdict(), "results": results}
