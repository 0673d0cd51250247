# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
Means and differences of scores with honest intervals: numbers in, numbers out, None where there is none.

| case | interval | source |
|---|---|---|
| mean of 0/1 scores | Wilson | Wilson 1927; Bowyer et al. 2025, arXiv:2503.01747 |
| mean of scores from 0 to 1, or of clusters of such | Wilson, effective rows | Dean and Pagano 2015 |
| mean of other scores | t | Student; clusters: Miller 2024, arXiv:2411.00640 |
| paired difference | t | the same |
| paired difference of 0/1 scores, or where most rows tie | Bonett-Price | Bonett and Price 2012 |
| difference of unpaired means | square-and-add of the two intervals | Newcombe 1998; Zou and Donner 2008 |

A t interval on few or skewed scores is too narrow: it covers 79 % at n = 30 and a share of 0.95, and has no width where
no row failed. "Effective rows" are as many as 0/1 scores would need for the same standard error; their quantile is t's.
"Most rows tie" is half of them or more. Clusters (questions from one document) take the place of rows: their number
less one are the degrees of freedom of t, and one cluster gives no interval.
"""

from haystack_eval_ext.runs._agreement import Agreement, agreement
from haystack_eval_ext.runs._differences import Difference, paired_difference, unpaired_difference
from haystack_eval_ext.runs._means import MeanEstimate, mean_interval, wilson_interval
from haystack_eval_ext.runs._power import minimal_detectable_difference, rows_needed, rows_to_decide
from haystack_eval_ext.runs._significance import holm
from haystack_eval_ext.runs._spread import Interval

__all__ = [
    "Agreement",
    "Difference",
    "Interval",
    "MeanEstimate",
    "agreement",
    "holm",
    "mean_interval",
    "minimal_detectable_difference",
    "paired_difference",
    "rows_needed",
    "rows_to_decide",
    "unpaired_difference",
    "wilson_interval",
]
