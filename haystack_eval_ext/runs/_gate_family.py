# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The conditions of one gate as one family of tests, so that more conditions do not mean more false alarms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from haystack_eval_ext.runs._gate_outcome import Stricter, fails_by, rejects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack_eval_ext.runs._conditions import Condition
    from haystack_eval_ext.runs._gate_outcome import Evidence


def what_it_tests(condition: Condition) -> tuple[str, bool, bool]:
    """
    Give what a condition tests: a metric, one of its directions, its mean or its change.

    :param condition: The condition.
    :returns: The same for conditions that differ in their margin or limit alone, which one interval decides.
    """
    return condition.metric, condition.falls, condition.is_change


def corrected(conditions: Sequence[Condition], evidences: Sequence[Evidence]) -> list[Evidence]:
    """
    Correct what the conditions of a gate fail by for their number (Holm 1979), under the rule "significant".

    A test rejects where the interval lies wholly beyond 0, or beyond the limit of the mean. With k tests left each goes
    by an interval of confidence `1 - alpha / k`; those that reject are done, and the others are fewer.

    :param conditions: The conditions.
    :param evidences: What each is checked against.
    :returns: The same, with the wider interval where a condition would fail alone and more tests are left.
    """
    tests: dict[tuple[str, bool, bool], list[int]] = {}
    for place, (condition, evidence) in enumerate(zip(conditions, evidences, strict=True)):
        if evidence.rule == "significant" and not evidence.by_mean and evidence.interval is not None:
            tests.setdefault(what_it_tests(condition), []).append(place)
    uncorrected, open_tests = list(evidences), list(tests.values())
    for place in (place for places in open_tests for place in places):
        uncorrected[place] = replace(evidences[place], tests=len(tests))
    found = list(uncorrected)
    while open_tests:
        for place in (place for places in open_tests for place in places):
            found[place] = _among(conditions[place], uncorrected[place], len(open_tests))
        not_rejected = [
            places
            for places in open_tests
            if not all(rejects(conditions[place], found[place], fails_by(found[place])) for place in places)
        ]
        if len(not_rejected) == len(open_tests):
            break
        open_tests = not_rejected
    return found


def _among(condition: Condition, evidence: Evidence, tests: int) -> Evidence:
    """The evidence as it counts where so many tests are left."""
    # What does not reject alone does not with others.
    if tests == 1 or not rejects(condition, evidence, evidence.interval):
        return evidence
    confidence = 1 - (1 - evidence.confidence) / tests
    interval = evidence.again(confidence)
    return evidence if interval is None else replace(evidence, stricter=Stricter(interval, confidence))
