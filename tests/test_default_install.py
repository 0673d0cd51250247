# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The default install: each shipped pipeline without any extra, and what each command loads, in fresh processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import haystack_eval_ext

pytestmark = pytest.mark.slow
# Packages of extras; what is no dependency is not installed.
EXTRAS = ["nltk", "pyarrow", "rouge_score", "sacrebleu", "sentence_transformers", "torch", "transformers"]
HEAVY = [*EXTRAS, "openai", "pandas", "ranx", "scipy", "sklearn", "statsmodels"]
ROW = {
    "id": "q1",
    "question": "Where is it?",
    "answer": "In Paris.",
    "reference_answer": "Paris",
    "contexts": ["It is in Paris."],
    "documents": ["a", "b"],
    "relevant_documents": ["b"],
}
WITHOUT_EXTRAS = """
import json, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
EXTRAS = json.loads(sys.argv[1])
sys.meta_path.insert(0, Absent())
from typer.testing import CliRunner
from haystack_eval_ext._resources import pipeline_names
from haystack_eval_ext.cli import app
found = {}
for name in pipeline_names():
    # Judged ones are planned alone: no service is asked here.
    for command in ("plan",) if name.startswith("rag_quality") or name.endswith("_judged") else ("run", "plan"):
        done = CliRunner().invoke(app, [command, name, "--data", "rows.jsonl"])
        found[f"{command} {name}"] = [done.exit_code, done.stderr]
print(json.dumps(found))
"""
LOADED = """
import json, sys
from haystack_eval_ext import cli
sys.argv = ["haystack-eval", *json.loads(sys.argv[1])]
try:
    cli.main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
# Each: a command, and what of the heavy packages it may load.
COMMANDS: dict[str, list[str]] = {
    "run -m R@5 --data rows.jsonl --out kept": [],
    "run retrieval --data rows.jsonl": [],
    "run answers --data rows.jsonl": [],
    "run rag_diagnosis --data rows.jsonl": [],
    "trec qrels.txt run.txt -m AP": [],
    "metrics --json": [],
    "export kept kept.csv --force": [],
    "compare kept kept": ["scipy"],
    "check kept --fail-if 'ranking.R@5 < 0.1'": ["scipy"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("install")
    (made / "rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    (made / "qrels.txt").write_text("q1 0 a 1\n", encoding="utf-8")
    (made / "run.txt").write_text("q1 Q0 a 1 1.0 t\n", encoding="utf-8")
    return made


def process(folder: Path, code: str, argument: Any) -> Any:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(haystack_eval_ext.__file__).parents[1]),
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "OPENAI_API_KEY": "not-a-key",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(argument)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_each_shipped_pipeline_works_without_extras(folder: Path) -> None:
    found = process(folder, WITHOUT_EXTRAS, EXTRAS)
    for name in ("answers", "retrieval", "rag_diagnosis"):
        assert found[f"run {name}"][0] == 0, found[f"run {name}"]
    for name in ("rag_quality", "rag_quality_with_reference", "rag_diagnosis_judged"):
        assert found[f"plan {name}"][0] == 0, found[f"plan {name}"]
    # None stumbles over a package, whatever else it needs.
    assert not [name for name, (_, stderr) in found.items() if "pip install" in stderr or "module named" in stderr]


@pytest.fixture(scope="module")
def kept(folder: Path) -> Path:
    process(folder, LOADED, ["run", "-m", "R@5", "--data", "rows.jsonl", "--out", "kept", "--force"])
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_loads(command: str, kept: Path) -> None:
    arguments = [part.strip("'") for part in command.replace("'ranking.R@5 < 0.1'", "'ranking.R@5<0.1'").split()]
    if "--out" in arguments:
        arguments.append("--force")
    loaded = set(process(kept, LOADED, arguments))
    # Haystack itself loads torch where that is installed.
    assert loaded.intersection(HEAVY) - {"torch"} <= set(COMMANDS[command])
