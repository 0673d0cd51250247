# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Records of a run, put back beside the labels: one dataset for the answers, one for each stage of retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext._rows import document_from_json
from haystack_eval_ext.errors import HarnessError
from haystack_eval_ext.runs._columns import OUTPUTS, RUN_ERROR, RUN_STATUS, SKIPPED
from haystack_eval_ext.runs._faults import told
from haystack_eval_ext.runs._prompts import PROMPT_STAGES
from haystack_eval_ext.runs.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from haystack import Document

__all__ = ["OUTPUTS", "RUN_ERROR", "RUN_STATUS", "dataset_of_records", "failed_ids", "stage_datasets", "stage_names"]


def dataset_of_records(dataset: Dataset, records: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Dataset:
    """
    Put answers, contexts and documents beside the labels, for evaluation.

    ```python
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.harness import run_target
    from haystack_eval_ext.runs.records import dataset_of_records

    data = Dataset("rows", [{"id": "q1", "question": "Who?", "reference_answer": "Ada"}])
    records = run_target(lambda question: {"answer": "Ada", "contexts": ["Ada wrote it."]}, data, progress=False)
    print(dataset_of_records(data, records).rows[0]["answer"])
    # Ada
    ```

    :param dataset: The data that was run.
    :param records: What :func:`~haystack_eval_ext.runs.harness.run_target` returned, or the lines of its
        `answers.jsonl`.
    :param repeat: Which of several answers to each question.
    :returns: The rows that have a record, in the order of the data, with `run_status` and those of `answer`,
        `contexts` and `documents` that any answered question has; None where the target gave none, which is not the
        same as nothing found; with `retrieval_skipped` if a question went around retrieval. A row that failed stays:
        its `run_status` is "error", `run_error` says why, and its answer and lists are empty, so that scores of it say
        nothing.
    :raises HarnessError: If a record belongs to no row of the data, one comes twice, or none has this repeat.
    """
    found = _by_id(dataset, records, repeat)
    answered = [record for record in found.values() if record["status"] != "error"] or list(found.values())
    given = [name for name in OUTPUTS if any(record[name] is not None for record in answered)]
    skipped = any(record.get(SKIPPED) for record in answered)
    rows = []
    for row in dataset.rows:
        record = found.get(row["id"])
        if record is None:
            continue
        filled = {name: value for name, value in row.items() if name not in OUTPUTS and name != SKIPPED}
        failed = record["status"] == "error"
        for name in given:
            value = record[name]
            if value is None:
                filled[name] = OUTPUTS[name]() if failed else None
            else:
                filled[name] = _documents(value) if name == "documents" else value
        if skipped:
            filled[SKIPPED] = bool(record.get(SKIPPED))
        filled[RUN_STATUS] = record["status"]
        if failed:
            filled[RUN_ERROR] = told(record["error"])
        rows.append(filled)
    return Dataset(dataset.path, rows)


def stage_datasets(dataset: Dataset, records: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> dict[str, Dataset]:
    """
    Put the documents of each stage beside the labels, for retrieval scores of each.

    :param dataset: The data that was run.
    :param records: As in :func:`dataset_of_records`.
    :param repeat: Which of several answers to each question.
    :returns: By stage, in the order of execution, the rows of the questions that reached it, with its ranking in
        `documents`. A question that failed later is among them; one that took another way is not.
    :raises HarnessError: As :func:`dataset_of_records`.
    """
    found = _by_id(dataset, records, repeat)
    rankings: dict[str, dict[str, Any]] = {row_id: record["stages"] for row_id, record in found.items()}
    names = stage_names(found.values())
    for name in names:
        if name in PROMPT_STAGES and not any(_emits(record, name) for record in found.values()):
            # Where it is no stage of its own, the last stage's documents reached the prompt.
            rankings = {
                row_id: stages
                if found[row_id]["status"] == "error"
                else {name: next(reversed(stages.values()), []), **stages}
                for row_id, stages in rankings.items()
            }
    return {
        stage: Dataset(
            dataset.path,
            [
                {**row, "documents": _documents(rankings[row["id"]][stage])}
                for row in dataset.rows
                if stage in rankings.get(row["id"], {})
            ],
        )
        for stage in names
    }


def _emits(record: Mapping[str, Any], name: str) -> bool:
    """Whether a component of this name is the stage, rather than what reached the prompt."""
    return any(part["name"] == name and part["documents"] is not None for part in record.get("components", ()))


def stage_names(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """
    List the stages of a run.

    :param records: The records.
    :returns: The names in the order of execution; a stage that only some questions reach stands behind the one before
        it there.
    """
    names: list[str] = []
    for record in records:
        place = 0
        for stage in record["stages"]:
            if stage not in names:
                names.insert(place, stage)
            place = names.index(stage) + 1
    return names


def failed_ids(records: Iterable[Mapping[str, Any]], *, repeat: int = 0) -> list[str]:
    """
    List the questions that failed.

    :param records: The records.
    :param repeat: Which of several answers to each question.
    :returns: Their ids.
    """
    return [record["id"] for record in records if record["repeat"] == repeat and record["status"] == "error"]


def _by_id(dataset: Dataset, records: Iterable[Mapping[str, Any]], repeat: int) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    known = set(dataset.ids)
    for record in records:
        if record["id"] not in known:
            msg = f"A record has the id {record['id']!r}, which {dataset.path} lacks. Give the data that was run."
            raise HarnessError(msg)
        if record["repeat"] != repeat:
            continue
        if record["id"] in found:
            msg = f"There are two records of {record['id']!r}, repeat {repeat}; expected one."
            raise HarnessError(msg)
        found[record["id"]] = record
    if not found:
        msg = f"No record has repeat {repeat}; repeats count from 0."
        raise HarnessError(msg)
    return found


def _documents(entries: Iterable[Mapping[str, Any]]) -> list[Document]:
    return [document_from_json(dict(entry), "a document of the run") for entry in entries]
