# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""An LLM gives verdicts; their form is checked, and the arithmetic is ours."""
