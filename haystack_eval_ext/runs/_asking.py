# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks a target one question and writes down what it did: the row record."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack import Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext._thoughts import keeps_thoughts, without_thoughts
from haystack_eval_ext.errors import TargetError, parameter
from haystack_eval_ext.runs._answers import AnswerPlan, plan_answer, read_function_result
from haystack_eval_ext.runs._columns import SKIPPED, THOUGHTS
from haystack_eval_ext.runs._faults import describe_fault, record_of, shows
from haystack_eval_ext.runs._names import nearest
from haystack_eval_ext.runs._plain import plain_document
from haystack_eval_ext.runs._prompts import PROMPT_STAGE, PROMPT_STAGES, prompt_documents
from haystack_eval_ext.runs._questions import QuestionPlan, Sections, plan_question
from haystack_eval_ext.runs._stores import (
    document_stores,
    in_memory_index,
    last_stages,
    may_have_more_stages,
    stages_of,
)
from haystack_eval_ext.runs._tracing import recorded
from haystack_eval_ext.runs._usage import Prices, cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack import Document

    from haystack_eval_ext.runs._recording import Recorder
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.targets import Target

# At level DEBUG it has the tracebacks of questions that failed.
_logger = logging.getLogger(__name__)


class Job(NamedTuple):
    """One question, asked the `repeat`th time, from 0."""

    row: dict[str, Any]
    repeat: int


class _Outcome(NamedTuple):
    """What came of a question; None for what the target does not give at all, which is no empty list."""

    answer: str | None
    documents: list[Document] | None
    contexts: list[str] | None
    stages: dict[str, list[Document]]
    skipped: bool = False  # the question took a way around retrieval


class Asker:
    """
    Knows how to ask a target.

    :param target: The target.
    :param dataset: The data, whose columns may feed sockets.
    :param mapping: The user's sections, before those of the pipeline's YAML.
    :param retrieved: The stage whose documents are evaluated; None: what `outputs` names, else the last one.
    :param prices: By model, for a million tokens.
    :raises TargetError: If the target cannot be fed, or has no such stage.
    """

    def __init__(
        self, target: Target, dataset: Dataset, mapping: Sections, retrieved: str | None, prices: Prices | None
    ) -> None:
        self._target = target
        self._prices = prices
        self._pipelines: list[Pipeline] = []
        self._question = QuestionPlan([], [])
        self._answer = AnswerPlan([])
        self._retrieved = retrieved
        self._stages: list[str] = []
        self._lacking = target.needs
        self._last: list[str] = []
        pipeline = target.pipeline
        if pipeline is None:
            if any(mapping.values()):
                msg = f"{parameter('sections')} is for a pipeline, but {target.name} is a function. Leave it out."
                raise TargetError(msg)
            return
        self._question = plan_question(
            pipeline, target.sections["inputs"] | mapping["inputs"], dataset, demanded=mapping["inputs"]
        )
        self._answer = plan_answer(
            pipeline, target.sections["outputs"] | mapping["outputs"], demanded=mapping["outputs"]
        )
        self._retrieved = retrieved or self._answer.documents
        if self._retrieved is not None:
            _check_stage(pipeline, self._retrieved)
        self._stages = stages_of(pipeline)
        self._pipelines = [pipeline]
        # Side by side and not joined; with a stage that the user has named there is nothing to say about them.
        self._last = last_stages(pipeline) if self._retrieved is None else []

    @property
    def columns(self) -> list[str]:
        """The columns of the data that feed sockets."""
        return sorted(set(self._question.columns.values()))

    def warm_up(self, copies: int) -> None:
        """
        Make the target ready once, before any question.

        :param copies: Pipelines of their own for so many slots; 0: one for all.
        :raises TargetError: If a component cannot be warmed up, or the pipeline not copied.
        """
        pipeline = self._target.pipeline
        if pipeline is None:
            if copies:
                msg = f"{parameter('isolate')} copies pipelines, but {self._target.name} is a function. Leave it out."
                raise TargetError(msg)
            return
        if copies:
            try:
                # Every class in it is in use here already: that is more trust than reading YAML needs.
                self._pipelines = [Pipeline.from_dict(pipeline.to_dict(), unsafe=True) for _ in range(copies)]
            except Exception as error:  # whatever a component's to_dict or from_dict does
                why = describe_fault(error, "set-up")
                msg = f"{self._target.name} cannot be copied for {parameter('isolate')}: {why}"
                raise TargetError(msg) from error
            for found in document_stores(pipeline):
                if isinstance(found.store, InMemoryDocumentStore) and in_memory_index(found.store) is None:
                    store = f"the in-memory store of {found.component}"
                    msg = f"{parameter('isolate')}: {store} has shared=False, so copies are empty."
                    raise TargetError(msg)
        try:
            for each in self._pipelines:
                each.warm_up()
        except Exception as error:  # whatever a component does
            msg = f"{self._target.name} cannot be warmed up: {describe_fault(error, 'set-up')}"
            raise TargetError(msg) from error

    def ask(self, job: Job, slot: int) -> dict[str, Any]:
        """
        Ask one question; what the target raises becomes a record, and so does an answer that cannot be read.

        :param job: The question.
        :param slot: Which of the threads asks.
        :returns: The record; the class of its error is "TargetError" where the answer cannot be read.
        """
        outcome = fault = None
        with recorded() as recorder:
            start = time.perf_counter()
            try:
                outcome = self._run(job.row, slot, recorder)
                if recorder.misfit is not None:
                    raise TargetError(recorder.misfit)  # noqa: TRY301 - becomes a record as all others do
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever the target raises, cancellations and SystemExit among it
                outcome, fault = None, self._fault(error, job)
            seconds = time.perf_counter() - start
        recorder.seal()
        self._note_others(recorder.stages)
        try:
            return self._record(job, outcome, fault, recorder) | {"seconds": seconds}
        except Exception as error:  # metadata that holds itself, or cannot be written down
            return _failed(job, self._fault(error, job), seconds)

    def _note_others(self, stages: Mapping[str, Any]) -> None:
        """Say once that one of several last rankings was chosen."""
        came = [name for name in stages if name in self._last]
        if len(came) < 2:  # noqa: PLR2004 - the usual single one
            return
        self._last = []
        _logger.warning(
            "%s has several rankings that nothing joins: %s, which runs last, is evaluated; %s as a stage only. Name "
            "another with --retrieved (retrieved).",
            self._target.name,
            came[-1],
            ", ".join(came[:-1]),
        )

    def _record(
        self, job: Job, outcome: _Outcome | None, fault: dict[str, Any] | None, recorder: Recorder
    ) -> dict[str, Any]:
        tokens = recorder.tokens()
        stages = recorder.stages if outcome is None else outcome.stages
        said = None if outcome is None else outcome.answer
        # Asked after the documents of the prompt were found, by what the generator said.
        answer = said if said is None or keeps_thoughts() else without_thoughts(said)
        thought = {} if answer == said else {THOUGHTS: True}
        return (
            _base(job, fault)
            | thought
            | ({SKIPPED: True} if outcome is not None and outcome.skipped else {})
            | {
                "answer": answer,
                "contexts": [] if outcome is None else outcome.contexts,
                "documents": [] if outcome is None else _plain_all(outcome.documents),
                "stages": {name: _plain_all(documents) for name, documents in stages.items()},
                "components": recorder.components(self._prices),
                "seconds": None,
                "tokens": tokens,
                "cost": cost(tokens, self._prices),
            }
        )

    def _run(self, row: dict[str, Any], slot: int, recorder: Recorder) -> _Outcome:
        if self._target.function is not None:
            return self._of_function(self._target.function(row["question"]), recorder)
        pipeline = self._pipelines[slot % len(self._pipelines)]
        outputs = pipeline.run(
            self._question.inputs(row["question"], row), include_outputs_from=self._answer.components
        )
        answering, answer = self._answer.take(outputs)
        stages = dict(recorder.stages)
        documents = self._final(stages)
        if not recorder.is_complete():
            return _Outcome(answer, None, None, {})
        if documents is None:
            return _Outcome(answer, None, None, stages)
        # A pipeline that only retrieves has no prompt.
        given = None if answering is None else prompt_documents(recorder.calls, answering, answer)
        skipped = not documents and not given and self._went_around(stages)
        return _Outcome(answer, *self._with_prompt(given, documents, stages), skipped)

    def _went_around(self, stages: Mapping[str, Any]) -> bool:
        """Whether none of the stages ran whose documents are evaluated; one that found nothing did run."""
        wanted = self._stages if self._retrieved in (None, *PROMPT_STAGES) else [self._retrieved]
        return not any(name in stages for name in wanted) and bool(self._stages)

    def _of_function(self, value: Any, recorder: Recorder) -> _Outcome:
        result = read_function_result(value)
        complete = recorder.is_complete()
        stages = (recorder.stages if complete else {}) | result.stages
        documents = result.documents
        if documents is None or self._retrieved:
            documents = self._final(stages)
        given = prompt_documents(recorder.calls, None, result.answer) if complete else None
        contexts = None
        if documents is not None:
            documents, contexts, stages = self._with_prompt(given, documents, stages)
        outcome = _Outcome(result.answer, documents, contexts if result.contexts is None else result.contexts, stages)
        if complete:
            self._refuse_lacking(outcome)
        return outcome

    def _with_prompt(
        self, given: list[Document] | None, documents: list[Document], stages: dict[str, list[Document]]
    ) -> tuple[list[Document], list[str], dict[str, list[Document]]]:
        """The final documents, the contexts, the stages with what reached the prompt if that is another one."""
        if given is None:
            return documents, _texts(documents), stages
        name = next(each for each in PROMPT_STAGES if each not in stages)
        if stages and _ids(given) != _ids(next(reversed(stages.values()))):
            stages = {**stages, name: given}
        if self._retrieved == name:
            documents = given
        return documents, _texts(given), stages

    def _refuse_lacking(self, outcome: _Outcome) -> None:
        """Refuse first answers of a function that lack what the evaluation needs; later a metric alone lacks it."""
        lacking = [name for name in self._lacking if getattr(outcome, name) is None]
        if lacking:
            msg = (
                f"{self._target.name} gave no {' and no '.join(sorted(lacking))}, which the evaluation needs. Return "
                'it too, as in {"answer": ..., "documents": [...]}, with [] where nothing was found; or leave out the '
                "evaluators of it."
            )
            raise TargetError(msg)
        self._lacking = frozenset()

    def _final(self, stages: dict[str, list[Document]]) -> list[Document] | None:
        """The documents that are evaluated; None if there is nothing that could give any."""
        name = self._retrieved
        # Where the prompt is no stage of its own, the last stage's documents reached it.
        if name is None or (name in PROMPT_STAGES and name not in stages):
            return next(reversed(stages.values()), [] if self._stages else None)
        if name not in stages and self._target.function is not None:
            msg = f"retrieved: {self._target.name} gave no stage {name!r}{nearest(name, stages)}"
            raise TargetError(msg)
        # A question that took a way around a stage has nothing retrieved there.
        return stages.get(name, [] if name in self._stages else None)

    def _fault(self, error: BaseException, job: Job) -> dict[str, Any]:
        _logger.debug("The question of row %s failed.", job.row["id"], exc_info=error if shows("question") else None)
        return record_of(error)


def given_up(job: Job, timeout: float) -> dict[str, Any]:
    """
    Make the record of a question that was given up.

    :param job: The question.
    :param timeout: How long it had, in seconds.
    :returns: The record.
    """
    return _failed(
        job, {"class": "TimeoutError", "component": None, "reason": f"No answer within {timeout:g} s."}, timeout
    )


def _failed(job: Job, fault: dict[str, Any], seconds: float) -> dict[str, Any]:
    nothing: dict[str, Any] = {"answer": None, "contexts": [], "documents": [], "stages": {}, "components": []}
    return _base(job, fault) | nothing | {"seconds": seconds, "tokens": {}, "cost": None}


def _base(job: Job, fault: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": job.row["id"],
        "repeat": job.repeat,
        "status": "ok" if fault is None else "error",
        "error": fault,
        "question": job.row["question"],
    }


def _check_stage(pipeline: Pipeline, name: str) -> None:
    """Refuse an unknown stage; those of an agent's tools cannot be known before."""
    names = [*stages_of(pipeline), PROMPT_STAGE]
    if name not in names and not may_have_more_stages(pipeline):
        msg = f"retrieved: the pipeline has no stage {name!r}{nearest(name, names)}"
        raise TargetError(msg)


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.id for document in documents]


def _plain_all(documents: Sequence[Document] | None) -> list[dict[str, Any]] | None:
    return None if documents is None else [plain_document(document) for document in documents]


def _texts(documents: Sequence[Document]) -> list[str]:
    return [document.content or "" for document in documents]
