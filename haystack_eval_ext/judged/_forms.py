# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The forms of replies: the JSON schema a judge is told, and the reading of what it says, checked by pydantic."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from haystack_eval_ext._yes_no import says_yes, words_like
from haystack_eval_ext.judged._failures import ReplyError

_T = TypeVar("_T")
#: A verdict: 1 or 0, a grade, or a word.
Choice = int | str

#: Yes is 1, no is 0.
YES_NO: tuple[Choice, ...] = (1, 0)
_BITS = ("0", "0.0", "1", "1.0")
#: What a judge may say in place of yes or no, by what is judged.
JUDGED_WORDS: Mapping[str, Mapping[str, Choice]] = {
    "statements": words_like("supported"),
    "contexts": words_like("relevant"),
}
#: What may stand around a word or an id.
AROUND = " \t\r\n.!\"'`*。"
_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
_ID = re.compile(r"([a-z]*)(\d+)")
#: Under which names a verdict may stand in an object or a text of its own.
VERDICT_NAMES = ("verdict", "score", "label", "value", "grade")
_NAMED_VERDICT = re.compile(rf"(?:{'|'.join(VERDICT_NAMES)})\s*[:=]\s*(.+)")
_TWICE = "it named a key twice with different values"


@dataclass(frozen=True)
class Form(Generic[_T]):
    """
    What a reply must look like.

    :param name: A short name, which some services want beside a schema.
    :param schema: Its JSON schema, strict: each property is required and no other allowed.
    :param read: From a JSON value to what it says; raises ReplyError.
    """

    name: str
    schema: Mapping[str, Any]
    read: Callable[[Any], _T]


def read_choice(value: Any, choices: Sequence[Choice]) -> Choice:
    """
    Read a verdict: the one place that says what "Yes.", true and "1" mean.

    :param value: As JSON has it.
    :param choices: What it can be; (1, 0) is yes or no.
    :returns: One of the choices.
    :raises ReplyError: If it is none of them.
    """
    if isinstance(value, str) and value in choices:
        return value
    words = plain(value) if isinstance(value, str) else None
    named = _NAMED_VERDICT.fullmatch(words or "")
    if named is not None and words not in [plain(choice) for choice in choices if isinstance(choice, str)]:
        words = plain(named[1])
    if set(choices) == {0, 1}:
        if words is not None and (words in _BITS or says_yes(words) is not None):
            return int(float(words)) if words in _BITS else int(says_yes(words) is True)
        if isinstance(value, bool | int | float) and value in (0, 1):
            return int(value)
    elif words is not None and not _NUMBER.fullmatch(words):
        for choice in choices:
            if isinstance(choice, str) and plain(choice) == words:
                return choice
    else:
        number = float(words) if words is not None else value
        if isinstance(number, int | float) and not isinstance(number, bool):
            for choice in choices:
                if isinstance(choice, int) and choice == number:
                    return choice
            for choice in choices:
                if isinstance(choice, str) and choice == words:
                    return choice
    shown = ", ".join(map(str, choices)) if len(choices) < 12 else f"{choices[0]} to {choices[-1]}"  # noqa: PLR2004
    msg = f"a verdict was none of {shown}"
    raise ReplyError(msg)


def verdicts_form(
    ids: Sequence[str],
    choices: Sequence[Choice] = YES_NO,
    translate: Callable[[Any], Any] | None = None,
    words: Mapping[str, Choice] | None = None,
) -> Form[dict[str, Choice]]:
    """
    The form of a verdict for each id.

    The reading has the ids that the reply answers clearly, with one of the possible verdicts.

    :param ids: What is judged.
    :param choices: The possible verdicts.
    :param translate: Brings a reply of another form to this one, as a list of objects with "id" and "verdict"; raises
        ReplyError. Other replies it leaves as they are.
    :param words: Further words for verdicts.
    :returns: The form; its reading has at least one id.
    """
    whole = all(isinstance(choice, int) for choice in choices)
    verdict = {"type": "integer" if whole else "string", "enum": list(choices)}

    def read_one(given: Any) -> Choice:
        bare = _bare(given)
        known = words.get(plain(bare)) if words is not None and isinstance(bare, str) else None
        return read_choice(bare, choices) if known is None else known

    def read(value: Any) -> dict[str, Choice]:
        if translate is not None:
            value = translate(value)
        # A verdict without an id, where there is nothing else that it could be about.
        flat = isinstance(value, dict) and not any(isinstance(part, dict | list) for part in value.values())
        if len(ids) == 1 and flat and (bare := _bare(value)) is not None:
            value = [{"id": name, "verdict": entry} for name, entry in (*value.items(), (ids[0], bare))]
        return read_by_id(value, ids, ("verdicts", "scores", "results"), read_one)

    return Form("verdicts", object_schema({"verdicts": object_schema(dict.fromkeys(ids, verdict))}), read)


def read_by_id(value: Any, ids: Iterable[str], names: Sequence[str], read: Callable[[Any], _T]) -> dict[str, _T]:
    """
    Read an entry for each id: of an object by id, or of a list of objects with an "id", alone or under a name.

    An id that the reply leaves out, answers twice in different ways, or with what cannot be read is not in the reading,
    and is asked for again. "1" is understood as "s1" where no other id has this number. An id that nobody asked about
    is passed over; where one that was asked about is missing as well, the reply may count in another way, as from 0,
    and nothing of it is taken.

    :param value: As JSON has it.
    :param ids: What was asked about.
    :param names: Under which names the entries may stand.
    :param read: Reads an entry; raises ReplyError.
    :returns: What the entries say, in the order of the ids.
    :raises ReplyError: If none can be read.
    """
    places = {plain(name): name for name in ids}
    by_number = {match[2]: name for one, name in places.items() if (match := _ID.fullmatch(one))}
    if len(by_number) == len(places):
        places = {**by_number, **places}
    found: dict[str, _T] = {}
    doubtful: set[str] = set()
    unasked = False
    fault = ReplyError(f"it had no {names[0].removesuffix('s')} for any of the ids asked about")
    for given, entry in _entries(value, names):
        name = places.get(plain(given))
        if name is None:
            unasked |= _ID.fullmatch(plain(given)) is not None
            continue
        try:
            read_one = read(entry)
        except ReplyError as error:
            fault = error
            doubtful.add(name)
            continue
        if found.setdefault(name, read_one) != read_one:
            doubtful.add(name)
    if unasked and found and not found.keys() | doubtful >= set(ids):
        msg = "it left out ids that were asked about, and named others; answer exactly these ids"
        raise ReplyError(msg)
    clear = {name: found[name] for name in ids if name in found and name not in doubtful}
    if not clear:
        raise fault
    return clear


def model_form(model: type[BaseModel], check: Callable[[Any], None] | None = None) -> Form[Any]:
    """
    The form that a pydantic model describes.

    :param model: The model; all of its fields are required, and no field is ``"Any"``.
    :param check: A further check of the instance; raises ReplyError.
    :returns: The form, whose reading is an instance.
    """

    def read(value: Any) -> Any:
        value = respelled(value, list(model.model_fields))
        for name, each in model.model_fields.items():
            # To pydantic true is 1.
            if isinstance(value, dict) and isinstance(value.get(name), bool) and each.annotation in (int, float):
                msg = f"the key {name!r} must be a number"
                raise ReplyError(msg)
        try:
            instance = model.model_validate(value)
        except (ValidationError, RecursionError) as error:
            raise ReplyError(_pydantic_fault(error)) from None
        if check is not None:
            check(instance)
        return instance

    return Form(model.__name__.lower().strip("_"), _strict(model.model_json_schema()), read)


def _entries(value: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        value = respelled(value, names)
        inner = next((value[name] for name in names if name in value), value)
        if isinstance(inner, dict):
            return [(str(name), entry) for name, entry in inner.items()]
        value = inner
    if isinstance(value, list):
        entries = [respelled(entry, ("id",)) for entry in value if isinstance(entry, dict)]
        return [(str(entry["id"]), entry) for entry in entries if "id" in entry]
    return []


def _bare(verdict: Any) -> Any:
    """A verdict that comes with a reason in an object of its own."""
    if not isinstance(verdict, dict):
        return verdict
    verdict = respelled(verdict, VERDICT_NAMES)
    named = [verdict[name] for name in VERDICT_NAMES if name in verdict]
    return named[0] if len(named) == 1 else None


def respelled(value: Any, names: Sequence[str]) -> Any:
    """
    Bring the keys of an object to the spelling that is looked for.

    :param value: As JSON has it.
    :param names: The keys that are looked for.
    :returns: The object with each key that reads like one of them under that name; what is no object as it is.
    :raises ReplyError: If one is named in two spellings, with different values.
    """
    if not isinstance(value, dict):
        return value
    places = {plain(name): name for name in names}
    if len(places) < len(names):  # names that differ by their case alone
        return value
    found: dict[Any, Any] = {}
    for given, entry in value.items():
        name = places.get(plain(given)) or given
        if name in found and found[name] != entry:
            raise ReplyError(_TWICE)
        found[name] = entry
    return found


def plain(text: str) -> str:
    """
    Bring words and ids that read alike to one form.

    :param text: A word or an id.
    :returns: It without punctuation around it, in small letters, in half-width digits and letters.
    """
    return unicodedata.normalize("NFKC", text).strip(AROUND).casefold()


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """
    The JSON schema of an object as strict servers want it: every property required, and no other.

    :param properties: The schema of each property.
    :returns: The schema.
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _strict(schema: Any) -> Any:
    """A schema of pydantic as strict servers want it: every property required, no other, no titles or defaults."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    properties = schema.get("properties")
    strict = {
        name: {key: _strict(part) for key, part in value.items()} if name in ("properties", "$defs") else _strict(value)
        for name, value in schema.items()
        if name not in ("title", "default", "description") or not isinstance(value, str | int | float | None | bool)
    }
    if isinstance(properties, dict):
        strict |= {"required": list(properties), "additionalProperties": False}
    return strict


def _pydantic_fault(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it was nested too deeply"
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # The place can hold keys of the reply's own: only those of the model are named.
    place = ".".join(str(part) for part in first["loc"][:1])
    kind = first["type"]
    if kind == "missing":
        kind = "is missing"
    else:
        kind = f"must be another {'type' if kind.endswith(('type', 'parsing', 'from_float')) else 'value'} ({kind})"
    return f"the key {place!r} {kind}" if place else "it had not the keys asked for"
