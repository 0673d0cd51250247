# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a row of the answer family's tables says, and the union of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from haystack.dataclasses import ChatMessage

from cases import Case

#: The tables: each file has a list ``CASES`` of ``AnswerCase``.
TABLES = ("cases_answers_lexical", "cases_answers_match", "cases_answers_overlap", "cases_answers_semantic")


def answers(*rows: tuple[list[str], Any]) -> dict[str, list[Any]]:
    """Both sockets of rows (references, answer)."""
    return {"ground_truth_answers": [row[0] for row in rows], "predicted_answers": [row[1] for row in rows]}


# Right, half right, wrong, empty on either side, undefined; several references; numbers; scripts without spaces.
SAMPLE = answers(
    (["Paris"], "Paris"),
    (["the city of Paris", "Paris, France"], "It is Paris."),
    (["Berlin"], "Madrid"),
    (["120 metres", "1,234.5 feet"], "It is 120 metres high, built in 1889."),
    (["東京タワー", "Tokyo Tower"], "東京タワーです。"),
    ([""], "nothing"),
    (["something"], ""),
    ([], "no reference"),
)


@dataclass(frozen=True)
class AnswerCase(Case):
    """A case with what the laws of answers need to know."""

    inputs: Mapping[str, list[Any]] = field(default_factory=lambda: SAMPLE)
    lowest: float = 0.0  # the end of the range; the other end is 1
    tolerance: float = 1e-12  # of the laws: a model computes in single precision
    examples: int = 4  # batches that each law is tried on; fewer for what takes long

    def single(self, number: int) -> dict[str, Any]:
        """A flat list of references is one for each question, so that only the answer has a single form."""
        references, answer = (self.inputs[socket][number] for socket in ("ground_truth_answers", "predicted_answers"))
        single = isinstance(answer, str | ChatMessage)  # GeneratedAnswers come as a list only
        return {"ground_truth_answers": [references], "predicted_answers": answer if single else [answer]}

    def empty(self, socket: str) -> list[Any]:
        """An answer is a text."""
        return [""] if socket == "predicted_answers" else [[]]


ANSWER_CASES: list[AnswerCase] = [
    case for table in TABLES if find_spec(table) is not None for case in import_module(table).CASES
]
