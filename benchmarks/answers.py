# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU time of each lexical answer metric beside the bare library that computes it, taking turns in one run."""

import argparse
import logging
import os
import random
import statistics
import sys
from collections.abc import Callable
from typing import NamedTuple

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack.components.evaluators import AnswerExactMatchEvaluator as StockExactMatch
from timing import alternate, ratio

import haystack_eval_ext as ours

TARGET = 1.15
ALLOWED_MICROSECONDS = 1.0  # more than the bare library, a row of short texts

Scores = list[float]


class Data(NamedTuple):
    """References and answers, one of each a row."""

    references: list[str]
    predictions: list[str]


class Pair(NamedTuple):
    """One of our metrics, and what computes the same without us; None where nothing does."""

    ours: Callable[[Data], Scores]
    bare: Callable[[Data], Scores] | None = None


def make_data(rows: int, words: int) -> Data:
    """
    Make English-like texts of different words, so that no row profits from another one.

    :param rows: Number of rows.
    :param words: Words of each text; one in five of a reference's is changed in the answer.
    :returns: The texts.
    """
    rng = random.Random(3)
    vocabulary = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(4000)]
    vocabulary += map(str, range(1500, 1900))
    references, predictions = [], []
    for _ in range(rows):
        chosen = rng.choices(vocabulary, k=words)
        changed = [word if rng.random() < 0.8 else rng.choice(vocabulary) for word in chosen]
        references.append(" ".join(chosen).capitalize() + ".")
        predictions.append(" ".join(changed).capitalize() + ".")
    return Data(references, predictions)


def component(make: Callable[[], object]) -> Callable[[Data], Scores]:
    """The scores of one of our components, made anew as in a new run."""

    def run(data: Data) -> Scores:
        scores: Scores = make().run(data.references, data.predictions)["individual_scores"]  # type: ignore[attr-defined]
        return scores

    return run


def stock_exact_match(data: Data) -> Scores:
    """Haystack's own exact match."""
    outputs = StockExactMatch().run(ground_truth_answers=data.references, predicted_answers=data.predictions)
    return [float(score) for score in outputs["individual_scores"]]


def rapidfuzz(data: Data) -> Scores:
    """Normalised Levenshtein similarity of the texts as they are."""
    from rapidfuzz.distance import Levenshtein

    similarity = Levenshtein.normalized_similarity
    return [similarity(p, r) for p, r in zip(data.predictions, data.references, strict=True)]


def rouge_score(rouge_type: str) -> Callable[[Data], Scores]:
    """rouge-score with its own tokenizer."""

    def run(data: Data) -> Scores:
        from rouge_score.rouge_scorer import RougeScorer

        score = RougeScorer([rouge_type]).score
        pairs = zip(data.predictions, data.references, strict=True)
        return [score(reference, prediction)[rouge_type].fmeasure for prediction, reference in pairs]

    return run


def sacrebleu(name: str, *, corpus: bool) -> Callable[[Data], Scores]:
    """sacrebleu's sentence scores, and its corpus score by a second call if that is asked for."""

    def run(data: Data) -> Scores:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        metric: BLEU | CHRF = BLEU(effective_order=True) if name == "BLEU" else CHRF()
        pairs = zip(data.predictions, data.references, strict=True)
        scores = [metric.sentence_score(prediction, [reference]).score / 100 for prediction, reference in pairs]
        if corpus:
            metric.corpus_score(data.predictions, [data.references])
        return scores

    return run


PAIRS = {
    "exact match (stock)": Pair(component(ours.AnswerExactMatchEvaluator), stock_exact_match),
    "exact match, squad": Pair(component(lambda: ours.AnswerExactMatchEvaluator(normalization="squad"))),
    "contains": Pair(component(ours.AnswerContainsEvaluator)),
    "token F1": Pair(component(ours.AnswerTokenF1Evaluator)),
    "number match": Pair(component(ours.AnswerNumberMatchEvaluator)),
    "edit similarity, none (rapidfuzz)": Pair(
        component(lambda: ours.AnswerEditSimilarityEvaluator(normalization="none")), rapidfuzz
    ),
    "edit similarity, default": Pair(component(ours.AnswerEditSimilarityEvaluator)),
    "ROUGE-L (rouge-score)": Pair(component(ours.AnswerRougeEvaluator), rouge_score("rougeL")),
    "ROUGE-1 (rouge-score)": Pair(
        component(lambda: ours.AnswerRougeEvaluator(rouge_type="rouge1")), rouge_score("rouge1")
    ),
    "BLEU (sacrebleu, sentences)": Pair(component(ours.AnswerBleuEvaluator), sacrebleu("BLEU", corpus=False)),
    "BLEU (sacrebleu, sentences and corpus)": Pair(component(ours.AnswerBleuEvaluator), sacrebleu("BLEU", corpus=True)),
    "chrF (sacrebleu, sentences)": Pair(component(ours.AnswerChrfEvaluator), sacrebleu("CHRF", corpus=False)),
    "chrF (sacrebleu, sentences and corpus)": Pair(component(ours.AnswerChrfEvaluator), sacrebleu("CHRF", corpus=True)),
}


def compare(pairs: dict[str, Pair], rows: int, words: int, repeats: int) -> None:
    """
    Print the table for texts of one length.

    :param pairs: What to compare, by name.
    :param rows: Rows of a run.
    :param words: Words of each text.
    :param repeats: Runs of each contender.
    """
    data = make_data(rows, words)
    print(f"\n{rows:,} rows, {words} words a text: µs a row and ratio (medians of {repeats} alternating runs)\n")
    print("| metric (bare library) | ours | bare | ratio | more than bare, µs |")
    print("|---|---:|---:|---:|---:|")
    for name, pair in pairs.items():
        scores = pair.ours(data)
        if pair.bare is None:
            seconds = alternate({"ours": lambda pair=pair: pair.ours(data)}, repeats)["ours"]  # type: ignore[misc]
            print(f"| {name} | {1e6 * statistics.median(seconds) / rows:.2f} | | | |")
            continue
        bare = pair.bare
        if any(abs(one - other) > 1e-9 for one, other in zip(scores, bare(data), strict=True)):
            sys.exit(f"{name}: ours and the bare library do not compute the same.")
        times = alternate({"ours": lambda pair=pair: pair.ours(data), "bare": lambda bare=bare: bare(data)}, repeats)  # type: ignore[misc]
        own, other = (1e6 * statistics.median(times[key]) / rows for key in ("ours", "bare"))
        factor = ratio(times["ours"], times["bare"])
        missed = factor > TARGET and own - other > ALLOWED_MICROSECONDS
        print(f"| {name} | {own:.2f} | {other:.2f} | {factor:.2f}{' (missed)' * missed} | {own - other:.2f} |")


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--words", type=int, nargs="+", default=[40, 3], help="words of each text")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--metrics", nargs="+", default=[""], metavar="WORD", help="those whose names contain a word")
    options = parser.parse_args()
    logging.getLogger("haystack_eval_ext").setLevel(logging.ERROR)  # short texts have no numbers to match
    pairs = {name: pair for name, pair in PAIRS.items() if any(word in name for word in options.metrics)}
    for words in options.words:
        compare(pairs, options.rows, words, options.repeats)


if __name__ == "__main__":
    main()
