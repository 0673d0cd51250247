# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""TREC files against pytrec_eval's and ir_measures' readers, and every way in which they can be broken."""

import gzip
import math
import pickle
import random
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from haystack_eval_ext.errors import TrecFileError
from haystack_eval_ext.runs.run import load_run
from haystack_eval_ext.runs.trec import Qrels, Run, align, read_qrels, read_run
from haystack_eval_ext.runs.trec_runs import evaluate_trec

QUERIES = [f"q{number}" for number in range(40)] + ["質問1", "10", "9"]
DOCUMENTS = ["d1", "d10", "D1", "é", "z", "文書", "文書2", "a\u00a0b", "\U0001f600", "x\u3000y"]


def generated_qrels(seed: int) -> Qrels:
    chance = random.Random(seed)
    return {
        query: {document: chance.randint(-1, 3) for document in chance.sample(DOCUMENTS, chance.randint(1, 8))}
        for query in QUERIES
    }


def generated_run(seed: int) -> dict[str, dict[str, float]]:
    """Scores on a grid of quarters: many ties, and exact in single precision, which pytrec_eval uses."""
    chance = random.Random(seed)
    return {
        query: {document: chance.randint(-3, 3) / 4 for document in chance.sample(DOCUMENTS, chance.randint(1, 10))}
        for query in QUERIES
    }


def run_lines(run: dict[str, dict[str, float]], separator: str, end: str) -> str:
    return "".join(
        separator.join((query, "Q0", document, "1", repr(score), "tag")) + end
        for query, scores in run.items()
        for document, score in scores.items()
    )


def qrels_lines(qrels: Qrels, separator: str, end: str) -> str:
    return "".join(
        separator.join((query, "0", document, str(grade))) + end
        for query, grades in qrels.items()
        for document, grade in grades.items()
    )


def store(file: Path, data: str | bytes) -> Path:
    content = data.encode("utf-8") if isinstance(data, str) else data
    file.write_bytes(gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)
    return file


FORMS = [
    pytest.param(" ", "\n", "", "f.txt", id="blanks"),
    pytest.param("\t", "\r\n", "", "f.txt", id="tabs-crlf"),
    pytest.param(" \t ", "\n", "\ufeff", "f.txt", id="bom"),
    pytest.param("\t", "\n", "", "f.txt.gz", id="gzip"),
]


@pytest.mark.parametrize(("separator", "end", "before", "name"), FORMS)
def test_qrels_as_others_read_them(tmp_path: Path, separator: str, end: str, before: str, name: str) -> None:
    qrels = generated_qrels(1)
    read = read_qrels(store(tmp_path / name, before + qrels_lines(qrels, separator, end)))
    # The other readers split at every Unicode blank; they get ids without one.
    plain = {q: {d: g for d, g in grades.items() if d.split() == [d]} for q, grades in qrels.items()}
    file = store(tmp_path / "plain.txt", qrels_lines(plain, separator.strip(" ") or " ", "\n"))
    with file.open(encoding="utf-8") as lines:
        theirs = pytrec_eval.parse_qrel(lines)
    assert {q: {d: g for d, g in grades.items() if d.split() == [d]} for q, grades in read.items()} == {
        q: theirs.get(q, {}) for q in qrels
    }
    items = ir_measures.read_trec_qrels(str(file))  # type: ignore[no-untyped-call]
    pairs = [(item.query_id, item.doc_id, item.relevance) for item in items]
    assert pairs == [(q, d, g) for q, grades in read.items() for d, g in grades.items() if d.split() == [d]]
    assert read == qrels


@pytest.mark.parametrize(("separator", "end", "before", "name"), FORMS)
def test_run_as_others_read_it(tmp_path: Path, separator: str, end: str, before: str, name: str) -> None:
    run = generated_run(2)
    read = read_run(store(tmp_path / name, before + run_lines(run, separator, end)))
    plain = {q: {d: s for d, s in scores.items() if d.split() == [d]} for q, scores in run.items()}
    file = store(tmp_path / "plain.txt", run_lines(plain, " ", "\n"))
    with file.open(encoding="utf-8") as lines:
        theirs = pytrec_eval.parse_run(lines)
    assert {q: {d: s for d, s in ranked if d.split() == [d]} for q, ranked in read.items()} == {
        q: theirs.get(q, {}) for q in run
    }
    items = ir_measures.read_trec_run(str(file))  # type: ignore[no-untyped-call]
    scored = [(item.query_id, item.doc_id, item.score) for item in items]
    assert sorted(scored) == sorted((q, d, s) for q, found in read.items() for d, s in found if d.split() == [d])
    assert list(read) == list(run)


def test_ranks_are_those_of_trec_eval(tmp_path: Path) -> None:
    run = generated_run(3)
    read = read_run(store(tmp_path / "run.txt", run_lines(run, " ", "\n")))
    ties = 0
    for query, ranked in read.items():
        ties += len(ranked) - len({score for _, score in ranked})
        for rank, (document, _) in enumerate(ranked, start=1):
            evaluator = pytrec_eval.RelevanceEvaluator({query: {document: 1}}, {"recip_rank"})
            assert evaluator.evaluate({query: run[query]})[query]["recip_rank"] == pytest.approx(1 / rank, abs=1e-12)
    assert ties > 50


def test_scores_are_doubles_and_the_rank_column_is_ignored(tmp_path: Path) -> None:
    # In single precision b and a tie and b, the greater id, is first.
    file = store(tmp_path / "run.txt", "q Q0 b 1 1 t\nq Q0 a 99 1.000000001 t\nq Q0 c x -1e-3 t\n")
    assert read_run(file) == {"q": [("a", 1.000000001), ("b", 1.0), ("c", -0.001)]}


def test_beir_labels_and_kept_grades(tmp_path: Path) -> None:
    file = store(
        tmp_path / "test.tsv", 'query-id\tcorpus-id\tscore\r\nq 1\td 1\t2\r\nq 1\t"d""2"\t0.9\r\nq2\tq2\t1\r\n'
    )
    qrels = read_qrels(file)
    assert qrels == {"q 1": {"d 1": 2, 'd"2': 0.9}, "q2": {"q2": 1}}
    assert isinstance(qrels["q 1"]["d 1"], int)


def test_a_repeated_line_counts_once(tmp_path: Path) -> None:
    assert read_qrels(store(tmp_path / "q", "q 0 d 1\nq 0 d 1\nq 1 d 1.0\n\n \n")) == {"q": {"d": 1}}


H = "query-id\tcorpus-id\tscore\n"
BROKEN_QRELS = {
    "empty": ("", "empty"),
    "blank": (" \n\n", "empty"),
    "three columns": ("q 0 d 1\nq 0 d\n", ":2: 3 columns, expected 4"),
    "five columns": ("q 0 d 1 x\n", ":1: 5 columns"),
    "three columns without grades": ("q 0 d\nr 0 e\n", ":1: 3 columns, expected 4"),
    "three columns, grade a word": ("q d yes\n", ":1: column 'grade'"),
    "comments alone": ("# one\n#two\n", "no row"),
    "blank line inside": ("q 0 d 1\n\nq 0 e 1\n", ":2: a blank line"),
    "grade is a word": ("q 0 d yes\n", ":1: column 'grade': not a finite decimal number"),
    "nan": ("q 0 d nan\n", ":1: column 'grade'"),
    "infinite": ("q 0 d -inf\n", ":1: column 'grade'"),
    "overflow": ("q 0 d 1e999\n", ":1: column 'grade'"),
    "underscore": ("q 0 d 1_0\n", ":1: column 'grade'"),
    "other digits": ("q 0 d ١\n", ":1: column 'grade'"),
    "two grades": ("q 0 d 1\nq 0 e 1\nq 0 d 2\n", ":3: document 'd' has grade 2 for query 'q' and 1 further up"),
    "not UTF-8": (b"q 0 d 1\nq 0 \xff 1\n", ":2: byte 5 of the line is not UTF-8"),
    "beir two columns": (H + "q\td\n", ":2: 2 columns, expected 3"),
    "beir blanks": (H + "q d 1\n", ":2: 1 columns, expected 3"),
    "beir no id": (H + "q\t\t1\n", ":2: 3 columns, expected 3, tab-separated and filled"),
    "beir bad quotes": (H + 'q\t"d"x\t1\n', ":2: 0 columns"),
    "beir score": (H + "q\td\t\n", ":2: 3 columns"),
    "beir NaN": (H + "q\td\tNaN\n", ":2: column 'score'"),
    "beir header alone": (H, "no row below the header"),
}
BROKEN_RUNS = {
    "empty": ("", "empty"),
    "no tag": ("q Q0 d 1 0.5\n", ":1: 5 columns, expected 6"),
    "score is a word": ("q Q0 d 1 high t\n", ":1: column 'score'"),
    "nan": ("q Q0 d 1 1 t\nq Q0 e 2 nan t\n", ":2: column 'score'"),
    "almost infinite": ("q Q0 d 1 infin t\n", ":1: column 'score'"),
    "three columns with scores": ("q d 0.5\nq e 0.25\n", "the third is no rank that counts from 1 for each query"),
    "three columns, a rank twice": ("q d 1\nq e 1\n", "the third is no rank that counts from 1"),
    "three columns, no first rank": ("q d 1\nr e 2\n", "the third is no rank that counts from 1"),
    "three columns of six": ("q Q0 d 1 2 t\nq e 2\n", ":2: 3 columns, expected 6"),
    "comments alone": ("# one\n#two\n", "no row"),
    "comma": ("q Q0 d 1 0,5 t\n", ":1: column 'score'"),
    "duplicate": ("q Q0 d 1 2 t\nr Q0 d 1 2 t\nq Q0 d 2 1 t\n", ":3: document 'd' a second time for query 'q'"),
    "not UTF-8": (b"q\xff\xfe", ":1: byte 2 of the line is not UTF-8; save the file as UTF-8"),
    "UTF-16": ("q Q0 d 1 2.0 t\n".encode("utf-16"), ": is UTF-16; save the file as UTF-8"),
}


@pytest.mark.parametrize(("data", "expected"), BROKEN_QRELS.values(), ids=BROKEN_QRELS)
def test_broken_qrels(tmp_path: Path, data: str | bytes, expected: str) -> None:
    file = store(tmp_path / "qrels", data)
    with pytest.raises(TrecFileError) as caught:
        read_qrels(file)
    assert caught.value.problems[0].startswith(f"{file}:")
    assert expected in str(caught.value)


@pytest.mark.parametrize(("data", "expected"), BROKEN_RUNS.values(), ids=BROKEN_RUNS)
def test_broken_runs(tmp_path: Path, data: str | bytes, expected: str) -> None:
    file = store(tmp_path / "run", data)
    with pytest.raises(TrecFileError) as caught:
        read_run(file)
    assert caught.value.problems[0].startswith(f"{file}:")
    assert expected in str(caught.value)


def test_every_problem_is_listed_and_twenty_are_shown(tmp_path: Path) -> None:
    file = store(tmp_path / "run", "q Q0 d 1 x t\n" * 30)
    with pytest.raises(TrecFileError) as caught:
        read_run(file)
    error = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert [problem.split(":")[1] for problem in error.problems] == [str(line) for line in range(1, 31)]
    assert str(error).startswith("30 problems:\n")
    assert str(error).count("column 'score'") == 20
    assert str(error).endswith("and 10 more")


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("absent.txt", None, "cannot be read: No such file"),
        (".", None, "cannot be read: Is a directory"),
        ("f.gz", b"q 0 d 1\n", "not a whole gzip file"),
        ("f.gz", gzip.compress(b"q 0 d 1\n" * 100, mtime=0)[:-9], "not a whole gzip file"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, data: bytes | None, expected: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(TrecFileError, match=expected):
        read_qrels(tmp_path / name)


ids = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(lambda text: text.split() == [text])
scores = st.floats(allow_nan=False, allow_infinity=False)


# A line that begins with # is a comment.
queries = ids.filter(lambda text: not text.startswith("#"))


@settings(derandomize=True, deadline=None)
@given(st.dictionaries(queries, st.dictionaries(ids, scores, min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_run_is_read_and_ranked(tmp_path_factory: pytest.TempPathFactory, run: dict[str, dict[str, float]]) -> None:
    file = store(tmp_path_factory.mktemp("runs") / "run.txt", run_lines(run, " ", "\n"))
    assert read_run(file) == {
        query: sorted(found.items(), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        for query, found in run.items()
    }


grades = st.integers(-5, 5) | scores


@settings(derandomize=True, deadline=None)
@given(st.dictionaries(queries, st.dictionaries(ids, grades, min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_qrels_are_read(tmp_path_factory: pytest.TempPathFactory, qrels: Qrels) -> None:
    assert read_qrels(store(tmp_path_factory.mktemp("qrels") / "q.txt", qrels_lines(qrels, "\t", "\n"))) == qrels


def test_files_as_trec_eval_takes_them(tmp_path: Path) -> None:
    qrels = store(tmp_path / "qrels", "# labels\nq 0 d 1\n#q 0 e 1\nr 0 d 0\n")
    assert read_qrels(qrels) == {"q": {"d": 1}, "r": {"d": 0}}
    lines = "# run\nq Q0 d 1 0.5 STANDARD more junk at\n\n \t\nq Q0 e 1 inf t\n#x\nq Q0 f 1 -Infinity t\n"
    lines += "r Q0 d 1 +INF t\n"
    read = read_run(store(tmp_path / "run", lines))
    assert read == {"q": [("e", math.inf), ("d", 0.5), ("f", -math.inf)], "r": [("d", math.inf)]}
    run = evaluate_trec(qrels, tmp_path / "run", ["RR"], out=tmp_path / "out")
    assert load_run(tmp_path / "out").scores == run.scores == {"ranking.RR": 0.25}


def test_three_columns_are_read_with_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = read_run(store(tmp_path / "run.tsv", "q\td7\t2\nq\td8\t1\nr\td7\t1\nq\td9\t10\n"))
    assert {query: [document for document, _ in found] for query, found in run.items()} == {
        "q": ["d8", "d7", "d9"],
        "r": ["d7"],
    }
    assert read_qrels(store(tmp_path / "qrels.tsv", "q\td7\t1\nq\t0\t0\n")) == {"q": {"d7": 1, "0": 0}}
    assert "run.tsv has three columns, as MS MARCO's runs: read as query, document and rank." in caplog.text
    assert "qrels.tsv has three columns: read as query, document and grade." in caplog.text


LABELS: Qrels = {"q2": {"a": 1, "b": 0}, "q1": {"c": 2}}
RANKED: Run = {"q0": [("a", 1.0)], "q2": [("b", 2.0), ("a", 1.0)]}


def test_align_complete_and_intersection() -> None:
    ids, rankings, labels, coverage = align(LABELS, RANKED)
    assert (ids, rankings, labels) == (["q2", "q1"], [["b", "a"], []], [{"a": 1.0, "b": 0.0}, {"c": 2.0}])
    assert (coverage.judged, coverage.answered) == (["q2", "q1"], ["q2"])
    assert (coverage.missing_from_run, coverage.without_labels) == (["q1"], ["q0"])
    assert align({"a": {"b": 1}}, {"a": [("a", 2.0), ("b", 1.0)]}, ignore_identical_ids=True)[1] == [["b"]]
    assert align({"a": {"b": 1}}, {"a": [("a", 2.0), ("b", 1.0)]})[1] == [["a", "b"]]
    ids, rankings, labels, again = align(LABELS, RANKED, queries="intersection")
    assert (ids, rankings, labels, again) == (["q2"], [["b", "a"]], [{"a": 1.0, "b": 0.0}], coverage)


@pytest.mark.parametrize(
    ("qrels", "run", "queries", "expected"),
    [
        ({"1": {"a": 1}, "2": {"a": 1}}, {"q1": [("a", 1.0)]}, "complete", "qrels has 2 .*'1' and run has 1 .*'q1'"),
        ({"1": {"a": 1}}, {}, "intersection", "share no query: .*run has 0 query ids"),
        (LABELS, RANKED, "all", "must be 'complete' or 'intersection', but is 'all'"),
    ],
)
def test_what_cannot_be_aligned(qrels: Qrels, run: Run, queries: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        align(qrels, run, queries=queries)  # type: ignore[arg-type]


def test_undecodable_ids_are_no_duplicates(tmp_path: Path) -> None:
    file = store(tmp_path / "run", b"q Q0 \xfe 1 2 t\nq Q0 \xff 2 1 t\n")
    with pytest.raises(TrecFileError) as caught:
        read_run(file)
    assert ["not UTF-8" in problem for problem in caught.value.problems] == [True, True]
