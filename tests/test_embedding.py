# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From texts to vectors: each text once, blank ones never, few calls about a bad one, and no call that hangs a run."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import numpy as np
import pytest
from haystack import component
from haystack.components.builders import AnswerBuilder, PromptBuilder

from haystack_eval_ext import AnswerEmbeddingSimilarityEvaluator
from haystack_eval_ext._calls import login_refused
from haystack_eval_ext._embedding import (
    Embedded,
    check_embedder,
    embed,
    embed_async,
    read_vector,
    stack,
    takes_documents,
    warm_up,
    warm_up_async,
)
from haystack_eval_ext._formulas import cosine
from letter_embedders import (
    AsyncDocumentEmbedder,
    LetterDocumentEmbedder,
    LetterTextEmbedder,
    RefusedError,
    letters,
)

EMBEDDERS = [LetterTextEmbedder, LetterDocumentEmbedder, AsyncDocumentEmbedder]
any_embedder = pytest.mark.parametrize("embedder", EMBEDDERS)
in_both_ways = pytest.mark.parametrize("way", ["sync", "async"])
DOWN = "not asked, since every call had failed"


def embedded(way: str, embedder: Any, texts: list[str], **how: Any) -> Embedded:
    return embed(embedder, texts) if way == "sync" else asyncio.run(embed_async(embedder, texts, **how))


def numbered(count: int, bad: set[int]) -> list[str]:
    return [f"text {number}" + " #refuse" * (number in bad) for number in range(count)]


@in_both_ways
@any_embedder
def test_each_different_text_is_embedded_once_and_blank_ones_never(way: str, embedder: type) -> None:
    it = embedder()
    vectors, reasons = embedded(way, it, ["b", "a", "", "b", " \n", "c"])
    texts = ["b", "a", "c"]
    assert it.asked == (texts if embedder is LetterTextEmbedder else [texts])
    assert [vector if vector is None else vector.tolist() for vector in vectors] == [
        letters("b"),
        letters("a"),
        None,
        letters("b"),
        None,
        letters("c"),
    ]
    assert reasons == [None] * 6
    assert embedded(way, it, ["", " "]) == ([None, None], [None, None])


@in_both_ways
@any_embedder
@pytest.mark.parametrize(
    ("sign", "reason"),
    [
        ("#refuse", "HTTP 400 (RefusedError)"),
        ("#none", "no embedding"),
        ("#nan", "an embedding not of finite numbers"),
        ("#empty", "an embedding not of finite numbers"),
        ("#words", "an embedding not of finite numbers"),
        ("#nested", "an embedding not of finite numbers"),
        ("#cancel", "CancelledError"),
        ("#stop", "StopIteration"),
    ],
)
def test_a_failure_costs_its_text_and_says_why(way: str, embedder: type, sign: str, reason: str) -> None:
    vectors, reasons = embedded(way, embedder(), ["a", f"bad {sign}", "b", f"bad {sign}"])
    assert [vector is None for vector in vectors] == [False, True, False, True]
    # Python itself turns a StopIteration of a coroutine into a RuntimeError.
    turned = "RuntimeError" if (way, embedder, sign) == ("async", AsyncDocumentEmbedder, "#stop") else reason
    assert reasons == [None, turned, None, turned]


@in_both_ways
@any_embedder
@pytest.mark.parametrize("sign", ["#cancel", "#stop"])
def test_what_is_no_exception_costs_the_rows_of_its_text(way: str, embedder: type, sign: str) -> None:
    it = AnswerEmbeddingSimilarityEvaluator(embedder(), raise_on_failure=False)
    sockets: dict[str, Any] = {"ground_truth_answers": ["a", "b", "c"], "predicted_answers": ["a", f"b {sign}", "c"]}
    result = it.run(**sockets) if way == "sync" else asyncio.run(it.run_async(**sockets))
    assert result["statuses"] == ["scored", "error", "scored"]


@in_both_ways
@pytest.mark.parametrize("count", [2, 17, 600])
@pytest.mark.parametrize("place", [0, 1, -1])
def test_one_bad_text_costs_few_calls(way: str, count: int, place: int) -> None:
    it = LetterDocumentEmbedder()
    _, reasons = embedded(way, it, numbered(count, {place % count}))
    assert [number for number, reason in enumerate(reasons) if reason] == [place % count]
    assert len(it.asked) <= 2 * math.log2(count) + 3


@in_both_ways
@pytest.mark.parametrize(("count", "tried"), [(600, 10), (4, 4), (10, 10)])
def test_a_service_that_is_down_is_not_asked_for_each_text(way: str, count: int, tried: int) -> None:
    it = LetterDocumentEmbedder()
    _, reasons = embedded(way, it, numbered(count, set(range(count))))
    assert [len(batch) for batch in it.asked].count(1) == tried
    assert (reasons.count("HTTP 400 (RefusedError)"), reasons.count(DOWN)) == (tried, count - tried)


@in_both_ways
def test_a_text_embedder_is_asked_for_each_text_once(way: str) -> None:
    it = LetterTextEmbedder()
    texts = numbered(30, set(range(20)))
    _, reasons = embedded(way, it, texts)
    assert it.asked == texts
    assert reasons == ["HTTP 400 (RefusedError)"] * 20 + [None] * 10


@in_both_ways
@any_embedder
def test_a_refused_login_stops_at_once(way: str, embedder: type) -> None:
    it = embedder()
    with pytest.raises(RuntimeError, match="no embedding"):
        embedded(way, it, ["#login", "a", "b"])
    assert len(it.asked) == 1


@in_both_ways
@any_embedder
def test_what_no_service_takes_is_replaced(way: str, embedder: type) -> None:
    it = embedder()
    vectors, reasons = embedded(way, it, ["a\ud800b", "a\x00b", "a\ufffdb"])
    assert it.asked in (["a\ufffdb"], [["a\ufffdb"]])
    assert [vector is not None and vector.tolist() for vector in vectors] == [letters("a\ufffdb")] * 3
    assert reasons == [None] * 3


@component
class AsyncTextEmbedder:
    """Waits until so many calls are in flight, and counts them."""

    def __init__(self, together: int) -> None:
        self.together = asyncio.Barrier(together)
        self.in_flight = self.most = 0

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": letters(text)}

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        async with self.together:
            self.in_flight -= 1
        return {"embedding": letters(text)}


def test_calls_of_an_asynchronous_text_embedder_are_in_flight_together() -> None:
    async def run() -> Embedded:
        return await embed_async(AsyncTextEmbedder(3), list("abcdef"), at_once=3)

    vectors, reasons = asyncio.run(run())
    came = [None if vector is None else vector.tolist() for vector in vectors]
    assert came == [letters(text) for text in "abcdef"]
    assert reasons == [None] * 6


def test_never_more_are_in_flight_than_allowed() -> None:
    async def run() -> int:
        it = AsyncTextEmbedder(1)
        await embed_async(it, list("abcdefgh"), at_once=2)
        return it.most

    assert asyncio.run(run()) <= 2


@component
class HangingEmbedder:
    """Never answers some texts, until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.asked = 0

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        self.asked += 1
        if "hang" in text:
            self.over.wait()
        return {"embedding": letters(text)}


@component
class HangingAsyncEmbedder(HangingEmbedder):
    """The same, asynchronously."""

    def __init__(self) -> None:
        HangingEmbedder.__init__(self)

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, Any]:
        self.asked += 1
        if "hang" in text:
            await asyncio.Event().wait()
        return {"embedding": letters(text)}


def test_a_call_that_hangs_costs_its_text() -> None:
    _, reasons = asyncio.run(embed_async(HangingAsyncEmbedder(), ["a", "hang", "b"], timeout=2.0))
    assert reasons == [None, "a call that did not end in time", None]


@pytest.mark.parametrize("embedder", [HangingEmbedder, HangingAsyncEmbedder])
def test_a_service_that_hangs_is_given_up(embedder: type) -> None:
    it = embedder()
    texts = [f"hang {number}" for number in range(30)]
    _, reasons = asyncio.run(embed_async(it, texts, timeout=0.01))
    it.over.set()
    assert it.asked == 10
    assert (reasons.count("a call that did not end in time"), reasons.count(DOWN)) == (10, 20)


class OwnTimeoutEmbedder:
    """A service whose own time-out struck."""

    def run(self, text: str) -> dict[str, Any]:  # noqa: ARG002
        raise TimeoutError

    async def run_async(self, text: str) -> dict[str, Any]:  # noqa: ARG002
        raise TimeoutError


@in_both_ways
def test_an_embedders_own_time_out_is_its_error(way: str) -> None:
    assert embedded(way, OwnTimeoutEmbedder(), ["a"]).reasons == ["TimeoutError"]


@component
class LazyEmbedder:
    """An embedder that notes how it is warmed up."""

    def __init__(self) -> None:
        self.warm: list[str] = []

    def warm_up(self) -> None:
        self.warm.append("sync")

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": letters(text)}


@component
class LazyAsyncEmbedder(LazyEmbedder):
    """The same, asynchronously."""

    def __init__(self) -> None:
        LazyEmbedder.__init__(self)

    async def warm_up_async(self) -> None:
        self.warm.append("async")

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": letters(text)}


def test_an_embedder_is_warmed_up_in_its_own_way() -> None:
    lazy, lazy_async = LazyEmbedder(), LazyAsyncEmbedder()
    warm_up(lazy)
    warm_up(lazy_async)
    asyncio.run(warm_up_async(lazy))
    asyncio.run(warm_up_async(lazy_async))
    warm_up(LetterTextEmbedder())
    assert (lazy.warm, lazy_async.warm) == (["sync", "sync"], ["sync", "async"])


def test_what_is_an_embedder() -> None:
    for embedder in (LetterTextEmbedder(), LetterDocumentEmbedder()):
        check_embedder(embedder)
    assert [takes_documents(kind()) for kind in EMBEDDERS] == [False, True, True]
    for other in (None, "a model", 7, LetterTextEmbedder, object(), AnswerBuilder(), PromptBuilder("{{ text }}")):
        with pytest.raises(TypeError, match="embedder must be a document embedder or a text embedder"):
            check_embedder(other)


def test_vectors_are_stacked_with_zeros_behind_and_nan_for_none() -> None:
    matrix = stack([np.array([1.0, 2.0]), None, np.array([3.0])])
    np.testing.assert_array_equal(matrix, [[1.0, 2.0], [math.nan, math.nan], [3.0, 0.0]])
    assert stack([None]).shape == (1, 1)


@pytest.mark.parametrize("value", [[10**400], ["a"], [None], [True], [1j], [[1.0]], [[1.0], [1.0, 2.0]], [], 1.0, "1"])
def test_what_is_no_vector(value: Any) -> None:
    assert read_vector(value) is None
    assert read_vector([1, 2.5]) is not None


def test_a_refused_login_is_seen_behind_other_errors() -> None:
    outer = RuntimeError()
    outer.__cause__ = RefusedError("", 403)
    assert [login_refused(error) for error in (outer, RefusedError("", 401), RefusedError("", 429), None)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 0.0], [0.0, 2.0], 0.0),
        ([1.0, 1.0], [1.0, 0.0], 1 / math.sqrt(2)),
        ([3.0, 4.0], [-6.0, -8.0], -1.0),
        ([3e300, 4e300], [3e-300, 4e-300], 1.0),
        ([0.0, 0.0], [0.0, 0.0], math.nan),
        ([1.0, 0.0], [0.0, 0.0], math.nan),
    ],
)
def test_the_cosine(one: list[float], other: list[float], expected: float) -> None:
    assert cosine(one, other) == pytest.approx(expected, nan_ok=True)


def test_the_cosine_of_equal_vectors_is_exactly_one() -> None:
    random = np.random.default_rng(0)
    assert all(cosine(vector, vector.copy()) == 1.0 for vector in random.normal(size=(200, 7)))
