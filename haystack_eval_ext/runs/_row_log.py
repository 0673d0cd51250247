# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The rows of a run on disk: each is there once it is finished, and kill -9 loses none that was."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.runs._feeding import EvaluationError
from haystack_eval_ext.runs._lines import parse_json
from haystack_eval_ext.runs._plain import json_line
from haystack_eval_ext.runs._strict_json import write_strict_json

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROWS = "rows.jsonl"
MANIFEST = "harness.json"
FORMAT = 1
# Against a power failure; what a killed process wrote is safe without it.
_SYNC_SECONDS = 1.0
Key = tuple[str, int]


class HarnessError(EvaluationError):
    """A run cannot start, go on, or be resumed."""


class RowLog:
    """
    Opens the folder of a run, new or to be resumed.

    :param folder: The folder; made if it is not there.
    :param manifest: What decides the answers, by name; a run is only resumed with the same.
    :param retry_failed: Forget rows that failed, so that they are asked again.
    :param forget: Files of a finished run in the folder, which is replaced: gone before the first row is written.
    :raises HarnessError: If the folder holds another run or a broken one, or another process writes into it.
    """

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], *, retry_failed: bool = False, forget: Iterable[str] = ()
    ) -> None:
        self.path = folder / ROWS
        self._synced = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in forget:
                (folder / name).unlink(missing_ok=True)
            known = _check_manifest(folder, manifest)
            if not known:
                write_strict_json(folder / MANIFEST, {"format": FORMAT, **manifest})
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            msg = f"{folder} cannot be written: {error.strerror}. Choose another folder."
            raise HarnessError(msg) from error
        try:
            self._lock()
            self.done = self._read()
            if retry_failed and any(record["status"] == "error" for record in self.done.values()):
                self._forget_failed()
        except BaseException:
            os.close(self._file)
            raise

    def append(self, record: Mapping[str, Any]) -> None:
        """
        Write a finished row.

        :param record: The row, plain.
        :raises HarnessError: If it cannot be written; a part of a line is repaired when the run is resumed.
        """
        data = json_line(record).encode("utf-8")
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError as error:
            msg = f"{self.path} cannot be written: {error.strerror}. Start again with the same folder to go on."
            raise HarnessError(msg) from error

    def close(self) -> None:
        """Bring everything to the disk and let the folder go."""
        with contextlib.suppress(OSError):  # not every file system can
            os.fsync(self._file)
        os.close(self._file)

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = f"Another process writes into {self.path}. Wait for its end, or choose another folder."
            raise HarnessError(msg) from None
        except OSError:  # a file system without locks
            return

    def _read(self) -> dict[Key, dict[str, Any]]:
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)  # a line that was being written when the process died
        done: dict[Key, dict[str, Any]] = {}
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
            try:
                record = parse_json(line.decode("utf-8"))
                key = (record["id"], record["repeat"])
                good = record["status"] in ("ok", "error") and key not in done
            except (ValueError, KeyError, TypeError):
                good = False
            if not good:
                msg = f"{self.path}:{number} is no row of this run, or one twice. Remove the line and start again."
                raise HarnessError(msg)
            done[key] = record
        return done

    def _forget_failed(self) -> None:
        self.done = {key: record for key, record in self.done.items() if record["status"] != "error"}
        draft = self.path.with_name(f".{ROWS}.draft")
        draft.write_bytes("".join(map(json_line, self.done.values())).encode("utf-8"))
        draft.replace(self.path)
        os.close(self._file)
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        self._lock()


def _check_manifest(folder: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the folder holds this very run; refuses one that holds another."""
    file = folder / MANIFEST
    if not file.exists():
        if (folder / ROWS).exists():
            msg = f"{folder} holds {ROWS} without {MANIFEST}, so it is no run to go on with. Choose another folder."
            raise HarnessError(msg)
        return False
    try:
        found = parse_json(file.read_text("utf-8"))
    except ValueError as error:
        msg = f"{file} is not the {MANIFEST} of a run. Choose another folder."
        raise HarnessError(msg) from error
    wanted = json.loads(json.dumps({"format": FORMAT, **manifest}))
    if found == wanted:
        return True
    changes = _changes(found if isinstance(found, dict) else {}, wanted)
    msg = f"{folder} holds a run with another {', another '.join(changes)}. Choose another folder."
    raise HarnessError(msg)


def _changes(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    changes = []
    for name, value in wanted.items():
        before = found.get(name)
        if before == value:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            inner = [key for key in value if before.get(key) != value[key]]
            changes.append(f"{name} ({', '.join(inner)})" if inner else name)
        else:
            changes.append(name)
    return changes or ["content"]
