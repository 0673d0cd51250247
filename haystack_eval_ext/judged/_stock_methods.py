# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""Public methods that Haystack's own LLM evaluators have beside ``run``, for code and subclasses that call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from haystack_eval_ext._batches import describe
from haystack_eval_ext.errors import InvalidValueError
from haystack_eval_ext.judged._items import read_examples
from haystack_eval_ext.judged._llm_inputs import check_outputs, read_inputs
from haystack_eval_ext.judged._prompts import Prompt, to_json


class StockMethods:
    """Methods of Haystack's ``LLMEvaluator``, which a subclass may call before it has called our ``__init__``."""

    inputs: list[tuple[str, Any]]
    outputs: list[str]
    instructions: str
    examples: Any
    _prompt: Prompt

    def prepare_template(self) -> str:
        """
        Show the whole prompt, with ``{{ name }}`` in the place of each input.

        It is text to look at: the inputs themselves are sent as JSON, and no template engine sees them.

        :returns: Task, form of the reply, examples and inputs.
        """
        if not hasattr(self, "_prompt"):
            pairs = read_examples(self.examples, lambda inputs, outputs: (inputs, outputs)) or []
            shown = [f"{to_json(inputs)}\n{to_json(outputs)}" for inputs, outputs in pairs]
            task = "\n\n".join([self.instructions.strip(), to_json(self.outputs), *shown])
        else:
            task = self._prompt.system()
        sockets = ", ".join(f"{to_json(name)}: {{{{ {name} }}}}" for name, _ in self.inputs)
        return f"{task}\n\n{{{sockets}}}"

    @staticmethod
    def validate_init_parameters(
        inputs: list[tuple[str, type[list[Any]]]], outputs: list[str], examples: list[dict[str, Any]]
    ) -> None:
        """
        Check what a judge is made of.

        :param inputs: Pairs of name and list type.
        :param outputs: Names of the outputs.
        :param examples: Dictionaries with "inputs" and "outputs".
        :raises ValueError: If one of them has another form; the message names the entry.
        """
        read_inputs(inputs)
        check_outputs(outputs)
        if read_examples(examples, lambda given, wanted: (given, wanted)) is None:
            msg = "examples must be a list of dictionaries with 'inputs' and 'outputs', [] for none, but is None."
            raise InvalidValueError(msg)

    @staticmethod
    def validate_input_parameters(expected: dict[str, Any], received: dict[str, Any]) -> None:
        """
        Check what a run is given.

        :param expected: The inputs by name.
        :param received: What came, by name.
        :raises ValueError: If an input is missing, is no list of rows, or has more or fewer rows than the others.
        """
        missing = [name for name in expected if name not in received]
        if missing:
            msg = f"The inputs {', '.join(missing)} are missing; received were: {', '.join(received) or 'none'}."
            raise InvalidValueError(msg)
        for name, rows in received.items():
            if isinstance(rows, str | bytes) or not (isinstance(rows, Sequence) or hasattr(rows, "__array__")):
                msg = f"{name} must be a list with one entry for each row, but is {describe(rows)}."
                raise InvalidValueError(msg)
        lengths = {name: len(rows) for name, rows in received.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} has {count}" for name, count in lengths.items())
            msg = f"All inputs must have equally many rows, but {shown}."
            raise InvalidValueError(msg)
