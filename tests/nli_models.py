# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A tiny real NLI model whose weights are set by hand: a premise entails a hypothesis if it has all of its words.

A BERT of two layers. Every token is a vector of +1 and -1: a code, orthogonal to all other tokens' codes, and the flags
``side`` (premise +1, hypothesis -1) and ``found`` (+1). With as many +1 as -1, LayerNorm changes nothing.
In layer 1 each token looks for its own code, in the premise first, and copies the side it found into its ``found``.
In layer 2 [CLS] looks for a token that is not found, and copies its flag. The head makes 0.9 of +1, and 0.1 of -1.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models

HAVE_NLI = models.HAVE_SAS
NO_NLI = (
    "NLIFaithfulnessEvaluator needs transformers and torch, which are not installed: make test TEST_EXTRAS=test-sas"
)
needs_nli = pytest.mark.skipif(not HAVE_NLI, reason=NO_NLI)

#: The name on the hub that the examples use; this model stands for it.
HUB_NAME = "cross-encoder/nli-deberta-v3-small"
WORDS = str(models.FOLDER / "nli-words")
#: The same under other names: of labels, architecture, tokenizer.
TWO_LABELS = str(models.FOLDER / "nli-two-labels")
NO_NAMES = str(models.FOLDER / "nli-no-names")
ONE_LABEL = str(models.FOLDER / "nli-one-label")
BASE_MODEL = str(models.FOLDER / "nli-base-model")
NO_PADDING = str(models.FOLDER / "nli-no-padding")
#: The same in half precision.
HALF = str(models.FOLDER / "nli-half")
#: Its logits for entailment are not finite.
BROKEN = str(models.FOLDER / "nli-broken")

YES, NO = 0.9, 0.1
LABELS = ["contradiction", "entailment", "neutral"]
LONGEST = 64
CODES = 128
SIDE, FOUND, SIZE = CODES, CODES + 2, CODES + 4
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
TEXT = (
    "the tower is in paris rome old it 330 metres high painted brown nothing of use a reason not given something "
    "stands since 1889 gustave built i do know report was written by ada park printed one two three four five six "
    "seven eight nine ten and but so"
)
VOCABULARY = [*SPECIAL, *".,!?-", *TEXT.split(), *(f"w{number}" for number in range(40))]


def _codes() -> Any:
    """Rows of a Hadamard matrix, but for the first, whose entries do not sum to 0."""
    matrix = np.ones((1, 1))
    while len(matrix) < CODES:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix[1 : len(VOCABULARY) + 1]


def _weights() -> dict[str, Any]:
    root = math.sqrt(SIZE)
    tokens = np.zeros((len(VOCABULARY), SIZE))
    tokens[:, :CODES] = _codes()
    tokens[:, FOUND : FOUND + 2] = 1, -1
    sides = np.zeros((2, SIZE))
    sides[:, SIDE : SIDE + 2] = (1, -1), (-1, 1)
    weights: dict[str, Any] = {
        "embeddings.word_embeddings.weight": tokens,
        "embeddings.position_embeddings.weight": np.zeros((LONGEST, SIZE)),
        "embeddings.token_type_embeddings.weight": sides,
    }

    def linear(name: str, outputs: int, inputs: int) -> tuple[Any, Any]:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.zeros((outputs, inputs)), np.zeros(outputs)
        return weights[f"{name}.weight"], weights[f"{name}.bias"]

    def norm(name: str) -> None:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(SIZE), np.zeros(SIZE)

    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        query, query_bias = linear(f"{layer}.attention.self.query", SIZE, SIZE)
        key, _ = linear(f"{layer}.attention.self.key", SIZE, SIZE)
        value, _ = linear(f"{layer}.attention.self.value", SIZE, SIZE)
        output, output_bias = linear(f"{layer}.attention.output.dense", SIZE, SIZE)
        if layer.endswith("0"):
            # The own code counts 60, the premise 15 and the hypothesis -15: the largest is the premise's own word, then
            # the own word, then the rest of the premise.
            query[range(CODES), range(CODES)] = 60 * root / CODES
            key[range(CODES), range(CODES)] = 1
            query_bias[SIDE] = 15 * root
            key[SIDE, SIDE] = 1
            value[0, SIDE] = 1
        else:
            query_bias[FOUND] = -15 * root
            key[FOUND, FOUND] = 1
            value[0, FOUND] = 1
        # found, which is 1, becomes 1 + value - 1.
        output[FOUND, 0], output_bias[FOUND] = 1, -1
        output[FOUND + 1, 0], output_bias[FOUND + 1] = -1, 1
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", 4, SIZE)
        linear(f"{layer}.output.dense", SIZE, 4)
        norm(f"{layer}.output.LayerNorm")
    pooled, _ = linear("pooler.dense", SIZE, SIZE)
    pooled[0, FOUND] = 20  # tanh makes 1 of it
    return weights


def _head(labels: list[str], entailment: int, bias: float) -> dict[str, Any]:
    """Logits ln 9 or -ln 9 for entailment, 0 for one other label, and nothing for the third."""
    weight = np.zeros((len(labels), SIZE))
    weight[entailment, 0] = math.log(9)
    biases = np.zeros(len(labels))
    biases[entailment] = bias
    if len(labels) == 3:
        biases[0] = -100.0
    return {"classifier.weight": weight, "classifier.bias": biases}


def _write(
    path: str,
    labels: list[str],
    entailment: int = 1,
    *,
    bias: float = 0.0,
    architecture: str = "BertForSequenceClassification",
    padding: bool = True,
    precision: str = "float32",
) -> None:
    """A model folder: configuration, tokenizer, weights."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    folder = Path(path)
    folder.mkdir(parents=True)
    config = {
        "architectures": [architecture],
        "model_type": "bert",
        "vocab_size": len(VOCABULARY),
        "hidden_size": SIZE,
        "num_hidden_layers": 2,
        "num_attention_heads": 1,
        "intermediate_size": 4,
        "max_position_embeddings": LONGEST,
        "torch_dtype": precision,
        "id2label": {str(number): name for number, name in enumerate(labels)},
        "label2id": {name: number for number, name in enumerate(labels)},
    }
    numbers = {token: number for number, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    files: dict[str, dict[str, Any]] = {
        "config.json": config,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            **({"pad_token": "[PAD]"} if padding else {}),
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    weights = {f"bert.{name}": value for name, value in _weights().items()} | _head(labels, entailment, bias)
    save_file(
        {name: np.ascontiguousarray(value, dtype=precision) for name, value in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )


def _link(name: str, path: str) -> None:
    """Lay a folder into the hub's cache (see conftest.py), where its name on the hub finds it."""
    repository = Path(os.environ["HF_HUB_CACHE"]) / f"models--{name.replace('/', '--')}"
    revision = "0" * 40
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(revision, encoding="utf-8")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / revision).symlink_to(path, target_is_directory=True)


if HAVE_NLI:
    _write(WORDS, LABELS)
    _write(TWO_LABELS, ["not_entailment", "ENTAILMENT"])
    _write(NO_NAMES, ["LABEL_0", "LABEL_1"])
    _write(ONE_LABEL, ["LABEL_0"], 0)
    _write(BASE_MODEL, LABELS, architecture="BertModel")
    _write(NO_PADDING, LABELS, padding=False)
    _write(BROKEN, LABELS, bias=math.inf)
    _write(HALF, LABELS, precision="float16")
    _link(HUB_NAME, WORDS)
