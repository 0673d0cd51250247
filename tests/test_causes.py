# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Causes: what another program said is shown and kept, by the phase in which it said it; and never unsafe to print."""

from __future__ import annotations

import json
import logging
import os
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from haystack import Pipeline, component, default_to_dict
from haystack.components.builders import PromptBuilder
from haystack.components.generators.chat import FallbackChatGenerator, OpenAIChatGenerator
from haystack.components.joiners import BranchJoiner
from haystack.components.routers import ConditionalRouter
from haystack.utils import Secret
from typer.testing import CliRunner

from haystack_eval_ext import (
    AnswerEmbeddingSimilarityEvaluator,
    AnswerExactMatchEvaluator,
    FaithfulnessEvaluator,
    JudgePolicy,
)
from haystack_eval_ext._foreign import LONGEST, learn_secrets, repeated
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import TargetError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._faults import texts_wanted

WORD = "zebra-crossing"
BUILDER = "haystack.components.builders.prompt_builder.PromptBuilder"
QUOTING = "test_causes.Quoting"
SHOWN_HEADERS = "{'authorization': 'Bearer ***', 'x-api-key': ***}"
MODULES = {
    "causes_import": "from haystack import NoSuchPipeline",
    "causes_module": f"raise RuntimeError('{WORD}')",
    "causes_exit": f"raise SystemExit('{WORD}')",
    "causes_make": f"def make():\n    raise OSError('{WORD}')",
    "causes_question": f"def ask(question):\n    raise ValueError('{WORD}: ' + question)",
    "causes_named": f"def ask(question):\n    raise ImportError('{WORD}: ' + question)",
    "causes_ours": (
        "from haystack_eval_ext import DocumentRankingEvaluator\n"
        f"def ask(question):\n    return DocumentRankingEvaluator(measures=['{WORD}: ' + question])"
    ),
    "causes_sound": "def ask(question):\n    return {'answer': question}",
}
FILES = {
    "unmade.yaml": f"components: {{c: {{type: {BUILDER}, init_parameters: {{template: '{{{{ {WORD} ! '}}}}}}",
    "cold.yaml": "components: {theirs: {type: test_causes.Cold}}",
    "quoting.yaml": f"components: {{theirs: {{type: {QUOTING}}}}}",
    "exact.yaml": "components: {exact: {type: haystack_eval_ext.answers.answer_exact_match.AnswerExactMatchEvaluator}}",
}


@component
class Quoting:
    """A metric of somebody else, which quotes the data when it fails."""

    @component.output_types(score=float, individual_scores=list[float])
    def run(self, questions: list[str]) -> dict[str, Any]:
        """
        Fail.

        :param questions: Quoted.
        :returns: Nothing.
        :raises ValueError: Always.
        """
        msg = f"{WORD}: {questions[0]}"
        raise ValueError(msg)


@component
class Cold:
    """A component that cannot be made ready."""

    def warm_up(self) -> None:
        """
        Fail.

        :raises RuntimeError: Always.
        """
        raise RuntimeError(WORD)

    @component.output_types(answers=list[str])
    def run(self, query: str) -> dict[str, Any]:
        """
        Answer.

        :param query: The question.
        :returns: It.
        """
        return {"answers": [query]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "test_causes")
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    row = {"question": "Why?", "answer": "So.", "reference_answer": "Why?"}
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"id": f"q{n}"} | row) + "\n" for n in range(3)), "utf-8")
    return tmp_path


def call(line: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join((result.stdout + result.stderr).split())


SET_UP = [
    ("run exact.yaml --data q.jsonl --rag causes_import:x", "ImportError: cannot import name 'NoSuchPipeline' from"),
    ("run exact.yaml --data q.jsonl --rag causes_module:x", f"RuntimeError: {WORD}. Raised at causes_module:1."),
    ("run exact.yaml --data q.jsonl --rag causes_exit:x", f"SystemExit: {WORD}. Raised at causes_exit:1."),
    ("run exact.yaml --data q.jsonl --rag causes_make:make", f"OSError: {WORD}. Raised at causes_make:2."),
    ("run exact.yaml --data q.jsonl --rag unmade.yaml", "'c' (PromptBuilder) cannot be made: TemplateSyntaxError: "),
    ("run exact.yaml --data q.jsonl --rag cold.yaml", f"cannot be warmed up: RuntimeError: {WORD}."),
    ("run unmade.yaml --data q.jsonl", "'c' (PromptBuilder) cannot be made: TemplateSyntaxError: "),
    ("plan unmade.yaml --data q.jsonl", "'c' (PromptBuilder) cannot be made: TemplateSyntaxError: "),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("texts", ["", " --out run --no-texts"], ids=["texts", "no texts"])
@pytest.mark.parametrize(("line", "message"), SET_UP)
def test_set_up_faults_show_their_message_always(line: str, message: str, texts: str) -> None:
    code, said = call(line + (texts if line.startswith("run") else ""))
    assert code == 2
    assert message in said
    assert "--debug" not in said


QUESTION = [
    # Every question fails, and the run with it.
    ("run exact.yaml --data q.jsonl --rag causes_question:ask", 2, "The first: ValueError", "answers.jsonl", 3),
    ("run exact.yaml --data q.jsonl --rag causes_question:ask --max-failures 0", 2, "The last: ValueError", "", 0),
    ("run exact.yaml --data q.jsonl --rag causes_named:ask", 2, "The first: ImportError", "answers.jsonl", 3),
    ("run exact.yaml --data q.jsonl --rag causes_ours:ask", 2, "The first: ", "answers.jsonl", 3),
    ("run quoting.yaml --data q.jsonl", 2, "theirs (Quoting): ", "", 0),
    ("run quoting.yaml --data q.jsonl --rag causes_sound:ask", 2, "theirs (Quoting): ", "", 0),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("line", "code", "start", "file", "times"), QUESTION)
def test_faults_at_questions_are_shown_and_kept_with_texts_alone(
    line: str, code: int, start: str, file: str, times: int
) -> None:
    found, said = call(f"{line} --out run")
    assert found == code
    assert f"{WORD}: Why?" in said
    assert start in said
    assert not file or (Path("run") / file).read_text("utf-8").count(f"{WORD}: Why?") == times
    found, said = call(f"{line} --out bare --no-texts")
    assert found == code
    assert "Error" in said
    assert WORD not in said
    found, said = call(f"{line} --out debugged --no-texts --debug")
    assert found == code
    assert "in ask" in said or "in run" in said
    assert WORD not in said
    # A run that is not finished holds the questions; what was said at them is left out even so.
    assert all(WORD not in path.read_text("utf-8") for path in Path("bare").glob("*"))


def test_the_log_has_no_traceback_without_texts(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"id": "q", "question": WORD, "reference_answer": "a"}]
    caplog.set_level(logging.DEBUG, "haystack_eval_ext")
    for texts in (True, False):
        caplog.clear()
        with texts_wanted(texts), pytest.raises(ValueError, match="The first: "):
            api.run_rag("exact.yaml", rows, failing, out=folder / str(texts), progress=False)
        assert (WORD in caplog.text) is texts


def test_the_status_of_a_service_is_told_whatever_its_client_raises() -> None:
    class RefusedError(Exception):
        response = SimpleNamespace(status_code=429)

    def ask(question: str) -> str:
        try:
            raise RefusedError  # noqa: TRY301
        except RefusedError:
            raise RuntimeError(question)  # noqa: B904 - as clients do

    with pytest.raises(ValueError, match="The service answered 429"):
        api.run_rag({"q": Quoting()}, [{"id": "q", "question": "Why?"}], ask, progress=False)


def test_no_key_is_in_the_error_of_a_model_that_cannot_be_prepared() -> None:
    said = "\x1b[31mIncorrect API key: sk-proj-abcdef123456789xyz\x1b[0m"

    class Model:
        def warm_up(self) -> None:
            raise RuntimeError(said)

        def run(self, messages: list[Any]) -> dict[str, Any]:
            return {"replies": messages}

    class Embedder(Model):
        def run(self, text: str) -> dict[str, Any]:  # type: ignore[override]
            return {"embedding": [float(len(text))]}

    evaluators: list[Any] = [
        FaithfulnessEvaluator(chat_generator=Model()),
        AnswerEmbeddingSimilarityEvaluator(embedder=Embedder()),
    ]
    for evaluator in evaluators:
        with pytest.raises(ValueError, match=r"could not be prepared: Incorrect API key: \*\*\*"):
            evaluator.warm_up()


@pytest.mark.usefixtures("folder")
def test_messages_kept_before_are_not_shown_without_texts() -> None:
    line = "run exact.yaml --data q.jsonl --rag causes_question:ask --out run"
    assert WORD in call(line)[1]
    code, said = call(f"{line} --no-texts")
    assert (code, WORD in said) == (2, False)
    assert "ValueError: Raised at causes_question:2." in said


def test_one_cause_with_a_message_for_each_question_is_one_line(folder: Path) -> None:
    rows = [{"id": f"q{n}", "question": f"Why {n}?", "reference_answer": "a"} for n in range(4)]
    (folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "causes_some.py").write_text(
        "def ask(question):\n    if '0' in question:\n        return 'a'\n    raise ValueError(question)\n", "utf-8"
    )
    code, said = call("run exact.yaml --data q.jsonl --rag causes_some:ask --concurrency 1")
    assert code == 0
    assert "3 x ValueError: Why 1? Raised at causes_some:4. (2 other messages from there)" in said


def test_a_diagnosis_kept_without_texts_holds_no_message(folder: Path) -> None:
    def ask(question: str) -> str:
        if "0" in question:
            raise ValueError(WORD)
        return "a"

    rows = [{"id": f"q{n}", "question": f"Why {n}?", "reference_answer": "a"} for n in range(3)]
    kept = api.run_rag("exact.yaml", rows, ask, progress=False)
    assert WORD in str(kept.rows)
    kept.save(folder / "bare", texts=False)
    assert all(WORD not in path.read_text("utf-8") for path in (folder / "bare").iterdir())


# Safe to print


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07and\x1b]8;;http://x\x1b\\link\x9b2Jend", "red andlinkend"),
        ("two\nlines\r\tand\u2028more", "two lines and more"),
        ("turned \u202earound\u2066\u200b\x00\x07\x7f\x85", "turned around"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("Incorrect API key provided: sk-proj-abcdef123456789xyz", "Incorrect API key provided: ***"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
        ("no route to https://me:passw0rd@host/v1?key=abc", "no route to https://***@host/v1?key=***"),
        ("no route to postgres://u:p@ss@h:5432/db?sslmode=off", "no route to postgres://***@h:5432/db?sslmode=off"),
        ("GET /v1?a=1&api-key=hunter2-zebra&max_tokens=5", "GET /v1?a=1&api-key=***&max_tokens=5"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("{'authorization': 'Bearer abcdefgh', 'x-api-key': 'hunter2-zebra'}", SHOWN_HEADERS),
        ("Client(api_key='hunter2', token=None)", "Client(api_key=***, token=None)"),
        ("no such account AKIAIOSFODNN7EXAMPLE here", "no such account *** here"),
        ("key AIzaSyA-1234567890abcdefghijklmnopqrstu is off", "key *** is off"),
        ("expired: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123", "expired: ***"),
        ("Server=h;Password=zebra;Encrypt=yes", "Server=h;Password=***;Encrypt=yes"),
        ("api_key: must be a text. Password: too short. Use bearer or basic authentication.", None),
        ("risk-assessment-of-tasks: hf-internal-testing/tiny-random is no chat model", None),
        ("token of the test environment: environ-ment-1", "token of the test environment: ***"),
        ("its own name: told-by-a-component", "its own name: ***"),
        ("a code inside: told-by-\x1b[1ma-component", "a code inside: ***"),
        ("short is no secret: abc", "short is no secret: abc"),
    ],
)
def test_a_foreign_message_is_safe_to_print(message: str, shown: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "environ-ment-1")
    monkeypatch.setenv("WHATEVER", "told-by-a-component")
    monkeypatch.setenv("SHORT_KEY", "abc")

    @component
    class Client:
        def __init__(self) -> None:
            self.credentials = Secret.from_env_var("WHATEVER")

        @component.output_types(x=str)
        def run(self, x: str) -> dict[str, Any]:
            return {"x": x}

    learn_secrets(Client())
    assert repeated(message) == (message if shown is None else shown)


def test_secrets_within_lists_and_tables_of_components_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"HIDDEN_PLACE_{number}" for number in range(3)]
    for name in names:
        monkeypatch.setenv(name, f"private-{name}")
    models: list[Any] = [OpenAIChatGenerator(api_key=Secret.from_env_var(name)) for name in names]

    @component
    class Holder:
        def __init__(self) -> None:
            self.table: dict[str, Any] = {"a": {"b": (models[2],)}}
            self.table["itself"] = self.table

        @component.output_types(x=str)
        def run(self, x: str) -> dict[str, Any]:
            return {"x": x}

    learn_secrets(FallbackChatGenerator(models[:2]))
    learn_secrets(Holder())
    assert repeated(" ".join(f"private-{name}" for name in names)) == "*** *** ***"


def test_a_thread_may_learn_while_another_one_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    class Learning(Secret):
        def resolve_value(self) -> str:
            learn_secrets([Secret.from_token(f"learned-meanwhile-{number}") for number in range(9)])
            return "of-the-learner"

        def to_dict(self) -> dict[str, Any]:
            return {}

        def _to_dict(self) -> dict[str, Any]:
            return {}

        @classmethod
        def _from_dict(cls, _: dict[str, Any]) -> Secret:
            return cls()

        @property
        def type(self) -> Any:
            return None

    monkeypatch.setattr("haystack_eval_ext._foreign._SECRETS", {Learning()})
    assert repeated("of-the-learner") == "***"
    assert repeated("learned-meanwhile-8") == "***"


def test_a_long_message_is_cut_and_says_so() -> None:
    assert repeated("x" * LONGEST) == "x" * LONGEST
    assert repeated("x" * (LONGEST + 1234)) == "x" * LONGEST + "... (1,234 more characters)"


def test_a_key_of_a_pipeline_is_masked_in_what_is_shown_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_NAME", "very-private-value")

    @component
    class Client:
        def __init__(self, credentials: Secret) -> None:
            self.credentials = credentials

        @component.output_types(answers=list[str])
        def run(self, query: str) -> dict[str, Any]:
            msg = f"{os.environ['ODD_NAME']} is refused for {query}"
            raise RuntimeError(msg)

    rows = [{"id": "q", "question": "Why?", "reference_answer": "a"}]
    with pytest.raises(ValueError, match=r"RuntimeError in client: \*\*\* is refused for Why\? Raised"):
        api.run_rag("exact.yaml", rows, Client(Secret.from_env_var("ODD_NAME")), out=folder / "run", progress=False)
    assert "very-private" not in (folder / "run" / "answers.jsonl").read_text("utf-8")


def test_texts_that_are_not_wanted_outside_are_not_wanted_inside() -> None:
    with texts_wanted(False), texts_wanted(True), pytest.raises(ValueError, match="ValueError: Raised at"):
        api.run_rag({"q": Quoting()}, [{"id": "q", "question": "Why?"}], failing, progress=False)


def failing(question: str) -> str:
    """A target that quotes the question."""
    raise ValueError(question)


# A loop's way in


def test_the_joiner_of_a_loop_is_a_candidate_and_takes_the_question() -> None:
    pipeline = Pipeline()
    pipeline.add_component("bj", BranchJoiner(str))
    pipeline.add_component("prompt", PromptBuilder("{{ draft }}", required_variables=["draft"]))
    routes: list[Any] = [
        {"condition": "{{ value|length > 9 }}", "output": "{{ value }}", "output_name": "ok", "output_type": str},
        {"condition": "{{ True }}", "output": "{{ value + '!' }}", "output_name": "again", "output_type": str},
    ]
    pipeline.add_component("check", ConditionalRouter(routes))
    pipeline.connect("bj.value", "prompt.draft")
    pipeline.connect("prompt.prompt", "check.value")
    pipeline.connect("check.again", "bj.value")
    rows = [{"id": "q", "question": "Why?", "reference_answer": "Why?!!!!!!"}]
    with pytest.raises(TargetError, match=r"Candidates: .*\bbj\.value\. Name one"):
        api.run_rag({"exact": AnswerExactMatchEvaluator()}, rows, pipeline, progress=False)
    sections = {"inputs": {"query": ["bj.value"]}, "outputs": {"answers": ["check.ok"]}}
    run = api.run_rag({"exact": AnswerExactMatchEvaluator()}, rows, pipeline, sections=sections, progress=False)
    assert run.scores == {"exact": 1.0}


# What a judge's service says


class RefusingError(RuntimeError):
    """What a service's client raises."""

    status_code = 400


@component
class RefusingGenerator:
    """A judge whose service refuses, and quotes the request."""

    @component.output_types(replies=list[Any])
    def run(self, messages: list[Any]) -> dict[str, Any]:
        """
        Refuse.

        :param messages: Not looked at.
        :returns: Nothing.
        :raises RefusingError: Always.
        """
        assert messages
        msg = f"{WORD} is not allowed here"
        raise RefusingError(msg)

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize.

        :returns: The class.
        """
        return default_to_dict(self)


@pytest.mark.parametrize("texts", [True, False])
def test_a_judges_message_is_stored_with_texts_and_never_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], *, texts: bool
) -> None:
    judge = FaithfulnessEvaluator(chat_generator=RefusingGenerator(), policy=JudgePolicy(max_attempts=1))
    rows = [{"id": "q", "question": "Why?", "answer": "So.", "contexts": ["Because."]}]
    run = api.evaluate({"faithful": judge}, rows, out=tmp_path / "run", texts=texts, progress=False)
    assert run.metrics["faithful"].statuses == ["error"]
    assert WORD not in str(run.metrics["faithful"].errors) + str(run.manifest) + caplog.text + str(capsys.readouterr())
    (line,) = (tmp_path / "run" / "scores.jsonl").read_text("utf-8").splitlines()
    found = json.loads(line)["metrics"]["faithful"].get("message")
    assert found == (f"{WORD} is not allowed here" if texts else None)
    again = api.load_run(tmp_path / "run")
    assert again.metrics["faithful"].messages == ([found] if texts else [])
    again.save(tmp_path / "bare", texts=False)
    assert all(WORD not in path.read_text("utf-8") for path in (tmp_path / "bare").iterdir())
