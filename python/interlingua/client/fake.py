"""
The provider `fake`: responses from a script, for tests of programs that call models.

    fake = FakeTransport(Say("Let me look."), Say(calls=[("read_file", {"path": "a.txt"})]), Refuse(529))
    async with Client(fake) as client: ...
    assert fake.sent[0].request["messages"][-1]["role"] == "user"

Each call takes the next step. A step describes a canonical response, which is written on the wire of the caller,
streamed or whole. `Bytes` gives raw bytes instead, to imitate a provider that misbehaves.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.client.playing import Played, Sent, Sleep
from interlingua.client.transport import STREAMS, TransportFailed
from interlingua.client.unfold import unfold

Check = Callable[[Sent], None]
"""Checks a call; an assertion that fails in it fails the call."""


@dataclass(frozen=True)
class Say:
    """A response of thinking, text and tool calls, in this order; `calls` are pairs of name and input.

    `delay` is the time before the head, `pause` that before each chunk of a stream, in seconds.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    thinking: str = ""
    finish_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=lambda: {"input_tokens": 10, "output_tokens": 5})
    model: str | None = None
    delay: float = 0.0
    pause: float = 0.0
    check: Check | None = None


@dataclass(frozen=True)
class Refuse:
    """An error response."""

    status: int
    body: bytes | Mapping[str, Any] = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    check: Check | None = None


@dataclass(frozen=True)
class Bytes:
    """Raw chunks. After the last one the connection ends normally, or breaks in the way that `breaks` names."""

    chunks: Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    delay: float = 0.0
    pause: float = 0.0
    breaks: Literal["timeout", "network"] | None = None
    check: Check | None = None


@dataclass(frozen=True)
class Fail:
    """No response: the network fails. With `sent` false it fails before the call was sent."""

    category: Literal["timeout", "network"] = "network"
    delay: float = 0.0
    check: Check | None = None
    sent: bool = True


Step = Say | Refuse | Bytes | Fail


class FakeTransport:
    """Answer each call with the next step of a script; keep the calls and the responses."""

    def __init__(self, *steps: Step, sleep: Sleep = asyncio.sleep) -> None:
        self.sent: list[Sent] = []
        self.answers: list[Played] = []
        self.closed = False
        self._steps = list(steps)
        self._sleep = sleep

    @property
    def left(self) -> int:
        """The number of steps that are left."""
        return len(self._steps)

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        idle: float | None,  # noqa: ARG002 nothing here waits for a network
    ) -> Played:
        """Answer with the next step. Raises `AssertionError` when there is none, or when its check fails."""
        sent = Sent(url, dict(headers), body)
        self.sent.append(sent)
        if not self._steps:
            raise AssertionError(f"call {len(self.sent)} is not in the script, which has ended")
        step = self._steps.pop(0)
        if step.check is not None:
            step.check(sent)
        if step.delay:
            await self._sleep(step.delay)
        answer = self._answer(step, sent)
        self.answers.append(answer)
        return answer

    async def aclose(self) -> None:
        """Record that it was closed."""
        self.closed = True

    def _answer(self, step: Step, sent: Sent) -> Played:
        match step:
            case Fail():
                raise TransportFailed(step.category, "the script has a failure here", sent=step.sent)
            case Refuse():
                headers = {"content-type": "application/json", **step.headers}
                body = step.body if isinstance(step.body, bytes) else json.dumps(dict(step.body))
                return Played(step.status, headers, self._play([body]))
            case Bytes():
                return Played(step.status, step.headers, self._play(step.chunks, step.pause, step.breaks))
            case Say():
                response = said(step, model=sent.model)
                if sent.request.get("stream"):
                    kind = STREAMS[adapters.get(sent.adapter).FRAMING]
                    chunks = translate.write_stream(unfold(response, _words), sent.adapter)
                    return Played(200, {"content-type": kind}, self._play(chunks, step.pause))
                body, _ = translate.write_response(response, sent.adapter)
                return Played(200, {"content-type": "application/json"}, self._play([json.dumps(body)]))

    async def _play(
        self, chunks: Iterable[bytes], pause: float = 0.0, breaks: Literal["timeout", "network"] | None = None
    ) -> AsyncGenerator[bytes, None]:
        for chunk in chunks:
            if pause:
                await self._sleep(pause)
            yield chunk
        if breaks is not None:
            raise TransportFailed(breaks, "the script has a failure here")


def said(step: Say, model: str | None = None) -> dict[str, Any]:
    """The canonical response that a step describes."""
    content: list[dict[str, Any]] = []
    if step.thinking:
        content.append({"type": "thinking", "text": step.thinking})
    if step.text:
        content.append({"type": "text", "text": step.text})
    for position, (name, arguments) in enumerate(step.calls):
        content.append({"type": "tool_use", "id": f"tu_0{position + 1}", "name": name, "input": dict(arguments)})
    name = step.model or model or "fake-1"
    return {
        "id": "fake_1",
        "model": name if ":" in name else f"fake:{name}",
        "message": {"role": "assistant", "content": content},
        "finish_reason": step.finish_reason or ("tool_calls" if step.calls else "stop"),
        "usage": dict(step.usage),
    }


def _words(text: str) -> list[str]:
    words = text.split(" ")
    return [word if position == 0 else f" {word}" for position, word in enumerate(words)]
