"""Several processes on the same ports (spec/9-service.md#workers): `interlingua serve --workers N`."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http.client import HTTPException
from pathlib import Path
from typing import Any

import grpc
import pytest

from interlingua.access import digest
from interlingua.cli import workers
from interlingua.v1 import sessions_pb2, sessions_pb2_grpc
from tests.gateway import wires

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ports are shared as Linux does")

MODEL = "replay:claude-sonnet-4-6"
SERVES = re.compile(r"worker (\d+) serves \(process (\d+)\)")


@dataclass
class Server:
    """A running server: what it says of itself, and its log as it is written."""

    about: dict[str, Any]
    process: "subprocess.Popen[str]"
    log: list[str] = field(default_factory=list[str])

    def ask(self, path: str = "/v1/messages", body: Any = None, key: str | None = None) -> Any:
        """The answer to a request of Anthropic's wire, or to a GET where a path is given, on a connection of its own."""
        if path == "/v1/messages":
            body = wires.body("anthropic_messages", model=MODEL)
        given = None if body is None else json.dumps(body).encode()
        headers = {"connection": "close"} | ({} if key is None else {"x-api-key": key})
        request = urllib.request.Request(f"http://127.0.0.1:{self.about['http_port']}{path}", given, headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
            return text.decode() if path == "/metrics" else json.loads(text)

    @property
    def pids(self) -> dict[int, int]:
        """The process of each worker, by its number."""
        return {int(found[1]): int(found[2]) for line in self.log if (found := SERVES.search(line))}


@contextmanager
def served(*arguments: str, count: int = 2, ends: int | None = 0) -> Iterator[Server]:
    """A server with workers, on free ports; `ends` is the status with which it ends."""
    command = [sys.executable, "-m", "interlingua", "serve", "--replay", "--json", "--port", "0", "--pace", "0"]
    command += ["--workers", str(count), *arguments]
    log: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        stdout, stderr = process.stdout, process.stderr
        assert stdout is not None
        assert stderr is not None
        reading = threading.Thread(target=log.extend, args=(stderr,), daemon=True)
        reading.start()
        try:
            yield Server(json.loads(stdout.readline()), process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
            reading.join(10)
        assert ends is None or process.returncode == ends, "".join(log)
        assert "Traceback" not in "".join(log), "".join(log)


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_all_serve_and_a_killed_one_is_started_again() -> None:
    """The others go on meanwhile; the counters know what the dead one did, and its calls run no more."""
    with served(count=3) as at:
        assert at.about["workers"] == 3
        until(lambda: len(at.pids) == 3)
        failed: list[str] = []
        done: list[str] = []
        stop = threading.Event()

        def load() -> None:
            while not stop.is_set():
                try:
                    done.append(at.ask()["id"])
                except (OSError, HTTPException) as problem:
                    failed.append(repr(problem))

        callers = [threading.Thread(target=load) for _ in range(4)]
        for one in callers:
            one.start()
        until(lambda: len(done) > 20)
        before = at.pids
        os.kill(before[1], signal.SIGKILL)
        until(lambda: at.pids[1] != before[1])
        since = len(done)
        until(lambda: len(done) > since + 20)
        stop.set()
        for one in callers:
            one.join()
        # what ran in the dead one, or waited to be accepted there when it was asked again
        assert len(failed) <= 2 * len(callers), failed
        counted = dict(line.rsplit(" ", 1) for line in at.ask("/metrics").splitlines() if line[:1] != "#")
        name = f'interlingua_calls_total{{model="{MODEL}",outcome="ok",provider="replay",wire="anthropic_messages"}}'
        assert len(done) <= float(counted[name]) <= len(done) + len(failed)
        assert float(counted["interlingua_running_calls"]) == 0
        assert {at.pids[number] for number in (0, 2)} == {before[0], before[2]}


def test_sigterm_drains_all() -> None:
    """What runs is finished, on whichever worker; nothing is left behind."""
    with served("--pace", "5") as at:
        until(lambda: len(at.pids) == 2)
        answers: list[bytes] = []

        def stream() -> None:
            body = json.dumps(wires.body("anthropic_messages", model=MODEL, stream=True)).encode()
            place = f"http://127.0.0.1:{at.about['http_port']}/v1/messages"
            with urllib.request.urlopen(urllib.request.Request(place, body), timeout=20) as answer:
                answers.append(answer.read())

        callers = [threading.Thread(target=stream) for _ in range(8)]
        for one in callers:
            one.start()
        until(lambda: "interlingua_running_calls 8.0" in at.ask("/metrics"))
        pids = at.pids.values()
        at.process.send_signal(signal.SIGTERM)
        for one in callers:
            one.join()
        assert at.process.wait(timeout=20) == 0
        assert len(answers) == 8
        assert all(b"message_stop" in answer for answer in answers)
        assert not any(map(alive, pids))


def test_a_second_signal_ends_the_time_of_grace() -> None:
    """Of all workers: what runs is cut off with an error of its wire."""
    with served("--pace", "1000", "--grace", "60") as at:
        until(lambda: len(at.pids) == 2)
        answers: list[int] = []

        def ask() -> None:
            try:
                at.ask()
            except urllib.error.HTTPError as problem:
                answers.append(problem.code)

        callers = [threading.Thread(target=ask) for _ in range(8)]
        for one in callers:
            one.start()
        until(lambda: "interlingua_running_calls 8.0" in at.ask("/metrics"))
        at.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert at.process.poll() is None
        at.process.send_signal(signal.SIGTERM)
        assert at.process.wait(timeout=10) == 0
        for one in callers:
            one.join()
        assert len(answers) == 8
        assert set(answers) <= {500, 503, 529}


def test_workers_end_when_their_parent_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would end them else. The folder that they shared is left behind."""
    with tempfile.TemporaryDirectory() as folder, monkeypatch.context() as changed:
        changed.setenv("TMPDIR", folder)
        killed()


def killed() -> None:
    """Kills a parent, and waits for its workers to end."""
    with served(ends=-signal.SIGKILL) as at:
        until(lambda: len(at.pids) == 2)
        pids = at.pids.values()
        at.process.kill()
        until(lambda: not any(map(alive, pids)))


def test_limits_of_a_key_are_one_limit(tmp_path: Path) -> None:
    """Calls of a minute, and a budget to the last digit, whichever workers are asked."""
    rows = [
        {"name": "few", "sha256": digest("k-few"), "calls_per_minute": 5},
        {"name": "poor", "sha256": digest("k-poor"), "budget_usd_per_day": "0.000001"},
    ]
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": rows}))

    def statuses(key: str, times: int) -> list[int]:
        found: list[int] = []
        for _ in range(times):
            try:
                at.ask(key=key)
                found.append(200)
            except urllib.error.HTTPError as problem:
                found.append(problem.code)
        return found

    with served("--keys", str(file), count=3) as at:
        until(lambda: len(at.pids) == 3)
        assert sorted(statuses("k-few", 15)) == [200] * 5 + [429] * 10
        assert statuses("k-poor", 8) == [200] + [402] * 7
        records = at.ask("/v1/interlingua/calls", key="k-poor")["calls"]
        assert sum(Decimal(one["usage"]["cost_usd"]) for one in records) > Decimal("0.000001")


def test_calls_are_told_by_whichever_worker_is_asked() -> None:
    """The list, a record, what a call carried; and the live list has those of all."""
    with served("--inspect", count=3) as at:
        until(lambda: len(at.pids) == 3)
        watched: list[str] = []

        def watch() -> None:
            place = f"http://127.0.0.1:{at.about['http_port']}/v1/interlingua/live"
            with urllib.request.urlopen(place, timeout=30) as answer:
                watched.extend(line.decode() for line in answer)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        for _ in range(12):
            at.ask()
        listed = at.ask("/v1/interlingua/calls")["calls"]
        assert len(listed) == 12
        assert [one["id"] for one in listed] == sorted((one["id"] for one in listed), reverse=True)
        for one in listed:
            assert at.ask(f"/v1/interlingua/calls/{one['id']}") == one
            place = f"http://127.0.0.1:{at.about['http_port']}/v1/interlingua/calls/{one['id']}/content"
            with urllib.request.urlopen(place, timeout=20) as answer:
                assert answer.read().count(b"event: end") == 1
        until(lambda: all(f'"id":"{one["id"]}"' in "".join(watched) for one in listed))
        with pytest.raises(urllib.error.HTTPError, match="404"):
            at.ask("/v1/interlingua/calls/01JZZZZZZZZZZZZZZZZZZZZZZZ")
        at.process.send_signal(signal.SIGTERM)
        watching.join(10)
        assert not watching.is_alive()


def test_a_session_has_one_turn_at_a_time(tmp_path: Path) -> None:
    """Also when the calls come to different processes: the row of the session is the lock."""
    database = f"sqlite:///{tmp_path / 'chats.db'}"
    with served("--sessions", database, "--pace", "5", count=3) as at:
        until(lambda: len(at.pids) == 3)

        def stub() -> Any:
            # a pool of its own for each channel: else they share one connection, and one worker
            options = (("grpc.use_local_subchannel_pool", 1),)
            return sessions_pb2_grpc.SessionServiceStub(
                grpc.insecure_channel(f"127.0.0.1:{at.about['port']}", options=options)
            )

        chat = stub().CreateSession(sessions_pb2.CreateSessionRequest()).session.id
        said = {
            "model": MODEL,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "What is a ULID?"}]}],
        }
        ends: list[str] = []

        def say() -> None:
            asked = sessions_pb2.GenerateInSessionRequest(session_id=chat, request_json=json.dumps(said))
            try:
                ends.append([one.event.WhichOneof("event") for one in stub().GenerateInSession(asked)][-1])
            except grpc.RpcError as problem:
                ends.append(problem.code().name)  # type: ignore[attr-defined]

        callers = [threading.Thread(target=say) for _ in range(6)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
        assert ends.count("message_complete") == 1
        assert set(ends) == {"message_complete", "ABORTED"}


def test_sighup_puts_new_workers_in_their_places(tmp_path: Path) -> None:
    """One after the other, so that what they read when they start is read again, and some always serve."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [{"name": "old", "sha256": digest("k-old")}]}))
    with served("--keys", str(file)) as at:
        until(lambda: len(at.pids) == 2)
        before = at.pids
        file.write_text(json.dumps({"keys": [{"name": "new", "sha256": digest("k-new")}]}))
        at.process.send_signal(signal.SIGHUP)
        until(lambda: not any(map(alive, before.values())))
        assert all(at.ask(key="k-new")["type"] == "message" for _ in range(6))
        with pytest.raises(urllib.error.HTTPError, match="401"):
            at.ask(key="k-old")
        assert at.process.poll() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--unix", "/tmp/x"), "--unix"),
        (("--sessions", "sqlite://"), "a database that all processes reach"),
        (("--concurrency", "1"), "cannot be divided among 2 workers"),
        (("--keys", "/nonexistent.json"), "cannot read the keys"),
        (("--host", "0.0.0.0"), "loopback"),
    ],
)
def test_what_cannot_be_served_is_said_once(arguments: tuple[str, ...], words: str) -> None:
    """One line, and the status of wrong usage, whoever found it."""
    command = [sys.executable, "-m", "interlingua", "serve", "--replay", "--port", "0", "--workers", "2"]
    words_of_log = ["--log-level", "error"]
    done = subprocess.run(
        [*command, *words_of_log, *arguments], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("option", ["--port", "--http-port"])
def test_a_port_that_is_taken_is_one_error(option: str) -> None:
    """Also when who has it shares its ports: two servers on one port would answer by chance."""
    with served() as at:
        taken = at.about["port" if option == "--port" else "http_port"]
        command = [sys.executable, "-m", "interlingua", "serve", "--replay", "--workers", "2", "--json"]
        rest = ["--http-port", "0", option, str(taken)] if option == "--port" else ["--port", "0", option, str(taken)]
        done = subprocess.run([*command, *rest], capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 2
        assert json.loads(done.stdout)["error"]["message"].startswith(f"cannot listen on 127.0.0.1:{taken}")


def test_a_crash_loop_ends_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a status that tells whoever runs it."""
    monkeypatch.setattr(workers, "_PAUSE_S", 0.01)
    starts = tmp_path / "starts"
    script = f"open({str(starts)!r}, 'a').write('.'); print('{{}}', flush=True); raise SystemExit(3)"
    places = [workers.Worker(0, 1, str(tmp_path), None, None)]
    told: list[Any] = []
    running = workers.Workers((sys.executable, "-c", script), places, 1.0)
    assert asyncio.run(running.run(told.append)) == 1
    assert told == [{}]
    assert len(starts.read_text()) == 6


def test_a_worker_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that gives no sign of life any more; it counts as one that died."""
    monkeypatch.setattr(workers, "_PAUSE_S", 0.01)
    monkeypatch.setattr(workers, "_SILENCE_S", 0.5)
    ends = tmp_path / "ends"
    lively = "[(print(flush=True), time.sleep(0.2)) for _ in range(5)]"
    script = f"import time; print('{{}}', flush=True); {lively}; open({str(ends)!r}, 'a').write('.'); time.sleep(600)"
    running = workers.Workers((sys.executable, "-c", script), [workers.Worker(0, 1, str(tmp_path), None, None)], 1.0)
    assert asyncio.run(running.run(lambda _: None)) == 1
    assert len(ends.read_text()) == 6


def test_a_limit_is_shared_out_whole() -> None:
    """No call more or less than it says."""
    shares = [workers.Worker(number, 3, "", None, None).share(8) for number in range(3)]
    assert shares == [3, 3, 2]
