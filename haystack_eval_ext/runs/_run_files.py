# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A run on disk: a folder with three files, or a baseline in one; read with one line for whatever is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext.errors import RunFileError
from haystack_eval_ext.runs._baseline_shape import wrong_in_baseline
from haystack_eval_ext.runs._lines import Problems, kind_of, numbered_lines, parse_json, read_text
from haystack_eval_ext.runs._metric_info import MetricInfo
from haystack_eval_ext.runs._plain import json_line
from haystack_eval_ext.runs._row_log import saved_manifest
from haystack_eval_ext.runs._run_folder import (
    ANSWERS,
    HARNESS,
    MANIFEST,
    OUR_FILES,
    ROWS,
    RUN_KIND,
    SCORES,
    check_folder,
    our_drafts,
)
from haystack_eval_ext.runs._run_shapes import wrong_in_manifest, wrong_in_rows
from haystack_eval_ext.runs._score_checks import CHECKSUM, check_range, check_unchanged, checksum_of
from haystack_eval_ext.runs._strict_json import strict_json
from haystack_eval_ext.runs._whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs._run_rows import Row

__all__ = [
    "BASELINE_KIND",
    "FORMAT",
    "MANIFEST",
    "OUR_FILES",
    "RUN_KIND",
    "RunFileError",
    "RunMetric",
    "Stored",
    "baseline_row",
    "check_folder",
    "read_stored",
    "write_baseline",
    "write_run",
]

FORMAT = 1
BASELINE_KIND = "haystack-eval baseline"
STATUSES = ("scored", "undefined", "error", "not_run")
_NO_NUMBER = frozenset(("error", "not_run"))


@dataclass(frozen=True)
class RunMetric:
    """
    One metric of a run, one entry for each row (each answer, if questions were asked several times).

    :param info: How the numbers were made.
    :param scores: The scores; NaN where there is none.
    :param statuses: "scored", "undefined", "error" or "not_run".
    :param errors: Why a row could not be judged; None for the others.
    :param messages: What a judge's service said where it failed, as it is kept with texts; empty where it said nothing.
    """

    info: MetricInfo
    scores: list[float]
    statuses: list[str]
    errors: list[str | None]
    messages: list[str | None] = field(default_factory=list)


@dataclass(frozen=True)
class Stored:
    """What a run consists of, on disk and in memory."""

    manifest: dict[str, Any]
    rows: list[Row]
    metrics: dict[str, RunMetric]


def write_run(folder: Path, stored: Stored, *, answers: bool) -> None:
    """
    Write a run; the manifest comes behind what it speaks of, and a folder without one is no run.

    :param folder: The folder, made if it is not there.
    :param stored: The run.
    :param answers: Whether the folder holds the answers that the harness kept of this run, and they stay. Those of
        another go.
    :raises OSError: If it cannot be written; a run that was there before is then still whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores = [_score_line(stored, number, row) for number, row in enumerate(stored.rows)]
    checksum = checksum_of(stored.manifest, stored.rows, [line["metrics"] for line in scores])
    files: dict[FilePath, bytes] = {
        folder / ROWS: "".join(map(json_line, stored.rows)).encode("utf-8"),
        folder / SCORES: "".join(map(json_line, scores)).encode("utf-8"),
        folder / MANIFEST: strict_json({**stored.manifest, CHECKSUM: checksum}).encode("utf-8"),
    }
    stale = [folder / MANIFEST, *our_drafts(folder)]
    if answers:
        files[folder / HARNESS] = strict_json(saved_manifest(folder)).encode("utf-8")
    else:
        stale += [folder / HARNESS, folder / ANSWERS]
    write_whole(files, remove=stale)


def read_run(folder: Path) -> Stored:
    """
    Read a run.

    :param folder: Its folder.
    :returns: The run.
    :raises RunFileError: If files are missing, torn or another's.
    """
    if not (folder / MANIFEST).is_file():
        raise RunFileError([_no_run(folder)])
    manifest = _read_manifest(folder / MANIFEST, RUN_KIND)
    rows = _read_lines(folder / ROWS)
    scores = _read_lines(folder / SCORES)
    place = _places(folder / ROWS, rows)
    lines: list[Row | None] = [None] * len(rows)
    for number, line in enumerate(scores, start=1):
        row = place.get((line.get("id"), line.get("repeat")))
        if row is None or lines[row] is not None:
            why = f"names no row of {ROWS}" if row is None else "names the same row as a line before"
            raise RunFileError([f"{folder / SCORES}:{number}: {why}. Score the rows again."])
        lines[row] = line
    if len(scores) != len(rows) or not rows:
        found = f"{len(rows)} rows in {ROWS} and {len(scores)} in {SCORES}"
        raise RunFileError([f"{folder}: {found}, expected equally many. Score the rows again."])
    cells: list[Any] = [line.get("metrics") for line in lines if line]
    metrics = _metrics(folder / SCORES, manifest, rows, cells)
    check_unchanged(folder / SCORES, manifest, rows, cells)
    return Stored(manifest, rows, metrics)


def write_baseline(path: FilePath, manifest: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """
    Write a baseline: one file, one line for each question, so that a diff shows which changed.

    :param path: The file, replaced if it is there.
    :param manifest: Its head.
    :param rows: The questions with their scores.
    :raises OSError: If it cannot be written.
    """
    head = strict_json({**manifest, "kind": BASELINE_KIND, "rows": []})
    lines = ",\n".join(f"    {json_line(row).rstrip()}" for row in rows)
    text = head.removesuffix("[]\n}\n") + f"[\n{lines}\n  ]\n}}\n"
    write_whole({path: text.encode("utf-8")})


def baseline_row(row_id: str, of_row: Mapping[str, Any], metrics: Mapping[str, tuple[float, str]]) -> Row:
    """
    Make a line of a baseline.

    :param row_id: The question's id.
    :param of_row: Its fingerprint, cluster and tags.
    :param metrics: Score and status by metric.
    :returns: The line; statuses other than "scored" alone are written down.
    """
    others = {name: status for name, (_, status) in metrics.items() if status != "scored"}
    scores = {name: _null(score) for name, (score, _) in metrics.items()}
    return {"id": row_id, **of_row, "scores": scores} | ({"statuses": others} if others else {})


def read_baseline(path: Path) -> Stored:
    """
    Read a baseline.

    :param path: The file.
    :returns: The run, without texts.
    :raises RunFileError: If it is none.
    """
    manifest = _read_manifest(path, BASELINE_KIND)
    lines = manifest.pop("rows", None)
    if wrong := wrong_in_baseline(manifest, lines):
        raise RunFileError([f"{path}: {wrong}. Write the baseline again."])
    rows = [
        {name: value for name, value in line.items() if name not in ("scores", "statuses")} | {"repeat": 0}
        for line in lines
    ]
    cells = [
        {
            name: {"score": score, "status": (line.get("statuses") or {}).get(name, "scored")}
            for name, score in line["scores"].items()
        }
        for line in lines
    ]
    # No checksum: in a repository people take rows out, and each change shows.
    return Stored(manifest, rows, _metrics(path, manifest, rows, cells))


def _score_line(stored: Stored, number: int, row: Row) -> Row:
    metrics = {}
    for name, metric in stored.metrics.items():
        cell: Row = {"score": _null(metric.scores[number]), "status": metric.statuses[number]}
        error = metric.errors[number]
        message = metric.messages[number] if metric.messages else None
        metrics[name] = cell | ({"error": error} if error else {}) | ({"message": message} if message else {})
    return {"id": row["id"], "repeat": row["repeat"], "metrics": metrics}


def _null(score: float) -> float | None:
    return None if math.isnan(score) else score


def _no_run(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}: there is no such run; name the folder of one, or a baseline file."
    if (folder / HARNESS).is_file():
        return f"{folder} holds a run that is not finished. Start it again with the same folder to go on."
    if (folder / SCORES).is_file() or our_drafts(folder):
        return f"{folder} holds a run that was not written to its end ({MANIFEST} is missing). Score the rows again."
    return f"{folder} holds no run ({MANIFEST} is missing); name the folder of one, or a baseline file."


def _read_manifest(file: Path, kind: str) -> dict[str, Any]:
    manifest = _parsed(file, _text(file))
    if not isinstance(manifest, dict) or manifest.get("kind") not in (RUN_KIND, BASELINE_KIND):
        raise RunFileError([f"{file} is not of a run of haystack-eval. Name a run's folder, or a baseline file."])
    if manifest["kind"] != kind:
        msg = f"{file} is the file of another kind ({manifest['kind']}), expected {kind}."
        raise RunFileError([msg])
    if manifest.get("format") != FORMAT:
        msg = (
            f"{file} has format {manifest.get('format')!r}, but this version of haystack-eval-ext reads {FORMAT}. "
            "Update the package, or score the rows again."
        )
        raise RunFileError([msg])
    data, settings = manifest.get("data"), manifest.get("settings")
    if not isinstance(data, dict) or not isinstance(settings, dict) or not isinstance(manifest.get("name"), str):
        raise RunFileError([f"{file} lacks 'name', 'data' or 'settings'. Score the rows again."])
    if wrong := wrong_in_manifest(manifest):
        raise RunFileError([f"{file} lacks '{wrong}', or holds it in another form. Score the rows again."])
    return manifest


def _read_lines(file: Path) -> list[Row]:
    problems = Problems(file)
    rows = []
    for number, line in numbered_lines(_text(file), problems):
        value = _parsed(file, line, number)
        if not isinstance(value, dict):
            raise RunFileError([f"{file}:{number}: {kind_of(value)}, expected an object. Score the rows again."])
        rows.append(value)
    if problems.texts():
        raise RunFileError(problems.texts())
    return rows


def _text(file: Path) -> str:
    problems = Problems(file)
    text = read_text(file, problems)
    if problems.texts():
        raise RunFileError(problems.texts()[:1])
    return text


def _parsed(file: Path, text: str, line: int | None = None) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        where = "" if line is None else f":{line}"
        raise RunFileError([f"{file}{where}: {error}. Is the file whole? Score the rows again."]) from None


def _places(file: Path, rows: Sequence[Row]) -> dict[tuple[Any, Any], int]:
    place: dict[tuple[Any, Any], int] = {}
    for number, row in enumerate(rows):
        row_id, repeat = row.get("id"), row.get("repeat")
        fits = isinstance(row_id, str) and isinstance(repeat, int) and 0 <= repeat < len(rows)
        if not fits or (row_id, repeat) in place or not isinstance(row.get("fingerprint"), str):
            msg = f"{file}: row {number + 1} has no id, repeat and fingerprint of its own. Score the rows again."
            raise RunFileError([msg])
        place[row_id, repeat] = number
    if wrong := wrong_in_rows(rows):
        msg = f"{file}: row {wrong[0] + 1} holds '{wrong[1]}' in another form than expected. Score the rows again."
        raise RunFileError([msg])
    return place


def _metrics(
    file: Path, manifest: Mapping[str, Any], rows: Sequence[Row], cells: Sequence[Any]
) -> dict[str, RunMetric]:
    metrics: dict[str, RunMetric] = {}

    def column(name: str, read: Callable[[dict[str, Any]], Any]) -> list[Any]:
        return [read(cell[name]) for cell in cells]

    try:
        for name, data in manifest["metrics"].items():
            scores = column(name, lambda cell: _score(cell["score"]))
            statuses = column(name, lambda cell: cell["status"])
            if not all(map(_fits, scores, statuses)):
                msg = f"{file}: scores and statuses of '{name}' contradict each other. Score the rows again."
                raise RunFileError([msg])
            errors = column(name, lambda cell: _error(cell.get("error")))
            messages = column(name, lambda cell: _error(cell.get("message")))
            metrics[name] = RunMetric(
                MetricInfo.from_dict(data), scores, statuses, errors, messages if any(messages) else []
            )
            check_range(file, name, metrics[name].info.score_range, scores, rows)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, RunFileError):
            raise
        msg = f"{file} lacks what the manifest lists as metrics, or holds it in another form. Score the rows again."
        raise RunFileError([msg]) from None
    return metrics


def _score(value: Any) -> float:
    if value is not None and not is_number(value):
        raise TypeError
    return math.nan if value is None else float(value)


def _error(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value


def _fits(score: float, status: str) -> bool:
    """Whether a score may have a status: an undefined row counts as 0 or has no score."""
    return status == "undefined" or (math.isnan(score) == (status in _NO_NUMBER) and status in STATUSES)


def read_stored(path: FilePath) -> Stored:
    """
    Read a run's folder or a baseline file.

    :param path: Either.
    :returns: The run.
    :raises RunFileError: If it is neither.
    """
    found = Path(path)
    if found.name == MANIFEST:
        found = found.parent
    return read_baseline(found) if found.is_file() else read_run(found)
