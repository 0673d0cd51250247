# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
What every component must keep to, as plain functions: each takes a case and raises AssertionError.

``CONTRACT`` lists them; test_contract.py runs them over the tables, test_harness.py over components that are wrong.
"""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from inspect import Parameter, getdoc, signature
from typing import Any

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.core.serialization import component_from_dict, component_to_dict
from haystack.evaluation import EvaluationRunResult

import haystack_eval_ext
from cases import Case
from examples_in_text import check_example, python_blocks

pd: Any = pytest.importorskip("pandas")
Check = Callable[[Case], None]
CONTRACT: list[Check] = []
#: Checks that say the same for every row of a component.
ONCE: list[Check] = []
STATUSES = {"scored", "undefined", "error", "not_run"}
#: Outputs with one entry per row.
PER_ROW = ("individual_scores", "statuses")


def contract(check: Check) -> Check:
    """Put a check on the list."""
    CONTRACT.append(check)
    return check


def contract_once(check: Check) -> Check:
    """Put a check on the list of those that no parameter changes."""
    ONCE.append(check)
    return check


def same(one: Any, other: Any) -> bool:
    """Whether outputs are equal, NaN being equal to NaN, and of the same types."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def assert_same(came: Any, expected: Any, what: str) -> None:
    """Fail with both values unless they are equal."""
    assert same(came, expected), f"{what}: {came!r} instead of {expected!r}"


def as_written(value: Any) -> Any:
    """A parameter as YAML has it: a component, a device or a secret as a dict."""
    return value.to_dict() if hasattr(value, "to_dict") else value


def run(component: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs for inputs that the component may keep or change."""
    outputs: dict[str, Any] = component.run(**deepcopy(dict(inputs)))
    return outputs


def pick(inputs: Mapping[str, list[Any]], numbers: list[int]) -> dict[str, list[Any]]:
    """Some of the rows, in the order of their numbers."""
    return {socket: [values[number] for number in numbers] for socket, values in inputs.items()}


def init_parameters(component: type) -> list[Parameter]:
    """The init parameters of a component, without self."""
    return list(signature(component.__init__).parameters.values())[1:]  # type: ignore[misc]


@contract_once
def is_exported(case: Case) -> None:
    """``from haystack_eval_ext import X`` gives the component, and X is in ``__all__``."""
    name = case.component.__name__
    assert name in haystack_eval_ext.__all__, f"{name} is not in haystack_eval_ext.__all__"
    assert getattr(haystack_eval_ext, name, None) is case.component, f"haystack_eval_ext.{name} is another class"


@contract_once
def is_documented(case: Case) -> None:
    """A first line, each parameter and socket, what comes out, and an example that prints what it says."""
    doc = getdoc(case.component) or ""
    first = doc.partition("\n")[0]
    assert first.endswith((".", "better.")), f"the docstring's first line is no sentence: {first!r}"
    component: Any = case.component
    init = getdoc(component.__init__) or ""
    for parameter in init_parameters(case.component):
        assert f":param {parameter.name}:" in init, f"__init__ does not document {parameter.name}"
    about_run = getdoc(component.run) or ""
    for socket in case.inputs:
        assert f":param {socket}:" in about_run, f"run does not document {socket}"
    for output in run(case.make(), case.inputs):
        assert f"`{output}`" in about_run, f"run does not document its output {output}"
    blocks = python_blocks(doc)
    assert blocks, "the docstring has no example"
    for block in blocks:
        check_example(block)


@contract
def survives_yaml(case: Case) -> None:
    """A pipeline written to YAML and read again has every parameter, and gives the same scores."""
    component = case.make()
    written = component_to_dict(component, "it")["init_parameters"]
    for parameter in init_parameters(case.component):
        assert parameter.name in written, f"to_dict loses {parameter.name}"
    for name, value in case.parameters.items():
        assert same(written[name], as_written(value)), f"to_dict writes {name}={written[name]!r} instead of {value!r}"
    pipeline = Pipeline()
    pipeline.add_component("it", component)
    loaded = Pipeline.loads(pipeline.dumps())
    assert loaded.to_dict() == pipeline.to_dict(), "the loaded pipeline is not equal"
    twin = loaded.get_component("it")
    for name in written:
        before, after = (as_written(getattr(owner, name)) for owner in (component, twin))
        assert_same(after, before, f"{name} after loading")
    assert_same(run(twin, case.inputs), run(component, case.inputs), "outputs after loading")


@contract
def leaves_its_dict_alone(case: Case) -> None:
    """``from_dict`` changes nothing it is given, and the component shares nothing mutable with it."""
    data = component_to_dict(case.make(), "it")
    before = deepcopy(data)
    component = component_from_dict(case.component, data, "it")
    run(component, case.inputs)
    assert data == before, f"from_dict changed its input to {data}"


@contract
def leaves_its_parameters_alone(case: Case) -> None:
    """Neither ``__init__`` nor ``run`` changes an argument of ``__init__``."""
    parameters = deepcopy(dict(case.parameters))
    run(case.component(**parameters), case.inputs)
    before, after = ({name: as_written(value) for name, value in p.items()} for p in (case.parameters, parameters))
    assert after == before, f"the parameters became {after}"


@contract
def scores_rows_one_by_one(case: Case) -> None:
    """A row scores the same alone, in any order and beside any other row."""
    component = case.make()
    outputs = run(component, case.inputs)
    everywhere = list(range(case.n_rows))
    orders = [
        everywhere[::-1],
        random.Random(7).sample(everywhere, case.n_rows),
        everywhere * 2,
        *([n] for n in everywhere),
    ]
    for order in orders:
        part = run(component, pick(case.inputs, order))
        for output in PER_ROW:
            expected = [outputs[output][n] for n in order]
            if case.company and output == "individual_scores":
                assert part[output] == pytest.approx(expected, abs=case.company, nan_ok=True), f"scores of rows {order}"
            else:
                assert_same(part[output], expected, f"{output} of rows {order}")


@contract
def leaves_its_inputs_alone(case: Case) -> None:
    """``run`` changes neither the lists nor the objects that it is given."""
    inputs = deepcopy(dict(case.inputs))
    case.make().run(**inputs)
    assert inputs == case.inputs, "run changed its inputs"


@contract
def gives_plain_values(case: Case) -> None:
    """The mean, a float and a status for each row, and nothing but plain Python objects."""
    outputs = run(case.make(), case.inputs)
    for key, value in outputs.items():
        _assert_plain(value, key)
    assert type(outputs["score"]) is float, f"score is a {type(outputs['score']).__name__}"
    for output, kind in zip(PER_ROW, (float, str), strict=True):
        values = outputs[output]
        assert type(values) is list, f"{output} is a {type(values).__name__}"
        assert len(values) == case.n_rows, f"{output} has {len(values)} entries for {case.n_rows} rows"
        assert all(type(value) is kind for value in values), f"{output} does not hold {kind.__name__}s: {values}"
    assert STATUSES.issuperset(outputs["statuses"]), f"unknown statuses: {outputs['statuses']}"
    numbers = [score for score in outputs["individual_scores"] if not math.isnan(score)]
    mean = math.fsum(numbers) / len(numbers) if numbers else math.nan
    assert outputs["score"] == pytest.approx(mean, abs=1e-12, nan_ok=True), f"score is not the mean {mean}"


def _assert_plain(value: Any, place: str) -> None:
    assert type(value) in (float, int, str, bool, list, dict, type(None)), f"{place} holds a {type(value).__name__}"
    if isinstance(value, list):
        for item in value:
            _assert_plain(item, place)
    if isinstance(value, dict):
        for key, item in value.items():
            _assert_plain(key, place)
            _assert_plain(item, place)


@contract
def declares_its_outputs(case: Case) -> None:
    """The output sockets are what ``run`` returns."""
    component = case.make()
    declared = set(component.__haystack_output__._sockets_dict)
    came = set(run(component, case.inputs))
    assert came == declared, f"run returns {sorted(came)}, declared are {sorted(declared)}"


@contract
def takes_a_single_question(case: Case) -> None:
    """The flat form that a pipeline emits is a batch of one."""
    component = case.make()
    for number in range(case.n_rows):
        batch = pick(case.inputs, [number])
        single = case.single(number)
        if not any(single.values()):
            continue  # all sockets empty: zero rows, which is bad input
        assert_same(run(component, single), run(component, batch), f"outputs of row {number} in its single form")


@contract
def takes_json(case: Case) -> None:
    """Objects in their JSON forms, as a request or a file brings them, score as the objects do."""
    component = case.make()
    expected = run(component, case.inputs)
    for flatten in (True, False):
        inputs = json.loads(json.dumps(dict(case.inputs), default=partial(_as_json, flatten=flatten)))
        assert_same(run(component, inputs), expected, f"outputs for to_dict(flatten={flatten})")
        mixed = {
            socket: [[*rows[n][:1], *row[1:]] if isinstance(row, list) else row for n, row in enumerate(inputs[socket])]
            for socket, rows in case.inputs.items()
        }
        assert_same(run(component, mixed), expected, "outputs for Documents and dicts side by side")


def _as_json(value: Any, *, flatten: bool) -> dict[str, Any]:
    """A Document has two JSON forms, a ChatMessage or a GeneratedAnswer one."""
    form: dict[str, Any] = value.to_dict(flatten=flatten) if isinstance(value, Document) else value.to_dict()
    return form


class Column(Sequence[Any]):
    """A data set's column: it has a length and places, and is no list."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        return self._values[place]


def _array(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


#: What other packages hold rows in.
SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "array": _array,
    "Series": lambda values: pd.Series(values, dtype=object),
    "column": Column,
}


@contract
def takes_any_sequence(case: Case) -> None:
    """Rows, and the lists within rows, may be any sequence that is no text."""
    component = case.make()
    expected = run(component, case.inputs)
    for name, sequence in SEQUENCES.items():
        inputs = {
            socket: sequence([sequence(row) if isinstance(row, list) else row for row in rows])
            for socket, rows in case.inputs.items()
        }
        assert_same(run(component, inputs), expected, f"outputs for a {name} in place of lists")


@contract
def takes_numpy_numbers(case: Case) -> None:
    """Init parameters may be numpy's numbers, and are plain ones in YAML."""
    numbers = {name: value for name, value in case.parameters.items() if type(value) in (int, float, bool)}
    kinds: dict[type, Callable[[Any], Any]] = {int: np.int64, float: np.float64, bool: np.bool_}
    component = case.make(**{name: kinds[type(value)](value) for name, value in numbers.items()})
    written = component_to_dict(component, "it")["init_parameters"]
    for name, value in numbers.items():
        assert same(written[name], value), f"to_dict writes {name}={written[name]!r} instead of {value!r}"


@contract
def knows_empty_from_missing(case: Case) -> None:
    """No rows are refused; a bare ``[]`` beside one question is that question with nothing in it."""
    component = case.make()
    with _must_raise(ValueError, "without any row"):
        component.run(**{socket: [] for socket in case.inputs})
    for socket in case.inputs:
        row = next(n for n in range(case.n_rows) if all(case.inputs[other][n] for other in case.inputs))
        one = pick(case.inputs, [row])
        if not case.bare_empty:
            with _must_raise(ValueError, f"for {socket}=[] beside one row"):
                component.run(**{**one, socket: []})
            continue
        bare = run(component, {**one, socket: []})
        assert_same(
            bare, run(component, {**one, socket: case.empty(socket)}), f"outputs for {socket}=[] beside one row"
        )
        with _must_raise(ValueError, f"for {socket}=[] beside two rows"):
            component.run(**{**pick(case.inputs, [row, row]), socket: []})


class _must_raise:  # noqa: N801 - reads as a statement
    """As pytest.raises, with an AssertionError that says what was accepted."""

    def __init__(self, kind: type[Exception], what: str) -> None:
        self._kind, self._what = kind, what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        assert kind is not None, f"nothing is raised {self._what}"
        return issubclass(kind, self._kind)


@contract
def runs_alike_in_pipelines(case: Case) -> None:
    """``run``, ``Pipeline.run`` and ``Pipeline.run_async`` give the same, twice."""
    component = case.make()
    expected = run(component, case.inputs)
    pipeline = Pipeline()
    pipeline.add_component("it", component)
    assert_same(pipeline.run({"it": deepcopy(dict(case.inputs))})["it"], expected, "outputs of Pipeline.run")
    asynchronous = asyncio.run(pipeline.run_async({"it": deepcopy(dict(case.inputs))}))
    assert_same(asynchronous["it"], expected, "outputs of Pipeline.run_async")
    assert_same(run(component, case.inputs), expected, "outputs of a second run")


@contract
def serves_threads(case: Case) -> None:
    """One instance used by eight threads at once, for different rows, gives what it gives alone."""
    component = case.make()
    orders = [[n % case.n_rows, (n + 1) % case.n_rows] for n in range(8)]
    expected = [run(component, pick(case.inputs, order)) for order in orders]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads that take turns all the time meet where they can
    try:
        with ThreadPoolExecutor(8) as pool:
            came = list(pool.map(lambda order: run(component, pick(case.inputs, order)), orders))
    finally:
        sys.setswitchinterval(interval)
    assert_same(came, expected, "outputs in threads")


@contract
def feeds_run_results(case: Case) -> None:
    """``EvaluationRunResult`` takes the outputs as they are."""
    outputs = run(case.make(), case.inputs)
    per_measure = outputs["results"] if isinstance(outputs.get("results"), dict) else {}
    results = {"it": outputs, **per_measure}
    report = EvaluationRunResult("run", {"row": list(range(case.n_rows))}, results)
    assert_same(report.aggregated_report()["score"][0], outputs["score"], "score in the report")  # type: ignore[index, call-overload, unused-ignore]
    assert_same(report.detailed_report()["it"], outputs["individual_scores"], "rows in the report")  # type: ignore[index, call-overload, unused-ignore]


@contract
def can_be_copied(case: Case) -> None:
    """Copies and pickles give the same scores."""
    component = case.make()
    expected = run(component, case.inputs)
    for copy in (deepcopy(component), pickle.loads(pickle.dumps(component))):  # noqa: S301 - our own pickle
        assert_same(run(copy, case.inputs), expected, "outputs of a copy")


def check_golden(case: Case) -> None:
    """The rows of the table score what was computed by hand."""
    for golden in case.golden:
        came = run(case.make(), golden.inputs)["individual_scores"]
        assert came == pytest.approx(golden.scores, abs=case.exact, nan_ok=True), (
            f"{golden.name}: {came} instead of {golden.scores}"
        )
