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
# Promised of the whole process. The others Haystack may bring itself: with rich installed, its logging does.
ABSENT = ["openai", "pandas", "rouge_score", "scipy", "torch", "typer"]
LOADED = """
import json, sys
from haystack import Document, Pipeline, component
before = set(sys.modules)
{statement}
after = set(sys.modules)
print(json.dumps([sorted({{name.partition(".")[0] for name in names}}) for names in (after, after - before)]))
"""


def packages_with(statement: str) -> tuple[set[str], set[str]]:
    """The packages in a process that ran the statement, and those that the statement added."""
    environment = {**os.environ, "PYTHONPATH": str(Path(haystack_eval_ext.__file__).parents[1])}
    code = LOADED.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded, added = json.loads(done.stdout)
    return set(loaded), set(added)


def test_import_loads_nothing_heavy() -> None:
    loaded, added = packages_with("import haystack_eval_ext")
    assert "haystack_eval_ext" in added
    assert added.isdisjoint(HEAVY), sorted(added.intersection(HEAVY))
    assert loaded.isdisjoint(ABSENT), sorted(loaded.intersection(ABSENT))


def test_the_probe_sees_what_is_loaded() -> None:
    pytest.importorskip("scipy")
    loaded, added = packages_with("import scipy.stats")
    assert "scipy" in loaded
    assert "scipy" in added
