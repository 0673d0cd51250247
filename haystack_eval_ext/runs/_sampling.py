# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A seeded sample of rows, the same whatever their order in the file, if wished with the share of each group kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import EvaluationError, parameter
from haystack_eval_ext.runs._columns import column_name
from haystack_eval_ext.runs._fingerprints import canonical, text_hash
from haystack_eval_ext.runs._names import nearest

if TYPE_CHECKING:
    from haystack_eval_ext.runs.dataset import Dataset


def sample_rows(dataset: Dataset, size: int | None, seed: int, stratify: str | None) -> list[dict[str, Any]]:
    """
    Choose rows.

    :param dataset: The data.
    :param size: How many; None: all.
    :param seed: Another seed gives another sample.
    :param stratify: A column, or "tag" for tags: each of its values keeps its share, rounded by largest remainders.
        A row's tags count together, as one value.
    :returns: The rows, in their order.
    :raises EvaluationError: If there are not so many rows, or no such column.
    """
    if stratify is not None and size is None:
        msg = f"{parameter('stratify')} goes with {parameter('sample')}: say how many rows."
        raise EvaluationError(msg)
    if size is None:
        return dataset.rows
    if size > len(dataset):
        msg = f"{parameter('sample')} must be at most the number of rows, {len(dataset)}, but is {size}."
        raise EvaluationError(msg)
    groups: dict[str, list[str]] = defaultdict(list)
    column = "" if stratify is None else "tags" if stratify == "tag" else column_name(stratify)
    if column and not dataset.has(column):
        known = dict.fromkeys(key for row in dataset.rows for key in row)
        msg = f"{parameter('stratify')}: the data has no column {stratify!r}{nearest(stratify or '', known)}"
        raise EvaluationError(msg)
    for row in dataset.rows:
        value = row.get(column)
        groups[canonical(sorted(set(map(str, value))) if isinstance(value, list) else value)].append(row["id"])
    chosen: set[str] = set()
    for group, count in _shares({group: len(ids) for group, ids in groups.items()}, size, seed).items():
        chosen.update(sorted(groups[group], key=lambda key: text_hash(f"{seed}:{key}"))[:count])
    return [row for row in dataset.rows if row["id"] in chosen]


def _shares(sizes: dict[str, int], total: int, seed: int) -> dict[str, int]:
    """Hamilton's method: the whole part of each share, then one more by remainder, ties by the seed."""
    rows = sum(sizes.values())
    shares = {group: total * count // rows for group, count in sizes.items()}
    order = sorted(sizes, key=lambda group: (-(total * sizes[group] % rows), text_hash(f"{seed}:{group}")))
    for group in order[: total - sum(shares.values())]:
        shares[group] += 1
    return shares
