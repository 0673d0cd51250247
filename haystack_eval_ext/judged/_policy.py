# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How a judge is asked: limits, retries, memory. Plain fields, which YAML carries."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from haystack_eval_ext._parameters import check_choice, check_flag, check_integer, is_number, plain
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError
from haystack_eval_ext.judged._account import check_prices

StructuredOutput = Literal["auto", "json_schema", "json_object", "text"]


@dataclass(frozen=True)
class JudgePolicy:
    """
    How a judge is asked. Every judged evaluator takes one, as an object or as a plain dictionary of its fields.

    ```python
    from haystack_eval_ext import JudgePolicy

    print(JudgePolicy(max_concurrency=4, cache_path="judge.sqlite").votes)
    # 1
    ```

    :param max_concurrency: Calls in flight at most. Evaluators whose generators reach the same service under the same
        key share one limit, the smallest of those that run at the moment.
    :param max_attempts: How often a request is sent at most, the first time included. "Too many requests" (429) does
        not count while the service answers others: then only the deadline ends the attempts. Neither does a refused
        response format (400, 415, 422) as long as no request of the run was answered in one or refused in all of them.
        After that, and with 501, asking in a simpler format is an attempt like others. A judge that gives the same text
        without JSON twice running has declined, and is not asked on, nor is one that gives thoughts alone twice.
        What a reply leaves out is asked for by a request of its own, so that one question makes at most that many
        requests, each for fewer items than the one before; a reply that is cut off at the token limit makes two
        questions of one, down to the single item.
    :param timeout: Seconds that one call may take.
    :param deadline: Seconds from the start of a request's first call until it is given up, waits included.
    :param min_wait: Seconds of the first wait between attempts, before jitter; each further wait is twice as long. At
        most ``max_wait``.
    :param max_wait: Seconds of the longest wait, unless the service names a longer one (Retry-After).
    :param votes: How often each verdict is asked for; the majority counts, and the agreement is reported. With a
        generator that always replies the same (temperature 0) more than one vote says nothing.
    :param structured_output: How the generator is told the form of a reply: by a JSON schema, by JSON mode, or by the
        prompt alone ("text"). "auto": a schema for generators of OpenAI's family, less where the server refuses it,
        else text.
    :param cache_path: File that keeps each reply (SQLite), so that no request is paid for twice, also after a crash.
        None: no file.
    :param offline: Answer from the cache alone; what it lacks is a failed row.
    :param max_calls: Calls of one run, retries included; rows beyond have the status "not_run". None: no limit.
    :param max_tokens: Tokens of one run, in and out.
    :param max_cost: Cost of one run, in the currency of ``prices``, which must name the generator's model or "*".
    :param prices: Price of a million tokens by model: ``{"gpt-x": {"input": 0.4, "output": 1.6}}``; "*" is any other.
    :raises ValueError: If a field is out of its range.
    :raises TypeError: If a field is of the wrong type.
    """

    max_concurrency: int = 16
    max_attempts: int = 6
    timeout: float = 60.0
    deadline: float = 600.0
    min_wait: float = 0.5
    max_wait: float = 30.0
    votes: int = 1
    structured_output: StructuredOutput = "auto"
    cache_path: str | None = None
    offline: bool = False
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: dict[str, dict[str, float]] | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        for name, value in list(vars(self).items()):
            object.__setattr__(self, name, plain(value))  # numbers of numpy: the fields go into YAML
        for name in ("max_concurrency", "max_attempts", "votes"):
            check_integer(name, getattr(self, name), minimum=1)
        for name in ("timeout", "deadline", "min_wait", "max_wait"):
            _check_seconds(name, getattr(self, name), above_zero=name in ("timeout", "deadline"))
        for name in ("max_calls", "max_tokens"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), minimum=0)
        check_choice("structured_output", self.structured_output, get_args(StructuredOutput))
        check_flag("offline", self.offline)
        if self.min_wait > self.max_wait:
            msg = f"min_wait must be at most max_wait ({self.max_wait} seconds), but is {self.min_wait}."
            raise InvalidValueError(msg)
        if self.cache_path is not None and not isinstance(self.cache_path, str):
            msg = f"cache_path must be the path of a file as text, or None, but is {describe(self.cache_path)}."
            raise InvalidTypeError(msg)
        if self.cache_path is not None and not self.cache_path.strip():
            msg = "cache_path must be the path of a file, or None for no cache, but is blank."
            raise InvalidValueError(msg)
        if self.cache_path is not None and self.cache_path.strip() == ":memory:":
            msg = "cache_path must be the path of a file, but ':memory:' is none: name one, or None for no cache."
            raise InvalidValueError(msg)
        if self.offline and self.cache_path is None:
            msg = "offline answers from the cache alone, but cache_path is None: name the cache's file."
            raise InvalidValueError(msg)
        if self.prices is not None:
            check_prices(self.prices)
        if self.max_cost is not None:
            if not is_number(self.max_cost) or self.max_cost < 0:
                msg = f"max_cost must be a number of at least 0 or None, but is {self.max_cost!r}."
                raise InvalidValueError(msg)
            if not self.prices:
                msg = f"max_cost needs prices, the price of a million tokens by model, but prices is {self.prices}."
                raise InvalidValueError(msg)

    def to_dict(self) -> dict[str, Any]:
        """
        The policy as plain values.

        :returns: Its fields by name.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> JudgePolicy:
        """
        Make a policy of plain values.

        :param data: Fields by name; those left out keep their defaults.
        :returns: The policy.
        :raises ValueError: If there is no such field.
        """
        known = [field.name for field in fields(cls)]
        unknown = [name for name in data if name not in known]
        if unknown:
            msg = f"policy has no field {', '.join(map(repr, unknown))}; its fields are {', '.join(known)}."
            raise InvalidValueError(msg)
        return cls(**data)


def read_policy(policy: JudgePolicy | dict[str, Any] | None) -> JudgePolicy:
    """
    Read the parameter ``policy`` of a component.

    :param policy: A policy, its fields as YAML has them, or None for the defaults.
    :returns: The policy.
    :raises TypeError: If it is something else.
    """
    if policy is None:
        return JudgePolicy()
    if isinstance(policy, JudgePolicy):
        return policy
    if isinstance(policy, dict):
        return JudgePolicy.from_dict(policy)
    msg = f"policy must be a JudgePolicy or a dictionary of its fields, but is {describe(policy)}."
    raise InvalidTypeError(msg)


def _check_seconds(name: str, value: object, *, above_zero: bool) -> None:
    if not is_number(value):
        msg = f"{name} must be a number of seconds, but is {describe(value)}."
        raise InvalidTypeError(msg)
    if value < 0 or (above_zero and value == 0):
        msg = f"{name} must be {'above' if above_zero else 'at least'} 0 seconds, but is {value}."
        raise InvalidValueError(msg)
