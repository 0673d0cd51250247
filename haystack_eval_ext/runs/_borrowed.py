# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Components of the user's in a pipeline of ours: afterwards, and meanwhile, they are as they were."""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from haystack import Pipeline

# Haystack lets a component into one pipeline at a time, and marks it. It looks at the mark when it adds and connects.
_MARKS = ("__haystack_added_to_pipeline__", "__component_name__")
_ADDING = threading.Lock()
# The sockets of a component, and what they know of connections.
_SIDES = {"__haystack_input__": ("senders",), "__haystack_output__": ("receivers",)}


def borrow(pipeline: Pipeline, name: str, instance: Any) -> None:
    """
    Add a component to a pipeline that connects it to nothing, without a trace on the component.

    It may stand in other pipelines, connected there, and may be borrowed several times at once.

    :param pipeline: The pipeline.
    :param name: The component's name in it.
    :param instance: The component.
    :raises Exception: What Haystack raises for what is no component, or for a bad name.
    """
    if any(getattr(socket, end, None) for socket in _sockets(instance) for end in ("senders", "receivers")):
        instance = _unconnected(instance)
    with _ADDING:
        before = {mark: getattr(instance, mark) for mark in _MARKS if hasattr(instance, mark)}
        try:
            if before:
                instance.__haystack_added_to_pipeline__ = None
            pipeline.add_component(name, instance)
        finally:
            for mark in _MARKS:
                if mark in before:
                    setattr(instance, mark, before[mark])
                elif hasattr(instance, mark):
                    delattr(instance, mark)


def _sockets(instance: Any) -> list[Any]:
    sides = (getattr(instance, side, None) for side in _SIDES)
    return [socket for side in sides for socket in getattr(side, "_sockets_dict", {}).values()]


def _unconnected(instance: Any) -> Any:
    """A twin without the connections that a component has in its owner's pipeline."""
    twin = copy(instance)
    for side, ends in _SIDES.items():
        sockets = copy(getattr(instance, side))
        sockets._sockets_dict = {
            name: replace(socket, **{end: [] for end in ends if hasattr(socket, end)})
            for name, socket in sockets._sockets_dict.items()
        }
        setattr(twin, side, sockets)
    return twin
