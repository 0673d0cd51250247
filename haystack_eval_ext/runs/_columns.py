# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The columns of a data file: their names, what they hold and what they feed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: In rows that a RAG pipeline answered: whether it did, and why not.
RUN_STATUS, RUN_ERROR = "run_status", "run_error"
#: In rows: ids of documents that are no hits, such as the query's own where queries are documents themselves.
IGNORED = "ignored_documents"
#: In records and rows: whether the RAG pipeline answered without retrieval.
SKIPPED = "retrieval_skipped"
#: In records: whether there were thoughts before the answer, which is kept without them.
THOUGHTS = "thoughts"
#: What a target gives, and what stands for it where a question failed.
OUTPUTS: dict[str, Callable[[], Any]] = {"answer": str, "contexts": list, "documents": list}
#: Where the rows of a run keep columns that have no meaning here.
OTHERS = "columns"


@dataclass(frozen=True)
class Column:
    """
    A column that the package understands.

    :param name: Its name here.
    :param aliases: Names under which files of other tools have it.
    :param socket: The component input it feeds, if any.
    :param kind: What its cells hold: id, text, references, texts, documents, labels, needs, flag or tags.
    :param description: What it holds, for the table in docs/data.md.
    """

    name: str
    aliases: tuple[str, ...]
    socket: str | None
    kind: str
    description: str


COLUMNS: tuple[Column, ...] = (
    Column(
        "id",
        ("row_id", "question_id", "query_id", "qid"),
        None,
        "id",
        "a unique name of the row, text or whole number; without the column made from the question",
    ),
    Column("question", ("query", "user_input", "questions"), "questions", "text", "what is asked"),
    Column(
        "reference_answer",
        ("ground_truth_answer", "ground_truth_answers", "expected_answer", "reference", "reference_answers"),
        "ground_truth_answers",
        "references",
        "the right answer, or a list of right answers",
    ),
    Column(
        "answer",
        ("predicted_answer", "predicted_answers", "response"),
        "predicted_answers",
        "text",
        "what the system answered",
    ),
    Column(
        "other_answer",
        ("answer_b", "other_answers"),
        "other_answers",
        "text",
        "what another system answered, for comparison",
    ),
    Column("contexts", ("retrieved_contexts",), "contexts", "texts", "a list of texts given to the generator"),
    Column("documents", ("retrieved_documents",), "retrieved_documents", "documents", "the ranking, best first"),
    Column(
        "relevant_documents",
        ("ground_truth_documents",),
        "ground_truth_documents",
        "labels",
        "the labelled documents, with their grades",
    ),
    Column(
        "needs",
        (),
        "needs",
        "needs",
        "`any` or `all`: how many of the labelled documents a question needs; groups of them stand in "
        "`relevant_documents`; without the column `all`",
    ),
    Column(
        "answerable",
        (),
        "answerable",
        "flag",
        "`false`: the corpus does not answer the question, the row leaves the retrieval means and is listed; "
        "without the column `true`",
    ),
    Column(
        SKIPPED,
        (),
        SKIPPED,
        "flag",
        "`true`: the system answered without retrieval, the row leaves the retrieval means; without the column `false`",
    ),
    Column("tags", (), None, "tags", "a list of words to group rows by"),
    Column(
        "cluster",
        ("document_group",),
        None,
        "id",
        "what rows belong together by, such as the document that their questions were made from, text or whole number",
    ),
)
BY_NAME = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}


def column_name(name: str) -> str:
    """
    Give the package's name of a column.

    :param name: A column's name or alias, or any other name.
    :returns: The name in `COLUMNS`; another name as it is.
    """
    return BY_NAME[name].name if name in BY_NAME else name
