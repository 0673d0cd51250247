# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs an evaluation pipeline over a dataset: feeds its sockets, collects one score a row from each metric."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from haystack_eval_ext._scores import NO_REFERENCE, RowScores
from haystack_eval_ext.errors import EvaluationError, MappingError, OneByOneError, PipelineFileError, UnfedSocketError
from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
from haystack_eval_ext.runs._columns import IGNORED, column_name
from haystack_eval_ext.runs._execution import WithheldFaultError, run_component, run_connected
from haystack_eval_ext.runs._feeding import LABELS_SOCKET, VOCABULARY, Inputs, plan_inputs, takes_batches
from haystack_eval_ext.runs._loading import load_pipeline, read_pipeline_text
from haystack_eval_ext.runs._outputs import (
    METRIC_OUTPUTS,
    check_metric,
    check_rows,
    diagnosis_of,
    errors_of,
    messages_of,
    metrics_of,
    placed,
)
from haystack_eval_ext.runs._row_reports import SKIPPED_RETRIEVAL, batch_reports, row_reports, skipped_reports
from haystack_eval_ext.runs._scored import NO_OUTPUT
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.records import OUTPUTS, RUN_STATUS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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
    "needed_outputs",
    "read_pipeline_text",
    "single_evaluator",
    "takes_batches",
]

_REFERENCE = "reference_answer"
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class MetricScores:
    """
    One metric of a run.

    :param name: `component.measure` if the component names its measures, however many; else the component's name.
    :param score: The mean, as the component forms it.
    :param individual_scores: One float a row; NaN where there is none.
    :param statuses: One a row: "scored", "undefined", "error", or "not_run" for a row that the metric was not to score.
    :param errors: Why a row has no score of its own, as far as the metric says it; None for the others.
    """

    name: str
    score: float
    individual_scores: list[float]
    statuses: list[str]
    errors: list[str | None] = field(default_factory=list)

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
    :param warnings: What the components say of the whole batch, and of rows without a score, by id, with what became of
        these rows.
    :param messages: By component and row id what a judge's service said where it failed; to be kept, not shown.
    """

    ids: list[str]
    metrics: list[MetricScores]
    unanswerable: list[str]
    never_retrieved: dict[str, list[Any]]
    usage: dict[str, dict[str, Any]]
    errors: dict[str, dict[str, str]]
    diagnoses: dict[str, dict[str, Any]]
    warnings: list[str] = field(default_factory=list)
    messages: dict[str, dict[str, str]] = field(default_factory=dict)


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


def evaluate_pipeline(
    pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None = None, *, warn: bool = True
) -> Evaluation:
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
    :param warn: Whether to log the warnings that the result has; False leaves them to the caller.
    :returns: The scores of all metrics. A row in which an output is None, since the RAG pipeline gave none, is
        "not_run" in the metrics that need it; where components are connected, in all of them.
    :raises EvaluationError: If a socket cannot be fed, a component fails, or no component gives scores. Of an
        error of another package its message is shown, and where texts are not wanted class and place alone
        (`WithheldFaultError`).
    """
    nodes = pipeline.graph.nodes
    dataset, ignored = _without_ignored(dataset)
    answered = any(RUN_STATUS in row for row in dataset.rows)
    metric_components, retrieval, inputs = _plan(pipeline, _with_stand_ins(dataset), mapping, answered=answered)
    # Ours say of themselves which rows lack what they need; others would score them.
    ours = {name for name in nodes if "errors" in nodes[name]["output_sockets"]}
    lacking = {name: _lacking(dataset, name, inputs[name], mapping or {}, ours=name in ours) for name in nodes}
    connected = pipeline.graph.number_of_edges() > 0
    if connected:
        # What one component lacks, those behind it would take for a score of 0.
        together = {row: column for rows in lacking.values() for row, column in rows.items()}
        lacking = dict.fromkeys(nodes, together)
    ids, skipped = dataset.ids, set(dataset.skipped) - set(dataset.unanswerable)
    left_out = skipped.union(dataset.unanswerable)
    # By metric the rows that go in, and those of them that count.
    given = {name: [row for row in range(len(dataset)) if row not in lacking[name]] for name in metric_components}
    counted = {
        name: [row for row in rows if name not in retrieval or ids[row] not in left_out] for name, rows in given.items()
    }
    _refuse_nothing(dataset, given, lacking)
    if connected:
        rows = given[metric_components[0]]
        outputs = run_connected(pipeline, inputs, rows, ids, metric_components)
    else:
        # Where none counts, the names of the metrics are wanted all the same.
        given = {name: counted[name] or rows for name, rows in given.items()}
        outputs = {
            name: run_component(name, nodes[name]["instance"], inputs[name], given[name], ids)
            for name in metric_components
            if given[name]
        }
    metrics, errors, diagnoses = [], {}, {}
    messages: dict[str, dict[str, str]] = {}
    reported: dict[str, list[RowScores]] = {}
    for name in metric_components:
        output = outputs.get(name, {})
        if output:
            for label, scores in metrics_of(name, output).items():
                check_rows(label, scores, len(given[name]))
                whole = placed(scores, given[name], counted[name], len(dataset))
                metrics.append(MetricScores(label, *whole))
                reported.setdefault(name, []).append(whole)
        else:
            metrics.append(MetricScores(name, *placed(RowScores(math.nan, [], [], []), [], [], len(dataset))))
        given_ids = [ids[row] for row in given[name]]
        errors[name] = errors_of(given_ids, output) | {
            ids[row]: NO_REFERENCE if column == _REFERENCE else f"{NO_OUTPUT} {column} for this question"
            for row, column in lacking[name].items()
        }
        errors[name] |= dict.fromkeys(skipped if name in retrieval else (), SKIPPED_RETRIEVAL)
        messages[name] = messages_of(given_ids, output)
        diagnoses[name] = diagnosis_of(given_ids, output)
    dead = {name: list(output.get("never_retrieved") or []) for name, output in outputs.items() if counted[name]}
    policies = {name: getattr(nodes[name]["instance"], "on_undefined", None) for name in reported}
    unreferenced = {
        name: [row for row, column in lacking[name].items() if column == _REFERENCE] for name in metric_components
    }
    told = {name: counted[name] if name in ours else [] for name in reported}
    reports = skipped_reports(retrieval, skipped, ids) + row_reports(reported, told, unreferenced, ids, policies)
    warnings = [*ignored, *batch_reports(outputs), *reports]
    for message in warnings if warn else []:
        _logger.warning("%s", message)
    return Evaluation(
        ids=ids,
        metrics=metrics,
        unanswerable=dataset.unanswerable if retrieval else [],
        never_retrieved={name: labels for name, labels in dead.items() if labels},
        usage={name: output["usage"] for name, output in outputs.items() if isinstance(output.get("usage"), dict)},
        errors={name: found for name, found in errors.items() if found},
        messages={name: found for name, found in messages.items() if found},
        diagnoses={name: found for name, found in diagnoses.items() if found},
        warnings=warnings,
    )


def check_pipeline(pipeline: Pipeline, labels: Dataset, mapping: Mapping[str, str] | None = None) -> None:
    """
    Check that a pipeline can score a dataset once it has answers, before anything is spent on these.

    :param pipeline: The evaluation pipeline.
    :param labels: The questions and labels.
    :param mapping: Columns by "component.socket".
    :raises EvaluationError: If no component gives scores, or a socket could not be fed by labels and answers.
    """
    check_outputs(pipeline, _with_outputs(labels, OUTPUTS), mapping)


def check_outputs(pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None = None) -> None:
    """
    Check that a pipeline can score a dataset, before a judge is paid.

    :param pipeline: The evaluation pipeline.
    :param dataset: The rows.
    :param mapping: Columns by "component.socket".
    :raises EvaluationError: If no component gives scores, or a socket cannot be fed.
    """
    _plan(pipeline, dataset, mapping)


def needed_outputs(pipeline: Pipeline, labels: Dataset, mapping: Mapping[str, str] | None = None) -> dict[str, str]:
    """
    Tell which outputs of a RAG pipeline an evaluation pipeline cannot do without.

    :param pipeline: The evaluation pipeline.
    :param labels: The questions and labels.
    :param mapping: Columns by "component.socket".
    :returns: Of "answer", "contexts" and "documents" those that are needed, each with one "component.socket" that
        needs it.
    :raises EvaluationError: As :func:`check_pipeline`.
    """
    _, _, inputs = _plan(pipeline, _with_outputs(labels, OUTPUTS), mapping)
    needed = {}
    for output in OUTPUTS:
        try:
            _plan(pipeline, _with_outputs(labels, [name for name in OUTPUTS if name != output]), mapping)
        except EvaluationError:
            takers = (
                f"{component}.{socket}"
                for component, sockets in inputs.items()
                for socket in sockets
                if _column(component, socket, mapping or {}) == output
            )
            needed[output] = next(takers)
    return needed


def _with_outputs(labels: Dataset, names: Collection[str]) -> Dataset:
    return Dataset(labels.path, [row | {name: OUTPUTS[name]() for name in names} for row in labels.rows])


def _plan(
    pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None, *, answered: bool = False
) -> tuple[list[str], list[str], Inputs]:
    """The components that give scores, those among them that score retrieval, and what each socket gets."""
    nodes = pipeline.graph.nodes
    metric_components = [name for name in nodes if set(nodes[name]["output_sockets"]) >= METRIC_OUTPUTS]
    if not metric_components:
        msg = (
            "No component of the pipeline has the outputs 'score' and 'individual_scores': there is nothing to show. "
            "Add an evaluator; `haystack-eval metrics` lists them."
        )
        raise EvaluationError(msg)
    for name in metric_components:
        # What others take from it may be all that is wanted.
        check_metric(name, nodes[name]["instance"], shown=not pipeline.graph.out_degree(name))
    inputs = plan_inputs(pipeline, dataset, mapping or {})
    retrieval = [name for name in metric_components if LABELS_SOCKET in nodes[name]["input_sockets"]]
    # Where a RAG pipeline was run, the answerable questions may have failed: that was paid for, and says something.
    if retrieval and not answered and len(dataset.unanswerable) == len(dataset):
        msg = (
            f"Every row has answerable false, so {', '.join(retrieval)} has nothing to score. Set answerable to true "
            "where the corpus answers the question."
        )
        raise EvaluationError(msg)
    return metric_components, retrieval, inputs


def _without_ignored(dataset: Dataset) -> tuple[Dataset, list[str]]:
    """The rows without retrieved documents that are no hits, and in how many of them there were some."""
    rows, found = [], 0
    for row in dataset.rows:
        ignored, documents = row.get(IGNORED), row.get("documents")
        if isinstance(ignored, list) and documents:
            kept = [document for document in documents if document.id not in ignored]
            found += len(kept) < len(documents)
            rows.append({**row, "documents": kept})
        else:
            rows.append(row)
    told = f"Documents that {IGNORED} names were left out of the rankings of {found} of {len(rows)} questions."
    return (Dataset(dataset.path, rows), [told]) if found else (dataset, [])


def _with_stand_ins(dataset: Dataset) -> Dataset:
    """The rows with something empty for outputs that the RAG pipeline did not give; these are not scored."""
    rows = [
        row | {name: OUTPUTS[name]() for name in OUTPUTS if name in row and row[name] is None} for row in dataset.rows
    ]
    return Dataset(dataset.path, rows)


def _lacking(
    dataset: Dataset, component: str, sockets: Iterable[str], mapping: Mapping[str, str], *, ours: bool
) -> dict[int, str]:
    """
    By row number what a component is fed with, but the row lacks: an output that the RAG pipeline did not give, or a
    reference, where the component would take an empty list for one.
    """
    columns = {_column(component, socket, mapping) for socket in sockets}
    names = [name for name in OUTPUTS if name in columns]
    found = {
        number: name
        for number, row in enumerate(dataset.rows)
        for name in reversed(names)
        if name in row and row[name] is None
    }
    if _REFERENCE in columns and not ours:
        found = {number: _REFERENCE for number, row in enumerate(dataset.rows) if row.get(_REFERENCE) == []} | found
    return found


def _column(component: str, socket: str, mapping: Mapping[str, str]) -> str | None:
    place = f"{component}.{socket}"
    return column_name(mapping[place]) if place in mapping else VOCABULARY.get(socket)


def _refuse_nothing(dataset: Dataset, given: Mapping[str, list[int]], lacking: Mapping[str, dict[int, str]]) -> None:
    if len(dataset) and not any(given.values()):
        columns = " and no ".join(sorted({column for name in given for column in lacking[name].values()}))
        msg = (
            f"The RAG pipeline gave no {columns} for any of {len(dataset)} questions, so {', '.join(given)} has "
            "nothing to score. Evaluate what it gives, or let it give this."
        )
        raise EvaluationError(msg)
