# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the command line: faults, tables, the catalogue of metrics."""
