# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The command agree: a metric of a kept run against people."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from haystack_eval_ext._cli.agreement_tables import print_agreement
from haystack_eval_ext._cli.faults import UserError, collected_warnings, reported
from haystack_eval_ext._cli.gating import InconclusiveAs, end_as
from haystack_eval_ext._cli.options import Debug
from haystack_eval_ext._cli.output import targets
from haystack_eval_ext._cli.render import console, print_text, print_warnings
from haystack_eval_ext._cli.runs_commands import Confidence, Force, JsonFile, Run
from haystack_eval_ext.errors import HaystackEvalError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._agreement import kappa_outcome
from haystack_eval_ext.runs._comparison_text import agreement_json
from haystack_eval_ext.runs._people import metrics_for_people
from haystack_eval_ext.runs._run_exports import shown, shown_interval
from haystack_eval_ext.runs._strict_json import write_strict_json
from haystack_eval_ext.runs.gate import worst_outcome
from haystack_eval_ext.runs.run import EvaluationRun, load_run


class Weights(StrEnum):
    """How near misses count in kappa."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


def agree(
    run: Run,
    human: Annotated[
        list[str],
        typer.Option(
            "--human",
            metavar="COLUMN",
            help="The column with people's labels, of the data or of --labels; repeatable, one for each rater.",
        ),
    ] = [],  # noqa: B006 - typer hands a new list to each call
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", metavar="NAME", help="The metric to compare with them; without it the only one, or all judged."
        ),
    ] = None,
    labels: Annotated[
        list[Path],
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Labels made later, with the column id: .csv, .tsv, .jsonl, .json, .parquet; repeatable.",
        ),
    ] = [],  # noqa: B006
    label_words: Annotated[
        list[str],
        typer.Option("--label-words", metavar="WORD=N,...", help="What your words mean: right=1,wrong=0; repeatable."),
    ] = [],  # noqa: B006
    label_range: Annotated[
        str | None,
        typer.Option("--label-range", metavar="LOW:HIGH", help="Lowest and highest label, which become 0 and 1: 1:5."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="N", help="Make both 1 (at least N) and 0.")
    ] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Choose the threshold of the scores by cross-validation.")
    ] = False,
    folds: Annotated[int, typer.Option("--folds", metavar="N", min=2, help="The parts of --sweep.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Starts the draw of the parts.")] = 0,
    weights: Annotated[Weights | None, typer.Option("--weights", help="Let near misses of grades count.")] = None,
    by: Annotated[
        list[str], typer.Option("--by", metavar="TAG", help="Also for the rows of a tag; * for each; repeatable.")
    ] = [],  # noqa: B006
    show: Annotated[int, typer.Option("--show", metavar="N", min=0, help="List so many rows that differ.")] = 10,
    texts: Annotated[bool, typer.Option("--texts", help="With question and answer, if the run has its texts.")] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            metavar="KAPPA",
            min=-1,
            max=1,
            help="Exit with 1 if kappa is below for certain: with its whole interval.",
        ),
    ] = None,
    inconclusive: InconclusiveAs = None,
    confidence: Confidence = 0.95,
    json_file: JsonFile = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Tell how far a metric agrees with people: confusion table, kappa, rates, raters, and the rows that differ."""
    with reported(debug=debug):
        if inconclusive and fail_under is None:
            msg = "--inconclusive says how --fail-under is decided; add --fail-under."
            raise UserError(msg)
        files = targets({"--json": json_file}, [run, *labels], force=force)
        loaded = load_run(run)
        names = [metric] if metric is not None else _metrics_for_people(loaded)
        with collected_warnings() as warnings:
            found = {
                name: api.agree(
                    loaded,
                    human or None,
                    name,
                    threshold=threshold,
                    weights=cast('Literal["linear", "quadratic"] | None', weights and weights.value),
                    confidence=confidence,
                    labels=list(labels) or None,
                    label_words=_words(label_words),
                    label_range=_limits(label_range),
                    by=by or None,
                    sweep=sweep,
                    folds=folds,
                    seed=seed,
                    texts=texts,
                )
                for name in names
            }
        outcomes = {name: kappa_outcome(each, fail_under) for name, each in found.items() if fail_under is not None}
        if json_file is not None:
            verdicts = {"fail_under": fail_under, "outcomes": outcomes} if outcomes else {}
            metrics = {name: agreement_json(each) for name, each in found.items()}
            write_strict_json(files["--json"], {"run": loaded.name, "metrics": metrics, **verdicts})
        screen = console()
        for place, each in enumerate(found.values()):
            if place:
                screen.print()
            print_agreement(screen, each, confidence=confidence, listed=show)
        print_warnings([*dict.fromkeys(note for each in found.values() for note in each.notes), *warnings])
        if fail_under is not None:
            screen.print()
            for name, outcome in outcomes.items():
                kappa = f"{shown(found[name].kappa)} ({shown_interval(found[name].kappa_interval)})"
                print_text(screen, f"fails if kappa of {name} < {fail_under:g}: {outcome}: kappa is {kappa}")
            end_as(worst_outcome(outcomes.values()), inconclusive)


def _words(given: list[str]) -> dict[str, float]:
    words: dict[str, float] = {}
    for text in given:
        for part in text.split(","):
            word, _, number = part.rpartition("=")
            try:
                value = float(number)
            except ValueError:
                value = None
            if not word.strip() or value is None or word in words:
                msg = f"--label-words must look like right=1,wrong=0, each word once, but is {text!r}."
                raise UserError(msg)
            words[word] = value
    return words


def _limits(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        msg = f"--label-range must look like 1:5, but is {text!r}."
        raise UserError(msg) from None


def _metrics_for_people(run: EvaluationRun) -> list[str]:
    try:
        return metrics_for_people(run)
    except HaystackEvalError as error:
        msg = f"--metric: {error}"
        raise UserError(msg) from error
