# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Edit similarity. Source: Levenshtein, Soviet Physics Doklady 10(8), 1966; rapidfuzz's normalized_similarity."""

from collections.abc import Callable, Sequence
from functools import cache

from haystack import component

from haystack_eval_ext._normalization import Normalization, make_normalizer
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.answers._base import AnswerEvaluator, best
from haystack_eval_ext.errors import MissingPackageError


@component
class AnswerEditSimilarityEvaluator(AnswerEvaluator):
    """
    Scores how few characters must be changed to make the answer its reference. From 0 to 1, higher is better.

    It is 1 - d / n, where d is the Levenshtein distance (characters to insert, delete or replace) and n the length of
    the longer text. Two empty texts score 1. Texts that have nothing to do with each other still share some letters:
    short ones score 0.1 to 0.3.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerEditSimilarityEvaluator

    evaluator = AnswerEditSimilarityEvaluator()
    result = evaluator.run(
        ground_truth_answers=[["organisation", "organization"], ["東京タワー"]],
        predicted_answers=["organizations", "東京"],
    )
    print([round(score, 4) for score in result["individual_scores"]])
    # [0.9231, 0.4]
    ```
    """

    def __init__(self, *, normalization: Normalization = "none", on_undefined: OnUndefined = "zero") -> None:
        """
        Create an AnswerEditSimilarityEvaluator component.

        :param normalization: "none": the texts as they are, which gives rapidfuzz's own value. "squad" or "unicode":
            case, punctuation and white space do not count as changes, nor do English articles ("squad"), or composed
            and full-width forms ("unicode"). Or the rule of a benchmark, as for exact match.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)
        self.normalization: Normalization = normalization
        self._normalize = make_normalizer(normalization)

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        return best(_similarity(), prediction, references)

    def _values(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[float]:
        if self.normalization != "none":
            predictions = list(map(self._normalize, predictions))
            references = [list(map(self._normalize, row)) for row in references]
        if set(map(len, references)) == {1}:
            # The usual case. rapidfuzz takes a third of a microsecond for short texts, so calls of our own count.
            return list(map(_similarity(), predictions, [row[0] for row in references]))
        return AnswerEvaluator._values(self, predictions, references)


@cache
def _similarity() -> Callable[[str, str], float]:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        msg = "AnswerEditSimilarityEvaluator needs rapidfuzz, which is not installed: run `pip install rapidfuzz`."
        raise MissingPackageError(msg) from error
    return Levenshtein.normalized_similarity
