# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs over rows without a reference, and over questions that the corpus does not answer: what is scored and said."""

from __future__ import annotations

import csv
import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.evaluators import AnswerExactMatchEvaluator as StockExactMatch

from haystack_eval_ext import (
    AnswerExactMatchEvaluator,
    AnswerTokenF1Evaluator,
    DocumentRecallEvaluator,
    RAGFailureClassifier,
    UndefinedScore,
)
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import Dataset, open_dataset
from test_cli import call

A = [Document(id="a")]
#: Eight questions with a right answer, and two that nothing answers, one refused in words.
ROWS: list[dict[str, Any]] = [
    *({"id": f"q{n}", "question": f"Q{n}", "reference_answer": "Paris", "answer": "Paris"} for n in range(8)),
    {"id": "u0", "question": "U0", "answerable": False, "answer": "I cannot answer that."},
    {"id": "u1", "question": "U1", "answerable": False, "answer": "Rome"},
]
TOLD = (
    '2 of 10 rows were not run (no reference answer; give one, or "" where an empty answer is right): rows u0, u1. '
    "They are left out of the mean."
)


def with_documents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"documents": A} | ({"relevant_documents": A} if row["id"][0] == "q" else {}) for row in rows]


def test_a_question_that_nothing_answers_costs_no_mean(caplog: pytest.LogCaptureFixture) -> None:
    evaluators = {"f1": AnswerTokenF1Evaluator(), "exact": AnswerExactMatchEvaluator()}
    with caplog.at_level(logging.WARNING):
        run = api.evaluate(evaluators, Dataset("d", ROWS))
    assert run.scores == {"f1": 1.0, "exact": 1.0}
    for metric in run.metrics.values():
        assert metric.statuses == ["scored"] * 8 + ["not_run"] * 2
        assert all(math.isnan(score) for score in metric.scores[8:])
        assert [error is None for error in metric.errors] == [True] * 8 + [False] * 2
    # Both metrics say the same: once, with ids.
    assert run.manifest["warnings"] == [f"f1, exact: {TOLD}"]
    assert [record.getMessage() for record in caplog.records] == [f"f1, exact: {TOLD}"]


@pytest.mark.parametrize("nothing", [{}, {"reference_answer": None}, {"reference_answer": []}], ids=str)
@pytest.mark.parametrize("answerable", [False, True])
def test_whatever_stands_for_no_reference_is_one_thing(nothing: dict[str, Any], answerable: bool) -> None:
    rows = [ROWS[0], {"id": "x", "question": "X", "answer": "", "answerable": answerable} | nothing]
    assert open_dataset(rows).rows[1]["reference_answer"] == []
    for policy in ("zero", "nan", "raise"):
        run = api.evaluate({"f1": AnswerTokenF1Evaluator(on_undefined=policy)}, rows)
        assert (run.scores["f1"], run.metrics["f1"].statuses) == (1.0, ["scored", "not_run"])


@pytest.mark.parametrize("written", ["", [""]])
def test_an_empty_reference_that_is_written_is_one(written: Any) -> None:
    """SQuAD 2's convention, for those who want it."""
    rows = [row | ({"reference_answer": written} if row["id"][0] == "u" else {}) for row in ROWS]
    rows[8]["answer"] = ""
    run = api.evaluate({"f1": AnswerTokenF1Evaluator()}, rows)
    assert run.metrics["f1"].scores[8:] == [1.0, 0.0]
    assert run.scores["f1"] == 0.9
    assert run.manifest["warnings"] == []


def test_without_any_reference_there_is_nothing_to_run() -> None:
    rows = [row | {"reference_answer": []} for row in ROWS]
    with pytest.raises(EvaluationError, match=r"Nothing in the data feeds .*reference_answer"):
        api.evaluate({"f1": AnswerTokenF1Evaluator()}, rows)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_the_command_says_which_rows_have_no_reference(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "rows.jsonl":
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    else:
        with Path(name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["id", "question", "reference_answer", "answer", "answerable"])
            writer.writeheader()
            writer.writerows(ROWS)
    code, stdout, stderr = call("run", "answers", "--data", name, "--out", "kept")
    assert code == 0
    assert stderr.count("were not run") == 1
    assert TOLD in stderr
    for line in stdout.splitlines():
        if line.startswith(("exact_match", "token_f1", "contains")):
            assert line.split()[1:] == ["1.0000", "8", "0", "0", "2"]
    assert "Unanswerable questions (2): nothing says which of them were refused" in stdout
    kept = api.load_run("kept")
    assert any(TOLD in message for message in kept.manifest["warnings"])
    assert kept.scores["token_f1"] == 1.0


@pytest.mark.parametrize("connected", [False, True])
def test_warnings_say_what_this_run_did(connected: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Labels are missing for q7: it counts as 0. The two unanswerable rows are left out, and no line says otherwise."""
    rows = with_documents(ROWS)
    rows[7]["relevant_documents"] = []
    evaluators: Any = "rag_diagnosis" if connected else {"recall": DocumentRecallEvaluator("multi_hit", "id")}
    with caplog.at_level(logging.WARNING):
        run = api.evaluate(evaluators, rows)
    assert run.scores["recall"] == 7 / 8
    told = [record.getMessage() for record in caplog.records if "recall" in record.getMessage()]
    (line,) = told
    assert line.split(": ", 1)[1] == (
        "1 of 10 rows are undefined (no relevant documents): row q7. They count as 0 (on_undefined='zero')."
    )
    assert line in run.manifest["warnings"]


def test_an_error_names_the_row_by_its_id() -> None:
    rows = with_documents(ROWS)
    rows[7]["relevant_documents"] = []
    with pytest.raises(EvaluationError, match=r"row q7\. Correct these rows") as caught:
        api.evaluate({"recall": DocumentRecallEvaluator(document_comparison_field="id", on_undefined="raise")}, rows)
    assert isinstance(caught.value.__cause__, UndefinedScore)
    assert "start at 0" not in str(caught.value)


#: Whether the corpus answers the question, refusal score and status, answer; then the label. None: not connected.
VERDICTS: list[tuple[Any, Any, Any, Any, str]] = [
    (False, 1.0, "scored", "I cannot say.", "correct_refusal"),
    (False, 0.0, "scored", "Rome", "generation_failure_invented"),
    (False, 0.0, "undefined", "", "correct_refusal"),
    (False, 0.0, None, " \n", "correct_refusal"),
    (False, math.nan, "error", "", "correct_refusal"),
    (False, math.nan, "error", "Rome", "unknown"),
    (False, math.nan, "not_run", "Rome", "unknown"),
    (False, math.nan, "undefined", None, "unknown"),
    (False, None, None, "", "correct_refusal"),
    (False, None, None, "I cannot say.", "correct_refusal"),
    (False, 0.0, "scored", "I cannot say.", "generation_failure_invented"),  # the judge goes before the words
    (False, math.nan, "error", "I cannot say.", "unknown"),
    (False, None, None, "Rome", "unknown"),
    (False, None, None, None, "unknown"),
    (True, 1.0, "scored", "I cannot say.", "generation_failure_evasive"),
    (True, 0.0, "undefined", "", "generation_failure_evasive"),
    (True, None, None, "", "generation_failure_evasive"),
    (True, None, None, "Rome", "generation_failure_wrong"),
    (True, None, None, "I cannot say.", "generation_failure_evasive"),
    (True, 0.0, "scored", "I cannot say.", "generation_failure_wrong"),
    (None, 1.0, "scored", None, "generation_failure_evasive"),
]


@pytest.mark.parametrize(("answerable", "refusal", "status", "answer", "label"), VERDICTS)
def test_a_refusal_is_right_or_the_answer_is_invented(
    answerable: Any, refusal: Any, status: Any, answer: Any, label: str
) -> None:
    """Beside it stands a question that passes; that evidence and reference are missing changes nothing."""
    given: dict[str, Any] = {
        "refusal_scores": None if refusal is None else [0.0, refusal],
        "refusal_statuses": None if status is None else ["scored", status],
        "answerable": None if answerable is None else [True, answerable],
        "predicted_answers": None if answer is None else ["Paris", answer],
    }
    outcome = ("undefined", "not_run") if answerable is False else ("scored", "scored")
    result = RAGFailureClassifier().run(
        retrieval_scores=[1.0, 1.0 if answerable is not False else 0.0],
        retrieval_statuses=["scored", outcome[0]],
        answer_scores=[1.0, 0.0 if answerable is not False else math.nan],
        answer_statuses=["scored", outcome[1]],
        **given,
    )
    assert result["labels"] == ["passed", label]
    expected = {"correct_refusal": 1.0, "unknown": math.nan}.get(label, 0.0)
    assert result["individual_scores"] == pytest.approx([1.0, expected], nan_ok=True)
    assert [error is not None for error in result["errors"]] == [False, label == "unknown"]
    assert sum(stage["failed"] for stage in result["stages"]) == (expected == 0.0)
    if answerable is False:
        assert [stage["mean_score"] for stage in result["stages"][::2]] == [1.0, 1.0]
        if refusal is None and label == "unknown":
            assert "give refusal_scores" in result["reasons"][1]
            assert result["statuses"] == ["scored", "not_run"]


def test_the_new_sockets_must_fit() -> None:
    sockets: dict[str, Any] = {
        "answerable": [True, False],
        "predicted_answers": ["a", "b"],
        "retrieval_skipped": [True, False],
    }
    for name, values in sockets.items():
        with pytest.raises(ValueError, match=f"retrieval_scores has 1, {name} has 2"):
            RAGFailureClassifier().run(retrieval_scores=[1.0], **{name: values})
    for name in ("answerable", "retrieval_skipped"):
        with pytest.raises(TypeError, match=rf"{name}\[0\] must be True, False or None"):
            RAGFailureClassifier().run(retrieval_scores=[1.0], **{name: ["no"]})  # type: ignore[arg-type]


@component
class Declines:
    """A refusal metric without a judge."""

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(self, predicted_answers: list[str]) -> dict[str, Any]:
        found = [float("cannot" in answer) for answer in predicted_answers]
        return {"score": sum(found) / len(found), "individual_scores": found, "statuses": ["scored"] * len(found)}


def diagnosing() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("recall", DocumentRecallEvaluator("multi_hit", "id"))
    pipeline.add_component("answer", AnswerTokenF1Evaluator())
    pipeline.add_component("refusal", Declines())
    pipeline.add_component("diagnosis", RAGFailureClassifier())
    for name, socket in {"recall": "retrieval", "answer": "answer", "refusal": "refusal"}.items():
        pipeline.connect(f"{name}.individual_scores", f"diagnosis.{socket}_scores")
        pipeline.connect(f"{name}.statuses", f"diagnosis.{socket}_statuses")
    return pipeline


def test_a_run_shows_both_kinds_of_questions_apart() -> None:
    run = api.evaluate(diagnosing(), with_documents(ROWS))
    assert run.scores == {"recall": 1.0, "answer": 1.0, "refusal": 0.1, "diagnosis": 0.9}
    labels = run.manifest["diagnoses"]["diagnosis"]["labels"]
    assert (labels["u0"], labels["u1"]) == ("correct_refusal", "generation_failure_invented")
    assert run.manifest["answerability"] == {
        "answerable": {
            "questions": 8,
            "scores": {"recall": 1.0, "answer": 1.0, "refusal": 0.0, "diagnosis": 1.0},
            "labels": {"diagnosis": {"passed": 8}},
        },
        "unanswerable": {
            "questions": 2,
            "scores": {"recall": None, "answer": None, "refusal": 0.5, "diagnosis": 0.5},
            "labels": {"diagnosis": {"correct_refusal": 1, "generation_failure_invented": 1}},
        },
    }
    assert api.evaluate(diagnosing(), with_documents(ROWS[:8])).manifest["answerability"] == {}


def test_the_table_shows_both_kinds_of_questions_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [row | {"documents": ["a"]} | ({"relevant_documents": ["a"]} if row["id"][0] == "q" else {}) for row in ROWS]
    rows[8]["answer"] = ""
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, stdout, stderr = call("run", "rag_diagnosis", "--data", "rows.jsonl", "--out", "kept")
    assert code == 0
    assert "Answerable questions (8): 8 passed" in stdout
    assert "Unanswerable questions (2): 1 refused rightly, 1 without a diagnosis" in stdout
    assert "correct refusal (1): u0" in stdout
    assert "unknown (1): u1" in stdout
    assert "count as 0" not in stderr
    assert "give refusal_scores" in stderr
    assert api.load_run("kept").manifest["answerability"]["unanswerable"]["questions"] == 2


def answered(count: int, wrong: int, **others: Any) -> list[dict[str, Any]]:
    """Sixty questions with a reference, some of them answered wrongly, and so many without one."""
    found = [
        {"id": f"q{n}", "question": f"Q{n}", "reference_answer": "Paris", "answer": "Rome" if n < wrong else "Paris"}
        for n in range(60)
    ]
    return found + [{"id": f"x{n}", "question": f"X{n}", "answer": "Oslo", **others} for n in range(count)]


@pytest.mark.parametrize("form", ["run", "folder", "without texts", "baseline"])
def test_rows_without_a_reference_leave_a_gate_nothing_open(form: str, tmp_path: Path) -> None:
    """As many rows as are scored: taken for rows that were not reached they would decide everything."""
    base, new = (api.evaluate({"f1": AnswerTokenF1Evaluator()}, answered(60, wrong)) for wrong in (10, 10))
    kept: Any = base
    if form == "baseline":
        kept = tmp_path / "base.json"
        base.baseline(kept)
    elif form != "run":
        kept = tmp_path / "base"
        base.save(kept, texts=form == "folder")
    comparison = api.compare(kept, new)
    found = comparison.metrics["f1"]
    assert (found.base.failed, found.base.not_run, found.new.not_run) == (0, 60, 60)
    assert found.bounds is not None
    assert (found.bounds.failed, found.bounds.unknown) == (0, 0.0)
    conditions = ["f1 drops 0.2", "f1 drops 0.02", "f1 < 0.5"]
    outcomes = [result.outcome for result in api.check(comparison, conditions)]
    alone = [api.evaluate({"f1": AnswerTokenF1Evaluator()}, answered(0, 10)) for _ in range(2)]
    assert outcomes == [result.outcome for result in api.check(api.compare(*alone), conditions)]
    assert (outcomes[0], outcomes[2]) == ("pass", "pass")
    assert [result.outcome for result in api.check(kept, ["f1 < 0.5"])] == ["pass"]
    worse = api.evaluate({"f1": AnswerTokenF1Evaluator()}, answered(60, 40))
    assert [result.outcome for result in api.check(api.compare(kept, worse), ["f1 drops 0.02"])] == ["fail"]


@component
class Forgetful:
    """Cannot score the last rows of a batch, for want of something that another run may have."""

    def __init__(self) -> None:
        self._lost = 0

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    def run(self, ground_truth_answers: list[str], predicted_answers: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = AnswerTokenF1Evaluator().run(ground_truth_answers, predicted_answers)
        rows = range(len(predicted_answers))[len(predicted_answers) - self._lost :]
        for row in rows:
            found["individual_scores"][row] = math.nan
            found["statuses"][row], found["errors"][row] = "not_run", "offsets that cannot be trusted"
        return found


def test_a_row_that_one_run_alone_could_score_is_unknown() -> None:
    """What changed there nobody knows, as where a judge failed."""
    forgetful = Forgetful()
    forgetful._lost = 20
    one, two = (api.evaluate({"f1": each}, answered(0, 10)) for each in (Forgetful(), forgetful))
    comparison = api.compare(one, two)
    found = comparison.metrics["f1"]
    assert found.bounds is not None
    assert (found.bounds.failed, found.bounds.unknown) == (20, 20.0)
    assert [result.outcome for result in api.check(comparison, ["f1 drops 0.2"])] == ["inconclusive"]
    both = api.compare(two, two).metrics["f1"]
    assert both.bounds is not None
    assert both.bounds.failed == 0


@pytest.mark.parametrize("metric", [StockExactMatch, Forgetful], ids=["Haystack's own", "ours"])
def test_metrics_of_other_packages_are_not_given_what_they_would_score_as_0(metric: type) -> None:
    """One row without a reference changes nothing for the others, whose references stay plain texts."""
    run = api.evaluate({"exact": metric()}, Dataset("d", ROWS))
    assert run.scores == {"exact": 1.0}
    assert run.metrics["exact"].statuses == ["scored"] * 8 + ["not_run"] * 2
    assert run.manifest["warnings"] == [f"exact: {TOLD}"]
    assert api.compare(run, run).metrics["exact"].base.failed == 0
