# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A ChatGenerator that follows a rule instead of a model: its reply is a pure function of the data in the user's message.

So a row is judged alike alone, in any company and when something is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from haystack import component, default_to_dict
from haystack.core.serialization import allow_deserialization_module
from haystack.dataclasses import ChatMessage

allow_deserialization_module("scripted_judge")

Rule = Callable[[dict[str, Any]], Any]


def words(text: str) -> set[str]:
    """The words of a text, in small letters and without the punctuation around them."""
    return {word.strip(".,!?;:()[]\"'").casefold() for word in text.split()} - {""}


def supported(statement: str, contexts: dict[str, str]) -> int:
    """1 if one of the contexts has all words of the statement."""
    return int(any(words(statement) <= words(context) for context in contexts.values()))


def verdicts(data: dict[str, Any]) -> dict[str, Any]:
    """Each statement that one context supports word by word gets 1."""
    return {"verdicts": {name: supported(text, data["contexts"]) for name, text in data["statements"].items()}}


def extract(data: dict[str, Any]) -> dict[str, Any]:
    """Break an answer at its points, or judge statements."""
    return verdicts(data) if "statements" in data else {"statements": str(data["answer"]).split(". ")}


@component
class ScriptedJudge:
    """Replies by a rule, and remembers the messages it got."""

    def __init__(self, rule: str) -> None:
        """``rule`` is "module:function"; the function takes the data and gives the reply as JSON, or its text."""
        self.rule = rule
        self.asked: list[list[ChatMessage]] = []

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, rule=self.rule)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.asked.append(messages)
        module, _, name = self.rule.partition(":")
        rule: Rule = getattr(import_module(module), name)
        reply = rule(json.loads(messages[-1].text or ""))
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return {"replies": [ChatMessage.from_assistant(text, meta={"model": "scripted"})]}


@component
class AsyncScriptedJudge(ScriptedJudge):
    """The same, asynchronously."""

    def __init__(self, rule: str) -> None:
        ScriptedJudge.__init__(self, rule)

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage]) -> dict[str, Any]:
        result: dict[str, Any] = self.run(messages)
        return result
