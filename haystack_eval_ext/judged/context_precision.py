# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Context precision. Source: the context precision of Ragas 0.4, without the constants in its denominators."""

from typing import Any, Literal

from haystack import component

from haystack_eval_ext._formulas import average_precision
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._items import judged_example, numbered, reference_texts
from haystack_eval_ext.judged._policy import JudgePolicy

_SOCKETS = {"reference": "ground_truth_answers", "answer": "predicted_answers"}


@component
class ContextPrecisionEvaluator(JudgedEvaluator):
    """
    Scores how far up the useful contexts stand among those retrieved. From 0 to 1, higher is better.

    The judge says of each context whether it was of use to arrive at the reference: v_k is 1 or 0 at rank k. The score
    is their average precision, over the useful contexts that were retrieved (so that a missing one costs nothing):

        sum over k of (v_1 + ... + v_k) / k * v_k, divided by v_1 + ... + v_n

    It is exactly 1 if no useless context stands before a useful one, 1/3 if only the third of three is of use, and 0 if
    none is. With several references, a context is of use if it helps to arrive at one of them. A row without a
    reference is "not_run" and out of the mean. Without contexts the score is 0, and no call is made. Contexts without
    text are left out before ranks are counted.

    ``against="answer"`` needs no reference: it takes the socket predicted_answers instead, and asks whether a context
    was of use to arrive at the answer (Ragas: ContextPrecisionWithoutReference, or context utilization).

    Calls per row: one, whatever the number of contexts.

    `results` has `useful_contexts`, 1 or 0 for each context with text, in the order of their ranks.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import ContextPrecisionEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = ContextPrecisionEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"c1": 0, "c2": 1}}'))
    result = evaluator.run(
        questions=["Who wrote the report?"],
        contexts=[["The report has nine pages.", "The report was written by Ada Park."]],
        ground_truth_answers=["Ada Park"],
    )
    print(result["score"], result["results"][0]["useful_contexts"])
    # 0.5 [0, 1]
    ```
    """

    _inputs = ("questions", "contexts", "ground_truth_answers")
    _prompt_name = "context_precision"
    _empty_details = {"useful_contexts": []}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        against: Literal["reference", "answer"] = "reference",
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a ContextPrecisionEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "contexts" and "ground_truth_answers" (or "predicted_answers"), "outputs" has "useful_contexts", all of one
            row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param against: What contexts must be of use for: the "reference", in the socket ground_truth_answers, or the
            "answer", in the socket predicted_answers.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row without an answer counts as, with ``against="answer"``: "zero", "nan" (left out
            of the mean) or "raise". One without a reference is left out, whatever is set here.
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_choice("against", against, tuple(_SOCKETS))
        self.against: Literal["reference", "answer"] = against
        self._answers = _SOCKETS[against]
        self._inputs = ("questions", "contexts", self._answers)
        self._undefined_reason = f"no {against} with text"
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
        contexts = numbered("c", inputs["contexts"])
        data = {
            "question": inputs["questions"],
            "answers": reference_texts(inputs[self._answers]),
            "contexts": contexts,
        }
        return data, {"verdicts": judged_example(outputs, "useful_contexts", contexts)}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        answers = reference_texts(row[self._answers])
        if not answers:
            raise UndefinedScore(self._undefined_reason)
        contexts = [context for context in row["contexts"] if not blank(context)]
        if not contexts:
            return Judged(0.0, {"useful_contexts": []})
        data = {"question": row["questions"], "answers": answers}
        verdicts = await ask.verdicts(self._prompt, data, "contexts", numbered("c", contexts))
        useful = [int(verdict) for verdict in verdicts.labels.values()]
        details: dict[str, Any] = {"useful_contexts": useful}
        if verdicts.agreement is not None:
            details["agreement"] = verdicts.agreement
        return Judged(average_precision(useful), details)
