# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Two RAG pipelines over the example handbook, without a language model.

BM25 finds 10 documents, the best 3 go on, and the answer is the sentence of these that BM25 ranks first. The pipelines
differ in how text is cut into terms: ``words`` and ``stems``. From the folder above, the whole way in a shell:
``haystack-eval run rag_diagnosis --data examples/questions.jsonl --rag examples.rag:words --out runs/words``.
"""

import json
import re
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import GeneratedAnswer
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

HANDBOOK = Path(__file__).parent / "handbook"

# Japanese is written without spaces, so that a setting must say what a term is there. The first takes each character
# and whole words of other scripts, the second pairs of neighbouring characters and the first five letters of a word.
JAPANESE = r"\u3040-\u30ff\u3400-\u9fff"
TERMS = {
    "words": rf"[{JAPANESE}]|[^\W{JAPANESE}]+",
    "stems": rf"(?=([{JAPANESE}]{{2}}|(?<![^\W{JAPANESE}])[^\W{JAPANESE}]{{1,5}}))",
}


def read_handbook() -> list[Document]:
    """Read all chapters in both languages."""
    lines = [line for path in sorted(HANDBOOK.glob("*/*.jsonl")) for line in path.open(encoding="utf-8")]
    return [Document.from_dict(json.loads(line)) for line in lines]


def split_sentences(text: str) -> list[str]:
    """Split after the end of a sentence in either language."""
    return re.split(r"(?<=[。！？])|(?<=[.!?])\s+", text)


@component
class SentenceReader:
    """Answers with the sentence of the documents that BM25 ranks first."""

    def __init__(self, terms: str) -> None:
        """Index the sentences of the handbook; `terms` is one of the settings."""
        self.terms = terms
        splitter = DocumentSplitter(split_by="function", split_length=1, splitting_function=split_sentences)
        splitter.warm_up()
        store = InMemoryDocumentStore(bm25_tokenization_regex=TERMS[terms])
        store.write_documents(splitter.run(documents=read_handbook())["documents"], policy=DuplicatePolicy.SKIP)
        self._retriever = InMemoryBM25Retriever(store, top_k=1)

    @component.output_types(answers=list[GeneratedAnswer])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[GeneratedAnswer]]:
        """Choose the sentence."""
        sources = [document.id for document in documents]
        filters = {"field": "meta.source_id", "operator": "in", "value": sources}
        best = self._retriever.run(query=query, filters=filters)["documents"]
        text = best[0].content or "" if best else ""
        return {"answers": [GeneratedAnswer(data=text, query=query, documents=documents)]}


def make_pipeline(terms: str) -> Pipeline:
    """Index the handbook with a setting and build the pipeline over it."""
    store = InMemoryDocumentStore(bm25_tokenization_regex=TERMS[terms])
    store.write_documents(read_handbook())
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=10))
    pipeline.add_component("best_3", DocumentJoiner(top_k=3))
    pipeline.add_component("reader", SentenceReader(terms))
    pipeline.connect("bm25.documents", "best_3.documents")
    pipeline.connect("best_3.documents", "reader.documents")
    return pipeline


def words() -> Pipeline:
    """Whole words; in Japanese single characters."""
    return make_pipeline("words")


def stems() -> Pipeline:
    """The first five letters of a word; in Japanese pairs of characters."""
    return make_pipeline("stems")
