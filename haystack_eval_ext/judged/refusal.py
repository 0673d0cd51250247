# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusals. Source: the negative rejection of Chen et al., Benchmarking LLMs in RAG (RGB), AAAI 2024."""

from collections import Counter
from typing import Any, Literal

from haystack import component

from haystack_eval_ext._formulas import share
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._items import example_verdict
from haystack_eval_ext.judged._policy import JudgePolicy


@component
class RefusalEvaluator(JudgedEvaluator):
    """
    Scores whether an answer declines its question. From 0 to 1 (it does); neither is better by itself.

    An answer declines if it gives nothing of what was asked: it says that it does not know or must not tell, or only
    asks back. A wrong answer does not decline, and neither does one that answers in part, or says that there is none.
    A blank answer is undefined: it neither answers nor says that it cannot.

    With ``score_by="decision"`` the score is 1 if the right thing was done, and higher is better: answer where the
    contexts answer the question, decline where they do not. It needs the socket `answerable`; a row whose label there
    is None is undefined.

    Calls per row: one; none if the row is undefined.

    `results` has `declines` (1 or 0, None if undefined) for each row. `summary` counts the rows `answered`, `declined`
    and `not_judged` (undefined or failed); if `answerable` is given, also those `answerable` and `unanswerable`, each
    "answered" and "declined", and `decision_accuracy`, the share of right decisions (None if no row was judged).

    Source of the matrix: Chen et al., Benchmarking Large Language Models in Retrieval-Augmented Generation, AAAI 2024,
    whose rejection rate is "declined" / (answered + declined) of the unanswerable rows.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import RefusalEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = RefusalEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"a1": 1}}'))
    result = evaluator.run(
        questions=["Who founded the museum?"],
        predicted_answers=["The documents do not say who founded it."],
        answerable=[False],
    )
    print(result["score"], result["summary"]["unanswerable"])
    # 1.0 {'answered': 0, 'declined': 1}
    ```
    """

    _inputs: tuple[str, ...] = ("questions", "predicted_answers")
    _optional: tuple[str, ...] = ("answerable",)
    _prompt_name = "refusal"
    _undefined_reason = "the answer is blank, or nothing says whether the question is answerable"
    _empty_details = {"declines": None}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        score_by: Literal["refusal", "decision"] = "refusal",
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a RefusalEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions" and
            "predicted_answers", "outputs" has "declines", all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param score_by: "refusal": 1 for an answer that declines; `answerable` may be left out. "decision": 1 for an
            answer to an answerable question, and for declining another one; `answerable` must be given.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What an undefined row counts as: "zero", "nan" (left out of the mean) or "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_choice("score_by", score_by, ("refusal", "decision"))
        self.score_by: Literal["refusal", "decision"] = score_by
        decides = score_by == "decision"
        self._inputs = ("questions", "predicted_answers", *(("answerable",) if decides else ()))
        self._optional = () if decides else ("answerable",)
        # No super(): the decorator rebuilds the class.
        JudgedEvaluator.__init__(
            self,
            examples,
            progress_bar,
            raise_on_failure,
            chat_generator,
            instructions=instructions,
            language=language,
            policy=policy,
            on_undefined=on_undefined,
        )

    def _convert_example(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> tuple[Any, Any]:
        data = {"question": inputs["questions"], "answers": {"a1": inputs["predicted_answers"]}}
        return data, {"verdicts": {"a1": example_verdict(outputs, "declines")}}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        answer = row["predicted_answers"]
        if blank(answer) or (self.score_by == "decision" and row["answerable"] is None):
            raise UndefinedScore(self._undefined_reason)
        verdicts = await ask.verdicts(self._prompt, {"question": row["questions"]}, "answers", {"a1": answer})
        declines = int(verdicts.labels["a1"])
        details: dict[str, Any] = {"declines": declines}
        if verdicts.agreement is not None:
            details["agreement"] = verdicts.agreement
        score = declines if self.score_by == "refusal" else bool(declines) != row["answerable"]
        return Judged(float(score), details)

    def _summary(self, outcomes: list[Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
        judged = [
            (row.get("answerable"), outcome.details["declines"])
            for row, outcome in zip(rows, outcomes, strict=True)
            if outcome.status == "scored"
        ]
        counts = Counter(judged)
        declined = sum(declines for _, declines in judged)
        summary: dict[str, Any] = {
            "answered": len(judged) - declined,
            "declined": declined,
            "not_judged": len(outcomes) - len(judged),
        }
        if any(row.get("answerable") is not None for row in rows):
            for name, flag in (("answerable", True), ("unanswerable", False)):
                summary[name] = {"answered": counts[flag, 0], "declined": counts[flag, 1]}
            decisions = [int(bool(declines) != flag) for flag, declines in judged if flag is not None]
            summary["decision_accuracy"] = share(decisions) if decisions else None
        return summary
