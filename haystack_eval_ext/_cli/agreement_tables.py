# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""A metric against people as people read it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack_eval_ext._cli.render import print_table, print_text
from haystack_eval_ext.runs._run_exports import shown, shown_interval

if TYPE_CHECKING:
    from rich.console import Console

    from haystack_eval_ext.runs._agreement import Agreement
    from haystack_eval_ext.runs._people import JudgeAgreement
    from haystack_eval_ext.runs._raters import RaterAgreement
    from haystack_eval_ext.runs._thresholds import ThresholdSweep


def print_agreement(out: Console, found: JudgeAgreement, *, confidence: float, listed: int) -> None:
    """
    Print how far a metric agrees with people.

    :param out: The console.
    :param found: The agreement.
    :param confidence: That of the intervals.
    :param listed: How many of the rows that differ are listed.
    """
    human = ", ".join(found.people)
    rows = found.rows if found.classes else found.ranks.rows
    left_out = found.rows + found.left_out - rows
    tied = ", or with a tie," if found.tied else ""
    without = f", {left_out} without a label or a score{tied} left out" if left_out else ""
    print_text(out, f"{found.metric} against {human}, {rows} questions{without}")
    level = f"{confidence * 100:g} % interval"
    if found.classes:
        _print_confusion(out, found, human)
    _print_values(out, found, level)
    if found.raters is not None:
        _print_raters(out, found.raters, found.metric, level, graded=len(found.classes) > 2)  # noqa: PLR2004
    if found.sweep is not None:
        _print_sweep(out, found.sweep, level)
    if found.slices:
        out.print()
        heads = ("Tag", "Questions", "Accuracy", "Kappa", f"Kappa, {level}")
        print_table(out, heads, [_slice(tag, each) for tag, each in found.slices.items()])
    _print_differing(out, found, listed)


def _print_confusion(out: Console, found: JudgeAgreement, human: str) -> None:
    out.print()
    names = [_class_name(each) for each in found.classes]
    lines = [
        (name, *map(str, counts), shown(share))
        for name, counts, share in zip(names, found.confusion, found.human_rates, strict=True)
    ]
    lines.append(("Share", *map(shown, found.judge_rates), ""))
    print_table(out, (f"{human} \\ {found.metric}", *names, "Share"), lines)


def _print_values(out: Console, found: JudgeAgreement, level: str) -> None:
    lines: list[tuple[str, Any, Any]] = []
    if found.classes:
        lines += [
            ("Accuracy", found.accuracy, found.accuracy_interval),
            ("Kappa", found.kappa, found.kappa_interval),
        ]
    binary = set(found.classes) <= {0, 1}
    for each in reversed(found.by_class):
        name = _class_name(each.value)
        rate = {"1": "TPR: recall of 1", "0": "TNR: recall of 0"}[name] if binary else f"Recall of {name}"
        lines.append((rate, each.recall, each.recall_interval))
        lines.append((f"Precision of {name}", each.precision, each.precision_interval))
    if found.ranks.spearman is not None:
        lines.append(("Spearman (ranks)", found.ranks.spearman, found.ranks.spearman_interval))
        lines.append(("Kendall (ranks)", found.ranks.kendall, None))
    if found.mean_absolute_error is not None:
        lines.append(("Mean absolute error", found.mean_absolute_error, None))
    out.print()
    heads = ("", "Value", level)
    print_table(out, heads, [(name, shown(value), shown_interval(interval)) for name, value, interval in lines])


def _print_raters(out: Console, raters: RaterAgreement, metric: str, level: str, *, graded: bool) -> None:
    """Of two classes every alpha is the same."""
    out.print()
    pairs = [*raters.people, *raters.judge]
    print_table(
        out,
        ("Raters", "Kappa", level, "Accuracy", "Questions"),
        [
            (
                f"{pair.first} and {pair.second}",
                shown(pair.kappa),
                shown_interval(pair.kappa_interval),
                shown(pair.accuracy),
                str(pair.rows),
            )
            for pair in pairs
        ],
    )
    out.print()
    print_table(
        out,
        ("", "People among themselves", f"People and {metric}"),
        [
            ("Mean kappa of the pairs", shown(raters.people_kappa), shown(raters.judge_kappa)),
            *(
                (f"Krippendorff's alpha, {name}", shown(raters.people_alpha[name]), shown(raters.judge_alpha[name]))
                for name in (raters.people_alpha if graded else ("nominal",))
            ),
        ],
    )
    print_text(out, "What people reach among themselves is the ceiling: a judge can hardly agree with them better.")


def _print_sweep(out: Console, sweep: ThresholdSweep, level: str) -> None:
    out.print()
    print_table(
        out,
        ("Threshold (in sample)", "Accuracy", "Kappa", "TPR", "TNR"),
        [
            (f"{each.threshold:g}", *map(shown, (each.accuracy, each.kappa, each.tpr, each.tnr)))
            for each in sweep.thresholds
        ],
    )
    out.print()
    print_table(
        out,
        ("Chosen threshold", "Accuracy", "Kappa", f"Kappa, {level}"),
        [
            (name, shown(each.accuracy), shown(each.kappa), shown_interval(each.kappa_interval))
            for name, each in (
                (f"Out of fold, {sweep.folds} folds, seed {sweep.seed}", sweep.out_of_fold),
                (f"In sample, {sweep.best:g} (too good)", sweep.in_sample),
            )
        ],
    )
    chosen = ", ".join(f"{each:g}" for each in sweep.chosen)
    print_text(
        out,
        f"Use {sweep.best:g}; on new questions expect the numbers out of fold. The folds chose {chosen}.",
    )


def _slice(tag: str, found: Agreement) -> tuple[str, ...]:
    return tag, str(found.rows), shown(found.accuracy), shown(found.kappa), shown_interval(found.kappa_interval)


def _print_differing(out: Console, found: JudgeAgreement, listed: int) -> None:
    rows = found.differing[:listed]
    if not rows:
        return
    out.print()
    several = found.people if len(found.people) > 1 else []
    more = f", the first {len(rows)} of {len(found.differing)}" if len(rows) < len(found.differing) else ""
    print_text(out, f"Questions where people and {found.metric} differ{more}", style="bold")
    print_table(
        out,
        ("Question", "Label", "Judged", "Score", *several),
        [
            (
                row.id,
                _class_name(row.label),
                _class_name(row.judged),
                shown(row.score),
                *("–" if row.people[name] is None else _class_name(row.people[name]) for name in several),
            )
            for row in rows
        ],
    )
    for row in rows:
        for name, text in (("question", row.question), ("answer", row.answer)):
            if text is not None:
                print_text(out, f"{row.id} {name}: {text}")


def _class_name(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
