# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The environment of every test, and nothing else: set before anything imports Haystack."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import settings

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
# No network, and no model but those that tests/models.py lays into the cache.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_CACHE"] = tempfile.mkdtemp(prefix="haystack-eval-ext-hub-")
atexit.register(shutil.rmtree, os.environ["HF_HUB_CACHE"], ignore_errors=True)

# The same examples on every machine, and no failure because a machine was busy.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


# Simulations and fault runs take minutes; a real model as long as it likes.
LONG = {"slow": 1800, "local_judge": 3600}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests the time that they take."""
    for item in items:
        for name, seconds in LONG.items():
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.timeout(seconds))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what runs a case whose packages are not installed, by the reason that the case gives."""
    callspec: Any = getattr(item, "callspec", None)
    parameters: Mapping[str, Any] = callspec.params if callspec else {}
    reason = getattr(parameters.get("case"), "skipped", None)
    if reason:
        pytest.skip(reason)
