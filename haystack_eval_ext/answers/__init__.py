# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Predicted answers against reference answers: exact, lexical and semantic similarity."""
