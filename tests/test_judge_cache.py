# SPDX-FileCopyrightText: 2026-present haystack-eval-ext contributors
# SPDX-License-Identifier: Apache-2.0
"""The cache of replies: nothing is paid for twice or answered by another request's reply; no secret is in a file."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from haystack import component
from haystack.components.generators.chat import FallbackChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

from haystack_eval_ext import FaithfulnessEvaluator, JudgePolicy
from haystack_eval_ext.judged._cache import CachedReply, ReplyCache
from haystack_eval_ext.judged._claims import new_owner
from haystack_eval_ext.judged._generator import Generator
from haystack_eval_ext.judged._limits import LIMITS
from judged_rows import QUICK, VALUE, evaluator, judge, rows
from openai_server import OpenAIServer, user_message

TESTS = Path(__file__).resolve().parent


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def policy(tmp_path: Path) -> JudgePolicy:
    return replace(QUICK, cache_path=str(tmp_path / "deep" / "cache.sqlite"))


def run_elsewhere(url: str, policy: JudgePolicy, number: int, **options: Any) -> subprocess.Popen[str]:
    """A process of its own that judges some rows and prints its scores."""
    program = f"""
        from haystack_eval_ext import JudgePolicy
        from judged_rows import evaluator, rows
        result = evaluator({url!r}, JudgePolicy(**{policy.to_dict()!r})).run(**rows({number}))
        print(result["individual_scores"], result["usage"]["calls"])
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), str(TESTS.parent)))}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)


def check_kill(server: OpenAIServer, policy: JudgePolicy, number: int) -> None:
    """A process that is killed halfway, and another one that goes on."""
    expected = evaluator(server.url).run(**rows(number))["individual_scores"]
    server.change(latency=0.03)
    child = run_elsewhere(server.url, policy, number)
    while server.calls < number // 2:
        assert child.poll() is None, "it ended before it was killed"
        _pause()
    child.send_signal(signal.SIGKILL)
    assert child.wait(300) == -signal.SIGKILL
    _until_nobody_is_in_flight(server)
    killed_at = server.calls
    assert number // 2 <= killed_at < number
    kept = replies_in(policy)
    assert kept >= killed_at - policy.max_concurrency, "each reply that came is on disk"
    result = evaluator(server.url, policy).run(**rows(number))
    assert result["individual_scores"] == expected
    assert result["usage"]["cache_hits"] == kept
    assert server.calls == killed_at + number - kept
    assert len({user_message(body) for body in server.bodies}) == number
    server.change()
    assert evaluator(server.url, policy).run(**rows(number))["individual_scores"] == expected
    assert server.calls == 0


def _pause() -> None:
    import time

    time.sleep(0.005)


def _until_nobody_is_in_flight(server: OpenAIServer) -> None:
    for _ in range(2000):
        kinds = Counter(kind for kind, _ in server.events)
        if kinds["in"] == kinds["out"]:
            return
        _pause()
    pytest.fail("the server is still at work")


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(server: OpenAIServer, policy: JudgePolicy) -> None:
    check_kill(server, replace(policy, max_concurrency=4), 40)


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_killed_run_of_many_rows_goes_on_where_it_was(
    server: OpenAIServer, policy: JudgePolicy, concurrency: int
) -> None:
    check_kill(server, replace(policy, max_concurrency=concurrency), 200)


def test_each_reply_is_on_disk_when_the_next_call_is_made(server: OpenAIServer, policy: JudgePolicy) -> None:
    kept = []

    @component
    class Looking:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            kept.append(replies_in(policy))
            return {"replies": [ChatMessage.from_assistant('{"s1": 1, "s2": 1, "s3": 1, "s4": 1}')]}

        def to_dict(self) -> dict[str, Any]:
            return {"type": "looking", "init_parameters": {}}

    FaithfulnessEvaluator(chat_generator=Looking(), policy=replace(policy, max_concurrency=1)).run(**rows(4))
    assert kept == [0, 1, 2, 3]


def replies_in(policy: JudgePolicy) -> int:
    connection = sqlite3.connect(policy.cache_path or "")
    try:
        return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
    finally:
        connection.close()


CHANGES: dict[str, dict[str, Any]] = {
    "model": {"chat_generator": {"model": "another"}},
    "temperature": {"chat_generator": {"generation_kwargs": {"temperature": 0.5}}},
    "instructions": {"instructions": "Decide otherwise."},
    "examples": {"examples": []},
    "language": {"language": "ja"},
    "votes": {"policy": {"votes": 3}},
    "way of asking": {"policy": {"structured_output": "text"}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_decides_a_reply_makes_new_calls(
    server: OpenAIServer, policy: JudgePolicy, change: dict[str, Any]
) -> None:
    before = evaluator(server.url, policy)
    before.run(**rows(3))
    server.change()
    before.run(**rows(3))
    assert server.calls == 0
    parameters = dict(change)
    if "chat_generator" in change:
        parameters["chat_generator"] = judge(server.url, **change["chat_generator"])
    changed = replace(policy, **parameters.pop("policy", {}))
    evaluator(server.url, changed, **parameters).run(**rows(3))
    assert server.calls == 3 * (changed.votes - 1 if changed.votes > 1 else 1), "the first vote is the single one"
    server.change()
    before.run(**rows(3))
    assert server.calls == 0, "the old replies are still there"


TRANSPORT: dict[str, dict[str, Any]] = {
    "timeout": {"timeout": 9.0},
    "retries": {"max_retries": 1},
    "name of the key": {"api_key": Secret.from_env_var("ANOTHER_KEY")},
    "client": {"http_client_kwargs": {"trust_env": False}},
    "account": {"organization": "another"},
}


@pytest.mark.parametrize("change", TRANSPORT.values(), ids=TRANSPORT)
def test_what_cannot_change_a_reply_makes_no_new_call(
    server: OpenAIServer, policy: JudgePolicy, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANOTHER_KEY", VALUE)
    evaluator(server.url, policy).run(**rows(3))
    server.change()
    result = evaluator(server.url, policy, chat_generator=judge(server.url, **change)).run(**rows(3))
    assert (server.calls, result["statuses"]) == (0, ["scored"] * 3)


def fallback(url: str, **changed: Any) -> FallbackChatGenerator:
    """Two generators, one within the other's list."""
    return FallbackChatGenerator([judge(url, **changed), judge(url, model="other", **changed)])


@pytest.mark.parametrize("change", TRANSPORT.values(), ids=TRANSPORT)
def test_nor_does_it_within_another_generator(
    server: OpenAIServer, policy: JudgePolicy, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANOTHER_KEY", VALUE)
    evaluator(server.url, policy, chat_generator=fallback(server.url)).run(**rows(2))
    calls = server.calls
    assert calls
    evaluator(server.url, policy, chat_generator=fallback(server.url, **change)).run(**rows(2))
    assert server.calls == calls
    evaluator(server.url, policy, chat_generator=fallback(server.url, generation_kwargs={"seed": 1})).run(**rows(2))
    assert server.calls > calls


@pytest.mark.parametrize("version", range(2))
@pytest.mark.parametrize("make", [judge, fallback])
def test_replies_of_earlier_versions_are_found(
    server: OpenAIServer, policy: JudgePolicy, version: int, make: Callable[[str], Any]
) -> None:
    """Their keys held all parameters of the generator, or those of generators within it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Generator, "identity", lambda self: self.former_identities()[version])
        evaluator(server.url, policy, chat_generator=make(server.url)).run(**rows(3))
    assert replies_in(policy) == 3
    server.change()
    again = evaluator(server.url, policy, chat_generator=make(server.url)).run(**rows(3))
    assert (server.calls, again["statuses"]) == (0, ["scored"] * 3)


def test_a_file_that_was_empty_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    path.touch()
    early, also_early = (ReplyCache(str(path), read_only=True) for _ in range(2))
    assert early.get("key") is None
    # As another process fills it.
    writer = ReplyCache(str(tmp_path / "other"))
    writer.put("key", CachedReply("said", {}))
    writer.close()
    path.write_bytes((tmp_path / "other").read_bytes())
    later = ReplyCache(str(path), read_only=True)
    for cache in (early, also_early, later):
        found = cache.get("key")
        assert found is not None
        assert found.text == "said"
        cache.close()


def test_another_address_makes_new_calls(
    server: OpenAIServer, policy: JudgePolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator(server.url, policy).run(**rows(2))
    with OpenAIServer() as other:
        evaluator(other.url, policy).run(**rows(2))
        assert other.calls == 2
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        evaluator("", policy, chat_generator=judge(server.url, api_base_url=None)).run(**rows(2))
        assert other.calls == 4, "an address from the environment is one, too"


def test_another_schema_makes_new_calls() -> None:
    from haystack_eval_ext.judged._forms import verdicts_form
    from haystack_eval_ext.judged._prompts import load_prompt
    from haystack_eval_ext.judged._request import Request, Task

    prompt = load_prompt("faithfulness", "en")
    forms = [verdicts_form(["s1"]), verdicts_form(["s1", "s2"]), verdicts_form(["s1"], (1, 2, 3))]
    task = Task(prompt, {}, ["text"])
    keys = [Request(task, {"a": 1}, form, 0).key for form in forms]
    keys.append(Request(Task(replace(prompt, version="another"), {}, ["text"]), {"a": 1}, forms[0], 0).key)
    keys.append(Request(Task(prompt, {}, ["json_object", "text"]), {"a": 1}, forms[0], 0).key)
    keys.append(Request(task, {"a": 2}, forms[0], 0).key)
    keys.append(Request(task, {"a": 1}, forms[0], 1).key)
    assert len(set(keys)) == len(keys)


def test_what_does_not_decide_a_reply_makes_no_call(server: OpenAIServer, policy: JudgePolicy) -> None:
    evaluator(server.url, policy).run(**rows(3))
    server.change()
    changed = replace(policy, max_concurrency=1, timeout=5.0, max_attempts=1, max_calls=0)
    result = evaluator(server.url, changed, raise_on_failure=False, on_undefined="nan").run(**rows(3))
    assert result["statuses"] == ["scored"] * 3
    assert server.calls == 0
    assert result["meta"][0]["model"] == "served-model", "what the generator said is kept, too"


def test_no_secret_is_in_any_file(server: OpenAIServer, policy: JudgePolicy, caplog: pytest.LogCaptureFixture) -> None:
    server.change(faults={"500": 0.3, "malformed": 0.3})
    evaluator(server.url, policy).run(**rows(6))
    server.change(key="another", faults={})
    result = evaluator(server.url, policy, raise_on_failure=False).run(**rows(9))
    assert result["statuses"].count("error") == 3
    files = [path for path in Path(policy.cache_path or "").parent.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert VALUE.encode() not in path.read_bytes()
        assert b"Question" not in path.read_bytes(), "the questions are in the keys as hashes alone"
    assert VALUE not in str(result)
    assert all(VALUE not in record.getMessage() for record in caplog.records)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_others_cannot_read_the_file(server: OpenAIServer, policy: JudgePolicy) -> None:
    evaluator(server.url, policy).run(**rows(1))
    assert stat.S_IMODE(os.stat(policy.cache_path or "").st_mode) == 0o600


@pytest.mark.slow
def test_two_processes_share_a_file(server: OpenAIServer, policy: JudgePolicy) -> None:
    server.change(latency=0.01)
    children = [run_elsewhere(server.url, policy, 30) for _ in range(2)]
    printed = [child.communicate(timeout=600)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert printed[0].rpartition(" ")[0] == printed[1].rpartition(" ")[0]
    assert replies_in(policy) == 30
    server.change()
    evaluator(server.url, policy).run(**rows(30))
    assert server.calls == 0


def claimed(path: Path, owner: str, until: float) -> None:
    """Let somebody claim all requests of the file that have replies, and take these away."""
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO claims SELECT key, ?, ? FROM replies", (owner, until))
    connection.execute("DELETE FROM replies")
    connection.commit()
    connection.close()


def dead_owner() -> str:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    return new_owner().replace(f"|{os.getpid()}|", f"|{ended.pid}|")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX tells whether a process runs")
@pytest.mark.parametrize(
    ("owner", "seconds"),
    [(dead_owner, 1e6), (lambda: new_owner().replace("|", "elsewhere|", 1), -1.0), (new_owner, -1.0)],
    ids=["ended", "another host, run out", "run out"],
)
def test_a_claim_that_holds_no_longer_is_taken_at_once(
    server: OpenAIServer, policy: JudgePolicy, owner: Callable[[], str], seconds: float
) -> None:
    evaluator(server.url, policy).run(**rows(3))
    claimed(Path(policy.cache_path or ""), owner(), time.time() + seconds)
    server.change()
    assert evaluator(server.url, policy).run(**rows(3))["statuses"] == ["scored"] * 3
    assert server.calls == 3
    connection = sqlite3.connect(policy.cache_path or "")
    assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,), "none is left behind"
    connection.close()


def test_what_somebody_else_asks_is_waited_for_and_not_paid_twice(server: OpenAIServer, policy: JudgePolicy) -> None:
    asked = evaluator(server.url, policy)
    expected = asked.run(**rows(2))
    connection = sqlite3.connect(policy.cache_path or "", isolation_level=None)
    kept = connection.execute("SELECT * FROM replies").fetchall()
    claimed(Path(policy.cache_path or ""), new_owner(), time.time() + 1e6)
    server.change()
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(asked.run, **rows(2))
        with pytest.raises(TimeoutError):
            waits.result(0.3)
        connection.executemany("INSERT INTO replies VALUES (?, ?, ?)", kept)
        found = waits.result()
    connection.close()
    assert found["individual_scores"] == expected["individual_scores"]
    assert (server.calls, found["usage"]["cache_hits"]) == (0, 2)


def test_a_call_that_fails_leaves_no_claim(server: OpenAIServer, policy: JudgePolicy) -> None:
    server.change(faults={"404": 1.0})
    evaluator(server.url, policy, raise_on_failure=False).run(**rows(2))
    connection = sqlite3.connect(policy.cache_path or "")
    assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    connection.close()


@pytest.mark.slow
def test_processes_in_lockstep_pay_each_request_once(server: OpenAIServer, policy: JudgePolicy) -> None:
    for number in range(3):
        shared = replace(policy, cache_path=f"{policy.cache_path}{number}")
        server.change(latency=0.02)
        children = [run_elsewhere(server.url, shared, 40) for _ in range(2)]
        assert [child.wait() for child in children] == [0, 0]
        assert server.calls == 40 == replies_in(shared)


SHARING = """
import sys
from haystack_eval_ext.judged._cache import CachedReply, ReplyCache
path, name = sys.argv[1:]
for number in range(60):
    cache = ReplyCache(path)
    cache.put(f"{name} {number} first", CachedReply("text", {}))
    # As the cache of an embedder, beside that of the judge.
    another = ReplyCache(path)
    cache.put(f"{name} {number} second", CachedReply("text", {}))
    another.close()
    cache.put(f"{name} {number} third", CachedReply("text", {}))
    cache.close()
    assert cache.fault is another.fault is None
"""


@pytest.mark.slow
def test_two_caches_of_one_process_keep_its_locks_on_the_file(tmp_path: Path) -> None:
    """A file that is opened beside SQLite, or twice, loses its locks: then another process clears the log away."""
    path = tmp_path / "cache.sqlite"
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent)}
    children = [
        subprocess.Popen([sys.executable, "-c", SHARING, str(path), name], env=environment) for name in ("one", "two")
    ]
    assert [child.wait() for child in children] == [0, 0]
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM replies").fetchone() == (360,)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_the_caches_of_a_process_share_one_connection(tmp_path: Path) -> None:
    path, other = tmp_path / "cache.sqlite", tmp_path / "link.sqlite"
    reads = []
    with sqlite_connections() as opened:
        first = ReplyCache(str(path))
        other.symlink_to(path)
        second, third = ReplyCache(str(other)), ReplyCache(str(path), read_only=True)
        first.put("key", CachedReply("text", {}))
        reads = [cache.get("key") for cache in (first, second, third)]
        first.close()
        second.put("another", CachedReply("text", {}))
        reads.append(third.get("another"))
        for cache in (second, third):
            cache.close()
    assert reads == [CachedReply("text", {})] * 4
    assert len([how for how in opened if "immutable" not in how]) == 1
    # A file that was opened to be read alone is opened anew for the first writer.
    reader = ReplyCache(str(path), read_only=True)
    writer = ReplyCache(str(path))
    writer.put("third", CachedReply("text", {}))
    assert reader.get("third") == CachedReply("text", {})
    reader.put("fourth", CachedReply("text", {}))
    assert writer.get("fourth") is None
    for cache in (reader, writer):
        cache.close()
        assert cache.get("key") is None


@contextmanager
def sqlite_connections() -> Iterator[list[str]]:
    opened: list[str] = []
    connect = sqlite3.connect

    def counted(address: str, **how: Any) -> Any:
        opened.append(address)
        return connect(address, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", counted)
        yield opened


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize("damage", ["middle", "cut off"])
def test_a_damaged_cache_switches_itself_off_whenever_that_is_noticed(
    server: OpenAIServer, policy: JudgePolicy, damage: str, offline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    evaluator(server.url, policy).run(**rows(60))
    path = Path(policy.cache_path or "")
    content = path.read_bytes()
    assert len(content) > 16384
    path.write_bytes(content[:4096] + b"\xa5" * 8192 + content[12288:] if damage == "middle" else content[:9000])
    server.change()
    judged = evaluator(server.url, replace(policy, offline=offline), raise_on_failure=False).run(**rows(60))
    if offline:
        assert set(judged["statuses"]) <= {"scored", "error"}
        assert all("the cache's file cannot be read" in error for error in judged["errors"] if error)
        assert server.calls == 0
    else:
        assert judged["statuses"] == ["scored"] * 60
    assert sum("The cache of replies" in record.getMessage() for record in caplog.records) == 1


def test_threads_share_a_file(server: OpenAIServer, policy: JudgePolicy) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: evaluator(server.url, policy).run(**rows(5, first=5 * n)), range(6)))
    assert replies_in(policy) == 30


@pytest.mark.parametrize("content", [b"this is no database at all, " * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_cache_is_named(server: OpenAIServer, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cache_path: .*cache\.sqlite cannot be opened as a cache of replies"):
        evaluator(server.url, replace(QUICK, cache_path=str(path))).run(**rows(1))
    assert path.read_bytes() == content, "it may be something else of the user's"
    assert server.calls == 0


@pytest.mark.parametrize("name", ["", "file/cache.sqlite"])
def test_a_path_that_cannot_be_is_named(server: OpenAIServer, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("a file, no folder")
    with pytest.raises(ValueError, match="cannot be opened as a cache of replies"):
        evaluator(server.url, replace(QUICK, cache_path=str(tmp_path / name))).run(**rows(1))


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("table", ["replies (something TEXT)", "places (url TEXT)"])
def test_a_database_of_another_program_is_refused_and_left_alone(
    server: OpenAIServer, tmp_path: Path, table: str, mode: str
) -> None:
    path = tmp_path / "cache.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute(f"CREATE TABLE {table}")
    connection.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for offline in (False, True):
        policy = replace(QUICK, cache_path=str(path), offline=offline)
        with pytest.raises(ValueError, match=r"cannot be opened as a cache of replies .*another program"):
            evaluator(server.url, policy).run(**rows(1))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert server.calls == 0


@pytest.mark.skipif(os.name != "posix", reason="file modes and users")
@pytest.mark.parametrize("killed", [False, True])
def test_offline_reads_a_folder_that_it_cannot_write_to(killed: bool) -> None:
    """A file whose last writer was killed and left its log is refused: without the log replies would be missing."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cache.sqlite"
        cache = ReplyCache(str(path))
        cache.put("key", CachedReply("text", {"model": "m"}))
        if killed:
            log = Path(f"{path}-wal").read_bytes()
        cache.close()
        if killed:
            Path(f"{path}-wal").write_bytes(log)
        before = sorted(file.name for file in Path(folder).iterdir())
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        Path(folder).chmod(0o555)
        root = os.geteuid() == 0  # whom modes do not bind
        try:
            if root:
                os.seteuid(nobody)
            if killed:
                with pytest.raises(ValueError, match=r"cache\.sqlite-wal, SQLite must write to the folder; copy both"):
                    ReplyCache(str(path), read_only=True)
            else:
                found = ReplyCache(str(path), read_only=True)
                assert found.get("key") == CachedReply("text", {"model": "m"})
                found.close()
        finally:
            if root:
                os.seteuid(0)
            Path(folder).chmod(0o755)
        assert sorted(file.name for file in Path(folder).iterdir()) == before


def test_offline_writes_nothing(server: OpenAIServer, policy: JudgePolicy) -> None:
    evaluator(server.url, policy).run(**rows(2))
    before = Path(policy.cache_path or "").read_bytes()
    cache = ReplyCache(policy.cache_path or "", read_only=True)
    cache.put("key", CachedReply("text", {}))
    assert cache.get("key") is None
    cache.close()
    assert Path(policy.cache_path or "").read_bytes() == before


def everything_in(folder: Path) -> dict[str, Any]:
    """Each file's bytes, mode and time; and the folder's own."""
    found: dict[str, Any] = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for path in (folder, *folder.rglob("*")):
        # Reading may mark places in the index of a log, which is nobody's data.
        if not path.name.endswith("-shm"):
            found[f"{path} stat"] = (path.stat().st_mode, path.stat().st_mtime_ns)
    return {name: value for name, value in found.items() if not name.endswith("-shm")}


@pytest.mark.parametrize("killed", [False, True])
def test_a_plan_and_offline_leave_the_folder_as_it_is(server: OpenAIServer, policy: JudgePolicy, killed: bool) -> None:
    """Also beside the log of a run that was killed, whose replies count."""
    folder = Path(policy.cache_path or "").parent
    # Only the last one to close a file clears its log away.
    another = ReplyCache(policy.cache_path or "")
    assert another.get("nothing") is None
    evaluator(server.url, policy).run(**rows(2))
    if killed:
        folder = Path(shutil.copytree(folder, folder.parent / "killed"))
        assert (folder / "cache.sqlite-wal").stat().st_size > 0
        policy = replace(policy, cache_path=str(folder / "cache.sqlite"))
    another.close()
    before, names = everything_in(folder), sorted(path.name for path in folder.iterdir())
    planned = evaluator(server.url, policy).plan(**rows(3))
    assert (planned.calls, planned.cached) == (1, 2)
    assert evaluator(server.url, replace(policy, offline=True)).run(**rows(2))["statuses"] == ["scored"] * 2
    assert everything_in(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == names


@pytest.mark.skipif(os.name != "posix", reason="file modes and users")
def test_a_plan_reads_a_folder_that_it_cannot_write_to(server: OpenAIServer) -> None:
    with tempfile.TemporaryDirectory() as folder:
        policy = replace(QUICK, cache_path=str(Path(folder) / "cache.sqlite"))
        judged = evaluator(server.url, policy)
        judged.run(**rows(2))
        judged.plan(**rows(1))  # imports what it needs
        for file in Path(folder).iterdir():
            file.chmod(0o444)
        Path(folder).chmod(0o555)
        root = os.geteuid() == 0  # whom modes do not bind
        try:
            if root:
                os.seteuid(65534)
            planned = judged.plan(**rows(3))
        finally:
            if root:
                os.seteuid(0)
            Path(folder).chmod(0o755)
        assert (planned.calls, planned.cached) == (1, 2)


def test_a_plan_makes_neither_file_nor_folder(server: OpenAIServer, policy: JudgePolicy) -> None:
    assert evaluator(server.url, policy).plan(**rows(3)).calls == 3
    assert not Path(policy.cache_path or "").parent.exists()


def test_a_file_that_was_only_just_made_holds_nothing(server: OpenAIServer, policy: JudgePolicy) -> None:
    path = Path(policy.cache_path or "")
    path.parent.mkdir()
    path.touch()
    assert evaluator(server.url, policy).plan(**rows(3)).calls == 3
    offline = evaluator(server.url, replace(policy, offline=True), raise_on_failure=False)
    assert offline.run(**rows(1))["errors"] == ["not in the cache (offline); run once without offline"]
    assert [file.read_bytes() for file in path.parent.iterdir()] == [b""]


@pytest.mark.parametrize(
    ("meta", "kept"),
    [
        ({"model": "m", ("a", "b"): 1}, {"model": "m", "('a', 'b')": 1}),
        ({"model": "m", "deep": {(1, 2): 3}}, {"model": "m"}),
        ({"model": "m", "odd": object}, {"model": "m", "odd": "<class 'object'>"}),
    ],
)
def test_what_json_cannot_hold_costs_no_row(policy: JudgePolicy, meta: Any, kept: dict[str, Any]) -> None:
    @component
    class Odd:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant('{"s1": 1, "s2": 1, "s3": 1, "s4": 1}', meta=meta)]}

        def to_dict(self) -> dict[str, Any]:
            return {"type": "odd", "init_parameters": {}}

    judged = FaithfulnessEvaluator(chat_generator=Odd(), policy=policy)
    assert judged.run(**rows(2))["statuses"] == ["scored"] * 2
    assert judged.run(**rows(2))["meta"] == [kept] * 2
    assert replies_in(policy) == 2


def test_a_blank_path_is_refused() -> None:
    for path in ("", "  "):
        with pytest.raises(ValueError, match="cache_path must be the path of a file"):
            JudgePolicy(cache_path=path)
    # SQLite's name for no file would be a file of that name here.
    with pytest.raises(ValueError, match="cache_path must be the path of a file, but ':memory:' is none"):
        JudgePolicy(cache_path=":memory:")


def test_a_full_disk_costs_no_row(
    server: OpenAIServer, policy: JudgePolicy, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator(server.url, policy).run(**rows(1))
    connect: Any = sqlite3.connect

    def almost_full(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own "database or disk is full"
        return connection

    monkeypatch.setattr(sqlite3, "connect", almost_full)
    result = evaluator(server.url, policy).run(**rows(60))
    assert result["statuses"] == ["scored"] * 60
    warnings = [record.getMessage() for record in caplog.records if "goes on without it" in record.getMessage()]
    assert len(warnings) == 1
    assert "(database or disk is full)" in warnings[0]


def test_a_damaged_reply_is_asked_for_again(server: OpenAIServer, policy: JudgePolicy) -> None:
    expected = evaluator(server.url, policy).run(**rows(3))["individual_scores"]
    with sqlite3.connect(policy.cache_path or "") as connection:
        connection.execute("UPDATE replies SET text = 'damaged'")
    connection.close()
    server.change()
    assert evaluator(server.url, policy).run(**rows(3))["individual_scores"] == expected
    assert server.calls == 3
    assert evaluator(server.url, policy).run(**rows(3))["individual_scores"] == expected
    assert server.calls == 3


DAMAGES = {
    "meta no JSON": "meta = 'damaged'",
    "meta no object": "meta = '[1]'",
    "meta nested": f"meta = '{'[' * 100_000}'",
    "meta no text": "meta = x'7b7d'",
    "text no text": "text = x'ff00'",
    "text no UTF-8": "text = CAST(x'ff00' AS TEXT)",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_costs_itself_alone(
    server: OpenAIServer, policy: JudgePolicy, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    expected = evaluator(server.url, policy).run(**rows(3))["individual_scores"]
    with sqlite3.connect(policy.cache_path or "") as connection:
        connection.execute(f"UPDATE replies SET {damage} WHERE rowid = 2")  # noqa: S608 - a constant of this test
    connection.close()
    server.change()
    offline = evaluator(server.url, replace(policy, offline=True), raise_on_failure=False).run(**rows(3))
    assert sorted(offline["statuses"]) == ["error", "scored", "scored"]
    for _ in range(2):
        assert evaluator(server.url, policy).run(**rows(3))["individual_scores"] == expected
        assert server.calls == 1
    assert "goes on without it" not in caplog.text


class Damaged(sqlite3.Connection):
    """A file with a bad page, which is met when it is looked into."""

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql.startswith("SELECT text"):
            msg = "database disk image is malformed"
            raise sqlite3.DatabaseError(msg)
        return super().execute(sql, *arguments)


def test_a_damaged_file_is_an_error_of_its_own_offline(
    server: OpenAIServer, policy: JudgePolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = evaluator(server.url, policy).run(**rows(3))["individual_scores"]
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Damaged))
    result = evaluator(server.url, replace(policy, offline=True), raise_on_failure=False).run(**rows(3))
    (error,) = set(result["errors"])
    assert error.startswith("the cache's file cannot be read (offline): database disk image is malformed; restore it")
    assert evaluator(server.url, policy).run(**rows(3))["individual_scores"] == expected


def test_a_reply_that_another_run_paid_for_meanwhile_is_not_paid_for_again(
    server: OpenAIServer, policy: JudgePolicy
) -> None:
    """Two runs of the same rows wait for one slot, as two processes would: each asks again only when it has it."""
    alone = replace(policy, max_concurrency=1)
    server.hold()
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(evaluator(server.url, alone).run, **rows(8)) for _ in range(2)]
        for _ in range(4000):
            if any(len(limit._waiting) == 15 for limit in LIMITS.values()):
                break
            _pause()
        else:
            pytest.fail("not all rows came to wait")
        server.let_go()
        first, second = (run.result(60) for run in runs)
    assert server.calls == 8
    assert first["individual_scores"] == second["individual_scores"]
    assert first["usage"]["calls"] + second["usage"]["calls"] == 8
    assert first["usage"]["cache_hits"] + second["usage"]["cache_hits"] == 8


def test_offline(server: OpenAIServer, policy: JudgePolicy) -> None:
    online = evaluator(server.url, policy).run(**rows(3))
    server.change()
    offline = replace(policy, offline=True)
    result = evaluator(server.url, offline).run(**rows(3))
    assert result["individual_scores"] == online["individual_scores"]
    more = evaluator(server.url, offline, raise_on_failure=False).run(**rows(5))
    assert more["statuses"] == ["scored"] * 3 + ["error"] * 2
    assert more["errors"][3:] == ["not in the cache (offline); run once without offline"] * 2
    assert server.calls == 0


def test_offline_needs_no_key(server: OpenAIServer, policy: JudgePolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator(server.url, policy).run(**rows(2))
    monkeypatch.delenv("TEST_JUDGE_KEY")
    assert evaluator(server.url, replace(policy, offline=True)).run(**rows(2))["statuses"] == ["scored"] * 2


def test_offline_without_a_file_is_named(server: OpenAIServer, policy: JudgePolicy) -> None:
    with pytest.raises(ValueError, match=r"there is no file .*Run once without offline"):
        evaluator(server.url, replace(policy, offline=True)).run(**rows(1))
    assert not Path(policy.cache_path or "").exists()
    with pytest.raises(ValueError, match="cache_path is None"):
        JudgePolicy(offline=True)


@pytest.mark.parametrize("fault", ["500", "404", "malformed", "empty", "length", "filtered"])
def test_failures_are_not_cached(server: OpenAIServer, policy: JudgePolicy, fault: str) -> None:
    server.change(lost=1.0, lost_to=fault)
    evaluator(server.url, replace(policy, max_attempts=2), raise_on_failure=False).run(**rows(2))
    assert replies_in(policy) == 0
    server.change(lost=0.0)
    assert evaluator(server.url, policy).run(**rows(2))["statuses"] == ["scored"] * 2
    assert server.calls == 2


def test_partial_replies_are_kept(server: OpenAIServer, policy: JudgePolicy) -> None:
    """What a reply left open is asked for again, alone; a later run asks for neither."""
    server.change(faults={"counts": 1.0}, most_faults=1)
    first = evaluator(server.url, policy).run(**rows(24))
    assert server.calls > 24
    server.change(faults={})
    planned = evaluator(server.url, policy).plan(**rows(24))
    assert planned.calls == 0
    second = evaluator(server.url, policy).run(**rows(24))
    assert second["individual_scores"] == first["individual_scores"]
    assert server.calls == 0


def test_a_plan_knows_what_a_partial_reply_leaves_open(policy: JudgePolicy) -> None:
    replies = ['{"s1": 1}']

    @component
    class Once:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            return {"replies": [ChatMessage.from_assistant(replies.pop())]} if replies else {"replies": []}

        def to_dict(self) -> dict[str, Any]:
            return {"type": "once", "init_parameters": {}}

    judged = FaithfulnessEvaluator(
        chat_generator=Once(), policy=replace(policy, max_attempts=2), raise_on_failure=False
    )
    assert judged.run(**rows(1, first=1))["statuses"] == ["error"]
    plan = judged.plan(**rows(1, first=1))
    assert (plan.calls, plan.cached, plan.exact) == (1, 1, True)


@pytest.mark.parametrize("secret", [Secret.from_token("sk-token")])
def test_what_cannot_be_identified_has_no_cache(
    server: OpenAIServer, policy: JudgePolicy, secret: Secret, caplog: pytest.LogCaptureFixture
) -> None:
    """A token in the generator cannot be serialized: said once a run, and no file."""
    parameters = {"chat_generator": judge(server.url, api_key=secret)}
    assert evaluator(server.url, policy, **parameters).run(**rows(2))["statuses"] == ["scored"] * 2
    assert sum("cache_path is not used" in record.getMessage() for record in caplog.records) == 1
    assert not Path(policy.cache_path or "").exists()
    with pytest.raises(ValueError, match="the chat generator cannot be serialized"):
        evaluator(server.url, replace(policy, offline=True), **parameters).run(**rows(2))


def test_replies_with_half_of_a_pair_are_kept(policy: JudgePolicy) -> None:
    """A lone surrogate cannot be written as UTF-8."""
    calls = []

    @component
    class Odd:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:  # noqa: ARG002
            calls.append(1)
            return {"replies": [ChatMessage.from_assistant('{"s1": 1, "why": "\ud800\0"}', meta={"note": "\udfff"})]}

        def to_dict(self) -> dict[str, Any]:
            return {"type": "odd", "init_parameters": {}}

    judged = FaithfulnessEvaluator(chat_generator=Odd(), policy=policy)
    assert [judged.run(**rows(1))["score"] for _ in range(2)] == [1.0, 1.0]
    assert len(calls) == 1
