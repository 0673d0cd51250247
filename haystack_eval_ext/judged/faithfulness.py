# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Faithfulness. Source: Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

from haystack import component

from haystack_eval_ext._formulas import share
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._text import blank, normalize, sendable, words
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._failures import ReplyError
from haystack_eval_ext.judged._forms import respelled
from haystack_eval_ext.judged._items import example_texts, judged_example, numbered, statements_of
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._stock_methods import StockMethods


def _from_stock_form(value: Any, asked: Mapping[str, str], whole: bool) -> Any:
    """The verdicts of a reply in the form of Haystack's own evaluator, which repeats the statements, with their ids."""
    value = respelled(value, ("statements", "statement_scores"))
    if not isinstance(value, dict) or not {"statements", "statement_scores"} <= value.keys():
        return value
    statements, scores = value["statements"], value["statement_scores"]
    if not isinstance(statements, list) or not isinstance(scores, list) or len(statements) != len(scores):
        msg = "'statements' and 'statement_scores' were not two lists of equal length"
        raise ReplyError(msg)
    named = [_in_one_form(statement) for statement in statements]
    texts = {name: _in_one_form(statement) for name, statement in asked.items()}
    if whole and not (named and set(named) <= set(texts.values())):
        return _in_order(named, scores, texts)
    entries = []
    for text in dict.fromkeys(texts.values()):
        names = [name for name, one in texts.items() if one == text]
        verdicts = [score for one, score in zip(named, scores, strict=True) if one == text]
        # Verdicts on a text that stands there more than once are in order, or hold for all of its places.
        pairs = zip(names, verdicts, strict=True) if len(names) == len(verdicts) else product(names, verdicts)
        entries += [{"id": name, "verdict": verdict} for name, verdict in pairs]
    return entries


def _in_order(named: list[Any], scores: list[Any], texts: dict[str, Any]) -> list[dict[str, Any]]:
    """The verdicts by their places, where a judge puts statements in words of its own."""
    if len(scores) != len(texts):
        msg = f"it had {len(scores)} verdicts, but {len(texts)} were asked for, one for each id"
        raise ReplyError(msg)
    if any(one != text and one in texts.values() for one, text in zip(named, texts.values(), strict=True)):
        msg = "its statements were neither those asked about nor in their order"
        raise ReplyError(msg)
    return [{"id": name, "verdict": score} for name, score in zip(texts, scores, strict=True)]


def _in_one_form(statement: Any) -> str | None:
    """Its words alone; what services refuse was replaced before it was sent."""
    return " ".join(words(normalize(sendable(statement)))) if isinstance(statement, str) else None


@component
class FaithfulnessEvaluator(StockMethods, JudgedEvaluator):
    """
    Scores how much of an answer follows from the contexts it was written from. From 0 to 1, higher is better.

    The score is the number of the answer's statements that the judge finds supported by the contexts, divided by the
    number of its statements. An answer without text is undefined. Without contexts nothing is supported: 0, and no
    call is made. A refusal is a statement that no context supports.

    Every sentence counts, also one that claims nothing, such as "Hope this helps!" or a question back: no context
    supports it, and it lowers the score. ``statements="extracted"`` leaves such sentences out.

    A reply in the form of Haystack's own evaluator is read by the statements that it repeats, in any order; case, white
    space and punctuation are free. If it puts some in words of its own, their order counts, provided there are as many
    as were asked about and none stands in the place of another; else it is asked for again.

    Calls per row: one, with the answer's sentences as its statements; two with ``statements="extracted"``, where the
    judge first breaks the answer into short statements that can be understood alone.

    `results` has `statements` and `statement_scores` (1 or 0 each) for each row.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import FaithfulnessEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = FaithfulnessEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"s1": 1, "s2": 0}}'))
    result = evaluator.run(
        questions=["Who wrote the report, and when?"],
        contexts=[["The report was written by Ada Park."]],
        predicted_answers=["Ada Park wrote it. It dates from 2019."],
    )
    print(result["score"], result["results"][0]["statement_scores"])
    # 0.5 [1, 0]
    ```
    """

    _inputs = ("questions", "contexts", "predicted_answers")
    _prompt_name = "faithfulness"
    _undefined_reason = "the answer has no statements"
    _empty_details = {"statements": [], "statement_scores": []}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        statements: Literal["sentences", "extracted"] = "sentences",
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a FaithfulnessEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "contexts" and "predicted_answers", "outputs" has "statements" and "statement_scores", all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param statements: What is judged one by one: the answer's "sentences", or statements that the judge has
            "extracted" from it in a call of its own.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What an answer without text counts as: "zero", "nan" (left out of the mean) or "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_choice("statements", statements, ("sentences", "extracted"))
        self.statements: Literal["sentences", "extracted"] = statements
        self._later_calls = 1 if statements == "extracted" else 0
        # What Haystack's class says of itself.
        self.inputs = [("questions", list[str]), ("contexts", list[list[str]]), ("predicted_answers", list[str])]
        self.outputs = ["statements", "statement_scores"]
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
        statements = numbered("s", example_texts(outputs, "statements"))
        data = {
            "question": inputs["questions"],
            "answer": inputs["predicted_answers"],
            "contexts": numbered("c", example_texts(inputs, "contexts")),
            "statements": statements,
        }
        return data, {"verdicts": judged_example(outputs, "statement_scores", statements)}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        question, answer = row["questions"], row["predicted_answers"]
        contexts = [context for context in row["contexts"] if not blank(context)]
        if self.statements == "extracted" and contexts and not blank(answer):
            statements = await statements_of(ask, question, answer, self.language)
        else:
            statements = sentences(answer)
        if not statements:
            raise UndefinedScore(self._undefined_reason)
        if not contexts:
            return Judged(0.0, {"statements": statements, "statement_scores": [0] * len(statements)})
        data = {"question": question, "answer": answer, "contexts": numbered("c", contexts)}
        items = numbered("s", statements)
        verdicts = await ask.verdicts(self._prompt, data, "statements", items, translate=_from_stock_form)
        supported = [int(verdict) for verdict in verdicts.labels.values()]
        details: dict[str, Any] = {"statements": statements, "statement_scores": supported}
        if verdicts.agreement is not None:
            details["agreement"] = verdicts.agreement
        return Judged(share(supported), details)
