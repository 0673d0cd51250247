# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""chrF: sacrebleu's sentence scores, corpus score and signature, with any number of references a row."""

from __future__ import annotations

import sys
from itertools import zip_longest
from typing import Any

import pytest
from sacrebleu.metrics.chrf import CHRF

from answer_texts import ANSWERED, CHARACTERS, WORDS, batch
from haystack_eval_ext import AnswerChrfEvaluator

SCRIPTS = {"words": WORDS, "characters": list(CHARACTERS)}


def one(prediction: str, *references: str, **parameters: Any) -> float:
    result = AnswerChrfEvaluator(**parameters).run([list(references)], [prediction])
    return float(result["individual_scores"][0])


@pytest.mark.parametrize(
    "parameters",
    [{}, {"word_order": 2}, {"char_order": 3, "lowercase": True}, {"char_order": 1, "word_order": 1}],
    ids=str,
)
@pytest.mark.parametrize("script", SCRIPTS)
def test_values_are_those_of_sacrebleu(script: str, parameters: dict[str, Any]) -> None:
    bare = CHRF(**parameters)
    references, predictions = batch(12, SCRIPTS[script])
    result = AnswerChrfEvaluator(**parameters).run(references, predictions)
    for row, prediction, ours in zip(references, predictions, result["individual_scores"], strict=True):
        theirs = bare.sentence_score(prediction, row).score / 100
        assert ours == pytest.approx(1.0 if prediction in row else theirs, abs=1e-12)
    streams: Any = [list(stream) for stream in zip_longest(*references)]
    corpus = bare.corpus_score(predictions, streams).score / 100
    assert result["corpus_score"] == pytest.approx(corpus, abs=1e-12)
    assert result["signature"] == str(bare.get_signature())
    assert "nrefs:var" in result["signature"]
    assert 0.05 < corpus < 0.98


@pytest.mark.parametrize("beta", [1, 3])
def test_beta_is_sacrebleus_and_stands_in_the_signature(beta: int) -> None:
    references, predictions = batch(13, WORDS)
    result = AnswerChrfEvaluator(beta=beta).run(references, predictions)
    theirs = [
        CHRF(beta=beta).sentence_score(prediction, row).score / 100
        for row, prediction in zip(references, predictions, strict=True)
    ]
    for row, prediction, ours, score in zip(references, predictions, result["individual_scores"], theirs, strict=True):
        assert ours == pytest.approx(1.0 if prediction in row else score, abs=1e-12)
    assert f"|beta:{beta}|" in result["signature"]


def test_real_answers_score_as_sacrebleu_says() -> None:
    bare = CHRF()
    texts = [text for answered in ANSWERED for text, _ in answered.answers if text]
    for reference in texts:
        theirs = [min(bare.sentence_score(text, [reference]).score / 100, 1) for text in texts]
        ours = AnswerChrfEvaluator().run([reference] * len(texts), texts)["individual_scores"]
        assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("text", ["", "a", "Paris", "東京タワー", "👍", "हिन्दी की किताब"])
def test_identical_scores_one(text: str, word_order: int) -> None:
    assert one(text, text, word_order=word_order) == 1
    assert one(text, "something else", text, word_order=word_order) == 1


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", "Paris"), ("Paris", ""), ("Rome", "Bayz"), ("札幌", "東京")]
)
def test_nothing_in_common_scores_zero(prediction: str, reference: str) -> None:
    assert one(prediction, reference) == 0


def test_normalization_comes_first() -> None:
    assert one("Ｃafe\u0301!", "café") < 0.5
    assert one("Ｃafe\u0301!", "café", normalization="unicode") == 1
    result = AnswerChrfEvaluator(normalization="unicode").run(["a"], ["a"])
    assert "|normalization:unicode|" in result["signature"]


def test_row_without_reference_is_left_out_of_the_corpus() -> None:
    references, predictions = batch(14, WORDS, rows=10)
    with_gap = AnswerChrfEvaluator(on_undefined="nan").run([*references, []], [*predictions, "lost"])
    without = AnswerChrfEvaluator().run(references, predictions)
    assert {**with_gap, **{key: without[key] for key in ("individual_scores", "statuses", "errors")}} == without


@pytest.mark.parametrize(
    ("parameters", "kind", "name"),
    [
        ({"char_order": 0}, ValueError, "char_order"),
        ({"char_order": None}, TypeError, "char_order"),
        ({"word_order": -1}, ValueError, "word_order"),
        ({"beta": 0}, ValueError, "beta"),
        ({"beta": "2"}, TypeError, "beta"),
        ({"lowercase": None}, TypeError, "lowercase"),
        ({"normalization": ""}, ValueError, "normalization"),
        ({"on_undefined": None}, ValueError, "on_undefined"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], kind: type[Exception], name: str) -> None:
    with pytest.raises(kind, match=f"^{name} must be "):
        AnswerChrfEvaluator(**parameters)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.chrf", None)
    with pytest.raises(ImportError, match=r'pip install "haystack-eval-ext\[lexical\]"'):
        one("a", "a")
