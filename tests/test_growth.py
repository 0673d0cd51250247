# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Work grows with the rows, not with their square: counted in executed opcodes of this package, not in seconds.

A call that loops over all rows is one call, however many rows there are; its opcodes are not.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from haystack import Document

import haystack_eval_ext
from haystack_eval_ext import AnswerTokenF1Evaluator, DocumentRankingEvaluator
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.trec_runs import TrecLabels

PACKAGE = str(Path(haystack_eval_ext.__file__).parent)
FEW, TIMES, MOST = 60, 4, 5


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many opcodes of this package run meanwhile, in all threads."""
    count = [0]

    def local(frame: FrameType, event: str, _: Any) -> Any:
        count[0] += event == "opcode"
        return local

    def trace(frame: FrameType, _event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return local

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)
        threading.settrace(None)


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{number}",
            "question": f"question {number}",
            "reference_answer": "yes",
            "answer": "yes" if number % 3 else "no",
            "documents": [Document(id="a"), Document(id="b")],
            "relevant_documents": [Document(id="b" if number % 2 else "c")],
            "human": "good" if number % 4 else "bad",
            "tags": [f"lang:{'en' if number % 2 else 'de'}"],
            "cluster": f"c{number // 2}",
        }
        for number in range(count)
    ]


def evaluators() -> dict[str, Any]:
    ranking = DocumentRankingEvaluator(["RR", "R@1"], "id", find_never_retrieved=True)
    return {"ranking": ranking, "f1": AnswerTokenF1Evaluator()}


def answer(question: str) -> dict[str, Any]:
    return {"answer": question, "documents": [Document(id="a"), Document(id="b")]}


class Kept:
    """Runs of some number of rows, and where they are."""

    def __init__(self, folder: Path, count: int) -> None:
        self.rows = rows(count)
        self.folder = folder / str(count)
        self.run = api.evaluate(evaluators(), self.rows, out=self.folder / "kept")
        self.other = api.evaluate(evaluators(), [row | {"answer": "yes"} for row in self.rows])
        self.comparison = api.compare(self.run, self.other)


VERBS: dict[str, Callable[[Kept], Any]] = {
    "evaluate": lambda kept: api.evaluate(evaluators(), kept.rows),
    "evaluate and keep": lambda kept: api.evaluate(evaluators(), kept.rows, out=kept.folder / "new", replace_run=True),
    "evaluate a run": lambda kept: api.evaluate(evaluators(), kept.run),
    "evaluate_trec": lambda kept: api.evaluate_trec(
        TrecLabels("labels", {row["id"]: {"a": 1, "b": 0} for row in kept.rows}, {}),
        {row["id"]: [("b", 2.0), ("a", 1.0)] for row in kept.rows},
        ["RR", "nDCG@10"],
    ),
    "run_rag": lambda kept: api.run_rag(evaluators(), kept.rows, answer, progress=False, concurrency=1),
    "load_run": lambda kept: api.load_run(kept.folder / "kept"),
    "compare": lambda kept: api.compare(kept.run, kept.other),
    "compare by tags": lambda kept: api.compare(kept.run, kept.other, by="*"),
    "compare in common": lambda kept: api.compare(kept.run, kept.other, common=True),
    "check a run": lambda kept: api.check(kept.run, ["f1 < 0.1"]),
    "check a comparison": lambda kept: api.check(kept.comparison, ["f1 drops 0.5"]),
    "forecast": lambda kept: api.forecast(kept.run),
    "agree": lambda kept: api.agree(kept.run, human_column="human", metric="f1", threshold=0.5),
    "baseline": lambda kept: api.baseline(kept.run, kept.folder / "baseline.json"),
    "export": lambda kept: [kept.run.to_csv(), kept.run.to_json()],
    "EvaluationRunResult": lambda kept: kept.run.to_evaluation_run_result(),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kept, Kept]:
    folder = tmp_path_factory.mktemp("growth")
    return Kept(folder, FEW), Kept(folder, FEW * TIMES)


@pytest.mark.parametrize("verb", VERBS)
def test_work_grows_with_the_rows(verb: str, kept: tuple[Kept, Kept]) -> None:
    counts = []
    VERBS[verb](kept[0])  # what is made once for a process
    for each in kept:
        with counted() as count:
            VERBS[verb](each)
        counts.append(count[0])
    assert counts[0] > 100
    assert counts[1] <= MOST * counts[0], counts


def test_every_verb_is_counted() -> None:
    counted_verbs = {name for name in api.__all__ if any(verb.startswith(name.split("_run")[0]) for verb in VERBS)}
    verbs = {name for name in api.__all__ if name[0].islower()} - {"exit_code", "make_run", "overall_outcome"}
    assert verbs <= counted_verbs


def test_the_count_sees_a_square() -> None:
    """A loop over all rows within a loop over all rows, as it was once in `evaluate`."""
    path = f"{PACKAGE}/square.py"
    code = compile("def square(n):\n    return [sum(i for i in range(n)) for _ in range(n)]\n", path, "exec")
    space: dict[str, Any] = {}
    exec(code, space)  # noqa: S102 - code of this test under the package's name
    counts = []
    for number in (FEW, FEW * TIMES):
        with counted() as count:
            space["square"](number)
        counts.append(count[0])
    assert counts[1] > 2 * MOST * counts[0]
