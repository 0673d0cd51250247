# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU time of contenders that take turns, so that a busy machine slows all of them alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def cpu_seconds(function: Callable[[], object]) -> float:
    """
    Call a function once.

    :param function: Takes nothing.
    :returns: Its CPU time, of all threads of this process.
    """
    start = time.process_time()
    function()
    return time.process_time() - start


def alternate(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """
    Let contenders take turns.

    :param contenders: Functions by name; what must not be timed (imports, models) was done before.
    :param repeats: Calls of each.
    :returns: The CPU times of each, in the order of the calls.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for repeat in range(repeats):
        # Who comes first changes, since the first may find colder caches.
        for name, function in list(contenders.items())[:: -1 if repeat % 2 else 1]:
            times[name].append(cpu_seconds(function))
    return times


def ratio(one: list[float], other: list[float]) -> float:
    """
    Compare times of contenders that took turns.

    :param one: Times of one.
    :param other: Times of the other, from the same turns.
    :returns: The median of the ratios of neighbouring calls; a machine that slows down in between shifts it little.
    """
    return statistics.median(a / b for a, b in zip(one, other, strict=True))
