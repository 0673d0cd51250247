# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
Context relevance by quotes that are looked up. Source: Es et al., RAGAS: Automated Evaluation of Retrieval Augmented
Generation, EACL 2024, which extracts sentences as well; the score is Haystack's.
"""

import math
from collections.abc import Mapping
from typing import Any, Literal

from haystack import component

from haystack_eval_ext._formulas import share
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import InvalidValueError, UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._forms import Form
from haystack_eval_ext.judged._items import example_texts, numbered
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._quotes import Passage, located, quotes_form
from haystack_eval_ext.judged._stock_methods import StockMethods

_KEY = "relevant_sentences"
_STOCK_KEY = "relevant_statements"


@component
class ContextRelevanceEvaluator(StockMethods, JudgedEvaluator):
    """
    Scores whether the contexts of a question help to answer it. From 0 to 1, higher is better.

    The judge quotes, for each context, the sentences that are needed to answer the question. A quote counts if its
    words stand in that context side by side, and are a sentence of it or at least three words (four characters in
    scripts without spaces); case, white space, punctuation and Unicode form are free. A context is relevant if at least
    one quote counts. The score is 1 if any context is relevant, else 0, as in Haystack's own
    evaluator; with ``score_by="share"`` it is the number of relevant contexts divided by the number of contexts that
    are not blank. Without contexts it is 0, and no call is made. Without a question it is undefined.

    Calls per row: one. Contexts that a reply leaves out are asked about again, alone. With several votes a context is
    relevant if more than half of them quote it rightly.

    `results` has for each row `relevant_statements` (the quotes that count, of the relevant contexts),
    `relevant_contexts` (1 or 0 for each context in order, 0 for a blank one), `share` (of the contexts that are not
    blank), and `not_in_context` (quotes that do not count).

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import ContextRelevanceEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    reply = '{"relevant_sentences": {"c1": ["The ferry leaves at six."], "c2": []}}'
    evaluator = ContextRelevanceEvaluator(chat_generator=MockChatGenerator(reply))
    result = evaluator.run(
        questions=["When does the ferry leave?"],
        contexts=[["The ferry leaves at six. It has a café.", "The harbour is old."]],
    )
    print(result["score"], result["results"][0]["relevant_contexts"], result["results"][0]["share"])
    # 1.0 [1, 0] 0.5
    ```
    """

    _inputs = ("questions", "contexts")
    _prompt_name = "context_relevance"
    _undefined_reason = "there is no question"
    _empty_details = {  # noqa: RUF012 - never changed
        "relevant_statements": [],
        "relevant_contexts": [],
        "share": math.nan,
        "not_in_context": [],
    }

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        score_by: Literal["any", "share"] = "any",
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a ContextRelevanceEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions" and
            "contexts", "outputs" has "relevant_statements", sentences of these contexts, all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param score_by: What the score is: 1 if "any" context is relevant, or the "share" of relevant contexts.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row with a blank question counts as: "zero", "nan" (left out of the mean) or
            "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_choice("score_by", score_by, ("any", "share"))
        self.score_by: Literal["any", "share"] = score_by
        # What Haystack's class says of itself.
        self.inputs = [("questions", list[str]), ("contexts", list[list[str]])]
        self.outputs = [_STOCK_KEY]
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
        contexts, statements = numbered("c", example_texts(inputs, "contexts")), example_texts(outputs, _STOCK_KEY)
        found = located(statements, contexts)
        if len(contexts) == 1:
            # Where there is but one place, a sentence in other words belongs there all the same.
            found = dict.fromkeys(contexts, statements)
        elif any(not any(statement in texts for texts in found.values()) for statement in statements):
            msg = "a text in 'relevant_statements' stands in none of its contexts as a sentence or three words."
            raise InvalidValueError(msg)
        return {"question": inputs["questions"], "contexts": contexts}, {_KEY: found}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        question = row["questions"]
        if blank(question):
            raise UndefinedScore(self._undefined_reason)
        places = [number for number, context in enumerate(row["contexts"]) if not blank(context)]
        contexts = numbered("c", [row["contexts"][place] for place in places])
        if not contexts:
            return Judged(0.0, {**self._empty_details, "relevant_contexts": [0] * len(row["contexts"]), "share": 0.0})

        def form_of(part: Mapping[str, str]) -> Form[dict[str, list[str]]]:
            return quotes_form(_KEY, part, _STOCK_KEY)

        votes = await ask.together(
            *(
                ask.cover(self._prompt, {"question": question}, "contexts", contexts, form_of, vote)
                for vote in range(self.policy.votes)
            )
        )
        relevant = [0] * len(row["contexts"])
        counted: dict[str, None] = {}
        dropped: dict[str, None] = {}
        agreements = []
        for place, (name, context) in zip(places, contexts.items(), strict=True):
            passage = Passage(context)
            found = [[quote for quote in vote[name] if passage.has(quote)] for vote in votes]
            agreeing = sum(map(bool, found))
            relevant[place] = int(2 * agreeing > len(votes))
            agreements.append(max(agreeing, len(votes) - agreeing) / len(votes))
            if relevant[place]:
                counted |= dict.fromkeys(quote for quotes in found for quote in quotes)
            dropped |= dict.fromkeys(quote for vote in votes for quote in vote[name] if not passage.has(quote))
        part = share([relevant[place] for place in places])
        details: dict[str, Any] = {
            _STOCK_KEY: list(counted),
            "relevant_contexts": relevant,
            "share": part,
            "not_in_context": list(dropped),
        }
        if len(votes) > 1:
            details["agreement"] = sum(agreements) / len(agreements)
        return Judged(part if self.score_by == "share" else float(any(relevant)), details)
