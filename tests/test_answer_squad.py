# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Exact match and token F1 against SQuAD's rule, written down here once more from its description.

The rule: lower case; every character of ASCII punctuation removed; the words a, an, the replaced by a blank; split at
white space. Exact match compares the words; F1 their bags, and is 1 or 0 where either side has none.
"""

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext import AnswerExactMatchEvaluator, AnswerTokenF1Evaluator


def words(text: str) -> list[str]:
    lowered = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(?:a|an|the)\b", " ", lowered).split()


def squad_exact(reference: str, answer: str) -> float:
    return float(" ".join(words(reference)) == " ".join(words(answer)))


def squad_f1(reference: str, answer: str) -> tuple[float, float, float]:
    wanted, found = words(reference), words(answer)
    if not wanted or not found:
        return (float(wanted == found),) * 3
    left = list(wanted)
    for word in found:
        if word in left:
            left.remove(word)
    same = len(wanted) - len(left)
    if not same:
        return 0.0, 0.0, 0.0
    precision, recall = same / len(found), same / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


WORDS = (
    "the The THE a an A. an, (the) Paris paris Paris, Seine 's don't U.S. 1,234 2.5 rock'n'roll e-mail naïve Ångström "
    "“the” a–b – … a/an _a_ the- über $5 50% an\u00a0the c++ \x01a co-op «the» d'Azur Mc'the theory banana"
)
VOCABULARY = WORDS.split(" ")


def check(rows: list[tuple[list[str], str]]) -> tuple[list[float], list[float]]:
    references, answers = [row[0] for row in rows], [row[1] for row in rows]
    exact = AnswerExactMatchEvaluator(normalization="squad").run(references, answers)["individual_scores"]
    assert exact == [max(squad_exact(text, answer) for text in texts) for texts, answer in rows]
    outputs = AnswerTokenF1Evaluator().run(references, answers)
    for (texts, answer), score, result in zip(rows, outputs["individual_scores"], outputs["results"], strict=True):
        every = [squad_f1(text, answer) for text in texts]
        best = max(range(len(every)), key=lambda n: every[n][2])
        assert result == dict(zip(("precision", "recall", "f1", "reference"), (*every[best], best), strict=True))
        assert score == result["f1"] == every[best][2]
    return exact, outputs["individual_scores"]


def test_equal_on_seeded_texts() -> None:
    rng = random.Random(11)

    def text() -> str:
        return " ".join(rng.choices(VOCABULARY, k=rng.randint(0, 7)))

    exact, f1 = check([([text() for _ in range(rng.randint(1, 3))], text()) for _ in range(3000)])
    # Both ends and what lies between must be there, or the comparison would prove little.
    assert min(exact.count(0), exact.count(1), f1.count(0), f1.count(1)) > 30
    assert len(set(f1)) > 30


LATIN = st.text(st.one_of(st.sampled_from("aAnNtThHeE .,-'_“–"), st.characters(max_codepoint=0x24F)), max_size=30)


@given(references=st.lists(LATIN, min_size=1, max_size=3), answer=LATIN)
def test_equal_on_any_latin_text(references: list[str], answer: str) -> None:
    check([(references, answer)])


@pytest.mark.parametrize(
    ("reference", "answer", "theirs", "ours"),
    [
        ("東京タワー", "東京", 0.0, 4 / 7),  # one word each, by characters: P 1, R 2/5
        ("दिल्ली", "दिल्ली।", 0.0, 1.0),
        ("«Мир»", "мир", 0.0, 1.0),
        ("القاهرة", "القاهرة؟", 0.0, 1.0),
    ],
)
def test_other_scripts_differ_for_a_reason(reference: str, answer: str, theirs: float, ours: float) -> None:
    assert squad_f1(reference, answer)[2] == theirs
    assert AnswerTokenF1Evaluator().run([reference], [answer])["score"] == pytest.approx(ours)


def test_f1_result_of_a_row_without_references() -> None:
    score = pytest.approx(float("nan"), nan_ok=True)
    for policy in ("zero", "nan", "raise"):
        results = AnswerTokenF1Evaluator(on_undefined=policy).run([[], ["x"]], ["x", "x"])["results"]
        assert results[0] == {"precision": score, "recall": score, "f1": score, "reference": None}
        assert results[1] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "reference": 0}
