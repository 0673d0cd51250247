# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of the user's own, on an integer scale. Source: Kim et al., Prometheus, ICLR 2024 (arXiv:2310.08491)."""

import re
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from haystack import component

from haystack_eval_ext._parameters import check_choice, check_flag
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError, UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import Form, object_schema, read_choice, respelled
from haystack_eval_ext.judged._items import shown
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._prompts import Prompt, to_json

_Input = Literal["questions", "contexts", "predicted_answers", "ground_truth_answers"]
_INPUTS = ("questions", "contexts", "predicted_answers", "ground_truth_answers")
_DEFAULT_INPUTS = ("questions", "predicted_answers")
_DEFAULT_SCALE = (1, 5)
# No judge tells more apart, and some servers refuse long lists of allowed values.
_LARGEST_STEP_COUNT = 100
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,8}")


class _Grade(NamedTuple):
    level: int
    reason: str | None


@component
class RubricEvaluator(JudgedEvaluator):
    """
    Scores how well a row meets criteria or a rubric of your own. From 0 to 1, higher is better.

    The judge names a level of the scale; the score is (level - lowest) / (highest - lowest). With several votes the
    level is the mean of theirs. A row is undefined if its answer is among the inputs and blank, or all inputs are.

    Calls per row: one.

    `results` has for each row the `level` (None if there is none) and, with ``reasons=True``, the `reason`: that of the
    vote nearest to the level, or None if the judge gave none. With several votes it also has the `levels` of all votes
    and their `spread`, the highest minus the lowest.

    Source: the form, one rubric for each criterion with a description of each level, is that of Kim et al., Prometheus:
    Inducing Fine-grained Evaluation Capability in Language Models, ICLR 2024.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import RubricEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = RubricEvaluator(
        criteria="Would a customer without technical knowledge understand the answer?",
        scale=[1, 5],
        chat_generator=MockChatGenerator('{"level": 4}'),
    )
    result = evaluator.run(
        questions=["How do I reset the router?"],
        predicted_answers=["Hold the small button on its back for ten seconds."],
    )
    print(result["score"], result["results"][0]["level"])
    # 0.75 4.0
    ```
    """

    _inputs: tuple[str, ...] = _DEFAULT_INPUTS
    _optional: tuple[str, ...] = ("contexts", "ground_truth_answers")
    _prompt_name = "rubric"
    _undefined_reason = "the answer, or everything that was to be graded, is blank"
    _empty_details = {"level": None}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        criteria: str | None = None,
        rubric: dict[int, str] | dict[str, str] | None = None,
        scale: list[int] | None = None,
        inputs: list[_Input] | None = None,
        reasons: bool = False,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a RubricEvaluator component.

        :param examples: Few-shot examples; there are none of our own, since a level means something only under your
            criteria. "inputs" has the chosen inputs, "outputs" has "level" and, with reasons, "reason", all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param criteria: What is asked for, in your words. Criteria, a rubric or both must be given.
        :param rubric: What each level means: a description for every integer of the scale. The integers may be written
            as texts, as JSON and Haystack's YAML have them.
        :param scale: The lowest and the highest level. None: those of the rubric; without one, 1 and 5.
        :param inputs: What the judge is shown, of "questions", "contexts", "predicted_answers" and
            "ground_truth_answers". These are the component's inputs. None: question and answer.
        :param reasons: Whether the judge writes a short reason before it names a level.
        :param instructions: The judge's task in place of the prompt's own; criteria and rubric are added to it.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row without text counts as: "zero", "nan" (left out of the mean) or "raise". One
            without a reference, where the judge is shown references, is left out, whatever is set here.
        :raises ValueError: If a value is not one of those that are possible, or the rubric does not fit the scale.
        :raises TypeError: If something is of the wrong type.
        """
        _check_criteria(criteria, rubric)
        check_flag("reasons", reasons)
        levels = None if rubric is None else _levels(rubric)
        self._lowest_level, self._highest_level = _scale(scale, levels)
        self._inputs = _chosen_inputs(inputs)
        self._optional = ()
        self.criteria = criteria
        # Haystack writes no dictionary whose keys are not texts.
        self.rubric = None if levels is None else {str(level): text for level, text in sorted(levels.items())}
        self.scale = scale
        self.inputs = inputs
        self.reasons = reasons
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

    def _make_prompt(self) -> Prompt:
        prompt = JudgedEvaluator._make_prompt(self)
        task: dict[str, Any] = {"scale": {"lowest": self._lowest_level, "highest": self._highest_level}}
        if self.criteria is not None:
            task["criteria"] = self.criteria
        if self.rubric is not None:
            task["rubric"] = self.rubric
        reply = prompt.reply.strip()
        if self.reasons:
            # Before the level, so that the level can follow from it.
            reply = reply.replace("{", '{"reason": "...", ', 1)
        # The line before the criteria stays, whatever the instructions are.
        instructions = f"{prompt.instructions.strip()}\n{dict(prompt.frame)['task'].strip()}\n{to_json(task)}"
        return replace(prompt, instructions=instructions, reply=reply)

    def _convert_example(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> tuple[Any, Any]:
        level = outputs["level"]
        if type(level) is not int or not self._lowest_level <= level <= self._highest_level:
            msg = (
                f"level must be an integer from {self._lowest_level} to {self._highest_level}, but is "
                f"{level if type(level) is int else describe(level)}."
            )
            raise InvalidValueError(msg)
        reply = {"reason": outputs["reason"], "level": level} if self.reasons else {"level": level}
        return shown(inputs, self._inputs), reply

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        data = shown(row, self._inputs)
        if blank(data.get("answer", " - ")) or not any(map(_has_text, data.values())):
            raise UndefinedScore(self._undefined_reason)
        grades = await ask.votes(self._prompt, data, self._form())
        levels = [grade.level for grade in grades]
        level = sum(levels) / len(levels)
        details: dict[str, Any] = {"level": level}
        if self.reasons:
            details["reason"] = min(grades, key=lambda grade: abs(grade.level - level)).reason
        if len(levels) > 1:
            details |= {"levels": levels, "spread": max(levels) - min(levels)}
        return Judged((level - self._lowest_level) / (self._highest_level - self._lowest_level), details)

    def _form(self) -> Form[_Grade]:
        levels = list(range(self._lowest_level, self._highest_level + 1))

        def read(value: Any) -> _Grade:
            value = respelled(value, ("level", "reason"))
            if not isinstance(value, dict) or "level" not in value:
                msg = "the key 'level' is missing"
                raise ReplyError(msg)
            reason = value.get("reason")
            given = reason.strip() if isinstance(reason, str) else None
            # A level without a reason is still a level.
            return _Grade(int(read_choice(value["level"], levels)), given if self.reasons else None)

        properties: dict[str, Any] = {"reason": {"type": "string"}} if self.reasons else {}
        properties["level"] = {"type": "integer", "enum": levels}
        return Form("grade", object_schema(properties), read)


def _has_text(value: str | dict[str, str]) -> bool:
    # Of contexts and references only those with text are shown.
    return not blank(value) if isinstance(value, str) else bool(value)


def _check_criteria(criteria: Any, rubric: Any) -> None:
    if criteria is None and rubric is None:
        msg = "criteria or rubric must be given, since there is nothing to grade by, but both are None."
        raise InvalidValueError(msg)
    if criteria is not None and (not isinstance(criteria, str) or not criteria.strip()):
        msg = f"criteria must be a text, but is {'blank' if isinstance(criteria, str) else describe(criteria)}."
        raise InvalidTypeError(msg)


def _levels(rubric: Any) -> dict[int, str]:
    if not isinstance(rubric, dict) or not rubric:
        msg = (
            "rubric must be a dictionary from each level, an integer, to its description, but is "
            f"{'empty' if isinstance(rubric, dict) else describe(rubric)}."
        )
        raise InvalidTypeError(msg)
    levels: dict[int, str] = {}
    for key, description in rubric.items():
        if type(key) is not int and not (isinstance(key, str) and _INTEGER.fullmatch(key)):
            msg = f"The levels of the rubric must be integers, but one is {describe(key)}."
            raise InvalidTypeError(msg)
        level = int(key)
        if level in levels:
            msg = f"rubric must describe each level once, but has {level} both as an integer and as a text."
            raise InvalidValueError(msg)
        if not isinstance(description, str) or not description.strip():
            came = "blank" if isinstance(description, str) else describe(description)
            msg = f"rubric[{level}] must be the level's description, but is {came}."
            raise InvalidTypeError(msg)
        levels[level] = description
    return levels


def _scale(scale: Any, rubric: dict[int, str] | None) -> tuple[int, int]:
    lowest, highest = (min(rubric), max(rubric)) if rubric else _DEFAULT_SCALE
    if scale is not None:
        if not isinstance(scale, list) or [type(level) for level in scale] != [int, int]:
            msg = f"scale must be a list of two integers, the lowest and the highest level, but is {_shape(scale)}."
            raise InvalidTypeError(msg)
        lowest, highest = scale
    if not 1 <= highest - lowest <= _LARGEST_STEP_COUNT:
        msg = (
            f"The scale must have its lowest level first and from 2 to {_LARGEST_STEP_COUNT + 1} levels, but is from "
            f"{lowest} to {highest}."
        )
        raise InvalidValueError(msg)
    missing = [level for level in range(lowest, highest + 1) if rubric and level not in rubric]
    beyond = [level for level in rubric or () if not lowest <= level <= highest]
    if missing or beyond:
        fault = f"lacks {_listed(missing)}" if missing else f"also has {_listed(beyond)}"
        msg = f"rubric must describe each level from {lowest} to {highest} and no other, but {fault}."
        raise InvalidValueError(msg)
    return lowest, highest


def _chosen_inputs(inputs: Any) -> tuple[str, ...]:
    if inputs is None:
        return _DEFAULT_INPUTS
    if not isinstance(inputs, list) or not inputs:
        msg = f"inputs must be a list of names, of {', '.join(_INPUTS)}, but is {_shape(inputs)}."
        raise InvalidTypeError(msg)
    for name in inputs:
        check_choice("Each of inputs", name, _INPUTS)
    if len(set(inputs)) < len(inputs):
        msg = "inputs must name each input once, but one is named twice."
        raise InvalidValueError(msg)
    return tuple(inputs)


def _shape(value: Any) -> str:
    return f"a list of {len(value)}" if isinstance(value, list) else describe(value)


def _listed(levels: list[int]) -> str:
    return ", ".join(map(str, sorted(levels)))
