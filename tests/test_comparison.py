# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Two runs are joined by id, refused with every reason where they differ, and compared by the tested statistics."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haystack_eval_ext.errors import ComparisonError
from haystack_eval_ext.runs.comparison import Bounds, Comparison, MetricRows, ScoredRun, compare, metric_side
from haystack_eval_ext.runs.statistics import (
    holm,
    mean_interval,
    paired_difference,
    rows_to_decide,
    unpaired_difference,
)
from scored_runs import ERROR, NOT_RUN, UNDEFINED, rows, run

IDS = ["q1", "q2", "q3", "q4"]
MADE: dict[str, Any] = {"parameters": {"top_k": 10}, "judge": "model-1", "prompt_versions": {"verdicts": "3"}}
BASE = ScoredRun(
    "base",
    IDS,
    {"R@10": rows([0.2, 0.4, 0.6, 0.8], **MADE), "only": rows([1, 1, 1, 1])},
    question_fingerprint="q-a",
    label_fingerprint="l-a",
)
NEW = replace(BASE, name="new", metrics={"R@10": rows([0.4, 0.5, 0.5, 0.8], **MADE)})


def made(**changes: Any) -> ScoredRun:
    return replace(NEW, metrics={"R@10": replace(NEW.metrics["R@10"], **changes)})


def shortened(scored: ScoredRun, count: int, **changes: Any) -> ScoredRun:
    metrics = {
        name: replace(metric, scores=metric.scores[:count], statuses=metric.statuses[:count])
        for name, metric in scored.metrics.items()
    }
    return replace(scored, ids=scored.ids[:count], metrics=metrics, **changes)


def test_rows_are_joined_by_id() -> None:
    backwards = replace(NEW, ids=IDS[::-1], metrics={"R@10": rows([0.8, 0.5, 0.5, 0.4], **MADE)})
    metric = compare(BASE, backwards).metrics["R@10"]
    assert metric == compare(BASE, NEW).metrics["R@10"]
    assert metric.difference == paired_difference([0.2, 0.4, 0.6, 0.8], [0.4, 0.5, 0.5, 0.8])
    assert metric.new.estimate == mean_interval([0.4, 0.5, 0.5, 0.8])
    assert [(change.id, round(change.change, 9)) for change in metric.improved] == [("q1", 0.2), ("q2", 0.1)]
    assert [(change.id, change.base, change.new) for change in metric.worsened] == [("q3", 0.6, 0.5)]
    assert compare(BASE, NEW).notes == ["Only 'base' has 'only'."]


REFUSED = [
    (replace(NEW, question_fingerprint="q-b"), ["Questions differ under the same ids (fingerprints 'q-a' and 'q-b')"]),
    (replace(NEW, label_fingerprint="l-b"), ["Labels differ under the same ids (fingerprints 'l-a' and 'l-b')"]),
    (shortened(NEW, 3), ["Questions: 1 of 4 in 'base' are not in 'new': 'q4'", "common=True", "unpaired=True"]),
    (
        replace(NEW, ids=["q1", "q2", "q3", "q9"]),
        ["in 'base' are not in 'new': 'q4'", "in 'new' are not in 'base': 'q9'"],
    ),
    (made(parameters={"top_k": 5}), ["Parameter top_k of 'R@10' differs: 10 and 5"]),
    (made(parameters={"top_k": 10, "mode": "x"}), ["Parameter mode of 'R@10' differs: nothing and 'x'"]),
    (made(judge="model-2"), ["Judge model of 'R@10' differs: 'model-1' and 'model-2'"]),
    (made(judge=None), ["Judge model of 'R@10' differs: 'model-1' and None"]),
    (made(prompt_versions={"verdicts": "4"}), ["Prompt version verdicts of 'R@10' differs: '3' and '4'"]),
    (replace(NEW, metrics={"else": rows([1, 1, 1, 1])}), ["Metrics: 'base' has 'R@10', 'only', 'new' has 'else'"]),
    (
        replace(made(judge="model-2", parameters={"top_k": 5}), label_fingerprint="l-b", question_fingerprint="q-b"),
        ["(1) Questions", "(2) Labels", "(3) Parameter top_k", "(4) Judge model"],
    ),
]


@pytest.mark.parametrize(("new", "reasons"), REFUSED)
def test_runs_that_differ_are_refused_with_every_reason(new: ScoredRun, reasons: list[str]) -> None:
    with pytest.raises(ComparisonError) as refusal:
        compare(BASE, new)
    for reason in reasons:
        assert reason in str(refusal.value)


def test_no_reason_means_no_refusal() -> None:
    assert compare(BASE, made(judge="model-1")).rows == 4
    with pytest.raises(ComparisonError, match="cluster differs in 1 row: 'q2'"):
        compare(replace(BASE, clusters=["a", "a", "b", "b"]), replace(NEW, clusters=["a", "b", "b", "b"]))
    with pytest.raises(ComparisonError, match="the runs have no row"):
        compare(shortened(BASE, 0), shortened(NEW, 0))


def test_row_fingerprints_name_the_rows() -> None:
    base, new = replace(BASE, row_fingerprints=list("abcd")), replace(NEW, row_fingerprints=list("abxd"))
    with pytest.raises(ComparisonError, match="Questions or labels differ in 1 row: 'q3'"):
        compare(base, new)
    with pytest.raises(ComparisonError, match=r"Labels differ under the same ids, in rows 'q3' \(fingerprints"):
        compare(base, replace(new, label_fingerprint="l-b"))
    with pytest.raises(ComparisonError, match=r"\(2\) Questions or labels differ in 1 shared row: 'q3'"):
        compare(base, shortened(new, 3, row_fingerprints=list("abx")))


def test_common_compares_shared_rows_alone() -> None:
    comparison = compare(BASE, shortened(NEW, 3, question_fingerprint="q-b"), common=True)
    assert comparison.rows == 3
    assert comparison.metrics["R@10"].difference == paired_difference([0.2, 0.4, 0.6], [0.4, 0.5, 0.5])
    assert "3 shared rows of 4 in 'base' and 3 in 'new'." in comparison.notes
    assert any("could not be checked" in note for note in comparison.notes)
    relabelled = shortened(NEW, 3, label_fingerprint="l-b", row_fingerprints=list("axc"))
    comparison = compare(replace(BASE, row_fingerprints=list("abcd")), relabelled, common=True)
    assert comparison.metrics["R@10"].difference == paired_difference([0.2, 0.6], [0.4, 0.5])
    assert "1 row with the same id was left out: their question or labels differ." in comparison.notes


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (replace(NEW, label_fingerprint="l-b"), "Labels differ under the same ids"),
        (made(judge="model-2"), "Judge model"),
        (replace(NEW, ids=["x1", "x2", "x3", "x4"]), "the runs share no id"),
    ],
)
def test_common_does_not_hide_other_differences(new: ScoredRun, reason: str) -> None:
    with pytest.raises(ComparisonError, match=reason):
        compare(BASE, new, common=True)
    changed = replace(NEW, row_fingerprints=["x"] * 4)
    with pytest.raises(ComparisonError, match="differ in every shared row"):
        compare(replace(BASE, row_fingerprints=["y"] * 4), changed, common=True)


def test_unpaired_says_what_it_is() -> None:
    new = replace(NEW, ids=["x1", "x2", "x3", "x4"], question_fingerprint="q-b")
    comparison = compare(BASE, new, unpaired=True, margins={"R@10": 0.1})
    metric = comparison.metrics["R@10"]
    assert not comparison.paired
    assert comparison.notes[0].startswith("Unpaired: the means of different questions are compared")
    assert metric.difference == unpaired_difference([0.2, 0.4, 0.6, 0.8], [0.4, 0.5, 0.5, 0.8])
    assert (metric.wins, metric.losses, metric.improved, metric.p_adjusted) == (
        None,
        None,
        [],
        metric.difference.unpaired_p,
    )
    with pytest.raises(ComparisonError, match="Judge model"):
        compare(BASE, made(judge="model-2"), unpaired=True)
    with pytest.raises(ValueError, match="exclude each other"):
        compare(BASE, new, unpaired=True, common=True)


def test_counts_bounds_and_pairs_of_rows_without_a_score() -> None:
    base = run([0.5, ERROR, 0.5, UNDEFINED, 0.75, NOT_RUN, NOT_RUN])
    new = run([0.25, 0.5, ERROR, ERROR, 0.75, 0.5, NOT_RUN])
    metric = compare(base, new).metrics["m"]
    assert (metric.base.failed, metric.base.undefined, metric.base.not_run) == (1, 1, 2)
    assert (metric.new.failed, metric.new.undefined, metric.new.not_run) == (2, 0, 1)
    assert (metric.difference.rows, metric.difference.left_out) == (2, 5)
    assert (metric.base.estimate.mean, metric.new.estimate.mean) == (0.625, 0.5)
    # Pairs: -.25 and 0. Unknown: (?, .5) twice, once as the base row was not reached, and (.5, ?): each -.5 to .5. The
    # undefined row has no pair anyhow, and what neither run was to score is not missing.
    assert metric.bounds == Bounds(3, (-0.25 - 1.5) / 5, (-0.25 + 1.5) / 5, unknown=3)


def test_undefined_rows_that_count_as_0_are_pairs() -> None:
    base = run([0.5, 0.5])
    new = ScoredRun("new", base.ids, {"m": MetricRows([0.5, 0.0], ["scored", "undefined"])})
    metric = compare(base, new).metrics["m"]
    assert (metric.difference.rows, metric.difference.mean, metric.new.undefined) == (2, -0.25, 1)
    failed = compare(run([0.5, ERROR]), new).metrics["m"]
    # The base row could have been 0 to 1, the new one is 0: -1 to 0.
    assert failed.bounds == Bounds(1, -0.5, 0.0, unknown=1)


def test_answers_that_failed_leave_their_share_of_the_row_open() -> None:
    # Three answers each: none failed, one of them, two of them, all.
    partly = MetricRows([0.5, 0.5, 0.5, math.nan], ["scored"] * 3 + ["error"], failed=[0, 1 / 3, 2 / 3, 1])
    side = metric_side(partly)
    # 1.5 known of the four rows but (1/3 + 2/3) · .5 of it; 1/3 + 2/3 + 1 rows could be 0 or 1.
    assert side.failed == 3
    assert list(side.bounds or ()) == pytest.approx([3, (1.5 - 0.5) / 4, (1.5 - 0.5 + 2) / 4, 2, 0, 2])
    base, new = ScoredRun("base", IDS, {"m": rows([0.5, 0.5, 0.5, 0.5])}), ScoredRun("new", IDS, {"m": partly})
    bounds = compare(base, new).metrics["m"].bounds
    # The change of the rows: 0, ±1/6, ±1/3, ±1/2.
    assert list(bounds or ()) == pytest.approx([3, -0.25, 0.25, 2, 0, 2])


def test_rows_that_one_run_alone_gives_a_number_for_are_told_and_open() -> None:
    known = {"question_fingerprint": "q", "label_fingerprint": "l"}
    base = run([0.5] * 6, name="base", **known)
    new = run([0.5, 0.5, 0.5, UNDEFINED, UNDEFINED, 0.5], name="new", **known)
    comparison = compare(base, new)
    metric = comparison.metrics["m"]
    assert (metric.base.only_here_undefined, metric.new.only_here_undefined) == (0, 2)
    assert metric.bounds == Bounds(0, -0.5 * 2 / 6, 0.5 * 2 / 6, undefined=2, unknown=2)
    assert comparison.notes == ["m is undefined in 2 rows of 'new' with a score in 'base': left out of both means."]
    # Undefined in both runs is what the questions are like.
    assert compare(new, replace(new, name="again")).metrics["m"].bounds == Bounds(0, 0, 0)


def test_measures_that_differ_in_their_cut_off_are_refused() -> None:
    def measured(name: str, *metrics: str) -> ScoredRun:
        scored = {metric: rows([0, 1, 1, 1]) for metric in metrics}
        return ScoredRun(name, IDS, scored, question_fingerprint="q", label_fingerprint="l")

    base = measured("base", "rank.R@2", "rank.ERR(max_grade=3)@20", "rank.RR", "rank.AP", "f1")
    new = measured("new", "rank.R@3", "rank.ERR@20", "rank.RR", "rank.P@3", "f1")
    with pytest.raises(ComparisonError) as refusal:
        compare(base, new)
    assert "(1) Cut-off or parameters of 'rank.R' differ: 'base' has 'rank.R@2', 'new' has 'rank.R@3'" in str(
        refusal.value
    )
    assert "(2) Cut-off or parameters of 'rank.ERR' differ: 'base' has 'rank.ERR(max_grade=3)@20'" in str(refusal.value)
    assert "metrics=[...]" in str(refusal.value)
    assert "rank.P" not in str(refusal.value)
    with pytest.raises(ComparisonError, match=r"'rank\.R' differ"):
        compare(base, new, common=True)
    with pytest.raises(ComparisonError, match=r"'rank\.R' differ"):
        compare(base, new, unpaired=True)
    with pytest.raises(ComparisonError, match=r"'rank\.R' differ"):
        compare(measured("base", "rank.R@2"), measured("new", "rank.R@3"))
    chosen = compare(base, new, metrics=["f1", "rank.RR"])
    assert (list(chosen.metrics), chosen.notes) == (["rank.RR", "f1"], [])
    # One cut-off that both have is enough, and another component is another metric.
    both = compare(measured("base", "rank.R@2", "rank.R@5"), measured("new", "rank.R@3", "rank.R@5", "bm25.R@2"))
    assert list(both.metrics) == ["rank.R@5"]
    for wrong, message in ((["rank.R@2"], "'rank.R@2' is none"), ([], "a list of names"), ("f1", "a list of names")):
        with pytest.raises(ValueError, match=message):
            compare(base, new, metrics=wrong)


def test_a_direction_that_differs_is_refused() -> None:
    for lower in (True, False):
        base = replace(BASE, metrics={"R@10": replace(BASE.metrics["R@10"], lower_is_better=lower)})
        assert compare(base, made(lower_is_better=lower)).metrics["R@10"].lower_is_better == lower
        assert compare(base, NEW).metrics["R@10"].lower_is_better == lower  # unknown
        with pytest.raises(ComparisonError, match=r"Direction of 'R@10' differs: (lower|higher) is better and "):
            compare(base, made(lower_is_better=not lower))


def test_clusters_and_tags_of_one_run_are_told() -> None:
    clustered = replace(NEW, clusters=list("aabb"))
    assert (
        "Only 'new' has clusters; its clusters are taken for the rows of 'base' too." in compare(BASE, clustered).notes
    )
    one, two = replace(BASE, tags=[["x"], ["x"], [], []]), replace(NEW, tags=[["x"], [], [], []])
    comparison = compare(one, two, by="x")
    assert "Tags differ in 1 row ('q2'): those of 'base' are taken." in comparison.notes
    assert comparison.slices["x"]["R@10"].base.rows == 2
    assert "Only 'new' has tags; they are taken for both runs." in compare(BASE, two).notes
    same = compare(replace(BASE, tags=[["x", "y"]] * 4), replace(NEW, tags=[["y", "x"]] * 4))
    assert same.notes == ["Only 'base' has 'only'."]


def test_holm_is_taken_over_the_metrics_and_over_the_slices() -> None:
    base = ScoredRun(
        "base", IDS, {"a": rows([0, 0, 0, 0]), "b": rows([0.1, 0.2, 0.3, 0.4])}, tags=[["x"], ["x"], ["y"], []]
    )
    new = replace(base, name="new", metrics={"a": rows([1, 1, 1, 1]), "b": rows([0.2, 0.1, 0.4, 0.5])})
    comparison = compare(base, new, by="*")
    p_values = [metric.difference.p_value for metric in comparison.metrics.values()]
    # Of 16 choices of signs 2 come as far as 1 1 1 1, and 10 as far as 1 -1 1 1.
    assert p_values == [0.125, 0.625]
    assert [metric.p_adjusted for metric in comparison.metrics.values()] == holm(p_values) == [0.25, 0.625]
    slices = [metric for metrics in comparison.slices.values() for metric in metrics.values()]
    assert [metric.p_adjusted for metric in slices] == holm([metric.difference.p_value for metric in slices])


def test_slices_are_those_of_the_tags_asked_for() -> None:
    tags = [["lang:de", "long"], ["lang:en"], ["lang:en", "long"], []]
    base, new = replace(BASE, tags=tags, clusters=list("aabb")), replace(NEW, clusters=list("aabb"))
    slices = compare(base, new, by="lang").slices
    assert list(slices) == ["lang:de", "lang:en"]
    assert slices["lang:en"]["R@10"].difference == paired_difference([0.4, 0.6], [0.5, 0.5], clusters=["a", "b"])
    assert list(compare(base, new, by=["long", "lang:de"]).slices) == ["long", "lang:de"]
    assert list(compare(base, new, by="*").slices) == ["lang:de", "lang:en", "long"]
    unpaired = compare(base, replace(new, tags=tags[::-1]), by="long", unpaired=True).slices["long"]["R@10"]
    assert unpaired.difference == unpaired_difference(
        [0.2, 0.6], [0.5, 0.8], base_clusters=list("ab"), new_clusters=list("ab")
    )
    with pytest.raises(ValueError, match=r"by must name tags of the rows, but 'lnog' is none \(nearest: 'long'"):
        compare(base, new, by="lnog")
    with pytest.raises(ValueError, match="by needs rows with tags"):
        compare(BASE, NEW, by="long")


def test_direction_turns_wins_and_the_rows_that_changed() -> None:
    metric = compare(BASE, NEW, lower_is_better={"R@10"}, changed=1).metrics["R@10"]
    assert (metric.wins, metric.losses, metric.difference.wins) == (1, 2, 2)
    assert ([row.id for row in metric.improved], [row.id for row in metric.worsened]) == (["q3"], ["q1"])


def test_margin_and_power() -> None:
    metric = compare(BASE, NEW, margins={"R@10": 0.05}, confidence=0.9, power=0.8).metrics["R@10"]
    assert metric.rows_needed == rows_to_decide(metric.difference, 0.05, confidence=0.9, power=0.8)
    # t of 3 degrees of freedom at .95 and .8: 2.353363 + .978472
    assert metric.minimal_detectable == pytest.approx((2.353363 + 0.978472) * (metric.difference.standard_error or 0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margins": {"R@1": 0.1}}, r"margins must name metrics.*'R@1' is none \(nearest: 'R@10'"),
        ({"margins": {"only": 0.1}}, r"margins must name metrics.*'only' is none \(there are: 'R@10'\)"),
        ({"seed": -1}, "seed must be at least 0, but is -1"),
        ({"changed": -1}, "changed must be at least 0, but is -1"),
        ({"margins": {"R@10": 0}}, "margins must be above 0, but that of 'R@10' is 0"),
        ({"lower_is_better": ["r"]}, r"lower_is_better must name metrics.*\(there are: 'R@10', 'only'"),
        ({"confidence": 1.0}, "confidence must lie between"),
        ({"power": 0.1, "margins": {"R@10": 0.1}}, "power must be at least"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(BASE, NEW, **options)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: run([1, 0], ids=["a", "a"]), "ids of run 'run' must each come once, but 'a' come"),
        (
            lambda: run([1, 0], ids=["a"]),
            "scores of 'm' must have one value for each of the 1 rows of run 'run', but has 2",
        ),
        (lambda: run([1], clusters=[]), "clusters must have one value for each of the 1 rows of run 'run', but has 0"),
        (lambda: run([math.inf]), "scores of 'm' in run 'run' must be finite"),
        (lambda: run(["broken"]), "statuses of 'm' in run 'run' must be among .*, but hold 'broken'"),
        (lambda: ScoredRun("run", ["a"], {"m": MetricRows([1.0], [])}), "statuses of 'm' must have one value"),
        (
            lambda: ScoredRun("run", ["a", "b"], {"m": MetricRows([1.0, 0.5], ["scored", "error"])}),
            "scores of 'm' in run 'run' must be NaN where the status is 'error', but row 1 has a number",
        ),
        (
            lambda: ScoredRun("run", ["a"], {"m": MetricRows([1.0], ["scored"], failed=[2.0])}),
            "failed of 'm' in run 'run' must be shares from 0 to 1",
        ),
        (lambda: run([1e200]), r"scores of 'm' in run 'run' must lie within 1e\+150 of 0, but row 0 is 1e\+200"),
    ],
)
def test_bad_runs_are_refused(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()


def test_metric_side_counts_one_run() -> None:
    side = metric_side(rows([1, 0.5, UNDEFINED, ERROR, NOT_RUN]))
    assert (side.rows, side.undefined, side.failed, side.not_run) == (5, 1, 1, 1)
    assert side.bounds == Bounds(1, 0.5, 2.5 / 3, unknown=1)
    # Beyond 0 to 1 the scores seen are all that is known.
    # Scores that were not seen may lie outside those that were.
    assert metric_side(rows([20, 40, ERROR])).bounds == Bounds(1, -math.inf, math.inf, unknown=1)
    assert metric_side(rows([20, 40, UNDEFINED])).bounds == Bounds(0, 30, 30)
    assert metric_side(rows([ERROR])).bounds is None


def swapped(comparison: Comparison) -> list[Any]:
    metric = comparison.metrics["m"]
    return [metric.losses, metric.wins, metric.difference.p_value, [row.id for row in metric.worsened]]


SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0, ERROR, UNDEFINED]) | st.floats(0, 1)


@given(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_swapped_runs_mirror(pairs: list[Any], chance: Any) -> None:
    base, new = run([one for one, _ in pairs]), run([two for _, two in pairs])
    order = chance.sample(range(len(pairs)), len(pairs))
    shuffled = run([pairs[row][1] for row in order], ids=[new.ids[row] for row in order])
    there, again, back = (compare(*runs, resamples=100) for runs in ((base, new), (base, shuffled), (new, base)))
    assert there == again
    metric = there.metrics["m"]
    assert swapped(back) == [metric.wins, metric.losses, metric.difference.p_value, [row.id for row in metric.improved]]
