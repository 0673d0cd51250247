# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Kept runs in a comparison: records of older versions, and questions of which some answers failed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.generators.chat import MockChatGenerator

from cases import Case, all_cases
from haystack_eval_ext import AnswerMatchEvaluator, LLMEvaluator
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._metric_info import default_of, metric_info
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import data, evaluators, judged


def older(folder: Path, run: EvaluationRun, metric: str, **parameters: Any) -> Path:
    """A baseline as an older version wrote it; a parameter of None is one that it did not know."""
    path = folder / "old.json"
    run.baseline(path)
    whole = json.loads(path.read_text("utf-8"))
    made = whole["metrics"][metric]["parameters"]
    for name, value in parameters.items():
        made.pop(name)
        if value is not None:
            made[name] = value
    path.write_text(json.dumps(whole), "utf-8")
    return path


def test_a_parameter_that_an_older_version_did_not_have_is_its_default(tmp_path: Path) -> None:
    same, cut = api.evaluate(evaluators(), data()), api.evaluate(evaluators(top_k=1), data())
    base = older(tmp_path, same, "recall", top_k=None)
    assert api.compare(base, same).metrics["recall"].difference.mean == 0
    assert api.compare(same, base).metrics["recall"].difference.mean == 0
    with pytest.raises(
        api.ComparisonError, match=r"top_k of 'recall' differs: nothing and 1 \(if .*write the baseline again"
    ):
        api.compare(base, cut)


@pytest.mark.parametrize(
    ("kind", "parameter", "expected"),
    [
        ("haystack_eval_ext.retrieval.document_recall.DocumentRecallEvaluator", "top_k", [None]),
        ("haystack_eval_ext.retrieval.document_recall.DocumentRecallEvaluator", "nothing", []),
        ("haystack_eval_ext.not_there.Evaluator", "top_k", []),
        ("not_there.Evaluator", "top_k", []),
        ("Evaluator", "top_k", []),
        ("haystack_eval_ext.runs.gate.check_run", "power", []),
    ],
)
def test_defaults_are_those_of_classes_that_are_known(kind: str, parameter: str, expected: list[Any]) -> None:
    assert default_of(kind, parameter) == expected


def test_a_file_that_names_a_class_imports_nothing_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap_of_a_baseline.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert default_of("trap_of_a_baseline.Evaluator", "x") == []


def of_older_rules(path: Path) -> None:
    """Make a file of a run as versions wrote it that knew no rule but the first."""
    whole = json.loads(path.read_text("utf-8"))
    for made in whole["metrics"].values():
        del made["rule"]
    path.write_text(json.dumps(whole), "utf-8")


@pytest.mark.parametrize("older_first", [True, False])
def test_scores_of_an_older_rule_are_refused_until_they_are_made_anew(older_first: bool, tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "old")
    run.baseline(tmp_path / "old.json")
    for path in (tmp_path / "old" / "manifest.json", tmp_path / "old.json"):
        of_older_rules(path)
    for old in (tmp_path / "old", tmp_path / "old.json"):
        pair = (old, run) if older_first else (run, old)
        with pytest.raises(api.ComparisonError, match=r"rule of 'exact' has changed since 'old.*haystack-eval run"):
            api.compare(*pair)
        # Only what changed is refused.
        assert api.compare(*pair, metrics=["recall", "ranking.RR"]).metrics["recall"].difference.mean == 0
    anew = api.evaluate(evaluators(), tmp_path / "old", out=tmp_path / "new")
    assert api.compare(anew, run).metrics["exact"].difference.mean == 0


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_the_rule_of_each_component(case: Case) -> None:
    changed = {"answers": 2, "diagnosis": 4, "judged": 1, "retrieval": 1}[case.component.__module__.split(".")[1]]
    if "judged" in case.component.__module__ and "ground_truth_answers" in case.inputs:
        changed = 2
    if case.parameters.get("matching") == "overlap":
        changed = 2
    if case.component is AnswerMatchEvaluator:
        changed = 3
    pipeline = Pipeline()
    pipeline.add_component("metric", case.make())
    assert metric_info(pipeline, "metric", {}).rule == changed


@pytest.mark.parametrize(
    ("more", "rule"), [({}, 2), ({"output_values": {"score": [0, 1]}}, 1), ({"outputs": ["o"]}, 1)]
)
def test_the_rule_of_a_score_of_which_nothing_is_said(more: dict[str, Any], rule: int) -> None:
    parameters: dict[str, Any] = {
        "instructions": "i",
        "inputs": [("a", list[str])],
        "outputs": ["score"],
        "examples": [],
    }
    pipeline = Pipeline()
    pipeline.add_component("metric", LLMEvaluator(**{**parameters, **more}, chat_generator=MockChatGenerator("x")))
    assert metric_info(pipeline, "metric", {}).rule == rule


def repeated(*answers: list[float | None]) -> EvaluationRun:
    """A run with several answers to each question; None is one that failed."""
    runs = [judged(scores) for scores in answers]
    metric = runs[0].metrics["polite"]
    rows = [row | {"repeat": repeat} for repeat, run in enumerate(runs) for row in run.rows]
    columns = [[entry for run in runs for entry in column(run)] for column in (_scores, _statuses)]
    metrics = {"polite": type(metric)(metric.info, columns[0], columns[1], [None] * len(rows))}
    return EvaluationRun(runs[0].manifest, rows, metrics)


def _scores(run: EvaluationRun) -> list[Any]:
    return run.metrics["polite"].scores


def _statuses(run: EvaluationRun) -> list[Any]:
    return run.metrics["polite"].statuses


def test_answers_that_failed_do_not_vanish_from_the_gate(tmp_path: Path) -> None:
    base = repeated([0.5] * 40, [0.5] * 40)
    new = repeated([0.5] * 40, [None] * 30 + [0.5] * 10)
    new.baseline(tmp_path / "new.json")
    for run in (new, api.load_run(tmp_path / "new.json")):
        results = [*api.check(run, ["polite > 0.7"]), *api.check(api.compare(base, run), ["polite rises 0.2"])]
        for result in results:
            assert (result.outcome, result.failed) == ("inconclusive", 30)
            assert "the scores of 30 rows that could not be judged" in result.reason
    few = repeated([0.5] * 40, [None] + [0.5] * 39)
    assert api.check(few, ["polite > 0.7"])[0].outcome == "pass"
    assert [result.outcome for result in api.check(api.compare(base, few), ["polite rises 0.2"])] == ["pass"]


def test_a_baseline_keeps_the_share_of_the_answers_that_failed(tmp_path: Path) -> None:
    run = repeated([0.5, None, 0.5], [None, None, 0.5], [0.5, None, 0.5])
    assert [round(share, 3) for share in run.scored().metrics["polite"].failed or []] == [0.333, 1.0, 0.0]
    run.baseline(tmp_path / "one.json")
    again = api.load_run(tmp_path / "one.json")
    again.baseline(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "two.json").read_text()
    metric = again.scored().metrics["polite"]
    assert [round(share, 3) for share in metric.failed or []] == [0.333, 1.0, 0.0]
    assert math.isnan(metric.scores[1])
