# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: a finished run stays whole until the next is saved, and nothing that was paid for is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline, component

import haystack_eval_ext
from haystack_eval_ext import AnswerTokenF1Evaluator
from haystack_eval_ext.errors import EvaluationError, HarnessError, RunFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._run_rows import run_rows
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import data, evaluators, same
from rag_pipelines import dataset, rag

RUN = {"manifest.json", "rows.jsonl", "scores.jsonl"}
ANSWERS = {"harness.json", "answers.jsonl"}


class Target:
    """A function that counts what it is asked, and fails as told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: Callable[[str], bool] = lambda _: False
        self.result: Any = None

    def __call__(self, question: str) -> Any:
        self.asked.append(question)
        if self.fails(question):
            raise ConnectionError(question)
        return self.result or {"answer": f"topic {len(self.asked)}", "documents": ["d1"]}


def f1() -> dict[str, Any]:
    return {"f1": AnswerTokenF1Evaluator()}


def run(target: Any, out: Path, count: int = 5, **options: Any) -> EvaluationRun:
    return api.run_rag(f1(), dataset(count), target, out=out, concurrency=1, progress=False, **options)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def contents(folder: Path, only: set[str] = RUN) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in sorted(only)}


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text("utf-8").splitlines()]


# --- answers and run -----------------------------------------------------------------------------------------------


def test_answers_and_run_are_files_of_their_own(tmp_path: Path) -> None:
    found = run(Target(), tmp_path / "run")
    assert names(tmp_path / "run") == RUN | ANSWERS
    assert "reference_answer" not in logged(tmp_path / "run")[0]
    assert "reference_answer" in EvaluationRun.load(tmp_path / "run").rows[0]
    assert same(EvaluationRun.load(tmp_path / "run"), found)


def test_without_texts_the_answers_go(tmp_path: Path) -> None:
    run(Target(), tmp_path / "run")
    (tmp_path / "run" / ".answers.jsonl.0a1b2c3d").write_text("half an answer")
    run(Target(), tmp_path / "run", replace_run=True, texts=False)
    assert names(tmp_path / "run") == RUN


def isolate(target: Target) -> dict[str, Any]:
    return {"isolate": True}


def wrong_form(target: Target) -> dict[str, Any]:
    target.result = 7
    return {}


def all_fail(target: Target) -> dict[str, Any]:
    target.fails = lambda _: True
    return {}


def bad_option(target: Target) -> dict[str, Any]:
    return {"timeout": -3}


def too_many_fail(target: Target) -> dict[str, Any]:
    target.fails = lambda _: len(target.asked) > 2
    return {"max_failures": 0}


@pytest.mark.parametrize("spoil", [isolate, wrong_form, all_fail, bad_option, too_many_fail])
def test_a_run_is_there_until_the_next_one_is_saved(spoil: Callable[[Target], dict[str, Any]], tmp_path: Path) -> None:
    target = Target()
    run(target, tmp_path / "run")
    before = contents(tmp_path / "run")
    options = spoil(target)
    with pytest.raises((ValueError, TypeError)):
        run(target, tmp_path / "run", replace_run=True, **options)
    assert contents(tmp_path / "run") == before
    assert len(EvaluationRun.load(tmp_path / "run").ids) == 5


def test_a_warm_up_that_fails_costs_neither_run_nor_answers(tmp_path: Path) -> None:
    @component
    class Cold:
        broken = False

        def warm_up(self) -> None:
            if Cold.broken:
                raise RuntimeError

        @component.output_types(replies=list[str])
        def run(self, query: str) -> dict[str, Any]:
            """
            Answer.

            :param query: The question.
            :returns: A reply.
            """
            return {"replies": [query]}

    pipeline = Pipeline()
    pipeline.add_component("cold", Cold())
    run(pipeline, tmp_path / "run")
    before = contents(tmp_path / "run", RUN | ANSWERS)
    Cold.broken = True
    with pytest.raises(EvaluationError, match="warmed up"):
        run(pipeline, tmp_path / "run", replace_run=True)
    assert contents(tmp_path / "run", RUN | ANSWERS) == before
    with pytest.raises(EvaluationError, match="warmed up"):
        run(pipeline, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_replacement_that_stopped_is_gone_on_with(tmp_path: Path) -> None:
    target = Target()
    first = run(target, tmp_path / "run")
    target.asked.clear()
    target.fails = lambda question: "Question 3:" in question
    with pytest.raises(HarnessError, match="1 of 4 rows failed"):
        run(target, tmp_path / "run", replace_run=True, max_failures=0)
    assert EvaluationRun.load(tmp_path / "run").rows == first.rows
    target.fails = lambda _: False
    run(target, tmp_path / "run", replace_run=True)
    assert len(target.asked) == 5  # the last one was missing
    second = run(target, tmp_path / "run", replace_run=True, retry_failed=True)
    assert len(target.asked) == 6
    assert [row["answer"] for row in second.rows] == [f"topic {number}" for number in (1, 2, 3, 6, 5)]
    # Once it is saved, replacing it asks everything again.
    run(target, tmp_path / "run", replace_run=True)
    assert len(target.asked) == 11


def test_a_bound_of_failures_asks_nothing_more_until_it_is_lifted(tmp_path: Path) -> None:
    target = Target()
    target.fails = lambda question: "Question 1:" in question
    for _ in range(3):
        with pytest.raises(HarnessError, match=r"with retry_failed.*or with a higher max_failures"):
            run(target, tmp_path / "run", max_failures=0)
        assert len(target.asked) == 2
    run(target, tmp_path / "run", max_failures=1)
    assert len(target.asked) == 5


def test_a_first_try_with_a_mistake_is_no_dead_end(tmp_path: Path) -> None:
    wrong = Target()
    wrong.result = 7
    with pytest.raises(EvaluationError, match="or a dict with"):
        run(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    wrong.result, wrong.fails = None, lambda _: True
    with pytest.raises(EvaluationError, match=r"Every question failed.*With retry_failed"):
        run(wrong, tmp_path / "run")
    # Nothing was answered: other questions may be asked in its place.
    run(Target(), tmp_path / "run", count=3)
    assert len(EvaluationRun.load(tmp_path / "run").ids) == 3


def test_an_unfinished_run_of_another_pipeline_is_replaced_when_wished(tmp_path: Path) -> None:
    target = Target()
    target.fails = lambda _: len(target.asked) > 2
    with pytest.raises(HarnessError):
        run(target, tmp_path / "run", max_failures=0)
    with pytest.raises(HarnessError, match=r"another questions.*replace it \(replace=True\)"):
        run(Target(), tmp_path / "run", count=4)
    with pytest.raises(HarnessError, match="leave retry_failed out"):
        run(Target(), tmp_path / "run", count=4, replace_run=True, retry_failed=True)
    assert len(logged(tmp_path / "run")) == 3
    run(Target(), tmp_path / "run", count=4, replace_run=True)
    assert len(logged(tmp_path / "run")) == 4


def test_answers_are_not_written_over_by_another_run(tmp_path: Path) -> None:
    target = Target()
    target.fails = lambda _: len(target.asked) > 2
    with pytest.raises(HarnessError):
        run(target, tmp_path / "run", max_failures=0)
    before = contents(tmp_path / "run", ANSWERS)
    other = api.evaluate(evaluators(), data())
    with pytest.raises(RunFileError, match="answers of a RAG pipeline whose run is not finished"):
        api.evaluate(evaluators(), data(), out=tmp_path / "run")
    for texts in (True, False):
        with pytest.raises(RunFileError, match="answers of a RAG pipeline"):
            other.save(tmp_path / "run", texts=texts)
    assert contents(tmp_path / "run", ANSWERS) == before
    assert names(tmp_path / "run") == ANSWERS
    other.save(tmp_path / "run", replace=True)
    assert names(tmp_path / "run") == RUN  # they belong to no run any more


def test_labels_are_those_of_the_data_and_not_of_the_answers(tmp_path: Path) -> None:
    target = Target()
    run(target, tmp_path / "run")
    labelled = Dataset("q", [row | {"reference_answer": "else", "tags": ["new"]} for row in dataset(5).rows])
    options: dict[str, Any] = {"progress": False, "concurrency": 1}
    again = api.run_rag(f1(), labelled, target, out=tmp_path / "run", replace_run=True, retry_failed=True, **options)
    assert len(target.asked) == 5
    assert {row["reference_answer"] for row in again.rows} == {"else"}
    assert {tuple(row["tags"]) for row in again.rows} == {("new",)}
    fresh = api.run_rag(f1(), labelled, Target(), **options)
    assert again.scores == fresh.scores
    assert [row["fingerprint"] for row in again.rows] == [row["fingerprint"] for row in fresh.rows]
    assert api.evaluate(f1(), tmp_path / "run").scores == fresh.scores
    # Not even if a record, of a row that is scored again, holds labels.
    old = run_rows(labelled, [record | {"tags": ["old"], "cluster": "old"} for record in logged(tmp_path / "run")])
    assert {(tuple(row["tags"]), row.get("cluster")) for row in old.rows} == {(("new",), None)}


# --- files of others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".manifest.json.swp", ".manifest.json.draft", ".manifest.json.0A1B2C3D"])
def test_a_file_beside_the_manifest_is_no_leave_to_write(name: str, tmp_path: Path) -> None:
    target = Target()
    run(target, tmp_path / "run")
    (tmp_path / "run" / name).write_text("an editor's")
    with pytest.raises(RunFileError, match="holds a run already"):
        run(target, tmp_path / "run")
    with pytest.raises(RunFileError, match="holds a run already"):
        api.evaluate(evaluators(), data(), out=tmp_path / "run")
    assert len(target.asked) == 5
    (tmp_path / "run" / ".manifest.json.0a1b2c3d").write_text("of a save that was killed")
    with pytest.raises(RunFileError, match="holds a run already"):
        run(target, tmp_path / "run")
    run(target, tmp_path / "run", replace_run=True)
    assert names(tmp_path / "run") == RUN | ANSWERS | {name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest.json", '{"name": "an app"}'),
        ("manifest.json", "torn"),
        ("rows.jsonl", ""),
        ("scores.jsonl", "mine"),
        ("answers.jsonl", "mine"),
        ("harness.json", "{}"),
        ("results.json", "{}"),
    ],
)
def test_files_with_our_names_that_are_not_ours_stay(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    kept = api.evaluate(evaluators(), data())
    expected = f"holds {name} of something else|holds no run"
    for replace in (False, True):
        with pytest.raises(RunFileError, match=expected):
            kept.save(tmp_path, replace=replace)
        with pytest.raises(RunFileError, match=expected):
            run(Target(), tmp_path, replace_run=replace)
    assert names(tmp_path) == {name}
    assert (tmp_path / name).read_text() == text


def test_two_processes_do_not_score_into_one_folder(tmp_path: Path) -> None:
    inside, go_on = threading.Event(), threading.Event()

    @component
    class Slow:
        @component.output_types(score=float, individual_scores=list[float])
        def run(self, questions: list[str]) -> dict[str, Any]:
            """
            Wait.

            :param questions: The questions.
            :returns: 1 for each.
            """
            inside.set()
            go_on.wait(30)
            return {"score": 1.0, "individual_scores": [1.0] * len(questions)}

    found: list[EvaluationRun] = []
    thread = threading.Thread(
        target=lambda: found.append(
            api.run_rag({"slow": Slow()}, dataset(3), Target(), out=tmp_path / "run", progress=False)
        )
    )
    thread.start()
    try:
        assert inside.wait(30)
        with pytest.raises(HarnessError, match="Another process writes"):
            run(Target(), tmp_path / "run", count=3)
    finally:
        go_on.set()
        thread.join()
    assert found[0].scores == {"slow": 1.0}


def test_the_folder_is_ours_while_failed_rows_are_asked_again(tmp_path: Path) -> None:
    target = Target()
    target.fails = lambda question: "Question 0:" not in question
    run(target, tmp_path / "run", count=3)
    inside, go_on = threading.Event(), threading.Event()

    def waits(question: str) -> bool:
        if "Question 2:" in question:
            inside.set()
            go_on.wait(30)
        return False

    target.fails = waits
    found: list[EvaluationRun] = []
    options: dict[str, Any] = {"count": 3, "replace_run": True, "retry_failed": True}
    thread = threading.Thread(target=lambda: found.append(run(target, tmp_path / "run", **options)))
    thread.start()
    try:
        assert inside.wait(30)
        while len(logged(tmp_path / "run")) != 4:
            time.sleep(0.01)  # the second of three is there once more
        with pytest.raises(HarnessError, match="Another process writes"):
            run(target, tmp_path / "run", **options)
    finally:
        go_on.set()
        thread.join()
    assert [row["status"] for row in found[0].rows] == ["ok"] * 3
    assert names(tmp_path / "run") == RUN | ANSWERS


# --- kills ---------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from haystack_eval_ext.runs import _whole_files, api
from kept_runs import data, evaluators
from test_run_folders import Target, run

syncs, sync = [], os.fsync

def killed(file):
    syncs.append(file)
    if len(syncs) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)  # a draft is written, and none has become a file
    sync(file)

def write_whole(files, **others):
    if {path.name for path in map(Path, files)} & {sys.argv[4]}:
        os.fsync = killed
    write(files, **others)

write = _whole_files.write_whole
from haystack_eval_ext.runs import _run_files, _strict_json
_run_files.write_whole = _strict_json.write_whole = write_whole
if sys.argv[2] == "rag":
    run(Target(), Path(sys.argv[1]))
else:
    api.evaluate(evaluators(), data(), out=sys.argv[1], replace_run=sys.argv[2] == "replace")
"""


def kill(folder: Path, what: str, draft: int, file: str = "manifest.json") -> None:
    """Run a process that is killed while the draft of the given number is there and no more."""
    places = [str(Path(__file__).parent), str(Path(haystack_eval_ext.__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), what, str(draft), file],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("draft", [1, 2, 3])
def test_a_save_killed_at_a_draft_can_be_repeated(draft: int, tmp_path: Path) -> None:
    kill(tmp_path / "run", "new", draft)
    left = names(tmp_path / "run")
    assert len(left) == draft
    assert all(name.startswith(".") for name in left)
    with pytest.raises(RunFileError, match="not written to its end"):
        EvaluationRun.load(tmp_path / "run")
    found = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    assert same(EvaluationRun.load(tmp_path / "run"), found)
    assert names(tmp_path / "run") == RUN


@pytest.mark.slow
def test_a_replacement_killed_at_a_draft_leaves_the_run_that_was_there(tmp_path: Path) -> None:
    api.evaluate(evaluators(), data(4), out=tmp_path / "run")
    before = contents(tmp_path / "run")
    kill(tmp_path / "run", "replace", 3)
    assert contents(tmp_path / "run") == before
    with pytest.raises(RunFileError, match="holds a run already"):
        api.evaluate(evaluators(), data(), out=tmp_path / "run")
    api.evaluate(evaluators(), data(), out=tmp_path / "run", replace_run=True)
    assert names(tmp_path / "run") == RUN


@pytest.mark.slow
@pytest.mark.parametrize(("draft", "file"), [(1, "harness.json"), (1, "manifest.json"), (4, "manifest.json")])
def test_a_rag_run_killed_at_a_draft_goes_on(draft: int, file: str, tmp_path: Path) -> None:
    kill(tmp_path / "run", "rag", draft, file)
    assert any(name.startswith(".") for name in names(tmp_path / "run"))
    target = Target()
    found = run(target, tmp_path / "run")
    # What was answered is not asked again; the first file is written before the first row.
    assert len(target.asked) == (5 if file == "harness.json" else 0)
    assert names(tmp_path / "run") == RUN | ANSWERS
    assert same(EvaluationRun.load(tmp_path / "run"), found)


def test_a_run_by_hand_keeps_the_answers_it_was_made_of(tmp_path: Path) -> None:
    records = run_target(rag(), dataset(4), out=tmp_path / "run", progress=False)
    assert names(tmp_path / "run") == ANSWERS
    assert len(run_target(rag(), dataset(4), out=tmp_path / "run", progress=False)) == len(records)
    found = api.run_rag(f1(), dataset(4), rag(), out=tmp_path / "run", progress=False)
    found.save(tmp_path / "run", replace=True)
    assert names(tmp_path / "run") == RUN | ANSWERS
    assert json.loads((tmp_path / "run" / "harness.json").read_text("utf-8"))["saved"] is True
