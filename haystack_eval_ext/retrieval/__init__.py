# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Ranked documents against ground truth: recall, precision, MRR, MAP, NDCG and many more measures."""
