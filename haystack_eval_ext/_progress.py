# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The progress bar of what waits for a model."""

import os
from typing import Any


def progress(name: str, total: int, *, shown: bool) -> Any:
    """
    Make a progress bar, for a ``with`` statement.

    :param name: What is going on.
    :param total: How many steps there are.
    :param shown: Whether the user wants one; never where standard error is no terminal, or TQDM_DISABLE is set.
    :returns: The bar.
    """
    from tqdm import tqdm

    off = not shown or os.environ.get("TQDM_DISABLE", "").lower() in ("1", "true", "yes")
    # None: shown on a terminal only.
    return tqdm(total=total, desc=name, disable=True if off else None)
