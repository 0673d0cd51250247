# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What `export` writes is data again: scored anew, it gives the same scores. No text runs as a formula."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import component
from typer.testing import CliRunner

from haystack_eval_ext import AnswerExactMatchEvaluator, DocumentRankingEvaluator
from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._exported import defused
from haystack_eval_ext.runs.dataset import Dataset, open_dataset, read_dataset
from haystack_eval_ext.runs.evaluation import load_pipeline, read_pipeline_text
from haystack_eval_ext.runs.judging import judged_components
from haystack_eval_ext.runs.run import EvaluationRun
from openai_server import OpenAIServer

# Texts that a CSV file, a spreadsheet or a reader may take for something else.
TEXTS = [
    "plain",
    "",
    "=1+1",
    "-0.5",
    "+4",
    "@home",
    "\ttab",
    "'quoted",
    "'=1+1",
    "''-2",
    '["a list"]',
    "['a list']",
    "[]",
    "{}",
    "a|b",
    "two\r\nlines",
    'say "x", then; go',
    "null",
    " white space ",
    "日本語",
]
ROWS: list[dict[str, Any]] = [
    {
        "id": f"={n}" if n % 3 else f"q{n}",
        "question": f"{text} {n}?",
        "reference_answer": [text, "other"] if n % 4 == 1 else text,
        "answer": text if n % 2 else f"{text} more",
        "contexts": [text, "a|b"] if n % 3 else [text or "x"],
        "documents": [{"content": text or "x", "id": f"d{n}", "meta": {"page": n, "file": "=f"}}, {"id": "d0"}],
        "relevant_documents": [{"id": f"d{n}", "score": 2.0}],
        "tags": ["=t", "u"],
        "cluster": f"-{n % 5}",
        "note": text,
        "score.note": n,
    }
    for n, text in enumerate(TEXTS)
] + [
    {
        "id": "u",
        "question": "Unanswerable?",
        "answerable": False,
        "cluster": "u",
        "answer": "",
        "contexts": ["c"],
        "documents": ["d0"],
    }
]

BATCHES = [name for name in pipeline_names() if name not in ("bm25_retrieval", "rag_answers")]
FORMS = ["csv", "json", "frame"]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that answers by rules, for the pipelines that ask one."""
    with OpenAIServer(key="sk-test") as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("HAYSTACK_EVAL_JUDGE_MODEL", "my-judge")
        yield


def exported(run: EvaluationRun, form: str, folder: Path) -> Any:
    if form == "frame":
        return run.to_pandas()
    file = folder / f"run.{form}"
    (run.to_csv if form == "csv" else run.to_json)(file)
    return file


def same_scores(one: EvaluationRun, other: EvaluationRun) -> None:
    assert one.ids == other.ids
    assert list(one.metrics) == list(other.metrics)
    for name, metric in one.metrics.items():
        assert list(metric.statuses) == list(other.metrics[name].statuses), name
        for before, after in zip(metric.scores, other.metrics[name].scores, strict=True):
            assert before == after or (math.isnan(before) and math.isnan(after)), name


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("name", BATCHES)
def test_every_export_of_a_shipped_pipeline_scores_the_same_again(name: str, tmp_path: Path) -> None:
    if name == "answers":
        pytest.importorskip("sacrebleu")
    judged = bool(judged_components(load_pipeline(read_pipeline_text(pipeline_path(name)), name)))
    rows = [row for row in ROWS if row["id"] in ("q0", "=4", "u")] if judged else ROWS
    run = api.evaluate(name, rows)
    for form in FORMS:
        data = exported(run, form, tmp_path)
        same_scores(run, api.evaluate(name, data))


def test_the_shipped_pipelines_are_all_here() -> None:
    assert set(pipeline_names()) - set(BATCHES) == {"bm25_retrieval", "rag_answers"}  # those search, or generate


@pytest.mark.parametrize("form", FORMS)
def test_rows_come_back_whole(form: str, tmp_path: Path) -> None:
    run = api.evaluate({"answer": AnswerExactMatchEvaluator()}, ROWS)
    before, after = open_dataset(ROWS), open_dataset(exported(run, form, tmp_path))
    for one, other in zip(before.rows, after.rows, strict=True):
        for name in ("id", "question", "answer", "contexts", "documents", "tags", "cluster", "answerable"):
            assert one[name] == other[name], name
        assert [one["reference_answer"]] == [other["reference_answer"]] or one["reference_answer"] == other[
            "reference_answer"
        ][0]
        assert (one.get("note") or None) == (other.get("note") or None)
    assert not [name for name in after.rows[0] if name.startswith("score.answer")]


@pytest.mark.parametrize("form", FORMS)
def test_questions_that_failed_come_back_as_failed(form: str, tmp_path: Path) -> None:
    def target(question: str) -> dict[str, Any]:
        if "two" in question:
            raise ValueError
        return {"answer": "" if "three" in question else "Oda", "documents": [{"id": "d"}]}

    rows = [
        {"id": word, "question": word, "reference_answer": "Oda", "relevant_documents": ["d"]}
        for word in ("one", "two", "three")
    ]
    evaluators = {
        "answer": AnswerExactMatchEvaluator(),
        "documents": DocumentRankingEvaluator(["R@1"], document_comparison_field="id"),
    }
    run = api.run_rag(evaluators, rows, target, progress=False)
    again = api.evaluate(evaluators, exported(run, form, tmp_path))
    assert list(again.metrics["answer"].statuses) == ["scored", "error", "scored"]
    same_scores(run, again)


def test_several_answers_to_a_question_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "Q", "reference_answer": "A"}]
    evaluators = {"em": AnswerExactMatchEvaluator()}
    run = api.run_rag(evaluators, rows, lambda _question: {"answer": "A"}, repeats=2, progress=False)
    for form in FORMS:
        with pytest.raises(DatasetError, match="several answers to each question: give the folder of the run"):
            open_dataset(exported(run, form, tmp_path))


def test_an_export_of_an_older_version_is_read_rightly(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "old.csv"
    file.write_text(
        "id,question,reference_answer,row.answer,answer,answer.status,recall,recall.status,recall.error\n"
        "1,Q,Paris,Paris,1.0,scored,0.5,scored,\n2,Q,Paris,Rome,0.0,scored,,error,why\n",
        encoding="utf-8",
    )
    data = read_dataset(file)
    assert data.column("answer") == ["Paris", "Rome"]
    assert set(data.rows[0]) == {"id", "question", "reference_answer", "answer"}
    assert "its columns of scores are left out (5)" in caplog.text


@pytest.mark.parametrize("text", [text for text in TEXTS if text[:1] in ("=", "-", "+", "@", "\t")] + ["\rx", "＝1"])
def test_no_cell_is_a_formula(text: str) -> None:
    row = {"id": text, "answer": text, "reference_answer": "a", text: 1}
    run = api.evaluate({"em": AnswerExactMatchEvaluator()}, [row])
    for line in csv.reader(io.StringIO(run.to_csv(), newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for cell in line)


def test_numbers_stay_numbers() -> None:
    @component
    class Signed:
        @component.output_types(score=float, individual_scores=list[float])
        def run(self, predicted_answers: list[str]) -> dict[str, Any]:
            return {"score": -0.5, "individual_scores": [-0.5] * len(predicted_answers)}

    run = api.evaluate({"signed": Signed()}, [{"id": "a", "answer": "x", "number": -3}])
    (line,) = csv.DictReader(io.StringIO(run.to_csv()))
    assert (line["score.signed"], line["number"]) == ("-0.5", "-3")
    assert defused(-0.5) == -0.5


def test_quoted_signs_of_other_files_stay_and_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "f.csv"
    file.write_text("id,answer\n1,'-5\n", encoding="utf-8")
    assert read_dataset(file).column("answer") == ["'-5"]
    assert "they are read as they are" in caplog.text


def test_a_score_column_may_be_named_by_the_user(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    api.evaluate({"em": AnswerExactMatchEvaluator()}, ROWS[:2]).to_csv(file)
    data = read_dataset(file, columns={"cluster": "score.em.status"})
    assert data.column("cluster") == ["scored", "scored"]


def test_the_users_path_is_named_when_it_cannot_be_written(tmp_path: Path) -> None:
    run = api.evaluate({"em": AnswerExactMatchEvaluator()}, ROWS[:2])
    target = tmp_path / "no" / "x.csv"
    for write in (run.to_csv, run.to_json, run.to_markdown, run.baseline):
        with pytest.raises(FileNotFoundError) as caught:
            write(target)
        assert caught.value.filename == str(target)
        assert str(caught.value).endswith(f"'{target}'")


def test_the_commands_go_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = {
        "id": "1",
        "question": "Q1",
        "reference_answer": "Paris",
        "relevant_documents": ["a"],
        "documents": ["a"],
        "answer": "Paris",
    }
    (tmp_path / "e.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for line in (
        "run rag_diagnosis --data e.jsonl --out rr",
        "export rr e.csv",
        "run rag_diagnosis --data e.csv --out again",
    ):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0, result.output
    assert api.load_run("again").scores == api.load_run("rr").scores
    assert api.load_run("again").scores["answer"] == 1.0


def test_a_column_can_be_named_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"id": "1", "q": "Q1", "gold": "Paris", "said": {"text": "Paris"}}
    (tmp_path / "f.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / "em.yaml").write_text(
        "components: {em: {type: haystack_eval_ext.answers.answer_exact_match.AnswerExactMatchEvaluator, "
        "init_parameters: {}}}\n",
        encoding="utf-8",
    )
    columns = "--column reference_answer=gold --column answer=said.text"
    result = CliRunner().invoke(app, f"run em.yaml --data f.jsonl --out r {columns}".split())
    assert result.exit_code == 0, result.output
    assert api.load_run("r").scores == {"em": 1.0}
    for options, message in {
        "--column reference_answer": "--column must look like MEANING=COLUMN",
        "--column refrence_answer=gold": "did you mean reference_answer",
        "--column answer=gold --column answer=said": "--column names answer twice",
    }.items():
        result = CliRunner().invoke(app, f"run em.yaml --data f.jsonl {options}".split())
        assert (result.exit_code, message in result.output) == (2, True), result.output
    result = CliRunner().invoke(app, ["run", "em.yaml", "--data", "r", "--column", "answer=gold"])
    assert (result.exit_code, "--column is for a data file" in result.output) == (2, True), result.output


def test_a_dataset_without_scores_is_no_export() -> None:
    rows = [{"id": "a", "answer": "x", "score.mine": 1, "status": "ok", "error": None}]
    assert open_dataset(Dataset("d", rows)).rows == rows
