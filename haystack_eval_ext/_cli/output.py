# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Where results go, checked before any work is done."""

from pathlib import Path

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext.runs._run_files import OUR_FILES
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs._versions import versions

__all__ = ["run_folder", "targets", "versions"]


def run_folder(folder: Path, *, force: bool, going_on: bool = False) -> Path:
    """
    Check where a run goes, before any work is done.

    :param folder: The folder.
    :param force: Whether a run that is there may be replaced.
    :param going_on: Whether the answers of an unfinished run that is there are gone on with.
    :returns: The folder.
    :raises UserError: If no folder is named.
    :raises RunFileError: If it is a file, or holds a run, or something else.
    """
    if folder.is_symlink() and not folder.exists():
        msg = (
            f"--out: {folder} is a link to {folder.readlink()}, which is not there; make that folder, or name another."
        )
        raise UserError(msg)
    if not str(folder) or folder == Path():
        msg = "--out names no folder (an empty shell variable?); name one, or leave --out away."
        raise UserError(msg)
    return check_folder(folder, replace=force, going_on=going_on)


def targets(files: dict[str, Path | None], inputs: list[Path], *, force: bool) -> dict[str, Path]:
    """
    Check before any work that files can be written.

    :param files: By option the file; None where none is wanted.
    :param inputs: The files and folders that are read.
    :param force: Whether files that are there may be replaced.
    :returns: The files by option.
    :raises UserError: If one cannot be written, or is an input.
    """
    checked: dict[str, Path] = {}
    for option, file in files.items():
        if file is None:
            continue
        problem = ""
        if file == Path():
            problem = "names no file (an empty shell variable?); name one"
        elif file.is_dir():
            problem = f"{file} is a folder; name a file"
        elif not file.parent.is_dir():
            problem = f"there is no folder {file.parent}; make it first, or name another"
        elif any(_holds(source, file) for source in inputs):
            problem = f"{file} belongs to an input of this command; name another file"
        elif any(file.absolute() == other.absolute() for other in checked.values()):
            problem = f"{file} is named by two options; name another file"
        elif file.exists() and not force:
            problem = f"{file} is there already; name a new file, or replace it with --force"
        if problem:
            msg = f"{option}: {problem}."
            raise UserError(msg)
        checked[option] = file
    return checked


def _holds(source: Path, file: Path) -> bool:
    inside = source.is_dir() and file.resolve().parent == source.resolve() and file.name in OUR_FILES
    return inside or file.resolve() == source.resolve()
