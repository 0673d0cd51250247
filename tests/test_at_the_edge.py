# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Values that stand exactly on an edge: a threshold, an empty cell, a missing key, a malformed owner."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from haystack import Document, Pipeline
from haystack.components.generators.chat import MockChatGenerator
from pydantic import BaseModel, Field

from haystack_eval_ext import (
    AnswerExactMatchEvaluator,
    DocumentRecallEvaluator,
    FaithfulnessEvaluator,
    JudgePolicy,
    RAGFailureClassifier,
)
from haystack_eval_ext._cli.render import console, print_table
from haystack_eval_ext._said import said_by
from haystack_eval_ext._thoughts import without_their_thoughts
from haystack_eval_ext.errors import PipelineFileError
from haystack_eval_ext.judged import _cache_file, _claims
from haystack_eval_ext.judged._cache import CachedReply, ReplyCache
from haystack_eval_ext.judged._claims import is_gone
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import model_form
from haystack_eval_ext.runs._compared_field import load_evaluators
from haystack_eval_ext.runs.api import evaluate
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


@pytest.mark.parametrize("name", ["data", "rows"])
def test_a_column_called_like_a_container_is_a_column(name: str, tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps({"question": ["a", "b"], name: [{"x": 1}, {"x": 2}]}), encoding="utf-8")
    assert [(row["question"], row[name]) for row in read_dataset(file).rows] == [("a", {"x": 1}), ("b", {"x": 2})]


@pytest.mark.parametrize("owner", ["", "|", f"{platform.node()}|", f"{platform.node()}|x|y|z", "elsewhere|1"])
def test_an_owner_that_cannot_be_read_is_not_gone(owner: str) -> None:
    assert not is_gone(owner)


def test_another_container_with_the_same_name_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_claims, "_host", lambda: "box pid:[1]")
    owner = _claims.new_owner().replace("box pid:[1]", "box pid:[2]")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("its process numbers mean others here"))
    assert not is_gone(owner)


@pytest.mark.parametrize("refusals", [0, 3])
def test_the_change_to_a_log_waits_for_another_process(refusals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cache_file, "_PAUSE", 0.0)
    locked = sqlite3.OperationalError("database is locked")
    locked.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    connection = Mock(execute=Mock(side_effect=[*[locked] * refusals, None]))
    _cache_file._log_ahead(connection)
    assert connection.execute.call_count == refusals + 1


def test_a_cache_that_fails_in_many_threads_is_closed_once(tmp_path: Path) -> None:
    caches = [ReplyCache(str(tmp_path / "cache.sqlite")) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            pool.submit(caches[0]._give_up, sqlite3.OperationalError("disk I/O error"))
    assert caches[0].fault == "disk I/O error"
    # The other one still has the file.
    caches[1].put("key", CachedReply("text", {}))
    assert caches[1].get("key") == CachedReply("text", {})
    caches[1].close()


@pytest.mark.parametrize("connected", [False, True])
def test_a_failed_row_of_a_run_costs_no_other_component(*, connected: bool) -> None:
    """Also where the judge's evaluator would raise, and the whole pipeline with it."""
    pipeline = Pipeline()
    judge = MockChatGenerator("no JSON")
    pipeline.add_component("faithful", FaithfulnessEvaluator(chat_generator=judge, policy=JudgePolicy(max_attempts=1)))
    pipeline.add_component("exact", AnswerExactMatchEvaluator())
    if connected:
        pipeline.add_component("diagnosis", RAGFailureClassifier())
        for socket in ("retrieval_scores", "answer_scores"):
            pipeline.connect("exact.individual_scores", f"diagnosis.{socket}")
    rows = [{"question": "?", "answer": "a", "reference_answer": "a", "contexts": ["a"]}]
    run = evaluate(pipeline, rows)
    assert run.metrics["exact"].scores == [1.0]
    assert run.metrics["faithful"].statuses == ["error"]


@pytest.mark.parametrize(
    "reply",
    [
        '{"verdicts": {"s0": 0, "s1": 1}}',
        '{"verdicts": {"0": 0, "1": 1}}',
        '[{"id": 0, "verdict": 0}, {"id": 1, "verdict": 1}]',
    ],
)
def test_a_judge_that_counts_from_0_once_is_asked_again(reply: str) -> None:
    judge = MockChatGenerator([reply, '{"verdicts": {"s1": 0, "s2": 1}}'])
    evaluator = FaithfulnessEvaluator(chat_generator=judge, policy=JudgePolicy(min_wait=0.0, max_wait=0.0))
    found = evaluator.run(
        questions=["?"], contexts=[["Two is TRUE."]], predicted_answers=["One is FALSE. Two is TRUE."]
    )
    assert found["results"][0]["statement_scores"] == [0, 1]


class Tone(BaseModel):
    tone: int = Field(ge=1, le=5)


@pytest.mark.parametrize("reply", ['{"tone": true}', '{"tone": 7}'])
def test_a_number_of_a_model_is_a_number(reply: str) -> None:
    with pytest.raises(ReplyError, match=r"the key 'tone' must be a(nother value| number)"):
        model_form(Tone).read(json.loads(reply))


def test_an_absent_identifier_that_a_gateway_writes_as_a_word_is_none() -> None:
    error: Any = RuntimeError("x")
    error.body = {"message": "Invalid model name", "type": "None", "param": "None", "code": "400"}
    said = said_by(error)
    assert (said.param, said.type, said.codes) == (None, None, ())


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
