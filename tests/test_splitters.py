# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels on the chunks of each splitter of Haystack: right by a search in the page, or refused in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, component
from haystack.components import preprocessors
from haystack.components.retrievers import AutoMergingRetriever, SentenceWindowRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext import DocumentRankingEvaluator

TEXT = (
    "# Opening hours\n\nThe museum opens at ten and closes at five every day of the week. On Mondays it stays shut.\n\n"
    "# Prices\n\nA ticket costs nine euros, children under six enter without paying a cent. Groups pay half of it.\n\n"
    "# How to come\n\nThe tram stops at the mill bridge, from where a path leads along the river to the old gate.\n"
)
CODE = (
    "import os\n\n\ndef first():\n    return os.name\n\n\ndef second(value):\n    total = value + 1\n    return total\n"
)
TABLE = "name,price\nticket,nine euros\nguide,three euros\n,\n,\nroom,price\nhall,ten euros a day\n"
RIGHT, REFUSED, NOT_RUN = "right", "refused", "not run"


@component
class Lengths:
    """An embedder that needs no model."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": [self.embedded(document) for document in documents]}

    def embedded(self, document: Document) -> Document:
        return Document(
            id=document.id,
            content=document.content,
            meta=document.meta,
            embedding=[float(len(document.content or "")), 1.0],
        )


def split(splitter: Any, text: str = TEXT) -> list[Document]:
    if hasattr(splitter, "warm_up"):
        splitter.warm_up()
    return list(splitter.run(documents=[Document(id="page", content=text, meta={"file": "page"})])["documents"])


def words(**options: Any) -> list[Document]:
    return split(preprocessors.DocumentSplitter(split_by="word", split_length=7, **options))


def by_sentence() -> list[Document]:
    return split(preprocessors.DocumentSplitter(split_by="period", split_length=1))


def recursive() -> list[Document]:
    return split(preprocessors.RecursiveDocumentSplitter(split_length=40, separators=["\n\n", "\n", " "]))


def markdown(**options: Any) -> list[Document]:
    return split(preprocessors.MarkdownHeaderSplitter(**options))


def hierarchical() -> list[Document]:
    return split(preprocessors.HierarchicalDocumentSplitter(block_sizes={20, 8}, split_overlap=0, split_by="word"))


def leaves() -> list[Document]:
    return [block for block in hierarchical() if not block.meta["__children_ids"]]


def merged() -> list[Document]:
    """What AutoMergingRetriever gives for all leaves: their parents."""
    store = InMemoryDocumentStore()
    store.write_documents(hierarchical())
    return list(AutoMergingRetriever(store, threshold=0.5).run(documents=leaves())["documents"])


def windows() -> list[Document]:
    chunks = words()
    store = InMemoryDocumentStore()
    store.write_documents(chunks)
    found = SentenceWindowRetriever(store, window_size=1).run(retrieved_documents=chunks[:1])["context_documents"]
    return list({chunk.id: chunk for chunk in [*found, *chunks]}.values())


def preprocessed() -> list[Document]:
    uncleaned: Any = {"remove_extra_whitespaces": False, "remove_empty_lines": False}
    return split(preprocessors.DocumentPreprocessor(split_by="word", split_length=7, **uncleaned))


def cleaned() -> list[Document]:
    """Cleaning after the split: places stay, but the text is another one."""
    return split(preprocessors.DocumentPreprocessor(split_by="word", split_length=7))


def embedding_based() -> list[Document]:
    splitter = preprocessors.EmbeddingBasedDocumentSplitter(document_embedder=Lengths(), min_length=10, max_length=90)
    # Its sentences come from a model that nltk would download.
    splitter.sentence_splitter = Sentences()  # type: ignore[assignment]
    return list(splitter.run(documents=[Document(id="page", content=TEXT, meta={"file": "page"})])["documents"])


class Sentences:
    def split_sentences(self, text: str) -> list[dict[str, Any]]:
        found, start = [], 0
        for sentence in text.split(". "):
            end = start + len(sentence)
            found.append({"sentence": sentence, "start": start, "end": end})
            start = end + 2
        return found


def code() -> list[Document]:
    return split(preprocessors.PythonCodeSplitter(min_effective_lines=1, max_effective_lines=3), CODE)


def table() -> list[Document]:
    return split(preprocessors.CSVDocumentSplitter(row_split_threshold=1), TABLE)


# Splitter: chunks, the page, a passage of it, and what spans give there.
CHUNKS: dict[str, tuple[str, Callable[[], list[Document]], str, str, str]] = {
    "words": ("DocumentSplitter", words, TEXT, "A ticket costs nine euros", RIGHT),
    "words that overlap": ("DocumentSplitter", lambda: words(split_overlap=3), TEXT, "opens at ten and closes", RIGHT),
    "sentences": ("DocumentSplitter", by_sentence, TEXT, "Groups pay half of it", RIGHT),
    "recursive": ("RecursiveDocumentSplitter", recursive, TEXT, "children under six enter without", RIGHT),
    "preprocessor": ("DocumentPreprocessor", preprocessed, TEXT, "A ticket costs nine euros", RIGHT),
    "preprocessor that cleans": ("DocumentPreprocessor", cleaned, TEXT, "Prices\n\nA ticket costs nine", NOT_RUN),
    "headers": ("MarkdownHeaderSplitter", markdown, TEXT, "A ticket costs nine euros", REFUSED),
    "headers and words": (
        "MarkdownHeaderSplitter",
        lambda: markdown(secondary_split="word", split_length=5),
        TEXT,
        "ticket costs nine",
        NOT_RUN,
    ),
    "all blocks": ("HierarchicalDocumentSplitter", hierarchical, TEXT, "A ticket costs nine euros", RIGHT),
    "leaves alone": ("HierarchicalDocumentSplitter", leaves, TEXT, "A ticket costs nine euros", NOT_RUN),
    "merged leaves": ("HierarchicalDocumentSplitter", merged, TEXT, "A ticket costs nine euros", RIGHT),
    "windows": ("DocumentSplitter", windows, TEXT, "children under six enter without", RIGHT),
    "embeddings": ("EmbeddingBasedDocumentSplitter", embedding_based, TEXT, "A ticket costs nine euros", ""),
    "code": ("PythonCodeSplitter", code, CODE, "total = value + 1\n    return total", ""),
    "table": ("CSVDocumentSplitter", table, TABLE, "guide,three euros", ""),
}
SPLITTERS = [name for name in dir(preprocessors) if name.endswith("Splitter") or name == "DocumentPreprocessor"]


@pytest.mark.parametrize("name", SPLITTERS)
def test_each_splitter_of_haystack_is_in_the_table(name: str) -> None:
    assert name in {row[0] for row in CHUNKS.values()}


def span(page: str, passage: str) -> list[Document]:
    start = page.index(passage)
    place = {"start": start, "end": start + len(passage)}
    return [Document(content=passage, meta={"source_id": "page", "parent_id": "page", "file": "page", **place})]


def covered_by_search(page: str, passage: str, chunks: list[Document]) -> float:
    """The share of the passage that the chunks hold, wherever in the page their texts stand."""
    start = page.index(passage)
    places = set()
    for chunk in chunks:
        text = chunk.content or ""
        place = page.find(text)
        while text and place >= 0:
            places |= set(range(place, place + len(text)))
            place = page.find(text, place + 1)
    return sum(place in places for place in range(start, start + len(passage))) / len(passage)


@pytest.mark.parametrize("field", ["meta.source_id", "meta.file"])
@pytest.mark.parametrize("kind", CHUNKS)
def test_spans_are_right_or_refused(kind: str, field: str) -> None:
    """For the best chunks up to any rank, and for each chunk alone, which nothing beside it can contradict."""
    splitter, make, page, passage, expected = CHUNKS[kind]
    if not hasattr(preprocessors, splitter):
        pytest.skip(f"this Haystack has no {splitter}")
    chunks = make()
    # RecursiveDocumentSplitter of haystack-ai 3.0 calls it so.
    if field == "meta.source_id" and "parent_id" in chunks[0].meta:
        field = "meta.parent_id"
    evaluator = DocumentRankingEvaluator(["R"], field, matching="span")
    outcome = ""
    for shown in [*([chunk] for chunk in chunks), *(chunks[:number] for number in range(1, len(chunks) + 1))]:
        try:
            found = evaluator.run(span(page, passage), shown)
        except ValueError as error:
            assert any(words in str(error) for words in ("use matching='overlap'", "has the field 'meta."))
            outcome = REFUSED
            continue
        outcome = NOT_RUN if found["statuses"] == ["not_run"] else RIGHT
        if outcome == NOT_RUN:
            assert "matching='overlap'" in found["errors"][0]
            assert math.isnan(found["score"])
        else:
            # Haystack's splitters may leave out white space between chunks, and never a word.
            assert found["score"] == pytest.approx(covered_by_search(page, passage, shown), abs=0.06)
    assert expected in (outcome, "")
    assert outcome != RIGHT or found["score"] > 0.9


@pytest.mark.parametrize("kind", CHUNKS)
def test_overlap_finds_the_passage_whatever_the_splitter(kind: str) -> None:
    splitter, make, page, _, _ = CHUNKS[kind]
    if not hasattr(preprocessors, splitter):
        pytest.skip(f"this Haystack has no {splitter}")
    chunks = make()
    evaluator = DocumentRankingEvaluator(["R"], matching="overlap")
    label = [Document(content=page)]
    assert evaluator.run(label, chunks)["score"] > 0.8
    assert evaluator.run(label, [Document(content="Nothing of this page stands here, not a sentence.")])["score"] == 0


def test_a_label_whose_text_stands_elsewhere_is_not_scored() -> None:
    """Places that do not fit, and nothing that contradicts them but the text."""
    chunk = Document(content="A ticket costs nine euros.", meta={"source_id": "page", "split_idx_start": 500})
    found = DocumentRankingEvaluator(["R"], "meta.source_id", matching="span").run(
        span(TEXT, "ticket costs nine"), [chunk]
    )
    assert found["statuses"] == ["not_run"]
    assert "stands in a chunk that does not cover it" in found["errors"][0]
