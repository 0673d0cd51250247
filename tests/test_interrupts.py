# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: two lines say what is kept and how to go on, and the same command asks only what is missing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext._cli import agree_command, runs_commands
from haystack_eval_ext._cli.interrupts import INTERRUPTED
from haystack_eval_ext.cli import app
from haystack_eval_ext.runs import _whole_files, api
from haystack_eval_ext.runs._run_folder import ANSWERS
from haystack_eval_ext.runs.run import load_run
from openai_server import OpenAIServer

COUNT = 6
ASKED: list[str] = []
BROKEN: set[str] = set()
EXACT = "components: {exact: {type: haystack_eval_ext.answers.answer_exact_match.AnswerExactMatchEvaluator}}"
RUN = "run exact.yaml --data q.jsonl --rag test_interrupts:asked --concurrency 1 --out run"


def asked(question: str) -> str:
    """A target that is interrupted at some questions."""
    if question in BROKEN:
        raise KeyboardInterrupt
    ASKED.append(question)
    return question


HELD = 8


def slow(question: str) -> dict[str, Any]:
    """A target in a process of its own, which notes what it was asked."""
    with Path("calls").open("a", encoding="utf-8") as file:
        file.write(f"{question}\n")
    # No question after the first eight ends before the test lets it.
    while Path("hold").exists() and len(lines_of(Path("calls"))) > HELD:
        time.sleep(0.01)
    return {"answer": f"It is {question}.", "contexts": ["c"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, COUNT)
    ASKED.clear()
    BROKEN.clear()
    return tmp_path


def write_files(folder: Path, count: int) -> None:
    rows = [{"id": f"q{n}", "question": f"Q{n}", "reference_answer": f"Q{n}", "contexts": ["c"]} for n in range(count)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "exact.yaml").write_text(EXACT, "utf-8")


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def interrupt(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_while_questions_are_asked(folder: Path) -> None:
    BROKEN.add("Q4")
    code, out, err = call(RUN)
    assert (code, out) == (INTERRUPTED, "")
    assert err.endswith(
        f"Interrupted: 4 answers are kept in {Path('run', ANSWERS)}.\n"
        f"To go on, asking only what is missing: haystack-eval {RUN}\n"
    )
    BROKEN.clear()
    assert call(RUN)[0] == 0
    assert [f"Q{n}" for n in range(COUNT)] == ASKED
    assert load_run(folder / "run").scores == {"exact": 1.0}


@pytest.mark.usefixtures("folder")
def test_without_a_folder_nothing_is_kept() -> None:
    BROKEN.add("Q4")
    line = RUN.removesuffix(" --out run")
    code, _, err = call(line)
    assert code == INTERRUPTED
    assert "Interrupted: no answer is kept; --out RUN_DIR keeps each.\n" in err
    assert err.endswith(f"To start again: haystack-eval {line}\n")


@pytest.mark.usefixtures("folder")
def test_no_key_that_was_typed_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haystack_eval_ext._cli.run_command.read_dataset", interrupt)
    code, _, err = call(f"{RUN} --set llm.headers.x-api-key=sk-proj-abcdef123456789xyz")
    assert code == INTERRUPTED
    assert err.endswith(f": haystack-eval {RUN} --set 'llm.headers.x-api-key=***'\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("point", ["evaluate_pipeline", "make_run"])
def test_while_answers_are_scored(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(f"haystack_eval_ext.runs.rag.{point}", interrupt)
        code, _, err = call(RUN)
    assert code == INTERRUPTED
    assert f"{COUNT} answers are kept in " in err
    ASKED.clear()
    assert call(RUN)[0] == 0
    assert ASKED == []


@pytest.mark.parametrize("step", range(3))
def test_while_files_are_put_in_place(step: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [step]

    def replace(path: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] == -1:
            raise KeyboardInterrupt
        os.replace(path, target)
        return target

    monkeypatch.setattr(Path, "replace", replace)
    files: dict[Any, bytes] = {folder / name: name.encode() for name in ("a", "b", "c")}
    (folder / "stale").touch()
    with pytest.raises(KeyboardInterrupt):
        _whole_files.write_whole(files, remove=[folder / "stale"])
    assert {path: path.read_bytes() for path in files} == files
    assert not (folder / "stale").exists()
    assert not _whole_files.drafts_in(folder, ("a", "b", "c"))


def test_other_commands_write_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(RUN)[0] == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in ("load_run", "compare", "agree"):
        if hasattr(runs_commands, name):
            monkeypatch.setattr(runs_commands, name, interrupt)
    monkeypatch.setattr(agree_command, "load_run", interrupt)
    for name in ("load_run", "compare", "check", "baseline"):
        monkeypatch.setattr(api, name, interrupt)
    monkeypatch.setattr("haystack_eval_ext.runs.run.EvaluationRun.load", interrupt)
    for line in (
        "compare run run",
        "check run --fail-if 'exact < 1'",
        "baseline run -o b.json",
        "export run x.csv",
        "agree run --human reference_answer",
    ):
        code, out, err = call(line)
        assert (code, out) == (INTERRUPTED, ""), line
        assert err.endswith(f"Interrupted: nothing was written.\nTo start again: haystack-eval {line}\n"), err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("folder")
def test_judges_replies_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-used-at-all")
    monkeypatch.setattr("haystack_eval_ext._cli.run_command.api.evaluate", interrupt)
    line = "run rag_quality --data q.jsonl"
    code, _, err = call(line)
    assert code == INTERRUPTED
    assert "what judges replied is not kept; --cache FILE keeps it" in err
    Path("replies").touch()
    code, _, err = call(f"{line} --cache replies")
    assert code == INTERRUPTED
    assert "what judges replied is kept in replies" in err
    assert "To go on, asking only what is missing: " in err


FAITHFUL = """
components:
  faithfulness:
    type: haystack_eval_ext.judged.faithfulness.FaithfulnessEvaluator
    init_parameters: {policy: {max_concurrency: 2}}
"""
GENERATOR = """
type: haystack.components.generators.chat.openai.OpenAIChatGenerator
init_parameters:
  model: small
  max_retries: 0
  api_base_url: {url}
  api_key: {{type: env_var, env_vars: [TEST_JUDGE_KEY], strict: true}}
"""
PLACES = [str(Path(__file__).parent), str(Path(haystack_eval_ext.__file__).parent.parent)]


def start(folder: Path, line: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from haystack_eval_ext.cli import main; main()", *shlex.split(line)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(PLACES), "TEST_JUDGE_KEY": "a-key-of-the-test"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def stop(process: subprocess.Popen[str], ready: Any) -> str:
    while process.poll() is None and not ready():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, err
    return err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="another system sends no such signal")
def test_a_real_interrupt_while_it_asks_and_while_it_judges(tmp_path: Path) -> None:
    count = 20
    write_files(tmp_path, count)
    (tmp_path / "hold").touch()
    with OpenAIServer() as server:
        (tmp_path / "judge.yaml").write_text(GENERATOR.format(url=server.url), "utf-8")
        (tmp_path / "faithful.yaml").write_text(FAITHFUL, "utf-8")
        line = (
            "run faithful.yaml --data q.jsonl --rag test_interrupts:slow --concurrency 2 --no-progress --out run "
            "--judge judge.yaml --cache replies.sqlite"
        )
        err = stop(start(tmp_path, line), lambda: len(lines_of(tmp_path / "calls")) > HELD)
        (tmp_path / "hold").unlink()
        kept = len(lines_of(tmp_path / "run" / ANSWERS))
        assert kept >= 6
        assert f"Interrupted: {kept} answers are kept in {Path('run', ANSWERS)}" in err
        assert err.splitlines()[-1] == f"To go on, asking only what is missing: haystack-eval {line}"
        assert "Traceback" not in err
        # The same command: it ends asking, and judges.
        server.hold()
        err = stop(start(tmp_path, line), lambda: server.calls >= HELD)
        server.let_go()
        assert f"Interrupted: {count} answers are kept in " in err
        assert "what judges replied is kept in replies.sqlite" in err
        assert "Traceback" not in err
        # What was in flight at the first interrupt is asked once more, all else once.
        assert len(lines_of(tmp_path / "calls")) <= count + 2
        process = start(tmp_path, line)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert len(lines_of(tmp_path / "calls")) <= count + 2
        # Each question is one request of the judge; those in flight at the interrupt may be paid twice.
        requests = Counter(json.dumps(body, sort_keys=True) for body in server.bodies)
        assert len(requests) == count
        assert server.calls < 2 * count
    assert load_run(tmp_path / "run").metrics["faithfulness"].statuses == ["scored"] * count
