# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A comparison in words and cells for every reader: Markdown, a terminal, other programs (JSON)."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack_eval_ext.runs._plain import plain
from haystack_eval_ext.runs._power import in_clusters
from haystack_eval_ext.runs._run_exports import escaped, shown, shown_interval, table_line
from haystack_eval_ext.runs._setup_text import setup_heading, setup_lines
from haystack_eval_ext.runs.gate import markdown_table, overall_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from haystack_eval_ext.runs._people import JudgeAgreement
    from haystack_eval_ext.runs._spread import Interval
    from haystack_eval_ext.runs.comparison import Comparison, MetricComparison, MetricSide
    from haystack_eval_ext.runs.gate import GateResult

_SMALL = 1e-4
# Of a dataclass besides its fields. Better and worse depend on the direction of the metric.
_PROPERTIES = ("wins", "losses", "p_value", "test", "tpr", "tnr")
_FIRST = ("base_name", "new_name", "summary", "setup", "only_base", "only_new", "unmatched")


class Table(NamedTuple):
    """
    A table.

    :param heads: Its headings.
    :param lines: Its cells, as many a line as there are headings.
    """

    heads: list[str]
    lines: list[list[str]]


def comparison_markdown(comparison: Comparison, results: Sequence[GateResult] = ()) -> str:
    """
    Write a comparison as Markdown.

    :param comparison: The comparison.
    :param results: What a gate says of it.
    :returns: What changed in one sentence, what differs between the set-ups, the gate's table, the metrics, the slices,
        the notes, and the rows that changed most.
    """
    kind = "" if comparison.paired else ", unpaired"
    names = f"**{escaped(comparison.new_name)}** against **{escaped(comparison.base_name)}**"
    parts = [f"{names}: {comparison.rows} questions{kind}\n", f"{escaped(comparison.summary)}\n"]
    parts += _setup(comparison)
    if results:
        parts.append(markdown_table(results))
    parts += _part(comparison, comparison.metrics)
    for tag, metrics in comparison.slices.items():
        parts += [f"{escaped(tag)}\n", *_part(comparison, metrics)]
    if below := notes_below(comparison):
        parts.append(_listed(below))
    powers = [line for metric in comparison.metrics.values() for line in power_line(metric)]
    if powers:
        parts.append(_listed(powers))
    changes = [line for metric in comparison.metrics.values() for line in changed_rows(metric)]
    if changes:
        parts.append(f"<details><summary>The questions that changed most</summary>\n\n{_listed(changes)}\n</details>\n")
    return "\n".join(parts)


def comparison_json(comparison: Comparison, results: Sequence[GateResult] = ()) -> dict[str, Any]:
    """
    Give a comparison as plain values.

    :param comparison: The comparison.
    :param results: What a gate says of it.
    :returns: Everything that the comparison knows, by the names of its fields; what to read first comes first.
    """
    found = _fields(comparison)
    return {**{name: found[name] for name in _FIRST}, **found, **gate_json(results)}


def notes_below(comparison: Comparison) -> list[str]:
    """
    Give the notes that stand below the tables.

    :param comparison: The comparison.
    :returns: All but those on metrics that one run alone has, which stand above.
    """
    return [note for note in comparison.notes if note not in comparison.unmatched]


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


def agreement_json(found: JudgeAgreement) -> dict[str, Any]:
    """
    Give a metric against people as plain values.

    :param found: The agreement.
    :returns: Everything that it knows, by the names of its fields; all rows that differ.
    """
    given: dict[str, Any] = _fields(found)
    return given


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


def power_line(metric: MetricComparison) -> list[str]:
    """
    Tell what this number of questions could have shown.

    :param metric: One metric of a comparison.
    :returns: One line; none where nothing is known.
    """
    parts = []
    if metric.minimal_detectable is not None:
        parts.append(f"could have shown a change of {shown(metric.minimal_detectable)}")
    if metric.margin is not None and metric.rows_needed is not None:
        clusters = in_clusters(metric.rows_needed, metric.difference.rows, metric.difference.clusters)
        parts.append(f"a margin of {metric.margin:g} needs about {metric.rows_needed} questions{clusters}")
    return [f"{metric.name}: {'; '.join(parts)}"] if parts else []


def tables(comparison: Comparison, metrics: Mapping[str, MetricComparison]) -> tuple[Table, Table]:
    """
    Write metrics as two tables, which a terminal has room for.

    :param comparison: The comparison.
    :param metrics: Its metrics, or those of a slice.
    :returns: The means of both runs, with what has no score in either; and what changed.
    """
    level = f"{comparison.confidence * 100:g} %"
    means = Table(["Metric", f"Base ({level})", f"New ({level})", "Undefined", "Failed"], [])
    changes = Table(["Metric", "Change", f"{level} interval", "d_z", "p (Holm)", "Better/same/worse", "Questions"], [])
    for metric in metrics.values():
        sides, difference = (metric.base, metric.new), metric.difference
        counts = (metric.wins, difference.ties, metric.losses)
        name = metric.name + (" (lower is better)" if metric.lower_is_better else "")
        means.lines.append(
            [
                name,
                *(_mean(side.estimate.mean, side.estimate.interval) for side in sides),
                _both([side.undefined for side in sides]),
                _both([side.failed for side in sides]),
            ]
        )
        changes.lines.append(
            [
                name,
                shown(difference.mean, signed=True),
                shown_interval(difference.interval, signed=True),
                "–" if difference.effect_size is None else f"{difference.effect_size:+.2f}",
                _p(metric.p_adjusted),
                "–" if None in counts else " / ".join(map(str, counts)),
                str(difference.rows),
            ]
        )
    return means, changes


def footnotes(comparison: Comparison, metrics: Mapping[str, MetricComparison]) -> list[str]:
    """
    Name what stands behind the numbers of the tables.

    :param comparison: The comparison.
    :param metrics: Its metrics, or those of a slice.
    :returns: Lines: the tests, the intervals, the clusters.
    """

    def by(value: Callable[[MetricComparison], Any]) -> str:
        return _grouped((value(metric), metric.name) for metric in metrics.values())

    lines = []
    family = (
        [metric for each in comparison.slices.values() for metric in each.values()]
        if metrics is not comparison.metrics
        else list(metrics.values())
    )
    count = sum(metric.difference.p_value is not None for metric in family)
    if tests := by(lambda metric: metric.difference.test):
        over = f" Adjusted for {count} tests (Holm)." if count > 1 else ""
        seed = f" Seed {comparison.seed}." if "randomisation" in tests or "permutation" in tests else ""
        asked = "" if comparison.paired else " It asks whether both runs have one distribution of scores."
        lines.append(f"p: {tests}.{asked}{seed}{over}")
    if methods := by(lambda metric: metric.difference.interval and metric.difference.interval.method):
        lines.append(f"Interval of the change: {methods}.")
    sides = [by(lambda metric: _method(metric.base)), by(lambda metric: _method(metric.new))]
    if any(sides):
        same = sides[0] == sides[1]
        lines.append(f"Interval of the means: {sides[0] if same else ' (base), '.join(sides) + ' (new)'}.")
    if clusters := by(lambda metric: metric.difference.clusters):
        lines.append(f"Clusters, which intervals and tests go by: {clusters}.")
    if comparison.paired:
        lines.append("d_z: mean change over standard deviation of the changes. Questions: those with both scores.")
    return lines


def _method(side: MetricSide) -> str | None:
    return side.estimate.interval and side.estimate.interval.method


def _grouped(values: Iterable[tuple[Any, str]]) -> str:
    """Say what holds for which metrics; the metrics are left out where it holds for all."""
    found: dict[Any, list[str]] = {}
    for value, name in values:
        found.setdefault(value, []).append(name)
    if len(found) == 1:
        return str(next(iter(found)) or "")
    return "; ".join(f"{value} for {', '.join(names)}" for value, names in found.items() if value is not None)


def _mean(mean: float | None, interval: Interval | None) -> str:
    return shown(mean) if interval is None else f"{shown(mean)} ({shown_interval(interval)})"


def _both(counts: list[int]) -> str:
    return " / ".join(map(str, counts)) if any(counts) else "0"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value >= _SMALL else "< 0.0001"


def _part(comparison: Comparison, metrics: Mapping[str, MetricComparison]) -> list[str]:
    """The tables of the metrics and what stands below them."""
    parts = [
        "\n".join([table_line(heads), "|" + "---|" * len(heads), *map(table_line, lines)]) + "\n"
        for heads, lines in tables(comparison, metrics)
    ]
    below = footnotes(comparison, metrics)
    return [*parts, _listed(below)] if below else parts


def _setup(comparison: Comparison) -> list[str]:
    """What differs between the set-ups, and the metrics that one run alone has."""
    parts, below = [], list(comparison.unmatched)
    if comparison.setup is not None:
        parts.append(f"{setup_heading(comparison.setup)}\n")
        lines = setup_lines(comparison.setup)
        if lines:
            heads = ["Part", "What", "Base", "New"]
            table = [table_line(heads), "|" + "---|" * len(heads), *(table_line(list(line)) for line in lines)]
            parts.append("\n".join(table) + "\n")
        below = [*comparison.setup.unknown, *below]
    return [*parts, _listed(below)] if below else parts


def _listed(lines: Iterable[str]) -> str:
    return "".join(f"* {escaped(line)}\n" for line in lines)


def _fields(value: Any) -> Any:
    """Dataclasses and named tuples by the names of their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        exported = [field for field in fields(value) if field.metadata.get("exported", True)]
        found = {field.name: _fields(getattr(value, field.name)) for field in exported}
        return found | {name: getattr(value, name) for name in _PROPERTIES if hasattr(value, name)}
    if hasattr(value, "_asdict"):
        return {name: _fields(entry) for name, entry in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _fields(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_fields(entry) for entry in value]
    return plain(value)
