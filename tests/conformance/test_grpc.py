"""The server that ships, asked by the suite over gRPC: the same verdicts as the plug."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from runner.__main__ import main
from runner.cases import read
from runner.discover import plan
from runner.session import Session
from runner.verdict import run

from interlingua import adapters

pytest.importorskip("grpc_reflection")

SERVE = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--retry", "none", "--log-level", "error"]
KINDS = (
    "to_wire",
    "accounting",
    "from_wire_response",
    "stream",
    "fold",
    "chunks:utf8",
    "wire_fixpoint",
    "stream_encode",
    "to_wire_response",
)
CASES = (
    "anthropic_messages/tool-calls-parallel",
    "openai_chat/text-basic",
    "route/rule",
    "cost/unpriced",
    "schema/losses",
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    process = subprocess.Popen(SERVE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"127\.0\.0\.1:\d+", process.stdout.readline())
        assert found is not None, "the server does not say where it listens"
        yield found.group()
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


def test_the_service_answers_as_the_plug_does(server: str) -> None:
    from runner.grpc_plug import GrpcPlug

    plug = GrpcPlug(server)
    try:
        session = Session(plug)
        every = plan(read(), sorted(session.adapters))
        checks = [
            check
            for check in every
            if check.case.path in CASES and (check.case.row or check.name in KINDS or check.name == "route")
        ]
        results = list(run(session, checks))
    finally:
        plug.close()

    assert {result.check.case.path for result in results} == set(CASES)
    assert [f"{result.check.id}: {result.message}" for result in results if result.outcome != "pass"] == []


def test_what_is_refused_keeps_its_category(server: str) -> None:
    from runner.grpc_plug import GrpcPlug

    plug = GrpcPlug(server)
    try:
        answer = plug.call("to_wire", "openai_chat", {"request": {"messages": 7}})
        nowhere = plug.call("to_wire", "no_such_adapter", {"request": {"messages": []}})
    finally:
        plug.close()

    assert answer.error is not None and answer.error["category"] == "invalid_request"
    assert nowhere.error is not None


def test_a_server_that_is_started_here_generates_on_every_wire(capsys: pytest.CaptureFixture[str]) -> None:
    """Its providers are all at the scripted upstream: what it sends, streams, breaks off and times out."""
    exchanges = [argument for wire in adapters.names() for argument in ("-k", f"{wire}/text-basic#generate*")]
    rows = ["-k", "anthropic_messages/errors#*:generate", "-k", "estimate/ollama*"]

    status = main(["run", "--profile", "service", *exchanges, *rows, "--serve", "--", *SERVE])

    told = capsys.readouterr().out
    assert status == 0, told
    assert "service                      conforms" in told
    assert " 0 unsupported" in told
