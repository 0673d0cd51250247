# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A right component and many wrong ones, each with one fault that the harness must find."""

import time
from typing import Any

import numpy as np
from haystack import Document, component, default_to_dict
from haystack.core.serialization import allow_deserialization_module

from haystack_eval_ext import UndefinedScore
from haystack_eval_ext._batches import as_list
from haystack_eval_ext._parameters import PlainParameters

allow_deserialization_module(__name__)


def as_document(value: Any) -> Document:
    return value if isinstance(value, Document) else Document.from_dict(value)


class RightBase(PlainParameters):
    """Recall, written as plainly as possible. Wrong components change one thing."""

    def __init__(self, top_k: int | None = None, on_undefined: str = "zero") -> None:
        """
        Create the component.

        :param top_k: How many documents count.
        :param on_undefined: What a row without labels counts as.
        """
        self.top_k = top_k
        self.on_undefined = on_undefined

    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        """The score of a row, None where it is undefined."""
        relevant = {label.id for label in truth if label.score is None or label.score > 0}
        found = {document.id for document in ranking[: self.top_k]} & relevant
        return len(found) / len(relevant) if relevant else None

    def finish(self, scores: list[Any]) -> dict[str, Any]:
        """The outputs of the scores of all rows."""
        if self.on_undefined == "raise" and None in scores:
            raise UndefinedScore
        filled = [
            (0.0 if self.on_undefined == "zero" else float("nan")) if score is None else score for score in scores
        ]
        defined = [score for score in filled if score == score]  # noqa: PLR0124 - not NaN
        return {
            "score": sum(defined) / len(defined) if defined else float("nan"),
            "individual_scores": filled,
            "statuses": ["undefined" if score is None else "scored" for score in scores],
        }

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str])
    def run(
        self,
        ground_truth_documents: list[list[Document]] | list[Document],
        retrieved_documents: list[list[Document]] | list[Document],
    ) -> dict[str, Any]:
        """
        Score rows.

        :param ground_truth_documents: The labels.
        :param retrieved_documents: The rankings.
        :returns: `score`, `individual_scores`, `statuses`.
        """
        given: list[Any] = [ground_truth_documents, retrieved_documents]
        sockets = [[as_list(row) for row in as_list(rows)] for rows in given]
        batches = [[value] if value and not isinstance(value[0], list) else value for value in sockets]
        longest = max(map(len, batches))
        if longest == 1:
            batches = [batch or [[]] for batch in batches]
        if not longest or len(batches[0]) != len(batches[1]):
            msg = "rows"
            raise ValueError(msg)
        return self.finish(
            [self.row(*([as_document(d) for d in row] for row in pair)) for pair in zip(*batches, strict=True)]
        )


@component
class Right(RightBase):
    """
    Scores what was found.

    ```python
    print(1 + 1)
    # 2
    ```
    """


@component
class WithoutExample(RightBase):
    """Scores what was found."""


@component
class WithWrongExample(RightBase):
    """
    Scores what was found.

    ```python
    print(1 + 1)
    # 3
    ```
    """


@component
class WithUndocumentedParameter(RightBase):
    """
    Scores what was found.

    ```python
    print(1 + 1)
    # 2
    ```
    """

    def __init__(self, top_k: int | None = None, on_undefined: str = "zero") -> None:
        """Create the component."""
        RightBase.__init__(self, top_k, on_undefined)


@component
class SortsRows(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        return RightBase.finish(self, sorted(scores, key=lambda score: score or 0))


@component
class LooksAtOtherRows(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        best = max(score or 0 for score in scores) or 1
        return RightBase.finish(self, [score and score / best / 2 for score in scores])


@component
class DropsARow(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        return RightBase.finish(self, [score for score in scores if score is not None])


@component
class GivesNumpyFloats(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        outputs = RightBase.finish(self, scores)
        return {**outputs, "individual_scores": list(np.array(outputs["individual_scores"]))}


@component
class GivesAnInt(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        return RightBase.row(self, truth, ranking) or 0


@component
class InventsAStatus(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        return {**RightBase.finish(self, scores), "statuses": ["fine"] * len(scores)}


@component
class GivesAnotherMean(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        return {**RightBase.finish(self, scores), "score": 0.9}


@component
class HidesAnOutput(RightBase):
    def finish(self, scores: list[Any]) -> dict[str, Any]:
        return {**RightBase.finish(self, scores), "extra": 1.0}


@component
class ChangesItsInput(RightBase):
    def run(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        outputs = RightBase.run(self, ground_truth_documents, retrieved_documents)
        retrieved_documents[0].reverse()
        return outputs


@component
class LosesAParameter(RightBase):
    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, on_undefined=self.on_undefined)


@component
class WritesAnotherValue(RightBase):
    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, on_undefined=self.on_undefined, top_k=None)


@component
class EatsItsDict(RightBase):
    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        return cls(**{name: data["init_parameters"].pop(name) for name in list(data["init_parameters"])})


@component
class RefusesJson(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        return RightBase.row(self, truth, [d for d in ranking if not d.meta.get("page", "x").startswith("b")][::1])

    def run(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        if any(isinstance(document, dict) for row in retrieved_documents for document in row):
            retrieved_documents = [row[:1] for row in retrieved_documents]
        return RightBase.run(self, ground_truth_documents, retrieved_documents)


@component
class RefusesTuples(RightBase):
    def run(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        if not isinstance(retrieved_documents, list):
            msg = "no list"
            raise TypeError(msg)
        return RightBase.run(self, ground_truth_documents, retrieved_documents)


@component
class KeepsNumpyNumbers(RightBase):
    def to_dict(self) -> dict[str, Any]:
        top_k = None if self.top_k is None else np.int64(self.top_k)
        return default_to_dict(self, on_undefined=self.on_undefined, top_k=top_k)


@component
class TakesNoRows(RightBase):
    def run(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        if not ground_truth_documents and not retrieved_documents:
            return {"score": 0.0, "individual_scores": [], "statuses": []}
        return RightBase.run(self, ground_truth_documents, retrieved_documents)


@component
class SplitsASingleQuestion(RightBase):
    def run(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        flat = [
            bool(value) and not isinstance(value[0], list) for value in (ground_truth_documents, retrieved_documents)
        ]
        if all(flat) and len(ground_truth_documents) == len(retrieved_documents):
            return RightBase.run(self, [[d] for d in ground_truth_documents], [[d] for d in retrieved_documents])
        return RightBase.run(self, ground_truth_documents, retrieved_documents)


@component
class RemembersRows(RightBase):
    seen = 0

    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        type(self).seen += 1
        return RightBase.row(self, truth, ranking) if type(self).seen < 9 else 0.0


@component
class IsNotThreadSafe(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        self.truth = truth
        time.sleep(0.005)  # every other thread comes in between, on any machine
        return RightBase.row(self, self.truth, ranking)


@component
class CannotBePickled(RightBase):
    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return type(self)(self.top_k, self.on_undefined)

    def __reduce__(self) -> Any:
        # In words of our own: those of Python, for a lambda or a lock, differ from version to version.
        msg = "pickle finds no way"
        raise TypeError(msg)


@component
class WaitsDifferently(RightBase):
    async def run_async(self, ground_truth_documents: list[Any], retrieved_documents: list[Any]) -> dict[str, Any]:
        outputs = RightBase.run(self, ground_truth_documents, retrieved_documents)
        return {**outputs, "score": 0.5}

    run = RightBase.run


def ids(ranking: list[Document]) -> list[str]:
    return [document.id for document in ranking]


@component
class FirstLabelOnly(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        score = RightBase.row(self, truth, ranking)
        return None if score is None else float(truth[0].id in ids(ranking))


@component
class PrefersLowGrades(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        grades = {label.id: label.score for label in truth if label.score and label.score > 0}
        first = next((name for name in ids(ranking) if name in grades), None)
        return RightBase.row(self, truth, ranking) and (1 / (grades[first] or 1) if first else 0.0)


@component
class CountsItsCutoff(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        score = RightBase.row(self, truth, ranking)
        return None if score is None else score * len(ranking) / (self.top_k or len(ranking) or 1)


@component
class CallsUndefinedZero(RightBase):
    def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
        return RightBase.row(self, truth, ranking) or 0.0
