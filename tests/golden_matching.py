# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Golden rows whose documents decide the score: keys, grades, duplicates, overlap, spans and text budgets."""

from __future__ import annotations

from math import log2
from typing import Any

from haystack import Document

from cases import Golden
from worlds import ranked, rows, truth


def one(labels: list[Document], ranking: list[Document]) -> dict[str, list[Any]]:
    """Both sockets with a single row."""
    return {"ground_truth_documents": [labels], "retrieved_documents": [ranking]}


def texts(*contents: str) -> list[Document]:
    """Documents that differ in their text alone."""
    return [Document(content=content) for content in contents]


def meta(*metas: dict[str, Any]) -> list[Document]:
    """Documents that differ in text and in the meta given."""
    return [Document(content=f"text {number}", meta=value) for number, value in enumerate(metas)]


def span(start: int, end: int, *, source: str = "s", grade: float | None = None) -> Document:
    """A label: characters start to end of a source."""
    return Document(content="label", score=grade, meta={"source_id": source, "start": start, "end": end})


def chunk(start: int, length: int, *, source: str = "s") -> Document:
    """A chunk as Haystack's splitters make it."""
    return Document(content="c" * length, meta={"source_id": source, "split_idx_start": start})


# A missing or empty key matches nothing, and nothing matches it: the other label decides.
EMPTY_CONTENT = Golden("empty content", one(texts("", "a"), texts("", "b", "a")), [1 / 3])  # RR: "a" at rank 3
EMPTY_LIST_KEY = Golden(
    "empty list as key", one(meta({"parts": []}, {"parts": ["x"]}), meta({"parts": []}, {"parts": ["x"]})), [1 / 2]
)  # RR: ["x"] at rank 2
LIST_KEY = Golden(
    "lists as keys", one(meta({"parts": ["x", "y"]}), meta({"parts": ["y", "x"]}, {"parts": ["x", "y"]})), [1 / 2]
)  # RR: order counts
DICT_KEY = Golden(
    "dicts as keys",
    one(meta({"parts": {"f": 1, "p": [2]}}), meta({"parts": {"f": 1}}, {"parts": {"p": [2], "f": 1}})),
    [1 / 2],
)  # RR: the order of a dict's keys does not count
COMPOSITE_KEY = Golden(
    "file and page",
    one(
        meta({"file": "a.pdf", "page": 2}, {"file": "b.pdf", "page": 1}),
        meta({"file": "a.pdf", "page": 1}, {"file": "a.pdf", "page": 2}, {"file": "a.pdf"}, {"file": "", "page": 1}),
    ),
    [1 / 2],  # RR: a.pdf alone is no match, nor is a key of which a part is missing
)
LITERAL_DOTS = Golden(
    "a key with dots is literal before it is a path",
    one(
        meta({"dotted.key": 7}),
        meta({"dotted": {"key": 8}}, {"dotted.key": 8, "dotted": {"key": 7}}, {"dotted.key": 7}),
    ),
    [1 / 3],  # RR: the second document's literal key says 8
)
NESTED_KEY = Golden(
    "a path into nested dicts", one(meta({"nested": {"key": 7}}), meta({"nested": 7}, {"nested": {"key": 7}})), [1 / 2]
)  # RR

# Labels with one key are one label, of the highest grade: DCG 2 / log2(3), ideal 2.
DOUBLE_LABEL = Golden("a label given twice", rows(("a:1 a:2", "x a")), [(2 / log2(3)) / 2])

# Labels a and b, ranking a a x b.
COPIES = rows(("a b", "a a x b"))
KEEP_AP = Golden("copies keep their rank", COPIES, [0.75])  # (1/1 + 2/4) / 2
DROP_AP = Golden("the gap of a copy is closed", COPIES, [5 / 6])  # a x b: (1/1 + 2/3) / 2
EACH_P = Golden("each copy counts", COPIES, [3 / 4])  # a a b of 4
EACH_P_AT_2 = Golden("each copy counts", COPIES, [1.0])  # a a of 2
FILE_CHUNKS = Golden(
    "chunks of a labelled file",
    one(
        meta({"file": "a.pdf", "page": 1}),
        meta({"file": "a.pdf", "page": 1}, {"file": "b.pdf", "page": 1}, {"file": "a.pdf", "page": 1}),
    ),
    [2 / 3],  # P: two of three chunks are of the file
)

# Grades beside the score.
META_GRADES = Golden(
    "grades in meta",
    one(
        [Document(content="a", score=-9.0, meta={"grade": 3}), Document(content="b", meta={"grade": 1})],
        texts("b", "a"),
    ),
    [(1 + 3 / log2(3)) / (3 + 1 / log2(3))],  # the score is not looked at
)
NO_GRADES = Golden("reranker logits as scores", rows(("a:-4.5 b:0 c:7", "a b")), [2 / 3])  # all labels count alike

# Overlap. The label has 4 words, so that only all four of them in one piece, or a whole shorter chunk, count.
LABEL = "Paris is the capital"
OVERLAP_ENGLISH = Golden(
    "English",
    one(texts(LABEL), texts("Rome is a city.", "The capital is Berlin", "Yes.  PARIS is\nthe capital of France.")),
    [1 / 3],  # RR: the third contains it
)
# The label has 12 words: a to l. The first chunk has its words in any order; five or more in one piece have the others.
LONG_LABEL = "a b c d e f g h i j k l"
OVERLAP_TOGETHER = one(
    texts(LONG_LABEL), texts("l k j i h g f e d c b a", "x a b c d e y", "d e f g h i z", "w i j k l")
)
# Covered: 0, 5, then d to i adds f to i: 9 of 12 (.75). Four words in one piece ("i j k l") are too few of five.
OVERLAP_SHARE = Golden("chunks cover it together", OVERLAP_TOGETHER, [9 / 12])  # R
OVERLAP_RANK = Golden("found where the share is reached", OVERLAP_TOGETHER, [1 / 3])  # RR at .65: rank 3
OVERLAP_P = Golden("chunks that cover anything new are hits", OVERLAP_TOGETHER, [2 / 4])  # P
OVERLAP_MAP = Golden("precision where the label is found", OVERLAP_TOGETHER, [2 / 3])  # AP: 2 of the first 3
OVERLAP_NDCG = Golden("the gain comes where the label is found", OVERLAP_TOGETHER, [1 / 2])  # nDCG: 1 / log2(4)
OVERLAP_TWO_OF_ONE = Golden(
    "one chunk finds two labels",
    one(texts("red", "car", "blue"), texts("x", "red car", "blue")),
    [(1 / 2 + 1 / 2 + 2 / 3) / 3],  # AP
)
OVERLAP_STRICT = Golden(
    "a threshold of 1",
    one(texts(LONG_LABEL), texts("a b c d e f g h i j", "h i j k l")),
    [1 / 2],  # RR: all twelve words at rank 2
)
# By one chunk alone, in any order.
BY_CHUNK_ENGLISH = Golden(
    "English",
    one(
        texts(LABEL),
        texts(
            "Rome is a city.",  # "is": 1 of 4
            "The capital is Berlin",  # 3 of 4, above 0.65
            "Yes.  PARIS is\nthe capital of France.",  # contains it
        ),
    ),
    [1 / 2],  # RR
)
BY_CHUNK_STRICT = Golden(
    "a threshold of 1",
    one(texts(LABEL), texts("The capital is Berlin", "capital, the: is Paris", "Yes. Paris is the capital.")),
    [1 / 2],  # RR: all four words in any order
)
REPEATED_WORDS = Golden(
    "repeated words count as often as they occur",
    one(texts("no no no yes"), texts("no yes", "no no yes")),  # 2 of 4, 3 of 4
    [1 / 2],  # RR
)
# The label has 9 characters and 8 pairs. Of these the first chunk has 3 (.375), the second 6, and 8 with the first.
OVERLAP_JAPANESE = Golden(
    "Japanese", one(texts("有給休暇は年二十日"), texts("有給休暇", "休暇は年二十日", "有給休暇は年二十日です")), [1 / 2]
)  # RR
OVERLAP_TWO_LABELS = Golden(
    "one chunk holds two labels",
    one(texts("first passage", "second passage", "third one"), texts("The first passage and the second passage.")),
    [2 / 3],  # R
)

# Spans. A label is found by the share of its characters that no earlier chunk covered.
SPAN_HALVES = Golden(
    "two chunks cover parts", one([span(100, 200)], [chunk(0, 150), chunk(150, 30)]), [0.8]
)  # (50 + 30) / 100
SPAN_OVERLAP = Golden(
    "overlapping chunks count once", one([span(100, 200)], [chunk(100, 60), chunk(140, 40)]), [0.8]
)  # 60 + 20 new of 100
SPAN_COPY = Golden("a copy covers nothing new", one([span(0, 10)], [chunk(0, 5), chunk(0, 5)]), [0.5])
SPAN_AROUND = Golden(
    "only its own source counts",
    one([span(0, 10), span(0, 4, source="t")], [chunk(0, 8), chunk(2, 100, source="u")]),
    [0.4],
)  # (8/10 + 0/4) / 2
SPAN_TWO_LABELS = Golden(
    "one chunk covers two labels", one([span(0, 10), span(20, 40)], [chunk(5, 25)]), [0.5]
)  # (5/10 + 10/20) / 2
SPAN_GRADES = Golden(
    "a label that is not relevant", one([span(0, 10, grade=0), span(20, 30, grade=2)], [chunk(0, 25)]), [0.5]
)  # 5/10 of the only relevant one
SPAN_PRECISION = Golden(
    "a chunk that covers anything new is a hit",
    one([span(100, 200)], [chunk(0, 100), chunk(90, 30), chunk(110, 5)]),
    [1 / 3],
)  # P: the first ends where the label begins, the last covers nothing new
SPAN_RR = Golden("the first chunk that covers anything", one([span(100, 200)], [chunk(0, 100), chunk(90, 30)]), [1 / 2])

# Text budgets. Each chunk of truth() and ranked() has three words.
WORDS = rows(("a b", "a x b"))
BUDGET_WHOLE = Golden("the budget holds two of three", WORDS, [1 / 2])  # R@6w: 3 + 3 words, the third would make 9
BUDGET_LESS = Golden("a chunk that does not fit whole does not count", WORDS, [1 / 2])  # R@8w
BUDGET_ALL = Golden("the budget holds all", WORDS, [1.0])  # R@9w
BUDGET_JAPANESE = Golden(
    "a character is a word", one(texts("年休は十日。", "b"), texts("年休は十日。", "b")), [1 / 2]
)  # R@5w: five characters, the full stop is none; "b" would be the sixth word
BUDGET_STOPS = Golden(
    "the first chunk that does not fit ends it", one(texts("b"), texts("one two three four", "b")), [0.0]
)  # R@3w

# Judged documents only: ranking a n b, since x is unjudged.
JUDGED_ONLY = {"ground_truth_documents": [truth("a:3 b:1 c:2 n:0")], "retrieved_documents": [ranked("x a n b")]}
JUDGED_ONLY_AP = Golden("unjudged documents are left out", JUDGED_ONLY, [5 / 9])  # (1/1 + 2/3) / 3
JUDGED_ONLY_P = Golden("unjudged documents are left out", JUDGED_ONLY, [1 / 2])  # P@2 of a n
JUDGED_ONLY_NEGATIVE = Golden("a negative grade is no judgment", rows(("a m:-1", "m a")), [1.0])  # AP of a
JUDGED_ONLY_COPY = Golden(
    "a copy of a judged document keeps its rank", rows(("a b", "x a a b")), [5 / 6]
)  # a a b: (1 + 2/3) / 2
