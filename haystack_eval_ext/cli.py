# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `haystack-eval`: run an evaluation pipeline over data, score TREC files, list the metrics."""

import os
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from haystack_eval_ext._cli.catalog import catalog
from haystack_eval_ext._cli.faults import OneLineGroup, UserError, collected_warnings, fail, plain, reported
from haystack_eval_ext._cli.judging import (
    CacheFile,
    EmbedderFile,
    JudgeFile,
    MaxCalls,
    MaxCost,
    MaxTokens,
    Offline,
    PriceFile,
    Progress,
    judge_settings,
    print_plans,
)
from haystack_eval_ext._cli.output import check_file, metrics_json, run_folder, versions
from haystack_eval_ext._cli.rag import (
    Concurrency,
    Documents,
    Index,
    Isolate,
    MaxFailures,
    NoTexts,
    Rag,
    RagOptions,
    Repeats,
    Retrieved,
    RetryFailed,
    Sample,
    Seed,
    Set,
    Stratify,
    Timeout,
    run_rag,
    split_maps,
)
from haystack_eval_ext._cli.render import (
    console,
    number,
    print_catalog,
    print_list,
    print_scores,
    print_text,
    print_warnings,
)
from haystack_eval_ext._cli.run_result import print_run
from haystack_eval_ext._cli.runs_commands import register
from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext.retrieval._base import evaluate_keys
from haystack_eval_ext.retrieval._keys import has_key, make_keys
from haystack_eval_ext.retrieval._names import split_measures
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._labels import check_label_field
from haystack_eval_ext.runs._strict_json import strict_json, write_strict_json
from haystack_eval_ext.runs.dataset import Dataset, read_dataset
from haystack_eval_ext.runs.evaluation import (
    EvaluationError,
    MappingError,
    MetricScores,
    OneByOneError,
    PipelineFileError,
    UnfedSocketError,
    WithheldFaultError,
    load_pipeline,
    read_pipeline_text,
    single_evaluator,
    takes_batches,
)
from haystack_eval_ext.runs.judging import judged_components, plan_judges, prepare_judges, set_judges
from haystack_eval_ext.runs.run import load_run
from haystack_eval_ext.runs.trec import align, read_qrels, read_run

app = typer.Typer(
    name="haystack-eval",
    cls=OneLineGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


# What the command line adds to a fault of the library, which knows no options.
_HINTS: dict[type[EvaluationError], str] = {
    MappingError: "Correct --map.",
    OneByOneError: "An evaluation pipeline takes all rows at once, as 'retrieval' does; a RAG pipeline, which takes "
    "one question at a time, goes into --rag.",
    UnfedSocketError: "Another column can feed it: --map component.socket=column.",
    WithheldFaultError: "--debug shows it.",
}


# Of a run in which no row of some metric could be judged.
_NOTHING_JUDGED = 1
# As a shell reports a process that a closed pipe ended.
_PIPE_CLOSED = 141


class Queries(StrEnum):
    """Which queries count when qrels and run differ."""

    COMPLETE = "complete"
    INTERSECTION = "intersection"


_Data = Annotated[
    Path, typer.Option("--data", metavar="FILE", help="Rows: .jsonl, .ndjson, .json, .csv or .tsv, also .gz.")
]
_Pipeline = Annotated[
    str | None,
    typer.Argument(metavar="PIPELINE", help="A YAML file, or the name of a shipped pipeline, such as retrieval."),
]
_Measures = Annotated[
    list[str],
    typer.Option(
        "-m", "--measures", metavar="NAMES", help="Such as 'nDCG@10,R@5 AP'; `haystack-eval metrics` lists them."
    ),
]
_KeyFields = Annotated[
    list[str],
    typer.Option(
        "--key-field",
        metavar="FIELD",
        help="Where bare keys in the data go, and what -m compares: id, content or meta.<key>. Several make a "
        "composite key for -m; bare keys fill the first of them.",
    ),
]
_Map = Annotated[
    list[str],
    typer.Option(
        "--map",
        metavar="COMPONENT.SOCKET=COLUMN",
        help="Feed a socket from a column of another meaning; with --rag also NAME=COMPONENT.SOCKET: where the query, "
        "a column, the answers or the documents are. Repeatable.",
    ),
]
_Threshold = Annotated[
    float | None,
    typer.Option(
        "--relevance-threshold",
        metavar="N",
        help="Lowest relevant grade of the measures (-m); without it every one above 0.",
    ),
]
_Force = Annotated[bool, typer.Option("--force", help="Write even if something is there already.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def _show_version(value: bool) -> None:
    if value:
        found = versions()
        typer.echo(f"haystack-eval-ext {found['haystack-eval-ext']} (haystack-ai {found['haystack-ai']})")
        raise typer.Exit


@app.callback()
def _commands(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Evaluate retrieval and RAG results with Haystack components."""


@app.command()
def run(
    data: _Data,
    pipeline: _Pipeline = None,
    measures: _Measures = [],  # noqa: B006 - typer hands a new list to each call
    key_fields: _KeyFields = ["id"],  # noqa: B006
    maps: _Map = [],  # noqa: B006
    threshold: _Threshold = None,
    rag: Rag = None,
    index: Index = None,
    documents: Documents = None,
    changes: Set = [],  # noqa: B006
    retrieved: Retrieved = None,
    concurrency: Concurrency = 8,
    isolate: Isolate = False,
    repeats: Repeats = 1,
    sample: Sample = None,
    seed: Seed = 0,
    stratify: Stratify = None,
    timeout: Timeout = None,
    max_failures: MaxFailures = None,
    retry_failed: RetryFailed = False,
    judge: JudgeFile = None,
    embedder: EmbedderFile = None,
    cache: CacheFile = None,
    offline: Offline = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    prices: PriceFile = None,
    progress: Progress = True,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN_DIR", help="Folder to keep the run in.")] = None,
    no_texts: NoTexts = False,
    force: _Force = False,
    debug: _Debug = False,
) -> None:
    """Run an evaluation pipeline, or measures alone (-m), over data, a kept run, or a RAG pipeline (--rag)."""
    with reported(debug=debug):
        maps, rag_maps = split_maps(maps)
        options = RagOptions(
            rag=rag,
            index=index,
            documents=documents,
            changes=changes,
            maps=rag_maps,
            retrieved=retrieved,
            concurrency=concurrency,
            isolate=isolate,
            repeats=repeats,
            sample=sample,
            seed=seed,
            stratify=stratify,
            timeout=timeout,
            max_failures=max_failures,
            retry_failed=retry_failed,
        )
        _check_run_arguments(pipeline, measures, key_fields, maps, threshold)
        options.check()
        settings = judge_settings(
            judge=judge,
            embedder=embedder,
            cache=cache,
            offline=offline,
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost=max_cost,
            prices=prices,
            progress=progress,
        )
        with collected_warnings() as warnings:
            if pipeline is None:
                source = None
                loaded = single_evaluator(_split(measures), key_fields, threshold)
            else:
                source = Path(pipeline) if Path(pipeline).is_file() else _shipped(pipeline)
                loaded = load_pipeline(read_pipeline_text(source), source.name)
            # Prices alone may be those of the RAG pipeline.
            priced = rag is not None and not judged_components(loaded)
            set_judges(loaded, replace(settings, prices=None) if priced else settings)
            folder = None if out is None else run_folder(out, force=force)
            name = data.name if folder is None else folder.name
            mapping, note = _mapping(maps), ""
            try:
                prepare_judges(loaded)
                if data.is_dir():
                    options.refuse_kept_run(data)
                    found = api.evaluate(loaded, load_run(data), name=name, mapping=mapping)
                else:
                    dataset = read_dataset(data, label_field=key_fields[0])
                    note = _incomplete_keys(dataset, key_fields)
                    if rag is None:
                        found = api.evaluate(loaded, dataset, name=name, mapping=mapping)
                    else:
                        found = run_rag(
                            loaded,
                            dataset,
                            options,
                            out=folder,
                            mapping=mapping,
                            settings=settings,
                            force=force,
                            texts=not no_texts,
                        )
            except EvaluationError as error:
                hint = "" if isinstance(error, UnfedSocketError) and source is None else _HINTS.get(type(error), "")
                raise UserError(" ".join(filter(None, (str(error), hint, note)))) from error
        warnings += [note] if note else []
        if folder is not None:
            found = replace(found, manifest={**found.manifest, "warnings": warnings})
            found.save(folder, texts=not no_texts, replace=True)
        print_run(f"{'measures' if source is None else source.stem} over {data.name}", found, warnings)
        if folder is not None:
            typer.echo(f"The run is in {plain(str(folder))}", err=True)
        if any("error" in metric.statuses and "scored" not in metric.statuses for metric in found.metrics.values()):
            # A judge that answers nothing must not pass for a good run in CI.
            raise typer.Exit(_NOTHING_JUDGED)


@app.command()
def plan(
    data: _Data,
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE", help="A YAML file, or a shipped pipeline.")],
    maps: _Map = [],  # noqa: B006
    judge: JudgeFile = None,
    embedder: EmbedderFile = None,
    cache: CacheFile = None,
    prices: PriceFile = None,
    debug: _Debug = False,
) -> None:
    """Tell what the judges of a pipeline would be asked over a data file, before any money is spent."""
    with reported(debug=debug):
        settings = judge_settings(judge=judge, embedder=embedder, cache=cache, prices=prices)
        source = Path(pipeline) if Path(pipeline).is_file() else _shipped(pipeline)
        with collected_warnings() as warnings:
            loaded = load_pipeline(read_pipeline_text(source), source.name)
            set_judges(loaded, settings)
            dataset = read_dataset(data)
            plans, unplanned = plan_judges(loaded, dataset, _mapping(maps))
        screen = console()
        print_text(screen, f"{source.stem} over {data.name}, {len(dataset)} rows")
        screen.print()
        print_plans(screen, plans, unplanned)
        print_warnings(warnings)


@app.command()
def trec(
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Labels: TREC's four columns, or BEIR's .tsv.")],
    run_file: Annotated[Path, typer.Argument(metavar="RUN", help="Rankings: TREC's six columns.")],
    measures: _Measures,
    per_query: Annotated[
        bool, typer.Option("--per-query", help="First print a line for each measure and query: measure, query, score.")
    ] = False,
    queries: Annotated[
        Queries,
        typer.Option(
            "--queries", help="complete: a judged query that the run lacks counts as 0. intersection: it is left out."
        ),
    ] = Queries.COMPLETE,
    threshold: _Threshold = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the results as JSON.")] = None,
    force: _Force = False,
    debug: _Debug = False,
) -> None:
    """Score a TREC run file against qrels, as trec_eval does."""
    with reported(debug=debug):
        names = _split(measures)
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


@app.command()
def metrics(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every component and every measure: sockets, range, direction, source."""
    if as_json:
        typer.echo(strict_json(catalog()), nl=False)
    else:
        print_catalog(console(), catalog())


register(app)


def main() -> None:
    """Run the command with the arguments of the process."""
    # Closed streams are None; what is written to them goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids in any script must not end a run on a terminal that cannot show them.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # a full device is met only here
    except OSError as error:
        # What is left in the buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(_PIPE_CLOSED)
        fail(f"Cannot write the result: {error.strerror}. Choose another place.")


def _incomplete_keys(dataset: Dataset, key_fields: list[str]) -> str:
    """What to know about documents that have the first part of a composite key alone, as bare keys give it."""
    if len(key_fields) == 1:
        return ""
    first, whole = make_keys(key_fields[0]).of, make_keys(key_fields).of
    columns = [dataset.column(name) for name in ("documents", "relevant_documents") if dataset.has(name)]
    documents = [document for column in columns for row in column for document in row]
    count = sum(has_key(first(document)) and not has_key(whole(document)) for document in documents)
    if not count:
        return ""
    return (
        f"{count} of {len(documents)} documents in the data have {key_fields[0]} but not all of "
        f"{', '.join(key_fields[1:])}, so that they match nothing: a bare key fills only the first --key-field. Write "
        "them as Documents in JSON."
    )


def _check_run_arguments(
    pipeline: str | None, measures: list[str], key_fields: list[str], maps: list[str], threshold: float | None
) -> None:
    msg = ""
    if pipeline is None and not measures:
        names = ", ".join(filter(_takes_batches, pipeline_names()))
        msg = f"Nothing to run: give PIPELINE, a YAML file or a shipped one ({names}), or measures, such as -m nDCG@10."
    elif pipeline is not None and measures:
        msg = "PIPELINE and -m exclude each other: a pipeline brings its own measures. Leave one of them out."
    elif maps and pipeline is None:
        msg = "--map names sockets of a PIPELINE, so it does not go with -m. Leave it out."
    elif threshold is not None and pipeline is not None:
        msg = "--relevance-threshold goes with -m: a PIPELINE sets relevance_threshold in its YAML. Leave it out."
    elif len(key_fields) > 1 and pipeline is not None:
        msg = "--key-field: a PIPELINE says itself what it compares; name one field, where bare keys of the data go."
    if msg:
        raise UserError(msg)
    for field in key_fields:
        try:
            check_label_field(field)
        except ValueError:
            msg = f"--key-field must be id, content or meta.<key>, but is {field!r}."
            raise UserError(msg) from None


def _takes_batches(name: str) -> bool:
    try:
        return takes_batches(load_pipeline(read_pipeline_text(pipeline_path(name)), name))
    except PipelineFileError:
        return True  # running it tells what it lacks, such as a key of a model's provider


def _split(measures: list[str]) -> list[str]:
    names = [name for text in measures for name in split_measures(text)]
    if not names:
        msg = "-m names no measure; write for example -m 'nDCG@10 R@100 AP'."
        raise UserError(msg)
    return names


def _shipped(name: str) -> Path:
    try:
        return pipeline_path(name)
    except ValueError:
        msg = f"PIPELINE {name!r} is neither a file nor a shipped pipeline; those are {', '.join(pipeline_names())}."
        raise UserError(msg) from None


def _mapping(maps: list[str]) -> dict[str, str]:
    mapping = {}
    for text in maps:
        target, equals, column = text.partition("=")
        if not equals or not column or "." not in target:
            msg = f"--map must look like COMPONENT.SOCKET=COLUMN, but is {text!r}."
            raise UserError(msg)
        if target in mapping:
            msg = f"--map feeds {target} twice; name one column for it."
            raise UserError(msg)
        mapping[target] = column
    return mapping


if __name__ == "__main__":
    main()
