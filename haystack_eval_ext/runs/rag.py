# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole way: a RAG pipeline answers the questions, every stage and answer is scored, the run is kept."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from haystack_eval_ext.errors import EvaluationError, TargetError, parameter
from haystack_eval_ext.runs._ask_options import AskOptions
from haystack_eval_ext.runs._borrowed import borrow
from haystack_eval_ext.runs._columns import SKIPPED
from haystack_eval_ext.runs._compared_field import DEFAULT_FIELD
from haystack_eval_ext.runs._corpus import corpus_of
from haystack_eval_ext.runs._demands import demand
from haystack_eval_ext.runs._evaluators import opened
from haystack_eval_ext.runs._faults import texts_wanted, told
from haystack_eval_ext.runs._feeding import LABELS_SOCKET
from haystack_eval_ext.runs._forecast import forecast_lines, forecast_of_size
from haystack_eval_ext.runs._label_check import check_store
from haystack_eval_ext.runs._loading import read_pipeline_text
from haystack_eval_ext.runs._row_log import kept_by_us
from haystack_eval_ext.runs._row_reports import thought_reports
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs.dataset import Data, Dataset, open_dataset
from haystack_eval_ext.runs.evaluation import Evaluation, MetricScores, check_pipeline, evaluate_pipeline
from haystack_eval_ext.runs.harness import plan_run, run_target
from haystack_eval_ext.runs.indexing import fill_store
from haystack_eval_ext.runs.judging import JudgeSettings, prepare_judges
from haystack_eval_ext.runs.making import make_run, no_scores
from haystack_eval_ext.runs.records import dataset_of_records, failed_ids, stage_datasets
from haystack_eval_ext.runs.targets import Target, as_target, load_target

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs.run import EvaluationRun

_logger = logging.getLogger(__name__)


# Settings that a record of a run has beside the others.
_OF_THEIR_OWN = ("repeats", "sample", "seed")
_RANKING_SOCKET = "retrieved_documents"
_OUTPUT_COLUMNS = ("answer", "contexts", "documents", SKIPPED)


def run_rag(
    evaluators: Pipeline | FilePath | Mapping[str, Any],
    data: Data,
    rag: Any,
    *,
    out: FilePath | None = None,
    name: str | None = None,
    judge: JudgeSettings | None = None,
    index: FilePath | None = None,
    documents: FilePath | None = None,
    overrides: Mapping[str, Any] | None = None,
    label_field: str | None = None,
    columns: Mapping[str, str] | None = None,
    mapping: Mapping[str, str] | None = None,
    texts: bool = True,
    replace_run: bool = False,
    lower_is_better: Collection[str] = (),
    warnings: Iterable[str] = (),
    announce: Callable[[str], object] | None = None,
    **options: Any,
) -> EvaluationRun:
    """
    Ask a RAG pipeline the questions of a dataset, score the answers and each stage of retrieval, and keep the run.

    What is wrong with options, folder, data, evaluators, RAG pipeline or judges is said in this order, before the store
    is filled and the first question asked.

    ```python
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.evaluation import single_evaluator
    from haystack_eval_ext.runs.rag import run_rag

    store = InMemoryDocumentStore()
    store.write_documents([Document(id="a", content="Paris is in France"), Document(id="b", content="Rome is old")])
    rag = Pipeline()
    rag.add_component("bm25", InMemoryBM25Retriever(store))
    row = {"id": "q1", "question": "Where is Paris?", "relevant_documents": [Document(id="a")]}
    run = run_rag(single_evaluator(["RR", "P@1"], ["id"]), Dataset("rows", [row]), rag, progress=False)
    print(run.scores)
    # {'ranking.RR': 1.0, 'ranking.P@1': 1.0}
    ```

    :param evaluators: A pipeline, its YAML file, the name of a shipped one, or components by name.
    :param data: The questions and labels: a Dataset, its file, or a list of rows.
    :param rag: A pipeline's YAML file, "module:name", or the thing itself: a Pipeline, a component, a function of a
        question, or a function of nothing that makes one of these.
    :param out: Folder of the run. Each answer is in it as soon as it is there: after a kill the same call goes on.
    :param name: What reports call the run; without it the folder's name, else that of the RAG pipeline.
    :param judge: Budgets, cache and generator of all judges for this run. A row that they cannot judge costs no other.
    :param index: YAML of an indexing pipeline that fills the store first.
    :param documents: The folder of files that it indexes.
    :param overrides: Init parameters of the RAG pipeline by "component.parameter", for YAML.
    :param label_field: Where bare keys of a data file go, as in `read_dataset`, and what evaluators of a YAML file
        compare that do not say it; one that says something else is refused. None: "id".
    :param columns: What columns of the data mean whose names do not say it, as in `read_dataset`.
    :param mapping: Columns by "component.socket" of the evaluation pipeline.
    :param texts: False keeps ids and scores only.
    :param replace_run: Replace a run that is in the folder, once the new one is there: everything is asked again, or
        with `retry_failed` what failed. Answers of this very run that are not in a finished one yet are gone on with.
    :param lower_is_better: Metrics of which a higher score is worse.
    :param warnings: What a reader of the scores must know.
    :param announce: Is told, before the first question, what a gate over these questions can find.
    :param options: How the questions are asked: what :class:`~haystack_eval_ext.runs._ask_options.AskOptions` has, such
        as `concurrency`, `repeats`, `sample`, `retrieved`, `sections`, `timeout`, `max_failures`, `progress`.
    :returns: The run, with a metric "stage/metric" for each stage of retrieval where there are several.
    :raises EvaluationError: If the target cannot be made or asked, every question failed, or nothing can be scored.
    :raises RunFileError: If the folder holds something else.
    :raises ValueError: If the data or an option is wrong.
    """
    how = AskOptions.of(options)
    if (index is None) != (documents is None):
        both = f"{parameter('index')} and {parameter('documents')}"
        msg = f"{both} belong together: an indexing pipeline, and the folder of files that it reads."
        raise TargetError(msg)
    folder = None if out is None else check_folder(out, replace=replace_run, going_on=True)
    dataset = open_dataset(data, label_field=label_field or DEFAULT_FIELD, columns=columns)
    labels = _labels(dataset)
    with (
        texts_wanted(texts),
        opened(evaluators, judge or JudgeSettings(), label_field, progress=how.progress) as pipeline,
    ):
        target = _target(rag, overrides)
        plan = plan_run(target, labels, how)
        check_pipeline(pipeline, labels, mapping)
        target = demand(target, pipeline, labels, mapping=mapping, sections=how.sections)
        prepare_judges(pipeline)
        if index is not None and documents is not None:
            fill_store(index, documents, target)
        missing = _logged(check_store(pipeline, labels, target, mapping))
        if announce is not None:
            for line in forecast_lines(forecast_of_size(len(plan.rows))):
                announce(line)
        records = run_target(target, labels, out=folder, replace=replace_run, **options)
        thoughts = _logged(thought_reports(records))
        with kept_by_us(folder):
            evaluations = [_answers(pipeline, labels, records, repeat, mapping) for repeat in range(how.repeats)]
            if not any(evaluations):
                raise EvaluationError(_all_failed(records, kept=folder is not None))
            stages, notes = _stages(pipeline, labels, records, evaluations)
            run = make_run(
                evaluations,
                labels,
                pipeline,
                name=name or (folder.name if folder is not None else target.name),
                records=records,
                stages=stages,
                rag=target.yaml if target.yaml is not None else target.pipeline,
                rag_name=target.name,
                index=None if index is None else read_pipeline_text(index),
                corpus=corpus_of(target, documents),
                sample=how.sample,
                seed=how.recorded["seed"],
                settings={name: value for name, value in how.recorded.items() if name not in _OF_THEIR_OWN},
                lower_is_better=lower_is_better,
                warnings=[*warnings, *missing, *thoughts, *notes],
            )
            if folder is not None:
                run.save(folder, texts=texts, replace=True)
    return run if texts else run.without_texts()


def _target(rag: Any, overrides: Mapping[str, Any] | None) -> Target:
    if isinstance(rag, str) or hasattr(rag, "__fspath__"):
        return load_target(rag, overrides=overrides)
    if overrides:
        msg = f"{parameter('overrides')} is for a pipeline's YAML: what is made in Python takes its parameters there."
        raise TargetError(msg)
    return as_target(rag)


def _all_failed(records: Sequence[Mapping[str, Any]], *, kept: bool) -> str:
    fault = next(record["error"] for record in records if record["status"] == "error")
    msg = f"Every question failed: there is nothing to score. The first: {told(fault)}"
    return f"{msg} With {parameter('retry_failed')} the same call asks them again." if kept else msg


def _labels(dataset: Dataset) -> Dataset:
    """The questions and labels without outputs that the data may have from elsewhere."""
    rows = [{name: value for name, value in row.items() if name not in _OUTPUT_COLUMNS} for row in dataset.rows]
    return Dataset(dataset.path, rows)


def _answers(
    evaluators: Pipeline,
    labels: Dataset,
    records: Sequence[Mapping[str, Any]],
    repeat: int,
    mapping: Mapping[str, str] | None,
) -> Evaluation | None:
    """The scores of the questions that were answered: a failed one costs no call of a judge."""
    failed = set(failed_ids(records, repeat=repeat))
    filled = dataset_of_records(labels, records, repeat=repeat)
    answered = Dataset(filled.path, [row for row in filled.rows if row["id"] not in failed])
    return evaluate_pipeline(evaluators, answered, mapping) if len(answered) else None


def _stages(
    evaluators: Pipeline,
    labels: Dataset,
    records: Sequence[Mapping[str, Any]],
    evaluations: Sequence[Evaluation | None],
) -> tuple[dict[str, list[Evaluation | None]], list[str]]:
    """The retrieval scores of each stage, where there are labels and more than one stage; and what went wrong."""
    found = [stage_datasets(labels, records, repeat=repeat) for repeat in range(len(evaluations))]
    names = list(dict.fromkeys(stage for each in found for stage in each))
    if len(names) < 2 or not labels.has("relevant_documents"):  # noqa: PLR2004 - one stage is what is scored anyway
        return {}, []
    parts = _retrieval_parts(evaluators)
    measured: dict[str, dict[str, None]] = {name: {} for name in parts}
    for each in evaluations:
        for metric in [] if each is None else each.metrics:
            measured.get(metric.name.partition(".")[0], {})[metric.name] = None
    notes: list[str] = []
    stages: dict[str, list[Evaluation | None]] = {}
    for stage in names if parts else []:
        stages[stage] = [
            _stage(stage, parts, each[stage], measured, notes) if stage in each and len(each[stage]) else None
            for each in found
        ]
    return stages, _logged(list(dict.fromkeys(notes)))


def _logged(notes: list[str]) -> list[str]:
    for note in notes:
        _logger.warning("%s", note)
    return notes


def _stage(
    stage: str,
    parts: Mapping[str, Pipeline],
    rows: Dataset,
    measured: Mapping[str, Iterable[str]],
    notes: list[str],
) -> Evaluation:
    """
    The retrieval scores of one stage.

    Answers and judges have been paid for by now: a metric that cannot score a stage costs no other score.
    """
    whole = Evaluation(rows.ids, [], [], {}, {}, {}, {})
    for name, part in parts.items():
        try:
            found = evaluate_pipeline(part, rows, warn=False)
            metrics: list[MetricScores] = found.metrics
            errors = found.errors
            notes += [f"Stage {stage}: {said}" for said in found.warnings]
        except EvaluationError as error:
            notes.append(f"Stage {stage}: {name} was not run. {error}")
            metrics, errors = [no_scores(metric, len(rows)) for metric in measured[name]], {}
        whole = replace(whole, metrics=[*whole.metrics, *metrics], errors={**whole.errors, **errors})
    return whole


def _retrieval_parts(evaluators: Pipeline) -> dict[str, Pipeline]:
    """The evaluators that compare documents with labels, each in a pipeline of its own."""
    parts = {}
    for name, node in evaluators.graph.nodes(data=True):
        sockets = node["input_sockets"]
        if {LABELS_SOCKET, _RANKING_SOCKET} <= sockets.keys() and not any(each.senders for each in sockets.values()):
            parts[name] = Pipeline()
            borrow(parts[name], name, node["instance"])
    return parts
