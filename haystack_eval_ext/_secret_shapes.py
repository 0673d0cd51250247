# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What looks like a secret, by its name or its form: the one table for pipelines that are kept and messages."""

from __future__ import annotations

import re

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
# The login of an address; a password may hold an @ itself.
_LOGIN = re.compile(r"(?<=://)[^/\s?#]+(?=@)")
#: The value of a header, as a whole.
HEADER = re.compile(r"(?i:bearer)\s+\S{8,}|(?i:basic|token|apikey)\s+(?=\S*[0-9=])\S{8,}")
_IN_QUERY = re.compile(r"(?<=[?&])([^=&#\s]+)=(?!\.\.\.)([^&#\s]+)")
# As connection texts, headers and printed parameters have them: "Server=host;Password=...", "x-api-key: ...".
_PAIR = re.compile(
    r"""\b(password|passwd|pwd|(?:[\w-]{1,40}[_-])?(?:account|shared|secret)?[_-]?(?:access|account|api)[_-]?key"""
    r"""|sharedaccesssignature|(?:access|auth)[_-]?token|(?:client|api)[_-]secret)(["']?\s*"""
    # Behind a colon may be a sentence.
    r"""(?:=\s*(?!None\b|null\b)|:\s*(?=["']?[^\s"']{0,200}\d)(?=["']?[^\s"']{8})))("[^"]*"|'[^']*'|[^;&,)\s"'{]+)""",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"""(\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token|apikey|digest)\s+|\bbearer\s+(?=\S{8})(?=\S{20}|\S*\d))[^\s"',;]+""",
    re.IGNORECASE,
)
# Keys that begin as those of providers, and signed tokens.
_KEY = re.compile(
    r"\b(?:(?i:sk[-_]|(?:pk|rk)(?:-|_(?:live|test)_)|hf_|gsk_|xai-|gh[oprsu][-_]|github_pat_|glpat-|xox[a-z]-)"
    r"[\w*.-]{12,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
)


def names_secret(name: str) -> bool:
    """
    Tell whether a parameter holds a secret.

    :param name: Its name, in any spelling.
    :returns: True for such as `api_key`, `x-api-key`, `auth` and `accessToken`.
    """
    words = _WORDS.sub("_", name).lower().strip("_")
    if _SECRET_NAME.search(words):
        return True
    return bool(_TOKEN.search(words)) and not _MODEL_TOKEN.search(words)


def hidden(text: str, mask: str, *, login: str | None = None) -> str:
    """
    Take out of a text what looks like a secret.

    :param text: Any text.
    :param mask: What stands for it.
    :param login: What stands for the login of an address; None: the same.
    :returns: The text without logins of addresses, keys, signed tokens, and what is given to a secret's name.
    """
    text = _LOGIN.sub(mask if login is None else login, text)
    text = _IN_QUERY.sub(lambda found: f"{found[1]}={mask}" if _in_query(found[1]) else found[0], text)
    text = _PAIR.sub(lambda found: f"{found[1]}{found[2]}{mask}", text)
    text = _SCHEME.sub(lambda found: f"{found[1]}{mask}", text)
    return _KEY.sub(mask, text)


def _in_query(name: str) -> bool:
    return name.lower() == "key" or names_secret(name)
