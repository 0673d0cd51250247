# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How the message of another program is repeated: on one line, without terminal codes and secrets, cut when long."""

from __future__ import annotations

import os
import re
import threading
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from haystack.utils import Secret

from haystack_eval_ext._secret_shapes import hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of a message that are repeated; what was cut is counted.
LONGEST = 500
_MASK = "***"
# A shorter value would be found by accident in words that are no secret.
_SHORTEST_SECRET = 8
_NAMES_OF_SECRETS = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
# Terminal codes: CSI (colours, cursor), OSC (titles, links) up to its end, and the two-character ones.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b.")
# Joiners decide how words of some scripts are written; all else of their kind turns lines around or hides.
_JOINERS = "\u200c\u200d"
# Threads learn while others repeat.
_SECRETS: set[Secret] = set()
_LEARNING = threading.Lock()


def repeated(message: str) -> str:
    r"""
    Make the message of another program fit to be shown and kept.

    ```python
    from haystack_eval_ext._foreign import repeated

    print(repeated("\x1b[31mno such\nmodel\x1b[0m"))
    # no such model
    ```

    :param message: What it says.
    :returns: One line without terminal codes, control characters and known secrets, of at most :data:`LONGEST`
        characters, and behind them how many were cut.
    """
    text = _without_codes(masked(message))
    # Once more: a code within a secret must not save it.
    text = masked(text)
    cut = len(text) - LONGEST
    return text if cut <= 0 else f"{text[:LONGEST].rstrip()}... ({cut:,} more characters)"


def learn_secrets(value: Any) -> None:
    """
    Remember the secrets of components, so that no message repeats their values.

    :param value: A component, or plain init parameters as `to_dict` gives them.
    """
    found = list(_secrets(value))
    with _LEARNING:
        _SECRETS.update(found)


def _secrets(value: Any) -> Iterator[Secret]:
    left: list[Any] = [value]
    seen: set[int] = set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Secret):
            yield one
        elif isinstance(one, Mapping):
            names = one.get("env_vars")
            if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
                yield Secret.from_env_var(names, strict=False)
            left.extend(list(one.values()))
        elif isinstance(one, list | tuple):
            left.extend(one)
        elif (one is value or hasattr(one, "__haystack_input__")) and not isinstance(one, type):
            # A component, or one within it, such as the generator of an agent.
            left.extend(list(getattr(one, "__dict__", {}).values()))


def _values() -> list[str]:
    """The values of the secrets that are known, the longest first: one may begin as another."""
    found = {value for name, value in os.environ.items() if _NAMES_OF_SECRETS.search(name)}
    with _LEARNING:
        known = tuple(_SECRETS)
    for secret in known:
        try:
            found.add(str(secret.resolve_value() or ""))
        except ValueError:  # the variable is not set
            continue
    return sorted((value for value in found if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)


def masked(text: str) -> str:
    """
    Mask secrets, and leave all else as it is.

    :param text: Any text.
    :returns: It, with those that are known and what looks like one replaced.
    """
    for value in _values():
        text = text.replace(value, _MASK)
    return hidden(text, _MASK)


def _without_codes(text: str) -> str:
    text = _ESCAPES.sub("", text)
    kept = [
        " " if character.isspace() else "\ufffd" if kind == "Cs" else "" if kind in ("Cc", "Cf") else character
        for character in text
        for kind in (unicodedata.category(character) if character not in _JOINERS else "Lo",)
    ]
    return " ".join("".join(kept).split())
