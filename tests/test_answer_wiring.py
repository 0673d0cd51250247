# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer evaluators in pipelines: chat generators, agents, answer builders, and the shipped YAML."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import AnswerExactMatchEvaluator, AnswerTokenF1Evaluator
from haystack_eval_ext._resources import pipeline_path

MESSAGES = [ChatMessage.from_user("Where is the tower?")]
MOCK = {
    "type": "haystack.components.generators.chat.mock.MockChatGenerator",
    "init_parameters": MockChatGenerator("Paris").to_dict()["init_parameters"],
}


def with_mock(name: str) -> Pipeline:
    """A shipped pipeline whose chat generator is Haystack's own mock; everything else as shipped."""
    description = yaml.safe_load(Path(pipeline_path(name)).read_text(encoding="utf-8"))
    description["components"]["generator"] = MOCK
    return Pipeline.loads(yaml.safe_dump(description))


def test_the_shipped_rag_pipeline_scores_the_reply_of_its_chat_generator() -> None:
    pipeline = with_mock("rag_answers")
    retriever: Any = pipeline.get_component("retriever")
    retriever.document_store.write_documents([Document(content="The tower is in Paris."), Document(content="Rome.")])
    question = "Where is the tower?"
    references = {name: {"ground_truth_answers": [["Lyon", "paris"]]} for name in ("exact_match", "token_f1")}
    result = pipeline.run({"retriever": {"query": question}, "prompt_builder": {"question": question}, **references})
    assert result["exact_match"]["individual_scores"] == [1.0]
    assert result["token_f1"]["individual_scores"] == [1.0]


def test_the_shipped_rag_pipeline_loads_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    text = Path(pipeline_path("rag_answers")).read_text(encoding="utf-8")
    pipeline = Pipeline.loads(text)
    assert "not-a-key" not in pipeline.dumps()
    assert {"retriever", "prompt_builder", "generator", "token_f1"} <= set(pipeline.graph.nodes)


def test_replies_of_a_chat_generator_are_answers() -> None:
    pipeline = Pipeline()
    pipeline.add_component("generator", MockChatGenerator("Paris"))
    pipeline.add_component("f1", AnswerTokenF1Evaluator())
    pipeline.connect("generator.replies", "f1.predicted_answers")
    result = pipeline.run({"generator": {"messages": MESSAGES}, "f1": {"ground_truth_answers": ["in Paris"]}})
    assert result["f1"]["individual_scores"] == [pytest.approx(2 / 3)]  # precision 1, recall 1/2


def test_answers_of_an_answer_builder_are_answers() -> None:
    pipeline = Pipeline()
    pipeline.add_component("generator", MockChatGenerator("Paris"))
    pipeline.add_component("builder", AnswerBuilder())
    pipeline.add_component("match", AnswerExactMatchEvaluator())
    pipeline.connect("generator.replies", "builder.replies")
    pipeline.connect("builder.answers", "match.predicted_answers")
    data = {
        "generator": {"messages": MESSAGES},
        "builder": {"query": "Where?"},
        "match": {"ground_truth_answers": ["Paris"]},
    }
    assert pipeline.run(data)["match"]["score"] == 1.0


@component
class Conversation:
    """Emits what an agent emits: the whole conversation, and its last message."""

    @component.output_types(messages=list[ChatMessage], last_message=ChatMessage)
    def run(self) -> dict[str, Any]:
        answer = ChatMessage.from_assistant("Paris")
        return {"messages": [*MESSAGES, answer], "last_message": answer}


def conversation(output: str) -> dict[str, Any]:
    pipeline = Pipeline()
    pipeline.add_component("agent", Conversation())
    pipeline.add_component("match", AnswerExactMatchEvaluator())
    pipeline.connect(f"agent.{output}", "match.predicted_answers")
    result: dict[str, Any] = pipeline.run({"match": {"ground_truth_answers": ["Paris"]}})["match"]
    return result


def test_the_last_message_of_an_agent_is_an_answer() -> None:
    assert conversation("last_message")["individual_scores"] == [1.0]


def test_a_conversation_is_refused_and_the_right_output_named() -> None:
    with pytest.raises(
        PipelineRuntimeError, match=r"predicted_answers\[0\] is a ChatMessage of the user.*last_message"
    ):
        conversation("messages")
