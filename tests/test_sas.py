# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""SASEvaluator: stock's numbers, one mapping per model, each text once, and errors that say what to do."""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from haystack.components.embedders import MockDocumentEmbedder
from haystack.components.evaluators import SASEvaluator as StockSAS
from haystack.dataclasses import ChatMessage
from haystack.utils import ComponentDevice

import models
from haystack_eval_ext import AnswerEmbeddingSimilarityEvaluator, SASEvaluator
from haystack_eval_ext._models import sigmoid, softmax
from haystack_eval_ext.answers._similarity import normalized, pair_cosines, pair_up
from models import needs_minilm, needs_sas
from retrieval_data import needs_stock

CPU = ComponentDevice.from_str("cpu")
#: Every kind of model, with the parameters that it needs.
KINDS: dict[str, dict[str, Any]] = {
    "bi-encoder": {"model": models.BI_ENCODER},
    "cross-encoder with sigmoid": {"model": models.CROSS_SIGMOID},
    "cross-encoder with logits": {"model": models.CROSS_LOGITS},
    "cross-encoder with labels": {"model": models.CROSS_LABELS, "label": "entailment"},
}
SENTENCES = """
The tower is 330 metres high.
It was built for the world's fair of 1889, and many people in the city disliked it at first because of its size.
Berlin
in Berlin
The capital of Germany is Berlin, as it was before the war; between 1949 and 1990 the government sat in Bonn.
No.
Yes, but only on Mondays and only between nine and noon.
Tickets cost three euros for adults; children and students pay nothing.
東京タワーは高さ333メートルです。
Москва — столица России.
""".strip().splitlines()


def make(kind: str, **parameters: Any) -> SASEvaluator:
    return SASEvaluator(**KINDS[kind], device=CPU, **parameters)


@cache
def loaded(kind: str) -> SASEvaluator:
    """One for all tests that change nothing in it."""
    return make(kind)


def mixed_pairs(seed: int, count: int) -> tuple[list[str], list[str]]:
    """Texts of mixed lengths, some of them more than once."""
    rng = random.Random(seed)

    def text() -> str:
        return " ".join(rng.choices(SENTENCES, k=rng.choice([1, 1, 2, 4])))

    return [text() for _ in range(count)], [text() for _ in range(count)]


def stock_scores(parameters: dict[str, Any], truths: list[str], answers: list[str]) -> list[float]:
    stock: Any = StockSAS(**parameters, device=CPU)
    return list(stock.run(ground_truth_answers=truths, predicted_answers=answers)["individual_scores"])


@needs_minilm
@needs_stock
def test_equal_to_stock_with_minilm() -> None:
    truths, answers = mixed_pairs(1, 20)
    truths, answers = [*truths, "in Berlin", "No."], [*answers, "in Berlin", "Москва"]
    wanted = stock_scores({"model": models.MINILM}, truths, answers)
    got = SASEvaluator(models.MINILM, 32, CPU).run(truths, answers)
    assert got["individual_scores"] == pytest.approx(wanted, abs=1e-6)
    assert got["score"] == pytest.approx(np.mean(wanted), abs=1e-6)
    assert min(wanted) < 0.2
    assert max(wanted) > 0.99


@needs_sas
@needs_stock
@pytest.mark.parametrize("kind", ["bi-encoder", "cross-encoder with sigmoid"])
def test_equal_to_stock_with_tiny_models(kind: str) -> None:
    truths, answers = mixed_pairs(2, 60)
    wanted = stock_scores(KINDS[kind], truths, answers)
    assert loaded(kind).run(truths, answers)["individual_scores"] == pytest.approx(wanted, abs=1e-6)


@needs_sas
def test_bi_encoder_gives_the_cosine_of_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import pairwise_cos_sim

    truths, answers = mixed_pairs(3, 60)
    model = SentenceTransformer(models.BI_ENCODER, device="cpu")
    wanted = pairwise_cos_sim(model.encode(answers), model.encode(truths)).tolist()
    assert loaded("bi-encoder").run(truths, answers)["individual_scores"] == pytest.approx(wanted, abs=1e-6)


@needs_sas
def test_logits_go_through_a_sigmoid_and_labels_through_a_softmax() -> None:
    """Held against torch, on what the model itself emits."""
    import torch
    from sentence_transformers import CrossEncoder

    truths, answers = mixed_pairs(4, 60)
    pairs = list(zip(answers, truths, strict=True))
    logits = torch.tensor(CrossEncoder(models.CROSS_LOGITS, device="cpu").predict(pairs))
    assert (logits > 1).any()
    assert (logits < 0).any()
    wanted = torch.sigmoid(logits).tolist()
    assert loaded("cross-encoder with logits").run(truths, answers)["individual_scores"] == pytest.approx(
        wanted, abs=1e-5
    )
    outputs = torch.tensor(CrossEncoder(models.CROSS_LABELS, device="cpu").predict(pairs))
    wanted = torch.softmax(outputs, dim=1)[:, models.LABELS.index("entailment")].tolist()
    assert loaded("cross-encoder with labels").run(truths, answers)["individual_scores"] == pytest.approx(
        wanted, abs=1e-5
    )


@needs_sas
@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_scores_the_same_alone_and_in_any_batch(kind: str) -> None:
    truths, answers = mixed_pairs(5, 20)
    evaluator = loaded(kind)
    whole = evaluator.run(truths, answers)["individual_scores"]
    low = 0.0 if "cross" in kind else -1.0
    assert all(low <= score <= 1.0 for score in whole)
    assert len(set(whole)) > 15
    alone = [
        evaluator.run([truth], [answer])["individual_scores"][0] for truth, answer in zip(truths, answers, strict=True)
    ]
    assert alone == pytest.approx(whole, abs=1e-5)
    order = random.Random(6).sample(range(20), 20)
    small = make(kind, batch_size=3).run([truths[n] for n in order], [answers[n] for n in order])
    assert small["individual_scores"] == pytest.approx([whole[n] for n in order], abs=1e-5)


@needs_sas
@needs_stock
def test_the_sigmoid_of_a_logit_does_not_hang_on_the_other_logits_as_in_stock() -> None:
    """The test above can fail: with stock a logit becomes another number beside a logit above 1."""
    kind = "cross-encoder with logits"
    truths, answers = mixed_pairs(5, 40)
    whole = stock_scores(KINDS[kind], truths, answers)
    lowest = whole.index(min(whole))
    alone = stock_scores(KINDS[kind], [truths[lowest]], [answers[lowest]])
    assert alone[0] < 0 < whole[lowest]
    ours = loaded(kind).run([truths[lowest]], [answers[lowest]])["individual_scores"]
    assert ours == pytest.approx([whole[lowest]], abs=1e-5)
    assert ours == pytest.approx([1 / (1 + math.exp(-alone[0]))], abs=1e-5)


@needs_sas
@needs_stock
def test_no_rows_and_none_as_reference_and_the_type_of_scores_unlike_stock() -> None:
    stock: Any = StockSAS(models.BI_ENCODER, device=CPU)
    assert stock.run(ground_truth_answers=[], predicted_answers=[])["individual_scores"] == [0.0]
    with pytest.raises(Exception, match="NoneType"):  # of the tokenizer, which knows no rows
        stock.run(ground_truth_answers=["a", None], predicted_answers=["a", "b"])
    assert type(stock.run(ground_truth_answers=["a"], predicted_answers=["a"])["score"]) is not float
    ours = loaded("bi-encoder")
    with pytest.raises(ValueError, match="no rows"):
        ours.run([], [])
    references: list[Any] = ["a", None]
    assert ours.run(references, ["a", "b"])["statuses"] == ["scored", "not_run"]
    result = ours.run(["a"], ["b"])
    assert [type(value) for value in (result["score"], *result["individual_scores"])] == [float, float]


@needs_sas
@needs_stock
def test_several_labels_are_refused_unless_one_is_named_where_stock_averages_them() -> None:
    truths, answers = ["a", "b"], ["a", "c"]
    assert [len(row) for row in stock_scores({"model": models.CROSS_LABELS}, truths, answers)] == [3, 3]  # type: ignore[arg-type]
    evaluator = SASEvaluator(models.CROSS_LABELS, device=CPU)
    with pytest.raises(ValueError, match=r"label must name .* 'contradiction', 'entailment', 'neutral'"):
        evaluator.run(truths, answers)
    by_label = [SASEvaluator(models.CROSS_LABELS, device=CPU, label=label) for label in models.LABELS]
    scores = np.array([named.run(truths, answers)["individual_scores"] for named in by_label])
    assert scores.sum(axis=0) == pytest.approx([1.0, 1.0], abs=1e-6)
    assert len(set(scores[:, 0].tolist())) == 3


@needs_sas
@pytest.mark.parametrize("kind", KINDS)
def test_each_different_text_or_pair_is_computed_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = make(kind)
    evaluator.warm_up()
    method = "encode" if kind == "bi-encoder" else "predict"
    original: Callable[..., Any] = getattr(evaluator._loaded, method)
    seen: list[Any] = []

    def record(texts: list[Any], **options: Any) -> Any:
        seen.extend(texts)
        return original(texts, **options)

    monkeypatch.setattr(evaluator._loaded, method, record)
    result = evaluator.run([["a", "b"], ["a"], ["c", "a"], []], ["a", "c", "c", "a"])
    pairs = {("a", "a"), ("a", "b"), ("c", "a"), ("c", "c")}
    assert sorted(seen) == sorted({"a", "b", "c"} if method == "encode" else pairs)
    assert result["statuses"] == ["scored"] * 3 + ["not_run"]


@needs_sas
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_reference_counts(kind: str) -> None:
    evaluator = loaded(kind)
    answers = ["Berlin", "Yes."]
    references = [SENTENCES[:4], SENTENCES[4:]]
    best = [
        max(evaluator.run(row, [answer] * len(row))["individual_scores"])
        for row, answer in zip(references, answers, strict=True)
    ]
    assert evaluator.run(references, answers)["individual_scores"] == pytest.approx(best, abs=1e-5)


@needs_sas
def test_identical_texts_score_exactly_one() -> None:
    texts, others = mixed_pairs(7, 200)
    result = loaded("bi-encoder").run([[other, text] for text, other in zip(texts, others, strict=True)], texts)
    assert result["individual_scores"] == [1.0] * 200
    assert result["score"] == 1.0


def test_a_vector_beside_itself_gives_exactly_one_and_zeros_stay_undefined() -> None:
    rng = np.random.default_rng(9)
    texts = [str(number) for number in range(100)]
    vectors = rng.normal(size=(100, 384)).astype(np.float32)
    unit = normalized(vectors)
    assert any(value != 1.0 for value in np.einsum("ij,ij->i", unit, unit))  # what the rounding makes of it
    vectors[50], vectors[60] = 0.0, math.nan
    values, failed = pair_cosines(vectors, pair_up([[text] for text in texts], texts))
    assert np.flatnonzero(failed).tolist() == [60]
    assert np.flatnonzero(np.isnan(values)).tolist() == [50, 60]
    assert set(np.delete(values, [50, 60]).tolist()) == {1.0}


def test_identical_texts_score_exactly_one_by_any_embedder() -> None:
    texts = [str(number) for number in range(100)]
    result = AnswerEmbeddingSimilarityEvaluator(MockDocumentEmbedder(dimension=384)).run(texts, texts)
    assert result["individual_scores"] == [1.0] * 100


@needs_sas
def test_a_model_that_gives_no_number_is_an_error_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = make("bi-encoder")
    evaluator.warm_up()
    vectors = {"a": [1.0, 0.0], "b": [3.0, 4.0], "broken": [math.nan, 0.0], "zero": [0.0, 0.0]}
    encode = lambda texts, **_: np.array([vectors[text] for text in texts], dtype=np.float16)  # noqa: E731
    monkeypatch.setattr(evaluator._loaded, "encode", encode)
    result = evaluator.run(["b", "broken", "zero"], ["a", "a", "a"])
    assert result["statuses"] == ["scored", "error", "undefined"]
    assert result["individual_scores"] == [pytest.approx(0.6), pytest.approx(math.nan, nan_ok=True), 0.0]
    assert result["score"] == pytest.approx(0.3)


def test_no_references_anywhere_need_no_model() -> None:
    references: list[list[str]] = [[], []]
    result = SASEvaluator("no such model", on_undefined="raise").run(references, ["a", "b"])
    assert result["statuses"] == ["not_run"] * 2


@pytest.mark.parametrize(
    ("truths", "answers", "message"),
    [
        (["a", "b"], ["a", None], r"predicted_answers\[1\] .* None"),
        ([["a", None]], ["a"], r"ground_truth_answers\[0\]\[1\] .* None"),
        (["a"], [ChatMessage.from_user("a")], r"predicted_answers\[0\] .* user"),
        ([], [], "no rows"),
        (["a"], ["a", "b"], "same number of rows"),
    ],
)
def test_bad_rows_are_refused_before_a_model_is_loaded(truths: Any, answers: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        SASEvaluator("no such model").run(truths, answers)


@needs_sas
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": models.CROSS_LABELS}, "'contradiction', 'entailment', 'neutral', and label is None"),
        ({"model": models.CROSS_LABELS, "label": "agrees"}, "label is 'agrees'"),
        ({"model": models.CROSS_SIGMOID, "label": "entailment"}, "several labels"),
        ({"model": models.BI_ENCODER, "label": "entailment"}, "several labels"),
        ({"model": models.CROSS_TANH}, "Tanh"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(parameters: dict[str, Any], message: str) -> None:
    evaluator = SASEvaluator(**parameters, device=CPU)
    for call in (evaluator.warm_up, lambda: evaluator.run(["a"], ["a"])):
        with pytest.raises(ValueError, match=message):
            call()


@needs_sas
@pytest.mark.parametrize("kind", KINDS)
def test_run_async_gives_the_same_and_leaves_the_loop_free(kind: str) -> None:
    evaluator = make(kind)
    truths, answers = mixed_pairs(8, 20)
    expected = evaluator.run(truths, answers)
    main_thread: list[bool] = []
    original = evaluator._pair_scores

    def record(*arguments: Any) -> Any:
        main_thread.append(threading.current_thread() is threading.main_thread())
        return original(*arguments)

    evaluator._pair_scores = record  # type: ignore[method-assign, assignment]

    async def twice() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(evaluator.run_async(truths, answers) for _ in range(2))))

    assert asyncio.run(twice()) == [expected, expected]
    assert main_thread == [False, False]


@needs_sas
def test_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import sentence_transformers

    loaded = []
    real = sentence_transformers.SentenceTransformer

    def load(*arguments: Any, **options: Any) -> Any:
        loaded.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", load)
    evaluator = make("bi-encoder")
    assert not loaded
    threads = [threading.Thread(target=evaluator.run, args=(["a"], ["b"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [1]


def test_sigmoid_and_softmax_hold_at_the_ends() -> None:
    assert sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist() == [0.0, 0.5, 1.0]
    assert softmax(np.array([[1000.0, 1000.0], [-1000.0, 0.0]])).tolist() == [[0.5, 0.5], [0.0, 1.0]]
