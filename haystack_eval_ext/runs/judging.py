# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The judges of a pipeline from outside: another generator, one cache, one budget for all; plans and accounts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import yaml
from haystack import Pipeline

from haystack_eval_ext._embedding import check_embedder
from haystack_eval_ext.errors import EvaluationError, PipelineFileError
from haystack_eval_ext.judged._account import Budget, check_prices, sum_of
from haystack_eval_ext.judged._base import JudgedEvaluator
from haystack_eval_ext.judged._generator import check_generator
from haystack_eval_ext.runs._feeding import plan_inputs
from haystack_eval_ext.runs._lines import FilePath
from haystack_eval_ext.runs._loading import load_pipeline, read_pipeline_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from haystack_eval_ext.judged._plan import Plan
    from haystack_eval_ext.runs.dataset import Dataset

Prices = dict[str, dict[str, float]]


@dataclass(frozen=True)
class JudgeSettings:
    """
    What a run says about all of its judges; None leaves to each evaluator what its own policy says.

    :param generator: A ChatGenerator in place of each evaluator's own.
    :param embedder: An embedder in place of that of each evaluator that has one.
    :param cache_path: The file that keeps the replies.
    :param offline: Answer from the cache alone.
    :param max_calls: Calls of the whole run.
    :param max_tokens: Tokens of the whole run, in and out.
    :param max_cost: Cost of the whole run.
    :param prices: Price of a million tokens by model.
    :param progress_bar: Whether to show progress.
    """

    generator: Any = None
    embedder: Any = None
    cache_path: str | None = None
    offline: bool = False
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    progress_bar: bool = True

    @property
    def limited(self) -> bool:
        """Whether the run has a budget of its own."""
        return not self.max_calls is self.max_tokens is self.max_cost is None


def judged_components(pipeline: Pipeline) -> dict[str, JudgedEvaluator]:
    """
    The evaluators of a pipeline that ask a judge.

    :param pipeline: The pipeline.
    :returns: They by name.
    """
    return {
        name: node["instance"]
        for name, node in pipeline.graph.nodes(data=True)
        if isinstance(node["instance"], JudgedEvaluator)
    }


def set_judges(pipeline: Pipeline, settings: JudgeSettings) -> Callable[[], None]:
    """
    Apply the settings of a run to the judges of a pipeline.

    A row that cannot be judged costs the run no other row: the evaluators report it instead of raising.

    :param pipeline: The pipeline, which is changed.
    :param settings: The settings.
    :returns: What makes the judges as they were.
    :raises EvaluationError: If the pipeline has no judge that they could apply to, or they contradict each other. Then
        nothing has changed.
    """
    components = judged_components(pipeline)
    if not components:
        if settings != JudgeSettings(progress_bar=settings.progress_bar):
            msg = "No component of the pipeline asks a judge: leave the options for judges away."
            raise EvaluationError(msg)
        return lambda: None
    if settings.embedder is not None and not any(each._compares_texts() for each in components.values()):
        msg = "No component of the pipeline that asks a judge has an embedder: leave the option for embedders away."
        raise EvaluationError(msg)
    budget = None
    if settings.limited:
        budget = Budget(settings.max_calls, settings.max_tokens, settings.max_cost, settings.prices)
    changes = [
        (component, name, value)
        for label, component in components.items()
        for name, value in _changes(label, component, settings, budget).items()
    ]
    before = [(component, name, getattr(component, name)) for component, name, _ in changes]
    _set(changes)
    return lambda: _set(before)


def _changes(label: str, component: Any, settings: JudgeSettings, budget: Budget | None) -> dict[str, Any]:
    """What the settings make of a judge, by attribute."""
    try:
        policy = replace(
            component.policy,
            cache_path=settings.cache_path or component.policy.cache_path,
            offline=settings.offline or component.policy.offline,
            prices=settings.prices or component.policy.prices,
        )
    except ValueError as error:
        msg = f"{label}: {error}"
        raise EvaluationError(msg) from error
    changes = {
        "policy": policy,
        "budget": budget,
        "raise_on_failure": False,
        "progress_bar": component.progress_bar and settings.progress_bar,
    }
    if settings.generator is not None:
        changes["chat_generator"] = settings.generator
    if settings.embedder is not None and component._compares_texts():
        changes["embedder"] = settings.embedder
    return changes


def _set(values: list[tuple[Any, str, Any]]) -> None:
    for component, name, value in values:
        setattr(component, name, value)


def prepare_judges(pipeline: Pipeline) -> None:
    """
    Prepare what the judges of a pipeline ask, so that a missing key of the last one wastes no call to the first.

    Where a cache keeps the replies nothing is wasted, and perhaps nothing asked: there each is prepared when needed.

    :param pipeline: The pipeline.
    :raises EvaluationError: If a generator or an embedder cannot be prepared; the message has its words.
    """
    for name, component in judged_components(pipeline).items():
        try:
            component.warm_up()
        except ValueError as error:
            msg = f"{name}: {error}"
            raise EvaluationError(msg) from error


def load_generator(path: FilePath) -> Any:
    """
    Load a ChatGenerator from YAML with `type` and `init_parameters`, from the modules that Haystack trusts.

    :param path: The file.
    :returns: The generator.
    :raises PipelineFileError: If it cannot be loaded, or is no ChatGenerator.
    """
    return _load_component(path, check_generator, "ChatGenerator", "generators.chat.openai.OpenAIChatGenerator")


def load_embedder(path: FilePath) -> Any:
    """
    Load an embedder likewise.

    :param path: The file.
    :returns: The embedder.
    :raises PipelineFileError: If it cannot be loaded, or is no embedder.
    """
    return _load_component(
        path, check_embedder, "embedder", "embedders.openai_document_embedder.OpenAIDocumentEmbedder"
    )


def _load_component(path: FilePath, check: Callable[[Any], None], kind: str, example: str) -> Any:
    article = "an" if kind == "embedder" else "a"
    form = f"Expected {article} {kind}: 'type: haystack.components.{example}' and its 'init_parameters'."
    text = read_pipeline_text(path)
    name = os.path.basename(os.fspath(path))
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PipelineFileError([f"{name}: not valid YAML. {form}"]) from error
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise PipelineFileError([f"{name}: no 'type' at the top. {form}"])
    component = {"type": data["type"], "init_parameters": data.get("init_parameters") or {}}
    pipeline = load_pipeline(yaml.safe_dump({"components": {"judge": component}, "connections": []}), name)
    loaded = pipeline.get_component("judge")
    try:
        check(loaded)
    except TypeError as error:
        raise PipelineFileError([f"{name}: {data['type']} is no {kind}. {form}"]) from error
    return loaded


def load_prices(path: FilePath) -> Prices:
    """
    Read a file of prices: YAML or JSON with the price of a million tokens by model.

    :param path: The file, such as ``gpt-x: {input: 0.4, output: 1.6}``; "*" is any other model.
    :returns: The prices.
    :raises PipelineFileError: If it cannot be read, or has another form.
    """
    text = read_pipeline_text(path)
    name = os.path.basename(os.fspath(path))
    form = "Expected the price of a million tokens by model, such as 'gpt-x: {input: 0.4, output: 1.6}'."
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PipelineFileError([f"{name}: not valid YAML. {form}"]) from error
    try:
        check_prices(data)
    except ValueError as error:
        raise PipelineFileError([f"{name}: not a table of prices. {form}"]) from error
    return {model: {kind: float(value) for kind, value in price.items()} for model, price in data.items()}


def plan_judges(
    pipeline: Pipeline, dataset: Dataset, mapping: Mapping[str, str] | None = None
) -> tuple[dict[str, Plan], list[str]]:
    """
    Tell what the judges of a pipeline would be asked over a dataset, without asking.

    :param pipeline: The pipeline.
    :param dataset: The rows.
    :param mapping: Columns by "component.socket".
    :returns: A plan for each judged component, and those that cannot be planned since other components feed them.
    :raises EvaluationError: If the pipeline has no judge, or a socket cannot be fed.
    """
    components = judged_components(pipeline)
    if not components:
        msg = "No component of the pipeline asks a judge: there is nothing to plan."
        raise EvaluationError(msg)
    inputs = plan_inputs(pipeline, dataset, mapping or {})
    fed = {name for name, node in pipeline.graph.nodes(data=True) if _is_fed_by_others(node)}
    plans = {name: component.plan(**inputs[name]) for name, component in components.items() if name not in fed}
    return plans, [name for name in components if name in fed]


def _is_fed_by_others(node: Mapping[str, Any]) -> bool:
    return any(socket.senders for socket in node["input_sockets"].values())


def total_usage(usage: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """
    Add the accounts of components up.

    :param usage: The account of each component.
    :returns: The sum.
    """
    return sum_of(usage.values())
