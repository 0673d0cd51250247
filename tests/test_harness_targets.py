# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Loading targets from YAML and Python, overrides, filling their stores, feeding their sockets; each fault once."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage, ExtractedAnswer
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext.errors import TargetError
from haystack_eval_ext.runs._answers import answer_text
from haystack_eval_ext.runs._questions import plan_question
from haystack_eval_ext.runs.dataset import Dataset
from haystack_eval_ext.runs.harness import run_target
from haystack_eval_ext.runs.indexing import check_stores, fill_store
from haystack_eval_ext.runs.targets import Target, as_target, load_target
from rag_pipelines import DOCUMENTS, SECRET, dataset, filled_store, indexing, rag


def write(file: Path, pipeline: Pipeline, **sections: Any) -> Path:
    """A pipeline's YAML, with sections as Hayhooks has them."""
    value = yaml.safe_load(pipeline.dumps())
    file.write_text(yaml.safe_dump(value | sections), "utf-8")
    return file


def index_of(name: str) -> str:
    """In-memory indexes live as long as the process: one for each test."""
    return f"harness-{name}"


def test_yaml_index_and_documents_to_scores(tmp_path: Path) -> None:
    index = index_of("whole way")
    documents = tmp_path / "documents"
    (documents / "sub").mkdir(parents=True)
    for document in DOCUMENTS[:30]:
        (documents / "sub" / f"{document.id}.txt").write_text(document.content or "", "utf-8")
    (documents / ".hidden").write_text("no", "utf-8")
    target = load_target(write(tmp_path / "rag.yaml", rag(store=InMemoryDocumentStore(index=index))))
    assert fill_store(write(tmp_path / "index.yaml", indexing(index)), documents, target) == 30
    data = dataset(30)
    records = run_target(target, data, progress=False)
    found = [Path(record["documents"][0]["meta"]["file_path"]).stem for record in records]
    assert found == [f"d{number}" for number in range(30)]
    assert all(f"<{row['question']}>" in record["answer"] for row, record in zip(data.rows, records, strict=True))


MODULE = """
    from haystack import Pipeline
    from rag_pipelines import answer_question, rag, super_component, Sleeper, DOCUMENTS
    pipeline = rag()
    def make(top_k=3):
        return rag()
    def make_function():
        return answer_question
    class Holder:
        inner = staticmethod(answer_question)
    class Callable:
        def __call__(self, question):
            return {"answer": question}
    instance = Callable()
    def optional(question="x"):
        return {"answer": question}
    async def waits(question):
        return {"answer": question}
    def text(question):
        return question
    async def says(question):
        from haystack.dataclasses import ChatMessage
        return ChatMessage.from_assistant(question)
    def two(question, other):
        return {}
    def nothing():
        return None
    def breaks():
        raise RuntimeError("zebra-crossing")
    def empty():
        return Pipeline()
    number = 7
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"my_rag_{abs(hash(str(tmp_path))) % 10**8}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(MODULE), "utf-8")
    (tmp_path / f"{name}_broken.py").write_text("raise RuntimeError('zebra-crossing')", "utf-8")
    (tmp_path / f"{name}_needs.py").write_text("import not_installed_anywhere", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.mark.parametrize(
    "name",
    [
        "pipeline",
        "make",
        "super_component",
        "make_function",
        "answer_question",
        "Holder.inner",
        "instance",
        "optional",
        "waits",
        "text",
        "says",
    ],
)
def test_everything_that_python_offers_answers(module: str, name: str) -> None:
    record = run_target(f"{module}:{name}", dataset(1), progress=False)[0]
    assert record["status"] == "ok"
    assert "Question 0: what is topic0 about?" in record["answer"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("absent.yaml", "absent.yaml: cannot be read"),
        ("my-rag", "is no file and not module:name"),
        ("no_such_module:x", "no module 'no_such_module'"),
        ("MODULE_needs:x", "needs the module 'not_installed_anywhere'"),
        ("MODULE_broken:x", "importing MODULE_broken failed: RuntimeError"),
        ("MODULE:pipelin", "there is no 'pipelin'; did you mean pipeline"),
        ("MODULE:two", "two needs question, other"),
        ("MODULE:nothing", "must be a Pipeline, a component .* but is None"),
        ("MODULE:breaks", "making the target failed: RuntimeError"),
        ("MODULE:empty", "the pipeline has no components"),
        ("MODULE:number", "must be a Pipeline, .* but is an int"),
        ("MODULE:Sleeper.run", "run needs self, messages"),
    ],
)
def test_targets_that_are_none(module: str, text: str, message: str) -> None:
    with pytest.raises(TargetError, match=message.replace("MODULE", module)) as caught:
        load_target(text.replace("MODULE", module))
    # What the user's own module says when it is imported is no text under evaluation.
    assert (SECRET in str(caught.value)) == ("RuntimeError" in message)


@pytest.mark.parametrize("value", [None, 5, [], Document], ids=str)
def test_values_that_are_no_targets(value: Any) -> None:
    with pytest.raises(TargetError, match="must be a Pipeline"):
        as_target(value)


def test_only_yaml_takes_overrides(module: str) -> None:
    with pytest.raises(TargetError, match="overrides is for a pipeline's YAML"):
        load_target(f"{module}:make", overrides={"bm25.top_k": 1})


def test_overrides_set_parameters_typed_as_yaml(tmp_path: Path) -> None:
    file = write(tmp_path / "rag.yaml", rag(store=filled_store(index_of("overrides"))))
    values = {
        "bm25.top_k": "2",
        "bm25.scale_score": "true",
        "bm25.filters": "null",
        "llm.model": "7",
        "prompt.variables": "null",
        "answers.pattern": "'5'",
        "llm.meta.note": "Answer: {{ question }}",
        "llm.meta.list": "[1, a]",
        "llm.meta.jinja": "{{ question }}",
        "bm25.document_store.init_parameters.bm25_algorithm": "BM25Plus",
        "bm25.filter_policy": "merge",
    }
    pipeline = load_target(file, overrides=values).pipeline
    assert pipeline is not None
    bm25: Any
    llm: Any
    bm25, llm = pipeline.get_component("bm25"), pipeline.get_component("llm")
    assert (bm25.top_k, bm25.scale_score, bm25.filters) == (2, True, None)
    assert (llm.model, llm.meta) == (
        "7",
        {"note": "Answer: {{ question }}", "list": [1, "a"], "jinja": "{{ question }}"},
    )
    assert pipeline.get_component("answers").pattern == "5"  # type: ignore[attr-defined]
    assert bm25.document_store.to_dict()["init_parameters"]["bm25_algorithm"] == "BM25Plus"
    plain = load_target(file)
    assert plain.fingerprint() != load_target(file, overrides={"bm25.top_k": 2}).fingerprint()
    assert plain.fingerprint() == load_target(file).fingerprint()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Note: be brief", "Note: be brief"),
        ("{{ question }}", "{{ question }}"),
        ("{question}", "{question}"),
        ("[INST] {{ question }}", "[INST] {{ question }}"),
        ("[a, b]", "[a, b]"),
        ("5", "5"),
        ("true", "true"),
        ('"5"', "5"),
        ("'it''s {{ question }}: this'", "it's {{ question }}: this"),
        ('"one" and "two"', '"one" and "two"'),
        (" # no comment", " # no comment"),
    ],
)
def test_what_is_a_text_in_the_file_stays_one(tmp_path: Path, given: str, expected: str) -> None:
    file = write(tmp_path / "rag.yaml", one(prompt=PromptBuilder("{{ question }}")))
    pipeline = load_target(file, overrides={"prompt.template": given}).pipeline
    assert pipeline is not None
    parameters = pipeline.to_dict()["components"]["prompt"]["init_parameters"]
    assert parameters["template"] == expected


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"bm52.top_k": "1"}, "no component 'bm52'; did you mean bm25"),
        ({"bm25.topk": "1"}, r"bm25 \(InMemoryBM25Retriever\) has no init parameter 'topk'; did you mean top_k"),
        ({"bm25": "1"}, "'bm25' must be component.parameter"),
        ({"bm25.": "1"}, "'bm25.' must be component.parameter"),
        ({"bm25.top_k.x": "1"}, "reaches into 'top_k', which is no mapping"),
        ({"bm25.top_k": "[1"}, "the value of bm25.top_k starts like a YAML list"),
        ({"bm25.top_k": "-1"}, "the component 'bm25' .* cannot be made"),
    ],
)
def test_wrong_overrides(tmp_path: Path, overrides: dict[str, str], message: str) -> None:
    file = write(tmp_path / "rag.yaml", rag(store=filled_store(index_of("overrides"))))
    with pytest.raises(TargetError, match=message):
        load_target(file, overrides=overrides)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rag.yaml: the file is empty"),
        ("a: [", "rag.yaml: not valid YAML"),
        ("- a", "rag.yaml: not a pipeline"),
        ("components: {}\nconnections: []", "the pipeline has no components"),
        ("components: {a: {type: haystack.No}}\nconnections: []", "no component 'haystack.No'"),
        ("components: {}\ninputs: [a]", "rag.yaml: inputs must map names"),
        ("components: {}\noutputs: {answers: 3}", "rag.yaml: outputs.answers must be component.socket"),
    ],
)
def test_yaml_files_that_are_no_targets(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rag.yaml").write_text(text)
    with pytest.raises(TargetError, match=message):
        load_target(tmp_path / "rag.yaml")


INDEXES: list[tuple[str | None, str | None, str]] = [
    ("one", "two", "searches the in-memory index '.*two', but index.yaml fills '.*one'"),
    (None, "two", "without one each store gets a random name"),
]


@pytest.mark.parametrize(("filled", "searched", "message"), INDEXES)
def test_an_index_of_another_name_is_refused(
    tmp_path: Path, filled: str | None, searched: str | None, message: str
) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text("text")
    store = InMemoryDocumentStore(index=searched and index_of(searched))
    target = load_target(write(tmp_path / "rag.yaml", rag(store=store)))
    file = write(tmp_path / "index.yaml", indexing(filled and index_of(filled)))
    with pytest.raises(TargetError, match=message):
        fill_store(file, tmp_path / "documents", target)


def test_what_cannot_be_indexed_is_refused(tmp_path: Path) -> None:
    index = index_of("faults")
    target = as_target(rag(store=InMemoryDocumentStore(index=index)))
    file = write(tmp_path / "index.yaml", indexing(index))
    with pytest.raises(TargetError, match="is no folder"):
        fill_store(file, tmp_path / "absent", target)
    documents = tmp_path / "documents"
    documents.mkdir()
    with pytest.raises(TargetError, match="holds no files"):
        fill_store(file, documents, target)
    (documents / "a.txt").write_text("")
    with pytest.raises(TargetError, match="is a function"):
        fill_store(file, documents, as_target(lambda question: {"answer": question}))
    with pytest.raises(TargetError, match=r"rag.yaml: 0 free sockets are named sources"):
        fill_store(write(tmp_path / "rag.yaml", rag()), documents, target)
    two = indexing(index)
    two.add_component("second", TextFileToDocument())
    two_file = write(tmp_path / "two.yaml", two)
    with pytest.raises(TargetError, match=r"2 free sockets are named sources.*converter.sources, second.sources"):
        fill_store(two_file, documents, target)
    (documents / "a.txt").write_text("Rule about topic0")
    write(two_file, two, inputs={"files": ["converter.sources"]})
    with pytest.raises(TargetError, match=r"two.yaml: indexing 1 files failed"):
        fill_store(two_file, documents, target)
    # What a failed try has written does not stand in the way.
    assert fill_store(file, documents, target) == 1


def splitting(index: str, words: int) -> Pipeline:
    pipeline = one(
        converter=TextFileToDocument(),
        splitter=DocumentSplitter(split_by="word", split_length=words, split_overlap=0),
        writer=DocumentWriter(InMemoryDocumentStore(index=index)),
    )
    pipeline.connect("converter", "splitter")
    pipeline.connect("splitter", "writer")
    return pipeline


def test_two_settings_of_an_index_can_be_compared_in_one_process(tmp_path: Path) -> None:
    index = index_of("twice")
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.txt").write_text(" ".join(f"topic{number}" for number in range(100)))
    file = write(tmp_path / "rag.yaml", rag(store=InMemoryDocumentStore(index=index)))
    found: dict[int, tuple[str, int]] = {}
    for words in (10, 20, 20, 10):
        yaml_file = write(tmp_path / f"index{words}.yaml", splitting(index, words))
        target = load_target(file)
        assert fill_store(yaml_file, documents, target) == 100 // words
        prints = (target.fingerprint(), len(run_target(target, dataset(1), progress=False)[0]["contexts"]))
        assert found.setdefault(words, prints) == prints  # as in a fresh process
    assert found[10] != found[20]


def test_documents_of_others_are_not_mixed_with_those_of_an_index_pipeline(tmp_path: Path) -> None:
    index = index_of("others")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text("Rule about topic0")
    file = write(tmp_path / "index.yaml", indexing(index))
    store = filled_store(index)
    target = as_target(rag(store=store))
    message = rf"index.yaml writes into the in-memory index '{index}', which already holds {len(DOCUMENTS)} documents"
    with pytest.raises(TargetError, match=message):
        fill_store(file, tmp_path / "documents", target)
    assert store.count_documents() == len(DOCUMENTS)
    store.delete_all_documents()
    assert fill_store(file, tmp_path / "documents", target) == 1
    # Something was added behind the index pipeline's back.
    store.write_documents(DOCUMENTS[:2])
    with pytest.raises(TargetError, match="already holds 3 documents"):
        fill_store(file, tmp_path / "documents", target)


def test_an_empty_store_is_no_recall_of_0(tmp_path: Path) -> None:
    index = index_of("empty")
    pipeline = rag(store=InMemoryDocumentStore(index=index))
    message = rf"bm25 searches an empty document store \(InMemoryDocumentStore with index '{index}'\)"
    with pytest.raises(TargetError, match=message):
        run_target(pipeline, dataset(1), out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    assert check_stores(as_target(rag())) == len(DOCUMENTS)
    assert check_stores(as_target(indexing(index))) == 0  # a writer's store may be empty


def test_a_store_behind_a_super_component_is_found() -> None:
    from haystack import SuperComponent

    inner = SuperComponent(rag(store=InMemoryDocumentStore(), builder=False))
    with pytest.raises(TargetError, match=r"super_component.bm25 searches an empty"):
        run_target(inner, dataset(1), progress=False)


def test_isolate_does_not_search_an_empty_copy() -> None:
    store = InMemoryDocumentStore(shared=False)
    store.write_documents(DOCUMENTS)
    with pytest.raises(TargetError, match="shared"):
        run_target(rag(store=store), dataset(1), isolate=True, progress=False)


def test_sections_of_the_yaml_are_read(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("ask", PromptBuilder("{{ wish }}"))
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("{{ lang }}: {{ text }}")]))
    pipeline.add_component("llm", MockChatGenerator())
    pipeline.add_component("last", PromptBuilder("{{ replies[0].text }}!"))
    pipeline.connect("ask.prompt", "prompt.text")
    pipeline.connect("prompt", "llm.messages")
    pipeline.connect("llm.replies", "last.replies")
    sections = {
        "inputs": {"query": ["ask.wish"], "language": ["prompt.lang"], "filters": []},
        "outputs": {"answers": "llm.replies"},
    }
    target = load_target(write(tmp_path / "rag.yaml", pipeline, **sections))
    data = Dataset("x.jsonl", [{"id": "a", "question": "Why?", "language": "en", "lang": "de"}])
    assert run_target(target, data, progress=False)[0]["answer"] == "en: Why?"
    mapping = {"inputs": {"language": [], "lang": "prompt.lang"}, "outputs": {"answers": ["last.prompt"]}}
    assert run_target(target, data, sections=mapping, progress=False)[0]["answer"] == "de: Why?!"
    with pytest.raises(TargetError, match=r"Nothing feeds prompt.lang\."):
        run_target(target, Dataset("x.jsonl", [{"id": "a", "question": "Why?"}]), progress=False)
    gaps = Dataset("x.jsonl", [*data.rows, {"id": "b", "question": "Why?"}])
    with pytest.raises(TargetError, match=r"no value in 1 of 2 rows \(such as b\)"):
        run_target(target, gaps, progress=False)


def test_sockets_are_found_by_name() -> None:
    plan = plan_question(rag(), {}, dataset(1))
    assert sorted(plan.texts) == [("answers", "query"), ("bm25", "query"), ("prompt", "question")]
    assert plan.messages == []
    agent = as_target(Agent(chat_generator=MockChatGenerator("yes"))).pipeline
    assert agent is not None
    assert plan_question(agent, {}, dataset(1)).messages == [("agent", "messages")]
    inputs = plan_question(agent, {}, dataset(1)).inputs("Why?", {})
    assert inputs == {"agent": {"messages": [ChatMessage.from_user("Why?")]}}


def test_an_agent_whose_prompt_holds_the_question_gets_it_once() -> None:
    agent = Agent(
        chat_generator=MockChatGenerator(), user_prompt="{% message role='user' %}Q: {{ query }}{% endmessage %}"
    )
    record = run_target(agent, dataset(1), progress=False)[0]
    assert record["answer"] == "Q: Question 0: what is topic0 about?"
    assert record["components"][0]["in"]["messages"] == "[user: Q: Question 0: what is topic0 about?]"


def one(**components: Any) -> Pipeline:
    pipeline = Pipeline()
    for name, instance in components.items():
        pipeline.add_component(name, instance)
    return pipeline


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (one(prompt=PromptBuilder("{{ wish }}")), r"Nothing feeds prompt.wish\. Sockets named query, question, text"),
        (
            one(prompt=PromptBuilder("x")),
            "nothing takes the question. Candidates: prompt.template, prompt.template_var",
        ),
        (one(a=PromptBuilder("{{ query }}{{ name }}")), r"Nothing feeds a.name\."),
    ],
)
def test_what_cannot_be_fed_lists_candidates(pipeline: Pipeline, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        run_target(pipeline, dataset(1), progress=False)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (
            {"outputs": {"anser": ["llm.replies"]}},
            "outputs.anser is neither the answer nor the documents; did you mean",
        ),
        (
            {"inputs": {"anser": ["llm.replies"]}},
            "neither the question nor a column .* outputs are named answers, .* mean",
        ),
        ({"outputs": {"document": ["bm25.documents"]}}, "outputs.document is neither .* did you mean documents"),
    ],
)
def test_names_that_mean_nothing_are_refused_on_both_sides(mapping: dict[str, Any], message: str) -> None:
    with pytest.raises(TargetError, match=message):
        run_target(rag(), dataset(1), sections=mapping, progress=False)


def test_a_mapping_of_a_function_is_refused() -> None:
    with pytest.raises(TargetError, match="is a function"):
        run_target(lambda q: {"answer": q}, dataset(1), sections={"inputs": {"query": ["a.b"]}}, progress=False)
    with pytest.raises(TargetError, match="isolate copies pipelines"):
        run_target(lambda q: {"answer": q}, dataset(1), isolate=True, progress=False)
    with pytest.raises(TargetError, match="gave no stage 'x'"):
        run_target(lambda q: {"answer": q}, dataset(1), retrieved="x", progress=False)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "must return the answer's text, or a dict with some of answer, .* but returned None"),
        ({"reply": "x"}, "but returned a dict without them"),
        ({"answer": 3}, "The function's answer must be a text"),
        ({"answers": ["a", "b"]}, "holds 2 answers to one question"),
        ({"answer": "a", "documents": "d"}, "documents must be a list"),
        (
            {"answer": "a", "documents": [{"text": "zebra-crossing"}]},
            "documents must hold Documents, their JSON form or ids",
        ),
        ({"answer": "a", "contexts": "zebra-crossing"}, "contexts must be a list of texts"),
        ({"answer": "a", "contexts": [3]}, "contexts must be a list of texts"),
        ({"answer": "a", "stages": []}, None),
        ({"answer": "a", "stages": [1]}, "stages must be a dict"),
        ({"answer": "a", "stages": {"s": 1}}, r"stages\['s'\] must be a list"),
    ],
)
def test_results_of_functions_are_checked(result: Any, message: str | None) -> None:
    if message is None:
        assert run_target(lambda _question: result, dataset(1), progress=False)[0]["status"] == "ok"
        return
    with pytest.raises(TargetError, match=message) as caught:
        run_target(lambda _question: result, dataset(1), progress=False)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "The function's replies is empty"),
        ([ChatMessage.from_user("x")], "is a ChatMessage that is of the user"),
        ([ChatMessage.from_assistant(tool_calls=[])], "is a ChatMessage that has no text"),
    ],
)
def test_a_question_without_an_answer_fails_alone(value: Any, reason: str) -> None:
    error = run_target(lambda _question: {"replies": value}, dataset(1), progress=False)[0]["error"]
    assert error["class"] == "InvalidValueError"
    assert reason in error["reason"]


def test_extracted_answers_come_best_first() -> None:
    answers = [ExtractedAnswer(query="q", score=0.9, data="best"), ExtractedAnswer(query="q", score=0.1, data=None)]
    assert answer_text(answers, "reader.answers") == "best"
    assert answer_text(answers[1:], "reader.answers") == ""


def test_fingerprints_tell_what_decides_the_answers() -> None:
    assert as_target(rag()).fingerprint() == as_target(rag()).fingerprint()  # random names of stores do not count
    changed = rag()
    bm25: Any = changed.get_component("bm25")
    bm25.top_k = 99
    assert as_target(changed).fingerprint() != as_target(rag()).fingerprint()
    store = filled_store()
    more = rag(store=store)
    before = as_target(more).fingerprint()
    store.write_documents([Document(id="new", content="new")])
    assert as_target(more).fingerprint() != before

    def make(first: bool) -> Any:
        if first:
            return lambda question: {"answer": question}
        return lambda question: {"answer": question + "?"}

    assert as_target(make(True)).fingerprint() == as_target(make(True)).fingerprint()
    assert as_target(make(True)).fingerprint() != as_target(make(False)).fingerprint()
    assert isinstance(as_target(Target("x", function=print)), Target)
