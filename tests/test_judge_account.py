# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What judging costs: calls, tokens and money by row and in sum; budgets, votes and plans."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from haystack import component
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import FaithfulnessEvaluator
from haystack_eval_ext.judged._account import Budget, cost_of, estimated_tokens, sum_of, tokens_of
from haystack_eval_ext.judged._failures import NotRunError
from judged_rows import QUICK, evaluator, rows
from openai_server import OpenAIServer

PRICES = {"m": {"input": 2.0, "output": 8.0}, "*": {"input": 1000.0, "output": 1000.0}}
NO_PRICES: list[dict[str, Any] | None] = [{}, None]
#: What the server says of each reply: 100 tokens in at 2, 10 out at 8, a million each.
COST = (100 * 2 + 10 * 8) / 1e6


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def test_rows_and_sum(server: OpenAIServer) -> None:
    result = evaluator(server.url, replace(QUICK, prices=PRICES)).run(**rows(5))
    for row in result["results"]:
        assert row["usage"] == {
            "calls": 1,
            "retries": 0,
            "cache_hits": 0,
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "replies_without_tokens": 0,
            "cost": pytest.approx(COST),
            "models": {"served-model": 1},
            "embedding_tokens": None,
        }
    usage = result["usage"]
    assert (usage["calls"], usage["prompt_tokens"], usage["completion_tokens"]) == (5, 500, 50)
    assert usage["cost"] == pytest.approx(5 * COST)
    assert usage["models"] == {"served-model": 5}
    assert usage == sum_of(row["usage"] for row in result["results"])


def test_retries_are_counted_and_unreadable_replies_are_paid_for(server: OpenAIServer) -> None:
    server.change(faults={"malformed": 1.0}, most_faults=2)
    usage = evaluator(server.url).run(**rows(3))["usage"]
    assert (usage["calls"], usage["retries"], usage["prompt_tokens"]) == (9, 6, 900)
    server.change(faults={"500": 1.0})
    usage = evaluator(server.url).run(**rows(3))["usage"]
    assert (usage["calls"], usage["retries"], usage["prompt_tokens"]) == (9, 6, 300)


def test_failed_rows_have_an_account(server: OpenAIServer) -> None:
    server.change(lost=1.0, lost_to="malformed")
    result = evaluator(server.url, replace(QUICK, max_attempts=2), raise_on_failure=False).run(**rows(2))
    assert [row["usage"]["prompt_tokens"] for row in result["results"]] == [200, 200]
    assert math.isnan(result["score"])
    server.change(lost_to="length")
    usage = evaluator(server.url, raise_on_failure=False).run(**rows(1))["usage"]
    assert (usage["calls"], usage["prompt_tokens"], usage["models"]) == (1, 100, {"served-model": 1})


def test_unknown_tokens_are_none(server: OpenAIServer) -> None:
    server.change(usage=False)
    result = evaluator(server.url, replace(QUICK, prices=PRICES)).run(**rows(3))
    usage = result["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cost"]) == (None, None, None)
    assert (usage["calls"], usage["replies_without_tokens"]) == (3, 3)
    assert result["results"][0]["usage"]["prompt_tokens"] is None


def test_a_row_without_calls_has_spent_nothing(server: OpenAIServer) -> None:
    result = evaluator(server.url).run(questions=["q"], contexts=[[]], predicted_answers=["A."])
    assert (result["usage"]["calls"], result["usage"]["prompt_tokens"], result["meta"]) == (0, None, None)
    assert server.calls == 0


@pytest.mark.parametrize(
    ("meta", "tokens"),
    [
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 4}}, (3, 4)),
        ({"usage": {"input_tokens": 3, "output_tokens": 4}}, (3, 4)),
        ({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}, (0, 0)),
        ({"usage": {"prompt_tokens": 3}}, None),
        ({"usage": {"prompt_tokens": None, "completion_tokens": 4}}, None),
        ({"usage": {"prompt_tokens": True, "completion_tokens": 4}}, None),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": 4}}, None),
        ({"usage": {}}, None),
        ({"usage": None}, None),
        ({"usage": 7}, None),
        ({}, None),
    ],
)
def test_tokens(meta: dict[str, Any], tokens: tuple[int, int] | None) -> None:
    assert tokens_of(meta) == tokens


def test_costs() -> None:
    assert cost_of("m", 1_000_000, 500_000, PRICES) == pytest.approx(6.0)
    assert cost_of("m-2026-01-31", 1_000_000, 500_000, PRICES, "m") == pytest.approx(6.0), "a dated version of it"
    assert cost_of("b", 1000, 0, {"a": {"input": 1.0, "output": 1.0}, "b": {"input": 2.0, "output": 1.0}}, "a") == 0.002
    assert cost_of("unheard-of", 1000, 0, PRICES) == pytest.approx(1.0)
    assert cost_of("unheard-of", 1000, 0, {"a": {"input": 1.0, "output": 1.0}}) is None
    assert cost_of(None, 1000, 0, None) is None
    assert estimated_tokens("word " * 800) == 8 + 1000
    assert estimated_tokens("東京都") == 8 + 3


@pytest.mark.parametrize(
    ("limit", "done"),
    [({"max_calls": 7}, 7), ({"max_calls": 0}, 0), ({"max_tokens": 1400}, None), ({"max_cost": 5.5 * COST}, None)],
    ids=str,
)
def test_a_spent_budget_leaves_rows_for_later(
    server: OpenAIServer, tmp_path: Path, limit: dict[str, Any], done: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "cache.sqlite")
    policy = replace(QUICK, cache_path=path, max_concurrency=2, prices=PRICES, **limit)
    expected = evaluator(server.url).run(**rows(20))["individual_scores"]
    server.change()
    result = evaluator(server.url, policy).run(**rows(20))
    (name, value) = next(iter(limit.items()))
    scored = [row for row, status in enumerate(result["statuses"]) if status == "scored"]
    assert len(scored) == server.calls
    assert 0 < server.calls < 20 or done == 0
    if done is not None:
        assert server.calls == done
    spent = {
        "max_calls": server.calls,
        "max_tokens": 110 * server.calls,
        "max_cost": COST * server.calls,
    }
    assert spent[name] <= value
    spent_budget = f"the budget is spent ({name} of {value})"
    for row in range(20):
        if row in scored:
            assert result["individual_scores"][row] == expected[row]
        else:
            assert result["statuses"][row] == result["results"][row]["status"] == "not_run"
            assert result["errors"][row] == f"{spent_budget}; with a cache_path a later run goes on from there"
            assert math.isnan(result["individual_scores"][row])
    assert sum("rows were not run (the budget is spent" in record.getMessage() for record in caplog.records) == 1
    again = evaluator(server.url, replace(policy, max_calls=None, max_tokens=None, max_cost=None)).run(**rows(20))
    assert again["individual_scores"] == expected
    assert server.calls == 20, "what was paid for is not asked again"


def test_retries_count_against_the_budget(server: OpenAIServer) -> None:
    server.change(lost=1.0, lost_to="500")
    result = evaluator(server.url, replace(QUICK, max_calls=4, max_concurrency=1), raise_on_failure=False).run(
        **rows(3)
    )
    assert server.calls == 4
    assert set(result["statuses"]) <= {"error", "not_run"}


def test_one_budget_for_several_evaluators(server: OpenAIServer) -> None:
    budget = Budget(max_calls=5)
    statuses = []
    for first in (0, 10):
        judged = evaluator(server.url)
        judged.budget = budget
        statuses += judged.run(**rows(4, first=first))["statuses"]
    assert statuses.count("not_run") == 3
    assert server.calls == 5


def test_calls_in_flight_count_with_an_estimate() -> None:
    budget = Budget(max_tokens=100)
    first = budget.reserve(60, None)
    with pytest.raises(NotRunError):
        budget.reserve(60, None)
    budget.settle(first, {"usage": {"prompt_tokens": 20, "completion_tokens": 10}})
    second = budget.reserve(60, None)
    budget.settle(second, None)  # a failed call cost nothing
    third = budget.reserve(70, None)
    budget.settle(third, {})  # nobody knows: the estimate counts
    with pytest.raises(NotRunError):
        budget.reserve(1, None)


def test_replies_that_tell_no_tokens_count_with_the_mean_of_those_that_do() -> None:
    budget = Budget(max_tokens=215)
    budget.settle(budget.reserve(50, None), {"usage": {"prompt_tokens": 50, "completion_tokens": 40}})
    budget.settle(budget.reserve(60, None), {})
    budget.reserve(25, None)  # 90 + 100 + 25
    with pytest.raises(NotRunError):
        budget.reserve(1, None)
    silent = Budget(max_cost=0.001, prices={"*": {"input": 0.0, "output": 100.0}})
    silent.settle(silent.reserve(60, "m"), {}, "word " * 8)  # about 18 tokens
    assert silent._cost == pytest.approx(18 * 100 / 1e6)


def test_a_reply_of_an_unknown_model_costs_what_the_asked_one_does() -> None:
    budget = Budget(max_cost=1.0, prices={"m": PRICES["m"]})
    budget.settle(budget.reserve(0, "m"), {"model": "x", "usage": {"prompt_tokens": 400_000, "completion_tokens": 0}})
    with pytest.raises(NotRunError):
        budget.reserve(100_001, "m")


@pytest.mark.parametrize(("model", "named"), [("m", "the model 'm'"), (None, "a generator that names no model")])
def test_a_limit_of_cost_without_a_price_is_refused_before_any_call(model: str | None, named: str) -> None:
    class Asked:
        def __init__(self) -> None:
            self.model = model

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            raise AssertionError

    prices = {"another": {"input": 1.0, "output": 1.0}}
    judged = FaithfulnessEvaluator(chat_generator=Asked(), policy=replace(QUICK, max_cost=1.0, prices=prices))
    with pytest.raises(ValueError, match=f"max_cost needs a price for {named}"):
        judged.run(**rows(1))
    judged = FaithfulnessEvaluator(chat_generator=Asked(), policy=QUICK)
    judged.budget = Budget(max_cost=1.0, prices=prices)
    with pytest.raises(ValueError, match=f"max_cost needs a price for {named}"):
        judged.run(**rows(1))
    for nothing in NO_PRICES:
        with pytest.raises(ValueError, match="max_cost needs prices"):
            replace(QUICK, max_cost=1.0, prices=nothing)


def test_a_budget_of_several_runs_leaves_each_its_own(server: OpenAIServer) -> None:
    together = Budget(max_calls=5)
    done: list[int] = []
    for own in (3, None):
        judged = evaluator(server.url, replace(QUICK, max_calls=own))
        judged.budget = together
        done.append(judged.run(**rows(4, first=len(done) * 4))["statuses"].count("scored"))
    assert done == [3, 2]
    assert server.calls == 5


@pytest.mark.parametrize("told", [float("inf"), float("nan"), 10**400, -1, "7"])
def test_odd_numbers_of_tokens_are_unknown_ones(told: Any) -> None:
    class Odd:
        model = "m"

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            meta = {"model": "m", "usage": {"prompt_tokens": told, "completion_tokens": 1}}
            return {"replies": [ChatMessage.from_assistant('{"s1": 1, "s2": 1}', meta=meta)]}

    policy = replace(QUICK, prices=PRICES, max_cost=1.0)
    result = FaithfulnessEvaluator(chat_generator=Odd(), policy=policy).run(**rows(2))
    assert result["statuses"] == ["scored"] * 2
    assert (result["usage"]["replies_without_tokens"], result["usage"]["cost"]) == (2, None)


@component
class Voter:
    """Verdicts on two statements, one reply a vote, and the seed of each."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.generation_kwargs = {"seed": 40}
        self.seeds: list[int] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], generation_kwargs: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: ARG002
        self.seeds.append((generation_kwargs or {}).get("seed", 40))
        return {"replies": [ChatMessage.from_assistant(self.replies.pop(0))]}


def voted(votes: int, *replies: str) -> tuple[dict[str, Any], Voter]:
    voter = Voter(*replies)
    policy = replace(QUICK, votes=votes, structured_output="text", max_concurrency=1)
    judged = FaithfulnessEvaluator(chat_generator=voter, policy=policy, raise_on_failure=False)
    return judged.run(questions=["q"], contexts=[["c"]], predicted_answers=["One is. Two is."]), voter


@pytest.mark.parametrize(
    ("votes", "scores", "agreement"),
    [
        (["11", "11", "11"], [1, 1], 1.0),
        (["11", "10", "00"], [1, 0], 2 / 3),
        (["10", "10", "11"], [1, 0], (1 + 2 / 3) / 2),
        (["11", "00"], [0, 0], 0.5),  # a tie: the lower verdict
        (["11", "11", "00", "00"], [0, 0], 0.5),
        (["11", "11", "11", "00", "01"], [1, 1], (3 / 5 + 4 / 5) / 2),
    ],
)
def test_the_majority_of_the_votes_counts(votes: list[str], scores: list[int], agreement: float) -> None:
    replies = [json.dumps({"s1": int(first), "s2": int(second)}) for first, second in map(tuple, votes)]
    result, voter = voted(len(votes), *replies)
    assert result["results"][0]["statement_scores"] == scores
    assert result["results"][0]["agreement"] == pytest.approx(agreement)
    assert result["usage"]["calls"] == len(votes)
    assert sorted(voter.seeds) == [40 + vote for vote in range(len(votes))]


def test_one_vote_has_no_agreement() -> None:
    assert "agreement" not in voted(1, '{"s1": 1, "s2": 0}')[0]["results"][0]


def test_three_votes_make_three_calls(server: OpenAIServer) -> None:
    result = evaluator(server.url, replace(QUICK, votes=3)).run(**rows(5))
    assert server.calls == 15
    assert [row["usage"]["calls"] for row in result["results"]] == [3] * 5
    assert [row["agreement"] for row in result["results"]] == [1.0] * 5


@pytest.mark.parametrize("votes", [1, 3])
def test_a_plan_is_what_a_run_asks(server: OpenAIServer, tmp_path: Path, votes: int) -> None:
    policy = replace(QUICK, votes=votes, cache_path=str(tmp_path / "cache.sqlite"), prices=PRICES)
    judged = evaluator(server.url, policy)
    inputs = {socket: [*values, values[0]] for socket, values in rows(6).items()}  # two rows are the same
    inputs["contexts"][5] = []  # and one needs no judge
    plan = judged.plan(**inputs)
    assert (plan.rows, plan.calls, plan.cached, plan.exact) == (7, 5 * votes, 0, True)
    assert server.calls == 0
    assert not (tmp_path / "cache.sqlite").exists(), "a plan leaves nothing behind"
    judged.run(**inputs)
    assert server.calls == plan.calls
    later = judged.plan(**inputs)
    assert (later.calls, later.cached, later.prompt_tokens, later.prompt_cost) == (0, 5 * votes, 0, 0.0)
    more = judged.plan(**{socket: [*values, *rows(1, first=50)[socket]] for socket, values in inputs.items()})
    assert (more.calls, more.cached) == (votes, 5 * votes)


def test_a_plan_of_two_steps_is_a_bound(server: OpenAIServer) -> None:
    plan = evaluator(server.url, statements="extracted").plan(**rows(4))
    assert (plan.calls, plan.exact) == (8, False)


def test_the_tokens_of_a_plan(server: OpenAIServer) -> None:
    plan = evaluator(server.url, replace(QUICK, prices={"m": {"input": 3.0, "output": 9.0}})).plan(**rows(4))
    evaluator(server.url).run(**rows(4))
    sent = sum(len(message["content"]) for body in server.bodies for message in body["messages"])
    assert plan.prompt_tokens == pytest.approx(sent / 4, abs=4 * 10)
    assert plan.prompt_cost == pytest.approx(3.0 * plan.prompt_tokens / 1e6)


def test_a_plan_reads_offline_policies_and_bad_input_too(server: OpenAIServer, tmp_path: Path) -> None:
    offline = replace(QUICK, offline=True, cache_path=str(tmp_path / "none.sqlite"))
    assert evaluator(server.url, offline).plan(**rows(2)).calls == 2
    with pytest.raises(ValueError, match="contexts"):
        evaluator(server.url).plan(**{**rows(2), "contexts": [["c"]]})
