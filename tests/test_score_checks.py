# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of kept runs are those that the run gave: changed ones and impossible ones are refused, other JSON is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cases import Case, all_cases
from haystack_eval_ext.errors import RunFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._metric_info import range_of
from kept_runs import SECRET, data, evaluators, judged, same

Lines = list[dict[str, Any]]


def change(folder: Path, edit: Callable[[Lines], Any], *, checksum: bool = True) -> Path:
    """Change the parsed lines of a run's scores; without a checksum the run is one of an earlier version."""
    file = folder / "scores.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    edit(lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if not checksum:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        del manifest["checksum"]
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder


def cell(metric: str, row: int = 0, **values: Any) -> Callable[[Lines], Any]:
    return lambda lines: lines[row]["metrics"][metric].update(values)


def all_right(lines: Lines) -> None:
    for line in lines:
        line["metrics"]["exact"]["score"] = 1.0


def exchanged(lines: Lines) -> None:
    """Scores at other questions: means and counts stay."""
    lines[0]["metrics"], lines[-1]["metrics"] = lines[-1]["metrics"], lines[0]["metrics"]


EDITS: dict[str, Callable[[Lines], Any]] = {
    "zeros made ones": all_right,
    "one score": cell("recall", score=0.5),
    "a status": cell("exact", status="undefined"),
    "scores of other questions": exchanged,
    "a reason": cell("exact", error="another"),
}


@pytest.mark.parametrize("name", EDITS)
def test_scores_that_were_changed_are_refused(name: str, tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    change(tmp_path / "run", EDITS[name])
    with pytest.raises(RunFileError, match=r"scores.jsonl: the scores are not those .*--data .*rows.jsonl") as error:
        api.compare(run, tmp_path / "run")
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)
    # What the message tells to do repairs it.
    again = api.evaluate(evaluators(), tmp_path / "run" / "rows.jsonl", out=tmp_path / "again")
    assert again.scores == run.scores
    # Earlier versions wrote no checksum.
    assert api.load_run(change(tmp_path / "run", lambda lines: lines, checksum=False)).ids == run.ids


FORMS: dict[str, Callable[[str], str]] = {
    "another order of lines": lambda text: "\n".join(reversed(text.splitlines())),
    "another order of names": lambda text: "\n".join(
        json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines()
    ),
    "whole numbers": lambda text: text.replace("1.0", "1").replace("0.0", "-0"),
    "white space": lambda text: text.replace(": ", ":   ").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_of_the_json_does_not_matter(name: str, tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    file = tmp_path / "run" / "scores.jsonl"
    file.write_bytes(FORMS[name](file.read_text("utf-8")).encode())
    assert api.load_run(tmp_path / "run").scores == run.scores


@pytest.mark.parametrize("texts", [True, False])
def test_a_run_that_is_saved_again_is_right(texts: bool, tmp_path: Path) -> None:
    run = judged([0.5, None, 1.0])
    run.save(tmp_path / "one")
    run.save(tmp_path / "two", texts=texts)
    again = api.load_run(tmp_path / "two")
    again.save(tmp_path / "two", replace=True)
    assert api.load_run(tmp_path / "two").scores["polite"] == run.scores["polite"]
    assert same(api.load_run(tmp_path / "one"), run)


@pytest.mark.parametrize(("metric", "score"), [("recall", 7.5), ("recall", -0.1), ("ranking.RR", 1.001), ("exact", 2)])
def test_scores_out_of_range_are_refused_in_old_folders_and_baselines_too(
    metric: str, score: float, tmp_path: Path
) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run")
    run.baseline(tmp_path / "base.json")
    change(tmp_path / "run", cell(metric, 4, score=score, status="scored"), checksum=False)
    baseline = json.loads((tmp_path / "base.json").read_text("utf-8"))
    baseline["rows"][4]["scores"][metric] = score
    (tmp_path / "base.json").write_text(json.dumps(baseline), "utf-8")
    expected = rf"the score of '{metric}' in row 'q4' lies outside its range, 0 to 1\."
    for path, told in ((tmp_path / "run", "score the answers again"), (tmp_path / "base.json", "baseline again")):
        with pytest.raises(RunFileError, match=f"{expected} .*{told}"):
            api.load_run(path)


def test_components_of_others_have_no_range_of_ours(tmp_path: Path) -> None:
    # Its docstring says "From 0 to 1", which nobody has checked.
    judged([0.5, 3.0]).save(tmp_path / "run")
    assert api.load_run(tmp_path / "run").metrics["polite"].scores == [0.5, 3.0]
    assert range_of("kept_runs.Judge") is None


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_every_component_of_ours_has_a_range(case: Case) -> None:
    kind = case.component
    low, high = range_of(f"{kind.__module__}.{kind.__name__}") or (None, None)
    assert (low, high) in {(0.0, 1.0), (-1.0, 1.0)}
    if kind.__name__ in ("SASEvaluator", "AnswerEmbeddingSimilarityEvaluator"):
        assert low == -1.0
