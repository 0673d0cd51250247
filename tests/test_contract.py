# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every component of the tables keeps the contract."""

import pytest

from cases import Case, all_cases
from harness import CONTRACT, ONCE, Check

CASES = all_cases()
FIRST = list({case.component: case for case in reversed(CASES)}.values())


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.parametrize("check", ONCE, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.component.__name__)
def test_contract_whatever_the_parameters(case: Case, check: Check) -> None:
    check(case)
