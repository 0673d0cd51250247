# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Row checks: from what a socket was given to one list per question, or a message that names socket and row."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from haystack import Document
from haystack.dataclasses import ChatMessage, ChatRole, GeneratedAnswer

from haystack_eval_ext._batches import as_list, rows_of
from haystack_eval_ext._batches import describe as describe  # noqa: PLC0414 - other files take it from here
from haystack_eval_ext._parameters import plain
from haystack_eval_ext._thoughts import without_their_thoughts
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError

JSON_DOCUMENT_FIELDS = ("id", "content", "blob", "meta")
_TEXTS_AND_LISTS = frozenset((str, list))
_Result = TypeVar("_Result")


def document_rows(**sockets: Any) -> dict[str, list[list[Document]]]:
    """
    Bring document sockets into batch form and check that they have equally many rows.

    A flat list of Documents is one question. A bare empty list, which a retriever without a hit delivers, takes its row
    count from the other sockets. Only the outer shape is looked at here, so that the cost does not grow with the number
    of documents; :func:`with_checked_documents` looks at the elements when something goes wrong.

    :param sockets: The value of each socket by name.
    :returns: One list of documents per question for each socket, in the order given.
    :raises ValueError: If a socket holds no rows, or the sockets differ in their number of rows.
    :raises TypeError: If a socket or one of its rows is not a list.
    """
    rows = {name: _batch(name, value) for name, value in sockets.items()}
    return equally_many(
        rows,
        nothing={name: [] for name in rows},
        hint="A flat list of Documents is one question: to score several questions at once, gather one list of "
        "Documents per question.",
    )


def equally_many(rows: dict[str, list[Any]], nothing: dict[str, Any], hint: str) -> dict[str, list[Any]]:
    """
    Check that all sockets have equally many rows; beside one row elsewhere, a bare empty list is one empty row.

    :param rows: The rows by socket.
    :param nothing: What an empty row of each socket is.
    :param hint: What to do if one socket has a single row and another has several.
    :returns: The rows.
    :raises ValueError: If there are none, or the sockets differ.
    """
    counts = {name: len(value) for name, value in rows.items()}
    filled = {count for count in counts.values() if count}
    if not filled:
        msg = f"{' and '.join(rows)} hold no rows: at least one question is needed, but all of them are empty lists."
        raise InvalidValueError(msg)
    if filled == {1}:
        return {name: value or [nothing[name]] for name, value in rows.items()}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        msg = f"All inputs must have the same number of rows, but {found}.{f' {hint}' if 1 in filled else ''}"
        raise InvalidValueError(msg)
    return rows


def with_checked_documents(compute: Callable[..., _Result], rows: dict[str, list[list[Document]]]) -> _Result:
    """
    Run a computation over document rows; when it stumbles over an element, check all elements and run it again.

    The first run tests no element's type, since that alone would cost more than the computation. Dicts in the JSON form
    of a Document become Documents in the second run; everything else that is no Document is refused by socket and row.

    :param compute: Takes the rows of each socket by position.
    :param rows: The rows by socket name, as :func:`document_rows` returns them.
    :returns: What ``compute`` returns.
    :raises TypeError: If an element is not a Document; the message names socket, row and position.
    :raises ValueError: If a dict is not the JSON form of a Document.
    """
    try:
        return compute(*rows.values())
    except (AttributeError, TypeError):
        checked = [_documents(name, value) for name, value in rows.items()]
        return compute(*checked)


def _batch(name: str, value: Any) -> list[list[Document]]:
    rows = rows_of(
        name, value, "with one list of Documents per question, or one list of Documents for a single question"
    )
    if not rows or set(map(type, rows)) == {list}:
        return rows
    rows = [as_list(element) for element in rows]
    if all(isinstance(element, list) for element in rows):
        return rows
    if all(isinstance(element, Document | dict) for element in rows):
        return [rows]
    # The first element shows which of the two forms was meant; the first one that differs is the fault.
    single = isinstance(rows[0], Document | dict)
    row, element = next((i, v) for i, v in enumerate(rows) if not isinstance(v, (Document | dict) if single else list))
    expected = "a Document, as the elements before it are" if single else "a list of Documents"
    hint = (
        "Give one list of Documents per question, or a flat list of Documents for a single question."
        if single
        else "A question without any document is an empty list."
    )
    msg = f"{name}[{row}] must be {expected}, but is {describe(element)}. {hint}"
    raise InvalidTypeError(msg)


def _documents(name: str, rows: list[list[Document]]) -> list[list[Document]]:
    return [
        [_document(document, f"{name}[{row}][{position}]") for position, document in enumerate(documents)]
        for row, documents in enumerate(rows)
    ]


def _document(value: Any, place: str) -> Document:
    if isinstance(value, Document):
        if not isinstance(value.meta, dict):
            msg = f"{place} is a Document whose meta must be a dict, but is {describe(value.meta)}."
            raise InvalidTypeError(msg)
        return value
    if not isinstance(value, dict):
        msg = f"{place} must be a Document, or a dict in the JSON form of one, but is {describe(value)}."
        raise InvalidTypeError(msg)
    return document_from_json(value, place)


def document_from_json(value: dict[Any, Any], place: str) -> Document:
    """
    Make a Document of its JSON form, flat or nested, as ``Document.to_dict`` writes it; without an id it has none.

    :param value: The JSON form.
    :param place: Where it stands, for the message.
    :returns: The Document.
    :raises ValueError: If it is not the JSON form of a Document; the message quotes nothing of it.
    """
    fields = [field for field in JSON_DOCUMENT_FIELDS if value.get(field) is not None]
    if not fields:
        msg = (
            f"{place} must be a Document, but is a dict that has none of the keys {', '.join(JSON_DOCUMENT_FIELDS)}, "
            "so it is not the JSON form of a Document."
        )
        raise InvalidValueError(msg)
    problem = _json_problem(value)
    if problem:
        msg = f"{place} is a dict that is not the JSON form of a Document: {problem}."
        raise InvalidValueError(msg)
    try:
        document = Document.from_dict(dict(value))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        # The cause is not chained: its message may quote the document.
        msg = f"{place} is a dict that is not the JSON form of a Document ({type(error).__name__} while reading it)."
        raise InvalidValueError(msg) from None
    if not value.get("id"):
        # Haystack hashes the content and all of meta, which nobody wrote as an id and no other document has. Set past
        # Haystack's warning of changed Documents: this one is new.
        object.__setattr__(document, "id", "")
    return document


def _json_problem(value: dict[Any, Any]) -> str | None:
    expected: dict[str, tuple[type, ...]] = {"id": (str,), "content": (str,), "meta": (dict,), "score": (int, float)}
    for field, types in expected.items():
        given = value.get(field)
        if given is not None and (not isinstance(given, types) or isinstance(given, bool)):
            return f"'{field}' must be {' or '.join(kind.__name__ for kind in types)}, but is {describe(given)}"
    return None


def answer_rows(ground_truth_answers: Any, predicted_answers: Any) -> tuple[Sequence[Sequence[str]], list[str]]:
    """
    Bring answer sockets into one form: a text, and the references it is compared with, per question.

    :param ground_truth_answers: One reference, or a list of references, per question; None or [] for none.
    :param predicted_answers: One answer per question: texts, ChatMessages of the assistant, GeneratedAnswers, or their
        JSON forms. A single text or ChatMessage is one question.
    :returns: The references and the answer of each question.
    :raises ValueError: If a socket holds no rows, the sockets differ in length, or a message has no text.
    :raises TypeError: If something is no answer; the message names socket and row.
    """
    rows = equally_many(
        {
            "ground_truth_answers": references("ground_truth_answers", ground_truth_answers),
            "predicted_answers": answers("predicted_answers", predicted_answers),
        },
        nothing={"ground_truth_answers": [], "predicted_answers": ""},
        hint="Several references of one question are a list within the list: [['first', 'second']]. Of several replies "
        "to one question, choose one.",
    )
    given, predictions = rows["ground_truth_answers"], rows["predicted_answers"]
    if _all_texts(given):
        # Tuples: thousands of new lists would call the garbage collector.
        return list(zip(given, strict=True)), predictions
    return [(row,) if isinstance(row, str) else row for row in given], predictions


def _all_texts(value: list[Any]) -> bool:
    return set(map(type, value)) == {str}


def references(name: str, value: Any) -> list[Any]:
    """
    Check a socket of references.

    :param name: Its name.
    :param value: What it was given: per question a text, a list of texts, or None.
    :returns: A text or a list of texts per question; an empty list where there is no reference.
    :raises TypeError: If something else is in it.
    """
    rows = rows_of(name, value, "with one or several references per question")
    if _all_texts(rows):
        return rows
    if not set(map(type, rows)) <= _TEXTS_AND_LISTS:
        rows = [[] if missing(given) else as_list(given) for given in rows]
    for row, given in enumerate(rows):
        if isinstance(given, str):
            continue
        if not isinstance(given, list):
            msg = (
                f"{name}[{row}] must be a text, a list of texts, or None without a reference, but is {describe(given)}."
            )
            raise InvalidTypeError(msg)
        for position, reference in enumerate(given):
            if not isinstance(reference, str):
                msg = f"{name}[{row}][{position}] must be a text, but is {describe(reference)}."
                raise InvalidTypeError(msg)
    return rows


def missing(value: Any) -> bool:
    """
    Tell whether a row has nothing in a socket.

    :param value: The row's value.
    :returns: True for None, and for the NaN that data frames have in an empty cell.
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def answers(name: str, value: Any) -> list[str]:
    """
    Check a socket of answers, and take their texts, without the thoughts before them.

    :param name: Its name.
    :param value: What it was given: texts, ChatMessages of the assistant, GeneratedAnswers, or their JSON forms.
    :returns: A text per question.
    :raises ValueError: If a message is no answer.
    :raises TypeError: If something else is in it.
    """
    if isinstance(value, str | ChatMessage):
        value = [value]
    rows = rows_of(name, value, "with one answer per question")
    if not _all_texts(rows):
        rows = [_answer(answer, f"{name}[{row}]") for row, answer in enumerate(rows)]
    return without_their_thoughts(name, rows)


def _answer(value: Any, place: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = _answer_from_json(value, place)
    if isinstance(value, ChatMessage):
        if not value.is_from(ChatRole.ASSISTANT):
            msg = (
                f"{place} is a ChatMessage of the {value.role.value}, which is no answer. Connect what holds only the "
                "answer: a chat generator's replies, or an agent's last_message instead of its messages."
            )
            raise InvalidValueError(msg)
        if value.text is None:
            msg = (
                f"{place} is a ChatMessage without text, such as a tool call, which is no answer. Connect last_message."
            )
            raise InvalidValueError(msg)
        return value.text
    if isinstance(value, GeneratedAnswer) and isinstance(value.data, str):
        return value.data
    msg = f"{place} must be a text, a ChatMessage of the assistant or a GeneratedAnswer, but is {describe(value)}."
    raise InvalidTypeError(msg)


def _answer_from_json(value: dict[Any, Any], place: str) -> ChatMessage | GeneratedAnswer:
    kinds: dict[str, type[ChatMessage] | type[GeneratedAnswer]] = {"role": ChatMessage, "data": GeneratedAnswer}
    kind = next((kind for key, kind in kinds.items() if key in value), None)
    if kind is None:
        msg = f"{place} is a dict with neither 'role' (a ChatMessage as JSON) nor 'data' (a GeneratedAnswer as JSON)."
        raise InvalidValueError(msg)
    try:
        return kind.from_dict(copy.deepcopy(value))
    except Exception as error:
        # Whatever it was; the cause is not chained, since its message may quote the answer.
        msg = (
            f"{place} is a dict that is not the JSON form of a {kind.__name__} ({type(error).__name__} in reading it)."
        )
        raise InvalidValueError(msg) from None


def questions(name: str, value: Any) -> list[str]:
    """
    Check a socket of questions.

    :param name: Its name.
    :param value: A list of texts, or one text.
    :returns: A text per question.
    :raises TypeError: If something else is in it.
    """
    if isinstance(value, str):
        return [value]
    rows = rows_of(name, value, "with one text per question")
    for row, question in enumerate(rows):
        if not isinstance(question, str):
            msg = f"{name}[{row}] must be a text, but is {describe(question)}."
            raise InvalidTypeError(msg)
    return rows


def contexts(name: str, value: Any) -> list[list[str]]:
    """
    Check a socket of contexts, and take their texts.

    :param name: Its name.
    :param value: Per question a list of texts or Documents; or one flat list of Documents, which is one question.
    :returns: The texts of each question, in their places; that of a Document without content is "".
    :raises ValueError: If a dict is not the JSON form of a Document.
    :raises TypeError: If something else is in it.
    """
    return [["" if source.text is None else source.text for source in row] for row in sources(name, value)]


class Source(NamedTuple):
    """
    A context of a question.

    :param id: The Document's; None for a mere text.
    :param text: The text; None for a Document without content.
    """

    id: str | None
    text: str | None


def sources(name: str, value: Any) -> list[list[Source]]:
    """
    Check a socket of contexts, and take their texts and ids; each keeps its place.

    :param name: Its name.
    :param value: As for :func:`contexts`.
    :returns: The contexts of each question.
    :raises ValueError: If a dict is not the JSON form of a Document.
    :raises TypeError: If something else is in it.
    """
    value = rows_of(name, value, "with one list of texts or Documents per question")
    if value and all(isinstance(element, Document | dict) for element in value):
        value = [value]
    rows = []
    for row, given in enumerate(map(as_list, value)):
        if not isinstance(given, list):
            msg = (
                f"{name}[{row}] must be a list of texts or Documents, but is {describe(given)}. Even a single context "
                "of a question is a list: [['the context']]."
            )
            raise InvalidTypeError(msg)
        rows.append([_source(element, f"{name}[{row}][{position}]") for position, element in enumerate(given)])
    return rows


def _source(value: Any, place: str) -> Source:
    if isinstance(value, str):
        return Source(None, value)
    if isinstance(value, Document | dict):
        document = _document(value, place)
        return Source(document.id, document.content)
    msg = f"{place} must be a text or a Document, but is {describe(value)}."
    raise InvalidTypeError(msg)


def flags(name: str, value: Any) -> list[bool | None]:
    """
    Check a socket of flags.

    :param name: Its name.
    :param value: A list of True or False, or None for what nobody knows.
    :returns: The same.
    :raises TypeError: If something else is in it.
    """
    rows = [plain(flag) for flag in rows_of(name, value, "with True or False per question")]
    for row, flag in enumerate(rows):
        if flag is not None and not isinstance(flag, bool):
            msg = f"{name}[{row}] must be True, False or None, but is {describe(flag)}."
            raise InvalidTypeError(msg)
    return rows
