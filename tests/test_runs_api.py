# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The verbs for Python: what may be compared and what not, baselines, gates, agreement with people."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from haystack import Document, Pipeline
from haystack.components.evaluators import LLMEvaluator
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from haystack_eval_ext.errors import ComparisonError, DatasetError, EvaluationError, RunFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.api import EvaluationRun
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.evaluation import MetricScores, evaluate_pipeline
from haystack_eval_ext.runs.making import make_run
from kept_runs import SECRET, Generator, data, evaluators, judged, rows


def plain_run(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list, **made: Any) -> EvaluationRun:
    """A run over changed rows."""
    return api.evaluate(evaluators(**made), Dataset("questions.jsonl", change(rows())), name="new")


def with_row(number: int, **cells: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    """What changes one row."""
    return lambda found: [*found[:number], found[number] | cells, *found[number + 1 :]]


# --- evaluate ------------------------------------------------------------------------------------------------------


def test_evaluators_in_every_form(tmp_path: Path) -> None:
    components = evaluators()
    first = api.evaluate(components, data())
    second = api.evaluate(components, data())  # the components are the caller's, and free again
    pipeline = Pipeline()
    for name, each in evaluators().items():
        pipeline.add_component(name, each)
    (tmp_path / "eval.yaml").write_text(pipeline.dumps())
    third, fourth = api.evaluate(pipeline, data()), api.evaluate(tmp_path / "eval.yaml", data())
    assert first.scores == second.scores == third.scores == fourth.scores
    assert "recall" not in api.evaluate("retrieval", data()).scores  # a shipped pipeline has its own
    assert first.name == "questions.jsonl"
    assert api.evaluate(components, data(), out=tmp_path / "nightly").name == "nightly"


def test_data_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_text('{"id": "q", "documents": ["a"], "relevant_documents": ["a"]}\n')
    recall = {"recall": evaluators()["recall"]}
    run = api.evaluate(recall, file, out=tmp_path / "run")
    again = api.evaluate(recall, str(tmp_path / "run"))
    assert run.scores == again.scores == api.evaluate(recall, run).scores == {"recall": 1.0}
    assert api.evaluate(recall, tmp_path / "run" / "manifest.json").scores == run.scores
    assert again.manifest["settings"]["scored_again"] == "run"


@pytest.mark.parametrize("wrong", [5, None, {}, []])
def test_wrong_evaluators_are_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match="evaluators must be a Pipeline"):
        api.evaluate(wrong, data())


def test_what_is_no_component_is_named() -> None:
    recall = evaluators()["recall"]
    with pytest.raises(EvaluationError, match="evaluators: 'other' cannot be used"):
        api.evaluate({"recall": recall, "other": object()}, data())
    assert api.evaluate({"recall": recall}, data()).scores == {"recall": 0.75}


def test_wrong_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="data must be a file, a list of rows, a DataFrame, or a Dataset"):
        api.evaluate(evaluators(), cast(Any, 3))
    with pytest.raises(DatasetError, match=r"rows\[0\]: column 'id': true or false"):
        api.evaluate(evaluators(), [{"id": True}])
    with pytest.raises(RunFileError, match="holds no run"):
        api.evaluate(evaluators(), tmp_path)
    with pytest.raises(EvaluationError, match="kept without texts"):
        api.evaluate(evaluators(), plain_run().without_texts())
    with pytest.raises(ValueError, match="cannot be read"):
        api.evaluate(evaluators(), tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match=r"none\.yaml"):
        api.evaluate(tmp_path / "none.yaml", data())


def test_a_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(RunFileError, match="holds no run; name a new folder"):
        api.evaluate(cast(Any, None), data(), out=tmp_path)


# --- compare -------------------------------------------------------------------------------------------------------


def test_order_does_not_matter() -> None:
    shuffled = rows()
    random.Random(0).shuffle(shuffled)
    comparison = api.compare(plain_run(), plain_run(lambda _: shuffled))
    assert comparison.rows == 12
    assert all(metric.difference.ties == 12 for metric in comparison.metrics.values())
    assert comparison.notes == []


REFUSED: dict[str, tuple[Callable[[], EvaluationRun], str]] = {
    "shortened": (lambda: plain_run(lambda found: found[:9]), r"Questions: 3 of 12 in .*common=True"),
    "longer": (
        lambda: plain_run(lambda found: [*found, found[0] | {"id": "z"}]),
        r"Questions: 1 of 13 in 'new \(new\)'",
    ),
    "another question": (
        lambda: plain_run(with_row(4, question="Else?")),
        r"Questions differ under the same ids.*'q4'",
    ),
    "another label": (
        lambda: plain_run(with_row(4, relevant_documents=[Document(id="b", score=1.0)])),
        r"Labels differ under the same ids.*'q4'",
    ),
    "another grade": (
        lambda: plain_run(with_row(2, relevant_documents=[Document(id="a", content=f"{SECRET} a", score=2.0)])),
        r"Labels differ under the same ids.*'q2'",
    ),
    "another reference": (lambda: plain_run(with_row(7, reference_answer="x")), r"Labels differ.*'q7'"),
    "another cut-off": (lambda: plain_run(top_k=1), r"Parameter top_k of 'recall' differs: None and 1"),
    "another cluster": (lambda: plain_run(with_row(3, cluster="z")), r"cluster differs in 1 row: 'q3'"),
    "other metrics": (
        lambda: api.evaluate({"other": evaluators()["recall"]}, data(), name="new"),
        r"Metrics: '.*' has 'recall', .*'new \(new\)' has 'other'",
    ),
    "another class": (
        lambda: api.evaluate({"exact": evaluators()["recall"]}, data(), name="new"),
        r"Parameter type of 'exact' differs",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_differs_is_refused_by_name(name: str, tmp_path: Path) -> None:
    make, expected = REFUSED[name]
    base, new = plain_run(), make()
    with pytest.raises(ComparisonError, match=expected) as error:
        api.compare(base, new)
    assert SECRET not in str(error.value)
    # The same of files: a baseline knows as much as the run.
    base.baseline(tmp_path / "base.json")
    new.save(tmp_path / "new", texts=False)
    with pytest.raises(ComparisonError) as of_files:
        api.compare(tmp_path / "base.json", tmp_path / "new")
    assert str(of_files.value).replace("questions.jsonl", "x") == str(error.value).replace("questions.jsonl", "x")


def test_shared_rows_and_other_questions_on_demand() -> None:
    shorter = plain_run(lambda found: with_row(2, question="Else?")(found)[:9])
    comparison = api.compare(plain_run(), shorter, common=True)
    assert comparison.rows == 8
    assert any("1 row with the same id was left out" in note for note in comparison.notes)
    assert not api.compare(plain_run(), shorter, unpaired=True).paired


JUDGED: dict[str, tuple[dict[str, Any], str | None]] = {
    "the same": ({}, None),
    "another model replied": (
        {"replied": "model-2027"},
        "Judge model of 'polite' differs: 'model-2026' and 'model-2027'",
    ),
    "another prompt": ({"version": "1.2"}, "Prompt version politeness.en of 'polite' differs: '1.1' and '1.2'"),
    "another temperature": ({"temperature": 1.0}, "Parameter judge_parameters of 'polite' differs"),
    "an alias of the model": ({"model": "alias"}, None),
    "all from the cache": ({"replied": None}, None),
    "another model, all from the cache": ({"replied": None, "model": "alias"}, "Judge model of 'polite' differs"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_another_judge_is_refused(name: str) -> None:
    made, expected = JUDGED[name]
    scores: list[float | None] = [0.0, 0.5, 1.0, 0.5]
    if expected is None:
        assert api.compare(judged(scores), judged(scores, **made)).metrics["polite"].difference.mean == 0.0
        return
    with pytest.raises(ComparisonError, match=expected):
        api.compare(judged(scores), judged(scores, **made))


def test_the_judge_of_haystacks_own_evaluators_counts_too() -> None:
    def run(model: str) -> EvaluationRun:
        judge = LLMEvaluator(
            instructions="Good?",
            inputs=[("predicted_answers", list[str])],
            outputs=["score"],
            examples=[{"inputs": {"predicted_answers": "x"}, "outputs": {"score": 1}}],
            chat_generator=Generator(model=model),
        )
        pipeline = Pipeline()
        pipeline.add_component("llm", judge)
        scores = MetricScores("llm", 1.0, [1.0, 0.0], ["scored", "scored"])
        evaluation = evaluate_pipeline(plain_pipeline(), data(2))
        return make_run(replace(evaluation, metrics=[scores]), data(2), pipeline, name=model)

    with pytest.raises(ComparisonError, match="Judge model of 'llm' differs: 'a' and 'b'"):
        api.compare(run("a"), run("b"))
    assert api.compare(run("a"), run("a")).rows == 2


def plain_pipeline() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("recall", evaluators()["recall"])
    return pipeline


def test_lower_is_better_where_the_class_says_so() -> None:
    comparison = api.compare(judged([1.0, 0.5, 0.5]), judged([0.5, 0.5, 0.5]))
    metric = comparison.metrics["polite"]
    assert (metric.lower_is_better, metric.wins, metric.losses) == (True, 1, 0)
    assert [row.id for row in metric.improved] == ["q0"]


def test_a_judge_outage_is_inconclusive() -> None:
    scores: list[float | None] = [0.5 + number % 3 / 8 for number in range(60)]
    base, out = judged(scores), judged([None] * 60, replied=None)
    assert [result.outcome for result in api.check(api.compare(base, out), ["polite rises 0.02"])] == ["inconclusive"]
    assert [result.outcome for result in api.check(out, ["polite > 0.9"])] == ["inconclusive"]
    assert [result.outcome for result in api.check(base, ["polite > 0.9"])] == ["pass"]


def test_runs_of_one_name_are_told_apart_and_versions_noted() -> None:
    base, new = judged([1.0, 0.5]), judged([1.0, 0.5])
    new.manifest["versions"]["haystack-ai"] = "9.9"
    comparison = api.compare(base, new)
    assert (comparison.base_name, comparison.new_name) == ("judged (base)", "judged (new)")
    assert [note for note in comparison.notes if "haystack-ai" in note and "9.9" in note]


# --- baseline and check --------------------------------------------------------------------------------------------


def test_a_baseline_compares_as_its_run(tmp_path: Path) -> None:
    base = api.evaluate(evaluators(), data(wrong=6), out=tmp_path / "base")
    api.baseline(tmp_path / "base", tmp_path / "b.json")
    new = plain_run()
    of_run, of_file = api.compare(base, new, by="lang"), api.compare(tmp_path / "b.json", new, by="lang")
    assert of_run == of_file
    assert of_run.metrics["exact"].difference.clusters == 6
    assert sorted(of_run.slices) == ["lang:de", "lang:en"]
    text = (tmp_path / "b.json").read_text("utf-8")
    assert SECRET not in text
    assert sum(line.startswith('    {"id"') for line in text.splitlines()) == 12
    again = api.load_run(tmp_path / "b.json")
    assert (again.scores, again.name, again.has_texts) == (base.scores, "base", False)
    again.baseline(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text("utf-8") == text


def test_a_gate_of_one_run_and_of_two() -> None:
    good, bad = plain_run(), api.evaluate(evaluators(), data(wrong=11))
    assert [result.outcome for result in api.check(good, ["recall < 0.2", "recall < 0.7"])] == ["pass", "inconclusive"]
    assert api.check(good, ["recall < 0.8"], by_mean=True)[0].outcome == "fail"
    assert api.check(api.compare(good, bad), ["recall drops 0.02"])[0].outcome == "fail"
    assert api.exit_code(api.overall_outcome(api.check(api.compare(bad, good), ["recall drops 0.02"]))) == 0
    with pytest.raises(ValueError, match="confidence belongs to the comparison"):
        api.check(api.compare(good, bad), ["recall drops 0.02"], confidence=0.9)
    with pytest.raises(ValueError, match="compares two runs, but here is one"):
        api.check(good, ["recall drops 0.02"])


# --- agree ---------------------------------------------------------------------------------------------------------


def labelled(human: list[Any], scores: list[float | None]) -> EvaluationRun:
    """A judged run with people's labels."""
    run = judged(scores)
    for row, label in zip(run.rows, human, strict=True):
        row["columns"]["human"] = label
    return run


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [False, True])
def test_kappa_is_sklearns(seed: int, words: bool) -> None:
    draw = random.Random(seed)
    human = [draw.randint(0, 1) for _ in range(80)]
    scores = [draw.random() * 0.6 + 0.4 * label for label in human]
    names: list[Any] = [["No", "yes"][label] for label in human] if words else list(human)
    found = api.agree(labelled(names, list(scores)), "human", "polite", threshold=0.5)
    judge = [int(score >= 0.5) for score in scores]
    assert found.confusion == confusion_matrix(human, judge).tolist()
    assert found.kappa == pytest.approx(cohen_kappa_score(human, judge), abs=1e-12)
    assert found.human_rates == pytest.approx([1 - sum(human) / 80, sum(human) / 80])
    assert found.kappa is not None
    assert found.kappa_interval is not None
    assert found.kappa_interval.low < found.kappa < found.kappa_interval.high


def test_grades_may_nearly_agree() -> None:
    draw = random.Random(1)
    human = [draw.randint(1, 5) for _ in range(60)]
    judge = [min(5, grade + draw.randint(0, 1)) for grade in human]
    found = api.agree(labelled(list(map(str, human)), list(map(float, judge))), "human", "polite", weights="quadratic")
    assert found.kappa == pytest.approx(cohen_kappa_score(human, judge, weights="quadratic"), abs=1e-12)


def test_rows_without_label_or_score_are_left_out() -> None:
    found = api.agree(labelled([1, None, "", 0, True], [1.0, 1.0, 1.0, None, 0.0]), "human", "polite")
    assert (found.rows, found.left_out, found.confusion) == (2, 3, [[0, 0], [1, 1]])


def test_an_undefined_row_that_counts_as_0_was_judged_by_nobody() -> None:
    run = api.evaluate({"recall": evaluators()["recall"]}, Dataset("rows", with_row(5, relevant_documents=[])(rows())))
    assert (run.questions["recall"].statuses[5], run.questions["recall"].individual_scores[5]) == ("undefined", 0.0)
    found = api.agree(run, "human", "recall")
    assert (found.rows, found.left_out) == (11, 1)


@pytest.mark.parametrize(
    ("human", "options", "expected"),
    [
        ([1, 0], {"metric": "polit"}, "'polit' is none .*'polite'"),
        ([1, 0], {"human_column": "humans"}, r"no labels in a column 'humans' \(nearest: 'human'"),
        ([1, 0], {"threshold": float("nan")}, "threshold must be a finite number"),
        (["fine", "poor"], {"threshold": 0.5}, "holds a word that is not understood in row 'q0'"),
        (["fine", "poor"], {}, "holds a word that is not understood in row 'q0'"),
        ([["x"], 1], {}, "holds a list or an object in row 'q0'"),
        (["", " "], {}, "is empty in every row"),
    ],
)
def test_wrong_agreement_is_named(human: list[Any], options: dict[str, Any], expected: str) -> None:
    arguments = {"human_column": "human", "metric": "polite"} | options
    with pytest.raises(ValueError, match=expected):
        api.agree(labelled(human, [1.0, 0.0]), **arguments)


def test_agreement_needs_the_labels() -> None:
    with pytest.raises(ValueError, match="kept without texts"):
        api.agree(judged([1.0, 0.0]).without_texts(), "human", "polite")


def test_every_verb_is_there_and_documented() -> None:
    assert all(getattr(api, name).__doc__ for name in api.__all__)
