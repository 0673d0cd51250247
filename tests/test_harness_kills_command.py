# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the command `run --rag`, while it asks and at each step of saving: the same command finishes the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import haystack_eval_ext
from haystack_eval_ext.runs import api
from rag_pipelines import dataset

QUESTIONS = 40
# Once all questions were asked, the process kills itself before the nth thing that it does to files.
CHILD = """
import os, signal, sys
from pathlib import Path

left = int(os.environ["KILL_AT"])

def deadly(function):
    def wrapped(*arguments, **options):
        global left
        calls = Path(os.environ["HARNESS_TEST_CALLS"])
        if calls.exists() and len(set(calls.read_text().split())) == int(os.environ["QUESTIONS"]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return wrapped

for name in ("fsync", "replace", "unlink"):
    setattr(os, name, deadly(getattr(os, name)))
from haystack_eval_ext.cli import main
main()
"""
PLACES = [str(Path(__file__).parent), str(Path(haystack_eval_ext.__file__).parent.parent)]


def start(folder: Path, kill_at: int = 0) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(PLACES),
        "HARNESS_TEST_CALLS": str(folder / "calls"),
        "QUESTIONS": str(QUESTIONS),
        "KILL_AT": str(kill_at),
    }
    options = ["--data", "questions.jsonl", "--rag", "rag_pipelines:slow_target", "--out", "run", "--no-progress"]
    command = [sys.executable, "-c", CHILD, "run", "--measures", "R@5", *options]
    return subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL)


def calls(folder: Path) -> Counter[str]:
    file = folder / "calls"
    return Counter(file.read_text("utf-8").split() if file.exists() else [])


@pytest.mark.slow
def test_kills_of_the_whole_command_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with (tmp_path / "questions.jsonl").open("w", encoding="utf-8") as file:
        for row in dataset(QUESTIONS).rows:
            line = row | {"relevant_documents": [document.id for document in row["relevant_documents"]]}
            file.write(json.dumps(line) + "\n")
    for limit in (1, 25):  # while it asks
        process = start(tmp_path)
        while process.poll() is None and calls(tmp_path).total() < limit:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not (tmp_path / "run" / "manifest.json").exists()
    ends: list[int] = []
    while not ends or ends[-1] == -signal.SIGKILL:  # at every other step of writing the last rows and of saving
        ends.append(start(tmp_path, kill_at=2 * len(ends) + 1).wait())
        assert len(ends) < 30
    # Where it was killed behind the manifest, the run is finished, and the command says so.
    assert ends[-1] in (0, 2)
    assert len(ends) > 3
    run = api.load_run(tmp_path / "run")
    assert run.ids == [f"q{number}" for number in range(QUESTIONS)]
    assert run.scores == {"ranking.R@5": 1.0}
    assert all(f"Question {row['id'][1:]}:" in row["answer"] for row in run.rows)
    # Only what was in flight when it was killed was asked again: at most 8 questions each time.
    asked = calls(tmp_path)
    assert len(asked) == QUESTIONS
    assert asked.total() - len(asked) <= 8 * 3
