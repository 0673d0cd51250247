# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all, several of them together."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack_eval_ext.runs._lines import FilePath

# Exactly what `draft_of` gives: an editor's .manifest.json.swp is not ours.
_DRAFT = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{8}")


def draft_of(file: Path) -> Path:
    """
    Name the draft of a file.

    :param file: The file.
    :returns: A hidden file beside it, of a name that is not taken yet.
    """
    return file.with_name(f".{file.name}.{secrets.token_hex(4)}")


def drafts_in(folder: Path, names: Iterable[str]) -> list[Path]:
    """
    Find what writers that were killed left behind.

    :param folder: The folder, which need not be there.
    :param names: The files whose drafts are meant.
    :returns: The drafts.
    """
    known = frozenset(names)
    found = [] if not folder.is_dir() else sorted(folder.iterdir())
    return [path for path in found if (match := _DRAFT.fullmatch(path.name)) and match["name"] in known]


def write_whole(files: Mapping[FilePath, bytes], *, remove: Iterable[Path] = ()) -> None:
    """
    Write files; none changes before all are on the disk.

    :param files: The contents by path, in the order in which the files appear; those that are there are replaced.
    :param remove: Files that go away before the first appears.
    :raises OSError: If a file cannot be written; then none has changed.
    """
    drafts: list[tuple[Path, Path]] = []
    try:
        for path, data in files.items():
            target = Path(os.path.realpath(path))  # a link stays a link to the new file
            draft = draft_of(target)
            drafts.append((draft, target))
            try:
                with draft.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                # The draft's name is nobody's business.
                raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        stale = list(remove)
        try:
            _put_in_place(drafts, stale)
        except KeyboardInterrupt:
            _put_in_place(drafts, stale)  # half of it would be neither the old nor the new
            raise
    except BaseException:
        for draft, _ in drafts:
            with contextlib.suppress(OSError):
                draft.unlink()
        raise


def _put_in_place(drafts: Iterable[tuple[Path, Path]], stale: Iterable[Path]) -> None:
    for path in stale:
        path.unlink(missing_ok=True)
    for draft, target in drafts:
        if draft.exists():
            draft.replace(target)
