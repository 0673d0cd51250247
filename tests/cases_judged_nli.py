# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of faithfulness by an NLI model: the one of nli_models.py, which compares words."""

from __future__ import annotations

from math import nan
from typing import Any

from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

import nli_models
from cases import Golden
from cases_judged import JudgedCase, rows, sample
from haystack_eval_ext import NLIFaithfulnessEvaluator
from nli_models import NO, YES

#: A model computes in single precision.
NLI: dict[str, Any] = {
    "inputs": sample("contexts", "predicted_answers"),
    "company": 1e-5,
    "exact": 1e-6,
    "skipped": "" if nli_models.HAVE_NLI else nli_models.NO_NLI,
}
ROWS = rows(
    contexts=[["One two.", "Three but four."], ["One two.", "Three but four."], ["One."], [], ["One. Two.", " "]],
    predicted_answers=["Two one. Four. Five.", "One four.", "", "One.", "Two. One."],
)

CASES = [
    JudgedCase(
        "nli-share",
        NLIFaithfulnessEvaluator,
        parameters={"model": nli_models.WORDS, "batch_size": 3, "device": ComponentDevice.from_str("cpu")},
        # 2 of 3; no context has both words: 0 of 1; undefined; nothing to support it; 2 of 2.
        golden=(Golden("words of the contexts", ROWS, [2 / 3, 0.0, 0.0, 0.0, 1.0]),),
        **NLI,
    ),
    JudgedCase(
        "nli-probability",
        NLIFaithfulnessEvaluator,
        parameters={"model": nli_models.TWO_LABELS, "score_by": "probability", "on_undefined": "nan"},
        golden=(Golden("mean of .9 and .1", ROWS, [(2 * YES + NO) / 3, NO, nan, 0.0, YES]),),
        **NLI,
    ),
    JudgedCase(
        "nli-all-parameters",
        NLIFaithfulnessEvaluator,
        parameters={
            "model": nli_models.NO_NAMES,
            "token": Secret.from_env_var("MY_HUB_TOKEN", strict=False),
            "label": "LABEL_1",
            "threshold": 0.95,
            "max_length": 32,
            "progress_bar": False,
        },
        # .9 is less than .95.
        golden=(Golden("nothing reaches the threshold", ROWS, [0.0] * 5),),
        **NLI,
    ),
]
