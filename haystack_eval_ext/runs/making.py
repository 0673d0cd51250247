# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From an evaluation to a run that can be kept: every row has a status, every number says how it was made."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs._answerability import answerability
from haystack_eval_ext.runs._faults import stores
from haystack_eval_ext.runs._fingerprints import canonical
from haystack_eval_ext.runs._means import is_within
from haystack_eval_ext.runs._metric_info import declared_range, metric_info
from haystack_eval_ext.runs._pipeline_text import kept_yaml, pipeline_yaml
from haystack_eval_ext.runs._plain import plain
from haystack_eval_ext.runs._run_files import FORMAT, RUN_KIND, RunMetric
from haystack_eval_ext.runs._run_rows import run_error, run_rows
from haystack_eval_ext.runs._usage import rag_usage
from haystack_eval_ext.runs._versions import versions
from haystack_eval_ext.runs.evaluation import Evaluation, MetricScores
from haystack_eval_ext.runs.run import EvaluationRun

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from haystack_eval_ext.runs._run_rows import Row
    from haystack_eval_ext.runs.dataset import Dataset

_UNKNOWN = "unknown"


def make_run(
    evaluation: Evaluation | Sequence[Evaluation | None],
    dataset: Dataset,
    pipeline: Pipeline,
    *,
    name: str,
    records: Sequence[Mapping[str, Any]] | None = None,
    stages: Mapping[str, Evaluation | Sequence[Evaluation | None]] | None = None,
    rag: Pipeline | str | None = None,
    rag_name: str | None = None,
    index: str | None = None,
    corpus: Mapping[str, Any] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    lower_is_better: Collection[str] = (),
    warnings: Iterable[str] = (),
) -> EvaluationRun:
    """
    Make a run of what an evaluation gave.

    A question whose record failed has the status "error" in every metric: its empty answer says nothing. Rows that an
    evaluation leaves out have the status "not_run".

    ```python
    from haystack import Document
    from haystack_eval_ext.runs.making import make_run
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.evaluation import evaluate_pipeline, single_evaluator

    row = {"id": "q1", "documents": [Document(id="b"), Document(id="a")], "relevant_documents": [Document(id="a")]}
    data, pipeline = Dataset("rows", [row]), single_evaluator(["RR"], ["id"])
    run = make_run(evaluate_pipeline(pipeline, data), data, pipeline, name="first")
    print(run.scores, run.metrics["ranking.RR"].info.parameters["document_comparison_field"])
    # {'ranking.RR': 0.5} id
    ```

    :param evaluation: What the evaluation pipeline gave; for several answers to each question one for each repeat, None
        where every question of a repeat failed.
    :param dataset: The questions and labels, with the outputs if there are no records.
    :param pipeline: The evaluation pipeline.
    :param name: What reports call the run.
    :param records: What the RAG pipeline did, as the harness gives it.
    :param stages: By stage of retrieval the scores of its ranking, from the same evaluation pipeline: metrics named
        "stage/metric".
    :param rag: The RAG pipeline, or its YAML.
    :param rag_name: Its file, or "module:name".
    :param index: YAML of the pipeline that filled its store.
    :param corpus: What it searched: numbers and fingerprints.
    :param sample: How many questions were drawn, if not all.
    :param seed: What drew them.
    :param settings: What else was set that decides the answers.
    :param lower_is_better: Metrics of which a higher score is worse, beside those whose class says so.
    :param warnings: What a reader of the scores must know.
    :returns: The run.
    :raises EvaluationError: If the evaluations do not belong to the rows, or a score is infinite.
    """
    found = run_rows(dataset, records)
    repeats = 1 + max((row["repeat"] for row in found.rows), default=0)
    by_metric: dict[str, RunMetric] = {}
    for stage, given in {"": evaluation, **(stages or {})}.items():
        evaluations = _one_a_repeat(given, repeats, stage)
        for label in _metric_names(evaluations):
            by_metric[f"{stage}/{label}" if stage else label] = _metric(
                label, evaluations, found.rows, pipeline, of_stage=bool(stage)
            )
    if not by_metric:
        msg = "The evaluation has no metrics: every question failed, or nothing was scored."
        raise EvaluationError(msg)
    unknown = [metric for metric in lower_is_better if metric not in by_metric]
    if unknown:
        msg = f"lower_is_better must name metrics of the run ({', '.join(by_metric)}), but '{unknown[0]}' is none."
        raise EvaluationError(msg)
    for metric in lower_is_better:
        info = replace(by_metric[metric].info, lower_is_better=True)
        by_metric[metric] = replace(by_metric[metric], info=info)
    whole = [each for each in _as_list(evaluation) if each is not None]
    manifest = {
        "kind": RUN_KIND,
        "format": FORMAT,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "texts": True,
        "data": found.data,
        "settings": {"repeats": repeats, "sample": sample, "seed": seed, **plain(settings or {})},
        "versions": versions(),
        "pipelines": {
            "evaluation": pipeline_yaml(pipeline),
            "rag": pipeline_yaml(rag) if isinstance(rag, Pipeline) else None if rag is None else kept_yaml(rag),
            "rag_name": rag_name,
            "index": None if index is None else kept_yaml(index),
        },
        "corpus": plain(corpus or {}),
        "metrics": {},
        "usage": plain(_sum([each.usage for each in whole])),
        "rag_usage": None if records is None else rag_usage(found.rows),
        "diagnoses": plain(_diagnoses(_as_list(evaluation), found.rows)),
        "unanswerable": list(dict.fromkeys(row for each in whole for row in each.unanswerable)),
        "never_retrieved": plain(_never_retrieved(whole)),
        "warnings": list(dict.fromkeys([*warnings, *(told for each in whole for told in each.warnings)])),
    }
    run = EvaluationRun(manifest, found.rows, by_metric)
    if repeats > 1:
        manifest["spread"] = plain(run.spread())
    unanswerable = {row["id"] for row in found.rows if row.get("answerable") is False}
    manifest["answerability"] = plain(answerability(run.ids, unanswerable, run.questions, manifest["diagnoses"]))
    # Readers of the file see the means; whoever loads it forms them anew from the rows.
    manifest["metrics"] = {
        label: {**metric.info.to_dict(), "score": plain(run.scores[label])} for label, metric in by_metric.items()
    }
    return run


def no_scores(metric: str, rows: int) -> MetricScores:
    """
    Give the scores of a metric that was not run.

    :param metric: Its name.
    :param rows: How many rows there are.
    :returns: No score for any.
    """
    return MetricScores(metric, math.nan, [math.nan] * rows, ["not_run"] * rows)


def _diagnoses(evaluations: Sequence[Evaluation | None], rows: list[Row]) -> dict[str, dict[str, Any]]:
    """What is said of the first answer to each question; of one that failed only that."""
    repeat, first = next(((number, each) for number, each in enumerate(evaluations) if each is not None), (0, None))
    if first is None:
        return {}
    failed = {
        row["id"]: reason for row in rows if row["repeat"] == repeat and (reason := run_error(row, message=False))
    }
    found = {}
    for name, given in first.diagnoses.items():
        labels, reasons = dict(given["labels"]), dict(given["reasons"])
        counts = dict(given["counts"])
        for row_id, reason in failed.items():
            if row_id in labels:
                counts[labels[row_id]] = counts.get(labels[row_id], 0) - 1
            counts[_UNKNOWN] = counts.get(_UNKNOWN, 0) + 1
            labels[row_id], reasons[row_id] = _UNKNOWN, f"no diagnosis: {reason}"
        order = [row["id"] for row in rows if row["repeat"] == repeat and row["id"] in labels]
        found[name] = {
            **given,
            "counts": counts,
            "labels": {row_id: labels[row_id] for row_id in order},
            "reasons": {row_id: reasons[row_id] for row_id in order},
        }
    return found


def _never_retrieved(evaluations: Sequence[Evaluation]) -> dict[str, list[Any]]:
    """What no repeat retrieved."""
    found: dict[str, list[Any]] = {}
    for name in dict.fromkeys(name for each in evaluations for name in each.never_retrieved):
        first, *others = [each.never_retrieved.get(name, []) for each in evaluations]
        known = [set(map(canonical, other)) for other in others]
        kept = [label for label in first if all(canonical(label) in other for other in known)]
        if kept:
            found[name] = kept
    return found


def _metric(
    label: str, evaluations: list[Evaluation | None], rows: list[Row], pipeline: Pipeline, *, of_stage: bool
) -> RunMetric:
    component = label.partition(".")[0]
    cells: dict[tuple[str, int], tuple[float, str, str | None]] = {}
    declared = declared_range(component, pipeline.get_component(component))
    usage: dict[str, dict[str, Any]] = {component: {"models": {}}}
    said: dict[tuple[str, int], str] = {}
    for repeat, evaluation in enumerate(evaluations):
        found = _named(evaluation, label)
        if evaluation is None or found is None:
            continue
        usage[component]["models"] |= evaluation.usage.get(component, {}).get("models") or {}
        errors = evaluation.errors.get(component, {})
        if stores("judge"):
            said |= {(row, repeat): text for row, text in evaluation.messages.get(component, {}).items()}
        for row_id, score, status in zip(evaluation.ids, found.individual_scores, found.statuses, strict=True):
            normal = _normal(label, row_id, score, status)
            outside = _outside(normal[0], declared)
            cells[row_id, repeat] = (*normal, errors.get(row_id)) if outside is None else (math.nan, "error", outside)
    known = {(row["id"], row["repeat"]) for row in rows}
    strange = [row_id for row_id, repeat in cells if (row_id, repeat) not in known]
    if strange:
        msg = f"The evaluation has a row '{strange[0]}' that the data lacks. Give the data that was evaluated."
        raise EvaluationError(msg)
    columns = [_cell(row, cells.get((row["id"], row["repeat"])), of_stage=of_stage) for row in rows]
    return RunMetric(
        metric_info(pipeline, label, usage),
        [score for score, _, _ in columns],
        [status for _, status, _ in columns],
        [error for _, _, error in columns],
        [said.get((row["id"], row["repeat"])) for row in rows] if said else [],
    )


def _cell(row: Row, found: tuple[float, str, str | None] | None, *, of_stage: bool) -> tuple[float, str, str | None]:
    failed = run_error(row)
    # A question that failed behind a stage has that stage's ranking.
    if failed is not None and not (of_stage and found is not None):
        return math.nan, "error", failed
    return (math.nan, "not_run", None) if found is None else found


def _normal(label: str, row_id: str, score: float, status: str) -> tuple[float, str]:
    """A score with a status that fits, whatever a component of another package says."""
    if math.isinf(score):
        msg = f"'{label}' gave an infinite score in row '{row_id}': scores must be finite, or NaN where there is none."
        raise EvaluationError(msg)
    if status in ("error", "not_run"):
        return math.nan, status
    return score, "undefined" if math.isnan(score) or status == "undefined" else "scored"


def _outside(score: float, declared: tuple[float, float] | None) -> str | None:
    """Why a score that its component cannot give is none."""
    if declared is None or math.isnan(score) or is_within(score, declared):
        return None
    return f"the score {score:g} lies outside the score_range of its metric, {declared[0]:g} to {declared[1]:g}"


def _one_a_repeat(given: Evaluation | Sequence[Evaluation | None], repeats: int, stage: str) -> list[Evaluation | None]:
    evaluations = _as_list(given)
    if len(evaluations) != repeats:
        what = f"stages['{stage}']" if stage else "evaluation"
        msg = f"{what} must have one evaluation for each of {repeats} repeats, but has {len(evaluations)}."
        raise EvaluationError(msg)
    return evaluations


def _as_list(given: Evaluation | Sequence[Evaluation | None]) -> list[Evaluation | None]:
    return [given] if isinstance(given, Evaluation) else list(given)


def _metric_names(evaluations: Iterable[Evaluation | None]) -> list[str]:
    return list(dict.fromkeys(metric.name for each in evaluations if each is not None for metric in each.metrics))


def _named(evaluation: Evaluation | None, label: str) -> MetricScores | None:
    return None if evaluation is None else next((each for each in evaluation.metrics if each.name == label), None)


def _sum(accounts: Sequence[Any]) -> Any:
    """Add up what several repeats spent: numbers by sum, None where all are unknown."""
    known = [account for account in accounts if account is not None]
    if known and all(isinstance(account, dict) for account in known):
        names = dict.fromkeys(name for account in known for name in account)
        return {name: _sum([account.get(name) for account in known]) for name in names}
    return sum(known) if known and all(map(is_number, known)) else known[0] if known else None
