# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate of a question set can find, said before anything is run: from its size alone, or from a first run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._gate_family import what_it_tests
from haystack_eval_ext.runs._gate_power import ChangeSpread, smallest_drop
from haystack_eval_ext.runs._means import mean_interval, within_unit, zero_one
from haystack_eval_ext.runs._scored import counted, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from haystack_eval_ext.runs._conditions import Condition
    from haystack_eval_ext.runs._gate_power import Rule
    from haystack_eval_ext.runs._scored import ScoredRun

# The share of scores that another run of the same code changes, where nothing tells it.
CHANGING = 0.2
_POWERS = {0.9: "nine times in ten", 0.8: "four times in five", 0.95: "nineteen times in twenty"}


@dataclass(frozen=True)
class Forecast:
    """
    The smallest change of a metric that a gate most likely finds.

    :param metric: The metric; None for 0/1 scores of which nothing is known but their number.
    :param turn: "drop" or "rise".
    :param margin: That of the condition; 0 where none is known.
    :param rows: The questions with a score.
    :param smallest: The change, if a few rows lose (or gain) all they can; None if no change is found most likely.
    :param if_alike: The change, if all rows change by the same; None as before, or where scores are 0 and 1.
    :param power: The chance to find it.
    :param assumption: What was assumed of the changes that mean nothing.
    """

    metric: str | None
    turn: str
    margin: float
    rows: int
    smallest: float | None
    if_alike: float | None
    power: float
    assumption: str

    @property
    def text(self) -> str:
        """One sentence."""
        often = _POWERS.get(self.power, f"with a chance of {self.power * 100:g} %")
        whose = f"{self.metric}: with" if self.metric is not None else "With"
        start = f"{whose} {counted(self.rows, 'question')}"
        if self.smallest is None and self.if_alike is None:
            return f"{start} no {self.turn} fails {often}"
        if self.smallest is None:
            return f"{start} a {self.turn} of {self.if_alike:.2g} fails {often} if all scores {self.turn} alike"
        alike = "" if self.if_alike is None else f" ({self.if_alike:.2g} if all scores {self.turn} alike)"
        return f"{start} a {self.turn} of {self.smallest:.2g} fails {often}{alike}"


def forecast_of_size(
    rows: int,
    conditions: Iterable[Condition] = (),
    *,
    rule: Rule = "significant",
    confidence: float = 0.95,
    power: float = 0.9,
) -> list[Forecast]:
    """
    Tell what a gate finds in 0/1 scores of so many questions of which one in five changes by chance.

    :param rows: The questions.
    :param conditions: What fails the gate, if it is known; those on means are left out.
    :param rule: The rule of the gate.
    :param confidence: That of the intervals.
    :param power: The chance to find a change.
    :returns: One for each condition on a change, or one in general.
    """
    known = list(conditions)
    spread = ChangeSpread(CHANGING, tied=True)
    level = _level(known, rule, confidence)
    assumption = f"0/1 scores of which {CHANGING * 100:g} % change by chance"
    asked = [(each.metric, each.relation.removesuffix("s"), each.value) for each in known if each.is_change]
    return [
        Forecast(
            metric,
            turn,
            margin,
            rows,
            smallest_drop(spread, rows, margin, rule=rule, confidence=level, power=power),
            None,
            power,
            assumption,
        )
        for metric, turn, margin in (asked if known else [(None, "drop", 0.0)])
    ]


def forecast_of_run(
    run: ScoredRun,
    conditions: Iterable[Condition] = (),
    *,
    within: Mapping[str, float | None] | None = None,
    answers: int = 1,
    rule: Rule = "significant",
    confidence: float = 0.95,
    power: float = 0.9,
) -> list[Forecast]:
    """
    Tell what a gate against a run finds, from its scores.

    :param run: The run, or a baseline.
    :param conditions: What fails the gate, if it is known; those on means are left out.
    :param within: By metric the standard deviation between answers to one question, where they are several: what
        changes by chance. Else one score in five is taken to be drawn anew.
    :param answers: The answers to each question.
    :param rule: The rule of the gate.
    :param confidence: That of the intervals.
    :param power: The chance to find a change.
    :returns: One for each condition on a change, or one for each metric that has scores.
    :raises ValueError: If a condition names no metric of the run.
    """
    known = list(conditions)
    for condition in known:
        if condition.metric not in run.metrics:
            msg = f"'{condition}' names no metric of the run ({nearest(condition.metric, run.metrics)})."
            raise InvalidValueError(msg)
    level = _level(known, rule, confidence)
    asked = [(each.metric, each.relation.removesuffix("s"), each.value) for each in known if each.is_change]
    if not known:
        asked = [(name, "rise" if each.lower_is_better else "drop", 0.0) for name, each in run.metrics.items()]
    found = []
    for metric, turn, margin in asked:
        measured = (within or {}).get(metric)
        chance = None if measured is None or answers == 1 else 2 * measured**2 / answers
        scores = _scores_of(run, metric, chance)
        if scores is None:
            continue
        most = scores.mean - scores.low if turn == "drop" else scores.high - scores.mean
        few, alike = (
            smallest_drop(spread, scores.rows, margin, most=most, rule=rule, confidence=level, power=power)
            for spread in (scores.spread, scores.alike)
        )
        assumption = (
            f"{CHANGING * 100:g} % of the scores change by chance"
            if chance is None
            else f"scores change by chance as between the {answers} answers to a question"
        )
        # Without a spread every change would be found, however small: that is no forecast.
        if_alike = None if scores.spread.tied or not scores.alike.row_variance else alike
        found.append(Forecast(metric, turn, margin, scores.rows, few, if_alike, power, assumption))
    return found


def forecast_lines(found: Sequence[Forecast]) -> list[str]:
    """
    Write forecasts for people.

    :param found: The forecasts.
    :returns: A sentence for each; what is assumed stands in a line above where there are several.
    """
    if len(found) == 1:
        return [f"{found[0].text} (assumed: {found[0].assumption})."]
    lines = []
    for assumption in dict.fromkeys(each.assumption for each in found):
        lines.append(f"What a gate finds in these questions (assumed: {assumption}):")
        lines += [f"  {each.text}" for each in found if each.assumption == assumption]
    return lines


@dataclass(frozen=True)
class _Scores:
    """What a run tells of the changes to come: for few rows that change by much, and for all that change alike."""

    rows: int
    mean: float
    low: float
    high: float
    spread: ChangeSpread
    alike: ChangeSpread


def _scores_of(run: ScoredRun, name: str, chance: float | None) -> _Scores | None:
    """The scores of a metric; None for fewer than two."""
    values = np.array(run.metrics[name].scores, dtype=np.float64)
    kept = ~np.isnan(values)
    rows = int(np.count_nonzero(kept))
    if rows < 2:  # noqa: PLR2004 - a spread takes two
        return None
    declared = run.metrics[name].score_range
    estimate = mean_interval(values, clusters=run.clusters, score_range=declared)
    values = values[kept]
    seen = (0.0, 1.0) if within_unit(values) else (float(values.min()), float(values.max()))
    low, high = declared or seen
    single = float(values.var(ddof=1))
    design = 1.0
    if estimate.clusters is not None and estimate.standard_error and single:
        design = max(estimate.standard_error**2 * rows / single, 1.0)
    if chance is None:
        # Two scores drawn at random are 2 Var apart, squared; those alone that differ that over their share.
        shares = np.unique(values, return_counts=True)[1] / rows
        differ = 1 - float((shares**2).sum())
        chance = min(CHANGING, differ) * 2 * float(values.var()) / differ if differ else 0.0
    cluster_rows = None if estimate.clusters is None else rows / estimate.clusters
    tied = zero_one(values) and (low, high) == (0.0, 1.0)
    return _Scores(
        rows,
        float(values.mean()),
        low,
        high,
        ChangeSpread(chance * design, high - low, design, cluster_rows, tied),
        ChangeSpread(chance * design, 0.0, design, cluster_rows),
    )


def _level(conditions: Sequence[Condition], rule: Rule, confidence: float) -> float:
    """The confidence that Holm's correction asks of the first that fails."""
    tests = len(set(map(what_it_tests, conditions))) if rule == "significant" else 1
    return 1 - (1 - confidence) / max(tests, 1)
