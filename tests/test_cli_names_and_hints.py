# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""One name for a metric, one word for a status, keys that match, and hints that fit what was typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from haystack import Document
from typer.testing import CliRunner

from haystack_eval_ext._cli.faults import EXIT_CODE, reported
from haystack_eval_ext._resources import pipeline_path
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import FileProblemsError, InvalidValueError
from haystack_eval_ext.runs._compared_field import load_evaluators
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from stored_runs import stored

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "question": "one", "documents": ["a", "b"], "relevant_documents": ["b"]},
    {"id": "q2", "question": "two", "documents": ["a"], "relevant_documents": []},
    {"id": "q3", "question": "three", "documents": ["a"], "relevant_documents": [], "answerable": False},
]
MRR = "haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    write("data.jsonl", *ROWS)
    return tmp_path


def write(name: str, *rows: dict[str, Any]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def call(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def results(*arguments: str) -> dict[str, Any]:
    code, _, stderr = call(*arguments, "--out", "out", "--force")
    assert code == 0, stderr
    return stored("out")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("measures", ["nDCG@10", "nDCG@10,R@5"])
def test_measures_have_the_names_that_their_recorded_pipeline_gives_them(measures: str) -> None:
    alone = results("run", "-m", measures, "--data", "data.jsonl")
    Path("recorded.yaml").write_text(alone["pipelines"]["evaluation"], encoding="utf-8")
    again = results("run", "recorded.yaml", "--data", "data.jsonl")
    assert alone["metrics"] == again["metrics"]
    assert list(alone["metrics"]) == [f"ranking.{measure}" for measure in measures.split(",")]
    _, stdout, _ = call("run", "-m", measures, "--data", "data.jsonl")
    assert [line.split()[0] for line in stdout.splitlines() if line.startswith("ranking")] == list(alone["metrics"])


@pytest.mark.usefixtures("folder")
def test_what_counts_as_zero_and_what_is_left_out_have_words_of_their_own() -> None:
    found = results("run", "-m", "RR", "--data", "data.jsonl")["metrics"]["ranking.RR"]
    assert found["statuses"] == {"q1": "scored", "q2": "undefined", "q3": "not_run"}
    assert found["individual_scores"] == {"q1": 0.5, "q2": 0.0, "q3": None}
    assert (found["score"], found["rows"], found["undefined"], found["left_out"]) == (0.25, 3, 1, 1)


def test_undefined_rows_without_a_number_are_left_out_too(folder: Path) -> None:
    yaml = (
        f"components: {{mrr: {{type: {MRR}, init_parameters: {{document_comparison_field: id, on_undefined: nan}}}}}}"
    )
    (folder / "nan.yaml").write_text(yaml, encoding="utf-8")
    found = results("run", "nan.yaml", "--data", "data.jsonl")["metrics"]["mrr"]
    assert (found["score"], found["rows"], found["undefined"], found["left_out"]) == (0.5, 3, 1, 2)
    _, stdout, _ = call("run", "nan.yaml", "--data", "data.jsonl")
    assert stdout.splitlines()[2].split() == ["Metric", "Score", "Questions", "Undefined", "Failed", "Left", "out"]
    assert stdout.splitlines()[4].split() == ["mrr", "0.5000", "1", "1", "0", "2"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("documents", "relevant", "score"),
    [
        ([{"meta": {"page": 6}}, {"meta": {"page": 7}}], [7], 0.5),
        ([{"meta": {"page": 7}}], [{"meta": {"page": 7}, "score": 2}], 1.0),
        ([6, 7], [7], 0.5),
        (["7"], {"7": 2}, 1.0),
    ],
)
def test_whole_numbers_match_in_meta(documents: list[Any], relevant: Any, score: float) -> None:
    write("pages.jsonl", {"id": "q", "documents": documents, "relevant_documents": relevant})
    found = results("run", "-m", "RR", "--key-field", "meta.page", "--data", "pages.jsonl")
    assert found["metrics"]["ranking.RR"]["score"] == score


@pytest.mark.usefixtures("folder")
def test_whole_numbers_become_text_in_ids() -> None:
    write("ids.jsonl", {"id": "q", "documents": [{"id": "7"}], "relevant_documents": [7]})
    assert results("run", "-m", "RR", "--data", "ids.jsonl")["metrics"]["ranking.RR"]["score"] == 1.0


@pytest.mark.usefixtures("folder")
def test_long_keys_are_cut_in_lists() -> None:
    text = "The canteen serves lunch " * 50
    write("contents.jsonl", {"id": "q", "documents": ["a"], "relevant_documents": [text, "b"]})
    code, stdout, stderr = call("run", "-m", "RR", "--key-field", "content", "--data", "contents.jsonl")
    assert code == 0
    assert f"Relevant documents in no ranking of the run (2): {text[:57]}..., b" in " ".join(stdout.split())
    assert text[:61] not in " ".join((stdout + stderr).split())


@pytest.mark.usefixtures("folder")
def test_a_relevance_threshold_for_measures_alone() -> None:
    write("graded.jsonl", ROWS[0] | {"relevant_documents": [{"a": 1}, {"b": 2}]})
    found = results("run", "-m", "RR", "--relevance-threshold", "2", "--data", "graded.jsonl")
    assert found["metrics"]["ranking.RR"]["score"] == 0.5
    Path("recorded.yaml").write_text(found["pipelines"]["evaluation"], encoding="utf-8")
    again = results("run", "recorded.yaml", "--data", "graded.jsonl")
    assert again["metrics"] == found["metrics"]
    assert results("run", "-m", "RR", "--data", "graded.jsonl")["metrics"]["ranking.RR"]["score"] == 1.0


@pytest.mark.usefixtures("folder")
def test_bare_keys_fill_the_first_of_several_fields_and_the_user_is_told() -> None:
    whole = {"meta": {"file": "a", "page": 1}}
    write("keys.jsonl", {"id": "q", "documents": [whole], "relevant_documents": [whole, "b"]})
    arguments = ["run", "-m", "R@5", "--key-field", "meta.file", "--key-field", "meta.page", "--data", "keys.jsonl"]
    note = "1 of 3 documents in the data have meta.file but not all of meta.page"
    found = results(*arguments)
    assert any(note in warning for warning in found["warnings"])
    code, _, stderr = call(*arguments)
    assert code == 0
    assert note in stderr
    assert "a bare key fills only the first --key-field" in stderr
    write("whole.jsonl", {"id": "q", "documents": [whole], "relevant_documents": [whole]})
    assert call(*arguments[:-1], "whole.jsonl")[2] == ""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "hinted"), [(["-m", "RR"], False), (["retrieval"], True)])
def test_a_missing_column_hints_at_the_map_only_where_there_is_one(*, arguments: list[str], hinted: bool) -> None:
    write("bare.jsonl", {"id": "q", "documents": ["a"]})
    code, _, stderr = call("run", *arguments, "--data", "bare.jsonl")
    assert code == EXIT_CODE
    assert "relevant_documents" in stderr
    assert ("--map component.socket=column" in stderr) is hinted


def test_a_message_that_looks_like_a_problem_list_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), reported(debug=False):
        raise InvalidValueError("2 problems:\n  a.csv:1: x\n  b")  # noqa: EM101
    assert capsys.readouterr().err == "Error: 2 problems: a.csv:1: x b\n"
    with pytest.raises(SystemExit), reported(debug=False):
        raise FileProblemsError(["a\n  b.csv:1: x", "c"])
    assert capsys.readouterr().err == "Error: 2 problems:\n  a b.csv:1: x\n  c\n"


def test_the_message_of_an_evaluator_is_shown_and_withheld_without_texts(folder: Path) -> None:
    kind = "haystack.components.evaluators.document_recall.DocumentRecallEvaluator"
    (folder / "stock.yaml").write_text(f"components: {{theirs: {{type: {kind}}}}}", encoding="utf-8")
    write("numbers.jsonl", ROWS[0] | {"n": 5})
    arguments = ["run", "stock.yaml", "--data", "numbers.jsonl", "--map", "theirs.retrieved_documents=n"]
    code, stdout, stderr = call(*arguments)
    assert (code, stdout) == (EXIT_CODE, "")
    assert stderr == "Error: theirs (DocumentRecallEvaluator): 'int' object is not iterable.\n"
    code, stdout, stderr = call(*arguments, "--out", "run", "--no-texts")
    assert (code, stdout) == (EXIT_CODE, "")
    assert stderr.startswith("Error: theirs (DocumentRecallEvaluator): TypeError. Raised at haystack.")
    assert stderr.endswith(" Its message is shown without --no-texts.\n")
    assert "not iterable" not in stderr


def test_a_shipped_pipeline_without_connections_gets_the_very_same_documents() -> None:
    pipeline = load_evaluators(pipeline_path("retrieval").read_text(encoding="utf-8"), "retrieval", None)
    given: dict[str, dict[str, list[list[Document]]]] = {}

    def watched(name: str, instance: Any) -> Any:
        run = instance.run

        def recorder(**inputs: Any) -> Any:
            given[name] = inputs
            return run(**inputs)

        return recorder

    for name, node in pipeline.graph.nodes(data=True):
        node["instance"].run = watched(name, node["instance"])
    data = Dataset(
        "data",
        [
            {"id": f"q{row}", "documents": [Document(id="a"), Document(id="b")], "answerable": row != 1,
             "relevant_documents": [Document(id="b")]}
            for row in range(3)
        ],
    )  # fmt: skip
    evaluate_pipeline(pipeline, data)
    assert set(given) == set(pipeline.graph.nodes)
    for inputs in given.values():
        for socket, column in (("ground_truth_documents", "relevant_documents"), ("retrieved_documents", "documents")):
            expected = [data.rows[row][column] for row in (0, 2)]
            assert [[id(document) for document in row] for row in inputs[socket]] == [
                [id(document) for document in row] for row in expected
            ]
