# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What the evaluators of a pipeline compare: the field that the labels' keys were read into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from haystack_eval_ext.errors import EvaluationError, parameter
from haystack_eval_ext.retrieval._judging import OVERLAPS
from haystack_eval_ext.runs._loading import load_pipeline

if TYPE_CHECKING:
    from haystack import Pipeline

    from haystack_eval_ext.runs.run import EvaluationRun

#: Where the bare keys of a data file go if nobody says otherwise.
DEFAULT_FIELD = "id"
PARAMETER = "document_comparison_field"
_OURS = "haystack_eval_ext.retrieval."


def load_evaluators(text: str, name: str, label_field: str | None) -> Pipeline:
    """
    Load an evaluation pipeline whose evaluators compare what the labels' keys are.

    :param text: Its YAML. Evaluators of ours that name no ``document_comparison_field`` compare the labels' field;
        matching by overlap compares texts whatever it is, and a span has to be told its document's field.
    :param name: Name of the pipeline or its file, for messages.
    :param label_field: The field that the user gave; None: "id".
    :returns: The pipeline.
    :raises EvaluationError: If an evaluator names another field than the one given.
    :raises PipelineFileError: If it cannot be loaded.
    """
    try:
        data = yaml.safe_load(text)
        parts = [(each, _parameters(part)) for each, part in data["components"].items() if _compares(part)]
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        return load_pipeline(text, name)  # which says what is wrong with it
    filled = False
    for component, parameters in parts:
        named = parameters.get(PARAMETER)
        if named is None and parameters.get("matching", "exact") == "exact":
            parameters[PARAMETER] = label_field or DEFAULT_FIELD
            filled = True
        elif (
            label_field is not None and named not in (None, label_field) and parameters.get("matching") not in OVERLAPS
        ):
            msg = (
                f"{name}: {component} compares {named!r}, but {parameter('label_field')} is {label_field!r}, so that "
                f"the labels' keys stand where it does not look. Leave one of them out: {PARAMETER} of the component, "
                f"or {parameter('label_field')}."
            )
            raise EvaluationError(msg)
    return load_pipeline(yaml.safe_dump(data, allow_unicode=True, sort_keys=False) if filled else text, name)


def field_of_run(run: EvaluationRun) -> str | None:
    """
    Tell what the evaluators of a run compared.

    :param run: The run.
    :returns: The field of the first of its metrics that has one alone; None if none has.
    """
    fields = (metric.info.parameters.get(PARAMETER) for metric in run.metrics.values())
    return next((field for field in fields if isinstance(field, str)), None)


def _compares(part: Any) -> bool:
    return str(part["type"]).startswith(_OURS)


def _parameters(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("init_parameters") is None:
        part["init_parameters"] = {}
    parameters: dict[str, Any] = part["init_parameters"]
    if not isinstance(parameters, dict):
        raise TypeError
    return parameters
