# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Haystack loads our classes from YAML after our import or on the user's word, never else, and we trust nobody else."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.embedders import OpenAIDocumentEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

import haystack_eval_ext
from cases import Case, all_cases

COMPONENTS = sorted(name for name in haystack_eval_ext.__all__ if hasattr(getattr(haystack_eval_ext, name), "run"))
# Each component once, by the row of the tables that sets most of its parameters.
CASES: dict[str, Case] = {
    case.component.__name__: case for case in sorted(all_cases(), key=lambda case: len(case.parameters))
}
# In place of the tests' own, which nobody trusts. The variable is one that there is; nobody is asked here.
TRUSTED: dict[str, Any] = {
    "embedder": OpenAIDocumentEmbedder(api_key=Secret.from_env_var("HOME")),
    "chat_generator": OpenAIChatGenerator(api_key=Secret.from_env_var("HOME")),
}
# A fresh process, since trust lasts for the life of one.
LOAD = """
import sys
import yaml
from haystack import Pipeline
from haystack.core.errors import DeserializationError
{first}
source = open({path!r}, encoding="utf-8").read()
try:
    pipeline = Pipeline.loads(source{argument})
except DeserializationError as error:
    print("refused", "haystack_eval_ext" in sys.modules, "trusted-module allowlist" in str(error))
else:
    # Not the texts: a list that two components share is written as an alias, and loaded as two lists.
    assert yaml.safe_load(pipeline.dumps()) == yaml.safe_load(source)
    print("loaded", *sorted(pipeline.graph.nodes))
"""
LOADED = " ".join(["loaded", *COMPONENTS])
ALLOWLIST = "HAYSTACK_DESERIALIZATION_ALLOWLIST"


def load(path: Path, *, first: str = "", argument: str = "", **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HAYSTACK_")}
    # The package is found from any folder, installed or not; finding it is not importing it.
    environment["PYTHONPATH"] = str(Path(haystack_eval_ext.__file__).parents[1])
    environment["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    code = LOAD.format(first=first, path=str(path), argument=argument)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **variables},
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pipeline = Pipeline()
    for name in COMPONENTS:
        case = CASES[name]
        trusted = {parameter: TRUSTED[parameter] for parameter in TRUSTED if parameter in case.parameters}
        pipeline.add_component(name, case.make(**trusted))
    path = tmp_path_factory.mktemp("ours") / "pipeline.yaml"
    path.write_text(pipeline.dumps(), encoding="utf-8")
    return path


def foreign(tmp_path: Path, module: str) -> Path:
    """A module with a component, beside a YAML file that names it."""
    (tmp_path / f"{module}.py").write_text(
        "from haystack import component\n\n@component\nclass Other:\n"
        "    @component.output_types(value=int)\n    def run(self, value: int) -> dict[str, int]:\n"
        "        return {'value': value}\n",
        encoding="utf-8",
    )
    path = tmp_path / "foreign.yaml"
    path.write_text(
        f"components:\n  other:\n    init_parameters: {{}}\n    type: {module}.Other\n"
        "connection_type_validation: true\nconnections: []\nmax_runs_per_component: 100\nmetadata: {}\n",
        encoding="utf-8",
    )
    return path


def test_refused_without_a_word(ours: Path) -> None:
    # Refused before our code was run.
    assert load(ours) == "refused False True"


def test_loads_after_import(ours: Path) -> None:
    assert load(ours, first="import haystack_eval_ext") == LOADED


@pytest.mark.slow
def test_loads_after_import_of_a_submodule(ours: Path) -> None:
    assert load(ours, first="import haystack_eval_ext.retrieval.document_ranking") == LOADED


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["haystack_eval_ext", "haystack_eval_ext.*"])
def test_loads_by_allowed_modules_without_import(ours: Path, pattern: str) -> None:
    assert load(ours, argument=f", allowed_modules=[{pattern!r}]") == LOADED


@pytest.mark.slow
def test_loads_by_the_environment_variable_without_import(ours: Path) -> None:
    assert load(ours, **{ALLOWLIST: "some_other_package.*,haystack_eval_ext"}) == LOADED


@pytest.mark.slow
@pytest.mark.parametrize("module", ["other_package", "haystack_eval_ext_plugins"])
def test_importing_us_trusts_nobody_else(tmp_path: Path, module: str) -> None:
    path = foreign(tmp_path, module)
    first = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import haystack_eval_ext"
    assert load(path, first=first) == "refused True True"
    # The same file loads when somebody trusts that module: only trust was missing.
    assert load(path, first=first, argument=f", allowed_modules=[{module!r}]") == "loaded other"
