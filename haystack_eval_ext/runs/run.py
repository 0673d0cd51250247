# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run was and what it gave: a plain folder that is compared, gated, exported, and scored again."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._scores import mean_of_numbers
from haystack_eval_ext.errors import EvaluationError, RunFileError
from haystack_eval_ext.runs import _run_exports as exports
from haystack_eval_ext.runs._row_log import hold_answers
from haystack_eval_ext.runs._run_files import (
    BASELINE_KIND,
    RunMetric,
    Stored,
    baseline_row,
    check_folder,
    read_stored,
    write_baseline,
    write_run,
)
from haystack_eval_ext.runs._run_rows import rows_dataset, without_texts
from haystack_eval_ext.runs._scored import NO_REASON, MetricRows, ScoredRun, failed_answers, failed_in_part, not_reached
from haystack_eval_ext.runs._setup_record import SETUP, setup_without_texts
from haystack_eval_ext.runs.evaluation import MetricScores

if TYPE_CHECKING:
    from collections.abc import Callable

    from haystack.evaluation import EvaluationRunResult

    from haystack_eval_ext.runs._lines import FilePath
    from haystack_eval_ext.runs._metric_info import MetricInfo
    from haystack_eval_ext.runs._run_rows import Row
    from haystack_eval_ext.runs.dataset import Dataset

__all__ = ["EvaluationRun", "RunFileError", "RunMetric", "load_run"]

# What a baseline needs to say of a run beside its scores.
_OF_BASELINE = ("format", "created", "name", "data", "settings", "versions", "metrics")
_OF_ROW = ("fingerprint", "cluster", "tags")


@dataclass(frozen=True)
class EvaluationRun:
    """
    A run: questions, outputs and scores, and everything that decided them.

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack_eval_ext import DocumentRecallEvaluator
    from haystack_eval_ext.runs.api import evaluate, load_run
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack import Document

    row = {"id": "q1", "documents": [Document(id="b"), Document(id="a")], "relevant_documents": [Document(id="a")]}
    run = evaluate({"recall": DocumentRecallEvaluator(document_comparison_field="id")}, Dataset("rows", [row]))
    with TemporaryDirectory() as folder:
        run.save(Path(folder) / "first")
        again = load_run(Path(folder) / "first")
    print(again.scores, again.metrics["recall"].info.parameters["top_k"])
    # {'recall': 1.0} None
    ```

    :param manifest: Plain values: name, time, data file and fingerprints, pipelines, versions, settings, how each
        metric was made, usage, warnings.
    :param rows: One plain dict for each answer: id, repeat, inputs, outputs, labels; ids alone if kept so.
    :param metrics: By name the scores, one for each of `rows`.
    """

    manifest: dict[str, Any]
    rows: list[Row]
    metrics: dict[str, RunMetric]

    @property
    def name(self) -> str:
        """What reports call the run."""
        return str(self.manifest["name"])

    @property
    def has_texts(self) -> bool:
        """False if only ids and scores were kept."""
        return bool(self.manifest.get("texts"))

    @property
    def repeats(self) -> int:
        """How often each question was asked."""
        return 1 + max(int(row["repeat"]) for row in self.rows)

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the questions, each once."""
        return list(dict.fromkeys(row["id"] for row in self.rows))

    @property
    def scores(self) -> dict[str, float]:
        """The mean of each metric over the questions that have a score; NaN if none has."""
        return {name: metric.score for name, metric in self.questions.items()}

    @cached_property
    def questions(self) -> dict[str, MetricScores]:
        """
        Each metric question by question, in the order of `ids`: several answers are averaged.

        One that failed is left out of its question's mean; :meth:`scored` has the failed share of each question.
        """
        answers = self._answers_of_questions
        found = {}
        for name, metric in self.metrics.items():
            pairs = [_averaged(metric, numbers) for numbers in answers]
            scores = [score for score, _ in pairs]
            found[name] = MetricScores(name, mean_of_numbers(scores), scores, [status for _, status in pairs])
        return found

    def spread(self) -> dict[str, float | None]:
        """
        Tell how far the scores of several answers to one question lie apart.

        :returns: By metric the standard deviation within a question, pooled over the questions; None where no question
            has two scored answers.
        """
        found: dict[str, float | None] = {}
        for name, metric in self.metrics.items():
            squares, freedom = 0.0, 0
            for numbers in self._answers_of_questions:
                scores = [metric.scores[row] for row in numbers if not math.isnan(metric.scores[row])]
                mean = fmean(scores) if scores else 0.0
                squares += math.fsum((score - mean) ** 2 for score in scores)
                freedom += max(len(scores) - 1, 0)
            found[name] = math.sqrt(squares / freedom) if freedom else None
        return found

    def scored(self) -> ScoredRun:
        """
        Give what a comparison and a gate need.

        :returns: Ids, scores, statuses, clusters, tags and fingerprints, one for each question; no texts.
        """
        rows = self._first_rows
        data = self.manifest["data"]
        clusters = [row.get("cluster") for row in rows]
        tags = [row.get("tags") or [] for row in rows]
        return ScoredRun(
            self.name,
            self.ids,
            {
                name: MetricRows(
                    found.individual_scores,
                    found.statuses,
                    _told(self.metrics[name].info),
                    None if (judge := self.metrics[name].info.judge) is None else judge.name,
                    self.metrics[name].info.prompts,
                    self.metrics[name].info.lower_is_better,
                    failed_answers(
                        name, self.metrics[name].statuses, self.metrics[name].errors, self._answers_of_questions, rows
                    ),
                    self.metrics[name].info.rule,
                    score_range=self.metrics[name].info.ends_of(found.individual_scores),
                )
                for name, found in self.questions.items()
            },
            # A row without a cluster stands for itself.
            clusters if any(cluster is not None for cluster in clusters) else None,
            tags if any(tags) else None,
            data.get("question_fingerprint"),
            data.get("label_fingerprint"),
            [row["fingerprint"] for row in rows],
        )

    def dataset(self, repeat: int = 0) -> Dataset:
        """
        Give the stored inputs and outputs as data, to score them again.

        :param repeat: Which of several answers to each question.
        :returns: The rows; those that failed have the column `run_status` with "error".
        :raises EvaluationError: If the run was kept without texts, or has no such repeat.
        """
        if not self.has_texts:
            msg = f"'{self.name}' was kept without texts, so its outputs cannot be used again. Give the data file."
            raise EvaluationError(msg)
        if not 0 <= repeat < self.repeats:
            msg = f"repeat must be from 0 to {self.repeats - 1}, as '{self.name}' has them, but is {repeat}."
            raise EvaluationError(msg)
        return rows_dataset(self.rows, str(self.manifest["data"].get("file")), repeat)

    def without_texts(self) -> EvaluationRun:
        """
        Keep ids and scores only.

        :returns: The run without questions, answers, documents, labels, pipelines, warnings and reasons of failures;
            ids, clusters, tags, and class and place of a failure stay.
        """
        # What a diagnosis says is ids and scores.
        setup = setup_without_texts(self.manifest)
        bare = {"texts": False, "pipelines": {}, SETUP: setup, "warnings": [], "never_retrieved": {}}
        metrics = {
            name: replace(metric, errors=_without_reasons(metric), messages=[]) for name, metric in self.metrics.items()
        }
        return EvaluationRun({**self.manifest, **bare}, list(map(without_texts, self.rows)), metrics)

    def save(self, folder: FilePath, *, texts: bool = True, replace: bool = False) -> None:
        """
        Write the run as a folder: `manifest.json`, `rows.jsonl` and `scores.jsonl`, strict JSON.

        :param folder: The folder, made if it is not there. It may hold the answers that the harness wrote for this run:
            they stay, but not without texts.
        :param texts: False keeps ids and scores only.
        :param replace: Replace a run that is there, finished or not.
        :raises RunFileError: If the folder holds a run, or what is no run's.
        :raises OSError: If it cannot be written; a run that was there before is then still whole.
        """
        if self.manifest.get("kind") == BASELINE_KIND:
            msg = f"{self.name!r} is a baseline, which holds no rows to save. Save the run that it comes from."
            raise RunFileError([msg])
        mine = hold_answers(Path(folder), self.rows)
        path = check_folder(folder, replace=replace, going_on=mine)
        kept = self if texts else self.without_texts()
        write_run(path, Stored(kept.manifest, kept.rows, kept.metrics), answers=mine and kept.has_texts)

    @classmethod
    def load(cls, path: FilePath) -> EvaluationRun:
        """
        Read a run.

        :param path: Its folder, or a baseline file.
        :returns: The run.
        :raises RunFileError: If it is neither, torn, or of a version that is not known.
        """
        stored = read_stored(path)
        return cls(stored.manifest, stored.rows, stored.metrics)

    def baseline(self, path: FilePath) -> None:
        """
        Write a baseline: ids, scores, statuses, clusters, tags, fingerprints and metric parameters; no texts.

        It is one file that is small enough to commit, with one line for each question.

        :param path: The file, replaced if it is there.
        :raises OSError: If it cannot be written.
        """
        head = {name: self.manifest[name] for name in _OF_BASELINE}
        found, scored = self.questions, self.scored()
        rows = [
            baseline_row(
                row["id"],
                {name: row[name] for name in _OF_ROW if row.get(name)} | failed_in_part(scored, place),
                {name: (metric.individual_scores[place], metric.statuses[place]) for name, metric in found.items()},
            )
            for place, row in enumerate(self._first_rows)
        ]
        write_baseline(path, {**head, SETUP: setup_without_texts(self.manifest), "texts": False}, rows)

    def to_pandas(self) -> Any:
        """
        Give a table, one line for each answer: inputs and outputs, then score, status and error of each metric.

        Those of a metric are called "score.<metric>", "score.<metric>.status" and "score.<metric>.error".

        :returns: A DataFrame.
        :raises ImportError: If pandas is not installed.
        """
        return exports.data_frame(self)

    def to_evaluation_run_result(self) -> EvaluationRunResult:
        """
        Give Haystack's own result object.

        :returns: The result, with NaN in rows without a score.
        """
        return exports.evaluation_run_result(self)

    def to_csv(self, path: FilePath | None = None) -> str:
        """
        Give the table of :meth:`to_pandas` as CSV; lists are JSON, a missing score is an empty cell.

        The columns of scores are called "score.<metric>". A text that a spreadsheet would run as a formula has a
        quotation mark in front. Read as data, the file is the rows of the run again.

        :param path: A file to write, replaced if it is there.
        :returns: The text.
        """
        return self._written(path, exports.csv_text)

    def to_json(self, path: FilePath | None = None) -> str:
        """
        Give everything as one JSON object.

        :param path: A file to write, replaced if it is there.
        :returns: Strict JSON: a missing score is null.
        """
        return self._written(path, exports.json_text)

    def to_markdown(self, path: FilePath | None = None) -> str:
        """
        Give the means as a table for a pull request or a page.

        :param path: A file to write, replaced if it is there.
        :returns: Markdown.
        """
        return self._written(path, exports.markdown_text)

    def _written(self, path: FilePath | None, text_of: Callable[[EvaluationRun], str]) -> str:
        text = text_of(self)
        if path is not None:
            exports.write_text(path, text)
        return text

    @cached_property
    def _answers_of_questions(self) -> list[list[int]]:
        """By question the places of its rows."""
        places: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            places.setdefault(row["id"], []).append(number)
        return list(places.values())

    @property
    def _first_rows(self) -> list[Row]:
        return [self.rows[numbers[0]] for numbers in self._answers_of_questions]


def load_run(path: FilePath | EvaluationRun) -> EvaluationRun:
    """
    Read a run.

    :param path: Its folder, or a baseline file; a run is handed back.
    :returns: The run.
    :raises RunFileError: If it is neither, torn, or of a version that is not known.
    """
    return path if isinstance(path, EvaluationRun) else EvaluationRun.load(os.fspath(path))


def _told(info: MetricInfo) -> dict[str, Any]:
    """What must be equal in two runs; a class of the same name elsewhere is another metric."""
    return {"type": info.type, **info.parameters}


def _without_reasons(metric: RunMetric) -> list[str | None]:
    """A reason tells a row that was not reached from one that was not to be scored."""
    return [
        NO_REASON if status == "not_run" and not_reached(error) else None
        for status, error in zip(metric.statuses, metric.errors, strict=True)
    ]


def _averaged(metric: RunMetric, numbers: list[int]) -> tuple[float, str]:
    """The score of a question over its answers, and the status that says most of it; `scored` tells what failed."""
    scores = [metric.scores[row] for row in numbers if not math.isnan(metric.scores[row])]
    statuses = {metric.statuses[row] for row in numbers}
    if scores:
        return fmean(scores), "scored" if "scored" in statuses else "undefined"
    return math.nan, next(status for status in ("error", "undefined", "not_run") if status in statuses)
