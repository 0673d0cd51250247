# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""An answer that cannot be read costs its row; if the first ones all cannot be read, the target is at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from haystack_eval_ext.runs._asking import Job

# So many unreadable answers, and no readable one, are no accident.
_ENOUGH = 3
Ended = tuple["Job", dict[str, Any] | None]


def settled(ended: Iterable[Ended], count: int, *, proven: bool) -> Iterator[Ended]:
    """
    Hold unreadable answers back until a readable one shows that the target can give some.

    What is held back when the run stops is not kept, so that the run can go on once the target is mended.

    :param ended: Questions with their records, as they end; None for one that was given up.
    :param count: How many there are.
    :param proven: Whether the target has given a readable answer before.
    :returns: The same, each once.
    :raises TargetError: If the first answers all cannot be read; it names their rows.
    """
    held: list[Ended] = []
    for each in ended:
        record = each[1]
        if not proven and record is not None and _is_unreadable(record):
            held.append(each)
            if len(held) == min(_ENOUGH, count):
                raise TargetError(_message(held))
            continue
        if record is not None and record["status"] == "ok":
            proven = True
        if proven:
            yield from held
            held = []
        yield each
    yield from held


def _is_unreadable(record: dict[str, Any]) -> bool:
    return bool(record["status"] == "error" and record["error"]["class"] == TargetError.__name__)


def _message(held: list[Ended]) -> str:
    reason = "" if held[-1][1] is None else held[-1][1]["error"]["reason"]
    rows = ", ".join(dict.fromkeys(str(job.row["id"]) for job, _ in held))
    return f"{reason} So it was with every answer that came (row{'s' if ',' in rows else ''} {rows})."
