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

_ARTICLES = frozenset(("a", "an", "the"))
# Half a UTF-16 pair, as broken JSON brings it, and the null byte: no tokenizer or service takes them.
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
# Categories of characters that nobody sees, and others that are not seen either: joiners, fillers, the empty Braille
# pattern, variation selectors.
_UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
_UNSEEN_OTHERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code) for block in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in block
}
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


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


def make_normalizer(normalization: Normalization) -> Callable[[str], str]:
    """
    Make the function that brings answers to the form in which they are compared.

    :param normalization: "none": as they are. "squad": as the SQuAD script does: lower case, no ASCII punctuation, no
        English articles (only English ones), white space unified. "unicode": for every script: compatibility forms
        (full-width, composed) unified, case folded, punctuation and invisible format characters removed, white space
        unified. A point or comma between two digits stays, and a minus sign (hyphen or U+2212) before a digit at the
        start, after white space or an opening bracket: -5 is not 5. "squad" drops a hyphen there, too.
    :returns: The function.
    :raises ValueError: If there is no such normalization.
    """
    if normalization not in get_args(Normalization):  # compares, so that nothing need be hashable
        msg = f"normalization must be one of {', '.join(map(repr, get_args(Normalization)))}, but is {normalization!r}."
        raise ValueError(msg)
    normalizers: dict[str, Callable[[str], str]] = {"none": str, "squad": _squad, "unicode": _unicode}
    return normalizers[normalization]


def _squad(text: str) -> str:
    text = text.lower().translate(_ASCII_PUNCTUATION)
    words = text.split()
    if text.isascii() and "".join(words).isprintable():
        return " ".join([word for word in words if word not in _ARTICLES])
    # Where other signs than blanks can bound a word, only the script's own expression does what the script does.
    return " ".join(_articles().sub(" ", text).split())


def _unicode(text: str) -> str:
    # Case folding can take the composed form apart again: "ǰ" becomes "j" and a caron.
    folded = keep_signs(text.lower() if text.isascii() else _nfkc(_nfkc(text).casefold()))
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
    from haystack_eval_ext._text import keep_signs

    print(keep_signs("-5 and (-.5), but 2024-01-02 and COVID-19"))
    # −5 and (−.5), but 2024-01-02 and COVID-19
    ```

    :param text: Any text.
    :returns: The text, with U+2212 for a hyphen before a digit that stands at the start, after white space, an opening
        bracket or a mark of direction.
    """
    return _sign().sub(_MINUS, text) if "-" in text else text


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


class _Punctuation(dict[int, int | str | None]):
    """What becomes of each character, for ``str.translate``: looked up when it first comes."""

    def __init__(self, *, blank: bool) -> None:
        super().__init__()
        self._blank = blank

    def __missing__(self, code: int) -> int | str | None:
        character = chr(code)
        category = unicodedata.category(character)
        to: int | str | None = code
        # Marks of direction, soft hyphens and variation selectors are not seen. A zero-width joiner is part of emoji.
        if (category == "Cf" and character != "\u200d") or character in "\ufe0e\ufe0f":
            to = None
        elif category[0] == "P":
            to = " " if self._blank else None
        elif category == "Sc" and self._blank:
            to = f" {character} "
        self[code] = to
        return to


_WITHOUT_PUNCTUATION = _Punctuation(blank=False)
_BLANK_FOR_PUNCTUATION = _Punctuation(blank=True)


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
    words = [word.translate(_WITHOUT_PUNCTUATION) if beyond.search(word) else word for word in text.split()]
    return segment(" ".join(words))


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
