# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
How well lexical metrics agree with people about answers to the same question.

The data is a file like NQ301_human.tsv of the repository ehsk/OpenQA-eval: tab separated, with the columns "id" (of the
question), "Model answer" and "Acceptable?" (Yes or No). Each answer is scored against other answers to its question:
those that people accepted, which is how references are meant, and all of them, wrong ones included.
"""

import argparse
import csv
import logging
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score, roc_auc_score

import haystack_eval_ext as ours

FIXED = 0.5
METRICS: dict[str, Callable[[], Any]] = {
    "exact match": lambda: ours.AnswerExactMatchEvaluator(on_undefined="nan"),
    "exact match, squad": lambda: ours.AnswerExactMatchEvaluator(normalization="squad", on_undefined="nan"),
    "contains": lambda: ours.AnswerContainsEvaluator(on_undefined="nan"),
    "token F1": lambda: ours.AnswerTokenF1Evaluator(on_undefined="nan"),
    "edit similarity": lambda: ours.AnswerEditSimilarityEvaluator(on_undefined="nan"),
    "ROUGE-L F1": lambda: ours.AnswerRougeEvaluator(on_undefined="nan"),
    "ROUGE-L recall": lambda: ours.AnswerRougeEvaluator(measure="recall", on_undefined="nan"),
    "ROUGE-1 recall": lambda: ours.AnswerRougeEvaluator(rouge_type="rouge1", measure="recall", on_undefined="nan"),
    "BLEU": lambda: ours.AnswerBleuEvaluator(on_undefined="nan"),
    "chrF": lambda: ours.AnswerChrfEvaluator(on_undefined="nan"),
    "number match": lambda: ours.AnswerNumberMatchEvaluator(on_undefined="nan"),
}

Scores = npt.NDArray[np.float64]
Verdicts = npt.NDArray[np.bool_]


class Judged(NamedTuple):
    """An answer, its question, and whether people accepted it."""

    question: str
    answer: str
    accepted: bool


class Agreement(NamedTuple):
    """Of the answers that have a score: how many, and how well it agrees with people."""

    answers: int
    auc: float
    accuracy_fixed: float
    kappa_fixed: float
    accuracy_learned: float
    kappa_learned: float
    majority: float


def read(path: Path) -> list[Judged]:
    """
    Read the judged answers.

    :param path: A tab-separated file.
    :returns: Its rows.
    :raises ValueError: If a verdict is neither Yes nor No.
    """
    with path.open(encoding="utf-8", newline="") as file:
        # The answers hold quotation marks that quote nothing.
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    judged = []
    for number, row in enumerate(rows):
        verdict = row["Acceptable?"].strip().lower()
        if verdict not in ("yes", "no"):
            msg = f"Row {number}: 'Acceptable?' must be Yes or No."
            raise ValueError(msg)
        judged.append(Judged(row["id"], row["Model answer"] or "", verdict == "yes"))
    return judged


def references(judged: list[Judged], *, accepted_only: bool) -> list[list[str]]:
    """
    Gather the other answers to the same question.

    :param judged: All answers.
    :param accepted_only: Whether to leave out those that people did not accept.
    :returns: The references of each answer, possibly none.
    """
    of_question: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(judged):
        of_question[row.question].append(number)
    return [
        [
            judged[n].answer
            for n in of_question[row.question]
            if n != number and (judged[n].accepted or not accepted_only)
        ]
        for number, row in enumerate(judged)
    ]


def held_out_verdicts(scores: Scores, human: Verdicts, questions: list[str]) -> Verdicts:
    """
    Judge the answers to each question by the threshold that fits all other questions best.

    :param scores: The score of each answer.
    :param human: Whether people accepted it.
    :param questions: The question of each answer.
    :returns: Whether the score reaches the threshold; of equally good thresholds the lowest is taken.
    """
    thresholds = np.append(np.unique(scores), math.inf)
    verdicts = scores >= thresholds[:, None]
    right = verdicts == human
    total = right.sum(axis=1)
    names = np.array(questions)
    judged = np.empty_like(human)
    for question in dict.fromkeys(questions):
        mine = names == question
        # Thresholds that only this question has are not known to the others.
        known = np.isin(thresholds, scores[~mine]) | np.isinf(thresholds)
        best = int(np.argmax(np.where(known, total - right[:, mine].sum(axis=1), -1)))
        judged[mine] = verdicts[best, mine]
    return judged


def agreement(scores: Scores, human: Verdicts, questions: list[str]) -> Agreement:
    """
    Compare scores with people's verdicts.

    :param scores: The score of each answer; NaN ones are left out.
    :param human: Whether people accepted it.
    :param questions: The question of each answer.
    :returns: The measures of agreement.
    """
    there = ~np.isnan(scores)
    scores, human = scores[there], human[there]
    fixed = scores >= FIXED
    learned = held_out_verdicts(scores, human, [q for q, kept in zip(questions, there, strict=True) if kept])
    return Agreement(
        answers=len(scores),
        auc=float(roc_auc_score(human, scores)),
        accuracy_fixed=float((fixed == human).mean()),
        kappa_fixed=float(cohen_kappa_score(fixed, human)),
        accuracy_learned=float((learned == human).mean()),
        kappa_learned=float(cohen_kappa_score(learned, human)),
        majority=float(max(human.mean(), 1 - human.mean())),
    )


def score_all(judged: list[Judged], *, accepted_only: bool) -> dict[str, Scores]:
    """
    Score all answers by every metric.

    :param judged: The answers.
    :param accepted_only: Whether only accepted answers serve as references.
    :returns: The scores by metric, NaN where it is undefined.
    :raises ValueError: If a score is outside its range.
    """
    rows = references(judged, accepted_only=accepted_only)
    answers = [row.answer for row in judged]
    found = {}
    for name, make in METRICS.items():
        scores = np.array(make().run(rows, answers)["individual_scores"])
        if ((scores < 0) | (scores > 1)).any():
            msg = f"{name} leaves the range from 0 to 1."
            raise ValueError(msg)
        found[name] = scores
    return found


def main() -> None:
    """Print a table for each choice of references."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the judged answers, tab separated")
    judged = read(parser.parse_args().file)
    logging.getLogger("haystack_eval_ext").setLevel(logging.ERROR)  # the table tells how many rows are undefined
    human = np.array([row.accepted for row in judged])
    questions = [row.question for row in judged]
    print(f"{len(judged):,} answers to {len(set(questions))} questions, {human.sum()} of them accepted by people")
    for accepted_only, title in ((True, "the other accepted answers"), (False, "all other answers")):
        print(f"\nReferences: {title} to the same question\n")
        print("| metric | answers | majority | AUC | accuracy, .5 | kappa, .5 | accuracy, learned | kappa, learned |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, scores in score_all(judged, accepted_only=accepted_only).items():
            found = agreement(scores, human, questions)
            numbers = (found.majority, found.auc, *found[2:6])
            print(f"| {name} | {found.answers} | {' | '.join(f'{number:.3f}' for number in numbers)} |")


if __name__ == "__main__":
    main()
