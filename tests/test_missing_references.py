# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
A row without a reference is not run by any metric that needs one: no score that nobody earned.

Whatever stands for "no reference" in a socket, and whatever ``on_undefined`` says: NaN, out of the mean, with a reason,
and one warning a run that says how many rows, which, and what to do.
"""

import logging
import math
from typing import Any

import pytest

from cases import Case
from cases_answers import ANSWER_CASES
from cases_judged import JUDGED_CASES
from haystack_eval_ext import AnswerExactMatchEvaluator, SASEvaluator, UndefinedScore
from haystack_eval_ext.runs import api
from haystack_eval_ext.runs.dataset import COLUMNS

REFERENCES = "ground_truth_answers"
#: One case of each component that compares with references.
CASES: dict[str, Case] = {}
for each in (*ANSWER_CASES, *(case for case in JUDGED_CASES if REFERENCES in case.inputs)):
    CASES.setdefault(each.component.__name__, each)
#: What stands for "no reference" in a row.
NOTHING: dict[str, Any] = {"an empty list": [], "None": None, "NaN of a data frame": math.nan}


def rows(case: Case, nothing: Any) -> dict[str, list[Any]]:
    """Three rows that can be scored, the second of them without its reference."""
    good = next(
        number
        for number, references in enumerate(case.inputs[REFERENCES])
        if any(map(str.strip, [references] if isinstance(references, str) else references))
        and any(character.isdigit() for text in references for character in text)
    )
    inputs = {socket: [values[good]] * 3 for socket, values in case.inputs.items()}
    inputs[REFERENCES][1] = nothing
    return inputs


@pytest.mark.parametrize("policy", ["zero", "nan", "raise"])
@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_row_without_a_reference_is_not_run(
    case: Case, nothing: str, policy: str, caplog: pytest.LogCaptureFixture
) -> None:
    if case.component is AnswerExactMatchEvaluator and nothing != "an empty list":
        pytest.skip("takes None as Haystack does: the next test")
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        result = case.make(on_undefined=policy).run(**rows(case, NOTHING[nothing]))
    assert result["statuses"] == ["scored", "not_run", "scored"]
    first, missing, last = result["individual_scores"]
    assert math.isnan(missing)
    assert first == last == pytest.approx(result["score"])
    assert [error is None for error in result["errors"]] == [True, False, True]
    (message,) = [record.getMessage() for record in caplog.records if "rows" in record.getMessage()]
    assert message.startswith(f"{case.component.__name__}: 1 of 3 rows were not run (no reference answer")
    assert "; give one" in message
    assert message.endswith(": row 1. They are left out of the mean.")


#: The columns that feed the sockets, with texts as a file has them.
COLUMN = {column.socket: column.name for column in COLUMNS}
TEXTS: dict[str, Any] = {"contexts": ["It is 330 metres high."], "predicted_answers": "It is 330 metres high."}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_run_leaves_the_row_out_and_names_it(case: Case, caplog: pytest.LogCaptureFixture) -> None:
    inputs = rows(case, [])
    data = [
        {"id": f"row {name}"} | {COLUMN[socket]: TEXTS.get(socket, values[place]) for socket, values in inputs.items()}
        for place, name in enumerate("abc")
    ]
    del data[1]["reference_answer"]
    with caplog.at_level(logging.WARNING, "haystack_eval_ext"):
        run = api.evaluate({"metric": case.make(on_undefined="raise")}, data)
    assert run.metrics["metric"].statuses == ["scored", "not_run", "scored"]
    assert math.isnan(run.metrics["metric"].scores[1])
    assert run.scores["metric"] == pytest.approx(run.metrics["metric"].scores[0])
    (message,) = [record.getMessage() for record in caplog.records if "rows" in record.getMessage()]
    assert message.startswith("metric: 1 of 3 rows were not run (no reference answer")
    assert message.endswith(": row row b. They are left out of the mean.")
    assert run.manifest["warnings"] == [message]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_any_reference_nothing_has_a_score(case: Case) -> None:
    inputs = rows(case, [])
    result = case.make().run(**{**inputs, REFERENCES: [[], [], []]})
    assert result["statuses"] == ["not_run"] * 3
    assert math.isnan(result["score"])
    assert result.get("usage", {}).get("calls", 0) == 0


def test_exact_match_alone_takes_none_as_haystack_does(caplog: pytest.LogCaptureFixture) -> None:
    references: list[Any] = [None, "a", []]
    result = AnswerExactMatchEvaluator().run(references, ["x", "a", "x"])
    assert result["individual_scores"][:2] == [0.0, 1.0]
    assert result["statuses"] == ["undefined", "scored", "not_run"]
    assert result["score"] == 0.5
    assert "rows are undefined (the reference is None; an empty list leaves such a question out): row 0" in caplog.text
    with pytest.raises(UndefinedScore, match="row 0"):
        AnswerExactMatchEvaluator(on_undefined="raise").run(references[:1], ["x"])


def test_an_empty_text_is_a_reference(caplog: pytest.LogCaptureFixture) -> None:
    """SQuAD 2's convention: an empty answer is right where the reference is the empty text."""
    for case in ANSWER_CASES:
        if case.component is SASEvaluator or case.component.__name__ == "AnswerNumberMatchEvaluator":
            continue
        result = case.make().run([[""], ""], ["", "Paris"])
        assert result["statuses"] == ["scored"] * 2
        assert result["individual_scores"] == [1.0, 0.0], case.name
    assert "not run" not in caplog.text
