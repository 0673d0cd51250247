# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluators in every form in which users have them, as a pipeline for the time of a run."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack import Pipeline

from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import EvaluationError, InvalidTypeError
from haystack_eval_ext.runs._borrowed import borrow
from haystack_eval_ext.runs._compared_field import load_evaluators
from haystack_eval_ext.runs._faults import describe_fault
from haystack_eval_ext.runs._loading import read_pipeline_text
from haystack_eval_ext.runs.judging import JudgeSettings, set_judges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from haystack_eval_ext.runs._lines import FilePath


@contextmanager
def opened(
    evaluators: Pipeline | FilePath | Mapping[str, Any],
    judge: JudgeSettings | None = None,
    label_field: str | None = None,
    *,
    progress: bool = True,
) -> Iterator[Pipeline]:
    """
    Make a pipeline of evaluators; the caller's own components are afterwards as they were.

    :param evaluators: A pipeline, its YAML file, the name of a shipped one, or components by name.
    :param judge: Settings of all judges for this time; None leaves them as they are.
    :param label_field: What evaluators of a YAML file compare that do not say it; None: "id".
    :param progress: False hides the progress bars of all components; True leaves to each what it says itself.
    :returns: A context with the pipeline.
    :raises EvaluationError: If a component cannot be used, or the settings apply to none.
    :raises TypeError: If the evaluators have no such form.
    """
    pipeline = _pipeline(evaluators, label_field)
    with ExitStack() as stack:
        if not progress:
            for _, node in pipeline.graph.nodes(data=True):
                if getattr(node["instance"], "progress_bar", False) is True:
                    node["instance"].progress_bar = False
                    stack.callback(setattr, node["instance"], "progress_bar", True)
        if judge is not None:
            stack.callback(set_judges(pipeline, judge))
        yield pipeline


def _pipeline(evaluators: Any, label_field: str | None) -> Pipeline:
    if isinstance(evaluators, Pipeline):
        return evaluators
    if isinstance(evaluators, str | os.PathLike):
        path = Path(evaluators)
        if not path.is_file() and os.fspath(evaluators) in pipeline_names():
            path = pipeline_path(os.fspath(evaluators))
        return load_evaluators(read_pipeline_text(path), path.name, label_field)
    # Mapping at run time without the import: whatever has items.
    if not hasattr(evaluators, "items") or not evaluators:
        msg = (
            "evaluators must be a Pipeline, its YAML file, the name of a shipped one, or components by name, but is "
            f"{describe(evaluators)}."
        )
        raise InvalidTypeError(msg)
    pipeline = Pipeline()
    for name, component in evaluators.items():
        try:
            borrow(pipeline, name, component)
        except Exception as error:  # of Haystack's core: no component, or a bad name
            msg = f"evaluators: '{name}' cannot be used: {describe_fault(error, 'set-up')}"
            raise EvaluationError(msg) from error
    return pipeline
