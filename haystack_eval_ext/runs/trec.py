# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""TREC qrels and run files and BEIR folders, read as trec_eval ranks them; needs the standard library alone."""

import csv
import logging
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from haystack_eval_ext.errors import InvalidValueError, TrecFileError
from haystack_eval_ext.runs._json_files import jsonl_records
from haystack_eval_ext.runs._lines import WHITE_SPACE, FilePath, Problems, numbered_lines, raise_if_any, read_text

_logger = logging.getLogger(__name__)

Qrels = dict[str, dict[str, int | float]]
Run = dict[str, list[tuple[str, float]]]

_BEIR_HEADER = ["query-id", "corpus-id", "score"]
_QRELS_COLUMNS, _RUN_COLUMNS = 4, 6
_MARCO_COLUMNS = 3  # of MS MARCO: query document rank, or query document grade
_COMMENT = "#"
_INFINITE = re.compile(r"([+-]?)inf(inity)?", re.IGNORECASE)
_ITERATIONS = frozenset(("0", "Q0", "q0"))
_CELLS = re.compile(f"[^{WHITE_SPACE}]+")
_INTEGER = re.compile(r"[+-]?[0-9]+")
# float() alone would take "1_000", "infinity" and digits of other scripts.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class BeirFolder:
    """
    A BEIR data set.

    :param corpus: By document id: `title`, `text`, `metadata` and whatever else the line holds.
    :param queries: By query id: the text.
    :param qrels: By split ("test"): the labels.
    :param unknown_documents: Ids that a label names and the corpus lacks. The labels stay in `qrels`.
    :param unknown_queries: Ids that a label names and the queries lack. The labels stay in `qrels`.
    :param path: The folder.
    """

    corpus: dict[str, dict[str, Any]]
    queries: dict[str, str]
    qrels: dict[str, Qrels]
    unknown_documents: list[str] = field(default_factory=list)
    unknown_queries: list[str] = field(default_factory=list)
    path: str = ""


@dataclass(frozen=True)
class QueryCoverage:
    """
    Which queries a run and its labels share.

    :param judged: Queries with labels, as they first appear in the qrels.
    :param answered: Those of them that the run has.
    :param missing_from_run: Those of them that the run lacks.
    :param without_labels: Queries of the run that nobody judged; they are in no mean.
    """

    judged: list[str]
    answered: list[str]
    missing_from_run: list[str]
    without_labels: list[str]


def read_qrels(path: FilePath) -> Qrels:
    """
    Read labels: four TREC columns, or BEIR's three below the header `query-id corpus-id score`.

    Grades keep their value: 2 is an int, 0.9 stays 0.9. The same line twice counts once. Lines that begin with # are
    comments. A file whose lines all have three columns is read as query, document and grade, with a note.

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack_eval_ext.runs.trec import read_qrels

    with TemporaryDirectory() as folder:
        file = Path(folder) / "qrels.txt"
        file.write_text("q1 0 d1 2\\nq1 0 d2 0\\n", "utf-8")
        print(read_qrels(file))
    # {'q1': {'d1': 2, 'd2': 0}}
    ```

    :param path: The file, UTF-8; a name that ends in `.gz` is read through gzip.
    :returns: Grades by query and document, in the order of the file.
    :raises TrecFileError: If lines are broken, grades not finite, or one pair has two grades.
    """
    problems = Problems(path)
    qrels = _parse_qrels(path, problems)
    raise_if_any(TrecFileError, [problems])
    return qrels


def read_run(path: FilePath) -> Run:
    """
    Read rankings: six TREC columns (query, Q0, document, rank, score, tag).

    As in trec_eval, the score alone ranks: descending as a double, ties by document id descending (UTF-8 bytes). The
    rank column is ignored, and so are lines that begin with #, blank lines, and what stands behind the tag. A score may
    be inf. A file whose lines all have three columns, as MS MARCO's have, is read as query, document and rank, with a
    note.

    ```python
    from pathlib import Path
    from tempfile import TemporaryDirectory
    from haystack_eval_ext.runs.trec import read_run

    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.txt"
        file.write_text("q1 Q0 d1 1 0.5 bm25\\nq1 Q0 d2 2 0.5 bm25\\n", "utf-8")
        print(read_run(file))
    # {'q1': [('d2', 0.5), ('d1', 0.5)]}
    ```

    :param path: The file, UTF-8; a name that ends in `.gz` is read through gzip.
    :returns: Ranked (document, score) pairs by query, queries in the order of the file.
    :raises TrecFileError: If lines are broken, scores no numbers, or a document comes twice for a query.
    """
    problems = Problems(path)
    scores: dict[str, dict[str, float]] = {}
    rows = _trec_rows(read_text(path, problems), problems, blank=True)
    if _marco(rows):
        rows = _marco_run(path, rows, problems)
    for line, cells in rows:
        if len(cells) < _RUN_COLUMNS:
            problems.add(f"{len(cells)} columns, expected {_RUN_COLUMNS} (query Q0 document rank score tag)", line)
            continue
        query, _, document, _, written = cells[: _RUN_COLUMNS - 1]
        score = _score(written)
        if score is None:
            problems.add("not a decimal number, expected one", line, "score")
        elif document in (of_query := scores.setdefault(query, {})):
            problems.add(f"document {document!r} a second time for query {query!r}, expected once", line)
        else:
            of_query[document] = float(score)
    raise_if_any(TrecFileError, [problems])
    return {query: sorted(found.items(), key=_trec_order, reverse=True) for query, found in scores.items()}


def read_beir(folder: FilePath) -> BeirFolder:
    """
    Read a BEIR folder: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`, each also with `.gz`.

    Labels of documents or queries that the folder lacks are kept and listed. A document whose id equals its query's
    is a document like any other.

    :param folder: The folder.
    :returns: Its contents.
    :raises TrecFileError: If a file is missing or broken; faults of all files are listed.
    """
    root = Path(folder)
    corpus_file, queries_file = (_gz_or_plain(root / name) for name in ("corpus.jsonl", "queries.jsonl"))
    collected = [Problems(corpus_file), Problems(queries_file), Problems(root)]
    corpus = dict(_beir_lines(corpus_file, collected[0]))
    queries = {query: values["text"] for query, values in _beir_lines(queries_file, collected[1])}
    qrels: dict[str, Qrels] = {}
    for split, file in _split_files(root):
        problems = Problems(file)
        if split in qrels:
            problems.add(f"a second file for the split {split!r}, expected one")
        qrels[split] = _parse_qrels(file, problems)
        collected.append(problems)
    if not qrels:
        collected[2].add("no labels found, expected qrels/SPLIT.tsv in the folder")
    raise_if_any(TrecFileError, collected)
    labelled = [(query, grades) for labels in qrels.values() for query, grades in labels.items()]
    unknown_queries = dict.fromkeys(query for query, _ in labelled if query not in queries)
    unknown_documents = dict.fromkeys(key for _, grades in labelled for key in grades if key not in corpus)
    return BeirFolder(corpus, queries, qrels, list(unknown_documents), list(unknown_queries), os.fspath(folder))


def read_beir_split(folder: FilePath, split: str | None = None) -> tuple[Qrels, dict[str, str]]:
    """
    Read the labels and queries of a BEIR folder without its corpus.

    :param folder: The folder.
    :param split: Which labels; None: "test", or the only ones there are.
    :returns: Grades by query and document, and the text of each query.
    :raises TrecFileError: If a file is missing or broken; faults of all files are listed.
    :raises ValueError: If there is no such split, or several to choose from.
    """
    root = Path(folder)
    files = dict(reversed(_split_files(root)))
    chosen = split or ("test" if "test" in files or len(files) != 1 else next(iter(files)))
    if files and chosen not in files:
        msg = f"{root} has no labels for the split {chosen!r}; it has {', '.join(sorted(files))}. Name one of these."
        raise InvalidValueError(msg)
    queries_file = _gz_or_plain(root / "queries.jsonl")
    collected = [Problems(queries_file), Problems(files.get(chosen, root))]
    queries = {query: values["text"] for query, values in _beir_lines(queries_file, collected[0])}
    qrels = _parse_qrels(files[chosen], collected[1]) if files else {}
    if not files:
        collected[1].add("no labels found, expected qrels/SPLIT.tsv in the folder")
    raise_if_any(TrecFileError, collected)
    return qrels, queries


def _split_files(root: Path) -> list[tuple[str, Path]]:
    """The files of labels with the names of their splits; a plain file stands before its packed copy."""
    files = sorted([*root.glob("qrels/*.tsv"), *root.glob("qrels/*.tsv.gz")])
    return [(file.name.removesuffix(".gz").removesuffix(".tsv"), file) for file in files]


def align(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Sequence[tuple[str, float]]],
    *,
    queries: Literal["complete", "intersection"] = "complete",
    ignore_identical_ids: bool = False,
) -> tuple[list[str], list[list[str]], list[dict[str, float]], QueryCoverage]:
    """
    Bring labels and rankings into equal rows, in the order of the qrels.

    ```python
    from haystack_eval_ext.runs.trec import align

    ids, rankings, labels, coverage = align({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": [("d1", 3.0)]})
    print(ids, rankings, labels, coverage.missing_from_run)
    # ['q1', 'q2'] [['d1'], []] [{'d1': 1.0}, {'d2': 1.0}] ['q2']
    ```

    :param qrels: Grades by query and document.
    :param run: Ranked (document, score) pairs by query.
    :param queries: "complete" takes every judged query and gives one that the run lacks an empty ranking (trec_eval
        -c); "intersection" takes those that both have.
    :param ignore_identical_ids: Leave out a ranked document whose id is that of its query, as BEIR does: in ArguAna and
        Quora the queries are documents themselves.
    :returns: Query ids, ranked document ids, grades by document, and what each side lacks.
    :raises ValueError: If `queries` is neither word, or no query is on both sides.
    """
    if queries not in ("complete", "intersection"):
        msg = f"queries must be 'complete' or 'intersection', but is {queries!r}."
        raise InvalidValueError(msg)
    coverage = QueryCoverage(
        judged=list(qrels),
        answered=[query for query in qrels if query in run],
        missing_from_run=[query for query in qrels if query not in run],
        without_labels=[query for query in run if query not in qrels],
    )
    if not coverage.answered:
        sides = " and ".join(
            f"{name} has {len(ids)} query ids" + (f" such as {next(iter(ids))!r}" if ids else "")
            for name, ids in (("qrels", qrels), ("run", run))
        )
        msg = f"qrels and run share no query: {sides}; expected the same ids in both. Do they belong together?"
        raise InvalidValueError(msg)
    ids = coverage.judged if queries == "complete" else coverage.answered
    rankings = [
        [document for document, _ in run.get(query, ()) if not (ignore_identical_ids and document == query)]
        for query in ids
    ]
    labels = [{document: float(grade) for document, grade in qrels[query].items()} for query in ids]
    return list(ids), rankings, labels, coverage


def _trec_order(ranked: tuple[str, float]) -> tuple[float, str]:
    # Code points and UTF-8 bytes sort alike, so comparing str is comparing bytes.
    return ranked[1], ranked[0]


def _trec_rows(text: str, problems: Problems, *, blank: bool = False) -> list[tuple[int, list[str]]]:
    lines = numbered_lines(text, problems, blank=blank)
    rows = [(number, _CELLS.findall(line)) for number, line in lines if not line.startswith(_COMMENT)]
    if not rows and not problems.texts():
        problems.add("no row, expected at least one")
    return rows


def _marco(rows: Sequence[tuple[int, list[str]]]) -> bool:
    return bool(rows) and all(len(cells) == _MARCO_COLUMNS for _, cells in rows)


def _marco_run(path: FilePath, rows: list[tuple[int, list[str]]], problems: Problems) -> list[tuple[int, list[str]]]:
    """In six columns: ranks count from 1, each once for a query, or they are none."""
    ranks: dict[str, set[str]] = {}
    for _, (query, _, rank) in rows:
        ranks.setdefault(query, set()).add(rank)
    whole = all(_INTEGER.fullmatch(rank) and int(rank) > 0 for of_query in ranks.values() for rank in of_query)
    if (
        not whole
        or not all("1" in of_query for of_query in ranks.values())
        or sum(map(len, ranks.values())) < len(rows)
    ):
        problems.add(
            "3 columns, and the third is no rank that counts from 1 for each query; expected query, document and rank, "
            f"or {_RUN_COLUMNS} columns (query Q0 document rank score tag)"
        )
        return []
    _logger.warning("%s has three columns, as MS MARCO's runs: read as query, document and rank.", os.fspath(path))
    return [(line, [query, "Q0", document, rank, f"-{rank}", "-"]) for line, (query, document, rank) in rows]


def _score(written: str) -> float | None:
    if match := _INFINITE.fullmatch(written):
        return -math.inf if match[1] == "-" else math.inf
    number = _finite_number(written)
    return None if number is None else float(number)


def _finite_number(written: str) -> int | float | None:
    if _NUMBER.fullmatch(written) is None or math.isinf(value := float(written)):
        return None
    return int(written) if _INTEGER.fullmatch(written) else value


def _parse_qrels(path: FilePath, problems: Problems) -> Qrels:
    qrels: Qrels = {}
    text = read_text(path, problems)
    beir = [cell.lower() for cell in _CELLS.findall(text.partition("\n")[0])] == _BEIR_HEADER
    if beir:
        rows = [(line, _tsv_cells(row)) for line, row in numbered_lines(text, problems)][1:]
    else:
        rows = _trec_rows(text, problems)
    # Where each document is 0, it is the iteration, and the grade is missing.
    marco = not beir and _marco(rows) and not all(cells[1] in _ITERATIONS for _, cells in rows)
    if marco:
        _logger.warning("%s has three columns: read as query, document and grade.", os.fspath(path))
    for line, cells in rows:
        if len(cells) != (_MARCO_COLUMNS if beir or marco else _QRELS_COLUMNS) or not all(cells):
            expected = "3, tab-separated and filled" if beir else "4 (query iteration document grade)"
            hint = "" if beir else ", or the header query-id corpus-id score on line 1"
            problems.add(f"{len(cells)} columns, expected {expected}{hint}", line)
            continue
        query, document = cells[0], cells[-2]
        grade = _finite_number(cells[-1].strip(WHITE_SPACE))
        if grade is None:
            problems.add("not a finite decimal number, expected one", line, "score" if beir else "grade")
        elif (before := qrels.setdefault(query, {}).setdefault(document, grade)) != grade:
            problems.add(
                f"document {document!r} has grade {grade} for query {query!r} and {before} further up, expected one",
                line,
            )
    if beir and not qrels and not problems.texts():
        problems.add("no row below the header, expected at least one")
    return qrels


def _tsv_cells(text: str) -> list[str]:
    if '"' not in text:
        return text.split("\t")
    try:
        return next(csv.reader([text], delimiter="\t", strict=True))
    except csv.Error:
        return []


def _gz_or_plain(file: Path) -> Path:
    packed = file.with_name(file.name + ".gz")
    return packed if packed.exists() and not file.exists() else file


def _beir_lines(file: Path, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for line, values in jsonl_records(read_text(file, problems), problems):
        written = values.pop("_id", None)
        key = str(written) if isinstance(written, str | int) and not isinstance(written, bool) else ""
        if not key:
            problems.add("missing or no text, expected the id", line, "_id")
        elif key in seen:
            problems.add(f"{key!r} a second time, expected each id once", line, "_id")
        seen.add(key)
        entry = {"title": "", "metadata": {}} | {name: value for name, value in values.items() if value is not None}
        for name, kind in (("text", str), ("title", str), ("metadata", dict)):
            if not isinstance(entry.get(name), kind):
                problems.add(f"missing or of the wrong type, expected {kind.__name__}", line, name)
        yield key, {"text": None} | entry
