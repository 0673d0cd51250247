# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Pipeline YAML to a Pipeline, with one-line faults."""

import re

from haystack import Pipeline
from haystack.marshal import YamlMarshaller

import haystack_eval_ext
from haystack_eval_ext._foreign import learn_secrets
from haystack_eval_ext.errors import PipelineFileError
from haystack_eval_ext.runs._faults import describe_fault, is_bug
from haystack_eval_ext.runs._lines import FilePath, Problems, raise_if_any, read_text
from haystack_eval_ext.runs._removed import removed_class

ALLOWLIST_VARIABLE = "HAYSTACK_DESERIALIZATION_ALLOWLIST"

_REFUSED_MODULE = re.compile(r"from module '([^']+)'")
_NOT_IMPORTED = re.compile(r"Component '([^']+)' \(name: '[^']*'\) not imported")
_NOT_MADE = re.compile(r"Couldn't deserialize component '([^']+)' of class '([^']+)'")


def read_pipeline_text(path: FilePath) -> str:
    """
    Read a pipeline's YAML.

    :param path: The file, UTF-8.
    :returns: Its text.
    :raises PipelineFileError: If it cannot be read, is empty or is not UTF-8.
    """
    problems = Problems(path)
    text = read_text(path, problems)
    raise_if_any(PipelineFileError, [problems])
    return text


def load_pipeline(text: str, name: str) -> Pipeline:
    """
    Load a pipeline from YAML, with the classes that Haystack's allowlist names and no others.

    :param text: The YAML.
    :param name: Name of the pipeline or its file, for messages.
    :returns: The pipeline.
    :raises PipelineFileError: If it cannot be loaded; the message says why and what to do.
    """
    try:
        return Pipeline.loads(text)
    except Exception as error:  # Haystack lets out AttributeError, KeyError and others for odd files
        if is_bug(error):
            raise
        raise PipelineFileError([f"{name}: {_reason(error, text)}"]) from error


def _reason(error: Exception, text: str) -> str:
    message = str(error)
    refused = _REFUSED_MODULE.search(message)
    if "allowlist" in message and refused:
        module = refused[1]
        return (
            f"the pipeline uses a class of the module {module!r}, which Haystack does not trust. If you do, set the "
            f"environment variable {ALLOWLIST_VARIABLE}={module} (several modules are separated by commas)."
        )
    unknown = _NOT_IMPORTED.search(message)
    if unknown:
        return _unknown_class(unknown[1])
    not_made = _NOT_MADE.match(message)
    if not_made:
        gone = isinstance(error.__cause__, ImportError) and removed_class(str(error.__cause__))
        if gone:
            return f"the component {not_made[1]!r} ({not_made[2]}) cannot be made: {gone}"
        # What follows there are all parameters, in which the cause is hard to find.
        learn_secrets(YamlMarshaller().unmarshal(text))
        fault = describe_fault(error, "set-up")
        return f"the component {not_made[1]!r} ({not_made[2]}) cannot be made: {fault}"
    if isinstance(error, AttributeError | KeyError | TypeError):
        return (
            "not a pipeline. Expected YAML with 'components' (a mapping of names to 'type' and 'init_parameters') and "
            "'connections' (a list of 'sender' and 'receiver'), as Pipeline.dumps() writes it."
        )
    if "unmarshalling" in message:
        place = getattr(error.__cause__, "problem_mark", None)
        where = "" if place is None else f" (near line {place.line + 1})"
        return f"not valid YAML{where}. Expected what Pipeline.dumps() writes."
    return f"{describe_fault(error, 'set-up')} Correct the pipeline's YAML."


def _unknown_class(given: str) -> str:
    gone = removed_class(given)
    if gone:
        return gone
    name = given.rpartition(".")[2]
    ours = getattr(haystack_eval_ext, name, None) if name in haystack_eval_ext.__all__ else None
    hint = (
        "Check the spelling, and that its package is installed."
        if ours is None
        else f"Write its full path: {ours.__module__}.{name}."
    )
    return f"there is no component {given!r}. {hint}"
