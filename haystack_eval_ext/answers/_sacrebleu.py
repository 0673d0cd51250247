# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What BLEU and chrF share: sentence scores, the corpus score and the signature, each text counted once."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from haystack import component

from haystack_eval_ext._normalization import Normalization, make_normalizer
from haystack_eval_ext._parameters import PlainParameters, check_flag
from haystack_eval_ext._rows import answer_rows
from haystack_eval_ext._scores import OnUndefined, check_on_undefined, finish_rows
from haystack_eval_ext.answers._base import Answers, References, without_reference

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

#: The largest order or weight that is taken. No text needs more, and sacrebleu counts through each order of each row.
HIGHEST = 1000


class CorpusScores(NamedTuple):
    """Scores from 0 to 1: one per row (NaN without references), and one of all rows with references together."""

    sentences: list[float]
    corpus: float
    signature: str


def score_corpus(
    predictions: list[str],
    references: Sequence[Sequence[str]],
    choose: "Callable[[Sequence[str]], Metric]",
    settings: dict[str, object],
) -> CorpusScores:
    """
    Score answers one by one and all together.

    sacrebleu's ``sentence_score`` and ``corpus_score`` would count each text twice. Both are the same two steps, which
    every sacrebleu metric has had since 2.0: statistics of a row, and a score of a sum of statistics.

    :param predictions: The answers.
    :param references: The references of each answer.
    :param choose: Gives the sacrebleu metric for the references of a row. All of them count the same statistics.
    :param settings: What the signature says besides sacrebleu's own words.
    :returns: sacrebleu's scores divided by 100. An answer that equals a reference scores 1 even where sacrebleu finds
        nothing to count in it.
    """
    values: list[float] = []
    statistics: list[list[Any]] = []
    metrics: dict[int, Metric] = {}
    for prediction, row in zip(predictions, references, strict=True):
        if not row:
            values.append(math.nan)
            continue
        metric = choose(row)
        metrics[id(metric)] = metric
        counts = metric._extract_corpus_statistics([prediction], [[reference] for reference in row])
        statistics += counts
        # sacrebleu's 100 may be 100.00000000000004.
        value = min(metric._aggregate_and_compute(counts).score / 100, 1.0)
        values.append(1.0 if not value and prediction in row else value)
    used = list(metrics.values()) or [choose([])]
    corpus = min(used[0]._aggregate_and_compute(statistics).score / 100, 1.0) if statistics else math.nan
    return CorpusScores(values, corpus, _signature(used, {len(row) for row in references if row}, settings))


def _signature(metrics: "list[Metric]", counts: set[int], settings: dict[str, object]) -> str:
    """Sacrebleu's signature; where two tokenizers were used, it names both."""
    signatures = []
    for metric in metrics:
        # -1 is sacrebleu's word for a number that varies. A metric itself remembers that of its last row only.
        metric.num_refs = -1 if len(counts) > 1 else next(iter(counts), 0)
        signatures.append(metric.get_signature())
    merged = signatures[0]
    for key in list(merged.info):
        said = {signature.info[key] for signature in signatures}
        if len(said) > 1:
            merged.update(key, "+".join(sorted(said)))
    for key, value in settings.items():
        merged.update(key, value)
    return str(merged)


class SacrebleuEvaluator(PlainParameters):
    """
    The sockets of an evaluator that scores rows and corpus by sacrebleu; a metric adds :meth:`_chooser`.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    # Since 2 a row without a reference is not run.
    _rule_version = 2

    def __init__(self, *, lowercase: bool, normalization: Normalization, on_undefined: OnUndefined) -> None:
        """
        Create the component.

        :param lowercase: Whether upper and lower case are the same.
        :param normalization: What happens to all texts before: "none", "squad" or "unicode".
        :param on_undefined: "zero", "nan" or "raise": kept for old pipelines; no score of this metric is undefined.
            A question without a reference is "not_run" and left out of the mean, whatever is set here.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If a parameter has the wrong type.
        """
        check_flag("lowercase", lowercase)
        check_on_undefined(on_undefined)
        self._normalize = make_normalizer(normalization)
        self.lowercase = lowercase
        self.normalization: Normalization = normalization
        self.on_undefined: OnUndefined = on_undefined

    def _chooser(self) -> "Callable[[Sequence[str]], Metric]":
        """A function, new for each run, that gives the sacrebleu metric for the references of a row."""
        raise NotImplementedError

    def _settings(self) -> dict[str, object]:
        """The settings that sacrebleu's signature does not tell, where they are not the default."""
        return {} if self.normalization == "none" else {"normalization": self.normalization}

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        corpus_score=float,
        signature=str,
    )
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, which are used as
            sacrebleu does.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: sacrebleu's sentence score of each question, in the order given, from 0 to 1;
            - `statuses`: "scored", or "not_run" without a reference, for each question;
            - `errors`: why a question has no score, else None;
            - `corpus_score`: sacrebleu's corpus score of all questions with references, from 0 to 1: a long answer
              weighs more in it than a short one, so it is not the mean. NaN if no question has references;
            - `signature`: sacrebleu's signature, which says how the scores were made.
        :raises ValueError: If there are no rows, the inputs differ in length, or a message is no answer.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises ImportError: If sacrebleu, or what a tokenizer of it needs, is not installed.
        """
        self._follow()
        references, predictions = answer_rows(ground_truth_answers, predicted_answers)
        if self.normalization != "none":
            predictions = [self._normalize(prediction) for prediction in predictions]
            references = [[self._normalize(reference) for reference in row] for row in references]
        scores = score_corpus(predictions, references, self._chooser(), self._settings())
        rows = finish_rows(
            np.array(scores.sentences, dtype=np.float64),
            self.on_undefined,
            metric=type(self).__name__,
            reason="nothing to compare",
            not_run=without_reference(references),
        )
        return {**rows._asdict(), "corpus_score": scores.corpus, "signature": scores.signature}
