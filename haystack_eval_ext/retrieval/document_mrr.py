# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Mean reciprocal rank. Source: Kantor and Voorhees, TREC-5, 1996; trec_eval recip_rank."""

from haystack import component

from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval.measures import Measure


@component
class DocumentMRREvaluator(RetrievalEvaluator):
    """
    Scores how early the first relevant document stands: 1 / its rank. From 0 to 1, higher is better.

    A question for which no relevant document was retrieved scores 0.

    Reading stops at the first relevant document of each question.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentMRREvaluator

    evaluator = DocumentMRREvaluator()
    result = evaluator.run(
        ground_truth_documents=[[Document(content="France")], [Document(content="9th century"),
        Document(content="9th")]], retrieved_documents=[
            [Document(content="France")],
            [Document(content="10th century"), Document(content="9th century"), Document(content="9th")],
        ],
    )
    print(result["individual_scores"], result["score"])
    # [1.0, 0.5] 0.75
    ```
    """

    def _measure(self) -> Measure:
        return make_measure("RR", cutoff=self.top_k)
