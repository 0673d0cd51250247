# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Edit similarity against rapidfuzz itself, and against the textbook's dynamic programme."""

import builtins
import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from haystack_eval_ext import AnswerEditSimilarityEvaluator
from haystack_eval_ext.answers import answer_edit_similarity


def textbook(one: str, other: str) -> float:
    before = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
        before = row
    return 1 - before[-1] / max(len(one), len(other)) if one or other else 1.0


@given(
    references=st.lists(st.text("abé東👍 ", max_size=12), min_size=1, max_size=3),
    answer=st.text("abé東👍 ", max_size=12),
)
def test_equal_to_rapidfuzz_and_the_textbook(references: list[str], answer: str) -> None:
    score = AnswerEditSimilarityEvaluator().run([references], [answer])["score"]
    assert score == max(Levenshtein.normalized_similarity(answer, reference) for reference in references)
    assert score == pytest.approx(max(textbook(answer, reference) for reference in references), abs=1e-12)


def test_equal_to_rapidfuzz_on_long_texts() -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(2, 9))) for _ in range(60)]
    references, answers = ([" ".join(rng.choices(words, k=40)) for _ in range(300)] for _ in range(2))
    expected = [Levenshtein.normalized_similarity(*pair) for pair in zip(answers, references, strict=True)]
    assert AnswerEditSimilarityEvaluator().run(references, answers)["individual_scores"] == expected
    assert len(set(expected)) > 50


@pytest.mark.parametrize("normalization", ["none", "unicode"])
def test_rows_with_one_several_and_no_references_side_by_side(normalization: Any) -> None:
    references: list[Any] = ["abc", ["xyz", "abd"], [], [""]]
    evaluator = AnswerEditSimilarityEvaluator(normalization=normalization, on_undefined="nan")
    result = evaluator.run(references, ["abd", "abd", "abc", "a"])
    assert result["individual_scores"] == pytest.approx([2 / 3, 1.0, math.nan, 0.0], nan_ok=True)
    assert result["statuses"] == ["scored", "scored", "not_run", "scored"]
    alone = evaluator.run(["abc"], ["abd"])
    assert alone["individual_scores"] == result["individual_scores"][:1]


def test_a_missing_package_is_named_with_its_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("rapidfuzz"):
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    answer_edit_similarity._similarity.cache_clear()
    with pytest.raises(ImportError, match="pip install rapidfuzz"):
        AnswerEditSimilarityEvaluator().run(["a"], ["a"])
