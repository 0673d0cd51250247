# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The components and document stores inside a pipeline, also those inside SuperComponents, wrappers and tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from haystack import Document, Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore

_DEPTH = 6


class FoundStore(NamedTuple):
    """A document store and the component that has it."""

    component: str
    store: Any
    reads: bool


def components_of(pipeline: Pipeline) -> Iterator[tuple[str, Any]]:
    """
    Walk all components.

    :param pipeline: The pipeline.
    :returns: Names, dotted for nested ones, and instances.
    """
    for name, instance in _nodes(pipeline):
        yield from _walk(name, instance, set(), _DEPTH)


def document_stores(pipeline: Pipeline) -> list[FoundStore]:
    """
    Find the document stores.

    :param pipeline: The pipeline.
    :returns: One entry for each component that has one; `reads` where the component gives documents out.
    """
    found = []
    for name, instance in components_of(pipeline):
        for value in _attributes(instance).values():
            if _is_store(value):
                outputs = sockets_of(instance, "output")
                reads = any(socket.type in (list[Document], list[list[Document]]) for socket in outputs.values())
                found.append(FoundStore(name, value, reads))
    return found


def searched_stores(pipeline: Pipeline) -> list[FoundStore]:
    """
    Find the document stores that a pipeline searches; a writer's may well be empty.

    :param pipeline: The pipeline.
    :returns: Each store once, with the first component that searches it.
    """
    found: dict[int, FoundStore] = {}
    for each in document_stores(pipeline):
        if each.reads:
            found.setdefault(id(each.store), each)
    return list(found.values())


def sockets_of(instance: Any, side: str) -> dict[str, Any]:
    """
    Give the sockets of a component.

    :param instance: The component.
    :param side: "input" or "output".
    :returns: Sockets by name.
    """
    sockets = getattr(instance, f"__haystack_{side}__", None)
    return dict(getattr(sockets, "_sockets_dict", {}))


def is_component(value: Any) -> bool:
    """
    Tell whether a value is an instance of a component.

    :param value: Anything.
    :returns: True if so.
    """
    return hasattr(value, "__haystack_input__") and hasattr(value, "run") and not isinstance(value, type)


def gives_documents(kind: Any) -> bool:
    """
    Tell whether a socket's type is a ranking.

    :param kind: The type.
    :returns: True for a list of Documents.
    """
    return bool(kind == list[Document])


def stages_of(pipeline: Pipeline) -> list[str]:
    """
    List the stages that a pipeline is known to have.

    :param pipeline: The pipeline.
    :returns: Names, as the harness records them.
    """
    return [
        component if socket == "documents" else f"{component}.{socket}"
        for component, instance in components_of(pipeline)
        for socket, found in sockets_of(instance, "output").items()
        if gives_documents(found.type)
    ]


def may_have_more_stages(pipeline: Pipeline) -> bool:
    """
    Tell whether a pipeline may have stages that only its runs show.

    :param pipeline: The pipeline.
    :returns: True if it has an agent with tools, or an output that may be a ranking or anything else.
    """
    for _, instance in components_of(pipeline):
        if getattr(instance, "tools", None):
            return True
        if any(_may_give_documents(socket.type) for socket in sockets_of(instance, "output").values()):
            return True
    return False


def in_memory_index(store: Any) -> str | None:
    """
    Give the name under which an in-memory store shares its documents.

    :param store: A document store.
    :returns: The name; None if it shares none, or is no in-memory store.
    """
    if not isinstance(store, InMemoryDocumentStore) or getattr(store, "_shared", True) is False:
        return None
    return store.index


def _walk(name: str, instance: Any, seen: set[int], depth: int) -> Iterator[tuple[str, Any]]:
    if id(instance) in seen or depth == 0:
        return
    seen.add(id(instance))
    yield name, instance
    for attribute, value in _attributes(instance).items():
        for inner, nested in _inside(attribute, value):
            yield from _walk(f"{name}.{inner}", nested, seen, depth - 1)


def _inside(attribute: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Components that an attribute holds: itself, a pipeline's, a tool's, or those of a list or dict of such."""
    if isinstance(value, Pipeline):
        yield from _nodes(value)
    elif is_component(value):
        yield attribute.lstrip("_"), value
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _of_tool(entry)
            if is_component(entry):
                yield attribute.lstrip("_"), entry
    elif isinstance(value, Mapping):
        yield from ((str(key), entry) for key, entry in value.items() if is_component(entry))
    else:
        yield from _of_tool(value)


def _of_tool(value: Any) -> Iterator[tuple[str, Any]]:
    for holder in ("_component", "_pipeline"):
        nested = getattr(value, holder, None) if hasattr(value, "tool_spec") else None
        if isinstance(nested, Pipeline):
            yield from _nodes(nested)
        elif is_component(nested):
            yield str(getattr(value, "name", "tool")), nested


def _nodes(pipeline: Pipeline) -> Iterator[tuple[str, Any]]:
    yield from ((name, node["instance"]) for name, node in pipeline.graph.nodes(data=True))


def _attributes(instance: Any) -> dict[str, Any]:
    return dict(getattr(instance, "__dict__", {}))


def _may_give_documents(kind: Any) -> bool:
    if gives_documents(kind):
        return False
    return kind in (Any, list) or "Document]" in str(kind)


def _is_store(value: Any) -> bool:
    return hasattr(value, "count_documents") and hasattr(value, "write_documents") and not isinstance(value, type)
