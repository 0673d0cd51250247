# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""NLIFaithfulnessEvaluator's parameters and models: what is found, refused and written, and missing packages."""

from __future__ import annotations

import builtins
import math
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
from haystack import Pipeline
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

import nli_models
from haystack_eval_ext import NLIFaithfulnessEvaluator
from haystack_eval_ext.judged._nli import _longest_input, entailment_number
from haystack_eval_ext.judged._sockets import SOCKETS
from nli_models import needs_nli

CPU = ComponentDevice.from_str("cpu")
TOKEN = "hf_never_to_be_shown"  # noqa: S105 - no real one


def make(model: str, label: str | None = None) -> NLIFaithfulnessEvaluator:
    return NLIFaithfulnessEvaluator(model, device=CPU, label=label)


@pytest.mark.parametrize(
    ("labels", "label", "expected"),
    [
        (["contradiction", "entailment", "neutral"], None, 1),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], None, 0),
        (["entailment", "not_entailment"], None, 0),
        (["NOT ENTAILED", "Entailed"], None, 1),
        (["non-entailment", "entailment"], None, 1),
        (["LABEL_0", "LABEL_1"], "LABEL_1", 1),
        (["entailment", "not_entailment"], "not_entailment", 1),
        (["LABEL_0"], "LABEL_0", 0),
    ],
)
def test_the_label_for_entailment_is_found(labels: list[str], label: str | None, expected: int) -> None:
    assert entailment_number(labels, label, model="m") == expected


@pytest.mark.parametrize(
    ("labels", "label", "message"),
    [
        (["LABEL_0", "LABEL_1"], None, "label must name .* m has 'LABEL_0', 'LABEL_1'"),
        (["LABEL_0"], None, "label must name .* m has 'LABEL_0'"),
        (["strong entailment", "weak entailment"], None, "the names do not tell"),
        (["not_entailment", "other"], None, "the names do not tell"),
        (["entailment", "neutral"], "Entailment", "label must name one of .* and label is 'Entailment'"),
        ([], None, "model must be a sequence-classification model .* m is not"),
        ([], "entailment", "model must be a sequence-classification model .* m is not"),
    ],
)
def test_a_label_that_is_not_found_is_asked_for(labels: list[str], label: str | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        entailment_number(labels, label, model="m")


@needs_nli
@pytest.mark.parametrize(
    ("model", "label"),
    [(nli_models.TWO_LABELS, None), (nli_models.NO_NAMES, "LABEL_1"), (nli_models.ONE_LABEL, "LABEL_0")],
    ids=["two labels", "no names", "one label"],
)
def test_labels_of_other_models(model: str, label: str | None) -> None:
    result = make(model, label).run([["One two."]], ["One. Three."])
    assert result["results"][0]["probabilities"] == pytest.approx([nli_models.YES, nli_models.NO], abs=1e-6)


@needs_nli
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (nli_models.NO_NAMES, "'LABEL_0', 'LABEL_1'"),
        (nli_models.ONE_LABEL, "'LABEL_0'"),
        (nli_models.BASE_MODEL, "ends in ForSequenceClassification"),
        (nli_models.NO_PADDING, "padding token"),
    ],
    ids=["no names", "one label", "base model", "no padding"],
)
def test_a_model_that_does_not_fit_is_refused(model: str, message: str) -> None:
    evaluator = make(model)
    for call in (evaluator.warm_up, lambda: evaluator.run([["a"]], ["a"])):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("tokenizer", "positions", "module", "wanted", "expected"),
    [
        (512, 512, None, None, 512),
        (10**30, 512, None, None, 512),
        (10**30, 514, (514, 1), None, 512),  # RoBERTa
        (10**30, 512, (512, None), None, 512),  # BERT
        (256, 512, None, None, 256),
        (512, None, None, None, 512),
        (10**30, None, None, None, None),
        (10**30, -1, None, None, None),
        (10**30, None, None, 100, 100),
        (512, 512, None, 100, 100),
        (512, 512, None, 1000, 512),
    ],
)
def test_how_much_a_model_reads(
    tokenizer: int,
    positions: int | None,
    module: tuple[int, int | None] | None,
    wanted: int | None,
    expected: int | None,
) -> None:
    config = SimpleNamespace() if positions is None else SimpleNamespace(max_position_embeddings=positions)
    modules = [("encoder", SimpleNamespace())]
    if module:
        table = SimpleNamespace(num_embeddings=module[0], padding_idx=module[1])
        modules.append(("roberta.embeddings.position_embeddings", table))
    model = SimpleNamespace(config=config, named_modules=lambda: modules)
    assert _longest_input(model, SimpleNamespace(model_max_length=tokenizer), wanted) == expected


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
        return real_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    evaluator = make("m")  # made, written and read without them
    NLIFaithfulnessEvaluator.from_dict(evaluator.to_dict())
    with pytest.raises(ImportError, match=r'pip install "haystack-eval-ext\[sas\]"'):
        evaluator.run([["a"]], ["a"])


def test_device_and_token_survive_yaml_and_a_secret_is_never_written() -> None:
    token = Secret.from_env_var("MY_TOKEN", strict=False)
    pipeline = Pipeline()
    pipeline.add_component("nli", NLIFaithfulnessEvaluator("m", 8, CPU, token, label="yes", max_length=100))
    loaded: Any = Pipeline.loads(pipeline.dumps()).get_component("nli")
    assert (loaded.model, loaded.batch_size, loaded.device, loaded.token) == ("m", 8, CPU, token)
    assert (loaded.label, loaded.max_length, loaded.threshold, loaded.score_by) == ("yes", 100, 0.5, "share")
    with pytest.raises(ValueError, match="serialize"):
        NLIFaithfulnessEvaluator("m", token=Secret.from_token(TOKEN)).to_dict()


def test_sockets_are_those_of_the_family() -> None:
    hints = get_type_hints(NLIFaithfulnessEvaluator.run)
    assert {name: hints[name] for name in ("contexts", "predicted_answers")} == {
        name: SOCKETS[name].type for name in ("contexts", "predicted_answers")
    }


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("model", None, TypeError, "model must be the name of a model .* or a folder, but is None"),
        ("model", " ", ValueError, "model must be .* an empty text"),
        ("batch_size", True, TypeError, "batch_size must be an integer .* a bool"),
        ("batch_size", 0, ValueError, "batch_size must be at least 1, but is 0"),
        ("device", "cpu", TypeError, "device must be a ComponentDevice, .* a str"),
        ("token", TOKEN, TypeError, r"token must be a Secret, .*from_env_var.*, but is a str"),
        ("label", 3, TypeError, "label must be .* an int"),
        ("label", "", ValueError, "label must be .* an empty text"),
        ("threshold", "0.5", TypeError, "threshold must be a number above 0 and at most 1, but is a str"),
        ("threshold", True, TypeError, "threshold must be .* a bool"),
        ("threshold", 0, ValueError, "threshold must be .* but is 0"),
        ("threshold", 1.01, ValueError, "threshold must be .* but is 1.01"),
        ("threshold", math.nan, ValueError, "threshold must be .* but is nan"),
        ("score_by", "mean", ValueError, "score_by must be one of 'share', 'probability', but is 'mean'"),
        ("max_length", 31, ValueError, "max_length must be at least 32, but is 31"),
        ("max_length", 64.0, TypeError, "max_length must be an integer .* a float"),
        ("on_undefined", "skip", ValueError, "on_undefined must be one of .* 'skip'"),
        ("progress_bar", "no", TypeError, "progress_bar must be True or False, but is a str"),
    ],
)
def test_bad_parameters_are_refused(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        NLIFaithfulnessEvaluator(**{"model": "m", name: value})
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("contexts", "answers", "message"),
    [
        (["a"], ["a"], r"contexts\[0\] must be a list of texts or Documents, but is a str"),
        ([["a", None]], ["a"], r"contexts\[0\]\[1\] .* None"),
        ([["a"]], [None], r"predicted_answers\[0\] .* None"),
        ([], [], "no rows"),
        ([["a"]], ["a", "b"], "same number of rows"),
    ],
)
def test_bad_rows_are_refused_before_a_model_is_loaded(contexts: Any, answers: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make("no such model").run(contexts, answers)
