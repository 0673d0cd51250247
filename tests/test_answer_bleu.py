# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""BLEU: sacrebleu's sentence scores, corpus score and signature, with any number of references a row."""

from __future__ import annotations

import math
import sys
from itertools import zip_longest
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU

from answer_texts import ANSWERED, CHARACTERS, WORDS, batch
from haystack_eval_ext import AnswerBleuEvaluator
from haystack_eval_ext.answers.answer_bleu import tokenizer_for

SCRIPTS = {"words": WORDS, "characters": [*CHARACTERS, "NHK", "2024年"]}
NO_REFERENCES: list[str] = []


def one(prediction: str, *references: str, **parameters: Any) -> float:
    result = AnswerBleuEvaluator(**parameters).run([list(references)], [prediction])
    return float(result["individual_scores"][0])


def streams(references: list[list[str]]) -> Any:
    """References as sacrebleu takes them: the first of each row, the second of each row, ...; None where none is."""
    return [list(stream) for stream in zip_longest(*references)]


@pytest.mark.parametrize(
    "parameters",
    [
        {"tokenize": "13a"},
        {"tokenize": "intl", "lowercase": True},
        {"tokenize": "zh", "smooth_method": "floor"},
        {"tokenize": "char", "smooth_method": "add-k"},
        {"tokenize": "none", "smooth_method": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize("script", SCRIPTS)
def test_values_are_those_of_sacrebleu(script: str, parameters: dict[str, Any]) -> None:
    bare = BLEU(effective_order=True, **parameters)
    references, predictions = batch(8, SCRIPTS[script])
    result = AnswerBleuEvaluator(**parameters).run(references, predictions)
    for row, prediction, ours in zip(references, predictions, result["individual_scores"], strict=True):
        theirs = bare.sentence_score(prediction, row).score / 100
        assert ours == pytest.approx(1.0 if prediction in row else theirs, abs=1e-12)
    corpus = bare.corpus_score(predictions, streams(references)).score / 100
    assert result["corpus_score"] == pytest.approx(corpus, abs=1e-12)
    assert result["signature"] == str(bare.get_signature())
    assert "nrefs:var" in result["signature"]
    assert 0.05 < corpus < 0.95


@pytest.mark.parametrize("count", [1, 3])
def test_corpus_of_equally_many_references(count: int) -> None:
    references, predictions = batch(9, WORDS)
    references = [(row * count)[:count] for row in references]
    bare = BLEU()  # as papers report it: no effective order
    result = AnswerBleuEvaluator(tokenize="13a").run(references, predictions)
    corpus = bare.corpus_score(predictions, streams(references)).score / 100
    assert result["corpus_score"] == pytest.approx(corpus, abs=1e-12)
    assert f"nrefs:{count}|" in result["signature"]
    assert result["signature"] == str(bare.get_signature()).replace("eff:no", "eff:yes")


def test_corpus_score_is_not_the_mean() -> None:
    references, predictions = batch(8, WORDS)
    result = AnswerBleuEvaluator().run(references, predictions)
    assert abs(result["corpus_score"] - result["score"]) > 0.02


def test_short_identical_answers_score_one_in_the_corpus_as_well() -> None:
    # sacrebleu's own default finds no sequence of four words and says 0.
    assert BLEU().corpus_score(["Paris", "in Rome"], [["Paris", "in Rome"]]).score == 0
    result = AnswerBleuEvaluator().run(["Paris", "in Rome"], ["Paris", "in Rome"])
    assert result["individual_scores"] == [1.0, 1.0]
    assert result["corpus_score"] == pytest.approx(1.0, abs=1e-12)


def test_score_stays_within_one() -> None:
    text = "one two three four five six seven"
    longer = [text, text + " eight", "a b c d e f g h i j"]
    theirs = [BLEU(effective_order=True).sentence_score(value, [value]).score for value in longer]
    assert max(theirs) > 100  # sacrebleu's rounding
    result = AnswerBleuEvaluator().run(longer, longer)
    assert result["individual_scores"] == [1.0] * 3
    assert result["corpus_score"] <= 1


@pytest.mark.parametrize("text", ["", "Paris", "<skipped>", "東京", "👍"])
def test_identical_scores_one(text: str) -> None:
    assert one(text, text) == 1
    assert one(text, "something else", text) == 1


@pytest.mark.parametrize(
    ("prediction", "reference"), [("", "Paris"), ("Paris", ""), ("Rome", "Paris"), ("札幌", "東京")]
)
def test_nothing_in_common_scores_zero(prediction: str, reference: str) -> None:
    assert one(prediction, reference) == 0


@pytest.mark.parametrize(
    ("references", "tokenizer"),
    [
        (["The tower is red."], "13a"),
        (["Le café est fermé"], "13a"),
        (["Москва", "столица"], "13a"),
        (["서울은 한국의 수도이다"], "13a"),
        (["القاهرة"], "13a"),
        (["हिन्दी"], "13a"),
        (["東京タワー"], "char"),
        (["The long name of Tokyo Tower", "東京"], "char"),
        (["否"], "char"),
        (["กรุงเทพมหานคร"], "char"),
        (["NHKは日本放送協会の略である"], "char"),
        (["Tokyo Tower (東京タワー) is a tower"], "13a"),
        (["2024"], "13a"),
        (["👍"], "13a"),
        ([""], "13a"),
        ([], "13a"),
    ],
)
def test_automatic_tokenizer(references: list[str], tokenizer: str) -> None:
    assert tokenizer_for(references) == tokenizer


@pytest.mark.parametrize(("script", "tokenizer"), [("words", "13a"), ("characters", "char")])
def test_automatic_tokenizer_gives_the_values_of_the_one_it_chose(script: str, tokenizer: Any) -> None:
    references, predictions = batch(10, SCRIPTS[script])
    rows = [n for n, row in enumerate(references) if tokenizer_for(row) == tokenizer]
    assert len(rows) > 50
    chosen = [references[n] for n in rows], [predictions[n] for n in rows]
    assert AnswerBleuEvaluator().run(*chosen) == AnswerBleuEvaluator(tokenize=tokenizer).run(*chosen)


def test_signature_names_both_tokenizers() -> None:
    for references in (["東京タワー", "Paris"], ["Paris", "東京タワー"]):
        result = AnswerBleuEvaluator().run(references, references)
        assert "|tok:13a+char|" in result["signature"]
        assert result["score"] == 1


def test_signature_tells_what_sacrebleus_does_not() -> None:
    result = AnswerBleuEvaluator(max_ngram_order=2, normalization="unicode").run(["Ｐａｒｉｓ!"], ["paris"])
    assert "|order:2|normalization:unicode|" in result["signature"]
    assert result["score"] == 1


def test_row_without_reference_is_left_out_of_the_corpus() -> None:
    references, predictions = batch(11, WORDS, rows=10)
    with_gap = AnswerBleuEvaluator(on_undefined="nan").run([*references, []], [*predictions, "lost"])
    without = AnswerBleuEvaluator().run(references, predictions)
    assert with_gap["statuses"][-1] == "not_run"
    assert {**with_gap, **{key: without[key] for key in ("individual_scores", "statuses", "errors")}} == without


@pytest.mark.parametrize("policy", ["zero", "nan", "raise"])
def test_corpus_without_references(policy: Any) -> None:
    result = AnswerBleuEvaluator(on_undefined=policy).run([NO_REFERENCES], ["lost"])
    assert math.isnan(result["corpus_score"])
    assert "nrefs:0" in result["signature"]


def test_real_answers_score_as_sacrebleu_says() -> None:
    bare = BLEU(effective_order=True, tokenize="13a")
    texts = [text for answered in ANSWERED for text, _ in answered.answers if text]
    for reference in texts:
        theirs = [min(bare.sentence_score(text, [reference]).score / 100, 1) for text in texts]
        ours = AnswerBleuEvaluator(tokenize="13a").run([reference] * len(texts), texts)["individual_scores"]
        assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("parameters", "kind", "name"),
    [
        ({"tokenize": "spm"}, ValueError, "tokenize"),
        ({"tokenize": None}, ValueError, "tokenize"),
        ({"smooth_method": "laplace"}, ValueError, "smooth_method"),
        ({"max_ngram_order": 0}, ValueError, "max_ngram_order"),
        ({"max_ngram_order": True}, TypeError, "max_ngram_order"),
        ({"max_ngram_order": 2.0}, TypeError, "max_ngram_order"),
        ({"lowercase": 1}, TypeError, "lowercase"),
        ({"normalization": "nfc"}, ValueError, "normalization"),
        ({"on_undefined": "skip"}, ValueError, "on_undefined"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], kind: type[Exception], name: str) -> None:
    with pytest.raises(kind, match=f"^{name} must be "):
        AnswerBleuEvaluator(**parameters)


@pytest.mark.parametrize(("tokenize", "extra"), [("ja-mecab", "ja"), ("ko-mecab", "ko")])
def test_missing_package_of_a_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch, tokenize: Any, extra: str) -> None:
    module = f"sacrebleu.tokenizers.tokenizer_{tokenize.replace('-', '_')}"
    for name in ("MeCab", "mecab_ko"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(ImportError, match=rf'pip install "sacrebleu\[{extra}\]"'):
        one("a", "a", tokenize=tokenize)
    sys.modules.pop(module, None)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(ImportError, match=r'pip install "haystack-eval-ext\[lexical\]"'):
        one("a", "a")
