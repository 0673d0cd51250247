# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a threshold that nobody chose cuts through the middle of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Scores at the ends are verdicts; so few others, or so small a share of them, say nothing of a threshold.
_LOW, _HIGH = 0.05, 0.95
_FEW, _SHARE = 5, 1 / 3


def undecided(columns: Mapping[str, Iterable[float | str]], thresholds: Mapping[str, float]) -> list[str]:
    """
    Say of which scores a threshold decides by where it happens to stand.

    ```python
    from haystack_eval_ext.diagnosis._spread import undecided

    print(undecided({"answer": [0.1, 0.2, 0.3, 0.4, 0.6, 1.0]}, {"answer": 0.5})[0].partition(":")[0])
    # 4 of 6 answer scores lie between 0.05 and 0.5, 1 from 0.5 to 0.95
    ```

    :param columns: By name the scores of the questions, or the status of one that is none.
    :param thresholds: By name the thresholds that were left at their default.
    :returns: A sentence for each of them with scores in the middle.
    """
    told = []
    for name, threshold in thresholds.items():
        scores = [entry for entry in columns.get(name, ()) if not isinstance(entry, str)]
        below = sum(_LOW < score < threshold for score in scores)
        above = sum(threshold <= score < _HIGH for score in scores)
        if not _LOW < threshold < _HIGH or below + above < max(_FEW, _SHARE * len(scores)):
            continue
        told.append(
            f"{below} of {len(scores)} {name} scores lie between {_LOW} and {threshold}, {above} from {threshold} to "
            f"{_HIGH}: choose a threshold. {name}_threshold was left at {threshold}, which decides in the middle of "
            f"these scores; look at the questions on both sides of it, or give {name} scores that are 0 or 1."
        )
    return told
