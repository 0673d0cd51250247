# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Token F1. Source: Rajpurkar et al., SQuAD 2.0, ACL 2018, and the official evaluation script of version 2.0."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from haystack import component

from haystack_eval_ext._normalization import PUBLISHED, Normalization, as_number, make_normalizer, squad_tokens
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import segment
from haystack_eval_ext.answers._base import Overlap, OverlapEvaluator, overlap_of


def token_overlap(prediction: list[str], reference: list[str]) -> Overlap:
    """
    Compare two bags of tokens.

    :param prediction: Tokens of the answer.
    :param reference: Tokens of the reference.
    :returns: Common tokens divided by those of the answer, by those of the reference, and the harmonic mean. All are 1
        when both are empty, and 0 when one is.
    """
    if not prediction or not reference:
        both_empty = float(prediction == reference)
        return Overlap(both_empty, both_empty, both_empty)
    common = (Counter(prediction) & Counter(reference)).total()
    return overlap_of(common, len(prediction), len(reference))


def _triviaqa(prediction: list[str], reference: list[str]) -> Overlap:
    """As SQuAD 1.1: no word in common is 0, even where neither side has a word."""
    return token_overlap(prediction, reference) if prediction else _NOTHING


def _hotpotqa(prediction: list[str], reference: list[str]) -> Overlap:
    """Likewise; and an answer of a closed kind is right as a whole or not at all."""
    closed = prediction in _CLOSED or reference in _CLOSED
    return _NOTHING if closed and prediction != reference else _triviaqa(prediction, reference)


def _drop(prediction: list[str], reference: list[str]) -> Overlap:
    """Of sets of words; a reference with numbers needs one of them in the answer; F1 has two decimals."""
    found, wanted = dict.fromkeys(prediction), dict.fromkeys(reference)
    numbers = [word for word in wanted if as_number(word) is not None]
    if numbers and not any(number in found for number in numbers):
        return _NOTHING
    overlap = token_overlap(list(found), list(wanted))
    return overlap._replace(f1=float(np.round(overlap.f1, 2)))


_NOTHING = Overlap(0.0, 0.0, 0.0)
_CLOSED = (["yes"], ["no"], ["noanswer"])
_PUBLISHED_OVERLAPS = {"triviaqa": _triviaqa, "hotpotqa": _hotpotqa, "drop": _drop}


@component
class AnswerTokenF1Evaluator(OverlapEvaluator):
    """
    Scores how many words an answer and its reference have in common. From 0 to 1, higher is better.

    It is the harmonic mean of precision (the share of the answer's words that are in the reference) and recall (the
    share of the reference's words that are in the answer). Scripts without spaces, such as Japanese, Chinese and Thai,
    go by characters; those of an alphabet, as in Thai, recur in other words, so that wrong answers score 0.1 to 0.3
    there. An answer without any word scores 1 for a reference without any, else 0.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerTokenF1Evaluator

    evaluator = AnswerTokenF1Evaluator()
    result = evaluator.run(
        ground_truth_answers=[["Paris", "the city of Paris"], ["東京タワー"]],
        predicted_answers=["in Paris", "東京です。"],
    )
    print([round(score, 4) for score in result["individual_scores"]])
    # [0.6667, 0.4444]
    print(result["results"][1]["precision"], result["results"][1]["recall"])
    # 0.5 0.4
    ```
    """

    def __init__(self, *, normalization: Normalization = "squad", on_undefined: OnUndefined = "zero") -> None:
        """
        Create an AnswerTokenF1Evaluator component.

        :param normalization: "squad": Latin text scores as in the SQuAD script, which takes away ASCII punctuation and
            the English articles only; words of other scripts lose all punctuation. "unicode": compatibility forms
            (full-width, composed) are the same as well, and no articles are taken away. "none": words as they stand
            between white space. "triviaqa", "drop", "hotpotqa": as the official scripts of these benchmarks, for texts
            of any script. "dpr": the words of DPR's script, which knows no F1.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        """
        OverlapEvaluator.__init__(self, on_undefined=on_undefined)
        self.normalization: Normalization = normalization
        self._normalize = make_normalizer(normalization)
        self._split: Callable[[str], list[str]] = (
            squad_tokens if normalization == "squad" else str.split if normalization in PUBLISHED else segment
        )
        self._overlap = _PUBLISHED_OVERLAPS.get(normalization, token_overlap)

    def _overlaps(self, predictions: list[str], references: Sequence[Sequence[str]]) -> list[list[Overlap]]:
        return [
            self._row(prediction, row) if row else [] for prediction, row in zip(predictions, references, strict=True)
        ]

    def _row(self, prediction: str, references: Sequence[str]) -> list[Overlap]:
        tokens = self._split(self._normalize(prediction))
        return [self._overlap(tokens, self._split(self._normalize(reference))) for reference in references]
