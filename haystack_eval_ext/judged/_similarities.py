# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Similarities of texts beside a judge's verdicts: all rows' texts in few calls, and a failed text costs its rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._embedding import embed_async, login_refused, takes_documents
from haystack_eval_ext._formulas import cosine
from haystack_eval_ext._scores import UndefinedScore
from haystack_eval_ext.judged._failures import JudgeError
from haystack_eval_ext.judged._limits import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from haystack_eval_ext.judged._policy import JudgePolicy


class Similarities:
    """How similar texts are, of which each was embedded once."""

    def __init__(self, vectors: dict[str, NDArray[Any] | None], reasons: dict[str, str | None]) -> None:
        """
        Keep what became of the texts.

        :param vectors: The vector of each text, None where it has none.
        :param reasons: Why a text has none.
        """
        self._vectors = vectors
        self._reasons = reasons

    def of(self, one: str, other: str) -> float:
        """
        The cosine of two texts' embeddings, where 0 and below count as unrelated.

        :param one: A text.
        :param other: Another one.
        :returns: From 0 to 1; 0 if one of them is blank.
        :raises JudgeError: If one of them could not be embedded.
        :raises UndefinedScore: If an embedding is all zeros.
        """
        if not one.strip() or not other.strip():
            return 0.0
        left, right = self._vectors[one], self._vectors[other]
        if left is None or right is None:
            msg = f"a text could not be embedded ({self._reasons[one] or self._reasons[other]})"
            raise JudgeError(msg)
        if left.size != right.size:
            msg = "the embeddings of two texts have different lengths"
            raise JudgeError(msg)
        value = cosine(left, right)
        if math.isnan(value):
            msg = "the embedding of a text is all zeros"
            raise UndefinedScore(msg)
        return max(0.0, value)


async def similarities(embedder: Any, texts: Iterable[str], policy: JudgePolicy) -> Similarities:
    """
    Embed the texts of all rows, on the judges' loop.

    A text embedder's calls may each take the policy's ``timeout``, a document embedder's with many texts its
    ``deadline``. An embedder repeats failed calls itself, or not. A refused login fails all texts at the first call.

    :param embedder: Any embedder of Haystack.
    :param texts: The texts, in any order and number.
    :param policy: How the judge is asked: as many calls of a text embedder are in flight at once.
    :returns: Their similarities.
    """
    different = list(dict.fromkeys(texts))
    try:
        vectors, reasons = await embed_async(
            embedder,
            different,
            in_thread=in_thread,
            at_once=policy.max_concurrency,
            timeout=policy.deadline if takes_documents(embedder) else policy.timeout,
        )
    except Exception as error:
        if not login_refused(error):
            raise
        why = f"{type(error).__name__}: the login was refused"
        vectors, reasons = [None] * len(different), [why] * len(different)
    return Similarities(dict(zip(different, vectors, strict=True)), dict(zip(different, reasons, strict=True)))


def rescored(outcome: Any, judge: Callable[[], tuple[float, dict[str, Any]]]) -> Any:
    """
    The outcome of a row whose score also depends on similarities.

    :param outcome: The outcome after the judge's verdicts.
    :param judge: The score and further details, with what :meth:`Similarities.of` raises.
    :returns: The final outcome.
    """
    try:
        score, details = judge()
    except UndefinedScore as reason:
        return outcome._replace(score=math.nan, status="undefined", error=str(reason))
    except JudgeError as error:
        return outcome._replace(score=math.nan, status="error", error=error.reason)
    return outcome._replace(score=score, details={**outcome.details, **details})
