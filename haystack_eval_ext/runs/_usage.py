# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Tokens that a component reports in what it returns, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from haystack.dataclasses import ChatMessage

Tokens = dict[str, dict[str, int]]
Prices = Mapping[str, Mapping[str, float]]

KINDS = ("prompt", "completion")
# OpenAI's names and those of Anthropic and OpenAI's newer interface.
_NAMES = {"prompt": ("prompt_tokens", "input_tokens"), "completion": ("completion_tokens", "output_tokens")}
_PER = 1_000_000


def check_prices(prices: Prices | None) -> None:
    """
    Check prices.

    :param prices: By model `{"prompt": price, "completion": price}`, for a million tokens.
    :raises ValueError: If they have another form.
    """
    for model, entry in (prices or {}).items():
        values = entry.values() if isinstance(entry, Mapping) else [None]
        good = all(isinstance(value, Real) and math.isfinite(value) and value >= 0 for value in values)
        if not good or set(entry) != set(KINDS):
            msg = (
                f'prices: {model!r} must be {{"prompt": PRICE, "completion": PRICE}}, for a million tokens each, '
                "not below 0."
            )
            raise ValueError(msg)


def reported_tokens(output: Any, given: Any) -> Tokens:
    """
    Read the tokens of one call.

    :param output: What a component returned.
    :param given: What it was given: a reply that it merely hands on was counted where it was made.
    :returns: By model the tokens of prompt and completion; empty if nothing is reported.
    """
    if not isinstance(output, Mapping):
        return {}
    metas: list[Any] = []
    replies = output.get("replies")
    if isinstance(replies, list):
        metas = [reply.meta for reply in replies if isinstance(reply, ChatMessage) and not _handed_on(reply, given)]
    if not metas and (not isinstance(given, Mapping) or "meta" not in given):
        meta = output.get("meta")  # of generators of texts, and of embedders
        metas = meta if isinstance(meta, list) else [meta]
    found: list[tuple[str, Mapping[str, Any]]] = []
    for meta in metas:
        usage = meta.get("usage") if isinstance(meta, Mapping) else None
        if isinstance(usage, Mapping):
            entry = (str(meta.get("model") or "unknown"), usage)
            if entry not in found:  # several replies of one request repeat its usage
                found.append(entry)
    tokens: Tokens = {}
    for model, usage in found:
        counts = {kind: _count(usage, names) for kind, names in _NAMES.items()}
        if any(counts.values()):
            add_tokens(tokens, {model: counts})
    return tokens


def add_tokens(total: Tokens, more: Tokens) -> None:
    """
    Add tokens up.

    :param total: The sums, changed.
    :param more: What to add.
    """
    for model, counts in more.items():
        entry = total.setdefault(model, dict.fromkeys(KINDS, 0))
        for kind in KINDS:
            entry[kind] += counts[kind]


def cost(tokens: Tokens, prices: Prices | None) -> float | None:
    """
    Price tokens.

    :param tokens: By model.
    :param prices: As :func:`check_prices` takes them.
    :returns: The sum; None if nothing was reported or a model has no price, since unknown is not 0.
    """
    if not prices or not tokens or not all(model in prices for model in tokens):
        return None
    return math.fsum(
        counts[kind] * float(prices[model][kind]) / _PER for model, counts in tokens.items() for kind in KINDS
    )


def _handed_on(reply: ChatMessage, given: Any) -> bool:
    values = given.values() if isinstance(given, Mapping) else ()
    return any(reply in value if isinstance(value, list) else reply == value for value in values)


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0
