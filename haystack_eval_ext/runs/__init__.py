# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""Data files in, evaluation runs out: readers for rows, TREC files and BEIR folders."""
