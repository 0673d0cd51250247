# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of a user's ChatGenerator, by duck typing: how to call it, and what identifies it."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from haystack import logging
from haystack.core.serialization import component_to_dict
from haystack.dataclasses import ChatMessage

from haystack_eval_ext._calls import contained, in_thread, release
from haystack_eval_ext._foreign import learn_secrets, repeated
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.judged._account import tokens_of
from haystack_eval_ext.judged._cache import deciding, former
from haystack_eval_ext.judged._causes import CAUSES
from haystack_eval_ext.judged._failures import JudgeError, ReplyError, ThoughtsOnlyError, TruncatedReplyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._policy import StructuredOutput

logger = logging.getLogger(__name__)

_CUT_OFF = frozenset(("length", "max_tokens", "max_output_tokens", "model_length"))
# Under which names generators tell how a reply ended, and what the model thought.
_ENDS = ("finish_reason", "stop_reason", "done_reason")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
# Of a reply without text, if the generator leaves thoughts out.
_MANY_TOKENS = 32
_FILTERED = frozenset(("content_filter", "safety", "refusal", "blocklist", "prohibited_content"))
#: Names the model of the judge that is taken when no generator is given.
MODEL_VARIABLE = "HAYSTACK_EVAL_JUDGE_MODEL"
# What OpenAI's client does if nobody says otherwise.
_OPENAI_RETRIES = "5"


class _Closer:
    """Closes a client when its generator goes, on the loop of the client's connections."""

    def __init__(self, generator: Any, client: Any) -> None:
        self.client = client
        self._finalizer = weakref.finalize(generator, _close, asyncio.get_running_loop(), client)
        self._finalizer.atexit = False

    def detach(self) -> None:
        self._finalizer.detach()


def _close(loop: asyncio.AbstractEventLoop, client: Any) -> None:
    """Any thread may collect the generator."""

    async def work() -> None:
        with suppress(Exception):
            await client.close()

    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(lambda: loop.create_task(work()))


# What closes the client of a generator when that goes.
_CLOSERS: weakref.WeakKeyDictionary[Any, _Closer] = weakref.WeakKeyDictionary()
# Two runs that load one model at the same moment would load it twice.
_WARMING_UP: weakref.WeakKeyDictionary[Any, threading.Lock] = weakref.WeakKeyDictionary()
# Those whose own retries were mentioned.
_WARNED: weakref.WeakSet[Any] = weakref.WeakSet()


def check_generator(generator: Any) -> None:
    """
    Refuse what is no ChatGenerator.

    :param generator: The parameter of a component.
    :raises TypeError: If it cannot be run with messages.
    :raises ValueError: If it asks for several replies in each call.
    """
    run = getattr(generator, "run", None)
    if not callable(run) or isinstance(generator, type) or not _takes(run, "messages"):
        msg = (
            "chat_generator must be a ChatGenerator of Haystack, whose run takes 'messages', but is "
            f"{describe(generator)}."
        )
        raise InvalidTypeError(msg)
    inner = getattr(generator, "chat_generators", None)
    for one in (generator, *(inner if isinstance(inner, list | tuple) else ())):
        kwargs = getattr(one, "generation_kwargs", None)
        number = kwargs.get("n") if isinstance(kwargs, dict) else None
        if isinstance(number, int) and number > 1:
            msg = (
                f"chat_generator asks for n={number} replies in each call, of which one would be read and all be paid: "
                f"leave n out of its generation_kwargs. For a majority of verdicts set policy.votes to {number}."
            )
            raise InvalidValueError(msg)


def default_generator() -> Any:
    """
    The judge that is taken when none is named.

    :returns: OpenAI's chat generator, which leaves repeating to the judge, with a fixed seed as the stock evaluators
        have, and the model that the environment variable HAYSTACK_EVAL_JUDGE_MODEL names, if it does.
    """
    from haystack.components.generators.chat import OpenAIChatGenerator

    named = os.environ.get(MODEL_VARIABLE)
    model: dict[str, Any] = {"model": named} if named else {}
    return OpenAIChatGenerator(max_retries=0, generation_kwargs={"seed": 42}, **model)


class Generator:
    """A user's ChatGenerator."""

    def __init__(self, generator: Any) -> None:
        """
        Look at a generator.

        :param generator: Any ChatGenerator of Haystack.
        """
        self._generator = generator
        learn_secrets(generator)
        self.is_async = callable(getattr(generator, "run_async", None))
        self._takes_kwargs = _takes(generator.run, "generation_kwargs")
        own = getattr(generator, "generation_kwargs", None)
        self._seed = own.get("seed") if isinstance(own, dict) else None
        model = getattr(generator, "model", None)
        self.model = model if isinstance(model, str) else None
        self._identity = self._identify()

    def formats(self, wanted: StructuredOutput) -> list[StructuredOutput]:
        """
        The ways to ask for the form of a reply, the best one first.

        :param wanted: The policy's.
        :returns: At least one.
        """
        if wanted != "auto":
            return [wanted if self._takes_kwargs else "text"]
        names = [kind.__name__ for kind in type(self._generator).__mro__]
        family = any(name.startswith(("OpenAIChat", "AzureOpenAIChat")) for name in names)
        return ["json_schema", "json_object", "text"] if family and self._takes_kwargs else ["text"]

    def identity(self) -> dict[str, Any] | None:
        """
        All that decides what the generator replies, without secrets.

        :returns: Its type and parameters, and where its requests go; None if it cannot be serialized.
        """
        return deciding(self._identity, "generator")

    def former_identities(self) -> list[Mapping[str, Any] | None]:
        """
        What earlier versions took for it.

        :returns: The same with more or all parameters.
        """
        return former(self._identity, "generator")

    def _identify(self) -> dict[str, Any] | None:
        try:
            data = component_to_dict(self._generator, "chat_generator")
        except Exception:
            return None
        return {"generator": data, "base_url": self._base_url(data)}

    def limit_key(self) -> Any:
        """
        What identifies the service and the account that calls count against.

        :returns: Type, address and name of the key's variable; the instance if it has neither of the latter.
        """
        data = self._identity
        parameters = {} if data is None else data["generator"].get("init_parameters", {})
        base_url = getattr(self._generator, "api_base_url", None) if data is None else data["base_url"]
        key = parameters.get("api_key")
        variables = key.get("env_vars") if isinstance(key, dict) else None
        if not base_url and not variables:
            return id(self._generator)
        return type(self._generator).__qualname__, str(base_url), str(variables)

    def _base_url(self, data: Mapping[str, Any]) -> str | None:
        parameters = data.get("init_parameters", {})
        for name in ("api_base_url", "api_base", "base_url", "azure_endpoint", "url"):
            if isinstance(parameters.get(name), str):
                return str(parameters[name])
        return os.environ.get("OPENAI_BASE_URL") if "api_base_url" in parameters else None

    def warn_of_own_retries(self) -> None:
        """Say once for each generator that its own retries multiply with ours."""
        retries = getattr(self._generator, "max_retries", 0)
        with suppress(ValueError):  # the generator itself will refuse such a variable
            retries = int(os.environ.get("OPENAI_MAX_RETRIES", _OPENAI_RETRIES)) if retries is None else retries
        if not isinstance(retries, int) or retries <= 0:
            return
        with suppress(TypeError):  # what cannot be in a set hears it at each run
            if self._generator in _WARNED:
                return
            _WARNED.add(self._generator)
        logger.warning(
            "The chat generator repeats failed calls itself (max_retries={retries}), unseen by the judge's limits and "
            "accounts, which repeats them too. Create it with max_retries=0.",
            retries=retries,
        )

    async def warm_up(self, seconds: float) -> None:
        """
        Let the generator load what it needs: by its ``warm_up_async``, or by its ``warm_up`` in a thread.

        :param seconds: How long that may take.
        :raises TimeoutError: If it took longer.
        """
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                await self._warm_up()
        except TimeoutError as error:
            if not limit.expired():
                raise
            msg = f"its warm-up took longer than the deadline of {seconds:g} seconds."
            raise TimeoutError(msg) from error

    async def close(self) -> None:
        """Close the generator's clients, on this loop if it is the one they were made on."""
        with suppress(TypeError, KeyError):
            _CLOSERS.pop(self._generator).detach()
        await release(self._generator)

    async def _warm_up(self) -> None:
        is_sync = hasattr(self._generator, "warm_up")
        if hasattr(self._generator, "warm_up_async") and (self.is_async or not is_sync):
            await contained(self._generator.warm_up_async())
        elif is_sync:
            lock = threading.Lock()
            with suppress(TypeError):
                lock = _WARMING_UP.setdefault(self._generator, lock)

            def work() -> None:
                with lock:
                    self._generator.warm_up()

            await in_thread(work)
        _close_in_time(self._generator)

    def call(self, messages: list[ChatMessage], form: Form[Any], way: StructuredOutput, vote: int) -> Awaitable[Any]:
        """
        Start a call.

        :param messages: The messages.
        :param form: The form of the reply.
        :param way: How the generator is told the form.
        :param vote: Number of the vote, which varies the seed if there is one.
        :returns: The generator's output to come.
        """
        kwargs: dict[str, Any] = {}
        if way == "json_schema":
            schema = {"name": form.name, "strict": True, "schema": form.schema}
            kwargs["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif way == "json_object":
            kwargs["response_format"] = {"type": "json_object"}
        if vote and isinstance(self._seed, int):
            kwargs["seed"] = self._seed + vote
        arguments: dict[str, Any] = {"messages": messages}
        if kwargs and self._takes_kwargs:
            arguments["generation_kwargs"] = kwargs
        if self.is_async:
            awaitable: Awaitable[Any] = self._generator.run_async(**arguments)
            return awaitable
        return in_thread(lambda: self._generator.run(**arguments))


def reply_message(output: Any) -> ChatMessage:
    """
    The reply in what a generator returned.

    :param output: Its output.
    :returns: The first reply.
    :raises ReplyError: If there is none.
    """
    replies = output.get("replies") if isinstance(output, dict) else None
    if not isinstance(replies, list) or not replies or not isinstance(replies[0], ChatMessage):
        msg = "there was no reply"
        raise ReplyError(msg)
    return replies[0]


def reply_text(message: ChatMessage) -> str | None:
    """
    The text of a reply.

    :param message: The reply.
    :returns: Its text; None if it has none.
    :raises ReplyError: If it is no text, as a proxy may send it.
    """
    text: Any = message.text
    if text is not None and not isinstance(text, str):
        msg = "it was no text"
        raise ReplyError(msg)
    return text


def early_end(error: Exception) -> dict[str, Any] | None:
    """
    The output in the place of which OpenAI's client raises an error, since the reply was cut off or filtered.

    :param error: What a generator raised.
    :returns: An output whose reply tells how it ended, or None if the error is another one.
    """
    reason = {"LengthFinishReasonError": "length", "ContentFilterFinishReasonError": "content_filter"}.get(
        type(error).__name__
    )
    if reason is None:
        return None
    meta: dict[str, Any] = {"finish_reason": reason}
    text = ""
    with suppress(AttributeError, IndexError, TypeError):
        completion: Any = error.completion  # type: ignore[attr-defined]
        meta["model"] = completion.model
        text = completion.choices[0].message.content or ""
        meta["usage"] = completion.usage.model_dump()
    return {"replies": [ChatMessage.from_assistant(text, meta=meta)]}


def unprepared(error: Exception) -> ValueError:
    """
    The error of a generator that cannot be prepared. It has seen no row yet, so that its words quote none.

    :param error: What it raised.
    :returns: The error to raise.
    """
    return InvalidValueError(f"The chat generator could not be prepared: {repeated(str(error))} Nothing was asked.")


def explain(fault: ReplyError, message: ChatMessage) -> JudgeError:
    """
    Why a reply could not be read, in the light of how it ended.

    :param fault: What was wrong with it.
    :param message: The reply.
    :returns: The error to raise: one that another attempt may mend, or one that it would meet again.
    """
    text = message.text
    meta = message.meta if isinstance(message.meta, dict) else {}
    ended = {str(meta.get(name) or "").lower() for name in _ENDS}
    if ended & _FILTERED:
        return JudgeError(f"the service refused to reply (content filter); {CAUSES['filter'].repair}", text)
    cut_off = bool(ended & _CUT_OFF)
    if isinstance(fault, ThoughtsOnlyError) or (not (text or "").strip() and (cut_off or _thinks(message, meta))):
        fault = ThoughtsOnlyError()
    elif cut_off:
        return TruncatedReplyError("the reply was cut off at the token limit; raise the generator's max_tokens", text)
    fault.reply = text
    return fault


def _thinks(message: ChatMessage, meta: Mapping[str, Any]) -> bool:
    """Whether a reply without text has thoughts, or cost more tokens than none."""
    if getattr(message, "reasoning", None) or any(meta.get(name) for name in _THOUGHTS):
        return True
    tokens = tokens_of(meta)
    return tokens is not None and tokens[1] >= _MANY_TOKENS and not message.tool_calls


def _close_in_time(generator: Any) -> None:
    """
    Close the client of a generator when that goes, on the loop of the client's connections.

    A client that is merely collected closes its sockets first and tells the loop afterwards, which then stops reading
    from new connections that got the same numbers: their calls hang until they time out.
    """
    client = getattr(generator, "async_client", None)
    if not callable(getattr(client, "close", None)):
        return
    with suppress(TypeError):  # what has slots may allow no weak references
        closer = _CLOSERS.get(generator)
        if closer is None or closer.client is not client:
            if closer is not None:
                closer.detach()
            _CLOSERS[generator] = _Closer(generator, client)


def _takes(function: Any, name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())
