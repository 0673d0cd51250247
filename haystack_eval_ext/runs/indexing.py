# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Fills the document store of a RAG pipeline from a folder of files, and refuses to search an empty one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from haystack.core.errors import PipelineRuntimeError
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.errors import PipelineFileError, TargetError
from haystack_eval_ext.runs._faults import describe_fault
from haystack_eval_ext.runs._loading import load_pipeline, read_pipeline_text
from haystack_eval_ext.runs._overrides import read_yaml
from haystack_eval_ext.runs._questions import free_sockets, place, read_sections
from haystack_eval_ext.runs._stores import document_stores, in_memory_index, searched_stores

if TYPE_CHECKING:
    from haystack import Pipeline

    from haystack_eval_ext.runs._stores import FoundStore
    from haystack_eval_ext.runs.targets import Target

_SOURCES = "sources"
_FILE_INPUTS = ("files", _SOURCES)
# In-memory indexes live as long as the process: by name the ids of the documents that came from here.
_FILLED: dict[str, frozenset[str]] = {}


def fill_store(index_yaml: str | os.PathLike[str], documents: str | os.PathLike[str], target: Target) -> int:
    """
    Run an indexing pipeline over the files of a folder, so that a RAG pipeline finds their documents.

    :param index_yaml: The indexing pipeline's YAML. Its free sockets named `sources` get the files, or those that its
        section `inputs` lists under `files`.
    :param documents: The folder; hidden files and folders are left out.
    :param target: The RAG pipeline. If its store is in memory, both files must give it the same `index`. What an
        earlier call has written there goes first, so that two settings can be compared in one process.
    :returns: The number of documents in the target's stores afterwards.
    :raises TargetError: If there are no files, the files have no place to go, the two pipelines do not share their
        store, it holds documents from elsewhere, indexing fails, or the store is empty afterwards.
    """
    name = Path(index_yaml).name
    try:
        text = read_pipeline_text(index_yaml)
        pipeline = load_pipeline(text, name)
    except PipelineFileError as error:
        raise TargetError(str(error)) from error
    inputs = read_sections(read_yaml(text, name), name)["inputs"]
    files = _files(Path(documents))
    spots = _sources(pipeline, inputs, name)
    if target.pipeline is None:
        msg = f"{target.name} is a function, whose store {name} cannot be checked to fill. Fill it in the function."
        raise TargetError(msg)
    written = [found.store for found in document_stores(pipeline) if in_memory_index(found.store) is not None]
    _check_shared(written, searched_stores(target.pipeline), name, target.name)
    _make_empty(written, name)
    data: dict[str, dict[str, list[Path]]] = {}
    for component, socket in spots:
        data.setdefault(component, {})[socket] = files
    try:
        pipeline.warm_up()
        pipeline.run(data)
    except Exception as error:  # whatever a component raises
        where = getattr(error, "component_name", None) if isinstance(error, PipelineRuntimeError) else None
        fault = describe_fault(error, "question")
        msg = f"{name}: indexing {len(files)} files failed{f' in {where}' if where else ''}: {fault}"
        for store in written:  # half of the documents would be in the way of another try
            store.delete_all_documents()
        raise TargetError(msg) from error
    for store in written:
        _FILLED[store.index] = _ids(store)
    return check_stores(target)


def check_stores(target: Target) -> int:
    """
    Refuse an empty document store, which would look like a recall of 0.

    :param target: The RAG pipeline.
    :returns: The number of documents in its stores.
    :raises TargetError: If a store is empty or cannot be asked.
    """
    total = 0
    for found in [] if target.pipeline is None else searched_stores(target.pipeline):
        kind = type(found.store).__name__
        try:
            count = int(found.store.count_documents())
        except Exception as error:  # whatever the store's service answers
            msg = f"{target.name}: the {kind} of {found.component} cannot be asked: {describe_fault(error, 'set-up')}"
            raise TargetError(msg) from error
        if not count:
            index = getattr(found.store, "index", None)
            named = f" with index {index!r}" if isinstance(index, str) else ""
            msg = (
                f"{target.name}: {found.component} searches an empty document store ({kind}{named}). Write documents "
                "into it first (--index INDEX.yaml --documents DIR); an in-memory store loses them with its process."
            )
            raise TargetError(msg)
        total += count
    return total


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        msg = f"The documents folder {str(folder)!r} is no folder."
        raise TargetError(msg)
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        msg = f"The documents folder {str(folder)!r} holds no files."
        raise TargetError(msg)
    return found


def _sources(pipeline: Pipeline, inputs: dict[str, list[str]], name: str) -> list[tuple[str, str]]:
    listed = next((inputs[key] for key in _FILE_INPUTS if key in inputs), None)
    if listed is not None:
        return [place(pipeline, text, "input", f"{name}: inputs.files") for text in listed]
    free = [(component, socket) for component, socket in free_sockets(pipeline) if socket.is_mandatory]
    spots = [(component, socket.name) for component, socket in free if socket.name == _SOURCES]
    if len(spots) == 1:
        return spots
    candidates = ", ".join(f"{component}.{socket.name}" for component, socket in free) or "none"
    msg = (
        f"{name}: {len(spots)} free sockets are named {_SOURCES}, expected one to take the files. Candidates: "
        f"{candidates}. Put a FileTypeRouter before several converters, or name them: inputs: {{files: [...]}}."
    )
    raise TargetError(msg)


def _make_empty(stores: list[InMemoryDocumentStore], name: str) -> None:
    """Let an in-memory index start as in a fresh process, unless it holds what somebody else has written."""
    for store in stores:
        held = _ids(store)
        if held and held != _FILLED.get(store.index):
            msg = (
                f"{name} writes into the in-memory index {store.index!r}, which already holds {len(held)} documents "
                "that no index pipeline of this process has written: the two would be mixed. Give both files another "
                "index: NAME, or call delete_all_documents() on that store first."
            )
            raise TargetError(msg)
    for store in stores:
        store.delete_all_documents()


def _ids(store: InMemoryDocumentStore) -> frozenset[str]:
    return frozenset(document.id for document in store.filter_documents())


def _check_shared(written: list[InMemoryDocumentStore], reading: list[FoundStore], name: str, target: str) -> None:
    indexes = {store.index for store in written}
    for found in reading:
        if not isinstance(found.store, InMemoryDocumentStore):
            continue
        index = in_memory_index(found.store)
        if index is None:
            msg = f"{target}: the in-memory store of {found.component} has shared: false, so {name} cannot fill it."
            raise TargetError(msg)
        if index not in indexes:
            has = ", ".join(map(repr, sorted(indexes))) or "none"
            msg = (
                f"{found.component} in {target} searches the in-memory index {index!r}, but {name} fills {has}. Write "
                "the same index: NAME into both (without one each store gets a random name)."
            )
            raise TargetError(msg)
