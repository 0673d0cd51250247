# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The one door of the package: what it exports, and that examples need nothing deeper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import haystack_eval_ext
from examples_in_text import python_blocks
from haystack_eval_ext import Dataset, evaluate
from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs.dataset import read_dataset

ROOT = Path(__file__).parents[1]
VERBS = ("agree", "baseline", "check", "compare", "evaluate", "evaluate_trec", "forecast", "load_run", "run_rag")
#: What examples may import besides the door.
ROOMS = ("haystack_eval_ext.judged.custom", "haystack_eval_ext.runs.statistics")
_IMPORT = re.compile(r"^(?:from|import) (haystack_eval_ext[\w.]*)", re.MULTILINE)


@pytest.mark.parametrize("name", [*VERBS, "parse_measure", "read_dataset"])
def test_verbs_stand_at_the_door(name: str) -> None:
    assert name in haystack_eval_ext.__all__
    assert callable(getattr(haystack_eval_ext, name))


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_examples_use_the_door(page: str) -> None:
    used = {name for block in python_blocks((ROOT / page).read_text("utf-8")) for name in _IMPORT.findall(block)}
    assert used <= {"haystack_eval_ext", *ROOMS}


def test_plain_rows_are_data_everywhere(tmp_path: Path) -> None:
    rows = [{"query": "Who?", "relevant_documents": ["a"], "documents": ["a"]}]
    data = Dataset.of(rows, name="mine")
    assert (data.path, data.rows[0]["question"], data.ids) == ("mine", "Who?", Dataset.of(rows).ids)
    runs = [
        evaluate({"recall": haystack_eval_ext.DocumentRecallEvaluator(document_comparison_field="id")}, given)
        for given in (rows, data)
    ]
    assert [run.scores for run in runs] == [{"recall": 1.0}] * 2
    with pytest.raises(DatasetError, match="there are no rows"):
        Dataset.of([])
    file = tmp_path / "rows.jsonl"
    file.write_text('{"question": "Who?"}\n', encoding="utf-8")
    assert Dataset.of(file, name="named") == Dataset("named", read_dataset(file).rows)
