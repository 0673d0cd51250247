# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A judge whose task, inputs and outputs the user names. Source: Zheng et al., Judging LLM-as-a-Judge with MT-Bench and
Chatbot Arena, NeurIPS 2023.
"""

import json
import math
from collections import Counter
from typing import Any

from haystack import component, logging
from haystack.utils import serialize_type

from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import Form, object_schema, respelled
from haystack_eval_ext.judged._items import read_examples
from haystack_eval_ext.judged._llm_inputs import as_json, check_outputs, read_inputs, socket_of
from haystack_eval_ext.judged._llm_outputs import Choices, Implied, Output, Typed
from haystack_eval_ext.judged._llm_parameters import implied_score, key_of, read_outputs
from haystack_eval_ext.judged._outcomes import Outcome
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._prompts import Prompt, check_instructions, languages, own_prompt
from haystack_eval_ext.judged._stock_methods import StockMethods

logger = logging.getLogger(__name__)

_NO_NUMBER = "the output 'score' was no number from 0 to 1; say in output_values what it may be"
_OTHER_SCALE = (
    "a value of the output 'score' lies outside 0 to 1, so that no row's is on that scale for sure; say in "
    "output_values what it may be, such as {'score': {'minimum': 1, 'maximum': 5}}"
)
_NEVER_SCORES = (
    "This LLMEvaluator gives results and no score: name the output that is the score in score_output, and what it may "
    "be in output_values."
)


@component
class LLMEvaluator(StockMethods, JudgedEvaluator):
    """
    Judges rows by instructions of your own; the score is an output that you name. From 0 to 1, higher is better.

    Each row of the inputs goes to the judge as JSON, and its reply must have the outputs, each with a value that
    ``output_values`` allows; a reply that has not is asked for again.

    With ``score_output`` that output is the row's score: a number between bounds by its place between them (3 of 1 to 5
    is 0.5), one of several numbers likewise, a word by ``score_values``. Without it an output called "score" is the
    score, as ``output_values`` says what it may be, else where it is a number from 0 to 1, or yes or no; a row where it
    is none has no score, and no row has where one row's is a number outside, such as 5. Without such an output there is
    no score: `score` and `individual_scores` are NaN, the status of a row that was judged is "undefined",
    ``on_undefined`` decides nothing, and a run refuses the component before it asks.

    Calls per row: one. With several votes words and listed numbers are decided by the majority, numbers between bounds
    by the mean, and texts are those of the first vote that agrees best with what was decided.

    `results` has the outputs of each row under their names and nothing else, and None for a row that failed. What else
    is known of a row stands in `summary`: under `rows` the `usage` of each, the `agreement` of its votes and the
    `reply` that could not be read; under `counts` how often each value of the outputs with listed values came.

    Documents reach the judge as their contents, messages as their texts, inside a list with their roles.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import LLMEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = LLMEvaluator(
        instructions="Is the answer polite? Give a reason in one sentence, then the verdict.",
        inputs=[("predicted_answers", list[str])],
        outputs=["reason", "verdict"],
        examples=[
            {
                "inputs": {"predicted_answers": "Go and find out yourself."},
                "outputs": {"reason": "It sends the reader away.", "verdict": "rude"},
            }
        ],
        output_values={"reason": "text", "verdict": ["polite", "neutral", "rude"]},
        score_output="verdict",
        score_values={"polite": 1, "neutral": 0.5, "rude": 0},
        chat_generator=MockChatGenerator('{"reason": "It greets the reader.", "verdict": "polite"}'),
    )
    result = evaluator.run(predicted_answers=["Good morning! The library opens at nine."])
    print(result["score"], result["results"])
    # 1.0 [{'reason': 'It greets the reader.', 'verdict': 'polite'}]
    ```
    """

    def __init__(
        self,
        instructions: str,
        inputs: list[tuple[str, Any]],
        outputs: list[str],
        examples: Examples,
        progress_bar: bool = True,
        *,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        output_values: dict[str, Any] | None = None,
        score_output: str | None = None,
        score_values: dict[Any, float | None] | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an LLMEvaluator component.

        Instructions, examples and rows reach the judge as they are: no template engine sees them.

        :param instructions: The judge's task.
        :param inputs: Names and types of the inputs: ``[("questions", list[str]), ("contexts", list[list[str]])]``.
            Types are lists with one entry for each row, or their names as text ("list[str]").
        :param outputs: Names of the outputs, which the judge gives in this order: put a reason before its verdict.
        :param examples: Few-shot examples, each a dictionary with "inputs" and "outputs", which have every input and
            output by name; [] for none.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error", and None in `results`.
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param output_values: What outputs may be, by name: a list of the possible values (words, numbers, or True and
            False), bounds (``{"minimum": 0, "maximum": 10}``), or one of "text", "texts", "number", "boolean". An
            output that is not named may be anything, but for a judge that is told a JSON schema, which has no room
            for objects in it.
        :param score_output: The output that is the score. If output_values does not say what it may be, it is a number
            from 0 to 1, and a reply with another value is asked again. None: the output called "score", if its values
            are numbers, and those of the examples lie between 0 and 1; else there is no score.
        :param score_values: The number from 0 to 1 of each listed value of score_output, such as
            ``{"pass": 1, "fail": 0}``; None as number: no score, as ``on_undefined`` says. May be left out if all
            values are numbers: then the lowest is 0 and the highest 1. In YAML and JSON, whose keys are texts, numbers
            and flags stand there as JSON writes them: ``{"true": 1, "false": 0}``.
        :param language: Language of what surrounds the instructions, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row counts as whose verdict has no score: "zero", "nan" (left out of the mean) or
            "raise".
        :raises ValueError: If a parameter does not fit; the message names the entry.
        :raises TypeError: If something is of the wrong type.
        """
        check_instructions(instructions)
        check_choice("language", language, languages())
        self.inputs = read_inputs(inputs)
        self._inputs = tuple(name for name, _ in self.inputs)
        self._sockets = {name: socket_of(kind) for name, kind in self.inputs}
        check_outputs(outputs)
        self.outputs = outputs
        self.output_values = output_values
        self.score_output = score_output
        self._outputs = read_outputs(outputs, output_values, score_output, score_values)
        self._scored = score_output or implied_score(self._outputs, examples)
        self._has_score = self._scored is not None
        if score_output is not None:
            self._undefined_reason = "score_values gives the verdict no number"
        elif self._has_score:
            self._undefined_reason = _NO_NUMBER
        else:
            self._undefined_reason = "no score_output is named"
            self.never_scores = "no output is named in score_output whose values are numbers, or have numbers"
            logger.warning(_NEVER_SCORES)
        scored = self._outputs.get(score_output or "")
        self.score_values = scored.scores if isinstance(scored, Choices) else None
        # No super(): the decorator rebuilds the class.
        JudgedEvaluator.__init__(
            self,
            examples,
            progress_bar,
            raise_on_failure,
            chat_generator,
            instructions=instructions,
            language=language,
            policy=policy,
            on_undefined=on_undefined,
        )

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component.

        :returns: Haystack's dictionary form; the types of the inputs stand there by their names, all keys are texts.
        """
        data = JudgedEvaluator.to_dict(self)
        parameters = data["init_parameters"]
        # A subclass may have no such parameters.
        if "inputs" in parameters:
            parameters["inputs"] = [[name, serialize_type(kind)] for name, kind in self.inputs]
        if parameters.get("score_values") is not None:
            parameters["score_values"] = {key_of(choice): score for choice, score in parameters["score_values"].items()}
        return data

    def _make_prompt(self) -> Prompt:
        pairs = read_examples(self.examples, lambda inputs, outputs: (inputs, outputs))
        if pairs is None:
            msg = "examples must be a list of dictionaries with 'inputs' and 'outputs', [] for none, but is None."
            raise InvalidValueError(msg)
        for number, (inputs, outputs) in enumerate(pairs):
            place = f"examples[{number}]"
            _check_keys(f"{place}['inputs']", inputs, self._inputs)
            _check_keys(f"{place}['outputs']", outputs, self.outputs)
            for name, value in outputs.items():
                try:
                    self._outputs[name].read(value)
                except ReplyError as fault:
                    msg = f"{place}['outputs'][{name!r}] does not fit output_values: {fault.reason}."
                    raise InvalidValueError(msg) from None
        reply = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {one.shown}" for name, one in self._outputs.items())
        instructions = str(self.instructions)
        return own_prompt("llm", self.language, instructions=instructions, reply=f"{{{reply}}}", examples=pairs)

    async def _judge(self, rows: list[dict[str, Any]]) -> list[Outcome]:
        outcomes = await JudgedEvaluator._judge(self, rows)
        name = self._scored or ""
        output = self._outputs.get(name)
        judged = [outcome.details["outputs"] for outcome in outcomes if "outputs" in outcome.details]
        if not isinstance(output, Implied) or not any(output.is_on_another_scale(each[name]) for each in judged):
            return outcomes
        return [
            outcome._replace(score=math.nan, status="undefined", error=_OTHER_SCALE)
            if "outputs" in outcome.details
            else outcome
            for outcome in outcomes
        ]

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        votes = await ask.votes(self._prompt, row, _form(self._outputs))
        outputs, agreement = _decide(self._outputs, votes)
        name = self._scored
        score = math.nan if name is None else self._outputs[name].as_score(outputs[name])
        return Judged(score, {"outputs": outputs, "agreement": agreement})

    @property
    def _rule_version(self) -> int:
        """One higher since a score of which nothing is said is on one scale in all rows."""
        return (2 if self._compares else 1) + isinstance(self._outputs.get(self._scored or ""), Implied)

    @property
    def _policy_of_gaps(self) -> OnUndefined:
        """What is no number between 0 and 1 is on another scale: not the 0 of this one."""
        return "nan" if self.score_output is None and self.on_undefined == "zero" else self.on_undefined

    def _entry(self, outcome: Any, score: float) -> Any:  # noqa: ARG002 - the keys of an entry are the user's
        return outcome.details.get("outputs")

    def _summary(self, outcomes: list[Any], rows: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        judged = [outcome.details["outputs"] for outcome in outcomes if "outputs" in outcome.details]
        counts = {}
        for name, output in self._outputs.items():
            if isinstance(output, Choices):
                came = Counter(str(entry[name]) for entry in judged)
                counts[name] = {str(choice): came[str(choice)] for choice in output.choices}
        entries = []
        for outcome in outcomes:
            known = {
                key: outcome.details[key] for key in ("agreement", "reply") if outcome.details.get(key) is not None
            }
            entries.append({"usage": outcome.usage.to_dict(), **known})
        return {"counts": counts, "rows": entries}


def _check_keys(place: str, given: dict[str, Any], wanted: Any) -> None:
    for name in wanted:
        if name not in given:
            msg = f"{place} lacks {name!r}."
            raise InvalidValueError(msg)
    for name, value in given.items():
        if name not in wanted:
            msg = f"{place} has {name!r}, but there are only {', '.join(map(repr, wanted))}."
            raise InvalidValueError(msg)
        if as_json(value, f"{place}[{name!r}]") != value:
            msg = f"{place}[{name!r}] must be a JSON value: texts, numbers, lists and dictionaries."
            raise InvalidValueError(msg)


def _form(outputs: dict[str, Output]) -> Form[dict[str, Any]]:
    """The form of a reply: an object with the outputs; what else stands in it is passed over."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            msg = "it was no object"
            raise ReplyError(msg)
        value = respelled(value, list(outputs))
        found = {}
        for name, output in outputs.items():
            if name not in value:
                msg = f"the key {name!r} is missing"
                raise ReplyError(msg)
            try:
                found[name] = output.read(value[name])
            except ReplyError as fault:
                msg = f"the key {name!r}: {fault.reason}"
                raise ReplyError(msg) from None
        return found

    return Form("outputs", object_schema({name: output.schema for name, output in outputs.items()}), read)


def _decide(outputs: dict[str, Output], votes: list[dict[str, Any]]) -> tuple[dict[str, Any], float | None]:
    """What the votes say together, and the mean share of votes for a listed value that won."""
    if len(votes) == 1:
        return votes[0], None
    texts = {name for name, output in outputs.items() if isinstance(output, Typed) and output.kind != "number"}
    merged = {
        name: output.merged([vote[name] for vote in votes]) for name, output in outputs.items() if name not in texts
    }
    best = max(votes, key=lambda vote: sum(vote[name] == value for name, value in merged.items()))
    listed = [name for name, output in outputs.items() if isinstance(output, Choices)]
    shares = [sum(vote[name] == merged[name] for vote in votes) / len(votes) for name in listed]
    agreement = sum(shares) / len(shares) if shares else None
    return {name: best[name] if name in texts else merged[name] for name in outputs}, agreement
