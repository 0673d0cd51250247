# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A baseline lies in a repository, where it is edited and merged: whatever is wrong in it is one line that names it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haystack_eval_ext.errors import RunFileError
from haystack_eval_ext.runs.run import load_run
from kept_runs import judged

FILE = "base.json"


def written(folder: Path, change: Callable[[Any], Any]) -> Path:
    """A baseline of three rows with a judge, changed."""
    path = folder / FILE
    judged([0.5, None, 1.0]).baseline(path)
    whole = json.loads(path.read_text("utf-8"))
    change(whole)
    path.write_text(json.dumps(whole), "utf-8")
    return path


def put(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(whole: Any) -> None:
        for step in path[:-1]:
            whole = whole[step]
        whole[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[Any], None]:
    def change(whole: Any) -> None:
        for step in path[:-1]:
            whole = whole[step]
        del whole[path[-1]]

    return change


def row(**values: Any) -> Callable[[Any], None]:
    return lambda whole: whole["rows"][0].update(values)


def added(**values: Any) -> Callable[[Any], None]:
    return lambda whole: whole["rows"].append({**whole["rows"][0], **values})


POLITE = ("metrics", "polite")
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "rows missing": (drop("rows"), "'rows' is null, expected a list with one row for each question"),
    "no rows": (put("rows", value=[]), "'rows' is empty"),
    "row no object": (put("rows", 0, value=5), "row 1 is a number, expected an object"),
    "id missing": (drop("rows", 1, "id"), "'id' of row 2 is missing, expected a text"),
    "id no text": (row(id=5), "'id' of row 1 is a number, expected a text"),
    "id twice": (added(), "row 4 has the id of row 1"),
    "repeats": (added(id="other", repeat=1), "row 4 has a 'repeat'"),
    "fingerprint missing": (drop("rows", 0, "fingerprint"), "'fingerprint' of row 1 is missing"),
    "tags no list": (row(tags="lang:de"), "'tags' of row 1 is a text, expected a list of texts"),
    "tags no texts": (row(tags=[1]), "'tags' of row 1 holds something else, expected a list of texts"),
    "cluster a list": (row(cluster=["a"]), "'cluster' of row 1 is a list, expected a text"),
    "scores missing": (drop("rows", 0, "scores"), "'scores' of row 1 is missing, expected an object"),
    "scores no object": (row(scores=5), "'scores' of row 1 is a number, expected an object"),
    "score missing": (row(scores={}), "'scores' of row 1 lacks metric 'polite'"),
    "score of another": (
        row(scores={"polite": 1, "x": 1}),
        "'scores' of row 1 holds 'x', which is none of the metrics",
    ),
    "score a text": (
        row(scores={"polite": "1"}),
        "the score of 'polite' of row 1 is a text, expected a number or null",
    ),
    "score a flag": (row(scores={"polite": True}), "the score of 'polite' of row 1 is true or false"),
    "score a list": (row(scores={"polite": [1]}), "the score of 'polite' of row 1 is a list"),
    "score huge": (row(scores={"polite": 10**400}), "the score of 'polite' of row 1 is a number out of range"),
    "score large": (row(scores={"polite": 1e200}), "the score of 'polite' of row 1 is a number out of range"),
    "score null": (row(scores={"polite": None}), "of 'polite' of row 1 is null, but its status says that there is one"),
    "status unknown": (
        row(statuses={"polite": "fine"}),
        "the status of 'polite' of row 1 is none of scored, undefined",
    ),
    "status no text": (row(statuses={"polite": 5}), "'statuses' of row 1 holds something else, expected an object"),
    "status of another": (row(statuses={"x": "error"}), "'statuses' of row 1 holds 'x'"),
    "status against score": (row(statuses={"polite": "error"}), "is a number, but its status is 'error'"),
    "all failed": (row(failed={"polite": 1}), "'failed' of 'polite' of row 1 is no share from 0 to 1"),
    "share of failures": (row(failed={"polite": 2}), "'failed' of 'polite' of row 1 is no share from 0 to 1"),
    "format a flag": (put("format", value=True), "'format' is true or false, expected a number"),
    "format of later": (put("format", value=2), "has format 2, but this version of haystack-eval-ext reads 1"),
    "metrics no object": (put("metrics", value=[]), "'metrics'"),
    "no metrics": (put("metrics", value={}), "'metrics'"),
    "metric no object": (put(*POLITE, value=5), "polite|metrics"),
    "parameters missing": (drop(*POLITE, "parameters"), "'parameters' of metric 'polite' is missing"),
    "parameters null": (put(*POLITE, "parameters", value=None), "'parameters' of metric 'polite' is null"),
    "direction a text": (put(*POLITE, "lower_is_better", value="no"), "'lower_is_better' of metric 'polite' is a text"),
    "judge a number": (put(*POLITE, "judge", value=5), "'judge' of metric 'polite' is a number, expected an object or"),
    "judge's models": (
        put(*POLITE, "judge", "models", value="m"),
        "'models' of metric 'polite', of its judge is a text",
    ),
    "prompts a number": (put(*POLITE, "prompts", value=5), "'prompts' of metric 'polite' is a number"),
    "data's fingerprint": (put("data", "label_fingerprint", value=5), "'data'"),
    "versions": (put("versions", value=[]), "'versions'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_is_one_line_that_names_it(name: str, tmp_path: Path) -> None:
    change, expected = WRONG[name]
    path = written(tmp_path, change)
    with pytest.raises(RunFileError, match=expected) as error:
        load_run(path)
    assert len(error.value.report()) == 1
    assert str(path) in str(error.value)
    assert "again" in str(error.value)


HARMLESS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda whole: whole,
    "whole numbers": row(scores={"polite": 1}),
    "no cluster, no tags": row(cluster=None, tags=None),
    "what later versions may add": lambda whole: (whole.update(more=1), whole["rows"][0].update(more=[1])),
    "a row less, as its question is gone": drop("rows", 0),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_right_is_read(name: str, tmp_path: Path) -> None:
    assert list(load_run(written(tmp_path, HARMLESS[name])).metrics) == ["polite"]
