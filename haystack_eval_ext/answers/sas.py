# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Semantic answer similarity. Source: Risch et al., MRQA 2021, doi:10.18653/v1/2021.mrqa-1.15."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from haystack import component
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret
from numpy.typing import NDArray

from haystack_eval_ext._models import (
    LoadedOnce,
    check_device,
    check_text,
    check_token,
    classifier_labels,
    longest_first,
    sigmoid,
    softmax,
)
from haystack_eval_ext._parameters import check_flag, check_integer
from haystack_eval_ext._progress import progress
from haystack_eval_ext._rows import answer_rows
from haystack_eval_ext._scores import OnUndefined, check_on_undefined
from haystack_eval_ext._serialization import Serialized
from haystack_eval_ext.answers._base import Answers, References
from haystack_eval_ext.answers._similarity import (
    TextPairs,
    pair_cosines,
    pair_up,
    similarity_rows,
)
from haystack_eval_ext.errors import InvalidValueError, MissingPackageError

_INSTALL = 'SASEvaluator needs sentence-transformers and torch. Run: pip install "haystack-eval-ext[sas]"'
# How what a model emits becomes a score.
Mapping = Literal["cosine", "none", "sigmoid", "softmax"]


@component
class SASEvaluator(LoadedOnce, Serialized):
    """
    Scores how close in meaning an answer is to the best of its references. From 0 to 1, or -1 to 1, higher is better.

    The model decides the range. A cross-encoder reads both texts together and gives 0 to 1: if it was made to emit
    logits, a sigmoid maps them, in every batch alike. A bi-encoder gives the cosine of the two texts' vectors, -1 to 1.
    A cross-encoder with several labels, such as one for entailment, gives the probability of the label that is named.

    Needs ``pip install "haystack-eval-ext[sas]"``. The model is loaded at the first run, or by ``warm_up``.

    Usage example:
    ```python
    from haystack_eval_ext import SASEvaluator

    evaluator = SASEvaluator(model="sentence-transformers/all-MiniLM-L6-v2")
    result = evaluator.run(
        ground_truth_answers=[["in Berlin", "the capital of Germany"], ["in 1889"]],
        predicted_answers=["Berlin", "It costs three euros."],
    )
    print([round(score, 2) for score in result["individual_scores"]])
    # [0.89, 0.13]
    ```
    """

    # Since 2 a row without a reference is not run.
    _rule_version = 2

    # What is known once the model is loaded.
    _mapping: Mapping = "cosine"
    _label_number = 0

    def __init__(
        self,
        model: str = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
        batch_size: int = 32,
        device: ComponentDevice | None = None,
        token: Secret | None = Secret.from_env_var(["HF_API_TOKEN", "HF_TOKEN"], strict=False),  # noqa: B008
        *,
        label: str | None = None,
        on_undefined: OnUndefined = "zero",
        progress_bar: bool = False,
    ) -> None:
        """
        Create a SASEvaluator component.

        :param model: A bi-encoder or cross-encoder of sentence-transformers: its name on the Hugging Face hub, or a
            folder.
        :param batch_size: How many texts, or pairs of texts, the model reads at once.
        :param device: Where the model runs; None: Haystack's default.
        :param token: The token for the hub.
        :param label: Of a cross-encoder with several labels, the one whose probability is the score, as the model's
            configuration names it: "entailment".
        :param on_undefined: What a question with an embedding of zeros counts as: "zero", "nan" (left out of the mean)
            or "raise". One without a reference is "not_run" and left out, whatever is set here.
        :param progress_bar: Whether to show the model's progress.
        :raises ValueError: If a parameter has no such value, or a text is empty.
        :raises TypeError: If a parameter is of another type.
        """
        check_text("model", model, expected="the name of a model on the Hugging Face hub, or a folder")
        check_integer("batch_size", batch_size, minimum=1)
        check_device(device)
        check_token(token)
        if label is not None:
            check_text("label", label, expected="the name of one of the model's labels, or None")
        check_on_undefined(on_undefined)
        check_flag("progress_bar", progress_bar)
        self.model = model
        self.batch_size = batch_size
        self.device = device
        self.token = token
        self.label = label
        self.on_undefined: OnUndefined = on_undefined
        self.progress_bar = progress_bar
        # No super(): the decorator rebuilds the class.
        LoadedOnce.__init__(self, model, device, token, label)

    def warm_up(self) -> None:
        """
        Load the model, once.

        :raises ImportError: If sentence-transformers or torch is missing.
        :raises ValueError: If the model has several labels and none of them is named, or its output has no known range.
        """
        self._follow()
        with self._lock:
            self._load()

    def _load(self) -> None:
        if self._loaded is not None:
            return
        try:
            from sentence_transformers import CrossEncoder, SentenceTransformer
            from transformers import AutoConfig
        except ImportError as error:
            raise MissingPackageError(_INSTALL) from error

        token = self.token.resolve_value() if self.token else None
        device = ComponentDevice.resolve_device(self.device).to_torch_str()
        config = AutoConfig.from_pretrained(self.model, token=token)
        # In the order of the model's outputs. Looked at before the weights are fetched.
        labels = classifier_labels(config)
        self._check_label(labels)
        if not labels:
            model: Any = SentenceTransformer(self.model, device=device, token=token)
            self._mapping = "cosine"
        else:
            model = CrossEncoder(self.model, device=device, token=token)
            self._mapping = "softmax" if len(labels) > 1 else self._mapping_after(model.activation_fn)
        self._label_number = labels.index(self.label) if self.label is not None else 0
        self._loaded = model

    def _check_label(self, labels: list[str]) -> None:
        if len(labels) > 1 and self.label not in labels:
            msg = (
                f"label must name the one of the model's labels whose probability is the score: {self.model} has "
                f"{', '.join(map(repr, labels))}, and label is {self.label!r}."
            )
            raise InvalidValueError(msg)
        if len(labels) <= 1 and self.label is not None:
            msg = f"label is for cross-encoders with several labels, which {self.model} is not, but is {self.label!r}."
            raise InvalidValueError(msg)

    def _mapping_after(self, activation: Any) -> Mapping:
        """Decided by the model alone, so that no batch can change it."""
        name = type(activation).__name__
        if name not in ("Identity", "Sigmoid"):
            msg = (
                f"{self.model} ends in the activation function {name}, of which no mapping to 0..1 is known: choose a "
                "cross-encoder that ends in Sigmoid or Identity."
            )
            raise InvalidValueError(msg)
        return "sigmoid" if name == "Identity" else "none"

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored" or "undefined" for each question, "not_run" without a reference, "error" if the model
              gave no finite number;
            - `errors`: why a question has no score, else None.
        :raises ValueError: If there are no rows, the inputs differ in length, a message is no answer, or the model
            does not fit.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a question has an embedding of zeros, and ``on_undefined`` is "raise".
        :raises ImportError: If sentence-transformers or torch is missing.
        """
        self._follow()
        name = type(self).__name__
        pairs = pair_up(*answer_rows(ground_truth_answers, predicted_answers))
        values, failed = np.empty(0), np.empty(0, dtype=np.bool_)
        if pairs.texts:
            with self._lock:
                self._load()
                values, failed = self._pair_scores(pairs)
        return similarity_rows(
            pairs, values, failed, self.on_undefined, name=name, reason="the model gave no finite number"
        )._asdict()

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    async def run_async(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question in a thread, so that the event loop goes on.

        :param ground_truth_answers: As for :meth:`run`.
        :param predicted_answers: As for :meth:`run`.
        :returns: The same outputs as :meth:`run`.
        """
        return await asyncio.to_thread(
            self.run, ground_truth_answers=ground_truth_answers, predicted_answers=predicted_answers
        )

    def _pair_scores(self, pairs: TextPairs) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The score of each pair, and whether it failed; what occurs twice is computed once."""
        model = self._loaded
        if self._mapping == "cosine":
            return pair_cosines(self._read(model.encode, pairs.texts), pairs)
        count = len(pairs.texts)
        different, place = np.unique(pairs.predictions * count + pairs.references, return_inverse=True)
        texts = [(pairs.texts[number // count], pairs.texts[number % count]) for number in different.tolist()]
        options: dict[str, Any] = {}
        if self._mapping == "softmax":
            # The model's own activation may map each label by itself.
            from torch.nn import Identity

            options["activation_fn"] = Identity()
        scores = self._read(model.predict, texts, **options).astype(np.float64)
        failed = np.asarray(~np.isfinite(scores.reshape(len(texts), -1)).all(axis=1))
        if self._mapping == "softmax":
            scores = softmax(scores)[:, self._label_number]
        elif self._mapping == "sigmoid":
            scores = sigmoid(scores)
        return scores[place], failed[place]

    def _read(self, read: Callable[..., Any], inputs: list[Any], **options: Any) -> NDArray[np.floating]:
        """Let the model read texts, or pairs of texts."""
        with progress(type(self).__name__, len(inputs), shown=self.progress_bar) as bar:
            return longest_first(
                lambda batch: np.asarray(
                    read(batch, batch_size=len(batch), show_progress_bar=False, convert_to_numpy=True, **options)
                ),
                inputs,
                _lengths(self._loaded, inputs),
                batch_size=self.batch_size,
                done=bar.update,
            )


def _lengths(model: Any, inputs: list[Any]) -> list[int]:
    """How many tokens the model reads of each text, or pair of texts; characters if its tokenizer is of a rare kind."""
    pairs = [(text,) if isinstance(text, str) else text for text in inputs]
    limit = getattr(model, "max_seq_length", None)
    try:
        columns = map(list, zip(*pairs, strict=True))
        found = model.tokenizer(*columns, truncation=limit is not None, max_length=limit, verbose=False)["input_ids"]
        return [len(tokens) for tokens in found]
    except Exception:  # whatever it dislikes: only the padding suffers
        return [sum(map(len, texts)) for texts in pairs]
