# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The forms in which answers are compared. Knows no Document and no metric."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from typing import Literal, get_args

from haystack_eval_ext._text import CharacterTable, segment
from haystack_eval_ext.errors import InvalidValueError

Normalization = Literal["none", "squad", "unicode", "triviaqa", "drop", "hotpotqa", "dpr"]
#: Rules of published scripts, whose words stand between blanks once a text is normalised, whatever its script.
PUBLISHED = frozenset(("triviaqa", "drop", "hotpotqa", "dpr"))

_ARTICLES = frozenset(("a", "an", "the"))
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


def make_normalizer(normalization: Normalization) -> Callable[[str], str]:
    """
    Make the function that brings answers to the form in which they are compared.

    :param normalization: "none": as they are. "squad": as the SQuAD script does: lower case, no ASCII punctuation, no
        English articles (only English ones), white space unified. "unicode": compatibility forms (full-width, composed
        and decomposed) unified; case folded, also the Turkish i with and without a dot; decimal digits of all scripts
        written as 0 to 9; points of Hebrew, vowel signs of Arabic, punctuation and invisible format characters removed;
        white space unified. Accents stay, and so do the vowel signs of all other scripts. A point or comma between two
        digits stays, and a minus sign (hyphen or U+2212) before a digit at the start, after white space or an opening
        bracket: -5 is not 5. "squad" drops a hyphen there, too. "triviaqa", "drop", "hotpotqa" and "dpr": as the
        official scripts of these benchmarks do.
    :returns: The function.
    :raises ValueError: If there is no such normalization.
    """
    if normalization not in get_args(Normalization):  # compares, so that nothing need be hashable
        msg = f"normalization must be one of {', '.join(map(repr, get_args(Normalization)))}, but is {normalization!r}."
        raise InvalidValueError(msg)
    normalizers: dict[str, Callable[[str], str]] = {
        "none": str,
        "squad": _squad,
        "unicode": _unicode,
        "triviaqa": _triviaqa,
        "drop": _drop,
        "hotpotqa": _squad,
        "dpr": _dpr,
    }
    return normalizers[normalization]


def _squad(text: str) -> str:
    text = text.lower().translate(_ASCII_PUNCTUATION)
    words = text.split()
    if text.isascii() and "".join(words).isprintable():
        return " ".join([word for word in words if word not in _ARTICLES])
    # Where other signs than blanks can bound a word, only the script's own expression does what the script does.
    return _without_articles(text)


def _triviaqa(text: str) -> str:
    """As SQuAD, but each punctuation mark, some beyond ASCII among them, parts words."""
    return _without_articles(text.lower().translate(_TRIVIAQA_PUNCTUATION))


def _drop(text: str) -> str:
    """As SQuAD for each word, of which a hyphen makes two; numbers are compared by value."""
    return " ".join(filter(None, map(_drop_word, _drop_separator().split(text))))


def _drop_word(word: str) -> str:
    word = word.lower()
    number = as_number(word)
    if number is None:
        word = word.translate(_ASCII_PUNCTUATION)
        number = as_number(word)
    return _without_articles(word) if number is None else str(number)


def _without_articles(text: str) -> str:
    return " ".join(_articles().sub(" ", text).split())


def as_number(word: str) -> float | None:
    """
    Read a word as DROP's script does.

    :param word: A word.
    :returns: Its value, if Python's float takes it; "inf" and "nan" are numbers there.
    """
    try:
        return float(word)
    except ValueError:
        return None


def _dpr(text: str) -> str:
    """Runs of letters, digits and marks are words, and so is each other sign that is seen."""
    parted = unicodedata.normalize("NFD", text).translate(_DPR_WORDS)
    return " ".join([word.lower() for word in parted.split(" ") if word])


def _parted(character: str) -> str:
    kind = unicodedata.category(character)[0]
    return character if kind in "LNM" else " " if kind in "ZC" else f" {character} "


_DPR_WORDS = CharacterTable(_parted)
_TRIVIAQA_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))


def _unicode(text: str) -> str:
    # Case folding can take the composed form apart again: "ǰ" becomes "j" and a caron.
    folded = keep_signs(text.lower() if text.isascii() else _nfkc(_alike(_nfkc(text).casefold())))
    if _decimal_mark().search(folded) is None:
        bare = folded.translate(_WITHOUT_PUNCTUATION)
    else:
        # 2.5 must not become 25. Every second part is a mark between two digits.
        parts = _decimal_mark().split(folded)
        parts[::2] = [part.translate(_WITHOUT_PUNCTUATION) for part in parts[::2]]
        bare = "".join(parts)
    bare = " ".join(bare.split())
    return _minus_sign().sub("-", bare) if _MINUS in bare else bare


def keep_signs(text: str) -> str:
    """
    Write a hyphen that is a number's sign as the minus sign, which is a symbol and no punctuation.

    ```python
    from haystack_eval_ext._normalization import keep_signs

    print(keep_signs("-5 and (-.5), but 2024-01-02 and COVID-19"))
    # −5 and (−.5), but 2024-01-02 and COVID-19
    ```

    :param text: Any text.
    :returns: The text, with U+2212 for a hyphen before a digit that stands at the start, after white space, an opening
        bracket or a mark of direction.
    """
    return _sign().sub(_MINUS, text) if "-" in text else text


def _alike(text: str) -> str:
    # What is left of the Turkish capital İ is an i with a dot.
    return text.replace("i\u0307", "i").translate(_ALIKE)


def _with_plain_digit(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


# Points and accents of Hebrew; vowel signs, signs of recitation and the stroke that widens a word of Arabic. Not the
# marks that make another letter, such as a hamza. In other scripts, as in Hindi and Thai, vowel signs are letters.
_POINTS = (
    *((0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5), (0x5C7, 0x5C7)),
    *((0x610, 0x61A), (0x640, 0x640), (0x64B, 0x652), (0x656, 0x65E), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E4)),
    *((0x6E7, 0x6E8), (0x6EA, 0x6ED), (0x8D3, 0x8E1), (0x8E3, 0x8FF)),
)
_ALIKE = CharacterTable(
    _with_plain_digit,
    {ord("ı"): "i", ord("٫"): ".", ord("٬"): ","}
    | {code: None for first, last in _POINTS for code in range(first, last + 1)},
)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _bare(character: str, *, blank: bool) -> str | None:
    category = unicodedata.category(character)
    # Marks of direction, soft hyphens and variation selectors are not seen. A zero-width joiner is part of emoji.
    if (category == "Cf" and character != "\u200d") or character in "\ufe0e\ufe0f":
        return None
    if category[0] == "P":
        return " " if blank else None
    return f" {character} " if category == "Sc" and blank else character


_WITHOUT_PUNCTUATION = CharacterTable(partial(_bare, blank=False))
_BLANK_FOR_PUNCTUATION = CharacterTable(partial(_bare, blank=True))


def separate_at_punctuation(text: str) -> str:
    """
    Put a blank for each punctuation mark, except a point or comma between two digits, and around currency signs.

    :param text: Any text.
    :returns: The text, in which "yes/no" and "$2.5" are two words each, while 2.5 and -5 (by U+2212) are one.
    """
    parts = _decimal_mark().split(keep_signs(text))
    parts[::2] = [part.translate(_BLANK_FOR_PUNCTUATION) for part in parts[::2]]
    return "".join(parts)


_MINUS = "\u2212"
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"


@cache
def _sign() -> re.Pattern[str]:
    return re.compile(rf"-(?<![^\s(\[{{“«‘{_DIRECTION}]-)(?=[{_DIRECTION}]*[.,]?\d)")


@cache
def _minus_sign() -> re.Pattern[str]:
    return re.compile(rf"(?<!\S){_MINUS}(?=\d)")


@cache
def _decimal_mark() -> re.Pattern[str]:
    # Looks back from the mark, not from every character.
    return re.compile(r"([.,\u066b\u066c])(?<=\d.)(?=\d)")


@cache
def _drop_separator() -> re.Pattern[str]:
    return re.compile("[ -]")


@cache
def _articles() -> re.Pattern[str]:
    return re.compile(r"\b(a|an|the)\b")


@cache
def _beyond_latin() -> re.Pattern[str]:
    """A letter or punctuation mark of a script other than Latin; general punctuation and symbols are of no script."""
    return re.compile(
        "[\u0370-\u1dff\u1f00-\u1fff\u2c80-\u2dff\u2e80-\ua71f\ua800-\uab2f\uab70-\ufaff\ufb07-\ufdff"
        "\ufe10-\uffef\U00010000-\U0001cfff\U00020000-\U0003ffff]"
    )


def squad_tokens(text: str) -> list[str]:
    """
    Split a text that is normalised by the "squad" rule: Latin words as the SQuAD script does, other scripts likewise.

    SQuAD's script was made for English and takes away ASCII punctuation alone. In words of other scripts, all
    punctuation is taken away, as the multilingual scripts that followed it do, and scripts without spaces go by
    characters.

    :param text: A text, normalised.
    :returns: Its tokens.
    """
    if text.isascii():
        return text.split()
    beyond = _beyond_latin()
    if beyond.search(text) is None:
        return text.split()
    words = [
        # Composed, since some programs write Korean or kana in parts.
        unicodedata.normalize("NFC", word.translate(_WITHOUT_PUNCTUATION)) if beyond.search(word) else word
        for word in text.split()
    ]
    return segment(" ".join(words))
