# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The options of `run` that speak of a RAG pipeline, and what they come to."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from haystack_eval_ext._cli.faults import UserError
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._questions import OUTPUT_NAMES
from haystack_eval_ext.runs._run_folder import MANIFEST

if TYPE_CHECKING:
    from haystack import Pipeline

    from haystack_eval_ext.runs._usage import Prices
    from haystack_eval_ext.runs.dataset import Dataset
    from haystack_eval_ext.runs.judging import JudgeSettings
    from haystack_eval_ext.runs.run import EvaluationRun

Rag = Annotated[
    str | None,
    typer.Option(
        "--rag",
        metavar="TARGET",
        help="Ask this RAG pipeline the questions first: a YAML file, or module:name of a pipeline, a component, or a "
        "function that makes one or answers a question.",
    ),
]
Index = Annotated[
    Path | None,
    typer.Option("--index", metavar="INDEX.yaml", help="Pipeline that fills the store first, from --documents."),
]
Documents = Annotated[Path | None, typer.Option("--documents", metavar="DIR", help="The files that --index reads.")]
Set = Annotated[
    list[str],
    typer.Option("--set", metavar="COMPONENT.PARAMETER=VALUE", help="Change an init parameter of --rag; repeatable."),
]
Retrieved = Annotated[
    str | None,
    typer.Option("--retrieved", metavar="STAGE", help="The stage that is evaluated; else the last."),
]
Concurrency = Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="Questions in flight at most.")]
Isolate = Annotated[bool, typer.Option("--isolate", help="A copy of the RAG pipeline for each thread.")]
Repeats = Annotated[int, typer.Option("--repeats", metavar="K", min=1, help="Ask each question K times.")]
Sample = Annotated[int | None, typer.Option("--sample", metavar="N", min=1, help="Ask N of the questions only.")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Draws the sample.")]
Stratify = Annotated[
    str | None, typer.Option("--stratify", metavar="COLUMN", help="Keep the shares of a column, or of each 'tag'.")
]
Timeout = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Give a question up after so long.")
]
MaxFailures = Annotated[
    int | None, typer.Option("--max-failures", metavar="N", min=0, help="Stop when more questions than this failed.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="When a run goes on, ask again what failed.")]
NoTexts = Annotated[bool, typer.Option("--no-texts", help="Keep ids and scores only in RUN_DIR.")]


@dataclass(frozen=True)
class RagOptions:
    """
    The options of a RAG pipeline, as they were typed.

    :param rag: The target.
    :param index: YAML of the indexing pipeline.
    :param documents: The files that it reads.
    :param changes: "component.parameter=value".
    :param maps: "name=component.socket".
    :param retrieved: The stage whose documents are evaluated.
    :param concurrency: Questions in flight.
    :param isolate: A copy for each thread.
    :param repeats: How often each question is asked.
    :param sample: How many questions are asked.
    :param seed: Draws the sample.
    :param stratify: A column whose shares the sample keeps.
    :param timeout: Seconds a question may take.
    :param max_failures: When to stop.
    :param retry_failed: Whether to ask again what failed.
    """

    rag: str | None
    index: Path | None
    documents: Path | None
    changes: list[str]
    maps: list[str]
    retrieved: str | None
    concurrency: int
    isolate: bool
    repeats: int
    sample: int | None
    seed: int
    stratify: str | None
    timeout: float | None
    max_failures: int | None
    retry_failed: bool

    def check(self) -> None:
        """
        Refuse options that do nothing.

        :raises UserError: If there are options of a RAG pipeline, but none is named; or one cannot be read.
        """
        if self.rag is not None:
            overrides_of(self.changes)
            return
        idle = [
            _NAMES.get(field.name, f"--{field.name.replace('_', '-')}")
            for field in fields(self)
            if getattr(self, field.name) != _DEFAULTS.get(field.name)
        ]
        if idle:
            go = "goes" if len(idle) == 1 else "go"
            msg = f"{', '.join(idle)} {go} with --rag, the RAG pipeline to run. Name it, or leave the rest away."
            raise UserError(msg)

    def refuse_kept_run(self, data: Path) -> None:
        """
        Refuse to ask the questions of a kept run again.

        :param data: A folder.
        :raises UserError: If a RAG pipeline is named, or no folder at all.
        """
        if data == Path():
            msg = "--data names no file (an empty shell variable?); name the file with the rows."
            raise UserError(msg)
        if self.rag is None:
            return
        if not (data / MANIFEST).is_file():
            msg = f"--data {data} is a folder, and no kept run either; name the file with the questions."
        else:
            msg = f"--data {data} is a kept run, whose answers are scored again: leave --rag away."
        raise UserError(msg)


# What the library calls by its names in Python, and what that is here.
_IN_OPTIONS = tuple(
    (re.compile(name), option)
    for name, option in (
        (r'mapping=\{"(?:inputs|outputs)": \{"([^"]+)": \["([^"]+)"\]\}\}', r"--map \1=\2"),
        (r"^mapping: (?:inputs|outputs)\.(\S+)", r"--map \1"),
        (r"^mapping(?= names\b| must\b)", "--map"),
        (r"^overrides change\b", "--set changes"),
        (r"^overrides\b", "--set"),
        (r"\(replace=True, --force\)", "(--force)"),
        (r"\bmax_failures=(\d+)", r"--max-failures \1"),
        (r"\bmax_failures\b", "--max-failures"),
        (r"\bretry_failed\b", "--retry-failed"),
        (r"\blabel_field\b", "--key-field"),
        (r"^index and documents belong", "--index and --documents belong"),
        (r"^(concurrency|isolate|repeats|retrieved|sample|seed|stratify|timeout)(?=:? )", r"--\1"),
        (r"\bgoes with sample\b", "goes with --sample"),
        (r"\bLeave isolate out\b", "Leave --isolate out"),
        (r"\bcopied for isolate\b", "copied for --isolate"),
    )
)
_NAMES = {"changes": "--set", "maps": "--map NAME=COMPONENT.SOCKET"}
_DEFAULTS: dict[str, Any] = {
    "changes": [],
    "maps": [],
    "concurrency": 8,
    "isolate": False,
    "repeats": 1,
    "seed": 0,
    "retry_failed": False,
}


def run_rag(
    evaluators: Pipeline,
    dataset: Dataset,
    options: RagOptions,
    *,
    out: Path | None,
    mapping: dict[str, str],
    judge: JudgeSettings,
    prices: Prices | None,
    force: bool,
    texts: bool,
) -> EvaluationRun:
    """
    Run a RAG pipeline over the questions and score what it gives.

    :param evaluators: The evaluation pipeline.
    :param dataset: The questions and labels.
    :param options: The options.
    :param out: Folder of the run.
    :param mapping: Columns by socket of the evaluation pipeline.
    :param judge: Settings of the judges, with progress.
    :param prices: Price of a million tokens by model.
    :param force: Whether to replace a run.
    :param texts: False keeps ids and scores only.
    :returns: The run.
    :raises UserError: If an option cannot be read.
    """
    return api.run_rag(
        evaluators,
        dataset,
        options.rag,
        out=out,
        judge=judge,
        index=options.index,
        documents=options.documents,
        overrides=overrides_of(options.changes) or None,
        concurrency=options.concurrency,
        isolate=options.isolate,
        repeats=options.repeats,
        sample=options.sample,
        seed=options.seed,
        stratify=options.stratify,
        retrieved=options.retrieved,
        sections=_sections(options.maps),
        mapping=mapping,
        prices=prices,
        timeout=options.timeout,
        max_failures=options.max_failures,
        retry_failed=options.retry_failed,
        progress=judge.progress_bar,
        texts=texts,
        replace_run=force,
    )


def in_options(message: str) -> str:
    """
    Put the options of `run` in place of the names that they have in Python.

    :param message: What the library says.
    :returns: What a shell's user can act on.
    """
    for name, option in _IN_OPTIONS:
        message = name.sub(option, message)
    return message


def split_maps(maps: list[str]) -> tuple[list[str], list[str]]:
    """
    Tell the two uses of --map apart.

    :param maps: As typed.
    :returns: Those that feed sockets of the evaluation pipeline ("component.socket=column"), and those that name inputs
        and outputs of the RAG pipeline ("query=component.socket").
    """
    of_rag = [text for text in maps if "." not in (parts := text.partition("="))[0] and "." in parts[2]]
    return [text for text in maps if text not in of_rag], of_rag


def overrides_of(changes: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in changes:
        place, equals, value = text.partition("=")
        if not equals or "." not in place:
            msg = f"--set must be COMPONENT.PARAMETER=VALUE, such as retriever.top_k=5, but is {text!r}."
            raise UserError(msg)
        found[place.strip()] = value
    return found


def _sections(maps: list[str]) -> dict[str, dict[str, list[str]]] | None:
    sections: dict[str, dict[str, list[str]]] = {"inputs": {}, "outputs": {}}
    for text in maps:
        name, _, place = text.partition("=")
        kind = "outputs" if name in OUTPUT_NAMES else "inputs"
        sections[kind].setdefault(name, []).append(place)
    return sections if maps else None
