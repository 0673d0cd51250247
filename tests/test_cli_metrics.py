# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""`haystack-eval metrics`: everything is listed, and as Haystack sees it."""

import json
import sys
from typing import Any

import pytest
from haystack import Pipeline, component
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext import DocumentMRREvaluator, DocumentRankingEvaluator, DocumentRecallEvaluator
from haystack_eval_ext._cli.catalog import catalog
from haystack_eval_ext.cli import app
from haystack_eval_ext.retrieval.measures import MEASURES

COMPONENTS = {name for name in haystack_eval_ext.__all__ if hasattr(getattr(haystack_eval_ext, name), "run")}


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout


def test_metrics_lists_what_the_code_has() -> None:
    code, stdout = call("metrics", "--json")
    found = json.loads(stdout)
    assert code == 0
    assert {measure["name"] for measure in found["measures"]} == set(MEASURES)
    assert {entry["name"] for entry in found["components"]} == COMPONENTS


ENTRIES = {entry["name"]: entry for entries in catalog().values() for entry in entries}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_component_and_measure_states_range_direction_and_source(name: str) -> None:
    entry = ENTRIES[name]
    assert entry["range"] is not None, "the first paragraph of the docstring lacks 'from LOW to HIGH'"
    assert entry["range"][0] < entry["range"][1]
    neither = entry["direction"] is None and "neither is better" in entry["summary"]
    assert neither or entry["direction"] in ("higher is better", "lower is better")
    assert entry["source"], "the docstring of the module lacks 'Source: ...'"


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_runs_from_0_to_1(name: str) -> None:
    assert (ENTRIES[name]["range"], ENTRIES[name]["direction"]) == ([0.0, 1.0], "higher is better")


@component
class Silent:
    """A number."""

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, questions: list[str]) -> dict[str, Any]:
        """
        Score nothing.

        :param questions: Not used.
        :returns: Scores.
        """
        return {"score": 0.0, "individual_scores": [0.0 for _ in questions]}


def test_what_a_component_does_not_state_is_not_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haystack_eval_ext, "Silent", Silent, raising=False)
    monkeypatch.setattr(haystack_eval_ext, "__all__", ["Silent"])
    (entry,) = catalog()["components"]
    assert (entry["name"], entry["range"], entry["direction"], entry["source"]) == ("Silent", None, None, None)
    shown = call("metrics")[1].partition(next(iter(MEASURES)))[0].split("\n")
    assert "  range    not stated, direction not stated" in shown
    assert "  source   not stated" in shown


def test_a_source_ends_with_its_paragraph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Silent.__module__], "__doc__", "A number. Source: Somebody,\n1992.\n\nMore text.")
    monkeypatch.setattr(haystack_eval_ext, "Silent", Silent, raising=False)
    monkeypatch.setattr(haystack_eval_ext, "__all__", ["Silent"])
    assert [entry["source"] for entry in catalog()["components"]] == ["Somebody, 1992."]


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
    assert headings == set(MEASURES) | COMPONENTS
    assert f"{DocumentMRREvaluator.__module__}.DocumentMRREvaluator\n" in stdout


def test_version() -> None:
    code, stdout = call("--version")
    assert code == 0
    assert stdout.startswith(f"haystack-eval-ext {haystack_eval_ext.__version__} (haystack-ai ")
