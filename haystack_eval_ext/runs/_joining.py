# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Which rows of two runs belong together, and why some runs cannot be compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack_eval_ext.errors import ComparisonError, parameter
from haystack_eval_ext.runs._scored import counted, some

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from haystack_eval_ext.runs._scored import MetricRows, ScoredRun

_LONGEST_VALUE = 60
_OLDER = " (if an older version wrote that run, score it again; if it is a baseline, write the baseline again)"
_MISSING = object()
# Of a measure's name: its parameters and its cut-off, as in "ERR(max_grade=4)@20" and "R@500w".
_SETTINGS = re.compile(r"(?:\(.*\))?(?:@\d+w?)?$", re.DOTALL)


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
    notes += _unknown_fingerprints(base, new) + _one_sided(base, new) + _differing_tags(base, new, pairs)
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
        f"{parameter('common', python='common=True')} compares the shared ones, "
        f"{parameter('unpaired', python='unpaired=True')} the means of different questions."
        for run, other in sides
        if (only := [row_id for row_id in run.ids if row_id not in shared])
    ]
    if reasons:
        # Fingerprints of different rows differ anyhow; those of the shared rows still say something.
        changed = _changed_rows(base, new, pairs)
        return reasons + (
            [f"Questions or labels differ in {counted(len(changed), 'shared row')}: {some(changed)}."]
            if changed
            else []
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
        reasons.append(f"Questions or labels differ in {counted(len(changed), 'row')}: {some(changed)}.")
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
    notes = [
        f"{counted(len(kept), 'shared row')} of {len(base.ids)} in '{base.name}' and {len(new.ids)} in '{new.name}'."
    ]
    if changed:
        was = "was" if len(changed) == 1 else "were"
        rows = counted(len(changed), "row")
        notes.append(f"{rows} with the same id {was} left out: their question or labels differ.")
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
        names = [some(list(run.metrics)) or "none" for run in (base, new)]
        return _differing_settings(base, new) or [
            f"Metrics: '{base.name}' has {names[0]}, '{new.name}' has {names[1]}."
        ]
    return [
        f"{what} of '{name}' differs: {difference}."
        for name in shared
        for what, difference in _differences(base.metrics[name], new.metrics[name])
    ] + [*_differing_rules(base, new, shared), *_differing_settings(base, new)]


def _differing_rules(base: ScoredRun, new: ScoredRun, shared: list[str]) -> list[str]:
    """Metrics that two versions of this package score by rules of different meaning: one command repairs them all."""
    reasons = []
    for run, other in ((base, new), (new, base)):
        older = [name for name in shared if run.metrics[name].rule < other.metrics[name].rule]
        if older:
            reasons.append(
                f"The rule of {some(older)} has changed since '{run.name}' was scored. Score its answers again by the "
                "new rule: haystack-eval run EVALUATION --data RUN --out NEW, where RUN is the folder of that run and "
                "EVALUATION the pipeline that scored it; of a baseline, write it again from NEW."
            )
    return reasons


def _differing_settings(base: ScoredRun, new: ScoredRun) -> list[str]:
    """The same measure with another cut-off or other parameters in its name, and none that both have."""
    families = [_families(run) for run in (base, new)]
    return [
        f"Cut-off or parameters of '{family}' differ: '{base.name}' has {some(mine)}, '{new.name}' has {some(theirs)}. "
        f"Score both runs with the same measures; {parameter('metrics', 'NAME', python='metrics=[...]')} compares "
        "those alone that it names."
        for family, mine in families[0].items()
        if (theirs := families[1].get(family)) and not set(mine) & set(theirs)
    ]


def _families(run: ScoredRun) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name in run.metrics:
        families.setdefault(_SETTINGS.sub("", name), []).append(name)
    return families


def _differences(base: MetricRows, new: MetricRows) -> list[tuple[str, str]]:
    found = [(f"Parameter {key}", text) for key, text in _unequal(base.parameters, new.parameters)]
    directions = base.lower_is_better, new.lower_is_better
    if None not in directions and directions[0] != directions[1]:
        words = ["lower is better" if lower else "higher is better" for lower in directions]
        found.append(("Direction", " and ".join(words)))
    if base.judge != new.judge:
        found.append(("Judge model", f"{_shown(base.judge)} and {_shown(new.judge)}"))
    return found + [
        (f"Prompt version {key}", text) for key, text in _unequal(base.prompt_versions, new.prompt_versions)
    ]


def _unequal(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str]]:
    keys = list(dict.fromkeys([*base, *new]))
    values = [(key, base.get(key, _MISSING), new.get(key, _MISSING)) for key in keys]
    return [
        (key, f"{_shown(one)} and {_shown(two)}" + (_OLDER if _MISSING in (one, two) else ""))
        for key, one, two in values
        if one is not two and one != two
    ]


def _differing_clusters(base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]) -> list[str]:
    before, after = base.clusters, new.clusters
    if before is None or after is None:
        return []
    moved = [base.ids[row] for row, other in pairs if before[row] != after[other]]
    return [f"The cluster differs in {counted(len(moved), 'row')}: {some(moved)}."] if moved else []


def _one_sided(base: ScoredRun, new: ScoredRun) -> list[str]:
    """Clusters that one run alone has; it says which rows belong together in both."""
    if (base.clusters is None) == (new.clusters is None):
        return []
    having, lacking = (base, new) if new.clusters is None else (new, base)
    return [f"Only '{having.name}' has clusters; its clusters are taken for the rows of '{lacking.name}' too."]


def _differing_tags(base: ScoredRun, new: ScoredRun, pairs: list[tuple[int, int]]) -> list[str]:
    before, after = base.tags, new.tags
    if before is None and after is None:
        return []
    if before is None or after is None:
        having = base if after is None else new
        return [f"Only '{having.name}' has tags; they are taken for both runs."]
    changed = [base.ids[row] for row, other in pairs if set(before[row]) != set(after[other])]
    rows = counted(len(changed), "row")
    return [f"Tags differ in {rows} ({some(changed)}): those of '{base.name}' are taken."] if changed else []


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
