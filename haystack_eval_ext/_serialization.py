# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Components as dictionaries, by their init parameters."""

import copy
import inspect
from functools import partial
from typing import Any, Self

from haystack import default_from_dict, default_to_dict
from haystack.core.serialization import component_to_dict

from haystack_eval_ext._parameters import PlainParameters


def parameters_to_dict(component: Any) -> dict[str, Any]:
    """
    Serialize a component by its init parameters, each kept as the attribute of that name.

    :param component: A component whose parameters are plain values, components, or other objects with ``to_dict``.
    :returns: Haystack's dictionary form, which shares nothing with the component.
    """
    read = component._parameter if isinstance(component, PlainParameters) else partial(getattr, component)
    names = [name for name in inspect.signature(type(component).__init__).parameters if name != "self"]
    return default_to_dict(component, **{name: _plain(name, read(name)) for name in names})


class Serialized(PlainParameters):
    """
    A component that is made of its init parameters alone.

    A plain class, since a base class decorated with ``@component`` would be rebuilt.
    """

    def to_dict(self) -> dict[str, Any]:
        """
        Serialize this component to a dictionary.

        :returns: Haystack's dictionary form, with those of nested components in it.
        :raises ValueError: If a secret was given as text instead of the name of an environment variable.
        """
        return parameters_to_dict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """
        Make a component from its dictionary.

        :param data: What :meth:`to_dict` returned; it stays as it is.
        :returns: The component.
        """
        # Some embedders' from_dict changes what it is given.
        return default_from_dict(cls, copy.deepcopy(data))


def _plain(name: str, value: Any) -> Any:
    # A component need not have to_dict: Haystack then goes by its parameters, too.
    if hasattr(value, "to_dict") or callable(getattr(value, "run", None)):
        return component_to_dict(value, name)
    return copy.deepcopy(value)
