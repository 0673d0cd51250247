# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Names that moved to _items.py, until all modules take them from there."""

from haystack_eval_ext.judged._items import judged_example, reference_texts

__all__ = ["judged_example", "reference_texts"]
