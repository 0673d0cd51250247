# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Similarities of texts beside a judge's verdicts: all rows' texts in few calls, and a failed text costs its rows."""

from __future__ import annotations

import asyncio
import json
import math
import os
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack import logging
from haystack.core.serialization import component_to_dict

from haystack_eval_ext._calls import login_refused
from haystack_eval_ext._embedding import embed_async, read_vector, takes_documents, warm_up_async
from haystack_eval_ext._formulas import cosine
from haystack_eval_ext._said import in_words, said_by
from haystack_eval_ext._text import blank, sendable
from haystack_eval_ext.errors import InvalidValueError, UndefinedScore
from haystack_eval_ext.judged._account import embedding_tokens_of, estimated_tokens
from haystack_eval_ext.judged._cache import (
    CachedReply,
    ReplyCache,
    deciding,
    former,
    not_cached,
    pauses,
    reply_key,
)
from haystack_eval_ext.judged._failures import JudgeError
from haystack_eval_ext.judged._running import judge_rows, plan_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from haystack_eval_ext.judged._policy import JudgePolicy

logger = logging.getLogger(__name__)

#: The key of a row's details under which :class:`Pending` waits for the embedder.
PENDING = "pending"


class Pending(NamedTuple):
    """
    What a row whose verdicts are known still lacks.

    :param texts: The texts that are compared.
    :param score: Makes the score and further details of it, with what :meth:`Similarities.of` raises.
    """

    texts: list[str]
    score: Callable[[Similarities], tuple[float, dict[str, Any]]]


class Similarities:
    """How similar texts are, of which each was embedded once."""

    def __init__(self, vectors: Mapping[str, NDArray[Any] | None], faults: Mapping[str, str]) -> None:
        """
        Keep what became of the texts.

        :param vectors: The vector of each text, None where it has none.
        :param faults: Why a text has none.
        """
        self._vectors = vectors
        self._faults = faults

    def of(self, one: str, other: str) -> float:
        """
        The cosine of two texts' embeddings, where 0 and below count as unrelated.

        :param one: A text.
        :param other: Another one.
        :returns: From 0 to 1; 0 if one of them is blank.
        :raises JudgeError: If one of them could not be embedded.
        :raises UndefinedScore: If an embedding is all zeros.
        """
        if blank(one) or blank(other):
            return 0.0
        left, right = self._vectors[one], self._vectors[other]
        if left is None or right is None:
            raise JudgeError(self._faults.get(one) or self._faults[other])
        if left.size != right.size:
            msg = "the embeddings of two texts have different lengths"
            raise JudgeError(msg)
        value = cosine(left, right)
        if math.isnan(value):
            msg = "the embedding of a text is all zeros"
            raise UndefinedScore(msg)
        return max(0.0, value)


async def judge_and_compare(evaluator: Any, rows: list[dict[str, Any]]) -> list[Any]:
    """
    Let the judge give its verdicts on all rows, then compare their texts with few calls to the embedder.

    :param evaluator: A judged evaluator with an ``embedder``, whose rows leave :class:`Pending` in their details.
    :param rows: The rows.
    :returns: Their outcomes. What the judge said stays, also where no similarity comes of it.
    :raises ValueError: If the embedder cannot be prepared, before anything was paid for.
    """
    with _Embedder(evaluator.embedder, evaluator.policy) as embedder:
        if await _must_ask(evaluator, rows):
            await embedder.prepare()
        outcomes = await judge_rows(evaluator, rows)
        pending = [outcome.details.pop(PENDING, None) for outcome in outcomes]
        similar = await embedder.similarities(text for one in pending if one is not None for text in one.texts)
    for outcome, one in zip(outcomes, pending, strict=True):
        outcome.usage.embedding_tokens = None if one is None else embedder.paid(one.texts)
    return [
        outcome if one is None else _finished(outcome, one, similar)
        for outcome, one in zip(outcomes, pending, strict=True)
    ]


async def _must_ask(evaluator: Any, rows: list[dict[str, Any]]) -> bool:
    """Whether the judge is to be paid, so that an embedder that does not work would waste money."""
    policy = evaluator.policy
    if policy.offline or policy.cache_path is None or _identity(evaluator.chat_generator) is None:
        return not policy.offline
    plan = await plan_rows(evaluator, rows)
    return bool(plan.calls)


def _finished(outcome: Any, pending: Pending, similar: Similarities) -> Any:
    try:
        score, details = pending.score(similar)
    except UndefinedScore as reason:
        return outcome._replace(score=math.nan, status="undefined", error=str(reason))
    except JudgeError as error:
        return outcome._replace(score=math.nan, status="error", error=error.reason)
    return outcome._replace(score=score, details={**outcome.details, **details})


def _identity(component: Any) -> dict[str, Any] | None:
    """What decides a component's output: type, parameters without secrets, address. None if it cannot be serialized."""
    try:
        data = component_to_dict(component, "component")
    except Exception:
        return None
    # Any other address is among the parameters.
    unset = data.get("init_parameters", {}).get("api_base_url", "") is None
    return {"component": data, "base_url": os.environ.get("OPENAI_BASE_URL") if unset else None}


class _Embedder:
    """An embedder beside the cache of the judge's replies, on the judges' loop and inside ``with``."""

    def __init__(self, embedder: Any, policy: JudgePolicy) -> None:
        self._embedder = embedder
        self._policy = policy
        self._cache: ReplyCache | None = None
        self._prepared = False
        # Of texts that no row has paid for yet, as they were sent.
        self._tokens: dict[str, int] = {}
        self._identity = _identity(embedder)
        self._deciding, self._former = deciding(self._identity, "component"), former(self._identity, "component")

    def __enter__(self) -> _Embedder:
        policy = self._policy
        if policy.cache_path is None:
            return self
        if self._identity is not None:
            self._cache = ReplyCache(policy.cache_path, read_only=policy.offline)
            return self
        why = "the embedder cannot be serialized, so that nothing tells which vectors are its own"
        hint = "Give its key as Secret.from_env_var(...), and functions that can be imported by name"
        if policy.offline:
            msg = f"offline answers from the cache alone, but {why}. {hint}."
            raise InvalidValueError(msg)
        logger.warning("cache_path keeps no vectors: {why}. {hint}.", why=why, hint=hint)
        return self

    def __exit__(self, *_: object) -> None:
        if self._cache is not None:
            self._cache.close()

    async def prepare(self) -> None:
        if not self._prepared:
            await warm_up_async(self._embedder)
            self._prepared = True

    async def similarities(self, texts: Iterable[str]) -> Similarities:
        """
        Embed what the cache lacks.

        A text embedder's calls may each take the policy's ``timeout``, a document embedder's with many texts its
        ``deadline``. An embedder repeats failed calls itself, or not. A refused login fails all texts at the first
        call.
        """
        vectors = {text: self._cached(text) for text in texts if not blank(text)}
        faults: dict[str, str] = {}
        missing = [text for text, vector in vectors.items() if vector is None]
        if missing and self._policy.offline:
            faults = dict.fromkeys(missing, not_cached(self._cache).reason)
        elif missing:
            await self.prepare()
        looks = pauses()
        while missing and not self._policy.offline:
            # The others are being embedded by another process that shares the cache. The claim comes first: what was
            # kept before it is then seen.
            claimed = [text for text in missing if self._claim(text)]
            vectors |= {text: self._cached(text) for text in missing}
            mine = [text for text in claimed if vectors[text] is None]
            if mine:
                found, reasons = await self._embed(mine)
                vectors |= zip(mine, found, strict=True)
                faults |= {
                    text: f"a text could not be embedded ({reason})"
                    for text, reason in zip(mine, reasons, strict=True)
                    if reason is not None
                }
            self._release(claimed)
            done = set(mine)
            missing = [text for text in missing if vectors[text] is None and text not in done]
            if missing and not mine:
                await asyncio.sleep(next(looks))
        return Similarities(vectors, faults)

    def _claim(self, text: str) -> bool:
        # One call may take all of the deadline.
        return self._cache is None or self._cache.claim(self._key(text), self._policy.deadline)

    def _release(self, texts: Iterable[str]) -> None:
        if self._cache is not None:
            for text in texts:
                self._cache.release(self._key(text))

    async def _embed(self, texts: list[str]) -> tuple[list[NDArray[Any] | None], list[str | None]]:
        policy = self._policy
        try:
            return await embed_async(
                self._embedder,
                texts,
                at_once=policy.max_concurrency,
                timeout=policy.deadline if takes_documents(self._embedder) else policy.timeout,
                keep=None if self._cache is None else self._keep,
                account=self._account,
            )
        except Exception as error:
            if not login_refused(error):
                raise
            return [None] * len(texts), [f"{in_words(error, said_by(error))}: the login was refused"] * len(texts)

    def _account(self, texts: list[str], meta: Any) -> None:
        """Share the tokens of a call out among its texts, by about how many each has."""
        tokens = embedding_tokens_of(meta)
        if tokens is not None:
            sums = list(accumulate(map(estimated_tokens, texts)))
            ends = [tokens * part // sums[-1] for part in sums]
            self._tokens |= {text: end - begin for text, begin, end in zip(texts, [0, *ends], ends, strict=False)}

    def paid(self, texts: Iterable[str]) -> int | None:
        """Tokens of a row's texts that no row before it paid for; None if there are none that are known."""
        found = [self._tokens.pop(text) for text in dict.fromkeys(map(sendable, texts)) if text in self._tokens]
        return sum(found) if found else None

    def _key(self, text: str) -> str:
        return reply_key({"embedder": self._deciding, "text": sendable(text)})

    def _former_keys(self, text: str) -> list[str]:
        """Those of earlier versions."""
        return [reply_key({"embedder": each, "text": sendable(text)}) for each in self._former]

    def _cached(self, text: str) -> NDArray[Any] | None:
        cache = self._cache
        found = None if cache is None else cache.get(self._key(text)) or cache.first(self._former_keys(text))
        try:
            return None if found is None else read_vector(json.loads(found.text))
        except (ValueError, RecursionError):
            return None

    def _keep(self, text: str, vector: NDArray[Any]) -> None:
        if self._cache is not None:
            self._cache.put(self._key(text), CachedReply(json.dumps(vector.tolist()), {}))
