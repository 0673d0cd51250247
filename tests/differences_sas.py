# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The entries of docs/differences.md for SASEvaluator, on tiny real models: they need torch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from haystack.components.evaluators import SASEvaluator as StockSAS
from haystack.utils import ComponentDevice

import models
from differences import Difference, built_in, shown
from haystack_eval_ext import SASEvaluator

WORDS = models.WORDS
SAS: dict[str, Any] = {"stock": StockSAS, "ours": SASEvaluator}


def run(side: str, model: str, references: Any, answers: Any, **parameters: Any) -> dict[str, Any]:
    evaluator = SAS[side](model, device=ComponentDevice.from_str("cpu"), **parameters)
    outputs: dict[str, Any] = evaluator.run(ground_truth_answers=references, predicted_answers=answers)
    return outputs


def outcome(call: Callable[[], dict[str, Any]]) -> str:
    """What the call came to: a list of numbers, or of lists, or an error."""
    value = shown(lambda: str(call()["individual_scores"]))
    if value.startswith("[["):
        return "a list for each row"
    return "scores" if value.startswith("[") else value


def logits(side: str) -> list[str]:
    rng = random.Random(5)
    texts = [" ".join(rng.choices(WORDS, k=1 + number % 6)) for number in range(40)]
    references, answers = texts[:20], texts[20:]
    whole = run(side, models.CROSS_LOGITS, references, answers)["individual_scores"]
    alone = [
        run(side, models.CROSS_LOGITS, [reference], [answer])["individual_scores"][0]
        for reference, answer in zip(references, answers, strict=True)
    ]
    same = all(abs(one - other) < 1e-5 for one, other in zip(whole, alone, strict=True))
    return ["yes" if fact else "no" for fact in (same, all(0 <= value <= 1 for value in alone))]


def labels(side: str) -> list[str]:
    return [
        outcome(lambda parameters=parameters: run(side, models.CROSS_LABELS, ["a"], ["a"], **parameters))  # type: ignore[misc]
        for parameters in ({}, {"label": "entailment"})
    ]


def identical(side: str) -> list[str]:
    rng = random.Random(6)
    texts = [" ".join(rng.choices(WORDS, k=1 + number % 9)) for number in range(60)]
    return ["yes" if set(run(side, models.BI_ENCODER, texts, texts)["individual_scores"]) == {1.0} else "no"]


def none_as_reference(side: str) -> list[str]:
    try:
        run(side, models.BI_ENCODER, ["a", None], ["a", "b"])
    except (ValueError, TypeError) as error:
        return [built_in(error), "yes" if "ground_truth_answers[1]" in str(error) else "no"]
    return ["no error", "no message"]


def several(side: str) -> list[str]:
    references, alone = [["a", "b"]], ["b"]
    best = run(side, models.BI_ENCODER, alone, ["b"])["individual_scores"]
    found = run(side, models.BI_ENCODER, references, ["b"])["individual_scores"]
    cross = outcome(lambda: run(side, models.CROSS_SIGMOID, references, ["b"]))
    return ["yes" if abs(found[0] - best[0]) < 1e-5 else "no", cross]


SAS_DIFFERENCES: dict[str, Difference] = {
    "A cross-encoder that emits logits": Difference(
        logits,
        columns=["a pair scores the same alone and beside others", "all between 0 and 1"],
        stock=["no", "no"],
        ours=["yes", "yes"],
    ),
    "A cross-encoder with several labels": Difference(
        labels,
        columns=["without a label", 'label="entailment"'],
        stock=["a list for each row", "TypeError"],
        ours=["ValueError", "scores"],
    ),
    "A cross-encoder that ends in another activation": Difference(
        lambda side: [outcome(lambda: run(side, models.CROSS_TANH, ["a"], ["a"]))],
        columns=["Tanh"],
        stock=["scores"],
        ours=["ValueError"],
    ),
    "Identical texts": Difference(
        identical,
        columns=["all are exactly 1"],
        stock=["no"],
        ours=["yes"],
    ),
    "Several references of SAS": Difference(
        several,
        columns=["bi-encoder: b against [a, b] is as b against b", "cross-encoder"],
        stock=["no", "ValueError"],
        ours=["yes", "scores"],
    ),
    "A reference that is None": Difference(
        none_as_reference,
        columns=["error", "message names input and row"],
        stock=["ValueError", "no"],
        ours=["no error", "no message"],
    ),
    "A text with half a UTF-16 pair": Difference(
        lambda side: [outcome(lambda: run(side, models.BI_ENCODER, ["a"], ["a \ud83d"]))],
        columns=["a answered by a and a lone surrogate"],
        stock=["TypeError"],
        ours=["scores"],
    ),
    "SAS of zero rows": Difference(
        lambda side: [shown(lambda: run(side, models.BI_ENCODER, [], [])["individual_scores"])],
        columns=["scores"],
        stock=["[0.0]"],
        ours=["ValueError"],
    ),
    "Types of the outputs of SAS": Difference(
        lambda side: [
            type(run(side, models.BI_ENCODER, ["a"], ["b"])["score"]).__name__,
            ", ".join(sorted(run(side, models.BI_ENCODER, ["a"], ["b"]))),
        ],
        columns=["score", "outputs"],
        stock=["float64", "individual_scores, score"],
        ours=["float", "errors, individual_scores, score, statuses"],
    ),
}
