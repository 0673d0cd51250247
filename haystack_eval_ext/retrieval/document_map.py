# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Mean average precision. Source: Harman, TREC-1, 1992; trec_eval map and map_cut."""

from haystack import component

from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval.measures import Measure


@component
class DocumentMAPEvaluator(RetrievalEvaluator):
    """
    Scores how early all relevant documents stand. From 0 to 1, higher is better.

    The average precision of a question is the sum of the precision at the rank of each relevant document, divided by
    the number of all relevant documents, also at a cut-off: those that were not retrieved count as 0.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentMAPEvaluator

    evaluator = DocumentMAPEvaluator()
    result = evaluator.run(
        ground_truth_documents=[[Document(content="France")], [Document(content="9th century"),
        Document(content="9th")]], retrieved_documents=[
            [Document(content="France")],
            [Document(content="9th century"), Document(content="10th century"), Document(content="9th")],
        ],
    )
    print([round(score, 4) for score in result["individual_scores"]])
    # [1.0, 0.8333]
    ```
    """

    def _measure(self) -> Measure:
        return make_measure("AP", cutoff=self.top_k)
