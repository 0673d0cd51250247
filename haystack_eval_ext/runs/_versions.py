# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What made the numbers of a run."""

import platform
from importlib.metadata import version

from haystack_eval_ext._version import __version__


def versions() -> dict[str, str]:
    """
    Name what made the numbers.

    :returns: Versions by distribution, and Python's.
    """
    return {
        "haystack-ai": version("haystack-ai"),
        "haystack-eval-ext": __version__,
        "python": platform.python_version(),
    }
