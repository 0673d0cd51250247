# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists of texts as Python prints them, which is how pandas and others write a list into a CSV cell."""

import re

from haystack_eval_ext.errors import InvalidValueError

_LITERAL = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)\"""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\\'\"nrt])|(.?))", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t"}
_SPACE = re.compile(r"\s*")


def python_list(text: str) -> list[str]:
    r"""
    Read a list of quoted texts as `repr` writes it; nothing is executed.

    ```python
    from haystack_eval_ext.runs._python_lists import python_list

    print(python_list('''["it's", 'b']'''))
    # ["it's", 'b']
    ```

    :param text: Such as `['a', 'b']`.
    :returns: The texts.
    :raises ValueError: If it is something else; the message holds none of the text.
    """
    body = text.strip()
    if not (body.startswith("[") and body.endswith("]")):
        msg = "no list of texts in square brackets"
        raise InvalidValueError(msg)
    end = len(body) - 1
    found: list[str] = []
    place = _skip(body, 1)
    while place < end:
        literal = _LITERAL.match(body, place, end)
        if literal is None:
            msg = f"entry {len(found) + 1} of the list is no quoted text"
            raise InvalidValueError(msg)
        found.append(_ESCAPE.sub(_unescaped, literal[1] if literal[1] is not None else literal[2]))
        place = _skip(body, literal.end())
        if place < end:
            if body[place] != ",":
                msg = f"no comma behind entry {len(found)} of the list (numpy prints arrays without)"
                raise InvalidValueError(msg)
            place = _skip(body, place + 1)
    return found


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return place if match is None else match.end()


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is not None:
        number = int(code, 16)
        if number > 0x10FFFF:  # noqa: PLR2004 - the last code point
            msg = "an escape that is no character"
            raise InvalidValueError(msg)
        return chr(number)
    if match[4] is None:
        msg = "an escape that Python's repr does not write"
        raise InvalidValueError(msg)
    return _SIMPLE.get(match[4], match[4])
