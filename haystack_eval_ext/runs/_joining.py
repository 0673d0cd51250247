# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Which rows of two runs belong together, and why some runs cannot be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from haystack_eval_ext.runs._scored import some

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from haystack_eval_ext.runs._scored import MetricRows, ScoredRun

_LONGEST_VALUE = 60
_MISSING = object()


class ComparisonError(ValueError):
    """Two runs that cannot be compared; the message names every reason."""


class Joined(NamedTuple):
    """
    The rows of two runs that belong together.

    :param base_rows: Row numbers in the base run.
    :param new_rows: The row of the new run for each.
    :param clusters: The cluster of each pair.
    :param tags: The tags of each pair.
    :param notes: What a reader of the comparison must know.
    """

    base_rows: list[int]
    new_rows: list[int]
    clusters: list[Hashable] | None
    tags: list[Sequence[str]] | None
    notes: list[str]


def join(base: ScoredRun, new: ScoredRun, *, common: bool) -> Joined:
    """
    Join two runs by id.

    :param base: The base run.
    :param new: The new run.
    :param common: Take the rows that both have, instead of refusing runs that differ in rows.
    :returns: The rows, in the order of the base run.
    :raises ComparisonError: If the runs cannot be compared; with every reason.
    """
    place = {row_id: row for row, row_id in enumerate(new.ids)}
    pairs = [(row, place[row_id]) for row, row_id in enumerate(base.ids) if row_id in place]
    notes: list[str] = []
    if common:
        pairs, reasons, notes = _shared_rows(base, new, pairs)
    else:
        reasons = _differing_rows(base, new, pairs)
    refuse_if(reasons + _differing_metrics(base, new) + _differing_clusters(base, new, pairs))
    notes += _unknown_fingerprints(base, new)
    base_rows, new_rows = [row for row, _ in pairs], [row for _, row in pairs]
    return Joined(
        base_rows,
        new_rows,
        _column(base.clusters, base_rows, new.clusters, new_rows),
        _column(base.tags, base_rows, new.tags, new_rows),
        notes,
    )


def check_unpaired(base: ScoredRun, new: ScoredRun) -> None:
    """
    Refuse runs whose scores were made in different ways; their questions may differ.

    :raises ComparisonError: With every reason.
    """
    refuse_if(_differing_metrics(base, new))


def refuse_if(reasons: list[str]) -> None:
    """
    Refuse a comparison.

    :param reasons: What speaks against it.
    :raises ComparisonError: If there is a reason.
    """
    if reasons:
        msg = "The runs cannot be compared: " + " ".join(f"({n}) {reason}" for n, reason in enumerate(reasons, 1))
        raise ComparisonError(msg)


def _differing_rows(base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]) -> list[str]:
    shared = {base.ids[row] for row, _ in pairs}
    sides = ((base, new), (new, base))
    reasons = [
        f"Questions: {len(only)} of {len(run.ids)} in '{run.name}' are not in '{other.name}': {some(only)}. "
        "common=True compares the shared ones, unpaired=True the means of different questions."
        for run, other in sides
        if (only := [row_id for row_id in run.ids if row_id not in shared])
    ]
    if reasons:
        # Fingerprints of different rows differ anyhow; those of the shared rows still say something.
        changed = _changed_rows(base, new, pairs)
        return reasons + (
            [f"Questions or labels differ in {len(changed)} shared rows: {some(changed)}."] if changed else []
        )
    if not pairs:
        return ["Questions: the runs have no row."]
    for what, one, two in (
        ("Questions", base.question_fingerprint, new.question_fingerprint),
        ("Labels", base.label_fingerprint, new.label_fingerprint),
    ):
        if one is not None and two is not None and one != two:
            changed = _changed_rows(base, new, pairs)
            where = f", in rows {some(changed)}" if changed else ""
            reasons.append(
                f"{what} differ under the same ids{where} (fingerprints {_shown(one)} and {_shown(two)}). Score both "
                "runs against the same data file."
            )
    if not reasons and (changed := _changed_rows(base, new, pairs)):
        reasons.append(f"Questions or labels differ in {len(changed)} rows: {some(changed)}.")
    return reasons


def _shared_rows(
    base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[str], list[str]]:
    """The pairs with the same question and labels, the reasons against, and what to note."""
    if not pairs:
        return [], ["Questions: the runs share no id."], []
    same_ids = len(pairs) == len(base.ids) == len(new.ids)
    changed = set(_changed_rows(base, new, pairs))
    kept = [pair for pair in pairs if base.ids[pair[0]] not in changed]
    if not kept:
        return [], ["Questions or labels differ in every shared row."], []
    notes = [f"{len(kept)} shared rows of {len(base.ids)} in '{base.name}' and {len(new.ids)} in '{new.name}'."]
    if changed:
        notes.append(f"{len(changed)} rows with the same id were left out: their question or labels differ.")
    if base.row_fingerprints is None or new.row_fingerprints is None:
        if same_ids:
            return kept, _differing_rows(base, new, pairs), []
        notes.append("Whether the shared rows have the same questions and labels could not be checked.")
    return kept, [], notes


def _changed_rows(base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]) -> list[str]:
    before, after = base.row_fingerprints, new.row_fingerprints
    if before is None or after is None:
        return []
    return [base.ids[row] for row, other in pairs if before[row] != after[other]]


def _differing_metrics(base: ScoredRun, new: ScoredRun) -> list[str]:
    shared = [name for name in base.metrics if name in new.metrics]
    if not shared:
        return [f"Metrics: '{base.name}' has {some(list(base.metrics))}, '{new.name}' has {some(list(new.metrics))}."]
    return [
        f"{what} of '{name}' differs: {difference}."
        for name in shared
        for what, difference in _differences(base.metrics[name], new.metrics[name])
    ]


def _differences(base: MetricRows, new: MetricRows) -> list[tuple[str, str]]:
    found = [(f"Parameter {key}", text) for key, text in _unequal(base.parameters, new.parameters)]
    if base.judge != new.judge:
        found.append(("Judge model", f"{_shown(base.judge)} and {_shown(new.judge)}"))
    return found + [
        (f"Prompt version {key}", text) for key, text in _unequal(base.prompt_versions, new.prompt_versions)
    ]


def _unequal(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str]]:
    keys = list(dict.fromkeys([*base, *new]))
    values = [(key, base.get(key, _MISSING), new.get(key, _MISSING)) for key in keys]
    return [(key, f"{_shown(one)} and {_shown(two)}") for key, one, two in values if one is not two and one != two]


def _differing_clusters(base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]) -> list[str]:
    before, after = base.clusters, new.clusters
    if before is None or after is None:
        return []
    moved = [base.ids[row] for row, other in pairs if before[row] != after[other]]
    return [f"The cluster differs in {len(moved)} rows: {some(moved)}."] if moved else []


def _unknown_fingerprints(base: ScoredRun, new: ScoredRun) -> list[str]:
    if base.row_fingerprints is not None and new.row_fingerprints is not None:
        return []
    names = ("question", "label")
    unknown = [
        f"{name}s"
        for name in names
        if None in (getattr(base, f"{name}_fingerprint"), getattr(new, f"{name}_fingerprint"))
    ]
    return (
        [f"Whether the {' and '.join(unknown)} are the same is unknown: a fingerprint is missing."] if unknown else []
    )


def _column(
    base: Sequence[Any] | None, base_rows: list[int], new: Sequence[Any] | None, new_rows: list[int]
) -> list[Any] | None:
    if base is not None:
        return [base[row] for row in base_rows]
    return None if new is None else [new[row] for row in new_rows]


def _shown(value: object) -> str:
    if value is _MISSING:
        return "nothing"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
