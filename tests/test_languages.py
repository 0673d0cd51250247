# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Twelve languages in ten scripts: identical is 1, half right lies between, wrong is near 0, however it is typed."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

import pytest

from cases_answers import ANSWER_CASES, AnswerCase
from haystack_eval_ext import (
    AnswerContainsEvaluator,
    AnswerEditSimilarityEvaluator,
    AnswerExactMatchEvaluator,
    AnswerNumberMatchEvaluator,
    AnswerTokenF1Evaluator,
    SASEvaluator,
)


class Language(NamedTuple):
    """A reference, an answer with half of it and other words, and an answer with nothing of it."""

    reference: str
    half: str
    wrong: str
    quoted: str  # the reference with the language's own marks around it


LANGUAGES: dict[str, Language] = {
    "English": Language("Tokyo Tower 333", "Tokyo Station 333", "Big Ben", "“Tokyo Tower 333”!"),
    "German": Language("Brandenburger Straße 12", "Berliner Straße 12", "Kölner Dom", "„Brandenburger Straße 12“."),
    "Vietnamese": Language("thành phố Huế 1802", "thành phố Vinh 1802", "Đà Lạt", "“thành phố Huế 1802”…"),
    "Russian": Language("река Волга 3530", "река Дон 3530", "Байкал", "«река Волга 3530»."),
    "Greek": Language("Λευκός Πύργος 34", "Λευκός Οίκος 34", "Ακρόπολη", "«Λευκός Πύργος 34»;"),
    "Arabic": Language("برج القاهرة ١٨٧", "برج خليفة ١٨٧", "أسوان", "«برج القاهرة ١٨٧»؟"),
    "Hebrew": Language("מגדל דוד 44", "מגדל אייפל 44", "חיפה", "״מגדל דוד 44״."),
    "Hindi": Language("कुतुब मीनार ७३", "चार मीनार ७३", "आगरा", "‘कुतुब मीनार ७३’।"),
    "Korean": Language("서울 타워 236", "부산 타워 236", "경주", "“서울 타워 236”."),
    "Thai": Language("หอคอยกรุงเทพ๓๑๔", "หอคอยเชียงใหม่๓๑๔", "ภูเก็ต", "“หอคอยกรุงเทพ๓๑๔”"),
    "Chinese": Language("北京电视塔405米", "上海电视塔405米", "杭州西湖", "《北京电视塔405米》。"),
    "Japanese": Language("東京タワー333メートル", "京都タワー333メートル", "富士山", "「東京タワー333メートル」。"),
}
UNICODE: dict[str, Any] = {
    "exact match": AnswerExactMatchEvaluator(normalization="unicode"),
    "token F1": AnswerTokenF1Evaluator(normalization="unicode"),
    "contains": AnswerContainsEvaluator(),
    "edit similarity": AnswerEditSimilarityEvaluator(normalization="unicode"),
}
GRADED: dict[str, Any] = {
    "token F1": AnswerTokenF1Evaluator(),
    "token F1 (unicode)": UNICODE["token F1"],
    "edit similarity": AnswerEditSimilarityEvaluator(),
    "edit similarity (unicode)": UNICODE["edit similarity"],
}
EVERY: dict[str, Any] = {
    **GRADED,
    "exact match": AnswerExactMatchEvaluator(),
    "exact match (squad)": AnswerExactMatchEvaluator(normalization="squad"),
    "exact match (unicode)": UNICODE["exact match"],
    "contains": AnswerContainsEvaluator(),
    "contains (none)": AnswerContainsEvaluator(normalization="none"),
    "number match": AnswerNumberMatchEvaluator(),
}


def score(evaluator: Any, reference: str, answer: str) -> float:
    value: float = evaluator.run([reference], [answer])["score"]
    return value


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("metric", EVERY)
def test_identical_is_one(metric: str, language: str) -> None:
    assert score(EVERY[metric], LANGUAGES[language].reference, LANGUAGES[language].reference) == 1.0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("metric", EVERY)
def test_wrong_is_near_zero(metric: str, language: str) -> None:
    # Letters in common, where letters are what is compared; a Thai character is no word as a Chinese one is.
    limit = 0.3 if "edit" in metric or (language == "Thai" and "F1" in metric) else 0.0
    assert score(EVERY[metric], LANGUAGES[language].reference, LANGUAGES[language].wrong) <= limit


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("metric", GRADED)
def test_half_right_lies_between(metric: str, language: str) -> None:
    reference, half, wrong, _ = LANGUAGES[language]
    assert max(score(GRADED[metric], reference, wrong), 0.35) < score(GRADED[metric], reference, half) < 0.95


@pytest.mark.parametrize("language", LANGUAGES)
def test_number_is_found(language: str) -> None:
    assert score(EVERY["number match"], LANGUAGES[language].reference, LANGUAGES[language].half) == 1.0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("metric", UNICODE)
def test_marks_of_the_language_do_not_count(metric: str, language: str) -> None:
    assert score(UNICODE[metric], LANGUAGES[language].reference, LANGUAGES[language].quoted) == 1.0


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name not in ("English", "German", "Vietnamese")])
def test_marks_do_not_count_in_the_default_f1_of_scripts_beyond_latin(language: str) -> None:
    reference, _, _, quoted = LANGUAGES[language]
    f1 = score(EVERY["token F1"], reference, quoted)
    # A quotation mark at a Latin digit stays, as SQuAD's script leaves it there.
    assert f1 == 1.0 or (reference[-1].isascii() and f1 >= 1 / 2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_contained_in_a_longer_answer(language: str) -> None:
    reference, half, wrong, quoted = LANGUAGES[language]
    assert score(EVERY["contains"], reference, f"{wrong} {quoted} {half}") == 1.0
    assert score(EVERY["contains"], reference, f"{wrong} {half}") == 0.0


# Reading alike: the reference, and the answer as another keyboard or program writes it.
ALIKE: dict[str, tuple[str, str]] = {
    "combining accent": ("café Ångström", "cafe\u0301 A\u030angstro\u0308m"),
    "combining dakuten": ("ガザ", "カ\u3099サ\u3099"),
    "Hangul as jamo": ("서울", "\u1109\u1165\u110b\u116e\u11af"),
    "full-width Latin": ("Tokyo 2020", "Ｔｏｋｙｏ　２０２０"),
    "half-width kana": ("テスト", "ﾃｽﾄ"),
    "ligature": ("office", "oﬃce"),
    "case": ("STRASSE", "straße"),
    "Greek final sigma": ("ΟΔΟΣ", "οδος"),
    "emoji presentation": ("\u2764", "\u2764\ufe0f"),
    "right-to-left mark": ("שלום 5", "\u200fשלום\u200f 5"),
    "embedded direction": ("القاهرة", "\u202bالقاهرة\u202c"),
    "isolated direction": ("القاهرة", "\u2067القاهرة\u2069"),
    "byte order mark": ("Paris", "\ufeffParis"),
    "soft hyphen": ("Donaudampfschiff", "Donau\u00addampf\u00adschiff"),
    "white space": ("New York", " New\u00a0\u2009York\n"),
    "ideographic space": ("東京 大阪", "東京　大阪"),
}
ALIKE |= {
    "Turkish capital with a dot": ("İstanbul", "istanbul"),
    "Turkish capitals": ("İZMİR", "izmir"),
    "Turkish capital without a dot": ("ISPARTA", "ısparta"),
    "Hebrew points": ("שָׁלוֹם", "שלום"),
    "Hebrew presentation form": ("\ufb2aלום", "שלום"),
    "Arabic vowel signs": ("مَدْرَسَة", "مدرسة"),
    "Arabic doubling": ("محمّد", "محمد"),
    "Arabic stroke": ("مـــصر", "مصر"),
    "Arabic small alef": ("رحمٰن", "رحمن"),
    "Bengali digits": ("২০২৪", "2024"),
    "Hindi digits": ("७३ मीटर", "73 मीटर"),
    "Arabic digits": ("١٬٢٣٤٫٥ كم", "1,234.5 كم"),
    "Thai digits": ("พ.ศ. ๒๕๖๗", "พ.ศ. 2567"),
    "Persian digits": ("-۵", "-5"),
    "Korean of a file name": ("서울특별시 강남구", unicodedata.normalize("NFD", "서울특별시 강남구")),
    "Vietnamese in parts": ("thành phố Huế", unicodedata.normalize("NFD", "thành phố Huế")),
}
# Marks that make another word.
UNLIKE: dict[str, tuple[str, str]] = {
    "accent": ("café", "cafe"),
    "umlaut": ("schön", "schon"),
    "Hindi vowel signs": ("दिन", "दन"),
    "Thai vowel signs": ("กิน", "กน"),
    "hamza": ("سأل", "سال"),
    "dakuten": ("ガス", "カス"),
    "Turkish cedilla": ("şık", "sık"),
    "sign of a number": ("-٥", "5"),
    "decimals": ("٢٫٥", "25"),
}
EMOJI = {"one": "👍", "skin": "👍🏽", "family": "👨\u200d👩\u200d👧", "flag": "🇯🇵", "keycap": "1\ufe0f\u20e3"}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("metric", UNICODE)
def test_what_reads_alike_is_one(metric: str, kind: str) -> None:
    reference, answer = ALIKE[kind]
    assert score(UNICODE[metric], reference, answer) == score(UNICODE[metric], answer, reference) == 1.0


@pytest.mark.parametrize("kind", UNLIKE)
@pytest.mark.parametrize("metric", UNICODE)
def test_what_reads_otherwise_is_not_one(metric: str, kind: str) -> None:
    reference, answer = UNLIKE[kind]
    assert score(UNICODE[metric], reference, answer) < 1.0


def test_the_default_f1_knows_korean_and_kana_in_parts() -> None:
    for text in ("서울 타워", "ガザ"):
        assert score(EVERY["token F1"], text, unicodedata.normalize("NFD", text)) == 1.0


@pytest.mark.parametrize("kind", EMOJI)
@pytest.mark.parametrize("metric", UNICODE)
def test_emoji_are_text(metric: str, kind: str) -> None:
    assert score(UNICODE[metric], EMOJI[kind], EMOJI[kind]) == 1.0
    assert score(UNICODE[metric], EMOJI[kind], "🦊") == 0.0
    assert score(UNICODE[metric], f"ok {EMOJI[kind]}", f"ok {EMOJI[kind]}") == 1.0


# A cross-encoder scores an identical pair as it has learned to, and those of the tests have learned nothing.
ONE_IF_IDENTICAL = [
    case for case in ANSWER_CASES if case.component is not SASEvaluator or "identical" not in case.broken_laws
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", ONE_IF_IDENTICAL, ids=lambda case: case.name)
def test_identical_in_every_row_of_the_tables(case: AnswerCase, language: str) -> None:
    text = LANGUAGES[language].reference
    assert score(case.make(), text, text) == pytest.approx(1.0, abs=1e-12)
