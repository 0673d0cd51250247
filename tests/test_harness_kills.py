# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random points of real processes, then going on: rows complete, none twice, none lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import haystack_eval_ext

CHILD = """
import sys
from haystack_eval_ext.runs.harness import run_target
from rag_pipelines import dataset, slow_target
run_target(slow_target(), dataset(int(sys.argv[2]), failing=(5,)), out=sys.argv[1], concurrency=8, progress=False)
"""
PLACES = [str(Path(__file__).parent), str(Path(haystack_eval_ext.__file__).parent.parent)]


def start(folder: Path, questions: int) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(PLACES), "HARNESS_TEST_CALLS": str(folder / "calls")}
    return subprocess.Popen([sys.executable, "-c", CHILD, str(folder / "run"), str(questions)], env=environment)


def whole_lines(file: Path) -> list[bytes]:
    return file.read_bytes().split(b"\n")[:-1] if file.exists() else []


def check_kills(folder: Path, kills: int, questions: int, seed: int) -> None:
    rows, calls = folder / "run" / "answers.jsonl", folder / "calls"
    chance = random.Random(seed)
    kept: list[bytes] = []
    killed = 0
    # Points along the run at which to kill, as numbers of finished rows.
    for limit in sorted(chance.sample(range(1, questions - 10), kills)):
        process = start(folder, questions)
        while process.poll() is None and len(whole_lines(rows)) < limit:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.02)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        lines = whole_lines(rows)
        assert lines[: len(kept)] == kept, "a finished row was lost or changed"
        kept = lines
    assert killed == kills
    # A line cut off in the middle, as a full disk or a power failure leaves it.
    with rows.open("ab") as file:
        file.write(kept[0][: len(kept[0]) // 2])
    assert start(folder, questions).wait() == 0
    records = [json.loads(line) for line in whole_lines(rows)]
    assert whole_lines(rows)[: len(kept)] == kept
    assert sorted(record["id"] for record in records) == sorted(f"q{number}" for number in range(questions))
    assert [record["id"] for record in records if record["status"] == "error"] == ["q5"]
    assert all(f"Question {record['id'][1:]}:" in record["answer"] for record in records if record["status"] == "ok")
    # Only what was in flight at a kill was asked again: at most the 8 threads' questions each time.
    asked = Counter(calls.read_text("utf-8").split())
    assert set(asked) == {f"{number}:" for number in range(questions) if number != 5}
    assert sum(asked.values()) - len(asked) <= 8 * kills


@pytest.mark.slow
def test_two_kills(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=2, questions=60, seed=1)


@pytest.mark.slow
def test_ten_kills_at_random_points_of_300_questions(tmp_path: Path) -> None:
    check_kills(tmp_path, kills=10, questions=300, seed=2)
