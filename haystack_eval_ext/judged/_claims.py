# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is asking for a reply at the moment, so that two processes with one cache pay for it once."""

from __future__ import annotations

import itertools
import os
import platform
from contextlib import suppress

_NUMBERS = itertools.count()


def new_owner() -> str:
    """
    Name somebody who claims requests: a run of an evaluator.

    :returns: Host, process, the moment when that began, and a number within it.
    """
    pid = os.getpid()
    return f"{_host()}|{pid}|{_began(pid)}|{next(_NUMBERS)}"


def is_gone(owner: str) -> bool:
    """
    Tell whether an owner's process has ended, so that nobody will answer its claims.

    :param owner: From :func:`new_owner`.
    :returns: True if it surely has; False if it runs, or if that cannot be known from here.
    """
    host, _, rest = owner.partition("|")
    if host != _host() or os.name != "posix":
        return False
    try:
        pid, began, _ = rest.split("|")
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False
    return _began(int(pid)) != began


def _host() -> str:
    """Where process numbers have one meaning: the machine, or a container of its own within it."""
    with suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def _began(pid: int) -> str:
    """When a process began, where the system tells: another process may have got its number since."""
    with suppress(OSError, IndexError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        # The name before it, in parentheses, may hold anything.
        return file.read().rpartition(")")[2].split()[19]
    return ""
