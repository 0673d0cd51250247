# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Two runs, metric by metric: what changed, whether it could be chance, and what the question set could have shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from haystack_eval_ext.errors import ComparisonError, InvalidValueError
from haystack_eval_ext.runs._differences import RESAMPLES
from haystack_eval_ext.runs._joining import check_unpaired, join
from haystack_eval_ext.runs._metric_comparison import (
    JoinedRows,
    MetricComparison,
    MetricSide,
    RowChange,
    Settings,
    compare_metric,
    metric_side,
)
from haystack_eval_ext.runs._power import check_power
from haystack_eval_ext.runs._scored import Bounds, MetricRows, ScoredRun, counted, nearest
from haystack_eval_ext.runs._setups import SetupComparison, SetupDifference
from haystack_eval_ext.runs._significance import holm
from haystack_eval_ext.runs._spread import check_confidence
from haystack_eval_ext.runs._summary import summary
from haystack_eval_ext.runs._tags import chosen_tags
from haystack_eval_ext.runs._unmatched import unmatched

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = [
    "Bounds",
    "Comparison",
    "ComparisonError",
    "MetricComparison",
    "MetricRows",
    "MetricSide",
    "RowChange",
    "ScoredRun",
    "SetupComparison",
    "SetupDifference",
    "compare",
    "metric_side",
]


@dataclass(frozen=True)
class Comparison:
    """
    Two runs.

    :param base_name: Name of the base run.
    :param new_name: Name of the new run.
    :param paired: False if the runs were compared by their means alone.
    :param rows: The pairs of rows; for unpaired runs the rows of the shorter one.
    :param metrics: The metrics that both runs have, by name.
    :param slices: The same for the rows of each tag asked for.
    :param notes: What a reader must know.
    :param confidence: That of every interval.
    :param power: The chance that `minimal_detectable` and `rows_needed` stand for.
    :param seed: That of the randomisation tests.
    :param summary: What changed, in one sentence: the metric that tells most, and how certain it is.
    :param only_base: Metrics that the base run alone has.
    :param only_new: Metrics that the new run alone has.
    :param unmatched: What to know of these.
    :param setup: What differs between the set-ups of the runs; None if nothing is known of them.
    """

    base_name: str
    new_name: str
    paired: bool
    rows: int
    metrics: dict[str, MetricComparison]
    slices: dict[str, dict[str, MetricComparison]]
    notes: list[str]
    confidence: float
    power: float
    seed: int
    summary: str = ""
    only_base: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    setup: SetupComparison | None = None


def compare(
    base: ScoredRun,
    new: ScoredRun,
    *,
    common: bool = False,
    unpaired: bool = False,
    metrics: Collection[str] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    power: float = 0.9,
    margins: Mapping[str, float] | None = None,
    by: str | Sequence[str] | None = None,
    lower_is_better: Collection[str] = (),
    changed: int = 10,
    resamples: int = RESAMPLES,
) -> Comparison:
    """
    Compare two runs over the same questions.

    ```python
    from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun, compare

    ids = [f"q{number}" for number in range(6)]
    before = MetricRows([0.0, 0.5, 0.5, 1.0, 0.25, 0.5], ["scored"] * 6)
    after = MetricRows([0.5, 1.0, 0.75, 1.0, 0.5, 0.25], ["scored"] * 6)
    comparison = compare(ScoredRun("old", ids, {"R@5": before}), ScoredRun("new", ids, {"R@5": after}))
    recall = comparison.metrics["R@5"]
    print(round(recall.difference.mean, 3), recall.wins, recall.losses, [row.id for row in recall.worsened])
    # 0.208 4 1 ['q5']
    ```

    :param base: The run to compare with.
    :param new: The run in question.
    :param common: Compare the rows that both runs have, where they differ in rows.
    :param unpaired: Compare the means of runs over different questions.
    :param metrics: Compare these alone, and refuse nothing for the sake of others.
    :param seed: Where the randomisation tests start.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see a difference that `minimal_detectable` and `rows_needed` stand for.
    :param margins: By metric the difference that matters.
    :param by: Tags to form slices by: a tag, "lang" for all of "lang:de" and "lang:en", or "*" for every tag.
    :param lower_is_better: Metrics of which a higher score is worse.
    :param changed: How many changed rows to list in each direction.
    :param resamples: How many signs a randomisation test draws.
    :returns: The comparison.
    :raises ComparisonError: If questions, labels, metric parameters, cut-offs, directions, judge models or prompt
        versions differ; with every reason.
    :raises ValueError: If a parameter names no metric or tag, or is out of its range.
    """
    check_confidence(confidence)
    check_power(power)
    for parameter, number in (("seed", seed), ("changed", changed)):
        if number < 0:
            msg = f"{parameter} must be at least 0, but is {number!r}."
            raise InvalidValueError(msg)
    if metrics is not None:
        base, new = _chosen(base, new, metrics)
    if common and unpaired:
        msg = "common and unpaired exclude each other: the first pairs the shared rows, the second pairs none."
        raise InvalidValueError(msg)
    tags: tuple[Sequence[Sequence[str]] | None, ...]
    if unpaired:
        check_unpaired(base, new)
        notes = ["Unpaired: the means of different questions are compared, which shows only large differences."]
        rows, tags = JoinedRows(range(len(base.ids)), range(len(new.ids))), (base.tags, new.tags)
    else:
        joined = join(base, new, common=common)
        notes = joined.notes
        rows, tags = JoinedRows(joined.base_rows, joined.new_rows, joined.clusters), (joined.tags, joined.tags)
    names = [name for name in base.metrics if name in new.metrics]
    alone = unmatched(base, new, same_questions=not unpaired and len(rows.base) == len(base.ids) == len(new.ids))
    notes += alone.notes
    _check_names("margins", margins or {}, names)
    for name, margin in (margins or {}).items():
        if not 0 < margin < math.inf:
            msg = f"margins must be above 0, but that of '{name}' is {margin!r}."
            raise InvalidValueError(msg)
    _check_names("lower_is_better", lower_is_better, list(dict.fromkeys([*base.metrics, *new.metrics])))
    lower = {name for run in (base, new) for name, metric in run.metrics.items() if metric.lower_is_better}
    settings = Settings(
        unpaired, seed, confidence, power, margins or {}, lower.union(lower_is_better), changed, resamples
    )

    def measure(chosen: JoinedRows) -> dict[str, MetricComparison]:
        return {name: compare_metric(name, base, new, chosen, settings) for name in names}

    measured = measure(rows)
    adjusted = _adjusted({"": measured})[""]
    return Comparison(
        base_name=base.name,
        new_name=new.name,
        paired=not unpaired,
        rows=min(len(rows.base), len(rows.new)),
        metrics=adjusted,
        slices=_adjusted({tag: measure(chosen) for tag, chosen in _slices(by, rows, tags).items()}),
        notes=[*notes, *_undefined_alone(base.name, new.name, measured)],
        confidence=confidence,
        power=power,
        seed=seed,
        summary=summary(adjusted, confidence=confidence),
        only_base=alone.only_base,
        only_new=alone.only_new,
        unmatched=alone.notes,
    )


def _chosen(base: ScoredRun, new: ScoredRun, metrics: Collection[str]) -> tuple[ScoredRun, ScoredRun]:
    """Both runs with the named metrics alone."""
    if isinstance(metrics, str) or not metrics:
        msg = "metrics must be a list of names of metrics that both runs have, or None for all."
        raise InvalidValueError(msg)
    _check_names("metrics", metrics, [name for name in base.metrics if name in new.metrics], "metrics of both runs")
    one, two = (
        replace(run, metrics={name: metric for name, metric in run.metrics.items() if name in metrics})
        for run in (base, new)
    )
    return one, two


def _undefined_alone(base: str, new: str, metrics: Mapping[str, MetricComparison]) -> list[str]:
    """Rows that left the comparison because one run gave no number for them: a change that no mean shows."""
    return [
        f"{name} is undefined in {counted(count, 'row')} of '{run}' with a score in '{other}': left out of both means."
        for name, metric in metrics.items()
        for run, other, count in (
            (base, new, metric.base.only_here_undefined),
            (new, base, metric.new.only_here_undefined),
        )
        if count
    ]


def _adjusted(slices: dict[str, dict[str, MetricComparison]]) -> dict[str, dict[str, MetricComparison]]:
    """Holm's correction over all metrics of all slices."""
    adjusted = iter(holm([metric.difference.p_value for metrics in slices.values() for metric in metrics.values()]))
    return {
        tag: {name: replace(metric, p_adjusted=next(adjusted)) for name, metric in metrics.items()}
        for tag, metrics in slices.items()
    }


def _slices(
    by: str | Sequence[str] | None, rows: JoinedRows, tags: tuple[Sequence[Sequence[str]] | None, ...]
) -> dict[str, JoinedRows]:
    """The rows of each tag."""
    if by is None:
        return {}
    if None in tags:
        msg = "by needs rows with tags, but the runs have none."
        raise InvalidValueError(msg)
    slices = {}
    for tag in chosen_tags(by, (row for column in tags for row in column or ())):
        places = [[row for row, of_row in enumerate(column or ()) if tag in of_row] for column in tags]
        slices[tag] = JoinedRows(
            [rows.base[row] for row in places[0]],
            [rows.new[row] for row in places[1]],
            None if rows.clusters is None else [rows.clusters[row] for row in places[0]],
        )
    return slices


def _check_names(
    parameter: str, names: Collection[str], known: Collection[str], what: str = "metrics of the runs"
) -> None:
    for name in names:
        if name not in known:
            msg = f"{parameter} must name {what}, but '{name}' is none ({nearest(name, known)})."
            raise InvalidValueError(msg)
