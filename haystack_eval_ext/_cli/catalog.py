# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every component and measure as the code describes it: sockets from signatures, range and source from docstrings."""

import inspect
import re
import sys
from typing import Any, get_type_hints

import haystack_eval_ext
from haystack_eval_ext.retrieval.document_ranking import DocumentRankingEvaluator
from haystack_eval_ext.retrieval.measures import MEASURES
from haystack_eval_ext.runs._metric_info import stated_range

_DIRECTION = re.compile(r"(higher|lower) is better", re.IGNORECASE)
_SOURCE = re.compile(r"Source: (.+?)(?:\n\n|$)", re.DOTALL)
_MODULE_PREFIX = re.compile(r"\b(?:\w+\.)+(?=\w)")


def catalog() -> dict[str, list[dict[str, Any]]]:
    """
    Describe all components and measures.

    ```python
    from haystack_eval_ext._cli.catalog import catalog

    print(next(measure["summary"] for measure in catalog()["measures"] if measure["name"] == "AP"))
    # Mean of the precision at each relevant document; those that are not retrieved count as 0
    ```

    :returns: Plain values: a list of components and a list of measures.
    """
    exported = [getattr(haystack_eval_ext, name) for name in haystack_eval_ext.__all__]
    # A class is a component when its `run` declares outputs; making an instance would ask for models and keys.
    components = [value for value in exported if inspect.isclass(value) and _outputs(value)]
    return {"components": [_component(cls) for cls in components], "measures": _measures()}


def _component(cls: Any) -> dict[str, Any]:
    module = inspect.getdoc(sys.modules[cls.__module__]) or ""
    source = _SOURCE.search(module)
    types = get_type_hints(cls.run)
    inputs = [
        {
            "name": name,
            "type": _type_name(types.get(name, Any)),
            "mandatory": parameter.default is inspect.Parameter.empty,
        }
        for name, parameter in inspect.signature(cls.run).parameters.items()
        if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    inputs += [
        {"name": name, "type": _type_name(kind), "mandatory": mandatory}
        for name, (kind, mandatory) in getattr(cls, "sockets", dict)().items()
    ]
    return {
        "name": cls.__name__,
        "type": f"{cls.__module__}.{cls.__name__}",
        "summary": _first_paragraph(cls),
        **_range_and_direction(cls),
        "source": source and " ".join(source[1].split()),
        "inputs": inputs,
        "outputs": [{"name": name, "type": _type_name(socket.type)} for name, socket in _outputs(cls).items()],
    }


def _measures() -> list[dict[str, Any]]:
    return [
        {
            "name": definition.name,
            "aliases": list(definition.aliases),
            "summary": definition.summary,
            # The component that computes them states it for all.
            **_range_and_direction(DocumentRankingEvaluator),
            "cutoff": definition.cutoff,
            "parameters": [
                {"name": name, "default": parameter.default, "description": parameter.description}
                for name, parameter in definition.parameters.items()
            ],
            "source": definition.source,
        }
        for definition in MEASURES.values()
    ]


def _outputs(cls: Any) -> dict[str, Any]:
    outputs: dict[str, Any] = getattr(getattr(cls, "run", None), "_output_types_cache", {})
    return outputs


def _first_paragraph(cls: Any) -> str:
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def _range_and_direction(cls: Any) -> dict[str, Any]:
    bounds, direction = stated_range(cls), _DIRECTION.search(_first_paragraph(cls))
    return {
        "range": bounds and list(bounds),
        "direction": direction and direction[0].lower(),
    }


def _type_name(kind: Any) -> str:
    return (
        kind.__name__
        if isinstance(kind, type) and not getattr(kind, "__args__", None)
        else _MODULE_PREFIX.sub("", str(kind))
    )
