# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""BLEU. Source: Papineni et al., ACL 2002; Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018; sacrebleu."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from haystack import component

from haystack_eval_ext._normalization import Normalization
from haystack_eval_ext._parameters import check_choice, check_integer
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import segment
from haystack_eval_ext.answers._sacrebleu import HIGHEST, SacrebleuEvaluator
from haystack_eval_ext.errors import MissingPackageError

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

# Without sacrebleu's "spm" and "flores" tokenizers, which load models from the network.
Tokenize = Literal["auto", "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab"]
Smoothing = Literal["exp", "floor", "add-k", "none"]

_MAX_NGRAM_ORDER = 4


def tokenizer_for(references: Sequence[str]) -> Literal["13a", "char"]:
    """
    Choose sacrebleu's tokenizer for a row.

    ```python
    from haystack_eval_ext.answers.answer_bleu import tokenizer_for

    print(tokenizer_for(["Tokyo Tower", "東京タワー"]), tokenizer_for(["The tower 東京タワー is red"]))
    # char 13a
    ```

    :param references: The references of the row. The answer has no say, so that all answers to a question are scored
        by the same rule.
    :returns: "char" if in one of them at least half of the letters are of scripts without spaces (Japanese, Chinese,
        Thai, ...), else "13a".
    """
    return "char" if any(map(_written_without_spaces, references)) else "13a"


def _written_without_spaces(text: str) -> bool:
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    unspaced = sum(map(_stands_alone, letters))
    return unspaced > 0 and 2 * unspaced >= len(letters)


@lru_cache(maxsize=4096)
def _stands_alone(letter: str) -> bool:
    """Whether two of a letter are two tokens: the script is written without spaces."""
    return len(segment(letter + letter)) > 1


@component
class AnswerBleuEvaluator(SacrebleuEvaluator):
    """
    Scores how many of an answer's word sequences stand in its references, by BLEU. From 0 to 1, higher is better.

    Needs `pip install "haystack-eval-ext[lexical]"`.

    Values are sacrebleu's, divided by 100: sacrebleu counts from 0 to 100. All references of a question are used
    jointly, as BLEU defines it: each word sequence may come from another one. Sequences that are longer than the
    answer are left out (sacrebleu's ``effective_order``), so that an identical answer of two words scores 1. An answer
    that equals a reference scores 1 as well where both are empty; sacrebleu says 0.

    `corpus_score` is BLEU as papers report it: the counts of all answers are summed before they are divided, and one
    brevity penalty is taken. `score` is the mean of the sentence scores, in which a missing sequence of four words is
    smoothed for each answer. The two differ; compare a number only with its own kind.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerBleuEvaluator

    evaluator = AnswerBleuEvaluator()
    result = evaluator.run(
        ground_truth_answers=["The cat sat on the mat", ["Paris", "in Paris"]],
        predicted_answers=["The cat sat on a mat", "Paris"],
    )
    print([round(score, 4) for score in result["individual_scores"]], round(result["corpus_score"], 4))
    # [0.5373, 1.0] 0.5411
    ```
    """

    def __init__(
        self,
        *,
        tokenize: Tokenize = "auto",
        smooth_method: Smoothing = "exp",
        max_ngram_order: int = 4,
        lowercase: bool = False,
        normalization: Normalization = "none",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerBleuEvaluator component.

        :param tokenize: sacrebleu's tokenizer. "auto": its default "13a", but "char" for a question with a reference
            that is mostly of a script without spaces, such as Japanese, Chinese or Thai; the corpus score then sums
            words and characters, and the signature names both. "13a", "intl" (Unicode punctuation), "zh" (Chinese by
            character, the rest by word), "char" and "none" need nothing more; "ja-mecab" needs
            `pip install "sacrebleu[ja]"`, "ko-mecab" `pip install "sacrebleu[ko]"`.
        :param smooth_method: What a sentence gets for an order of which nothing matches: "exp" (half, a quarter, ...
            of a match), "floor" (a tenth of a match), "add-k" (one match and one sequence more in all orders above
            1), or "none" (the score is then 0).
        :param max_ngram_order: Words of the longest sequences, at most 1000.
        :param lowercase: Whether upper and lower case are the same.
        :param normalization: What happens to all texts before: "none" (as sacrebleu), "squad", "unicode",
            or the rule of a benchmark, as for exact match.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If a parameter has the wrong type.
        """
        check_choice("tokenize", tokenize, get_args(Tokenize))
        check_choice("smooth_method", smooth_method, get_args(Smoothing))
        check_integer("max_ngram_order", max_ngram_order, minimum=1, maximum=HIGHEST)
        self.tokenize: Tokenize = tokenize
        self.smooth_method: Smoothing = smooth_method
        self.max_ngram_order = max_ngram_order
        SacrebleuEvaluator.__init__(self, lowercase=lowercase, normalization=normalization, on_undefined=on_undefined)

    def _chooser(self) -> "Callable[[Sequence[str]], BLEU]":
        if self.tokenize != "auto":
            metric = self._metric(self.tokenize)
            return lambda references: metric  # noqa: ARG005 - the same for every row
        metrics = {"13a": self._metric("13a"), "char": self._metric("char")}
        return lambda references: metrics[tokenizer_for(references)]

    def _metric(self, tokenize: str) -> "BLEU":
        try:
            from sacrebleu.metrics.bleu import BLEU
        except ImportError as error:
            msg = (
                "AnswerBleuEvaluator needs sacrebleu, which is not installed: run "
                '`pip install "haystack-eval-ext[lexical]"`.'
            )
            raise MissingPackageError(msg) from error
        try:
            return BLEU(
                lowercase=self.lowercase,
                force=True,  # no warning about texts that end in " ."
                tokenize=tokenize,
                smooth_method=self.smooth_method,
                max_ngram_order=self.max_ngram_order,
                effective_order=True,
            )
        except RuntimeError as error:
            msg = (
                f"The tokenizer {tokenize!r} needs more packages, which are not installed: run "
                f'`pip install "sacrebleu[{tokenize[:2]}]"`.'
            )
            raise MissingPackageError(msg) from error

    def _settings(self) -> dict[str, object]:
        settings = SacrebleuEvaluator._settings(self)
        return settings if self.max_ngram_order == _MAX_NGRAM_ORDER else {"order": self.max_ngram_order, **settings}
