# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How the message of another program is repeated: on one line, without terminal codes and secrets, cut when long."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from haystack.utils import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of a message that are repeated; what was cut is counted.
LONGEST = 500
_MASK = "***"
# A shorter value would be found by accident in words that are no secret.
_SHORTEST_SECRET = 8
_DEEPEST = 4
_NAMES_OF_SECRETS = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
# What services themselves put into their messages: keys that begin as those of providers, headers, addresses with one.
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|xai|ghp|gho)[-_][\w*.-]{12,}"
    r"|(?<=Bearer )[\w.~+/=-]{8,}"
    r"|(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"
    r"|(?<=[?&]key=)[^\s&]+|(?<=api_key=)[^\s&,)]+",
    re.IGNORECASE,
)
# Terminal codes: CSI (colours, cursor), OSC (titles, links) up to its end, and the two-character ones.
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b.")
# Joiners decide how words of some scripts are written; all else of their kind turns lines around or hides.
_JOINERS = "\u200c\u200d"
_SECRETS: set[Secret] = set()


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
    text = _without_codes(_masked(message))
    # Once more: a code within a secret must not save it.
    text = _masked(text)
    cut = len(text) - LONGEST
    return text if cut <= 0 else f"{text[:LONGEST].rstrip()}... ({cut:,} more characters)"


def learn_secrets(value: Any) -> None:
    """
    Remember the secrets of components, so that no message repeats their values.

    :param value: A component, or plain init parameters as `to_dict` gives them.
    """
    _SECRETS.update(_secrets(value, _DEEPEST))


def _secrets(value: Any, depth: int) -> Iterator[Secret]:
    if isinstance(value, Secret):
        yield value
    elif isinstance(value, Mapping):
        names = value.get("env_vars")
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            yield Secret.from_env_var(names, strict=False)
        for entry in value.values():
            yield from _secrets(entry, depth)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _secrets(entry, depth)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type):
        # A component, or one within it, such as the generator of an agent.
        for entry in list(vars(value).values()):
            if isinstance(entry, Secret) or hasattr(entry, "__haystack_input__"):
                yield from _secrets(entry, depth - 1)


def _values() -> list[str]:
    """The values of the secrets that are known, the longest first: one may begin as another."""
    found = {value for name, value in os.environ.items() if _NAMES_OF_SECRETS.search(name)}
    for secret in _SECRETS:
        try:
            found.add(str(secret.resolve_value() or ""))
        except ValueError:  # the variable is not set
            continue
    return sorted((value for value in found if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)


def _masked(text: str) -> str:
    for value in _values():
        text = text.replace(value, _MASK)
    return _LOOKS_SECRET.sub(_MASK, text)


def _without_codes(text: str) -> str:
    text = _ESCAPES.sub("", text)
    kept = [
        " " if character.isspace() else "\ufffd" if kind == "Cs" else "" if kind in ("Cc", "Cf") else character
        for character in text
        for kind in (unicodedata.category(character) if character not in _JOINERS else "Lo",)
    ]
    return " ".join("".join(kept).split())
