# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A natural language inference model: texts cut to what it reads, and the probability that one entails another."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

from haystack_eval_ext._models import classifier_labels, longest_first, sigmoid, softmax
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext.errors import InvalidValueError, MissingPackageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Premise and hypothesis.
Pair = tuple[str, str]
#: How many tokens a text has.
Length = Callable[[str], int]

_INSTALL = 'NLIFaithfulnessEvaluator needs transformers and torch. Run: pip install "haystack-eval-ext[sas]"'
# Tokenizers that know no limit say 10 ** 30.
_NO_LIMIT = 1_000_000


def entailment_number(labels: list[str], label: str | None, *, model: str) -> int:
    """
    Find the label that says that the premise entails the hypothesis.

    :param labels: The model's labels, in the order of its outputs.
    :param label: The label that the user named; None: the one that is called so.
    :param model: Name of the model, for messages.
    :returns: Its number.
    :raises ValueError: If the model does not classify, or there is no such label, or none or several are called so.
    """
    if not labels:
        msg = (
            f"model must be a sequence-classification model for natural language inference, which {model} is not: its "
            "configuration names no architecture that ends in ForSequenceClassification."
        )
        raise InvalidValueError(msg)
    has = f"{model} has {', '.join(map(repr, labels))}"
    if label is not None:
        if label not in labels:
            msg = f"label must name one of the model's labels: {has}, and label is {label!r}."
            raise InvalidValueError(msg)
        return labels.index(label)
    # "not_entailment", "non-entailment"
    found = [
        number
        for number, name in enumerate(labels)
        if "entail" in name.casefold() and not name.casefold().startswith("no")
    ]
    if len(found) != 1:
        msg = f"label must name the label that stands for entailment, since the names do not tell: {has}."
        raise InvalidValueError(msg)
    return found[0]


def pieces(text: str, limit: float, length: Length) -> list[str]:
    """
    Cut a text in halves, at blanks, until each is short enough.

    :param text: Any text.
    :param limit: How many tokens a piece may have.
    :param length: Counts the tokens of a text.
    :returns: The pieces. A single character is never cut.
    """
    text = text.strip()
    if not text:
        return []
    if len(text) == 1 or length(text) <= limit:
        return [text]
    middle = len(text) // 2
    blanks = [blank for blank in (text.rfind(" ", 0, middle), text.find(" ", middle)) if blank != -1]
    cut = min(blanks, key=lambda blank: abs(blank - middle), default=middle)
    return pieces(text[:cut], limit, length) + pieces(text[cut:], limit, length)


def chunks(text: str, limit: float, length: Length) -> list[str]:
    """
    Cut a text into runs of its sentences.

    :param text: Any text.
    :param limit: How many tokens a chunk may have.
    :param length: Counts the tokens of a text.
    :returns: The text itself if it is short enough; else chunks of as many sentences as fit, where a sentence that is
        too long is cut, too.
    """
    if length(text) <= limit:
        return [text]
    found: list[list[str]] = []
    room = 0.0
    for piece in (piece for sentence in sentences(text) for piece in pieces(sentence, limit, length)):
        # A token more, since sentences beside each other may need one more than apart.
        needed = length(piece) + 1
        if not found or needed > room:
            found.append([])
            room = limit + 1
        found[-1].append(piece)
        room -= needed
    return [" ".join(chunk) for chunk in found]


class EntailmentModel:
    """
    A sequence-classification model for natural language inference, in the form of Hugging Face.

    For one thread at a time.
    """

    def __init__(
        self, name: str, *, device: ComponentDevice | None, token: Secret | None, label: str | None, longest: int | None
    ) -> None:
        """
        Load the model.

        :param name: Its name on the hub, or a folder, for which nothing is asked of the hub.
        :param device: Where it runs; None: Haystack's default.
        :param token: The token for the hub.
        :param label: The label that stands for entailment; None: the one that is called so.
        :param longest: How many tokens premise and hypothesis may have together; None: as many as the model reads.
        :raises ImportError: If transformers or torch is missing.
        :raises ValueError: If the model does not fit.
        """
        try:
            import torch
            from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
        except ImportError as error:
            raise MissingPackageError(_INSTALL) from error

        options: dict[str, Any] = {
            "token": token.resolve_value() if token else None,
            "local_files_only": os.path.isdir(name),
        }
        self._device = ComponentDevice.resolve_device(device).to_torch_str()
        config = AutoConfig.from_pretrained(name, **options)
        # Before the weights are fetched.
        self._labels = classifier_labels(config)
        self._label_number = entailment_number(self._labels, label, model=name)
        self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
        if self._tokenizer.pad_token is None:
            msg = f"model must have a tokenizer with a padding token, since it reads in batches, but {name} has none."
            raise InvalidValueError(msg)
        model: Any = AutoModelForSequenceClassification.from_pretrained(name, **options)
        # In single precision also where the weights are stored in half: else a score moves with the batch.
        self._model = model.to(device=self._device, dtype=torch.float32).eval()
        self._longest = _longest_input(self._model, self._tokenizer, longest)
        self._room = (self._longest or math.inf) - self._tokenizer.num_special_tokens_to_add(pair=True)
        self._lengths: dict[str, int] = {}

    def length(self, text: str) -> int:
        """
        Count the tokens of a text; what was counted is kept until :meth:`forget`.

        :param text: Any text.
        :returns: Their number, without special ones.
        """
        known = self._lengths.get(text)
        if known is None:
            tokens = self._tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
            known = self._lengths[text] = len(tokens)
        return known

    def forget(self) -> None:
        """Drop the counts of a run."""
        self._lengths.clear()

    def parts(self, statement: str) -> list[str]:
        """
        Cut a statement that leaves no room for a premise.

        :param statement: A statement.
        :returns: The statement itself, or parts of at most half of what the model reads.
        """
        return pieces(statement, self._room // 2, self.length)

    def premises(self, context: str, hypothesis: str) -> list[str]:
        """
        Cut a context into what the model reads beside a hypothesis.

        :param context: A context.
        :param hypothesis: A statement, or a part of one.
        :returns: The context itself, or chunks of its sentences.
        """
        return chunks(context, self._room - self.length(hypothesis), self.length)

    def probabilities(self, pairs: list[Pair], *, batch_size: int, done: Callable[[int], Any]) -> NDArray[np.float64]:
        """
        The probability that the premise entails the hypothesis.

        :param pairs: Pairs of both, each once.
        :param batch_size: How many pairs the model reads at once.
        :param done: Told how many pairs were read, after each batch.
        :returns: One a pair, from 0 to 1; NaN where the model gave no finite number.
        """
        if not pairs:
            return np.empty(0)
        import torch

        def read(batch: list[Pair]) -> NDArray[np.floating]:
            encoded = self._tokenizer(
                [premise for premise, _ in batch],
                [hypothesis for _, hypothesis in batch],
                padding=True,
                truncation="only_first" if self._longest else False,
                max_length=self._longest,
                return_tensors="pt",
            ).to(self._device)
            with torch.inference_mode():
                return np.asarray(self._model(**encoded).logits.cpu().numpy())

        lengths = [self.length(premise) + self.length(hypothesis) for premise, hypothesis in pairs]
        logits = longest_first(read, pairs, lengths, batch_size=batch_size, done=done).astype(np.float64)
        failed = ~np.isfinite(logits).all(axis=1)
        logits[failed] = 0.0
        values = softmax(logits) if len(self._labels) > 1 else sigmoid(logits)
        values[failed] = np.nan
        return np.asarray(values[:, self._label_number])


def _longest_input(model: Any, tokenizer: Any, wanted: int | None) -> int | None:
    """How many tokens the model reads; None: nobody knows a limit."""
    known = [wanted, tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        # RoBERTa's positions start behind that of the padding: 514 of them are 512.
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            unused = 0 if module.padding_idx is None else module.padding_idx + 1
            known.append(module.num_embeddings - unused)
    return min((limit for limit in known if limit is not None and 0 < limit < _NO_LIMIT), default=None)
