# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From what a gate measured to its outcome, and the line that gives the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from haystack_eval_ext.runs._power import in_clusters
from haystack_eval_ext.runs._run_exports import shown, shown_interval
from haystack_eval_ext.runs._scored import counted
from haystack_eval_ext.runs._ties import ALIKE, units_if_alike

if TYPE_CHECKING:
    from haystack_eval_ext.runs._conditions import Condition
    from haystack_eval_ext.runs._scored import Bounds
    from haystack_eval_ext.runs._spread import Interval

Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class GateResult:
    """
    What a gate says of one condition.

    :param condition: The condition.
    :param outcome: "pass", "fail" or "inconclusive".
    :param reason: Why, in one line.
    :param value: The mean, or the change from base to new; None without a score.
    :param interval: Its confidence interval; None if there is none.
    :param rows: The rows behind it.
    :param failed: The rows that could not be judged, wholly or in part.
    :param rows_needed: About how many questions would decide, if more questions could.
    """

    condition: Condition
    outcome: Outcome
    reason: str
    value: float | None
    interval: Interval | None
    rows: int
    failed: int
    rows_needed: int | None


class How(NamedTuple):
    """How conditions are decided."""

    confidence: float
    power: float
    by_mean: bool
    tolerate_failed: float


@dataclass(frozen=True)
class Evidence:
    """What a condition is checked against."""

    value: float | None
    interval: Interval | None
    cautious: Interval | None
    rows: int
    clusters: int | None
    left_out: int
    failed: int
    bounds: Bounds | None
    confidence: float
    power: float
    by_mean: bool
    tolerate_failed: float

    def like(self, count: int) -> str:
        """So many questions, and as many clusters of the present size."""
        return f"{count}{in_clusters(count, self.rows, self.clusters)}"

    @property
    def whole(self) -> int:
        """The rows that failed as a whole, and so have no score."""
        return self.failed - (self.bounds.partly if self.bounds else 0)

    @property
    def undefined(self) -> int:
        """The rows that are undefined in one of two runs."""
        return self.bounds.undefined if self.bounds else 0

    @property
    def too_many_unknown(self) -> bool:
        """Whether more rows are unknown than may be taken for ones like the others."""
        unknown = self.bounds.unknown if self.bounds else 0.0
        return unknown > self.tolerate_failed * (self.rows + self.whole + self.undefined)


def is_alike(evidence: Evidence) -> bool:
    """
    Tell whether all rows are alike, so that no spread tells how many would decide.

    :param evidence: What was measured.
    :returns: True if so.
    """
    return evidence.interval is not None and evidence.interval.method == ALIKE


def needed_if_alike(condition: Condition, evidence: Evidence) -> int | None:
    """
    Give the rows at which the interval of rows that are all alike keeps off the limit.

    :param condition: The condition.
    :param evidence: What was measured.
    :returns: Their number; None if no number does.
    """
    if evidence.value is None or evidence.interval is None or condition.is_at(evidence.value):
        return None
    below = condition.limit < evidence.value
    side = evidence.value - evidence.interval.low if below else evidence.interval.high - evidence.value
    units = evidence.clusters or evidence.rows
    found = units_if_alike(units, side, abs(evidence.value - condition.limit), evidence.confidence)
    return None if found is None else math.ceil(found * evidence.rows / units)


def decide(condition: Condition, evidence: Evidence, needed: int | None, plan: str = "") -> GateResult:
    """
    Decide a condition.

    :param condition: The condition.
    :param evidence: What was measured.
    :param needed: About how many rows would decide, if it is known.
    :param plan: What to say of them; else that so many like these would decide.
    :returns: The outcome with its reason.
    """
    outcome, why = _outcome(condition, evidence), ""
    with_failed = _outcome(condition, evidence, with_failed=True)
    turned = outcome not in ("inconclusive", with_failed)
    if turned:
        outcome, needed = "inconclusive", None
        why = _what_could_change(evidence)
    elif outcome != "inconclusive":
        needed = None
    elif evidence.value is None:
        why = "no row has a score" + (" in both runs" if condition.is_change else "")
    elif evidence.interval is None:
        why = _why_no_interval(evidence)
    elif needed is None:
        why = "no number of questions like these would decide"
    else:
        needed = max(needed, evidence.rows + 1)
        plan = plan or f"about {evidence.like(needed)} like these would decide"
        clusters = in_clusters(evidence.rows, evidence.rows, evidence.clusters)
        are = "is" if evidence.rows == 1 else "are"
        why = f"{counted(evidence.rows, 'question')}{clusters} {are} too few: {plan}"
    parts = [] if evidence.value is None else [_measured(condition, evidence)]
    parts += [why] if why else []
    if not turned:
        parts += _without(evidence)
    others = evidence.left_out - evidence.whole - evidence.undefined
    if others > 0:
        parts.append(f"{counted(others, 'row')} without a score {'was' if others == 1 else 'were'} left out")
    return GateResult(
        condition=condition,
        outcome=outcome,
        reason=f"{outcome}: {'; '.join(parts)}",
        value=evidence.value,
        interval=None if evidence.by_mean else evidence.interval,
        rows=evidence.rows,
        failed=evidence.failed,
        rows_needed=needed,
    )


def _why_no_interval(evidence: Evidence) -> str:
    if evidence.clusters == 1:
        return "all rows are of one cluster, which does not tell how far the mean can be off"
    if evidence.rows == 1:
        return "one row does not tell how far the mean can be off"
    return "too little to tell how far the mean can be off"


def _what_could_change(evidence: Evidence) -> str:
    """What left the outcome open."""
    open_rows = []
    if evidence.failed:
        partly = evidence.failed - evidence.whole
        in_part = f" ({partly} of them in part)" if partly else ""
        open_rows.append(f"{counted(evidence.failed, 'row')} that could not be judged{in_part}")
    if evidence.undefined:
        are = "is" if evidence.undefined == 1 else "are"
        open_rows.append(f"{counted(evidence.undefined, 'row')} that {are} undefined in one run only")
    return f"the scores of {' and '.join(open_rows)} could change that"


def _without(evidence: Evidence) -> list[str]:
    """The same where the outcome is not theirs."""
    parts = []
    if evidence.failed:
        partly = evidence.failed - evidence.whole
        in_part = f", {partly} of them in part" if partly else ""
        parts.append(f"{counted(evidence.failed, 'row')} could not be judged{in_part}")
    if evidence.undefined:
        are = "is" if evidence.undefined == 1 else "are"
        parts.append(f"{counted(evidence.undefined, 'row')} {are} undefined in one run only")
    return parts


def _outcome(condition: Condition, evidence: Evidence, *, with_failed: bool = False) -> Outcome:
    """The outcome for the scored rows, or the one that holds whatever the failed rows would have scored."""
    interval = evidence.interval
    if evidence.value is None or (interval is None and not evidence.by_mean):
        return "inconclusive"
    if evidence.by_mean or interval is None:
        return _outcome_within(condition, evidence, evidence.value, evidence.value, with_failed=with_failed)
    outcome = _outcome_within(condition, evidence, interval.low, interval.high, with_failed=with_failed)
    if outcome != "pass" or evidence.cautious is None:
        return outcome
    low, high = evidence.cautious[:2]
    cautious = _outcome_within(condition, evidence, low, high, with_failed=with_failed)
    return outcome if cautious == "pass" else "inconclusive"


def _outcome_within(condition: Condition, evidence: Evidence, low: float, high: float, *, with_failed: bool) -> Outcome:
    if with_failed and evidence.value is not None and evidence.bounds and evidence.too_many_unknown:
        low += evidence.bounds.lowest - evidence.value
        high += evidence.bounds.highest - evidence.value
    if condition.is_change and not evidence.by_mean and (condition.is_at(low) or condition.is_at(high)):
        return "inconclusive"
    fails = {condition.fails_at(low), condition.fails_at(high)}
    return "inconclusive" if len(fails) > 1 else "fail" if fails.pop() else "pass"


def _measured(condition: Condition, evidence: Evidence) -> str:
    change = condition.is_change
    value = shown(evidence.value, signed=change)
    text = f"{condition.metric} {'changed by' if change else 'is'} {value}"
    if evidence.by_mean or evidence.interval is None:
        return text
    return f"{text} ({evidence.confidence * 100:g} % {shown_interval(evidence.interval, signed=change)})"
