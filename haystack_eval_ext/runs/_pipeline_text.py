# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline as YAML that can be kept: secrets only as references to environment variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from haystack.marshal import YamlMarshaller

from haystack_eval_ext._secret_shapes import HEADER, hidden, names_secret

if TYPE_CHECKING:
    from haystack import Pipeline

_HIDDEN = "(not kept)"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.:-]*://\S+", re.IGNORECASE)
_QUERY_VALUE = re.compile(r"(?<=[?&])(?!api-version=|version=)([^=&#\s]+)=[^&#\s]+", re.IGNORECASE)


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
    :returns: A copy, with all texts under names such as `api_key` or `auth` replaced, and logins, passwords and query
        values inside addresses. A secret that is a reference to environment variables stays.
    """
    return _cleaned(value, is_secret=names_secret(name))


def _cleaned(value: Any, *, is_secret: bool) -> Any:
    if isinstance(value, dict):
        if value.get("type") == "env_var" and value.keys() <= {"type", "env_vars", "strict"}:
            return value
        # The type says which class reads the rest.
        return {
            key: _cleaned(entry, is_secret=key != "type" and (is_secret or names_secret(str(key))))
            for key, entry in value.items()
        }
    if isinstance(value, list | tuple):
        return [_cleaned(entry, is_secret=is_secret) for entry in value]
    if not isinstance(value, str):
        return value
    if is_secret or HEADER.fullmatch(value):
        return _HIDDEN
    text = _QUERY_VALUE.sub(r"\1=...", value) if _ADDRESS.fullmatch(value) else value
    return hidden(text, _HIDDEN, login="...")
