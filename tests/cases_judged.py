# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a row of the judged family's tables says, and the union of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from haystack import Document
from haystack.dataclasses import ChatMessage

from cases import Case
from haystack_eval_ext import JudgePolicy

#: The tables: each file has a list ``CASES`` of ``JudgedCase``.
TABLES = (
    "cases_judged_stock",
    "cases_judged_context",
    "cases_judged_answer",
    "cases_judged_others",
    "cases_judged_nli",
)
#: No policy field at its default, but for what needs a file.
POLICY = JudgePolicy(
    max_concurrency=3,
    max_attempts=2,
    timeout=20.0,
    deadline=50.0,
    min_wait=0.0,
    max_wait=0.0,
    structured_output="text",
    prices={"*": {"input": 1.0, "output": 2.0}},
)

#: A supported answer, a half supported one, an unsupported one, a refusal; no text, no contexts; Documents, messages.
SAMPLE: Mapping[str, list[Any]] = {
    "questions": ["Where is it?", "How high, and since when?", "Who built it?", "Why?", "What?", "When?"],
    "contexts": [
        ["The tower is in Paris.", "Rome is old."],
        [Document(content="It is 330 metres high."), Document(content="Painted brown.")],
        ["Nothing of use."],
        ["A reason is not given."],
        ["It is something."],
        [],
    ],
    "predicted_answers": [
        "The tower is in Paris.",
        ChatMessage.from_assistant("It is 330 metres high. It stands since 1889."),
        "Gustave built it.",
        "I do not know.",
        "",
        "In 1889.",
    ],
    "other_answers": ["In Rome.", "330 metres.", "Gustave built it.", "No idea.", "Something.", ""],
    "ground_truth_answers": [
        ["In Paris.", "The tower is in Paris."],
        ["It is 330 metres high. It opened in 1889."],
        ["Workers built it."],
        [],
        ["It is something."],
        ["In 1889."],
    ],
    "answerable": [True, True, True, False, True, False],
}
_EMPTY: Mapping[str, Any] = {
    "questions": "",
    "contexts": [],
    "predicted_answers": "",
    "other_answers": "",
    "ground_truth_answers": [],
}


def rows(**sockets: list[Any]) -> dict[str, list[Any]]:
    """The sockets of some rows."""
    return dict(sockets)


@dataclass(frozen=True)
class JudgedCase(Case):
    """A case of a judged evaluator."""

    inputs: Mapping[str, list[Any]] = field(
        default_factory=lambda: {name: SAMPLE[name] for name in ("questions", "contexts", "predicted_answers")}
    )

    def single(self, number: int) -> dict[str, Any]:
        """Questions and answers have a single form, and so do contexts that are Documents."""
        single: dict[str, Any] = {}
        for socket, values in self.inputs.items():
            value = values[number]
            documents = socket == "contexts" and value and all(isinstance(entry, Document) for entry in value)
            bare = socket in ("questions", "predicted_answers", "other_answers") or documents
            single[socket] = value if bare else [value]
        return single

    def empty(self, socket: str) -> list[Any]:
        """What a bare empty list stands for beside one row elsewhere."""
        return [_EMPTY[socket]]


def sample(*sockets: str) -> dict[str, list[Any]]:
    """The sample's rows in some sockets."""
    return {name: SAMPLE[name] for name in sockets}


JUDGED_CASES: list[JudgedCase] = [
    case for table in TABLES if find_spec(table) is not None for case in import_module(table).CASES
]
