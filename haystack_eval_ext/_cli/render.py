# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Results as people read them: a table, then what to know about it."""

import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich import box
from rich.cells import cell_len
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


def print_table(out: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """
    Print a table whose first column holds names and whose others hold numbers, no cell of which is cut or broken.

    Where it is too wide for the console, its headings are broken into words; then its columns stand below each other
    in several tables, each with the names; then each name has a line of its own, and each number one below it.

    :param out: The console.
    :param columns: The headings.
    :param rows: The cells, which may hold anything.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    whole = _table(columns, cells)
    if _width(out, whole) <= out.width:
        out.print(whole)
        return
    for number, block in enumerate(_blocks(out, columns, cells)):
        if number:
            out.print()
        if isinstance(block, Table):
            out.print(block)
        else:
            out.print(Text(block), soft_wrap=True)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for place, heading in enumerate(columns):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _width(out: Console, table: Table) -> int:
    """How wide a table is that nothing cuts."""
    return out.measure(table, options=out.options.update(width=sys.maxsize)).maximum


def _blocks(out: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Table | str]:
    """A table in as few parts as fit, each with the first column; or as lines, where no part would fit."""
    heads = [
        "\n".join(wrap(heading, max((1, *(cell_len(row[place]) for row in rows))), break_long_words=False))
        for place, heading in enumerate(columns)
    ]

    def part(places: Sequence[int]) -> Table:
        shown = (0, *places)
        return _table([heads[place] for place in shown], [[row[place] for place in shown] for row in rows])

    def fits(places: Sequence[int]) -> bool:
        return _width(out, part(places)) <= out.width

    others = range(1, len(columns))
    if not all(fits([place]) for place in others):
        for row in rows:
            named = (f"  {columns[place]}: {row[place]}" for place in others if row[place])
            yield "\n".join([row[0], *named])
        return
    taken: list[int] = []
    for place in others:
        if not fits([*taken, place]):
            yield part(taken)
            taken = []
        taken.append(place)
    yield part(taken)


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


def print_scores(
    out: Console,
    metrics: Iterable[MetricScores],
    *,
    rows: str = "Questions",
    spread: Mapping[str, float | None] | None = None,
) -> None:
    """
    Print the table of a run.

    :param out: The console.
    :param metrics: Its lines.
    :param rows: Heading of the number of questions that the mean is of, as in all tables.
    :param spread: By metric how far several answers to one question lie apart, if there are several.
    """
    heads = ["Metric", "Score", rows, "Undefined", "Failed", "Left out"]
    lines = []
    for metric in metrics:
        counts = map(str, (metric.rows - metric.left_out, metric.undefined, metric.failed, metric.left_out))
        lines.append([metric.name, number(metric.score), *counts])
        if spread:
            apart = spread.get(metric.name)
            lines[-1].append(number(math.nan if apart is None else apart))
    out.print()
    print_table(out, [*heads, "Spread"] if spread else heads, lines)


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
