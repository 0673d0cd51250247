# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python examples of docstrings and pages, and compares what they print with the comments after it."""

from __future__ import annotations

import contextlib
import io
import re
import textwrap

_BLOCK = re.compile(r"^(?P<indent>[ \t]*)```python\n(?P<code>.*?)^(?P=indent)```", re.DOTALL | re.MULTILINE)


def python_blocks(text: str) -> list[str]:
    """The examples of a docstring or a Markdown page."""
    return [textwrap.dedent(block["code"]) for block in _BLOCK.finditer(text)]


def expected_output(code: str) -> list[str]:
    """
    The lines that an example says it prints.

    They are comments on lines of their own, directly below a line that ends a call of print, as far as they go.
    """
    expected: list[str] = []
    printing = False
    for line in code.splitlines():
        if line.startswith("# ") and printing:
            expected.append(line.removeprefix("# "))
        elif line and not line.startswith((" ", "\t", ")", "]", "}")):
            printing = "print(" in line
        elif line.lstrip().startswith("print("):
            printing = True
    return expected


def check_example(code: str) -> None:
    """Run an example; it must print what it says, and say what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own examples
    expected = expected_output(code)
    if "print(" in code:
        came = [line.rstrip() for line in printed.getvalue().rstrip().splitlines()]
        assert came == expected, f"the example prints {came}, but says {expected}"
