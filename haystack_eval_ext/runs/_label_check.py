# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the labels of a data set can match at all, looked at before anything is asked or judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.retrieval._keys import field_names, has_key, make_keys
from haystack_eval_ext.retrieval._mismatch import find_mismatch
from haystack_eval_ext.runs._compared_field import PARAMETER
from haystack_eval_ext.runs._scored import some
from haystack_eval_ext.runs._stores import searched_stores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from haystack import Document, Pipeline

    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.targets import Target

_LABELS, _RANKING = "relevant_documents", "documents"
_SOCKETS = ("ground_truth_documents", "retrieved_documents")
_SHOWN = 3


def check_labels(pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None) -> None:
    """
    Refuse labels of which none is among the retrieved documents by the compared field, but most are by another one.

    :param pipeline: The evaluation pipeline.
    :param dataset: The rows, with labels and what was retrieved.
    :param mapping: Columns by "component.socket": what has columns of its own is not looked at.
    :raises EvaluationError: With keys of both sides and the field that would match.
    """
    labels, documents = _column(dataset, _LABELS), _column(dataset, _RANKING)
    for component, field in _compared(pipeline, mapping):
        found = find_mismatch(labels, documents, field, "retrieved documents")
        if found is not None and found.fitting is not None:
            msg = f"{component}: {found.told}"
            raise EvaluationError(msg)


def check_store(pipeline: Pipeline, dataset: Dataset, target: Target, mapping: Mapping[str, str] | None) -> list[str]:
    """
    Look for the labels among the documents that a RAG pipeline searches, where these are in memory.

    :param pipeline: The evaluation pipeline.
    :param dataset: The questions and labels.
    :param target: The RAG pipeline, its store filled.
    :param mapping: As for :func:`check_labels`.
    :returns: What to tell of labels that the store lacks.
    :raises EvaluationError: If it holds none of them: no answer could be scored above 0.
    """
    documents = _searched(target)
    labels = _column(dataset, _LABELS)
    notes: dict[str, None] = {}
    for component, field in _compared(pipeline, mapping) if documents else ():
        found = find_mismatch(labels, documents, field, "documents that the RAG pipeline searches")
        if found is not None:
            msg = f"{component}: {found.told} 0 of {found.labels} label keys exist in the store. Nothing was asked."
            raise EvaluationError(msg)
        key = make_keys(field).of
        wanted = dict.fromkeys(name for name in map(key, labels) if has_key(name))
        fields = field_names(field)
        missing = list(wanted.keys() - set(map(key, documents)))
        if missing and "content" not in fields:
            notes[
                f"{len(wanted) - len(missing)} of {len(wanted)} label keys ({' + '.join(fields)}) exist in the store; "
                f"missing are {some(sorted(map(str, missing)), _SHOWN)}. "
                "Questions about them cannot be answered in full."
            ] = None
    return list(notes)


def _compared(pipeline: Pipeline, mapping: Mapping[str, str] | None) -> Iterator[tuple[str, Any]]:
    """The evaluators that look labels up by a key, and the field that they compare."""
    for name, node in pipeline.graph.nodes(data=True):
        instance = node["instance"]
        free = [node["input_sockets"].get(socket) for socket in _SOCKETS]
        field = getattr(instance, PARAMETER, None)
        if any(f"{name}.{socket}" in (mapping or {}) for socket in _SOCKETS):
            continue
        if field is None or None in free or any(socket.senders for socket in free if socket is not None):
            continue
        if getattr(instance, "matching", "exact") in ("exact", "span"):
            yield name, field


def _column(dataset: Dataset, name: str) -> list[Document]:
    left_out = set(dataset.unanswerable)
    rows = [row for row in dataset.rows if row["id"] not in left_out]
    return [document for row in rows for document in row.get(name) or []]


def _searched(target: Target) -> list[Document]:
    """The documents of all stores that are searched; none where one of them cannot be looked through at no cost."""
    found = [] if target.pipeline is None else [each.store for each in searched_stores(target.pipeline)]
    if not all(isinstance(store, InMemoryDocumentStore) for store in found):
        return []
    return [document for store in found for document in store.filter_documents()]
