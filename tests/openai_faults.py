# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""How tests/openai_server.py misbehaves: what services, proxies and models do in place of the right reply."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple


class Refusal(NamedTuple):
    """An HTTP error with the identifiers that stand in its body; ``body`` stands in place of all that."""

    status: int
    code: Any
    param: str | None = None
    type: str | None = None
    inner: str | None = None
    body: Any = None

    def answer(self, message: str) -> Any:
        """The body; a message may quote what was sent, as real ones do."""
        if self.body is not None:
            return self.body
        error = {"message": message, "type": self.type or self.code, "code": self.code, "param": self.param}
        if self.inner is not None:
            error["innererror"] = {"code": self.inner, "content_filter_result": {}}
        return {"error": error}


_INVALID = "invalid_request_error"
#: HTTP errors. The other faults answer with 200 or not at all.
ERRORS = {
    "429": Refusal(429, "rate_limit_exceeded"),
    "429-bare": Refusal(429, "rate_limit_exceeded"),
    "quota": Refusal(429, "insufficient_quota"),
    "400": Refusal(400, _INVALID),
    "400-schema": Refusal(400, _INVALID),  # only where a response format is asked for
    "400-page": Refusal(400, None, body="<html>Bad Request</html>"),
    "param": Refusal(400, "unsupported_value", "temperature", _INVALID),
    "param-name": Refusal(400, "unsupported_parameter", "max_tokens", _INVALID),
    "param-extra": Refusal(
        422, None, body={"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "", "input": 1}]}
    ),
    "too-long": Refusal(400, "context_length_exceeded", "messages", _INVALID),
    "413": Refusal(413, None, type="request_too_large"),
    "filter": Refusal(400, "content_filter", "prompt", None, "ResponsibleAIPolicyViolation"),
    "401": Refusal(401, "invalid_api_key"),
    "402": Refusal(402, None, body={"error": {"message": "", "code": 402}}),
    "403": Refusal(403, "forbidden"),
    "404": Refusal(404, "model_not_found"),
    "404-page": Refusal(404, None, body="404 page not found"),
    "408": Refusal(408, None),
    "409": Refusal(409, "conflict"),
    "425": Refusal(425, None),
    "500": Refusal(500, "server_error"),
    "501": Refusal(501, "not_implemented"),
    "502": Refusal(502, None, body="<html>Bad Gateway</html>"),
    "503": Refusal(503, "overloaded"),
    "504": Refusal(504, None, body=""),
    "529": Refusal(529, None, type="overloaded_error"),
}
#: What proxies answer with 200, or 204 for nothing.
PROXY: dict[str, Any] = {
    "no-choices": {"error": {"message": "upstream failed", "code": 502}},
    "late-429": {"error": {"message": "slow down", "code": 429}},
    "late-404": {"error": {"message": "no such model", "code": 404}},
    "null-choices": {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": None},
    "null-message": {"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": None}]},
    "parts": {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": [{"type": "text", "text": "{}"}]}}],
    },
    "number": {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": 5}}],
    },
    "page": "<html>a proxy's page</html>",
    "no-json": "<html>a proxy's page</html>",  # that says it were JSON
    "no-utf8": b'{"id": "\xff\xfe", "choices": []}',
    "no-content": "",
    "void": "",
}
#: Replies whose form is not the one asked for, and says clearly what is meant all the same.
OTHER_FORMS = ("wrapped", "in-a-text", "capitals", "words", "japanese", "named", "fenced")
#: Replies that cannot be used, or only in part.
WRITTEN = (
    "counts", "malformed", "length", "filtered", "null-content", "empty", "thoughts", "thoughts-cut", "tags",
    "prose", "contradiction", "unknown-verdict",
)  # fmt: skip
#: The faults that end the connection, or never answer.
SILENT = ("hang", "drop")


class Written(NamedTuple):
    """What a model writes: its text, how it ended, and its thoughts."""

    content: str | None
    reason: str = "stop"
    thoughts: str | None = None


def written(fault: str | None, value: Any, rng: random.Random) -> Written:
    """A model's reply in place of the right one."""
    whole = json.dumps(value, ensure_ascii=False)
    half = whole[: len(whole) // 2]
    plain = {
        "malformed": Written("Sure! Here it is:\n" + half),
        "length": Written(half, "length"),
        "filtered": Written("", "content_filter"),
        "null-content": Written(None),
        "empty": Written(""),
        "thoughts": Written(None, thoughts="Let me see."),
        "thoughts-cut": Written("", "length"),
        "tags": Written("<think>Let me see.</think>"),
        "prose": Written(f"I cannot say. {rng.random()}"),
        "wrapped": Written(f'{{"answer": {whole}}}'),
        "in-a-text": Written(json.dumps(whole)),
        "capitals": Written(whole.replace('"verdicts"', '"Verdicts"')),
        "fenced": Written(f"```json\n{whole}\n```"),
    }
    if fault in plain:
        return plain[fault]
    verdicts: dict[str, Any] = value.get("verdicts", {}) if isinstance(value, dict) else {}
    if fault == "counts":
        return Written(_wrong_counts(verdicts, rng))
    if fault == "contradiction":
        other = {name: 1 - verdict for name, verdict in verdicts.items()}
        return Written(f"{whole} No: {json.dumps({'verdicts': other})}")
    words: dict[str | None, tuple[str, str]] = {
        "words": ("not supported", "supported"),
        "japanese": ("いいえ", "はい"),
        "named": ("Verdict: 0", "Verdict: 1"),
        "unknown-verdict": ("perhaps not", "perhaps"),
    }
    if fault in words:
        return Written(json.dumps({"verdicts": {name: words[fault][verdict] for name, verdict in verdicts.items()}}))
    return Written(whole)


def _wrong_counts(verdicts: dict[str, Any], rng: random.Random) -> str:
    """Some ids are missing, one is nobody's, or one comes twice with different verdicts."""
    if not verdicts:
        return json.dumps({"unexpected": True})
    names = list(verdicts)
    kind = rng.choice(("missing", "extra", "twice"))
    if kind == "missing":
        kept = rng.sample(names, len(names) // 2)
        return json.dumps({"verdicts": {name: verdicts[name] for name in kept} or {"s99": 1}})
    if kind == "extra":
        return json.dumps({"verdicts": {**verdicts, f"s{len(names) + 1}": 1}})
    entries = [{"id": name, "verdict": verdicts[name]} for name in names]
    twice = {"id": names[0], "verdict": 1 - verdicts[names[0]]}
    return json.dumps({"verdicts": [*entries, twice]})
