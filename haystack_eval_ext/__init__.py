# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Evaluation components for Haystack pipelines, and what runs them over data: the one door of the package.

Components go into pipelines or are called alone. ``evaluate`` scores stored outputs, ``run_rag`` asks a RAG pipeline
first, ``compare`` and ``check`` tell whether a change helped, ``agree`` compares a judge with people.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._platform import check_haystack
from haystack_eval_ext._version import __version__

check_haystack()

from haystack.core.serialization import allow_deserialization_module  # noqa: E402 - an older Haystack lacks it

if TYPE_CHECKING:
    from haystack_eval_ext.answers.answer_bleu import AnswerBleuEvaluator
    from haystack_eval_ext.answers.answer_chrf import AnswerChrfEvaluator
    from haystack_eval_ext.answers.answer_contains import AnswerContainsEvaluator
    from haystack_eval_ext.answers.answer_edit_similarity import AnswerEditSimilarityEvaluator
    from haystack_eval_ext.answers.answer_embedding_similarity import AnswerEmbeddingSimilarityEvaluator
    from haystack_eval_ext.answers.answer_exact_match import AnswerExactMatchEvaluator
    from haystack_eval_ext.answers.answer_match import AnswerMatchEvaluator
    from haystack_eval_ext.answers.answer_number_match import AnswerNumberMatchEvaluator
    from haystack_eval_ext.answers.answer_rouge import AnswerRougeEvaluator
    from haystack_eval_ext.answers.answer_token_f1 import AnswerTokenF1Evaluator
    from haystack_eval_ext.answers.sas import SASEvaluator
    from haystack_eval_ext.diagnosis.rag_failure import RAGFailureClassifier
    from haystack_eval_ext.errors import (
        ComparisonError,
        DatasetError,
        EvaluationError,
        FailedRowsError,
        FileProblemsError,
        HarnessError,
        HaystackEvalError,
        InvalidTypeError,
        InvalidValueError,
        MappingError,
        MissingPackageError,
        OneByOneError,
        PipelineFileError,
        RunFileError,
        TargetError,
        TrecFileError,
        UndefinedScore,
        UnfedSocketError,
    )
    from haystack_eval_ext.judged._policy import JudgePolicy
    from haystack_eval_ext.judged.answer_correctness import AnswerCorrectnessEvaluator
    from haystack_eval_ext.judged.answer_relevancy import AnswerRelevancyEvaluator
    from haystack_eval_ext.judged.citation import CitationEvaluator
    from haystack_eval_ext.judged.context_precision import ContextPrecisionEvaluator
    from haystack_eval_ext.judged.context_recall import ContextRecallEvaluator
    from haystack_eval_ext.judged.context_relevance import ContextRelevanceEvaluator
    from haystack_eval_ext.judged.faithfulness import FaithfulnessEvaluator
    from haystack_eval_ext.judged.llm import LLMEvaluator
    from haystack_eval_ext.judged.nli_faithfulness import NLIFaithfulnessEvaluator
    from haystack_eval_ext.judged.pairwise import PairwiseEvaluator
    from haystack_eval_ext.judged.refusal import RefusalEvaluator
    from haystack_eval_ext.judged.rubric import RubricEvaluator
    from haystack_eval_ext.retrieval._names import parse_measure
    from haystack_eval_ext.retrieval.document_evidence import DocumentEvidenceEvaluator
    from haystack_eval_ext.retrieval.document_hit_rate import DocumentHitRateEvaluator
    from haystack_eval_ext.retrieval.document_map import DocumentMAPEvaluator
    from haystack_eval_ext.retrieval.document_mrr import DocumentMRREvaluator
    from haystack_eval_ext.retrieval.document_ndcg import DocumentNDCGEvaluator
    from haystack_eval_ext.retrieval.document_precision import DocumentPrecisionEvaluator
    from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
    from haystack_eval_ext.retrieval.document_recall import DocumentRecallEvaluator
    from haystack_eval_ext.runs._forecast import Forecast
    from haystack_eval_ext.runs._gate_outcome import GateResult
    from haystack_eval_ext.runs.api import agree, baseline, check, compare, evaluate, forecast, run_rag
    from haystack_eval_ext.runs.comparison import Comparison
    from haystack_eval_ext.runs.dataset import Dataset, read_dataset
    from haystack_eval_ext.runs.judging import JudgeSettings
    from haystack_eval_ext.runs.run import EvaluationRun, load_run
    from haystack_eval_ext.runs.trec_runs import evaluate_trec

# Haystack loads classes from YAML only out of packages that somebody trusts. Importing this package is that word, for
# this package alone.
allow_deserialization_module("haystack_eval_ext.*")

# A module is loaded when one of its names is first used, so that nobody waits for families that he does not use.
_MODULES = {
    "AnswerBleuEvaluator": "answers.answer_bleu",
    "AnswerChrfEvaluator": "answers.answer_chrf",
    "AnswerContainsEvaluator": "answers.answer_contains",
    "AnswerCorrectnessEvaluator": "judged.answer_correctness",
    "AnswerEditSimilarityEvaluator": "answers.answer_edit_similarity",
    "AnswerEmbeddingSimilarityEvaluator": "answers.answer_embedding_similarity",
    "AnswerExactMatchEvaluator": "answers.answer_exact_match",
    "AnswerMatchEvaluator": "answers.answer_match",
    "AnswerNumberMatchEvaluator": "answers.answer_number_match",
    "AnswerRelevancyEvaluator": "judged.answer_relevancy",
    "AnswerRougeEvaluator": "answers.answer_rouge",
    "AnswerTokenF1Evaluator": "answers.answer_token_f1",
    "CitationEvaluator": "judged.citation",
    "Comparison": "runs.comparison",
    "ComparisonError": "errors",
    "ContextPrecisionEvaluator": "judged.context_precision",
    "ContextRecallEvaluator": "judged.context_recall",
    "ContextRelevanceEvaluator": "judged.context_relevance",
    "Dataset": "runs.dataset",
    "DatasetError": "errors",
    "DocumentEvidenceEvaluator": "retrieval.document_evidence",
    "DocumentHitRateEvaluator": "retrieval.document_hit_rate",
    "DocumentMAPEvaluator": "retrieval.document_map",
    "DocumentMRREvaluator": "retrieval.document_mrr",
    "DocumentNDCGEvaluator": "retrieval.document_ndcg",
    "DocumentPrecisionEvaluator": "retrieval.document_precision",
    "DocumentRankingEvaluator": "retrieval.document_ranking",
    "DocumentRecallEvaluator": "retrieval.document_recall",
    "EvaluationError": "errors",
    "EvaluationRun": "runs.run",
    "FailedRowsError": "errors",
    "FaithfulnessEvaluator": "judged.faithfulness",
    "FileProblemsError": "errors",
    "Forecast": "runs._forecast",
    "GateResult": "runs._gate_outcome",
    "HarnessError": "errors",
    "HaystackEvalError": "errors",
    "InvalidTypeError": "errors",
    "InvalidValueError": "errors",
    "JudgePolicy": "judged._policy",
    "JudgeSettings": "runs.judging",
    "LLMEvaluator": "judged.llm",
    "MappingError": "errors",
    "MissingPackageError": "errors",
    "NLIFaithfulnessEvaluator": "judged.nli_faithfulness",
    "OneByOneError": "errors",
    "PairwiseEvaluator": "judged.pairwise",
    "PipelineFileError": "errors",
    "RAGFailureClassifier": "diagnosis.rag_failure",
    "RefusalEvaluator": "judged.refusal",
    "RubricEvaluator": "judged.rubric",
    "RunFileError": "errors",
    "SASEvaluator": "answers.sas",
    "TargetError": "errors",
    "TrecFileError": "errors",
    "UndefinedScore": "errors",
    "UnfedSocketError": "errors",
    "agree": "runs.api",
    "baseline": "runs.api",
    "check": "runs.api",
    "compare": "runs.api",
    "evaluate": "runs.api",
    "evaluate_trec": "runs.trec_runs",
    "forecast": "runs.api",
    "load_run": "runs.run",
    "parse_measure": "retrieval._names",
    "read_dataset": "runs.dataset",
    "run_rag": "runs.api",
}

__all__ = [
    "AnswerBleuEvaluator",
    "AnswerChrfEvaluator",
    "AnswerContainsEvaluator",
    "AnswerCorrectnessEvaluator",
    "AnswerEditSimilarityEvaluator",
    "AnswerEmbeddingSimilarityEvaluator",
    "AnswerExactMatchEvaluator",
    "AnswerMatchEvaluator",
    "AnswerNumberMatchEvaluator",
    "AnswerRelevancyEvaluator",
    "AnswerRougeEvaluator",
    "AnswerTokenF1Evaluator",
    "CitationEvaluator",
    "Comparison",
    "ComparisonError",
    "ContextPrecisionEvaluator",
    "ContextRecallEvaluator",
    "ContextRelevanceEvaluator",
    "Dataset",
    "DatasetError",
    "DocumentEvidenceEvaluator",
    "DocumentHitRateEvaluator",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentPrecisionEvaluator",
    "DocumentRankingEvaluator",
    "DocumentRecallEvaluator",
    "EvaluationError",
    "EvaluationRun",
    "FailedRowsError",
    "FaithfulnessEvaluator",
    "FileProblemsError",
    "Forecast",
    "GateResult",
    "HarnessError",
    "HaystackEvalError",
    "InvalidTypeError",
    "InvalidValueError",
    "JudgePolicy",
    "JudgeSettings",
    "LLMEvaluator",
    "MappingError",
    "MissingPackageError",
    "NLIFaithfulnessEvaluator",
    "OneByOneError",
    "PairwiseEvaluator",
    "PipelineFileError",
    "RAGFailureClassifier",
    "RefusalEvaluator",
    "RubricEvaluator",
    "RunFileError",
    "SASEvaluator",
    "TargetError",
    "TrecFileError",
    "UndefinedScore",
    "UnfedSocketError",
    "__version__",
    "agree",
    "baseline",
    "check",
    "compare",
    "evaluate",
    "evaluate_trec",
    "forecast",
    "load_run",
    "parse_measure",
    "read_dataset",
    "run_rag",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
