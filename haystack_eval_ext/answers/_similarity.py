# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of a batch, each once; pairs of them by number; cosines of the pairs; the best reference of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from haystack_eval_ext._scores import NO_REFERENCE, OnUndefined, RowScores, finish_rows
from haystack_eval_ext._text import sendable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Pairs whose vectors are gathered at a time: enough to be fast, few enough that a large batch needs no second copy.
_CHUNK = 4096


class TextPairs(NamedTuple):
    """The pairs of answer and reference of a batch, row after row, as numbers of texts."""

    texts: list[str]  # each different text once
    predictions: NDArray[np.intp]  # the number of the answer's text, for each pair
    references: NDArray[np.intp]  # the number of the reference's text, for each pair
    rows: NDArray[np.intp]  # the rows that have references
    starts: NDArray[np.intp]  # the first pair of each of these rows
    row_count: int


def pair_up(references: Sequence[Sequence[str]], predictions: list[str]) -> TextPairs:
    """
    Number the different texts of a batch, and pair each answer with each of its references.

    :param references: The references of each row.
    :param predictions: The answer of each row.
    :returns: The pairs, of sendable texts.
    """
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    lefts: list[int] = []
    rights: list[int] = []
    rows: list[int] = []
    starts: list[int] = []
    for row, (prediction, candidates) in enumerate(zip(predictions, references, strict=True)):
        if candidates:
            rows.append(row)
            starts.append(len(lefts))
            lefts += [number(prediction)] * len(candidates)
            rights += map(number, candidates)
    return TextPairs(
        [sendable(text) for text in numbers],
        np.array(lefts, dtype=np.intp),
        np.array(rights, dtype=np.intp),
        np.array(rows, dtype=np.intp),
        np.array(starts, dtype=np.intp),
        len(predictions),
    )


def normalized(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    """
    Bring each row to unit length.

    :param vectors: One vector a row.
    :returns: The unit vectors; a vector of zeros has no direction and becomes NaN.
    """
    # By the largest component first, so that no square overflows or vanishes.
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = vectors / largest
        scaled /= np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled)


def cosines(left: NDArray[np.floating], right: NDArray[np.floating]) -> NDArray[np.floating]:
    """
    The cosine of each row of one matrix with the same row of another.

    :param left: Unit vectors, one a row.
    :param right: As many unit vectors of the same length.
    :returns: From -1 to 1: rounding that leads outside, such as 1.00000024, is cut.
    """
    return np.asarray(np.clip(np.einsum("ij,ij->i", left, right), -1.0, 1.0))


def pair_cosines(vectors: NDArray[np.floating], pairs: TextPairs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """
    The cosine of each pair.

    :param vectors: The vector of each text.
    :param pairs: The pairs.
    :returns: One cosine a pair, exactly 1 for a text beside itself, NaN where a vector has no direction; and whether a
        vector of the pair is not finite.
    """
    units = normalized(vectors.astype(np.result_type(vectors, np.float32), copy=False))
    values = np.empty(len(pairs.predictions), dtype=np.float64)
    for start in range(0, len(values), _CHUNK):
        part = slice(start, start + _CHUNK)
        values[part] = cosines(units[pairs.predictions[part]], units[pairs.references[part]])
    # Of equal texts the product is 1 but for rounding; NaN stays.
    values[(pairs.predictions == pairs.references) & ~np.isnan(values)] = 1.0
    broken = ~np.isfinite(vectors).all(axis=1)
    return values, broken[pairs.predictions] | broken[pairs.references]


def similarity_rows(
    pairs: TextPairs,
    values: NDArray[np.floating],
    failed: NDArray[np.bool_],
    on_undefined: OnUndefined,
    *,
    name: str,
    reason: str,
) -> RowScores:
    """
    Take the best reference of each row, and finish the scores of a run.

    :param pairs: The pairs.
    :param values: One value a pair, NaN where it is undefined.
    :param failed: True for each pair that could not be scored; its row then is an error, since the best of the other
        references could be the wrong one.
    :param on_undefined: The policy of the component.
    :param name: Name of the component, for messages.
    :param reason: Why pairs failed, for the warning.
    :returns: The outputs.
    :raises UndefinedScore: If a row is undefined and the policy is "raise".
    """
    best = np.full(pairs.row_count, np.nan)
    errors: list[int] = []
    if len(pairs.rows):
        best[pairs.rows] = np.fmax.reduceat(values, pairs.starts)
        errors = pairs.rows[np.logical_or.reduceat(failed, pairs.starts)].tolist()
    return finish_rows(
        best,
        on_undefined,
        metric=name,
        reason="vectors of zeros",
        failed=dict.fromkeys(errors, reason),
        not_run=dict.fromkeys(np.setdiff1d(np.arange(pairs.row_count), pairs.rows).tolist(), NO_REFERENCE),
    )
