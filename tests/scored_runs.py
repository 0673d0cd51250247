# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs made of numbers, for the tests of comparisons and gates."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

from haystack_eval_ext.runs.comparison import MetricRows, ScoredRun

ERROR, UNDEFINED, NOT_RUN = "error", "undefined", "not_run"
# Of a row that was to be scored, but the budget was spent before.
UNREACHED = "unreached"


def rows(scores: Sequence[float | str], **made: Any) -> MetricRows:
    """Scores as a metric; a word among them is the status of a row without one."""
    return MetricRows(
        [math.nan if isinstance(score, str) else float(score) for score in scores],
        [NOT_RUN if score == UNREACHED else score if isinstance(score, str) else "scored" for score in scores],
        failed=[float(score == UNREACHED) for score in scores] if UNREACHED in scores else None,
        **made,
    )


def run(
    scores: Sequence[float | str],
    *,
    name: str = "run",
    metric: str = "m",
    ids: Sequence[str] | None = None,
    **more: Any,
) -> ScoredRun:
    """A run with one metric."""
    return ScoredRun(name, ids or [f"q{row}" for row in range(len(scores))], {metric: rows(scores)}, **more)


def clusters_of(count: int, size: int) -> list[Hashable]:
    """Clusters of equal size."""
    return [row // size for row in range(count)]
