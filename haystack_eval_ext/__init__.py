# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation components for Haystack pipelines."""

from haystack.core.serialization import allow_deserialization_module

from haystack_eval_ext._scores import FailedRowsError, UndefinedScore
from haystack_eval_ext._version import __version__
from haystack_eval_ext.answers.answer_bleu import AnswerBleuEvaluator
from haystack_eval_ext.answers.answer_chrf import AnswerChrfEvaluator
from haystack_eval_ext.answers.answer_contains import AnswerContainsEvaluator
from haystack_eval_ext.answers.answer_edit_similarity import AnswerEditSimilarityEvaluator
from haystack_eval_ext.answers.answer_embedding_similarity import AnswerEmbeddingSimilarityEvaluator
from haystack_eval_ext.answers.answer_exact_match import AnswerExactMatchEvaluator
from haystack_eval_ext.answers.answer_number_match import AnswerNumberMatchEvaluator
from haystack_eval_ext.answers.answer_rouge import AnswerRougeEvaluator
from haystack_eval_ext.answers.answer_token_f1 import AnswerTokenF1Evaluator
from haystack_eval_ext.answers.sas import SASEvaluator
from haystack_eval_ext.diagnosis.rag_failure import RAGFailureClassifier
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
    "AnswerBleuEvaluator",
    "AnswerChrfEvaluator",
    "AnswerContainsEvaluator",
    "AnswerEditSimilarityEvaluator",
    "AnswerEmbeddingSimilarityEvaluator",
    "AnswerExactMatchEvaluator",
    "AnswerNumberMatchEvaluator",
    "AnswerRougeEvaluator",
    "AnswerTokenF1Evaluator",
    "DocumentHitRateEvaluator",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentPrecisionEvaluator",
    "DocumentRankingEvaluator",
    "DocumentRecallEvaluator",
    "FailedRowsError",
    "RAGFailureClassifier",
    "SASEvaluator",
    "UndefinedScore",
    "__version__",
]
