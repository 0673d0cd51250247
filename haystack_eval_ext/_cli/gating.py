# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The options of a gate, what they come to, and its exit code."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, NoReturn, TypedDict

import typer

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext._cli.render import print_warnings
from haystack_eval_ext.errors import HaystackEvalError
from haystack_eval_ext.runs.gate import TOLERATED, GateResult, Outcome, exit_code, overall_outcome, parse_condition


class Inconclusive(StrEnum):
    """What an inconclusive gate counts as."""

    PASS = "pass"  # noqa: S105 - the outcome of a gate
    WARN = "warn"
    FAIL = "fail"


class GateRule(StrEnum):
    """When a change fails a gate."""

    SIGNIFICANT = "significant"
    STRICT = "strict"


FailIf = Annotated[
    list[str],
    typer.Option(
        "--fail-if", metavar="CONDITION", help="'METRIC < NUMBER', 'METRIC drops NUMBER' (or rises); repeatable."
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="A baseline, or the folder of a run, that the gate will compare with."
    ),
]
InconclusiveAs = Annotated[
    Inconclusive | None,
    typer.Option("--inconclusive", help="What counts if the questions are too few to tell: exit code 0, 0 or 3."),
]
ByMean = Annotated[bool, typer.Option("--by-mean", help="Go by the means alone, without intervals.")]
Rule = Annotated[
    GateRule | None,
    typer.Option(
        "--rule",
        help="A change fails if it is certain and its mean beyond the margin (significant, the default), or if its "
        "whole interval is (strict).",
    ),
]
TolerateFailed = Annotated[
    float,
    typer.Option(
        "--tolerate-failed",
        metavar="SHARE",
        min=0,
        max=1,
        help="Share of rows without a score that may be like the others.",
    ),
]


class GateOptions(TypedDict):
    """What `api.check` takes."""

    by_mean: bool
    tolerate_failed: float
    rule: Literal["significant", "strict"]


def gate_options(
    conditions: list[str],
    inconclusive: Inconclusive | None = None,
    *,
    by_mean: bool = False,
    tolerate_failed: float = TOLERATED,
    rule: GateRule | None = None,
) -> GateOptions:
    """
    Read how a gate is decided, and its conditions before there is anything to check them on.

    :param conditions: What fails it.
    :param inconclusive: What an inconclusive gate counts as.
    :param by_mean: Whether the means alone decide.
    :param tolerate_failed: The share of rows without a score that may be like the others.
    :param rule: When a change fails it.
    :returns: What `api.check` takes.
    :raises UserError: If options exclude each other or do nothing, or a condition is none.
    """
    if not conditions and (inconclusive or by_mean or rule or tolerate_failed != TOLERATED):
        msg = "--inconclusive, --by-mean, --rule and --tolerate-failed say how --fail-if is decided; add --fail-if."
        raise UserError(msg)
    if by_mean and rule:
        msg = "--by-mean and --rule exclude each other: by the means alone there are no intervals. Leave one out."
        raise UserError(msg)
    for text in conditions:
        try:
            parse_condition(text)
        except HaystackEvalError as error:
            msg = f"--fail-if: {error}"
            raise UserError(msg) from error
    return {"by_mean": by_mean, "tolerate_failed": tolerate_failed, "rule": (rule or GateRule.SIGNIFICANT).value}


def end_with(results: list[GateResult], inconclusive: Inconclusive | None) -> None:
    """
    End the command with the exit code of a gate.

    :param results: Its results.
    :param inconclusive: What an inconclusive gate counts as.
    :raises typer.Exit: Always.
    """
    end_as(overall_outcome(results), inconclusive)


def end_as(outcome: Outcome, inconclusive: Inconclusive | None) -> NoReturn:
    """
    End the command with the exit code of an outcome.

    :param outcome: The outcome.
    :param inconclusive: What an inconclusive one counts as.
    :raises typer.Exit: Always.
    """
    counts_as: Literal["pass", "warn", "fail"] = (inconclusive or Inconclusive.WARN).value
    if outcome == "inconclusive" and counts_as == "warn":
        print_warnings(["The gate is inconclusive, which does not fail here (--inconclusive fail exits with 3)."])
    raise typer.Exit(exit_code(outcome, counts_as))
