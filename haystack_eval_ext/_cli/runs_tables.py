# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons and gates as people read them on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haystack_eval_ext._cli.render import print_table, print_text
from haystack_eval_ext.runs._comparison_text import changed_rows, footnotes, notes_below, power_line, tables
from haystack_eval_ext.runs._setup_text import setup_heading, setup_lines
from haystack_eval_ext.runs.gate import rule_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from haystack_eval_ext.runs.comparison import Comparison, MetricComparison
    from haystack_eval_ext.runs.gate import GateResult

_SHOWN_DIFFERENCES = 20


def print_comparison(out: Console, comparison: Comparison) -> None:
    """
    Print a comparison: what changed in one sentence, what differs, metrics, slices, notes, the rows that changed most.

    :param out: The console.
    :param comparison: The comparison.
    """
    print_text(out, f"{comparison.new_name} against {comparison.base_name}, {comparison.rows} questions")
    print_text(out, comparison.summary, style="bold")
    _print_setup(out, comparison)
    _print_part(out, comparison, comparison.metrics)
    for tag, metrics in comparison.slices.items():
        out.print()
        rows = max((metric.difference.rows + metric.difference.left_out for metric in metrics.values()), default=0)
        print_text(out, f"{tag}, {rows} questions", style="bold")
        _print_part(out, comparison, metrics)
    of_metrics = ([*power_line(each), *changed_rows(each)] for each in comparison.metrics.values())
    groups = [notes_below(comparison), *of_metrics]
    for lines in filter(None, groups):
        out.print()
        for line in lines:
            print_text(out, line)


def _print_setup(out: Console, comparison: Comparison) -> None:
    """What differs between the set-ups, and the metrics that one run alone has."""
    out.print()
    unknown: list[str] = []
    if comparison.setup is not None:
        print_text(out, setup_heading(comparison.setup))
        lines = setup_lines(comparison.setup)
        for line in lines[:_SHOWN_DIFFERENCES]:
            print_text(out, f"  {line.part}, {line.name}: {line.base} -> {line.new}")
        if len(lines) > _SHOWN_DIFFERENCES:
            print_text(out, f"  and {len(lines) - _SHOWN_DIFFERENCES} more, which --markdown and --json list")
        unknown = comparison.setup.unknown
    for note in [*unknown, *comparison.unmatched]:
        print_text(out, note)


def _print_part(out: Console, comparison: Comparison, metrics: Mapping[str, MetricComparison]) -> None:
    """The tables of the metrics and what stands below them."""
    for heads, lines in tables(comparison, metrics):
        out.print()
        print_table(out, heads, lines)
    for line in footnotes(comparison, metrics):
        print_text(out, line)


def print_gate(out: Console, results: Sequence[GateResult]) -> None:
    """
    Print what a gate says, one line for each condition, and its rule.

    :param out: The console.
    :param results: Its results.
    """
    out.print()
    for result in results:
        print_text(out, f"fails if {result.condition}: {result.reason}")
    print_text(out, rule_text(results))
