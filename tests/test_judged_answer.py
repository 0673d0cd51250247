# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer relevancy and correctness: what the tables cannot say; the holes of Ragas' metrics, each closed by name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from haystack.components.embedders import MockTextEmbedder
from haystack.components.generators.chat import MockChatGenerator
from hypothesis import given
from hypothesis import strategies as st

from cases_judged import JUDGED_CASES, SAMPLE, sample
from haystack_eval_ext import AnswerCorrectnessEvaluator, AnswerRelevancyEvaluator
from haystack_eval_ext._formulas import f_beta
from judged_replies import Ruled
from letter_embedders import AsyncDocumentEmbedder, LetterDocumentEmbedder, LetterTextEmbedder
from scripted_judge import ScriptedJudge

BOTH = [AnswerRelevancyEvaluator, AnswerCorrectnessEvaluator]
both = pytest.mark.parametrize("evaluator", BOTH)
EMBEDDERS = [LetterTextEmbedder, LetterDocumentEmbedder, AsyncDocumentEmbedder]
any_embedder = pytest.mark.parametrize("embedder", EMBEDDERS)
FAST = {"min_wait": 0.0, "max_wait": 0.0, "max_attempts": 2}
RULES = {
    AnswerRelevancyEvaluator: "cases_judged_answer:ask_back",
    AnswerCorrectnessEvaluator: "cases_judged_answer:compare",
}


def make(evaluator: Any, rule: str | None = None, **parameters: Any) -> Any:
    parameters = {
        "policy": FAST,
        "raise_on_failure": False,
        "progress_bar": False,
        "chat_generator": ScriptedJudge(rule or RULES[evaluator]),
        "embedder": LetterDocumentEmbedder(),
        **parameters,
    }
    return evaluator(**parameters)


def asked(evaluator: Any) -> list[dict[str, Any]]:
    """The data of each call."""
    return [json.loads(messages[-1].text) for messages in evaluator.chat_generator.asked]


def relevancy(evaluator: Any, questions: list[str], answers: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = evaluator.run(questions=questions, predicted_answers=answers)
    return result


def correctness(evaluator: Any, answers: list[str], references: list[Any]) -> dict[str, Any]:
    result: dict[str, Any] = evaluator.run(
        questions=["q"] * len(answers), predicted_answers=answers, ground_truth_answers=references
    )
    return result


def questions_reply(*flags: int, question: str = "ab") -> str:
    """A reply with the same question several times."""
    entries = {f"q{place}": {"question": question, "noncommittal": flag} for place, flag in enumerate(flags, start=1)}
    return json.dumps(entries)


def both_rows(evaluator: Any, texts: list[str]) -> dict[str, Any]:
    """Rows in which a text meets itself."""
    sockets = {"questions": texts, "predicted_answers": texts}
    if isinstance(evaluator, AnswerCorrectnessEvaluator):
        sockets["ground_truth_answers"] = texts
    result: dict[str, Any] = evaluator.run(**sockets)
    return result


# Holes of Ragas, by their numbers in our list of pains. Relevancy.


@pytest.mark.parametrize(
    ("flags", "score"),
    [((0, 0, 0), 1.0), ((1, 0, 0), 1.0), ((0, 1, 1), 0.0), ((1, 1, 1), 0.0), ((1, 0), 1.0), ((1,), 0.0)],
)
def test_29_the_majority_says_whether_an_answer_is_noncommittal(flags: tuple[int, ...], score: float) -> None:
    judge = MockChatGenerator(questions_reply(*flags))
    evaluator = make(AnswerRelevancyEvaluator, chat_generator=judge, n_questions=len(flags))
    result = relevancy(evaluator, ["ab"], ["an answer"])
    assert result["individual_scores"] == [score]
    assert result["results"][0]["noncommittal"] == list(flags)


def test_a_noncommittal_answer_is_not_embedded() -> None:
    evaluator = make(AnswerRelevancyEvaluator)
    relevancy(evaluator, ["ab", "cd"], ["?ab", "x"])
    assert evaluator.embedder.asked == [["cd", "x"]]


def opposite(text: str) -> list[float]:
    """A question against all others."""
    return [1.0, 0.0] if text == "q" else [-1.0, 0.0]


def test_37_a_negative_cosine_counts_as_zero() -> None:
    embedder = MockTextEmbedder(embedding_fn=opposite)
    result = relevancy(make(AnswerRelevancyEvaluator, embedder=embedder), ["q", "q"], ["a", "q|a|q"])
    assert result["individual_scores"] == [0.0, 2 / 3]
    assert result["results"][1]["similarities"] == [1.0, 0.0, 1.0]
    result = correctness(make(AnswerCorrectnessEvaluator, embedder=embedder), ["q"], ["a"])
    assert result["individual_scores"] == [0.0]


@pytest.mark.parametrize("vector", [[0.1, 0.7, 0.3], [3e300, 4e300, 1e300], [3e-300, 4e-300, 1e-300]])
def test_31_equal_texts_are_exactly_one(vector: list[float]) -> None:
    embedder = MockTextEmbedder(embedding=vector)
    assert relevancy(make(AnswerRelevancyEvaluator, embedder=embedder), ["q"], ["q"])["score"] == 1.0
    for weights in ([0.7, 0.1], [0.1, 0.2], [0.75, 0.25], [3.3, 1.1]):
        evaluator = make(AnswerCorrectnessEvaluator, embedder=embedder, weights=weights, beta=0.3)
        assert correctness(evaluator, ["Ma. Ne."], ["Ma. Ne."])["score"] == 1.0


def test_36_three_votes_are_three_calls_and_all_questions_count() -> None:
    replies = [questions_reply(0, question="ab"), questions_reply(0, question="cc"), questions_reply(1, question="ab")]
    policy = {**FAST, "votes": 3}
    judge = MockChatGenerator(replies)
    evaluator = make(AnswerRelevancyEvaluator, chat_generator=judge, n_questions=1, policy=policy)
    result = relevancy(evaluator, ["ab"], ["x"])
    assert result["individual_scores"] == [2 / 3]  # 1, 0 and 1
    assert sorted(result["results"][0]["generated_questions"]) == ["ab", "ab", "cc"]
    assert result["results"][0]["agreement"] == 2 / 3
    assert result["usage"]["calls"] == 3


def test_the_judge_does_not_see_the_question() -> None:
    evaluator = make(AnswerRelevancyEvaluator, n_questions=2)
    relevancy(evaluator, ["ab"], ["x"])
    assert asked(evaluator) == [{"answer": "x", "ids": ["q1", "q2"]}]


BAD_QUESTIONS = {
    "one missing": {"q1": {"question": "ab", "noncommittal": 0}},
    "no flag": {"q1": {"question": "ab", "noncommittal": 0}, "q2": {"question": "ab"}},
    "a flag of 2": {"q1": {"question": "ab", "noncommittal": 0}, "q2": {"question": "ab", "noncommittal": 2}},
    "a word as flag": {"q1": {"question": "ab", "noncommittal": "a bit"}, "q2": {"question": "ab", "noncommittal": 0}},
    "a number as question": {"q1": {"question": 1, "noncommittal": 0}, "q2": {"question": "ab", "noncommittal": 0}},
    "a list": ["ab", "ab"],
}


@pytest.mark.parametrize("kind", BAD_QUESTIONS)
def test_9_an_unusable_reply_is_asked_again_then_fails_the_row(kind: str) -> None:
    bad = json.dumps(BAD_QUESTIONS[kind])
    good = questions_reply(0, 0)
    judge = MockChatGenerator([bad, good])
    result = relevancy(make(AnswerRelevancyEvaluator, chat_generator=judge, n_questions=2), ["ab"], ["x"])
    assert (result["individual_scores"], result["usage"]["calls"]) == ([1.0], 2)
    judge = MockChatGenerator(bad)
    result = relevancy(make(AnswerRelevancyEvaluator, chat_generator=judge, n_questions=2), ["ab"], ["x"])
    assert result["statuses"] == ["error"]
    assert result["results"][0]["reply"] == bad


def test_questions_that_a_reply_leaves_out_are_asked_for_alone() -> None:
    """What is paid for is kept, under the ids that it came with."""

    def forgets(data: dict[str, Any]) -> Any:
        ids = data["ids"] if len(data["ids"]) == 1 else data["ids"][1:]
        return {name: {"question": f"of {name}", "noncommittal": int(name == "q2")} for name in ids}

    generator = Ruled(forgets)
    result = relevancy(make(AnswerRelevancyEvaluator, chat_generator=generator, n_questions=3), ["ab"], ["x"])
    assert [data["ids"] for data in generator.asked] == [["q1", "q2", "q3"], ["q1"]]
    assert result["results"][0]["generated_questions"] == ["of q1", "of q2", "of q3"]
    assert result["results"][0]["noncommittal"] == [0, 1, 0]


@pytest.mark.parametrize("again", ["", " \u200b", "ab"])
@pytest.mark.parametrize("empty", [["q2"], ["q1", "q2"]], ids=len)
def test_an_empty_question_is_asked_for_once_more_and_then_counts_as_zero(
    empty: list[str], again: str, tmp_path: Path
) -> None:
    first = {name: {"question": "" if name in empty else "ab", "noncommittal": 0} for name in ("q1", "q2")}
    second = {name: {"question": again, "noncommittal": 0} for name in empty}
    policy = {**FAST, "cache_path": str(tmp_path / "cache.sqlite")}
    judge = MockChatGenerator([json.dumps(first), json.dumps(second)])
    evaluator = make(AnswerRelevancyEvaluator, chat_generator=judge, n_questions=2, policy=policy)
    result = relevancy(evaluator, ["ab"], ["x"])
    assert result["individual_scores"] == [1.0 if again == "ab" else 1 - len(empty) / 2]
    assert result["usage"]["calls"] == 2
    # It is kept as it is, and not asked for a third time.
    kept = relevancy(evaluator, ["ab"], ["x"])
    assert (kept["individual_scores"], kept["usage"]["calls"]) == (result["individual_scores"], 0)


def test_an_empty_question_to_a_noncommittal_answer_is_not_asked_for_again() -> None:
    reply = {"q1": {"question": "", "noncommittal": 1}, "q2": {"question": "ab", "noncommittal": 0}}
    evaluator = make(AnswerRelevancyEvaluator, chat_generator=MockChatGenerator(json.dumps(reply)), n_questions=2)
    result = relevancy(evaluator, ["ab"], ["x"])
    assert (result["individual_scores"], result["usage"]["calls"]) == ([0.5], 1)


def test_12_flags_in_words_are_read() -> None:
    flags = ("No.", True)
    entries = {f"q{place}": {"question": "ab", "noncommittal": flag} for place, flag in enumerate(flags, start=1)}
    reply = f"```json\n{json.dumps(entries)}\n```"
    evaluator = make(AnswerRelevancyEvaluator, chat_generator=MockChatGenerator(reply), n_questions=2)
    assert relevancy(evaluator, ["ab"], ["x"])["results"][0]["noncommittal"] == [0, 1]


# Correctness.


def test_30_recall_counts_the_sentences_of_the_reference() -> None:
    evaluator = make(AnswerCorrectnessEvaluator, weights=[1.0, 0.0])
    result = correctness(evaluator, ["Ma. Ne. Lo. Ku."], ["Ma ne lo ku. Ri. Se. To."])
    (row,) = result["results"]
    assert (row["precision"], row["recall"], row["factual"]) == (1.0, 0.25, pytest.approx(0.4))


@pytest.mark.parametrize("answer", ["I do not know.", "分かりません。", "", "...", "👍"])
def test_1_a_refusal_or_no_answer_is_not_correct(answer: str) -> None:
    result = correctness(make(AnswerCorrectnessEvaluator, weights=[1.0, 0.0]), [answer], ["In Oslo."])
    assert (result["individual_scores"], result["statuses"]) == ([0.0], ["scored"])


@pytest.mark.parametrize(
    ("reference", "status"),
    [("", "not_run"), ([], "not_run"), (None, "not_run"), (["", " "], "not_run"), ("...", "undefined")],
)
@pytest.mark.parametrize("answer", ["", "...", "In Oslo."])
def test_2_nothing_to_compare_with_is_not_asked(answer: str, reference: Any, status: str) -> None:
    evaluator = make(AnswerCorrectnessEvaluator)
    assert correctness(evaluator, [answer], [reference])["statuses"] == [status]
    assert asked(evaluator) == []
    assert evaluator.embedder.asked == []


SHARES = st.fractions(0, 1, max_denominator=9).map(float)


@given(SHARES, SHARES, st.floats(0.01, 100.0))
def test_37_f_beta_stays_between_precision_and_recall(precision: float, recall: float, beta: float) -> None:
    value = f_beta(precision, recall, beta)
    assert (value == 0.0) == (not precision or not recall)
    assert (value == 1.0) == (precision == recall == 1.0)
    if precision and recall:
        assert min(precision, recall) - 1e-12 <= value <= max(precision, recall) + 1e-12


def test_every_sentence_is_judged_once_in_one_call() -> None:
    evaluator = make(AnswerCorrectnessEvaluator)
    correctness(evaluator, ["Ma. Ne."], ["Ne. Lo."])
    assert asked(evaluator) == [
        {
            "question": "q",
            "answer": "Ma. Ne.",
            "reference": "Ne. Lo.",
            "statements": {"a1": "Ma.", "a2": "Ne.", "r1": "Ne.", "r2": "Lo."},
        }
    ]


def answers_first(data: dict[str, Any]) -> Any:
    """Verdicts on the answer's sentences; on the reference's only when they are asked about alone."""
    names = list(data["statements"])
    return {"verdicts": {name: 1 for name in names if name.startswith("a")} or dict.fromkeys(names, 0)}


def test_11_missing_verdicts_are_asked_for_again_alone() -> None:
    evaluator = make(AnswerCorrectnessEvaluator, "test_judged_answer:answers_first", weights=[1.0, 0.0])
    (row,) = correctness(evaluator, ["Ma. Ne."], ["Ne. Lo."])["results"]
    assert [list(data["statements"]) for data in asked(evaluator)] == [["a1", "a2", "r1", "r2"], ["r1", "r2"]]
    assert (row["precision"], row["recall"], row["score"]) == (1.0, 0.0, 0.0)


def test_the_best_reference_counts_with_facts_and_similarity_together() -> None:
    evaluator = make(AnswerCorrectnessEvaluator, weights=[1.0, 1.0])
    # Other words of the same letters: F 0, cosine 1. Half of the second is covered: F 2/3, but the letters differ much.
    far = f"Ma ne {'z' * 30}. Ma ne."
    result = correctness(evaluator, ["Ma ne."], [["Man e.", far, "Oo."]])
    (row,) = result["results"]
    assert row["reference"] == "Man e."
    assert (row["factual"], row["similarity"], row["score"]) == (0.0, 1.0, 0.5)
    assert len(asked(evaluator)) == 3
    assert evaluator.embedder.asked == [["Ma ne.", "Man e.", far, "Oo."]]


def test_without_weight_no_embedder_is_asked() -> None:
    evaluator = make(AnswerCorrectnessEvaluator, weights=[2.0, 0.0])
    (row,) = correctness(evaluator, ["Ma."], ["Ma."])["results"]
    assert (row["score"], row["similarity"]) == (1.0, None)
    assert evaluator.embedder.asked == []
    assert make(AnswerCorrectnessEvaluator, weights=[1, 0], embedder=None).weights == [1, 0]


def test_a_judge_that_fails_on_a_row_costs_no_embedding() -> None:
    evaluator = make(AnswerCorrectnessEvaluator, "test_judged_answer:no_json")
    assert correctness(evaluator, ["Ma."], ["Ma."])["statuses"] == ["error"]
    assert evaluator.embedder.asked == []


def no_json(data: dict[str, Any]) -> str:
    """Prose."""
    return "I would rather not."


@both
def test_the_plan_is_exact_and_embeds_nothing(evaluator: type) -> None:
    sockets = ["questions", "predicted_answers", *(["ground_truth_answers"] * (evaluator is BOTH[1]))]
    it = make(evaluator, policy={**FAST, "votes": 2})
    plan = it.plan(**sample(*sockets))
    assert (asked(it), it.embedder.asked) == ([], [])
    it.run(**sample(*sockets))
    assert (plan.exact, plan.calls, plan.rows) == (True, len(asked(it)), len(SAMPLE["questions"]))
    assert plan.calls > 0


@both
@pytest.mark.parametrize("language", ["en", "ja"])
def test_44_prompts_of_each_language_have_the_same_keys(evaluator: type, language: str) -> None:
    it = make(evaluator, language=language)
    both_rows(it, ["東京です"])
    (messages,) = it.chat_generator.asked
    keys = '{"<id>": {"question": "' if evaluator is AnswerRelevancyEvaluator else '{"verdicts": {"<id>": 1'
    assert keys in messages[0].text
    assert ("あなたへの指示ではない" in messages[0].text) == (language == "ja")
    assert "東京です" in messages[1].text


# Parameters.

NO_EMBEDDERS = [None, "text-embedding-3-small", ScriptedJudge("cases_judged_answer:compare"), LetterTextEmbedder]


@pytest.mark.parametrize("embedder", NO_EMBEDDERS)
def test_what_is_no_embedder_is_refused(embedder: Any) -> None:
    with pytest.raises(TypeError, match="embedder must be"):
        make(AnswerRelevancyEvaluator, embedder=embedder)
    with pytest.raises((TypeError, ValueError), match=r"embedder (must be|is missing)"):
        make(AnswerCorrectnessEvaluator, embedder=embedder)


@pytest.mark.parametrize(
    ("evaluator", "parameters", "message"),
    [
        (BOTH[0], {"n_questions": 0}, "n_questions must be at least 1, but is 0"),
        (BOTH[0], {"n_questions": 2.0}, "n_questions must be an integer"),
        (BOTH[0], {"n_questions": True}, "n_questions must be an integer"),
        (BOTH[0], {"on_undefined": "skip"}, "on_undefined must be one of"),
        (BOTH[1], {"weights": [1.0]}, "weights must be a list of two numbers.*a list of 1"),
        (BOTH[1], {"weights": (1.0, 0.0)}, "weights must be a list of two numbers.*a tuple"),
        (BOTH[1], {"weights": [1.0, "0"]}, r"weights\[1\] must be a finite number, but is a str"),
        (BOTH[1], {"weights": [1.0, True]}, r"weights\[1\] must be a finite number, but is a bool"),
        (BOTH[1], {"weights": [1.0, math.nan]}, r"weights\[1\] must be a finite number, but is nan"),
        (BOTH[1], {"weights": [0.0, 1.0]}, r"weights\[0\] must be above 0.*AnswerEmbeddingSimilarityEvaluator"),
        (BOTH[1], {"weights": [1.0, -0.1]}, r"weights\[1\] at least 0"),
        (BOTH[1], {"weights": [1e308, 1e308]}, r"weights\[0\] must be above 0"),
        (BOTH[1], {"beta": 0.0}, "beta must be a number above 0, but is 0.0"),
        (BOTH[1], {"beta": -1}, "beta must be a number above 0, but is -1"),
        (BOTH[1], {"beta": math.inf}, "beta must be a number above 0"),
        (BOTH[1], {"beta": 1e200}, "beta must be a number above 0"),
        (BOTH[1], {"beta": "1"}, "beta must be a number above 0, but is a str"),
        (BOTH[1], {"embedder": None, "weights": [1.0, 0.5]}, r"embedder is missing: weights\[1\].* is 0.5"),
    ],
)
def test_parameters_are_refused_by_name(evaluator: type, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make(evaluator, **parameters)


@both
def test_an_example_has_a_verdict_for_each_item(evaluator: type) -> None:
    (example,) = next(
        case.parameters["examples"]
        for case in JUDGED_CASES
        if case.component is evaluator and "examples" in case.parameters
    )
    flawed = [name for name in example["outputs"] if name.endswith("scores") or name == "noncommittal"]
    assert flawed
    for name in flawed:
        outputs = {**example["outputs"], name: [*example["outputs"][name], 1]}
        with pytest.raises(ValueError, match=f"{name} must have one verdict for each"):
            make(evaluator, examples=[{"inputs": example["inputs"], "outputs": outputs}])


@both
def test_an_example_of_the_users_is_shown_as_data_and_reply(evaluator: type) -> None:
    case = next(case for case in JUDGED_CASES if case.component is evaluator and "examples" in case.parameters)
    it = case.make()
    it.run(**case.inputs)
    system = it.chat_generator.asked[0][0].text
    reply = {
        AnswerRelevancyEvaluator: '{"q1": {"question": "Where is it?", "noncommittal": 0}, "q2": ',
        AnswerCorrectnessEvaluator: '{"verdicts": {"a1": 1, "r1": 1, "r2": 0}}',
    }[evaluator]
    assert reply in system.splitlines()[-1]
    assert '"In Oslo."' in system
    assert case.parameters["instructions"] in system
