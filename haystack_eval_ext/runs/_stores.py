# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The components and document stores inside a pipeline, also those inside SuperComponents, wrappers and tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin

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
    :returns: Each store once, with the first component that searches it. In-memory stores of one `index` are one: in a
        pipeline made of YAML each retriever has an instance of its own of the same documents.
    """
    found: dict[Any, FoundStore] = {}
    for each in document_stores(pipeline):
        if each.reads:
            found.setdefault(storage_key(each.store), each)
    return list(found.values())


def searched_in_memory(pipeline: Pipeline) -> list[FoundStore]:
    """
    Find those of them that can be looked through at no cost.

    :param pipeline: The pipeline.
    :returns: The stores in this process's memory.
    """
    return [each for each in searched_stores(pipeline) if isinstance(each.store, InMemoryDocumentStore)]


def stages_of(pipeline: Pipeline) -> list[str]:
    """
    List the stages that a run of a pipeline records.

    :param pipeline: The pipeline.
    :returns: Names as in a row's `stages`: what a pipeline runs, also one inside a component; a component that another
        one merely calls leaves no trace. Those of an agent's tools are not known before.
    """
    return list(dict.fromkeys(_stages("", pipeline, set())))


def last_stages(pipeline: Pipeline) -> list[str]:
    """
    List the stages from which no way leads to another one.

    :param pipeline: The pipeline.
    :returns: Names; several where retrievers stand side by side and nothing joins them.
    """
    return _last_stages("", pipeline, _DEPTH)


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
    :returns: True for a list of Documents, also one that may be None.
    """
    if get_origin(kind) is list:
        return get_args(kind) == (Document,)
    members = [member for member in get_args(kind) if member is not NoneType]
    return len(members) == 1 and len(get_args(kind)) > 1 and gives_documents(members[0])


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


def storage_key(store: Any) -> Any:
    """
    Tell stores apart by the documents that they hold.

    :param store: A document store.
    :returns: Equal for in-memory stores that share their documents; of any other store each instance is its own, since
        nothing tells what a service shares.
    """
    index = in_memory_index(store)
    return id(store) if index is None else ("in memory", index)


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


def _stages(outer: str, pipeline: Pipeline, seen: set[int]) -> Iterator[str]:
    if id(pipeline) in seen:
        return
    seen.add(id(pipeline))
    for name, instance in _nodes(pipeline):
        path = f"{outer}{name}"
        for inner in _pipelines_in(instance, _DEPTH):
            yield from _stages(f"{path}.", inner, seen)
        yield from _rankings(path, instance)


def _rankings(path: str, instance: Any) -> list[str]:
    """The stages that a component itself is, its documents first."""
    sockets = [
        socket
        for socket, found in sockets_of(instance, "output").items()
        if gives_documents(found.type) or (socket == "documents" and found.type in (list, Any))
    ]
    return [path] * ("documents" in sockets) + [f"{path}.{socket}" for socket in sockets if socket != "documents"]


def _last_stages(outer: str, pipeline: Pipeline, depth: int) -> list[str]:
    found: dict[str, list[str]] = {}
    for name, instance in _nodes(pipeline) if depth else ():
        path = f"{outer}{name}"
        # A component's other rankings are by-products.
        own = _rankings(path, instance)[:1]
        inner = [
            stage for each in _pipelines_in(instance, depth) for stage in _last_stages(f"{path}.", each, depth - 1)
        ]
        if own or inner:
            found[name] = own or inner
    return [stage for name, stages in found.items() if not found.keys() & _behind(pipeline, name) for stage in stages]


def _behind(pipeline: Pipeline, name: str) -> set[str]:
    """The components that a component's outputs reach, itself not among them unless in a loop with others."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        following = set(pipeline.graph.successors(ahead.pop())) - found
        found |= following
        ahead += following
    return found - {name}


def _pipelines_in(instance: Any, depth: int) -> Iterator[Pipeline]:
    """Pipelines that a component has, itself or through components that it calls."""
    for value in _attributes(instance).values() if depth else ():
        if isinstance(value, Pipeline):
            yield value
            continue
        entries = (
            value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]
        )
        for entry in entries:
            if is_component(entry):
                yield from _pipelines_in(entry, depth - 1)


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
    # Haystack's own marks name the pipeline around a component, which is not inside it.
    return {name: value for name, value in getattr(instance, "__dict__", {}).items() if not name.startswith("__")}


def _may_give_documents(kind: Any) -> bool:
    if gives_documents(kind):
        return False
    return kind in (Any, list) or "Document]" in str(kind)


def _is_store(value: Any) -> bool:
    return hasattr(value, "count_documents") and hasattr(value, "write_documents") and not isinstance(value, type)
