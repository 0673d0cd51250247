# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and options that several commands have, and what is read from them."""

from pathlib import Path
from typing import Annotated

import typer

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext._resources import pipeline_names, pipeline_path
from haystack_eval_ext.errors import EvaluationError, MappingError, OneByOneError, UnfedSocketError
from haystack_eval_ext.retrieval._names import split_measures
from haystack_eval_ext.runs._vocabularies import check_columns
from haystack_eval_ext.runs.evaluation import WithheldFaultError

DataFile = Annotated[
    Path, typer.Option("--data", metavar="FILE", help="Rows: .jsonl, .ndjson, .json, .csv or .tsv, also .gz; .parquet.")
]
PipelineName = Annotated[
    str | None,
    typer.Argument(metavar="PIPELINE", help="A YAML file, or the name of a shipped pipeline, such as retrieval."),
]
Measures = Annotated[
    list[str],
    typer.Option(
        "-m", "--measures", metavar="NAMES", help="Such as 'nDCG@10,R@5 AP'; `haystack-eval metrics` lists them."
    ),
]
KeyFields = Annotated[
    list[str],
    typer.Option(
        "--key-field",
        metavar="FIELD",
        help="Where bare keys in the data go, and what is compared: id (the default), content or meta.<key>. Several "
        "make a composite key for -m; bare keys fill the first of them.",
    ),
]
Maps = Annotated[
    list[str],
    typer.Option(
        "--map",
        metavar="COMPONENT.SOCKET=COLUMN",
        help="Feed a socket from a column of another meaning; with --rag also NAME=COMPONENT.SOCKET: where the query, "
        "a column, the answers or the documents are. Repeatable.",
    ),
]
Columns = Annotated[
    list[str],
    typer.Option(
        "--column",
        metavar="MEANING=COLUMN",
        help="What a column of the data means whose name does not say it: reference_answer=gold; inputs.question "
        "reaches into objects. Repeatable.",
    ),
]
PlanMaps = Annotated[
    list[str],
    typer.Option(
        "--map",
        metavar="COMPONENT.SOCKET=COLUMN",
        help="Feed a socket from a column of another meaning. Repeatable.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--relevance-threshold",
        metavar="N",
        help="Lowest relevant grade of the measures (-m); without it every one above 0.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write even if something is there already.")]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error, also of questions that failed alone.")
]


def measure_names(measures: list[str]) -> list[str]:
    """
    Read ``-m``.

    :param measures: As typed, each with one name or several.
    :returns: The names.
    :raises UserError: If there is none.
    """
    names = [name for text in measures for name in split_measures(text)]
    if not names:
        msg = "-m names no measure; write for example -m 'nDCG@10 R@100 AP'."
        raise UserError(msg)
    return names


def pipeline_file(name: str) -> Path:
    """
    Find the file of an evaluation pipeline.

    :param name: A file, or the name of a shipped pipeline.
    :returns: The file.
    :raises UserError: If it is neither.
    """
    if Path(name).is_file():
        return Path(name)
    try:
        return pipeline_path(name)
    except ValueError:
        msg = f"PIPELINE {name!r} is neither a file nor a shipped pipeline; those are {', '.join(pipeline_names())}."
        raise UserError(msg) from None


def socket_mapping(maps: list[str]) -> dict[str, str]:
    """
    Read the ``--map`` that feed an evaluation pipeline.

    :param maps: As typed.
    :returns: The column by socket.
    :raises UserError: If one is of another form, or a socket is fed twice.
    """
    mapping = {}
    for text in maps:
        target, equals, column = text.partition("=")
        if not equals or not column or "." not in target:
            msg = f"--map must look like COMPONENT.SOCKET=COLUMN, but is {text!r}."
            raise UserError(msg)
        if target in mapping:
            msg = f"--map feeds {target} twice; name one column for it."
            raise UserError(msg)
        mapping[target] = column
    return mapping


def column_meanings(columns: list[str]) -> dict[str, str]:
    """
    Read ``--column``.

    :param columns: As typed.
    :returns: The column's name in the data by its meaning.
    :raises UserError: If one is of another form, means nothing that we know, or is said twice.
    """
    found: dict[str, str] = {}
    for text in columns:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours or not theirs:
            msg = f"--column must look like MEANING=COLUMN, such as reference_answer=gold, but is {text!r}."
            raise UserError(msg)
        if ours in found:
            msg = f"--column names {ours} twice; name one column for it."
            raise UserError(msg)
        found[ours] = theirs
    return check_columns(found)


# What the command line adds to a fault of the library, which knows no options.
_HINTS: dict[type[EvaluationError], str] = {
    MappingError: "Correct --map.",
    OneByOneError: "An evaluation pipeline takes all rows at once, as 'retrieval' does; a RAG pipeline, which takes "
    "one question at a time, goes into --rag.",
    UnfedSocketError: "--column MEANING=COLUMN says what a column is; another column can feed a socket: "
    "--map component.socket=column.",
    WithheldFaultError: "Its message is shown without --no-texts.",
}


def hint_of(error: EvaluationError) -> str:
    """
    Tell which option may mend a fault of an evaluation.

    :param error: The fault.
    :returns: The hint; empty if there is none.
    """
    return "" if "--column" in str(error) else _HINTS.get(type(error), "")
