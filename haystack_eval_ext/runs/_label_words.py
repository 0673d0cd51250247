# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What people write as a label: numbers, stars, and words for right and wrong in many languages."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._yes_no import PAIRS, WORDS, plain_word
from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

_STARS = re.compile(
    r"(\d+(?:\.\d+)?)\s*(?:stars?|sterne?|étoiles?|estrellas?|estrelas?|stell[ae]|звезд[аы]?|つ星|星|별)"
)
_DRAWN_STARS = re.compile(r"((?:[★⭐]\ufe0f?)*)☆*")
_WITH_SCALE = re.compile(r"\d+(?:[.,]\d+)?\s*(?:/|of|out of|von|sur|de|из)\s*\d+(?:[.,]\d+)?")
_PERCENT = re.compile(r"\d+(?:[.,]\d+)?\s*%")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
# What stands where a person gave none.
NO_LABEL = frozenset(("n/a", "na", "not applicable"))
UNDERSTOOD = (
    "numbers, '4 stars', and yes/no, true/false, correct/incorrect, pass/fail, good/bad and their like in "
    f"{len(PAIRS)} languages"
)


def checked_words(words: Mapping[str, float] | None) -> dict[str, float]:
    """
    Check a user's own words.

    :param words: The number of each word, such as {"right": 1, "wrong": 0}.
    :returns: The same, with words as they are looked up: without regard to case and surrounding white space.
    :raises ValueError: If a word is empty or has two numbers, or a number is not finite.
    """
    found: dict[str, float] = {}
    for word, number in (words or {}).items():
        key = plain_word(word) if isinstance(word, str) else ""
        if not key or isinstance(number, str) or not math.isfinite(number) or found.get(key, number) != number:
            msg = "label_words must give each word one finite number, such as {'right': 1, 'wrong': 0}."
            raise InvalidValueError(msg)
        found[key] = float(number)
    return found


def label(value: Any, words: Mapping[str, float]) -> float | str | None:
    """
    Read a label.

    :param value: A cell.
    :param words: The user's own words, as :func:`checked_words` gives them; they go before all others.
    :returns: The label as a number, None where there is none, or in words why it is none; never the label itself.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _of_text(value, words)
    if not isinstance(value, bool | int | float):
        return "a list or an object"
    number = _finite(value)
    for key in (str(value), f"{number:g}" if isinstance(number, float) else ""):
        if plain_word(key) in words:
            return words[plain_word(key)]
    return number


def _of_text(value: str, words: Mapping[str, float]) -> float | str | None:
    text = plain_word(value)
    if not value.strip():
        return None
    if text in words:
        return words[text]
    if text in NO_LABEL:
        return None
    if text in WORDS:
        return float(WORDS[text])
    if found := _STARS.fullmatch(text):
        return float(found[1])
    if text and (drawn := _DRAWN_STARS.fullmatch(text)):
        return float(len(drawn[1].replace("\ufe0f", "")))
    if _WITH_SCALE.fullmatch(text):
        return "a grade with its scale, such as 4/5 (write 4)"
    if _PERCENT.fullmatch(text):
        return "a percentage (write 80 % as 0.8)"
    if _DECIMAL_COMMA.fullmatch(text):
        return "a number with a comma (write 0.5)"
    try:
        return _finite(unicodedata.normalize("NFKC", value).strip())
    except ValueError:
        return "a word that is not understood"


def _finite(value: Any) -> float | str | None:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        return "an infinite number"
    return None if math.isnan(number) else number
