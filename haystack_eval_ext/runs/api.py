# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The verbs for Python: run_rag, evaluate, evaluate_trec, compare, check, agree; runs are kept, loaded, made baselines.

```python
from haystack_eval_ext import DocumentRecallEvaluator, check, compare, evaluate


def data(found):
    return [{"id": f"q{n}", "relevant_documents": ["a"], "documents": [found(n)]} for n in range(60)]


evaluators = {"recall": DocumentRecallEvaluator(document_comparison_field="id")}
base = evaluate(evaluators, data(lambda n: "a" if n % 2 else "b"), name="bm25")
new = evaluate(evaluators, data(lambda n: "a" if n % 10 else "b"), name="hybrid")
comparison = compare(base, new)
print(round(comparison.metrics["recall"].difference.mean, 2), comparison.metrics["recall"].wins)
# 0.4 24
print([result.outcome for result in check(comparison, ["recall drops 0.02"])])
# ['pass']
```
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import ComparisonError, InvalidValueError, RunFileError
from haystack_eval_ext.runs import comparison as comparing
from haystack_eval_ext.runs import gate
from haystack_eval_ext.runs._agreement import Agreement
from haystack_eval_ext.runs._comparable import comparable, notes_on
from haystack_eval_ext.runs._compared_field import DEFAULT_FIELD, field_of_run
from haystack_eval_ext.runs._evaluators import opened
from haystack_eval_ext.runs._faults import texts_wanted
from haystack_eval_ext.runs._forecast import Forecast, forecast_of_run, forecast_of_size
from haystack_eval_ext.runs._label_check import check_labels
from haystack_eval_ext.runs._people import DifferingRow, JudgeAgreement, agree
from haystack_eval_ext.runs._rescoring import evaluate_again, metrics_anew, pipeline_of, rejudged, without_scores
from haystack_eval_ext.runs._run_folder import MANIFEST, check_folder
from haystack_eval_ext.runs._setup_record import setup_of
from haystack_eval_ext.runs._setups import compare_setups
from haystack_eval_ext.runs.comparison import Comparison
from haystack_eval_ext.runs.dataset import Data, Dataset, open_dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from haystack_eval_ext.runs.gate import Condition, GateResult, exit_code, overall_outcome
from haystack_eval_ext.runs.judging import JudgeSettings, prepare_judges
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.rag import run_rag
from haystack_eval_ext.runs.run import EvaluationRun, load_run
from haystack_eval_ext.runs.trec_runs import evaluate_trec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from haystack import Pipeline

    from haystack_eval_ext.runs._lines import FilePath

__all__ = [
    "Agreement",
    "Comparison",
    "ComparisonError",
    "DifferingRow",
    "EvaluationRun",
    "Forecast",
    "GateResult",
    "JudgeAgreement",
    "JudgeSettings",
    "RunFileError",
    "agree",
    "baseline",
    "check",
    "compare",
    "evaluate",
    "evaluate_trec",
    "exit_code",
    "forecast",
    "load_run",
    "overall_outcome",
    "run_rag",
]


def evaluate(
    evaluators: Pipeline | FilePath | Mapping[str, Any],
    data: Data | EvaluationRun,
    *,
    out: FilePath | None = None,
    name: str | None = None,
    mapping: Mapping[str, str] | None = None,
    texts: bool = True,
    replace_run: bool = False,
    label_field: str | None = None,
    lower_is_better: Collection[str] = (),
    judge: JudgeSettings | None = None,
    columns: Mapping[str, str] | None = None,
    progress: bool = True,
) -> EvaluationRun:
    """
    Score stored outputs.

    :param evaluators: A pipeline, its YAML file, the name of a shipped one, or components by name.
    :param data: Rows with outputs and labels: a Dataset, its file, or a list of rows; or a run with its texts, or its
        folder, whose outputs are scored again without running the RAG pipeline.
    :param out: Folder to keep the run in.
    :param name: What reports call the run; without it the folder's name, else the data's.
    :param mapping: Columns by "component.socket", for sockets outside our vocabulary.
    :param texts: False keeps ids and scores only, also in the run that is returned.
    :param replace_run: Replace a run that is in the folder.
    :param label_field: Where bare keys of a data file go, as in `read_dataset`, and what evaluators of a YAML file
        compare that do not say it; one that says something else is refused. None: "id".
    :param lower_is_better: Metrics of which a higher score is worse, beside those whose class says so.
    :param judge: Budgets, cache and generator of all judges for this run; None leaves to each what it says itself.
        They are prepared before the first is asked, so that a missing key of the last costs nothing.
    :param columns: What columns of the data mean whose names do not say it, as in `read_dataset`.
    :param progress: Whether to show progress on a terminal; False hides the bars of all components.
    :returns: The run.
    :raises EvaluationError: If a socket cannot be fed, no label can match by the compared field but most would by
        another one, a component fails, or no component gives scores.
    :raises RunFileError: If the folder holds something else.
    :raises ValueError: If the data is wrong; every fault of a file is in one report.
    """
    folder = None if out is None else check_folder(out, replace=replace_run)
    source = _source(data, label_field or DEFAULT_FIELD, columns)
    called = name or (folder.name if folder is not None else None)
    compared = label_field or (None if isinstance(source, Dataset) else field_of_run(source))
    with texts_wanted(texts), opened(evaluators, judge, compared, progress=progress) as pipeline:
        if isinstance(source, Dataset):
            check_labels(pipeline, source, mapping)
        prepare_judges(pipeline)
        if isinstance(source, Dataset):
            evaluation = evaluate_pipeline(pipeline, source, mapping)
            called = called or os.path.basename(source.path)
            run = make_run(evaluation, source, pipeline, name=called, lower_is_better=lower_is_better)
        else:
            run = evaluate_again(pipeline, source, mapping, called or source.name, lower_is_better)
    if folder is not None:
        run.save(folder, texts=texts, replace=replace_run)
    return run if texts else run.without_texts()


def compare(
    base: EvaluationRun | FilePath,
    new: EvaluationRun | FilePath,
    *,
    common: bool = False,
    unpaired: bool = False,
    metrics: Collection[str] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    power: float = 0.9,
    margins: Mapping[str, float] | None = None,
    by: str | Sequence[str] | None = None,
    changed: int = 10,
    rejudge: bool = False,
    judge: JudgeSettings | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Comparison:
    """
    Compare two runs over the same questions.

    :param base: The run to compare with, its folder, or a baseline file.
    :param new: The run in question, or its folder.
    :param common: Compare the rows that both runs have, where they differ in rows.
    :param unpaired: Compare the means of runs over different questions.
    :param metrics: Compare these alone, and refuse nothing for the sake of others.
    :param seed: Where the randomisation tests start.
    :param confidence: 0.95 for 95 % intervals.
    :param power: The chance to see a difference that `minimal_detectable` and `rows_needed` stand for.
    :param margins: By metric the difference that matters.
    :param by: Tags to form slices by: a tag, "lang" for all of "lang:de" and "lang:en", or "*" for every tag.
    :param changed: How many changed rows to list in each direction.
    :param rejudge: Score both anew with the evaluation pipeline of `new`, and compare these scores. Nothing is written.
    :param judge: Budgets, cache and generator of all judges for `rejudge`. Nothing is asked before runs and parameters
        are found to be right.
    :param mapping: Columns by "component.socket", for `rejudge`.
    :returns: The comparison.
    :raises ComparisonError: If questions, labels, metric parameters, cut-offs, directions, judge models or prompt
        versions differ; with every reason.
    :raises RunFileError: If a run cannot be read.
    :raises ValueError: If a parameter names no metric or tag, or is out of its range.
    """
    before, after = load_run(base), load_run(new)
    for name, given in (("judge", judge), ("mapping", mapping)):
        if given is not None and not rejudge:
            msg = f"{name} is for rejudge=True: without it nothing is judged."
            raise InvalidValueError(msg)
    how: dict[str, Any] = {
        "common": common,
        "unpaired": unpaired,
        "metrics": metrics,
        "seed": seed,
        "confidence": confidence,
        "power": power,
        "margins": margins,
        "by": by,
        "changed": changed,
    }
    if rejudge:
        pipeline = pipeline_of(before, after, mapping)
        # All but the scores: what is wrong is told before a judge is paid.
        names = metrics_anew(after)
        one, two = (without_scores(run, names) for run in comparable(before, after))
        comparing.compare(one, two, **how, resamples=0)
        before, after = rejudged(pipeline, before, after, judge, mapping)
    one, two = comparable(before, after)
    found = comparing.compare(one, two, **how)
    notes = [f"Both runs were scored anew with the evaluation pipeline of '{after.name}'."] if rejudge else []
    setup = compare_setups(
        setup_of(before.manifest), setup_of(after.manifest), base_name=found.base_name, new_name=found.new_name
    )
    return replace(found, notes=[*notes, *found.notes, *notes_on(before, after)], setup=setup)


def check(
    run_or_comparison: EvaluationRun | FilePath | Comparison,
    conditions: Iterable[str | Condition],
    *,
    by_mean: bool = False,
    tolerate_failed: float = gate.TOLERATED,
    confidence: float | None = None,
    rule: gate.Rule = "significant",
) -> list[GateResult]:
    """
    Check a run, or a comparison, against what would fail it.

    :param run_or_comparison: A run, its folder, a baseline file, or what :func:`compare` gave.
    :param conditions: What fails it: `"faithfulness < 0.8"`, and for a comparison also `"ranking.R@10 drops 0.02"`.
    :param by_mean: Go by the means alone, without an interval.
    :param tolerate_failed: The share of rows that failed, or are undefined in one of two runs, that is taken to be like
        the others.
    :param confidence: That of a run's intervals, 0.95 if None; a comparison has its own.
    :param rule: "significant": a change fails where its interval lies on one side of 0 and its mean beyond the margin,
        and several conditions are corrected for their number (Holm); "strict": where its whole interval lies beyond the
        margin.
    :returns: One result a condition.
    :raises ValueError: If a condition names no metric, or takes two runs, or a parameter is out of its range.
    """
    if isinstance(run_or_comparison, Comparison):
        if confidence is not None:
            msg = "confidence belongs to the comparison: give it to compare, and leave it out here."
            raise InvalidValueError(msg)
        return gate.check_comparison(
            run_or_comparison, conditions, by_mean=by_mean, tolerate_failed=tolerate_failed, rule=rule
        )
    return gate.check_run(
        load_run(run_or_comparison).scored(),
        conditions,
        by_mean=by_mean,
        tolerate_failed=tolerate_failed,
        confidence=0.95 if confidence is None else confidence,
        rule=rule,
    )


def forecast(
    run_or_size: EvaluationRun | FilePath | int,
    conditions: Iterable[str | Condition] = (),
    *,
    rule: gate.Rule = "significant",
    confidence: float = 0.95,
    power: float = 0.9,
) -> list[Forecast]:
    """
    Tell before anything is run or paid for what the gate of a question set can find.

    ```python
    from haystack_eval_ext import forecast

    for found in forecast(60, ["recall drops 0.05"]):
        print(found.text)
    # recall: with 60 questions a drop of 0.26 fails nine times in ten
    ```

    :param run_or_size: A run that others will be compared with, its folder, a baseline file; or the number of
        questions alone, for 0/1 scores of which one in five changes by chance.
    :param conditions: What is to fail the gate: `"recall drops 0.05"`. Limits of means count for Holm's
        correction only.
    :param rule: The rule of the gate.
    :param confidence: That of the intervals.
    :param power: The chance to find the change.
    :returns: One for each condition on a change; without conditions one for each metric. Of a run with several answers
        to a question they tell how much changes by chance, else one score in five is taken to be drawn anew.
    :raises ValueError: If a condition names no metric of the run, or a parameter is out of its range.
    :raises RunFileError: If the run cannot be read.
    """
    given = [conditions] if isinstance(conditions, str) else conditions
    known = [each if isinstance(each, Condition) else gate.parse_condition(each) for each in given]
    if isinstance(run_or_size, int):
        return forecast_of_size(run_or_size, known, rule=rule, confidence=confidence, power=power)
    run = load_run(run_or_size)
    within = run.spread() if run.repeats > 1 else None
    return forecast_of_run(
        run.scored(),
        known,
        within=within,
        answers=run.repeats,
        rule=rule,
        confidence=confidence,
        power=power,
    )


def baseline(run: EvaluationRun | FilePath, path: FilePath) -> None:
    """
    Write a run's baseline: ids, scores and fingerprints, no texts; small enough to commit.

    :param run: The run, or its folder.
    :param path: The file, replaced if it is there.
    :raises RunFileError: If the run cannot be read.
    :raises OSError: If the file cannot be written.
    """
    load_run(run).baseline(path)


def _source(data: Data | EvaluationRun, label_field: str, columns: Mapping[str, str] | None) -> Dataset | EvaluationRun:
    if isinstance(data, str | os.PathLike) and (Path(data).is_dir() or Path(data).name == MANIFEST):
        data = load_run(data)
    if not isinstance(data, EvaluationRun):
        return open_dataset(data, label_field=label_field, columns=columns)
    if columns:
        msg = "columns is for rows or their file: a run has its columns under our names. Leave it out."
        raise InvalidValueError(msg)
    return data
