# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every way in which a data file can be broken, and what the user reads then."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs.dataset import read_dataset

# Stands in every broken file where a user's text may stand; no message may repeat it.
PRIVATE = "PRIVATE"
SPAN = {"key": PRIVATE, "start": 3, "end": 9}


def store(folder: Path, name: str, data: str | bytes) -> Path:
    file = folder / name
    content = data.encode("utf-8") if isinstance(data, str) else data
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return file


def j(**values: Any) -> str:
    return json.dumps({"id": "r", **values}) + "\n"


def labels(value: Any) -> str:
    return j(relevant_documents=value)


BROKEN: dict[str, tuple[str, str | bytes, str]] = {
    "suffix": ("f.xlsx", "x", "the suffix is '.xlsx', expected one of .jsonl, .ndjson, .json, .csv, .tsv"),
    "no suffix": ("f", "x", "the suffix is ''"),
    "empty": ("f.jsonl", "", "the file is empty"),
    "blank": ("f.csv", "\n \n", "the file is empty"),
    "empty gzip": ("f.csv.gz", b"", "the file is empty"),
    "bad json": ("f.jsonl", j() + '{"id": "PRIVATE"\n', "f.jsonl:2: not JSON (Expecting ',' delimiter: character 17)"),
    "two values": ("f.jsonl", j().strip() + j(question=PRIVATE), "f.jsonl:1: not JSON (Extra data"),
    "not an object": ("f.jsonl", j() + '"PRIVATE"\n', "f.jsonl:2: a text, expected a JSON object"),
    "null line": ("f.jsonl", "null\n", "f.jsonl:1: null, expected a JSON object"),
    "NaN": ("f.jsonl", '{"id": "r", "x": NaN}', "f.jsonl:1: not strict JSON (NaN is no JSON number"),
    "Infinity": ("f.jsonl", '{"id": "r", "x": [-Infinity]}', "f.jsonl:1: not strict JSON (-Infinity"),
    "overflow": ("f.jsonl", '{"id": "r", "x": 1e999}', "f.jsonl:1: not usable JSON (a number beyond"),
    "huge integer": (
        "f.jsonl",
        labels([{"d": 10**400}]),
        "f.jsonl:1: column 'relevant_documents': entry 1: a grade that",
    ),
    "deep": ("f.jsonl", "[" * 200_000, "f.jsonl:1: not usable JSON (nested too deeply)"),
    "a name twice": ("f.jsonl", '{"id": "r", "PRIVATE": 1, "PRIVATE": 2}', "one name twice"),
    "blank line": ("f.jsonl", j() + "\n" + j(id="s"), "f.jsonl:2: a blank line between rows"),
    "not UTF-8": ("f.jsonl", j().encode() + b'{"id": "\xe9"}', "f.jsonl:2: byte 9 of the line is not UTF-8"),
    "not UTF-8 in CSV": ("f.csv", b"id,question\n1,PRIVATE\n2,\xe9\n", "f.csv:3: byte 3 of the line is not UTF-8"),
    "json object": (
        "f.json",
        j(),
        "f.json: an object whose entries are no columns ('id' is a text), expected a JSON list",
    ),
    "json empty list": ("f.json", "\n[ ]", "f.json:2: the list is empty"),
    "json entry": ("f.json", "[\n" + j() + ", 3]", "f.json: entry 2: a number, expected a JSON object"),
    "json syntax": ("f.json", "[\n" + j() + ",\n]", "f.json:4: not JSON (Expecting value: line 4, character 1)"),
    "json no comma": ("f.json", "[\n" + j() + j() + "]", "f.json:3: the list goes on without a comma"),
    "json cut": ("f.json", "[" + j(), "f.json:2: the list goes on without a comma or ends without ]"),
    "json tail": ("f.json", "[" + j() + "]\nPRIVATE", "text behind the list"),
    "json nan": ("f.json", "[" + j() + ',{"x": NaN}]', "f.json:2: not strict JSON (NaN"),
    "json duplicate on one line": (
        "f.json",
        '[{"id": 1}, {"id": 1}]',
        "f.json: entry 2: column 'id': '1' again, first in entry 1",
    ),
    "duplicate id": ("f.jsonl", j() + j(id="s") + j(), "f.jsonl:3: column 'id': 'r' again, first in line 1"),
    "1 and '1'": ("f.jsonl", j(id=1) + j(id="1"), "f.jsonl:2: column 'id': '1' again"),
    "id is a float": ("f.jsonl", j(id=1.5), "f.jsonl:1: column 'id': a number, expected a text or a whole number"),
    "id is a bool": ("f.jsonl", j(id=True), "column 'id': true or false"),
    "id is blank": ("f.jsonl", j(id=" "), "column 'id': an empty text"),
    "some ids": ("f.jsonl", j() + '{"question": "PRIVATE"}\n', "column 'id': missing in 1 of 2 rows (line 2)"),
    "nothing to name rows by": (
        "f.jsonl",
        '{"answer": "PRIVATE"}\n',
        "neither an id nor a question column among 'answer', expected",
    ),
    "two meanings": (
        "f.jsonl",
        j(question=PRIVATE) + j(id=2, query=PRIVATE),
        "f.jsonl:2: columns 'question' and 'query' both",
    ),
    "missing": ("f.jsonl", j(answer=PRIVATE) + j(id=2), "f.jsonl: column 'answer': missing in 1 of 2 rows (line 2)"),
    "null": ("f.jsonl", j(documents=["d"]) + j(id=2, documents=None), "column 'documents': missing in 1 of 2 rows"),
    "unanswerable lacks answer": (
        "f.jsonl",
        j(answer=PRIVATE) + j(id=2, answerable=False),
        "column 'answer': missing in 1",
    ),
    "question is a list": ("f.jsonl", j(questions=[PRIVATE]), "f.jsonl:1: column 'questions': a list, expected a text"),
    "answer is a number": ("f.jsonl", j(response=4), "column 'response': a number, expected a text"),
    "reference is an object": (
        "f.jsonl",
        j(reference={"PRIVATE": 1}),
        "column 'reference': an object, expected a text or",
    ),
    "reference holds a number": ("f.jsonl", j(reference=[PRIVATE, 1]), "column 'reference': entry 2 is a number"),
    "contexts is a text": ("f.jsonl", j(contexts=PRIVATE), "column 'contexts': a text, expected a list"),
    "context is a list": ("f.jsonl", j(contexts=[[PRIVATE]]), "column 'contexts': entry 1 is a list"),
    "context without content": (
        "f.jsonl",
        j(contexts=[{"id": PRIVATE}]),
        "entry 1 is an object without a content text",
    ),
    "tags is a text": ("f.jsonl", j(tags=PRIVATE), "column 'tags': a text, expected a list of texts"),
    "flag": ("f.jsonl", j(answerable="maybe"), "column 'answerable': a text that is no flag, expected true or false"),
    "flag 2": ("f.jsonl", j(answerable=2), "column 'answerable': a number that is no flag"),
    "labels are a text": ("f.jsonl", labels(PRIVATE), "column 'relevant_documents': a text, expected a list whose"),
    "ranking is an object": ("f.jsonl", j(documents={"d": 1}), "column 'documents': an object, expected a list"),
    "key is null": ("f.jsonl", labels(["d", None]), "entry 2: null as key"),
    "key is a bool": ("f.jsonl", labels([True]), "entry 1: true or false as key"),
    "key is a float": ("f.jsonl", labels([1.0]), "entry 1: a number as key"),
    "key is a list": ("f.jsonl", labels([[["d"]]]), "entry 1: a list as key"),
    "group beside a key": ("f.jsonl", labels([["d"], "e"]), "1 of 2 entries are lists, expected groups of labels"),
    "key is empty": ("f.jsonl", labels([""]), "entry 1: an empty key"),
    "grade is a text": ("f.jsonl", labels([{"d": "2"}]), "entry 1: a text as grade, expected a number"),
    "grade is a bool": ("f.jsonl", labels({"d": True}), "column 'relevant_documents': true or false as grade"),
    "grade is null": ("f.jsonl", labels({"d": None}), "null as grade"),
    "an object of two": ("f.jsonl", labels([{"d": 1, "e": 1}]), "entry 1: an object with 2 entries"),
    "an object of none": ("f.jsonl", labels([{}]), "entry 1: an object with 0 entries"),
    "two grades": ("f.jsonl", labels([{"d": 1}, "e", {"d": 2}]), "entries 1 and 3 are the same label with two grades"),
    "span without end": ("f.jsonl", labels([{"key": "d", "start": 1}]), "entry 1: a span with key, start, expected"),
    "span or key": ("f.jsonl", labels([{"key": 7}]), "entry 1: a span with key, expected"),
    "span with more": (
        "f.jsonl",
        labels([{"key": "f", "start": 3, "end": 9, "PRIVATE": 1}]),
        "entry 1: a span with end, key, start, expected",
    ),
    "span backwards": (
        "f.jsonl",
        labels([{"key": "f", "start": 3, "end": 3}]),
        "entry 1: a span must have 0 <= start < end, but start is 3 and end is 3",
    ),
    "span of text": (
        "f.jsonl",
        labels([{"key": "f", "start": PRIVATE, "end": 9}]),
        "its start is a str.",
    ),
    "document content": (
        "f.jsonl",
        labels([{"content": [PRIVATE]}]),
        "entry 1: it is a dict that is not the JSON form of a Document: 'content' must be str, but is a list",
    ),
    "document meta": ("f.jsonl", labels([{"id": "d", "meta": PRIVATE}]), "'meta' must be dict, but is a str"),
    "document score": ("f.jsonl", labels([{"id": "d", "score": "1"}]), "'score' must be int or float, but is a str"),
    "document score is a bool": (
        "f.jsonl",
        labels([{"id": "d", "score": True}]),
        "'score' must be int or float, but is a",
    ),
    "document score is huge": (
        "f.jsonl",
        labels([{"id": "d", "score": 10**400}]),
        "entry 1: a grade that is not finite",
    ),
    "document id": ("f.jsonl", labels([{"id": [PRIVATE]}]), "'id' must be str, but is a list"),
    "document id or grade": (
        "f.jsonl",
        labels([{"id": 2}]),
        "entry 1: it is a dict that is not the JSON form of a Document",
    ),
    "document without anything": ("f.jsonl", labels([{"id": None}]), "none of the keys id, content"),
    "surrogate in a key": ("f.jsonl", labels([{"\ud800": PRIVATE}]), "entry 1: a text as grade"),
    "document blob": ("f.jsonl", labels([{"id": "d", "blob": PRIVATE}]), "(TypeError while reading it)"),
    "csv few cells": ("f.csv", 'id,question\n1,"PRIVATE\nb"\n2\n', "f.csv:4: 1 cells, expected 2 as in the header"),
    "csv many cells": ("f.csv", "id,question\n1,PRIVATE,PRIVATE\n", "f.csv:2: 3 cells, expected 2"),
    "csv blank line": ("f.csv", "id,question\n\n1,PRIVATE\n", "f.csv:2: a blank line"),
    "csv header alone": ("f.csv", "id,question\n\n", "no row below the header"),
    "csv unnamed": ("f.csv", ",question\n0,PRIVATE\n", "f.csv:1: cell 1 of the header is empty"),
    "csv name twice": ("f.csv", "id,x,x\n1,2,3\n", "f.csv:1: column 'x' a second time in the header"),
    "csv two meanings": ("f.csv", "id,question,query\n1,PRIVATE,PRIVATE\n", "columns 'question' and 'query' both mean"),
    "csv open quote": ("f.csv", 'id,question\n1,a\n2,"PRIVATE\n3,b\n', "f.csv:3: not a row of cells (unexpected end"),
    "csv stray quote": ("f.csv", 'id,question\n1,"PRIVATE"x\n', "f.csv:2: not a row of cells"),
    "a near miss": (
        "f.jsonl",
        '{"qestion": "PRIVATE"}',
        "Did you mean 'qestion'? Then say so: --column question=qestion, in Python columns={'question': 'qestion'}",
    ),
    "inputs of several texts": (
        "f.jsonl",
        '{"inputs": {"one": "PRIVATE", "two": "PRIVATE"}}',
        "If an entry of 'inputs' holds it: --column question=inputs.ENTRY",
    ),
    "two names of others": (
        "f.jsonl",
        j(target="PRIVATE", expected_output="PRIVATE"),
        "columns 'expected_output' and 'target' may mean 'reference_answer'",
    ),
    "right answers in answer": (
        "f.jsonl",
        j(answer=["PRIVATE"]),
        "column 'answer': a list, expected a text; of right answers say --column reference_answer=answer",
    ),
    "json in one line": (
        "f.json",
        json.dumps([{"id": n, "answer": None if n == 401 else "PRIVATE"} for n in range(1, 501)]),
        "f.json: column 'answer': missing in 1 of 500 rows (entry 401)",
    ),
    "json columns of different lengths": (
        "f.json",
        '{"questions": ["PRIVATE"], "ground_truths": []}',
        "columns of different lengths ('questions' has 1, 'ground_truths' has 0)",
    ),
    "json empty object": ("f.json", "{}", "an object whose entries are no columns (it is empty)"),
    "json empty data": ("f.json", '{"version": 1, "data": []}', "no rows, expected a JSON list"),
    "json empty columns": ("f.json", '{"question": []}', "the columns are empty"),
    "spreadsheet": ("f.xls", "x", "save the sheet as CSV UTF-8"),
    "csv broken list of texts": (
        "f.csv",
        'id,contexts\n1,"[""PRIVATE"", 2"\n',
        "f.csv:2: column 'contexts': not JSON",
    ),
    "csv object of SQuAD": (
        "f.csv",
        "id,reference\n1,\"{'text': array(['PRIVATE'], dtype=object)}\"\n",
        "column 'reference': an object of SQuAD as text, expected a text or a list of texts",
    ),
    "csv list of numpy": (
        "f.csv",
        "id,reference\n1,\"['PRIVATE' 'b']\"\n",
        "column 'reference': no comma behind entry 1 of the list (numpy prints arrays without): not a list as Python",
    ),
    "csv list of Python's objects": (
        "f.csv",
        "id,contexts\n1,\"[{'content': 'PRIVATE'}]\"\n",
        "in a cell that starts with [ and a quotation mark or brace (in Python json.dumps writes it)",
    ),
    "csv list with another escape": (
        "f.csv",
        "id,contexts\n1,\"['PRIVATE\\q']\"\n",
        "an escape that Python's repr does not write",
    ),
    "csv list of a name": ("f.csv", "id,contexts\n1,\"['PRIVATE', nan]\"\n", "entry 2 of the list is no quoted text"),
    "csv list of numbers": (
        "f.csv",
        'id,reference\n1,"[""PRIVATE"", 2]"\n',
        "column 'reference': entry 2 is a number, expected a text",
    ),
    "csv bad JSON": ("f.csv", 'id,tags\n1,"[""PRIVATE"""\n', "f.csv:2: column 'tags': not JSON"),
    "csv NaN": ("f.csv", 'id,documents\n1,"[{""d"": NaN}]"\n', "f.csv:2: column 'documents': not strict JSON (NaN"),
    "csv empty part": (
        "f.csv",
        "id,documents\n1,a||b\n",
        "column 'documents': an empty part, expected parts separated by |",
    ),
    "csv flag": ("f.csv", "id,answerable\n1,PRIVATE\n", "f.csv:2: column 'answerable': a text that is no flag"),
    "csv empty scalar": (
        "f.csv",
        "id,question\n1,PRIVATE\n2,\n",
        "column 'question': missing in 1 of 2 rows (line 3)",
    ),
}


TWO_GRADES: dict[str, tuple[list[Any], str]] = {
    "keys": (["x", {"PRIVATE": 1}, {"PRIVATE": 2}], "id"),
    "contents": (["x", {"PRIVATE text": 1}, {"PRIVATE text": 2}], "content"),
    "Documents": ([{"id": "x"}, {"id": "d", "score": 1}, {"id": "d", "score": 2}], "id"),
    "derived ids": ([{"id": "x"}, {"content": "PRIVATE", "score": 1}, {"content": "PRIVATE", "score": 2}], "id"),
    "a key and a Document": (["x", {"PRIVATE": 1}, {"id": "PRIVATE", "score": 2}], "id"),
    "a Document and an integer key": (["x", {"meta": {"page": 7}, "score": 1}, 7], "meta.page"),
    "spans": (["x", SPAN | {"grade": 1}, SPAN | {"grade": 2}], "meta.file"),
    "a span and a Document": (
        ["x", SPAN | {"grade": 1}, {"meta": {"file": "PRIVATE", "start": 3, "end": 9}, "score": 2}],
        "meta.file",
    ),
    "a span and a chunk": (
        ["x", SPAN | {"grade": 1}, {"content": "abcdef", "file": "PRIVATE", "split_idx_start": 3, "score": 2}],
        "meta.file",
    ),
}


@pytest.mark.parametrize(("entries", "label_field"), TWO_GRADES.values(), ids=TWO_GRADES)
def test_a_label_with_two_grades_is_refused_whatever_its_form(
    tmp_path: Path, entries: list[Any], label_field: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_dataset(store(tmp_path, "f.jsonl", labels(entries)), label_field=label_field)
    assert "column 'relevant_documents': entries 2 and 3 are the same label with two grades" in str(caught.value)
    assert PRIVATE not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [{"id": 3, "score": 2}, {"content": 1}, {"meta": {"page": 1}}, {"document": "f", "start": 0, "end": 3}, {"end": 1}],
)
def test_one_document_or_span_without_its_list_is_refused(tmp_path: Path, value: dict[str, Any]) -> None:
    with pytest.raises(DatasetError, match=r"'relevant_documents': one object with .*, or a list around a Document"):
        read_dataset(store(tmp_path, "f.jsonl", labels(value)))


def test_contents_as_keys_are_not_split(tmp_path: Path) -> None:
    file = store(tmp_path, "f.csv", "id,documents\n1,PRIVATE | Qty\n")
    with pytest.raises(DatasetError, match=r"column 'documents': \| in a cell whose keys are contents") as caught:
        read_dataset(file, label_field="content")
    assert PRIVATE not in str(caught.value)


@pytest.mark.parametrize(("name", "data", "expected"), BROKEN.values(), ids=BROKEN)
def test_broken_files(tmp_path: Path, name: str, data: str | bytes, expected: str) -> None:
    file = store(tmp_path, name, data)
    with pytest.raises(DatasetError) as caught:
        read_dataset(file)
    assert expected in str(caught.value)
    assert all(problem.startswith(f"{file}:") for problem in caught.value.problems)
    assert PRIVATE not in str(caught.value)


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    text = j(answer=1) + "{\n" + j(id="s", tags=3, answer="a") + "".join(j(id=f"x{n}", answer=n) for n in range(30))
    with pytest.raises(DatasetError) as caught:
        read_dataset(store(tmp_path, "f.jsonl", text))
    assert [int(problem.split(":")[1]) for problem in caught.value.problems] == list(range(1, 34))
    assert str(caught.value).count("\n") == 21
    assert str(caught.value).endswith("and 13 more")


@pytest.mark.parametrize("label_field", ["", "meta", "meta.", "score", "Meta.x"])
def test_label_fields_that_are_none(tmp_path: Path, label_field: str) -> None:
    with pytest.raises(ValueError, match=r"label_field must be 'id', 'content' or 'meta.<key>'"):
        read_dataset(store(tmp_path, "f.jsonl", j()), label_field=label_field)


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"f\.csv: cannot be read: No such file"):
        read_dataset(tmp_path / "f.csv")
