# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user hands over stays the user's: used twice, at once, and by the user afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator

from haystack_eval_ext import AnswerExactMatchEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._borrowed import borrow

ROWS = [{"id": f"q{number}", "question": "q", "reference_answer": "hello"} for number in range(3)]


@component
class Echo:
    @component.output_types(answer=str)
    def run(self, question: str) -> dict[str, Any]:
        return {"answer": f"hello{'' if question == 'q' else '!'}"}


def pipeline() -> Pipeline:
    made = Pipeline()
    made.add_component("echo", Echo())
    return made


async def waits(question: str) -> dict[str, str]:
    return {"answer": f"hello{'' if question == 'q' else '!'}"}


def owned() -> Echo:
    """A component that stands in a pipeline of the user's."""
    echo = Echo()
    KEPT.append(Pipeline())
    KEPT[-1].add_component("mine", echo)
    return echo


KEPT: list[Pipeline] = []
# Kind: what makes a target, and its use by its owner.
TARGETS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "Agent": (
        lambda: Agent(chat_generator=MockChatGenerator("hello")),
        lambda target: Pipeline().add_component("agent", target),
    ),
    "component": (Echo, lambda target: Pipeline().add_component("echo", target)),
    "component of a pipeline": (owned, lambda _: KEPT[-1].run({"mine": {"question": "q"}})),
    "SuperComponent": (
        lambda: SuperComponent(pipeline()),
        lambda target: Pipeline().add_component("super", target),
    ),
    "Pipeline": (pipeline, lambda target: target.run({"echo": {"question": "q"}})),
    "function": (lambda: lambda _question: {"answer": "hello"}, lambda target: target("q")),
    "function of a text": (lambda: lambda _question: "hello", lambda target: target("q")),
    "async function": (lambda: waits, lambda target: target("q").close()),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_a_target_serves_twice_at_once_and_its_owner_afterwards(kind: str) -> None:
    make, use = TARGETS[kind]
    target = make()

    def score(_: int) -> dict[str, float]:
        return api.run_rag({"em": AnswerExactMatchEvaluator()}, ROWS, target, progress=False).scores

    for number in range(2):
        assert score(number) == {"em": 1.0}
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(score, range(2))) == [{"em": 1.0}] * 2
    use(target)


EVALUATORS: dict[str, Callable[[], Any]] = {
    "answers": AnswerExactMatchEvaluator,
    "retrieval": lambda: DocumentRecallEvaluator("multi_hit", "id"),
}
DATA = [
    row | {"answer": "hello", "documents": [Document(id="a")], "relevant_documents": [Document(id="a")]} for row in ROWS
]


@pytest.mark.parametrize("kind", EVALUATORS)
def test_an_evaluator_serves_two_runs_at_once_and_its_owner_afterwards(kind: str) -> None:
    evaluator = EVALUATORS[kind]()
    mine = Pipeline()
    mine.add_component("mine", evaluator)
    together = threading.Barrier(2)

    def score(_: int) -> dict[str, float]:
        together.wait()
        return api.evaluate({"metric": evaluator}, DATA).scores

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(score, range(2))) == [{"metric": 1.0}] * 2
    assert mine.get_component_name(evaluator) == "mine"
    assert evaluator.__haystack_added_to_pipeline__ is mine
    sockets = {
        "answers": {"ground_truth_answers": ["a"], "predicted_answers": ["a"]},
        "retrieval": {"ground_truth_documents": [Document(id="a")], "retrieved_documents": [Document(id="a")]},
    }
    assert mine.run({"mine": sockets[kind]})["mine"]["score"] == 1.0


def test_connections_of_the_owner_are_not_borrowed() -> None:
    mine, echo, behind = Pipeline(), Echo(), Echo()
    mine.add_component("first", echo)
    mine.add_component("second", behind)
    mine.connect("first.answer", "second.question")
    ours = Pipeline()
    borrow(ours, "alone", behind)
    assert ours.run({"alone": {"question": "q"}}) == {"alone": {"answer": "hello"}}
    assert mine.run({"first": {"question": "q"}}) == {"second": {"answer": "hello!"}}
