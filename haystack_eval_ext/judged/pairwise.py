# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Two answers compared. Source: Zheng et al., NeurIPS 2023 (arXiv:2306.05685); Wang et al., arXiv:2305.17926."""

from collections import Counter
from typing import Any, Literal

from haystack import component

from haystack_eval_ext._formulas import share
from haystack_eval_ext._parameters import check_choice
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import InvalidTypeError
from haystack_eval_ext.judged._ask import Ask, Verdicts
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._items import shown
from haystack_eval_ext.judged._policy import JudgePolicy

_VERDICTS = ("first", "second", "tie")
_WINNERS = ("predicted", "other", "tie")
_EVIDENCE = ("contexts", "ground_truth_answers")
_SCORES = {"predicted": 1.0, "tie": 0.5, "other": 0.0}


@component
class PairwiseEvaluator(JudgedEvaluator):
    """
    Scores whether an answer is better than another one: 1, or 0.5 for a tie. From 0 to 1, higher is better.

    Judges tend to prefer what stands first. So each pair is shown in both orders, and an answer wins only if it wins in
    both; all else is a tie (Zheng et al., Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS 2023). The
    mean is the win rate, where a tie is half a win: above 0.5 `predicted_answers` are better. Texts that are equal, but
    for white space around them, tie without a call, also two blank ones: no row is undefined. With several votes a
    verdict in one order needs more than half of them, else it is "tie".

    Calls per row: two, at the same time; none for equal texts.

    `results` has for each row the `winner` ("predicted", "other" or "tie"), the `verdicts` ("first", "second" or "tie")
    with the predicted answer first and with the other answer first (none for equal texts), and `consistent`, whether
    both name the same winner (None for equal texts).

    `summary` has `wins`, `ties` and `losses` of `predicted_answers`; `consistency`, the share of the pairs asked about
    whose verdicts name the same winner; and `first_position_preference` = (f - s) / (f + s) from -1 to 1, where f and s
    are the inconsistent pairs whose verdicts lean to the first and to the second position (Wang et al., Large Language
    Models are not Fair Evaluators, ACL 2024; Shi et al., arXiv:2406.07791). Both are None without such pairs.

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import PairwiseEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator. This one always takes the first.
    evaluator = PairwiseEvaluator(chat_generator=MockChatGenerator('{"verdicts": {"p1": "first"}}'))
    result = evaluator.run(
        questions=["Who built the mill?"],
        predicted_answers=["Jan Bakker built it in 1702."],
        other_answers=["Somebody from the village."],
    )
    print(result["score"], result["summary"]["consistency"], result["summary"]["first_position_preference"])
    # 0.5 0.0 1.0
    ```
    """

    _inputs: tuple[str, ...] = ("questions", "predicted_answers", "other_answers")
    _optional: tuple[str, ...] = _EVIDENCE
    _prompt_name = "pairwise"
    _empty_details = {"winner": None, "verdicts": [], "consistent": None}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        evidence: list[Literal["contexts", "ground_truth_answers"]] | None = None,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create a PairwiseEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "predicted_answers", "other_answers" and the evidence, "outputs" has "winner", all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged, after all were tried; the error
            carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param evidence: What the judge is shown besides question and answers: "contexts", "ground_truth_answers" or
            both. They become inputs that must be given; without them the component has no such inputs.
        :param instructions: The judge's task in place of the prompt's own, for example to say what is better.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: As in the other evaluators; no row of this one is undefined.
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        if evidence is not None and not isinstance(evidence, list):
            msg = f"evidence must be a list of {' and '.join(_EVIDENCE)}, or None, but is {describe(evidence)}."
            raise InvalidTypeError(msg)
        for name in evidence or []:
            check_choice("evidence", name, _EVIDENCE)
        self.evidence = evidence
        self._evidence = [name for name in _EVIDENCE if name in (evidence or [])]
        self._inputs = ("questions", "predicted_answers", "other_answers", *self._evidence)
        self._optional = ()
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
        check_choice("An example's winner", outputs["winner"], _WINNERS)
        data = shown(inputs, ("questions", *self._evidence))
        pair = _pair(inputs["predicted_answers"], inputs["other_answers"])
        return data | {"pairs": pair}, {"verdicts": {"p1": _VERDICTS[_WINNERS.index(outputs["winner"])]}}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        predicted, other = row["predicted_answers"], row["other_answers"]
        if predicted.strip() == other.strip() or (blank(predicted) and blank(other)):
            return Judged(_SCORES["tie"], {"winner": "tie", "verdicts": [], "consistent": None})
        data = shown(row, ("questions", *self._evidence))
        orders = await ask.together(
            *(
                ask.verdicts(self._prompt, data, "pairs", pair, _VERDICTS)
                for pair in (_pair(predicted, other), _pair(other, predicted))
            )
        )
        verdicts = [_verdict(order) for order in orders]
        # In the second order the predicted answer stands second.
        winner = {("first", "second"): "predicted", ("second", "first"): "other"}.get((verdicts[0], verdicts[1]), "tie")
        consistent = winner != "tie" or verdicts == ["tie", "tie"]
        details: dict[str, Any] = {"winner": winner, "verdicts": verdicts, "consistent": consistent}
        agreements = [order.agreement for order in orders if order.agreement is not None]
        if agreements:
            details["agreement"] = sum(agreements) / len(agreements)
        return Judged(_SCORES[winner], details)

    def _summary(self, outcomes: list[Any], rows: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002
        judged = [outcome.details for outcome in outcomes if outcome.status == "scored"]
        winners = Counter(details["winner"] for details in judged)
        asked = [details for details in judged if details["consistent"] is not None]
        leanings = [
            details["verdicts"].count("first") - details["verdicts"].count("second")
            for details in asked
            if not details["consistent"]
        ]
        first = sum(leaning > 0 for leaning in leanings)
        return {
            "wins": winners["predicted"],
            "ties": winners["tie"],
            "losses": winners["other"],
            "consistency": share([int(details["consistent"]) for details in asked]) if asked else None,
            "first_position_preference": (2 * first - len(leanings)) / len(leanings) if leanings else None,
        }


def _verdict(order: Verdicts) -> str:
    """The verdict in one order; votes without a majority see no clear difference."""
    split = order.agreement is not None and order.agreement <= 0.5  # noqa: PLR2004 - half of the votes
    return "tie" if split else str(order.labels["p1"])


def _pair(first: str, second: str) -> dict[str, dict[str, str]]:
    return {"p1": {"first": first, "second": second}}
