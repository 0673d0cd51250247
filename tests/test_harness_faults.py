# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with one question costs its row and leaves a trace; what is wrong with the target stops the run."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ByteStream, ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.errors import HarnessError, TargetError
from haystack_eval_ext.runs._faults import raised_at, texts_wanted
from haystack_eval_ext.runs._stores import components_of, gives_documents, last_stages, stages_of
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.records import failed_ids
from haystack_eval_ext.runs.targets import as_target, load_target
from rag_pipelines import (
    DOCUMENTS,
    SECRET,
    TEMPLATE,
    answer_question,
    dataset,
    filled_store,
    hybrid,
    rag,
    super_component,
)


def ask(target: Any, data: Dataset, **options: Any) -> list[dict[str, Any]]:
    return run_target(target, data, progress=False, **options)


def one_bad(number: int, bad: Callable[[str], Any]) -> Callable[[str], Any]:
    """A function that answers all questions but one."""

    def answer(question: str) -> Any:
        return bad(question) if question.startswith(f"Question {number}:") else answer_question(question)

    return answer


def raising(error: BaseException) -> Callable[[str], Any]:
    def answer(question: str) -> Any:
        raise error

    return answer


# Stages


def side_by_side() -> Pipeline:
    """Two retrievers that nothing joins."""
    pipeline = Pipeline()
    pipeline.add_component("left", InMemoryBM25Retriever(filled_store(), top_k=2))
    pipeline.add_component("right", InMemoryBM25Retriever(filled_store(), top_k=3))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE + "{{ more }}")]))
    pipeline.add_component("llm", MockChatGenerator("yes"))
    pipeline.connect("left", "prompt.documents")
    pipeline.connect("right", "prompt.more")
    pipeline.connect("prompt", "llm.messages")
    return pipeline


def with_documents() -> Any:
    """A SuperComponent that gives the documents of a retriever inside."""
    return SuperComponent(
        rag(builder=False),
        input_mapping={"query": ["bm25.query", "prompt.question"]},
        output_mapping={"llm.replies": "replies", "bm25.documents": "documents"},
    )


@pytest.mark.parametrize(
    ("target", "stages", "last"),
    [
        (rag, ["bm25"], ["bm25"]),
        (hybrid, ["dense", "bm25", "join", "ranker"], ["ranker"]),
        (super_component, ["super_component.bm25"], ["super_component.bm25"]),
        (with_documents, ["super_component.bm25", "super_component"], ["super_component"]),
        (side_by_side, ["left", "right"], ["left", "right"]),
    ],
)
def test_stages_known_before_are_those_that_runs_record(
    target: Callable[[], Any], stages: list[str], last: list[str]
) -> None:
    pipeline = as_target(target()).pipeline
    assert pipeline is not None
    assert stages_of(pipeline) == stages
    assert last_stages(pipeline) == last
    recorded = ask(target(), dataset(1))[0]["stages"]
    assert set(stages) <= set(recorded)


def test_the_pipeline_around_a_component_is_not_inside_it() -> None:
    names = [name for name, _ in components_of(rag(builder=False))]
    assert names == ["bm25", "prompt", "llm"]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (rag, "llm.bm25"),
        (rag, "bm25.bm25"),
        (hybrid, "ranker.dense"),
        (super_component, "bm25"),
        (lambda: Agent(chat_generator=MockChatGenerator("yes")), "agent.search"),
    ],
)
def test_a_stage_that_does_not_exist_is_refused(tmp_path: Path, target: Callable[[], Any], name: str) -> None:
    with pytest.raises(TargetError, match=f"no stage '{name}'") as caught:
        ask(target(), dataset(1), retrieved=name, out=tmp_path / "run")
    assert "llm." not in str(caught.value).partition("; ")[2]
    assert not (tmp_path / "run").exists()


def test_documents_that_may_be_none_are_a_stage() -> None:
    assert gives_documents(list[Document])
    assert gives_documents(list[Document] | None)
    assert not gives_documents(list[str])
    assert not gives_documents(str | int)


def test_of_retrievers_side_by_side_the_chosen_one_is_named(caplog: pytest.LogCaptureFixture) -> None:
    records = ask(side_by_side(), dataset(3), concurrency=1)
    told = [record.getMessage() for record in caplog.records if "nothing joins" in record.getMessage()]
    assert len(told) == 1
    assert "right, which runs last, is evaluated; left as a stage only" in told[0]
    assert records[0]["documents"] == records[0]["stages"]["right"]
    caplog.clear()
    ask(side_by_side(), dataset(3), retrieved="left")
    ask(hybrid(), dataset(3))
    assert "nothing joins" not in caplog.text


@component
class Odd:
    """A retriever whose output is no ranking for some questions."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """
        Retrieve.

        :param query: The question.
        :returns: Documents, or something else.
        """
        if "Question 1:" in query:
            return {"documents": None}
        if "Question 2:" in query:
            return {"documents": (document for document in DOCUMENTS[:2])}
        if "Question 3:" in query:
            return {"documents": [SECRET]}
        return {"documents": [] if "Question 4:" in query else DOCUMENTS[:2]}


def test_a_stage_that_gives_no_list_of_documents_is_no_empty_ranking() -> None:
    pipeline = Pipeline()
    pipeline.add_component("odd", Odd())
    records = ask(pipeline, dataset(6))
    assert failed_ids(records) == ["q1", "q2", "q3"]
    reasons = [record["error"]["reason"] for record in records[1:4]]
    assert reasons == [
        "The output odd.documents must be a list of Documents, but is None.",
        "The output odd.documents must be a list of Documents, but is a generator.",
        "The output odd.documents must hold Documents alone, but one entry is a str.",
    ]
    assert records[4]["documents"] == []


# Answers


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lambda _question: None, "must return the answer's text, or a dict with some of answer, .* but returned None"),
        (lambda _question: {"answer": 3}, "The function's answer must be a text"),
        (lambda _question: {"answers": [SECRET, "b"]}, "holds 2 answers to one question"),
        (lambda _question: {"answer": "a", "documents": SECRET}, "documents must be a list"),
        (lambda _question: {"answer": "a", "contexts": SECRET}, "contexts must be a list"),
        (
            lambda _question: {"answer": "a", "documents": [{"id": "x", "score": SECRET}]},
            r"but one is wrong: .*'score' must be int or float, but is a str\.$",
        ),
    ],
)
@pytest.mark.parametrize("number", [0, 5])
def test_one_answer_that_cannot_be_read_costs_its_row(
    tmp_path: Path, bad: Callable[[str], Any], reason: str, number: int
) -> None:
    records = ask(one_bad(number, bad), dataset(8), concurrency=1, out=tmp_path / "run")
    assert failed_ids(records) == [f"q{number}"]
    error = records[number]["error"]
    assert error["class"] == "TargetError"
    assert re.search(reason, error["reason"])
    assert SECRET not in str(error)


def test_a_run_whose_first_answers_cannot_be_read_stops_and_can_go_on(tmp_path: Path) -> None:
    sound = {"now": False}
    calls = []

    def answer(question: str) -> Any:
        calls.append(question)
        return answer_question(question) if sound["now"] else [question]

    with pytest.raises(TargetError, match=r"but returned a list\. .* \(rows q0, q1, q2\)") as caught:
        ask(answer, dataset(50), concurrency=1, out=tmp_path / "run")
    assert "Question" not in str(caught.value)
    assert len(calls) <= 4
    sound["now"] = True
    records = ask(answer, dataset(50), out=tmp_path / "run")
    assert failed_ids(records) == []


def test_answers_that_cannot_be_read_are_no_matter_of_luck_once_one_was(tmp_path: Path) -> None:
    broken = {"now": False}

    def answer(question: str) -> Any:
        if broken["now"]:
            return None
        if "Question 0:" in question:
            return answer_question(question)
        raise HarnessError

    with pytest.raises(HarnessError, match="more than max_failures=0"):
        ask(answer, dataset(9), concurrency=1, max_failures=0, out=tmp_path / "run")
    broken["now"] = True
    assert len(failed_ids(ask(answer, dataset(9), out=tmp_path / "run"))) == 8


class OwnError(BaseException):
    """Not an Exception, as some frameworks have theirs."""


@pytest.mark.parametrize("error", [asyncio.CancelledError(SECRET), GeneratorExit(SECRET), OwnError(SECRET)], ids=repr)
def test_whatever_a_question_raises_costs_its_row(error: BaseException) -> None:
    records = ask(one_bad(2, raising(error)), dataset(5))
    assert failed_ids(records) == ["q2"]
    assert records[2]["error"]["class"] == type(error).__name__
    assert records[2]["error"]["message"] == SECRET
    with texts_wanted(False):
        assert SECRET not in str(ask(one_bad(2, raising(error)), dataset(5))[2]["error"])


def test_a_cancelled_component_costs_its_row() -> None:
    def reply(messages: list[ChatMessage]) -> str:
        if "Question 1:" in (messages[-1].text or ""):
            raise asyncio.CancelledError
        return "yes"

    assert failed_ids(ask(rag(MockChatGenerator(response_fn=reply)), dataset(4))) == ["q1"]


def test_an_interrupt_ends_the_run() -> None:
    with pytest.raises(KeyboardInterrupt):
        ask(one_bad(2, raising(KeyboardInterrupt())), dataset(5))


# Reasons


def test_the_record_says_where_and_what(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="haystack_eval_ext"):
        record = ask(one_bad(1, raising(RuntimeError(SECRET))), dataset(2))[1]
    line = raising.__code__.co_firstlineno + 2
    assert record["error"] == {
        "class": "RuntimeError",
        "component": None,
        "reason": f"Raised at {__name__}:{line}.",
        "message": SECRET,
    }
    (logged,) = [each for each in caplog.records if each.exc_info]
    assert logged.getMessage() == "The question of row q1 failed."
    assert logged.exc_info is not None
    assert str(logged.exc_info[1]) == SECRET


def test_the_place_of_an_error_is_that_of_the_users_code() -> None:
    def parse() -> None:
        int("x" + SECRET)  # raised by Python itself

    def load() -> None:
        import json

        json.loads(SECRET)  # raised in the standard library

    for call in (parse, load):
        with pytest.raises(ValueError) as caught:
            call()
        lines, first = call.__code__.co_lines(), call.__code__.co_firstlineno
        of_call = {line for _, _, line in lines}
        place = raised_at(caught.value)
        assert place.startswith(f"Raised at {__name__}:")
        assert int(place.rpartition(":")[2].rstrip(".")) in of_call - {first}


def test_an_init_parameter_out_of_range_is_told(tmp_path: Path) -> None:
    file = tmp_path / "rag.yaml"
    file.write_text(rag(store=filled_store("rag-faults")).dumps(), "utf-8")
    with pytest.raises(TargetError, match=r"'bm25' .* cannot be made: top_k must be greater than 0"):
        load_target(file, overrides={"bm25.top_k": -1})


def test_a_timeout_that_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match="but is nan"):
        ask(answer_question, dataset(1), timeout=float("nan"))


# Overrides inside of objects


@pytest.fixture
def yaml_file(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "rag.yaml"
    file.write_text(rag(store=filled_store("rag-faults")).dumps(), "utf-8")
    yield file


def test_an_override_reaches_the_parameters_of_an_object(yaml_file: Path) -> None:
    for key in ("bm25.document_store.index", "bm25.document_store.init_parameters.index"):
        pipeline = load_target(yaml_file, overrides={key: "rag-faults-other"}).pipeline
        assert pipeline is not None
        bm25: Any = pipeline.get_component("bm25")
        assert bm25.document_store.index == "rag-faults-other"


@pytest.mark.parametrize("key", ["bm25.document_store.indx", "bm25.document_store.init_parameters.indx"])
def test_an_override_of_an_unknown_parameter_of_an_object_is_refused(yaml_file: Path, key: str) -> None:
    message = r"bm25.document_store \(InMemoryDocumentStore\) has no init parameter 'indx'; did you mean index"
    with pytest.raises(TargetError, match=message):
        load_target(yaml_file, overrides={key: "x"})


# What decides the answers


def stored(document: Document) -> str:
    store = InMemoryDocumentStore()
    store.write_documents([document, Document(id="other", content="b")])
    return as_target(rag(store=store)).fingerprint()


def test_changed_documents_are_another_target_though_their_ids_stay() -> None:
    first = stored(Document(id="a", content="text", meta={"year": 2025, "tags": {"x", "y", "z"}}))
    assert stored(Document(id="a", content="text", meta={"tags": {"z", "y", "x"}, "year": 2025})) == first
    others = [
        Document(id="a", content="another text", meta={"year": 2025, "tags": {"x", "y", "z"}}),
        Document(id="a", content="text", meta={"year": 2026, "tags": {"x", "y", "z"}}),
        Document(id="a", content="text", meta={"year": 2025, "tags": {"x", "y"}}),
        Document(id="a", content="text", meta={"year": 2025, "tags": {"x", "y", "z"}}, blob=ByteStream(b"picture")),
    ]
    assert len({first, *map(stored, others)}) == 1 + len(others)


def test_an_embedding_or_an_object_in_metadata_changes_no_target() -> None:
    class Opaque:
        """Its text differs from process to process."""

    first = stored(Document(id="a", content="text", meta={"object": Opaque()}))
    assert stored(Document(id="a", content="text", meta={"object": Opaque()}, embedding=[0.1, 0.2])) == first


def test_a_run_over_changed_documents_is_not_gone_on_with(tmp_path: Path) -> None:
    def target(content: str) -> Pipeline:
        store = InMemoryDocumentStore()
        store.write_documents([Document(id="d0", content=content)])
        return rag(store=store)

    ask(target("topic0"), dataset(2), out=tmp_path / "run")
    with pytest.raises(HarnessError, match="another target"):
        ask(target("topic0, changed"), dataset(2), out=tmp_path / "run")
