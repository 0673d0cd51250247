# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows for the judge engine's tests, and a judge that reaches a server of tests/openai_server.py."""

from __future__ import annotations

import os
from typing import Any

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

from haystack_eval_ext import FaithfulnessEvaluator, JudgePolicy

KEY = "TEST_JUDGE_KEY"
#: Nobody's key.
VALUE = "sk-test-0123456789abcdef"
os.environ[KEY] = VALUE
#: Short waits: the faults, not the waiting, are what these tests are about.
QUICK = JudgePolicy(min_wait=0.01, max_wait=0.05, timeout=20.0, deadline=60.0)


def rows(number: int, first: int = 0) -> dict[str, list[Any]]:
    """Rows with one to four statements each, all of them different."""
    numbers = range(first, first + number)
    return {
        "questions": [f"Question {n}?" for n in numbers],
        "contexts": [[f"Context {n}.", f"Another context {n}."] for n in numbers],
        "predicted_answers": [" ".join(f"Statement {n} of part {part}." for part in range(1 + n % 4)) for n in numbers],
    }


def judge(url: str, **changed: Any) -> OpenAIChatGenerator:
    """A generator that reaches a server, and leaves repeating to the engine."""
    settings = {"api_key": Secret.from_env_var(KEY), "model": "m", "api_base_url": url, "max_retries": 0, **changed}
    return OpenAIChatGenerator(**settings)


def evaluator(url: str, policy: JudgePolicy = QUICK, **changed: Any) -> FaithfulnessEvaluator:
    """Faithfulness with that generator: one call a row."""
    parameters: dict[str, Any] = {"chat_generator": judge(url), "progress_bar": False, "policy": policy, **changed}
    return FaithfulnessEvaluator(**parameters)
