# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A judged metric of your own: say what the judge is asked, and do the arithmetic on its verdicts.

Everything else comes with the base class: concurrency, retries, cache, votes, budget, plan, failures that cost one row,
YAML, and sync and async runs alike. docs/judged.md has a whole example.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from haystack_eval_ext._formulas import share
from haystack_eval_ext._parameters import check_choice, is_number, plain
from haystack_eval_ext._rows import describe
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError, UndefinedScore
from haystack_eval_ext.judged._ask import Ask, Verdicts
from haystack_eval_ext.judged._base import Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._failures import JudgeError
from haystack_eval_ext.judged._forms import Form, model_form
from haystack_eval_ext.judged._items import numbered, reference_texts, shown, statements_of
from haystack_eval_ext.judged._prompts import Prompt, check_instructions, languages, own_prompt
from haystack_eval_ext.judged._sockets import SOCKETS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Ask",
    "CustomJudgedEvaluator",
    "Form",
    "Judged",
    "Row",
    "Task",
    "UndefinedScore",
    "Verdicts",
    "blank",
    "model_form",
    "numbered",
    "read_task",
    "reference_texts",
    "sentences",
    "share",
    "shown",
    "statements_of",
]


@dataclass(frozen=True)
class Task:
    """
    What the judge is asked.

    The texts of the rows are no part of it: they follow as JSON in a message of their own. Its texts decide the key of
    each cached reply, and whether two runs can be compared.

    :param name: A short name, for the cache and the record of a run.
    :param instructions: What to do with the data.
    :param reply: The form of the reply, as the judge reads it, such as ``{"verdicts": {"s1": 1 or 0, ...}}``.
    :param examples: Few-shot examples: pairs of data and reply, as JSON values.
    :raises ValueError: If a text is blank.
    :raises TypeError: If something has another type.
    """

    name: str
    instructions: str
    reply: str
    examples: Sequence[tuple[Any, Any]] = field(default=())

    def __post_init__(self) -> None:
        """Check the texts."""
        check_instructions(self.instructions)
        for part in ("name", "reply"):
            if not isinstance(getattr(self, part), str) or blank(getattr(self, part)):
                msg = f"{part} of a Task must be a text that is not blank."
                raise InvalidValueError(msg)

    def prompt(self, language: str) -> Prompt:
        """
        Put the task into what surrounds every prompt of a language.

        :param language: "en" or "ja".
        :returns: The prompt.
        :raises ValueError: If there is no such language.
        """
        check_choice("language", language, languages())
        examples = [(data, reply) for data, reply in self.examples]
        written = json.dumps([self.instructions, self.reply, examples], ensure_ascii=False)
        return own_prompt(
            f"{self.name}.{language}",
            language,
            instructions=self.instructions,
            reply=self.reply,
            examples=examples,
            # No change of a text can be forgotten in a number.
            version=hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:8],
        )


def read_task(path: str | Path) -> Task:
    """
    Read a task from a YAML file with `instructions`, `reply` and, if there are any, `examples` of `data` and `reply`.

    :param path: The file, UTF-8; its name without the ending is the task's.
    :returns: The task.
    :raises OSError: If the file cannot be read.
    :raises ValueError: If it has another form.
    """
    file = Path(path)
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        examples = [(example["data"], example["reply"]) for example in content.get("examples") or []]
        return Task(file.stem, content["instructions"], content["reply"], examples)
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError) as error:
        msg = (
            f"{file}: not a task. Expected YAML with the texts 'instructions' and 'reply' and, if there are any, "
            "'examples', a list of 'data' and 'reply'."
        )
        raise InvalidValueError(msg) from error


class CustomJudgedEvaluator(JudgedEvaluator):
    """
    The base class of a judged metric of your own; decorate the metric itself with ``@component``.

    A metric names its inputs and its task, and has :meth:`judge_row`. It takes the parameters of every judged
    evaluator: `examples` (here "inputs" is the data and "outputs" the reply, as in the task's own examples),
    `progress_bar`, `raise_on_failure`, `chat_generator`, `instructions`, `language`, `policy` and `on_undefined`. The
    first line of its docstring says what the score means; "lower is better" there turns the reading of comparisons.
    """

    #: The sockets that must be given, of "questions", "contexts", "predicted_answers", "other_answers",
    #: "ground_truth_answers", "answerable". A row without a reference is "not_run" where references must be given.
    takes: tuple[str, ...] = ()
    #: Sockets that may be left out.
    may_take: tuple[str, ...] = ()
    #: What the judge is asked; or a task for each language, by "en" and "ja".
    task: Task | Mapping[str, Task] | None = None
    #: Why a row can be undefined, for messages.
    undefined_reason: str = "nothing to judge"
    #: The keys of `results` in a row that failed or is undefined.
    empty_details: Mapping[str, Any] = {}
    #: Calls that a row may make after its first replies came, at most: for the plan.
    later_calls: int = 0
    #: The lowest and the highest score: one outside is a failure of its row.
    score_range: tuple[float, float] = (0.0, 1.0)
    #: Raise it when scores change in meaning: runs of different versions are not compared.
    rule_version: int = 1

    def __init_subclass__(cls, **more: Any) -> None:
        """Check what a metric says of itself."""
        super().__init_subclass__(**more)
        for name in (*cls.takes, *cls.may_take):
            check_choice(f"{cls.__name__}: an input", name, list(SOCKETS))
        cls._inputs, cls._optional = cls.takes, cls.may_take
        cls._undefined_reason, cls._later_calls = cls.undefined_reason, cls.later_calls
        cls._empty_details = cls.empty_details

    async def judge_row(self, ask: Ask, row: Row) -> Judged:
        """
        Ask what must be asked about a row, and do the arithmetic.

        :param ask: The judge: ``verdicts`` asks for a verdict on each of several items, ``read`` for one reply.
        :param row: The value of each socket.
        :returns: The score, and the row's entry of `results`.
        :raises UndefinedScore: If the row has no score by definition.
        """
        raise NotImplementedError

    @property
    def prompt(self) -> Prompt:
        """The task with the user's own instructions and examples, if any were given."""
        return self._prompt

    @property
    def _rule_version(self) -> int:
        return self.rule_version

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        judging: Any = self.judge_row(ask, row)
        if not inspect.isawaitable(judging):
            msg = "judge_row is no coroutine: write 'async def judge_row'"
            raise JudgeError(msg)
        try:
            judged = await judging
        except (JudgeError, UndefinedScore):
            raise
        except Exception as error:
            msg = f"{type(error).__name__} in judge_row; its message stands in the row's result"
            raise JudgeError(msg) from error
        if not isinstance(judged, tuple) or len(judged) != len(Judged._fields) or not isinstance(judged[1], Mapping):
            msg = f"judge_row must return Judged(score, details), but returned {describe(judged)}"
            raise JudgeError(msg)
        score = plain(judged[0])
        if not is_number(score) or not math.isfinite(score):
            msg = "judge_row gave no number as the score; where there is none by definition, raise UndefinedScore"
            raise JudgeError(msg)
        lowest, highest = self.score_range
        if not lowest <= score <= highest:
            msg = f"judge_row gave the score {score:g}, outside {lowest:g} to {highest:g}; say another score_range"
            raise JudgeError(msg)
        return Judged(float(score), dict(judged[1]))

    def _standard_prompt(self) -> Prompt:
        task = self.task
        if isinstance(task, Mapping):
            check_choice("language", self.language, list(task))
            task = task[self.language]
        if not isinstance(task, Task):
            msg = f"{type(self).__name__} must name its task: a Task, or one for each language."
            raise InvalidTypeError(msg)
        return task.prompt(self.language)
