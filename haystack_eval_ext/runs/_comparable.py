# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Two kept runs as a comparison takes them: what only looks different in their records is made equal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from haystack_eval_ext.runs._metric_info import default_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack_eval_ext.runs._metric_info import MetricInfo
    from haystack_eval_ext.runs._scored import ScoredRun
    from haystack_eval_ext.runs.run import EvaluationRun


def comparable(before: EvaluationRun, after: EvaluationRun) -> tuple[ScoredRun, ScoredRun]:
    """
    Give what a comparison needs of two runs.

    A judge whose replies name no model counts as the one of the other run if the same was asked for. A parameter that
    an older version did not have counts as its default, if the other run has that.

    :param before: The base run.
    :param after: The new run.
    :returns: Both, under names that tell them apart.
    """
    one, two = before.scored(), after.scored()
    if one.name == two.name:
        one, two = replace(one, name=f"{one.name} (base)"), replace(two, name=f"{two.name} (new)")
    infos = {
        name: (metric.info, after.metrics[name].info)
        for name, metric in before.metrics.items()
        if name in after.metrics
    }
    judges = {name: judge for name, pair in infos.items() if (judge := _same_judge(*pair))}
    return (
        _made_by(one, judges, {name: _added(mine, other) for name, (mine, other) in infos.items()}),
        _made_by(two, judges, {name: _added(mine, other) for name, (other, mine) in infos.items()}),
    )


def notes_on(before: EvaluationRun, after: EvaluationRun) -> list[str]:
    """
    Say what a reader of a comparison must know of the runs.

    :param before: The base run.
    :param after: The new run.
    :returns: Versions that differ, and runs with several answers to each question.
    """
    notes = []
    made = [run.manifest.get("versions") or {} for run in (before, after)]
    for package in ("haystack-eval-ext", "haystack-ai"):
        versions = [str(each.get(package)) for each in made]
        if versions[0] != versions[1]:
            notes.append(f"The runs were made with {package} {versions[0]} and {versions[1]}.")
    for run in (before, after):
        if run.repeats > 1:
            notes.append(f"'{run.name}' has {run.repeats} answers to each question, averaged within the question.")
    return notes


def _same_judge(mine: MetricInfo, other: MetricInfo) -> str | None:
    """The name to call both judges by, if one of them is known by the model that was asked for alone."""
    one, two = mine.judge, other.judge
    if one is None or two is None or (one.models and two.models):
        return None
    # No reply came (an outage), or all came from a cache.
    if (one.generator, one.model) != (two.generator, two.model):
        return None
    return (one if one.models else two).name


def _added(mine: MetricInfo, other: MetricInfo) -> dict[str, object]:
    """The parameters that one lacks, where the other has the present default; its range, where both declare another."""
    if mine.type != other.type:
        return {}
    added = {
        name: value
        for name, value in other.parameters.items()
        if name not in mine.parameters and default_of(mine.type, name) == [value]
    }
    # Scores on two scales have no difference; an earlier version knew no range.
    if mine.score_range and other.score_range and mine.score_range != other.score_range:
        added["score_range"] = list(mine.score_range)
    return added


def _made_by(run: ScoredRun, judges: Mapping[str, str], defaults: Mapping[str, Mapping[str, object]]) -> ScoredRun:
    return replace(
        run,
        metrics={
            name: replace(
                metric,
                judge=judges.get(name, metric.judge),
                parameters={**metric.parameters, **defaults.get(name, {})},
            )
            for name, metric in run.metrics.items()
        },
    )
