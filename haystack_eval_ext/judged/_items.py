# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What is judged one by one: numbered for the judge, and statements that it breaks an answer into."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._forms import model_form
from haystack_eval_ext.judged._prompts import load_prompt

_T = TypeVar("_T")


class _Statements(BaseModel):
    statements: list[str]


_STATEMENTS = model_form(_Statements)


def numbered(prefix: str, items: Iterable[_T]) -> dict[str, _T]:
    """
    Give each item an id.

    :param prefix: A letter that says what they are.
    :param items: The items.
    :returns: The items by id, from 1, in order.
    """
    return {f"{prefix}{number}": item for number, item in enumerate(items, start=1)}


async def statements_of(ask: Ask, question: str, answer: str, language: str) -> list[str]:
    """
    Let the judge break an answer into short statements, each understandable alone.

    :param ask: The judge.
    :param question: What was asked.
    :param answer: The answer.
    :param language: Language of the prompt.
    :returns: The statements; none if the answer states nothing.
    :raises JudgeError: If the judge gave no readable reply.
    """
    prompt = load_prompt("statements", language)
    reply = await ask.read(prompt, {"question": question, "answer": answer}, _STATEMENTS)
    return [statement.strip() for statement in reply.statements if statement.strip()]
