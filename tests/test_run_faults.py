# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of other packages may quote questions and documents: where texts are not wanted, no message repeats them."""

import json
import re
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.core.errors import PipelineError

from haystack_eval_ext import DocumentMRREvaluator
from haystack_eval_ext.errors import EvaluationError, InvalidValueError, PipelineFileError, UndefinedScore
from haystack_eval_ext.runs._faults import describe_fault, is_ours, texts_wanted
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import WithheldFaultError, evaluate_pipeline, load_pipeline

PRIVATE = "PRIVATE"


@component
class Quoting:
    """A metric of somebody else, which quotes the data when it fails."""

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, questions: list[str]) -> dict[str, Any]:
        """
        Fail.

        :param questions: Quoted.
        :returns: Nothing.
        :raises ValueError: Always.
        """
        raise ValueError(questions[0])


@component
class Passing:
    """Hands questions on."""

    @component.output_types(questions=list[str])
    def run(self, texts: list[str]) -> dict[str, Any]:
        """
        Hand on.

        :param texts: The questions.
        :returns: The same.
        """
        return {"questions": texts}


def raised(fault: Any) -> BaseException:
    try:
        fault()
    except Exception as error:
        return error
    return pytest.fail("nothing was raised")


def evaluated(pipeline: Pipeline, **columns: Any) -> BaseException:
    data = Dataset("data.jsonl", [{"id": "q1", "question": PRIVATE, **columns}])
    return raised(
        lambda: evaluate_pipeline(pipeline, data, {"first.texts": "question"} if "first" in pipeline.graph else {})
    )


def test_a_quoting_component_is_shown_with_texts_alone() -> None:
    pipeline = Pipeline()
    pipeline.add_component("theirs", Quoting())
    error = evaluated(pipeline)
    place = rf"Raised at {__name__}:\d+\."
    assert type(error) is EvaluationError
    assert re.fullmatch(rf"theirs \(Quoting\): {PRIVATE}\. {place}", str(error))
    with texts_wanted(False):
        error = evaluated(pipeline)
    assert isinstance(error, WithheldFaultError)
    assert re.fullmatch(rf"theirs \(Quoting\): ValueError\. {place}", str(error))
    assert str(error.__cause__) == PRIVATE


def test_a_quoting_component_of_a_connected_pipeline() -> None:
    pipeline = Pipeline()
    pipeline.add_component("first", Passing())
    pipeline.add_component("theirs", Quoting())
    pipeline.connect("first.questions", "theirs.questions")
    error = evaluated(pipeline)
    assert str(error).startswith(f"theirs: {PRIVATE}. Raised at {__name__}:")
    with texts_wanted(False):
        error = evaluated(pipeline)
    assert isinstance(error, WithheldFaultError)
    assert str(error).startswith(f"theirs: ValueError. Raised at {__name__}:")


def test_our_own_messages_are_shown() -> None:
    pipeline = Pipeline()
    pipeline.add_component("mrr", DocumentMRREvaluator("meta.file"))
    document = Document(content=PRIVATE)
    error = evaluated(pipeline, documents=[document], relevant_documents=[document])
    assert type(error) is EvaluationError
    assert "mrr (DocumentMRREvaluator): None of the 1 documents in ground_truth_documents has the field" in str(error)
    assert PRIVATE not in str(error)


def undefined() -> None:
    retrieved = [Document(id=PRIVATE)]
    truths: list[list[Document]] = [[]]
    DocumentMRREvaluator("id", on_undefined="raise").run(ground_truth_documents=truths, retrieved_documents=[retrieved])


SHOWN = [
    (lambda: DocumentMRREvaluator(topk=3), TypeError, "unexpected keyword argument 'topk'"),  # type: ignore[call-arg]
    (lambda: DocumentMRREvaluator(top_k=0), InvalidValueError, "top_k must be"),
    (undefined, UndefinedScore, "rows are undefined"),
    (lambda: Pipeline().connect("a.x", "b.y"), ValueError, "Component named a not found"),
    (lambda: Pipeline.from_dict({"components": {"a": {}}}), PipelineError, "Missing 'type'"),
]


@pytest.mark.parametrize(("fault", "kind", "part"), SHOWN)
def test_messages_of_ours_and_of_the_core_are_shown(fault: Any, kind: type[Exception], part: str) -> None:
    error = raised(fault)
    assert type(error) is kind
    assert part in describe_fault(error, "set-up")
    with texts_wanted(False):
        # Here the test called ours with values of its own, as code of a user's may do with a question.
        withheld = isinstance(error, TypeError | InvalidValueError)
        assert (part in describe_fault(error, "question")) is not withheld


def quoting_type_error() -> None:
    message = f"run() takes 1 text: {PRIVATE}"
    raise TypeError(message)


WITHHELD = [
    (lambda: float(PRIVATE), "ValueError"),
    (lambda: json.loads(PRIVATE), "JSONDecodeError"),
    (lambda: vars(Document)[PRIVATE], "KeyError"),
    (lambda: PRIVATE.encode("ascii").decode("utf-16"), "UnicodeDecodeError"),
    (quoting_type_error, "TypeError"),
    (lambda: Document.from_dict({"content": PRIVATE, "blob": PRIVATE}), "TypeError"),
]


@pytest.mark.parametrize(("fault", "kind"), WITHHELD)
def test_other_messages_are_shown_with_texts(fault: Any, kind: str) -> None:
    error = raised(fault)
    assert not is_ours(error, "set-up")
    assert str(error).partition(":")[0] in describe_fault(error, "set-up")
    for phase in ("question", "judge"):
        with texts_wanted(False):
            said = describe_fault(error, phase)
        assert said.startswith(f"{kind}. Raised at {__name__}:")
        assert PRIVATE not in said


def yaml_of(kind: str, parameters: str) -> str:
    return f"components: {{c: {{type: {kind}, init_parameters: {parameters}}}}}\n"


MRR = "haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator"
BUILDER = "haystack.components.builders.prompt_builder.PromptBuilder"
LLM = "haystack.components.evaluators.llm_evaluator.LLMEvaluator"
YAML = [
    (yaml_of(MRR, "{topk: 3}"), "component 'c' (DocumentMRREvaluator) cannot be made: ", "'topk'"),
    (yaml_of(MRR, "{top_k: 0}"), "component 'c' (DocumentMRREvaluator) cannot be made: ", "top_k must be"),
    (
        yaml_of(BUILDER, "{template: '{{ PRIVATE !'}"),
        "component 'c' (PromptBuilder) cannot be made: TemplateSyntaxError: ",
        "unexpected char",
    ),
    (yaml_of(BUILDER, "{text: PRIVATE}"), "component 'c' (PromptBuilder) cannot be made: ", "'text'"),
    (
        yaml_of(LLM, "{instructions: PRIVATE, inputs: PRIVATE, outputs: [], examples: []}"),
        "(LLMEvaluator)",
        "cannot be made: not enough values to unpack",  # whose numbers quote nothing
    ),
]


@pytest.mark.parametrize(("text", "start", "part"), YAML)
def test_a_pipeline_that_cannot_be_loaded_says_why(text: str, start: str, part: str) -> None:
    with pytest.raises(PipelineFileError) as caught:
        load_pipeline(text, "my.yaml")
    message = str(caught.value)
    assert start in message
    assert part in message
