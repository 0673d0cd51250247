# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The labels of each question: keys and grades of its ground-truth documents, read once and checked as one array."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import list_rows, note
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.retrieval._keys import has_key
from haystack_eval_ext.retrieval._ranking import Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from haystack_eval_ext.retrieval._keys import Key, Keys
    from haystack_eval_ext.retrieval._ranking import FloatArray

_LARGEST_GRADE = 1e100  # sums of grades stay finite
_STEPS_PER_GRADE = 20  # people grade in halves, quarters, tenths or twentieths; similarities have no steps


class LabelReader:
    """Reads the labels question by question and keeps what all of them have in common: flat grades and counts."""

    def __init__(
        self, keys: Keys, grade: Callable[[Any], Any], grade_field: str | None, *, surely_grades: bool = False
    ) -> None:
        """
        Prepare for a batch.

        :param keys: Reads the comparison keys of ground-truth documents.
        :param grade: Reads its grade; None counts as 1.
        :param grade_field: Name of the field that ``grade`` reads, for messages.
        :param surely_grades: Whether the field holds nothing but grades that people gave, as in a qrels file; a score
            can be something else, which is warned of.
        """
        self._keys = keys
        self._grade = grade
        self._grade_field = grade_field
        self._surely_grades = surely_grades
        self._grades: list[Any] = []
        self._sizes: list[int] = []
        #: Ground-truth documents that had no key.
        self.without_key = 0

    def read(self, truths: Iterable[Sequence[Any]]) -> Iterator[dict[Key, int]]:
        """
        Read the labels question by question.

        :param truths: The ground-truth documents of each question.
        :returns: For each question the label of each key, numbered within the question. Documents without a key carry
            no label; documents with the same key carry one, which has their highest grade.
        """
        return self._read(truths, self._keys.number)

    def read_keys(self, truths: Iterable[Sequence[Any]]) -> Iterator[Collection[Key]]:
        """
        Read the labels as :meth:`read` does, without numbers, which is quicker.

        :param truths: The ground-truth documents of each question.
        :returns: For each question the keys of its labels.
        """
        return self._read(truths, self._keys.unique)

    def _read(self, truths: Iterable[Sequence[Any]], keys_of: Callable[[Sequence[Any]], Any]) -> Iterator[Any]:
        grade, grades, sizes = self._grade, self._grades, self._sizes
        for truth in truths:
            labels = keys_of(truth)
            if len(labels) != len(truth) or None in labels or "" in labels:
                labels = self._read_slowly(truth)
            else:
                grades += map(grade, truth)
            sizes.append(len(labels))
            yield labels

    def _read_slowly(self, truth: Sequence[Any]) -> dict[Key, int]:
        grades: dict[Key, float] = {}
        for position, document in enumerate(truth):
            key = self._keys.of(document)
            if not has_key(key):
                self.without_key += 1
                continue
            grade = self._checked_grade(document, len(self._sizes), position)
            grades[key] = max(grades.get(key, grade), grade)
        self._grades += grades.values()
        return {key: number for number, key in enumerate(grades)}

    def again(self) -> LabelReader:
        """
        Start a second reading of the same batch.

        :returns: A reader that has read nothing yet and numbers the labels as this one did.
        """
        return LabelReader(self._keys, self._grade, self._grade_field, surely_grades=self._surely_grades)

    def labels(self, truths: Sequence[Sequence[Any]]) -> Labels:
        """
        All labels of the batch, once every question was read.

        :param truths: The ground-truth documents of all questions, to name the row of a fault.
        :returns: The labels, with checked grades.
        :raises ValueError: If a grade is NaN or infinite.
        :raises TypeError: If a grade is not a number.
        """
        grades = _as_floats(self._grades)
        if grades is None or not (np.abs(grades) <= _LARGEST_GRADE).all():
            for row, truth in enumerate(truths):
                for position, document in enumerate(truth):
                    self._checked_grade(document, row, position)
            grades = np.array([1.0 if grade is None else float(grade) for grade in self._grades])
        sizes = np.fromiter(self._sizes, np.int64, len(self._sizes))
        return Labels(np.repeat(np.arange(len(sizes)), sizes), grades, sizes)

    def warn_of_odd_grades(self, labels: Labels) -> None:
        """
        Warn of grades that look like something else: similarities, or scores of a reranker.

        :param labels: All labels of the batch.
        """
        if self._surely_grades or self._grade_field is None:
            return
        if self._grade_field != "score" and self._grades and self._grades.count(None) == len(self._grades):
            note(
                f"No label in ground_truth_documents has the field '{self._grade_field}', so that all of them count "
                "alike. If that is meant, set grade_field=None; else correct its name."
            )
        broken = labels.grade[labels.grade != np.floor(labels.grade)] * _STEPS_PER_GRADE
        fractional = np.abs(broken - np.round(broken)) > 1e-6  # noqa: PLR2004 - rounding noise of 0.05 and its like
        if 2 * fractional.sum() > len(labels.grade):
            note(
                f"{fractional.sum()} of {len(labels.grade)} grades in '{self._grade_field}' of ground_truth_documents "
                "are fractions such as a retriever writes, not grades that people give. If these labels were copied "
                "from retrieved documents, set grade_field=None so that all labels count alike."
            )
        positive = labels.grade > 0
        if not positive.all():
            rows = np.unique(labels.query[~positive])
            note(
                f"{(~positive).sum()} of {len(labels.grade)} labels have a grade of 0 or below in "
                f"'{self._grade_field}' ({list_rows(rows)}) and count as judged not relevant. If these are scores of a "
                "reranker and all labels are relevant, set grade_field=None."
            )

    def _checked_grade(self, document: Any, row: int, position: int) -> float:
        grade = self._grade(document)
        if grade is None:
            return 1.0
        place = f"ground_truth_documents[{row}][{position}]"
        if not hasattr(type(grade), "__float__"):
            msg = f"{place}: the grade in '{self._grade_field}' must be a number, but is {describe(grade)}."
            raise InvalidTypeError(msg)
        try:
            value = float(grade)
        except OverflowError:
            value = math.inf
        if not abs(value) <= _LARGEST_GRADE:
            msg = (
                f"{place}: the grade in '{self._grade_field}' must be finite and at most {_LARGEST_GRADE:g}, but is "
                f"{value:g}. Correct the label, or set grade_field=None so that all labels count alike."
            )
            raise InvalidValueError(msg)
        return value


def _as_floats(grades: list[Any]) -> FloatArray | None:
    """Grades as an array, with 1 for None; None when something else than a number is among them."""
    if grades[:1] == [None] and grades.count(None) == len(grades):
        return np.ones(len(grades))
    try:
        return np.array(array("d", grades))
    except (TypeError, OverflowError):
        pass
    try:
        return np.array(array("d", [1.0 if grade is None else grade for grade in grades]))
    except (TypeError, OverflowError):
        return None
