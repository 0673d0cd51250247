# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Small runs for the tests of run records, with a judge that needs no model."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.core.serialization import default_to_dict
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import AnswerExactMatchEvaluator, DocumentRankingEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import Evaluation, evaluate_pipeline
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.run import EvaluationRun

# In every text, so that none can stay behind unseen.
SECRET = "SECRET"  # noqa: S105


def working_folder(made: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with links to what was made once the current one, for commands of a default width."""
    for entry in made.iterdir():
        (folder / entry.name).symlink_to(entry)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    return folder


def rows(count: int = 12, *, wrong: int = 3) -> list[dict[str, Any]]:
    """Questions of which the first few find and answer nothing right."""
    return [
        {
            "id": f"q{number}",
            "question": f"{SECRET} question {number}?",
            "answer": f"{SECRET} {'no' if number < wrong else 'yes'}",
            "reference_answer": f"{SECRET} yes",
            "documents": [Document(id="b", content=f"{SECRET} b"), Document(id="a", content=f"{SECRET} a")]
            if number >= wrong
            else [Document(id="b", content=f"{SECRET} b", meta={"page": number})],
            "relevant_documents": [Document(id="a", content=f"{SECRET} a", score=1.0)],
            "tags": ["lang:en" if number % 2 else "lang:de"],
            "cluster": f"c{number // 2}",
            "trace": f"{SECRET} trace {number}",
            "human": number % 2,
        }
        for number in range(count)
    ]


def data(count: int = 12, *, wrong: int = 3) -> Dataset:
    """The rows as data."""
    return Dataset("some/questions.jsonl", rows(count, wrong=wrong))


def evaluators(*, top_k: int | None = None) -> dict[str, Any]:
    """Evaluators without a judge."""
    return {
        "recall": DocumentRecallEvaluator(document_comparison_field="id", top_k=top_k),
        "ranking": DocumentRankingEvaluator(["RR", "P@1"], document_comparison_field="id"),
        "exact": AnswerExactMatchEvaluator(),
    }


@component
class Generator:
    """A chat generator that is never asked."""

    def __init__(self, model: str = "some-model", temperature: float = 0.0) -> None:
        self.model = model
        self.generation_kwargs = {"temperature": temperature}

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, model=self.model, generation_kwargs=self.generation_kwargs)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        raise NotImplementedError


@component
class Judge:
    """
    Scores answers by a list of numbers; None is a row that could not be judged. From 0 to 1, lower is better.

    It has what the judged evaluators have.
    """

    def __init__(self, given: list[float | None], version: str = "1.1", **generator: Any) -> None:
        self.given = given
        self.policy = SimpleNamespace(votes=1, structured_output="auto")
        self.chat_generator = Generator(**generator)
        self._prompt = SimpleNamespace(name="politeness.en", version=version)

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, examples=[{"inputs": {"answer": f"{SECRET} example"}}], threshold=0.5)

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(self, predicted_answers: list[str]) -> dict[str, Any]:
        scores = [math.nan if score is None else score for score in self.given[: len(predicted_answers)]]
        statuses = ["error" if score is None else "scored" for score in self.given[: len(predicted_answers)]]
        return {"score": math.nan, "individual_scores": scores, "statuses": statuses}


def judged(
    given: list[float | None], *, replied: str | None = "model-2026", name: str = "judged", **made: Any
) -> EvaluationRun:
    """A run with a judge whose replies named a model."""
    pipeline = Pipeline()
    pipeline.add_component("polite", Judge(given, **made))
    dataset = data(len(given))
    evaluation = evaluate_pipeline(pipeline, dataset)
    models = {} if replied is None else {replied: len(given)}
    set_account(evaluation, {"polite": {"calls": len(given), "cost": None, "models": models}})
    return make_run(evaluation, dataset, pipeline, name=name)


def set_account(evaluation: Evaluation, usage: dict[str, Any]) -> None:
    """Give an evaluation what its judges spent, and why rows failed."""
    object.__setattr__(evaluation, "usage", usage)
    object.__setattr__(evaluation, "errors", {name: {"q0": "the service answered 503"} for name in usage})


def contents(folder: Path) -> str:
    """Everything that the files of a folder hold."""
    return "".join(path.read_text("utf-8") for path in sorted(folder.rglob("*")) if path.is_file())


def same(one: EvaluationRun, two: EvaluationRun) -> bool:
    """Whether two runs are equal; NaN equals NaN."""
    parts = [
        (run.manifest, run.rows, {name: repr(metric) for name, metric in run.metrics.items()}) for run in (one, two)
    ]
    return parts[0] == parts[1]
