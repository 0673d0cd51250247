# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The words for yes and no, right and wrong: in data, in labels of people, and in replies of judges."""

from __future__ import annotations

import unicodedata

#: By language the pairs of words: right first, and the pair for yes and no before all others. Words of one side are
#: separated by a blank, spellings too.
PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "English": (
        ("yes true", "no false"),
        ("y t", "n f"),
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
_ENDS = " \t\r\n.。!！"


def plain_word(word: str) -> str:
    """
    Bring spellings of a word to one form.

    :param word: A word.
    :returns: It in small letters, without white space and full stops around it.
    """
    folded = unicodedata.normalize("NFKC", word).casefold()
    # Turkish has two letters i, each with capitals of its own.
    return folded.replace("ı", "i").replace("i\u0307", "i").strip(_ENDS)


def _sides(pairs: tuple[tuple[str, str], ...]) -> dict[str, bool]:
    return {
        plain_word(word): side is right for right, wrong in pairs for side in (right, wrong) for word in side.split()
    }


_ENGLISH = _sides(PAIRS["English"])
# "not supported" and its like.
_NEGATED = {f"not {word}": False for word, right in _ENGLISH.items() if right and len(word) > 1}
#: Each word with what it says; no word says both.
WORDS = {word: right for pairs in PAIRS.values() for word, right in _sides(pairs).items()} | _NEGATED
_YES_NO = {word: right for pairs in PAIRS.values() for word, right in _sides(pairs[:1]).items()}


def says_yes(text: str) -> bool | None:
    """
    Tell what a word for yes or no says.

    :param text: A word, in any of the languages; "true" and "false" are such words, "good" and "y" are not.
    :returns: True for yes, False for no, None for all else.
    """
    return _YES_NO.get(plain_word(text))


def words_like(word: str) -> dict[str, int]:
    """
    Give a word for right with its opposites.

    :param word: Such as "supported".
    :returns: The words of its pair and what each says, as in {"supported": 1, "unsupported": 0, "not supported": 0}.
    """
    pair = next(pair for pair in PAIRS["English"] if word in pair[0].split())
    return {each: int(right) for each, right in _sides((pair,)).items()} | {
        f"not {each}": 0 for each in pair[0].split()
    }
