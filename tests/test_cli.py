# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line: what it prints and writes, and one line with a hint for each wrong use."""

import json
import logging
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from haystack import Pipeline
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext.cli import app
from haystack_eval_ext.runs.api import load_run
from stored_runs import stored

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "question": "SECRET one", "documents": ["a", "b"], "relevant_documents": [{"b": 2}]},
    {"id": "q2", "question": "SECRET two", "documents": ["c"], "relevant_documents": ["c", "gone"]},
    {"id": "q3", "question": "SECRET three", "documents": ["a"], "relevant_documents": [], "answerable": False},
]
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\nq3 0 d1 1\n"
RUN = "q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\nq9 Q0 d3 1 1.0 t\n"
MRR = "haystack_eval_ext.retrieval.document_mrr.DocumentMRREvaluator"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with files, right and wrong ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)

    def jsonl(name: str, rows: list[dict[str, Any]]) -> None:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    jsonl("data.jsonl", ROWS)
    jsonl("unlabelled.jsonl", [{"id": "q1", "question": "SECRET one", "documents": ["a"]}])
    jsonl("broken.jsonl", [{"id": "q1", "documents": 5}, {"id": "q1", "documents": 6}])
    jsonl("no_answers.jsonl", [ROWS[2]])
    jsonl("markup.jsonl", [ROWS[0] | {"id": "[red]x[/red]"}, ROWS[2] | {"id": "[bold]\u001b[31m\u202ey"}])
    for name, text in {
        "empty.jsonl": "",
        "data.xml": "<a/>",
        "qrels.txt": QRELS,
        "run.txt": RUN,
        "other.txt": "z1 Q0 d1 1 1.0 t\n",
        "bad_run.txt": "q1 Q0 d1 1 high t\n",
        "mrr.yaml": f"components: {{mrr: {{type: {MRR}, init_parameters: {{document_comparison_field: id}}}}}}\n",
        "raise.yaml": f"components: {{m: {{type: {MRR}, init_parameters: {{on_undefined: never}}}}}}\n",
        "untrusted.yaml": "components: {a: {type: os.path.Thing, init_parameters: {}}}\n",
        "short.yaml": "components: {a: {type: haystack_eval_ext.DocumentMRREvaluator, init_parameters: {}}}\n",
        "broken.yaml": "components: [\n",
        "list.yaml": "- a\n",
        "empty.yaml": "",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    return tmp_path


def call(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def cells(stdout: str) -> dict[str, list[str]]:
    """The lines of the table by metric."""
    lines = [line.split() for line in stdout.splitlines()]
    return {line[0]: line[1:] for line in lines if len(line) == 6 and line[2].isdigit()}


# Each: the arguments, and parts of the message that say what is wrong and what to do.
WRONG: list[tuple[str, list[str]]] = [
    ("evaluate", ["No such command", "--help"]),
    ("--colour", ["No such option", "--help"]),
    ("run", ["--data", "--help"]),
    ("run --data data.jsonl", ["Nothing to run", "a shipped one (answers, rag_diagnosis, ", "-m nDCG@10"]),
    ("run retrieval -m AP --data data.jsonl", ["PIPELINE and -m", "Leave one"]),
    ("run retrieval other --data data.jsonl", ["unexpected extra argument", "--help"]),
    ("run retrieval", ["--data", "--help"]),
    ("run retrieval --data", ["--data", "--help"]),
    ("run retrieval --data data.jsonl --rags x", ["No such option", "--rags"]),
    ("run retrieval --data absent.jsonl", ["absent.jsonl", "cannot be read"]),
    ("run retrieval --data full", ["full holds no run"]),
    ("run retrieval --data data.xml", [".xml", ".jsonl"]),
    ("run retrieval --data empty.jsonl", ["empty", "at least one row"]),
    ("run retrieval --data unlabelled.jsonl", ["relevant_documents", "--map", "id, question, documents"]),
    ("run retrieval --data no_answers.jsonl", ["answerable", "Set answerable"]),
    ("run retriever --data data.jsonl", ["'retriever'", "answers, bm25_retrieval, rag_answers, rag_diagnosis,"]),
    ("run absent.yaml --data data.jsonl", ["'absent.yaml'", "shipped"]),
    ("run full --data data.jsonl", ["'full'", "shipped"]),
    ("run bm25_retrieval --data data.jsonl", ["retriever.query", "batch sockets", "--rag"]),
    ("run untrusted.yaml --data data.jsonl", ["'os.path'", "HAYSTACK_DESERIALIZATION_ALLOWLIST"]),
    ("run short.yaml --data data.jsonl", [MRR]),
    ("run broken.yaml --data data.jsonl", ["not valid YAML", "Pipeline.dumps()"]),
    ("run list.yaml --data data.jsonl", ["not a pipeline", "components"]),
    ("run empty.yaml --data data.jsonl", ["empty"]),
    ("run raise.yaml --data data.jsonl", ["on_undefined must be one of"]),
    ("run mrr.yaml --data data.jsonl --key-field name", ["--key-field must be", "meta.<key>"]),
    ("run mrr.yaml --data data.jsonl --key-field id --key-field content", ["--key-field", "name one field"]),
    ("run mrr.yaml --data data.jsonl --map mrr", ["COMPONENT.SOCKET=COLUMN", "'mrr'"]),
    ("run mrr.yaml --data data.jsonl --map mrr.documents=documents", ["no socket 'documents'", "it has"]),
    ("run mrr.yaml --data data.jsonl --map x.y=documents", ["no component 'x'", "it has mrr", "--map"]),
    ("run mrr.yaml --data data.jsonl --map mrr.retrieved_documents=nothing", ["'nothing'", "question"]),
    ("run mrr.yaml --data data.jsonl --map a.b=id --map a.b=id", ["twice"]),
    ("run mrr.yaml --data data.jsonl --out full", ["not empty", "new folder"]),
    ("run mrr.yaml --data data.jsonl --out data.xml", ["is a file", "name a folder"]),
    ("run mrr.yaml --data data.jsonl --out data.xml/x", ["data.xml/x", "Check the path"]),
    ("run -m AP --data data.jsonl --map a.b=c", ["--map", "-m"]),
    ("run mrr.yaml --data data.jsonl --map mrr=id", ["COMPONENT.SOCKET=COLUMN"]),
    ("run mrr.yaml --data data.jsonl --relevance-threshold 2", ["--relevance-threshold goes with -m", "in its YAML"]),
    ("run -m AP --data data.jsonl --relevance-threshold nan", ["relevance_threshold must be"]),
    ("run -m AP --data data.jsonl --key-field id --key-field meta.page", ["meta.page", "only the first --key-field"]),
    ("run -m nDGC@10 --data data.jsonl", ["'nDGC'", "Did you mean nDCG"]),
    ("run -m nDCG@0 --data data.jsonl", ["cut-off"]),
    ("run -m AP,AP --data data.jsonl", ["twice"]),
    ("run -m , --data data.jsonl", ["no measure", "nDCG@10"]),
    ("run -m AP --data unlabelled.jsonl", ["relevant_documents"]),
    ("trec", ["QRELS", "--help"]),
    ("trec qrels.txt", ["RUN", "--help"]),
    ("trec qrels.txt run.txt", ["-m", "--help"]),
    ("trec absent.txt run.txt -m AP", ["absent.txt", "cannot be read"]),
    ("trec qrels.txt bad_run.txt -m AP", ["bad_run.txt:1", "score"]),
    ("trec bad_run.txt run.txt -m AP", ["bad_run.txt:1", "expected 4"]),
    ("trec qrels.txt other.txt -m AP", ["share no query", "'z1'"]),
    ("trec qrels.txt run.txt -m XYZ", ["'XYZ'", "Known measures"]),
    ("trec qrels.txt run.txt -m R@10w", ["text of the documents", "R@10"]),
    ("trec qrels.txt run.txt -m AP --queries all", ["--queries", "intersection", "--help"]),
    ("trec qrels.txt run.txt -m AP --relevance-threshold high", ["--relevance-threshold", "--help"]),
    ("trec qrels.txt run.txt -m AP --relevance-threshold nan", ["relevance_threshold must be"]),
    ("trec qrels.txt run.txt -m AP --out data.jsonl", ["data.jsonl", "folder"]),
    ("trec qrels.txt run.txt -m AP --out full", ["full", "holds"]),
    ("trec qrels.txt run.txt run.txt -m AP --out new", ["two run files are called run.txt", "Rename"]),
    ("trec qrels.txt run.txt -m AP --split test", ["split", "qrels.txt is a qrels file"]),
    ("trec qrels.txt run.txt -m AP --relevance-threshold 9 --on-undefined raise", ["3 of 3 rows", "q1", "undefined"]),
    ("trec full run.txt -m AP", ["full", "no labels found", "qrels/SPLIT.tsv"]),
    ("metrics nDCG", ["unexpected extra argument", "--help"]),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "parts"), WRONG, ids=[command or "nothing" for command, _ in WRONG])
def test_a_wrong_use_is_one_line_with_a_hint(command: str, parts: list[str]) -> None:
    code, stdout, stderr = call(*command.split())
    lines = stderr.splitlines()
    assert code == 2
    assert stdout == ""
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert "Traceback" not in stderr
    assert "SECRET" not in stderr
    assert [part for part in parts if part not in stderr] == []


@pytest.mark.usefixtures("folder")
def test_a_file_with_many_faults_lists_them_one_a_line() -> None:
    code, stdout, stderr = call("run", "retrieval", "--data", "broken.jsonl")
    assert (code, stdout) == (2, "")
    assert stderr.splitlines()[0] == "Error: 3 problems:"
    assert stderr.count("broken.jsonl:") == 3


@pytest.mark.usefixtures("folder")
def test_debug_shows_the_traceback() -> None:
    result = CliRunner().invoke(app, ["run", "retriever", "--data", "data.jsonl", "--debug"])
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: PIPELINE 'retriever' is neither a file nor")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", [["-m", "RR,R@1 P@2"], ["-m", "RR", "-m", "R@1", "-m", "P@2"]])
def test_run_with_measures_alone(arguments: list[str]) -> None:
    code, stdout, stderr = call("run", "--data", "data.jsonl", *arguments)
    assert code == 0
    # q1: b at rank 2 of a b; q2: c at rank 1, one of two found; q3 is unanswerable.
    assert cells(stdout) == {
        "ranking.RR": ["0.7500", "2", "0", "0", "1"],  # (1/2 + 1) / 2
        "ranking.R@1": ["0.2500", "2", "0", "0", "1"],  # (0 + 1/2) / 2
        "ranking.P@2": ["0.5000", "2", "0", "0", "1"],  # (1/2 + 1/2) / 2
    }
    assert "Unanswerable rows, left out of the retrieval means (1): q3" in stdout
    assert "Relevant documents in no ranking of the run (1): gone" in stdout
    assert stderr.startswith("Warning: ranking: no ranking of this run contains 1 of")
    assert "never_retrieved" in stderr
    assert "SECRET" not in stdout + stderr


def test_run_writes_strict_json(folder: Path) -> None:
    code, stdout, _ = call("run", "mrr.yaml", "--data", "data.jsonl", "--out", "runs/first")
    assert code == 0
    found = stored(folder / "runs/first")
    assert found["metrics"] == {
        "mrr": {
            "score": 0.75,
            "rows": 3,
            "undefined": 0,
            "failed": 0,
            "left_out": 1,
            "individual_scores": {"q1": 0.5, "q2": 1.0, "q3": None},
            "statuses": {"q1": "scored", "q2": "scored", "q3": "not_run"},
        }
    }
    assert cells(stdout) == {"mrr": ["0.7500", "2", "0", "0", "1"]}
    assert found["data"]["file"] == "data.jsonl"
    assert found["data"]["questions"] == 3
    assert MRR in found["pipelines"]["evaluation"]
    assert found["versions"]["haystack-eval-ext"] == haystack_eval_ext.__version__
    assert found["unanswerable"] == ["q3"]
    assert "SECRET" not in json.dumps(found)
    assert "SECRET" in (folder / "runs/first/rows.jsonl").read_text("utf-8")
    assert call("run", "mrr.yaml", "--data", "data.jsonl", "--out", "runs/bare", "--no-texts")[0] == 0
    assert not any("SECRET" in file.read_text("utf-8") for file in (folder / "runs/bare").iterdir())


def test_run_with_measures_records_a_pipeline_that_loads(folder: Path) -> None:
    call("run", "-m", "RR", "--key-field", "meta.file", "--data", "data.jsonl", "--out", "first")
    found = stored("first")
    loaded = Pipeline.loads(found["pipelines"]["evaluation"]).get_component("ranking")
    assert isinstance(loaded, DocumentRankingEvaluator)
    assert (loaded.measures, loaded.document_comparison_field) == (["RR"], "meta.file")
    assert found["metrics"]["ranking.RR"]["score"] == 0.75
    assert found["never_retrieved"] == {"ranking": ["gone"]}


def test_force_replaces_a_run_and_nothing_else(folder: Path) -> None:
    assert call("run", "-m", "RR", "--data", "data.jsonl", "--out", "full", "--force")[0] == 2
    assert {path.name for path in (folder / "full").iterdir()} == {"file"}
    assert call("run", "-m", "RR", "--data", "data.jsonl", "--out", "first")[0] == 0
    code, _, stderr = call("run", "-m", "P@1", "--data", "data.jsonl", "--out", "first")
    assert (code, list(stored("first")["metrics"])) == (2, ["ranking.RR"])
    assert "--force" in stderr
    assert call("run", "-m", "P@1", "--data", "data.jsonl", "--out", "first", "--force")[0] == 0
    assert list(stored("first")["metrics"]) == ["ranking.P@1"]


def test_a_kept_run_is_scored_again(folder: Path) -> None:
    assert call("run", "-m", "RR", "--data", "data.jsonl", "--out", "first")[0] == 0
    code, stdout, _ = call("run", "mrr.yaml", "--data", "first", "--out", "again")
    assert code == 0
    assert cells(stdout) == {"mrr": ["0.7500", "2", "0", "0", "1"]}
    assert stored("again")["metrics"]["mrr"]["individual_scores"] == {"q1": 0.5, "q2": 1.0, "q3": None}


def test_a_shipped_pipeline_runs_by_name(folder: Path) -> None:
    code, stdout, _ = call("run", "retrieval", "--data", "data.jsonl")
    assert code == 0
    found = cells(stdout)
    assert found["recall_multi_hit"][0] == "0.7500"
    assert found["ranking.Success@1"][0] == "0.5000"
    assert stdout.startswith("retrieval over data.jsonl, 3 rows\n")


@pytest.mark.usefixtures("folder")
def test_texts_of_files_are_neither_markup_nor_escape_codes() -> None:
    _, stdout, _ = call("run", "-m", "RR", "--data", "markup.jsonl")
    assert "[bold]\\x1b[31m\\u202ey" in stdout
    assert "\u001b" not in stdout
    _, _, stderr = call("run", "[red]x[/red]", "--data", "data.jsonl")
    assert "'[red]x[/red]'" in stderr


@pytest.mark.usefixtures("folder")
def test_warnings_name_the_rows_by_id() -> None:
    rows = [ROWS[2], ROWS[0] | {"relevant_documents": [{"b": 2}, {"a": 0}]}]
    Path("graded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    _, _, stderr = call("run", "-m", "RR", "--data", "graded.jsonl")
    assert f"row {ROWS[0]['id']}" in stderr
    assert "row 0" not in stderr


@pytest.mark.usefixtures("folder")
def test_logging_is_left_as_it_was() -> None:
    before = logging.getLogger().handlers, logging.getLogger("haystack").handlers
    call("run", "-m", "RR", "--data", "data.jsonl")
    assert (logging.getLogger().handlers, logging.getLogger("haystack").handlers) == before


@pytest.mark.usefixtures("folder")
def test_trec_prints_each_query_and_what_is_missing() -> None:
    code, stdout, stderr = call("trec", "qrels.txt", "run.txt", "-m", "RR nDCG@2", "--per-query")
    assert code == 0
    assert stdout.splitlines()[:6] == [
        "RR\tq1\t0.5000",
        "RR\tq2\t1.0000",
        "RR\tq3\t0.0000",
        "nDCG@2\tq1\t0.6309",  # 1 / log2(3)
        "nDCG@2\tq2\t1.0000",
        "nDCG@2\tq3\t0.0000",
    ]
    assert cells(stdout) == {
        "ranking.RR": ["0.5000", "3", "0", "0", "0"],
        "ranking.nDCG@2": ["0.5436", "3", "0", "0", "0"],
    }
    assert "Judged queries missing from the run, given an empty ranking (1): 'q3'" in stderr
    assert "Queries of the run without labels, not counted (1): 'q9'" in stderr


@pytest.mark.usefixtures("folder")
def test_trec_intersection_and_threshold() -> None:
    _, stdout, stderr = call("trec", "qrels.txt", "run.txt", "-m", "RR", "--queries", "intersection")
    assert cells(stdout) == {"ranking.RR": ["0.7500", "2", "0", "0", "0"]}
    assert "missing from the run, not counted (1): 'q3'" in stderr
    _, stdout, stderr = call("trec", "qrels.txt", "run.txt", "-m", "RR", "--relevance-threshold", "2")
    assert "2 of 3 rows are undefined" in stderr
    assert "q2, q3" in stderr
    assert cells(stdout) == {"ranking.RR": ["0.1667", "3", "2", "0", "0"]}
    _, stdout, _ = call(
        "trec", "qrels.txt", "run.txt", "-m", "RR", "--relevance-threshold", "2", "--on-undefined", "nan"
    )
    assert cells(stdout) == {"ranking.RR": ["0.5000", "1", "2", "0", "2"]}


def test_trec_equals_trec_eval(folder: Path) -> None:
    draw = random.Random(7)
    documents = [f"d{number}" for number in range(60)]
    qrels = {f"q{q}": {key: draw.choice([0, 0, 1, 2, 3]) for key in draw.sample(documents, 20)} for q in range(40)}
    ranked = {f"q{q}": {key: draw.randint(0, 9) / 2 for key in draw.sample(documents, 30)} for q in range(40)}
    (folder / "q.txt").write_text(
        "".join(f"{query} 0 {key} {grade}\n" for query, grades in qrels.items() for key, grade in grades.items()),
        encoding="utf-8",
    )
    (folder / "r.txt").write_text(
        "".join(f"{query} Q0 {key} 0 {score} t\n" for query, found in ranked.items() for key, score in found.items()),
        encoding="utf-8",
    )
    code, _, _ = call("trec", "q.txt", "r.txt", "-m", "AP nDCG@10 RR P@5 R@10 Rprec Bpref", "--out", "kept")
    assert code == 0
    found = load_run(folder / "kept")
    names = {
        "AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@5": "P_5", "R@10": "recall_10", "Rprec": "Rprec",
        "Bpref": "bpref",
    }  # fmt: skip
    oracle = pytrec_eval.RelevanceEvaluator(qrels, set(names.values())).evaluate(ranked)
    for ours, theirs in names.items():
        expected = {query: values[theirs] for query, values in oracle.items()}
        scores = dict(zip(found.ids, found.metrics[f"ranking.{ours}"].scores, strict=True))
        assert scores == pytest.approx(expected, abs=1e-9)
        assert found.scores[f"ranking.{ours}"] == pytest.approx(sum(expected.values()) / len(expected), abs=1e-9)


PROCESSES = [
    pytest.param(["--version"], 0, "haystack-eval-ext", "", marks=pytest.mark.slow),
    (["run", "-m", "RR", "--data", "data.jsonl"], 0, "RR", "Warning: "),
    (["run", "absent", "--data", "data.jsonl"], 2, "", "Error: PIPELINE 'absent'"),
    pytest.param(["run"], 2, "", "Error: Missing option '--data'", marks=pytest.mark.slow),
    pytest.param(["trec", "absent.txt", "run.txt", "-m", "AP"], 2, "", "Error: absent.txt", marks=pytest.mark.slow),
]


def process(folder: Path, arguments: list[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    package = Path(haystack_eval_ext.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-m", "haystack_eval_ext.cli", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("arguments", "code", "stdout", "stderr"), PROCESSES)
def test_the_module_as_a_process(folder: Path, arguments: list[str], code: int, stdout: str, stderr: str) -> None:
    done = process(folder, arguments)
    assert done.returncode == code
    assert done.stderr.startswith(stderr)
    assert stdout in done.stdout
    assert "Traceback" not in done.stderr
    if code:
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_terminal_that_cannot_show_an_id_gets_it_escaped(folder: Path) -> None:
    row = ROWS[0] | {"id": "質問", "answerable": False}
    (folder / "ja.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(ROWS[1]) + "\n", encoding="utf-8")
    done = process(folder, ["run", "-m", "RR", "--data", "ja.jsonl"], PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "\\u8cea\\u554f" in done.stdout


def test_three_columns_of_ms_marco_are_told_as_warnings(folder: Path) -> None:
    (folder / "q.tsv").write_text("q\td1\t1\nq\td2\t0\n", encoding="utf-8")
    (folder / "r.tsv").write_text("q\td2\t1\nq\td1\t2\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["trec", "q.tsv", "r.tsv", "-m", "RR"])
    assert (result.exit_code, "0.5000" in result.output) == (0, True)
    assert "Warning: q.tsv has three columns: read as query, document and grade." in result.stderr
    assert "Warning: r.tsv has three columns, as MS MARCO's runs: read as query, document and rank." in result.stderr
