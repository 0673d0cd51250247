# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all, several of them together."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack_eval_ext.runs._lines import FilePath


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
            draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
            drafts.append((draft, target))
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path in remove:
            path.unlink(missing_ok=True)
        for draft, target in drafts:
            draft.replace(target)
    except BaseException:
        for draft, _ in drafts:
            with contextlib.suppress(OSError):
                draft.unlink()
        raise
