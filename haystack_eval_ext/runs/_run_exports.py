# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A run in the forms of others: tables, JSON, Markdown, pandas, Haystack's result object."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import MissingPackageError
from haystack_eval_ext.runs._columns import BY_NAME, OTHERS
from haystack_eval_ext.runs._exported import SCORE, defused
from haystack_eval_ext.runs._metric_comparison import metric_side
from haystack_eval_ext.runs._run_rows import run_error
from haystack_eval_ext.runs._scored import OF_FAILED
from haystack_eval_ext.runs._strict_json import strict_json
from haystack_eval_ext.runs._whole_files import write_whole

if TYPE_CHECKING:
    from haystack.evaluation import EvaluationRunResult

    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs._spread import Interval
    from haystack_eval_ext.runs.run import EvaluationRun

_LARGE = 1e9
_MARKS = re.compile(r"[\\`*\[\]|~]")
# Of rows: what went in and came out. How it went there (stages, components) is in the JSON.
_INNER = frozenset((OTHERS, "stages", "components", "fingerprint", OF_FAILED))


def data_frame(run: EvaluationRun) -> Any:
    """
    Make a DataFrame.

    :param run: The run.
    :returns: One line for each answer.
    :raises ImportError: If pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        msg = "to_pandas needs pandas, which is not installed: pip install pandas"
        raise MissingPackageError(msg) from error
    return pandas.DataFrame(_columns(run) | _metric_columns(run))


def evaluation_run_result(run: EvaluationRun) -> EvaluationRunResult:
    """
    Make Haystack's result object.

    :param run: The run.
    :returns: The result; its rows are the answers, its means those over the questions.
    """
    from haystack.evaluation import EvaluationRunResult

    return EvaluationRunResult(
        run_name=run.name,
        inputs=_inputs(run),
        results={
            name: {"score": run.scores[name], "individual_scores": list(metric.scores)}
            for name, metric in run.metrics.items()
        },
    )


def csv_text(run: EvaluationRun) -> str:
    """
    Write CSV.

    :param run: The run.
    :returns: One line for each answer; lists and objects are JSON, nothing is an empty cell. A text that a spreadsheet
        would run as a formula has a quotation mark in front, which is undone when the file is read as data.
    """
    columns = _columns(run) | _metric_columns(run)
    out = io.StringIO(newline="")
    writer = csv.writer(out)  # ends lines by CR LF, and so quotes cells with either in them
    writer.writerow(map(defused, columns))
    cells = ([_cell(name, value) for value in column] for name, column in columns.items())
    writer.writerows(zip(*cells, strict=True))
    return out.getvalue()


def json_text(run: EvaluationRun) -> str:
    """
    Write JSON.

    :param run: The run.
    :returns: The manifest and, for each answer, the row and its metrics.
    """
    rows = [
        {
            **row,
            "metrics": {
                name: {"score": metric.scores[place], "status": metric.statuses[place], "error": metric.errors[place]}
                for name, metric in run.metrics.items()
            },
        }
        for place, row in enumerate(run.rows)
    ]
    return strict_json({**run.manifest, "rows": rows})


def markdown_text(run: EvaluationRun) -> str:
    """
    Write Markdown.

    :param run: The run.
    :returns: A heading, a table of means with their intervals, and what to know about them.
    """
    data, spread = run.manifest["data"], run.spread()
    clusters = run.scored().clusters
    heads = ["metric", "mean", "95 % interval", "questions", "undefined", "failed", "not run"]
    if run.repeats > 1:
        heads.append("spread within a question")
    lines = [
        f"**{escaped(run.name)}**: {escaped(str(data.get('file')))}, {len(run.ids)} questions"
        + (f", {run.repeats} answers each" if run.repeats > 1 else ""),
        "",
        table_line(heads),
        "|" + "---|" * len(heads),
    ]
    for name, metric in run.scored().metrics.items():
        side = metric_side(metric, clusters=clusters)
        estimate = side.estimate
        cells = [
            name,
            shown(estimate.mean),
            shown_interval(estimate.interval),
            str(estimate.rows),
            *map(str, (side.undefined, side.failed, side.not_run)),
        ]
        lines.append(table_line([*cells, shown(spread[name])] if run.repeats > 1 else cells))
    lines += [line for note in stage_note(run) for line in ("", escaped(note))]
    judges = sorted({metric.info.judge.name for metric in run.metrics.values() if metric.info.judge is not None})
    if judges:
        lines += ["", f"Judge: {escaped(', '.join(judges))}"]
    return "\n".join(lines) + "\n"


def stage_note(run: EvaluationRun) -> list[str]:
    """
    Say why a stage that feeds the evaluation may have one number, and the metric of the evaluation another.

    :param run: The run.
    :returns: A line where questions failed behind a stage that had ranked documents for them; else nothing.
    """
    rows = [place for place, row in enumerate(run.rows) if run_error(row) is not None]
    counted = [
        sum(not math.isnan(metric.scores[place]) for place in rows)
        for name, metric in run.metrics.items()
        if "/" in name
    ]
    if not any(counted):
        return []
    answers = f"{max(counted)} {'answer' if max(counted) == 1 else 'answers'}"
    note = (
        f"STAGE/METRIC counts the ranking of a stage also where something behind it failed ({answers}); METRIC leaves "
        "such questions out, and so may differ from it for the last stage."
    )
    return [note]


def write_text(path: FilePath, text: str) -> None:
    """
    Write a text; the file appears whole or not at all.

    :param path: The file, replaced if it is there.
    :param text: The text; lone surrogates, which UTF-8 cannot hold, are escaped.
    :raises OSError: If it cannot be written.
    """
    write_whole({path: text.encode("utf-8", "backslashreplace")})


def shown(value: float | None, *, signed: bool = False) -> str:
    """
    Write a number for a reader.

    :param value: The number.
    :param signed: Whether it is a change.
    :returns: Four decimals, or a dash; of large numbers six digits.
    """
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= _LARGE:
        return f"{value:+.6g}" if signed else f"{value:.6g}"
    text = f"{value:+.4f}" if signed else f"{value:.4f}"
    return text.lstrip("+-") if float(text) == 0 else text


def shown_interval(interval: Interval | None, *, signed: bool = False) -> str:
    """
    Write an interval for a reader.

    :param interval: The interval.
    :param signed: Whether it is that of a change.
    :returns: Both limits, or a dash.
    """
    if interval is None:
        return shown(None)
    return f"{shown(interval.low, signed=signed)} to {shown(interval.high, signed=signed)}"


def table_line(cells: list[str]) -> str:
    """
    Write a line of a Markdown table.

    :param cells: Its cells, which may hold anything.
    :returns: The line.
    """
    return "| " + " | ".join(map(escaped, cells)) + " |"


def escaped(text: str) -> str:
    """
    Keep a text from being taken for Markdown or HTML.

    :param text: Names and ids.
    :returns: The text on one line, with what Markdown and HTML would act on escaped.
    """
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split())).replace("<", "&lt;").replace(">", "&gt;")


def _columns(run: EvaluationRun) -> dict[str, list[Any]]:
    """What went in and out, by column; a column that is named like one of the run's gives way."""
    names = dict.fromkeys(name for row in run.rows for name in row if name not in _INNER)
    others = dict.fromkeys(name for row in run.rows for name in row.get(OTHERS) or {})
    if run.repeats == 1:
        names.pop("repeat", None)
    columns = {name: [row.get(name) for row in run.rows] for name in names}
    return columns | {
        f"{OTHERS}.{name}" if name in columns or name.startswith(SCORE) else name: [
            (row.get(OTHERS) or {}).get(name) for row in run.rows
        ]
        for name in others
    }


def _inputs(run: EvaluationRun) -> dict[str, list[Any]]:
    """As Haystack's result takes them: there a metric and a column share one table without a prefix."""
    return {f"row.{name}" if name in run.metrics else name: column for name, column in _columns(run).items()}


def _metric_columns(run: EvaluationRun) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for name, metric in run.metrics.items():
        columns[f"{SCORE}{name}"] = list(metric.scores)
        columns[f"{SCORE}{name}.status"] = list(metric.statuses)
        if any(metric.errors):
            columns[f"{SCORE}{name}.error"] = list(metric.errors)
    return columns


def _cell(name: str, value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str) and name in BY_NAME and BY_NAME[name].kind == "references":
        value = [value]  # a text that is empty, or looks like a list, comes back as what it is
    return defused(json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value)
