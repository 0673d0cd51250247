# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""chrF and chrF++. Source: Popović, WMT 2015 and WMT 2017; computed by sacrebleu."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from haystack import component

from haystack_eval_ext._normalization import Normalization
from haystack_eval_ext._parameters import check_integer
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.answers._sacrebleu import HIGHEST, SacrebleuEvaluator
from haystack_eval_ext.errors import MissingPackageError

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

_BETA = 2


@component
class AnswerChrfEvaluator(SacrebleuEvaluator):
    """
    Scores how many character sequences an answer shares with its reference, by chrF. From 0 to 1, higher is better.

    Needs `pip install "haystack-eval-ext[lexical]"`.

    It needs no words, so it suits every script, and languages with many word forms. Values are sacrebleu's, divided by
    100: sacrebleu counts from 0 to 100. Of several references the best one counts. An answer that equals a reference
    scores 1 as well where both are empty; sacrebleu says 0.

    `corpus_score` is sacrebleu's corpus score: the counts of all answers (against the best reference each) are summed
    before they are divided, so that long answers weigh more. `score` is the mean of the sentence scores.

    Usage example:
    ```python
    from haystack_eval_ext import AnswerChrfEvaluator

    evaluator = AnswerChrfEvaluator()
    result = evaluator.run(
        ground_truth_answers=["The library opens at nine", ["東京タワー", "東京スカイツリー"]],
        predicted_answers=["The libraries open at nine", "東京タワー"],
    )
    print([round(score, 4) for score in result["individual_scores"]], round(result["corpus_score"], 4))
    # [0.6129, 1.0] 0.6406
    ```
    """

    def __init__(
        self,
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        normalization: Normalization = "none",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerChrfEvaluator component.

        :param char_order: Characters of the longest sequences, at most 1000.
        :param word_order: Words of the longest word sequences that count as well: 0 is chrF, 2 is chrF++. Words are
            what stands between spaces, so it says little for scripts without them. At most 1000.
        :param beta: How many times recall is as important as precision, from 1 to 1000.
        :param lowercase: Whether upper and lower case are the same.
        :param normalization: What happens to all texts before: "none" (as sacrebleu), "squad", "unicode",
            or the rule of a benchmark, as for exact match.
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If a parameter has the wrong type.
        """
        check_integer("char_order", char_order, minimum=1, maximum=HIGHEST)
        check_integer("word_order", word_order, minimum=0, maximum=HIGHEST)
        check_integer("beta", beta, minimum=1, maximum=HIGHEST)
        self.char_order = char_order
        self.word_order = word_order
        self.beta = beta
        SacrebleuEvaluator.__init__(self, lowercase=lowercase, normalization=normalization, on_undefined=on_undefined)

    def _chooser(self) -> "Callable[[Sequence[str]], CHRF]":
        try:
            from sacrebleu.metrics.chrf import CHRF
        except ImportError as error:
            msg = (
                "AnswerChrfEvaluator needs sacrebleu, which is not installed: run "
                '`pip install "haystack-eval-ext[lexical]"`.'
            )
            raise MissingPackageError(msg) from error
        metric = CHRF(char_order=self.char_order, word_order=self.word_order, beta=self.beta, lowercase=self.lowercase)
        return lambda references: metric  # noqa: ARG005 - the same for every row

    def _settings(self) -> dict[str, object]:
        settings = SacrebleuEvaluator._settings(self)
        return settings if self.beta == _BETA else {"beta": self.beta, **settings}
