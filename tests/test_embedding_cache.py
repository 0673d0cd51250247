# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Embeddings beside the judge: kept in its cache, none asked offline, and prepared before a call is paid for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.embedders import MockTextEmbedder, OpenAIDocumentEmbedder

from haystack_eval_ext import AnswerCorrectnessEvaluator, AnswerRelevancyEvaluator, FaithfulnessEvaluator
from haystack_eval_ext._calls import login_refused
from haystack_eval_ext._serialization import parameters_to_dict
from haystack_eval_ext._text import sendable
from haystack_eval_ext.errors import EvaluationError, PipelineFileError
from haystack_eval_ext.judged._similarities import _identity
from haystack_eval_ext.runs.judging import (
    JudgeSettings,
    judged_components,
    load_embedder,
    prepare_judges,
    set_judges,
)
from letter_embedders import LetterDocumentEmbedder, LetterTextEmbedder, letters
from test_judged_answer import FAST, RULES, any_embedder, asked, both, both_rows, make

KEY = "TEST_EMBEDDER_KEY"


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, Any]:
    """A policy with a cache."""
    return {**FAST, "cache_path": str(tmp_path / "judge.sqlite")}


@component
class KeyedEmbedder(LetterTextEmbedder):
    """An embedder that needs a key."""

    def __init__(self) -> None:
        LetterTextEmbedder.__init__(self)

    def warm_up(self) -> None:
        if KEY not in os.environ:
            msg = "no key"
            raise OSError(msg)


@component
class SecretiveEmbedder(LetterTextEmbedder):
    """An embedder that cannot be serialized."""

    def __init__(self) -> None:
        LetterTextEmbedder.__init__(self)

    def to_dict(self) -> dict[str, Any]:
        msg = "a key as plain text"
        raise ValueError(msg)


@both
@any_embedder
def test_a_text_is_embedded_once_over_all_runs(evaluator: type, embedder: type, cache: dict[str, Any]) -> None:
    texts = ["Ma", "", "Ne\ud800", "Lo #nan"]
    first = both_rows(make(evaluator, embedder=embedder(), policy=cache), texts)
    assert first["statuses"].count("error") == 1
    it = make(evaluator, embedder=embedder(), policy=cache)
    second = both_rows(it, [*texts, "Ku"])
    again = ["Lo #nan", "Ku"]  # what failed is not kept
    assert it.embedder.asked == (again if embedder is LetterTextEmbedder else [again])
    assert second["individual_scores"][:3] == pytest.approx(first["individual_scores"][:3], abs=0, nan_ok=True)
    assert len(asked(it)) == 1


@both
def test_vectors_are_kept_as_they_come(evaluator: type, cache: dict[str, Any]) -> None:
    it = make(evaluator, embedder=LetterTextEmbedder(), policy=cache)
    both_rows(it, ["Ma", "Ne", "#login"])
    assert it.embedder.asked == ["Ma", "Ne", "#login"]
    it.embedder.asked.clear()
    assert both_rows(it, ["Ma", "Ne", "#login"])["errors"] == [
        None,
        None,
        "a text could not be embedded (HTTP 401 (RuntimeError): the login was refused)",
    ]
    assert it.embedder.asked == ["#login"]


@both
def test_another_embedder_has_other_vectors(evaluator: type, cache: dict[str, Any]) -> None:
    both_rows(make(evaluator, embedder=MockTextEmbedder(embedding=[1.0, 1.0]), policy=cache), ["Ma"])
    other = make(evaluator, embedder=MockTextEmbedder(embedding=[0.0, 0.0]), policy=cache)
    assert both_rows(other, ["Ma"])["statuses"] == ["undefined"]


def test_the_address_and_the_parameters_identify_an_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-written")

    def identity(**parameters: Any) -> str:
        return repr(_identity(OpenAIDocumentEmbedder(**parameters)))

    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    found = [identity(), identity(model="another"), identity(api_base_url="http://a")]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://b")
    found += [identity(), identity(api_base_url="http://b")]
    assert len(set(found)) == 5
    assert identity(api_base_url="http://a") == found[2]
    assert "sk-never" not in "".join(found)


@both
@any_embedder
def test_offline_asks_no_embedder(evaluator: type, embedder: type, cache: dict[str, Any]) -> None:
    online = both_rows(make(evaluator, embedder=embedder(), policy=cache), ["Ma", "Ne"])
    it = make(evaluator, embedder=embedder(), policy={**cache, "offline": True})
    offline = both_rows(it, ["Ma", "Ne", "Lo"])
    assert offline["individual_scores"][:2] == online["individual_scores"]
    assert offline["statuses"] == ["scored", "scored", "error"]
    # The judge's replies are there, the vectors of this one are not.
    other = make(evaluator, embedder=KeyedEmbedder(), policy={**cache, "offline": True})
    result = both_rows(other, ["Ma", "Ne"])
    assert result["statuses"] == ["error"] * 2
    assert "not in the cache (offline)" in result["errors"][0]
    assert [*asked(it), *it.embedder.asked, *other.embedder.asked] == []


@both
def test_an_embedder_is_prepared_only_if_something_is_missing(
    evaluator: type, cache: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(texts: list[str], **policy: Any) -> Any:
        it = make(evaluator, embedder=KeyedEmbedder(), policy={**cache, **policy})
        try:
            return both_rows(it, texts)["individual_scores"]
        except ValueError as error:
            assert asked(it) == []
            return str(error)

    # The last row is noncommittal for relevancy, so that its texts are never embedded.
    texts = ["Ma", "Ne", "?Lo"]
    assert "could not be prepared: no key. Nothing was asked." in run(texts)
    monkeypatch.setenv(KEY, "a key")
    scores = run(texts)
    monkeypatch.delenv(KEY)
    assert run(texts) == run(texts, offline=True) == scores
    assert "could not be prepared" in run([*texts, "Ku"])


@both
def test_vectors_of_what_cannot_be_serialized_are_not_kept(
    evaluator: type, cache: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    it = make(evaluator, embedder=SecretiveEmbedder(), policy=cache)
    for count in (1, 2):
        assert both_rows(it, ["Ma"])["statuses"] == ["scored"]
        assert it.embedder.asked == ["Ma"] * count
        assert caplog.text.count("cannot be serialized") == count
    with pytest.raises(ValueError, match="offline answers from the cache alone, but the embedder cannot be serialized"):
        both_rows(make(evaluator, embedder=SecretiveEmbedder(), policy={**cache, "offline": True}), ["Ma"])


class StatusError(RuntimeError):
    """What some client raises."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__()
        self.__dict__.update(attributes)


@pytest.mark.parametrize("name", ["status_code", "status", "http_status", "code"])
def test_a_refused_login_by_any_name(name: str) -> None:
    refused = StatusError(**{name: 401})
    outer = StatusError(response=refused)
    behind = RuntimeError()
    behind.__context__ = outer
    assert all(map(login_refused, (refused, outer, behind)))
    assert not login_refused(StatusError(**{name: "insufficient_quota"}))
    circle, back = RuntimeError(), RuntimeError()
    circle.__cause__, back.__cause__ = back, circle
    assert not login_refused(circle)


def test_what_cannot_be_sent() -> None:
    assert sendable("a\ud800b\udfff\x00c 😀 \ufffd") == "a\ufffdb\ufffd\ufffdc 😀 \ufffd"


class Plain:
    """A component without `to_dict`."""

    def __init__(self, number: int = 1) -> None:
        self.number = number

    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": letters(text)}


class Holder:
    """Holds another one."""

    def __init__(self, inner: Any = None) -> None:
        self.inner = inner


def test_nested_components_are_serialized() -> None:
    for inner, parameters in ((Plain(2), {"number": 2}), (LetterTextEmbedder(), {})):
        data = parameters_to_dict(Holder(inner))["init_parameters"]["inner"]
        assert data["type"].endswith(type(inner).__name__)
        assert data["init_parameters"] == parameters


def pipeline_of(**components: Any) -> Pipeline:
    pipeline = Pipeline()
    for name, one in components.items():
        pipeline.add_component(name, one)
    return pipeline


def test_one_embedder_takes_the_place_of_all() -> None:
    other = LetterDocumentEmbedder()
    pipeline = pipeline_of(
        relevancy=make(AnswerRelevancyEvaluator),
        correctness=make(AnswerCorrectnessEvaluator),
        facts=make(AnswerCorrectnessEvaluator, weights=[1.0, 0.0], embedder=None),
        faithfulness=FaithfulnessEvaluator(chat_generator=make(AnswerRelevancyEvaluator).chat_generator),
    )
    set_judges(pipeline, JudgeSettings(embedder=other))
    found = {name: getattr(one, "embedder", None) for name, one in judged_components(pipeline).items()}
    assert found == {"relevancy": other, "correctness": other, "facts": None, "faithfulness": None}
    alone = pipeline_of(facts=make(AnswerCorrectnessEvaluator, weights=[1.0, 0.0], embedder=None))
    with pytest.raises(EvaluationError, match="has an embedder: leave"):
        set_judges(alone, JudgeSettings(embedder=other))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a: [", "not valid YAML"),
        ("- a", "no 'type' at the top"),
        ("type: haystack.components.builders.answer_builder.AnswerBuilder", "is no embedder"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_no_embedder(tmp_path: Path, text: str | None, part: str) -> None:
    file = tmp_path / "embedder.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(PipelineFileError, match=f"embedder.yaml.*{part}"):
        load_embedder(file)


def test_an_embedder_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "embedder.yaml"
    file.write_text("type: letter_embedders.LetterTextEmbedder\n", encoding="utf-8")
    assert isinstance(load_embedder(file), LetterTextEmbedder)


def test_all_judges_are_prepared_before_the_first_is_asked(
    cache: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipeline(**parameters: Any) -> Pipeline:
        return pipeline_of(last=make(AnswerCorrectnessEvaluator, embedder=KeyedEmbedder(), **parameters))

    with pytest.raises(EvaluationError, match=r"last: The embedder could not be prepared: no key\."):
        prepare_judges(pipeline())
    prepare_judges(pipeline(policy=cache))  # may need none of it
    prepare_judges(pipeline(weights=[1.0, 0.0]))
    monkeypatch.setenv(KEY, "a key")
    prepare_judges(pipeline())
    broken = make(AnswerCorrectnessEvaluator)
    broken.chat_generator = ColdGenerator(RULES[AnswerCorrectnessEvaluator])
    with pytest.raises(EvaluationError, match="last: The chat generator could not be prepared: no judge"):
        prepare_judges(pipeline_of(last=broken))


class ColdGenerator:
    """A generator that cannot be warmed up."""

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def warm_up(self) -> None:
        msg = "no judge."
        raise OSError(msg)

    def run(self, messages: list[Any]) -> dict[str, Any]:
        return {"replies": messages}
