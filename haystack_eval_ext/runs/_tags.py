# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Which tags slices are formed by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.runs._scored import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def chosen_tags(by: str | Sequence[str], tags: Iterable[Sequence[str]]) -> list[str]:
    """
    Find the tags that a user asks for.

    :param by: A tag, "lang" for all of "lang:de" and "lang:en", or "*" for every tag; or several of these.
    :param tags: The tags of each row.
    :returns: The tags, each once.
    :raises ValueError: If one asked for is none of the rows'.
    """
    present = sorted({tag for row in tags for tag in row})
    chosen: list[str] = []
    for wanted in [by] if isinstance(by, str) else by:
        found = [tag for tag in present if wanted in ("*", tag) or tag.startswith((f"{wanted}:", f"{wanted}="))]
        if not found:
            msg = f"by must name tags of the rows, but '{wanted}' is none ({nearest(wanted, present)})."
            raise InvalidValueError(msg)
        chosen += found
    return list(dict.fromkeys(chosen))
