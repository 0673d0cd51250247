# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which column of a file means what: as the user says, by our names, by the names of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._batches import as_list
from haystack_eval_ext.errors import InvalidValueError, parameter
from haystack_eval_ext.runs._columns import BY_NAME, COLUMNS, Column, column_name
from haystack_eval_ext.runs._lines import parse_json
from haystack_eval_ext.runs._names import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack_eval_ext.runs._lines import Problems, Record

#: Names of other tools that mean one thing; our own names go before them.
_COLUMNS = parameter("columns")
FOREIGN: dict[str, tuple[str, ...]] = {
    "question": ("input", "inputs"),
    "reference_answer": (
        "ground_truth",
        "ground_truths",
        "expected_output",
        "target",
        "expectations",
        "reference_outputs",
    ),
    "answer": ("actual_output",),
    "contexts": ("retrieval_context",),
}
#: Objects that other tools put several values into, and which of them is meant.
_GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "inputs": ("question", ("question", "query", "input", "user_input", "prompt")),
    "outputs": ("answer", ("answer", "response", "output", "actual_output")),
    "reference_outputs": ("reference_answer", ("answer", "response", "output", "reference", "expected_output")),
    "reference": ("reference_answer", ("answer", "response", "output", "reference", "expected_output")),
    "expectations": ("reference_answer", ("expected_response",)),
}
#: Names that one tool gives to answers and another to right answers.
_EITHER = ("outputs", "output", "answer", "answers")
_ALIKE = 0.8


@dataclass(frozen=True)
class Meanings:
    """
    What the columns of some records mean.

    :param records: The records; values inside objects that mean something are columns of their own, "inputs.question".
    :param columns: By name in the records what it means.
    """

    records: list[Record]
    columns: dict[str, Column]


def rename_hint(ours: str, theirs: str) -> str:
    """
    Say how a column is given its meaning.

    :param ours: The meaning.
    :param theirs: The name in the data.
    :returns: The option and its twin in Python.
    """
    return f"--column {ours}={theirs}, in Python columns={{{ours!r}: {theirs!r}}}"


def check_columns(columns: Mapping[str, str] | None) -> dict[str, str]:
    """
    Check what a user says about columns.

    :param columns: The column's name in the data by the name in `COLUMNS`.
    :returns: The same, under our names.
    :raises ValueError: If a name is none of ours, or something is said twice.
    """
    found: dict[str, str] = {}
    for given, theirs in (columns or {}).items():
        ours = column_name(given)
        if ours not in BY_NAME:
            hint = nearest(given, [column.name for column in COLUMNS])
            msg = f"{_COLUMNS}: {given!r} is no meaning of a column{hint}"
            raise InvalidValueError(msg)
        if not isinstance(theirs, str) or not theirs:
            msg = f"{_COLUMNS}: {ours!r} must name one column of the data."
            raise InvalidValueError(msg)
        if ours in found or theirs in found.values():
            msg = f"{_COLUMNS}: {ours!r} and {theirs!r} must be named once each."
            raise InvalidValueError(msg)
        found[ours] = theirs
    return found


def meanings(records: list[Record], columns: Mapping[str, str], problems: Problems) -> Meanings:
    """
    Find out what the columns of records mean.

    What the user says goes before our names, and these before the names of other tools.

    :param records: The records.
    :param columns: As :func:`check_columns` returns them; "a.b" reaches into an object.
    :param problems: Takes columns that are not there, and two of one meaning.
    :returns: The records and the meanings.
    """
    known: dict[str, Column] = {}
    records, missing = _with_paths(records, columns.values())
    for ours, theirs in columns.items():
        known[theirs] = BY_NAME[ours]
        if theirs in missing:
            hint = nearest(theirs, dict.fromkeys(name for record in records for name in record.values))
            problems.add(f"there is no column {theirs!r} for {ours!r}{hint}")
    said = frozenset(columns)
    if said:
        records = [record._replace(values=_aside(record.values, known, said)) for record in records]
    _by_our_names(records, known, said, problems)
    records = _squad_answers(records, known)
    records = _by_other_names(records, known, problems)
    return Meanings(records, known)


def meaning_of(name: str) -> str:
    """
    Give the package's name of a column, also for the names of other tools.

    :param name: Any name.
    :returns: The name in `COLUMNS`; another name as it is.
    """
    return next((ours for ours, names in FOREIGN.items() if name in names), column_name(name))


def likely(meaning: str, names: Iterable[str]) -> str:
    """
    Say which columns of the data may have a meaning that is missing.

    :param meaning: A name in `COLUMNS`.
    :param names: The columns of the data.
    :returns: A sentence that starts with a blank; empty if there is none.
    """
    names = list(names)
    column = BY_NAME[meaning]
    wanted = [column.name, *column.aliases, *FOREIGN.get(meaning, ())]
    near = [name for name in names if meaning_of(name) == name and get_close_matches(name.lower(), wanted, 1, _ALIKE)]
    near = [name for name in near if name not in BY_NAME and name not in _GROUPS]
    if near:
        return f" Did you mean {near[0]!r}? Then say so: {rename_hint(meaning, near[0])}."
    group = next((group for group, (ours, _) in _GROUPS.items() if ours == meaning and group in names), None)
    if group is not None and group not in _EITHER:
        return f" If an entry of {group!r} holds it: {rename_hint(meaning, group + '.ENTRY')}."
    if meaning in ("answer", "reference_answer"):
        either = [name for name in names if name.partition(".")[0] in _EITHER]
        if either:
            what = column.description.partition(",")[0]
            return f" If {either[0]!r} holds {what}: {rename_hint(meaning, either[0])}."
    return ""


def _with_paths(records: list[Record], names: Iterable[str]) -> tuple[list[Record], list[str]]:
    """Make "a.b" a column of its own where "b" stands in an object "a"; with the names that no record has."""
    missing = []
    for name in names:
        if any(name in record.values for record in records):
            continue
        found = [
            record._replace(values=_with(record.values, name, _reached(record.values, name))) for record in records
        ]
        if all(name not in record.values for record in found):
            missing.append(name)
        records = found
    return records, missing


def _reached(values: Any, path: str) -> Any:
    for part in path.split("."):
        values = values.get(part) if isinstance(values, dict) else None
    return values


def _with(values: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    return values if value is None else values | {name: value}


def _aside(values: dict[str, Any], known: Mapping[str, Column], said: frozenset[str]) -> dict[str, Any]:
    """Where the user gives a meaning to another column, one that is called so is none of ours."""
    return {
        f"data.{name}" if name not in known and column_name(name) in said else name: value
        for name, value in values.items()
    }


def _by_our_names(records: list[Record], known: dict[str, Column], said: frozenset[str], problems: Problems) -> None:
    """Two columns of one meaning in one file are a problem: taking either would be a guess."""
    names: dict[str, str] = {}
    reported: set[str] = set()
    for record in records:
        for name in record.values:
            column = BY_NAME.get(name)
            if column is None or name in known or column.name in said:
                continue
            if names.setdefault(column.name, name) != name and name not in reported:
                reported.add(name)
                problems.add(
                    f"columns {names[column.name]!r} and {name!r} both mean {column.name!r}, expected one of them "
                    f"({rename_hint(column.name, name)})",
                    record.line,
                )
    known.update({name: BY_NAME[ours] for ours, name in names.items()})


def _by_other_names(records: list[Record], known: dict[str, Column], problems: Problems) -> list[Record]:
    records = _unpacked(records, known)
    present = dict.fromkeys(name for record in records for name in record.values)
    for ours, names in FOREIGN.items():
        if ours in (column.name for column in known.values()):
            continue
        found = [name for name in names if name in present and _texts(records, name)]
        if len(found) > 1:
            problems.add(
                f"columns {' and '.join(map(repr, found))} may mean {ours!r}, expected one of them; say which: "
                f"{rename_hint(ours, found[0])}"
            )
        if found:
            known[found[0]] = BY_NAME[ours]
    return records


def _unpacked(records: list[Record], known: dict[str, Column]) -> list[Record]:
    """Give values inside the objects of MLflow and LangSmith their meanings; "inputs.question" may be a column, too."""
    names = dict.fromkeys(name for record in records for name in record.values)
    told = any(group in names or any(name.startswith(f"{group}.") for name in names) for group in _GROUPS)
    if not told:
        return records
    records = [record._replace(values=_read(record.values)) for record in records]
    judged = any(column.name == "reference_answer" for column in known.values())
    for group, (ours, preferred) in sorted(_GROUPS.items(), key=lambda entry: entry[0] == "outputs"):
        if ours in (column.name for column in known.values()) or group in known:
            continue
        judged = judged or any(column.name == "reference_answer" for column in known.values())
        if group == "outputs" and not judged:
            continue  # MLflow keeps what the system said there, LangSmith the right answer
        if group == "outputs" and group in names and _texts(records, group):
            known[group] = BY_NAME[ours]
            continue
        keys = _keys(records, group)
        chosen = [key for key in preferred if key in keys] or (list(keys) if group != "expectations" else [])
        if len(chosen) != 1:
            continue
        path = f"{group}.{chosen[0]}"
        records, missing = _with_paths(records, [path])
        if not missing:
            known[path] = BY_NAME[ours]
    return records


def _read(values: dict[str, Any]) -> dict[str, Any]:
    """In CSV an object is its JSON."""
    return {name: _object(value) if name in _GROUPS else value for name, value in values.items()}


def _object(value: Any) -> Any:
    if not _looks_like_object(value):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _looks_like_object(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith("{")


def _keys(records: list[Record], group: str) -> dict[str, None]:
    keys: dict[str, None] = {}
    for record in records:
        value = record.values.get(group)
        keys |= dict.fromkeys(value) if isinstance(value, dict) else {}
        prefix = f"{group}."
        keys |= dict.fromkeys(name.removeprefix(prefix) for name in record.values if name.startswith(prefix))
    return keys


def _texts(records: list[Record], name: str) -> bool:
    """Whether a column may be texts at all: a number under a name such as "target" is something else."""
    values = [record.values.get(name) for record in records]
    if name in _GROUPS and any(map(_looks_like_object, values)):
        return False
    lists = [value for value in values if isinstance(value, list)]
    return all(isinstance(value, str | list | type(None)) for value in values) and all(
        isinstance(entry, str) for value in lists for entry in value
    )


def _squad_answers(records: list[Record], known: dict[str, Column]) -> list[Record]:
    """SQuAD: right answers in `answers`, with their places; none of them where the question has no answer."""
    if any(column.name == "reference_answer" for column in known.values()) or "answers" in known:
        return records
    given = [record.values.get("answers") for record in records]
    if all(value is None for value in given) or not all(map(_are_answers, given)):
        return records
    known["answers"] = BY_NAME["reference_answer"]
    taken = {column.name for column in known.values()}
    squad = any(isinstance(value, dict) or (as_list(value) and isinstance(as_list(value)[0], dict)) for value in given)
    if squad and "contexts" not in taken:
        known["context"] = BY_NAME["contexts"]
    if squad and "answerable" not in taken:
        known["is_impossible"] = BY_NAME["answerable"]
    return [record._replace(values=_from_squad(record.values, known)) for record in records]


def _are_answers(value: Any) -> bool:
    entries = as_list(value["text"] if isinstance(value, dict) and "text" in value else value)
    return value is None or (isinstance(entries, list) and all(map(_is_answer, entries)))


def _is_answer(entry: Any) -> bool:
    return isinstance(entry, str) or (isinstance(entry, dict) and isinstance(entry.get("text"), str))


def _from_squad(values: dict[str, Any], known: Mapping[str, Column]) -> dict[str, Any]:
    given = as_list(values.get("answers"))
    texts = as_list(given["text"]) if isinstance(given, dict) and "text" in given else given
    if isinstance(texts, list):
        texts = [entry["text"] if isinstance(entry, dict) and "text" in entry else entry for entry in texts]
        texts = list(dict.fromkeys(texts))
    found = values | {"answers": texts}
    if "context" in known and isinstance(values.get("context"), str):
        found["context"] = [values["context"]]
    if "is_impossible" in known:
        flag = values.get("is_impossible")
        found["is_impossible"] = not flag if isinstance(flag, bool) else texts != []
    return found
