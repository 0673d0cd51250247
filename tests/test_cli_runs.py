# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands for kept runs: verdicts as exit codes, reports, and one line with a hint for each wrong use."""

import csv
import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Pipeline
from typer.testing import CliRunner

from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext.cli import app, main
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._comparison_text import footnotes, tables
from haystack_eval_ext.runs.comparison import ScoredRun, compare
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from haystack_eval_ext.runs.making import make_run
from kept_runs import SECRET, Judge, data, evaluators, judged, rows, working_folder
from scored_runs import rows as numbers

WORKFLOW = Path(__file__).parent.parent / "examples" / "github-workflow.yml"


def ranking(*measures: str) -> DocumentRankingEvaluator:
    return DocumentRankingEvaluator(list(measures), document_comparison_field="id")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs, made once."""
    folder = tmp_path_factory.mktemp("runs")
    for name, wrong in {"good": 2, "bad": 30, "same": 2}.items():
        api.evaluate(evaluators(), data(40, wrong=wrong), out=folder / name)
    api.evaluate(evaluators(), data(30, wrong=2), out=folder / "short")
    api.evaluate(evaluators(top_k=1), data(40, wrong=2), out=folder / "cut")
    api.evaluate(evaluators(), data(40, wrong=2), out=folder / "bare", texts=False)
    api.evaluate({"ranking": ranking("R@1", "RR")}, data(40, wrong=2), out=folder / "at1")
    api.evaluate({"ranking": ranking("R@2", "RR")}, data(40, wrong=2), out=folder / "at2")
    judged([None] * 40, replied=None).save(folder / "outage")
    judged([0.5, 0.25] * 20).save(folder / "judged")
    people = [row | {"human": ["yes", "no"][number < 4]} for number, row in enumerate(rows(40, wrong=2))]
    api.evaluate(evaluators(), Dataset("people.jsonl", people), out=folder / "people")
    api.baseline(folder / "good", folder / "baseline.json")
    (folder / "torn").mkdir()
    (folder / "torn" / "manifest.json").write_text("{")
    (folder / "empty").mkdir()
    (folder / "there.md").write_text("mine")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the runs."""
    return working_folder(made, tmp_path, monkeypatch)


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    return result.exit_code, result.stdout, result.stderr


# --- verdicts ------------------------------------------------------------------------------------------------------

VERDICTS: list[tuple[str, int, str]] = [
    ("compare good same", 0, ""),
    ("compare good bad", 0, ""),
    ("compare bad good --fail-if 'recall drops 0.02'", 0, "pass: recall changed by +0.7000"),
    ("compare good bad --fail-if 'recall drops 0.02'", 1, "fail: recall changed by -0.7000"),
    (
        "compare good bad --fail-if 'recall drops 0.02'",
        1,
        "Rule significant: a change fails where its interval lies on",
    ),
    ("compare good bad --fail-if 'recall drops 0.69'", 1, "fail: recall changed by -0.7000"),
    ("compare good bad --fail-if 'recall drops 0.69' --rule strict", 0, "inconclusive: recall changed by -0.7000"),
    ("compare good bad --fail-if 'recall drops 0.02' --rule strict", 1, "Rule strict: a change fails where its whole"),
    ("compare baseline.json bad --fail-if 'exact drops 0.02'", 1, "fail: exact changed by -0.7000"),
    ("compare good same --fail-if 'recall drops 0.02'", 0, "inconclusive: recall changed by 0.0000"),
    ("compare good same --fail-if 'recall drops 0.02' --inconclusive pass", 0, "inconclusive"),
    (
        "compare good same --fail-if 'recall drops 0.02' --inconclusive fail",
        3,
        "40 questions in 20 clusters are too few",
    ),
    ("compare good same --fail-if 'recall drops 0.02' --by-mean", 0, "pass: recall changed by 0.0000"),
    ("compare good bad --fail-if 'exact < 0.2' --fail-if 'recall drops 0.02' --inconclusive fail", 1, "fail"),
    ("compare good short --common --fail-if 'recall drops 0.9'", 0, "pass"),
    ("compare good short --unpaired --fail-if 'recall drops 0.9'", 0, "pass"),
    ("compare at1 at2 --metric ranking.RR --fail-if 'ranking.RR drops 0.5'", 0, "pass: ranking.RR"),
    ("check good --fail-if 'recall < 0.5'", 0, "pass: recall is 0.9500"),
    ("check good --fail-if 'recall < 0.99'", 0, "inconclusive: recall is 0.9500"),
    ("check bad --fail-if 'recall < 0.5' --inconclusive fail", 1, "fail: recall is 0.2500"),
    ("check good --fail-if 'recall < 0.9' --inconclusive fail", 3, "inconclusive"),
    ("check baseline.json --fail-if 'ranking.RR < 0.3'", 0, "pass"),
    ("check outage --fail-if 'polite > 0.5' --inconclusive fail", 3, "40 rows could not be judged"),
    ("compare judged outage --fail-if 'polite rises 0.02' --inconclusive fail", 3, "no row has a score"),
]


@pytest.mark.parametrize(("line", "code", "expected"), VERDICTS, ids=[line for line, _, _ in VERDICTS])
def test_the_exit_code_is_the_verdict(line: str, code: int, expected: str, folder: Path) -> None:
    found, out, err = call(line)
    assert (found, expected in " ".join(out.split())) == (code, True), out + err
    warned = "inconclusive: " in out and code == 0 and "--inconclusive pass" not in line
    assert ("Warning: The gate is inconclusive" in err) == warned
    assert SECRET not in out + err


def test_a_reason_is_one_line_where_nobody_reads_a_terminal(folder: Path) -> None:
    _, out, _ = call("compare good same --fail-if 'recall drops 0.02'")
    reason = next(line for line in out.splitlines() if line.startswith("fails if"))
    assert len(reason) > 120
    assert reason.endswith("would fail")


# --- reports -------------------------------------------------------------------------------------------------------


def test_a_comparison_as_markdown_and_json(folder: Path) -> None:
    code, out, _ = call(
        "compare good bad --by lang --changed 2 --margin 0.05 --margin exact=0.1 --fail-if 'recall drops 0.02' "
        "--markdown new.md --json new.json"
    )
    assert code == 1
    text = (folder / "new.md").read_text("utf-8")
    assert "| recall drops 0.02 | ❌ fail |" in text
    assert "| recall | 0.9500 (0.7392 to 0.9922) | 0.2500 (0.1036 to 0.4900) | 0 | 0 |" in text
    # 14 of 20 clusters became worse: 2 of 2^14 choices of signs come as far, times 4 metrics.
    assert "| recall | -0.7000 | -0.9200 to -0.4800 | -1.51 | 0.00049 | 0 / 12 / 28 | 40 |" in text
    assert "lang:de" in text
    for said in (text, " ".join(out.split())):
        assert "p: randomisation test. Seed 0. Adjusted for 4 tests (Holm)." in said
        assert "Clusters, which intervals and tests go by: 20." in said
        assert "Interval of the means: Wilson, effective rows" in said
        assert "recall: could have shown a change of 0." in said
        assert re.search(r"a margin of 0\.05 needs about \d+ questions in \d+ clusters", said)
    assert "recall became worse: q10 (1.0000 to 0.0000), q11 (1.0000 to 0.0000) and 26 more" in text
    found = json.loads((folder / "new.json").read_text("utf-8"))
    assert (found["outcome"], found["gate"][0]["outcome"], found["gate"][0]["condition"]) == (
        "fail",
        "fail",
        "recall drops 0.02",
    )
    recall = found["metrics"]["recall"]
    assert (recall["losses"], recall["margin"], found["metrics"]["exact"]["margin"]) == (28, 0.05, 0.1)
    assert recall["difference"]["interval"].keys() == {"low", "high", "method"}
    assert (recall["difference"]["p_value"], recall["difference"]["test"]) == (
        recall["difference"]["randomisation_p"],
        "randomisation test",
    )
    assert "p (Holm)" in out
    assert SECRET not in text + json.dumps(found) + out


def test_a_check_as_markdown_and_json(folder: Path) -> None:
    assert call("check good --fail-if 'recall < 0.5' --markdown c.md --json c.json")[0] == 0
    assert "✅ pass" in (folder / "c.md").read_text("utf-8")
    assert json.loads((folder / "c.json").read_text("utf-8"))["run"] == "good"
    # The report is written before the exit code says no.
    assert call("check bad --fail-if 'recall < 0.5' --markdown c.md --force")[0] == 1
    assert "❌ fail" in (folder / "c.md").read_text("utf-8")


def test_what_has_no_score_is_told_of_each_side(folder: Path) -> None:
    lines = [line.split() for line in call("compare judged outage --changed 0")[1].splitlines()]
    assert any(line[:1] == ["polite"] and line[-6:] == ["–", "–", "0", "0", "/", "40"] for line in lines)


def test_tests_and_intervals_are_named_for_the_metrics_they_are_of() -> None:
    ids = [f"q{row}" for row in range(30)]
    base, new = (
        ScoredRun(name, ids, {"share": numbers([1, 0] * 15), "graded": numbers([0.1 * (row % 7) for row in range(30)])})
        for name in ("base", "new")
    )
    new = replace(new, metrics={**new.metrics, "graded": numbers([0.05 * (row % 11) for row in range(30)])})
    found = compare(base, new)
    assert footnotes(found, found.metrics)[:3] == [
        "p: McNemar's exact test for share; randomisation test for graded. Seed 0. Adjusted for 2 tests (Holm).",
        "Interval of the change: Bonett-Price for share; t for graded.",
        "Interval of the means: Wilson for share; Wilson, effective rows for graded.",
    ]
    unpaired = compare(base, new, unpaired=True)
    assert footnotes(unpaired, unpaired.metrics)[0] == (
        "p: Newcombe's interval for share; studentised permutation test for graded. It asks whether both runs have one "
        "distribution of scores. Seed 0. Adjusted for 2 tests (Holm)."
    )
    # Nothing is said of what an unpaired comparison does not have.
    assert tables(unpaired, unpaired.metrics)[1].lines[0][3] == "–"
    assert not any("d_z" in line for line in footnotes(unpaired, unpaired.metrics))


def test_tables_fit_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = call("compare good bad --by lang")
    # Prose is wrapped by the terminal.
    assert max(len(line) for line in out.splitlines() if ": " not in line) <= 100
    heads = [line.split()[:2] for line in out.splitlines() if line.startswith("Metric")]
    assert heads == [["Metric", "Base"], ["Metric", "Change"]] * 3
    assert "…" not in out


def test_a_baseline_is_written_and_replaced_on_demand(folder: Path) -> None:
    code, _, err = call("baseline bad -o b.json")
    assert code == 0
    assert "What a gate finds in these questions (assumed: 20 % of the scores change by chance):" in err
    assert re.search(r"^  recall: with 40 questions (a|no) drop ", err, re.MULTILINE)
    assert call("compare b.json bad --fail-if 'recall drops 0.9'")[0] == 0
    before = (folder / "b.json").read_text("utf-8")
    assert call("baseline good -o b.json")[0] == 2
    assert (folder / "b.json").read_text("utf-8") == before
    assert call("baseline good -o b.json --force")[0] == 0
    assert SECRET not in (folder / "b.json").read_text("utf-8")
    assert call("baseline good -o good/mine.json")[0] == 0
    (folder / "good" / "mine.json").unlink()


@pytest.mark.parametrize(("name", "option"), [("x.csv", ""), ("x.json", ""), ("x.md", ""), ("x", "--to csv")])
def test_a_run_is_exported(name: str, option: str, folder: Path) -> None:
    assert call(f"export good {name} {option}")[0] == 0
    text = (folder / name).read_text("utf-8")
    if name == "x.json":
        assert json.loads(text)["rows"][0]["metrics"]["recall"] == {"score": 0.0, "status": "scored", "error": None}
    elif name == "x.md":
        assert "| recall | 0.9500 |" in text
    else:
        assert [line["score.recall"] for line in csv.DictReader(text.splitlines())][:3] == ["0.0", "0.0", "1.0"]


def test_a_metric_against_people(folder: Path) -> None:
    code, out, _ = call("agree people --human human --metric exact")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    # Of 40, people call 4 wrong; the metric finds 2 of them.
    assert ["0", "2", "2", "0.1000"] in lines
    assert ["1", "0", "36", "0.9000"] in lines
    assert next(line for line in lines if line[:1] == ["Kappa"])[1] == "0.6429"


def test_without_a_metric_it_is_the_only_one_or_all_that_are_judged(folder: Path) -> None:
    people = rows(40)
    api.evaluate({"exact": evaluators()["exact"]}, Dataset("people.jsonl", people), out=folder / "single")
    assert "exact against human, 40 questions" in call("agree single --human human")[1]
    api.evaluate(evaluators(), Dataset("people.jsonl", people), out=folder / "several")
    code, _, err = call("agree several --human human")
    assert (code, "recall" in err, "'exact'" in err, "--metric" in err) == (2, True, True, True)
    pipeline = Pipeline()
    for name, evaluator in {
        "polite": Judge([0.5] * 40),
        "exact": evaluators()["exact"],
        "kind": Judge([1.0] * 40),
    }.items():
        pipeline.add_component(name, evaluator)
    make_run(evaluate_pipeline(pipeline, data(40)), data(40), pipeline, name="mixed").save(folder / "mixed")
    code, out, _ = call("agree mixed --human human --threshold 0.4")
    assert (code, re.findall(r"^(\w+) against human", out, re.MULTILINE)) == (0, ["polite", "kind"])


# --- wrong use -----------------------------------------------------------------------------------------------------

WRONG: list[tuple[str, list[str]]] = [
    ("compare good", ["NEW", "--help"]),
    ("compare good none", ["none: there is no such run"]),
    ("compare good empty", ["empty holds no run"]),
    ("compare good torn", ["manifest.json", "whole"]),
    ("compare there.md good", ["there.md", "not JSON"]),
    ("compare good short", ["Questions: 10 of 40", "--common compares", "--unpaired"]),
    ("compare good cut", ["Parameter top_k of 'recall' differs: None and 1"]),
    ("compare good judged", ["Metrics:"]),
    ("compare at1 at2", ["'at1' has 'ranking.R@1', 'at2' has 'ranking.R@2'", "--metric NAME compares those alone"]),
    ("compare at1 at2 --common", ["'at1' has 'ranking.R@1', 'at2' has 'ranking.R@2'"]),
    ("compare at1 at2 --metric ranking.R@1", ["'ranking.R@1' is none", "'ranking.RR'"]),
    ("compare good same --metric recall --margin exact=0.1", ["--margin: 'exact' is no metric", "recall."]),
    ("compare good same --margin =0.1", ["--margin must be a number above 0, or METRIC=NUMBER, but is '=0.1'"]),
    ("compare good same --margin nan", ["--margin must be a number above 0"]),
    ("compare good same --fail-if 'recall << 2'", ["--fail-if", "METRIC < NUMBER", "'recall << 2'"]),
    ("compare good short --common --unpaired", ["--common and --unpaired exclude"]),
    ("compare bare same --rejudge", ["'bare' was kept without them", "kept with texts"]),
    ("compare baseline.json same --rejudge", ["a baseline never has any"]),
    ("compare good same --rejudge --margin recal=0.1", ["--margin: 'recal' is no metric"]),
    ("compare good same --rejudge --fail-if 'recal drops 0.02'", ["names no metric", "'recall'"]),
    ("compare good same --rejudge --map recall", ["--map must look like COMPONENT.SOCKET=COLUMN"]),
    ("compare good same --rejudge --map recall.ground_truth_documents=none", ["none", "Correct --map"]),
    ("compare good same --rejudge --max-calls 1", ["asks a judge"]),
    ("compare good same --rejudge --max-cost 1", ["--max-cost needs --prices"]),
    ("compare good same --judge j.yaml --no-progress", ["--judge, --no-progress: nothing is judged without --rejudge"]),
    ("compare good same --map a.b=c --offline", ["--offline, --map: nothing is judged without --rejudge"]),
    ("compare good same --by topic", ["by must name tags", "there are"]),
    ("compare judged outage --by nothing --fail-if 'polite > 1'", ["by must name tags"]),
    ("compare good same --fail-if recall", ["--fail-if", "METRIC drops NUMBER"]),
    ("compare good same --fail-if 'recal drops 0.02'", ["names no metric", "'recall'"]),
    ("compare good same --fail-if 'recall drops -1'", ["--fail-if", "at least 0"]),
    ("compare good same --inconclusive fail", ["--inconclusive", "add --fail-if"]),
    ("compare good same --rule strict", ["--rule", "add --fail-if"]),
    ("compare good same --fail-if 'recall drops 0.02' --rule strict --by-mean", ["--by-mean and --rule exclude"]),
    ("compare good same --fail-if 'recall drops 0.02' --rule lax", ["--rule", "lax", "--help"]),
    ("check good --fail-if 'recall drops'", ["has no margin", "'recall drops 0'"]),
    ("compare good same --fail-if 'recall < 1' --inconclusive maybe", ["--inconclusive", "maybe", "--help"]),
    ("compare good same --margin x", ["--margin must be a number", "'x'"]),
    ("compare good same --margin 0", ["margins must be above 0"]),
    ("compare good same --margin other=0.1", ["--margin: 'other' is no metric"]),
    ("compare good same --confidence 2", ["confidence"]),
    ("compare good same --seed -1", ["--seed", "--help"]),
    ("compare good same --changed -1", ["--changed", "--help"]),
    ("compare good same --markdown there.md", ["--markdown: there.md is there already", "--force"]),
    ("compare good same --markdown no/x.md", ["--markdown: there is no folder no"]),
    ("compare good same --markdown empty", ["--markdown: empty is a folder"]),
    ("compare good same --markdown ''", ["--markdown: names no file"]),
    ("compare good same --json same/rows.jsonl --force", ["belongs to an input"]),
    ("compare baseline.json same --json baseline.json --force", ["belongs to an input"]),
    ("compare good same --json x.out --markdown x.out", ["named by two options"]),
    ("check good", ["--fail-if", "--help"]),
    ("check good --fail-if 'recall drops 0.02'", ["compares two runs, but here is one"]),
    ("check none --fail-if 'recall < 1'", ["no such run"]),
    ("check good --fail-if 'recall < 1' --tolerate-failed 2", ["--tolerate-failed", "--help"]),
    ("baseline good", ["--out", "--help"]),
    ("baseline none -o x.json", ["no such run"]),
    ("agree good --human humn --metric exact", ["'humn'", "nearest: 'human'"]),
    ("agree good --human human --metric exat", ["'exat' is none", "'exact'"]),
    ("agree bare --human human --metric exact", ["kept without texts"]),
    ("agree baseline.json --human human --metric exact", ["kept without texts"]),
    ("agree good --human human", ["has several metrics", "--metric", "'recall'", "'exact'"]),
    ("agree good --human human --metric exact --weights cubic", ["--weights", "--help"]),
    ("export good x.xml", ["--to", "csv, --to json or --to markdown"]),
    ("export good x.csv --to xml", ["--to", "--help"]),
    ("export good there.md", ["FILE: there.md is there already"]),
    ("export none x.csv", ["no such run"]),
    ("rejudge", ["No such command", "--help"]),
]


@pytest.mark.parametrize(("line", "parts"), WRONG, ids=[line for line, _ in WRONG])
def test_wrong_use_is_one_line_and_exit_code_2(line: str, parts: list[str], folder: Path) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    code, out, err = call(line)
    assert (code, out) == (2, ""), out + err
    assert err.startswith("Error: ")
    assert err.count("\n") == 1, err
    assert SECRET not in err
    for part in parts:
        assert part in err
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} == before


def test_a_traceback_on_demand(folder: Path) -> None:
    result = CliRunner().invoke(app, ["check", "none", "--fail-if", "a < 1", "--debug"])
    assert result.exit_code == 2
    assert "RunFileError: " in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: none")


def test_a_fault_of_ours_is_no_verdict(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(api, "check", broken)
    monkeypatch.setattr(sys, "argv", ["haystack-eval", "check", "good", "--fail-if", "recall < 0.5"])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert (end.value.code, "Traceback" in err, "please report it" in err) == (70, True, True)


# --- the workflow --------------------------------------------------------------------------------------------------


def test_the_workflow_is_one_that_runs_our_commands() -> None:
    workflow: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    steps = workflow["jobs"]["evaluate"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert not any("${{" in script for script in scripts)  # what a pull request names must not become code
    assert workflow["permissions"] == {"contents": "read"}
    commands = re.findall(r"haystack-eval (\w+)", "\n".join(scripts))
    assert commands == ["run", "compare"]
    compare = re.search(r"haystack-eval (compare[^|]*?)\n\n", "\n".join(scripts) + "\n\n", re.DOTALL)
    assert compare is not None
    for option in re.findall(r"--[a-z-]+", compare[1]):
        assert option in CliRunner().invoke(app, ["compare", "--help"], env={"COLUMNS": "200"}).stdout
    guarded = [step for step in steps if "haystack-eval" in step.get("run", "")]
    assert all("OPENAI_API_KEY" in step["if"] for step in guarded)
    assert any("GITHUB_STEP_SUMMARY" in script for script in scripts)


def workflow_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["evaluate"]["steps"]
    return steps


def test_the_workflow_keeps_replies_whatever_comes_of_the_run() -> None:
    steps = workflow_steps()
    uses = [step.get("uses", "") for step in steps]
    # The cache action as a whole saves after a success alone.
    assert not any(use.startswith("actions/cache@") for use in uses)
    restored, saved = uses.index("actions/cache/restore@v4"), uses.index("actions/cache/save@v4")
    run = next(place for place, step in enumerate(steps) if "haystack-eval run" in step.get("run", ""))
    assert (restored < run, saved) == (True, run + 1)
    assert "always()" in steps[saved]["if"]
    assert steps[saved]["with"] == {name: steps[restored]["with"][name] for name in ("path", "key")}
    path = steps[restored]["with"]["path"].rstrip("*")
    assert f"--cache {path}" in steps[run]["run"]


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 0), (2, 2), (70, 70)])
def test_the_workflow_goes_on_to_the_gate_after_an_outage_alone(code: int, expected: int, tmp_path: Path) -> None:
    script = next(step["run"] for step in workflow_steps() if "haystack-eval run" in step.get("run", ""))
    for name, status in (("pip", 0), ("haystack-eval", code)):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/calls\nexit {status}\n')
        (tmp_path / name).chmod(0o755)
    # As GitHub runs a step.
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HAYSTACK_EVAL_EXT": "haystack-eval-ext"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expected, done.stderr
    assert "haystack-eval run eval/evaluation.yaml" in (tmp_path / "calls").read_text("utf-8")


def test_the_workflow_installs_what_the_readme_says() -> None:
    text = WORKFLOW.read_text("utf-8")
    job = yaml.safe_load(text)["jobs"]["evaluate"]
    assert 'pip install "$HAYSTACK_EVAL_EXT"' in next(
        s["run"] for s in job["steps"] if "pip install" in s.get("run", "")
    )
    assert job["env"]["HAYSTACK_EVAL_EXT"].startswith("${{ vars.HAYSTACK_EVAL_EXT")
    assert "git+https://" in text
