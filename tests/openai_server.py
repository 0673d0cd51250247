# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""
An HTTP server on 127.0.0.1 that speaks OpenAI's protocol for chats and embeddings, and misbehaves on command.

A verdict is a pure function of statement and contexts, a vector one of its text; a fault is one of (seed, user message
or texts, how often they were seen).
So asking again changes no verdict, and neither the order of arrival nor the number of clients changes a fault.
As a program it serves until it is stopped: ``python openai_server.py '{"latency": 0.1}'`` prints its address.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import threading
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from openai_faults import ERRORS, PROXY, written


@dataclass
class Settings:
    """How the server behaves."""

    seed: int = 1
    #: Seconds until an answer, and for a share of the requests another number.
    latency: float = 0.0
    tail: float = 0.0
    tail_latency: float = 1.0
    #: Share of the requests by fault, and how many of them one user message meets at most.
    faults: dict[str, float] = field(default_factory=dict)
    most_faults: int = 4
    retry_after: str = "0.01"
    #: Share of the user messages that always meet a fault, and which: one of these kinds, between blanks.
    lost: float = 0.0
    lost_to: str = "500"
    #: Beyond these a request meets "429": requests in flight; requests a second, after a burst.
    max_in_flight: int = 0
    rate: float = 0.0
    burst: int = 1
    #: Response formats that are refused with 400.
    refused: list[str] = field(default_factory=list)
    #: The only key that is accepted.
    key: str | None = None
    #: Whether replies tell their tokens.
    usage: bool = True


def verdict(statement: str, contexts: object) -> int:
    """A verdict that nobody can guess and everybody can compute: 1 for about three of four statements."""
    return int(zlib.crc32(json.dumps([statement, contexts], sort_keys=True).encode()) % 4 != 0)


def vector(text: str) -> list[float]:
    """A direction that nobody can guess and everybody can compute."""
    rng = random.Random(text)
    return [rng.uniform(0.0, 1.0) for _ in range(8)]


def embedding_tokens(texts: list[str]) -> int:
    """What embedding some texts takes: a token for each word."""
    return sum(len(text.split()) for text in texts)


def embedded_texts(body: dict[str, Any]) -> list[str]:
    """The texts of a request for embeddings."""
    return [body["input"]] if isinstance(body["input"], str) else list(body["input"])


def reply_to(body: dict[str, Any]) -> Any:
    """The right reply, as JSON."""
    text = user_message(body)
    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    if isinstance(data, dict) and "statements" in data and "contexts" in data:
        contexts = list(data["contexts"].values())
        return {"verdicts": {name: verdict(entry, contexts) for name, entry in data["statements"].items()}}
    if '"statement_scores"' in text:
        return {"statements": ["A statement.", "Another one."], "statement_scores": [1, 0]}
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    return {"score": 1} if schema is None else filled(schema)


def filled(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> Any:
    """The simplest value of a JSON schema."""
    definitions = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        return filled(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    for name in ("anyOf", "allOf", "oneOf"):
        if name in schema:
            return filled(schema[name][0], definitions)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: filled(part, definitions) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {"type": "string"}), definitions)]
    return {"integer": 1, "number": 1.0, "boolean": True, "null": None}.get(kind, "text")


_JSON = "application/json"


class Answer(NamedTuple):
    """An HTTP answer, and whether it says when to come back."""

    status: int
    value: Any
    slow_down: bool = False
    kind: str = _JSON


def user_message(body: dict[str, Any]) -> str:
    """The last message's text."""
    return str(body["messages"][-1]["content"])


class _Server:
    """The server's state and work, all of it on one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.gate = asyncio.Event()
        self.gate.set()
        self.reset()

    def reset(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.embedded: list[dict[str, Any]] = []
        #: In order: ("in" or "out", user message or texts).
        self.events: list[tuple[str, str]] = []
        self.met: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.faults_of: Counter[str] = Counter()
        self.in_flight = 0
        self.peak = 0
        self.tokens = float(self.settings.burst)
        self.refilled: float | None = None

    def stats(self) -> dict[str, Any]:
        return {"calls": len(self.bodies), "peak": self.peak, "in_flight": self.in_flight, "met": dict(self.met)}

    def _fault(self, text: str, number: int) -> str | None:
        settings = self.settings
        if random.Random(f"{settings.seed}|lost|{text}").random() < settings.lost:
            return random.Random(f"{settings.seed}|which|{text}").choice(settings.lost_to.split())
        if self.faults_of[text] >= settings.most_faults:
            return None
        draw = random.Random(f"{settings.seed}|{number}|{text}").random()
        for name, share in settings.faults.items():
            draw -= share
            if draw < 0:
                return name
        return None

    def _refused(self, body: dict[str, Any], key: str) -> str | None:
        settings = self.settings
        if settings.key is not None and key != settings.key:
            return "401"
        if (body.get("response_format") or {}).get("type") in settings.refused:
            return "400"
        if settings.max_in_flight and self.in_flight > settings.max_in_flight:
            return "429"
        if settings.rate:
            now = asyncio.get_running_loop().time()
            since = 0.0 if self.refilled is None else now - self.refilled
            self.tokens = min(settings.burst, self.tokens + since * settings.rate)
            self.refilled = now
            if self.tokens < 1:
                return "429"
            self.tokens -= 1
        return None

    async def complete(self, raw: bytes, key: str, reader: asyncio.StreamReader, *, embeds: bool) -> Answer | None:
        body = json.loads(raw)
        text = json.dumps(embedded_texts(body)) if embeds else user_message(body)
        (self.embedded if embeds else self.bodies).append(body)
        self.events.append(("in", text))
        self.seen[text] += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self._complete(body, text, key, reader)
        finally:
            self.in_flight -= 1
            self.events.append(("out", text))

    async def _complete(self, body: dict[str, Any], text: str, key: str, reader: asyncio.StreamReader) -> Answer | None:
        settings, number = self.settings, self.seen[text]
        await self.gate.wait()
        fault = self._refused(body, key)
        if fault is None:
            fault = self._fault(text, number)
            if fault == "400-schema" and body.get("response_format") is None:
                fault = None
            self.faults_of[text] += fault is not None
        if fault is not None:
            self.met[fault] += 1
        if fault == "hang":
            await reader.read(1)  # until the client goes away
            return None
        if fault not in ("429", "429-bare", "quota"):
            slow = random.Random(f"{settings.seed}|slow|{number}|{text}").random() < settings.tail
            await asyncio.sleep(settings.tail_latency if slow else settings.latency)
        if fault == "drop":
            return None
        if fault in ERRORS:
            refusal = ERRORS[fault]
            slow_down = refusal.status in (429, 503) and fault != "429-bare"
            value = refusal.answer(f"Injected. You sent: {text[:1000]}")
            return Answer(refusal.status, value, slow_down, "text/html" if isinstance(value, str) else _JSON)
        if fault in PROXY:
            return Answer(
                204 if fault == "no-content" else 200, PROXY[fault], kind="text/html" if fault == "page" else _JSON
            )
        if "input" in body:
            return Answer(200, self._embeddings(body, fault))
        return Answer(200, self._completion(body, fault, random.Random(f"{settings.seed}|how|{number}|{text}")))

    def _embeddings(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        texts = embedded_texts(body)
        # Whatever is wrong with a reply, a vector is missing.
        vectors = [vector(text) for text in texts][: len(texts) - (fault is not None)]
        tokens = embedding_tokens(texts)
        return {
            "object": "list",
            "model": "served-embedder",
            "data": [{"object": "embedding", "index": place, "embedding": one} for place, one in enumerate(vectors)],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def _completion(self, body: dict[str, Any], fault: str | None, rng: random.Random) -> dict[str, Any]:
        content, reason, thoughts = written(fault, reply_to(body), rng)
        message = {"role": "assistant", "content": content}
        if thoughts is not None:
            message["reasoning_content"] = thoughts
        completion = {
            "id": f"chatcmpl-{len(self.bodies)}",
            "object": "chat.completion",
            "created": 1,
            "model": "served-model",
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": reason,
                    "logprobs": None,
                }
            ],
        }
        if self.settings.usage:
            tokens = 10 if thoughts is None else 500
            completion["usage"] = {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens}
        return completion

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
                }
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                path = lines[0].split(" ")[1]
                answer = await self._route(path, raw, headers.get("authorization", "").removeprefix("Bearer "), reader)
                if answer is None:
                    return
                status, value, slow_down, kind = answer
                written = value if isinstance(value, str | bytes) else json.dumps(value)
                content = written.encode() if isinstance(written, str) else written
                head = f"HTTP/1.1 {status} Status\r\ncontent-length: {len(content)}\r\ncontent-type: {kind}\r\n"
                if slow_down:
                    head += f"retry-after: {self.settings.retry_after}\r\n"
                writer.write(head.encode() + b"\r\n" + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _route(self, path: str, raw: bytes, key: str, reader: asyncio.StreamReader) -> Answer | None:
        if path.endswith(("/chat/completions", "/embeddings")):
            return await self.complete(raw, key, reader, embeds=path.endswith("/embeddings"))
        if path.endswith("/reset"):
            self.settings = Settings(**{**asdict(self.settings), **json.loads(raw or b"{}")})
            self.reset()
        return Answer(200, self.stats())

    async def start(self) -> tuple[asyncio.Server, str]:
        server = await asyncio.start_server(self.handle, "127.0.0.1", 0, limit=1 << 24, backlog=1024)
        return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


class OpenAIServer:
    """The server in a thread of this process, inside ``with``."""

    def __init__(self, **settings: Any) -> None:
        self._settings = Settings(**settings)

    def __enter__(self) -> OpenAIServer:
        ready = threading.Event()
        self._loop = asyncio.new_event_loop()

        async def serve() -> None:
            self._server = _Server(self._settings)
            listening, self.url = await self._server.start()
            ready.set()
            try:
                await asyncio.Event().wait()
            finally:
                listening.close()

        def work() -> None:
            self._main = self._loop.create_task(serve())
            try:
                self._loop.run_until_complete(self._main)
            except asyncio.CancelledError:
                pass
            finally:
                others = asyncio.all_tasks(self._loop)
                for task in others:
                    task.cancel()
                if others:
                    self._loop.run_until_complete(asyncio.wait(others))
                self._loop.close()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join(10)

    def change(self, **settings: Any) -> None:
        """Behave differently from now on, and forget what was seen."""

        async def work() -> None:
            self._server.settings = Settings(**{**asdict(self._server.settings), **settings})
            self._server.reset()

        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    def hold(self) -> None:
        """Answer nobody until :meth:`let_go`."""
        self._loop.call_soon_threadsafe(self._server.gate.clear)

    def let_go(self) -> None:
        """Answer all who wait, and whoever comes."""
        self._loop.call_soon_threadsafe(self._server.gate.set)

    @property
    def calls(self) -> int:
        """Requests of judges since the start or the last change."""
        return len(self._server.bodies)

    @property
    def peak(self) -> int:
        """The most requests that were in flight at once."""
        return self._server.peak

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests of judges in order of arrival."""
        return list(self._server.bodies)

    @property
    def embedded(self) -> list[dict[str, Any]]:
        """The requests of embedders in order of arrival."""
        return list(self._server.embedded)

    @property
    def events(self) -> list[tuple[str, str]]:
        """("in" or "out", user message) in order."""
        return list(self._server.events)

    @property
    def met(self) -> Counter[str]:
        """How often each fault happened."""
        return Counter(self._server.met)


def main() -> None:
    """Serve until stopped."""

    async def serve() -> None:
        listening, url = await _Server(Settings(**json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}"))).start()
        sys.stdout.write(url + "\n")
        sys.stdout.flush()
        await listening.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
