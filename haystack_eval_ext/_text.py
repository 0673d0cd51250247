# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Text rules that several families need. Knows no Document and no metric."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Literal, get_args

# Scripts that are written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, kana, CJK ideographs and their
# extensions. Hangul is left out: Korean separates its words.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# White space and punctuation of ASCII, Latin-1, Arabic, Devanagari, the general and the CJK blocks. A list of what
# separates instead of what belongs to a word: "\\w" would split at the combining vowels of Hindi and Thai.
_SEPARATORS = (
    r"\s\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\u060c\u061b\u061f\u066a-\u066d\u06d4"
    r"\u0964\u0965\u2000-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30fb\uff00-\uff0f"
    r"\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)


Normalization = Literal["none", "squad", "unicode"]

_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A run of either kind, and a run without spaces; compiled when first needed, since that takes milliseconds."""
    return re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}{_SEPARATORS}]+"), re.compile(f"[{_UNSPACED}]")


def normalize(text: str) -> str:
    """
    Bring texts that read alike to one form: compatibility forms (NFKC), case and white space.

    :param text: Any text.
    :returns: The text with full-width and composed forms unified, case folded, and each white space run one blank.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def count_words(text: str) -> int:
    """
    Count the words of a text; in scripts without spaces each character is a word.

    ```python
    from haystack_eval_ext._text import count_words

    print(count_words("A short text."), count_words("短い文。"))
    # 3 3
    ```

    :param text: Any text.
    :returns: The number of words; punctuation does not count.
    """
    word, unspaced = _patterns()
    return sum(
        sum(not unicodedata.category(c).startswith("M") for c in run) if unspaced.match(run) else 1
        for run in word.findall(text)
    )


def overlap_tokens(text: str) -> list[str]:
    """
    The units in which two passages are compared.

    Single characters of Japanese or Chinese recur in nearly every passage, so pairs of neighbouring characters stand in
    for words there; a character on its own stays one.

    :param text: A text, normalised.
    :returns: Words; overlapping pairs of characters in scripts without spaces.
    """
    word, unspaced = _patterns()
    tokens: list[str] = []
    for run in word.findall(text):
        if len(run) > 1 and unspaced.match(run):
            tokens.extend(a + b for a, b in pairwise(run))
        else:
            tokens.append(run)
    return tokens


def make_normalizer(normalization: Normalization) -> Callable[[str], str]:
    """
    Make the function that brings answers to the form in which they are compared.

    :param normalization: "none": as they are. "squad": as the SQuAD script does: lower case, no ASCII punctuation, no
        English articles (only English ones), white space unified. "unicode": for every script: compatibility forms
        (full-width, composed) unified, case folded, punctuation and invisible format characters removed, white space
        unified.
    :returns: The function.
    :raises ValueError: If there is no such normalization.
    """
    normalizers: dict[str, Callable[[str], str]] = {"none": str, "squad": _squad, "unicode": _unicode}
    if normalization not in normalizers:
        msg = f"normalization must be one of {', '.join(map(repr, get_args(Normalization)))}, but is {normalization!r}."
        raise ValueError(msg)
    return normalizers[normalization]


def _squad(text: str) -> str:
    return " ".join(_articles().sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split())


def _unicode(text: str) -> str:
    # Punctuation goes without a trace, as in SQuAD's rule; format characters are marks of direction and soft hyphens.
    kept = (c for c in unicodedata.normalize("NFKC", text).casefold() if not _removed(c))
    return " ".join("".join(kept).split())


@cache
def _removed(character: str) -> bool:
    # The zero-width joiner and the variation selector are part of emoji.
    return unicodedata.category(character)[0] == "P" or (
        unicodedata.category(character) == "Cf" and character != "\u200d"
    )


@cache
def _articles() -> re.Pattern[str]:
    return re.compile(r"\b(a|an|the)\b")


def segment(text: str) -> list[str]:
    """
    Split a text at white space, and in scripts without spaces at every character.

    Other than :func:`overlap_tokens` it drops nothing, and for scripts with spaces it is plain ``str.split``.

    ```python
    from haystack_eval_ext._text import segment

    print(segment("Tokyo 東京タワー"))
    # ['Tokyo', '東', '京', 'タ', 'ワ', 'ー']
    ```

    :param text: A text, normalised.
    :returns: Its tokens. Combining characters stay with the character before them.
    """
    unspaced = _patterns()[1]
    tokens: list[str] = []
    for word in text.split():
        if unspaced.search(word) is None:
            tokens.append(word)
        else:
            tokens.extend(_split_unspaced(word))
    return tokens


def _split_unspaced(word: str) -> list[str]:
    unspaced = _patterns()[1]
    tokens: list[str] = []
    open_word = False  # whether the last token is a word of a script with spaces, to which more characters belong
    for character in word:
        if unicodedata.category(character).startswith("M") and tokens:
            tokens[-1] += character
        elif unspaced.match(character):
            tokens.append(character)
            open_word = False
        elif open_word:
            tokens[-1] += character
        else:
            tokens.append(character)
            open_word = True
    return tokens
