# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every component and measure gives the values that were computed by hand."""

import pytest

from cases import Case, all_cases
from harness import check_golden

GOLDEN = [case for case in all_cases() if case.golden]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_golden_values(case: Case) -> None:
    check_golden(case)
