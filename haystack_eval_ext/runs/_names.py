# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What was probably meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def close_names(given: str, names: Iterable[str]) -> list[str]:
    """
    Find names that may have been meant.

    :param given: An unknown name.
    :param names: Those that exist.
    :returns: The three most similar at most, whatever their case, then those that end so behind a dot: "nDCG@10" means
        "ranking.nDCG@10" too.
    """
    by_lower = {name.lower(): name for name in names}
    found = [by_lower[match] for match in get_close_matches(given.lower(), by_lower, n=3, cutoff=0.5)]
    return found + [
        name for lower, name in by_lower.items() if lower.endswith("." + given.lower()) and name not in found
    ]


def nearest(given: str, names: Iterable[str]) -> str:
    """
    End a sentence about an unknown name.

    :param given: The unknown name.
    :param names: Those that exist.
    :returns: "; did you mean X, Y? ..." or what there is.
    """
    known = list(names)
    close = close_names(given, known)
    has = f"there is {', '.join(known)}." if known else "there is none."
    return f"; did you mean {' or '.join(close)}? (All: {', '.join(known)}.)" if close else f"; {has}"
