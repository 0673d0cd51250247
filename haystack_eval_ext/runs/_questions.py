# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which sockets of a RAG pipeline get the question, and which get a column of the data, one question at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from haystack.dataclasses import ChatMessage

from haystack_eval_ext.errors import TargetError, parameter
from haystack_eval_ext.runs._columns import column_name
from haystack_eval_ext.runs._names import nearest

if TYPE_CHECKING:
    from haystack import Pipeline
    from haystack.core.component.types import InputSocket

    from haystack_eval_ext.runs.dataset import Dataset

QUERY_NAMES = ("query", "question", "text", "messages")
# Best first: an AnswerBuilder's output tells more clearly what is meant than a generator's.
ANSWER_NAMES = ("answers", "answer", "last_message", "replies")
OUTPUT_NAMES = (*ANSWER_NAMES, "documents")
Sections = dict[str, dict[str, list[str]]]
_SECTIONS = ("inputs", "outputs")


@dataclass(frozen=True)
class QuestionPlan:
    """
    Where a question goes.

    :param texts: "component.socket" of those that take the question's text.
    :param messages: Those that take it as a message of the user.
    :param columns: By socket the column of the data that it gets.
    :param empty: Mandatory messages beside a prompt of the same component that has the question in it already.
    """

    texts: list[tuple[str, str]]
    messages: list[tuple[str, str]]
    columns: dict[tuple[str, str], str] = field(default_factory=dict)
    empty: list[tuple[str, str]] = field(default_factory=list)

    def inputs(self, question: str, row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """
        Make the inputs of one run.

        :param question: The question.
        :param row: Its row in the data.
        :returns: Values by component and socket.
        """
        data: dict[str, dict[str, Any]] = {}
        for component, socket in self.texts:
            data.setdefault(component, {})[socket] = question
        for component, socket in self.messages:
            data.setdefault(component, {})[socket] = [ChatMessage.from_user(question)]
        for component, socket in self.empty:
            data.setdefault(component, {})[socket] = []
        for (component, socket), column in self.columns.items():
            data.setdefault(component, {})[socket] = row[column]
        return data


def read_sections(value: Any, what: str) -> Sections:
    """
    Check the sections `inputs` and `outputs`, as Hayhooks and the deepset platform write them into a pipeline's YAML.

    :param value: A dict that may have them: by public name "component.socket" or a list of these.
    :param what: What to call it in messages.
    :returns: Both, with lists.
    :raises TargetError: If a section has another form.
    """
    sections: Sections = {}
    for section in _SECTIONS:
        names = value.get(section) if isinstance(value, Mapping) else []
        names = {} if names is None else names
        if not isinstance(names, Mapping):
            msg = f"{what}: {section} must map names to lists of component.socket, as in query: [retriever.query]."
            raise TargetError(msg)
        sections[section] = {}
        for name, places in names.items():
            entries = [places] if isinstance(places, str) else places
            if not isinstance(entries, list) or not all(isinstance(entry, str) and "." in entry for entry in entries):
                msg = f"{what}: {section}.{name} must be component.socket or a list of these."
                raise TargetError(msg)
            sections[section][str(name)] = entries
    return sections


def check_sections(mapping: Any) -> Sections:
    """
    Check a mapping of the user's.

    :param mapping: A dict with `inputs`, `outputs` or both; None for none.
    :returns: Both sections.
    :raises TargetError: If it has another form.
    """
    if mapping is not None and (not isinstance(mapping, Mapping) or not set(mapping) <= set(_SECTIONS)):
        msg = (
            f'{parameter("sections")} must be {{"inputs": {{name: ["component.socket"]}}, "outputs": {{...}}}}, as the '
            "sections of a pipeline's YAML."
        )
        raise TargetError(msg)
    return read_sections(mapping or {}, "sections")


def section_of(section: str, name: str, socket: str | None = None) -> str:
    """
    Name an entry of the parameter `sections` in the message of an error.

    :param section: "inputs" or "outputs".
    :param name: What is in it.
    :param socket: Where it should lead; None: what stands there is spoken of.
    :returns: What stands for it in the message.
    """
    if socket is None:
        return parameter("sections", name, python=f"sections: {section}.{name}")
    python = f'sections={{"{section}": {{"{name}": ["{socket}"]}}}}'
    return parameter("sections", f"{name}={socket}", python=python)


def place(pipeline: Pipeline, text: str, side: str, what: str) -> tuple[str, str]:
    """
    Find a socket.

    :param pipeline: The pipeline.
    :param text: "component.socket".
    :param side: "input" or "output".
    :param what: What asks for it, for messages.
    :returns: Component and socket.
    :raises TargetError: If there is no such socket; the message names the nearest.
    """
    component, _, socket = text.rpartition(".")
    nodes = pipeline.graph.nodes
    if component not in nodes:
        msg = f"{what}: the pipeline has no component {component!r}{nearest(component, nodes)}"
        raise TargetError(msg)
    sockets = nodes[component][f"{side}_sockets"]
    if socket not in sockets:
        msg = f"{what}: {component} has no {side} {socket!r}{nearest(socket, sockets)}"
        raise TargetError(msg)
    return component, socket


def plan_question(
    pipeline: Pipeline, inputs: Mapping[str, list[str]], dataset: Dataset, demanded: Iterable[str] = ()
) -> QuestionPlan:
    """
    Decide which sockets get the question.

    :param pipeline: The pipeline.
    :param inputs: Its section `inputs`, changed by the mapping: the name of a query gives the question, any other name
        the column of that name.
    :param dataset: The data.
    :param demanded: Names of `inputs` that the user gave, so that each must mean something here.
    :returns: The plan.
    :raises TargetError: If nothing takes the question, or a socket that must be fed gets nothing.
    """
    kinds: dict[tuple[str, str], str] = {}
    columns: dict[tuple[str, str], str] = {}
    question_names = [name for name in inputs if name in QUERY_NAMES or column_name(name) == "question"]
    for name in demanded:
        if name not in question_names and not dataset.has(column_name(name)):
            known = [*QUERY_NAMES, *dict.fromkeys(key for row in dataset.rows for key in row), *OUTPUT_NAMES]
            msg = (
                f"{section_of('inputs', name)} is neither the question nor a column of the data, and outputs are named "
                f"{', '.join(OUTPUT_NAMES)}{nearest(name, known)}"
            )
            raise TargetError(msg)
    for name, places in inputs.items():
        for text in places:
            component, socket = place(pipeline, text, "input", f"inputs.{name}")
            found = pipeline.graph.nodes[component]["input_sockets"][socket]
            if found.senders and not found.is_variadic:
                msg = f"inputs.{name}: {text} is connected to {', '.join(found.senders)} already; name a free socket."
                raise TargetError(msg)
            column = column_name(name)
            if name in question_names:
                kind = _kind(found)
                if kind is None:
                    msg = f"inputs.{name}: {text} takes neither a text nor messages, so it cannot get the question."
                    raise TargetError(msg)
                kinds[component, socket] = kind
            elif dataset.has(column):
                columns[component, socket] = column
    unfed = []
    given = set(kinds)
    mandatory = set()
    for component, free in free_sockets(pipeline):
        spot = (component, free.name)
        if spot in kinds or spot in columns:
            continue
        kind = _kind(free) if free.name in QUERY_NAMES else None
        # With a section of inputs, an optional socket that it leaves out is meant to be left out.
        if kind is not None and (free.is_mandatory or not question_names):
            kinds[spot] = kind
            mandatory |= {spot} if free.is_mandatory else set()
        elif free.is_mandatory:
            unfed.append(f"{component}.{free.name}")
    if unfed:
        msg = (
            f"Nothing feeds {', '.join(unfed)}. Sockets named {', '.join(QUERY_NAMES)} get the question; name the "
            f"others in inputs ({section_of('inputs', 'query', 'component.socket')}), under query for the question or "
            "under the name of a column of the data."
        )
        raise TargetError(msg)
    if not kinds:
        spots = [*free_sockets(pipeline), *_joining_sockets(pipeline)]
        candidates = ", ".join(f"{component}.{socket.name}" for component, socket in spots) or "none"
        msg = (
            f"No free socket of the pipeline is named {', '.join(QUERY_NAMES)}, so nothing takes the question. "
            f"Candidates: {candidates}. Name one: {section_of('inputs', 'query', 'component.socket')}."
        )
        raise TargetError(msg)
    _check_columns(columns, dataset)
    asked = {component for (component, _), kind in kinds.items() if kind == "text"}
    twice = [spot for spot, kind in kinds.items() if kind == "messages" and spot[0] in asked and spot not in given]
    kinds = {spot: kind for spot, kind in kinds.items() if spot not in twice}
    return QuestionPlan(
        texts=[spot for spot, kind in kinds.items() if kind == "text"],
        messages=[spot for spot, kind in kinds.items() if kind == "messages"],
        columns=columns,
        empty=[spot for spot in twice if spot in mandatory],
    )


def free_sockets(pipeline: Pipeline) -> Iterable[tuple[str, InputSocket]]:
    """
    List the sockets that no component feeds.

    :param pipeline: The pipeline.
    :returns: Component names and sockets.
    """
    for component, node in pipeline.graph.nodes(data=True):
        for socket in node["input_sockets"].values():
            if not socket.senders:
                yield component, socket


def _joining_sockets(pipeline: Pipeline) -> Iterable[tuple[str, InputSocket]]:
    """Sockets that take the question beside what is connected: a loop begins at such a one (`BranchJoiner.value`)."""
    for component, node in pipeline.graph.nodes(data=True):
        for socket in node["input_sockets"].values():
            if socket.senders and socket.is_variadic and _kind(socket) is not None:
                yield component, socket


def _kind(socket: InputSocket) -> str | None:
    """In which form a socket takes the question; None if in none."""
    kind = socket.type
    members = {kind, *get_args(kind)}
    if list[ChatMessage] in members and (socket.name == "messages" or str not in members):
        return "messages"
    if kind is Any:
        return "messages" if socket.name == "messages" else "text"
    return "text" if str in members else None


def _check_columns(columns: Mapping[tuple[str, str], str], dataset: Dataset) -> None:
    for (component, socket), column in columns.items():
        empty = [row["id"] for row in dataset.rows if row.get(column) is None]
        if empty:
            msg = (
                f"inputs.{column}: {component}.{socket} asks for this column, which has no value in {len(empty)} of "
                f"{len(dataset)} rows (such as {empty[0]}); fill it in."
            )
            raise TargetError(msg)
