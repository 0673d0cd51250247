# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The whole way on the example handbook: two RAG pipelines are run, scored, diagnosed, compared and put before a gate.

The handbook (60 short documents in English and Japanese) is searched by BM25 at two settings. No language model is at
work: the answer is a sentence of the handbook (``rag.py`` beside this file has the pipelines). Run it with ``make
demo``, or ``python examples/demo.py`` where the package is installed; ``--keep`` keeps the runs in ``./demo_runs``.
"""

import argparse
import logging
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from haystack import Pipeline
from rag import TERMS, make_pipeline, read_handbook
from rich.console import Console
from rich.table import Table

from haystack_eval_ext import (
    AnswerExactMatchEvaluator,
    AnswerRougeEvaluator,
    AnswerTokenF1Evaluator,
    Comparison,
    Dataset,
    DocumentMRREvaluator,
    DocumentRankingEvaluator,
    DocumentRecallEvaluator,
    EvaluationRun,
    RAGFailureClassifier,
    check,
    compare,
    read_dataset,
    run_rag,
)

HERE = Path(__file__).parent
MEASURES = ["nDCG@10", "RR", "R@3", "R@10", "P@3"]
# How the tables call the metrics of the runs.
NAMES = {
    **{f"ranking.{measure}": measure for measure in MEASURES},
    "exact_match": "exact match",
    "token_f1": "token F1",
    "found": "reference found",
}
OF_STAGES = [f"ranking.{measure}" for measure in ("R@10", "RR")]
GATE = ["ranking.R@10 drops 0.1", "ranking.R@3 drops 0.05", "token_f1 < 0.5"]
SHOWN = 3

Runs = dict[str, EvaluationRun]


def make_evaluators() -> Pipeline:
    """Retrieval measures, answer metrics, and the diagnosis that reads some of their scores."""
    pipeline = Pipeline()
    for name, evaluator in {
        "ranking": DocumentRankingEvaluator(MEASURES, document_comparison_field="id", find_never_retrieved=False),
        "exact_match": AnswerExactMatchEvaluator(normalization="unicode"),
        "token_f1": AnswerTokenF1Evaluator(),
        # Which share of the reference's words is in the answer: fair to an answer that is a whole sentence.
        "found": AnswerRougeEvaluator(rouge_type="rouge1", measure="recall"),
        "recall": DocumentRecallEvaluator("multi_hit", "id"),
        "recall_at_3": DocumentRecallEvaluator("multi_hit", "id", top_k=3),
        "mrr": DocumentMRREvaluator("id"),
        "diagnosis": RAGFailureClassifier(ranking_threshold=0.3),
    }.items():
        pipeline.add_component(name, evaluator)
    for sender, name in {
        "recall": "retrieval",
        "recall_at_3": "retrieval_at_cut",
        "mrr": "ranking",
        "found": "answer",
    }.items():
        pipeline.connect(f"{sender}.individual_scores", f"diagnosis.{name}_scores")
        pipeline.connect(f"{sender}.statuses", f"diagnosis.{name}_statuses")
    return pipeline


def make_table(title: str, heads: Iterable[str], *, texts: int) -> Table:
    """A table whose first columns hold texts and whose others hold numbers."""
    table = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < texts else "right", no_wrap=True)
    return table


def score_table(runs: Runs) -> Table:
    """The means for both languages together and for each."""
    before, after = runs.values()
    table = make_table("Retrieval and answers", ("language", "questions", "measure", *runs, "difference"), texts=3)
    languages = [row["columns"]["lang"] for row in before.rows]
    for language in ("both", *dict.fromkeys(languages)):
        rows = [place for place, lang in enumerate(languages) if language in ("both", lang)]
        for place, (metric, name) in enumerate(NAMES.items()):
            old, new = (fmean(run.metrics[metric].scores[row] for row in rows) for run in (before, after))
            head = ("", "") if place else (language, str(len(rows)))
            table.add_row(*head, name, f"{old:.3f}", f"{new:.3f}", signed(new - old))
        table.add_section()
    return table


def stage_table(runs: Runs) -> Table:
    """What each stage of retrieval still has of the evidence."""
    table = make_table("Stages of retrieval", ("stage", "measure", *runs), texts=2)
    stages = [
        name.removesuffix(f"/{OF_STAGES[0]}")
        for name in next(iter(runs.values())).metrics
        if f"/{OF_STAGES[0]}" in name
    ]
    for stage in stages:
        for metric in OF_STAGES:
            table.add_row(stage, NAMES[metric], *(f"{run.scores[f'{stage}/{metric}']:.3f}" for run in runs.values()))
    return table


def diagnosis_table(runs: Runs) -> Table:
    """How many questions fail, and at which stage first."""
    table = make_table("Diagnosis: questions by what failed first", ("diagnosis", *runs), texts=1)
    counts = [run.manifest["diagnoses"]["diagnosis"]["counts"] for run in runs.values()]
    for label in dict.fromkeys(label for each in counts for label in each):
        numbers = [each.get(label, 0) for each in counts]
        if any(numbers):
            table.add_row(label.replace("_", " "), *map(str, numbers))
    return table


def failing(run: EvaluationRun) -> list[str]:
    """The first question of each kind of failure, with the reason."""
    found = run.manifest["diagnoses"]["diagnosis"]
    questions = {row["id"]: row["question"] for row in run.rows}
    first: dict[str, str] = {}
    for row, label in found["labels"].items():
        if label != "passed":
            first.setdefault(label, row)
    return [
        f"{row}  {questions[row]}\n  {label.replace('_', ' ')}: {found['reasons'][row]}"
        for label, row in list(first.items())[:SHOWN]
    ]


def comparison_table(comparison: Comparison) -> Table:
    """Both means, and the difference with its interval."""
    heads = ("measure", comparison.base_name, comparison.new_name, "change", "95 % interval", "better/same/worse")
    table = make_table(f"The comparison, {comparison.rows} questions in pairs", heads, texts=1)
    table.padding = (0, 0)
    for metric, name in NAMES.items():
        found = comparison.metrics[metric]
        limits = found.difference.interval
        wins, losses = found.wins or 0, found.losses or 0
        table.add_row(
            name,
            f"{found.base.estimate.mean:.3f}",
            f"{found.new.estimate.mean:.3f}",
            signed(found.difference.mean or 0.0),
            "" if limits is None else f"{signed(limits.low)} to {signed(limits.high)}",
            f"{wins}/{found.difference.rows - wins - losses}/{losses}",
        )
    return table


def signed(number: float) -> str:
    """A change; none is +0.000."""
    return f"{round(number, 3) + 0.0:+.3f}"


def show(console: Console, dataset: Dataset, folder: Path) -> None:
    """Run both settings, keep the runs in the folder, and print what they tell."""
    asked = Dataset(dataset.path, [row for row in dataset.rows if row["answerable"]])
    console.print(
        f"{len(read_handbook())} documents, {len(asked)} questions; {len(dataset.unanswerable)} more have no answer "
        "there and are not asked.\nBM25 finds 10 documents, the best 3 go on. Its terms:\n"
        "  words  whole words; in Japanese single characters\n"
        "  stems  the first five letters of a word; in Japanese pairs of characters\n"
        "The answer is the sentence of these 3 that BM25 ranks first; no language model is used.\n",
        soft_wrap=True,
    )
    evaluators = make_evaluators()
    runs = {
        name: run_rag(
            evaluators,
            asked,
            make_pipeline(name),
            out=folder / name,
            retrieved="bm25",
            replace_run=True,
            progress=False,
        )
        for name in TERMS
    }
    console.print(score_table(runs))
    console.print(
        "All measures run from 0 to 1, higher is better. A whole sentence is never equal\nto a short reference: exact "
        "match is 0. 'reference found' is the share of the\nreference's words in the answer.\n"
    )
    console.print(stage_table(runs))
    console.print("What the cut to 3 documents loses, the answer cannot have.\n")
    console.print(diagnosis_table(runs))
    console.print("\nFor example, with stems:")
    for text in failing(runs["stems"]):
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    comparison = compare(folder / "words", folder / "stems")
    console.print()
    console.print(comparison_table(comparison))
    console.print("An interval with 0 inside: the difference can be chance.\n")
    console.print("The gate, for three conditions (it would fail CI at the first 'fail'):")
    for result in check(comparison, GATE):
        console.print(f"  fails if {result.condition}  ->  {result.reason}", highlight=False, soft_wrap=True)


def main() -> None:
    """Show it."""
    parser = argparse.ArgumentParser(description="Evaluate two RAG pipelines over the example handbook.")
    parser.add_argument("--keep", action="store_true", help="keep both runs in ./demo_runs")
    keep = parser.parse_args().keep
    # The labels of traps have the grade 0 on purpose; the note about it belongs to data that nobody knows.
    logging.getLogger("haystack_eval_ext").setLevel(logging.ERROR)
    console = Console()
    dataset = read_dataset(HERE / "questions.jsonl")
    with TemporaryDirectory() as temporary:
        show(console, dataset, Path("demo_runs" if keep else temporary))
    if keep:
        console.print("\nThe runs are in demo_runs. In a shell: haystack-eval compare demo_runs/words demo_runs/stems")


if __name__ == "__main__":
    main()
