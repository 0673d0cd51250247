# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the overlap metrics: ROUGE, BLEU and chrF, with their default and with other parameters."""

from __future__ import annotations

from math import exp, nan

from cases import Golden
from cases_answers import AnswerCase, answers
from haystack_eval_ext import AnswerBleuEvaluator, AnswerChrfEvaluator, AnswerRougeEvaluator

LENGTHS = "the answer must be as long as the reference that is closest in length, and a further one may be closer"
SHORT = "only a short answer is punished for its length"
RECALL = "what the reference has counts, or counts more"
CAT = (["The cat sat on the mat."], "The cat lay on the mat")

ROUGE = [
    AnswerCase(
        "rouge",
        AnswerRougeEvaluator,
        golden=(
            Golden(
                "longest common subsequence",
                answers(
                    CAT,  # the cat _ on the mat: 5 of 6 words on both sides
                    (["a b c d"], "c d a b"),  # 2 of 4
                    (["Rome", "the city of Rome"], "city of Rome"),  # 3 of 3 and of 4: better than 1 of 3 and of 1
                    (["東京タワー"], "東京駅"),  # 2 of 3 and of 5 characters: 2 * 2 / (3 + 5)
                    (["Rome"], "Paris"),
                    ([""], "..."),  # no tokens on either side
                    ([], "Rome"),
                ),
                [5 / 6, 2 / 4, 2 * 3 / (3 + 4), 2 * 2 / (3 + 5), 0.0, 1.0, nan],
            ),
        ),
    ),
    AnswerCase(
        "rouge-1",
        AnswerRougeEvaluator,
        parameters={"rouge_type": "rouge1", "on_undefined": "nan"},
        golden=(
            Golden(
                "words in any order",
                answers((["a b c d"], "c d a b"), (["the cat sat"], "the cat")),  # 4 of 4; 2 of 2 and of 3
                [1.0, 2 * 2 / (2 + 3)],
            ),
        ),
    ),
    AnswerCase(
        "rouge-2",
        AnswerRougeEvaluator,
        parameters={"rouge_type": "rouge2"},
        golden=(
            Golden(
                "pairs of words",
                # the-cat, on-the and the-mat of 5 pairs; a-b and c-d of 3; a single word has no pair but is equal.
                answers(CAT, (["a b c d"], "c d a b"), (["Rome"], "rome"), (["Rome"], "Paris")),
                [3 / 5, 2 / 3, 1.0, 0.0],
            ),
        ),
    ),
    AnswerCase(
        "rouge-lines",
        AnswerRougeEvaluator,
        parameters={"rouge_type": "rougeLsum"},
        golden=(
            Golden(
                "the lines in any order",
                answers((["a b\nc d"], "c d\na b"), (["a b c d"], "c d a b")),  # 4 of 4; on one line 2 of 4
                [1.0, 2 / 4],
            ),
        ),
    ),
    AnswerCase(
        "rouge-recall-of-stems",
        AnswerRougeEvaluator,
        broken_laws={"symmetric": RECALL},
        parameters={"measure": "recall", "use_stemmer": True},
        golden=(
            Golden(
                "what stands in the reference",
                # open librari of 2 stems; 3 of 3 words, the fourth of the answer does not count against it.
                answers((["opens library"], "opening libraries"), (["the cat sat"], "the cat sat here")),
                [1.0, 1.0],
            ),
        ),
    ),
]

BLEU = [
    AnswerCase(
        "bleu",
        AnswerBleuEvaluator,
        broken_laws={"more_references": LENGTHS, "symmetric": SHORT},
        golden=(
            Golden(
                "word sequences",
                answers(
                    # 5 of 6 words, 3 of 5 pairs, 2 of 4 threes, 1 of 3 fours; as long as the reference.
                    (["The cat sat on the mat"], "The cat sat on a mat"),
                    # All sequences are there, but the answer has 4 of 6 words.
                    (["a b c d e f"], "a b c d"),
                    # Jointly 4 of 4 words and 2 of 3 pairs; of threes half of 1 (of 2), of fours a quarter (of 1).
                    (["a b x y", "z c d"], "a b c d"),
                    (["Paris"], "Paris"),
                    (["東京タワー"], "東京タ"),  # characters: 3 of 3, 2 of 2, 1 of 1; 3 of 5 long
                    (["Rome"], "Paris"),
                    ([""], ""),
                    ([], "Paris"),
                ),
                [
                    (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4),
                    exp(1 - 6 / 4),
                    (1 * 2 / 3 * (1 / 2) / 2 * (1 / 4) / 1) ** (1 / 4),
                    1.0,
                    exp(1 - 5 / 3),
                    0.0,
                    1.0,
                    nan,
                ],
            ),
        ),
    ),
    AnswerCase(
        "bleu-pairs",
        AnswerBleuEvaluator,
        broken_laws={"more_references": LENGTHS, "symmetric": SHORT},
        parameters={"max_ngram_order": 2, "lowercase": True, "smooth_method": "floor", "on_undefined": "nan"},
        golden=(
            Golden(
                "up to pairs, a tenth of a match for none",
                answers((["A B C"], "a b d"), (["a b"], "B A")),  # 2 of 3 and 1 of 2; 2 of 2 and 0.1 of 1
                [(2 / 3 * 1 / 2) ** (1 / 2), (1 * 0.1) ** (1 / 2)],
            ),
        ),
    ),
    AnswerCase(
        "bleu-characters",
        AnswerBleuEvaluator,
        broken_laws={"symmetric": SHORT},
        parameters={"tokenize": "char", "normalization": "unicode", "smooth_method": "add-k"},
        golden=(
            Golden(
                "characters of normalised text",
                # ab of abc!: 2 of 2, (1 + 1) of (1 + 1), (0 + 1) of (0 + 1), the same for fours; 2 of 3 long.
                answers((["ＡＢＣ!"], "ab")),
                [exp(1 - 3 / 2)],
            ),
        ),
    ),
]

CHRF = [
    AnswerCase(
        "chrf",
        AnswerChrfEvaluator,
        broken_laws={"symmetric": RECALL},
        golden=(
            Golden(
                "character sequences",
                answers(
                    # 2 of 3 characters, 1 of 2 pairs, 0 of 1 three, on both sides; longer ones are in neither.
                    (["abd"], "abc"),
                    # The answer's 2 and 1 are all there, of 4 and 3: precision 1, recall 5/12, which counts four times.
                    (["abcd"], "ab"),
                    (["xyz", "東京"], "東京"),
                    (["Rome"], "Paris"),
                    ([""], ""),
                    ([], "Paris"),
                ),
                [(2 / 3 + 1 / 2 + 0) / 3, 5 * 1 * (5 / 12) / (4 * 1 + 5 / 12), 1.0, 0.0, 1.0, nan],
            ),
        ),
    ),
    AnswerCase(
        "chrf-with-words",
        AnswerChrfEvaluator,
        broken_laws={"symmetric": RECALL},
        parameters={"word_order": 2, "lowercase": True, "on_undefined": "nan"},
        golden=(
            Golden(
                "characters and words",
                # 1 of 2 characters, 0 of 1 pair of them, 1 of 2 words, 0 of 1 pair of words.
                answers((["a C"], "A b")),
                [(1 / 2 + 0 + 1 / 2 + 0) / 4],
            ),
        ),
    ),
    AnswerCase(
        "chrf-short",
        AnswerChrfEvaluator,
        parameters={"char_order": 1, "beta": 1, "normalization": "unicode"},
        golden=(
            Golden(
                "single characters, recall and precision alike",
                answers((["ａｂｃｄ"], "AB!")),  # ab: 2 of 2 and of 4
                [2 * 2 / (2 + 4)],
            ),
        ),
    ),
]

CASES = [*ROUGE, *BLEU, *CHRF]
