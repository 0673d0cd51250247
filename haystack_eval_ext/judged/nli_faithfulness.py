# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Faithfulness by a model for natural language inference. Source: Laban et al. 2022; Tang et al. 2024."""

import asyncio
import math
from typing import Any, Literal

import numpy as np
from haystack import Document, component
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret
from numpy.typing import NDArray

from haystack_eval_ext._formulas import share
from haystack_eval_ext._models import LoadedOnce, check_device, check_text, check_token
from haystack_eval_ext._parameters import check_choice, check_flag, check_integer, is_number
from haystack_eval_ext._progress import progress
from haystack_eval_ext._rows import describe
from haystack_eval_ext._scores import Gaps, OnUndefined, check_on_undefined, finish_rows, report_rows
from haystack_eval_ext._sentences import sentences
from haystack_eval_ext._serialization import Serialized
from haystack_eval_ext._text import blank, sendable
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.judged._nli import EntailmentModel, Pair
from haystack_eval_ext.judged._sockets import judged_rows

Contexts = list[list[str]] | list[list[Document]] | list[Document]
Answers = list[str] | list[ChatMessage] | list[GeneratedAnswer] | ChatMessage | str
# The least that leaves room for both texts between the special tokens.
_SHORTEST = 32


@component
class NLIFaithfulnessEvaluator(LoadedOnce, Serialized):
    """
    Scores how much of an answer a model finds entailed by the contexts. From 0 to 1, higher is better.

    No LLM judges, but a small model for natural language inference (NLI), which runs on this machine: it costs nothing
    per call, and the same texts always get the same score. Each sentence of the answer is a statement. The probability
    of a statement is the highest one that the model gives to "this context entails it", over all contexts; a context
    that is longer than what the model reads is cut into chunks of whole sentences first (Laban et al., SummaC, TACL
    2022, doi:10.1162/tacl_a_00453; Tang et al., MiniCheck, 2024, arXiv:2404.10774). A statement is supported if its
    probability is at least ``threshold``. The score is the number of supported statements divided by the number of
    statements; with ``score_by="probability"`` it is the mean of the probabilities.

    An answer without text is undefined. Without contexts nothing is supported: 0. What follows only from several
    contexts together is not supported, nor is a statement that cannot be understood without the sentence before it.

    `results` has `statements`, `statement_scores` (1 or 0 each) and `probabilities` for each row.

    No calls. Needs ``pip install "haystack-eval-ext[sas]"``. The model is loaded at the first run, or by ``warm_up``.

    Usage example:
    ```python
    from haystack_eval_ext import NLIFaithfulnessEvaluator

    evaluator = NLIFaithfulnessEvaluator("cross-encoder/nli-deberta-v3-small")
    result = evaluator.run(
        contexts=[["The report was written by Ada Park."]],
        predicted_answers=["The report was written by Ada Park. It was printed in Rome."],
    )
    print(result["score"], result["results"][0]["statement_scores"])
    # 0.5 [1, 0]
    ```
    """

    def __init__(
        self,
        model: str,
        batch_size: int = 32,
        device: ComponentDevice | None = None,
        token: Secret | None = Secret.from_env_var(["HF_API_TOKEN", "HF_TOKEN"], strict=False),  # noqa: B008
        *,
        label: str | None = None,
        threshold: float = 0.5,
        score_by: Literal["share", "probability"] = "share",
        max_length: int | None = None,
        on_undefined: OnUndefined = "zero",
        progress_bar: bool = True,
    ) -> None:
        """
        Create a NLIFaithfulnessEvaluator component.

        :param model: A sequence-classification model for NLI, which reads a premise and a hypothesis: its name on the
            Hugging Face hub, or a folder. From a folder it is loaded without network.
        :param batch_size: How many pairs of texts the model reads at once.
        :param device: Where the model runs; None: Haystack's default.
        :param token: The token for the hub.
        :param label: The label that stands for entailment, as the model's configuration names it: "LABEL_1". None: the
            only one whose name says so, such as "entailment". Of a model with a single label, which then must be named
            unless it is called so, the probability is the sigmoid of its output; of others it is the softmax.
        :param threshold: The probability from which a statement is supported, above 0 and at most 1.
        :param score_by: "share" of supported statements, or the mean "probability".
        :param max_length: How many tokens premise and hypothesis may have together; shorter chunks are found more
            exactly, and read faster each. None: as many as the model reads.
        :param on_undefined: What an answer without text counts as: "zero", "nan" (left out of the mean) or "raise".
        :param progress_bar: Whether to show a progress bar on a terminal.
        :raises ValueError: If a parameter has no such value, or a text is empty.
        :raises TypeError: If a parameter is of another type.
        """
        check_text("model", model, expected="the name of a model on the Hugging Face hub, or a folder")
        check_integer("batch_size", batch_size, minimum=1)
        check_device(device)
        check_token(token)
        if label is not None:
            check_text("label", label, expected="the name of one of the model's labels, or None")
        _check_threshold(threshold)
        check_choice("score_by", score_by, ("share", "probability"))
        if max_length is not None:
            check_integer("max_length", max_length, minimum=_SHORTEST)
        check_on_undefined(on_undefined)
        check_flag("progress_bar", progress_bar)
        self.model = model
        self.batch_size = batch_size
        self.device = device
        self.token = token
        self.label = label
        self.threshold = threshold
        self.score_by: Literal["share", "probability"] = score_by
        self.max_length = max_length
        self.on_undefined: OnUndefined = on_undefined
        self.progress_bar = progress_bar
        # No super(): the decorator rebuilds the class.
        LoadedOnce.__init__(self, model, device, token, label, max_length)

    def warm_up(self) -> None:
        """
        Load the model, once.

        :raises ImportError: If transformers or torch is missing.
        :raises ValueError: If the model is no sequence-classification model, or its label for entailment is unknown.
        """
        self._follow()
        with self._lock:
            self._load()

    def _load(self) -> EntailmentModel:
        if self._loaded is None:
            self._loaded = EntailmentModel(
                self.model, device=self.device, token=self.token, label=self.label, longest=self.max_length
            )
        model: EntailmentModel = self._loaded
        return model

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        results=list[dict[str, Any]],
        errors=list[str | None],
    )
    def run(self, contexts: Contexts, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each row.

        :param contexts: What the generator was given: for each row a list of texts or Documents.
        :param predicted_answers: The answer of each row: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores, without the rows that failed;
            - `individual_scores`: a float for each row, in the order given; NaN for a row that failed;
            - `statuses`: "scored" or "undefined" for each row, "error" if the model gave no finite number;
            - `results`: for each row `statements`, `statement_scores` (1 or 0 each) and `probabilities`, with `score`
              and `status`;
            - `errors`: why a row has no score, else None.
        :raises ValueError: If there are no rows, the inputs differ in length, or the model does not fit.
        :raises TypeError: If something is of the wrong type; the message names input and row.
        :raises UndefinedScore: If an answer has no text and ``on_undefined`` is "raise".
        :raises ImportError: If transformers or torch is missing.
        """
        self._follow()
        name = type(self).__name__
        rows = judged_rows(
            ("contexts", "predicted_answers"), (), {"contexts": contexts, "predicted_answers": predicted_answers}
        )
        statements = [sentences(row["predicted_answers"]) for row in rows]
        reason = "the answer has no statements"
        undefined = {number: reason for number, row in enumerate(statements) if not row}
        if self.on_undefined == "raise":  # before the model is loaded
            report_rows(len(rows), self.on_undefined, Gaps(undefined), metric=name)
        sources = [[context for context in row["contexts"] if not blank(context)] for row in rows]
        probabilities = self._probabilities(statements, sources)
        broken = [number for number, row in enumerate(probabilities) if any(map(math.isnan, row))]
        values = np.array([self._score(row) for row in probabilities], dtype=np.float64)
        scores = finish_rows(
            values,
            self.on_undefined,
            metric=name,
            reason=reason,
            failed=dict.fromkeys(broken, "the model gave no finite number"),
        )
        results = [
            self._result([], [], score, "error") if status == "error" else self._result(texts, row, score, "evaluated")
            for texts, row, score, status in zip(
                statements, probabilities, scores.individual_scores, scores.statuses, strict=True
            )
        ]
        return {**scores._asdict(), "results": results}

    @component.output_types(
        score=float,
        individual_scores=list[float],
        statuses=list[str],
        results=list[dict[str, Any]],
        errors=list[str | None],
    )
    async def run_async(self, contexts: Contexts, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each row in a thread, so that the event loop goes on.

        :param contexts: As for :meth:`run`.
        :param predicted_answers: As for :meth:`run`.
        :returns: The same outputs as :meth:`run`.
        """
        return await asyncio.to_thread(self.run, contexts=contexts, predicted_answers=predicted_answers)

    def _probabilities(self, statements: list[list[str]], sources: list[list[str]]) -> list[list[float]]:
        """The probability of each statement of each row; no model is loaded where there is nothing to compare."""
        if not any(texts and contexts for texts, contexts in zip(statements, sources, strict=True)):
            return [[0.0] * len(texts) for texts in statements]
        with self._lock:
            model = self._load()
            try:
                pairs, plan = _pair_up(model, statements, sources)
                with progress(type(self).__name__, len(pairs), shown=self.progress_bar) as bar:
                    values = model.probabilities(pairs, batch_size=self.batch_size, done=bar.update)
            finally:
                model.forget()
        return [[_least(parts, values) for parts in row] for row in plan]

    def _supported(self, probabilities: list[float]) -> list[int]:
        return [int(probability >= self.threshold) for probability in probabilities]

    def _score(self, probabilities: list[float]) -> float:
        if not probabilities:
            return math.nan
        if self.score_by == "probability":
            return math.fsum(probabilities) / len(probabilities)
        return share(self._supported(probabilities))

    def _result(self, statements: list[str], probabilities: list[float], score: float, status: str) -> dict[str, Any]:
        return {
            "statements": statements,
            "statement_scores": self._supported(probabilities),
            "probabilities": probabilities,
            "score": score,
            "status": status,
        }


def _check_threshold(threshold: object) -> None:
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        msg = f"threshold must be a number above 0 and at most 1, but is {describe(threshold)}."
        raise InvalidTypeError(msg)
    if not is_number(threshold) or not 0 < threshold <= 1:
        msg = f"threshold must be a number above 0 and at most 1, but is {threshold!r}."
        raise InvalidValueError(msg)


def _pair_up(
    model: EntailmentModel, statements: list[list[str]], sources: list[list[str]]
) -> tuple[list[Pair], list[list[list[list[int]]]]]:
    """
    Each different pair of premise and hypothesis once; and for each row, statement and part of it, their numbers.

    Which premises a hypothesis gets depends on nothing but it and the row's contexts.
    """
    numbers: dict[Pair, int] = {}

    def pairs_of(part: str, contexts: list[str]) -> list[int]:
        premises = [premise for context in contexts for premise in model.premises(context, part)]
        return [numbers.setdefault((premise, part), len(numbers)) for premise in premises]

    plan = []
    for texts, contexts in zip(statements, sources, strict=True):
        readable = [sendable(context) for context in contexts]
        plan.append([[pairs_of(part, readable) for part in model.parts(sendable(text))] for text in texts])
    return list(numbers), plan


def _least(parts: list[list[int]], values: NDArray[np.float64]) -> float:
    """The probability of a statement: each part by the context that supports it best, the worst part counts."""
    # Not min(): it may miss NaN.
    return float(np.min([values[numbers].max() if numbers else 0.0 for numbers in parts]))
