# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Recall. Source: van Rijsbergen, Information Retrieval, 1979; trec_eval recall; capped: BEIR R_cap."""

from enum import Enum
from typing import Any, Literal

from haystack import component

from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.retrieval._base import RetrievalEvaluator
from haystack_eval_ext.retrieval._judging import Duplicates, Matching
from haystack_eval_ext.retrieval._names import make_measure
from haystack_eval_ext.retrieval.measures import Measure

_MODES = ("single_hit", "multi_hit")


class _Mode(str):
    """A mode that equals its text and the member of Haystack's ``RecallMode``."""

    __slots__ = ()
    __hash__ = str.__hash__

    @property
    def value(self) -> str:
        """The plain text, the same object each time."""
        return next((mode for mode in _MODES if self == mode), str(self))

    def __eq__(self, other: object) -> bool:
        plain = other.value if isinstance(other, Enum) else other
        return isinstance(plain, str) and str.__eq__(self, plain)

    def __ne__(self, other: object) -> bool:
        return not self == other


@component
class DocumentRecallEvaluator(RetrievalEvaluator):
    """
    Scores whether the relevant documents were retrieved. From 0 to 1, higher is better.

    "multi_hit" is what recall usually means: the share of the relevant documents that were retrieved. "single_hit", the
    default as in Haystack, is 1 as soon as one of them was: a hit rate.

    Usage example:
    ```python
    from haystack import Document
    from haystack_eval_ext import DocumentRecallEvaluator

    evaluator = DocumentRecallEvaluator(mode="multi_hit", top_k=2)
    result = evaluator.run(
        ground_truth_documents=[[Document(content="France")], [Document(content="9th century"),
        Document(content="9th")]], retrieved_documents=[
            [Document(content="France")],
            [Document(content="9th century"), Document(content="10th century"), Document(content="9th")],
        ],
    )
    print(result["individual_scores"], result["score"])
    # [1.0, 0.5] 0.75
    ```
    """

    def __init__(
        self,
        mode: Literal["single_hit", "multi_hit"] | Enum = "single_hit",
        document_comparison_field: str | list[str] = "content",
        *,
        top_k: int | None = None,
        capped: bool = False,
        relevance_threshold: float | None = None,
        grade_field: str | None = "score",
        matching: Matching = "exact",
        overlap_threshold: float = 0.65,
        duplicates: Duplicates = "keep",
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a DocumentRecallEvaluator component.

        :param mode: "single_hit" or "multi_hit"; Haystack's ``RecallMode`` is taken as well.
        :param document_comparison_field: What must be equal in a retrieved and a ground-truth document: "content",
            "id", "meta.<key>", or a list of these.
        :param top_k: How many of the retrieved documents count, from the first; None: all.
        :param capped: Divide by min(relevant documents, top_k), so that 1 can be reached at every cut-off; for
            "multi_hit" with a ``top_k``.
        :param relevance_threshold: Lowest grade that counts as relevant; None: every grade above 0.
        :param grade_field: Where the grade of a ground-truth document stands: "score", "meta.<key>", or None: all
            alike.
        :param matching: When a retrieved document matches: "exact", "overlap" or, not with ``capped``, "span".
        :param overlap_threshold: Share of a label's tokens that must be covered for "overlap".
        :param duplicates: What a later copy of a retrieved document does: "keep" or "drop", and "each" for
            "single_hit".
        :param on_undefined: What a question without relevant documents counts as: "zero", "nan" or "raise".
        :raises ValueError: If a parameter has no such value.
        :raises TypeError: If `document_comparison_field` names no field by text.
        """
        mode_name = getattr(mode, "value", mode)
        check_choice("mode", mode_name, _MODES)
        if capped and (mode_name != "multi_hit" or top_k is None):
            msg = f"capped=True needs mode='multi_hit' and a top_k, but mode is {mode_name!r} and top_k is {top_k!r}."
            raise InvalidValueError(msg)
        self.mode = mode_name
        self.capped = capped
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

    @property
    def mode(self) -> Any:
        """The mode, which equals both its text and Haystack's ``RecallMode``."""
        return self._mode

    @mode.setter
    def mode(self, mode: Any) -> None:
        plain = getattr(mode, "value", mode)
        self._mode = _Mode(plain) if isinstance(plain, str) else plain

    def _parameter(self, name: str) -> Any:
        value = getattr(self, name)
        return getattr(value, "value", value) if name == "mode" else value

    def _measure(self) -> Measure:
        if self.mode == "single_hit":
            return make_measure("Success", cutoff=self.top_k)
        return make_measure("R_cap" if self.capped else "R", cutoff=self.top_k)
