# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How a metric's numbers were made: what must be equal in two runs before their scores may be compared."""

from __future__ import annotations

import inspect
import re
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from haystack.core.serialization import component_to_dict

from haystack_eval_ext._parameters import is_number
from haystack_eval_ext.errors import EvaluationError
from haystack_eval_ext.runs._fingerprints import canonical, text_hash
from haystack_eval_ext.runs._pipeline_text import without_secrets
from haystack_eval_ext.runs._plain import plain
from haystack_eval_ext.runs._spread import LARGEST

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from haystack import Pipeline

# What a number does not depend on: how it is computed, shown, or paid for.
_NEUTRAL = frozenset(
    (
        "api_key",
        "batch_size",
        "cache_path",
        "chat_generator",
        "device",
        "find_never_retrieved",
        "http_client_kwargs",
        "max_concurrency",
        "max_retries",
        "max_workers",
        "policy",
        "progress_bar",
        "raise_on_failure",
        "timeout",
        "token",
    )
)
# The user's prompts and examples: equal or not is all that a run record needs to know.
_HASHED = frozenset(("examples", "instructions"))
_OF_POLICY = ("votes", "structured_output")
_LONGEST = 80
_PACKAGE = "haystack_eval_ext."
_OURS = ("haystack_eval_ext", "haystack")
_RANGE = re.compile(r"from (-?[\d.]+) to (-?[\d.]*\d)|(-?\d+) to (-?\d+)|1 or 0", re.IGNORECASE)
_LOWER = re.compile(r"\blower is better", re.IGNORECASE)


@dataclass(frozen=True)
class JudgeInfo:
    """
    Who judged.

    :param generator: The class of the generator.
    :param model: The model that was asked for; None if the generator does not tell.
    :param models: The models that the replies name, sorted; [] if no reply came, or all came from a cache.
    """

    generator: str
    model: str | None
    models: list[str]

    @property
    def name(self) -> str:
        """The models of the replies, else the one asked for, else the generator."""
        return ", ".join(self.models) or self.model or self.generator


@dataclass(frozen=True)
class MetricInfo:
    """
    How a metric's numbers were made.

    :param component: The component's name in the evaluation pipeline.
    :param type: Its class.
    :param parameters: The init parameters that decide the numbers.
    :param lower_is_better: True if a higher score is worse.
    :param judge: Who judged; None for metrics without a judge.
    :param prompts: The version of each prompt.
    :param rule: The version of the rule by which the component scores: 1, or higher where its scores changed in meaning
        from one version of the package to the next (its attribute ``_rule_version``).
    :param score_range: The lowest and the highest score that there can be: what an evaluator of this package states, or
        another component declares by its attribute `score_range`; None if nobody says.
    """

    component: str
    type: str
    parameters: dict[str, Any] = field(default_factory=dict)
    lower_is_better: bool = False
    judge: JudgeInfo | None = None
    prompts: dict[str, str] = field(default_factory=dict)
    rule: int = 1
    score_range: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for a file."""
        return {**asdict(self), "score_range": self.score_range and list(self.score_range)}

    def ends_of(self, scores: Sequence[float]) -> tuple[float, float] | None:
        """
        Give the ends of the scores that intervals leave room for.

        :param scores: Those of a run; NaN where there is none.
        :returns: The range. That of a similarity of this package starts at 0, where texts have nothing in common, or at
            the lowest score: it can fall to -1, but does not.
        """
        if self.score_range is None or self.score_range[0] >= 0 or not self.type.startswith(_PACKAGE):
            return self.score_range
        return min([0.0, *(score for score in scores if score < 0)]), self.score_range[1]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MetricInfo:
        """
        Read what :meth:`to_dict` wrote; keys that a later version may add are left out.

        :raises KeyError: If one is missing; TypeError or ValueError if one has another form.
        """
        judge = data["judge"]
        return cls(
            component=str(data["component"]),
            type=str(data["type"]),
            parameters=dict(data["parameters"]),
            lower_is_better=bool(data["lower_is_better"]),
            judge=judge and JudgeInfo(str(judge["generator"]), judge["model"], list(map(str, judge["models"]))),
            prompts=dict(data["prompts"]),
            rule=int(data.get("rule", 1)),
            # What a file says of an evaluator of this package counts for nothing.
            score_range=range_of(str(data["type"])) or _as_range(str(data["component"]), data.get("score_range")),
        )


def metric_info(pipeline: Pipeline, metric: str, usage: Mapping[str, Mapping[str, Any]]) -> MetricInfo:
    """
    Describe a metric.

    :param pipeline: The evaluation pipeline.
    :param metric: The metric's name, "component" or "component.measure".
    :param usage: By component what its judge spent.
    :returns: How its numbers were made.
    """
    component, _, measure = metric.partition(".")
    instance = pipeline.get_component(component)
    parameters = _parameters(instance, component)
    if measure:
        # A run with more measures is the same as to each of them.
        parameters.pop("measures", None)
    judge = None
    # Haystack's own evaluators hide theirs, and have no policy.
    generator = getattr(instance, "chat_generator", None) or getattr(instance, "_chat_generator", None)
    if generator is not None:
        asked = _parameters(generator, "chat_generator")
        judge = JudgeInfo(
            _type_name(generator),
            _text(asked.get("model", getattr(generator, "model", None))),
            sorted(map(str, usage.get(component, {}).get("models") or {})),
        )
        parameters["judge_type"] = judge.generator
        parameters["judge_parameters"] = asked.get("generation_kwargs") or {}
        policy = getattr(instance, "policy", None)
        parameters |= {name: plain(getattr(policy, name)) for name in _OF_POLICY if hasattr(policy, name)}
    prompt = getattr(instance, "_prompt", None)
    name, version = getattr(prompt, "name", None), getattr(prompt, "version", None)
    summary = (inspect.getdoc(type(instance)) or "").split("\n\n")[0]
    return MetricInfo(
        component=component,
        type=_type_name(instance),
        parameters=parameters,
        lower_is_better=bool(_LOWER.search(summary)),
        judge=judge,
        prompts={str(name): str(version)} if name and version else {},
        rule=getattr(instance, "_rule_version", 1),
        score_range=range_of(_type_name(instance)) or declared_range(component, instance),
    )


def default_of(type_name: str, parameter: str) -> list[Any]:
    """
    Give the default of an init parameter, as a record holds it.

    :param type_name: The class, "module.Name". Files name it, so nothing is imported that is not loaded, but for the
        evaluators of this package and of Haystack.
    :param parameter: The parameter.
    :returns: The default alone; nothing if the class is not known or has none.
    """
    kind = _class_of(type_name, _OURS)
    found = None
    if isinstance(kind, type):
        initialise = getattr(kind, "__init__")  # noqa: B009 - mypy refuses the attribute
        with suppress(ValueError, TypeError):  # a class written in C
            found = inspect.signature(initialise).parameters.get(parameter)
    if found is None or found.default is inspect.Parameter.empty:
        return []
    return list(_cleaned({parameter: plain(found.default)}).values())


def range_of(type_name: str) -> tuple[float, float] | None:
    """
    Give the range in which the scores of an evaluator of this package lie.

    :param type_name: The class, "module.Name".
    :returns: The lowest and the highest score; None if the class is not one of this package, or states none.
    """
    if not type_name.startswith(_PACKAGE):
        return None
    return stated_range(_class_of(type_name, (_PACKAGE.rstrip("."),)))


def stated_range(kind: Any) -> tuple[float, float] | None:
    """
    Read the range that the first paragraph of a docstring states.

    :param kind: A class.
    :returns: The widest of the ranges that it names; None if it names none.
    """
    found = list(_RANGE.finditer((inspect.getdoc(kind) or "").split("\n\n")[0])) if kind is not None else []
    ends = [[float(end) for end in match.groups() if end is not None] or [0.0, 1.0] for match in found]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def declared_range(name: str, component: Any) -> tuple[float, float] | None:
    """
    Read the range that a component declares by its attribute `score_range`.

    :param name: Its name.
    :param component: The component.
    :returns: The lowest and the highest score; None if it declares none.
    :raises EvaluationError: If the attribute is no range.
    """
    return _as_range(name, getattr(component, "score_range", None))


def _as_range(name: str, given: Any) -> tuple[float, float] | None:
    pair = given if isinstance(given, list | tuple) else ()
    if given is None:
        return None
    if len(pair) != 2 or not all(map(is_number, pair)) or not -LARGEST <= pair[0] < pair[1] <= LARGEST:  # noqa: PLR2004
        msg = f"score_range of {name} must be the lowest and the highest score, such as (1, 5), but is {given!r:.80}."
        raise EvaluationError(msg)
    return float(pair[0]), float(pair[1])


def _class_of(type_name: str, importable: Collection[str]) -> Any:
    """The class, imported only from the packages named; None if it is not known."""
    module, _, name = type_name.rpartition(".")
    if module.partition(".")[0] in importable:
        with suppress(ImportError):
            import_module(module)
    return getattr(sys.modules.get(module), name, None)


def _parameters(instance: Any, name: str) -> dict[str, Any]:
    try:
        found = component_to_dict(instance, name)["init_parameters"]
    except Exception:  # a key given as text, a function: what remains is what can be written down one by one
        names = inspect.signature(type(instance).__init__).parameters
        found = {each: value for each in names if _is_plain(value := getattr(instance, each, None))}
    cleaned: dict[str, Any] = _cleaned(without_secrets(plain(found)))
    return cleaned


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _hashed(entry) if name in _HASHED and entry is not None else _cleaned(entry)
            for name, entry in value.items()
            if name not in _NEUTRAL
        }
    if isinstance(value, list):
        return [_cleaned(entry) for entry in value]
    return _hashed(value) if isinstance(value, str) and len(value) > _LONGEST else value


def _hashed(value: Any) -> str:
    return f"sha256:{text_hash(canonical(value))[:16]}"


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, str | bool | int | float)


def _type_name(instance: Any) -> str:
    kind = type(instance)
    return f"{kind.__module__}.{kind.__name__}"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
