# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What is evaluated: a RAG pipeline from YAML or Python, a SuperComponent, an Agent, or a function of a question."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import date
from numbers import Number
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_eval_ext._foreign import learn_secrets
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import PipelineFileError, TargetError, parameter
from haystack_eval_ext.judged._limits import wait
from haystack_eval_ext.runs._borrowed import borrow
from haystack_eval_ext.runs._faults import describe_fault
from haystack_eval_ext.runs._fingerprints import canonical, order_free_hash, text_hash
from haystack_eval_ext.runs._loading import load_pipeline, read_pipeline_text
from haystack_eval_ext.runs._names import nearest
from haystack_eval_ext.runs._overrides import check_parameters, override, read_yaml
from haystack_eval_ext.runs._questions import QUERY_NAMES, Sections, read_sections
from haystack_eval_ext.runs._stores import document_stores, is_component, storage_key

__all__ = ["Target", "TargetError", "as_target", "load_target"]

_YAML = (".yaml", ".yml")
_PYTHON = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_FORMS = "a pipeline's YAML file, or module:name of something in Python, such as my_rag:make_pipeline"
_RESULTS = "a Pipeline, a component (such as a SuperComponent or an Agent), or a function of a question"


@dataclass(frozen=True)
class Target:
    """
    A system that answers questions one by one.

    :param name: Its file, "module:name", or what Python calls it.
    :param pipeline: The pipeline; a single component stands alone in one. None for a function.
    :param function: The function; None for a pipeline.
    :param yaml: The YAML it was made of, with the overrides; None if it was made in Python.
    :param sections: The sections `inputs` and `outputs` of the YAML.
    :param source: A hash of the Python source it was made by, if any.
    :param needs: Of "answer", "contexts" and "documents" what a function must give from its first answer on.
    """

    name: str
    pipeline: Pipeline | None = None
    function: Callable[[str], Any] | None = None
    yaml: str | None = None
    sections: Sections = field(default_factory=lambda: {"inputs": {}, "outputs": {}})
    source: str | None = None
    needs: frozenset[str] = frozenset()

    def fingerprint(self) -> str:
        """
        Hash everything that is known to decide the answers.

        That is YAML or parameters, Python source, and the documents of in-memory stores with their content and
        metadata. The random name of an in-memory store is left out: it differs from process to process.

        :returns: 64 hexadecimal digits.
        """
        parts = [["name", self.name if self.yaml is None else ""], ["yaml", self.yaml], ["source", self.source]]
        if self.pipeline is not None:
            if self.yaml is None:
                parts.append(["parameters", _parameters(self.pipeline)])
            hashes: dict[Any, str] = {}
            for found in document_stores(self.pipeline):
                # Only the stores of this process can be looked through at no cost.
                if found.reads and isinstance(found.store, InMemoryDocumentStore):
                    key = storage_key(found.store)
                    if key not in hashes:
                        hashes[key] = order_free_hash(map(_document_hash, found.store.filter_documents()))
                    parts.append(["documents", found.component, hashes[key]])
        return order_free_hash(parts)


def load_target(text: str | os.PathLike[str], *, overrides: Mapping[str, Any] | None = None) -> Target:
    """
    Load what is to be evaluated.

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack import Pipeline
    from haystack.components.builders import PromptBuilder
    from haystack_eval_ext.runs.targets import load_target

    pipeline = Pipeline()
    pipeline.add_component("prompt", PromptBuilder("Answer {{ question }}"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rag.yaml"
        file.write_text(pipeline.dumps(), "utf-8")
        target = load_target(file, overrides={"prompt.template": "Answer in one word: {{ question }}"})
    print(target.pipeline.get_component("prompt").run(question="Why?"))
    # {'prompt': 'Answer in one word: Why?'}
    ```

    :param text: A pipeline's YAML file, which may have the sections `inputs` and `outputs`, or "module:name". The
        current folder is importable. The name is a Pipeline, a component, a function of a question that returns a dict
        or the answer's text, also an async one, or a function without mandatory parameters that makes one of these.
    :param overrides: Init parameters by "component.parameter", for YAML only; texts are read as YAML scalars.
    :returns: The target.
    :raises TargetError: If it cannot be made; the message says why, and holds no text of a prompt or document.
    """
    given = os.fspath(text)
    path = Path(given)
    if given.lower().endswith(_YAML) or path.is_file():
        return _from_yaml(path, overrides or {})
    if not _PYTHON.fullmatch(given):
        msg = f"The RAG target {given!r} is no file and not module:name. Expected {_FORMS}."
        raise TargetError(msg)
    if overrides:
        msg = f"{parameter('overrides')} is for a pipeline's YAML, but {given} is made in Python: change it there."
        raise TargetError(msg)
    return _from_python(given)


def as_target(value: Any) -> Target:
    """
    Take what Python users have at hand.

    :param value: A Target, a Pipeline, a component, a function of a question, a function of nothing that makes one of
        these, or what :func:`load_target` takes.
    :returns: The target.
    :raises TargetError: If it is none of these.
    """
    if isinstance(value, Target):
        return value
    if isinstance(value, str | os.PathLike):
        return load_target(value)
    if not isinstance(value, Pipeline) and not is_component(value) and not callable(value):
        msg = f"target must be {_RESULTS}, or {_FORMS}, but is {describe(value)}."
        raise TargetError(msg)
    name = getattr(value, "__qualname__", type(value).__name__)
    return _target(_made(value, name), name=name, source=_source_of(value))


def _from_yaml(path: Path, overrides: Mapping[str, Any]) -> Target:
    try:
        text = read_pipeline_text(path)
    except PipelineFileError as error:
        raise TargetError(str(error)) from error
    sections = read_sections(read_yaml(text, path.name), path.name)
    changed = override(text, overrides, path.name) if overrides else text
    try:
        pipeline = load_pipeline(changed, path.name)
    except PipelineFileError as error:
        check_parameters(text, overrides, path.name)
        raise TargetError(str(error)) from error
    check_parameters(text, overrides, path.name)
    if not pipeline.graph.nodes:
        msg = f"{path.name}: the pipeline has no components."
        raise TargetError(msg)
    return Target(path.name, pipeline=_known(pipeline), yaml=changed, sections=sections)


def _from_python(given: str) -> Target:
    module_name, _, attribute = given.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)  # stays, since what is imported may import more when it runs
    try:
        value: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            msg = f"{given}: importing {module_name} needs the module {error.name!r}, which is not installed."
        else:
            msg = f"{given}: there is no module {error.name!r} in the current folder or among the installed ones."
        raise TargetError(msg) from error
    except (Exception, SystemExit) as error:  # whatever the user's module does
        msg = f"{given}: importing {module_name} failed: {describe_fault(error, 'set-up')}"
        raise TargetError(msg) from error
    for name in attribute.split("."):
        if not hasattr(value, name):
            public = [each for each in vars(value) if not each.startswith("_")] if hasattr(value, "__dict__") else []
            msg = f"{given}: there is no {name!r}{nearest(name, public)}"
            raise TargetError(msg)
        value = getattr(value, name)
    source = _file_hash(module_name)
    return _target(_made(value, given), name=given, source=source)


def _made(value: Any, name: str) -> Any:
    """What a function makes that takes no question; anything else as it is."""
    if isinstance(value, Pipeline) or is_component(value) or not callable(value) or _takes_question(value, name):
        return value
    try:
        return value()
    except (Exception, SystemExit) as error:  # whatever the user's function does
        msg = f"{name}: making the target failed: {describe_fault(error, 'set-up')}"
        raise TargetError(msg) from error


def _target(value: Any, *, name: str, source: str | None) -> Target:
    if isinstance(value, Pipeline):
        if not value.graph.nodes:
            msg = f"{name}: the pipeline has no components."
            raise TargetError(msg)
        return Target(name, pipeline=_known(value), source=source)
    if is_component(value):
        return Target(name, pipeline=_known(_alone(value, name)), source=source)
    if callable(value) and not isinstance(value, type) and _takes_question(value, name):
        return Target(name, function=lambda question: _finished(value(question)), source=source)
    msg = f"{name} must be {_RESULTS}, but is {describe(value)}."
    raise TargetError(msg)


def _known(pipeline: Pipeline) -> Pipeline:
    """The pipeline, whose secrets no message will repeat."""
    for _, instance in pipeline.graph.nodes(data="instance"):
        learn_secrets(instance)
    return pipeline


def _finished(result: Any) -> Any:
    """What an async function gives in the end; all on one loop, since clients of services belong to their first one."""
    if not inspect.isawaitable(result):
        return result

    async def finish() -> Any:
        return await result

    return wait(finish())


def _alone(instance: Any, name: str) -> Pipeline:
    """A pipeline around one component; its name there is that of its class."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(instance).__name__.lstrip("_")).lower()
    pipeline = Pipeline()
    try:
        borrow(pipeline, words, instance)
    except Exception as error:  # of Haystack's core
        msg = f"{name}: the component cannot run alone: {describe_fault(error, 'set-up')}"
        raise TargetError(msg) from error
    return pipeline


def _takes_question(value: Any, name: str) -> bool:
    """Whether a callable takes a question, rather than making the target."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):  # some callables written in C have no signature
        return not isinstance(value, type)
    mandatory = [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    if len(mandatory) > 1 or (mandatory and mandatory[0].kind is inspect.Parameter.KEYWORD_ONLY):
        names = ", ".join(each.name for each in mandatory)
        msg = f"{name} needs {names}. Expected a function of one question, or one of none that makes it."
        raise TargetError(msg)
    return bool(mandatory) or bool(parameters and parameters[0].name in QUERY_NAMES)


def _parameters(pipeline: Pipeline) -> str:
    """What a pipeline made in Python consists of, as far as it can be written down."""
    try:
        return canonical(_without_random_names(pipeline.to_dict()))
    except Exception:  # a component without to_dict, a lambda: types and connections remain
        kinds = [[name, type(node["instance"]).__qualname__] for name, node in pipeline.graph.nodes(data=True)]
        edges = sorted(f"{sender}->{receiver}" for sender, receiver in pipeline.graph.edges())
        return canonical([kinds, edges])


def _document_hash(document: Document) -> str:
    # Embeddings follow from the content, and may differ in their last digits from one process to the next.
    blob = None if document.blob is None else hashlib.sha256(document.blob.data).hexdigest()
    parts = [document.id, document.content, document.meta, blob]
    try:
        return text_hash(json.dumps(parts, sort_keys=True, default=_settled))
    except (TypeError, ValueError):  # keys that JSON has not, or a value that holds itself: the names alone
        return text_hash(canonical([document.id, document.content, sorted(map(str, document.meta)), blob]))


def _settled(value: Any) -> Any:
    """What is the same in every process: of a set its entries in order, of an object without a value the class."""
    if isinstance(value, Set):
        return sorted(json.dumps(entry, sort_keys=True, default=_settled) for entry in value)
    return str(value) if isinstance(value, date | Number) else type(value).__qualname__


def _without_random_names(value: Any) -> Any:
    if isinstance(value, dict):
        in_memory = str(value.get("type")).endswith(".InMemoryDocumentStore")
        parameters = value.get("init_parameters")
        if in_memory and isinstance(parameters, dict):
            return {**value, "init_parameters": {k: v for k, v in parameters.items() if k != "index"}}
        return {key: _without_random_names(entry) for key, entry in value.items()}
    return [_without_random_names(entry) for entry in value] if isinstance(value, list | tuple) else value


def _file_hash(module_name: str) -> str | None:
    file = getattr(sys.modules[module_name], "__file__", None)
    try:
        return None if file is None else text_hash(Path(file).read_text("utf-8", "surrogateescape"))
    except OSError:
        return None


def _source_of(value: Any) -> str | None:
    if isinstance(value, Pipeline) or is_component(value):
        return None  # their parameters tell more
    try:
        return text_hash(inspect.getsource(value if inspect.isroutine(value) else type(value)))
    except (OSError, TypeError):
        return None
