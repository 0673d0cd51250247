# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole way: a RAG pipeline answers the questions, every stage and answer is scored, the run is kept."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypedDict

from haystack import Pipeline

from haystack_eval_ext.runs._demands import demand
from haystack_eval_ext.runs._feeding import LABELS_SOCKET, EvaluationError
from haystack_eval_ext.runs._row_log import MANIFEST as HARNESS
from haystack_eval_ext.runs._run_files import MANIFEST, ROWS, SCORES, check_folder
from haystack_eval_ext.runs.dataset import Dataset, read_dataset
from haystack_eval_ext.runs.evaluation import Evaluation, check_pipeline, evaluate_pipeline
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.indexing import fill_store
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.records import dataset_of_records, failed_ids, stage_datasets
from haystack_eval_ext.runs.targets import Target, TargetError, as_target, load_target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs._usage import Prices
    from haystack_eval_ext.runs.run import EvaluationRun


class RagOptions(TypedDict, total=False):
    """The options of :func:`evaluate_rag`, which describes them."""

    concurrency: int
    isolate: bool
    repeats: int
    sample: int | None
    seed: int
    stratify: str | None
    retrieved: str | None
    sections: Mapping[str, Any] | None
    mapping: Mapping[str, str] | None
    prices: Prices | None
    timeout: float | None
    max_failures: int | None
    retry_failed: bool
    progress: bool
    texts: bool
    replace_run: bool
    lower_is_better: Collection[str]
    warnings: Iterable[str]


# The manifest goes first: a folder without one is no run.
_OF_RUN = (MANIFEST, SCORES, ROWS, HARNESS)
_RANKING_SOCKET = "retrieved_documents"
_OUTPUT_COLUMNS = ("answer", "contexts", "documents")


def open_target(
    rag: Any,
    *,
    overrides: Mapping[str, Any] | None = None,
    index: FilePath | None = None,
    documents: FilePath | None = None,
) -> Target:
    """
    Load what is to be evaluated, and fill its store.

    :param rag: A pipeline's YAML file, "module:name", or the thing itself: a Pipeline, a component, a function.
    :param overrides: Init parameters by "component.parameter", for YAML.
    :param index: YAML of an indexing pipeline that fills the store first.
    :param documents: The folder of files that it indexes.
    :returns: The target.
    :raises TargetError: If it cannot be made, or its store not be filled.
    """
    if (index is None) != (documents is None):
        msg = "index and documents belong together: an indexing pipeline, and the folder of files that it reads."
        raise TargetError(msg)
    if isinstance(rag, str) or hasattr(rag, "__fspath__"):
        target = load_target(rag, overrides=overrides)
    elif overrides:
        msg = "overrides change a pipeline's YAML: what is made in Python takes its parameters there."
        raise TargetError(msg)
    else:
        target = as_target(rag)
    if index is not None and documents is not None:
        fill_store(index, documents, target)
    return target


def evaluate_rag(
    evaluators: Pipeline,
    data: Dataset | FilePath,
    rag: Any,
    *,
    out: FilePath | None = None,
    name: str | None = None,
    concurrency: int = 8,
    isolate: bool = False,
    repeats: int = 1,
    sample: int | None = None,
    seed: int = 0,
    stratify: str | None = None,
    retrieved: str | None = None,
    sections: Mapping[str, Any] | None = None,
    mapping: Mapping[str, str] | None = None,
    prices: Prices | None = None,
    timeout: float | None = None,
    max_failures: int | None = None,
    retry_failed: bool = False,
    progress: bool = True,
    texts: bool = True,
    replace_run: bool = False,
    lower_is_better: Collection[str] = (),
    warnings: Iterable[str] = (),
) -> EvaluationRun:
    """
    Ask a RAG pipeline the questions of a dataset, score the answers and each stage of retrieval, and keep the run.

    ```python
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.evaluation import single_evaluator
    from haystack_eval_ext.runs.rag import evaluate_rag

    store = InMemoryDocumentStore()
    store.write_documents([Document(id="a", content="Paris is in France"), Document(id="b", content="Rome is old")])
    rag = Pipeline()
    rag.add_component("bm25", InMemoryBM25Retriever(store))
    row = {"id": "q1", "question": "Where is Paris?", "relevant_documents": [Document(id="a")]}
    run = evaluate_rag(single_evaluator(["RR", "P@1"], ["id"]), Dataset("rows", [row]), rag, progress=False)
    print(run.scores)
    # {'ranking.RR': 1.0, 'ranking.P@1': 1.0}
    ```

    :param evaluators: The evaluation pipeline.
    :param data: The questions and labels, or their file.
    :param rag: What :func:`open_target` gives, or takes.
    :param out: Folder of the run. Each answer is in it as soon as it is there: after a kill the same call goes on.
    :param name: What reports call the run; without it the folder's name, else that of the RAG pipeline.
    :param concurrency: How many questions are in flight at most.
    :param isolate: Whether each thread gets a copy of the RAG pipeline.
    :param repeats: How often each question is asked; its scores are averaged.
    :param sample: Ask so many questions only, drawn by the seed.
    :param seed: Draws the sample.
    :param stratify: A column, or "tag", whose values keep their shares in the sample.
    :param retrieved: The stage whose documents are evaluated; without it the last one.
    :param sections: Inputs and outputs of the RAG pipeline, in the form of the sections of its YAML.
    :param mapping: Columns by "component.socket" of the evaluation pipeline.
    :param prices: Price of a million tokens by model, for the RAG pipeline's own cost.
    :param timeout: Seconds after which a question is given up.
    :param max_failures: Stop when more questions than this have failed.
    :param retry_failed: When going on, ask again what failed.
    :param progress: Whether to show progress on a terminal.
    :param texts: False keeps ids and scores only.
    :param replace_run: Replace a finished run that is in the folder: everything is asked again, or with `retry_failed`
        what failed.
    :param lower_is_better: Metrics of which a higher score is worse.
    :param warnings: What a reader of the scores must know.
    :returns: The run, with a metric "stage/metric" for each stage of retrieval where there are several.
    :raises EvaluationError: If the target cannot be made or asked, every question failed, or nothing can be scored.
    """
    dataset = data if isinstance(data, Dataset) else read_dataset(data)
    folder = None if out is None else check_folder(out, replace=replace_run)
    labels = _labels(dataset)
    check_pipeline(evaluators, labels, mapping)
    target = rag if isinstance(rag, Target) else open_target(rag)
    target = demand(target, evaluators, labels, mapping=mapping, sections=sections)
    records = run_target(
        target,
        labels,
        out=folder,
        concurrency=concurrency,
        isolate=isolate,
        repeats=repeats,
        sample=sample,
        seed=seed,
        stratify=stratify,
        retrieved=retrieved,
        mapping=sections,
        prices=prices,
        progress=progress,
        max_failures=max_failures,
        timeout=timeout,
        retry_failed=retry_failed,
        # A finished run that is replaced answers anew, unless its failures alone are wanted.
        forget=() if folder is None or retry_failed or not (folder / MANIFEST).exists() else _OF_RUN,
    )
    evaluations = [_answers(evaluators, labels, records, repeat, mapping) for repeat in range(repeats)]
    if not any(evaluations):
        fault = next(record["error"] for record in records if record["status"] == "error")
        where = f" in {fault['component']}" if fault["component"] else ""
        msg = f"Every question failed: there is nothing to score. The first: {fault['class']}{where}: {fault['reason']}"
        raise EvaluationError(msg)
    run = make_run(
        evaluations,
        labels,
        evaluators,
        name=name or (folder.name if folder is not None else target.name),
        records=records,
        stages=_stages(evaluators, labels, records, repeats),
        rag=target.yaml if target.yaml is not None else target.pipeline,
        rag_name=target.name,
        sample=sample,
        seed=None if sample is None else seed,
        lower_is_better=lower_is_better,
        warnings=warnings,
    )
    if folder is not None:
        run.save(folder, texts=texts, replace=True)
    return run if texts else run.without_texts()


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
    evaluators: Pipeline, labels: Dataset, records: Sequence[Mapping[str, Any]], repeats: int
) -> dict[str, list[Evaluation | None]]:
    """The retrieval scores of each stage, where there are labels and more than one stage."""
    found = [stage_datasets(labels, records, repeat=repeat) for repeat in range(repeats)]
    names = list(dict.fromkeys(stage for each in found for stage in each))
    if len(names) < 2 or not labels.has("relevant_documents"):  # noqa: PLR2004 - one stage is what is scored anyway
        return {}
    retrieval = _retrieval_part(evaluators)
    if retrieval is None:
        return {}
    return {
        stage: [
            evaluate_pipeline(retrieval, each[stage]) if stage in each and len(each[stage]) else None for each in found
        ]
        for stage in names
    }


def _retrieval_part(evaluators: Pipeline) -> Pipeline | None:
    """The evaluators that compare documents with labels, in a pipeline of their own."""
    part = Pipeline()
    for name, node in evaluators.graph.nodes(data=True):
        sockets = node["input_sockets"]
        if {LABELS_SOCKET, _RANKING_SOCKET} <= sockets.keys() and not any(each.senders for each in sockets.values()):
            # Not by YAML: users' own evaluators need not be of a trusted module, nor can all be written down.
            twin = copy(node["instance"])
            twin.__haystack_added_to_pipeline__ = None  # Haystack lets a component into one pipeline at a time
            part.add_component(name, twin)
    return part if part.graph.nodes else None
