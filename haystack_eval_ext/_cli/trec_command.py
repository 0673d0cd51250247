# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands `trec` and `metrics`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from haystack_eval_ext._cli.catalog import catalog
from haystack_eval_ext._cli.faults import collected_warnings, plain, reported
from haystack_eval_ext._cli.options import Debug, Force, Measures, Threshold, measure_names
from haystack_eval_ext._cli.output import check_file, metrics_json, versions
from haystack_eval_ext._cli.render import (
    console,
    number,
    print_catalog,
    print_list,
    print_scores,
    print_text,
    print_warnings,
)
from haystack_eval_ext.retrieval._base import evaluate_keys
from haystack_eval_ext.runs._strict_json import strict_json, write_strict_json
from haystack_eval_ext.runs.evaluation import (
    MetricScores,
)
from haystack_eval_ext.runs.trec import align, read_qrels, read_run


class Queries(StrEnum):
    """Which queries count when qrels and run differ."""

    COMPLETE = "complete"
    INTERSECTION = "intersection"


def trec(
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Labels: TREC's four columns, or BEIR's .tsv.")],
    run_file: Annotated[Path, typer.Argument(metavar="RUN", help="Rankings: TREC's six columns.")],
    measures: Measures,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="First print a line for each measure and query: measure, query, score.")
    ] = False,
    queries: Annotated[
        Queries,
        typer.Option(
            "--queries", help="complete: a judged query that the run lacks counts as 0. intersection: it is left out."
        ),
    ] = Queries.COMPLETE,
    threshold: Threshold = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the results as JSON.")] = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Score a TREC run file against qrels, as trec_eval does."""
    with reported(debug=debug):
        names = measure_names(measures)
        file = None if out is None else check_file(out, qrels, run_file, force=force)
        ids, rankings, labels, coverage = align(read_qrels(qrels), read_run(run_file), queries=queries.value)
        with collected_warnings() as warnings:
            scores = evaluate_keys(names, rankings, labels, ids=ids, relevance_threshold=threshold)
        metrics = [MetricScores(measure, *found) for measure, found in scores.items()]
        if file is not None:
            results = {
                "qrels": qrels.name,
                "run": run_file.name,
                "queries": queries.value,
                "relevance_threshold": threshold,
                "versions": versions(),
                "metrics": metrics_json(ids, metrics),
                "missing_from_run": coverage.missing_from_run,
                "without_labels": coverage.without_labels,
                "warnings": warnings,
            }
            write_strict_json(file, results)
        if per_query:
            for metric in metrics:
                for query, score in zip(ids, metric.individual_scores, strict=True):
                    typer.echo(f"{metric.name}\t{plain(query)}\t{number(score)}")
            typer.echo()
        screen = console()
        print_text(screen, f"{run_file.name} against {qrels.name}, {len(ids)} queries")
        print_scores(screen, metrics, rows="Queries")
        missing = "counted as 0" if queries is Queries.COMPLETE else "not counted"
        print_list(screen, f"Judged queries missing from the run, {missing}", coverage.missing_from_run)
        print_list(screen, "Queries of the run without labels, not counted", coverage.without_labels)
        print_warnings(warnings)
        if file is not None:
            typer.echo(f"Results are in {plain(str(file))}", err=True)


def metrics(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every component and every measure: sockets, range, direction, source."""
    if as_json:
        typer.echo(strict_json(catalog()), nl=False)
    else:
        print_catalog(console(), catalog())
