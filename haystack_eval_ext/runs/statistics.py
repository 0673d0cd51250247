# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0

"""
Means and differences of scores with honest intervals: numbers in, numbers out, None where there is none.

| case | interval | source |
|---|---|---|
| mean of 0/1 scores | Wilson | Wilson 1927; Bowyer et al. 2025, arXiv:2503.01747 |
| mean of scores between two ends, or of clusters of such | Wilson, effective rows | Dean and Pagano 2015 |
| | or Bonett-Price with a row at either end | as below |
| mean of other scores | t | Student; clusters: Miller 2024, arXiv:2411.00640 |
| paired difference | t | the same |
| paired difference of 0/1 scores | Bonett-Price | Bonett and Price 2012 |
| either, if most rows have the same value or change | Bonett-Price around it | the same |
| either, if all rows have it, other than 0 or 1 or no change | Clopper-Pearson | Clopper and Pearson 1934 |
| difference of unpaired means | square-and-add of the two intervals | Newcombe 1998; Zou and Donner 2008 |
| | or that of a studentised permutation test (not for 0/1 scores) | Janssen 1997; Chung and Romano 2013 |

A t interval on few or skewed scores is too narrow: it covers 79 % at n = 30 and a share of 0.95, and has no width where
no row failed. "Effective rows" are as many as 0/1 scores would need for the same standard error; their quantile is t's.

Nor do scores that lie close together tell how many rows lose everything: one in thirty may not be among 40. For a mean
of other than 0/1 scores between two ends (0 and 1 where all lie between them, or a declared range) two more rows are
added, one at either end, and each limit is the farther one of the two intervals; it still bears Wilson's name.

Nor does the spread of a few rows that differ tell how many could have: where most rows (three quarters or more) have
the same value in between, or change by the same or not at all, two more rows are added, one above and one below, as far
from it as the farthest seen. Where all rows have it, another value may still have a share of `1 - (alpha / 2)^(1/n)`.
How far it could lie: for scores between two ends that far; for others, whose range nobody knows, as far as the value's
own negative, so that a change by the same in all rows is one where the test of signs says so (from 6 rows on at 95 %);
and where no row changed, as far as the largest score.

Clusters (questions from one document) take the place of rows: their number less one are the degrees of freedom of t,
and one cluster gives no interval. A paired change takes the wider of that and CR2 with Satterthwaite's degrees of
freedom (Bell and McCaffrey 2002; Pustejovsky and Tipton 2018), for clusters of unequal sizes.
"""

from haystack_eval_ext.runs._agreement import Agreement, ClassRates, RankAgreement, agreement, rank_agreement
from haystack_eval_ext.runs._differences import Difference, paired_difference
from haystack_eval_ext.runs._gate_power import rows_to_decide
from haystack_eval_ext.runs._means import MeanEstimate, mean_interval, wilson_interval
from haystack_eval_ext.runs._power import minimal_detectable_difference, rows_needed
from haystack_eval_ext.runs._raters import RaterAgreement, RaterPair, krippendorff_alpha, rater_agreement
from haystack_eval_ext.runs._significance import holm
from haystack_eval_ext.runs._spread import Interval
from haystack_eval_ext.runs._thresholds import ThresholdSweep, sweep_thresholds
from haystack_eval_ext.runs._unpaired import unpaired_difference

__all__ = [
    "Agreement",
    "ClassRates",
    "Difference",
    "Interval",
    "MeanEstimate",
    "RankAgreement",
    "RaterAgreement",
    "RaterPair",
    "ThresholdSweep",
    "agreement",
    "holm",
    "krippendorff_alpha",
    "mean_interval",
    "minimal_detectable_difference",
    "paired_difference",
    "rank_agreement",
    "rater_agreement",
    "rows_needed",
    "rows_to_decide",
    "sweep_thresholds",
    "unpaired_difference",
    "wilson_interval",
]
