# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation components for Haystack pipelines."""

from haystack.core.serialization import allow_deserialization_module

from haystack_eval_ext._scores import UndefinedScore
from haystack_eval_ext._version import __version__
from haystack_eval_ext.retrieval.document_hit_rate import DocumentHitRateEvaluator
from haystack_eval_ext.retrieval.document_map import DocumentMAPEvaluator
from haystack_eval_ext.retrieval.document_mrr import DocumentMRREvaluator
from haystack_eval_ext.retrieval.document_ndcg import DocumentNDCGEvaluator
from haystack_eval_ext.retrieval.document_precision import DocumentPrecisionEvaluator
from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
from haystack_eval_ext.retrieval.document_recall import DocumentRecallEvaluator

# Haystack loads classes from YAML only out of packages that somebody trusts. Importing this package is that word, for
# this package alone.
allow_deserialization_module("haystack_eval_ext.*")

__all__ = [
    "DocumentHitRateEvaluator",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentPrecisionEvaluator",
    "DocumentRankingEvaluator",
    "DocumentRecallEvaluator",
    "UndefinedScore",
    "__version__",
]
