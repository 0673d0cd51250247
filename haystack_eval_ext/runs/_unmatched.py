# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics that one of two runs alone has, and whether they may be the same under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from haystack_eval_ext.runs._scored import some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack_eval_ext.runs._scored import ScoredRun

_LISTED = 10


class Unmatched(NamedTuple):
    """
    Metrics that one of two runs alone has.

    :param only_base: Those of the base run.
    :param only_new: Those of the new run.
    :param notes: What a reader must know of them.
    """

    only_base: list[str]
    only_new: list[str]
    notes: list[str]


def unmatched(base: ScoredRun, new: ScoredRun, *, same_questions: bool) -> Unmatched:
    """
    Find them.

    :param base: The base run.
    :param new: The new run.
    :param same_questions: Whether both runs are of the same questions.
    :returns: Their names; and a hint where each has a counterpart that was made in the same way.
    """
    only_base = [name for name in base.metrics if name not in new.metrics]
    only_new = [name for name in new.metrics if name not in base.metrics]
    notes = [
        f"Only '{run.name}' has {some(only, _LISTED)}." for run, only in ((base, only_base), (new, only_new)) if only
    ]
    pairs = _counterparts(base, only_base, new, only_new) if same_questions else []
    if pairs:
        named = ", ".join(f"'{old}' and '{name}'" for old, name in pairs[:_LISTED])
        notes.append(
            f"The same under another name? {named} were made alike. If a component was renamed, give it its "
            "former name and run it again, or score kept answers again: haystack-eval run EVALUATION --data RUN --out "
            "NEW."
        )
    return Unmatched(only_base, only_new, notes)


def _counterparts(
    base: ScoredRun, only_base: Sequence[str], new: ScoredRun, only_new: Sequence[str]
) -> list[tuple[str, str]]:
    """Each metric of the one side with that of the other that is made in the same way; none if one has no such."""
    lone = len(only_base) == len(only_new) == 1
    pairs = []
    for name in only_base:
        found = [other for other in only_new if _alike(base, name, new, other, lone=lone)]
        if len(found) != 1:
            return []
        pairs.append((name, found[0]))
    taken = {other for _, other in pairs}
    return pairs if len(taken) == len(only_new) == len(pairs) else []


def _alike(base: ScoredRun, name: str, new: ScoredRun, other: str, *, lone: bool) -> bool:
    one, two = base.metrics[name], new.metrics[other]
    # Of a metric whose class nobody recorded, nothing tells how it was made.
    if one.parameters.get("type") is None:
        return False
    # Of "stage/component.measure" the measure stays, and one of the two names before it, if there are several metrics.
    (stage, component, measure), (stage_two, component_two, measure_two) = _split(name), _split(other)
    kept = lone or stage == stage_two or component == component_two
    return kept and measure == measure_two and one.parameters == two.parameters and one.judge == two.judge


def _split(name: str) -> tuple[str, str, str]:
    stage, slash, rest = name.rpartition("/")
    component, _, measure = rest.partition(".")
    return stage + slash, component, measure
