# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What Windows does otherwise: text modes, locales, open files that nobody may replace or remove, no fcntl, drives."""

from __future__ import annotations

import ast
import errno
import os
from pathlib import Path
from typing import Any

import pytest

import haystack_eval_ext
from haystack_eval_ext.runs import _row_log, api
from haystack_eval_ext.runs.run import load_run
from haystack_eval_ext.runs.targets import TargetError, load_target

SOURCES = sorted(Path(haystack_eval_ext.__file__).parent.rglob("*.py"))
# What opens a file as text unless it is told otherwise, and how many arguments before the encoding a method has.
TEXT = {"open": 2, "read_text": 0, "write_text": 1}
# Our own of these names: they read and write bytes.
OURS = ("CacheFile.open", "exports.write_text", "write_text", "read_text")


def faults_in(source: str) -> list[str]:
    """What a source does with files that Windows would do in another way."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [f"{node.lineno}: {ast.unparse(node)}" for node in calls if _is_wrong(node)]


def _is_wrong(node: ast.Call) -> bool:
    called = ast.unparse(node.func)
    name = called.rpartition(".")[2]
    if called == "os.open":
        return "BINARY" not in ast.unparse(node)
    if name not in TEXT or called in OURS:
        return False
    arguments = node.args[called == "open" :]  # the function has the path in front
    mode = arguments[0].value if name == "open" and arguments and isinstance(arguments[0], ast.Constant) else ""
    encoded = len(arguments) > TEXT[name] or any(each.arg == "encoding" for each in node.keywords)
    return "b" not in str(mode) and not encoded


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_files_are_opened_as_bytes_or_with_an_encoding(path: Path) -> None:
    assert faults_in(path.read_text("utf-8")) == []
    # Examples in docstrings are copied.
    for line in path.read_text("utf-8").splitlines():
        text = line.strip()
        if ".write_text(" in text and text.endswith(")") and not text.startswith(("def ", '"', "exports.")):
            assert '"utf-8"' in text, text


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("open(p)", 1),
        ("open(p, 'rb')", 0),
        ("open(p, 'w')", 1),
        ("open(p, encoding='utf-8')", 0),
        ("p.open()", 1),
        ("p.open('xb')", 0),
        ("p.open('w', encoding='utf-8')", 0),
        ("p.read_text()", 1),
        ("p.read_text('utf-8')", 0),
        ("p.write_text(t)", 1),
        ("p.write_text(t, 'utf-8')", 0),
        ("os.open(p, os.O_RDWR)", 1),
        ("os.open(p, os.O_RDWR | BINARY)", 0),
    ],
)
def test_the_look_at_sources_sees(source: str, count: int) -> None:
    assert len(faults_in(source)) == count


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is open is replaced or removed, and there are no locks of Unix."""

    def open_files() -> set[str]:
        found = set()
        for entry in os.listdir("/proc/self/fd"):
            try:
                found.add(os.readlink(f"/proc/self/fd/{entry}"))
            except OSError:
                continue
        return found

    def guarded(function: Any) -> Any:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            held = open_files() & {os.path.realpath(each) for each in arguments if isinstance(each, str | Path)}
            if held:
                raise PermissionError(errno.EACCES, "The process cannot access the file, which is in use", *held)
            return function(*arguments, **options)

        return wrapped

    for name in ("replace", "rename", "unlink", "remove"):
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))
    monkeypatch.setattr(_row_log, "fcntl", None)


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are looked up in /proc")


@needs_proc
@pytest.mark.usefixtures("windows")
def test_the_stub_refuses_what_windows_refuses(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    with (tmp_path / "a").open("wb"):
        with pytest.raises(PermissionError):
            (tmp_path / "a").replace(tmp_path / "b")
        with pytest.raises(PermissionError):
            (tmp_path / "b").replace(tmp_path / "a")
        with pytest.raises(PermissionError):
            (tmp_path / "a").unlink()
    (tmp_path / "a").replace(tmp_path / "b")


@needs_proc
@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("texts", [True, False])
def test_a_run_fails_goes_on_is_replaced_and_kept_without_texts(tmp_path: Path, *, texts: bool) -> None:
    broken = {"now": True}

    def answer(question: str) -> str:
        if broken["now"] and "1" in question:
            raise ValueError(question)
        return question

    rows = [{"id": f"q{n}", "question": f"Q{n}", "reference_answer": f"Q{n}"} for n in range(3)]
    exact, out = tmp_path / "exact.yaml", tmp_path / "run"
    kind = "haystack_eval_ext.answers.answer_exact_match.AnswerExactMatchEvaluator"
    exact.write_text(f"components: {{exact: {{type: {kind}}}}}", "utf-8")
    how: dict[str, Any] = {"out": out, "progress": False, "concurrency": 1}
    with pytest.raises(ValueError, match="max_failures=0"):
        api.run_rag(exact, rows, answer, max_failures=0, **how)
    broken["now"] = False
    run = api.run_rag(exact, rows, answer, retry_failed=True, texts=texts, **how)
    assert run.metrics["exact"].statuses == ["scored"] * 3
    assert load_run(out).scores == {"exact": 1.0}
    assert (out / "answers.jsonl").exists() == texts
    api.run_rag(exact, rows, answer, replace_run=True, texts=texts, **how)
    # What was never begun leaves no trace.
    with pytest.raises(ValueError, match="isolate"):
        api.run_rag(exact, rows, answer, isolate=True, out=tmp_path / "none", progress=False)
    log = _row_log.RowLog(tmp_path / "never", {"a": 1})
    log.close()
    assert not (tmp_path / "never").exists()
    assert not (tmp_path / "none").exists()


def test_without_locks_processes_are_told_not_to_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_row_log, "fcntl", None)
    _row_log._say_once_that_nothing_locks.cache_clear()
    for name in ("one", "two"):
        _row_log.RowLog(tmp_path / name, {"a": 1}).close()
    assert [record.message for record in caplog.records] == [
        "No file locks are known on this system: let no two processes write into one folder of a run."
    ]


@pytest.mark.parametrize("path", [r"C:\proj\rag.yaml", "C:/proj/rag.yml", "C:rag.yaml", r"\\server\share\rag.yaml"])
def test_a_path_with_a_drive_is_a_file_and_no_module(path: str) -> None:
    with pytest.raises(TargetError, match="cannot be read"):
        load_target(path)
