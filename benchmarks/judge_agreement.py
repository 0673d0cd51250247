# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
How far a judge agrees with people on faithfulness, beside Haystack's own evaluator on the same rows.

    python benchmarks/judge_agreement.py begin_dev_wow.tsv --base-url http://127.0.0.1:8077/v1 --model local --rows 60

Takes a TSV in the form of the BEGIN benchmark (Dziri et al., TACL 2022): knowledge, message, response, begin_label.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import time
from typing import Any

from haystack.components.evaluators import FaithfulnessEvaluator as StockEvaluator
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

from haystack_eval_ext import FaithfulnessEvaluator
from haystack_eval_ext.runs.statistics import agreement

ATTRIBUTABLE = "Fully attributable"


def read_rows(path: str, count: int, seed: int) -> list[dict[str, str]]:
    """As many rows of either label, in an order that the seed decides."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    drawn = random.Random(seed)
    yes, no = ([row for row in rows if (row["begin_label"] == ATTRIBUTABLE) is label] for label in (True, False))
    chosen = drawn.sample(yes, count // 2) + drawn.sample(no, count - count // 2)
    drawn.shuffle(chosen)
    return chosen


def generator(options: argparse.Namespace, max_tokens: int) -> OpenAIChatGenerator:
    """A judge at temperature 0."""
    return OpenAIChatGenerator(
        api_base_url=options.base_url,
        api_key=Secret.from_env_var("JUDGE_KEY"),
        model=options.model,
        timeout=options.timeout,
        max_retries=0,
        generation_kwargs={"temperature": 0, "seed": 42, "max_tokens": max_tokens},
    )


def main() -> None:
    """Ask both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--concurrency", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("JUDGE_KEY", "none")
    rows = read_rows(options.data, options.rows, options.seed)
    human = [float(row["begin_label"] == ATTRIBUTABLE) for row in rows]
    inputs: dict[str, Any] = {
        "questions": [row["message"] for row in rows],
        "contexts": [[row["knowledge"]] for row in rows],
        "predicted_answers": [row["response"] for row in rows],
    }
    policy = {"max_concurrency": options.concurrency, "timeout": options.timeout, "deadline": 3 * options.timeout}
    stock_generator = generator(options, 400)
    stock_generator.generation_kwargs["response_format"] = {"type": "json_object"}
    contenders = {
        "ours": FaithfulnessEvaluator(
            chat_generator=generator(options, 400), raise_on_failure=False, progress_bar=False, policy=policy
        ),
        "stock": StockEvaluator(chat_generator=stock_generator, raise_on_failure=False, progress_bar=False),
    }
    print("| evaluator | rows | failed | accuracy | kappa (95 %) | called faithful | calls | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, evaluator in contenders.items():
        begun = time.perf_counter()
        result = evaluator.run(**inputs)
        seconds = time.perf_counter() - begun
        pairs = [
            (h, float(s >= 1.0)) for h, s in zip(human, result["individual_scores"], strict=True) if not math.isnan(s)
        ]
        found = agreement([h for h, _ in pairs], [j for _, j in pairs])
        failed = len(rows) - len(pairs)
        calls = result["usage"]["calls"] if "usage" in result else len(rows)
        width = found.kappa_interval
        interval = (
            "-" if found.kappa is None or width is None else f"{found.kappa:.2f} ({width.low:.2f} to {width.high:.2f})"
        )
        faithful = sum(judged for _, judged in pairs)
        print(
            f"| {name} | {len(rows)} | {failed} | {found.accuracy or 0:.2f} | {interval} | {faithful:.0f} | {calls} "
            f"| {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
