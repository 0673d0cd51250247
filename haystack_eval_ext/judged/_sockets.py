# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The sockets of the judged family: their types, and from what they were given to one dictionary per row."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from haystack import Document
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from haystack_eval_ext._rows import answers, contexts, equally_many, flags, questions, references, sources
from haystack_eval_ext.errors import InvalidTypeError


class Socket(NamedTuple):
    """
    A socket.

    :param type: What connects to it.
    :param read: From what it was given to one value per row.
    :param nothing: The value of a row in a bare empty list beside one row elsewhere.
    """

    type: Any
    read: Callable[[str, Any], list[Any]]
    nothing: Any


_ANSWERS = list[str] | list[ChatMessage] | list[GeneratedAnswer] | ChatMessage | str
SOCKETS: Mapping[str, Socket] = {
    "questions": Socket(list[str] | str, questions, ""),
    "contexts": Socket(list[list[str]] | list[list[Document]] | list[Document], contexts, []),
    "predicted_answers": Socket(_ANSWERS, answers, ""),
    "other_answers": Socket(_ANSWERS, answers, ""),
    "ground_truth_answers": Socket(list[str] | list[list[str]], references, []),
    "answerable": Socket(list[bool], flags, None),
}
#: Contexts with their places and ids, for metrics that read citations.
SOURCES = Socket(SOCKETS["contexts"].type, sources, [])


def judged_rows(
    required: tuple[str, ...],
    optional: tuple[str, ...],
    inputs: Mapping[str, Any],
    sockets: Mapping[str, Socket] = SOCKETS,
) -> list[dict[str, Any]]:
    """
    Check the inputs of a run and turn them by rows.

    :param required: Sockets that must be given.
    :param optional: Sockets that may be left out, or None.
    :param inputs: What was given.
    :param sockets: How each is read.
    :returns: A dictionary per row, with every socket given.
    :raises ValueError: If there are no rows, or the sockets differ in length.
    :raises TypeError: If a socket is missing or unknown, or holds something of the wrong type.
    """
    unknown = [name for name in inputs if name not in (*required, *optional)]
    missing = [name for name in required if name not in inputs]
    if unknown or missing:
        what = f"has no input {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
        msg = f"The component {what}; its inputs are {', '.join((*required, *optional))}."
        raise InvalidTypeError(msg)
    given = [name for name in (*required, *optional) if inputs.get(name) is not None or name in required]
    rows = equally_many(
        {name: sockets[name].read(name, inputs[name]) for name in given},
        nothing={name: sockets[name].nothing for name in given},
        hint="Gather one entry per question in each of them. Of several replies to one question, choose one.",
    )
    return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
