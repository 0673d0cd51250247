# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A request to a judge: what is sent, and what identifies it. What all requests of a prompt share is made once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from haystack.dataclasses import ChatMessage

from haystack_eval_ext.judged._account import estimated_tokens
from haystack_eval_ext.judged._cache import reply_key
from haystack_eval_ext.judged._prompts import sendable_data, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from haystack_eval_ext.judged._forms import Form
    from haystack_eval_ext.judged._prompts import Prompt


class Task:
    """A prompt, to one generator in one run."""

    def __init__(
        self,
        prompt: Prompt,
        identity: Mapping[str, Any] | None,
        formats: Sequence[str],
        *,
        former: Sequence[Mapping[str, Any] | None] = (),
    ) -> None:
        """
        Write the system message.

        :param prompt: The prompt.
        :param identity: What decides the generator's replies.
        :param formats: How it may be told the form of a reply.
        :param former: What earlier versions took for the identity, the latest first: their replies are kept by it.
        """
        self.prompt = prompt
        self.system = prompt.system()
        self.tokens = estimated_tokens(self.system)
        rest = {"formats": formats, "system": self.system, "prompt": [prompt.name, prompt.version]}
        self.key, *self.former_keys = dict.fromkeys(
            reply_key({"identity": each, **rest}) for each in (identity, *former)
        )


class Request:
    """A question to the judge: two messages, the form of the reply, and the key under which the reply is kept."""

    def __init__(self, task: Task, data: Mapping[str, Any], form: Form[Any], vote: int) -> None:
        """
        Write the messages.

        :param task: The task.
        :param data: The row's data.
        :param form: The form of the reply.
        :param vote: Number of the vote.
        """
        self.task = task
        self.form = form
        self.vote = vote
        self.user = to_json(sendable_data(data))
        self.key = self._key(task.key)

    @cached_property
    def former_keys(self) -> list[str]:
        """The keys of earlier versions, which are needed only where the cache lacks the other one."""
        return [self._key(key) for key in self.task.former_keys]

    def messages(self, fault: str | None) -> list[ChatMessage]:
        """
        The messages.

        :param fault: What was wrong with the last reply, if anything.
        :returns: The system's and the user's.
        """
        system = self.task.system
        if fault is not None:
            system = f"{system}\n\n{self.task.prompt.again(fault)}"
        return [ChatMessage.from_system(system), ChatMessage.from_user(self.user)]

    def estimated_tokens(self) -> int:
        """
        About how many tokens the prompt has.

        :returns: The estimate.
        """
        return self.task.tokens + estimated_tokens(self.user) - estimated_tokens()

    def _key(self, task: str) -> str:
        return reply_key({"task": task, "user": self.user, "schema": self.form.schema, "vote": self.vote})
