# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Stored outputs scored again: one run by another pipeline, or two runs by the one that the newer was scored with."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from haystack_eval_ext.errors import ComparisonError, EvaluationError, PipelineFileError
from haystack_eval_ext.runs._evaluators import opened
from haystack_eval_ext.runs._loading import load_pipeline
from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import Evaluation, check_outputs, evaluate_pipeline
from haystack_eval_ext.runs.judging import JudgeSettings, prepare_judges
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.records import RUN_STATUS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from haystack import Pipeline

    from haystack_eval_ext.runs.run import EvaluationRun


def evaluate_again(
    pipeline: Pipeline,
    source: EvaluationRun,
    mapping: Mapping[str, str] | None,
    name: str,
    lower_is_better: Collection[str],
) -> EvaluationRun:
    """
    Score the stored outputs of a run.

    :param pipeline: The evaluation pipeline.
    :param source: The run, with its texts.
    :param mapping: Columns by "component.socket".
    :param name: What reports call the new run.
    :param lower_is_better: Metrics of which a higher score is worse.
    :returns: The run with the new scores, and what is known of the RAG pipeline from the old one.
    :raises EvaluationError: If the texts were not kept, every question failed, or the pipeline cannot score it.
    """
    evaluations: list[Evaluation | None] = [
        evaluate_pipeline(pipeline, answered, mapping) if len(answered) else None for answered in _answered(source)
    ]
    labels = source.dataset()
    run = make_run(
        evaluations,
        labels,
        pipeline,
        name=name,
        records=source.rows if any("status" in row for row in source.rows) else None,
        lower_is_better=lower_is_better,
    )
    kept = source.manifest["settings"] | {"scored_again": source.name}
    pipelines = {**source.manifest.get("pipelines", {}), "evaluation": run.manifest["pipelines"]["evaluation"]}
    corpus = source.manifest.get("corpus") or {}
    return replace(run, manifest={**run.manifest, "settings": kept, "pipelines": pipelines, "corpus": corpus})


def pipeline_of(base: EvaluationRun, new: EvaluationRun, mapping: Mapping[str, str] | None) -> Pipeline:
    """
    Load the evaluation pipeline that two runs are to be scored with anew, and check that it can score both.

    :param base: The run to compare with.
    :param new: The run whose pipeline is used.
    :param mapping: Columns by "component.socket".
    :returns: The pipeline.
    :raises ComparisonError: If a run has no texts, or the pipeline cannot be loaded.
    :raises EvaluationError: If it cannot score them.
    """
    for run in (base, new):
        if not run.has_texts:
            msg = (
                f"To judge anew, both runs need their texts, but '{run.name}' was kept without them (a baseline never "
                "has any). Name the folders of two runs that were kept with texts."
            )
            raise ComparisonError(msg)
    text = (new.manifest.get("pipelines") or {}).get("evaluation")
    if not isinstance(text, str):
        msg = (
            f"'{new.name}' does not hold its evaluation pipeline as YAML (a component of it cannot be written down). "
            "Score both runs again with one pipeline, and compare these."
        )
        raise ComparisonError(msg)
    try:
        pipeline = load_pipeline(text, f"the evaluation pipeline of '{new.name}'")
    except PipelineFileError as error:
        raise ComparisonError(str(error)) from error
    for run in (base, new):
        for answered in _answered(run):
            if len(answered):
                check_outputs(pipeline, answered, mapping)
    return pipeline


def rejudged(
    pipeline: Pipeline,
    base: EvaluationRun,
    new: EvaluationRun,
    judge: JudgeSettings | None,
    mapping: Mapping[str, str] | None,
) -> tuple[EvaluationRun, EvaluationRun]:
    """
    Score two runs anew with one evaluation pipeline.

    :param pipeline: The pipeline, as `pipeline_of` gives it.
    :param base: The run to compare with.
    :param new: The run in question.
    :param judge: Settings of its judges.
    :param mapping: Columns by "component.socket".
    :returns: Both with new scores, under their names.
    :raises EvaluationError: If the pipeline cannot score them.
    """
    lower = {name for run in (base, new) for name, metric in run.metrics.items() if metric.info.lower_is_better}
    settings = judge or JudgeSettings()
    with opened(pipeline, settings, progress=settings.progress_bar):
        prepare_judges(pipeline)
        one, two = (evaluate_again(pipeline, run, mapping, run.name, ()) for run in (base, new))
    return _with_direction(one, lower), _with_direction(two, lower)


def metrics_anew(new: EvaluationRun) -> list[str]:
    """
    Name the metrics that two runs have once they are scored anew.

    :param new: The run whose pipeline is used.
    :returns: Its metrics but those of single stages, which are not scored anew.
    """
    return [name for name in new.metrics if "/" not in name]


def without_scores(run: ScoredRun, metrics: Collection[str]) -> ScoredRun:
    """
    Give a run as it is known before it is scored.

    :param run: The run.
    :param metrics: The metrics that it will have.
    :returns: The run with these, no row of which has a score yet.
    """
    rows = len(run.ids)
    return replace(run, metrics={name: MetricRows([math.nan] * rows, ["not_run"] * rows) for name in metrics})


def _answered(source: EvaluationRun) -> list[Dataset]:
    """The questions with an answer, for each repeat."""
    stored = [source.dataset(repeat) for repeat in range(source.repeats)]
    answered = [Dataset(each.path, [row for row in each.rows if row.get(RUN_STATUS) != "error"]) for each in stored]
    if not any(map(len, answered)):
        msg = f"Every question of '{source.name}' failed: there is nothing to score."
        raise EvaluationError(msg)
    return answered


def _with_direction(run: EvaluationRun, lower: Collection[str]) -> EvaluationRun:
    """What the user said of a metric's direction when the first scores were made."""
    metrics = {
        name: replace(metric, info=replace(metric.info, lower_is_better=metric.info.lower_is_better or name in lower))
        for name, metric in run.metrics.items()
    }
    return replace(run, metrics=metrics)
