"""
The official SDKs of other languages as clients of a gateway: a driver of each language (drivers/) is told what to ask on
standard input, and tells what its SDK understood on standard output, a line of JSON each.
"""

import atexit
import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from oracles.gateway.clients import QUESTION, RESULT, SCHEMA, TOOL, Understood
from oracles.gateway.serving import PICTURE

DRIVERS = Path(__file__).parent / "drivers"
BUILT = Path(__file__).resolve().parents[2] / ".cache" / "sdk-drivers"


@dataclass(frozen=True)
class Language:
    """A driver: the tool that runs or builds it, its command, what says that it is installed, and its SDKs with the model
    that each asks for."""

    tool: str
    command: list[str]
    installed: Path
    sdks: dict[str, str]


MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-sonnet-4-6",
    "google-genai": "gemini-2.5-pro",
    "ollama": "qwen3",
    "bedrock": "us.anthropic.claude-sonnet-4-6-v1:0",
    "mistralai": "mistral-large-latest",
    "cohere": "command-a-03-2025",
}


def _but(*names: str) -> dict[str, str]:
    return {name: model for name, model in MODELS.items() if name not in names}


JAVA = DRIVERS / "java" / "target"
LANGUAGES = {
    "javascript": Language(
        tool="node",
        command=["node", str(DRIVERS / "javascript" / "driver.mjs")],
        installed=DRIVERS / "javascript" / "node_modules" / ".package-lock.json",
        sdks=MODELS,
    ),
    "go": Language(
        tool="go", command=[str(BUILT / "go")], installed=BUILT / "go", sdks=_but("mistralai")
    ),  # Mistral has no SDK in Go
    "java": Language(
        tool="java",
        command=["java", "-cp", f"{JAVA}/classes:{JAVA}/lib/*", "Driver"],
        installed=JAVA / "classes" / "Driver.class",
        sdks=_but("ollama", "mistralai"),
    ),  # neither Ollama nor Mistral has an SDK in Java
}


class Refused(Exception):
    """What the SDK raised, of the class that it has for a rate limit."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["error"])
        self.status_code = error["status"]


class Failed(Exception):
    """What the SDK raised otherwise, with its own words."""


class Driven:
    """One SDK of a driver, with the methods of the clients in Python."""

    refused = Refused

    def __init__(self, language: str, sdk: str, url: str) -> None:
        self.sdk = sdk
        self._url = url
        self._language = language
        driver(language)
        self._model = LANGUAGES[language].sdks[sdk]

    def ask(self, stream: bool, *, tools: bool, picture: bool, schema: bool, history: Understood | None) -> Understood:
        results = (
            [] if history is None else [{"id": id, "name": name, "output": RESULT} for id, name, _ in history.calls]
        )
        answer = self._do(
            "ask",
            stream=stream,
            tool={"name": "list", "parameters": TOOL} if tools else None,
            picture=PICTURE if picture else None,
            schema=SCHEMA if schema else None,
            turn=None if history is None else history.turn,
            results=results,
        )
        calls = [(id, name, given) for id, name, given in answer["calls"]]
        return Understood(answer["text"], calls, answer.get("output_tokens"), answer["turn"])

    def leave(self) -> str:
        """The first text of a stream that is left then."""
        return self._do("leave", stream=True, results=[])["text"]

    def models(self) -> list[str]:
        return self._do("models")["models"]

    def count(self) -> int:
        return self._do("count")["tokens"]

    def _do(self, what: str, **asking: Any) -> Any:
        message = {"do": what, "sdk": self.sdk, "url": self._url, "model": self._model, "question": QUESTION, **asking}
        answer = _told(self._language, {name: value for name, value in message.items() if value is not None})
        if "error" not in answer:
            return answer
        raise Refused(answer) if answer["limited"] else Failed(f"{answer['error']}: {answer['message']}")


@cache
def driver(language: str) -> "subprocess.Popen[str]":
    """The running driver of a language. Skips the test where it is not installed."""
    about = LANGUAGES[language]
    if shutil.which(about.tool) is None:
        pytest.skip(f"{about.tool} is not installed")
    sources = [path for path in (DRIVERS / language).iterdir() if path.is_file()]
    if not about.installed.exists() or about.installed.stat().st_mtime < max(one.stat().st_mtime for one in sources):
        pytest.skip(f"the SDKs in {language} are not installed, or by an older list: make sdk-drivers")
    process = subprocess.Popen(about.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
    atexit.register(process.kill)
    return process


def _told(language: str, message: dict[str, Any]) -> Any:
    """What a driver answers. One that does not is ended, for its next answer would be that to the message before."""
    process = driver(language)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())
    except BaseException:
        process.kill()
        driver.cache_clear()
        raise


CLIENTS = {
    f"{language}-{sdk}": partial(Driven, language, sdk) for language, about in LANGUAGES.items() for sdk in about.sdks
}
