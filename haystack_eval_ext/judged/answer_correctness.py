# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer correctness. Source: that of Ragas 0.4, but precision and recall each count their own text's sentences."""

import math
from typing import Any, NamedTuple

from haystack import component

from haystack_eval_ext._embedding import check_embedder
from haystack_eval_ext._formulas import f_beta, share
from haystack_eval_ext._parameters import is_number
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext.errors import InvalidValueError, UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._items import judged_example, numbered, reference_texts
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._running import judge_rows
from haystack_eval_ext.judged._similarities import PENDING, Pending, Similarities, judge_and_compare

_DEFAULT_WEIGHTS = (0.75, 0.25)


class _Factual(NamedTuple):
    """What the judge said of an answer and one reference."""

    reference: str
    answer_statements: list[str]
    answer_statement_scores: list[int]
    reference_statements: list[str]
    reference_statement_scores: list[int]
    precision: float
    recall: float
    factual: float
    agreement: float | None


@component
class AnswerCorrectnessEvaluator(JudgedEvaluator):
    """
    Scores how well an answer agrees with its reference, in its facts and in its meaning. From 0 to 1, higher is better.

    With P, the share of the answer's sentences that the judge finds supported by the reference, R, the share of the
    reference's sentences that it finds covered by the answer, and the cosine of the two texts' embeddings, of which a
    negative one counts as 0:

        factual = (1 + beta^2) * P * R / (beta^2 * P + R), or 0 if P and R are 0
        score = (weights[0] * factual + weights[1] * max(0, cosine)) / (weights[0] + weights[1])

    P counts sentences of the answer and R those of the reference, so that neither is distorted by how the other text
    is split. Of several references the best one counts. An answer without a sentence scores 0 against a reference, and
    no call is made. A row without a reference is "not_run" and out of the mean. Where no reference has a sentence
    ("..."), the score is undefined, whatever the answer; so is an embedding of zeros. A refusal is a sentence that the
    reference does not support.

    Calls per row: one to the judge for each different reference. With ``weights[1]`` above 0 the texts of all rows,
    each different one once, are embedded after that: by one call of a document embedder, which asks in batches itself,
    or by one call each of a text embedder. `usage` counts the embedder's tokens apart, as
    `embedding_tokens`, where it tells them. The policy's cache keeps the vectors, too.

    `results` has, of the reference that counts, its text as `reference` (None where there is none), `factual`,
    `precision`, `recall`, `similarity` (None without an embedder), `answer_statements` and `reference_statements` with
    `answer_statement_scores` and `reference_statement_scores` (1 or 0 each).

    Usage example:
    ```python
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import AnswerCorrectnessEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0), or any other ChatGenerator. Default weights need an embedder.
    evaluator = AnswerCorrectnessEvaluator(
        chat_generator=MockChatGenerator('{"verdicts": {"a1": 1, "r1": 1, "r2": 0}}'), weights=[1.0, 0.0]
    )
    result = evaluator.run(
        questions=["Who wrote the report, and when?"],
        predicted_answers=["Ada Park wrote it."],
        ground_truth_answers=["Ada Park wrote it. It dates from 2019."],
    )
    print(round(result["score"], 3), result["results"][0]["precision"], result["results"][0]["recall"])
    # 0.667 1.0 0.5
    ```
    """

    _inputs = ("questions", "predicted_answers", "ground_truth_answers")
    _prompt_name = "answer_correctness"
    _undefined_reason = "no reference has a sentence, or an embedding of zeros"
    _empty_details = {  # noqa: RUF012 - never changed
        "reference": None,
        "factual": None,
        "precision": None,
        "recall": None,
        "similarity": None,
        "answer_statements": [],
        "answer_statement_scores": [],
        "reference_statements": [],
        "reference_statement_scores": [],
    }

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        embedder: Any = None,
        weights: list[float] | None = None,
        beta: float = 1.0,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerCorrectnessEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "questions",
            "predicted_answers" and "ground_truth_answers" (one text), "outputs" has "answer_statements",
            "answer_statement_scores", "reference_statements" and "reference_statement_scores", all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged or embedded, after all were
            tried; the error carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param embedder: Any document embedder or text embedder of Haystack; needed where ``weights[1]`` is above 0. A
            text that it cannot embed costs the rows it stands in.
        :param weights: Weight of the facts, above 0, and of the similarity, at least 0. None: [0.75, 0.25].
        :param beta: How many times as much recall weighs as precision, above 0.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja".
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy.
        :param on_undefined: What an undefined row counts as: "zero", "nan" (left out of the mean) or "raise". One
            without a reference is left out, whatever is set here.
        :raises ValueError: If a value is not one of those that are possible, or the embedder is missing.
        :raises TypeError: If something is of the wrong type.
        """
        self.weights = _read_weights(weights)
        if not is_number(beta) or beta <= 0 or not math.isfinite(float(beta) * float(beta)):
            msg = f"beta must be a number above 0, but is {beta if is_number(beta) else describe(beta)}."
            raise InvalidValueError(msg)
        if self.weights[1] and embedder is None:
            msg = (
                f"embedder is missing: weights[1], the weight of the similarity, is {self.weights[1]}. Give a document "
                "embedder or a text embedder, or weights=[1.0, 0.0] for the facts alone."
            )
            raise InvalidValueError(msg)
        if embedder is not None:
            check_embedder(embedder)
        self.beta = beta
        self.embedder = embedder
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
        of_answer, of_reference = (
            numbered(name[0], outputs[name]) for name in ("answer_statements", "reference_statements")
        )
        data = {
            "question": inputs["questions"],
            "answer": inputs["predicted_answers"],
            "reference": inputs["ground_truth_answers"],
            "statements": of_answer | of_reference,
        }
        verdicts = judged_example(outputs, "answer_statement_scores", of_answer) | judged_example(
            outputs, "reference_statement_scores", of_reference
        )
        return data, {"verdicts": verdicts}

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        """The judge's part of the score: the facts, for each reference; similarities wait for the embedder."""
        references = {
            text: found for text in reference_texts(row["ground_truth_answers"]) if (found := sentences(text))
        }
        if not references:
            msg = "no reference has a sentence"
            raise UndefinedScore(msg)
        answer = row["predicted_answers"]
        statements = sentences(answer)
        if not statements:
            text, missed = next(iter(references.items()))
            nothing = _Factual(text, [], [], missed, [0] * len(missed), 0.0, 0.0, 0.0, None)
            return Judged(0.0, _details(nothing, 0.0 if self.weights[1] else None))

        async def judge(text: str, wanted: list[str]) -> _Factual:
            data = {"question": row["questions"], "answer": answer, "reference": text}
            of_answer, of_reference = numbered("a", statements), numbered("r", wanted)
            verdicts = await ask.verdicts(self._prompt, data, "statements", of_answer | of_reference)
            supported, covered = ([int(verdicts.labels[name]) for name in part] for part in (of_answer, of_reference))
            precision, recall = share(supported), share(covered)
            factual = f_beta(precision, recall, self.beta)
            return _Factual(
                text, statements, supported, wanted, covered, precision, recall, factual, verdicts.agreement
            )

        judged = await ask.together(*(judge(text, wanted) for text, wanted in references.items()))
        best = max(judged, key=lambda one: one.factual)
        details = _details(best, None)
        if self.weights[1]:
            texts = [answer, *(one.reference for one in judged)]
            details[PENDING] = Pending(texts, lambda similar: self._best(similar, answer, judged))
        return Judged(best.factual, details)

    def _compares_texts(self) -> bool:
        return bool(self.weights[1])

    async def _judge(self, rows: list[dict[str, Any]]) -> Any:
        return await (judge_and_compare(self, rows) if self.weights[1] else judge_rows(self, rows))

    def _best(self, similar: Similarities, answer: str, judged: list[_Factual]) -> tuple[float, dict[str, Any]]:
        """The score against the reference that it is highest against; one that cannot be compared spoils the row."""
        factual_weight, similarity_weight = self.weights
        scored = []
        for one in judged:
            similarity = similar.of(answer, one.reference)
            # Not sum(): from Python 3.12 on it rounds otherwise than +, and perfect would not be 1.
            score = (factual_weight * one.factual + similarity_weight * similarity) / (
                factual_weight + similarity_weight
            )
            scored.append((score, _details(one, similarity)))
        return max(scored, key=lambda pair: pair[0])


def _details(one: _Factual, similarity: float | None) -> dict[str, Any]:
    details = {**one._asdict(), "similarity": similarity}
    if one.agreement is None:
        del details["agreement"]
    return details


def _read_weights(weights: Any) -> list[float]:
    if weights is None:
        return list(_DEFAULT_WEIGHTS)
    if not isinstance(weights, list) or len(weights) != len(_DEFAULT_WEIGHTS):
        msg = (
            "weights must be a list of two numbers, the weight of the facts and that of the similarity, but is "
            f"{describe(weights)}{f' of {len(weights)}' if isinstance(weights, list) else ''}."
        )
        raise InvalidValueError(msg)
    for place, weight in enumerate(weights):
        if not is_number(weight):
            came = repr(weight) if isinstance(weight, float) else describe(weight)
            msg = f"weights[{place}] must be a finite number, but is {came}."
            raise InvalidValueError(msg)
    if weights[0] <= 0 or weights[1] < 0 or not math.isfinite(weights[0] + weights[1]):
        msg = (
            f"weights[0] must be above 0 and weights[1] at least 0, but weights is {weights}. For the similarity alone "
            "use AnswerEmbeddingSimilarityEvaluator."
        )
        raise InvalidValueError(msg)
    return list(weights)
