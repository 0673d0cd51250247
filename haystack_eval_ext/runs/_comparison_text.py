# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A comparison for a pull request (Markdown) and for other programs (JSON)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.runs._plain import plain
from haystack_eval_ext.runs._run_exports import escaped, shown, table_line
from haystack_eval_ext.runs.gate import markdown_table, overall_outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_eval_ext.runs.comparison import Comparison, MetricComparison
    from haystack_eval_ext.runs.gate import GateResult

_HEADS = ["metric", "base", "new", "change", "interval", "p", "better / same / worse", "failed"]
_SMALL = 1e-4


def comparison_markdown(comparison: Comparison, results: Sequence[GateResult] = ()) -> str:
    """
    Write a comparison as Markdown.

    :param comparison: The comparison.
    :param results: What a gate says of it.
    :returns: The gate's table, the metrics, the slices, the notes, and the rows that changed most.
    """
    kind = "" if comparison.paired else ", unpaired"
    names = f"**{escaped(comparison.new_name)}** against **{escaped(comparison.base_name)}**"
    parts = [f"{names}: {comparison.rows} questions{kind}\n"]
    if results:
        parts.append(markdown_table(results))
    parts.append(_table(comparison.metrics, comparison.confidence))
    parts += [
        f"{escaped(tag)}\n\n{_table(metrics, comparison.confidence)}" for tag, metrics in comparison.slices.items()
    ]
    if comparison.notes:
        parts.append("".join(f"* {escaped(note)}\n" for note in comparison.notes))
    changes = [line for metric in comparison.metrics.values() for line in changed_rows(metric)]
    if changes:
        lines = "".join(f"* {escaped(line)}\n" for line in changes)
        parts.append(f"<details><summary>The questions that changed most</summary>\n\n{lines}\n</details>\n")
    return "\n".join(parts)


def comparison_json(comparison: Comparison, results: Sequence[GateResult] = ()) -> dict[str, Any]:
    """
    Give a comparison as plain values.

    :param comparison: The comparison.
    :param results: What a gate says of it.
    :returns: Everything that the comparison knows, by the names of its fields.
    """
    return {**_fields(comparison), **gate_json(results)}


def gate_json(results: Sequence[GateResult]) -> dict[str, Any]:
    """
    Give what a gate says as plain values.

    :param results: Its results.
    :returns: The outcome and the results; nothing without results.
    """
    if not results:
        return {}
    gate = [_fields(result) | {"condition": str(result.condition)} for result in results]
    return {"outcome": overall_outcome(results), "gate": gate}


def changed_rows(metric: MetricComparison) -> list[str]:
    """
    List the rows that changed most.

    :param metric: One metric of a comparison.
    :returns: A line for those that became worse and one for those that became better, where there are any.
    """
    lines = []
    for what, rows, count in (("worse", metric.worsened, metric.losses), ("better", metric.improved, metric.wins)):
        if rows:
            listed = ", ".join(f"{row.id} ({shown(row.base)} to {shown(row.new)})" for row in rows)
            more = (count or len(rows)) - len(rows)
            rest = f" and {more} more" if more > 0 else ""
            lines.append(f"{metric.name} became {what}: {listed}{rest}")
    return lines


def metric_cells(metric: MetricComparison) -> list[str]:
    """
    Write one line of the table of metrics.

    :param metric: One metric of a comparison.
    :returns: A cell for each heading: name, base, new, change, its interval, p after Holm, counts, failed rows.
    """
    difference = metric.difference
    interval = difference.interval
    counts = (metric.wins, difference.ties, metric.losses)
    failed = (metric.base.failed, metric.new.failed)
    return [
        metric.name + (" (lower is better)" if metric.lower_is_better else ""),
        shown(metric.base.estimate.mean),
        shown(metric.new.estimate.mean),
        shown(difference.mean, signed=True),
        "–" if interval is None else f"{shown(interval.low, signed=True)} to {shown(interval.high, signed=True)}",
        "–" if metric.p_adjusted is None else f"{metric.p_adjusted:.2g}" if metric.p_adjusted >= _SMALL else "< 0.0001",
        "–" if None in counts else " / ".join(map(str, counts)),
        " / ".join(map(str, failed)) if any(failed) else "0",
    ]


def _table(metrics: Mapping[str, MetricComparison], confidence: float) -> str:
    heads = [f"{confidence * 100:g} % interval" if head == "interval" else head for head in _HEADS]
    lines = [
        table_line(heads),
        "|" + "---|" * len(heads),
        *(table_line(metric_cells(each)) for each in metrics.values()),
    ]
    return "\n".join(lines) + "\n"


def _fields(value: Any) -> Any:
    """Dataclasses and named tuples by the names of their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: _fields(getattr(value, field.name)) for field in fields(value)}
        # Better and worse depend on the direction of the metric.
        return found | {name: getattr(value, name) for name in ("wins", "losses") if hasattr(value, name)}
    if hasattr(value, "_asdict"):
        return {name: _fields(entry) for name, entry in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _fields(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_fields(entry) for entry in value]
    return plain(value)
