# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What every judged evaluator shares: rows in, the judge's verdicts on each, scores and accounts out."""

import asyncio
import inspect
import math
import os
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from haystack import component, default_from_dict, default_to_dict, logging
from haystack.core.serialization import component_to_dict

from haystack_eval_ext._parameters import check_flag
from haystack_eval_ext._progress import progress
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import (
    FailedRowsError,
    OnUndefined,
    UndefinedScore,
    aggregate,
    check_on_undefined,
    list_rows,
    report_undefined,
)
from haystack_eval_ext.judged._account import Budget, Usage, sum_of
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._failures import JudgeError, NotRunError
from haystack_eval_ext.judged._generator import check_generator
from haystack_eval_ext.judged._items import read_examples
from haystack_eval_ext.judged._judge import Judge, RowAsk
from haystack_eval_ext.judged._limits import submit, wait
from haystack_eval_ext.judged._plan import Plan, Planner, RowPlan, Unknown
from haystack_eval_ext.judged._policy import JudgePolicy, read_policy
from haystack_eval_ext.judged._prompts import Prompt, load_prompt
from haystack_eval_ext.judged._sockets import SOCKETS, Socket, judged_rows

logger = logging.getLogger(__name__)

#: Names the model of the judge that is taken when no generator is given.
MODEL_VARIABLE = "HAYSTACK_EVAL_JUDGE_MODEL"
#: A row as a metric gets it: the value of each socket.
Row = Mapping[str, Any]
#: Examples as components take them: "inputs" and "outputs" of each.
Examples = list[dict[str, Any]]


class Judged(NamedTuple):
    """
    What a metric says of a row.

    :param score: The score; NaN where the definition gives none.
    :param details: What the score was made of: the row's entry of `results`.
    """

    score: float
    details: dict[str, Any]


class UndefinedRowsError(UndefinedScore):
    """Rows are undefined and ``on_undefined`` is "raise". ``result`` holds the outputs; None if nothing was asked."""

    def __init__(self, message: str, result: dict[str, Any] | None = None) -> None:
        """
        Create the error.

        :param message: Which rows, and why.
        :param result: What ``run`` would have returned.
        """
        super().__init__(message)
        self.result = result


class _Outcome(NamedTuple):
    score: float
    details: dict[str, Any]
    status: str
    error: str | None
    usage: Usage
    meta: dict[str, Any]


class JudgedEvaluator:
    """
    An evaluator whose rows an LLM judges; a metric adds :meth:`_judge_row`.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    #: The sockets, from ``SOCKETS``.
    _inputs: tuple[str, ...] = ()
    #: Sockets that may be left out.
    _optional: tuple[str, ...] = ()
    #: How each socket is read.
    _sockets: Mapping[str, Socket] = SOCKETS
    #: Name of the prompt's file.
    _prompt_name: str = ""
    #: Why a row can be undefined, for messages.
    _undefined_reason: str = "nothing to judge"
    #: Calls that a row may make after its first replies came, at most, for each vote.
    _later_calls: int = 0
    #: Keys of `results` in a row that failed.
    _empty_details: Mapping[str, Any] = {}
    #: Whether rows have a score at all. If not, it is NaN, and ``on_undefined`` has nothing to decide.
    _has_score: bool = True

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create the component.

        :param examples: Few-shot examples in place of the prompt's own, each a dictionary with "inputs" and "outputs";
            [] for none.
        :param progress_bar: Whether to show a progress bar; never where standard error is no terminal, or the
            environment variable TQDM_DISABLE is set.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator of Haystack. None: OpenAI's, with its default model and the
            key in OPENAI_API_KEY.
        :param instructions: The task in place of the prompt's own; what surrounds it, and the form of the reply, stay.
        :param language: Language of the prompts, "en" or "ja". Texts are judged in their own language either way.
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row counts as whose score the definition does not give: "zero", "nan" (left out of
            the mean) or "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_on_undefined(on_undefined)
        check_flag("progress_bar", progress_bar)
        check_flag("raise_on_failure", raise_on_failure)
        if instructions is not None:
            check_instructions(instructions)
        self.policy = read_policy(policy)
        self.examples = examples
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self.instructions = instructions
        self.language = language
        self.on_undefined: OnUndefined = on_undefined
        self.chat_generator = default_generator() if chat_generator is None else chat_generator
        check_generator(self.chat_generator)
        #: A budget shared with other evaluators, which a caller may set; None: the policy's own for each run.
        self.budget: Budget | None = None
        self._prompt = self._make_prompt()
        for name in (*self._inputs, *self._optional):
            required = {} if name in self._inputs else {"default": None}
            component.set_input_type(self, name, self._sockets[name].type, **required)

    @classmethod
    def sockets(cls) -> dict[str, tuple[Any, bool]]:
        """
        The inputs of the class.

        :returns: By name the type, and whether it must be given.
        """
        return {name: (SOCKETS[name].type, name in cls._inputs) for name in (*cls._inputs, *cls._optional)}

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component.

        :returns: Haystack's dictionary form, with the generator's own in it; secrets stay references.
        """
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return default_to_dict(self, **{name: _plain(getattr(self, name), name) for name in names})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """
        Make a component from its dictionary, which stays as it is.

        :param data: What :meth:`to_dict` returned.
        :returns: The component.
        """
        # Some generators' from_dict changes what it is given.
        return default_from_dict(cls, deepcopy(data))

    def plan(self, **inputs: Any) -> Plan:
        """
        Tell what a run would ask, without asking.

        :param inputs: What :meth:`run` would be given.
        :returns: Rows, calls, requests that the cache answers, estimated prompt tokens, and their cost if the policy
            has prices.
        :raises ValueError: As :meth:`run` for bad input.
        :raises TypeError: As :meth:`run` for bad input.
        """
        return wait(self._plan(judged_rows(self._inputs, self._optional, inputs, self._sockets)))

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        results=list[dict[str, Any]],
        errors=list[str | None],
        meta=list[dict[str, Any]] | None,
        usage=dict[str, Any],
        summary=dict[str, Any],
    )
    def run(self, **inputs: Any) -> dict[str, Any]:
        """
        Judge each row.

        :param inputs: The component's sockets, of these:
        :param questions: What was asked: a text for each row.
        :param contexts: What the generator was given: for each row a list of texts or Documents.
        :param predicted_answers: The answer of each row: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :param other_answers: Likewise, the answers of another system to the same questions.
        :param ground_truth_answers: The reference of each row, or a list of references.
        :param answerable: Whether the contexts answer the question, for each row.
        :returns: A dictionary with
            - `score`: the mean of the individual scores, without the rows that failed;
            - `individual_scores`: a float for each row, in the order given; NaN for a row that failed;
            - `statuses`: "scored", "undefined", "error" or "not_run" (the budget was spent) for each row;
            - `results`: for each row what the score was made of, with `score`, `usage`, and `status` in the words of
              Haystack's own evaluators: "evaluated" (scored or undefined), "error" or "not_run";
            - `errors`: for each row why it has no score, else None;
            - `meta`: for each row what the generator said about its last reply; None if it never said anything;
            - `usage`: calls, retries, cache hits, tokens (None: unknown), cost and models of the run;
            - `summary`: further figures over all rows, which the class names; often none.
        :raises ValueError: If there are no rows, or the inputs differ in length.
        :raises TypeError: If something is of the wrong type; the message names input and row.
        :raises UndefinedScore: If a row is undefined and ``on_undefined`` is "raise": before any call if that is
            plain without the judge, else with all rows in the error's ``result``.
        :raises FailedRowsError: If rows could not be judged and ``raise_on_failure`` is set; its ``result`` has all
            others.
        """
        rows = judged_rows(self._inputs, self._optional, inputs, self._sockets)
        return self._finish(wait(self._judge(rows)), rows)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        results=list[dict[str, Any]],
        errors=list[str | None],
        meta=list[dict[str, Any]] | None,
        usage=dict[str, Any],
        summary=dict[str, Any],
    )
    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """
        Judge each row; the event loop of the caller stays free.

        :param inputs: As for :meth:`run`.
        :returns: The same outputs as :meth:`run`.
        """
        rows = judged_rows(self._inputs, self._optional, inputs, self._sockets)
        return self._finish(await asyncio.wrap_future(submit(self._judge(rows))), rows)

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        """Ask what must be asked about a row, and do the arithmetic."""
        raise NotImplementedError

    def _convert_example(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> tuple[Any, Any]:
        """An example of the user's as data and reply of the prompt."""
        return inputs, outputs

    def _make_prompt(self) -> Prompt:
        prompt = load_prompt(self._prompt_name, self.language)
        return prompt.changed(self.instructions, read_examples(self.examples, self._convert_example))

    async def _judge(self, rows: list[dict[str, Any]]) -> list[_Outcome]:
        with Judge(self.chat_generator, self.policy, self.budget) as judge:
            if self.on_undefined == "raise" and self._has_score:
                await self._refuse_undefined(judge, rows)
            bar = progress(type(self).__name__, len(rows), shown=self.progress_bar)

            async def one(row: dict[str, Any]) -> _Outcome:
                outcome = await self._outcome(RowAsk(judge), row)
                bar.update()
                return outcome

            with bar:
                tasks = [asyncio.ensure_future(one(row)) for row in rows]
                try:
                    outcomes = await asyncio.gather(*tasks)
                except BaseException:
                    for task in tasks:
                        task.cancel()
                    raise
        if judge.broken is not None:
            # It was prepared before it saw any row, so that its message holds no text of a user's.
            msg = f"The chat generator could not be prepared: {judge.broken} Nothing was asked."
            raise ValueError(msg) from judge.broken
        return outcomes

    async def _refuse_undefined(self, judge: Judge, rows: list[dict[str, Any]]) -> None:
        """Find rows that are undefined whatever the judge would say, before money is spent."""
        planner = Planner(judge)
        undefined = []
        for row in rows:
            try:
                undefined.append(math.isnan((await self._judge_row(RowPlan(planner), row)).score))
            except UndefinedScore:
                undefined.append(True)
            except Exception:
                # It must be asked about; or it fails, which the run itself tells.
                undefined.append(False)
        self._report_undefined(np.array(undefined, dtype=np.bool_), None)

    async def _outcome(self, ask: RowAsk, row: dict[str, Any]) -> _Outcome:
        try:
            score, details = await self._judge_row(ask, row)
        except UndefinedScore as reason:
            return _Outcome(
                math.nan, deepcopy(dict(self._empty_details)), "undefined", str(reason), ask.usage, ask.meta
            )
        except JudgeError as error:
            status = "not_run" if isinstance(error, NotRunError) else "error"
            details = deepcopy(dict(self._empty_details)) | ({} if error.reply is None else {"reply": error.reply})
            return _Outcome(math.nan, details, status, error.reason, ask.usage, ask.meta)
        except Exception as error:
            # Whatever it was: it costs this row, not the others, which are paid for. Its message may quote a text.
            why = f"{type(error).__name__} while the row was judged, which is a fault of the evaluator"
            return _Outcome(math.nan, deepcopy(dict(self._empty_details)), "error", why, ask.usage, ask.meta)
        if math.isnan(score):
            return _Outcome(math.nan, details, "undefined", self._undefined_reason, ask.usage, ask.meta)
        return _Outcome(float(score), details, "scored", None, ask.usage, ask.meta)

    def _finish(self, outcomes: list[_Outcome], rows: list[dict[str, Any]]) -> dict[str, Any]:
        values = np.array([outcome.score for outcome in outcomes], dtype=np.float64)
        missing = np.array([outcome.status in ("error", "not_run") for outcome in outcomes], dtype=np.bool_)
        undefined = np.isnan(values) & ~missing
        scores = aggregate(values, self.on_undefined if self._has_score else "nan", missing)
        statuses = [
            outcome.status if outcome.status in ("error", "not_run") else status
            for outcome, status in zip(outcomes, scores.statuses, strict=True)
        ]
        result = {
            "score": scores.score,
            "individual_scores": scores.individual_scores,
            "statuses": statuses,
            "results": [
                self._entry(outcome, score) for outcome, score in zip(outcomes, scores.individual_scores, strict=True)
            ],
            "errors": [outcome.error for outcome in outcomes],
            "meta": [outcome.meta for outcome in outcomes] if any(outcome.meta for outcome in outcomes) else None,
            "usage": sum_of(outcome.usage.to_dict() for outcome in outcomes),
            "summary": self._summary(outcomes, rows),
        }
        if self._has_score:
            self._report_undefined(undefined, result)
        self._report(outcomes, result)
        return result

    def _report_undefined(self, undefined: Any, result: dict[str, Any] | None) -> None:
        name = type(self).__name__
        try:
            report_undefined(undefined, self.on_undefined, metric=name, reason=self._undefined_reason)
        except UndefinedScore as error:
            raise UndefinedRowsError(str(error), result) from None

    def _entry(self, outcome: _Outcome, score: float) -> Any:
        """A row's entry of `results`; its status is in the words that the stock evaluators use."""
        status = outcome.status if outcome.status in ("error", "not_run") else "evaluated"
        return {**outcome.details, "score": score, "status": status, "usage": outcome.usage.to_dict()}

    def _summary(self, outcomes: list[_Outcome], rows: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        """Further figures over all rows."""
        return {}

    def _report(self, outcomes: list[_Outcome], result: dict[str, Any]) -> None:
        """Tell once per run which rows were not judged and why, or raise the error that says so."""
        unreached, failed = (
            [row for row, outcome in enumerate(outcomes) if outcome.status == status] for status in ("not_run", "error")
        )
        found = []
        if failed:
            reasons = Counter(outcomes[row].error for row in failed)
            why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(3))
            found.append(
                f"{len(failed)} of {len(outcomes)} rows could not be judged: {list_rows(failed)}. Reasons: {why}."
            )
        if unreached:
            found.append(
                f"{len(unreached)} of {len(outcomes)} rows were not run, since {outcomes[unreached[0]].error}: "
                f"{list_rows(unreached)}. With a cache_path a later run goes on from there."
            )
        if not found:
            return
        told = f"{type(self).__name__}: {' '.join(found)}"
        if failed and self.raise_on_failure:
            msg = (
                f"{told} The other rows are in this error's `result`; raise_on_failure=False returns it, with NaN for "
                "the failed ones."
            )
            raise FailedRowsError(msg, result)
        logger.warning("{told} They are left out of the mean.", told=told)

    async def _plan(self, rows: list[dict[str, Any]]) -> Plan:
        # Planning needs no reply, so that a missing cache file is no fault.
        policy = replace(self.policy, offline=False)
        if policy.cache_path is not None and not os.path.isfile(os.path.expanduser(policy.cache_path)):
            policy = replace(policy, cache_path=None)
        with Judge(self.chat_generator, policy, Budget()) as judge:
            planner = Planner(judge)
            for row in rows:
                try:
                    await self._judge_row(RowPlan(planner), row)
                except Unknown as end:
                    planner.count_later(self._later_calls * self.policy.votes, int(end.args[0]))
                except Exception:  # noqa: S112 - undefined, or it fails: nothing is asked, and the run tells why
                    continue
            return planner.plan(len(rows), getattr(self.chat_generator, "model", None))


def default_generator() -> Any:
    """
    The judge that is taken when none is named.

    :returns: OpenAI's chat generator, which leaves repeating to the judge, with a fixed seed as the stock evaluators
        have, and the model that the environment variable HAYSTACK_EVAL_JUDGE_MODEL names, if it does.
    """
    from haystack.components.generators.chat import OpenAIChatGenerator

    named = os.environ.get(MODEL_VARIABLE)
    model: dict[str, Any] = {"model": named} if named else {}
    return OpenAIChatGenerator(max_retries=0, generation_kwargs={"seed": 42}, **model)


def check_instructions(instructions: Any) -> None:
    """
    Check the parameter ``instructions``, where there is one.

    :param instructions: What came.
    :raises ValueError: If it is blank.
    :raises TypeError: If it is no text.
    """
    if not isinstance(instructions, str):
        msg = f"instructions must be a text that is not blank, but is {describe(instructions)}."
        raise TypeError(msg)
    if not instructions.strip():
        msg = "instructions must be a text that is not blank."
        raise ValueError(msg)


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, JudgePolicy):
        return value.to_dict()
    return component_to_dict(value, name) if hasattr(value, "to_dict") else deepcopy(value)
