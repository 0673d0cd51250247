# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Which stage of a RAG pipeline failed. Source: the rules in docs/diagnosis.md; stages as in Barnett et al., Seven Failure
Points When Engineering a Retrieval Augmented Generation System, CAIN 2024.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import compress
from typing import Any

from haystack import component, logging
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from haystack_eval_ext._parameters import PlainParameters
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import Gaps, in_a_run, mean_of_numbers, report_rows
from haystack_eval_ext._serialization import parameters_to_dict
from haystack_eval_ext.diagnosis._inputs import Entry, declining_rows, flag_rows, score_columns
from haystack_eval_ext.diagnosis._rules import LABELS, PASSED, STAGES, Diagnosis, diagnose
from haystack_eval_ext.diagnosis._spread import undecided
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

logger = logging.getLogger(__name__)

#: One answer per question.
Answers = list[str] | list[ChatMessage] | list[GeneratedAnswer] | ChatMessage | str

#: By stage the scores whose mean stands for it, the first that was given.
_MEAN_OF = {
    "retrieval": ("retrieval",),
    "ranking": ("ranking", "retrieval_at_cut"),
    "generation": ("answer", "faithfulness", "refusal"),
}


@component
class RAGFailureClassifier(PlainParameters):
    """
    Scores whether a question passed all stages, and names the stage that failed. From 0 to 1, higher is better.

    Takes the individual scores of a retrieval metric and, as far as there are any, of a ranking metric, an answer
    metric, faithfulness and refusal. The first of these that holds is the label of a question:

    - `unknown`: a score is undefined or failed;
    - `routing_failure`: the pipeline answered without retrieval, and the answer is wrong or declines;
    - `retrieval_failure_lucky`, `retrieval_failure_incomplete`: the evidence was not retrieved, nothing of it or a part
      only, and the answer is right; `both_failed`: it is wrong; `retrieval_failure`: there are no answer scores;
    - `ranking_failure`: the evidence was retrieved, but did not reach the generator; where no
      `retrieval_at_cut_scores` tell what did, it stands too far down;
    - `generation_failure_evasive`: the answer declines, though the evidence was there;
    - `generation_failure_unfaithful`: it says what the documents do not say, right or not;
    - `generation_failure_wrong`: it is wrong;
    - `passed`.

    A question that the corpus does not answer (`answerable` is False) has two labels of its own, whatever the other
    scores say: `correct_refusal`, the answer declines, which passes; `generation_failure_invented`, it does not. It
    takes `refusal_scores` to tell them apart. Without them `predicted_answers` show the plain cases: an empty answer
    declines, and so does a short one with one of the usual phrases, such as "I don't know", unless it is right.

    Usage example:
    ```python
    from haystack_eval_ext import RAGFailureClassifier

    classifier = RAGFailureClassifier()
    result = classifier.run(retrieval_scores=[0.0, 1.0, 1.0], answer_scores=[1.0, 0.0, 1.0])
    print(result["labels"])
    # ['retrieval_failure_lucky', 'generation_failure_wrong', 'passed']
    print(result["reasons"][0])
    # retrieval 0 is below 1; the answer is right by luck: answer 1 reaches 0.5
    ```
    """

    # Since 2 unanswerable questions have classes of their own; since 3 evidence that reached the generator is no
    # ranking failure, a part of it is no luck, and plain refusals are seen without a judge; since 4 these
    # speak of the documents.
    _rule_version = 4

    def __init__(
        self,
        *,
        retrieval_threshold: float = 1.0,
        ranking_threshold: float = 0.5,
        answer_threshold: float = 0.5,
        faithfulness_threshold: float = 1.0,
        refusal_threshold: float = 0.5,
    ) -> None:
        """
        Create a RAGFailureClassifier component.

        Each threshold is above 0 and at most 1; a score that equals it reaches it.

        :param retrieval_threshold: Lowest retrieval score that means the evidence was there, within the cut as well.
            1: with recall, all of it; where one document is enough, give the scores of a hit rate.
        :param ranking_threshold: Lowest ranking score that is good enough; with MRR, 0.5 is rank 2.
        :param answer_threshold: Lowest answer score that means the answer is right.
        :param faithfulness_threshold: Lowest faithfulness that is good enough. 1: every statement is supported.
        :param refusal_threshold: Lowest refusal score that means the answer declines.
        :raises TypeError: If a threshold is no number.
        :raises ValueError: If a threshold is not above 0 and at most 1.
        """
        self.retrieval_threshold = _threshold("retrieval_threshold", retrieval_threshold)
        self.ranking_threshold = _threshold("ranking_threshold", ranking_threshold)
        self.answer_threshold = _threshold("answer_threshold", answer_threshold)
        self.faithfulness_threshold = _threshold("faithfulness_threshold", faithfulness_threshold)
        self.refusal_threshold = _threshold("refusal_threshold", refusal_threshold)

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component.

        :returns: Haystack's dictionary form.
        """
        return parameters_to_dict(self)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        labels=list[str],
        counts=dict[str, int],
        stages=list[dict[str, Any]],
        reasons=list[str],
        errors=list[str | None],
        warnings=list[str],
    )
    def run(
        self,
        retrieval_scores: list[float],
        retrieval_at_cut_scores: list[float] | None = None,
        ranking_scores: list[float] | None = None,
        answer_scores: list[float] | None = None,
        faithfulness_scores: list[float] | None = None,
        refusal_scores: list[float] | None = None,
        retrieval_statuses: list[str] | None = None,
        retrieval_at_cut_statuses: list[str] | None = None,
        ranking_statuses: list[str] | None = None,
        answer_statuses: list[str] | None = None,
        faithfulness_statuses: list[str] | None = None,
        refusal_statuses: list[str] | None = None,
        answerable: list[bool] | None = None,
        predicted_answers: Answers | None = None,
        retrieval_skipped: list[bool] | None = None,
    ) -> dict[str, Any]:
        """
        Diagnose each question.

        All scores have one entry per question, in the same order; higher is better but for refusal, and 1 is the best.
        NaN and None mean that there is none. The statuses are those beside the scores: connect them, or an undefined
        question that a metric counts as 0 is taken for a failure.

        :param retrieval_scores: Was the evidence retrieved at all? Recall or hit rate of everything retrieved.
        :param retrieval_at_cut_scores: The same metric, of only those documents that reach the generator.
        :param ranking_scores: Does the evidence stand at the top? MRR, nDCG or context precision.
        :param answer_scores: Is the answer right? Exact match, F1 or answer correctness.
        :param faithfulness_scores: Do the documents say what the answer says?
        :param refusal_scores: Does the answer decline? 1 if it does.
        :param retrieval_statuses: Statuses of `retrieval_scores`.
        :param retrieval_at_cut_statuses: Statuses of `retrieval_at_cut_scores`.
        :param ranking_statuses: Statuses of `ranking_scores`.
        :param answer_statuses: Statuses of `answer_scores`.
        :param faithfulness_statuses: Statuses of `faithfulness_scores`.
        :param refusal_statuses: Statuses of `refusal_scores`.
        :param answerable: Whether the corpus answers each question; None: it does.
        :param predicted_answers: The answers, of which only one thing is looked at: whether they plainly decline.
        :param retrieval_skipped: Whether the pipeline answered each question without retrieving; None: it did not.
        :returns: A dictionary with
            - `score`: the share of the questions that passed, of those with a diagnosis;
            - `individual_scores`: 1 for each question that passed or was rightly declined, 0 for one that failed, NaN
              for `unknown`;
            - `statuses`: "scored" for each question with a diagnosis, else why there is none;
            - `labels`: what happened, for each question;
            - `counts`: how many questions have each label;
            - `stages`: for each "stage" (retrieval, ranking, generation, and routing if retrieval was skipped) how many
              questions "failed" there first, their "share" of those with a diagnosis, and the "mean_score" of the input
              that "mean_of" names, over its numbers, without the questions that nothing answers; NaN and None for a
              stage that no input measures;
            - `reasons`: one line for each question: the scores and thresholds that decided;
            - `errors`: the reason of each `unknown`, None for the others;
            - `warnings`: thresholds left at their default that cut through the middle of the scores.
        :raises ValueError: If there are no rows, the inputs differ in length, a score is out of range, a status is
            unknown or has no scores beside it.
        :raises TypeError: If something is not a list, a number or a text; the message names input and row.
        """
        self._follow()
        scores = {
            "retrieval": retrieval_scores,
            "retrieval_at_cut": retrieval_at_cut_scores,
            "ranking": ranking_scores,
            "answer": answer_scores,
            "faithfulness": faithfulness_scores,
            "refusal": refusal_scores,
        }
        statuses = {
            "retrieval": retrieval_statuses,
            "retrieval_at_cut": retrieval_at_cut_statuses,
            "ranking": ranking_statuses,
            "answer": answer_statuses,
            "faithfulness": faithfulness_statuses,
            "refusal": refusal_statuses,
        }
        columns = score_columns(scores, statuses)
        total = len(columns["retrieval"])
        can_be = flag_rows("answerable", answerable, total, unset=True)
        skipped = flag_rows("retrieval_skipped", retrieval_skipped, total, unset=False)
        declining = declining_rows(predicted_answers, total)
        thresholds = self._thresholds()
        rows = [dict(zip(columns, entries, strict=True)) for entries in zip(*columns.values(), strict=True)]
        diagnoses = [
            diagnose(row, thresholds, answerable=can_be[number], skipped=skipped[number], declines=declining[number])
            for number, row in enumerate(rows)
        ]
        labels: list[str] = [diagnosis.label for diagnosis in diagnoses]
        _report_unknown(diagnoses)
        passed = [math.nan if label == "unknown" else float(label in PASSED) for label in labels]
        found = Counter(labels)
        retrieved = [flag and not around for flag, around in zip(can_be, skipped, strict=True)]
        measured = {
            name: list(compress(column, can_be if name in ("answer", "refusal") else retrieved))
            for name, column in columns.items()
        }
        warnings = undecided(measured, self._unchosen(columns))
        for told in warnings if not in_a_run() else ():
            logger.warning("RAGFailureClassifier: {told}", told=told)
        return {
            "score": mean_of_numbers(passed),
            "individual_scores": passed,
            "statuses": [diagnosis.status for diagnosis in diagnoses],
            "labels": labels,
            "counts": {label: found[label] for label in LABELS},
            "stages": _stages(found, measured, skipped=any(skipped)),
            "reasons": [diagnosis.reason for diagnosis in diagnoses],
            "errors": [diagnosis.reason if diagnosis.label == "unknown" else None for diagnosis in diagnoses],
            "warnings": warnings,
        }

    def _thresholds(self) -> dict[str, float]:
        return {
            "retrieval": self.retrieval_threshold,
            "retrieval_at_cut": self.retrieval_threshold,
            "ranking": self.ranking_threshold,
            "answer": self.answer_threshold,
            "faithfulness": self.faithfulness_threshold,
            "refusal": self.refusal_threshold,
        }

    def _unchosen(self, columns: Mapping[str, Any]) -> dict[str, float]:
        """The thresholds that are left at their defaults, and that decide something."""
        unused = {"ranking"} if "retrieval_at_cut" in columns else set()
        defaults = RAGFailureClassifier()._thresholds()
        return {
            name: value for name, value in self._thresholds().items() if value == defaults[name] and name not in unused
        }


def _threshold(name: str, value: float) -> float:
    if type(value) not in (int, float):
        msg = f"{name} must be a number above 0 and at most 1, but is {describe(value)}."
        raise InvalidTypeError(msg)
    if not 0 < value <= 1:
        msg = f"{name} must be above 0 and at most 1, but is {value!r}."
        raise InvalidValueError(msg)
    return value


def _stages(found: Counter[str], columns: dict[str, list[Entry]], *, skipped: bool) -> list[dict[str, Any]]:
    diagnosed = found.total() - found["unknown"]
    table = []
    for stage, labels in STAGES.items():
        if stage == "routing" and not skipped:
            continue
        failed = sum(found[label] for label in labels)
        name = next((name for name in _MEAN_OF.get(stage, ()) if name in columns), None)
        numbers = [entry for entry in columns[name] if not isinstance(entry, str)] if name else []
        table.append(
            {
                "stage": stage,
                "failed": failed,
                "share": failed / diagnosed if (name or stage == "routing") and diagnosed else math.nan,
                "mean_score": mean_of_numbers(numbers),
                "mean_of": f"{name}_scores" if name else None,
            }
        )
    return table


def _report_unknown(diagnoses: list[Diagnosis]) -> None:
    gaps = Gaps.of((row, diagnosis.status, diagnosis.reason) for row, diagnosis in enumerate(diagnoses))
    report_rows(len(diagnoses), None, gaps, metric="RAGFailureClassifier")
