# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The harness accepts a right component and rejects each wrong one by the check that is there for it."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from haystack import Document, component
from hypothesis import Phase, settings

import harness
import haystack_eval_ext
import laws_retrieval
from cases import Case, Golden
from cases_retrieval import SAMPLE, RetrievalCase
from worlds import rows
from wrong_components import (
    CallsUndefinedZero,
    CannotBePickled,
    ChangesItsInput,
    CountsItsCutoff,
    DropsARow,
    EatsItsDict,
    FirstLabelOnly,
    GivesAnInt,
    GivesAnotherMean,
    GivesNumpyFloats,
    HidesAnOutput,
    InventsAStatus,
    IsNotThreadSafe,
    KeepsNumpyNumbers,
    LooksAtOtherRows,
    LosesAParameter,
    PrefersLowGrades,
    RefusesJson,
    RefusesTuples,
    RemembersRows,
    Right,
    RightBase,
    SortsRows,
    SplitsASingleQuestion,
    TakesNoRows,
    WaitsDifferently,
    WithoutExample,
    WithUndocumentedParameter,
    WithWrongExample,
    WritesAnotherValue,
    ids,
)

QUICK = settings(max_examples=100, derandomize=True, deadline=None, database=None, phases=[Phase.generate])


CONTRACT_FAULTS: list[tuple[type, Callable[[Case], None], str]] = [
    (Right, harness.is_exported, "not in haystack_eval_ext.__all__"),
    (WithoutExample, harness.is_documented, "no example"),
    (WithWrongExample, harness.is_documented, "prints .*2.* but says .*3"),
    (WithUndocumentedParameter, harness.is_documented, "does not document top_k"),
    (SortsRows, harness.scores_rows_one_by_one, "of rows"),
    (LooksAtOtherRows, harness.scores_rows_one_by_one, "of rows"),
    (DropsARow, harness.gives_plain_values, "entries for 6 rows"),
    (GivesNumpyFloats, harness.gives_plain_values, "holds a float64"),
    (GivesAnInt, harness.gives_plain_values, "does not hold floats"),
    (InventsAStatus, harness.gives_plain_values, "unknown statuses"),
    (GivesAnotherMean, harness.gives_plain_values, "not the mean"),
    (HidesAnOutput, harness.declares_its_outputs, "extra"),
    (ChangesItsInput, harness.leaves_its_inputs_alone, "changed its inputs"),
    (LosesAParameter, harness.survives_yaml, "loses top_k"),
    (WritesAnotherValue, harness.survives_yaml, "top_k=None instead of 2"),
    (EatsItsDict, harness.leaves_its_dict_alone, "changed its input"),
    (RefusesJson, harness.takes_json, "to_dict"),
    (RefusesTuples, harness.takes_any_sequence, "no list"),
    (KeepsNumpyNumbers, harness.takes_numpy_numbers, "unsupported value of type 'int64'|to_dict writes top_k"),
    (TakesNoRows, harness.knows_empty_from_missing, "without any row"),
    (SplitsASingleQuestion, harness.takes_a_single_question, "in its single form"),
    (RemembersRows, harness.runs_alike_in_pipelines, "outputs of"),
    (IsNotThreadSafe, harness.serves_threads, "in threads"),
    (DropsARow, harness.feeds_run_results, "Length of individual scores"),
    (CannotBePickled, harness.can_be_copied, "pickle"),
    (WaitsDifferently, harness.runs_alike_in_pipelines, "run_async"),
]


def case_of(kind: type, *golden: Golden) -> RetrievalCase:
    return RetrievalCase(kind.__name__, kind, SAMPLE, {"top_k": 2}, golden, needs_cutoff=True)


@pytest.mark.parametrize("check", [*harness.CONTRACT, *harness.ONCE], ids=lambda check: check.__name__)
def test_a_right_component_passes(check: harness.Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haystack_eval_ext, "__all__", [*haystack_eval_ext.__all__, "Right"])
    monkeypatch.setattr(haystack_eval_ext, "Right", Right, raising=False)
    check(case_of(Right))


@pytest.mark.parametrize(
    ("kind", "check", "message"),
    CONTRACT_FAULTS,
    ids=[f"{kind.__name__}-{check.__name__}" for kind, check, _ in CONTRACT_FAULTS],
)
def test_a_wrong_component_is_rejected(kind: type, check: harness.Check, message: str) -> None:
    with pytest.raises(Exception) as caught:
        check(case_of(kind))
    assert re.search(message, str(caught.value)), str(caught.value)


def test_every_check_of_the_contract_has_a_component_that_it_rejects() -> None:
    rejecting = {check for _, check, _ in CONTRACT_FAULTS}
    assert {*harness.CONTRACT, *harness.ONCE} - rejecting == {harness.leaves_its_parameters_alone}


def test_a_component_that_changes_its_parameters_is_rejected() -> None:
    @component
    class Appends(RightBase):
        def __init__(self, names: list[str]) -> None:
            RightBase.__init__(self)
            names.append("more")

    with pytest.raises(AssertionError, match="parameters became"):
        harness.leaves_its_parameters_alone(Case("appends", Appends, SAMPLE, {"names": []}))


def test_a_wrong_golden_value_is_rejected() -> None:
    labels = rows(("a b", "a x"))
    harness.check_golden(case_of(Right, Golden("right", labels, [0.5])))
    with pytest.raises(AssertionError, match="wrong"):
        harness.check_golden(case_of(Right, Golden("wrong", labels, [0.51])))


def measure(function: Callable[[set[str], list[Document]], float]) -> type:
    """A component of a measure of relevant ids and ranking."""

    @component
    class Made(RightBase):
        def row(self, truth: list[Document], ranking: list[Document]) -> float | None:
            relevant = {label.id for label in truth if label.score is None or label.score > 0}
            return float(function(relevant, ranking)) if relevant else None

    return Made


def hits(relevant: set[str], ranking: list[Document]) -> list[int]:
    """Ranks of the relevant documents, copies included."""
    return [rank for rank, name in enumerate(ids(ranking), start=1) if name in relevant]


# A right measure that the laws are tried on: reciprocal rank.
def reciprocal(relevant: set[str], ranking: list[Document]) -> float:
    return 1 / min(hits(relevant, ranking), default=np.inf)


WRONG_MEASURES: dict[str, Callable[[set[str], list[Document]], float]] = {
    "bounded": lambda relevant, ranking: len(hits(relevant, ranking)) / len(relevant),  # copies counted: above 1
    "perfect": lambda relevant, ranking: 0.99 * reciprocal(relevant, ranking),
    "nothing": lambda relevant, ranking: reciprocal(relevant, ranking) or 0.01,
    "promote": lambda relevant, ranking: max(hits(relevant, ranking), default=0) / 10,  # later is better
    "append": lambda relevant, ranking: len(hits(relevant, ranking)) / max(len(ranking), 1),  # precision
    "rename": lambda relevant, ranking: reciprocal(relevant - {"id-a"}, ranking),
    "copies": lambda relevant, ranking: min(1, sum(1 / rank for rank in hits(relevant, ranking)) / 3),
}


@pytest.mark.parametrize("law", [name for name in laws_retrieval.LAWS if name != "deep_cutoff"])
def test_a_right_measure_keeps_the_laws(law: str) -> None:
    laws_retrieval.LAWS[law]([RetrievalCase("right", measure(reciprocal))], QUICK)


@pytest.mark.parametrize("law", WRONG_MEASURES)
def test_a_wrong_measure_breaks_its_law(law: str) -> None:
    with pytest.raises(AssertionError):
        laws_retrieval.LAWS[law]([RetrievalCase("wrong", measure(WRONG_MEASURES[law]))], QUICK)


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        ("label_order", FirstLabelOnly),
        ("better_first", PrefersLowGrades),
        ("deep_cutoff", CountsItsCutoff),
        ("on_undefined", CallsUndefinedZero),
    ],
)
def test_a_wrong_component_breaks_its_law(law: str, kind: type) -> None:
    with pytest.raises(AssertionError):
        laws_retrieval.LAWS[law]([RetrievalCase("wrong", kind)], QUICK)
    laws_retrieval.LAWS[law]([RetrievalCase("right", Right)], QUICK)
