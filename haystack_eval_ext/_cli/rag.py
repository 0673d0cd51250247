# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The options of `run` that speak of a RAG pipeline, and what they come to."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from haystack_eval_ext._cli.faults import UserError, in_options, plain
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs._ask_options import AskOptions
from haystack_eval_ext.runs._questions import OUTPUT_NAMES
from haystack_eval_ext.runs._run_folder import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

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
#: How questions are asked: by option of the library how the command takes it.
ASKING: dict[str, Any] = {
    "retrieved": Annotated[
        str | None, typer.Option("--retrieved", metavar="STAGE", help="The stage that is evaluated; else the last.")
    ],
    "concurrency": Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="Questions in flight at most.")
    ],
    "isolate": Annotated[bool, typer.Option("--isolate", help="A copy of the RAG pipeline for each thread.")],
    "repeats": Annotated[int, typer.Option("--repeats", metavar="K", min=1, help="Ask each question K times.")],
    "limit": Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Ask the first N questions only.")],
    "sample": Annotated[int | None, typer.Option("--sample", metavar="N", min=1, help="Ask N of the questions only.")],
    "seed": Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Draws the sample.")],
    "stratify": Annotated[
        str | None, typer.Option("--stratify", metavar="COLUMN", help="Keep the shares of a column, or of each 'tag'.")
    ],
    "timeout": Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Give a question up after so long.")
    ],
    "max_failures": Annotated[
        int | None,
        typer.Option("--max-failures", metavar="N", min=0, help="Stop when more questions failed."),
    ],
    "retry_failed": Annotated[bool, typer.Option("--retry-failed", help="When a run goes on, ask again what failed.")],
}
NoTexts = Annotated[bool, typer.Option("--no-texts", help="Keep ids and scores only in RUN_DIR.")]


def takes_asking(command: Callable[..., None]) -> Callable[..., None]:
    """
    Give a command the options of :data:`ASKING`.

    :param command: It has a parameter `asking`, and gets them there by name.
    :returns: The command as the shell sees it.
    """
    defaults = AskOptions()
    signature = inspect.signature(command)
    shown: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        options = ASKING if each.name == "asking" else {}
        shown += [
            inspect.Parameter(name, each.kind, default=getattr(defaults, name), annotation=annotation)
            for name, annotation in options.items()
        ] or [each]

    @functools.wraps(command)
    def taking(**given: Any) -> None:
        asking = {name: given.pop(name) for name in ASKING}
        command(**given, asking=asking)

    taking.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    taking.__annotations__ = {each.name: each.annotation for each in shown}
    return taking


@dataclass(frozen=True)
class RagOptions:
    """
    The options of a RAG pipeline, as they were typed.

    :param rag: The target.
    :param index: YAML of the indexing pipeline.
    :param documents: The files that it reads.
    :param changes: "component.parameter=value".
    :param maps: "name=component.socket".
    :param asking: How the questions are asked: what :data:`ASKING` has.
    """

    rag: str | None
    index: Path | None
    documents: Path | None
    changes: list[str]
    maps: list[str]
    asking: dict[str, Any]

    def check(self) -> None:
        """
        Refuse options that do nothing.

        :raises UserError: If there are options of a RAG pipeline, but none is named; or one cannot be read.
        """
        if self.rag is not None:
            overrides_of(self.changes)
            return
        defaults = AskOptions()
        idle = [
            *(in_options(name) for name in ("index", "documents") if getattr(self, name) is not None),
            *(["--set"] if self.changes else []),
            *(["--map NAME=COMPONENT.SOCKET"] if self.maps else []),
            *(in_options(name) for name, value in self.asking.items() if value != getattr(defaults, name)),
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
        sections=_sections(options.maps),
        mapping=mapping,
        prices=prices,
        progress=judge.progress_bar,
        announce=lambda line: typer.echo(plain(line), err=True),
        **options.asking,
        texts=texts,
        replace_run=force,
    )


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
