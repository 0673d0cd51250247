# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A ChatGenerator that replies to each row what a test says, and the stock judges beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import haystack.components.evaluators as stock
from haystack import component
from haystack.dataclasses import ChatMessage

import haystack_eval_ext as ours

SIDES = {"stock": stock, "ours": ours}
ANSWER = "The first. The second."
QUICK = {"max_attempts": 2, "min_wait": 0, "max_wait": 0}


def marker(row: int) -> str:
    """A text that stands in one row alone."""
    return f"row-{row};"


def faithful(statements: Any, scores: Any) -> str:
    """A reply in the form of the stock FaithfulnessEvaluator."""
    return json.dumps({"statements": statements, "statement_scores": scores})


def relevant(statements: Any) -> str:
    """A reply in the form of the stock ContextRelevanceEvaluator."""
    return json.dumps({"relevant_statements": statements})


@component
class RowReplies:
    """Gives each row its own reply: a text, a ChatMessage, a list of replies, or an error to raise."""

    def __init__(self, replies: list[Any]) -> None:
        """``replies`` has one for each row; a tuple has one for each time that the row is asked about."""
        self.replies = replies
        self.asked: list[list[ChatMessage]] = []

    def _next(self, prompt: str) -> Any:
        row = max(range(len(self.replies)), key=lambda row: prompt.rfind(marker(row)))
        reply = self.replies[row]
        if isinstance(reply, tuple):
            before = sum(marker(row) in (messages[-1].text or "") for messages in self.asked)
            reply = reply[min(before, len(reply)) - 1]
        return reply

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.asked.append(messages)
        reply = self._next(messages[-1].text or "")
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            reply = ChatMessage.from_assistant(reply)
        return {"replies": reply if isinstance(reply, list) else [reply]}


@component
class Ruled:
    """Replies by a function of the data, which may also be a whole message."""

    def __init__(self, rule: Callable[[dict[str, Any]], Any]) -> None:
        self.rule = rule
        self.asked: list[dict[str, Any]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        data = json.loads(messages[1].text or "")
        self.asked.append(data)
        reply = self.rule(data)
        return {"replies": [reply if isinstance(reply, ChatMessage) else ChatMessage.from_assistant(json.dumps(reply))]}


def make(side: str, name: str, replies: list[Any], parameters: Mapping[str, Any]) -> tuple[Any, RowReplies]:
    """An evaluator of a side, and its generator."""
    generator = RowReplies(replies)
    more = {"policy": QUICK} if side == "ours" else {}
    given = {"raise_on_failure": False, "progress_bar": False, "chat_generator": generator, **more, **parameters}
    return getattr(SIDES[side], name)(**given), generator


def faithfulness(side: str, *replies: Any, answers: list[Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """A FaithfulnessEvaluator on one row for each reply."""
    evaluator, _ = make(side, "FaithfulnessEvaluator", list(replies), parameters)
    rows = range(len(replies))
    outputs: dict[str, Any] = evaluator.run(
        questions=[marker(row) for row in rows],
        contexts=[["c"] for _ in rows],
        predicted_answers=answers or [ANSWER for _ in rows],
    )
    return outputs


def relevance(side: str, *replies: Any, contexts: list[Any] | None = None, **parameters: Any) -> dict[str, Any]:
    """A ContextRelevanceEvaluator on one row for each reply."""
    evaluator, _ = make(side, "ContextRelevanceEvaluator", list(replies), parameters)
    rows = range(len(replies))
    outputs: dict[str, Any] = evaluator.run(
        questions=[marker(row) for row in rows], contexts=contexts or [["x.\ny."] for _ in rows]
    )
    return outputs


ONE_INPUT: dict[str, Any] = {
    "instructions": "Judge.",
    "inputs": [("answers", list[str])],
    "outputs": ["score"],
    "examples": [],
}


def llm(side: str, *replies: Any, **parameters: Any) -> dict[str, Any]:
    """An LLMEvaluator on one row for each reply."""
    evaluator, _ = make(side, "LLMEvaluator", list(replies), {**ONE_INPUT, **parameters})
    outputs: dict[str, Any] = evaluator.run(answers=[marker(row) for row in range(len(replies))])
    return outputs
