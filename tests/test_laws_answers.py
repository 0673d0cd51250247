# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every answer metric keeps the laws of its family, breaks those that its row names, and the laws reject wrong ones."""

import logging
from collections.abc import Callable, Iterator, Sequence

import pytest
from haystack import component
from hypothesis import HealthCheck, Phase, settings

from cases_answers import ANSWER_CASES, AnswerCase
from haystack_eval_ext.answers._base import AnswerEvaluator
from laws_answers import LAWS

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.nested_given]
FEW = settings(derandomize=True, deadline=None, database=None, suppress_health_check=QUIET)
# A broken law needs an example, not the smallest one.
UNTIL_BROKEN = settings(FEW, max_examples=200, phases=[Phase.generate])
BROKEN = [(case, name) for case in ANSWER_CASES for name in case.broken_laws]


@pytest.fixture(autouse=True, scope="module")
def no_warnings() -> Iterator[None]:
    """Thousands of warnings of undefined rows take as long as the scores."""
    logger = logging.getLogger("haystack_eval_ext")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("case", ANSWER_CASES, ids=lambda case: case.name)
def test_law_holds(case: AnswerCase, law: str) -> None:
    if law not in case.broken_laws:
        LAWS[law]([case], settings(FEW, max_examples=case.examples))


@pytest.mark.parametrize(("case", "law"), BROKEN, ids=lambda value: getattr(value, "name", value))
def test_law_is_broken_as_the_table_says(case: AnswerCase, law: str) -> None:
    with pytest.raises(AssertionError):
        LAWS[law]([case], UNTIL_BROKEN)


def test_only_known_laws_are_broken() -> None:
    assert {law for case in ANSWER_CASES for law in case.broken_laws} <= set(LAWS)


@pytest.mark.parametrize("law", LAWS)
def test_every_law_holds_for_half_of_the_rows(law: str) -> None:
    assert sum(law in case.broken_laws for case in ANSWER_CASES) <= len(ANSWER_CASES) / 2


def metric(function: Callable[[str, Sequence[str]], float]) -> AnswerCase:
    """A component of a function of answer and references."""

    @component
    class Made(AnswerEvaluator):
        def _score(self, prediction: str, references: Sequence[str]) -> float:
            return float(function(prediction, references))

    return AnswerCase("made", Made)


def equal(prediction: str, references: Sequence[str]) -> float:
    return prediction in references


WRONG: dict[str, Callable[[str, Sequence[str]], float]] = {
    "bounded": lambda prediction, references: references.count(prediction),
    "identical": lambda prediction, references: prediction == references[0],
    "disjoint": lambda prediction, references: equal(prediction, references) or 0.1,
    "reference_order": lambda prediction, references: prediction == references[0],
    "reference_twice": lambda prediction, references: references.count(prediction) / len(references),
    "more_references": lambda prediction, references: min(prediction == reference for reference in references),
    "symmetric": lambda prediction, references: any(prediction in reference for reference in references),
    "not_run": lambda prediction, references: equal(prediction, references) if prediction else float("nan"),
}


def test_every_law_has_a_metric_that_it_rejects() -> None:
    assert WRONG.keys() == LAWS.keys()


@pytest.mark.parametrize("law", LAWS)
def test_a_right_metric_keeps_the_laws(law: str) -> None:
    LAWS[law]([metric(equal)], settings(UNTIL_BROKEN, max_examples=50))


@pytest.mark.parametrize("law", WRONG)
def test_a_wrong_metric_breaks_its_law(law: str) -> None:
    with pytest.raises(AssertionError):
        LAWS[law]([metric(WRONG[law])], UNTIL_BROKEN)
