# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact match. Source: Rajpurkar et al., SQuAD, EMNLP 2016; the options are those of Haystack 1.x."""

import re
import string
import unicodedata
from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_eval_ext._normalization import Normalization, make_normalizer
from haystack_eval_ext._parameters import check_flag
from haystack_eval_ext._rows import answer_rows, describe, missing
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.answers._base import AnswerEvaluator, Answers, References, without_reference
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError


@component
class AnswerExactMatchEvaluator(AnswerEvaluator):
    """
    Scores whether the answer equals a reference: 1 or 0, higher is better.

    By default the texts must be equal character by character. The options remove what is not to count, in this order:
    what the regular expressions find, case, punctuation, digits; then comes the normalization.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerExactMatchEvaluator

    evaluator = AnswerExactMatchEvaluator(normalization="squad")
    result = evaluator.run(
        ground_truth_answers=[["Berlin"], ["Paris", "the city of Paris"]],
        predicted_answers=["Bern", "The city of Paris."],
    )
    print(result["individual_scores"], result["score"])
    # [0.0, 1.0] 0.5
    ```
    """

    _undefined_reason = "the reference is None; an empty list leaves such a question out"

    def __init__(
        self,
        *,
        normalization: Normalization = "none",
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
        regexes_to_ignore: list[str] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerExactMatchEvaluator component.

        :param normalization: "none"; "squad": the rule of the SQuAD script, which strips the English articles only;
            "unicode": not for English only; "triviaqa", "drop", "hotpotqa" or "dpr": the rules of these benchmarks'
            scripts. docs/answers.md says what each does.
        :param ignore_case: Whether upper and lower case are the same.
        :param ignore_punctuation: Whether punctuation is removed, in every script, and the ASCII symbols with it.
        :param ignore_numbers: Whether digits are removed, in every script.
        :param regexes_to_ignore: Regular expressions; what they find, upper or lower case, is removed before all else.
            One that backtracks without end hangs the run, so take none from strangers.
        :param on_undefined: What a question whose reference is None counts as: "zero" (as in Haystack), "nan" or
            "raise". One with an empty list of references is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value, or a regular expression is none.
        :raises TypeError: If a parameter has the wrong type.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)
        check_flag("ignore_case", ignore_case)
        check_flag("ignore_punctuation", ignore_punctuation)
        check_flag("ignore_numbers", ignore_numbers)
        self.normalization: Normalization = normalization
        self.ignore_case = ignore_case
        self.ignore_punctuation = ignore_punctuation
        self.ignore_numbers = ignore_numbers
        self.regexes_to_ignore = regexes_to_ignore
        self._patterns = _compiled(regexes_to_ignore)
        self._normalize = make_normalizer(normalization)
        self._raw = not (
            self._patterns or ignore_case or ignore_punctuation or ignore_numbers or normalization != "none"
        )

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts. An empty list is none. None is taken as in Haystack: no answer equals it.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored", "undefined" (the reference is None) or, with an empty list, "not_run" for each
              question;
            - `errors`: why a question has no score, else None.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a reference is None and ``on_undefined`` is "raise".
        """
        self._follow()
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        values = self._values(predictions, references)
        # Haystack's value stays, with a warning: an empty list says the same and is left out.
        none = {row for row, given in enumerate(ground_truth_answers) if missing(given)}
        not_run = {row: why for row, why in without_reference(references).items() if row not in none}
        return self._finished(values, not_run)._asdict()

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        if self._raw:
            return float(prediction in references)
        prediction = self._compared(prediction)
        return float(any(prediction == self._compared(reference) for reference in references))

    def _compared(self, text: str) -> str:
        for pattern in self._patterns:
            text = pattern.sub("", text)
        if self.ignore_case:
            text = text.lower()
        if self.ignore_punctuation:
            text = "".join(c for c in text if c not in string.punctuation and unicodedata.category(c)[0] != "P")
        if self.ignore_numbers:
            text = "".join(c for c in text if unicodedata.category(c) != "Nd")
        return self._normalize(text)


def _compiled(regexes: list[str] | None) -> list[re.Pattern[str]]:
    if regexes is None:
        return []
    if not isinstance(regexes, list):
        msg = f"regexes_to_ignore must be a list of regular expressions or None, but is {describe(regexes)}."
        raise InvalidTypeError(msg)
    patterns = []
    for number, regex in enumerate(regexes):
        if not isinstance(regex, str):
            msg = f"regexes_to_ignore[{number}] must be a regular expression as text, but is {describe(regex)}."
            raise InvalidTypeError(msg)
        try:
            patterns.append(re.compile(regex, re.IGNORECASE))
        except (re.error, OverflowError, RecursionError) as error:
            msg = f"regexes_to_ignore[{number}] is no regular expression: {error}. It is {regex!r}."
            raise InvalidValueError(msg) from error
    return patterns
