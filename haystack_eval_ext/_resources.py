# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Finds the shipped pipelines and examples: inside the installed package, or beside it in a checkout."""

from difflib import get_close_matches
from pathlib import Path

from haystack_eval_ext.errors import InvalidValueError

_PACKAGE = Path(__file__).resolve().parent
_SUFFIX = ".yaml"


def _folder(name: str) -> Path:
    """
    Finds a folder that the wheel holds inside the package, and a checkout (also one installed with -e) beside it.

    :param name: The folder's name.
    :returns: Its absolute path.
    :raises FileNotFoundError: If neither place has it.
    """
    inside = _PACKAGE / name
    if inside.is_dir():
        return inside
    beside = _PACKAGE.parent / name
    # Without the second condition, any `examples` folder in site-packages could pass for ours.
    if beside.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        return beside
    msg = (
        f"the folder '{name}' must be inside the package {_PACKAGE.name} or beside it in a checkout, but is in neither "
        f"place: the installation is incomplete, install haystack-eval-ext again."
    )
    raise FileNotFoundError(msg)


def pipeline_names() -> list[str]:
    """
    Lists the ready-made evaluation pipelines that ship with this package.

    ```python
    from haystack_eval_ext._resources import pipeline_names

    print("retrieval" in pipeline_names())
    # True
    ```

    :returns: Their names without the file's suffix, sorted.
    :raises FileNotFoundError: If the installation lacks the folder of pipelines.
    """
    return sorted(path.stem for path in _folder("pipelines").glob(f"*{_SUFFIX}"))


def pipeline_path(name: str) -> Path:
    """
    Finds the YAML file of a shipped pipeline.

    ```python
    from haystack_eval_ext._resources import pipeline_path

    print(pipeline_path("retrieval").name)
    # retrieval.yaml
    ```

    :param name: The pipeline's name, with or without `.yaml`.
    :returns: The absolute path of its file.
    :raises ValueError: If no shipped pipeline has this name; the message gives the nearest names.
    :raises FileNotFoundError: If the installation lacks the folder of pipelines.
    """
    names = pipeline_names()
    stem = name.removesuffix(_SUFFIX)
    if stem not in names:
        listed = ", ".join(f"'{known}'" for known in get_close_matches(stem, names) or names)
        msg = f"pipeline must be the name of a shipped pipeline (nearest: {listed}), but is {name!r}."
        raise InvalidValueError(msg)
    return _folder("pipelines") / f"{stem}{_SUFFIX}"


def examples_path() -> Path:
    """
    Finds the shipped examples: a small corpus, its questions and labels, and scripts.

    ```python
    from haystack_eval_ext._resources import examples_path

    print(examples_path().name)
    # examples
    ```

    :returns: The absolute path of their folder.
    :raises FileNotFoundError: If the installation lacks it.
    """
    return _folder("examples")
