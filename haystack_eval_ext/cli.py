# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `haystack-eval`: what its commands share. Each of them stands in `_cli`."""

import os
import sys
from typing import Annotated

import typer

from haystack_eval_ext._cli.agree_command import agree
from haystack_eval_ext._cli.faults import OneLineGroup, crash, fail
from haystack_eval_ext._cli.output import versions
from haystack_eval_ext._cli.run_command import plan, run
from haystack_eval_ext._cli.runs_commands import baseline, check, compare, export
from haystack_eval_ext._cli.trec_command import metrics, trec
from haystack_eval_ext._platform import BINARY

app = typer.Typer(
    name="haystack-eval",
    cls=OneLineGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# As a shell reports a process that a closed pipe ended.
_PIPE_CLOSED = 141


def _show_version(value: bool) -> None:
    if value:
        found = versions()
        typer.echo(f"haystack-eval-ext {found['haystack-eval-ext']} (haystack-ai {found['haystack-ai']})")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _commands(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Evaluate retrieval and RAG results with Haystack components."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _command in (run, plan, trec, metrics, compare, check, baseline, agree, export):
    app.command()(_command)


def main() -> None:
    """Run the command with the arguments of the process."""
    # Closed streams are None; what is written to them goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Ids in any script must not end a run on a terminal that cannot show them.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # a full device is met only here
    except OSError as error:
        # What is left in the buffer must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY | BINARY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(_PIPE_CLOSED)
        fail(f"Cannot write the result: {error.strerror}. Choose another place.")
    except Exception:
        crash()


if __name__ == "__main__":
    main()
