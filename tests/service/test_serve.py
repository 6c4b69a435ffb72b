"""`interlingua serve`, as an operator runs it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from client.upstream import ask
from grpc_health.v1 import health_pb2, health_pb2_grpc

from interlingua.access import digest
from interlingua.canonical import json
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub


def test_the_command_serves_and_ends_gracefully_on_sigterm() -> None:
    """A second process serves recorded exchanges and ends with status 0."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--json", "--replay", "--pace", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = json.loads(process.stdout.readline())["port"]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            request = service.GenerateRequest(request_json=json.dumps(ask()).decode(), target="openai:gpt-4.1")
            answer = InterlinguaServiceStub(channel).Generate(request)
        assert answer.response.model == "openai:gpt-4.1"
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
        assert b"draining" in process.stderr.read()


def test_a_port_in_use_is_said_in_a_line() -> None:
    """The command ends with status 2 and one line."""
    with subprocess.Popen(
        [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--json"], stdout=subprocess.PIPE
    ) as first:
        assert first.stdout is not None
        port = json.loads(first.stdout.readline())["port"]
        second = subprocess.run(
            [sys.executable, "-m", "interlingua", "serve", "--port", str(port)],
            capture_output=True,
            timeout=30,
            check=False,
        )
        first.terminate()
    assert second.returncode == 2
    assert second.stderr.startswith(b"interlingua: cannot listen on")
    assert second.stderr.endswith(b": Address already in use; choose another address with --host, --port\n")
    assert second.stderr.count(b"\n") == 1


def test_a_socket_with_flags_of_its_own(tmp_path: Path) -> None:
    """A Unix socket, a retry policy and a cooldown policy; the first line states the address."""
    socket = tmp_path / "socket"
    flags = ["--unix", str(socket), "--retry", "once", "--health", "windows", "--replay", "--json"]
    with subprocess.Popen([sys.executable, "-m", "interlingua", "serve", *flags], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"unix": str(socket), "provider": "replay", "tls": False}
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            assert InterlinguaServiceStub(channel).ListModels(service.ListModelsRequest()).models
        process.terminate()
        assert process.wait(15) == 0


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "session.py"


@contextmanager
def _sessions_served(folder: Path, *flags: str, end: signal.Signals = signal.SIGTERM) -> Iterator[Any]:
    """Run a server with sessions in a process of its own, which is ended with the given signal; yield its stub."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--json", "--replay", "--pace", "0"]
    command += ["--no-http", "--sessions", f"sqlite:///{folder}/chats.db", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline())["port"]
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub: Any = SessionServiceStub(channel)  # type: ignore[no-untyped-call]
                stub.channel = channel
                stub.address = f"127.0.0.1:{port}"
                yield stub
        finally:
            process.send_signal(end)
            assert process.wait(15) == (0 if end == signal.SIGTERM else -end)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_sessions_outlive_the_server(tmp_path: Path, end: signal.Signals) -> None:
    """Acknowledged messages are stored once after a restart, and a watcher continues after its cursor."""
    hello = json.dumps([{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]).decode()
    with _sessions_served(tmp_path, end=end) as stub:
        chat = stub.CreateSession(messages.CreateSessionRequest(model="openai:gpt-4.1")).session.id
        health: Any = health_pb2_grpc.HealthStub(stub.channel)
        assert health.Check(health_pb2.HealthCheckRequest(service="interlingua.v1.SessionService")).status == 1
        request = messages.AppendMessagesRequest(session_id=chat, messages_json=hello, client_key="k")
        revision = stub.AppendMessages(request).revision
    with _sessions_served(tmp_path) as stub:
        assert stub.AppendMessages(request).already_stored
        answer = stub.GenerateInSession(messages.GenerateInSessionRequest(session_id=chat))
        assert [one.event.WhichOneof("event") for one in answer][-1] == "message_complete"
        assert len(stub.ListMessages(messages.ListMessagesRequest(session_id=chat)).messages) == 2
        watching = stub.WatchSession(messages.WatchSessionRequest(session_id=chat, after_revision=revision))
        assert next(iter(watching)).revision == revision + 1
        watching.cancel()


def test_sessions_take_the_keys_of_the_file(tmp_path: Path) -> None:
    """The keys file is the one that the gateway uses."""
    keys = tmp_path / "keys.json"
    keys.write_bytes(json.dumps({"keys": [{"name": "acme", "sha256": digest("ilk_secret")}]}))
    with _sessions_served(tmp_path, "--keys", str(keys)) as stub:
        with pytest.raises(grpc.RpcError) as error:
            stub.ListSessions(messages.ListSessionsRequest())
        assert error.value.code() is grpc.StatusCode.UNAUTHENTICATED  # type: ignore[attr-defined]
        known = (("authorization", "Bearer ilk_secret"),)
        assert not stub.ListSessions(messages.ListSessionsRequest(), metadata=known).sessions
        walk = [sys.executable, str(EXAMPLE), stub.address, "ilk_secret"]
        done = subprocess.run(walk, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.decode().splitlines()
        assert lines[1].startswith("# going on there costs about $0.")
        assert lines[-1].endswith(" turn.ended")
        assert (
            stub.ListSessions(messages.ListSessionsRequest(), metadata=known)
            .sessions[0]
            .active_model.startswith("anthropic:")
        )


def test_without_a_database_there_are_no_sessions() -> None:
    """The methods do not exist, and neither reflection nor health lists them."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--json", "--replay", "--no-http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub: Any = SessionServiceStub(channel)  # type: ignore[no-untyped-call]
            with pytest.raises(grpc.RpcError) as error:
                stub.ListSessions(messages.ListSessionsRequest())
            assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED  # type: ignore[attr-defined]
            health: Any = health_pb2_grpc.HealthStub(channel)
            with pytest.raises(grpc.RpcError) as error:
                health.Check(health_pb2.HealthCheckRequest(service="interlingua.v1.SessionService"))
            assert error.value.code() is grpc.StatusCode.NOT_FOUND  # type: ignore[attr-defined]
        process.terminate()
        assert process.wait(15) == 0


@pytest.mark.parametrize(
    "flags",
    [
        ["--store-days", "3"],
        ["--sessions", "sqlite://", "--no-http", "--store-days", "3"],
        ["--sessions", "mysql://x", "--no-http"],
        ["--sessions", "sqlite://", "--no-http", "--host", "0.0.0.0"],
        ["--no-http", "--open"],
        ["--tls-cert", "x.pem"],
        ["--tls-client-ca", "x.pem"],
        ["--tls-cert", "none.pem", "--tls-key", "none.pem"],
        ["--retry", "always"],
        ["--health", "good"],
    ],
)
def test_wrong_flags_are_said_in_a_line(flags: list[str]) -> None:
    """The command ends with status 2, before anything listens."""
    done = subprocess.run(
        [sys.executable, "-m", "interlingua", "serve", "--port", "0", *flags],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
