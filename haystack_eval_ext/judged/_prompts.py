# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Prompts: one file each and language, with a version; no template engine ever sees a text of the user."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._rows import describe
from haystack_eval_ext._text import sendable
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

_FOLDER = Path(__file__).resolve().parent / "prompts"


@dataclass(frozen=True)
class Prompt:
    """
    What the system message says, and under which version.

    :param name: For the cache and the run record.
    :param version: Of the file; a prompt of the user's own has "custom".
    :param instructions: The task.
    :param reply: The form of the reply, as the judge reads it.
    :param examples: Pairs of data and reply, as JSON values.
    :param frame: What surrounds every prompt of a language.
    """

    name: str
    version: str
    instructions: str
    reply: str
    examples: tuple[tuple[Any, Any], ...]
    frame: tuple[tuple[str, str], ...]

    def system(self) -> str:
        """
        The system message, the same for every row, so that a service may reuse its work on it.

        :returns: Its text.
        """
        frame = dict(self.frame)
        parts = [self.instructions.strip(), frame["data"].strip(), f"{frame['reply'].strip()}\n{self.reply.strip()}"]
        if self.examples:
            shown = [
                f"{frame['example_data'].strip()} {to_json(data)}\n{frame['example_reply'].strip()} {to_json(reply)}"
                for data, reply in self.examples
            ]
            parts.append("\n\n".join([frame["examples"].strip(), *shown]))
        return sendable("\n\n".join(parts))

    def again(self, fault: str) -> str:
        """
        What is added to the system message after an unreadable reply.

        :param fault: What was wrong with it, in our own words.
        :returns: The text.
        """
        return f"{dict(self.frame)['again'].strip().replace('{fault}', fault)}\n{self.reply.strip()}"

    def changed(self, instructions: str | None, examples: list[tuple[Any, Any]] | None) -> Prompt:
        """
        The prompt with parts of the user's own.

        :param instructions: Other instructions, or None.
        :param examples: Other examples, [] for none at all, or None.
        :returns: The prompt.
        """
        if instructions is None and examples is None:
            return self
        return replace(
            self,
            version=f"{self.version}+custom",
            instructions=self.instructions if instructions is None else instructions,
            examples=self.examples if examples is None else tuple(examples),
        )


def languages() -> list[str]:
    """
    The languages that prompts exist in.

    :returns: Their codes, sorted.
    """
    return sorted(folder.name for folder in _FOLDER.iterdir() if (folder / "_frame.yaml").is_file())


@cache
def load_prompt(name: str, language: str) -> Prompt:
    """
    Read a prompt.

    :param name: Name of its file, such as "faithfulness".
    :param language: "en", "ja".
    :returns: The prompt.
    :raises ValueError: If there are no prompts in this language.
    """
    check_choice("language", language, languages())
    frame = yaml.safe_load((_FOLDER / language / "_frame.yaml").read_text("utf-8"))
    content = yaml.safe_load((_FOLDER / language / f"{name}.yaml").read_text("utf-8"))
    return Prompt(
        name=f"{name}.{language}",
        version=f"{frame.pop('version')}.{content['version']}",
        instructions=content["instructions"],
        reply=content["reply"],
        examples=tuple((example["data"], example["reply"]) for example in content.get("examples", [])),
        frame=tuple(frame.items()),
    )


def own_prompt(
    name: str,
    language: str,
    *,
    instructions: str,
    reply: str,
    examples: list[tuple[Any, Any]],
    version: str = "custom",
) -> Prompt:
    """
    A prompt of the user's own, in the frame of a language.

    :param name: For the cache and the run record.
    :param language: "en", "ja".
    :param instructions: The task.
    :param reply: The form of the reply.
    :param examples: Pairs of data and reply.
    :param version: What follows on the version of the frame.
    :returns: The prompt.
    """
    frame = yaml.safe_load((_FOLDER / language / "_frame.yaml").read_text("utf-8"))
    return Prompt(name, f"{frame.pop('version')}.{version}", instructions, reply, tuple(examples), tuple(frame.items()))


def to_json(value: Any) -> str:
    """
    Write data as a judge gets it: JSON on one line, other scripts readable.

    :param value: The data.
    :returns: JSON.
    """
    return json.dumps(value, ensure_ascii=False)


def sendable_data(value: Any) -> Any:
    """
    :func:`sendable` for each text inside data.

    :param value: JSON data.
    :returns: The same with U+FFFD where a text held what services refuse.
    """
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        return {sendable(key): sendable_data(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [sendable_data(entry) for entry in value]
    return value


def check_instructions(instructions: Any) -> None:
    """
    Check the parameter ``instructions``, where there is one.

    :param instructions: What came.
    :raises ValueError: If it is blank.
    :raises TypeError: If it is no text.
    """
    if not isinstance(instructions, str):
        msg = f"instructions must be a text that is not blank, but is {describe(instructions)}."
        raise InvalidTypeError(msg)
    if not instructions.strip():
        msg = "instructions must be a text that is not blank."
        raise InvalidValueError(msg)
