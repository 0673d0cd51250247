# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The set-up of the Makefile, with a Python that only writes down what it is asked to do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = """#!/bin/sh
printf '%s\\n' "$*" >> "{log}"
case "$*" in
  "-m uv pip install"*) {uv};;
  "-m pip install"*) {pip};;
  "-m uv --version") {uv_is_there};;
  *demo.py) echo "the demo ran";;
esac
"""


def make(folder: Path, **answers: str) -> "subprocess.CompletedProcess[str]":
    """Run ``make demo`` in a folder that has nothing but the files of the set-up, and an environment that serves."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt", "haystack_eval_ext/_version.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "activate").write_text(str(folder / ".venv"), encoding="utf-8")
    script = PYTHON.format(log=folder / "asked", **{"uv": "exit 0", "pip": "exit 0", "uv_is_there": "exit 0"} | answers)
    (binaries / "python").write_text(script, encoding="utf-8")
    (binaries / "python").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["/usr/bin/env", "make", "demo"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def installs(folder: Path) -> list[str]:
    asked = (folder / "asked").read_text(encoding="utf-8").splitlines()
    return [line.partition(" install ")[0] for line in asked if " install " in line and line.endswith("-e .")]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, ["-m uv pip"]),
        ({"uv": "echo 'Failed to initialize cache' >&2; exit 2"}, ["-m uv pip", "-m pip"]),
        ({"uv": "exit 1", "uv_is_there": "exit 1"}, ["-m uv pip", "-m pip"]),
    ],
    ids=["uv works", "uv fails", "no uv"],
)
def test_pip_installs_where_uv_cannot(answers: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    done = make(tmp_path, **answers)
    assert (done.returncode, "the demo ran" in done.stdout) == (0, True), done.stderr
    assert installs(tmp_path) == expected
    assert ("going on with pip" in done.stderr) == (len(expected) == 2)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_where_nothing_can_be_installed_make_stops(tmp_path: Path) -> None:
    done = make(tmp_path, uv="exit 1", pip="echo 'no index' >&2; exit 1")
    assert done.returncode != 0
    assert "no index" in done.stderr
    assert "the demo ran" not in done.stdout
