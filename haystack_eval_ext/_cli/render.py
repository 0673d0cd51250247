# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Results as people read them: a table, then what to know about it."""

import math
import os
import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from haystack_eval_ext._cli.faults import plain
from haystack_eval_ext.runs.evaluation import MetricScores

_LISTED = 10
# A key may be a whole document.
_ENTRY_WIDTH = 60
_PROSE_WIDTH = 100
# Whoever reads a pipe wants each metric on one line.
_PIPE_WIDTH = 400
_NARROWEST = 60


def console() -> Console:
    """
    Make a console that takes no text for markup.

    :returns: A console on the present stdout.
    """
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    screen = Console(width=_PIPE_WIDTH if piped else None, markup=False, highlight=False, emoji=False)
    # Below that names and numbers would be cut; a terminal wraps lines that are too long.
    screen.width = max(screen.width, _NARROWEST)
    return screen


def number(value: float) -> str:
    """
    Write a score.

    :param value: A score.
    :returns: Four decimals, or "-" where there is none.
    """
    return "-" if math.isnan(value) else f"{value:.4f}"


def print_text(out: Console, text: str, style: str = "") -> None:
    """
    Print a line of prose, on a terminal wrapped at a width that reads well; whoever reads a pipe wants whole lines.

    :param out: The console.
    :param text: The text, which may hold anything.
    :param style: A rich style.
    """
    shown = Text(plain(text), style=style)
    if out.is_terminal:
        out.print(shown, width=min(out.width, _PROSE_WIDTH), overflow="fold")
    else:
        out.print(shown, soft_wrap=True)


def print_table(out: Console, columns: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> None:
    """
    Print a table.

    :param out: The console.
    :param columns: The headings.
    :param rows: The cells, which may hold anything.
    :param texts: How many columns from the left hold text; the others hold numbers.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for place, heading in enumerate(columns):
        if place < texts:
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    out.print(table)


def print_list(out: Console, heading: str, entries: Sequence[object]) -> None:
    """
    Print how many entries there are and the first ten of them, long ones cut; nothing if there are none.

    :param out: The console.
    :param heading: What they are, and what becomes of them.
    :param entries: Ids or keys.
    """
    if not entries:
        return
    shown = ", ".join(map(_shortened, entries[:_LISTED]))
    more = f", and {len(entries) - _LISTED} more" if len(entries) > _LISTED else ""
    out.print()
    print_text(out, f"{heading} ({len(entries)}): {shown}{more}")


def _shortened(entry: object) -> str:
    text = " + ".join(map(str, entry)) if isinstance(entry, list) else str(entry)
    return text if len(text) <= _ENTRY_WIDTH else text[: _ENTRY_WIDTH - 3] + "..."


def print_warnings(messages: Iterable[str]) -> None:
    """
    Print warnings on stderr.

    :param messages: The warnings.
    """
    sys.stdout.flush()
    for message in messages:
        sys.stderr.write(f"Warning: {plain(' '.join(message.split()))}\n")


def print_scores(out: Console, metrics: Iterable[MetricScores], *, rows: str) -> None:
    """
    Print the table of a run.

    :param out: The console.
    :param metrics: Its lines.
    :param rows: Heading of the number of rows.
    """
    lines = [
        (metric.name, number(metric.score), *map(str, (metric.rows, metric.undefined, metric.failed, metric.left_out)))
        for metric in metrics
    ]
    out.print()
    print_table(out, ("Metric", "Score", rows, "Undefined", "Failed", "Left out"), lines)


def print_catalog(out: Console, found: dict[str, list[dict[str, Any]]]) -> None:
    """
    Print the components and measures.

    :param out: The console.
    :param found: As :func:`haystack_eval_ext._cli.catalog.catalog` gives them.
    """
    for component in found["components"]:
        inputs = [
            f"{entry['name']}{'' if entry['mandatory'] else ' (optional)'}: {entry['type']}"
            for entry in component["inputs"]
        ]
        outputs = [f"{entry['name']}: {entry['type']}" for entry in component["outputs"]]
        _print_entry(out, component, {"type": [component["type"]], "inputs": inputs, "outputs": outputs})
    described: set[str] = set()
    for measure in found["measures"]:
        name = measure["name"]
        cutoff = {"optional": f"{name}, {name}@k", "required": f"{name}@k", "none": name}[measure["cutoff"]]
        options = []
        for entry in measure["parameters"]:
            option = f"{entry['name']}={entry['default']!r}"
            # Most options belong to many measures: what they do is told once.
            options.append(option if option in described else f"{option}: {entry['description']}")
            described.add(option)
        _print_entry(out, measure, {"write": [cutoff], "options": options, "also": [", ".join(measure["aliases"])]})


def _print_entry(out: Console, entry: dict[str, Any], fields: dict[str, list[str]]) -> None:
    out.print(Text(entry["name"], style="bold"))
    bounds = "not stated" if entry["range"] is None else "{:g} to {:g}".format(*entry["range"])
    fields = {
        "": [entry["summary"]],
        "range": [f"{bounds}, {entry['direction'] or 'direction not stated'}"],
        **fields,
        "source": [entry["source"] or "not stated"],
    }
    for name, texts in fields.items():
        for place, text in enumerate(filter(None, texts)):
            label = "" if place else name
            # break_long_words would cut the path that users copy into their YAML.
            lines = wrap(
                plain(text),
                min(out.width, _PROSE_WIDTH),
                initial_indent=f"  {label:<8} ",
                subsequent_indent=" " * 11,
                break_long_words=False,
                break_on_hyphens=False,
            )
            out.print(Text("\n".join(lines)), soft_wrap=True)
    out.print()
