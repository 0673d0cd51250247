# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Evidence: recall of the labels that a question needs together. Source: recall (van Rijsbergen, 1979) of the best of
several sets, as sufficient evidence is scored for fact checking (Thorne et al., FEVER, NAACL 2018).
"""

import math
from dataclasses import replace
from typing import Any

from haystack import Document, component, logging

from haystack_eval_ext._rows import contexts as context_rows
from haystack_eval_ext._rows import document_rows, equally_many, with_checked_documents
from haystack_eval_ext._scores import OnUndefined, RowScores, in_a_run, mean_of_numbers
from haystack_eval_ext.retrieval._base import DocumentRows, RetrievalEvaluator
from haystack_eval_ext.retrieval._judging import Matching
from haystack_eval_ext.retrieval._keys import grade_getter
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval._needs import ALL, Need, alternatives, need_rows, passed_on
from haystack_eval_ext.retrieval._ranking import reaches
from haystack_eval_ext.retrieval.measures import Measure, evaluate

logger = logging.getLogger(__name__)

#: Per question "all", "any", or groups of places of its labels, from 0.
Needs = list[str | list[list[int]]] | list[str] | list[list[list[int]]]
Contexts = list[list[str]] | list[list[Document]] | list[Document]


@component
class DocumentEvidenceEvaluator(RetrievalEvaluator):
    """
    Scores whether the evidence that a question needs was retrieved. From 0 to 1, higher is better.

    `needs` says what that is, for each question: "all" of its relevant documents (then the score is recall), "any" of
    them (then it is a hit rate), or one of several groups, each as a whole: [[0, 1], [2]] is the first and the second
    label together, or the third. The score is the recall of the group of which the largest share was retrieved; 1 means
    that one group is complete, 0 that nothing needed was found.

    With `contexts`, the texts that the generator got, `reached_scores` say the same of the documents among them. Both
    go into RAGFailureClassifier, as retrieval and as retrieval at the cut.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentEvidenceEvaluator

    evaluator = DocumentEvidenceEvaluator(document_comparison_field="id")
    labels = [Document(id="a"), Document(id="b"), Document(id="c")]
    result = evaluator.run(
        ground_truth_documents=[labels, labels, labels],
        retrieved_documents=[[Document(id="x"), Document(id="a")]] * 3,
        needs=["all", "any", [[0, 1], [2]]],
    )
    print([round(score, 3) for score in result["individual_scores"]])
    # [0.333, 1.0, 0.5]
    ```
    """

    def __init__(
        self,
        document_comparison_field: str | list[str] = "content",
        *,
        top_k: int | None = None,
        relevance_threshold: float | None = None,
        grade_field: str | None = "score",
        matching: Matching = "exact",
        overlap_threshold: float = 0.65,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a DocumentEvidenceEvaluator component.

        :param document_comparison_field: What must be equal in a retrieved and a ground-truth document: "content",
            "id", "meta.<key>", or a list of these.
        :param top_k: How many of the retrieved documents count, from the first; None: all.
        :param relevance_threshold: Lowest grade that counts as relevant; None: every grade above 0. What is not
            relevant is not needed, whatever `needs` says.
        :param grade_field: Where the grade of a ground-truth document stands: "score", "meta.<key>", or None: all
            alike.
        :param matching: When a retrieved document matches: "exact", "overlap" or "span".
        :param overlap_threshold: Share of a label's tokens that must be covered for "overlap".
        :param on_undefined: What a question without relevant documents counts as: "zero", "nan" or "raise".
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If `document_comparison_field` names no field by text.
        """
        RetrievalEvaluator.__init__(
            self,
            document_comparison_field,
            top_k=top_k,
            relevance_threshold=relevance_threshold,
            grade_field=grade_field,
            matching=matching,
            overlap_threshold=overlap_threshold,
            on_undefined=on_undefined,
        )

    def _measure(self) -> Measure:
        return make_measure("R", cutoff=self.top_k)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        warnings=list[str],
        reached_scores=list[float],
        reached_statuses=list[str],
    )
    def run(
        self,
        ground_truth_documents: DocumentRows,
        retrieved_documents: DocumentRows,
        needs: Needs | None = None,
        contexts: Contexts | None = None,
    ) -> dict[str, Any]:
        """
        Score the evidence of each question.

        :param ground_truth_documents: The relevant documents of each question, with their grades; a flat list is one
            question. Dicts in the JSON form of a Document are taken as well.
        :param retrieved_documents: The retrieved documents of each question, best first, in the same form.
        :param needs: What each question needs: "all", "any", or groups of places in its ground-truth documents, from 0;
            None: all.
        :param contexts: The texts, or Documents, that the generator got for each question; None: what was retrieved.
            A document is among them if its text is in one of them, or holds one.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored" or "undefined" for each question;
            - `errors`: why a question has no score of its own, else None;
            - `warnings`: what to know of the whole batch: labels that cannot match, contexts that hold no document;
            - `reached_scores`, `reached_statuses`: the same of the documents that reached the generator.
        :raises ValueError: If there are no rows, the inputs differ in length, a grade is not finite, no document of a
            side has the compared field, or a need has no such form.
        :raises TypeError: If something is not a Document, or a grade is not a number; the message names input and row.
        :raises UndefinedScore: If a question has no relevant documents and ``on_undefined`` is "raise".
        """
        self._follow()
        rows = document_rows(ground_truth_documents=ground_truth_documents, retrieved_documents=retrieved_documents)
        needed = need_rows(needs, [len(row) for row in rows["ground_truth_documents"]])
        given = None if contexts is None else context_rows("contexts", contexts)
        found = self._rules().run(*rows.values(), find_never_retrieved=False)
        (scores,) = found.scores.values()
        values, reached, untold = with_checked_documents(
            lambda truths, retrieved: self._evidence(truths, retrieved, scores, needed, given), rows
        )
        for told in untold if not in_a_run() else ():
            logger.warning("DocumentEvidenceEvaluator: {told}", told=told)
        return {
            **scores._replace(score=mean_of_numbers(values), individual_scores=values)._asdict(),
            "warnings": [*found.warnings, *untold],
            "reached_scores": reached,
            "reached_statuses": list(scores.statuses),
        }

    def _evidence(
        self,
        truths: list[list[Document]],
        retrieved: list[list[Document]],
        scores: RowScores,
        needed: list[Need],
        contexts: list[list[str]] | None,
    ) -> tuple[list[float], list[float], list[str]]:
        """From recall to the evidence retrieved, that which reached the generator, and what is not known."""
        near = [documents[: self.top_k] for documents in retrieved]
        scored = [row for row, status in enumerate(scores.statuses) if status == "scored"]
        values = self._with_best(
            scores.individual_scores, truths, near, needed, [r for r in scored if needed[r] != ALL]
        )
        passed, untold = _passed(near, contexts)
        fewer = [row for row in scored if len(passed[row]) < len(near[row])]
        return values, self._with_best(values, truths, passed, needed, fewer), untold

    def _with_best(
        self,
        values: list[float],
        truths: list[list[Document]],
        documents: list[list[Document]],
        needed: list[Need],
        rows: list[int],
    ) -> list[float]:
        """Put into the values of some rows the recall of the set of labels of which most was found."""
        values = list(values)
        grade = grade_getter(self.grade_field)
        labels: list[list[Document]] = []
        owners: list[int] = []
        for row in rows:
            values[row] = 0.0
            grades = [grade(document) for document in truths[row]]
            relevant = [bool(reaches(1.0 if each is None else each, self.relevance_threshold)) for each in grades]
            for places in alternatives(needed[row], relevant):
                labels.append([truths[row][place] for place in places])
                owners.append(row)
        if owners:
            rules = self._rules()
            judging = replace(rules.judging, grade_field=None, silent=True)
            ranking = replace(rules, judging=judging).judged(
                {"ground_truth_documents": labels, "retrieved_documents": [documents[row] for row in owners]}
            )
            for row, value in zip(owners, evaluate(make_measure("R"), ranking, None).tolist(), strict=True):
                # A set whose labels have no key cannot be found.
                values[row] = max(values[row], 0.0 if math.isnan(value) else value)
        return values


def _passed(near: list[list[Document]], contexts: list[list[str]] | None) -> tuple[list[list[Document]], list[str]]:
    """The documents that reached the generator, and what is not known of them."""
    if contexts is None:
        return near, []
    given = equally_many(
        {"retrieved_documents": near, "contexts": contexts},
        nothing={"retrieved_documents": [], "contexts": []},
        hint="One list of contexts per question is expected.",
    )["contexts"]
    passed = [passed_on(documents, texts) for documents, texts in zip(near, given, strict=True)]
    unknown = sum(each is None for each in passed)
    told = (
        f"the contexts of {unknown} of {len(near)} questions hold the text of no retrieved document: all retrieved "
        "documents of these questions are taken to have reached the generator. Give the texts of the prompt as "
        "contexts, or leave them out."
    )
    kept = [documents if each is None else each for documents, each in zip(near, passed, strict=True)]
    return kept, [told] if unknown else []
