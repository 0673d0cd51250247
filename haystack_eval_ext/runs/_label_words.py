# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What people write as a label: numbers, stars, and words for right and wrong in many languages."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

# By language the pairs of words: right first. Words of one side are separated by a blank, spellings too.
_PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "English": (
        ("yes y true t", "no n false f"),
        ("pass passed ok", "fail failed"),
        ("good", "bad"),
        ("correct right", "incorrect wrong"),
        ("supported", "unsupported"),
        ("relevant", "irrelevant"),
    ),
    "German": (("ja", "nein"), ("wahr", "falsch"), ("richtig korrekt", "falsch inkorrekt"), ("gut", "schlecht")),
    "French": (("oui", "non"), ("vrai", "faux"), ("correct juste", "incorrect"), ("bon", "mauvais")),
    "Spanish": (("sí si", "no"), ("verdadero", "falso"), ("correcto", "incorrecto"), ("bien bueno", "mal malo")),
    "Portuguese": (("sim", "não nao"), ("verdadeiro", "falso"), ("correto certo", "incorreto errado"), ("bom", "mau")),
    "Italian": (("sì si", "no"), ("vero", "falso"), ("corretto giusto", "errato sbagliato scorretto")),
    "Dutch": (("ja", "nee"), ("waar", "onwaar"), ("juist correct", "onjuist incorrect"), ("goed", "fout slecht")),
    "Danish, Norwegian, Swedish": (
        ("ja", "nej nei"),
        ("sandt sant", "falsk falskt usant"),
        ("rigtigt riktig rätt", "forkert feil fel"),
    ),
    "Finnish": (("kyllä", "ei"), ("oikein", "väärin")),
    "Polish": (("tak", "nie"), ("prawda", "fałsz"), ("poprawne", "niepoprawne")),
    "Czech": (("ano", "ne"), ("pravda", "nepravda"), ("správně", "špatně")),
    "Russian": (("да", "нет"), ("верно правильно", "неверно неправильно"), ("правда истина", "ложь")),
    "Ukrainian": (("так", "ні"), ("правильно", "неправильно")),
    "Turkish": (("evet", "hayır"), ("doğru", "yanlış")),
    "Greek": (("ναι", "όχι"), ("σωστό", "λάθος")),
    "Arabic": (("نعم", "لا"), ("صحيح صح", "خطأ")),
    "Hindi": (("हाँ हां", "नहीं"), ("सही", "गलत")),
    "Japanese": (("はい", "いいえ"), ("正しい 正解", "間違い 誤り 不正解"), ("真", "偽"), ("○ 〇", "× ✕")),
    "Chinese": (("是", "否 不是"), ("对 對", "错 錯"), ("正确 正確", "错误 錯誤"), ("真", "假")),
    "Korean": (("예 네", "아니요 아니오"), ("참", "거짓"), ("맞음", "틀림")),
}
_STARS = re.compile(
    r"(\d+(?:\.\d+)?)\s*(?:stars?|sterne?|étoiles?|estrellas?|estrelas?|stell[ae]|звезд[аы]?|つ星|星|별)"
)
_DRAWN_STARS = re.compile(r"((?:[★⭐]\ufe0f?)*)☆*")
_WITH_SCALE = re.compile(r"\d+(?:[.,]\d+)?\s*(?:/|of|out of|von|sur|de|из)\s*\d+(?:[.,]\d+)?")
_PERCENT = re.compile(r"\d+(?:[.,]\d+)?\s*%")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_ENDS = " \t\r\n.。!！"

UNDERSTOOD = (
    "numbers, '4 stars', and yes/no, true/false, correct/incorrect, pass/fail, good/bad and their like in "
    f"{len(_PAIRS)} languages"
)


def _plain(word: str) -> str:
    folded = unicodedata.normalize("NFKC", word).casefold()
    # Turkish has two letters i, each with capitals of its own.
    return folded.replace("ı", "i").replace("i\u0307", "i").strip(_ENDS)


WORDS = {
    _plain(word): float(place == 0)
    for pairs in _PAIRS.values()
    for pair in pairs
    for place, words in enumerate(pair)
    for word in words.split()
}


def checked_words(words: Mapping[str, float] | None) -> dict[str, float]:
    """
    Check a user's own words.

    :param words: The number of each word, such as {"right": 1, "wrong": 0}.
    :returns: The same, with words as they are looked up: without regard to case and surrounding white space.
    :raises ValueError: If a word is empty or has two numbers, or a number is not finite.
    """
    found: dict[str, float] = {}
    for word, number in (words or {}).items():
        key = _plain(word) if isinstance(word, str) else ""
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
        if _plain(key) in words:
            return words[_plain(key)]
    return number


def _of_text(value: str, words: Mapping[str, float]) -> float | str | None:
    text = _plain(value)
    if not value.strip():
        return None
    for known in (words, WORDS):
        if text in known:
            return known[text]
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
