# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Components whose init parameters are plain values as dictionaries."""

import copy
import inspect
from typing import Any

from haystack import default_to_dict


def parameters_to_dict(component: Any) -> dict[str, Any]:
    """
    Serialize a component by its init parameters, each kept as the attribute of that name.

    :param component: A component whose parameters are strings, numbers, bools, lists, dicts or None.
    :returns: Haystack's dictionary form, which shares nothing with the component.
    """
    names = [name for name in inspect.signature(type(component).__init__).parameters if name != "self"]
    return default_to_dict(component, **{name: copy.deepcopy(getattr(component, name)) for name in names})
