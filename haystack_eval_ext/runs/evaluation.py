# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs an evaluation pipeline over a dataset: feeds its sockets, collects one score a row from each metric."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import TYPE_CHECKING, Any

from haystack import Pipeline
from haystack.core.errors import PipelineRuntimeError

from haystack_eval_ext._scores import FailedRowsError, RowScores
from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
from haystack_eval_ext.runs._faults import describe_fault, safe_message
from haystack_eval_ext.runs._feeding import (
    LABELS_SOCKET,
    EvaluationError,
    Inputs,
    MappingError,
    OneByOneError,
    UnfedSocketError,
    plan_inputs,
    takes_batches,
)
from haystack_eval_ext.runs._loading import PipelineFileError, load_pipeline, read_pipeline_text
from haystack_eval_ext.runs.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Evaluation",
    "EvaluationError",
    "MappingError",
    "MetricScores",
    "OneByOneError",
    "PipelineFileError",
    "UnfedSocketError",
    "WithheldFaultError",
    "check_pipeline",
    "evaluate_pipeline",
    "load_pipeline",
    "read_pipeline_text",
    "single_evaluator",
    "takes_batches",
]

_METRIC_OUTPUTS = frozenset(("score", "individual_scores"))
_MISSING = object()


class WithheldFaultError(EvaluationError):
    """A component failed with a message that may quote the data: `__cause__` has it."""


@dataclass(frozen=True)
class MetricScores:
    """
    One metric of a run.

    :param name: `component.measure` if the component names its measures, however many; else the component's name.
    :param score: The mean, as the component forms it.
    :param individual_scores: One float a row; NaN where there is none.
    :param statuses: One a row: "scored", "undefined", "error", or "not_run" for a row that the metric was not to score.
    """

    name: str
    score: float
    individual_scores: list[float]
    statuses: list[str]

    @property
    def rows(self) -> int:
        """How many rows the run has."""
        return len(self.individual_scores)

    @property
    def scored(self) -> int:
        """How many rows the metric gave a number for."""
        return self.statuses.count("scored")

    @property
    def undefined(self) -> int:
        """How many rows the metric's definition gives no number for; they count as 0 or are left out."""
        return self.statuses.count("undefined")

    @property
    def failed(self) -> int:
        """How many rows could not be judged."""
        return self.statuses.count("error")

    @property
    def left_out(self) -> int:
        """How many rows have no number, whatever the reason, and so are not in the mean."""
        return sum(map(math.isnan, self.individual_scores))


@dataclass(frozen=True)
class Evaluation:
    """
    What a pipeline gave over a dataset.

    :param ids: The row ids, in the order of the scores.
    :param metrics: The metrics, in the order of the pipeline.
    :param unanswerable: Ids of the rows that are in no retrieval mean because nothing in the corpus answers them.
    :param never_retrieved: By component the labels that no ranking of the run contains.
    :param usage: By component that asks a judge what it spent.
    :param errors: By metric and row id why a row could not be judged.
    :param diagnoses: By component that names failed stages the label and reason of each row, and the table of stages.
    """

    ids: list[str]
    metrics: list[MetricScores]
    unanswerable: list[str]
    never_retrieved: dict[str, list[Any]]
    usage: dict[str, dict[str, Any]]
    errors: dict[str, dict[str, str]]
    diagnoses: dict[str, dict[str, Any]]


def single_evaluator(measures: list[str], key_fields: list[str], relevance_threshold: float | None = None) -> Pipeline:
    """
    Make a pipeline of one `DocumentRankingEvaluator`, named "ranking".

    :param measures: Names of measures, such as "nDCG@10".
    :param key_fields: What must be equal in a label and a retrieved document; several form a composite key.
    :param relevance_threshold: Lowest relevant grade of the binary measures; None: every grade above 0.
    :returns: The pipeline.
    :raises ValueError: If a measure or a field is unknown, or the threshold is not finite.
    """
    ranking = DocumentRankingEvaluator(
        measures,
        document_comparison_field=key_fields[0] if len(key_fields) == 1 else key_fields,
        relevance_threshold=relevance_threshold,
        find_never_retrieved=True,
    )
    pipeline = Pipeline()
    pipeline.add_component("ranking", ranking)
    return pipeline


def evaluate_pipeline(pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None = None) -> Evaluation:
    """
    Run every metric of a pipeline over the rows of a dataset.

    Without connections the components run one by one on the same objects: `Pipeline.run` would copy all documents for
    each of them.

    ```python
    from haystack import Document
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.evaluation import evaluate_pipeline, single_evaluator

    row = {"id": "q1", "documents": [Document(id="b"), Document(id="a")], "relevant_documents": [Document(id="a")]}
    evaluation = evaluate_pipeline(single_evaluator(["RR", "P@1"], ["id"]), Dataset("rows", [row]))
    print({metric.name: metric.score for metric in evaluation.metrics})
    # {'ranking.RR': 0.5, 'ranking.P@1': 0.0}
    ```

    :param pipeline: A pipeline whose free sockets take all rows at once.
    :param dataset: The rows.
    :param mapping: Columns by "component.socket", for sockets outside our vocabulary.
    :returns: The scores of all metrics.
    :raises EvaluationError: If a socket cannot be fed, a component fails, or no component gives scores. An error of
        another package is shown by its class alone, since its message may quote the data (`WithheldFaultError`).
    """
    nodes = pipeline.graph.nodes
    metric_components, retrieval, inputs = _plan(pipeline, dataset, mapping)
    left_out = set(dataset.unanswerable)
    answerable = [row for row, key in enumerate(dataset.ids) if key not in left_out]
    connected = pipeline.graph.number_of_edges() > 0
    if connected:
        outputs = _run_connected(pipeline, inputs, metric_components)
    else:
        outputs = {
            name: _run_component(
                name, nodes[name]["instance"], inputs[name], answerable if left_out and name in retrieval else None
            )
            for name in metric_components
        }
    metrics = []
    for name in metric_components:
        for label, scores in _metrics(name, outputs[name]).items():
            if left_out and name in retrieval:
                scores = _without_unanswerable(scores, answerable, len(dataset), whole=connected)  # noqa: PLW2901
            _check_rows(label, scores, len(dataset))
            metrics.append(MetricScores(label, scores.score, scores.individual_scores, scores.statuses))
    dead = {name: list(outputs[name].get("never_retrieved") or []) for name in metric_components}
    return Evaluation(
        ids=dataset.ids,
        metrics=metrics,
        unanswerable=dataset.unanswerable if retrieval else [],
        never_retrieved={name: labels for name, labels in dead.items() if labels},
        usage={name: output["usage"] for name, output in outputs.items() if isinstance(output.get("usage"), dict)},
        errors={name: found for name, output in outputs.items() if (found := _errors(dataset.ids, output))},
        diagnoses={name: found for name, output in outputs.items() if (found := _diagnosis(dataset.ids, output))},
    )


def check_pipeline(pipeline: Pipeline, labels: Dataset, mapping: Mapping[str, str] | None = None) -> None:
    """
    Check that a pipeline can score a dataset once it has answers, before anything is spent on these.

    :param pipeline: The evaluation pipeline.
    :param labels: The questions and labels.
    :param mapping: Columns by "component.socket".
    :raises EvaluationError: If no component gives scores, or a socket could not be fed by labels and answers.
    """
    answered = [{**row, "answer": "", "contexts": [], "documents": []} for row in labels.rows]
    check_outputs(pipeline, Dataset(labels.path, answered), mapping)


def check_outputs(pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None = None) -> None:
    """
    Check that a pipeline can score a dataset, before a judge is paid.

    :param pipeline: The evaluation pipeline.
    :param dataset: The rows.
    :param mapping: Columns by "component.socket".
    :raises EvaluationError: If no component gives scores, or a socket cannot be fed.
    """
    _plan(pipeline, dataset, mapping)


def _plan(
    pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None
) -> tuple[list[str], list[str], Inputs]:
    """The components that give scores, those among them that score retrieval, and what each socket gets."""
    nodes = pipeline.graph.nodes
    metric_components = [name for name in nodes if set(nodes[name]["output_sockets"]) >= _METRIC_OUTPUTS]
    if not metric_components:
        msg = (
            "No component of the pipeline has the outputs 'score' and 'individual_scores': there is nothing to show. "
            "Add an evaluator; `haystack-eval metrics` lists them."
        )
        raise EvaluationError(msg)
    inputs = plan_inputs(pipeline, dataset, mapping or {})
    retrieval = [name for name in metric_components if LABELS_SOCKET in nodes[name]["input_sockets"]]
    if retrieval and len(dataset.unanswerable) == len(dataset):
        msg = (
            f"Every row has answerable false, so {', '.join(retrieval)} has nothing to score. Set answerable to true "
            "where the corpus answers the question."
        )
        raise EvaluationError(msg)
    return metric_components, retrieval, inputs


def _diagnosis(ids: list[str], output: dict[str, Any]) -> dict[str, Any]:
    """What a RAGFailureClassifier says, by row id."""
    labels, reasons = output.get("labels"), output.get("reasons")
    if not isinstance(labels, list) or not isinstance(reasons, list) or not len(labels) == len(reasons) == len(ids):
        return {}
    return {
        "counts": dict(output.get("counts") or {}),
        "stages": list(output.get("stages") or []),
        "labels": dict(zip(ids, map(str, labels), strict=True)),
        "reasons": dict(zip(ids, map(str, reasons), strict=True)),
    }


def _errors(ids: list[str], output: dict[str, Any]) -> dict[str, str]:
    """Why rows have no score, for the rows that failed or were not run."""
    errors, statuses = output.get("errors"), output.get("statuses")
    if not isinstance(errors, list) or not isinstance(statuses, list) or not len(errors) == len(statuses) == len(ids):
        return {}
    return {
        row: str(error)
        for row, error, status in zip(ids, errors, statuses, strict=True)
        if error is not None and status in ("error", "not_run")
    }


def _run_component(name: str, instance: Any, inputs: dict[str, list[Any]], rows: list[int] | None) -> dict[str, Any]:
    if rows is not None:
        inputs = {socket: [values[row] for row in rows] for socket, values in inputs.items()}
    note = "" if rows is None else " (Row numbers start at 0 and leave out the unanswerable rows.)"

    def run() -> Any:
        if hasattr(instance, "warm_up"):
            instance.warm_up()
        try:
            return instance.run(**inputs)
        except FailedRowsError as error:
            # The other rows were scored, and maybe paid for: the table says how many failed.
            return error.result

    output = _guarded(run, f"{name} ({type(instance).__name__})", note)
    if not isinstance(output, dict):
        msg = f"{name} ({type(instance).__name__}) must return a dict of outputs, but returned {type(output).__name__}."
        raise EvaluationError(msg)
    return output


def _run_connected(pipeline: Pipeline, inputs: Inputs, metric_components: list[str]) -> dict[str, dict[str, Any]]:
    data = {name: sockets for name, sockets in inputs.items() if sockets}
    outputs: dict[str, dict[str, Any]] = _guarded(
        lambda: pipeline.run(data, include_outputs_from=set(metric_components)), "The pipeline", ""
    )
    for name in metric_components:
        if name not in outputs:
            msg = f"{name} did not run: something that it waits for was never sent. Check the pipeline's connections."
            raise EvaluationError(msg)
    return outputs


def _guarded(run: Callable[[], Any], what: str, note: str) -> Any:
    """Run what is not ours; whatever it raises becomes one error that names the component and no user's text."""
    try:
        return run()
    except Exception as error:
        if isinstance(error, PipelineRuntimeError):
            what = error.component_name or what
        kind = EvaluationError if safe_message(error) else WithheldFaultError
        msg = f"{what}: {describe_fault(error)}{note}"
        raise kind(msg) from error


def _metrics(component: str, output: dict[str, Any]) -> dict[str, RowScores]:
    """The metrics of one component: those in `results`, where they have that shape, else its own score."""
    results = output.get("results")
    if isinstance(results, dict) and results:
        parts = results.values()
        if all(isinstance(part, dict) and part.keys() >= _METRIC_OUTPUTS for part in parts):
            labels = {f"{component}.{measure}": part for measure, part in results.items()}
            return {label: _row_scores(label, part) for label, part in labels.items()}
    return {component: _row_scores(component, output)}


def _row_scores(metric: str, output: dict[str, Any]) -> RowScores:
    score, rows = output.get("score", _MISSING), output.get("individual_scores")
    given = list(rows) if isinstance(rows, Iterable) else [_MISSING]
    if not all(value is None or isinstance(value, Real) for value in (score, *given)):
        msg = f"{metric} must return 'score' as a number and 'individual_scores' as a list of numbers (or None)."
        raise EvaluationError(msg)
    individual = [_number(value) for value in given]
    statuses = output.get("statuses") or ["undefined" if math.isnan(value) else "scored" for value in individual]
    return RowScores(_number(score), individual, list(statuses))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _without_unanswerable(scores: RowScores, answerable: list[int], rows: int, *, whole: bool) -> RowScores:
    """
    Leave NaN and "not_run" at the unanswerable rows: "undefined" would also name rows that count as 0.

    :param scores: Of all rows if `whole`, then the mean is formed anew; else of the answerable ones.
    """
    if whole:
        if len(scores.individual_scores) != rows:
            return scores
        kept = [scores.individual_scores[row] for row in answerable]
        numbers = [score for score in kept if not math.isnan(score)]
        scores = RowScores(fmean(numbers) if numbers else math.nan, kept, [scores.statuses[row] for row in answerable])
    elif len(scores.individual_scores) != len(answerable):
        return scores
    individual, statuses = [math.nan] * rows, ["not_run"] * rows
    for row, score, status in zip(answerable, scores.individual_scores, scores.statuses, strict=True):
        individual[row], statuses[row] = score, status
    return RowScores(scores.score, individual, statuses)


def _check_rows(metric: str, scores: RowScores, rows: int) -> None:
    for what, values in (("individual scores", scores.individual_scores), ("statuses", scores.statuses)):
        if len(values) != rows:
            msg = (
                f"{metric} gave {len(values)} {what} for {rows} rows; expected one a row. Does something before it "
                "join or drop rows?"
            )
            raise EvaluationError(msg)
