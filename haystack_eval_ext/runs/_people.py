# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A metric of a run against people's labels."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields
from statistics import fmean
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._agreement import (
    MOST_CLASSES,
    Agreement,
    RankAgreement,
    Weights,
    agreement,
    rank_agreement,
)
from haystack_eval_ext.runs._label_scales import (
    Column,
    check_classes,
    check_scales,
    classes_of,
    on_one_scale,
    rescaled,
)
from haystack_eval_ext.runs._label_words import checked_words
from haystack_eval_ext.runs._people_labels import LabelData, LabelJoin, people_labels
from haystack_eval_ext.runs._raters import RaterAgreement, rater_agreement
from haystack_eval_ext.runs._scored import has_number, nearest, some
from haystack_eval_ext.runs._tags import chosen_tags
from haystack_eval_ext.runs._thresholds import ThresholdSweep, sweep_thresholds
from haystack_eval_ext.runs.run import EvaluationRun, load_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_eval_ext.runs._lines import FilePath

_TIES_NAMED = 5


@dataclass(frozen=True)
class DifferingRow:
    """
    A row where people and the judge differ.

    :param id: Its id.
    :param people: The label of each rater, by name; None where one gave none.
    :param label: The class of most people.
    :param score: The judge's score.
    :param judged: The class that it makes.
    :param question: The question, if texts were asked for.
    :param answer: The answer likewise.
    """

    id: str
    people: dict[str, float | None]
    label: float
    score: float
    judged: float
    question: str | None = None
    answer: str | None = None


@dataclass(frozen=True)
class JudgeAgreement(Agreement):
    """
    A metric against people: what `Agreement` has, and more. With several raters a row's class is that of most of them.

    :param metric: The metric.
    :param people: The names of the raters.
    :param threshold: What made scores classes; None if they are, or a sweep chose it.
    :param tied: The ids of rows where as many people gave one class as another: they are left out.
    :param ranks: The order of the scores against that of the labels, whose mean is taken with several raters.
    :param mean_absolute_error: How far score and label lie apart in the mean; None on two scales.
    :param differing: The rows where people and the judge differ, those that lie farthest apart first.
    :param raters: The raters with each other and with the judge; None with one.
    :param sweep: The sweep of thresholds, if asked for.
    :param slices: The agreement over the rows of each tag asked for.
    :param labels: How each file of labels met the run.
    :param notes: What to know of the numbers, one line each.
    """

    metric: str
    people: list[str]
    threshold: float | None
    tied: list[str]
    ranks: RankAgreement
    mean_absolute_error: float | None
    differing: list[DifferingRow]
    raters: RaterAgreement | None
    sweep: ThresholdSweep | None
    slices: dict[str, Agreement]
    labels: list[LabelJoin]
    notes: list[str]


def agree(
    run: EvaluationRun | FilePath,
    human_column: str | Sequence[str] | None,
    metric: str,
    *,
    threshold: float | None = None,
    weights: Weights | None = None,
    confidence: float = 0.95,
    labels: LabelData | None = None,
    label_words: Mapping[str, float] | None = None,
    label_range: tuple[float, float] | None = None,
    by: str | Sequence[str] | None = None,
    sweep: bool = False,
    folds: int = 5,
    seed: int = 0,
    texts: bool = False,
) -> JudgeAgreement:
    """
    Compare a metric with people's labels, row by row.

    ```python
    from haystack_eval_ext import AnswerContainsEvaluator
    from haystack_eval_ext.runs import api

    rows = [{"id": f"q{n}", "answer": answer, "reference_answer": "Paris"} for n, answer in enumerate(
        ["Paris", "It is Paris", "Rome", "Lutetia", "Madrid", "In Paris"])]
    run = api.evaluate({"contains": AnswerContainsEvaluator()}, rows)
    labels = [{"id": f"q{n}", "ann": ann, "ben": ben} for n, (ann, ben) in enumerate(
        [("yes", "yes"), ("yes", "ja"), ("no", "no"), ("yes", "ja"), ("no", "nein"), ("yes", "no")])]
    found = api.agree(run, ["ann", "ben"], "contains", labels=labels)
    print(found.accuracy, [row.id for row in found.differing], found.tied)
    # 0.8 ['q3'] ['q5']
    print(round(found.raters.people_kappa, 2), round(found.raters.judge_kappa, 2))
    # 0.67 0.5
    ```

    :param run: A run, or its folder. It must have its texts if the labels are in its data.
    :param human_column: The column with the labels, or several, one for each rater: numbers, or words such as yes and
        no in many languages; empty where nobody looked. None if each file of labels has one column beside the id.
    :param metric: The metric.
    :param threshold: Turn both into 1 (at least this much) and 0, where scores are graded. Labels that are 1 and 0
        stay where it lies outside of them.
    :param weights: For grades such as 1 to 5: how far near misses count as agreement in kappa.
    :param confidence: 0.95 for 95 % intervals.
    :param labels: Labels that were made later, joined by id: a file as `read_dataset` takes it with a column "id",
        several files, or rows or a table of such.
    :param label_words: The number of words that are not understood: {"right": 1, "wrong": 0}.
    :param label_range: Lowest and highest label, such as (1, 5), which become 0 and 1, as scores from 0 to 1 are.
    :param by: Tags to form slices by: a tag, "lang" for all of "lang:de" and "lang:en", or "*" for every tag.
    :param sweep: Choose the threshold for the scores by cross-validation. Without `threshold`, each row's class is by
        the threshold that the rows of other parts chose, so that the agreement is one to expect on new rows.
    :param folds: In how many parts, 2 at least.
    :param seed: Starts the draw of the parts.
    :param texts: Give question and answer of the rows that differ, where the run has its texts.
    :returns: Confusion, accuracy, kappa, rates, ranks, and the rows that differ; rows without a score or a label are
        left out. With more than 20 distinct values and no threshold there are ranks only.
    :raises ValueError: If the run has no such column or metric, a label is not understood, labels and scores are on two
        scales, or no row has both.
    :raises DatasetError: If a file of labels cannot be read.
    """
    found = load_run(run)
    _check(found, metric, threshold)
    human = [human_column] if isinstance(human_column, str) else list(human_column or ())
    given = people_labels(found, human, labels, checked_words(label_words))
    people = {name: rescaled(column, label_range, name, found.ids) for name, column in given.raters.items()}
    judge = _scores(found, metric)
    named = " and ".join(f"'{name}'" for name in people)
    rated = [[label for label in row if label is not None] for row in zip(*people.values(), strict=True)]
    if not any(row and score is not None for row, score in zip(rated, judge, strict=True)):
        msg = f"no row has both a label in column {named} and a score of '{metric}': nothing to compare."
        raise InvalidValueError(msg)
    means = [fmean(row) if row else None for row in rated]
    every = [label for row in rated for label in row]
    swept = None
    if threshold is not None:
        classes = {name: classes_of(column, threshold, every, judge) for name, column in people.items()}
        judged = classes_of(judge, threshold, judge, judge)
        check_classes((every, judge), (_joined(classes), judged), threshold, named, metric)
    else:
        check_scales(every, judge, named, metric, sweep=sweep)
        classes, judged = people, judge
    most, tied = _most(classes, found.ids)
    if sweep:
        clusters = [row.get("cluster") for row in found.rows]
        swept = sweep_thresholds(most, judge, clusters=clusters, folds=folds, seed=seed, confidence=confidence)
        judged = judged if threshold is not None else swept.classes
    notes = [note for join in given.joins for note in join.notes]
    if tied:
        notes.append(
            "Rows where as many people gave one class as another are left out: "
            f"{len(tied)} ({some(tied, _TIES_NAMED)})."
        )
    if len({value for value in [*_joined(classes), *judged] if value is not None}) > MOST_CLASSES:
        notes.append(
            f"Labels and scores have more than {MOST_CLASSES} distinct values, so they are compared by their order "
            "alone; kappa and accuracy need a threshold (--threshold 0.5)."
        )
        classes, judged = {name: [None] * len(judge) for name in people}, [None] * len(judge)
        most, tied = list(judged), []
    if texts and not found.has_texts:
        notes.append(f"'{found.name}' was kept without texts: the rows that differ have none.")
    overall = agreement(most, judged, weights=weights, confidence=confidence)
    ranks = rank_agreement(means, judge, confidence=confidence)
    if found.metrics[metric].info.lower_is_better and (overall.kappa or ranks.spearman or 0.0) < 0:
        notes.append(
            f"Of '{metric}' a lower score is better, and a label of 1 stands for a high score: if it means good, turn "
            "the labels around with label_words (--label-words yes=0,no=1)."
        )
    return JudgeAgreement(
        **{each.name: getattr(overall, each.name) for each in fields(Agreement)},
        metric=metric,
        people=list(people),
        threshold=threshold,
        tied=tied,
        ranks=ranks,
        mean_absolute_error=_apart(means, judge) if on_one_scale(every, judge) else None,
        differing=_differing(found, people, most, judge, judged, texts=texts),
        raters=(
            rater_agreement(classes, (metric, judged), weights=weights, confidence=confidence)
            if len(people) > 1
            else None
        ),
        sweep=swept,
        slices=_slices(found, by, most, judged, weights, confidence),
        labels=given.joins,
        notes=notes,
    )


def _check(run: EvaluationRun, metric: str, threshold: float | None) -> None:
    if run.repeats > 1:
        msg = f"agree needs one answer to each question, but '{run.name}' has {run.repeats}."
        raise InvalidValueError(msg)
    if metric not in run.metrics:
        msg = f"metric must be one of the run's, but '{metric}' is none ({nearest(metric, run.metrics)})."
        raise InvalidValueError(msg)
    if threshold is not None and not math.isfinite(threshold):
        msg = f"threshold must be a finite number, but is {threshold!r}."
        raise InvalidValueError(msg)


def _scores(run: EvaluationRun, metric: str) -> Column:
    """An undefined row has a 0 at most by convention; nobody judged it."""
    found = run.metrics[metric]
    return [
        score if status == "scored" and has_number(score) else None
        for score, status in zip(found.scores, found.statuses, strict=True)
    ]


def _joined(columns: Mapping[str, Column]) -> Column:
    return [value for column in columns.values() for value in column]


def _most(classes: Mapping[str, Column], ids: Sequence[str]) -> tuple[Column, list[str]]:
    """The class that most people gave each row, and the rows where two lead alike."""
    most: Column = []
    tied = []
    for key, row in zip(ids, zip(*classes.values(), strict=True), strict=True):
        counts = Counter(label for label in row if label is not None).most_common(2)
        tie = len(counts) > 1 and counts[0][1] == counts[1][1]
        most.append(counts[0][0] if counts and not tie else None)
        if tie:
            tied.append(key)
    return most, tied


def _apart(means: Column, judge: Column) -> float | None:
    apart = [abs(one - two) for one, two in zip(means, judge, strict=True) if one is not None and two is not None]
    return fmean(apart) if apart else None


def _differing(
    run: EvaluationRun, people: Mapping[str, Column], most: Column, judge: Column, judged: Column, *, texts: bool
) -> list[DifferingRow]:
    rows = []
    for place, (label, score, verdict) in enumerate(zip(most, judge, judged, strict=True)):
        if label is None or score is None or verdict is None or label == verdict:
            continue
        row = run.rows[place]
        shown: dict[str, Any] = {}
        if texts and run.has_texts:
            shown = {name: row.get(name) for name in ("question", "answer")}
        given = {name: column[place] for name, column in people.items()}
        rows.append(DifferingRow(run.ids[place], given, label, score, verdict, **shown))
    # Of classes all lie equally far apart; there the score says how sure the judge was.
    return sorted(rows, key=lambda row: (-abs(row.label - row.judged), -abs(row.label - row.score)))


def _slices(
    run: EvaluationRun,
    by: str | Sequence[str] | None,
    most: Column,
    judged: Column,
    weights: Weights | None,
    confidence: float,
) -> dict[str, Agreement]:
    if not by:
        return {}
    tags = [row.get("tags") or [] for row in run.rows]
    if not any(tags):
        msg = f"by needs rows with tags, but '{run.name}' has none."
        raise InvalidValueError(msg)
    slices = {}
    for tag in chosen_tags(by, tags):
        places = [place for place, of_row in enumerate(tags) if tag in of_row]
        columns = ([column[place] for place in places] for column in (most, judged))
        slices[tag] = agreement(*columns, weights=weights, confidence=confidence)
    return slices


def metrics_for_people(run: EvaluationRun) -> list[str]:
    """
    Name the metrics that people's labels are most likely for, where none is named.

    :param run: The run.
    :returns: Its only metric, else all that a judge gave.
    :raises ValueError: If it has several, none of which is a judge's.
    """
    names = list(run.metrics)
    judged = [name for name, metric in run.metrics.items() if metric.info.judge is not None]
    if len(names) == 1 or judged:
        return judged or names
    msg = f"'{run.name}' has several metrics, none of a judge: name the one to compare, out of {some(names, 20)}."
    raise InvalidValueError(msg)
