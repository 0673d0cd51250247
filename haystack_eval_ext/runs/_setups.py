# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the set-ups of two runs: parameters, prompts, models, versions, corpus, settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from haystack_eval_ext.runs._metric_info import default_of
from haystack_eval_ext.runs._setup_record import (
    CORPUS,
    PIPELINES,
    RAG,
    TARGET,
    components_in,
    without_prose,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from haystack_eval_ext.runs._setup_record import Part, Setup

Change = Literal["changed", "added", "removed", "renamed"]
_INDEX_OF_STORE = ".index"


@dataclass(frozen=True)
class SetupDifference:
    """
    One thing that two set-ups do not have in common.

    :param part: Where it is: "RAG pipeline", "indexing pipeline", "evaluation pipeline", "corpus", "settings",
        "versions".
    :param name: What it is there: "bm25.top_k", as `--set` writes it, or the name of a component, setting or package.
    :param change: "changed", "added", "removed" or "renamed" (of a component, both values are its names).
    :param base: The value in the base run; None if it has none. A component that came or went is its `type` and its
        `init_parameters`.
    :param new: The value in the new run.
    """

    part: str
    name: str
    change: Change
    base: Any
    new: Any


@dataclass(frozen=True)
class SetupComparison:
    """
    Two set-ups.

    :param differences: What differs, part by part.
    :param unknown: What is not recorded, and so may differ as well.
    """

    differences: list[SetupDifference] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def compare_setups(base: Setup, new: Setup, *, base_name: str, new_name: str) -> SetupComparison:
    """
    Compare two set-ups.

    :param base: That of the base run, as :func:`~haystack_eval_ext.runs._setup_record.setup_of` gives it.
    :param new: That of the new run.
    :param base_name: What reports call the base run.
    :param new_name: What reports call the new run.
    :returns: What differs, and what is not known.
    """
    differences: list[SetupDifference] = []
    targets = [(setup.get(TARGET) or {}).get("name") for setup in (base, new)]
    if None in (base.get(RAG), new.get(RAG)) and targets[0] != targets[1] and None not in targets:
        differences.append(SetupDifference(RAG, TARGET, "changed", *targets))
    for part in dict.fromkeys([*base, *new]):
        one, two = base.get(part), new.get(part)
        # A pipeline that one run does not record may be the same.
        if one is not None and two is not None:
            differences += _part(part, one, two)
    unknown = []
    for part in PIPELINES:
        lacking = [name for name, setup in ((base_name, base), (new_name, new)) if setup.get(part) is None]
        if lacking:
            whose = "Neither run records its" if len(lacking) == 2 else f"'{lacking[0]}' does not record its"  # noqa: PLR2004
            unknown.append(f"{whose} {part}, so what differs there is not known.")
    return SetupComparison(differences, [*unknown, *_counted_twice(base, new)])


def _part(part: str, base: Part, new: Part) -> Iterator[SetupDifference]:
    if part == TARGET:
        return
    if part in PIPELINES:
        renamed = _renamed(base, new)
        for old, name in renamed.items():
            yield SetupDifference(part, old, "renamed", old, name)
        base = {_under_new_name(name, renamed): value for name, value in base.items()}
        base, new, whole = _whole_components(base, new)
        yield from (SetupDifference(part, *each) for each in whole)
    for name in dict.fromkeys([*base, *new]):
        one, two = (
            side[name] if name in side else _default(name, side, other) for side, other in _each_with_other(base, new)
        )
        if one is _ABSENT:
            yield SetupDifference(part, name, "added", None, new[name])
        elif two is _ABSENT:
            yield SetupDifference(part, name, "removed", base[name], None)
        elif one != two and without_prose(one) != without_prose(two):
            yield SetupDifference(part, name, "changed", one, two)


_ABSENT: Any = object()


def _each_with_other(base: Part, new: Part) -> list[tuple[Part, Part]]:
    """Both sides, each with the other: base and new, then new and base."""
    return [(base, new), (new, base)]


def _default(name: str, side: Part, other: Part) -> Any:
    """What a parameter is that one YAML leaves out, if the class is the same and says it."""
    owner, _, parameter = name.rpartition(".")
    kind = side.get(owner)
    if not isinstance(kind, str) or kind != other.get(owner):
        return _ABSENT
    found = default_of(kind, parameter)
    hashed = found and isinstance(found[0], str) and found[0].startswith("sha256:")
    return found[0] if found and not hashed else _ABSENT


def _renamed(base: Part, new: Part) -> dict[str, str]:
    """Components that are alike but for the name: all that they hold is, or none else of the class came or went."""
    ours, theirs = components_in(base), components_in(new)
    gone = {name: held for name, held in ours.items() if name not in theirs}
    come = {name: held for name, held in theirs.items() if name not in ours}
    found: dict[str, str] = {}
    for alike in (_equal, _of_one_class):
        for name, held in gone.items():
            candidates = [other for other, of in come.items() if other not in found.values() and alike(held, of)]
            rivals = [each for each, of in gone.items() if each not in found and alike(held, of)]
            if name not in found and len(candidates) == len(rivals) == 1:
                found[name] = candidates[0]
    return found


def _equal(one: Part, two: Part) -> bool:
    return one == two


def _of_one_class(one: Part, two: Part) -> bool:
    return bool(one["type"] == two["type"])


def _under_new_name(name: str, renamed: Mapping[str, str]) -> str:
    """A parameter, or both ends of a connection, by the present names of their components."""
    ends = name.removeprefix("connection ").split(" to ")
    moved = []
    for end in ends:
        component, dot, rest = end.partition(".")
        moved.append(renamed.get(component, component) + dot + rest)
    return ("connection " if name.startswith("connection ") else "") + " to ".join(moved)


def _whole_components(
    base: Part, new: Part
) -> tuple[Part, Part, list[tuple[str, Change, dict[str, Any] | None, dict[str, Any] | None]]]:
    """Both sides without the components that one alone has, and these, each as one."""
    ours, theirs = components_in(base), components_in(new)
    whole: list[tuple[str, Change, dict[str, Any] | None, dict[str, Any] | None]] = []
    for name in dict.fromkeys([*ours, *theirs]):
        if name not in theirs:
            whole.append((name, "removed", ours[name], None))
        elif name not in ours:
            whole.append((name, "added", None, theirs[name]))
    single = {name for name, *_ in whole}

    def rest(side: Part) -> Part:
        return {name: value for name, value in side.items() if name.partition(".")[0] not in single}

    return rest(base), rest(new), whole


def _number_of_documents(setup: Setup) -> int:
    found = (setup.get(CORPUS) or {}).get("documents")
    number = found.get("number") if isinstance(found, dict) else None
    return number if isinstance(number, int) else 0  # of a file that somebody has edited


def _counted_twice(base: Setup, new: Setup) -> Iterator[str]:
    """Earlier versions counted a shared in-memory index once for each component that searches it."""
    counts = [_number_of_documents(setup) for setup in (base, new)]
    low, high = sorted(counts)
    if not low:
        return
    larger = base if counts[0] == high else new
    indexes = [
        value for name, value in (larger.get(RAG) or {}).items() if name.endswith(_INDEX_OF_STORE) and value is not None
    ]
    if low != high and high % low == 0 and high // low in map(indexes.count, indexes):
        yield (
            f"The {high} documents may be the {low} counted {high // low} times: earlier versions counted those of an "
            "in-memory index once for each component that searches it. Whether the corpus is the same, only a new run "
            "tells."
        )
