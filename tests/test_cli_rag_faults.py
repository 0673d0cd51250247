# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""`run --rag` in a shell when single questions fail, and small things that are easy to type wrong."""

from __future__ import annotations

import csv
import io
import json
import logging
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from haystack_eval_ext.cli import app

WORD = "zebra-crossing"
RUN = "run --data questions.jsonl -m R@2 --rag test_cli_rag_faults:"


def failing(question: str) -> dict[str, Any]:
    """A target that fails on most questions."""
    if "good" not in question:
        msg = f"{WORD}\u202e"  # with a character that turns a line around
        raise RuntimeError(msg)
    return {"answer": "=1+1", "documents": ["d1"]}


def sound(question: str) -> dict[str, Any]:
    """A target whose answers a spreadsheet would calculate."""
    return {"answer": f"=1+{len(question)}", "documents": ["d1"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = [
        {"id": f"q{number}", "question": "good" if number == 0 else f"bad {number}", "relevant_documents": ["d1"]}
        for number in range(6)
    ]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "documents").mkdir()
    return tmp_path


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.usefixtures("folder")
def test_causes_are_shown_and_kept_with_texts_alone() -> None:
    code, out, err = call(f"{RUN}failing --out run")
    assert code == 0
    assert "failed on (5): q1, q2, q3, q4, q5" in out
    assert f"5 x RuntimeError: {WORD}. Raised at {__name__}:" in " ".join(out.split())
    assert "Traceback" not in err
    for name in ("answers", "rows", "scores"):
        assert Path(f"run/{name}.jsonl").read_text("utf-8").count(WORD) == 5
    code, out, err = call(f"{RUN}failing --out bare --no-texts")
    assert code == 0
    assert f"5 x RuntimeError: Raised at {__name__}:" in " ".join(out.split())
    assert WORD not in out + err
    assert all(WORD not in file.read_text("utf-8") for file in Path("bare").iterdir())


@pytest.mark.usefixtures("folder")
def test_debug_shows_the_first_tracebacks_and_counts_the_others() -> None:
    package = logging.getLogger("haystack_eval_ext")
    before = (package.level, list(package.handlers))
    code, _, err = call(f"{RUN}failing --debug --concurrency 1")
    assert code == 0
    assert err.count("Traceback (most recent call last)") == 3
    assert err.count(f"RuntimeError: {WORD}\\u202e\n") == 3
    assert err.count("The question of row q") == 3
    assert "2 more failed, without their tracebacks here." in err
    assert (package.level, package.handlers) == before


@pytest.mark.usefixtures("folder")
def test_a_wrong_use_with_debug_is_exit_code_2_too() -> None:
    code, out, err = call(f"{RUN}nothing_such --debug")
    assert (code, out) == (2, "")
    assert "Traceback (most recent call last)" in err
    assert err.splitlines()[-1].startswith("Error: test_cli_rag_faults:nothing_such: there is no")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{RUN}sound --data documents", "--data documents is a folder, and no kept run either; name the file"),
        (f"{RUN}sound --data ''", "--data names no file (an empty shell variable?)"),
        ("run -m R@2 --data ''", "--data names no file (an empty shell variable?)"),
        (f"{RUN}sound --out link", "--out: link is a link to nowhere, which is not there"),
        (f"{RUN}sound --timeout nan", "timeout must be a number of seconds above 0, or None, but is nan."),
        ("run -m R@2 --data questions.jsonl --index a --documents b", "--index, --documents go with --rag, "),
        ("run -m R@2 --data questions.jsonl --retrieved b", "--retrieved goes with --rag, "),
    ],
)
def test_wrong_use_is_told_as_what_it_is(line: str, message: str, folder: Path) -> None:
    (folder / "link").symlink_to("nowhere")
    code, out, err = call(line)
    assert (code, out) == (2, "")
    assert message in err
    assert ".." not in err
    assert not (folder / "nowhere").exists()


@pytest.mark.usefixtures("folder")
def test_a_kept_run_is_not_asked_again() -> None:
    assert call(f"{RUN}sound --out kept")[0] == 0
    code, _, err = call(f"{RUN}sound --data kept")
    assert code == 2
    assert "--data kept is a kept run, whose answers are scored again" in err


def test_plan_speaks_of_no_rag_pipeline() -> None:
    code, out, _ = call("plan --help")
    assert code == 0
    assert "--map" in out
    assert "--rag" not in out


def test_a_run_goes_to_standard_output(folder: Path) -> None:
    assert call(f"{RUN}sound --out kept")[0] == 0
    code, out, err = call("export kept - --to csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    # What reads the file back gets the same; a spreadsheet runs no formula.
    assert [row["answer"] for row in rows][:2] == ["'=1+4", "'=1+5"]
    assert json.loads(call("export kept - --to json")[1])["name"] == "kept"
    assert call("export kept - --to markdown")[1].startswith("**kept**: ")
    code, out, err = call("export kept -")
    assert (code, out) == (2, "")
    assert "add --to csv" in err
    assert not (folder / "-").exists()
