"""
A provider that leads a coding agent through a task, and demands back what it signed.

It reads what the agent offers, searches its tools where the agent has a search of its own, calls its shell: first a command
that works, then one that fails, then two at a time, then it ends. Each of its turns carries reasoning with a signature of its own; the wire of every later request
must hold each of them again, byte for byte, and must be one that the provider would accept.
"""

import base64
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from interlingua import translate
from interlingua.canonical import json
from interlingua.client.playing import Played, Sent
from interlingua.client.transport import STREAMS
from interlingua.client.unfold import unfold

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance"))
from runner import oracles

Data = dict[str, Any]

DONE = "The task is done: heron-42."
STEPS = (("echo alpha-one",), ("ls /nonexistent-folder",), ("echo bravo-two", "echo charlie-three"))
_SHELLS = ("bash", "shell", "exec_command", "shell_command", "run_shell_command", "local_shell", "container.exec")
_SEARCH = "tool_search"
_SIGNED = frozenset(("anthropic_messages", "bedrock_converse", "openai_responses", "gemini_generate"))


class TaskProvider:
    """Plays a provider, as the transport of a client. `problems` tells what was wrong with what it was sent."""

    def __init__(self, *, same_wire: bool) -> None:
        self.same_wire = same_wire
        self.problems: list[str] = []
        self.calls = 0
        self.steps = 0
        self._model = ""
        self._offered = 0
        self._signatures: list[str] = []

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, idle: float | None) -> Played:  # noqa: ARG002
        """Answers a call by how far the conversation has come."""
        sent = Sent(url, dict(headers), body)
        adapter, request = sent.adapter, sent.request
        self.calls += 1
        self._model = sent.model or ""
        wire = {"method": "POST", "path": urlsplit(url).path, "headers": dict(headers), "body": sent.json}
        if not self.same_wire:  # what a client sends over its own wire goes out as it came
            for place, why in oracles.violations(adapter, wire):
                self.problems.append(f"call {self.calls}: {place} {why}")
        response = self._answer(adapter, request, body)
        if request.get("stream"):
            kind = STREAMS[translate.adapters.get(adapter).FRAMING]
            chunks: Iterable[bytes] = translate.write_stream(unfold(response), adapter)
            return Played(200, {"content-type": kind}, _played(chunks))
        answer, _ = translate.write_response(response, adapter)
        return Played(200, {"content-type": "application/json"}, _played([json.dumps(answer)]))

    async def aclose(self) -> None:
        """Nothing is open."""

    def _answer(self, adapter: str, request: Data, body: bytes) -> Data:
        shell = next(
            (tool for tool in request.get("tools") or () if tool["name"].split("__")[-1].lower() in _SHELLS), None
        )
        blocks = [block for message in request["messages"] for block in message["content"]]
        searches = [block["id"] for block in blocks if block["type"] == "tool_use" and block["name"] == _SEARCH]
        results = [b for b in blocks if b["type"] == "tool_result" and b["tool_use_id"] not in searches]
        if shell is None:  # a title, or the like
            return self._response([{"type": "text", "text": "Working on it"}], "stop")
        tools = [tool["name"] for tool in request["tools"] if tool.get("kind") != "provider"]
        if _SEARCH in tools and not searches:
            self._offered = len(tools)
            return self._response([_search(adapter)], "tool_calls")
        if searches and len(tools) <= self._offered:
            self.problems.append(f"call {self.calls}: the tools that the search gave are not offered")
        done = _turns_done(len(results))
        self._demand(body, done, results)
        if done == len(STEPS):
            return self._response([{"type": "text", "text": DONE}], "stop")
        self.steps = max(self.steps, done + 1)
        return self._response(self._turn(adapter, shell, done), "tool_calls")

    def _turn(self, adapter: str, shell: Data, step: int) -> list[Data]:
        state: Data = {"adapter": adapter}
        signature = base64.b64encode(f"signed reasoning of step {step + 1}, {adapter}".encode()).decode()
        if adapter in _SIGNED and len(self._signatures) == step:
            self._signatures.append(signature)
        thinking: Data = {"type": "thinking", "text": f"Step {step + 1}.", "provider_state": state}
        calls: list[Data] = [
            {"type": "tool_use", "id": f"tu_{step}{at}", "name": shell["name"], "input": _input(shell, command)}
            for at, command in enumerate(STEPS[step])
        ]
        if adapter == "gemini_generate":
            calls[0]["provider_state"] = {**state, "signature": signature}
        elif adapter in _SIGNED:
            thinking["signature"] = signature
            if adapter == "openai_responses":
                thinking["provider_state"] = {**state, "id": f"rs_{step}"}
        return [thinking, *calls]

    def _response(self, content: list[Data], finish: str) -> Data:
        return {
            "id": f"answer_{self.calls}",  # agents take two answers of one id for one message
            "model": self._model,  # agents keep no reasoning of a model that they did not ask for
            "message": {"role": "assistant", "content": content},
            "finish_reason": finish,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }

    def _demand(self, body: bytes, done: int, results: list[Data]) -> None:
        for number, signature in enumerate(self._signatures[:done], start=1):
            if signature.encode() not in body:
                self.problems.append(f"call {self.calls}: the signature of step {number} did not come back")
        texts = json.dumps([result["content"] for result in results]).decode()
        words = [command.split()[-1] for step in STEPS[:done] for command in step if command.startswith("echo")]
        self.problems.extend(f"call {self.calls}: the result {word} is missing" for word in words if word not in texts)


def _search(adapter: str) -> Data:
    """A search among the tools that the agent has not offered yet, as the provider whose it is makes it."""
    call: Data = {"type": "tool_use", "id": "tu_search", "name": _SEARCH, "input": {"query": "agent", "limit": 2}}
    if adapter == "openai_responses":
        call["provider_state"] = {"adapter": adapter, "encoding": {"built_in": _SEARCH}}
    return call


def _turns_done(results: int) -> int:
    """How many steps have their results."""
    done = 0
    for step in STEPS:
        results -= len(step)
        if results < 0:
            break
        done += 1
    return done


def _input(shell: Data, command: str) -> Data:
    """What an agent's shell takes, by its schema: a command as text or as words, and what else it demands."""
    schema = shell["input_schema"]
    properties: Data = schema.get("properties", {})
    name = "cmd" if "cmd" in properties else "command"
    as_words = properties.get(name, {}).get("type") == "array"
    given: Data = {name: ["bash", "-lc", command] if as_words else command}
    for other in schema.get("required", ()):
        if other not in given:
            given[other] = {"string": "list", "number": 5000, "integer": 5000, "boolean": False}.get(
                properties[other].get("type"), "list"
            )
    return given


async def _played(chunks: Iterable[bytes]) -> AsyncGenerator[bytes, None]:
    for chunk in chunks:
        yield chunk
