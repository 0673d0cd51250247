# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Values that stand exactly on an edge: a threshold, an empty cell, a missing key, a malformed owner."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext import DocumentRecallEvaluator
from haystack_eval_ext._cli.render import console, print_table
from haystack_eval_ext._thoughts import without_their_thoughts
from haystack_eval_ext.judged._claims import is_gone
from haystack_eval_ext.runs._compared_field import load_evaluators
from haystack_eval_ext.runs._loading import PipelineFileError
from haystack_eval_ext.runs.dataset import read_dataset
from haystack_eval_ext.runs.trec import read_beir_split

SPAN = {"split_idx_start": 0, "split_idx_end": 4}


@pytest.mark.parametrize("matching", ["overlap", "overlap_by_chunk"])
@pytest.mark.parametrize("percent", range(5, 100, 5))
def test_a_share_that_equals_the_threshold_is_found(matching: Any, percent: int) -> None:
    words = [f"w{number}" for number in range(100)]
    label = [Document(content=" ".join(words))]
    for held, found in ((percent, 1.0), (percent - 1, 0.0)):
        chunk = [Document(content=" ".join([*words[:held], *["other"] * 100]))]
        evaluator = DocumentRecallEvaluator(mode="single_hit", matching=matching, overlap_threshold=percent / 100)
        assert evaluator.run([label], [chunk])["score"] == found


def test_a_chunk_without_a_key_is_no_chunk_of_a_label_without_one() -> None:
    evaluator = DocumentRecallEvaluator(mode="multi_hit", matching="span", document_comparison_field="meta.file")
    labels = [Document(content="text", meta={"file": "a", **SPAN}), Document(content="lost", meta=SPAN)]
    chunks = [Document(content="text", meta={"file": "a", "split_idx_start": 0}), Document(content="of nowhere")]
    assert evaluator.run([labels], [chunks])["individual_scores"] == [1.0]


def test_white_space_before_thoughts_changes_nothing() -> None:
    answers = ["\nanalysisIt may be 7.assistantfinalIt is 7.", " <think>7?</think> It is 7."]
    assert without_their_thoughts("predicted_answers", answers) == ["It is 7."] * 2


def test_a_column_of_empty_cells_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(console(), ["metric", *["a long heading"] * 4], [["recall", "", "0.5", "", ""]])
    assert "0.5" in capsys.readouterr().out


def test_data_whose_columns_look_like_a_status_is_read(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text(json.dumps({"question": "q", "x": 1, "x.status": ["ok"]}), encoding="utf-8")
    assert read_dataset(file).rows[0]["x.status"] == ["ok"]


@pytest.mark.parametrize("owner", ["", "|", f"{platform.node()}|", f"{platform.node()}|x|y|z", "elsewhere|1"])
def test_an_owner_that_cannot_be_read_is_not_gone(owner: str) -> None:
    assert not is_gone(owner)


EVALUATOR = """
components:
  recall:
    type: haystack_eval_ext.retrieval.document_recall.DocumentRecallEvaluator
    init_parameters: PARAMETERS
connections: []
"""


def test_overlap_compares_texts_whatever_the_labels_keys_are() -> None:
    text = EVALUATOR.replace("PARAMETERS", "{matching: overlap, document_comparison_field: content}")
    load_evaluators(text, "own.yaml", "meta.file")


@pytest.mark.parametrize("parameters", ["[1]", "text"])
def test_parameters_that_are_no_mapping_are_told(parameters: str) -> None:
    with pytest.raises(PipelineFileError, match=r"own\.yaml"):
        load_evaluators(EVALUATOR.replace("PARAMETERS", parameters), "own.yaml", "meta.file")


def test_a_plain_file_of_labels_goes_before_its_packed_copy(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "?"}\n', encoding="utf-8")
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n", encoding="utf-8")
    (tmp_path / "qrels" / "test.tsv.gz").write_bytes(b"an old copy that nobody reads")
    assert read_beir_split(tmp_path)[0] == {"q": {"d": 1}}
