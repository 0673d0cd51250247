# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Tokens that a component reports in what it returns, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from haystack.dataclasses import ChatMessage

from haystack_eval_ext.judged._account import cost_of

Tokens = dict[str, dict[str, int]]
Prices = Mapping[str, Mapping[str, float]]

KINDS = ("prompt", "completion")
# OpenAI's names and those of Anthropic and OpenAI's newer interface.
_NAMES = {"prompt": ("prompt_tokens", "input_tokens"), "completion": ("completion_tokens", "output_tokens")}


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
    :param prices: Price of a million tokens by model, as `JudgePolicy` has them.
    :returns: The sum; None if nothing was reported or a model has no price, since unknown is not 0.
    """
    costs = [cost_of(model, counts["prompt"], counts["completion"], prices) for model, counts in tokens.items()]
    known = [each for each in costs if each is not None]
    return math.fsum(known) if known and len(known) == len(costs) else None


def rag_usage(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """
    Add up what a RAG pipeline spent on all questions.

    :param records: Records, or the rows of a run.
    :returns: `tokens` by model; `cost`, None where a price is missing, since unknown is not 0; `seconds` of all
        questions, and by component `calls` and `seconds`.
    """
    tokens: Tokens = {}
    costs: list[float | None] = []
    seconds: list[float] = []
    components: dict[str, dict[str, Any]] = {}
    for record in records:
        add_tokens(tokens, record.get("tokens") or {})
        if record.get("tokens"):
            costs.append(record.get("cost"))
        seconds.append(record.get("seconds") or 0.0)
        for call in record.get("components") or []:
            entry = components.setdefault(call["name"], {"calls": 0, "seconds": 0.0})
            entry["calls"] += 1
            entry["seconds"] += call["seconds"] or 0.0
    known = [each for each in costs if each is not None]
    return {
        "tokens": tokens,
        "cost": math.fsum(known) if known and len(known) == len(costs) else None,
        "seconds": math.fsum(seconds),
        "components": components,
    }


def _handed_on(reply: ChatMessage, given: Any) -> bool:
    values = given.values() if isinstance(given, Mapping) else ()
    return any(reply in value if isinstance(value, list) else reply == value for value in values)


def _count(usage: Mapping[str, Any], names: tuple[str, ...]) -> int:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return 0
