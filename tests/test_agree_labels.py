# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Labels of people that were made after a run: files joined by id, several raters, words of many languages."""

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from haystack_eval_ext._yes_no import PAIRS, WORDS
from haystack_eval_ext.cli import app
from haystack_eval_ext.errors import DatasetError
from haystack_eval_ext.judged._forms import JUDGED_WORDS, YES_NO, plain, read_choice
from haystack_eval_ext.judged._llm_outputs import Choices
from haystack_eval_ext.runs._cells import cell_parsers
from haystack_eval_ext.runs._label_words import checked_words, label
from haystack_eval_ext.runs.api import agree
from haystack_eval_ext.runs.run import EvaluationRun
from kept_runs import SECRET, judged

SCORES: list[float | None] = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
TABLE = [(f"q{row}", word) for row, word in enumerate(["yes", "no", "no", "no", "yes", "no"])]


def run(scores: list[float | None] = SCORES) -> EvaluationRun:
    return judged(scores)


def text_of(form: str, rows: list[tuple[Any, ...]], names: tuple[str, ...] = ("id", "human_label")) -> str:
    if form in (".csv", ".tsv"):
        return "".join((",", "\t")[form == ".tsv"].join(map(str, row)) + "\n" for row in [names, *rows])
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    return json.dumps(objects) if form == ".json" else "".join(json.dumps(each) + "\n" for each in objects)


def call(line: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, shlex.split(line))
    return result.exit_code, result.stdout, result.stderr


# --- words ---------------------------------------------------------------------------------------------------------


def test_no_word_means_both() -> None:
    words = [
        (word, side) for pairs in PAIRS.values() for pair in pairs for side in (0, 1) for word in pair[side].split()
    ]
    for word, side in words:
        assert label(word, {}) == float(side == 0), word
        assert label(f" {word.upper()}. ", {}) == float(side == 0), word
    assert len(PAIRS) >= 9
    assert len(WORDS) > 90


@pytest.mark.parametrize("word", [word for pairs in PAIRS.values() for side in pairs[0] for word in side.split()])
def test_data_people_and_judges_mean_the_same_by_yes_and_no(word: str) -> None:
    right = label(word, {})
    assert cell_parsers("content")["flag"](word.upper()) is bool(right)
    assert read_choice(f"**{word}**", YES_NO) == right
    assert Choices(["yes", "no"], None).read(bool(right)) == ("yes" if right else "no")


@pytest.mark.parametrize(
    "word", ["supported", "Not supported", "unsupported", "relevant", "irrelevant", "not relevant."]
)
def test_people_and_judges_mean_the_same_by_a_verdict(word: str) -> None:
    key = "statements" if "supported" in word else "contexts"
    assert JUDGED_WORDS[key][plain(word)] == label(word, {})
    assert plain(word) not in JUDGED_WORDS["contexts" if key == "statements" else "statements"]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("ja", 1.0),
        ("Nein", 0.0),
        ("OUI", 1.0),
        ("non", 0.0),
        ("Sí", 1.0),
        ("não", 0.0),
        ("はい。", 1.0),
        ("いいえ", 0.0),
        ("是", 1.0),
        ("否", 0.0),
        ("예", 1.0),
        ("아니요", 0.0),
        ("да", 1.0),
        ("Нет", 0.0),
        ("no\u0303o".replace("no\u0303o", "na\u0303o"), 0.0),  # a combining tilde
        ("4 stars", 4.0),
        ("1 Star", 1.0),
        ("3つ星", 3.0),
        ("★★★☆☆", 3.0),
        ("４", 4.0),
        (" 0.5 ", 0.5),
        ("1.", 1.0),
        (-1, -1.0),
        (True, 1.0),
        (None, None),
        ("  ", None),
        ("nan", None),
        ("N/A", None),
        ("Not applicable.", None),
        ("not supported", 0.0),
        ("Not relevant", 0.0),
        ("not correct", 0.0),
    ],
)
def test_labels_are_read(written: Any, number: float | None) -> None:
    assert label(written, {}) == number


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("4/5", "a grade with its scale"),
        ("4 out of 5", "a grade with its scale"),
        ("80 %", "a percentage"),
        ("0,5", "a number with a comma"),
        ("mostly", "a word that is not understood"),
        ("!", "a word that is not understood"),
        ("inf", "an infinite number"),
        ({"a": 1}, "a list or an object"),
    ],
)
def test_other_labels_are_refused_by_name(written: Any, part: str) -> None:
    found = label(written, {})
    assert isinstance(found, str)
    assert part in found
    # What a user says it means goes before everything.
    assert label(5.0, checked_words({"5": 0.25})) == label(5, checked_words({"5": 0.25})) == 0.25
    if isinstance(written, str) and written != "!":
        assert label(written.upper(), checked_words({written: 0.25})) == 0.25


@pytest.mark.parametrize("words", [{"": 1}, {"a": float("nan")}, {"a": "1"}, {"a": 1, "A": 0}, {1: 1}])
def test_wrong_words_are_refused(words: Any) -> None:
    with pytest.raises(ValueError, match="label_words must give each word one finite number"):
        checked_words(words)


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".csv", ".tsv", ".jsonl", ".json"])
@pytest.mark.parametrize("key", ["id", "qid", "question_id"])
def test_labels_made_later_are_joined_by_id(form: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / f"labels{form}"
    file.write_text(text_of(form, TABLE[::-1], (key, "human_label")), encoding="utf-8")
    found = agree(run(), None, "polite", labels=file)
    assert (found.people, found.rows, found.confusion) == (["human_label"], 6, [[3, 1], [0, 2]])
    assert [row.id for row in found.differing] == ["q1"]
    assert found.notes == []
    # Neither texts nor a column in the data are needed.
    assert agree(run().without_texts(), "human_label", "polite", labels=str(file)).kappa == found.kappa
    assert agree(run(), None, "polite", labels=[{key: row, "human_label": word} for row, word in TABLE]) == (
        agree(run(), None, "polite", labels=[{"id": row, "human_label": word} for row, word in TABLE])
    )


def test_whole_numbers_are_ids_and_exports_are_read(tmp_path: Path) -> None:
    made = run()
    told = [
        row | {"id": str(number), "columns": {**row["columns"], "human": ""}} for number, row in enumerate(made.rows)
    ]
    first = EvaluationRun(made.manifest, told, made.metrics)
    rows = [{"id": number, "human": word} for number, (_, word) in enumerate(TABLE)]
    assert agree(first, None, "polite", labels=rows).rows == 6
    lines = first.to_csv().splitlines()
    place = lines[0].split(",").index("human")
    assert place > 0
    cells = list(csv.reader(io.StringIO(first.to_csv())))
    for cell, (_, word) in zip(cells[1:], TABLE, strict=True):
        cell[place] = word
    file = tmp_path / "back.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(cells)
    assert agree(first, "human", "polite", labels=file).confusion == [[3, 1], [0, 2]]


def test_ids_that_do_not_meet_are_counted_and_named() -> None:
    rows = [*TABLE[:4], ("q2", "no"), ("q3", "yes"), ("x1", "yes"), ("x2", "no")]
    found = agree(run(), None, "polite", labels=[{"id": key, "human": word} for key, word in rows])
    join = found.labels[0]
    assert (join.joined, join.missing, join.unknown) == (3, ["q4", "q5"], ["x1", "x2"])
    assert (join.repeated, join.contradictory) == (["q2"], ["q3"])
    assert (found.rows, found.left_out) == (3, 3)
    text = " ".join(found.notes)
    for part in (
        "2 questions of the run have no row in it ('q4', 'q5')",
        "2 ids in it are no question's",
        "'x1', 'x2'",
    ):
        assert part in text
    for part in ("an id comes several times with equal labels, which count once ('q2')", "different labels", "('q3')"):
        assert part in text


@pytest.mark.parametrize(
    ("labels", "human", "message"),
    [
        (
            [{"id": "x1", "human": 1}],
            None,
            "no row of labels has the id of a question of 'judged' .*'x1', .*'q0'",
        ),
        ([{"name": "q0", "human": 1}], None, "labels has no column 'id'"),
        ([{"id": "q0"}], None, "has no column beside the id"),
        ([{"id": "q0", "a": 1, "b": 0}], None, r"several columns \('a', 'b'\): name those .*--human"),
        ([{"id": "q0", "a": 1}], "b", "no file of labels has a column 'b', nor has the run"),
        ([{"id": "q0", "a": 1}], ["a", "a"], "human_column names 'a' twice"),
        ([{"id": "q0", "a": SECRET}], None, "column 'a' of labels holds a word that is not understood in row 'q0'"),
        ([{"id": "q0", "a": "4/5"}], None, r"a grade with its scale.*label_words \(--label-words right=1,wrong=0\)"),
        ([{"id": "q0", "a": None}], None, "is empty in every row"),
        (None, None, "human_column .--human. must name the column"),
    ],
)
def test_labels_that_cannot_be_joined_are_refused(labels: Any, human: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        agree(run(), human, "polite", labels=labels)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("key", [None, "", 1.5, True])
def test_ids_that_are_none_are_refused_by_row(key: Any) -> None:
    with pytest.raises(DatasetError, match=r"labels\[0\]: column 'id': .*expected the id"):
        agree(run(), None, "polite", labels=[{"id": key, "human": 1}, {"id": "q0", "human": 1}])


# --- several raters --------------------------------------------------------------------------------------------------

ANN, BEN = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]


def test_two_raters_and_their_ceiling() -> None:
    labels = [{"id": f"q{row}", "ann": ann, "ben": ben} for row, (ann, ben) in enumerate(zip(ANN, BEN, strict=True))]
    found = agree(run(), ["ann", "ben"], "polite", labels=labels)
    assert found.raters is not None
    # Ann and Ben: observed 4/6, chance .5, kappa 1/3; Ann and the judge agree fully; Ben and the judge as Ann and Ben.
    assert found.raters.people_kappa == pytest.approx(1 / 3)
    assert found.raters.judge_kappa == pytest.approx((1 + 1 / 3) / 2)
    assert [(pair.first, pair.second) for pair in [*found.raters.people, *found.raters.judge]] == [
        ("ann", "ben"),
        ("ann", "polite"),
        ("ben", "polite"),
    ]
    # Two of six rows differ: n = 12, six of each: 1 - 11 * 4 / (2 * 36)
    assert found.raters.people_alpha["nominal"] == pytest.approx(1 - 11 * 4 / 72)
    assert (found.tied, found.rows, found.accuracy) == (["q1", "q5"], 4, 1.0)
    assert "left out: 2 ('q1', 'q5')" in " ".join(found.notes)


def test_raters_come_from_files_and_from_the_data(tmp_path: Path) -> None:
    files = []
    for name, column in (("ann", ANN), ("ben", BEN)):
        files.append(tmp_path / f"{name}.csv")
        rows = [(f"q{row}", value) for row, value in enumerate(column)]
        files[-1].write_text(text_of(".csv", rows, ("id", "verdict")), encoding="utf-8")
    found = agree(run(), None, "polite", labels=files)
    assert found.people == ["ann.csv: verdict", "ben.csv: verdict"]
    (tmp_path / "more").mkdir()
    other = tmp_path / "more" / "ann.csv"
    other.write_bytes(files[1].read_bytes())
    assert agree(run(), None, "polite", labels=[files[0], other]).people == ["ann.csv: verdict", "ann.csv: verdict (2)"]
    with pytest.raises(ValueError, match="names one file twice"):
        agree(run(), None, "polite", labels=[files[0], other, f"{tmp_path}/more/../ann.csv"])
    first = run()
    for row, value in zip(first.rows, ANN, strict=True):
        row["columns"]["early"] = value
    mixed = agree(first, ["verdict", "early"], "polite", labels=files[1])
    assert (mixed.people, mixed.tied) == (["verdict", "early"], ["q1", "q5"])
    with pytest.raises(ValueError, match="kept without texts"):
        agree(run().without_texts(), ["verdict", "early"], "polite")


def test_most_of_three_decide_and_the_mean_is_ranked() -> None:
    labels = [
        {"id": "q0", "a": 5, "b": 5, "c": 1},
        {"id": "q1", "a": 1, "b": 2, "c": None},
        {"id": "q2", "a": 3, "b": None, "c": None},
        {"id": "q3", "a": 1, "b": 1, "c": 1},
    ]
    found = agree(run([4.0, 2.0, 3.0, 1.0]), ["a", "b", "c"], "polite", labels=labels, weights="quadratic")
    assert found.tied == ["q1"]
    assert [(row.id, row.label, row.score, row.people) for row in found.differing] == [
        ("q0", 5.0, 4.0, {"a": 5.0, "b": 5.0, "c": 1.0})
    ]
    # Means 11/3, 1.5, 3, 1 against 4, 2, 3, 1: the same order.
    assert [found.ranks.spearman, found.ranks.kendall] == pytest.approx([1.0, 1.0])
    assert found.mean_absolute_error == pytest.approx((1 / 3 + 0.5 + 0 + 0) / 4)


def test_many_grades_have_ranks_alone() -> None:
    labels = [{"id": f"q{row}", "human": row / 30} for row in range(30)]
    found = agree(run([row / 29 for row in range(30)]), None, "polite", labels=labels)
    assert (found.classes, found.kappa, found.differing) == ([], None, [])
    assert found.ranks.spearman == pytest.approx(1.0)
    assert "need a threshold (--threshold 0.5)" in " ".join(found.notes)


def test_rows_that_differ_most_come_first_and_have_texts_if_asked() -> None:
    labels = [{"id": f"q{row}", "human": word} for row, word in enumerate([1, 0, 1, 0])]
    scores: list[float | None] = [0.4, 0.6, 0.1, 0.2]
    found = agree(run(scores), None, "polite", labels=labels, threshold=0.5)
    assert [row.id for row in found.differing] == ["q2", "q0", "q1"]
    assert {row.question for row in found.differing} == {None}
    told = agree(run(scores), None, "polite", labels=labels, threshold=0.5, texts=True)
    assert told.differing[0].question == f"{SECRET} question 2?"
    bare = agree(run(scores).without_texts(), None, "polite", labels=labels, threshold=0.5, texts=True)
    assert bare.differing[0].question is None
    assert "kept without texts" in " ".join(bare.notes)


def test_a_sweep_without_a_threshold_is_honest_everywhere() -> None:
    scores: list[float | None] = [(row * 7 % 40) / 40 for row in range(40)]
    people = [float((score or 0) > 0.5) if row % 9 else 0.0 for row, score in enumerate(scores)]
    first = run(scores)
    for row in first.rows:
        row.pop("cluster", None)
    labels = [{"id": f"q{row}", "human": value} for row, value in enumerate(people)]
    found = agree(first, None, "polite", labels=labels, sweep=True, seed=3)
    assert found.sweep is not None
    assert (found.kappa, found.threshold) == (found.sweep.out_of_fold.kappa, None)
    beside = agree(first, None, "polite", labels=labels, sweep=True, seed=3, threshold=0.9)
    assert beside.sweep == found.sweep
    assert beside.kappa != found.kappa


def test_slices_by_tag() -> None:
    labels = [{"id": f"q{row}", "human": word} for row, word in enumerate([1, 0, 0, 0, 1, 0])]
    found = agree(run(), None, "polite", labels=labels, by="lang")
    assert {tag: (each.rows, each.accuracy) for tag, each in found.slices.items()} == {
        "lang:de": (3, 1.0),
        "lang:en": (3, pytest.approx(2 / 3)),
    }
    with pytest.raises(ValueError, match="'topic' is none"):
        agree(run(), None, "polite", labels=labels, by="topic")


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a run and labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    run().save("kept")
    Path("one.csv").write_text(text_of(".csv", TABLE), encoding="utf-8")
    both = [(f"q{row}", *pair) for row, pair in enumerate(zip(ANN, BEN, strict=True))]
    Path("two.csv").write_text(text_of(".csv", both, ("id", "ann", "ben")), encoding="utf-8")
    Path("own.csv").write_text(text_of(".csv", [("q0", "fine"), ("q1", "poor"), ("q9", "fine")]), encoding="utf-8")
    return tmp_path


def test_the_command_shows_rates_raters_and_rows(folder: Path) -> None:
    code, out, err = call("agree kept --labels one.csv")
    assert (code, err) == (0, "")
    assert SECRET not in out
    lines = [line.split() for line in out.splitlines()]
    assert next(line for line in lines if line[:1] == ["TPR:"])[4] == "1.0000"
    assert next(line for line in lines if line[:1] == ["TNR:"])[4] == "0.7500"
    assert ["q1", "0", "1", "1.0000"] in lines
    assert "q1" not in call("agree kept --labels one.csv --show 0")[1]
    assert f"q1 question: {SECRET} question 1?" in call("agree kept --labels one.csv --texts")[1]
    code, out, err = call("agree kept --labels two.csv --human ann --human ben --by lang")
    assert code == 0
    for part in ("ann and ben", "ben and polite", "Krippendorff's alpha, nominal", "ceiling", "lang:de"):
        assert part in out
    assert "left out: 2 ('q1', 'q5')" in err


def test_the_command_writes_json(folder: Path) -> None:
    code, _, err = call("agree kept --labels two.csv --human ann --human ben --json a.json --show 0 --fail-under 0.2")
    assert code == 0, err
    found = json.loads(Path("a.json").read_text("utf-8"))
    told = found["metrics"]["polite"]
    assert (found["run"], told["people"], told["tpr"], told["by_class"][0]["recall"]) == (
        "judged",
        ["ann", "ben"],
        1.0,
        1.0,
    )
    assert told["raters"]["people_kappa"] == pytest.approx(1 / 3)
    assert found["outcomes"] == {"polite": "inconclusive"}
    assert [row["id"] for row in told["differing"]] == []
    code, _, err = call("agree kept --labels one.csv --json a.json")
    assert (code, "--force" in err) == (2, True)


def test_words_and_ids_on_the_command_line(folder: Path) -> None:
    code, out, err = call("agree kept --labels own.csv --label-words fine=1,poor=0")
    assert (code, "2 questions" in out) == (0, True)
    assert "4 questions of the run have no row in it ('q2', 'q3', 'q4', 'q5')" in err
    assert "an id in it is no question's of the run and left out ('q9')" in err


# Each: of 40 rows those that are labelled, how many of these people label otherwise than the judge, the exit code.
@pytest.mark.parametrize(
    ("labelled", "otherwise", "option", "code"),
    [
        (40, 10, "", 0),
        (40, 10, "--fail-under 0.9", 1),
        (40, 0, "--fail-under 0.8", 0),
        (8, 2, "--fail-under 0.8", 0),
        (8, 2, "--fail-under 0.8 --inconclusive fail", 3),
        (8, 0, "--fail-under 0.8 --inconclusive fail", 3),
    ],
)
def test_the_exit_code_is_a_verdict(labelled: int, otherwise: int, option: str, code: int, folder: Path) -> None:
    judged([float(row % 2) for row in range(40)], name="forty").save("forty")
    rows = [(f"q{row}", (row + (row < otherwise)) % 2) for row in range(labelled)]
    Path("forty.csv").write_text(text_of(".csv", rows), encoding="utf-8")
    found, out, err = call(f"agree forty --labels forty.csv {option}")
    assert found == code, out + err
    verdict = {"": None, "--fail-under 0.9": "fail"}.get(option, "pass" if labelled == 40 else "inconclusive")
    assert verdict is None or f": {verdict}: kappa is" in out


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("agree kept", ["--human", "--labels"]),
        ("agree kept --labels two.csv", ["two.csv has several columns ('ann', 'ben')", "--human"]),
        ("agree kept --labels none.csv", ["none.csv"]),
        ("agree kept --labels own.csv", ["own.csv", "'q0'", "--label-words right=1,wrong=0"]),
        ("agree kept --labels own.csv --label-words fine", ["--label-words must look like right=1,wrong=0"]),
        ("agree kept --labels own.csv --label-words fine=1,fine=0", ["each word once"]),
        ("agree kept --labels one.csv --label-range 5", ["--label-range must look like 1:5"]),
        ("agree kept --labels one.csv --inconclusive fail", ["add --fail-under"]),
        ("agree kept --labels one.csv --json one.csv --force", ["belongs to an input"]),
        ("agree kept --labels one.csv --by topic", ["by must name tags"]),
        ("agree kept --labels one.csv --folds 1 --sweep", ["--folds", "--help"]),
    ],
)
def test_wrong_use_is_one_line(line: str, parts: list[str], folder: Path) -> None:
    code, out, err = call(line)
    assert (code, out) == (2, ""), out + err
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err, err
    assert SECRET not in err


def test_duplicates_are_compared_as_they_are_read() -> None:
    given = [{"id": f"q{row}", "a": row % 2} for row in range(6)]
    given += [{"id": "q1", "a": "yes"}, {"id": "q0", "a": "0.0"}, {"id": "q2", "a": "yes"}]
    join = agree(run(), "a", "polite", labels=given).labels[0]
    assert (join.repeated, join.contradictory) == (["q0", "q1"], ["q2"])
    words = {"right": 1.0}
    join = agree(run(), "a", "polite", labels=[*given, {"id": "q3", "a": "right"}], label_words=words).labels[0]
    assert join.repeated == ["q0", "q1", "q3"]
