# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a text denies, by words of negation: a rule for short answers in the commoner languages, no grammar."""

from __future__ import annotations

import re
from functools import cache

#: Stands for what was taken out. A symbol and no punctuation, so that no run of words reaches across it.
GAP = " ¬ "

# Words that deny what follows. Bare "no" and Italian "mai" are left out: Portuguese "no Brasil", German "5. Mai".
_WORDS = (
    "not|cannot|can['’]?t|[a-z]+n['’]t|never|neither|nor|no longer|nicht|keine?[nmrs]?|nie|niemals|n['’]est|"
    "jamais|niet|geen|nooit|inte|não|nunca|nie jest|no (?:es|son|se|puede\\w*|está\\w*|fue|hay)|"
    # In capitals these are short for something: "NE Lincoln". French "ne" alone denies nothing ("ne ... que").
    r"(?-i:[Nn]e)(?:[ \t]+[^\s,;:.!?…]+){0,3}?[ \t]+(?:pas|plus|jamais|point)|(?-i:[Pp]as)|"
    r"(?-i:[Nn]on)(?!-|[ \t]+(?:profit|fiction|stop|smok|resident|native|member|standard|commercial|government|grata))"
)
# "The novel Never Let Me Go": within a sentence a negation in title case is part of a name.
_NAME = r"(?-i:(?<=[a-zß-ÿ,;:][ \t])[A-Z][a-z]+[ \t]+[A-Z])"
# "not later than the 5th", "may not exceed 25 days" and "not only Paris" deny nothing of what they name.
_LIMITS = (
    "than|exceeds?|dépass\\w*|before|until|only|just|später|mehr|nur|vor|plus|seulement|solo|sólo|más|meer|alleen|"
    "apenas|mais de"
)
# What stands against the denied words: "not Lyon but Paris".
_BUT = "but|sondern|mais|sino|mas|maar|utan|bensì|ma"
_WORD = r"(?:[^\s,;:.!?…]|[.,:](?=\d))+"
_DENIED = 3


@cache
def _denials() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Negations with what they deny; the second in scripts without spaces, and Korean, where most come behind."""
    spaced = (
        rf"(?<![\w'’])(?!{_NAME})(?:{_WORDS})(?![\w'’])"
        rf"(?!(?:[ \t]+{_WORD}){{0,2}}?[ \t]+(?:{_LIMITS})\b)"
        rf"(?:[ \t]+(?!(?:{_BUT})\b){_WORD}){{0,{_DENIED}}}"
    )
    behind = (
        r"[^\s、。，,.「」はがもを]+(?:では|じゃ)(?:ない|なく|なかった|ありません)"
        r"|(?:不是|并非|並非)[^\s，,。；;、而]{1,12}"
        r"|\S+ (?:아니|아닙|아닌)\w*"
    )
    return re.compile(spaced, re.IGNORECASE), re.compile(behind)


def affirmed(text: str) -> str:
    """
    Take out of a text what it denies: a negation and up to three words after it in the same clause.

    ```python
    from haystack_eval_ext.answers._negation import affirmed

    print(affirmed("It is not Lyon but Paris."), affirmed("首都はパリではありません。"), affirmed("Not only Paris"))
    # It is  ¬  but Paris. 首都は ¬ 。 Not only Paris
    ```

    :param text: Any text.
    :returns: The text with a gap for each denial.
    """
    spaced, behind = _denials()
    text = spaced.sub(GAP, text)
    return text if text.isascii() else behind.sub(GAP, text)
