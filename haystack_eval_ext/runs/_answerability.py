# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions that the corpus answers and those that it does not, apart: what is right differs between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._scores import mean_of_numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from haystack_eval_ext.runs.evaluation import MetricScores


def answerability(
    ids: list[str],
    unanswerable: Collection[str],
    metrics: Mapping[str, MetricScores],
    diagnoses: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """
    Sum up the two kinds of questions.

    :param ids: The ids of the questions.
    :param unanswerable: Those of them that nothing answers.
    :param metrics: The metrics, question by question.
    :param diagnoses: By component the labels of the questions.
    :returns: For "answerable" and "unanswerable" the number of `questions`, by metric the mean of their `scores` (NaN
        where none has one), and by diagnosing component how many of them have each of its `labels`. Nothing if all
        questions can be answered.
    """
    if not unanswerable:
        return {}
    found = {}
    for kind, chosen in (
        ("answerable", [place for place, row in enumerate(ids) if row not in unanswerable]),
        ("unanswerable", [place for place, row in enumerate(ids) if row in unanswerable]),
    ):
        labels = {
            name: dict(Counter(told["labels"][ids[place]] for place in chosen if ids[place] in told["labels"]))
            for name, told in diagnoses.items()
        }
        scores = {
            name: mean_of_numbers(metric.individual_scores[place] for place in chosen)
            for name, metric in metrics.items()
        }
        found[kind] = {"questions": len(chosen), "scores": scores, "labels": labels}
    return found
