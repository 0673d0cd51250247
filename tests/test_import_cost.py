# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Importing us after Haystack loads nothing heavy; ``benchmarks/import_cost.py`` measures the time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import haystack_eval_ext

HEAVY = [
    "ir_measures",
    "matplotlib",
    "nltk",
    "numba",
    "openai",
    "pandas",
    "pytrec_eval",
    "ranx",
    "rapidfuzz",
    "rich",
    "rouge_score",
    "sacrebleu",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "torch",
    "transformers",
    "typer",
]
LOADED = """
import json, sys
from haystack import Document, Pipeline, component
before = set(sys.modules)
{statement}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""


def packages_added_by(statement: str) -> set[str]:
    """Packages of which the statement loads something, beside what Haystack loads: torch, where it is installed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(haystack_eval_ext.__file__).parents[1])}
    code = LOADED.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_import_loads_nothing_heavy() -> None:
    added = packages_added_by("import haystack_eval_ext")
    assert "haystack_eval_ext" in added
    assert added.isdisjoint(HEAVY), sorted(added.intersection(HEAVY))


@pytest.mark.slow
def test_the_probe_sees_what_is_loaded() -> None:
    # In one process, since each of them takes seconds where Haystack loads torch.
    packages = {"rapidfuzz", "typer"}
    assert packages <= set(HEAVY)
    assert packages <= packages_added_by("import rapidfuzz, typer")
