# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Replies on disk: each is written when it comes, and found again by all that decided it."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack import logging

from haystack_eval_ext.judged._failures import JudgeError

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)

#: Part of every key: a new form of the keys or of the replies asks anew.
_FORMAT = 1
# Seconds that one process waits while another one writes.
_BUSY = 10.0


class CachedReply(NamedTuple):
    """A reply as the cache has it."""

    text: str
    meta: dict[str, Any]


def reply_key(parts: Mapping[str, Any]) -> str:
    """
    The key of a reply.

    :param parts: All that decides the reply, as JSON values; never a secret.
    :returns: A hash, from which nothing can be read.
    """
    written = json.dumps({"format": _FORMAT, **parts}, sort_keys=True, ensure_ascii=False, default=repr)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()


class ReplyCache:
    """
    A file of replies, which several processes may share.

    A disk that fails costs no row: the run goes on without the cache, and says so once.
    """

    def __init__(self, path: str, *, must_exist: bool = False) -> None:
        """
        Open the file.

        :param path: Its path; ``~`` is the home folder.
        :param must_exist: Whether a missing file is an error, since the run has nothing else to answer from.
        :raises ValueError: If the file is no cache, cannot be opened, or must exist and does not.
        """
        self._path = Path(path).expanduser()
        self._failed = False
        connection: sqlite3.Connection | None = None
        if must_exist and not self._path.is_file():
            msg = f"offline answers from the cache alone, but there is no file {self._path}. Run once without offline."
            raise ValueError(msg)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if not self._path.exists():
                # Replies may quote the data: other users of the machine have no business there.
                with suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = sqlite3.connect(self._path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
            # A write-ahead log lets others read meanwhile, and survives kill -9.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, meta TEXT NOT NULL)"
            )
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            msg = (
                f"cache_path: {self._path} cannot be opened as a cache of replies ({error}). Name another file, or "
                "None for no cache."
            )
            raise ValueError(msg) from error
        self._connection = connection

    def get(self, key: str) -> CachedReply | None:
        """
        Look a reply up.

        :param key: From :func:`reply_key`.
        :returns: The reply, or None.
        """
        if self._failed:
            return None
        try:
            row = self._connection.execute("SELECT text, meta FROM replies WHERE key = ?", (key,)).fetchone()
            return None if row is None else CachedReply(row[0], json.loads(row[1]))
        except (sqlite3.Error, ValueError) as error:
            self._give_up(error)
            return None

    def put(self, key: str, reply: CachedReply) -> None:
        """
        Keep a reply. It is on disk when this returns.

        :param key: From :func:`reply_key`.
        :param reply: The reply.
        """
        if self._failed:
            return
        try:
            meta = json.dumps(reply.meta, ensure_ascii=False, default=repr)
            self._connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, _storable(reply.text), _storable(meta))
            )
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def _give_up(self, error: Exception) -> None:
        self._failed = True
        logger.warning(
            "The cache of replies {path} failed ({error}). The run goes on without it; free some space or name another "
            "cache_path.",
            path=str(self._path),
            error=str(error),
        )


def _storable(text: str) -> str:
    """Half of a surrogate pair cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


class OfflineError(JudgeError):
    """The cache has no reply, and offline forbids to ask."""

    def __init__(self) -> None:
        """Create the error."""
        super().__init__("not in the cache (offline)")
