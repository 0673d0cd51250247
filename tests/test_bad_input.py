# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Bad input is refused before any work, by a message that names the socket or parameter, the row, and what came.

Each kind of bad rows meets every component that has the socket, and each kind of bad parameter every component that
takes it: the package says which. The texts of documents never show in a traceback.
"""

import math
import re
import traceback
from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage

import haystack_eval_ext
from cases import Case, all_cases
from harness import init_parameters
from haystack_eval_ext import (
    DocumentEvidenceEvaluator,
    DocumentHitRateEvaluator,
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentPrecisionEvaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
)

SECRET = "SECRET-TEXT"  # noqa: S105 - stands for the text of a user
TRUTH, RETRIEVED = "ground_truth_documents", "retrieved_documents"
COMPONENTS: list[Any] = [
    exported for name in haystack_eval_ext.__all__ if hasattr(exported := getattr(haystack_eval_ext, name), "run")
]


def document_sockets(component: Any) -> list[str]:
    """The sockets of a component that take documents to compare."""
    return [socket for socket in (TRUTH, RETRIEVED) if socket in signature(component.run).parameters]


def case_of(component: Any) -> Case:
    """A row of the tables for a component."""
    rows = [case for case in all_cases() if case.component is component]
    assert rows, f"{component.__name__} has no row in tests/cases_<family>.py"
    return rows[0]


def maker(component: Any) -> partial[Any]:
    """A component with nothing set but what it cannot be made without."""
    needed = [parameter.name for parameter in init_parameters(component) if parameter.default is Parameter.empty]
    return partial(component, **{name: case_of(component).parameters[name] for name in needed})


# Every component with a socket for documents, and again those that read rows in more than one way.
ALL_MAKERS: dict[str, partial[Any]] = {
    **{component.__name__: maker(component) for component in COMPONENTS if document_sockets(component)},
    "multi_hit": partial(DocumentRecallEvaluator, "multi_hit"),
    "graded and whole": partial(DocumentRankingEvaluator, ["nDCG@3", "R"]),
}
# Those that compare documents with labels.
MAKERS = {name: make for name, make in ALL_MAKERS.items() if document_sockets(make.func) == [TRUTH, RETRIEVED]}


def takes(make: partial[Any], *parameters: str) -> bool:
    """Whether what a maker makes can be given these parameters."""
    component: Any = make.func
    return set(parameters) <= {parameter.name for parameter in init_parameters(component)}


def doc(score: Any = None, content: str | None = f"{SECRET} one", **meta: Any) -> Document:
    """A Document with any grade."""
    return Document(content=content, meta=meta, score=score)


def odd_meta() -> Document:
    """A Document that somebody spoilt after it was made."""
    document = doc()
    vars(document)["meta"] = None
    return document


GOOD = [doc()]
# Kind: value of the socket beside two good rows in the other one, exception, what the message says about it.
SOCKET_VALUES: dict[str, tuple[Any, type[Exception], str]] = {
    "None": (None, TypeError, r"must be a list.*is None"),
    "a str": (SECRET, TypeError, r"must be a list.*a str"),
    "bytes": (SECRET.encode(), TypeError, r"must be a list.*a bytes"),
    "a dict": ({"a": SECRET}, TypeError, r"must be a list.*a dict"),
    "a set": ({SECRET}, TypeError, r"must be a list.*a set\. A set has no order"),
    "a generator": ((row for row in [GOOD, GOOD]), TypeError, r"a generator\. It can be read only once"),
    "an array of numbers": (np.zeros((2, 1)), TypeError, r"\[0\]\[0\] must be a Document.*a float"),
    "an int": (2, TypeError, r"must be a list.*an int"),
    "a Document": (doc(), TypeError, r"must be a list.*a Document"),
    "a list of str": ([SECRET, SECRET], TypeError, r"\[0\] must be .*a str"),
    "a None row": ([GOOD, None], TypeError, r"\[1\] must be .*None"),
    "a str row": ([GOOD, SECRET], TypeError, r"\[1\] must be .*a str"),
    "a dict row": ([GOOD, {"content": SECRET}], TypeError, r"\[1\] must be .*a dict"),
    "an int row": ([GOOD, 3], TypeError, r"\[1\] must be .*an int"),
    "a Document row after a list": ([GOOD, doc()], TypeError, r"\[1\] must be .*a Document"),
    "a list after a Document": ([doc(), GOOD], TypeError, r"\[1\] must be .*a list"),
    "None after a Document": ([doc(), None], TypeError, r"\[1\] must be .*None"),
    "a ChatMessage after one": ([doc(), ChatMessage.from_user(SECRET)], TypeError, r"\[1\] must be .*a ChatMessage"),
    "three lists deep": ([GOOD, [GOOD]], TypeError, r"\[1\]\[0\] must be a Document.*a list"),
    "None inside": ([GOOD, [None, doc()]], TypeError, r"\[1\]\[0\] must be a Document.*None"),
    "a str inside": ([GOOD, [SECRET]], TypeError, r"\[1\]\[0\] must be a Document.*a str"),
    "an int inside": ([[7], GOOD], TypeError, r"\[0\]\[0\] must be a Document.*an int"),
    "a ChatMessage inside": ([GOOD, [ChatMessage.from_user(SECRET)]], TypeError, r"\[1\]\[0\] must be .*a ChatMessage"),
    "an empty dict": ([GOOD, [{}]], ValueError, r"\[1\]\[0\].*dict"),
    "a dict of something else": ([GOOD, [{"text": SECRET}]], ValueError, r"\[1\]\[0\].*dict.*content"),
    "JSON with a number as content": ([GOOD, [{"content": 7}]], ValueError, r"\[1\]\[0\].*'content'.*an int"),
    "JSON, str as score": ([GOOD, [{"content": SECRET, "score": SECRET}]], ValueError, r"\[1\]\[0\].*'score'.*a str"),
    "JSON, list as meta": ([GOOD, [{"content": SECRET, "meta": [SECRET]}]], ValueError, r"\[1\]\[0\].*'meta'.*a list"),
    "JSON with a number as id": ([GOOD, [{"id": 7}]], ValueError, r"\[1\]\[0\].*'id'.*an int"),
    "JSON, broken blob": ([GOOD, [{"content": SECRET, "blob": {"no": SECRET}}]], ValueError, r"\[1\]\[0\].*JSON form"),
    "one row": ([GOOD], ValueError, r"same number of rows.* 1\b"),
    "three rows": ([GOOD, GOOD, GOOD], ValueError, r"same number of rows.* 3\b"),
    "a flat list beside two rows": ([doc(), doc()], ValueError, r"same number of rows.* 1\b.*one question"),
    "no rows beside two": ([], ValueError, r"same number of rows.* 0\b"),
}  # fmt: skip

# Kind: ground truth with a bad grade at row 1, position 0.
GRADES: dict[str, tuple[Any, type[Exception], str]] = {
    "NaN": (math.nan, ValueError, "nan"),
    "infinity": (math.inf, ValueError, "inf"),
    "minus infinity": (-math.inf, ValueError, "-inf"),
    "a numpy NaN": (np.float32("nan"), ValueError, "nan"),
    "a str": (SECRET, TypeError, "a str"),
    "a list": ([1], TypeError, "a list"),
    "a dict": ({}, TypeError, "a dict"),
    "a complex number": (1j, TypeError, "a complex"),
}

SPAN: dict[str, Any] = {"matching": "span", "document_comparison_field": "meta.file"}
# Kind: parameters that components share, and what the message says.
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "field unknown": ({"document_comparison_field": "contents"}, r"document_comparison_field.*'contents'"),
    "field embedding": ({"document_comparison_field": "embedding"}, r"document_comparison_field.*'embedding'"),
    "field meta alone": ({"document_comparison_field": "meta"}, r"document_comparison_field.*'meta'"),
    "field meta without key": ({"document_comparison_field": "meta."}, r"document_comparison_field.*'meta\.'"),
    "field empty": ({"document_comparison_field": ""}, r"document_comparison_field.*''"),
    "field None": ({"document_comparison_field": None}, r"document_comparison_field.*None"),
    "field a number": ({"document_comparison_field": 3}, r"document_comparison_field.*3"),
    "fields none": ({"document_comparison_field": []}, r"document_comparison_field.*\[\]"),
    "fields a tuple": ({"document_comparison_field": ("id", "content")}, r"document_comparison_field.*\("),
    "fields with unknown": ({"document_comparison_field": ["id", "nope"]}, r"document_comparison_field.*'nope'"),
    "fields with None": ({"document_comparison_field": ["id", None]}, r"document_comparison_field.*None"),
    "grade field unknown": ({"grade_field": "grade"}, r"grade_field.*'grade'"),
    "grade field without key": ({"grade_field": "meta."}, r"grade_field.*'meta\.'"),
    "grade field a number": ({"grade_field": 1}, r"grade_field.*1"),
    "threshold NaN": ({"relevance_threshold": math.nan}, r"relevance_threshold.*nan"),
    "threshold infinite": ({"relevance_threshold": math.inf}, r"relevance_threshold.*inf"),
    "threshold a str": ({"relevance_threshold": "2"}, r"relevance_threshold.*'2'"),
    "threshold a bool": ({"relevance_threshold": True}, r"relevance_threshold.*True"),
    "matching unknown": ({"matching": "fuzzy"}, r"matching.*'exact'.*'fuzzy'"),
    "matching None": ({"matching": None}, r"matching.*None"),
    "matching a list": ({"matching": ["exact"]}, r"matching.*\['exact'\]"),
    "overlap of nothing": ({"overlap_threshold": 0}, r"overlap_threshold.*0"),
    "overlap below zero": ({"overlap_threshold": -0.5}, r"overlap_threshold.*-0\.5"),
    "overlap above one": ({"overlap_threshold": 1.5}, r"overlap_threshold.*1\.5"),
    "overlap NaN": ({"overlap_threshold": math.nan}, r"overlap_threshold.*nan"),
    "overlap a str": ({"overlap_threshold": "0.5"}, r"overlap_threshold.*'0\.5'"),
    "overlap a bool": ({"overlap_threshold": True}, r"overlap_threshold.*True"),
    "duplicates unknown": ({"duplicates": "first"}, r"duplicates.*'keep'.*'first'"),
    "duplicates None": ({"duplicates": None}, r"duplicates.*None"),
    "policy unknown": ({"on_undefined": "skip"}, r"on_undefined.*'zero'.*'skip'"),
    "policy None": ({"on_undefined": None}, r"on_undefined.*None"),
    "policy a list": ({"on_undefined": ["zero"]}, r"on_undefined.*\['zero'\]"),
    "overlap of ids": ({"matching": "overlap", "document_comparison_field": "id"}, r"overlap.*content.*'id'"),
    "span of content": ({"matching": "span"}, r"span.*document_comparison_field"),
    "span and each": ({**SPAN, "duplicates": "each"}, r"span.*each|each"),
    "cut-off zero": ({"top_k": 0}, r"top_k.*0"),
    "cut-off negative": ({"top_k": -1}, r"top_k.*-1"),
    "cut-off a float": ({"top_k": 2.0}, r"top_k.*2\.0"),
    "cut-off a bool": ({"top_k": True}, r"top_k.*True"),
    "cut-off a str": ({"top_k": "3"}, r"top_k.*'3'"),
    "cut-off NaN": ({"top_k": math.nan}, r"top_k.*nan"),
    "cut-off a list": ({"top_k": [1, 3]}, r"top_k.*\[1, 3\]"),
}  # fmt: skip
# Kind: what makes one component, and what the message says.
OWN_PARAMETERS: dict[str, tuple[Callable[[], Any], str]] = {
    "recall: unknown mode": (lambda: DocumentRecallEvaluator("multi"), r"mode.*'single_hit'.*'multi'"),  # type: ignore[arg-type]
    "recall: mode None": (lambda: DocumentRecallEvaluator(None), r"mode.*None"),  # type: ignore[arg-type]
    "recall: capped hit": (lambda: DocumentRecallEvaluator(capped=True, top_k=3), r"capped.*multi_hit.*'single_hit'"),
    "recall: capped without top_k": (lambda: DocumentRecallEvaluator("multi_hit", capped=True), r"capped.*top_k.*None"),
    "recall: multi_hit of each copy": (lambda: DocumentRecallEvaluator("multi_hit", duplicates="each"), r"each"),
    "recall: capped spans": (
        lambda: DocumentRecallEvaluator("multi_hit", capped=True, top_k=3, **SPAN),
        r"R_cap.*span",
    ),
    "nDCG: unknown gain": (lambda: DocumentNDCGEvaluator(gain="log"), r"gain.*'linear'.*'log'"),  # type: ignore[arg-type]
    "nDCG of each copy": (lambda: DocumentNDCGEvaluator(duplicates="each"), r"nDCG.*each"),
    "MAP of each copy": (lambda: DocumentMAPEvaluator(duplicates="each"), r"AP.*each"),
    "nDCG of spans": (lambda: DocumentNDCGEvaluator(**SPAN), r"nDCG.*span"),
    "MAP of spans": (lambda: DocumentMAPEvaluator(**SPAN), r"AP.*span"),
}
MEASURES: dict[str, tuple[Any, str]] = {
    "none": ([], r"measures.*\[\]"),
    "None": (None, r"measures.*None"),
    "a str": ("AP", r"measures.*'AP'"),
    "a tuple": (("AP",), r"measures.*\('AP',\)"),
    "a number inside": (["AP", 3], r"3"),
    "an empty name": ([""], r"''"),
    "unknown": (["nDGC@10"], r"'nDGC'.*nDCG"),
    "unknown in another case": (["ndcg@10"], r"'ndcg'.*nDCG"),
    "unknown, close to several": (["Recal"], r"'Recal'.*\bR\b"),
    "twice": (["AP", "AP"], r"AP.*twice"),
    "twice by an alias": (["AP", "MAP"], r"AP.*twice"),
    "twice by a default": (["RBP", "RBP(p=0.8)"], r"RBP.*twice"),
    "cut-off zero": (["P@0"], r"cut-off.*\b0"),
    "cut-off negative": (["P@-1"], r"'P@-1'.*cut-off"),
    "cut-off a fraction": (["P@1.5"], r"'P@1\.5'.*cut-off"),
    "cut-off missing": (["P@"], r"'P@'"),
    "cut-off a word": (["P@ten"], r"'P@ten'"),
    "cut-off too deep": (["P@99999999999999999999"], r"cut-off.*99999999999999999999"),
    "cut-off where there is none": (["Rprec@5"], r"Rprec.*no cut-off"),
    "no cut-off where one is needed": (["R_cap"], r"R_cap.*needs a cut-off"),
    "budget zero": (["R@0w"], r"cut-off.*\b0"),
    "unknown parameter": (["RBP(q=0.5)"], r"RBP.*'q'.*p"),
    "parameter out of range": (["RBP(p=1.5)"], r"RBP.*p=1\.5.*above 0 and below 1"),
    "parameter of another type": (["RBP(p='x')"], r"RBP.*p='x'.*above 0 and below 1"),
    "parameter NaN": (["SetF(beta=nan)"], r"SetF\(beta=nan\)"),
    "parameter without name": (["RBP(0.5)"], r"RBP\(0\.5\)"),
    "parameter twice": (["RBP(p=0.5,p=0.6)"], r"RBP\(p=0\.5,p=0\.6\)"),
    "parentheses open": (["RBP(p=0.5"], r"RBP\(p=0\.5"),
    "a call inside": (["RBP(p=exit())"], r"RBP\(p=exit\(\)\)"),
    "level a str": (["P(rel='2')@5"], r"P.*rel.*'2'"),
    "level a bool": (["P(rel=True)@5"], r"P.*rel.*True"),
    "level of a graded measure": (["nDCG(rel=2)"], r"nDCG.*'rel'"),
    "unknown gain": (["nDCG(dcg='ln')"], r"nDCG.*dcg.*'ln'"),
    "budget of capped recall": (["R_cap@50w"], r"R_cap has no cut-off in words"),
    "budget of judged documents": (["P(judged_only=True)@50w"], r"judged_only.*words"),
}  # fmt: skip


def refused(action: Callable[[], Any], kinds: type[Exception] | tuple[type[Exception], ...], message: str) -> str:
    """The message of the refusal; no text of a document may be anywhere in its traceback."""
    with pytest.raises(kinds) as caught:
        action()
    text = str(caught.value)
    assert re.search(message, text, re.DOTALL), text
    # The exceptions alone, with causes and contexts: the source lines of this file hold the secret.
    parts = [part for part in traceback.format_exception(caught.value) if not part.startswith("  File ")]
    assert SECRET not in "".join(parts)
    return text


@pytest.mark.parametrize(
    ("name", "socket"), [(name, socket) for name, make in ALL_MAKERS.items() for socket in document_sockets(make.func)]
)
@pytest.mark.parametrize("kind", SOCKET_VALUES)
def test_bad_rows(kind: str, name: str, socket: str) -> None:
    make = ALL_MAKERS[name]
    value, exception, message = SOCKET_VALUES[kind]
    if kind == "a generator":  # one use each
        value = (row for row in [GOOD, GOOD])
    inputs = {other: values[:2] for other, values in case_of(make.func).inputs.items()}
    inputs.update({other: [GOOD, GOOD] for other in (TRUTH, RETRIEVED) if other in inputs})
    text = refused(lambda: make().run(**{**inputs, socket: value}), exception, message)
    assert socket in text


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("socket", [TRUTH, RETRIEVED])
def test_documents_whose_texts_are_all_empty(socket: str, make: Callable[..., Any]) -> None:
    inputs = {TRUTH: [GOOD, GOOD], RETRIEVED: [GOOD, GOOD], socket: [[doc(content="")], [doc(content=None)]]}
    refused(lambda: make().run(**inputs), ValueError, f"None of the 2 documents in {socket}.*'content'")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("kind", GRADES)
@pytest.mark.parametrize("field", ["score", "meta.grade"])
def test_bad_grades(field: str, kind: str, make: Callable[..., Any]) -> None:
    grade, exception, message = GRADES[kind]
    bad = doc(score=grade) if field == "score" else doc(grade=grade)
    rows = {TRUTH: [GOOD, [bad, doc(content="other")]], RETRIEVED: [GOOD, GOOD]}
    text = refused(lambda: make(grade_field=field).run(**rows), exception, message)
    assert f"{TRUTH}[1][0]" in text and field in text


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_grades_that_are_not_looked_at_are_not_refused(make: Callable[..., Any]) -> None:
    rows = {TRUTH: [[doc(score=math.nan)]], RETRIEVED: [[doc(score=math.nan)]]}
    assert make(grade_field=None).run(**rows)["score"] == 1


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_no_rows(make: Callable[..., Any]) -> None:
    refused(lambda: make().run(**{TRUTH: [], RETRIEVED: []}), ValueError, f"{TRUTH}.*{RETRIEVED}.*no rows")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("with_field", [TRUTH, RETRIEVED])
@pytest.mark.parametrize("field", ["meta.file", "meta.a.b", ["id", "meta.file"]], ids=str)
def test_field_on_one_side_only(field: Any, with_field: str, make: Callable[..., Any]) -> None:
    has = [[doc(file="f", a={"b": 1})]] * 2
    inputs = {TRUTH: [GOOD, GOOD], RETRIEVED: [GOOD, GOOD], with_field: has}
    without = RETRIEVED if with_field == TRUTH else TRUTH
    refused(
        lambda: make(document_comparison_field=field).run(**inputs),
        ValueError,
        f"None of the 2 documents in {without}.*{re.escape(str(field))}",
    )


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("socket", [TRUTH, RETRIEVED])
def test_documents_whose_meta_is_no_dict(socket: str, make: Callable[..., Any]) -> None:
    inputs = {TRUTH: [[doc(file="f")]] * 2, RETRIEVED: [[doc(file="f")]] * 2, socket: [[doc(file="f")], [odd_meta()]]}
    refused(
        lambda: make(document_comparison_field="meta.file").run(**inputs), TypeError, rf"{socket}\[1\]\[0\].*meta.*None"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name, make in MAKERS.items() for kind in PARAMETERS if takes(make, *PARAMETERS[kind][0])],
)
def test_bad_parameters(name: str, kind: str) -> None:
    parameters, message = PARAMETERS[kind]
    refused(lambda: MAKERS[name](**parameters), (ValueError, TypeError), message)


@pytest.mark.parametrize("kind", PARAMETERS)
def test_every_kind_of_bad_parameter_meets_a_component(kind: str) -> None:
    assert any(takes(make, *PARAMETERS[kind][0]) for make in MAKERS.values())


@pytest.mark.parametrize("kind", OWN_PARAMETERS)
def test_bad_parameters_of_one_component(kind: str) -> None:
    make, message = OWN_PARAMETERS[kind]
    refused(make, (ValueError, TypeError), message)


@pytest.mark.parametrize("kind", MEASURES)
def test_bad_measures(kind: str) -> None:
    measures, message = MEASURES[kind]
    refused(lambda: DocumentRankingEvaluator(measures), (ValueError, TypeError), message)


def test_grade_above_the_highest_grade_of_err() -> None:
    evaluator = DocumentRankingEvaluator(["ERR"])
    rows = {TRUTH: [GOOD, [doc(score=3)]], RETRIEVED: [GOOD, GOOD]}
    refused(lambda: evaluator.run(**rows), ValueError, r"ERR\(max_grade=1\).*row 1.*grade 3.*highest grade")


LABELS: dict[str, tuple[dict[str, Any], str]] = {
    "no offsets": ({}, "start.*None"),
    "no end": ({"start": 0}, "end.*None"),
    "a str as start": ({"start": "0", "end": 3}, "start.*a str"),
    "a float as end": ({"start": 0, "end": 3.0}, "end.*a float"),
    "a bool as end": ({"start": 0, "end": True}, "end.*a bool"),
    "end before start": ({"start": 5, "end": 3}, "start is 5.*end is 3"),
    "an empty span": ({"start": 5, "end": 5}, "start is 5.*end is 5"),
    "a negative start": ({"start": -1, "end": 3}, "start is -1"),
}
SPANS: dict[str, Callable[[], Any]] = {
    "P": lambda: DocumentPrecisionEvaluator(**SPAN),
    "Success": lambda: DocumentHitRateEvaluator(**SPAN),
    "RR": lambda: DocumentMRREvaluator(**SPAN),
    "R": lambda: DocumentRecallEvaluator("multi_hit", **SPAN),
    "evidence": lambda: DocumentEvidenceEvaluator(**SPAN),
    "F1": lambda: DocumentRankingEvaluator(["F1"], **SPAN),
}
CHUNK = [doc(file="f", split_idx_start=0)]


@pytest.mark.parametrize("make", SPANS.values(), ids=SPANS)
@pytest.mark.parametrize("kind", LABELS)
def test_span_labels_without_usable_offsets(kind: str, make: Callable[[], Any]) -> None:
    meta, message = LABELS[kind]
    good = doc(file="f", start=0, end=3)
    rows = {TRUTH: [[good], [good, doc(file="f", **meta)]], RETRIEVED: [CHUNK, CHUNK]}
    refused(lambda: make().run(**rows), ValueError, rf"{TRUTH}\[1\]\[1\].*{message}")


@pytest.mark.parametrize("make", SPANS.values(), ids=SPANS)
@pytest.mark.parametrize(
    ("start", "came"), [(None, "None"), ("0", "a str"), (-1, "-1"), (1.5, "a float"), (True, "a bool|True")]
)
def test_chunks_without_a_place(start: Any, came: str, make: Callable[[], Any]) -> None:
    label = [doc(file="f", start=0, end=3)]
    rows = {TRUTH: [label, label], RETRIEVED: [CHUNK, [doc(file="f", split_idx_start=start)]]}
    refused(lambda: make().run(**rows), ValueError, rf"{RETRIEVED}\[1\]\[0\].*split_idx_start.*({came})")
