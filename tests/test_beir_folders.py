# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""BEIR folders: what is read, what is listed, what is refused."""

from pathlib import Path
from typing import Any

import pytest
from haystack import Document

from haystack_eval_ext import DocumentRankingEvaluator
from haystack_eval_ext.errors import DatasetError, TrecFileError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import beir_dataset, beir_documents
from haystack_eval_ext.runs.trec import BeirFolder, read_beir

H = "query-id\tcorpus-id\tscore\n"


def beir_folder(folder: Path, **changed: str) -> Path:
    files = {
        "corpus.jsonl": '{"_id": "d1", "title": "Lunch", "text": "Soup."}\n'
        '{"_id": 2, "title": "", "text": "Tea.\u2028Cake.", "metadata": {"page": 3, "title": "t"}, "url": "u"}\n',
        "queries.jsonl": '{"_id": "d1", "text": "What is for lunch?"}\n{"_id": "q2", "text": "Tea?", "metadata": {}}\n',
        "qrels/test.tsv": H + "q2\t2\t2\nq2\tgone\t1\nd1\td1\t1\n",
        "qrels/dev.tsv": H + "d1\td1\t1\nq9\tgone\t0\n",
    } | changed
    (folder / "qrels").mkdir()
    for name, text in files.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_beir_folder(tmp_path: Path) -> None:
    beir = read_beir(beir_folder(tmp_path))
    assert list(beir.corpus) == ["d1", "2"]
    assert beir.queries == {"d1": "What is for lunch?", "q2": "Tea?"}
    assert beir.qrels == {
        "dev": {"d1": {"d1": 1}, "q9": {"gone": 0}},
        "test": {"q2": {"2": 2, "gone": 1}, "d1": {"d1": 1}},
    }
    assert (beir.unknown_documents, beir.unknown_queries) == (["gone"], ["q9"])


def test_beir_documents_and_rows(tmp_path: Path) -> None:
    beir = read_beir(beir_folder(tmp_path))
    assert [(doc.id, doc.content, doc.meta) for doc in beir_documents(beir)] == [
        ("d1", "Lunch Soup.", {"title": "Lunch"}),
        ("2", "Tea.\u2028Cake.", {"page": 3, "title": "t", "url": "u"}),
    ]
    data = beir_dataset(beir, "test")
    assert (data.ids, data.column("question")) == (["q2", "d1"], ["Tea?", "What is for lunch?"])
    labels = data.sockets()["ground_truth_documents"]
    assert [[(doc.id, doc.score) for doc in row] for row in labels] == [[("2", 2.0), ("gone", 1.0)], [("d1", 1.0)]]
    with pytest.raises(ValueError, match="no split 'train', expected one of dev, test"):
        beir_dataset(beir, "train")
    with pytest.raises(DatasetError, match="query 'q9' has labels in 'dev' but no text"):
        beir_dataset(beir, "dev")


def test_the_document_of_a_query_is_no_hit_where_it_is_left_out(tmp_path: Path) -> None:
    corpus = {key: {"text": f"argument {key}", "title": "", "metadata": {}} for key in ("x", "b", "c")}
    queries = {"x": "argument x", "c": "argument c"}
    beir = BeirFolder(corpus, queries, {"test": {"x": {"b": 1}, "c": {"b": 1}}}, [], [], "")

    def retrieve(question: str) -> dict[str, Any]:
        own = question.removeprefix("argument ")
        return {"documents": [Document(id=own), Document(id="b")]}

    evaluators = {"ranking": DocumentRankingEvaluator(["RR"], "id")}
    plain = api.run_rag(evaluators, beir_dataset(beir, "test"), retrieve)
    assert plain.scores["ranking.RR"] == 0.5
    run = api.run_rag(evaluators, beir_dataset(beir, "test", ignore_identical_ids=True), retrieve, out=tmp_path / "run")
    assert run.scores["ranking.RR"] == 1.0
    told = "Documents that ignored_documents names were left out of the rankings of 2 of 2 questions."
    assert told in run.manifest["warnings"]
    assert [document["id"] for document in run.rows[0]["documents"]] == ["x", "b"]
    assert api.evaluate(evaluators, api.load_run(tmp_path / "run")).scores == run.scores


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"corpus.jsonl": ""}, "corpus.jsonl: cannot be read"),
        ({"qrels/test.tsv": "", "qrels/dev.tsv": ""}, "no labels found"),
        (
            {"corpus.jsonl": '{"_id": "a", "text": "SECRET"}\n{"_id": "a", "text": "SECRET"}\n'},
            ":2: column '_id': 'a' a s",
        ),
        ({"corpus.jsonl": '{"title": "SECRET", "text": ""}'}, ":1: column '_id': missing"),
        ({"corpus.jsonl": '{"_id": "a", "title": "SECRET"}'}, ":1: column 'text': missing"),
        ({"corpus.jsonl": '{"_id": "a", "text": "", "metadata": "SECRET"}'}, "column 'metadata': .*expected dict"),
        ({"queries.jsonl": '{"_id": true, "text": "SECRET"}'}, ":1: column '_id'"),
        ({"queries.jsonl": '["SECRET"]'}, ":1: a list, expected a JSON object"),
        ({"qrels/test.tsv": "q2\t2\n"}, "test.tsv:1: 2 columns, expected 4 .*or the header query-id"),
    ],
)
def test_broken_beir_folders(tmp_path: Path, changed: dict[str, str], expected: str) -> None:
    with pytest.raises(TrecFileError, match=expected) as caught:
        read_beir(beir_folder(tmp_path, **changed))
    assert "SECRET" not in str(caught.value)


def test_problems_of_all_beir_files_come_together(tmp_path: Path) -> None:
    with pytest.raises(TrecFileError) as caught:
        read_beir(beir_folder(tmp_path, **{"corpus.jsonl": "{", "queries.jsonl": "[", "qrels/dev.tsv": "x"}))
    assert [problem.removeprefix(f"{tmp_path}/").split(":")[0] for problem in caught.value.problems] == [
        "corpus.jsonl",
        "queries.jsonl",
        "qrels/dev.tsv",
    ]
