# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes init parameters in a pipeline's YAML before the pipeline is made."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from typing import Any

from haystack.core.component import component
from haystack.marshal import YamlMarshaller

from haystack_eval_ext.errors import TargetError, parameter
from haystack_eval_ext.runs._names import nearest

_OVERRIDES = parameter("overrides")
_QUOTED = ("[", '"', "'")
_QUOTED_OR_NULL = re.compile(r"""null|~|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""", re.DOTALL)


def read_yaml(text: str, name: str) -> dict[str, Any]:
    """
    Parse a pipeline's YAML.

    :param text: The YAML.
    :param name: The file's name, for messages.
    :returns: What it holds.
    :raises TargetError: If it holds no mapping with components.
    """
    try:
        value = YamlMarshaller().unmarshal(text)
    except Exception as error:  # of the YAML reader, whose messages quote the file
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (near line {mark.line + 1})"
        msg = f"{name}: not valid YAML{where}. Expected what Pipeline.dumps() writes."
        raise TargetError(msg) from error
    components = value.get("components") if isinstance(value, dict) else None
    if not isinstance(components, dict) or not all(isinstance(entry, dict) for entry in components.values()):
        msg = f"{name}: not a pipeline. Expected YAML with components, as Pipeline.dumps() writes it."
        raise TargetError(msg)
    return dict(value)


def override(text: str, overrides: Mapping[str, Any], name: str) -> str:
    """
    Set init parameters.

    :param text: The pipeline's YAML.
    :param overrides: Values by "component.parameter"; further dots reach into a parameter that is a mapping, or into
        the init parameters of one that is an object, such as a document store. A text is read as a YAML scalar, or as a
        list or mapping in brackets: "5" is a number, "'5'" a text, "null" None. What is a text in the file stays one.
    :param name: The file's name, for messages.
    :returns: The changed YAML.
    :raises TargetError: If there is no such component, or a text is not YAML.
    """
    value = read_yaml(text, name)
    components = value["components"]
    for key, given in overrides.items():
        found, path = split_key(key, components)
        path = _whole_path(components[found].get("init_parameters"), path)
        place = components[found].setdefault("init_parameters", {})
        if place is None:
            place = components[found]["init_parameters"] = {}
        for step in path[:-1]:
            inner = place.setdefault(step, {}) if isinstance(place, dict) else None
            if inner is None and isinstance(place, dict):
                inner = place[step] = {}
            if not isinstance(inner, dict):
                msg = f"{_OVERRIDES}: {key} reaches into {step!r}, which is no mapping; set {found}.{path[0]} whole."
                raise TargetError(msg)
            place = inner
        place[path[-1]] = _typed(key, given, place.get(path[-1]))
    return YamlMarshaller().marshal(value)


def split_key(key: str, components: Mapping[str, Any]) -> tuple[str, list[str]]:
    """
    Split "component.parameter".

    :param key: The key of an override.
    :param components: The components by name; Haystack allows no dots in one.
    :returns: The component and the path of names below it.
    :raises TargetError: If there is no such component.
    """
    owner, dot, path = key.partition(".")
    if not dot or not all(path.split(".")):
        msg = f"{_OVERRIDES}: {key!r} must be component.parameter."
        raise TargetError(msg)
    if owner not in components:
        msg = f"{_OVERRIDES}: the pipeline has no component {owner!r}{nearest(owner, components)}"
        raise TargetError(msg)
    return owner, path.split(".")


def check_parameters(text: str, overrides: Mapping[str, Any], name: str) -> None:
    """
    Check that the parameters exist; called when loading has imported the components, whether it worked or not.

    :param text: The YAML before the change.
    :param overrides: As in :func:`override`.
    :param name: The file's name, for messages.
    :raises TargetError: If a component has no such parameter; the message names the nearest.
    """
    components = read_yaml(text, name)["components"]
    for key in overrides:
        owner, path = split_key(key, components)
        _check_path(owner, components[owner], path)


def _check_path(where: str, node: Mapping[str, Any], path: list[str]) -> None:
    """Check the names on a path: an object's init parameters are known, the keys of a mapping are not."""
    step, *rest = path
    given = node.get("init_parameters") or {}
    if step not in given:
        _check_name(where, str(node.get("type")), step)
        return
    inner = given[step]
    while rest and isinstance(inner, Mapping):
        if _is_object(inner):
            rest = rest[1:] if rest[0] == "init_parameters" else rest
            if rest and rest[0] != "type":
                _check_path(f"{where}.{step}", inner, rest)
            return
        inner, rest = inner.get(rest[0]), rest[1:]


def _check_name(where: str, class_name: str, name: str) -> None:
    module, _, short = class_name.rpartition(".")
    # A class that loading has not imported stays unknown.
    kind: Any = component.registry.get(class_name) or getattr(sys.modules.get(module), short, None)
    if kind is None:
        return
    # Not of the class itself: Haystack's metaclass hides what its __init__ takes.
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    names = [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]
    if name not in names and not any(each.kind is each.VAR_KEYWORD for each in parameters):
        msg = f"{_OVERRIDES}: {where} ({short}) has no init parameter {name!r}{nearest(name, names)}"
        raise TargetError(msg)


def _whole_path(value: Any, path: list[str]) -> list[str]:
    """A path with "init_parameters" put in where it leads into an object."""
    whole = []
    for step in path:
        if _is_object(value) and step not in ("type", "init_parameters"):
            whole.append("init_parameters")
            value = value["init_parameters"]
        whole.append(step)
        value = value.get(step) if isinstance(value, Mapping) else None
    return whole


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) and {"type", "init_parameters"} <= value.keys()


def _typed(key: str, given: Any, before: Any) -> Any:
    """
    A YAML scalar, a list in brackets or a mapping in braces; prose such as "Answer: {{ question }}" stays a text.

    What is a text in the file stays one, whatever it looks like, unless it is quoted or null.
    """
    if not isinstance(given, str):
        return given
    if isinstance(before, str) and not _QUOTED_OR_NULL.fullmatch(given.strip()):
        return given
    try:
        value = YamlMarshaller().unmarshal(given)
    except Exception as error:  # of the YAML reader, whose messages quote the value
        if not given.lstrip().startswith(_QUOTED):
            return given
        msg = f"{_OVERRIDES}: the value of {key} starts like a YAML list or quotation but does not end so."
        raise TargetError(msg) from error
    in_block = isinstance(value, list | dict) and not given.lstrip().startswith(("[", "{"))
    return given if in_block else value
