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
# Names are matched in lower case, with _ between their words.
_WORDS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:"
    # Keys of doors, not of tables: "join_keys" and "key_field" are parameters like others.
    r"(?:api|access|account|admin|auth|client|encryption|functions?|license|master|private|secret|security|shared"
    r"|signing|ssh|storage|subscription)_?keys?"
    r"|passw(?:or)?ds?|pwd|pass(?:phrase|code)|secrets?|credentials?|bearer|o?auth|authorization|cookies?|sig"
    r")$"
)
_TOKEN = re.compile(r"(?:^|_)tokens?$")
# Words of a language model, or a number of them.
_MODEL_TOKEN = re.compile(
    r"(?:^|_)(?:bos|cls|completion|end|eos|image|input|mask|max|min|new|num|output|pad|prompt|sep|special|split|start"
    r"|stop|total|unk)(?:_(?:completion|generated|input|new|output|prompt|special))?_tokens?$"
)
_LOGIN = re.compile(r"(?<=://)[^/\s?#]+(?=@)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.:-]*://\S+", re.IGNORECASE)
_QUERY_VALUE = re.compile(r"(?<=[?&])(?!api-version=|version=)([^=&#\s]+)=[^&#\s]+", re.IGNORECASE)
# As connection texts have them: "Server=host;Password=...".
_PAIR = re.compile(
    r"\b(password|passwd|pwd|accountkey|sharedaccesskey|sharedaccesssignature|api_?key)(\s*=\s*)"
    r"""("[^"]*"|'[^']*'|[^;&\s"'{]+)""",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?i:bearer)\s+\S{8,}|(?i:basic|token|apikey)\s+(?=\S*[0-9=])\S{8,}")


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
    return _cleaned(value, is_secret=_is_secret(name))


def _cleaned(value: Any, *, is_secret: bool) -> Any:
    if isinstance(value, dict):
        if value.get("type") == "env_var" and value.keys() <= {"type", "env_vars", "strict"}:
            return value
        # The type says which class reads the rest.
        return {
            key: _cleaned(entry, is_secret=key != "type" and (is_secret or _is_secret(str(key))))
            for key, entry in value.items()
        }
    if isinstance(value, list | tuple):
        return [_cleaned(entry, is_secret=is_secret) for entry in value]
    if not isinstance(value, str):
        return value
    if is_secret or _HEADER.fullmatch(value):
        return _HIDDEN
    text = _LOGIN.sub("...", value)
    if _ADDRESS.fullmatch(text):
        text = _QUERY_VALUE.sub(r"\1=...", text)
    return _PAIR.sub(rf"\1\2{_HIDDEN}", text)


def _is_secret(name: str) -> bool:
    words = _WORDS.sub("_", name).lower().strip("_")
    if _SECRET_NAME.search(words):
        return True
    return bool(_TOKEN.search(words)) and not _MODEL_TOKEN.search(words)
