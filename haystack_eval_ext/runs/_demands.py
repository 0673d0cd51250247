# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a RAG pipeline gives what an evaluation needs: told before the first question, or after the first answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import TargetError
from haystack_eval_ext.runs._answers import plan_answer
from haystack_eval_ext.runs._questions import ANSWER_NAMES, check_sections, section_of
from haystack_eval_ext.runs._stores import may_have_more_stages, stages_of
from haystack_eval_ext.runs.evaluation import needed_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack import Pipeline

    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.targets import Target


def demand(
    target: Target,
    evaluators: Pipeline,
    labels: Dataset,
    *,
    mapping: Mapping[str, str] | None,
    sections: Mapping[str, Any] | None,
) -> Target:
    """
    Check that a target gives what an evaluation needs.

    :param target: The target.
    :param evaluators: The evaluation pipeline.
    :param labels: The questions and labels.
    :param mapping: Columns by "component.socket" of the evaluation pipeline.
    :param sections: The user's inputs and outputs of the RAG pipeline.
    :returns: The target. What only its answers can tell is in its `needs`.
    :raises TargetError: If it gives no answer or no documents, but the evaluation needs them.
    :raises EvaluationError: If the evaluation could not be fed anyhow.
    """
    needed = needed_outputs(evaluators, labels, mapping)
    pipeline = target.pipeline
    if pipeline is None:
        return replace(target, needs=frozenset(needed))
    outputs = check_sections(sections)["outputs"]
    plan = plan_answer(pipeline, target.sections["outputs"] | outputs, demanded=outputs)
    if "answer" in needed and not plan.sockets:
        leaves = [f"{name}.{socket}" for name, sockets in pipeline.outputs().items() for socket in sockets]
        msg = (
            f"{needed['answer']} needs an answer, but {target.name} has no output named {', '.join(ANSWER_NAMES)}. Its "
            f"outputs: {', '.join(leaves) or 'none'}. Name the one that is the answer: "
            f"{section_of('outputs', 'answers', (leaves or ['component.socket'])[0])}; or evaluate retrieval alone."
        )
        raise TargetError(msg)
    retrieved = next((name for name in ("documents", "contexts") if name in needed), None)
    if retrieved is not None and not stages_of(pipeline) and not may_have_more_stages(pipeline):
        msg = (
            f"{needed[retrieved]} needs {retrieved}, but no component of {target.name} gives any (an output of type "
            "list[Document]). Evaluate the answers alone, or give a function that returns its documents."
        )
        raise TargetError(msg)
    return target
