# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Where results go, checked before any work is done."""

from pathlib import Path

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs._versions import versions

__all__ = ["run_folder", "versions"]


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
