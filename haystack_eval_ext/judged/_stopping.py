# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""When a run is over early: a cause that every row shares is not paid for, or waited for, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from haystack_eval_ext.judged._failures import Failure

# So many refusals for which the service gives no cause are needed to believe that it is one and the same.
_FEWEST_UNEXPLAINED = 10


class Stop:
    """
    Whether a run's requests can still succeed.

    A refused account ends the run at once. What might be the fault of single rows does so when more requests than can
    be in flight met it while the service answered none: then at least one of them was sent after the first had failed,
    and no more than twice those in flight are ever sent. Where the service gives no cause, a request may have been too
    long: shorter ones are still sent.
    """

    def __init__(self) -> None:
        """Create it for a run that has asked nothing yet."""
        self._over: str | None = None
        self._served = False
        #: By how far a cause is shared: the tokens of each request that met it.
        self._met: dict[str, list[int]] = {}
        self._ruled_out: list[tuple[int, str]] = []

    def served(self) -> None:
        """Take note that the service answered: what it refuses besides concerns single requests, or the account."""
        self._served = True
        self._ruled_out.clear()

    def end(self, reason: str) -> None:
        """
        End the run.

        :param reason: Why.
        """
        self._over = reason

    def met(self, failure: Failure, tokens: int, in_flight: int) -> None:
        """
        Take note of a request that failed for good.

        :param failure: Its failure.
        :param tokens: About how many tokens it has.
        :param in_flight: How many calls can be in flight.
        """
        if failure.shared == "all":
            self.end(failure.reason)
        if failure.shared in ("none", "all") or self._served:
            return
        met = self._met.setdefault(failure.shared, [])
        met.append(tokens)
        longer = failure.shared == "longer"
        if len(met) > max(in_flight, _FEWEST_UNEXPLAINED if longer else 0):
            self._ruled_out.append((min(met) if longer else 0, failure.reason))

    def why_not(self, tokens: int, *, first: bool) -> str | None:
        """
        Tell why a request need not be sent.

        :param tokens: About how many tokens it has.
        :param first: Whether it was not sent before; one that is under way ends for causes of its own.
        :returns: The reason; None if it may succeed.
        """
        if self._over is not None:
            return f"not asked, since no call can succeed: {self._over}"
        reason = next((reason for at_least, reason in self._ruled_out if first and tokens >= at_least), None)
        return None if reason is None else f"not asked, since no request was answered and each failed alike: {reason}"
