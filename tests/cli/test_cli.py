"""The command line, run as a process."""

import os
import re
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlingua.access import Key, digest, read_keys
from interlingua.canonical import json
from interlingua.client.replay import exchanges

ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-4-8",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "text", "text": "I see."},
            ],
        },
        {"role": "user", "content": "What?"},
    ],
}
CANONICAL = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}


def run(*arguments: str, given: Any = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command; `given` is its standard input."""
    data = given if isinstance(given, bytes) else b"" if given is None else json.dumps(given)
    return subprocess.run(
        [sys.executable, "-m", "interlingua", *arguments],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_adapt_carries_errors() -> None:
    """The input is a body, a response with its status, or a canonical error; the output is a whole response, and can be
    the input again."""
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
    chat = run("adapt", "--kind", "error", "--from", "anthropic_messages", "--to", "openai_chat", given=body)
    answer = json.loads(chat.stdout)
    assert (chat.returncode, answer["status"], answer["headers"]) == (0, 503, {"x-request-id": "req_1"})
    assert answer["body"]["error"]["message"] == "Overloaded"
    back = run("adapt", "--kind", "error", "--from", "openai_chat", given=answer)
    assert json.loads(back.stdout)["category"] == "overloaded"
    assert "raw" not in json.loads(back.stdout)
    raw = run("adapt", "--kind", "error", "--from", "openai_chat", "--raw", given=answer)
    assert json.loads(raw.stdout)["raw"] == answer["body"]
    error = {"category": "internal", "message": "a bug", "retryable": False}
    told = run("adapt", "--kind", "error", "--to", "ollama_chat", "--json", given=error)
    assert [entry["path"] for entry in json.loads(told.stdout)["loss"]] == ["/category", "/retryable"]
    strict = run("adapt", "--kind", "error", "--to", "ollama_chat", "--strict", "weakened", given=error)
    assert (strict.returncode, strict.stdout) == (3, b"")
    page = run("adapt", "--kind", "error", "--from", "gemini_generate", given=b"<html>502</html>")
    assert page.returncode == 0


def test_nesting_without_end_is_one_line() -> None:
    """A schema with a depth of four hundred is refused or carried, without a traceback."""
    deep: Any = {"type": "string"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    given = {**CANONICAL, "tools": [{"name": "f", "input_schema": deep}]}
    told = run("adapt", "--to", "ollama_chat", given=given)
    assert told.returncode in (0, 2)
    assert len(told.stderr.splitlines()) <= 1


def test_adapt_prints_the_wire() -> None:
    """The body is on standard output, the report on standard error when it is requested."""
    plain = run("adapt", "--from", "anthropic_messages", "--to", "openai_chat", given=ANTHROPIC)
    assert plain.returncode == 0
    assert plain.stderr.startswith(b"interlingua: 1 lost, 1 weakened")
    body = json.loads(plain.stdout)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    told = run("adapt", "--from", "anthropic_messages", "--to", "openai_chat", "--loss", given=ANTHROPIC)
    assert told.stdout == plain.stdout
    assert b"/messages/2/content/0" in told.stderr
    assert b"lost" in told.stderr


def test_adapt_as_json_gives_wire_and_report(tmp_path: Path) -> None:
    """`--json` prints the wire and the report, for a file as the input."""
    file = tmp_path / "request.json"
    file.write_bytes(json.dumps(ANTHROPIC))
    done = run("adapt", "--from", "anthropic_messages", "--to", "openai_chat", "--json", str(file))
    answer = json.loads(done.stdout)
    assert answer["wire"]["method"] == "POST"
    assert {"lost", "weakened"} <= {entry["severity"] for entry in answer["loss"]}
    to_canonical = run("adapt", "--from", "anthropic_messages", str(file))
    assert json.loads(to_canonical.stdout)["messages"][0]["role"] == "system"


@pytest.mark.parametrize(("strict", "status"), [("lost", 3), ("weakened", 3)])
def test_strict_refuses_with_the_report(strict: str, status: int) -> None:
    """Status 3, nothing on standard output; the report is on standard error, or in the error as JSON."""
    arguments = ("adapt", "--from", "anthropic_messages", "--to", "openai_chat", "--strict", strict)
    done = run(*arguments, given=ANTHROPIC)
    assert (done.returncode, done.stdout) == (status, b"")
    assert b"/messages/2/content/0" in done.stderr
    error = json.loads(run(*arguments, "--json", given=ANTHROPIC).stdout)["error"]
    assert error["category"] == "loss_refused"
    assert error["loss"]


def test_a_call_that_nobody_answered_is_closed_when_asked() -> None:
    call = {"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}
    request = {"messages": [CANONICAL["messages"][0], {"role": "assistant", "content": [call]}]}
    refused = run("adapt", "--to", "openai_chat", given=request)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"/messages/1/content/0" in refused.stderr
    closed = run("adapt", "--to", "openai_chat", "--unanswered", "placeholder", given=request)
    assert [message["role"] for message in json.loads(closed.stdout)["messages"]] == ["user", "assistant", "tool"]


def test_strict_lets_pass_what_loses_nothing() -> None:
    """The same wire is no loss."""
    done = run(
        "adapt",
        "--from",
        "anthropic_messages",
        "--to",
        "anthropic_messages",
        "--strict",
        "representation",
        given=ANTHROPIC,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout) == ANTHROPIC


def test_adapt_answers_and_streams() -> None:
    """The other kinds."""
    exchange = exchanges()[0]
    body = exchange.answer("anthropic_messages", stream=False)
    done = run("adapt", "--kind", "response", "--from", "anthropic_messages", "--to", "openai_chat", given=body)
    assert json.loads(done.stdout)["choices"][0]["finish_reason"] == "tool_calls"
    stream = exchange.answer("anthropic_messages", stream=True)
    done = run("adapt", "--kind", "stream", "--from", "anthropic_messages", given=stream)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["type"] == "message_complete"
    done = run("adapt", "--kind", "stream", "--to", "openai_chat", given=done.stdout)
    assert done.stdout.endswith(b"data: [DONE]\n\n")


def test_answers_and_streams_tell_what_they_lose_and_are_refused() -> None:
    """The report is that of the whole response; nothing of a refused stream is written."""
    exchange = exchanges()[0]
    for kind in ("response", "stream"):
        body = exchange.answer("anthropic_messages", stream=kind == "stream")
        arguments = ("adapt", "--kind", kind, "--from", "anthropic_messages", "--to", "openai_chat")
        assert b"/message/content/0" in run(*arguments, "--loss", given=body).stderr
        assert b"use --loss for the report" in run(*arguments, given=body).stderr
        refused = run(*arguments, "--strict", "lost", given=body)
        assert (refused.returncode, refused.stdout) == (3, b"")
        assert b"/message/content/0" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        (("adapt", "--to", "openai_chat"), b"{", b"not valid JSON"),
        (("adapt", "--to", "openai_chat"), {"messages": [{"role": "user"}]}, b"/messages/0"),
        (("adapt", "--to", "nope"), CANONICAL, b"no adapter"),
        (("adapt", "--strict", "very"), CANONICAL, b"--strict takes"),
        (("adapt", "--unanswered", "guess"), CANONICAL, b"--unanswered takes"),
        (("adapt", "no-such-file.json"), None, b"cannot read"),
        (("adapt", "--to", "openai_chat"), b"[]", b"at the root"),
        (("adapt", "--to", "openai_chat", "--provider", "nowhere"), CANONICAL, b"no provider"),
        (("adapt", "--state-in-ids"), CANONICAL, b"--to"),
        (("generate", "hello", "--model", "nowhere:x"), None, b"no provider"),
        (("generate", "hello"), None, b"/model"),
        (("generate",), None, b"one of the two"),
        (("check", "--type", "Nothing"), b"{}", b"no type"),
        (("cost", "nowhere:x"), None, b"no provider"),
        (("models", "--provider", "nowhere"), None, b"no provider"),
        (("models", "--capability", "flight"), None, b"supports_images"),
        (("serve", "--tls-cert", "alone.pem"), None, b"--tls-key"),
        (("nonsense",), None, b"No such command"),
        (("adapt", "--bogus"), None, b"No such option"),
    ],
)
def test_errors_are_a_line(arguments: tuple[str, ...], given: Any, words: bytes) -> None:
    """The error states what, where, and what to do, without a traceback."""
    done = run(*arguments, given=given)
    assert done.returncode in (1, 2)
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(b"interlingua: ")
    assert words in lines[0]


def test_errors_as_json() -> None:
    """A canonical error object on standard output."""
    done = run("adapt", "--to", "openai_chat", "--json", given={"messages": [{"role": "user"}]})
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["category"], error["path"]) == (2, "invalid_request", "/messages/0")


def test_generate() -> None:
    """Streamed text, the whole response, and events, from the embedded provider."""
    done = run("generate", "--model", "replay:gpt-5.4", "hello")
    assert done.stdout.startswith(b"This answer was recorded")
    assert b"$" in done.stderr
    whole = json.loads(run("generate", "-m", "replay:gpt-5.4", "--json", "hello").stdout)
    assert whole["message"]["content"][0]["text"].encode() == done.stdout.rstrip()
    events = run(
        "generate",
        "-m",
        "anthropic:claude-opus-4-8",
        "--replay",
        "--json",
        "--stream",
        "--request",
        "-",
        given=CANONICAL,
    )
    assert json.loads(events.stdout.splitlines()[-1])["response"]["model"] == "anthropic:claude-opus-4-8"


def test_generate_along_a_chain() -> None:
    """The next model answers, and the reason is printed; an unknown retry policy is refused."""
    closed = {"OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_API_KEY": "none"}
    chain = ("generate", "--retry", "none", "--model", "openai:gpt-4.1,replay:gpt-5.4", "hello")
    done = run(*chain, **closed)
    assert done.stdout.startswith(b"This answer was recorded")
    assert b"openai:gpt-4.1 skipped: network" in done.stderr
    assert run("generate", "--retry", "ever", "--model", "replay:gpt-5.4", "hello").returncode == 2


def test_route() -> None:
    """The winner, the chain and the candidates."""
    given = {**CANONICAL, "model": "replay:claude-opus-4-8"}
    shown = run("route", given=given)
    assert b"replay:claude-opus-4-8" in shown.stdout
    assert b"chose" in shown.stdout
    answer = json.loads(run("route", "--json", "--model", "replay:gpt-5.4", given=CANONICAL).stdout)
    assert answer["decision"]["chosen_model"] == "replay:gpt-5.4"
    assert answer["candidates"][0]["loss"] == []


def test_route_with_the_context_of_the_turn(tmp_path: Path) -> None:
    """The context of the turn decides; an invalid context is reported in one line."""
    context = tmp_path / "context.json"
    context.write_bytes(json.dumps({"delegate": {"model": "replay:gpt-5.4"}}))
    answer = json.loads(run("route", "--json", "--context", str(context), given=CANONICAL).stdout)
    assert (answer["decision"]["chosen_model"], answer["decision"]["policy"]) == ("replay:gpt-5.4", "delegate_request")
    context.write_bytes(b'{"mood": "good"}')
    wrong = run("route", "--context", str(context), given=CANONICAL)
    assert wrong.returncode == 2
    assert b"'mood'" in wrong.stderr
    context.write_bytes(b"[]")
    assert b"must be an object" in run("route", "--context", str(context), given=CANONICAL).stderr
    context.write_bytes(b'{"delegate": "replay:gpt-5.4"}')
    assert b"at /context/delegate" in run("route", "--context", str(context), given=CANONICAL).stderr


def test_a_policy_that_is_not_valid_is_told_before_anything_is_served(tmp_path: Path) -> None:
    """Otherwise each call would fail, and the operator would not know the reason."""
    policy = tmp_path / "policy.json"
    policy.write_bytes(b'{"mood": "good"}')
    done = run("serve", "--port", "0", "--policy", str(policy))
    assert done.returncode == 2
    assert b"(at /mood)" in done.stderr
    assert not done.stdout


def test_the_policy_of_the_examples_routes() -> None:
    """The README serves with this policy."""
    policy = Path(__file__).parents[2] / "examples" / "policy.json"
    done = run("route", "--replay", "--json", "--policy", str(policy), given=CANONICAL)
    assert done.returncode == 0, done.stderr


def test_an_address_that_cannot_be_used_is_told() -> None:
    """The error is one line, with the reason."""
    for words, why in (
        (("--unix", "no-such-folder/socket"), b"there is no folder no-such-folder"),
        (("--unix", "."), b"the file exists and is not a socket"),
        (("--unix", "x" * 120), b"at most 107 bytes"),
        (("--host", "a..b", "--port", "0"), b"the host name or the port is not valid"),
        (("--host", "192.0.2.1", "--port", "0"), b"Cannot assign requested address"),
    ):
        done = run("serve", *words)
        assert done.returncode == 2
        assert done.stderr.startswith(b"interlingua: cannot listen on ")
        assert why in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_a_server_whose_address_nobody_learns_ends() -> None:
    """The output cannot be written: the error is one line, and no message of the server follows."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no full device")
    with full.open("wb") as out:
        done = subprocess.run(
            [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--replay", "--log-level", "error"],
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"interlingua: cannot write the output: No space left on device\n"


def test_who_interrupts_gets_no_traceback() -> None:
    """An interrupt ends a command in the middle of its work."""
    with subprocess.Popen(
        [sys.executable, "-m", "interlingua", "plug"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a job in the background of a shell would ignore interrupts; there are no threads here
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(b'{"id":1,"op":"hello"}\n')
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr.read() == b""


def test_slips_are_told() -> None:
    """An empty model name would be sent as a name; arguments after `plug` would be ignored."""
    done = run("adapt", "--to", "openai_chat", "--model", "", given=CANONICAL)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--model is empty" in done.stderr
    assert run("plug", "extra").returncode == 2


def test_alone_it_tells_how_it_is_used() -> None:
    """Without arguments the command prints its usage, and no error."""
    done = run()
    assert b"Usage" in done.stdout + done.stderr
    assert b"interlingua: ;" not in done.stderr


def test_check() -> None:
    """Status 0 for a valid value, 2 with the violations for an invalid one."""
    assert run("check", given=CANONICAL).returncode == 0
    done = run("check", "--type", "Message", "--json", given={"role": "tool", "content": []})
    assert done.returncode == 2
    assert json.loads(done.stdout)["violations"]


def test_cost() -> None:
    """Exact money, for counts, for a usage in a file, and for a request."""
    done = run("cost", "anthropic:claude-sonnet-4-6", "--input", "8", "--output", "42", "--version", "2026-05-08")
    assert b"0.000654 USD" in done.stdout
    done = run("cost", "openai:gpt-4.1", "-", "--json", given={"input_tokens": 1, "output_tokens": 1})
    assert json.loads(done.stdout)["usage"]["cost_usd"] == "0.00001"
    done = run("cost", "openai:gpt-4.1", "-", "--json", given=CANONICAL)
    assert json.loads(done.stdout)["usage"]["estimated"] is True
    assert b"unpriced" in run("cost", "openrouter:x", "--input", "1").stdout


def test_models() -> None:
    """The output is a table, or JSON for programs."""
    assert b"anthropic:claude-opus-4-8" in run("models", "--provider", "anthropic").stdout
    table = run("models", "--provider", "xai").stdout.decode()
    assert "no key: set XAI_API_KEY" in table
    assert "2.00+" in table
    assert "unpriced" in run("models", "--provider", "deepseek").stdout.decode()
    listed = json.loads(run("models", "--json", "--capability", "supports_images").stdout)["models"]
    assert {"id", "capabilities", "price", "configured"} <= listed[0].keys()


@pytest.mark.parametrize("command", ["adapt", "route", "generate", "serve", "check", "plug", "models", "cost"])
def test_every_command_has_help(command: str) -> None:
    """The output is short, and the status is 0."""
    done = run(command, "--help")
    assert done.returncode == 0
    assert b"Usage" in done.stdout


def test_the_plug_starts_without_the_rest() -> None:
    """The plug is started often, so it loads neither typer, rich, grpc nor httpx."""
    code = (
        "import sys; sys.argv = ['interlingua', 'plug']; from interlingua.__main__ import main; main();"
        "print([name for name in ('typer', 'rich', 'grpc', 'httpx', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"id":1,"op":"hello"}\n', capture_output=True, timeout=60, check=False
    )
    hello, loaded = done.stdout.splitlines()
    assert json.loads(hello)["output"]["protocol"] == 1
    assert loaded == b"[]"


def test_the_demo_runs() -> None:
    """The whole demonstration, piped: every part is present, no line is too wide, and it ends in time."""
    done = subprocess.run(
        [sys.executable, "-m", "interlingua.demo"],
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    for words in ("(a) Adapt", "(b) Route", "(c) Generate", "equal to what came in", "exactly", "status 0"):
        assert words in shown
    assert "NOT equal" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 100
    # the parts of the output agree with each other
    calls = re.findall(r"the prompt took (\d+); (\d+)–(\d+) were expected", shown)
    assert len(calls) == 4
    for taken, low, high in calls:
        assert int(low) <= int(taken) <= int(high)
    pieces = re.search(r"What became of each piece: (.*), \d+ kept", shown)
    assert pieces is not None
    assert f"\n{pieces[1]}\n" in shown
    assert shown.count(pieces[1]) >= 3  # the pieces, the report, and the candidates of the route


# ------------------------------------------------------------------------------------------------ names, records, files


def test_adapt_takes_the_names_of_providers_and_models() -> None:
    """They are accepted wherever a wire is; a body of another wire is reported as such, even when it could be read."""
    same = [run("adapt", "--from", name, "--to", "openai_chat", given=ANTHROPIC).stdout for name in NAMES]
    assert same[0] == same[1]
    assert json.loads(run("adapt", "--to", "sonnet", given=CANONICAL).stdout)["model"].startswith("claude-sonnet")
    gemini = {"contents": [{"parts": [{"text": "hi"}]}]}
    refused = run("adapt", "--from", "anthropic", given=gemini)
    assert (refused.returncode, b"it looks like a request of gemini_generate" in refused.stderr) == (2, True)
    read = run("adapt", "--from", "openai", "--to", "gemini", given=ANTHROPIC)
    assert read.returncode == 0
    assert b"was read as openai_chat, but it looks like a request of anthropic_messages" in read.stderr
    stream = b'{"model":"m","message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}\n'
    refused = run("adapt", "--kind", "stream", "--from", "anthropic", given=stream)
    assert b"it looks like a stream of ollama_chat" in refused.stderr


NAMES = ("anthropic", "anthropic_messages")


def test_a_byte_order_mark_is_no_part_of_the_input() -> None:
    """Editors on Windows write a byte order mark."""
    plain, marked = (run("adapt", "--to", "openai_chat", given=mark + json.dumps(CANONICAL)) for mark in (b"", BOM))
    assert plain.stdout == marked.stdout != b""


BOM = b"\xef\xbb\xbf"
POLICY = """\
version: 1
aliases: {deep: "anthropic:claude-opus-5-5"}
global:
  default: deep
  rules:
    - name: no
      when: {time_of_day_between: [00:00, 23:59]}
      use: haiku
"""


def test_a_decision_is_recorded_and_made_again(tmp_path: Path) -> None:
    """The policy is in YAML; the record shows whether the decision is still the same."""
    policy, record = tmp_path / "policy.yaml", tmp_path / "record.json"
    policy.write_text(POLICY)
    key = {"ANTHROPIC_API_KEY": "k"}
    done = run("route", "--policy", str(policy), "--record", str(record), "--json", given=CANONICAL, **key)
    decision = json.loads(done.stdout)["decision"]
    assert (decision["policy"], decision["record"]["rule_name"]) == ("rule", "no")
    again = run("route", "--decision", str(record), "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, {"decision": decision, "same": True})
    held = json.loads(record.read_bytes())
    held["decision"]["chosen_model"] = "anthropic:another"
    record.write_bytes(json.dumps(held))
    other = run("route", "--decision", str(record))
    assert (other.returncode, b"differs from the recorded one" in other.stderr) == (1, True)
    record.write_bytes(json.dumps(held["input"]))
    assert json.loads(run("route", "--decision", str(record), "--json").stdout) == {"decision": decision}
    assert run("route", "--decision", str(policy)).returncode == 2


def test_route_shows_what_each_slot_said_when_no_model_is_left(tmp_path: Path) -> None:
    """It is printed on standard error, before the error itself."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    assert b"interlingua: no model" in run("route", given=CANONICAL).stderr
    done = run("route", "--policy", str(policy), given=CANONICAL, ANTHROPIC_API_KEY="")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"rejected") == 2
    assert b"global_default" in done.stderr


def test_answers_are_priced_again(tmp_path: Path) -> None:
    """Each response is priced by the named table, next to its recorded cost."""
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "cost_usd": "7", "pricing_version": "2020-01-01"}
    answer = {"model": "anthropic:claude-sonnet-4-6", "usage": usage}
    file = tmp_path / "answers.jsonl"
    file.write_bytes(json.dumps(answer) + b"\n" + json.dumps({**answer, "model": "ollama:unknown"}) + b"\n")
    first, _, total = run("cost", "--reprice", str(file), "--version", "2026-05-08").stdout.decode().splitlines()
    assert first == (
        "anthropic:claude-sonnet-4-6: 1000000 in: was 7 USD (prices of 2020-01-01) → 3 USD (prices of 2026-05-08)"
    )
    assert total == "total 7 USD → 3 USD; 1 of 2 have no known price on one side"
    rows = json.loads(run("cost", "--reprice", str(file), "--json").stdout)["answers"]
    assert [row["recorded"]["cost_usd"] for row in rows] == ["7", "7"]
    assert run("cost", "sonnet", "--reprice", str(file)).returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str) -> None:
    """The script for each shell, and the completions that the shell then gets."""
    assert b"_INTERLINGUA_COMPLETE" in run("completion", shell).stdout
    asked = {
        "bash": {"COMP_WORDS": "interlingua ad", "COMP_CWORD": "1"},
        "zsh": {"_TYPER_COMPLETE_ARGS": "interlingua ad"},
        "fish": {"_TYPER_COMPLETE_ARGS": "interlingua ad", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    told = run(_INTERLINGUA_COMPLETE=f"complete_{shell}", **asked)
    assert b"adapt" in told.stdout, told
    assert b"models" not in told.stdout


def test_the_files_of_a_server_are_checked(tmp_path: Path) -> None:
    """What is doubtful is told, and valid."""
    policy, keys = tmp_path / "policy.yaml", tmp_path / "keys.json"
    policy.write_text("serve: {a: 'openai:gpt-77'}\n")
    row = {"name": "team", "sha256": "0" * 64, "models": ["anthropc:*", "*sonnet*", "openai:*"]}
    keys.write_bytes(json.dumps({"keys": [row]}))
    done = run("check", "--type", "Policy", str(policy))
    assert (done.returncode, done.stdout) == (0, b"valid policy\n")
    assert b"doubtful: the registry does not list openai:gpt-77" in done.stderr
    done = run("check", "--type", "Keys", str(keys))
    assert (done.returncode, done.stdout) == (0, b"valid keys\n")
    assert done.stderr.count(b"doubtful") == 1
    assert b"the pattern anthropc:* of the key team matches no model; did you mean anthropic:*?" in done.stderr

    policy.write_text("sevre: {}\n")
    done = run("check", "--type", "Policy", str(policy))
    assert done.returncode == 2
    assert done.stdout.startswith(b"/sevre: there is no such member; did you mean serve?")
    keys.write_bytes(json.dumps({"keys": [{**row, "modles": []}]}))
    done = run("check", "--type", "Keys", str(keys), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["violations"][0]["path"] == "/keys/0/modles"


def test_a_key_is_made_with_its_limits(tmp_path: Path) -> None:
    """The row goes into the file of keys, whose other rows stay; the key itself is stored nowhere."""
    file = tmp_path / "keys.json"
    limits = ["--tenant", "acme", "--model", "anthropic:*", "--model", "openai:gpt-5*", "--calls-per-minute", "60"]
    limits += ["--tokens-per-minute", "1e5", "--budget", "5.00", "--allow-unpriced", "--all-metrics"]
    first = run("key", "first", "--add-to", str(file))
    assert first.returncode == 0, first.stderr
    file.chmod(0o640)
    made = run("key", "second", *limits, "--add-to", str(file), "--json")
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o640
    [one, two] = read_keys(file)
    assert (one.name, one.digest) == ("first", digest(first.stdout.decode().strip()))
    key = json.loads(made.stdout)["key"]
    assert two == Key(
        "second", digest(key), "acme", ("anthropic:*", "openai:gpt-5*"), 60, 1e5, Decimal("5.00"),
        allow_unpriced=True, all_metrics=True,
    )  # fmt: skip
    assert key.encode() not in file.read_bytes()

    before = file.read_bytes()
    for arguments, place in (
        (["second"], b"two keys have the same name"),
        (["third", "--budget", "five"], b"/keys/0/budget_usd_per_day"),
        (["third", "--allow-unpriced"], b"allow_unpriced needs a budget_usd_per_day"),
    ):
        refused = run("key", *arguments, "--add-to", str(file))
        assert refused.returncode == 2
        assert place in refused.stderr
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]
