"""The modules that a command loads: no pydantic and no asyncio where they are not needed, because loading them takes
longer than most commands run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua.canonical.errors import InvalidRequest
from interlingua.cli.serve import _limits

ROOT = Path(__file__).resolve().parents[2]
REQUEST = str(ROOT / "examples" / "anthropic-request.json")
SLOW = ("pydantic", "asyncio", "httpx", "grpc")

LIGHT = {
    "version": ["--version"],
    "models": ["models", "--provider", "anthropic"],
    "providers": ["providers", "--json"],
    "adapt": ["adapt", "--from", "anthropic_messages", "--to", "openai_chat", "--loss", REQUEST],
    "cost": ["cost", "openai:gpt-4.1", "--input", "10", "--output", "5"],
    "route": ["route", "{canonical}", "--model", "openai:gpt-4.1"],
    "check": ["check", "{canonical}"],
    "wrong": ["models", "--provider", "nope"],
}

SCRIPT = f"""
SLOW = {SLOW!r}
import contextlib, io, json, sys
from interlingua.__main__ import main
for name, arguments in json.loads(sys.argv[1]).items():
    sys.argv[1:] = arguments
    status = 0
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            main()
    except SystemExit as end:
        status = end.code
    print("\\n@@", name, status, *[module for module in SLOW if module in sys.modules])
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the status of each command, and the slow modules that are loaded after it, in one process."""
    canonical = tmp_path_factory.mktemp("start") / "request.json"
    canonical.write_text('{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}')
    commands = {name: [word.format(canonical=canonical) for word in words] for name, words in LIGHT.items()}
    given = [sys.executable, "-c", SCRIPT, json.dumps(commands)]
    environment = {"OPENAI_API_KEY": "k", "PATH": "/usr/bin"}
    done = subprocess.run(given, capture_output=True, text=True, timeout=60, check=True, env=environment)
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("@@")]
    return {name: status_and_modules for name, *status_and_modules in lines}


@pytest.mark.parametrize("name", LIGHT)
def test_a_light_command_loads_nothing_slow(ended: dict[str, list[str]], name: str) -> None:
    assert ended[name] == ["2" if name == "wrong" else "0"]


def test_the_version_says_what_is_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interlingua", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    line = done.stdout.strip()
    assert line.startswith("interlingua ")
    assert ("(source: about half as fast as the compiled wheel; " in line) or ("(compiled; " in line)
    assert ".".join(map(str, sys.version_info[:3])) in line


def test_how_the_limit_of_calls_is_written() -> None:
    assert _limits(()) is None
    assert _limits(("8",)) == 8
    assert _limits(("openai=8", "anthropic=2")) == {"openai": 8, "anthropic": 2}
    for wrong in (("0",), ("many",), ("8", "9"), ("nope=1",), ("openai=",), ("openai=-1",)):
        with pytest.raises(InvalidRequest):
            _limits(wrong)
