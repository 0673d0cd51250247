# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""`haystack-eval metrics`: everything is listed, and as Haystack sees it."""

import json
from typing import Any

import pytest
from haystack import Pipeline
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext import DocumentMRREvaluator, DocumentRankingEvaluator, DocumentRecallEvaluator
from haystack_eval_ext.cli import app
from haystack_eval_ext.retrieval.measures import MEASURES


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout


def test_metrics_lists_what_the_code_has() -> None:
    code, stdout = call("metrics", "--json")
    found = json.loads(stdout)
    assert code == 0
    assert {measure["name"] for measure in found["measures"]} == set(MEASURES)
    exported = {name for name in haystack_eval_ext.__all__ if name.endswith("Evaluator")}
    assert {entry["name"] for entry in found["components"]} == exported
    for entry in found["components"] + found["measures"]:
        assert entry["range"] == [0.0, 1.0]
        assert entry["direction"] == "higher is better"
        assert entry["source"]


@pytest.mark.parametrize(
    "instance", [DocumentMRREvaluator(), DocumentRecallEvaluator(), DocumentRankingEvaluator(["AP"])]
)
def test_metrics_gives_the_sockets_that_haystack_makes(instance: Any) -> None:
    found = json.loads(call("metrics", "--json")[1])["components"]
    entry = next(entry for entry in found if entry["name"] == type(instance).__name__)
    pipeline = Pipeline()
    pipeline.add_component("it", instance)
    sockets = pipeline.inputs()["it"]
    assert {(given["name"], given["mandatory"]) for given in entry["inputs"]} == {
        (name, socket["is_mandatory"]) for name, socket in sockets.items()
    }
    assert {given["name"] for given in entry["outputs"]} == set(pipeline.outputs()["it"])
    assert {given["type"] for given in entry["inputs"]} == {"list[list[Document]] | list[Document]"}
    assert f"type: {entry['type']}\n" in pipeline.dumps()


def test_metrics_for_people_names_everything() -> None:
    code, stdout = call("metrics")
    headings = {line for line in stdout.splitlines() if line and not line.startswith(" ")}
    assert code == 0
    assert headings == set(MEASURES) | {name for name in haystack_eval_ext.__all__ if name.endswith("Evaluator")}
    assert f"{DocumentMRREvaluator.__module__}.DocumentMRREvaluator\n" in stdout


def test_version() -> None:
    code, stdout = call("--version")
    assert code == 0
    assert stdout.startswith(f"haystack-eval-ext {haystack_eval_ext.__version__} (haystack-ai ")
