"""
How a provider misbehaves: each fault is a way to answer one call, well or badly, on the wire of whoever asks.

What a provider says is derived from the run and from its name, so that a check knows whose words a caller was shown.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from client.upstream import Connection

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.client import Say
from interlingua.client.fake import said
from interlingua.client.playing import Sent
from interlingua.client.transport import STREAMS
from interlingua.client.unfold import unfold

KEY = "planted-key-of-the-chaos"
WHOLE_LIMIT = 400_000
"""How much of an answer the client reads, in bytes."""
MESSAGE_LIMIT = 60_000
"""How large a message of the server may be, in bytes."""

CATEGORIES = (
    "invalid_request authentication permission billing not_found rate_limit context_overflow content_filter timeout "
    "overloaded server_error"
).split()


@dataclass(frozen=True)
class Asked:
    """One call at a provider: of which run, by which name, over which wire, and the source of chance for it."""

    run: int
    provider: str
    adapter: str
    stream: bool
    chance: random.Random
    long: bool = False

    @property
    def text(self) -> str:
        """The whole true answer of this provider to this run."""
        words = 6 + self.run % 7
        filling = "x" * (MESSAGE_LIMIT // words if self.long else 1)
        return " ".join(f"{self.run}.{self.provider}.{word}{filling}" for word in range(words))

    @property
    def usage(self) -> dict[str, int]:
        """What this provider counts."""
        return {"input_tokens": 100 + self.run, "output_tokens": 1 + self.run % 50}


Play = Callable[[Connection, Asked], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """A way to answer. `answers` says whether a caller gets its answer from it, and `categories` how it may fail."""

    name: str
    play: Play
    answers: bool = False
    categories: frozenset[str] = frozenset()
    long: bool = False


# ---------------------------------------------------------------------------------------------------- what is true


def _whole(asked: Asked) -> bytes:
    body, _ = translate.write_response(_response(asked), asked.adapter)
    return json.dumps(body)


def _response(asked: Asked) -> dict[str, Any]:
    return said(Say(asked.text, usage=asked.usage), model="chaos-1")


def _words(text: str) -> list[str]:
    first, *others = text.split(" ")
    return [first, *(f" {word}" for word in others)]


def _frames(asked: Asked) -> list[bytes]:
    return list(translate.write_stream(unfold(_response(asked), _words), asked.adapter))


def _kind(asked: Asked) -> str:
    return STREAMS[adapters.get(asked.adapter).FRAMING] if asked.stream else "application/json"


def _pieces(asked: Asked) -> list[bytes]:
    """The true answer, cut anywhere."""
    data = b"".join(_frames(asked)) if asked.stream else _whole(asked)
    count = min(len(data) - 1, asked.chance.randint(1, 8))
    cuts = sorted(asked.chance.sample(range(1, len(data)), count))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def _beginning(asked: Asked) -> bytes:
    """The true answer up to some byte before its last word, and so before anything that could be taken for its end."""
    data = b"".join(_pieces(asked))
    word = asked.chance.randrange(asked.text.count(" "))
    return data[: asked.chance.randint(1, data.find(f".{word}x".encode()))]


async def _send(connection: Connection, pieces: Sequence[bytes], kind: str, pause: float = 0.0) -> None:
    await connection.begin(kind)
    for piece in pieces:
        await asyncio.sleep(pause)
        if piece:
            await connection.chunk(piece)


# ---------------------------------------------------------------------------------------------------- ways to answer


async def _good(connection: Connection, asked: Asked) -> None:
    await _send(connection, _pieces(asked), _kind(asked))
    await connection.end()


async def _slow(connection: Connection, asked: Asked) -> None:
    await asyncio.sleep(asked.chance.uniform(0, 0.05))
    await _send(connection, _pieces(asked), _kind(asked), asked.chance.uniform(0, 0.01))
    await connection.end()


async def _mislabelled(connection: Connection, asked: Asked) -> None:
    await _send(connection, _pieces(asked), asked.chance.choice(["text/plain", "application/octet-stream", "x"]))
    await connection.end()


async def _other_form(connection: Connection, asked: Asked) -> None:
    other = Asked(asked.run, asked.provider, asked.adapter, not asked.stream, asked.chance)
    await _good(connection, other)


async def _reset(connection: Connection, asked: Asked) -> None:
    if asked.chance.random() < 0.5:
        await connection.begin(_kind(asked))
    connection.reset()


async def _error(connection: Connection, asked: Asked) -> None:
    category = asked.chance.choice(CATEGORIES)
    words = f"{category} for the key {KEY}: confidential-{asked.run}"
    error = {"category": category, "message": words, "retryable": category in ("overloaded", "rate_limit")}
    if category == "rate_limit":
        error["retry_after"] = asked.chance.choice([0.001, 1, 3, 4_000])
    answer, _ = translate.write_error(error, asked.adapter)
    body = answer["body"] if isinstance(answer["body"], str) else json.dumps(answer["body"]).decode()
    headers = {name: value for name, value in answer["headers"].items() if name != "content-type"}
    # some repeat the key in the body
    body = body.replace("confidential", f"{KEY} confidential")
    await connection.answer(body.encode(), answer["status"], **headers)


async def _foreign_error(connection: Connection, asked: Asked) -> None:
    status = asked.chance.choice([400, 401, 403, 404, 408, 413, 418, 429, 500, 502, 503, 504, 529])
    await connection.answer(b"<html><body>Bad gateway</body></html>", status, "text/html")


async def _redirect(connection: Connection, asked: Asked) -> None:
    status = asked.chance.choice([301, 302, 303, 307, 308])
    await connection.answer(b"", status, location=f"http://127.0.0.1:1/{KEY}")


async def _cut(connection: Connection, asked: Asked) -> None:
    await _send(connection, [_beginning(asked)], _kind(asked))
    if asked.chance.random() < 0.5:
        await connection.end()
    else:
        connection.reset()


async def _garbage(connection: Connection, asked: Asked) -> None:
    await _send(connection, [asked.chance.randbytes(asked.chance.randint(1, 400))], _kind(asked))
    await connection.end()


async def _empty(connection: Connection, asked: Asked) -> None:
    await connection.answer(b"", 200, _kind(asked))


async def _page(connection: Connection, asked: Asked) -> None:
    await connection.answer(b"<html><body>Log in</body></html>", 200, "text/html")


async def _silent(connection: Connection, asked: Asked) -> None:
    if asked.chance.random() < 0.5:
        await connection.begin(_kind(asked))
    await connection.gone(5)


async def _silent_midway(connection: Connection, asked: Asked) -> None:
    await _send(connection, [_beginning(asked)], _kind(asked))
    await connection.gone(5)


async def _error_midway(connection: Connection, asked: Asked) -> None:
    if not asked.stream:
        await _error(connection, asked)
        return
    events = unfold(_response(asked), _words)
    begun = events[: asked.chance.randint(1, len(events) - 3)]
    error = {"category": "overloaded", "message": f"no room, {KEY}", "retryable": True}
    frames = list(translate.write_stream([*begun, {"type": "error", "error": error}], asked.adapter))
    await _send(connection, frames, _kind(asked))
    await connection.end()


async def _oversized(connection: Connection, asked: Asked) -> None:
    start = {"openai_chat": b"data: ", "openai_responses": b"data: "}.get(asked.adapter, b"")
    await connection.begin(_kind(asked))
    if not asked.stream or asked.adapter == "ollama_chat":
        start = b""
    await connection.chunk(start + b'{"')
    for _ in range(WHOLE_LIMIT // 50_000 + 4):
        await connection.chunk(b"z" * 50_000)
    await connection.end()


_PROVIDERS_FAULT = frozenset(
    "invalid_response stream_truncated network timeout server_error overloaded internal other".split()
)
_ANY = frozenset((*CATEGORIES, "network", "other", "invalid_response", "stream_truncated", "unsupported"))

FAULTS = (
    Fault("none", _good, answers=True),
    Fault("slow", _slow, answers=True),
    Fault("mislabelled", _mislabelled, answers=True),
    Fault("other form", _other_form, answers=True),
    Fault("too large for gRPC", _good, answers=True, long=True),
    Fault("connection reset", _reset, categories=frozenset(["network"])),
    Fault("error of the wire", _error, categories=_ANY),
    Fault("error page", _foreign_error, categories=_ANY),
    Fault("redirect", _redirect, categories=_ANY),
    Fault("cut off", _cut, categories=_PROVIDERS_FAULT),
    Fault("garbage", _garbage, categories=_PROVIDERS_FAULT),
    Fault("empty", _empty, categories=_PROVIDERS_FAULT),
    Fault("page", _page, categories=_PROVIDERS_FAULT),
    Fault("silent", _silent, categories=frozenset(["timeout"])),
    Fault("silent midway", _silent_midway, categories=frozenset(["timeout"])),
    Fault("error midway", _error_midway, categories=_ANY),
    Fault("endless event", _oversized, categories=_PROVIDERS_FAULT),
)
REFUSED = Fault("connection refused", _good, categories=frozenset(["network"]))
"""What is asked at a port where nobody listens."""


def asked(connection: Connection, run: int, provider: str, fault: Fault, chance: random.Random) -> Asked:
    """What a connection asks."""
    path = connection.head.split(" ", 2)[1]
    sent = Sent(f"http://upstream{path}", {}, connection.body)
    return Asked(run, provider, sent.adapter, bool(sent.request.get("stream")), chance, fault.long)
