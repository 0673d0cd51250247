# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What every retrieval evaluator shares: parameters, sockets, and the way from Documents to scores."""

from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np
from haystack import Document, component, logging

from haystack_eval_ext._parameters import PlainParameters, is_number
from haystack_eval_ext._rows import document_rows, with_checked_documents
from haystack_eval_ext._scores import Gaps, OnUndefined, RowScores, aggregate, check_on_undefined, in_a_run, report_rows
from haystack_eval_ext._serialization import parameters_to_dict
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval._judging import (
    OVERLAPS,
    Duplicates,
    Judging,
    Matching,
    Reach,
    match_keys,
    never_retrieved,
)
from haystack_eval_ext.retrieval._keys import Keys
from haystack_eval_ext.retrieval._labels import LabelReader
from haystack_eval_ext.retrieval._mismatch import find_mismatch
from haystack_eval_ext.retrieval._names import parse_measures
from haystack_eval_ext.retrieval._ranking import JudgedRanking
from haystack_eval_ext.retrieval.measures import MEASURES, Measure, evaluate

logger = logging.getLogger(__name__)

# A second look at so many documents takes some hundredths of a second.
_QUICKLY_SEARCHED = 20_000

DocumentRows = list[list[Document]] | list[Document]


class BatchScores(NamedTuple):
    """
    The scores of a batch, measure by measure, and what to know of it.

    ``never_retrieved`` has the labels that no ranking contains; None: not looked for.
    """

    scores: dict[str, RowScores]
    never_retrieved: list[Any] | None
    warnings: list[str]


@dataclass(eq=False)
class RetrievalEvaluation:
    """
    The measures of an evaluator with the rules they follow, checked before any row is looked at.

    :param name: Name of the component, for messages.
    :param measures: The measures to compute in one pass.
    :param judging: When a retrieved document satisfies a label.
    :param relevance_threshold: Lowest relevant grade of the binary measures; None: above 0.
    :param on_undefined: What a row without a score counts as.
    """

    name: str
    measures: list[Measure]
    judging: Judging
    relevance_threshold: float | None
    on_undefined: OnUndefined

    @classmethod
    def of(cls, evaluator: Any, measures: list[Measure]) -> Self:
        """
        Read the rules off a component's parameters.

        :param evaluator: A component that keeps the common parameters under their names.
        :param measures: Its measures.
        :returns: The rules, checked.
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If a field is not named by text.
        """
        return cls(
            name=type(evaluator).__name__,
            measures=measures,
            judging=Judging(
                evaluator.document_comparison_field,
                evaluator.grade_field,
                evaluator.matching,
                evaluator.overlap_threshold,
                evaluator.duplicates,
            ),
            relevance_threshold=evaluator.relevance_threshold,
            on_undefined=evaluator.on_undefined,
        )

    def __post_init__(self) -> None:
        """
        Refuse what cannot work.

        :raises ValueError: If a parameter has no such value, or a measure is not defined for the matching asked for.
        """
        check_on_undefined(self.on_undefined)
        threshold = self.relevance_threshold
        if threshold is not None and not is_number(threshold):
            msg = f"relevance_threshold must be a finite number, or None for every grade above 0, but is {threshold!r}."
            raise InvalidValueError(msg)
        if self.judging.matching == "span":
            self._refuse("matching='span'", [name for name, definition in MEASURES.items() if definition.partial])
        if self.judging.duplicates == "each":
            self._refuse("duplicates='each'", [name for name, definition in MEASURES.items() if definition.repeats])
        for measure in self.measures:
            if self.judging.matching != "exact" and dict(measure.parameters).get("judged_only"):
                msg = f"{measure}: judged_only needs matching='exact', but matching is {self.judging.matching!r}."
                raise InvalidValueError(msg)

    def _refuse(self, rule: str, defined: list[str]) -> None:
        for measure in self.measures:
            if measure.name not in defined:
                msg = f"{measure.name} is not defined for {rule}; the measures that are: {', '.join(defined)}."
                raise InvalidValueError(msg)

    def run(
        self,
        ground_truth_documents: DocumentRows,
        retrieved_documents: DocumentRows,
        *,
        find_never_retrieved: bool | None,
    ) -> BatchScores:
        """
        Evaluate a batch.

        :param ground_truth_documents: The labels of each question.
        :param retrieved_documents: The ranking of each question.
        :param find_never_retrieved: Whether to look for labels that no ranking contains; None: if that is quick, and
            there are several questions, so that it means something.
        :returns: The scores.
        :raises ValueError: If rows, grades or fields cannot be scored.
        :raises TypeError: If something is not a Document or a grade is not a number.
        :raises UndefinedScore: If a row is undefined and ``on_undefined`` is "raise".
        """
        rows = document_rows(ground_truth_documents=ground_truth_documents, retrieved_documents=retrieved_documents)
        ranking = self.judged(rows)
        scores = self.score(ranking)
        unseen = not len(ranking.judged.query) and not ranking.untrusted
        told = with_checked_documents(self._mismatch, rows) if unseen else ""
        if ranking.out_of_reach:
            told = (
                f"{ranking.out_of_reach} of {len(ranking.labels.grade)} labels have more tokens than all chunks "
                "retrieved for their question together could cover at overlap_threshold "
                f"{self.judging.overlap_threshold}: no order of these chunks finds them. Retrieve more, or lower "
                "overlap_threshold."
            )
        if find_never_retrieved is None:
            find_never_retrieved = ranking.n_queries > 1 and ranking.retrieved.sum() <= _QUICKLY_SEARCHED
        missing: list[Any] | None = None
        if find_never_retrieved and self.judging.matching == "exact":
            missing = with_checked_documents(
                lambda truths, retrieved: never_retrieved(
                    truths, retrieved, ranking, self.judging, self.relevance_threshold
                ),
                rows,
            )
            if missing and not told:
                told = (
                    f"no ranking of this run contains {len(missing)} of the relevant documents. Check that both sides "
                    f"mean the same by {self.judging.document_comparison_field}; the output 'never_retrieved' lists "
                    "them."
                )
        if told and not in_a_run():
            logger.warning("{evaluator}: {found}", evaluator=self.name, found=told)
        return BatchScores(scores, missing, [told] if told else [])

    def judged(self, rows: dict[str, list[list[Document]]]) -> JudgedRanking:
        """
        Find the labels in the rankings.

        :param rows: Labels and ranking of each question.
        :returns: The judged batch.
        :raises ValueError: If grades or fields cannot be scored.
        :raises TypeError: If something is not a Document or a grade is not a number.
        """
        return with_checked_documents(
            lambda truths, retrieved: self.judging.judge(truths, retrieved, self._reach(), self.relevance_threshold),
            rows,
        )

    def _mismatch(self, truths: list[list[Document]], retrieved: list[list[Document]]) -> str:
        """What to tell where not one label occurs among the documents, whatever their question."""
        if self.judging.matching in OVERLAPS:
            return ""
        labels = [label for row in truths for label in row]
        documents = [document for row in retrieved for document in row]
        found = find_mismatch(labels, documents, self.judging.document_comparison_field, "retrieved documents")
        return found.told if found else ""

    def score(self, ranking: JudgedRanking) -> dict[str, RowScores]:
        """
        Compute all measures of a judged batch.

        :param ranking: The batch.
        :returns: The scores by measure.
        :raises UndefinedScore: If a row is undefined and ``on_undefined`` is "raise".
        """
        values = {str(measure): evaluate(measure, ranking, self.relevance_threshold) for measure in self.measures}
        self._report_undefined(values, ranking)
        return {
            str(measure): aggregate(
                values[str(measure)],
                self.on_undefined,
                reason=_undefined_reason(measure),
                not_run=ranking.untrusted,
            )
            for measure in self.measures
        }

    def _report_undefined(self, values: dict[str, np.ndarray], ranking: JudgedRanking) -> None:
        """One message for all measures of the component."""
        undefined: dict[int, str] = {}
        for measure in self.measures:
            rows = set(np.flatnonzero(np.isnan(values[str(measure)])).tolist()) - ranking.untrusted.keys()
            # A row without relevant documents says that, whatever else it lacks.
            reasons = dict.fromkeys(sorted(rows), _undefined_reason(measure))
            undefined = undefined | reasons if MEASURES[measure.name].needs_relevant else reasons | undefined
        report_rows(
            ranking.n_queries,
            self.on_undefined,
            Gaps(undefined, not_run=ranking.untrusted),
            metric=self.name,
            names=ranking.names,
        )

    def _reach(self) -> Reach:
        measures = self.measures
        in_words = any(measure.in_words for measure in measures)
        whole = in_words or any(dict(measure.parameters).get("judged_only") for measure in measures)
        cutoffs = [measure.cutoff for measure in measures if measure.cutoff is not None]
        return Reach(
            documents=max(cutoffs) if len(cutoffs) == len(measures) and not whole else None,
            words=in_words,
            first_hit_only=not in_words
            and all(MEASURES[measure.name].first_hit_only and not measure.parameters for measure in measures),
        )


def _undefined_reason(measure: Measure) -> str:
    return "no relevant documents" if MEASURES[measure.name].needs_relevant else "no documents within the cut-off"


def evaluate_keys(
    measures: list[str],
    rankings: list[list[str]],
    labels: list[dict[str, float]],
    *,
    ids: list[str] | None = None,
    relevance_threshold: float | None = None,
    on_undefined: OnUndefined = "zero",
) -> dict[str, RowScores]:
    """
    Evaluate rankings that are no Documents, such as those of a TREC run file.

    :param measures: Names of the measures; text budgets are refused, since keys have no text.
    :param rankings: The keys retrieved for each query, best first.
    :param labels: The grade of each judged key of each query, in the same order.
    :param ids: Names of the queries, for messages.
    :param relevance_threshold: Lowest relevant grade of the binary measures; None: above 0.
    :param on_undefined: What a query without relevant documents counts as.
    :returns: The scores by measure.
    :raises ValueError: If a measure is unknown or a grade is not finite.
    """
    rules = RetrievalEvaluation("haystack-eval", parse_measures(measures), Judging(), relevance_threshold, on_undefined)
    if any(measure.in_words for measure in rules.measures):
        msg = "A cut-off in words needs the text of the documents: use a cut-off in documents, such as R@10."
        raise InvalidValueError(msg)
    truths = [list(grades.items()) for grades in labels]
    reader = LabelReader(Keys(itemgetter(0)), itemgetter(1), "grade", surely_grades=True)
    matches = match_keys(truths, rankings, reader, Keys(str))
    sizes = np.fromiter(map(len, rankings), np.int64, len(rankings))
    found = (matches.labels, matches.hits, matches.found, matches.judged)
    return rules.score(JudgedRanking(len(rankings), sizes, *found, names=ids))


class RetrievalEvaluator(PlainParameters):
    """
    The parameters and sockets of an evaluator with one measure; a metric adds :meth:`_measure`.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
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
        duplicates: Duplicates = "keep",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create the component.

        :param document_comparison_field: What must be equal in a retrieved and a ground-truth document: "content",
            "id", "meta.<key>" (a key with dots is first taken literally, then as a path), or a list of these, which
            must all be equal. A document without the field, or with an empty one, matches nothing.
        :param top_k: How many of the retrieved documents count, from the first; None: all.
        :param relevance_threshold: Lowest grade that counts as relevant; None: every grade above 0. Measures that use
            the grades themselves, such as NDCG, do not look at it.
        :param grade_field: Where the grade of a ground-truth document stands: "score", "meta.<key>", or None: all count
            alike, as 1. A document without a grade counts as 1, a grade of 0 or below as judged not relevant.
        :param matching: When a retrieved document matches. "exact": the compared fields are equal. "overlap": chunks
            cover the tokens of a ground-truth document's text together, in common runs of five tokens or more; recall
            counts the covered share, and a label is found where that reaches ``overlap_threshold``.
            "overlap_by_chunk": one chunk alone contains the text, or has that share of its tokens in any order.
            Both cost labels x chunks comparisons a question. "span": it covers characters of a span, given by
            ``meta["start"]`` and ``meta["end"]`` of the ground-truth document; the chunk's place is
            ``meta["split_idx_start"]``.
        :param overlap_threshold: Share of a label's tokens that must be covered, above 0 and at most 1. Tokens are
            words, or pairs of neighbouring characters in scripts without spaces.
        :param duplicates: What a later copy of a retrieved document does. "keep": it keeps its rank and gains nothing.
            "drop": it is taken out and the gap closed. "each": it counts like the first, so that every chunk of a
            relevant file counts; for precision, hit rate and MRR.
        :param on_undefined: What a question without relevant documents counts as: "zero", "nan" (left out of the
            mean), or "raise".
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If `document_comparison_field` names no field by text.
        """
        if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1):
            msg = f"top_k must be a whole number of at least 1, or None for all documents, but is {top_k!r}."
            raise InvalidValueError(msg)
        self.document_comparison_field = document_comparison_field
        self.top_k = top_k
        self.relevance_threshold = relevance_threshold
        self.grade_field = grade_field
        self.matching = matching
        self.overlap_threshold = overlap_threshold
        self.duplicates = duplicates
        self.on_undefined = on_undefined
        self._rules()

    @property
    def _rule_version(self) -> int:
        """Since 2 the chunks that overlap a label cover it together."""
        return 2 if self.matching == "overlap" else 1

    def _rules(self) -> RetrievalEvaluation:
        """The parameters as they are now: like Haystack's evaluators, a component follows what is set on it later."""
        return RetrievalEvaluation.of(self, [self._measure()])

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize the component.

        :returns: Haystack's dictionary form.
        """
        return parameters_to_dict(self)

    def _measure(self) -> Measure:
        """The measure of this component, from its parameters."""
        raise NotImplementedError

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        errors=list[str | None],
        warnings=list[str],
    )
    def run(self, ground_truth_documents: DocumentRows, retrieved_documents: DocumentRows) -> dict[str, Any]:
        """
        Score the retrieved documents of each question.

        :param ground_truth_documents: The relevant documents of each question, with their grades; a flat list is one
            question. Dicts in the JSON form of a Document are taken as well.
        :param retrieved_documents: The retrieved documents of each question, best first, in the same form. Their
            order is the ranking; their scores are not looked at.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored" or "undefined" for each question;
            - `errors`: why a question has no score of its own, else None;
            - `warnings`: what to know of the whole batch: labels that cannot match.
        :raises ValueError: If there are no rows, the inputs differ in length, a grade is not finite, or no document
            of a side has the compared field.
        :raises TypeError: If something is not a Document, or a grade is not a number; the message names input and row.
        :raises UndefinedScore: If a question has no relevant documents and ``on_undefined`` is "raise".
        """
        self._follow()
        found = self._rules().run(ground_truth_documents, retrieved_documents, find_never_retrieved=False)
        (scores,) = found.scores.values()
        return {**scores._asdict(), "warnings": found.warnings}
