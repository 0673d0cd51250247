# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The set-up of a run as its manifest records it: each pipeline as a flat table of parameters, and what else counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from haystack.marshal import YamlMarshaller

from haystack_eval_ext.runs._fingerprints import text_hash
from haystack_eval_ext.runs._pipeline_text import without_secrets
from haystack_eval_ext.runs._plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: By name what is set; None for a part that is not recorded.
Part = dict[str, Any]
Setup = dict[str, Part | None]

RAG, INDEX, EVALUATION = "RAG pipeline", "indexing pipeline", "evaluation pipeline"
PIPELINES = {RAG: "rag", INDEX: "index", EVALUATION: "evaluation"}
CORPUS, TARGET = "corpus", "target"
#: Of a manifest that keeps no pipelines.
SETUP = "setup"
# Names and numbers in any notation; everything else may be prose, such as a prompt.
_NAME = re.compile(r"[\w./:@+=-]{0,80}", re.ASCII)
_HIDDEN = re.compile(r"text of \d+ characters, sha256 [0-9a-f]{16}")
_RANDOM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_SETTING = ("scored_again",)


def setup_of(manifest: Mapping[str, Any]) -> Setup:
    """
    Give the set-up of a run.

    :param manifest: The manifest of a run, or of a baseline.
    :returns: By part what is set.
    """
    kept: Setup = manifest.get(SETUP) or _recorded(manifest)
    settings = manifest.get("settings") or {}
    stored = {"data": {"file": (manifest.get("data") or {}).get("file")}} if kept.get(RAG) is None else {}
    return {
        **kept,
        **stored,
        "settings": {
            name: value
            for key, each in settings.items()
            if key not in _NO_SETTING
            for name, value in _flat(key, each)
            if value is not None
        },
        "versions": dict(manifest.get("versions") or {}),
    }


def setup_without_texts(manifest: Mapping[str, Any]) -> Setup:
    """
    Give what a run without texts, or a baseline, keeps of its set-up.

    :param manifest: The manifest of the run.
    :returns: By part what is set; of prompts and other prose only whether it is equal.
    """
    kept: Setup = manifest.get(SETUP) or _recorded(manifest)
    return {part: None if held is None else without_prose(held) for part, held in kept.items()}


def without_prose(value: Any) -> Any:
    """
    Put a hash in the place of prose.

    :param value: A plain value.
    :returns: The value, in which a text that is no name or number is its length and the beginning of its hash.
    """
    if isinstance(value, dict):
        return {name: without_prose(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [without_prose(entry) for entry in value]
    if not isinstance(value, str) or _NAME.fullmatch(value) or _HIDDEN.fullmatch(value):
        return value
    return f"text of {len(value)} characters, sha256 {text_hash(value)[:16]}"


def components_in(part: Part) -> dict[str, Part]:
    """
    Find the components of a pipeline.

    :param part: The pipeline.
    :returns: By component its `type` and its `init_parameters`, by their paths inside it.
    """
    names = [name for name, value in part.items() if "." not in name and " " not in name and isinstance(value, str)]
    found: dict[str, Part] = {name: {"type": part[name], "init_parameters": {}} for name in names}
    for path, value in part.items():
        name, dot, inner = path.partition(".")
        if dot and name in found:
            found[name]["init_parameters"][inner] = value
    return found


def _recorded(manifest: Mapping[str, Any]) -> Setup:
    pipelines = manifest.get("pipelines") or {}
    setup: Setup = {part: _pipeline(pipelines.get(key)) for part, key in PIPELINES.items()}
    if setup[INDEX] is None and pipelines and pipelines.get("index") is None:
        setup[INDEX] = {}  # nothing was indexed
    models = list((manifest.get("rag_usage") or {}).get("tokens") or {})
    if models and setup[RAG] is not None:
        # What the service calls them: an alias may have come to mean another one.
        setup[RAG]["models named in the replies"] = sorted(models)  # type: ignore[index]
    metrics = list((manifest.get("metrics") or {}).values())
    if setup[EVALUATION] is not None:
        judges = {name for each in metrics if each.get("judge") for name in each["judge"].get("models") or []}
        prompts = {name: version for each in metrics for name, version in (each.get("prompts") or {}).items()}
        setup[EVALUATION].update({f"prompt {name}": version for name, version in prompts.items()})  # type: ignore[union-attr]
        if judges:
            setup[EVALUATION]["judges named in the replies"] = sorted(judges)  # type: ignore[index]
    # Stored outputs come from a corpus that nobody has described.
    setup[CORPUS] = None if setup[RAG] is None and not manifest.get("corpus") else dict(manifest.get("corpus") or {})
    if pipelines.get("rag_name"):
        setup[TARGET] = {"name": pipelines["rag_name"]}
    return setup


def _pipeline(text: Any) -> Part | None:
    if not isinstance(text, str):
        return None
    try:
        value = without_secrets(plain(YamlMarshaller().unmarshal(text)))
        components = value.pop("components")
        connections = value.pop("connections", None) or []
        found: Part = {}
        for name, held in components.items():
            found.update(_flat(name, {"type": held["type"], "init_parameters": held.get("init_parameters") or {}}))
        found |= {f"connection {each['sender']} to {each['receiver']}": "connected" for each in connections}
        for key, each in value.items():
            found.update(_flat(f"section {key}", each))
    except Exception:  # whatever a hand has made of a manifest
        return None
    return found


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value by the paths of its leaves, as `--set` writes them: an object's parameters stand right below it."""
    if isinstance(value, dict) and value.get("type") == "env_var":
        yield path, f"environment variable {' or '.join(map(str, value.get('env_vars') or []))}"
    elif isinstance(value, dict) and isinstance(value.get("init_parameters"), dict) and "type" in value:
        yield path, value["type"]
        for name, each in value["init_parameters"].items():
            yield from _flat(f"{path}.{name}", _without_random(name, each))
    elif isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _flat(f"{path}.{name}", each)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for number, each in enumerate(value):
            yield from _flat(f"{path}[{number}]", each)
    else:
        yield path, value


def _without_random(name: str, value: Any) -> Any:
    """An in-memory store without a name has a random one, which says nothing."""
    return None if name == "index" and isinstance(value, str) and _RANDOM.fullmatch(value) else value
