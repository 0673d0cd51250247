# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""People's labels for the questions of a run: from columns of its data, or from files that were made later."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from haystack_eval_ext.errors import DatasetError, InvalidValueError
from haystack_eval_ext.runs._columns import BY_NAME, OTHERS, column_name
from haystack_eval_ext.runs._label_words import UNDERSTOOD, label
from haystack_eval_ext.runs._lines import FilePath, Problems, raise_if_any
from haystack_eval_ext.runs._scored import counted, nearest, some
from haystack_eval_ext.runs.dataset import Data, read_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_eval_ext.runs.run import EvaluationRun

#: Labels as a user gives them: a file, rows or a table with ids; or several files.
LabelData: TypeAlias = "Data | Sequence[FilePath]"

_IDS = 5


@dataclass(frozen=True)
class LabelJoin:
    """
    How the labels of one file met the questions of a run.

    :param source: The file.
    :param joined: How many questions have a row in it.
    :param missing: The ids of the questions that have none.
    :param unknown: The ids in it that are no question's.
    :param repeated: The ids that come several times with equal labels, which count once.
    :param contradictory: The ids that come several times with different labels, which are left out.
    """

    source: str
    joined: int
    missing: list[str]
    unknown: list[str]
    repeated: list[str]
    contradictory: list[str]

    @property
    def notes(self) -> list[str]:
        """What a user should know, one line each."""
        found = (
            ("a question of the run has", "questions of the run have", "no row in it", self.missing),
            ("an id in it is", "ids in it are", "no question's of the run and left out", self.unknown),
            ("an id comes", "ids come", "several times with equal labels, which count once", self.repeated),
            ("an id comes", "ids come", "several times with different labels and left out", self.contradictory),
        )
        return [
            f"{self.source}: {f'{len(ids)} {many}' if len(ids) > 1 else one} {what} ({some(ids, _IDS)})."
            for one, many, what, ids in found
            if ids
        ]


@dataclass(frozen=True)
class PeopleLabels:
    """
    The labels of people.

    :param raters: By name one label a row of the run; None where there is none.
    :param joins: How each file met the run.
    """

    raters: dict[str, list[float | None]]
    joins: list[LabelJoin] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    """The labels of a file, by id, and the columns that may hold them."""

    join: LabelJoin
    rows: dict[str, dict[str, Any]]
    columns: list[str]


def people_labels(
    run: EvaluationRun, human: Sequence[str], labels: LabelData | None, words: Mapping[str, float]
) -> PeopleLabels:
    """
    Find people's labels.

    :param run: The run.
    :param human: The columns that hold them; none if a file says it by having one column beside the id.
    :param labels: Files with ids and labels; None if the run's data hold them.
    :param words: The user's own words, as `checked_words` gives them.
    :returns: The labels of each rater.
    :raises ValueError: If there is no such column, a label is not understood, or no row of a file is a question's.
    :raises DatasetError: If a file cannot be read.
    """
    twice = [name for place, name in enumerate(human) if name in human[:place]]
    if twice:
        msg = f"human_column names {some(twice)} twice; name each rater once."
        raise InvalidValueError(msg)
    if labels is None:
        if not human:
            msg = "human_column (--human) must name the column with people's labels, or labels (--labels) their file."
            raise InvalidValueError(msg)
        return PeopleLabels({name: _of_run(run, name, words) for name in human})
    files = [_file(each, human, run, words) for each in _sources(labels)]
    wanted = [(file, name) for file in files for name in (_wanted(file, human) or [])]
    raters: dict[str, list[float | None]] = {}
    for file, name in wanted:
        alone = sum(other == name for _, other in wanted) == 1
        rater = name if alone and name not in raters else f"{file.join.source}: {name}"
        if rater in raters:  # files of one name in several folders
            rater = f"{rater} ({sum(each.startswith(rater) for each in raters) + 1})"
        source = f"column '{name}' of {file.join.source}"
        cells = [(file.rows.get(key) or {}).get(name) for key in run.ids]
        raters[rater] = _numbers(source, run.ids, cells, words)
    in_files = {name for _, name in wanted}
    for name in (name for name in human if name not in in_files):
        if not any(name in (row.get(OTHERS) or {}) for row in run.rows):
            known = list(dict.fromkeys(column for file in files for column in file.columns))
            msg = f"no file of labels has a column '{name}', nor has the run ({nearest(name, known)})."
            raise InvalidValueError(msg)
        raters[name] = _of_run(run, name, words)
    return PeopleLabels(raters, [file.join for file in files])


def _sources(labels: LabelData) -> list[Any]:
    if isinstance(labels, list | tuple) and labels and all(isinstance(each, str | os.PathLike) for each in labels):
        paths = [os.path.realpath(each) for each in labels]
        if len(set(paths)) < len(paths):
            msg = "labels (--labels) names one file twice: its people would agree with themselves. Name each file once."
            raise InvalidValueError(msg)
        return [*labels]
    return [labels]


def _wanted(file: _File, human: Sequence[str]) -> list[str]:
    if human:
        return [name for name in human if name in file.columns]
    if len(file.columns) == 1:
        return file.columns
    found = f"has several columns ({some(file.columns, 10)})" if file.columns else "has no column beside the id"
    msg = f"{file.join.source} {found}: name those with labels by human_column (--human)."
    raise InvalidValueError(msg)


def _file(data: Any, human: Sequence[str], run: EvaluationRun, words: Mapping[str, float]) -> _File:
    problems = Problems(data if isinstance(data, str | os.PathLike) else "labels")
    source = os.path.basename(problems.path)
    records = read_records(data, problems, human)
    raise_if_any(DatasetError, [problems])
    names = list(dict.fromkeys(name for record in records for name in record.values))
    # Of several columns that could be the id, the one of that very name.
    keys = sorted((name for name in names if column_name(name) == "id" and name not in human), key=lambda n: n != "id")
    if not keys:
        msg = f"{source} has no column 'id', by which labels are joined ({nearest('id', names)})."
        raise InvalidValueError(msg)
    columns = [name for name in names if name in human or name not in BY_NAME]
    compared = [name for name in columns if name in human] or columns
    given: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        key = record.values.get(keys[0])
        if isinstance(key, bool | float | list | dict) or not str("" if key is None else key).strip():
            problems.add("no text and no whole number, expected the id of a question", record.line, keys[0])
            continue
        given.setdefault(str(key).strip(), []).append(record.values)
    raise_if_any(DatasetError, [problems])
    several = {key for key, rows in given.items() if len(rows) > 1}
    apart = {key for key in several if len({_read(row, compared, words) for row in given[key]}) > 1}
    return _joined(source, given, columns, several, apart, run)


def _joined(
    source: str,
    given: dict[str, list[dict[str, Any]]],
    columns: list[str],
    several: set[str],
    apart: set[str],
    run: EvaluationRun,
) -> _File:
    known = {str(key).strip(): key for key in run.ids}
    rows = {known[key]: found[0] for key, found in given.items() if key in known and key not in apart}
    join = LabelJoin(
        source,
        joined=len(rows),
        missing=[key for text, key in known.items() if text not in given],
        unknown=[key for key in given if key not in known],
        repeated=[key for key in given if key in several - apart],
        contradictory=[key for key in given if key in apart],
    )
    if not rows:
        examples = f"the file has {some(list(given))}, the run {some(run.ids)}"
        msg = f"no row of {source} has the id of a question of '{run.name}' ({examples}): nothing to join."
        raise InvalidValueError(msg)
    return _File(join, rows, columns)


def _read(row: dict[str, Any], columns: list[str], words: Mapping[str, float]) -> tuple[Any, ...]:
    """The labels of a row as numbers; what is no label as it stands there."""
    cells = ((row.get(name), label(row.get(name), words)) for name in columns)
    return tuple(repr(cell) if isinstance(read, str) else read for cell, read in cells)


def _of_run(run: EvaluationRun, column: str, words: Mapping[str, float]) -> list[float | None]:
    if not run.has_texts:
        msg = (
            f"'{run.name}' was kept without texts, and so without people's labels. Give a run with its texts, or the "
            "labels as a file: labels (--labels FILE)."
        )
        raise InvalidValueError(msg)
    others = [row.get(OTHERS) or {} for row in run.rows]
    known = list(dict.fromkeys(name for each in others for name in each))
    values = [each.get(column, row.get(column)) for each, row in zip(others, run.rows, strict=True)]
    if column not in known and all(value is None for value in values):
        msg = f"'{run.name}' has no labels in a column '{column}' ({nearest(column, known)})."
        raise InvalidValueError(msg)
    return _numbers(f"column '{column}' of '{run.name}'", run.ids, values, words)


def _numbers(source: str, ids: Sequence[str], cells: Sequence[Any], words: Mapping[str, float]) -> list[float | None]:
    """Labels as numbers; None where there is none."""
    read = [label(cell, words) for cell in cells]
    bad = [(key, each) for key, each in zip(ids, read, strict=True) if isinstance(each, str)]
    if bad:
        more = f" (and {counted(len(bad) - 1, 'more row')})" if len(bad) > 1 else ""
        msg = (
            f"{source} holds {bad[0][1]} in row '{bad[0][0]}'{more}. Understood are {UNDERSTOOD}; other words by "
            "label_words (--label-words right=1,wrong=0). Leave cells empty where nobody looked."
        )
        raise InvalidValueError(msg)
    if all(each is None for each in read):
        msg = f"{source} is empty in every row: it has no label to compare with."
        raise InvalidValueError(msg)
    return [None if isinstance(each, str) else each for each in read]
