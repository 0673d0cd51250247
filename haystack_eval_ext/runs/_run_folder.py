# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: which of its files are ours, and when it may be written into."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import RunFileError, parameter
from haystack_eval_ext.runs._lines import parse_json
from haystack_eval_ext.runs._whole_files import drafts_in

if TYPE_CHECKING:
    from haystack_eval_ext.runs._lines import FilePath

# The run, of which the manifest is written last; and what the harness keeps while it asks.
MANIFEST, ROWS, SCORES = "manifest.json", "rows.jsonl", "scores.jsonl"
HARNESS, ANSWERS = "harness.json", "answers.jsonl"
OUR_FILES = frozenset((MANIFEST, ROWS, SCORES, HARNESS, ANSWERS))
RUN_KIND, HARNESS_KIND = "haystack-eval run", "haystack-eval answers"
REPLACE = f"replace it ({parameter('replace_run', python='replace=True')})"


def our_drafts(folder: Path, *names: str) -> list[Path]:
    """
    Find what was being written when a process was killed.

    :param folder: The folder of a run.
    :param names: The files whose drafts are meant; none: all of ours.
    :returns: The drafts.
    """
    return drafts_in(folder, names or OUR_FILES)


def read_object(file: Path, kind: str) -> dict[str, Any] | None:
    """
    Read the JSON of one of our files, if it is ours.

    :param file: The file.
    :param kind: What it must say that it is.
    :returns: What it holds; None if it is another's, or cannot be read.
    """
    try:
        found = parse_json(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("kind") == kind else None


def check_folder(folder: FilePath, *, replace: bool, going_on: bool = False) -> Path:
    """
    Check that a run can be written into a folder.

    :param folder: The folder, which need not be there.
    :param replace: Whether a run may be there already, finished or not.
    :param going_on: Whether the writer goes on with the answers that are there, as the harness does.
    :returns: The folder.
    :raises RunFileError: If it is a file, or holds a run or what is no run's.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise RunFileError([f"{path} is a file; name a folder for the run."])
    drafts = {draft.name for draft in our_drafts(path)}
    names = {entry.name for entry in path.iterdir()} - drafts if path.is_dir() else set()
    if names and not names & OUR_FILES:
        raise RunFileError([f"{path} is not empty and holds no run; name a new folder."])
    strange = _strange(path, names)
    if strange:
        raise RunFileError([f"{path} holds {strange} of something else; name a new folder."])
    if MANIFEST in names and not replace:
        raise RunFileError([f"{path} holds a run already; name a new folder, or {REPLACE}."])
    if has_answers(path) and not (replace or going_on):
        msg = f"{path} holds answers of a RAG pipeline whose run is not finished; name a new folder, or {REPLACE}."
        raise RunFileError([msg])
    return path


def has_answers(folder: Path) -> bool:
    """
    Tell whether the harness wrote rows into a folder.

    :param folder: The folder.
    :returns: True if there is one.
    """
    return (folder / ANSWERS).is_file() and (folder / ANSWERS).stat().st_size > 0


def _strange(folder: Path, names: set[str]) -> str:
    """A file with a name of ours that is not ours; "" if there is none."""
    for name, kind in ((MANIFEST, RUN_KIND), (HARNESS, HARNESS_KIND)):
        if name in names and read_object(folder / name, kind) is None:
            return name
    # A save that was killed among its last steps left the draft of the manifest.
    if MANIFEST not in names and not our_drafts(folder, MANIFEST):
        for name in (ROWS, SCORES):
            if name in names:
                return name
    return ANSWERS if has_answers(folder) and HARNESS not in names else ""
