# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The shipped pipelines with a real model: `make test-local-judge JUDGE_URL=http://127.0.0.1:8080/v1`.

Left out unless such a server is named. What a small model decides is not tested, only that every row gets its verdicts.
"""

from __future__ import annotations

import math
import os

import pytest
from haystack import Pipeline
from haystack.components.embedders import MockDocumentEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

from haystack_eval_ext._resources import pipeline_path
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from haystack_eval_ext.runs.judging import JudgeSettings, judged_components, set_judges

URL = os.environ.get("JUDGE_URL", "")
MODEL = os.environ.get("HAYSTACK_EVAL_JUDGE_MODEL", "local")
pytestmark = [
    pytest.mark.local_judge,
    pytest.mark.skipif(not URL, reason="no server is named: make test-local-judge JUDGE_URL=http://127.0.0.1:8080/v1"),
]

ROWS = [
    {
        "id": "supported",
        "question": "How many days of annual leave do employees get?",
        "contexts": ["Annual leave is 25 days a year. It expires at the end of March."],
        "answer": "Employees get 25 days of annual leave a year.",
        "reference_answer": "25 days a year.",
    },
    {
        "id": "unsupported",
        "question": "When does the canteen open?",
        "contexts": ["The canteen serves lunch from noon until two."],
        "answer": "The canteen opens at seven in the morning and sells bicycles.",
        "reference_answer": "At noon.",
    },
    {
        "id": "evasive",
        "question": "在宅勤務は週何日までですか。",
        "contexts": ["在宅勤務は週3日までです。"],
        "answer": "申し訳ありませんが、分かりません。",
        "reference_answer": "週3日までです。",
    },
]


@pytest.mark.parametrize("name", ["rag_quality", "rag_quality_with_reference"])
def test_a_shipped_pipeline_runs_with_a_real_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pipeline = Pipeline.loads(pipeline_path(name).read_text("utf-8"))
    generator = OpenAIChatGenerator(
        model=MODEL,
        api_base_url=URL,
        api_key=Secret.from_env_var("OPENAI_API_KEY"),
        max_retries=0,
        timeout=600.0,
        generation_kwargs={"temperature": 0, "max_tokens": 300},
    )
    set_judges(pipeline, JudgeSettings(generator=generator, progress_bar=False))
    for component in judged_components(pipeline).values():
        if hasattr(component, "embedder"):
            component.embedder = MockDocumentEmbedder()
    evaluation = evaluate_pipeline(pipeline, Dataset("rows", [dict(row) for row in ROWS]))
    assert not evaluation.errors
    for metric in evaluation.metrics:
        assert all(0 <= score <= 1 for score in metric.individual_scores if not math.isnan(score)), metric
        assert metric.scored + metric.undefined == len(ROWS)
    faithfulness = next(metric for metric in evaluation.metrics if metric.name == "faithfulness")
    assert faithfulness.individual_scores[0] >= faithfulness.individual_scores[1]
