# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are kept: round trips, strict JSON, no texts where none are wanted, other forms."""

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.utils import Secret
from hypothesis import given, settings
from hypothesis import strategies as st

from haystack_eval_ext import DocumentRecallEvaluator
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import evaluate_pipeline
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.making import make_run
from haystack_eval_ext.runs.records import dataset_of_records
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import SECRET, Judge, contents, data, evaluators, judged, rows, same

FILES = ("manifest.json", "rows.jsonl", "scores.jsonl")


def strict(text: str) -> Any:
    """Parse JSON that has no NaN and no infinities."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def with_gaps() -> EvaluationRun:
    return judged([None, 0.25, 1.0, 0.5])


# --- round trips ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: api.evaluate(evaluators(), data()), with_gaps], ids=["plain", "judged"])
def test_a_run_comes_back_as_it_was(make: Callable[[], EvaluationRun], tmp_path: Path) -> None:
    run = make()
    run.save(tmp_path / "run")
    assert same(EvaluationRun.load(tmp_path / "run"), run)
    assert sorted(os.listdir(tmp_path / "run")) == sorted(FILES)


def test_stored_outputs_are_scored_again_with_the_same_numbers_and_fingerprints(tmp_path: Path) -> None:
    first = api.evaluate(evaluators(), data(), out=tmp_path / "first")
    again = api.evaluate(evaluators(), tmp_path / "first", out=tmp_path / "again")
    assert (again.scores, again.rows) == (first.scores, first.rows)
    assert again.manifest["data"] == first.manifest["data"]
    comparison = api.compare(tmp_path / "first", tmp_path / "again")
    assert {name: metric.difference.mean for name, metric in comparison.metrics.items()} == dict.fromkeys(
        first.metrics, 0.0
    )
    assert again.dataset().rows[5]["trace"] == f"{SECRET} trace 5"


def test_files_are_strict_json_and_missing_scores_are_null_with_a_status(tmp_path: Path) -> None:
    with_gaps().save(tmp_path / "run")
    for name in FILES:
        text = (tmp_path / "run" / name).read_text("utf-8")
        for part in [text] if name.endswith(".json") else text.splitlines():
            strict(part)
    first = strict((tmp_path / "run" / "scores.jsonl").read_text("utf-8").splitlines()[0])
    assert first == {
        "id": "q0",
        "repeat": 0,
        "metrics": {"polite": {"score": None, "status": "error", "error": "the service answered 503"}},
    }
    manifest = strict((tmp_path / "run" / "manifest.json").read_text("utf-8"))
    assert manifest["usage"] == {"polite": {"calls": 4, "cost": None, "models": {"model-2026": 4}}}
    metric = manifest["metrics"]["polite"]
    assert (metric["judge"]["model"], metric["judge"]["models"]) == ("some-model", ["model-2026"])
    assert (metric["prompts"], metric["lower_is_better"]) == ({"politeness.en": "1.1"}, True)
    assert metric["parameters"]["judge_parameters"] == {"temperature": 0.0}


@pytest.mark.parametrize("text", ["日本語 ünï", "half \ud83d of a pair", "line\nbreak\u2028\x00", "| a <b>"])
def test_any_text_can_be_kept_and_exported(text: str, tmp_path: Path) -> None:
    row = rows(1, wrong=0)[0] | {"id": f"id {text}", "question": text, "answer": text, "note": text}
    run = api.evaluate(evaluators(), Dataset("rows", [row]), out=tmp_path / "run")
    again = EvaluationRun.load(tmp_path / "run")
    assert same(again, run)
    assert again.dataset().rows[0]["question"] == text
    run.baseline(tmp_path / "baseline.json")
    assert EvaluationRun.load(tmp_path / "baseline.json").ids == [f"id {text}"]
    for name, export in {"csv": run.to_csv, "json": run.to_json, "md": run.to_markdown}.items():
        export(tmp_path / name)
        assert (tmp_path / name).read_bytes()
    if "日" in text:
        assert text in (tmp_path / "run" / "rows.jsonl").read_text("utf-8")


def test_without_texts_only_ids_and_scores_are_on_the_disk(tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), out=tmp_path / "run", texts=False)
    judged([None, 1.0]).save(tmp_path / "judged", texts=False)
    judged([None, 1.0]).baseline(tmp_path / "baseline.json")
    assert SECRET not in contents(tmp_path)
    assert SECRET not in run.to_csv() + run.to_json() + run.to_markdown() + str(run.to_pandas().to_dict())
    again = EvaluationRun.load(tmp_path / "run")
    assert again.scores == api.evaluate(evaluators(), data()).scores
    assert again.scored() == api.evaluate(evaluators(), data(), name="run").scored()
    with pytest.raises(EvaluationError, match=r"'run' was kept without texts.*Give the data file"):
        again.dataset()
    api.evaluate(evaluators(), data(), out=tmp_path / "with")
    assert SECRET in contents(tmp_path / "with")  # the test can fail


# --- secrets -------------------------------------------------------------------------------------------------------


@component
class Keyed:
    """Has keys of three kinds."""

    def __init__(self, api_key: Any = None) -> None:
        self.api_key = api_key

    def to_dict(self) -> dict[str, Any]:
        kept = {"url": "https://user:hunter2@host/x", "auth_token": "hunter2"}
        key = None if self.api_key is None else self.api_key.to_dict()
        return {"type": f"{__name__}.Keyed", "init_parameters": {"api_key": key, **kept}}

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, questions: list[str]) -> dict[str, Any]:
        return {"score": 1.0, "individual_scores": [1.0] * len(questions)}


@pytest.mark.parametrize(
    ("key", "kept"), [(Secret.from_env_var("MY_KEY", strict=False), True), (Secret.from_token("hunter2"), False)]
)
def test_secrets_are_kept_as_references_or_not_at_all(
    key: Secret, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "hunter2")
    run = api.evaluate({"keyed": Keyed(key)}, data(), out=tmp_path / "run")
    assert "hunter2" not in contents(tmp_path)
    yaml = run.manifest["pipelines"]["evaluation"]
    assert (yaml is not None and "MY_KEY" in yaml) == kept
    assert "api_key" not in run.metrics["keyed"].info.parameters


def test_the_rag_pipeline_is_kept_without_its_secrets() -> None:
    pipeline = Pipeline()
    pipeline.add_component("exact", evaluators()["exact"])
    text = "components: {llm: {type: x.Y, init_parameters: {api_key: hunter2, model: m}}}\nconnections: []\n"
    run = make_run(evaluate_pipeline(pipeline, data()), data(), pipeline, name="x", rag=text, rag_name="rag.yaml")
    kept = run.manifest["pipelines"]
    assert "hunter2" not in kept["rag"]
    assert "model: m" in kept["rag"]
    assert kept["rag_name"] == "rag.yaml"


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1).filter(str.strip),
            st.text(),
            st.one_of(st.none(), st.floats(-1e9, 1e9)),
            st.one_of(st.none(), st.text(min_size=1)),
            st.lists(st.text(min_size=1), max_size=2),
            st.dictionaries(
                st.text(min_size=1), st.one_of(st.none(), st.text(), st.integers(), st.booleans()), max_size=2
            ),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda row: row[0],
    )
)
@settings(max_examples=30, derandomize=True, deadline=None)
def test_whatever_a_row_holds_comes_back(drawn: list[tuple[Any, ...]]) -> None:
    dataset = Dataset(
        "rows",
        [
            {"id": row_id, "question": text, "answer": text, "tags": tags, "documents": [Document(content=text)]}
            | ({} if cluster is None else {"cluster": cluster})
            | {f"my {name}": value for name, value in others.items()}
            for row_id, text, _, cluster, tags, others in drawn
        ],
    )
    pipeline = Pipeline()
    pipeline.add_component("polite", Judge([score for _, _, score, *_ in drawn]))
    run = make_run(evaluate_pipeline(pipeline, dataset), dataset, pipeline, name="drawn")
    with TemporaryDirectory() as folder:
        run.save(Path(folder) / "run")
        run.baseline(Path(folder) / "b.json")
        again, baseline = EvaluationRun.load(Path(folder) / "run"), EvaluationRun.load(Path(folder) / "b.json")
        for export in (run.to_csv, run.to_json, run.to_markdown):
            export(Path(folder) / "x")
    assert same(again, run)
    assert [row["question"] for row in again.dataset().rows] == [text for _, text, *_ in drawn]
    assert repr(baseline.scored()) == repr(run.scored())
    assert len(list(csv.reader(io.StringIO(run.to_csv(), newline="")))) == len(drawn) + 1


def test_rows_behind_a_spent_budget_are_told_from_rows_left_out(tmp_path: Path) -> None:
    whole = judged([1.0] * 300)
    metric = whole.metrics["polite"]
    scores, statuses = [1.0] * 20 + [math.nan] * 280, ["scored"] * 20 + ["not_run"] * 280
    reason = f"{SECRET}: the budget of 20 calls was spent"
    for why, outcome, failed in ((reason, "inconclusive", 280), (None, "pass", 0)):
        reasons = [None] * 20 + [why] * 280
        ended = replace(whole, metrics={"polite": replace(metric, scores=scores, statuses=statuses, errors=reasons)})
        ended.save(tmp_path / "run", replace=True)
        ended.save(tmp_path / "bare", texts=False, replace=True)
        ended.baseline(tmp_path / "b.json")
        EvaluationRun.load(tmp_path / "b.json").baseline(tmp_path / "again.json")
        assert SECRET not in contents(tmp_path / "bare") + (tmp_path / "b.json").read_text("utf-8")
        for kept in (ended, *(EvaluationRun.load(tmp_path / name) for name in ("run", "bare", "b.json", "again.json"))):
            result = api.check(kept, ["polite < 0.5"])[0]
            assert (result.outcome, result.failed) == (outcome, failed)
            result = api.check(api.compare(kept, whole), ["polite rises 0.02"])[0]
            assert result.failed == 280


def test_of_several_answers_those_that_were_not_to_be_scored_did_not_fail() -> None:
    run = asked(None, repeats=3)
    metric = run.metrics["exact"]
    statuses, scores, errors = list(metric.statuses), list(metric.scores), list(metric.errors)
    for place, why in ((0, None), (1, "the budget was spent")):
        statuses[place], scores[place], errors[place] = "not_run", math.nan, why
    changed = replace(run, metrics={"exact": replace(metric, scores=scores, statuses=statuses, errors=errors)})
    # Question 2 fails always.
    assert changed.scored().metrics["exact"].failed == [0, pytest.approx(1 / 3), 1, 0, 0, 0]


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(EvaluationError, match="'polite' gave an infinite score in row 'q1'"):
        judged([0.5, math.inf])


# --- the harness ---------------------------------------------------------------------------------------------------


def asked(folder: Path | None, *, repeats: int = 1) -> EvaluationRun:
    """A run of a function that fails for one question and changes its mind at another."""
    dataset = Dataset(
        "q.jsonl",
        [{key: row[key] for key in ("id", "question", "reference_answer", "tags")} for row in rows(6, wrong=0)],
    )
    times: dict[str, int] = {}

    def answer(question: str) -> dict[str, Any]:
        times[question] = times.get(question, 0) + 1
        if "question 2?" in question:
            raise ValueError(question)
        right = "question 1?" not in question or times[question] % 2
        return {"answer": f"{SECRET} {'yes' if right else 'no'}", "contexts": [f"{SECRET} context"]}

    records = run_target(answer, dataset, out=folder, repeats=repeats, concurrency=1, progress=False)
    pipeline = Pipeline()
    pipeline.add_component("exact", evaluators()["exact"])
    evaluations = [
        evaluate_pipeline(pipeline, dataset_of_records(dataset, records, repeat=repeat)) for repeat in range(repeats)
    ]
    return make_run(evaluations, dataset, pipeline, name="asked", records=records)


def test_a_question_that_failed_is_an_error_and_no_zero(tmp_path: Path) -> None:
    run = asked(tmp_path / "run")
    run.save(tmp_path / "run")
    metric = EvaluationRun.load(tmp_path / "run").questions["exact"]
    assert metric.statuses == ["scored", "scored", "error", "scored", "scored", "scored"]
    assert math.isnan(metric.individual_scores[2])
    assert metric.score == 1.0
    assert "ValueError" in str(run.metrics["exact"].errors[2])
    assert (tmp_path / "run" / "scores.jsonl").read_text("utf-8").count(f"ValueError: {SECRET} question 2?") == 1
    # Without the records the data says as much.
    pipeline = Pipeline()
    pipeline.add_component("exact", evaluators()["exact"])
    dataset = run.dataset()
    other = make_run(evaluate_pipeline(pipeline, dataset), dataset, pipeline, name="asked")
    assert repr(other.questions) == repr(run.questions)
    assert repr(api.evaluate({"exact": evaluators()["exact"]}, other).questions) == repr(run.questions)
    # A stage before the failure has its ranking, and so its score.
    evaluation = evaluate_pipeline(pipeline, dataset)
    staged = make_run(evaluation, dataset, pipeline, name="asked", stages={"bm25": evaluation})
    assert [staged.questions[name].statuses[2] for name in staged.metrics] == ["error", "scored"]
    # The harness takes its own rows for finished, though labels stand beside them now.
    assert asked(tmp_path / "run").scores == run.scores


def test_a_run_without_texts_cannot_be_gone_on_with(tmp_path: Path) -> None:
    asked(tmp_path / "run").save(tmp_path / "run", texts=False)
    assert SECRET not in contents(tmp_path)
    with pytest.raises(ValueError, match="answers cannot be gone on with"):
        asked(tmp_path / "run")


def test_several_answers_are_averaged_within_the_question() -> None:
    run = asked(None, repeats=3)
    # Question 1 is right, wrong, right; question 2 fails always.
    metric = run.questions["exact"]
    assert metric.individual_scores[:2] == [1.0, pytest.approx(2 / 3)]
    assert metric.score == pytest.approx((4 + 2 / 3) / 5)
    # One question of five varies: its squares add up to 2/3, with 2 of 10 degrees of freedom.
    assert run.spread()["exact"] == pytest.approx(math.sqrt((2 / 3) / 10))
    assert (len(run.rows), len(run.scored().ids), run.repeats) == (18, 6, 3)
    assert "3 answers each" in run.to_markdown()
    again = api.evaluate({"exact": evaluators()["exact"]}, run)
    assert repr(again.questions) == repr(run.questions)
    assert any("3 answers" in note for note in api.compare(run, again).notes)
    with pytest.raises(EvaluationError, match="from 0 to 2"):
        run.dataset(3)


def test_evaluations_must_belong_to_the_rows() -> None:
    pipeline = Pipeline()
    pipeline.add_component("exact", evaluators()["exact"])
    evaluation = evaluate_pipeline(pipeline, data(4))
    with pytest.raises(EvaluationError, match="row 'q2' that the data lacks"):
        make_run(evaluation, data(2), pipeline, name="x")
    with pytest.raises(EvaluationError, match="one evaluation for each of 1 repeats, but has 2"):
        make_run([evaluation, evaluation], data(4), pipeline, name="x")
    with pytest.raises(ValueError, match="records has the id 'z'"):
        make_run(evaluation, data(4), pipeline, name="x", records=[{"id": "z"}])
    # Rows that were not evaluated are not run; stages come under names of their own.
    run = make_run(evaluation, data(5), pipeline, name="x", stages={"bm25": evaluation}, lower_is_better=["exact"])
    assert run.questions["exact"].statuses[4] == "not_run"
    assert list(run.metrics) == ["exact", "bm25/exact"]
    assert [metric.info.lower_is_better for metric in run.metrics.values()] == [True, False]
    with pytest.raises(EvaluationError, match="'other' is none"):
        make_run(evaluation, data(4), pipeline, name="x", lower_is_better=["other"])


# --- other forms ---------------------------------------------------------------------------------------------------


def test_haystacks_result_object_takes_it_with_rows_that_failed() -> None:
    result = with_gaps().to_evaluation_run_result()
    assert result.run_name == "judged"
    report = result.detailed_report()
    assert isinstance(report, dict)
    assert report["id"] == ["q0", "q1", "q2", "q3"]
    assert math.isnan(report["polite"][0])
    assert report["polite"][1:] == [0.25, 1.0, 0.5]
    assert result.aggregated_report()["score"] == [pytest.approx(1.75 / 3)]  # type: ignore[index]
    bare = with_gaps().without_texts().to_evaluation_run_result()
    assert bare.inputs["id"] == ["q0", "q1", "q2", "q3"]


def test_the_table_has_inputs_outputs_and_scores() -> None:
    frame = with_gaps().to_pandas()
    assert list(frame["score.polite.status"]) == ["error", "scored", "scored", "scored"]
    assert frame["score.polite"].isna().tolist() == [True, False, False, False]
    assert frame["trace"][3] == f"{SECRET} trace 3"
    read = list(csv.DictReader(io.StringIO(with_gaps().to_csv())))
    assert [line["score.polite"] for line in read] == ["", "0.25", "1.0", "0.5"]
    assert json.loads(read[0]["tags"]) == ["lang:de"]
    assert read[0]["score.polite.error"] == "the service answered 503"
    whole = strict(with_gaps().to_json())
    assert [row["metrics"]["polite"]["score"] for row in whole["rows"]] == [None, 0.25, 1.0, 0.5]


def test_columns_that_are_named_alike_both_stay() -> None:
    row = rows(1)[0] | {"exact": "mine", "repeat": "mine", "status": "mine", "run_status": "mine"}
    frame = api.evaluate(evaluators(), Dataset("rows", [row])).to_pandas()
    assert (frame["exact"][0], frame["score.exact"][0]) == ("mine", 0.0)
    assert (frame["repeat"][0], frame["status"][0]) == ("mine", "mine")


def test_pandas_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        with_gaps().to_pandas()


def test_markdown_shows_what_is_missing() -> None:
    text = with_gaps().to_markdown()
    assert "| polite | 0.5833 |" in text
    assert "| 3 | 0 | 1 | 0 |" in text
    assert "Judge: model-2026" in text


def test_names_are_no_markdown() -> None:
    run = api.evaluate(evaluators(), data(), name="![x](http://y) | <b> `c` *d*")
    line = run.to_markdown().splitlines()[0]
    assert line.startswith(r"**!\[x\](http://y) \| &lt;b&gt; \`c\` \*d\***")


def test_documents_keep_what_scores_depend_on(tmp_path: Path) -> None:
    def by_file() -> DocumentRecallEvaluator:
        return DocumentRecallEvaluator(document_comparison_field="meta.file")

    label = Document(content="x", meta={"file": "a", "pages": (1, 2), "share": float("nan")}, score=2.0)
    row = {"id": "q", "documents": [Document(content="x", embedding=[0.5], meta={"file": "a"})]}
    run = api.evaluate(
        {"recall": by_file()},
        Dataset("rows", [row | {"relevant_documents": [label]}]),
        out=tmp_path / "run",
    )
    assert run.scores == {"recall": 1.0}
    again = EvaluationRun.load(tmp_path / "run").dataset().rows[0]
    assert again["documents"][0].embedding is None
    assert (again["relevant_documents"][0].id, again["relevant_documents"][0].score) == (label.id, 2.0)
    rescored = api.evaluate({"recall": by_file()}, tmp_path / "run")
    assert rescored.manifest["data"] == run.manifest["data"]
