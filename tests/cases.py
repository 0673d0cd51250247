# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a row of the tables says, and the union of all families' tables (at the end, since they import this file)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Golden:
    """Rows with the scores that somebody computed by hand; the arithmetic stands beside them in the table."""

    name: str
    inputs: Mapping[str, list[Any]]  # each socket in batch form
    scores: list[float]


@dataclass(frozen=True)
class Case:
    """
    A component with one set of parameters, and all that the tests need to know of it.

    A family adds what its own laws need in a subclass.
    """

    name: str
    component: type
    inputs: Mapping[str, list[Any]]  # a sample of rows, each socket in batch form
    parameters: Mapping[str, Any] = field(default_factory=dict)
    golden: tuple[Golden, ...] = ()
    #: Laws of the family that do not hold, with the reason. The tests hold that each of them is really broken.
    broken_laws: Mapping[str, str] = field(default_factory=dict)
    #: How far a score may move with the rows beside it: a model pads texts to the longest, and rounds.
    company: float = 0.0
    #: How exact hand-computed values are met.
    exact: float = 1e-12
    #: Whether a bare empty list beside one question is that question with nothing in it; else it is refused.
    bare_empty: bool = True
    #: Why the case cannot run here; conftest.py skips it by this reason.
    skipped: str = ""

    def single(self, number: int) -> dict[str, Any]:
        """A row of the sample in the flat form that a pipeline emits."""
        return {socket: values[number] for socket, values in self.inputs.items()}

    def empty(self, socket: str) -> list[Any]:  # noqa: ARG002 - of use to a family
        """The batch form of a bare empty list in a socket, beside one row elsewhere."""
        return [[]]

    def make(self, **changed: Any) -> Any:
        """The component, with some parameters changed."""
        return self.component(**{**self.parameters, **changed})

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return len(next(iter(self.inputs.values())))


def all_cases() -> list[Case]:
    """Every row of every family's table."""
    from cases_answers import ANSWER_CASES
    from cases_diagnosis import DIAGNOSIS_CASES
    from cases_judged import JUDGED_CASES
    from cases_retrieval import RETRIEVAL_CASES

    return [*ANSWER_CASES, *DIAGNOSIS_CASES, *JUDGED_CASES, *RETRIEVAL_CASES]
