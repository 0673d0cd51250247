# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Outputs that a user names: how each is read from a reply, and which number it stands for."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext._yes_no import says_yes
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import AROUND, YES_NO, read_choice

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
#: The words that name a type, with its JSON schema and what the judge is shown.
TYPES: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"type": "string"}, '"<text>"'),
    "texts": ({"type": "array", "items": {"type": "string"}}, '["<text>", ...]'),
    "number": ({"type": "number"}, "<number>"),
}
_PLAIN: list[dict[str, Any]] = [{"type": kind} for kind in ("string", "number", "boolean", "null")]


class Output:
    """An output of any value: a text, a number, true, false, null, a list of these; without a schema an object, too."""

    #: Strict schemas know no open objects. Judges that are asked without one may reply with one, as the stock's may.
    schema: dict[str, Any] = {"anyOf": [*_PLAIN, {"type": "array", "items": {"anyOf": _PLAIN}}]}  # noqa: RUF012
    #: How the judge is shown what it may be.
    shown: str = "<value>"

    def read(self, value: Any) -> Any:
        """
        Read a value of a reply.

        :param value: As JSON has it.
        :returns: The value.
        :raises ReplyError: If it is none of those that are possible.
        """
        return value

    def merged(self, votes: Sequence[Any]) -> Any:
        """
        What several votes say together.

        :param votes: The values, as :meth:`read` returned them.
        :returns: The most frequent one; of equally frequent ones the first.
        """
        written = [json.dumps(vote, sort_keys=True) for vote in votes]
        (most, _), *_ = Counter(written).most_common(1)
        return votes[written.index(most)]

    def as_score(self, value: Any) -> float:
        """
        The number that a value stands for.

        :param value: As :meth:`read` returned it.
        :returns: From 0 to 1; NaN if it stands for none.
        """
        raise NotImplementedError


class Typed(Output):
    """A text, a list of texts, or a number without bounds."""

    def __init__(self, kind: str) -> None:
        """
        Create the output.

        :param kind: "text", "texts" or "number".
        """
        self.kind = kind
        self.schema, self.shown = TYPES[kind]

    def read(self, value: Any) -> Any:
        """
        Read a value of a reply.

        :param value: As JSON has it.
        :returns: The value.
        :raises ReplyError: If it is of another type.
        """
        if self.kind == "number":
            return _read_number(value)
        parts = value if self.kind == "texts" and isinstance(value, list) else [value]
        if (self.kind == "texts") != isinstance(value, list) or not all(isinstance(part, str) for part in parts):
            msg = "it was no list of texts" if self.kind == "texts" else "it was no text"
            raise ReplyError(msg)
        return value

    def merged(self, votes: Sequence[Any]) -> Any:
        """
        What several votes say together.

        :param votes: The values.
        :returns: The mean of numbers; else the most frequent value.
        """
        return _mean(votes) if self.kind == "number" else Output.merged(self, votes)


class Range(Output):
    """A number between two bounds, both included."""

    def __init__(self, minimum: float, maximum: float) -> None:
        """
        Create the output.

        :param minimum: The lowest number.
        :param maximum: The highest number.
        """
        self.minimum = minimum
        self.maximum = maximum
        # The bounds are not in the schema: some servers refuse them there, and the reading holds them anyway.
        self.schema = {"type": "number"}
        self.shown = f"<number, {minimum} ... {maximum}>"

    def read(self, value: Any) -> Any:
        """
        Read a value of a reply.

        :param value: As JSON has it.
        :returns: The number.
        :raises ReplyError: If it is none, or out of bounds.
        """
        zero_to_one = (self.minimum, self.maximum) == (0, 1)
        number: float = (
            int(read_choice(value, YES_NO)) if zero_to_one and not _looks_like_number(value) else _read_number(value)
        )
        if not self.minimum <= number <= self.maximum:
            msg = f"it was not between {self.minimum} and {self.maximum}"
            raise ReplyError(msg)
        return number

    def merged(self, votes: Sequence[Any]) -> Any:
        """
        What several votes say together.

        :param votes: The numbers.
        :returns: Their mean.
        """
        return min(max(_mean(votes), self.minimum), self.maximum)

    def as_score(self, value: Any) -> float:
        """
        The number that a value stands for.

        :param value: A number of the range.
        :returns: Its place in the range: the lowest is 0, the highest 1.
        """
        return float((value - self.minimum) / (self.maximum - self.minimum))


class Choices(Output):
    """One of the values that are named."""

    def __init__(self, choices: list[Any], scores: dict[Any, float | None] | None) -> None:
        """
        Create the output.

        :param choices: Words, numbers, or both; or True and False.
        :param scores: The number that each choice stands for; None: their places from the lowest to the highest, if all
            are numbers.
        """
        self.choices = choices
        #: The number of each choice, where such numbers were given.
        self.scores = scores
        names = {bool: "boolean", str: "string", int: "integer", float: "number"}
        kinds = sorted({names[type(choice)] for choice in choices})
        if "number" in kinds:
            kinds = [kind for kind in kinds if kind != "integer"]
        self.schema = {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(choices)}
        self.shown = " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)

    @property
    def scored(self) -> bool:
        """
        Tell whether the choices stand for numbers.

        :returns: True if they do.
        """
        return self.scores is not None or (
            len(self.choices) > 1 and not any(isinstance(choice, str) for choice in self.choices)
        )

    def read(self, value: Any) -> Any:
        """
        Read a value of a reply.

        :param value: As JSON has it.
        :returns: One of the choices.
        :raises ReplyError: If it is none of them.
        """
        if isinstance(value, bool) and all(isinstance(choice, str) for choice in self.choices):
            value = next((choice for choice in self.choices if says_yes(choice) is value), value)
        if any(isinstance(choice, float) for choice in self.choices) and _looks_like_number(value):
            read: Any = _read_number(value)
        else:
            read = read_choice(value, self.choices)
        # One of their own: 1, and not true or 1.0.
        for choice in self.choices:
            if choice == read:
                return choice
        msg = f"a verdict was none of {self.shown}"
        raise ReplyError(msg)

    def merged(self, votes: Sequence[Any]) -> Any:
        """
        What several votes say together.

        :param votes: The verdicts.
        :returns: The majority; of verdicts that tie the lowest, or the last-named where none is lower.
        """
        counts = Counter(votes)
        most = max(counts.values())
        tied = [choice for choice in reversed(self.choices) if counts[choice] == most]
        if not self.scored:
            return tied[0]
        return min(tied, key=lambda choice: -1.0 if math.isnan(score := self.as_score(choice)) else score)

    def as_score(self, value: Any) -> float:
        """
        The number that a verdict stands for.

        :param value: One of the choices.
        :returns: From 0 to 1; NaN if it stands for none.
        """
        if self.scores is not None:
            score = self.scores[value]
            return math.nan if score is None else float(score)
        lowest, highest = min(self.choices), max(self.choices)
        return float((value - lowest) / (highest - lowest))


class Implied(Output):
    """An output called "score" of which the user said nothing: the score, where it is a number from 0 to 1."""

    def merged(self, votes: Sequence[Any]) -> Any:
        """
        What several votes say together.

        :param votes: The values.
        :returns: The mean of numbers from 0 to 1; else the most frequent value; if that is such a
            number beside one on another scale, the most frequent of the latter.
        """
        scores = [self.as_score(vote) for vote in votes]
        same = any(math.isnan(score) for score in scores) or len({json.dumps(vote) for vote in votes}) == 1
        if not same:
            return _mean(scores)
        most = Output.merged(self, votes)
        # What would be a score beside a number that is none of this scale.
        others = [] if math.isnan(self.as_score(most)) else [vote for vote in votes if self.is_on_another_scale(vote)]
        return Output.merged(self, others) if others else most

    def as_score(self, value: Any) -> float:
        """
        The number that a value stands for.

        :param value: Any value.
        :returns: A number from 0 to 1, yes and true as 1, no and false as 0; NaN for others.
        """
        if _looks_like_number(value):
            return math.nan if self.is_on_another_scale(value) else float(_read_number(value))
        try:
            return float(read_choice(value, YES_NO))
        except ReplyError:
            return math.nan

    def is_on_another_scale(self, value: Any) -> bool:
        """
        Tell whether a value is a number that no scale from 0 to 1 has.

        :param value: Any value.
        :returns: True if so. Then a 1 beside it need not be the best score.
        """
        return (
            _looks_like_number(value) and not 0 <= float(value.strip(AROUND) if isinstance(value, str) else value) <= 1
        )


def _looks_like_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip(AROUND)) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _read_number(value: Any) -> float:
    if _looks_like_number(value):
        if isinstance(value, str):
            number = float(value.strip(AROUND))
            value = int(number) if number.is_integer() and "." not in value else number
        if is_number(value):
            return value
    msg = "it was no number"
    raise ReplyError(msg)


def _mean(numbers: Sequence[float]) -> float:
    return numbers[0] if len(set(numbers)) == 1 else math.fsum(numbers) / len(numbers)
