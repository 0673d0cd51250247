# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer similarity by any Haystack embedder. Source: Risch et al., MRQA 2021, for bi-encoders as in sas.py."""

from collections import Counter
from typing import Any

import numpy as np
from haystack import component

from haystack_eval_ext._calls import release
from haystack_eval_ext._embedding import (
    Embedded,
    check_embedder,
    close,
    embed,
    embed_async,
    stack,
    warm_up,
    warm_up_async,
)
from haystack_eval_ext._rows import answer_rows
from haystack_eval_ext._scores import OnUndefined, check_on_undefined, in_a_run, list_rows
from haystack_eval_ext._serialization import Serialized
from haystack_eval_ext.answers._base import Answers, References
from haystack_eval_ext.answers._similarity import (
    TextPairs,
    pair_cosines,
    pair_up,
    similarity_rows,
)
from haystack_eval_ext.errors import FailedRowsError


@component
class AnswerEmbeddingSimilarityEvaluator(Serialized):
    """
    Scores how close in meaning an answer is to the best of its references. From -1 to 1, higher is better.

    The score is the cosine of the two texts' embeddings. Any embedder of Haystack serves, local or behind an API.
    Each different text is embedded once; a document embedder gets all of them in one call and asks in batches, a text
    embedder is called text by text. A blank text is not sent, since most services refuse it: it scores 1 against a
    blank text and 0 against any other, as in SQuAD's F1.

    A failed call of a document embedder is repeated with half of its texts each, down to the single text: one bad text
    among n costs at most 2 log2(n) + 3 calls, and any number of them fewer than 2n. Once 10 single texts, drawn by lot,
    have failed and no call has succeeded, the service is taken to be down, and the remaining texts fail unasked.

    Usage example:
    ```python
    from haystack.components.embedders import MockDocumentEmbedder
    from haystack_eval_ext import AnswerEmbeddingSimilarityEvaluator

    evaluator = AnswerEmbeddingSimilarityEvaluator(MockDocumentEmbedder())  # a real one: OpenAIDocumentEmbedder()
    result = evaluator.run(
        ground_truth_answers=[["Berlin", "in Berlin"], ["in 1889"]],
        predicted_answers=["in Berlin", ""],
    )
    print([round(score, 4) for score in result["individual_scores"]])
    # [1.0, 0.0]
    ```
    """

    # Since 2 a row without a reference is not run.
    _rule_version = 2

    def __init__(
        self,
        embedder: Any,
        *,
        on_undefined: OnUndefined = "zero",
        raise_on_failure: bool = True,
    ) -> None:
        """
        Create an AnswerEmbeddingSimilarityEvaluator component.

        :param embedder: A document embedder or a text embedder.
        :param on_undefined: What a question with an embedding of zeros counts as: "zero", "nan" (left out of the mean)
            or "raise". One without a reference is "not_run" and left out, whatever is set here.
        :param raise_on_failure: Whether to raise an error if texts could not be embedded, after all were tried; the
            error carries the result. If not, their rows are NaN with the status "error".
        :raises ValueError: If there is no such policy.
        :raises TypeError: If the embedder is none.
        """
        check_on_undefined(on_undefined)
        check_embedder(embedder)
        self.embedder = embedder
        self.on_undefined: OnUndefined = on_undefined
        self.raise_on_failure = raise_on_failure

    def warm_up(self) -> None:
        """
        Prepare the embedder, which may load a model or a client.

        :raises ValueError: If the embedder's own ``warm_up`` fails, as it does without a key or package: no row can be
            scored then, so ``raise_on_failure`` has no say.
        """
        warm_up(self.embedder)

    async def warm_up_async(self) -> None:
        """
        Prepare the embedder on this event loop.

        :raises ValueError: As :meth:`warm_up`.
        """
        await warm_up_async(self.embedder)

    def close(self) -> None:
        """Close the embedder's connections; a later run opens new ones. One without ``close`` is left as it is."""
        close(self.embedder)

    async def close_async(self) -> None:
        """Close the embedder's connections on this event loop; see :meth:`close`."""
        await release(self.embedder)

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    def run(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question.

        :param ground_truth_answers: The reference of each question, or a list of references, of which the best one
            counts.
        :param predicted_answers: The answer of each question: texts, the replies of a chat generator, an agent's
            last_message, or GeneratedAnswers.
        :returns: A dictionary with
            - `score`: the mean of the individual scores;
            - `individual_scores`: a float for each question, in the order given;
            - `statuses`: "scored", "undefined" or "error" for each question, "not_run" without a reference;
            - `errors`: why a question has no score, else None.
        :raises ValueError: If there are no rows, the inputs differ in length, a message is no answer, or the embedder
            cannot be prepared.
        :raises TypeError: If something is not a text, a message or an answer; the message names input and row.
        :raises UndefinedScore: If a question has an embedding of zeros, and ``on_undefined`` is "raise".
        :raises FailedRowsError: If texts could not be embedded and ``raise_on_failure`` is set. A failed call with many
            texts is repeated with fewer, so that one text costs the rows it stands in. A refused login (HTTP 401, 403)
            stops at once, with the embedder's own error.
        """
        pairs = self._pairs(ground_truth_answers, predicted_answers)
        self.warm_up()
        return self._score(pairs, embed(self.embedder, pairs.texts))

    @component.output_types(score=float, individual_scores=list[float], statuses=list[str], errors=list[str | None])
    async def run_async(self, ground_truth_answers: References, predicted_answers: Answers) -> dict[str, Any]:
        """
        Score the answer of each question by the embedder's own ``run_async``, or by its ``run`` in a thread.

        :param ground_truth_answers: As for :meth:`run`.
        :param predicted_answers: As for :meth:`run`.
        :returns: The same outputs as :meth:`run`.
        :raises Exception: As :meth:`run`.
        """
        pairs = self._pairs(ground_truth_answers, predicted_answers)
        await self.warm_up_async()
        return self._score(pairs, await embed_async(self.embedder, pairs.texts))

    def _pairs(self, ground_truth_answers: References, predicted_answers: Answers) -> TextPairs:
        self._follow()
        return pair_up(*answer_rows(ground_truth_answers, predicted_answers))

    def _score(self, pairs: TextPairs, embedded: Embedded) -> dict[str, Any]:
        name = type(self).__name__
        vectors = embedded.vectors
        reasons = Counter(reason for reason in embedded.reasons if reason)
        values, failed = pair_cosines(stack(vectors), pairs)

        length = np.array([0 if vector is None else vector.size for vector in vectors], dtype=np.intp)
        unequal = ~failed & (length[pairs.predictions] != length[pairs.references])
        reasons["embeddings of different lengths"] = int(unequal.sum())
        failed |= unequal

        blank = np.array([not text.strip() for text in pairs.texts], dtype=np.bool_)
        some, both = (
            join(blank[pairs.predictions], blank[pairs.references]) for join in (np.logical_or, np.logical_and)
        )
        values = np.where(some, both, values)
        failed &= ~some

        reason = ", ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()) if count)
        rows = similarity_rows(pairs, values, failed, self.on_undefined, name=name, reason=reason)
        errors = [row for row, status in enumerate(rows.statuses) if status == "error"]
        if errors and self.raise_on_failure and not in_a_run():
            msg = (
                f"{name}: {len(errors)} of {len(rows.statuses)} rows failed ({reason}): {list_rows(errors)}. The other "
                "rows are in this error's `result`; raise_on_failure=False returns it, with NaN for the failed ones."
            )
            raise FailedRowsError(msg, rows._asdict())
        return rows._asdict()
