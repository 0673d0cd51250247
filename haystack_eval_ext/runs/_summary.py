# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A comparison in one sentence: the metric that tells most, which way it went, in how many questions, how certain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack_eval_ext.runs._metric_comparison import MetricComparison

_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SHOWN_OTHERS = 3


def summary(metrics: Mapping[str, MetricComparison], *, confidence: float) -> str:
    """
    Say in plain words what changed.

    The metric that tells most is the one whose change is largest against the width of its interval, of equal ones the
    first: p-values of different tests are not fine enough to be ranked. A change is certain if its p-value, adjusted
    for all metrics, is at most 1 - confidence and its interval does not hold 0.

    :param metrics: The metrics of a comparison.
    :param confidence: That of its intervals.
    :returns: One sentence.
    """
    compared = [metric for metric in metrics.values() if metric.difference.mean is not None]
    if not compared:
        return "No metric has a score in both runs, so nothing can be said."
    moved = [metric for metric in compared if _moved(metric)]
    if not moved:
        one = len(compared) == 1
        of = compared[0].name if one else f"{_count(len(compared))} metrics"
        if not compared[0].difference.paired:
            return f"No mean changed: {of} {'has' if one else 'have'} the same mean in both runs."
        return f"No score changed: {of} {'is' if one else 'are'} the same in every question."
    first = max(moved, key=_clearness)
    alpha = 1 - confidence
    sure = _certain(first, alpha)
    among = f" (the clearest change of {_count(len(compared))} metrics)" if len(compared) > 1 else ""
    parts = [f"{_way(first)}{among}{_questions(first)}"]
    parts.append(f"certain at {confidence * 100:g} %" if sure else "not certain, it may be chance")
    others = [metric for metric in moved if metric is not first and _certain(metric, alpha)]
    if others:
        named = [f"{metric.name} {_verb(metric)}" for metric in others[:_SHOWN_OTHERS]]
        more = len(others) - len(named)
        parts.append(f"also certain: {', '.join(named)}" + (f" and {more} more" if more else ""))
    return f"{'; '.join(parts)}."


def _moved(metric: MetricComparison) -> bool:
    difference = metric.difference
    return bool(difference.mean or difference.wins or difference.losses)


def _clearness(metric: MetricComparison) -> float:
    difference = metric.difference
    if difference.mean is None or difference.interval is None:
        return -1.0
    width = difference.interval.high - difference.interval.low
    return abs(difference.mean) / width if width else math.inf


def _certain(metric: MetricComparison, alpha: float) -> bool:
    p, interval = metric.p_adjusted, metric.difference.interval
    # Neither alone: an interval knows of one metric only, and a test may be finer than its interval.
    return p is not None and p <= alpha and interval is not None and not interval.low <= 0 <= interval.high


def _way(metric: MetricComparison) -> str:
    base, new = metric.base.estimate.mean, metric.new.estimate.mean
    before, after = _rounded(base or 0.0, new or 0.0)
    lower = ", where lower is better" if metric.lower_is_better else ""
    verb = _verb(metric)
    numbers = after if verb == "stayed at" else f"from {before} to {after}{lower}"
    return f"{metric.name} {verb} {numbers}"


def _verb(metric: MetricComparison) -> str:
    change = metric.difference.mean or 0.0
    return "rose" if change > 0 else "fell" if change < 0 else "stayed at"


def _rounded(base: float, new: float) -> tuple[str, str]:
    """Two digits, or as many as it takes to see the change."""
    texts = f"{base:.2f}", f"{new:.2f}"
    for digits in range(3, 7):
        if texts[0] != texts[1] or base == new:
            break
        texts = f"{base:.{digits}f}", f"{new:.{digits}f}"
    return texts


def _questions(metric: MetricComparison) -> str:
    if metric.wins is None or metric.losses is None:
        return f" (other questions in each run: {metric.base.estimate.rows} and {metric.new.estimate.rows})"
    words = ("lost", "gained") if metric.binary else ("worse", "better")
    most, least = sorted(zip((metric.losses, metric.wins), words, strict=True), key=lambda each: -each[0])
    noun = "question" if most[0] == 1 else "questions"
    return f": {_count(most[0])} {noun} {most[1]}, {_count(least[0])} {least[1]}"


def _count(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else str(number)
