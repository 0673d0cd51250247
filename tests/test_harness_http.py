# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness with a generator that speaks to a real HTTP server of OpenAI's protocol on 127.0.0.1."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from haystack import Pipeline
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

from haystack_eval_ext import AnswerContainsEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.runs import api
from openai_server import OpenAIServer
from rag_pipelines import dataset, filled_store, hybrid, rag

QUESTIONS = 300
PRICES = {"served-model": {"input": 1e6, "output": 1e6}, "*": {"input": 0.0, "output": 0.0}}


def generator(url: str) -> OpenAIChatGenerator:
    return OpenAIChatGenerator(
        Secret.from_env_var("HARNESS_TEST_KEY"), api_base_url=url, max_retries=0, timeout=30, model="asked-model"
    )


def questions_of(server: OpenAIServer) -> Counter[str]:
    return Counter(body["messages"][-1]["content"].rpartition("Question: ")[2] for body in server.bodies)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["yaml", "python"])
def test_300_questions_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("HARNESS_TEST_KEY", "key")
    data = dataset(QUESTIONS)
    with OpenAIServer(key="key", lost=0.02, lost_to="500") as server:
        pipeline: Pipeline
        if form == "yaml":
            pipeline = rag(generator(server.url), filled_store("harness-http"))
            (tmp_path / "rag.yaml").write_text(pipeline.dumps(), "utf-8")
        else:
            pipeline = hybrid(generator(server.url))
        run = api.run_rag(
            {"recall": DocumentRecallEvaluator("multi_hit", "id"), "has": AnswerContainsEvaluator()},
            data,
            tmp_path / "rag.yaml" if form == "yaml" else pipeline,
            out=tmp_path / "run",
            prices=PRICES,
            progress=False,
        )
        # What is lost depends on the message alone: each question was asked once, and the same ones failed.
        assert questions_of(server) == Counter(data.column("question"))
        failed = server.met["500"]
        assert 0 < failed < QUESTIONS // 10
        assert server.peak > 1
    statuses = Counter(run.metrics["recall"].statuses)
    assert statuses == {"scored": QUESTIONS - failed, "error": failed}
    assert run.scores["recall"] == 1.0
    good = [row for row in run.rows if row["status"] == "ok"]
    assert len(good) == QUESTIONS - failed
    # The server says 100 and 10 for each reply.
    assert all(row["tokens"]["served-model"] == {"prompt": 100, "completion": 10} for row in good)
    assert {row["cost"] for row in good} == {110.0}
    bad = next(row for row in run.rows if row["status"] == "error")
    assert (bad["error"]["component"], bad["error"]["class"]) == ("llm", "InternalServerError")
    assert bad["error"]["reason"].endswith("The service answered 500.")
    # The service's message quotes the prompt: it stands with the texts alone.
    assert "topic" in bad["error"].pop("message")
    assert "topic" not in str(bad["error"])
    kept = api.load_run(tmp_path / "run")
    assert kept.scores == run.scores
