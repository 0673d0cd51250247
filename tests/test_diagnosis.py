# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which stage failed: the two articles, the order of the rules, what comes out beside the labels, bad input."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import haystack_eval_ext
from cases_diagnosis import FIVE_ROWS, RECALL_AND_MATCH, SAMPLE, SAMPLE_LABELS
from haystack_eval_ext import RAGFailureClassifier
from haystack_eval_ext.diagnosis._rules import LABELS, STAGES
from test_bad_input import SECRET, refused

STAGE_OF = {label: f"{stage}_failure" for stage, labels in STAGES.items() for label in labels}


def diagnose(**scores: Any) -> tuple[str, str]:
    """Label and reason of one question; everything but the given scores is perfect."""
    perfect = {"retrieval": 1.0, "retrieval_at_cut": 1.0, "ranking": 1.0, "answer": 1.0, "faithfulness": 1.0}
    flags: dict[str, Any] = {name: [scores.pop(name)] for name in ("answerable", "retrieval_skipped") if name in scores}
    inputs = {f"{name}_scores": [score] for name, score in {**perfect, "refusal": 0.0, **scores}.items()}
    inputs |= flags
    result = RAGFailureClassifier().run(**inputs)
    return result["labels"][0], result["reasons"][0]


def run(**inputs: Any) -> dict[str, Any]:
    result: dict[str, Any] = RAGFailureClassifier().run(**inputs)
    return result


def test_the_three_cases_of_the_first_article() -> None:
    result = run(**RECALL_AND_MATCH)
    assert result["labels"] == ["retrieval_failure_lucky", "generation_failure_wrong", "passed"]
    retrieval, ranking, generation = result["stages"]
    third = pytest.approx(1 / 3)
    two_thirds = pytest.approx(2 / 3)
    assert retrieval == {
        "stage": "retrieval",
        "failed": 1,
        "share": third,
        "mean_score": two_thirds,
        "mean_of": "retrieval_scores",
    }
    assert generation == {
        "stage": "generation",
        "failed": 1,
        "share": third,
        "mean_score": two_thirds,
        "mean_of": "answer_scores",
    }
    # Nobody measured the ranking: no score, and not a share of 0 either.
    assert (ranking["failed"], ranking["mean_of"]) == (0, None)
    assert math.isnan(ranking["share"]) and math.isnan(ranking["mean_score"])
    assert result["reasons"] == [
        "retrieval 0 is below 1; the answer is right by luck: answer 1 reaches 0.5",
        "answer 0 is below 0.5",
        "retrieval 1 reaches 1, answer 1 reaches 0.5",
    ]


def test_a_case_that_fails_twice_is_a_class_of_its_own() -> None:
    result = run(retrieval_scores=[0.0], answer_scores=[0.0])
    assert result["labels"] == ["both_failed"]
    assert result["reasons"] == ["retrieval 0 is below 1, and answer 0 is below 0.5"]


@pytest.mark.parametrize("left_out", [[], ["answer_scores"]])
def test_the_five_rows_of_the_ragas_article(left_out: list[str]) -> None:
    result = run(**{name: scores for name, scores in FIVE_ROWS.items() if name not in left_out})
    assert [STAGE_OF.get(label, label) for label in result["labels"]] == [
        "passed",
        "generation_failure",
        "retrieval_failure",
        "ranking_failure",
        "generation_failure",
    ]
    assert result["labels"][1] == "generation_failure_unfaithful"
    assert result["labels"][2] == ("retrieval_failure" if left_out else "retrieval_failure_lucky")
    assert result["labels"][4] == "generation_failure_evasive"
    assert [row["failed"] for row in result["stages"]] == [1, 1, 2]
    assert [row["share"] for row in result["stages"]] == [0.2, 0.2, 0.4]
    # The article's means: context recall .8, context precision .667, faithfulness .533.
    last = 0.5334 if left_out else 0.8
    assert [row["mean_score"] for row in result["stages"]] == pytest.approx([0.8, 0.6666, last], abs=1e-9)


def test_a_right_answer_is_noted_where_a_stage_failed() -> None:
    reasons = run(**FIVE_ROWS)["reasons"]
    right = "; the answer is right all the same: answer 1 reaches 0.5"
    assert reasons[1] == f"faithfulness 0.667 is below 1{right}"
    assert reasons[3] == f"ranking 0.333 is below 0.5{right}"
    assert reasons[4] == "the answer declines: refusal 1 reaches 0.5"


# Every class: what differs from a question on which everything is perfect, the label, and a part of the reason.
CLASSES: dict[str, tuple[dict[str, Any], str, str]] = {
    "all is well": ({}, "passed", "retrieval 1 reaches 1"),
    "a score failed": ({"answer": nan}, "unknown", "answer is undefined"),
    "nothing retrieved, right": (
        {"retrieval": 0.0, "retrieval_at_cut": 0.0},
        "retrieval_failure_lucky",
        "the answer is right by luck",
    ),
    "one of two retrieved, right": (
        {"retrieval": 0.5, "retrieval_at_cut": 0.5},
        "retrieval_failure_incomplete",
        "with a part of the evidence the answer is right",
    ),
    "one of two retrieved, none reached the generator, right": (
        {"retrieval": 0.5, "retrieval_at_cut": 0.0},
        "retrieval_failure_lucky",
        "by luck",
    ),
    "one of two retrieved, wrong": ({"retrieval": 0.5, "retrieval_at_cut": 0.5, "answer": 0.0}, "both_failed", "and"),
    "nothing retrieved, wrong": ({"retrieval": 0.0, "retrieval_at_cut": 0.0, "answer": 0.0}, "both_failed", "and"),
    "behind the cut": ({"retrieval_at_cut": 0.0}, "ranking_failure", "evidence is behind the cut"),
    "far down, but it reached the generator": ({"ranking": 0.1}, "passed", "ranking 0.1 is below 0.5"),
    "far down, reached the generator, wrong": (
        {"ranking": 0.1, "answer": 0.0},
        "generation_failure_wrong",
        "ranking 0.1 is below 0.5, but the evidence reached the generator",
    ),
    "declines": ({"refusal": 1.0, "answer": 0.0}, "generation_failure_evasive", "the answer declines: refusal 1"),
    "unfaithful": ({"faithfulness": 0.5}, "generation_failure_unfaithful", "all the same"),
    "wrong": ({"answer": 0.0}, "generation_failure_wrong", "though faithfulness 1 reaches 1"),
    "no retrieval, right": (
        {"retrieval": nan, "retrieval_at_cut": nan, "ranking": nan, "faithfulness": nan, "retrieval_skipped": True},
        "passed",
        "retrieval was skipped; answer 1 reaches 0.5",
    ),
    "no retrieval, wrong": (
        {"retrieval": 0.0, "answer": 0.0, "retrieval_skipped": True},
        "routing_failure",
        "retrieval was skipped, and answer 0 is below 0.5",
    ),
    "no retrieval, declines": (
        {"retrieval": 0.0, "answer": 0.0, "refusal": 1.0, "retrieval_skipped": True},
        "routing_failure",
        "retrieval was skipped, and the answer declines",
    ),
    "no retrieval, nobody knows whether it is right": (
        {"answer": nan, "retrieval_skipped": True},
        "unknown",
        "answer is undefined",
    ),
    "unanswerable, declines": ({"refusal": 1.0, "answerable": False}, "correct_refusal", "nothing answers"),
    "unanswerable, says something": ({"answerable": False}, "generation_failure_invented", "does not decline"),
    "unanswerable, no retrieval": (
        {"refusal": 1.0, "answerable": False, "retrieval_skipped": True},
        "correct_refusal",
        "nothing answers",
    ),
}


@pytest.mark.parametrize("case", CLASSES)
def test_every_class(case: str) -> None:
    scores, label, words = CLASSES[case]
    found, reason = diagnose(**scores)
    assert found == label
    assert words in reason


def test_every_class_is_in_the_table() -> None:
    # The one that is missing has no answer score.
    assert {label for _, label, _ in CLASSES.values()} == set(LABELS) - {"retrieval_failure"}
    assert run(retrieval_scores=[0.5])["labels"] == ["retrieval_failure"]


def test_without_a_cut_a_low_rank_is_a_ranking_failure() -> None:
    """What reached the generator is not known: the fourth question of the article on Ragas."""
    result = run(retrieval_scores=[1.0], ranking_scores=[0.333], answer_scores=[1.0])
    assert result["labels"] == ["ranking_failure"]


def test_routing_is_a_stage_where_retrieval_was_skipped() -> None:
    rows = {"retrieval_scores": [1.0, 0.0, 0.0], "answer_scores": [1.0, 1.0, 0.0]}
    result = run(**rows, retrieval_skipped=[False, True, True])
    assert result["labels"] == ["passed", "passed", "routing_failure"]
    assert [(row["stage"], row["failed"]) for row in result["stages"]][:2] == [("routing", 1), ("retrieval", 0)]
    assert result["stages"][0]["share"] == 1 / 3
    assert [row["stage"] for row in run(**rows)["stages"]] == ["retrieval", "ranking", "generation"]
    untold = run(retrieval_scores=[0.0], retrieval_skipped=[True])
    assert (untold["labels"], untold["statuses"]) == (["unknown"], ["not_run"])
    assert "no answer score tells" in untold["reasons"][0]


DECLINES = [
    "I don't know.",
    "I'm sorry, I don't know.",
    "I am sorry, but I cannot answer that based on the documents.",
    "The context does not mention the deadline.",
    "The documents don't contain this information.",
    "Unknown.",
    "N/A",
    "I do not have enough information to answer.",
    "There is no information about this in the context.",
    "It cannot be determined from the text.",
    "This is not stated in the provided documents.",
    "This is not mentioned in the text.",
    "The text does not mention the deadline.",
    "The provided text doesn't say when it opens.",
    "I cannot find it.",
    "We couldn't find any information on leave in the handbook.",
    "I can't find the answer in the documents provided.",
    "I cannot say for sure.",
    "I cannot tell when the office opens.",
    "Im Text steht das nicht.",
    "Das weiß ich nicht.",
    "Dazu habe ich keine Informationen.",
    "Je ne sais pas.",
    "No lo sé.",
    "Non lo so.",
    "Não sei.",
    "Dat weet ik niet.",
    "わかりません。",
    "文書には記載がありません。",
    "我不知道。",
    "잘 모르겠습니다.",
]
DOES_NOT_DECLINE = [
    "Paris",
    "I don't know, but I think it is Paris.",
    "It does not contain nuts.",
    "They do not know the cause.",
    "The office is not available on Sundays.",
    "No information is stored.",
    "We cannot find a better hotel than the Ritz.",
    "I cannot say no to chocolate.",
    "The text of the treaty does not include Alaska.",
    "The articles of the constitution do not mention slavery.",
    "It is not mentioned in the text of the law.",
    "Full text search does not cover attachments.",
    "Der Text des Vertrags nennt Alaska nicht.",
    "Employees cannot carry over leave.",
    "No",
    "None",
    "It can't be found in stores.",
    "We do not ship abroad.",
    "わかりやすい文書です。",
    "I don't know. " + "The handbook has a page on leave, which says who may take it and when. " * 4,
]


@pytest.mark.parametrize("answer", [*DECLINES, *DOES_NOT_DECLINE])
def test_plain_refusals_are_seen_without_a_judge(answer: str) -> None:
    rows: dict[str, Any] = {"retrieval_scores": [1.0], "predicted_answers": [answer]}
    label = "generation_failure_evasive" if answer in DECLINES else "generation_failure_wrong"
    result = run(answer_scores=[0.0], **rows)
    assert result["labels"] == [label]
    assert answer not in result["reasons"][0]
    # What is right does not decline, and a judge knows better.
    assert run(answer_scores=[1.0], **rows)["labels"] == ["passed"]
    assert run(answer_scores=[0.0], refusal_scores=[0.0], **rows)["labels"] == ["generation_failure_wrong"]


def scores_in(low: int, middle: int, right: int) -> list[float]:
    return [0.0] * low + [0.3] * middle + [1.0] * right


# Scores, thresholds, and what is said of them; None: nothing.
SPREAD: dict[str, tuple[dict[str, list[float]], dict[str, float], str | None]] = {
    "49 of 59": (
        {"answer_scores": scores_in(5, 49, 5)},
        {},
        "49 of 59 answer scores lie between 0.05 and 0.5, 0 from 0.5 to 0.95: choose a threshold.",
    ),
    "on both sides": (
        {"answer_scores": [0.4, 0.6] * 10},
        {},
        "10 of 20 answer scores lie between 0.05 and 0.5, 10 from 0.5 to 0.95",
    ),
    "verdicts": ({"answer_scores": scores_in(30, 0, 29)}, {}, None),
    "few in the middle": ({"answer_scores": scores_in(30, 10, 19)}, {}, None),
    "few questions": ({"answer_scores": scores_in(0, 4, 0)}, {}, None),
    "a threshold that somebody chose": ({"answer_scores": scores_in(5, 49, 5)}, {"answer_threshold": 0.25}, None),
    "a threshold at the end": ({"faithfulness_scores": scores_in(5, 49, 5)}, {}, None),
    "ranking decides": (
        {"ranking_scores": scores_in(5, 49, 5)},
        {},
        "49 of 59 ranking scores lie between 0.05 and 0.5",
    ),
    "ranking decides nothing": (
        {"ranking_scores": scores_in(5, 49, 5), "retrieval_at_cut_scores": [1.0] * 59},
        {},
        None,
    ),
}


@pytest.mark.parametrize("case", SPREAD)
def test_a_threshold_through_the_middle_of_the_scores_is_told(case: str, caplog: pytest.LogCaptureFixture) -> None:
    inputs, thresholds, expected = SPREAD[case]
    total = len(next(iter(inputs.values())))
    with caplog.at_level(logging.WARNING):
        found = RAGFailureClassifier(**thresholds).run(retrieval_scores=[1.0] * total, **inputs)["warnings"]  # type: ignore[arg-type]
    assert (expected is None) == (found == [])
    assert expected is None or (expected in found[0] and found[0] in caplog.text)


# The rules in their order: what breaks only this one, and the label. Retrieval's beside a right answer.
RULES: list[tuple[dict[str, float], str]] = [
    ({"retrieval": 0.0, "retrieval_at_cut": 0.0}, "retrieval_failure_lucky"),
    ({"retrieval_at_cut": 0.0}, "ranking_failure"),
    ({"refusal": 1.0}, "generation_failure_evasive"),
    ({"faithfulness": 0.0}, "generation_failure_unfaithful"),
    ({"answer": 0.0}, "generation_failure_wrong"),
    ({}, "passed"),
]


@pytest.mark.parametrize(("scores", "label"), RULES)
def test_each_rule_alone(scores: dict[str, float], label: str) -> None:
    assert diagnose(**scores)[0] == label


@pytest.mark.parametrize(("first", "second"), list(combinations(RULES, 2)))
def test_of_two_rules_the_earlier_one_decides(
    first: tuple[dict[str, float], str], second: tuple[dict[str, float], str]
) -> None:
    expected = first[1]
    if expected == "retrieval_failure_lucky" and "answer" in second[0]:
        expected = "both_failed"
    assert diagnose(**{**first[0], **second[0]})[0] == expected


@pytest.mark.parametrize("name", ["retrieval", "retrieval_at_cut", "ranking", "answer", "faithfulness", "refusal"])
@pytest.mark.parametrize("none", [nan, None, np.float32("nan")])
@pytest.mark.parametrize(("scores", "label"), RULES)
def test_a_score_that_is_none_comes_before_every_rule(
    scores: dict[str, float], label: str, none: Any, name: str
) -> None:
    came, reason = diagnose(**{**scores, name: none})
    if name == "faithfulness" and scores.get("refusal"):
        # What declines claims nothing: faithfulness has no number for it, and no rule asks for one.
        assert came == label
    else:
        assert (came, reason) == ("unknown", f"no diagnosis: {name} is undefined")


STATUSES = [
    ("undefined", "undefined"),
    ("error", "missing after an error"),
    ("not_run", "missing, since it was not run"),
]


@pytest.mark.parametrize(("status", "words"), STATUSES)
@pytest.mark.parametrize("name", ["retrieval", "answer"])
def test_a_status_outdoes_the_number_beside_it(name: str, status: str, words: str) -> None:
    # on_undefined="zero" leaves a 0.0 that is no failure.
    rows = {"retrieval_scores": [0.0, 1.0], "answer_scores": [0.0, 1.0]}
    result = run(**rows, **{f"{name}_statuses": [status, "scored"]})
    assert result["labels"] == ["unknown", "passed"]
    assert result["reasons"][0] == f"no diagnosis: {name} is {words}"
    assert result["statuses"] == [status, "scored"]
    assert (result["score"], result["stages"][0]["share"]) == (1.0, 0.0)
    (row,) = [row for row in result["stages"] if row["mean_of"] == f"{name}_scores"]
    assert row["mean_score"] == 1.0


def test_faithfulness_that_a_fault_left_open_leaves_an_evasive_question_unknown() -> None:
    rows = {"retrieval_scores": [1.0], "refusal_scores": [1.0], "faithfulness_scores": [nan]}
    assert run(**rows, faithfulness_statuses=["error"])["labels"] == ["unknown"]
    assert run(**rows, faithfulness_statuses=["undefined"])["labels"] == ["generation_failure_evasive"]


def test_the_gravest_status_stands_for_the_question_and_every_gap_is_named() -> None:
    result = run(
        retrieval_scores=[nan],
        answer_scores=[nan],
        answer_statuses=["error"],
        faithfulness_scores=[nan],
        faithfulness_statuses=["not_run"],
    )
    assert result["statuses"] == ["error"]
    assert result["reasons"][0].removeprefix("no diagnosis: ").split(", ", 2) == [
        "retrieval is undefined",
        "answer is missing after an error",
        "faithfulness is missing, since it was not run",
    ]


def test_nothing_known_is_no_score(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        result = run(retrieval_scores=[nan, nan])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "2 of 2 rows are undefined (no diagnosis: retrieval is undefined): rows 0, 1." in caplog.text
    assert math.isnan(result["score"]) and all(math.isnan(row["share"]) for row in result["stages"])


def test_labels_and_their_counts() -> None:
    result = run(**SAMPLE)
    assert result["labels"] == SAMPLE_LABELS
    assert result["counts"] == {label: SAMPLE_LABELS.count(label) for label in LABELS}
    assert list(result["counts"]) == list(LABELS)
    assert result["statuses"] == [*["scored"] * 8, "not_run", "error", "not_run"]
    # Of the 8 with a diagnosis.
    assert result["score"] == 2 / 8
    assert [row["share"] for row in result["stages"]] == [2 / 8, 1 / 8, 3 / 8]


def test_evidence_behind_the_cut_is_said_so() -> None:
    label, reason = diagnose(retrieval_at_cut=0.5)
    assert label == "ranking_failure"
    assert reason.split("; ") == [
        "evidence is behind the cut: retrieval 1 reaches 1, retrieval_at_cut 0.5 is below 1",
        "the answer is right all the same: answer 1 reaches 0.5",
    ]


def test_a_wrong_answer_that_is_faithful_is_said_so() -> None:
    assert diagnose(answer=0.0)[1] == "answer 0 is below 0.5, though faithfulness 1 reaches 1"


@pytest.mark.parametrize(
    ("score", "label", "words"),
    [
        (0.9999999999, "passed", "1 reaches 1"),  # as ragas writes 1
        (0.99999, "retrieval_failure_incomplete", "0.99999 is below 1"),
        (2 / 3, "retrieval_failure_incomplete", "0.667 is below 1"),
        (True, "passed", "1 reaches 1"),
        (np.float32(1), "passed", "1 reaches 1"),
    ],
)
def test_scores_close_to_a_threshold(score: Any, label: str, words: str) -> None:
    came, reason = diagnose(retrieval=score)
    assert came == label and f"retrieval {words}" in reason


def as_the_article_does(recall: float, *, matched: bool) -> str:
    """The rule of the first article, from its program."""
    if recall < 1.0:
        return "retrieval_failure"
    return "passed" if matched else "generation_failure"


@given(st.lists(st.tuples(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), st.booleans()), min_size=1))
def test_the_stage_is_the_one_that_the_first_article_finds(rows: list[tuple[float, bool]]) -> None:
    result = run(retrieval_scores=[row[0] for row in rows], answer_scores=[float(row[1]) for row in rows])
    stages = [STAGE_OF.get(label, label) for label in result["labels"]]
    assert stages == [as_the_article_does(recall, matched=matched) for recall, matched in rows]


SCORES = st.one_of(st.just(nan), st.floats(0, 1))


@given(st.lists(st.tuples(*[SCORES] * 6), min_size=1, max_size=20))
def test_each_question_is_counted_once(rows: list[tuple[float, ...]]) -> None:
    names = ["retrieval", "retrieval_at_cut", "ranking", "answer", "faithfulness", "refusal"]
    result = run(
        **{f"{name}_scores": list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    )
    failed = sum(row["failed"] for row in result["stages"])
    assert failed + result["counts"]["passed"] + result["counts"]["unknown"] == len(rows)
    assert sum(result["counts"].values()) == len(rows)
    assert all("\n" not in reason and reason for reason in result["reasons"])


TWO = [1.0, 1.0]
# Kind: inputs, exception, what the message says.
BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no rows": ({"retrieval_scores": []}, ValueError, "retrieval_scores holds no rows"),
    "no rows anywhere": (
        {"retrieval_scores": [], "answer_scores": []},
        ValueError,
        "retrieval_scores and answer_scores hold no rows",
    ),
    "nothing": ({"retrieval_scores": None}, TypeError, "retrieval_scores must be a list.*None"),
    "a float": ({"retrieval_scores": 1.0}, TypeError, "retrieval_scores must be a list.*a float"),
    "a set": ({"retrieval_scores": {1.0}}, TypeError, "retrieval_scores must be a list.*a set. A set has no order"),
    "a text": ({"retrieval_scores": SECRET}, TypeError, "retrieval_scores must be a list.*a str"),
    "a dict": (
        {"retrieval_scores": TWO, "answer_scores": {SECRET: 1}},
        TypeError,
        "answer_scores must be a list.*a dict",
    ),
    "a row of text": ({"retrieval_scores": [1.0, SECRET]}, TypeError, r"retrieval_scores\[1\] must be a number.*a str"),
    "a row of rows": ({"retrieval_scores": [[1.0]]}, TypeError, r"retrieval_scores\[0\] must be a number.*a list"),
    "a complex row": ({"retrieval_scores": [1j]}, TypeError, r"retrieval_scores\[0\] must be a number.*a complex"),
    "another text": (
        {"retrieval_scores": TWO, "ranking_scores": [SECRET, 1.0]},
        TypeError,
        r"ranking_scores\[0\] must be a number.*a str",
    ),
    "out of 5": (
        {"retrieval_scores": TWO, "answer_scores": [1.0, 4.0]},
        ValueError,
        r"answer_scores\[1\] must be at most 1.*4\.0",
    ),
    "a logit": ({"retrieval_scores": [-7.5]}, ValueError, r"retrieval_scores\[0\] must be.*-7\.5"),
    "infinity": (
        {"retrieval_scores": TWO, "refusal_scores": [math.inf, 0.0]},
        ValueError,
        r"refusal_scores\[0\].*inf",
    ),
    "one too few": (
        {"retrieval_scores": TWO, "faithfulness_scores": [1.0]},
        ValueError,
        "same number of rows, but retrieval_scores has 2, faithfulness_scores has 1",
    ),
    "none beside two": (
        {"retrieval_scores": TWO, "retrieval_at_cut_scores": []},
        ValueError,
        "same number of rows, but retrieval_scores has 2, retrieval_at_cut_scores has 0",
    ),
    "a status too many": (
        {"retrieval_scores": TWO, "retrieval_statuses": ["scored"] * 3},
        ValueError,
        "same number of rows, but retrieval_scores has 2, retrieval_statuses has 3",
    ),
    "a status too few": (
        {"retrieval_scores": TWO, "retrieval_statuses": ["scored"]},
        ValueError,
        "same number of rows, but retrieval_scores has 2, retrieval_statuses has 1",
    ),
    "statuses alone": (
        {"retrieval_scores": TWO, "answer_statuses": ["scored"] * 2},
        ValueError,
        "answer_statuses came without answer_scores",
    ),
    "statuses as a text": (
        {"retrieval_scores": TWO, "retrieval_statuses": SECRET},
        TypeError,
        "retrieval_statuses must be a list.*a str",
    ),
    "a status that is a number": (
        {"retrieval_scores": TWO, "retrieval_statuses": ["scored", 1]},
        TypeError,
        r"retrieval_statuses\[1\] must be a status.*an int",
    ),
    "an unknown status": (
        {"retrieval_scores": TWO, "retrieval_statuses": ["scored", SECRET]},
        ValueError,
        r"retrieval_statuses\[1\] must be one of 'scored'.*another text",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_rows(kind: str) -> None:
    inputs, exception, message = BAD[kind]
    refused(lambda: run(**inputs), exception, message)


THRESHOLDS = ["retrieval", "ranking", "answer", "faithfulness", "refusal"]
BAD_THRESHOLDS: list[tuple[Any, type[Exception], str]] = [
    (0, ValueError, "must be above 0 and at most 1, but is 0"),
    (-0.1, ValueError, r"-0\.1"),
    (1.01, ValueError, r"1\.01"),
    (nan, ValueError, "nan"),
    (math.inf, ValueError, "inf"),
    (10**400, ValueError, "at most 1"),
    (None, TypeError, "None"),
    (True, TypeError, "a bool"),
    ("0.5", TypeError, "a str"),
    ([0.5], TypeError, "a list"),
    (np.float64(2.0), ValueError, "2.0"),
]


@pytest.mark.parametrize("name", THRESHOLDS)
@pytest.mark.parametrize(("value", "exception", "message"), BAD_THRESHOLDS, ids=lambda value: str(value)[:8])
def test_bad_thresholds(value: Any, exception: type[Exception], message: str, name: str) -> None:
    make: Callable[[], Any] = lambda: RAGFailureClassifier(**{f"{name}_threshold": value})  # noqa: E731
    refused(make, exception, f"{name}_threshold.*{message}")


@pytest.mark.parametrize("name", THRESHOLDS)
def test_each_threshold_is_that_of_its_score(name: str) -> None:
    assert (diagnose(**{name: 0.9})[0] == "passed") == (name in ("ranking", "answer"))
    strict = RAGFailureClassifier(**{f"{name}_threshold": 0.95})
    lenient = RAGFailureClassifier(**{f"{name}_threshold": 0.85})
    inputs: dict[str, Any] = {"retrieval_scores": [1.0], f"{name}_scores": [0.9]}
    passed = [classifier.run(**inputs)["individual_scores"] for classifier in (strict, lenient)]
    assert passed == ([[1.0], [0.0]] if name == "refusal" else [[0.0], [1.0]])


def test_the_page_names_every_label_input_and_threshold() -> None:
    page = (Path(haystack_eval_ext.__file__).parents[1] / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    named = [*LABELS, *SAMPLE, *(f"{name}_threshold" for name in THRESHOLDS)]
    left = [name for name in named if f"`{name}`" not in page and not name.endswith("_statuses")]
    assert not left
