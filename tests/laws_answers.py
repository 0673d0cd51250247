# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Laws that answer metrics keep on any texts, found or broken by hypothesis.

As in laws_retrieval.py, an example is a batch of rows drawn by one seed, and serves all cases given.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from cases_answers import AnswerCase
from haystack_eval_ext import UndefinedScore

Law = Callable[[Sequence[AnswerCase], settings], None]
LAWS: dict[str, Law] = {}
ROWS = 6
# Two vocabularies without a common letter, digit or mark; the second comes without punctuation.
WORDS = (
    "Paris",
    "river",
    "the",
    "in",
    "Seine",
    "12",
    "1,234.5",
    "東京",
    "タワー",
    "กรุงเทพ",
    "Москва",
    "दिल्ली",
    "👍",
    "é",
)
OTHER_WORDS = ("JUMBO", "fog", "777", "蛙飛", "ﾐｽﾞ", "ужб", "🦊", "بغداد")
PUNCTUATION = ("", "", ".", ",", "!", "。")


class Row(NamedTuple):
    """A question: its references and its answer."""

    references: list[str]
    answer: str


def some_rows() -> st.SearchStrategy[list[Row]]:
    """A batch of questions, some without references, some texts empty."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _rows(random.Random(seed)))


def text(rng: random.Random) -> str:
    """Some words, or none."""
    return " ".join(word + rng.choice(PUNCTUATION) for word in rng.choices(WORDS, k=rng.randint(0, 6)))


def _rows(rng: random.Random) -> list[Row]:
    rows = []
    for _ in range(ROWS):
        references = [text(rng) for _ in range(rng.randint(0, 3))]
        rows.append(Row(references, rng.choice([*references, text(rng), text(rng)])))
    return rows


def inputs(batch: list[Row]) -> dict[str, list[Any]]:
    """Both sockets."""
    return {
        "ground_truth_answers": [row.references for row in batch],
        "predicted_answers": [row.answer for row in batch],
    }


def score(case: AnswerCase, batch: list[Row]) -> list[float]:
    """The score of each row; one without references, or an undefined one, is 0."""
    if not batch:
        return []
    scores: list[float] = case.make(on_undefined="zero").run(**inputs(batch))["individual_scores"]
    return [value if row.references else 0.0 for row, value in zip(batch, scores, strict=True)]


def law(strategy: st.SearchStrategy[Any]) -> Callable[[Callable[[AnswerCase, Any], None]], Law]:
    """Make a law of a function that checks one example."""

    def register(check: Callable[[AnswerCase, Any], None]) -> Law:
        def holds(cases: Sequence[AnswerCase], how: settings) -> None:
            @how
            @given(strategy)
            def run(example: Any) -> None:
                for case in cases:
                    try:
                        check(case, example)
                    except AssertionError as error:
                        raise AssertionError(f"{case.name}: {error}") from None  # noqa: EM102

            run()

        LAWS[check.__name__] = holds
        return holds

    return register


@law(some_rows())
def bounded(case: AnswerCase, batch: list[Row]) -> None:
    """Every score, and their mean, is inside the range."""
    outputs = case.make(on_undefined="zero").run(**inputs(batch))
    given = [value for row, value in zip(batch, outputs["individual_scores"], strict=True) if row.references]
    for value in (outputs["score"], *given) if given else ():
        assert case.lowest <= value <= 1, f"{value} is outside [{case.lowest}, 1] in {batch}"


@law(some_rows())
def identical(case: AnswerCase, batch: list[Row]) -> None:
    """An answer that is one of its references scores 1."""
    batch = [Row(row.references, reference) for row in batch for reference in row.references]
    for row, value in zip(batch, score(case, batch), strict=True):
        assert math.isclose(value, 1, abs_tol=case.tolerance), f"{row.answer!r} is a reference, but scores {value}"


@law(some_rows())
def disjoint(case: AnswerCase, batch: list[Row]) -> None:
    """An answer of other words and letters scores 0."""
    rng = random.Random(repr(batch))
    batch = [
        Row([reference for reference in row.references if reference], " ".join(rng.sample(OTHER_WORDS, 3)))
        for row in batch
    ]
    for row, value in zip(batch, score(case, batch), strict=True):
        assert math.isclose(value, 0, abs_tol=case.tolerance), f"{row} have nothing in common, but score {value}"


@law(some_rows())
def reference_order(case: AnswerCase, batch: list[Row]) -> None:
    """The order of the references changes nothing."""
    for order in (lambda references: references[::-1], sorted):
        _equal(case, batch, [Row(order(row.references), row.answer) for row in batch])


@law(some_rows())
def reference_twice(case: AnswerCase, batch: list[Row]) -> None:
    """A reference that is given twice counts once."""
    _equal(case, batch, [Row(row.references + row.references[:1], row.answer) for row in batch])


@law(some_rows())
def more_references(case: AnswerCase, batch: list[Row]) -> None:
    """A further reference never lowers the score."""
    batch = [row for row in batch if row.references]
    more = [Row([*row.references, other.answer], row.answer) for row, other in zip(batch, batch[::-1], strict=True)]
    for row, old, new in zip(more, score(case, batch), score(case, more), strict=True):
        assert new >= old - case.tolerance, f"the last reference lowers {old} to {new}: {row}"


@law(some_rows())
def symmetric(case: AnswerCase, batch: list[Row]) -> None:
    """Answer and reference can be exchanged."""
    one = [Row([reference], row.answer) for row in batch for reference in row.references]
    _equal(case, one, [Row([row.answer], row.references[0]) for row in one])


@law(some_rows())
def not_run(case: AnswerCase, batch: list[Row]) -> None:
    """Rows without references are not run and left out of the mean, whatever the policy; all others are scored."""
    lacking = [not row.references for row in batch]
    try:
        zero, nan, strict = (case.make(on_undefined=policy).run(**inputs(batch)) for policy in ("zero", "nan", "raise"))
    except UndefinedScore:
        raise AssertionError("a row with a reference is undefined") from None  # noqa: EM101
    expected = ["not_run" if row else "scored" for row in lacking]
    assert zero["statuses"] == nan["statuses"] == strict["statuses"] == expected, f"{zero['statuses']} for {batch}"
    assert [error is not None for error in zero["errors"]] == lacking, f"{zero['errors']} for {batch}"
    for missing, *values in zip(lacking, *(found["individual_scores"] for found in (zero, nan, strict)), strict=True):
        same = all(map(math.isnan, values)) if missing else len(set(values)) == 1
        assert same, f"{values} in {batch}"
    defined = [value for value in nan["individual_scores"] if not math.isnan(value)]
    mean = math.fsum(defined) / len(defined) if defined else math.nan
    for found in (zero, nan, strict):
        same = math.isclose(found["score"], mean, abs_tol=1e-12) if defined else math.isnan(found["score"])
        assert same, f"mean {found['score']} in {batch}"


def _equal(case: AnswerCase, one: list[Row], other: list[Row]) -> None:
    for row, changed, old, new in zip(one, other, score(case, one), score(case, other), strict=True):
        assert math.isclose(old, new, abs_tol=case.tolerance), f"{old} becomes {new}: from {row} to {changed}"
