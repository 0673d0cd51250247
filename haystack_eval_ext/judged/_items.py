# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What is judged: numbered for the judge, shown of a row, broken out of an answer, and in examples of the user's."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from haystack_eval_ext._rows import describe
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import YES_NO, Choice, model_form, read_choice
from haystack_eval_ext.judged._prompts import load_prompt

_T = TypeVar("_T")


class _Statements(BaseModel):
    statements: list[str]


_STATEMENTS = model_form(_Statements)


def numbered(prefix: str, items: Iterable[_T]) -> dict[str, _T]:
    """
    Give each item an id.

    :param prefix: A letter that says what they are.
    :param items: The items.
    :returns: The items by id, from 1, in order.
    """
    return {f"{prefix}{number}": item for number, item in enumerate(items, start=1)}


async def statements_of(ask: Ask, question: str, answer: str, language: str) -> list[str]:
    """
    Let the judge break an answer into short statements, each understandable alone.

    :param ask: The judge.
    :param question: What was asked.
    :param answer: The answer.
    :param language: Language of the prompt.
    :returns: The statements; none if the answer states nothing.
    :raises JudgeError: If the judge gave no readable reply.
    """
    prompt = load_prompt("statements", language)
    reply = await ask.read(prompt, {"question": question, "answer": answer}, _STATEMENTS)
    return [statement.strip() for statement in reply.statements if not blank(statement)]


def reference_texts(given: str | list[str]) -> list[str]:
    """
    The references of a row.

    :param given: The row's value of the socket: a text or a list of texts.
    :returns: Each different text once; blank ones are no references.
    """
    return [text for text in dict.fromkeys([given] if isinstance(given, str) else given) if not blank(text)]


def shown(row: Mapping[str, Any], sockets: Iterable[str]) -> dict[str, Any]:
    """
    Gather the data of a request: keys for sockets, ids for what is many. Blank contexts and references are left out.

    :param row: The row, or the inputs of an example.
    :param sockets: Of "questions", "contexts", "predicted_answers" and "ground_truth_answers".
    :returns: "question", "contexts", "answer" and "references", as far as chosen.
    :raises KeyError: If the row has no such socket.
    """
    data: dict[str, Any] = {}
    for socket in sockets:
        value = row[socket]
        if socket == "contexts":
            data["contexts"] = numbered("c", [context for context in value if not blank(context)])
        elif socket == "ground_truth_answers":
            data["references"] = numbered("r", reference_texts(value))
        else:
            data["question" if socket == "questions" else "answer"] = value
    return data


def example_texts(part: Mapping[str, Any], name: str) -> list[str]:
    """
    Texts of an example of the user's.

    :param part: The example's inputs or outputs.
    :param name: Under which name they stand.
    :returns: The texts.
    :raises ValueError: If they are no list of texts.
    """
    texts = part[name]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        msg = f"{name!r} must be a list of texts."
        raise InvalidValueError(msg)
    return texts


def example_verdict(outputs: Mapping[str, Any], name: str) -> Choice:
    """
    A verdict of an example of the user's.

    :param outputs: The example's outputs.
    :param name: Under which name it stands.
    :returns: 1 or 0.
    :raises ValueError: If it is neither.
    """
    return _verdict(outputs[name], name)


def judged_example(outputs: Mapping[str, Any], scores: str, items: Mapping[str, Any]) -> dict[str, Choice]:
    """
    The verdicts of an example of the user's.

    :param outputs: The example's outputs.
    :param scores: Under which name its verdicts stand.
    :param items: What they judge, by id.
    :returns: The verdict by id, 1 or 0.
    :raises ValueError: If they are no list of such verdicts, or there are more or fewer than items.
    """
    given = outputs[scores]
    if not isinstance(given, list):
        msg = f"{scores} must be a list of verdicts, 1 or 0, but is {describe(given)}."
        raise InvalidValueError(msg)
    if len(given) != len(items):
        msg = f"{scores} must have one verdict for each of its {len(items)} entries, but has {len(given)}."
        raise InvalidValueError(msg)
    return {name: _verdict(verdict, scores) for name, verdict in zip(items, given, strict=True)}


def _verdict(given: Any, name: str) -> Choice:
    try:
        return read_choice(given, YES_NO)
    except ReplyError:
        msg = f"{name} must be 1 or 0 (or yes or no, true or false), but {describe(given)} is neither."
        raise InvalidValueError(msg) from None


def read_examples(
    examples: Any, convert: Callable[[dict[str, Any], dict[str, Any]], tuple[Any, Any]]
) -> list[tuple[Any, Any]] | None:
    """
    Check the parameter ``examples``.

    :param examples: A list of dictionaries with "inputs" and "outputs", or None.
    :param convert: From both to data and reply of a prompt.
    :returns: Pairs of data and reply, or None.
    :raises ValueError: If an example has not this form.
    """
    if examples is None:
        return None
    if not isinstance(examples, list):
        msg = f"examples must be a list of dictionaries with 'inputs' and 'outputs', but is {describe(examples)}."
        raise InvalidValueError(msg)
    pairs = []
    for number, example in enumerate(examples):
        if not _is_example(example):
            msg = (
                f"examples[{number}] must be a dictionary with the keys 'inputs' and 'outputs' and no other, each a "
                f"dictionary with text keys, but is {describe(example)} of another form."
            )
            raise InvalidValueError(msg)
        try:
            pairs.append(convert(example["inputs"], example["outputs"]))
        except KeyError as error:
            msg = f"examples[{number}] lacks {error} in its inputs or outputs."
            raise InvalidValueError(msg) from None
        except ValueError as error:
            msg = f"examples[{number}]: {error}"
            raise InvalidValueError(msg) from None
        except (TypeError, AttributeError):
            msg = (
                f"examples[{number}] has a value of another type than the docstring of the component names under "
                "`examples`."
            )
            raise InvalidValueError(msg) from None
    return pairs


def _is_example(example: Any) -> bool:
    return (
        isinstance(example, dict)
        and set(example) == {"inputs", "outputs"}
        and all(isinstance(part, dict) and all(isinstance(key, str) for key in part) for part in example.values())
    )
