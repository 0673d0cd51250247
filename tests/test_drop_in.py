# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The stock-named evaluators against the stock ones: the same class, found under another import."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.evaluators.document_recall import RecallMode
from hypothesis import given, settings
from hypothesis import strategies as st

from haystack_eval_ext import DocumentRecallEvaluator
from retrieval_data import EVALUATORS, FIELDS, SIDES, Batch, make_evaluator, needs_stock, plain_batch
from test_bad_input import COMPONENTS, document_sockets

STOCK_KEYS = ["score", "individual_scores"]


def check_equal_to_stock(name: str, field: str, batch: Batch) -> list[float]:
    truths, retrieved = batch
    wanted = make_evaluator("stock", name, document_comparison_field=field).run(truths, retrieved)
    got = make_evaluator("ours", name, document_comparison_field=field).run(truths, retrieved)
    assert list(wanted) == STOCK_KEYS
    assert list(got)[: len(STOCK_KEYS)] == STOCK_KEYS
    assert got["individual_scores"] == pytest.approx(wanted["individual_scores"], rel=0, abs=1e-12)
    assert got["score"] == pytest.approx(wanted["score"], rel=0, abs=1e-12)
    assert type(got["individual_scores"]) is list
    assert {type(value) for value in (got["score"], *got["individual_scores"])} == {float}
    return [float(value) for value in wanted["individual_scores"]]


@needs_stock
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", EVALUATORS)
def test_equal_to_stock_on_seeded_batches(name: str, field: str) -> None:
    values = [value for seed in range(80) for value in check_equal_to_stock(name, field, plain_batch(seed, field))]
    assert len(values) > 300
    # Both ends and what lies between must be there, or the comparison would prove little.
    assert min(values.count(0.0), values.count(1.0)) >= 10
    assert name == "recall" or len(set(values)) > 10


@st.composite
def plain_batches(draw: st.DrawFn, field: str) -> Batch:
    """Plain labels over any text as key, with hits that are likely: rankings are drawn from few keys."""
    text = st.text(min_size=1, max_size=4)
    number = st.one_of(st.integers(-2, 2), st.booleans(), st.floats(-2, 2))
    keys = draw(st.lists(text if field in ("content", "id") else st.one_of(text, number), min_size=1, max_size=6))
    make = FIELDS[field]
    documents = st.builds(make, st.sampled_from([*keys, None]), text)
    keyed = st.builds(make, st.sampled_from(keys), text)
    truths, retrieved = [], []
    for row in range(draw(st.integers(1, 4))):
        labels = draw(st.lists(documents, max_size=6))
        ranking = draw(st.lists(documents, max_size=10))
        if row == 0:  # a field that no document of a side has is a listed difference
            labels.append(draw(keyed))
            ranking.insert(0, draw(keyed))
        graded = draw(st.booleans())
        truths.append([replace(label, score=draw(st.floats(1e-6, 100)) if graded else None) for label in labels])
        retrieved.append(ranking)
    return truths, retrieved


@needs_stock
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", EVALUATORS)
@settings(derandomize=True, deadline=None, max_examples=20)
@given(data=st.data())
def test_equal_to_stock_on_any_plain_batch(name: str, field: str, data: st.DataObject) -> None:
    check_equal_to_stock(name, field, data.draw(plain_batches(field)))


# Values of haystack-ai 3.4.1, with their arithmetic: these hold where the stock class is another version, too.
A, B, C, X, Y = (Document(content=text) for text in "abcxy")


def graded(text: str, score: float) -> Document:
    return Document(content=text, score=score)


FROZEN: dict[str, tuple[list[Document], list[Document], list[float]]] = {
    # ground truth, retrieved, [recall, recall (multi_hit), MRR, MAP, NDCG]
    "everything first": ([A, B], [A, B, X], [1.0, 1.0, 1.0, 1.0, 1.0]),
    "nothing found": ([A, B], [X, Y], [0.0, 0.0, 0.0, 0.0, 0.0]),
    "nothing retrieved": ([A, B], [], [0.0, 0.0, 0.0, 0.0, 0.0]),
    "no labels": ([], [X, Y], [0.0, 0.0, 0.0, 0.0, 0.0]),
    # MAP 1/2 / 2; NDCG 0.6309 / 1.6309
    "one of two, second": ([A, B], [X, A], [1.0, 0.5, 0.5, 0.25, 0.3868528072345416]),
    # MAP (1/2 + 2/4 + 3/5) / 3; NDCG (0.6309 + 0.4307 + 0.3869) / (1 + 0.6309 + 0.5)
    "three of three, late": (
        [A, B, C],
        [X, A, Y, B, C],
        [1.0, 1.0, 0.5, 0.5333333333333333, 0.6797310500037655],
    ),
    # MAP (1 + 2/3) / 2; NDCG (1 + 0.5) / (1 + 0.6309)
    "a copy between": ([A, B], [A, A, B], [1.0, 1.0, 1.0, 0.8333333333333333, 0.9197207891481876]),
    # One relevant document, labelled twice with 1 and 3. NDCG 0.6309
    "a label twice": (
        [graded("a", 1.0), graded("a", 3.0)],
        [X, A],
        [1.0, 1.0, 0.5, 0.5, 0.6309297535714575],
    ),
    # NDCG (1 + 3 * 0.6309) / (3 + 0.6309)
    "grades the wrong way round": (
        [graded("a", 3), graded("b", 1)],
        [B, A],
        [1.0, 1.0, 1.0, 1.0, 0.7967075809905066],
    ),
}


def _frozen_cases() -> Iterator[tuple[str, str, float]]:
    for case, (_, _, values) in FROZEN.items():
        for name, value in zip(EVALUATORS, values, strict=True):
            yield case, name, value


@pytest.mark.parametrize(("case", "name", "value"), list(_frozen_cases()))
def test_frozen_values(case: str, name: str, value: float) -> None:
    truth, retrieved, _ = FROZEN[case]
    assert make_evaluator("ours", name).run([truth], [retrieved])["individual_scores"] == pytest.approx(
        [value], abs=1e-12
    )


@needs_stock
@pytest.mark.parametrize(("case", "name", "value"), list(_frozen_cases()))
def test_frozen_values_are_stock_values(case: str, name: str, value: float) -> None:
    truth, retrieved, _ = FROZEN[case]
    assert make_evaluator("stock", name).run([truth], [retrieved])["individual_scores"] == pytest.approx(
        [value], abs=1e-12
    )


CLASSES = sorted({class_name for class_name, _ in EVALUATORS.values()})


def test_every_stock_name_of_the_family_is_compared() -> None:
    ours = {component.__name__ for component in COMPONENTS if document_sockets(component)}
    assert ours & set(dir(SIDES["stock"])) == set(CLASSES)


def init_parameters(side: str, class_name: str) -> list[inspect.Parameter]:
    return list(inspect.signature(getattr(SIDES[side], class_name).__init__).parameters.values())[1:]


@pytest.mark.parametrize("class_name", CLASSES)
def test_stock_parameters_come_first_with_equal_defaults(class_name: str) -> None:
    theirs, ours = init_parameters("stock", class_name), init_parameters("ours", class_name)

    def form(parameter: inspect.Parameter) -> tuple[str, Any, Any]:
        default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
        return parameter.name, parameter.kind, default

    assert [form(parameter) for parameter in ours[: len(theirs)]] == [form(parameter) for parameter in theirs]
    # What is new can only be given by name: a later stock parameter does not change what a position means.
    assert {parameter.kind for parameter in ours[len(theirs) :]} == {inspect.Parameter.KEYWORD_ONLY}
    assert all(parameter.default is not inspect.Parameter.empty for parameter in ours)


@pytest.mark.parametrize("name", EVALUATORS)
def test_sockets_have_stock_names(name: str) -> None:
    theirs, ours = Pipeline(), Pipeline()
    theirs.add_component("evaluator", make_evaluator("stock", name))
    ours.add_component("evaluator", make_evaluator("ours", name))
    mandatory = {
        side: {socket: form["is_mandatory"] for socket, form in pipeline.inputs()["evaluator"].items()}
        for side, pipeline in (("stock", theirs), ("ours", ours))
    }
    assert mandatory["ours"] == mandatory["stock"]
    wanted = theirs.outputs()["evaluator"]
    got = ours.outputs()["evaluator"]
    assert list(got)[: len(wanted)] == list(wanted)
    assert {socket: got[socket] for socket in wanted} == wanted


@pytest.mark.parametrize("mode", RecallMode)
def test_recall_takes_stock_modes(mode: RecallMode) -> None:
    truths, retrieved = [[A, B]], [[X, A]]
    by_enum = DocumentRecallEvaluator(mode)
    by_name = make_evaluator("ours", "recall", mode=str(mode))
    score = {RecallMode.SINGLE_HIT: 1.0, RecallMode.MULTI_HIT: 0.5}[mode]
    assert by_enum.run(truths, retrieved)["score"] == by_name.run(truths, retrieved)["score"] == score
    pipeline = Pipeline()
    pipeline.add_component("recall", by_enum)
    assert f"mode: {mode}" in pipeline.dumps()
    assert Pipeline.loads(pipeline.dumps()) == pipeline


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", EVALUATORS)
def test_stock_yaml_loads_with_only_the_type_changed(name: str, field: str) -> None:
    pipeline = Pipeline()
    pipeline.add_component("evaluator", make_evaluator("stock", name, document_comparison_field=field))
    text = pipeline.dumps()
    changed = text.replace("haystack.components.evaluators.", "haystack_eval_ext.retrieval.")
    assert changed.count("haystack_eval_ext.retrieval.") == 1
    loaded = Pipeline.loads(changed)
    evaluator: Any = loaded.get_component("evaluator")
    class_name, mode = EVALUATORS[name]
    assert type(evaluator) is getattr(SIDES["ours"], class_name)
    assert evaluator.document_comparison_field == field
    if mode:
        assert evaluator.mode == mode["mode"]
    truths, retrieved = plain_batch(1, field)
    result = loaded.run({"evaluator": {"ground_truth_documents": truths, "retrieved_documents": retrieved}})
    direct = make_evaluator("ours", name, document_comparison_field=field).run(truths, retrieved)
    assert result["evaluator"] == direct
