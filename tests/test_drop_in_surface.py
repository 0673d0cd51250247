# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The public surface of each stock evaluator, found by machine, against ours and docs/differences.md."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document
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


PAIR = (stock.LLMEvaluator, ours.LLMEvaluator)


@pytest.mark.parametrize("cls", PAIR)
def test_inputs_are_written_in_one_shape(cls: Any) -> None:
    written = cls(**LLM, chat_generator=MockChatGenerator("{}")).to_dict()["init_parameters"]["inputs"]
    assert written == [["predicted_answers", "list[str]"]]


@pytest.mark.parametrize("cls", PAIR)
@pytest.mark.parametrize(
    "wrong",
    [
        {"inputs": "predicted_answers"},
        {"inputs": [("predicted_answers", list)], "outputs": 1},
        {"outputs": "score"},
        {"outputs": [1]},
        {"examples": None},
        {"examples": [1]},
        {"examples": [{"inputs": {}}]},
        {"examples": [{"inputs": {}, "outputs": []}]},
        {"examples": [{"inputs": {1: "a"}, "outputs": {}}]},
        {},
    ],
)
def test_init_parameters_are_checked_alike(cls: Any, wrong: dict[str, Any]) -> None:
    given = {name: LLM[name] for name in ("inputs", "outputs", "examples")} | wrong
    if wrong:
        with pytest.raises(ValueError):
            cls.validate_init_parameters(**given)
    else:
        cls.validate_init_parameters(**given)


@pytest.mark.parametrize("cls", PAIR)
@pytest.mark.parametrize(
    "received", [{}, {"a": ["x"]}, {"a": "x", "b": "y"}, {"a": ["x"], "b": []}, {"a": 1, "b": ["x"]}]
)
def test_input_parameters_are_checked_alike(cls: Any, received: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        cls.validate_input_parameters({"a": list[str], "b": list[str]}, received)
    cls.validate_input_parameters({"a": list[str]}, {"a": ["x"], "b": ["y"]})


def test_a_subclass_may_check_and_show_before_it_is_made() -> None:
    """As a public recipe for a judge of its own does, which never calls the __init__ of its base."""

    class Own(ours.LLMEvaluator):
        def __init__(self, inputs: Any, outputs: list[str]) -> None:
            self.validate_init_parameters(inputs, outputs, [])
            self.instructions, self.inputs, self.outputs, self.examples = "Grade it.", inputs, outputs, []
            self.template = self.prepare_template()

    template = Own([("answers", list[str])], ["score"]).template
    assert all(part in template for part in ("Grade it.", '["score"]', '"answers": {{ answers }}'))


def test_the_template_shows_what_the_judge_gets() -> None:
    for name in ("LLMEvaluator", "FaithfulnessEvaluator", "ContextRelevanceEvaluator"):
        evaluator = make(ours, name)
        assert evaluator._prompt.system() in evaluator.prepare_template()
        assert all(f"{{{{ {socket} }}}}" in evaluator.prepare_template() for socket, _ in evaluator.inputs)


def test_gains_of_one_question_are_stocks() -> None:
    """Grades 3 at rank 2 and 1 at rank 3: 3 / log2(3) + 1 / log2(4); ideal 3 + 1 / log2(3)."""
    labels = [Document(content="a", score=3.0), Document(content="b", score=1.0)]
    ranking = [Document(content=text) for text in "xab"]
    for side in (stock, ours):
        evaluator = side.DocumentNDCGEvaluator()
        assert evaluator.calculate_dcg(labels, ranking) == pytest.approx(3 / math.log2(3) + 0.5)
        assert evaluator.calculate_idcg(labels) == pytest.approx(3 + 1 / math.log2(3))
        assert evaluator.calculate_idcg([]) == evaluator.calculate_dcg([], ranking) == 0.0
        evaluator.validate_inputs([labels], [ranking])
        for wrong in (([], []), ([labels], [ranking, ranking])):
            with pytest.raises(ValueError):
                evaluator.validate_inputs(*wrong)


def test_gains_follow_our_parameters() -> None:
    labels = [Document(content="a", score=2.0), Document(content="b", score=1.0)]
    ranking = [Document(content=text) for text in "xba"]
    evaluator = ours.DocumentNDCGEvaluator(gain="exponential", top_k=2)
    assert evaluator.calculate_dcg(labels, ranking) == pytest.approx(1 / math.log2(3))
    assert evaluator.calculate_idcg(labels) == pytest.approx(3 + 1 / math.log2(3))
    share = evaluator.calculate_dcg(labels, ranking) / evaluator.calculate_idcg(labels)
    assert evaluator.run([labels], [ranking])["score"] == pytest.approx(share)
