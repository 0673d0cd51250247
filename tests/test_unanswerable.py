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
from haystack import Document

from haystack_eval_ext import AnswerExactMatchEvaluator, AnswerTokenF1Evaluator, DocumentRecallEvaluator, UndefinedScore
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import Dataset, open_dataset
from haystack_eval_ext.runs.evaluation import EvaluationError
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
            assert line.split()[1:] == ["1.0000", "10", "0", "0", "2"]
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
