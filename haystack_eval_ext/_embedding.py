# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From texts to vectors by any embedder of Haystack: each text once, and a failure costs only the texts it touched."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from haystack import Document

from haystack_eval_ext._calls import contained, in_thread, login_refused
from haystack_eval_ext._foreign import learn_secrets, repeated
from haystack_eval_ext._rows import describe
from haystack_eval_ext._said import in_words, said_by
from haystack_eval_ext._text import sendable
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from numpy.typing import NDArray

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# Single texts that fail before any call succeeds, until the service is taken to be down. Where only every second text
# is bad, one run in a thousand would stop by mistake.
_GIVE_UP = 10
# Two runs that load one model at the same moment would load it twice.
_WARMING_UP = threading.Lock()


class Embedded(NamedTuple):
    """
    What became of each text.

    :param vectors: Its vector; None if it is blank or failed.
    :param reasons: Why it failed; else None. A blank text has neither.
    """

    vectors: list[NDArray[np.float64] | None]
    reasons: list[str | None]


class _HangError(Exception):
    """A call that was given up."""


def check_embedder(embedder: Any) -> None:
    """
    Refuse what is no embedder.

    :param embedder: The parameter of a component.
    :raises TypeError: If it can be run neither with a text alone nor with documents alone.
    """
    run = getattr(embedder, "run", None)
    sockets = inspect.signature(run).parameters if callable(run) else {}
    needed = {name for name, socket in sockets.items() if socket.default is socket.empty and socket.kind in _NAMED}
    if isinstance(embedder, type) or not {"documents", "text"} & set(sockets) or needed - {_input_of(sockets)}:
        msg = (
            "embedder must be a document embedder or a text embedder of Haystack, whose run takes 'documents' or "
            f"'text', but is {describe(embedder)}."
        )
        raise InvalidTypeError(msg)


def takes_documents(embedder: Any) -> bool:
    """
    Tell document embedders from text embedders.

    :param embedder: One of them.
    :returns: True for a document embedder.
    """
    return _input_of(inspect.signature(embedder.run).parameters) == "documents"


def _input_of(sockets: Mapping[str, inspect.Parameter]) -> str:
    return "documents" if "documents" in sockets else "text"


def warm_up(embedder: Any) -> None:
    """
    Prepare an embedder, which may load a model or a client.

    :param embedder: The embedder.
    :raises ValueError: If its own ``warm_up`` fails, as it does without a key or package; the message has its words.
    """
    try:
        _warm_up(embedder)
    except Exception as error:
        raise InvalidValueError(_unprepared(embedder, error)) from error


async def warm_up_async(embedder: Any) -> None:
    """
    Prepare an embedder by its own ``warm_up_async``, or by its ``warm_up`` in a thread.

    :param embedder: The embedder.
    :raises ValueError: As :func:`warm_up`.
    """
    try:
        if hasattr(embedder, "warm_up_async"):
            await contained(embedder.warm_up_async())
        else:
            await in_thread(lambda: _warm_up(embedder))
    except Exception as error:
        raise InvalidValueError(_unprepared(embedder, error)) from error


def close(embedder: Any) -> None:
    """
    Close the connections that an embedder has without an event loop.

    :param embedder: The embedder; one without ``close`` is left as it is.
    """
    if callable(getattr(embedder, "close", None)):
        embedder.close()


def _warm_up(embedder: Any) -> None:
    if hasattr(embedder, "warm_up"):
        with _WARMING_UP:
            embedder.warm_up()


def _unprepared(embedder: Any, error: Exception) -> str:
    """It has seen no row yet, so that its message holds no text of a user's."""
    learn_secrets(embedder)
    why = repeated(str(error)) or type(error).__name__
    return f"The embedder could not be prepared: {why}{'' if why.endswith('.') else '.'} Nothing was asked."


def embed(embedder: Any, texts: Sequence[str]) -> Embedded:
    """
    Embed texts.

    A document embedder gets all of them in one call; a failed call is repeated with half of its texts each, down to the
    single text: one bad text among n costs at most 2 log2(n) + 3 calls, and any number of them fewer than 2n. Once 10
    single texts, drawn by lot, have failed and no call has succeeded, the service is taken to be down, and the
    remaining texts fail unasked. A text embedder is called text by text.

    :param embedder: A text embedder or a document embedder that was warmed up.
    :param texts: The texts. Equal ones are embedded once and blank ones not at all.
    :returns: What became of each.
    :raises Exception: The embedder's own error if it refuses the login (HTTP 401, 403), since no call can succeed.
    """
    steps = _steps(texts, documents=takes_documents(embedder))
    try:
        requests = next(steps)
        while True:
            replies = []
            for arguments in requests:
                try:
                    replies.append(embedder.run(**arguments))
                except (Exception, asyncio.CancelledError) as error:
                    replies.append(error)
            requests = steps.send(replies)
    except StopIteration as done:
        result: Embedded = done.value
        return result


async def embed_async(
    embedder: Any,
    texts: Sequence[str],
    *,
    at_once: int = 1,
    timeout: float | None = None,
    keep: Callable[[str, NDArray[np.float64]], None] | None = None,
    account: Callable[[list[str], Any], None] | None = None,
) -> Embedded:
    """
    :func:`embed` by the embedder's own ``run_async``, or by its ``run`` in a thread.

    :param embedder: As there.
    :param texts: As there.
    :param at_once: How many calls of a text embedder with ``run_async`` are in flight at once.
    :param timeout: Seconds that a call may take before its texts fail. None: any time.
    :param keep: Told each text, as it was sent, and its vector when the call that gave it ends.
    :param account: Told the texts of each call that was answered, as they were sent, and its `meta`.
    :returns: The same.
    :raises Exception: As :func:`embed`.
    """
    is_async = hasattr(embedder, "run_async")

    async def call(arguments: dict[str, Any]) -> Any:
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                if is_async:
                    return await contained(embedder.run_async(**arguments))
                return await in_thread(lambda: embedder.run(**arguments))
        except Exception as error:
            return _HangError() if limit.expired() else error

    together = at_once if is_async else 1
    steps = _steps(texts, documents=takes_documents(embedder), at_once=together, keep=keep, account=account)
    try:
        requests = next(steps)
        while True:
            # An embedder may even cancel the task that it runs in.
            requests = steps.send(await asyncio.gather(*map(call, requests), return_exceptions=True))
    except StopIteration as done:
        result: Embedded = done.value
        return result


def read_vector(embedding: Any) -> NDArray[np.float64] | None:
    """
    Read an embedding.

    :param embedding: What an embedder gave for a text.
    :returns: The vector, or None if it is not a list of finite numbers.
    """
    try:
        vector = np.asarray(embedding)
    except (TypeError, ValueError, OverflowError):
        return None
    # Without a type of its own it is lists of unequal lengths, text, None, or integers such as 10**400.
    if vector.dtype.kind not in "fiu" or vector.ndim != 1 or not vector.size:
        return None
    vector = vector.astype(np.float64)
    return vector if np.isfinite(vector).all() else None


def stack(vectors: list[NDArray[np.float64] | None]) -> NDArray[np.float64]:
    """
    Lay vectors into one matrix.

    :param vectors: Vectors of any lengths, or None.
    :returns: One row each, with zeros behind a shorter vector; rows of NaN for None.
    """
    matrix = np.full((len(vectors), max((vector.size for vector in vectors if vector is not None), default=1)), np.nan)
    for row, vector in zip(matrix, vectors, strict=True):
        if vector is not None:
            row[: vector.size] = vector
            row[vector.size :] = 0.0
    return matrix


def _steps(
    texts: Sequence[str],
    *,
    documents: bool,
    at_once: int = 1,
    keep: Callable[[str, NDArray[np.float64]], None] | None = None,
    account: Callable[[list[str], Any], None] | None = None,
) -> Generator[list[dict[str, Any]], list[Any], Embedded]:
    """
    What is done, but for the calls.

    Yields the arguments of some calls, and is sent the reply or the error of each.
    """
    sent = [sendable(text) for text in texts]
    different = list(dict.fromkeys(text for text in sent if text.strip()))
    vectors: dict[str, NDArray[np.float64] | None] = {}
    reasons: dict[str, str] = {}
    batches = [different] if documents and different else [[text] for text in reversed(different)]
    split = succeeded = hung = False
    failures = 0
    while batches:
        if (split or hung) and not succeeded and failures >= _GIVE_UP:
            left = (text for batch in batches for text in batch)
            reasons |= dict.fromkeys(left, "not asked, since every call had failed")
            break
        # A half of a failed batch waits for the other one, whose outcome may spare it.
        wave = [batches.pop() for _ in range(1 if documents else min(at_once, len(batches)))]
        replies = yield [_request(batch, documents=documents) for batch in wave]
        for batch, reply in zip(wave, replies, strict=True):
            if not isinstance(reply, BaseException):
                succeeded = True
                if account is not None:
                    account(batch, reply.get("meta") if isinstance(reply, dict) else None)
                for text, embedding in zip(batch, _embeddings(reply, batch, documents=documents), strict=True):
                    vectors[text] = vector = read_vector(embedding)
                    if vector is None:
                        reasons[text] = "no embedding" if embedding is None else "an embedding not of finite numbers"
                    elif keep is not None:
                        keep(text, vector)
            elif login_refused(reply):
                raise reply
            elif isinstance(reply, _HangError):
                hung = True
                failures += 1
                reasons |= dict.fromkeys(batch, "a call that did not end in time")
            elif len(batch) > 1:
                if not split:  # the first single texts are to be a sample of all
                    random.Random(0).shuffle(batch)  # noqa: S311 - no secret
                    split = True
                half = len(batch) // 2
                batches += [batch[half:], batch[:half]]
            else:
                failures += 1
                reasons[batch[0]] = in_words(reply, said_by(reply))
    return Embedded([vectors.get(text) for text in sent], [reasons.get(text) for text in sent])


def _request(batch: list[str], *, documents: bool) -> dict[str, Any]:
    if documents:
        return {"documents": [Document(id=str(number), content=text) for number, text in enumerate(batch)]}
    return {"text": batch[0]}


def _embeddings(reply: Any, batch: list[str], *, documents: bool) -> list[Any]:
    """The embedding of each text of a batch, None where the reply has none."""
    reply = reply if isinstance(reply, dict) else {}
    if not documents:
        return [reply.get("embedding")]
    given = reply.get("documents")
    found = given if isinstance(given, list) else []
    embeddings = {document.id: document.embedding for document in found if isinstance(document, Document)}
    return [embeddings.get(str(number)) for number in range(len(batch))]
