# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What every judged evaluator shares: rows in, the judge's verdicts on each, scores and accounts out."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from haystack import component

from haystack_eval_ext._parameters import check_flag
from haystack_eval_ext._scores import OnUndefined, check_on_undefined
from haystack_eval_ext._serialization import Serialized
from haystack_eval_ext.judged._account import Budget
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._generator import check_generator, default_generator
from haystack_eval_ext.judged._items import read_examples
from haystack_eval_ext.judged._lifecycle import Lifecycle
from haystack_eval_ext.judged._limits import submit, wait
from haystack_eval_ext.judged._outcomes import Outcome, outputs_of
from haystack_eval_ext.judged._plan import Plan
from haystack_eval_ext.judged._policy import JudgePolicy, read_policy
from haystack_eval_ext.judged._prompts import Prompt, check_instructions, load_prompt
from haystack_eval_ext.judged._running import judge_rows, plan_rows
from haystack_eval_ext.judged._sockets import SOCKETS, Socket, judged_rows

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


class JudgedEvaluator(Lifecycle, Serialized):
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
    #: A budget shared with other evaluators, which a caller may set; None: the policy's own for each run.
    budget: Budget | None = None
    #: Whether rows have a score at all. If not, it is NaN, and ``on_undefined`` has nothing to decide.
    _has_score: bool = True
    #: Why no row can ever have a score, for a run, which needs one; None if rows can.
    never_scores: str | None = None

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
        self._instructions = instructions
        self.language = language
        self.on_undefined: OnUndefined = on_undefined
        self.chat_generator = default_generator() if chat_generator is None else chat_generator
        check_generator(self.chat_generator)
        self._prompt = self._make_prompt()
        declared = getattr(self, "__haystack_input__", {})
        for name in (*self._inputs, *self._optional):
            if name not in declared:  # a second one would lose its connections
                required = {} if name in self._inputs else {"default": None}
                component.set_input_type(self, name, self._sockets[name].type, **required)

    @property
    def instructions(self) -> str:
        """The judge's task: the prompt's own, unless another was given."""
        return self._standard_prompt().instructions if self._instructions is None else self._instructions

    @instructions.setter
    def instructions(self, instructions: str | None) -> None:
        self._instructions = instructions

    def _parameter(self, name: str) -> Any:
        return self._instructions if name == "instructions" else getattr(self, name)

    @classmethod
    def sockets(cls) -> dict[str, tuple[Any, bool]]:
        """
        The inputs of the class.

        :returns: By name the type, and whether it must be given.
        """
        return {name: (SOCKETS[name].type, name in cls._inputs) for name in (*cls._inputs, *cls._optional)}

    def plan(self, **inputs: Any) -> Plan:
        """
        Tell what a run would ask, without asking.

        :param inputs: What :meth:`run` would be given.
        :returns: Rows, calls, requests that the cache answers, estimated prompt tokens, and their cost if the policy
            has prices.
        :raises ValueError: As :meth:`run` for bad input.
        :raises TypeError: As :meth:`run` for bad input.
        """
        self._follow()
        return wait(plan_rows(self, judged_rows(self._inputs, self._optional, inputs, self._sockets)))

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
            - `usage`: calls, retries, cache hits, tokens (None: unknown), cost and models of the run, and the tokens of
              embedders apart;
            - `summary`: further figures over all rows, which the class names; often none.
        :raises ValueError: If there are no rows, or the inputs differ in length.
        :raises TypeError: If something is of the wrong type; the message names input and row.
        :raises UndefinedScore: If a row is undefined and ``on_undefined`` is "raise": before any call if that is
            plain without the judge, else with all rows in the error's ``result``.
        :raises FailedRowsError: If rows could not be judged and ``raise_on_failure`` is set; its ``result`` has all
            others.
        """
        self._follow()
        rows = judged_rows(self._inputs, self._optional, inputs, self._sockets)
        return outputs_of(self, wait(self._judge(rows)), rows)

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
        self._follow()
        rows = judged_rows(self._inputs, self._optional, inputs, self._sockets)
        return outputs_of(self, await asyncio.wrap_future(submit(self._judge(rows))), rows)

    @property
    def _compares(self) -> bool:
        """Whether the judge is shown references: a row without one has nothing to be judged by."""
        name = "ground_truth_answers"
        return name in self._inputs and self._sockets.get(name) is SOCKETS[name]

    @property
    def _policy_of_gaps(self) -> OnUndefined:
        """What a row without a score counts as."""
        return self.on_undefined

    @property
    def _rule_version(self) -> int:
        """Since 2 a row without a reference is not run."""
        return 2 if self._compares else 1

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        """Ask what must be asked about a row, and do the arithmetic."""
        raise NotImplementedError

    def _convert_example(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> tuple[Any, Any]:
        """An example of the user's as data and reply of the prompt."""
        return inputs, outputs

    def _standard_prompt(self) -> Prompt:
        return load_prompt(self._prompt_name, self.language)

    def _make_prompt(self) -> Prompt:
        return self._standard_prompt().changed(self._instructions, read_examples(self.examples, self._convert_example))

    async def _judge(self, rows: list[dict[str, Any]]) -> list[Outcome]:
        return await judge_rows(self, rows)

    def _entry(self, outcome: Outcome, score: float) -> Any:
        """A row's entry of `results`; its status is in the words that the stock evaluators use."""
        status = outcome.status if outcome.status in ("error", "not_run") else "evaluated"
        return {**outcome.details, "score": score, "status": status, "usage": outcome.usage.to_dict()}

    def _summary(self, outcomes: list[Outcome], rows: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        """Further figures over all rows."""
        return {}
