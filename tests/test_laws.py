# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every measure keeps the laws of its family, and really breaks those that its row says it does."""

import logging
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings

from cases_retrieval import NO_CUTOFF, RETRIEVAL_CASES, RetrievalCase
from laws_retrieval import LAWS

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.nested_given]
FEW = settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=QUIET)
# A broken law needs an example, not the smallest one.
UNTIL_BROKEN = settings(FEW, max_examples=200, phases=[Phase.generate])

BROKEN = [(case, name) for case in RETRIEVAL_CASES for name in case.broken_laws]


def _group(case: RetrievalCase) -> str:
    """Cases that share examples: those of a component with one measure, or of a measure."""
    return re.split(r"[-@(]", case.name.removeprefix("ranking-"))[0]


GROUPS = sorted({_group(case) for case in RETRIEVAL_CASES})


@pytest.fixture(autouse=True, scope="module")
def no_warnings() -> Iterator[None]:
    """Thousands of warnings of undefined rows take as long as the scores."""
    logger = logging.getLogger("haystack_eval_ext")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("group", GROUPS)
def test_law_holds(group: str, law: str) -> None:
    cases = [case for case in RETRIEVAL_CASES if _group(case) == group and law not in case.broken_laws]
    if cases:
        LAWS[law](cases, FEW)


@pytest.mark.parametrize(("case", "law"), BROKEN, ids=lambda value: getattr(value, "name", value))
def test_law_is_broken_as_the_table_says(case: RetrievalCase, law: str) -> None:
    # A measure without cut-off refuses one by ValueError; everything else is a counterexample.
    with pytest.raises(ValueError if case.broken_laws[law] == NO_CUTOFF else AssertionError):
        LAWS[law]([case], UNTIL_BROKEN)
