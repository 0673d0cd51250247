# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""AnswerEmbeddingSimilarityEvaluator: any embedder, each text once, and a failure costs the rows it touched."""

from __future__ import annotations

import asyncio
import logging
import math
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline, component
from haystack.components.embedders import MockDocumentEmbedder, MockTextEmbedder, OpenAIDocumentEmbedder
from haystack.utils.auth import Secret
from sklearn.metrics.pairwise import paired_cosine_distances

from haystack_eval_ext import AnswerEmbeddingSimilarityEvaluator, FailedRowsError, UndefinedScore
from letter_embedders import AsyncDocumentEmbedder, LetterDocumentEmbedder, LetterTextEmbedder, letters

EMBEDDERS = [LetterTextEmbedder, LetterDocumentEmbedder]
both = pytest.mark.parametrize("embedder", EMBEDDERS)
SPOILED = ["#refuse", "#none", "#nan", "#empty", "#words", "#nested", "#long"]


def make(embedder: type, **parameters: Any) -> Any:
    return AnswerEmbeddingSimilarityEvaluator(embedder(), **parameters)


@both
def test_equal_to_scikit_learn(embedder: type) -> None:
    truths = ["the tower", "Москва", "東京タワー", "a b c", "ten", "no"]
    answers = ["tower the", "Москве", "東京", "c d", "net", "yes"]
    wanted = 1 - paired_cosine_distances([letters(text) for text in truths], [letters(text) for text in answers])
    scores = make(embedder).run(truths, answers)["individual_scores"]
    assert scores == pytest.approx(wanted.tolist(), abs=1e-12)


@pytest.mark.parametrize("mock", [MockTextEmbedder, MockDocumentEmbedder])
def test_haystacks_own_embedders_serve(mock: type) -> None:
    evaluator = AnswerEmbeddingSimilarityEvaluator(mock(dimension=16))
    one = np.array(MockTextEmbedder(dimension=16).run("Paris")["embedding"])
    other = np.array(MockTextEmbedder(dimension=16).run("Rome")["embedding"])
    wanted = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    result = evaluator.run(["Paris", "Paris"], ["Rome", "Paris"])
    assert result["individual_scores"] == pytest.approx([wanted, 1.0], abs=1e-12)


@both
def test_each_different_text_is_embedded_once_and_blank_ones_never(embedder: type) -> None:
    evaluator = make(embedder)
    evaluator.run([["a", "b"], ["a"], [" "], ["c"], []], ["b", "a", "a", "", "not asked"])
    asked = ["b", "a", "c"]
    assert evaluator.embedder.asked == (asked if embedder is LetterTextEmbedder else [asked])


@both
@pytest.mark.parametrize("sign", SPOILED)
def test_a_failure_costs_the_rows_it_touches(embedder: type, sign: str) -> None:
    bad = f"a secret text {sign}"
    truths, answers = [["a"], ["a", bad], ["b"], ["b"], [" "]], ["a", "a", bad, "ab", bad]
    result = make(embedder, raise_on_failure=False).run(truths, answers)
    assert result["statuses"] == ["scored", "error", "error", "scored", "scored"]
    expected = [1.0, math.nan, math.nan, 1 / math.sqrt(2), 0.0]
    assert result["individual_scores"] == pytest.approx(expected, nan_ok=True)
    assert result["score"] == pytest.approx((1 + 1 / math.sqrt(2) + 0) / 3)


@both
def test_a_failure_is_raised_after_all_rows_with_the_result_and_without_texts(embedder: type) -> None:
    evaluator = make(embedder)
    truths = ["a", "".join(["sec", "ret"]) + " #refuse", "b"]  # a traceback quotes the lines of this file
    with pytest.raises(FailedRowsError, match=r"1 of 3 rows failed \(HTTP 400 \(RefusedError\): 1\): row 1") as caught:
        evaluator.run(truths, ["a", "b", "b"])
    assert caught.value.result["statuses"] == ["scored", "error", "scored"]
    assert caught.value.result["score"] == 1.0
    assert "secret" not in "".join(traceback.format_exception(caught.value))


@both
def test_a_failure_is_told_once_with_counts(embedder: type, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        make(embedder, raise_on_failure=False).run(["a", "secret #refuse", "#none"], ["a", "b", "#long"])
    (record,) = caplog.records
    assert "2 of 3 rows failed (HTTP 400 (RefusedError): 1, no embedding: 1): rows 1, 2" in record.getMessage()
    assert "secret" not in record.getMessage()


def rows_of(count: int, bad: set[int]) -> list[str]:
    return [f"text {number}" + " #refuse" * (number in bad) for number in range(count)]


def test_a_batch_that_fails_is_asked_again_by_halves() -> None:
    evaluator = make(LetterDocumentEmbedder, raise_on_failure=False)
    evaluator.run(["a", "#refuse"], ["b", "b"])
    first, *later = evaluator.embedder.asked
    assert first == ["b", "a", "#refuse"]
    assert sorted(map(len, later)) in ([1, 1, 1, 2], [1, 2])  # the pair without the bad text is asked once
    assert ["#refuse"] in later


@pytest.mark.parametrize("count", [2, 3, 17, 600])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_one_bad_text_costs_few_calls(count: int, place: int) -> None:
    evaluator = make(LetterDocumentEmbedder, raise_on_failure=False)
    texts = rows_of(count, {place % count})
    result = evaluator.run(texts, texts)
    assert [row for row, status in enumerate(result["statuses"]) if status != "scored"] == [place % count]
    assert len(evaluator.embedder.asked) <= 2 * math.log2(count) + 3


@pytest.mark.parametrize("every", [2, 3, 50])
def test_many_bad_texts_are_all_found_within_twice_as_many_calls(every: int) -> None:
    count = 200
    bad = set(range(0, count, every))
    evaluator = make(LetterDocumentEmbedder, raise_on_failure=False)
    texts = rows_of(count, bad)
    result = evaluator.run(texts, texts)
    assert {row for row, status in enumerate(result["statuses"]) if status == "error"} == bad
    assert len(evaluator.embedder.asked) < 2 * count


@pytest.mark.parametrize(("count", "tried"), [(600, 10), (4, 4), (10, 10)])
def test_a_service_that_is_down_is_not_asked_for_each_text(
    count: int, tried: int, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator = make(LetterDocumentEmbedder, raise_on_failure=False)
    texts = rows_of(count, set(range(count)))
    result = evaluator.run(texts, texts)
    assert result["statuses"] == ["error"] * count
    assert math.isnan(result["score"])
    assert len(evaluator.embedder.asked) <= min(2 * tried + math.ceil(math.log2(count)), 2 * count - 1)
    assert [len(batch) for batch in evaluator.embedder.asked].count(1) == tried
    assert f"HTTP 400 (RefusedError): {tried}" in caplog.text
    assert ("not asked, since every call had failed: 590" in caplog.text) == (count > tried)


def test_a_text_embedder_is_asked_for_each_text_once() -> None:
    evaluator = make(LetterTextEmbedder, raise_on_failure=False)
    texts = rows_of(30, set(range(20)))
    assert evaluator.run(texts, texts)["statuses"] == ["error"] * 20 + ["scored"] * 10
    assert evaluator.embedder.asked == texts


NO_VECTORS: dict[str, Any] = {
    "beyond floats": [10**400, 1.0],
    "beyond 64 bits": [10**30, 1],
    "infinity": [math.inf, 1.0],
    "NaN": [1.0, math.nan],
    "words": ["a", "b"],
    "numbers as text": ["1.0", "2.0"],
    "None inside": [None, 1.0],
    "flags": [True, False],
    "complex": [1j, 1.0],
    "ragged": [[1.0], [1.0, 2.0]],
    "a matrix": [[1.0, 2.0]],
    "empty": [],
    "a number": 1.0,
    "text": "1.0",
    "a dict": {"a": 1.0},
}


@pytest.mark.parametrize("kind", NO_VECTORS)
@pytest.mark.parametrize("documents", [False, True], ids=["text embedder", "document embedder"])
def test_what_is_no_vector_costs_its_rows(kind: str, documents: bool, caplog: pytest.LogCaptureFixture) -> None:
    def embed(text: str) -> Any:
        return NO_VECTORS[kind] if "bad" in text else [1.0, 0.0]

    embedder = Replying(embed) if documents else ReplyingToText(embed)
    evaluator = AnswerEmbeddingSimilarityEvaluator(embedder, raise_on_failure=False)
    assert evaluator.run(["a", "bad", "b"], ["a", "b", "c"])["statuses"] == ["scored", "error", "scored"]
    assert "1 of 3 rows failed (an embedding not of finite numbers: 1): row 1" in caplog.text


@component
class Replying:
    """A document embedder that gives what a function says."""

    def __init__(self, embed: Callable[[str], Any]) -> None:
        self.embed = embed

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {
            "documents": [replace(document, embedding=self.embed(document.content or "")) for document in documents]
        }


@component
class ReplyingToText:
    """A text embedder that gives what a function says."""

    def __init__(self, embed: Callable[[str], Any]) -> None:
        self.embed = embed

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": self.embed(text)}


@both
def test_a_refused_login_stops_at_once(embedder: type) -> None:
    evaluator = make(embedder, raise_on_failure=False)
    with pytest.raises(RuntimeError, match="no embedding"):
        evaluator.run(["#login", "a"], ["#login", "b"])
    assert len(evaluator.embedder.asked) == 1


@both
def test_zeros_have_no_direction(embedder: type) -> None:
    result = make(embedder, raise_on_failure=False).run([["#zero"], ["#zero", "a"]], ["#zero", "a"])
    assert result["statuses"] == ["undefined", "error"]  # the second: vectors of different lengths


def test_zeros_are_undefined_and_another_reference_counts() -> None:
    embedder = MockTextEmbedder(embedding=[0.0, 0.0])
    evaluator = AnswerEmbeddingSimilarityEvaluator(embedder, on_undefined="nan")
    result = evaluator.run([["b"], ["b", " "], [""]], ["a", "a", " "])
    assert result["statuses"] == ["undefined", "scored", "scored"]
    assert result["individual_scores"] == pytest.approx([math.nan, 0.0, 1.0], nan_ok=True)
    with pytest.raises(UndefinedScore, match="row 0"):
        AnswerEmbeddingSimilarityEvaluator(embedder, on_undefined="raise").run(["b"], ["a"])


def test_an_answer_without_a_reference_is_not_embedded() -> None:
    evaluator = make(LetterTextEmbedder, on_undefined="raise")
    assert evaluator.run([["a"], []], ["a", "b"])["statuses"] == ["scored", "not_run"]
    assert "b" not in evaluator.embedder.asked


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_lengths_neither_vanish_nor_overflow(scale: float) -> None:
    embedder = MockTextEmbedder(embedding=[3 * scale, 4 * scale])
    assert AnswerEmbeddingSimilarityEvaluator(embedder).run(["a"], ["b"])["individual_scores"] == [pytest.approx(1.0)]


def test_many_pairs_are_gathered_in_parts() -> None:
    count = 10_000
    truths, answers = ["ab", "cd"] * (count // 2), ["ab"] * count
    assert make(LetterDocumentEmbedder).run(truths, answers)["individual_scores"] == pytest.approx(
        [1.0, 0.0] * (count // 2)
    )


def test_run_async_uses_the_embedders_own() -> None:
    evaluator = make(AsyncDocumentEmbedder)
    truths, answers = ["a", "ab"], ["a", "a"]
    expected = evaluator.run(truths, answers)
    assert evaluator.embedder.asked_async == 0
    assert asyncio.run(evaluator.run_async(truths, answers)) == expected
    assert evaluator.embedder.asked_async == 1


@pytest.mark.parametrize("embedder", [*EMBEDDERS, AsyncDocumentEmbedder])
def test_run_async_gives_the_same_with_failures(embedder: type) -> None:
    evaluator = make(embedder, raise_on_failure=False)
    truths, answers = [["a", "#refuse"], ["ab"], [" "]], ["a", "a", ""]
    result = evaluator.run(truths, answers)
    assert repr(asyncio.run(evaluator.run_async(truths, answers))) == repr(result)
    with pytest.raises(FailedRowsError):
        asyncio.run(make(embedder).run_async(truths, answers))


@component
class Lazy:
    """An embedder that has to be warmed up."""

    def __init__(self) -> None:
        self.warm: list[str] = []

    def warm_up(self) -> None:
        self.warm.append("sync")

    async def warm_up_async(self) -> None:
        self.warm.append("async")

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:  # noqa: ARG002
        return {"embedding": [1.0] if self.warm else None}


def test_the_embedder_is_warmed_up() -> None:
    evaluator = make(Lazy)
    assert evaluator.run(["a"], ["b"])["score"] == 1.0
    assert evaluator.embedder.warm == ["sync"]
    evaluator = make(Lazy)
    assert asyncio.run(evaluator.run_async(["a"], ["b"]))["score"] == 1.0
    assert evaluator.embedder.warm == ["async"]


@component
class Cold:
    """An embedder that cannot be warmed up."""

    def warm_up(self) -> None:
        msg = "no key"
        raise OSError(msg)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:  # noqa: ARG002
        return {"embedding": [1.0]}


def test_a_failing_warm_up_is_the_callers() -> None:
    evaluator = make(Cold, raise_on_failure=False)
    for call in (evaluator.warm_up, lambda: evaluator.run(["a"], ["b"])):
        with pytest.raises(ValueError, match=r"could not be prepared: no key\. Nothing was asked"):
            call()
    with pytest.raises(ValueError, match="no key"):
        asyncio.run(evaluator.run_async(["a"], ["b"]))


@component
class Silent:
    """A document embedder whose reply is not what it should be."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    @component.output_types(documents=list[Any])
    def run(self, documents: list[Any]) -> dict[str, Any]:  # noqa: ARG002
        reply: dict[str, Any] = self.reply
        return reply


@pytest.mark.parametrize("reply", [None, {}, {"documents": None}, {"documents": ["a"]}, {"documents": []}, []])
def test_a_reply_without_embeddings_is_a_failure(reply: Any) -> None:
    evaluator = AnswerEmbeddingSimilarityEvaluator(Silent(reply), raise_on_failure=False)
    assert evaluator.run(["a"], ["b"])["statuses"] == ["error"]


@component
class NoEmbedder:
    @component.output_types(out=str)
    def run(self, query: str) -> dict[str, str]:
        return {"out": query}


@pytest.mark.parametrize("embedder", [None, "text-embedding-3-small", NoEmbedder()])
def test_what_is_no_embedder_is_refused(embedder: Any) -> None:
    with pytest.raises(TypeError, match="embedder must be"):
        AnswerEmbeddingSimilarityEvaluator(embedder)


def test_a_real_embedder_survives_yaml_with_its_secret_as_a_reference() -> None:
    embedder = OpenAIDocumentEmbedder(api_key=Secret.from_env_var("MY_KEY"), model="m", batch_size=7)
    pipeline = Pipeline()
    pipeline.add_component("similarity", AnswerEmbeddingSimilarityEvaluator(embedder, raise_on_failure=False))
    text = pipeline.dumps()
    loaded = Pipeline.loads(text)
    assert loaded.dumps() == text
    twin: Any = loaded.get_component("similarity")
    assert type(twin.embedder) is OpenAIDocumentEmbedder
    assert (twin.embedder.batch_size, twin.raise_on_failure) == (7, False)
    assert "MY_KEY" in text
