# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""TREC run files as runs: scored against qrels or a BEIR folder, kept, compared and exported like any other."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from haystack import Document, Pipeline

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval._base import evaluate_keys
from haystack_eval_ext.retrieval._mismatch import find_mismatch
from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs._scored import some
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import Evaluation, MetricScores
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.trec import Qrels, Run, align, read_beir_split, read_qrels, read_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_eval_ext._scores import OnUndefined
    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs.run import EvaluationRun
    from haystack_eval_ext.runs.trec import QueryCoverage

_COMPONENT = "ranking"
_SHOWN = 10


class TrecLabels(NamedTuple):
    """
    The labels of a test collection.

    :param name: What reports call them: the name of the file or folder.
    :param qrels: Grades by query and document.
    :param questions: The text of each query, where it is known.
    """

    name: str
    qrels: Qrels
    questions: dict[str, str]


def read_labels(path: FilePath, *, split: str | None = None) -> TrecLabels:
    """
    Read qrels, or the labels and questions of a BEIR folder; its corpus is not needed.

    :param path: A qrels file, or a BEIR folder.
    :param split: Which labels of a BEIR folder; None: "test", or the only ones there are.
    :returns: The labels.
    :raises TrecFileError: If a file is broken or missing.
    :raises ValueError: If there is no such split, or a file was given one.
    """
    source = Path(path)
    if source.is_dir():
        return TrecLabels(source.resolve().name, *read_beir_split(source, split))
    if split is not None:
        msg = f"A split is for a BEIR folder, but {source.name} is a qrels file. Leave it out."
        raise InvalidValueError(msg)
    return TrecLabels(source.name, read_qrels(source), {})


def evaluate_trec(
    labels: TrecLabels | FilePath,
    run: Run | FilePath,
    measures: list[str],
    *,
    queries: Literal["complete", "intersection"] = "complete",
    relevance_threshold: float | None = None,
    on_undefined: OnUndefined = "zero",
    out: FilePath | None = None,
    name: str | None = None,
    replace_run: bool = False,
    ignore_identical_ids: bool = False,
) -> EvaluationRun:
    """
    Score a TREC run file as trec_eval does, and keep it as a run.

    The metrics are named as those of `haystack-eval run -m` are: "ranking.nDCG@10". No Document is made of a ranking.

    ```python
    from haystack_eval_ext.runs.trec_runs import TrecLabels, evaluate_trec

    labels = TrecLabels("qrels.txt", {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}}, {})
    run = evaluate_trec(labels, {"q1": [("d2", 3.0), ("d1", 2.0)]}, ["RR", "R@1"], name="bm25")
    print(run.scores, run.manifest["warnings"][0])
    # {'ranking.RR': 0.5, 'ranking.R@1': 0.25} Judged queries missing from the run, given an empty ranking (1): 'q2'.
    ```

    :param labels: A qrels file, a BEIR folder, or what `read_labels` gave.
    :param run: A run file, or ranked (document, score) pairs by query, as `read_run` gives them.
    :param measures: Names of measures, such as "nDCG@10"; a cut-off in words needs texts, which such files lack.
    :param queries: "complete": a judged query that the run lacks has an empty ranking (trec_eval -c);
        "intersection": it is left out.
    :param relevance_threshold: Lowest relevant grade of the binary measures (trec_eval -l); None: above 0.
    :param on_undefined: What a query without relevant documents counts as: "zero", "nan" or "raise".
    :param out: Folder to keep the run in.
    :param name: What reports call the run; without it the folder's name, else that of the run file.
    :param replace_run: Replace a run that is in the folder.
    :param ignore_identical_ids: Leave out hits whose id is that of their query, as BEIR does for all of its data sets;
        published values of ArguAna and Quora need it. The run's warnings say how many there were.
    :returns: The run; a score from 0 to 1 for each query and measure, higher is better.
    :raises TrecFileError: If a file is broken; every fault is in one report.
    :raises ValueError: If a measure or a parameter has no such value, or labels and run share no query.
    :raises RunFileError: If the folder holds something else.
    """
    folder = None if out is None else check_folder(out, replace=replace_run)
    pipeline = Pipeline()
    pipeline.add_component(
        _COMPONENT,
        DocumentRankingEvaluator(
            measures,
            "id",
            relevance_threshold=relevance_threshold,
            on_undefined=on_undefined,
            find_never_retrieved=True,
        ),
    )
    found = labels if isinstance(labels, TrecLabels) else read_labels(labels)
    ranked = run if isinstance(run, dict) else read_run(run)
    ids, rankings, grades, coverage = align(
        found.qrels, ranked, queries=queries, ignore_identical_ids=ignore_identical_ids
    )
    scores = evaluate_keys(
        measures, rankings, grades, ids=ids, relevance_threshold=relevance_threshold, on_undefined=on_undefined
    )
    metrics = [MetricScores(f"{_COMPONENT}.{measure}", *rows) for measure, rows in scores.items()]
    file = None if isinstance(run, dict) else os.path.basename(run)
    rows: list[dict[str, Any]] = [
        {"id": query, "relevant_documents": [Document(id=key, score=grade) for key, grade in of_query.items()]}
        | ({"question": found.questions[query]} if query in found.questions else {})
        for query, of_query in zip(ids, grades, strict=True)
    ]
    made = make_run(
        Evaluation(ids, metrics, [], {}, {}, {}, {}),
        Dataset(found.name, rows),
        pipeline,
        name=name or (folder.name if folder is not None else file or "run"),
        settings={"trec_run": file, "queries": queries, "ignore_identical_ids": ignore_identical_ids},
        warnings=[
            *_missing(coverage, queries),
            *(_identical(ids, ranked) if ignore_identical_ids else []),
            *_unmatched(grades, rankings),
        ],
    )
    for row, ranking in zip(made.rows, rankings, strict=True):
        row["documents"] = [{"id": key} for key in ranking]
    if ignore_identical_ids:
        # It decides the numbers, as a parameter of the evaluator would: runs that differ in it are not compared.
        for metric, run_metric in made.metrics.items():
            for parameters in (run_metric.info.parameters, made.manifest["metrics"][metric]["parameters"]):
                parameters["ignore_identical_ids"] = True
    if folder is not None:
        made.save(folder, replace=replace_run)
    return made


def _identical(ids: list[str], run: Run) -> list[str]:
    """How many hits were left out."""
    found = [query for query in ids if any(document == query for document, _ in run.get(query, ()))]
    return [f"Hits with the id of their query, left out ({len(found)}): {some(found, _SHOWN)}."] if found else []


def _unmatched(grades: Sequence[Mapping[str, Any]], rankings: Sequence[Sequence[str]]) -> list[str]:
    """Labels and rankings that call documents by different names."""
    labelled, found = (dict.fromkeys(chain.from_iterable(side)) for side in (grades, rankings))
    if labelled.keys() & found.keys():
        return []
    labels, documents = ([Document(id=key) for key in keys] for keys in (labelled, found))
    mismatch = find_mismatch(labels, documents, "id", "documents of the run")
    return [] if mismatch is None else [mismatch.told]


def _missing(coverage: QueryCoverage, queries: str) -> list[str]:
    """What a reader must know of queries that one side alone has."""
    lacking = "given an empty ranking" if queries == "complete" else "not counted"
    return [
        f"{what} ({len(names)}): {some(names, _SHOWN)}."
        for what, names in (
            (f"Judged queries missing from the run, {lacking}", coverage.missing_from_run),
            ("Queries of the run without labels, not counted", coverage.without_labels),
        )
        if names
    ]
