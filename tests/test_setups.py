# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the set-ups of two runs: told before the numbers, in words, Markdown, JSON and Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from haystack_eval_ext.cli import app
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._comparison_text import comparison_json, comparison_markdown
from haystack_eval_ext.runs._setup_text import setup_lines
from haystack_eval_ext.runs._unmatched import unmatched
from haystack_eval_ext.runs.comparison import ScoredRun
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import data, evaluators
from scored_runs import rows

STORE = "haystack.document_stores.in_memory.document_store.InMemoryDocumentStore"
BM25 = "haystack.components.retrievers.in_memory.bm25_retriever.InMemoryBM25Retriever"
PROMPT = "Answer by the documents alone. " * 5 + "{{ documents }}"
HASH = "0123456789abcdef" * 4
Manifest = dict[str, Any]


def rag_yaml() -> dict[str, Any]:
    """A RAG pipeline as its YAML is kept."""
    store = {"type": STORE, "init_parameters": {"index": "docs", "bm25_algorithm": "BM25L"}}
    key = {"type": "env_var", "env_vars": ["OPENAI_API_KEY"], "strict": True}
    return {
        "components": {
            "bm25": {"type": BM25, "init_parameters": {"document_store": store, "top_k": 5}},
            "prompt": {
                "type": "haystack.components.builders.prompt_builder.PromptBuilder",
                "init_parameters": {"template": PROMPT},
            },
            "llm": {
                "type": "haystack.components.generators.chat.openai.OpenAIChatGenerator",
                "init_parameters": {"model": "gpt-one", "api_key": key, "generation_kwargs": {"temperature": 0.0}},
            },
        },
        "connections": [{"sender": "bm25.documents", "receiver": "prompt.documents"}],
    }


@cache
def scored() -> EvaluationRun:
    """A run that is scored once for all."""
    return api.evaluate(evaluators(), data())


def asked(change: Callable[[dict[str, Any], Manifest], Any] = lambda *_: None, *, name: str = "run") -> EvaluationRun:
    """A run of a RAG pipeline; `change` makes its YAML and manifest another's."""
    run, rag = scored(), rag_yaml()
    manifest = {
        **deepcopy(run.manifest),
        "name": name,
        "corpus": {"documents": {"number": 10, "fingerprint": HASH}},
        "rag_usage": {"tokens": {"gpt-one-2026": {"prompt": 1, "completion": 1}}, "cost": None, "seconds": 1.0}
        | {"components": {}},
        "settings": {"repeats": 1, "sample": 12, "seed": 1},
        "versions": dict(run.manifest["versions"]),
    }
    manifest["pipelines"]["rag_name"] = "rag.yaml"
    change(rag, manifest)
    manifest["pipelines"].setdefault("index", None)
    if manifest["pipelines"].get("rag") is None and rag:
        manifest["pipelines"]["rag"] = yaml.safe_dump(rag, sort_keys=False)
    return replace(run, manifest=manifest)


def parameter(component: str, *path: str, value: Any) -> Callable[[dict[str, Any], Manifest], Any]:
    def change(rag: dict[str, Any], _: Manifest) -> None:
        place = rag["components"][component]["init_parameters"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def manifest(*path: str, value: Any) -> Callable[[dict[str, Any], Manifest], Any]:
    def change(_: dict[str, Any], of_run: Manifest) -> None:
        place = of_run
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def renamed(rag: dict[str, Any], _: Manifest) -> None:
    rag["components"] = {"retriever" if name == "bm25" else name: held for name, held in rag["components"].items()}
    rag["connections"][0]["sender"] = "retriever.documents"


def more(rag: dict[str, Any], _: Manifest) -> None:
    rag["components"]["join"] = {"type": "x.Joiner", "init_parameters": {"top_k": 3}}
    rag["connections"].append({"sender": "bm25.documents", "receiver": "join.documents"})


def less(rag: dict[str, Any], _: Manifest) -> None:
    del rag["components"]["prompt"]
    rag["connections"] = []


JOIN = {"type": "x.Joiner", "init_parameters": {"top_k": 3}}
R = "RAG pipeline"
KINDS: dict[str, tuple[Callable[[dict[str, Any], Manifest], Any], list[tuple[Any, ...]]]] = {
    "a parameter": (parameter("bm25", "top_k", value=1), [(R, "bm25.top_k", "changed", 5, 1)]),
    "a parameter left at its default": (parameter("bm25", "scale_score", value=False), []),
    "a parameter that was at its default": (
        parameter("bm25", "scale_score", value=True),
        [(R, "bm25.scale_score", "changed", False, True)],
    ),
    "an unknown parameter": (parameter("llm", "zzz", value=[1, 2]), [(R, "llm.zzz", "added", None, [1, 2])]),
    "inside a store": (
        parameter("bm25", "document_store", "init_parameters", "bm25_algorithm", value="BM25Plus"),
        [(R, "bm25.document_store.bm25_algorithm", "changed", "BM25L", "BM25Plus")],
    ),
    "inside a mapping": (
        parameter("llm", "generation_kwargs", "temperature", value=1.0),
        [(R, "llm.generation_kwargs.temperature", "changed", 0.0, 1.0)],
    ),
    "a model": (parameter("llm", "model", value="gpt-two"), [(R, "llm.model", "changed", "gpt-one", "gpt-two")]),
    "a prompt": (
        parameter("prompt", "template", value=PROMPT + " Briefly!"),
        [(R, "prompt.template", "changed", PROMPT, PROMPT + " Briefly!")],
    ),
    "a key's variable": (
        parameter("llm", "api_key", value={"type": "env_var", "env_vars": ["OTHER_KEY"], "strict": True}),
        [(R, "llm.api_key", "changed", "environment variable OPENAI_API_KEY", "environment variable OTHER_KEY")],
    ),
    "a component more": (
        more,
        [
            (R, "join", "added", None, JOIN),
            (R, "connection bm25.documents to join.documents", "added", None, "connected"),
        ],
    ),
    "a component less": (
        less,
        [
            (
                R,
                "prompt",
                "removed",
                {
                    "type": "haystack.components.builders.prompt_builder.PromptBuilder",
                    "init_parameters": {"template": PROMPT},
                },
                None,
            ),
            (R, "connection bm25.documents to prompt.documents", "removed", "connected", None),
        ],
    ),
    "a component renamed": (renamed, [(R, "bm25", "renamed", "bm25", "retriever")]),
    "a random name of a store": (
        parameter("bm25", "document_store", "init_parameters", "index", value="7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        [(R, "bm25.document_store.index", "changed", "docs", None)],
    ),
    "the model that answered": (
        manifest("rag_usage", "tokens", value={"gpt-one-2027": {"prompt": 1, "completion": 1}}),
        [(R, "models named in the replies", "changed", ["gpt-one-2026"], ["gpt-one-2027"])],
    ),
    "an indexing pipeline": (
        manifest("pipelines", "index", value=yaml.safe_dump({"components": {"split": {"type": "x.Splitter"}}})),
        [("indexing pipeline", "split", "added", None, {"type": "x.Splitter", "init_parameters": {}})],
    ),
    "the corpus": (
        manifest("corpus", "documents", value={"number": 11, "fingerprint": "f" * 64}),
        [
            (
                "corpus",
                "documents",
                "changed",
                {"number": 10, "fingerprint": HASH},
                {"number": 11, "fingerprint": "f" * 64},
            )
        ],
    ),
    "the seed": (manifest("settings", "seed", value=2), [("settings", "seed", "changed", 1, 2)]),
    "a setting more": (
        manifest("settings", "retrieved", value="bm25"),
        [("settings", "retrieved", "added", None, "bm25")],
    ),
    "a version": (
        manifest("versions", "haystack-ai", value="9.9"),
        [("versions", "haystack-ai", "changed", asked().manifest["versions"]["haystack-ai"], "9.9")],
    ),
    "nothing": (lambda *_: None, []),
    "how it is written": (lambda rag, _: rag["components"].update(reversed(rag["components"].items())), []),
    "when it was made": (manifest("created", value="2020-01-01T00:00:00+00:00"), []),
}


def told(comparison: api.Comparison) -> list[tuple[Any, ...]]:
    assert comparison.setup is not None
    return [(each.part, each.name, each.change, each.base, each.new) for each in comparison.setup.differences]


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_difference_is_told_both_ways(name: str) -> None:
    change, expected = KINDS[name]
    base, new = asked(name="base"), asked(change, name="new")
    comparison = api.compare(base, new)
    assert told(comparison) == expected
    back = [each[:2] for each in told(api.compare(new, base))]
    assert len(back) == len(expected)
    assert comparison.setup is not None
    assert comparison.setup.unknown == []
    # The same in every form, before the numbers.
    markdown, whole = comparison_markdown(comparison), comparison_json(comparison)
    json.dumps(whole, allow_nan=False)
    assert [each["name"] for each in whole["setup"]["differences"]] == [each[1] for each in expected]
    assert list(whole)[:4] == ["base_name", "new_name", "summary", "setup"]
    if expected:
        heading = markdown.index("What differs between the set-ups:")
        for line in setup_lines(comparison.setup):
            assert heading < markdown.index(f"| {line.part} |") < markdown.index("| Metric |")
            assert max(map(len, line)) < 160
    else:
        assert "The set-ups are the same." in markdown


@pytest.mark.parametrize("name", KINDS)
def test_a_baseline_knows_what_differs_and_holds_no_texts(name: str, tmp_path: Path) -> None:
    change, expected = KINDS[name]
    asked(name="base").baseline(tmp_path / "base.json")
    asked(name="base").save(tmp_path / "bare", texts=False)
    for path in (tmp_path / "base.json", tmp_path / "bare"):
        found = told(api.compare(path, asked(change, name="new")))
        assert [each[:3] for each in found] == [each[:3] for each in expected]
        # Saved once more, it says the same.
        api.load_run(path).baseline(tmp_path / "again.json")
        assert told(api.compare(tmp_path / "again.json", asked(change, name="new"))) == found
    kept = (tmp_path / "base.json").read_text("utf-8") + (tmp_path / "bare" / "manifest.json").read_text("utf-8")
    assert "Answer by" not in kept
    assert "gpt-one" in kept


def test_long_texts_are_shown_where_they_part() -> None:
    change = parameter("prompt", "template", value=PROMPT.replace("{{", "\n\nIn one word: {{"))
    comparison = api.compare(asked(name="base"), asked(change, name="new"))
    assert comparison.setup is not None
    (line,) = setup_lines(comparison.setup)
    assert line.base == "...he documents alone. {{ documents }} (170 characters)"
    assert line.new == "...he documents alone. In one word: {{ documents }} (185 characters)"


SECRETS = ["sk-1234567890abcdef", "https://me:pa55word@host/x", "Bearer abcdefgh12345678"]


@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_are_never_shown(secret: str, tmp_path: Path) -> None:
    """Also not of a folder that somebody has written by hand."""
    change = parameter("llm", "api_key" if secret.startswith("sk") else "api_base_url", value=secret)
    new = asked(change, name="new")
    new.save(tmp_path / "new")
    comparison = api.compare(asked(name="base"), tmp_path / "new")
    shown = comparison_markdown(comparison) + json.dumps(comparison_json(comparison))
    assert "llm.api" in shown
    assert not any(part in shown for part in ("1234567890abcdef", "pa55word", "abcdefgh12345678"))


def test_what_is_not_recorded_is_said_and_no_difference_invented(tmp_path: Path) -> None:
    run = api.evaluate(evaluators(), data(), name="stored")
    both = api.compare(run, replace(run))
    assert both.setup is not None
    assert both.setup.unknown == ["Neither run records its RAG pipeline, so what differs there is not known."]
    assert "Nothing that is recorded of the set-ups differs." in comparison_markdown(both)
    one = api.compare(run, asked(name="asked"))
    assert one.setup is not None
    assert one.setup.unknown == ["'stored' does not record its RAG pipeline, so what differs there is not known."]
    assert {each.part for each in one.setup.differences} == {"settings"}
    # Stored outputs of two files: the file is all that is known of how they were made.
    other = replace(run, manifest={**run.manifest, "data": {**run.manifest["data"], "file": "others.jsonl"}})
    assert told(api.compare(run, other)) == [("data", "file", "changed", "questions.jsonl", "others.jsonl")]
    # Baselines of earlier versions hold no set-up.
    run.baseline(tmp_path / "old.json")
    old = json.loads((tmp_path / "old.json").read_text("utf-8"))
    del old["setup"]
    (tmp_path / "old.json").write_text(json.dumps(old), "utf-8")
    found = api.compare(tmp_path / "old.json", run)
    assert found.setup is not None
    assert len(found.setup.unknown) == 3
    assert found.setup.differences == []


def test_a_target_in_python_without_yaml_is_told_by_its_name() -> None:
    def of(name: str) -> Callable[[dict[str, Any], Manifest], Any]:
        def change(rag: dict[str, Any], of_run: Manifest) -> None:
            rag.clear()
            of_run["pipelines"]["rag_name"] = name

        return change

    comparison = api.compare(asked(of("my:one"), name="base"), asked(of("my:two"), name="new"))
    assert told(comparison) == [("RAG pipeline", "target", "changed", "my:one", "my:two")]
    assert comparison.setup is not None
    assert len(comparison.setup.unknown) == 1


@pytest.mark.parametrize(("number", "said"), [(20, True), (30, False), (11, False), (10, False)])
def test_a_corpus_that_an_earlier_version_counted_twice_is_noted(number: int, said: bool) -> None:
    def twice(rag: dict[str, Any], of_run: Manifest) -> None:
        rag["components"]["again"] = rag["components"]["bm25"]
        of_run["corpus"] = {"documents": {"number": number, "fingerprint": "f" * 64}}

    comparison = api.compare(asked(twice, name="old"), asked(lambda rag, _: twice(rag, {}), name="new"))
    assert comparison.setup is not None
    assert [each.part for each in comparison.setup.differences] == ["corpus"]
    assert any("counted 2 times" in note for note in comparison.setup.unknown) == said


@pytest.mark.parametrize("value", [5, "many", [1], {"number": "many"}, {"init_parameters": 3}, {"fingerprint": 1}])
def test_a_baseline_that_was_edited_is_compared_all_the_same(value: Any, tmp_path: Path) -> None:
    asked(name="base").baseline(tmp_path / "base.json")
    whole = json.loads((tmp_path / "base.json").read_text("utf-8"))
    for part in ("corpus", "RAG pipeline"):
        whole["setup"][part] = {"documents": value, "bm25": value, "llm.model": value}
    (tmp_path / "base.json").write_text(json.dumps(whole), "utf-8")
    comparison = api.compare(tmp_path / "base.json", asked(name="new"))
    assert "| corpus | documents |" in comparison_markdown(comparison)


def test_the_command_says_it_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked(name="base").save(tmp_path / "base")
    asked(parameter("bm25", "top_k", value=1), name="new").save(tmp_path / "new")
    out = CliRunner().invoke(app, ["compare", "base", "new"]).stdout
    lines = out.splitlines()
    assert lines[1].startswith("No score changed:")
    assert "  RAG pipeline, bm25.top_k: 5 -> 1" in lines
    assert lines.index("  RAG pipeline, bm25.top_k: 5 -> 1") < next(
        n for n, line in enumerate(lines) if "Metric" in line
    )
    assert "The set-ups are the same." in CliRunner().invoke(app, ["compare", "base", "base"]).stdout


# --- metrics that one run alone has ----------------------------------------------------------------------------------


def run_of(*names: str, **others: Any) -> EvaluationRun:
    """A run whose recall and ranking have these names."""
    recall, ranking = names
    made = evaluators()
    return api.evaluate({recall: made["recall"], ranking: made["ranking"], **others}, data(), name="-".join(names))


@pytest.mark.parametrize(
    ("base", "new", "hint"),
    [
        (("recall", "ranking"), ("found", "ranking"), "'recall' and 'found'"),
        (("recall", "ranking"), ("recall", "rank"), "'ranking.RR' and 'rank.RR', 'ranking.P@1' and 'rank.P@1'"),
        (("recall", "ranking"), ("recall", "ranking"), None),
    ],
)
def test_a_metric_that_one_run_lacks_is_named_first(
    base: tuple[str, str], new: tuple[str, str], hint: str | None
) -> None:
    comparison = api.compare(run_of(*base), run_of(*new))
    text, whole = comparison_markdown(comparison), comparison_json(comparison)
    if hint is None:
        assert comparison.only_base == comparison.only_new == comparison.unmatched == []
        return
    only = [f"Only '{run.name}' has" for run in (run_of(*base), run_of(*new))]
    assert [note[: len(start)] for note, start in zip(comparison.unmatched, only, strict=False)] == only
    assert hint in comparison.unmatched[-1]
    assert "give it its former name" in comparison.unmatched[-1]
    assert (whole["only_base"], whole["only_new"]) == (comparison.only_base, comparison.only_new)
    assert text.count("The same under another name?") == 1
    assert text.index(comparison.unmatched[0]) < text.index("| Metric |")


def test_other_metrics_are_no_renamed_ones() -> None:
    base = run_of("recall", "ranking", exact=evaluators()["exact"])
    for new in (run_of("recall", "ranking"), api.evaluate({"recall": evaluators()["recall"]}, data(), name="new")):
        assert all("another name" not in note for note in api.compare(base, new).unmatched)
    exact = api.evaluate({"recall": evaluators()["recall"], "exact": evaluators()["exact"]}, data(), name="exact")
    first = api.evaluate({"recall": evaluators()["recall"], "first": evaluators()["ranking"]}, data(), name="first")
    assert all("another name" not in note for note in api.compare(exact, first).unmatched)


@pytest.mark.parametrize("made", [{}, {"parameters": {"type": "x.Y", "top_k": 3}}])
def test_metrics_of_which_nothing_tells_that_they_are_alike_are_not_called_so(made: dict[str, Any]) -> None:
    other = made and {"parameters": {"type": "x.Y", "top_k": 5}}
    base = ScoredRun("base", ["a", "b"], {"latency": rows([0.5, 1.0], **made)})
    new = ScoredRun("new", ["a", "b"], {"faith": rows([0.5, 1.0], **other)})
    notes = unmatched(base, new, same_questions=True).notes
    assert len(notes) == 2
    assert all("another name" not in note for note in notes)
