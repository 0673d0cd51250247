# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands for runs that are kept: compare, check, baseline, export."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from haystack_eval_ext._cli.faults import UserError, collected_warnings, plain, reported
from haystack_eval_ext._cli.gating import (
    ByMean,
    FailIf,
    InconclusiveAs,
    Rule,
    TolerateFailed,
    end_with,
    gate_options,
)
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
)
from haystack_eval_ext._cli.options import Debug, hint_of, socket_mapping
from haystack_eval_ext._cli.output import targets
from haystack_eval_ext._cli.render import console, print_scores, print_text, print_warnings
from haystack_eval_ext._cli.runs_tables import print_comparison, print_gate
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._comparison_text import comparison_json, comparison_markdown, gate_json
from haystack_eval_ext.runs._forecast import forecast_lines
from haystack_eval_ext.runs._rescoring import metrics_anew
from haystack_eval_ext.runs._run_exports import write_text
from haystack_eval_ext.runs._strict_json import write_strict_json
from haystack_eval_ext.runs.gate import TOLERATED, check_conditions, markdown_table
from haystack_eval_ext.runs.run import EvaluationRun, load_run


class ExportFormat(StrEnum):
    """What a run can be written as."""

    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


_STDOUT = Path("-")
_SUFFIXES = {
    ".csv": ExportFormat.CSV,
    ".json": ExportFormat.JSON,
    ".md": ExportFormat.MARKDOWN,
    ".markdown": ExportFormat.MARKDOWN,
}

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
_RunOrBaseline = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a baseline file.")]
Confidence = Annotated[float, typer.Option("--confidence", metavar="SHARE", help="Of the intervals.")]
_Markdown = Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Write a table for a pull request.")]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]


def compare(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The folder of a run, or a baseline file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The folder of a run, or a baseline file.")],
    common: Annotated[bool, typer.Option("--common", help="Compare the questions that both have.")] = False,
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Compare the means of different questions.")] = False,
    rejudge: Annotated[bool, typer.Option("--rejudge", help="Score both anew with the pipeline of NEW first.")] = False,
    metrics: Annotated[
        list[str], typer.Option("--metric", metavar="NAME", help="Compare this metric alone; repeatable.")
    ] = [],  # noqa: B006 - typer hands a new list to each call
    by: Annotated[
        list[str], typer.Option("--by", metavar="TAG", help="Also for the rows of a tag; * for each; repeatable.")
    ] = [],  # noqa: B006
    fail_if: FailIf = [],  # noqa: B006
    inconclusive: InconclusiveAs = None,
    by_mean: ByMean = False,
    tolerate_failed: TolerateFailed = TOLERATED,
    rule: Rule = None,
    margins: Annotated[
        list[str],
        typer.Option(
            "--margin", metavar="[METRIC=]N", help="The change that matters: tells how many questions would show it."
        ),
    ] = [],  # noqa: B006
    confidence: Confidence = 0.95,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Starts the randomisation tests.")] = 0,
    changed: Annotated[int, typer.Option("--changed", metavar="N", min=0, help="List so many changed questions.")] = 10,
    markdown: _Markdown = None,
    json_file: JsonFile = None,
    force: Force = False,
    judge: JudgeFile = None,
    embedder: EmbedderFile = None,
    cache: CacheFile = None,
    offline: Offline = False,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    prices: PriceFile = None,
    maps: Annotated[
        list[str],
        typer.Option(
            "--map", metavar="COMPONENT.SOCKET=COLUMN", help="Feed a socket from a column of another meaning."
        ),
    ] = [],  # noqa: B006
    progress: Progress = True,
    debug: Debug = False,
) -> None:
    """
    Compare two runs over the same questions; with --fail-if the exit code is a verdict.

    The options of judges, from --judge to --progress, go with --rejudge.
    """
    with reported(debug=debug, kept=Kept(cache=cache, judged=rejudge)):
        if common and unpaired:
            msg = "--common and --unpaired exclude each other: the first pairs the shared questions, the second none."
            raise UserError(msg)
        how = gate_options(fail_if, inconclusive, by_mean=by_mean, tolerate_failed=tolerate_failed, rule=rule)
        given = {
            "--judge": judge,
            "--embedder": embedder,
            "--cache": cache,
            "--offline": offline or None,
            "--max-calls": max_calls,
            "--max-tokens": max_tokens,
            "--max-cost": max_cost,
            "--prices": prices,
            "--map": maps or None,
            "--no-progress": None if progress else True,
        }
        of_judges = [option for option, value in given.items() if value is not None]
        if of_judges and not rejudge:
            msg = f"{', '.join(of_judges)}: nothing is judged without --rejudge; add it, or leave them out."
            raise UserError(msg)
        files = targets({"--markdown": markdown, "--json": json_file}, [base, new], force=force)
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
        before, after = load_run(base), load_run(new)
        names = metrics_anew(after) if rejudge else [name for name in after.metrics if name in before.metrics]
        if metrics:
            names = [name for name in names if name in metrics]
        if rejudge:
            check_conditions(fail_if, names)
        try:
            with collected_warnings() as warnings:
                found = api.compare(
                    before,
                    after,
                    common=common,
                    unpaired=unpaired,
                    metrics=metrics or None,
                    seed=seed,
                    confidence=confidence,
                    margins=_margins(margins, names),
                    by=by or None,
                    changed=changed,
                    rejudge=rejudge,
                    judge=settings if rejudge else None,
                    mapping=socket_mapping(maps) if maps else None,
                )
        except EvaluationError as error:
            raise UserError(" ".join(filter(None, (str(error), hint_of(error))))) from error
        results = api.check(found, fail_if, **how) if fail_if else []
        if markdown is not None:
            write_text(files["--markdown"], comparison_markdown(found, results))
        if json_file is not None:
            write_strict_json(files["--json"], comparison_json(found, results))
        screen = console()
        print_comparison(screen, found)
        print_warnings(warnings)
        if results:
            print_gate(screen, results)
            end_with(results, inconclusive)


def check(
    run: _RunOrBaseline,
    fail_if: FailIf,
    inconclusive: InconclusiveAs = None,
    by_mean: ByMean = False,
    tolerate_failed: TolerateFailed = TOLERATED,
    rule: Rule = None,
    confidence: Confidence = 0.95,
    markdown: _Markdown = None,
    json_file: JsonFile = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Check the means of one run: exit code 0 for pass, 1 for fail."""
    with reported(debug=debug):
        how = gate_options(fail_if, inconclusive, by_mean=by_mean, tolerate_failed=tolerate_failed, rule=rule)
        files = targets({"--markdown": markdown, "--json": json_file}, [run], force=force)
        found = load_run(run)
        results = api.check(found, fail_if, confidence=confidence, **how)
        if markdown is not None:
            write_text(files["--markdown"], markdown_table(results))
        if json_file is not None:
            write_strict_json(files["--json"], {"run": found.name, **gate_json(results)})
        screen = console()
        _print_run(found)
        print_gate(screen, results)
        end_with(results, inconclusive)


def baseline(
    run: Run,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where the baseline goes: a JSON file.")],
    force: Force = False,
    debug: Debug = False,
) -> None:
    """
    Write ids, scores and fingerprints of a run, without texts: small enough to commit.

    Says which drops a gate against it would most likely find.
    """
    with reported(debug=debug):
        files = targets({"--out": out}, [run], force=force)
        kept = load_run(run)
        kept.baseline(files["--out"])
        typer.echo(f"The baseline is in {plain(str(out))}", err=True)
        for line in forecast_lines(api.forecast(kept)):
            typer.echo(plain(line), err=True)


def export(
    run: _RunOrBaseline,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes; - is standard output.")],
    to: Annotated[ExportFormat | None, typer.Option("--to", help="The form; without it by the file's suffix.")] = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Write a run as CSV, JSON or Markdown. `run --data` reads CSV and JSON again, to the same scores."""
    with reported(debug=debug):
        form = to or _SUFFIXES.get(file.suffix.lower())
        if file == _STDOUT:
            _write_out(run, form)
            return
        if form is None:
            msg = f"--to: the suffix of {file} names no form; add --to csv, --to json or --to markdown."
            raise UserError(msg)
        target = targets({"FILE": file}, [run], force=force)["FILE"]
        found = load_run(run)
        {
            ExportFormat.CSV: found.to_csv,
            ExportFormat.JSON: found.to_json,
            ExportFormat.MARKDOWN: found.to_markdown,
        }[form](target)
        typer.echo(f"{found.name} is in {plain(str(file))}", err=True)


def _write_out(run: Path, form: ExportFormat | None) -> None:
    if form is None:
        msg = "--to: standard output has no suffix that names a form; add --to csv, --to json or --to markdown."
        raise UserError(msg)
    found = load_run(run)
    text = {ExportFormat.CSV: found.to_csv, ExportFormat.JSON: found.to_json, ExportFormat.MARKDOWN: found.to_markdown}
    sys.stdout.write(text[form]())


def _margins(given: list[str], names: list[str]) -> dict[str, float]:
    """Margins by metric; a number alone is for all that have none of their own."""
    margins: dict[str, float] = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if math.isnan(value) or (equals and not name):
            msg = f"--margin must be a number above 0, or METRIC=NUMBER, but is {text!r}."
            raise UserError(msg)
        if name and name not in names:
            msg = f"--margin: '{name}' is no metric of both runs; there are: {', '.join(names)}."
            raise UserError(msg)
        margins |= {name: value} if name else {each: value for each in names if each not in margins}
    return margins


def _print_run(run: EvaluationRun) -> None:
    screen = console()
    print_text(screen, f"{run.name}, {len(run.ids)} questions")
    print_scores(screen, run.questions.values())
