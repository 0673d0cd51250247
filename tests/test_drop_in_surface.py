# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The public surface of each stock evaluator, found by machine, against ours and docs/differences.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack.components import evaluators as stock
from haystack.components.generators.chat import MockChatGenerator

import haystack_eval_ext as ours
from retrieval_data import needs_stock

DOCUMENT = Path(__file__).parent.parent / "docs" / "differences.md"
# What a class cannot be made without; the judges would ask for a key of OpenAI's.
LLM = {
    "instructions": "Is the answer polite?",
    "inputs": [("predicted_answers", list[str])],
    "outputs": ["score"],
    "examples": [{"inputs": {"predicted_answers": "Hello."}, "outputs": {"score": 1}}],
}
PARAMETERS: dict[str, dict[str, Any]] = {"LLMEvaluator": LLM}


def stock_classes() -> list[str]:
    """Their names, as the package offers them; some are loaded only when they are named."""
    return sorted(name for name in set(dir(stock)) if inspect.isclass(getattr(stock, name)))


def make(side: Any, name: str) -> Any:
    """An instance; the class alone where the stock one needs what is not installed."""
    cls = getattr(side, name)
    judge = {} if "chat_generator" not in inspect.signature(getattr(stock, name)).parameters else {"chat_generator": 1}
    parameters = PARAMETERS.get(name, {}) | {key: MockChatGenerator("{}") for key in judge}
    try:
        getattr(stock, name)(**parameters)
    except ImportError:
        return cls
    return cls(**parameters)


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def parameters_of(function: Any) -> dict[str, inspect.Parameter]:
    found = inspect.signature(function).parameters
    # A class without an __init__ of its own takes nothing.
    return {} if list(found) == ["args", "kwargs"] else dict(found)


def takes_the_same(theirs: Any, our: Any) -> bool:
    """Whether each call of the stock function is one of ours: what is more here has a default and comes last."""
    wanted, offered = parameters_of(theirs), parameters_of(our)
    if [(one.name, one.kind) for one in offered.values()][: len(wanted)] != [
        (one.name, one.kind) for one in wanted.values()
    ]:
        return False
    further = [one for name, one in offered.items() if name not in wanted]
    return all(offered[name].default == one.default for name, one in wanted.items()) and all(
        one.kind is one.KEYWORD_ONLY and one.default is not one.empty for one in further
    )


def kind_of(cls: Any, name: str) -> str:
    """How a member is called."""
    raw = inspect.getattr_static(cls, name, None)
    if isinstance(raw, staticmethod | classmethod):
        return type(raw).__name__
    return "coroutine" if inspect.iscoroutinefunction(getattr(cls, name, None)) else "plain"


def differences(name: str) -> Iterator[tuple[str, str, str]]:
    """Class, public name, and in what it differs."""
    theirs, our = make(stock, name), make(ours, name)
    if not takes_the_same(getattr(stock, name), getattr(ours, name)):
        yield name, "__init__", "signature"
    for member in sorted(public(theirs)):
        if not hasattr(our, member):
            yield name, member, "missing"
            continue
        one, other = getattr(theirs, member), getattr(our, member)
        if not callable(one):
            if one != other:
                yield name, member, "value"
        elif kind_of(getattr(stock, name), member) != kind_of(getattr(ours, name), member):
            yield name, member, "kind"
        elif not takes_the_same(one, other):
            yield name, member, "signature"


def listed() -> set[tuple[str, str, str]]:
    """The rows of the document's table."""
    section = DOCUMENT.read_text(encoding="utf-8").split("## Names, parameters and attributes\n")[1].split("\n## ")[0]
    rows = [re.split(r"\s*\|\s*", line.strip("|").strip()) for line in section.splitlines() if line.startswith("|")]
    header, _, *entries = rows
    assert header == ["class", "name", "differs in", "why"]
    assert all(len(why) > 20 for *_, why in entries)
    return {
        (cls, member.strip("`"), what)
        for classes, member, what, _ in entries
        for cls in re.findall(r"`(\w+)`", classes)
    }


def test_every_stock_class_has_one_of_ours() -> None:
    assert len(stock_classes()) >= 9
    assert [name for name in stock_classes() if not hasattr(ours, name)] == []


@pytest.mark.parametrize("name", stock_classes())
def test_no_difference_that_is_not_listed(name: str) -> None:
    assert set(differences(name)) - listed() == set()


@needs_stock
def test_each_listed_difference_exists() -> None:
    found = {one for name in stock_classes() for one in differences(name)}
    assert listed() - found == set()
