# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The shipped example corpus keeps its promises, and the checks that say so notice when it does not."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import ir_measures
import pytest
from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
LANGUAGES = ("en", "ja")
KINDS = ("single", "two-documents", "unanswerable")
TAGS = {*KINDS, "synonyms", "near-duplicate", "numbers"}
COLUMNS = {"id", "question", "relevant_documents", "reference_answer", "tags", "lang", "answerable"}
# Per language: at least so many questions of each hard sort.
HARD = {"two-documents": 4, "synonyms": 4, "near-duplicate": 4}
LENGTHS = {"en": (60, 140), "ja": (120, 300)}

Row = dict[str, Any]


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)


def _object(pairs: list[tuple[str, Any]]) -> Row:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        msg = f"a key stands twice among {keys}"
        raise ValueError(msg)
    return dict(pairs)


def parse_strictly(data: bytes) -> list[Row]:
    """Lines of strict JSON objects in strict UTF-8, without byte order mark, carriage returns or blank lines."""
    text = data.decode("utf-8")
    if text.startswith("\ufeff") or "\r" in text or not text.endswith("\n"):
        msg = "no byte order mark or carriage return is wanted, and a line feed at the end"
        raise ValueError(msg)
    rows = [
        json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_object)
        for line in text.removesuffix("\n").split("\n")
    ]
    if not all(isinstance(row, dict) for row in rows):
        msg = "each line must be an object"
        raise ValueError(msg)
    return rows


def handbook_files() -> list[Path]:
    return sorted((EXAMPLES / "handbook").rglob("*.jsonl"))


def load_documents() -> list[Row]:
    return [row for path in handbook_files() for row in parse_strictly(path.read_bytes())]


def load_questions() -> list[Row]:
    return parse_strictly((EXAMPLES / "questions.jsonl").read_bytes())


def grades(question: Row) -> dict[str, int]:
    return {key: grade for label in question["relevant_documents"] for key, grade in label.items()}


def document_problems(documents: list[Row]) -> set[str]:
    found = set()
    for key in ("id", "content"):
        found |= {f"{key} twice" for _, count in Counter(row[key] for row in documents).items() if count > 1}
    for row in documents:
        meta = row["meta"]
        chapter = Path(meta["file"])
        if set(row) != {"id", "content", "meta"} or set(meta) != {"file", "title", "lang"}:
            found.add("document fields")
        if not row["id"].startswith(f"{meta['lang']}-{chapter.stem}-") or chapter.parent.name != meta["lang"]:
            found.add("document id and file")
        size = len(row["content"].split()) if meta["lang"] == "en" else len(row["content"])
        shortest, longest = LENGTHS[meta["lang"]]
        if not shortest <= size <= longest:
            found.add("document length")
        # Kana, not kanji: Chinese would pass the other way round.
        if any("\u3040" <= character <= "\u30ff" for character in row["content"]) != (meta["lang"] == "ja"):
            found.add("document language")
    return found


def label_problems(question: Row, languages: dict[str, str]) -> set[str]:
    found = set()
    labels = grades(question)
    if any(len(label) != 1 for label in question["relevant_documents"]):
        found.add("one document per label")
    if len(labels) < len(question["relevant_documents"]):
        found.add("document labelled twice")
    if any(type(grade) is not int or grade not in (0, 1, 2) for grade in labels.values()):
        found.add("grade")
    if not languages.keys() >= labels.keys():
        found.add("unknown document")
    elif any(languages[key] != question["lang"] for key in labels):
        found.add("label language")
    answering = sum(grade == 2 for grade in labels.values())
    expected = {"single": 1, "two-documents": 2, "unanswerable": 0}
    if any(kind in question["tags"] and answering != count for kind, count in expected.items()):
        found.add("documents of grade 2")
    if "near-duplicate" in question["tags"] and 0 not in labels.values():
        found.add("trap")
    return found


def question_problems(questions: list[Row], documents: list[Row]) -> set[str]:
    found = set()
    languages = {row["id"]: row["meta"]["lang"] for row in documents}
    for key in ("id", "question"):
        found |= {f"{key} twice" for _, count in Counter(row[key] for row in questions).items() if count > 1}
    for row in questions:
        found |= label_problems(row, languages)
        if set(row) != COLUMNS:
            found.add("columns")
        if row["lang"] not in LANGUAGES or not row["id"].startswith(f"{row['lang']}-q"):
            found.add("question id")
        if any("\u3040" <= character <= "\u30ff" for character in row["question"]) != (row["lang"] == "ja"):
            found.add("question language")
        if not set(row["tags"]) <= TAGS or sum(kind in row["tags"] for kind in KINDS) != 1:
            found.add("tags")
        if row["answerable"] is not ("unanswerable" not in row["tags"]):
            found.add("answerable")
        elif row["answerable"] and not row["reference_answer"].strip():
            found.add("no answer")
        elif not row["answerable"] and (row["relevant_documents"] or row["reference_answer"]):
            found.add("answer to the unanswerable")
    return found


def test_every_file_is_where_its_documents_say() -> None:
    for path in handbook_files():
        relative = path.relative_to(EXAMPLES / "handbook").as_posix()
        assert {row["meta"]["file"] for row in parse_strictly(path.read_bytes())} == {relative}


def test_counts() -> None:
    files = Counter(path.parent.name for path in handbook_files())
    documents = Counter(row["meta"]["lang"] for row in load_documents())
    questions = Counter((row["lang"], row["answerable"]) for row in load_questions())
    assert files == {"en": 6, "ja": 6}
    assert documents == {"en": 30, "ja": 30}
    assert questions == {("en", True): 27, ("en", False): 3, ("ja", True): 27, ("ja", False): 3}


def test_documents_load_as_haystack_documents() -> None:
    for row in load_documents():
        document = Document.from_dict(row)
        assert (document.id, document.content, document.meta) == (row["id"], row["content"], row["meta"])


def test_nothing_is_wrong() -> None:
    documents = load_documents()
    assert document_problems(documents) == set()
    assert question_problems(load_questions(), documents) == set()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_hard_questions_of_each_sort(lang: str) -> None:
    questions = [row for row in load_questions() if row["lang"] == lang]
    tags = Counter(tag for row in questions for tag in row["tags"])
    assert {tag: tags[tag] for tag, least in HARD.items() if tags[tag] < least} == {}
    assert {grade for row in questions for grade in grades(row).values()} == {0, 1, 2}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_most_answers_are_words_of_a_document(lang: str) -> None:
    contents = {row["id"]: row["content"] for row in load_documents()}
    answerable = [row for row in load_questions() if row["lang"] == lang and row["answerable"]]
    quoted = {
        row["id"]
        for row in answerable
        if any(row["reference_answer"] in contents[key] for key, grade in grades(row).items() if grade == 2)
    }
    # The answer to a question about two documents is put together from both, so only the others must be quotations.
    assert {row["id"] for row in answerable if "single" in row["tags"]} <= quoted
    assert len(quoted) >= 0.7 * len(answerable)


# Japanese has no spaces: overlapping pairs of characters, or single characters; other scripts by word.
PAIRS = r"(?=([\u3040-\u30ff\u3400-\u9fff]{2}|\b[^\W\u3040-\u30ff\u3400-\u9fff]{2,}))"
CHARACTERS = r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]{2,}"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("regex", [PAIRS, CHARACTERS], ids=["pairs", "characters"])
def test_keyword_search_neither_fails_nor_finds_all(regex: str, lang: str) -> None:
    store = InMemoryDocumentStore(bm25_tokenization_regex=regex)
    store.write_documents([Document.from_dict(row) for row in load_documents()])
    retriever = InMemoryBM25Retriever(store, top_k=10)
    questions = [row for row in load_questions() if row["lang"] == lang and row["answerable"]]
    run = {
        row["id"]: {hit.id: -float(rank) for rank, hit in enumerate(retriever.run(query=row["question"])["documents"])}
        for row in questions
    }
    labels = {row["id"]: grades(row) for row in questions}
    measures = [ir_measures.nDCG @ 10, ir_measures.R @ 3]
    values = {str(measure): value for measure, value in ir_measures.calc_aggregate(measures, labels, run).items()}
    assert 0.65 <= values["nDCG@10"] <= 0.9
    assert 0.5 <= values["R@3"] <= 0.9


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": NaN}\n',
        b'{"a": 1, "a": 2}\n',
        b'{"a": 1}',
        b'{"a": 1}\r\n',
        b'{"a": 1}\n\n',
        b"[1]\n",
        b'\xef\xbb\xbf{"a": 1}\n',
        b'{"a": "\xe3\x81"}\n',
        b"",
    ],
)
def test_parser_refuses(data: bytes) -> None:
    assert parse_strictly(b'{"a": 1}\n') == [{"a": 1}]
    with pytest.raises(ValueError):
        parse_strictly(data)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda rows: rows.append(rows[0]), "id twice"),
        (lambda rows: rows[1].update(content=rows[0]["content"]), "content twice"),
        (lambda rows: rows[0].update(score=1.0), "document fields"),
        (lambda rows: rows[0]["meta"].update(file="ja/leave.jsonl"), "document id and file"),
        (lambda rows: rows[0].update(content="Too short."), "document length"),
        (lambda rows: rows[0].update(content=rows[-1]["content"]), "document language"),
    ],
)
def test_spoiled_documents_are_noticed(spoil: Callable[[list[Row]], None], problem: str) -> None:
    documents = load_documents()
    spoil(documents)
    assert problem in document_problems(documents)


# The first question is answerable, "single" and a near-duplicate; the last cannot be answered.
@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda rows: rows[1].update(id=rows[0]["id"]), "id twice"),
        (lambda rows: rows[1].update(question=rows[0]["question"]), "question twice"),
        (lambda rows: rows[0].update(language="en"), "columns"),
        (lambda rows: rows[0].update(lang="ja"), "label language"),
        (lambda rows: rows[0].update(id="q01"), "question id"),
        (lambda rows: rows[0].update(question=rows[-1]["question"]), "question language"),
        (lambda rows: rows[0].update(tags=["single", "easy"]), "tags"),
        (lambda rows: rows[0].update(tags=["single", "two-documents"]), "tags"),
        (lambda rows: rows[0].update(answerable=False), "answerable"),
        (lambda rows: rows[0].update(reference_answer=" "), "no answer"),
        (lambda rows: rows[-1].update(reference_answer="5 %"), "answer to the unanswerable"),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-99": 2}]), "unknown document"),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": 3}]), "grade"),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": True}]), "grade"),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": 2}]), "trap"),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": 1}]), "documents of grade 2"),
        (
            lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": 2, "en-leave-02": 0}]),
            "one document per label",
        ),
        (lambda rows: rows[0].update(relevant_documents=[{"en-leave-01": 2}] * 2), "document labelled twice"),
        (lambda rows: rows[0].update(tags=["two-documents"]), "documents of grade 2"),
    ],
)
def test_spoiled_questions_are_noticed(spoil: Callable[[list[Row]], None], problem: str) -> None:
    questions = load_questions()
    spoil(questions)
    assert problem in question_problems(questions, load_documents())
