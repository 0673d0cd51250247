# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A parameter that is set on a component after construction does what it does when given to the constructor."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.evaluators.document_recall import RecallMode
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.serialization import component_to_dict

from cases import Case, all_cases
from haystack_eval_ext import (
    AnswerExactMatchEvaluator,
    ContextPrecisionEvaluator,
    DocumentRecallEvaluator,
    FaithfulnessEvaluator,
    JudgePolicy,
)
from judged_makers import following, system

ROWS = {"questions": ["Q?"], "contexts": [["Rain fell."]], "predicted_answers": ["Rain fell."]}
A, B, X = (Document(content=text) for text in "abx")


def optional(case: Case) -> dict[str, Any]:
    """The parameters of a case that the component can do without."""
    signature = inspect.signature(inspect.getattr_static(case.component, "__init__")).parameters
    return {name: value for name, value in case.parameters.items() if signature[name].default is not inspect._empty}


def made_without(case: Case, names: set[str]) -> Any:
    """The component of a case without some of its parameters; None where it cannot be made so."""
    given = {name: value for name, value in case.parameters.items() if name not in names}
    try:
        return case.component(**given)
    except (ValueError, TypeError):
        return None


def outputs(evaluator: Any, case: Case) -> str:
    """All that a run gives, NaN included; a component that was made for other sockets takes those of the case."""
    return repr(evaluator.run(**deepcopy(dict(case.inputs))))


CASES = [case for case in all_cases() if optional(case)]
RUNNABLE = [case for case in CASES if not case.skipped]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_set_later_equals_set_at_construction(case: Case) -> None:
    expected = outputs(case.make(), case)
    judge = {"chat_generator"} & set(case.parameters)  # none is made without a key
    for names in ({name} for name in optional(case)), [set(optional(case)) - judge]:
        for some in names:
            evaluator = made_without(case, some - judge)
            if evaluator is None:
                continue
            for name in some:
                setattr(
                    evaluator, name, deepcopy(case.parameters[name]) if name not in judge else case.parameters[name]
                )
            assert outputs(evaluator, case) == expected, some
            assert component_to_dict(evaluator, "one") == component_to_dict(case.make(), "one")


def test_parameters_of_the_cases_change_what_comes_out() -> None:
    """Else the test above could pass without looking at them. A default model would be downloaded."""
    changed = 0
    for case in RUNNABLE:
        evaluator = made_without(case, set(optional(case)) - {"chat_generator", "embedder", "model"})
        try:
            changed += evaluator is not None and outputs(evaluator, case) != outputs(case.make(), case)
        except (ValueError, TypeError):
            changed += 1
    assert changed > len(RUNNABLE) / 3


def test_a_value_that_is_none_of_those_possible_is_refused_by_the_run() -> None:
    evaluator = DocumentRecallEvaluator()
    evaluator.top_k = 0
    with pytest.raises(ValueError, match="top_k must be"):
        evaluator.run([[A]], [[A]])
    evaluator.top_k = 1
    assert evaluator.run([[A]], [[X, A]])["score"] == 0.0


def test_the_mode_is_stocks_and_its_text() -> None:
    evaluator = DocumentRecallEvaluator()
    for mode in (RecallMode.MULTI_HIT, "multi_hit"):
        evaluator.mode = mode
        assert evaluator.run([[A, B]], [[A]])["score"] == 0.5
        assert evaluator.mode == RecallMode.MULTI_HIT == evaluator.mode
        assert evaluator.mode == "multi_hit"
        assert evaluator.mode != RecallMode.SINGLE_HIT
        assert evaluator.mode not in ("single_hit", None, 1)
        assert {evaluator.mode: 1}["multi_hit"] == 1
        assert str(evaluator.mode) == "multi_hit"
        assert type(evaluator.to_dict()["init_parameters"]["mode"]) is str
    assert "mode: multi_hit" in piped(evaluator).dumps()


def piped(evaluator: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("one", evaluator)
    return pipeline


def test_instructions_are_the_prompts_own_until_others_are_set() -> None:
    evaluator = following(FaithfulnessEvaluator, "scripted_judge:verdicts")
    assert evaluator.to_dict()["init_parameters"]["instructions"] is None
    version = evaluator._prompt.version
    evaluator.run(**ROWS)
    assert system(evaluator).startswith(evaluator.instructions.strip())
    assert evaluator._prompt.version == version
    evaluator.chat_generator.asked.clear()
    evaluator.instructions = "Judge the weather."
    evaluator.run(**ROWS)
    assert system(evaluator).startswith("Judge the weather.")
    assert evaluator.to_dict()["init_parameters"]["instructions"] == "Judge the weather."


def test_connections_of_a_pipeline_stay_when_a_parameter_is_set_later() -> None:
    @component
    class Answers:
        @component.output_types(predicted_answers=list[str])
        def run(self) -> dict[str, Any]:
            return {"predicted_answers": ["Rain fell."]}

    evaluator = FaithfulnessEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"s1": 1}}'), progress_bar=False)
    pipeline = piped(evaluator)
    pipeline.add_component("answers", Answers())
    pipeline.connect("answers.predicted_answers", "one.predicted_answers")
    evaluator.policy = JudgePolicy(votes=3)
    evaluator.instructions = "Judge."
    found = pipeline.run({"one": {"questions": ["Q?"], "contexts": [["Rain fell."]]}})
    assert found["one"]["usage"]["calls"] == 3
    assert vars(evaluator)["__haystack_input__"].predicted_answers.senders == ["answers"]


def test_a_subclass_elsewhere_is_not_made_again() -> None:
    made = []

    @component
    class Own(AnswerExactMatchEvaluator):
        def __init__(self, prefix: str) -> None:
            made.append(prefix)
            AnswerExactMatchEvaluator.__init__(self, ignore_case=True)

    evaluator = Own("x")
    evaluator.ignore_case = False
    assert evaluator.run([["A"]], ["a"])["score"] == 0.0
    assert made == ["x"]


def test_a_budget_that_a_run_shares_stays() -> None:
    from haystack_eval_ext.judged._account import Budget

    evaluator = ContextPrecisionEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"c1": 1}}'))
    evaluator.budget = budget = Budget()
    evaluator.language = "ja"
    evaluator.run(questions=["Q?"], contexts=[["c"]], ground_truth_answers=["a"])
    assert evaluator.budget is budget
