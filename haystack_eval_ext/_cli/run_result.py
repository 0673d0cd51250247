# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run gave, as people read it: scores, stages, diagnosis, what judges spent, what to know about it."""

import math
from collections import Counter

from haystack_eval_ext._cli.judging import print_usage
from haystack_eval_ext._cli.render import (
    console,
    number,
    print_list,
    print_scores,
    print_table,
    print_text,
    print_warnings,
)
from haystack_eval_ext.runs._faults import told
from haystack_eval_ext.runs._run_exports import stage_note
from haystack_eval_ext.runs.run import EvaluationRun

_SHOWN_DIGITS = 12
_REASONS = 3


def print_run(title: str, run: EvaluationRun, warnings: list[str]) -> None:
    """
    Print a run.

    :param title: What was run over what.
    :param run: The run.
    :param warnings: What came up meanwhile.
    """
    screen = console()
    asked = "" if run.repeats == 1 else f", each asked {run.repeats} times"
    print_text(screen, f"{title}, {len(run.ids)} rows{asked}")
    print_scores(screen, run.questions.values(), spread=run.manifest.get("spread"))
    for line in stage_note(run):
        print_text(screen, line)
    _print_diagnoses(run)
    _print_answerability(run)
    print_usage(screen, run.manifest["usage"])
    _print_rag(run)
    print_list(screen, "Questions that the RAG pipeline failed on", _failed(run))
    unanswerable = run.manifest["unanswerable"]
    _print_reasons(run)
    print_list(screen, "Unanswerable rows, left out of the retrieval means", unanswerable)
    never_retrieved = run.manifest["never_retrieved"]
    for component, labels in never_retrieved.items():
        of = "" if len(never_retrieved) == 1 else f" ({component})"
        print_list(screen, f"Relevant documents in no ranking of the run{of}", labels)
    print_warnings(warnings)


def _failed(run: EvaluationRun) -> list[str]:
    """The questions that failed; of several answers how many did."""
    counts = Counter(row["id"] for row in run.rows if row.get("status") == "error")
    if run.repeats == 1:
        return list(counts)
    return [f"{row_id} ({count} of {run.repeats} answers)" for row_id, count in counts.items()]


def _print_rag(run: EvaluationRun) -> None:
    """What the RAG pipeline was, and what it took, in short."""
    usage = run.manifest.get("rag_usage")
    if not usage:
        return
    screen = console()
    settings = run.manifest["settings"]
    chosen = [f"{name} {settings[name]}" for name in ("sample", "stratify", "retrieved") if settings.get(name)]
    if settings.get("sample"):
        chosen.insert(1, f"seed {settings['seed']}")
    for what, found in (run.manifest.get("corpus") or {}).items():
        chosen.append(f"{found['number']} {what}, fingerprint {found['fingerprint'][:_SHOWN_DIGITS]}")
    answers = len(run.rows)
    seconds = usage["seconds"] / answers
    took = [f"{answers} answers in {seconds:.2f} s each"]
    slowest = max(usage["components"].items(), key=lambda entry: entry[1]["seconds"], default=None)
    if slowest is not None:
        took.append(f"slowest {slowest[0]} with {slowest[1]['seconds'] / answers:.2f} s")
    for model, tokens in usage["tokens"].items():
        took.append(f"{model}: {tokens['prompt']} tokens in, {tokens['completion']} out")
    if usage["cost"] is not None:
        took.append(f"cost {usage['cost']:.4f}")
    screen.print()
    print_text(screen, f"RAG pipeline: {'; '.join([*took, *chosen])}")


def _print_diagnoses(run: EvaluationRun) -> None:
    """Which stage failed how often, and which questions have which label."""
    screen = console()
    for found in run.manifest.get("diagnoses", {}).values():
        screen.print()
        stages = [
            (
                stage["stage"],
                str(stage["failed"]),
                number(math.nan if stage["share"] is None else stage["share"]),
                number(math.nan if stage["mean_score"] is None else stage["mean_score"]),
            )
            for stage in found["stages"]
        ]
        print_table(screen, ("Stage", "Failed first here", "Share", "Mean score"), stages)
        labels = found["labels"]
        for label in dict.fromkeys(label for label in found["counts"] if label != "passed"):
            print_list(screen, label.replace("_", " "), [row for row, given in labels.items() if given == label])


def _print_answerability(run: EvaluationRun) -> None:
    """Questions that can be answered and those that cannot: means of the metrics that score both, and what passed."""
    kinds = run.manifest.get("answerability")
    if not kinds:
        return
    screen = console()
    answerable, unanswerable = kinds["answerable"], kinds["unanswerable"]
    both = [name for name, score in unanswerable["scores"].items() if score is not None]
    if both:
        heads = ("Metric", *(f"{kind.capitalize()} ({found['questions']})" for kind, found in kinds.items()))
        scores = [
            [number(math.nan if (found := each["scores"][name]) is None else found) for each in kinds.values()]
            for name in both
        ]
        screen.print()
        print_table(screen, heads, [(name, *row) for name, row in zip(both, scores, strict=True)])
    for name, passed in answerable["labels"].items():
        of = "" if len(answerable["labels"]) == 1 else f" ({name})"
        labels = Counter(unanswerable["labels"][name])
        told = {
            "refused rightly": labels["correct_refusal"],
            "answered with something invented": labels["generation_failure_invented"],
            "without a diagnosis": labels["unknown"],
        }
        screen.print()
        print_text(screen, f"Answerable questions{of} ({answerable['questions']}): {passed.get('passed', 0)} passed")
        counts = ", ".join(f"{count} {what}" for what, count in told.items() if count) or "none with a diagnosis"
        print_text(screen, f"Unanswerable questions{of} ({unanswerable['questions']}): {counts}")
    if not answerable["labels"] and not run.manifest["unanswerable"]:
        untold = "nothing says which of them were refused; RAGFailureClassifier does"
        screen.print()
        print_text(screen, f"Unanswerable questions ({unanswerable['questions']}): {untold}")


def _print_reasons(run: EvaluationRun) -> None:
    """The commonest causes for which the RAG pipeline failed, and how often each."""
    causes: dict[str, list[str]] = {}
    for row in run.rows:
        if isinstance(fault := row.get("error"), dict):
            # One cause can have a message for each question.
            causes.setdefault(told({**fault, "message": None}), []).append(told(fault))
    for found in sorted(causes.values(), key=len, reverse=True)[:_REASONS]:
        (text, _), *others = Counter(found).most_common()
        more = f" ({len(others)} other message{'s' if len(others) > 1 else ''} from there)" if others else ""
        print_text(console(), f"  {len(found)} x {text}{more}")
