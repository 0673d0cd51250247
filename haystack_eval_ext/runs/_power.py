# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""What a question set can show: the smallest difference, and the questions that a margin takes (Miller 2024)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from haystack_eval_ext.runs._spread import check_confidence, normal_quantile

if TYPE_CHECKING:
    from haystack_eval_ext.runs._differences import Difference


def minimal_detectable_difference(standard_error: float, *, confidence: float = 0.95, power: float = 0.8) -> float:
    """
    Give the smallest true difference that would most likely be seen: `(z_{α/2} + z_β) · SE`.

    ```python
    from haystack_eval_ext.runs.statistics import minimal_detectable_difference

    print(round(minimal_detectable_difference((1 / 9 / 969) ** 0.5), 4))
    # 0.03
    ```

    :param standard_error: Standard error of the difference, clusters included.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see such a difference.
    :returns: The difference.
    :raises ValueError: If a parameter is out of its range.
    """
    if not standard_error >= 0:
        msg = f"standard_error must be at least 0, but is {standard_error!r}."
        raise ValueError(msg)
    return (_two_sided(confidence) + _one_sided(power)) * standard_error


def rows_needed(
    row_variance: float,
    difference: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    null_variance: float | None = None,
) -> int | None:
    """
    Give the number of questions at which a true difference is most likely seen: `(z_{α/2} + z_β)² · Var / δ²`.

    ```python
    from haystack_eval_ext.runs.statistics import rows_needed

    print(rows_needed(1 / 9, 0.03))
    # 969
    ```

    :param row_variance: Variance of one row's difference; with clusters n · SE², which includes the design effect, and
        the rows are those of clusters as large as now.
    :param difference: The difference that should be seen.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see it.
    :param null_variance: The variance where there is no difference, if that is another one, as with shares:
        `((z_{α/2} √null + z_β √Var) / δ)²`.
    :returns: The number of rows; None if the difference is 0, or there is no variance to plan with.
    :raises ValueError: If a parameter is out of its range.
    """
    quantiles = _two_sided(confidence), _one_sided(power)
    null = row_variance if null_variance is None else null_variance
    if not (row_variance >= 0 and null >= 0):
        msg = f"row_variance and null_variance must be at least 0, but are {row_variance!r} and {null!r}."
        raise ValueError(msg)
    if difference == 0 or row_variance == null == 0:
        return None
    root = (quantiles[0] * math.sqrt(null) + quantiles[1] * math.sqrt(row_variance)) / difference
    rows = root * root  # a power of floats raises where it overflows
    return math.ceil(rows) if math.isfinite(rows) else None


def rows_to_decide(
    difference: Difference, margin: float, *, confidence: float = 0.95, power: float = 0.9
) -> int | None:
    """
    Give the number of questions at which a gate decides: no change passes, and a drop of twice the margin fails.

    Either lies one margin from the limit, so it is `(z_{α/2} + z_β)² · Var / margin²`. Var is the larger of the two:
    a drop may leave most rows alone and break a few. A drop of 2 m in changes of size s adds `2 m s - (2 m)²`; s is the
    largest that the scores allow.

    :param difference: A difference that was measured.
    :param margin: The drop that matters.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to decide.
    :returns: The number of rows; None if the margin is 0, or there is no variance to plan with.
    :raises ValueError: If a parameter is out of its range.
    """
    if difference.row_variance is None:
        return None
    # Where no score changed, the interval allows for changes, but none are to be planned with.
    now = 0.0 if difference.ties == difference.rows else difference.row_variance
    drop = 2 * margin
    more = max(drop * ((difference.largest_change or 0.0) - drop), 0.0) * (difference.design_effect or 1.0)
    return rows_needed(now + more, margin, confidence=confidence, power=power)


def _two_sided(confidence: float) -> float:
    check_confidence(confidence)
    return normal_quantile(confidence)


def _one_sided(power: float) -> float:
    if not 0.5 <= power < 1:  # noqa: PLR2004 - below one half a coin is better
        msg = f"power must be at least 0.5 and less than 1, such as 0.8, but is {power!r}."
        raise ValueError(msg)
    return normal_quantile(2 * power - 1)
