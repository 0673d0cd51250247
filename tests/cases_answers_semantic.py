# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of similarity by models: SASEvaluator and AnswerEmbeddingSimilarityEvaluator."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

from haystack.components.embedders import MockDocumentEmbedder
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

import models
from cases import Golden
from cases_answers import AnswerCase, answers
from haystack_eval_ext import AnswerEmbeddingSimilarityEvaluator, SASEvaluator
from letter_embedders import LetterDocumentEmbedder, LetterTextEmbedder

# MiniLM, too: the contract runs the example of the docstring.
SKIPPED = models.NO_SAS if not models.HAVE_SAS else "" if models.HAVE_MINILM else models.NO_MINILM
#: A model computes in single precision, and each load of it takes time.
SAS: dict[str, Any] = {"tolerance": 1e-5, "company": 1e-5, "exact": 1e-6, "examples": 1, "skipped": SKIPPED}
UNRELATED = "the tiny model has random weights"
BI_ENCODER_BREAKS = {"disjoint": UNRELATED}
CROSS_ENCODER_BREAKS = {
    "disjoint": UNRELATED,
    "identical": UNRELATED,
    "symmetric": "a cross-encoder reads the answer first",
}
BLIND_BREAKS = {"disjoint": "the model is blind", "identical": "the model is blind"}
BLIND = answers((["Paris"], "Paris"), (["Rome", "Paris"], "Berlin"), ([], "Rome"))

SAS_CASES = [
    AnswerCase(
        "sas-bi-encoder",
        SASEvaluator,
        parameters={"model": models.BI_ENCODER, "batch_size": 3, "device": ComponentDevice.from_str("cpu")},
        golden=(
            Golden(
                "a vector beside itself, cosine 1; and no references",
                answers((["Paris"], "Paris"), (["Rome", "in Paris"], "in Paris"), ([], "Paris")),
                [1.0, 1.0, nan],
            ),
        ),
        broken_laws=BI_ENCODER_BREAKS,
        lowest=-1.0,
        **SAS,
    ),
    AnswerCase(
        "sas-cross-encoder",
        SASEvaluator,
        parameters={"model": models.CROSS_SIGMOID, "token": Secret.from_env_var("MY_HUB_TOKEN", strict=False)},
        broken_laws=CROSS_ENCODER_BREAKS,
        **SAS,
    ),
    # These two are blind to the texts, so that their scores can be computed; test_sas.py has models that read.
    AnswerCase(
        "sas-logits",
        SASEvaluator,
        parameters={"model": models.CROSS_THREE_TO_ONE},
        # Each logit is ln 3: 1 / (1 + e^-ln3) = 1 / (1 + 1/3) = 3/4
        golden=(Golden("ln 3", BLIND, [3 / 4, 3 / 4, nan]),),
        broken_laws=BLIND_BREAKS,
        **SAS,
    ),
    AnswerCase(
        "sas-labels",
        SASEvaluator,
        parameters={
            "model": models.LABELS_ONE_TWO_ONE,
            "label": "entailment",
            "progress_bar": True,
            "on_undefined": "nan",
        },
        # Logits 0, ln 2, 0: 2 / (1 + 2 + 1)
        golden=(Golden("1 to 2 to 1", BLIND, [1 / 2, 1 / 2, nan]),),
        broken_laws=BLIND_BREAKS,
        **SAS,
    ),
]

LETTERS = Golden(
    "counts of letters",
    answers(
        (["ab"], "a"),  # (1, 1) and (1, 0): 1 / sqrt 2
        (["aab"], "abb"),  # (2, 1) and (1, 2): 4 / 5
        (["cd", "ab", "abc"], "ba"),  # 0; 1; 2 / (sqrt 2 sqrt 3)
        (["cd"], "ab"),
        ([" ", "a"], ""),
        (["a"], "\n"),
        ([], "a"),
    ),
    [1 / sqrt(2), 4 / 5, 1.0, 0.0, 1.0, 0.0, nan],
)
EMBEDDING_CASES = [
    AnswerCase(
        "embedding-documents",
        AnswerEmbeddingSimilarityEvaluator,
        parameters={"embedder": LetterDocumentEmbedder()},
        golden=(LETTERS,),
        lowest=-1.0,
        exact=1e-12,
    ),
    AnswerCase(
        "embedding-texts",
        AnswerEmbeddingSimilarityEvaluator,
        parameters={"embedder": LetterTextEmbedder(), "raise_on_failure": False, "on_undefined": "nan"},
        lowest=-1.0,
    ),
    AnswerCase(
        "embedding-mock",
        AnswerEmbeddingSimilarityEvaluator,
        parameters={"embedder": MockDocumentEmbedder(dimension=64)},
        broken_laws={"disjoint": "the embedder draws a vector for each text"},
        lowest=-1.0,
    ),
]

CASES = [*SAS_CASES, *EMBEDDING_CASES]
