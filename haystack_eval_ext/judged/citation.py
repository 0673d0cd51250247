# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Citation quality. Source: Gao et al., Enabling LLMs to Generate Text with Citations (ALCE), EMNLP 2023."""

import math
from typing import Any, Literal, NamedTuple

from haystack import component

from haystack_eval_ext._formulas import f_beta, share
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._rows import Source
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask, Verdicts
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._citations import Statement, cited_statements
from haystack_eval_ext.judged._items import judged_example, numbered
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._sockets import SOCKETS, SOURCES

_SCORES = ("f1", "recall", "precision")


class _Check(NamedTuple):
    """A question to the judge: is the statement supported by these contexts together?"""

    statement: str
    contexts: frozenset[int]


@component
class CitationEvaluator(JudgedEvaluator):
    """
    Scores how well the citations of an answer support its sentences. From 0 to 1, higher is better.

    An answer cites contexts in brackets, by number, from 1, or by the id of a Document: [1], [2][3], [1, 2], [1-3],
    [doc-7]. If a Document has the id "2", then [2] is that Document. Each sentence is a statement, with the citations
    in it and right after it. [1-3] is three citations, one of each number, whether or not there are so many contexts. A
    range that falls, as [3-1], or has more than 50 numbers, as [1-99], is no citation, and stays in the text.

    - The recall of a sentence is 1 if all contexts that it cites, taken together, support it, else 0. Without citations
      it is 0. `citation_recall` is the mean over the answer's sentences.
    - The precision of a citation is 1 if the recall of its sentence is 1 and either the cited context alone supports
      the sentence, or the other ones without it do not; else 0. A citation that names no context with a text has 0; a
      context that a sentence cites twice counts once. `citation_precision` is the mean over the answer's citations.
    - `citation_f1` = 2 * precision * recall / (precision + recall), 0 if both are 0 or nothing is cited.

    An answer without a sentence is undefined, and so is its precision if it cites nothing. Source of the definitions:
    Gao et al., Enabling Large Language Models to Generate Text with Citations, EMNLP 2023 (arXiv:2305.14627). There a
    citation of no context makes the recall of its sentence 0, and an answer that cites nothing has precision 0.

    Calls per row: one, in which each sentence is seen with all contexts that it cites and with each alone; a second one
    only for sentences that cite three or more, of which one alone does not support it. None if nothing is cited.

    `results` has for each row the `statements` (the sentences without their citations), `statement_recalls` (1 or 0 for
    each), `citations` (for each statement a list of `cited`, as written, `context`, its place from 0 or None, and
    `precision`, 1 or 0), and `citation_recall`, `citation_precision` and `citation_f1`, None where there is none.
    `summary` has the means of these three over the rows that have them.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import CitationEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator.
    evaluator = CitationEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"i1": 1, "i2": 0}}'))
    result = evaluator.run(
        questions=["When was the lamp lit, and who built the tower?"],
        contexts=[["The lamp was first lit in 1874.", "The tower is a work of masons from Delft."]],
        predicted_answers=["The lamp was lit in 1874 [1]. Masons from Ghent built the tower [2]."],
    )
    print(result["score"], result["results"][0]["statement_recalls"])
    # 0.5 [1, 0]
    ```
    """

    _inputs = ("questions", "contexts", "predicted_answers")
    _sockets = {**SOCKETS, "contexts": SOURCES}  # noqa: RUF012 - never changed
    _prompt_name = "citation"
    _undefined_reason = "the answer has no sentence or, for precision, no citation"
    _later_calls = 1
    _empty_details = {  # noqa: RUF012 - never changed
        "statements": [],
        "statement_recalls": [],
        "citations": [],
        "citation_recall": None,
        "citation_precision": None,
        "citation_f1": None,
    }

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        score_by: Literal["f1", "recall", "precision"] = "f1",
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a CitationEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "predicted_answers", and "statements", a list of dictionaries with a "statement" and its list of "sources";
            "outputs" has "statement_scores", 1 or 0 for each; all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param score_by: Which of the three figures is the score: "f1", "recall" or "precision".
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What a row without the score counts as: "zero", "nan" (left out of the mean) or "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_choice("score_by", score_by, _SCORES)
        self.score_by: Literal["f1", "recall", "precision"] = score_by
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
        items = numbered("i", inputs["statements"])
        data = {"question": inputs["questions"], "answer": inputs["predicted_answers"], "statements": items}
        return data, {"verdicts": judged_example(outputs, "statement_scores", items)}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        statements = cited_statements(row["predicted_answers"], row["contexts"])
        if not statements:
            raise UndefinedScore(self._undefined_reason)
        supported: dict[_Check, int] = {}
        agreements: list[float] = []
        for checks_of in (_first_checks, _later_checks):
            checks = [check for statement in statements for check in checks_of(statement, supported)]
            new = numbered("i", dict.fromkeys(checks))
            if new:
                verdicts = await self._ask(ask, row, new)
                supported |= {check: int(verdicts.labels[name]) for name, check in new.items()}
                agreements += [verdicts.agreement] * len(new) if verdicts.agreement is not None else []
        details = _details(statements, supported)
        if agreements:
            details["agreement"] = sum(agreements) / len(agreements)
        score = details[f"citation_{self.score_by}"]
        return Judged(math.nan if score is None else score, details)

    async def _ask(self, ask: Ask, row: Row, checks: dict[str, _Check]) -> Verdicts:
        contexts: list[Source] = row["contexts"]
        items = {
            name: {"statement": check.statement, "sources": [contexts[place].text for place in sorted(check.contexts)]}
            for name, check in checks.items()
        }
        data = {"question": row["questions"], "answer": row["predicted_answers"]}
        return await ask.verdicts(self._prompt, data, "statements", items)

    def _summary(self, outcomes: list[Any], rows: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        summary: dict[str, Any] = {}
        for name in ("citation_recall", "citation_precision", "citation_f1"):
            values = [outcome.details[name] for outcome in outcomes if outcome.details[name] is not None]
            summary[name] = math.fsum(values) / len(values) if values else None
        return summary


def _cited(statement: Statement) -> frozenset[int]:
    return frozenset(citation.context for citation in statement.citations if citation.context is not None)


def _first_checks(statement: Statement, supported: dict[_Check, int]) -> list[_Check]:  # noqa: ARG001 - as below
    """All that a sentence cites, and each alone."""
    cited = _cited(statement)
    together = [_Check(statement.text, cited)] if cited else []
    return together + [_Check(statement.text, frozenset([place])) for place in sorted(cited)]


def _later_checks(statement: Statement, supported: dict[_Check, int]) -> list[_Check]:
    """What a supported sentence cites without a context that does not support it alone."""
    text, cited = statement.text, _cited(statement)
    if not cited or not supported[_Check(text, cited)]:
        return []
    checks = [
        _Check(text, cited - {place}) for place in sorted(cited) if not supported[_Check(text, frozenset([place]))]
    ]
    return [check for check in checks if check.contexts and check not in supported]


def _precision(text: str, context: int | None, cited: frozenset[int], supported: dict[_Check, int]) -> int:
    if context is None or not supported[_Check(text, cited)]:
        return 0
    alone, rest = _Check(text, frozenset([context])), _Check(text, cited - {context})
    return int(supported[alone] or not (rest.contexts and supported[rest]))


def _details(statements: list[Statement], supported: dict[_Check, int]) -> dict[str, Any]:
    recalls: list[int] = []
    citations: list[list[dict[str, Any]]] = []
    for statement in statements:
        cited = _cited(statement)
        recalls.append(supported[_Check(statement.text, cited)] if cited else 0)
        citations.append(
            [
                {**citation._asdict(), "precision": _precision(statement.text, citation.context, cited, supported)}
                for citation in statement.citations
            ]
        )
    precisions = [citation["precision"] for entries in citations for citation in entries]
    recall = share(recalls)
    precision = share(precisions) if precisions else None
    return {
        "statements": [statement.text for statement in statements],
        "statement_recalls": recalls,
        "citations": citations,
        "citation_recall": recall,
        "citation_precision": precision,
        "citation_f1": f_beta(precision or 0.0, recall),
    }
