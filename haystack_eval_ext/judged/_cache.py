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
# What the header of a cache's file says, so that no database of another program is taken for one: SQLite's own mark at
# its beginning, the version of the schema at 60, the application at 68.
_SQLITE = b"SQLite format 3\0"
_VERSION = 1
_APPLICATION = 0x48455231  # "HER1"
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, meta TEXT NOT NULL)"


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

    A disk that fails costs no row: the run goes on without the cache, and says so once. An entry that cannot be read is
    as good as none, and is written anew.
    """

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        """
        Open the file.

        :param path: Its path; ``~`` is the home folder.
        :param read_only: Whether nothing may be written: then the file must exist, and file and folder stay as they
            are. A folder that may be written to gets SQLite's index beside a log that lacks it.
        :raises ValueError: If the file is no cache, cannot be opened, or is only to be read and missing.
        """
        self._path = Path(path).expanduser()
        #: What went wrong with the file, after which nothing is looked up or kept any more.
        self.fault: str | None = None
        connection: sqlite3.Connection | None = None
        if read_only and not self._path.is_file():
            msg = f"offline answers from the cache alone, but there is no file {self._path}. Run once without offline."
            raise ValueError(msg)
        try:
            if not read_only:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                # Replies may quote the data: other users of the machine have no business there.
                with suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            new = _is_new(self._path)
            connection = self._open_to_read(new=new) if read_only else self._open(new=new)
        except (OSError, sqlite3.Error) as error:
            msg = (
                f"cache_path: {self._path} cannot be opened as a cache of replies ({error}). Name another file, or "
                "None for no cache."
            )
            raise ValueError(msg) from error
        # What is no UTF-8 is read as None, not as an error.
        connection.text_factory = _decoded
        self._connection = connection

    def _connect(self, how: str) -> sqlite3.Connection:
        address = f"{self._path.resolve().as_uri()}?{how}"
        return sqlite3.connect(address, uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False)

    def _open(self, *, new: bool) -> sqlite3.Connection:
        connection = self._connect("mode=rw")
        try:
            if new:
                # All or nothing, and before the write-ahead log: the header must say at once whose file it is.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.execute(_TABLE)
                connection.execute("COMMIT")
            # It lets others read meanwhile, and survives kill -9.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _open_to_read(self, *, new: bool) -> sqlite3.Connection:
        if new:
            # A run that just began, or was killed before its first reply.
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            connection.execute(_TABLE)
            return connection
        # To read a write-ahead log SQLite needs files of its own beside it, which it makes even where there is no log.
        # Where there is none, or they cannot be made, nobody writes at the moment.
        log = Path(f"{self._path.resolve()}-wal")
        logged = log.is_file() and log.stat().st_size > 0
        for how in (*(["mode=ro"] if logged else []), "mode=ro&immutable=1"):
            connection = self._connect(how)
            try:
                connection.execute("SELECT 1 FROM replies LIMIT 1")
            except sqlite3.Error as error:
                connection.close()
                failure = error
            else:
                return connection
        raise failure

    def get(self, key: str) -> CachedReply | None:
        """
        Look a reply up.

        :param key: From :func:`reply_key`.
        :returns: The reply; None if there is none that can be read.
        """
        if self.fault is not None:
            return None
        try:
            row = self._connection.execute("SELECT text, meta FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        if row is None or not all(isinstance(cell, str) for cell in row):
            return None
        try:
            meta = json.loads(row[1])
        except (ValueError, RecursionError):
            return None
        return CachedReply(row[0], meta) if isinstance(meta, dict) else None

    def put(self, key: str, reply: CachedReply) -> None:
        """
        Keep a reply. It is on disk when this returns.

        :param key: From :func:`reply_key`.
        :param reply: The reply.
        """
        if self.fault is not None:
            return
        try:
            meta = _written(reply.meta)
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
        self.fault = str(error)
        logger.warning(
            "The cache of replies {path} failed ({error}). The run goes on without it. If the disk is full, free some "
            "space; if the file is damaged, remove it or name another cache_path.",
            path=str(self._path),
            error=str(error),
        )


def _is_new(path: Path) -> bool:
    """Refuse what is another program's, before SQLite touches it: opening alone can change a database."""
    if not path.is_file():
        msg = "it is no file"
        raise OSError(msg)
    with path.open("rb") as file:
        header = file.read(72)
    ours = _SQLITE, _VERSION, _APPLICATION
    if header and (header[:16], _number(header[60:64]), _number(header[68:72])) != ours:
        msg = "it belongs to another program, or to another version of this one"
        raise OSError(msg)
    return not header


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _number(big_endian: bytes) -> int:
    return int.from_bytes(big_endian, "big")


def _written(meta: Mapping[str, Any]) -> str:
    """What JSON can hold of what a generator said about its reply."""
    try:
        return json.dumps(meta, ensure_ascii=False, default=repr)
    except Exception:
        kept = {}
        for name, value in meta.items():
            with suppress(Exception):
                kept[str(name)] = json.loads(json.dumps(value, default=repr))
        return json.dumps(kept, ensure_ascii=False)


def _storable(text: str) -> str:
    """Half of a surrogate pair cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


class OfflineError(JudgeError):
    """The cache has no reply, and offline forbids to ask."""

    def __init__(self) -> None:
        """Create the error."""
        super().__init__("not in the cache (offline); run once without offline")


class BrokenCacheError(JudgeError):
    """The cache's file is damaged or out of reach, and offline forbids to ask."""

    def __init__(self, fault: str) -> None:
        """
        Create the error.

        :param fault: What SQLite says about the file.
        """
        super().__init__(
            f"the cache's file cannot be read (offline): {fault}; restore it, or remove it and run once without offline"
        )


def not_cached(cache: ReplyCache | None) -> JudgeError:
    """
    Why a cache lacks a reply that only it could give.

    :param cache: The cache.
    :returns: The error to raise.
    """
    return OfflineError() if cache is None or cache.fault is None else BrokenCacheError(cache.fault)
