# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The options that speak of judges, and the tables of what they would cost and did cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext._cli.render import print_table, print_text
from haystack_eval_ext.runs.judging import JudgeSettings, load_embedder, load_generator, load_prices, total_usage

if TYPE_CHECKING:
    from haystack_eval_ext.judged._plan import Plan
    from haystack_eval_ext.runs._run_files import RunMetric

JudgeFile = Annotated[
    Path | None,
    typer.Option(
        "--judge", metavar="GENERATOR.yaml", help="A ChatGenerator (type, init_parameters) in place of every judge."
    ),
]
EmbedderFile = Annotated[
    Path | None,
    typer.Option(
        "--embedder",
        metavar="EMBEDDER.yaml",
        help="An embedder (type, init_parameters) in place of that of every judged component that has one.",
    ),
]
CacheFile = Annotated[
    Path | None,
    typer.Option(
        "--cache", metavar="FILE", help="Keep the judges' replies: none is paid for twice, also after a crash."
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Answer from the cache alone; what it lacks fails.")]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", metavar="N", min=0, help="Calls of the judges at most.")]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=0, help="Tokens of the judges at most, in and out; not those of --rag."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="X", min=0, help="Cost of the judges at most, not of --rag; needs --prices."),
]
PriceFile = Annotated[
    Path | None,
    typer.Option(
        "--prices", metavar="FILE", help="YAML: the price of a million tokens, 'model: {input: X, output: Y}'."
    ),
]
Progress = Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress on a terminal.")]


def judge_settings(
    *,
    judge: Path | None,
    cache: Path | None,
    prices: Path | None,
    embedder: Path | None = None,
    offline: bool = False,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
) -> JudgeSettings:
    """
    Read the options.

    :param judge: File of a generator.
    :param cache: File of replies.
    :param prices: File of prices.
    :param embedder: File of an embedder.
    :param offline: Whether to answer from the cache alone.
    :param max_calls: Calls at most.
    :param max_tokens: Tokens at most.
    :param max_cost: Cost at most.
    :param progress: Whether to show progress.
    :returns: The settings.
    :raises UserError: If they contradict each other.
    """
    if max_cost is not None and prices is None:
        msg = "--max-cost needs --prices, a file with the price of a million tokens by model."
        raise UserError(msg)
    return JudgeSettings(
        generator=None if judge is None else load_generator(judge),
        embedder=None if embedder is None else load_embedder(embedder),
        cache_path=None if cache is None else str(cache),
        offline=offline,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_cost=max_cost,
        prices=None if prices is None else load_prices(prices),
        progress_bar=progress,
    )


def print_usage(out: Console, usage: Mapping[str, Mapping[str, Any]]) -> None:
    """
    Print what the judges of a run spent, each and in sum; nothing without judges.

    :param out: The console.
    :param usage: The account of each component.
    """
    if not usage:
        return
    lines = dict(usage) if len(usage) == 1 else {**usage, "all": total_usage(usage)}
    embedded = any(account.get("embedding_tokens") is not None for account in usage.values())
    out.print()
    print_table(
        out,
        (
            *("Judge", "Calls", "Retries", "Cache hits", "Tokens in", "Tokens out", "Cost"),
            *(["Tokens embedded"] if embedded else []),
        ),
        [
            (
                name,
                *(str(account[key]) for key in ("calls", "retries", "cache_hits")),
                *(_tokens(account, key) for key in ("prompt_tokens", "completion_tokens")),
                _cost(account["cost"]),
                *([_embedded(account)] if embedded else []),
            )
            for name, account in lines.items()
        ],
    )


def print_plans(out: Console, plans: Mapping[str, Plan], unplanned: list[str]) -> None:
    """
    Print what a run would ask.

    :param out: The console.
    :param plans: The plan of each component.
    :param unplanned: Components that cannot be planned.
    """
    lines = [
        (
            name,
            str(plan.rows),
            f"{'' if plan.exact else 'at most '}{plan.calls}",
            str(plan.cached),
            f"{plan.prompt_tokens}",
            _cost(plan.prompt_cost),
        )
        for name, plan in plans.items()
    ]
    if len(plans) > 1:
        exact = all(plan.exact for plan in plans.values())
        costs = [plan.prompt_cost for plan in plans.values() if plan.prompt_cost is not None]
        calls, cached, tokens = (
            sum(getattr(plan, key) for plan in plans.values()) for key in ("calls", "cached", "prompt_tokens")
        )
        total = f"{'' if exact else 'at most '}{calls}"
        lines.append(("all", "", total, str(cached), str(tokens), _cost(sum(costs) if costs else None)))
    print_table(out, ("Judge", "Rows", "Calls", "In cache", "Tokens in, about", "Their cost"), lines)
    if unplanned:
        out.print()
        print_text(out, f"Not planned, since other components feed them: {', '.join(unplanned)}")


def _tokens(account: Mapping[str, Any], key: str) -> str:
    tokens = account[key]
    if tokens is None:
        return "unknown" if account["replies_without_tokens"] else "-"
    return f"{tokens}{'+' if account['replies_without_tokens'] else ''}"


def _embedded(account: Mapping[str, Any]) -> str:
    tokens = account.get("embedding_tokens")
    return "-" if tokens is None else str(tokens)


def nothing_judged(metrics: Mapping[str, RunMetric]) -> str:
    """
    Say which metrics have no score at all, since their rows failed or a budget had no room for them.

    :param metrics: The metrics of a run.
    :returns: What to tell the user, who must not take it for a good run; empty if there is no such metric.
    """
    lacking: dict[str, list[str]] = {}
    for name, metric in metrics.items():
        # Rows that a metric was not to score are "not_run" without a reason.
        faults = [why for status, why in zip(metric.statuses, metric.errors, strict=True) if status == "error" or why]
        if faults and "scored" not in metric.statuses:
            spent = "error" not in metric.statuses
            lacking.setdefault(f", since {faults[0]}" if spent else "", []).append(name)
    return " ".join(f"No row of {', '.join(names)} could be scored{why}." for why, names in lacking.items())


def _cost(cost: float | None) -> str:
    return "-" if cost is None else f"{cost:.4f}"
