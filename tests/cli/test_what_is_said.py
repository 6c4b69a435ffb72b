"""The error messages of the command line: one line, with the place and the remedy."""

import io
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from interlingua import SyncSessions, __version__, cli
from interlingua.canonical import json
from interlingua.client.replay import exchanges

from .test_cli import CANONICAL

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "VERTEX_ACCESS_TOKEN", "FOREMAN_BASE_URL")


def run(*arguments: str, given: Any = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in this process, which is faster; `given` is its standard input."""
    data = given if isinstance(given, bytes) else b"" if given is None else json.dumps(given)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"COLUMNS": "100", **environment}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        status = cli.run(arguments)
    written: list[bytes] = []
    for stream in (out, err):
        stream.flush()
        written.append(stream.buffer.getvalue())
    return subprocess.CompletedProcess(arguments, status, *written)


def shell(command: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `interlingua` with redirections."""
    line = f'"{sys.executable}" -m interlingua {command}'
    return subprocess.run(["bash", "-c", line], input=given, capture_output=True, timeout=60, check=False)


def line_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the only line on standard error."""
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


# ------------------------------------------------------------------------------------------------ where it is written


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("command", ["adapt --to openai_chat", "models", "plug"])
def test_output_that_cannot_be_written(command: str) -> None:
    """This holds for bytes, tables and the responses of the plug."""
    given = b'{"id":1,"op":"hello"}\n' if command == "plug" else json.dumps(CANONICAL)
    done = shell(f"{command} > /dev/full", given)
    assert done.returncode == 1
    assert line_of(done) == "interlingua: cannot write the output: No space left on device"


def test_output_that_is_closed() -> None:
    """Input too; but a reader that closes the pipe is not an error."""
    assert "standard output is closed" in line_of(shell("check >&-", json.dumps(CANONICAL)))
    assert "standard input is closed" in line_of(shell("check <&-"))
    done = shell("models | head -n 1; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("module", "extra", "arguments"), [("typer", "cli", ["--help"]), ("rich", "cli", ["models"])])
def test_an_extra_that_is_not_installed_is_named(module: str, extra: str, arguments: list[str]) -> None:
    """It is reported without a traceback."""
    code = f"import sys; sys.modules['{module}'] = None; sys.argv = ['interlingua', *{arguments!r}]\n"
    code += "from interlingua.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"pip install 'interlingua[{extra}]'" in line_of(done)


def test_usage_errors_are_json_where_json_is_asked_for() -> None:
    """It is reported like every other error."""
    for arguments in (("nonsense", "--json"), ("adapt", "--bogus", "--json")):
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (2, b"")
        assert json.loads(done.stdout)["error"]["category"] == "invalid_request"


def test_usage_errors_name_the_help_of_their_command() -> None:
    """The error of a database that cannot be opened names what to check."""
    assert line_of(run("launch")).endswith("see interlingua launch --help")
    assert line_of(run("nonsense")).endswith("see interlingua --help")
    lost = run("serve", "--port", "0", "--sessions", "sqlite:////nonexistent/chats.db")
    assert lost.returncode == 1
    assert "its folder must exist and be writable (SQLITE_CANTOPEN)" in line_of(lost)


# ------------------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "the text is empty"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b"<html>", "HTML"),
        (b'{"messages": [], "temperature": NaN}', "line 1, column 33"),
    ],
)
def test_a_file_that_is_no_json_is_named(text: bytes, words: str, tmp_path: Path) -> None:
    """The error has the remedy."""
    file = tmp_path / "request.json"
    file.write_bytes(text)
    told = line_of(run("adapt", "--to", "openai_chat", str(file)))
    assert f"{file}: not valid JSON: " in told
    assert words in told
    assert "standard input: not valid JSON" in line_of(run("check", given=text))


def test_all_places_of_a_policy_are_told_from_its_root(tmp_path: Path) -> None:
    """The first violation and the others are printed."""
    policy = tmp_path / "policy.json"
    policy.write_bytes(json.dumps({"aliases": {"a": "nowhere:x"}, "global": {"default": "nowhere:y"}}))
    told = run("route", "--policy", str(policy), given=CANONICAL).stderr.decode().splitlines()
    assert "(at /aliases/a)" in told[0]
    assert told[1].startswith("  also /global/default: ")


@pytest.mark.parametrize(
    "source", ["openai_chat", "anthropic_messages", "ollama_chat", "bedrock_converse", "canonical"]
)
@pytest.mark.parametrize("given", [b"", b"<html><body>502</body></html>", b"\xc6\x00\x10\xff" * 40])
def test_what_is_no_stream_is_refused(source: str, given: bytes) -> None:
    """Nothing is written, and the status shows it; with --json the error is an object."""
    done = run("adapt", "--kind", "stream", "--from", source, given=given)
    assert (done.returncode, done.stdout) == (2, b"")
    assert line_of(done).startswith("interlingua: ")


def test_a_stream_that_broke_off_is_carried_and_told() -> None:
    """The reader of the output gets the error in the wire's format, and the caller of the command gets a status."""
    stream = exchanges()[0].answer("anthropic_messages", stream=True)
    half = stream[: len(stream) // 2]
    done = run("adapt", "--kind", "stream", "--from", "anthropic_messages", given=half)
    assert done.returncode == 1
    assert json.loads(done.stdout.splitlines()[-1])["type"] == "error"
    assert "the stream ends with an error" in line_of(done)
    refused = run("adapt", "--kind", "stream", "--from", "anthropic_messages", "--json", given=b"")
    assert json.loads(refused.stdout)["error"]["category"] == "invalid_request"


def test_the_dialect_of_the_input_is_that_of_its_provider() -> None:
    """Mistral writes its reasoning into the content; it is read only with Mistral's row of the registry."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    message = {"role": "assistant", "content": [thought, {"type": "text", "text": "yes"}]}
    answer = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    asked = ("adapt", "--kind", "response", "--from", "openai_chat")
    read = json.loads(run(*asked, "--from-provider", "mistral", given=answer).stdout)
    assert [block["type"] for block in read["message"]["content"]] == ["thinking", "text"]
    assert "does not have the wire" in line_of(run(*asked, "--from-provider", "anthropic", given=answer))
    assert "--from" in line_of(run("adapt", "--from-provider", "groq", given=CANONICAL))


def test_a_provider_that_does_not_speak_the_wire_is_refused() -> None:
    """It is an error, which names the wires that the provider has."""
    told = line_of(run("adapt", "--provider", "groq", "--to", "anthropic_messages", given=CANONICAL))
    assert told.endswith("groq does not have the wire anthropic_messages; it has openai_chat")


def test_check_finds_what_adapt_refuses() -> None:
    """Invalid base64 is found in a request and in a response; profiles apply to responses too."""
    image = {"type": "image", "media_type": "image/png", "source": {"kind": "base64", "data": "not base64!"}}
    done = run("check", given={"messages": [{"role": "user", "content": [image]}]})
    assert done.returncode == 2
    assert done.stdout.startswith(b"/messages/0/content/0/source/data: ")
    answer = {"message": {"role": "assistant", "content": [{"type": "text", "text": "x"}]}, "finish_reason": "stop"}
    assert run("check", "--type", "Response", given=answer).returncode == 0
    done = run("check", "--type", "Response", "--profile", "strict-004", given=answer)
    assert b"/message/metadata/model" in done.stdout
    assert "--profile applies to" in line_of(run("check", "--type", "Tool", "--profile", "strict-004", given={}))


# ------------------------------------------------------------------------------------------------ who is asked


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "variables"),
    [
        ("openai:gpt-5.4", ["OPENAI_API_KEY"]),
        ("azure-openai:x", ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"]),
        ("vertex:x", ["GOOGLE_CLOUD_PROJECT", "VERTEX_ACCESS_TOKEN"]),
        ("cloudflare:x", ["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"]),
        ("foreman:x", ["FOREMAN_BASE_URL"]),
    ],
)
def test_who_is_not_configured_is_told_with_what_to_set(model: str, variables: list[str]) -> None:
    """The error occurs before any provider is called."""
    done = run("generate", "-m", model, "hi")
    told = line_of(done)
    assert done.returncode == 2
    assert told.startswith(f"interlingua: the provider {model.partition(':')[0]} is not configured; ")
    assert all(variable in told for variable in variables)


def test_route_tells_what_is_lacking() -> None:
    """This also holds when no model is left."""
    *table, told = run("route", "-m", "openai:gpt-5.4", given=CANONICAL).stderr.decode().splitlines()
    assert any("manual_sticky" in line for line in table)
    assert "openai:gpt-5.4 (not_configured: no key: set OPENAI_API_KEY)" in told


def test_a_connection_that_failed_is_told_with_its_host() -> None:
    """An own base URL needs no key; the error names the unreachable address, without its secrets."""
    address = {"OPENAI_BASE_URL": "http://user:secret@127.0.0.1:9/v1"}
    told = line_of(run("generate", "-m", "openai:gpt-5.4", "--retry", "none", "hi", **address))
    assert told.startswith("interlingua: openai at 127.0.0.1:9: the connection to the provider failed")
    assert "secret" not in told


TOO_MANY = 99999
REFUSAL = {
    "error": {
        "message": "max_tokens is too large: 99999. This model supports at most 64000 tokens.",
        "type": "invalid_request_error",
        "param": "max_completion_tokens",
        "code": "invalid_value",
    }
}


class _Upstream(BaseHTTPRequestHandler):
    """A provider on the Chat wire whose answer breaks off with an error, and which refuses a request of many tokens."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("max_completion_tokens") == TOO_MANY:
            self.send_response(400)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(REFUSAL))
            return
        begun: dict[str, Any] = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half an"}}]}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for chunk in (begun, {"error": {"message": "overloaded", "type": "server_error"}}):
            self.wfile.write(b"data: " + json.dumps({"id": "x", "model": "m", **chunk}) + b"\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[str]:
    """Run the provider; yield its address."""
    server = HTTPServer(("127.0.0.1", 0), _Upstream)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_stream_that_fails_midway(upstream: str) -> None:
    """With --json the last event reports it, once; as text, the line of what had arrived is ended."""
    address = {"OPENAI_BASE_URL": upstream}
    done = run("generate", "-m", "openai:gpt-5.4", "--retry", "none", "--json", "--stream", "hi", **address)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [event["type"] for event in events].count("error") == 1
    assert events[-1]["type"] == "error"
    assert done.stderr == b""
    done = run("generate", "-m", "openai:gpt-5.4", "--retry", "none", "hi", **address)
    assert done.stdout == b"Half an\n"
    assert done.stderr.decode().splitlines() == [
        "interlingua: openai reported a failure (server_error): the provider failed; try again",
        "  openai: overloaded",
    ]


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_a_refusal_is_readable(upstream: str, stream: str) -> None:
    """The provider's message is shown to the user; its whole body only with --raw."""

    def refused(*more: str) -> subprocess.CompletedProcess[bytes]:
        asked = ("generate", "-m", "openai:gpt-5.4", "--max-tokens", str(TOO_MANY), "--retry", "none", stream)
        return run(*asked, *more, "hi", OPENAI_BASE_URL=upstream)

    lines = [
        "interlingua: openai answered 400 (invalid_value): the request was refused as invalid (at /max_completion_tokens)",
        f"  openai: {REFUSAL['error']['message']}",
    ]
    done = refused()
    assert (done.returncode, done.stderr.decode().splitlines()) == (1, lines)
    *shown, body = refused("--raw").stderr.decode().splitlines()
    assert (shown, json.loads(body)) == (lines, REFUSAL)
    error = json.loads(refused("--json").stdout)["error"]
    assert error["provider_message"] == REFUSAL["error"]["message"]
    assert "raw" not in error
    assert json.loads(refused("--json", "--raw").stdout)["error"]["raw"] == REFUSAL


# ------------------------------------------------------------------------------------------------ what is listed


def test_providers() -> None:
    """The table shows every row, its settings, and whether it can be called now, but no key."""
    environment = {"GROQ_API_KEY": "k-secret", "LLM_BOX": "vllm://box.example:8000", "LLM_BAD": "nope://h"}
    listed = run("providers", **environment)
    shown = listed.stdout.decode()
    for words in ("azure-openai", "AZURE_OPENAI_ENDPOINT", "foreman", "LLM_BOX", "groq · Groq · ready", "box · "):
        assert words in shown
    assert "secret" not in shown
    assert "LLM_BAD has the unknown scheme" in line_of(listed)
    rows = {row["name"]: row for row in json.loads(run("providers", "--json", **environment).stdout)["providers"]}
    assert rows["groq"]["configured"]
    assert rows["openai"]["missing"] == ["no key: set OPENAI_API_KEY"]
    assert rows["vllm"]["adapters"] == ["openai_chat", "anthropic_messages", "openai_responses"]
    assert rows["box"]["base_url"] == "https://box.example:8000/v1"
    assert [row["name"] for row in json.loads(run("providers", "groq", "--json").stdout)["providers"]] == ["groq"]


def test_a_provider_without_listed_models_is_told_as_such() -> None:
    """The message names the command that helps."""
    done = run("models", "--provider", "vllm")
    assert "lists no models of vllm" in line_of(done)
    assert "interlingua providers" in line_of(done)


# ------------------------------------------------------------------------------------------------ what it costs


def test_cost_and_route_count_alike() -> None:
    """One request, one likely price, whether it has a limit or not."""
    for limit in ({}, {"max_output_tokens": 50}, {"max_output_tokens": 4000}):
        request = {**CANONICAL, **limit}
        cost = json.loads(run("cost", "openai:gpt-4.1", "-", "--json", given=request).stdout)
        answer = run("route", "--replay", "-m", "openai:gpt-4.1", "--json", given=request)
        candidate = json.loads(answer.stdout)["candidates"][0]
        assert cost["estimated_cost_usd"] == candidate["estimated_cost_usd"]
        assert cost["usage"]["cost_usd"] == candidate["estimated_cost_usd"]["likely"]
        assert cost["estimated_tokens"] == candidate["estimated_tokens"]
    assert b"no limit given" in run("cost", "openai:gpt-4.1", "-", given=CANONICAL).stdout


def test_counts_and_a_file_are_two_questions(tmp_path: Path) -> None:
    """To give neither of them is an error too."""
    file = tmp_path / "usage.json"
    file.write_bytes(b'{"input_tokens": 1, "output_tokens": 1}')
    for arguments in ((str(file), "--input", "5"), (str(file), "--cached", "0"), ()):
        assert "give either counts" in line_of(run("cost", "openai:gpt-4.1", *arguments))


def test_brackets_are_shown_as_they_are() -> None:
    """Names and paths in a request are not read as markup."""
    request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "[bold]x": 1}]}]}
    assert "[bold]x" in run("adapt", "--to", "openai_chat", "--loss", given=request).stderr.decode()
    named = run("route", "--replay", "-m", "openai:m[red]", given=CANONICAL).stdout.decode()
    assert named.count("m[red]") == 3


def test_help_names_the_variables() -> None:
    """Where keys and addresses come from."""
    shown = run("--help", COLUMNS="200").stdout.decode()
    for words in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_", "interlingua providers"):
        assert words in shown


# ------------------------------------------------------------------------------------------------ of what wire


def test_the_input_of_a_wire_that_was_not_named_is_told_with_the_option_to_name_it() -> None:
    """Users often paste a provider's body without naming its wire."""
    chat = {"messages": [{"role": "user", "content": "hi"}]}
    said = line_of(run("adapt", "--to", "gemini_generate", given=chat))
    assert "openai_chat" in said
    assert said.endswith("choose one with --from (at /messages/0/content)")
    answer = {"content": [{"type": "text", "text": "hi"}], "role": "assistant", "type": "message", "stop_reason": None}
    assert "read as anthropic_messages" in line_of(run("adapt", "--kind", "response", given=answer))
    assert "--from" not in line_of(run("adapt", given={"nothing": 1}))


def test_the_version_is_told() -> None:
    assert run("--version").stdout.startswith(f"interlingua {__version__} (".encode())


def test_a_response_that_was_given_as_a_request_is_recognised() -> None:
    """The kind is a request by default; a request that is wrong gets no such hint."""
    answer = {"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": "Hi"}}]}
    done = run("adapt", "--from", "openai_chat", "--to", "anthropic_messages", given=answer)
    assert done.returncode == 2
    assert b"looks like a response of openai_chat" in done.stderr
    assert b"--kind response" in done.stderr
    wrong = run("adapt", "--from", "openai_chat", "--to", "ollama_chat", given={"model": "gpt-5.4", "messages": 3})
    assert wrong.returncode == 2
    assert b"--kind" not in wrong.stderr


def test_everything_is_never_deleted_by_age(tmp_path: Path) -> None:
    """An age of nothing would be everything."""
    database = tmp_path / "chats.db"
    with SyncSessions(f"sqlite:///{database}"):
        pass
    done = run("sessions", "purge", f"sqlite:///{database}", "--older-than", "0d")
    assert done.returncode == 2
    assert b"--everything" in done.stderr
