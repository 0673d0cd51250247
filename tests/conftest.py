# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The environment of every test, and nothing else: set before anything imports Haystack."""

import os

from hypothesis import settings

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

# The same examples on every machine, and no failure because a machine was busy.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
