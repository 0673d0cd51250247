# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the judge benchmark, for all that take part in it: no import but the standard library's."""

import re
from typing import Any

_PART = re.compile(r"Harbour (\d+) has part \d+\.")


def contexts_of(row: int) -> list[str]:
    """The contexts of a row."""
    return [f"Harbour {row} lies in the north.", f"It was opened in {1000 + row}."]


def rows(number: int) -> dict[str, list[Any]]:
    """Rows with one to four statements each."""
    return {
        "questions": [f"What is said of the harbour, number {n}?" for n in range(number)],
        "contexts": [contexts_of(n) for n in range(number)],
        "predicted_answers": [
            " ".join(f"Harbour {n} has part {part}." for part in range(1 + n % 4)) for n in range(number)
        ],
    }


def statements_in(text: str) -> dict[str, list[str]]:
    """The statements of answers that a prompt holds, in order and once each, with the contexts of their rows."""
    return {found[0]: contexts_of(int(found[1])) for found in _PART.finditer(text)}
