# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Judged evaluators as tests need them, and what their judges were asked."""

from __future__ import annotations

import json
from typing import Any

from haystack.components.generators.chat import MockChatGenerator

from scripted_judge import ScriptedJudge

#: Two attempts, no wait between them.
FAST = {"min_wait": 0.0, "max_wait": 0.0, "max_attempts": 2}


def following(evaluator: Any, rule: str, **parameters: Any) -> Any:
    """An evaluator whose judge follows a rule, "module:function"."""
    parameters = {"policy": FAST, "raise_on_failure": False, "progress_bar": False, **parameters}
    return evaluator(chat_generator=ScriptedJudge(rule), **parameters)


def replying(evaluator: Any, *replies: Any, **parameters: Any) -> Any:
    """An evaluator whose judge gives one reply after the other, whatever it is asked."""
    texts = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    parameters = {"policy": FAST, "raise_on_failure": False, "progress_bar": False, **parameters}
    return evaluator(chat_generator=MockChatGenerator(texts), **parameters)


def asked(evaluator: Any) -> list[dict[str, Any]]:
    """The data of each call to a judge that follows a rule."""
    return [json.loads(messages[-1].text) for messages in evaluator.chat_generator.asked]


def system(evaluator: Any) -> str:
    """The system message of the first call to a judge that follows a rule."""
    text: str = evaluator.chat_generator.asked[0][0].text
    return text
