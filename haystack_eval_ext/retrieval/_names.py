# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure names: from ``"nDCG(dcg='exp-log2')@10"`` to a value and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.retrieval.measures import MEASURES, Measure, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\((?P<parameters>.*)\))?(?:@(?P<cutoff>\d+)(?P<words>w)?)?", re.DOTALL)
_SEPARATOR = re.compile(r"[\s,]+(?![^(]*\))")
_PARAMETER = re.compile(
    r"""\s*(?P<name>[A-Za-z_]\w*)\s*=\s*
    (?P<value>True|False|None|'[^'\\]*'|"[^"\\]*"|[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    \s*(?:,|$)""",
    re.VERBOSE | re.ASCII,
)
_WORDS: dict[str, Value] = {"True": True, "False": False, "None": None}
# Far beyond any ranking, and safe in 64-bit arithmetic.
_DEEPEST = 1_000_000_000
_ALIASES = {alias: name for name, definition in MEASURES.items() for alias in (name, *definition.aliases)}


def make_measure(name: str, *, cutoff: int | None = None, in_words: bool = False, **parameters: Value) -> Measure:
    """
    Make a measure, checked against its definition.

    :param name: Name or alias, as ``haystack-eval metrics`` lists them.
    :param cutoff: Number of documents, or of words, that count; None for all.
    :param in_words: Whether the cut-off is a text budget.
    :param parameters: The measure's own parameters.
    :returns: The measure.
    :raises ValueError: If the name, a parameter or the cut-off does not fit; near names are listed.
    """
    if name not in _ALIASES:
        near = _nearest(name)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        msg = f"Unknown measure {name!r}. {hint}Known measures: {', '.join(MEASURES)}."
        raise InvalidValueError(msg)
    definition = MEASURES[_ALIASES[name]]
    for parameter, value in parameters.items():
        if parameter not in definition.parameters:
            known = ", ".join(definition.parameters) or "none"
            msg = f"{definition.name} has no parameter {parameter!r}; it takes: {known}."
            raise InvalidValueError(msg)
        expected = definition.parameters[parameter]
        if not expected.accepts(value):
            msg = f"{definition.name} cannot have {parameter}={value!r}; {parameter} is {expected.description}."
            raise InvalidValueError(msg)
    if cutoff is None and definition.cutoff == "required":
        msg = f"{definition.name} needs a cut-off, for example {definition.name}@10."
        raise InvalidValueError(msg)
    if cutoff is not None and definition.cutoff == "none":
        msg = f"{definition.name} has no cut-off: write {definition.name} instead of {definition.name}@{cutoff}."
        raise InvalidValueError(msg)
    if cutoff is not None and not 1 <= cutoff <= _DEEPEST:
        msg = f"The cut-off of {definition.name} must be from 1 to {_DEEPEST}, but is {cutoff}."
        raise InvalidValueError(msg)
    if in_words and not definition.words:
        msg = f"{definition.name} has no cut-off in words, since it depends on the number of documents: use {name}@10."
        raise InvalidValueError(msg)
    given = tuple(
        (parameter, value)
        for parameter, value in sorted(parameters.items())
        if value != definition.parameters[parameter].default
    )
    if in_words and dict(given).get("judged_only"):
        msg = f"{definition.name}: judged_only and a cut-off in words cannot be combined."
        raise InvalidValueError(msg)
    return Measure(definition.name, given, cutoff, in_words)


def parse_measure(text: str) -> Measure:
    """
    Read a measure's name, in ir_measures' form.

    ```python
    from haystack_eval_ext.retrieval._names import parse_measure

    print(parse_measure("NDCG(dcg='exp-log2')@10"))
    # nDCG(dcg='exp-log2')@10
    ```

    :param text: For example ``"nDCG@10"``, ``"AP"``, ``"RBP(p=0.9)"``; ``"R@500w"`` counts the first 500 words.
    :returns: The measure.
    :raises TypeError: If the name is not a string.
    :raises ValueError: If it cannot be read, or names an unknown measure, parameter or cut-off.
    """
    if not isinstance(text, str):
        msg = f"A measure must be a string such as 'nDCG@10', but is {text!r}."
        raise InvalidTypeError(msg)
    match = _NAME.fullmatch(text.strip())
    if match is None:
        msg = (
            f"Cannot read the measure {text!r}. Expected NAME, NAME@CUTOFF or NAME(parameter=value)@CUTOFF, for "
            "example 'nDCG@10', 'R@500w' or 'RBP(p=0.8)'; a cut-off is a whole number of at least 1."
        )
        raise InvalidValueError(msg)
    cutoff = match["cutoff"]
    return make_measure(
        match["name"],
        cutoff=None if cutoff is None else int(cutoff),
        in_words=match["words"] is not None,
        **_read_parameters(match["parameters"] or "", text),
    )


def split_measures(text: str) -> list[str]:
    """
    Split a list of measure names as typed on a command line.

    :param text: Names separated by commas or blanks; commas inside parentheses do not separate.
    :returns: The names.
    """
    return [name for name in _SEPARATOR.split(text.strip()) if name]


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """
    Read a list of measure names.

    :param names: At least one name.
    :returns: The measures, in the same order.
    :raises TypeError: If it is not a list of strings.
    :raises ValueError: If it is empty, a name cannot be read, or a measure is named twice.
    """
    if not isinstance(names, list) or not names:
        msg = f"measures must be a list with at least one name, such as ['nDCG@10', 'R@100'], but is {names!r}."
        raise InvalidValueError(msg) if isinstance(names, list) else InvalidTypeError(msg)
    measures = [parse_measure(name) for name in names]
    for position, measure in enumerate(measures):
        if measure in measures[:position]:
            msg = f"The measure {measure} is named twice; name each measure once."
            raise InvalidValueError(msg)
    return measures


def _read_parameters(text: str, measure: str) -> dict[str, Value]:
    # Not by ast: compiling in several threads at once fails now and then on Python 3.11 (SystemError).
    parameters: dict[str, Value] = {}
    end = 0
    while end < len(text):
        match = _PARAMETER.match(text, end)
        if match is None:
            msg = f"Cannot read the parameters of the measure {measure!r}. Expected for example 'RBP(p=0.8)'."
            raise InvalidValueError(msg)
        name, value = match["name"], match["value"]
        if name in parameters:
            msg = f"The measure {measure!r} names a parameter twice; name each once."
            raise InvalidValueError(msg)
        parameters[name] = _read_value(value)
        end = match.end()
    return parameters


def _read_value(text: str) -> Value:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "'\"":
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        return float(text)


def _nearest(name: str) -> list[str]:
    import difflib

    by_lower = {alias.lower(): canonical for alias, canonical in _ALIASES.items()}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    return list(dict.fromkeys(by_lower[match] for match in near))
