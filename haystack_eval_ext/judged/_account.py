# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What judging costs: calls, retries, cache hits, tokens, money; and the budget that ends a run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._failures import NotRunError

if TYPE_CHECKING:
    from collections.abc import Iterable

_MILLION = 1e6
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_PER_TOKEN = 4
# Formatting of the messages around the texts.
_TOKENS_PER_CALL = 8


@dataclass
class Usage:
    """
    What was spent. An unknown number of tokens is None, never 0.

    :param calls: Requests sent, retries included.
    :param retries: Those of them that repeated a failed one.
    :param cache_hits: Requests that were answered without a call: from the cache, or by an identical request.
    :param prompt_tokens: Tokens in, of the calls that reported them.
    :param completion_tokens: Tokens out, likewise.
    :param unknown: Replies that came without their tokens.
    :param cost: In the currency of the prices; None without prices.
    :param models: Replies by the model that the service named.
    :param embedding_tokens: Tokens of texts that were embedded, as far as the embedder reported them; in no budget.
    """

    calls: int = 0
    retries: int = 0
    cache_hits: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    unknown: int = 0
    cost: float | None = None
    models: dict[str, int] = field(default_factory=dict)
    embedding_tokens: int | None = None

    def add_reply(
        self, meta: Mapping[str, Any], prices: Mapping[str, Mapping[str, float]] | None, asked: str | None = None
    ) -> None:
        """
        Count a reply.

        :param meta: What the generator said about it.
        :param prices: Price of a million tokens by model.
        :param asked: The model that was asked, if known.
        """
        model = meta.get("model")
        if isinstance(model, str) and model:
            self.models[model] = self.models.get(model, 0) + 1
        tokens = tokens_of(meta)
        if tokens is None:
            self.unknown += 1
            return
        self.prompt_tokens = (self.prompt_tokens or 0) + tokens[0]
        self.completion_tokens = (self.completion_tokens or 0) + tokens[1]
        cost = cost_of(model, *tokens, prices, asked)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def to_dict(self) -> dict[str, Any]:
        """
        The account as plain values.

        :returns: Its fields.
        """
        return {
            "calls": self.calls,
            "retries": self.retries,
            "cache_hits": self.cache_hits,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "replies_without_tokens": self.unknown,
            "cost": self.cost,
            "models": dict(self.models),
            "embedding_tokens": self.embedding_tokens,
        }


def sum_of(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Add accounts up.

    :param usages: As ``Usage.to_dict`` writes them.
    :returns: The sum in the same form; None where all are None.
    """
    total: dict[str, Any] = Usage().to_dict()
    for usage in usages:
        for name, value in usage.items():
            if name == "models":
                for model, count in value.items():
                    total["models"][model] = total["models"].get(model, 0) + count
            elif value is not None:
                total[name] = value + (total[name] or 0)
    return total


def tokens_of(meta: Mapping[str, Any]) -> tuple[int, int] | None:
    """
    Tokens in and out, under the names that generators use for them.

    :param meta: What a generator said about a reply.
    :returns: Both numbers, or None if it does not tell.
    """
    prompt = _told(meta, "prompt_tokens", "input_tokens")
    completion = _told(meta, "completion_tokens", "output_tokens")
    return None if prompt is None or completion is None else (prompt, completion)


def embedding_tokens_of(meta: Any) -> int | None:
    """
    Tokens of the texts that a call embedded, under the names that embedders use for them.

    :param meta: What an embedder said about a call.
    :returns: The number, or None if it does not tell.
    """
    return _told(meta, "prompt_tokens", "input_tokens", "total_tokens")


def _told(meta: Any, *names: str) -> int | None:
    usage = meta.get("usage") if isinstance(meta, Mapping) else None
    found = [usage[name] for name in names if _is_count(usage.get(name))] if isinstance(usage, Mapping) else []
    return int(found[0]) if found else None


def cost_of(
    model: Any,
    prompt: int,
    completion: int,
    prices: Mapping[str, Mapping[str, float]] | None,
    asked: str | None = None,
) -> float | None:
    """
    The cost of a reply.

    :param model: The model's name; services often name a dated version of the one that was asked.
    :param prompt: Tokens in.
    :param completion: Tokens out.
    :param prices: Price of a million tokens by model; "*" is any other.
    :param asked: The name under which it was asked, if known.
    :returns: The cost, or None if there is no price for the model.
    """
    names = (model, asked, "*")
    price = None if prices is None else next((prices[n] for n in names if isinstance(n, str) and n in prices), None)
    return None if price is None else (prompt * price["input"] + completion * price["output"]) / _MILLION


def estimated_tokens(*texts: str) -> int:
    """
    About how many tokens texts have: four ASCII characters, or one of another script, make one.

    :param texts: The texts of a request.
    :returns: The estimate, usually within a third of the true number.
    """
    others = sum(0 if text.isascii() else len(_NOT_ASCII.findall(text)) for text in texts)
    return _TOKENS_PER_CALL + others + math.ceil((sum(map(len, texts)) - others) / _ASCII_PER_TOKEN)


class Reserved(NamedTuple):
    """
    What a call in flight counts with.

    :param tokens: Estimated tokens of its prompt.
    :param cost: Their cost.
    :param model: The model that is asked, if known.
    :param outer: What the budget around it reserved.
    """

    tokens: int
    cost: float
    model: str | None
    outer: Reserved | None = None


def check_prices(prices: object) -> None:
    """
    Refuse what is no table of prices.

    :param prices: The price of a million tokens by model; "*" is any other.
    :raises ValueError: If it has another form.
    """
    fits = isinstance(prices, Mapping) and all(
        isinstance(model, str)
        and isinstance(price, Mapping)
        and set(price) == {"input", "output"}
        and all(is_number(value) and value >= 0 for value in price.values())
        for model, price in prices.items()
    )
    if not fits:
        msg = (
            "prices must give the price of a million tokens by model, such as "
            "{'gpt-x': {'input': 0.4, 'output': 1.6}}, not below 0; '*' stands for any other model."
        )
        raise InvalidValueError(msg)


class Budget:
    """
    What a run may spend. A call that would go beyond is not made, and its row is left for a later run.

    Calls in flight count with an estimate, so that many at once do not overdraw it.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        prices: Mapping[str, Mapping[str, float]] | None = None,
        outer: Budget | None = None,
    ) -> None:
        """
        Create a budget; one object may serve several evaluators.

        :param max_calls: Calls at most.
        :param max_tokens: Tokens at most, in and out.
        :param max_cost: Cost at most.
        :param prices: Price of a million tokens by model.
        :param outer: A budget of several runs, which this one is part of: both must have room for a call.
        """
        self._outer = outer
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._prices = prices
        self._calls = 0
        self._tokens = 0.0
        self._cost = 0.0
        self._reserved_tokens = 0.0
        self._reserved_cost = 0.0
        self._replies = 0
        self._completion = 0.0

    def check(self, model: str | None) -> None:
        """
        Refuse a limit of cost that no call would ever count against.

        :param model: The model that will be asked, if known.
        :raises ValueError: If there is no price for it.
        """
        if self._max_cost is not None and cost_of(model, 0, 0, self._prices) is None:
            name = "a generator that names no model" if model is None else f"the model {model!r}"
            msg = f"max_cost needs a price for {name}, but prices has none. Add it, or '*' for any other model."
            raise InvalidValueError(msg)
        if self._outer is not None:
            self._outer.check(model)

    def reserve(self, tokens: int, model: str | None) -> Reserved:
        """
        Ask for a call.

        :param tokens: The estimate of its prompt's tokens.
        :param model: The model that is asked, if known.
        :returns: What is reserved, to be given to :meth:`settle`.
        :raises NotRunError: If the budget has no room for it.
        """
        cost = cost_of(model, tokens, 0, self._prices) or 0.0
        for name, limit, used, wanted in (
            ("max_calls", self._max_calls, self._calls, 1),
            ("max_tokens", self._max_tokens, self._tokens + self._reserved_tokens, tokens),
            ("max_cost", self._max_cost, self._cost + self._reserved_cost, cost),
        ):
            if limit is not None and used + wanted > limit:
                msg = f"the budget is spent ({name} of {limit}); with a cache_path a later run goes on from there"
                raise NotRunError(msg)
        outer = None if self._outer is None else self._outer.reserve(tokens, model)
        self._calls += 1
        self._reserved_tokens += tokens
        self._reserved_cost += cost
        return Reserved(tokens, cost, model, outer)

    def settle(self, reserved: Reserved, meta: Mapping[str, Any] | None, text: str | None = None) -> None:
        """
        Replace the estimate by what a call really took.

        A reply that does not tell its tokens counts with the estimate of its prompt and the mean of the replies so far
        that told them, or else an estimate of its own text.

        :param reserved: From :meth:`reserve`.
        :param meta: What the generator said about the reply; None if the call failed.
        :param text: The reply.
        """
        if self._outer is not None and reserved.outer is not None:
            self._outer.settle(reserved.outer, meta, text)
        self._reserved_tokens -= reserved.tokens
        self._reserved_cost -= reserved.cost
        if meta is None:
            return
        tokens = tokens_of(meta)
        if tokens is not None:
            self._replies += 1
            self._completion += tokens[1]
        elif self._replies:
            tokens = reserved.tokens, math.ceil(self._completion / self._replies)
        else:
            tokens = reserved.tokens, estimated_tokens(text or "")
        self._tokens += sum(tokens)
        self._cost += cost_of(meta.get("model"), *tokens, self._prices, reserved.model) or 0.0


def _is_count(value: Any) -> bool:
    return is_number(value) and value >= 0
