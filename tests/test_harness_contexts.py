# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What reached the prompt, what a target does not give at all, and what an evaluation makes of that: never a 0."""

from __future__ import annotations

import math
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.converters import OutputAdapter
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools.tool import Tool
from haystack.tracing.tracer import NullTracer, enable_tracing, tracer

from haystack_eval_ext import AnswerTokenF1Evaluator, DocumentRankingEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.errors import EvaluationError, TargetError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.records import dataset_of_records, stage_datasets
from rag_pipelines import DOCUMENTS, TEMPLATE, dataset, filled_store, rag, reply


@component
class Cut:
    """Lets the first documents through."""

    def __init__(self, size: int = 0) -> None:
        self.size = size

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Cut.

        :param documents: What to cut.
        :returns: The first.
        """
        return {"documents": documents[: self.size]}


@component
class Writer:
    """A generator of texts that says what it read."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """
        Write.

        :param prompt: The prompt.
        :returns: One reply.
        """
        return {"replies": [f"read <{prompt[:40]}>"]}


def retriever(top_k: int = 3) -> InMemoryBM25Retriever:
    return InMemoryBM25Retriever(filled_store(), top_k=top_k)


def made(components: dict[str, Any], *connections: tuple[str, str]) -> Pipeline:
    pipeline = Pipeline()
    for name, each in components.items():
        pipeline.add_component(name, each)
    for sender, receiver in connections:
        pipeline.connect(sender, receiver)
    return pipeline


def ask(target: Any, count: int = 1, **options: Any) -> list[dict[str, Any]]:
    return run_target(target, dataset(count), progress=False, **options)


def ids(documents: list[dict[str, Any]]) -> list[str]:
    return [document["id"] for document in documents]


def template(variables: str = "{{ documents }} {{ question }}") -> PromptBuilder:
    return PromptBuilder(variables, required_variables="*")


def corrective(size: int, *, check: bool = False) -> Pipeline:
    """Corrective RAG: documents are graded, the good ones are answered from, and if wished the answer is checked."""
    parts: dict[str, Any] = {
        "bm25": retriever(),
        "grade": template("{{ documents }}"),
        "grader": Writer(),
        "cut": Cut(size),
        "final": template(),
        "llm": Writer(),
    }
    edges = [
        ("bm25.documents", "grade.documents"),
        ("bm25.documents", "cut.documents"),
        ("grade.prompt", "grader.prompt"),
        ("cut.documents", "final.documents"),
        ("final.prompt", "llm.prompt"),
    ]
    if check:
        parts |= {"answers": AnswerBuilder(), "check": template("{{ documents }} {{ replies }}"), "checker": Writer()}
        edges += [
            ("llm.replies", "answers.replies"),
            ("llm.replies", "check.replies"),
            ("bm25.documents", "check.documents"),
            ("bm25.documents", "answers.documents"),
            ("check.prompt", "checker.prompt"),
        ]
    return made(parts, *edges)


ANSWERS = {"outputs": {"answers": ["llm.replies"]}}


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("check", [False, True])
def test_contexts_are_those_of_the_prompt_that_was_answered(size: int, *, check: bool) -> None:
    mapping = {"outputs": {"answers": ["answers.answers"]}} if check else ANSWERS
    (record,) = ask(corrective(size, check=check), sections=mapping)
    assert len(record["stages"]["bm25"]) == 3
    assert record["contexts"] == [each["content"] for each in record["stages"]["bm25"][:size]]
    assert len(record["documents"]) == size  # of the cut, which is the last stage


def test_retrieved_says_what_is_evaluated_and_changes_no_context() -> None:
    (record,) = ask(corrective(0), sections=ANSWERS, retrieved="bm25")
    assert len(record["documents"]) == 3
    assert record["contexts"] == []


@component
class Shorten:
    """Makes a text of the first documents, behind every ranking's back."""

    @component.output_types(context=str)
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Shorten.

        :param documents: The ranking.
        :returns: A text.
        """
        return {"context": documents[0].content or ""}


def test_documents_are_found_behind_components_that_make_texts_of_them() -> None:
    pipeline = made(
        {"bm25": retriever(), "cut": Cut(1), "shorten": Shorten(), "final": template("{{ context }}"), "llm": Writer()},
        ("bm25.documents", "cut.documents"),
        ("cut.documents", "shorten.documents"),
        ("shorten.context", "final.context"),
        ("final.prompt", "llm.prompt"),
    )
    (record,) = ask(pipeline)
    assert record["contexts"] == ["Rule 0 is about topic0 in chapter0."]


def direct() -> Pipeline:
    """Some questions are answered without documents, though some were retrieved."""
    routes: list[Any] = [
        {"condition": "{{ 'topic1 ' in query }}", "output": "{{ query }}", "output_name": "go", "output_type": str},
        {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "stay", "output_type": str},
    ]
    return made(
        {
            "bm25": retriever(),
            "router": ConditionalRouter(routes),
            "with": template(),
            "without": template("{{ question }}"),
            "one": Writer(),
            "two": Writer(),
        },
        ("bm25.documents", "with.documents"),
        ("router.go", "with.question"),
        ("router.stay", "without.question"),
        ("with.prompt", "one.prompt"),
        ("without.prompt", "two.prompt"),
    )


def test_a_prompt_without_documents_is_a_stage_where_others_had_some() -> None:
    data = dataset(4)
    records = run_target(direct(), data, progress=False)
    assert [len(record["contexts"]) for record in records] == [0, 3, 0, 0]
    assert [len(record["documents"]) for record in records] == [3, 3, 3, 3]
    assert [list(record["stages"]) for record in records] == [
        ["bm25", "prompt"], ["bm25"], ["bm25", "prompt"], ["bm25", "prompt"],
    ]  # fmt: skip
    stages = stage_datasets(data, records)
    assert list(stages) == ["bm25", "prompt"]
    # Where it is no stage of its own, what the last stage gave reached the prompt.
    assert [len(row["documents"]) for row in stages["prompt"].rows] == [0, 3, 0, 0]
    run = api.run_rag({"r": DocumentRecallEvaluator("multi_hit", "id")}, data, direct(), progress=False)
    assert run.scores == {"r": 1.0, "bm25/r": 1.0, "prompt/r": 0.25}
    chosen = run_target(direct(), data, retrieved="prompt", progress=False)
    assert [len(record["documents"]) for record in chosen] == [0, 3, 0, 0]


def test_what_reached_the_prompt_is_a_stage_only_if_it_is_another_ranking() -> None:
    late = made(
        {
            "bm25": retriever(4),
            "prompt": ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)]),
            "llm": MockChatGenerator(response_fn=reply),
            "text": OutputAdapter("{{ replies[0].text }}", output_type=str),
            "sources": retriever(1),  # looks up where the answer may come from
        },
        ("bm25", "prompt.documents"),
        ("prompt", "llm.messages"),
        ("llm.replies", "text.replies"),
        ("text.output", "sources.query"),
    )
    (record,) = ask(late, sections=ANSWERS)
    assert list(record["stages"]) == ["bm25", "sources", "prompt"]
    assert ids(record["stages"]["prompt"]) == ids(record["stages"]["bm25"])
    assert ids(record["documents"]) == ids(record["stages"]["sources"])
    assert len(record["contexts"]) == 4
    assert list(ask(rag())[0]["stages"]) == ["bm25"]


def test_a_component_named_prompt_keeps_its_stage() -> None:
    pipeline = made(
        {"prompt": retriever(), "cut": Cut(1), "builder": template(), "llm": Writer()},
        ("prompt.documents", "cut.documents"),
        ("prompt.documents", "builder.documents"),
        ("builder.prompt", "llm.prompt"),
    )
    data = dataset(2)
    records = run_target(pipeline, data, progress=False)
    assert [len(record["contexts"]) for record in records] == [3, 3]
    stages = stage_datasets(data, records)
    assert {name: len(rows.rows[0]["documents"]) for name, rows in stages.items()}["prompt"] == 3
    assert {name: len(rows.rows[0]["documents"]) for name, rows in stages.items()}["cut"] == 1


def test_prompts_inside_of_other_components_are_found() -> None:
    for size in (0, 2):
        inner = SuperComponent(
            corrective(size),
            input_mapping={"query": ["bm25.query", "final.question"]},
            output_mapping={"llm.replies": "replies"},
        )
        (record,) = ask(inner)
        assert record["contexts"] == [each["content"] for each in record["stages"]["super_component.bm25"][:size]]


def test_a_function_around_a_pipeline_has_the_contexts_of_its_prompt() -> None:
    for size in (0, 1):
        pipeline = corrective(size, check=True)

        def answer(question: str, pipeline: Pipeline = pipeline) -> dict[str, Any]:
            inputs = {"bm25": {"query": question}, "final": {"question": question}, "answers": {"query": question}}
            return {"answer": pipeline.run(inputs)["answers"]["answers"][0].data}

        (record,) = ask(answer, retrieved="bm25")
        assert (len(record["documents"]), len(record["contexts"])) == (3, size)


def test_a_function_that_fills_its_prompt_by_hand_has_the_documents_that_it_gives() -> None:
    llm = made({"llm": Writer()})

    def answer(question: str) -> dict[str, Any]:
        found = DOCUMENTS[:2]
        text = llm.run({"llm": {"prompt": f"{found[0].content} {question}"}})["llm"]["replies"][0]
        return {"answer": text, "documents": found}

    assert len(ask(answer)[0]["contexts"]) == 2


# --- what a target does not give --------------------------------------------------------------------------------------


def recall() -> dict[str, Any]:
    return {"recall": DocumentRecallEvaluator("multi_hit", "id")}


def both() -> dict[str, Any]:
    return recall() | {"f1": AnswerTokenF1Evaluator()}


def test_a_function_without_documents_is_refused_after_its_first_answers() -> None:
    asked: list[str] = []

    def answer(question: str) -> dict[str, Any]:
        asked.append(question)
        return {"answer": "topic0"}

    for evaluators in (recall(), both(), "rag_diagnosis"):
        asked.clear()
        with pytest.raises(TargetError, match=r"gave no documents, which the evaluation needs.*with \[\] where"):
            api.run_rag(evaluators, dataset(20), answer, progress=False, concurrency=1)
        assert len(asked) == 3
    run = api.run_rag({"f1": AnswerTokenF1Evaluator()}, dataset(4), answer, progress=False)
    assert run.metrics["f1"].statuses == ["scored"] * 4
    assert [(row["documents"], row["contexts"]) for row in run.rows] == [(None, None)] * 4


def test_a_function_without_answers_is_refused_after_its_first_rows() -> None:
    asked: list[str] = []

    def search(question: str) -> dict[str, Any]:
        asked.append(question)
        return {"documents": ["d0"]}

    with pytest.raises(TargetError, match="gave no answer, which the evaluation needs"):
        api.run_rag(both(), dataset(20), search, progress=False, concurrency=1)
    assert len(asked) == 3
    assert api.run_rag(recall(), dataset(4), search, progress=False).scores == {"recall": 0.25}


def test_nothing_found_is_a_recall_of_0() -> None:
    def search(question: str) -> dict[str, Any]:
        return {"documents": []}

    run = api.run_rag(recall(), dataset(3), search, progress=False)
    assert (run.scores, run.metrics["recall"].statuses) == ({"recall": 0.0}, ["scored"] * 3)


def sometimes(question: str) -> dict[str, Any]:
    number = int(question.split()[1].rstrip(":"))
    found = {} if number % 2 else {"documents": [f"d{number}"], "contexts": ["text"]}
    return {"answer": f"topic{number}"} | found


def test_a_row_without_documents_is_not_run_and_says_why() -> None:
    run = api.run_rag(both(), dataset(6), sometimes, progress=False, concurrency=1)
    assert run.scores == {"recall": 1.0, "f1": 1.0}
    assert run.metrics["recall"].statuses == ["scored", "not_run"] * 3
    assert run.metrics["recall"].errors[1] == "the RAG pipeline gave no documents for this question"
    assert run.metrics["f1"].statuses == ["scored"] * 6


def test_where_components_are_connected_such_a_row_is_left_out_whole() -> None:
    run = api.run_rag("rag_diagnosis", dataset(6), sometimes, progress=False, concurrency=1)
    assert run.metrics["recall"].statuses == run.metrics["answer"].statuses == ["scored", "not_run"] * 3
    labels = run.manifest["diagnoses"]["diagnosis"]["labels"]
    assert [labels[row] for row in ("q0", "q2", "q4")] == ["passed"] * 3
    assert "retrieval_failure" not in {labels.get(row) for row in ("q1", "q3", "q5")}


def test_evaluations_place_the_rows_that_they_could_score() -> None:
    pipeline = made({
        "rank": DocumentRankingEvaluator(["RR"], document_comparison_field="id"), "f1": AnswerTokenF1Evaluator(),
    })  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"id": "a", "documents": [Document(id="x")], "answer": None},
        {"id": "b", "documents": None, "answer": "yes"},
        {"id": "c", "documents": [Document(id="y")], "answer": "no"},
        {"id": "d", "documents": [Document(id="x")], "answer": "no", "answerable": False},
    ]
    labels = {"relevant_documents": [Document(id="x")], "reference_answer": "yes", "answerable": True}
    evaluation = evaluate_pipeline(pipeline, Dataset("x", [labels | row for row in rows]))
    rank, f1 = evaluation.metrics
    assert (rank.score, rank.statuses) == (0.5, ["scored", "not_run", "scored", "not_run"])
    assert f1.score == pytest.approx(1 / 3)
    assert f1.statuses == ["not_run", "scored", "scored", "scored"]
    assert [math.isnan(score) for score in rank.individual_scores] == [False, True, False, True]
    reason = "the RAG pipeline gave no {} for this question"
    assert evaluation.errors == {"rank": {"b": reason.format("documents")}, "f1": {"a": reason.format("answer")}}


def test_where_all_answerable_questions_failed_the_others_are_scored() -> None:
    rows = [{"id": key, "documents": [Document(id="x")], "answer": "yes", "run_status": "ok"} for key in "ab"]
    labels = {"relevant_documents": [Document(id="x")], "reference_answer": "yes", "answerable": False}
    pipeline = made({
        "rank": DocumentRankingEvaluator(["RR"], document_comparison_field="id"), "f1": AnswerTokenF1Evaluator(),
    })  # fmt: skip
    rank, f1 = evaluate_pipeline(pipeline, Dataset("x", [labels | row for row in rows])).metrics
    assert (rank.name, math.isnan(rank.score), rank.statuses) == ("rank.RR", True, ["not_run"] * 2)
    assert f1.score == 1.0
    with pytest.raises(EvaluationError, match="Every row has answerable false"):
        evaluate_pipeline(pipeline, Dataset("x", [labels | {"id": "a", "documents": [], "answer": "yes"}]))


def test_nothing_given_for_any_row_is_no_score_and_costs_no_other_metric() -> None:
    rows = [{"id": key, "documents": None, "answer": "yes"} for key in "ab"]
    labels = {"relevant_documents": [Document(id="x")], "reference_answer": "yes"}
    data = Dataset("x", [labels | row for row in rows])
    rank, f1 = evaluate_pipeline(made(both()), data).metrics
    assert (rank.name, math.isnan(rank.score), rank.statuses) == ("recall", True, ["not_run"] * 2)
    assert f1.score == 1.0
    with pytest.raises(EvaluationError, match="gave no documents for any of 2 questions, so recall has nothing"):
        evaluate_pipeline(made(recall()), data)


def test_a_pipeline_that_never_retrieves_is_refused_before_the_first_question() -> None:
    asked: list[str] = []

    def counted(messages: list[ChatMessage]) -> str:
        asked.append(reply(messages))
        return "topic0"

    pipeline = made(
        {"prompt": ChatPromptBuilder([ChatMessage.from_user("Question: {{question}}")]),
         "llm": MockChatGenerator(response_fn=counted)},
        ("prompt", "llm.messages"),
    )  # fmt: skip
    with pytest.raises(TargetError, match=r"recall.retrieved_documents needs documents, but no component of Pipeline"):
        api.run_rag(both(), dataset(3), pipeline, progress=False)
    assert asked == []
    run = api.run_rag({"f1": AnswerTokenF1Evaluator()}, dataset(3), pipeline, progress=False)
    assert len(asked) == 3
    assert run.rows[0]["documents"] is None


def test_a_pipeline_without_an_answer_is_refused_before_the_first_question() -> None:
    asked: list[str] = []

    def counted(messages: list[ChatMessage]) -> str:
        asked.append(reply(messages))
        return "topic0"

    pipeline = rag(MockChatGenerator(response_fn=counted), builder=False)
    pipeline.add_component("out", OutputAdapter("{{ replies[0].text }}", output_type=str))
    pipeline.connect("llm.replies", "out.replies")
    with pytest.raises(TargetError, match=r"f1.predicted_answers needs an answer.*Its outputs: out.output\. Name"):
        api.run_rag(both(), dataset(3), pipeline, progress=False)
    assert asked == []
    sections = {"outputs": {"answers": ["out.output"]}}
    assert "f1" in api.run_rag(both(), dataset(3), pipeline, sections=sections, progress=False).scores
    assert api.run_rag(recall(), dataset(3), pipeline, progress=False).scores == {"recall": 1.0}


def search_tool(query: str) -> dict[str, Any]:
    """Look up."""
    return {"documents": DOCUMENTS[:1]}


def test_an_agent_that_does_not_search_gives_no_documents() -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tool = Tool(name="search", description="search", parameters=schema, function=search_tool)
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="search", arguments={"query": "x"})])
    agent = Agent(chat_generator=MockChatGenerator([call, "found", "known"]), tools=[tool])
    run = api.run_rag(recall(), dataset(2), agent, progress=False, concurrency=1)
    assert run.metrics["recall"].statuses == ["scored", "not_run"]
    assert [row["contexts"] for row in run.rows] == [[DOCUMENTS[0].content], None]


def test_another_tracer_in_the_middle_costs_the_question_in_which_it_came() -> None:
    pipeline, asked = rag(), []

    def answer(question: str) -> dict[str, Any]:
        asked.append(question)
        if len(asked) == 2:
            enable_tracing(NullTracer())
        inputs = {"bm25": {"query": question}, "prompt": {"question": question}, "answers": {"query": question}}
        return {"answer": pipeline.run(inputs)["answers"]["answers"][0].data}

    before = tracer.actual_tracer
    try:
        run = api.run_rag(recall(), dataset(5), answer, concurrency=1, progress=False)
    finally:
        enable_tracing(before)
    assert run.metrics["recall"].statuses == ["scored", "not_run", "scored", "scored", "scored"]
    assert run.scores == {"recall": 1.0}


@component
class Tracing:
    """Sets a tracer, as a connector to a tracing service does when it is made."""

    @component.output_types(query=str)
    def run(self, query: str) -> dict[str, Any]:
        """
        Set it.

        :param query: The question.
        :returns: The same.
        """
        if "Question 1:" in query:
            enable_tracing(NullTracer())
        return {"query": query}


def test_a_pipeline_that_sets_a_tracer_loses_no_other_question() -> None:
    pipeline = made({"trace": Tracing(), "bm25": retriever()}, ("trace.query", "bm25.query"))
    before = tracer.actual_tracer
    try:
        records = ask(pipeline, 4, concurrency=1)
    finally:
        enable_tracing(before)
    assert [record["documents"] is None for record in records] == [False, True, False, False]
    assert [record["status"] for record in records] == ["ok"] * 4
    assert dataset_of_records(dataset(4), records).rows[1]["documents"] is None
