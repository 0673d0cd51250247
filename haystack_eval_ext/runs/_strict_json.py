# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON that every reader takes: NaN becomes null, infinities are refused, and a file appears whole or not at all."""

import json
import math
from typing import Any

from haystack_eval_ext.runs._lines import FilePath
from haystack_eval_ext.runs._whole_files import write_whole


def strict_json(value: Any) -> str:
    """
    Write a value as strict JSON.

    ```python
    from haystack_eval_ext.runs._strict_json import strict_json

    print(strict_json({"score": float("nan"), "rows": 2}))
    # {
    #   "score": null,
    #   "rows": 2
    # }
    ```

    :param value: Dicts, lists and plain values; what JSON does not know is written as its text.
    :returns: The JSON, ending in a line break. Non-ASCII stays readable unless a text holds a lone surrogate.
    :raises ValueError: If a number is infinite.
    """
    clean = _nan_to_null(value)
    text = json.dumps(clean, allow_nan=False, ensure_ascii=False, indent=2, default=str) + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(clean, allow_nan=False, indent=2, default=str) + "\n"
    return text


def write_strict_json(path: FilePath, value: Any) -> None:
    """
    Write a value into a file as strict JSON; the file appears whole or not at all.

    :param path: The file, replaced if it is there.
    :param value: As in :func:`strict_json`.
    :raises ValueError: If a number is infinite.
    :raises OSError: If the file cannot be written.
    """
    write_whole({path: strict_json(value).encode("utf-8")})


def _nan_to_null(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _nan_to_null(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_nan_to_null(entry) for entry in value]
    return value
