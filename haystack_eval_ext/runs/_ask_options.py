# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How the questions are asked: each option in one place, with its default, its check and its description."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._parameters import check_flag, check_integer, is_number, plain
from haystack_eval_ext._rows import describe
from haystack_eval_ext.errors import InvalidTypeError, InvalidValueError, parameter
from haystack_eval_ext.judged._account import check_prices
from haystack_eval_ext.runs._names import nearest
from haystack_eval_ext.runs._questions import check_sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from haystack_eval_ext.runs._usage import Prices


@dataclass(frozen=True)
class AskOptions:
    """
    How a RAG pipeline is asked the questions of a data set, and which of them.

    :param concurrency: How many questions are in flight at most.
    :param isolate: Give each thread a copy of the pipeline, for components that cannot be shared.
    :param repeats: How often each question is asked; its scores are averaged.
    :param limit: Ask the first so many questions only; a sample is drawn from these.
    :param sample: Ask so many questions only, drawn by the seed.
    :param seed: Draws the sample.
    :param stratify: A column, or "tag", whose values keep their shares in the sample.
    :param retrieved: The stage whose documents are evaluated; without it the last one.
    :param sections: `{"inputs": {"query": ["component.socket"]}, "outputs": {"answers": ["component.socket"]}}`: inputs
        and outputs of the RAG pipeline, as the sections of its YAML, which it goes before. An input of another name
        gets the column of that name.
    :param prices: `{model: {"input": price, "output": price}}` for a million tokens; "*" is any other model.
    :param timeout: Seconds after which a question is given up. Its thread is busy until the call ends.
    :param max_failures: Stop when more rows than this have failed.
    :param retry_failed: When going on, ask again what failed.
    :param progress: Show a progress bar, where standard error is a terminal.
    :raises ValueError: If one is out of its range, TypeError if it is of another type.
    """

    concurrency: int = 8
    isolate: bool = False
    repeats: int = 1
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    stratify: str | None = None
    retrieved: str | None = None
    sections: Mapping[str, Any] | None = None
    prices: Prices | None = None
    timeout: float | None = None
    max_failures: int | None = None
    retry_failed: bool = False
    progress: bool = True

    def __post_init__(self) -> None:
        """Check each option as far as it can be without data and target."""
        for name, minimum in _LOWEST.items():
            value = getattr(self, name)
            if value is not None or _DEFAULTS[name] is not None:
                check_integer(parameter(name), value, minimum=minimum)
        for name in ("stratify", "retrieved"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                msg = f"{parameter(name)} must be a text or None, but is {describe(value)}."
                raise InvalidTypeError(msg)
        for name in ("isolate", "retry_failed", "progress"):
            check_flag(parameter(name), getattr(self, name))
        timeout = self.timeout
        if timeout is not None and (not is_number(timeout) or timeout <= 0):
            came = timeout if isinstance(timeout, int | float) else describe(timeout)
            msg = f"{parameter('timeout')} must be a number of seconds above 0, or None, but is {came}."
            raise InvalidValueError(msg)
        if self.prices is not None:
            check_prices(self.prices)
        check_sections(self.sections)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> AskOptions:
        """
        Take options as keywords.

        :param given: By name; numpy's numbers are taken as plain ones.
        :returns: The options.
        :raises TypeError: If there is no option of a name; as the class otherwise.
        """
        for name in given:
            if name not in _DEFAULTS:
                msg = f"There is no option {name!r}{nearest(name, _DEFAULTS)}"
                raise InvalidTypeError(msg)
        return cls(**{name: plain(value) for name, value in given.items()})

    @property
    def recorded(self) -> dict[str, Any]:
        """What of it decides which questions are asked, and what is read of their answers."""
        seed = None if self.sample is None else self.seed
        return {
            "repeats": self.repeats,
            "sample": self.sample,
            "seed": seed,
            "stratify": self.stratify,
            "retrieved": self.retrieved,
            # As files of all versions call it.
            "mapping": self.sections,
            # Files of earlier versions do not have it.
            **({} if self.limit is None else {"limit": self.limit}),
        }


_DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(AskOptions)}
_LOWEST = {"concurrency": 1, "repeats": 1, "seed": 0, "limit": 1, "sample": 1, "max_failures": 0}
