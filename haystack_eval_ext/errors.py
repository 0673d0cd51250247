# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
All errors that this package raises on purpose, on one page.

```
HaystackEvalError
|  what a user can repair
|- InvalidValueError (ValueError)       a parameter or an input has a value that cannot be used
|  |- UndefinedScore                    a row has no score by definition, and on_undefined is "raise"
|  |- EvaluationError                   a pipeline cannot be run over a data set
|  |  |- UnfedSocketError               nothing in the data feeds an input
|  |  |- MappingError                   a map of columns to inputs does not fit
|  |  |- OneByOneError                  the pipeline takes one question at a time
|  |  |- TargetError                    a RAG pipeline cannot be made, asked, or understood
|  |  '- HarnessError                   the questions cannot be asked, or not gone on with
|  |- ComparisonError                   two runs cannot be compared
|  '- FileProblemsError                 a file is not what it promises; `problems` has one line for each fault
|     |- DatasetError                   evaluation rows
|     |- TrecFileError                  TREC's files, BEIR folders
|     |- PipelineFileError              a pipeline's YAML
|     '- RunFileError                   a kept run, its folder, a baseline
|- InvalidTypeError (TypeError)         a parameter or an input has another type than it must
|- MissingPackageError (ImportError)    a package that is not installed, with the command that installs it
|  failures of the outside
'- FailedRowsError (RuntimeError)       rows could not be scored: a model or service failed; `result` has the others
```

A full disk or a missing permission is an `OSError` of Python's. Anything else is a fault of the program: please report
it. Messages hold no text under evaluation, and say what to do next.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ComparisonError",
    "DatasetError",
    "EvaluationError",
    "FailedRowsError",
    "FileProblemsError",
    "HarnessError",
    "HaystackEvalError",
    "InvalidTypeError",
    "InvalidValueError",
    "MappingError",
    "MissingPackageError",
    "OneByOneError",
    "PipelineFileError",
    "RunFileError",
    "TargetError",
    "TrecFileError",
    "UndefinedScore",
    "UnfedSocketError",
    "parameter",
]

SHOWN_PROBLEMS = 20
# Control characters, which no message has otherwise.
_BEGIN, _BETWEEN, _END = "\x02", "\x1f", "\x03"
_PARAMETER = re.compile(f"{_BEGIN}([^{_END}]*){_END}")


def parameter(name: str, *values: object, python: str | None = None) -> str:
    """
    Name a parameter in the message of an error, so that each front end can write its own word for it.

    ```python
    from haystack_eval_ext.errors import InvalidValueError, parameter

    error = InvalidValueError(f"{parameter('max_failures')} must be at least 0, but is -1.")
    print(error)
    print(error.told(lambda name, *values: f"--{name.replace('_', '-')}"))
    # max_failures must be at least 0, but is -1.
    # --max-failures must be at least 0, but is -1.
    ```

    :param name: Its name in Python.
    :param values: What it should be set to, where the message says so.
    :param python: How that is written in Python; None: the name alone.
    :returns: What stands for it in the message.
    """
    return f"{_BEGIN}{_BETWEEN.join([name, python or name, *map(str, values)])}{_END}"


class HaystackEvalError(Exception):
    """
    Everything that this package raises on purpose.

    :param message: What is wrong and what to do; it may name parameters by :func:`parameter`.
    """

    def __init__(self, message: str = "", *more: Any) -> None:
        self._message = message
        super().__init__(self.told(), *more)

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that the message speaks of."""
        return [found.split(_BETWEEN)[0] for found in _PARAMETER.findall(self._message)]

    def told(self, word: Callable[..., str] | None = None) -> str:
        """
        Give the message in the words of a front end.

        :param word: From a parameter's name, and the values that it should be set to, to how that is written there;
            None: as in Python.
        :returns: The message.
        """

        return _told(self._message, word)

    def __str__(self) -> str:
        """
        Give the message.

        :returns: It in the words of Python.
        """
        return self.told()

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Keep the names of parameters where the error is pickled.

        :returns: What makes the error again.
        """
        return type(self), (self._message, *self.args[1:]), self.__dict__


class InvalidValueError(HaystackEvalError, ValueError):
    """A parameter or an input has a value that cannot be used."""


class InvalidTypeError(HaystackEvalError, TypeError):
    """A parameter or an input has another type than it must."""


class MissingPackageError(HaystackEvalError, ImportError):
    """A package that is not installed; the message has the command that installs it."""


class UndefinedScore(InvalidValueError):  # noqa: N818 - named after what happened to the score
    """The definition of a metric gives no number for a row, for example recall without relevant documents."""


class FailedRowsError(HaystackEvalError, RuntimeError):
    """
    Rows could not be scored, because a model or service failed. ``result`` holds the outputs with all other rows.

    Raised after every row was tried, if a component's ``raise_on_failure`` is set.

    :param message: What failed, and in which rows.
    :param result: What ``run`` would have returned.
    """

    def __init__(self, message: str, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Keep the result where the error is pickled.

        :returns: What makes the error again.
        """
        return type(self), (self._message, self.result)


class EvaluationError(InvalidValueError):
    """A pipeline cannot be run over a dataset, or does not give one score a row."""


class UnfedSocketError(EvaluationError):
    """No column of the data has the meaning of a socket that must be fed."""


class MappingError(EvaluationError):
    """The map of columns to sockets does not fit the pipeline or the data."""


class OneByOneError(EvaluationError):
    """The pipeline takes one question at a time, or searches a store that nothing was written into."""


class TargetError(EvaluationError):
    """A RAG pipeline that cannot be made, asked, or understood."""


class HarnessError(EvaluationError):
    """A run cannot start, go on, or be resumed."""


class ComparisonError(InvalidValueError):
    """Two runs that cannot be compared; the message names every reason."""


class FileProblemsError(InvalidValueError):
    """
    Everything that is wrong with a file, in one error.

    The text shows the first 20 problems.

    :param problems: One line for each problem, `FILE:LINE: what came, what was expected`.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n  ".join(_report(problems)))
        self._given = problems
        self.problems = [_told(problem) for problem in problems]

    def report(self, word: Callable[..., str] | None = None) -> list[str]:
        """
        Give the report line by line.

        :param word: As for :meth:`told`.
        :returns: The only problem, or a headline, the first 20 problems and the number of the others.
        """
        return _report([_told(problem, word) for problem in self._given])

    def __reduce__(self) -> tuple[Any, ...]:
        """
        Keep all problems where the error is pickled.

        :returns: What makes the error again.
        """
        return type(self), (self._given,)


class DatasetError(FileProblemsError):
    """A data file is not what its columns promise; `problems` lists every fault."""


class TrecFileError(FileProblemsError):
    """A TREC file or BEIR folder is broken; `problems` lists every fault."""


class PipelineFileError(FileProblemsError):
    """A file holds no pipeline that can be loaded."""


class RunFileError(FileProblemsError):
    """A folder or file holds no run that can be read, or must not be written over."""


def _told(message: str, word: Callable[..., str] | None = None) -> str:
    def written(found: re.Match[str]) -> str:
        name, python, *values = found[1].split(_BETWEEN)
        return python if word is None else word(name, *values)

    return _PARAMETER.sub(written, message)


def _report(problems: list[str]) -> list[str]:
    if len(problems) == 1:
        return problems
    more = len(problems) - SHOWN_PROBLEMS
    headline = f"{len(problems)} problems:"
    return [headline, *problems[:SHOWN_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
