# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The file of a cache: one connection for each file and process, and nothing opened beside it.

POSIX drops all locks of a process on a file as soon as the process closes any descriptor of it. So only SQLite, which
knows that, may open the file; and all caches of a process that have the same file share one connection.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from haystack_eval_ext.errors import HaystackEvalError

# Seconds that one process waits while another one writes.
_BUSY = 10.0
# Seconds until the next attempt where SQLite itself does not wait.
_PAUSE = 0.02
# What the header of a cache's file says, so that no database of another program is taken for one.
_VERSION = 1
_APPLICATION = 0x48455231  # "HER1"
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, meta TEXT NOT NULL)"
# Files of older versions get it when they are opened to be written.
_CLAIMS = "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"


class DamagedFileError(HaystackEvalError):
    """The file is a cache of replies, but cannot be read."""


class CacheFile:
    """An open file; :meth:`open` gives it, and each user closes it once."""

    _open_files: dict[tuple[int, int, int], CacheFile] = {}  # noqa: RUF012 - shared on purpose
    _opening = threading.Lock()

    def __init__(self, key: tuple[int, int, int], connection: sqlite3.Connection, *, writable: bool) -> None:
        """
        Keep a connection.

        :param key: What is one file in one process.
        :param connection: The connection.
        :param writable: Whether it may write.
        """
        self._key = key
        self._connection = connection
        self._writable = writable
        self._users = 1
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, read_only: bool) -> CacheFile:
        """
        Open a file, or share it with those of this process that have it open.

        :param path: Its path.
        :param read_only: Whether nothing may be written: then file and folder stay as they are. A folder that may be
            written to gets SQLite's index beside a log that lacks it.
        :returns: The open file.
        :raises DamagedFileError: If it is a cache, but damaged.
        :raises OSError: If it is another program's, or is no file.
        :raises sqlite3.Error: If it cannot be opened.
        """
        if not path.is_file():
            msg = "it is no file"
            raise OSError(msg)
        status = path.stat()
        # A forked process has its parent's memory, but must not use its connections.
        key = (os.getpid(), status.st_dev, status.st_ino)
        with cls._opening:
            known = cls._open_files.get(key)
            if known is None and read_only and status.st_size == 0:
                return _EmptyFile(path)
            if known is None:
                known = cls(key, _connected(path, read_only=read_only), writable=not read_only)
                cls._open_files[key] = known
            else:
                if not read_only and not known._writable:
                    known._replace(_connected(path, read_only=False))
                known._users += 1
            return known

    def _replace(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            self._connection, before = connection, self._connection
            self._writable = True
            before.close()

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """
        Run a statement.

        :param statement: The statement.
        :param values: Its values.
        :returns: All rows of its result.
        :raises sqlite3.Error: If the file fails.
        """
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the file, if nobody else of this process uses it."""
        with self._opening:
            self._users -= 1
            if self._users == 0 and self._key[0] == os.getpid():
                del self._open_files[self._key]
                with self._lock, suppress(sqlite3.Error):
                    self._connection.close()


class _EmptyFile(CacheFile):
    """
    A file that is only read, of a run that just began or was killed before its first reply.

    Others may open it meanwhile and write to it, so that it is looked at until there is something in it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: CacheFile | None = None
        self._looking = threading.Lock()

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._looking:
            try:
                if self._file is None and self._path.stat().st_size:
                    self._file = CacheFile.open(self._path, read_only=True)
            except (OSError, DamagedFileError) as error:
                raise sqlite3.DatabaseError(str(error)) from error
        return [] if self._file is None else self._file.execute(statement, values)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    try:
        new = _is_new(path)
        connection = _to_read(path) if read_only else _to_write(path, new=new)
    except sqlite3.DatabaseError as error:
        # The low byte is the kind of fault; the others say where it was met.
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            raise DamagedFileError(str(error)) from error
        raise
    # What is no UTF-8 is read as None, not as an error.
    connection.text_factory = _decoded
    return connection


def _is_new(path: Path) -> bool:
    """Refuse what is another program's, by a look that changes nothing: opening alone can change a database."""
    if path.stat().st_size == 0:
        return True
    connection = _connect(path, "mode=ro&immutable=1")
    try:
        found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")]
    finally:
        connection.close()
    if found != [_VERSION, _APPLICATION]:
        msg = "it belongs to another program, or to another version of this one"
        raise OSError(msg)
    return False


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?{how}"
    return sqlite3.connect(address, uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False)


def _to_write(path: Path, *, new: bool) -> sqlite3.Connection:
    connection = _connect(path, "mode=rw")
    try:
        if new:
            # All or nothing, and before the write-ahead log: the header must say at once whose file it is.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute(_TABLE)
            connection.execute("COMMIT")
        _log_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_CLAIMS)
        connection.execute("SELECT 1 FROM replies LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """A write-ahead log lets others read meanwhile, and survives kill -9."""
    end = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # The change of the mode does not wait for another process that makes it, too.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _to_read(path: Path) -> sqlite3.Connection:
    # Where there is no write-ahead log, nobody writes at the moment; SQLite would make files beside the cache.
    log = Path(f"{path.resolve()}-wal")
    if not _is_logged(log):
        return _readable(path, "mode=ro&immutable=1")
    try:
        return _readable(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if not _is_logged(log):  # its last writer closed it meanwhile
            return _readable(path, "mode=ro&immutable=1")
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        # Without its log the cache would seem to lack replies that it has.
        msg = f"to read its log {log.name}, SQLite must write to the folder; copy both files to a folder where it may"
        raise OSError(msg) from error


def _is_logged(log: Path) -> bool:
    return log.is_file() and log.stat().st_size > 0


def _readable(path: Path, how: str) -> sqlite3.Connection:
    connection = _connect(path, how)
    try:
        connection.execute("SELECT 1 FROM replies LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
