# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Citations in an answer: which sentence cites which of its contexts. No model is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._text import blank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack_eval_ext._rows import Source

# Those of East Asian scripts, too.
_BRACKETS = re.compile(r"\[([^\[\]\n]+)\]|【([^【】\n]+)】|［([^［］\n]+)］")
_SEPARATOR = re.compile(r"[,;，、；]")
_NUMBER = re.compile(r"\^?(\d{1,9})")
_RANGE = re.compile(r"(\d{1,9})\s*[-–]\s*(\d{1,9})")
# With a letter and a digit, so that neither "[sic]" nor an interval such as "[0.1, 0.3]" is a citation.
_LIKE_AN_ID = re.compile(r"(?=.*\d)(?=.*[^\W\d_])\w[\w.:/#@-]*")
# Brackets around nothing but such brackets, as in "[[1]]", and what separates these.
_AROUND = re.compile(r"[\[【［]((?:\s*\[\d+\](?:\s*[,;，、；])?)+)\s*[\]】］]")
_NUMBERED = re.compile(r"(?P<space>\s*)\[(?P<number>\d+)\]")
_HAS_WORD = re.compile(r"\w")
# Who cites more at once with "[1-99]" means no list of sources.
_LONGEST_RANGE = 50


class Citation(NamedTuple):
    """
    A citation.

    :param cited: As it is written, without brackets.
    :param context: Place of the context that it names, from 0; None if it names none that has a text.
    """

    cited: str
    context: int | None


class Statement(NamedTuple):
    """
    A sentence of an answer.

    :param text: Without its citations.
    :param citations: Each context once, in order.
    """

    text: str
    citations: list[Citation]


def cited_statements(answer: str, sources: Sequence[Source]) -> list[Statement]:
    """
    Split an answer into sentences, each with what it cites.

    ```python
    from haystack_eval_ext._rows import Source
    from haystack_eval_ext.judged._citations import cited_statements

    for statement in cited_statements("It is old [1, doc-7]. It leaks.", [Source("doc-7", "a"), Source("doc-8", "b")]):
        print(statement.text, [citation.context for citation in statement.citations])
    # It is old. [0]
    # It leaks. []
    ```

    :param answer: The answer.
    :param sources: The contexts it was written from, in order.
    :returns: Its sentences; what stands between two of them in brackets belongs to the first.
    """
    places = {source.id: place for place, source in reversed(list(enumerate(sources))) if source.id is not None}
    # Each pair of brackets becomes a short number in brackets, which stays with its sentence.
    brackets: list[tuple[str, list[Citation]]] = []

    def number(found: re.Match[str]) -> str:
        inside = next(group for group in found.groups() if group is not None).strip()
        is_link = found.string.startswith("(", found.end())
        citations = [
            Citation(cited, place if place is not None and not blank(sources[place].text or "") else None)
            for cited, place in ([] if is_link else _read(inside, places, len(sources)))
        ]
        brackets.append((found[0], citations))
        return f"[{len(brackets) - 1}]"

    def without_citation(found: re.Match[str]) -> str:
        written, citations = brackets[int(found["number"])]
        return "" if citations else f"{found['space']}{written}"

    def unwrapped(found: re.Match[str]) -> str:
        inner = list(_NUMBERED.finditer(found[1]))
        cited = all(brackets[int(one["number"])][1] for one in inner)
        return "".join(f"[{one['number']}]" for one in inner) if cited else found[0]

    statements: list[Statement] = []
    for sentence in sentences(_AROUND.sub(unwrapped, _BRACKETS.sub(number, answer))):
        citations = [
            citation for found in _NUMBERED.finditer(sentence) for citation in brackets[int(found["number"])][1]
        ]
        text = _NUMBERED.sub(without_citation, sentence).strip()
        if not _HAS_WORD.search(text):
            if not statements:
                continue
            text, before = statements.pop()
            citations = before + citations
        statements.append(Statement(text, _unique(citations)))
    return statements


def _read(inside: str, places: dict[str, int], count: int) -> list[tuple[str, int | None]]:
    """What stands in brackets: pairs of what is cited and its place; empty if it is no citation."""
    if inside in places:
        return [(inside, places[inside])]
    read: list[tuple[str, int | None]] = []
    for part in map(str.strip, _SEPARATOR.split(inside)):
        number, several = _NUMBER.fullmatch(part), _RANGE.fullmatch(part)
        if part in places:
            read.append((part, places[part]))
        elif number:
            read.append((part, _place(int(number[1]), count)))
        elif several and 0 <= int(several[2]) - int(several[1]) < _LONGEST_RANGE:
            numbers = range(int(several[1]), int(several[2]) + 1)
            read.extend((str(each), _place(each, count)) for each in numbers)
        elif _LIKE_AN_ID.fullmatch(part):
            read.append((part, None))
    return read


def _place(number: int, count: int) -> int | None:
    return number - 1 if 1 <= number <= count else None


def _unique(citations: list[Citation]) -> list[Citation]:
    first: dict[str | int, Citation] = {}
    for citation in citations:
        first.setdefault(citation.cited if citation.context is None else citation.context, citation)
    return list(first.values())
