# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Nothing is left out of the tables: no component, parameter, measure or law, and no hand-computed value."""

from typing import Any

import pytest

import haystack_eval_ext
from cases import all_cases
from cases_retrieval import RETRIEVAL_CASES
from harness import init_parameters, same
from haystack_eval_ext.retrieval.measures import MEASURES
from laws_retrieval import LAWS

CASES = all_cases()
COMPONENTS = [
    exported for name in haystack_eval_ext.__all__ if hasattr(exported := getattr(haystack_eval_ext, name), "run")
]


def rows_of(component: type) -> list[Any]:
    return [case for case in CASES if case.component is component]


def test_components_are_found() -> None:
    assert len(COMPONENTS) >= 7


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.__name__)
def test_component_has_a_row_with_golden_values(component: type) -> None:
    assert rows_of(component), f"{component.__name__} has no row in tests/cases_<family>.py"
    assert any(case.golden for case in rows_of(component)), f"{component.__name__} has no golden values"


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda component: component.__name__)
def test_every_parameter_is_set_in_some_row(component: type) -> None:
    left = [
        parameter.name
        for parameter in init_parameters(component)
        if not any(
            parameter.name in case.parameters and not same(case.parameters[parameter.name], parameter.default)
            for case in rows_of(component)
        )
    ]
    assert not left, f"no row of {component.__name__} sets {left} to something other than the default"


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_golden_values(measure: str) -> None:
    names = [
        name.partition("@")[0].partition("(")[0]
        for case in RETRIEVAL_CASES
        if case.golden
        for name in case.parameters.get("measures", [])
    ]
    assert measure in names


@pytest.mark.parametrize("measure", [name for name, definition in MEASURES.items() if definition.parameters])
def test_every_own_parameter_of_a_measure_is_set_in_some_row(measure: str) -> None:
    written = [
        name
        for case in RETRIEVAL_CASES
        for name in case.parameters.get("measures", [])
        if name.startswith(f"{measure}(")
    ]
    left = [
        parameter
        for parameter in MEASURES[measure].own_parameters
        if not any(f"{parameter}=" in name for name in written)
    ]
    assert not left, f"no row sets {left} of {measure}"


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_only_known_laws_are_broken() -> None:
    assert {law for case in RETRIEVAL_CASES for law in case.broken_laws} <= set(LAWS)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_holds_for_most_rows(law: str) -> None:
    broken = [case.name for case in RETRIEVAL_CASES if law in case.broken_laws]
    assert len(broken) < len(RETRIEVAL_CASES) / 2
