# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts for the tests of answer evaluators: seeded random ones, and answers of the kinds that systems really give."""

from __future__ import annotations

import random
from typing import NamedTuple

WORDS = [
    "the",
    "The",
    "a",
    "of",
    "library",
    "opens",
    "Opening",
    "at",
    "nine",
    "o'clock",
    "9.30",
    "10,000",
    "U.S.",
    "well-known",
    "café",
    "naïve",
    "Дом",
    "دار",
    "घर",
    "&amp;",
    "(see)",
    "—",
    "“so”",
]
ASCII_WORDS = [word for word in WORDS if word.isascii()]
CHARACTERS = "東京タワーの高さは三百メートル。、"


def sentence(rng: random.Random, words: list[str], longest: int = 30) -> str:
    """Some of the words, with white space and full stops as they come; possibly empty."""
    text = rng.choice([" ", "  ", "\n"]).join(rng.choice(words) for _ in range(rng.randrange(longest)))
    return text + rng.choice(["", ".", " .", "!\n"])


def batch(seed: int, words: list[str], rows: int = 60) -> tuple[list[list[str]], list[str]]:
    """Rows with one to four references, and answers: half of them a reference with some words changed."""
    rng = random.Random(seed)
    references = [[sentence(rng, words) for _ in range(rng.randint(1, 4))] for _ in range(rows)]
    predictions = []
    for row in references:
        changed = " ".join(word if rng.random() < 0.8 else rng.choice(words) for word in rng.choice(row).split(" "))
        predictions.append(rng.choice([changed, sentence(rng, words)]))
    return references, predictions


class Answered(NamedTuple):
    """A question with the answers that systems gave, and what people said of each."""

    question: str
    answers: list[tuple[str, bool]]


#: Short spans, sentences, essays, refusals, lists, markup, other scripts. Our own, in the manner of real answers.
ANSWERED = [
    Answered(
        "how high is the eiffel tower",
        [
            ("330 metres", True),
            ("330 metres", True),
            ("330 m (1,083 ft)", True),
            ("The Eiffel Tower is 330 metres high, antennas included.", True),
            (
                "As of 2022 the tower, which was finished in 1889 and is named after\nGustave Eiffel, measures 330 m.",
                True,
            ),
            ("300 metres", False),
            ("I don't know.", False),
        ],
    ),
    Answered(
        "who wrote the origin of species",
        [
            ("Charles Darwin", True),
            ("charles robert darwin", True),
            ("It was written by Charles Darwin and published on 24 November 1859.", True),
            ("Darwin, C.", True),
            ("Alfred Russel Wallace", False),
            ('The book "On the Origin of Species" was written by a famous naturalist.', False),
        ],
    ),
    Answered(
        "東京タワーの高さは",
        [
            ("333メートル", True),
            ("３３３ｍ", True),
            ("東京タワーの高さは333メートルです。", True),
            ("634メートル", False),
            ("わかりません。", False),
        ],
    ),
    Answered(
        "which countries border switzerland",
        [
            ("- Germany\n- France\n- Italy\n- Austria\n- Liechtenstein", True),
            ("Austria, France, Germany, Italy and Liechtenstein", True),
            ("**Five**: Germany, France, Italy, Austria, Liechtenstein 🇨🇭", True),
            ("France, Germany and Italy", False),
            ("", False),
        ],
    ),
    Answered("когда был основан санкт-петербург", [("в 1703 году", True), ("27 мая 1703", True), ("1812", False)]),
    Answered("a question that one system answered", [("unknown", False)]),
]
