# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of runs: one line for each that is broken, nothing of others written over, nothing half-written."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haystack_eval_ext.errors import RunFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import SECRET, contents, data, evaluators, same

FILES = ("manifest.json", "rows.jsonl", "scores.jsonl")


# --- files that are no run -----------------------------------------------------------------------------------------


def edited(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    """What changes the text of one file."""

    def edit(folder: Path) -> None:
        (folder / name).write_text(change((folder / name).read_text("utf-8")), "utf-8")

    return edit


def spoilt(folder: Path) -> None:
    (folder / "rows.jsonl").write_bytes(b"\xff\n")


def removed(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def line(number: int, text: str) -> Callable[[str], str]:
    """What replaces a line of a text."""

    def change(old: str) -> str:
        lines = old.splitlines()
        lines[number] = text
        return "\n".join(lines) + "\n"

    return change


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "no manifest": (removed("manifest.json"), "not written to its end"),
    "no rows": (removed("rows.jsonl"), "rows.jsonl: cannot be read"),
    "no scores": (removed("scores.jsonl"), "scores.jsonl: cannot be read"),
    "torn manifest": (edited("manifest.json", lambda text: text[:200]), "manifest.json: not JSON.*whole"),
    "empty manifest": (edited("manifest.json", lambda _: ""), "manifest.json: the file is empty"),
    "another's manifest": (edited("manifest.json", lambda _: '{"name": "x"}'), "not of a run of haystack-eval"),
    "a list": (edited("manifest.json", lambda _: "[]"), "not of a run of haystack-eval"),
    "a baseline's": (
        edited("manifest.json", lambda text: text.replace("haystack-eval run", "haystack-eval baseline")),
        "another kind",
    ),
    "newer": (edited("manifest.json", lambda text: text.replace('"format": 1', '"format": 9')), "format 9.*Update"),
    "no metrics": (edited("manifest.json", lambda text: text.replace('"metrics"', '"others"')), "lacks 'metrics'"),
    "no name": (edited("manifest.json", lambda text: text.replace('"name": "run"', '"name": 7')), "lacks 'name'"),
    "torn rows": (edited("rows.jsonl", lambda text: text[:-20]), r"rows.jsonl:12: not JSON"),
    "torn scores": (edited("scores.jsonl", lambda text: text[:-20]), r"scores.jsonl:12: not JSON"),
    "rows lost": (edited("rows.jsonl", lambda text: text[: text.rindex("\n", 0, -1) + 1]), "names no row"),
    "scores lost": (edited("scores.jsonl", lambda text: text[: text.rindex("\n", 0, -1) + 1]), "12 rows.*11 in"),
    "a row twice": (edited("rows.jsonl", lambda text: text.replace('"id": "q1",', '"id": "q0",')), "row 2 has no id"),
    "scores twice": (edited("scores.jsonl", lambda text: text.replace('"id": "q1",', '"id": "q0",')), "same row"),
    "no object": (edited("rows.jsonl", line(3, "7")), r"rows.jsonl:4: a number, expected an object"),
    "a metric lost": (edited("scores.jsonl", lambda text: text.replace('"exact"', '"other"', 1)), "another form"),
    "NaN": (edited("scores.jsonl", lambda text: text.replace("1.0", "NaN", 1)), "not strict JSON"),
    "a strange status": (edited("scores.jsonl", lambda text: text.replace("scored", "fine", 1)), "contradict"),
    "scored without score": (edited("scores.jsonl", lambda text: text.replace("1.0", "null", 1)), "contradict"),
    "failed with score": (edited("scores.jsonl", lambda text: text.replace("scored", "error", 1)), "contradict"),
    "score as text": (edited("scores.jsonl", lambda text: text.replace("1.0", '"x"', 1)), "another form"),
    "not UTF-8": (spoilt, "not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_run_is_one_line(name: str, tmp_path: Path) -> None:
    api.evaluate(evaluators(), data(), out=tmp_path / "run")
    change, expected = BROKEN[name]
    change(tmp_path / "run")
    with pytest.raises(RunFileError, match=expected) as error:
        EvaluationRun.load(tmp_path / "run")
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)
    assert str(tmp_path / "run") in str(error.value)


def test_what_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "harness.json").write_text("{}")
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "bare.json").write_text('{"kind": "haystack-eval baseline", "format": 1, "name": "x", "rows": []}')
    for name, expected in {
        "missing": "no such run",
        "empty": "holds no run",
        "unfinished": "not finished. Start it again",
        "other.json": "not of a run",
        "bare.json": "lacks 'name', 'data' or 'settings'",
    }.items():
        with pytest.raises(RunFileError, match=expected):
            EvaluationRun.load(tmp_path / name)


@pytest.mark.parametrize(
    "change", ['"rows": 7', '"rows": [{"id": "q0", "fingerprint": "x"}]', '"rows": [{"id": "q0"}]']
)
def test_a_broken_baseline_is_one_line(change: str, tmp_path: Path) -> None:
    api.evaluate(evaluators(), data(1)).baseline(tmp_path / "b.json")
    text = (tmp_path / "b.json").read_text("utf-8")
    (tmp_path / "b.json").write_text(text[: text.index('"rows"')] + change + "}")
    with pytest.raises(RunFileError, match=r"b\.json"):
        EvaluationRun.load(tmp_path / "b.json")


Change = Callable[[dict[str, Any]], Any]
ANOTHER_FORM = "another form|expected (an object|a text)"
#: What changes a manifest or a row, and what of it is then named.
MANIFESTS: dict[str, tuple[Change, str]] = {
    "no time": (lambda manifest: manifest.pop("created"), "'created'"),
    "time": (lambda manifest: manifest.update(created=7), "'created'"),
    "versions": (lambda manifest: manifest.update(versions=[1]), "'versions'"),
    "metrics": (lambda manifest: manifest.update(metrics=[]), "'metrics'"),
    "no metrics": (lambda manifest: manifest.update(metrics={}), "'metrics'"),
    "texts": (lambda manifest: manifest.update(texts="yes"), "'texts'"),
    "fingerprint": (lambda manifest: manifest["data"].update(question_fingerprint=[1]), "'data'"),
    "judge": (
        lambda manifest: manifest["metrics"]["exact"].update(judge=5),
        ANOTHER_FORM,
    ),
    "models": (
        lambda manifest: manifest["metrics"]["exact"].update(judge={"generator": "g", "model": [1], "models": 5}),
        ANOTHER_FORM,
    ),
    "parameters": (
        lambda manifest: manifest["metrics"]["exact"].update(parameters=[["a", 1, 2]]),
        ANOTHER_FORM,
    ),
}
OF_RUNS: dict[str, tuple[Change, str]] = {
    "pipelines": (lambda manifest: manifest.update(pipelines=["x"]), "'pipelines'"),
    "usage": (lambda manifest: manifest.update(usage={"a": 1}), "'usage'"),
    "diagnoses": (lambda manifest: manifest.update(diagnoses={"a": {"labels": ["x"]}}), "'diagnoses'"),
    "warnings": (lambda manifest: manifest.update(warnings=[1]), "'warnings'"),
    "spread": (lambda manifest: manifest.update(spread={"a": "x"}), "'spread'"),
    "rag usage": (lambda manifest: manifest.update(rag_usage={"tokens": {"m": 1}}), "'rag_usage'"),
}
ROWS: dict[str, tuple[Change, str]] = {
    "cluster": (lambda row: row.update(cluster=[1]), "'cluster'"),
    "tags": (lambda row: row.update(tags=5), "'tags'"),
    "status": (lambda row: row.update(status="fine"), "'status'"),
    "status of one": (lambda row: row.update(status="ok"), "'status'"),
    "error": (lambda row: row.update(status="error", error="boom"), "'(status|error)'"),
    "documents": (lambda row: row.update(documents="abc"), "'documents'"),
    "document": (lambda row: row.update(documents=[5]), "'documents'"),
    "contexts": (lambda row: row.update(contexts=5), "'contexts'"),
    "answer": (lambda row: row.update(answer=5), "'answer'"),
    "columns": (lambda row: row.update(columns=[1]), "'columns'"),
    "labels": (lambda row: row.update(relevant_documents="x"), "'relevant_documents'"),
    "stages": (lambda row: row.update(stages=[1]), "'stages'"),
    "tokens": (lambda row: row.update(tokens=3), "'tokens'"),
    "fingerprint": (lambda row: row.update(fingerprint=[1]), "row 2 has no id"),
    "repeat": (lambda row: row.update(repeat=10**9), "row 2 has no id"),
}


@pytest.mark.parametrize("name", [*MANIFESTS, *OF_RUNS])
def test_a_manifest_of_another_form_is_one_line(name: str, tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    run.baseline(tmp_path / "run" / "baseline.json")
    change, expected = (MANIFESTS | OF_RUNS)[name]
    for file in ("manifest.json", "baseline.json") if name in MANIFESTS else ("manifest.json",):
        path = tmp_path / "run" / file
        manifest = json.loads(path.read_text("utf-8"))
        change(manifest)
        path.write_text(json.dumps(manifest), encoding="utf-8")
        with pytest.raises(RunFileError, match=expected) as error:
            EvaluationRun.load(path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_another_form_are_one_line(name: str, tmp_path: Path) -> None:
    api.evaluate(evaluators(), data(), out=tmp_path / "run")
    change, expected = ROWS[name]
    path = tmp_path / "run" / "rows.jsonl"
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(found[1])
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    with pytest.raises(RunFileError, match=expected) as error:
        EvaluationRun.load(tmp_path / "run")
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("score", ["true", '"0.5"', "[1]", "1" + "0" * 400])
def test_scores_that_are_none_are_one_line(score: str, tmp_path: Path) -> None:
    api.evaluate(evaluators(), data(), out=tmp_path / "run")
    path = tmp_path / "run" / "scores.jsonl"
    path.write_text(path.read_text("utf-8").replace("1.0", score, 1), encoding="utf-8")
    with pytest.raises(RunFileError, match=r"scores.jsonl"):
        EvaluationRun.load(tmp_path / "run")


# --- places that must not be written to ----------------------------------------------------------------------------


def test_nothing_of_others_is_written_over(tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    (tmp_path / "file").write_text("x")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("x")
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows.jsonl").write_text("x")
    for name, expected in {
        "run": "holds a run already",
        "file": "is a file",
        "photos": "holds no run; name a new folder",
        "rows": "of something else",
    }.items():
        before = contents(tmp_path)
        with pytest.raises(RunFileError, match=expected):
            run.save(tmp_path / name)
        assert contents(tmp_path) == before
    api.evaluate(evaluators(), data(4)).save(tmp_path / "run", replace=True)
    assert len(EvaluationRun.load(tmp_path / "run").ids) == 4


def test_a_full_disk_leaves_the_run_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    calls = []

    def full(_: int) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        api.evaluate(evaluators(), data(4)).save(tmp_path / "run", replace=True)
    assert sorted(os.listdir(tmp_path / "run")) == sorted(FILES)
    assert EvaluationRun.load(tmp_path / "run").scores == first.scores


KILLED = """
import os, sys
from pathlib import Path
from kept_runs import SECRET, Judge, contents, data, evaluators, judged, rows, same
from haystack_eval_ext.runs import api

run, moves, move = api.evaluate(evaluators(), data()), [], Path.replace

def killed(self, target):
    moves.append(target)
    if len(moves) == int(sys.argv[2]):
        os._exit(9)
    return move(self, target)

Path.replace = killed
run.save(sys.argv[1], replace=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("move", "before"), [(1, True), (2, False), (3, True)])
def test_a_save_that_was_killed_is_no_run_and_can_be_repeated(move: int, before: bool, tmp_path: Path) -> None:
    if before:
        api.evaluate(evaluators(), data(4), out=tmp_path / "run")
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "run"), str(move)],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 9
    with pytest.raises(RunFileError, match="not written to its end"):
        EvaluationRun.load(tmp_path / "run")
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    assert same(EvaluationRun.load(tmp_path / "run"), run)
    assert sorted(os.listdir(tmp_path / "run")) == sorted(FILES)
