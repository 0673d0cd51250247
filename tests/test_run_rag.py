# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole way in Python: evaluators in every form, stages, judges for the time of a run, runs that are replaced."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import MockChatGenerator

from haystack_eval_ext import AnswerTokenF1Evaluator, DocumentRecallEvaluator, FaithfulnessEvaluator, JudgePolicy
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.api import ComparisonError, JudgeSettings
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import EvaluationError
from rag_pipelines import SECRET, dataset, hybrid, rag, reply


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
    assert SECRET not in (out / "manifest.json").read_text("utf-8") + (out / "scores.jsonl").read_text("utf-8")
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
    assert json.loads((tmp_path / "run" / "manifest.json").read_text("utf-8"))["diagnoses"]["diagnosis"]["labels"]
