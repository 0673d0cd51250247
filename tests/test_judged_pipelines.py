# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The shipped pipelines from the command line to a server, by the environment variables that the docs name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from haystack_eval_ext._formulas import cosine
from haystack_eval_ext.cli import app
from openai_server import OpenAIServer, embedded_texts, embedding_tokens, vector, verdict
from stored_runs import stored

KEY = "sk-never-written"
ROWS: list[dict[str, Any]] = [
    {
        "id": f"row {n}",
        "question": f"What is part {n}?",
        "contexts": [f"Part {n} is small.", f"Part {n} is old."],
        "answer": f"Part {n} is small. Part {n} is new.",
        "reference_answer": f"Part {n} is small.",
    }
    for n in range(3)
]
#: The question that the server's judge writes for each answer: see ``filled``.
ASKED_BACK = "text"
PIPELINES = pytest.mark.parametrize("pipeline", ["rag_quality", "rag_quality_with_reference"])
EMBEDDER = """
type: haystack.components.embedders.openai_document_embedder.OpenAIDocumentEmbedder
init_parameters:
  model: my-embedder
  api_base_url: %s
  api_key: {type: env_var, env_vars: [TEST_EMBEDDER_KEY], strict: true}
  progress_bar: false
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that the environment names, beside a working folder with the rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    with OpenAIServer(key=KEY) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("HAYSTACK_EVAL_JUDGE_MODEL", "my-judge")
        yield running


def run(pipeline: str, options: str = "", *, out: str = "out", code: int = 0) -> tuple[dict[str, Any], str]:
    """A run as it is kept, and what was printed."""
    result = CliRunner().invoke(app, f"run {pipeline} --data rows.jsonl --no-progress --out {out} {options}".split())
    assert result.exit_code == code, result.stderr
    return stored(Path(out)), result.stdout


def scores(found: dict[str, Any], metric: str) -> list[float]:
    assert set(found["metrics"][metric]["statuses"].values()) == {"scored"}
    return [found["metrics"][metric]["individual_scores"][row["id"]] for row in ROWS]


def sent_texts(server: OpenAIServer) -> set[str]:
    return {text for body in server.embedded for text in embedded_texts(body)}


def similarities() -> list[float]:
    return [cosine(vector(row["question"]), vector(ASKED_BACK)) for row in ROWS]


def supported() -> list[float]:
    parts = [(row["answer"].split(". "), row["contexts"]) for row in ROWS]
    return [sum(verdict(text.rstrip(".") + ".", contexts) for text in texts) / len(texts) for texts, contexts in parts]


@PIPELINES
def test_a_shipped_pipeline_reaches_the_server_that_the_environment_names(server: OpenAIServer, pipeline: str) -> None:
    found, printed = run(pipeline)
    for metric in found["metrics"].values():
        assert set(metric["statuses"].values()) == {"scored"}
    assert scores(found, "faithfulness") == pytest.approx(supported())
    assert scores(found, "answer_relevancy") == pytest.approx(similarities())
    assert {body["model"] for body in server.bodies} == {"my-judge"}
    assert found["usage"]["answer_relevancy"]["models"] == {"served-model": 3}
    assert sum(account["calls"] for account in found["usage"].values()) == server.calls
    taken = sum(embedding_tokens(embedded_texts(body)) for body in server.embedded)
    counted = [account["embedding_tokens"] for account in found["usage"].values()]
    assert taken == sum(filter(None, counted)) > 0
    assert "embedded" in printed.split()
    expected = {ASKED_BACK, *(row["question"] for row in ROWS)}
    if pipeline == "rag_quality_with_reference":
        expected |= {row[name] for row in ROWS for name in ("answer", "reference_answer")}
    assert sent_texts(server) == expected
    assert not any(KEY.encode() in path.read_bytes() for path in Path().rglob("*") if path.is_file())


@PIPELINES
def test_an_embedder_of_a_file_takes_the_place_of_each(
    server: OpenAIServer, pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = run(pipeline, out="expected")
    server.change()
    monkeypatch.setenv("TEST_EMBEDDER_KEY", "another")
    with OpenAIServer(key="another") as other:
        Path("embedder.yaml").write_text(EMBEDDER % other.url, encoding="utf-8")
        found, _ = run(pipeline, "--embedder embedder.yaml")
        assert found["metrics"] == expected["metrics"]
        assert found["usage"] == expected["usage"]
        assert (server.embedded, other.calls) == ([], 0)
        assert {body["model"] for body in other.embedded} == {"my-embedder"}
        other.change(lost=1.0, lost_to="404")
        spoiled, _ = run(pipeline, "--embedder embedder.yaml", out="spoiled", code=1)
        lost = {name for name, account in expected["usage"].items() if account["embedding_tokens"] is not None}
        for name, metric in spoiled["metrics"].items():
            assert set(metric["statuses"].values()) == {"error" if name in lost else "scored"}


@PIPELINES
def test_a_service_that_is_busy_costs_no_row(server: OpenAIServer, pipeline: str) -> None:
    expected, _ = run(pipeline, out="expected")
    server.change(faults={"429": 1.0}, most_faults=1)
    found, _ = run(pipeline)
    assert found["metrics"] == expected["metrics"]
    assert server.met["429"] > len(ROWS)
    assert any(server.events.count(("in", json.dumps(embedded_texts(body)))) == 2 for body in server.embedded)


def test_a_cache_keeps_replies_and_vectors_for_a_run_offline(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = run("rag_quality_with_reference", "--cache judge.sqlite", out="first")
    server.change()
    monkeypatch.delenv("OPENAI_API_KEY")
    before = sorted(path.name for path in Path().iterdir())
    plan = "plan rag_quality_with_reference --data rows.jsonl --cache judge.sqlite"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert CliRunner().invoke(app, plan.split()).exit_code == 0
    assert sorted(path.name for path in Path().iterdir()) == before
    found, _ = run("rag_quality_with_reference", "--cache judge.sqlite --offline")
    assert found["metrics"] == first["metrics"]
    assert (server.calls, server.embedded) == (0, [])
