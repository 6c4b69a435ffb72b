"""`interlingua serve`: gRPC and HTTP in one process, each of which can be left out."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.session import get_session

from interlingua.access import digest
from interlingua.spending import PERIOD_S
from tests.gateway import wires

COMMAND = [sys.executable, "-m", "interlingua", "serve", "--replay", "--json", "--log-level", "error"]


@contextmanager
def served(*arguments: str) -> Iterator[tuple[dict[str, Any], "subprocess.Popen[str]"]]:
    """A server, and what it says of itself."""
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()), process
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors


def ask(port: int, **headers: str) -> Any:
    """The answer to a request of Anthropic's wire."""
    body = json.dumps(wires.body("anthropic_messages", model="replay:claude-sonnet-4-6")).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/messages", body, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def test_both_are_served_and_end_together() -> None:
    """Port 0 takes two free ones; SIGTERM ends both."""
    with served("--port", "0") as (about, _):
        assert about["port"] != about["http_port"]
        assert ask(about["http_port"])["type"] == "message"


def test_each_can_be_left_out() -> None:
    """What is said names what is served."""
    with served("--port", "0", "--no-http") as (about, _):
        assert "http_port" not in about
    with served("--http-port", "0", "--no-grpc") as (about, _):
        assert "port" not in about
        assert ask(about["http_port"])["type"] == "message"


def test_keys_of_a_file_are_asked_for(tmp_path: Path) -> None:
    """Without one a call is refused."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [{"name": "a", "sha256": digest("k-1")}]}))
    with served("--port", "0", "--keys", str(file)) as (about, _):
        assert ask(about["http_port"], **{"x-api-key": "k-1"})["type"] == "message"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(about["http_port"])


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_budget_survives_a_restart(tmp_path: Path, how: signal.Signals) -> None:
    """With a database; after a kill, what was spent more than two seconds before it."""
    file, database = tmp_path / "keys.json", tmp_path / "chats.db"
    row = {"name": "poor", "sha256": digest("k-1"), "budget_usd_per_day": "0.000001"}
    file.write_text(json.dumps({"keys": [row]}))
    arguments = ["--port", "0", "--keys", str(file), "--sessions", f"sqlite:///{database}"]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    about = json.loads(process.stdout.readline())
    assert ask(about["http_port"], **{"x-api-key": "k-1"})["type"] == "message"
    if how is signal.SIGKILL:
        time.sleep(2 * PERIOD_S)
    process.send_signal(how)
    process.communicate(timeout=20)
    with served(*arguments) as (about, _), pytest.raises(urllib.error.HTTPError, match="402"):
        ask(about["http_port"], **{"x-api-key": "k-1"})


def test_clients_of_aws_sign_with_what_a_key_gives(tmp_path: Path) -> None:
    """`interlingua key` tells what follows from a key of the file, `serve` takes what is signed with it."""
    file, secret = tmp_path / "keys.json", tmp_path / "secret"
    file.write_text(json.dumps({"keys": [{"name": "a", "sha256": digest("k-1")}]}))
    secret.write_text("x" * 40)
    shared = ["--keys", str(file), "--signing-secret", str(secret)]
    told = subprocess.run([*COMMAND[:3], "key", "a", *shared, "--json"], capture_output=True, check=True)
    credentials = json.loads(told.stdout)["aws"]
    with served("--port", "0", *shared) as (about, _):
        client = get_session().create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=f"http://127.0.0.1:{about['http_port']}",
            aws_access_key_id=credentials["access_key_id"],
            aws_secret_access_key=credentials["secret_access_key"],
        )
        asked = [{"role": "user", "content": [{"text": "What is a ULID?"}]}]
        answer = client.converse(modelId="replay:claude-sonnet-4-6", messages=asked)
        client.close()
        assert answer["output"]["message"]["role"] == "assistant"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "0.0.0.0", "--port", "0"), "loopback"),
        (("--no-http", "--no-grpc"), "--no-http"),
        (("--no-http", "--http-port", "0"), "--no-http"),
        (("--port", "0", "--keys", "/nonexistent.json"), "cannot read the keys"),
        (("--port", "0", "--passthrough"), "--passthrough calls real providers"),
        (("--port", "0", "--otel-propagate"), "--otel-propagate needs --otel"),
        (("--port", "0", "--signing-secret", "/nonexistent"), "--keys"),
    ],
)
def test_what_cannot_be_served_says_why(arguments: tuple[str, ...], words: str) -> None:
    """One line, and the status of wrong usage."""
    done = subprocess.run([*COMMAND[:-3], *arguments], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_spans_are_sent_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """To a collector that is named by the standard variable, the last ones when the server ends; and logs are JSON."""
    pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            assert self.path == "/v1/traces"
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "gateway-of-a-test")
        words = ("--http-port", "0", "--no-grpc", "--otel", "--log-level", "info", "--log-format", "json")
        process = subprocess.Popen([*COMMAND[:-2], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        ask(json.loads(process.stdout.readline())["http_port"])
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
        collector.shutdown()
    assert process.returncode == 0
    sent = [ExportTraceServiceRequest.FromString(body) for body in received]
    resources = [resource for one in sent for resource in one.resource_spans]
    names = {span.name for resource in resources for scope in resource.scope_spans for span in scope.spans}
    assert names == {"POST /v1/messages", "route", "chat claude-sonnet-4-6"}
    told = {one.key: one.value.string_value for resource in resources for one in resource.resource.attributes}
    assert told["service.name"] == "gateway-of-a-test"
    lines = [json.loads(line) for line in errors.splitlines()]
    (ended,) = [line for line in lines if line["message"].startswith("anthropic_messages")]
    assert {"time", "level", "logger", "call_id", "key", "trace_id", "span_id"} <= ended.keys()


@pytest.mark.parametrize("form", ["text", "json"])
def test_events_are_logged_where_their_fields_are_shown(form: str) -> None:
    """spec/9-service.md#log-lines."""
    words = ("--port", "0", "--log-level", "info", "--log-format", form)
    process = subprocess.Popen([*COMMAND[:-2], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ask(json.loads(process.stdout.readline())["http_port"])
    process.send_signal(signal.SIGTERM)
    lines = process.communicate(timeout=20)[1].splitlines()
    assert [line for line in lines if "→ replay:claude-sonnet-4-6: 200" in line]
    decided = [line for line in lines if "route.decided" in line]
    if form == "text":
        assert decided == []
    else:
        (entry,) = map(json.loads, decided)
        assert entry["level"] == "info"
        assert entry["event"]["payload"]["chosen_model"] == "replay:claude-sonnet-4-6"


STRANGE = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}


def test_what_a_stranger_is_told() -> None:
    """Without a key and a policy: where the page is, that no key is there, and at each mistake what to write instead."""
    command = [sys.executable, "-m", "interlingua", "serve", "--no-grpc", "--http-port", "0"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        place = second.removeprefix("the page: ").strip()
        assert first == f"serving HTTP on {place.removeprefix('http://').removesuffix('/')}\n"

        def told(path: str, body: Any = None, method: str | None = None, type: str = "application/json") -> str:
            data = None if body is None else json.dumps(body).encode()
            asked = urllib.request.Request(f"{place}{path}", data, {"content-type": type}, method=method)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=20)
            found = json.loads(refused.value.read())
            return found.get("error", found)["message"]

        page = urllib.request.Request(place, headers={"accept": "text/html"})
        with urllib.request.urlopen(page, timeout=20) as answer:
            assert answer.read().startswith(b"<!doctype html>")
        bare = told("v1/messages", STRANGE | {"model": "gpt-5.4"})
        assert "set ANTHROPIC_API_KEY" in bare
        assert "write openai:gpt-5.4" in bare
        assert "write provider:name" in told("v1/messages", STRANGE | {"model": "gpt-99", "stream": True})
        named = told("v1/messages", STRANGE | {"model": "openai:gpt-5.4"})
        assert named.endswith("set OPENAI_API_KEY")
        assert told("v1/messages") == "/v1/messages is served with POST, not with GET"
        elsewhere = told("v1/complete", {})
        for path in ("/v1/messages", "/v1/chat/completions", "/v1/responses", "/api/chat", "/v2/chat"):
            assert f"POST {path}" in elsewhere
        assert "application/json" in told("interlingua.v1.InterlinguaService/Adapt", {}, type="text/plain")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=20)
    assert "interlingua providers" in log
    assert "anthropic_messages gpt-5.4 → anthropic:gpt-5.4: 502 authentication in" in log
    assert "anthropic_messages GET /v1/messages from 127.0.0.1: 405 invalid_request" in log
