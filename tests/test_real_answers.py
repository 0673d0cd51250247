# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of the kinds that systems give, through every metric; and the script that compares metrics with people."""

from __future__ import annotations

import importlib.util
import logging
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from answer_texts import ANSWERED

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "answers_agreement.py"


@pytest.fixture(autouse=True)
def _log_level_as_it_was() -> Iterator[None]:
    """The script silences the package's warnings, which other tests look for."""
    logger = logging.getLogger("haystack_eval_ext")
    level = logger.level
    yield
    logger.setLevel(level)


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("answers_agreement", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["answers_agreement"] = module
    spec.loader.exec_module(module)
    return module


script = _load()
JUDGED = [
    script.Judged(answered.question, text, accepted) for answered in ANSWERED for text, accepted in answered.answers
]


@pytest.mark.parametrize("accepted_only", [True, False])
@pytest.mark.parametrize("metric", script.METRICS)
def test_every_answer_has_a_score_in_range(metric: str, accepted_only: bool) -> None:
    references = script.references(JUDGED, accepted_only=accepted_only)
    outputs = script.METRICS[metric]().run(references, [row.answer for row in JUDGED])
    assert len(outputs["individual_scores"]) == len(JUDGED)
    for row, score, status in zip(references, outputs["individual_scores"], outputs["statuses"], strict=True):
        assert math.isnan(score) == (status != "scored")
        assert (status == "not_run") == (not row)
        if status == "scored":
            assert 0 <= score <= 1
        elif metric != "number match":
            assert not row
    assert len({score for score in outputs["individual_scores"] if not math.isnan(score)}) > 1


def test_references_are_the_other_answers() -> None:
    judged = [script.Judged("1", "a", True), script.Judged("1", "a", True), script.Judged("1", "b", False)]
    judged.append(script.Judged("2", "c", True))
    assert script.references(judged, accepted_only=True) == [["a"], ["a"], ["a", "a"], []]
    assert script.references(judged, accepted_only=False) == [["a", "b"], ["a", "b"], ["a", "a"], []]


def test_threshold_is_learned_from_the_other_questions() -> None:
    # From the others, "2" learns .8 (the lowest that separates .2 from .8), "1" learns .3.
    scores = np.array([0.8, 0.2, 0.3, 0.1])
    human = np.array([True, False, True, False])
    verdicts = script.held_out_verdicts(scores, human, ["1", "1", "2", "2"])
    assert verdicts.tolist() == [True, False, False, False]


def test_agreement_by_hand() -> None:
    # By .5: right, right, wrong, right, and one without a score. Pairs in order: 3 of 4.
    # Expected by chance: 1/4 * 2/4 + 3/4 * 2/4 = 1/2, so that kappa = (3/4 - 1/2) / (1 - 1/2).
    scores = np.array([0.9, 0.1, 0.3, 0.4, math.nan])
    human = np.array([True, False, True, False, True])
    found = script.agreement(scores, human, ["1", "1", "2", "2", "2"])
    assert found.answers == 4
    assert found.auc == pytest.approx(3 / 4)
    assert found.accuracy_fixed == pytest.approx(3 / 4)
    assert found.kappa_fixed == pytest.approx(1 / 2)
    assert found.majority == pytest.approx(1 / 2)


def test_script_prints_a_line_for_each_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "judged.tsv"
    lines = ["id\tQuestion\tModel answer\tAcceptable?\tannotator1"]
    for row in JUDGED:
        verdict = "Yes" if row.accepted else "No"
        lines.append("\t".join([row.question, row.question, row.answer.replace("\n", " "), verdict, verdict]))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["answers_agreement.py", str(file)])
    script.main()
    printed = capsys.readouterr().out
    assert f"{len(JUDGED)} answers to {len(ANSWERED)} questions" in printed
    for metric in script.METRICS:
        assert printed.count(f"\n| {metric} |") == 2


def test_unknown_verdict_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "judged.tsv"
    file.write_text("id\tQuestion\tModel answer\tAcceptable?\n1\tq\ta\tperhaps\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Row 0"):
        script.read(file)
