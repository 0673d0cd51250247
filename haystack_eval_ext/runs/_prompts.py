# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which documents reached the prompt that the answering generator got, found by going back along the connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.dataclasses import ChatMessage

from haystack_eval_ext.runs._recording import (
    AGENT,
    DOCUMENTS,
    Call,
    declared_sockets,
    emitted_documents,
    is_of_documents,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROMPT_STAGE = "prompt"
# What the documents that reached the prompt are called as a stage; the second, where a component has the first name.
PROMPT_STAGES = (PROMPT_STAGE, "documents_of_prompt")
# What has one of these outputs answers.
_REPLIES = ("replies", "last_message")
# Where a component has one of these inputs, its prompt or answer comes in there.
_PROMPTS = ("replies", "messages", "prompt")
# What is asked tells nothing of where documents went.
_QUESTIONS = frozenset(("query", "question"))


def prompt_documents(calls: Sequence[Call], answering: str | None, answer: str | None) -> list[Document] | None:
    """
    Find the documents of the prompt that an answer was made from.

    :param calls: What was recorded of the question, in the order in which it ended.
    :param answering: The component that the answer came from. None if it is unknown, as for a function: then the last
        generator that gave this answer, or the last of all.
    :param answer: The answer.
    :returns: The documents, [] where the prompt got none; None if that cannot be told: no generator was seen, an agent
        read them in messages, or a function may have put them in by itself.
    """
    generator = _generator(calls, answering, answer)
    if generator is None:
        return None
    place, steps = generator, [generator]
    seen = {id(generator)}
    while steps:
        for call in steps:
            if (given := _given(call, calls)) is not None:
                return given
        before = {id(call): call for step in steps for call in _before(step, calls)}
        steps = sorted((before[key] for key in before.keys() - seen), key=calls.index, reverse=True)
        if not steps and (outer := _around(place)) is not None:
            place, steps = outer, [outer]
        seen.update(map(id, steps))
    if answering is None or (generator.operation is AGENT and any(map(emitted_documents, _below(place, calls)))):
        return None
    return []


def _generator(calls: Sequence[Call], answering: str | None, answer: str | None) -> Call | None:
    """The generator whose prompt is looked for; where its component wraps others, that inside of it."""
    whole = None if answering is None else next((call for call in reversed(calls) if call.path == answering), None)
    if answering is not None and whole is None:
        return None
    replying = [call for call in (calls if whole is None else _below(whole, calls)) if _replies(call)]
    same = [call for call in replying if answer is not None and answer in _replies(call)]
    # A component that checks the answer comes later; where the answer was changed on its way, the last must do.
    return next(reversed(same), None) or next(reversed(replying), whole)


def _replies(call: Call) -> list[str]:
    """The texts of a call's replies; empty for what is no generator."""
    if not isinstance(call.output, Mapping):
        return []
    found: list[Any] = []
    for name in _REPLIES:
        value = call.output.get(name)
        found += value if isinstance(value, list) else [] if value is None else [value]
    return [entry.text or "" if isinstance(entry, ChatMessage) else str(entry) for entry in found]


def _given(call: Call, calls: Sequence[Call]) -> list[Document] | None:
    """The documents that a call got; None if it takes none."""
    if not isinstance(call.given, Mapping):
        return None
    declared = declared_sockets(call, "input")
    if _senders(declared.get("replies")):
        return None  # an AnswerBuilder's documents were not in the prompt
    found: list[Document] = []
    takes = False
    for socket, value in call.given.items():
        inside = list(_documents_in(value))
        found += inside
        # An empty ranking is known by its socket, or by who sent it.
        takes = takes or bool(inside) or (value == [] and _takes_documents(call, socket, declared.get(socket), calls))
    if not takes and not _below(call, calls):
        emitted = emitted_documents(call)  # it has searched by itself, and made a text of what it found
        return [document for documents in emitted.values() for document in documents] if emitted else None
    return found if takes else None


def _takes_documents(call: Call, socket: str, declared: Any, calls: Sequence[Call]) -> bool:
    if socket == DOCUMENTS or is_of_documents(declared):
        return True
    return any(emitted_documents(sender) for sender in _called(call, _senders(declared), calls))


def _documents_in(value: Any, depth: int = 3) -> Iterator[Document]:
    if isinstance(value, Document):
        yield value
    elif depth and isinstance(value, Mapping | list | tuple):
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from _documents_in(entry, depth - 1)


def _before(call: Call, calls: Sequence[Call]) -> list[Call]:
    """The calls that a prompt or reply came from."""
    connected = {name: senders for name, spec in declared_sockets(call, "input").items() if (senders := _senders(spec))}
    followed = [name for name in _PROMPTS if name in connected] or [
        name for name in connected if name not in _QUESTIONS and name != DOCUMENTS
    ]
    return _called(call, [sender for name in followed for sender in connected[name]], calls)


def _called(call: Call, names: Sequence[str], calls: Sequence[Call]) -> list[Call]:
    """The last calls, before this one, of components beside it."""
    outer = call.path.rpartition(".")[0]
    earlier = calls[: calls.index(call)]
    found = []
    for name in names:
        path = f"{outer}.{name}" if outer else name
        found += [each for each in reversed(earlier) if each.path == path][:1]
    return found


def _senders(declared: Any) -> list[str]:
    senders = declared.get("senders") if isinstance(declared, Mapping) else None
    return list(senders) if isinstance(senders, list) else []


def _around(call: Call) -> Call | None:
    outer = call.parent
    while outer is not None and outer.operation is None:
        outer = outer.parent
    return outer


def _below(call: Call, calls: Sequence[Call]) -> list[Call]:
    return [each for each in calls if each.path.startswith(f"{call.path}.")]
