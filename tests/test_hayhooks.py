# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines with evaluators, served by Hayhooks and asked over HTTP with JSON."""

import json
import math
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import haystack_eval_ext
from haystack_eval_ext import DocumentMRREvaluator, DocumentNDCGEvaluator, DocumentRankingEvaluator

pytest.importorskip("hayhooks")
# A server in a process of its own.
pytestmark = pytest.mark.slow

START = "from hayhooks.cli import hayhooks_cli; hayhooks_cli()"
START_SECONDS = 120
# A wrapper reads the requests whose form the types of a component's sockets would change.
WRAPPER = """
from typing import Any
from haystack import Pipeline
from hayhooks import BasePipelineWrapper
from haystack_eval_ext import DocumentNDCGEvaluator

class PipelineWrapper(BasePipelineWrapper):
    def setup(self) -> None:
        self.pipeline = Pipeline()
        self.pipeline.add_component("ndcg", DocumentNDCGEvaluator("meta.file"))

    def run_api(self, truth: list[dict[str, Any]], retrieved: list[dict[str, Any]]) -> dict[str, Any]:
        return self.pipeline.run({"ndcg": {"ground_truth_documents": truth, "retrieved_documents": retrieved}})["ndcg"]
"""
# Hayhooks hands Documents on as dicts, which Haystack's writer refuses. Stores of one process that name the same index
# hold the same documents.
INDEX_WRAPPER = """
from typing import Any
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hayhooks import BasePipelineWrapper

class PipelineWrapper(BasePipelineWrapper):
    def setup(self) -> None:
        self.store = InMemoryDocumentStore(index="hayhooks")

    def run_api(self, documents: list[dict[str, Any]]) -> int:
        return self.store.write_documents([Document.from_dict(document) for document in documents])
"""

TRUTH = [Document(id="a", content="x", meta={"file": "A"}, score=2), Document(id="b", meta={"file": "B"}, score=1)]
RETRIEVED = [Document(id=name, content=name, meta={"file": name.upper()}) for name in "cab"]
# c at 1 is not relevant; a (gain 2) at 2, b (gain 1) at 3. Ideal: 2 at rank 1, 1 at rank 2.
NDCG = (2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3))


class Server:
    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        request = urllib.request.Request(  # noqa: S310 - http, to this machine
            f"{self.url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                # Strict JSON: NaN is no number there.
                return response.status, json.loads(response.read(), parse_constant=pytest.fail)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def deploy(self, name: str, pipeline: Pipeline, sockets: str) -> None:
        body = {"name": name, "source_code": f"{pipeline.dumps()}\n{sockets}", "save_file": False, "overwrite": True}
        assert self.post("deploy-yaml", body)[0] == 200

    def deploy_wrapper(self, name: str, source: str) -> None:
        body = {"name": name, "files": {"pipeline_wrapper.py": source}, "save_files": False, "overwrite": True}
        assert self.post("deploy_files", body)[0] == 200

    def run(self, name: str, **body: Any) -> Any:
        status, answer = self.post(f"{name}/run", body)
        assert status == 200, answer
        return answer["result"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Hayhooks as users start it, in a process that imports us only because a pipeline's YAML names us."""
    folder = tmp_path_factory.mktemp("hayhooks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(haystack_eval_ext.__file__).parents[1]),
        "HAYSTACK_DESERIALIZATION_ALLOWLIST": "haystack_eval_ext",
        "HAYHOOKS_PIPELINES_DIR": str(folder / "pipelines"),
    }
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-c", START, "run", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}", process, folder / "log")
        yield Server(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/status", timeout=5).close()  # noqa: S310
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"Hayhooks does not answer:\n{log.read_text(errors='replace')}")


def sockets_of(*components: str) -> str:
    """The inputs and outputs of a YAML file that feeds several evaluators from one request."""
    inputs = "".join(
        f"  {name}: [{', '.join(f'{component}.{name}' for component in components)}]\n"
        for name in ("ground_truth_documents", "retrieved_documents")
    )
    return f"inputs:\n{inputs}outputs:\n" + "".join(f"  {name}_score: {name}.score\n" for name in components)


@pytest.fixture(scope="module")
def evaluators(server: Server) -> Server:
    """Deployed as 'by_id' and 'by_file'."""
    for name, field in (("by_id", "id"), ("by_file", "meta.file")):
        pipeline = Pipeline()
        pipeline.add_component("ranking", DocumentRankingEvaluator(["nDCG", "RR@1", "RR"], field))
        pipeline.add_component("mrr", DocumentMRREvaluator(field, on_undefined="nan"))
        server.deploy(name, pipeline, sockets_of("ranking", "mrr"))
    return server


@pytest.mark.parametrize("batch", [True, False], ids=["batch", "one question"])
@pytest.mark.parametrize(
    ("pipeline", "flatten"),
    [
        pytest.param("by_id", True, id="flat form by id"),
        pytest.param("by_id", False, id="nested form by id"),
        pytest.param("by_file", False, id="nested form by metadata"),
    ],
)
def test_documents_as_json(evaluators: Server, pipeline: str, flatten: bool, batch: bool) -> None:
    truth, retrieved = ([document.to_dict(flatten=flatten) for document in side] for side in (TRUTH, RETRIEVED))
    result = evaluators.run(
        pipeline,
        ground_truth_documents=[truth] if batch else truth,
        retrieved_documents=[retrieved] if batch else retrieved,
    )
    assert result["ranking"]["scores"] == pytest.approx({"nDCG": NDCG, "RR@1": 0.0, "RR": 0.5}, abs=1e-12)
    assert result["ranking"]["individual_scores"] == pytest.approx([NDCG], abs=1e-12)
    assert (
        result["mrr"] | {"score": 0.5, "individual_scores": [0.5], "statuses": ["scored"], "errors": [None]}
        == result["mrr"]
    )


def test_several_questions_an_empty_ranking_and_a_question_without_labels(evaluators: Server) -> None:
    a, b = {"id": "a"}, {"id": "b"}
    result = evaluators.run("by_id", ground_truth_documents=[[a], [b], []], retrieved_documents=[[b, a], [], [a]])
    # JSON has no NaN: the row that is left out of the mean arrives as null.
    expected = {
        "score": 0.25,
        "individual_scores": [0.5, 0.0, None],
        "statuses": ["scored", "scored", "undefined"],
        "errors": [None, None, "no relevant documents"],
    }
    assert result["mrr"] | expected == result["mrr"]
    assert result["ranking"]["scores_by_row"]["RR"] == [0.5, 0.0, 0.0]


def test_a_ranking_without_documents_is_one_question(evaluators: Server) -> None:
    result = evaluators.run("by_id", ground_truth_documents=[{"id": "a"}], retrieved_documents=[])
    assert (
        result["mrr"] | {"score": 0.0, "individual_scores": [0.0], "statuses": ["scored"], "errors": [None]}
        == result["mrr"]
    )


def test_flat_metadata_that_hayhooks_drops_is_an_error_and_no_score(evaluators: Server) -> None:
    """Hayhooks reads requests by the fields of Document and drops every other key, so flat metadata is lost there."""
    truth, retrieved = ([document.to_dict(flatten=True) for document in side] for side in (TRUTH, RETRIEVED))
    status, answer = evaluators.post("by_file/run", {"ground_truth_documents": truth, "retrieved_documents": retrieved})
    assert status == 500
    assert "'meta.file'" in answer["detail"]
    assert "ground_truth_documents" in answer["detail"]


def test_flat_metadata_through_a_wrapper(server: Server) -> None:
    server.deploy_wrapper("wrapped", WRAPPER)
    for flatten in (True, False):
        truth, retrieved = ([document.to_dict(flatten=flatten) for document in side] for side in (TRUTH, RETRIEVED))
        assert server.run("wrapped", truth=truth, retrieved=retrieved)["score"] == pytest.approx(NDCG, abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "retrieved", "status", "words"),
    [
        pytest.param([], [], 500, ["ground_truth_documents", "no rows"], id="no rows"),
        pytest.param([{"id": "a"}], [[{"id": "a"}]] * 2, 500, ["retrieved_documents has 2"], id="two for one"),
        pytest.param("Paris", [{"id": "a"}], 422, ["ground_truth_documents"], id="text"),
        pytest.param([None], [{"id": "a"}], 422, ["ground_truth_documents"], id="null"),
    ],
)
def test_bad_requests_are_named(evaluators: Server, truth: Any, retrieved: Any, status: int, words: list[str]) -> None:
    code, answer = evaluators.post("by_id/run", {"ground_truth_documents": truth, "retrieved_documents": retrieved})
    assert code == status
    for word in words:
        assert word in json.dumps(answer["detail"])


def test_indexing_then_a_retriever_wired_into_evaluators(server: Server) -> None:
    texts = {"a": "apples and pears grow in the orchard", "b": "apples are red", "c": "bridges cross the river"}
    server.deploy_wrapper("index", INDEX_WRAPPER)
    assert server.run("index", documents=[{"id": name, "content": text} for name, text in texts.items()]) == 3

    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(InMemoryDocumentStore(index="hayhooks"), top_k=2))
    pipeline.add_component("ndcg", DocumentNDCGEvaluator("id"))
    pipeline.add_component("mrr", DocumentMRREvaluator("id"))
    for name in ("ndcg", "mrr"):
        pipeline.connect("retriever.documents", f"{name}.retrieved_documents")
    server.deploy(
        "search",
        pipeline,
        "inputs:\n  query: retriever.query\n"
        "  ground_truth_documents: [ndcg.ground_truth_documents, mrr.ground_truth_documents]\n"
        "outputs:\n  documents: retriever.documents\n  ndcg: ndcg.score\n  mrr: mrr.score\n",
    )
    result = server.run("search", query="apples", ground_truth_documents=[{"id": "a"}])
    assert [document["id"] for document in result["retriever"]["documents"]] == ["b", "a"]
    assert result["ndcg"]["score"] == pytest.approx(1 / math.log2(3), abs=1e-12)
    assert result["mrr"]["score"] == 0.5
    nothing = server.run("search", query="zebra", ground_truth_documents=[{"id": "a"}])
    assert nothing["retriever"]["documents"] == []
    assert (
        nothing["mrr"] | {"score": 0.0, "individual_scores": [0.0], "statuses": ["scored"], "errors": [None]}
        == nothing["mrr"]
    )


def test_the_schema_of_a_request_names_documents(evaluators: Server) -> None:
    with urllib.request.urlopen(f"{evaluators.url}/openapi.json", timeout=60) as response:  # noqa: S310
        schemas = json.loads(response.read())["components"]["schemas"]
    document = {"$ref": "#/components/schemas/Document"}
    for name in ("ground_truth_documents", "retrieved_documents"):
        forms = schemas["by_idRunRequest"]["properties"][name]["anyOf"]
        assert {"type": "array", "items": document} in forms
        assert {"type": "array", "items": {"type": "array", "items": document}} in forms
