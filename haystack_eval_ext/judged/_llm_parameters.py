# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of LLMEvaluator that say what its outputs may be, checked."""

from __future__ import annotations

import json
import math
from typing import Any

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.judged._forms import AROUND
from haystack_eval_ext.judged._llm_outputs import TYPES, Choices, Implied, Output, Range, Typed

# What Haystack's documentation calls the output that is the score.
_SCORE = "score"


def implied_score(found: dict[str, Output], examples: Any) -> str | None:
    """
    The output that is the score where the user names none: the one called "score", as Haystack's documentation has it.

    :param found: The outputs by name; of one that may be anything this notes that it is the score.
    :param examples: The parameter ``examples``, not checked yet.
    :returns: Its name; None if there is none, it stands for no numbers, or an example has one that is not from 0 to 1.
    """
    output = found.get(_SCORE)
    if isinstance(output, Range) or (isinstance(output, Choices) and output.scored):
        return _SCORE
    if output is None or isinstance(output, Choices | Typed):
        return None
    implied = Implied()
    for example in examples if isinstance(examples, list) else []:
        outputs = example.get("outputs") if isinstance(example, dict) else None
        if isinstance(outputs, dict) and _SCORE in outputs and math.isnan(implied.as_score(outputs[_SCORE])):
            return None
    found[_SCORE] = implied
    return _SCORE


def read_outputs(outputs: list[str], values: Any, score_output: str | None, score_values: Any) -> dict[str, Output]:
    """
    Check the parameters that say what the outputs may be.

    :param outputs: Names of the outputs.
    :param values: The parameter ``output_values``.
    :param score_output: The output that is the score, if any.
    :param score_values: The parameter ``score_values``.
    :returns: The outputs by name.
    :raises ValueError: If a parameter does not fit.
    :raises TypeError: If a parameter is of the wrong type.
    """
    values = {} if values is None else values
    if not isinstance(values, dict):
        msg = f"output_values must be a dictionary by output name or None, but is {describe(values)}."
        raise InvalidTypeError(msg)
    for name in values:
        if name not in outputs:
            msg = f"output_values[{name!r}] is none of the outputs {', '.join(map(repr, outputs))}."
            raise InvalidValueError(msg)
    if score_output is not None and score_output not in outputs:
        msg = f"score_output must be one of the outputs {', '.join(map(repr, outputs))} or None, but is "
        msg += f"{score_output!r}." if isinstance(score_output, str) else f"{describe(score_output)}."
        raise InvalidValueError(msg)
    if score_values is not None and score_output is None:
        msg = "score_values gives the values of score_output their numbers, but score_output is None."
        raise InvalidValueError(msg)
    if score_output is not None and score_output not in values:
        values = {**values, score_output: {"minimum": 0, "maximum": 1}}
    found = {
        name: _read_output(name, values[name], score_values if name == score_output else None)
        if name in values
        else Output()
        for name in outputs
    }
    score = None if score_output is None else found[score_output]
    if isinstance(score, Typed) or (isinstance(score, Choices) and not score.scored):
        msg = (
            f"output_values[{score_output!r}] has no numbers, so that it can be no score: name in score_values the "
            "number of each value, such as {'pass': 1, 'fail': 0}, or give the bounds of a number."
        )
        raise InvalidValueError(msg)
    return found


def _read_output(name: str, given: Any, scores: Any) -> Output:
    place = f"output_values[{name!r}]"
    if given == "boolean":
        given = [True, False]
    if isinstance(given, list):
        return Choices(_checked_choices(place, given), None if scores is None else _checked_scores(given, scores))
    if scores is not None:
        msg = f"score_values needs a list of the possible values in {place}."
        raise InvalidValueError(msg)
    if isinstance(given, str) and given in TYPES:
        return Typed(given)
    if isinstance(given, dict) and set(given) == {"minimum", "maximum"}:
        minimum, maximum = given["minimum"], given["maximum"]
        if is_number(minimum) and is_number(maximum) and minimum < maximum and is_number(maximum - minimum):
            return Range(minimum, maximum)
        msg = (
            f"{place}: 'minimum' must be a number below the number 'maximum', but they are {minimum!r} and {maximum!r}."
        )
        raise InvalidValueError(msg)
    msg = (
        f"{place} must be a list of the possible values, the bounds {{'minimum': 0, 'maximum': 10}}, or one of "
        f"{', '.join(map(repr, (*TYPES, 'boolean')))}, but is "
        + (f"{given!r}." if isinstance(given, str) else f"{describe(given)} of another form.")
    )
    raise InvalidValueError(msg)


def _checked_choices(place: str, choices: list[Any]) -> list[Any]:
    if not choices:
        msg = f"{place} is an empty list: name the possible values."
        raise InvalidValueError(msg)
    flags = [choice for choice in choices if isinstance(choice, bool)]
    for number, choice in enumerate(choices):
        if not (isinstance(choice, bool) or is_number(choice) or (isinstance(choice, str) and choice.strip(AROUND))):
            msg = f"{place}[{number}] must be a word or a finite number, but is {describe(choice)}."
            raise InvalidValueError(msg)
    plain = [str(choice).strip(AROUND).casefold() for choice in choices]
    if len(set(plain)) < len(plain) or (flags and len(flags) != len(choices)):
        msg = f"{place} must hold values that differ by more than case and punctuation; True stands beside False alone."
        raise InvalidValueError(msg)
    return list(choices)


def key_of(choice: Any) -> str:
    """
    A choice as a key of ``score_values`` in YAML and JSON, whose keys are texts.

    :param choice: A word, a number or a flag.
    :returns: The word; else as JSON writes it: "true" for True.
    """
    return choice if isinstance(choice, str) else json.dumps(choice)


def _checked_scores(choices: list[Any], scores: Any) -> dict[Any, float | None]:
    if not isinstance(scores, dict):
        msg = f"score_values must be a dictionary from value to number or None, but is {describe(scores)}."
        raise InvalidTypeError(msg)
    by_key = {spelling: choice for choice in choices for spelling in (str(choice), key_of(choice))}
    found: dict[Any, float | None] = {}
    for given, score in scores.items():
        key = key_of(given) if isinstance(given, str | bool) or is_number(given) else None
        if key not in by_key or by_key[key] in found:
            why = "has two numbers for" if key in by_key else "has a number for"
            msg = f"score_values {why} {given!r}; the possible values are {', '.join(map(repr, choices))}."
            raise InvalidValueError(msg)
        if score is not None and not (is_number(score) and 0 <= score <= 1):
            msg = f"score_values[{given!r}] must be a number from 0 to 1, or None for no score, but is {score!r}."
            raise InvalidValueError(msg)
        found[by_key[key]] = score
    for choice in choices:
        if choice not in found:
            msg = f"score_values lacks {choice!r}; the possible values are {', '.join(map(repr, choices))}."
            raise InvalidValueError(msg)
    return {choice: found[choice] for choice in choices}
