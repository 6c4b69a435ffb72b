"""`interlingua serve`, as an operator runs it."""

import signal
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from client.upstream import ask

from interlingua.canonical import json
from interlingua.v1 import service_pb2 as service
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub


def test_the_command_serves_and_ends_gracefully_on_sigterm() -> None:
    """A second process, recorded exchanges, status 0."""
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
    """Status 2 and one line."""
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
    assert second.stderr.endswith(b": Address already in use\n")
    assert second.stderr.count(b"\n") == 1


def test_a_socket_with_flags_of_its_own(tmp_path: Path) -> None:
    """A Unix socket, a policy of retries, and who rests; told in the first line."""
    socket = tmp_path / "socket"
    flags = ["--unix", str(socket), "--retry", "once", "--health", "windows", "--replay", "--json"]
    with subprocess.Popen([sys.executable, "-m", "interlingua", "serve", *flags], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"unix": str(socket), "provider": "replay", "tls": False}
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            assert InterlinguaServiceStub(channel).ListModels(service.ListModelsRequest()).models
        process.terminate()
        assert process.wait(15) == 0


@pytest.mark.parametrize(
    "flags",
    [
        ["--tls-cert", "x.pem"],
        ["--tls-client-ca", "x.pem"],
        ["--tls-cert", "none.pem", "--tls-key", "none.pem"],
        ["--retry", "always"],
        ["--health", "good"],
    ],
)
def test_wrong_flags_are_said_in_a_line(flags: list[str]) -> None:
    """Status 2, before anything listens."""
    done = subprocess.run(
        [sys.executable, "-m", "interlingua", "serve", "--port", "0", *flags],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
