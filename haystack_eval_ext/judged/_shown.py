# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a judge is shown of a row, where the user chooses: keys for the sockets, ids for what is many."""

from collections.abc import Iterable, Mapping
from typing import Any

from haystack_eval_ext.judged._items import numbered
from haystack_eval_ext.judged._references import reference_texts


def shown(row: Mapping[str, Any], sockets: Iterable[str]) -> dict[str, Any]:
    """
    Gather the data of a request. Blank contexts and references are left out.

    :param row: The row, or the inputs of an example.
    :param sockets: Of "questions", "contexts", "predicted_answers" and "ground_truth_answers".
    :returns: "question", "contexts", "answer" and "references", as far as chosen.
    :raises KeyError: If the row has no such socket.
    """
    data: dict[str, Any] = {}
    for socket in sockets:
        value = row[socket]
        if socket == "contexts":
            data["contexts"] = numbered("c", [context for context in value if context.strip()])
        elif socket == "ground_truth_answers":
            data["references"] = numbered("r", reference_texts(value))
        else:
            data["question" if socket == "questions" else "answer"] = value
    return data
