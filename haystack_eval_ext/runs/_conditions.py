# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""What a gate is told to look for: `faithfulness < 0.8`, `R@10 drops 0.02`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, cast

from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

Relation = Literal["<", "<=", ">", ">=", "drops", "rises"]

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ROUNDING = 1e-12
_MARKS = ("<", ">", "=")
# Names hold dots, @, brackets, blanks and equals signs, so they are what is left of the last relation.
_LEVEL = re.compile(rf"(?P<metric>.+?)\s*(?P<relation><=|>=|<|>)\s*(?P<value>{_NUMBER})\s*")
_CHANGE = re.compile(rf"(?P<metric>.+?)\s+(?P<relation>drops|rises)\s+(?:by\s+)?(?P<value>{_NUMBER})\s*")
_NO_MARGIN = re.compile(r".+\s(?P<turn>drop|rise)s")


@dataclass(frozen=True)
class Condition:
    """
    A condition that fails a gate.

    :param metric: The metric's name.
    :param relation: "<", "<=", ">" or ">=" for the mean of one run; "drops" or "rises" for the change between two.
    :param value: The limit of the mean, or the margin of the change.
    """

    metric: str
    relation: Relation
    value: float

    @property
    def is_change(self) -> bool:
        """True if it takes two runs."""
        return self.relation in ("drops", "rises")

    @property
    def falls(self) -> bool:
        """True if low numbers fail."""
        return self.relation in ("<", "<=", "drops")

    @property
    def limit(self) -> float:
        """The mean, or the change from base to new, beyond which it fails."""
        return -self.value if self.relation == "drops" else self.value

    def fails_at(self, value: float) -> bool:
        """Tell whether a mean, or a change from base to new, meets the condition."""
        if self.is_at(value):
            return self.relation in ("<=", ">=")
        return value < self.limit if self.falls else value > self.limit

    def is_at(self, value: float) -> bool:
        """Tell whether a number is the limit itself, but for rounding: 0.88 - 0.9 is a drop of 0.02."""
        return abs(value - self.limit) <= _ROUNDING

    def __str__(self) -> str:
        """Give the condition as it is written."""
        short = f"{self.value:g}"
        return f"{self.metric} {self.relation} {short if float(short) == self.value else repr(float(self.value))}"


def parse_condition(text: str) -> Condition:
    """
    Read a condition.

    ```python
    from haystack_eval_ext.runs.gate import parse_condition

    print(parse_condition("ranking.R@10 drops by 0.02"))
    # ranking.R@10 drops 0.02
    ```

    :param text: `METRIC < NUMBER` (or `<=`, `>`, `>=`), `METRIC drops NUMBER`, `METRIC rises NUMBER`.
    :returns: The condition.
    :raises TypeError: If it is no text.
    :raises ValueError: If it is no condition.
    """
    if not isinstance(text, str):
        msg = f"A condition must be text such as 'faithfulness < 0.8', but is {describe(text)}."
        raise InvalidTypeError(msg)
    if bare := _NO_MARGIN.fullmatch(text.strip()):
        msg = (
            f"{text.strip()!r} has no margin: '{bare[0]} 0' fails at any {bare['turn']} that is certain, "
            f"'{bare[0]} 0.05' at one beyond 0.05. A condition must be 'METRIC < NUMBER' (or <=, >, >=), "
            "'METRIC drops NUMBER' or 'METRIC rises NUMBER'."
        )
        raise InvalidValueError(msg)
    match = _LEVEL.fullmatch(text.strip()) or _CHANGE.fullmatch(text.strip())
    value = float(match["value"]) if match else math.nan
    # "M << 2" and "M =< 2" would be read as a metric "M <".
    if not match or not math.isfinite(value) or match["metric"].strip()[-1:] in _MARKS:
        msg = (
            "A condition must be 'METRIC < NUMBER' (or <=, >, >=), 'METRIC drops NUMBER' or 'METRIC rises NUMBER', but "
            f"is {text!r}."
        )
        raise InvalidValueError(msg)
    condition = Condition(match["metric"].strip(), cast(Relation, match["relation"]), value)
    if condition.is_change and value < 0:
        msg = (
            f"The margin of a change must be at least 0, but is {value:g} in {text!r}: '{condition.relation}' says "
            "which way."
        )
        raise InvalidValueError(msg)
    return condition
