# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What components with a model of Hugging Face form share: parameters, loading, batches, from logits to 0..1."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_T = TypeVar("_T")


def check_text(name: str, value: object, *, expected: str) -> None:
    """
    Refuse a parameter that is no text, or an empty one.

    :param name: Name of the parameter.
    :param value: What came.
    :param expected: What it must be, for the message.
    :raises TypeError: If it is no text.
    :raises ValueError: If it is empty.
    """
    if not isinstance(value, str):
        msg = f"{name} must be {expected}, but is {describe(value)}."
        raise InvalidTypeError(msg)
    if not value.strip():
        msg = f"{name} must be {expected}, but is an empty text."
        raise InvalidValueError(msg)


def check_device(device: object) -> None:
    """
    Refuse a ``device`` that is no ComponentDevice.

    :param device: What came.
    :raises TypeError: If it is neither a ComponentDevice nor None.
    """
    if not isinstance(device, ComponentDevice | None):
        msg = (
            'device must be a ComponentDevice, such as ComponentDevice.from_str("cpu"), or None, but is '
            f"{describe(device)}."
        )
        raise InvalidTypeError(msg)


def check_token(token: object) -> None:
    """
    Refuse a ``token`` that is no Secret.

    :param token: What came.
    :raises TypeError: If it is neither a Secret nor None.
    """
    if not isinstance(token, Secret | None):
        # Its type alone: what came may be the token itself.
        msg = f'token must be a Secret, such as Secret.from_env_var("HF_TOKEN"), or None, but is {describe(token)}.'
        raise InvalidTypeError(msg)


class LoadedOnce:
    """
    A component with a model that is loaded when it is first needed, and used by one thread at a time.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    _loaded: Any = None
    _loaded_by: tuple[Any, ...] = ()
    _lock: threading.Lock

    def __init__(self, *parameters: Any) -> None:
        """
        Nothing is loaded yet.

        :param parameters: What decides about the model: one that was loaded by the same stays.
        """
        if parameters != self._loaded_by:
            self._loaded = None
        self._loaded_by = parameters
        # One at a time: the tokenizer cannot be used by two threads at once, and one call keeps all cores busy.
        if not hasattr(self, "_lock"):
            self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles load their own model: a lock cannot be copied."""
        return {**self.__dict__, "_loaded": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give a copy its own lock."""
        self.__dict__.update(state, _lock=threading.Lock())


def classifier_labels(config: Any) -> list[str]:
    """
    The labels of a model that classifies texts or pairs of texts.

    :param config: Its configuration.
    :returns: The labels in the order of the model's outputs; none if the model is of another kind, to which
        transformers would add a head with random weights.
    """
    if not any(name.endswith("ForSequenceClassification") for name in config.architectures or []):
        return []
    return [label for _, label in sorted(config.id2label.items())]


def longest_first(
    read: Callable[[list[_T]], NDArray[np.floating]],
    inputs: Sequence[_T],
    lengths: Sequence[int],
    *,
    batch_size: int,
    done: Callable[[int], Any],
) -> NDArray[np.floating]:
    """
    Let a model read inputs in batches of like length, which need little padding.

    The longest come first, so that memory ends soon or never.

    :param read: The model: a number or a vector for each input of a batch.
    :param inputs: At least one input.
    :param lengths: The length of each, best in tokens.
    :param batch_size: How many inputs the model reads at once.
    :param done: Told how many inputs were read, after each batch.
    :returns: What the model gave for each input, in their order.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    parts = []
    for start in range(0, len(order), batch_size):
        numbers = order[start : start + batch_size].tolist()
        parts.append(read([inputs[number] for number in numbers]))
        done(len(numbers))
    found: NDArray[np.floating] = np.concatenate(parts)
    found[order] = found.copy()
    return found


def sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Map logits to 0..1.

    :param logits: Any finite numbers.
    :returns: 1 / (1 + exp(-logit)), without overflow at either end.
    """
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """
    Map the logits of each row to probabilities.

    :param logits: One row a pair, one column a label.
    :returns: Probabilities that sum to 1 in each row.
    """
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
