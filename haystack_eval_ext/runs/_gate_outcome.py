# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From what a gate measured to its outcome, and the line that gives the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from haystack_eval_ext.runs._power import in_clusters
from haystack_eval_ext.runs._run_exports import shown, shown_interval
from haystack_eval_ext.runs._scored import counted
from haystack_eval_ext.runs._ties import ALIKE, units_if_alike

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack_eval_ext.runs._conditions import Condition
    from haystack_eval_ext.runs._gate_power import Rule
    from haystack_eval_ext.runs._scored import Bounds
    from haystack_eval_ext.runs._spread import Interval

Outcome = Literal["pass", "fail", "inconclusive"]
# The share of rows without a score that may be like the others.
TOLERATED = 0.02


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
    :param rule: "significant" or "strict"; "mean" if the means alone decide.
    :param tolerate_failed: The share of rows without a score that was taken to be like the others.
    :param confidence: That of the interval by which it fails: by Holm's correction higher than that of `interval`.
    :param tests: The tests of the gate that Holm's correction goes over; 1 where there is none.
    """

    condition: Condition
    outcome: Outcome
    reason: str
    value: float | None
    interval: Interval | None
    rows: int
    failed: int
    rows_needed: int | None
    rule: Rule | Literal["mean"]
    tolerate_failed: float
    confidence: float
    tests: int


class How(NamedTuple):
    """How conditions are decided."""

    confidence: float
    power: float
    by_mean: bool
    tolerate_failed: float
    rule: Rule


class Stricter(NamedTuple):
    """
    What a condition fails by beside others: Holm's correction.

    :param interval: The interval at a higher confidence.
    :param confidence: That confidence.
    """

    interval: Interval
    confidence: float


@dataclass(frozen=True)
class Evidence:
    """What a condition is checked against; `again` gives the interval at another confidence."""

    value: float | None
    interval: Interval | None
    cautious: Interval | None
    rows: int
    clusters: int | None
    left_out: int
    failed: int
    bounds: Bounds | None
    again: Callable[[float], Interval | None]
    confidence: float
    power: float
    by_mean: bool
    tolerate_failed: float
    rule: Rule
    tests: int = 1
    stricter: Stricter | None = None

    def like(self, count: int) -> str:
        """So many questions, and as many clusters of the present size."""
        return f"{count}{in_clusters(count, self.rows, self.clusters)}"

    @property
    def units(self) -> int:
        """The clusters, or the rows where there are none."""
        return self.clusters or self.rows

    @property
    def fails_at(self) -> float:
        """The confidence of the interval by which it fails."""
        return self.stricter.confidence if self.stricter else self.confidence

    @property
    def whole(self) -> int:
        """The rows that failed as a whole, and so have no score."""
        return self.failed - (self.bounds.partly if self.bounds else 0)

    @property
    def undefined(self) -> int:
        """The rows that are undefined in one of two runs."""
        return self.bounds.undefined if self.bounds else 0

    @property
    def unknown(self) -> float:
        """The share of the rows that is unknown."""
        rows = self.rows + self.whole + self.undefined
        return self.bounds.unknown / rows if self.bounds and rows else 0.0

    @property
    def too_many_unknown(self) -> bool:
        """Whether more rows are unknown than may be taken for ones like the others."""
        return self.unknown > self.tolerate_failed


def fails_by(evidence: Evidence) -> Interval | None:
    """
    Give the interval by which a condition fails.

    :param evidence: What was measured.
    :returns: That of Holm's correction where there is one.
    """
    return evidence.stricter.interval if evidence.stricter else evidence.interval


def rejects(condition: Condition, evidence: Evidence, interval: Interval | None, shift: float = 0.0) -> bool:
    """
    Tell whether an interval lies wholly on the side that fails.

    :param condition: The condition.
    :param evidence: What was measured.
    :param interval: The interval.
    :param shift: Where rows that failed could move it.
    :returns: True if it lies beyond the limit; of changes under the rule "significant" beyond 0.
    """
    if interval is None:
        return False
    if condition.is_change and evidence.rule == "significant":
        condition = replace(condition, value=0.0)
    return all(condition.fails_at(end + shift) for end in interval[:2])


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
    interval = fails_by(evidence)
    if evidence.value is None or interval is None or condition.is_at(evidence.value):
        return None
    below = condition.limit < evidence.value
    side = evidence.value - interval.low if below else interval.high - evidence.value
    found = units_if_alike(evidence.units, side, abs(evidence.value - condition.limit), evidence.fails_at)
    return None if found is None else math.ceil(found * evidence.rows / evidence.units)


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
    needed = None if needed is None else max(needed, evidence.rows + 1)
    with_failed = _outcome(condition, evidence, with_failed=True)
    turned = outcome not in ("inconclusive", with_failed)
    if turned:
        outcome, needed = "inconclusive", None
        why = _what_could_change(evidence)
    elif outcome != "inconclusive":
        needed = None
        if outcome == "fail" and evidence.stricter:
            why = f"also among the {evidence.tests} tests of this gate (Holm: {_at(condition, evidence.stricter)})"
    elif _decided_by_holm(condition, evidence):
        why = _not_by_holm(condition, evidence, needed)
    elif evidence.value is None:
        why = "no row has a score" + (" in both runs" if condition.is_change else "")
    elif evidence.interval is None or (needed is None and evidence.units == 1):
        why = _too_little(evidence)
    elif needed is None:
        why = "no number of questions like these would decide"
    else:
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
        rule="mean" if evidence.by_mean else evidence.rule,
        tolerate_failed=evidence.tolerate_failed,
        confidence=evidence.fails_at,
        tests=evidence.tests,
    )


def _at(condition: Condition, stricter: Stricter) -> str:
    return f"{stricter.confidence * 100:.4g} % {shown_interval(stricter.interval, signed=condition.is_change)}"


def _not_by_holm(condition: Condition, evidence: Evidence, needed: int | None) -> str:
    """Why a condition that would fail alone does not fail among others."""
    assert evidence.stricter is not None  # noqa: S101 - the caller has looked
    at = _at(condition, evidence.stricter)
    limit = "0" if condition.is_change else f"{condition.value:g}"
    more = "" if needed is None else f"; about {evidence.like(needed)} like these would decide"
    return (
        f"alone it would fail, but not among the {evidence.tests} tests of this gate (Holm): {at} does not lie beyond "
        f"{limit}{more}"
    )


def _too_little(evidence: Evidence) -> str:
    """Why the rows do not tell how far the mean can be off."""
    if evidence.clusters == 1 and evidence.rows > 1:
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
    ends = evidence.bounds is None or math.isfinite(evidence.bounds.highest)
    unsaid = "" if ends else ", for nothing says between which ends such scores lie"
    return f"the scores of {' and '.join(open_rows)} could change that{unsaid}"


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
    if parts and not evidence.too_many_unknown and evidence.unknown:
        parts[-1] += f" (tolerated: up to {evidence.tolerate_failed * 100:g} %)"
    return parts


def _outcome(condition: Condition, evidence: Evidence, *, with_failed: bool = False) -> Outcome:
    """The outcome for the scored rows, or the one that holds whatever the failed rows would have scored."""
    value, interval = evidence.value, evidence.interval
    if value is None or (interval is None and not evidence.by_mean):
        return "inconclusive"
    lower = higher = 0.0
    if with_failed and evidence.bounds and evidence.too_many_unknown:
        lower, higher = evidence.bounds.lowest - value, evidence.bounds.highest - value
    if evidence.by_mean or interval is None:
        fails = {condition.fails_at(value + shift) for shift in (lower, higher)}
        return "inconclusive" if len(fails) > 1 else "fail" if fails.pop() else "pass"
    best = higher if condition.falls else lower
    beyond = not condition.is_change or evidence.rule == "strict" or condition.fails_at(value + best)
    if beyond and rejects(condition, evidence, fails_by(evidence), best):
        return "fail"
    ends = [end for each in (interval, evidence.cautious) if each for end in (each.low + lower, each.high + higher)]
    passes = not any(condition.fails_at(end) or (condition.is_change and condition.is_at(end)) for end in ends)
    return "pass" if passes else "inconclusive"


def _decided_by_holm(condition: Condition, evidence: Evidence) -> bool:
    """Whether a condition would fail if it were the only one of its gate."""
    if evidence.stricter is None or _outcome(condition, evidence) == "fail":
        return False
    return _outcome(condition, replace(evidence, stricter=None)) == "fail"


def _measured(condition: Condition, evidence: Evidence) -> str:
    change = condition.is_change
    value = shown(evidence.value, signed=change)
    text = f"{condition.metric} {'changed by' if change else 'is'} {value}"
    if evidence.by_mean or evidence.interval is None:
        return text
    return f"{text} ({evidence.confidence * 100:g} % {shown_interval(evidence.interval, signed=change)})"
