# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""From the scores of one question to the stage that failed: numbers in, a label and a reason out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Label = Literal[
    "passed",
    "routing_failure",
    "retrieval_failure_lucky",
    "retrieval_failure_incomplete",
    "both_failed",
    "retrieval_failure",
    "ranking_failure",
    "generation_failure_evasive",
    "generation_failure_unfaithful",
    "generation_failure_wrong",
    "correct_refusal",
    "generation_failure_invented",
    "unknown",
]
LABELS: tuple[Label, ...] = get_args(Label)
#: By stage the labels that are counted as its failures: each question at the first stage that failed.
STAGES: dict[str, tuple[Label, ...]] = {
    "routing": ("routing_failure",),
    "retrieval": ("retrieval_failure_lucky", "retrieval_failure_incomplete", "both_failed", "retrieval_failure"),
    "ranking": ("ranking_failure",),
    "generation": (
        "generation_failure_evasive",
        "generation_failure_unfaithful",
        "generation_failure_wrong",
        "generation_failure_invented",
    ),
}
#: The labels of a question with which nothing went wrong.
PASSED: tuple[Label, ...] = ("passed", "correct_refusal")
#: What shows without a judge that an answer declines.
EMPTY, WORDS = "the answer is empty", "the answer declines by its words"

# Other programs' ratios end a little below 1: ragas divides by a sum that has 1e-10 added.
_TOLERANCE = 1e-9
# Why there is no number, by status, the gravest first: one of them stands for the question.
_GAPS = {"error": "missing after an error", "not_run": "missing, since it was not run", "undefined": "undefined"}


class Diagnosis(NamedTuple):
    """What is said about one question."""

    label: Label
    reason: str
    status: str = "scored"


class _Row(NamedTuple):
    """The scores of a question beside their thresholds."""

    scores: Mapping[str, float]
    thresholds: Mapping[str, float]

    def reaches(self, name: str) -> bool:
        """Whether there is such a score, and it is at least its threshold."""
        return name in self.scores and _reaches(self.scores[name], self.thresholds[name])

    def below(self, name: str) -> bool:
        """Whether there is such a score, and it is below its threshold."""
        return name in self.scores and not self.reaches(name)

    def say(self, name: str) -> str:
        """A score and how it stands to its threshold, in three digits or as many as keep it on its side."""
        score, threshold = self.scores[name], self.thresholds[name]
        short = f"{score:.3g}"
        if _reaches(float(short), threshold) != _reaches(score, threshold):
            short = repr(score)
        return f"{name} {short} {'reaches' if self.reaches(name) else 'is below'} {repr(threshold).removesuffix('.0')}"


def _reaches(score: float, threshold: float) -> bool:
    return score >= threshold - _TOLERANCE


def diagnose(
    entries: Mapping[str, float | str],
    thresholds: Mapping[str, float],
    *,
    answerable: bool = True,
    skipped: bool = False,
    declines: str | None = None,
) -> Diagnosis:
    """
    Name the first stage that failed.

    :param entries: By name what was measured of the question: a number, or the status of a score that is none.
    :param thresholds: Lowest score that is good enough, by name; for "refusal", the lowest that declines.
    :param answerable: Whether the corpus answers the question. If not, to decline is right, and nothing else counts.
    :param skipped: Whether the pipeline answered without retrieving anything.
    :param declines: What shows without a judge that the answer declines: `EMPTY`, or `WORDS`, which counts only where
        no refusal score says otherwise and the answer is not right; None: nothing.
    :returns: The label, and the numbers that led to it.
    """
    row = _Row({name: entry for name, entry in entries.items() if not isinstance(entry, str)}, thresholds)
    gaps = {name: entry for name, entry in entries.items() if isinstance(entry, str)}
    if declines == EMPTY:
        gaps.pop("refusal", None)
    elif "refusal" in entries or row.reaches("answer"):
        declines = None
    if declines is None and row.reaches("refusal"):
        declines = f"the answer declines: {row.say('refusal')}"
    if not answerable:
        return _unanswerable(row, gaps.get("refusal"), declines)
    if skipped:
        return _without_retrieval(row, gaps, declines)
    if declines is not None and gaps.get("faithfulness") == "undefined":
        # What declines claims nothing, so its faithfulness is undefined by definition, and no rule asks for it.
        del gaps["faithfulness"]
    if gaps:
        return _unknown(gaps)
    if row.below("retrieval"):
        return _without_evidence(row)
    all_the_same = f"; the answer is right all the same: {row.say('answer')}" if row.reaches("answer") else ""
    if row.below("retrieval_at_cut"):
        behind = f"evidence is behind the cut: {row.say('retrieval')}, {row.say('retrieval_at_cut')}"
        return Diagnosis("ranking_failure", behind + all_the_same)
    if row.below("ranking"):
        if "retrieval_at_cut" not in row.scores:
            return Diagnosis("ranking_failure", row.say("ranking") + all_the_same)
        # Evidence that reached the generator was not lost, in whatever order it stood there.
        all_the_same += f"; {row.say('ranking')}, but the evidence reached the generator"
    if declines is not None:
        return Diagnosis("generation_failure_evasive", declines + all_the_same)
    if row.below("faithfulness"):
        return Diagnosis("generation_failure_unfaithful", row.say("faithfulness") + all_the_same)
    if row.below("answer"):
        faithful = f", though {row.say('faithfulness')}" if "faithfulness" in row.scores else ""
        return Diagnosis("generation_failure_wrong", row.say("answer") + faithful + all_the_same)
    return Diagnosis("passed", ", ".join(map(row.say, row.scores)))


def _unknown(gaps: Mapping[str, str]) -> Diagnosis:
    found = ", ".join(f"{name} is {_GAPS[status]}" for name, status in gaps.items())
    return Diagnosis("unknown", f"no diagnosis: {found}", next(status for status in _GAPS if status in gaps.values()))


def _without_retrieval(row: _Row, gaps: Mapping[str, str], declines: str | None) -> Diagnosis:
    """The pipeline went around its retriever: whether that was right, the answer alone tells."""
    lacking = {name: status for name, status in gaps.items() if name in ("answer", "refusal")}
    if lacking:
        return _unknown(lacking)
    skipped = "retrieval was skipped"
    if declines is not None:
        return Diagnosis("routing_failure", f"{skipped}, and {declines}")
    if "answer" not in row.scores:
        untold = f"no diagnosis: {skipped}, and no answer score tells whether the answer is right"
        return Diagnosis("unknown", untold, "not_run")
    if row.below("answer"):
        return Diagnosis("routing_failure", f"{skipped}, and {row.say('answer')}")
    return Diagnosis("passed", f"{skipped}; {row.say('answer')}")


def _unanswerable(row: _Row, gap: str | None, declines: str | None) -> Diagnosis:
    """Whether a question that nothing answers was declined, as it should be."""
    if declines is not None:
        return Diagnosis("correct_refusal", f"nothing answers the question, and {declines}")
    if "refusal" in row.scores:
        invented = f"nothing answers the question, but the answer does not decline: {row.say('refusal')}"
        return Diagnosis("generation_failure_invented", invented)
    if gap is not None:
        return Diagnosis("unknown", f"no diagnosis: refusal is {_GAPS[gap]}", gap)
    untold = "nothing tells whether the answer declines; give refusal_scores, for example those of RefusalEvaluator"
    return Diagnosis("unknown", f"no diagnosis: {untold}", "not_run")


def _without_evidence(row: _Row) -> Diagnosis:
    missed = row.say("retrieval")
    if "answer" not in row.scores:
        return Diagnosis("retrieval_failure", f"{missed}; no answer score tells whether the answer is right")
    if row.below("answer"):
        return Diagnosis("both_failed", f"{missed}, and {row.say('answer')}")
    reached = row.scores.get("retrieval_at_cut", row.scores["retrieval"])
    if reached > _TOLERANCE:
        part = f"{missed}; with a part of the evidence the answer is right: {row.say('answer')}"
        return Diagnosis("retrieval_failure_incomplete", part)
    return Diagnosis("retrieval_failure_lucky", f"{missed}; the answer is right by luck: {row.say('answer')}")
