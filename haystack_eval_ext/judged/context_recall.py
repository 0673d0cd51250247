# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Context recall. Source: the context recall of Ragas 0.4, with sentences split by rule and not by the judge."""

from typing import Any

from haystack import component

from haystack_eval_ext._formulas import share
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._items import judged_example, numbered, reference_texts
from haystack_eval_ext.judged._policy import JudgePolicy


@component
class ContextRecallEvaluator(JudgedEvaluator):
    """
    Scores how much of the reference the retrieved contexts hold. From 0 to 1, higher is better.

    The score is the number of the reference's sentences that the judge attributes to the contexts, divided by the
    number of its sentences. Of several references the best one counts: if one of them could not be judged, the row
    failed, unless another one has 1. A row without a reference is "not_run" and out of the mean; where no reference has
    a sentence ("..."), the score is undefined. Without contexts it is 0, and no call is made.

    Calls per row: one for each different reference.

    `results` has `statements` and `statement_scores` (1 or 0 each) of the reference that counts, and `reference`, that
    reference's text; None where there is none.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import ContextRecallEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = ContextRecallEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"s1": 1, "s2": 0}}'))
    result = evaluator.run(
        questions=["Who wrote the report, and when?"],
        contexts=[["The report was written by Ada Park."]],
        ground_truth_answers=["Ada Park wrote it. It dates from 2019."],
    )
    print(result["score"], result["results"][0]["statement_scores"])
    # 0.5 [1, 0]
    ```
    """

    _inputs = ("questions", "contexts", "ground_truth_answers")
    _prompt_name = "context_recall"
    _undefined_reason = "no reference has a sentence"
    _empty_details = {"statements": [], "statement_scores": [], "reference": None}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a ContextRecallEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "contexts" and "ground_truth_answers" (one text), "outputs" has "statements" and "statement_scores", all of
            one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row counts as whose references have no sentence: "zero", "nan" (left out of the
            mean) or "raise". One without a reference is left out, whatever is set here.
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
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
        statements = numbered("s", outputs["statements"])
        data = {
            "question": inputs["questions"],
            "reference": inputs["ground_truth_answers"],
            "contexts": numbered("c", inputs["contexts"]),
            "statements": statements,
        }
        return data, {"verdicts": judged_example(outputs, "statement_scores", statements)}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        contexts = [context for context in row["contexts"] if not blank(context)]
        references = {
            text: found for text in reference_texts(row["ground_truth_answers"]) if (found := sentences(text))
        }
        if not references:
            raise UndefinedScore(self._undefined_reason)
        if not contexts:
            text, statements = next(iter(references.items()))
            return Judged(0.0, _details(text, statements, [0] * len(statements), None))

        async def judge(text: str, statements: list[str]) -> Judged:
            data = {"question": row["questions"], "reference": text, "contexts": numbered("c", contexts)}
            verdicts = await ask.verdicts(self._prompt, data, "statements", numbered("s", statements))
            attributed = [int(verdict) for verdict in verdicts.labels.values()]
            return Judged(share(attributed), _details(text, statements, attributed, verdicts.agreement))

        judged = await ask.settled(*(judge(text, statements) for text, statements in references.items()))
        failed = [one for one in judged if isinstance(one, BaseException)]
        # The first one of those that are equally good.
        best = max((one for one in judged if isinstance(one, Judged)), key=lambda one: one.score, default=None)
        if best is None or (failed and best.score < 1):
            raise failed[0]
        return best


def _details(text: str, statements: list[str], scores: list[int], agreement: float | None) -> dict[str, Any]:
    details: dict[str, Any] = {"statements": statements, "statement_scores": scores, "reference": text}
    return details if agreement is None else {**details, "agreement": agreement}
