# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Many measures and cut-offs in one pass. Source: that of each measure, as ``haystack-eval metrics`` lists them."""

from typing import Any

from haystack import component

from haystack_eval_ext._parameters import PlainParameters
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._serialization import parameters_to_dict
from haystack_eval_ext.retrieval._base import DocumentRows, RetrievalEvaluation
from haystack_eval_ext.retrieval._judging import Duplicates, Matching
from haystack_eval_ext.retrieval._names import parse_measures


@component
class DocumentRankingEvaluator(PlainParameters):
    """
    Scores rankings by any number of measures and cut-offs in one pass. Each is from 0 to 1, higher is better.

    Measures are named as ir_measures names them: P, R, F1, Success, RR, AP, nDCG, Judged, ERR and RBP, with or
    without a cut-off (``nDCG@10``), R_cap with one, Rprec, Bpref, SetP, SetR and SetF without. Parameters stand in
    parentheses: ``nDCG(dcg='exp-log2')@10``, ``RBP(p=0.9)``, ``P(rel=2)@5``, ``AP(judged_only=True)``. A cut-off by
    text budget is written ``R@500w``: documents count while the sum of their words stays within 500, so that
    splitters with different chunk sizes can be compared.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentRankingEvaluator

    evaluator = DocumentRankingEvaluator(["nDCG@3", "R@2", "RR"], document_comparison_field="id")
    result = evaluator.run(
        ground_truth_documents=[[Document(id="a", score=2), Document(id="b", score=1)]],
        retrieved_documents=[[Document(id="c"), Document(id="a"), Document(id="b")]],
    )
    print({measure: round(score, 4) for measure, score in result["scores"].items()})
    # {'nDCG@3': 0.6697, 'R@2': 0.5, 'RR': 0.5}
    ```
    """

    def __init__(
        self,
        measures: list[str],
        document_comparison_field: str | list[str] = "content",
        *,
        relevance_threshold: float | None = None,
        grade_field: str | None = "score",
        matching: Matching = "exact",
        overlap_threshold: float = 0.65,
        duplicates: Duplicates = "keep",
        on_undefined: OnUndefined = "zero",
        find_never_retrieved: bool | None = None,
    ) -> None:
        """
        Create a DocumentRankingEvaluator component.

        :param measures: Names of the measures, at least one; the first is the component's own ``score``.
        :param document_comparison_field: What must be equal in a retrieved and a ground-truth document: "content",
            "id", "meta.<key>", or a list of these.
        :param relevance_threshold: Lowest grade that counts as relevant for the measures that do not use the grades
            themselves; None: every grade above 0. A measure's own ``rel`` goes before it.
        :param grade_field: Where the grade of a ground-truth document stands: "score", "meta.<key>", or None: all
            alike.
        :param matching: When a retrieved document matches: "exact", "overlap", or "span" (P, R, F1, Success, RR, SetP,
            SetR and SetF only).
        :param overlap_threshold: Share of a label's tokens that must be covered for "overlap".
        :param duplicates: What a later copy of a retrieved document does: "keep", "drop", or "each" (P, Success, RR and
            Judged only).
        :param on_undefined: What a question without relevant documents counts as: "zero", "nan" or "raise".
        :param find_never_retrieved: Whether to look for relevant documents that no ranking of the batch contains, for
            any question, as labels do that were written for another index; with ``matching="exact"``. It costs a second
            look at each retrieved document. None: with several questions and up to 20,000 retrieved documents.
        :raises ValueError: If a parameter has no such value, or a measure is unknown; near names are listed.
        :raises TypeError: If `measures` or `document_comparison_field` does not hold text.
        """
        self.measures = measures
        self.document_comparison_field = document_comparison_field
        self.relevance_threshold = relevance_threshold
        self.grade_field = grade_field
        self.matching = matching
        self.overlap_threshold = overlap_threshold
        self.duplicates = duplicates
        self.on_undefined = on_undefined
        self.find_never_retrieved = find_never_retrieved
        self._rules()

    @property
    def _rule_version(self) -> int:
        """Since 2 the chunks that overlap a label cover it together."""
        return 2 if self.matching == "overlap" else 1

    def _rules(self) -> RetrievalEvaluation:
        """The parameters as they are now."""
        return RetrievalEvaluation.of(self, parse_measures(self.measures))

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component.

        :returns: Haystack's dictionary form.
        """
        return parameters_to_dict(self)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        scores=dict[str, float],
        scores_by_row=dict[str, list[float]],
        results=dict[str, dict[str, Any]],
        never_retrieved=list[Any] | None,
        warnings=list[str],
    )
    def run(self, ground_truth_documents: DocumentRows, retrieved_documents: DocumentRows) -> dict[str, Any]:
        """
        Score the retrieved documents of each question.

        :param ground_truth_documents: The relevant documents of each question, with their grades; a flat list is one
            question. Dicts in the JSON form of a Document are taken as well.
        :param retrieved_documents: The retrieved documents of each question, best first, in the same form.
        :returns: A dictionary with
            - `score`, `individual_scores`, `statuses`: those of the first measure;
            - `errors`: why a question has no score of its own by the first measure, else None;
            - `scores`: the mean of each measure;
            - `scores_by_row`: the individual scores of each measure;
            - `results`: score, individual scores, statuses and errors of each measure, as `EvaluationRunResult` takes
              them;
            - `never_retrieved`: the compared fields of the relevant documents that no ranking of the batch contains;
              None if they were not looked for;
            - `warnings`: what to know of the whole batch: labels that cannot match, or that no ranking contains.
        :raises ValueError: If there are no rows, the inputs differ in length, a grade is not finite, or no document
            of a side has the compared field.
        :raises TypeError: If something is not a Document, or a grade is not a number; the message names input and row.
        :raises UndefinedScore: If a question has no relevant documents and ``on_undefined`` is "raise".
        """
        scores, missing, warnings = self._rules().run(
            ground_truth_documents, retrieved_documents, find_never_retrieved=self.find_never_retrieved
        )
        results = {measure: rows._asdict() for measure, rows in scores.items()}
        return {
            **next(iter(results.values())),
            "scores": {measure: rows.score for measure, rows in scores.items()},
            "scores_by_row": {measure: rows.individual_scores for measure, rows in scores.items()},
            "results": results,
            "never_retrieved": missing,
            "warnings": warnings,
        }
