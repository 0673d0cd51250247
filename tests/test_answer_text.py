# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The text rules that answers are compared by."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext import AnswerContainsEvaluator, AnswerExactMatchEvaluator, AnswerTokenF1Evaluator
from haystack_eval_ext._normalization import make_normalizer, separate_at_punctuation, squad_tokens
from haystack_eval_ext._text import segment

TEXTS = st.text(
    st.one_of(st.sampled_from("aA1٣.,。 -−⁻($\u200d\u200f\ufe0f\u0301東ー๏ि،«ǰßİﬁ½"), st.characters()), max_size=20
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello world"),
        ("  two \n lines\u3000", "two lines"),
        ("ＡＢＣ１２３", "abc123"),
        ("cafe\u0301", "café"),
        ("Straße", "strasse"),
        ("ﾃｽﾄ", "テスト"),
        ("東京タワー。", "東京タワー"),
        ("«Мир», “да”…", "мир да"),
        ("القاهرة؟", "القاهرة"),
        ("नई दिल्ली।", "नई दिल्ली"),
        ("\u200fשלום\u200e", "שלום"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\u2764\ufe0f", "\u2764"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("2.5, 1,234.5. ٢٫٥", "2.5 1,234.5 2.5"),
        ("U.S. don't e-mail", "us dont email"),
        ("a+b=$5", "a+b=$5"),  # symbols are no punctuation
        ("-5", "-5"),
        ("−5 °C", "-5 °c"),
        ("at －５ or ⁻5", "at -5 or -5"),
        ("(-5) [−.5] -٣", "-5 -5 -3"),
        ("\u200f-5", "-5"),
        ("-\u200e5", "-5"),
        ("2024-01-02, COVID-19, 5-10, - 5, --5", "20240102 covid19 510 5 5"),  # hyphens, and one with a blank behind
        ("10⁻² 10²", "10−2 102"),
        ("", ""),
    ],
)
def test_unicode(text: str, expected: str) -> None:
    assert make_normalizer("unicode")(text) == expected


@given(text=TEXTS)
def test_normal_text_stays_as_it_is(text: str) -> None:
    for rule in ("none", "unicode"):
        normalize = make_normalizer(rule)
        assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize("rule", ["fold", "", None, ["none"], "NONE"])
def test_unknown_rules_are_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"normalization must be one of 'none', 'squad', .*, 'dpr', but is "):
        make_normalizer(rule)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tokyo 東京タワー", ["Tokyo", "東", "京", "タ", "ワ", "ー"]),
        ("JR東日本2024年", ["JR", "東", "日", "本", "2024", "年"]),
        ("น้ำ", ["น้", "ำ"]),
        ("서울은 크다", ["서울은", "크다"]),
        ("か\u3099", ["か\u3099"]),
        ("दिल्ली", ["दिल्ली"]),
        ("", []),
    ],
)
def test_segments(text: str, expected: list[str]) -> None:
    assert segment(text) == expected


@given(text=TEXTS)
def test_segments_lose_nothing_but_white_space(text: str) -> None:
    assert "".join(segment(text)) == "".join(text.split())
    assert all(segment(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“x” – y", ["“x”", "–", "y"]),  # Latin: what SQuAD's script leaves stays
        ("東京、大阪。", ["東", "京", "大", "阪"]),
        ("“東京”", ["東", "京"]),
        ("“x” «мир»", ["“x”", "мир"]),
        ("दिल्ली।", ["दिल्ली"]),
        ("。", []),
    ],
)
def test_squad_tokens(text: str, expected: list[str]) -> None:
    assert squad_tokens(text) == expected


SIGNED = ["-5", "−5", "it is -5", "(-5)", "-5.5", "−5.5 °C", "-٣"]


@pytest.mark.parametrize("text", SIGNED)
@pytest.mark.parametrize("hyphen", ["-", "−", "－", "﹣"])
def test_a_minus_sign_counts_and_its_forms_do_not(text: str, hyphen: str) -> None:
    text = text.replace("−", "-").replace("-", hyphen)
    unsigned, other = text.replace(hyphen, ""), text.replace(hyphen, "−")
    evaluators: list[Any] = [
        AnswerExactMatchEvaluator(normalization="unicode"),
        AnswerTokenF1Evaluator(normalization="unicode"),
        AnswerContainsEvaluator(),
    ]
    for evaluator in evaluators:
        scores = evaluator.run([text, unsigned, other, text], [unsigned, text, text, text])["individual_scores"]
        assert scores[2:] == [1.0, 1.0]
        assert max(scores[:2]) < 1


def test_squad_drops_a_hyphen_before_a_number_as_its_script_does() -> None:
    for evaluator in (AnswerExactMatchEvaluator(normalization="squad"), AnswerTokenF1Evaluator()):
        assert evaluator.run(["-5", "−5"], ["5", "5"])["individual_scores"] == [1.0, 0.0]


def test_what_punctuation_alone_tells_apart() -> None:
    references, answers = ["C", "C", "5"], ["C#", "C++", "-5"]
    assert AnswerContainsEvaluator().run(references, answers)["individual_scores"] == [1, 0, 0]
    squad = AnswerContainsEvaluator(normalization="squad")
    assert squad.run(references, answers)["individual_scores"] == [1, 1, 1]
    none = AnswerContainsEvaluator(normalization="none")
    assert none.run(["5", "-5", "5"], ["-5", "at −5", "1-5"])["individual_scores"] == [0, 1, 1]


def test_separate_at_punctuation() -> None:
    assert separate_at_punctuation("yes/no 2.5 $5 a.b 東、京").split() == [
        "yes",
        "no",
        "2.5",
        "$",
        "5",
        "a",
        "b",
        "東",
        "京",
    ]
