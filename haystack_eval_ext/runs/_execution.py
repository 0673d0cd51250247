# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the components of an evaluation pipeline; what goes wrong names the component."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from haystack.core.errors import PipelineRuntimeError

from haystack_eval_ext._scores import rows_of_a_run
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs._faults import describe_fault, is_bug, is_withheld
from haystack_eval_ext.runs._feeding import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack import Pipeline

_NOTE = "Row numbers start at 0 and leave out the unanswerable rows and those without outputs."
_ANSWERS = frozenset(("predicted_answers", "other_answers"))
_ROW_NUMBER = re.compile(r"\[\d+\]")


class WithheldFaultError(EvaluationError):
    """A component failed with a message that is left out, since no texts are wanted: `__cause__` has it."""


def _of_rows(inputs: dict[str, list[Any]], rows: list[int], total: int) -> dict[str, list[Any]]:
    if len(rows) == total:
        return inputs
    return {socket: [values[row] for row in rows] for socket, values in inputs.items()}


def run_component(
    name: str, instance: Any, inputs: dict[str, list[Any]], rows: list[int], ids: list[str]
) -> dict[str, Any]:
    """
    Run one component by itself, on the objects as they are.

    :param name: Its name in the pipeline.
    :param instance: The component.
    :param inputs: By socket one value a row.
    :param rows: The numbers of the rows that it is given.
    :param ids: The ids of all rows.
    :returns: Its outputs.
    :raises EvaluationError: If it fails.
    """
    inputs = _of_rows(inputs, rows, len(ids))
    note = "" if len(rows) == len(ids) else f" ({_NOTE})"

    def run() -> Any:
        if hasattr(instance, "warm_up"):
            instance.warm_up()
        with rows_of_a_run([ids[row] for row in rows]) as notes:
            result = instance.run(**inputs)
        return _with_notes(result, notes)

    output = _guarded(run, f"{name} ({type(instance).__name__})", note)
    if not isinstance(output, dict):
        msg = f"{name} ({type(instance).__name__}) must return a dict of outputs, but returned {type(output).__name__}."
        raise EvaluationError(msg)
    return output


def run_connected(
    pipeline: Pipeline, inputs: Inputs, rows: list[int], ids: list[str], metric_components: list[str]
) -> dict[str, dict[str, Any]]:
    """
    Run a whole pipeline.

    :param pipeline: The pipeline.
    :param inputs: By component and socket one value a row.
    :param rows: The numbers of the rows that all components are given.
    :param ids: The ids of all rows.
    :param metric_components: The components whose outputs are wanted.
    :returns: Their outputs.
    :raises EvaluationError: If a component fails or does not run.
    """
    data = {name: _of_rows(sockets, rows, len(ids)) for name, sockets in inputs.items() if sockets}
    with rows_of_a_run([ids[row] for row in rows]) as notes:
        outputs: dict[str, dict[str, Any]] = _guarded(
            lambda: pipeline.run(data, include_outputs_from=set(metric_components)), "The pipeline", ""
        )
    for name in metric_components:
        if name not in outputs:
            msg = f"{name} did not run: something that it waits for was never sent. Check the pipeline's connections."
            raise EvaluationError(msg)
    takers = {name for name in metric_components if _ANSWERS & set(pipeline.graph.nodes[name]["input_sockets"])}
    return {name: _with_notes(output, notes if name in takers else []) for name, output in outputs.items()}


def _with_notes(output: Any, notes: list[str]) -> Any:
    """The outputs of a component, with what it noticed in its inputs among its warnings."""
    if not notes or not isinstance(output, dict):
        return output
    said = output.get("warnings")
    return {**output, "warnings": [*(said if isinstance(said, list) else []), *notes]}


def _guarded(run: Callable[[], Any], what: str, note: str) -> Any:
    """Run what is not ours; whatever it raises becomes one error that names the component."""
    try:
        return run()
    except Exception as error:
        if is_bug(error):
            raise
        if isinstance(error, PipelineRuntimeError):
            what = error.component_name or what
        kind = WithheldFaultError if is_withheld(error, "question") else EvaluationError
        fault = describe_fault(error, "question")
        msg = f"{what}: {fault}{note if _ROW_NUMBER.search(fault) else ''}"
        raise kind(msg) from error
