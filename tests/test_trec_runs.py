# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What `trec` keeps of TREC files and BEIR folders is compared, checked, exported and scored again."""

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from haystack import Document
from typer.testing import CliRunner

from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import TrecFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.trec import read_qrels, read_run
from haystack_eval_ext.runs.trec_runs import TrecLabels, evaluate_trec, read_labels
from kept_runs import working_folder

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "R@10", "Judged@10", "Bpref"]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of 40 queries as qrels and as a BEIR folder, and two runs, the second of which is worse."""
    folder = tmp_path_factory.mktemp("trec")
    draw = random.Random(3)
    documents = [f"d{number}" for number in range(50)]
    qrels = {f"q{q}": {key: draw.choice([0, 1, 2]) for key in draw.sample(documents, 15)} for q in range(40)}
    write(folder / "qrels.txt", [f"{q} 0 {d} {g}" for q, grades in qrels.items() for d, g in grades.items()])
    for name, luck in (("good.txt", 6.0), ("bad.txt", 0.0)):
        lines = []
        for query, grades in qrels.items():
            scores = {key: draw.random() * 4 + luck * grades.get(key, 0) for key in draw.sample(documents, 40)}
            lines += [f"{query} Q0 {key} 0 {score} t" for key, score in scores.items()]
        write(folder / name, lines)
    beir = folder / "beir"
    (beir / "qrels").mkdir(parents=True)
    rows = [f"{q}\t{d}\t{g}" for q, grades in qrels.items() for d, g in grades.items()]
    write(beir / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *rows])
    write(beir / "queries.jsonl", [json.dumps({"_id": q, "text": f"What is {q}?"}) for q in qrels])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(made, tmp_path, monkeypatch)


def call(line: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    return result.exit_code, result.stdout + result.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("labels", ["qrels.txt", "beir"])
def test_what_trec_keeps_is_taken_by_every_command_that_reads_runs(labels: str) -> None:
    for name in ("good", "bad"):
        assert call(f"trec {labels} {name}.txt -m 'nDCG@10 AP' --out {name}")[0] == 0
    code, out = call("compare good bad --fail-if 'ranking.nDCG@10 drops 0.02'")
    assert code == 1, out
    assert "fail: ranking.nDCG@10 changed by -" in out
    assert call("check good --fail-if 'ranking.AP < 0.01'")[0] == 0
    assert call("baseline good -o good.json")[0] == 0
    assert call("compare good.json bad --fail-if 'ranking.AP drops 0.02'")[0] == 1
    assert call("export good good.csv")[0] == 0
    assert len(Path("good.csv").read_text("utf-8").splitlines()) == 41
    # Scored again by Documents, with more measures.
    assert call("run -m 'nDCG@10 AP R@5' --data good --out again")[0] == 0
    first, again = api.load_run("good"), api.load_run("again")
    assert again.metrics["ranking.AP"].scores == pytest.approx(first.metrics["ranking.AP"].scores, abs=1e-12)
    assert call("compare good again --metric ranking.AP")[0] == 0


def test_a_run_has_the_numbers_of_documents_and_the_questions_of_a_beir_folder(folder: Path) -> None:
    qrels, ranked = read_qrels("qrels.txt"), read_run("good.txt")
    found = evaluate_trec("beir", "good.txt", MEASURES)
    evaluator = DocumentRankingEvaluator(MEASURES, "id")
    expected: dict[str, Any] = evaluator.run(
        [[Document(id=key, score=grade) for key, grade in grades.items()] for grades in qrels.values()],
        [[Document(id=key) for key, _ in ranked[query]] for query in qrels],
    )["results"]
    for measure in MEASURES:
        metric = found.metrics[f"ranking.{measure}"]
        assert metric.scores == pytest.approx(expected[measure]["individual_scores"], abs=1e-12)
        assert metric.statuses == expected[measure]["statuses"]
    assert found.rows[0]["question"] == "What is q0?"
    assert found.name == "good.txt"
    assert found.manifest["data"]["file"] == "beir"
    # Qrels without the questions are other questions: not compared.
    with pytest.raises(api.ComparisonError, match="Questions"):
        api.compare(found, evaluate_trec("qrels.txt", "bad.txt", MEASURES))
    assert folder.is_dir()


@pytest.mark.usefixtures("folder")
def test_several_runs_stand_in_one_table_and_in_folders_of_their_own() -> None:
    code, out = call("trec qrels.txt good.txt bad.txt -m 'nDCG@10 AP' --per-query --out kept")
    assert code == 0, out
    scores = {name: api.load_run(f"kept/{name}.txt").scores for name in ("good", "bad")}
    lines = [line.split() for line in out.splitlines()]
    for name, found in scores.items():
        assert [f"{name}.txt", "40", *(f"{score:.4f}" for score in found.values())] in lines
    assert sum(len(line) == 4 and line[1] == "AP" and line[0] == "good.txt" for line in lines) == 40
    code, out = call("trec qrels.txt good.txt bad.txt -m AP --out kept")
    assert (code, "--force" in out) == (2, True), out
    assert call("trec qrels.txt good.txt bad.txt -m AP --out kept --force")[0] == 0
    assert list(api.load_run("kept/bad.txt").scores) == ["ranking.AP"]


@pytest.mark.usefixtures("folder")
def test_a_broken_run_file_costs_no_other() -> None:
    Path("broken.txt").write_text("no run at all\n", encoding="utf-8")
    code, out = call("trec qrels.txt good.txt broken.txt bad.txt -m AP --out kept")
    assert code == 2, out
    assert "broken.txt:1" in out
    lines = [line.split() for line in out.splitlines()]
    for name in ("good", "bad"):
        score = api.load_run(f"kept/{name}.txt").scores["ranking.AP"]
        assert [f"{name}.txt", "40", f"{score:.4f}"] in lines


def test_labels_that_no_ranking_can_have_are_told() -> None:
    labels = TrecLabels("labels", {"q1": {"a.txt": 1}, "q2": {"b.txt": 1}}, {})
    run = evaluate_trec(labels, {"q1": [("a", 1.0)], "q2": [("b", 1.0)]}, ["RR"])
    assert run.scores == {"ranking.RR": 0.0}
    (told,) = run.manifest["warnings"]
    assert told.startswith("None of 2 label keys (id) occurs among the 2 documents of the run")
    assert "Labels: 'a.txt', 'b.txt'. Documents: 'a', 'b'." in told
    assert not evaluate_trec(labels, {"q1": [("b.txt", 1.0)], "q2": [("b", 1.0)]}, ["RR"]).manifest["warnings"]


def test_queries_of_one_side_are_told_in_the_run() -> None:
    labels = TrecLabels("labels", {"q1": {"a": 1}, "q2": {"b": 1}}, {})
    run = evaluate_trec(labels, {"q1": [("a", 1.0)], "q9": [("a", 1.0)]}, ["RR"])
    assert run.scores == {"ranking.RR": 0.5}
    assert run.manifest["warnings"] == [
        "Judged queries missing from the run, given an empty ranking (1): 'q2'.",
        "Queries of the run without labels, not counted (1): 'q9'.",
    ]
    assert evaluate_trec(labels, {"q1": [("a", 1.0)]}, ["RR"], queries="intersection").scores == {"ranking.RR": 1.0}


@pytest.mark.parametrize(("on_undefined", "mean"), [("zero", 0.5), ("nan", 1.0)])
def test_undefined_queries_count_as_asked_for(on_undefined: Any, mean: float) -> None:
    # No document of q2 was retrieved, so that none of its ranking can be judged.
    labels = TrecLabels("labels", {"q1": {"a": 1}, "q2": {"b": 1}}, {})
    run = evaluate_trec(labels, {"q1": [("a", 1.0)]}, ["Judged@10"], on_undefined=on_undefined)
    assert run.scores == {"ranking.Judged@10": mean}
    assert run.metrics["ranking.Judged@10"].info.parameters["on_undefined"] == on_undefined


def test_hits_with_the_id_of_their_query_are_left_out_as_beir_does(tmp_path: Path) -> None:
    write(tmp_path / "qrels.txt", ["x 0 b 1", "y 0 c 1"])
    write(tmp_path / "run.txt", ["x Q0 x 1 9 t", "x Q0 b 2 8 t", "y Q0 c 1 9 t"])
    line = f"trec {tmp_path}/qrels.txt {tmp_path}/run.txt -m RR"
    for options, mean in (("", 0.75), ("--ignore-identical-ids", 1.0)):
        code, output = call(f"{line} {options} --out {tmp_path}/run{len(options)}")
        assert code == 0, output
        run = api.load_run(tmp_path / f"run{len(options)}")
        assert run.scores == {"ranking.RR": mean}
        left_out = [told for told in run.manifest["warnings"] if "id of their query" in told]
        assert left_out == (["Hits with the id of their query, left out (1): 'x'."] if options else [])
        assert run.manifest["settings"]["ignore_identical_ids"] is bool(options)
        # Scored again, the numbers stay.
        assert api.evaluate({"ranking": DocumentRankingEvaluator(["RR"], "id")}, run).scores == run.scores


def test_splits_of_a_beir_folder(folder: Path, tmp_path: Path) -> None:
    assert list(read_labels(folder / "beir").qrels) == list(read_labels(folder / "beir", split="test").qrels)
    with pytest.raises(ValueError, match="no labels for the split 'dev'; it has test"):
        read_labels(folder / "beir", split="dev")
    with pytest.raises(ValueError, match="is a qrels file"):
        read_labels(folder / "qrels.txt", split="dev")
    (tmp_path / "bare").mkdir()
    with pytest.raises(TrecFileError, match=r"queries\.jsonl.*cannot be read[\s\S]*no labels found"):
        read_labels(tmp_path / "bare")


def test_runs_that_differ_in_what_they_leave_out_are_not_compared(tmp_path: Path) -> None:
    labels = TrecLabels("labels", {"q1": {"a": 1}}, {})
    run = {"q1": [("q1", 2.0), ("a", 1.0)]}
    kept = [
        evaluate_trec(labels, run, ["RR"], ignore_identical_ids=left_out, out=tmp_path / str(left_out))
        for left_out in (False, True)
    ]
    assert [each.scores["ranking.RR"] for each in kept] == [0.5, 1.0]
    with pytest.raises(api.ComparisonError, match=r"ignore_identical_ids of 'ranking.RR' differs"):
        api.compare(tmp_path / "False", tmp_path / "True")
