# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks a RAG pipeline every question of a dataset, and keeps each row as it finishes."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import HarnessError, InvalidTypeError, TargetError, parameter
from haystack_eval_ext.runs._ask_options import AskOptions
from haystack_eval_ext.runs._asking import Asker, Job, given_up
from haystack_eval_ext.runs._faults import told
from haystack_eval_ext.runs._fingerprints import order_free_hash
from haystack_eval_ext.runs._first_answers import settled
from haystack_eval_ext.runs._questions import check_sections
from haystack_eval_ext.runs._row_log import RowLog
from haystack_eval_ext.runs._run_folder import check_folder
from haystack_eval_ext.runs._sampling import sample_rows
from haystack_eval_ext.runs._tracing import recording_tracer
from haystack_eval_ext.runs._workers import AllHangError, Workers
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.indexing import check_stores
from haystack_eval_ext.runs.targets import as_target

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from haystack_eval_ext.runs._questions import Sections
    from haystack_eval_ext.runs.targets import Target

__all__ = ["HarnessError", "RunPlan", "TargetError", "plan_run", "run_target"]


@dataclass(frozen=True)
class RunPlan:
    """
    What a run will ask, and how.

    :param target: The target.
    :param rows: The questions, those of the sample alone.
    :param sections: The user's mapping.
    :param asker: What asks.
    """

    target: Target
    rows: list[dict[str, Any]]
    sections: Sections
    asker: Asker


def plan_run(target: Any, dataset: Dataset, options: AskOptions) -> RunPlan:
    """
    Check everything that :func:`run_target` takes, without asking, filling or writing anything.

    :param target: As for :func:`run_target`.
    :param dataset: The questions.
    :param options: How they are asked.
    :returns: The plan.
    :raises ValueError: As :func:`run_target`, TypeError likewise.
    """
    sections = check_sections(options.sections)
    _check_questions(dataset)
    first = Dataset(dataset.path, dataset.rows[: options.limit])
    rows = sample_rows(first, options.sample, options.seed, options.stratify)
    found = as_target(target)
    asker = Asker(found, Dataset(dataset.path, rows), sections, options.retrieved, options.prices)
    if found.pipeline is None:
        asker.warm_up(int(options.isolate))  # refuses isolate
    return RunPlan(found, rows, sections, asker)


def run_target(
    target: Any,
    dataset: Dataset,
    *,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    **options: Any,
) -> list[dict[str, Any]]:
    """
    Ask a RAG pipeline the questions of a dataset, several at the same time.

    A question that fails costs its own row. With `out`, each row is on disk as it finishes; after a kill the same call
    goes on with the questions that are missing. Calls in flight when a run stops early are left to end by themselves.

    ```python
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.harness import run_target

    store = InMemoryDocumentStore()
    store.write_documents([Document(id="a", content="Paris is in France"), Document(id="b", content="Rome is old")])
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=1))
    records = run_target(pipeline, Dataset("rows", [{"id": "q1", "question": "Where is Paris?"}]), progress=False)
    print(records[0]["status"], [document["id"] for document in records[0]["stages"]["bm25"]])
    # ok ['a']
    ```

    :param target: What :func:`~haystack_eval_ext.runs.targets.load_target` gives, or a Pipeline, a component such as a
        SuperComponent or an Agent, or a function of a question that returns a dict.
    :param dataset: The questions.
    :param out: Folder for `answers.jsonl` and `harness.json`; None keeps everything in memory.
    :param replace: Ask everything anew where the folder holds the answers of a finished run, or of another one. What
        was being asked when the same call was killed is gone on with.
    :param options: What :class:`~haystack_eval_ext.runs._ask_options.AskOptions` has, such as `concurrency`, `repeats`,
        `sample`, `timeout`.
    :returns: One plain record for each question and repeat, in the order of the dataset, repeat by repeat: `id`,
        `repeat`, `status` ("ok" or "error"), `error` (class, component, reason, message), `question`, `answer`,
        `contexts`, `documents`, `stages`, `components`, `seconds`, `tokens` by model, `cost`; and `thoughts` (true)
        where thoughts before the answer were taken off.
    :raises ValueError: If a parameter or the prices are wrong; TypeError if a parameter is of another type.
    :raises TargetError: If the target cannot be made or fed, its document store is empty, or the first answers all
        cannot be read.
    :raises HarnessError: If the folder holds another run, too many rows fail, or every thread hangs. Rows that were
        finished are kept.
    """
    folder = None if out is None else check_folder(out, replace=True, going_on=True)
    how = AskOptions.of(options)
    plan = plan_run(target, dataset, how)
    rows, asker = plan.rows, plan.asker
    check_stores(plan.target)
    jobs = [Job(row, repeat) for repeat in range(how.repeats) for row in rows]
    with ExitStack() as stack:
        done: dict[tuple[str, int], dict[str, Any]] = {}
        log: RowLog | None = None
        if folder is not None:
            manifest = {
                "questions": _question_hash(dataset, asker.columns),
                "target": {"name": plan.target.name, "fingerprint": plan.target.fingerprint()},
                "settings": how.recorded | {"mapping": plan.sections},
            }
            log = RowLog(folder, manifest, retry_failed=how.retry_failed, replace=replace)
            stack.callback(log.close)
            done.update(log.done)
        missing = [job for job in jobs if (job.row["id"], job.repeat) not in done]
        failures = sum(record["status"] == "error" for record in done.values())
        if missing:
            _check_failures(failures, how.max_failures, done, folder)
            slots = min(how.concurrency, len(missing))
            asker.warm_up(slots if how.isolate else 0)
            advance = _progress(stack, len(jobs), len(jobs) - len(missing)) if how.progress else None
            stack.enter_context(recording_tracer())
            workers: Workers[Job, dict[str, Any]] = Workers(asker.ask, slots, how.timeout)
            ended = stack.enter_context(closing(workers.run(missing)))
            try:
                proven = any(record["status"] == "ok" for record in done.values())
                for job, result in settled(ended, len(missing), proven=proven):
                    record = given_up(job, how.timeout or 0.0) if result is None else result
                    if log is not None:
                        log.append(record)
                    done[job.row["id"], job.repeat] = record
                    failures += record["status"] == "error"
                    if advance is not None:
                        advance()
                    _check_failures(failures, how.max_failures, done, folder)
            except AllHangError:
                limit = f"{how.timeout:g} s"
                msg = (
                    f"All {slots} threads hold calls that did not end within {limit} and again {limit}; "
                    f"{len(done)} of {len(jobs)} rows are finished."
                    + ("" if folder is None else " Start again with the same folder to go on.")
                )
                raise HarnessError(msg) from None
    return [done[job.row["id"], job.repeat] for job in jobs]


def _question_hash(dataset: Dataset, columns: list[str]) -> str:
    if not columns:
        return dataset.question_fingerprint
    parts = ([row["id"], row["question"], [row.get(column) for column in columns]] for row in dataset.rows)
    return order_free_hash(parts)


def _check_failures(failures: int, limit: int | None, done: Mapping[Any, dict[str, Any]], folder: Path | None) -> None:
    if limit is None or failures <= limit:
        return
    fault = next(record["error"] for record in reversed(list(done.values())) if record["status"] == "error")
    allowed = parameter("max_failures", limit, python=f"max_failures={limit}")
    msg = f"{failures} of {len(done)} rows failed, more than {allowed}. The last: {told(fault)}"
    if folder is not None:
        msg += (
            f" To go on, start again with the same folder, and with {parameter('retry_failed')}, which asks the failed "
            f"ones again, or with a higher {parameter('max_failures')}."
        )
    raise HarnessError(msg)


def _check_questions(dataset: Dataset) -> None:
    if not isinstance(dataset, Dataset):
        msg = f"dataset must be a Dataset, as read_dataset gives it, but is {describe(dataset)}."
        raise InvalidTypeError(msg)
    if not len(dataset):
        msg = f"{dataset.path} holds no rows, expected at least one question."
        raise HarnessError(msg)
    if len(set(dataset.ids)) < len(dataset):
        msg = f"{dataset.path}: an id comes twice, expected each once."
        raise HarnessError(msg)
    lacking = [row["id"] for row in dataset.rows if not isinstance(row.get("question"), str)]
    if lacking:
        msg = f"{dataset.path}: {len(lacking)} of {len(dataset)} rows have no question (such as {lacking[0]})."
        raise HarnessError(msg)


def _progress(stack: ExitStack, total: int, done: int) -> Callable[[], None]:
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    if not screen.is_terminal:
        # Some versions of rich end even a bar that is not shown with a line break.
        return lambda: None
    bar = stack.enter_context(Progress(console=screen))
    task = bar.add_task("Questions", total=total, completed=done)
    return lambda: bar.advance(task)
