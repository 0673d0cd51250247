# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Sentences of a text in any script, by rule: no model, no data to load."""

from __future__ import annotations

import re

from haystack_eval_ext._text import blank

# A point after these ends no sentence. Lower case, without the point.
_ABBREVIATIONS = frozenset(
    [
        "al",
        "approx",
        "bzw",
        "ca",
        "cf",
        "dr",
        "e.g",
        "etc",
        "fig",
        "figs",
        "hr",
        "i.e",
        "inc",
        "jr",
        "ltd",
        "m.a",
        "messrs",
        "mr",
        "mrs",
        "ms",
        "mt",
        "nr",
        "o.ä",
        "ph.d",
        "pp",
        "prof",
        "rev",
        "sgt",
        "sr",
        "st",
        "str",
        "u.a",
        "u.s",
        "usw",
        "vgl",
        "vol",
        "vs",
        "z.b",
    ]
)
_CLOSING = "\"'»”’)\\]」』）］】〉》"
# Marks of scripts that need no blank after them: East Asian, Devanagari, Arabic, Armenian, Ethiopic, Burmese, Khmer.
_END = re.compile(
    rf"(?:[。！？｡．]+|[।॥؟۔։።၊။។]+|(?<![.!?…])[.!?…]++(?=[{_CLOSING}]*(?:\[\d+\])*(?:\s|$)))"
    rf"[{_CLOSING}]*(?:\s?\[[^\]\n]{{1,40}}\])*"
)
_BULLET = re.compile(r"^\s*(?:[-*•‣▪·–—]\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)")
_LAST_WORD = re.compile(r"([^\s(\[\"'“‘«]+?)\.\Z")
_NEXT = re.compile(r"\s*(\S)")
_HAS_WORD = re.compile(r"\w")
# More of a text before a point is not looked at, or a word of a million letters would take hours.
_LONGEST_ABBREVIATION = 40


def sentences(text: str) -> list[str]:
    """
    Split a text into its sentences.

    A line break ends a sentence, too, so that the entries of a list are sentences of their own; their bullets are left
    out. A point inside a number, after an initial or a common abbreviation, or before a small letter ends none. What
    has no letter or digit is no sentence. Citations such as "[1]" stay with the sentence before them.

    ```python
    from haystack_eval_ext._sentences import sentences

    print(sentences("Dr. Ito measured 3.5 km. It took long! 終わりました。次です。"))
    # ['Dr. Ito measured 3.5 km.', 'It took long!', '終わりました。', '次です。']
    ```

    :param text: Any text.
    :returns: Its sentences, without white space around them.
    """
    found: list[str] = []
    for line in text.splitlines():
        rest = _BULLET.sub("", line)
        start = 0
        for end in _END.finditer(rest):
            if _ends_sentence(rest, start, end):
                found.append(rest[start : end.end()].strip())
                start = end.end()
        found.append(rest[start:].strip())
    return [sentence for sentence in found if _HAS_WORD.search(sentence) and not blank(sentence)]


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    if end[0][0] != "." or end[0].startswith(".."):
        return True
    following = _NEXT.match(text, end.end())
    if following is not None and following[1].islower():
        return False
    point = end.start() + 1
    before = _LAST_WORD.search(text[max(start, point - _LONGEST_ABBREVIATION) : point])
    if before is None or following is None:
        return True
    word = before[1]
    is_initial = len(word) == 1 and word.isupper()
    return not is_initial and word.casefold() not in _ABBREVIATIONS
