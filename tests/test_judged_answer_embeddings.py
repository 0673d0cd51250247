# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer relevancy and correctness beside their embedder: few calls, and a text that fails costs its rows alone."""

from __future__ import annotations

import asyncio
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, component, default_to_dict
from haystack.components.embedders import MockTextEmbedder

from haystack_eval_ext import AnswerCorrectnessEvaluator, AnswerRelevancyEvaluator, FailedRowsError, UndefinedScore
from letter_embedders import AsyncDocumentEmbedder, LetterDocumentEmbedder, LetterTextEmbedder, letters
from test_judged_answer import FAST, asked, both, both_rows, correctness, make, relevancy

any_embedder = pytest.mark.parametrize("embedder", [LetterTextEmbedder, LetterDocumentEmbedder, AsyncDocumentEmbedder])


@both
@any_embedder
def test_texts_of_all_rows_are_embedded_once(evaluator: type, embedder: type) -> None:
    it = make(evaluator, embedder=embedder())
    both_rows(it, ["Ma", "Ne", "Ma", "", "Lo"])
    texts = ["Ma", "Ne", "Lo"]
    assert it.embedder.asked == (texts if embedder is LetterTextEmbedder else [texts])


@both
@any_embedder
@pytest.mark.parametrize("sign", ["#refuse", "#none", "#nan", "#empty", "#words", "#nested", "#cancel", "#stop"])
def test_a_text_that_cannot_be_embedded_costs_its_rows(evaluator: type, embedder: type, sign: str) -> None:
    it = make(evaluator, embedder=embedder())
    result = both_rows(it, ["Ma", f"secret {sign}", "Ne", f"secret {sign}"])
    assert result["statuses"] == ["scored", "error", "scored", "error"]
    assert result["score"] == 1.0
    assert "could not be embedded" in result["errors"][1]
    assert "secret" not in result["errors"][1]
    kept = "generated_questions" if evaluator is AnswerRelevancyEvaluator else "answer_statements"
    assert result["results"][1][kept]  # what the judge said was paid for


@both
def test_failed_rows_are_raised_with_the_others_result(evaluator: type) -> None:
    it = make(evaluator, raise_on_failure=True)
    with pytest.raises(
        FailedRowsError, match=r"1 of 2 rows failed .*embedded \(HTTP 400 \(RefusedError\)\)\): row 1\."
    ) as caught:
        both_rows(it, ["Ma", "".join(["sec", "ret #refuse"])])
    assert caught.value.result["statuses"] == ["scored", "error"]
    assert "secret" not in "".join(traceback.format_exception(caught.value))


@component
class CancellingEmbedder(AsyncDocumentEmbedder):
    """Cancels the task that it runs in."""

    def __init__(self) -> None:
        AsyncDocumentEmbedder.__init__(self)

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        task = asyncio.current_task()
        if any("#own" in (document.content or "") for document in documents) and task is not None:
            task.cancel()
            await asyncio.sleep(0)
        result: dict[str, Any] = self.run(documents)
        return result


@both
def test_an_embedder_that_cancels_its_own_task_costs_its_rows(evaluator: type) -> None:
    result = both_rows(make(evaluator, embedder=CancellingEmbedder()), ["Ma", "Mo #own", "Ne"])
    assert result["statuses"] == ["scored", "error", "scored"]
    assert "(CancelledError)" in result["errors"][1]


@both
def test_a_run_that_is_cancelled_while_it_embeds_ends(evaluator: type) -> None:
    begun = threading.Event()

    class Waiting:
        def run(self, documents: list[Document]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

        async def run_async(self, documents: list[Document]) -> dict[str, Any]:
            begun.set()
            await asyncio.Event().wait()
            return self.run(documents)

    async def cancelled() -> None:
        it = make(evaluator, embedder=Waiting())
        sockets = {"questions": ["Ma"], "predicted_answers": ["Ma"]}
        if evaluator is AnswerCorrectnessEvaluator:
            sockets["ground_truth_answers"] = ["Ma"]
        task = asyncio.create_task(it.run_async(**sockets))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


@component
class MeteredEmbedder(LetterDocumentEmbedder):
    """Tells its tokens, one for each letter, under some name."""

    def __init__(self, name: str) -> None:
        LetterDocumentEmbedder.__init__(self)
        self.name = name

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        result: dict[str, Any] = LetterDocumentEmbedder.run(self, documents)
        tokens = sum(len(document.content or "") for document in documents)
        return {**result, "meta": {"model": "m", "usage": {self.name: tokens}}}


@both
@pytest.mark.parametrize("name", ["prompt_tokens", "input_tokens", "total_tokens"])
def test_the_embedders_tokens_are_counted_apart(evaluator: type, name: str, tmp_path: Path) -> None:
    """Each text once, by the first row that it stands in; nothing where the cache has all."""
    policy = {**FAST, "cache_path": str(tmp_path / "cache.sqlite"), "max_tokens": None}
    it = make(evaluator, embedder=MeteredEmbedder(name), policy=policy)
    result = both_rows(it, ["Ma", "Ne #refuse", "Ma", "", "Long " * 40])
    letters_sent = sum(len(text) for batch in it.embedder.asked for text in batch if "#refuse" not in text)
    tokens = [row["usage"]["embedding_tokens"] for row in result["results"]]
    assert tokens[1:4] == [None] * 3
    assert tokens[4] > tokens[0] > 0
    assert result["usage"]["embedding_tokens"] == tokens[0] + tokens[4]
    assert tokens[0] + tokens[4] <= letters_sent
    again = both_rows(it, ["Ma", "Long " * 40])
    assert again["usage"]["embedding_tokens"] is None


@both
def test_an_embedder_that_tells_no_tokens_has_none(evaluator: type) -> None:
    for embedder in (LetterDocumentEmbedder(), MeteredEmbedder("odd")):
        result = both_rows(make(evaluator, embedder=embedder), ["Ma"])
        assert result["usage"]["embedding_tokens"] is None


@both
@any_embedder
def test_a_refused_login_stops_the_embedder_and_keeps_what_was_judged(evaluator: type, embedder: type) -> None:
    it = make(evaluator, embedder=embedder())
    result = both_rows(it, ["#login", "Ma", "Ne"])
    assert result["statuses"] == ["error"] * 3
    assert "the login was refused" in result["errors"][2]
    assert len(it.embedder.asked) == 1


@both
def test_embeddings_of_other_lengths_or_zeros(evaluator: type) -> None:
    texts = ["Ma", "Ne"]
    it = make(evaluator, embedder=MockTextEmbedder(embedding=[0.0, 0.0]))
    result = both_rows(it, texts)
    assert result["statuses"] == ["undefined"] * 2
    assert "all zeros" in result["errors"][0]
    with pytest.raises(UndefinedScore, match="zeros"):
        both_rows(make(evaluator, embedder=MockTextEmbedder(embedding=[0.0]), on_undefined="raise"), texts)


def test_embeddings_of_different_lengths_are_a_failure() -> None:
    result = relevancy(make(AnswerRelevancyEvaluator), ["ab"], ["ab #long"])
    assert "different lengths" in result["errors"][0]
    result = correctness(make(AnswerCorrectnessEvaluator), ["Ma"], ["Ma #long"])
    assert "different lengths" in result["errors"][0]


@component
class ColdEmbedder:
    """An embedder that cannot be warmed up."""

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self)

    def warm_up(self) -> None:
        msg = "no key"
        raise OSError(msg)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": letters(text)}


@both
def test_an_embedder_that_cannot_be_prepared_is_told_before_a_call_is_paid(evaluator: type) -> None:
    it = make(evaluator, embedder=ColdEmbedder())
    with pytest.raises(ValueError, match=r"embedder could not be prepared: no key\. Nothing was asked"):
        both_rows(it, ["Ma"])
    assert asked(it) == []


@both
@any_embedder
def test_run_async_is_run_also_inside_a_loop(evaluator: type, embedder: type) -> None:
    it = make(evaluator, embedder=embedder())
    texts = ["Ma", "Ne #refuse", "", "Lo"]
    expected = both_rows(it, texts)
    sockets = {"questions": texts, "predicted_answers": texts}
    if evaluator is AnswerCorrectnessEvaluator:
        sockets["ground_truth_answers"] = texts

    async def inside() -> tuple[Any, Any]:
        return await it.run_async(**sockets), it.run(**sockets)

    for came in asyncio.run(inside()):
        assert repr(came) == repr(expected)


@component
class HangingEmbedder:
    """Never answers; the thread that waits must not keep the process alive."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        self.threads.append(threading.current_thread())
        threading.Event().wait()
        return {"embedding": letters(text)}


@both
def test_an_embedder_that_hangs_ends_with_the_policys_time_out(evaluator: type) -> None:
    # The judge is a function in memory: 2 seconds are ample for it.
    it = make(evaluator, embedder=HangingEmbedder(), policy={"timeout": 2.0})
    result = both_rows(it, ["Ma"])
    assert result["statuses"] == ["error"]
    assert "did not end in time" in result["errors"][0]
    assert [thread.daemon for thread in it.embedder.threads] == [True]
