# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows to the judge, where each fails alone; and what is plain before any money is spent."""

from __future__ import annotations

import asyncio
import math
import os
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from haystack_eval_ext._calls import causes
from haystack_eval_ext._foreign import repeated
from haystack_eval_ext._progress import progress
from haystack_eval_ext._scores import Gaps, report_rows
from haystack_eval_ext.errors import UndefinedScore
from haystack_eval_ext.judged._account import Budget
from haystack_eval_ext.judged._failures import JudgeError, NotRunError
from haystack_eval_ext.judged._generator import unprepared
from haystack_eval_ext.judged._items import reference_texts
from haystack_eval_ext.judged._judge import Judge, RowAsk
from haystack_eval_ext.judged._outcomes import Outcome, UndefinedRowsError
from haystack_eval_ext.judged._plan import Plan, Planner, RowPlan, Unknown

if TYPE_CHECKING:
    from haystack_eval_ext.judged._ask import Ask
    from haystack_eval_ext.judged._base import Judged, JudgedEvaluator

# Of an empty reference a judge has nothing to look at.
_NO_REFERENCE_TEXT = "no reference answer with text; give one"


async def judge_rows(evaluator: JudgedEvaluator, rows: list[dict[str, Any]]) -> list[Outcome]:
    """
    Judge each row.

    :param evaluator: The metric.
    :param rows: The rows.
    :returns: What became of each.
    :raises ValueError: If the judge could not be prepared.
    :raises UndefinedScore: If a row is undefined for sure, and that is to be an error.
    """
    with Judge(evaluator.chat_generator, evaluator.policy, evaluator.budget) as judge:
        if evaluator.on_undefined == "raise" and evaluator._has_score:
            await _refuse_undefined(evaluator, judge, rows)
        bar = progress(type(evaluator).__name__, len(rows), shown=evaluator.progress_bar)

        async def one(row: dict[str, Any]) -> Outcome:
            outcome = await _outcome(evaluator, RowAsk(judge), row)
            bar.update()
            return outcome

        with bar:
            tasks = [asyncio.ensure_future(one(row)) for row in rows]
            try:
                outcomes = await asyncio.gather(*tasks)
            except BaseException:
                for task in tasks:
                    task.cancel()
                raise
    if judge.broken is not None:
        raise unprepared(judge.broken) from judge.broken
    return outcomes


async def _refuse_undefined(evaluator: JudgedEvaluator, judge: Judge, rows: list[dict[str, Any]]) -> None:
    """Find rows that are undefined whatever the judge would say, before money is spent."""
    planner = Planner(judge)
    undefined = {}
    for number, row in enumerate(rows):
        try:
            if math.isnan((await _judged(evaluator, RowPlan(planner), row)).score):
                undefined[number] = evaluator._undefined_reason
        except UndefinedScore as reason:
            undefined[number] = str(reason)
        except Exception:  # noqa: S112 - it must be asked about; or it fails, which the run itself tells
            continue
    try:
        report_rows(len(rows), "raise", Gaps(undefined), metric=type(evaluator).__name__)
    except UndefinedScore as error:
        raise UndefinedRowsError(str(error)) from None


async def _judged(evaluator: JudgedEvaluator, ask: Ask, row: dict[str, Any]) -> Judged:
    """The score of a row that has what the metric needs."""
    if evaluator._compares and not reference_texts(row["ground_truth_answers"]):
        raise NotRunError(_NO_REFERENCE_TEXT)
    return await evaluator._judge_row(ask, row)


async def _outcome(evaluator: JudgedEvaluator, ask: RowAsk, row: dict[str, Any]) -> Outcome:
    try:
        score, details = await _judged(evaluator, ask, row)
    except UndefinedScore as reason:
        return Outcome(
            math.nan, deepcopy(dict(evaluator._empty_details)), "undefined", str(reason), ask.usage, ask.meta
        )
    except JudgeError as error:
        status = "not_run" if isinstance(error, NotRunError) else "error"
        details = deepcopy(dict(evaluator._empty_details)) | _said(error)
        return Outcome(math.nan, details, status, error.reason, ask.usage, ask.meta)
    except Exception as error:
        # Whatever it was: it costs this row, not the others, which are paid for. Its message may quote a text.
        why = f"{type(error).__name__} while the row was judged, which is a fault of the evaluator"
        details = deepcopy(dict(evaluator._empty_details)) | _said(error)
        return Outcome(math.nan, details, "error", why, ask.usage, ask.meta)
    if math.isnan(score):
        return Outcome(math.nan, details, "undefined", evaluator._undefined_reason, ask.usage, ask.meta)
    return Outcome(float(score), details, "scored", None, ask.usage, ask.meta)


def _said(error: Exception) -> dict[str, str]:
    """What the judge replied, or else what its service or the evaluator's code said: for results, not for messages."""
    if isinstance(error, JudgeError) and error.reply is not None:
        return {"reply": error.reply}
    source = next((one for one in causes(error) if not isinstance(one, JudgeError)), None)
    message = "" if source is None else repeated(str(source))
    return {"message": message} if message else {}


async def plan_rows(evaluator: JudgedEvaluator, rows: list[dict[str, Any]]) -> Plan:
    """
    Tell what judging rows would ask, without asking, and without a change of anything on disk.

    :param evaluator: The metric.
    :param rows: The rows.
    :returns: The plan.
    """
    # Planning needs no reply, so that a missing cache file is no fault.
    policy = replace(evaluator.policy, offline=False)
    if policy.cache_path is not None and not os.path.isfile(os.path.expanduser(policy.cache_path)):
        policy = replace(policy, cache_path=None)
    with Judge(evaluator.chat_generator, policy, Budget(), plans=True) as judge:
        planner = Planner(judge)
        for row in rows:
            try:
                await _judged(evaluator, RowPlan(planner), row)
            except Unknown as end:
                planner.count_later(evaluator._later_calls * evaluator.policy.votes, int(end.args[0]))
            except Exception:  # noqa: S112 - undefined, or it fails: nothing is asked, and the run tells why
                continue
        return planner.plan(len(rows), getattr(evaluator.chat_generator, "model", None))
