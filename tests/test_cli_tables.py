# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as people see them: on a terminal of any width each name is whole and no number is cut."""

import json
import os
import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext._cli.judging import print_plans, print_usage
from haystack_eval_ext._cli.render import console, print_table
from haystack_eval_ext.cli import app
from haystack_eval_ext.judged._account import Usage
from haystack_eval_ext.judged._plan import Plan
from haystack_eval_ext.runs import api
from kept_runs import data, evaluators
from kept_runs import rows as numbered

WIDTHS = (60, 80, 100, 200)
NUMBER = re.compile(r"\d+\.\d{4}")
JUDGED = ("faithfulness", "answer_relevancy", "context_precision_with_reference")

# Each: a command, and the names that its tables hold.
COMMANDS = {
    "run -m 'nDCG@10 AP R@5' --data rows.jsonl": ["ranking.nDCG@10", "ranking.AP", "ranking.R@5"],
    "run rag_diagnosis --data rows.jsonl": ["recall", "mrr", "answer", "retrieval", "ranking", "generation"],
    "run answers --data rows.jsonl": ["exact_match", "token_f1"],
    "compare good bad": ["ranking.RR", "ranking.P@1", "recall", "exact"],
    "compare good bad --by lang": ["ranking.RR", "ranking.P@1", "recall", "exact"],
    "agree people --human human --metric exact": ["Accuracy", "Kappa"],
    "agree people --human human --human other --metric exact --sweep --by lang": ["Accuracy", "Kappa", "lang:de"],
    "trec qrels.txt run.txt -m \"nDCG(dcg='exp-log2')@10 R@1000\"": ["ranking.R@1000"],
    "trec qrels.txt run.txt other.txt -m 'AP nDCG@10 R@1000'": ["run.txt", "other.txt"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs and data files, made once."""
    folder = tmp_path_factory.mktemp("tables")
    for name, wrong in {"good": 2, "bad": 30}.items():
        api.evaluate(evaluators(), data(40, wrong=wrong), out=folder / name)
    people = [
        row | {"human": ["yes", "no"][number < 4], "other": ["ja", "nein"][number < 5]}
        for number, row in enumerate(numbered(40, wrong=2))
    ]
    api.evaluate(evaluators(), people, out=folder / "people")
    row = {
        "question": "q",
        "reference_answer": "a",
        "answer": "a",
        "relevant_documents": ["a"],
        "documents": ["b", "a"],
    }
    rows = [{"id": f"q{number}", **row} for number in range(3)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    (folder / "qrels.txt").write_text("q1 0 d1 2\nq2 0 d3 1\n", encoding="utf-8")
    for name in ("run.txt", "other.txt"):
        (folder / name).write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n", encoding="utf-8")
    return folder


def printed(line: str, width: int) -> str:
    result = CliRunner().invoke(app, shlex.split(line), env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    return result.stdout


def check(shown: str, wide: str, names: list[str], width: int) -> None:
    """All that stands in the wide form stands in the other one, within its width."""
    assert "…" not in shown
    words = set(shown.split())
    assert set(names) <= words
    assert set(NUMBER.findall(shown)) == set(NUMBER.findall(wide))
    # Columns are three blanks apart; prose is wrapped by the terminal.
    tables = [line for line in shown.splitlines() if line.startswith("─") or "   " in line]
    assert max(map(cell_len, tables)) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("line", COMMANDS)
def test_tables_of_the_commands(line: str, width: int, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)
    check(printed(line, width), printed(line, 400), COMMANDS[line], width)


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_the_judges(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    usage = {name: Usage(calls=1200, cache_hits=7, embedding_tokens=123456).to_dict() for name in JUDGED}
    plans = {name: Plan(1200, 4800, 0, 1234567, exact=False, prompt_cost=12.5) for name in JUDGED}
    shown = []
    for columns in (width, 400):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_usage(console(), usage)
        print_plans(console(), plans, [])
        shown.append(capsys.readouterr().out)
    check(shown[0], shown[1], list(JUDGED), width)
    assert "123456" in shown[0]


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=70)] * 4),
        max_size=4,
    ),
    st.integers(1, 200),
)
def test_no_cell_is_broken_at_any_width(rows: list[tuple[str, ...]], width: int) -> None:
    screen = Console(width=width, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    print_table(screen, ("Name", "Some value", "n", "Another long heading"), rows)
    words = screen.export_text().split()
    for row in rows:
        for cell in row:
            assert cell in words


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_tables_in_a_terminal(line: str, made: Path) -> None:
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    environment: dict[str, Any] = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"PYTHONPATH": str(Path(haystack_eval_ext.__file__).parent.parent), "TERM": "dumb"}
    command = [sys.executable, "-m", "haystack_eval_ext.cli", *shlex.split(line)]
    with subprocess.Popen(command, cwd=made, env=environment, stdout=slave, stderr=subprocess.DEVNULL) as child:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux ends a terminal without writers by an error
                break
            if not part:
                break
            shown += part
    os.close(master)
    assert child.returncode == 0
    text = shown.decode("utf-8").replace("\r\n", "\n")
    for name in COMMANDS[line]:
        assert name in text.split()
    assert "…" not in text


def test_the_command_alone_prints_its_help() -> None:
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert "Commands:" in result.stdout
