# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What was probably meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(given: str, names: Iterable[str]) -> str:
    """
    End a sentence about an unknown name.

    :param given: The unknown name.
    :param names: Those that exist.
    :returns: "; did you mean X, Y? ..." or what there is.
    """
    known = list(names)
    close = get_close_matches(given, known, n=3, cutoff=0.5)
    has = f"there is {', '.join(known)}." if known else "there is none."
    return f"; did you mean {' or '.join(close)}? (All: {', '.join(known)}.)" if close else f"; {has}"
