# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers in texts of the common locales. Pure: a text in, the readings of each number out."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal

DecimalSeparator = Literal["auto", ".", ","]
#: What a number may mean: one value, or two where "1,234" is 1234 to some and 1.234 to others.
Readings = tuple[float, ...]

_SMALL = {"十": 1e1, "百": 1e2, "千": 1e3}
_LARGE = {"万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8, "兆": 1e12, "京": 1e16}
_FACTOR = "[十百千万萬億亿兆京]"
_KANJI = "[〇零一二两三四五六七八九]"
_KANJI_DIGITS = str.maketrans("〇零一二两三四五六七八九", "001223456789")
_BLANK = "[ \u00a0\u2007\u2009\u202f]"  # a blank, and those that do not break or are narrow
_FRACTION = "[¼-¾⅐-⅞↉]"
_RATIO = "[0-9]++⁄0*+[1-9][0-9]*+(?!⁄)"  # the slash of fractions; "1/2" may be a date
# Signs that a digit right after does not follow as the second of two: "5%-10%" is a range.
_ENDS_A_TERM = ")]}%‰°\"'”’-–"
# Letters right before an amount. Any other letter makes the digits part of a name or a unit: CO2, m2, A4.
_CURRENCY = re.compile("(?<![A-Za-z])(?:AUD|BRL|CAD|CHF|CNY|DKK|EUR|GBP|HKD|INR|JPY|KRW|NOK|PLN|RMB|Rs|SEK|USD|kr)$")
_LONGEST_CURRENCY = 4  # with the character before it


def find_numbers(text: str, decimal_separator: DecimalSeparator = "auto") -> list[Readings]:
    """
    Find the numbers of a text, in any decimal digits and the usual ways of grouping them.

    ```python
    from haystack_eval_ext.answers._numbers import find_numbers

    print(find_numbers("1 234,5 m2 on 2024-01-02"), find_numbers("1,234"), find_numbers("1万2千円"))
    # [(1234.5,), (2024.0,), (1.0,), (2.0,)] [(1234.0, 1.234)] [(12000.0,)]
    print(find_numbers("2½ or 1⁄2"), find_numbers("- 5"), find_numbers("-1e9999"))
    # [(2.5,), (0.5,)] [(5.0,)] [(-inf,)]
    ```

    :param text: Any text.
    :param decimal_separator: What separates decimals; the other of point and comma groups digits. "auto": both
        readings, where both are possible.
    :returns: The readings of each number, in the order of the text; infinity for what is too large for a float. A minus
        sign with a blank behind it is no sign of the number.
    """
    text = _unified(text)
    decimals = (".", ",") if decimal_separator == "auto" else (decimal_separator,)
    found: list[Readings] = []
    for match in _matches(text):
        if _belongs_to_a_word(text, match.start()):
            continue
        sign = -1.0 if _is_negative(text, match.start()) else 1.0
        for readings in _readings(match, decimals):
            found.append(tuple(dict.fromkeys(sign * value for value in readings)))
            sign = 1.0  # of a row of numbers, the first has the sign
    return found


def _matches(text: str) -> Iterator[re.Match[str]]:
    """As ``finditer``, but the long expression is tried only where a number can begin."""
    number, at = _number(), 0
    while (start := _beginning().search(text, at)) is not None:
        match = number.match(text, start.start())
        at = start.end() if match is None else match.end()
        if match is not None:
            yield match


@cache
def _beginning() -> re.Pattern[str]:
    return re.compile(f"[.0-9{_KANJI[1:-1]}十百千{_FRACTION[1:-1]}]")


@cache
def _number() -> re.Pattern[str]:
    kanji = f"{_KANJI}+"
    then, then_at_once, then_later = (rf"(?:{_FACTOR}(?:{_plain(number)}|{kanji})?)" for number in (2, 3, 4))
    power = r"[eE][+-]?[0-9]++(?!\w)|\s?[×·*]\s?10\^[+-]?[0-9]++"
    return re.compile(
        r"(?<![\w.])\.(?P<point>[0-9]+)(?![.0-9])"
        rf"|(?<!⁄)(?P<ratio>{_RATIO})"
        rf"|(?P<plain>{_plain(1)})"
        rf"(?:(?P<then>{then}+)|(?P<power>{power})|{_BLANK}?(?P<part>{_FRACTION})|{_BLANK}(?P<over>{_RATIO}))?"
        rf"|(?P<kanji>{kanji}{then_later}*|(?=[十百千]){then_at_once}+)"
        rf"|(?P<fraction>{_FRACTION})"
    )


def _plain(number: int) -> str:
    """Digits with separators. Groups between blanks are of one kind, and no row of numbers: no digits around them."""
    groups = rf"[0-9]{{1,3}}(?P<blank{number}>{_BLANK})[0-9]{{3}}(?:(?P=blank{number})[0-9]{{3}})*(?!{_BLANK}?[0-9])"
    spaced = rf"(?<![0-9]{_BLANK}){groups}(?:[.,٫][0-9]+)?(?![.,'٬⁄]?[0-9])"
    return rf"(?:{spaced}|[0-9]+(?:[.,'٬٫][0-9]+)*)"


def _unified(text: str) -> str:
    """ASCII digits and signs; superscripts are no digits, but for powers of ten."""
    if text.isascii():
        return text
    text = _full_width_separator().sub(lambda mark: "," if mark[0] == "，" else ".", text).translate(_ASCII)
    # "2¹⁄₂" is two and a half, and not 21⁄2.
    text = _small_fraction().sub(lambda small: small[1] + " " * bool(small[1]) + _compatible(small[2]), text)
    return _power_of_ten().sub(lambda power: "10^" + _compatible(power[1]).replace("−", "-"), text)


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


@cache
def _full_width_separator() -> re.Pattern[str]:
    # In Chinese a full-width comma after an ASCII digit ends a clause.
    return re.compile("(?<=[０-９])[，．](?=[０-９])")


@cache
def _small_fraction() -> re.Pattern[str]:
    return re.compile("([0-9]?)(?<![⁰¹²³⁴-⁹])((?:[⁰¹²³⁴-⁹]++⁄|⅟)[₀-₉]++)")


@cache
def _power_of_ten() -> re.Pattern[str]:
    return re.compile(r"(?<![0-9])10([⁻⁺]?[⁰¹²³⁴-⁹]+)")


class _AsciiDigits(dict[int, int | str]):
    """The ASCII form of digits and signs, for ``str.translate``: looked up when a character first comes."""

    def __missing__(self, code: int) -> int | str:
        digit = unicodedata.decimal(chr(code), None)
        self[code] = code if digit is None else str(digit)
        return self[code]


_ASCII = _AsciiDigits({ord(sign): ascii_sign for sign, ascii_sign in zip("−－﹣＋’＇", "---+''", strict=True)})


def _belongs_to_a_word(text: str, start: int) -> bool:
    """Whether a letter with a case, as in Latin, Greek and Cyrillic, stands right before; other scripts join them."""
    before = text[start - 1 : start]
    if before.lower() == before.upper():
        return False
    return _CURRENCY.search(text[max(start - _LONGEST_CURRENCY, 0) : start]) is None


def _is_negative(text: str, start: int) -> bool:
    """Whether a minus sign stands before, and no hyphen as in 2024-01-02, COVID-19 or 5–10."""
    at = start - 1
    if at >= 0 and unicodedata.category(text[at]) == "Sc":
        at -= 1
    if at < 0 or text[at] not in "-–":
        return False
    before = text[max(at - 2, 0) : at]
    if not before:
        return True
    if before[-1].isspace():
        return text[at] == "-" or not before[0].isdigit()
    return not (before[-1].isdigit() or before[-1].lower() != before[-1].upper() or before[-1] in _ENDS_A_TERM)


def _readings(match: re.Match[str], decimals: tuple[str, ...]) -> Iterator[list[float]]:
    """The readings of one match, which is several numbers where it can be none."""
    if match["point"]:
        yield [float(f".{match['point']}")] if "." in decimals else [float(match["point"])]
    elif match["fraction"]:
        yield [unicodedata.numeric(match["fraction"])]
    elif match["ratio"]:
        yield [_ratio(match["ratio"])]
    elif match["kanji"]:
        if _is_kanji_number(match["kanji"]):
            yield _values("", match["kanji"], decimals)
    else:
        pieces = _split(match["plain"], decimals)
        for piece in pieces[:-1]:
            yield _values(piece, "", decimals)
        if match["then"]:
            yield _values(pieces[-1], match["then"], decimals)
            return
        power = re.search(r"[+-]?[0-9]+$", match["power"]) if match["power"] else None
        part = unicodedata.numeric(match["part"]) if match["part"] else _ratio(match["over"] or "0⁄1")
        texts = [_read(pieces[-1], decimal) for decimal in decimals]
        yield [float(f"{text}e{power[0] if power else 0}") + part for text in texts if text is not None]


def _ratio(text: str) -> float:
    above, below = map(float, text.split("⁄"))
    return above if above == math.inf else above / below


def _is_kanji_number(text: str) -> bool:
    """Single numerals are part of many words (一番, 百合), and two digits are no way to write a number (三四人)."""
    if any(character in _SMALL or character in _LARGE or character in "0123456789" for character in text):
        return len(text) > 1
    return len(text) > 2 or (len(text) > 1 and "〇" in text)  # noqa: PLR2004 - 二〇 is 20, 二〇二四 is 2024


def _split(run: str, decimals: tuple[str, ...]) -> list[str]:
    """The numbers in a run of digits and separators: one where some locale writes it so, else a list, else all."""
    for pieces in ([run], run.split(","), run.split(".")):
        if all(any(_read(piece, decimal) is not None for decimal in decimals) for piece in pieces):
            return pieces
    return re.findall("[0-9]+", run)


def _read(run: str, decimal: str) -> str | None:
    """A number in Python's form, or None where this decimal separator makes it none."""
    if run.isdecimal():
        return run
    match = _form(decimal).fullmatch(run)
    if match is None:
        return None
    return re.sub("[^0-9]", "", match["whole"]) + "." + (match["decimals"] or "0")


@cache
def _form(decimal: str) -> re.Pattern[str]:
    group = "," if decimal == "." else "."
    thousands = rf"[1-9][0-9]{{0,2}}(?P<mark>[{group}'٬]|{_BLANK})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"
    indian = "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}" if group == "," else ""
    return re.compile(rf"(?P<whole>[0-9]+|{thousands}{indian})(?:[{decimal}٫](?P<decimals>[0-9]+))?")


def _values(plain: str, rest: str, decimals: tuple[str, ...]) -> list[float]:
    parts = re.findall(rf"{_FACTOR}|{_KANJI}+|[^{_FACTOR[1:-1]}{_KANJI[1:-1]}]+", plain + rest)
    values = [_value(parts, decimal) for decimal in decimals]
    return [value for value in values if value is not None]


def _value(parts: list[str], decimal: str) -> float | None:
    """The value of 1, 万, 2, 千: each large factor multiplies what stands before it since the last one."""
    total = section = 0.0
    digits: float | None = None
    for part in parts:
        if part in _SMALL:
            section += (1.0 if digits is None else digits) * _SMALL[part]
            digits = None
        elif part in _LARGE:
            section += digits or 0.0
            total = total * _LARGE[part] if not section and digits is None else total + section * _LARGE[part]
            section, digits = 0.0, None
        else:
            text = _read(part.translate(_KANJI_DIGITS), decimal)
            if text is None:
                return None
            digits = float(text)
    return total + section + (digits or 0.0)
