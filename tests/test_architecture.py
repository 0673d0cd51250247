# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Imports point one way: cli -> report, runs -> diagnosis, families -> shared core; module paths are frozen."""

import ast
from pathlib import Path

import pytest

import haystack_eval_ext

PACKAGE = Path(haystack_eval_ext.__file__).parent
FAMILIES = ("retrieval", "answers", "judged")
# A layer imports from itself, from those below it and, as a family, from no other family. Every part of the package is
# in one; __init__.py, which exports the components, is none of them.
LAYERS = (
    ("cli", "_cli"),
    ("report",),
    ("runs",),
    ("diagnosis",),
    FAMILIES,
    (
        "_batches",
        "_calls",
        "_embedding",
        "errors",
        "_foreign",
        "_formulas",
        "_models",
        "_normalization",
        "_progress",
        "_parameters",
        "_platform",
        "_resources",
        "_rows",
        "_said",
        "_scores",
        "_secret_shapes",
        "_sentences",
        "_serialization",
        "_text",
        "_thoughts",
        "_version",
        "_yes_no",
    ),
)
# Numbers in, numbers out: these know no Document and no component.
PURE = (
    "_text.py",
    "_normalization.py",
    "_formulas.py",
    "_sentences.py",
    "answers/_numbers.py",
    "diagnosis/_rules.py",
    "retrieval/measures.py",
    "retrieval/_ranking.py",
    "runs/_agreement.py",
    "runs/_differences.py",
    "runs/_gate_power.py",
    "runs/_means.py",
    "runs/_power.py",
    "runs/_raters.py",
    "runs/_significance.py",
    "runs/_spread.py",
    "runs/_thresholds.py",
    "runs/statistics.py",
)
# Written into users' YAML files. Change a line here only together with a way to load the old path.
MODULE_PATHS = {
    "AnswerBleuEvaluator": "haystack_eval_ext.answers.answer_bleu",
    "AnswerChrfEvaluator": "haystack_eval_ext.answers.answer_chrf",
    "AnswerContainsEvaluator": "haystack_eval_ext.answers.answer_contains",
    "AnswerCorrectnessEvaluator": "haystack_eval_ext.judged.answer_correctness",
    "AnswerEditSimilarityEvaluator": "haystack_eval_ext.answers.answer_edit_similarity",
    "AnswerEmbeddingSimilarityEvaluator": "haystack_eval_ext.answers.answer_embedding_similarity",
    "AnswerExactMatchEvaluator": "haystack_eval_ext.answers.answer_exact_match",
    "AnswerMatchEvaluator": "haystack_eval_ext.answers.answer_match",
    "AnswerNumberMatchEvaluator": "haystack_eval_ext.answers.answer_number_match",
    "AnswerRelevancyEvaluator": "haystack_eval_ext.judged.answer_relevancy",
    "AnswerRougeEvaluator": "haystack_eval_ext.answers.answer_rouge",
    "AnswerTokenF1Evaluator": "haystack_eval_ext.answers.answer_token_f1",
    "CitationEvaluator": "haystack_eval_ext.judged.citation",
    "ContextPrecisionEvaluator": "haystack_eval_ext.judged.context_precision",
    "ContextRecallEvaluator": "haystack_eval_ext.judged.context_recall",
    "ContextRelevanceEvaluator": "haystack_eval_ext.judged.context_relevance",
    "DocumentEvidenceEvaluator": "haystack_eval_ext.retrieval.document_evidence",
    "DocumentHitRateEvaluator": "haystack_eval_ext.retrieval.document_hit_rate",
    "DocumentMAPEvaluator": "haystack_eval_ext.retrieval.document_map",
    "DocumentMRREvaluator": "haystack_eval_ext.retrieval.document_mrr",
    "DocumentNDCGEvaluator": "haystack_eval_ext.retrieval.document_ndcg",
    "DocumentPrecisionEvaluator": "haystack_eval_ext.retrieval.document_precision",
    "DocumentRankingEvaluator": "haystack_eval_ext.retrieval.document_ranking",
    "DocumentRecallEvaluator": "haystack_eval_ext.retrieval.document_recall",
    "FaithfulnessEvaluator": "haystack_eval_ext.judged.faithfulness",
    "LLMEvaluator": "haystack_eval_ext.judged.llm",
    "NLIFaithfulnessEvaluator": "haystack_eval_ext.judged.nli_faithfulness",
    "PairwiseEvaluator": "haystack_eval_ext.judged.pairwise",
    "RAGFailureClassifier": "haystack_eval_ext.diagnosis.rag_failure",
    "RefusalEvaluator": "haystack_eval_ext.judged.refusal",
    "RubricEvaluator": "haystack_eval_ext.judged.rubric",
    "SASEvaluator": "haystack_eval_ext.answers.sas",
}


def imported(source: str, *, run_time_only: bool = False) -> set[str]:
    """Every module that a source imports, also inside functions; with or without those for the type checker alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if run_time_only and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return names


def part_of(module: str) -> str:
    """The part of the package that a module belongs to: ``runs`` for ``haystack_eval_ext.runs.trec``."""
    name = module.split(".")[1]
    if name not in haystack_eval_ext.__all__:
        return name
    # What __init__.py exports belongs where it is defined.
    return part_of(getattr(haystack_eval_ext, name).__module__)


def level(part: str) -> int:
    """The layer of a part, from 0 at the top; an unknown part is in none."""
    found = [number for number, layer in enumerate(LAYERS) if part in layer]
    assert found, f"{part} is in no layer: give it a place in LAYERS"
    return found[0]


def faults(part: str, source: str) -> list[str]:
    """The parts that a file of a part must not import, but does."""
    mine = level(part)
    others = {part_of(name) for name in imported(source) if name.startswith("haystack_eval_ext.")} - {part}
    return [other for other in sorted(others) if level(other) < mine or (level(other) == mine and part in FAMILIES)]


FILES = {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.mark.parametrize("file", FILES)
def test_imports_point_one_way(file: str) -> None:
    part = file.removesuffix(".py").split("/")[0]
    assert part == "__init__" or not faults(part, FILES[file])


@pytest.mark.parametrize("file", [file for file in PURE if file in FILES])
def test_pure_functions_import_no_haystack(file: str) -> None:
    outside = {name for name in imported(FILES[file], run_time_only=True) if name.split(".")[0] == "haystack"}
    assert not outside


@pytest.mark.parametrize("file", FILES)
def test_heavy_packages_are_imported_where_they_are_used(file: str) -> None:
    top = "\n".join(
        ast.unparse(node) for node in ast.parse(FILES[file]).body if isinstance(node, ast.Import | ast.ImportFrom)
    )
    heavy = {
        "torch",
        "pandas",
        "tqdm",
        "scipy",
        "openai",
        "rapidfuzz",
        "rouge_score",
        "sacrebleu",
        "sentence_transformers",
        "sklearn",
    }
    assert not heavy & {name.split(".")[0] for name in imported(top)}


# Several threads that parse source at once fail now and then on Python 3.11 (SystemError: recursion depth mismatch).
@pytest.mark.parametrize("file", FILES)
def test_nothing_is_parsed_as_python_source(file: str) -> None:
    assert not {name for name in imported(FILES[file]) if name.split(".")[0] == "ast"}
    assert "literal_eval" not in FILES[file]


@pytest.mark.parametrize(
    ("part", "source", "expected"),
    [
        ("retrieval", "from haystack_eval_ext.runs import trec", ["runs"]),
        ("retrieval", "def f():\n    import haystack_eval_ext.answers.x", ["answers"]),
        ("_rows", "from haystack_eval_ext.retrieval._base import X", ["retrieval"]),
        ("diagnosis", "from haystack_eval_ext import cli", ["cli"]),
        ("runs", "from haystack_eval_ext._cli.render import X", ["_cli"]),
        ("_version", "from haystack_eval_ext.runs import trec", ["runs"]),
        ("_rows", "from haystack_eval_ext import DocumentMRREvaluator", ["retrieval"]),
        ("answers", "from haystack_eval_ext import DocumentMRREvaluator, UndefinedScore", ["retrieval"]),
        ("cli", "from haystack_eval_ext._cli.render import X\nfrom haystack_eval_ext import _version", []),
        ("runs", "from haystack_eval_ext.retrieval._base import X\nfrom haystack_eval_ext._rows import y", []),
    ],
)
def test_the_check_of_directions_finds_faults(part: str, source: str, expected: list[str]) -> None:
    assert faults(part, source) == expected


@pytest.mark.parametrize(("part", "source"), [("newcomer", ""), ("runs", "import haystack_eval_ext.newcomer")])
def test_the_check_of_directions_refuses_an_unknown_part(part: str, source: str) -> None:
    with pytest.raises(AssertionError, match="newcomer is in no layer"):
        faults(part, source)


def test_module_paths_of_components_are_frozen() -> None:
    components = {
        name: exported.__module__
        for name in haystack_eval_ext.__all__
        if hasattr(exported := getattr(haystack_eval_ext, name), "run")
    }
    assert components == MODULE_PATHS


def test_every_component_is_exported() -> None:
    written = {
        node.name
        for source in FILES.values()
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and "component" in map(ast.unparse, node.decorator_list)
    }
    assert written == set(MODULE_PATHS)
