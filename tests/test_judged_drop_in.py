# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""LLMEvaluator, FaithfulnessEvaluator and ContextRelevanceEvaluator in the place of Haystack's own."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import LLMEvaluator
from judged_replies import SIDES, faithful, faithfulness, llm, relevance, relevant
from retrieval_data import needs_stock

NAMES = ("LLMEvaluator", "FaithfulnessEvaluator", "ContextRelevanceEvaluator")
LLM_PARAMETERS: dict[str, Any] = {
    "instructions": "Is this answer polite?",
    "inputs": [("predicted_answers", list[str]), ("contexts", list[list[str]])],
    "outputs": ["score"],
    "examples": [
        {"inputs": {"predicted_answers": "Go away.", "contexts": []}, "outputs": {"score": 0}},
        {"inputs": {"predicted_answers": "You are welcome.", "contexts": ["c"]}, "outputs": {"score": 1}},
    ],
}


def make(side: str, name: str, **parameters: Any) -> Any:
    given = {**(LLM_PARAMETERS if name == "LLMEvaluator" else {}), **parameters}
    return getattr(SIDES[side], name)(**{"chat_generator": MockChatGenerator("{}"), **given})


def stock_examples(name: str) -> list[dict[str, Any]]:
    """The few-shot examples that the stock class has by default."""
    examples: list[dict[str, Any]] = import_module(getattr(SIDES["stock"], name).__module__)._DEFAULT_EXAMPLES
    return examples


@pytest.mark.parametrize("name", NAMES)
def test_stock_parameters_come_first_with_equal_defaults(name: str) -> None:
    theirs, ours = (
        list(inspect.signature(getattr(SIDES[side], name).__init__).parameters.values())[1:]
        for side in ("stock", "ours")
    )
    assert [(one.name, one.kind, one.default) for one in ours[: len(theirs)]] == [
        (one.name, one.kind, one.default) for one in theirs
    ]
    assert {one.kind for one in ours[len(theirs) :]} == {inspect.Parameter.KEYWORD_ONLY}


@needs_stock
@pytest.mark.parametrize("name", NAMES)
def test_sockets_have_stock_names(name: str) -> None:
    pipelines = {side: Pipeline() for side in SIDES}
    for side, pipeline in pipelines.items():
        pipeline.add_component("it", make(side, name))
    theirs, ours = (
        {socket: form["is_mandatory"] for socket, form in pipelines[side].inputs()["it"].items()} for side in SIDES
    )
    assert ours == theirs
    wanted, got = (pipelines[side].outputs()["it"] for side in SIDES)
    assert {socket: got[socket] for socket in wanted} == wanted


# Verdicts of four rows in the stock form, and the same ones in ours. The last row's reply is no JSON.
FAITHFULNESS = (
    [faithful(["The first.", "The second."], scores) for scores in ([1, 1], [1, 0], [0, 0])],
    [json.dumps({"verdicts": {"s1": one, "s2": two}}) for one, two in ((1, 1), (1, 0), (0, 0))],
)
RELEVANCE = (
    [relevant(texts) for texts in (["x."], ["x.", "y."], [])],
    [json.dumps({"relevant_sentences": {"c1": texts}}) for texts in (["x."], ["x.", "y."], [])],
)
SCORES = (['{"score": 1}', '{"score": 0}', '{"score": 1}'],) * 2
SAME: list[tuple[Callable[..., dict[str, Any]], tuple[list[str], list[str]], list[float] | None]] = [
    (faithfulness, FAITHFULNESS, [1.0, 0.5, 0.0]),
    (relevance, RELEVANCE, [1.0, 1.0, 0.0]),
    (llm, SCORES, None),
]


def kinds(value: Any) -> Any:
    """The types in a value, numbers being alike: stock mixes int, float and numpy's."""
    if isinstance(value, dict):
        return {key: kinds(part) for key, part in value.items()}
    if isinstance(value, list):
        return [kinds(part) for part in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def cut(ours: Any, theirs: Any) -> Any:
    """Ours without the keys that are ours alone."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {key: cut(ours[key], part) for key, part in theirs.items() if key in ours}
    if isinstance(theirs, list) and isinstance(ours, list):
        return [cut(*pair) for pair in zip(ours, theirs, strict=True)]
    return ours


@needs_stock
@pytest.mark.parametrize(("run", "replies", "scores"), SAME, ids=NAMES[1:] + NAMES[:1])
def test_equal_verdicts_give_equal_outputs(
    run: Callable[..., dict[str, Any]], replies: tuple[list[str], list[str]], scores: list[float] | None
) -> None:
    """Each side in its own form of reply, and ours in the stock form, too."""
    theirs = run("stock", *replies[0], "no reply")
    if scores:
        assert theirs["individual_scores"][:3] == scores
    for written in replies:
        ours = run("ours", *written, "no reply")
        same = cut(ours, theirs)
        # Nobody told how much a reply cost here: then stock's meta is None, and so is ours.
        assert kinds(same) == kinds(theirs)
        for key in ("score", "individual_scores"):
            assert same.get(key) == pytest.approx(theirs.get(key), nan_ok=True)
        assert same["results"][:3] == theirs["results"][:3]
        assert ours["statuses"][3] == "error"


@needs_stock
def test_a_failed_row_of_llm_evaluator_is_none_on_both_sides() -> None:
    for side in SIDES:
        assert llm(side, "no reply", '{"score": 1}')["results"] == [None, {"score": 1}]


@needs_stock
@pytest.mark.parametrize("name", NAMES[1:])
def test_stock_examples_are_taken_and_converted(name: str) -> None:
    examples = stock_examples(name)
    evaluator = make("ours", name, examples=examples)
    shown = evaluator._prompt.examples
    assert len(shown) == len(examples)
    for (data, reply), example in zip(shown, examples, strict=True):
        assert data["question"] == example["inputs"]["questions"]
        assert list(data["contexts"].values()) == example["inputs"]["contexts"]
        key = "statement_scores" if name == "FaithfulnessEvaluator" else "relevant_statements"
        (given,) = reply.values()
        values = list(given.values())
        flat = values if key == "statement_scores" else [text for texts in values for text in texts]
        assert flat == example["outputs"][key]


def test_an_example_sentence_that_stands_in_no_context_is_refused() -> None:
    inputs = {"questions": "q", "contexts": ["One text.", "Another text."]}
    with pytest.raises(ValueError, match="stands in none of its contexts"):
        make("ours", NAMES[2], examples=[{"inputs": inputs, "outputs": {"relevant_statements": ["A third text."]}}])
    single = {"questions": "q", "contexts": ["One text."]}
    evaluator = make(
        "ours", NAMES[2], examples=[{"inputs": single, "outputs": {"relevant_statements": ["The one text."]}}]
    )
    assert evaluator._prompt.examples[0][1] == {"relevant_sentences": {"c1": ["The one text."]}}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"questions": "q", "contexts": "One text."}, {"relevant_statements": []}),
        ({"questions": "q", "contexts": ["One text."]}, {"relevant_statements": "One text."}),
        ({"questions": "q", "contexts": ["One text."]}, {"relevant_statements": [1]}),
    ],
)
def test_an_example_of_context_relevance_has_lists_of_texts(inputs: Any, outputs: Any) -> None:
    with pytest.raises(ValueError, match="must be a list of texts"):
        make("ours", NAMES[2], examples=[{"inputs": inputs, "outputs": outputs}])


def exchanged(text: str, source: str, target: str, name: str) -> str:
    """A pipeline's YAML with the class path of the other side."""
    paths = {side: f"{getattr(SIDES[side], name).__module__}.{name}" for side in SIDES}
    assert text.count(paths[source]) == 1
    return text.replace(paths[source], paths[target])


@needs_stock
@pytest.mark.parametrize("name", NAMES)
def test_stock_yaml_loads_under_our_path(name: str) -> None:
    more: dict[str, Any] = {"progress_bar": False, "raise_on_failure": False}
    if name != "LLMEvaluator":
        more["examples"] = stock_examples(name)[:1]
    pipeline = Pipeline()
    pipeline.add_component("it", make("stock", name, **more))
    loaded: Any = Pipeline.loads(exchanged(pipeline.dumps(), "stock", "ours", name)).get_component("it")
    assert type(loaded) is getattr(SIDES["ours"], name)
    expected = {**(LLM_PARAMETERS if name == "LLMEvaluator" else {}), **more}
    assert {key: getattr(loaded, key) for key in expected} == expected
    assert isinstance(loaded.chat_generator, MockChatGenerator)


@needs_stock
@pytest.mark.parametrize("name", NAMES)
def test_our_yaml_loads_under_the_stock_path_once_our_parameters_are_gone(name: str) -> None:
    component = make("ours", name, progress_bar=False)
    data = component.to_dict()
    stock = getattr(SIDES["stock"], name)
    data["type"] = f"{stock.__module__}.{name}"
    known = list(inspect.signature(stock.__init__).parameters)
    data["init_parameters"] = {key: value for key, value in data["init_parameters"].items() if key in known}
    twin = make("stock", name, progress_bar=False).to_dict()
    if name != "LLMEvaluator":
        twin["init_parameters"]["examples"] = None
    assert data == twin
    loaded = stock.from_dict(data)
    assert type(loaded) is stock
    assert not loaded.progress_bar


def types_of_inputs() -> list[Any]:
    return [
        list[str],
        list[list[str]],
        list[Any],
        list[dict[str, Any]],
        list[str] | list[ChatMessage],
        list[list[Document]],
        list[str | None],
    ]


@pytest.mark.parametrize("kind", types_of_inputs(), ids=str)
def test_types_of_inputs_come_back_from_yaml(kind: Any) -> None:
    component = LLMEvaluator("i", [("my input", kind)], ["o"], [], chat_generator=MockChatGenerator("{}"))
    pipeline = Pipeline()
    pipeline.add_component("it", component)
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("it")
    assert loaded.inputs == component.inputs == [("my input", kind)]
    assert loaded.to_dict()["init_parameters"]["inputs"] == [
        ["my input", pipeline.to_dict()["components"]["it"]["init_parameters"]["inputs"][0][1]]
    ]


@component
class PolitenessEvaluator(LLMEvaluator):
    """A ready-made judge of a user's own, as the stock ones are made."""

    def __init__(self, chat_generator: Any = None) -> None:
        LLMEvaluator.__init__(self, **LLM_PARAMETERS, chat_generator=chat_generator)


def test_a_subclass_with_parameters_of_its_own_comes_back_from_its_dictionary() -> None:
    evaluator = PolitenessEvaluator(MockChatGenerator('{"score": 1}'))
    data = evaluator.to_dict()
    assert list(data["init_parameters"]) == ["chat_generator"]
    loaded = PolitenessEvaluator.from_dict(data)
    assert loaded.run(predicted_answers=["a"], contexts=[["c"]])["results"] == [{"score": 1}]
