# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo shows the whole way, the same every time, and its pipelines work from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from haystack_eval_ext.runs import api

ROOT = Path(__file__).resolve().parent.parent


def demo(folder: Path, *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.slow
def test_the_demo_shows_the_whole_way(tmp_path: Path) -> None:
    out = demo(tmp_path, "--keep")
    # The same again, over the runs that are there.
    assert demo(tmp_path, "--keep") == out
    for heading in ("Retrieval and answers", "Stages of retrieval", "Diagnosis", "The comparison", "The gate"):
        assert heading in out
    gate = [line.partition("->")[2].strip() for line in out.splitlines() if line.startswith("  fails if")]
    assert [line.partition(":")[0] for line in gate] == ["pass", "inconclusive", "fail"]
    words, stems = (api.load_run(tmp_path / "demo_runs" / name) for name in ("words", "stems"))
    labels = words.manifest["diagnoses"]["diagnosis"]["labels"]
    # Each stage is what an evaluation of it alone gives.
    found = {name: run.scores["best_3/ranking.R@10"] for name, run in (("words", words), ("stems", stems))}
    assert found == {name: run.scores["ranking.R@3"] for name, run in (("words", words), ("stems", stems))}
    assert len(labels) == len(words.ids) == 54
    assert sum(words.manifest["diagnoses"]["diagnosis"]["counts"].values()) == 54
    for row in stems.rows:
        assert row["status"] == "ok"
