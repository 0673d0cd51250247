# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The entries of docs/differences.md for the answer evaluators that Haystack has, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from haystack.components.evaluators import AnswerExactMatchEvaluator as StockExactMatch
from haystack.dataclasses import ChatMessage, GeneratedAnswer

from differences import Difference, built_in, shown
from haystack_eval_ext import AnswerExactMatchEvaluator

EXACT_MATCH: dict[str, type] = {"stock": StockExactMatch, "ours": AnswerExactMatchEvaluator}


def exact_match(side: str, references: Any, answers: Any) -> dict[str, Any]:
    outputs: dict[str, Any] = EXACT_MATCH[side]().run(ground_truth_answers=references, predicted_answers=answers)
    return outputs


def scores(*rows: tuple[Any, Any]) -> Callable[[str], list[str]]:
    """The individual scores of runs with one row each."""

    def observe(side: str) -> list[str]:
        return [
            shown(lambda row=row: exact_match(side, [row[0]], [row[1]])["individual_scores"])  # type: ignore[misc]
            for row in rows
        ]

    return observe


def types(side: str) -> list[str]:
    values = exact_match(side, ["a", "b"], ["a", "c"])["individual_scores"]
    (kind,) = {type(value).__name__ for value in values}
    return [str(values), kind]


def zero_rows(side: str) -> list[str]:
    try:
        return [str(exact_match(side, [], [])), "no"]
    except ValueError as error:
        return [built_in(error), "yes" if "no rows" in str(error) else "no"]


GENERATED = GeneratedAnswer(data="a", query="q", documents=[])

ANSWER_DIFFERENCES: dict[str, Difference] = {
    "A row without an answer or a reference": Difference(
        scores((None, None), ("a", None)),
        columns=["None and None", "a and None"],
        stock=["[1]", "[0]"],
        ours=["TypeError"] * 2,
    ),
    "Values that are no text": Difference(
        scores((1, 1), ("a", ChatMessage.from_user("a"))),
        columns=["1 and 1", "a and a user's message"],
        stock=["[1]", "[0]"],
        ours=["TypeError", "ValueError"],
    ),
    "Answers of a chat generator, and of an AnswerBuilder": Difference(
        scores(("a", ChatMessage.from_assistant("a")), ("a", GENERATED)),
        columns=["ChatMessage", "GeneratedAnswer"],
        stock=["[0]"] * 2,
        ours=["[1.0]"] * 2,
    ),
    "Thoughts before the answer": Difference(
        scores(
            ("a", "<think>b?</think>a"), ("a", "b?\n</think>\n\na"), ("The tag is </think>.", "The tag is </think>.")
        ),
        columns=["a block", "without its opening tag", "an answer about a tag"],
        stock=["[0]", "[0]", "[1]"],
        ours=["[1.0]"] * 3,
    ),
    "Several references": Difference(
        scores((["a", "b"], "b")),
        columns=["scores"],
        stock=["[0]"],
        ours=["[1.0]"],
    ),
    "Floats instead of whole numbers": Difference(
        types,
        columns=["scores", "type"],
        stock=["[1, 0]", "int"],
        ours=["[1.0, 0.0]", "float"],
    ),
    "More outputs of exact match": Difference(
        lambda side: [", ".join(sorted(exact_match(side, ["a"], ["a"])))],
        columns=["outputs"],
        stock=["individual_scores, score"],
        ours=["errors, individual_scores, score, statuses"],
    ),
    "Exact match of zero rows": Difference(
        zero_rows,
        columns=["error", "message says that there are no rows"],
        stock=["ValueError", "no"],
        ours=["ValueError", "yes"],
    ),
}
