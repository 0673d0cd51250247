# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
How well verdicts on answers, right or not, agree with people: what the pipeline rag_diagnosis goes by, and others.

The answers are a file like NQ301_human.tsv of the repository ehsk/OpenQA-eval: tab separated, with the columns "id" and
"Question", "Model answer" and "Acceptable?" (Yes or No). The references are a file like one of data/model_outputs
there: JSON lines with "question" and "answer", a list. Without it the references of an answer are the other answers to
its question that people accepted.
"""

import argparse
import csv
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from answers_agreement import Judged, Verdicts, references
from sklearn.metrics import cohen_kappa_score

import haystack_eval_ext as ours
from haystack_eval_ext.diagnosis._refusals import declines_by_words

References = list[list[str]]
# Reference and a wrong answer, of the kinds that share most words: another number, the contrary, a missing part,
# another word.
WRONG = [
    ("The report is due on the 5th of March", "The report is due on the 9th of March"),
    ("Leave may carry over to the next year", "Leave may not carry over to the next year"),
    ("red, green and blue", "red and green"),
    ("the office opens on Monday", "the office opens on Tuesday"),
    ("25 days a year", "25 hours a year"),
    ("Anna, Bob and Carl", "Anna and Carl"),
]


def _scores(make: Callable[[], Any], rows: References, answers: list[str]) -> Verdicts:
    return np.array(make().run(rows, answers)["individual_scores"])


def verdicts(rows: References, answers: list[str]) -> dict[str, Verdicts]:
    """
    Judge all answers by each rule.

    :param rows: The references of each answer, at least one.
    :param answers: The answers.
    :returns: By rule whether each answer is right.
    """
    f1 = _scores(ours.AnswerTokenF1Evaluator, rows, answers)
    contains = _scores(ours.AnswerContainsEvaluator, rows, answers) == 1
    number = _scores(lambda: ours.AnswerNumberMatchEvaluator(on_undefined="nan"), rows, answers)
    numbers = np.isnan(number) | (number == 1)
    return {
        "token F1 of 0.5 (the default before)": f1 >= 0.5,
        "token F1 of 0.6": f1 >= 0.6,
        "contains": contains,
        "contains, or token F1 of 0.6 with all numbers": contains | ((f1 >= 0.6) & numbers),
        "AnswerMatchEvaluator (the default)": _scores(ours.AnswerMatchEvaluator, rows, answers) == 1,
    }


def _repaired(text: str) -> str:
    """Some references were written as UTF-8 and read as Windows-1252."""
    for wrong in ("cp1252", "latin-1"):
        try:
            return text.encode(wrong).decode("utf-8")
        except UnicodeError:
            continue
    return text


def main() -> None:
    """Print a table, and how many answers decline."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the judged answers, tab separated")
    parser.add_argument("--references", type=Path, help="JSON lines with question and answer")
    options = parser.parse_args()
    logging.getLogger("haystack_eval_ext").setLevel(logging.ERROR)
    with options.file.open(encoding="utf-8", newline="") as file:
        given = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    judged = [
        Judged(row["id"], row["Model answer"] or "", row["Acceptable?"].strip().lower() == "yes") for row in given
    ]
    if options.references is None:
        rows = references(judged, accepted_only=True)
    else:
        lines = map(json.loads, options.references.read_text(encoding="utf-8").splitlines())
        known = {line["question"]: list(map(_repaired, line["answer"])) for line in lines}
        rows = [known.get(row["Question"], []) for row in given]
    kept = [number for number, row in enumerate(rows) if row]
    rows, judged = [rows[number] for number in kept], [judged[number] for number in kept]
    human = np.array([row.accepted for row in judged])
    answers = [row.answer for row in judged]
    print(f"{len(judged):,} of {len(given):,} answers have references; people accepted {human.sum()} of them\n")
    heads = ("rule", "accuracy", "kappa", "accepted, people did not", "refused, people did not")
    print(f"| {' | '.join(heads)} | of {len(WRONG)} wrong pairs |")
    print("|---|---:|---:|---:|---:|---:|")
    passed = verdicts([[reference] for reference, _ in WRONG], [answer for _, answer in WRONG])
    for name, found in verdicts(rows, answers).items():
        kappa = cohen_kappa_score(found, human)
        wrongly, missed = np.sum(found & ~human), np.sum(~found & human)
        print(f"| {name} | {np.mean(found == human):.3f} | {kappa:.3f} | {wrongly} | {missed} | {passed[name].sum()} |")
    declined = [row for row in judged if declines_by_words(row.answer)]
    accepted = sum(row.accepted for row in declined)
    print(f"\n{len(declined)} answers plainly decline; people accepted {accepted} of them")


if __name__ == "__main__":
    main()
