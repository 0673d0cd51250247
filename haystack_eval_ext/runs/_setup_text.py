# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two set-ups, as people read it: values on one line, long texts where they begin to differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from haystack_eval_ext.runs._setups import SetupComparison, SetupDifference

_LONGEST = 60
# Of two long texts: so much before the place where they part, so that a reader finds it.
_BEFORE = 20
_DIGITS = 12


class SetupLine(NamedTuple):
    """
    One difference in words.

    :param part: The part of the set-up.
    :param name: What differs there.
    :param base: Its value in the base run.
    :param new: Its value in the new run.
    """

    part: str
    name: str
    base: str
    new: str


def setup_heading(setup: SetupComparison) -> str:
    """
    Say whether anything differs.

    :param setup: Two set-ups.
    :returns: One line.
    """
    if setup.differences:
        return "What differs between the set-ups:"
    return "Nothing that is recorded of the set-ups differs." if setup.unknown else "The set-ups are the same."


def setup_lines(setup: SetupComparison) -> list[SetupLine]:
    """
    Write the differences.

    :param setup: Two set-ups.
    :returns: One line for each.
    """
    return [SetupLine(each.part, _name(each), *_values(each)) for each in setup.differences]


def _name(difference: SetupDifference) -> str:
    return "component renamed" if difference.change == "renamed" else difference.name


def _values(difference: SetupDifference) -> tuple[str, str]:
    base, new = difference.base, difference.new
    if difference.change == "added":
        return "(none)", _shown(new)
    if difference.change == "removed":
        return _shown(base), "(none)"
    if isinstance(base, str) and isinstance(new, str) and max(len(base), len(new)) > _LONGEST:
        return _parting(base, new)
    one, two = _shown(base), _shown(new)
    return (one, two) if one != two else _parting(_json(base), _json(new))


def _parting(base: str, new: str) -> tuple[str, str]:
    """Both texts from a little before the first character in which they differ."""
    place = next((place for place, pair in enumerate(zip(base, new, strict=False)) if pair[0] != pair[1]), None)
    start = max((min(len(base), len(new)) if place is None else place) - _BEFORE, 0)
    return _cut(base, start), _cut(new, start)


def _cut(text: str, start: int) -> str:
    shown = " ".join(text[start : start + _LONGEST].split())
    if len(text) <= _LONGEST:
        return " ".join(text.split()) or '""'
    before, behind = "..." if start else "", "..." if start + _LONGEST < len(text) else ""
    return f"{before}{shown}{behind} ({len(text)} characters)"


def _shown(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("init_parameters"), dict):
        return f"{str(value.get('type')).rpartition('.')[2]}{_in_brackets(value['init_parameters'])}"
    if isinstance(value, dict) and "fingerprint" in value:
        return f"{value.get('number')} (fingerprint {str(value['fingerprint'])[:_DIGITS]})"
    return _cut(value if isinstance(value, str) else _json(value), 0)


def _in_brackets(parameters: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={_json(each)}" for name, each in parameters.items() if each is not None)
    return f"({_cut(text, 0)})" if text else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
