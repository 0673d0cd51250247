# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Precision. Source: van Rijsbergen, Information Retrieval, 1979; trec_eval P."""

from haystack import component

from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval.measures import Measure


@component
class DocumentPrecisionEvaluator(RetrievalEvaluator):
    """
    Scores the share of the retrieved documents that are relevant. From 0 to 1, higher is better.

    With ``top_k`` the relevant documents among the first k are divided by k, even if fewer came back; without, by the
    number of documents retrieved. A question for which nothing was retrieved scores 0.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentPrecisionEvaluator

    evaluator = DocumentPrecisionEvaluator(top_k=2)
    result = evaluator.run(
        ground_truth_documents=[[Document(content="9th century"), Document(content="9th")]],
        retrieved_documents=[[Document(content="9th century"), Document(content="10th century"),
        Document(content="9th")]],
    )
    print(result["individual_scores"])
    # [0.5]
    ```
    """

    def _measure(self) -> Measure:
        return make_measure("P", cutoff=self.top_k)
