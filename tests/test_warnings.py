# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
What looks wrong but can be scored is warned of once a run, with its count; what only looks like it is not.

Beside each kind of odd data stand its harmless twins. No log record holds the text of a document.
"""

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext import DocumentRankingEvaluator, UndefinedScore
from test_bad_input import MAKERS, RETRIEVED, SECRET, SPANS, TRUTH, doc, takes

FIELD = "meta.file"
Rows = list[list[Document]]
Make = Callable[..., Any]


def files(*rows: str) -> Rows:
    """Documents by the names of their files; "-" is one without a file, in one way after the other."""
    ways: list[dict[str, Any]] = [{}, {"file": None}, {"file": ""}, {"file": []}]
    return [
        [doc(**ways[place % 4]) if name == "-" else doc(file=name) for place, name in enumerate(row.split())]
        for row in rows
    ]


GOOD = {TRUTH: files("a b", "c"), RETRIEVED: files("a b x", "c")}


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings that were logged; nothing in any record holds the text of a document."""
    assert SECRET not in caplog.text
    assert not [record for record in caplog.records if SECRET in repr(vars(record))]
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def warnings(caplog: pytest.LogCaptureFixture, component: Any, inputs: dict[str, Rows]) -> list[str]:
    """The warnings of one run."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG):
        component.run(**inputs)
    return messages(caplog)


def check(came: list[str], *expected: str) -> None:
    """Fail unless there is one message for each pattern, in this order, and no other."""
    assert len(came) == len(expected), came
    for message, pattern in zip(came, expected, strict=True):
        assert re.fullmatch(pattern, message, re.DOTALL), message


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_good_rows_warn_of_nothing(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    check(warnings(caplog, make(document_comparison_field=FIELD), GOOD))


def lacking(n: int, total: int, socket: str, field: Any = FIELD) -> str:
    return rf"{n} of {total} documents in {socket} do not have the field {re.escape(str(field))} .*match nothing\."


# These stop at the first hit and do not count what stands behind it.
STOPPING = {"DocumentHitRateEvaluator", "DocumentMRREvaluator", "DocumentRecallEvaluator"}
COUNTING = {name: make for name, make in MAKERS.items() if name not in STOPPING}


@pytest.mark.parametrize("field", [FIELD, ["content", FIELD]], ids=str)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_labels_that_lack_the_field(make: Make, field: Any, caplog: pytest.LogCaptureFixture) -> None:
    inputs = {**GOOD, TRUTH: files("a - - b", "- c -")}
    check(warnings(caplog, make(document_comparison_field=field), inputs), lacking(4, 7, TRUTH, field))


@pytest.mark.parametrize("field", [FIELD, ["content", FIELD]], ids=str)
@pytest.mark.parametrize("make", COUNTING.values(), ids=COUNTING)
def test_retrieved_documents_that_lack_the_field(make: Make, field: Any, caplog: pytest.LogCaptureFixture) -> None:
    inputs = {**GOOD, RETRIEVED: files("- a b", "c - - x -")}
    # nDCG@3 and R look at everything, too: R has no cut-off.
    check(warnings(caplog, make(document_comparison_field=field), inputs), lacking(4, 8, RETRIEVED, field))
    inputs = {TRUTH: files("a - b", "c"), RETRIEVED: files("a b -", "c")}
    came = warnings(caplog, make(document_comparison_field=field), inputs)
    check(came, lacking(1, 4, TRUTH, field), lacking(1, 4, RETRIEVED, field))


CUT: dict[str, Make] = {
    **{name: make for name, make in COUNTING.items() if takes(make, "top_k")},
    "P@2": lambda top_k, **parameters: DocumentRankingEvaluator([f"P@{top_k}"], **parameters),
}


@pytest.mark.parametrize("make", CUT.values(), ids=CUT)
def test_what_lacks_the_field_is_counted_within_the_cut_off(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    evaluator = make(top_k=2, document_comparison_field=FIELD)
    inputs = {TRUTH: files("a", "c"), RETRIEVED: files("- a - -", "c x -")}
    check(warnings(caplog, evaluator, inputs), lacking(1, 4, RETRIEVED))
    check(warnings(caplog, evaluator, {**inputs, RETRIEVED: files("a x - -", "c x -")}))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_texts_that_are_empty_match_no_passage(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    evaluator = make(matching="overlap")
    inputs = {TRUTH: [[doc()], [doc(), doc(content="")]], RETRIEVED: [[doc(), doc(content=None)], [doc()]]}
    came = warnings(caplog, evaluator, inputs)
    check(came, lacking(1, 3, TRUTH, "content"), lacking(1, 3, RETRIEVED, "content"))
    check(warnings(caplog, evaluator, {TRUTH: [[doc()], [doc()]], RETRIEVED: [[doc()], [doc()]]}))


def graded(field: str, *rows: list[Any]) -> dict[str, Rows]:
    """Labels with these grades, in the order of the grades retrieved."""
    labels = [
        [
            doc(score=grade, file=f"{row} {place}") if field == "score" else doc(grade=grade, file=f"{row} {place}")
            for place, grade in enumerate(grades)
        ]
        for row, grades in enumerate(rows)
    ]
    return {TRUTH: labels, RETRIEVED: [[doc(file=label.meta["file"]) for label in row] for row in labels]}


# Kind: the grades of each question, and how many of them look like similarities.
FRACTIONS: dict[str, tuple[list[list[Any]], int]] = {
    "similarities": ([[0.8123, 0.7312], [0.6541]], 3),
    "most of them": ([[0.8123, 0.7312], [0.6541, 1]], 3),
    "beside labels without a grade": ([[0.8123, 0.7312], [None]], 2),
    "above one": ([[12.3456], [9.8765]], 2),
}
NO_FRACTIONS: dict[str, list[list[Any]]] = {
    "whole numbers": [[3, 2.0, 1], [1]],
    "no grades": [[None, None], [None]],
    "halves and quarters": [[0.5, 1.5, 0.25], [0.75]],
    "tenths": [[0.1, 0.2, 0.3], [0.7]],
    "twentieths": [[0.05, 0.15, 0.35], [0.95]],
    "half of them": [[0.8123, 1], [2, 0.7312]],
}


@pytest.mark.parametrize("field", ["score", "meta.grade"])
@pytest.mark.parametrize("kind", FRACTIONS)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_grades_that_look_like_similarities(
    make: Make, kind: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    grades, n = FRACTIONS[kind]
    total = sum(map(len, grades))
    message = rf"{n} of {total} grades in '{field}' of {TRUTH} are fractions .*grade_field=None.*"
    inputs = graded(field, *grades)
    check(warnings(caplog, make(document_comparison_field=FIELD, grade_field=field), inputs), message)
    # The same numbers where nobody looks.
    check(warnings(caplog, make(document_comparison_field=FIELD, grade_field=None), inputs))


@pytest.mark.parametrize("kind", NO_FRACTIONS)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_grades_that_people_give(make: Make, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    check(warnings(caplog, make(document_comparison_field=FIELD), graded("score", *NO_FRACTIONS[kind])))


@pytest.mark.parametrize("field", ["score", "meta.grade"])
@pytest.mark.parametrize(
    ("grades", "counts", "rows"),
    [
        pytest.param([[1, 0], [2]], "1 of 3", "row 0", id="zero"),
        pytest.param([[1], [3, -2]], "1 of 3", "row 1", id="negative"),
        pytest.param([[None], [3, -1.5, 0], [1], [0.0, 1]], "3 of 7", "rows 1, 3", id="several"),
        pytest.param([[1, 0]] * 12, "12 of 24", "rows 0, 1, .*, 9 and 2 more", id="many"),
    ],
)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_grades_of_zero_or_below(
    make: Make, grades: Any, counts: str, rows: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    message = rf"{counts} labels have a grade of 0 or below in '{field}' \({rows}\) .*not relevant.*grade_field=None.*"
    inputs = graded(field, *grades)
    check(warnings(caplog, make(document_comparison_field=FIELD, grade_field=field), inputs), message)
    check(warnings(caplog, make(document_comparison_field=FIELD, grade_field=None), inputs))
    positive = [[abs(grade or 1) for grade in row] for row in grades]
    check(warnings(caplog, make(document_comparison_field=FIELD), graded(field, *positive)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_grade_field_that_no_label_has(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    evaluator = make(document_comparison_field=FIELD, grade_field="meta.gräde")
    message = rf"No label in {TRUTH} has the field 'meta\.gräde'.*grade_field=None.*"
    check(warnings(caplog, evaluator, graded("meta.grade", [1, 2], [3])), message)
    check(warnings(caplog, make(document_comparison_field=FIELD), graded("score", [None, None], [None])))
    one = graded("meta.grade", [1, 2], [3])
    one[TRUTH][0][1].meta["gräde"] = 2
    check(warnings(caplog, evaluator, one))


@pytest.mark.parametrize("measures", [["R"], ["P@1", "RR", "nDCG@5"], ["RR"]], ids=str)
@pytest.mark.parametrize(
    ("inputs", "n"),
    [
        pytest.param({TRUTH: files("a b", "c"), RETRIEVED: files("a x", "x")}, 2, id="two of three"),
        pytest.param({TRUTH: files("a b", "c b"), RETRIEVED: files("a", "c")}, 1, id="one that two questions have"),
        pytest.param({TRUTH: files("a b", "c"), RETRIEVED: files("", "x a")}, 2, id="found by another question alone"),
    ],
)
def test_labels_that_are_never_retrieved(
    inputs: dict[str, Rows], n: int, measures: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    def evaluator(**parameters: Any) -> Any:
        return DocumentRankingEvaluator(measures, FIELD, **parameters)

    message = rf"DocumentRankingEvaluator: no ranking .* {n} of the relevant documents.*{FIELD}.*'never_retrieved'.*"
    check(warnings(caplog, evaluator(), inputs), message)
    check(warnings(caplog, evaluator(find_never_retrieved=False), inputs))
    # Of a single question nothing is said unless asked: to miss a document is no sign of a wrong label.
    single = {TRUTH: files("a b"), RETRIEVED: files("a x")}
    check(warnings(caplog, evaluator(), single))
    one = message.replace(f" {n} of", " 1 of")
    check(warnings(caplog, evaluator(find_never_retrieved=True), single), one)
    # Each label is in some ranking, if not in that of its question.
    check(warnings(caplog, evaluator(), {TRUTH: files("a b", "c"), RETRIEVED: files("c x", "b x a")}))


def test_texts_that_are_never_retrieved_are_counted_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    inputs = {TRUTH: [[doc()], [doc(content=f"{SECRET} two")]], RETRIEVED: [[doc()], [doc(content=f"{SECRET} three")]]}
    check(warnings(caplog, DocumentRankingEvaluator(["R"]), inputs), ".* 1 of the relevant documents.*content.*")


SOURCE = f"It was written: {SECRET} is not for logs."


def label(start: int, end: int, text: str | None, file: str = "page") -> Document:
    return doc(content=text, file=file, start=start, end=end)


def chunk(start: int, end: int, shift: int = 0) -> Document:
    """A piece of the source, with a place that may be wrong."""
    return doc(content=SOURCE[start:end], file="page", split_idx_start=start + shift)


RIGHT, LATE = label(3, 20, SOURCE[3:20]), label(20, 30, SOURCE[20:30])
DIFFERS = r"\w+: 1 of 2 rows were not run \(a covered passage differs from the text of its label.*\): row 1.*"
TORN = r"\w+: 2 of 2 rows were not run \(.*claim the same characters with different text.*\): rows 0, 1.*"
UNCHECKED = r"{n} covered passages could not be checked .*'split_idx_start'.*"
# Kind: labels and chunks of the second question, and the warnings.
PLACES: dict[str, tuple[list[Document], list[Document], list[str]]] = {
    "right": ([RIGHT, LATE], [chunk(0, 10), chunk(10, 40)], []),
    "a place that is wrong": ([RIGHT], [chunk(0, 25, shift=1)], [TORN]),
    "a text that is wrong": ([label(3, 7, "know")], [chunk(0, 25)], [DIFFERS]),
    "one of two chunks": ([RIGHT], [chunk(0, 10), chunk(10, 25, shift=-1)], [TORN]),
    "one of two labels": ([RIGHT, label(20, 22, "no")], [chunk(0, 40)], [DIFFERS]),
    "a label without text": ([label(3, 7, None)], [chunk(0, 25)], [UNCHECKED.format(n=1)]),
    "a label with another length": ([label(3, 7, SECRET)], [chunk(0, 25)], [UNCHECKED.format(n=1)]),
    "both": (
        [label(3, 7, "know"), label(8, 12, None), LATE],
        [chunk(0, 25)],
        [UNCHECKED.format(n=1), DIFFERS],
    ),
    "wrong where no chunk looks": ([RIGHT, label(30, 34, "know"), label(35, 37, None)], [chunk(0, 25)], []),
    "wrong in another document": ([RIGHT, label(3, 7, "know", file="other")], [chunk(0, 25)], []),
}


@pytest.mark.parametrize("make", SPANS.values(), ids=SPANS)
@pytest.mark.parametrize("kind", PLACES)
def test_places_that_do_not_fit_the_texts(kind: str, make: Make, caplog: pytest.LogCaptureFixture) -> None:
    labels, chunks, expected = PLACES[kind]
    inputs = {TRUTH: [[RIGHT], labels], RETRIEVED: [[chunk(0, 25)], chunks]}
    check(warnings(caplog, make(), inputs), *expected)


UNDEFINED = {TRUTH: files("a", "", "c", ""), RETRIEVED: files("a", "b", "c d", "")}
EFFECTS = {"zero": r" They count as 0 \(on_undefined='zero'\)\.", "nan": r" They are left out .*on_undefined='nan'\)\."}


@pytest.mark.parametrize("policy", EFFECTS)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_undefined_rows(make: Any, policy: str, caplog: pytest.LogCaptureFixture) -> None:
    evaluator = make(document_comparison_field=FIELD, on_undefined=policy)
    found = rf"{make.func.__name__}: 2 of 4 rows are undefined \(no relevant documents\): rows 1, 3\."
    check(warnings(caplog, evaluator, UNDEFINED), found + EFFECTS[policy])
    check(warnings(caplog, evaluator, GOOD))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_undefined_rows_that_are_refused(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    evaluator = make(document_comparison_field=FIELD, on_undefined="raise")
    with caplog.at_level(logging.DEBUG), pytest.raises(UndefinedScore) as caught:
        evaluator.run(**UNDEFINED)
    check(messages(caplog))
    found = rf"{make.func.__name__}: 2 of 4 rows are undefined \(no relevant documents\): rows 1, 3\."
    check([str(caught.value)], found + " .*'zero' or 'nan'.*")
    check(warnings(caplog, evaluator, GOOD))


def test_measures_that_are_undefined_share_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    evaluator = DocumentRankingEvaluator(["AP", "R@2", "Judged", "Judged@1"], FIELD, on_undefined="nan")
    name = "DocumentRankingEvaluator: "
    check(
        warnings(caplog, evaluator, UNDEFINED),
        name + r"2 of 4 rows are undefined \(no relevant documents\): rows 1, 3\." + EFFECTS["nan"],
    )
    check(warnings(caplog, evaluator, GOOD))
