# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A judged metric of a user's own: it keeps the contract, and what it says of itself is checked."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack import component
from haystack.components.generators.chat import MockChatGenerator

from cases import Golden
from cases_judged import POLICY, JudgedCase, rows, sample
from custom_metric import SOURCE, PolitenessEvaluator
from harness import CONTRACT, Check, check_golden
from haystack_eval_ext import UndefinedScore
from haystack_eval_ext.judged.custom import CustomJudgedEvaluator, Judged, Task, read_task
from haystack_eval_ext.runs import api
from scripted_judge import AsyncScriptedJudge, ScriptedJudge

POLITE = rows(
    questions=["Who?", "Where?", "When?"],
    predicted_answers=["Gladly: Ada. Now go.", "Please look here.", " "],
)
CASES = [
    JudgedCase(
        "custom",
        PolitenessEvaluator,
        sample("questions", "predicted_answers"),
        {"chat_generator": ScriptedJudge("custom_metric:polite")},
        # One of two sentences, the only one, and an answer without a sentence.
        golden=(Golden("polite sentences", POLITE, [0.5, 1.0, 0.0]),),
    ),
    JudgedCase(
        "custom, all parameters",
        PolitenessEvaluator,
        sample("questions", "predicted_answers"),
        {
            "chat_generator": AsyncScriptedJudge("custom_metric:polite"),
            "examples": [
                {
                    "inputs": {"question": "Who?", "sentences": {"s1": "Please ask Ada."}},
                    "outputs": {"verdicts": {"s1": 1}},
                }
            ],
            "instructions": "Judge with care.",
            "language": "ja",
            "on_undefined": "nan",
            "policy": POLICY,
            "progress_bar": False,
            "raise_on_failure": False,
        },
        golden=(Golden("polite sentences", POLITE, [0.5, 1.0, float("nan")]),),
    ),
]
TASK = Task("one", "Judge.", "a verdict")


@pytest.mark.parametrize("check", [*CONTRACT, check_golden], ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_keeps_the_contract(case: JudgedCase, check: Check) -> None:
    check(case)


def test_it_is_short() -> None:
    assert len(SOURCE.partition("@component\n")[2].splitlines()) <= 30


def test_a_run_records_its_task_and_rule() -> None:
    def scored(task: Task, rule: int = 1) -> Any:
        kind = _kind(task=task, rule_version=rule)
        evaluator = kind(chat_generator=MockChatGenerator('{"verdicts": {"s1": 1}}'), progress_bar=False)
        return api.evaluate({"polite": evaluator}, [{"question": "Where?", "answer": "Gladly: here."}])

    base = scored(TASK)
    assert base.scores == {"polite": 1.0}
    assert api.compare(base, scored(TASK)).metrics["polite"].difference.mean == 0.0
    for other in (scored(Task("one", "Judge well.", "a verdict")), scored(TASK, rule=2)):
        with pytest.raises(api.ComparisonError):
            api.compare(base, other)


def test_a_plan_counts_its_calls() -> None:
    planned = CASES[0].make().plan(**POLITE)
    assert (planned.rows, planned.calls) == (3, 2)


def test_a_task_for_each_language() -> None:
    kind = _kind(task={"en": TASK, "ja": Task("one", "判定せよ。", "verdict")})
    judge = MockChatGenerator("x")
    assert "判定せよ。" in kind(chat_generator=judge, language="ja").prompt.system()
    assert kind(chat_generator=judge).instructions == "Judge."
    with pytest.raises(ValueError, match="language must be one of 'en', but is 'ja'"):
        _kind(task={"en": TASK})(chat_generator=judge, language="ja")


def test_a_task_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tone.yaml"
    file.write_text(
        'instructions: Judge the tone.\nreply: "{}"\nexamples: [{data: {a: 1}, reply: {b: 2}}]\n', encoding="utf-8"
    )
    assert read_task(file) == Task("tone", "Judge the tone.", "{}", [({"a": 1}, {"b": 2})])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "instructions: x",
        "instructions: x\nreply: y\nexamples: [1]",
        "instructions: [1]\nreply: y",
        "a: [",
        "\xff",
    ],
)
def test_a_file_that_is_no_task(tmp_path: Path, content: str) -> None:
    file = tmp_path / "tone.yaml"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=r"tone\.yaml: not a task. Expected YAML with the texts"):
        read_task(file)


@pytest.mark.parametrize("part", ["name", "instructions", "reply"])
def test_a_task_without_a_text(part: str) -> None:
    with pytest.raises(ValueError, match=part):
        replace(TASK, **{part: " "})  # type: ignore[arg-type]


ODD: dict[str, tuple[Any, str]] = {
    "above": (Judged(1.5, {}), "the score 1.5, outside 0 to 1"),
    "below": (Judged(-1.0, {}), "the score -1, outside 0 to 1"),
    "NaN": (Judged(math.nan, {}), "no number as the score"),
    "infinite": (Judged(math.inf, {}), "no number as the score"),
    "text": (Judged("0.5", {}), "no number as the score"),  # type: ignore[arg-type]
    "nothing": (Judged(None, {}), "no number as the score"),  # type: ignore[arg-type]
    "a bare score": (0.5, "must return Judged(score, details)"),
    "None": (None, "must return Judged(score, details)"),
    "an error": (ValueError("no such index"), "ValueError in judge_row"),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_row_costs_itself_alone(odd: str) -> None:
    given, reason = ODD[odd]

    async def judge_row(self: Any, ask: Any, row: Any) -> Any:
        if row["predicted_answers"] != "odd":
            return Judged(0.5, {})
        if isinstance(given, Exception):
            raise given
        return given

    evaluator = _kind(judge_row=judge_row)(chat_generator=MockChatGenerator("x"), raise_on_failure=False)
    found = evaluator.run(questions=["?"] * 3, predicted_answers=["a", "odd", "b"])
    assert (found["score"], found["statuses"]) == (0.5, ["scored", "error", "scored"])
    assert reason in found["errors"][1]
    assert (found["results"][1].get("message") == "no such index") is isinstance(given, Exception)


def test_another_range_and_a_method_that_is_no_coroutine() -> None:
    async def five(self: Any, ask: Any, row: Any) -> Any:
        return Judged(5, {})

    judge = MockChatGenerator("x")
    row = {"questions": ["?"], "predicted_answers": ["a"]}
    assert _kind(judge_row=five, score_range=(1, 5))(chat_generator=judge).run(**row)["score"] == 5.0

    def at_once(self: Any, ask: Any, row: Any) -> Any:
        return Judged(0.5, {})

    plain = _kind(judge_row=at_once)(chat_generator=judge, raise_on_failure=False)
    assert "write 'async def judge_row'" in plain.run(**row)["errors"][0]


def test_what_a_metric_says_of_itself_is_checked() -> None:
    with pytest.raises(ValueError, match=r"an input must be one of 'questions', .*, but is 'question'"):
        _kind(takes=("question",))
    with pytest.raises(TypeError, match="must name its task"):
        _kind(task=None)(chat_generator=MockChatGenerator("x"))


def _kind(**said: Any) -> Any:
    async def judge_row(self: Any, ask: Any, row: Any) -> Any:
        if not row["predicted_answers"]:
            raise UndefinedScore(self.undefined_reason)
        return await PolitenessEvaluator.judge_row(self, ask, row)

    body = {"takes": PolitenessEvaluator.takes, "task": TASK, "judge_row": judge_row, "__module__": __name__}
    return component(type("Own", (CustomJudgedEvaluator,), body | said))
