# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Laws that retrieval measures keep on any ranking, found or broken by hypothesis.

Each law is a plain function of cases and of hypothesis' settings, and raises AssertionError with the counterexample. An
example is a batch of rankings, since a component scores a batch as fast as a row, and serves all cases given.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cases_retrieval import RetrievalCase
from haystack_eval_ext import UndefinedScore
from worlds import document

Law = Callable[[Sequence[RetrievalCase], settings], None]
LAWS: dict[str, Law] = {}
NAMES = "abcdefghij"
LABELLED = NAMES[:7]
GRADES = (None, -1, 0, 1, 1, 2, 3)
ROWS = 8
# Making Documents takes most of the time; the contract holds that nobody changes them.
_document = cache(document)


@dataclass(frozen=True)
class Row:
    """A question: grades of its labels, and the names of the retrieved documents, best first."""

    labels: dict[str, float | None]
    ranking: list[str]

    def grade(self, name: str, case: RetrievalCase) -> float:
        """What a document counts: no label is below every grade, no grade is 1."""
        if name not in self.labels:
            return -math.inf
        grade = self.labels[name]
        return 1 if grade is None or case.parameters.get("grade_field", "score") is None else grade

    def relevant(self, case: RetrievalCase) -> list[str]:
        """Labels that count as relevant in a case, best first."""
        names = [name for name in self.labels if self.grade(name, case) >= case.relevant_from]
        return sorted(names, key=lambda name: -self.grade(name, case))

    def ranked(self, ranking: list[str]) -> Row:
        """The same labels with another ranking."""
        return Row(self.labels, ranking)


def some_rows(*, copies: bool = False) -> st.SearchStrategy[list[Row]]:
    """A batch of questions, drawn by one seed: drawing each name would take longer than scoring it."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _rows(random.Random(seed), copies=copies))


def _rows(rng: random.Random, *, copies: bool) -> list[Row]:
    made = []
    for _ in range(ROWS):
        names = rng.sample(LABELLED, rng.randint(0, len(LABELLED)))
        size = rng.randint(0, len(NAMES))
        ranking = rng.choices(NAMES, k=size) if copies else rng.sample(NAMES, size)
        made.append(Row({name: rng.choice(GRADES) for name in names}, ranking))
    return made


def score(case: RetrievalCase, batch: list[Row], **changed: Any) -> list[float]:
    """The score of each row; a row that is undefined for its labels or its ranking is 0."""
    outputs = case.make(**{"on_undefined": "zero", **changed}).run(**documents(batch))
    scores: list[float] = outputs["individual_scores"]
    return scores


def documents(batch: list[Row]) -> dict[str, list[Any]]:
    """Both sockets."""
    return {
        "ground_truth_documents": [[_document(name, grade) for name, grade in row.labels.items()] for row in batch],
        "retrieved_documents": [[_document(name) for name in row.ranking] for row in batch],
    }


def law(strategy: st.SearchStrategy[Any]) -> Callable[[Callable[[RetrievalCase, Any], None]], Law]:
    """Make a law of a function that checks one example."""

    def register(check: Callable[[RetrievalCase, Any], None]) -> Law:
        def holds(cases: Sequence[RetrievalCase], how: settings) -> None:
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


@law(some_rows(copies=True))
def bounded(case: RetrievalCase, batch: list[Row]) -> None:
    """Every score, and their mean, is from 0 to 1, whatever the ranking."""
    outputs = case.make(on_undefined="zero").run(**documents(batch))
    for value in (outputs["score"], *outputs["individual_scores"]):
        assert 0 <= value <= 1, f"{value} is outside [0, 1] in {batch}"


@law(some_rows())
def perfect(case: RetrievalCase, batch: list[Row]) -> None:
    """All relevant documents and nothing else, best first, is exactly 1."""
    batch = [row.ranked(row.relevant(case)) for row in batch if row.relevant(case)]
    for row, value in zip(batch, score(case, batch) if batch else [], strict=True):
        assert value == 1, f"a perfect ranking scores {value}: {row}"


@law(some_rows())
def nothing(case: RetrievalCase, batch: list[Row]) -> None:
    """No relevant document among the retrieved ones is 0."""
    batch = [row.ranked([name for name in row.ranking if name not in row.relevant(case)]) for row in batch]
    for row, value in zip(batch, score(case, batch), strict=True):
        assert value == 0, f"nothing relevant was found, but it scores {value}: {row}"


def _lift(case: RetrievalCase, batch: list[Row], may_pass: Callable[[Row, str, str], bool]) -> None:
    """Whichever document passes the one before it must not lower the score."""
    before: list[Row] = []
    after: list[Row] = []
    for row in batch:
        for place in range(1, len(row.ranking)):
            upper, lower = row.ranking[place - 1 : place + 1]
            if may_pass(row, lower, upper):
                before.append(row)
                after.append(row.ranked([*row.ranking[: place - 1], lower, upper, *row.ranking[place + 1 :]]))
    if before:
        values = zip(before, after, score(case, before), score(case, after), strict=True)
        for old, new, old_value, new_value in values:
            assert new_value >= old_value - 1e-12, f"{old_value} -> {new_value} from {old} to {new.ranking}"


@law(some_rows())
def promote(case: RetrievalCase, batch: list[Row]) -> None:
    """A relevant document that passes one that is not never lowers the score."""
    _lift(case, batch, lambda row, lower, upper: lower in (good := row.relevant(case)) and upper not in good)


@law(some_rows())
def better_first(case: RetrievalCase, batch: list[Row]) -> None:
    """A relevant document that passes another of a lower grade never lowers the score."""

    def better(row: Row, lower: str, upper: str) -> bool:
        return {lower, upper} <= set(row.relevant(case)) and row.grade(lower, case) > row.grade(upper, case)

    _lift(case, batch, better)


@law(some_rows())
def append(case: RetrievalCase, batch: list[Row]) -> None:
    """Documents that are not relevant, at the end, change nothing."""
    longer = [
        row.ranked([*row.ranking, *(name for name in NAMES if name not in {*row.ranking, *row.relevant(case)})])
        for row in batch
    ]
    _equal(case, batch, longer)


@law(some_rows(copies=True))
def rename(case: RetrievalCase, batch: list[Row]) -> None:
    """What documents are called changes nothing."""
    new = dict(zip(NAMES, "hcjafbegdi", strict=True))
    renamed = [
        Row({new[name]: grade for name, grade in row.labels.items()}, [new[name] for name in row.ranking])
        for row in batch
    ]
    _equal(case, batch, renamed)


@law(some_rows(copies=True))
def label_order(case: RetrievalCase, batch: list[Row]) -> None:
    """The order of the labels changes nothing."""
    for order in (lambda names: names[::-1], sorted):
        other = [Row({name: row.labels[name] for name in order(list(row.labels))}, row.ranking) for row in batch]
        _equal(case, batch, other)


@law(some_rows())
def copies(case: RetrievalCase, batch: list[Row]) -> None:
    """Copies of retrieved documents, at the end, gain nothing."""
    longer = [row.ranked([*row.ranking, *row.ranking[:1]]) for row in batch]
    longest = [row.ranked([*row.ranking, *row.ranking[::-1]]) for row in batch]
    values = zip(batch * 2, score(case, batch) * 2, score(case, longer + longest), strict=True)
    for row, old, new in values:
        assert new <= old + 1e-12, f"copies at the end raise {old} to {new}: {row}"


@law(some_rows())
def deep_cutoff(case: RetrievalCase, batch: list[Row]) -> None:
    """A cut-off behind the end of every ranking equals a deeper one, and none."""
    cut = score(case.with_cutoff(1000), batch)
    others = [case.with_cutoff(2000)] if case.needs_cutoff else [case.with_cutoff(2000), case.with_cutoff(None)]
    for other in others:
        for row, one, two in zip(batch, cut, score(other, batch), strict=True):
            assert math.isclose(one, two, abs_tol=1e-12), f"{one} at 1000, but {two} with {other.parameters}: {row}"


@law(some_rows())
def on_undefined(case: RetrievalCase, batch: list[Row]) -> None:
    """The policies differ in the undefined rows alone, which are those without labels (or documents) to count."""
    undefined = [not (row.relevant(case) if case.needs_relevant else row.ranking) for row in batch]
    sockets = documents(batch)
    zero, nan = (case.make(on_undefined=policy).run(**sockets) for policy in ("zero", "nan"))
    expected = ["undefined" if row else "scored" for row in undefined]
    assert zero["statuses"] == nan["statuses"] == expected, f"statuses {zero['statuses']} for {batch}"
    for missing, as_zero, as_nan in zip(undefined, zero["individual_scores"], nan["individual_scores"], strict=True):
        assert as_zero == 0 and math.isnan(as_nan) if missing else as_zero == as_nan, f"{as_zero}, {as_nan} in {batch}"
    defined = [value for value in nan["individual_scores"] if not math.isnan(value)]
    mean = sum(defined) / len(defined) if defined else math.nan
    assert math.isclose(nan["score"], mean, abs_tol=1e-12) if defined else math.isnan(nan["score"]), (
        "mean without undefined"
    )
    assert math.isclose(zero["score"], sum(defined) / ROWS, abs_tol=1e-12), "mean with undefined as 0"
    strict = case.make(on_undefined="raise")
    try:
        assert strict.run(**sockets)["individual_scores"] == zero["individual_scores"]
        raised = False
    except UndefinedScore:
        raised = True
    assert raised == any(undefined), f"on_undefined='raise' {'raised' if raised else 'did not raise'} for {batch}"


def _equal(case: RetrievalCase, one: list[Row], other: list[Row]) -> None:
    for row, changed, old, new in zip(one, other, score(case, one), score(case, other), strict=True):
        assert math.isclose(old, new, abs_tol=1e-12), f"{old} becomes {new}: from {row} to {changed}"
