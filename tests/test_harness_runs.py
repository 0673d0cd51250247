# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the harness over real pipelines: answers, stages, failures, concurrency, samples, time-outs, resuming."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

import rag_pipelines
from haystack_eval_ext.errors import HarnessError, RunFileError, TargetError
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline, single_evaluator
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.records import (
    RUN_ERROR,
    RUN_STATUS,
    dataset_of_records,
    failed_ids,
    stage_datasets,
    stage_names,
)
from rag_pipelines import SECRET, Sleeper, answer_question, dataset, hybrid, rag, super_component


def ask(target: Any, data: Dataset, **options: Any) -> list[dict[str, Any]]:
    return run_target(target, data, progress=False, **options)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text("utf-8").splitlines()]


def by_hand(pipeline: Pipeline, data: Dataset) -> list[tuple[str, list[str]]]:
    """The loop that users write: the oracle of answers and documents."""
    found = []
    for row in data.rows:
        question = row["question"]
        inputs = {"bm25": {"query": question}, "prompt": {"question": question}, "answers": {"query": question}}
        result = pipeline.run(inputs)
        answer = result["answers"]["answers"][0]
        found.append((answer.data, [document.id for document in answer.documents]))
    return found


def test_300_questions_equal_the_loop_that_users_write(tmp_path: Path) -> None:
    data = dataset(300)
    pipeline = rag()
    records = ask(pipeline, data, out=tmp_path / "run")
    came = [(record["answer"], [document["id"] for document in record["documents"]]) for record in records]
    assert came == by_hand(pipeline, data)
    assert [record["id"] for record in records] == data.ids
    assert {record["status"] for record in records} == {"ok"}
    written = lines(tmp_path / "run")
    assert sorted(written, key=lambda record: int(record["id"][1:])) == records


def test_failing_questions_cost_their_own_rows(tmp_path: Path) -> None:
    bad = (3, 7, 150, 299)
    data = dataset(300, failing=bad)
    records = ask(rag(), data, out=tmp_path / "run")
    assert failed_ids(records) == [f"q{number}" for number in bad]
    for number in bad:
        record = records[number]
        assert record["error"]["class"] == "RuntimeError"
        assert record["error"]["component"] == "llm"
        assert SECRET in record["error"]["message"]
        assert SECRET not in record["error"]["reason"]
        assert record["answer"] is None
        assert record["documents"] == []
        assert len(record["stages"]["bm25"]) == 5  # it got that far
    assert all(
        f"<{row['question']}>" in record["answer"]
        for row, record in zip(data.rows, records, strict=True)
        if record["status"] == "ok"
    )
    filled = dataset_of_records(data, records)
    assert [row[RUN_STATUS] for row in filled.rows].count("error") == len(bad)
    assert filled.rows[3]["answer"] == ""
    assert filled.rows[3][RUN_ERROR].startswith("RuntimeError in llm: ")
    assert RUN_ERROR not in filled.rows[0]


def test_every_stage_of_a_hybrid_pipeline_is_scored() -> None:
    data = dataset(300)
    pipeline = hybrid()
    records = ask(pipeline, data)
    # The sum of what components do, one by one: the oracle.
    parts = {name: pipeline.get_component(name) for name in ("embedder", "dense", "bm25", "join", "ranker")}
    for row, record in list(zip(data.rows, records, strict=True))[::25]:
        question = row["question"]
        vector = parts["embedder"].run(text=question)["embedding"]
        expected = {
            "bm25": parts["bm25"].run(query=question)["documents"],
            "dense": parts["dense"].run(query_embedding=vector)["documents"],
        }
        expected["join"] = parts["join"].run(documents=[expected["bm25"], expected["dense"]])["documents"]
        expected["ranker"] = parts["ranker"].run(query=question, documents=expected["join"])["documents"]
        for stage, documents in expected.items():
            assert {each["id"] for each in record["stages"][stage]} == {each.id for each in documents}
        assert record["documents"] == record["stages"]["ranker"]
        assert record["contexts"] == [document["content"] for document in record["documents"]]
        assert "embedding" not in record["documents"][0]
    stages = stage_datasets(data, records)
    assert list(stages)[-2:] == ["join", "ranker"]
    assert set(stages) == {"bm25", "dense", "join", "ranker"}
    scores = {
        stage: evaluate_pipeline(single_evaluator(["R@10"], ["id"]), rows).metrics[0].score
        for stage, rows in stages.items()
    }
    assert scores["bm25"] == 1.0
    assert scores["dense"] < 0.5  # random vectors
    assert scores["ranker"] == scores["join"] == 1.0
    final = evaluate_pipeline(single_evaluator(["R@10"], ["id"]), dataset_of_records(data, records))
    assert final.metrics[0].score == scores["ranker"]
    dense = dataset_of_records(data, ask(pipeline, data, retrieved="dense"))
    assert evaluate_pipeline(single_evaluator(["R@10"], ["id"]), dense).metrics[0].score == scores["dense"]


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_as_many_in_flight_as_allowed_and_no_more(concurrency: int) -> None:
    sleeper = Sleeper(0.02)
    ask(rag(sleeper), dataset(40), concurrency=concurrency)
    assert sleeper.calls == 40
    assert not sleeper.cold  # warmed up before the first question; Haystack does so again in each run
    assert sleeper.peak <= concurrency
    assert concurrency == 1 or sleeper.peak > 1


def test_isolate_gives_each_thread_a_copy() -> None:
    sleeper = Sleeper(0.01)
    alone = rag(sleeper)
    records = ask(alone, dataset(20), concurrency=4, isolate=True)
    assert {record["status"] for record in records} == {"ok"}
    assert (sleeper.calls, sleeper.warmed) == (0, False)


def test_repeats_ask_again_and_are_kept_apart(tmp_path: Path) -> None:
    sleeper = Sleeper(0.0)
    data = dataset(5)
    records = ask(rag(sleeper), data, repeats=3, out=tmp_path / "run")
    assert sleeper.calls == 15
    assert [(record["id"], record["repeat"]) for record in records] == [
        (key, repeat) for repeat in range(3) for key in data.ids
    ]
    assert dataset_of_records(data, records, repeat=2).ids == data.ids
    with pytest.raises(HarnessError, match="No record has repeat 3"):
        dataset_of_records(data, records, repeat=3)


def test_a_stratified_sample_keeps_shares_and_does_not_depend_on_the_order() -> None:
    rows = [{"id": f"r{n}", "question": f"q{n}", "tags": ["rare"] if n % 10 == 0 else ["common"]} for n in range(100)]
    forth = ask(answer_question, Dataset("x", rows), sample=20, seed=1, stratify="tag")
    back = ask(answer_question, Dataset("x", rows[::-1]), sample=20, seed=1, stratify="tags")
    ids = [record["id"] for record in forth]
    assert Counter(int(key[1:]) % 10 == 0 for key in ids) == {True: 2, False: 18}
    assert ids == [record["id"] for record in back][::-1]
    assert ids == sorted(ids, key=lambda key: int(key[1:]))
    other = ask(answer_question, Dataset("x", rows), sample=20, seed=2, stratify="tag")
    assert [record["id"] for record in other] != ids
    assert dataset_of_records(Dataset("x", rows), forth).ids == ids


def test_a_question_that_hangs_is_given_up_alone(tmp_path: Path) -> None:
    data = dataset(12)
    data.rows[4]["question"] += " #hang"
    records = ask(rag(Sleeper(0.03)), data, concurrency=4, timeout=1.0, out=tmp_path / "run")
    assert failed_ids(records) == ["q4"]
    assert records[4]["error"] == {"class": "TimeoutError", "component": None, "reason": "No answer within 1 s."}
    assert len(lines(tmp_path / "run")) == 12


def test_a_run_whose_threads_all_hang_ends_with_what_is_finished(tmp_path: Path) -> None:
    release = threading.Event()

    def answer(question: str) -> dict[str, Any]:
        if "Question 3:" in question or "Question 4:" in question:
            release.wait(30)
        return {"answer": "yes"}

    try:
        with pytest.raises(HarnessError, match=r"All 2 threads hold calls .* 5 of 8 rows are finished"):
            ask(answer, dataset(8), concurrency=2, timeout=0.2, out=tmp_path / "run")
    finally:
        release.set()
    assert {record["id"]: record["status"] for record in lines(tmp_path / "run")} == {
        "q0": "ok", "q1": "ok", "q2": "ok", "q3": "error", "q4": "error",
    }  # fmt: skip


def test_too_many_failures_stop_the_run_and_keep_its_rows(tmp_path: Path) -> None:
    data = dataset(50, failing=tuple(range(10, 50)))
    with pytest.raises(
        HarnessError, match=r"3 of \d+ rows failed, more than max_failures=2.*RuntimeError in llm"
    ) as caught:
        ask(rag(), data, max_failures=2, concurrency=1, out=tmp_path / "run")
    assert SECRET in str(caught.value)
    assert len(lines(tmp_path / "run")) == 13


def test_failed_rows_are_asked_again_when_wished(tmp_path: Path) -> None:
    broken = {"now": True}

    def answer(question: str) -> dict[str, Any]:
        if broken["now"] and "Question 2:" in question:
            raise ConnectionError(question)
        return {"answer": "yes"}

    data = dataset(4)
    assert failed_ids(ask(answer, data, out=tmp_path / "run")) == ["q2"]
    broken["now"] = False
    assert failed_ids(ask(answer, data, out=tmp_path / "run")) == ["q2"]  # finished is finished
    assert failed_ids(ask(answer, data, out=tmp_path / "run", retry_failed=True)) == []
    # What failed stays in the file; what came later counts.
    kept = lines(tmp_path / "run")
    assert [record["status"] for record in kept if record["id"] == "q2"] == ["error", "ok"]
    assert sorted({record["id"] for record in kept}) == data.ids
    assert failed_ids(ask(answer, data, out=tmp_path / "run")) == []
    # One that was answered cannot come twice.
    file = tmp_path / "run" / "answers.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(HarnessError, match=r"answers.jsonl:6 is no row of this run, or one twice"):
        ask(answer, data, out=tmp_path / "run")


def test_a_finished_run_is_not_asked_again(tmp_path: Path) -> None:
    sleeper = Sleeper(0.0)
    pipeline = rag(sleeper)
    first = ask(pipeline, dataset(10), out=tmp_path / "run")
    assert ask(pipeline, dataset(10), out=tmp_path / "run") == first
    assert sleeper.calls == 10


def changed_question(data: Dataset) -> None:
    data.rows[1]["question"] += " Really?"


@pytest.mark.parametrize(
    ("change", "options", "named"),
    [
        (changed_question, {}, "another questions"),
        (lambda _data: None, {"repeats": 2}, r"another settings \(repeats\)"),
        (lambda _data: None, {"sample": 3}, r"another settings \(sample, seed\)"),
        (lambda _data: None, {"retrieved": "bm25"}, r"another settings \(retrieved\)"),
        (lambda _data: None, {"target": rag_pipelines.hybrid}, r"another target \(fingerprint\)"),
    ],
    ids=["question", "repeats", "sample", "retrieved", "target"],
)
def test_another_run_is_not_gone_on_with(
    tmp_path: Path, change: Callable[[Dataset], None], options: dict[str, Any], named: str
) -> None:
    ask(rag(), dataset(5), out=tmp_path / "run")
    before = (tmp_path / "run" / "answers.jsonl").read_bytes()
    data = dataset(5)
    change(data)
    make = options.pop("target", rag)
    with pytest.raises(HarnessError, match=named):
        ask(make(), data, out=tmp_path / "run", **options)
    assert (tmp_path / "run" / "answers.jsonl").read_bytes() == before


def test_labels_order_and_speed_may_change(tmp_path: Path) -> None:
    sleeper = Sleeper(0.0)
    pipeline = rag(sleeper)
    ask(pipeline, dataset(5), out=tmp_path / "run")
    data = Dataset("other.jsonl", [row | {"reference_answer": "else"} for row in dataset(5).rows][::-1])
    records = ask(pipeline, data, out=tmp_path / "run", concurrency=2, isolate=True)
    assert sleeper.calls == 5
    assert [record["id"] for record in records] == data.ids


@pytest.mark.parametrize("kept", [0, 1, 17, -1])
def test_a_torn_last_line_is_repaired(tmp_path: Path, kept: int) -> None:
    sleeper = Sleeper(0.0)
    pipeline = rag(sleeper)
    ask(pipeline, dataset(6), out=tmp_path / "run")
    file = tmp_path / "run" / "answers.jsonl"
    data = file.read_bytes()
    last = data.splitlines(keepends=True)[-1]
    file.write_bytes(data[: -len(last)] + last[:kept])
    records = ask(pipeline, dataset(6), out=tmp_path / "run")
    assert sleeper.calls == 7
    assert sorted(record["id"] for record in lines(tmp_path / "run")) == [record["id"] for record in records]


@pytest.mark.parametrize(
    "spoil",
    [b"{}\n", b"not JSON\n", b"\x00\x00\n", None, b'"documents": 5', b'"error": "boom"', b'"stages": [1]'],
    ids=["empty", "text", "zeros", "twice", "documents", "error", "stages"],
)
def test_a_line_that_is_no_row_is_named(tmp_path: Path, spoil: bytes | None) -> None:
    ask(rag(), dataset(3), out=tmp_path / "run")
    file = tmp_path / "run" / "answers.jsonl"
    data = file.read_bytes()
    first = data.splitlines(keepends=True)[0]
    if spoil is not None and spoil.startswith(b'"'):
        entries = json.loads(first) | json.loads(b"{%s}" % spoil) | {"id": "another"}
        spoil = json.dumps(entries).encode() + b"\n"
    file.write_bytes(data + (spoil or first))
    with pytest.raises(HarnessError, match=r"answers.jsonl:4 is no row of this run, or one twice"):
        ask(rag(), dataset(3), out=tmp_path / "run")


def test_two_runs_into_one_folder_are_refused(tmp_path: Path) -> None:
    started, release = threading.Event(), threading.Event()

    def answer(question: str) -> dict[str, Any]:
        started.set()
        release.wait(30)
        return {"answer": question}

    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(ask(answer, dataset(2), out=tmp_path / "run")))
    thread.start()
    try:
        assert started.wait(30)
        with pytest.raises(HarnessError, match="Another process writes"):
            ask(answer, dataset(2), out=tmp_path / "run")
    finally:
        release.set()
        thread.join()
    assert len(results[0]) == 2


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    for number, (name, text) in enumerate(
        {
            "answers.jsonl": "{}\n",
            "harness.json": "{}",
            "manifest.json": "{}",
            "rows.jsonl": "",
            "scores.jsonl": "",
        }.items()
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text)
        for replace in (False, True):
            with pytest.raises(RunFileError, match=f"holds {name} of something else"):
                ask(rag(), dataset(1), out=folder, replace=replace)
        assert (folder / name).read_text() == text
        assert len(list(folder.iterdir())) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFileError, match="is a file"):
        ask(rag(), dataset(1), out=tmp_path / "file")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").touch()
    with pytest.raises(RunFileError, match="holds no run"):
        ask(rag(), dataset(1), out=tmp_path / "photos")


@component
class Detour:
    """Lets only some questions through to the retriever."""

    @component.output_types(search=str, direct=str)
    def run(self, query: str) -> dict[str, Any]:
        """
        Choose.

        :param query: The question.
        :returns: One of two outputs.
        """
        return {"search" if "topic1 " in query else "direct": query}


def test_a_stage_that_some_questions_go_around_has_only_the_others() -> None:
    pipeline = Pipeline()
    pipeline.add_component("detour", Detour())
    pipeline.add_component("bm25", InMemoryBM25Retriever(rag_pipelines.filled_store()))
    pipeline.connect("detour.search", "bm25.query")
    data = dataset(6)
    records = ask(pipeline, data)
    stages = stage_datasets(data, records)
    assert {stage: rows.ids for stage, rows in stages.items()} == {"bm25": ["q1"]}
    assert [len(record["documents"]) > 0 for record in records] == [False, True, False, False, False, False]
    assert all(record["answer"] is None for record in records)
    assert not dataset_of_records(data, records).has("answer")


def test_stages_of_different_ways_are_merged_in_order() -> None:
    assert stage_names([{"stages": {"a": [], "d": []}}, {"stages": {"a": [], "b": [], "d": []}}]) == ["a", "b", "d"]


def test_super_components_show_what_is_inside() -> None:
    record = ask(super_component(), dataset(1))[0]
    assert list(record["stages"]) == ["super_component.bm25"]
    assert record["answer"].startswith("reply to <Question 0")
    assert record["contexts"][0].startswith("Rule 0 ")
    # Its replies are those of the generator inside: counted once.
    assert record["tokens"] == next(part["tokens"] for part in record["components"] if part["name"].endswith(".llm"))


def test_progress_is_shown_on_terminals_only(capfd: pytest.CaptureFixture[str]) -> None:
    run_target(answer_question, dataset(3), progress=True)
    captured = capfd.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")


def test_functions_say_what_they_have() -> None:
    def answer(question: str) -> dict[str, Any]:
        found = [Document(id="x", content="text"), {"id": "y", "content": "more"}, "z"]
        return {"replies": [question.upper()], "documents": found, "stages": {"first": found[:1]}}

    record = ask(answer, dataset(1))[0]
    assert record["answer"] == "QUESTION 0: WHAT IS TOPIC0 ABOUT?"
    assert [document["id"] for document in record["documents"]] == ["x", "y", "z"]
    assert [document["id"] for document in record["stages"]["first"]] == ["x"]
    assert record["contexts"] == ["text", "more", ""]
    assert [entry["id"] for entry in ask(answer, dataset(1), retrieved="first")[0]["documents"]] == ["x"]


def test_what_a_function_runs_in_haystack_is_recorded() -> None:
    pipeline = rag()

    def answer(question: str) -> dict[str, Any]:
        inputs = {"bm25": {"query": question}, "prompt": {"question": question}, "answers": {"query": question}}
        return {"answer": pipeline.run(inputs)["answers"]["answers"][0].data}

    record = ask(answer, dataset(1))[0]
    assert [part["name"] for part in record["components"]] == ["bm25", "prompt", "llm", "answers"]
    assert [document["id"] for document in record["documents"]] == [each["id"] for each in record["stages"]["bm25"]]


def test_odd_values_become_strict_json(tmp_path: Path) -> None:
    import numpy as np

    meta: dict[Any, Any] = {"nan": math.nan, "inf": math.inf, "np": np.float32(0.5), "set": {1}, 3: object}
    odd = Document(id="x", content="\ud800", meta=meta)
    ask(lambda question: {"answer": question, "documents": [odd]}, dataset(1), out=tmp_path / "run")
    came = lines(tmp_path / "run")[0]["documents"][0]["meta"]
    assert came == {"nan": None, "inf": None, "np": 0.5, "set": [1], "3": "<class 'object'>"}


def test_metadata_that_cannot_be_written_costs_its_own_row(tmp_path: Path) -> None:
    circle: dict[str, Any] = {}
    circle["itself"] = circle

    def answer(question: str) -> dict[str, Any]:
        meta = circle if "Question 1:" in question else {}
        return {"answer": "yes", "documents": [Document(id="x", meta=meta)]}

    records = ask(answer, dataset(3), out=tmp_path / "run")
    assert failed_ids(records) == ["q1"]
    assert records[1]["error"]["class"] == "RecursionError"
    assert len(lines(tmp_path / "run")) == 3


def test_services_status_codes_and_exits_are_told() -> None:
    class RefusedError(RuntimeError):
        status_code = 429

    def answer(question: str) -> dict[str, Any]:
        if "Question 0:" in question:
            raise RefusedError(SECRET)
        raise SystemExit(SECRET)

    records = ask(answer, dataset(2))
    assert records[0]["error"]["reason"].endswith(" The service answered 429.")
    assert [record["error"]["class"] for record in records] == ["RefusedError", "SystemExit"]
    assert [record["error"]["message"] for record in records] == [SECRET, SECRET]


BAD_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"concurrency": 0}, ValueError, "concurrency must be at least 1, but is 0"),
    ({"concurrency": "8"}, TypeError, "concurrency must be an integer"),
    ({"repeats": 0}, ValueError, "repeats must be at least 1"),
    ({"sample": 0}, ValueError, "sample must be at least 1"),
    ({"sample": 99}, ValueError, "sample must be at most the number of rows, 3, but is 99"),
    ({"seed": 1.5}, TypeError, "seed must be an integer"),
    ({"stratify": "tags"}, ValueError, "stratify goes with sample"),
    ({"stratify": "tagz", "sample": 1}, ValueError, "no column 'tagz'; did you mean tags"),
    ({"stratify": 3, "sample": 1}, TypeError, "stratify must be a text or None, but is an int"),
    ({"retrieved": 3}, TypeError, "retrieved must be a text or None, but is an int"),
    ({"timeout": 0}, ValueError, "timeout must be a number of seconds above 0"),
    ({"timeout": "1"}, ValueError, "timeout must be .* but is a str"),
    ({"max_failures": -1}, ValueError, "max_failures must be at least 0"),
    ({"retrieved": "bm52"}, ValueError, "no stage 'bm52'; did you mean bm25"),
    ({"sections": {"input": {}}}, ValueError, "sections must be"),
    ({"sections": {"inputs": []}}, ValueError, "inputs must map names"),
    ({"sections": {"inputs": {"query": "bm25"}}}, ValueError, r"inputs.query must be component.socket"),
    ({"sections": {"inputs": {"query": ["bm52.query"]}}}, ValueError, "no component 'bm52'; did you mean bm25"),
    ({"sections": {"inputs": {"query": ["bm25.qery"]}}}, ValueError, "no input 'qery'; did you mean query"),
    ({"sections": {"inputs": {"query": ["prompt.documents"]}}}, ValueError, "connected to bm25 already"),
    ({"sections": {"inputs": {"query": ["bm25.top_k"]}}}, ValueError, "takes neither a text nor messages"),
    (
        {"sections": {"inputs": {"lang": ["bm25.top_k"]}}},
        ValueError,
        "inputs.lang is neither the question nor a column",
    ),
    ({"sections": {"outputs": {"answers": ["llm.reply"]}}}, ValueError, "no output 'reply'; did you mean replies"),
    ({"sections": {"outputs": {"documents": ["bm25.documents", "bm25.documents"]}}}, ValueError, "must name one"),
    ({"prices": {"m": {"prompt": 1}}}, ValueError, "prices must give"),
    ({"prices": {"m": {"input": -1, "output": 1}}}, ValueError, "prices must give"),
    ({"prices": {"m": 3}}, ValueError, "prices must give"),
]


@pytest.mark.parametrize(("options", "kind", "message"), BAD_OPTIONS, ids=[str(entry[0]) for entry in BAD_OPTIONS])
def test_bad_options_are_refused_before_any_work(
    tmp_path: Path, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    sleeper = Sleeper(0.0)
    with pytest.raises(kind, match=message):
        ask(rag(sleeper), dataset(3), out=tmp_path / "run", **options)
    assert sleeper.calls == 0
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (Dataset("empty.jsonl", []), HarnessError, "empty.jsonl holds no rows"),
        (Dataset("x.jsonl", [{"id": "a"}]), HarnessError, r"1 of 1 rows have no question \(such as a\)"),
        (Dataset("x.jsonl", [{"id": "a", "question": "Why?"}] * 2), HarnessError, "x.jsonl: an id comes twice"),
        ([{"id": "a"}], TypeError, "dataset must be a Dataset"),
    ],
)
def test_data_without_questions_is_refused(data: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask(rag(), data)


def test_records_of_other_data_are_refused() -> None:
    records = ask(answer_question, dataset(3))
    with pytest.raises(HarnessError, match="A record has the id 'q2'"):
        dataset_of_records(dataset(2), records)
    with pytest.raises(HarnessError, match="two records of 'q0'"):
        stage_datasets(dataset(3), records + records)


def test_what_is_wrong_for_every_question_stops_the_run(tmp_path: Path) -> None:
    calls = []

    def answer(question: str) -> Any:
        calls.append(question)
        time.sleep(0.01)
        return 7

    with pytest.raises(TargetError, match=r"must return .* a dict with some of answer"):
        ask(answer, dataset(200), concurrency=2, out=tmp_path / "run")
    assert len(calls) < 10
    two = MockChatGenerator(response_fn=rag_pipelines.reply)
    pipeline = rag(two, builder=False)
    pipeline.add_component("other", MockChatGenerator("other"))
    pipeline.connect("prompt", "other.messages")
    with pytest.raises(TargetError, match=r"Several outputs may be the answer: llm.replies, other.replies"):
        ask(pipeline, dataset(3))
    mapping = {"outputs": {"answers": ["other.replies"]}}
    assert ask(pipeline, dataset(1), sections=mapping)[0]["answer"] == "other"
