# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user of Haystack 2 is told: at the import beside it, and for a pipeline that names one of its classes."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from haystack_eval_ext import _platform
from haystack_eval_ext.errors import PipelineFileError
from haystack_eval_ext.runs import _removed
from haystack_eval_ext.runs._loading import load_pipeline

TOO_OLD = 'haystack-eval-ext needs haystack-ai 3.0 or newer, found {}: pip install "haystack-ai>=3.0"'


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        ({"haystack-ai": "2.31.0"}, "2.31.0"),
        ({"haystack-ai": "2.0.0rc1", "farm-haystack": "1.26.4"}, "2.0.0rc1"),
        ({"farm-haystack": "1.26.4"}, "farm-haystack 1.26.4"),
    ],
)
@pytest.mark.parametrize("program", ["/usr/bin/haystack-eval", "C:/Scripts/haystack-eval.exe", "-c", "app.py"])
def test_an_older_haystack_is_named(
    installed: dict[str, str],
    found: str,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _install(installed, monkeypatch)
    monkeypatch.setattr(sys, "argv", [program, "run"])
    if "haystack-eval" in program:
        with pytest.raises(SystemExit) as ended:
            _platform.check_haystack()
        assert ended.value.code == 2
        assert capsys.readouterr().err == TOO_OLD.format(found) + "\n"
    else:
        with pytest.raises(ImportError) as refused:
            _platform.check_haystack()
        assert str(refused.value) == TOO_OLD.format(found)


@pytest.mark.parametrize("installed", [{"haystack-ai": "3.0.0"}, {"haystack-ai": "10.1"}, {"haystack-ai": "main"}, {}])
def test_a_newer_or_unknown_haystack_is_taken(installed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    _install(installed, monkeypatch)
    _platform.check_haystack()


@pytest.mark.slow
def test_the_import_itself_says_it(tmp_path: Path) -> None:
    # Metadata of an older version stand first on the path, as in an environment that has it.
    metadata = tmp_path / "haystack_ai-2.31.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: haystack-ai\nVersion: 2.31.0\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import haystack_eval_ext"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == f"ImportError: {TOO_OLD.format('2.31.0')}"


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("haystack.components.generators.openai.OpenAIGenerator", "OpenAIChatGenerator"),
        ("haystack.components.generators.OpenAIGenerator", "OpenAIChatGenerator"),
        (
            "haystack.components.embedders.sentence_transformers_text_embedder.SentenceTransformersTextEmbedder",
            "haystack_integrations.components.embedders.sentence_transformers.SentenceTransformersTextEmbedder.",
        ),
        (
            "haystack.components.readers.extractive.ExtractiveReader",
            "readers.transformers.TransformersExtractiveReader",
        ),
        ("haystack.components.tools.tool_invoker.ToolInvoker", "haystack.components.agents.Agent"),
    ],
)
@pytest.mark.parametrize("nested", [False, True], ids=["component", "parameter"])
def test_a_class_of_haystack_2_is_named_as_such(given: str, part: str, nested: bool) -> None:
    text = f"components: {{g: {{type: {given}, init_parameters: {{}}}}}}\nconnections: []\n"
    if nested:
        text = (
            "components: {g: {type: haystack_eval_ext.judged.faithfulness.FaithfulnessEvaluator, init_parameters: "
            f"{{chat_generator: {{type: {given}, init_parameters: {{}}}}}}}}}}\nconnections: []\n"
        )
    with pytest.raises(PipelineFileError) as refused:
        load_pipeline(text, "old.yaml")
    message = str(refused.value)
    assert f"{given} was part of Haystack 2; Haystack 3 does not have it: " in message
    assert part in message


@pytest.mark.parametrize("given", ["haystack.components.generators.openai.OpenAIGenerater", "mine.OpenAIGenerator"])
def test_another_unknown_class_is_not(given: str) -> None:
    with pytest.raises(PipelineFileError) as refused:
        load_pipeline(f"components: {{g: {{type: {given}, init_parameters: {{}}}}}}\nconnections: []\n", "old.yaml")
    assert "Haystack 2" not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [
        "haystack.Pipeline",
        "haystack.components.agents.Agent",
        "haystack.components.builders.ChatPromptBuilder",
        "haystack.components.generators.OpenAIImageGenerator",
        "haystack.components.generators.chat.AzureOpenAIChatGenerator",
        "haystack.components.generators.chat.OpenAIChatGenerator",
    ],
)
def test_what_takes_their_place_is_there(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert hasattr(import_module(module), name)


def test_no_class_of_this_haystack_is_called_removed() -> None:
    import haystack.components.generators.chat
    import haystack.components.rankers  # noqa: F401 - imported to register what they hold
    from haystack import component

    here = {path.rpartition(".")[2] for path in component.registry if path.startswith("haystack.")}
    assert here
    assert not here & {*_removed._MOVED, *_removed._IN_PLACE}


def _install(versions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        try:
            return versions[package]
        except KeyError:
            raise PackageNotFoundError(package) from None

    monkeypatch.setattr(_platform, "version", version)
