# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer contains a reference. Source: the usual "accuracy" of open-domain question answering by free text."""

import unicodedata
from collections.abc import Sequence

from haystack import component

from haystack_eval_ext._normalization import (
    PUBLISHED,
    Normalization,
    keep_signs,
    make_normalizer,
    separate_at_punctuation,
)
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import segment
from haystack_eval_ext.answers._base import AnswerEvaluator

_TWICE = ("unicode", "squad")


def contains(tokens: list[str], part: list[str]) -> bool:
    """
    Look for a run of tokens.

    :param tokens: Tokens of a text; none holds a line break.
    :param part: Tokens of what is looked for. No token at all is found in no token at all only.
    :returns: Whether the part stands in the text, token by token.
    """
    if not part:
        return not tokens
    return "\n" + "\n".join(part) + "\n" in "\n" + "\n".join(tokens) + "\n"


@component
class AnswerContainsEvaluator(AnswerEvaluator):
    """
    Scores whether a reference stands in the answer: 1 or 0, higher is better.

    A reference is found as a run of whole words, so that "art" is not in "party", and in scripts without spaces, such
    as Japanese, Chinese and Thai, as a run of characters. Endings and particles that are written without a space belong
    to the word, in Korean as well. Punctuation is taken away, or parts words: "US" is in "U.S.", and "yes" in "yes/no";
    a point or comma between two digits stays, and a minus sign before a number, so that "5" is in neither "2.5" nor
    "-5". What punctuation alone tells apart is lost: "C" is in "C#", though not in "C++", whose plus signs are symbols
    (by "squad", which drops ASCII symbols and signs as well, "C" is in "C++" and "5" in "-5"). A long answer that names
    everything scores 1: look at a metric with precision beside this one.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerContainsEvaluator

    evaluator = AnswerContainsEvaluator()
    result = evaluator.run(
        ground_truth_answers=[["Paris"], ["art"], ["東京"]],
        predicted_answers=["It is Paris, in France.", "A party.", "答えは東京です。"],
    )
    print(result["individual_scores"])
    # [1.0, 0.0, 1.0]
    ```
    """

    def __init__(self, *, normalization: Normalization = "unicode", on_undefined: OnUndefined = "zero") -> None:
        """
        Create an AnswerContainsEvaluator component.

        :param normalization: "unicode": without regard to case, punctuation, compatibility forms, the script of digits,
            and points of Hebrew and Arabic. "squad": the rule of the SQuAD script, which strips ASCII punctuation and
            the English articles only. "none": case and punctuation count, but words end at punctuation. "dpr": as DPR's
            script for Natural Questions, by which a reference without any word is in every answer. "triviaqa", "drop"
            and "hotpotqa": whole words, normalised as these benchmarks do, which look for no words in answers.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
            An empty text as reference is another matter: an empty answer contains it, and no other.
        :raises ValueError: If a parameter has no such value.
        """
        AnswerEvaluator.__init__(self, on_undefined=on_undefined)
        self.normalization: Normalization = normalization
        self._normalize = make_normalizer(normalization)

    def _score(self, prediction: str, references: Sequence[str]) -> float:
        # Two readings of punctuation inside words; each is made when it is first needed.
        readings = [self._tokens, self._separate_tokens] if self.normalization in _TWICE else [self._tokens]
        for tokens in readings:
            answer = tokens(prediction)
            if self.normalization == "dpr" and not all(map(tokens, references)):
                return 1.0
            if any(contains(answer, tokens(reference)) for reference in references):
                return 1.0
        return 0.0

    def _tokens(self, text: str) -> list[str]:
        if self.normalization == "none":
            return segment(_punctuation_apart(text))
        normal = self._normalize(text)
        return normal.split() if self.normalization in PUBLISHED else segment(normal)

    def _separate_tokens(self, text: str) -> list[str]:
        if self.normalization == "unicode" and not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        return segment(self._normalize(separate_at_punctuation(text)))


def _punctuation_apart(text: str) -> str:
    return "".join(f" {c} " if unicodedata.category(c)[0] == "P" else c for c in keep_signs(text))
