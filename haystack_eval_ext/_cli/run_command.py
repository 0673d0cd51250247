# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands `run` and `plan`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from haystack_eval_ext._cli.faults import UserError, collected_warnings, in_options, plain, reported
from haystack_eval_ext._cli.gating import Baseline, FailIf, gate_options
from haystack_eval_ext._cli.interrupts import Kept
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
    nothing_judged,
    print_plans,
)
from haystack_eval_ext._cli.options import (
    Columns,
    DataFile,
    Debug,
    Force,
    KeyFields,
    Maps,
    Measures,
    PipelineName,
    PlanMaps,
    Threshold,
    column_meanings,
    hint_of,
    measure_names,
    pipeline_file,
    socket_mapping,
)
from haystack_eval_ext._cli.output import run_folder
from haystack_eval_ext._cli.rag import (
    Documents,
    Index,
    NoTexts,
    Rag,
    RagOptions,
    Set,
    run_rag,
    split_maps,
    takes_asking,
)
from haystack_eval_ext._cli.render import (
    console,
    print_text,
    print_warnings,
)
from haystack_eval_ext._cli.run_result import print_run
from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext.errors import (
    EvaluationError,
    PipelineFileError,
    UnfedSocketError,
)
from haystack_eval_ext.retrieval._keys import has_key, make_keys
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._compared_field import DEFAULT_FIELD, field_of_run, load_evaluators
from haystack_eval_ext.runs._faults import texts_wanted
from haystack_eval_ext.runs._forecast import forecast_lines
from haystack_eval_ext.runs._labels import check_label_field
from haystack_eval_ext.runs.dataset import Dataset, read_dataset
from haystack_eval_ext.runs.evaluation import load_pipeline, read_pipeline_text, single_evaluator, takes_batches
from haystack_eval_ext.runs.judging import judged_components, plan_judges, set_judges
from haystack_eval_ext.runs.run import EvaluationRun, load_run

# Of a run in which no row of some metric could be judged.
_NOTHING_JUDGED = 1


@takes_asking
def run(
    data: DataFile,
    pipeline: PipelineName = None,
    measures: Measures = [],  # noqa: B006 - typer hands a new list to each call
    key_fields: KeyFields = [],  # noqa: B006
    maps: Maps = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    threshold: Threshold = None,
    rag: Rag = None,
    index: Index = None,
    documents: Documents = None,
    changes: Set = [],  # noqa: B006
    *,
    asking: dict[str, Any],
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
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Run an evaluation pipeline, or measures alone (-m), over data, a kept run, or a RAG pipeline (--rag)."""
    in_hand = Kept(out, cache, asks=rag is not None)
    with texts_wanted(not no_texts), reported(debug=debug, kept=in_hand):
        maps, rag_maps = split_maps(maps)
        options = RagOptions(
            rag=rag,
            index=index,
            documents=documents,
            changes=changes,
            maps=rag_maps,
            asking=asking,
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
        folder = None if out is None else run_folder(out, force=force, going_on=rag is not None)
        with collected_warnings() as warnings:
            if data.is_dir():
                options.refuse_kept_run(data)
                if columns:
                    msg = "--column is for a data file: a kept run has its columns under our names. Leave it out."
                    raise UserError(msg)
                kept = load_run(data)
                stored: Dataset | EvaluationRun = kept
                recorded = field_of_run(kept)
                key_fields = key_fields or ([] if recorded is None else [recorded])
            else:
                label_field = key_fields[0] if key_fields else DEFAULT_FIELD
                stored = read_dataset(data, label_field=label_field, columns=column_meanings(columns))
            note = _incomplete_keys(stored, key_fields) if isinstance(stored, Dataset) else ""
            source = None if pipeline is None else pipeline_file(pipeline)
            name = data.name if folder is None else folder.name
            mapping = socket_mapping(maps)
            try:
                if source is None:
                    loaded = single_evaluator(measure_names(measures), key_fields or [DEFAULT_FIELD], threshold)
                else:
                    field = key_fields[0] if key_fields else None
                    loaded = load_evaluators(read_pipeline_text(source), source.name, field)
                in_hand.judged = bool(judged_components(loaded))
                if rag is None or not isinstance(stored, Dataset):
                    found = api.evaluate(loaded, stored, name=name, mapping=mapping, judge=settings, progress=progress)
                else:
                    # Prices alone may be those of the RAG pipeline.
                    judged = settings if judged_components(loaded) else replace(settings, prices=None)
                    found = run_rag(
                        loaded,
                        stored,
                        options,
                        out=folder,
                        mapping=mapping,
                        judge=judged,
                        prices=settings.prices,
                        force=force,
                        texts=not no_texts,
                    )
            except EvaluationError as error:
                hint = "" if isinstance(error, UnfedSocketError) and source is None else hint_of(error)
                raise UserError(" ".join(filter(None, (error.told(in_options), hint, note)))) from error
        warnings += [note] if note else []
        if folder is not None:
            found = replace(found, manifest={**found.manifest, "warnings": warnings})
            found.save(folder, texts=not no_texts, replace=True)
        print_run(f"{'measures' if source is None else source.stem} over {data.name}", found, warnings)
        if folder is not None:
            typer.echo(f"The run is in {plain(str(folder))}", err=True)
        if lacking := nothing_judged(found.metrics):
            # A judge that answers nothing must not pass for a good run in CI.
            print_warnings([lacking])
            raise typer.Exit(_NOTHING_JUDGED)


def plan(
    data: DataFile,
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE", help="A YAML file, or a shipped pipeline.")],
    maps: PlanMaps = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    judge: JudgeFile = None,
    embedder: EmbedderFile = None,
    cache: CacheFile = None,
    prices: PriceFile = None,
    debug: Debug = False,
    baseline: Baseline = None,
    fail_if: FailIf = [],  # noqa: B006
) -> None:
    """
    Tell what the judges of a pipeline would be asked over a data file, before any money is spent.

    Tells as well which change a gate over these questions would find.
    """
    with reported(debug=debug):
        gate_options(fail_if)
        known = None if baseline is None else load_run(baseline)
        settings = judge_settings(judge=judge, embedder=embedder, cache=cache, prices=prices)
        source = pipeline_file(pipeline)
        with collected_warnings() as warnings:
            loaded = load_pipeline(read_pipeline_text(source), source.name)
            set_judges(loaded, settings)
            dataset = read_dataset(data, columns=column_meanings(columns))
            plans, unplanned = plan_judges(loaded, dataset, socket_mapping(maps))
        screen = console()
        print_text(screen, f"{source.stem} over {data.name}, {len(dataset)} rows")
        screen.print()
        print_plans(screen, plans, unplanned)
        screen.print()
        for line in forecast_lines(api.forecast(len(dataset) if known is None else known, fail_if)):
            print_text(screen, line)
        print_warnings(warnings)


def _incomplete_keys(dataset: Dataset, key_fields: list[str]) -> str:
    """What to know about documents that have the first part of a composite key alone, as bare keys give it."""
    if len(key_fields) <= 1:
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
