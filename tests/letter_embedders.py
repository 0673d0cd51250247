# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Embedders that count letters, so that cosines can be computed by hand; they refuse or spoil texts on purpose."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_to_dict
from haystack.core.serialization import allow_deserialization_module

# As importing this package does for its own components.
allow_deserialization_module("letter_embedders")

#: Prime, and large enough that no two characters of the tests meet.
LENGTH = 4999


class RefusedError(RuntimeError):
    """What a service answers to a text; as with services, its message quotes the text."""

    def __init__(self, text: str, status_code: int = 400) -> None:
        super().__init__(f"cannot embed {text}")
        self.status_code = status_code


def letters(text: str) -> Any:
    """How often each character occurs, white space left out; some texts are embedded wrongly, or not at all."""
    if "#refuse" in text:
        raise RefusedError(text)
    if "#login" in text:
        error = RuntimeError("no embedding")
        raise error from RefusedError(text, 401)
    if "#cancel" in text:
        raise asyncio.CancelledError
    if "#stop" in text:
        raise StopIteration
    spoiled = {
        "#none": None,
        "#nan": [math.nan, 1.0],
        "#empty": [],
        "#words": ["a"],
        "#nested": [[1.0]],
        "#zero": [0.0],
    }
    for sign, embedding in spoiled.items():
        if sign in text:
            return embedding
    vector = [0.0] * (LENGTH + 1 if "#long" in text else LENGTH)
    for character in text:
        if not character.isspace():
            vector[ord(character) % LENGTH] += 1.0
    return vector


@component
class LetterTextEmbedder:
    """Embeds a text, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        self.asked.append(text)
        return {"embedding": letters(text)}


@component
class LetterDocumentEmbedder:
    """Embeds all documents or none, and remembers the batches."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        self.asked.append([document.content or "" for document in documents])
        # In another order than they came.
        return {
            "documents": [replace(document, embedding=letters(document.content or "")) for document in documents[::-1]]
        }


@component
class AsyncDocumentEmbedder(LetterDocumentEmbedder):
    """Embeds asynchronously, and must not be called otherwise within a running loop."""

    def __init__(self) -> None:
        LetterDocumentEmbedder.__init__(self)
        self.asked_async = 0

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        self.asked_async += 1
        result: dict[str, Any] = self.run(documents)
        return result
