# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Replies on disk: each is written when it comes, and found again by all that decided it."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack import logging

from haystack_eval_ext._platform import BINARY
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._cache_file import CacheFile, DamagedFileError
from haystack_eval_ext.judged._claims import is_gone, new_owner
from haystack_eval_ext.judged._failures import JudgeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

logger = logging.getLogger(__name__)

# Seconds between looks at what somebody else is asking for.
_FIRST_LOOK, _LAST_LOOK = 0.02, 1.0
#: Part of every key: a new form of the keys or of the replies asks anew.
_FORMAT = 1


# Gives a row where the claim was free, had run out, or was one's own already.
_CLAIM = (
    "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE "
    "SET owner = excluded.owner, until = excluded.until WHERE until < ? OR owner = excluded.owner RETURNING 1"
)


# What earlier versions left out, of the component itself alone.
_FORMER_TRANSPORT = frozenset(("api_key", "http_client_kwargs", "max_retries", "progress_bar", "timeout"))
# The account that pays is none of a reply either.
_TRANSPORT = _FORMER_TRANSPORT | {"organization"}


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


def deciding(identity: Mapping[str, Any] | None, part: str) -> dict[str, Any] | None:
    """
    Leave out of an identity what cannot change a reply: transport, account, and the name of the key's variable.

    :param identity: A component in serialized form under the name `part`, and what else identifies it.
    :param part: The name.
    :returns: The identity without these parameters, in components within the component as well; those that nobody
        knows stay in.
    """
    if identity is None:
        return None
    return {**identity, part: _without_transport(_without(identity[part], _TRANSPORT))}


def former(identity: Mapping[str, Any] | None, part: str) -> list[Mapping[str, Any] | None]:
    """
    Give what earlier versions took for the identity, under which their replies are kept.

    :param identity: As for :func:`deciding`.
    :param part: The name.
    :returns: The identities, the latest first.
    """
    if identity is None:
        return [None]
    return [{**identity, part: _without(identity[part], _FORMER_TRANSPORT)}, identity]


def _without(component: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    parameters = component.get("init_parameters") or {}
    return {**component, "init_parameters": {name: value for name, value in parameters.items() if name not in names}}


def _without_transport(value: Any) -> Any:
    """The same without transport of all components within; a table of another kind may mean what it likes by a name."""
    if isinstance(value, list | tuple):
        return [_without_transport(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "type" in value and isinstance(value.get("init_parameters"), dict):
        value = _without(value, _TRANSPORT)
    return {name: _without_transport(entry) for name, entry in value.items()}


def pauses() -> Iterator[float]:
    """
    Say how long to wait for what somebody else is asking for.

    :returns: Without end, the seconds until each next look: they double, up to one second.
    """
    seconds = _FIRST_LOOK
    while True:
        yield seconds
        seconds = min(2 * seconds, _LAST_LOOK)


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
            are.
        :raises ValueError: If the file is no cache, cannot be opened, or is only to be read and missing. A cache that
            is damaged is a disk that fails.
        """
        self._path = Path(path).expanduser()
        self._read_only = read_only
        self._owner = new_owner()
        self._file: CacheFile | None = None
        self._detaching = threading.Lock()
        #: What went wrong with the file, after which nothing is looked up or kept any more.
        self.fault: str | None = None
        if read_only and not self._path.is_file():
            msg = f"offline answers from the cache alone, but there is no file {self._path}. Run once without offline."
            raise InvalidValueError(msg)
        try:
            if not read_only:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                # Replies may quote the data: other users of the machine have no business there. An existing file is
                # not opened by this.
                with suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | BINARY, 0o600))
            self._file = CacheFile.open(self._path, read_only=read_only)
        except DamagedFileError as error:
            self._tell(error)
        except (OSError, sqlite3.Error) as error:
            msg = (
                f"cache_path: {self._path} cannot be opened as a cache of replies ({error}). Name another file, or "
                "None for no cache."
            )
            raise InvalidValueError(msg) from error

    def get(self, key: str) -> CachedReply | None:
        """
        Look a reply up.

        :param key: From :func:`reply_key`.
        :returns: The reply; None if there is none that can be read.
        """
        file = self._file
        if file is None:
            return None
        try:
            found = file.execute("SELECT text, meta FROM replies WHERE key = ?", (key,))
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        text, written = found[0] if found else (None, None)
        if not isinstance(text, str) or not isinstance(written, str):
            return None
        try:
            meta = json.loads(written)
        except (ValueError, RecursionError):
            return None
        return CachedReply(text, meta) if isinstance(meta, dict) else None

    def first(self, keys: Iterable[str]) -> CachedReply | None:
        """
        Look a reply up under several keys.

        :param keys: From :func:`reply_key`.
        :returns: The reply of the first key that has one; None if there is none.
        """
        return next(filter(None, map(self.get, keys)), None)

    def put(self, key: str, reply: CachedReply) -> None:
        """
        Keep a reply. When this returns, it outlives the process, whatever ends it.

        :param key: From :func:`reply_key`.
        :param reply: The reply.
        """
        file = self._file
        if file is None or self._read_only:
            return
        try:
            meta = _written(reply.meta)
            file.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, _storable(reply.text), _storable(meta))
            )
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def claim(self, key: str, seconds: float) -> bool:
        """
        Say that one will ask for a reply, so that nobody else who shares the file does.

        :param key: From :func:`reply_key`.
        :param seconds: How long the claim holds, unless it is made again. One whose process has ended holds no longer.
        :returns: False if somebody else is asking: look the reply up again in a moment.
        """
        file = self._file
        if file is None or self._read_only:
            return True
        now = time.time()
        try:
            if file.execute(_CLAIM, (key, self._owner, now + seconds, now)):
                return True
            for (owner,) in file.execute("SELECT owner FROM claims WHERE key = ?", (key,)):
                if is_gone(owner):
                    file.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, owner))
                    return bool(file.execute(_CLAIM, (key, self._owner, now + seconds, now)))
        except sqlite3.Error as error:
            self._give_up(error)
            return True
        return False

    def release(self, key: str) -> None:
        """
        Withdraw a claim: the reply is there, or will not come.

        :param key: From :func:`reply_key`.
        """
        file = self._file
        if file is None or self._read_only:
            return
        try:
            file.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        self._detach()

    def _detach(self) -> bool:
        """Close the file once, whichever thread is first; False for the others."""
        with self._detaching:
            file, self._file = self._file, None
        if file is not None:
            file.close()
        return file is not None

    def _give_up(self, error: Exception) -> None:
        if self._detach():
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        self.fault = str(error)
        logger.warning(
            "The cache of replies {path} failed ({error}). The run goes on without it. If the disk is full, free some "
            "space; if the file is damaged, remove it or name another cache_path.",
            path=str(self._path),
            error=str(error),
        )


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
