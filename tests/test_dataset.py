# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Data files: every form that is read."""

import csv
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from haystack import Document
from hypothesis import given, settings
from hypothesis import strategies as st

from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.runs.dataset import COLUMNS, Column, Dataset, read_dataset


def store(folder: Path, name: str, data: str | bytes) -> Path:
    file = folder / name
    content = data.encode("utf-8") if isinstance(data, str) else data
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return file


def rows_read(folder: Path, *rows: dict[str, Any], label_field: str = "id") -> Dataset:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return read_dataset(store(folder, "rows.jsonl", text), label_field=label_field)


ROW = {"id": "r1", "question": "Who?\u2028Me.", "answer": "", "tags": ["a", "b"], "extra": [1, None]}
WRITTEN = {
    "rows.jsonl": json.dumps(ROW, ensure_ascii=False) + "\r\n\r\n",
    "rows.ndjson": "\ufeff" + json.dumps(ROW),
    "ROWS.JSON": " [\n" + json.dumps(ROW, indent=2) + "\n]\n",
    "rows.jsonl.gz": json.dumps(ROW),
}


@pytest.mark.parametrize(("name", "data"), WRITTEN.items(), ids=WRITTEN)
def test_json_forms(tmp_path: Path, name: str, data: str) -> None:
    file = store(tmp_path, name, data)
    assert read_dataset(file) == Dataset(str(file), [ROW])


@pytest.mark.parametrize(("name", "delimiter"), [("rows.csv", ","), ("rows.tsv", "\t"), ("rows.csv.gz", ",")])
def test_delimited_forms(tmp_path: Path, name: str, delimiter: str) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(["qid", " query", "relevant_documents", "contexts", "answerable", "tags", "reference", "extra"])
    writer.writerow(["1", 'a,\tb\n"c"', "d1 | d2", '["x|y", "z"]', "YES", "", "[1] yes", "07"])
    writer.writerow(["2", "q", '{"d1": 2, "d 3": 0.5}', "", "0", "t", "", ""])
    data = read_dataset(store(tmp_path, name, "\ufeff" + buffer.getvalue() + "\n\n"))
    assert [list(row) for row in data.rows] == [
        ["id", "question", "reference_answer", "contexts", "relevant_documents", "answerable", "tags", "extra"]
    ] * 2
    assert data.ids == ["1", "2"]
    assert data.column("question") == ['a,\tb\n"c"', "q"]
    assert data.column("contexts") == [["x|y", "z"], []]
    assert data.column("relevant_documents") == [
        [Document(id="d1"), Document(id="d2")],
        [Document(id="d1", score=2.0), Document(id="d 3", score=0.5)],
    ]
    assert data.column("answerable") == [True, False]
    assert data.column("tags") == [[], ["t"]]
    assert data.column("reference_answer") == ["[1] yes", []]
    assert data.column("extra") == ["07", None]
    assert (len(data), data.unanswerable) == (2, ["2"])


CELLS: list[tuple[str, str, Any]] = [
    ("contexts", "Price | Qty table", ["Price | Qty table"]),
    ("contexts", "[1] Smith, 2020", ["[1] Smith, 2020"]),
    ("contexts", "[[link]] {x}", ["[[link]] {x}"]),
    ("contexts", '{"a": 1}', ['{"a": 1}']),
    ("contexts", ' ["a|b", "c"] ', ["a|b", "c"]),
    ("contexts", '[ {"content": "a"}]', ["a"]),
    ("contexts", "[]", []),
    ("contexts", " ", []),
    ("contexts", "['a', \"it's\"]", ["a", "it's"]),
    ("contexts", r"[ 'l\nm \x41\u20ac\U0001F600\\', 'b', ]", ["l\nm A€😀\\", "b"]),
    ("tags", "['a', 'b']", ["a", "b"]),
    ("documents", "['d1', 'd2']", [Document(id="d1"), Document(id="d2")]),
    ("reference_answer", '["Paris", "Paris, France"]', ["Paris", "Paris, France"]),
    ("reference_answer", "['Paris']", ["Paris"]),
    ("reference_answer", "a|b", "a|b"),
    ("reference_answer", "[1, 2]", "[1, 2]"),
    ("reference_answer", "[] is empty", "[] is empty"),
    ("reference_answer", " Paris ", " Paris "),
    ("answer", '["Paris"]', '["Paris"]'),
    ("tags", "a|b", ["a", "b"]),
]


@pytest.mark.parametrize(("column", "cell", "expected"), CELLS)
def test_what_a_csv_cell_holds(tmp_path: Path, column: str, cell: str, expected: Any) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([["id", column], ["1", cell]])
    assert read_dataset(store(tmp_path, "rows.csv", buffer.getvalue())).column(column) == [expected]


def value_for(kind: str) -> Any:
    return {"id": "x", "text": "t", "references": ["r"], "flag": False}.get(kind, ["v"])


@pytest.mark.parametrize(("column", "alias"), [(column, alias) for column in COLUMNS for alias in column.aliases])
def test_aliases(tmp_path: Path, column: Any, alias: str) -> None:
    row = {"id": "x", alias: value_for(column.kind)} if column.name != "id" else {alias: "x"}
    data = rows_read(tmp_path, row)
    assert data.has(column.name)
    assert not data.has(alias)


def test_the_page_about_data_has_the_columns() -> None:
    page = Path(__file__).parent.parent / "docs" / "data.md"
    table = [line for line in page.read_text("utf-8").partition("## Columns")[2].splitlines() if line.startswith("| `")]

    def row(column: Column) -> str:
        names = ", ".join(f"`{alias}`" for alias in column.aliases)
        socket = f"`{column.socket}`" if column.socket else ""
        return f"| `{column.name}` | {names} | {column.description} | {socket} |".replace("  ", " ")

    assert table[: len(COLUMNS)] == [row(column) for column in COLUMNS]


def test_the_aliases_of_the_issue_are_there() -> None:
    assert {column.name: set(column.aliases) for column in COLUMNS if column.aliases} == {
        "id": {"row_id", "question_id", "query_id", "qid"},
        "question": {"query", "user_input", "questions"},
        "reference_answer": {
            "ground_truth_answer",
            "ground_truth_answers",
            "expected_answer",
            "reference",
            "reference_answers",
        },
        "answer": {"predicted_answer", "predicted_answers", "response"},
        "documents": {"retrieved_documents"},
        "contexts": {"retrieved_contexts"},
        "relevant_documents": {"ground_truth_documents"},
        "other_answer": {"answer_b", "other_answers"},
        "cluster": {"document_group"},
    }


def without_id(**fields: Any) -> Document:
    """A Document that nobody gave an id: Haystack would hash its content and meta."""
    document = Document(**fields)
    object.__setattr__(document, "id", "")
    return document


FULL = Document(id="x", content="c", meta={"page": 1, "id": "inner", "n": {"a": [1]}}, score=0.5)
SPAN = {"key": "f", "start": 3, "end": 9}
ENTRIES: list[tuple[str, Any, str, list[Document]]] = [
    ("a key", ["d"], "id", [Document(id="d")]),
    ("an integer key", [7], "id", [Document(id="7")]),
    ("a key in content", ["d"], "content", [Document(content="d")]),
    ("a key in meta", ["d"], "meta.file", [Document(meta={"file": "d"})]),
    ("an integer in content", [7], "content", [Document(content="7")]),
    ("an integer in meta", [7], "meta.page", [Document(meta={"page": 7})]),
    ("the key of a grade is a text", [{"7": 2}], "meta.page", [Document(meta={"page": "7"}, score=2.0)]),
    (
        "an integer as key of a span",
        [{"document": 7, "start": 0, "end": 1}],
        "meta.page",
        [Document(meta={"page": 7, "start": 0, "end": 1})],
    ),
    (
        "one key with equal grades",
        ["d", {"id": "d"}, {"e": 2}, {"id": "e", "score": 2}],
        "id",
        [Document(id="d"), Document(id="d"), Document(id="e", score=2.0), Document(id="e", score=2.0)],
    ),
    (
        "chunks of one document with grades of their own",
        [
            {"content": "ab", "meta": {"file": "f", "split_idx_start": 0}, "score": 1},
            {"content": "cd", "meta": {"file": "f", "split_idx_start": 2}, "score": 2},
        ],
        "meta.file",
        [
            Document(content="ab", meta={"file": "f", "split_idx_start": 0}, score=1.0),
            Document(content="cd", meta={"file": "f", "split_idx_start": 2}, score=2.0),
        ],
    ),
    ("a dotted meta key", [{"d": 2}], "meta.a.b", [Document(meta={"a.b": "d"}, score=2.0)]),
    (
        "grades",
        [{"d": 0}, {"e": 0.25}, "f"],
        "id",
        [Document(id="d", score=0.0), Document(id="e", score=0.25), Document(id="f")],
    ),
    ("a span", [SPAN], "id", [Document(id="f", meta={"start": 3, "end": 9})]),
    (
        "a graded span",
        [{"document": "f", "start": 0, "end": 1, "grade": 3}],
        "meta.file",
        [Document(meta={"file": "f", "start": 0, "end": 1}, score=3.0)],
    ),
    (
        "two spans",
        [SPAN | {"grade": 1}, SPAN | {"end": 8, "grade": 2}],
        "id",
        [
            Document(id="f", meta={"start": 3, "end": 9}, score=1.0),
            Document(id="f", meta={"start": 3, "end": 8}, score=2.0),
        ],
    ),
    ("flat JSON", [FULL.to_dict()], "id", [FULL]),
    ("nested JSON", [FULL.to_dict(flatten=False)], "content", [FULL]),
    (
        "minimal JSON",
        [{"id": "5"}, {"content": "c"}, {"meta": {"k": 1}}],
        "id",
        [Document(id="5"), without_id(content="c"), without_id(meta={"k": 1})],
    ),
    ("nothing", [], "id", []),
]


@pytest.mark.parametrize("column", ["documents", "relevant_documents"])
@pytest.mark.parametrize(
    ("entries", "field", "expected"), [case[1:] for case in ENTRIES], ids=[case[0] for case in ENTRIES]
)
def test_document_entries(tmp_path: Path, column: str, entries: Any, field: str, expected: list[Document]) -> None:
    assert rows_read(tmp_path, {"id": "r", column: entries}, label_field=field).column(column) == [expected]


def test_one_object_of_grades(tmp_path: Path) -> None:
    data = rows_read(tmp_path, {"id": "r", "relevant_documents": {"b": 1, "key": 2}}, label_field="content")
    assert data.column("relevant_documents") == [[Document(content="b", score=1.0), Document(content="key", score=2.0)]]


def test_contexts_may_be_documents(tmp_path: Path) -> None:
    assert rows_read(tmp_path, {"id": "r", "contexts": [FULL.to_dict(), "t"]}).column("contexts") == [["c", "t"]]


def test_sockets_take_columns_that_every_row_has(tmp_path: Path) -> None:
    data = rows_read(
        tmp_path,
        {
            "id": 1,
            "question": "q",
            "reference_answer": "r",
            "answer": "a",
            "contexts": ["c"],
            "documents": ["d"],
            "x": 1,
        },
        {"id": 2, "question": "p", "reference_answer": ["s", "t"], "answer": "b", "contexts": [], "documents": []},
    )
    assert data.sockets() == {
        "questions": ["q", "p"],
        "ground_truth_answers": [["r"], ["s", "t"]],
        "predicted_answers": ["a", "b"],
        "contexts": [["c"], []],
        "retrieved_documents": [[Document(id="d")], []],
    }
    assert data.column("x") == [1, None]
    with pytest.raises(ValueError, match=r"has no column 'y', expected one of answer, contexts, documents, id"):
        data.column("y")
    part = Dataset("p", [{"id": "1", "question": "q"}, {"id": "2"}])
    assert part.sockets() == {}
    assert rows_read(tmp_path, {"id": 1, "reference_answer": "r"}).sockets() == {"ground_truth_answers": ["r"]}


def test_derived_ids(tmp_path: Path) -> None:
    data = rows_read(tmp_path, *({"question": text} for text in ("é", "b", "é", "é", "\ud800")))
    first, second = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in ("é", "b"))
    assert data.ids[:4] == [first, second, f"{first}#2", f"{first}#3"]
    assert len(data.ids[4]) == 16


def test_what_rows_may_lack(tmp_path: Path) -> None:
    data = rows_read(
        tmp_path,
        {"id": "1", "relevant_documents": ["d"], "reference_answer": "r", "tags": ["t"], "answer": None, "x": None},
        {"id": "2", "answerable": False, "reference_answer": []},
    )
    assert data.rows[1] == {
        "id": "2",
        "reference_answer": [],
        "relevant_documents": [],
        "answerable": False,
        "tags": [],
    }
    assert data.rows[0]["answerable"] is True
    assert not data.has("answer")
    assert data.has("x")


texts = st.text(st.characters(codec="utf-8"), max_size=8)
rows = st.lists(
    st.fixed_dictionaries({"question": texts.filter(bool), "note": texts, "contexts": st.lists(texts)}), min_size=1
)


@settings(derandomize=True, deadline=None)
@given(rows)
def test_any_rows_come_back_from_json_and_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["question", "note", "contexts"])
    writer.writerows([row["question"], row["note"], json.dumps(row["contexts"])] for row in rows)
    files = {
        "rows.csv": buffer.getvalue(),
        "rows.json": json.dumps(rows),
        "rows.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
    }
    for name, text in files.items():
        data = read_dataset(store(folder, name, text))
        assert [(row["question"], row["note"] or "", row["contexts"]) for row in data.rows] == [
            (row["question"], row["note"], row["contexts"]) for row in rows
        ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mac.csv", "id,question,answer\r1,Who?,Ada\r2,Where?,Rome\r"),
        (
            "mac.jsonl",
            '{"question": "Who?", "answer": "Ada"}\r{"question": "Where?", "answer": "Rome"}',
        ),
    ],
)
def test_lines_end_as_on_an_old_macintosh(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_bytes(text.encode())
    assert [(row["question"], row["answer"]) for row in read_dataset(file).rows] == [
        ("Who?", "Ada"),
        ("Where?", "Rome"),
    ]


def test_a_lone_carriage_return_in_a_header_is_a_fault_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_bytes(b"id,question\r,answer\n1,Who?,Ada\n")
    with pytest.raises(DatasetError, match=r"odd\.csv:\d: "):
        read_dataset(file)
