# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Files and objects of other tools, read without a line of conversion; and columns that the user names."""

from __future__ import annotations

import csv
import json
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from haystack import Document

from haystack_eval_ext import AnswerExactMatchEvaluator, AnswerTokenF1Evaluator, DocumentRankingEvaluator
from haystack_eval_ext.errors import DatasetError, EvaluationError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._vocabularies import FOREIGN
from haystack_eval_ext.runs.dataset import Dataset, open_dataset, read_dataset

pd: Any = pytest.importorskip("pandas")

Q, A, R, C = "Who built it?", "Oda Klee did.", "Ida Roth", "Ida Roth built it."
FULL = {"question": Q, "answer": A, "reference_answer": R, "contexts": [C]}
LISTED = FULL | {"reference_answer": [R]}
ASKED = {"question": Q, "reference_answer": R}
# Tool: a row as it writes it, and what the row means.
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "DeepEval": (
        {"input": Q, "actual_output": A, "expected_output": R, "retrieval_context": [C], "context": ["gold"]},
        FULL,
    ),
    "Ragas 0.1": ({"question": Q, "answer": A, "contexts": [C], "ground_truth": R}, FULL),
    "Ragas 0.1, several": ({"question": Q, "answer": A, "contexts": [C], "ground_truths": [R]}, LISTED),
    "Ragas 0.2 to 0.4": (
        {"user_input": Q, "response": A, "reference": R, "retrieved_contexts": [C], "reference_contexts": ["gold"]},
        FULL,
    ),
    "inspect": ({"input": Q, "target": R}, ASKED),
    "inspect, several": ({"input": Q, "target": [R, "Ida"]}, ASKED | {"reference_answer": [R, "Ida"]}),
    "MLflow": (
        {"inputs": {"question": Q}, "outputs": {"response": A}, "expectations": {"expected_response": R}},
        ASKED | {"answer": A},
    ),
    "MLflow, texts": (
        {"inputs": {"q": Q}, "outputs": A, "expectations": {"expected_response": R, "other": 1}},
        ASKED | {"answer": A},
    ),
    "LangSmith results": (
        {"inputs": {"question": Q}, "outputs": {"answer": A}, "reference_outputs": {"answer": R}},
        ASKED | {"answer": A},
    ),
    "LangSmith to_pandas": (
        {"inputs.question": Q, "outputs.output": A, "reference.answer": R, "execution_time": 1.5},
        ASKED | {"answer": A},
    ),
    "LangSmith examples": ({"inputs": {"question": Q}, "outputs": {"answer": R}}, {"question": Q}),
    "Haystack": (
        {
            "questions": Q,
            "predicted_answers": A,
            "ground_truth_answers": [R],
            "contexts": [C],
            "retrieved_documents": ["d"],
            "ground_truth_documents": ["d"],
        },
        LISTED | {"documents": [Document(id="d")], "relevant_documents": [Document(id="d")]},
    ),
    "SQuAD": (
        {"id": "a", "title": "t", "context": C, "question": Q, "answers": {"text": [R, R], "answer_start": [0, 0]}},
        {"id": "a", "question": Q, "reference_answer": [R], "contexts": [C], "answerable": True},
    ),
    "WebQuestions": ({"question": Q, "answers": [R]}, ASKED | {"reference_answer": [R]}),
    "a number is no reference": ({"question": Q, "answer": A, "target": 3}, {"question": Q, "answer": A}),
    "objects are no references": (
        {"question": Q, "answer": A, "answers": [{"type": "multiple"}], "ground_truth": [{"id": "d"}]},
        {"question": Q, "answer": A},
    ),
    "our names go first": ({"question": Q, "input": "other", "reference": R, "target": "other"}, ASKED),
}


def meant(data: Dataset) -> list[dict[str, Any]]:
    names = ("question", "answer", "reference_answer", "contexts", "documents", "relevant_documents", "answerable")
    return [{name: row[name] for name in names if name in row} for row in data.rows]


def without_id(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id"}


@pytest.mark.parametrize("tool", ROWS)
def test_rows_of_other_tools(tool: str, tmp_path: Path) -> None:
    row, expected = ROWS[tool]
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert meant(read_dataset(file)) == meant(open_dataset([row])) == [without_id(expected)]
    again = open_dataset(open_dataset([row]))
    assert meant(again) == [without_id(expected)]


def test_questions_of_squad_2_that_have_no_answer_are_not_answerable(tmp_path: Path) -> None:
    nested = {
        "version": "v2.0",
        "data": [
            {
                "title": "Mill",
                "paragraphs": [
                    {
                        "context": C,
                        "qas": [
                            {"id": "a", "question": Q, "answers": [{"text": R, "answer_start": 0}] * 2},
                            {"id": "b", "question": "Who sold it?", "answers": [], "is_impossible": True},
                        ],
                    }
                ],
            }
        ],
    }
    file = tmp_path / "dev.json"
    file.write_text(json.dumps(nested), encoding="utf-8")
    data = read_dataset(file)
    assert (data.ids, data.unanswerable, data.column("title")) == (["a", "b"], ["b"], ["Mill", "Mill"])
    assert data.column("reference_answer") == [[R], []]
    assert data.column("contexts") == [[C], [C]]


@pytest.mark.parametrize("meaning", FOREIGN)
def test_the_page_about_data_names_the_names_of_other_tools(meaning: str) -> None:
    page = (Path(__file__).parent.parent / "docs" / "data.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in FOREIGN[meaning])


FILES: dict[str, tuple[str, str]] = {
    "semicolons": ("f.csv", f"\ufeffquestion;answer;reference_answer\r\n{Q};{A};{R}\r\n"),
    "semicolons and sep=": ("f.csv", f"sep=;\r\nquestion;answer;reference_answer\r\n{Q};{A};{R}\r\n"),
    "semicolons, a name with commas": (
        "f.csv",
        f"question;answer;P(a=1,b=2,c=3,d=4);reference_answer\n{Q};{A};1,0;{R}\n",
    ),
    "commas, a name with semicolons": (
        "f.csv",
        f'question,answer,"a;b;c;d;e",reference_answer\n{Q},{A},"1;0",{R}\n',
    ),
    "tabs": ("f.csv", f"question\tanswer\treference_answer\n{Q}\t{A}\t{R}\n"),
    "commas in .tsv": ("f.tsv", f"question,answer,reference_answer\n{Q},{A},{R}\n"),
    "columns": ("f.json", json.dumps({"questions": [Q], "answer": [A], "ground_truths": [R]})),
    "pandas": ("f.json", pd.DataFrame([ASKED | {"answer": A}]).to_json()),
    "pandas, split": ("f.json", pd.DataFrame([ASKED | {"answer": A}]).to_json(orient="split")),
    "pandas, table": ("f.json", pd.DataFrame([ASKED | {"answer": A}]).to_json(orient="table")),
    "pandas, lines": ("f.jsonl", pd.DataFrame([ASKED | {"answer": A}]).to_json(orient="records", lines=True)),
}


@pytest.mark.parametrize("kind", FILES)
def test_forms_of_files(kind: str, tmp_path: Path) -> None:
    name, text = FILES[kind]
    (tmp_path / name).write_bytes(text.encode("utf-8"))
    assert meant(read_dataset(tmp_path / name)) == [ASKED | {"answer": A}]


def test_a_list_in_the_csv_of_pandas(tmp_path: Path) -> None:
    texts = ["it's", 'say "x"', "both ' and \"", "two\nlines", "日本\u200b", "back\\slash", "C:\\new"]
    pd.DataFrame([{"user_input": Q, "retrieved_contexts": texts, "reference": R}]).to_csv(
        tmp_path / "r.csv", index=False
    )
    assert read_dataset(tmp_path / "r.csv").column("contexts") == [texts]


def test_objects_in_the_csv_of_mlflow(tmp_path: Path) -> None:
    row = {"inputs": {"question": Q}, "outputs": {"response": A}, "expectations": {"expected_response": R}}
    for write, expected in ((json.dumps, [ASKED | {"answer": A}]), (repr, None)):
        pd.DataFrame([{name: write(value) for name, value in row.items()}]).to_csv(tmp_path / "m.csv", index=False)
        if expected:
            assert meant(read_dataset(tmp_path / "m.csv")) == expected
            continue
        with pytest.raises(DatasetError, match="If an entry of 'inputs' holds it"):
            read_dataset(tmp_path / "m.csv")


def test_cells_of_any_length_are_read_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    file = tmp_path / "long.csv"
    file.write_text("question,contexts\n" + f'q,"{"x" * 300_000}"\n' * 3, encoding="utf-8")
    threads = [threading.Thread(target=read_dataset, args=(file,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(row[0]) for row in read_dataset(file).column("contexts")] == [300_000] * 3
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(("rows", "told"), [(["c one|c two"] * 3, True), (["c|d", "e", "f"], False)])
def test_pipes_in_contexts_are_told(
    rows: list[str], told: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "p.csv"
    file.write_text("question,contexts\n" + "".join(f"q,{row}\n" for row in rows), encoding="utf-8")
    assert read_dataset(file).column("contexts") == [[row] for row in rows]
    assert ("contexts has a | in 3 of 3 rows" in caplog.text) is told


TABLE = [ASKED | {"answer": A, "contexts": [C]}, ASKED | {"answer": None, "contexts": [C]}]


class Arrow:
    """As an Arrow table, or a data set of Hugging Face: it gives its rows by a method."""

    def __init__(self, method: str) -> None:
        setattr(self, method, lambda: [FULL])


OBJECTS: dict[str, Any] = {
    "DataFrame": pd.DataFrame([FULL]),
    "DataFrame with arrays": pd.DataFrame([FULL | {"contexts": np.array([C], dtype=object)}]),
    "a column dictionary": {name: [value] for name, value in FULL.items()},
    "a dictionary of Series": {name: pd.Series([value]) for name, value in FULL.items()},
    "a tuple of rows": (FULL,),
    "an Arrow table": Arrow("to_pylist"),
    "a data set of Hugging Face": Arrow("to_list"),
    "polars": SimpleNamespace(columns=list(FULL), to_dicts=lambda: [FULL]),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_of_other_packages(kind: str) -> None:
    assert meant(open_dataset(OBJECTS[kind])) == [FULL]


def test_a_missing_value_of_pandas_is_missing() -> None:
    frame = pd.DataFrame(
        {"question": [Q, Q, Q], "reference_answer": [R, float("nan"), None], "note": [pd.NA, pd.NaT, 1]}
    )
    data = open_dataset(frame)
    assert data.column("reference_answer") == [R, [], []]
    assert data.column("note") == [None, None, 1]
    with pytest.raises(DatasetError, match=r"column 'question': missing in 1 of 2 rows \(row 1\)"):
        open_dataset(pd.DataFrame({"id": [1, 2], "question": [Q, float("nan")]}))


def test_numbers_of_numpy_in_rows() -> None:
    (row,) = open_dataset(
        [{"id": np.int64(7), "question": Q, "answerable": np.bool_(False), "cost": np.float32(0.5)}]
    ).rows
    assert (row["id"], row["answerable"], type(row["cost"])) == ("7", False, float)


SPLIT = SimpleNamespace(column_names=["question"], to_list=lambda: [FULL])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((row for row in [FULL]), r"a generator\. It can be read only once: give list\(x\)"),
        (
            {"train": SimpleNamespace(column_names=["question"], to_list=lambda: [FULL])},
            r"Give one of its splits, such as data\['train'\]",
        ),
        (FULL, r"a dict\. A single row is a list: \[row\]"),
        ({"question": [Q, Q], "answer": [A]}, r"columns of different lengths \(1, 2\)"),
    ],
)
def test_what_holds_no_rows_is_refused_with_a_remedy(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        open_dataset(data)


def test_rows_are_a_file_a_list_or_a_table() -> None:
    with pytest.raises(DatasetError, match=r"d\[0\]: a text, expected a dict of columns"):
        open_dataset(Dataset("d", "xy"))  # type: ignore[arg-type]


def test_parquet(tmp_path: Path) -> None:
    pyarrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([FULL]), tmp_path / "f.parquet")
    assert meant(read_dataset(tmp_path / "f.parquet")) == [FULL]
    (tmp_path / "g.parquet").write_bytes(b"PRIVATE")
    with pytest.raises(DatasetError, match="is not a whole Parquet file"):
        read_dataset(tmp_path / "g.parquet")


def test_parquet_by_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in: Any = ModuleType("pyarrow.parquet")
    stand_in.read_table = lambda _path: SimpleNamespace(to_pylist=lambda: [FULL, FULL | {"question": None}])
    monkeypatch.setitem(sys.modules, "pyarrow", ModuleType("pyarrow"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", stand_in)
    with pytest.raises(DatasetError, match=r"f\.parquet: column 'question': missing in 1 of 2 rows \(entry 2\)"):
        read_dataset(tmp_path / "f.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DatasetError, match=r'f\.parquet: Parquet .* pip install "haystack-eval-ext\[parquet\]"'):
        read_dataset(tmp_path / "f.parquet")


GOLD = [{"question": Q, "answer": R, "model": {"said": A}, "ground_truht": R}]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"reference_answer": "answer"}, ASKED),
        ({"reference_answer": "answer", "answer": "model.said"}, ASKED | {"answer": A}),
        ({"answer": "model.said"}, {"question": Q, "answer": A}),
        ({"ground_truth_answers": "ground_truht"}, ASKED | {"answer": R}),
    ],
)
def test_a_user_says_what_columns_mean(columns: dict[str, str], expected: dict[str, Any]) -> None:
    data = open_dataset(GOLD, columns=columns)
    assert meant(data) == [expected]
    assert meant(open_dataset(data)) == [expected]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"reference_answr": "answer"}, "'reference_answr' is no meaning of a column; did you mean reference_answer"),
        ({"reference_answer": "anwser"}, "there is no column 'anwser' for 'reference_answer'; did you mean answer"),
        ({"answer": "model.what"}, r"there is no column 'model\.what' for 'answer'"),
        ({"answer": "answer", "reference_answer": "answer"}, "must be named once each"),
        ({"answer": 3}, "must name one column"),
    ],
)
def test_what_a_user_says_wrongly_is_refused(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        open_dataset(GOLD, columns=columns)


def test_options_of_a_run_may_be_numbers_of_numpy() -> None:
    numbers: dict[str, Any] = {
        "concurrency": np.int64(2),
        "repeats": np.int8(2),
        "sample": np.int64(1),
        "seed": np.uint8(3),
    }
    numbers["timeout"] = np.float32(5)
    evaluators = {"em": AnswerExactMatchEvaluator()}
    run = api.run_rag(evaluators, [ASKED, ASKED], lambda _question: {"answer": R}, progress=False, **numbers)
    assert (run.scores, run.repeats, json.loads(run.to_json())["name"]) == ({"em": 1.0}, 2, run.name)


@pytest.mark.parametrize("sequence", [tuple, lambda values: np.array(values, dtype=object), pd.Series])
def test_a_function_may_return_any_sequence(sequence: Any) -> None:
    found = {"answer": R, "documents": sequence(["d", "e"]), "contexts": sequence([C])}
    labels = [ASKED | {"relevant_documents": ["e"]}]
    ranking = DocumentRankingEvaluator(["RR"], document_comparison_field="id")
    run = api.run_rag({"rr": ranking}, labels, lambda _question: found, progress=False)
    assert (run.scores, run.rows[0]["contexts"]) == ({"rr.RR": 0.5}, [C])


def test_one_word_feeds_all_components() -> None:
    evaluators = {"em": AnswerExactMatchEvaluator(), "f1": AnswerTokenF1Evaluator()}
    columns = {"reference_answer": "answer", "answer": "model.said"}
    assert api.evaluate(evaluators, GOLD, columns=columns).scores == {"em": 0.0, "f1": 0.0}
    run = api.run_rag(evaluators, GOLD, lambda _question: {"answer": R}, columns=columns, progress=False)
    assert run.scores == {"em": 1.0, "f1": 1.0}
    with pytest.raises(ValueError, match="a run has its columns under our names"):
        api.evaluate(evaluators, run, columns=columns)


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"question": Q, "answer": R}, "If 'answer' holds the right answer: --column reference_answer=answer"),
        ({"question": Q, "answer": R, "ground_truht": R}, "Did you mean 'ground_truht'?"),
        (
            {"inputs": {"q": Q}, "outputs": {"a": R}},
            "If 'outputs' holds the right answer: --column reference_answer=outputs",
        ),
    ],
)
def test_what_may_be_meant_is_suggested(row: dict[str, Any], hint: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        api.evaluate({"em": AnswerExactMatchEvaluator()}, [row])
    assert hint in str(caught.value)
