# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline as YAML that can be kept: secrets only as references to environment variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from haystack.marshal import YamlMarshaller

if TYPE_CHECKING:
    from haystack import Pipeline

_HIDDEN = "(not kept)"
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:api|access|secret|private)_?key|token|password|secret|authorization)$", re.IGNORECASE
)
_LOGIN = re.compile(r"(?<=://)[^/@\s]+:[^/@\s]+(?=@)")


def pipeline_yaml(pipeline: Pipeline) -> str | None:
    """
    Write a pipeline as YAML.

    :param pipeline: The pipeline.
    :returns: The YAML; None if a component cannot be written down (a key given as text, a function).
    """
    try:
        return YamlMarshaller().marshal(without_secrets(pipeline.to_dict()))
    except Exception:  # whatever a component's to_dict does
        return None


def kept_yaml(text: str) -> str | None:
    """
    Take the secrets out of a pipeline's YAML.

    :param text: The YAML.
    :returns: The YAML without comments and secrets; None if it is none.
    """
    try:
        return YamlMarshaller().marshal(without_secrets(YamlMarshaller().unmarshal(text)))
    except Exception:  # of YAML's constructors
        return None


def without_secrets(value: Any, name: str = "") -> Any:
    """
    Blank out what looks like a secret in init parameters.

    :param value: Plain values.
    :param name: The parameter's name.
    :returns: A copy, with texts under names such as `api_key` and logins inside addresses replaced.
    """
    if isinstance(value, dict):
        return {key: without_secrets(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(entry, name) for entry in value]
    if isinstance(value, str):
        return _HIDDEN if _SECRET_NAME.search(name) else _LOGIN.sub("...", value)
    return value
