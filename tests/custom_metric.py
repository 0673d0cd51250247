# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The judged metric that docs/judged.md builds, as a module that YAML can name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from haystack.core.serialization import allow_deserialization_module

from examples_in_text import python_blocks

_PAGE = Path(__file__).parents[1] / "docs" / "judged.md"
(_EXAMPLE,) = (block for block in python_blocks(_PAGE.read_text("utf-8")) if "CustomJudgedEvaluator" in block)
# Without the lines that run it.
SOURCE = _EXAMPLE.partition("\n\n\njudge = ")[0]

PolitenessEvaluator: Any = None
exec(compile(SOURCE, str(_PAGE), "exec"))  # noqa: S102 - our own example
allow_deserialization_module("custom_metric")


def polite(data: dict[str, Any]) -> dict[str, Any]:
    """A sentence is polite if it says please or gladly."""
    return {
        "verdicts": {
            name: int(any(word in text.casefold() for word in ("please", "gladly")))
            for name, text in data["sentences"].items()
        }
    }
