# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands `trec` and `metrics`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from haystack_eval_ext._cli.catalog import catalog
from haystack_eval_ext._cli.faults import UserError, collected_warnings, plain, reported
from haystack_eval_ext._cli.options import Debug, Force, Measures, Threshold, measure_names
from haystack_eval_ext._cli.output import run_folder
from haystack_eval_ext._cli.render import (
    console,
    number,
    print_catalog,
    print_scores,
    print_table,
    print_text,
    print_warnings,
)
from haystack_eval_ext.errors import HaystackEvalError
from haystack_eval_ext.runs._strict_json import strict_json
from haystack_eval_ext.runs.run import EvaluationRun
from haystack_eval_ext.runs.trec_runs import evaluate_trec, read_labels


class Queries(StrEnum):
    """Which queries count when qrels and run differ."""

    COMPLETE = "complete"
    INTERSECTION = "intersection"


class Undefined(StrEnum):
    """What a query without a score counts as."""

    ZERO = "zero"
    NAN = "nan"
    RAISE = "raise"


def trec(
    qrels: Annotated[
        Path, typer.Argument(metavar="QRELS", help="Labels: TREC's four columns, BEIR's .tsv, or a BEIR folder.")
    ],
    run_files: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Rankings: TREC's six columns.")],
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
    on_undefined: Annotated[
        Undefined,
        typer.Option(
            "--on-undefined",
            help="What a query without relevant documents counts as; nan leaves it out of the mean, as the means of "
            "Judged@k by other tools do.",
        ),
    ] = Undefined.ZERO,
    ignore_identical_ids: Annotated[
        bool,
        typer.Option(
            "--ignore-identical-ids",
            help="Leave out hits whose id is that of their query, as BEIR does (ArguAna, Quora).",
        ),
    ] = False,
    split: Annotated[
        str | None, typer.Option("--split", help='Of a BEIR folder: which labels. Default: "test", or the only ones.')
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Keep the run in a folder, for compare, check, export and baseline; several "
            "runs each in a folder of its own below it.",
        ),
    ] = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Score TREC run files against qrels, as trec_eval does."""
    with reported(debug=debug):
        names = measure_names(measures)
        folders = _folders(out, run_files, force=force)
        screen = console()
        try:
            with collected_warnings() as warnings:
                labels = read_labels(qrels, split=split)
        except HaystackEvalError as error:
            raise UserError(str(error)) from error
        runs: list[EvaluationRun] = []
        faults: list[HaystackEvalError] = []
        for file, folder in zip(run_files, folders, strict=True):
            try:
                with collected_warnings() as found:
                    run = evaluate_trec(
                        labels,
                        file,
                        names,
                        queries=queries.value,
                        relevance_threshold=threshold,
                        on_undefined=on_undefined.value,
                        out=folder,
                        name=file.name if folder is None else folder.name,
                        replace_run=force,
                        ignore_identical_ids=ignore_identical_ids,
                    )
            except HaystackEvalError as error:
                # The other files are scored, and shown before this is told.
                faults.append(error)
                continue
            runs.append(run)
            of = "" if len(run_files) == 1 else f"{run.name}: "
            warnings += [f"{of}{told}" for told in (*run.manifest["warnings"], *found)]
        if not runs:
            raise UserError(str(faults[0])) from faults[0]
        if per_query:
            for run in runs:
                _print_queries(run, several=len(run_files) > 1)
        _print_means(screen, runs, labels.name, single=len(run_files) == 1)
        print_warnings(warnings)
        if out is not None:
            where = "The run is in" if len(run_files) == 1 else "The runs are below"
            typer.echo(f"{where} {plain(str(out))}", err=True)
        if faults:
            raise UserError(" ".join(map(str, faults))) from faults[0]


def _folders(out: Path | None, files: list[Path], *, force: bool) -> list[Path | None]:
    """The folder of each run, checked before any file is read."""
    if out is None:
        return [None] * len(files)
    if len(files) == 1:
        return [run_folder(out, force=force)]
    names = [file.name.removesuffix(".gz") for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"--out: two run files are called {twice}, and each run needs a folder of its own. Rename one of them."
        raise UserError(msg)
    return [run_folder(out / name, force=force) for name in names]


def _print_queries(run: EvaluationRun, *, several: bool) -> None:
    for name, metric in run.metrics.items():
        for query, score in zip(run.ids, metric.scores, strict=True):
            columns = [*([run.name] if several else []), name.partition(".")[2], query]
            typer.echo("\t".join([*map(plain, columns), number(score)]))
    typer.echo()


def _print_means(screen: Console, runs: list[EvaluationRun], labels: str, *, single: bool) -> None:
    first = runs[0]
    if single:
        print_text(screen, f"{first.name} against {labels}, {len(first.ids)} queries")
        print_scores(screen, first.questions.values(), rows="Queries")
        return
    print_text(screen, f"{len(runs)} runs against {labels}")
    screen.print()
    lines = [[run.name, str(len(run.ids)), *map(number, run.scores.values())] for run in runs]
    print_table(screen, ["Run", "Queries", *first.metrics], lines)


def metrics(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every component and every measure: sockets, range, direction, source."""
    if as_json:
        typer.echo(strict_json(catalog()), nl=False)
    else:
        print_catalog(console(), catalog())
