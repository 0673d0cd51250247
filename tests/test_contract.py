# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every component of the tables keeps the contract."""

from typing import Any

import pytest

from cases import Case, all_cases
from harness import CONTRACT, ONCE, Check

CASES = all_cases()
FIRST = list({case.component: case for case in reversed(CASES)}.values())


# The first case of each component meets every check. The others meet these, and the rest among the slow tests.
QUICK = ("survives_yaml", "scores_rows_one_by_one", "gives_plain_values")


def repeated() -> list[Any]:
    """Every case with every check."""
    return [
        pytest.param(case, check, marks=[] if case in FIRST or check.__name__ in QUICK else pytest.mark.slow)
        for case in CASES
        for check in CONTRACT
    ]


@pytest.mark.parametrize(("case", "check"), repeated(), ids=lambda each: getattr(each, "name", None) or each.__name__)
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.parametrize("check", ONCE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
def test_contract_whatever_the_parameters(case: Case, check: Check) -> None:
    check(case)
