# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which column of a dataset feeds which socket of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import MappingError, OneByOneError, UnfedSocketError, parameter
from haystack_eval_ext.runs._columns import COLUMNS
from haystack_eval_ext.runs._stores import searched_stores
from haystack_eval_ext.runs._vocabularies import likely, meaning_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from haystack import Pipeline
    from haystack.core.component.types import InputSocket

    from haystack_eval_ext.runs.dataset import Dataset

_MAPPING = parameter("mapping")
Inputs = dict[str, dict[str, list[Any]]]

# By socket name the column that feeds it: the package's vocabulary.
VOCABULARY = {column.socket: column.name for column in COLUMNS if column.socket is not None}
LABELS_SOCKET = "ground_truth_documents"

_QUERY_SOCKETS = frozenset(("query", "question", "text", "prompt", "messages", "query_embedding"))
_ONE_BY_ONE = "Expected a pipeline with batch sockets, which get the rows of the data all at once."
_SHOWN_IDS = 5


def plan_inputs(pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str]) -> Inputs:
    """
    Choose what each free socket gets: by map, by our vocabulary, or nothing.

    :param pipeline: The pipeline.
    :param dataset: The data.
    :param mapping: Columns by "component.socket", before everything else.
    :returns: One list with one value a row for each socket that is fed, by component and socket.
    :raises UnfedSocketError: If a mandatory socket gets nothing.
    :raises MappingError: If the map does not fit.
    :raises OneByOneError: If the pipeline works on one question at a time.
    """
    mapped = {_target(pipeline, target): _mapped_column(dataset, target, column) for target, column in mapping.items()}
    available = dataset.sockets()
    inputs: Inputs = {name: {} for name in pipeline.graph.nodes}
    unfed: list[tuple[str, InputSocket]] = []
    for component, socket in _free_sockets(pipeline):
        if (component, socket.name) in mapped:
            inputs[component][socket.name] = mapped[component, socket.name]
        elif socket.name in available and not _builds_prompts(pipeline, component):
            inputs[component][socket.name] = available[socket.name]
        elif socket.is_mandatory:
            unfed.append((component, socket))
    _refuse_one_by_one(pipeline, unfed)
    if unfed:
        raise UnfedSocketError(_unfed_message(pipeline, unfed, dataset))
    if not any(inputs.values()):
        msg = (
            f"No socket of the pipeline takes a column of the data, whose columns are {_columns(dataset)}. Expected a "
            f"component with one of the sockets {', '.join(VOCABULARY)}."
        )
        raise UnfedSocketError(msg)
    return inputs


def takes_batches(pipeline: Pipeline) -> bool:
    """
    Tell whether a pipeline can take all rows at once.

    :param pipeline: The pipeline.
    :returns: False if a socket that must be fed takes one question.
    """
    return not _one_by_one(entry for entry in _free_sockets(pipeline) if entry[1].is_mandatory)


def _free_sockets(pipeline: Pipeline) -> Iterator[tuple[str, InputSocket]]:
    for component, node in pipeline.graph.nodes(data=True):
        for socket in node["input_sockets"].values():
            if not socket.senders:
                yield component, socket


def _builds_prompts(pipeline: Pipeline, component: str) -> bool:
    """A prompt builder's sockets are variables of its template: a name in it says nothing about our vocabulary."""
    return "template" in pipeline.graph.nodes[component]["input_sockets"]


def _target(pipeline: Pipeline, target: str) -> tuple[str, str]:
    component, _, name = target.rpartition(".")
    nodes = pipeline.graph.nodes
    if component not in nodes:
        msg = f"{_MAPPING}: the pipeline has no component {component!r}; it has {', '.join(nodes)}."
        raise MappingError(msg)
    sockets = nodes[component]["input_sockets"]
    if name not in sockets:
        msg = f"{_MAPPING}: the component {component!r} has no socket {name!r}; it has {', '.join(sockets)}."
        raise MappingError(msg)
    if sockets[name].senders:
        msg = f"{_MAPPING}: {target} is connected to {', '.join(sockets[name].senders)} already; map a free socket."
        raise MappingError(msg)
    if "template" in name or "prompt" in name:
        msg = f"{_MAPPING}: {target} takes a prompt template, never from data; set it in the pipeline's YAML."
        raise MappingError(msg)
    if _takes_one_text(sockets[name]):
        msg = f"{_MAPPING}: {target} takes one text, but a column has one value a row. {_ONE_BY_ONE}"
        raise OneByOneError(msg)
    return component, name


def _mapped_column(dataset: Dataset, target: str, given: str) -> list[Any]:
    name = given if dataset.has(given) else meaning_of(given)
    if not dataset.has(name):
        msg = f"{_MAPPING}: {target} asks for the column {given!r}; the data has {_columns(dataset)}."
        raise MappingError(msg)
    values = dataset.column(name)
    empty = [key for key, value in zip(dataset.ids, values, strict=True) if value is None]
    if empty:
        shown = ", ".join(empty[:_SHOWN_IDS]) + (", ..." if len(empty) > _SHOWN_IDS else "")
        msg = (
            f"{_MAPPING}: the column {given!r} for {target} has no value in {len(empty)} of {len(values)} rows "
            f"({shown}); fill them in."
        )
        raise MappingError(msg)
    return values


def _takes_one_text(socket: InputSocket) -> bool:
    return socket.type in (str, str | None)


def _one_by_one(sockets: Iterable[tuple[str, InputSocket]]) -> list[str]:
    """Those of some sockets that take one question."""
    return [
        f"{component}.{socket.name}"
        for component, socket in sockets
        if socket.name in _QUERY_SOCKETS or _takes_one_text(socket)
    ]


def _refuse_one_by_one(pipeline: Pipeline, unfed: list[tuple[str, InputSocket]]) -> None:
    scalar = _one_by_one(unfed)
    if scalar:
        msg = f"The pipeline takes one question at a time ({', '.join(scalar)}). {_ONE_BY_ONE}"
        raise OneByOneError(msg)
    for found in searched_stores(pipeline):
        if not found.store.count_documents():
            msg = (
                f"{found.component} searches a document store without documents. Write documents into it before the "
                "run."
            )
            raise OneByOneError(msg)


def _unfed_message(pipeline: Pipeline, unfed: list[tuple[str, InputSocket]], dataset: Dataset) -> str:
    places = []
    for component, socket in unfed:
        column = VOCABULARY.get(socket.name)
        meaning = f" (column {column})" if column else ""
        if _builds_prompts(pipeline, component):
            meaning = " (a variable of a template, which only a mapping feeds)"
        places.append(f"{component}.{socket.name}{meaning}")
    missing = dict.fromkeys(VOCABULARY[socket.name] for _, socket in unfed if socket.name in VOCABULARY)
    hints = "".join(likely(meaning, _names(dataset)) for meaning in missing)
    what = f"Nothing in the data feeds {', '.join(places)}; its columns are {_columns(dataset)}."
    return f"{what}{hints or ' Add what is missing.'}"


def _columns(dataset: Dataset) -> str:
    return ", ".join(_names(dataset))


def _names(dataset: Dataset) -> list[str]:
    return list(dict.fromkeys(name for row in dataset.rows for name in row))
