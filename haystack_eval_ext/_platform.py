# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which Haystack is installed, looked up before anything of it is imported; and how this system opens files."""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_COMMAND = "haystack-eval"
_SET_UP_FAULT = 2
_OLDEST = 3
#: For `os.open`: Windows would write CR LF for each line break without it; other systems have no such mode.
BINARY: int = getattr(os, "O_BINARY", 0)


def check_haystack() -> None:
    """
    Refuse a Haystack that is too old, in one line.

    :raises ImportError: If it is Haystack 1 or 2. The command `haystack-eval` prints the line and ends with code 2.
    """
    fault = _fault()
    if fault is None:
        return
    if Path(sys.argv[0] if sys.argv else "").stem == _COMMAND:
        sys.stderr.write(f"{fault}\n")
        raise SystemExit(_SET_UP_FAULT)
    raise ImportError(fault)


def _fault() -> str | None:
    found = _version("haystack-ai")
    if found is None:
        # Haystack 1 has the same modules under another package name.
        older = _version("farm-haystack")
        found = older and f"farm-haystack {older}"
    elif not found.partition(".")[0].isdigit() or int(found.partition(".")[0]) >= _OLDEST:
        return None
    return found and f'haystack-eval-ext needs haystack-ai 3.0 or newer, found {found}: pip install "haystack-ai>=3.0"'


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
