# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Five rows of a Japanese article about Ragas 0.4.3, each with another fault, and four metrics.

The judge gives the article's verdicts; the scores must be the article's, with fewer calls than the 39 of Ragas.
"""

from __future__ import annotations

from typing import Any

import pytest

from haystack_eval_ext import (
    AnswerRelevancyEvaluator,
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    FaithfulnessEvaluator,
)
from letter_embedders import LetterDocumentEmbedder
from scripted_judge import ScriptedJudge

LEAVE = "有給休暇は取得日の3営業日前までに勤怠システムで申請します。"
SICK = "当日の体調不良による休暇は、始業前に上長へ連絡し、事後に申請します。"
EXPENSE = "経費精算は月末締めで、翌月5日までに申請します。"
REMOTE = "在宅勤務は週3日までです。前週の金曜日までに申請します。"
EVASIVE = "申し訳ありませんが、分かりません。"
ROWS: dict[str, list[Any]] = {
    "questions": [
        "有給休暇はいつまでに申請しますか",
        "在宅勤務は週何日までですか",
        "経費精算の締め日はいつですか",
        "体調不良で休むときの手続きは",
        "在宅勤務の申請期限は",
    ],
    "contexts": [[LEAVE, SICK], [REMOTE], [REMOTE, LEAVE], [EXPENSE, LEAVE, SICK], [REMOTE]],
    "predicted_answers": [
        "有給休暇は取得日の3営業日前までに申請します。勤怠システムから申請します。",
        "在宅勤務は週3日までです。申請は前週の金曜日までです。交通費は在宅日も支給されます。",
        EXPENSE,
        "始業前に上長へ連絡し、事後に申請します。",
        EVASIVE,
    ],
    "ground_truth_answers": [LEAVE, REMOTE, EXPENSE, SICK, "前週の金曜日までに申請します。"],
}
#: From which regulation a sentence of an answer or of a reference follows; the others from none.
SOURCES = {
    "有給休暇は取得日の3営業日前までに申請します。": LEAVE,
    "勤怠システムから申請します。": LEAVE,
    LEAVE: LEAVE,
    "在宅勤務は週3日までです。": REMOTE,
    "申請は前週の金曜日までです。": REMOTE,
    "前週の金曜日までに申請します。": REMOTE,
    EXPENSE: EXPENSE,
    "始業前に上長へ連絡し、事後に申請します。": SICK,
    SICK: SICK,
}
FAITHFULNESS = [1.0, 2 / 3, 0.0, 1.0, 0.0]
PRECISION = [1.0, 1.0, 0.0, 1 / 3, 1.0]
RECALL = [1.0, 1.0, 0.0, 1.0, 1.0]


def judge(data: dict[str, Any]) -> Any:
    """The article's verdicts, on whatever is asked."""
    if "statements" in data:  # faithfulness, recall
        found = data["contexts"].values()
        return {"verdicts": {name: int(SOURCES.get(text) in found) for name, text in data["statements"].items()}}
    if "contexts" in data:  # precision: the regulation that the reference stands in
        (reference,) = data["answers"]
        return {"verdicts": {name: int(reference in text) for name, text in data["contexts"].items()}}
    if "ids" in data:  # relevancy: the question itself, for the sake of a known cosine
        asked = ROWS["questions"][ROWS["predicted_answers"].index(data["answer"])]
        return {name: {"question": asked, "noncommittal": int(data["answer"] == EVASIVE)} for name in data["ids"]}
    return {"statements": [f"{part}。" for part in data["answer"].split("。") if part]}


@pytest.mark.parametrize(("statements", "calls"), [("sentences", 20), ("extracted", 25)])
def test_the_articles_rows(statements: Any, calls: int) -> None:
    generator = ScriptedJudge("test_ragas_article:judge")
    evaluators: dict[str, Any] = {
        "faithfulness": FaithfulnessEvaluator(chat_generator=generator, statements=statements, language="ja"),
        "precision": ContextPrecisionEvaluator(chat_generator=generator, language="ja"),
        "recall": ContextRecallEvaluator(chat_generator=generator, language="ja"),
        "relevancy": AnswerRelevancyEvaluator(
            chat_generator=generator, embedder=LetterDocumentEmbedder(), language="ja"
        ),
    }
    sockets = {name: list(evaluator.__haystack_input__._sockets_dict) for name, evaluator in evaluators.items()}
    results = {
        name: evaluator.run(**{socket: ROWS[socket] for socket in sockets[name]})
        for name, evaluator in evaluators.items()
    }
    assert results["faithfulness"]["individual_scores"] == FAITHFULNESS
    assert results["precision"]["individual_scores"] == PRECISION
    assert results["recall"]["individual_scores"] == RECALL
    assert results["relevancy"]["individual_scores"] == [1.0, 1.0, 1.0, 1.0, 0.0]
    means = [round(results[name]["score"], 3) for name in ("faithfulness", "precision", "recall")]
    assert means == [0.533, 0.667, 0.8]
    assert len(generator.asked) == calls
    assert sum(result["usage"]["calls"] for result in results.values()) == calls


def test_the_verdicts_behind_the_scores() -> None:
    generator = ScriptedJudge("test_ragas_article:judge")
    sockets = {name: ROWS[name] for name in ("questions", "contexts", "predicted_answers")}
    faithful = FaithfulnessEvaluator(chat_generator=generator).run(**sockets)["results"]
    assert [row["statement_scores"] for row in faithful] == [[1, 1], [1, 1, 0], [0], [1], [0]]
    sockets = {name: ROWS[name] for name in ("questions", "contexts", "ground_truth_answers")}
    ranked = ContextPrecisionEvaluator(chat_generator=generator).run(**sockets)["results"]
    assert [row["useful_contexts"] for row in ranked] == [[1, 0], [1], [0, 0], [0, 0, 1], [1]]
    recalled = ContextRecallEvaluator(chat_generator=generator).run(**sockets)["results"]
    assert [row["statement_scores"] for row in recalled] == [[1], [1, 1], [0], [1], [1]]
