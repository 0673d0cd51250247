# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A request to a judge: what is sent, and what identifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack.dataclasses import ChatMessage

from haystack_eval_ext.judged._account import estimated_tokens
from haystack_eval_ext.judged._cache import reply_key
from haystack_eval_ext.judged._prompts import sendable_data, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._prompts import Prompt


class Request:
    """A question to the judge: two messages, the form of the reply, and the key under which the reply is kept."""

    def __init__(
        self,
        prompt: Prompt,
        data: Mapping[str, Any],
        form: Form[Any],
        vote: int,
        identity: Mapping[str, Any] | None,
    ) -> None:
        """
        Write the messages.

        :param prompt: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        :param identity: What decides the generator's replies.
        """
        self.prompt = prompt
        self.form = form
        self.vote = vote
        self.system = prompt.system()
        self.user = to_json(sendable_data(data))
        self.key = reply_key(
            {
                "identity": identity,
                "system": self.system,
                "user": self.user,
                "schema": form.schema,
                "prompt": [prompt.name, prompt.version],
                "vote": vote,
            }
        )

    def messages(self, fault: str | None) -> list[ChatMessage]:
        """
        The messages.

        :param fault: What was wrong with the last reply, if anything.
        :returns: The system's and the user's.
        """
        system = self.system if fault is None else f"{self.system}\n\n{self.prompt.again(fault)}"
        return [ChatMessage.from_system(system), ChatMessage.from_user(self.user)]

    def estimated_tokens(self) -> int:
        """
        About how many tokens the prompt has.

        :returns: The estimate.
        """
        return estimated_tokens(self.system, self.user)
