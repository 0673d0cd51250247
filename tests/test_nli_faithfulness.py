# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""NLIFaithfulnessEvaluator: the best chunk of any context counts, each pair is read once, unfit models are refused."""

from __future__ import annotations

import asyncio
import io
import math
import random
import socket
import sys
import threading
from typing import Any

import pytest
from haystack.utils import ComponentDevice

import models
import nli_models
from haystack_eval_ext import NLIFaithfulnessEvaluator, UndefinedScore
from haystack_eval_ext.judged._nli import chunks, pieces
from nli_models import HUB_NAME, NO, WORDS, YES, needs_nli

CPU = ComponentDevice.from_str("cpu")
FILLER = [f"But w{number} is w{number + 20}." for number in range(20)]  # 5 tokens each: 20 need two inputs of 64


def make(model: str = WORDS, **parameters: Any) -> NLIFaithfulnessEvaluator:
    return NLIFaithfulnessEvaluator(model, device=CPU, **parameters)


def probabilities(contexts: list[str], answer: str, **parameters: Any) -> list[float]:
    result = make(**parameters).run([contexts], [answer])
    row: list[float] = result["results"][0]["probabilities"]
    return row


def near(*values: float) -> Any:
    return pytest.approx(list(values), abs=1e-6)


def words(text: str) -> int:
    return len(text.split())


class Recorder:
    """Stands between an evaluator and its model; keeps the shape of each batch."""

    def __init__(self, evaluator: NLIFaithfulnessEvaluator) -> None:
        evaluator.warm_up()
        self.model = evaluator._loaded._model
        self.shapes: list[tuple[int, int]] = []
        self.in_main_thread: list[bool] = []
        evaluator._loaded._model = self

    def __call__(self, **encoded: Any) -> Any:
        self.shapes.append(tuple(encoded["input_ids"].shape))
        self.in_main_thread.append(threading.current_thread() is threading.main_thread())
        return self.model(**encoded)


@needs_nli
@pytest.mark.parametrize(
    ("contexts", "answer", "expected"),
    [
        (["One.", "Two.", "Three."], "Three.", [YES]),  # the last of several contexts
        (["One.", "Two."], "One two.", [NO]),  # not by two contexts together
        (["One two three."], "Three.", [YES]),  # the context is the premise
        (["Three."], "One two three.", [NO]),
        ([" ".join(FILLER)], FILLER[0], [YES]),  # in the first chunk of a long context
        ([" ".join(FILLER)], FILLER[-1], [YES]),  # in the last
        ([" ".join(FILLER)], "W0 is w39.", [NO]),  # in several of them
        (["\n".join(FILLER)], f"{FILLER[7]} {FILLER[12]} One.", [YES, YES, NO]),
        ([" ".join(FILLER[9:])], "w39 " * 20, [YES]),  # 55 tokens, which do not fit beside the 20 of the statement
        (["", " \n"], "One.", [0.0]),  # nothing to read
        (["-- " * 100], "One.", [0.0]),  # too long for the model, and without a sentence
    ],
)
def test_the_best_chunk_of_the_best_context_counts(contexts: list[str], answer: str, expected: list[float]) -> None:
    assert probabilities(contexts, answer) == near(*expected)


@needs_nli
def test_without_chunks_the_end_of_a_long_context_is_lost() -> None:
    """The test above can fail: its long context does not fit."""
    evaluator = make()
    evaluator.warm_up()
    tokens = evaluator._loaded._tokenizer(" ".join(FILLER))["input_ids"]
    assert len(tokens) > nli_models.LONGEST + 30
    evaluator._loaded.premises = lambda context, _: [context]
    result = evaluator.run([[" ".join(FILLER)]], [FILLER[-1]])
    assert result["results"][0]["probabilities"] == near(NO)


@needs_nli
def test_a_long_sentence_is_cut_and_its_worst_part_counts() -> None:
    long = " ".join(["one two three four"] * 10)  # 40 tokens; half of what the model reads is 30
    contexts = ["One two three four."]
    assert probabilities(contexts, long) == near(YES)
    assert probabilities(contexts, f"{long} five") == near(NO)
    assert probabilities(contexts, f"five {long}") == near(NO)
    assert probabilities([f"{long} {long} five"], "five") == near(YES)


@needs_nli
def test_max_length_makes_smaller_chunks() -> None:
    def context(between: int) -> str:
        return f"One is two. {' '.join(FILLER[:between])} Seven is eight."

    answer = "One eight."  # 3 tokens beside 3 special ones: 58 or 26 are left
    assert probabilities([context(5)], answer) == near(YES)  # 33
    assert probabilities([context(5)], answer, max_length=32) == near(NO)
    assert probabilities([context(3)], answer, max_length=32) == near(YES)  # 23
    shapes = Recorder(evaluator := make(max_length=32)).shapes
    evaluator.run([[" ".join(FILLER)]], [FILLER[0]])
    assert max(length for _, length in shapes) <= 32


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("A b c. D e.", 5, ["A b c. D e."]),
        ("A b c.  D e.", 5, ["A b c.  D e."]),  # what fits stays as it is
        ("A b c. D e. F.", 5, ["A b c.", "D e. F."]),  # a token more for each sentence after the first
        ("A b c. D. F.", 4, ["A b c.", "D. F."]),
        ("A b c d e f. G.", 3, ["A b c", "d e f.", "G."]),
        ("- " * 9, 3, []),
    ],
)
def test_chunks(text: str, limit: int, expected: list[str]) -> None:
    assert chunks(text, limit, words) == expected
    assert all(words(chunk) <= limit for chunk in expected)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abcd", 4, ["abcd"]),
        ("abcdefgh", 4, ["abcd", "efgh"]),
        (" ab cdefgh ", 7, ["ab", "cdefgh"]),
        ("abcdef gh", 6, ["abcdef", "gh"]),
        ("東京タワー", 2, ["東京", "タ", "ワー"]),
        ("ab", 0, ["a", "b"]),
        (" ", 5, []),
    ],
)
def test_pieces(text: str, limit: int, expected: list[str]) -> None:
    assert pieces(text, limit, len) == expected


def test_pieces_lose_no_word() -> None:
    rng = random.Random(3)
    text = " ".join("x" * rng.randint(1, 30) for _ in range(300))
    cut = pieces(text, 35, len)
    assert max(map(len, cut)) <= 35
    assert " ".join(cut) == text


@needs_nli
def test_each_different_pair_is_read_once_and_like_lengths_together() -> None:
    evaluator = make(batch_size=2)
    recorder = Recorder(evaluator)
    long = "One two three four five six seven eight nine ten."
    contexts = [["One.", "One.", long], ["One."], [], ["Two."]]
    result = evaluator.run(contexts, ["One. Two.", "Two. One. One.", "One.", ""])
    # {One., long} x {One., Two.}: 11 + 2 + 3 and 2 + 2 + 3 tokens
    assert recorder.shapes == [(2, 16), (2, 7)]
    assert [row["statement_scores"] for row in result["results"]] == [[1, 1], [0, 1, 1], [0], []]
    assert result["statuses"] == ["scored"] * 3 + ["undefined"]
    assert not evaluator._loaded._lengths  # keeps no texts


def mixed_rows(seed: int, count: int) -> tuple[list[list[str]], list[str]]:
    """Texts of mixed lengths for the model with random weights, some of them more than once."""
    rng = random.Random(seed)

    def text(longest: int) -> str:
        return " ".join(rng.choices(models.WORDS, k=rng.choice([2, 3, longest]))).capitalize() + "."

    return [[text(30) for _ in range(rng.randint(1, 3))] for _ in range(count)], [text(9) for _ in range(count)]


@needs_nli
def test_equal_to_the_cross_encoder_of_sentence_transformers() -> None:
    import torch
    from sentence_transformers import CrossEncoder

    contexts, answers = mixed_rows(1, 30)
    pairs = [(context, answer) for row, answer in zip(contexts, answers, strict=True) for context in row]
    logits = torch.tensor(CrossEncoder(models.CROSS_LABELS, device="cpu").predict(pairs))
    values = iter(torch.softmax(logits, dim=1)[:, models.LABELS.index("entailment")].tolist())
    wanted = [max(next(values) for _ in row) for row in contexts]
    assert max(wanted) - min(wanted) > 0.3
    evaluator = make(models.CROSS_LABELS, score_by="probability")
    assert evaluator.run(contexts, answers)["individual_scores"] == pytest.approx(wanted, abs=1e-5)


@needs_nli
def test_a_row_scores_the_same_alone_and_in_any_batch() -> None:
    contexts, answers = mixed_rows(2, 20)
    evaluator = make(models.CROSS_LABELS, score_by="probability")
    whole = evaluator.run(contexts, answers)["individual_scores"]
    assert len(set(whole)) > 15
    alone = [evaluator.run([row], [answer])["score"] for row, answer in zip(contexts, answers, strict=True)]
    assert alone == pytest.approx(whole, abs=1e-5)
    order = random.Random(6).sample(range(20), 20)
    small = make(models.CROSS_LABELS, score_by="probability", batch_size=3)
    came = small.run([contexts[n] for n in order], [answers[n] for n in order])["individual_scores"]
    assert came == pytest.approx([whole[n] for n in order], abs=1e-5)


@needs_nli
def test_weights_in_half_precision_are_used_in_single() -> None:
    import torch

    evaluator = make(nli_models.HALF)
    evaluator.warm_up()
    assert {parameter.dtype for parameter in evaluator._loaded._model.parameters()} == {torch.float32}
    assert evaluator.run([["One two."]], ["One. Three."])["results"][0]["statement_scores"] == [1, 0]


@needs_nli
def test_a_probability_at_the_threshold_supports() -> None:
    contexts, answers = [["One two."]], ["One."]
    exact = make().run(contexts, answers)["results"][0]["probabilities"][0]
    assert make(threshold=exact).run(contexts, answers)["score"] == 1.0
    assert make(threshold=math.nextafter(exact, 1)).run(contexts, answers)["score"] == 0.0


@needs_nli
def test_what_comes_out_for_a_row() -> None:
    result = make().run([["The tower is in Paris."]], ["The tower is in Paris! It is old."])
    (entry,) = result["results"]
    assert entry.pop("probabilities") == near(NO, NO)  # the context has no "!"
    assert entry == {
        "statements": ["The tower is in Paris!", "It is old."],
        "statement_scores": [0, 0],
        "score": 0.0,
        "status": "evaluated",
    }


@needs_nli
def test_a_model_that_gives_no_number_is_an_error_of_its_rows() -> None:
    result = make(nli_models.BROKEN).run([["One."], [], ["One."]], ["One.", "Two.", ""])
    assert result["statuses"] == ["error", "scored", "undefined"]
    assert result["individual_scores"] == [pytest.approx(math.nan, nan_ok=True), 0.0, 0.0]
    assert result["score"] == 0.0
    assert [row["status"] for row in result["results"]] == ["error", "evaluated", "evaluated"]
    assert result["results"][0]["statements"] == []


@needs_nli
@pytest.mark.parametrize("broken", [0, 1])
def test_one_statement_without_a_number_makes_the_row_an_error(broken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = make()
    evaluator.warm_up()
    real = evaluator._loaded.probabilities

    def partly(*arguments: Any, **options: Any) -> Any:
        values = real(*arguments, **options)
        values[broken] = math.nan
        return values

    monkeypatch.setattr(evaluator._loaded, "probabilities", partly)
    assert evaluator.run([["One."], ["Two."]], ["One. Three.", "Two."])["statuses"] == ["error", "scored"]
    # A statement in two parts, of which one is lost.
    long = "one two three four five " * 14
    assert evaluator.run([["One."]], [long])["statuses"] == ["error"]


def test_rows_with_nothing_to_compare_need_no_model() -> None:
    result = make("no such model").run([[], [" "], ["a"]], ["One. Two.", "One.", " ... "])
    assert result["individual_scores"] == [0.0, 0.0, 0.0]
    assert result["statuses"] == ["scored", "scored", "undefined"]
    assert result["results"][0]["statement_scores"] == [0, 0]
    assert result["results"][0]["probabilities"] == [0.0, 0.0]


def test_undefined_rows_are_refused_before_a_model_is_loaded() -> None:
    with pytest.raises(UndefinedScore, match="row 1"):
        make("no such model", on_undefined="raise").run([["a"], ["b"]], ["a", ""])


@needs_nli
def test_texts_that_cannot_be_encoded_are_read_and_given_back() -> None:
    answer = "One \ud800. Two \x00 two.\u200b"
    result = make().run([["One \udfff. Two \x00 two.\ud800"]], [answer])
    assert result["statuses"] == ["scored"]
    assert "".join(result["results"][0]["statements"]).replace(" ", "") == answer.replace(" ", "")


@needs_nli
def test_a_folder_is_loaded_without_network(monkeypatch: pytest.MonkeyPatch) -> None:
    class AskedError(BaseException):
        """Nobody catches it and tries again."""

    def refuse(*_: Any) -> None:
        raise AskedError

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert make().run([["One."]], ["One."])["score"] == 1.0
    with pytest.raises(AskedError):
        make("nobody/nowhere").warm_up()


@needs_nli
def test_a_name_on_the_hub_is_found_in_its_cache() -> None:
    assert make(HUB_NAME).run([["One."]], ["One."])["score"] == 1.0


@needs_nli
def test_run_async_gives_the_same_and_leaves_the_loop_free() -> None:
    evaluator = make()
    recorder = Recorder(evaluator)
    contexts, answers = [["One two."], ["Three."]], ["One. Three.", "Three."]
    expected = evaluator.run(contexts, answers)
    recorder.in_main_thread.clear()

    async def twice() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(evaluator.run_async(contexts, answers) for _ in range(2))))

    assert asyncio.run(twice()) == [expected, expected]
    assert recorder.in_main_thread == [False, False]


@needs_nli
def test_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    loaded = []
    real = transformers.AutoModelForSequenceClassification.from_pretrained

    def load(*arguments: Any, **options: Any) -> Any:
        loaded.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(transformers.AutoModelForSequenceClassification, "from_pretrained", load)
    evaluator = make()
    threads = [threading.Thread(target=evaluator.run, args=([["One."]], ["One."])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == [1]


@needs_nli
@pytest.mark.parametrize(
    ("terminal", "switch", "variable", "shown"),
    [(True, True, "", True), (True, False, "", False), (False, True, "", False), (True, True, "1", False)],
)
def test_the_progress_bar_shows_on_a_terminal_unless_switched_off(
    terminal: bool, switch: bool, variable: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = make(progress_bar=switch)
    evaluator.warm_up()
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TQDM_DISABLE", variable)
    evaluator.run([["One."]], ["One."])
    assert ("NLIFaithfulnessEvaluator" in stream.getvalue()) == shown
