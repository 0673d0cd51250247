# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Answer relevancy. Source: Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from haystack import component
from pydantic import BaseModel, BeforeValidator

from haystack_eval_ext._embedding import check_embedder
from haystack_eval_ext._parameters import check_integer
from haystack_eval_ext._scores import OnUndefined
from haystack_eval_ext._text import blank
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._ask import Ask
from haystack_eval_ext.judged._base import Examples, Judged, JudgedEvaluator, Row
from haystack_eval_ext.judged._forms import YES_NO, Form, model_form, object_schema, read_by_id, read_choice
from haystack_eval_ext.judged._items import judged_example, numbered
from haystack_eval_ext.judged._policy import JudgePolicy
from haystack_eval_ext.judged._similarities import PENDING, Pending, Similarities, judge_and_compare


class _Generated(BaseModel):
    question: str
    noncommittal: Annotated[Literal[0, 1], BeforeValidator(lambda value: read_choice(value, YES_NO))]


_GENERATED: Form[_Generated] = model_form(_Generated)


def _questions_form(ids: Sequence[str]) -> Form[dict[str, _Generated]]:
    """The form of a reply with a question for each id; its reading has those that can be read."""

    def read(value: Any) -> dict[str, _Generated]:
        return read_by_id(value, ids, ("questions",), _GENERATED.read)

    return Form("questions", object_schema(dict.fromkeys(ids, _GENERATED.schema)), read)


def _is_noncommittal(flags: list[int]) -> bool:
    return 2 * sum(flags) > len(flags)


@component
class AnswerRelevancyEvaluator(JudgedEvaluator):
    """
    Scores how directly an answer addresses its question, whether true or not. From 0 to 1, higher is better.

    The judge reads the answer alone and writes n questions that it could be the answer to. The score is the mean of the
    cosines between the embeddings of the question and of these n:

        (max(0, cos(q, g_1)) + ... + max(0, cos(q, g_n))) / n

    so that a negative cosine counts as 0, as does a question that the judge left empty. For each of the n the judge
    also says whether the answer is noncommittal, as "I do not know" is. If it says so for more than half of them, the
    score is 0; for half or fewer, that changes nothing, and `noncommittal` shows it. An answer or a question without
    text is undefined, and no call is made. So is an embedding of zeros.

    What a reply leaves out is asked for again, alone. So is, once, a question left empty beside an answer that is not
    said to be noncommittal; if it is empty again, it counts as 0.

    Cosines of unrelated texts are far above 0 with many embedders: compare scores of one embedder only.

    Calls per row: one to the judge. The texts of all rows, each different one once, are embedded after that: by one
    call of a document embedder, which asks in batches itself, or by one call each of a text embedder. `usage`
    counts the embedder's tokens apart, as `embedding_tokens`, where it tells them. The policy's cache keeps the
    vectors, too.

    `results` has `generated_questions`, `noncommittal` (1 or 0 each) and `similarities` for each row; these are empty
    where the answer is noncommittal.

    Usage example:
    ```python
    from haystack.components.embedders import MockDocumentEmbedder
    from haystack.components.generators.chat import MockChatGenerator
    from haystack_eval_ext import AnswerRelevancyEvaluator

    # A real judge: OpenAIChatGenerator(max_retries=0); a real embedder: OpenAIDocumentEmbedder(). Or any others.
    evaluator = AnswerRelevancyEvaluator(
        chat_generator=MockChatGenerator('{"q1": {"question": "Who wrote the report?", "noncommittal": 0}}'),
        embedder=MockDocumentEmbedder(),
        n_questions=1,
    )
    result = evaluator.run(questions=["Who wrote the report?"], predicted_answers=["Ada Park wrote the report."])
    print(result["score"], result["results"][0]["generated_questions"])
    # 1.0 ['Who wrote the report?']
    ```
    """

    _inputs = ("questions", "predicted_answers")
    _prompt_name = "answer_relevancy"
    _undefined_reason = "a question or an answer without text, or an embedding of zeros"
    _empty_details = {"generated_questions": [], "noncommittal": [], "similarities": []}  # noqa: RUF012 - never changed

    def __init__(
        self,
        examples: Examples | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        chat_generator: Any = None,
        *,
        embedder: Any,
        n_questions: int = 3,
        instructions: str | None = None,
        language: str = "en",
        policy: JudgePolicy | dict[str, Any] | None = None,
        on_undefined: OnUndefined = "zero",
    ) -> None:
        """
        Create an AnswerRelevancyEvaluator component.

        :param examples: Few-shot examples in place of the prompt's own; [] for none. "inputs" has "predicted_answers",
            "outputs" has "generated_questions" and "noncommittal" (1 or 0 for each question), all of one row.
        :param progress_bar: Whether to show a progress bar on a terminal.
        :param raise_on_failure: Whether to raise an error if rows could not be judged or embedded, after all were
            tried; the error carries the result. If not, these rows are NaN with the status "error".
        :param chat_generator: The judge: any ChatGenerator. None: OpenAI's, with the key in OPENAI_API_KEY.
        :param embedder: Any document embedder or text embedder of Haystack. A text that it cannot embed costs its row.
        :param n_questions: How many questions the judge writes for an answer, all in one call.
        :param instructions: The judge's task in place of the prompt's own.
        :param language: Language of the prompts, "en" or "ja". Questions are written in the answer's language.
        :param policy: How to ask: limits, retries, cache, votes, budget. None: the defaults of JudgePolicy. With
            several votes the mean and the majority are over all of their questions.
        :param on_undefined: What a row without text in its question or answer counts as: "zero", "nan" (left out of
            the mean) or "raise".
        :raises ValueError: If a value is not one of those that are possible.
        :raises TypeError: If something is of the wrong type.
        """
        check_embedder(embedder)
        check_integer("n_questions", n_questions, minimum=1)
        self.embedder = embedder
        self.n_questions = n_questions
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
        questions = numbered("q", outputs["generated_questions"])
        flags = judged_example(outputs, "noncommittal", questions)
        reply = {name: {"question": questions[name], "noncommittal": flags[name]} for name in questions}
        return {"answer": inputs["predicted_answers"], "ids": list(questions)}, reply

    async def _judge_row(self, ask: Ask, row: Row) -> Judged:
        """The judge's part of the score: the questions, which wait for the embedder."""
        answer = row["predicted_answers"]
        if blank(answer) or blank(row["questions"]):
            msg = f"the {'answer' if blank(answer) else 'question'} has no text"
            raise UndefinedScore(msg)
        votes = self.policy.votes
        replies = await ask.together(*(self._questions(ask, answer, vote) for vote in range(votes)))
        generated = [one for reply in replies for one in reply]
        flags = [int(one.noncommittal) for one in generated]
        questions = [one.question.strip() for one in generated]
        details: dict[str, Any] = {
            "generated_questions": questions,
            "noncommittal": flags,
            "similarities": [],
        }
        if len(replies) > 1:
            details["agreement"] = max(sum(flags), len(flags) - sum(flags)) / len(flags)
        if not _is_noncommittal(flags):
            asked = row["questions"]
            details[PENDING] = Pending([asked, *questions], lambda similar: _compare(similar, asked, questions))
        return Judged(0.0, details)

    async def _questions(self, ask: Ask, answer: str, vote: int) -> list[_Generated]:
        data, ids = {"answer": answer}, [f"q{place}" for place in range(1, self.n_questions + 1)]
        found = await ask.cover(self._prompt, data, "ids", ids, _questions_form, vote)
        empty = [name for name, one in found.items() if blank(one.question) and not one.noncommittal]
        if empty:
            # Under another number: if all are empty, the same question would be the same request, with the same reply.
            found |= await ask.cover(self._prompt, data, "ids", empty, _questions_form, vote + self.policy.votes)
        return list(found.values())

    async def _judge(self, rows: list[dict[str, Any]]) -> Any:
        return await judge_and_compare(self, rows)


def _compare(similar: Similarities, question: str, generated: list[str]) -> tuple[float, dict[str, Any]]:
    values = [similar.of(question, one) for one in generated]
    return sum(values) / len(values), {"similarities": values}
