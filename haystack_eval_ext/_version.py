# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The version, in a file of its own: the build reads it without importing Haystack."""

__version__ = "0.1.0"
