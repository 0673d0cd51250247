# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""SASEvaluator's parameters: what is refused, what is written, and what is said where its packages are missing."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.evaluators import SASEvaluator as StockSAS
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

from haystack_eval_ext import SASEvaluator
from models import needs_sas
from retrieval_data import needs_stock

CPU = ComponentDevice.from_str("cpu")
TOKEN = "hf_never_to_be_shown"  # noqa: S105 - no real one


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("model", None, TypeError, "model must be the name of a model .* or a folder, but is None"),
        ("model", 3, TypeError, "model must be .* an int"),
        ("model", "", ValueError, "model must be .* an empty text"),
        ("model", " ", ValueError, "model must be .* an empty text"),
        ("batch_size", True, TypeError, "batch_size must be an integer .* a bool"),
        ("batch_size", "8", TypeError, "batch_size must be an integer .* a str"),
        ("batch_size", 8.0, TypeError, "batch_size must be an integer .* a float"),
        ("batch_size", None, TypeError, "batch_size must be an integer .* None"),
        ("batch_size", 0, ValueError, "batch_size must be at least 1, but is 0"),
        ("batch_size", -8, ValueError, "batch_size must be at least 1, but is -8"),
        ("device", "cpu", TypeError, "device must be a ComponentDevice, .* a str"),
        ("token", TOKEN, TypeError, r"token must be a Secret, .*from_env_var.*, but is a str"),
        ("token", "", TypeError, "token must be a Secret, .* a str"),
        ("token", {"token": TOKEN}, TypeError, "token must be a Secret, .* a dict"),
        ("label", 3, TypeError, "label must be .* an int"),
        ("label", True, TypeError, "label must be .* a bool"),
        ("label", "", ValueError, "label must be .* an empty text"),
        ("on_undefined", "skip", ValueError, "on_undefined must be one of .* 'skip'"),
        ("progress_bar", "no", TypeError, "progress_bar must be True or False, but is a str"),
    ],
)
def test_bad_parameters_are_refused(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        SASEvaluator(**{name: value})
    assert TOKEN not in str(caught.value)


def test_good_parameters_are_taken() -> None:
    evaluator = SASEvaluator("m", 1, None, None, label=None, progress_bar=True)
    assert (evaluator.batch_size, evaluator.device, evaluator.token, evaluator.label) == (1, None, None, None)


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "sentence_transformers":
            raise ModuleNotFoundError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    evaluator = SASEvaluator()  # made, written and read without them
    SASEvaluator.from_dict(evaluator.to_dict())
    with pytest.raises(ImportError, match=r'pip install "haystack-eval-ext\[sas\]"'):
        evaluator.run(["a"], ["a"])


def test_device_and_token_survive_yaml_and_a_secret_is_never_written() -> None:
    token = Secret.from_env_var("MY_TOKEN", strict=False)
    pipeline = Pipeline()
    pipeline.add_component("sas", SASEvaluator("m", 8, CPU, token, label="entailment", on_undefined="nan"))
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("sas")
    assert (loaded.model, loaded.batch_size, loaded.device, loaded.token) == ("m", 8, CPU, token)
    assert (loaded.label, loaded.on_undefined, loaded.progress_bar) == ("entailment", "nan", False)
    with pytest.raises(ValueError, match="serialize"):
        SASEvaluator(token=Secret.from_token("hf_secret")).to_dict()


@needs_sas
@needs_stock
def test_stock_yaml_loads_with_only_the_type_changed() -> None:
    pipeline = Pipeline()
    pipeline.add_component("sas", StockSAS("m", 8, CPU))
    changed = pipeline.dumps().replace(
        "haystack.components.evaluators.sas_evaluator.", "haystack_eval_ext.answers.sas."
    )
    assert Pipeline.loads(changed).get_component("sas").to_dict()["init_parameters"]["batch_size"] == 8  # type: ignore[attr-defined]
