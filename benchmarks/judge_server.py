# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
The tests' server, which also replies to other tools' prompts about the rows of ``judge_rows.py``.

Other tools ask a model for statements, then for verdicts, in forms of their own, which they describe by a JSON schema.
The replies hold the statements of the row and the verdicts that our own prompts get: all who read them rightly
come to the same scores. Beside that:

* A fault depends on what was first asked: tools that tell the model what was wrong with its reply ask the same again.
* Wrong verdict counts come in lists, too: an entry is missing, one too many, or comes twice.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge_rows import statements_in

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import openai_server

_reply_of_tests, _wrong_counts_of_tests = openai_server.reply_to, openai_server._wrong_counts


def text_of(message: dict[str, Any]) -> str:
    """A message's text, which may come in parts."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def asked(body: dict[str, Any]) -> str:
    """The first message of the user."""
    return next(text_of(message) for message in body["messages"] if message["role"] == "user")


def schemas(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The JSON schemas that a request asks for: as its response format or in a message."""
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is not None:
        yield schema
    for message in body["messages"]:
        _, brace, rest = text_of(message).partition("{")
        while brace:
            try:
                value, _ = json.JSONDecoder().raw_decode(brace + rest)
            except ValueError:
                value = None
            if isinstance(value, dict) and isinstance(value.get("properties"), dict):
                yield value
            _, brace, rest = rest.partition("{")


def filled(schema: dict[str, Any], found: dict[str, list[str]]) -> Any:
    """A reply in the form of the schema, whose lists have an entry for each statement."""
    definitions = schema.get("$defs", {})

    def entry(part: dict[str, Any], statement: str, contexts: list[str]) -> Any:
        if "$ref" in part:
            return entry(definitions[part["$ref"].rpartition("/")[2]], statement, contexts)
        if part.get("type") != "object":
            return statement
        true = openai_server.verdict(statement, contexts)
        values: dict[str, Any] = {"statement": statement, "reason": f"Of {statement}"}
        values["verdict"] = ("no", "yes")[true] if "enum" in part["properties"].get("verdict", {}) else true
        return {name: values[name] for name in part["properties"]}

    return {
        name: [entry(part["items"], *each) for each in found.items()]
        if part.get("type") == "array"
        else openai_server.filled(part, definitions)
        for name, part in schema["properties"].items()
    }


def reply_to(body: dict[str, Any]) -> Any:
    """The right reply, as JSON: to other tools' prompts by their schema, to ours and Haystack's as in the tests."""
    value = _reply_of_tests(body)
    if isinstance(value, dict) and isinstance(value.get("verdicts"), dict):
        return value
    schema = next(schemas(body), None)
    return value if schema is None else filled(schema, statements_in(asked(body)))


def wrong_counts(value: Any, rng: random.Random) -> str:
    """As in the tests, also where verdicts stand in a list."""
    for name, entries in value.items() if isinstance(value, dict) else ():
        if isinstance(entries, list) and entries and isinstance(entries[0], dict) and "verdict" in entries[0]:
            turned = {0: 1, 1: 0, "no": "yes", "yes": "no"}[entries[0]["verdict"]]
            changed = {
                "missing": rng.sample(entries, len(entries) // 2),
                "extra": [*entries, {**entries[0], "verdict": turned}],
                "twice": [*entries, {**entries[-1], "verdict": turned}],
            }
            return json.dumps({name: changed[rng.choice(("missing", "extra", "twice"))]})
    return _wrong_counts_of_tests(value, rng)


if __name__ == "__main__":
    openai_server.user_message = asked
    openai_server.reply_to = reply_to
    openai_server._wrong_counts = wrong_counts
    openai_server.main()
