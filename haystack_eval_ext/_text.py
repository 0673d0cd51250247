# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Text rules that several families need. Knows no Document and no metric."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


# Half a UTF-16 pair, as broken JSON brings it, and the null byte: no tokenizer or service takes them.
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
# Categories of characters that nobody sees, and others that are not seen either: joiners, fillers, the empty Braille
# pattern, variation selectors.
_UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
_UNSEEN_OTHERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for block in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in block
}


class CharacterTable(dict[int, int | str | None]):
    """A table for ``str.translate`` that asks a rule for each character when it first comes."""

    def __init__(self, rule: Callable[[str], str | None], known: Mapping[int, str | None] | None = None) -> None:
        """
        Start with the characters that the rule is not asked for.

        :param rule: Gives what stands for a character; None: nothing.
        :param known: What stands for others, by code point.
        """
        super().__init__(known or {})
        self._rule = rule

    def __missing__(self, code: int) -> str | None:
        """Ask the rule, and keep what it says."""
        found = self[code] = self._rule(chr(code))
        return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A run of either kind, and a run without spaces; compiled when first needed, since that takes milliseconds."""
    letters = f"[^{_UNSPACED}{_SEPARATORS}]+"
    # "don't" and "1,000.5" are one word.
    word = f"{letters}(?:['\u2019]{letters}|(?<=[0-9])[.,](?=[0-9]){letters})*"
    return re.compile(f"[{_UNSPACED}]+|{word}"), re.compile(f"[{_UNSPACED}]")


def sendable(text: str) -> str:
    """
    Replace what services and tokenizers refuse: lone surrogates and null bytes.

    :param text: Any text.
    :returns: The text with U+FFFD in their places.
    """
    return _UNSENDABLE.sub("\ufffd", text)


def blank(text: str) -> bool:
    """
    Whether a text has nothing that can be seen: white space and invisible characters are no text.

    ```python
    from haystack_eval_ext._text import blank

    print(blank(" \\u200b\\n"), blank("..."))
    # True False
    ```

    :param text: Any text.
    :returns: True if there is nothing, or nothing that is seen.
    """
    return all(
        character.isspace() or unicodedata.category(character) in _UNSEEN or character in _UNSEEN_OTHERS
        for character in text
    )


def normalize(text: str) -> str:
    """
    Bring texts that read alike to one form: compatibility forms (NFKC), case and white space.

    :param text: Any text.
    :returns: The text with full-width and composed forms unified, case folded, and each white space run one blank.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """
    Split a text into words; in scripts without spaces each character is one.

    :param text: Any text.
    :returns: The words without punctuation. Combining characters stay with the character before them.
    """
    word, unspaced = _patterns()
    found: list[str] = []
    for run in word.findall(text):
        if not unspaced.match(run):
            found.append(run)
            continue
        for place, character in enumerate(run):
            if place and unicodedata.category(character).startswith("M"):
                found[-1] += character
            else:
                found.append(character)
    return found


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
    return len(words(text))


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
    if text.isascii():
        return text.split()
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
