# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Normalised discounted cumulative gain. Source: Järvelin and Kekäläinen, TOIS 20(4), 2002; trec_eval ndcg_cut."""

from typing import Literal

from haystack import Document, component

from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._rows import document_rows
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._judging import Duplicates, Matching
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval._ranking import discounted_gains
from haystack_eval_ext.retrieval.measures import Measure

_DCG = {"linear": "log2", "exponential": "exp-log2"}


@component
class DocumentNDCGEvaluator(RetrievalEvaluator):
    """
    Scores how much of the possible gain a ranking has, early ranks counting more. From 0 to 1, higher is better.

    The gain of a document is its grade, discounted by log2(rank + 1); the sum is divided by that of the best possible
    ranking, which is cut at ``top_k`` as well. Grades of 0 and below have no gain.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentNDCGEvaluator

    evaluator = DocumentNDCGEvaluator()
    result = evaluator.run(
        ground_truth_documents=[[Document(content="France", score=1.0), Document(content="Paris", score=0.5)]],
        retrieved_documents=[[Document(content="France"), Document(content="Germany"), Document(content="Paris")]],
    )
    print(round(result["score"], 4))
    # 0.9502
    ```
    """

    def __init__(
        self,
        document_comparison_field: str | list[str] = "content",
        *,
        top_k: int | None = None,
        gain: Literal["linear", "exponential"] = "linear",
        grade_field: str | None = "score",
        relevance_threshold: float | None = None,
        matching: Matching = "exact",
        overlap_threshold: float = 0.65,
        duplicates: Duplicates = "keep",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a DocumentNDCGEvaluator component.

        :param document_comparison_field: What must be equal in a retrieved and a ground-truth document: "content",
            "id", "meta.<key>", or a list of these.
        :param top_k: How many of the retrieved documents count, from the first; None: all. The ideal ranking is cut
            there as well.
        :param gain: "linear": the grade; "exponential": 2^grade - 1, the form of web search.
        :param grade_field: Where the grade of a ground-truth document stands: "score", "meta.<key>", or None: all
            alike.
        :param relevance_threshold: Not used by NDCG, which works on the grades themselves; there as in all evaluators.
        :param matching: When a retrieved document matches: "exact", "overlap" or "overlap_by_chunk".
        :param overlap_threshold: Share of a label's tokens that must be covered for "overlap".
        :param duplicates: What a later copy of a retrieved document does: "keep" or "drop".
        :param on_undefined: What a question without a grade above 0 counts as: "zero", "nan" or "raise".
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If `document_comparison_field` names no field by text.
        """
        check_choice("gain", gain, list(_DCG))
        self.gain = gain
        RetrievalEvaluator.__init__(
            self,
            document_comparison_field,
            top_k=top_k,
            relevance_threshold=relevance_threshold,
            grade_field=grade_field,
            matching=matching,
            overlap_threshold=overlap_threshold,
            duplicates=duplicates,
            on_undefined=on_undefined,
        )

    def calculate_dcg(self, gt_docs: list[Document], ret_docs: list[Document]) -> float:
        """
        Calculate the discounted cumulative gain of one question's ranking, as :meth:`run` does.

        :param gt_docs: The ground-truth documents.
        :param ret_docs: The retrieved documents, best first.
        :returns: The gain, not yet divided by that of the ideal ranking.
        :raises ValueError: If a grade is not finite, or no document of a side has the compared field.
        :raises TypeError: If something is not a Document, or a grade is not a number.
        """
        return self._gains(gt_docs, ret_docs)[0]

    def calculate_idcg(self, gt_docs: list[Document]) -> float:
        """
        Calculate the discounted cumulative gain of one question's ideal ranking, as :meth:`run` does.

        :param gt_docs: The ground-truth documents.
        :returns: The highest gain that a ranking can have; 0 without a grade above 0.
        :raises ValueError: If a grade is not finite.
        :raises TypeError: If something is not a Document, or a grade is not a number.
        """
        return self._gains(gt_docs, [])[1]

    @staticmethod
    def validate_inputs(gt_docs: list[list[Document]], ret_docs: list[list[Document]]) -> None:
        """
        Check the inputs of a run.

        :param gt_docs: The ground-truth documents of each question.
        :param ret_docs: The retrieved documents of each question.
        :raises ValueError: If there are no rows, or the inputs differ in length.
        """
        document_rows(ground_truth_documents=gt_docs, retrieved_documents=ret_docs)

    def _gains(self, gt_docs: list[Document], ret_docs: list[Document]) -> tuple[float, float]:
        self._follow()
        rows = document_rows(ground_truth_documents=[gt_docs], retrieved_documents=[ret_docs])
        gains = discounted_gains(self._rules().judged(rows), self.top_k, exponential=self.gain == "exponential")
        actual, ideal = (float(gain[0]) for gain in gains)
        return actual, ideal

    def _measure(self) -> Measure:
        return make_measure("nDCG", cutoff=self.top_k, dcg=_DCG[self.gain])
