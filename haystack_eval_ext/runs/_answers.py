# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer in what a RAG pipeline or a function returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.dataclasses import ChatMessage, ChatRole, ExtractedAnswer, GeneratedAnswer

from haystack_eval_ext._batches import as_list, describe, remedy
from haystack_eval_ext.errors import InvalidValueError, TargetError
from haystack_eval_ext.runs._labels import BadCellError, parse_documents
from haystack_eval_ext.runs._names import nearest
from haystack_eval_ext.runs._plain import plain
from haystack_eval_ext.runs._questions import ANSWER_NAMES, OUTPUT_NAMES, place, section_of

if TYPE_CHECKING:
    from haystack import Pipeline

_FUNCTION_KEYS = ("answer", "answers", "replies", "last_message", "documents", "contexts", "stages")


@dataclass(frozen=True)
class AnswerPlan:
    """
    Where the answer and the final documents come from.

    :param sockets: Candidates for the answer, as component and socket; empty for a pipeline that only retrieves.
    :param documents: The stage that the section `outputs` names as documents.
    :param mapped: Whether the section `outputs` names the answer.
    """

    sockets: list[tuple[str, str]]
    documents: str | None = None
    mapped: bool = False

    @property
    def components(self) -> set[str]:
        """Components whose outputs must be in the result even if they are connected onwards."""
        return {component for component, _ in self.sockets} if self.mapped else set()

    def take(self, outputs: Mapping[str, Mapping[str, Any]]) -> tuple[str | None, str | None]:
        """
        Take the answer out of a result.

        :param outputs: What `Pipeline.run` returned.
        :returns: The component that gave it, and the answer; None and None for a pipeline that only retrieves.
        :raises TargetError: If several components gave one, which no other question will change.
        :raises ValueError: If there is none.
        """
        if not self.sockets:
            return None, None
        came = [(component, socket) for component, socket in self.sockets if socket in outputs.get(component, {})]
        if not came:
            names = ", ".join(f"{component}.{socket}" for component, socket in self.sockets)
            msg = f"No answer came out of {names}: the question took a way through the pipeline that gives none."
            raise InvalidValueError(msg)
        best = min(_rank(socket) for _, socket in came)
        chosen = [spot for spot in came if _rank(spot[1]) == best]
        if len(chosen) > 1:
            names = ", ".join(f"{component}.{socket}" for component, socket in chosen)
            msg = (
                f"Several outputs may be the answer: {names}. Name one: "
                f"{section_of('outputs', 'answers', '.'.join(chosen[0]))}."
            )
            raise TargetError(msg)
        ((component, socket),) = chosen
        return component, answer_text(outputs[component][socket], f"{component}.{socket}")


def plan_answer(pipeline: Pipeline, outputs: Mapping[str, list[str]], demanded: Iterable[str] = ()) -> AnswerPlan:
    """
    Decide where the answer comes from.

    :param pipeline: The pipeline.
    :param outputs: Its section `outputs`, changed by the mapping.
    :param demanded: Names of `outputs` that the user gave, so that each must mean something here.
    :returns: The plan.
    :raises TargetError: If a socket does not exist, or a name means nothing.
    """
    for name in demanded:
        if name not in OUTPUT_NAMES:
            msg = f"{section_of('outputs', name)} is neither the answer nor the documents{nearest(name, OUTPUT_NAMES)}"
            raise TargetError(msg)
    spots = {name: [place(pipeline, text, "output", f"outputs.{name}") for text in outputs[name]] for name in outputs}
    mapped = next((spots[name] for name in ANSWER_NAMES if name in spots), [])
    documents = None
    if len(given := spots.get("documents", [])) > 1:
        msg = "outputs.documents must name one component.socket: the ranking that is evaluated."
        raise TargetError(msg)
    if given:
        ((component, socket),) = given
        documents = component if socket == "documents" else f"{component}.{socket}"
    if mapped:
        return AnswerPlan(mapped, documents, mapped=True)
    leaves = pipeline.outputs()
    found = [
        (component, socket) for component, sockets in leaves.items() for socket in sockets if socket in ANSWER_NAMES
    ]
    return AnswerPlan(found, documents)


def answer_text(value: Any, where: str) -> str:
    """
    Take the text of an answer.

    :param value: A text, a ChatMessage, a GeneratedAnswer or an ExtractedAnswer, or a list of one; of extracted ones,
        which come best first, the first counts.
    :param where: Where it came from, for messages.
    :returns: The text.
    :raises TargetError: If there are several, which no other question will change, or it is no answer.
    :raises ValueError: If there is none, or it has no text.
    """
    if isinstance(value, list):
        if not value:
            msg = f"{where} is empty: no answer came."
            raise InvalidValueError(msg)
        if len(value) > 1 and not isinstance(value[0], ExtractedAnswer):
            msg = f"{where} holds {len(value)} answers to one question, expected one: let the generator give one (n=1)."
            raise TargetError(msg)
        value = value[0]
    if isinstance(value, str):
        return value
    if isinstance(value, ChatMessage):
        if value.is_from(ChatRole.ASSISTANT) and value.text is not None:
            return value.text
        lacks = "has no text" if value.is_from(ChatRole.ASSISTANT) else f"is of the {value.role.value}"
        msg = f"{where} is a ChatMessage that {lacks}, which is no answer."
        raise InvalidValueError(msg)
    if isinstance(value, ExtractedAnswer) and value.data is None:
        return ""  # the reader's way to say that there is no answer
    if isinstance(value, GeneratedAnswer | ExtractedAnswer) and isinstance(value.data, str):
        return value.data
    msg = f"{where} must be a text, a ChatMessage, a GeneratedAnswer or a list of one, but is {describe(value)}."
    raise TargetError(msg)


@dataclass(frozen=True)
class FunctionResult:
    """
    What a function returned.

    :param answer: None without one.
    :param documents: None where it gives none.
    :param contexts: None where it gives none.
    :param stages: By name.
    """

    answer: str | None
    documents: list[Document] | None
    contexts: list[str] | None
    stages: dict[str, list[Document]]


def read_function_result(value: Any) -> FunctionResult:
    """
    Read what a function returned.

    :param value: `{"answer": ..., "documents": [...], "contexts": [...], "stages": {name: [...]}}`, all but one
        optional; or the answer alone. Documents are Documents, their JSON form, or ids. What is left out or None is
        unknown; [] is nothing.
    :returns: Its parts.
    :raises TargetError: If it has another form.
    """
    if isinstance(value, str | ChatMessage):
        value = {"answer": value}
    known = [key for key in _FUNCTION_KEYS if key in value] if isinstance(value, Mapping) else []
    if not known:
        msg = (
            f"The function must return the answer's text, or a dict with some of {', '.join(_FUNCTION_KEYS)}, but "
            f"returned {_came(value)}."
        )
        raise TargetError(msg)
    answer_key = next((key for key in ANSWER_NAMES if value.get(key) is not None), None)
    stages = value.get("stages") or {}
    if not isinstance(stages, Mapping):
        msg = f"The function's stages must be a dict of lists of Documents, but is {describe(stages)}."
        raise TargetError(msg)
    documents = value.get("documents")
    contexts = value.get("contexts")
    return FunctionResult(
        None if answer_key is None else answer_text(value[answer_key], f"The function's {answer_key}"),
        None if documents is None else _documents(documents, "documents"),
        None if contexts is None else _contexts(contexts),
        {str(name): _documents(found, f"stages[{str(name)!r}]") for name, found in stages.items()},
    )


def _documents(value: Any, name: str) -> list[Document]:
    value = as_list(value)
    if not isinstance(value, list):
        msg = f"The function's {name} must be a list of Documents, but is {describe(value)}.{remedy(value)}"
        raise TargetError(msg)
    try:
        return [entry if isinstance(entry, Document) else parse_documents([plain(entry)], "id")[0] for entry in value]
    except BadCellError as error:
        fault = str(error).removeprefix("entry 1: ").rstrip(".")  # they are read one by one
        msg = f"The function's {name} must hold Documents, their JSON form or ids, but one is wrong: {fault}."
        raise TargetError(msg) from None


def _contexts(value: Any) -> list[str]:
    value = as_list(value)
    entries = value if isinstance(value, list) else [value]
    contents = [entry.content if isinstance(entry, Document) else entry for entry in entries]
    texts = [content for content in contents if isinstance(content, str)]
    if not isinstance(value, list) or len(texts) < len(contents):
        msg = "The function's contexts must be a list of texts or of Documents with content."
        raise TargetError(msg)
    return texts


def _rank(socket: str) -> int:
    # A socket that a mapping names may have any name.
    return ANSWER_NAMES.index(socket) if socket in ANSWER_NAMES else 0


def _came(value: Any) -> str:
    return "a dict without them" if isinstance(value, Mapping) else describe(value)
