"""
The provider `replay`: responses from recorded exchanges, on the wire of the caller, without a key and a network.

Each folder of `exchanges/` is one exchange: `exchange.json` states which requests it answers, `<adapter>.json` is the
body of the response and `<adapter>.sse` the same response as a stream. The files are plain wire data, written by hand.
For a wire that was not recorded, one of the recorded responses is read and written on that wire.

A request matches when all conditions of `when` hold: `last`, the role of the last message; `turn`, the number of user
messages; `tools`, names of tools that are offered; `text`, a part of the last user message. The first exchange that
matches answers.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError
from interlingua.client.playing import Played, Sent, Sleep
from interlingua.client.transport import STREAMS
from interlingua.registry import Registry, data

_FRAME = re.compile(rb".*?\n\n", re.DOTALL)
_MODEL = re.compile(rb'"model":\s*"[^"]*"')


@dataclass(frozen=True)
class Exchange:
    """One recorded exchange: the requests that it answers, the times of the provider, and the folder of its files."""

    name: str
    when: Mapping[str, Any]
    first: float
    between: float
    folder: Traversable

    def fits(self, request: Mapping[str, Any]) -> bool:
        """Whether this exchange answers the request."""
        # instructions are not a turn, nor are tool results in a user message
        turns = [item for item in request["messages"] if item["role"] not in ("system", "developer")]
        messages = [item for item in turns if item["role"] != "user" or _text(item)]
        users = [message for message in messages if message["role"] == "user"]
        offered = {tool["name"] for tool in request.get("tools", [])}
        for condition, value in self.when.items():
            match condition:
                case "last":
                    holds = bool(messages) and messages[-1]["role"] == value
                case "turn":
                    holds = len(users) == value
                case "tools":
                    holds = offered.issuperset(value)
                case "text":
                    holds = bool(users) and value.lower() in _text(users[-1]).lower()
                case _:
                    holds = False
            if not holds:
                return False
        return True

    def answer(self, adapter: str, *, stream: bool) -> bytes | None:
        """The recorded response; None when this wire was not recorded."""
        file = self.folder / f"{adapter}.{'sse' if stream else 'json'}"
        return file.read_bytes() if file.is_file() else None

    def play(self, adapter: str, model: str, created: int, *, stream: bool) -> list[bytes] | None:
        """The response of a model on a wire, in chunks: as recorded, or converted from a wire that was recorded.
        `created` is the time of a converted response on a wire whose responses have one, in seconds since 1970."""
        if (recorded := self.answer(adapter, stream=stream)) is not None:
            recorded = _served_by(model, recorded)
            return _FRAME.findall(recorded) if stream else [recorded]
        for other in _RECORDED:
            if (recorded := self.answer(other, stream=stream)) is not None:
                break
        else:
            return None
        name, endpoint = f"{adapter}:{model}", translate.endpoint_of(adapter)
        if stream:
            events = _events_by(name, translate.read_stream([recorded], other))
            writer = translate.StreamWriter(endpoint, created=created)
            return [*(chunk for event in events for chunk in writer.feed(event)), *writer.end()]
        response, _ = translate.read_response(recorded, other)
        return [json.dumps(translate.to_wire_response({**response, "model": name}, endpoint, created=created)[0])]


# none with reasoning, which is bound to its provider
_RECORDED = ("openai_chat", "anthropic_messages")


def _events_by(model: str, events: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for event in events:
        named = dict(event)
        if "model" in event:
            named["model"] = model
        if event["type"] == "message_complete":
            named["response"] = {**event["response"], "model": model}
        yield named


@cache
def exchanges() -> tuple[Exchange, ...]:
    """The exchanges of the package, in the order of their names."""
    return tuple(load(sorted(files("interlingua.client").joinpath("exchanges").iterdir(), key=lambda item: item.name)))


def load(folders: Iterable[Traversable]) -> Iterable[Exchange]:
    """The exchanges of some folders. A folder without `exchange.json` is skipped."""
    for folder in folders:
        head = folder / "exchange.json"
        if head.is_file():
            about = json.loads(head.read_bytes())
            yield Exchange(
                folder.name,
                about["when"],
                about.get("first_ms", 0) / 1000,
                about.get("between_ms", 0) / 1000,
                folder,
            )


class ReplayTransport:
    """Responses from recorded exchanges. `pace` multiplies the recorded times (0: no waits); `sleep` waits for them;
    `now` dates the responses of a wire that was not recorded."""

    def __init__(
        self,
        recorded: Iterable[Exchange] | None = None,
        *,
        pace: float = 1.0,
        sleep: Sleep = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._now = now
        self._recorded = tuple(recorded) if recorded is not None else exchanges()
        self._pace = pace
        self._sleep = sleep

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        idle: float | None,  # noqa: ARG002 nothing here waits for a network
    ) -> Played:
        """Answer with the first exchange that matches; status 404 when none does."""
        sent = Sent(url, headers, body)
        try:
            adapter, request, model = sent.adapter, sent.request, sent.model or ""
        except InterlinguaError as problem:
            return _refused(400, problem.message)
        stream = bool(request.get("stream"))
        now = int(self._now().timestamp())
        for exchange in self._recorded:
            if exchange.fits(request) and (chunks := exchange.play(adapter, model, now, stream=stream)) is not None:
                await self._pass(exchange.first)
                kind = STREAMS[adapters.get(adapter).FRAMING] if stream else "application/json"
                return Played(200, {"content-type": kind}, self._play(chunks, exchange.between))
        return _refused(404, "no recorded exchange matches this request")

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    async def _pass(self, seconds: float) -> None:
        if seconds * self._pace > 0:
            await self._sleep(seconds * self._pace)

    async def _play(self, chunks: list[bytes], between: float) -> AsyncGenerator[bytes, None]:
        for position, chunk in enumerate(chunks):
            if position:
                await self._pass(between)
            yield chunk


def _served_by(model: str, answer: bytes) -> bytes:
    # the requested model counts as the one that serves
    member = b'"model":' + json.dumps(model)
    return _MODEL.sub(lambda _: member, answer)


def _text(message: Mapping[str, Any]) -> str:
    return "\n".join(block["text"] for block in message["content"] if block["type"] == "text")


def _refused(status: int, message: str) -> Played:
    # most wires have the error's text in this place; for the others the status is enough
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message, "code": None, "param": None}})

    async def once() -> AsyncGenerator[bytes, None]:
        yield body

    return Played(status, {"content-type": "application/json"}, once())


def open_registry() -> Registry:
    """The registry for calls without a key: every provider counts as configured."""
    keys = {
        name: "replay" for row in data("providers")["providers"].values() if row["auth"] for name in row["auth"]["env"]
    }
    return Registry(environment={**os.environ, **keys})
