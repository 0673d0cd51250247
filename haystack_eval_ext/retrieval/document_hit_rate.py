# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Hit rate, also called success. Source: trec_eval success."""

from haystack import component

from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval.measures import Measure


@component
class DocumentHitRateEvaluator(RetrievalEvaluator):
    """
    Scores whether any relevant document was retrieved: 1 or 0. The mean is from 0 to 1, higher is better.

    Reading stops at the first relevant document of each question.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentHitRateEvaluator

    evaluator = DocumentHitRateEvaluator(top_k=1)
    result = evaluator.run(
        ground_truth_documents=[[Document(content="France")], [Document(content="9th century")]],
        retrieved_documents=[
            [Document(content="France")],
            [Document(content="10th century"), Document(content="9th century")],
        ],
    )
    print(result["individual_scores"], result["score"])
    # [1.0, 0.0] 0.5
    ```
    """

    def _measure(self) -> Measure:
        return make_measure("Success", cutoff=self.top_k)
