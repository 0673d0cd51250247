# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Every Python example in public docstrings and in the pages runs, and prints what the comments after it say."""

import ast
from pathlib import Path

import pytest

import haystack_eval_ext
import models
import nli_models
from examples_in_text import check_example, expected_output, python_blocks

PACKAGE = Path(haystack_eval_ext.__file__).parent
ROOT = PACKAGE.parent


def docstrings(source: str) -> list[tuple[str, str]]:
    """Names and docstrings of a module, its classes and functions."""
    tree = ast.parse(source)
    owners = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(getattr(node, "name", "module"), text) for node in owners if (text := ast.get_docstring(node))]


IN_CODE = {
    f"{path.relative_to(PACKAGE)}:{name}:{number}": block
    for path in sorted(PACKAGE.rglob("*.py"))
    for name, text in docstrings(path.read_text("utf-8"))
    for number, block in enumerate(python_blocks(text))
}
IN_PAGES = {
    f"{path.relative_to(ROOT)}:{number}": block
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    for number, block in enumerate(python_blocks(path.read_text("utf-8")))
}


def test_examples_are_found() -> None:
    assert len(IN_CODE) >= 7


@pytest.mark.parametrize("block", IN_CODE.values(), ids=IN_CODE)
def test_example_in_code(block: str) -> None:
    if "SASEvaluator" in block and not models.HAVE_MINILM:
        pytest.skip(models.NO_MINILM)
    if "NLIFaithfulnessEvaluator" in block and not nli_models.HAVE_NLI:
        pytest.skip(nli_models.NO_NLI)
    check_example(block)


@pytest.mark.parametrize("block", IN_PAGES.values(), ids=IN_PAGES)
def test_example_in_page(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example may write files
    check_example(block)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(1)\n# 1\n", ["1"]),
        ("# a remark\nprint(1)\n# 1\n# 2\n\nx = 1\n# a remark\nprint(x)\n# 1\n", ["1", "2", "1"]),
        ("print(\n    1,\n)\n# 1\n", ["1"]),
        ("for x in 'ab':\n    print(x)\n# a\n# b\n", ["a", "b"]),
        ("x = 1\n# a remark\n", []),
    ],
)
def test_what_an_example_says_it_prints(code: str, expected: list[str]) -> None:
    assert expected_output(code) == expected


@pytest.mark.parametrize("code", ["print(1)\n# 2\n", "print(1)\n", "print(1)\n# 1\n# 2\n"])
def test_a_wrong_example_is_rejected(code: str) -> None:
    with pytest.raises(AssertionError, match="the example prints"):
        check_example(code)


def test_blocks_are_found_at_any_indent() -> None:
    assert python_blocks(
        "Text\n    ```python\n    x = 1\n    if x:\n        y = 2\n    ```\n```python\nz\n```\n```bash\nls\n```"
    ) == [
        "x = 1\nif x:\n    y = 2\n",
        "z\n",
    ]
