# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""One way to write amounts, decades, names that end in a sign, and Korean copulas, so that texts can be compared."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache

from haystack_eval_ext.answers._negation import GAP
from haystack_eval_ext.answers._numbers import find_numbers

#: Ends the word for a decade. "1990s" is no number.
DECADE = "decade"

# Words of scale behind a number, by value. German "Billion" is left out beside the English one, its plural is read.
_SCALES = {
    1e3: "thousand|tausend|mille|mil|mila|duizend|tusen|tusind|tuhat|tuhatta|tys\\.?|tysiąc|tysiące|tysięcy|tisíc\\w?|"
    "тысяч[аи]?|тыс\\.?|тисяч[аі]?|bin|χιλιάδες|ألف|آلاف|हज़ार|हजार|ribu|천",
    1e4: "만",
    1e5: "lakhs?|लाख",
    1e6: "millions?|mn|mio\\.?|millionen|millón|millones|milhão|milhões|milione|milioni|miljoen|miljon|miljoner|"
    "millioner|miljoonaa?|milion|miliony|milionów|milionů|mln\\.?|миллион(?:а|ов)?|млн\\.?|мільйон(?:и|ів)?|milyon|"
    "εκατομμύρι[οα]|مليون|ملايين|juta|triệu",
    1e7: "crores?|करोड़",
    1e8: "억",
    1e9: "billions?|bn|milliarden?|mrd\\.?|milliards?|mil millones|mil milhões|bilhão|bilhões|miliardo|miliardi|"
    "miljard|miljarder|milliarder|miljardia?|miliard\\w{0,2}|mld\\.?|миллиард(?:а|ов)?|млрд\\.?|мільярд(?:и|ів)?|milyar|"
    "δισεκατομμύρι[οα]|مليار|miliar|tỷ",
    1e12: "trillions?|billionen|조",
}
# Signs, codes and words of one currency; not ¥, which is of Japan and of China. Words count behind
# a number only; signs and codes before it as well.
_CURRENCIES = {
    "usd": ("\\$|US\\$|USD", "dollars?|doll?ar(?:es|i)|доллар(?:а|ов)?|ドル|달러|美元"),
    "eur": ("€|EUR", "euros?|евро|ευρώ|ユーロ|유로|欧元"),
    "gbp": ("£|GBP", "pounds?(?: sterling)?|libras?|фунт(?:а|ов)?"),
    "jpy": ("JPY", "yen|円|엔"),
    "cny": ("CNY|RMB", "yuan|元"),
    "inr": ("₹|INR|Rs\\.?", "rupees?|रुपये"),
    "krw": ("₩|KRW", "won|원"),
    "rub": ("₽|RUB", "rubles?|рубл(?:ь|я|ей)"),
    "try": ("₺|TRY", "lira"),
    "chf": ("CHF", "Franken"),
}
_PERCENT = (
    "%|٪|％|percent|per cent|Prozent|pour ?cent|por ciento|por cento|per cento|procent\\w?|prosent(?:tia)?|"
    "процент(?:а|ов)?|відсот(?:ок|ки|ків)|τοις εκατό|प्रतिशत|パーセント|퍼센트|persen"
)
_COPULAS = "입니다|이에요|이다|예요"
_DECADES = "['’]?s|er|-?[её]|-?[хx]|年代|년대"
_SIGNS = {"#": "sharp", "++": "plusplus", "+": "plus"}
_BLANK = "[ \u00a0\u202f-]"
_NUMBER = r"[-−]?\d(?:[\d.,'’٫٬]*\d)?"


@cache
def _scale() -> re.Pattern[str]:
    # The longer name of a scale first: "mil millones" before "mil".
    words = "|".join(f"(?P<e{math.log10(value):.0f}>{names})" for value, names in reversed(_SCALES.items()))
    return re.compile(rf"(?<![\w.,])(?P<number>{_NUMBER}){_BLANK}?(?:{words})(?![^\W\d_가-힣])", re.IGNORECASE)


def _scaled(match: re.Match[str]) -> str:
    found = find_numbers(match["number"])
    power = next(int(name[1:]) for name, text in match.groupdict().items() if text and name != "number")
    value = found[0][0] * 10**power if len(found) == 1 else math.inf
    if not math.isfinite(value):
        return match[0]
    return f"{value:.0f} " if value.is_integer() else f"{value!r} "


@cache
def _money() -> tuple[re.Pattern[str], re.Pattern[str]]:
    signs = "|".join(f"(?P<{code}>{names})" for code, (names, _) in _CURRENCIES.items())
    behind = "|".join(f"(?P<{code}>{'|'.join(filter(None, names))})" for code, names in _CURRENCIES.items())
    return (
        re.compile(rf"(?<!\w)(?:{signs})[ \u00a0]?(?P<number>{_NUMBER})"),
        re.compile(rf"(?P<number>(?<![\w.,]){_NUMBER}){_BLANK}?(?:{behind})(?![A-Za-z])", re.IGNORECASE),
    )


def _amount(match: re.Match[str]) -> str:
    code = next(name for name, text in match.groupdict().items() if text and name != "number")
    return f"{match['number']} {code} "


@cache
def _others() -> tuple[tuple[re.Pattern[str], str], ...]:
    return (
        (re.compile(rf"(?<=[가-힣])(?={_COPULAS}(?![가-힣]))"), " "),
        (re.compile(rf"(?<![\w.,])(\d*0)(?:{_DECADES})(?![A-Za-z])"), rf"\1{DECADE} "),
        (re.compile(rf"(?<![\w.,])({_NUMBER}){_BLANK}?(?:{_PERCENT})(?![^\W\d_])", re.IGNORECASE), r"\1 percent "),
    )


_SIGNED = re.compile(r"(?<!\w)(?:([^\W\d_])(#|\+)|([^\W\d_]\w*)(\+\+))(?![\w+#])")
_UNIT_SIGN = re.compile("US\\$|[$€£₹₩₽₺%٪％]")
# Groups of digits between blanks, and no row of numbers.
_GROUPED = re.compile(
    r"(?<![\w.,])(?<!\d[ \u00a0\u202f])\d{1,3}([ \u00a0\u202f])\d{3}(?:\1\d{3})*(?![ \u00a0\u202f]?\d)"
)
# 19-20 is not 1920, nor is 9:00 900.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-‐‑‒–—/:](?=\d)")


def written_alike(text: str) -> str:
    """
    Write a text in one of the ways that mean the same.

    ```python
    from haystack_eval_ext.answers._writing import written_alike

    print(written_alike("2.5 million"), written_alike("€5"), written_alike("10%"), written_alike("C#"))
    # 2500000  5 eur   10 percent  Csharp
    ```

    :param text: Any text.
    :returns: The text: words of scale multiplied out, currency as a code and per cent as a word behind the number,
        decades as one word, signs that end a name as letters, Korean copulas apart.
    """
    text = _SIGNED.sub(lambda found: (found[1] or found[3]) + _SIGNS[found[2] or found[4]], text)
    text = _GROUPED.sub(lambda found: found[0].replace(found[1], ""), text)
    text = _scale().sub(_scaled, text)
    for pattern in _money():
        text = pattern.sub(_amount, text)
    for other, form in _others():
        text = other.sub(form, text)
    return _BETWEEN_DIGITS.sub(" ", text)


def without_signs(reference: str) -> str | None:
    """
    Take signs of currencies and of per cent off, since an answer may leave them out: "5" for "$5".

    :param reference: Any text.
    :returns: The text without them; None if it has none.
    """
    bare = _UNIT_SIGN.sub(" ", reference)
    return None if bare == reference else bare


def without_amounts(text: str) -> str:
    """
    Take out the numbers that stand beside a currency or per cent.

    :param text: A text from `written_alike`.
    :returns: The text with a gap for each of them.
    """
    return _measured().sub(GAP, text)


@cache
def _measured() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,]){_NUMBER} (?:{'|'.join(_CURRENCIES)}|percent)\b")


def without_accents(text: str) -> str:
    """
    Take the accents off Latin letters.

    :param text: Any text.
    :returns: The text; letters of other scripts, whose marks are letters, stay.
    """
    if text.isascii():
        return text
    return "".join(map(_without_accent, unicodedata.normalize("NFC", text)))


def _without_accent(letter: str) -> str:
    is_latin = "\u00c0" <= letter <= "\u024f" or "\u1e00" <= letter <= "\u1eff"
    return unicodedata.normalize("NFD", letter)[0] if is_latin else letter
