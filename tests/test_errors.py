# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The tree of errors: what each is by inheritance, in which words it speaks, and that a fault of ours is none of it."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import haystack_eval_ext
from haystack_eval_ext import errors
from haystack_eval_ext._cli.faults import in_options
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import HaystackEvalError, InvalidTypeError, InvalidValueError, parameter
from haystack_eval_ext.runs._questions import section_of

PACKAGE = Path(haystack_eval_ext.__file__).parent
TREE = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, HaystackEvalError)]
BUILT_IN = {"ValueError": ValueError, "TypeError": TypeError, "ImportError": ImportError, "RuntimeError": RuntimeError}


def test_the_page_draws_the_whole_tree() -> None:
    drawing = (errors.__doc__ or "").split("```")[1]
    for kind in TREE:
        (line,) = [line for line in drawing.splitlines() if line.lstrip("|'- ").split(" ")[0] == kind.__name__]
        for name, base in BUILT_IN.items():
            if f"({name})" in line:
                assert issubclass(kind, base)
    assert len(TREE) == sum(
        bool(line.strip("|'- ")) and line.lstrip("|'- ")[0].isupper() for line in drawing.splitlines()
    )


@pytest.mark.parametrize("kind", TREE)
def test_each_stands_at_the_door(kind: type) -> None:
    assert getattr(haystack_eval_ext, kind.__name__) is kind
    assert kind.__name__ in haystack_eval_ext.__all__


# Of Python's own protocols, and of names that a module does not have.
ALLOWED = {
    "AttributeError",
    "FileNotFoundError",
    "KeyError",
    "NotImplementedError",
    "OSError",
    "SystemExit",
    "TimeoutError",
}


def raised_built_ins(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            found.add(node.exc.func.id)
    return (
        {name for name in found if isinstance(__builtins__.get(name), type)}
        if isinstance(__builtins__, dict)
        else {name for name in found if hasattr(__builtins__, name)}
    )


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_what_is_raised_on_purpose_is_of_the_tree(file: Path) -> None:
    # The import beside an older Haystack comes before the tree can.
    allowed = ALLOWED | ({"ImportError"} if file.name == "_platform.py" else set())
    assert raised_built_ins(file.read_text("utf-8")) <= allowed


def test_the_check_of_raises_finds_them() -> None:
    assert raised_built_ins("def f(x):\n    raise ValueError(x) from None\n") == {"ValueError"}


@pytest.mark.parametrize(
    ("message", "in_python", "in_the_shell"),
    [
        (f"{parameter('max_failures')} must be 0.", "max_failures must be 0.", "--max-failures must be 0."),
        (f"{parameter('overrides')}: no 'a'.", "overrides: no 'a'.", "--set: no 'a'."),
        (
            f"more than {parameter('max_failures', 2, python='max_failures=2')}.",
            "more than max_failures=2.",
            "more than --max-failures 2.",
        ),
        (section_of("inputs", "lang"), "sections: inputs.lang", "--map lang"),
        (
            section_of("outputs", "answers", "llm.replies"),
            'sections={"outputs": {"answers": ["llm.replies"]}}',
            "--map answers=llm.replies",
        ),
        # Users' own names stay.
        ("llm has no input 'sample'", "llm has no input 'sample'", "llm has no input 'sample'"),
    ],
)
@pytest.mark.parametrize("kind", [InvalidValueError, InvalidTypeError, errors.TargetError])
def test_each_front_end_has_its_own_words(kind: Any, message: str, in_python: str, in_the_shell: str) -> None:
    error = kind(message)
    for copy in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own pickle
        assert (str(copy), copy.told(in_options)) == (in_python, in_the_shell)
        assert copy.parameters == ([] if "llm has" in message else [message[1:].partition("\x1f")[0].split("\x02")[-1]])


def test_all_problems_of_a_file_are_kept() -> None:
    problems = [f"f.csv:{number}: {parameter('columns')}" for number in range(30)]
    error = errors.DatasetError(problems)
    for copy in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own pickle
        assert copy.problems == [f"f.csv:{number}: columns" for number in range(30)]
        assert str(copy).splitlines()[0] == "30 problems:"
    assert "--column" in error.told(in_options)
    failed = errors.FailedRowsError("3 rows failed", {"score": 1.0})
    assert pickle.loads(pickle.dumps(failed)).result == {"score": 1.0}  # noqa: S301 - our own pickle


BUGS = {
    "ValueError": "raise ValueError('could not broadcast')",
    "TypeError": "len(5)",
    "KeyError": "{}['x']",
    "AttributeError": "None.x",
}
#: By command a function of ours that it calls, and what it is called with.
INSIDE = {
    "run -m RR --data data.jsonl": ("haystack_eval_ext.retrieval._base", "RetrievalEvaluation", "run"),
    "compare kept kept": ("haystack_eval_ext.runs.comparison", "", "compare_metric"),
    "export kept out.csv --force": ("haystack_eval_ext.runs.run", "EvaluationRun", "to_csv"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bugs")
    row = {"question": "?", "relevant_documents": ["a"], "documents": ["a"]}
    (path / "data.jsonl").write_text("\n".join(json.dumps(row | {"id": str(n)}) for n in range(3)), encoding="utf-8")
    data = [row | {"id": str(n)} for n in range(3)]
    evaluator = haystack_eval_ext.DocumentRankingEvaluator(["RR"], "id")
    haystack_eval_ext.evaluate({"ranking": evaluator}, data, out=path / "kept")
    return path


@pytest.mark.parametrize("kind", BUGS)
@pytest.mark.parametrize("command", INSIDE)
def test_a_fault_of_ours_is_no_mistake_of_the_users(
    command: str, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    module, owner, name = INSIDE[command]
    # As if it stood in that module.
    space: dict[str, Any] = {"__name__": module}
    exec(f"def broken(*args, **kwargs):\n    {BUGS[kind]}\n", space)  # noqa: S102 - a planted bug
    monkeypatch.setattr(".".join(filter(None, (module, owner, name))), space["broken"])
    result = CliRunner().invoke(app, command.split())
    assert result.exception is not None
    assert not isinstance(result.exception, SystemExit)
    assert kind in f"{type(result.exception).__name__} {result.exception}"
