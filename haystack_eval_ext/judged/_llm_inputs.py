# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that a user names: their types, and from any value in a row to JSON."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from types import UnionType
from typing import Any, Union, get_args, get_origin

from haystack import Document
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from haystack.utils import deserialize_type

from haystack_eval_ext._batches import as_list, rows_of
from haystack_eval_ext._parameters import is_number, plain
from haystack_eval_ext._rows import JSON_DOCUMENT_FIELDS, describe, document_from_json
from haystack_eval_ext._thoughts import without_their_thoughts
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.judged._sockets import Socket

_TEXTS = (str, ChatMessage, GeneratedAnswer)
_PAIR = 2
# Sockets whose texts are answers in all components.
_ANSWERS = ("predicted_answers", "other_answers")


def read_inputs(inputs: Any) -> list[tuple[str, Any]]:
    """
    Check the parameter ``inputs``.

    :param inputs: Pairs of name and type, a list type or its name.
    :returns: The pairs as tuples, with types.
    :raises ValueError: If an entry is no such pair; the message names it.
    """
    if not isinstance(inputs, list) or not inputs:
        what = "an empty list" if inputs == [] else describe(inputs)
        msg = f"inputs must be a list with a pair of name and type for each input, but is {what}."
        raise InvalidValueError(msg)
    found: list[tuple[str, Any]] = []
    for number, entry in enumerate(inputs):
        place = f"inputs[{number}]"
        if not isinstance(entry, tuple | list) or len(entry) != _PAIR:
            msg = f"{place} must be a pair of name and type, such as ('questions', list[str]), but is {describe(entry)}"
            msg += f" of {len(entry)}." if isinstance(entry, tuple | list) else "."
            raise InvalidValueError(msg)
        name, kind = entry
        check_name(place, name, [other for other, _ in found])
        if name == "self":
            msg = f"{place} cannot be named 'self', which is no possible socket."
            raise InvalidValueError(msg)
        found.append((name, _list_type(f"{place} ({name!r})", kind)))
    return found


def check_outputs(outputs: Any) -> None:
    """
    Check the parameter ``outputs``.

    :param outputs: Names.
    :raises ValueError: If it is no list of different names, or empty.
    """
    if not isinstance(outputs, list) or not outputs:
        what = "an empty list" if outputs == [] else describe(outputs)
        msg = f"outputs must be a list with the name of each output, but is {what}."
        raise InvalidValueError(msg)
    for number, name in enumerate(outputs):
        check_name(f"outputs[{number}]", name, outputs[:number])


def check_name(place: str, name: Any, before: list[str]) -> None:
    """
    Check the name of an input or output.

    :param place: Where it stands, for the message.
    :param name: The name.
    :param before: Names that stand before it.
    :raises ValueError: If it is no text, blank, or there already.
    """
    if not isinstance(name, str) or not name.strip():
        what = "is empty" if isinstance(name, str) else f"is {describe(name)}"
        msg = f"The name in {place} must be a text, but {what}."
        raise InvalidValueError(msg)
    if name in before:
        msg = f"The name {name!r} in {place} stands there twice."
        raise InvalidValueError(msg)


def socket_of(kind: Any) -> Socket:
    """
    The socket of an input.

    :param kind: Its list type.
    :returns: The socket, whose rows are JSON values.
    """
    rows = _row_types(kind)
    lists = all(get_origin(row) is list or row is list for row in rows)
    nothing: Any = [] if lists else "" if set(rows) & set(_TEXTS) else None
    return Socket(kind, partial(_read_rows, kind, lists), nothing)


def as_json(value: Any, place: str, kinds: frozenset[Any] = frozenset(), *, inside: bool = False) -> Any:
    """
    Bring a value into JSON's types: Documents become their contents, messages their texts.

    :param value: Any value of a user.
    :param place: Where it stands, for the message.
    :param kinds: Classes of Haystack that a dictionary in their JSON form stands for.
    :param inside: Whether it stands inside a row: there a message is shown with its role.
    :returns: The JSON value.
    :raises ValueError: If a number is not finite, a key is no text, or a message has no text.
    :raises TypeError: If it has no JSON form.
    """
    value = plain(as_list(value))
    if isinstance(value, dict):
        value = _object_of(value, place, kinds)
    if value is None or isinstance(value, str | bool) or is_number(value):
        return value
    if isinstance(value, list):
        return [as_json(part, f"{place}[{number}]", kinds, inside=True) for number, part in enumerate(value)]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            msg = f"{place} has a key that is no text, which JSON does not know."
            raise InvalidValueError(msg)
        return {key: as_json(part, f"{place}[...]", kinds, inside=True) for key, part in value.items()}
    if isinstance(value, Document):
        return value.content
    if isinstance(value, GeneratedAnswer) and isinstance(value.data, str):
        return value.data
    if isinstance(value, ChatMessage):
        return _message(value, place, inside=inside)
    if isinstance(value, float | int):
        msg = f"{place} must be a finite number, which JSON can hold, but is not."
        raise InvalidValueError(msg)
    msg = (
        f"{place} must be a text, a number, True, False, None, a list or dictionary of these, a Document, a "
        f"ChatMessage or a GeneratedAnswer, but is {describe(value)}."
    )
    raise InvalidTypeError(msg)


def _list_type(place: str, kind: Any) -> Any:
    if isinstance(kind, str):
        name = kind
        try:
            kind = deserialize_type(name)
        except Exception as error:
            msg = f"The type of {place} must be that of a list, such as 'list[str]', but {name!r} is no type."
            raise InvalidValueError(msg) from error
    if all(get_origin(member) is list for member in _members(kind)):
        return kind
    msg = (
        f"The type of {place} must be that of a list, one entry for each row, such as list[str] or list[list[str]], "
        f"but is {getattr(kind, '__name__', None) or describe(kind)}."
    )
    raise InvalidValueError(msg)


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _row_types(kind: Any) -> list[Any]:
    return [row for member in _members(kind) for row in _members(get_args(member)[0])]


def _classes(kind: Any) -> frozenset[Any]:
    """The classes of Haystack that a type speaks of."""
    inner = [_classes(part) for part in get_args(kind)]
    own = {kind} if kind in (Document, ChatMessage, GeneratedAnswer) else set()
    return frozenset(own.union(*inner))


def _read_rows(kind: Any, lists: bool, name: str, value: Any) -> list[Any]:
    value = as_list(value)
    # A pipeline emits a single question as it is.
    if isinstance(value, _TEXTS) or (
        lists and isinstance(value, list) and value and all(isinstance(part, Document) for part in value)
    ):
        value = [value]
    kinds = _classes(kind)
    value = rows_of(name, value, "with one entry for each row")
    for row, given in enumerate(value):
        if lists and not isinstance(as_list(given), list):
            msg = f"{name}[{row}] must be a list, as the type of this input says, but is {describe(given)}."
            raise InvalidTypeError(msg)
    found = [as_json(given, f"{name}[{row}]", kinds) for row, given in enumerate(value)]
    return without_their_thoughts(name, found) if name in _ANSWERS and set(map(type, found)) == {str} else found


def _object_of(value: dict[Any, Any], place: str, kinds: frozenset[Any]) -> Any:
    """What a dictionary stands for, where the type of the input speaks of Haystack's classes."""
    kind = next((kind for key, kind in (("role", ChatMessage), ("data", GeneratedAnswer)) if key in value), None)
    if kind in kinds:
        try:
            return kind.from_dict(deepcopy(value))  # type: ignore[union-attr]
        except Exception as error:
            # Not chained: the cause may quote the message.
            msg = f"{place} is a dict that is not the JSON form of a {kind.__name__} ({type(error).__name__})."  # type: ignore[union-attr]
            raise InvalidValueError(msg) from None
    if Document in kinds and any(field in value for field in JSON_DOCUMENT_FIELDS):
        return document_from_json(value, place)
    return value


def _message(message: ChatMessage, place: str, *, inside: bool) -> Any:
    if not inside:
        if message.text is None:
            msg = f"{place} is a ChatMessage without text, such as a tool call. Connect last_message."
            raise InvalidValueError(msg)
        return message.text
    shown: dict[str, Any] = {"role": message.role.value, "text": message.text}
    if message.tool_calls:
        shown["tool_calls"] = [
            {"name": call.tool_name, "arguments": as_json(call.arguments, place)} for call in message.tool_calls
        ]
    if message.tool_call_results:
        shown["tool_results"] = [
            result.result if isinstance(result.result, str) else str(result.result)
            for result in message.tool_call_results
        ]
    return shown
