# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a judge's service refuses: told with its own identifiers and a repair, and not met again row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from haystack.components.generators.chat import FallbackChatGenerator
from haystack.dataclasses import ChatMessage

from haystack_eval_ext import ContextPrecisionEvaluator, FaithfulnessEvaluator, RefusalEvaluator
from haystack_eval_ext._said import said_by
from haystack_eval_ext.judged._failures import classify
from judged_rows import QUICK, evaluator, judge, rows
from openai_faults import ERRORS, OTHER_FORMS, PROXY, SILENT, WRITTEN
from openai_server import OpenAIServer

THREE = replace(QUICK, max_attempts=3)
INVALID = "type invalid_request_error"
CHANGE_IT = "the service refuses this parameter or its value: change it in the generator's generation_kwargs"
TOO_LONG = "the request is too long for the model: take a model with a longer context"
FILTER = "change the settings of the service's content filter"
PERHAPS = "perhaps the request is too long for the model, or the server takes none of its parameters"
KEY = "the service does not accept the key: check the key and the account"
QUOTA = "the account has no quota or credit left: check its plan and billing"
ADDRESS = "check the generator's model and address"
THOUGHTS = "the judge gave thoughts and no answer, twice; raise the generator's max_tokens, or switch"
#: What a judge that always answers so costs a row that may take three attempts, and why the row has no score.
KINDS: dict[str, tuple[int, str | None]] = {
    "429": (3, "HTTP 429 (RateLimitError), code rate_limit_exceeded in 3 attempts"),
    "429-bare": (3, "HTTP 429 (RateLimitError), code rate_limit_exceeded in 3 attempts"),
    "quota": (1, f"HTTP 429 (RateLimitError), code insufficient_quota; {QUOTA}"),
    "400": (3, f"HTTP 400 (BadRequestError), code invalid_request_error; {PERHAPS}"),
    "400-schema": (3, None),
    "400-page": (3, f"HTTP 400 (BadRequestError); {PERHAPS}"),
    "param": (1, f"HTTP 400 (BadRequestError), code unsupported_value, parameter temperature, {INVALID}; {CHANGE_IT}"),
    "param-name": (
        1,
        f"HTTP 400 (BadRequestError), code unsupported_parameter, parameter max_tokens, {INVALID}; {CHANGE_IT}",
    ),
    "param-extra": (1, f"HTTP 422 (UnprocessableEntityError), code extra_forbidden, parameter seed; {CHANGE_IT}"),
    "too-long": (
        1,
        f"HTTP 400 (BadRequestError), code context_length_exceeded, parameter messages, {INVALID}; {TOO_LONG}",
    ),
    "413": (1, f"HTTP 413 (APIStatusError), type request_too_large; {TOO_LONG}"),
    "filter": (
        1,
        "HTTP 400 (BadRequestError), code content_filter / ResponsibleAIPolicyViolation, parameter prompt; " + FILTER,
    ),
    "401": (1, f"HTTP 401 (AuthenticationError), code invalid_api_key; {KEY}"),
    "402": (1, f"HTTP 402 (APIStatusError); {QUOTA}"),
    "403": (1, f"HTTP 403 (PermissionDeniedError), code forbidden; {KEY}"),
    "404": (
        1,
        "HTTP 404 (NotFoundError), code model_not_found; the service does not know this model: check the generator's",
    ),
    "404-page": (1, f"HTTP 404 (NotFoundError); {ADDRESS}"),
    "408": (3, "HTTP 408 (APIStatusError) in 3 attempts"),
    "409": (3, "HTTP 409 (ConflictError), code conflict in 3 attempts"),
    "425": (3, "HTTP 425 (APIStatusError) in 3 attempts"),
    "500": (3, "HTTP 500 (InternalServerError), code server_error in 3 attempts"),
    "501": (3, "HTTP 501 (InternalServerError), code not_implemented in 3 attempts"),
    "502": (3, "HTTP 502 (InternalServerError) in 3 attempts"),
    "503": (3, "HTTP 503 (InternalServerError), code overloaded in 3 attempts"),
    "504": (3, "HTTP 504 (InternalServerError) in 3 attempts"),
    "529": (3, "HTTP 529 (InternalServerError), type overloaded_error in 3 attempts"),
    "no-choices": (3, "an error 502 in an answer with HTTP 200 (TypeError) in 3 attempts"),
    "late-429": (3, "an error 429 in an answer with HTTP 200 (TypeError) in 3 attempts"),
    "late-404": (1, f"an error 404 in an answer with HTTP 200 (TypeError); {ADDRESS}"),
    "null-choices": (3, "a completion without choices (TypeError) in 3 attempts"),
    "null-message": (3, "a completion without a message (AttributeError) in 3 attempts"),
    "parts": (3, "unreadable reply in 3 attempts: it was no text"),
    "number": (3, "unreadable reply in 3 attempts: it was no text"),
    "page": (3, "a web page in place of JSON, as of a proxy or at a wrong address (AttributeError) in 3 attempts"),
    "no-json": (3, "a web page in place of JSON, as of a proxy or at a wrong address (JSONDecodeError) in 3 attempts"),
    "no-utf8": (3, "an answer that is no text in UTF-8 (UnicodeDecodeError) in 3 attempts"),
    "no-content": (3, "an answer without content (JSONDecodeError) in 3 attempts"),
    "void": (3, "an answer without content (JSONDecodeError) in 3 attempts"),
    "counts": (2, None),
    "malformed": (3, "unreadable reply in 3 attempts: its JSON was cut off"),
    "length": (2, "the reply was cut off at the token limit; raise the generator's max_tokens"),
    "filtered": (1, f"the service refused to reply (content filter); {FILTER}"),
    "null-content": (3, "unreadable reply in 3 attempts: it was empty"),
    "empty": (3, "unreadable reply in 3 attempts: it was empty"),
    "thoughts": (2, THOUGHTS),
    "thoughts-cut": (2, THOUGHTS),
    "tags": (2, THOUGHTS),
    "prose": (3, "unreadable reply in 3 attempts: it held no JSON object"),
    "contradiction": (3, "unreadable reply in 3 attempts: it held several answers that contradict each other"),
    "unknown-verdict": (3, "unreadable reply in 3 attempts: a verdict was none of 1, 0"),
    **dict.fromkeys(OTHER_FORMS, (1, None)),
    "hang": (3, "TimeoutError in 3 attempts"),
    "drop": (3, "APIConnectionError in 3 attempts"),
}
#: Those that the same request meets again.
FINAL = [
    "404", "404-page", "late-404", "param", "param-name", "param-extra", "too-long", "413", "filter", "filtered",
    "length",
]  # fmt: skip
#: Those that refuse the account.
ACCOUNT = ["401", "402", "403", "quota"]
#: Those that another attempt need not meet; "400-page" is met in each format.
PASSING = [kind for kind in KINDS if kind not in (*FINAL, *ACCOUNT, "400-page")]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def test_the_table_has_every_kind() -> None:
    assert set(KINDS) == {*ERRORS, *PROXY, *WRITTEN, *OTHER_FORMS, *SILENT}
    assert len(PASSING) >= 30


def test_each_kind_alone_has_its_words_and_its_price(server: OpenAIServer) -> None:
    one = judge(server.url)
    expected = evaluator(server.url, THREE, chat_generator=one).run(**rows(1, first=1))["results"][0][
        "statement_scores"
    ]
    assert expected == [0, 1]
    for kind, (calls, reason) in KINDS.items():
        server.change(lost=1.0, lost_to=kind)
        policy = replace(THREE, timeout=0.3) if kind == "hang" else THREE
        evaluated = evaluator(server.url, policy, raise_on_failure=False, chat_generator=one)
        result = evaluated.run(**rows(1, first=1))
        assert (kind, server.calls) == (kind, calls)
        (error,) = result["errors"]
        assert result["statuses"] == ["scored" if reason is None else "error"], kind
        if reason is None:
            assert result["results"][0]["statement_scores"] == expected, kind
        else:
            assert error.startswith(reason), kind
            assert "Statement" not in error


def check_mixed(server: OpenAIServer, seed: int, number: int, silent: tuple[str, ...] = SILENT) -> None:
    """Nothing is scored wrongly, nothing has no cause, and all that another attempt can save is saved."""
    sound = evaluator(server.url).run(**rows(number))
    kinds = [kind for kind in PASSING if kind not in SILENT]
    faults = {**dict.fromkeys(silent, 0.01), **dict.fromkeys(kinds, 0.9 / len(kinds))}
    server.change(seed=seed, faults=faults, most_faults=1, lost=0.1, lost_to=" ".join(FINAL))
    policy = replace(QUICK, timeout=2.0) if "hang" in silent else QUICK
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(number))
    causes = tuple(str(KINDS[kind][1]) for kind in FINAL)
    for row, (status, error) in enumerate(zip(result["statuses"], result["errors"], strict=True)):
        if status == "scored":
            assert result["results"][row]["statement_scores"] == sound["results"][row]["statement_scores"]
            assert error is None
        else:
            assert status == "error"
            assert error.startswith(causes), error
    assert result["statuses"].count("error") <= 0.2 * number
    assert result["usage"]["calls"] == server.calls


def test_kinds_mixed(server: OpenAIServer) -> None:
    check_mixed(server, 1, 40, silent=("drop",))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
def test_more_than_thirty_kinds_mixed(server: OpenAIServer, seed: int) -> None:
    check_mixed(server, seed, 200)
    assert len(server.met) >= 30


@pytest.mark.parametrize("in_flight", [1, 16])
@pytest.mark.parametrize("kind", ["404", "404-page", "late-404", "param", "param-name", "param-extra"])
def test_a_cause_that_every_row_shares_stops_the_run(server: OpenAIServer, kind: str, in_flight: int) -> None:
    server.change(lost=1.0, lost_to=kind)
    policy = replace(QUICK, max_concurrency=in_flight)
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(200))
    assert server.calls <= 2 * in_flight
    assert result["statuses"] == ["error"] * 200
    asked, not_asked = result["errors"][0], result["errors"][-1]
    assert asked.startswith(str(KINDS[kind][1]))
    assert not_asked == f"not asked, since no request was answered and each failed alike: {asked}"


@pytest.mark.parametrize("kind", ["too-long", "413", "filter", "filtered"])
def test_a_cause_of_single_rows_never_stops_a_run(server: OpenAIServer, kind: str) -> None:
    server.change(lost=1.0, lost_to=kind)
    policy = replace(QUICK, max_concurrency=2)
    evaluator(server.url, policy, raise_on_failure=False).run(**rows(20))
    assert server.calls == 20


@pytest.mark.parametrize("kind", ["404", "param"])
def test_what_was_answered_before_shows_that_a_cause_is_not_shared(server: OpenAIServer, kind: str) -> None:
    server.change(lost=0.8, lost_to=kind, seed=3)
    policy = replace(QUICK, max_concurrency=1)
    data, one = rows(30), judge(server.url)
    alone = evaluator(server.url, policy, raise_on_failure=False, chat_generator=one)
    statuses = [alone.run(**{name: values[n : n + 1] for name, values in data.items()})["statuses"] for n in range(30)]
    first = statuses.index(["scored"])
    ordered = {name: [values[first], *values] for name, values in data.items()}
    result = evaluator(server.url, policy, raise_on_failure=False).run(**ordered)
    assert not any(error and error.startswith("not asked") for error in result["errors"])


def test_an_unexplained_refusal_rules_out_no_shorter_request(server: OpenAIServer) -> None:
    """It may have been too long."""
    server.change(lost=1.0, lost_to="400")
    policy = replace(QUICK, max_concurrency=1, structured_output="text")
    data = rows(30)
    data["questions"] = [f"Question {n}? {'Why? ' * 40}" for n in range(29)] + ["Why?"]
    data["predicted_answers"] = ["It is so."] * 30
    result = evaluator(server.url, policy, raise_on_failure=False).run(**data)
    not_asked = [error.startswith("not asked") for error in result["errors"]]
    assert sum(not_asked) > 10
    assert not_asked[-1] is False
    assert server.calls == 30 - sum(not_asked)


def error_with(cause: Exception | None = None, **attributes: Any) -> Exception:
    """An exception of some client."""
    error = RuntimeError("You sent: a secret")
    for name, value in attributes.items():
        setattr(error, name, value)
    error.__cause__ = cause
    return error


class Response:
    """What a client's exception may hold."""

    def __init__(self, body: Any, status: int = 400) -> None:
        self.status_code, self.body = status, body

    def json(self) -> Any:
        if isinstance(self.body, Exception):
            raise self.body
        return self.body


class GuardedError(Exception):
    """Its properties raise what no client should."""

    type = "a_type"

    @property
    def response(self) -> Any:
        raise RuntimeError

    body = code = response


def body(**error: Any) -> dict[str, Any]:
    """As services write it."""
    return {"error": {"message": "You sent: a secret", **error}}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (error_with(code="a_code", param="a_param", type="a_type"), ", code a_code, parameter a_param, type a_type"),
        (error_with(body=body(code="c1", param="p")), ", code c1, parameter p"),
        (error_with(body={"code": "c1"}), ", code c1"),
        (error_with(response=Response(body(code="c1", type="t1"))), ", code c1, type t1"),
        (error_with(response=Response(body(code="c", innererror={"code": "Inner"}))), ", code c / Inner"),
        (error_with(response=Response([body(status="INVALID_ARGUMENT", code=400)])), ", code INVALID_ARGUMENT"),
        (error_with(response={"Error": {"Code": "ValidationException", "Message": "m"}}), ", code ValidationException"),
        (error_with(response=Response(ValueError("no JSON"))), ""),
        (GuardedError("You sent: a secret"), ", type a_type"),
        (error_with(error_with(body=body(code="c1"))), ", code c1"),
        (error_with(error_with(error_with(type="not_found_error"))), ", type not_found_error"),
        # Neither free text, nor what is as long as a text, nor keys and numbers of accounts.
        (error_with(code="You sent: a secret", param=["a"], type={"b": 1}), ""),
        (error_with(code="x" * 65, param="", type="\u30b3\u30fc\u30c9"), ""),
        (error_with(code="sk-proj-0123456789", param="user_1234567", type="line\nbreak"), ""),
        (error_with(code=400, param=3, type=None), ""),
        (RuntimeError("You sent: a secret"), ""),
    ],
)
def test_identifiers_are_shown_and_nothing_else(error: Exception, words: str) -> None:
    assert str(said_by(error)) == words
    assert "secret" not in classify(error, served_before=False).reason


class Completion:
    """What a client made of an answer."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


WHOLE = Completion(choices=[Completion(message=Completion(content="1"))])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Completion(choices=None), "a completion without choices (TypeError)"),
        (Completion(choices=[]), "a completion without choices (TypeError)"),
        (Completion(choices=[Completion(message=None)]), "a completion without a message (TypeError)"),
        (Completion(choices=None, error={"code": 502}), "an error 502 in an answer with HTTP 200 (TypeError)"),
        ("<html>You sent: a secret", "a web page in place of JSON, as of a proxy or at a wrong address (TypeError)"),
        ("You sent: a secret", "an answer that is no JSON (TypeError)"),
        (" ", "an answer without content (TypeError)"),
        # Nothing is wrong with the answer: then it is the generator.
        (WHOLE, "TypeError"),
        (None, "TypeError"),
    ],
)
def test_an_answer_over_which_a_generator_stumbles_is_named(answer: Any, reason: str) -> None:
    def stumble(chat_completion: Any) -> None:
        raise TypeError(str(type(chat_completion)))

    with pytest.raises(TypeError) as caught:
        stumble(answer)
    failure = classify(caught.value, served_before=False)
    assert (failure.reason, failure.passing) == (reason, True)
    assert failure.odd == (reason == "TypeError")


def test_the_text_of_a_reply_is_no_odd_answer() -> None:
    def stumble(response: str) -> None:
        raise TypeError(response)

    with pytest.raises(TypeError) as caught:
        stumble("<b>A reply.</b>")
    assert classify(caught.value, served_before=False).odd


def test_the_status_of_amazons_clients_is_read() -> None:
    """Theirs is in a dictionary, and what wraps them has none."""
    said = {"Error": {"Code": "ValidationException", "Message": "m"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    failure = classify(error_with(error_with(response=said)), served_before=False)
    assert failure.reason == f"HTTP 400 (RuntimeError), code ValidationException; {PERHAPS}"
    said = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 429}}
    assert classify(error_with(response=said), served_before=False).limited


@pytest.mark.parametrize("asynchronous", [False, True])
def test_of_a_fallback_it_is_said_who_failed_and_what_the_last_one_met(asynchronous: bool) -> None:
    class Dead:
        def run(self, messages: list[ChatMessage], **_: Any) -> dict[str, Any]:  # noqa: ARG002
            raise error_with(status_code=404, code="model_not_found")

    class Down(Dead):
        def run(self, messages: list[ChatMessage], **_: Any) -> dict[str, Any]:  # noqa: ARG002
            raise ConnectionError

    fallback: Any = FallbackChatGenerator([Down(), Dead()])
    if not asynchronous:
        fallback.run_async = None
    policy = replace(QUICK, max_attempts=2)
    result = FaithfulnessEvaluator(chat_generator=fallback, policy=policy, raise_on_failure=False).run(**rows(1))
    (error,) = result["errors"]
    assert error.startswith(
        "RuntimeError (Down, Dead failed, the last one with HTTP 404 (RuntimeError), code model_not"
    )
    assert error.endswith("the service does not know this model: check the generator's model) in 2 attempts")


class Written:
    """A judge that always gives one message."""

    def __init__(self, message: ChatMessage) -> None:
        self.message = message
        self.calls = 0

    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
        self.calls += 1
        return {"replies": [self.message]}


USAGE = {"prompt_tokens": 10, "completion_tokens": 900}


@pytest.mark.parametrize(
    ("message", "calls", "reason"),
    [
        (ChatMessage.from_assistant(None, reasoning="Let me see."), 2, THOUGHTS),
        (ChatMessage.from_assistant("", reasoning="Let me see."), 2, THOUGHTS),
        (ChatMessage.from_assistant("", meta={"reasoning_content": "Let me see."}), 2, THOUGHTS),
        (ChatMessage.from_assistant("", meta={"usage": USAGE}), 2, THOUGHTS),
        (ChatMessage.from_assistant("", meta={"finish_reason": "length"}), 2, THOUGHTS),
        (ChatMessage.from_assistant(None, meta={"stop_reason": "max_tokens"}), 2, THOUGHTS),
        (ChatMessage.from_assistant("<think>Let me", meta={"finish_reason": "length"}), 2, THOUGHTS),
        (ChatMessage.from_assistant("{", meta={"stop_reason": "max_tokens"}), 1, "the reply was cut off"),
        (ChatMessage.from_assistant("{", meta={"done_reason": "length"}), 1, "the reply was cut off"),
        (ChatMessage.from_assistant(""), 3, "unreadable reply in 3 attempts: it was empty"),
        (ChatMessage.from_assistant(None), 3, "unreadable reply in 3 attempts: it was empty"),
        (ChatMessage.from_assistant("", meta={"usage": {**USAGE, "completion_tokens": 1}}), 3, "unreadable reply"),
    ],
)
def test_replies_that_ended_too_early(message: ChatMessage, calls: int, reason: str) -> None:
    generator = Written(message)
    judged = FaithfulnessEvaluator(chat_generator=generator, policy=THREE, raise_on_failure=False)
    (error,) = judged.run(**rows(1))["errors"]
    assert error.startswith(reason)
    assert generator.calls == calls


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Verdict: 1", 1), ("**Verdict:** No.", 0), ("score = 0", 0), ("Verdict：１", 1), ('{"verdict": 1}', 1),
        ('{"reason": "It is so.", "Verdict": "no"}', 0), ("<think>1 or 0?</think>Verdict: 0", 0),
        ("Verdict: 1\nVerdict: 0", None), ("Verdict: perhaps", None), ("Note: 1", None),
        ('{"verdict": 1, "score": 0}', None),
        ('{"s1": 1, "verdict": 0}', None), ('{"s1": 1, "verdict": "yes"}', 1),
        ("Verdict: 1, or rather 0", None),
    ],
)  # fmt: skip
def test_a_verdict_without_an_id_where_one_is_asked_for(text: str, verdict: int | None) -> None:
    generator = Written(ChatMessage.from_assistant(text))
    judged = FaithfulnessEvaluator(chat_generator=generator, policy=THREE, raise_on_failure=False)
    (result,) = judged.run(**rows(1))["results"]
    assert result["statement_scores"] == ([] if verdict is None else [verdict])


@pytest.mark.parametrize(
    ("word", "verdict"), [("supported", 1), ("Not supported.", 0), ("unsupported", 0), ("partly supported", None)]
)
def test_supported_is_a_verdict_on_statements_alone(word: str, verdict: int | None) -> None:
    generator = Written(ChatMessage.from_assistant(f'{{"verdicts": {{"s1": "{word}", "a1": "{word}"}}}}'))
    judged = FaithfulnessEvaluator(chat_generator=generator, policy=THREE, raise_on_failure=False)
    assert judged.run(**rows(1))["results"][0]["statement_scores"] == ([] if verdict is None else [verdict])
    refusal = RefusalEvaluator(chat_generator=generator, policy=THREE, raise_on_failure=False)
    assert refusal.run(questions=["q"], predicted_answers=["a"])["statuses"] == ["error"]


@pytest.mark.parametrize(("word", "score"), [("relevant", 1.0), ("Not relevant.", 0.0), ("irrelevant", 0.0)])
def test_relevant_is_a_verdict_on_contexts(word: str, score: float) -> None:
    generator = Written(ChatMessage.from_assistant(f'{{"verdicts": {{"c1": "{word}"}}}}'))
    judged = ContextPrecisionEvaluator(chat_generator=generator, policy=THREE)
    found = judged.run(questions=["q"], contexts=[["c"]], ground_truth_answers=["a"])
    assert found["individual_scores"] == [score]


def test_a_generator_that_asks_for_several_replies_is_refused() -> None:
    several = judge("http://127.0.0.1:9/v1", generation_kwargs={"n": 3})
    one = judge("http://127.0.0.1:9/v1", generation_kwargs={"n": 1})
    FaithfulnessEvaluator(chat_generator=one)
    for generator in (several, FallbackChatGenerator([one, several])):
        with pytest.raises(ValueError, match=r"asks for n=3 replies in each call, .* set policy\.votes to 3"):
            FaithfulnessEvaluator(chat_generator=generator)


@pytest.mark.parametrize("has", [{"warm_up_async"}, {"warm_up"}, {"warm_up", "warm_up_async"}, set()])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_generator_is_warmed_up_by_what_it_has(has: set[str], asynchronous: bool) -> None:
    class Cold:
        warm = ""

        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant('{"s1": 1}')]}

    async def run_async(self: Any, messages: list[ChatMessage]) -> dict[str, Any]:
        result: dict[str, Any] = self.run(messages)
        return result

    async def warm_up_async(self: Any) -> None:
        self.warm += "warm_up_async"

    def warm_up(self: Any) -> None:
        self.warm += "warm_up"

    methods = {"warm_up": warm_up, "warm_up_async": warm_up_async}
    more = {name: methods[name] for name in has} | ({"run_async": run_async} if asynchronous else {})
    generator: Any = type("Warmed", (Cold,), more)()
    assert FaithfulnessEvaluator(chat_generator=generator, policy=THREE).run(**rows(1))["score"] == 1.0
    preferred = sorted(has, reverse=asynchronous)
    assert generator.warm == (preferred[0] if preferred else "")
