# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user sees after Ctrl-C: what is kept, where, and the command to go on."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haystack_eval_ext._foreign import masked
from haystack_eval_ext.runs._row_log import count_answers
from haystack_eval_ext.runs._run_folder import ANSWERS, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: As a shell ends what Ctrl-C ended.
INTERRUPTED = 130
_TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def note_arguments(arguments: Sequence[str] | None) -> None:
    """
    Remember what was typed, to name it again.

    :param arguments: The arguments; None: those of the process.
    """
    _TYPED.set(tuple(sys.argv[1:] if arguments is None else arguments))


@dataclass
class Kept:
    """
    Where a command keeps things before it is done.

    :param folder: That of the run, if any.
    :param cache: The file with replies of judges, if one is named.
    :param judged: Whether a judge may have been asked.
    :param asks: Whether a RAG pipeline is asked.
    """

    folder: Path | None = None
    cache: Path | None = None
    judged: bool = False
    asks: bool = False

    def told(self) -> list[str]:
        """
        Say what is kept and how to go on.

        :returns: Two lines.
        """
        count = 0 if self.folder is None or not self.asks else count_answers(self.folder)
        parts = []
        if self.folder is not None and count:
            parts.append(f"{count} answer{'s are' if count > 1 else ' is'} kept in {self.folder / ANSWERS}")
        elif self.folder is not None and (self.folder / MANIFEST).is_file():
            parts.append(f"{self.folder} holds a finished run")
        elif self.asks:
            parts.append("no answer is kept" + ("; --out RUN_DIR keeps each" if self.folder is None else " yet"))
        replies = self.cache is not None and self.cache.expanduser().is_file()
        if replies:
            parts.append(f"what judges replied is kept in {self.cache}")
        elif self.judged:
            parts.append("what judges replied is not kept; --cache FILE keeps it")
        if not parts:
            parts.append("nothing was written")
        command = _in_shell(("haystack-eval", *map(masked, _TYPED.get())))
        goes_on = "To go on, asking only what is missing" if count or replies else "To start again"
        return [f"Interrupted: {'; '.join(parts)}.", f"{goes_on}: {command}"]


def _in_shell(words: Sequence[str]) -> str:
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
