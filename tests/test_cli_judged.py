# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line with judges: plans, budgets, caches, accounts, another judge; against a real server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from haystack_eval_ext._cli.judging import nothing_judged, print_usage
from haystack_eval_ext._cli.render import console
from haystack_eval_ext.cli import app
from haystack_eval_ext.judged._account import Usage
from haystack_eval_ext.runs.run import load_run
from openai_server import OpenAIServer
from stored_runs import stored

KEY = "sk-never-written"
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "SECRET one?", "contexts": ["c one"], "answer": "It is one. It is two."},
    {"id": "b", "question": "SECRET two?", "contexts": ["c two"], "answer": "It is three."},
    {"id": "c", "question": "SECRET three?", "contexts": ["c three"], "answer": ""},
]
PIPELINE = """
components:
  faithfulness:
    type: haystack_eval_ext.judged.faithfulness.FaithfulnessEvaluator
    init_parameters: {policy: {min_wait: 0.0, max_wait: 0.0, max_attempts: 2, timeout: 5.0}}
"""
GENERATOR = """
type: haystack.components.generators.chat.openai.OpenAIChatGenerator
init_parameters:
  model: %s
  max_retries: 0
  api_base_url: %s
  api_key: {type: env_var, env_vars: [TEST_JUDGE_KEY], strict: true}
"""


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> Path:
    """A working folder with a pipeline, a judge on the server, data and prices."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_JUDGE_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    (tmp_path / "faithful.yaml").write_text(PIPELINE, encoding="utf-8")
    (tmp_path / "judge.yaml").write_text(GENERATOR % ("small", server.url), encoding="utf-8")
    (tmp_path / "other.yaml").write_text(GENERATOR % ("large", server.url), encoding="utf-8")
    (tmp_path / "prices.yaml").write_text('"*": {input: 1000.0, output: 2000.0}\n', encoding="utf-8")
    (tmp_path / "retriever.yaml").write_text(
        "type: haystack.components.builders.answer_builder.AnswerBuilder\n", encoding="utf-8"
    )
    (tmp_path / "list.yaml").write_text("- a\n", encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("a: [", encoding="utf-8")
    return tmp_path


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    return result.exit_code, result.stdout, result.stderr


RUN = "run faithful.yaml --data rows.jsonl --judge judge.yaml"


def cells(stdout: str, name: str, number: int) -> list[str]:
    """The cells of the table's line that begins with a name, of that many cells."""
    lines = [line.split() for line in stdout.splitlines()]
    return next(line[1:] for line in lines if line[:1] == [name] and len(line) == number)


def test_a_plan_is_what_the_run_asks(folder: Path, server: OpenAIServer) -> None:
    code, stdout, _ = call("plan faithful.yaml --data rows.jsonl --judge judge.yaml --prices prices.yaml")
    rows, calls, cached, tokens, cost = cells(stdout, "faithfulness", 6)
    assert (code, rows, calls, cached) == (0, "3", "2", "0")
    assert server.calls == 0
    assert float(cost) == pytest.approx(int(tokens) / 1000, abs=1e-4)
    assert "With 3 questions no drop fails nine times in ten (assumed: 0/1 scores of which 20 % change" in stdout
    code, stdout, _ = call(RUN)
    assert code == 0
    assert cells(stdout, "faithfulness", 7)[:3] == ["2", "0", "0"]
    assert server.calls == 2


@pytest.mark.usefixtures("folder", "server")
def test_a_plan_says_what_a_gate_would_find() -> None:
    plan = "plan faithful.yaml --data rows.jsonl --judge judge.yaml"
    found = call(f"{plan} --fail-if 'faithfulness drops 0.05' --fail-if 'recall drops 0.05'")[1]
    assert "What a gate finds in these questions (assumed: 0/1 scores of which 20 % change by chance):" in found
    assert "  recall: with 3 questions no drop fails nine times in ten" in found
    assert call(f"{RUN} --out kept")[0] == 0
    found = call(f"{plan} --baseline kept --fail-if 'faithfulness drops 0.05'")[1]
    assert re.search(r"faithfulness: with \d questions .*\(assumed: 20 % of the scores change by chance\)", found)
    code, _, err = call(f"{plan} --baseline kept --fail-if 'other drops 0.05'")
    assert (code, "'other drops 0.05' names no metric of the run" in err) == (2, True)
    code, _, err = call(f"{plan} --fail-if 'other falls'")
    assert (code, "--fail-if: A condition must be" in err) == (2, True)


def test_a_cache_answers_the_second_run(folder: Path, server: OpenAIServer) -> None:
    first = call(f"{RUN} --cache judge.sqlite")
    second = call(f"{RUN} --cache judge.sqlite --offline")
    assert cells(first[1], "faithfulness", 6) == cells(second[1], "faithfulness", 6)
    assert cells(second[1], "faithfulness", 7)[:3] == ["0", "0", "2"]
    assert server.calls == 2
    assert cells(call(f"plan {RUN.removeprefix('run ')} --cache judge.sqlite")[1], "faithfulness", 6)[1:3] == ["0", "2"]
    assert call("run faithful.yaml --data rows.jsonl --judge other.yaml --cache judge.sqlite")[0] == 0
    assert server.calls == 4, "another model is another judge"
    assert not any(KEY.encode() in file.read_bytes() for file in folder.iterdir())


def test_a_spent_budget_leaves_rows_for_a_later_run(folder: Path, server: OpenAIServer) -> None:
    code, stdout, stderr = call(f"{RUN} --cache judge.sqlite --max-calls 1 --out first")
    assert code == 0
    assert "not run" in stderr
    assert "max_calls" in stderr
    found = stored(folder / "first")
    assert found["metrics"]["faithfulness"]["statuses"] == {"a": "scored", "b": "not_run", "c": "undefined"}
    assert "max_calls" in found["errors"]["faithfulness"]["b"]
    code, stdout, _ = call(f"{RUN} --cache judge.sqlite --max-calls 1")
    assert cells(stdout, "faithfulness", 7)[:3] == ["1", "0", "1"]
    assert server.calls == 2


def test_tokens_and_cost_are_limits_as_well(folder: Path, server: OpenAIServer) -> None:
    assert "max_tokens" in call(f"{RUN} --max-tokens 3")[2]
    assert "max_cost" in call(f"{RUN} --max-cost 0.001 --prices prices.yaml")[2]
    assert server.calls == 0


def test_a_kept_run_holds_the_accounts(folder: Path) -> None:
    assert call(f"{RUN} --prices prices.yaml --out out")[0] == 0
    found = stored("out")
    usage = found["usage"]["faithfulness"]
    assert usage["calls"] == 2
    assert usage["prompt_tokens"] > 0
    assert usage["cost"] > 0
    assert "SECRET" not in json.dumps(found)


def test_a_judge_that_answers_nothing_fails_the_command(folder: Path, server: OpenAIServer) -> None:
    server.change(key="another key")
    code, stdout, stderr = call(RUN)
    assert code == 1
    assert cells(stdout, "faithfulness", 6)[-2:] == ["2", "2"]
    assert "HTTP 401" in stderr
    assert KEY not in stderr


SPENT = (
    "No row of faithfulness could be scored, since the budget is spent ({}); with a cache_path a later run goes on "
    "from there."
)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("", ""),
        ("--max-calls 1", ""),
        ("--max-calls 0", SPENT.format("max_calls of 0")),
        ("--max-tokens 3", SPENT.format("max_tokens of 3")),
    ],
)
def test_a_run_that_judged_nothing_is_told(folder: Path, options: str, told: str) -> None:
    call(f"{RUN} {options} --out kept")
    assert nothing_judged(load_run("kept").metrics) == told


def test_a_run_whose_rows_failed_is_told(folder: Path, server: OpenAIServer) -> None:
    server.change(key="another key")
    call(f"{RUN} --out kept")
    assert nothing_judged(load_run("kept").metrics) == "No row of faithfulness could be scored."


def test_rows_that_a_metric_was_not_to_score_are_no_fault(folder: Path) -> None:
    (folder / "rows.jsonl").write_text(json.dumps({**ROWS[2], "contexts": []}) + "\n", encoding="utf-8")
    call(f"{RUN} --out kept")
    metrics = load_run("kept").metrics
    assert metrics["faithfulness"].statuses == ["undefined"]
    assert nothing_judged(metrics) == ""
    left_out = replace(metrics["faithfulness"], statuses=["not_run"], errors=[None])
    assert nothing_judged({"faithfulness": left_out}) == ""


def test_embedded_tokens_are_a_column_where_there_are_any(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    plain, embedding = Usage(calls=1).to_dict(), Usage(calls=2, embedding_tokens=7).to_dict()
    print_usage(console(), {"faithfulness": plain})
    assert "embedded" not in capsys.readouterr().out
    older = {name: value for name, value in plain.items() if name != "embedding_tokens"}
    print_usage(console(), {"faithfulness": older, "answer_relevancy": embedding})
    printed = capsys.readouterr().out
    assert "Tokens embedded" in printed
    assert [cells(printed, name, 8)[-1] for name in ("faithfulness", "answer_relevancy", "all")] == ["-", "7", "7"]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("run retrieval --data rows.jsonl --judge judge.yaml", ["No component", "leave the options"]),
        ("plan retrieval --data rows.jsonl", ["nothing to plan"]),
        ("plan absent --data rows.jsonl", ["'absent'", "shipped"]),
        (f"{RUN} --max-cost 1", ["--prices"]),
        (f"{RUN} --max-calls -1", ["--max-calls"]),
        (f"{RUN} --offline", ["offline", "cache_path"]),
        (f"{RUN} --offline --cache absent.sqlite", ["offline", "absent.sqlite", "Run once"]),
        (f"{RUN} --prices list.yaml", ["list.yaml", "price of a million tokens"]),
        (f"{RUN} --prices absent.yaml", ["absent.yaml", "cannot be read"]),
        ("run faithful.yaml --data rows.jsonl --judge absent.yaml", ["absent.yaml", "cannot be read"]),
        ("run faithful.yaml --data rows.jsonl --judge broken.yaml", ["broken.yaml", "not valid YAML"]),
        ("run faithful.yaml --data rows.jsonl --judge list.yaml", ["list.yaml", "'type'"]),
        ("run faithful.yaml --data rows.jsonl --judge retriever.yaml", ["no ChatGenerator"]),
        ("run faithful.yaml --data rows.jsonl", ["could not be prepared", "OPENAI_API_KEY", "Nothing was asked"]),
    ],
)
def test_a_wrong_use_is_one_line_with_a_hint(folder: Path, server: OpenAIServer, line: str, parts: list[str]) -> None:
    code, stdout, stderr = call(line)
    assert code == 2, stderr
    assert not stdout
    assert stderr.count("\n") <= 2, stderr
    for part in parts:
        assert part in stderr, stderr
    assert server.calls == 0


@pytest.mark.parametrize("limit", ["--max-calls 0", "--max-tokens 3"])
def test_a_budget_without_room_for_a_row_fails_the_command(folder: Path, server: OpenAIServer, limit: str) -> None:
    code, _, stderr = call(f"{RUN} {limit}")
    assert code == 1
    assert "No row of faithfulness could be scored, since the budget is spent (max_" in stderr
    assert server.calls == 0
