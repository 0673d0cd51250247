# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""ROUGE: rouge-score's own values where its tokenizer works, and a tokenizer that works elsewhere as well."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from answer_texts import ANSWERED, ASCII_WORDS, batch
from haystack_eval_ext import AnswerRougeEvaluator
from haystack_eval_ext.answers.answer_rouge import RougeTokenizer

TYPES = ["rougeL", "rouge1", "rouge2", "rougeLsum"]
MEASURES = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}


def score(prediction: str, *references: str, **parameters: Any) -> float:
    result = AnswerRougeEvaluator(**parameters).run([list(references)], [prediction])
    return float(result["individual_scores"][0])


@pytest.mark.parametrize("use_stemmer", [False, True])
@pytest.mark.parametrize("rouge_type", TYPES)
def test_values_are_those_of_rouge_score(rouge_type: Any, use_stemmer: bool) -> None:
    bare = RougeScorer([rouge_type], use_stemmer=use_stemmer)
    tokenize = DefaultTokenizer(use_stemmer).tokenize
    references, predictions = batch(3, ASCII_WORDS)
    result = AnswerRougeEvaluator(rouge_type=rouge_type, use_stemmer=use_stemmer).run(references, predictions)
    compared = 0
    for row, prediction, ours in zip(references, predictions, result["results"], strict=True):
        theirs = bare.score_multi(row, prediction)[rouge_type]
        if not theirs.fmeasure and tokenize(prediction) in map(tokenize, row):
            continue  # nothing to count: rouge-score says 0, we say 1
        compared += 1
        for measure, name in MEASURES.items():
            assert ours[measure] == pytest.approx(getattr(theirs, name), abs=1e-12)
    assert compared > 50
    assert 0.1 < result["score"] < 0.9


def test_values_of_real_answers_are_those_of_rouge_score() -> None:
    bare = RougeScorer(["rougeL"])
    texts = [text for answered in ANSWERED for text, _ in answered.answers if text.isascii() and text]
    for reference in texts:
        for prediction in texts:
            theirs = bare.score(reference, prediction)["rougeL"].fmeasure
            assert score(prediction, reference) == pytest.approx(theirs, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(alphabet=st.characters(max_codepoint=127)), st.booleans())
def test_tokens_of_ascii_text_are_those_of_rouge_score(text: str, use_stemmer: bool) -> None:
    assert RougeTokenizer(use_stemmer=use_stemmer).tokenize(text) == DefaultTokenizer(use_stemmer).tokenize(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("“It’s” — 12 °C…", ["it", "s", "12", "c"]),
        ("Café, cafe\u0301", ["café", "café"]),
        ("Ｔｏｋｙｏ２０２４", ["tokyo2024"]),
        ("東京タワーは333m。", ["東", "京", "タ", "ワ", "ー", "は", "333m"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("हिन्दी की किताब।", ["हिन्दी", "की", "किताब"]),
        ("\u200fשלום\u200f, עולם", ["שלום", "עולם"]),
        ("co\u00adoperate", ["cooperate"]),
        ("good👍👍 bad👎", ["good", "👍", "👍", "bad", "👎"]),
        ("❤\ufe0f ❤", ["❤", "❤"]),
        ("... —", []),
    ],
)
def test_tokens_beyond_ascii(text: str, tokens: list[str]) -> None:
    assert RougeTokenizer().tokenize(text) == tokens


def test_rouge_score_alone_is_blind_beyond_latin_script() -> None:
    # The reason for a tokenizer of our own.
    assert RougeScorer(["rougeL"]).score("東京タワー", "東京タワー")["rougeL"].fmeasure == 0
    assert score("東京タワー", "東京タワー") == 1


@pytest.mark.parametrize("rouge_type", TYPES)
@pytest.mark.parametrize("text", ["", "Paris", "東", "👍", "...", "two words"])
def test_equal_tokens_score_one(text: str, rouge_type: str) -> None:
    assert score(text, text, rouge_type=rouge_type) == 1


@pytest.mark.parametrize("rouge_type", TYPES)
@pytest.mark.parametrize(("prediction", "reference"), [("", "Paris"), ("Paris", ""), ("👍", "👎"), ("Paris", "Rome")])
def test_nothing_in_common_scores_zero(prediction: str, reference: str, rouge_type: str) -> None:
    assert score(prediction, reference, rouge_type=rouge_type) == 0


def test_best_reference_is_that_of_the_chosen_measure() -> None:
    references = ["a b", "a b c d e f"]
    # f1: 2 / 3 * 2 with the first = .8; with the second precision 1, recall .5: .67.
    by_f1 = AnswerRougeEvaluator().run([references], ["a b c"])["results"][0]
    assert (by_f1["reference"], by_f1["f1"]) == (0, pytest.approx(0.8))
    by_precision = AnswerRougeEvaluator(measure="precision").run([references], ["a b c"])
    assert by_precision["results"][0]["reference"] == 1
    assert by_precision["individual_scores"] == [1.0]


def test_row_without_reference_is_not_run() -> None:
    result = AnswerRougeEvaluator(on_undefined="nan").run([["a"], []], ["a", "b"])
    assert result["statuses"] == ["scored", "not_run"]
    assert result["score"] == 1
    assert result["results"][1]["reference"] is None


@pytest.mark.parametrize(
    ("parameters", "kind", "name"),
    [
        ({"rouge_type": "rouge3"}, ValueError, "rouge_type"),
        ({"rouge_type": None}, ValueError, "rouge_type"),
        ({"measure": "fmeasure"}, ValueError, "measure"),
        ({"use_stemmer": "yes"}, TypeError, "use_stemmer"),
        ({"on_undefined": "skip"}, ValueError, "on_undefined"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], kind: type[Exception], name: str) -> None:
    with pytest.raises(kind, match=f"^{name} must be "):
        AnswerRougeEvaluator(**parameters)


def test_only_the_stemmer_needs_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rouge_score", "rouge_score.rouge_scorer", "nltk.stem.porter"):
        monkeypatch.setitem(sys.modules, name, None)
    assert score("a", "a") == 1.0
    with pytest.raises(ImportError, match=r'use_stemmer needs nltk.*pip install "haystack-eval-ext\[lexical\]"'):
        score("a", "a", use_stemmer=True)


# Few different words, so that texts share many; lines for rougeLsum.
FEW_WORDS = st.lists(st.sampled_from([*"abcd", "\n", "\n\n", "Opening", "opens"]), max_size=30).map(" ".join)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(FEW_WORDS, FEW_WORDS, st.sampled_from(TYPES))
def test_values_of_any_words_and_lines_are_those_of_rouge_score(prediction: str, reference: str, kind: Any) -> None:
    theirs = RougeScorer([kind]).score(reference, prediction)[kind]
    found = AnswerRougeEvaluator(rouge_type=kind).run([reference], [prediction])["results"][0]
    if theirs.fmeasure or DefaultTokenizer(False).tokenize(prediction) != DefaultTokenizer(False).tokenize(reference):
        for measure, name in MEASURES.items():
            assert found[measure] == pytest.approx(getattr(theirs, name), abs=1e-12)


def test_order_of_references_does_not_matter() -> None:
    references, predictions = batch(5, ASCII_WORDS, rows=20)
    evaluator = AnswerRougeEvaluator()
    expected = evaluator.run(references, predictions)["individual_scores"]
    shuffled = [random.Random(1).sample(row, len(row)) for row in references]
    assert evaluator.run(shuffled, predictions)["individual_scores"] == expected
