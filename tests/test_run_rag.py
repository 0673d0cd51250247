# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole way in Python: evaluators in every form, stages, judges for the time of a run, runs that are replaced."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.embedders import MockDocumentEmbedder
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import (
    AnswerRelevancyEvaluator,
    AnswerTokenF1Evaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
    FaithfulnessEvaluator,
    JudgePolicy,
)
from haystack_eval_ext.errors import ComparisonError, EvaluationError, HarnessError, TargetError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs import rag as rag_module
from haystack_eval_ext.runs._corpus import corpus_of
from haystack_eval_ext.runs._evaluators import opened
from haystack_eval_ext.runs._run_exports import escaped, stage_note
from haystack_eval_ext.runs._stores import searched_stores
from haystack_eval_ext.runs.api import JudgeSettings
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.indexing import check_stores
from haystack_eval_ext.runs.targets import as_target
from rag_pipelines import SECRET, Sleeper, dataset, filled_store, hybrid, indexing, rag, reply


def recall() -> dict[str, Any]:
    return {"recall": DocumentRecallEvaluator("multi_hit", "id")}


def counting() -> tuple[Pipeline, list[str]]:
    """A RAG pipeline, and what was asked."""
    asked: list[str] = []

    def answer(messages: list[Any]) -> str:
        text = reply(messages)
        asked.append(text)
        return text

    return rag(MockChatGenerator(response_fn=answer)), asked


def test_evaluators_in_every_form_give_the_same(tmp_path: Path) -> None:
    pipeline = Pipeline()
    for name, each in recall().items():
        pipeline.add_component(name, each)
    (tmp_path / "eval.yaml").write_text(pipeline.dumps(), encoding="utf-8")
    components = recall()
    forms: list[Any] = [pipeline, tmp_path / "eval.yaml", components, components]
    runs = [api.run_rag(form, dataset(20), hybrid(), progress=False) for form in forms]
    assert all(run.scores == runs[0].scores for run in runs)
    assert {name.rpartition("/")[0] for name in runs[0].scores} == {"", "dense", "bm25", "join", "ranker"}
    assert runs[0].scores["recall"] == runs[0].scores["ranker/recall"]
    assert "answer" in api.run_rag("rag_diagnosis", dataset(5), rag(), progress=False).scores


def test_a_judge_is_limited_for_the_time_of_a_run(tmp_path: Path) -> None:
    judge = MockChatGenerator('{"statements": ["s"], "verdicts": {"s1": 1}}')
    policy = JudgePolicy(max_calls=1000)
    faithful = FaithfulnessEvaluator(chat_generator=MockChatGenerator("no JSON"), policy=policy, raise_on_failure=True)
    settings = JudgeSettings(generator=judge, max_calls=3, progress_bar=False)
    run = api.run_rag({"faithful": faithful}, dataset(6), rag(), judge=settings, progress=False)
    statuses = run.metrics["faithful"].statuses
    assert statuses.count("scored") >= 1
    assert statuses.count("not_run") + statuses.count("error") >= 1
    assert run.manifest["usage"]["faithful"]["calls"] == 3
    assert (faithful.policy, faithful.raise_on_failure, faithful.budget) == (policy, True, None)
    assert faithful.chat_generator is not judge
    # Without settings the judge is the evaluator's own, and a row that it fails on costs no other.
    alone = api.run_rag({"faithful": faithful}, dataset(3), rag(), progress=False)
    assert set(alone.metrics["faithful"].statuses) == {"error"}
    with pytest.raises(EvaluationError, match="No component of the pipeline asks a judge"):
        api.run_rag(recall(), dataset(3), rag(), judge=settings)


def test_what_cannot_be_scored_costs_no_question(tmp_path: Path) -> None:
    pipeline, asked = counting()
    bare = Dataset("bare.jsonl", [{"id": row["id"], "question": row["question"]} for row in dataset(5).rows])
    with pytest.raises(EvaluationError, match="relevant_documents"):
        api.run_rag(recall(), bare, pipeline, out=tmp_path / "run", progress=False)
    assert asked == []
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_replaced_by_new_answers(tmp_path: Path) -> None:
    pipeline, asked = counting()
    out = tmp_path / "run"
    evaluators = {"f1": AnswerTokenF1Evaluator()}
    api.run_rag(evaluators, dataset(5), pipeline, out=out, progress=False)
    with pytest.raises(api.RunFileError, match="holds a run already"):
        api.run_rag(evaluators, dataset(5), pipeline, out=out, progress=False)
    assert len(asked) == 5
    api.run_rag(evaluators, dataset(5), pipeline, out=out, replace_run=True, progress=False)
    assert len(asked) == 10
    # Another pipeline as well: the run that was there is replaced, not gone on with.
    run = api.run_rag(evaluators, dataset(4), hybrid(), out=out, replace_run=True, progress=False)
    assert api.load_run(out).ids == run.ids == [f"q{number}" for number in range(4)]


def test_failed_questions_of_a_finished_run_are_asked_again(tmp_path: Path) -> None:
    broken = [True]
    asked: list[str] = []

    def answer(messages: list[Any]) -> str:
        text = reply(messages)
        asked.append(text)
        if broken and "Question 2:" in text:
            raise RuntimeError(SECRET)
        return text

    pipeline, out = rag(MockChatGenerator(response_fn=answer)), tmp_path / "run"
    evaluators = {"f1": AnswerTokenF1Evaluator()}
    first = api.run_rag(evaluators, dataset(4), pipeline, out=out, progress=False)
    assert first.metrics["f1"].statuses == ["scored", "scored", "error", "scored"]
    assert SECRET not in (out / "manifest.json").read_text("utf-8")
    assert (out / "scores.jsonl").read_text("utf-8").count(f"RuntimeError in llm: {SECRET}.") == 1
    broken.clear()
    asked.clear()
    again = api.run_rag(evaluators, dataset(4), pipeline, out=out, replace_run=True, retry_failed=True, progress=False)
    assert again.metrics["f1"].statuses == ["scored"] * 4
    assert len(asked) == 1


def test_two_runs_are_judged_anew(tmp_path: Path) -> None:
    base = api.run_rag({"f1": AnswerTokenF1Evaluator()}, dataset(8), hybrid(), name="base", progress=False)
    new = api.run_rag(
        {"f1": AnswerTokenF1Evaluator(normalization="unicode"), **recall()},
        dataset(8),
        rag(),
        name="new",
        progress=False,
    )
    with pytest.raises(ComparisonError, match="normalization"):
        api.compare(base, new)
    found = api.compare(base, new, rejudge=True)
    assert list(found.metrics) == ["f1", "recall"]
    assert found.metrics["recall"].base.estimate.mean == base_recall(base)
    assert "scored anew with the evaluation pipeline of 'new'" in found.notes[0]
    with pytest.raises(ComparisonError, match="'base' was kept without them"):
        api.compare(base.without_texts(), new, rejudge=True)
    with pytest.raises(ValueError, match="judge is for rejudge=True"):
        api.compare(base, new, judge=JudgeSettings())
    with pytest.raises(ValueError, match="mapping is for rejudge=True"):
        api.compare(base, new, mapping={})


@pytest.fixture(scope="module")
def judged() -> tuple[api.EvaluationRun, api.EvaluationRun]:
    """Two runs with a judge in their pipeline: eight questions, and the first six of them."""
    judge = MockChatGenerator('{"statements": ["s"], "verdicts": {"s1": 1}}')
    evaluators = {"faithful": FaithfulnessEvaluator(chat_generator=judge)}
    settings = JudgeSettings(progress_bar=False)
    rows = [row | {"tags": ["short"]} for row in dataset(8).rows]
    data = [Dataset("questions", rows[:count]) for count in (8, 6)]
    base, new = (api.run_rag(evaluators, each, rag(), judge=settings, progress=False) for each in data)
    return base, new


def counted_judge() -> tuple[JudgeSettings, list[Any]]:
    """A judge, and what it was asked."""
    asked: list[Any] = []

    def answer(messages: list[Any]) -> str:
        asked.append(messages)
        return '{"statements": ["s"], "verdicts": {"s1": 1}}'

    return JudgeSettings(generator=MockChatGenerator(response_fn=answer), progress_bar=False), asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "2 of 8 in .* are not in"),
        ({"common": True, "unpaired": True}, "exclude each other"),
        ({"common": True, "by": "lang"}, "by must name tags of the rows, but 'lang' is none"),
        ({"common": True, "confidence": 95}, "confidence must lie between"),
        ({"common": True, "power": 80}, "power must be at least"),
        ({"common": True, "margins": {"faithfl": 0.1}}, "margins must name metrics .*nearest: 'faithful'"),
        ({"common": True, "margins": {"faithful": 0}}, "margins must be above 0"),
        ({"common": True, "mapping": {"faithful.contexts": "absent"}}, "absent"),
        ({"unpaired": True, "by": "lang"}, "by must name tags of the rows, but 'lang' is none"),
    ],
)
def test_nothing_is_judged_anew_before_the_input_is_right(judged: Any, options: dict[str, Any], message: str) -> None:
    settings, asked = counted_judge()
    with pytest.raises(ValueError, match=message):
        api.compare(*judged, rejudge=True, judge=settings, **options)
    assert not asked


def test_no_run_is_judged_anew_where_the_other_cannot_be(judged: Any) -> None:
    settings, asked = counted_judge()
    base = judged[0]
    without = [{name: value for name, value in row.items() if name != "question"} for row in judged[1].rows]
    with pytest.raises(EvaluationError, match="question"):
        api.compare(base, replace(judged[1], rows=without), common=True, rejudge=True, judge=settings)
    fault = {"status": "error", "error": {"component": None, "class": "E", "reason": "m"}}
    failed = replace(judged[1], rows=[row | fault for row in judged[1].rows])
    with pytest.raises(EvaluationError, match=r"Every question of .* failed"):
        api.compare(base, failed, common=True, rejudge=True, judge=settings)
    assert not asked


def test_a_right_comparison_is_judged_anew(judged: Any) -> None:
    settings, asked = counted_judge()
    found = api.compare(*judged, rejudge=True, judge=settings, common=True, by="short", margins={"faithful": 0.1})
    assert asked
    assert (found.rows, list(found.slices)) == (6, ["short"])


def test_stages_are_scored_by_evaluators_that_no_yaml_can_hold() -> None:
    @component
    class Count:
        def __init__(self) -> None:
            self.function = len

        def to_dict(self) -> dict[str, Any]:
            raise NotImplementedError

        @component.output_types(score=float, individual_scores=list[float])
        def run(
            self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
        ) -> dict[str, Any]:
            counts = [float(self.function(documents)) for documents in retrieved_documents]
            return {"score": sum(counts) / len(ground_truth_documents), "individual_scores": counts}

    count = Count()
    for _ in range(2):  # the component is the caller's, and free again
        run = api.run_rag({"count": count}, dataset(4), hybrid(), progress=False)
        assert (run.scores["dense/count"], run.scores["ranker/count"], run.scores["count"]) == (6.0, 3.0, 3.0)


# --- what questions and stages lack --------------------------------------------------------------------------------


def test_a_sample_is_the_same_questions_when_it_is_scored_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"sample": 5, "progress": False}
    run = api.run_rag(recall(), dataset(30), rag(), out=tmp_path / "run", **options)
    again = api.evaluate(recall(), tmp_path / "run", name="again")
    assert run.manifest["data"] == again.manifest["data"]
    assert run.manifest["data"]["questions"] == len(run.ids) == 5
    assert api.compare(run, again).metrics["recall"].difference.mean == 0
    other = api.run_rag(recall(), dataset(30), rag(), seed=1, name="other", **options)
    with pytest.raises(ComparisonError, match="uestions"):
        api.compare(run, other)
    # The same questions with another label are other data, those that were not asked are none.
    rows = [row | {"relevant_documents": [Document(id="else")]} for row in dataset(30).rows]
    asked, others = set(run.ids), dataset(30).rows
    for relabelled, equal in ((asked, False), (set(dataset(30).ids) - asked, True)):
        mixed = [new if new["id"] in relabelled else old for new, old in zip(rows, others, strict=True)]
        found = api.run_rag(recall(), Dataset("questions.jsonl", mixed), rag(), **options)
        assert (found.manifest["data"] == run.manifest["data"]) == equal


def test_questions_that_failed_are_in_the_diagnosis(tmp_path: Path) -> None:
    run = api.run_rag("rag_diagnosis", dataset(10, failing=(1, 2, 3, 4)), rag(), out=tmp_path / "run", progress=False)
    for each in (run, api.evaluate("rag_diagnosis", tmp_path / "run")):
        found = each.manifest["diagnoses"]["diagnosis"]
        assert (sum(found["counts"].values()), found["counts"]["unknown"]) == (10, 4)
        assert list(found["labels"]) == list(found["reasons"]) == run.ids
        assert found["labels"]["q3"] == "unknown"
        assert found["reasons"]["q3"].startswith("no diagnosis: the question failed with RuntimeError in llm")
        assert SECRET not in str(found)
        assert found["labels"]["q5"] != "unknown"


@component
class Web:
    """Searches elsewhere: its documents have no file."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        """
        Search.

        :param query: The query.
        :returns: One document.
        """
        return {"documents": [Document(id="web", content=query)]}


def test_a_stage_that_cannot_be_scored_costs_no_other_score(tmp_path: Path) -> None:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=f"topic{n}", meta={"file": f"f{n}"}) for n in range(3)])
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=3))
    pipeline.add_component("web", Web())
    pipeline.add_component("join", DocumentJoiner())
    pipeline.connect("bm25", "join.documents")
    pipeline.connect("web", "join.documents")
    rows = [{"id": "q", "question": "topic1", "relevant_documents": [Document(meta={"file": "f1"})]}]
    evaluators = {
        "recall": DocumentRecallEvaluator("multi_hit", "meta.file"),
        "ranking": DocumentRankingEvaluator(["RR", "R@5"], document_comparison_field="meta.file"),
    }
    run = api.run_rag(evaluators, Dataset("x", rows), pipeline, out=tmp_path / "run", progress=False)
    assert {name for name, metric in run.metrics.items() if metric.statuses == ["not_run"]} == {
        "web/recall",
        "web/ranking.RR",
        "web/ranking.R@5",
    }
    assert run.scores["join/recall"] == run.scores["bm25/recall"] == run.scores["recall"] == 1.0
    notes = run.manifest["warnings"]
    failed = [note.split(". ")[0] for note in notes if "was not run" in note]
    assert failed == [f"Stage web: {name} was not run" for name in evaluators]
    assert api.load_run(tmp_path / "run").manifest["warnings"] == notes


def test_a_stage_that_only_unanswerable_questions_reach_is_not_run() -> None:
    @component
    class Router:
        @component.output_types(search=str, web=str)
        def run(self, query: str) -> dict[str, Any]:
            return {"web" if "web" in query else "search": query}

    pipeline = Pipeline()
    pipeline.add_component("router", Router())
    pipeline.add_component("bm25", InMemoryBM25Retriever(filled_store(), top_k=3))
    pipeline.add_component("web", Web())
    pipeline.connect("router.search", "bm25.query")
    pipeline.connect("router.web", "web.query")
    rows = [
        {"id": "1", "question": "topic1", "relevant_documents": [Document(id="d1")], "answerable": True},
        {"id": "2", "question": "web", "relevant_documents": [], "answerable": False},
    ]
    run = api.run_rag(recall(), Dataset("x", rows), pipeline, progress=False)
    assert run.metrics["web/recall"].statuses == ["not_run", "not_run"]
    assert run.scores["bm25/recall"] == 1.0
    assert run.manifest["warnings"][0].startswith("Stage web: recall was not run")


@pytest.mark.parametrize("evaluators", ["rag_diagnosis", "both"])
def test_when_every_answerable_question_failed_the_others_are_scored(evaluators: Any) -> None:
    def answer(question: str) -> dict[str, Any]:
        if "fail" in question:
            raise ConnectionError
        return {"answer": "x", "documents": ["d1"]}

    rows = [
        {"id": "1", "question": "fail", "relevant_documents": [Document(id="d1")], "answerable": True},
        {"id": "2", "question": "two", "relevant_documents": [], "answerable": False},
    ]
    data = Dataset("x", [row | {"reference_answer": "x"} for row in rows])
    if evaluators == "both":
        evaluators = {**recall(), "answer": AnswerTokenF1Evaluator()}
    run = api.run_rag(evaluators, data, answer, progress=False)
    assert run.metrics["recall"].statuses == ["error", "not_run"]
    assert run.metrics["answer"].statuses == ["error", "scored"]
    assert run.manifest["unanswerable"] == ["2"]


def test_warnings_of_a_stage_name_it() -> None:
    graded = [row | {"relevant_documents": [Document(id="d1", score=0.37)]} for row in dataset(2).rows]
    run = api.run_rag(recall(), Dataset("x", graded), hybrid(), progress=False)
    told = "recall: 2 of 2 grades in 'score' of ground_truth_documents are fractions"
    for stage in ("", "Stage bm25: ", "Stage dense: ", "Stage join: ", "Stage ranker: "):
        assert [warning.startswith(stage + told) for warning in run.manifest["warnings"]].count(True) == 1


def test_what_another_thread_logs_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    @component
    class Meanwhile:
        @component.output_types(score=float, individual_scores=list[float])
        def run(
            self, ground_truth_documents: list[list[Document]], retrieved_documents: list[list[Document]]
        ) -> dict[str, Any]:
            other = threading.Thread(target=logging.getLogger("theirs").warning, args=("disk almost full",))
            other.start()
            other.join()
            return {
                "score": 1.0,
                "individual_scores": [1.0 for _ in zip(ground_truth_documents, retrieved_documents, strict=True)],
            }

    with caplog.at_level(logging.WARNING):
        api.run_rag({"meanwhile": Meanwhile()}, dataset(2), hybrid(), progress=False)
    assert {record.getMessage() for record in caplog.records if record.name == "theirs"} == {"disk almost full"}


def test_what_a_stage_says_of_its_rows_is_kept_once(caplog: pytest.LogCaptureFixture) -> None:
    rows = [row | ({"relevant_documents": []} if not number else {}) for number, row in enumerate(dataset(3).rows)]
    with caplog.at_level(logging.WARNING):
        run = api.run_rag(recall(), Dataset("x", rows), hybrid(), progress=False)
    told = f"recall: 1 of 3 rows are undefined (no relevant documents): row {run.ids[0]}. They count as 0"
    for stage in ("", "Stage bm25: ", "Stage dense: ", "Stage join: ", "Stage ranker: "):
        for found in (run.manifest["warnings"], [record.getMessage() for record in caplog.records]):
            assert [message.startswith(stage + told) for message in found].count(True) == 1, stage


# --- several answers -----------------------------------------------------------------------------------------------


def changing(fails: Any) -> Any:
    """A function that finds the document with its second answer alone, and fails when told."""
    times: dict[str, int] = {}

    def answer(question: str) -> dict[str, Any]:
        times[question] = times.get(question, 0) + 1
        if fails(question, times[question]):
            raise ConnectionError
        return {"answer": f"topic{times[question]}", "documents": ["d0" if times[question] == 2 else "none"]}

    return answer


def test_a_document_that_one_of_several_answers_retrieved_is_no_dead_one(tmp_path: Path) -> None:
    evaluators = {
        "ranking": DocumentRankingEvaluator(["R@5"], document_comparison_field="id", find_never_retrieved=True)
    }
    run = api.run_rag(
        evaluators,
        dataset(2),
        changing(lambda *_: False),
        repeats=2,
        concurrency=1,
        progress=False,
        out=tmp_path / "run",
    )
    assert run.manifest["never_retrieved"] == {"ranking": ["d1"]}
    # 0 and 1: a variance of 1/2 within the first question, none within the second.
    assert run.manifest["spread"] == {"ranking.R@5": pytest.approx(0.5)}
    assert json.loads(api.load_run(tmp_path / "run").to_json())["spread"] == run.manifest["spread"]
    assert api.evaluate(evaluators, tmp_path / "run").manifest["spread"] == run.manifest["spread"]
    assert "spread" not in api.run_rag(evaluators, dataset(2), rag(), progress=False).manifest


def test_the_failed_share_of_a_question_bounds_the_gate() -> None:
    target = changing(lambda question, time: time > 1 and "Question 1:" in question)
    run = api.run_rag({"f1": AnswerTokenF1Evaluator()}, dataset(4), target, repeats=3, concurrency=1, progress=False)
    assert run.questions["f1"].statuses == ["scored"] * 4
    assert list(run.scored().metrics["f1"].failed or ()) == pytest.approx([0, 2 / 3, 0, 0])
    assert "1 of them in part" in api.check(run, ["f1 < 0.9"])[0].reason
    assert "| f1 |" in run.to_markdown()


# --- the record ----------------------------------------------------------------------------------------------------


def test_what_decided_the_answers_is_in_the_record(tmp_path: Path) -> None:
    index = str(tmp_path)  # the stores of one process are shared by name
    (tmp_path / "documents").mkdir()
    for number in range(3):
        (tmp_path / "documents" / f"{number}.txt").write_text(f"topic{number}", encoding="utf-8")
    (tmp_path / "index.yaml").write_text(indexing(index).dumps(), encoding="utf-8")
    (tmp_path / "rag.yaml").write_text(rag(Sleeper(0.0), filled_store(index)).dumps(), encoding="utf-8")
    InMemoryDocumentStore(index=index).delete_all_documents()
    options: dict[str, Any] = {
        "sample": 3,
        "stratify": "tag",
        "retrieved": "bm25",
        "sections": {"outputs": {"answers": ["llm.replies"]}},
        "prices": {"*": {"input": 1.0, "output": 2.0}},
    }
    run = api.run_rag(
        {"f1": AnswerTokenF1Evaluator()},
        dataset(6),
        tmp_path / "rag.yaml",
        index=tmp_path / "index.yaml",
        documents=tmp_path / "documents",
        out=tmp_path / "run",
        progress=False,
        **options,
    )
    settings = run.manifest["settings"]
    assert (settings["stratify"], settings["retrieved"], settings["mapping"]) == ("tag", "bm25", options["sections"])
    assert "TextFileToDocument" in run.manifest["pipelines"]["index"]
    assert {name: found["number"] for name, found in run.manifest["corpus"].items()} == {"files": 3, "documents": 3}
    usage = run.manifest["rag_usage"]
    assert usage["tokens"]["sleeper"]["prompt"] == sum(row["tokens"]["sleeper"]["prompt"] for row in run.rows) > 0
    assert usage["cost"] == pytest.approx(sum(row["cost"] for row in run.rows))
    assert usage["components"]["llm"]["calls"] == 3
    assert usage["seconds"] == pytest.approx(sum(row["seconds"] for row in run.rows))
    # Stored answers keep what they were made with; without texts only the pipelines go.
    again = api.evaluate({"f1": AnswerTokenF1Evaluator()}, tmp_path / "run")
    bare = run.without_texts()
    for name in ("corpus", "rag_usage"):
        assert again.manifest[name] == bare.manifest[name] == run.manifest[name]
    assert bare.manifest["settings"] == settings
    assert bare.manifest["pipelines"] == {}
    (tmp_path / "documents" / "0.txt").write_text("changed", encoding="utf-8")
    assert corpus_of(as_target(rag()), tmp_path / "documents")["files"] != run.manifest["corpus"]["files"]


def test_a_stage_and_the_metric_of_the_evaluation_are_told_apart() -> None:
    """Where a question failed behind a stage, that stage has its ranking; the metrics of the answers leave it out."""
    run = api.run_rag(recall(), dataset(12, failing=(3,)), hybrid(), progress=False)
    of_all, of_stage = (run.questions[name] for name in ("recall", "ranker/recall"))
    assert (of_all.left_out, of_stage.left_out) == (1, 0)
    (note,) = stage_note(run)
    assert note.startswith(
        "STAGE/METRIC counts the ranking of a stage also where something behind it failed (1 answer)"
    )
    assert escaped(note) in run.to_markdown()
    assert stage_note(api.run_rag(recall(), dataset(4), hybrid(), progress=False)) == []


@component
class Barred:
    """A metric with a progress bar."""

    def __init__(self, progress_bar: bool = True) -> None:
        self.progress_bar = progress_bar
        self.shown: list[bool] = []

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, predicted_answers: list[str]) -> dict[str, Any]:
        self.shown.append(self.progress_bar)
        return {"score": 1.0, "individual_scores": [1.0] * len(predicted_answers)}


def test_progress_is_shown_or_not_in_every_verb() -> None:
    bars, judge = Barred(), JudgeSettings(generator=MockChatGenerator("no JSON"), progress_bar=False)
    rows = [{"id": "q", "question": "topic1", "answer": "a", "contexts": ["a"]}]
    faithful = FaithfulnessEvaluator(chat_generator=MockChatGenerator("no JSON"), raise_on_failure=True)
    for progress in (True, False):
        api.evaluate({"bars": bars}, rows, progress=progress)
        api.run_rag({"bars": bars}, rows, rag(), progress=progress)
    api.evaluate({"bars": bars, "faithful": faithful}, rows, judge=judge, progress=False)
    assert bars.shown == [True, True, False, False, False]
    # Afterwards everything is as it was.
    assert (bars.progress_bar, faithful.progress_bar) == (True, True)


def two_retrievers(*stores: InMemoryDocumentStore) -> Pipeline:
    pipeline = Pipeline()
    for name, store in zip(("one", "two"), stores, strict=True):
        pipeline.add_component(name, InMemoryBM25Retriever(store))
    return pipeline


def test_a_corpus_that_two_retrievers_share_counts_once() -> None:
    """By what is shared: in-memory stores of one index, or one instance; equal documents elsewhere are others."""
    alone = Pipeline()
    alone.add_component("one", InMemoryBM25Retriever(filled_store("shared-corpus")))
    once = corpus_of(as_target(alone))["documents"]
    both = two_retrievers(filled_store("shared-corpus"), InMemoryDocumentStore(index="shared-corpus"))
    loaded = Pipeline.loads(both.dumps())
    store = filled_store()
    for pipeline in (both, loaded, two_retrievers(store, store)):
        assert corpus_of(as_target(pipeline))["documents"] == once
        assert len(searched_stores(pipeline)) == 1
        assert check_stores(as_target(pipeline)) == once["number"]
    apart = corpus_of(as_target(two_retrievers(filled_store("shared-corpus"), filled_store("another-corpus"))))
    assert apart["documents"]["number"] == 2 * once["number"]


# --- order ---------------------------------------------------------------------------------------------------------


def nothing_filled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    filled: list[Any] = []
    monkeypatch.setattr(rag_module, "fill_store", lambda *given: filled.append(given))
    return filled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": -1}, "timeout must be"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"prices": {"m": 3}}, "prices must give"),
        ({"sections": {"input": {}}}, "sections must be"),
        ({"out": "finished"}, "holds a run already"),
        ({"data": "absent.jsonl"}, "absent.jsonl: cannot be read"),
        ({"evaluators": {"a": 3}}, "'a' cannot be used"),
        ({"rag": "absent.yaml"}, "absent.yaml"),
        ({"retrieved": "bm52"}, "no stage 'bm52'"),
        ({"stratify": "tagz", "sample": 1}, "no column 'tagz'"),
        ({"mapping": {"f1.predicted_answers": "nothing"}}, "nothing"),
        ({"evaluators": {"faithful": FaithfulnessEvaluator()}}, "could not be prepared.*OPENAI_API_KEY"),
        ({"documents": None}, "index and documents belong together"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, dict) else given,
)
def test_what_is_wrong_is_said_before_the_store_is_filled(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    api.evaluate({"f1": AnswerTokenF1Evaluator()}, Dataset("x", [answered()]), out="finished")
    filled = nothing_filled(monkeypatch)
    pipeline, asked = counting()
    given: dict[str, Any] = {
        "evaluators": {"f1": AnswerTokenF1Evaluator()},
        "data": dataset(3),
        "rag": pipeline,
        "index": "index.yaml",
        "documents": "documents",
        "progress": False,
    }
    with pytest.raises((ValueError, TypeError), match=message):
        api.run_rag(**given | options)
    assert (filled, asked) == ([], [])
    assert {path.name for path in tmp_path.iterdir()} == {"finished"}


def test_what_is_wrong_first_is_said_first(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {
        "timeout": -1,
        "out": tmp_path / "file",
        "data": "absent.jsonl",
        "evaluators": {"a": 3},
        "rag": "absent.yaml",
    }
    (tmp_path / "file").touch()
    right = {"timeout": 1, "out": None, "data": dataset(3), "evaluators": recall(), "rag": rag()}
    for name, message in {
        "timeout": "timeout must be",
        "out": "is a file",
        "data": "cannot be read",
        "evaluators": "'a' cannot be used",
        "rag": "absent.yaml",
    }.items():
        with pytest.raises(ValueError, match=message):
            api.run_rag(**wrong, progress=False)
        wrong[name] = right[name]


def test_judges_are_prepared_before_stored_answers_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    first = MockChatGenerator('{"statements": ["s"], "verdicts": {"s1": 1}}')
    asked: list[Any] = []
    monkeypatch.setattr(first, "run", lambda *args, **_: asked.append(args))
    evaluators = {"one": FaithfulnessEvaluator(chat_generator=first), "two": FaithfulnessEvaluator()}
    with pytest.raises(EvaluationError, match="two: The chat generator could not be prepared"):
        api.evaluate(evaluators, Dataset("x", [answered()]))
    assert asked == []


def test_the_callers_own_judges_come_back(tmp_path: Path) -> None:
    mine, other = MockDocumentEmbedder(dimension=4), MockDocumentEmbedder(dimension=8)
    relevancy = AnswerRelevancyEvaluator(chat_generator=MockChatGenerator("x"), embedder=mine, progress_bar=True)
    before = {name: getattr(relevancy, name) for name in vars(relevancy)}
    with opened({"relevancy": relevancy}, JudgeSettings(embedder=other, max_calls=3, progress_bar=False)):
        assert relevancy.embedder is other
        assert not relevancy.progress_bar
    assert {name: getattr(relevancy, name) for name in before} == before
    assert relevancy.embedder is mine
    # Settings that contradict each other change no judge, not even the first.
    offline = FaithfulnessEvaluator(chat_generator=MockChatGenerator("x"), policy=JudgePolicy(cache_path="x.sqlite"))
    bare = FaithfulnessEvaluator(chat_generator=MockChatGenerator("x"))
    kept = offline.policy
    with (
        pytest.raises(EvaluationError, match="two: "),
        opened({"one": offline, "two": bare}, JudgeSettings(offline=True)),
    ):
        pass
    assert offline.policy is kept


def answered() -> dict[str, Any]:
    return {"id": "a", "question": "q", "answer": "b", "reference_answer": "b", "contexts": ["c"]}


def base_recall(run: api.EvaluationRun) -> float:
    """The share of questions whose document came, counted by hand: each has one."""
    found = [
        row["relevant_documents"][0]["id"] in [document["id"] for document in row["documents"]] for row in run.rows
    ]
    return sum(found) / len(found)


def test_a_run_without_texts_holds_none(tmp_path: Path) -> None:
    run = api.run_rag("rag_diagnosis", dataset(6), hybrid(), out=tmp_path / "run", texts=False, progress=False)
    assert not run.has_texts
    kept = "".join(path.read_text("utf-8") for path in (tmp_path / "run").iterdir())
    assert "topic" not in kept
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"manifest.json", "rows.jsonl", "scores.jsonl"}
    assert "topic" in api.run_rag("rag_diagnosis", dataset(6), hybrid(), progress=False).to_json()  # the test can fail
    assert json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["diagnoses"]["diagnosis"]["labels"]


def test_the_first_questions_alone_are_asked(tmp_path: Path) -> None:
    data = dataset(5)
    run = api.run_rag(recall(), data, rag(), limit=2, out=tmp_path / "run", progress=False)
    assert run.ids == data.ids[:2]
    assert run.manifest["settings"]["limit"] == 2
    assert api.run_rag(recall(), data, rag(), limit=4, sample=4, progress=False).ids == data.ids[:4]
    # The same folder goes on with the same questions alone.
    with pytest.raises(HarnessError, match="limit"):
        api.run_rag(
            recall(), data, rag(), limit=3, out=tmp_path / "run", progress=False, replace_run=True, retry_failed=True
        )
    with pytest.raises(ValueError, match="limit must be at least 1, but is 0"):
        api.run_rag(recall(), data, rag(), limit=0, progress=False)


def test_a_function_that_makes_a_pipeline_is_taken_as_by_the_command() -> None:
    data = dataset(3)
    made = api.run_rag(recall(), data, lambda: hybrid(), progress=False)  # noqa: PLW0108 - a user's own function
    assert made.scores == api.run_rag(recall(), data, hybrid(), progress=False).scores
    with pytest.raises(TargetError, match="making the target failed: ZeroDivisionError"):
        api.run_rag(recall(), data, lambda: 1 / 0, progress=False)
