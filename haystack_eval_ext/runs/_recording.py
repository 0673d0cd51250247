# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What one question did: calls of components with inputs and outputs, and the documents after each stage."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from haystack import Document

from haystack_eval_ext._rows import describe
from haystack_eval_ext.runs._plain import shown
from haystack_eval_ext.runs._usage import Prices, Tokens, add_tokens, cost, reported_tokens

DOCUMENTS = "documents"


_RANKING = re.compile(r"(?:typing\.L|l)ist\[haystack\.dataclasses\.document\.Document\]")


class Operation(NamedTuple):
    """A kind of span that is recorded: which tag names it, and under which keys its contents come."""

    name_tag: str
    default_name: str
    given: str
    output: str


OPERATIONS = {
    "haystack.component.run": Operation(
        "haystack.component.name", "component", "haystack.component.input", "haystack.component.output"
    ),
    # A generator inside a component that does not give its replies out: a ranker, a query expander, a fallback.
    "haystack.chat_generator.run": Operation(
        "haystack.component.name", "chat_generator", "haystack.component.input", "haystack.component.output"
    ),
    "haystack.agent.step.llm": Operation("", "llm", "haystack.agent.step.llm.input", "haystack.agent.step.llm.output"),
    "haystack.agent.step.tool": Operation(
        "haystack.tool.name", "tool", "haystack.agent.step.tool.input", "haystack.agent.step.tool.output"
    ),
}
AGENT = OPERATIONS["haystack.agent.step.llm"]
_TOOL = OPERATIONS["haystack.agent.step.tool"]


class Call:
    """
    One span.

    :param operation: Its kind; None for one that only nests others, such as a pipeline's run.
    :param tags: Its tags.
    :param parent: The call around it.
    """

    def __init__(self, operation: Operation | None, tags: Mapping[str, Any], parent: Call | None) -> None:
        self.operation = operation
        self.tags = tags
        self.parent = parent
        self.given: Any = None
        self.output: Any = None
        self.seconds = 0.0
        self.error: str | None = None
        self.tokens: Tokens = {}
        self.counted_below = False
        outer: str = "" if parent is None else parent.path
        name = "" if operation is None else str(tags.get(operation.name_tag, operation.default_name))
        self.path: str = f"{outer}.{name}" if outer and name else outer or name

    def take(self, key: str, value: Any) -> None:
        """
        Keep a content.

        :param key: The tag's name.
        :param value: What went in or out; Haystack hands copies on, so that it stays as it is.
        """
        if self.operation is not None and key == self.operation.given:
            self.given = value
        elif self.operation is not None and key == self.operation.output:
            self.output = value

    def count_tokens(self) -> None:
        """Count what is reported here, unless calls inside have reported it: a SuperComponent repeats their replies."""
        if not self.counted_below:
            self.tokens = reported_tokens(self.output, self.given)
        if self.parent is not None and (self.tokens or self.counted_below):
            self.parent.counted_below = True


class Recorder:
    """
    Gathers the calls of one question, also from several threads.

    :param is_complete: Tells whether it can have seen all of them: not if another tracer came into force meanwhile.
    """

    def __init__(self, is_complete: Callable[[], bool]) -> None:
        self.is_complete = is_complete
        self._lock = threading.Lock()
        self._calls: list[Call] = []
        self._sealed = False
        #: What is wrong with a stage whose output is no ranking; None if nothing is.
        self.misfit: str | None = None
        self.stages: dict[str, list[Document]] = {}

    def add(self, call: Call) -> None:
        """
        Take a call that has ended.

        :param call: The call.
        """
        with self._lock:
            if self._sealed:  # a thread that outlives its question
                return
            call.count_tokens()
            if call.operation is None:
                return
            self._calls.append(call)
            self.misfit = self.misfit or _misfit(call)
            for name, documents in emitted_documents(call).items():
                # In a loop the last visit counts, also for the order; an agent keeps all that its searches found.
                before = self.stages.pop(name, [])
                self.stages[name] = before + documents if call.operation is _TOOL else documents

    def seal(self) -> None:
        """Take no more calls."""
        with self._lock:
            self._sealed = True

    @property
    def calls(self) -> Sequence[Call]:
        """The calls, in the order in which they ended."""
        return tuple(self._calls)

    def components(self, prices: Prices | None) -> list[dict[str, Any]]:
        """
        List the calls.

        :param prices: By model, for a million tokens.
        :returns: Plain entries, in the order in which the calls ended.
        """
        return [
            {
                "name": call.path,
                "seconds": call.seconds,
                "documents": _count(call),
                "in": _shown_sockets(call.given),
                "out": _shown_sockets(call.output),
                "tokens": call.tokens,
                "cost": cost(call.tokens, prices),
                "error": call.error,
            }
            for call in self._calls
        ]

    def tokens(self) -> Tokens:
        """
        Add up the tokens.

        :returns: By model.
        """
        total: Tokens = {}
        for call in self._calls:
            add_tokens(total, call.tokens)
        return total


def emitted_documents(call: Call) -> dict[str, list[Document]]:
    """
    Find the rankings that a call emits.

    :param call: A call that has ended.
    :returns: By stage: the component's name for its output `documents`, "name.socket" for any other.
    """
    if not isinstance(call.output, Mapping):
        return {}
    declared = declared_sockets(call, "output")
    stages = {}
    for socket, value in call.output.items():
        spec = declared.get(socket)
        is_ranking = _holds_documents(value) or (value == [] and (socket == DOCUMENTS or is_of_documents(spec)))
        if is_ranking:
            stages[call.path if socket == DOCUMENTS else f"{call.path}.{socket}"] = list(value)
    return stages


def declared_sockets(call: Call, side: str) -> dict[str, Any]:
    """
    Give what Haystack says of a component's sockets.

    :param call: A call.
    :param side: "input" or "output".
    :returns: By socket its type and the names of its senders or receivers; empty for what is no component.
    """
    found = call.tags.get(f"haystack.component.{side}_spec")
    return found if isinstance(found, dict) else {}


def is_of_documents(spec: Any) -> bool:
    """
    Tell whether a socket is declared to hold a ranking.

    :param spec: What :func:`declared_sockets` says of it.
    :returns: True for a list of Documents.
    """
    kind = str(spec.get("type")) if isinstance(spec, Mapping) else ""
    return kind.lower().startswith(
        ("list[haystack.dataclasses.document.document", "typing.list[haystack.dataclasses.d")
    )


def _holds_documents(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Document) for entry in value)


def _count(call: Call) -> int | None:
    stages = emitted_documents(call)
    return sum(map(len, stages.values())) if stages else None


def _shown_sockets(value: Any) -> dict[str, Any] | None:
    """By socket a short text, unset ones left out; None where nothing came, as from a component that failed."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {str(name): shown(entry) for name, entry in value.items() if entry is not None}
    return {"value": shown(value)}


def _misfit(call: Call) -> str | None:
    """What is wrong with an output that is declared to be a list of Documents and is none."""
    spec = call.tags.get("haystack.component.output_spec")
    if not isinstance(call.output, Mapping) or not isinstance(spec, Mapping):
        return None
    for socket, declared in spec.items():
        if socket not in call.output or not _RANKING.fullmatch(str(declared.get("type"))):
            continue
        value = call.output[socket]
        if not isinstance(value, list):
            return f"The output {call.path}.{socket} must be a list of Documents, but is {describe(value)}."
        wrong = next((entry for entry in value if not isinstance(entry, Document)), call)
        if wrong is not call:
            return f"The output {call.path}.{socket} must hold Documents alone, but one entry is {describe(wrong)}."
    return None
