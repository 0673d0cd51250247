# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The laws of test_laws.py on many more examples: too slow for every change."""

import pytest
from hypothesis import settings

from cases_retrieval import RETRIEVAL_CASES
from laws_retrieval import LAWS
from test_laws import FEW, GROUPS, _group, no_warnings

__all__ = ["no_warnings"]  # a fixture that this module uses, too

MANY = settings(FEW, max_examples=60)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("group", GROUPS)
def test_law_holds_on_many_examples(group: str, law: str) -> None:
    cases = [case for case in RETRIEVAL_CASES if _group(case) == group and law not in case.broken_laws]
    if cases:
        LAWS[law](cases, MANY)
