# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole way in a shell, as a new user would go it: run a RAG pipeline, keep, score again, compare, gate."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.generators.chat import MockChatGenerator, OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from typer.testing import CliRunner

from haystack_eval_ext._resources import pipeline_path
from haystack_eval_ext.cli import app
from haystack_eval_ext.runs.api import load_run
from openai_server import OpenAIServer
from rag_pipelines import SECRET, TEMPLATE, dataset

COUNT = 12
ASKED: list[str] = []
BROKEN: set[str] = set()


def flaky(question: str) -> dict[str, Any]:
    """A target that fails as long as a question is in BROKEN."""
    ASKED.append(question)
    if any(part in question for part in BROKEN):
        raise RuntimeError(question)
    return {"answer": "topic1", "documents": ["d1", "d2"]}


def two_arguments(question: str, language: str) -> dict[str, Any]:
    """No target: nothing says what the language is."""
    return {"answer": question + language}


def no_answer(question: str) -> dict[str, Any]:
    """No target: it returns what has no meaning."""
    return {"reply": question}


NUMBER = 5


def rag_yaml(index: str, generator: Any = None) -> str:
    pipeline = Pipeline()
    store = InMemoryDocumentStore(index=index)
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=5))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user(TEMPLATE)], required_variables="*"))
    pipeline.add_component("llm", generator or MockChatGenerator("topic1"))
    pipeline.connect("retriever", "prompt.documents")
    pipeline.connect("prompt", "llm.messages")
    return pipeline.dumps()


def index_yaml(index: str) -> str:
    pipeline = Pipeline()
    pipeline.add_component("converter", TextFileToDocument())
    writer = DocumentWriter(InMemoryDocumentStore(index=index), policy=DuplicatePolicy.SKIP)
    pipeline.add_component("writer", writer)
    pipeline.connect("converter", "writer")
    return pipeline.dumps()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with files, right and wrong ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    ASKED.clear()
    BROKEN.clear()
    index = str(tmp_path)  # the stores of one process are shared by name
    rows = [
        {
            "id": row["id"],
            "question": f"{row['question']} {SECRET}",
            "relevant_documents": [row["relevant_documents"][0].id],
            "reference_answer": row["reference_answer"],
            "tags": row["tags"],
            "ask": row["question"],
        }
        for row in dataset(COUNT).rows
    ]
    files = [row | {"relevant_documents": [f"{row['relevant_documents'][0]}.txt"]} for row in rows]
    diagnosis = pipeline_path("rag_diagnosis").read_text("utf-8").replace("_field: id", "_field: meta.file_path")
    for name, text in {
        "questions.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "files.jsonl": "".join(json.dumps(row) + "\n" for row in files),
        "unlabelled.jsonl": '{"id": "q1", "question": "Why?"}\n',
        "no_question.jsonl": '{"id": "q1", "relevant_documents": ["d1"], "reference_answer": "x"}\n',
        "diagnosis.yaml": diagnosis,
        "rag.yaml": rag_yaml(index),
        "index.yaml": index_yaml(index),
        "other_index.yaml": index_yaml(f"{index}-other"),
        "prices.yaml": "served-model: {input: 1.0, output: 2.0}\n",
        "broken.yaml": "components: [\n",
        "bare.yaml": "components: {}\nconnections: []\n",
        "untrusted.yaml": "components: {a: {type: os.path.Thing, init_parameters: {}}}\n",
        "there.txt": "mine",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("documents", "no_documents", "full"):
        (tmp_path / name).mkdir()
    (tmp_path / "full" / "file").touch()
    for number in range(COUNT):
        text = f"Rule {number} is about topic{number} in chapter{number % 7}."
        (tmp_path / "documents" / f"d{number}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def good(line: str) -> str:
    """What a command prints that must work."""
    code, out, err = call(line)
    assert code == 0, out + err
    # Only a question that failed may be told in words.
    assert SECRET not in out + err or "failed on" in out
    return out


INDEXED = "run diagnosis.yaml --data files.jsonl --key-field meta.file_path --index index.yaml --documents documents"


def test_the_whole_way(folder: Path) -> None:
    out = good(f"{INDEXED} --rag rag.yaml --out runs/main")
    # Each question has one document and it comes first; the answer is always the same one.
    main = load_run("runs/main")
    assert (main.scores["recall"], main.scores["mrr"]) == (1.0, 1.0)
    assert main.scores["answer"] == pytest.approx(1 / COUNT)
    labels = main.manifest["diagnoses"]["diagnosis"]["labels"]
    assert [row for row, label in labels.items() if label == "passed"] == ["q1"]
    assert "generation failure wrong" in out
    # A worse setting of the same YAML.
    good(f"{INDEXED} --rag rag.yaml --set retriever.top_k=1 --out runs/new")
    new = load_run("runs/new")
    assert {len(row["documents"]) for row in new.rows} == {1}
    assert "top_k: 1" in new.manifest["pipelines"]["rag"]
    assert "top_k: 5" in main.manifest["pipelines"]["rag"]
    # What a gate can find is said before the first question is asked.
    err = call(f"{INDEXED} --rag rag.yaml --sample 10")[2]
    assert "With 10 questions a drop of 0.77 fails nine times in ten (assumed: 0/1 scores of which 20 % " in err
    good("baseline runs/main -o baseline.json")
    assert SECRET not in (folder / "baseline.json").read_text("utf-8")
    out = good("compare baseline.json runs/new --fail-if 'recall drops 0.3' --markdown report.md")
    assert "pass: recall changed by 0.0000" in out
    report = (folder / "report.md").read_text("utf-8")
    assert report.count("| recall | 1.0000 (") == 1
    assert "| recall | 0.0000 |" in report
    assert call("check runs/new --fail-if 'answer < 0.8'")[0] == 1
    assert call("check runs/new --fail-if 'mrr < 0.5'")[0] == 0
    assert call("check runs/new --fail-if 'answer < 0.1' --inconclusive fail")[0] == 3


def test_a_generator_behind_a_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test")
    with OpenAIServer(key="key-of-the-test") as server:
        generator = OpenAIChatGenerator(api_base_url=server.url, model="small", max_retries=0)
        (folder / "served.yaml").write_text(rag_yaml(str(folder), generator), encoding="utf-8")
        good(f"{INDEXED} --rag served.yaml --out run --prices prices.yaml --no-progress")
        assert server.calls == COUNT
        server.change(lost=0.5, lost_to="400")
        out = good(f"{INDEXED} --rag served.yaml --out part --no-progress")
    run, part = load_run("run"), load_run("part")
    assert all(row["tokens"].keys() == {"served-model"} and row["cost"] > 0 for row in run.rows)
    failed = [row["id"] for row in part.rows if row["status"] == "error"]
    assert 0 < len(failed) < COUNT
    assert [
        row for row, status in zip(part.ids, part.metrics["answer"].statuses, strict=True) if status == "error"
    ] == (failed)
    assert "Questions that the RAG pipeline failed on" in out
    assert all(row in out for row in failed)
    kept = "".join(path.read_text("utf-8") for path in Path("run").iterdir())
    assert "key-of-the-test" not in kept


def test_targets_made_in_python(folder: Path) -> None:
    line = "run rag_diagnosis --data questions.jsonl --out"
    good(f"{line} made --rag rag_pipelines:hybrid")
    good(f"{line} function --rag test_cli_rag:flaky")
    good(f"{line} dense --rag rag_pipelines:hybrid --retrieved dense")
    made, dense = load_run("made"), load_run("dense")
    assert made.scores["recall"] == made.scores["ranker/recall"] != made.scores["dense/recall"]
    assert dense.scores["recall"] == made.scores["dense/recall"]
    assert load_run("function").scores["recall"] == pytest.approx(2 / COUNT)


def test_what_the_query_is_can_be_mapped(folder: Path) -> None:
    line = f"{INDEXED} --rag rag.yaml --out"
    good(f"{line} run --map query=retriever.query --map ask=prompt.question --map answers=llm.replies")
    prompt = load_run("run").rows[0]["components"]
    assert "prompt" in json.dumps(prompt)
    good("run -m 'R@5' --data questions.jsonl --rag rag_pipelines:rag --out measures")
    assert load_run("measures").scores == {"ranking.R@5": 1.0}


def test_samples_and_repeats(folder: Path) -> None:
    line = "run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky"
    for name in ("one", "two"):
        good(f"{line} --sample 4 --seed 3 --stratify tag --out {name}")
    one = load_run("one")
    assert one.ids == load_run("two").ids
    assert [row["tags"] for row in one.rows].count(["odd"]) == 2
    assert (one.manifest["settings"]["sample"], one.manifest["settings"]["seed"]) == (4, 3)
    good(f"{line} --sample 4 --seed 4 --out other")
    assert load_run("other").ids != one.ids
    ASKED.clear()
    out = good(f"{line} --repeats 2 --out twice")
    assert "each asked 2 times" in out
    assert (len(ASKED), len(load_run("twice").rows), len(load_run("twice").ids)) == (2 * COUNT, 2 * COUNT, COUNT)


def test_an_unfinished_run_goes_on(folder: Path) -> None:
    line = "run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --concurrency 1 --out run"
    BROKEN.add("Question 6:")
    code, out, err = call(f"{line} --max-failures 0")
    assert (code, out) == (2, "")
    assert "start again with the same folder, and with --retry-failed" in err
    assert "or with a higher --max-failures" in err
    assert SECRET in err
    assert not (folder / "run" / "manifest.json").exists()
    for other in ("check run --fail-if 'recall < 1'", "compare run run", "baseline run -o b.json"):
        assert call(other)[0] == 2
        assert "run holds a run that is not finished" in call(other)[2]
    BROKEN.clear()
    kept = [json.loads(line) for line in (folder / "run" / "answers.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in kept] == [f"q{number}" for number in range(7)]
    ASKED.clear()
    good(f"{line} --retry-failed")
    assert len(ASKED) == COUNT - 6
    assert [row["status"] for row in load_run("run").rows] == ["ok"] * COUNT
    code, _, err = call(line)
    assert (code, len(ASKED)) == (2, COUNT - 6)
    assert "holds a run already" in err
    good(f"{line} --force")
    assert len(ASKED) == 2 * COUNT - 6


def test_failing_questions_cost_their_own_rows(folder: Path) -> None:
    BROKEN.add("Question 3:")
    out = good("run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --out run")
    assert "Questions that the RAG pipeline failed on" in out
    run = load_run("run")
    statuses = run.metrics["answer"].statuses
    assert [row for row, status in zip(run.ids, statuses, strict=True) if status == "error"] == ["q3"]
    assert "RuntimeError" in (run.rows[3]["error"]["class"])
    BROKEN.add("Question")
    code, _, err = call("run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --out none")
    assert code == 2
    assert "Every question failed" in err
    assert err.splitlines()[-1].startswith("Error: Every question failed")
    assert SECRET in err
    code, _, err = call("run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --out bare --no-texts")
    assert (code, "RuntimeError: Raised at" in err, SECRET in err) == (2, True, False)


def test_without_texts(folder: Path) -> None:
    good("run rag_diagnosis --data questions.jsonl --rag rag_pipelines:rag --no-texts --out bare")
    assert SECRET not in "".join(path.read_text("utf-8") for path in Path("bare").iterdir())
    good("run rag_diagnosis --data questions.jsonl --rag rag_pipelines:rag --out whole")
    good("compare bare whole --fail-if 'recall drops 0.5'")
    assert "kept without texts" in call("run rag_diagnosis --data bare")[2]


def test_kept_answers_are_scored_again(folder: Path) -> None:
    good("run -m 'R@5' --data questions.jsonl --rag test_cli_rag:flaky --repeats 2 --out old")
    ASKED.clear()
    good("run rag_diagnosis --data old --out again")
    good("run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --repeats 2 --out new")
    again, new = load_run("again"), load_run("new")
    assert (len(ASKED), again.scores) == (2 * COUNT, new.scores)
    assert again.manifest["settings"]["scored_again"] == "old"
    assert "Metrics" in call("compare old new")[2]
    assert "scored anew" in good("compare old new --rejudge --fail-if 'recall drops 0.5' --margin 0.1")
    good("baseline old -o old.json")
    assert "kept without them" in call("compare old.json new --rejudge")[2]


def test_an_empty_store_is_no_recall_of_0(folder: Path) -> None:
    code, out, err = call("run diagnosis.yaml --data files.jsonl --key-field meta.file_path --rag rag.yaml --out run")
    assert (code, out) == (2, "")
    assert "retriever searches an empty document store (InMemoryDocumentStore with index" in err
    assert "--index INDEX.yaml --documents DIR" in err
    assert not (folder / "run").exists()


def test_a_run_that_cannot_begin_costs_neither_money_nor_the_run_before(folder: Path) -> None:
    line = "run rag_diagnosis --data questions.jsonl --rag test_cli_rag:flaky --out run"
    good(line)
    before = {path.name: path.read_bytes() for path in (folder / "run").iterdir()}
    ASKED.clear()
    for options, message in {
        "": "replace it (--force)",
        "--force --timeout -3": "--timeout must be",
        "--force --isolate": "--isolate copies pipelines",
        "--force --set a.b=1": "--set is for a pipeline's YAML",
        "--force --map anser=llm.replies": "--map is for a pipeline",
    }.items():
        code, out, err = call(f"{line} {options}")
        assert (code, out) == (2, ""), err
        assert message in err
        assert {path.name: path.read_bytes() for path in (folder / "run").iterdir()} == before
    (folder / "run" / ".manifest.json.swp").touch()
    assert "holds a run already" in call(line)[2]
    assert ASKED == []
    code, _, err = call("run -m R@5 --data questions.jsonl --rag test_cli_rag:flaky --sample 4 --out run")
    assert (code, ASKED) == (2, [])


def test_budgets_say_that_they_bound_the_judges_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    out = good("run --help")
    for text in ("Calls of the judges at most", "Tokens of the judges at most", "Cost of the judges at most"):
        assert text in out
    assert "not of --rag" in out


def test_what_lies_between_answers_and_what_they_took_is_printed(folder: Path) -> None:
    BROKEN.add("Question 3:")
    out = good("run -m R@5 --data questions.jsonl --rag test_cli_rag:flaky --repeats 2 --sample 12 --out run")
    (line,) = [line for line in out.splitlines() if line.startswith("ranking.R@5")]
    assert line.split()[1:] == ["0.1818", "11", "0", "1", "1", "0.0000"]
    assert "q3 (2 of 2 answers)" in out
    assert "RAG pipeline: 24 answers in" in out
    assert "sample 12; seed 0" in out
    assert "Spread" not in good("run -m R@5 --data questions.jsonl --rag test_cli_rag:flaky")


Q = "run rag_diagnosis --data questions.jsonl --out out"
WRONG: list[tuple[str, list[str]]] = [
    (f"{Q} --rag absent.yaml", ["absent.yaml", "cannot be read"]),
    (f"{Q} --rag broken.yaml", ["broken.yaml", "not valid YAML"]),
    (f"{Q} --rag bare.yaml", ["bare.yaml", "no components"]),
    (f"{Q} --rag untrusted.yaml", ["'os.path'", "HAYSTACK_DESERIALIZATION_ALLOWLIST"]),
    (f"{Q} --rag there.txt", ["there.txt"]),
    (f"{Q} --rag rag", ["'rag' is no file and not module:name"]),
    (f"{Q} --rag ''", ["no file and not module:name"]),
    (f"{Q} --rag no_such_module:rag", ["no module 'no_such_module'"]),
    (f"{Q} --rag rag_pipelines:hybird", ["no 'hybird'", "did you mean hybrid?"]),
    (f"{Q} --rag test_cli_rag:two_arguments", ["needs question, language"]),
    (f"{Q} --rag test_cli_rag:NUMBER", ["test_cli_rag:NUMBER must be", "int"]),
    (f"{Q} --rag test_cli_rag:no_answer", ["answer, answers", "returned a dict without them"]),
    (f"{Q} --rag rag.yaml --set top_k=3", ["--set must be COMPONENT.PARAMETER=VALUE"]),
    (f"{Q} --rag rag.yaml --set retriever.top_k", ["--set must be COMPONENT.PARAMETER=VALUE"]),
    (f"{Q} --rag rag.yaml --set retriver.top_k=3", ["'retriver'", "retriever"]),
    (f"{Q} --rag rag.yaml --set retriever.topk=3", ["topk", "top_k"]),
    (f"{Q} --rag rag.yaml --set retriever.top_k=many", ["retriever"]),
    (f"{Q} --rag rag.yaml --set 'retriever.top_k=[1'", ["retriever.top_k", "does not end so"]),
    (f"{Q} --rag rag_pipelines:rag --set bm25.top_k=3", ["made in Python"]),
    (f"{Q} --rag rag_pipelines:rag --map query=bm25.text", ["bm25 has no input 'text'"]),
    (f"{Q} --rag rag_pipelines:rag --map query=bm52.query", ["no component 'bm52'", "bm25"]),
    (f"{Q} --rag rag_pipelines:rag --map language=bm25.query", ["language", "column"]),
    (f"{Q} --rag rag_pipelines:rag --map answers=llm.answer", ["llm has no output 'answer'"]),
    (f"{Q} --rag rag_pipelines:rag --map recall.ground_truth_documents=nothing", ["'nothing'"]),
    (f"{Q} --rag rag_pipelines:rag --retrieved ranker", ["ranker", "bm25"]),
    (f"{Q} --rag rag_pipelines:rag --concurrency 0", ["--concurrency", "--help"]),
    (f"{Q} --rag rag_pipelines:rag --repeats 0", ["--repeats", "--help"]),
    (f"{Q} --rag rag_pipelines:rag --sample 100", ["sample", "12"]),
    (f"{Q} --rag rag_pipelines:rag --stratify tag", ["--stratify goes with --sample"]),
    (f"{Q} --rag rag_pipelines:rag --sample 3 --stratify language", ["language"]),
    (f"{Q} --rag rag_pipelines:rag --timeout 0", ["--timeout must be a number of seconds above 0"]),
    (f"{Q} --rag test_cli_rag:flaky --isolate", ["isolate", "function"]),
    (f"{Q} --rag rag.yaml --index index.yaml", ["--index and --documents belong together"]),
    (f"{Q} --rag rag.yaml --documents documents", ["--index and --documents belong together"]),
    (f"{Q} --rag rag.yaml --index absent.yaml --documents documents", ["absent.yaml"]),
    (f"{Q} --rag rag.yaml --index index.yaml --documents absent", ["'absent' is no folder"]),
    (f"{Q} --rag rag.yaml --index index.yaml --documents no_documents", ["'no_documents' holds no files"]),
    (f"{Q} --rag rag.yaml --index other_index.yaml --documents documents", ["index", "the same index: NAME"]),
    (f"{Q} --rag rag.yaml --index rag.yaml --documents documents", ["sources"]),
    (f"{Q} --rag test_cli_rag:flaky --index index.yaml --documents documents", ["is a function"]),
    (f"{Q} --sample 3 --set a.b=1", ["--set, --sample go with --rag"]),
    (f"{Q} --index index.yaml", ["--index goes with --rag"]),
    (f"{Q} --map query=bm25.query", ["--map NAME=COMPONENT.SOCKET goes with --rag"]),
    (f"{Q} --rag rag_pipelines:rag --max-calls 3", ["No component of the pipeline asks a judge"]),
    (f"{Q} --rag rag_pipelines:rag --max-cost 3", ["--max-cost needs --prices"]),
    (f"{Q} --rag rag_pipelines:rag --prices rag.yaml", ["rag.yaml", "not a table of prices"]),
    ("run rag_diagnosis --data unlabelled.jsonl --rag rag_pipelines:rag --out out", ["relevant_documents"]),
    ("run rag_diagnosis --data no_question.jsonl --rag rag_pipelines:rag --out out", ["no question", "q1"]),
    ("run rag_diagnosis --data questions.jsonl --rag rag_pipelines:rag --out full", ["not empty", "new folder"]),
    ("run rag_diagnosis --data questions.jsonl --rag rag_pipelines:rag --out there.txt", ["is a file"]),
    ("run rag_diagnosis --data full --rag rag_pipelines:rag --out out", ["full"]),
    ("run bm25_retrieval --data questions.jsonl --rag rag_pipelines:rag --out out", ["one question at a time"]),
]


@pytest.mark.parametrize(("line", "parts"), WRONG, ids=[line.removeprefix(Q) for line, _ in WRONG])
def test_wrong_use_is_one_line_and_exit_code_2(line: str, parts: list[str], folder: Path) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    code, out, err = call(line)
    assert (code, out) == (2, ""), out + err
    # Where questions were asked, what a gate over them finds was told before.
    told, error = err.splitlines()[:-1], err.splitlines()[-1]
    assert error.startswith("Error: ")
    assert all(each.startswith("With 12 questions") for each in told) and (not told or "no_answer" in line), err
    assert SECRET not in err
    for part in parts:
        assert part in err
    left = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    begun = {path for path in left if path.parent == folder / "out"}
    # A run that began is one that can go on.
    assert {path.name for path in begun} <= {"harness.json", "answers.jsonl"}
    assert {path: left[path] for path in left.keys() - begun} == before
    assert ASKED == []
