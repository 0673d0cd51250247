# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The references of a row, and examples whose verdicts must fit what they judge."""

from collections.abc import Mapping
from typing import Any


def reference_texts(given: str | list[str]) -> list[str]:
    """
    The references of a row.

    :param given: The row's value of the socket: a text or a list of texts.
    :returns: Each different text once; blank ones are no references.
    """
    return [text for text in dict.fromkeys([given] if isinstance(given, str) else given) if text.strip()]


def judged_example(outputs: Mapping[str, Any], scores: str, items: Mapping[str, Any]) -> dict[str, Any]:
    """
    The verdicts of an example of the user's.

    :param outputs: The example's outputs.
    :param scores: Under which name its verdicts stand.
    :param items: What they judge, by id.
    :returns: The verdict by id.
    :raises ValueError: If there are more or fewer verdicts than items.
    """
    given = list(outputs[scores])
    if len(given) != len(items):
        msg = f"an example's {scores} must have one verdict for each of its {len(items)} entries, but has {len(given)}."
        raise ValueError(msg)
    return dict(zip(items, given, strict=True))
