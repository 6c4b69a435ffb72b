"""`interlingua launch` and `interlingua key`, with a script in the place of an agent."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlingua.access import digest
from interlingua.cli.launch import summary
from interlingua.gateway.agents import WIRES, settings
from interlingua.gateway.calls import Call

AGENT = """#!{python}
import json, os, sys, urllib.request
body = {{"model": os.environ["ANTHROPIC_MODEL"], "max_tokens": 50, "messages": [{{"role": "user", "content": "What is a ULID?"}}]}}
headers = {{"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
answer = json.loads(urllib.request.urlopen(request).read())
print("said", answer["content"][0]["text"][:20], sys.argv[1:])
sys.exit(7)
"""


def run(*arguments: str, path: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line, with an agent that is a script in a folder."""
    environment = {**os.environ, **variables}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    command = [sys.executable, "-m", "interlingua", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """A folder with a script that is called as an agent is."""
    script = tmp_path / "claude"
    script.write_text(AGENT.format(python=sys.executable))
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return tmp_path


def test_an_agent_is_answered_and_what_it_took_is_told(agent: Path, tmp_path: Path) -> None:
    """Its own arguments reach it, its status is that of the command, and nothing is written where the user keeps things."""
    home = tmp_path / "home"
    home.mkdir()
    done = run(
        "launch", "claude", "--replay", "--model", "replay:gpt-5.4", "--", "-p", "hello",
        path=agent, HOME=str(home), XDG_CACHE_HOME=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("said ")
    assert "['-p', 'hello']" in done.stdout
    told = done.stderr.splitlines()
    assert "interlingua: 1 call of replay:gpt-5.4" in told
    assert any(line.endswith("USD") or "without a known price" in line for line in told)
    assert list(home.iterdir()) == []
    assert list((tmp_path / "cache" / "interlingua").iterdir()) == []


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGHUP])
def test_an_agent_ends_with_the_command(tmp_path: Path, word: signal.Signals) -> None:
    """Nobody is left behind, nor is a file, when the command is ended or its terminal closed."""
    script = tmp_path / "claude"
    script.write_text(f"#!{sys.executable}\nimport os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    command = [sys.executable, "-m", "interlingua", "launch", "claude", "--replay", "--model", "replay:gpt-5.4"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        agent = int(process.stdout.readline())
        process.send_signal(word)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 128 + word
    assert "0 calls" in errors
    with pytest.raises(ProcessLookupError):
        os.kill(agent, 0)
    assert list((tmp_path / "cache" / "interlingua").iterdir()) == []


@pytest.mark.parametrize("name", WIRES)
def test_what_starts_an_agent_is_printed(name: str, tmp_path: Path) -> None:
    """For a shell: each word reaches the agent as `launch` would give it, and the files that it names are there."""
    script = tmp_path / name
    script.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ)]))\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    cache = tmp_path / "cache"
    folder = cache / "interlingua" / f"{name}-replay-gpt-5.4"
    done = run(
        "launch", name, "--replay", "--model", "replay:gpt-5.4", "--print-env", "--port", "9123",
        XDG_CACHE_HOME=str(cache),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    started = subprocess.run(
        ["/bin/sh", "-c", done.stdout], env=environment, capture_output=True, text=True, check=True
    )
    arguments, variables = json.loads(started.stdout)
    expected = settings(name, "http://127.0.0.1:9123", "interlingua", "gpt-5.4", folder)
    assert arguments == list(expected.arguments)
    assert expected.environment.items() <= variables.items()
    for value in expected.environment.values():
        assert not value.startswith(str(cache)) or Path(value).exists()
    told = done.stderr.strip()
    policy = folder / "policy.json"
    assert told.endswith(f"interlingua serve --no-grpc --policy {policy} --http-port 9123 --replay")
    assert json.loads(policy.read_text()) == {"version": 1, "serve": {"*": "replay:gpt-5.4"}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody", "--model", "replay:gpt-5.4"), "known agents are claude, codex"),
        (("claude",), "--model"),
        (("claude", "--model", "openai:gpt-5.4"), "OPENAI_API_KEY"),
        (("claude", "--replay", "--model", "replay:gpt-5.4"), "npm install --global @anthropic-ai/claude-code"),
    ],
)
def test_what_cannot_be_started_says_why(arguments: tuple[str, ...], words: str) -> None:
    """An agent that there is not, no model, a provider without a key, a command that is not installed."""
    done = run("launch", *arguments, PATH="/nonexistent", OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_settings_of_each_agent_name_the_gateway_and_the_key(tmp_path: Path) -> None:
    """In its environment, its arguments or a file of the folder that is thrown away."""
    for name in WIRES:
        folder = tmp_path / name
        folder.mkdir()
        found: Any = settings(name, "http://127.0.0.1:9", "ilk_1", "m-1", folder)
        told = " ".join((*found.arguments, *found.environment.values(), *(f.read_text() for f in folder.iterdir())))
        assert "http://127.0.0.1:9" in told
        assert "ilk_1" in told
        assert "m-1" in told


def test_what_failed_is_told_with_its_kind() -> None:
    """So that whoever reads no log knows whether the key, the model or the network is at fault."""
    calls = [
        Call("1", "t", "k", "openai_chat", "", category=kind) for kind in ("network", None, "network", "not_found")
    ]
    assert summary(calls)[0] == "interlingua: 4 calls of no model, 3 failed (network 2, not_found 1)"


def test_a_key_is_shown_once_and_its_row_holds_the_digest() -> None:
    """Two keys are never alike."""
    made = [run("key", "team") for _ in range(2)]
    assert made[0].stdout != made[1].stdout
    secret = made[0].stdout.strip()
    assert json.loads(made[0].stderr.partition(": ")[2]) == {"name": "team", "sha256": digest(secret)}
