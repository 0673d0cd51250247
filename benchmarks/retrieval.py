# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Retrieval evaluation against its peers, on the same Documents in one run.

Each contender starts from Haystack Documents and ends with numbers. Times are CPU time, medians of alternating repeats,
garbage collection as users have it. The floor is what nobody can do without: for each query build the dict of ground
truth and look each retrieved document's key up in it. Ratios to the floor carry over to other machines, times do not.
"""

import argparse
import hashlib
import importlib
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document
from haystack.components import evaluators as stock

import haystack_eval_ext as ours

CUTOFFS = (1, 3, 5, 10, 100)
MEASURES = [f"{name}@{cutoff}" for name in ("P", "R", "nDCG", "AP", "RR") for cutoff in CUTOFFS]
RANX_NAMES = {"P": "precision", "R": "recall", "nDCG": "ndcg", "AP": "map", "RR": "mrr"}
TARGET = "ours: 25 measures"
SLOW_REPEATS = 3


def copy(text: str) -> str:
    """An equal string that is not the same object."""
    return (text + " ")[:-1]


class Data(NamedTuple):
    """Ground truth and rankings of all queries, and the name of the compared field."""

    field: str
    truth: list[list[Document]]
    retrieved: list[list[Document]]


class Contender(NamedTuple):
    """A way to the numbers: how many it computes a query, and whether it is too slow for all repeats."""

    run: Callable[[Data], float | None]  # returns its nDCG@10 if it has one, to see that all do the same work
    values: int
    slow: bool = False


def make_data(
    queries: int, documents: int, relevant: int, field: str = "id", corpus: int = 100_000, strings: str = "shared"
) -> Data:
    """
    Make rankings as retrievers return them, with an object for each retrieved document.

    Its strings are the store's, as with Haystack's in-memory retrievers ("shared"), or its own, as from a network
    ("own"); the labels' are always their own. Six of ten labels are found, more of them high in the ranking than low.
    """
    rng = random.Random(20)
    size = max(corpus, 2 * (documents + relevant))
    ids = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(size)]
    texts = [(f"{name} {rng.random()} " * 10)[:500] for name in ids]
    of_store: Callable[[str], str] = str if strings == "shared" else copy
    truth, retrieved = [], []
    for _ in range(queries):
        numbers = rng.sample(range(size), documents + relevant)
        labels = numbers[:relevant]
        ranking = numbers[relevant:]
        for number in labels:
            if rng.random() < 0.6:
                ranking.insert(int(documents * rng.random() ** 2), number)
        truth.append(
            [Document(id=copy(ids[n]), content=copy(texts[n]), score=rng.choice([1.0, 2.0, 3.0])) for n in labels]
        )
        found = enumerate(ranking[:documents], start=1)
        retrieved.append(
            [Document(id=of_store(ids[n]), content=of_store(texts[n]), score=1 / rank) for rank, n in found]
        )
    return Data(field, truth, retrieved)


def floor(data: Data) -> None:
    """Build the dicts and look the keys up, nothing else."""
    if data.field == "id":
        for truth, retrieved in zip(data.truth, data.retrieved, strict=True):
            labels = {document.id: document.score for document in truth}
            for document in retrieved:
                labels.get(document.id)
    else:
        for truth, retrieved in zip(data.truth, data.retrieved, strict=True):
            texts = {document.content: document.score for document in truth}
            for document in retrieved:
                texts.get(document.content)


def ranking_evaluator(data: Data) -> float:
    """Our 25 measures in one pass."""
    result = ours.DocumentRankingEvaluator(MEASURES, data.field).run(data.truth, data.retrieved)
    return float(result["scores"]["nDCG@10"])


def stock_on_slices(*, single_hit: bool) -> Callable[[Data], None]:
    """The stock evaluators for the same cut-offs, on sliced rankings. Stock has no precision; recall has two modes."""

    def run(data: Data) -> None:
        modes = ("multi_hit", "single_hit") if single_hit else ("multi_hit",)
        evaluators: list[Any] = [stock.DocumentRecallEvaluator(mode, data.field) for mode in modes]
        for component in (stock.DocumentMRREvaluator, stock.DocumentMAPEvaluator, stock.DocumentNDCGEvaluator):
            evaluators.append(component(data.field))
        for cutoff in CUTOFFS:
            sliced = [documents[:cutoff] for documents in data.retrieved]
            for evaluator in evaluators:
                evaluator.run(data.truth, sliced)

    return run


def dictionaries(data: Data) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels and run as the peers take them."""
    if data.field == "id":
        return (
            {str(query): {d.id: int(d.score or 0) for d in row} for query, row in enumerate(data.truth)},
            {str(query): {d.id: d.score or 0.0 for d in row} for query, row in enumerate(data.retrieved)},
        )
    return (
        {str(query): {str(d.content): int(d.score or 0) for d in row} for query, row in enumerate(data.truth)},
        {str(query): {str(d.content): d.score or 0.0 for d in row} for query, row in enumerate(data.retrieved)},
    )


def pytrec_eval(data: Data) -> float:
    """trec_eval by pytrec_eval, which has no cut-off for RR: 21 values."""
    import pytrec_eval

    qrels, run = dictionaries(data)
    names = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("P", "recall", "ndcg_cut", "map_cut")} | {
        "recip_rank"
    }
    rows = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run).values()
    return statistics.fmean(row["ndcg_cut_10"] for row in rows)


def ir_measures(data: Data) -> float:
    """ir_measures."""
    import ir_measures

    qrels, run = dictionaries(data)
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    return float(ir_measures.calc_aggregate(measures, qrels, run)[ir_measures.nDCG @ 10])


def ranx(data: Data) -> float:
    """Ranx, warm: its functions are compiled before the first timing."""
    import ranx

    qrels, run = dictionaries(data)
    names = [f"{RANX_NAMES[name]}@{cutoff}" for name, cutoff in (measure.split("@") for measure in MEASURES)]
    return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), names)["ndcg@10"])


def single(component: type, *arguments: str) -> Contender:
    """A single evaluator with its default cut-off: the whole ranking."""

    def run(data: Data) -> None:
        component(*arguments, data.field).run(data.truth, data.retrieved)

    return Contender(run, 1)


CONTENDERS = {
    "floor": Contender(floor, 0),
    TARGET: Contender(ranking_evaluator, len(MEASURES)),
    "stock: R, NDCG, MAP, MRR on slices": Contender(stock_on_slices(single_hit=False), 20, slow=True),
    "stock: these and single hit on slices": Contender(stock_on_slices(single_hit=True), 25, slow=True),
    "pytrec_eval, with dicts": Contender(pytrec_eval, 21),
    "ir_measures, with dicts": Contender(ir_measures, len(MEASURES), slow=True),
    "ranx, with dicts, Qrels, Run": Contender(ranx, len(MEASURES), slow=True),
    "ours: recall, single hit": single(ours.DocumentRecallEvaluator, "single_hit"),
    "stock: recall, single hit": single(stock.DocumentRecallEvaluator, "single_hit"),
    "ours: recall, multi hit": single(ours.DocumentRecallEvaluator, "multi_hit"),
    "stock: recall, multi hit": single(stock.DocumentRecallEvaluator, "multi_hit"),
    "ours: MRR": single(ours.DocumentMRREvaluator),
    "stock: MRR": single(stock.DocumentMRREvaluator),
    "ours: MAP": single(ours.DocumentMAPEvaluator),
    "stock: MAP": single(stock.DocumentMAPEvaluator),
    "ours: NDCG": single(ours.DocumentNDCGEvaluator),
    "stock: NDCG": single(stock.DocumentNDCGEvaluator),
    "ours: precision": single(ours.DocumentPrecisionEvaluator),
    "ours: hit rate": single(ours.DocumentHitRateEvaluator),
}


def available(wanted: list[str]) -> dict[str, Contender]:
    """The contenders whose names contain one of the words, the floor always, without those not installed here."""
    chosen = {"floor": CONTENDERS["floor"]}
    for name, contender in CONTENDERS.items():
        package = name.partition(",")[0]
        if not any(word in name for word in wanted or [""]):
            continue
        if package in ("pytrec_eval", "ir_measures", "ranx"):
            try:
                importlib.import_module(package)
            except ImportError as error:
                print(f"{package} is left out: {error}", file=sys.stderr)
                continue
        chosen[name] = contender
    return chosen


def cpu_seconds(contender: Contender, data: Data) -> tuple[float, float | None]:
    """CPU time of one run, and its nDCG@10."""
    start = time.process_time()
    check = contender.run(data)
    return time.process_time() - start, check


def compare(data: Data, contenders: dict[str, Contender], repeats: int) -> None:
    """Let the contenders take turns and print the table."""
    for contender in contenders.values():
        contender.run(Data(data.field, data.truth[:20], data.retrieved[:20]))  # imports, compilation
    times: dict[str, list[float]] = {name: [] for name in contenders}
    checks = set()
    for repeat in range(repeats):
        for name, contender in contenders.items():
            if repeat < (min(repeats, SLOW_REPEATS) if contender.slow else repeats):
                seconds, check = cpu_seconds(contender, data)
                times[name].append(seconds)
                checks |= {check} if check is not None else set()
    if checks and not math.isclose(min(checks), max(checks), abs_tol=1e-6):
        sys.exit(f"The contenders do not compute the same: nDCG@10 is {sorted(checks)}.")
    queries, middle = len(data.truth), {name: statistics.median(values) for name, values in times.items()}
    print(
        f"\n{queries:,} queries x {len(data.retrieved[0])} documents x {len(data.truth[0])} relevant, by {data.field}\n"
    )
    print("| contender | values | µs a query | ratio to the floor | ours is faster by | repeats |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, contender in contenders.items():
        own = middle.get(name.replace("stock: ", "ours: ") if name in CONTENDERS and contender.values == 1 else TARGET)
        faster = f"{middle[name] / own:.2f}" if own and not name.startswith(("ours", "floor")) else ""
        micro, ratio = 1e6 * middle[name] / queries, middle[name] / middle["floor"]
        print(f"| {name} | {contender.values or ''} | {micro:.1f} | {ratio:.2f} | {faster} | {len(times[name])} |")


def whole_rankings(data: Data) -> None:
    """Measures without a cut-off, which look at every document."""
    ours.DocumentRankingEvaluator(["P", "R", "nDCG", "AP", "RR"], data.field).run(data.truth, data.retrieved)


def linearity(queries: int, repeats: int) -> None:
    """Show that ten times the documents and the relevant ones cost ten times as much."""
    print(f"\n{queries:,} queries, by id: ns for each document of rankings and ground truth; stock MAP runs once\n")
    print("| documents | relevant | floor | ours: P, R, nDCG, AP, RR | ours: MAP | stock: MAP |")
    print("|---:|---:|---:|---:|---:|---:|")
    contenders = (CONTENDERS["floor"], Contender(whole_rankings, 5), CONTENDERS["ours: MAP"])
    for documents, relevant in ((100, 10), (1000, 100), (100, 100), (1000, 1000)):
        data = make_data(queries, documents, relevant)
        runs = [[cpu_seconds(contender, data)[0] for contender in contenders] for _ in range(repeats)]
        times = [statistics.median(column) for column in zip(*runs, strict=True)]
        times.append(cpu_seconds(CONTENDERS["stock: MAP"], data)[0])
        cells = " | ".join(f"{1e9 * seconds / queries / (documents + relevant):.0f}" for seconds in times)
        print(f"| {documents} | {relevant} | {cells} |")


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--documents", type=int, default=100, help="retrieved documents of a query")
    parser.add_argument("--relevant", type=int, default=10, help="relevant documents of a query")
    parser.add_argument("--corpus", type=int, default=100_000, help="different documents in all")
    parser.add_argument("--field", choices=["id", "content"], default="id", help="the compared field")
    parser.add_argument("--strings", choices=["shared", "own"], default="shared", help="of retrieved documents")
    parser.add_argument("--repeats", type=int, default=7, help=f"at most {SLOW_REPEATS} for the slow contenders")
    parser.add_argument("--contenders", nargs="+", default=[], metavar="WORD", help="those whose names contain a word")
    parser.add_argument("--linearity", type=int, default=1000, metavar="QUERIES", help="0: leave it out")
    parser.add_argument("--quick", action="store_true", help="1,000 queries, 3 repeats, no ranx: under a minute")
    options = parser.parse_args()
    if options.quick:
        options.queries, options.repeats, options.linearity = [1000], 3, min(options.linearity, 50)
    contenders = available(options.contenders)
    if options.quick and contenders.pop("ranx, with dicts, Qrels, Run", None):
        print("ranx is left out of a quick run: compiling its functions takes longer than that.", file=sys.stderr)
    kind = (options.documents, options.relevant, options.field, options.corpus, options.strings)
    for queries in options.queries:
        compare(make_data(queries, *kind), contenders, options.repeats)
    if options.linearity:
        linearity(options.linearity, min(options.repeats, SLOW_REPEATS))


if __name__ == "__main__":
    main()
