# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of the metrics that compare letters, words and numbers."""

from __future__ import annotations

from math import nan

from haystack.dataclasses import ChatMessage, GeneratedAnswer

from cases import Golden
from cases_answers import AnswerCase, answers
from haystack_eval_ext import (
    AnswerContainsEvaluator,
    AnswerEditSimilarityEvaluator,
    AnswerExactMatchEvaluator,
    AnswerNumberMatchEvaluator,
    AnswerTokenF1Evaluator,
)

MESSAGES = answers(
    (["Paris"], ChatMessage.from_assistant("Paris")),
    (["120 metres"], ChatMessage.from_assistant("120 metres, in 1889", meta={"model": "x"})),
    (["東京", "Tokyo"], ChatMessage.from_assistant("東京です。")),
)
GENERATED = answers(
    (["Paris"], GeneratedAnswer(data="Paris", query="Where?", documents=[])),
    (["a", "b"], GeneratedAnswer(data="in b", query="Which?", documents=[], meta={"n": 1})),
)

ONE_WAY = "whether the reference is in the answer is another question than the reverse"
ENGLISH_ARTICLES = "an answer of articles alone is empty by the rule"
SHARED_LETTERS = "texts of other words share letters and lengths"

EXACT = AnswerExactMatchEvaluator
EXACT_CASES = [
    AnswerCase(
        "AnswerExactMatch-default",
        EXACT,
        golden=(
            Golden(
                "equal or not",
                answers((["Paris"], "Paris"), (["Paris"], "paris"), (["b", "a"], "a"), ([""], ""), ([], "x")),
                [1, 0, 1, 1, nan],
            ),
        ),
    ),
    AnswerCase("AnswerExactMatch-messages", EXACT, MESSAGES),
    AnswerCase("AnswerExactMatch-generated", EXACT, GENERATED),
    AnswerCase(
        "AnswerExactMatch-squad-nan",
        EXACT,
        parameters={"normalization": "squad", "on_undefined": "nan"},
        golden=(
            # Case, ASCII punctuation and English articles go; German articles and Japanese punctuation stay.
            Golden(
                "the script's rule",
                answers((["U.S."], "The US!"), (["Berlin"], "das Berlin"), (["東京"], "東京。"), (["a"], "the")),
                [1, 0, 0, 1],
            ),
        ),
    ),
    AnswerCase(
        "AnswerExactMatch-unicode",
        EXACT,
        parameters={"normalization": "unicode"},
        golden=(
            Golden(
                "forms and punctuation of every script",
                answers(
                    (["東京。"], "東京"),
                    (["ＡＢＣ１"], "abc1"),
                    (["café"], "cafe\u0301"),
                    (["2.5"], "25"),
                    (["the x"], "x"),
                ),
                [1, 1, 1, 0, 0],
            ),
        ),
    ),
    AnswerCase(
        "AnswerExactMatch-options",
        EXACT,
        parameters={
            "ignore_case": True,
            "ignore_punctuation": True,
            "ignore_numbers": True,
            "regexes_to_ignore": [r"\s*\(.*?\)", "^answer:"],
        },
        golden=(
            Golden(
                "each of them",
                answers(
                    (["Paris"], "PARIS"),
                    (["Paris"], "Paris。"),
                    (["Paris"], "Paris 2"),  # the blank stays
                    (["Paris "], "Paris 2٢"),
                    (["Paris"], "ANSWER:Paris (France)"),  # the expressions look at neither case
                ),
                [1, 1, 0, 1, 1],
            ),
        ),
    ),
]

F1 = AnswerTokenF1Evaluator
F1_CASES = [
    AnswerCase(
        "AnswerTokenF1-default",
        F1,
        golden=(
            Golden(
                "words",
                answers(
                    (["city of Paris"], "in the city"),  # city of in/city: P 1/2, R 1/3
                    (["to be or not to be"], "to to to"),  # two of three, two of six: P 2/3, R 1/3
                    (["x y", "x"], "x"),  # the better reference
                    (["the"], "a"),  # both empty
                    ([""], "x"),
                ),
                [2 / 5, 4 / 9, 1, 1, 0],
            ),
            Golden(
                "characters",
                answers(
                    (["東京タワー"], "東京です。"),  # 2 of 4, 2 of 5
                    (["นำ"], "น้ำ"),  # นำ is one character and a letter; with its tone mark น้ is another one
                    (["दिल्ली"], "नई दिल्ली।"),  # P 1/2, R 1
                    (["«Мир»"], "мир"),
                ),
                [4 / 9, 1 / 2, 2 / 3, 1],
            ),
        ),
    ),
    AnswerCase("AnswerTokenF1-messages", F1, MESSAGES),
    AnswerCase("AnswerTokenF1-generated", F1, GENERATED),
    AnswerCase("AnswerTokenF1-unicode-nan", F1, parameters={"normalization": "unicode", "on_undefined": "nan"}),
    AnswerCase("AnswerTokenF1-none", F1, parameters={"normalization": "none"}),
]

CONTAINS = AnswerContainsEvaluator
CONTAINS_CASES = [
    AnswerCase(
        "AnswerContains-default",
        CONTAINS,
        golden=(
            Golden(
                "whole words",
                answers(
                    (["Paris"], "It is Paris."),
                    (["art"], "a party"),
                    (["yes"], "yes/no"),
                    (["US"], "the U.S. of A."),
                    (["U.S."], "the us"),
                    (["new york"], "York New"),
                    (["5"], "2.5"),
                    (["$5"], "€5"),
                    (["5"], "$5"),
                    (["x", "is Paris"], "It is\nParis"),
                ),
                [1, 0, 1, 1, 1, 0, 0, 0, 1, 1],
            ),
            Golden(
                "scripts without spaces, empty texts",
                answers(
                    (["京都"], "東京都です"),
                    (["東京 都"], "東京都"),
                    (["東都"], "東京都"),
                    ([""], "x"),
                    ([""], ""),
                    (["x"], ""),
                ),
                [1, 1, 0, 0, 1, 0],
            ),
        ),
        broken_laws={"symmetric": ONE_WAY},
    ),
    AnswerCase("AnswerContains-messages", CONTAINS, MESSAGES, broken_laws={"symmetric": ONE_WAY}),
    AnswerCase(
        "AnswerContains-squad-nan",
        CONTAINS,
        parameters={"normalization": "squad", "on_undefined": "nan"},
        broken_laws={"symmetric": ONE_WAY},
    ),
    AnswerCase(
        "AnswerContains-none",
        CONTAINS,
        parameters={"normalization": "none"},
        golden=(
            Golden(
                "case and punctuation count",
                answers(
                    (["Paris"], "In Paris."), (["paris"], "In Paris."), (["U.S."], "the U.S. of A."), (["US"], "U.S.")
                ),
                [1, 0, 1, 0],
            ),
        ),
        broken_laws={"symmetric": ONE_WAY},
    ),
]

EDIT = AnswerEditSimilarityEvaluator
EDIT_CASES = [
    AnswerCase(
        "AnswerEditSimilarity-default",
        EDIT,
        golden=(
            Golden(
                "1 - d / n",
                answers(
                    (["kitten"], "sitting"),  # k to s, e to i, and g: 3 of 7
                    (["東京タワー"], "東京"),  # 3 of 5
                    (["abc", "abd"], "abd"),
                    ([""], ""),
                    ([""], "x"),
                    (["Abc"], "abc"),  # 1 of 3
                ),
                [4 / 7, 2 / 5, 1, 1, 0, 2 / 3],
            ),
        ),
        broken_laws={"disjoint": SHARED_LETTERS},
    ),
    AnswerCase("AnswerEditSimilarity-messages", EDIT, MESSAGES, broken_laws={"disjoint": SHARED_LETTERS}),
    AnswerCase(
        "AnswerEditSimilarity-unicode-nan",
        EDIT,
        parameters={"normalization": "unicode", "on_undefined": "nan"},
        broken_laws={"disjoint": SHARED_LETTERS},
    ),
]

NUMBERS = AnswerNumberMatchEvaluator
NUMBER_LAWS = {
    "symmetric": "the share is of the reference's numbers",
    "identical": "a text without a number is undefined",
    "not_run": "a row whose references hold no number is undefined as well",
}
NUMBER_CASES = [
    AnswerCase(
        "AnswerNumberMatch-default",
        NUMBERS,
        golden=(
            Golden(
                "shares",
                answers(
                    (["12 in 2020"], "It was 12 in 2021."),  # 1 of 2
                    (["1, 1, 2"], "1 and 2"),  # each serves once: 2 of 3
                    (["3 or 4", "4"], "4"),  # the better reference
                    (["no number", "7"], "8"),
                    (["5"], ""),
                    (["no number"], "5"),  # undefined
                ),
                [1 / 2, 2 / 3, 1, 0, 0, 0],
            ),
            Golden(
                "locales",
                answers(
                    (["1,234.56"], "1.234,56"),
                    (["1234.56"], "1 234,56"),
                    (["1,234"], "1.234"),  # either reading
                    (["1,234"], "1234"),
                    (["12,34,567"], "1'234'567"),
                    (["１２３"], "١٢٣"),
                    (["1万2千"], "12,000"),
                    (["三百"], "300"),
                    (["−5 °C"], "5 °C"),
                    (["5 %"], "5%"),
                ),
                [1, 1, 1, 1, 1, 1, 1, 1, 0, 1],
            ),
        ),
        broken_laws=NUMBER_LAWS,
    ),
    AnswerCase("AnswerNumberMatch-messages", NUMBERS, MESSAGES, broken_laws=NUMBER_LAWS),
    AnswerCase(
        "AnswerNumberMatch-tolerant-nan",
        NUMBERS,
        parameters={"relative_tolerance": 0.1, "on_undefined": "nan"},
        golden=(
            Golden(
                "10 per cent, borders included",
                answers(
                    (["100"], "110"), (["100"], "110.1"), (["0.3"], "0.33"), (["0"], "0.01"), (["100, 110"], "109, 101")
                ),
                [1, 0, 1, 0, 1],  # 109 can serve both, 101 both: 2 of 2
            ),
        ),
        broken_laws=NUMBER_LAWS,
    ),
    AnswerCase(
        "AnswerNumberMatch-comma",
        NUMBERS,
        parameters={"decimal_separator": ",", "relative_tolerance": 0.0},
        golden=(
            Golden(
                "points group digits",
                answers((["1.234"], "1234"), (["1.234"], "1,234"), (["1,5"], "1,50")),
                [1, 0, 1],
            ),
        ),
        broken_laws=NUMBER_LAWS,
    ),
    AnswerCase(
        "AnswerNumberMatch-point",
        NUMBERS,
        parameters={"decimal_separator": "."},
        golden=(Golden("commas group digits", answers((["1,234"], "1234"), (["1,234"], "1.234")), [1, 0]),),
        broken_laws=NUMBER_LAWS,
    ),
]

CASES = [*EXACT_CASES, *F1_CASES, *CONTAINS_CASES, *EDIT_CASES, *NUMBER_CASES]
