# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a run on disk: each is there once it is finished, and kill -9 loses none that was."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._platform import BINARY
from haystack_eval_ext.errors import HarnessError, parameter
from haystack_eval_ext.runs._lines import parse_json
from haystack_eval_ext.runs._plain import json_line
from haystack_eval_ext.runs._run_folder import (
    ANSWERS,
    HARNESS,
    HARNESS_KIND,
    MANIFEST,
    REPLACE,
    our_drafts,
    read_object,
)
from haystack_eval_ext.runs._run_shapes import wrong_in_rows
from haystack_eval_ext.runs._strict_json import write_strict_json

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_logger = logging.getLogger(__name__)

FORMAT = 1
# Against a power failure; what a killed process wrote is safe without it.
_SYNC_SECONDS = 1.0
# Set once the answers are in a run: from then on a run that replaces it asks anew.
_SAVED = "saved"
# What every line says, and what tells that it is the same answer as a row of a run.
_OF_ALL = ("answer", "contexts", "documents", "stages", "components", "seconds", "tokens", "cost")
_TOLD_BY = ("status", "seconds")
Key = tuple[str, int]


class RowLog:
    """
    Opens the answers of a run, new or to be resumed. Nothing that is there changes before the first row is written.

    :param folder: The folder; made if it is not there.
    :param manifest: What decides the answers, by name; a run is only resumed with the same.
    :param retry_failed: Forget rows that failed, so that they are asked again. They stay in the file; what is written
        behind them counts.
    :param replace: Start anew where the folder holds the answers of a finished run, or of another one.
    :raises HarnessError: If the folder holds another run or a broken one, or another process writes into it.
    """

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], *, retry_failed: bool = False, replace: bool = False
    ) -> None:
        self.path = folder / ANSWERS
        self.done: dict[Key, dict[str, Any]] = {}
        self._manifest = json.loads(json.dumps({"kind": HARNESS_KIND, "format": FORMAT, **manifest}))
        self._synced = time.monotonic()
        # Whether the first row finds a manifest to be written.
        self._new = False
        self._made = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = _locked(self.path)
        except OSError as error:
            msg = f"{folder} cannot be written: {error.strerror}. Choose another folder."
            raise HarnessError(msg) from error
        try:
            for draft in our_drafts(folder, HARNESS, ANSWERS):
                draft.unlink(missing_ok=True)
            self._new = self._starts_anew(retry_failed=retry_failed, replace=replace)
            if not self._new:
                known = self._read()
                self.done = {
                    key: record for key, record in known.items() if not retry_failed or record["status"] != "error"
                }
        except BaseException:
            self.close()
            raise

    def append(self, record: Mapping[str, Any]) -> None:
        """
        Write a finished row.

        :param record: The row, plain.
        :raises HarnessError: If it cannot be written; a part of a line is repaired when the run is resumed.
        """
        data = json_line(record).encode("utf-8")
        try:
            self._begin()
            while data:
                data = data[os.write(self._file, data) :]
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError as error:
            msg = f"{self.path} cannot be written: {error.strerror}. Start again with the same folder to go on."
            raise HarnessError(msg) from error

    def close(self) -> None:
        """Bring everything to the disk and let the folder go; what was never begun leaves no trace."""
        with contextlib.suppress(OSError):  # not every file system can
            os.fsync(self._file)
        begun = True
        with contextlib.suppress(OSError):
            begun = bool(os.fstat(self._file).st_size) or (self.path.parent / HARNESS).exists()
        if not begun and fcntl is not None:
            self._remove()  # before the lock goes: no other process can have begun
        os.close(self._file)
        if not begun and fcntl is None:
            self._remove()  # Windows removes nothing that is open

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()
            if self._made:
                self.path.parent.rmdir()

    def _starts_anew(self, *, retry_failed: bool, replace: bool) -> bool:
        """Whether the answers that are there, if any, are of no use; refuses to lose those that are."""
        folder = self.path.parent
        empty = not self.path.stat().st_size
        if not (folder / HARNESS).exists():
            if not empty:
                msg = (
                    f"{folder} holds {ANSWERS} without {HARNESS}, so it is no run to go on with. Choose another folder."
                )
                raise HarnessError(msg)
            if (folder / MANIFEST).exists() and not replace:
                msg = f"{folder} holds a run whose answers cannot be gone on with. Choose another folder, or {REPLACE}."
                raise HarnessError(msg)
            return True
        found = read_object(folder / HARNESS, HARNESS_KIND)
        if found is None:
            msg = f"{folder / HARNESS} is not the {HARNESS} of a run. Choose another folder."
            raise HarnessError(msg)
        saved = bool(found.pop(_SAVED, False))
        if found == self._manifest:
            # After a kill the same call goes on, also one that replaces a finished run.
            return replace and not retry_failed and (saved or not self._answered())
        if not self._answered() or (replace and not retry_failed):
            return True
        what = f"{folder} holds a run with another {', another '.join(_changes(found, self._manifest))}"
        if replace:
            msg = (
                f"{what}, so its failed questions cannot be asked again. Choose another folder, or leave "
                f"{parameter('retry_failed')} out to ask everything anew."
            )
            raise HarnessError(msg)
        msg = f"{what}. Choose another folder, or {REPLACE}."
        raise HarnessError(msg)

    def _answered(self) -> bool:
        """Whether any question was answered; a first try that went wrong is no run worth keeping."""
        try:
            return any(record["status"] == "ok" for record in self._read().values())
        except HarnessError:
            return True

    def _begin(self) -> None:
        if self._new:
            os.ftruncate(self._file, 0)  # before the manifest, which must not stand beside rows of another run
            write_strict_json(self.path.parent / HARNESS, self._manifest)
        self._new = False

    def _read(self) -> dict[Key, dict[str, Any]]:
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._file, whole)  # a line that was being written when the process died
        done, wrong = _latest(data[:whole])
        if wrong is not None:
            msg = f"{self.path}:{wrong} is no row of this run, or one twice. Remove the line and start again."
            raise HarnessError(msg)
        return done


@contextlib.contextmanager
def kept_by_us(folder: Path | None) -> Iterator[None]:
    """
    Keep other processes from writing answers into a folder.

    :param folder: The folder, in which there are answers; None does nothing.
    :returns: A context.
    :raises HarnessError: If another process writes into it.
    """
    if folder is None or fcntl is None:
        yield  # without locks nothing is held, and Windows could not remove the file while it is open
        return
    file = _locked(folder / ANSWERS)
    try:
        yield
    finally:
        os.close(file)


def hold_answers(folder: Path, rows: Sequence[Mapping[str, Any]]) -> bool:
    """
    Tell whether rows are those of the answers in a folder, so that saving them loses none.

    :param folder: The folder of a run.
    :param rows: The rows of a run.
    :returns: True if there are answers, and each is in the rows.
    """
    if not (folder / ANSWERS).is_file() or read_object(folder / HARNESS, HARNESS_KIND) is None:
        return False
    data = (folder / ANSWERS).read_bytes()
    known = {(row.get("id"), row.get("repeat")): [row.get(name) for name in _TOLD_BY] for row in rows}
    found, wrong = _latest(data)
    return (
        wrong is None
        and bool(found)
        and all(known.get(key) == [record.get(name) for name in _TOLD_BY] for key, record in found.items())
    )


def saved_manifest(folder: Path) -> dict[str, Any]:
    """
    Give the harness's manifest with the mark that its answers are in a run.

    :param folder: The folder of a run with answers.
    :returns: What `harness.json` is to hold.
    """
    return {**(read_object(folder / HARNESS, HARNESS_KIND) or {}), _SAVED: True}


def count_answers(folder: Path) -> int:
    """
    Count the answers that are kept in a folder and in no finished run yet.

    :param folder: The folder of a run, which need not be there.
    :returns: How many; 0 also where they cannot be read.
    """
    harness = read_object(folder / HARNESS, HARNESS_KIND)
    if harness is None or harness.get(_SAVED):
        return 0
    try:
        data = (folder / ANSWERS).read_bytes()
    except OSError:
        return 0
    return len(_latest(data[: data.rfind(b"\n") + 1])[0])


def _latest(data: bytes) -> tuple[dict[Key, dict[str, Any]], int | None]:
    """The rows in whole lines, of one that was asked again the latest; and the number of a line that is wrong."""
    found: dict[Key, dict[str, Any]] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        record = _record(line)
        key = None if record is None else (record["id"], record["repeat"])
        # Only what failed is asked again.
        if record is None or key is None or (key in found and found[key]["status"] != "error"):
            return found, number
        found[key] = record
    return found, None


def _record(line: bytes) -> dict[str, Any] | None:
    """A line of the log; None if it is none."""
    try:
        record = parse_json(line.decode("utf-8"))
        good = (
            isinstance(record["id"], str)
            and isinstance(record["repeat"], int)
            and (record["status"], record["error"] is None) in (("ok", True), ("error", False))
            and all(name in record for name in _OF_ALL)
            and wrong_in_rows([record]) is None
        )
    except (ValueError, KeyError, TypeError):
        return None
    return record if good else None


def _locked(path: Path) -> int:
    """Open a file for writing that no other process has open so."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o666)
        try:
            _lock(file, path)
            # Whoever had it before may have put another file in its place.
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _lock(file: int, path: Path) -> None:
    if fcntl is None:
        _say_once_that_nothing_locks()
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        msg = f"Another process writes into {path}. Wait for its end, or choose another folder."
        raise HarnessError(msg) from None
    except OSError:  # a file system without locks
        return


@cache
def _say_once_that_nothing_locks() -> None:
    _logger.warning("No file locks are known on this system: let no two processes write into one folder of a run.")


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
